//! The simulator and the medium have a MAC each. Both play the same arrivals here: where no random
//! number decides, every frame ends at the same nanosecond; where back-offs decide, attempts, losses
//! and delays agree in the mean.

use std::sync::{Arc, Mutex};

use airtoll_medium::rates::{Step, flag};
use airtoll_medium::{Happening, Medium, Offer, STEPS, Settings};
use airtoll_units::{Duration, Instant};
use airtoll_wlan::record::{Key, Medium as Carrier, Sink};
use airtoll_wlan::scenario::{Aggregation, Rate, Scenario, ScenarioBuilder, Standard};

/// Frames that wait, in both.
const QUEUE: u32 = 1_000;

/// The Retry bit of a frame's second octet.
const RETRY: u8 = 0x08;

/// Octets of LLC/SNAP, IPv4 and UDP headers.
const HEADERS: usize = 8 + 20 + 8;

/// Equal datagrams at equal distances, from one station to the access point.
#[derive(Debug, Clone, Copy)]
struct Sender {
    payload: usize,
    start: Duration,
    interval: Duration,
}

/// One cell: what both MACs play.
#[derive(Debug, Clone)]
struct Cell {
    standard: Standard,
    rate: Rate,
    /// The rate as mac80211 numbers it.
    step: Step,
    frequency_mhz: u32,
    qos: bool,
    senders: Vec<Sender>,
    hidden: Vec<[usize; 2]>,
    duration: Duration,
}

/// A data frame whose last octet was on the air.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Sent {
    at: Instant,
    octets: usize,
    repeated: bool,
}

/// Means of a trial.
#[derive(Debug, Clone, Copy)]
struct Means {
    delivered: f64,
    repeated: f64,
    delay_s: f64,
}

impl Cell {
    fn of_g(mbps: f64, index: i8, senders: Vec<Sender>, seconds: u64) -> Self {
        Self {
            standard: Standard::G,
            rate: Rate::Fixed { mbps },
            step: step(index, 0),
            frequency_mhz: 2_412,
            qos: false,
            senders,
            hidden: Vec::new(),
            duration: Duration::from_secs(seconds),
        }
    }

    fn header(&self) -> usize {
        if self.qos { 26 } else { 24 }
    }

    fn scenario(&self) -> Scenario {
        let mut built = ScenarioBuilder::new(self.duration.as_secs_f64())
            .bss("cell", self.standard, self.rate)
            .access_point("r0", "cell");
        for (number, sender) in self.senders.iter().enumerate() {
            let name = format!("r{}", number + 1);
            built = built
                .station(&name, "cell")
                .saturated_udp(&name, &name, "r0", sender.payload as u32)
                .change(|scenario| {
                    let flow = scenario.flows.last_mut().expect("a flow was added");
                    let octets = sender.payload as u32;
                    let rate_bps = f64::from(octets) * 8.0 / sender.interval.as_secs_f64();
                    flow.start_s = sender.start.as_secs_f64();
                    flow.pattern = paced(octets, rate_bps);
                });
        }
        let hidden = self.hidden.iter();
        let hidden = hidden.map(|pair| pair.map(|radio| format!("r{radio}")));
        built
            .change(|scenario| {
                scenario.radio.frame_errors = false;
                for node in &mut scenario.nodes {
                    node.queue.packets = QUEUE;
                    node.queue.max_delay_ms = None;
                }
                scenario.radio.hidden = hidden.collect();
                scenario.bss[0].aggregation = Aggregation {
                    ampdu_max_octets: None,
                    amsdu_max_octets: 0,
                    window: None,
                };
            })
            .build()
            .expect("a valid scenario")
    }

    fn settings(&self, seed: u64) -> Settings {
        let radios: Vec<String> = (0..=self.senders.len())
            .map(|i| {
                format!(
                    r#"{{"name":"r{i}","address":"42:00:00:00:{i:02x}:00",
                    "interfaces":["02:00:00:00:{i:02x}:00"]}}"#
                )
            })
            .collect();
        let standard = serde_json::to_string(&self.standard).expect("a name");
        let hidden: Vec<String> = self
            .hidden
            .iter()
            .map(|[a, b]| format!(r#"["r{a}","r{b}"]"#))
            .collect();
        Settings::from_json(&format!(
            r#"{{"radios":[{}],"standard":{standard},"hidden":[{}],"frame_errors":false,
            "seed":{seed},"queue_frames":{QUEUE}}}"#,
            radios.join(","),
            hidden.join(",")
        ))
        .expect("valid settings")
    }

    /// Instant and sender of every datagram, in the order of time.
    fn arrivals(&self) -> Vec<(Instant, usize)> {
        let mut all: Vec<_> = (0..self.senders.len())
            .flat_map(|number| {
                let sender = self.senders[number];
                let first = Instant::ZERO + sender.start;
                let times = (0..).map(move |n| first + sender.interval * n);
                let end = Instant::ZERO + self.duration;
                times
                    .take_while(move |at| *at < end)
                    .map(move |at| (at, number))
            })
            .collect();
        all.sort_by_key(|(at, _)| *at);
        all
    }
}

fn step(index: i8, flags: u16) -> Step {
    Step {
        index,
        count: 7,
        flags,
    }
}

fn paced(payload_octets: u32, rate_bps: f64) -> airtoll_wlan::scenario::Pattern {
    serde_json::from_value(serde_json::json!({
        "type": "paced", "payload_octets": payload_octets, "rate_bps": rate_bps,
    }))
    .expect("a pattern")
}

/// Data frames of the simulator's air.
#[derive(Debug, Clone, Default)]
struct Air {
    sent: Arc<Mutex<Vec<Sent>>>,
}

impl Sink for Air {
    fn interface(&mut self, medium: Carrier, _: &str) -> u32 {
        u32::from(medium == Carrier::Air)
    }

    fn packet(&mut self, interface: u32, at: Instant, octets: &[u8]) {
        let radiotap = usize::from(u16::from_le_bytes([octets[2], octets[3]]));
        let frame = &octets[radiotap..];
        let is_data = frame[0] & 0x0c == 0x08 && frame.len() > 60;
        if interface == 1 && is_data {
            let sent = Sent {
                at,
                octets: frame.len(),
                repeated: frame[1] & RETRY != 0,
            };
            self.sent.lock().expect("one thread").push(sent);
        }
    }

    fn key(&mut self, _: &Key) {}
}

fn share_repeated(sent: &[Sent]) -> f64 {
    sent.iter().filter(|one| one.repeated).count() as f64 / sent.len() as f64
}

fn simulated(cell: &Cell, seed: u64) -> (Vec<Sent>, Means) {
    let air = Air::default();
    let scenario = cell.scenario();
    let sink = Box::new(air.clone());
    let outcome = airtoll_wlan::run_recorded(&scenario, seed, &mut || false, sink);
    let outcome = outcome.expect("a trial");
    let sent = air.sent.lock().expect("one thread").clone();
    let sum = |metric: &str| -> f64 {
        let rows = outcome.rows.iter().filter(|row| row.metric == metric);
        rows.filter(|row| row.flow.is_some() && row.second.is_none())
            .map(|row| row.value)
            .sum()
    };
    let delivered = sum("packets_received");
    let weighed = cell.senders.iter().enumerate().map(|(number, _)| {
        let flow = format!("r{}", number + 1);
        let value = |metric| {
            outcome
                .value(metric, Some(&flow))
                .expect("a value of the flow")
        };
        value("delay_s") * value("packets_received")
    });
    let means = Means {
        delivered,
        repeated: share_repeated(&sent),
        delay_s: weighed.sum::<f64>() / delivered,
    };
    (sent, means)
}

fn carried(cell: &Cell, seed: u64) -> (Vec<Sent>, Means) {
    let mut medium = Medium::new(cell.settings(seed), Instant::ZERO);
    let arrivals = cell.arrivals();
    let mut numbers = vec![0_u16; cell.senders.len()];
    for (ticket, (at, sender)) in arrivals.iter().enumerate() {
        let mut octets = vec![if cell.qos { 0x88 } else { 0x08 }, 0x01, 0, 0];
        for [first, last] in [[2, 0], [2, *sender as u8 + 1], [2, 0]] {
            octets.extend([first, 0, 0, 0, last, 0]);
        }
        octets.extend((numbers[*sender] << 4).to_le_bytes());
        numbers[*sender] = (numbers[*sender] + 1) & 0x0fff;
        octets.resize(cell.header() + HEADERS + cell.senders[*sender].payload, 0);
        let place = octets.len() - 4;
        octets[place..].copy_from_slice(&(ticket as u32).to_le_bytes());
        let mut chain = [Step::NONE; STEPS];
        chain[0] = cell.step;
        medium.offer(
            *at,
            Offer {
                radio: sender + 1,
                frequency_mhz: cell.frequency_mhz,
                octets,
                chain,
                no_ack: false,
                ticket: ticket as u64,
            },
        );
    }
    medium.advance(Instant::ZERO + cell.duration);
    let (mut sent, mut arrived, mut delays) = (Vec::new(), Vec::new(), Vec::new());
    while let Some((at, happening)) = medium.take() {
        match happening {
            Happening::Delivery { octets, .. } => {
                let (_, number) = octets.split_at(octets.len() - 4);
                let number = u32::from_le_bytes(number.try_into().expect("four octets"));
                arrived.push(arrivals[number as usize].0);
                let repeated = octets[1] & RETRY != 0;
                sent.push(Sent {
                    at,
                    octets: octets.len() + 4,
                    repeated,
                });
            }
            // The simulator hands an A-MPDU up at its end; the medium hands up each part at its own.
            Happening::Report { .. } => {
                let end = sent.last().map_or(Instant::ZERO, |last: &Sent| last.at);
                delays.extend(arrived.drain(..).map(|from| (end - from).as_secs_f64()));
            }
        }
    }
    let delivered = delays.len() as f64;
    let means = Means {
        delivered,
        repeated: share_repeated(&sent),
        delay_s: delays.iter().sum::<f64>() / delivered,
    };
    (sent, means)
}

fn sender(payload: usize, start_us: u64, interval_us: u64) -> Sender {
    Sender {
        payload,
        start: Duration::from_micros(start_us),
        interval: Duration::from_micros(interval_us),
    }
}

#[test]
fn frames_on_an_idle_medium_end_at_the_same_nanosecond() {
    let senders = vec![
        sender(1_472, 0, 20_000),
        sender(64, 7_000, 20_000),
        sender(512, 13_100, 20_000),
    ];
    for (mbps, index) in [(6.0, 4), (24.0, 8), (54.0, 11)] {
        let cell = Cell::of_g(mbps, index, senders.clone(), 1);
        let (ours, _) = simulated(&cell, 1);
        let (theirs, _) = carried(&cell, 1);
        assert_eq!(ours.len(), cell.arrivals().len());
        assert_eq!(ours, theirs, "{mbps} Mb/s");
    }
}

/// Two trials of the same cell by both: everything arrives, and the means agree.
fn agree(cell: &Cell, repeated: f64, delay: f64) {
    let (_, ours) = simulated(cell, 1);
    let (_, theirs) = carried(cell, 1);
    let text = format!("simulator {ours:?}, medium {theirs:?}");
    assert!(
        (ours.delivered / theirs.delivered - 1.0).abs() < 0.005,
        "{text}"
    );
    assert!((ours.repeated - theirs.repeated).abs() < repeated, "{text}");
    assert!(
        (ours.delay_s / theirs.delay_s - 1.0).abs() < delay,
        "{text}"
    );
}

/// Senders whose phases drift against one another, so that contention is that of chance.
fn drifting(count: u64, payload: usize, interval_us: u64) -> Vec<Sender> {
    (0..count)
        .map(|n| sender(payload, 190 * n, interval_us + 7 * n))
        .collect()
}

#[test]
fn contenders_repeat_as_often_and_wait_as_long() {
    let cell = Cell::of_g(54.0, 11, drifting(8, 1_472, 3_600), 60);
    agree(&cell, 0.01, 0.03);
}

#[test]
fn hidden_stations_repeat_as_often() {
    let mut cell = Cell::of_g(11.0, 3, drifting(2, 1_472, 20_000), 60);
    cell.hidden = vec![[1, 2]];
    // Few frames overlap, and each of them several times: chance decides more than elsewhere.
    agree(&cell, 0.02, 0.08);
}

/// Near overload frames are given up, and the window of the next one decides what arrives.
#[test]
fn hidden_stations_near_overload_lose_as_many() {
    let mut cell = Cell::of_g(11.0, 3, drifting(2, 1_472, 9_000), 60);
    cell.hidden = vec![[1, 2]];
    let offered = cell.arrivals().len() as f64;
    let arrived = |play: fn(&Cell, u64) -> (Vec<Sent>, Means)| -> Vec<f64> {
        let trials = (1..=5).map(|seed| play(&cell, seed).1.delivered / offered);
        trials.collect()
    };
    let (ours, theirs) = (arrived(simulated), arrived(carried));
    let mean = |shares: &[f64]| shares.iter().sum::<f64>() / shares.len() as f64;
    let text = format!("share that arrives: simulator {ours:.3?}, medium {theirs:.3?}");
    assert!((mean(&ours) - mean(&theirs)).abs() < 0.02, "{text}");
}

#[test]
fn aggregates_repeat_as_often_and_wait_as_long() {
    let mut cell = Cell::of_g(54.0, 7, drifting(3, 1_472, 1_200), 20);
    cell.frequency_mhz = 5_180;
    cell.standard = Standard::N;
    cell.rate = Rate::FixedMcs { mcs: 7, streams: 1 };
    cell.step = step(7, flag::MCS);
    cell.qos = true;
    agree(&cell, 0.005, 0.03);
}
