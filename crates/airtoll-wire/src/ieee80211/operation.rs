//! The channel of a BSS: takes the elements of its beacon, gives width and primary channel.
//!
//! Sources: IEEE 802.11-2020 clauses 9.4.2.56 (HT Operation) and 9.4.2.158 (VHT Operation, table 9-274);
//! IEEE 802.11ax-2021 clause 9.4.2.249 (HE Operation); IEEE 802.11be-2024 clause 9.4.2.311 (EHT Operation).
//! Never judges whether the elements agree; `capability` writes them.

use super::element::{Elements, extension, id};

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
        // Centres 8 channels apart: 160 MHz; more than 16: 80+80 MHz.
        (1, 8 | 17..) if *second != 0 => Some(160),
        (1, _) => Some(80),
        (2 | 3, _) => Some(160),
        _ => None,
    }
}

fn of_ht(elements: &Elements<'_>) -> u16 {
    match elements.find_id(id::HT_OPERATION) {
        // Secondary channel above (1) or below (3), and stations may use it (bit 2).
        Some([_, information, ..]) if information & 3 != 0 && information & 4 != 0 => 40,
        _ => 20,
    }
}

#[cfg(test)]
mod tests {
    use super::super::capability::{self, PhySetUp};
    use super::*;

    fn announced((he, eht): (bool, bool), width_mhz: u16, at_6ghz: bool) -> Vec<u8> {
        let phy = PhySetUp {
            width_mhz,
            streams: 2,
            channel: 37,
            at_2_4ghz: false,
            at_6ghz,
            ldpc: false,
            broadcast_twt: false,
            station: false,
        };
        let mut out = Vec::new();
        if !at_6ghz {
            capability::ht_operation(&mut out, &phy);
            if width_mhz > 40 {
                capability::vht_operation(&mut out, &phy);
            }
        }
        if he {
            capability::he_operation(&mut out, &phy);
        }
        if eht {
            capability::eht_operation(&mut out, &phy);
        }
        out
    }

    #[test]
    fn width_and_channel_are_those_that_were_announced() {
        for (newer, widths, at_6ghz) in [
            ((false, false), &[20, 40, 80, 160][..], false),
            ((true, false), &[20, 40, 80, 160], false),
            ((true, false), &[20, 40, 80, 160], true),
            ((true, true), &[20, 40, 80, 160, 320], true),
        ] {
            for width in widths {
                let octets = announced(newer, *width, at_6ghz);
                let elements = Elements::new(&octets);
                assert_eq!(width_mhz(&elements), *width, "{newer:?} {width}");
                assert_eq!(primary_channel(&elements), Some(37));
            }
        }
    }

    #[test]
    fn a_beacon_without_these_elements_has_20_mhz() {
        let elements = Elements::new(&[id::DSSS_PARAMETER, 1, 11]);
        assert_eq!(width_mhz(&elements), 20);
        assert_eq!(primary_channel(&elements), Some(11));
    }

    #[test]
    fn a_secondary_channel_that_stations_may_not_use_counts_as_20_mhz() {
        let ht = |information: u8| {
            let mut octets = vec![id::HT_OPERATION, 22, 36, information];
            octets.resize(24, 0);
            width_mhz(&Elements::new(&octets))
        };
        assert_eq!((ht(1), ht(5), ht(7), ht(4)), (20, 40, 40, 20));
    }

    #[test]
    fn two_centres_of_vht_are_160_mhz() {
        let vht = |body: [u8; 3]| {
            let [width, first, second] = body;
            width_mhz(&Elements::new(&[
                id::VHT_OPERATION,
                5,
                width,
                first,
                second,
                0,
                0,
            ]))
        };
        assert_eq!(vht([1, 42, 0]), 80);
        assert_eq!((vht([1, 42, 50]), vht([1, 42, 155])), (160, 160));
        assert_eq!(
            (vht([2, 50, 0]), vht([3, 42, 155]), vht([0, 0, 0])),
            (160, 160, 20)
        );
    }
}
