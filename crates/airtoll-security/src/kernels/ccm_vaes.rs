//! AES-CCM over up to sixteen frames under one key, with AVX-512 and VAES.
//!
//! Takes jobs and the order to take them in; encrypts or decrypts them in place and leaves the
//! tags. Never reads or writes an octet outside a job's data.
//!
//! CBC-MAC is serial within a frame, so each of its registers holds one block of four different
//! frames. Counter mode is not, so its registers hold four blocks of one frame, which needs no
//! transposition on the way out. Both run in the same rounds, which hides their latency.

#![expect(
    unsafe_code,
    reason = "AVX-512 loads and stores through frame pointers"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "rounds and groups index several arrays in step, unrolled by the compiler"
)]

use core::arch::x86_64::{
    __m512i, _mm_load_si128, _mm_loadu_si128, _mm512_aesenc_epi128, _mm512_aesenclast_epi128,
    _mm512_broadcast_i32x4, _mm512_loadu_si512, _mm512_mask_mov_epi64, _mm512_mask_storeu_epi8,
    _mm512_maskz_loadu_epi8, _mm512_set_epi32, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use super::aes_round_keys::RoundKeys;
use super::lanes::{Blocks, LANES, Lanes, counter_word, inside, transpose};
use super::{CcmJob, Engine};

/// Truth table of a three-way XOR.
const XOR3: i32 = 0x96;

/// Encrypts (`DECRYPT` false) or decrypts the jobs that `order` names and leaves their tags of
/// `tag` octets (8 or 16). Works in groups of sixteen, so frames of similar length should stand
/// next to each other in `order`.
///
/// # Panics
/// On a processor without [`Engine::Vaes`], or an index in `order` beyond `jobs`.
pub fn run<const DECRYPT: bool>(
    keys: &RoundKeys,
    jobs: &mut [CcmJob<'_>],
    order: &[u16],
    tag: usize,
) {
    assert!(Engine::Vaes.is_available(), "no AVX-512 with VAES here");
    for group in order.chunks(LANES) {
        // SAFETY: the features of `batch` were just detected.
        unsafe {
            match (keys.rounds, group.len()) {
                (10, ..=4) => batch::<10, 1, DECRYPT>(keys, jobs, group, tag),
                (10, ..=8) => batch::<10, 2, DECRYPT>(keys, jobs, group, tag),
                (10, _) => batch::<10, 4, DECRYPT>(keys, jobs, group, tag),
                (_, ..=4) => batch::<14, 1, DECRYPT>(keys, jobs, group, tag),
                (_, ..=8) => batch::<14, 2, DECRYPT>(keys, jobs, group, tag),
                _ => batch::<14, 4, DECRYPT>(keys, jobs, group, tag),
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,vaes,aes,sse4.1,bmi2")]
fn batch<const ROUNDS: usize, const GROUPS: usize, const DECRYPT: bool>(
    keys: &RoundKeys,
    jobs: &mut [CcmJob<'_>],
    order: &[u16],
    tag: usize,
) {
    let zero = _mm512_setzero_si512();
    let lanes = Lanes::gather(jobs, order, 4 * GROUPS, tag);
    let mut k = [zero; 15];
    for r in 0..=ROUNDS {
        // SAFETY: a round key has 16 octets.
        k[r] = _mm512_broadcast_i32x4(unsafe { _mm_loadu_si128(keys.keys[r].as_ptr().cast()) });
    }
    let mut x = [zero; GROUPS];
    let mut s0 = [zero; GROUPS];
    for g in 0..GROUPS {
        x[g] = _mm512_xor_si512(lanes.b0.load(g), k[0]);
        s0[g] = _mm512_xor_si512(lanes.a0.load(g), k[0]);
    }
    for r in 1..ROUNDS {
        for g in 0..GROUPS {
            x[g] = _mm512_aesenc_epi128(x[g], k[r]);
            s0[g] = _mm512_aesenc_epi128(s0[g], k[r]);
        }
    }
    for g in 0..GROUPS {
        x[g] = _mm512_aesenclast_epi128(x[g], k[ROUNDS]);
        s0[g] = _mm512_aesenclast_epi128(s0[g], k[ROUNDS]);
    }
    for blocks in &lanes.aad {
        for g in 0..GROUPS {
            x[g] = _mm512_ternarylogic_epi64::<XOR3>(x[g], blocks.load(g), k[0]);
        }
        for r in 1..ROUNDS {
            for g in 0..GROUPS {
                x[g] = _mm512_aesenc_epi128(x[g], k[r]);
            }
        }
        for g in 0..GROUPS {
            x[g] = _mm512_aesenclast_epi128(x[g], k[ROUNDS]);
        }
    }

    // Decryption authenticates one chunk behind, because the MAC covers what the counter gives.
    let lag = usize::from(DECRYPT);
    let full = lanes.shortest / 64;
    let total = lanes.longest.div_ceil(64);
    for chunk in 0..total + lag {
        let first = (4 * chunk + 1) as u32;
        let counters = _mm512_xor_si512(
            k[0],
            _mm512_set_epi32(
                counter_word(first + 3),
                0,
                0,
                0,
                counter_word(first + 2),
                0,
                0,
                0,
                counter_word(first + 1),
                0,
                0,
                0,
                counter_word(first),
                0,
                0,
                0,
            ),
        );
        let offset = 64 * chunk;
        let behind = chunk >= lag;
        let mac_offset = if behind { 64 * (chunk - lag) } else { 0 };
        if chunk < full && behind {
            let mut m = [[zero; 4]; GROUPS];
            for g in 0..GROUPS {
                // SAFETY: every lane has at least `64 * full` octets and `mac_offset <= offset`.
                m[g] = unsafe {
                    let at =
                        |i: usize| _mm512_loadu_si512(lanes.data[4 * g + i].add(mac_offset).cast());
                    transpose([at(0), at(1), at(2), at(3)])
                };
            }
            for quarter in 0..4 {
                let mut stream = [zero; GROUPS];
                for i in 0..GROUPS {
                    stream[i] = counter_blocks(&lanes.a0, quarter * GROUPS + i, counters);
                }
                for g in 0..GROUPS {
                    x[g] = _mm512_ternarylogic_epi64::<XOR3>(x[g], m[g][quarter], k[0]);
                }
                for r in 1..ROUNDS {
                    for g in 0..GROUPS {
                        x[g] = _mm512_aesenc_epi128(x[g], k[r]);
                        stream[g] = _mm512_aesenc_epi128(stream[g], k[r]);
                    }
                }
                for g in 0..GROUPS {
                    x[g] = _mm512_aesenclast_epi128(x[g], k[ROUNDS]);
                    stream[g] = _mm512_aesenclast_epi128(stream[g], k[ROUNDS]);
                }
                for i in 0..GROUPS {
                    // SAFETY: `offset + 64 <= 64 * full`, inside every lane's frame.
                    unsafe {
                        let at = lanes.data[quarter * GROUPS + i].add(offset);
                        let text = _mm512_loadu_si512(at.cast());
                        _mm512_storeu_si512(at.cast(), _mm512_xor_si512(text, stream[i]));
                    }
                }
            }
            continue;
        }
        // Chunks that some frame ends in, and the two edges of the lag: the same under masks.
        let mut m = [[zero; 4]; GROUPS];
        if behind {
            for g in 0..GROUPS {
                let at = |i: usize| load_inside(&lanes, 4 * g + i, mac_offset);
                m[g] = transpose([at(0), at(1), at(2), at(3)]);
            }
        }
        for quarter in 0..4 {
            let mut stream = [zero; GROUPS];
            for i in 0..GROUPS {
                stream[i] = counter_blocks(&lanes.a0, quarter * GROUPS + i, counters);
            }
            let position = mac_offset + 16 * quarter;
            if behind && position < lanes.longest {
                let mut y = [zero; GROUPS];
                for g in 0..GROUPS {
                    y[g] = _mm512_ternarylogic_epi64::<XOR3>(x[g], m[g][quarter], k[0]);
                }
                for r in 1..ROUNDS {
                    for g in 0..GROUPS {
                        y[g] = _mm512_aesenc_epi128(y[g], k[r]);
                        stream[g] = _mm512_aesenc_epi128(stream[g], k[r]);
                    }
                }
                for g in 0..GROUPS {
                    y[g] = _mm512_aesenclast_epi128(y[g], k[ROUNDS]);
                    x[g] = _mm512_mask_mov_epi64(x[g], lanes.active(g, position), y[g]);
                }
            } else if chunk < total {
                for r in 1..ROUNDS {
                    for g in 0..GROUPS {
                        stream[g] = _mm512_aesenc_epi128(stream[g], k[r]);
                    }
                }
            }
            if chunk < total {
                for i in 0..GROUPS {
                    let lane = quarter * GROUPS + i;
                    let stream = _mm512_aesenclast_epi128(stream[i], k[ROUNDS]);
                    let text = load_inside(&lanes, lane, offset);
                    store_inside(&lanes, lane, offset, _mm512_xor_si512(text, stream));
                }
            }
        }
    }
    let mut tags = Blocks::ZERO;
    for g in 0..GROUPS {
        tags.store(g, _mm512_xor_si512(x[g], s0[g]));
    }
    for (lane, &index) in order.iter().enumerate() {
        jobs[usize::from(index)].tag = tags.0[lane];
    }
}

/// Four counter blocks of one frame, whitened with the first round key.
#[target_feature(enable = "avx512f")]
#[inline]
fn counter_blocks(a0: &Blocks, lane: usize, counters: __m512i) -> __m512i {
    // SAFETY: a block has 16 octets and stands on a multiple of 16.
    let block = unsafe { _mm_load_si128(a0.0[lane].as_ptr().cast()) };
    _mm512_xor_si512(_mm512_broadcast_i32x4(block), counters)
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn load_inside(lanes: &Lanes, lane: usize, offset: usize) -> __m512i {
    let mask = inside(lanes.length[lane], offset);
    // SAFETY: masked-off octets are not accessed, and the mask ends where the frame ends.
    unsafe { _mm512_maskz_loadu_epi8(mask, lanes.data[lane].wrapping_add(offset).cast()) }
}

#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn store_inside(lanes: &Lanes, lane: usize, offset: usize, value: __m512i) {
    let mask = inside(lanes.length[lane], offset);
    // SAFETY: as in `load_inside`; the pointer came from the job's `&mut` data.
    unsafe {
        _mm512_mask_storeu_epi8(lanes.data[lane].wrapping_add(offset).cast(), mask, value);
    }
}
