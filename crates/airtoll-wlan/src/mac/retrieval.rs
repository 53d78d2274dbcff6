//! Frames of power save: a station says when it dozes and asks for what waits for it (IEEE 802.11-2020,
//! 11.2.3).
//!
//! A beacon lists the stations for which frames wait. A station that hears its number asks for them by a
//! null frame in active mode, by PS-Polls or by a trigger frame ([`Retrieval`]). One that misses the beacon
//! for which it woke listens on for the next one. The frames are those of Linux's mac80211
//! (`ieee80211_rx_mgmt_beacon` and `ieee80211_dynamic_ps_enable_work` in net/mac80211/mlme.c;
//! `ieee80211_sta_ps_deliver_response` in sta_info.c): the access point answers a PS-Poll with an Ack and
//! sends the frame in an exchange of its own; a service period lasts until all that waits is out (Max SP
//! Length 0), and one in which nothing waits is ended by a QoS null frame.

use super::Mac;
use super::beacon::BeaconPlan;
use super::link::{DataSubtype, PowerMode};
use super::queue::SIGNALLING_CATEGORY;
use crate::context::Context;
use crate::event::Event;
use crate::id::{ContenderId, LinkId, PacketId, RadioId};
use crate::medium::{Medium, Transmission};
use crate::observe::Observation;
use crate::packet::{BEST_EFFORT, Carries, Packet, Sign};
use crate::scenario::Retrieval;

/// PS-Poll with FCS (9.3.1.4).
const POLL_OCTETS: u32 = 20;

/// A packet that an access point keeps, with the place in which it goes on.
pub(super) type Kept = ((LinkId, ContenderId), PacketId);

/// Links of frames of power save, between a station and its access point.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SignLinks {
    pub up: LinkId,
    pub down: LinkId,
}

/// State of a station and its access point towards each other.
#[derive(Debug)]
pub(super) struct Dialogue {
    retrieval: Retrieval,
    links: SignLinks,
    /// Association identifier.
    aid: u16,
    /// Null frames have a QoS Control field.
    subtype: DataSubtype,
    /// It has begun.
    begun: bool,
    /// The station dozes, or is awake for a beacon or a retrieval only.
    dozes: bool,
    /// The same as far as its access point knows.
    pub(super) dozes_there: bool,
    /// A frame of the station about it waits or is on the air.
    pending: Option<Sign>,
    /// It has asked for frames and stays awake for them.
    serving: bool,
    /// Packets that the access point sends because it was asked, in their order.
    released: Vec<PacketId>,
    /// A null frame of the access point that says that nothing is left waits or is on the air.
    ending: bool,
    /// Others wait behind these.
    more: bool,
    /// The beacon on the air lists it.
    listed: bool,
    /// It missed the beacon for which it woke.
    missed: bool,
    /// An event looks whether it is idle.
    watched: bool,
}

/// Bits of a data frame for a station in power save mode.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Announced {
    /// More Data.
    pub more: bool,
    /// End of service period.
    pub ends: bool,
}

/// Form of the frames of power save of a station.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Spoken {
    /// Association identifier.
    pub aid: u16,
    /// Null frames have a QoS Control field.
    pub qos: bool,
    /// Data come in unscheduled service periods.
    pub unscheduled: bool,
}

impl Mac {
    /// A station gets what waits for it by frames; `links` are those of frames without data.
    pub fn set_retrieval(
        &mut self,
        station: RadioId,
        retrieval: Retrieval,
        links: SignLinks,
        aid: u16,
    ) {
        let edca = self.nodes[station].several_contenders();
        let Some(save) = &mut self.nodes[station].power_save else {
            return;
        };
        let access_point = save.access_point;
        save.dialogue = Some(Dialogue {
            retrieval,
            links,
            aid,
            subtype: DataSubtype::with_edca(edca),
            begun: false,
            dozes: false,
            dozes_there: false,
            pending: None,
            serving: false,
            released: Vec::new(),
            ending: false,
            more: false,
            listed: false,
            missed: false,
            watched: false,
        });
        self.has_dialogues = true;
        self.ends_frames = true;
        if retrieval == Retrieval::PsPoll {
            // Its data frames say that it stays in power save mode.
            self.each_link(station, access_point, |link| {
                link.sender_mode = PowerMode::Active;
            });
        }
    }

    /// The traffic begins: stations may doze from now on.
    pub fn begin_dozing(&mut self, cx: &mut Context, medium: &Medium) {
        for at in 0..self.savers.len() {
            let station = self.savers[at];
            let Some(dialogue) = self.dialogue(station) else {
                continue;
            };
            dialogue.begun = true;
            if dialogue.retrieval == Retrieval::Active {
                self.watch(cx, medium, station);
                continue;
            }
            // It has associated in power save mode.
            (dialogue.dozes, dialogue.dozes_there) = (true, true);
            let (node, at) = (medium.host_of(station), cx.now());
            cx.observe(Observation::Dozes { node, at });
        }
    }

    /// Whether stations have frames of power save.
    #[inline]
    pub fn has_dialogues(&self) -> bool {
        self.has_dialogues
    }

    fn dialogue(&mut self, station: RadioId) -> Option<&mut Dialogue> {
        self.nodes[station].power_save.as_mut()?.dialogue.as_mut()
    }

    /// The station stays awake.
    fn rouse(cx: &mut Context, medium: &Medium, station: RadioId) {
        let node = medium.host_of(station);
        cx.observe(Observation::Wakes { node });
    }

    /// Sends a frame of power save.
    fn sign(&mut self, cx: &mut Context, medium: &mut Medium, station: RadioId, sign: Sign) {
        let Some(dialogue) = self.dialogue(station) else {
            return;
        };
        let (links, subtype) = (dialogue.links, dialogue.subtype);
        let link = match sign {
            Sign::Nothing => links.down,
            _ => links.up,
        };
        if sign != Sign::Nothing {
            dialogue.pending = Some(sign);
        }
        let octets = match sign {
            Sign::Poll => POLL_OCTETS,
            _ => super::mac_octets(subtype, super::Addresses::Three),
        };
        // PS-Polls are best effort, so that those after a beacon collide less (10.2.3.2).
        let category = match sign {
            Sign::Poll => BEST_EFFORT,
            _ => SIGNALLING_CATEGORY,
        };
        let (from, to) = (self.links[link].from, self.links[link].peer);
        let contender = self.contender(from, category);
        let carries = Carries::PowerSave { station, sign };
        let mut packet = Packet::new(carries, medium.host_of(to), octets, cx.now());
        packet.category = category;
        let packet = cx.packets.insert(packet);
        self.enqueue_signalling(cx, medium, (link, contender), packet);
    }

    /// A beacon begins: lists the stations for which frames wait.
    #[cold]
    pub(super) fn list_waiting(&mut self, access_point: RadioId) {
        let (mut first, mut last) = (u16::MAX, 0);
        for at in 0..self.savers.len() {
            let station = self.savers[at];
            let Some(save) = &mut self.nodes[station].power_save else {
                continue;
            };
            let waits = save.access_point == access_point && !save.kept.is_empty();
            if let Some(dialogue) = &mut save.dialogue {
                dialogue.listed = waits && dialogue.dozes_there;
                if dialogue.listed {
                    first = first.min(dialogue.aid);
                    last = last.max(dialogue.aid);
                }
            }
        }
        if let Some(plan) = &mut self.nodes[access_point].beacon {
            plan.bitmap_octets = bitmap_octets(first, last);
        }
    }

    /// Association identifiers in the bitmap of the beacon of an access point on the air.
    pub fn listed(&self, access_point: RadioId) -> impl Iterator<Item = u16> {
        self.savers.iter().filter_map(move |station| {
            let save = self.nodes[*station].power_save.as_ref()?;
            let dialogue = save.dialogue.as_ref()?;
            (save.access_point == access_point && dialogue.listed).then_some(dialogue.aid)
        })
    }

    /// A beacon left the air: stations that wake for it act by its bitmap.
    #[cold]
    pub(super) fn read_bitmap(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        (plan, station): (&BeaconPlan, RadioId),
        wakes: bool,
    ) {
        let Some(dialogue) = self.dialogue(station) else {
            return;
        };
        let asks = dialogue.serving || dialogue.pending.is_some();
        if !dialogue.begun || asks || (dialogue.dozes && !dialogue.missed && !wakes) {
            return;
        }
        let (_, octets) = plan.present();
        let hears = medium.control_arrives(t, station, &plan.vector, octets);
        if !hears {
            // It listens on for the next one.
            if dialogue.dozes && !std::mem::replace(&mut dialogue.missed, true) {
                Self::rouse(cx, medium, station);
            }
            return;
        }
        let missed = std::mem::take(&mut dialogue.missed);
        if !dialogue.listed {
            if missed {
                let (node, at) = (medium.host_of(station), cx.now());
                cx.observe(Observation::Dozes { node, at });
            }
            return;
        }
        let sign = match dialogue.retrieval {
            Retrieval::Active => Sign::Wake,
            Retrieval::PsPoll => Sign::Poll,
            Retrieval::UApsd => Sign::Trigger,
        };
        match sign {
            Sign::Wake => dialogue.dozes = false,
            _ => dialogue.serving = true,
        }
        Self::rouse(cx, medium, station);
        self.sign(cx, medium, station, sign);
    }

    /// A data frame of a station arrived at its access point; gives whether frames of power save are in
    /// use.
    #[cold]
    pub(super) fn hear_data(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        station: RadioId,
    ) -> bool {
        let Some(dialogue) = self.dialogue(station) else {
            return false;
        };
        match dialogue.retrieval {
            Retrieval::Active => self.hear_wake(cx, medium, station),
            Retrieval::UApsd if dialogue.begun => self.serve(cx, medium, station),
            Retrieval::UApsd | Retrieval::PsPoll => {}
        }
        true
    }

    /// A frame of power save arrived.
    #[cold]
    pub fn hear_sign(&mut self, cx: &mut Context, medium: &mut Medium, packet: PacketId) {
        let Carries::PowerSave { station, sign } = cx.packets.remove(packet).carries else {
            return;
        };
        let Some(dialogue) = self.dialogue(station) else {
            return;
        };
        if dialogue.pending == Some(sign) {
            dialogue.pending = None;
        }
        match sign {
            Sign::Doze => self.hear_doze(cx, medium, station),
            Sign::Wake => self.hear_wake(cx, medium, station),
            Sign::Poll | Sign::Trigger => self.serve(cx, medium, station),
            Sign::Nothing => {
                dialogue.ending = false;
                self.end_service(cx, medium, station);
            }
        }
    }

    /// A frame of power save had its last attempt, or its association ended.
    #[cold]
    pub fn lose_sign(&mut self, cx: &mut Context, medium: &Medium, packet: PacketId) {
        let Carries::PowerSave { station, sign } = cx.packets.remove(packet).carries else {
            return;
        };
        let Some(dialogue) = self.dialogue(station) else {
            return;
        };
        if dialogue.pending == Some(sign) {
            dialogue.pending = None;
        }
        match sign {
            // It tries again when it has been idle again, or at the next beacon.
            Sign::Doze | Sign::Wake => self.watch(cx, medium, station),
            Sign::Poll | Sign::Trigger => self.end_service(cx, medium, station),
            Sign::Nothing => {
                dialogue.ending = false;
                self.end_service(cx, medium, station);
            }
        }
    }

    /// The access point hears that a station dozes; the station does so once the Ack is in. Packets in
    /// the transmit queues wait for a beacon now.
    fn hear_doze(&mut self, cx: &mut Context, medium: &Medium, station: RadioId) {
        let Some(save) = &mut self.nodes[station].power_save else {
            return;
        };
        let access_point = save.access_point;
        let Some(dialogue) = &mut save.dialogue else {
            return;
        };
        (dialogue.dozes, dialogue.dozes_there) = (true, true);
        let up = dialogue.links.up;
        let mode = self.links[up].rate_of(super::link::Way::FIRST).choose();
        let sifs = medium.sifs(medium.channel_of(station));
        let at = cx.now() + sifs + self.modes[mode].answer(false);
        let node = medium.host_of(station);
        cx.observe(Observation::Dozes { node, at });
        let mut back: Vec<Kept> = Vec::new();
        for at in self.links_between(access_point, station) {
            let mut taken = Vec::new();
            self.empty(cx, at.0, at.1, &mut taken);
            back.extend(taken.into_iter().map(|packet| (at, packet)));
        }
        if let Some(save) = &mut self.nodes[station].power_save {
            save.kept.splice(0..0, back);
        }
    }

    /// The access point hears that a station is in active mode: it sends all that waits.
    fn hear_wake(&mut self, cx: &mut Context, medium: &mut Medium, station: RadioId) {
        let Some(dialogue) = self.dialogue(station) else {
            return;
        };
        dialogue.missed = false;
        let dozed = std::mem::take(&mut dialogue.dozes);
        let kept = std::mem::take(&mut dialogue.dozes_there);
        if dozed {
            Self::rouse(cx, medium, station);
        }
        self.watch(cx, medium, station);
        if kept {
            self.send_kept(cx, medium, station);
        }
    }

    /// An event looks whether a station in active mode is idle.
    fn watch(&mut self, cx: &mut Context, medium: &Medium, station: RadioId) {
        let Some(save) = &mut self.nodes[station].power_save else {
            return;
        };
        let after = save.after;
        let Some(dialogue) = &mut save.dialogue else {
            return;
        };
        if dialogue.begun && !std::mem::replace(&mut dialogue.watched, true) {
            let due = medium.last_sent(station) + after;
            let at = if due > cx.now() {
                due
            } else {
                cx.now() + after
            };
            cx.schedule(at, Event::Idle { station });
        }
    }

    /// A station in active mode dozes if its last frame was long enough ago: it says so first.
    pub fn idle_due(&mut self, cx: &mut Context, medium: &mut Medium, station: RadioId) {
        let contenders = self.nodes[station].contenders;
        let busy = contenders.iter().any(|c| self.queues[*c].packets > 0);
        let Some(save) = &mut self.nodes[station].power_save else {
            return;
        };
        let due = medium.last_sent(station) + save.after;
        let Some(dialogue) = &mut save.dialogue else {
            return;
        };
        dialogue.watched = false;
        if dialogue.dozes || dialogue.pending.is_some() {
            return;
        }
        if busy || due > cx.now() {
            self.watch(cx, medium, station);
        } else {
            self.sign(cx, medium, station, Sign::Doze);
        }
    }

    /// The access point is asked for frames.
    fn serve(&mut self, cx: &mut Context, medium: &mut Medium, station: RadioId) {
        let Some(dialogue) = self.dialogue(station) else {
            return;
        };
        // A service period goes on.
        if !dialogue.released.is_empty() || dialogue.ending {
            return;
        }
        dialogue.serving = true;
        dialogue.missed = false;
        Self::rouse(cx, medium, station);
        self.send_asked(cx, medium, station);
    }

    /// Sends the oldest frame that waits, or in a service period all of the highest category.
    fn send_asked(&mut self, cx: &mut Context, medium: &mut Medium, station: RadioId) {
        let Some(save) = &mut self.nodes[station].power_save else {
            return;
        };
        let Some(dialogue) = &mut save.dialogue else {
            return;
        };
        let category = |one: &Kept| cx.packets[one.1].category;
        let (sent, rest): (Vec<Kept>, Vec<Kept>) = match dialogue.retrieval {
            Retrieval::UApsd => {
                let highest = save.kept.iter().map(category).max();
                let kept = std::mem::take(&mut save.kept).into_iter();
                kept.partition(|one| Some(category(one)) == highest)
            }
            _ => {
                let mut kept = std::mem::take(&mut save.kept);
                let rest = kept.split_off(kept.len().min(1));
                (kept, rest)
            }
        };
        save.kept = rest;
        dialogue.more = !save.kept.is_empty();
        dialogue.released = sent.iter().map(|(_, packet)| *packet).collect();
        if sent.is_empty() {
            dialogue.ending = true;
            self.sign(cx, medium, station, Sign::Nothing);
        }
        for (at, packet) in sent {
            self.enqueue_kept(cx, medium, at, packet);
        }
    }

    /// A packet that an access point sent because it was asked arrived at its station, or is lost.
    #[cold]
    pub fn retrieved(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        station: RadioId,
        packet: PacketId,
    ) {
        let Some(dialogue) = self.dialogue(station) else {
            return;
        };
        let Some(at) = dialogue.released.iter().position(|one| *one == packet) else {
            return;
        };
        dialogue.released.remove(at);
        if !dialogue.released.is_empty() {
            return;
        }
        match (dialogue.more, dialogue.retrieval) {
            (true, Retrieval::PsPoll) => self.sign(cx, medium, station, Sign::Poll),
            (true, _) => self.send_asked(cx, medium, station),
            (false, _) => self.end_service(cx, medium, station),
        }
    }

    /// A packet is lost: a station may wait for it.
    #[cold]
    pub fn retrieval_failed(&mut self, cx: &mut Context, medium: &mut Medium, packet: PacketId) {
        for at in 0..self.savers.len() {
            let station = self.savers[at];
            self.retrieved(cx, medium, station, packet);
        }
    }

    /// A station has what waited for it, and dozes.
    fn end_service(&mut self, cx: &mut Context, medium: &Medium, station: RadioId) {
        let Some(dialogue) = self.dialogue(station) else {
            return;
        };
        if std::mem::take(&mut dialogue.serving) {
            let (node, at) = (medium.host_of(station), cx.now());
            cx.observe(Observation::Dozes { node, at });
        }
    }

    /// The association of a station ended: nothing waits for it any more.
    pub(super) fn forget_asked(&mut self, station: RadioId) {
        if let Some(dialogue) = self.dialogue(station) {
            dialogue.more = false;
        }
    }

    /// Links for data from a node to another, with their contenders.
    fn links_between(&self, from: RadioId, to: RadioId) -> Vec<(LinkId, ContenderId)> {
        let state = &self.nodes[from];
        let rows = if state.several_contenders() { 4 } else { 1 };
        let of_row = |category: u8| {
            let contender = state.contenders[usize::from(category)];
            let first = state.first_link.number() + u32::from(category) * state.neighbours;
            let links = (first..first + state.neighbours).map(LinkId::new);
            links.map(move |link| (link, contender))
        };
        let all = (0..rows).flat_map(of_row);
        all.filter(|(link, _)| self.links[*link].peer == to)
            .collect()
    }

    /// Whether data frames of a station have the power management bit.
    pub fn stays_in_power_save(&self, station: RadioId) -> bool {
        let save = self.nodes[station].power_save.as_ref();
        let dialogue = save.and_then(|save| save.dialogue.as_ref());
        dialogue.is_some_and(|d| d.begun && d.retrieval != Retrieval::Active)
    }

    /// Bits of the frame whose last packet is `packet`, for a station.
    pub fn announced(&self, station: RadioId, packet: PacketId) -> Announced {
        let save = self.nodes[station].power_save.as_ref();
        let Some(dialogue) = save.and_then(|save| save.dialogue.as_ref()) else {
            return Announced::default();
        };
        let Some(at) = dialogue.released.iter().position(|one| *one == packet) else {
            return Announced::default();
        };
        let more = dialogue.more || at + 1 < dialogue.released.len();
        Announced {
            more,
            ends: !more && dialogue.retrieval == Retrieval::UApsd,
        }
    }

    /// How a station and its access point agree on dozing by frames.
    pub fn spoken(&self, station: RadioId) -> Option<Spoken> {
        let dialogue = self.nodes[station].power_save.as_ref()?.dialogue.as_ref()?;
        Some(Spoken {
            aid: dialogue.aid,
            qos: dialogue.subtype == DataSubtype::Qos,
            unscheduled: dialogue.retrieval == Retrieval::UApsd,
        })
    }
}

impl Dialogue {
    /// Whether the station itself dozes.
    pub(super) fn is_deaf(&self) -> bool {
        self.dozes && !self.serving && !self.missed
    }
}

/// Octets of the bitmap beyond the first (9.4.2.5): from the last even octet before which no bit is set
/// to the last one with a bit.
fn bitmap_octets(first: u16, last: u16) -> u32 {
    if first > last {
        return 0;
    }
    u32::from(last / 8 - first / 16 * 2)
}

#[cfg(test)]
mod tests {
    use super::bitmap_octets;

    #[test]
    fn a_bitmap_begins_with_an_even_octet() {
        assert_eq!(bitmap_octets(u16::MAX, 0), 0);
        assert_eq!(bitmap_octets(1, 7), 0);
        assert_eq!(bitmap_octets(9, 9), 1);
        assert_eq!(bitmap_octets(16, 23), 0);
        assert_eq!(bitmap_octets(1, 17), 2);
    }
}
