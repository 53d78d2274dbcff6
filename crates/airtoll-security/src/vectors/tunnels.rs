//! Vectors of the tunnels' data formats.

use cbc::cipher::{Array, BlockModeEncrypt, KeyIvInit};
use hex_literal::hex;

use super::Vector;
use crate::aead::{AeadKey, Algorithm};
use crate::esp::EspKey;
use crate::ipsec::{Checksum, Cipher, Encryption, Integrity};
use crate::tunnel::TunnelSuite;

pub(super) const VECTORS: &[Vector] = &[
    Vector {
        name: "ESP with AES-256-GCM",
        source: "draft-mcgrew-gcm-test-01, section 4 (test cases for RFC 4106)",
        check: esp_gcm,
    },
    Vector {
        name: "ESP with AES-128-CBC, before its ICV",
        source: "RFC 3602, section 4, case 5",
        check: esp_cbc,
    },
    Vector {
        name: "3DES-EDE in CBC",
        source: "FIPS 81, table C1 (with three equal keys 3DES is DES)",
        check: triple_des,
    },
    Vector {
        name: "ChaCha20-Poly1305",
        source: "RFC 8439, 2.8.2",
        check: chacha20_poly1305,
    },
    Vector {
        name: "ESP with ChaCha20-Poly1305",
        source: "RFC 7634, appendix A",
        check: esp_chacha20_poly1305,
    },
    Vector {
        name: "AES-128 in counter mode, as in ESP",
        source: "RFC 3686, section 6, test vectors 1 and 2",
        check: aes_ctr,
    },
    Vector {
        name: "HMAC-SHA-256-128",
        source: "RFC 4868, section 2.7.2.1, AUTH256-1",
        check: hmac_sha_256_128,
    },
];

fn esp_gcm() -> bool {
    let Ok(key) = EspKey::new(
        TunnelSuite::EspAesGcm,
        0x4a2c_bfe3,
        &hex!("abbccddef00112233445566778899aababbccddef00112233445566778899aab" "11223344"),
        &[],
    ) else {
        return false;
    };
    let inner = hex!(
        "4500003069a6400080062690c0a801029389155e0a9e008b2dc57ee000000000"
        "7002400020bf0000020405b401010402"
    );
    let expected = hex!(
        "4a2cbfe3000000020102030405060708"
        "ff425c9b724599df7a3bcd510194e00d6a78107f1b0b1cbf06efae9d65a5d763"
        "748a637985771d347f0545659f14e99def842d8eb335f4eecfdbf831824b4c49"
        "15956c96"
    );
    let mut packet = Vec::new();
    key.encapsulate(2, &hex!("0102030405060708"), &inner, 1, &mut packet)
        .is_ok()
        && packet == expected
        && key
            .decapsulate(&mut packet)
            .is_ok_and(|opened| packet[opened.inner] == inner)
}

/// The RFC's packet has no ICV, ours has one more field at the end.
fn esp_cbc() -> bool {
    let Ok(key) = EspKey::new(
        TunnelSuite::EspAesCbcSha1,
        0x4321,
        &hex!("90d382b410eeba7ad938c46cec1a82bf"),
        &[0; 20],
    ) else {
        return false;
    };
    let payload = hex!(
        "08000ebda70a00008e9c083db95b070008090a0b0c0d0e0f1011121314151617"
        "18191a1b1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637"
    );
    let expected = hex!(
        "0000432100000001e96e8c08ab465763fd098d45dd3ff893"
        "f663c25d325c18c6a9453e194e120849a4870b66cc6b9965330013b4898dc856"
        "a4699e523a55db080b59ec3a8e4b7e52775b07d1db34ed9c538ab50c551b874a"
        "a269add047ad2d5913ac19b7cfbad4a6"
    );
    let mut packet = Vec::new();
    key.encapsulate(
        1,
        &hex!("e96e8c08ab465763fd098d45dd3ff893"),
        &payload,
        1,
        &mut packet,
    )
    .is_ok()
        && packet[..packet.len() - 12] == expected
}

/// FIPS 81, appendix C, table C1: DES-CBC of "Now is the time for all ".
fn triple_des() -> bool {
    let key = hex!("0123456789abcdef0123456789abcdef0123456789abcdef");
    let mut mode =
        cbc::Encryptor::<des::TdesEde3>::new(&key.into(), &hex!("1234567890abcdef").into());
    let mut text = *b"Now is the time for all ";
    let (blocks, _) = Array::slice_as_chunks_mut(&mut text);
    mode.encrypt_blocks(blocks);
    text == hex!("e5c7cdde872bf27c43e934008c389c0f683788499a7c05f6")
}

fn chacha20_poly1305() -> bool {
    let mut text = *b"Ladies and Gentlemen of the class of '99: If I could offer you only one \
tip for the future, sunscreen would be it.";
    let key = hex!("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f");
    let tag = AeadKey::new(Algorithm::ChaCha20Poly1305, &key).and_then(|key| {
        key.seal(
            hex!("070000004041424344454647"),
            &hex!("50515253c0c1c2c3c4c5c6c7"),
            &mut text,
        )
    });
    text == hex!(
        "d31a8d34648e60db7b86afbc53ef7ec2a4aded51296e08fea9e2b5a736ee62d6"
        "3dbea45e8ca9671282fafb69da92728b1a71de0a9e060b2905d6a5b67ecd3b36"
        "92ddbd7f2d778b8c9803aee328091b58fab324e4fad675945585808b4831d7bc"
        "3ff4def08e4b7a9de576d26586cec64b6116"
    ) && tag.is_ok_and(|tag| tag == hex!("1ae10b594f09e26a7e902ecbd0600691"))
}

fn esp_chacha20_poly1305() -> bool {
    let Ok(key) = EspKey::with_algorithms(
        0x0102_0304,
        Encryption::ChaCha20Poly1305,
        &hex!("808182838485868788898a8b8c8d8e8f909192939495969798999a9b9c9d9e9f" "a0a1a2a3"),
        None,
        &[],
    ) else {
        return false;
    };
    let inner = hex!(
        "45000054a6f200004001e778c6336405c000020508005b7a3a080000553bec10"
        "0007362708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f20212223"
        "2425262728292a2b2c2d2e2f3031323334353637"
    );
    let expected = hex!(
        "0102030400000005" "1011121314151617"
        "24039428b97f417e3c13753a4f05087b67c352e6a7fab1b982d466ef407ae5c6"
        "14ee8099d52844eb61aa95dfab4c02f72aa71e7c4c4f64c9befe2facc638e8f3"
        "cbec163fac469b502773f6fb94e664da9165b82829f641e0"
        "76aaa8266b7fb0f7b11b369907e1ad43"
    );
    let mut packet = Vec::new();
    key.encapsulate(5, &hex!("1011121314151617"), &inner, 4, &mut packet)
        .is_ok()
        && packet == expected
        && key
            .decapsulate(&mut packet)
            .is_ok_and(|opened| packet[opened.inner] == inner)
}

fn aes_ctr() -> bool {
    let encrypted = |key: &[u8], iv: [u8; 8], text: &mut [u8]| {
        Cipher::new(Encryption::AesCtr, key).is_ok_and(|key| key.seal(&[], &iv, text).is_some())
    };
    let mut one = *b"Single block msg";
    let mut two: [u8; 32] = core::array::from_fn(|octet| octet as u8);
    encrypted(
        &hex!("ae6852f8121067cc4bf7a5765577f39e" "00000030"),
        [0; 8],
        &mut one,
    ) && one == hex!("e4095d4fb7a7b3792d6175a3261311b8")
        && encrypted(
            &hex!("7e24067817fae0d743d6ce1f32539163" "006cb6db"),
            hex!("c0543b59da48d90b"),
            &mut two,
        )
        && two == hex!("5104a106168a72d9790d41ee8edad388eb2e1efc46da57c8fce630df9141be28")
}

fn hmac_sha_256_128() -> bool {
    Checksum::new(Integrity::HmacSha256, &[0x0b; 32], "a vector")
        .is_ok_and(|key| key.fits(b"Hi There", &hex!("198a607eb44bfbc69903a0f1cf2bbdc5")))
}
