//! Errors of keys and protected frames.
//!
//! Takes nothing; gives one error type for keys and one for frames. Never carries key material or
//! plaintext.

/// A key, passphrase or wrapped key that cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum KeyError {
    /// The key has the wrong number of octets.
    #[error("{what} takes {expected} octets of key, got {got}")]
    Length {
        /// Purpose of the key.
        what: &'static str,
        /// Octets it takes.
        expected: usize,
        /// Octets it got.
        got: usize,
    },
    /// A passphrase outside 8 to 63 printable ASCII characters (IEEE 802.11-2020, J.4.1).
    #[error(
        "a passphrase has 8 to 63 printable ASCII characters; use 64 hexadecimal digits for a PSK"
    )]
    Passphrase,
    /// An SSID longer than 32 octets.
    #[error("an SSID has at most 32 octets, got {0}")]
    Ssid(usize),
    /// Text that is neither ASCII key nor hexadecimal of the right length.
    #[error("{0}")]
    Text(&'static str),
    /// Wrapped key data that fail the integrity check of RFC 3394.
    #[error("wrapped key data fail their integrity check: wrong KEK or altered data")]
    Unwrap,
    /// An identifier too long for the field that carries it.
    #[error("{what} has at most {limit} octets, got {got}")]
    Field {
        /// The field.
        what: &'static str,
        /// Its limit.
        limit: usize,
        /// Octets given.
        got: usize,
    },
    /// The AKM has no such key (an FT name asked of an AKM without FT, for example).
    #[error("{0}")]
    NotDefined(&'static str),
}

/// A protected frame or packet that was not accepted, or one that could not be protected.
///
/// Nothing of the plaintext survives an error: see the type that returned it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CipherError {
    /// The frame ends before a field that must be there.
    #[error("frame of {got} octets, at least {needed} needed")]
    TooShort {
        /// Octets needed.
        needed: usize,
        /// Octets there.
        got: usize,
    },
    /// The payload is longer than the cipher's length field can say.
    #[error("payload of {got} octets, at most {limit} possible")]
    TooLong {
        /// The limit.
        limit: usize,
        /// Octets there.
        got: usize,
    },
    /// The frame is of a kind the cipher does not protect, or its header is inconsistent.
    #[error("{0}")]
    Malformed(&'static str),
    /// The Protected Frame bit is clear.
    #[error("the Protected Frame bit is clear")]
    NotProtected,
    /// The MIC, ICV or tag does not match.
    #[error("integrity check failed")]
    Integrity,
    /// Michael's MIC does not match although the ICV does: counts for countermeasures.
    #[error("Michael MIC check failed")]
    Michael,
    /// The packet number was seen before or lies below the replay window.
    #[error("packet number {number} was used before (highest accepted {highest})")]
    Replay {
        /// The packet number of the frame.
        number: u64,
        /// The highest accepted so far.
        highest: u64,
    },
    /// No packet number is left under this key.
    #[error("packet numbers exhausted: a new key is due")]
    Exhausted,
    /// The frame names another key.
    #[error("the frame uses another key or security association")]
    OtherKey,
}
