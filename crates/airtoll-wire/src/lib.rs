//! Octet formats: takes slices, gives views and reprs, and writes reprs back.
//!
//! One protocol per file, each in the same order: doc, view over octets with checked length,
//! repr (owned or borrowed values), parse and emit, tests. Emit appends to a `Vec<u8>`.
//! Never does IO, reads no clock, holds no state between frames, never panics on any input.
//!
//! ```
//! use airtoll_wire::ieee80211::element::{Element, Elements, id};
//!
//! let mut octets = Vec::new();
//! Element { id: id::SSID, body: b"home" }.emit(&mut octets);
//! assert_eq!(octets, b"\x00\x04home");
//! assert_eq!(Elements::new(&octets).find_id(id::SSID), Some(&b"home"[..]));
//! ```

pub mod ah;
pub mod arp;
pub mod avs;
pub mod capwap;
pub mod checksum;
pub mod dhcp;
pub mod eapol;
pub mod eapol_key;
pub mod ethernet;
pub mod gre;
pub mod icmp;
pub mod ieee80211;
pub mod ipv4;
pub mod ipv6;
pub mod key_data;
pub mod llc;
pub mod pktap;
pub mod ppi;
pub mod prism;
pub mod radiotap;
pub mod tcp;
pub mod tzsp;
pub mod udp;

mod cursor;
mod error;
mod mac_address;

pub mod eap;
pub mod esp;
pub mod isakmp;
pub mod mobile_ipv4;
pub mod mobile_ipv6;
pub mod openvpn;
pub mod radius;
pub mod tls;
pub mod wireguard;
pub mod wps;

pub use cursor::Cursor;
pub use error::{Error, Result};
pub use mac_address::MacAddress;
