//! Any octets as a received frame, under every link cipher, alone and in a batch: no panic, the
//! same verdict both ways, no plaintext after a refusal.

#![no_main]

use airtoll_security::link::bip::BipKey;
use airtoll_security::link::ccmp::CcmpKey;
use airtoll_security::link::gcmp::GcmpKey;
use airtoll_security::link::tkip::TkipKey;
use airtoll_security::link::wep::WepKey;
use airtoll_security::link::{Decapsulated, IncomingMpdu};
use airtoll_security::{CipherError, CipherSuite};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|frames: Vec<Vec<u8>>| {
    let ccmp = [
        CcmpKey::new(&[1; 16]).unwrap(),
        CcmpKey::new(&[2; 32]).unwrap(),
    ];
    let gcmp = [
        GcmpKey::new(&[1; 16]).unwrap(),
        GcmpKey::new(&[2; 32]).unwrap(),
    ];
    let wep = [
        WepKey::new(&[1; 5]).unwrap(),
        WepKey::new(&[2; 13]).unwrap(),
    ];
    let tkip = TkipKey::new(&[1; 32]).unwrap();
    for frame in &frames {
        for key in &gcmp {
            let _ = key.decapsulate(&mut frame.clone());
        }
        let _ = tkip.decapsulate(&mut frame.clone());
        for suite in CipherSuite::ALL {
            if let Ok(key) = BipKey::new(suite, &vec![1; suite.key_octets()]) {
                let _ = key.verify(frame);
            }
        }
    }
    for key in &ccmp {
        both(
            &frames,
            |frame| key.decapsulate(frame),
            |batch| key.decapsulate_batch(batch),
        );
    }
    for key in &wep {
        both(
            &frames,
            |frame| key.decapsulate(frame),
            |batch| key.decapsulate_batch(batch),
        );
    }
    both(
        &frames,
        |frame| tkip.decapsulate_msdu(frame),
        |batch| tkip.decapsulate_msdu_batch(batch),
    );
});

fn both(
    frames: &[Vec<u8>],
    single: impl Fn(&mut [u8]) -> Result<Decapsulated, CipherError>,
    batch: impl Fn(&mut [IncomingMpdu<'_>]),
) {
    let mut alone = frames.to_vec();
    let mut together = frames.to_vec();
    let verdicts: Vec<_> = alone.iter_mut().map(|frame| single(frame)).collect();
    let mut incoming: Vec<IncomingMpdu<'_>> = together
        .iter_mut()
        .map(|frame| IncomingMpdu::new(frame))
        .collect();
    batch(&mut incoming);
    for (incoming, verdict) in incoming.into_iter().zip(verdicts) {
        assert_eq!(incoming.result, verdict);
    }
    assert_eq!(alone, together);
}
