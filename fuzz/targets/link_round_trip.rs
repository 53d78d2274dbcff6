//! Any header and payload through every link cipher and back; then one flipped bit of the body.

#![no_main]

use airtoll_security::link::ccmp::CcmpKey;
use airtoll_security::link::gcmp::GcmpKey;
use airtoll_security::link::tkip::TkipKey;
use airtoll_security::link::wep::WepKey;
use airtoll_security::link::{Decapsulated, mpdu::Header};
use airtoll_security::{CipherError, CipherSuite};
use arbitrary::Arbitrary;
use libfuzzer_sys::fuzz_target;

#[derive(Arbitrary, Debug)]
struct Input {
    key: [u8; 32],
    header: [u8; 36],
    payload: Vec<u8>,
    number: u64,
    flip: u16,
}

fuzz_target!(|input: Input| {
    let number = input.number & 0xffff_ffff_ffff;
    let wep = WepKey::new(&input.key[..13]).unwrap();
    let tkip = TkipKey::new(&input.key).unwrap();
    let ccmp = CcmpKey::new(&input.key[..16]).unwrap();
    let gcmp = GcmpKey::new(&input.key).unwrap();
    let iv = number & 0xff_ffff;
    check(
        &input,
        CipherSuite::Wep104,
        |f| wep.encapsulate(f, iv, 1),
        |f| wep.decapsulate(f),
    );
    check(
        &input,
        CipherSuite::Tkip,
        |f| tkip.encapsulate_msdu(f, number, 1),
        |f| tkip.decapsulate_msdu(f),
    );
    check(
        &input,
        CipherSuite::Ccmp128,
        |f| ccmp.encapsulate(f, number, 1),
        |f| ccmp.decapsulate(f),
    );
    check(
        &input,
        CipherSuite::Gcmp256,
        |f| gcmp.encapsulate(f, number, 1),
        |f| gcmp.decapsulate(f),
    );
});

fn check(
    input: &Input,
    suite: CipherSuite,
    seal: impl Fn(&mut [u8]) -> Result<(), CipherError>,
    open: impl Fn(&mut [u8]) -> Result<Decapsulated, CipherError>,
) {
    let Ok(header) = Header::parse(&input.header) else {
        return;
    };
    let start = header.length() + suite.header_octets();
    let mut frame = input.header[..header.length()].to_vec();
    frame.resize(start, 0);
    frame.extend(&input.payload);
    frame.resize(
        header.length() + input.payload.len() + suite.frame_octets(),
        0,
    );
    let before = frame.clone();
    if seal(&mut frame).is_err() {
        assert_eq!(frame, before, "a refused frame is unchanged");
        return;
    }
    let mut altered = frame.clone();
    let found = open(&mut frame).expect("what was sealed opens");
    assert_eq!(frame[found.payload], input.payload);
    let bit = usize::from(input.flip) % ((altered.len() - start) * 8);
    altered[start + bit / 8] ^= 1 << (bit % 8);
    assert!(open(&mut altered).is_err());
    assert!(
        altered[start..start + input.payload.len()]
            .iter()
            .all(|&o| o == 0)
    );
}
