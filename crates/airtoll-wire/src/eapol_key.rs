//! EAPOL-Key: takes the body of an EAPOL packet of type 3, gives the fields of a key message.
//!
//! Source: IEEE 802.11-2020 clause 12.7.2 (descriptor types 2 and 254), IEEE 802.1X-2004 clause
//! 7.6 (descriptor type 1, RC4). Never checks a MIC and never unwraps key data.

use crate::{Cursor, Error, Result};

const FORMAT: &str = "EAPOL-Key";

/// Descriptor type of RSN.
pub const DESCRIPTOR_RSN: u8 = 2;
/// Descriptor type of WPA (version 1).
pub const DESCRIPTOR_WPA: u8 = 254;
/// Descriptor type of dynamic WEP.
pub const DESCRIPTOR_RC4: u8 = 1;

/// Octets from the descriptor type to the RSC and reserved field, before the MIC.
const FIXED: usize = 77;

/// Key Information field.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct KeyInformation(pub u16);

impl KeyInformation {
    /// Pairwise key (else group).
    pub const PAIRWISE: u16 = 1 << 3;
    /// Install.
    pub const INSTALL: u16 = 1 << 6;
    /// Key Ack: an answer is asked for; the AP sends it.
    pub const ACK: u16 = 1 << 7;
    /// Key MIC is present.
    pub const MIC: u16 = 1 << 8;
    /// Secure.
    pub const SECURE: u16 = 1 << 9;
    /// Error.
    pub const ERROR: u16 = 1 << 10;
    /// Request, by the station.
    pub const REQUEST: u16 = 1 << 11;
    /// Key data is encrypted.
    pub const ENCRYPTED: u16 = 1 << 12;
    /// SMK message.
    pub const SMK: u16 = 1 << 13;

    /// Key descriptor version: 0 by the AKM, 1 HMAC-MD5/RC4, 2 HMAC-SHA1/AES, 3 AES-CMAC/AES.
    pub const fn version(self) -> u8 {
        (self.0 & 7) as u8
    }
    /// Whether all these bits are set.
    pub const fn has(self, bits: u16) -> bool {
        self.0 & bits == bits
    }
    /// Key index of WPA (version 1) group messages.
    pub const fn wpa_key_index(self) -> u8 {
        (self.0 >> 4 & 3) as u8
    }
}

/// The kind of a key message by its bits (clause 12.7.6 and 12.7.7).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Message {
    /// 4-way handshake, 1 to 4.
    FourWay(u8),
    /// Group key handshake, 1 or 2.
    Group(u8),
    /// The station requests a rekey or reports a MIC failure.
    Request,
}

/// A key message, for reading and writing. Slices are parts of the frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EapolKeyRepr<'a> {
    /// Descriptor type, 2 or 254.
    pub descriptor: u8,
    /// Key Information.
    pub information: KeyInformation,
    /// Key Length in octets.
    pub key_length: u16,
    /// Replay counter.
    pub replay_counter: u64,
    /// Nonce.
    pub nonce: &'a [u8; 32],
    /// Key IV (with RC4 key data).
    pub iv: &'a [u8; 16],
    /// Receive sequence counter of the group key, least significant octet first.
    pub rsc: [u8; 8],
    /// MIC: 0 (AEAD), 16, 24 or 32 octets by the AKM.
    pub mic: &'a [u8],
    /// Key data, still wrapped if it is encrypted.
    pub data: &'a [u8],
}

impl<'a> EapolKeyRepr<'a> {
    /// Offset of the MIC from the start of the EAPOL header (which it covers, zeroed itself).
    pub const MIC_OFFSET: usize = 4 + FIXED;

    /// Reads a body with a MIC of `mic_len` octets.
    pub fn parse(body: &'a [u8], mic_len: usize) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, body);
        let descriptor = cursor.u8()?;
        if descriptor != DESCRIPTOR_RSN && descriptor != DESCRIPTOR_WPA {
            return Err(Error::malformed(FORMAT, "descriptor type is not 2 or 254"));
        }
        let information = KeyInformation(cursor.u16_be()?);
        let key_length = cursor.u16_be()?;
        let replay_counter = cursor.u64_be()?;
        let nonce = fixed(cursor.take(32)?)?;
        let iv = fixed(cursor.take(16)?)?;
        let rsc = cursor.array()?;
        cursor.take(8)?;
        let mic = cursor.take(mic_len)?;
        let data_len = usize::from(cursor.u16_be()?);
        let data = cursor.take(data_len)?;
        Ok(Self {
            descriptor,
            information,
            key_length,
            replay_counter,
            nonce,
            iv,
            rsc,
            mic,
            data,
        })
    }

    /// The MIC length with which the key data length adds up to the body: 16, 24, 32 or 0 in
    /// this order. Where none adds up, the first with which the key data ends inside the body:
    /// some authenticators send octets behind the key data (hostapd without a PMKID declares no
    /// key data in message 1 and sends 22 zero octets). `None` if none fits.
    pub fn guess_mic_len(body: &[u8]) -> Option<usize> {
        let end = |mic_len: usize| {
            let at = FIXED + mic_len;
            let two = body.get(at..at + 2)?;
            Some(at + 2 + usize::from(u16::from_be_bytes([two[0], two[1]])))
        };
        let lengths = || [16, 24, 32, 0].into_iter();
        lengths()
            .find(|mic_len| end(*mic_len) == Some(body.len()))
            .or_else(|| lengths().find(|mic_len| end(*mic_len).is_some_and(|e| e < body.len())))
    }

    /// The kind of this message. Message 4 differs from message 2 by its empty nonce, or by Secure
    /// where a station repeats the nonce (RSN), or by missing key data (WPA).
    pub fn message(&self) -> Message {
        let info = self.information;
        if info.has(KeyInformation::REQUEST) {
            return Message::Request;
        }
        match (
            info.has(KeyInformation::PAIRWISE),
            info.has(KeyInformation::ACK),
        ) {
            // An AEAD AKM sets no MIC bit: then message 3 is told by Install or by its data.
            (true, true) => {
                let third = info.has(KeyInformation::MIC) || info.has(KeyInformation::INSTALL);
                Message::FourWay(if third { 3 } else { 1 })
            }
            (true, false) => {
                let zero = *self.nonce == [0; 32];
                let secure = info.has(KeyInformation::SECURE);
                let bare = self.descriptor == DESCRIPTOR_WPA && self.data.is_empty();
                let fourth =
                    zero && self.data.is_empty() || (secure && self.data.len() < 6) || bare;
                Message::FourWay(if fourth || zero { 4 } else { 2 })
            }
            (false, true) => Message::Group(1),
            (false, false) => Message::Group(2),
        }
    }

    /// Octets that [`EapolKeyRepr::emit`] writes.
    pub const fn buffer_len(&self) -> usize {
        FIXED + self.mic.len() + 2 + self.data.len()
    }

    /// Appends the body (without EAPOL header).
    pub fn emit(&self, out: &mut Vec<u8>) {
        let data = &self.data[..self.data.len().min(65535)];
        out.push(self.descriptor);
        out.extend_from_slice(&self.information.0.to_be_bytes());
        out.extend_from_slice(&self.key_length.to_be_bytes());
        out.extend_from_slice(&self.replay_counter.to_be_bytes());
        out.extend_from_slice(self.nonce);
        out.extend_from_slice(self.iv);
        out.extend_from_slice(&self.rsc);
        out.extend_from_slice(&[0; 8]);
        out.extend_from_slice(self.mic);
        out.extend_from_slice(&(data.len() as u16).to_be_bytes());
        out.extend_from_slice(data);
    }
}

/// RC4 key descriptor of dynamic WEP (IEEE 802.1X-2004 clause 7.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rc4KeyRepr<'a> {
    /// Key length in octets: 5 or 13.
    pub key_length: u16,
    /// Replay counter.
    pub replay_counter: u64,
    /// Key IV.
    pub iv: &'a [u8; 16],
    /// Bit 7 set for the unicast key, the other bits the key index.
    pub index: u8,
    /// HMAC-MD5 over the EAPOL packet.
    pub signature: &'a [u8; 16],
    /// Encrypted key; empty if the session key itself is to be used.
    pub key: &'a [u8],
}

impl<'a> Rc4KeyRepr<'a> {
    /// Reads a body of descriptor type 1.
    pub fn parse(body: &'a [u8]) -> Result<Self> {
        let mut cursor = Cursor::new(FORMAT, body);
        if cursor.u8()? != DESCRIPTOR_RC4 {
            return Err(Error::malformed(FORMAT, "descriptor type is not 1"));
        }
        Ok(Self {
            key_length: cursor.u16_be()?,
            replay_counter: cursor.u64_be()?,
            iv: fixed(cursor.take(16)?)?,
            index: cursor.u8()?,
            signature: fixed(cursor.take(16)?)?,
            key: cursor.rest(),
        })
    }

    /// Whether this is the unicast key.
    pub const fn is_unicast(&self) -> bool {
        self.index & 0x80 != 0
    }

    /// Appends the body.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.push(DESCRIPTOR_RC4);
        out.extend_from_slice(&self.key_length.to_be_bytes());
        out.extend_from_slice(&self.replay_counter.to_be_bytes());
        out.extend_from_slice(self.iv);
        out.push(self.index);
        out.extend_from_slice(self.signature);
        out.extend_from_slice(self.key);
    }
}

fn fixed<const N: usize>(octets: &[u8]) -> Result<&[u8; N]> {
    octets
        .try_into()
        .map_err(|_| Error::truncated(FORMAT, N, octets.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trips(
            wpa: bool, information: u16, key_length: u16, replay_counter: u64, nonce: [u8; 32],
            iv: [u8; 16], rsc: [u8; 8], mic: [u8; 32], mic_len in prop::sample::select(vec![0usize, 16, 24, 32]),
            data in proptest::collection::vec(any::<u8>(), 0..120),
        ) {
            let repr = EapolKeyRepr {
                descriptor: if wpa { DESCRIPTOR_WPA } else { DESCRIPTOR_RSN },
                information: KeyInformation(information), key_length, replay_counter,
                nonce: &nonce, iv: &iv, rsc, mic: &mic[..mic_len], data: &data,
            };
            let mut body = Vec::new();
            repr.emit(&mut body);
            prop_assert_eq!(body.len(), repr.buffer_len());
            prop_assert_eq!(EapolKeyRepr::parse(&body, mic_len), Ok(repr));
        }

        #[test]
        fn rc4_round_trips(key_length: u16, replay_counter: u64, iv: [u8; 16], index: u8, signature: [u8; 16], key in proptest::collection::vec(any::<u8>(), 0..14)) {
            let repr = Rc4KeyRepr { key_length, replay_counter, iv: &iv, index, signature: &signature, key: &key };
            let mut body = Vec::new();
            repr.emit(&mut body);
            prop_assert_eq!(Rc4KeyRepr::parse(&body), Ok(repr));
        }

        #[test]
        fn any_octets_are_refused_or_read(body in proptest::collection::vec(any::<u8>(), 0..200), mic_len in 0usize..300) {
            let _ = EapolKeyRepr::parse(&body, mic_len).map(|key| key.message());
            let _ = (EapolKeyRepr::guess_mic_len(&body), Rc4KeyRepr::parse(&body));
        }
    }

    #[test]
    fn messages_are_told_by_their_bits() {
        let message = |bits: u16, nonce: [u8; 32], data: &[u8]| {
            EapolKeyRepr {
                descriptor: DESCRIPTOR_RSN,
                information: KeyInformation(bits),
                key_length: 16,
                replay_counter: 1,
                nonce: &nonce,
                iv: &[0; 16],
                rsc: [0; 8],
                mic: &[0; 16],
                data,
            }
            .message()
        };
        assert_eq!(message(0x008a, [1; 32], &[]), Message::FourWay(1));
        assert_eq!(message(0x010a, [1; 32], &[1; 22]), Message::FourWay(2));
        assert_eq!(message(0x13ca, [1; 32], &[1; 56]), Message::FourWay(3));
        assert_eq!(message(0x030a, [0; 32], &[]), Message::FourWay(4));
        assert_eq!(message(0x030a, [1; 32], &[]), Message::FourWay(4));
        assert_eq!(message(0x1382, [1; 32], &[1; 40]), Message::Group(1));
        assert_eq!(message(0x0302, [0; 32], &[]), Message::Group(2));
        assert_eq!(message(0x0d02, [0; 32], &[]), Message::Request);
    }

    #[test]
    fn mic_length_follows_from_the_data_length() {
        for mic_len in [16, 24, 32, 0] {
            let mut body = Vec::new();
            EapolKeyRepr {
                descriptor: DESCRIPTOR_RSN,
                information: KeyInformation(0x0108),
                key_length: 32,
                replay_counter: 1,
                nonce: &[7; 32],
                iv: &[0; 16],
                rsc: [0; 8],
                mic: &[0xa5; 32][..mic_len],
                data: &[0x30; 22],
            }
            .emit(&mut body);
            assert_eq!(EapolKeyRepr::guess_mic_len(&body), Some(mic_len));
        }
    }

    #[test]
    fn octets_behind_the_key_data_are_left_alone() {
        let mut body = Vec::new();
        EapolKeyRepr {
            descriptor: DESCRIPTOR_RSN,
            information: KeyInformation(0x008a),
            key_length: 16,
            replay_counter: 1,
            nonce: &[7; 32],
            iv: &[0; 16],
            rsc: [0; 8],
            mic: &[0; 16],
            data: &[],
        }
        .emit(&mut body);
        body.extend([0; 22]);
        let mic_len = EapolKeyRepr::guess_mic_len(&body).unwrap();
        let key = EapolKeyRepr::parse(&body, mic_len).unwrap();
        assert_eq!(key.message(), Message::FourWay(1));
        assert_eq!((key.nonce, key.data), (&[7; 32], &[][..]));
    }
}
