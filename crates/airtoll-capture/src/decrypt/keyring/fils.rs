//! Keys of FILS: takes authentication frames with nonces and association frames, gives the pairwise
//! key and the group keys.
//!
//! Source: IEEE 802.11-2020 clauses 12.11.2.5.3 (key derivation), 12.11.2.7 (encryption of association
//! frames with AES-SIV, RFC 5297), 9.4.2.185 (FILS Key Delivery), 9.4.2.189 (FILS Nonce). Keys with a
//! Diffie-Hellman secret need that secret in the given PMK and cannot be told from others: the first
//! data frame is the proof.

use aes_siv::KeyInit;
use aes_siv::siv::{Aes128Siv, Aes256Siv};
use airtoll_security::keys::prf::kdf;
use airtoll_security::{AkmHash, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::{Elements, element};
use airtoll_wire::key_data::{self, KeyData};
use zeroize::Zeroizing;

use super::{Keyring, LinkEnds};
use crate::decrypt::traffic::TrafficKey;
use crate::keys::Secret;

/// Element ID extension of the FILS Nonce.
const NONCE: u8 = 13;
/// Element ID extension of the FILS Session.
const SESSION: u8 = 4;
/// Element ID extension of the FILS Key Delivery.
const KEY_DELIVERY: u8 = 7;
/// Capability, status and AID of an association response.
const RESPONSE_FIELDS: usize = 6;
/// Status, authentication algorithm and sequence number stand before the elements; of the algorithms
/// with a finite cyclic group, the group and the public value do too and are not read.
const SHARED_KEY: u16 = 4;
const LABEL: &str = "FILS PTK Derivation";

/// Nonces of an exchange: the station's and the AP's.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Nonces {
    station: Option<[u8; 16]>,
    ap: Option<[u8; 16]>,
}

impl Keyring {
    /// Learns from an authentication frame of FILS; `rest` follows its three fixed fields.
    pub fn learn_fils(
        &mut self,
        station: MacAddress,
        bssid: MacAddress,
        algorithm: u16,
        from_station: bool,
        rest: &[u8],
    ) {
        if algorithm != SHARED_KEY || self.given.is_empty() {
            return;
        }
        let nonce = Elements::new(rest)
            .find_extension(NONCE)
            .and_then(|body| body.first_chunk::<16>().copied());
        let (Some(nonce), Some(pair)) = (nonce, self.pair_mut(station, bssid)) else {
            return;
        };
        if from_station {
            pair.fils = Nonces {
                station: Some(nonce),
                ap: None,
            };
        } else {
            pair.fils.ap = Some(nonce);
        }
    }

    /// The station's association request names the suites: its keys follow.
    pub fn learn_fils_association(&mut self, station: MacAddress, bssid: MacAddress) {
        for (cipher, keys) in self.fils_keys(station, bssid) {
            if let Some(key) = TrafficKey::new(cipher, None, keys.tk()) {
                self.add_pairwise(station, bssid, key);
            }
        }
    }

    /// The association response, from its capability field on: its encrypted part delivers the
    /// group keys.
    pub fn learn_fils_response(&mut self, station: MacAddress, bssid: MacAddress, body: &[u8]) {
        let Some(at) = encrypted_at(body) else {
            return;
        };
        let Some(nonces) = self.pair_mut(station, bssid).map(|pair| pair.fils) else {
            return;
        };
        let (Some(snonce), Some(anonce)) = (nonces.station, nonces.ap) else {
            return;
        };
        let (clear, sealed) = body.split_at(at);
        let associated: [&[u8]; 5] = [&bssid.0, &station.0, &anonce, &snonce, clear];
        let opened = self
            .fils_keys(station, bssid)
            .iter()
            .find_map(|(_, keys)| keys.open(&associated, sealed));
        let Some(opened) = opened else {
            return;
        };
        // The receive sequence counter of the group key stands before the KDEs (9.4.2.185).
        let kdes = Elements::new(&opened)
            .find_extension(KEY_DELIVERY)
            .and_then(|delivery| delivery.get(8..));
        for item in key_data::iterate(kdes.unwrap_or(&[])) {
            match item {
                KeyData::Gtk { key_id, key, .. } => self.add_gtk(bssid, key_id, key, None),
                KeyData::Igtk { key, .. } | KeyData::Bigtk { key, .. } => self.add_igtk(bssid, key),
                _ => {}
            }
        }
    }

    /// Keys that the given PMKs make of the nonces, with the pairwise cipher.
    fn fils_keys(
        &mut self,
        station: MacAddress,
        bssid: MacAddress,
    ) -> Vec<(CipherSuite, FilsKeys)> {
        let known = self.pair_mut(station, bssid).and_then(|pair| {
            let nonces = (pair.fils.station?, pair.fils.ap?);
            Some((nonces, pair.handshake.chosen.clone()?))
        });
        let Some(((snonce, anonce), rsn)) = known else {
            return Vec::new();
        };
        let named = |selector: [u8; 4]| CipherSuite::from_selector(selector);
        let Some(cipher) = rsn.pairwise.first().and_then(|suite| named(suite.0)) else {
            return Vec::new();
        };
        let hash = match rsn.akms.first().map(|suite| suite.0) {
            Some([0x00, 0x0f, 0xac, 14 | 16]) => AkmHash::Sha256,
            Some([0x00, 0x0f, 0xac, 15 | 17]) => AkmHash::Sha384,
            _ => return Vec::new(),
        };
        let ends = LinkEnds { station, bssid };
        let nonces = FilsNonces {
            station: snonce,
            ap: anonce,
        };
        let derived = |pmk: &Secret| FilsKeys::derive(hash, pmk, ends, &nonces, cipher);
        let pmks = self.given.pmks.iter();
        pmks.map(|pmk| (cipher, derived(pmk))).collect()
    }
}

/// Nonces that keys of FILS are made of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FilsNonces {
    /// The station's.
    pub station: [u8; 16],
    /// The access point's.
    pub ap: [u8; 16],
}

/// Keys of FILS: ICK, KEK and TK, one behind the other in the derived key data.
pub struct FilsKeys {
    data: Zeroizing<Vec<u8>>,
    ick: usize,
    kek: usize,
}

impl FilsKeys {
    /// Derives the keys of a station and an AP from the PMK and both nonces.
    pub fn derive(
        hash: AkmHash,
        pmk: &[u8],
        ends: LinkEnds,
        nonces: &FilsNonces,
        cipher: CipherSuite,
    ) -> Self {
        let (ick, kek) = match hash {
            AkmHash::Sha384 => (48, 64),
            _ => (32, 32),
        };
        let mut data = Zeroizing::new(vec![0; ick + kek + cipher.key_octets()]);
        let context: [&[u8]; 4] = [&ends.station.0, &ends.bssid.0, &nonces.station, &nonces.ap];
        kdf(hash, pmk, LABEL, &context, &mut data);
        Self { data, ick, kek }
    }

    /// The key of AES-SIV, which encrypts the association frames.
    pub fn kek(&self) -> &[u8] {
        &self.data[self.ick..self.ick + self.kek]
    }

    /// The temporal key.
    pub fn tk(&self) -> &[u8] {
        &self.data[self.ick + self.kek..]
    }

    /// Decrypts what follows the FILS Session element of an association frame (clause 12.11.2.7).
    fn open(&self, associated: &[&[u8]], sealed: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
        let plain = match self.kek() {
            kek if kek.len() == 32 => Aes128Siv::new_from_slice(kek)
                .ok()?
                .decrypt(associated, sealed),
            kek => Aes256Siv::new_from_slice(kek)
                .ok()?
                .decrypt(associated, sealed),
        };
        plain.ok().map(Zeroizing::new)
    }
}

/// Where the encrypted part of an association response begins: behind the FILS Session element.
fn encrypted_at(body: &[u8]) -> Option<usize> {
    let mut at = RESPONSE_FIELDS;
    while let [id, length, ..] = body.get(at..)? {
        let element = body.get(at + 2..at + 2 + usize::from(*length))?;
        at += 2 + element.len();
        if *id == element::id::EXTENSION && element.first() == Some(&SESSION) {
            return Some(at);
        }
    }
    None
}
