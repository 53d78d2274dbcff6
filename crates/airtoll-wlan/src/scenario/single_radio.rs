//! Stations with one radio for several links, and the links that each access category takes.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::check::{Checked, invalid, not_negative};
use super::{AccessCategory, Node, Role, Scenario};

/// EMLSR Padding Delay, us (IEEE 802.11be-2024, 9.4.2.321.2.3).
const PADDING_DELAYS_US: [u16; 5] = [0, 32, 64, 128, 256];
/// EMLSR Transition Delay, us.
const TRANSITION_DELAYS_US: [u16; 6] = [0, 16, 32, 64, 128, 256];

/// Enhanced multi-link single-radio operation (EMLSR) of a station: one radio listens on all links and
/// exchanges frames on one at a time (IEEE 802.11be-2024, 35.3.17).
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct SingleRadio {
    /// Padding of the initial control frame (MU-RTS) that the access point sends before data, us: 0, 32, 64,
    /// 128 or 256. The radio turns to the link in this time.
    pub padding_delay_us: u16,
    /// From the end of an exchange until the radio listens on all links again, us: 0, 16, 32, 64, 128 or 256.
    pub transition_delay_us: u16,
    /// From its last answer in an exchange of the access point until it takes that for over, us; null: SIFS,
    /// a slot and the 20 us of aRxPHYStartDelay.
    pub end_timeout_us: Option<f64>,
}

/// The links of an access category between a station and its access point (TID-to-link mapping, IEEE
/// 802.11be-2024, 35.3.7.2).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CategoryLinks {
    /// The access category, with both of its TIDs.
    pub category: AccessCategory,
    /// Frames of the access point, of the station, or both.
    #[serde(default)]
    pub direction: LinkDirection,
    /// The BSSs on whose links they go.
    pub bss: Vec<String>,
}

/// Direction of a mapping.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum LinkDirection {
    /// From the station.
    Up,
    /// From the access point.
    Down,
    /// Both.
    #[default]
    Both,
}

impl LinkDirection {
    /// Whether it has frames of this direction.
    pub(crate) fn has(self, up: bool) -> bool {
        match self {
            Self::Up => up,
            Self::Down => !up,
            Self::Both => true,
        }
    }
}

impl Node {
    /// Whether frames of an access category go by the link of a BSS, from the station (`up`) or to it.
    pub(crate) fn maps_to(&self, bss: &str, category: u8, up: bool) -> bool {
        let mut own = self.category_links.iter();
        let mapping = own.find(|one| one.category as u8 == category && one.direction.has(up));
        mapping.is_none_or(|one| one.bss.iter().any(|named| named == bss))
    }
}

impl Scenario {
    /// Checks the radio of a station with several links, and the links of its access categories.
    pub(super) fn check_single_radio(&self, at: &str, node: &Node) -> Checked {
        self.check_category_links(at, node)?;
        let Some(radio) = &node.single_radio else {
            return Ok(());
        };
        let at = format!("{at}.single_radio");
        if node.role != Role::Station || node.multi_link.is_empty() {
            let allowed = "absent but for a station with several links (multi_link)";
            return invalid(&at, "set", allowed);
        }
        one_of(
            &format!("{at}.padding_delay_us"),
            radio.padding_delay_us,
            &PADDING_DELAYS_US,
        )?;
        one_of(
            &format!("{at}.transition_delay_us"),
            radio.transition_delay_us,
            &TRANSITION_DELAYS_US,
        )?;
        not_negative(
            &format!("{at}.end_timeout_us"),
            radio.end_timeout_us.unwrap_or(0.0),
        )
    }

    fn check_category_links(&self, at: &str, node: &Node) -> Checked {
        for (i, one) in node.category_links.iter().enumerate() {
            let at = format!("{at}.category_links[{i}]");
            if node.role != Role::Station || node.multi_link.is_empty() {
                let allowed = "absent but for a station with several links (multi_link)";
                return invalid(&at, "set", allowed);
            }
            if one.bss.is_empty() {
                let allowed = "one BSS at least: frames of the category have to go somewhere";
                return invalid(&format!("{at}.bss"), "[]", allowed);
            }
            if let Some(bss) = one.bss.iter().find(|bss| !node.is_in(bss)) {
                return invalid(&format!("{at}.bss"), bss, "BSSs that the station is in");
            }
            let earlier = &node.category_links[..i];
            let same = |other: &CategoryLinks| {
                let both = [true, false];
                other.category == one.category
                    && both
                        .iter()
                        .any(|up| other.direction.has(*up) && one.direction.has(*up))
            };
            if earlier.iter().any(same) {
                let allowed = "one mapping for each category and direction";
                return invalid(&at, format!("{:?}", one.category), allowed);
            }
        }
        Ok(())
    }
}

fn one_of(field: &str, value: u16, allowed: &[u16]) -> Checked {
    if allowed.contains(&value) {
        return Ok(());
    }
    let named: Vec<String> = allowed.iter().map(u16::to_string).collect();
    invalid(field, value, format!("one of {}", named.join(", ")))
}
