//! The error of every format: takes the mistake, gives one line that names the format.
//!
//! It never contains octets of the frame, because they may hold a key or an identity.

use thiserror::Error;

/// Why octets could not be read as the format that was asked for, or a value not written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum Error {
    /// The octets end before the format does.
    #[error("{format}: needs {needed} octets, has {had}")]
    Truncated {
        /// Format by its standard name.
        format: &'static str,
        /// Octets that the format asks for.
        needed: usize,
        /// Octets that are there.
        had: usize,
    },
    /// A field has a value that the format does not allow.
    #[error("{format}: {what}")]
    Malformed {
        /// Format by its standard name.
        format: &'static str,
        /// The mistake, in words.
        what: &'static str,
    },
}

/// Result of everything that parses or emits.
pub type Result<T> = core::result::Result<T, Error>;

impl Error {
    /// A [`Error::Truncated`].
    pub const fn truncated(format: &'static str, needed: usize, had: usize) -> Self {
        Self::Truncated {
            format,
            needed,
            had,
        }
    }

    /// A [`Error::Malformed`].
    pub const fn malformed(format: &'static str, what: &'static str) -> Self {
        Self::Malformed { format, what }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn says_format_and_lengths() {
        let text = Error::truncated("EAPOL", 4, 3).to_string();
        assert_eq!(text, "EAPOL: needs 4 octets, has 3");
    }
}
