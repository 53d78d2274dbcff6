//! Diffie-Hellman groups of IKE: MODP 1024 to 2048 bits (RFC 2409, RFC 3526), P-256 and X25519 (RFC 8031).
//!
//! Takes a group number and random octets; gives public values and shared secrets, counted in
//! the [`Context`].

use num_bigint::BigUint;

use super::ec_group::Group;
use super::exchange::Context;

/// A group, and this end's secret in it.
#[derive(Clone)]
pub enum DiffieHellman {
    /// Generator 2 modulo a safe prime.
    Modp {
        /// The prime, big-endian.
        prime: Vec<u8>,
        /// The secret exponent: as many bits as the prime, as FreeS/WAN and strongSwan draw it.
        secret: Vec<u8>,
    },
    /// An elliptic curve.
    Curve {
        /// The group.
        group: Box<Group>,
        /// The secret scalar.
        secret: BigUint,
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
        let prime = match number {
            2 => MODP_1024,
            5 => MODP_1536,
            14 => MODP_2048,
            19 => {
                let group = Group::from_number(19)?;
                let secret = group.random_scalar(context);
                return Some(Self::Curve {
                    group: Box::new(group),
                    secret,
                });
            }
            31 => {
                let secret = context.random();
                return Some(Self::X25519 { secret });
            }
            _ => return None,
        };
        let prime = BigUint::parse_bytes(prime.as_bytes(), 16)?.to_bytes_be();
        Some(Self::Modp {
            secret: context.random_octets(prime.len()),
            prime,
        })
    }

    /// The public value.
    pub fn public(&self, context: &mut Context<'_>) -> Vec<u8> {
        match self {
            Self::Modp { prime, secret } => context.mod_exp(&[2], secret, prime),
            Self::Curve { group, secret } => {
                group.multiply_base(context, secret).unwrap_or_default()
            }
            Self::X25519 { secret } => context.x25519(secret, &BASE_POINT).to_vec(),
        }
    }

    /// The shared secret; `None` for a public value that is no element of the group.
    pub fn shared(&self, context: &mut Context<'_>, public: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Modp { prime, secret } => {
                let value = BigUint::from_bytes_be(public);
                let small = value <= BigUint::from(1_u8);
                if small
                    || public.len() != prime.len()
                    || value >= BigUint::from_bytes_be(prime) - 1_u8
                {
                    return None;
                }
                Some(context.mod_exp(public, secret, prime))
            }
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

// RFC 2409 section 6.2: 2^1024 - 2^960 - 1 + 2^64 ([2^894 pi] + 129093).
const MODP_1024: &str = "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74\
    020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
    4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece65381ffffffffffffffff";
// RFC 3526 section 2: 2^1536 - 2^1472 - 1 + 2^64 ([2^1406 pi] + 741804).
const MODP_1536: &str = "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74\
    020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
    4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf05\
    98da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb\
    9ed529077096966d670c354e4abc9804f1746c08ca237327ffffffffffffffff";
// RFC 3526 section 3: 2^2048 - 2^1984 - 1 + 2^64 ([2^1918 pi] + 124476).
const MODP_2048: &str = "ffffffffffffffffc90fdaa22168c234c4c6628b80dc1cd129024e088a67cc74\
    020bbea63b139b22514a08798e3404ddef9519b3cd3a431b302b0a6df25f1437\
    4fe1356d6d51c245e485b576625e7ec6f44c42e9a637ed6b0bff5cb6f406b7ed\
    ee386bfb5a899fa5ae9f24117c4b1fe649286651ece45b3dc2007cb8a163bf05\
    98da48361c55d39a69163fa8fd24cf5f83655d23dca3ad961c62f356208552bb\
    9ed529077096966d670c354e4abc9804f1746c08ca18217c32905e462e36ce3b\
    e39e772c180e86039b2783a2ec07a28fb5c55df06f4c52c9de2bcbf695581718\
    3995497cea956ae515d2261898fa051015728e5a8aacaa68ffffffffffffffff";

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
