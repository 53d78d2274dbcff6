//! Elements in which a BSS and its stations say what their PHY can do, HT to EHT, and those that
//! list further BSSs: takes a few facts about the PHY, appends whole elements.
//!
//! Sources: IEEE 802.11-2020 clauses 9.4.2.6 (TIM), 9.4.2.8 (Country), 9.4.2.26 (Extended
//! Capabilities), 9.4.2.45 (Multiple BSSID), 9.4.2.55 and .56 (HT), 9.4.2.157 and .158 (VHT),
//! 9.4.2.161 (Transmit Power Envelope), 9.4.2.170 (Reduced Neighbor Report); IEEE 802.11ax-2021
//! clauses 9.4.2.248 and .249 (HE), 9.4.2.251 (MU EDCA), 9.4.2.263 (6 GHz); IEEE 802.11be-2024
//! clauses 9.4.2.311 and .313 (EHT); `multi_link` has the Multi-Link element. Optional features are left out:
//! no beamforming, no STBC, no PPE thresholds. Never reads an element.

use super::MultiLinkRepr;
use super::element::{Element, extension, id};
use crate::MacAddress;

/// The part of a PHY's set-up that its elements depend on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PhySetUp {
    /// Channel width, MHz.
    pub width_mhz: u16,
    /// Spatial streams, 1 to 8.
    pub streams: u8,
    /// Number of the primary channel, the lowest of the BSS.
    pub channel: u8,
    /// Band: 2.4 GHz.
    pub at_2_4ghz: bool,
    /// Band: 6 GHz.
    pub at_6ghz: bool,
    /// It receives LDPC; HE devices always do, since channels above 20 MHz need it.
    pub ldpc: bool,
    /// It takes part in schedules of target wake time that are broadcast.
    pub broadcast_twt: bool,
    /// Highest MCS of EHT and whether it is an access point's own element: 20 MHz stations have
    /// another map.
    pub station: bool,
}

impl PhySetUp {
    /// The number of the channel in the middle of `width` MHz from the primary channel on.
    const fn centre(&self, width_mhz: u16) -> u8 {
        self.channel + ((width_mhz - 20) / 10) as u8
    }

    /// Two bits for each number of streams: `best` for those that there are, 3 for the others.
    fn two_bit_map(&self, best: u16) -> u16 {
        (0..8).fold(0, |map, stream| {
            let value = if stream < u16::from(self.streams) {
                best
            } else {
                3
            };
            map | value << (2 * stream)
        })
    }

    /// Number of widths above 80 MHz, one with 160 and two with 320.
    const fn wide_steps(&self) -> usize {
        match self.width_mhz {
            320 => 2,
            160 => 1,
            _ => 0,
        }
    }
}

fn emit(out: &mut Vec<u8>, id: u8, body: &[u8]) {
    Element { id, body }.emit(out);
}

fn emit_extended(out: &mut Vec<u8>, number: u8, body: &[u8]) {
    let mut whole = vec![number];
    whole.extend_from_slice(body);
    emit(out, id::EXTENSION, &whole);
}

/// Traffic indication map of a BSS in which no station sleeps; every beacon is a DTIM.
pub fn traffic_indication(out: &mut Vec<u8>) {
    emit(out, id::TRAFFIC_INDICATION, &[0, 1, 0, 0]);
}

/// Country: three letters, and the channels of a regulatory domain (first, number, power in dBm).
pub fn country(out: &mut Vec<u8>, letters: [u8; 3], triplets: &[[u8; 3]]) {
    let mut body = letters.to_vec();
    for triplet in triplets {
        body.extend_from_slice(triplet);
    }
    if body.len() % 2 == 1 {
        body.push(0);
    }
    emit(out, id::COUNTRY, &body);
}

/// Extended Capabilities with these bits set, in `octets` octets.
pub fn extended_capabilities(out: &mut Vec<u8>, octets: usize, bits: &[usize]) {
    let mut body = vec![0; octets];
    for bit in bits {
        if let Some(octet) = body.get_mut(bit / 8) {
            *octet |= 1 << (bit % 8);
        }
    }
    emit(out, id::EXTENDED_CAPABILITIES, &body);
}

/// Supported Operating Classes: the present one, then those of the band up to its width (global
/// classes of IEEE 802.11-2020, table E-4, and 137 of 802.11be).
pub fn operating_classes(out: &mut Vec<u8>, phy: &PhySetUp) {
    let classes: &[u8] = match (phy.at_2_4ghz, phy.at_6ghz) {
        (true, _) => &[81, 83],
        (_, true) => &[131, 132, 133, 134, 137],
        _ => &[115, 116, 128, 129],
    };
    let steps = match phy.width_mhz {
        20 => 1,
        40 => 2,
        80 => 3,
        160 => 4,
        _ => 5,
    };
    let supported = &classes[..classes.len().min(steps)];
    let mut body = supported
        .last()
        .map_or(Vec::new(), |present| vec![*present]);
    body.extend_from_slice(supported);
    emit(out, id::SUPPORTED_OPERATING_CLASSES, &body);
}

/// HT Capabilities.
pub fn ht_capabilities(out: &mut Vec<u8>, phy: &PhySetUp) {
    let mut body = [0; 26];
    // Supported channel width, SM power save disabled, short guard intervals.
    body[0] = 0x0c | 0x20 | if phy.width_mhz > 20 { 0x42 } else { 0 };
    // LDPC coding capability.
    body[0] |= u8::from(phy.ldpc);
    // Maximum A-MPDU length exponent 3.
    body[2] = 0x03;
    for octet in body[3..].iter_mut().take(usize::from(phy.streams.min(4))) {
        *octet = 0xff;
    }
    emit(out, id::HT_CAPABILITIES, &body);
}

/// HT Operation.
pub fn ht_operation(out: &mut Vec<u8>, phy: &PhySetUp) {
    let mut body = [0; 22];
    body[0] = phy.channel;
    // Secondary channel above, any channel width.
    body[1] = if phy.width_mhz > 20 { 0x05 } else { 0 };
    emit(out, id::HT_OPERATION, &body);
}

/// VHT Capabilities.
pub fn vht_capabilities(out: &mut Vec<u8>, phy: &PhySetUp) {
    let mut body = [0; 12];
    let wide: u32 = if phy.width_mhz >= 160 {
        1 << 2 | 1 << 6
    } else {
        0
    };
    // MPDUs of 11,454 octets, short guard interval at 80 MHz, A-MPDU exponent 7, Rx LDPC.
    let information = 2 | wide | 1 << 5 | 7 << 23 | u32::from(phy.ldpc) << 4;
    body[..4].copy_from_slice(&information.to_le_bytes());
    let map = phy.two_bit_map(2).to_le_bytes();
    body[4..6].copy_from_slice(&map);
    body[8..10].copy_from_slice(&map);
    emit(out, id::VHT_CAPABILITIES, &body);
}

/// VHT Operation.
pub fn vht_operation(out: &mut Vec<u8>, phy: &PhySetUp) {
    let map = phy.two_bit_map(0).to_le_bytes();
    let (wide, centres) = match phy.width_mhz {
        ..80 => (0, [0, 0]),
        80 => (1, [phy.centre(80), 0]),
        _ => (1, [phy.centre(80), phy.centre(160)]),
    };
    let body = [wide, centres[0], centres[1], map[0], map[1]];
    emit(out, id::VHT_OPERATION, &body);
}

/// Transmit Power Envelope: `dbm` at each width up to 160 MHz.
pub fn transmit_power(out: &mut Vec<u8>, phy: &PhySetUp, dbm: u8) {
    let steps: u8 = match phy.width_mhz {
        20 => 0,
        40 => 1,
        80 => 2,
        _ => 3,
    };
    let mut body = vec![steps];
    body.resize(2 + usize::from(steps), dbm * 2);
    emit(out, id::TRANSMIT_POWER_ENVELOPE, &body);
}

/// HE Capabilities.
pub fn he_capabilities(out: &mut Vec<u8>, phy: &PhySetUp) {
    let mut body = vec![0; 17];
    // MAC: Broadcast TWT Support, bit 20.
    body[2] = u8::from(phy.broadcast_twt) << 4;
    // PHY: channel widths, LDPC.
    body[6] = match (phy.at_2_4ghz, phy.width_mhz) {
        (_, 20) => 0,
        (true, _) => 1 << 1,
        (false, ..=80) => 1 << 2,
        (false, _) => 1 << 2 | 1 << 3,
    };
    body[7] = 1 << 5;
    let map = phy.two_bit_map(2).to_le_bytes();
    for _ in 0..=usize::from(phy.width_mhz >= 160) {
        body.extend_from_slice(&map);
        body.extend_from_slice(&map);
    }
    emit_extended(out, extension::HE_CAPABILITIES, &body);
}

/// HE Operation, at 6 GHz with the channel.
pub fn he_operation(out: &mut Vec<u8>, phy: &PhySetUp) {
    // RTS threshold by duration off (1,023); 6 GHz operation information present.
    let mut parameters: u32 = 0x3ff << 4;
    if phy.at_6ghz {
        parameters |= 1 << 17;
    }
    let mut body = parameters.to_le_bytes()[..3].to_vec();
    // BSS colour 1, MCS 0 to 7 with one stream.
    body.extend_from_slice(&[1, 0xfc, 0xff]);
    if phy.at_6ghz {
        let (code, centres) = match phy.width_mhz {
            20 => (0, [phy.channel, 0]),
            40 => (1, [phy.centre(40), 0]),
            80 => (2, [phy.centre(80), 0]),
            _ => (3, [phy.centre(80), phy.centre(160)]),
        };
        body.extend_from_slice(&[phy.channel, code, centres[0], centres[1], 6]);
    }
    emit_extended(out, extension::HE_OPERATION, &body);
}

/// HE 6 GHz Band Capabilities: MPDUs of 11,454 octets, A-MPDU exponent 7.
pub fn he_6ghz_capabilities(out: &mut Vec<u8>) {
    let information: u16 = 7 << 3 | 2 << 6 | 3 << 9;
    emit_extended(
        out,
        extension::HE_6GHZ_CAPABILITIES,
        &information.to_le_bytes(),
    );
}

/// MU EDCA Parameter Set, with the values that hostapd's example has.
pub fn mu_edca(out: &mut Vec<u8>) {
    let mut body = vec![0];
    for (aci, timer) in [(0, 255), (1, 255), (2, 255), (3, 255)] {
        body.extend_from_slice(&[aci << 5, 0xa4, timer]);
    }
    emit_extended(out, extension::MU_EDCA, &body);
}

/// EHT Capabilities.
pub fn eht_capabilities(out: &mut Vec<u8>, phy: &PhySetUp) {
    let mut body = vec![0; 11];
    if phy.width_mhz == 320 {
        // 320 MHz at 6 GHz.
        body[2] = 1 << 1;
    }
    let streams = phy.streams | phy.streams << 4;
    if phy.station && phy.width_mhz == 20 {
        body.extend_from_slice(&[streams; 4]);
    } else {
        for _ in 0..=phy.wide_steps() {
            body.extend_from_slice(&[streams; 3]);
        }
    }
    emit_extended(out, extension::EHT_CAPABILITIES, &body);
}

/// EHT Operation, with the channel where HE cannot say it.
pub fn eht_operation(out: &mut Vec<u8>, phy: &PhySetUp) {
    let mut body = vec![u8::from(phy.width_mhz == 320), 0x11, 0x11, 0x11, 0x11];
    if phy.width_mhz == 320 {
        body.extend_from_slice(&[4, phy.centre(160), phy.centre(320)]);
    }
    emit_extended(out, extension::EHT_OPERATION, &body);
}

/// Basic Multi-Link element of an access point of the MLD with this address, on this link.
pub fn basic_multi_link(out: &mut Vec<u8>, mld: MacAddress, link: u8, links: u8) {
    MultiLinkRepr {
        mld,
        link: Some(link),
        change_count: Some(0),
        eml: Some(0),
        capabilities: Some(u16::from(links.saturating_sub(1))),
        profiles: Vec::new(),
    }
    .emit(out);
}

/// A BSS of the same device in another band, as a Reduced Neighbor Report lists it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Reported {
    /// Operating class and channel.
    pub class_and_channel: [u8; 2],
    /// Its BSSID.
    pub bssid: MacAddress,
    /// Short SSID: the CRC of its name.
    pub short_ssid: u32,
    /// Its link ID, where it belongs to the same MLD.
    pub link: Option<u8>,
}

/// Reduced Neighbor Report with one TBTT each.
pub fn reduced_neighbors(out: &mut Vec<u8>, reported: &[Reported]) {
    let mut body = Vec::new();
    for one in reported {
        let octets: u8 = if one.link.is_some() { 16 } else { 13 };
        // One TBTT information of this length.
        body.extend_from_slice(&[0, octets]);
        body.extend_from_slice(&one.class_and_channel);
        // The offset is not known; the BSS is of the same SSID and co-located.
        body.push(255);
        body.extend_from_slice(&one.bssid.0);
        body.extend_from_slice(&one.short_ssid.to_le_bytes());
        body.extend_from_slice(&[0x42, 127]);
        if let Some(link) = one.link {
            // MLD ID 0: the reporting AP's own.
            body.extend_from_slice(&[0, link, 0]);
        }
    }
    if !body.is_empty() {
        emit(out, id::REDUCED_NEIGHBOR_REPORT, &body);
    }
}

/// Multiple BSSID elements: the elements of each further BSSID, number 1 first. A profile that does
/// not fit into what is left of an element begins the next element.
pub fn multiple_bssid(out: &mut Vec<u8>, profiles: &[Vec<u8>]) {
    let indicator = (usize::BITS - profiles.len().leading_zeros()) as u8;
    let mut body = vec![indicator];
    for (number, elements) in profiles.iter().enumerate() {
        let mut profile = Vec::new();
        emit(&mut profile, id::NONTRANSMITTED_CAPABILITY, &[0x11, 0]);
        profile.extend_from_slice(elements);
        emit(
            &mut profile,
            id::MULTIPLE_BSSID_INDEX,
            &[number as u8 + 1, 1, 0],
        );
        profile.truncate(252);
        if body.len() + 2 + profile.len() > 255 {
            emit(out, id::MULTIPLE_BSSID, &body);
            body.truncate(1);
        }
        // Subelement 0: a nontransmitted BSSID profile.
        emit(&mut body, 0, &profile);
    }
    emit(out, id::MULTIPLE_BSSID, &body);
}

/// WMM parameter element of the Wi-Fi Alliance, with the standard's EDCA parameters (table 9-155)
/// of OFDM PHYs, or what a station says of itself.
pub fn wmm(out: &mut Vec<u8>, station: bool) {
    if station {
        emit(out, id::VENDOR, &[0x00, 0x50, 0xf2, 2, 0, 1, 0]);
        return;
    }
    let mut body = vec![0x00, 0x50, 0xf2, 2, 1, 1, 0, 0];
    for (aci, aifsn, window, txop) in [
        (0_u8, 3, 0xa4, 0_u16),
        (1, 7, 0xa4, 0),
        (2, 2, 0x43, 94),
        (3, 2, 0x32, 47),
    ] {
        body.extend_from_slice(&[aci << 5 | aifsn, window]);
        body.extend_from_slice(&txop.to_le_bytes());
    }
    emit(out, id::VENDOR, &body);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ieee80211::Elements;

    const WIDE: PhySetUp = PhySetUp {
        width_mhz: 320,
        streams: 2,
        channel: 1,
        at_2_4ghz: false,
        at_6ghz: true,
        ldpc: false,
        broadcast_twt: false,
        station: false,
    };

    fn made(of: impl Fn(&mut Vec<u8>)) -> Vec<u8> {
        let mut out = Vec::new();
        of(&mut out);
        assert!(!Elements::new(&out).is_damaged());
        out
    }

    #[test]
    fn elements_have_the_lengths_of_the_standard() {
        let phy = WIDE;
        let lengths = [
            (made(|o| ht_capabilities(o, &phy)).len(), 28),
            (made(|o| ht_operation(o, &phy)).len(), 24),
            (made(|o| vht_capabilities(o, &phy)).len(), 14),
            (made(|o| vht_operation(o, &phy)).len(), 7),
            // 2 + 1 + 6 + 11 + 2 x 4.
            (made(|o| he_capabilities(o, &phy)).len(), 28),
            (made(|o| he_operation(o, &phy)).len(), 14),
            (made(he_6ghz_capabilities).len(), 5),
            (made(mu_edca).len(), 16),
            // 2 + 1 + 2 + 9 + 3 x 3.
            (made(|o| eht_capabilities(o, &phy)).len(), 23),
            (made(|o| eht_operation(o, &phy)).len(), 11),
            (made(|o| wmm(o, false)).len(), 26),
            (made(|o| wmm(o, true)).len(), 9),
        ];
        for (got, expected) in lengths {
            assert_eq!(got, expected);
        }
        let narrow = PhySetUp {
            width_mhz: 20,
            at_6ghz: false,
            station: true,
            ..WIDE
        };
        assert_eq!(made(|o| he_capabilities(o, &narrow)).len(), 24);
        assert_eq!(made(|o| eht_capabilities(o, &narrow)).len(), 18);
        assert_eq!(made(|o| he_operation(o, &narrow)).len(), 9);
    }

    #[test]
    fn ldpc_is_bit_0_of_ht_and_bit_4_of_vht() {
        let coded = PhySetUp { ldpc: true, ..WIDE };
        let differs = |of: fn(&mut Vec<u8>, &PhySetUp)| {
            let [with, without] = [&coded, &WIDE].map(|phy| made(|o| of(o, phy)));
            let pairs = with.iter().zip(&without).enumerate();
            let changed: Vec<(usize, u8)> = pairs
                .filter(|(_, (a, b))| a != b)
                .map(|(at, (a, b))| (at, a ^ b))
                .collect();
            changed
        };
        // After element ID and length.
        assert_eq!(differs(ht_capabilities), [(2, 1)]);
        assert_eq!(differs(vht_capabilities), [(2, 1 << 4)]);
        assert_eq!(differs(he_capabilities), []);
    }

    #[test]
    fn broadcast_twt_is_bit_20_of_the_mac_capabilities() {
        let plain = made(|o| he_capabilities(o, &WIDE));
        let scheduled = PhySetUp {
            broadcast_twt: true,
            ..WIDE
        };
        let with = made(|o| he_capabilities(o, &scheduled));
        // After element ID, length and extension.
        let changed: Vec<usize> = (0..plain.len())
            .filter(|at| plain[*at] != with[*at])
            .collect();
        assert_eq!(changed, [3 + 2]);
        assert_eq!(with[5] ^ plain[5], 1 << 4);
    }

    #[test]
    fn streams_that_there_are_not_have_no_mcs() {
        assert_eq!(WIDE.two_bit_map(2), 0xfffa);
    }

    #[test]
    fn profiles_that_do_not_fit_begin_another_element() {
        let profile = vec![0; 100];
        let out = made(|o| multiple_bssid(o, &vec![profile.clone(); 5]));
        let elements: Vec<_> = Elements::new(&out).collect();
        assert_eq!(elements.len(), 3);
        for element in elements {
            assert_eq!((element.id, element.body[0]), (71, 3));
        }
    }

    #[test]
    fn a_reported_bss_of_the_mld_has_three_octets_more() {
        let mut one = Reported {
            class_and_channel: [131, 1],
            bssid: MacAddress([2; 6]),
            short_ssid: 1,
            link: None,
        };
        assert_eq!(made(|o| reduced_neighbors(o, &[one])).len(), 2 + 4 + 13);
        one.link = Some(1);
        assert_eq!(
            made(|o| reduced_neighbors(o, &[one, one])).len(),
            2 + 2 * (4 + 16)
        );
        assert!(made(|o| reduced_neighbors(o, &[])).is_empty());
    }
}
