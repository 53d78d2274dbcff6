//! The cipher of frames that stay closed: takes what stations chose and what BSSs announce, gives the
//! suite of a frame, as far as these and its security header leave one.
//!
//! Source: IEEE 802.11-2020 clauses 9.4.2.24 (RSN element) and 12.5 (headers of the ciphers). The octets
//! of plaintext follow from the suite; CCMP-128 and GCMP-128 have the same header and other lengths.
//! Bounded. Never guesses between two suites.

use airtoll_security::{AkmSuite, CipherSuite, Credential};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::{CipherSelector, Frame, Protection, RsnRepr};
use rustc_hash::FxHashMap;

use super::{Keyring, MAX_ENTRIES, PairKey, pair_of};

/// Pairwise suite "use the group cipher suite" (table 9-149).
const USE_GROUP: [u8; 4] = [0, 0x0f, 0xac, 0];

/// Choice of a station.
#[derive(Debug, Clone, Copy)]
struct Chosen {
    cipher: Option<CipherSuite>,
    akm: Option<AkmSuite>,
}

/// Choices of all stations.
#[derive(Debug, Default)]
pub(in crate::decrypt) struct Suites {
    of_pairs: FxHashMap<PairKey, Chosen>,
    /// Group suite that stations chose with a BSS.
    of_groups: FxHashMap<u64, CipherSuite>,
    /// The answer for the addresses, one way or the other, that were asked for last.
    last: Option<(PairKey, bool, Option<CipherSuite>)>,
}

impl Suites {
    /// Forgets the last answer: an announcement or a choice has changed.
    pub(in crate::decrypt) const fn forget_last(&mut self) {
        self.last = None;
    }
}

impl Keyring {
    /// Learns the suites that a station asks for in its association or in message 2.
    pub fn learn_suite(&mut self, station: MacAddress, bssid: MacAddress, rsn: &RsnRepr) {
        let key = self.pair_key(station, bssid);
        let pairs = &mut self.suites.of_pairs;
        if pairs.len() >= MAX_ENTRIES && !pairs.contains_key(&key) {
            return;
        }
        let pairwise = rsn.pairwise.first().map(|suite| suite.0);
        let chosen = Chosen {
            cipher: if pairwise == Some(USE_GROUP) {
                rsn.group.and_then(suite_of)
            } else {
                pairwise.and_then(CipherSuite::from_selector)
            },
            akm: rsn
                .akms
                .first()
                .and_then(|akm| AkmSuite::from_selector(akm.0)),
        };
        pairs.insert(key, chosen);
        if let Some(group) = rsn.group.and_then(suite_of) {
            self.suites.of_groups.insert(bssid.to_u64(), group);
        }
        self.suites.forget_last();
    }

    /// The suite of a protected frame that stays closed.
    pub(crate) fn closed_suite(&mut self, frame: &Frame<'_>) -> Option<CipherSuite> {
        let protection = Protection::parse(frame.body(), true).ok()?;
        if matches!(protection, Protection::Wep { .. }) {
            return Some(CipherSuite::Wep104);
        }
        let tkip = matches!(protection, Protection::Tkip { .. });
        let (receiver, transmitter) = (frame.receiver()?, frame.transmitter()?);
        let asked = pair_of(receiver, transmitter);
        if let Some((last, as_tkip, suite)) = self.suites.last
            && (last, as_tkip) == (asked, tkip)
        {
            return suite;
        }
        let key = self.pair_key(receiver, transmitter);
        let suite = self.suite_between(receiver, transmitter, key, tkip);
        self.suites.last = Some((asked, tkip, suite));
        suite
    }

    fn suite_between(
        &self,
        receiver: MacAddress,
        transmitter: MacAddress,
        key: PairKey,
        tkip: bool,
    ) -> Option<CipherSuite> {
        if let Some(chosen) = self
            .suites
            .of_pairs
            .get(&key)
            .filter(|_| !receiver.is_group())
        {
            return chosen.cipher;
        }
        let group = self.suites.of_groups.get(&transmitter.to_u64());
        if let Some(suite) = group.filter(|_| receiver.is_group()) {
            return Some(*suite);
        }
        let bss = self.bss(transmitter).or_else(|| self.bss(receiver))?;
        let announced = [&bss.rsn, &bss.wpa].into_iter().flatten();
        let suites = announced.flat_map(|rsn| {
            let pairwise = rsn.pairwise.iter().filter(|_| !receiver.is_group());
            let group = rsn.group.iter().filter(|_| receiver.is_group());
            pairwise.chain(group).copied().filter_map(suite_of)
        });
        // A header that looks like one of TKIP may be that of a CCMP packet number.
        let mut one = None;
        let mut of_header = false;
        for suite in suites {
            let fits = (suite == CipherSuite::Tkip) == tkip;
            match one {
                None => (one, of_header) = (Some(suite), fits),
                Some(known) if known == suite => {}
                Some(_) if fits && !of_header => (one, of_header) = (Some(suite), true),
                Some(_) if !fits && of_header => {}
                Some(_) => return None,
            }
        }
        one
    }

    /// Whether the keys of these two come from an exchange that no passphrase tells: SAE and OWE.
    pub(in crate::decrypt) fn needs_pmk(&self, a: MacAddress, b: MacAddress) -> bool {
        let chosen = self.suites.of_pairs.get(&self.pair_key(a, b));
        let akm = chosen.and_then(|chosen| chosen.akm);
        akm.is_some_and(|akm| {
            matches!(
                akm.credential(),
                Credential::Sae | Credential::DiffieHellman
            )
        })
    }
}

fn suite_of(selector: CipherSelector) -> Option<CipherSuite> {
    CipherSuite::from_selector(selector.0)
}
