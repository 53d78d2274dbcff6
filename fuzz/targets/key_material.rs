//! Any octets where key material is read: passphrases, keys as text, wrapped keys, EAPOL frames.

#![no_main]

use airtoll_security::keys::{mic::KeyMic, psk, wep, wrap};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    if let Ok(text) = std::str::from_utf8(data) {
        let _ = wep::from_text(text);
        let _ = psk::from_hex(text);
    }
    assert!(wrap::unwrap(&[1; 16], data).is_err());
    if let Ok(wrapped) = wrap::wrap(&[1; 32], data) {
        assert_eq!(**wrap::unwrap(&[1; 32], &wrapped).unwrap(), *data);
    }
    for mic in [
        KeyMic::HmacMd5,
        KeyMic::AesCmac,
        KeyMic::HmacSha384,
        KeyMic::HmacSha512,
    ] {
        let _ = mic.verify_frame(&[1; 16], data);
    }
});
