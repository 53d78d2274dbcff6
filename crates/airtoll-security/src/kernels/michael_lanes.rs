//! Michael over up to sixteen messages at once, with AVX-512.
//!
//! Takes a key, a 16-octet header and a message for each lane; gives their MICs. Never reads
//! beyond a message.

#![expect(unsafe_code, reason = "AVX-512 gathers through message pointers")]

use core::arch::x86_64::{
    __m256i, __m512i, _mm_set_epi8, _mm256_setzero_si256, _mm512_add_epi32, _mm512_add_epi64,
    _mm512_broadcast_i32x4, _mm512_inserti64x4, _mm512_loadu_si512, _mm512_mask_i64gather_epi32,
    _mm512_mask_mov_epi32, _mm512_rol_epi32, _mm512_ror_epi32, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_shuffle_epi8, _mm512_storeu_si512, _mm512_xor_si512,
};

use super::Engine;

/// Messages at once.
pub const LANES: usize = 16;

/// MICs of up to sixteen messages, each with its own key and header; unused lanes stay zero.
///
/// # Panics
/// On a processor without [`Engine::Vaes`], or slices of different lengths or above sixteen.
#[must_use]
pub fn run(keys: &[[u8; 8]], headers: &[[u8; 16]], messages: &[&[u8]]) -> [[u8; 8]; LANES] {
    assert!(Engine::Vaes.is_available(), "no AVX-512 here");
    assert!(messages.len() <= LANES, "sixteen messages at most");
    assert!(keys.len() == messages.len() && headers.len() == messages.len());
    // SAFETY: the features of `batch` were just detected.
    unsafe { batch(keys, headers, messages) }
}

#[target_feature(enable = "avx512f,avx512bw")]
fn batch(keys: &[[u8; 8]], headers: &[[u8; 16]], messages: &[&[u8]]) -> [[u8; 8]; LANES] {
    let word = |octets: &[u8]| u32::from_le_bytes(octets.try_into().expect("four octets"));
    let mut lane_l = [0u32; LANES];
    let mut lane_r = [0u32; LANES];
    let mut head = [[0u32; LANES]; 4];
    let mut tail = [0x5au32; LANES];
    let mut words = [0usize; LANES];
    let mut pointers = [0u64; LANES];
    for (lane, message) in messages.iter().enumerate() {
        lane_l[lane] = word(&keys[lane][..4]);
        lane_r[lane] = word(&keys[lane][4..]);
        for (i, row) in head.iter_mut().enumerate() {
            row[lane] = word(&headers[lane][4 * i..4 * i + 4]);
        }
        let rest = message.chunks_exact(4).remainder();
        let mut last = [0; 4];
        last[..rest.len()].copy_from_slice(rest);
        last[rest.len()] = 0x5a;
        tail[lane] = u32::from_le_bytes(last);
        words[lane] = message.len() / 4;
        pointers[lane] = message.as_ptr() as u64;
    }
    let mut l = load(&lane_l);
    let mut r = load(&lane_r);
    for row in &head {
        l = _mm512_xor_si512(l, load(row));
        block(&mut l, &mut r);
    }
    let longest = words.iter().copied().max().unwrap_or(0);
    // SAFETY: eight 64-bit integers each.
    let (mut low, mut high) = unsafe {
        (
            _mm512_loadu_si512(pointers[..8].as_ptr().cast()),
            _mm512_loadu_si512(pointers[8..].as_ptr().cast()),
        )
    };
    let four = _mm512_set1_epi64(4);
    for w in 0..longest {
        let mut active = 0u16;
        for (lane, &count) in words.iter().enumerate() {
            active |= u16::from(w < count) << lane;
        }
        // SAFETY: a lane is gathered from only while word `w` lies inside its message; inactive
        // lanes are not accessed.
        let m = unsafe { gather(active, low, high) };
        let (mut next_l, mut next_r) = (_mm512_xor_si512(l, m), r);
        block(&mut next_l, &mut next_r);
        l = _mm512_mask_mov_epi32(l, active, next_l);
        r = _mm512_mask_mov_epi32(r, active, next_r);
        low = _mm512_add_epi64(low, four);
        high = _mm512_add_epi64(high, four);
    }
    l = _mm512_xor_si512(l, load(&tail));
    block(&mut l, &mut r);
    block(&mut l, &mut r);
    // SAFETY: sixteen 32-bit integers each.
    unsafe {
        _mm512_storeu_si512(lane_l.as_mut_ptr().cast(), l);
        _mm512_storeu_si512(lane_r.as_mut_ptr().cast(), r);
    }
    let mut out = [[0; 8]; LANES];
    for (lane, mic) in out.iter_mut().enumerate().take(messages.len()) {
        mic[..4].copy_from_slice(&lane_l[lane].to_le_bytes());
        mic[4..].copy_from_slice(&lane_r[lane].to_le_bytes());
    }
    out
}

#[target_feature(enable = "avx512f")]
#[inline]
fn load(words: &[u32; LANES]) -> __m512i {
    // SAFETY: sixteen 32-bit integers.
    unsafe { _mm512_loadu_si512(words.as_ptr().cast()) }
}

/// One 32-bit word for each lane whose bit is set in `active`.
///
/// # Safety
/// The addresses in the active lanes are valid for reads of four octets.
#[target_feature(enable = "avx512f")]
#[inline]
unsafe fn gather(active: u16, low: __m512i, high: __m512i) -> __m512i {
    let none: __m256i = _mm256_setzero_si256();
    // SAFETY: the caller's promise; base zero makes the index the address.
    let (a, b) = unsafe {
        (
            _mm512_mask_i64gather_epi32::<1>(none, active as u8, low, core::ptr::null()),
            _mm512_mask_i64gather_epi32::<1>(none, (active >> 8) as u8, high, core::ptr::null()),
        )
    };
    let both = _mm512_inserti64x4::<0>(_mm512_setzero_si512(), a);
    _mm512_inserti64x4::<1>(both, b)
}

/// The block function (IEEE 802.11-2020, 12.5.2.3.4).
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
fn block(l: &mut __m512i, r: &mut __m512i) {
    let swap = _mm512_broadcast_i32x4(_mm_set_epi8(
        14, 15, 12, 13, 10, 11, 8, 9, 6, 7, 4, 5, 2, 3, 0, 1,
    ));
    *r = _mm512_xor_si512(*r, _mm512_rol_epi32::<17>(*l));
    *l = _mm512_add_epi32(*l, *r);
    *r = _mm512_xor_si512(*r, _mm512_shuffle_epi8(*l, swap));
    *l = _mm512_add_epi32(*l, *r);
    *r = _mm512_xor_si512(*r, _mm512_rol_epi32::<3>(*l));
    *l = _mm512_add_epi32(*l, *r);
    *r = _mm512_xor_si512(*r, _mm512_ror_epi32::<2>(*l));
    *l = _mm512_add_epi32(*l, *r);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::link::michael::michael;

    #[test]
    fn lanes_are_the_single_message() {
        if !Engine::Vaes.is_available() {
            return;
        }
        let text: Vec<u8> = (0..3000u32).map(|i| (i * 17 % 251) as u8).collect();
        for count in 0..=16usize {
            for shift in 0..5 {
                let keys: Vec<[u8; 8]> = (0..count).map(|f| [f as u8 + 1; 8]).collect();
                let headers: Vec<[u8; 16]> = (0..count).map(|f| [f as u8 + 9; 16]).collect();
                let messages: Vec<&[u8]> = (0..count)
                    .map(|f| &text[f..f + f * (7 + shift) + shift])
                    .collect();
                let mics = run(&keys, &headers, &messages);
                for f in 0..count {
                    assert_eq!(mics[f], michael(&keys[f], &headers[f], messages[f]));
                }
            }
        }
    }
}
