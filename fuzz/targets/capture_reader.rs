//! Any octets through the whole reader: container, link layer, decryption, sessions, ledger.

#![no_main]

use std::path::PathBuf;
use std::sync::LazyLock;

use airtoll_capture::keys::Keys;
use airtoll_capture::{Request, analyse_octets};
use libfuzzer_sys::fuzz_target;

static REQUEST: LazyLock<Request> = LazyLock::new(|| {
    let mut keys = Keys::default();
    let texts = [
        format!("pmk:{}", "5a".repeat(32)),
        "wpa-psk:f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e".to_owned(),
        "wep:0102030405".to_owned(),
        // Keys of the captures that the seeds are cut from: decryption succeeds in them.
        "wep:e4ecf210a9".to_owned(),
        "pmk:15246d573a15826b0ac880858ba6ec63babb1825b8188496536c88a7126b911d".to_owned(),
        "pmk:33b348df1c759285e96611b53ed04d1b3ca95d1b1db1e4df8a7939a6acfe829e".to_owned(),
        "pmk:e928389388eeeec0b3d2f681b2998c3d8f5eb51edde44cb78a48c60fb112cd2f".to_owned(),
        format!("msk:{}", "5a".repeat(64)),
    ];
    keys.add_texts(&texts).expect("well-formed keys");
    Request {
        files: vec![PathBuf::from("memory")],
        keys,
        ..Request::default()
    }
});

fuzz_target!(|octets: &[u8]| {
    if let Ok(report) = analyse_octets(&REQUEST, octets) {
        assert!(report.decrypted <= report.protected && report.protected <= report.frames);
        let closed: u64 = report.undecrypted.values().sum();
        assert_eq!(report.decrypted + closed, report.protected);
    }
});
