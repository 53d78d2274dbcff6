//! PHY generations: one descriptor each, in a file of its own.
//!
//! A descriptor states the widths, guard intervals, rates, preambles, spaces and limits of one
//! generation. Transmission vectors, checks of scenarios, closed forms, captures and the audit of
//! published figures read it. A new generation is a variant of [`Generation`], one row of
//! [`Generation::descriptor`] and one file below `generation/`.

mod a;
mod ac;
mod ax;
mod b;
mod be;
mod descriptor;
mod g;
mod n;
mod refusal;
mod sensitivity;

use core::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use descriptor::{
    AmpduLimits, BandRules, Descriptor, Excluded, GuardRules, LdpcFill, Legacy, McsRules,
    MultiUserRules, Spread, Symbols, WidthRules,
};
pub use refusal::TxVectorError;

/// PHY generation, named after the amendment that defined its PPDU format.
///
/// It is also the modulation class of a frame (Table 10-9): a frame at 11 Mb/s in an 802.11g BSS
/// is of [`Generation::B`].
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[schemars(rename = "Standard")]
pub enum Generation {
    /// 802.11b: DSSS and CCK at 2.4 GHz, 1 to 11 Mb/s.
    #[serde(rename = "802.11b")]
    B,
    /// 802.11a: OFDM at 5 GHz, 6 to 54 Mb/s.
    #[serde(rename = "802.11a")]
    A,
    /// 802.11g: ERP-OFDM at 2.4 GHz, 6 to 54 Mb/s, and the rates of 802.11b.
    #[serde(rename = "802.11g")]
    G,
    /// 802.11n: HT with mixed preamble.
    #[serde(rename = "802.11n")]
    N,
    /// 802.11ac: VHT to one user.
    #[serde(rename = "802.11ac")]
    Ac,
    /// 802.11ax: HE SU.
    #[serde(rename = "802.11ax")]
    Ax,
    /// 802.11be: EHT MU PPDU to one user without OFDMA.
    #[serde(rename = "802.11be")]
    Be,
}

impl Generation {
    /// All, oldest first.
    pub const ALL: [Self; 7] = [
        Self::B,
        Self::A,
        Self::G,
        Self::N,
        Self::Ac,
        Self::Ax,
        Self::Be,
    ];

    /// The facts about this generation.
    #[must_use]
    #[inline]
    pub const fn descriptor(self) -> &'static Descriptor {
        match self {
            Self::B => &b::B,
            Self::A => &a::A,
            Self::G => &g::G,
            Self::N => &n::N,
            Self::Ac => &ac::AC,
            Self::Ax => &ax::AX,
            Self::Be => &be::BE,
        }
    }

    /// The generation whose rates the radiotap field `field` states; `None` for field 2 (Rate),
    /// which several generations share, and for fields that state no rate.
    #[must_use]
    pub fn of_radiotap_field(field: u8) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|g| g.descriptor().mcs.is_some() && g.descriptor().radiotap_field == field)
    }
}

impl fmt::Display for Generation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.descriptor().standard)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_descriptor_names_its_own_generation() {
        for generation in Generation::ALL {
            let descriptor = generation.descriptor();
            assert_eq!(descriptor.generation, generation);
            let json = serde_json::to_string(&generation).unwrap();
            assert_eq!(json, format!("\"{}\"", descriptor.standard));
        }
    }

    #[test]
    fn each_descriptor_is_complete() {
        for generation in Generation::ALL {
            let d = generation.descriptor();
            assert!(!d.bands.is_empty() && !d.widths.is_empty() && !d.guard_intervals.is_empty());
            for width in d.widths {
                assert!(width.bands.iter().all(|b| d.has_band(*b)), "{generation}");
            }
            assert_eq!(d.mcs.is_some(), d.ampdu.is_some(), "{generation}");
            assert_eq!(
                d.mcs.is_none(),
                d.legacy_rates().next().is_some(),
                "{generation}"
            );
            if let Some(mcs) = d.mcs {
                assert_eq!(mcs.training_fields.len(), usize::from(mcs.streams));
                assert!(d.sensitivity_dbm.len() > usize::from(mcs.top));
            }
        }
    }

    #[test]
    fn radiotap_fields_lead_to_one_generation() {
        for (field, generation) in [
            (2, None),
            (19, Some(Generation::N)),
            (21, Some(Generation::Ac)),
            (23, Some(Generation::Ax)),
            (34, Some(Generation::Be)),
        ] {
            assert_eq!(Generation::of_radiotap_field(field), generation);
        }
    }
}
