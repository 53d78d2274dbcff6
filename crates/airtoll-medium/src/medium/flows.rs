//! Flows of simulated stations: frames that no mac80211 gives and none is handed.
//!
//! They have their real length, wait in the queue of their sender beside its other frames, and
//! contend, collide, join A-MPDUs and are repeated as those do. A flow keeps the queue of its
//! station full, or has an MSDU at equal intervals. Their arrivals and losses are counted here.

use airtoll_engine::{Stream, Streams};
use airtoll_phy::AccessCategory;
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wlan::scenario;

use super::exchange::Event;
use super::{Medium, contender_of};
use crate::contention::{Class, Standing};
use crate::offer::STEPS;
use crate::rates::{Step, flag};
use crate::settings::{Settings, Simulated, SimulatedFlow};
use crate::statistics::{Direction, FlowCounts};
use crate::waiting::{Origin, Queued, Waiting};

/// Octets of a MAC header with three addresses (9.3.2.1).
const HEADER_OCTETS: usize = 24;
/// Bits of the frame control field: data, Protected Frame, To DS and From DS (9.2.4.1).
const DATA: u16 = 0x0008;
const QOS: u16 = 0x0080;
const TO_DS: u16 = 0x0100;
const FROM_DS: u16 = 0x0200;
const PROTECTED: u16 = 0x4000;

/// All flows of a medium.
#[derive(Debug)]
pub(super) struct Flows {
    flows: Vec<Flow>,
    /// Whether they have frames.
    on: bool,
    /// Rises with every start, so that what an earlier one scheduled is known.
    era: u64,
    /// Warm-up and counted time.
    spans: [Duration; 2],
    /// Whether the warm-up has yet to begin.
    expectant: bool,
    /// Instants between which they are counted.
    from: Instant,
    until: Instant,
}

#[derive(Debug)]
struct Flow {
    /// The radio that sends, and its contender.
    contender: usize,
    receiver: MacAddress,
    access_point: MacAddress,
    frequency_mhz: u32,
    chain: [Step; STEPS],
    /// The MPDU without its sequence number.
    octets: Vec<u8>,
    msdu_octets: u32,
    sequence: u16,
    interval: Option<Duration>,
    phase: Stream,
    /// Whether its queue is about to be filled.
    filling: bool,
    counts: FlowCounts,
    delays_s: f64,
}

impl Flows {
    /// Flows that have not begun; `None` where no station has one.
    pub fn new(settings: &Settings) -> Option<Self> {
        let streams = Streams::new(settings.seed);
        let mut flows = Vec::new();
        for (radio, own) in settings.radios.iter().enumerate() {
            let Some(station) = &own.simulated else {
                continue;
            };
            let point = settings.index(&station.access_point);
            let point = point.expect("the settings are checked");
            let bssid = settings.radios[point].interfaces[0].0;
            let step = settings.step_of(station).expect("the settings are checked");
            let ways = [
                (Direction::Up, &station.up, [radio, point]),
                (Direction::Down, &station.down, [point, radio]),
            ];
            for (direction, flow, [sender, _]) in ways {
                let Some(flow) = flow else { continue };
                let receiver = match direction {
                    Direction::Up => bssid,
                    Direction::Down => own.address.0,
                };
                let mut chain = [Step::NONE; STEPS];
                chain[0] = Step {
                    count: station.attempts,
                    ..step
                };
                let class = class_of(flow);
                flows.push(Flow {
                    contender: contender_of(sender, class),
                    receiver,
                    access_point: bssid,
                    frequency_mhz: station.frequency_mhz,
                    chain,
                    octets: mpdu(station, flow, direction, own.address.0, bssid),
                    msdu_octets: flow.msdu_octets,
                    sequence: 0,
                    interval: flow.interval_s.map(Duration::from_secs_f64),
                    phase: streams.named(&format!("phase of {direction:?} {}", own.name)),
                    counts: fresh(&own.name, direction),
                    filling: false,
                    delays_s: 0.0,
                });
            }
        }
        (!flows.is_empty()).then_some(Self {
            flows,
            on: false,
            era: 0,
            spans: [Duration::ZERO; 2],
            expectant: false,
            from: Instant::MAX,
            until: Instant::MAX,
        })
    }

    fn counts_at(&self, now: Instant) -> bool {
        self.from <= now && now < self.until
    }

    /// The warm-up begins at `now`.
    fn warm_up(&mut self, now: Instant) {
        self.expectant = false;
        self.from = now + self.spans[0];
        self.until = self.from + self.spans[1];
    }

    /// mac80211 gave data of so many octets at `now`, for an expected warm-up to begin with, at
    /// these rates: flows of the same way and rate take its retry chain.
    pub fn learn(&mut self, now: Instant, ends: [MacAddress; 2], frame: &Waiting) {
        if self.expectant {
            let octets = frame.octets.len();
            if self.flows.iter().any(|flow| flow.octets.len() == octets) {
                self.warm_up(now);
            }
        }
        let ([from, to], chain) = (ends, frame.chain);
        let rate = |step: &Step| (step.index, step.flags & !flag::RTS_CTS);
        let one = rate(&chain[0]);
        let steps = || chain.iter().take_while(|step| step.index >= 0);
        if steps().any(|step| rate(step) != one) {
            return;
        }
        for flow in &mut self.flows {
            let same_way = match flow.counts.direction {
                Direction::Up => flow.access_point == to,
                Direction::Down => flow.access_point == from,
            };
            if same_way && rate(&flow.chain[0]) == one {
                flow.chain = chain;
            }
        }
    }

    /// The counts up to `now`.
    pub fn counts(&self, now: Instant) -> Vec<FlowCounts> {
        let counted_s = now
            .min(self.until)
            .saturating_since(self.from)
            .as_secs_f64();
        self.flows
            .iter()
            .map(|flow| FlowCounts {
                counted_s,
                delay_mean_s: flow.delays_s / (flow.counts.delivered.max(1) as f64),
                ..flow.counts.clone()
            })
            .collect()
    }
}

impl Medium {
    /// The flows of simulated stations begin at `now`, and are counted after a warm-up (`spans_s`:
    /// both, s). `beside`: it begins with the first data of mac80211 that is as long as theirs.
    /// False where no station has a flow.
    pub fn start_flows(&mut self, now: Instant, spans_s: [f64; 2], beside: bool) -> bool {
        self.end_flows(now);
        let now = self.events.now();
        let Some(flows) = &mut self.flows else {
            return false;
        };
        flows.on = true;
        flows.spans = spans_s.map(Duration::from_secs_f64);
        flows.expectant = beside;
        (flows.from, flows.until) = (Instant::MAX, Instant::MAX);
        if !beside {
            flows.warm_up(now);
        }
        let era = flows.era;
        for (number, flow) in flows.flows.iter_mut().enumerate() {
            flow.counts = fresh(&flow.counts.station, flow.counts.direction);
            flow.delays_s = 0.0;
            flow.filling = flow.interval.is_none();
            let after = flow.interval.map_or(Duration::ZERO, |interval| {
                Duration::from_secs_f64(interval.as_secs_f64() * flow.phase.unit())
            });
            let due = Event::Due { flow: number, era };
            self.events.schedule(now + after, due);
        }
        true
    }

    /// The flows end at `now`; of what waits only the frames on the air remain.
    pub fn end_flows(&mut self, now: Instant) {
        self.advance(now);
        let Some(flows) = &mut self.flows else { return };
        flows.on = false;
        flows.era += 1;
        for contender in &mut self.contenders {
            let kept = match contender.standing {
                Standing::Exchanging => contender.batch.len(),
                _ => 0,
            };
            let mut place = 0;
            contender.queue.retain(|frame| {
                place += 1;
                place <= kept || frame.is_of_a_driver()
            });
            if contender.queue.is_empty() {
                contender.rest();
            }
        }
    }

    /// A flow has its next MSDU, or its queue to fill.
    pub(super) fn flow_due(&mut self, number: usize, era: u64) {
        let now = self.events.now();
        let Some(flows) = &mut self.flows else { return };
        if era != flows.era {
            return;
        }
        match flows.flows[number].interval {
            Some(interval) => {
                self.offer_of_flow(number);
                let due = Event::Due { flow: number, era };
                self.events.schedule(now + interval, due);
            }
            None => self.fill(number),
        }
    }

    /// A saturated flow fills the queue of its station.
    fn fill(&mut self, number: usize) {
        let flows = self.flows.as_mut().expect("it has this flow");
        let contender = flows.flows[number].contender;
        flows.flows[number].filling = false;
        while self.settings.airtime
            && self.contenders[contender].queue.len() < self.settings.queue_frames
        {
            self.offer_of_flow(number);
        }
    }

    fn offer_of_flow(&mut self, number: usize) {
        let now = self.events.now();
        if !self.settings.airtime {
            return;
        }
        let flows = self.flows.as_mut().expect("it has this flow");
        let counted = flows.counts_at(now);
        let flow = &mut flows.flows[number];
        flow.counts.offered += u64::from(counted);
        flow.octets[22..24].copy_from_slice(&(flow.sequence << 4).to_le_bytes());
        flow.sequence = (flow.sequence + 1) & 0x0fff;
        let queued = Queued {
            contender: flow.contender,
            waiting: Waiting {
                octets: flow.octets.as_slice().into(),
                frequency_mhz: flow.frequency_mhz,
                chain: flow.chain,
                tried: [Step::NONE; STEPS],
                attempts: 0,
                receiver: Some(flow.receiver),
                no_ack: false,
                origin: Origin::Flow {
                    flow: number,
                    since: now,
                    arrived: false,
                },
            },
        };
        let radio = self.contenders[queued.contender].radio;
        self.counts[radio].frames += 1;
        self.enqueue(queued);
    }

    pub(super) fn flow_dropped(&mut self, number: usize) {
        let now = self.events.now();
        let flows = self.flows.as_mut().expect("it has this flow");
        if flows.counts_at(now) {
            flows.flows[number].counts.queue_drops += 1;
        }
    }

    /// A frame of a flow reached its receiver, `to`, which knows repetitions by their number.
    pub(super) fn flow_arrived(&mut self, contender: usize, nth: usize, to: usize) {
        let now = self.events.now();
        self.counts[to].received += 1;
        let frame = &mut self.contenders[contender].queue[nth];
        let Origin::Flow {
            flow,
            since,
            arrived,
        } = &mut frame.origin
        else {
            return;
        };
        let first = !std::mem::replace(arrived, true);
        let flows = self.flows.as_mut().expect("it has this flow");
        if first && flows.counts_at(now) {
            let flow = &mut flows.flows[*flow];
            let delay_s = (now - *since).as_secs_f64();
            flow.counts.delivered += 1;
            flow.counts.octets += u64::from(flow.msdu_octets);
            flow.delays_s += delay_s;
            flow.counts.delay_longest_s = flow.counts.delay_longest_s.max(delay_s);
        }
    }

    /// A frame of a flow was acknowledged or given up; a saturated flow has the next one.
    pub(super) fn flow_settled(&mut self, number: usize, frame: &Waiting, acknowledged: bool) {
        let now = self.events.now();
        let flows = self.flows.as_mut().expect("it has this flow");
        let counted = flows.counts_at(now);
        let (on, era) = (flows.on, flows.era);
        let flow = &mut flows.flows[number];
        if counted {
            let arrived = matches!(frame.origin, Origin::Flow { arrived: true, .. });
            flow.counts.attempts += u64::from(frame.attempts);
            flow.counts.given_up += u64::from(!acknowledged && !arrived);
        }
        if on && flow.interval.is_none() && !std::mem::replace(&mut flow.filling, true) {
            // Once the exchange has gone on: its queue is not to change meanwhile.
            let due = Event::Due { flow: number, era };
            self.events.schedule(now, due);
        }
    }

    /// Airtime is back: saturated flows, which had no frames without it, fill their queues.
    pub(super) fn resume_flows(&mut self) {
        let saturated = |flows: &Flows| {
            let all = flows.flows.iter().enumerate();
            let own = all.filter(|(_, flow)| flows.on && flow.interval.is_none());
            own.map(|(number, _)| number).collect::<Vec<_>>()
        };
        for number in self.flows.as_deref().map_or_else(Vec::new, saturated) {
            self.fill(number);
        }
    }

    /// As [`Medium::hands_over_at`], for a medium with flows: it need not wake for what they alone
    /// do. Such a thing may let a frame of mac80211 begin, which goes over when its first part ends.
    pub(super) fn hands_over_beside_flows_at(&self) -> Option<Instant> {
        let first_part = |id: usize| {
            let step = self.step(id);
            self.lengths(id, step).of(self.first_part(id, step))
        };
        let of_drivers = |id: usize| {
            let contender = &self.contenders[id];
            !self.radios[contender.radio].simulated
                && contender.queue.iter().any(Waiting::is_of_a_driver)
        };
        let waiting: Vec<usize> = (0..self.contenders.len())
            .filter(|id| of_drivers(*id))
            .collect();
        let counting = || {
            let all = waiting.iter().copied();
            all.filter(|id| self.contenders[*id].standing == Standing::Counting)
        };
        let shortest = counting().map(first_part).min();
        let events = self.events.waiting().filter_map(|(at, event)| {
            let contender = match *event {
                Event::Due { .. } => return None,
                Event::Processed { .. } => return Some(at),
                Event::Begin { contender, .. } | Event::TimeOut { contender } => contender,
                Event::End { transmission } | Event::Mpdu { transmission, .. } => {
                    self.transmissions[&transmission].contender
                }
            };
            if waiting.contains(&contender) {
                Some(at)
            } else {
                shortest.map(|length| at + length)
            }
        });
        let accesses = counting().filter_map(|id| {
            let contender = &self.contenders[id];
            let channel = self.channels.get(contender.channel)?;
            let at = contender.access(channel.ears.get(contender.radio)?)?;
            Some(at + first_part(id))
        });
        events.chain(accesses).min()
    }
}

fn class_of(flow: &SimulatedFlow) -> Class {
    flow.access_category.map_or(Class::Plain, |category| {
        Class::Category(match category {
            scenario::AccessCategory::Background => AccessCategory::Background,
            scenario::AccessCategory::BestEffort => AccessCategory::BestEffort,
            scenario::AccessCategory::Video => AccessCategory::Video,
            scenario::AccessCategory::Voice => AccessCategory::Voice,
        })
    })
}

/// A traffic identifier of a category (Table 10-1).
const fn tid(category: scenario::AccessCategory) -> u8 {
    match category {
        scenario::AccessCategory::Background => 1,
        scenario::AccessCategory::BestEffort => 0,
        scenario::AccessCategory::Video => 5,
        scenario::AccessCategory::Voice => 6,
    }
}

/// The MPDU of a flow without FCS, its body zero.
fn mpdu(
    station: &Simulated,
    flow: &SimulatedFlow,
    direction: Direction,
    own: MacAddress,
    bssid: MacAddress,
) -> Vec<u8> {
    let mut control = DATA;
    control |= if flow.access_category.is_some() {
        QOS
    } else {
        0
    };
    control |= if station.cipher_octets > 0 {
        PROTECTED
    } else {
        0
    };
    control |= match direction {
        Direction::Up => TO_DS,
        Direction::Down => FROM_DS,
    };
    let addresses = match direction {
        Direction::Up => [bssid, own, bssid],
        Direction::Down => [own, bssid, bssid],
    };
    let mut octets = control.to_le_bytes().to_vec();
    octets.extend([0, 0]);
    for address in addresses {
        octets.extend(address.octets());
    }
    octets.resize(HEADER_OCTETS, 0);
    if let Some(category) = flow.access_category {
        octets.extend([tid(category), 0]);
    }
    let body = flow.msdu_octets + station.cipher_octets;
    octets.resize(octets.len() + body as usize, 0);
    octets
}

fn fresh(station: &str, direction: Direction) -> FlowCounts {
    FlowCounts {
        station: station.to_owned(),
        direction,
        counted_s: 0.0,
        offered: 0,
        delivered: 0,
        octets: 0,
        attempts: 0,
        given_up: 0,
        queue_drops: 0,
        delay_mean_s: 0.0,
        delay_longest_s: 0.0,
    }
}
