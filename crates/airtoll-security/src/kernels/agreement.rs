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

/// Encrypts the frames as one batch, compares with the reference, decrypts, compares again.
fn check(engine: Engine, frames: &[Frame], one_key: bool) {
    let keys: Vec<CcmKey> = frames
        .iter()
        .map(|frame| CcmKey::with_engine(&frame.key, engine).unwrap())
        .collect();
    let key_refs: Vec<&CcmKey> = keys.iter().collect();
    let mut buffers: Vec<Vec<u8>> = frames
        .iter()
        .map(|frame| [vec![0xa5; GUARD], frame.plain.clone(), vec![0xa5; GUARD]].concat())
        .collect();
    for opening in [false, true] {
        let mut jobs: Vec<CcmJob<'_>> = buffers
            .iter_mut()
            .zip(frames)
            .map(|(buffer, frame)| {
                let end = GUARD + frame.plain.len();
                let mut job = CcmJob::new(&mut buffer[GUARD..end], frame.nonce, &frame.aad);
                if opening {
                    let tag = frame.reference().1;
                    job.tag[..tag.len()].copy_from_slice(&tag);
                }
                job
            })
            .collect();
        match (one_key, opening) {
            (true, false) => keys[0].seal_batch(&mut jobs),
            (true, true) => keys[0].unseal_batch(&mut jobs),
            (false, false) => CcmKey::seal_batch_keys(&key_refs, &mut jobs),
            (false, true) => CcmKey::unseal_batch_keys(&key_refs, &mut jobs),
        }
        assert!(!opening || jobs.iter().all(|job| job.authentic));
        let tags: Vec<[u8; 16]> = jobs.iter().map(|job| job.tag).collect();
        for ((buffer, frame), tag) in buffers.iter().zip(frames).zip(tags) {
            let end = GUARD + frame.plain.len();
            let (cipher, expected) = frame.reference();
            let data = &buffer[GUARD..end];
            assert_eq!(
                data,
                if opening { &frame.plain } else { &cipher },
                "{}",
                engine.name()
            );
            assert_eq!(tag[..expected.len()], expected, "{}", engine.name());
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
                check(
                    engine,
                    &[Frame::new(length as u64 + 1, length, 22, &key)],
                    true,
                );
            }
            for count in [2, 3, 4, 5, 8, 9, 15, 16, 17, 33, 70] {
                let frames: Vec<Frame> = (0..count)
                    .map(|i| Frame::new(i as u64 + 7, i * 61 % 333, 22 + 2 * (i % 5), &key))
                    .collect();
                check(engine, &frames, true);
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn random_lengths_one_key(
        lengths in prop::collection::vec(0usize..=2304, 1..40),
        seed: u64,
        long: bool,
    ) {
        let key = vec![seed as u8; if long { 32 } else { 16 }];
        let frames: Vec<Frame> = lengths
            .iter()
            .enumerate()
            .map(|(i, &length)| Frame::new(seed ^ i as u64, length, 24, &key))
            .collect();
        for engine in Engine::available() {
            check(engine, &frames, true);
        }
    }

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
            check(engine, &frames, false);
        }
    }
}
