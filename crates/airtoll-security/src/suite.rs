//! Link cipher suites and what each adds to a frame.
//!
//! Takes nothing but a suite; gives octet counts, selectors and permissions. Never touches a key
//! or a frame: the ciphers themselves are in `link`.

use serde::{Deserialize, Serialize};

/// OUI of the suites of IEEE 802.11-2020, table 9-149.
pub const OUI_IEEE: [u8; 3] = [0x00, 0x0f, 0xac];
/// OUI of the WPA (version 1) suites of the Wi-Fi Alliance.
pub const OUI_WPA: [u8; 3] = [0x00, 0x50, 0xf2];

/// A cipher suite of IEEE 802.11, or none.
///
/// Serialised by its name: `open`, `wep-40`, `wep-104`, `tkip`, `ccmp-128`, `ccmp-256`,
/// `gcmp-128`, `gcmp-256`, `bip-cmac-128`, `bip-cmac-256`, `bip-gmac-128`, `bip-gmac-256`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum CipherSuite {
    /// No cipher.
    #[serde(rename = "open")]
    Open,
    /// WEP with a 40-bit key.
    #[serde(rename = "wep-40")]
    Wep40,
    /// WEP with a 104-bit key.
    #[serde(rename = "wep-104")]
    Wep104,
    /// Temporal Key Integrity Protocol.
    #[serde(rename = "tkip")]
    Tkip,
    /// AES-128 in CCM with an 8-octet MIC.
    #[serde(rename = "ccmp-128")]
    Ccmp128,
    /// AES-256 in CCM with a 16-octet MIC.
    #[serde(rename = "ccmp-256")]
    Ccmp256,
    /// AES-128 in GCM with a 16-octet MIC.
    #[serde(rename = "gcmp-128")]
    Gcmp128,
    /// AES-256 in GCM with a 16-octet MIC.
    #[serde(rename = "gcmp-256")]
    Gcmp256,
    /// AES-128-CMAC truncated to 64 bits, for group-addressed management frames.
    #[serde(rename = "bip-cmac-128")]
    BipCmac128,
    /// AES-256-CMAC, 128 bits, for group-addressed management frames.
    #[serde(rename = "bip-cmac-256")]
    BipCmac256,
    /// AES-128-GMAC, for group-addressed management frames.
    #[serde(rename = "bip-gmac-128")]
    BipGmac128,
    /// AES-256-GMAC, for group-addressed management frames.
    #[serde(rename = "bip-gmac-256")]
    BipGmac256,
}

impl CipherSuite {
    /// Every suite, weakest data cipher first, then the BIP suites.
    pub const ALL: [Self; 12] = [
        Self::Open,
        Self::Wep40,
        Self::Wep104,
        Self::Tkip,
        Self::Ccmp128,
        Self::Ccmp256,
        Self::Gcmp128,
        Self::Gcmp256,
        Self::BipCmac128,
        Self::BipCmac256,
        Self::BipGmac128,
        Self::BipGmac256,
    ];

    /// The name used in studies, profiles and output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Open => "open",
            Self::Wep40 => "wep-40",
            Self::Wep104 => "wep-104",
            Self::Tkip => "tkip",
            Self::Ccmp128 => "ccmp-128",
            Self::Ccmp256 => "ccmp-256",
            Self::Gcmp128 => "gcmp-128",
            Self::Gcmp256 => "gcmp-256",
            Self::BipCmac128 => "bip-cmac-128",
            Self::BipCmac256 => "bip-cmac-256",
            Self::BipGmac128 => "bip-gmac-128",
            Self::BipGmac256 => "bip-gmac-256",
        }
    }

    /// The suite of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| suite.name() == name)
    }

    /// Octets between the MAC header and the encrypted data of each MPDU: the WEP IV field, the
    /// TKIP IV and extended IV, the CCMP or GCMP header (IEEE 802.11-2020, 12.3.2.2, 12.5.2.2,
    /// 12.5.3.2, 12.5.5.2). BIP adds no header.
    #[must_use]
    pub const fn header_octets(self) -> usize {
        match self {
            Self::Wep40 | Self::Wep104 => 4,
            Self::Tkip | Self::Ccmp128 | Self::Ccmp256 | Self::Gcmp128 | Self::Gcmp256 => 8,
            _ => 0,
        }
    }

    /// Octets of MIC at the end of each MPDU. TKIP's MIC belongs to the MSDU: see
    /// [`msdu_octets`](Self::msdu_octets). For BIP, the MIC field inside the MME.
    #[must_use]
    pub const fn mic_octets(self) -> usize {
        match self {
            Self::Ccmp128 | Self::BipCmac128 => 8,
            Self::Ccmp256
            | Self::Gcmp128
            | Self::Gcmp256
            | Self::BipCmac256
            | Self::BipGmac128
            | Self::BipGmac256 => 16,
            _ => 0,
        }
    }

    /// Octets of CRC-32 ICV at the end of each MPDU (WEP and TKIP).
    #[must_use]
    pub const fn icv_octets(self) -> usize {
        match self {
            Self::Wep40 | Self::Wep104 | Self::Tkip => 4,
            _ => 0,
        }
    }

    /// Octets added to each MSDU before fragmentation: Michael's MIC (12.5.2.3), 8 for TKIP.
    #[must_use]
    pub const fn msdu_octets(self) -> usize {
        match self {
            Self::Tkip => 8,
            _ => 0,
        }
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

    /// Octets of temporal key: TKIP counts its 16 octets of encryption key and two Michael keys
    /// of 8 (IEEE 802.11-2020, table 12-7).
    #[must_use]
    pub const fn key_octets(self) -> usize {
        match self {
            Self::Open => 0,
            Self::Wep40 => 5,
            Self::Wep104 => 13,
            Self::Ccmp128 | Self::Gcmp128 | Self::BipCmac128 | Self::BipGmac128 => 16,
            Self::Tkip | Self::Ccmp256 | Self::Gcmp256 | Self::BipCmac256 | Self::BipGmac256 => 32,
        }
    }

    /// Whether the suite only protects group-addressed robust management frames.
    #[must_use]
    pub const fn is_group_management(self) -> bool {
        matches!(
            self,
            Self::BipCmac128 | Self::BipCmac256 | Self::BipGmac128 | Self::BipGmac256
        )
    }

    /// Whether a station may use HT, VHT or HE rates with this pairwise suite.
    ///
    /// IEEE 802.11-2020, 12.6.1.1: WEP and TKIP are not used between HT stations, so such a
    /// station falls back to the rates of clauses 15 to 18.
    #[must_use]
    pub const fn permits_high_throughput(self) -> bool {
        !matches!(self, Self::Wep40 | Self::Wep104 | Self::Tkip)
    }

    /// The suite selector in an RSNE (OUI, then type; IEEE 802.11-2020, table 9-149); none for
    /// `Open`.
    #[must_use]
    pub const fn selector(self) -> Option<[u8; 4]> {
        let kind = match self {
            Self::Open => return None,
            Self::Wep40 => 1,
            Self::Tkip => 2,
            Self::Ccmp128 => 4,
            Self::Wep104 => 5,
            Self::BipCmac128 => 6,
            Self::Gcmp128 => 8,
            Self::Gcmp256 => 9,
            Self::Ccmp256 => 10,
            Self::BipGmac128 => 11,
            Self::BipGmac256 => 12,
            Self::BipCmac256 => 13,
        };
        Some([OUI_IEEE[0], OUI_IEEE[1], OUI_IEEE[2], kind])
    }

    /// The selector in a WPA version 1 element, for the suites that have one.
    #[must_use]
    pub const fn wpa_selector(self) -> Option<[u8; 4]> {
        let kind = match self {
            Self::Wep40 => 1,
            Self::Tkip => 2,
            Self::Ccmp128 => 4,
            Self::Wep104 => 5,
            _ => return None,
        };
        Some([OUI_WPA[0], OUI_WPA[1], OUI_WPA[2], kind])
    }

    /// The suite of a selector of either OUI; none if it is unknown, vendor-specific, or one of
    /// the two that name no cipher ("use group cipher", "group traffic not allowed").
    #[must_use]
    pub fn from_selector(selector: [u8; 4]) -> Option<Self> {
        Self::ALL.into_iter().find(|suite| {
            suite.selector() == Some(selector) || suite.wpa_selector() == Some(selector)
        })
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
    }
}
