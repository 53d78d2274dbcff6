//! The medium: frames come in, wait, contend, collide, are repeated, and arrive or not.
//!
//! Takes frames with the instant at which mac80211 gave them, and the instant up to which the
//! air is to be played; gives deliveries and transmit reports, each with the instant at which it
//! happened. Does no input or output and reads no clock: whoever calls brings the time, and a
//! caller that comes late gets what happened meanwhile, at the instants at which it happened.
//! Never delivers a unicast frame to anybody but its receiver.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use airtoll_engine::{EventQueue, Stream, Streams};
use airtoll_phy::{
    ACK_OCTETS, CTS_OCTETS, FCS_OCTETS, Format, RTS_OCTETS, TimingSet, TxVector, ack_timeout,
    airtime, ampdu_octets, control_response,
};
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::{Frame, FrameControl, Kind};

use crate::contention::{Class, Contender, Ear};
use crate::field::Field;
use crate::rates::{self, Step, flag};
use crate::settings::Settings;
use crate::statistics::{ChannelCounts, Counts, Presence, RadioCounts};

/// Steps of a retry chain.
pub const STEPS: usize = 4;

/// A frame that mac80211 gave.
#[derive(Debug, Clone)]
pub struct Offer {
    /// Number of the radio.
    pub radio: usize,
    /// Centre frequency of its channel.
    pub frequency_mhz: u32,
    /// The MPDU without FCS.
    pub octets: Vec<u8>,
    /// Rates to try, in this order.
    pub chain: [Step; STEPS],
    /// Whether mac80211 wants no acknowledgement.
    pub no_ack: bool,
    /// What the caller wants back in the report.
    pub ticket: u64,
}

/// What happened.
#[derive(Debug, Clone, PartialEq)]
pub enum Happening {
    /// A frame reached a radio.
    Delivery {
        /// Number of the radio.
        to: usize,
        /// Centre frequency.
        frequency_mhz: u32,
        /// The MPDU without FCS; its Retry bit tells whether it is a repetition.
        octets: Arc<[u8]>,
        /// Index of the rate, as receivers are told.
        rate_index: u32,
        /// Received power, dBm.
        signal_dbm: i32,
    },
    /// The medium is done with a frame.
    Report {
        /// Number of the radio that sent it.
        from: usize,
        /// From the offer.
        ticket: u64,
        /// Whether it was acknowledged, or dropped at a full queue in silence.
        acknowledged: bool,
        /// Rates tried, with the number of attempts at each.
        tried: [Step; STEPS],
        /// Power at which the acknowledgement came, dBm.
        signal_dbm: i32,
    },
}

/// The air between a set of radios.
#[derive(Debug)]
pub struct Medium {
    settings: Settings,
    field: Field,
    began: Instant,
    events: EventQueue<Event>,
    happened: VecDeque<(Instant, Happening)>,
    contenders: Vec<Contender<Waiting>>,
    channels: Vec<Channel>,
    transmissions: HashMap<u64, Transmission>,
    next_transmission: u64,
    radios: Vec<Radio>,
    owners: HashMap<MacAddress, usize>,
    noise: Stream,
    counts: Vec<RadioCounts>,
    counting_since: Instant,
}

/// A frame in a queue.
#[derive(Debug)]
struct Waiting {
    octets: Arc<[u8]>,
    frequency_mhz: u32,
    chain: [Step; STEPS],
    tried: [Step; STEPS],
    attempts: u32,
    /// Its receiver, unless it is for a group; the number of the radio if it is known.
    receiver: Option<MacAddress>,
    no_ack: bool,
    ticket: u64,
}

#[derive(Debug)]
struct Radio {
    draws: Stream,
    /// Until when it transmits or owes a response.
    engaged_until: Instant,
    last_sent: (Instant, Instant),
    /// Where it last sent; it listens there.
    frequency_mhz: Option<u32>,
    air: Duration,
}

#[derive(Debug)]
struct Channel {
    frequency_mhz: u32,
    timing: TimingSet,
    ears: Vec<Ear>,
    active: Vec<u64>,
    presence: Presence,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Rts,
    Cts,
    CtsToSelf,
    Data,
    Ack,
}

#[derive(Debug)]
struct Transmission {
    channel: usize,
    radio: usize,
    contender: usize,
    part: Part,
    start: Instant,
    end: Instant,
    /// For how long after its end the exchange goes on.
    protects: Duration,
    /// Who hears it, one bit each.
    ears: u64,
    /// Overlapping transmissions: sender and start.
    clashes: Vec<(usize, Instant)>,
}

#[derive(Debug)]
enum Event {
    End { transmission: u64 },
    Begin { contender: usize, part: Part },
    TimeOut { contender: usize },
}

/// Lengths that follow from a frame and the rate of its attempt.
struct Lengths {
    vector: TxVector,
    octets: u32,
    data: Duration,
    response: TxVector,
    ack: Duration,
    guard: TxVector,
    cts: Duration,
    rts: Duration,
    timing: TimingSet,
}

impl Medium {
    /// A medium that begins at `now`.
    #[must_use]
    pub fn new(settings: Settings, now: Instant) -> Self {
        let streams = Streams::new(settings.seed);
        let mut events = EventQueue::new();
        events.advance(now);
        let mut owners = HashMap::new();
        for (i, radio) in settings.radios.iter().enumerate() {
            owners.extend(radio.interfaces.iter().map(|address| (address.0, i)));
        }
        let radios = settings.radios.iter().map(|radio| Radio {
            draws: streams.named(&format!("back-off of {}", radio.name)),
            engaged_until: now,
            last_sent: (now, now),
            frequency_mhz: None,
            air: Duration::ZERO,
        });
        let contenders = (0..settings.radios.len())
            .flat_map(|radio| Class::ALL.map(|class| Contender::new(radio, class, now)));
        Self {
            field: Field::new(settings.clone()),
            began: now,
            events,
            happened: VecDeque::new(),
            contenders: contenders.collect(),
            channels: Vec::new(),
            transmissions: HashMap::new(),
            next_transmission: 0,
            radios: radios.collect(),
            owners,
            noise: streams.named("noise"),
            counts: fresh_counts(&settings),
            counting_since: now,
            settings,
        }
    }

    /// Begins anew with other settings: what waited is given up, what happened stays to be taken.
    pub fn begin(&mut self, settings: Settings, now: Instant) {
        self.advance(now);
        self.abandon();
        let happened = std::mem::take(&mut self.happened);
        *self = Self::new(settings, self.events.now());
        self.happened = happened;
    }

    /// The settings it began with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// From now on either of two radios hears the other at `dbm`.
    pub fn set_level(&mut self, pair: [usize; 2], dbm: f64) {
        self.field.set_level(pair, dbm);
    }

    /// From now on airtime is taken or not; what is on the air already goes its way.
    pub fn set_airtime(&mut self, on: bool) {
        self.settings.airtime = on;
    }

    /// Takes a frame that mac80211 gave at `now`, after playing the air up to then.
    pub fn offer(&mut self, now: Instant, offer: Offer) {
        let now = now.max(self.events.now());
        self.advance(now);
        let Ok(frame) = Frame::new(&offer.octets) else {
            // Nothing that mac80211 sends; it must not wait for it for ever.
            self.report(
                now,
                offer.radio,
                offer.ticket,
                false,
                [Step::NONE; STEPS],
                0,
            );
            return;
        };
        let class = match frame.control().kind() {
            Kind::Data => frame.qos_control().map_or(Class::Plain, Class::of_tid),
            _ => Class::Management,
        };
        let receiver = frame.receiver().filter(|address| !address.is_group());
        if let Some(own) = frame.transmitter() {
            self.owners.insert(own, offer.radio);
        }
        self.radios[offer.radio].frequency_mhz = Some(offer.frequency_mhz);
        let counts = &mut self.counts[offer.radio];
        counts.frames += 1;
        let waiting = Waiting {
            octets: offer.octets.into(),
            frequency_mhz: offer.frequency_mhz,
            chain: offer.chain,
            tried: [Step::NONE; STEPS],
            attempts: 0,
            receiver,
            no_ack: offer.no_ack,
            ticket: offer.ticket,
        };
        if !self.settings.airtime {
            self.pass(now, offer.radio, waiting);
            return;
        }
        let rank = Class::ALL.iter().position(|c| *c == class);
        let id = offer.radio * Class::ALL.len() + rank.expect("every class is listed");
        let contender = &mut self.contenders[id];
        if contender.queue.len() >= self.settings.queue_frames {
            counts.queue_drops += 1;
            let mut tried = [Step::NONE; STEPS];
            tried[0] = Step {
                count: 1,
                ..waiting.chain[0]
            };
            self.report(now, offer.radio, waiting.ticket, true, tried, 0);
            return;
        }
        contender.queue.push_back(waiting);
        counts.longest_queue = counts.longest_queue.max(contender.queue.len());
        if contender.queue.len() == 1 {
            self.attend(id, now, true);
        }
    }

    /// Plays the air up to `until`.
    pub fn advance(&mut self, until: Instant) {
        loop {
            let (event, access) = (self.events.next_at(), self.next_access());
            let next = event.min(access);
            if next > until {
                break;
            }
            if event <= access {
                let event = self.events.pop().expect("there is a next event");
                self.happen(event);
            } else {
                self.events.advance(access);
                self.grant();
            }
        }
        if until > self.events.now() {
            self.events.advance(until);
        }
    }

    /// When something happens next of itself; `None` if nothing does.
    #[must_use]
    pub fn next_at(&self) -> Option<Instant> {
        let next = self.events.next_at().min(self.next_access());
        (next < Instant::MAX).then_some(next)
    }

    /// The next happening, in order of time.
    pub fn take(&mut self) -> Option<(Instant, Happening)> {
        self.happened.pop_front()
    }

    /// Reports every frame that still waits as given up; for a medium that ends.
    pub fn abandon(&mut self) {
        let now = self.events.now();
        for id in 0..self.contenders.len() {
            let radio = self.contenders[id].radio;
            while let Some(waiting) = self.contenders[id].queue.pop_front() {
                self.counts[radio].given_up += 1;
                self.report(now, radio, waiting.ticket, false, waiting.tried, 0);
            }
        }
    }

    /// Everything counted so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        let now = self.events.now();
        let mut radios = self.counts.clone();
        for (counts, radio) in radios.iter_mut().zip(&self.radios) {
            counts.air_s = radio.air.as_secs_f64();
        }
        Counts {
            span_s: (now - self.counting_since).as_secs_f64(),
            airtime: self.settings.airtime,
            radios,
            channels: self
                .channels
                .iter()
                .map(|channel| ChannelCounts {
                    frequency_mhz: channel.frequency_mhz,
                    busy_s: channel.presence.total(now).as_secs_f64(),
                })
                .collect(),
        }
    }

    /// Begins all counts anew.
    pub fn forget(&mut self) {
        let now = self.events.now();
        self.counts = fresh_counts(&self.settings);
        self.counting_since = now;
        for channel in &mut self.channels {
            channel.presence.forget(now);
        }
        for radio in &mut self.radios {
            radio.air = Duration::ZERO;
        }
    }

    /// Without airtime: hands a frame over at once.
    fn pass(&mut self, now: Instant, radio: usize, waiting: Waiting) {
        let step = waiting.chain[0];
        let acknowledged = match waiting.receiver {
            None => {
                for to in (0..self.radios.len()).filter(|to| *to != radio) {
                    self.deliver(now, radio, to, &waiting, step);
                }
                false
            }
            Some(address) => match self.listener(address, waiting.frequency_mhz) {
                Some(to) => {
                    self.deliver(now, radio, to, &waiting, step);
                    true
                }
                None => false,
            },
        };
        let counts = &mut self.counts[radio];
        counts.attempts += 1;
        counts.octets += waiting.octets.len() as u64 + u64::from(FCS_OCTETS);
        if acknowledged || waiting.receiver.is_none() {
            counts.sent += 1;
        } else {
            counts.given_up += 1;
        }
        let mut tried = [Step::NONE; STEPS];
        tried[0] = Step { count: 1, ..step };
        self.report(now, radio, waiting.ticket, acknowledged, tried, 0);
    }

    fn next_access(&self) -> Instant {
        self.contenders
            .iter()
            .filter_map(|c| c.access(self.channels.get(c.channel)?.ears.get(c.radio)?))
            .min()
            .unwrap_or(Instant::MAX)
    }

    fn happen(&mut self, event: Event) {
        let now = self.events.now();
        match event {
            Event::End { transmission } => self.ended(transmission),
            Event::Begin { contender, part } => self.transmit(contender, part),
            Event::TimeOut { contender } => self.failed(contender, now),
        }
    }

    /// Whoever's counter ends at the present instant transmits.
    fn grant(&mut self) {
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
                self.contenders[id].widen();
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
            let unicast = self.contenders[id].queue[0].receiver.is_some();
            let part = if unicast && step.flags & flag::RTS_CTS != 0 {
                Part::Rts
            } else if step.flags & (flag::CTS_PROTECT | flag::RTS_CTS) != 0 {
                Part::CtsToSelf
            } else {
                Part::Data
            };
            let radio = self.contenders[id].radio;
            let counts = &mut self.counts[radio];
            counts.attempts += 1;
            counts.retries += u64::from(self.contenders[id].queue[0].attempts > 0);
            self.contenders[id].queue[0].note(step);
            self.transmit(id, part);
        }
    }

    /// The rate of the attempt that is due or under way.
    fn step(&self, id: usize) -> Step {
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

    fn lengths(&self, id: usize, step: Step) -> Lengths {
        let contender = &self.contenders[id];
        let frame = &contender.queue[0];
        let vector = rates::vector(step, frame.frequency_mhz, self.settings.preamble());
        let octets = frame.octets.len() as u32 + FCS_OCTETS;
        let psdu = match vector.format() {
            Format::Vht | Format::HeSu | Format::EhtSu => ampdu_octets(octets, 1),
            _ => octets,
        };
        let basic = self.settings.standard.basic_rates();
        let response = control_response(&vector, basic);
        // Protection must be understood by whoever the frame is protected from: DSSS at 2.4 GHz.
        let fastest = Step {
            index: 3,
            count: 1,
            flags: 0,
        };
        let guard = match vector.format() {
            Format::Dsss | Format::Ofdm => response,
            _ if frame.frequency_mhz < 3_000 => control_response(
                &rates::vector(fastest, frame.frequency_mhz, self.settings.preamble()),
                basic,
            ),
            _ => response,
        };
        Lengths {
            octets,
            data: airtime(&vector, psdu),
            ack: airtime(&response, ACK_OCTETS),
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
        let (length, protects) = match part {
            Part::Rts => (l.rts, sifs + l.cts + sifs + l.data + answer),
            Part::Cts => (l.cts, sifs + l.data + answer),
            Part::CtsToSelf => (l.cts, sifs + l.data + answer),
            Part::Data => (l.data, answer),
            Part::Ack => (l.ack, Duration::ZERO),
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
        self.events.schedule(end, Event::End { transmission: this });
    }

    fn become_busy(&mut self, channel_id: usize, ears: u64) {
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
        let lowest = self.settings.standard.basic_rates().lowest(l.vector.band());
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
                if self.arrives(&t, sender, &l.response, ACK_OCTETS) {
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
            for to in (0..self.radios.len()).filter(|to| *to != t.radio) {
                if t.ears & 1 << to != 0 && self.arrives(t, to, &l.vector, l.octets) {
                    self.deliver_head(t, to, step);
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
        let arrived = target.is_some_and(|to| self.arrives(t, to, &l.vector, l.octets));
        if let (true, Some(to)) = (arrived, target) {
            self.deliver_head(t, to, step);
        }
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

    /// Until when virtual carrier sense or EIFS keeps a radio silent that heard `t` (10.3.2.4,
    /// 10.3.2.3.7): whoever heard nothing else honours its duration field; whoever had decoded
    /// its header when others came waits EIFS; the two ends of the exchange go by its outcome.
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
    fn listener(&self, address: MacAddress, frequency_mhz: u32) -> Option<usize> {
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

    fn deliver_head(&mut self, t: &Transmission, to: usize, step: Step) {
        let now = self.events.now();
        let contender = &self.contenders[t.contender];
        let frame = &contender.queue[0];
        let octets = if frame.attempts > 1 {
            repeated(&frame.octets)
        } else {
            Arc::clone(&frame.octets)
        };
        let frequency_mhz = frame.frequency_mhz;
        self.delivery(now, t.radio, to, octets, frequency_mhz, step);
    }

    fn deliver(&mut self, now: Instant, from: usize, to: usize, frame: &Waiting, step: Step) {
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
        let delivery = Happening::Delivery {
            to,
            frequency_mhz,
            octets,
            rate_index: rates::received_index(step),
            signal_dbm,
        };
        self.happened.push_back((now, delivery));
    }

    fn signal(&self, now: Instant, from: usize, to: usize) -> i32 {
        libm::round(self.field.power_dbm(from, to, now - self.began)) as i32
    }

    fn succeeded(&mut self, id: usize, now: Instant) {
        let radio = self.contenders[id].radio;
        let target = self.target(id);
        let frame = self.contenders[id].queue.pop_front();
        let frame = frame.expect("an exchange has a frame");
        let counts = &mut self.counts[radio];
        counts.sent += 1;
        counts.octets += frame.octets.len() as u64 + u64::from(FCS_OCTETS);
        let acknowledged = frame.receiver.is_some() && !frame.no_ack;
        let signal = target.map_or(0, |to| self.signal(now, to, radio));
        self.contenders[id].narrow();
        self.report(now, radio, frame.ticket, acknowledged, frame.tried, signal);
        self.attend(id, now, false);
    }

    fn failed(&mut self, id: usize, now: Instant) {
        let radio = self.contenders[id].radio;
        let contender = &mut self.contenders[id];
        let frame = &contender.queue[0];
        if frame.attempts < frame.allowed() {
            contender.widen();
        } else {
            let frame = contender.queue.pop_front().expect("it has a frame");
            contender.narrow();
            self.counts[radio].given_up += 1;
            self.report(now, radio, frame.ticket, false, frame.tried, 0);
        }
        self.attend(id, now, false);
    }

    /// Lets a queue contend for its first frame: one that came into an empty queue (`woken`), or
    /// the next after an attempt is over.
    fn attend(&mut self, id: usize, now: Instant, woken: bool) {
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
                timing: self.settings.standard.timing(frequency_mhz),
                ears: vec![Ear::new(now); self.radios.len()],
                active: Vec::new(),
                presence: Presence::new(now),
            });
            self.channels.len() - 1
        })
    }

    fn report(
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

impl Waiting {
    /// Attempts that it may have.
    fn allowed(&self) -> u32 {
        if self.receiver.is_none() || self.no_ack {
            return 1;
        }
        let steps = self.chain.iter().take_while(|step| step.index >= 0);
        steps.map(|step| u32::from(step.count)).sum::<u32>().max(1)
    }

    /// Books an attempt at a rate.
    fn note(&mut self, step: Step) {
        self.attempts += 1;
        let step = Step {
            index: step.index.max(0),
            ..step
        };
        let mut free = 0;
        while free < STEPS - 1 && self.tried[free].index >= 0 {
            let same = (self.tried[free].index, self.tried[free].flags) == (step.index, step.flags);
            let last = self.tried[free + 1].index < 0;
            if same && last {
                break;
            }
            free += 1;
        }
        let count = if self.tried[free].index >= 0 {
            self.tried[free].count + 1
        } else {
            1
        };
        self.tried[free] = Step { count, ..step };
    }

    /// The rate of the last attempt; before the first, that of the chain.
    fn last_step(&self) -> Step {
        let tried = self.tried.iter().rfind(|step| step.index >= 0);
        *tried.unwrap_or(&self.chain[0])
    }
}

fn fresh_counts(settings: &Settings) -> Vec<RadioCounts> {
    let named = settings.radios.iter().map(|radio| RadioCounts {
        name: radio.name.clone(),
        ..RadioCounts::default()
    });
    named.collect()
}

/// The same frame with its Retry bit set.
fn repeated(octets: &[u8]) -> Arc<[u8]> {
    let mut octets = octets.to_vec();
    let control = FrameControl(u16::from_le_bytes([octets[0], octets[1]])).with_retry(true);
    octets[..2].copy_from_slice(&control.0.to_le_bytes());
    octets.into()
}
