//! Elliptic-curve Diffie-Hellman: public values and shared secrets.
//!
//! Takes scalars and points as octets; gives points (`x || y`) and the x coordinate of products. Both
//! backends give the same octets. The feature `aws-lc` takes AWS-LC, whose field
//! arithmetic is in assembly; without it, as in WebAssembly, RustCrypto and x25519-dalek compute. A
//! point that is needed whole is of `points`.

use crate::operation::Curve;

/// X25519 (RFC 7748 section 5); zero for a point of small order.
pub(crate) fn x25519(secret: &[u8; 32], point: &[u8; 32]) -> [u8; 32] {
    backend::x25519(secret, point)
}

/// `scalar` times the generator of a NIST curve; `None` unless the scalar is from 1 to order - 1.
pub(crate) fn public(curve: Curve, scalar: &[u8]) -> Option<Vec<u8>> {
    backend::public(curve, scalar)
}

/// The x coordinate of `scalar` times a point of a NIST curve (RFC 5903 section 7, RFC 8446 section
/// 7.4.2); `None` unless the point is on the curve and the scalar from 1 to order - 1.
pub(crate) fn shared(curve: Curve, scalar: &[u8], point: &[u8]) -> Option<Vec<u8>> {
    backend::shared(curve, scalar, point)
}

#[cfg(feature = "aws-lc")]
mod backend {
    use aws_lc_rs::agreement::{
        Algorithm, ECDH_P256, ECDH_P384, ECDH_P521, PrivateKey, UnparsedPublicKey, X25519, agree,
    };

    use super::Curve;

    pub fn x25519(secret: &[u8; 32], point: &[u8; 32]) -> [u8; 32] {
        // AWS-LC refuses a point of small order, whose product is zero.
        product(&X25519, secret, point)
            .and_then(|shared| shared.try_into().ok())
            .unwrap_or_default()
    }

    pub fn public(curve: Curve, scalar: &[u8]) -> Option<Vec<u8>> {
        let key = PrivateKey::from_private_key(algorithm(curve)?, scalar).ok()?;
        let public = key.compute_public_key().ok()?;
        let (_uncompressed, point) = public.as_ref().split_first()?;
        Some(point.to_vec())
    }

    pub fn shared(curve: Curve, scalar: &[u8], point: &[u8]) -> Option<Vec<u8>> {
        product(algorithm(curve)?, scalar, &[&[4], point].concat())
    }

    fn product(algorithm: &'static Algorithm, scalar: &[u8], point: &[u8]) -> Option<Vec<u8>> {
        let key = PrivateKey::from_private_key(algorithm, scalar).ok()?;
        let point = UnparsedPublicKey::new(algorithm, point);
        agree(&key, point, (), |shared| Ok(shared.to_vec())).ok()
    }

    fn algorithm(curve: Curve) -> Option<&'static Algorithm> {
        match curve {
            Curve::P256 => Some(&ECDH_P256),
            Curve::P384 => Some(&ECDH_P384),
            Curve::P521 => Some(&ECDH_P521),
            Curve::X25519 => None,
        }
    }
}

// Tests hold it against AWS-LC.
#[cfg(any(test, not(feature = "aws-lc")))]
mod portable {
    use super::Curve;
    use crate::crypto::points::{multiply, multiply_base};

    pub fn x25519(secret: &[u8; 32], point: &[u8; 32]) -> [u8; 32] {
        x25519_dalek::x25519(*secret, *point)
    }

    pub fn public(curve: Curve, scalar: &[u8]) -> Option<Vec<u8>> {
        match curve {
            Curve::P256 => multiply_base::<p256::NistP256>(scalar),
            Curve::P384 => multiply_base::<p384::NistP384>(scalar),
            Curve::P521 => multiply_base::<p521::NistP521>(scalar),
            Curve::X25519 => None,
        }
    }

    pub fn shared(curve: Curve, scalar: &[u8], point: &[u8]) -> Option<Vec<u8>> {
        let mut product = match curve {
            Curve::P256 => multiply::<p256::NistP256>(point, scalar),
            Curve::P384 => multiply::<p384::NistP384>(point, scalar),
            Curve::P521 => multiply::<p521::NistP521>(point, scalar),
            Curve::X25519 => None,
        }?;
        product.truncate(product.len() / 2);
        Some(product)
    }
}

#[cfg(not(feature = "aws-lc"))]
use portable as backend;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const CURVES: [(Curve, usize); 3] = [(Curve::P256, 32), (Curve::P384, 48), (Curve::P521, 66)];

    #[test]
    fn points_of_small_order_give_zero() {
        for point in [[0; 32], {
            let mut one = [0; 32];
            one[0] = 1;
            one
        }] {
            assert_eq!(x25519(&[7; 32], &point), [0; 32]);
            assert_eq!(portable::x25519(&[7; 32], &point), [0; 32]);
        }
    }

    #[test]
    fn no_scalar_and_no_point_outside_the_group() {
        for (curve, octets) in CURVES {
            let point = public(curve, &[&vec![0; octets - 1][..], &[5]].concat()).unwrap();
            let mut wrong = point.clone();
            wrong[octets] ^= 1;
            for (scalar, point) in [
                (vec![0; octets], &point),
                (vec![0xff; octets], &point),
                (vec![0; octets + 1], &point),
                ([&vec![0; octets - 1][..], &[3]].concat(), &wrong),
            ] {
                assert_eq!(shared(curve, &scalar, point), None);
                assert_eq!(portable::shared(curve, &scalar, point), None);
            }
            assert_eq!(public(curve, &vec![0; octets]), None);
        }
    }

    proptest! {
        #[test]
        fn both_backends_give_the_same_octets(a: [u8; 32], b: [u8; 32]) {
            let base = crate::crypto::diffie_hellman::BASE_POINT;
            let point = x25519(&b, &base);
            prop_assert_eq!(point, portable::x25519(&b, &base));
            prop_assert_eq!(x25519(&a, &point), portable::x25519(&a, &point));
            for (curve, octets) in CURVES {
                let [a, b] = [a, b].map(|scalar| {
                    // 31 octets are below every order.
                    [&vec![0; octets - 31][..], &scalar[1..]].concat()
                });
                let point = public(curve, &b);
                prop_assert_eq!(&point, &portable::public(curve, &b));
                let Some(point) = point else { continue };
                prop_assert_eq!(shared(curve, &a, &point), portable::shared(curve, &a, &point));
            }
        }
    }
}
