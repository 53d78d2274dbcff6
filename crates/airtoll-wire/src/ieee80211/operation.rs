//! The channel and the PHY of a BSS: takes the elements of its beacon, gives width, primary channel and
//! the newest generation that they announce.
//!
//! Sources: IEEE 802.11-2020 clauses 9.4.2.56 (HT Operation) and 9.4.2.158 (VHT Operation, table 9-274);
//! IEEE 802.11ax-2021 clause 9.4.2.249 (HE Operation); IEEE 802.11be-2024 clause 9.4.2.311 (EHT Operation).
//! Never judges whether the elements agree; `capability` writes them.

use super::element::{Elements, extension, id};

/// A generation of the PHY that has elements of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Generation {
    /// HT: 802.11n.
    Ht,
    /// VHT: 802.11ac.
    Vht,
    /// HE: 802.11ax.
    He,
    /// EHT: 802.11be.
    Eht,
}

/// The newest generation whose capabilities are among the elements.
pub fn generation(elements: &Elements<'_>) -> Option<Generation> {
    if elements
        .find_extension(extension::EHT_CAPABILITIES)
        .is_some()
    {
        Some(Generation::Eht)
    } else if elements
        .find_extension(extension::HE_CAPABILITIES)
        .is_some()
    {
        Some(Generation::He)
    } else if elements.find_id(id::VHT_CAPABILITIES).is_some() {
        Some(Generation::Vht)
    } else {
        elements
            .find_id(id::HT_CAPABILITIES)
            .map(|_| Generation::Ht)
    }
}

/// Number of the primary channel.
pub fn primary_channel(elements: &Elements<'_>) -> Option<u8> {
    let at_6ghz = six_ghz(elements).map(|information| information[0]);
    let of_ht = || elements.find_id(id::HT_OPERATION)?.first().copied();
    let of_dsss = || elements.find_id(id::DSSS_PARAMETER)?.first().copied();
    at_6ghz.or_else(of_ht).or_else(of_dsss)
}

/// Channel width in MHz; 20 without an element that says otherwise.
pub fn width_mhz(elements: &Elements<'_>) -> u16 {
    let of_eht = elements
        .find_extension(extension::EHT_OPERATION)
        // Bit 0 of the parameters: operation information follows the basic MCS set.
        .filter(|body| body.first().is_some_and(|parameters| parameters & 1 != 0))
        .and_then(|body| body.get(5))
        .and_then(|control| {
            [20, 40, 80, 160, 320]
                .get(usize::from(control & 7))
                .copied()
        });
    let of_6ghz = six_ghz(elements).map(|body| [20, 40, 80, 160][usize::from(body[1] & 3)]);
    of_eht
        .or(of_6ghz)
        .or_else(|| of_vht(elements))
        .unwrap_or_else(|| of_ht(elements))
}

/// The 6 GHz Operation Information of HE Operation.
fn six_ghz<'a>(elements: &Elements<'a>) -> Option<&'a [u8]> {
    let body = elements.find_extension(extension::HE_OPERATION)?;
    let [low, middle, high, _, _, _, rest @ ..] = body else {
        return None;
    };
    let parameters = u32::from_le_bytes([*low, *middle, *high, 0]);
    // Bits 14 (VHT Operation Information), 15 (co-hosted BSS) and 17 (6 GHz) say what follows.
    let before =
        3 * usize::from(parameters & 1 << 14 != 0) + usize::from(parameters & 1 << 15 != 0);
    let present = parameters & 1 << 17 != 0;
    rest.get(before..before + 5).filter(|_| present)
}

fn of_vht(elements: &Elements<'_>) -> Option<u16> {
    let [width, first, second, ..] = elements.find_id(id::VHT_OPERATION)? else {
        return None;
    };
    match (width, first.abs_diff(*second)) {
        (1, _) if *second == 0 => Some(80),
        // 160 MHz, or 80+80 MHz.
        (1..=3, _) => Some(160),
        _ => None,
    }
}

fn of_ht(elements: &Elements<'_>) -> u16 {
    match elements.find_id(id::HT_OPERATION) {
        // Secondary channel above (1) or below (3).
        Some([_, information, ..]) if information & 3 != 0 => 40,
        _ => 20,
    }
}

#[cfg(test)]
mod tests {
    use super::super::capability::{self, PhySetUp};
    use super::*;

    fn announced(generation: Generation, width_mhz: u16, at_6ghz: bool) -> Vec<u8> {
        let phy = PhySetUp {
            width_mhz,
            streams: 2,
            channel: 37,
            at_2_4ghz: false,
            at_6ghz,
            station: false,
        };
        let mut out = Vec::new();
        if !at_6ghz {
            capability::ht_capabilities(&mut out, &phy);
            capability::ht_operation(&mut out, &phy);
        }
        if !at_6ghz && generation >= Generation::Vht {
            capability::vht_capabilities(&mut out, &phy);
            capability::vht_operation(&mut out, &phy);
        }
        if generation >= Generation::He {
            capability::he_capabilities(&mut out, &phy);
            capability::he_operation(&mut out, &phy);
        }
        if generation >= Generation::Eht {
            capability::eht_capabilities(&mut out, &phy);
            capability::eht_operation(&mut out, &phy);
        }
        out
    }

    #[test]
    fn width_and_generation_are_those_that_were_announced() {
        for (newest, widths, at_6ghz) in [
            (Generation::Ht, &[20, 40][..], false),
            (Generation::Vht, &[20, 40, 80, 160], false),
            (Generation::He, &[20, 40, 80, 160], false),
            (Generation::He, &[20, 40, 80, 160], true),
            (Generation::Eht, &[20, 40, 80, 160, 320], true),
        ] {
            for width in widths {
                let octets = announced(newest, *width, at_6ghz);
                let elements = Elements::new(&octets);
                assert_eq!(width_mhz(&elements), *width, "{newest:?} {width}");
                assert_eq!(generation(&elements), Some(newest));
                assert_eq!(primary_channel(&elements), Some(37));
            }
        }
    }

    #[test]
    fn a_beacon_without_these_elements_has_20_mhz() {
        let elements = Elements::new(&[id::DSSS_PARAMETER, 1, 11]);
        assert_eq!((width_mhz(&elements), generation(&elements)), (20, None));
        assert_eq!(primary_channel(&elements), Some(11));
    }
}
