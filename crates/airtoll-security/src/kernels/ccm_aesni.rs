//! AES-CCM over one or four frames in lock step, with AES-NI.
//!
//! Takes jobs and their keys; encrypts one or decrypts several in place and leaves the tags. Never reads or writes an octet outside a job's data.

#![expect(unsafe_code, reason = "AES-NI loads and stores through frame pointers")]

use core::arch::x86_64::{
    __m128i, _mm_aesenc_si128, _mm_aesenclast_si128, _mm_loadu_si128, _mm_set_epi32,
    _mm_setzero_si128, _mm_storeu_si128, _mm_xor_si128,
};

use super::aes_round_keys::RoundKeys;
use super::{CcmJob, Engine};

/// Frames in lock step: with two blocks each in flight they fill the AES unit's pipeline and
/// still leave registers for the round keys.
pub const LANES: usize = 4;

/// Encrypts (`DECRYPT` false) or decrypts a job and leaves its tag of `tag` octets (8 or 16).
///
/// # Panics
/// On a processor without [`Engine::AesNi`].
pub fn one<const DECRYPT: bool>(key: &RoundKeys, job: &mut CcmJob<'_>, tag: usize) {
    assert!(Engine::AesNi.is_available(), "no AES-NI here");
    let jobs = core::slice::from_mut(job);
    // SAFETY: the features of `batch` were just detected.
    unsafe {
        if key.rounds == 10 {
            batch::<10, 1, DECRYPT>(&[key], jobs, &[0], tag);
        } else {
            batch::<14, 1, DECRYPT>(&[key], jobs, &[0], tag);
        }
    }
}

/// Decrypts the jobs that `order` names, job `i` under `keys[i]`, and leaves their tags of `tag`
/// octets (8 or 16).
///
/// # Panics
/// On a processor without [`Engine::AesNi`], fewer keys than jobs, keys of different lengths within
/// one group, or an index in `order` beyond `jobs`.
pub fn unseal(keys: &[&RoundKeys], jobs: &mut [CcmJob<'_>], order: &[u16], tag: usize) {
    assert!(Engine::AesNi.is_available(), "no AES-NI here");
    let (groups, rest) = order.as_chunks::<LANES>();
    for group in groups {
        let keys = group.map(|index| keys[usize::from(index)]);
        assert!(
            keys.iter().all(|key| key.rounds == keys[0].rounds),
            "keys of one length"
        );
        // SAFETY: the features of `batch` were just detected.
        unsafe {
            if keys[0].rounds == 10 {
                batch::<10, LANES, true>(&keys, jobs, group, tag);
            } else {
                batch::<14, LANES, true>(&keys, jobs, group, tag);
            }
        }
    }
    for &index in rest {
        let index = usize::from(index);
        one::<true>(keys[index], &mut jobs[index], tag);
    }
}

#[target_feature(enable = "aes,sse4.1,avx")]
fn batch<const ROUNDS: usize, const N: usize, const DECRYPT: bool>(
    keys: &[&RoundKeys; N],
    jobs: &mut [CcmJob<'_>],
    order: &[u16; N],
    tag: usize,
) {
    let zero = _mm_setzero_si128();
    let mut x = [zero; N];
    let mut s0 = [zero; N];
    let mut a0 = [zero; N];
    let mut length = [0usize; N];
    let mut data = [core::ptr::null_mut::<u8>(); N];
    let mut aad = [[zero; N]; 2];
    let (mut shortest, mut longest) = (usize::MAX, 0);
    for f in 0..N {
        let job = &mut jobs[usize::from(order[f])];
        x[f] = _mm_xor_si128(load(&job.first_block(tag)), round_key(keys[f], 0));
        a0[f] = _mm_xor_si128(load(&job.counter), round_key(keys[f], 0));
        s0[f] = a0[f];
        aad[0][f] = load(job.aad[..16].try_into().expect("16 octets"));
        aad[1][f] = load(job.aad[16..].try_into().expect("16 octets"));
        length[f] = job.data.len();
        data[f] = job.data.as_mut_ptr();
        shortest = shortest.min(length[f]);
        longest = longest.max(length[f]);
    }
    for r in 1..ROUNDS {
        for f in 0..N {
            let k = round_key(keys[f], r);
            x[f] = _mm_aesenc_si128(x[f], k);
            s0[f] = _mm_aesenc_si128(s0[f], k);
        }
    }
    for f in 0..N {
        let k = round_key(keys[f], ROUNDS);
        x[f] = _mm_aesenclast_si128(x[f], k);
        s0[f] = _mm_aesenclast_si128(s0[f], k);
    }
    for blocks in &aad {
        for f in 0..N {
            x[f] = _mm_xor_si128(x[f], _mm_xor_si128(blocks[f], round_key(keys[f], 0)));
        }
        for r in 1..ROUNDS {
            for f in 0..N {
                x[f] = _mm_aesenc_si128(x[f], round_key(keys[f], r));
            }
        }
        for f in 0..N {
            x[f] = _mm_aesenclast_si128(x[f], round_key(keys[f], ROUNDS));
        }
    }

    // Decryption authenticates one block behind, because the MAC covers what the counter gives.
    let lag = usize::from(DECRYPT);
    let full = shortest / 16;
    let total = longest.div_ceil(16);
    for block in 0..total + lag {
        let behind = block >= lag;
        let mac_block = if behind { block - lag } else { 0 };
        let counter = super::lanes::counter_word(block as u32 + 1);
        let counter = _mm_set_epi32(counter, 0, 0, 0);
        let whole = block < full && behind;
        let mut y = [zero; N];
        let mut stream = [zero; N];
        for f in 0..N {
            let text = if whole {
                // SAFETY: every frame has at least `16 * full` octets.
                unsafe { _mm_loadu_si128(data[f].add(16 * mac_block).cast()) }
            } else if behind {
                // SAFETY: `data[f]` is valid for `length[f]` octets.
                unsafe { load_part(data[f], length[f], mac_block) }
            } else {
                zero
            };
            let k = round_key(keys[f], 0);
            y[f] = _mm_xor_si128(_mm_xor_si128(x[f], k), text);
            stream[f] = _mm_xor_si128(a0[f], counter);
        }
        for r in 1..ROUNDS {
            for f in 0..N {
                let k = round_key(keys[f], r);
                y[f] = _mm_aesenc_si128(y[f], k);
                stream[f] = _mm_aesenc_si128(stream[f], k);
            }
        }
        for f in 0..N {
            let k = round_key(keys[f], ROUNDS);
            y[f] = _mm_aesenclast_si128(y[f], k);
            stream[f] = _mm_aesenclast_si128(stream[f], k);
            if whole {
                x[f] = y[f];
                // SAFETY: `16 * block + 16 <= 16 * full`, inside the frame.
                unsafe {
                    let at = data[f].add(16 * block);
                    let text = _mm_loadu_si128(at.cast());
                    _mm_storeu_si128(at.cast(), _mm_xor_si128(text, stream[f]));
                }
            } else {
                if behind && 16 * mac_block < length[f] {
                    x[f] = y[f];
                }
                // SAFETY: `data[f]` is valid for `length[f]` octets.
                unsafe { xor_part(data[f], length[f], block, stream[f]) };
            }
        }
    }
    for f in 0..N {
        // SAFETY: a tag has 16 octets.
        unsafe {
            _mm_storeu_si128(
                jobs[usize::from(order[f])].tag.as_mut_ptr().cast(),
                _mm_xor_si128(x[f], s0[f]),
            );
        }
    }
}

#[target_feature(enable = "sse4.1")]
#[inline]
fn round_key(keys: &RoundKeys, round: usize) -> __m128i {
    load(&keys.keys[round])
}

#[target_feature(enable = "sse4.1")]
#[inline]
fn load(block: &[u8; 16]) -> __m128i {
    // SAFETY: sixteen octets behind the reference.
    unsafe { _mm_loadu_si128(block.as_ptr().cast()) }
}

/// Block `block` of a frame, zero beyond its end.
///
/// # Safety
/// `data` is valid for reads of `length` octets.
#[target_feature(enable = "sse4.1")]
#[inline]
unsafe fn load_part(data: *const u8, length: usize, block: usize) -> __m128i {
    let mut octets = [0; 16];
    let left = length.saturating_sub(16 * block).min(16);
    if left > 0 {
        // SAFETY: `16 * block + left <= length`.
        unsafe {
            core::ptr::copy_nonoverlapping(data.add(16 * block), octets.as_mut_ptr(), left);
        }
    }
    load(&octets)
}

/// XORs key stream over what there is of block `block`.
///
/// # Safety
/// `data` is valid for reads and writes of `length` octets.
#[target_feature(enable = "sse4.1")]
#[inline]
unsafe fn xor_part(data: *mut u8, length: usize, block: usize, stream: __m128i) {
    let left = length.saturating_sub(16 * block).min(16);
    if left > 0 {
        let mut octets = [0u8; 16];
        // SAFETY: sixteen octets in the array; `16 * block + left <= length`.
        unsafe {
            let text = load_part(data, length, block);
            _mm_storeu_si128(octets.as_mut_ptr().cast(), _mm_xor_si128(text, stream));
            core::ptr::copy_nonoverlapping(octets.as_ptr(), data.add(16 * block), left);
        }
    }
}
