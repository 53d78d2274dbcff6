//! Group-addressed frames: sent once, not acknowledged, and heard by any number of stations.

use airtoll_phy::TxVector;
use airtoll_units::Duration;

use super::Mac;
use crate::context::Context;
use crate::id::{ContenderId, LinkId, PacketId, RadioId};
use crate::medium::{Medium, Transmission};
use crate::observe::ledger::Air;

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

impl Mac {
    /// A group-addressed frame left the air; gives it. [`Mac::end_group`] follows once it is known
    /// who heard it.
    pub fn group_sent(&mut self, cx: &mut Context, t: &Transmission) -> Option<GroupFrame> {
        cx.observe_air(Air::Management, t.alone);
        let exchange = &self.exchanges[t.contender];
        let (link, mode, length) = (exchange.link(), exchange.mode(), exchange.length());
        let mpdu = self.links[link].window.front_mut()?;
        (mpdu.received, mpdu.delivered, mpdu.acknowledged) = (true, true, true);
        mpdu.in_flight = false;
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
        medium.control_arrives(t, station, &frame.vector, frame.octets)
    }

    /// Whether a node is a radio neighbour of another to which group-addressed frames go: a bridge
    /// takes frames with four addresses instead, and a station that is not associated gets none.
    pub fn is_in_group(&self, access_point: RadioId, node: RadioId) -> bool {
        self.first_links(access_point).any(|l| {
            let link = &self.links[l];
            link.peer == node && !link.four_address && !link.barred
        })
    }

    /// The contender is done with a group-addressed frame.
    pub fn end_group(&mut self, cx: &mut Context, contender: ContenderId) {
        let link = self.exchanges[contender].link();
        self.queues[contender].unfinished = None;
        self.shrink_window(cx, contender, link);
        self.end_unanswered(cx, contender);
    }
}
