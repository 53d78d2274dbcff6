//! Tunnels of a station that moves: set up anew, moved by MOBIKE, followed by WireGuard, or kept
//! because Mobile IP keeps their outer address.
//!
//! The session of the hand-over negotiates the move. Here the tunnels go on from the new address, and
//! packets for the station go to its new access point once the far end knows that address.

use airtoll_handshakes::{Party, Sides, TunnelMove};

use super::{Action, Handover, Roam, Turn};
use crate::address;
use crate::id::{HandoverId, NodeId};

impl Roam {
    /// Tells the session of a hand-over which tunnels exist and where their ends will be.
    pub(super) fn tell_of_tunnels(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let Some(gateway) = turn.join.party_of(plan.session, Party::Gateway) else {
            return;
        };
        let earlier = turn.join.secrets_of(plan.before);
        let outside = turn.join.outside_of(plan.session);
        let ends = Sides {
            initiator: address::ipv4(outside).octets(),
            responder: address::ipv4(gateway).octets(),
        };
        turn.join
            .keep_tunnels(plan.session, ends, &earlier, plan.tunnel);
    }

    /// The station has joined: tunnels that it keeps go on. Gives whether packets for it go to the
    /// new access point at once.
    pub(super) fn keep_tunnels(&mut self, id: HandoverId, turn: &mut Turn<'_>) -> bool {
        let handover = &mut self.handovers[id];
        let (station, session) = (handover.plan.station, handover.plan.session);
        if handover.plan.tunnel == TunnelMove::Anew {
            return true;
        }
        turn.out.push(Action::MoveTunnels { session });
        let follows = handover.plan.tunnel != TunnelMove::Roams;
        if !follows {
            handover.unheard = true;
            turn.out.push(Action::SetUnheard {
                node: station,
                unheard: true,
            });
        }
        follows
    }

    /// The far end of a tunnel has authenticated a packet from the new address of this node.
    pub fn tunnelled(&mut self, node: NodeId, turn: &mut Turn<'_>) {
        let unheard = |h: &Handover| h.unheard && h.plan.station == node;
        let Some(at) = self.handovers.find_last(unheard) else {
            return;
        };
        // It was not heard at all where an earlier hand-over led.
        for handover in self.handovers.iter_mut().filter(|h| h.plan.station == node) {
            handover.unheard = false;
        }
        let unheard = false;
        let session = self.handovers[at].plan.session;
        turn.out.push(Action::SetUnheard { node, unheard });
        turn.out.push(Action::GatewayFollows { session });
        self.turn_to(at, turn);
    }

    /// Packets for the station go to its new access point from now on.
    pub(super) fn turn_to(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let radio = turn.join.radios_of(plan.session).station;
        let host = plan.station;
        turn.out.push(Action::SetRoutes { host, radio });
    }
}
