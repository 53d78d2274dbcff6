//! Group-addressed frames: sent once, not acknowledged, and heard by any number of stations.

use std::collections::VecDeque;

use airtoll_phy::TxVector;
use airtoll_units::Duration;

use super::Mac;
use super::link::Traffic;
use crate::context::Context;
use crate::id::{ContenderId, LinkId, PacketId, RadioId};
use crate::medium::{Medium, Transmission};
use crate::observe::Observation;
use crate::observe::ledger::Air;
use crate::packet::Loss;

/// A group-addressed frame that left the air.
#[derive(Debug, Clone, Copy)]
pub(crate) struct GroupFrame {
    pub link: LinkId,
    /// The access point, or a station that looks for one.
    pub node: RadioId,
    pub packet: PacketId,
    pub octets: u32,
    pub length: Duration,
    /// Vector of the frame.
    pub vector: TxVector,
}

/// Group-addressed frames that wait for a DTIM beacon, because a station of the BSS dozes.
#[derive(Debug, Default)]
pub(crate) struct Held {
    /// Beacon intervals from one DTIM to the next.
    period: u32,
    /// Beacon intervals to the next DTIM.
    count: u32,
    waiting: VecDeque<PacketId>,
}

/// Fields of the TIM element for group-addressed frames (9.4.2.5).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Indication {
    /// DTIM count.
    pub count: u8,
    /// DTIM period.
    pub period: u8,
    /// Whether frames wait.
    pub waits: bool,
}

impl Held {
    /// The fields of the next beacon.
    pub fn indication(&self) -> Indication {
        Indication {
            count: self.count as u8,
            period: self.period as u8,
            waits: !self.waiting.is_empty(),
        }
    }
}

impl Mac {
    /// Group-addressed frames of an access point wait for every `period`th beacon.
    pub fn hold_groups(&mut self, access_point: RadioId, period: u32) {
        let node = &mut self.nodes[access_point];
        node.held = Some(Held {
            period,
            ..Held::default()
        });
        if let Some(link) = node.group {
            self.links[link].traffic = Traffic::GroupDataAfterDtim;
        }
    }

    /// Group-addressed frames of an access point that wait for a beacon, if they have to.
    pub fn held(&self, access_point: RadioId) -> Option<&Held> {
        self.nodes[access_point].held.as_ref()
    }

    /// A group-addressed frame waits for the DTIM where it has to; gives whether it does. One that
    /// finds no room is lost.
    pub fn holds(&mut self, cx: &mut Context, link: LinkId, packet: PacketId) -> bool {
        let link = &self.links[link];
        let node = &mut self.nodes[link.from];
        let limit = node.queue_limit as usize;
        let Some(held) = node.held.as_mut().filter(|_| link.is_group()) else {
            return false;
        };
        if held.waiting.len() < limit {
            held.waiting.push_back(packet);
        } else {
            cx.lose(packet, Loss::Full);
        }
        true
    }

    /// The beacons of an interval are out: after a DTIM the frames that wait for it follow.
    pub(super) fn release_groups(&mut self, cx: &mut Context, medium: &mut Medium, node: RadioId) {
        let state = &mut self.nodes[node];
        let (Some(held), Some(link)) = (&mut state.held, state.group) else {
            return;
        };
        if held.count > 0 {
            held.count -= 1;
            return;
        }
        held.count = held.period - 1;
        for packet in std::mem::take(&mut held.waiting) {
            let contender = self.contender(node, cx.packets[packet].category);
            self.enqueue_signalling(cx, medium, (link, contender), packet);
        }
    }

    /// A group-addressed frame left the air; gives it. [`Mac::end_group`] follows once it is known
    /// who heard it.
    pub fn group_sent(&mut self, cx: &mut Context, t: &Transmission) -> Option<GroupFrame> {
        cx.observe_air(Air::Management, t.alone);
        let exchange = &self.exchanges[t.contender];
        let (link, mode, length) = (exchange.link(), exchange.mode(), exchange.length());
        let mpdu = self.links[link].window.front_mut()?;
        if mpdu.group {
            cx.observe(Observation::GroupAir { span: t.alone });
        }
        (mpdu.received, mpdu.delivered, mpdu.acknowledged) = (true, true, true);
        mpdu.in_flight = None;
        Some(GroupFrame {
            link,
            node: t.node,
            packet: mpdu.head,
            octets: mpdu.octets,
            length,
            vector: *self.modes[mode].vector(),
        })
    }

    /// Whether a station hears a group-addressed frame.
    pub fn hears_group(
        &self,
        medium: &mut Medium,
        t: &Transmission,
        frame: &GroupFrame,
        station: RadioId,
    ) -> bool {
        let away = self.single_radios.is_some() && self.is_away(station, t.end);
        !away && medium.control_arrives(t, station, &frame.vector, frame.octets)
    }

    /// Whether a node is a radio neighbour of another to which group-addressed frames go: a bridge
    /// takes frames with four addresses instead, and a station that is not associated gets none.
    pub fn is_in_group(&self, access_point: RadioId, node: RadioId) -> bool {
        self.first_links(access_point).any(|l| {
            let link = &self.links[l];
            link.peer == node && !link.has_fourth_address() && !link.is_barred()
        })
    }

    /// The contender is done with a group-addressed frame.
    pub fn end_group(&mut self, cx: &mut Context, contender: ContenderId) {
        let link = self.exchanges[contender].link();
        self.queues[contender].unfinished = None;
        self.shrink_window_apart(cx, contender, link);
        self.end_unanswered(cx, contender);
    }
}
