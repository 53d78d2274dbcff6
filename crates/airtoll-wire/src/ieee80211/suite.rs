//! Suite selectors: takes the four octets, gives the names of ciphers and AKMs.
//!
//! Source: IEEE 802.11-2020 tables 9-149 (ciphers) and 9-151 (AKMs); 802.11-2024 for AKM 24
//! and 25; Wi-Fi Alliance OUI 00-50-F2 for WPA. Never says how a suite computes.

use core::fmt;

/// OUI of IEEE 802.11 suites.
pub const OUI_IEEE: [u8; 3] = [0x00, 0x0f, 0xac];
/// OUI of WPA (version 1) suites.
pub const OUI_WPA: [u8; 3] = [0x00, 0x50, 0xf2];

/// Cipher suite selector: OUI and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct CipherSuite(pub [u8; 4]);

/// AKM suite selector: OUI and type.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct AkmSuite(pub [u8; 4]);

const fn ieee(kind: u8) -> [u8; 4] {
    [0x00, 0x0f, 0xac, kind]
}

impl CipherSuite {
    /// Use the group cipher.
    pub const USE_GROUP: Self = Self(ieee(0));
    /// WEP-40.
    pub const WEP_40: Self = Self(ieee(1));
    /// TKIP.
    pub const TKIP: Self = Self(ieee(2));
    /// CCMP-128.
    pub const CCMP_128: Self = Self(ieee(4));
    /// WEP-104.
    pub const WEP_104: Self = Self(ieee(5));
    /// BIP-CMAC-128.
    pub const BIP_CMAC_128: Self = Self(ieee(6));
    /// Group-addressed traffic not allowed.
    pub const NO_GROUP: Self = Self(ieee(7));
    /// GCMP-128.
    pub const GCMP_128: Self = Self(ieee(8));
    /// GCMP-256.
    pub const GCMP_256: Self = Self(ieee(9));
    /// CCMP-256.
    pub const CCMP_256: Self = Self(ieee(10));
    /// BIP-GMAC-128.
    pub const BIP_GMAC_128: Self = Self(ieee(11));
    /// BIP-GMAC-256.
    pub const BIP_GMAC_256: Self = Self(ieee(12));
    /// BIP-CMAC-256.
    pub const BIP_CMAC_256: Self = Self(ieee(13));

    /// The same suite with the IEEE OUI where WPA's names one that both know.
    pub fn canonical(self) -> Self {
        match self.0 {
            [0x00, 0x50, 0xf2, kind @ (0 | 1 | 2 | 4 | 5)] => Self(ieee(kind)),
            _ => self,
        }
    }

    /// The standard's name; `None` for vendors' own and reserved ones.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.canonical() {
            Self::USE_GROUP => "use-group",
            Self::WEP_40 => "WEP-40",
            Self::TKIP => "TKIP",
            Self::CCMP_128 => "CCMP-128",
            Self::WEP_104 => "WEP-104",
            Self::BIP_CMAC_128 => "BIP-CMAC-128",
            Self::NO_GROUP => "no-group",
            Self::GCMP_128 => "GCMP-128",
            Self::GCMP_256 => "GCMP-256",
            Self::CCMP_256 => "CCMP-256",
            Self::BIP_GMAC_128 => "BIP-GMAC-128",
            Self::BIP_GMAC_256 => "BIP-GMAC-256",
            Self::BIP_CMAC_256 => "BIP-CMAC-256",
            _ => return None,
        })
    }
}

impl AkmSuite {
    /// 802.1X with SHA-1.
    pub const IEEE8021X: Self = Self(ieee(1));
    /// PSK with SHA-1.
    pub const PSK: Self = Self(ieee(2));
    /// FT over 802.1X.
    pub const FT_8021X: Self = Self(ieee(3));
    /// FT with PSK.
    pub const FT_PSK: Self = Self(ieee(4));
    /// 802.1X with SHA-256.
    pub const IEEE8021X_SHA256: Self = Self(ieee(5));
    /// PSK with SHA-256.
    pub const PSK_SHA256: Self = Self(ieee(6));
    /// SAE.
    pub const SAE: Self = Self(ieee(8));
    /// FT over SAE.
    pub const FT_SAE: Self = Self(ieee(9));
    /// 802.1X Suite B, SHA-256.
    pub const SUITE_B: Self = Self(ieee(11));
    /// 802.1X CNSA (192-bit), SHA-384.
    pub const SUITE_B_192: Self = Self(ieee(12));
    /// FT over 802.1X, SHA-384.
    pub const FT_8021X_SHA384: Self = Self(ieee(13));
    /// OWE (RFC 8110).
    pub const OWE: Self = Self(ieee(18));
    /// SAE with the group-dependent hash.
    pub const SAE_GROUP_HASH: Self = Self(ieee(24));
    /// FT over SAE with the group-dependent hash.
    pub const FT_SAE_GROUP_HASH: Self = Self(ieee(25));

    /// The same suite with the IEEE OUI where WPA's names one that both know.
    pub fn canonical(self) -> Self {
        match self.0 {
            [0x00, 0x50, 0xf2, kind @ (1 | 2)] => Self(ieee(kind)),
            _ => self,
        }
    }

    /// Whether keys follow clause 12.7.1.6 (FT key hierarchy).
    pub fn is_ft(self) -> bool {
        matches!(
            self.0,
            [0x00, 0x0f, 0xac, 3 | 4 | 9 | 13 | 16 | 17 | 19 | 25]
        )
    }

    /// A short name; `None` for vendors' own and reserved ones.
    pub fn name(self) -> Option<&'static str> {
        Some(match self.canonical().0 {
            [0x00, 0x0f, 0xac, kind] => match kind {
                1 => "802.1X",
                2 => "PSK",
                3 => "FT-802.1X",
                4 => "FT-PSK",
                5 => "802.1X-SHA256",
                6 => "PSK-SHA256",
                7 => "TDLS",
                8 => "SAE",
                9 => "FT-SAE",
                10 => "AP-PeerKey",
                11 => "802.1X-Suite-B",
                12 => "802.1X-192",
                13 => "FT-802.1X-SHA384",
                14 => "FILS-SHA256",
                15 => "FILS-SHA384",
                16 => "FT-FILS-SHA256",
                17 => "FT-FILS-SHA384",
                18 => "OWE",
                19 => "FT-PSK-SHA384",
                20 => "PSK-SHA384",
                24 => "SAE-EXT",
                25 => "FT-SAE-EXT",
                _ => return None,
            },
            [0x50, 0x6f, 0x9a, 1] => "OSEN",
            [0x50, 0x6f, 0x9a, 2] => "DPP",
            [0x00, 0x40, 0x96, 0] => "CCKM",
            _ => return None,
        })
    }
}

fn selector(octets: [u8; 4], name: Option<&str>, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    match name {
        Some(name) => f.write_str(name),
        None => write!(
            f,
            "{:02X}-{:02X}-{:02X}:{}",
            octets[0], octets[1], octets[2], octets[3]
        ),
    }
}

impl fmt::Display for CipherSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        selector(self.0, self.name(), f)
    }
}

impl fmt::Display for AkmSuite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        selector(self.0, self.name(), f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_both_ouis() {
        assert_eq!(CipherSuite([0, 0x50, 0xf2, 2]).to_string(), "TKIP");
        assert_eq!(CipherSuite([1, 2, 3, 4]).to_string(), "01-02-03:4");
        assert_eq!(AkmSuite([0, 0x50, 0xf2, 2]).canonical(), AkmSuite::PSK);
        assert!(AkmSuite::FT_SAE.is_ft() && !AkmSuite::SAE.is_ft());
    }

    #[test]
    fn every_selector_has_text() {
        for kind in 0..=255 {
            assert!(!CipherSuite(ieee(kind)).to_string().is_empty());
            assert!(!AkmSuite(ieee(kind)).to_string().is_empty());
        }
    }
}
