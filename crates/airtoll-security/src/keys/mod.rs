//! Key derivation of IEEE 802.11: from passphrase, MSK or SAE to temporal keys.
//!
//! Takes secrets, addresses, nonces and identifiers; gives keys that erase themselves when
//! dropped. Never draws a nonce, never parses a frame: `airtoll-handshakes` does both.

pub mod ft;
pub mod mic;
pub mod pairwise;
pub mod pmkid;
pub mod prf;
pub mod psk;
pub mod wep;
pub mod wrap;

pub use ft::{FtIdentity, PmkR0, PmkR1};
pub use mic::{KeyMic, MicValue};
pub use pairwise::Ptk;
pub use pmkid::pmkid;
