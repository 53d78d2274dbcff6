//! The medium: frames come in, wait, contend, collide, are repeated, and arrive or not.
//!
//! Takes frames with the instant at which mac80211 gave them, and the instant up to which the
//! air is to be played; gives deliveries and transmit reports, each with the instant at which it
//! happened. It does no input or output and reads no clock: the caller brings the time, and a
//! late caller gets the events since its last call at their own instants. A unicast frame goes
//! to its receiver alone.

use std::collections::{HashMap, VecDeque};

use airtoll_engine::{EventQueue, Stream, Streams};
use airtoll_phy::{FCS_OCTETS, TimingSet};
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::{Frame, Kind};

use crate::contention::{Class, Contender, Ear};
use crate::field::Field;
use crate::offer::{Happening, Offer, STEPS};
use crate::processing::{Job, Processors, Then};
use crate::rates::Step;
use crate::settings::Settings;
use crate::statistics::{ChannelCounts, Counts, Presence, RadioCounts};
use crate::waiting::{Origin, Queued, Waiting};

mod exchange;
mod flows;

use exchange::{Event, Transmission};
use flows::Flows;

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
    /// Boxed, as most media have none.
    processors: Option<Box<Processors>>,
    /// Of simulated stations; boxed, as most media have none.
    flows: Option<Box<Flows>>,
    noise: Stream,
    counts: Vec<RadioCounts>,
    counting_since: Instant,
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
    /// Whether no mac80211 has it.
    simulated: bool,
}

#[derive(Debug)]
struct Channel {
    frequency_mhz: u32,
    timing: TimingSet,
    ears: Vec<Ear>,
    active: Vec<u64>,
    presence: Presence,
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
            owners.extend(radio.simulated.iter().map(|_| (radio.address.0, i)));
        }
        let radios = settings.radios.iter().map(|radio| Radio {
            draws: streams.named(&format!("back-off of {}", radio.name)),
            engaged_until: now,
            last_sent: (now, now),
            frequency_mhz: radio.simulated.as_ref().map(|own| own.frequency_mhz),
            air: Duration::ZERO,
            simulated: radio.simulated.is_some(),
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
            processors: Processors::new(&settings).map(Box::new),
            flows: Flows::new(&settings).map(Box::new),
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

    /// Switches airtime on or off; transmissions on the air end as they began.
    pub fn set_airtime(&mut self, on: bool) {
        let was_off = !self.settings.airtime;
        self.settings.airtime = on;
        if on && was_off {
            self.resume_flows();
        }
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
        let data_ends = (frame.control().kind() == Kind::Data)
            .then(|| Some([frame.transmitter()?, receiver?]))
            .flatten();
        self.radios[offer.radio].frequency_mhz = Some(offer.frequency_mhz);
        self.counts[offer.radio].frames += 1;
        let processors = self.processors.as_mut().filter(|_| self.settings.airtime);
        let stages = processors.and_then(|p| p.sending(offer.radio, &frame));
        let waiting = Waiting {
            octets: offer.octets.into(),
            frequency_mhz: offer.frequency_mhz,
            chain: offer.chain,
            tried: [Step::NONE; STEPS],
            attempts: 0,
            receiver,
            no_ack: offer.no_ack,
            origin: Origin::Driver {
                ticket: offer.ticket,
            },
        };
        if let (Some(flows), Some(ends)) = (&mut self.flows, data_ends) {
            flows.learn(now, ends, &waiting);
        }
        if !self.settings.airtime {
            self.pass(now, offer.radio, waiting);
            return;
        }
        let queued = Queued {
            contender: contender_of(offer.radio, class),
            waiting,
        };
        match stages {
            // Frames that wait for the CPU wait in the same queue.
            Some(_) if self.is_full(queued.contender) => self.drop_silently(queued),
            Some(stages) => self.process(stages.before(Then::Contend(queued))),
            None => self.enqueue(queued),
        }
    }

    fn is_full(&self, contender: usize) -> bool {
        let processors = self.processors.as_ref();
        let under_way = processors.map_or(0, |p| p.under_way(contender));
        self.contenders[contender].queue.len() + under_way >= self.settings.queue_frames
    }

    /// A frame goes through its stages of processing, as far as they are done at once.
    fn process(&mut self, job: Job) {
        let now = self.events.now();
        let processors = self.processors.as_mut();
        let processors = processors.expect("only processors have stages");
        match processors.proceed(job, now) {
            Ok(Then::Contend(queued)) => self.enqueue(queued),
            Ok(Then::HandUp(happening)) => self.happened.push_back((now, happening)),
            Err((job, done)) => self.events.schedule(done, Event::Processed { job }),
        }
    }

    /// A stage of processing is done.
    fn processed(&mut self, job: u64) {
        let processors = self.processors.as_mut();
        if let Some(job) = processors.and_then(|p| p.take(job)) {
            self.process(job);
        }
    }

    /// A full queue drops a frame, which is reported as acknowledged.
    fn drop_silently(&mut self, queued: Queued) {
        let now = self.events.now();
        let radio = self.contenders[queued.contender].radio;
        self.counts[radio].queue_drops += 1;
        let waiting = queued.waiting;
        let mut tried = [Step::NONE; STEPS];
        tried[0] = Step {
            count: 1,
            ..waiting.chain[0]
        };
        match waiting.origin {
            Origin::Driver { ticket } => self.report(now, radio, ticket, true, tried, 0),
            Origin::Flow { flow, .. } => self.flow_dropped(flow),
        }
    }

    /// A frame joins the queue of its contender.
    fn enqueue(&mut self, queued: Queued) {
        let now = self.events.now();
        let id = queued.contender;
        let contender = &mut self.contenders[id];
        if contender.queue.len() >= self.settings.queue_frames {
            self.drop_silently(queued);
            return;
        }
        contender.queue.push_back(queued.waiting);
        let counts = &mut self.counts[contender.radio];
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
        let processors = self.processors.as_mut();
        for then in processors
            .into_iter()
            .flat_map(|p| p.abandon())
            .collect::<Vec<_>>()
        {
            if let Then::Contend(Queued { contender, waiting }) = then {
                let radio = self.contenders[contender].radio;
                self.counts[radio].given_up += 1;
                self.settle(now, radio, &waiting, false, 0);
            }
        }
        for id in 0..self.contenders.len() {
            let radio = self.contenders[id].radio;
            while let Some(waiting) = self.contenders[id].queue.pop_front() {
                self.counts[radio].given_up += 1;
                self.settle(now, radio, &waiting, false, 0);
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
            devices: self
                .processors
                .as_ref()
                .map_or_else(Vec::new, |p| p.counts()),
            flows: self
                .flows
                .as_ref()
                .map_or_else(Vec::new, |flows| flows.counts(now)),
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
        if let Some(processors) = &mut self.processors {
            processors.forget();
        }
    }

    /// Without airtime: hands a frame over at once.
    fn pass(&mut self, now: Instant, radio: usize, waiting: Waiting) {
        let step = waiting.chain[0];
        let acknowledged = match waiting.receiver {
            None => {
                for to in self.listeners_beside(radio) {
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
        let waiting = Waiting { tried, ..waiting };
        self.settle(now, radio, &waiting, acknowledged, 0);
    }

    /// Radios of mac80211 other than the sender, which take what is for all.
    fn listeners_beside(&self, radio: usize) -> Vec<usize> {
        (0..self.radios.len())
            .filter(|to| *to != radio && !self.radios[*to].simulated)
            .collect()
    }

    fn next_access(&self) -> Instant {
        self.contenders
            .iter()
            .filter_map(|c| c.access(self.channels.get(c.channel)?.ears.get(c.radio)?))
            .min()
            .unwrap_or(Instant::MAX)
    }
}

/// The number of a radio's contender for a class.
fn contender_of(radio: usize, class: Class) -> usize {
    let rank = Class::ALL.iter().position(|c| *c == class);
    radio * Class::ALL.len() + rank.expect("every class is listed")
}

fn fresh_counts(settings: &Settings) -> Vec<RadioCounts> {
    let named = settings.radios.iter().map(|radio| RadioCounts {
        name: radio.name.clone(),
        ..RadioCounts::default()
    });
    named.collect()
}
