//! Transport of the messages: management and EAPOL frames go over the air at the lowest basic rate,
//! all other messages as IP packets by the route of data. EAPOL of a pre-authentication takes the
//! route of data, too, without IP (EtherType 88-C7).

use airtoll_handshakes::link::agreed::leaving_reason;
use airtoll_handshakes::{Carrier, Message, Party, describe};
use airtoll_phy as phy;
use airtoll_units::Instant;

use super::{Action, Asleep, Join, Outbox, Part, Purpose, Signal};
use crate::id::{LinkId, SessionId, SignalId};

pub(super) const IPV4_HEADER: u32 = 20;
pub(super) const UDP_HEADER: u32 = 8;

impl Join {
    /// A message leaves the stack of its sender.
    pub fn send(&mut self, now: Instant, id: SignalId, out: &mut Outbox) {
        let Some(signal) = &mut self.signals[id] else {
            return;
        };
        let session = &mut self.sessions[signal.session];
        let message = &signal.message;
        if message.carrier == Carrier::Radius {
            return self.send_radius(now, id, out);
        }
        let (from, to) = session.ends(message);
        let to_new = message.from == Party::Station && message.to != Party::OldAccessPoint;
        if session.leaves_by_message && to_new {
            out.push(Action::LeaveBefore {
                session: signal.session,
                signal: id,
            });
            return;
        }
        let Some(to) = to else {
            // There is no receiver, but the message is sent, and its sender waits.
            session.timeline.emitted(message);
            session.timeline.seen(now, message);
            self.lost(id);
            return;
        };
        let length = message.octets.len() as u32;
        session.timeline.emitted(message);
        let ahead = session.purpose == Purpose::Ahead && message.carrier == Carrier::Eapol;
        let mut octets = length;
        match message.carrier {
            Carrier::Management => {
                // A WEP-protected body of shared-key authentication has its overhead in its octets.
                // FT Action frames are robust (802.11-2020, table 9-51); those before the keys are
                // not. Deauthentication is robust, too, once there are keys (12.2.7).
                let robust = [message.from, message.to].contains(&Party::OldAccessPoint)
                    || (session.purpose == Purpose::Renewal && leaving_reason(message).is_some());
                signal.protected =
                    robust && session.negotiation.link().group_management().is_some();
                octets += phy::FCS_OCTETS;
                octets += u32::from(signal.protected) * session.protection_octets;
            }
            Carrier::DistributionSystem => {}
            Carrier::Eapol if ahead => {}
            Carrier::Eapol => {
                // Once the pairwise key is in place EAPOL goes under it (802.11-2020, 12.6.14).
                signal.protected = describe(message).1.starts_with("group key");
                octets += phy::DATA_HEADER_OCTETS + phy::LLC_SNAP_OCTETS + phy::FCS_OCTETS;
                octets += u32::from(signal.protected) * session.protection_octets;
            }
            Carrier::Icmp => octets += IPV4_HEADER,
            _ => octets += IPV4_HEADER + UDP_HEADER,
        }
        let (carrier, protected, number) = (message.carrier, signal.protected, signal.session);
        let radios = session.radios(message);
        let renews = session.purpose == Purpose::Renewal;
        let management = matches!(carrier, Carrier::Management | Carrier::Eapol) && !ahead;
        if !management {
            session.timeline.seen(now, message);
        }
        if protected && carrier == Carrier::Eapol {
            self.tell_keys(number, out);
        }
        if let (true, (from, Some(to))) = (management, radios) {
            out.push(Action::SendManagement {
                from,
                to,
                octets,
                signal: id,
                link: None,
                asleep: match carrier {
                    // A station dozes only once its port is open.
                    Carrier::Eapol if renews => Asleep::Waits,
                    _ if renews => Asleep::Misses,
                    _ => Asleep::Hears,
                },
            });
        } else if from == to {
            self.arrived(now, id, out);
        } else {
            out.push(Action::SendPacket {
                from,
                to,
                octets,
                signal: id,
                // Both ends know each other's MAC address.
                by_mac: ahead || carrier == Carrier::DistributionSystem,
            });
        }
    }

    /// Sends a frame of a scan: by `link`, or by the signalling link to its receiver.
    pub fn send_scan_frame(
        &mut self,
        id: SessionId,
        message: Message,
        link: Option<LinkId>,
        out: &mut Outbox,
    ) {
        self.send_alone(id, message, link, (Part::Scan, false), out);
    }

    /// Sends an unprotected frame about an association that stands.
    pub fn send_association_frame(&mut self, id: SessionId, message: Message, out: &mut Outbox) {
        self.send_alone(id, message, None, (Part::Association, false), out);
    }

    /// Sends a frame that belongs to no stage.
    pub(super) fn send_alone(
        &mut self,
        id: SessionId,
        message: Message,
        link: Option<LinkId>,
        (part, protected): (Part, bool),
        out: &mut Outbox,
    ) {
        let session = &self.sessions[id];
        let (from, Some(to)) = session.radios(&message) else {
            return;
        };
        let management = session.negotiation.link().group_management();
        let protection = match (protected, link) {
            (false, _) => 0,
            (true, None) => session.protection_octets,
            // The MME: identifier, length, key ID, IPN and MIC (802.11-2020, 9.4.2.54).
            (true, Some(_)) => management.map_or(0, |suite| 10 + suite.mic_octets() as u32),
        };
        let octets = message.octets.len() as u32 + phy::FCS_OCTETS + protection;
        let signal = self.insert(Signal {
            session: id,
            part,
            message,
            seen: true,
            protected,
            hop: None,
        });
        out.push(Action::SendManagement {
            from,
            to,
            octets,
            signal,
            link,
            asleep: Asleep::Hears,
        });
    }

    /// The frame of a message has ended on the air.
    pub fn transmitted(&mut self, now: Instant, id: SignalId) {
        if let Some(Some(signal)) = self.signals.get_mut(id)
            && !std::mem::replace(&mut signal.seen, true)
        {
            self.sessions[signal.session]
                .timeline
                .seen(now, &signal.message);
        }
    }
}
