//! Tunnels of a station that moves: set up anew, moved by MOBIKE, followed by WireGuard, or kept
//! because Mobile IP keeps their outer address.
//!
//! The session of the hand-over negotiates the move. Here the tunnels go on at the new node, and
//! packets for the station go there once the far end knows its address.

use airtoll_handshakes::{MobileIp, Party, TunnelMove};

use super::{Action, Handover, Roam, Turn};
use crate::address;
use crate::id::{HandoverId, NodeId, SessionId};

impl Roam {
    /// The node whose address is the outer address of a station's tunnels, where the station is
    /// `node`.
    pub fn tunnel_end(&self, node: NodeId) -> NodeId {
        let plans = || self.handovers.iter().map(|h| &h.plan);
        match plans().find(|plan| plan.there == node) {
            Some(plan) if plan.mobile_ip != MobileIp::Off => plan.station,
            _ => node,
        }
    }

    /// Tells the session of a hand-over which tunnels exist and where their ends will be.
    pub(super) fn tell_of_tunnels(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let Some(gateway) = turn.join.party_of(plan.session, Party::Gateway) else {
            return;
        };
        let earlier = turn.join.secrets_of(plan.before);
        let ends = [self.tunnel_end(plan.there), gateway];
        let ends = ends.map(|node| address::ipv4(node).octets());
        turn.join
            .keep_tunnels(plan.session, ends.into(), &earlier, plan.tunnel);
    }

    /// The station has joined: tunnels that it keeps go on. Gives whether packets for it go to the
    /// new access point at once.
    pub(super) fn keep_tunnels(&mut self, id: HandoverId, turn: &mut Turn<'_>) -> bool {
        let handover = &mut self.handovers[id];
        let (from, there) = (handover.plan.from, handover.plan.there);
        if handover.plan.tunnel == TunnelMove::Anew {
            return true;
        }
        turn.out.push(Action::MoveTunnels { from, there });
        let follows = handover.plan.tunnel != TunnelMove::Roams;
        if !follows {
            handover.unheard = true;
            turn.out.push(Action::SetUnheard {
                node: there,
                unheard: true,
            });
        }
        follows
    }

    /// The far end of the tunnel of a session knows the new address of the station.
    pub fn gateway_follows(&self, session: SessionId, turn: &mut Turn<'_>) {
        if let Some(id) = self.of_session(session) {
            let node = self.handovers[id].plan.there;
            turn.out.push(Action::GatewayFollows { node });
        }
    }

    /// The far end of a tunnel has authenticated a packet from this node.
    pub fn tunnelled(&mut self, node: NodeId, turn: &mut Turn<'_>) {
        let waits = |h: &Handover| h.unheard && h.plan.there == node;
        let Some(id) = self.handovers.find(waits) else {
            return;
        };
        self.handovers[id].unheard = false;
        let unheard = false;
        turn.out.push(Action::SetUnheard { node, unheard });
        turn.out.push(Action::GatewayFollows { node });
        self.turn_to(id, turn);
    }

    /// Packets for the station go to its new access point from now on.
    pub(super) fn turn_to(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        turn.out.push(Action::SetRoutes {
            host: plan.station,
            routes: plan.routes.clone(),
        });
    }
}
