//! How the messages of a negotiation travel: management and EAPOL frames over the air at the
//! lowest basic rate, everything else as IP packets by the way that data takes. EAPOL of a
//! pre-authentication goes that way, too, without IP (EtherType 88-C7).
//!
//! Takes messages; gives packets whose flow is [`NONE`] and whose mark names the message. Never
//! changes a message's octets.

use airtoll_handshakes::link::leaving_reason;
use airtoll_handshakes::{Carrier, Message, Party, describe};
use airtoll_phy as phy;
use airtoll_units::Duration;

use super::{AssociationEvent, PROBE, Purpose, STRAY, Signal};
use crate::event::Event;
use crate::packet::{NONE, Packet};
use crate::world::World;

const IPV4_HEADER: u32 = 20;
const UDP_HEADER: u32 = 8;
/// Management and EAPOL frames are sent as voice (IEEE 802.11-2020, 10.2.3.2; Linux mac80211
/// raises EAPOL to priority 7 in net/mac80211/wme.c).
const SIGNALLING_CATEGORY: u8 = 3;

impl World {
    /// A message leaves its sender's stack.
    pub(super) fn send_signal(&mut self, id: u32) {
        let now = self.stack.lower.cx.events.now();
        if let Some(later) = self.leave_after_asking(id) {
            let send = AssociationEvent::Send { signal: id };
            self.stack
                .lower
                .cx
                .events
                .schedule(later, Event::Association(send));
            return;
        }
        let associations = &mut self.association;
        let Some(signal) = &mut associations.signals[id as usize] else {
            return;
        };
        let join = &mut associations.joins[signal.join as usize];
        let message = &signal.message;
        let (from, to) = join.ends(message);
        if to == NONE {
            // Nobody is there to hear it, but it is sent, and its sender waits.
            join.timeline.emitted(message);
            join.timeline.seen(now, message);
            self.signal_lost(id);
            return;
        }
        let octets = message.octets.len() as u32;
        join.timeline.emitted(message);
        let ahead = join.purpose == Purpose::Ahead && message.carrier == Carrier::Eapol;
        let mut packet = Packet::of_no_flow(to, octets, id, now);
        match message.carrier {
            Carrier::Management => {
                // A WEP-protected body of shared-key authentication has its overhead in its octets.
                // FT Action frames are robust (802.11-2020, table 9-51); those before the keys are not.
                // Deauthentication is robust, too, once there are keys (12.2.7).
                let robust = [message.from, message.to].contains(&Party::OldAccessPoint)
                    || (join.purpose == Purpose::Renewal && leaving_reason(message).is_some());
                signal.protected = robust && join.negotiation.link().group_management().is_some();
                let protection = u32::from(signal.protected) * join.protection_octets;
                packet.ip_octets = octets + phy::FCS_OCTETS + protection;
            }
            Carrier::DistributionSystem => {}
            Carrier::Eapol if ahead => {}
            Carrier::Eapol => {
                // Once the pairwise key is in place EAPOL goes under it (802.11-2020, 12.6.14).
                signal.protected = describe(message).1.starts_with("group key");
                packet.ip_octets = octets
                    + phy::DATA_HEADER_OCTETS
                    + phy::LLC_SNAP_OCTETS
                    + phy::FCS_OCTETS
                    + if signal.protected {
                        join.protection_octets
                    } else {
                        0
                    };
            }
            Carrier::Icmp => packet.ip_octets = IPV4_HEADER + octets,
            _ => packet.ip_octets = IPV4_HEADER + UDP_HEADER + octets,
        }
        let (carrier, protected, number) = (message.carrier, signal.protected, signal.join);
        let signalling = matches!(carrier, Carrier::Management | Carrier::Eapol) && !ahead;
        if !signalling {
            join.timeline.seen(now, message);
        }
        if protected && carrier == Carrier::Eapol {
            self.tell_keys(number);
        }
        if signalling {
            packet.category = SIGNALLING_CATEGORY;
            let packet = self.stack.lower.cx.packets.insert(packet);
            self.send_signalling(from, packet);
            return;
        }
        if from == to {
            self.signal_arrived(id);
            return;
        }
        let packet = self.stack.lower.cx.packets.insert(packet);
        if ahead || carrier == Carrier::DistributionSystem {
            // It goes by MAC addresses, which both ends know.
            self.dispatch(from, packet, Duration::ZERO);
        } else {
            self.dispatch_own(from, packet, Duration::ZERO);
        }
    }

    /// Sends a frame of a scan, which belongs to no stage of a negotiation: by `link`, or by the
    /// sender's own one to the receiver.
    pub(crate) fn send_probe(&mut self, join: u32, message: Message, link: Option<u32>) {
        self.send_alone(join, message, link, PROBE, false);
    }

    /// Sends a frame in clear that is about an association that stands.
    pub(crate) fn send_stray(&mut self, join: u32, message: Message) {
        self.send_alone(join, message, None, STRAY, false);
    }

    /// The same for any frame of no negotiation's stage.
    pub(super) fn send_alone(
        &mut self,
        join: u32,
        message: Message,
        link: Option<u32>,
        stage: u32,
        protected: bool,
    ) {
        let now = self.stack.lower.cx.events.now();
        let state = &self.association.joins[join as usize];
        let (from, to) = state.ends(&message);
        let management = state.negotiation.link().group_management();
        let protection = match (protected, link) {
            (false, _) => 0,
            (true, None) => state.protection_octets,
            // The MME: identifier, length, key ID, IPN and MIC (802.11-2020, 9.4.2.54).
            (true, Some(_)) => management.map_or(0, |suite| 10 + suite.mic_octets() as u32),
        };
        let octets = message.octets.len() as u32 + phy::FCS_OCTETS + protection;
        let mark = self.association.insert(Signal {
            join,
            stage,
            message,
            seen: true,
            protected,
        });
        let mut made = Packet::of_no_flow(to, octets, mark, now);
        made.category = SIGNALLING_CATEGORY;
        let made = self.stack.lower.cx.packets.insert(made);
        let Some(link) = link else {
            self.send_signalling(from, made);
            return;
        };
        let contender =
            self.stack.lower.mac.nodes[from as usize].contenders[usize::from(SIGNALLING_CATEGORY)];
        if !self.enqueue_signalling(link, contender, made) {
            self.lose(made);
        }
    }

    fn send_signalling(&mut self, node: u32, packet: u32) {
        let to = self.stack.lower.cx.packets[packet].to;
        let state = &self.stack.lower.mac.nodes[node as usize];
        let contender = state.contenders[usize::from(SIGNALLING_CATEGORY)];
        let first = state.signalling;
        let link = (first..first + state.neighbours)
            .find(|l| self.stack.lower.mac.links[*l as usize].peer == to);
        let sent = link.is_some_and(|link| self.enqueue_signalling(link, contender, packet));
        if !sent {
            self.lose(packet);
        }
    }

    /// A frame of a signalling link left the air; `any` says whether its receiver has it.
    pub(crate) fn signalling_sent(&mut self, link: u32, alone: Duration, any: bool) {
        let now = self.stack.lower.cx.events.now();
        if any {
            self.stack.lower.cx.observers.ledger.management += alone;
        } else {
            self.stack.lower.cx.observers.ledger.retry += alone;
        }
        let Some(mpdu) = self.stack.lower.mac.links[link as usize]
            .window
            .iter()
            .find(|m| m.in_flight)
        else {
            return;
        };
        if any {
            self.stack.lower.cx.observers.ledger.octets_management += u64::from(mpdu.octets);
        }
        if mpdu.delivered {
            // Its receiver had it before, and its packet is gone.
            return;
        }
        let mark = self.stack.lower.cx.packets[mpdu.head].mark;
        let associations = &mut self.association;
        if let Some(signal) = &mut associations.signals[mark as usize]
            && !std::mem::replace(&mut signal.seen, true)
        {
            associations.joins[signal.join as usize]
                .timeline
                .seen(now, &signal.message);
        }
    }
}
