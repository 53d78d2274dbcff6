//! Vectors of key derivation, key wrap and EAPOL-Key MICs.

use airtoll_wire::MacAddress;
use hex_literal::hex;

use super::Vector;
use crate::akm::{AkmHash, AkmSuite};
use crate::keys::prf::{kdf, prf_sha1};
use crate::keys::{Ptk, mic::KeyMic, psk, wrap};
use crate::suite::CipherSuite;

pub(super) const VECTORS: &[Vector] = &[
    Vector {
        name: "PSK of \"password\" at SSID \"IEEE\"",
        source: "IEEE 802.11-2020, J.4.2",
        check: || {
            psk::from_passphrase("password", b"IEEE").is_ok_and(|psk| {
                *psk == hex!("f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e")
            })
        },
    },
    Vector {
        name: "PSK of \"ThisIsAPassword\" at SSID \"ThisIsASSID\"",
        source: "IEEE 802.11-2020, J.4.2",
        check: || {
            psk::from_passphrase("ThisIsAPassword", b"ThisIsASSID").is_ok_and(|psk| {
                *psk == hex!("0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af")
            })
        },
    },
    Vector {
        name: "PRF-512 of \"Hi There\"",
        source: "IEEE 802.11-2020, J.3.2",
        check: || {
            let mut out = [0; 64];
            prf_sha1(&[0x0b; 20], "prefix", &[b"Hi There"], &mut out);
            out == hex!(
                "bcd4c650b30b9684951829e0d75f9d54b862175ed9f00606e17d8da35402ffee"
                "75df78c3d31e0f889f012120c0862beb67753e7439ae242edb8373698356cf5a"
            )
        },
    },
    Vector {
        name: "PTK for TKIP and for CCMP",
        source: "IEEE 802.11-2020, J.7.1",
        check: pairwise,
    },
    Vector {
        name: "KDF-SHA-256, 640 bits (a PASN PTK)",
        source: "IEEE P802.11az/D2.6, J.12",
        check: || {
            let mut out = [0; 80];
            kdf(
                AkmHash::Sha256,
                &hex!("def43e5567e01ca6649265f19a290eeff8bd888f6c1d9cc9d10f04bd378f3cad"),
                "PASN PTK Derivation",
                &[
                    &hex!("00904c01c107"),
                    &hex!("c0ffd4a8dbc1"),
                    &hex!("f87b208e7ed2b737afdbc2e13eae78da300123d4d84ba8b0eafe90c48cdf1f93"),
                ],
                &mut out,
            );
            out == hex!(
                "7bb821ac0aa5909dd654a56065ad7c77eb889cbe2905bbf05abb1eeac88ba306"
                "673eab46b832d5a80cbc0243016e207e2d0f0e82c70dd26b79061a4681e8dbb2"
                "ea83bea399844bd5894eb320f69d7dd6"
            )
        },
    },
    Vector {
        name: "AES key wrap, 128 bits under 128",
        source: "RFC 3394, 4.1",
        check: || {
            wrap::wrap(
                &hex!("000102030405060708090a0b0c0d0e0f"),
                &hex!("00112233445566778899aabbccddeeff"),
            )
            .is_ok_and(|made| made == hex!("1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5"))
        },
    },
    Vector {
        name: "EAPOL-Key MIC, HMAC-MD5",
        source: "RFC 2202, 2, case 2",
        check: || mac(KeyMic::HmacMd5, &hex!("750c783e6ab0b503eaa86e310a5db738")),
    },
    Vector {
        name: "EAPOL-Key MIC, HMAC-SHA-1-128",
        source: "RFC 2202, 3, case 2",
        check: || mac(KeyMic::HmacSha1, &hex!("effcdf6ae5eb2fa2d27416d5f184df9c")),
    },
    Vector {
        name: "EAPOL-Key MIC, HMAC-SHA-384-192",
        source: "RFC 4231, 4.3",
        check: || {
            mac(
                KeyMic::HmacSha384,
                &hex!("af45d2e376484031617f78d2b58a6b1b9c7ef464f5a01b47"),
            )
        },
    },
    Vector {
        name: "EAPOL-Key MIC, AES-128-CMAC",
        source: "RFC 4493, section 4, example 2",
        check: || {
            KeyMic::AesCmac
                .compute(
                    &hex!("2b7e151628aed2a6abf7158809cf4f3c"),
                    &[&hex!("6bc1bee22e409f96e93d7e117393172a")],
                )
                .is_ok_and(|made| made.as_slice() == hex!("070a16b46b4d4144f79bdd9dd04a287c"))
        },
    },
];

fn pairwise() -> bool {
    [CipherSuite::Tkip, CipherSuite::Ccmp128]
        .into_iter()
        .all(|cipher| {
            Ptk::derive(
                AkmSuite::Psk,
                AkmHash::Sha1,
                cipher,
                &hex!("0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af"),
                MacAddress(hex!("a0a1a1a3a4a5")),
                MacAddress(hex!("b0b1b2b3b4b5")),
                &hex!("e0e1e2e3e4e5e6e7e8e9f0f1f2f3f4f5f6f7f8f9fafbfcfdfeff000102030405"),
                &hex!("c0c1c2c3c4c5c6c7c8c9d0d1d2d3d4d5d6d7d8d9dadbdcdddedfe0e1e2e3e4e5"),
            )
            .is_ok_and(|ptk| {
                let tk = hex!("b2360c79e9710fdd58bea93deaf06599db980afbc29c152855740a6ce5ae3827");
                ptk.kck() == hex!("379f9852d0199236b94e407ce4c00ec8")
                    && ptk.kek() == hex!("47c9edc01c2c6e5b4910caddfb3e51a7")
                    && ptk.tk() == &tk[..cipher.key_octets()]
            })
        })
}

fn mac(algorithm: KeyMic, expected: &[u8]) -> bool {
    algorithm
        .compute(b"Jefe", &[b"what do ya want for nothing?"])
        .is_ok_and(|made| made.as_slice() == expected)
}
