//! Vectors of whole IEEE 802.11 frames.

use hex_literal::hex;

use super::Vector;
use crate::aead::{AeadKey, Algorithm};
use crate::kernels::Engine;
use crate::link::IncomingMpdu;
use crate::link::bip::{BipKey, Verified};
use crate::link::ccmp::CcmpKey;
use crate::link::gcmp::GcmpKey;
use crate::link::tkip::TkipKey;
use crate::link::tkip_mixing::{phase1, phase2};
use crate::link::wep::WepKey;
use crate::suite::CipherSuite;

pub(super) const VECTORS: &[Vector] = &[
    Vector {
        name: "WEP-40 MPDU",
        source: "IEEE P802.11i/D7.0, I.7.2 (802.11-2020, J.6.2)",
        check: wep,
    },
    Vector {
        name: "TKIP key mixing, phases 1 and 2",
        source: "IEEE 802.11-2012, M.6.3 (802.11-2020, J.6.3)",
        check: || {
            let tk = hex!("12345678901234567890123456789012");
            let ttak = phase1(&tk, hex!("020304050607"), 0);
            ttak.map(u16::swap_bytes) == [0xbb58, 0x071f, 0x9e93, 0xb438, 0x254b]
                && phase2(&tk, &ttak, 1) == hex!("0020014cfe67bed27c867b1bf8028b1c")
        },
    },
    Vector {
        name: "TKIP MPDU with Michael and ICV",
        source: "IEEE 802.11-2012, M.6.3 (802.11-2020, J.6.3)",
        check: tkip,
    },
    Vector {
        name: "CCMP-128 MPDU, every engine",
        source: "IEEE 802.11-2012, M.6.4 (802.11-2020, J.6.4)",
        check: || {
            ccmp(
                &hex!("c97c1f67ce371185514a8a19f2bdd52f"),
                &hex!("f3d0a2fe9a3dbf2342a643e43246e80c3c04d0197845ce0b16f97623"),
            )
        },
    },
    Vector {
        name: "CCMP-256 MPDU, every engine",
        source: "IEEE P802.11ac/D7.0, M.6.4 (802.11-2020, J.6.4)",
        check: || {
            ccmp(
                &hex!("c97c1f67ce371185514a8a19f2bdd52f000102030405060708090a0b0c0d0e0f"),
                &hex!(
                "6d155d8832668256d6a92b78e11d8e54495dd17480aa56c9492e882b97642f80"
                "d50fe97b"
                ),
            )
        },
    },
    Vector {
        name: "GCMP-128 MPDU 1, AES-GCM with its printed AAD",
        source: "IEEE 802.11ad-2012, M.11.1 (802.11-2020, J.11.1)",
        check: gcmp_first,
    },
    Vector {
        name: "GCMP-128 MPDU 2, QoS data",
        source: "IEEE 802.11ad-2012, M.11.1 (802.11-2020, J.11.1)",
        check: || {
            gcmp_second(
                &hex!("c97c1f67ce371185514a8a19f2bdd52f"),
                &hex!(
                "60e9700cc4d40ac6d288b201c38f5bf08b807442640a1596e5dbdad41d1f3623"
                "f45d7a12db7afb23def619c2a374b6df66ffa53b6c69d79e"
                ),
            )
        },
    },
    Vector {
        name: "GCMP-256 MPDU, QoS data",
        source: "IEEE P802.11ac/D7.0, M.11.1 (802.11-2020, J.11.1)",
        check: || {
            gcmp_second(
                &hex!("c97c1f67ce371185514a8a19f2bdd52f000102030405060708090a0b0c0d0e0f"),
                &hex!(
                "658343c8b14447d9211defd46ad89c710c6fc33333236e3997b9176a5a8be779"
                "b21266555e70ad79114316859095473d5b1bd596b3dea3bf"
                ),
            )
        },
    },
    Vector {
        name: "BIP-GMAC-128, broadcast Deauthentication",
        source: "IEEE P802.11ac/D7.0, M.9.1 (802.11-2020, J.9.1)",
        check: || {
            bip(
                CipherSuite::BipGmac128,
                &hex!("4ea9543e09cf2b1eca66ffc58bdecbcf"),
                &hex!("3ed862fb0f3338dd3386c897e2ed053d"),
            )
        },
    },
    Vector {
        name: "BIP-GMAC-256, broadcast Deauthentication",
        source: "IEEE P802.11ac/D7.0, M.9.1 (802.11-2020, J.9.1)",
        check: || {
            bip(
                CipherSuite::BipGmac256,
                &hex!("4ea9543e09cf2b1eca66ffc58bdecbcf000102030405060708090a0b0c0d0e0f"),
                &hex!("23be59dcc7022ee383627ebb1017ddfc"),
            )
        },
    },
];

/// Header, room for the cipher's header, plaintext, room for its trailer.
fn room(header: &[u8], cipher_header: usize, plain: &[u8], trailer: usize) -> Vec<u8> {
    [header, &vec![0; cipher_header], plain, &vec![0; trailer]].concat()
}

fn wep() -> bool {
    let header = hex!("0848c32c0fd2e128a57c5030f1844408abaea5b8fcba8033");
    let plain = hex!(
    "aaaa0300000008004500004e661a00008011be640a0001220affffff00890089"
    "003a000080a601100001000000000000204543454a4548454346434550464545"
    "49454646434341434143414341434141410000200001"
    );
    let expected = hex!(
    "fb029e80f69c5806bd6ce84626bcbefb9474650aad1f7909b0f64d5f58a503a2"
    "58b7ed22eb0ea64930d3a056a55742fcce141d485f8aa836dea18df42c538080"
    "5ad0c61a5d6f58f41040b24b7d1a693856ed0d4398e7aee3bf0e2a2ca8f7"
    );
    let mut frame = room(&header, 4, &plain, 4);
    let Ok(key) = WepKey::new(b"01234") else {
        return false;
    };
    key.encapsulate(&mut frame, 0xfb_029e, 2).is_ok()
        && frame[24..] == expected
        && key
            .decapsulate(&mut frame)
            .is_ok_and(|found| frame[found.payload] == plain)
}

fn tkip() -> bool {
    let header = hex!("08422c00020304050608020304050607020304050607d002");
    let plain = hex!(
    "aaaa03000000080045000054000040004001a555c0a80a02c0a80a0108003ab0"
    "00000000cd4c05000000000008090a0b0c0d0e0f101112131415161718191a1b"
    "1c1d1e1f202122232425262728292a2b2c2d2e2f3031323334353637"
    );
    let expected = hex!(
    "0020012000000000c00e14fce7cfabc77547e666e57c0dac704a1e358a88c11c"
    "8e2e282e3801027a4656055ee93e9c254702e9735805ddb5769ba73f1ebb56e8"
    "44ef912285d3dd6e541e823873558adba079068abd7f7f50959675acc4b4de9a"
    "a99c05f289a7c52fee5bfc14f6f8e5f8"
    );
    let mut frame = room(&header, 8, &plain, 12);
    let Ok(key) = TkipKey::new(&hex!(
        "1234567890123456789012345678901234567890123456789012345678901234"
    )) else {
        return false;
    };
    key.encapsulate_msdu(&mut frame, 1, 0).is_ok()
        && frame[24..] == expected
        && key
            .decapsulate_msdu(&mut frame)
            .is_ok_and(|found| frame[found.payload] == plain)
}

fn ccmp(key: &[u8], expected: &[u8]) -> bool {
    let header = hex!("0848c32c0fd2e128a57c5030f1844408abaea5b8fcba8033");
    let plain = hex!("f8ba1a55d02f85ae967bb62fb6cda8eb7e78a050");
    Engine::available().all(|engine| {
        let Ok(key) = CcmpKey::with_engine(key, engine) else {
            return false;
        };
        let mut frame = room(&header, 8, &plain, expected.len() - plain.len());
        key.encapsulate(&mut frame, 0xb503_9776_e70c, 0).is_ok()
            && frame[..24] == header
            && frame[24..32] == hex!("0ce70020769703b5")
            && frame[32..] == *expected
            && batch_gives(&key, &frame, &plain)
            && key
                .decapsulate(&mut frame)
                .is_ok_and(|found| frame[found.payload] == plain)
    })
}

/// Whether each of several copies of a frame has this payload, decapsulated at once.
fn batch_gives(key: &CcmpKey, frame: &[u8], plain: &[u8]) -> bool {
    let mut copies = vec![frame.to_vec(); 7];
    let mut incoming: Vec<_> = copies.iter_mut().map(|f| IncomingMpdu::new(f)).collect();
    CcmpKey::decapsulate_batch(&[key; 7], &mut incoming);
    incoming.into_iter().all(|each| {
        each.result
            .is_ok_and(|found| each.frame[found.payload] == *plain)
    })
}

/// The printed AAD has the Protected Frame bit clear, which no frame on the air has, so this
/// vector goes to AES-GCM with the printed AAD and nonce.
fn gcmp_first() -> bool {
    let aad = hex!("2002000000000000ffffffffffffffffffffffff0000");
    let expected = hex!(
    "5f5578c18f137ad279bf3f2b24c7bd8f277a1be6770da1d98b70c6d28ae01c55"
    "9ecba6a01db067c5a27e4db08cdadc7752ad637eaf0a18ed13fbaa143bafef18"
    "f8fbce4c65e86bd02a87b601b7eab93f2bbc874c8a710580f502341a6a533931"
    "43de4c9ec6a286f125718378aedc84eba2b30f5c28bb5d75c6b025466d0651c7"
    "22dc71151f212d6887828a0382e9288a7f43d52b7d25086157646954bb43b57e"
    "a587a025f40ce74511e4dd2285b40ba3f3b96262cbc28c6aa7be443e7b41e1eb"
    "ff524857a6816897750115b0231ab7c28472c06dd0b49be9f369a8c39ccd0db7"
    "983510e1ae8f05d77545e0235cdbd612f3150754cee5ce6a1225d99525026f74"
    );
    let mut data = [0; 256];
    let sealed = AeadKey::new(Algorithm::Aes128Gcm, &[0xaa; 16])
        .and_then(|key| key.seal(hex!("ffffffffffff000000000001"), &aad, &mut data));
    data == expected && sealed.is_ok_and(|mic| mic == hex!("80cb0662ea71abfd9f04c7f872f58090"))
}

fn gcmp_second(key: &[u8], expected: &[u8]) -> bool {
    let header = hex!("88480b000fd2e128a57c5030f18444085030f184440880330300");
    let plain: Vec<u8> = (0..40).collect();
    let mut frame = room(&header, 8, &plain, 16);
    let Ok(key) = GcmpKey::new(key) else {
        return false;
    };
    key.encapsulate(&mut frame, 0x0089_5f5f_2b08, 0).is_ok()
        && frame[26..34] == hex!("082b00205f5f8900")
        && frame[34..] == *expected
        && key
            .decapsulate(&mut frame)
            .is_ok_and(|found| frame[found.payload] == plain)
}

fn bip(suite: CipherSuite, key: &[u8], mic: &[u8]) -> bool {
    let mut frame = hex!("c0000000ffffffffffff02000000000002000000000009000200").to_vec();
    let Ok(key) = BipKey::new(suite, key) else {
        return false;
    };
    key.protect(&mut frame, 4, 4).is_ok()
        && frame[26..36] == hex!("4c180400040000000000")
        && frame[36..] == *mic
        && key.verify(&frame)
            == Ok(Verified {
                packet_number: 4,
                key_id: 4,
            })
}
