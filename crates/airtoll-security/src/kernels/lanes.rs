//! Sixteen frames side by side in AVX-512 registers.
//!
//! Takes up to sixteen jobs; gives their pointers, lengths and first blocks in lane order, and the
//! masks that keep every access inside its frame. Never encrypts.

#![expect(
    unsafe_code,
    reason = "AVX-512 loads from aligned blocks and through frame pointers"
)]

use core::arch::x86_64::{
    __m512i, _mm512_load_si512, _mm512_mask_storeu_epi8, _mm512_maskz_loadu_epi8,
    _mm512_shuffle_i32x4, _mm512_store_si512,
};

use super::CcmJob;

/// Frames in lock step at most: four in each of four registers.
pub(super) const LANES: usize = 16;

/// One block for each lane.
#[repr(C, align(64))]
#[derive(Clone, Copy)]
pub(super) struct Blocks(pub [[u8; 16]; LANES]);

impl Blocks {
    pub const ZERO: Self = Self([[0; 16]; LANES]);

    /// The blocks of lanes `4 * group` to `4 * group + 3`.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn load(&self, group: usize) -> __m512i {
        let four: &[[u8; 16]] = &self.0[4 * group..4 * group + 4];
        // SAFETY: four blocks are 64 octets, and every fourth block of the struct is 64-aligned.
        unsafe { _mm512_load_si512(four.as_ptr().cast()) }
    }

    /// Stores the blocks of lanes `4 * group` to `4 * group + 3`.
    #[target_feature(enable = "avx512f")]
    #[inline]
    pub fn store(&mut self, group: usize, value: __m512i) {
        let four: &mut [[u8; 16]] = &mut self.0[4 * group..4 * group + 4];
        // SAFETY: as in `load`.
        unsafe { _mm512_store_si512(four.as_mut_ptr().cast(), value) };
    }
}

/// Up to sixteen jobs as the kernel wants them.
pub(super) struct Lanes {
    /// Start of each frame's payload; an idle lane has the pointer of lane 0 and no octets.
    pub data: [*mut u8; LANES],
    pub length: [usize; LANES],
    /// B0 of CBC-MAC (RFC 3610, 2.2).
    pub b0: Blocks,
    /// A0 of counter mode (RFC 3610, 2.3).
    pub a0: Blocks,
    pub aad: [Blocks; 2],
    /// Shortest frame, zero when a lane is idle.
    pub shortest: usize,
    pub longest: usize,
}

impl Lanes {
    /// Fills `width` lanes from the jobs that `order` names.
    #[inline(always)]
    pub fn gather(jobs: &mut [CcmJob<'_>], order: &[u16], width: usize, tag: usize) -> Self {
        let mut lanes = Self {
            data: [core::ptr::null_mut(); LANES],
            length: [0; LANES],
            b0: Blocks::ZERO,
            a0: Blocks::ZERO,
            aad: [Blocks::ZERO; 2],
            shortest: if order.len() < width { 0 } else { usize::MAX },
            longest: 0,
        };
        for lane in 0..width {
            let idle = lane >= order.len();
            let job = &mut jobs[usize::from(order[if idle { 0 } else { lane }])];
            let length = if idle { 0 } else { job.data.len() };
            lanes.data[lane] = job.data.as_mut_ptr();
            lanes.length[lane] = length;
            lanes.b0.0[lane] = job.first_block(tag);
            lanes.a0.0[lane] = job.counter;
            lanes.aad[0].0[lane].copy_from_slice(&job.aad[..16]);
            lanes.aad[1].0[lane].copy_from_slice(&job.aad[16..]);
            if !idle {
                lanes.shortest = lanes.shortest.min(length);
                lanes.longest = lanes.longest.max(length);
            }
        }
        lanes
    }

    /// Which 64-bit halves of a group's four blocks belong to frames with octets at `position`.
    #[inline(always)]
    pub fn active(&self, group: usize, position: usize) -> u8 {
        let mut mask = 0;
        for lane in 0..4 {
            if position < self.length[4 * group + lane] {
                mask |= 3 << (2 * lane);
            }
        }
        mask
    }
}

/// Which of the 64 octets at `offset` lie inside a frame of `length` octets.
#[inline(always)]
fn inside(length: usize, offset: usize) -> u64 {
    match length.saturating_sub(offset) {
        0 => 0,
        left @ 1..64 => (1 << left) - 1,
        _ => !0,
    }
}

/// Up to 64 octets of a lane's frame at `offset`, zero beyond its end.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn load_inside(lanes: &Lanes, lane: usize, offset: usize) -> __m512i {
    let mask = inside(lanes.length[lane], offset);
    // SAFETY: masked-off octets are not accessed, and the mask ends where the frame ends.
    unsafe { _mm512_maskz_loadu_epi8(mask, lanes.data[lane].wrapping_add(offset).cast()) }
}

/// Stores what of `value` lies inside a lane's frame at `offset`.
#[target_feature(enable = "avx512f,avx512bw")]
#[inline]
pub(super) fn store_inside(lanes: &Lanes, lane: usize, offset: usize, value: __m512i) {
    let mask = inside(lanes.length[lane], offset);
    // SAFETY: as in `load_inside`; the pointer came from the job's `&mut` data.
    unsafe {
        _mm512_mask_storeu_epi8(lanes.data[lane].wrapping_add(offset).cast(), mask, value);
    }
}

/// A counter value of octets 14 and 15 of a block, as the block's last 32-bit word.
#[inline(always)]
pub(super) fn counter_word(counter: u32) -> i32 {
    (((counter & 0xff) << 24) | ((counter & 0xff00) << 8)).cast_signed()
}

/// Transposes 4 x 4 blocks: block `j` of register `i` becomes block `i` of register `j`.
#[target_feature(enable = "avx512f")]
#[inline]
pub(super) fn transpose(v: [__m512i; 4]) -> [__m512i; 4] {
    let t0 = _mm512_shuffle_i32x4::<0x44>(v[0], v[1]);
    let t1 = _mm512_shuffle_i32x4::<0x44>(v[2], v[3]);
    let t2 = _mm512_shuffle_i32x4::<0xEE>(v[0], v[1]);
    let t3 = _mm512_shuffle_i32x4::<0xEE>(v[2], v[3]);
    [
        _mm512_shuffle_i32x4::<0x88>(t0, t1),
        _mm512_shuffle_i32x4::<0xDD>(t0, t1),
        _mm512_shuffle_i32x4::<0x88>(t2, t3),
        _mm512_shuffle_i32x4::<0xDD>(t2, t3),
    ]
}
