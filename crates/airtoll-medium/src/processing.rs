//! Processors: the CPUs and cipher engines of the devices, and the frames that wait for them.
//!
//! Takes the frames that a radio sends or received; gives the stages of their processing, each on
//! one CPU or engine, and the instant at which a stage is done. The costs and their rules are the
//! simulator's (`airtoll_wlan::device`): stack and cipher of a packet that a host sends, receives or
//! forwards, and the operations before a message of a handshake. Decides nothing about the air.

use std::collections::{BTreeMap, HashMap, VecDeque};

use airtoll_handshakes::Party;
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::{Frame, Kind, management_subtype as subtype};
use airtoll_wire::llc;
use airtoll_wlan::device::Host;
use airtoll_wlan::scenario::CryptoEngine;

use crate::account::{Account, Seen, Work};
use crate::devices::Devices;
use crate::offer::Happening;
use crate::settings::Settings;
use crate::statistics::DeviceCounts;
use crate::waiting::Queued;

/// A part of a device that works on one frame after the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Unit {
    Cpu,
    Encryption,
    Decryption,
}

/// Work on one unit of one host.
#[derive(Debug, Clone, Copy)]
struct Stage {
    host: usize,
    unit: Unit,
    work: Duration,
}

/// The way of a frame after its processing.
#[derive(Debug)]
pub(crate) enum Then {
    /// It contends for the air.
    Contend(Queued),
    /// It is handed to its receiver's mac80211.
    HandUp(Happening),
}

/// A frame under way through the units of hosts.
#[derive(Debug)]
pub(crate) struct Job {
    stages: VecDeque<Stage>,
    pub then: Then,
}

/// Stages of a frame, in their order.
#[derive(Debug, Default)]
pub(crate) struct Stages(VecDeque<Stage>);

impl Stages {
    fn push(&mut self, host: usize, unit: Unit, work: Duration) {
        self.0.push_back(Stage { host, unit, work });
    }

    /// A frame on its way through these stages.
    pub fn before(self, then: Then) -> Job {
        Job {
            stages: self.0,
            then,
        }
    }
}

/// The processors of all devices.
#[derive(Debug)]
pub(crate) struct Processors {
    names: Vec<String>,
    hosts: Vec<Host>,
    /// The host of each radio.
    of_radio: Vec<Option<usize>>,
    wired: Option<usize>,
    authentication_server: Option<usize>,
    cipher: CipherSuite,
    account: Account,
    /// The access point of each radio that associates with one.
    bss: HashMap<usize, MacAddress>,
    /// The access point's radio that last received a frame of this source.
    entered: HashMap<MacAddress, usize>,
    jobs: BTreeMap<u64, Job>,
    next_job: u64,
    /// Frames under way to each contender.
    under_way: HashMap<usize, usize>,
}

impl Processors {
    /// Idle processors; `None` where the settings have no devices.
    pub fn new(settings: &Settings) -> Option<Self> {
        let devices = settings.devices.as_ref()?;
        let account = Account::new(devices, settings.seed).expect("the settings are checked");
        let mut of_radio = vec![None; settings.radios.len()];
        for (host, device) in devices.radios.iter().enumerate() {
            for name in &device.radios {
                of_radio[settings.index(name).expect("the settings are checked")] = Some(host);
            }
        }
        let after = devices.radios.len();
        let wired = devices.wired.as_ref().map(|_| after);
        let server = devices.authentication_server.as_ref();
        let authentication_server = server.map(|_| after + usize::from(wired.is_some()));
        Some(Self {
            names: names(devices),
            hosts: devices.hosts().map(Host::new).collect(),
            of_radio,
            wired,
            authentication_server,
            cipher: devices.cipher,
            account,
            bss: HashMap::new(),
            entered: HashMap::new(),
            jobs: BTreeMap::new(),
            next_job: 0,
            under_way: HashMap::new(),
        })
    }

    /// The stages of a frame before it contends; `None` for a frame of the radio itself, a beacon,
    /// and for a radio without a device.
    pub fn sending(&mut self, radio: usize, frame: &Frame<'_>) -> Option<Stages> {
        let own = self.of_radio[radio]?;
        if is_of_the_radio(frame) {
            return None;
        }
        let mut stages = Stages::default();
        if let Some(seen) = Seen::read(frame) {
            if frame.control().kind() == Kind::Management
                && frame.address3() == frame.receiver()
                && let Some(access_point) = frame.receiver()
            {
                self.bss.insert(radio, access_point);
            }
            for (party, work) in self.account.before(&seen) {
                let host = match party {
                    Party::AuthenticationServer => self.authentication_server,
                    _ => Some(own),
                };
                if let Some(host) = host {
                    let time = self.time_of(host, &work);
                    stages.push(host, Unit::Cpu, time);
                }
            }
            let stack = self.hosts[own].transmit_time(seen.octets());
            stages.push(own, Unit::Cpu, stack);
            return Some(stages);
        }
        let control = frame.control();
        if control.kind() != Kind::Data || !control.carries_data() {
            // It waits for the CPU, so that no frame overtakes another.
            stages.push(own, Unit::Cpu, Duration::ZERO);
            return Some(stages);
        }
        let octets = self.packet_octets(frame);
        let source = frame.source();
        let stack = if source == frame.transmitter() {
            self.hosts[own].transmit_time(octets)
        } else if control.from_ds()
            && source.is_some_and(|source| self.entered.get(&source) == Some(&radio))
        {
            // Forwarded within the BSS: paid for when it was received.
            Duration::ZERO
        } else {
            if let Some(wired) = self.wired.filter(|_| control.from_ds()) {
                let sent = self.hosts[wired].transmit_time(octets);
                stages.push(wired, Unit::Cpu, sent);
            }
            self.hosts[own].forward_time(octets)
        };
        let effort = self.cipher_time(own, frame, true, octets);
        match self.hosts[own].engine() {
            CryptoEngine::Cpu => stages.push(own, Unit::Cpu, stack + effort),
            CryptoEngine::Inline | CryptoEngine::Coprocessor => {
                stages.push(own, Unit::Cpu, stack);
                stages.push(own, Unit::Encryption, effort);
            }
        }
        Some(stages)
    }

    /// The stages of a frame that a radio received, before mac80211 has it; `None` as for
    /// [`Self::sending`]. `is_radio`: whether an address is that of a radio.
    pub fn receiving(
        &mut self,
        radio: usize,
        frame: &Frame<'_>,
        is_radio: impl Fn(MacAddress) -> bool,
    ) -> Option<Stages> {
        let own = self.of_radio[radio]?;
        let control = frame.control();
        let group = frame.receiver().is_some_and(|address| address.is_group());
        // A radio drops group-addressed frames of a BSS that is not its own.
        let foreign = group && self.bss.get(&radio).copied() != frame.bssid();
        if is_of_the_radio(frame) || foreign {
            return None;
        }
        let mut stages = Stages::default();
        let data = control.kind() == Kind::Data && control.carries_data();
        if !data || Seen::read(frame).is_some() {
            stages.push(own, Unit::Cpu, Duration::ZERO);
            return Some(stages);
        }
        let octets = self.packet_octets(frame);
        let destination = frame.destination();
        let for_itself = destination == frame.receiver();
        let stack = if for_itself {
            self.hosts[own].receive_time(octets)
        } else {
            self.hosts[own].forward_time(octets)
        };
        let effort = self.cipher_time(own, frame, false, octets);
        if self.hosts[own].engine() == CryptoEngine::Cpu {
            stages.push(own, Unit::Cpu, stack + effort);
        } else {
            stages.push(own, Unit::Decryption, effort);
            stages.push(own, Unit::Cpu, stack);
        }
        if control.to_ds() && !for_itself {
            if let Some(source) = frame.source() {
                self.entered.insert(source, radio);
            }
            if let Some(wired) = self.wired.filter(|_| !destination.is_some_and(is_radio)) {
                let received = self.hosts[wired].receive_time(octets);
                stages.push(wired, Unit::Cpu, received);
            }
        }
        Some(stages)
    }

    /// Works on the stages of a frame from `now` on. Gives the frame once all are done; until then
    /// the number under which it is kept, and when the stage at hand is done.
    pub fn proceed(&mut self, mut job: Job, now: Instant) -> Result<Then, (u64, Instant)> {
        while let Some(stage) = job.stages.pop_front() {
            let host = &mut self.hosts[stage.host];
            let unit = match stage.unit {
                Unit::Cpu => host.cpu(),
                Unit::Encryption => host.engine_for(true),
                Unit::Decryption => host.engine_for(false),
            };
            let done = unit.work(now, stage.work);
            if done > now {
                let number = self.next_job;
                self.next_job += 1;
                if let Then::Contend(queued) = &job.then {
                    *self.under_way.entry(queued.contender).or_default() += 1;
                }
                self.jobs.insert(number, job);
                return Err((number, done));
            }
        }
        Ok(job.then)
    }

    /// Takes a frame whose stage is done; `None` if it was given up.
    pub fn take(&mut self, number: u64) -> Option<Job> {
        let job = self.jobs.remove(&number)?;
        if let Then::Contend(queued) = &job.then
            && let Some(count) = self.under_way.get_mut(&queued.contender)
        {
            *count -= 1;
        }
        Some(job)
    }

    /// Frames on their way to a contender.
    pub fn under_way(&self, contender: usize) -> usize {
        self.under_way.get(&contender).copied().unwrap_or(0)
    }

    /// Gives up all frames, in the order in which they came.
    pub fn abandon(&mut self) -> impl Iterator<Item = Then> + use<> {
        self.under_way.clear();
        std::mem::take(&mut self.jobs)
            .into_values()
            .map(|job| job.then)
    }

    /// How long each device has worked.
    pub fn counts(&self) -> Vec<DeviceCounts> {
        let each = self.names.iter().zip(&self.hosts);
        each.map(|(name, host)| {
            let busy = host.busy();
            DeviceCounts {
                name: name.clone(),
                cpu_s: busy.cpu.as_secs_f64(),
                engines_s: busy.engines.as_secs_f64(),
            }
        })
        .collect()
    }

    /// Begins all counts anew.
    pub fn forget(&mut self) {
        self.hosts.iter_mut().for_each(Host::forget);
    }

    fn time_of(&self, host: usize, work: &Work) -> Duration {
        let host = &self.hosts[host];
        match work {
            Work::Operations(operations) => host.operations_time(operations),
            Work::Send(octets) => host.transmit_time(*octets),
            Work::Receive(octets) => host.receive_time(*octets),
        }
    }

    /// Octets of the packet in a data frame, without LLC and what the cipher adds.
    fn packet_octets(&self, frame: &Frame<'_>) -> u32 {
        let around = if frame.control().protected() {
            llc::LEN + self.cipher.frame_octets()
        } else {
            llc::LEN
        };
        frame.body().len().saturating_sub(around) as u32
    }

    fn cipher_time(&self, host: usize, frame: &Frame<'_>, encrypt: bool, octets: u32) -> Duration {
        if !frame.control().protected() {
            return Duration::ZERO;
        }
        let octets = octets + llc::LEN as u32;
        self.hosts[host].cipher_time(self.cipher, encrypt, octets)
    }
}

/// Whether the radio makes or takes a frame without the CPU: a beacon.
fn is_of_the_radio(frame: &Frame<'_>) -> bool {
    let control = frame.control();
    control.kind() == Kind::Control
        || (control.kind() == Kind::Management && control.subtype() == subtype::BEACON)
}

fn names(devices: &Devices) -> Vec<String> {
    let radios = devices.radios.iter().map(|device| device.radios.join(", "));
    let wired = devices.wired.iter().map(|_| "wired host".to_owned());
    let server = devices.authentication_server.iter();
    let server = server.map(|_| "authentication server".to_owned());
    radios.chain(wired).chain(server).collect()
}
