//! Link cipher suites: one table, and what each adds to a frame.
//!
//! Takes nothing but a suite; gives octet counts, selectors and permissions. Never touches a key
//! or a frame: the ciphers themselves are in `link`.
//!
//! Source: IEEE 802.11-2020 table 9-149 (selectors), 12.3.2.2, 12.5.2.2, 12.5.3.2 and 12.5.5.2
//! (octets), table 12-7 (keys), 12.6.1.1 (HT stations).

use airtoll_wire::ieee80211::suite::{CipherSelector, OUI_IEEE, OUI_WPA};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::table::table;

struct Row {
    /// Suite type; none without a selector.
    kind: Option<u8>,
    /// Whether the WPA version 1 element has the same type.
    in_wpa: bool,
    header: usize,
    mic: usize,
    icv: usize,
    msdu: usize,
    key: usize,
    /// Whether the suite protects group-addressed management frames, and nothing else.
    management: bool,
    high_throughput: bool,
}

table! {
    /// A cipher suite of IEEE 802.11, or none.
    pub enum CipherSuite: Row {
        /// No cipher.
        Open = "open" {
            kind: None,
            in_wpa: false,
            header: 0,
            mic: 0,
            icv: 0,
            msdu: 0,
            key: 0,
            management: false,
            high_throughput: true,
        }
        /// WEP with a 40-bit key.
        Wep40 = "wep-40" {
            kind: Some(1),
            in_wpa: true,
            header: 4,
            mic: 0,
            icv: 4,
            msdu: 0,
            key: 5,
            management: false,
            high_throughput: false,
        }
        /// WEP with a 104-bit key.
        Wep104 = "wep-104" {
            kind: Some(5),
            in_wpa: true,
            header: 4,
            mic: 0,
            icv: 4,
            msdu: 0,
            key: 13,
            management: false,
            high_throughput: false,
        }
        /// Temporal Key Integrity Protocol. The key is 16 octets of encryption key and two Michael
        /// keys of 8.
        Tkip = "tkip" {
            kind: Some(2),
            in_wpa: true,
            header: 8,
            mic: 0,
            icv: 4,
            msdu: 8,
            key: 32,
            management: false,
            high_throughput: false,
        }
        /// AES-128 in CCM with an 8-octet MIC.
        Ccmp128 = "ccmp-128" {
            kind: Some(4),
            in_wpa: true,
            header: 8,
            mic: 8,
            icv: 0,
            msdu: 0,
            key: 16,
            management: false,
            high_throughput: true,
        }
        /// AES-256 in CCM with a 16-octet MIC.
        Ccmp256 = "ccmp-256" {
            kind: Some(10),
            in_wpa: false,
            header: 8,
            mic: 16,
            icv: 0,
            msdu: 0,
            key: 32,
            management: false,
            high_throughput: true,
        }
        /// AES-128 in GCM with a 16-octet MIC.
        Gcmp128 = "gcmp-128" {
            kind: Some(8),
            in_wpa: false,
            header: 8,
            mic: 16,
            icv: 0,
            msdu: 0,
            key: 16,
            management: false,
            high_throughput: true,
        }
        /// AES-256 in GCM with a 16-octet MIC.
        Gcmp256 = "gcmp-256" {
            kind: Some(9),
            in_wpa: false,
            header: 8,
            mic: 16,
            icv: 0,
            msdu: 0,
            key: 32,
            management: false,
            high_throughput: true,
        }
        /// AES-128-CMAC truncated to 64 bits, for group-addressed management frames.
        BipCmac128 = "bip-cmac-128" {
            kind: Some(6),
            in_wpa: false,
            header: 0,
            mic: 8,
            icv: 0,
            msdu: 0,
            key: 16,
            management: true,
            high_throughput: true,
        }
        /// AES-256-CMAC, 128 bits, for group-addressed management frames.
        BipCmac256 = "bip-cmac-256" {
            kind: Some(13),
            in_wpa: false,
            header: 0,
            mic: 16,
            icv: 0,
            msdu: 0,
            key: 32,
            management: true,
            high_throughput: true,
        }
        /// AES-128-GMAC, for group-addressed management frames.
        BipGmac128 = "bip-gmac-128" {
            kind: Some(11),
            in_wpa: false,
            header: 0,
            mic: 16,
            icv: 0,
            msdu: 0,
            key: 16,
            management: true,
            high_throughput: true,
        }
        /// AES-256-GMAC, for group-addressed management frames.
        BipGmac256 = "bip-gmac-256" {
            kind: Some(12),
            in_wpa: false,
            header: 0,
            mic: 16,
            icv: 0,
            msdu: 0,
            key: 32,
            management: true,
            high_throughput: true,
        }
    }
}

/// Selectors that name no cipher: "use group cipher" and "group traffic not allowed".
const NO_CIPHER: [(u8, &str); 2] = [(0, "use-group"), (7, "no-group")];

impl CipherSuite {
    /// Octets between the MAC header and the encrypted data of each MPDU: the WEP IV field, the
    /// TKIP IV and extended IV, the CCMP or GCMP header. BIP adds no header.
    #[must_use]
    pub const fn header_octets(self) -> usize {
        self.row().header
    }

    /// Octets of MIC at the end of each MPDU. TKIP's MIC belongs to the MSDU: see
    /// [`msdu_octets`](Self::msdu_octets). For BIP, the MIC field inside the MME.
    #[must_use]
    pub const fn mic_octets(self) -> usize {
        self.row().mic
    }

    /// Octets of CRC-32 ICV at the end of each MPDU (WEP and TKIP).
    #[must_use]
    pub const fn icv_octets(self) -> usize {
        self.row().icv
    }

    /// Octets added to each MSDU before fragmentation: Michael's MIC (12.5.2.3), 8 for TKIP.
    #[must_use]
    pub const fn msdu_octets(self) -> usize {
        self.row().msdu
    }

    /// Octets added to each MPDU. For BIP, the whole Management MIC element (9.4.2.54): element
    /// ID 1, length 1, key ID 2, IPN 6 and the MIC.
    #[must_use]
    pub const fn mpdu_octets(self) -> usize {
        let element = if self.is_group_management() { 10 } else { 0 };
        self.header_octets() + self.mic_octets() + self.icv_octets() + element
    }

    /// Octets added to one unfragmented MSDU: [`mpdu_octets`](Self::mpdu_octets) +
    /// [`msdu_octets`](Self::msdu_octets).
    #[must_use]
    pub const fn frame_octets(self) -> usize {
        self.mpdu_octets() + self.msdu_octets()
    }

    /// Octets of temporal key.
    #[must_use]
    pub const fn key_octets(self) -> usize {
        self.row().key
    }

    /// Whether the suite only protects group-addressed robust management frames.
    #[must_use]
    pub const fn is_group_management(self) -> bool {
        self.row().management
    }

    /// Whether a station may use HT, VHT or HE rates with this pairwise suite.
    ///
    /// IEEE 802.11-2020, 12.6.1.1: WEP and TKIP are not used between HT stations, so such a
    /// station falls back to the rates of clauses 15 to 18.
    #[must_use]
    pub const fn permits_high_throughput(self) -> bool {
        self.row().high_throughput
    }

    /// The suite selector in an RSNE (OUI, then type); none for `Open`.
    #[must_use]
    pub const fn selector(self) -> Option<[u8; 4]> {
        match self.row().kind {
            Some(kind) => Some([OUI_IEEE[0], OUI_IEEE[1], OUI_IEEE[2], kind]),
            None => None,
        }
    }

    /// The selector in a WPA version 1 element, for the suites that have one.
    #[must_use]
    pub const fn wpa_selector(self) -> Option<[u8; 4]> {
        match self.row() {
            Row {
                kind: Some(kind),
                in_wpa: true,
                ..
            } => Some([OUI_WPA[0], OUI_WPA[1], OUI_WPA[2], kind]),
            _ => None,
        }
    }

    /// The suite of a selector of either OUI; none if it is unknown, vendor-specific, or one of
    /// the two that name no cipher ("use group cipher", "group traffic not allowed").
    #[must_use]
    pub fn from_selector(selector: [u8; 4]) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| {
            suite.selector() == Some(selector) || suite.wpa_selector() == Some(selector)
        })
    }

    /// The name of any selector: this table's, `use-group`, `no-group`, or the octets
    /// (`00-0f-ac:99`).
    #[must_use]
    pub fn name_of(selector: [u8; 4]) -> String {
        if let Some(suite) = Self::from_selector(selector) {
            return suite.name().to_owned();
        }
        let [a, b, c, kind] = selector;
        let named = NO_CIPHER.iter().find(|(known, _)| *known == kind);
        match named {
            Some((_, name)) if [a, b, c] == OUI_IEEE => (*name).to_owned(),
            _ => CipherSelector(selector).to_string().to_lowercase(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn octets_of_the_design_table() {
        let octets = |s: CipherSuite| s.frame_octets();
        assert_eq!(octets(CipherSuite::Open), 0);
        assert_eq!(octets(CipherSuite::Wep40), 8);
        assert_eq!(octets(CipherSuite::Wep104), 8);
        assert_eq!(octets(CipherSuite::Tkip), 20);
        assert_eq!(octets(CipherSuite::Ccmp128), 16);
        assert_eq!(octets(CipherSuite::Ccmp256), 24);
        assert_eq!(octets(CipherSuite::Gcmp128), 24);
        assert_eq!(octets(CipherSuite::Gcmp256), 24);
        assert_eq!(octets(CipherSuite::BipCmac128), 18);
        assert_eq!(octets(CipherSuite::BipGmac256), 26);
    }

    #[test]
    fn names_and_selectors_return_their_suite() {
        for suite in CipherSuite::ALL {
            assert_eq!(CipherSuite::from_name(suite.name()), Some(suite));
            let json = serde_json::to_string(&suite).unwrap();
            assert_eq!(json, format!("\"{}\"", suite.name()));
            assert_eq!(serde_json::from_str::<CipherSuite>(&json).unwrap(), suite);
            if let Some(selector) = suite.selector() {
                assert_eq!(CipherSuite::from_selector(selector), Some(suite));
            }
            if let Some(selector) = suite.wpa_selector() {
                assert_eq!(CipherSuite::from_selector(selector), Some(suite));
            }
        }
        assert_eq!(CipherSuite::from_selector([0, 0x0f, 0xac, 0]), None);
        assert_eq!(CipherSuite::from_selector([0, 0x50, 0xf2, 8]), None);
        assert_eq!(CipherSuite::name_of([0, 0x0f, 0xac, 7]), "no-group");
        assert_eq!(CipherSuite::name_of([0, 0x0f, 0xac, 4]), "ccmp-128");
        assert_eq!(CipherSuite::name_of([1, 2, 3, 4]), "01-02-03:4");
    }
}
