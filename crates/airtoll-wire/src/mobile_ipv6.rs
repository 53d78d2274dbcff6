//! Mobile IPv6: takes the Mobility Header, gives the type of its message.
//!
//! Source: RFC 6275 section 6.1. Never checks an authenticator; options are not read.

use crate::{Error, Result};

const FORMAT: &str = "Mobility Header";

/// IP protocol number.
pub const PROTOCOL: u8 = 135;
/// Octets before the message data.
pub const LEN: usize = 6;

/// Types of messages (section 6.1.1).
pub mod message {
    /// Binding Refresh Request.
    pub const REFRESH_REQUEST: u8 = 0;
    /// Home Test Init.
    pub const HOME_TEST_INIT: u8 = 1;
    /// Care-of Test Init.
    pub const CARE_OF_TEST_INIT: u8 = 2;
    /// Home Test.
    pub const HOME_TEST: u8 = 3;
    /// Care-of Test.
    pub const CARE_OF_TEST: u8 = 4;
    /// Binding Update.
    pub const BINDING_UPDATE: u8 = 5;
    /// Binding Acknowledgement.
    pub const BINDING_ACKNOWLEDGEMENT: u8 = 6;
    /// Binding Error.
    pub const BINDING_ERROR: u8 = 7;
}

/// Reads the type of a message.
///
/// # Errors
/// [`Error`] on a header that is cut short.
pub fn message_type(octets: &[u8]) -> Result<u8> {
    octets
        .first_chunk::<LEN>()
        .map(|header| header[2])
        .ok_or(Error::truncated(FORMAT, LEN, octets.len()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_type_is_the_third_octet() {
        assert_eq!(
            message_type(&[59, 1, 5, 0, 0, 0, 0, 0]),
            Ok(message::BINDING_UPDATE)
        );
        assert!(message_type(&[59, 1, 5]).is_err());
    }
}
