//! PEAPv0's cryptobinding (MS-PEAP sections 2.2.8.1.1 and 3.1.5.5): proof that the tunnel and what
//! runs in it end at the same two parties.
//!
//! Takes the tunnel's keys and the inner method's; gives TLVs that prove both, and the MSK that
//! follows. Never decides whether a server asks for it.

use crate::exchange::Context;
use crate::octets::equal;
use crate::operation::HashAlgorithm;

/// Octets of the TLV: type, length, version fields and subtype, nonce, compound MAC.
const OCTETS: usize = 60;
const MAC: usize = 40;
/// Type 12 with its length.
const HEADER: [u8; 4] = [0, 12, 0, 56];
/// PEAP's number, which the MAC covers after the TLV.
const PEAP: u8 = 25;

/// Sender of a TLV.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Subtype {
    /// The server's.
    Request = 0,
    /// The station's answer.
    Response = 1,
}

/// Keys of tunnel and inner method together.
#[derive(Clone)]
pub struct Binding {
    inner: Vec<u8>,
    mac: Vec<u8>,
}

/// PRF+ of PEAPv0 (section 3.1.5.5.2.2): HMAC-SHA-1 over what came before, label, seed, a counter
/// and two zeros.
fn prf(context: &mut Context<'_>, key: &[u8], label: &[u8], seed: &[u8], octets: usize) -> Vec<u8> {
    let mut out = Vec::new();
    let mut previous = Vec::new();
    for counter in 1_u8.. {
        let parts: [&[u8]; 4] = [&previous, label, seed, &[counter, 0, 0]];
        previous = context.hmac(HashAlgorithm::Sha1, key, &parts);
        out.extend(&previous);
        if out.len() >= octets {
            break;
        }
    }
    out.truncate(octets);
    out
}

impl Binding {
    /// From the tunnel's key material and the inner method's session key of 32 octets.
    pub fn new(context: &mut Context<'_>, tunnel: &[u8], session: &[u8]) -> Self {
        let label = b"Inner Methods Compound Keys";
        let key = &tunnel[..tunnel.len().min(40)];
        let mut inner = prf(context, key, label, session, 60);
        let mac = inner.split_off(40);
        Self { inner, mac }
    }

    /// From the tunnel's key material alone, where a resumed session takes the inner method's
    /// place (section 3.1.5.5.2.2: nothing runs inside that could give a key).
    pub fn resumed(tunnel: &[u8]) -> Self {
        let key = |from: usize, to: usize| tunnel.get(from..to).unwrap_or_default().to_vec();
        Self {
            inner: key(0, 40),
            mac: key(40, 60),
        }
    }

    fn compound(&self, context: &mut Context<'_>, tlv: &[u8]) -> Vec<u8> {
        let parts: [&[u8]; 3] = [&tlv[..MAC], &[0; OCTETS - MAC], &[PEAP]];
        context.hmac(HashAlgorithm::Sha1, &self.mac, &parts)
    }

    /// A TLV of this subtype with a nonce of our own.
    pub fn prove(&self, context: &mut Context<'_>, subtype: Subtype) -> Vec<u8> {
        let nonce: [u8; 32] = context.random();
        // Reserved, version 0, the version that the other end uses.
        let mut tlv = [&HEADER[..], &[0, 0, 0, subtype as u8], &nonce].concat();
        let mac = self.compound(context, &tlv);
        tlv.extend(mac);
        tlv
    }

    /// Whether this is the other end's right TLV of this subtype.
    pub fn verify(&self, context: &mut Context<'_>, subtype: Subtype, tlv: &[u8]) -> bool {
        let Some(tlv) = tlv.get(..OCTETS) else {
            return false;
        };
        let mac = self.compound(context, tlv);
        tlv[..4] == HEADER && tlv[7] == subtype as u8 && equal(&mac, &tlv[MAC..])
    }

    /// The MSK of a bound exchange (section 3.1.5.5.2.3).
    pub fn msk(&self, context: &mut Context<'_>) -> Vec<u8> {
        let label = b"Session Key Generating Function";
        prf(context, &self.inner, label, &[0], 64)
    }
}

/// The cryptobinding TLV among TLVs; `None` without one.
pub fn find(mut tlvs: &[u8]) -> Option<&[u8]> {
    while let Some((header, rest)) = tlvs.split_first_chunk::<4>() {
        let length = usize::from(u16::from_be_bytes([header[2], header[3]]));
        if header[0] & 0x3f == 0 && header[1] == HEADER[1] {
            return tlvs.get(..4 + length);
        }
        tlvs = rest.get(length..)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    /// Values that hostapd 2.10 logged of an exchange of the tests with real peers.
    #[test]
    fn keys_and_mac_are_hostapd_s() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let tunnel = hex!(
            "4692630d7c88adae23e9710a579d930d19427354a04183ca"
            "7ef0e28dcabe1e4fabe981c60338a862"
        );
        let session = hex!("57fd478583f52eb97a11c29f1a8a39da260c993117dcf0025f3a52a8eb8e8c42");
        let binding = Binding::new(&mut cx, &tunnel, &session);
        assert_eq!(
            binding.mac,
            hex!("72514dde688affe53ef5143a3962501c6533abe9")
        );
        let tlv = hex!(
            "000c003800000000"
            "2cf6ee8cd315707271be948067c8e9363afeae02d640acd2cdbbf2a64bfd0d50"
            "cd38cd29b2ef7cce75dc9cdc5e0bdcde17e593aa"
        );
        assert!(binding.verify(&mut cx, Subtype::Request, &tlv));
    }

    #[test]
    fn a_proof_is_believed_only_as_it_was_made() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        let binding = Binding::new(&mut cx, &[7; 64], &[9; 32]);
        let tlv = binding.prove(&mut cx, Subtype::Request);
        assert_eq!(tlv.len(), OCTETS);
        let tlvs = [&[0x80, 3, 0, 2, 0, 1][..], &tlv].concat();
        assert_eq!(find(&tlvs), Some(&tlv[..]));
        assert!(binding.verify(&mut cx, Subtype::Request, &tlv));
        assert!(!binding.verify(&mut cx, Subtype::Response, &tlv));
        for at in 0..OCTETS {
            let mut altered = tlv.clone();
            altered[at] ^= 1;
            assert!(!binding.verify(&mut cx, Subtype::Request, &altered), "{at}");
        }
        let other = Binding::new(&mut cx, &[7; 64], &[8; 32]);
        assert!(!other.verify(&mut cx, Subtype::Request, &tlv));
    }
}
