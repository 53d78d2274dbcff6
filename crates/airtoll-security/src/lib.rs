//! Link ciphers, tunnels and key derivation, and what each costs in octets.
//!
//! Takes keys, frames and packets as octets; gives octets back. Never does IO, never reads a
//! clock, never draws randomness: nonces, packet numbers and times come from the caller.

pub mod aead;
pub mod akm;
pub mod ccm;
pub mod eap_method;
pub mod error;
pub mod esp;
pub mod ike;
pub mod ipsec;
pub mod kernels;
pub mod keys;
pub mod link;
pub mod openvpn;
pub mod rc4;
pub mod suite;
mod table;
pub mod tunnel;
pub mod vectors;
pub mod window;
pub mod wireguard;
pub mod workload;

pub use akm::{AkmHash, AkmSuite, Credential};
pub use eap_method::EapMethod;
pub use error::{CipherError, KeyError};
pub use suite::CipherSuite;
pub use tunnel::{OuterIp, Tunnel, TunnelSuite};
