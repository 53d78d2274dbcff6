//! Broadcast integrity: takes group keys of management frames, says whether a MIC fits.
//!
//! Source: IEEE 802.11-2020 clauses 12.5.4 (BIP) and 9.4.2.55 (Management MIC element). Only frames
//! to groups that end in the element are looked at.

use airtoll_security::CipherSuite;
use airtoll_security::link::bip::BipKey;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::Frame;
use airtoll_wire::ieee80211::element::id::MANAGEMENT_MIC;

use super::keyring::{Keyring, MAX_ENTRIES};

/// Most keys that are kept for one AP.
const MAX_KEYS: usize = 64;

/// Outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bip {
    /// The MIC fits.
    Fits,
    /// Keys of the AP are known, and none fits.
    Fails,
    /// No key of the AP is known.
    NoKey,
}

impl Bip {
    /// The outcome in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Fits => "MIC fits",
            Self::Fails => "MIC failure",
            Self::NoKey => "no key",
        }
    }
}

impl Keyring {
    /// Adds the integrity key of an AP, of 16 or 32 octets.
    pub(super) fn add_igtk(&mut self, owner: MacAddress, octets: &[u8]) {
        let full = self.igtks.len() >= MAX_ENTRIES;
        if full && !self.igtks.contains_key(&owner.to_u64()) {
            return;
        }
        let suites = match octets.len() {
            16 => [CipherSuite::BipCmac128, CipherSuite::BipGmac128],
            32 => [CipherSuite::BipCmac256, CipherSuite::BipGmac256],
            _ => return,
        };
        let keys = self.igtks.entry(owner.to_u64()).or_default();
        if keys.iter().any(|(known, _)| known[..] == *octets) {
            return;
        }
        for suite in suites {
            if let Ok(key) = BipKey::new(suite, octets) {
                keys.push((octets.to_vec().into(), key));
            }
        }
        let most = keys.len().saturating_sub(MAX_KEYS);
        keys.drain(..most);
    }

    /// Checks a management frame (whole, no FCS); `None` if it carries no such MIC.
    pub fn check_bip(&self, frame: &Frame<'_>) -> Option<Bip> {
        let octets = frame.octets();
        let ends = |mic: usize| {
            let at = octets.len().checked_sub(10 + mic)?;
            (at >= frame.header_len() && octets[at..at + 2] == [MANAGEMENT_MIC, 8 + mic as u8])
                .then_some(())
        };
        frame.receiver().filter(|to| to.is_group())?;
        ends(8).or_else(|| ends(16))?;
        let Some(keys) = self.igtks.get(&frame.transmitter()?.to_u64()) else {
            return Some(Bip::NoKey);
        };
        let fits = keys.iter().any(|(_, key)| key.verify(octets).is_ok());
        Some(if fits { Bip::Fits } else { Bip::Fails })
    }
}
