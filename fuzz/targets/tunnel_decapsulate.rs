//! Any octets as a received ESP packet or WireGuard message; any inner packet there and back.

#![no_main]

use airtoll_security::esp::EspKey;
use airtoll_security::wireguard::WireGuardKey;
use airtoll_security::{Tunnel, TunnelSuite};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    for (suite, encryption, integrity) in [
        (TunnelSuite::EspNullMd5, 0, 16),
        (TunnelSuite::EspDesSha1, 8, 20),
        (TunnelSuite::Esp3desSha1, 24, 20),
        (TunnelSuite::EspAesCbcMd5, 16, 16),
        (TunnelSuite::EspAesGcm, 20, 0),
    ] {
        let key = EspKey::new(suite, 0, &vec![1; encryption], &vec![2; integrity]).unwrap();
        assert!(key.decapsulate(&mut data.to_vec()).is_err());
        let mut packet = Vec::new();
        key.encapsulate(1, &vec![3; suite.iv_octets()], data, 4, &mut packet)
            .unwrap();
        assert_eq!(
            packet.len() + 20,
            Tunnel::new(suite).outer_octets(data.len())
        );
        let opened = key.decapsulate(&mut packet).unwrap();
        assert_eq!(&packet[opened.inner], data);
    }
    let key = WireGuardKey::new(&[1; 32], 0).unwrap();
    assert!(key.decapsulate(&mut data.to_vec()).is_err());
    let mut message = Vec::new();
    key.encapsulate(1, data, &mut message).unwrap();
    let opened = key.decapsulate(&mut message).unwrap();
    assert_eq!(&message[opened.inner][..data.len()], data);
});
