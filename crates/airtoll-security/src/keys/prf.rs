//! The pseudo-random functions of IEEE 802.11: PRF-n over HMAC-SHA-1 and KDF-Hash-Length.
//!
//! Takes a key, a label and context; fills a buffer with key material. Never keeps any of it.

use hmac::{Hmac, KeyInit, Mac};
use sha1::Sha1;
use sha2::{Digest, Sha256, Sha384, Sha512};
use zeroize::Zeroizing;

use crate::akm::AkmHash;

/// PRF-n (IEEE 802.11-2020, 12.7.1.2): `out.len() * 8` bits of
/// HMAC-SHA-1(key, label || 0 || context || i), i = 0, 1, ...
pub fn prf_sha1(key: &[u8], label: &str, context: &[&[u8]], out: &mut [u8]) {
    let keyed = Hmac::<Sha1>::new_from_slice(key).expect("HMAC takes keys of any length");
    for (i, chunk) in (0u8..=u8::MAX).zip(out.chunks_mut(20)) {
        let mut mac = keyed.clone();
        mac.update(label.as_bytes());
        mac.update(&[0]);
        for part in context {
            mac.update(part);
        }
        mac.update(&[i]);
        let block = Zeroizing::new(<[u8; 20]>::from(mac.finalize().into_bytes()));
        chunk.copy_from_slice(&block[..chunk.len()]);
    }
}

/// KDF-Hash-Length (IEEE 802.11-2020, 12.7.1.6.2): `out.len() * 8` bits of
/// HMAC-Hash(key, i || label || context || length), i = 1, 2, ..., i and length in bits as 16-bit
/// little-endian integers. With [`AkmHash::Sha1`] this is [`prf_sha1`]. `out` has at most 8191
/// octets, what the length field can say.
pub fn kdf(hash: AkmHash, key: &[u8], label: &str, context: &[&[u8]], out: &mut [u8]) {
    match hash {
        AkmHash::Sha1 => prf_sha1(key, label, context, out),
        AkmHash::Sha256 => {
            let keyed = Hmac::<Sha256>::new_from_slice(key).expect("HMAC takes keys of any length");
            expand(&keyed, 32, label, context, out);
        }
        AkmHash::Sha384 => {
            let keyed = Hmac::<Sha384>::new_from_slice(key).expect("HMAC takes keys of any length");
            expand(&keyed, 48, label, context, out);
        }
        AkmHash::Sha512 => {
            let keyed = Hmac::<Sha512>::new_from_slice(key).expect("HMAC takes keys of any length");
            expand(&keyed, 64, label, context, out);
        }
    }
}

/// HMAC of the concatenated `parts`; the digest's octets are at the front of the result, the
/// rest is zero.
#[must_use]
pub fn hmac(hash: AkmHash, key: &[u8], parts: &[&[u8]]) -> Zeroizing<[u8; 64]> {
    fn run<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]], out: &mut [u8; 64]) {
        let mut mac = <M as KeyInit>::new_from_slice(key).expect("HMAC takes keys of any length");
        for part in parts {
            mac.update(part);
        }
        let digest = mac.finalize().into_bytes();
        out[..digest.len()].copy_from_slice(&digest);
    }
    let mut out = Zeroizing::new([0; 64]);
    match hash {
        AkmHash::Sha1 => run::<Hmac<Sha1>>(key, parts, &mut out),
        AkmHash::Sha256 => run::<Hmac<Sha256>>(key, parts, &mut out),
        AkmHash::Sha384 => run::<Hmac<Sha384>>(key, parts, &mut out),
        AkmHash::Sha512 => run::<Hmac<Sha512>>(key, parts, &mut out),
    }
    out
}

/// First 128 bits of the hash of the concatenated `parts` (Truncate-128 of 12.7.1).
#[must_use]
pub fn truncated_digest(hash: AkmHash, parts: &[&[u8]]) -> [u8; 16] {
    fn run<D: Digest>(parts: &[&[u8]]) -> [u8; 16] {
        let mut digest = D::new();
        for part in parts {
            digest.update(part);
        }
        let mut out = [0; 16];
        out.copy_from_slice(&digest.finalize()[..16]);
        out
    }
    match hash {
        AkmHash::Sha1 => run::<Sha1>(parts),
        AkmHash::Sha256 => run::<Sha256>(parts),
        AkmHash::Sha384 => run::<Sha384>(parts),
        AkmHash::Sha512 => run::<Sha512>(parts),
    }
}

fn expand<M: Mac + Clone>(
    keyed: &M,
    octets: usize,
    label: &str,
    context: &[&[u8]],
    out: &mut [u8],
) {
    let length = u16::try_from(out.len() * 8).expect("KDF output of at most 65535 bits");
    for (i, chunk) in (1u16..).zip(out.chunks_mut(octets)) {
        let mut mac = keyed.clone();
        mac.update(&i.to_le_bytes());
        mac.update(label.as_bytes());
        for part in context {
            mac.update(part);
        }
        mac.update(&length.to_le_bytes());
        let mut block = mac.finalize().into_bytes();
        chunk.copy_from_slice(&block[..chunk.len()]);
        zeroize::Zeroize::zeroize(block.as_mut_slice());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// IEEE 802.11-2012, M.3.2 (802.11-2020, J.3.2): PRF with the keys and data of RFC 2202.
    #[test]
    fn prf_annex_j_3() {
        let mut out = [0; 64];
        prf_sha1(&[0x0b; 20], "prefix", &[b"Hi There"], &mut out);
        assert_eq!(
            out,
            hex!(
                "bcd4c650b30b9684951829e0d75f9d54b862175ed9f00606e17d8da35402ffee"
                "75df78c3d31e0f889f012120c0862beb67753e7439ae242edb8373698356cf5a"
            )
        );
        prf_sha1(
            b"Jefe",
            "prefix",
            &[b"what do ya want ", b"for nothing?"],
            &mut out,
        );
        assert_eq!(
            out,
            hex!(
                "51f4de5b33f249adf81aeb713a3c20f4fe631446fabdfa58244759ae58ef9009"
                "a99abf4eac2ca5fa87e692c440eb40023e7babb206d61de7b92f41529092b8fc"
            )
        );
    }

    #[test]
    fn short_output_is_a_prefix_of_prf_but_not_of_kdf() {
        let (mut short, mut long) = ([0; 16], [0; 48]);
        kdf(AkmHash::Sha1, b"k", "l", &[b"c"], &mut short);
        kdf(AkmHash::Sha1, b"k", "l", &[b"c"], &mut long);
        assert_eq!(short, long[..16]);
        kdf(AkmHash::Sha256, b"k", "l", &[b"c"], &mut short);
        kdf(AkmHash::Sha256, b"k", "l", &[b"c"], &mut long);
        assert_ne!(short, long[..16], "the length enters the KDF");
    }
}
