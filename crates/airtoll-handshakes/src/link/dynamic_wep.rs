//! WEP keys handed out by 802.1X (802.1X-2004, 7.6): two EAPOL-Key frames with the RC4
//! descriptor after EAP-Success, the broadcast key, then the station's own.
//!
//! Takes an MSK at each end; gives two frames and two keys. Nothing acknowledges them and
//! nothing repeats them: a lost one shows as traffic that cannot be decrypted.

use airtoll_wire::eapol::{Eapol, EapolRepr, packet_type};
use airtoll_wire::eapol_key::Rc4KeyRepr;

use crate::exchange::{Carrier, Context, Message, Party, Peer, SecretName, Secrets, Status};
use crate::failure::{Code, Failure, reason};
use crate::link::key_frame::GroupKeys;
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;

/// Offset of the signature in an EAPOL packet: header 4, descriptor 1, key length 2, replay
/// counter 8, IV 16, index 1.
const SIGNATURE_AT: usize = 32;
/// The bit of the key index that says that the key is the station's own.
const UNICAST: u8 = 0x80;

/// Keys of an EAPOL-Key frame: the first and second 32 octets of the MSK; LEAP's session key
/// is both.
#[derive(Clone, Copy)]
struct FrameKeys<'a> {
    encryption: &'a [u8],
    signing: &'a [u8],
}

fn split(msk: &[u8]) -> FrameKeys<'_> {
    let (encryption, signing) = if msk.len() < 64 {
        (msk, msk)
    } else {
        (&msk[..32], &msk[32..64])
    };
    FrameKeys {
        encryption,
        signing,
    }
}

/// The AP's end.
pub struct WepKeyGiver {
    msk: Vec<u8>,
    octets: usize,
    broadcast: Option<GroupKeys>,
    unicast: Option<Vec<u8>>,
    counter: u64,
    secrets: Option<Secrets>,
}

impl WepKeyGiver {
    /// Gives keys of 5 or 13 octets.
    #[must_use]
    pub const fn new(msk: Vec<u8>, octets: usize) -> Self {
        Self {
            msk,
            octets,
            broadcast: None,
            unicast: None,
            counter: 0,
            secrets: None,
        }
    }

    /// Distributes this broadcast key instead of drawing one.
    #[must_use]
    pub fn handing_out(mut self, keys: GroupKeys) -> Self {
        self.broadcast = Some(keys);
        self
    }

    /// Gives this unicast key instead of drawing one.
    #[must_use]
    pub fn with_unicast(mut self, key: Vec<u8>) -> Self {
        self.unicast = Some(key);
        self
    }

    /// Continues after this replay counter; a station accepts higher counters only.
    #[must_use]
    pub const fn counting_after(mut self, counter: u64) -> Self {
        self.counter = counter;
        self
    }

    /// The replay counter of the last frame.
    #[must_use]
    pub const fn counter(&self) -> u64 {
        self.counter
    }

    fn frame(&mut self, context: &mut Context<'_>, index: u8, key: &[u8]) -> Vec<u8> {
        self.counter += 1;
        let FrameKeys {
            encryption,
            signing,
        } = split(&self.msk);
        let iv: [u8; 16] = context.random();
        let mut sealed = key.to_vec();
        context.rc4(&[&iv, encryption].concat(), 0, &mut sealed);
        let body = Rc4KeyRepr {
            key_length: u16::try_from(key.len()).unwrap_or(0),
            replay_counter: self.counter,
            iv: &iv,
            index,
            signature: &[0; 16],
            key: &sealed,
        };
        let body = written(|out| body.emit(out));
        let mut frame = written(|out| {
            EapolRepr {
                version: 1,
                packet_type: packet_type::KEY,
                body: &body,
            }
            .emit(out);
        });
        let signature = context.hmac(HashAlgorithm::Md5, signing, &[&frame]);
        frame[SIGNATURE_AT..SIGNATURE_AT + 16].copy_from_slice(&signature);
        frame
    }
}

impl Peer for WepKeyGiver {
    fn party(&self) -> Party {
        Party::AccessPoint
    }

    fn start(&mut self, context: &mut Context<'_>) {
        let (broadcast, index) = match &self.broadcast {
            Some(keys) => (keys.gtk.clone(), keys.key_id),
            None => (context.random_octets(self.octets), 1),
        };
        let unicast = match &self.unicast {
            Some(key) => key.clone(),
            None => context.random_octets(self.octets),
        };
        let first = self.frame(context, index, &broadcast);
        context.send(Party::AccessPoint, Party::Station, Carrier::Eapol, first);
        let second = self.frame(context, UNICAST, &unicast);
        context.send(Party::AccessPoint, Party::Station, Carrier::Eapol, second);
        self.secrets = Some(Secrets::from([
            (SecretName::WepKey, unicast),
            (SecretName::Gtk, broadcast),
        ]));
    }

    fn receive(&mut self, _message: &Message, _context: &mut Context<'_>) {}

    fn on_timeout(&mut self, _context: &mut Context<'_>) {}

    fn status(&self) -> Status {
        self.secrets
            .clone()
            .map_or(Status::Waiting, Status::Established)
    }
}

/// The station's end.
pub struct WepKeyTaker {
    msk: Vec<u8>,
    counter: u64,
    secrets: Secrets,
    failure: Option<Failure>,
}

impl WepKeyTaker {
    /// Waits for both keys.
    #[must_use]
    pub const fn new(msk: Vec<u8>) -> Self {
        Self {
            msk,
            counter: 0,
            secrets: Secrets::new(),
            failure: None,
        }
    }
}

impl Peer for WepKeyTaker {
    fn party(&self) -> Party {
        Party::Station
    }

    fn receive(&mut self, message: &Message, context: &mut Context<'_>) {
        let Some(packet) = Eapol::new(&message.octets)
            .ok()
            .filter(|p| message.carrier == Carrier::Eapol && p.packet_type() == packet_type::KEY)
        else {
            return;
        };
        let Ok(key) = Rc4KeyRepr::parse(packet.body()) else {
            return;
        };
        let FrameKeys {
            encryption,
            signing,
        } = split(&self.msk);
        let mut zeroed = packet.octets().to_vec();
        zeroed[SIGNATURE_AT..SIGNATURE_AT + 16].fill(0);
        let expected = context.hmac(HashAlgorithm::Md5, signing, &[&zeroed]);
        if !equal(&expected, key.signature) || key.replay_counter <= self.counter {
            return;
        }
        self.counter = key.replay_counter;
        let mut plain = key.key.to_vec();
        context.rc4(&[key.iv, encryption].concat(), 0, &mut plain);
        let name = if key.is_unicast() {
            SecretName::WepKey
        } else {
            SecretName::Gtk
        };
        self.secrets.insert(name, plain);
    }

    fn on_timeout(&mut self, _context: &mut Context<'_>) {
        if self.status() == Status::Waiting {
            self.failure = Some(Failure::PeerTimeout {
                code: Code::Reason(reason::LEAVING),
            });
        }
    }

    fn status(&self) -> Status {
        match self.failure {
            Some(failure) => Status::Failed(failure),
            None if self.secrets.len() == 2 => Status::Established(self.secrets.clone()),
            None => Status::Waiting,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::adverse::{agree, run, run_flipped};
    use crate::exchange::Outcome;

    fn peers(msk: &[u8]) -> Vec<Box<dyn Peer>> {
        vec![
            Box::new(WepKeyTaker::new(msk.to_vec())),
            Box::new(WepKeyGiver::new(msk.to_vec(), 13)),
        ]
    }

    #[test]
    fn two_frames_give_two_keys_of_13_octets() {
        for msk in [vec![3; 64], vec![4; 16]] {
            let (log, outcome, exchange) = run(peers(&msk), 1);
            assert_eq!(log.len(), 2);
            let Outcome::Established(secrets) = outcome else {
                panic!("{outcome:?}");
            };
            assert_eq!(secrets[&SecretName::WepKey].len(), 13);
            assert!(agree(&exchange, Party::Station, Party::AccessPoint));
        }
    }

    #[test]
    fn any_flipped_octet_keeps_the_station_waiting() {
        for octet in 4..61 {
            let (outcome, _) = run_flipped(peers(&[3; 64]), 1, (1, octet, 2));
            assert!(matches!(outcome, Outcome::Failed(_)), "octet {octet}");
        }
    }
}
