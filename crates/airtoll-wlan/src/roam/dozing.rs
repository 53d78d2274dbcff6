//! Power save around a scan (IEEE 802.11-2020, 11.2.3): a station that leaves the channel announces
//! it with a null frame with the power management bit. Its access point keeps frames for the
//! station until a frame without that bit comes.
//!
//! Linux does the same (`net/mac80211/offchannel.c` and `scan.c`; `ieee80211_sta_ps_deliver_wakeup`
//! in sta_info.c). Beacons announce nothing, because the station does not listen to them.

use std::collections::VecDeque;

use airtoll_handshakes::{Carrier, Message, Party};
use airtoll_units::Duration;
use airtoll_wire::ieee80211::frame::{Frame, FrameControl, HeaderRepr, Kind};

use super::{Action, Handover, Roam, Turn};
use crate::address;
use crate::event::RoamEvent;
use crate::id::{HandoverId, NodeId, PacketId, Pair};
use crate::packet::Loss;

/// Subtype of a null frame among data frames (table 9-1).
const NULL: u8 = 4;
/// Interval at which a station checks whether its null frame is out.
const LOOK: Duration = Duration::from_micros(100);
/// Frames that an access point keeps for a station (`STA_MAX_TX_BUFFER` in net/mac80211/sta_info.h
/// is 64 for each of four access categories); a further one replaces the oldest.
const KEPT: usize = 256;

/// Power save of one hand-over.
#[derive(Default)]
pub(super) struct Dozing {
    /// The station has announced that it leaves, and has not left yet.
    pub going: bool,
    /// The access point has received the announcement.
    asleep: bool,
    /// Packets that the access point keeps.
    kept: VecDeque<PacketId>,
    /// Packets from the station's own queue.
    own: Vec<PacketId>,
    /// Kept packets that were sent in the end.
    pub delivered: u64,
}

impl Roam {
    /// The first hand-over of a station for which `is` holds.
    fn dozing(&mut self, station: NodeId, is: fn(&Dozing) -> bool) -> Option<&mut Handover> {
        let own = |h: &&mut Handover| h.plan.station == station && is(&h.dozing);
        self.handovers.iter_mut().find(own)
    }

    /// The station announces to its access point that it leaves, and leaves when that is out.
    pub(super) fn doze_and_look(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        self.handovers[id].dozing.going = true;
        self.send_null(id, true, turn);
        turn.schedule(turn.now + LOOK, RoamEvent::Away(id));
    }

    pub(super) fn may_be_idle(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let Pair {
            station,
            access_point,
        } = turn.join.radios_of(plan.before);
        turn.out.push(Action::LookWhetherIdle {
            handover: id,
            station,
            access_point,
        });
    }

    /// Answer to [`Action::LookWhetherIdle`]: a station whose null frame is out leaves.
    pub fn looked(&mut self, id: HandoverId, idle: bool, turn: &mut Turn<'_>) {
        if !idle {
            turn.schedule(turn.now + LOOK, RoamEvent::Away(id));
            return;
        }
        let handover = &mut self.handovers[id];
        handover.dozing.going = false;
        let Pair {
            station: from,
            access_point: to,
        } = turn.join.radios_of(handover.plan.before);
        self.leave(id, turn);
        turn.out.push(Action::TakeBack {
            handover: id,
            from,
            to,
            own: true,
        });
        self.look(id, turn);
    }

    /// Answer to [`Action::TakeBack`]: packets from the queue of the station itself or of its access
    /// point.
    pub fn took_back(&mut self, id: HandoverId, own: bool, packets: Vec<PacketId>) {
        let handover = &mut self.handovers[id];
        if own {
            handover.dozing.own = packets;
        } else {
            handover.dozing.kept.extend(packets);
        }
    }

    /// The station is on the channel of its access point again.
    pub(super) fn wake_up(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let handover = &mut self.handovers[id];
        let node = handover.plan.station;
        for packet in std::mem::take(&mut handover.dozing.own) {
            turn.out.push(Action::Enqueue { node, packet });
        }
        if handover.dozing.asleep {
            self.send_null(id, false, turn);
        }
    }

    fn send_null(&self, id: HandoverId, away: bool, turn: &mut Turn<'_>) {
        let plan = &self.handovers[id].plan;
        let access_point = turn.join.ends_of(plan.before).access_point;
        let bssid = address::mac(access_point);
        let mut octets = Vec::new();
        HeaderRepr {
            control: FrameControl::new(Kind::Data, NULL)
                .with_to_ds(true)
                .with_power_management(away),
            duration: 0,
            address1: bssid,
            address2: address::mac(plan.station),
            address3: bssid,
            sequence_control: 0,
            address4: None,
            qos_control: None,
            ht_control: None,
        }
        .emit(&mut octets);
        let message = Message {
            from: Party::Station,
            to: Party::AccessPoint,
            carrier: Carrier::Management,
            octets,
        };
        turn.out.push(Action::SendAssociationFrame {
            session: plan.before,
            message,
        });
    }

    /// A frame about its association arrived from a station at its access point.
    pub fn station_frame_arrived(
        &mut self,
        station: NodeId,
        message: &Message,
        turn: &mut Turn<'_>,
    ) {
        let Ok(frame) = Frame::new(&message.octets) else {
            return;
        };
        let control = frame.control();
        if control.kind() != Kind::Data {
            return;
        }
        if !control.power_management() {
            self.woke(station, turn);
            return;
        }
        // A null frame that comes late belongs to a scan that is over.
        let going = |h: &Handover| h.plan.station == station && h.dozing.going;
        let Some(id) = self.handovers.find(going) else {
            return;
        };
        let handover = &mut self.handovers[id];
        handover.dozing.asleep = true;
        let Pair {
            station,
            access_point,
        } = turn.join.radios_of(handover.plan.before);
        turn.out.push(Action::SetDozing {
            station,
            access_point,
            dozing: true,
        });
        turn.out.push(Action::TakeBack {
            handover: id,
            from: access_point,
            to: station,
            own: false,
        });
    }

    /// An access point keeps a packet for a dozing station.
    pub fn keep_while_asleep(&mut self, station: NodeId, packet: PacketId, turn: &mut Turn<'_>) {
        let Some(handover) = self.dozing(station, |d| d.asleep) else {
            return;
        };
        handover.dozing.kept.push_back(packet);
        let oldest = (handover.dozing.kept.len() > KEPT).then(|| handover.dozing.kept.pop_front());
        if let Some(packet) = oldest.flatten() {
            turn.out.push(Action::Lose {
                packet,
                cause: Loss::Full,
            });
        }
    }

    /// A frame of a station shows that the station is awake.
    pub fn woke(&mut self, station: NodeId, turn: &mut Turn<'_>) {
        let Some(handover) = self.dozing(station, |d| d.asleep) else {
            return;
        };
        handover.dozing.asleep = false;
        let kept = std::mem::take(&mut handover.dozing.kept);
        handover.dozing.delivered += kept.len() as u64;
        let before = handover.plan.before;
        let node = turn.join.ends_of(before).access_point;
        let Pair {
            station,
            access_point,
        } = turn.join.radios_of(before);
        turn.out.push(Action::SetDozing {
            station,
            access_point,
            dozing: false,
        });
        for packet in kept {
            turn.out.push(Action::Enqueue { node, packet });
        }
    }

    /// The trial ends: packets that an access point keeps for a station that has found another one are
    /// lost.
    pub fn drop_stranded(&mut self, turn: &mut Turn<'_>) {
        for handover in self.handovers.iter_mut().filter(|h| h.found.is_some()) {
            for packet in std::mem::take(&mut handover.dozing.kept) {
                let cause = Loss::Away;
                turn.out.push(Action::Lose { packet, cause });
            }
        }
    }

    /// The station has moved: packets that its old access point kept are lost, and its own packets
    /// go by the new link.
    pub(super) fn forget_kept(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let handover = &mut self.handovers[id];
        let (host, before) = (handover.plan.station, handover.plan.before);
        let dozing = &mut handover.dozing;
        let kept = std::mem::take(&mut dozing.kept);
        let own = std::mem::take(&mut dozing.own);
        if std::mem::take(&mut dozing.asleep) {
            let Pair {
                station,
                access_point,
            } = turn.join.radios_of(before);
            turn.out.push(Action::SetDozing {
                station,
                access_point,
                dozing: false,
            });
        }
        for packet in kept {
            turn.out.push(Action::Lose {
                packet,
                cause: Loss::Away,
            });
        }
        for packet in own {
            turn.out.push(Action::SendAnew { host, packet });
        }
    }
}
