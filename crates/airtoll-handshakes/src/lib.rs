//! Handshakes as state machines without IO: real octets in, real octets out.
//!
//! Takes messages, time-outs and a random source; gives messages, the operations before each
//! (so that a device profile can price them), and keys or a named failure with the code that
//! goes over the air. Never reads a clock and never opens a socket; message counts are counted
//! from emitted octets, never looked up. Ciphers, key derivation and the tables of suites are
//! `airtoll-security`'s.
//!
//! ```
//! use airtoll_handshakes::{Negotiation, Options, Outcome, PolicySpec};
//! use rand_chacha::ChaCha8Rng;
//! use rand_chacha::rand_core::SeedableRng;
//!
//! let policy: PolicySpec = serde_json::from_str(
//!     r#"{"name": "wpa2-psk-ccmp",
//!         "link": {"cipher": "ccmp-128", "group_cipher": "ccmp-128", "akm": "psk"}}"#,
//! )?;
//! let random = Box::new(ChaCha8Rng::seed_from_u64(1));
//! let (stages, _) = Negotiation::new(policy, Options::default(), random)?.run()?;
//! let keys = stages.last().expect("a stage");
//! assert!(matches!(keys.outcome, Outcome::Established(_)));
//! assert_eq!(keys.emissions.len(), 4);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

#[cfg(test)]
mod adverse;
mod context;
pub mod crypto;
pub mod describe;
pub mod eap;
pub mod exchange;
pub mod failure;
pub mod link;
pub mod mobility;
pub mod negotiation;
mod octets;
pub mod operation;
pub mod policy;
pub mod published;
pub mod radius;
pub mod radius_proxy;
mod resend;
pub mod roles;
mod sides;
mod spec_error;
pub mod tls;
pub mod tunnel;
pub mod workload;

pub use describe::describe;
pub use exchange::{
    Carrier, Context, Conversation, Emission, Message, Outcome, Party, Peer, Reaction, SecretName,
    Secrets, Status,
};
pub use failure::{Code, Failure};
pub use link::key_handshake::GroupKeys;
pub use link::multi_link::{AffiliatedLink, MultiLink};
pub use negotiation::{GroupRenewal, Negotiation, Stage, StageRecord, Transition, announced_link};
pub use operation::{
    Curve, HashAlgorithm, KemAlgorithm, KemStep, Operation, SignatureAlgorithm, merge,
};
pub use policy::{
    AuthenticationAlgorithm, Faults, KeyExchange, LinkSpec, MobileIp, Options, PolicySpec,
    RadiusTls, SpecError, TunnelMove, TunnelSpec,
};
pub use sides::{Sides, Way};
