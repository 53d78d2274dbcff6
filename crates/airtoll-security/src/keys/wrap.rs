//! Encryption of EAPOL-Key data: AES key wrap, and RC4 for descriptor version 1.
//!
//! Takes a KEK and key data; gives the other form. Never pads: the caller fills key data to a
//! multiple of 8 with the padding KDE (IEEE 802.11-2020, 12.7.2).

use aes_kw::{KeyInit, KwAes128, KwAes256};
use zeroize::Zeroizing;

use crate::error::KeyError;
use crate::rc4::Rc4;

/// AES key wrap (RFC 3394) with a KEK of 16 or 32 octets; the result is 8 octets longer.
///
/// # Errors
/// Another KEK length, or data that are empty or no multiple of 8 (at least 16 octets are usual).
pub fn wrap(kek: &[u8], data: &[u8]) -> Result<Vec<u8>, KeyError> {
    if data.is_empty() || !data.len().is_multiple_of(8) {
        return Err(KeyError::NotDefined(
            "key data to wrap must be a non-zero multiple of 8 octets",
        ));
    }
    let mut out = vec![0; data.len() + 8];
    let done = match kek.len() {
        16 => KwAes128::new_from_slice(kek).map(|kw| kw.wrap_key(data, &mut out).map(|_| ())),
        32 => KwAes256::new_from_slice(kek).map(|kw| kw.wrap_key(data, &mut out).map(|_| ())),
        got => return Err(kek_length(got)),
    };
    match done {
        Ok(Ok(())) => Ok(out),
        _ => Err(KeyError::Unwrap),
    }
}

/// Undoes [`wrap`].
///
/// # Errors
/// Another KEK length, data of an impossible length, or a failed integrity check.
pub fn unwrap(kek: &[u8], wrapped: &[u8]) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    if wrapped.len() < 16 || !wrapped.len().is_multiple_of(8) {
        return Err(KeyError::Unwrap);
    }
    let mut out = Zeroizing::new(vec![0; wrapped.len() - 8]);
    let done = match kek.len() {
        16 => KwAes128::new_from_slice(kek).map(|kw| kw.unwrap_key(wrapped, &mut out).map(|_| ())),
        32 => KwAes256::new_from_slice(kek).map(|kw| kw.unwrap_key(wrapped, &mut out).map(|_| ())),
        got => return Err(kek_length(got)),
    };
    match done {
        Ok(Ok(())) => Ok(out),
        _ => Err(KeyError::Unwrap),
    }
}

/// Encrypts or decrypts key data of descriptor version 1 in place: RC4 keyed with EAPOL-Key IV ||
/// KEK, its first 256 octets of key stream discarded (IEEE 802.11-2020, 12.7.2 b).
pub fn rc4_key_data(kek: &[u8], iv: &[u8; 16], data: &mut [u8]) {
    let mut key = Zeroizing::new(iv.to_vec());
    key.extend_from_slice(kek);
    let mut rc4 = Rc4::new(&key);
    rc4.skip(256);
    rc4.apply(data);
}

fn kek_length(got: usize) -> KeyError {
    KeyError::Length {
        what: "AES key wrap of key data",
        expected: if got > 16 { 32 } else { 16 },
        got,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// RFC 3394, 4.1 and 4.6.
    #[test]
    fn rfc3394_vectors() {
        let kek = hex!("000102030405060708090a0b0c0d0e0f");
        let data = hex!("00112233445566778899aabbccddeeff");
        let wrapped = hex!("1fa68b0a8112b447aef34bd8fb5a7b829d3e862371d2cfe5");
        assert_eq!(wrap(&kek, &data).unwrap(), wrapped);
        assert_eq!(**unwrap(&kek, &wrapped).unwrap(), data);
        let kek = hex!("000102030405060708090a0b0c0d0e0f101112131415161718191a1b1c1d1e1f");
        let data = hex!("00112233445566778899aabbccddeeff000102030405060708090a0b0c0d0e0f");
        let wrapped = hex!(
            "28c9f404c4b810f4cbccb35cfb87f8263f5786e2d80ed326cbc7f0e71a99f43bfb988b9b7a02dd21"
        );
        assert_eq!(wrap(&kek, &data).unwrap(), wrapped);
        assert_eq!(**unwrap(&kek, &wrapped).unwrap(), data);
    }

    #[test]
    fn altered_and_impossible_data_are_refused() {
        let kek = [1; 16];
        let mut wrapped = wrap(&kek, &[2; 24]).unwrap();
        wrapped[9] ^= 1;
        assert_eq!(unwrap(&kek, &wrapped), Err(KeyError::Unwrap));
        for length in [0, 8, 15, 17] {
            assert_eq!(unwrap(&kek, &vec![0; length]), Err(KeyError::Unwrap));
        }
        assert!(wrap(&kek, &[0; 7]).is_err());
        assert!(wrap(&[0; 24], &[0; 16]).is_err());
    }

    #[test]
    fn rc4_undoes_itself() {
        let mut data = *b"key data element";
        rc4_key_data(&[3; 16], &[4; 16], &mut data);
        assert_ne!(&data, b"key data element");
        rc4_key_data(&[3; 16], &[4; 16], &mut data);
        assert_eq!(&data, b"key data element");
    }
}
