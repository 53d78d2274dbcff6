//! Authentication and key management (AKM) suites and the key sizes each implies.
//!
//! Takes an AKM (and, where the AKM leaves it open, the hash); gives selectors, hash, key and MIC
//! lengths. Never derives a key: that is `keys`.

use serde::{Deserialize, Serialize};

use crate::suite::{OUI_IEEE, OUI_WPA};

/// An AKM suite (IEEE 802.11-2020, table 9-151; 24 and 25 from IEEE 802.11-2024; the two WPA
/// version 1 suites from the Wi-Fi Alliance).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub enum AkmSuite {
    /// WPA version 1 with 802.1X, 00-50-F2:1.
    #[serde(rename = "wpa-802.1x")]
    Wpa8021x,
    /// WPA version 1 with a pre-shared key, 00-50-F2:2.
    #[serde(rename = "wpa-psk")]
    WpaPsk,
    /// 802.1X, 00-0F-AC:1.
    #[serde(rename = "802.1x")]
    Ieee8021x,
    /// Pre-shared key, 00-0F-AC:2.
    #[serde(rename = "psk")]
    Psk,
    /// Fast transition with 802.1X, 00-0F-AC:3.
    #[serde(rename = "ft-802.1x")]
    Ft8021x,
    /// Fast transition with a pre-shared key, 00-0F-AC:4.
    #[serde(rename = "ft-psk")]
    FtPsk,
    /// 802.1X with SHA-256, 00-0F-AC:5.
    #[serde(rename = "802.1x-sha256")]
    Ieee8021xSha256,
    /// Pre-shared key with SHA-256, 00-0F-AC:6.
    #[serde(rename = "psk-sha256")]
    PskSha256,
    /// Simultaneous authentication of equals, 00-0F-AC:8.
    #[serde(rename = "sae")]
    Sae,
    /// Fast transition with SAE, 00-0F-AC:9.
    #[serde(rename = "ft-sae")]
    FtSae,
    /// Suite B 802.1X, SHA-256, 00-0F-AC:11.
    #[serde(rename = "802.1x-suite-b")]
    SuiteB,
    /// Suite B 802.1X at 192 bits (CNSA), SHA-384, 00-0F-AC:12.
    #[serde(rename = "802.1x-suite-b-192")]
    SuiteB192,
    /// Fast transition with 802.1X and SHA-384, 00-0F-AC:13.
    #[serde(rename = "ft-802.1x-sha384")]
    Ft8021xSha384,
    /// Opportunistic wireless encryption (RFC 8110), 00-0F-AC:18.
    #[serde(rename = "owe")]
    Owe,
    /// SAE with a group-dependent hash, 00-0F-AC:24.
    #[serde(rename = "sae-ext-key")]
    SaeExtKey,
    /// Fast transition with SAE and a group-dependent hash, 00-0F-AC:25.
    #[serde(rename = "ft-sae-ext-key")]
    FtSaeExtKey,
}

/// The hash under an AKM's key derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum AkmHash {
    /// SHA-1 (PRF of IEEE 802.11-2020, 12.7.1.2).
    Sha1,
    /// SHA-256 (KDF of 12.7.1.6.2).
    Sha256,
    /// SHA-384.
    Sha384,
    /// SHA-512, for the group-dependent AKMs only.
    Sha512,
}

impl AkmHash {
    /// Octets of digest.
    #[must_use]
    pub const fn octets(self) -> usize {
        match self {
            Self::Sha1 => 20,
            Self::Sha256 => 32,
            Self::Sha384 => 48,
            Self::Sha512 => 64,
        }
    }

    /// The hash that a Diffie-Hellman group of so many bits of prime asks for (IEEE 802.11-2020,
    /// table 12-1; RFC 8110, 4.4 for OWE): up to 256 bits SHA-256, up to 384 SHA-384, above
    /// SHA-512.
    #[must_use]
    pub const fn for_group_bits(bits: usize) -> Self {
        match bits {
            0..=256 => Self::Sha256,
            257..=384 => Self::Sha384,
            _ => Self::Sha512,
        }
    }
}

impl AkmSuite {
    /// Every AKM suite.
    pub const ALL: [Self; 16] = [
        Self::Wpa8021x,
        Self::WpaPsk,
        Self::Ieee8021x,
        Self::Psk,
        Self::Ft8021x,
        Self::FtPsk,
        Self::Ieee8021xSha256,
        Self::PskSha256,
        Self::Sae,
        Self::FtSae,
        Self::SuiteB,
        Self::SuiteB192,
        Self::Ft8021xSha384,
        Self::Owe,
        Self::SaeExtKey,
        Self::FtSaeExtKey,
    ];

    /// The name used in studies and output; the same as the serialised form.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Wpa8021x => "wpa-802.1x",
            Self::WpaPsk => "wpa-psk",
            Self::Ieee8021x => "802.1x",
            Self::Psk => "psk",
            Self::Ft8021x => "ft-802.1x",
            Self::FtPsk => "ft-psk",
            Self::Ieee8021xSha256 => "802.1x-sha256",
            Self::PskSha256 => "psk-sha256",
            Self::Sae => "sae",
            Self::FtSae => "ft-sae",
            Self::SuiteB => "802.1x-suite-b",
            Self::SuiteB192 => "802.1x-suite-b-192",
            Self::Ft8021xSha384 => "ft-802.1x-sha384",
            Self::Owe => "owe",
            Self::SaeExtKey => "sae-ext-key",
            Self::FtSaeExtKey => "ft-sae-ext-key",
        }
    }

    /// The suite of that [`name`](Self::name).
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|akm| akm.name() == name)
    }

    /// The suite selector: OUI, then type.
    #[must_use]
    pub const fn selector(self) -> [u8; 4] {
        let (oui, kind) = match self {
            Self::Wpa8021x => (OUI_WPA, 1),
            Self::WpaPsk => (OUI_WPA, 2),
            Self::Ieee8021x => (OUI_IEEE, 1),
            Self::Psk => (OUI_IEEE, 2),
            Self::Ft8021x => (OUI_IEEE, 3),
            Self::FtPsk => (OUI_IEEE, 4),
            Self::Ieee8021xSha256 => (OUI_IEEE, 5),
            Self::PskSha256 => (OUI_IEEE, 6),
            Self::Sae => (OUI_IEEE, 8),
            Self::FtSae => (OUI_IEEE, 9),
            Self::SuiteB => (OUI_IEEE, 11),
            Self::SuiteB192 => (OUI_IEEE, 12),
            Self::Ft8021xSha384 => (OUI_IEEE, 13),
            Self::Owe => (OUI_IEEE, 18),
            Self::SaeExtKey => (OUI_IEEE, 24),
            Self::FtSaeExtKey => (OUI_IEEE, 25),
        };
        [oui[0], oui[1], oui[2], kind]
    }

    /// The AKM of a selector, if it is one of these.
    #[must_use]
    pub fn from_selector(selector: [u8; 4]) -> Option<Self> {
        Self::ALL.into_iter().find(|akm| akm.selector() == selector)
    }

    /// The hash the AKM fixes; none where the Diffie-Hellman group decides (OWE and the two
    /// SAE-EXT-KEY suites: see [`AkmHash::for_group_bits`]).
    #[must_use]
    pub const fn hash(self) -> Option<AkmHash> {
        Some(match self {
            Self::Wpa8021x | Self::WpaPsk | Self::Ieee8021x | Self::Psk => AkmHash::Sha1,
            Self::Ft8021x
            | Self::FtPsk
            | Self::Ieee8021xSha256
            | Self::PskSha256
            | Self::Sae
            | Self::FtSae
            | Self::SuiteB => AkmHash::Sha256,
            Self::SuiteB192 | Self::Ft8021xSha384 => AkmHash::Sha384,
            Self::Owe | Self::SaeExtKey | Self::FtSaeExtKey => return None,
        })
    }

    /// The hash with a group of 256 bits assumed where the AKM leaves it to the group.
    #[must_use]
    pub const fn hash_or_default(self) -> AkmHash {
        match self.hash() {
            Some(hash) => hash,
            None => AkmHash::Sha256,
        }
    }

    /// Octets of EAPOL-Key confirmation key when the AKM runs with `hash` (IEEE 802.11-2020,
    /// table 12-10).
    #[must_use]
    pub const fn kck_octets(self, hash: AkmHash) -> usize {
        match (self, hash) {
            (Self::SuiteB192 | Self::Ft8021xSha384, _) => 24,
            (Self::Owe | Self::SaeExtKey | Self::FtSaeExtKey, AkmHash::Sha384) => 24,
            (Self::Owe | Self::SaeExtKey | Self::FtSaeExtKey, AkmHash::Sha512) => 32,
            _ => 16,
        }
    }

    /// Octets of EAPOL-Key encryption key (table 12-10).
    #[must_use]
    pub const fn kek_octets(self, hash: AkmHash) -> usize {
        match (self, hash) {
            (Self::SuiteB192 | Self::Ft8021xSha384, _)
            | (
                Self::Owe | Self::SaeExtKey | Self::FtSaeExtKey,
                AkmHash::Sha384 | AkmHash::Sha512,
            ) => 32,
            _ => 16,
        }
    }

    /// Octets of the Key MIC field of an EAPOL-Key frame (table 12-10).
    #[must_use]
    pub const fn mic_octets(self, hash: AkmHash) -> usize {
        self.kck_octets(hash)
    }

    /// Octets of PMK (or of PMK-R0 and PMK-R1 under FT) the AKM works with.
    #[must_use]
    pub const fn pmk_octets(self, hash: AkmHash) -> usize {
        match hash {
            AkmHash::Sha1 | AkmHash::Sha256 => 32,
            AkmHash::Sha384 => 48,
            AkmHash::Sha512 => 64,
        }
    }

    /// The Key Descriptor Version of its EAPOL-Key frames with a pairwise suite that is (or is
    /// not) TKIP (IEEE 802.11-2020, 12.7.2): 1, 2, 3, or 0 where the AKM defines everything.
    #[must_use]
    pub const fn descriptor_version(self, tkip: bool) -> u8 {
        match self {
            Self::Wpa8021x | Self::WpaPsk | Self::Ieee8021x | Self::Psk => {
                if tkip {
                    1
                } else {
                    2
                }
            }
            Self::Ft8021x | Self::FtPsk | Self::Ieee8021xSha256 | Self::PskSha256 => 3,
            _ => 0,
        }
    }

    /// Whether the AKM uses the fast-transition key hierarchy.
    #[must_use]
    pub const fn is_ft(self) -> bool {
        matches!(
            self,
            Self::Ft8021x | Self::FtPsk | Self::FtSae | Self::Ft8021xSha384 | Self::FtSaeExtKey
        )
    }

    /// Whether an 802.1X exchange comes before the key handshake.
    #[must_use]
    pub const fn is_8021x(self) -> bool {
        matches!(
            self,
            Self::Wpa8021x
                | Self::Ieee8021x
                | Self::Ft8021x
                | Self::Ieee8021xSha256
                | Self::SuiteB
                | Self::SuiteB192
                | Self::Ft8021xSha384
        )
    }

    /// Whether the AKM authenticates with SAE.
    #[must_use]
    pub const fn is_sae(self) -> bool {
        matches!(
            self,
            Self::Sae | Self::FtSae | Self::SaeExtKey | Self::FtSaeExtKey
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_selectors_return_their_suite() {
        for akm in AkmSuite::ALL {
            assert_eq!(AkmSuite::from_name(akm.name()), Some(akm));
            assert_eq!(AkmSuite::from_selector(akm.selector()), Some(akm));
            let json = serde_json::to_string(&akm).unwrap();
            assert_eq!(json, format!("\"{}\"", akm.name()));
        }
        assert_eq!(AkmSuite::from_selector([0, 0x0f, 0xac, 7]), None);
    }

    #[test]
    fn key_sizes_of_table_12_10() {
        let row = |akm: AkmSuite, hash| {
            (
                akm.kck_octets(hash),
                akm.kek_octets(hash),
                akm.mic_octets(hash),
            )
        };
        assert_eq!(row(AkmSuite::Psk, AkmHash::Sha1), (16, 16, 16));
        assert_eq!(row(AkmSuite::Sae, AkmHash::Sha256), (16, 16, 16));
        assert_eq!(row(AkmSuite::SuiteB192, AkmHash::Sha384), (24, 32, 24));
        assert_eq!(row(AkmSuite::Owe, AkmHash::Sha512), (32, 32, 32));
        assert_eq!(row(AkmSuite::SaeExtKey, AkmHash::Sha384), (24, 32, 24));
    }
}
