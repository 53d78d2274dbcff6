//! A TLS session that both ends remember: a session ID with its master secret in TLS 1.2 (RFC 5246
//! section 7.4.1.2), a ticket with its PSK in TLS 1.3 (RFC 8446 section 4.6.1).
//!
//! Takes what a handshake left, octets, or a random source; gives a [`Session`]. Never forgets one
//! by itself: lifetimes need a clock, which is the caller's.
//!
//! In TLS 1.2 the server remembers the session (no tickets of RFC 5077): FreeRADIUS, hostapd and
//! wpa_supplicant all switch those off for EAP.

use super::{TlsSuite, TlsVersion};
use crate::exchange::Context;

/// A session that both ends remember.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Session {
    /// Session ID (1.2) or ticket (1.3).
    pub identifier: Vec<u8>,
    /// Master secret (1.2) or PSK (1.3).
    pub secret: Vec<u8>,
    /// Addend that hides the age of a ticket (1.3).
    pub age_add: u32,
}

impl Session {
    /// A session like that of a full handshake between two ends of this crate, drawn without one: the
    /// same lengths, random values.
    pub fn drawn(context: &mut Context<'_>, version: TlsVersion, suite: TlsSuite) -> Self {
        let identifier = context.random_octets(32);
        let tls13 = version == TlsVersion::Tls13;
        Self {
            identifier,
            secret: context.random_octets(if tls13 {
                suite.hash().digest_octets()
            } else {
                48
            }),
            age_add: if tls13 {
                u32::from_be_bytes(context.random())
            } else {
                0
            },
        }
    }

    /// The session as octets, for [`Self::from_octets`]: the age's mask, the identifier behind its
    /// length of two octets, the secret.
    #[must_use]
    pub fn to_octets(&self) -> Vec<u8> {
        let mut out = self.age_add.to_be_bytes().to_vec();
        out.extend(super::vector16(&self.identifier));
        out.extend(&self.secret);
        out
    }

    /// Undoes [`Self::to_octets`]; `None` for octets that are no session.
    #[must_use]
    pub fn from_octets(octets: &[u8]) -> Option<Self> {
        let (age_add, rest) = octets.split_first_chunk::<4>()?;
        let (length, rest) = rest.split_first_chunk::<2>()?;
        let length = usize::from(u16::from_be_bytes(*length));
        let (identifier, secret) = rest.split_at_checked(length)?;
        (length > 0 && !secret.is_empty()).then(|| Self {
            identifier: identifier.to_vec(),
            secret: secret.to_vec(),
            age_add: u32::from_be_bytes(*age_add),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn octets_give_the_session_back_and_less_of_them_none() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        for version in [TlsVersion::Tls12, TlsVersion::Tls13] {
            let session = Session::drawn(&mut cx, version, TlsSuite::default());
            let octets = session.to_octets();
            assert_eq!(Session::from_octets(&octets), Some(session));
            assert_eq!(Session::from_octets(&octets[..38]), None);
        }
    }
}
