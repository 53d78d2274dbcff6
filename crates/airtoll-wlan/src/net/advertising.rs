//! Advertisements of mobility agents on their way: to the access point, and over its air to all
//! stations. `roam` decides when an agent advertises.

use airtoll_units::Duration;

use super::Net;
use crate::context::Action;
use crate::id::{AgentId, Ends, NodeId, PacketId};
use crate::lower::Lower;
use crate::mac::GroupFrame;
use crate::observe::Observation;
use crate::packet::{Carries, Packet};
use crate::scenario::Role;

impl Net {
    /// An agent sends an advertisement of `octets` from its node to the BSS of an access point.
    pub fn advertise(&mut self, lower: &mut Lower, agent: AgentId, way: Ends<NodeId>, octets: u32) {
        let Ends {
            from: node,
            to: access_point,
        } = way;
        let carries = Carries::Advertisement { agent };
        let packet = Packet::new(carries, access_point, octets, lower.cx.now());
        let packet = lower.cx.packets.insert(packet);
        let work = lower.device.transmit_time(node, octets);
        if node == access_point {
            self.send_to_group(lower, node, packet, work);
        } else {
            self.dispatch(lower, node, packet, work);
        }
    }

    /// An advertisement goes over the air of its access point.
    fn send_to_group(&mut self, lower: &mut Lower, node: NodeId, packet: PacketId, work: Duration) {
        let Some(link) = lower.mac.group_link(lower.medium.radio_of(node)) else {
            lower.cx.packets.remove(packet);
            return;
        };
        let cipher = lower.mac.link(link).cipher();
        let octets = lower.cx.packets[packet].ip_octets + airtoll_phy::LLC_SNAP_OCTETS;
        let device = &mut lower.device;
        let effort = device.cipher_time(&mut lower.cx, node, cipher, true, octets);
        let ready = device.work(&lower.cx, node, work);
        let done = device.encrypt_from(&mut lower.medium, node, ready, effort);
        self.offer_to_radio(lower, node, packet, done);
    }

    /// The frame of an advertisement left the air, and these stations heard it.
    pub fn advertisement_sent(&mut self, lower: &mut Lower, frame: &GroupFrame, heard: &[NodeId]) {
        let p = lower.cx.packets.remove(frame.packet);
        for &station in heard {
            lower.cx.observe(Observation::Receives {
                node: station,
                length: frame.length,
            });
            let copy = lower.cx.packets.insert(Packet { to: station, ..p });
            self.receive_from_air(lower, station, frame.link, copy);
        }
    }

    /// An advertisement is through the stack of its access point, or of a station.
    pub(super) fn advertisement_arrived(&mut self, lower: &mut Lower, agent: AgentId, p: &Packet) {
        if self.role(p.to) == Role::AccessPoint {
            let work = lower.device.forward_time(p.to, p.ip_octets);
            let packet = lower.cx.packets.insert(*p);
            self.send_to_group(lower, p.to, packet, work);
            return;
        }
        let station = p.to;
        lower.cx.act(Action::AdvertisementHeard { station, agent });
    }
}
