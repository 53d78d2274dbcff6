//! Keys of dynamic WEP: takes EAPOL-Key frames of the RC4 descriptor, gives WEP keys.
//!
//! Source: IEEE 802.1X-2004 clause 7.6 and RFC 3580 clause 3.16: the MSK's first half encrypts,
//! its second half signs.

use airtoll_security::CipherSuite;
use airtoll_security::keys::mic::KeyMic;
use airtoll_security::rc4::Rc4;
use airtoll_wire::MacAddress;
use airtoll_wire::eapol::Eapol;
use airtoll_wire::eapol_key::Rc4KeyRepr;
use zeroize::Zeroizing;

use super::Keyring;
use crate::decrypt::traffic::TrafficKey;

impl Keyring {
    /// Dynamic WEP: a key encrypted under the MSK's first half.
    pub(in crate::decrypt) fn learn_rc4_key(
        &mut self,
        from: MacAddress,
        to: MacAddress,
        packet: &Eapol<'_>,
    ) {
        let Ok(message) = Rc4KeyRepr::parse(packet.body()) else {
            return;
        };
        // The signature stands before the key and counts as zero.
        let at = 4 + 1 + 2 + 8 + 16 + 1;
        let frame = packet.octets();
        let len = usize::from(message.key_length);
        if frame.len() < at + 16 || !matches!(len, 5 | 13) {
            return;
        }
        for index in 0..self.given.msks.len() {
            let msk = self.given.msks[index].clone();
            if msk.len() < 64 {
                continue;
            }
            let parts: [&[u8]; 3] = [&frame[..at], &[0; 16], &frame[at + 16..]];
            let signature = KeyMic::HmacMd5.compute(&msk[32..64], &parts);
            if signature.is_ok_and(|mic| mic.as_slice() != message.signature) {
                continue;
            }
            let mut octets = Zeroizing::new(message.key.to_vec());
            if octets.is_empty() {
                octets.extend_from_slice(&msk[..len]);
            } else {
                let mut seed = Zeroizing::new(message.iv.to_vec());
                seed.extend_from_slice(&msk[..32]);
                Rc4::new(&seed).apply(&mut octets);
            }
            let suite = if octets.len() == 5 {
                CipherSuite::Wep40
            } else {
                CipherSuite::Wep104
            };
            if message.is_unicast() {
                if let Some(key) = TrafficKey::new(suite, None, &octets) {
                    self.add_pairwise(from, to, key);
                }
            } else if let Some(key) = TrafficKey::new(suite, Some(message.index & 3), &octets) {
                self.add_group(from, key);
            }
        }
    }
}
