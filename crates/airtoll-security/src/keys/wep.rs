//! WEP keys as people write them.
//!
//! Takes 5 or 13 ASCII characters, or 10 or 26 hexadecimal digits; gives the key's octets. Never
//! guesses: other lengths are refused.

use zeroize::Zeroizing;

use crate::error::KeyError;

/// A WEP-40 (5 octets) or WEP-104 (13 octets) key.
///
/// # Errors
/// Text of any other length, or digits that are not hexadecimal.
pub fn from_text(text: &str) -> Result<Zeroizing<Vec<u8>>, KeyError> {
    const EXPECTED: KeyError =
        KeyError::Text("a WEP key is 5 or 13 ASCII characters, or 10 or 26 hexadecimal digits");
    match text.len() {
        5 | 13 if text.is_ascii() => Ok(Zeroizing::new(text.as_bytes().to_vec())),
        10 | 26 => {
            let mut key = Zeroizing::new(vec![0; text.len() / 2]);
            decode_hex(text, &mut key).ok_or(EXPECTED)?;
            Ok(key)
        }
        _ => Err(EXPECTED),
    }
}

/// Decodes exactly `out.len() * 2` hexadecimal digits; none if there are more, fewer or others.
pub(crate) fn decode_hex(digits: &str, out: &mut [u8]) -> Option<()> {
    let digits = digits.as_bytes();
    if digits.len() != out.len() * 2 {
        return None;
    }
    let value = |c: u8| (c as char).to_digit(16).map(|v| v as u8);
    for (octet, pair) in out.iter_mut().zip(digits.chunks_exact(2)) {
        *octet = value(pair[0])? << 4 | value(pair[1])?;
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_notations() {
        assert_eq!(**from_text("abcde").unwrap(), *b"abcde");
        assert_eq!(**from_text("6162636465").unwrap(), *b"abcde");
        assert_eq!(from_text("abcdefghijklm").unwrap().len(), 13);
        assert_eq!(from_text("00112233445566778899aabbcc").unwrap()[12], 0xcc);
        for bad in ["", "abcd", "616263646", "616263646x", "ümlau"] {
            assert!(from_text(bad).is_err(), "{bad}");
        }
    }
}
