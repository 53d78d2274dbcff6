//! Diffie-Hellman groups of IKE: MODP 1024 to 2048 bits (RFC 2409, RFC 3526), P-256 and X25519 (RFC 8031).
//!
//! Takes a group number and random octets; gives public values and shared secrets, counted in
//! the [`Context`].

use crate::crypto::ec_group::Group;
use crate::crypto::modp::ModpGroup;
use crate::exchange::Context;

/// A group, and this end's secret in it.
#[derive(Clone)]
pub enum DiffieHellman {
    /// Generator 2 modulo a safe prime.
    Modp {
        /// The group.
        group: ModpGroup,
        /// The secret exponent: as many bits as the prime, as FreeS/WAN and strongSwan draw it.
        secret: Vec<u8>,
    },
    /// An elliptic curve.
    Curve {
        /// The group.
        group: Group,
        /// The secret scalar.
        secret: Vec<u8>,
    },
    /// Curve25519.
    X25519 {
        /// The secret scalar.
        secret: [u8; 32],
    },
}

impl DiffieHellman {
    /// Draws a secret in IKE group 2, 5, 14, 19 or 31; `None` for any other.
    pub fn draw(context: &mut Context<'_>, number: u16) -> Option<Self> {
        let group = match number {
            2 => ModpGroup::Modp1024,
            5 => ModpGroup::Modp1536,
            14 => ModpGroup::Modp2048,
            19 => {
                let group = Group::from_number(19)?;
                let secret = group.random_scalar(context);
                return Some(Self::Curve { group, secret });
            }
            31 => {
                let secret = context.random();
                return Some(Self::X25519 { secret });
            }
            _ => return None,
        };
        Some(Self::Modp {
            secret: context.random_octets(group.octets()),
            group,
        })
    }

    /// The public value.
    pub fn public(&self, context: &mut Context<'_>) -> Vec<u8> {
        match self {
            Self::Modp { group, secret } => {
                let power = context.modp_power(*group, None, secret);
                power.unwrap_or_default()
            }
            Self::Curve { group, secret } => {
                group.multiply_base(context, secret).unwrap_or_default()
            }
            Self::X25519 { secret } => context.x25519(secret, &BASE_POINT).to_vec(),
        }
    }

    /// The shared secret; `None` for a public value that is no element of the group.
    pub fn shared(&self, context: &mut Context<'_>, public: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Modp { group, secret } => context.modp_power(*group, Some(public), secret),
            Self::Curve { group, secret } => group.agree(context, public, secret),
            Self::X25519 { secret } => {
                let shared = context.x25519(secret, public.try_into().ok()?);
                (shared != [0; 32]).then(|| shared.to_vec())
            }
        }
    }
}

/// u = 9 (RFC 7748 section 4.1).
pub(crate) const BASE_POINT: [u8; 32] = {
    let mut point = [0; 32];
    point[0] = 9;
    point
};

#[cfg(test)]
mod tests {
    use super::*;
    use rand_chacha::ChaCha8Rng;
    use rand_chacha::rand_core::SeedableRng;

    #[test]
    fn both_ends_share_one_secret_in_every_group() {
        let mut rng = ChaCha8Rng::seed_from_u64(1);
        let mut cx = Context::new(&mut rng);
        for (number, octets) in [(2, 128), (5, 192), (14, 256), (19, 32), (31, 32)] {
            let a = DiffieHellman::draw(&mut cx, number).unwrap();
            let b = DiffieHellman::draw(&mut cx, number).unwrap();
            let (public_a, public_b) = (a.public(&mut cx), b.public(&mut cx));
            let shared = a.shared(&mut cx, &public_b).unwrap();
            assert_eq!(shared.len(), octets);
            assert_eq!(b.shared(&mut cx, &public_a), Some(shared));
            assert_eq!(a.shared(&mut cx, &[1]), None);
        }
    }
}
