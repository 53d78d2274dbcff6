//! OpenSSL's side of the comparison.
//!
//! Takes key and frame lengths; gives work over as many frames as the other side's. Never
//! schedules a key inside the timed part.

use openssl::cipher::{Cipher, CipherRef};
use openssl::cipher_ctx::CipherCtx;

use crate::{FRAMES, Work};

pub fn ccm(key: usize, octets: usize) -> Work {
    let (cipher, tag) = ccm_of(key);
    let mut ctx = context(cipher, &vec![7; key], 13, Some(tag));
    let mut frames = vec![vec![0x5a; octets]; FRAMES];
    let mut out = vec![0; octets + 16];
    let mut number = 0u64;
    Box::new(move || {
        for frame in &mut frames {
            number += 1;
            let mut nonce = [2; 13];
            nonce[5..].copy_from_slice(&number.to_be_bytes());
            ctx.encrypt_init(None, None, Some(&nonce)).expect("nonce");
            ctx.set_data_len(octets).expect("length");
            ctx.cipher_update(&[0x88; 24], None).expect("AAD");
            let done = ctx.cipher_update(frame, Some(&mut out)).expect("data");
            ctx.cipher_final(&mut out[done..]).expect("end");
            let mut mic = [0; 16];
            ctx.tag(&mut mic[..tag]).expect("tag");
            std::hint::black_box(mic);
        }
    })
}

/// Decryption of frames, each under its own key.
pub fn ccm_open(key: usize, octets: usize) -> Work {
    let (cipher, tag) = ccm_of(key);
    let nonce = [2; 13];
    let (mut contexts, mut frames) = (Vec::new(), Vec::new());
    for i in 0..FRAMES {
        let key = vec![i as u8; key];
        frames.push(ccm_once(&key, &nonce, &[0x88; 24], &vec![0x5a; octets]));
        let mut ctx = CipherCtx::new().expect("context");
        ctx.decrypt_init(Some(cipher), None, None).expect("cipher");
        ctx.set_iv_length(13).expect("nonce length");
        ctx.set_tag_length(tag).expect("tag length");
        ctx.decrypt_init(None, Some(&key), None).expect("key");
        contexts.push(ctx);
    }
    let mut out = vec![0; octets + 16];
    Box::new(move || {
        for (ctx, (sealed, mic)) in contexts.iter_mut().zip(&frames) {
            ctx.decrypt_init(None, None, Some(&nonce)).expect("nonce");
            ctx.set_tag(mic).expect("tag");
            ctx.set_data_len(octets).expect("length");
            ctx.cipher_update(&[0x88; 24], None).expect("AAD");
            ctx.cipher_update(sealed, Some(&mut out))
                .expect("authentic");
        }
    })
}

fn ccm_of(key: usize) -> (&'static CipherRef, usize) {
    match key {
        16 => (Cipher::aes_128_ccm(), 8),
        _ => (Cipher::aes_256_ccm(), 16),
    }
}

pub fn gcm(key: usize, octets: usize) -> Work {
    let cipher = match key {
        16 => Cipher::aes_128_gcm(),
        _ => Cipher::aes_256_gcm(),
    };
    let mut ctx = context(cipher, &vec![7; key], 12, None);
    let mut frames = vec![vec![0x5a; octets]; FRAMES];
    let mut out = vec![0; octets + 16];
    let mut number = 0u64;
    Box::new(move || {
        for frame in &mut frames {
            number += 1;
            let mut nonce = [2; 12];
            nonce[4..].copy_from_slice(&number.to_be_bytes());
            ctx.encrypt_init(None, None, Some(&nonce)).expect("nonce");
            ctx.cipher_update(&[0x88; 24], None).expect("AAD");
            let done = ctx.cipher_update(frame, Some(&mut out)).expect("data");
            ctx.cipher_final(&mut out[done..]).expect("end");
            let mut mic = [0; 16];
            ctx.tag(&mut mic).expect("tag");
            std::hint::black_box(mic);
        }
    })
}

/// One frame: ciphertext and tag.
pub fn ccm_once(key: &[u8], nonce: &[u8; 13], aad: &[u8], plain: &[u8]) -> (Vec<u8>, Vec<u8>) {
    let (cipher, tag) = ccm_of(key.len());
    let mut ctx = context(cipher, key, 13, Some(tag));
    ctx.encrypt_init(None, None, Some(nonce)).expect("nonce");
    ctx.set_data_len(plain.len()).expect("length");
    ctx.cipher_update(aad, None).expect("AAD");
    let mut out = vec![0; plain.len() + 16];
    let done = ctx.cipher_update(plain, Some(&mut out)).expect("data");
    ctx.cipher_final(&mut out[done..]).expect("end");
    out.truncate(plain.len());
    let mut mic = vec![0; tag];
    ctx.tag(&mut mic).expect("tag");
    (out, mic)
}

fn context(cipher: &CipherRef, key: &[u8], nonce: usize, tag: Option<usize>) -> CipherCtx {
    let mut ctx = CipherCtx::new().expect("context");
    ctx.encrypt_init(Some(cipher), None, None).expect("cipher");
    ctx.set_iv_length(nonce).expect("nonce length");
    if let Some(tag) = tag {
        ctx.set_tag_length(tag).expect("tag length");
    }
    ctx.encrypt_init(None, Some(key), Some(&vec![0; nonce]))
        .expect("key");
    ctx
}

/// WEP as OpenSSL's users write it: RC4 through the low-level interface, which has no EVP
/// overhead, and the fastest CRC-32 at hand. The key schedule is inside: WEP's key changes with
/// every frame.
pub fn rc4_crc(octets: usize) -> Work {
    let mut frames = vec![vec![0x5a; octets + 4]; FRAMES];
    let mut number = 0u32;
    Box::new(move || {
        for frame in &mut frames {
            number = number.wrapping_add(1);
            let mut seed = [7; 16];
            seed[..4].copy_from_slice(&number.to_le_bytes());
            let crc = crc32fast::hash(&frame[..octets]);
            frame[octets..].copy_from_slice(&crc.to_le_bytes());
            rc4(&seed, frame);
        }
    })
}

/// `RC4_KEY` of openssl/rc4.h: two 32-bit indices and 256 cells of 32 bits.
#[repr(C)]
struct Rc4Key {
    cells: [u32; 258],
}

unsafe extern "C" {
    fn RC4_set_key(key: *mut Rc4Key, len: i32, data: *const u8);
    fn RC4(key: *mut Rc4Key, len: usize, input: *const u8, output: *mut u8);
}

fn rc4(seed: &[u8; 16], data: &mut [u8]) {
    let mut key = Rc4Key { cells: [0; 258] };
    // SAFETY: the structure has the size openssl/rc4.h gives it, the seed has 16 octets, and input
    // and output are the same `data`, which RC4 allows.
    unsafe {
        RC4_set_key(&mut key, 16, seed.as_ptr());
        RC4(&mut key, data.len(), data.as_ptr(), data.as_mut_ptr());
    }
}
