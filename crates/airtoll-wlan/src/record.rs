//! Recording: the octets that the simulated air and wires carried, for a [`Sink`].
//!
//! Takes the transmissions and packets of a trial as they end; gives every one with its octets to a
//! sink, and the keys that open them. A trial without a sink composes nothing. Never changes the
//! trial: a trial with a sink and one without give the same rows.
//!
//! The view of the air is that of a monitor beside each frame's receiver: the signal is what that
//! receiver hears, and frames that overlap made undecodable are missing.

mod advertising;
mod cipher;
mod frame;
mod ip;
mod keys;
mod multicast;
mod packet;
mod power_save;
mod radio;
mod recorder;
mod resolving;
mod signal;
mod stream;
mod tcp_options;
#[cfg(test)]
mod tests;
mod tunnel;

pub(crate) use recorder::Recorder;

use airtoll_security::CipherSuite;
use airtoll_units::Instant;
use airtoll_wire::MacAddress;
use serde::Serialize;

use crate::address;
use crate::flow::Flow;
use crate::id::{FlowId, PacketId, RadioId};
use crate::join::Join;
use crate::mac::Mac;
use crate::medium::Medium as Air;
use crate::net::Net;
use crate::packet::Packet;
use crate::roam::Roam;
use crate::stack::Stack;

/// Medium of an interface.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// Radiotap header, 802.11 frame, FCS.
    Air,
    /// Ethernet frame without FCS.
    Wire,
}

/// Takes the frames, packets and keys of a trial. The sink keeps its own errors.
pub trait Sink {
    /// Describes an interface before its first packet; gives the number for [`Sink::packet`].
    fn interface(&mut self, medium: Medium, name: &str) -> u32;

    /// A packet whose last octet was on the medium at `at`; calls come in the order of time.
    fn packet(&mut self, interface: u32, at: Instant, octets: &[u8]);

    /// A key that was installed or agreed on.
    fn key(&mut self, key: &Key);
}

/// A row of the key log; octets are written as hexadecimal digits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Key {
    /// A static WEP key.
    Wep {
        /// Key index, 0 to 3.
        index: String,
        /// The key.
        key: String,
    },
    /// A passphrase and the network that it belongs to.
    Passphrase {
        /// Network name.
        ssid: String,
        /// The passphrase.
        passphrase: String,
    },
    /// A pairwise master key.
    Pmk {
        /// The key.
        key: String,
        /// The station that has the key.
        station: String,
        /// At which access point.
        bssid: String,
        /// The station's name in the scenario.
        name: String,
    },
    /// A temporal key (of TKIP with its Michael keys).
    Tk {
        /// The key.
        key: String,
        /// The station that has the key.
        station: String,
        /// At which access point.
        bssid: String,
        /// The station's name in the scenario.
        name: String,
    },
    /// A group temporal key (of TKIP with its Michael keys).
    Gtk {
        /// Key ID.
        index: String,
        /// The key.
        key: String,
        /// The BSS that has the key.
        bssid: String,
    },
    /// An integrity group temporal key.
    Igtk {
        /// Key ID.
        index: String,
        /// The key.
        key: String,
        /// The BSS that has the key.
        bssid: String,
    },
    /// A beacon integrity group temporal key.
    Bigtk {
        /// Key ID.
        index: String,
        /// The key.
        key: String,
        /// The BSS that has the key.
        bssid: String,
    },
    /// One direction of an ESP tunnel.
    Esp {
        /// Address of the sender.
        source: String,
        /// Address of the receiver.
        destination: String,
        /// Security parameters index.
        spi: String,
        /// Name of the transform.
        transform: String,
        /// Encryption key, of AES-GCM with its salt.
        #[serde(rename = "enc-key")]
        encryption: String,
        /// Integrity key.
        #[serde(rename = "auth-key")]
        integrity: String,
    },
    /// One direction of OpenVPN's data channel.
    OpenvpnData {
        /// Address of the sender.
        source: String,
        /// Address of the receiver.
        destination: String,
        /// The peer ID.
        peer: String,
        /// AES-256 key with the 8 octets of the implicit nonce behind it.
        key: String,
    },
    /// One direction of a WireGuard session.
    WireguardSession {
        /// Address of the sender.
        source: String,
        /// Address of the receiver.
        destination: String,
        /// The receiver's index.
        receiver: String,
        /// The key.
        key: String,
    },
}

/// Place in [`crate::Scenario::nodes`] of the node with this MAC address, if an address of the
/// simulator has this form.
#[must_use]
pub fn node_number(address: MacAddress) -> Option<usize> {
    address::number(address)
}

/// The subsystems as a recorder sees them.
pub(crate) struct View<'a> {
    pub stack: &'a Stack,
    pub join: &'a Join,
    pub roam: &'a Roam,
}

impl View<'_> {
    fn medium(&self) -> &Air {
        &self.stack.lower.medium
    }

    fn mac(&self) -> &Mac {
        &self.stack.lower.mac
    }

    fn net(&self) -> &Net {
        &self.stack.net
    }

    fn packet(&self, packet: PacketId) -> Packet {
        self.stack.lower.cx.packets[packet]
    }

    fn flow(&self, flow: FlowId) -> &Flow {
        self.stack.flow.flow(flow)
    }

    /// The MAC address of the node of a radio.
    fn mac_of(&self, radio: RadioId) -> MacAddress {
        address::mac(self.medium().host_of(radio))
    }

    /// The first neighbour of a radio: of a station's its access point's.
    fn first_neighbour(&self, node: RadioId) -> Option<RadioId> {
        let mut links = self.mac().first_links(node);
        links.next().map(|link| self.mac().link(link).peer())
    }

    /// A radio that hears the frames of another that have no receiver.
    fn listener(&self, node: RadioId) -> Option<RadioId> {
        if self.mac().passes_by(node) {
            return self.mac().first_responder();
        }
        self.first_neighbour(node)
    }

    /// The cipher of a station's data frames.
    fn first_cipher(&self, node: RadioId) -> Option<CipherSuite> {
        let mut links = self.mac().first_links(node);
        links.next().map(|link| self.mac().link(link).cipher())
    }
}

/// Octets as hexadecimal digits.
pub(crate) fn hex(octets: &[u8]) -> String {
    use core::fmt::Write;
    let mut text = String::with_capacity(octets.len() * 2);
    for octet in octets {
        // Writing to a string does not fail.
        let _ = write!(text, "{octet:02x}");
    }
    text
}
