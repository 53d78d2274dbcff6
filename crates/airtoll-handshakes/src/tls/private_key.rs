//! Private keys of certificate chains.

use std::sync::Arc;

use ml_dsa::{MlDsa44, MlDsa65, MlDsa87};
use slh_dsa::Sha2_128s;

use super::by_size::SizedKey;
use super::rsa_key::RsaKey;

/// A private key of a chain.
#[derive(Clone)]
pub(super) enum PrivateKey {
    Rsa(Arc<RsaKey>),
    P256(p256::ecdsa::SigningKey),
    P384(p384::ecdsa::SigningKey),
    MlDsa44(Box<ml_dsa::SigningKey<MlDsa44>>),
    MlDsa65(Box<ml_dsa::SigningKey<MlDsa65>>),
    MlDsa87(Box<ml_dsa::SigningKey<MlDsa87>>),
    SlhDsa(Box<slh_dsa::SigningKey<Sha2_128s>>),
    BySize(SizedKey),
}
