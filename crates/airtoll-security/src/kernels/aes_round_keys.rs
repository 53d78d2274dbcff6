//! The AES key schedule, for the kernels that run the rounds themselves.
//!
//! Takes a key of 16 or 32 octets; gives 11 or 15 round keys that erase themselves. Never
//! encrypts a block.

#![expect(unsafe_code, reason = "AES-NI gives SubWord in constant time")]

use core::arch::x86_64::{_mm_aeskeygenassist_si128, _mm_extract_epi32, _mm_set1_epi32};
use zeroize::{Zeroize, ZeroizeOnDrop};

/// Round keys of AES-128 (10 rounds) or AES-256 (14 rounds) (FIPS 197, 5.2).
#[derive(Clone, Zeroize, ZeroizeOnDrop)]
#[repr(C, align(64))]
pub struct RoundKeys {
    pub(super) keys: [[u8; 16]; 15],
    #[zeroize(skip)]
    pub(super) rounds: usize,
}

impl RoundKeys {
    /// Expands a key; none if it has other than 16 or 32 octets or the processor has no AES-NI.
    #[must_use]
    pub fn new(key: &[u8]) -> Option<Self> {
        if !matches!(key.len(), 16 | 32) || !super::Engine::AesNi.is_available() {
            return None;
        }
        // SAFETY: the features of `expand` were just detected.
        Some(unsafe { expand(key) })
    }
}

#[target_feature(enable = "aes,sse4.1")]
fn sub_word(word: u32) -> u32 {
    let spread = _mm_set1_epi32(word.cast_signed());
    _mm_extract_epi32::<0>(_mm_aeskeygenassist_si128::<0>(spread)).cast_unsigned()
}

#[target_feature(enable = "aes,sse4.1")]
fn expand(key: &[u8]) -> RoundKeys {
    let words = key.len() / 4;
    let rounds = words + 6;
    let mut w = [0u32; 60];
    for (word, octets) in w.iter_mut().zip(key.chunks_exact(4)) {
        *word = u32::from_le_bytes([octets[0], octets[1], octets[2], octets[3]]);
    }
    let mut constant = 1u32;
    for i in words..4 * (rounds + 1) {
        let mut t = w[i - 1];
        if i % words == 0 {
            t = sub_word(t).rotate_right(8) ^ constant;
            constant = (constant << 1) ^ if constant & 0x80 != 0 { 0x11b } else { 0 };
        } else if words > 6 && i % words == 4 {
            t = sub_word(t);
        }
        w[i] = w[i - words] ^ t;
    }
    let mut out = RoundKeys {
        keys: [[0; 16]; 15],
        rounds,
    };
    for (round, words) in out.keys.iter_mut().zip(w.chunks_exact(4)) {
        for (octets, word) in round.chunks_exact_mut(4).zip(words) {
            octets.copy_from_slice(&word.to_le_bytes());
        }
    }
    w.zeroize();
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// FIPS 197, A.1 and A.3: last round keys.
    #[test]
    fn fips_197_appendix_a() {
        let Some(keys) = RoundKeys::new(&hex!("2b7e151628aed2a6abf7158809cf4f3c")) else {
            return;
        };
        assert_eq!(keys.keys[10], hex!("d014f9a8c9ee2589e13f0cc8b6630ca6"));
        let keys = RoundKeys::new(&hex!(
            "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4"
        ))
        .unwrap();
        assert_eq!(keys.keys[14], hex!("fe4890d1e6188d0b046df344706c631e"));
        assert!(RoundKeys::new(&[0; 24]).is_none());
    }
}
