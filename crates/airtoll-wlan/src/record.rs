//! Recording: what the simulated air and wires carried, as octets, to whoever keeps it.
//!
//! Takes the transmissions and packets of a trial as they end; gives every one with its octets to a
//! [`Sink`], and the keys that open them. A trial without a sink composes nothing. Never changes
//! what happens: a trial with a sink and one without give the same rows.
//!
//! The view of the air is that of a monitor beside each frame's receiver: the signal is what that
//! receiver hears, and frames that others overlapped beyond decoding are not there.

mod advertising;
mod cipher;
mod frame;
mod keys;
mod packet;
mod radio;
mod recorder;
mod resolving;
mod signal;
#[cfg(test)]
mod tests;
mod tunnel;

pub(crate) use recorder::{Recorder, supported_rates};

use airtoll_handshakes::Secrets;
use airtoll_units::Instant;
use serde::Serialize;

use crate::medium::channel::Transmission;
use crate::packet::PacketId;
use crate::world::World;

/// What carries an interface's packets.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Medium {
    /// Radiotap header, 802.11 frame, FCS.
    Air,
    /// Ethernet frame without FCS.
    Wire,
}

/// Takes what a trial carries. Errors are the sink's own business: it remembers them.
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
        /// Whose it is.
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
        /// Whose it is.
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
        /// Whose it is.
        bssid: String,
    },
    /// An integrity group temporal key.
    Igtk {
        /// Key ID.
        index: String,
        /// The key.
        key: String,
        /// Whose it is.
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

impl World {
    /// Reports a transmission that ended, before anything follows from it.
    pub(crate) fn record_transmission(&mut self, t: &Transmission, clashes: &[(u32, Instant)]) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.transmission(self, t, clashes);
            self.recorder = Some(recorder);
        }
    }

    /// Keys were agreed on between a station and its access point.
    pub(crate) fn record_keys(&mut self, station: u32, access_point: u32, secrets: &Secrets) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.agreed(self, (station, access_point), secrets);
            self.recorder = Some(recorder);
        }
    }

    /// All stations of an access point have its new group keys, and it sends under them.
    pub(crate) fn record_group_keys(&mut self, access_point: u32) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.group_keys(self, access_point);
            self.recorder = Some(recorder);
        }
    }

    /// The ends of a tunnel agreed on its keys.
    pub(crate) fn record_tunnel(&mut self, node: u32, secrets: &Secrets) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.tunnel_agreed(self, node, secrets);
            self.recorder = Some(recorder);
        }
    }

    /// The tunnels of a node go on at another one.
    pub(crate) fn record_moved_tunnels(&mut self, from: u32, there: u32) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.tunnels_moved(self, from, there);
            self.recorder = Some(recorder);
        }
    }

    /// The far ends of a node's tunnels know its address.
    pub(crate) fn record_gateway_follows(&mut self, node: u32) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.gateway_follows(self, node);
            self.recorder = Some(recorder);
        }
    }

    /// Reports a packet that arrived at the end of a wire.
    pub(crate) fn record_wired(&mut self, wire: u32, packet: PacketId) {
        if let Some(mut recorder) = self.recorder.take() {
            recorder.wired(self, wire, packet, self.stack.lower.cx.events.now());
            self.recorder = Some(recorder);
        }
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
