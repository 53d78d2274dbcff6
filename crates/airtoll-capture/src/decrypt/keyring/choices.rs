//! Suites to try: takes what a station chose and a BSS announced, gives the ways in which the two
//! may have derived their keys.
//!
//! Where neither was seen, the key descriptor's version and the length of its MIC leave few.

use airtoll_security::akm;
use airtoll_security::{AkmHash, AkmSuite, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::element::id;
use airtoll_wire::ieee80211::suite::OUI_WPA;
use airtoll_wire::ieee80211::{Elements, RsnRepr};

use super::Keyring;
use crate::decrypt::Undecrypted;

/// A way in which two stations may have derived their keys.
#[derive(Debug, Clone, Copy)]
pub(in crate::decrypt) struct Choice {
    pub(in crate::decrypt) akm: AkmSuite,
    pub(in crate::decrypt) hash: AkmHash,
    pub(in crate::decrypt) cipher: CipherSuite,
    pub(in crate::decrypt) group: Option<CipherSuite>,
}

impl Keyring {
    /// Remembers the station's own choice of suites.
    pub fn learn_choice(
        &mut self,
        station: MacAddress,
        bssid: MacAddress,
        elements: &Elements<'_>,
    ) {
        let chosen = elements
            .find_id(id::RSN)
            .and_then(|body| RsnRepr::parse(body).ok())
            .or_else(|| RsnRepr::parse_wpa(elements.find_vendor(OUI_WPA, 1)?).ok());
        if chosen.is_some()
            && !self.given.is_empty()
            && let Some(pair) = self.pair_mut(station, bssid)
        {
            pair.unsupported = unsupported(chosen.as_ref());
            pair.handshake.chosen = chosen;
        }
    }
}

/// Why keys of this association cannot be derived, if so.
fn unsupported(chosen: Option<&RsnRepr>) -> Option<Undecrypted> {
    let fils = |rsn: &RsnRepr| rsn.akms.iter().any(|suite| akm::is_fils(suite.0));
    chosen.is_some_and(fils).then_some(Undecrypted::Fils)
}

/// The ways to try, from what the station chose, or else from what the descriptor allows.
pub(in crate::decrypt) fn choices(
    chosen: Option<&RsnRepr>,
    announced: Option<&RsnRepr>,
    version: u8,
    mic_len: usize,
) -> Vec<Choice> {
    let hash_by_mic = match mic_len {
        24 => AkmHash::Sha384,
        32 => AkmHash::Sha512,
        _ => AkmHash::Sha256,
    };
    let mut akms: Vec<AkmSuite> = Vec::new();
    let mut ciphers: Vec<CipherSuite> = Vec::new();
    let mut group = None;
    for rsn in [chosen, announced].into_iter().flatten() {
        let from = |suite: &airtoll_wire::ieee80211::AkmSelector| AkmSuite::from_selector(suite.0);
        akms.extend(rsn.akms.iter().filter_map(from));
        let named =
            |suite: &airtoll_wire::ieee80211::CipherSelector| CipherSuite::from_selector(suite.0);
        ciphers.extend(rsn.pairwise.iter().filter_map(named));
        group = group.or_else(|| rsn.group.as_ref().and_then(named));
        if !akms.is_empty() && !ciphers.is_empty() {
            break;
        }
    }
    if akms.is_empty() {
        let guess: &[AkmSuite] = match (version, mic_len) {
            (1 | 2, _) => &[AkmSuite::Psk],
            (3, _) => &[AkmSuite::PskSha256, AkmSuite::FtPsk, AkmSuite::Ft8021x],
            (_, 16) => &[
                AkmSuite::Sae,
                AkmSuite::Owe,
                AkmSuite::SaeExtKey,
                AkmSuite::FtSae,
                AkmSuite::SuiteB,
            ],
            (_, 24) => &[
                AkmSuite::SuiteB192,
                AkmSuite::Owe,
                AkmSuite::SaeExtKey,
                AkmSuite::Ft8021xSha384,
            ],
            _ => &[AkmSuite::SaeExtKey, AkmSuite::Owe],
        };
        akms.extend_from_slice(guess);
    }
    if ciphers.is_empty() {
        let guess: &[CipherSuite] = match version {
            1 => &[CipherSuite::Tkip],
            2 => &[CipherSuite::Ccmp128],
            _ => &[
                CipherSuite::Ccmp128,
                CipherSuite::Gcmp128,
                CipherSuite::Gcmp256,
                CipherSuite::Ccmp256,
            ],
        };
        ciphers.extend_from_slice(guess);
    }
    let mut list = Vec::new();
    for akm in akms {
        for cipher in &ciphers {
            list.push(Choice {
                akm,
                hash: akm.hash().unwrap_or(hash_by_mic),
                cipher: *cipher,
                group,
            });
        }
    }
    list
}

pub(in crate::decrypt) fn version_of(choice: Choice) -> u8 {
    choice
        .akm
        .descriptor_version(choice.cipher == CipherSuite::Tkip)
}
