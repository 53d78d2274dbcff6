//! Triggered PPDUs from several stations: Basic Trigger frame, HE TB PPDUs, Multi-STA BlockAck
//! (IEEE 802.11ax-2021, 26.5.2).
//!
//! The access point learns of a station by its first frame under EDCA. From then on each frame reports the
//! station's queue in its QoS Control field (9.2.4.5.6), a QoS Null where it has no data. A station that reported an
//! empty queue is asked again at the next poll, for as long as its MU EDCA timer may run. The PPDU is as
//! long as the longest user needs for the octets that it reported, or had last.

use airtoll_phy::{self as phy, Trigger, TxVector};
use airtoll_units::{Duration, Instant};

use super::super::Mac;
use super::super::aggregation::PpduContent;
use super::super::contention::Standing;
use super::super::link::{Request, Way};
use super::{BothWays, DELIMITER, Served, Sharing, Slice, Stage, User, longest, scheduler};
use crate::context::{Action, Context, Effects};
use crate::id::{ContenderId, LinkId, RadioId};
use crate::medium::{AirTime, FrameKind, Gap, Medium, Transmission};
use crate::observe::Observation;
use crate::observe::ledger::Air;

/// Octets that an access point expects of a station that it does not know (`UlPsduSize` of ns-3).
const UNKNOWN_OCTETS: u32 = 500;
/// Header, FCS, cipher, delimiter and padding of an MPDU, which reports leave out, octets.
const AROUND_REPORTED: u32 = 64;
/// Unit of Queue Size, octets, and its largest value (9.2.4.5.6).
const QUEUE_UNIT: u32 = 256;
const MOST_UNITS: u32 = 254;
/// QoS Null in an A-MPDU.
const NULL_PSDU: u32 = DELIMITER + phy::QOS_NULL_OCTETS;

impl Served {
    pub(super) fn new(radio: RadioId, contender: ContenderId, links: BothWays) -> Self {
        Self {
            radio,
            contender,
            down: links.down,
            up: links.up,
            reported: 0,
            usual: UNKNOWN_OCTETS,
            mpdu: u32::MAX,
            heard: Instant::ZERO,
            active_until: Instant::ZERO,
            due: false,
        }
    }

    /// Octets that its next PPDU should hold; at most `window` MPDUs, each as long as the last were.
    fn wanted(&self, window: u32) -> u32 {
        match self.reported {
            0 => self.usual,
            reported => (reported + AROUND_REPORTED).min(self.mpdu.saturating_mul(window)),
        }
    }

    /// When it is asked again after an empty queue: at the next multiple of the poll interval, so that one
    /// Trigger frame asks many stations.
    fn asked_again(&self, poll: Duration) -> Instant {
        let passed = self.heard.as_nanos() / poll.as_nanos();
        Instant::from_nanos((passed + 1) * poll.as_nanos())
    }

    /// It reported so many octets at `now`.
    fn report(&mut self, now: Instant, reported: u32) {
        self.reported = reported;
        self.heard = now;
        self.due = reported > 0;
    }

    /// It sent data at `now`.
    fn note_data(&mut self, now: Instant, sent: PpduContent, timer: Duration) {
        self.usual = sent.psdu;
        self.mpdu = sent.psdu.div_ceil(sent.mpdus.max(1)).next_multiple_of(4);
        self.active_until = now + timer;
    }

    /// It had data and sent none: the PPDU was too short for its next MPDU.
    fn note_none(&mut self) {
        self.mpdu = u32::MAX;
    }
}

impl Sharing {
    /// When the first station that reported an empty queue is asked again.
    pub(super) fn next_poll(&self) -> Option<Instant> {
        let poll = self.rules.poll;
        let asked = self.stations.iter().filter(|s| !s.due);
        let times = asked.map(|s| (s.asked_again(poll), s.active_until));
        let within = times.filter(|(at, until)| at < until).map(|(at, _)| at);
        within.min().filter(|_| self.rules.uplink)
    }

    /// Marks the stations that are asked again at `now`; gives whether any is due.
    fn mark_due(&mut self, now: Instant) -> bool {
        let poll = self.rules.poll;
        for station in &mut self.stations {
            let asked = now < station.active_until || station.reported > 0;
            station.due &= asked;
            station.due |= now < station.active_until && station.asked_again(poll) <= now;
        }
        self.stations.iter().any(|s| s.due)
    }
}

impl Mac {
    /// Stations that reported empty queues may have data again.
    pub fn poll_due(&mut self, cx: &mut Context, medium: &mut Medium, id: ContenderId) {
        let Some(mut sharing) = self.take_sharing(id) else {
            return;
        };
        sharing.polls = false;
        let any = sharing.mark_due(cx.now());
        self.ask_later(cx, id, &mut sharing);
        self.put_sharing(id, sharing);
        if any && self.contenders[id].standing == Standing::Resting {
            self.wake(cx, medium, id);
        }
    }

    /// A station's data came in under EDCA.
    #[cold]
    pub(in super::super) fn heard_alone(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        station: ContenderId,
        sent: PpduContent,
    ) {
        let Some((id, at)) = self.access_point_of(station) else {
            return;
        };
        let Some(mut sharing) = self.take_sharing(id) else {
            return;
        };
        if sharing.rules.uplink {
            let timer = sharing.rules.timer.max(sharing.rules.poll * 2);
            let served = &mut sharing.stations[at];
            let reported = self.buffered(cx, served.up);
            served.report(cx.now(), reported);
            served.note_data(cx.now(), sent, timer);
            self.ask_later(cx, id, &mut sharing);
        }
        self.put_sharing(id, sharing);
        if self.owes_trigger(id) && self.contenders[id].standing == Standing::Resting {
            self.wake(cx, medium, id);
        }
    }

    /// The Queue Size that a station reports, octets.
    fn buffered(&self, cx: &Context, link: LinkId) -> u32 {
        const MOST: u32 = MOST_UNITS * QUEUE_UNIT;
        let state = &self.links[link];
        let unsent = state.window.iter().filter(|m| m.in_flight.is_none());
        let mut octets: u32 = unsent.filter(|m| !m.acknowledged).map(|m| m.octets).sum();
        for packet in state.waiting() {
            if octets >= MOST {
                break;
            }
            octets += phy::LLC_SNAP_OCTETS + cx.packets[packet].ip_octets;
        }
        octets.next_multiple_of(QUEUE_UNIT).min(MOST)
    }

    /// Prepares a Trigger frame; gives whether any station is asked.
    pub(super) fn prepare_trigger(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        (id, room): (ContenderId, Option<Duration>),
        sharing: &mut Sharing,
    ) -> bool {
        if !sharing.rules.uplink || !sharing.mark_due(cx.now()) {
            return false;
        }
        let due = |at: &usize| sharing.stations[*at].due;
        let candidates: Vec<usize> = (0..sharing.stations.len()).filter(due).collect();
        let width = sharing.rules.width;
        let Some((unit, most)) = scheduler::equal_units(width, candidates.len()) else {
            return false;
        };
        let (chosen, next) = scheduler::in_turn(&candidates, sharing.turns[1], most);
        let mut modes = Vec::new();
        for &at in &chosen {
            let rate = self.links[sharing.stations[at].up].rate_of(Way::FIRST);
            modes.push(rate.choose());
        }
        let vectors = || modes.iter().map(|mode| self.modes[*mode].vector());
        let streams = vectors().map(TxVector::nss).max().unwrap_or(1);
        let slowest = modes.iter().map(|mode| *self.modes[*mode].response());
        let Some(control) = slowest.min_by_key(|v| v.bit_rate().0) else {
            return false;
        };
        let asked = chosen.len() as u32;
        let windows = modes.iter().map(|mode| (2, self.modes[*mode].window()));
        let end_octets = phy::multi_sta_block_ack_octets(windows);
        let end = phy::airtime(&control, end_octets);
        let length = phy::airtime(&control, phy::trigger_octets(Trigger::Basic, asked));
        let sifs = self.sifs(medium, id);
        let longest = longest(room, length + sifs * 2 + end);
        let mut users = Vec::new();
        let mut answer = Duration::ZERO;
        for (&at, &mode) in chosen.iter().zip(&modes) {
            let alone = self.modes[mode].vector();
            let Some(vector) = phy::triggered(alone, unit, streams) else {
                return false;
            };
            let within = phy::psdu_within(&vector, longest);
            let wanted = sharing.stations[at].wanted(self.modes[mode].window());
            let octets = wanted.min(within).max(NULL_PSDU);
            answer = answer.max(phy::airtime(&vector, octets));
            users.push(User {
                at,
                mode,
                vector,
                unit,
                number: users.len() as u32,
                count: 0,
                psdu: NULL_PSDU,
                answers: false,
                arrived: false,
                acknowledged: false,
            });
        }
        sharing.turns[1] = next;
        (sharing.length, sharing.answer, sharing.end) = (length, answer, end);
        sharing.control = Some(control);
        sharing.users = users;
        sharing.stage = Stage::Trigger;
        true
    }

    /// The Trigger frame ended.
    pub(super) fn trigger_sent(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        sharing: &mut Sharing,
    ) {
        let (now, id) = (cx.now(), t.contender);
        let Some(control) = sharing.control else {
            return;
        };
        let octets = phy::trigger_octets(Trigger::Basic, sharing.users.len() as u32);
        let mut engaged = vec![t.node];
        for user in &mut sharing.users {
            let station = &sharing.stations[user.at];
            let busy = self.contenders[station.contender].standing == Standing::Exchanging
                || medium.engaged_until(station.radio) > now;
            user.answers = !busy && medium.control_arrives(t, station.radio, &control, octets);
            if user.answers {
                engaged.push(station.radio);
            }
        }
        let answered = engaged.len() > 1;
        let used = if answered {
            Air::Protection
        } else {
            Air::Retry
        };
        cx.observe_air(used, t.alone);
        if answered {
            self.expect(cx, medium, id, Gap::Protection, &engaged, true);
        } else {
            let timeout = sharing.users.first().map(|u| self.modes[u.mode].timeout());
            self.fail(cx, id, now + timeout.unwrap_or(Duration::ZERO));
        }
    }

    /// The users of a Trigger frame fill their PPDUs and send them.
    pub(super) fn answer_trigger(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
        sharing: &mut Sharing,
    ) {
        let now = cx.now();
        for user in sharing.users.iter_mut().filter(|user| user.answers) {
            let station = &sharing.stations[user.at];
            let (contender, link) = (station.contender, station.up);
            self.discard_expired(cx, contender, link, now);
            if self.links[link].is_empty() || self.links[link].is_barred() {
                continue;
            }
            let within = phy::psdu_within(&user.vector, sharing.answer);
            let limit = within.min(self.modes[user.mode].ampdu_limit());
            let spacing = self.links[link].spacing_in(&user.vector);
            let mode = (user.mode, Way::FIRST);
            if !self.fill_up_to(cx, medium, (contender, link), mode, (limit, spacing)) {
                continue;
            }
            let content = self.exchanges[contender].content();
            if content.psdu > within {
                // The first MPDU alone is longer than the PPDU.
                self.unmark(contender, link);
                continue;
            }
            self.links[link].request = Request::NotDue;
            (user.count, user.psdu) = (content.mpdus, content.psdu);
        }
        sharing.stage = Stage::Uplink;
        let sifs = self.sifs(medium, id);
        self.transmit_together(cx, medium, id, sharing, sifs + sharing.end);
    }

    /// The triggered PPDUs ended.
    pub(super) fn uplink_sent(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        sharing: &mut Sharing,
    ) {
        let (now, id) = (cx.now(), t.contender);
        let access_point = self.contenders[id].node;
        let mut users = std::mem::take(&mut sharing.users);
        let among = users.iter().filter(|user| user.answers).count();
        let timer = sharing.rules.timer.max(sharing.rules.poll * 2);
        let mut engaged = vec![access_point];
        let mut any = false;
        let answering = users.iter_mut().filter(|user| user.answers);
        for (number, user) in answering.enumerate() {
            let station = &mut sharing.stations[user.at];
            let link = station.up;
            let own = Transmission {
                node: station.radio,
                ..*t
            };
            let part = self.hear_part(cx, medium, &own, (link, user));
            user.arrived = if user.count > 0 {
                part.any
            } else {
                self.frame_arrives(medium, &own, (link, user), phy::QOS_NULL_OCTETS)
            };
            let slice = Slice {
                number,
                users: among,
            };
            self.book_part(cx, t, slice, user, &part);
            if let Some(account) = self.links[link].account {
                self.charge(account, slice.of(sharing.answer));
            }
            if user.arrived {
                any = true;
                let reported = self.buffered(cx, link);
                station.report(now, reported);
                if user.count > 0 {
                    let sent = PpduContent {
                        mpdus: user.count,
                        psdu: user.psdu,
                    };
                    station.note_data(now, sent, timer);
                    engaged.push(station.radio);
                } else if reported > 0 {
                    station.note_none();
                }
            }
            self.deliver_apart(cx, link);
        }
        sharing.users = users;
        if any {
            let (node, length) = (medium.host_of(access_point), sharing.answer);
            cx.observe(Observation::Receives { node, length });
        }
        if engaged.len() > 1 {
            self.expect(cx, medium, id, Gap::Response, &engaged, true);
        } else if any {
            Self::shared_succeeded(cx, id);
        } else {
            self.fail(cx, id, now);
        }
    }

    /// Records of the Multi-STA BlockAck: MPDUs of each station whose data arrived, and its window.
    fn records<'s>(&'s self, sharing: &'s Sharing) -> impl Iterator<Item = (u32, u32)> + 's {
        let arrived = |user: &&User| user.arrived && user.count > 0;
        let users = sharing.users.iter().filter(arrived);
        users.map(|user| (user.count, self.modes[user.mode].window()))
    }

    /// The access point acknowledges the triggered PPDUs.
    pub(super) fn acknowledge_uplink(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
        sharing: &mut Sharing,
    ) {
        let octets = phy::multi_sta_block_ack_octets(self.records(sharing));
        if let Some(control) = &sharing.control {
            sharing.end = phy::airtime(control, octets);
        }
        sharing.stage = Stage::Acknowledgement;
        let node = self.contenders[id].node;
        let air = AirTime::unprotected(sharing.end);
        self.transmit(cx, medium, (id, node), FrameKind::MultiAck, air);
    }

    /// The Multi-STA BlockAck ended.
    pub(super) fn acknowledgement_sent(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        sharing: &mut Sharing,
    ) {
        let octets = phy::multi_sta_block_ack_octets(self.records(sharing));
        let Some(control) = sharing.control else {
            return;
        };
        let mut any = false;
        for user in &mut sharing.users {
            let radio = sharing.stations[user.at].radio;
            user.acknowledged = user.arrived
                && user.count > 0
                && medium.control_arrives(t, radio, &control, octets);
            any |= user.acknowledged;
        }
        cx.observe_air(if any { Air::Ack } else { Air::Retry }, t.alone);
        if any {
            cx.observe(Observation::ControlOctets { octets });
        }
        Self::shared_succeeded(cx, t.contender);
    }

    /// Settles what the users of a Trigger frame sent. Those whose data were acknowledged leave contention
    /// until their MU EDCA timer is over.
    pub(super) fn settle_uplink(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        sharing: &Sharing,
    ) -> Effects {
        let mut effects = Effects::None;
        for user in sharing.users.iter().filter(|u| u.answers && u.count > 0) {
            let station = &sharing.stations[user.at];
            let contender = station.contender;
            effects = effects.and(self.settle_user(cx, (contender, station.up), user));
            if user.acknowledged {
                self.narrow(contender);
                self.defer(cx, contender, sharing.rules.timer);
            }
            effects = effects.and(self.stand_after_trigger(cx, medium, contender));
        }
        effects
    }

    /// A station whose frames were triggered contends no more where none is left, or its MU EDCA timer runs.
    fn stand_after_trigger(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        contender: ContenderId,
    ) -> Effects {
        let standing = self.contenders[contender].standing;
        let waits = matches!(standing, Standing::Counting | Standing::Preparing);
        if !waits {
            return Effects::None;
        }
        let left = self.has_frame(contender);
        let deferred = self.is_deferred(contender, cx.now());
        if standing == Standing::Counting && (!left || deferred) {
            self.withdraw(contender);
        }
        if !left {
            self.contenders[contender].standing = Standing::Resting;
            self.want(cx, medium, contender, false);
            let node = medium.host_of(self.contenders[contender].node);
            cx.act(Action::Arm { node });
            return Effects::Pending;
        }
        if deferred {
            self.contenders[contender].standing = Standing::Preparing;
        }
        Effects::None
    }
}
