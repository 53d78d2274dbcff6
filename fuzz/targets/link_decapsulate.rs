//! Any octets as a received frame, under every link cipher, with CCMP alone and in a batch: no panic,
//! and the same verdict both ways.

#![no_main]

use airtoll_security::CipherSuite;
use airtoll_security::link::IncomingMpdu;
use airtoll_security::link::bip::BipKey;
use airtoll_security::link::ccmp::CcmpKey;
use airtoll_security::link::gcmp::GcmpKey;
use airtoll_security::link::tkip::TkipKey;
use airtoll_security::link::wep::WepKey;
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
        let _ = tkip.decapsulate_msdu(&mut frame.clone());
        for key in &wep {
            let _ = key.decapsulate(&mut frame.clone());
        }
        for suite in CipherSuite::ALL {
            if let Ok(key) = BipKey::new(suite, &vec![1; suite.key_octets()]) {
                let _ = key.verify(frame);
            }
        }
    }
    for key in &ccmp {
        let mut alone = frames.clone();
        let mut together = frames.clone();
        let verdicts: Vec<_> = alone
            .iter_mut()
            .map(|frame| key.decapsulate(frame))
            .collect();
        let mut incoming: Vec<IncomingMpdu<'_>> = together
            .iter_mut()
            .map(|frame| IncomingMpdu::new(frame))
            .collect();
        CcmpKey::decapsulate_batch(&vec![key; frames.len()], &mut incoming);
        for (incoming, verdict) in incoming.into_iter().zip(verdicts) {
            assert_eq!(incoming.result, verdict);
        }
        assert_eq!(alone, together);
    }
});
