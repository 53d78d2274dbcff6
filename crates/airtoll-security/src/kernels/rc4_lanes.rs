//! RC4 over several frames at once, each with its own key.
//!
//! Takes keys and frames; XORs each frame's key stream over it. Never authenticates anything.
//!
//! One RC4 stream waits on its own table: every octet needs two loads and two stores that depend
//! on the last. Streams do not depend on each other, so interleaving a few fills the waiting time.
//! No `unsafe` is needed: indices are octets into tables of 256.

use zeroize::Zeroize;

/// Streams interleaved by [`apply`].
pub const LANES: usize = 4;

/// XORs RC4 key streams over frames, `LANES` at a time; frame `i` under `key(i)`, whose length is
/// 1 to 256 octets and the same for all.
///
/// # Panics
/// Keys of different lengths.
pub fn apply<const KEY: usize>(key: impl Fn(usize) -> [u8; KEY], data: &mut [&mut [u8]]) {
    let mut at = 0;
    while data.len() - at >= LANES {
        let keys: [[u8; KEY]; LANES] = core::array::from_fn(|i| key(at + i));
        let frames: &mut [&mut [u8]; LANES] = (&mut data[at..at + LANES])
            .try_into()
            .expect("slices of that size");
        lanes(keys, frames);
        at += LANES;
    }
    while at < data.len() {
        lanes([key(at)], core::array::from_mut(&mut data[at]));
        at += 1;
    }
}

/// As many streams as frames, in lock step for the length of the shortest frame and then alone.
#[inline(always)]
fn lanes<const KEY: usize, const N: usize>(mut keys: [[u8; KEY]; N], frames: &mut [&mut [u8]; N]) {
    let mut state = [[0u32; 256]; N];
    for table in &mut state {
        for (i, cell) in (0..).zip(table.iter_mut()) {
            *cell = i;
        }
    }
    let mut j = [0usize; N];
    let mut k = 0;
    for i in 0..256 {
        for f in 0..N {
            let x = state[f][i];
            j[f] = (j[f] + x as usize + usize::from(keys[f][k])) & 255;
            state[f][i] = state[f][j[f]];
            state[f][j[f]] = x;
        }
        k += 1;
        if k == KEY {
            k = 0;
        }
    }
    keys.zeroize();
    let shortest = frames.iter().map(|frame| frame.len()).min().unwrap_or(0);
    let together = shortest - shortest % 8;
    let mut i = 0usize;
    let mut j = [0usize; N];
    for at in (0..together).step_by(8) {
        let mut words = [0u64; N];
        for octet in 0..8 {
            i = (i + 1) & 255;
            for f in 0..N {
                words[f] |= u64::from(step(&mut state[f], i, &mut j[f])) << (8 * octet);
            }
        }
        for f in 0..N {
            let word: &mut [u8; 8] = (&mut frames[f][at..at + 8])
                .try_into()
                .expect("eight octets");
            *word = (u64::from_le_bytes(*word) ^ words[f]).to_le_bytes();
        }
    }
    for f in 0..N {
        let mut i = i;
        for octet in &mut frames[f][together..] {
            i = (i + 1) & 255;
            *octet ^= step(&mut state[f], i, &mut j[f]) as u8;
        }
    }
    state.zeroize();
}

#[inline(always)]
fn step(state: &mut [u32; 256], i: usize, j: &mut usize) -> u32 {
    let x = state[i];
    *j = (*j + x as usize) & 255;
    let y = state[*j];
    state[i] = y;
    state[*j] = x;
    state[(x + y) as usize & 255] & 255
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rc4::Rc4;

    #[test]
    fn lanes_are_the_single_stream() {
        for count in 0..=9 {
            let plain: Vec<Vec<u8>> = (0..count)
                .map(|f| (0..f * 37 % 100).map(|i| (i * 7 + f) as u8).collect())
                .collect();
            let mut frames = plain.clone();
            let key = |f: usize| -> [u8; 16] { core::array::from_fn(|i| (f * 31 + i * 5) as u8) };
            let mut refs: Vec<&mut [u8]> = frames.iter_mut().map(Vec::as_mut_slice).collect();
            apply(key, &mut refs);
            for (f, (frame, plain)) in frames.iter().zip(&plain).enumerate() {
                let mut expected = plain.clone();
                Rc4::new(&key(f)).apply(&mut expected);
                assert_eq!(frame, &expected, "frame {f} of {count}");
            }
        }
    }
}
