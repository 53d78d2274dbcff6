//! RADIUS packets between access point and server: over UDP or a connection, and through a chain of
//! proxies.

use airtoll_handshakes::{Carrier, Message, Party};
use airtoll_units::Instant;

use super::carry::{IPV4_HEADER, UDP_HEADER};
use super::{Action, Join, Outbox, Part, Session, Signal, Then};
use crate::id::{Ends, NodeId, SignalId};

impl Session {
    /// The link of the chain on which a RADIUS packet leaves its sender; `None` for any other message.
    pub(super) fn first_hop(&self, message: &Message) -> Option<usize> {
        if message.carrier != Carrier::Radius {
            return None;
        }
        Some(match message.to {
            Party::AuthenticationServer => 0,
            _ => self.proxies.len(),
        })
    }

    /// Whether the receiver of a message is at the end of this link of the chain.
    pub(super) fn is_last_hop(&self, hop: usize, message: &Message) -> bool {
        hop == match message.to {
            Party::AuthenticationServer => self.proxies.len(),
            _ => 0,
        }
    }

    /// Nodes at the beginning and at the end of a link of the chain for a message.
    pub(super) fn hop_ends(&self, hop: usize, message: &Message) -> Option<Ends<NodeId>> {
        let server = self.node(Party::AuthenticationServer)?;
        let near = match hop {
            0 => self.access_point(),
            _ => self.proxies[hop - 1],
        };
        let far = self.proxies.get(hop).copied().unwrap_or(server);
        let asks = Ends {
            from: near,
            to: far,
        };
        Some(match message.to {
            Party::AuthenticationServer => asks,
            _ => asks.reversed(),
        })
    }
}

impl Join {
    /// A RADIUS packet leaves the stack of its sender.
    pub(super) fn send_radius(&mut self, now: Instant, id: SignalId, out: &mut Outbox) {
        let Some(signal) = &self.signals[id] else {
            return;
        };
        let session = &mut self.sessions[signal.session];
        let (message, hop) = (&signal.message, signal.hop.unwrap_or_default());
        if session.first_hop(message) == Some(hop) {
            if message.from == Party::AuthenticationServer {
                session.request.answer();
            }
            session.timeline.emitted(message);
            session.timeline.seen(now, message);
        }
        let octets = message.octets.len() as u32;
        let tls = session.negotiation.radius_tls();
        let Some(Ends { from, to }) = session.hop_ends(hop, message) else {
            // There is no receiver, but the message is sent, and its sender waits.
            self.lost(id);
            return;
        };
        if from == to {
            self.arrived(now, id, out);
        } else if let Some(tls) = tls {
            let client = message.to == Party::AuthenticationServer;
            let ends = if client { [from, to] } else { [to, from] };
            self.send_over_tls(now, (ends, tls), (usize::from(!client), octets, id), out);
        } else {
            out.push(Action::SendPacket {
                from,
                to,
                octets: octets + IPV4_HEADER + UDP_HEADER,
                signal: id,
                by_mac: false,
            });
        }
    }

    /// A RADIUS packet arrived at the proxy at the end of link `hop`, which passes it on after its
    /// work.
    pub(super) fn relay(&mut self, signal: Signal, hop: usize, out: &mut Outbox) {
        let id = signal.session;
        let session = &mut self.sessions[id];
        let asks = signal.message.to == Party::AuthenticationServer;
        let proxy = if asks { hop } else { hop - 1 };
        let (node, stage) = (session.proxies[proxy], session.stage);
        let Some(exchange) = session.negotiation.exchange() else {
            return;
        };
        let reaction = exchange.relay(proxy, &signal.message);
        for emission in reaction.emissions {
            let asks = emission.message.to == Party::AuthenticationServer;
            let octets = Some(emission.message.octets.len() as u32);
            let signal = self.insert(Signal {
                session: id,
                part: Part::Stage(stage),
                message: emission.message,
                seen: true,
                protected: false,
                hop: Some(if asks { proxy + 1 } else { proxy }),
            });
            out.push(Action::WorkOnCpu {
                node,
                operations: emission.operations,
                octets,
                then: Then::Forward(signal),
            });
        }
        if !reaction.operations.is_empty() {
            out.push(Action::WorkOnCpu {
                node,
                operations: reaction.operations,
                octets: None,
                then: Then::Nothing,
            });
        }
    }
}
