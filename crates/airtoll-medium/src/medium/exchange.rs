//! Frame exchanges: who wins access, protection, data, response, and what follows from their
//! success or failure (IEEE 802.11-2020 clauses 10.3.2 and 10.23.2).
//!
//! Works on a [`Medium`]'s state at the present instant of its clock; never takes an offer.

use std::sync::Arc;

use airtoll_phy::{
    ACK_OCTETS, CTS_OCTETS, FCS_OCTETS, PPDU_MAX_TIME, RTS_OCTETS, TimingSet, TxVector,
    ack_timeout, airtime, ampdu_limits, block_ack_octets, control_response,
};
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::Frame;

use super::{Channel, Medium};
use crate::contention::{Class, Ear};
use crate::offer::{Happening, STEPS};
use crate::processing::Then;
use crate::rates::{self, Step, flag};
use crate::statistics::Presence;
use crate::waiting::{Origin, WINDOW, Waiting, repeated};

/// MPDU delimiter (9.7.1).
const DELIMITER_OCTETS: u32 = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Part {
    Rts,
    Cts,
    CtsToSelf,
    Data,
    Ack,
}

#[derive(Debug)]
pub(super) struct Transmission {
    channel: usize,
    radio: usize,
    pub(super) contender: usize,
    part: Part,
    start: Instant,
    end: Instant,
    /// For how long after its end the exchange goes on.
    protects: Duration,
    /// Radios that hear it, one bit each.
    ears: u64,
    /// Overlapping transmissions: sender and start.
    clashes: Vec<(usize, Instant)>,
}

#[derive(Debug)]
pub(super) enum Event {
    End {
        transmission: u64,
    },
    /// An MPDU of an A-MPDU ends, of which others follow.
    Mpdu {
        transmission: u64,
        nth: usize,
    },
    Begin {
        contender: usize,
        part: Part,
    },
    TimeOut {
        contender: usize,
    },
    Processed {
        job: u64,
    },
    /// A flow of a simulated station has its next MSDU; `era`: which start of the flows it is of.
    Due {
        flow: usize,
        era: u64,
    },
}

/// Lengths that follow from a frame and the rate of its attempt.
pub(super) struct Lengths {
    vector: TxVector,
    data: Duration,
    response: TxVector,
    ack: Duration,
    ack_octets: u32,
    guard: TxVector,
    cts: Duration,
    rts: Duration,
    timing: TimingSet,
}

impl Lengths {
    /// How long a part is on the air.
    pub(super) const fn of(&self, part: Part) -> Duration {
        match part {
            Part::Rts => self.rts,
            Part::Cts | Part::CtsToSelf => self.cts,
            Part::Data => self.data,
            Part::Ack => self.ack,
        }
    }
}

impl Medium {
    /// Something that was to happen now.
    pub(super) fn happen(&mut self, event: Event) {
        let now = self.events.now();
        match event {
            Event::End { transmission } => self.ended(transmission),
            Event::Mpdu { transmission, nth } => self.mpdu_ended(transmission, nth),
            Event::Begin { contender, part } => self.transmit(contender, part),
            Event::TimeOut { contender } => self.failed(contender, now),
            Event::Processed { job } => self.processed(job),
            Event::Due { flow, era } => self.flow_due(flow, era),
        }
    }

    /// An instant before which the medium hands nothing over unless a frame comes; `None` if
    /// nothing waits. Frames go over at the end of a transmission, so its begin needs no attention.
    #[must_use]
    pub fn hands_over_at(&self) -> Option<Instant> {
        if self.flows.is_some() {
            return self.hands_over_beside_flows_at();
        }
        let events = self.events.waiting().map(|(at, event)| match *event {
            // The first MPDU of an A-MPDU ends before its data.
            Event::Begin { contender, part } if part != Part::Data => {
                let step = self.contenders[contender].queue[0].last_step();
                at + self.lengths(contender, step).of(part)
            }
            _ => at,
        });
        let accesses = self.contenders.iter().enumerate().filter_map(|(id, c)| {
            let at = c.access(self.channels.get(c.channel)?.ears.get(c.radio)?)?;
            let step = self.step(id);
            // Frames that join the first one in an A-MPDU make it longer.
            Some(at + self.lengths(id, step).of(self.first_part(id, step)))
        });
        events.chain(accesses).min()
    }

    /// Every contender whose counter ends at the present instant transmits.
    pub(super) fn grant(&mut self) {
        let now = self.events.now();
        let mut winners: Vec<usize> = (0..self.contenders.len())
            .filter(|id| {
                let c = &self.contenders[*id];
                let ear = self.channels.get(c.channel).map(|ch| &ch.ears[c.radio]);
                ear.and_then(|ear| c.access(ear))
                    .is_some_and(|at| at <= now)
            })
            .collect();
        // Classes are listed by rising rank: the last of a radio wins inside it.
        winners.reverse();
        let mut transmitting = None;
        winners.retain(|&id| {
            let radio = self.contenders[id].radio;
            let engaged_until = self.radios[radio].engaged_until;
            if transmitting == Some(radio) {
                let draws = &mut self.radios[radio].draws;
                let attempts = self.contenders[id].queue[0].allowed();
                self.contenders[id].widen(attempts);
                self.contenders[id].back_off(now, true, draws);
                return false;
            }
            if engaged_until > now {
                self.contenders[id].postpone(engaged_until);
                return false;
            }
            transmitting = Some(radio);
            true
        });
        // All of them decide before any of them is heard.
        for &id in &winners {
            self.contenders[id].take_access();
        }
        for &id in &winners {
            let step = self.step(id);
            let part = self.first_part(id, step);
            let count = self.fitting(id, step);
            let frequency_mhz = self.contenders[id].queue[0].frequency_mhz;
            let rate = rates::name(step, frequency_mhz);
            let contender = &mut self.contenders[id];
            contender.batch = vec![false; count];
            let counts = &mut self.counts[contender.radio];
            for frame in contender.queue.iter_mut().take(count) {
                counts.attempts += 1;
                if frame.is_unicast_data() {
                    *counts.data_attempts.entry(rate.clone()).or_default() += 1;
                }
                counts.retries += u64::from(frame.attempts > 0);
                frame.note(step);
            }
            self.transmit(id, part);
        }
    }

    /// The part by which an exchange begins.
    pub(super) fn first_part(&self, id: usize, step: Step) -> Part {
        let unicast = self.contenders[id].queue[0].receiver.is_some();
        if unicast && step.flags & flag::RTS_CTS != 0 {
            Part::Rts
        } else if step.flags & (flag::CTS_PROTECT | flag::RTS_CTS) != 0 {
            Part::CtsToSelf
        } else {
            Part::Data
        }
    }

    /// The rate of the attempt that is due or under way.
    pub(super) fn step(&self, id: usize) -> Step {
        let frame = &self.contenders[id].queue[0];
        let mut left = frame.attempts;
        for step in frame.chain.iter().filter(|step| step.index >= 0) {
            if left < u32::from(step.count) {
                return *step;
            }
            left -= u32::from(step.count);
        }
        frame.last_step()
    }

    /// How many frames from the head of the queue one PPDU takes. mac80211 hands over frames without
    /// saying whether a block ack agreement holds: with HT and VHT rates it does.
    fn fitting(&self, id: usize, step: Step) -> usize {
        let queue = &self.contenders[id].queue;
        let first = &queue[0];
        let vector = rates::vector(step, first.frequency_mhz, self.settings.preamble());
        let Some(limits) = ampdu_limits(&vector).filter(|_| first.aggregates()) else {
            return 1;
        };
        let (mut count, mut octets) = (0, 0);
        for frame in queue.iter().take(usize::from(WINDOW)) {
            let with = with_subframe(octets, frame);
            let fits = with <= limits.octets && airtime(&vector, with) <= PPDU_MAX_TIME;
            if count > 0 && !(frame.joins(first) && fits) {
                break;
            }
            (count, octets) = (count + 1, with);
        }
        count
    }

    pub(super) fn lengths(&self, id: usize, step: Step) -> Lengths {
        let contender = &self.contenders[id];
        let frame = &contender.queue[0];
        let vector = rates::vector(step, frame.frequency_mhz, self.settings.preamble());
        let count = contender.batch.len().max(1);
        let psdu = if count > 1 || vector.always_ampdu() {
            contender.queue.iter().take(count).fold(0, with_subframe)
        } else {
            frame.octets.len() as u32 + FCS_OCTETS
        };
        let ack_octets = if count > 1 {
            block_ack_octets(u32::from(WINDOW))
        } else {
            ACK_OCTETS
        };
        let basic = self.settings.basic_rates();
        let response = control_response(&vector, basic);
        // Every station at 2.4 GHz decodes DSSS, so protection frames use it there.
        let fastest = Step {
            index: 3,
            count: 1,
            flags: 0,
        };
        let guard = if !vector.is_dsss() && frame.frequency_mhz < 3_000 {
            control_response(
                &rates::vector(fastest, frame.frequency_mhz, self.settings.preamble()),
                basic,
            )
        } else {
            response
        };
        Lengths {
            data: airtime(&vector, psdu),
            ack: airtime(&response, ack_octets),
            ack_octets,
            cts: airtime(&guard, CTS_OCTETS),
            rts: airtime(&guard, RTS_OCTETS),
            timing: self.channels[contender.channel].timing,
            vector,
            response,
            guard,
        }
    }

    /// A part of an exchange goes on the air.
    fn transmit(&mut self, id: usize, part: Part) {
        let now = self.events.now();
        // The present attempt is noted already.
        let step = self.contenders[id].queue[0].last_step();
        let l = self.lengths(id, step);
        let contender = &self.contenders[id];
        let frame = &contender.queue[0];
        let sifs = l.timing.sifs;
        let answered = frame.receiver.is_some() && !frame.no_ack;
        let answer = if answered {
            sifs + l.ack
        } else {
            Duration::ZERO
        };
        let target = frame
            .receiver
            .and_then(|address| self.listener(address, frame.frequency_mhz));
        let length = l.of(part);
        let protects = match part {
            Part::Rts => sifs + l.cts + sifs + l.data + answer,
            Part::Cts | Part::CtsToSelf => sifs + l.data + answer,
            Part::Data => answer,
            Part::Ack => Duration::ZERO,
        };
        let radio = match part {
            Part::Cts | Part::Ack => target.expect("only a radio that is there answers"),
            _ => contender.radio,
        };
        let since = now - self.began;
        let ears = (0..self.radios.len())
            .filter(|to| self.field.hears(*to, radio, since))
            .fold(0u64, |set, to| set | 1 << to);
        let (channel_id, end) = (contender.channel, now + length);
        let this = self.next_transmission;
        self.next_transmission += 1;
        let mut clashes = Vec::new();
        let channel = &mut self.channels[channel_id];
        for other in &channel.active {
            let other = self.transmissions.get_mut(other).expect("it is on the air");
            if other.end > now {
                other.clashes.push((radio, now));
                clashes.push((other.radio, other.start));
            }
        }
        channel.active.push(this);
        channel.presence.begin(now);
        let state = &mut self.radios[radio];
        state.last_sent = (now, end);
        state.engaged_until = state.engaged_until.max(end);
        state.air += length;
        self.transmissions.insert(
            this,
            Transmission {
                channel: channel_id,
                radio,
                contender: id,
                part,
                start: now,
                end,
                protects,
                ears,
                clashes,
            },
        );
        self.become_busy(channel_id, ears);
        if part == Part::Data {
            self.schedule_mpdus(id, this, &l.vector);
        }
        self.events.schedule(end, Event::End { transmission: this });
    }

    /// Each MPDU of an A-MPDU ends by itself, the last one with the PPDU.
    fn schedule_mpdus(&mut self, id: usize, transmission: u64, vector: &TxVector) {
        let (now, contender) = (self.events.now(), &self.contenders[id]);
        let mut octets = 0;
        for nth in 0..contender.batch.len().saturating_sub(1) {
            octets = with_subframe(octets, &contender.queue[nth]);
            let at = now + airtime(vector, octets);
            self.events.schedule(at, Event::Mpdu { transmission, nth });
        }
    }

    /// The receiver of an A-MPDU hands one of its MPDUs up while others follow.
    fn mpdu_ended(&mut self, transmission: u64, nth: usize) {
        let t = self.transmissions.remove(&transmission);
        let t = t.expect("its PPDU is on the air");
        let step = self.contenders[t.contender].queue[0].last_step();
        let frame = &self.contenders[t.contender].queue[0];
        let vector = rates::vector(step, frame.frequency_mhz, self.settings.preamble());
        self.try_mpdu(&t, nth, &vector, step);
        self.transmissions.insert(transmission, t);
    }

    /// Delivers one MPDU of a frame exchange if it arrives.
    fn try_mpdu(&mut self, t: &Transmission, nth: usize, vector: &TxVector, step: Step) {
        let octets = self.mpdu_octets(t.contender, nth);
        if let Some(to) = self.target(t.contender)
            && self.arrives(t, to, vector, octets)
        {
            self.contenders[t.contender].batch[nth] = true;
            match self.contenders[t.contender].queue[nth].origin {
                Origin::Driver { .. } => self.deliver_nth(t, nth, to, step),
                Origin::Flow { .. } => self.flow_arrived(t.contender, nth, to),
            }
        }
    }

    pub(super) fn become_busy(&mut self, channel_id: usize, ears: u64) {
        let now = self.events.now();
        let channel = &mut self.channels[channel_id];
        for (radio, ear) in channel.ears.iter_mut().enumerate() {
            if ears & 1 << radio == 0 {
                continue;
            }
            if ear.heard == 0 {
                let own = radio * Class::ALL.len()..(radio + 1) * Class::ALL.len();
                for contender in &mut self.contenders[own] {
                    if contender.channel == channel_id {
                        contender.freeze(now, ear, &mut self.radios[radio].draws);
                    }
                }
            }
            ear.heard += 1;
        }
    }

    fn ended(&mut self, transmission: u64) {
        let now = self.events.now();
        let t = self
            .transmissions
            .remove(&transmission)
            .expect("what ends was on the air");
        let step = self.contenders[t.contender].queue[0].last_step();
        let l = self.lengths(t.contender, step);
        let lowest = self.settings.basic_rates().lowest(l.vector.band());
        let eifs_extra = l.timing.sifs + airtime(&lowest, ACK_OCTETS);
        let channel = &mut self.channels[t.channel];
        channel.active.retain(|other| *other != transmission);
        channel.presence.end(now);
        for radio in (0..self.radios.len()).filter(|radio| t.ears & 1 << radio != 0) {
            let nav = self.reserved(&t, radio, eifs_extra);
            let ear = &mut self.channels[t.channel].ears[radio];
            ear.heard -= 1;
            ear.reserved = ear.reserved.max(nav);
            if ear.heard == 0 {
                ear.idle_since = now;
            }
        }
        let sender = self.contenders[t.contender].radio;
        let sifs = l.timing.sifs;
        match t.part {
            Part::CtsToSelf => self.go_on(t.contender, Part::Data, sifs),
            Part::Data => self.data_ended(&t, &l, step),
            Part::Rts => {
                let target = self.target(t.contender);
                if target.is_some_and(|to| self.arrives(&t, to, &l.guard, RTS_OCTETS)) {
                    self.go_on(t.contender, Part::Cts, sifs);
                } else {
                    self.time_out(t.contender, ack_timeout(&l.timing, &l.guard));
                }
            }
            Part::Cts => {
                if self.arrives(&t, sender, &l.guard, CTS_OCTETS) {
                    self.go_on(t.contender, Part::Data, sifs);
                } else {
                    self.failed(t.contender, now);
                }
            }
            Part::Ack => {
                if self.arrives(&t, sender, &l.response, l.ack_octets) {
                    self.succeeded(t.contender, now);
                } else {
                    self.failed(t.contender, now);
                }
            }
        }
    }

    fn data_ended(&mut self, t: &Transmission, l: &Lengths, step: Step) {
        let now = self.events.now();
        let (unicast, no_ack) = {
            let frame = &self.contenders[t.contender].queue[0];
            (frame.receiver.is_some(), frame.no_ack)
        };
        if !unicast {
            for to in self.listeners_beside(t.radio) {
                let octets = self.mpdu_octets(t.contender, 0);
                if t.ears & 1 << to != 0 && self.arrives(t, to, &l.vector, octets) {
                    self.deliver_nth(t, 0, to, step);
                }
            }
            self.succeeded(t.contender, now);
            return;
        }
        let target = self.target(t.contender);
        if let Some(to) = target
            && self.overlapped(t, to)
        {
            self.counts[t.radio].collisions += 1;
        }
        // Those before it have ended already.
        let last = self.contenders[t.contender].batch.len() - 1;
        self.try_mpdu(t, last, &l.vector, step);
        let arrived = self.contenders[t.contender].batch.contains(&true);
        if no_ack {
            self.succeeded(t.contender, now);
        } else if arrived {
            let owed = now + l.timing.sifs + l.ack;
            for radio in target.into_iter().chain([t.radio]) {
                let state = &mut self.radios[radio];
                state.engaged_until = state.engaged_until.max(owed);
            }
            self.go_on(t.contender, Part::Ack, l.timing.sifs);
        } else {
            self.time_out(t.contender, ack_timeout(&l.timing, &l.response));
        }
    }

    fn mpdu_octets(&self, contender: usize, nth: usize) -> u32 {
        self.contenders[contender].queue[nth].octets.len() as u32 + FCS_OCTETS
    }

    fn go_on(&mut self, contender: usize, part: Part, after: Duration) {
        let at = self.events.now() + after;
        self.events.schedule(at, Event::Begin { contender, part });
    }

    fn time_out(&mut self, contender: usize, after: Duration) {
        let at = self.events.now() + after;
        self.events.schedule(at, Event::TimeOut { contender });
    }

    /// Whether another transmission that `at` hears overlapped this one, or `at` itself sent.
    fn overlapped(&self, t: &Transmission, at: usize) -> bool {
        let (from, until) = self.radios[at].last_sent;
        let since = t.start - self.began;
        (at != t.radio && from < t.end && until > t.start)
            || t.clashes
                .iter()
                .any(|(other, _)| self.field.hears(at, *other, since))
    }

    /// Draws whether a transmission arrives. Overlapping frames are all lost: no capture.
    fn arrives(&mut self, t: &Transmission, at: usize, v: &TxVector, octets: u32) -> bool {
        let since = t.start - self.began;
        if self.overlapped(t, at) || !self.field.hears(at, t.radio, since) {
            return false;
        }
        let p = self.field.success([t.radio, at], v, octets, since);
        // Nothing is drawn for a link that is as good as perfect.
        p > 1.0 - 1e-9 || self.noise.unit() < p
    }

    /// Instant until which virtual carrier sense or EIFS keeps a radio silent that heard `t`
    /// (10.3.2.4, 10.3.2.3.7). A radio that heard nothing else honours its duration field. A radio
    /// that had decoded its header when others came waits EIFS. The two ends of the exchange go by
    /// its outcome.
    fn reserved(&self, t: &Transmission, radio: usize, eifs_extra: Duration) -> Instant {
        let since = t.start - self.began;
        if radio == t.radio || Some(radio) == self.target(t.contender) {
            return t.end;
        }
        let mut heard = t
            .clashes
            .iter()
            .filter(|(other, _)| self.field.hears(radio, *other, since))
            .map(|(_, start)| *start)
            .peekable();
        if heard.peek().is_none() {
            t.end + t.protects
        } else if heard.all(|start| start > t.start) {
            t.end + eifs_extra
        } else {
            t.end
        }
    }

    /// The radio that a unicast frame is for, if it is there and on the frame's channel.
    pub(super) fn listener(&self, address: MacAddress, frequency_mhz: u32) -> Option<usize> {
        let radio = *self.owners.get(&address)?;
        match self.radios[radio].frequency_mhz {
            Some(other) if other != frequency_mhz => None,
            _ => Some(radio),
        }
    }

    fn target(&self, id: usize) -> Option<usize> {
        let frame = &self.contenders[id].queue[0];
        self.listener(frame.receiver?, frame.frequency_mhz)
    }

    fn deliver_nth(&mut self, t: &Transmission, nth: usize, to: usize, step: Step) {
        let now = self.events.now();
        let contender = &self.contenders[t.contender];
        let frame = &contender.queue[nth];
        let octets = if frame.attempts > 1 {
            repeated(&frame.octets)
        } else {
            Arc::clone(&frame.octets)
        };
        let frequency_mhz = frame.frequency_mhz;
        self.delivery(now, t.radio, to, octets, frequency_mhz, step);
    }

    pub(super) fn deliver(
        &mut self,
        now: Instant,
        from: usize,
        to: usize,
        frame: &Waiting,
        step: Step,
    ) {
        let octets = Arc::clone(&frame.octets);
        self.delivery(now, from, to, octets, frame.frequency_mhz, step);
    }

    fn delivery(
        &mut self,
        now: Instant,
        from: usize,
        to: usize,
        octets: Arc<[u8]>,
        frequency_mhz: u32,
        step: Step,
    ) {
        self.counts[to].received += 1;
        let signal_dbm = self.signal(now, from, to);
        let processors = self.processors.as_mut().filter(|_| self.settings.airtime);
        let stages = processors.and_then(|p| {
            let frame = Frame::new(&octets).ok()?;
            p.receiving(to, &frame, |address| self.owners.contains_key(&address))
        });
        let delivery = Happening::Delivery {
            to,
            frequency_mhz,
            octets,
            rate_index: rates::received_index(step),
            signal_dbm,
        };
        match stages {
            Some(stages) => self.process(stages.before(Then::HandUp(delivery))),
            None => self.happened.push_back((now, delivery)),
        }
    }

    fn signal(&self, now: Instant, from: usize, to: usize) -> i32 {
        libm::round(self.field.power_dbm(from, to, now - self.began)) as i32
    }

    fn succeeded(&mut self, id: usize, now: Instant) {
        let radio = self.contenders[id].radio;
        let target = self.target(id);
        let signal = target.map_or(0, |to| self.signal(now, to, radio));
        self.contenders[id].narrow();
        let mut nth = 0;
        for arrived in std::mem::take(&mut self.contenders[id].batch) {
            let frame = &self.contenders[id].queue[nth];
            let answered = frame.receiver.is_some() && !frame.no_ack;
            if answered && !arrived {
                nth += usize::from(!self.missed(id, nth, now));
                continue;
            }
            let frame = self.contenders[id].queue.remove(nth);
            let frame = frame.expect("the PPDU has this frame");
            let counts = &mut self.counts[radio];
            counts.sent += 1;
            counts.octets += frame.octets.len() as u64 + u64::from(FCS_OCTETS);
            self.settle(now, radio, &frame, answered, signal);
        }
        self.attend(id, now, false);
    }

    /// One frame of the last attempt was not acknowledged: it waits for the next, or is given up
    /// (true).
    fn missed(&mut self, id: usize, nth: usize, now: Instant) -> bool {
        let contender = &mut self.contenders[id];
        let frame = &contender.queue[nth];
        if frame.attempts < frame.allowed() {
            return false;
        }
        let frame = contender.queue.remove(nth).expect("it has this frame");
        let radio = contender.radio;
        self.counts[radio].given_up += 1;
        self.settle(now, radio, &frame, false, 0);
        true
    }

    fn failed(&mut self, id: usize, now: Instant) {
        let count = std::mem::take(&mut self.contenders[id].batch).len();
        // The limit is that of the first frame.
        let attempts = self.contenders[id].queue[0].allowed();
        let mut nth = 0;
        for _ in 0..count {
            nth += usize::from(!self.missed(id, nth, now));
        }
        self.contenders[id].widen(attempts);
        self.attend(id, now, false);
    }

    /// Lets a queue contend for its first frame: one that came into an empty queue (`woken`), or
    /// the next after an attempt is over.
    pub(super) fn attend(&mut self, id: usize, now: Instant, woken: bool) {
        let radio = self.contenders[id].radio;
        let first = self.contenders[id].queue.front();
        if let Some(frequency_mhz) = first.map(|frame| frame.frequency_mhz) {
            let channel = self.channel(frequency_mhz, now);
            let timing = self.channels[channel].timing;
            let dsss = timing == TimingSet::DSSS;
            self.contenders[id].join(channel, &timing, dsss);
        }
        let contender = &mut self.contenders[id];
        let draws = &mut self.radios[radio].draws;
        if woken {
            let ear = &self.channels[contender.channel].ears[radio];
            contender.wake(now, ear, draws);
        } else {
            let has_frame = !contender.queue.is_empty();
            contender.back_off(now, has_frame, draws);
        }
    }

    fn channel(&mut self, frequency_mhz: u32, now: Instant) -> usize {
        let known = self
            .channels
            .iter()
            .position(|channel| channel.frequency_mhz == frequency_mhz);
        known.unwrap_or_else(|| {
            self.channels.push(Channel {
                frequency_mhz,
                timing: self.settings.timing(frequency_mhz),
                ears: vec![Ear::new(now); self.radios.len()],
                active: Vec::new(),
                presence: Presence::new(now),
            });
            self.channels.len() - 1
        })
    }

    /// The medium is done with a frame: its mac80211 or its flow is told.
    pub(super) fn settle(
        &mut self,
        now: Instant,
        from: usize,
        frame: &Waiting,
        acknowledged: bool,
        signal_dbm: i32,
    ) {
        match frame.origin {
            Origin::Driver { ticket } => {
                self.report(now, from, ticket, acknowledged, frame.tried, signal_dbm);
            }
            Origin::Flow { flow, .. } => self.flow_settled(flow, frame, acknowledged),
        }
    }

    pub(super) fn report(
        &mut self,
        now: Instant,
        from: usize,
        ticket: u64,
        acknowledged: bool,
        tried: [Step; STEPS],
        signal_dbm: i32,
    ) {
        let report = Happening::Report {
            from,
            ticket,
            acknowledged,
            tried,
            signal_dbm,
        };
        self.happened.push_back((now, report));
    }
}

/// Octets of an A-MPDU of `octets` octets with one more frame in it (9.7.1): the padding of the
/// last subframe, a delimiter, and the frame with its FCS.
fn with_subframe(octets: u32, frame: &Waiting) -> u32 {
    octets.next_multiple_of(4) + DELIMITER_OCTETS + frame.octets.len() as u32 + FCS_OCTETS
}
