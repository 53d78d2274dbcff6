//! Octet formats: takes slices, gives views and reprs, and writes reprs back.
//!
//! One protocol per file, each in the same order: doc, view over octets with checked length,
//! repr (owned or borrowed values), parse and emit, tests. Emit appends to a `Vec<u8>`.
//! Never does IO, reads no clock, holds no state between frames, never panics on any input.

mod cursor;
mod error;
mod mac_address;

pub mod eap;
pub mod esp;
pub mod isakmp;
pub mod mobile_ipv4;
pub mod radius;
pub mod tls;
pub mod wireguard;

pub use cursor::Cursor;
pub use error::{Error, Result};
pub use mac_address::MacAddress;
