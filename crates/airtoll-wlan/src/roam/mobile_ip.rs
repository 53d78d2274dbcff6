//! Mobile IP below a hand-over: the home agent's tunnel for packets to a station.
//!
//! A station that registers abroad gets IP in IP between its home agent and the foreign agent
//! there, in both directions (RFC 5944 section 4.1, RFC 3024). A station at home gets none.

use super::{Action, Roam, Turn};
use crate::id::{HandoverId, NodeId, TunnelId};

/// The two directions between a home agent and a foreign one: node and number of its tunnel.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Binding {
    pub home: (NodeId, TunnelId),
    pub foreign: (NodeId, TunnelId),
}

impl Roam {
    /// The home agent has a binding for the network to which this hand-over leads, and no other.
    pub(super) fn bind(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let (host, session) = (plan.station, plan.session);
        for (at, other) in self.handovers.pairs() {
            let Some(binding) = other.plan.binding.filter(|_| other.plan.station == host) else {
                continue;
            };
            let here = at == id;
            let (home, foreign) = (binding.home, binding.foreign);
            for ((node, end), to) in [(home, host), (foreign, home.0)] {
                let host = here.then_some(to);
                turn.out.push(Action::Bind { node, end, host });
            }
        }
        let access_point = turn.join.ends_of(session).access_point;
        self.agents.registered(host, access_point, turn.now);
    }
}
