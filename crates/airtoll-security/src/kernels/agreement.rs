//! Every CCM kernel against every other and against the `ccm` crate.
//!
//! Takes nothing; gives tests over random lengths from 0 to 2304 octets and all tail sizes. Guard
//! octets around each payload show that nothing outside it is written.

use ccm::aead::inout::InOutBuf;
use ccm::consts::{U8, U13, U16};
use ccm::{AeadInOut, Ccm, KeyInit};
use proptest::prelude::*;

use super::{CcmJob, Engine};
use crate::ccm::CcmKey;

const GUARD: usize = 64;

struct Frame {
    plain: Vec<u8>,
    nonce: [u8; 13],
    aad: Vec<u8>,
    key: Vec<u8>,
}

impl Frame {
    fn new(seed: u64, length: usize, aad: usize, key: &[u8]) -> Self {
        let octet = |i: usize| (seed.wrapping_mul(i as u64 * 2 + 0x9e37_79b9) >> 17) as u8;
        Self {
            plain: (0..length).map(octet).collect(),
            nonce: core::array::from_fn(|i| octet(i + 5000)),
            aad: (0..aad).map(|i| octet(i + 6000)).collect(),
            key: key.to_vec(),
        }
    }

    /// Ciphertext and tag from the `ccm` crate.
    fn reference(&self) -> (Vec<u8>, Vec<u8>) {
        let mut data = self.plain.clone();
        let buffer = InOutBuf::from(data.as_mut_slice());
        let tag = if self.key.len() == 16 {
            Ccm::<aes::Aes128, U8, U13>::new_from_slice(&self.key)
                .unwrap()
                .encrypt_inout_detached(&self.nonce.into(), &self.aad, buffer)
                .unwrap()
                .to_vec()
        } else {
            Ccm::<aes::Aes256, U16, U13>::new_from_slice(&self.key)
                .unwrap()
                .encrypt_inout_detached(&self.nonce.into(), &self.aad, buffer)
                .unwrap()
                .to_vec()
        };
        (data, tag)
    }
}

/// The work on the frames.
#[derive(Clone, Copy, PartialEq)]
enum Work {
    Seal,
    Unseal,
    UnsealBatch,
}

/// Encrypts frame by frame, decrypts frame by frame and all at once, and compares each with the
/// reference.
fn check(engine: Engine, frames: &[Frame]) {
    let keys: Vec<CcmKey> = frames
        .iter()
        .map(|frame| CcmKey::with_engine(&frame.key, engine).unwrap())
        .collect();
    let key_refs: Vec<&CcmKey> = keys.iter().collect();
    let references: Vec<(Vec<u8>, Vec<u8>)> = frames.iter().map(Frame::reference).collect();
    for work in [Work::Seal, Work::Unseal, Work::UnsealBatch] {
        let mut buffers: Vec<Vec<u8>> = frames
            .iter()
            .zip(&references)
            .map(|(frame, (cipher, _))| {
                let given = if work == Work::Seal {
                    &frame.plain
                } else {
                    cipher
                };
                [&[0xa5; GUARD][..], given, &[0xa5; GUARD]].concat()
            })
            .collect();
        let mut jobs: Vec<CcmJob<'_>> = buffers
            .iter_mut()
            .zip(frames)
            .zip(&references)
            .map(|((buffer, frame), (cipher, tag))| {
                let data = &mut buffer[GUARD..GUARD + cipher.len()];
                let mut job = CcmJob::new(data, frame.nonce, &frame.aad);
                if work != Work::Seal {
                    job.tag[..tag.len()].copy_from_slice(tag);
                }
                job
            })
            .collect();
        match work {
            Work::Seal => keys
                .iter()
                .zip(&mut jobs)
                .for_each(|(key, job)| key.seal(job)),
            Work::Unseal => keys
                .iter()
                .zip(&mut jobs)
                .for_each(|(key, job)| key.unseal(job)),
            Work::UnsealBatch => CcmKey::unseal_batch(&key_refs, &mut jobs),
        }
        assert!(work == Work::Seal || jobs.iter().all(|job| job.authentic));
        let tags: Vec<[u8; 16]> = jobs.iter().map(|job| job.tag).collect();
        for (((buffer, frame), tag), (cipher, expected)) in
            buffers.iter().zip(frames).zip(tags).zip(&references)
        {
            let end = GUARD + frame.plain.len();
            let data = &buffer[GUARD..end];
            let wanted = if work == Work::Seal {
                cipher
            } else {
                &frame.plain
            };
            assert_eq!(data, wanted, "{}", engine.name());
            assert_eq!(tag[..expected.len()], *expected, "{}", engine.name());
            assert!(
                tag[expected.len()..].iter().all(|&o| o == 0),
                "cut to length"
            );
            assert!(
                buffer[..GUARD]
                    .iter()
                    .chain(&buffer[end..])
                    .all(|&o| o == 0xa5)
            );
        }
    }
}

#[test]
fn every_tail_size_alone_and_in_uneven_company() {
    for engine in Engine::available() {
        for key in [vec![0x42; 16], vec![0x17; 32]] {
            for length in (0..=200).chain([1499, 1500, 2303, 2304]) {
                check(engine, &[Frame::new(length as u64 + 1, length, 22, &key)]);
            }
            for count in [2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 70] {
                let frames: Vec<Frame> = (0..count)
                    .map(|i| Frame::new(i as u64 + 7, i * 61 % 333, 22 + 2 * (i % 5), &key))
                    .collect();
                check(engine, &frames);
            }
        }
    }
}

#[test]
fn keys_of_two_lengths_in_one_batch() {
    for engine in Engine::available() {
        let frames: Vec<Frame> = (0..20)
            .map(|i| Frame::new(i as u64 + 3, i * 37, 24, &[9; 32][..16 + 16 * (i % 2)]))
            .collect();
        check(engine, &frames);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn random_lengths_a_key_each(
        lengths in prop::collection::vec(0usize..=2304, 1..40),
        seed: u64,
        long: bool,
    ) {
        let frames: Vec<Frame> = lengths
            .iter()
            .enumerate()
            .map(|(i, &length)| {
                let key = vec![seed as u8 ^ i as u8; if long { 32 } else { 16 }];
                Frame::new(seed ^ i as u64, length, 30, &key)
            })
            .collect();
        for engine in Engine::available() {
            check(engine, &frames);
        }
    }
}
