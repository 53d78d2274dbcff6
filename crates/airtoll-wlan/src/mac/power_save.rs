//! Frames for dozing stations: an access point keeps them until the station wakes.
//!
//! A station dozes a time after its last frame and wakes for every n-th beacon. A beacon that it
//! receives names the stations for which frames wait (TIM; IEEE 802.11-2020, 11.2.3.6). The station then
//! stays awake, and all of its frames are sent. Linux's mac80211 does it so where it has a dynamic
//! power-save timeout: it ends the doze by a null frame and sends no PS-Poll (`ieee80211_rx_mgmt_beacon`
//! in net/mac80211/mlme.c). Null frames take no airtime here, and any other data frame of the station shows
//! the access point that it is awake. Where a station has frames of power save (`retrieval`), these say it.
//!
//! With an agreement of target wake time (IEEE 802.11ax-2021, 26.8.2) the station is awake in service
//! periods at known instants, and all that waits is sent from the start of the next one on. The TIM
//! then changes nothing. A period lasts until what waited for it is out.

use airtoll_units::{Duration, Instant};

use super::Mac;
use super::beacon::BeaconPlan;
use super::link::PowerMode;
use super::retrieval::{Dialogue, Kept};
use crate::context::Context;
use crate::event::Event;
use crate::id::{ContenderId, LinkId, PacketId, Pair, RadioId};
use crate::medium::{Medium, Transmission};
use crate::observe::{Observation, Periods};
use crate::packet::Loss;

/// Frames of an access category that are kept for a station; a further one replaces the oldest
/// (`STA_MAX_TX_BUFFER` in net/mac80211/sta_info.h).
const KEPT: usize = 64;

/// A station that dozes between beacons.
#[derive(Debug)]
pub(super) struct PowerSave {
    pub(super) access_point: RadioId,
    /// It dozes so long after its last frame.
    pub(super) after: Duration,
    /// It wakes for each n-th beacon; without one it does not listen to the TIM.
    listen_interval: Option<u64>,
    /// Its service periods, and whether the event of the next one is scheduled.
    periods: Option<Periods>,
    scheduled: bool,
    /// It stays awake until then at least.
    awake_until: Instant,
    /// Packets that its access point keeps.
    pub(super) kept: Vec<Kept>,
    /// Frames by which the two agree; absent: the access point knows.
    pub(super) dialogue: Option<Dialogue>,
}

impl Mac {
    /// A station dozes `after` its last frame. Data for it wait for each `listen_interval`-th beacon of
    /// its access point, or for its service periods.
    pub fn set_power_save(
        &mut self,
        pair: Pair<RadioId>,
        after: Duration,
        listen_interval: Option<u32>,
        periods: Option<Periods>,
    ) {
        let Pair {
            station,
            access_point,
        } = pair;
        self.nodes[station].power_save = Some(Box::new(PowerSave {
            access_point,
            after,
            listen_interval: listen_interval.map(|n| u64::from(n.max(1))),
            periods,
            scheduled: false,
            awake_until: Instant::ZERO,
            kept: Vec::new(),
            dialogue: None,
        }));
        self.savers.push(station);
        self.each_link(access_point, station, |link| {
            link.receiver_mode = PowerMode::PowerSave;
        });
        self.each_link(station, access_point, |link| {
            link.sender_mode = PowerMode::PowerSave;
        });
    }

    /// Keeps a packet if its receiver dozes; gives whether it does.
    #[cold]
    pub fn keep_if_asleep(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        at: (LinkId, ContenderId),
        packet: PacketId,
    ) -> bool {
        let station = self.links[at.0].peer;
        let Some(save) = &mut self.nodes[station].power_save else {
            return false;
        };
        // Earlier packets go first.
        let sleeps = match &save.dialogue {
            Some(dialogue) => dialogue.dozes_there,
            None => save.is_asleep(medium, station, cx.now()),
        };
        if save.kept.is_empty() && !sleeps {
            return false;
        }
        let of_category = |one: &Kept| one.0.1 == at.1;
        if save.kept.iter().filter(|one| of_category(one)).count() >= KEPT
            && let Some(oldest) = save.kept.iter().position(of_category)
        {
            let (_, packet) = save.kept.remove(oldest);
            cx.lose(packet, Loss::Full);
        }
        save.kept.push((at, packet));
        if let Some(periods) = save.periods
            && !save.scheduled
        {
            save.scheduled = true;
            cx.schedule(periods.next(cx.now()), Event::ServicePeriod { station });
        }
        true
    }

    /// The access point knows that a station is awake: it sends the packets that it kept.
    #[cold]
    pub fn release(&mut self, cx: &mut Context, medium: &mut Medium, station: RadioId) {
        if self.has_dialogues && self.hear_data(cx, medium, station) {
            return;
        }
        let Some(save) = &mut self.nodes[station].power_save else {
            return;
        };
        save.awake_until = cx.now() + save.after;
        if save.periods.is_some() {
            let node = medium.host_of(station);
            cx.observe(Observation::Wakes { node });
        }
        self.send_kept(cx, medium, station);
    }

    /// A service period of a station begins for which packets waited.
    pub fn service_period(&mut self, cx: &mut Context, medium: &mut Medium, station: RadioId) {
        if let Some(save) = &mut self.nodes[station].power_save {
            save.scheduled = false;
        }
        self.send_kept(cx, medium, station);
    }

    pub(super) fn send_kept(&mut self, cx: &mut Context, medium: &mut Medium, station: RadioId) {
        let Some(save) = &mut self.nodes[station].power_save else {
            return;
        };
        for (at, packet) in std::mem::take(&mut save.kept) {
            self.enqueue_kept(cx, medium, at, packet);
        }
    }

    /// Puts a packet that was kept into a transmit queue.
    pub(super) fn enqueue_kept(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        at: (LinkId, ContenderId),
        packet: PacketId,
    ) {
        let now = cx.now();
        if self.links[at.0].is_signalling() {
            self.enqueue_signalling(cx, medium, at, packet);
        } else if !self.enqueue(cx, medium, at, (packet, now)) {
            cx.lose(packet, Loss::Full);
        }
    }

    /// Takes the packets that `access_point` keeps for a station.
    pub(super) fn take_kept(&mut self, access_point: RadioId, station: RadioId) -> Vec<PacketId> {
        self.forget_asked(station);
        match &mut self.nodes[station].power_save {
            Some(save) if save.access_point == access_point => {
                let kept = std::mem::take(&mut save.kept);
                kept.into_iter().map(|(_, packet)| packet).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Whether a station dozes now.
    pub fn is_asleep(&self, medium: &Medium, station: RadioId, now: Instant) -> bool {
        let save = self.nodes[station].power_save.as_ref();
        save.is_some_and(|save| match &save.dialogue {
            Some(dialogue) => dialogue.is_deaf(),
            None => save.is_asleep(medium, station, now),
        })
    }

    /// A beacon left the air: stations that wake for it and for which packets wait stay awake.
    #[cold]
    pub(super) fn announce_kept(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        plan: &BeaconPlan,
    ) {
        for at in 0..self.savers.len() {
            let station = self.savers[at];
            let Some(save) = &self.nodes[station].power_save else {
                continue;
            };
            if save.dialogue.is_some() {
                let own = save.access_point == t.node;
                let wakes = |n: u64| plan.due.is_multiple_of(n);
                let wakes = save.listen_interval.is_some_and(wakes);
                if own {
                    self.read_bitmap(cx, medium, t, (plan, station), wakes);
                }
                continue;
            }
            let waits = save.access_point == t.node && !save.kept.is_empty();
            let heard = save.listen_interval.filter(|_| save.periods.is_none());
            if !waits || !heard.is_some_and(|n| plan.due.is_multiple_of(n)) {
                continue;
            }
            if medium.control_arrives(t, station, &plan.vector, plan.octets) {
                let node = medium.host_of(station);
                cx.observe(Observation::Wakes { node });
                self.release(cx, medium, station);
            }
        }
    }

    /// Whether any station dozes between beacons.
    #[inline]
    pub(super) fn has_savers(&self) -> bool {
        !self.savers.is_empty()
    }
}

impl PowerSave {
    fn is_asleep(&self, medium: &Medium, station: RadioId, now: Instant) -> bool {
        if let Some(periods) = &self.periods {
            return now > self.awake_until && !periods.contains(now);
        }
        let awake_until = medium.last_sent(station) + self.after;
        now > awake_until.max(self.awake_until)
    }
}
