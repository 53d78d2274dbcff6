//! AES-CCM decryption of up to sixteen frames, each under its own key, with AVX-512 and VAES.
//!
//! Takes jobs, a key for each and the order to take them in; decrypts them in place and leaves the
//! tags. Never reads or writes an octet outside a job's data.
//!
//! CBC-MAC is serial within a frame, so each of its registers holds one block of four different
//! frames. With a key per lane, counter mode does the same; its key stream is transposed back before
//! it meets the text. Both run in the same rounds, which hides their latency. A capture needs this:
//! neighbouring frames are of different stations.

#![expect(
    unsafe_code,
    reason = "AVX-512 loads and stores through frame pointers"
)]
#![expect(
    clippy::needless_range_loop,
    reason = "rounds and groups index several arrays in step, unrolled by the compiler"
)]

use core::arch::x86_64::{
    _mm_set_epi32, _mm512_aesenc_epi128, _mm512_aesenclast_epi128, _mm512_broadcast_i32x4,
    _mm512_loadu_si512, _mm512_mask_mov_epi64, _mm512_setzero_si512, _mm512_storeu_si512,
    _mm512_ternarylogic_epi64, _mm512_xor_si512,
};

use super::aes_round_keys::RoundKeys;
use super::lanes::{Blocks, LANES, Lanes, counter_word, load_inside, store_inside, transpose};
use super::{CcmJob, Engine};

/// Truth table of a three-way XOR.
const XOR3: i32 = 0x96;

/// Decrypts the jobs that `order` names, job `i` under `keys[i]`, and leaves their tags of `tag`
/// octets (8 or 16). All keys have the same length. Works in groups of sixteen, so frames of similar
/// length should stand next to each other in `order`.
///
/// # Panics
/// On a processor without [`Engine::Vaes`], fewer keys than jobs, keys of different lengths, or
/// an index in `order` beyond `jobs`.
pub fn unseal(keys: &[&RoundKeys], jobs: &mut [CcmJob<'_>], order: &[u16], tag: usize) {
    assert!(Engine::Vaes.is_available(), "no AVX-512 with VAES here");
    assert!(keys.len() >= jobs.len(), "a key for every job");
    let Some(first) = keys.first() else { return };
    assert!(
        keys.iter().all(|key| key.rounds == first.rounds),
        "keys of one length"
    );
    for group in order.chunks(LANES) {
        // SAFETY: the features of `batch` were just detected.
        unsafe {
            match (first.rounds, group.len()) {
                (10, ..=4) => batch::<10, 1>(keys, jobs, group, tag),
                (10, ..=8) => batch::<10, 2>(keys, jobs, group, tag),
                (10, _) => batch::<10, 4>(keys, jobs, group, tag),
                (_, ..=4) => batch::<14, 1>(keys, jobs, group, tag),
                (_, ..=8) => batch::<14, 2>(keys, jobs, group, tag),
                _ => batch::<14, 4>(keys, jobs, group, tag),
            }
        }
    }
}

#[target_feature(enable = "avx512f,avx512bw,avx512vl,avx512dq,vaes,aes,sse4.1,bmi2")]
fn batch<const ROUNDS: usize, const GROUPS: usize>(
    keys: &[&RoundKeys],
    jobs: &mut [CcmJob<'_>],
    order: &[u16],
    tag: usize,
) {
    let zero = _mm512_setzero_si512();
    let lanes = Lanes::gather(jobs, order, 4 * GROUPS, tag);
    let mut k = [[zero; 15]; GROUPS];
    {
        let mut blocks = [Blocks::ZERO; 15];
        for lane in 0..4 * GROUPS {
            let index = order[if lane < order.len() { lane } else { 0 }];
            let key = keys[usize::from(index)];
            for r in 0..=ROUNDS {
                blocks[r].0[lane] = key.keys[r];
            }
        }
        for r in 0..=ROUNDS {
            for g in 0..GROUPS {
                k[g][r] = blocks[r].load(g);
            }
        }
    }
    let mut x = [zero; GROUPS];
    let mut s0 = [zero; GROUPS];
    let mut a0 = [zero; GROUPS];
    for g in 0..GROUPS {
        x[g] = _mm512_xor_si512(lanes.b0.load(g), k[g][0]);
        a0[g] = _mm512_xor_si512(lanes.a0.load(g), k[g][0]);
        s0[g] = a0[g];
    }
    for r in 1..ROUNDS {
        for g in 0..GROUPS {
            x[g] = _mm512_aesenc_epi128(x[g], k[g][r]);
            s0[g] = _mm512_aesenc_epi128(s0[g], k[g][r]);
        }
    }
    for g in 0..GROUPS {
        x[g] = _mm512_aesenclast_epi128(x[g], k[g][ROUNDS]);
        s0[g] = _mm512_aesenclast_epi128(s0[g], k[g][ROUNDS]);
    }
    for blocks in &lanes.aad {
        for g in 0..GROUPS {
            x[g] = _mm512_ternarylogic_epi64::<XOR3>(x[g], blocks.load(g), k[g][0]);
        }
        for r in 1..ROUNDS {
            for g in 0..GROUPS {
                x[g] = _mm512_aesenc_epi128(x[g], k[g][r]);
            }
        }
        for g in 0..GROUPS {
            x[g] = _mm512_aesenclast_epi128(x[g], k[g][ROUNDS]);
        }
    }

    // The MAC runs one chunk behind, because it covers what the counter gives.
    let full = lanes.shortest / 64;
    let total = lanes.longest.div_ceil(64);
    for chunk in 0..=total {
        let offset = 64 * chunk;
        let behind = chunk > 0;
        let mac_offset = offset.saturating_sub(64);
        let whole = chunk < full && behind;
        let mut m = [[zero; 4]; GROUPS];
        let mut stream = [[zero; 4]; GROUPS];
        if behind {
            for g in 0..GROUPS {
                let mut text = [zero; 4];
                for i in 0..4 {
                    text[i] = if whole {
                        // SAFETY: every lane has at least `64 * full` octets.
                        unsafe { _mm512_loadu_si512(lanes.data[4 * g + i].add(mac_offset).cast()) }
                    } else {
                        load_inside(&lanes, 4 * g + i, mac_offset)
                    };
                }
                m[g] = transpose(text);
            }
        }
        for quarter in 0..4 {
            let counter = counter_word((4 * chunk + quarter + 1) as u32);
            let counter = _mm512_broadcast_i32x4(_mm_set_epi32(counter, 0, 0, 0));
            let mut y = [zero; GROUPS];
            let mut c = [zero; GROUPS];
            for g in 0..GROUPS {
                y[g] = _mm512_ternarylogic_epi64::<XOR3>(x[g], m[g][quarter], k[g][0]);
                c[g] = _mm512_xor_si512(a0[g], counter);
            }
            for r in 1..ROUNDS {
                for g in 0..GROUPS {
                    y[g] = _mm512_aesenc_epi128(y[g], k[g][r]);
                    c[g] = _mm512_aesenc_epi128(c[g], k[g][r]);
                }
            }
            for g in 0..GROUPS {
                y[g] = _mm512_aesenclast_epi128(y[g], k[g][ROUNDS]);
                stream[g][quarter] = _mm512_aesenclast_epi128(c[g], k[g][ROUNDS]);
                x[g] = if whole {
                    y[g]
                } else if behind {
                    let active = lanes.active(g, mac_offset + 16 * quarter);
                    _mm512_mask_mov_epi64(x[g], active, y[g])
                } else {
                    x[g]
                };
            }
        }
        if chunk < total {
            for g in 0..GROUPS {
                let of_frame = transpose(stream[g]);
                for i in 0..4 {
                    let lane = 4 * g + i;
                    if whole {
                        // SAFETY: `offset + 64 <= 64 * full`, inside every lane's frame.
                        unsafe {
                            let at = lanes.data[lane].add(offset);
                            let text = _mm512_loadu_si512(at.cast());
                            _mm512_storeu_si512(at.cast(), _mm512_xor_si512(text, of_frame[i]));
                        }
                    } else {
                        let text = load_inside(&lanes, lane, offset);
                        store_inside(&lanes, lane, offset, _mm512_xor_si512(text, of_frame[i]));
                    }
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
