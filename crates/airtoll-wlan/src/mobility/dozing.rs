//! Power save around a scan (IEEE 802.11-2020, 11.2.3): a station that goes off the channel says so
//! by a null frame with the power management bit, and its access point keeps what is for it until a
//! frame without that bit comes.
//!
//! Takes a station that is about to scan, or is back from it; gives the null frames, what the access
//! point keeps meanwhile and what the station keeps itself. Linux does it so (`net/mac80211/offchannel.c`
//! and `scan.c`; `ieee80211_sta_ps_deliver_wakeup` in sta_info.c). Beacons announce nothing, because
//! the station does not listen to them.

use std::collections::VecDeque;

use airtoll_handshakes::{Carrier, Message, Party};
use airtoll_units::Duration;
use airtoll_wire::ieee80211::frame::{Frame, FrameControl, HeaderRepr, Kind};

use super::{Handover, Mobility, MobilityEvent};
use crate::event::Event;
use crate::packet::{NONE, PacketId};
use crate::world::World;

/// Subtype of a null frame among data frames (table 9-1).
const NULL: u8 = 4;
/// How often a station looks whether its null frame is out.
const LOOK: Duration = Duration::from_micros(100);
/// Frames that an access point keeps for a station (`STA_MAX_TX_BUFFER` in net/mac80211/sta_info.h
/// is 64 for each of four access categories); the oldest makes room.
const KEPT: usize = 256;

/// What an access point keeps for a station.
#[derive(Default)]
pub(super) struct Dozing {
    /// The station has said that it will be away, and is not gone yet.
    pub going: bool,
    /// The access point has heard of it.
    asleep: bool,
    kept: VecDeque<PacketId>,
    /// What waited in the station's own queue.
    own: Vec<PacketId>,
    /// Packets that were kept and sent in the end.
    pub delivered: u64,
}

impl Mobility {
    /// Whether a station sleeps as far as its access point knows.
    pub fn sleeps(&self, station: u32) -> bool {
        let mut handovers = self.handovers.iter();
        handovers.any(|h| h.from == station && h.dozing.asleep)
    }

    /// The hand-over that a node is about, if it is one of which `is` holds.
    fn dozing(&mut self, node: u32, is: fn(&Dozing) -> bool) -> Option<&mut Handover> {
        let own = |h: &&mut Handover| h.from == node && is(&h.dozing);
        self.handovers.iter_mut().find(own)
    }
}

impl World {
    /// The station tells its access point that it will be away, and goes when that is out.
    pub(super) fn doze_and_look(&mut self, number: u32) {
        let handover = &mut self.mobility.handovers[number as usize];
        handover.dozing.going = true;
        self.send_null(number, true);
        self.look_again(number);
    }

    fn look_again(&mut self, number: u32) {
        let at = self.stack.lower.cx.events.now() + LOOK;
        let event = MobilityEvent::Away { handover: number };
        self.stack
            .lower
            .cx
            .events
            .schedule(at, Event::Mobility(event));
    }

    /// The null frame may be out: then the station goes.
    pub(super) fn away(&mut self, number: u32) {
        let handover = &self.mobility.handovers[number as usize];
        let station = handover.from;
        let (_, access_point) = self.association.ends_of(handover.before);
        let state = &self.stack.lower.mac.nodes[station as usize];
        let out = (state.signalling..state.signalling + state.neighbours)
            .map(|link| &self.stack.lower.mac.links[link as usize])
            .filter(|link| link.peer == access_point)
            .all(|link| link.queue.is_empty() && link.window.is_empty());
        if !out
            || self.stack.lower.medium.nodes[station as usize].engaged_until
                > self.stack.lower.cx.events.now()
        {
            self.look_again(number);
            return;
        }
        self.mobility.handovers[number as usize].dozing.going = false;
        self.leave(number);
        let own = self.take_back(station, access_point);
        self.mobility.handovers[number as usize].dozing.own = own;
        self.look(number);
    }

    /// The station is on its access point's channel again.
    pub(super) fn wake_up(&mut self, number: u32) {
        let handover = &mut self.mobility.handovers[number as usize];
        let (station, own) = (handover.from, std::mem::take(&mut handover.dozing.own));
        for packet in own {
            self.enqueue_or_lose(station, packet);
        }
        if self.mobility.handovers[number as usize].dozing.asleep {
            self.send_null(number, false);
        }
    }

    fn send_null(&mut self, number: u32, away: bool) {
        let handover = &self.mobility.handovers[number as usize];
        let (join, station) = (handover.before, handover.from);
        let (_, access_point) = self.association.ends_of(join);
        let (own, bssid) = (self.mac(station), self.mac(access_point));
        let mut octets = Vec::new();
        HeaderRepr {
            control: FrameControl::new(Kind::Data, NULL)
                .with_to_ds(true)
                .with_power_management(away),
            duration: 0,
            address1: bssid,
            address2: own,
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
        self.send_stray(join, message);
    }

    /// A frame reached an access point that may be a null frame.
    pub(crate) fn null_arrived(&mut self, station: u32, message: &Message) {
        let Ok(frame) = Frame::new(&message.octets) else {
            return;
        };
        let control = frame.control();
        if control.kind() != Kind::Data {
            return;
        }
        if !control.power_management() {
            self.woke(station);
            return;
        }
        // One that came late is of a scan that is over.
        let Some(handover) = self.mobility.dozing(station, |d| d.going) else {
            return;
        };
        handover.dozing.asleep = true;
        let before = handover.before;
        let (_, access_point) = self.association.ends_of(before);
        let waiting = self.take_back(access_point, station);
        if let Some(handover) = self.mobility.dozing(station, |d| d.asleep) {
            handover.dozing.kept.extend(waiting);
        }
    }

    /// An access point has a packet for a station that sleeps: it keeps it.
    pub(crate) fn keep_while_asleep(&mut self, station: u32, packet: PacketId) {
        let Some(handover) = self.mobility.dozing(station, |d| d.asleep) else {
            return;
        };
        handover.dozing.kept.push_back(packet);
        let oldest = (handover.dozing.kept.len() > KEPT).then(|| handover.dozing.kept.pop_front());
        if let Some(oldest) = oldest.flatten() {
            self.lose(oldest);
        }
    }

    /// A frame of a station says that it does not sleep (any more).
    pub(crate) fn woke(&mut self, station: u32) {
        let Some(handover) = self.mobility.dozing(station, |d| d.asleep) else {
            return;
        };
        handover.dozing.asleep = false;
        let kept = std::mem::take(&mut handover.dozing.kept);
        handover.dozing.delivered += kept.len() as u64;
        let before = handover.before;
        let (_, access_point) = self.association.ends_of(before);
        for packet in kept {
            self.enqueue_or_lose(access_point, packet);
        }
    }

    /// The station has moved: what its old access point kept is for nobody, and its own packets go
    /// by the new one.
    pub(super) fn forget_kept(&mut self, number: u32) {
        let handover = &mut self.mobility.handovers[number as usize];
        let (host, dozing) = (handover.station, &mut handover.dozing);
        dozing.asleep = false;
        let kept = std::mem::take(&mut dozing.kept);
        let own = std::mem::take(&mut dozing.own);
        for packet in kept {
            self.lose(packet);
        }
        for packet in own {
            let p = &self.stack.lower.cx.packets[packet];
            // What is in a tunnel, or cut, was made for the old link.
            if p.flow == NONE || p.entered != NONE || p.group != NONE {
                self.lose(packet);
            } else {
                self.send_packet(host, packet);
            }
        }
    }
}
