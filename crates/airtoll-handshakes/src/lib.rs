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
mod agreement;
pub mod association;
pub mod authentication;
mod context;
mod curve_equation;
pub mod describe;
pub mod diffie_hellman;
pub mod dynamic_wep;
pub mod eap;
pub mod ec_group;
pub mod encapsulation;
pub mod exchange;
pub mod failure;
pub mod fast_transition;
mod ft_hierarchy;
pub mod ike_v1;
pub mod ike_v2;
pub mod kem;
pub mod key_frame;
pub mod key_handshake;
pub mod key_supplicant;
pub mod link;
pub mod mobile_ip;
pub mod modp;
pub mod multi_link;
pub mod negotiation;
pub mod openvpn;
pub mod operation;
pub mod owe;
mod phy_elements;
mod points;
pub mod policy;
mod primitives;
pub mod published;
pub mod radius;
pub mod radius_proxy;
mod resend;
pub mod roles;
pub mod sae;
mod sides;
mod spec_error;
pub mod tls;
#[cfg(test)]
mod vectors;
pub mod wireguard;
pub mod workload;

pub use describe::describe;
pub use exchange::{
    Carrier, Context, Conversation, Emission, Message, Outcome, Party, Peer, Reaction, SecretName,
    Secrets, Status,
};
pub use failure::{Code, Failure};
pub use key_handshake::GroupKeys;
pub use multi_link::{AffiliatedLink, MultiLink};
pub use negotiation::{GroupRenewal, Negotiation, Stage, StageRecord, Transition, announced_link};
pub use operation::{
    Curve, HashAlgorithm, KemAlgorithm, KemStep, Operation, SignatureAlgorithm, merge,
};
pub use policy::{
    AuthenticationAlgorithm, Faults, KeyExchange, LinkSpec, MobileIp, Options, PolicySpec,
    RadiusTls, SpecError, TunnelMove, TunnelSpec,
};
pub use sides::{Sides, Way};
