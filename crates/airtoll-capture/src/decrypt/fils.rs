//! Keys of FILS: takes authentication frames with nonces, gives the pairwise key.
//!
//! Source: IEEE 802.11-2020 clause 12.11.2.5.3 (key derivation), 9.4.2.189 (FILS Nonce). The group
//! key is inside the encrypted part of the association response, which is not opened here. Keys
//! with a Diffie-Hellman secret need that secret in the given PMK and cannot be told from others: the
//! first data frame is the proof.

use airtoll_security::keys::prf::kdf;
use airtoll_security::{AkmHash, CipherSuite};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::Elements;
use zeroize::Zeroizing;

use super::keyring::Keyring;
use super::traffic::TrafficKey;

/// Element ID extension of the FILS Nonce.
const NONCE: u8 = 13;
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
        let Some(pair) = self.pair_mut(station, bssid) else {
            return;
        };
        let (Some(snonce), Some(anonce)) = (pair.fils.station, pair.fils.ap) else {
            return;
        };
        let Some(rsn) = pair.handshake.chosen.clone() else {
            return;
        };
        let named = |selector: [u8; 4]| CipherSuite::from_selector(selector);
        let Some(cipher) = rsn.pairwise.first().and_then(|suite| named(suite.0)) else {
            return;
        };
        let hash = match rsn.akms.first().map(|suite| suite.0) {
            Some([0x00, 0x0f, 0xac, 14 | 16]) => AkmHash::Sha256,
            Some([0x00, 0x0f, 0xac, 15 | 17]) => AkmHash::Sha384,
            _ => return,
        };
        for pmk in self.given.pmks.clone() {
            let tk = temporal_key(hash, &pmk, (station, bssid), (&snonce, &anonce), cipher);
            if let Some(key) = TrafficKey::new(cipher, None, &tk) {
                self.add_pairwise(station, bssid, key);
            }
        }
    }
}

/// TK of FILS: behind ICK and KEK in the derived key data.
pub fn temporal_key(
    hash: AkmHash,
    pmk: &[u8],
    (station, bssid): (MacAddress, MacAddress),
    (snonce, anonce): (&[u8; 16], &[u8; 16]),
    cipher: CipherSuite,
) -> Zeroizing<Vec<u8>> {
    let (ick, kek) = match hash {
        AkmHash::Sha384 => (48, 64),
        _ => (32, 32),
    };
    let mut data = Zeroizing::new(vec![0; ick + kek + cipher.key_octets()]);
    let context: [&[u8]; 4] = [&station.0, &bssid.0, snonce, anonce];
    kdf(hash, pmk, LABEL, &context, &mut data);
    Zeroizing::new(data[ick + kek..].to_vec())
}
