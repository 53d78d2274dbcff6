//! Authentication and key management (AKM) suites: one table, and the key sizes each implies.
//!
//! Takes an AKM (and, where the AKM leaves it open, the hash); gives selectors, predicates, hash,
//! key and MIC lengths. Never derives a key: that is `keys`.
//!
//! Source: IEEE 802.11-2020 table 9-151; AKM 24 and 25 from IEEE 802.11-2024; the two WPA version 1
//! suites from the Wi-Fi Alliance.

use airtoll_wire::ieee80211::suite::{AkmSelector, OUI_IEEE, OUI_WPA};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::suite::CipherSuite;
use crate::table::table;

/// How an EAPOL-Key frame is authenticated (IEEE 802.11-2020, table 12-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum KeyMic {
    /// HMAC-MD5, 16 octets (descriptor version 1).
    HmacMd5,
    /// HMAC-SHA-1-128, 16 octets (descriptor version 2).
    HmacSha1,
    /// AES-128-CMAC, 16 octets (descriptor version 3; SAE).
    AesCmac,
    /// HMAC-SHA-256, first 16 octets (Suite B, OWE, SAE-EXT-KEY).
    HmacSha256,
    /// HMAC-SHA-384, first 24 octets.
    HmacSha384,
    /// HMAC-SHA-512, first 32 octets.
    HmacSha512,
}

/// Where the pairwise master key of an AKM comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Credential {
    /// The MSK of an EAP method, after 802.1X.
    Eap,
    /// A pre-shared key, or the passphrase that it is derived from.
    Psk,
    /// A password, by SAE.
    Sae,
    /// A Diffie-Hellman exchange alone: neither end is authenticated.
    DiffieHellman,
}

/// The Key Descriptor Version of an AKM's EAPOL-Key frames, and with it their MIC (IEEE
/// 802.11-2020, 12.7.2 and table 12-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Descriptor {
    /// 1 with TKIP, 2 with other pairwise suites.
    ByCipher,
    /// 3: AES-128-CMAC.
    AesCmac,
    /// 0; the AKM's MIC is AES-128-CMAC.
    ZeroAesCmac,
    /// 0; the AKM's MIC is the HMAC of its hash.
    ZeroByHash,
}

struct Row {
    selector: [u8; 4],
    credential: Credential,
    /// None where the Diffie-Hellman group decides.
    hash: Option<AkmHash>,
    descriptor: Descriptor,
    ft: bool,
    /// The word of policy names, and the generations of links whose policies may use it.
    policy: (&'static str, &'static [&'static str]),
    /// The one pairwise suite that may be used, where there is only one.
    pairwise: Option<CipherSuite>,
}

const fn ieee(kind: u8) -> [u8; 4] {
    [OUI_IEEE[0], OUI_IEEE[1], OUI_IEEE[2], kind]
}

/// A selector with the local bit of its OUI set: no suite type is assigned to the AKM.
const fn local(kind: u8) -> [u8; 4] {
    [0x02, 0, 0, kind]
}

const fn wpa(kind: u8) -> [u8; 4] {
    [OUI_WPA[0], OUI_WPA[1], OUI_WPA[2], kind]
}

table! {
    /// An AKM suite.
    pub enum AkmSuite: Row {
        /// WPA version 1 with 802.1X, 00-50-F2:1.
        Wpa8021x = "wpa-802.1x" {
            selector: wpa(1),
            credential: Credential::Eap,
            hash: Some(AkmHash::Sha1),
            descriptor: Descriptor::ByCipher,
            ft: false,
            policy: ("eap", &["wpa"]),
            pairwise: None,
        }
        /// WPA version 1 with a pre-shared key, 00-50-F2:2.
        WpaPsk = "wpa-psk" {
            selector: wpa(2),
            credential: Credential::Psk,
            hash: Some(AkmHash::Sha1),
            descriptor: Descriptor::ByCipher,
            ft: false,
            policy: ("psk", &["wpa"]),
            pairwise: None,
        }
        /// 802.1X, 00-0F-AC:1.
        Ieee8021x = "802.1x" {
            selector: ieee(1),
            credential: Credential::Eap,
            hash: Some(AkmHash::Sha1),
            descriptor: Descriptor::ByCipher,
            ft: false,
            policy: ("eap", &["wpa2"]),
            pairwise: None,
        }
        /// Pre-shared key, 00-0F-AC:2.
        Psk = "psk" {
            selector: ieee(2),
            credential: Credential::Psk,
            hash: Some(AkmHash::Sha1),
            descriptor: Descriptor::ByCipher,
            ft: false,
            policy: ("psk", &["wpa2"]),
            pairwise: None,
        }
        /// Fast transition with 802.1X, 00-0F-AC:3.
        Ft8021x = "ft-802.1x" {
            selector: ieee(3),
            credential: Credential::Eap,
            hash: Some(AkmHash::Sha256),
            descriptor: Descriptor::AesCmac,
            ft: true,
            policy: ("ft-eap", &["wpa2", "wpa3"]),
            pairwise: None,
        }
        /// Fast transition with a pre-shared key, 00-0F-AC:4.
        FtPsk = "ft-psk" {
            selector: ieee(4),
            credential: Credential::Psk,
            hash: Some(AkmHash::Sha256),
            descriptor: Descriptor::AesCmac,
            ft: true,
            policy: ("ft-psk", &["wpa2"]),
            pairwise: None,
        }
        /// 802.1X with SHA-256, 00-0F-AC:5.
        Ieee8021xSha256 = "802.1x-sha256" {
            selector: ieee(5),
            credential: Credential::Eap,
            hash: Some(AkmHash::Sha256),
            descriptor: Descriptor::AesCmac,
            ft: false,
            policy: ("eap", &["wpa3"]),
            pairwise: None,
        }
        /// Pre-shared key with SHA-256, 00-0F-AC:6.
        PskSha256 = "psk-sha256" {
            selector: ieee(6),
            credential: Credential::Psk,
            hash: Some(AkmHash::Sha256),
            descriptor: Descriptor::AesCmac,
            ft: false,
            policy: ("psk-sha256", &["wpa2"]),
            pairwise: None,
        }
        /// Simultaneous authentication of equals, 00-0F-AC:8.
        Sae = "sae" {
            selector: ieee(8),
            credential: Credential::Sae,
            hash: Some(AkmHash::Sha256),
            descriptor: Descriptor::ZeroAesCmac,
            ft: false,
            policy: ("sae", &["wpa3"]),
            pairwise: None,
        }
        /// Fast transition with SAE, 00-0F-AC:9.
        FtSae = "ft-sae" {
            selector: ieee(9),
            credential: Credential::Sae,
            hash: Some(AkmHash::Sha256),
            descriptor: Descriptor::ZeroAesCmac,
            ft: true,
            policy: ("ft-sae", &["wpa3"]),
            pairwise: None,
        }
        /// Suite B 802.1X, SHA-256, 00-0F-AC:11. No policy names it.
        SuiteB = "802.1x-suite-b" {
            selector: ieee(11),
            credential: Credential::Eap,
            hash: Some(AkmHash::Sha256),
            descriptor: Descriptor::ZeroByHash,
            ft: false,
            policy: ("", &[]),
            pairwise: None,
        }
        /// Suite B 802.1X at 192 bits (CNSA), SHA-384, 00-0F-AC:12.
        SuiteB192 = "802.1x-suite-b-192" {
            selector: ieee(12),
            credential: Credential::Eap,
            hash: Some(AkmHash::Sha384),
            descriptor: Descriptor::ZeroByHash,
            ft: false,
            policy: ("eap", &["wpa3"]),
            pairwise: Some(CipherSuite::Gcmp256),
        }
        /// Fast transition with 802.1X and SHA-384, 00-0F-AC:13.
        Ft8021xSha384 = "ft-802.1x-sha384" {
            selector: ieee(13),
            credential: Credential::Eap,
            hash: Some(AkmHash::Sha384),
            descriptor: Descriptor::ZeroByHash,
            ft: true,
            policy: ("ft-eap", &["wpa3"]),
            pairwise: Some(CipherSuite::Gcmp256),
        }
        /// Opportunistic wireless encryption (RFC 8110), 00-0F-AC:18.
        Owe = "owe" {
            selector: ieee(18),
            credential: Credential::DiffieHellman,
            hash: None,
            descriptor: Descriptor::ZeroByHash,
            ft: false,
            policy: ("owe", &["owe"]),
            pairwise: None,
        }
        /// SAE with a group-dependent hash, 00-0F-AC:24.
        SaeExtKey = "sae-ext-key" {
            selector: ieee(24),
            credential: Credential::Sae,
            hash: None,
            descriptor: Descriptor::ZeroByHash,
            ft: false,
            policy: ("sae-ext", &["wpa3"]),
            pairwise: None,
        }
        /// Fast transition with SAE and a group-dependent hash, 00-0F-AC:25.
        FtSaeExtKey = "ft-sae-ext-key" {
            selector: ieee(25),
            credential: Credential::Sae,
            hash: None,
            descriptor: Descriptor::ZeroByHash,
            ft: true,
            policy: ("ft-sae-ext", &["wpa3"]),
            pairwise: None,
        }
        /// SAE and ML-KEM-768: a draft, whose frames airtoll assumes.
        SaeMlKem768Draft = "sae-draft-mlkem768" {
            selector: local(1),
            credential: Credential::Sae,
            hash: None,
            descriptor: Descriptor::ZeroByHash,
            ft: false,
            policy: ("sae-draft-mlkem768", &["wpa3"]),
            pairwise: None,
        }
        /// OWE and ML-KEM-768: a draft, whose frames airtoll assumes.
        OweMlKem768Draft = "owe-draft-mlkem768" {
            selector: local(2),
            credential: Credential::DiffieHellman,
            hash: None,
            descriptor: Descriptor::ZeroByHash,
            ft: false,
            policy: ("owe-draft-mlkem768", &["owe"]),
            pairwise: None,
        }
    }
}

/// AKM suites that captures may show and that no policy uses: selector and name.
const RECOGNISED: [([u8; 4], &str); 11] = [
    (ieee(7), "tdls"),
    (ieee(10), "ap-peerkey"),
    (ieee(14), "fils-sha256"),
    (ieee(15), "fils-sha384"),
    (ieee(16), "ft-fils-sha256"),
    (ieee(17), "ft-fils-sha384"),
    (ieee(19), "ft-psk-sha384"),
    (ieee(20), "psk-sha384"),
    ([0x50, 0x6f, 0x9a, 1], "osen"),
    ([0x50, 0x6f, 0x9a, 2], "dpp"),
    ([0x00, 0x40, 0x96, 0], "cckm"),
];

/// The hash under an AKM's key derivation.
#[derive(
    Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize, JsonSchema,
)]
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

/// Whether a selector is one of Fast Initial Link Setup (IEEE 802.11-2020, 12.11.2).
#[must_use]
pub fn is_fils(selector: [u8; 4]) -> bool {
    AkmSuite::name_of(selector).contains("fils-")
}

impl AkmSuite {
    /// The suite selector: OUI, then type.
    #[must_use]
    pub const fn selector(self) -> [u8; 4] {
        self.row().selector
    }

    /// The AKM of a selector, if it is one of these.
    #[must_use]
    pub fn from_selector(selector: [u8; 4]) -> Option<Self> {
        Self::ALL.into_iter().find(|akm| akm.selector() == selector)
    }

    /// The name of any selector: this table's, that of a suite that no policy uses, or the
    /// octets (`00-0f-ac:99`).
    #[must_use]
    pub fn name_of(selector: [u8; 4]) -> String {
        let recognised = || RECOGNISED.iter().find(|(known, _)| *known == selector);
        Self::from_selector(selector).map_or_else(
            || {
                recognised().map_or_else(
                    || AkmSelector(selector).to_string().to_lowercase(),
                    |(_, name)| (*name).to_owned(),
                )
            },
            |akm| akm.name().to_owned(),
        )
    }

    /// The word of policy names that stands for the AKM; empty where no policy names it.
    #[must_use]
    pub const fn policy_word(self) -> &'static str {
        self.row().policy.0
    }

    /// The generations of links (`wpa`, `wpa2`, `wpa3`, `owe`) whose policies may use the AKM.
    #[must_use]
    pub const fn generations(self) -> &'static [&'static str] {
        self.row().policy.1
    }

    /// The one pairwise suite that may be used with the AKM; none where several may.
    #[must_use]
    pub const fn pairwise(self) -> Option<CipherSuite> {
        self.row().pairwise
    }

    /// Where the pairwise master key comes from.
    #[must_use]
    pub const fn credential(self) -> Credential {
        self.row().credential
    }

    /// The hash the AKM fixes; none where the Diffie-Hellman group decides (OWE and the two
    /// SAE-EXT-KEY suites: see [`AkmHash::for_group_bits`]).
    #[must_use]
    pub const fn hash(self) -> Option<AkmHash> {
        self.row().hash
    }

    /// The hash with a group of 256 bits assumed where the AKM leaves it to the group.
    #[must_use]
    pub const fn hash_or_default(self) -> AkmHash {
        self.hash_with(AkmHash::Sha256)
    }

    const fn hash_with(self, of_group: AkmHash) -> AkmHash {
        match self.hash() {
            Some(hash) => hash,
            None => of_group,
        }
    }

    /// Octets of EAPOL-Key confirmation key when the AKM runs with `hash` (IEEE 802.11-2020,
    /// table 12-10).
    #[must_use]
    pub const fn kck_octets(self, hash: AkmHash) -> usize {
        match self.hash_with(hash) {
            AkmHash::Sha1 | AkmHash::Sha256 => 16,
            AkmHash::Sha384 => 24,
            AkmHash::Sha512 => 32,
        }
    }

    /// Octets of EAPOL-Key encryption key (table 12-10).
    #[must_use]
    pub const fn kek_octets(self, hash: AkmHash) -> usize {
        match self.hash_with(hash) {
            AkmHash::Sha1 | AkmHash::Sha256 => 16,
            AkmHash::Sha384 | AkmHash::Sha512 => 32,
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
        match self.row().descriptor {
            Descriptor::ByCipher => {
                if tkip {
                    1
                } else {
                    2
                }
            }
            Descriptor::AesCmac => 3,
            Descriptor::ZeroAesCmac | Descriptor::ZeroByHash => 0,
        }
    }

    /// The MIC that the AKM itself defines for descriptor version 0, with the group's hash where
    /// the AKM leaves the hash open; none for the AKMs that leave the MIC to the version.
    #[must_use]
    pub const fn own_mic(self, of_group: AkmHash) -> Option<KeyMic> {
        match self.row().descriptor {
            Descriptor::ByCipher | Descriptor::AesCmac => None,
            Descriptor::ZeroAesCmac => Some(KeyMic::AesCmac),
            Descriptor::ZeroByHash => Some(match self.hash_with(of_group) {
                AkmHash::Sha1 | AkmHash::Sha256 => KeyMic::HmacSha256,
                AkmHash::Sha384 => KeyMic::HmacSha384,
                AkmHash::Sha512 => KeyMic::HmacSha512,
            }),
        }
    }

    /// Whether the AKM uses the fast-transition key hierarchy.
    #[must_use]
    pub const fn is_ft(self) -> bool {
        self.row().ft
    }

    /// Whether the suite is one of WPA version 1, whose element has the Wi-Fi Alliance's OUI.
    #[must_use]
    pub fn is_wpa1(self) -> bool {
        self.selector().starts_with(&OUI_WPA)
    }

    /// Whether an 802.1X exchange comes before the key handshake.
    #[must_use]
    pub const fn is_8021x(self) -> bool {
        matches!(self.credential(), Credential::Eap)
    }

    /// Whether the AKM authenticates with SAE.
    #[must_use]
    pub const fn is_sae(self) -> bool {
        matches!(self.credential(), Credential::Sae)
    }

    /// Whether association carries its Diffie-Hellman exchange (OWE, RFC 8110).
    #[must_use]
    pub const fn is_owe(self) -> bool {
        matches!(self.credential(), Credential::DiffieHellman)
    }

    /// Whether no published standard has it: IEEE 802.11bt is at work on key exchanges with ML-KEM.
    #[must_use]
    pub const fn is_draft(self) -> bool {
        matches!(self, Self::SaeMlKem768Draft | Self::OweMlKem768Draft)
    }

    /// Whether the pre-shared key is the PMK: one captured 4-way handshake lets passphrases be
    /// tried off-line, and there is no PMK to cache.
    #[must_use]
    pub const fn is_psk(self) -> bool {
        matches!(self.credential(), Credential::Psk)
    }

    /// Whether the AKM belongs to the 192-bit mode of WPA3-Enterprise: GCMP-256, SHA-384, P-384.
    #[must_use]
    pub const fn is_192_bit(self) -> bool {
        matches!(self.pairwise(), Some(CipherSuite::Gcmp256))
    }

    /// Whether SAE must derive its password element by hash-to-element: the suites with a
    /// group-dependent hash (IEEE 802.11-2024).
    #[must_use]
    pub const fn requires_hash_to_element(self) -> bool {
        self.is_sae() && self.hash().is_none()
    }

    /// Whether protected management frames are mandatory: SAE, OWE and the 192-bit mode (Wi-Fi
    /// Alliance, WPA3 specification).
    #[must_use]
    pub const fn requires_pmf(self) -> bool {
        self.is_192_bit()
            || matches!(
                self.credential(),
                Credential::Sae | Credential::DiffieHellman
            )
    }

    /// Whether the AKM itself gives forward secrecy: its PMK is the outcome of a Diffie-Hellman
    /// exchange. With 802.1X the EAP method decides.
    #[must_use]
    pub const fn has_forward_secrecy(self) -> bool {
        matches!(
            self.credential(),
            Credential::Sae | Credential::DiffieHellman
        )
    }

    /// Whether both ends may keep the PMK for a later association (IEEE 802.11-2020, 12.6.10.3).
    #[must_use]
    pub const fn caches_pmk(self) -> bool {
        !self.is_psk()
    }

    /// The 802.11 authentication algorithm of the first association: open, sae or ft.
    #[must_use]
    pub const fn authentication(self) -> &'static str {
        match (self.is_ft(), self.is_sae()) {
            (true, _) => "ft",
            (false, true) => "sae",
            (false, false) => "open",
        }
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
        assert_eq!(AkmSuite::name_of([0, 0x50, 0xf2, 2]), "wpa-psk");
        assert_eq!(AkmSuite::name_of([0, 0x0f, 0xac, 14]), "fils-sha256");
        assert!(is_fils([0, 0x0f, 0xac, 17]) && !is_fils([0, 0x0f, 0xac, 18]));
        assert_eq!(AkmSuite::name_of([0, 0x0f, 0xac, 99]), "00-0f-ac:99");
    }

    #[test]
    fn no_selector_is_listed_twice() {
        let mut seen: Vec<[u8; 4]> = AkmSuite::ALL.map(AkmSuite::selector).to_vec();
        seen.extend(RECOGNISED.map(|(selector, _)| selector));
        let listed = seen.len();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen.len(), listed);
    }

    #[test]
    fn one_policy_name_means_one_akm() {
        let mut seen = Vec::new();
        for akm in AkmSuite::ALL {
            for generation in akm.generations() {
                let named = (akm.policy_word(), *generation, akm.pairwise());
                assert!(!seen.contains(&named), "{named:?} means two AKMs");
                seen.push(named);
            }
        }
    }

    #[test]
    fn predicates_of_three_rows() {
        let ft = AkmSuite::FtSaeExtKey;
        assert!(ft.is_ft() && ft.is_sae() && ft.requires_hash_to_element() && ft.requires_pmf());
        assert_eq!(ft.authentication(), "ft");
        let strong = AkmSuite::SuiteB192;
        assert!(strong.is_192_bit() && strong.is_8021x() && strong.requires_pmf());
        assert!(!strong.has_forward_secrecy() && strong.caches_pmk());
        let psk = AkmSuite::WpaPsk;
        assert!(psk.is_psk() && !psk.caches_pmk() && !psk.requires_pmf());
        assert_eq!(psk.authentication(), "open");
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
