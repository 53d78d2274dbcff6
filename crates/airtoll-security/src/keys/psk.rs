//! The pre-shared key of a passphrase.
//!
//! Takes a passphrase and an SSID, or 64 hexadecimal digits; gives the 256-bit PSK. Never stores
//! either.

use sha1::Sha1;
use zeroize::Zeroizing;

use crate::error::KeyError;

/// The 256-bit PSK.
pub type Psk = Zeroizing<[u8; 32]>;

/// Iterations of PBKDF2 (IEEE 802.11-2020, J.4.1): most of what deriving a PSK costs.
pub const ITERATIONS: u32 = 4096;

/// PSK = PBKDF2-HMAC-SHA1(passphrase, SSID, 4096, 256 bits) (IEEE 802.11-2020, J.4.1).
///
/// # Errors
/// A passphrase that is not 8 to 63 printable ASCII characters, or an SSID over 32 octets.
pub fn from_passphrase(passphrase: &str, ssid: &[u8]) -> Result<Psk, KeyError> {
    let octets = passphrase.as_bytes();
    if !(8..=63).contains(&octets.len()) || !octets.iter().all(|c| (32..=126).contains(c)) {
        return Err(KeyError::Passphrase);
    }
    if ssid.len() > 32 {
        return Err(KeyError::Ssid(ssid.len()));
    }
    let mut psk = Zeroizing::new([0; 32]);
    pbkdf2::pbkdf2_hmac::<Sha1>(octets, ssid, ITERATIONS, psk.as_mut_slice());
    Ok(psk)
}

/// The PSK written as 64 hexadecimal digits.
///
/// # Errors
/// Anything else.
pub fn from_hex(digits: &str) -> Result<Psk, KeyError> {
    let mut psk = Zeroizing::new([0; 32]);
    super::wep::decode_hex(digits, psk.as_mut_slice())
        .ok_or(KeyError::Text("a PSK is written as 64 hexadecimal digits"))?;
    Ok(psk)
}

#[cfg(test)]
mod tests {
    use super::*;
    use hex_literal::hex;

    /// IEEE 802.11-2020, J.4.2.
    #[test]
    fn annex_j_4() {
        for (passphrase, ssid, psk) in [
            (
                "password",
                "IEEE",
                hex!("f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e"),
            ),
            (
                "ThisIsAPassword",
                "ThisIsASSID",
                hex!("0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af"),
            ),
            (
                "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
                "ZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZZ",
                hex!("becb93866bb8c3832cb777c2f559807c8c59afcb6eae734885001300a981cc62"),
            ),
        ] {
            assert_eq!(*from_passphrase(passphrase, ssid.as_bytes()).unwrap(), psk);
        }
    }

    #[test]
    fn impossible_passphrases_are_refused() {
        assert_eq!(from_passphrase("seven77", b"x"), Err(KeyError::Passphrase));
        assert_eq!(
            from_passphrase(&"a".repeat(64), b"x"),
            Err(KeyError::Passphrase)
        );
        assert_eq!(
            from_passphrase("umlaut ü in it", b"x"),
            Err(KeyError::Passphrase)
        );
        assert_eq!(
            from_passphrase("password", &[b'x'; 33]),
            Err(KeyError::Ssid(33))
        );
        assert!(from_hex("12").is_err());
        assert_eq!(from_hex(&"0F".repeat(32)).unwrap()[31], 0x0f);
    }
}
