//! Cryptographic primitives that count themselves.
//!
//! Takes keys and octets; gives octets and leaves an [`Operation`] in the [`Context`], so that
//! what a handshake computes and what it says it computes cannot differ. Never draws randomness
//! but from the context.

use aes::cipher::{BlockCipherDecrypt, BlockCipherEncrypt, KeyInit, array::Array};
use aes_gcm::aead::{Aead, Payload};
use blake2::Blake2s256;
use hmac::{Hmac, Mac, SimpleHmac};
use md4::Md4;
use md5::{Digest, Md5};
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};

use crate::context::Context;
use crate::crypto::agreement;
use crate::crypto::modp::ModpGroup;
use crate::operation::{Curve, HashAlgorithm, Operation};
use airtoll_security::rc4::Rc4;

impl Context<'_> {
    /// Names hash work of `blocks` compressions.
    pub fn record_hash(&mut self, algorithm: HashAlgorithm, blocks: u64) {
        self.record(Operation::Hash { algorithm, blocks });
    }

    /// Names AES work.
    pub fn record_aes(&mut self, key_octets: usize, blocks: usize) {
        self.record(Operation::Aes {
            key_bits: if key_octets == 32 {
                256
            } else if key_octets == 24 {
                192
            } else {
                128
            },
            blocks: blocks as u64,
        });
    }

    /// Random octets of any number, recorded.
    pub fn random_octets(&mut self, octets: usize) -> Vec<u8> {
        let mut out = vec![0; octets];
        self.rng().fill_bytes(&mut out);
        self.record(Operation::Random {
            octets: octets as u64,
        });
        out
    }

    /// Digest of the concatenated parts.
    pub fn hash(&mut self, algorithm: HashAlgorithm, parts: &[&[u8]]) -> Vec<u8> {
        self.record_hash(algorithm, algorithm.blocks(octets(parts)));
        match algorithm {
            HashAlgorithm::Md4 => digest::<Md4>(parts),
            HashAlgorithm::Md5 => digest::<Md5>(parts),
            HashAlgorithm::Sha1 => digest::<Sha1>(parts),
            HashAlgorithm::Sha256 => digest::<Sha256>(parts),
            HashAlgorithm::Sha384 => digest::<Sha384>(parts),
            HashAlgorithm::Sha512 => digest::<Sha512>(parts),
            HashAlgorithm::Blake2s => digest::<Blake2s256>(parts),
        }
    }

    /// HMAC (RFC 2104) of the concatenated parts.
    pub fn hmac(&mut self, algorithm: HashAlgorithm, key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
        self.record_hash(algorithm, algorithm.hmac_blocks(key.len(), octets(parts)));
        match algorithm {
            HashAlgorithm::Md4 => mac::<Hmac<Md4>>(key, parts),
            HashAlgorithm::Md5 => mac::<Hmac<Md5>>(key, parts),
            HashAlgorithm::Sha1 => mac::<Hmac<Sha1>>(key, parts),
            HashAlgorithm::Sha256 => mac::<Hmac<Sha256>>(key, parts),
            HashAlgorithm::Sha384 => mac::<Hmac<Sha384>>(key, parts),
            HashAlgorithm::Sha512 => mac::<Hmac<Sha512>>(key, parts),
            HashAlgorithm::Blake2s => mac::<SimpleHmac<Blake2s256>>(key, parts),
        }
    }

    /// HKDF-Expand (RFC 5869 section 2.3).
    pub fn hkdf_expand(
        &mut self,
        algorithm: HashAlgorithm,
        key: &[u8],
        info: &[u8],
        length: usize,
    ) -> Vec<u8> {
        let mut out = Vec::new();
        let mut block = Vec::new();
        let mut counter = 1_u8;
        while out.len() < length {
            block = self.hmac(algorithm, key, &[&block, info, &[counter]]);
            out.extend(&block);
            counter = counter.wrapping_add(1);
        }
        out.truncate(length);
        out
    }

    /// AES-GCM with a 12-octet nonce and a key of 16 or 32 octets: ciphertext and tag.
    pub fn aes_gcm_seal(&mut self, key: &[u8], nonce: &[u8], aad: &[u8], msg: &[u8]) -> Vec<u8> {
        // One block for the hash key, one for the tag's mask, one per 16 octets of message.
        self.record_aes(key.len(), 2 + msg.len().div_ceil(16));
        let payload = Payload { msg, aad };
        let nonce = nonce_of(nonce);
        if key.len() == 32 {
            aes_gcm::Aes256Gcm::new(&key_of(key)).encrypt(&nonce, payload)
        } else {
            aes_gcm::Aes128Gcm::new(&key_of(key)).encrypt(&nonce, payload)
        }
        .unwrap_or_default()
    }

    /// Undoes [`Self::aes_gcm_seal`]; `None` when the tag is wrong.
    pub fn aes_gcm_open(
        &mut self,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        msg: &[u8],
    ) -> Option<Vec<u8>> {
        self.record_aes(key.len(), 2 + msg.len().saturating_sub(16).div_ceil(16));
        let payload = Payload { msg, aad };
        let nonce = nonce_of(nonce);
        if key.len() == 32 {
            aes_gcm::Aes256Gcm::new(&key_of(key)).decrypt(&nonce, payload)
        } else {
            aes_gcm::Aes128Gcm::new(&key_of(key)).decrypt(&nonce, payload)
        }
        .ok()
    }

    /// X25519 (RFC 7748 section 5).
    pub fn x25519(&mut self, secret: &[u8; 32], point: &[u8; 32]) -> [u8; 32] {
        self.record(Operation::EcScalarMul {
            curve: Curve::X25519,
            count: 1,
        });
        agreement::x25519(secret, point)
    }

    /// ChaCha20-Poly1305 (RFC 8439): ciphertext and tag.
    pub fn chacha_seal(&mut self, key: &[u8], nonce: &[u8], aad: &[u8], msg: &[u8]) -> Vec<u8> {
        self.record(Operation::ChaCha20Poly1305 {
            octets: (msg.len() + aad.len()) as u64,
        });
        chacha20poly1305::ChaCha20Poly1305::new(&key_of(key))
            .encrypt(&nonce_of(nonce), Payload { msg, aad })
            .unwrap_or_default()
    }

    /// Undoes [`Self::chacha_seal`]; `None` when the tag is wrong.
    pub fn chacha_open(
        &mut self,
        key: &[u8],
        nonce: &[u8],
        aad: &[u8],
        msg: &[u8],
    ) -> Option<Vec<u8>> {
        self.record(Operation::ChaCha20Poly1305 {
            octets: (msg.len().saturating_sub(16) + aad.len()) as u64,
        });
        chacha20poly1305::ChaCha20Poly1305::new(&key_of(key))
            .decrypt(&nonce_of(nonce), Payload { msg, aad })
            .ok()
    }

    /// XChaCha20-Poly1305 (draft-irtf-cfrg-xchacha) with a nonce of 24 octets: ciphertext and tag.
    pub fn xchacha_seal(
        &mut self,
        key: &[u8],
        nonce: &[u8; 24],
        aad: &[u8],
        msg: &[u8],
    ) -> Vec<u8> {
        self.record(Operation::ChaCha20Poly1305 {
            octets: (msg.len() + aad.len()) as u64,
        });
        chacha20poly1305::XChaCha20Poly1305::new(&key_of(key))
            .encrypt(&(*nonce).into(), Payload { msg, aad })
            .unwrap_or_default()
    }

    /// Undoes [`Self::xchacha_seal`]; `None` when the tag is wrong.
    pub fn xchacha_open(
        &mut self,
        key: &[u8],
        nonce: &[u8; 24],
        aad: &[u8],
        msg: &[u8],
    ) -> Option<Vec<u8>> {
        self.record(Operation::ChaCha20Poly1305 {
            octets: (msg.len().saturating_sub(16) + aad.len()) as u64,
        });
        chacha20poly1305::XChaCha20Poly1305::new(&key_of(key))
            .decrypt(&(*nonce).into(), Payload { msg, aad })
            .ok()
    }

    /// Encrypts whole blocks in CBC mode: AES for keys of 16 or 32 octets, triple DES for 24.
    pub fn cbc_encrypt(&mut self, key: &[u8], iv: &[u8], data: &[u8]) -> Vec<u8> {
        self.record_block_cipher(key.len(), data.len());
        match key.len() {
            8 => cbc_encrypt(&des::Des::new(&key_of(key)), iv, data),
            24 => cbc_encrypt(&des::TdesEde3::new(&key_of(key)), iv, data),
            32 => cbc_encrypt(&aes::Aes256::new(&key_of(key)), iv, data),
            _ => cbc_encrypt(&aes::Aes128::new(&key_of(key)), iv, data),
        }
    }

    /// Undoes [`Self::cbc_encrypt`]; `None` unless `data` is whole blocks.
    pub fn cbc_decrypt(&mut self, key: &[u8], iv: &[u8], data: &[u8]) -> Option<Vec<u8>> {
        self.record_block_cipher(key.len(), data.len());
        match key.len() {
            8 => cbc_decrypt(&des::Des::new(&key_of(key)), iv, data),
            24 => cbc_decrypt(&des::TdesEde3::new(&key_of(key)), iv, data),
            32 => cbc_decrypt(&aes::Aes256::new(&key_of(key)), iv, data),
            _ => cbc_decrypt(&aes::Aes128::new(&key_of(key)), iv, data),
        }
    }

    /// One DES block with a 56-bit key given as 7 octets (MS-CHAP's DesEncrypt, RFC 2433
    /// appendix A.2).
    pub fn des_encrypt_7(&mut self, key: &[u8; 7], block: &[u8; 8]) -> [u8; 8] {
        self.record(Operation::Des { blocks: 1 });
        let bits = key
            .iter()
            .fold(0_u64, |bits, octet| bits << 8 | u64::from(*octet));
        let mut spread = [0; 8];
        for (index, octet) in spread.iter_mut().enumerate() {
            *octet = ((bits >> (49 - 7 * index)) & 0x7f) as u8;
            *octet <<= 1;
        }
        let mut array = Array::from(*block);
        des::Des::new(&Array::from(spread)).encrypt_block(&mut array);
        array.into()
    }

    /// XORs an RC4 key stream over `data` after discarding `skip` octets of it.
    pub fn rc4(&mut self, key: &[u8], skip: usize, data: &mut [u8]) {
        self.record(Operation::Rc4 {
            octets: (skip + data.len()) as u64,
        });
        let mut stream = Rc4::new(key);
        stream.skip(skip);
        stream.apply(data);
    }

    /// `base`, or the generator, to the power `exponent` in a MODP group; `None` for a base that is no
    /// element but 1 and -1. Base and exponent are as long as the prime.
    pub fn modp_power(
        &mut self,
        group: ModpGroup,
        base: Option<&[u8]>,
        exponent: &[u8],
    ) -> Option<Vec<u8>> {
        let power = match base {
            Some(base) => group.power(base, exponent)?,
            None => group.generator_power(exponent),
        };
        let bits = |octets: usize| u16::try_from(octets * 8).unwrap_or(u16::MAX);
        self.record(Operation::ModExp {
            modulus_bits: bits(group.octets()),
            exponent_bits: bits(exponent.len()),
            count: 1,
        });
        Some(power)
    }

    /// AES-256 in counter mode with a counter of 128 bits (NIST SP 800-38A, 6.5), in place.
    pub fn aes_256_ctr(&mut self, key: &[u8; 32], initial: [u8; 16], data: &mut [u8]) {
        self.record_aes(32, data.len().div_ceil(16));
        let cipher = aes::Aes256::new(&Array::from(*key));
        let mut counter = u128::from_be_bytes(initial);
        for chunk in data.chunks_mut(16) {
            let mut block = Array::from(counter.to_be_bytes());
            cipher.encrypt_block(&mut block);
            for (octet, value) in chunk.iter_mut().zip(block) {
                *octet ^= value;
            }
            counter = counter.wrapping_add(1);
        }
    }

    fn record_block_cipher(&mut self, key_octets: usize, data_octets: usize) {
        match key_octets {
            8 => self.record(Operation::Des {
                blocks: (data_octets / 8) as u64,
            }),
            24 => self.record(Operation::Des {
                blocks: (data_octets / 8 * 3) as u64,
            }),
            _ => self.record_aes(key_octets, data_octets / 16),
        }
    }
}

fn octets(parts: &[&[u8]]) -> usize {
    parts.iter().map(|part| part.len()).sum()
}

fn digest<D: Digest>(parts: &[&[u8]]) -> Vec<u8> {
    let mut state = D::new();
    for part in parts {
        state.update(part);
    }
    state.finalize().to_vec()
}

fn mac<M: Mac + KeyInit>(key: &[u8], parts: &[&[u8]]) -> Vec<u8> {
    // HMAC takes a key of any length, so the error cannot occur.
    let Ok(mut state) = <M as KeyInit>::new_from_slice(key) else {
        return Vec::new();
    };
    for part in parts {
        state.update(part);
    }
    state.finalize().into_bytes().to_vec()
}

/// A key of the length that the cipher takes; a shorter one is filled with zeros, so that a
/// wrong length shows as a failed check and never as a panic.
fn key_of<N: aes::cipher::array::ArraySize>(key: &[u8]) -> Array<u8, N> {
    let mut array = Array::default();
    let length = key.len().min(array.len());
    array[..length].copy_from_slice(&key[..length]);
    array
}

fn nonce_of<N: aes::cipher::array::ArraySize>(nonce: &[u8]) -> Array<u8, N> {
    key_of(nonce)
}

fn cbc_encrypt<C: BlockCipherEncrypt>(cipher: &C, iv: &[u8], data: &[u8]) -> Vec<u8> {
    let mut previous = key_of::<C::BlockSize>(iv);
    let mut out = Vec::with_capacity(data.len());
    for chunk in data.chunks_exact(previous.len()) {
        for (octet, value) in previous.iter_mut().zip(chunk) {
            *octet ^= value;
        }
        cipher.encrypt_block(&mut previous);
        out.extend_from_slice(&previous);
    }
    out
}

fn cbc_decrypt<C: BlockCipherDecrypt>(cipher: &C, iv: &[u8], data: &[u8]) -> Option<Vec<u8>> {
    let mut previous = key_of::<C::BlockSize>(iv);
    if !data.len().is_multiple_of(previous.len()) {
        return None;
    }
    let mut out = Vec::with_capacity(data.len());
    for chunk in data.chunks_exact(previous.len()) {
        let sealed = key_of::<C::BlockSize>(chunk);
        let mut block = sealed.clone();
        cipher.decrypt_block(&mut block);
        out.extend(block.iter().zip(&previous).map(|(a, b)| a ^ b));
        previous = sealed;
    }
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn known_answers() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        // RFC 2202 section 2, test case 1.
        assert_eq!(
            cx.hmac(HashAlgorithm::Md5, &[0x0b; 16], &[b"Hi There"]),
            hex!("9294727a3638bb1c13f48ef8158bfc9d")
        );
        // draft-irtf-cfrg-xchacha-03, appendix A.3.1.
        let key: Vec<u8> = (0x80..0xa0).collect();
        let nonce = hex!("404142434445464748494a4b4c4d4e4f5051525354555657");
        let aad = hex!("50515253c0c1c2c3c4c5c6c7");
        let plain = b"Ladies and Gentlemen of the class of '99: If I could offer you only one tip \
            for the future, sunscreen would be it.";
        let sealed = cx.xchacha_seal(&key, &nonce, &aad, plain);
        assert_eq!(
            sealed,
            hex!(
                "bd6d179d3e83d43b9576579493c0e939572a1700252bfaccbed2902c21396cbb"
                "731c7f1b0b4aa6440bf3a82f4eda7e39ae64c6708c54c216cb96b72e1213b452"
                "2f8c9ba40db5d945b11b69b982c1bb9e3f3fac2bc369488f76b2383565d3fff9"
                "21f9664c97637da9768812f615c68b13b52ec0875924c1c7987947deafd8780acf49"
            )
        );
        assert_eq!(
            cx.xchacha_open(&key, &nonce, &aad, &sealed).as_deref(),
            Some(&plain[..])
        );
        // RFC 3602 section 4, case 1.
        let key = hex!("06a9214036b8a15b512e03d534120006");
        let iv = hex!("3dafba429d9eb430b422da802c9fac41");
        let sealed = cx.cbc_encrypt(&key, &iv, b"Single block msg");
        assert_eq!(sealed, hex!("e353779c1079aeb82708942dbe77181a"));
        assert_eq!(
            cx.cbc_decrypt(&key, &iv, &sealed).as_deref(),
            Some(&b"Single block msg"[..])
        );
        // NIST SP 800-38A, F.5.5: the first two blocks.
        let key = hex!("603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4");
        let counter = hex!("f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff");
        let mut data = hex!("6bc1bee22e409f96e93d7e117393172aae2d8a571e03ac9c9eb76fac45af8e51");
        cx.aes_256_ctr(&key, counter, &mut data);
        assert_eq!(
            data,
            hex!("601ec313775789a5b7a7f504bbf3d228f443e3ca4d62b59aca84e990cacaf5c5")
        );
        // RFC 2759 section 9.2: DesEncrypt of the challenge with the first 7 octets of the hash.
        let block = cx.des_encrypt_7(&hex!("44ebba8d5312b8"), &hex!("d02e4386bce91226"));
        assert_eq!(block, hex!("82309ecd8d708b5e"));
    }

    #[test]
    fn work_is_named_as_it_is_done() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        cx.hash(HashAlgorithm::Sha256, &[&[0; 64]]);
        cx.aes_gcm_seal(&[0; 16], &[0; 12], &[], &[0; 20]);
        assert_eq!(
            cx.finish().operations,
            [
                Operation::Hash {
                    algorithm: HashAlgorithm::Sha256,
                    blocks: 2
                },
                Operation::Aes {
                    key_bits: 128,
                    blocks: 4
                }
            ]
        );
    }
}
