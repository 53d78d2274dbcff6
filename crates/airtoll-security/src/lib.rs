//! Link ciphers, tunnels and key derivation, and what each costs in octets.
//!
//! Takes keys, frames and packets as octets; gives octets back. Never does IO, never reads a
//! clock, never draws randomness: nonces, packet numbers and times come from the caller.
//!
//! ```
//! use airtoll_security::keys::psk;
//!
//! // IEEE 802.11-2020, annex J.4.2.
//! let key = psk::from_passphrase("password", b"IEEE")?;
//! assert_eq!(key[..4], [0xf4, 0x2c, 0x6f, 0xc5]);
//! # Ok::<(), airtoll_security::KeyError>(())
//! ```

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
