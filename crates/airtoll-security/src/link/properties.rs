//! Properties every link cipher must have, and the one WEP must lack.
//!
//! Takes nothing; gives tests. Round trips, flipped bits, replays, hostile input, CCMP's batches
//! against single frames.

use proptest::prelude::*;

use super::replay::ReplayCounters;
use super::{Decapsulated, IncomingMpdu};
use crate::error::CipherError;
use crate::kernels::Engine;
use crate::link::bip::BipKey;
use crate::link::ccmp::CcmpKey;
use crate::link::gcmp::GcmpKey;
use crate::link::tkip::TkipKey;
use crate::link::wep::WepKey;
use crate::suite::CipherSuite;

enum Key {
    Wep(WepKey),
    Tkip(TkipKey),
    Ccmp(CcmpKey),
    Gcmp(GcmpKey),
}

const SUITES: [CipherSuite; 7] = [
    CipherSuite::Wep40,
    CipherSuite::Wep104,
    CipherSuite::Tkip,
    CipherSuite::Ccmp128,
    CipherSuite::Ccmp256,
    CipherSuite::Gcmp128,
    CipherSuite::Gcmp256,
];

impl Key {
    fn new(suite: CipherSuite, seed: u8) -> Self {
        let key: Vec<u8> = (0..suite.key_octets()).map(|i| seed ^ i as u8).collect();
        match suite {
            CipherSuite::Wep40 | CipherSuite::Wep104 => Self::Wep(WepKey::new(&key).unwrap()),
            CipherSuite::Tkip => Self::Tkip(TkipKey::new(&key).unwrap()),
            CipherSuite::Ccmp128 | CipherSuite::Ccmp256 => Self::Ccmp(CcmpKey::new(&key).unwrap()),
            _ => Self::Gcmp(GcmpKey::new(&key).unwrap()),
        }
    }

    fn encapsulate(&self, frame: &mut [u8], number: u64, id: u8) -> Result<(), CipherError> {
        match self {
            Self::Wep(key) => key.encapsulate(frame, number & 0xff_ffff, id),
            Self::Tkip(key) => key.encapsulate_msdu(frame, number, id),
            Self::Ccmp(key) => key.encapsulate(frame, number, id),
            Self::Gcmp(key) => key.encapsulate(frame, number, id),
        }
    }

    fn decapsulate(&self, frame: &mut [u8]) -> Result<Decapsulated, CipherError> {
        match self {
            Self::Wep(key) => key.decapsulate(frame),
            Self::Tkip(key) => key.decapsulate_msdu(frame),
            Self::Ccmp(key) => key.decapsulate(frame),
            Self::Gcmp(key) => key.decapsulate(frame),
        }
    }
}

/// MAC headers of every shape that carries protected data.
fn header() -> impl Strategy<Value = Vec<u8>> {
    (any::<[u8; 32]>(), 0usize..6).prop_map(|(octets, shape)| {
        let (control, flags, length) = [
            (0x08, 0x01, 24),
            (0x08, 0x02, 24),
            (0x08, 0x03, 30),
            (0x88, 0x01, 26),
            (0x88, 0x03, 32),
            (0x88, 0x82, 30),
        ][shape];
        let mut header = octets[..length.min(32)].to_vec();
        header[0] = control;
        header[1] = flags;
        header[22] &= 0xf0;
        header
    })
}

fn room(suite: CipherSuite, header: &[u8], payload: &[u8]) -> Vec<u8> {
    let trailer = suite.mic_octets() + suite.icv_octets() + suite.msdu_octets();
    [
        header,
        &vec![0; suite.header_octets()],
        payload,
        &vec![0; trailer],
    ]
    .concat()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn decapsulation_undoes_encapsulation(
        header in header(),
        payload in prop::collection::vec(any::<u8>(), 0..400),
        seed: u8,
        number in 1u64..1 << 48,
        id in 0u8..4,
    ) {
        for suite in SUITES {
            let key = Key::new(suite, seed);
            let mut frame = room(suite, &header, &payload);
            key.encapsulate(&mut frame, number, id).unwrap();
            prop_assert_eq!(
                frame.len(),
                header.len() + payload.len() + suite.frame_octets()
            );
            prop_assert_eq!(&frame[2..header.len()], &header[2..]);
            if payload.len() > 8 {
                let start = header.len() + suite.header_octets();
                prop_assert_ne!(&frame[start..start + payload.len()], payload.as_slice());
            }
            let found = key.decapsulate(&mut frame).unwrap();
            prop_assert_eq!(&frame[found.payload], payload.as_slice());
            prop_assert_eq!(found.key_id, id);
            let mask = if suite.header_octets() == 4 { 0xff_ffff } else { u64::MAX };
            prop_assert_eq!(found.packet_number, number & mask);
        }
    }

    /// Every bit of the frame body is covered, and of the header every bit that the AAD or the
    /// nonce covers; on failure no plaintext is left.
    #[test]
    fn flipped_bits_are_rejected(
        header in header(),
        payload in prop::collection::vec(1u8.., 16..200),
        seed: u8,
        at: prop::sample::Index,
        bit in 0u8..8,
    ) {
        for suite in SUITES {
            let key = Key::new(suite, seed);
            let mut frame = room(suite, &header, &payload);
            key.encapsulate(&mut frame, 77, 1).unwrap();
            let start = header.len() + suite.header_octets();
            let body = start + at.index(frame.len() - start);
            frame[body] ^= 1 << bit;
            prop_assert!(key.decapsulate(&mut frame).is_err());
            prop_assert!(frame[start..start + payload.len()].iter().all(|&o| o == 0));
        }
        for suite in [CipherSuite::Ccmp128, CipherSuite::Ccmp256, CipherSuite::Gcmp128] {
            let key = Key::new(suite, seed);
            let mut frame = room(suite, &header, &payload);
            key.encapsulate(&mut frame, 77, 1).unwrap();
            let address = 4 + at.index(18);
            frame[address] ^= 1 << bit;
            prop_assert_eq!(key.decapsulate(&mut frame), Err(CipherError::Integrity));
        }
    }

    /// Frames in any state, each under its own key: the verdict and the octets that each gets alone.
    #[test]
    fn a_batch_is_each_frame_alone(
        frames in prop::collection::vec(
            (header(), prop::collection::vec(any::<u8>(), 0..600), 0u8..4, any::<prop::sample::Index>()),
            0..140,
        ),
        long: bool,
    ) {
        let suite = if long { CipherSuite::Ccmp256 } else { CipherSuite::Ccmp128 };
        for engine in Engine::available() {
            let keys: Vec<CcmpKey> = (0..frames.len())
                .map(|i| {
                    CcmpKey::with_engine(&vec![i as u8; suite.key_octets()], engine).unwrap()
                })
                .collect();
            let mut many = Vec::new();
            for ((number, key), (header, payload, state, at)) in (0..).zip(&keys).zip(&frames) {
                let mut frame = room(suite, header, payload);
                match state {
                    // Never encapsulated, cut short, flipped, in order.
                    0 => {}
                    1 => frame.truncate(at.index(frame.len())),
                    _ => {
                        key.encapsulate(&mut frame, number, 2).unwrap();
                        if *state == 2 {
                            *at.get_mut(&mut frame) ^= 0x10;
                        }
                    }
                }
                many.push(frame);
            }
            let mut single = many.clone();
            let refs: Vec<&CcmpKey> = keys.iter().collect();
            let mut incoming: Vec<IncomingMpdu<'_>> =
                many.iter_mut().map(|frame| IncomingMpdu::new(frame)).collect();
            CcmpKey::decapsulate_batch(&refs, &mut incoming);
            for (((incoming, alone), key), (_, _, state, _)) in
                incoming.iter().zip(&mut single).zip(&keys).zip(&frames)
            {
                prop_assert_eq!(&incoming.result, &key.decapsulate(alone));
                prop_assert_eq!(&*incoming.frame, alone.as_slice());
                prop_assert!(*state < 3 || incoming.result.is_ok());
            }
        }
    }

    #[test]
    fn no_input_panics(mut frame in prop::collection::vec(any::<u8>(), 0..120), clear: bool) {
        if clear && !frame.is_empty() {
            frame[0] &= 0x88;
        }
        for suite in SUITES {
            let key = Key::new(suite, 9);
            let _ = key.decapsulate(&mut frame.clone());
            let _ = key.encapsulate(&mut frame.clone(), 5, 0);
        }
        for suite in CipherSuite::ALL {
            if let Ok(key) = BipKey::new(suite, &vec![1; suite.key_octets()]) {
                let _ = key.verify(&frame);
                let _ = key.protect(&mut frame.clone(), 5, 4);
            }
        }
    }

    /// BIP: round trip; every bit that the MIC covers.
    #[test]
    fn bip_covers_addresses_body_and_element(
        body in prop::collection::vec(any::<u8>(), 0..60),
        at: prop::sample::Index,
        bit in 0u8..8,
        number in 0u64..1 << 48,
    ) {
        for suite in CipherSuite::ALL {
            let Ok(key) = BipKey::new(suite, &vec![7; suite.key_octets()]) else {
                continue;
            };
            let mut frame = vec![0xc0, 0, 0, 0];
            frame.extend([0xff; 6]);
            frame.extend([2; 12]);
            frame.extend([0x50, 0x01]);
            frame.extend(&body);
            let plain = frame.len();
            key.protect(&mut frame, number, 4).unwrap();
            prop_assert_eq!(frame.len() - plain, suite.mpdu_octets());
            prop_assert_eq!(key.verify(&frame).unwrap().packet_number, number);
            let covered: Vec<usize> = (4..22).chain(24..frame.len()).collect();
            frame[covered[at.index(covered.len())]] ^= 1 << bit;
            prop_assert!(key.verify(&frame).is_err());
        }
    }
}

/// CRC-32 is linear: crc(a ^ d) = crc(a) ^ crc(d) ^ crc(0). An attacker who flips bits in a
/// WEP frame can therefore correct the ICV without the key, through the encryption.
#[test]
fn wep_accepts_a_forgery_with_a_mended_icv() {
    let header = [0x08, 0x01, 0, 0]
        .into_iter()
        .chain([2; 20])
        .collect::<Vec<u8>>();
    let payload = b"pay alice 100".as_slice();
    let wanted = b"pay mally 999".as_slice();
    for suite in [CipherSuite::Wep40, CipherSuite::Wep104] {
        let key = WepKey::new(&vec![0x5e; suite.key_octets()]).unwrap();
        let mut frame = room(suite, &header, payload);
        key.encapsulate(&mut frame, 1, 0).unwrap();
        let difference: Vec<u8> = payload.iter().zip(wanted).map(|(a, b)| a ^ b).collect();
        let mend = crc32fast::hash(&difference) ^ crc32fast::hash(&vec![0; difference.len()]);
        for (octet, d) in frame[header.len() + 4..]
            .iter_mut()
            .zip(difference.iter().chain(&mend.to_le_bytes()))
        {
            *octet ^= d;
        }
        let found = key.decapsulate(&mut frame).unwrap();
        assert_eq!(&frame[found.payload], wanted);
    }
}

#[test]
fn replays_are_rejected() {
    for suite in SUITES {
        let key = Key::new(suite, 3);
        let header = [[0x88, 0x01].as_slice(), &[4; 24]].concat();
        let mut counters = ReplayCounters::new();
        let mut send = |number| {
            let mut frame = room(suite, &header, b"again");
            frame[22] = 0;
            key.encapsulate(&mut frame, number, 0).unwrap();
            let found = key.decapsulate(&mut frame).unwrap();
            counters.accept(found.counter, found.packet_number)
        };
        assert_eq!(send(10), Ok(()));
        assert!(matches!(send(10), Err(CipherError::Replay { .. })));
        assert!(matches!(send(9), Err(CipherError::Replay { .. })));
        assert_eq!(send(11), Ok(()));
    }
}

#[test]
fn a_management_frame_is_protected_as_one() {
    let mut plain = [[0xc0, 0].as_slice(), &[6; 22], &[7, 0]].concat();
    plain[22] = 0;
    for suite in [CipherSuite::Ccmp128, CipherSuite::Gcmp256] {
        let key = Key::new(suite, 1);
        let mut frame = room(suite, &plain[..24], &plain[24..]);
        key.encapsulate(&mut frame, 1, 0).unwrap();
        let found = key.decapsulate(&mut frame).unwrap();
        assert_eq!(found.counter, super::replay::Counter::Management);
        assert_eq!(frame[found.payload], [7, 0]);
    }
    for suite in [CipherSuite::Wep104, CipherSuite::Tkip] {
        let key = Key::new(suite, 1);
        let mut frame = room(suite, &plain[..24], &plain[24..]);
        assert!(key.encapsulate(&mut frame, 1, 0).is_err());
    }
}

#[test]
fn tkip_fragments_carry_one_mic() {
    let key = TkipKey::new(&[0x61; 32]).unwrap();
    let msdu: Vec<u8> = (0..100).collect();
    let mut header = [[0x08, 0x01].as_slice(), &[8; 22]].concat();
    header[22] = 0;
    let mic = key.michael(&super::mpdu::Header::parse(&header).unwrap(), &[&msdu]);
    let whole = [msdu.as_slice(), &mic].concat();
    let mut received = Vec::new();
    for (number, part) in whole.chunks(54).enumerate() {
        header[1] = if number == 0 { 0x05 } else { 0x01 };
        header[22] = number as u8;
        let mut frame = [&header, [0; 8].as_slice(), part, &[0; 4]].concat();
        assert!(key.encapsulate_msdu(&mut frame.clone(), 1, 0).is_err());
        key.encapsulate(&mut frame, number as u64 + 1, 0).unwrap();
        let found = key.decapsulate(&mut frame).unwrap();
        received.extend_from_slice(&frame[found.payload]);
    }
    assert_eq!(received, whole);
}
