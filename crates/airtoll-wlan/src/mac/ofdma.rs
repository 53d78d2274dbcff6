//! OFDMA (IEEE 802.11ax-2021, 26.5): one access category of an access point sends to several stations in one
//! PPDU, and asks several stations for PPDUs at the same time.
//!
//! A shared exchange takes the place of the exchange of one link: `aggregation` chooses the MPDUs of each
//! user, `contention` and `exchange` carry the access of the access point. `scheduler` chooses users and
//! resource units, `downlink` and `uplink` hold the two sequences, `deferral` the contention of triggered
//! stations:
//!
//! - HE MU PPDU with a MU-BAR Trigger frame in each user's A-MPDU; SIFS; BlockAcks in HE TB PPDUs.
//! - Basic Trigger frame; SIFS; HE TB PPDUs; SIFS; Multi-STA BlockAck.
//!
//! An exchange of one user, of management frames and of stations without OFDMA goes on as without it.
//! Simultaneous HE TB PPDUs are one transmission on the channel.

mod deferral;
mod downlink;
mod scheduler;
mod uplink;

use airtoll_phy::{self as phy, ResourceUnit, TxVector, Width};
use airtoll_units::{Duration, Instant};

use super::Mac;
use super::aggregation::Fill;
use super::link::{HandUp, Heard, Request, Way};
use crate::context::{Action, Context, Effects, Step};
use crate::event::Event;
use crate::id::{ContenderId, LinkId, ModeId, RadioId, Table, TransmissionId};
use crate::medium::{AirTime, FrameKind, Medium, Origin, Sent, Spectrum, Transmission};
use crate::observe::Observation;
use crate::observe::ledger::Octets;
use deferral::Deferral;

/// MPDU delimiter (9.7.1).
const DELIMITER: u32 = 4;
/// Steps in which the packets of a PPDU are handed up while it is on the air, where that matters.
const PARTS: u64 = 16;

/// OFDMA of all BSSs that use it.
#[derive(Debug)]
pub(super) struct Ofdma {
    /// By contenders of access points.
    sharing: Table<ContenderId, Option<Box<Sharing>>>,
    /// By contenders of stations.
    deferrals: Table<ContenderId, Deferral>,
}

/// How the access point of a BSS uses OFDMA.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharingRules {
    pub width: Width,
    pub downlink: bool,
    pub uplink: bool,
    /// Interval at which it asks stations again that reported empty queues.
    pub poll: Duration,
    /// MU EDCA timer of its stations.
    pub timer: Duration,
}

/// A station that shares PPDUs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct SharedStation {
    pub radio: RadioId,
    /// By access category.
    pub links: [BothWays; 4],
}

/// The links between an access point and a station for an access category.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BothWays {
    pub down: LinkId,
    pub up: LinkId,
}

/// Step of a shared exchange.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// None goes on.
    Idle,
    /// The PPDU to several users is next, or on the air.
    Downlink,
    /// Its users owe BlockAcks, or send them.
    BlockAcks,
    /// The Trigger frame is next, or on the air.
    Trigger,
    /// Its users owe data, or send them.
    Uplink,
    /// The access point owes its BlockAck, or sends it.
    Acknowledgement,
}

/// OFDMA of one access category of an access point.
#[derive(Debug)]
struct Sharing {
    rules: SharingRules,
    stations: Vec<Served>,
    /// The station that is first in the next PPDU to stations, and from them.
    turns: [usize; 2],
    /// Its last exchange was a Trigger frame.
    triggered_last: bool,
    stage: Stage,
    users: Vec<User>,
    /// Airtime of the frame that opens the exchange, of what the users answer, and of the BlockAck that ends a
    /// triggered exchange.
    length: Duration,
    answer: Duration,
    end: Duration,
    /// Vector of the Trigger frame and of the Multi-STA BlockAck.
    control: Option<TxVector>,
    /// An event to ask stations again is scheduled.
    polls: bool,
    /// Parts of the PPDU on the air whose packets were handed up.
    parts: u64,
}

/// A station that takes part.
#[derive(Debug)]
struct Served {
    radio: RadioId,
    /// Its contender of the access category.
    contender: ContenderId,
    down: LinkId,
    up: LinkId,
    /// Octets that it reported in its queue.
    reported: u32,
    /// Octets of the last PSDU of data that it sent.
    usual: u32,
    /// Octets of an MPDU in it, with delimiter and padding.
    mpdu: u32,
    /// When it reported last.
    heard: Instant,
    /// It is asked up to then.
    active_until: Instant,
    /// A Trigger frame should ask it.
    due: bool,
}

/// A user of a shared exchange.
#[derive(Debug, Clone, Copy)]
struct User {
    /// Number of its station.
    at: usize,
    mode: ModeId,
    /// The vector of its data in its resource unit.
    vector: TxVector,
    /// Its resource unit, and the number of that from the lowest frequency on.
    unit: ResourceUnit,
    number: u32,
    /// MPDUs, and octets of the PSDU.
    count: u32,
    psdu: u32,
    /// It got the frame that asks for its answer.
    answers: bool,
    /// Its answer arrived.
    arrived: bool,
    /// Its data are acknowledged.
    acknowledged: bool,
}

impl User {
    /// When its data end, counted from the beginning of the PPDU.
    fn data_end(&self, stage: Stage) -> Duration {
        let around = match stage {
            Stage::Downlink => with_frame(0, downlink::MU_BAR_OCTETS),
            _ => 0,
        };
        let octets = phy::OctetSpan {
            from: 0,
            to: self.psdu.saturating_sub(around).next_multiple_of(4),
        };
        phy::octets_on_air(&self.vector, octets).to
    }

    /// How its part of a transmission is sent.
    fn sent<'m>(&self, t: &Transmission, alone: &'m TxVector) -> Sent<'m> {
        Sent {
            mode: self.mode,
            vector: alone,
            spectrum: match t.kind {
                FrameKind::Triggered => Spectrum::TriggeredUnit(self.unit, self.number),
                _ => Spectrum::Unit(self.unit, self.number),
            },
        }
    }
}

/// MPDUs of a user's part that arrived, and those that did not.
struct Part {
    any: bool,
    good: Octets,
    bad: u32,
    of_groups: u32,
}

impl Mac {
    /// The contenders of an access point share PPDUs among these stations.
    pub fn share_ppdus(
        &mut self,
        contenders: [ContenderId; 4],
        rules: SharingRules,
        stations: &[SharedStation],
    ) {
        let mut all = self.ofdma.take().unwrap_or_else(|| {
            Box::new(Ofdma {
                sharing: Table::new(),
                deferrals: Table::new(),
            })
        });
        while all.sharing.len() < self.contenders.len() {
            all.sharing.push(None);
            all.deferrals.push(Deferral::default());
        }
        for (category, &id) in contenders.iter().enumerate() {
            let served = |station: &SharedStation| {
                let contender = self.contender(station.radio, category as u8);
                Served::new(station.radio, contender, station.links[category])
            };
            let stations: Vec<Served> = stations.iter().map(served).collect();
            for (at, station) in stations.iter().enumerate() {
                all.deferrals[station.contender] = Deferral::of(id, at);
            }
            all.sharing[id] = Some(Box::new(Sharing {
                rules,
                stations,
                turns: [0; 2],
                triggered_last: false,
                stage: Stage::Idle,
                users: Vec::new(),
                length: Duration::ZERO,
                answer: Duration::ZERO,
                end: Duration::ZERO,
                control: None,
                polls: false,
                parts: 0,
            }));
        }
        self.ofdma = Some(all);
    }

    fn take_sharing(&mut self, id: ContenderId) -> Option<Box<Sharing>> {
        self.ofdma.as_mut()?.sharing.get_mut(id)?.take()
    }

    fn put_sharing(&mut self, id: ContenderId, sharing: Box<Sharing>) {
        if let Some(all) = &mut self.ofdma {
            all.sharing[id] = Some(sharing);
        }
    }

    fn sharing(&self, id: ContenderId) -> Option<&Sharing> {
        self.ofdma.as_ref()?.sharing.get(id)?.as_deref()
    }

    /// Whether an access point has to ask stations for their data.
    #[cold]
    pub(super) fn owes_trigger(&self, id: ContenderId) -> bool {
        self.sharing(id)
            .is_some_and(|s| s.stations.iter().any(|station| station.due))
    }

    /// Chooses what a contender sends where there is OFDMA: a shared exchange, or one as without it.
    #[cold]
    pub(super) fn fill_shared(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        id: ContenderId,
        room: Option<Duration>,
    ) -> Fill {
        if let Some(mut sharing) = self.take_sharing(id) {
            let fill = self.share(cx, medium, (id, room), &mut sharing);
            if fill.is_none() {
                self.resume_one(id, &sharing);
            }
            self.put_sharing(id, sharing);
            if let Some(fill) = fill {
                return fill;
            }
        }
        self.fill(cx, medium, id, room)
    }

    /// Triggered exchanges and others alternate where both are due.
    fn share(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        (id, room): (ContenderId, Option<Duration>),
        sharing: &mut Sharing,
    ) -> Option<Fill> {
        sharing.stage = Stage::Idle;
        let asks = !sharing.triggered_last || self.queues[id].packets == 0;
        if asks && self.prepare_trigger(cx, medium, (id, room), sharing) {
            sharing.triggered_last = true;
            return Some(Fill::Ready);
        }
        sharing.triggered_last = false;
        self.fill_downlink(cx, medium, (id, room), sharing)
    }

    /// Frames that a shared exchange left go first in the exchange of one link that follows.
    fn resume_one(&mut self, id: ContenderId, sharing: &Sharing) {
        if self.queues[id].unfinished.is_some() {
            return;
        }
        let mut links = sharing.stations.iter().map(|station| station.down);
        let left = links.find(|link| {
            let link = &self.links[*link];
            let mut window = link.window.iter();
            link.request == Request::Due || window.any(|m| !m.acknowledged && !m.waits)
        });
        self.queues[id].unfinished = left;
    }

    /// Sends the first frame of a shared exchange, where that is what the contender has prepared.
    #[cold]
    pub(super) fn start_shared(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
    ) -> bool {
        let Some(sharing) = self.sharing(id) else {
            return false;
        };
        let sifs = self.sifs(medium, id);
        let node = self.contenders[id].node;
        let (kind, length, rest) = match sharing.stage {
            Stage::Downlink => (FrameKind::MultiUser, sharing.length, sharing.answer),
            Stage::Trigger => {
                let rest = sharing.answer + sifs + sharing.end;
                (FrameKind::Trigger, sharing.length, rest)
            }
            _ => return false,
        };
        let air = AirTime {
            length,
            protects: sifs + rest,
        };
        let transmission = self.transmit(cx, medium, (id, node), kind, air);
        if kind == FrameKind::MultiUser
            && let Some(mut sharing) = self.take_sharing(id)
        {
            sharing.parts = 0;
            let times = (cx.now(), length);
            self.expect_mpdus(cx, (id, transmission), &mut sharing, times);
            self.put_sharing(id, sharing);
        }
        true
    }

    /// SIFS after a frame of a shared exchange: what answers it.
    #[cold]
    pub(super) fn respond_shared(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
    ) -> bool {
        let going_on = self.sharing(id).is_some_and(|s| s.stage != Stage::Idle);
        let sharing = going_on.then(|| self.take_sharing(id)).flatten();
        let Some(mut sharing) = sharing else {
            return false;
        };
        match sharing.stage {
            Stage::Trigger => self.answer_trigger(cx, medium, id, &mut sharing),
            Stage::Uplink => self.acknowledge_uplink(cx, medium, id, &mut sharing),
            _ => {
                sharing.stage = Stage::BlockAcks;
                self.transmit_together(cx, medium, id, &mut sharing, Duration::ZERO);
            }
        }
        self.put_sharing(id, sharing);
        true
    }

    /// A frame of a shared exchange ended.
    #[cold]
    pub(super) fn shared_sent(&mut self, cx: &mut Context, medium: &mut Medium, t: &Transmission) {
        let Some(mut sharing) = self.take_sharing(t.contender) else {
            return;
        };
        match sharing.stage {
            Stage::Downlink => self.downlink_sent(cx, medium, t, &mut sharing),
            Stage::BlockAcks => self.block_acks_sent(cx, medium, t, &mut sharing),
            Stage::Trigger => self.trigger_sent(cx, medium, t, &mut sharing),
            Stage::Uplink => self.uplink_sent(cx, medium, t, &mut sharing),
            Stage::Acknowledgement => self.acknowledgement_sent(cx, medium, t, &mut sharing),
            Stage::Idle => {}
        }
        self.put_sharing(t.contender, sharing);
    }

    /// The frames of a shared exchange are over, successfully or not: settles those of each user.
    #[cold]
    pub(super) fn shared_goes_on(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
        step: Step,
    ) -> bool {
        if !matches!(step, Step::Succeeded | Step::Failed) {
            return false;
        }
        let going_on = self.sharing(id).is_some_and(|s| s.stage != Stage::Idle);
        let sharing = going_on.then(|| self.take_sharing(id)).flatten();
        let Some(mut sharing) = sharing else {
            return false;
        };
        let stage = std::mem::replace(&mut sharing.stage, Stage::Idle);
        let effects = if matches!(stage, Stage::Downlink | Stage::BlockAcks) {
            let mut effects = Effects::None;
            for user in &sharing.users {
                let link = sharing.stations[user.at].down;
                effects = effects.and(self.settle_user(cx, (id, link), user));
            }
            effects
        } else {
            self.settle_uplink(cx, medium, &sharing)
        };
        self.ask_later(cx, id, &mut sharing);
        self.put_sharing(id, sharing);
        match step {
            Step::Succeeded => {
                self.narrow(id);
                self.exchanges[id].know_at(cx.now());
            }
            _ => self.widen(id),
        }
        let reference = self.exchanges[id].known_at();
        if effects == Effects::None {
            self.finish_apart(cx, medium, id, reference);
        } else {
            self.finish_later(cx, medium, id, reference);
        }
        true
    }

    /// Settles the MPDUs of a user, which `sender` sent.
    fn settle_user(
        &mut self,
        cx: &mut Context,
        (sender, link): (ContenderId, LinkId),
        user: &User,
    ) -> Effects {
        let flying = self.links[link].flying(Way::FIRST);
        let (count, lost) = flying.fold((0, 0), |(n, lost), m| {
            let arrived = user.acknowledged && m.is_received();
            (n + 1, lost + u32::from(!arrived))
        });
        self.report_rate(cx, (link, Way::FIRST), count, lost);
        self.settle_apart(cx, sender, link, user.acknowledged)
    }

    /// The users that answer transmit at the same time, and reserve the medium for `protects` after it.
    fn transmit_together(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        id: ContenderId,
        sharing: &mut Sharing,
        protects: Duration,
    ) {
        let answering = sharing.users.iter().filter(|user| user.answers);
        let radios: Vec<RadioId> = answering.map(|u| sharing.stations[u.at].radio).collect();
        let Some((first, others)) = radios.split_first() else {
            return;
        };
        let (kind, length) = (FrameKind::Triggered, sharing.answer);
        let air = AirTime { length, protects };
        let transmission = self.transmit(cx, medium, (id, *first), kind, air);
        medium.accompany(cx, others, kind, length);
        if sharing.stage == Stage::Uplink {
            sharing.parts = 0;
            let times = (cx.now(), length);
            self.expect_mpdus(cx, (id, transmission), sharing, times);
        }
    }

    /// A user's receiver hears the MPDUs of its part of a PPDU; `until`: those that are complete so long after
    /// its beginning.
    fn hear_mpdus(
        &mut self,
        medium: &mut Medium,
        t: &Transmission,
        (link, user): (LinkId, &User),
        until: Option<Duration>,
    ) {
        let mode = &self.modes[user.mode];
        let state = &mut self.links[link];
        let spacing = state.spacing_in(&user.vector);
        let ends = state.ends(Way::FIRST);
        let disturbed = medium.is_disturbed(t);
        let whole = (!disturbed).then(|| medium.reception(t, ends.to)).flatten();
        let partly = disturbed && !medium.is_lost_whole(t, ends.to, &user.vector);
        let (window, success) = state.window_and_success(Way::FIRST);
        let mut before = 0;
        for mpdu in window.iter_mut().filter(|m| m.in_flight.is_some()) {
            let octets = phy::OctetSpan {
                from: before,
                to: before + spacing.subframe_octets(mpdu.octets),
            };
            before = octets.to;
            if until.is_some_and(|until| phy::octets_on_air(&user.vector, octets).to > until) {
                break;
            }
            if mpdu.heard.is_some() {
                continue;
            }
            let outcome = if partly {
                medium.mpdu_reception(t, ends.to, &user.vector, octets)
            } else {
                whole
            };
            let arrives = outcome.is_some_and(|r| {
                let sent = user.sent(t, mode.vector());
                medium.data_arrives(ends, sent, mpdu.octets, (r, t.end), success)
            });
            mpdu.hear(arrives);
        }
    }

    /// Hears the MPDUs of a user's part of a PPDU that ended, and counts those that arrived.
    fn hear_part(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        (link, user): (LinkId, &User),
    ) -> Part {
        self.hear_mpdus(medium, t, (link, user), None);
        let state = &mut self.links[link];
        let spacing = state.spacing_in(&user.vector);
        let peer = state.peer;
        let mut part = Part {
            any: false,
            good: Octets::default(),
            bad: 0,
            of_groups: 0,
        };
        for mpdu in state.window.iter_mut().filter(|m| m.in_flight.is_some()) {
            let heard = mpdu.heard.take();
            part.any |= heard != Some(Heard::Lost);
            let framing = spacing.subframe_octets(mpdu.octets) - mpdu.octets;
            let delimiters = spacing.added_octets(mpdu.octets).delimiters;
            if mpdu.group {
                part.of_groups += mpdu.octets + framing;
            }
            if heard == Some(Heard::New) {
                part.good.add(&mpdu.parts);
                part.good.mac += framing - delimiters;
                // The delimiters are those of a cipher.
                part.good.security += delimiters;
            } else {
                part.bad += mpdu.octets + framing;
            }
        }
        if part.any && user.count > 1 {
            self.nodes[peer].aggregate_ended = Some(cx.now());
        }
        part
    }

    /// Whether packets are handed up while a PPDU of users is on the air: some of them are answered, or a queue
    /// behind the receiver is short.
    fn is_prompt(&self, sharing: &Sharing) -> bool {
        let up = sharing.stage == Stage::Uplink;
        sharing.users.iter().any(|user| {
            let station = &sharing.stations[user.at];
            let link = if up { station.up } else { station.down };
            user.count > 1 && self.links[link].hand_up == HandUp::AtMpduEnd
        })
    }

    /// Waits for the next part of a PPDU of users to be complete, or for the end of the next user's data: a
    /// MU-BAR and padding may be behind them.
    fn expect_mpdus(
        &self,
        cx: &mut Context,
        (id, transmission): (ContenderId, TransmissionId),
        sharing: &mut Sharing,
        (start, length): (Instant, Duration),
    ) {
        let next = if self.is_prompt(sharing) {
            sharing.parts += 1;
            (sharing.parts < PARTS).then(|| start + length * sharing.parts / PARTS)
        } else {
            let among = sharing.users.iter().filter(|user| user.count > 0);
            let ends = among.map(|user| start + user.data_end(sharing.stage));
            let now = cx.now();
            ends.filter(|end| now < *end && *end < start + length).min()
        };
        if let Some(at) = next {
            let event = Event::MpduEnd {
                contender: id,
                transmission,
            };
            cx.schedule(at, event);
        }
    }

    /// A part of a PPDU of users is complete: its receivers hand up what arrived. `false` where none is on the
    /// air.
    #[cold]
    pub(super) fn shared_mpdus_ended(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (id, transmission): (ContenderId, TransmissionId),
    ) -> bool {
        let going_on = self.sharing(id).is_some_and(|s| s.stage != Stage::Idle);
        let sharing = going_on.then(|| self.take_sharing(id)).flatten();
        let Some(mut sharing) = sharing else {
            return false;
        };
        let up = sharing.stage == Stage::Uplink;
        for number in 0..sharing.users.len() {
            let user = sharing.users[number];
            if user.count == 0 || (up && !user.answers) {
                continue;
            }
            let station = &sharing.stations[user.at];
            let (node, link) = match up {
                true => (station.radio, station.up),
                false => (self.contenders[id].node, station.down),
            };
            let t = medium.transmission(self.contenders[id].node, transmission);
            let own = Transmission { node, ..t };
            let until = cx.now() - t.start;
            self.hear_mpdus(medium, &own, (link, &user), Some(until));
            self.deliver_apart(cx, link);
        }
        let t = medium.transmission(self.contenders[id].node, transmission);
        let times = (t.start, t.end - t.start);
        self.expect_mpdus(cx, (id, transmission), &mut sharing, times);
        self.put_sharing(id, sharing);
        true
    }

    /// Whether a further frame of a user's part of a PPDU, of so many octets, arrives.
    fn frame_arrives(
        &mut self,
        medium: &mut Medium,
        t: &Transmission,
        (link, user): (LinkId, &User),
        octets: u32,
    ) -> bool {
        let state = &mut self.links[link];
        let ends = state.ends(Way::FIRST);
        let (_, success) = state.window_and_success(Way::FIRST);
        let sent = user.sent(t, self.modes[user.mode].vector());
        medium.reception(t, ends.to).is_some_and(|reception| {
            medium.data_arrives(ends, sent, octets, (reception, t.end), success)
        })
    }

    /// Books the part of a user: users share the time of their PPDU in equal parts.
    fn book_part(
        &self,
        cx: &mut Context,
        t: &Transmission,
        slice: Slice,
        user: &User,
        part: &Part,
    ) {
        if t.origin != Origin::Own {
            return;
        }
        let (alone, length) = (slice.of(t.alone), slice.of(t.end - t.start));
        if user.count == 0 {
            cx.observe_air(crate::observe::ledger::Air::Protection, alone);
            return;
        }
        cx.observe(Observation::Data {
            alone,
            length,
            bit_rate: user.vector.bit_rate().0 * slice.users as u64,
            good: &part.good,
            bad: part.bad,
        });
        if part.of_groups > 0 {
            let octets = u64::from(part.good.total() + part.bad).max(1);
            let span = alone.as_nanos() * u64::from(part.of_groups) / octets;
            let span = Duration::from_nanos(span);
            cx.observe(Observation::GroupAir { span });
        }
    }

    /// The exchange succeeded as far as its contender sees.
    fn shared_succeeded(cx: &mut Context, id: ContenderId) {
        cx.act(Action::Ended {
            contender: id,
            step: Step::Succeeded,
        });
    }

    /// Schedules the event at which stations that reported empty queues are asked again.
    fn ask_later(&self, cx: &mut Context, id: ContenderId, sharing: &mut Sharing) {
        if sharing.polls {
            return;
        }
        if let Some(at) = sharing.next_poll() {
            sharing.polls = true;
            cx.schedule(at.max(cx.now()), Event::Poll { contender: id });
        }
    }
}

/// The slice of one of the users who share a PPDU.
#[derive(Debug, Clone, Copy)]
struct Slice {
    number: usize,
    users: usize,
}

impl Slice {
    /// Its part of a time, so that all parts make the whole.
    fn of(self, whole: Duration) -> Duration {
        let (ns, users) = (whole.as_nanos(), self.users as u64);
        let rest = if self.number == 0 { ns % users } else { 0 };
        Duration::from_nanos(ns / users + rest)
    }
}

/// Octets of an A-MPDU that ends with a further frame.
fn with_frame(psdu: u32, frame: u32) -> u32 {
    psdu.next_multiple_of(4) + DELIMITER + frame
}

/// The longest PPDU that leaves `around` of a TXOP.
fn longest(room: Option<Duration>, around: Duration) -> Duration {
    room.map_or(phy::PPDU_MAX_TIME, |room| {
        room.saturating_sub(around).min(phy::PPDU_MAX_TIME)
    })
}
