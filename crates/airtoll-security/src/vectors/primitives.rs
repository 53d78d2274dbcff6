//! Vectors of the primitives underneath: RC4, Michael, AES-CCM, AES-GCM.

use ccm::aead::inout::InOutBuf;
use ccm::consts::{U8, U13};
use ccm::{AeadInOut, Ccm, KeyInit};
use hex_literal::hex;

use super::Vector;
use crate::aead::{AeadKey, Algorithm};
use crate::link::michael::Michael;
use crate::rc4::Rc4;

pub(super) const VECTORS: &[Vector] = &[
    Vector {
        name: "RC4, 40-bit key, offsets 0, 16 and 4096",
        source: "RFC 6229, section 2",
        check: || {
            let key = hex!("0102030405");
            rc4(&key, 0, hex!("b2396305f03dc027ccc3524a0a1118a8"))
                && rc4(&key, 16, hex!("6982944f18fc82d589c403a47a0d0919"))
                && rc4(&key, 4096, hex!("ff25b58995996707e51fbdf08b34d875"))
        },
    },
    Vector {
        name: "RC4, 128-bit key",
        source: "RFC 6229, section 2",
        check: || {
            let key = hex!("0102030405060708090a0b0c0d0e0f10");
            rc4(&key, 0, hex!("9ac7cc9a609d1ef7b2932899cde41b97"))
        },
    },
    Vector {
        name: "Michael, chain of six messages",
        source: "IEEE 802.11-2020, J.6.1 (802.11-2012, M.6.1)",
        check: michael,
    },
    Vector {
        name: "AES-128-CCM, packet vector 1 (the reference of all kernels)",
        source: "RFC 3610, section 8",
        check: rfc3610,
    },
    Vector {
        name: "AES-128-GCM, 60 octets with AAD",
        source: "GCM specification test case 4 (McGrew and Viega; mode of NIST SP 800-38D)",
        check: || {
            gcm(
                &hex!("feffe9928665731c6d6a8f9467308308"),
                &hex!(
                    "42831ec2217774244b7221b784d0d49ce3aa212f2c02a4e035c17e2329aca12e"
                    "21d514b25466931c7d8f6a5aac84aa051ba30b396a0aac973d58e091"
                ),
                hex!("5bc94fbc3221a5db94fae95ae7121a47"),
            )
        },
    },
    Vector {
        name: "AES-256-GCM, 60 octets with AAD",
        source: "GCM specification test case 16 (McGrew and Viega; mode of NIST SP 800-38D)",
        check: || {
            gcm(
                &hex!("feffe9928665731c6d6a8f9467308308feffe9928665731c6d6a8f9467308308"),
                &hex!(
                    "522dc1f099567d07f47f37a32a84427d643a8cdcbfe5c0c97598a2bd2555d1aa"
                    "8cb08e48590dbb3da7b08b1056828838c5f61e6393ba7a0abcc9f662"
                ),
                hex!("76fc6ece0f4e1768cddf8853bb2d551b"),
            )
        },
    },
];

fn rc4(key: &[u8], offset: usize, expected: [u8; 16]) -> bool {
    let mut cipher = Rc4::new(key);
    cipher.skip(offset);
    let mut stream = [0; 16];
    cipher.apply(&mut stream);
    stream == expected
}

fn michael() -> bool {
    let mut key = [0; 8];
    [
        ("", hex!("82925c1ca1d130b8")),
        ("M", hex!("434721ca40639b3f")),
        ("Mi", hex!("e8f9becae97e5d29")),
        ("Mic", hex!("90038fc6cf13c1db")),
        ("Mich", hex!("d55e100510128986")),
        ("Michael", hex!("0a942b124ecaa546")),
    ]
    .into_iter()
    .all(|(message, mic)| {
        let mut state = Michael::new(&key);
        state.update(message.as_bytes());
        key = mic;
        state.finish() == mic
    })
}

/// Its AAD of 8 octets does not fill the two blocks that the kernels are made for; they are
/// compared with this implementation over random frames.
fn rfc3610() -> bool {
    let mut data: Vec<u8> = (0x08..=0x1e).collect();
    let key = Ccm::<aes::Aes128, U8, U13>::new(&hex!("c0c1c2c3c4c5c6c7c8c9cacbcccdcecf").into());
    let tag = key.encrypt_inout_detached(
        &hex!("00000003020100a0a1a2a3a4a5").into(),
        &hex!("0001020304050607"),
        InOutBuf::from(data.as_mut_slice()),
    );
    data == hex!("588c979a61c663d2f066d0c2c0f989806d5f6b61dac384")
        && tag.is_ok_and(|tag| tag.as_slice() == hex!("17e8d12cfdf926e0"))
}

fn gcm(key: &[u8], cipher: &[u8], tag: [u8; 16]) -> bool {
    let mut data = hex!(
        "d9313225f88406e5a55909c5aff5269a86a7a9531534f7da2e4c303d8a318a72"
        "1c3c0c95956809532fcf0e2449a6b525b16aedf5aa0de657ba637b39"
    );
    let algorithm = if key.len() == 16 {
        Algorithm::Aes128Gcm
    } else {
        Algorithm::Aes256Gcm
    };
    let sealed = AeadKey::new(algorithm, key).and_then(|key| {
        key.seal(
            hex!("cafebabefacedbaddecaf888"),
            &hex!("feedfacedeadbeeffeedfacedeadbeefabaddad2"),
            &mut data,
        )
    });
    sealed.is_ok_and(|made| made == tag) && data == cipher
}
