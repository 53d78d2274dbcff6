//! Any frames through every engine of this processor: the same octets and tags from all, and each
//! decrypts at once what it encrypted.

#![no_main]

use airtoll_security::ccm::CcmKey;
use airtoll_security::kernels::{CcmJob, Engine};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    long: bool,
    own_keys: bool,
    frames: Vec<(Vec<u8>, [u8; 13], [u8; 30], u8)>,
}

fuzz_target!(|input: Input| {
    let length = if input.long { 32 } else { 16 };
    let mut results = Engine::available().map(|engine| {
        let keys: Vec<CcmKey> = (0..input.frames.len().max(1))
            .map(|i| {
                let octet = if input.own_keys { i as u8 } else { 0 };
                CcmKey::with_engine(&vec![octet; length], engine).unwrap()
            })
            .collect();
        let refs: Vec<&CcmKey> = keys.iter().collect();
        let mut frames: Vec<Vec<u8>> = input.frames.iter().map(|frame| frame.0.clone()).collect();
        let mut jobs: Vec<CcmJob<'_>> = frames
            .iter_mut()
            .zip(&input.frames)
            .map(|(data, (_, nonce, aad, octets))| {
                CcmJob::new(data, *nonce, &aad[..15 + usize::from(octets % 16)])
            })
            .collect();
        jobs.iter_mut()
            .zip(&keys)
            .for_each(|(job, key)| key.seal(job));
        let tags: Vec<[u8; 16]> = jobs.iter().map(|job| job.tag).collect();
        let sealed = frames.clone();
        let mut jobs: Vec<CcmJob<'_>> = frames
            .iter_mut()
            .zip(&input.frames)
            .zip(&tags)
            .map(|((data, (_, nonce, aad, octets)), tag)| {
                let mut job = CcmJob::new(data, *nonce, &aad[..15 + usize::from(octets % 16)]);
                job.tag = *tag;
                job
            })
            .collect();
        CcmKey::unseal_batch(&refs, &mut jobs);
        assert!(jobs.iter().all(|job| job.authentic));
        assert!(
            frames
                .iter()
                .zip(&input.frames)
                .all(|(data, frame)| *data == frame.0)
        );
        (sealed, tags)
    });
    let first = results.next().expect("the portable engine");
    for other in results {
        assert_eq!(first, other);
    }
});
