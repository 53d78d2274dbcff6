//! Scanning with frames (IEEE 802.11-2020, 11.1.4.3): probe requests and responses, or beacons.
//!
//! Takes a plan of channels and times; gives the probe request that a station sends to everybody on
//! the new access point's channel, the response, and whether it heard anything. The other channels
//! are empty and cost their times alone. Never chooses among access points.

use airtoll_handshakes::{Carrier, Message, Party};
use airtoll_phy as phy;
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::ManagementRepr;
use airtoll_wire::ieee80211::element::{Element, id};
use airtoll_wire::ieee80211::frame::{FrameControl, HeaderRepr, Kind, management_subtype};

use super::{Mobility, MobilityEvent};
use crate::association;
use crate::event::Event;
use crate::mac::aggregation::TxLink;
use crate::mac::exchange::Reception;
use crate::record::supported_rates;
use crate::scenario::{Scan, Scenario};
use crate::world::World;

/// Beacon interval that responses say, TU.
const INTERVAL_TU: u16 = 100;
const BROADCAST: MacAddress = MacAddress([0xff; 6]);

/// A station's scans.
pub(super) struct Scanning {
    plan: Scan,
    /// Its link for frames to everybody on the new access point's channel.
    link: u32,
    /// Supported rates of that BSS in 500 kb/s.
    rates: Vec<u8>,
    /// When it came to that channel, while it is there.
    since: Option<Instant>,
    heard: bool,
    /// It stays longer because it heard something.
    extended: bool,
}

impl Scanning {
    pub(super) fn new(world: &mut World, scenario: &Scenario, there: u32, plan: Scan) -> Self {
        let name = scenario.nodes[there as usize].bss.as_deref();
        let at = scenario
            .bss
            .iter()
            .position(|b| Some(b.name.as_str()) == name)
            .unwrap_or(0);
        let mode = association::lowest_mode(world, scenario, at);
        let link = world.stack.lower.mac.links.len() as u32;
        world.stack.lower.mac.links.push(TxLink {
            group: true,
            ..association::link(there, there, mode, 1)
        });
        Self {
            plan,
            link,
            rates: supported_rates(&scenario.bss[at]),
            since: None,
            heard: false,
            extended: false,
        }
    }
}

impl Mobility {
    /// Whether a station listens for beacons.
    pub fn anybody_listens(&self) -> bool {
        self.handovers.iter().any(|h| {
            h.scanning
                .as_ref()
                .is_some_and(|s| s.plan.passive && s.since.is_some())
        })
    }
}

impl World {
    /// The station tunes through the empty channels.
    pub(super) fn begin_scan(&mut self, number: u32) {
        let request = self.probe_request(number);
        let handover = &mut self.mobility.handovers[number as usize];
        let there = handover.there;
        let Some(scanning) = &mut handover.scanning else {
            return;
        };
        scanning.heard = false;
        scanning.extended = false;
        let channel = &self.stack.lower.medium.channels
            [self.stack.lower.medium.nodes[there as usize].channel as usize];
        let mode = self.stack.lower.mac.links[scanning.link as usize]
            .rate
            .choose();
        let vector = &self.stack.lower.mac.modes[mode as usize].vector;
        let octets = request.octets.len() as u32 + phy::FCS_OCTETS;
        // An empty channel is free for DIFS at once (10.3.4.2).
        let access = channel.sifs + channel.slot * 2 + phy::airtime(vector, octets);
        let each = if scanning.plan.passive {
            Duration::from_secs_f64(scanning.plan.max_channel_s)
        } else {
            access + Duration::from_secs_f64(scanning.plan.min_channel_s)
        };
        let at = self.stack.lower.cx.events.now() + each * u64::from(scanning.plan.channels - 1);
        let event = MobilityEvent::Probe { handover: number };
        self.stack
            .lower
            .cx
            .events
            .schedule(at, Event::Mobility(event));
    }

    /// The station is on the new access point's channel.
    pub(super) fn probe(&mut self, number: u32) {
        let now = self.stack.lower.cx.events.now();
        if self.walks(number) {
            self.put_in_place(number);
        }
        let request = self.probe_request(number);
        let handover = &mut self.mobility.handovers[number as usize];
        let join = handover.join;
        let Some(scanning) = &mut handover.scanning else {
            return;
        };
        scanning.since = Some(now);
        let (plan, link) = (scanning.plan, scanning.link);
        let stay = if plan.passive {
            plan.max_channel_s
        } else {
            self.send_probe(join, request, Some(link));
            plan.min_channel_s
        };
        self.scan_ends(number, now + Duration::from_secs_f64(stay));
    }

    fn scan_ends(&mut self, number: u32, at: Instant) {
        let event = MobilityEvent::ScanOver { handover: number };
        self.stack
            .lower
            .cx
            .events
            .schedule(at, Event::Mobility(event));
    }

    pub(super) fn scan_over(&mut self, number: u32) {
        let handover = &mut self.mobility.handovers[number as usize];
        let Some(scanning) = &mut handover.scanning else {
            return;
        };
        let more = scanning.heard && !scanning.extended && !scanning.plan.passive;
        if let (true, Some(since)) = (more, scanning.since) {
            scanning.extended = true;
            let stay = Duration::from_secs_f64(scanning.plan.max_channel_s);
            self.scan_ends(number, since + stay);
            return;
        }
        scanning.since = None;
        self.found(number);
    }

    /// Whether a scan with frames heard the new access point; without frames it always does.
    pub(super) fn heard_the_new(&self, number: u32) -> bool {
        let scanning = &self.mobility.handovers[number as usize].scanning;
        scanning.as_ref().is_none_or(|s| s.heard)
    }

    fn probe_request(&self, number: u32) -> Message {
        let handover = &self.mobility.handovers[number as usize];
        let mut elements = self.announced(number);
        elements.truncate(elements.len() - self.secured(number).len());
        let (from, _) = self.association.ends_of(handover.join);
        let station = self.mac(from);
        let body = ManagementRepr::ProbeRequest(&elements);
        let addresses = (BROADCAST, station, BROADCAST);
        Message {
            from: Party::Station,
            to: Party::AccessPoint,
            carrier: Carrier::Management,
            octets: frame(management_subtype::PROBE_REQUEST, addresses, &body),
        }
    }

    /// Network name and rates, then what [`Self::secured`] gives.
    fn announced(&self, number: u32) -> Vec<u8> {
        let handover = &self.mobility.handovers[number as usize];
        let link = self.association.link_of(handover.join);
        let rates = handover.scanning.as_ref().map_or(&[][..], |s| &s.rates);
        let (first, further) = rates.split_at(rates.len().min(8));
        let mut out = Vec::new();
        let mut add = |id: u8, body: &[u8]| Element { id, body }.emit(&mut out);
        add(id::SSID, &link.ssid);
        add(id::SUPPORTED_RATES, first);
        if !further.is_empty() {
            add(id::EXTENDED_RATES, further);
        }
        out.extend(self.secured(number));
        out
    }

    fn secured(&self, number: u32) -> Vec<u8> {
        let handover = &self.mobility.handovers[number as usize];
        let link = self.association.link_of(handover.join);
        [
            link.security_element(&[]),
            link.mobility_element(),
            link.extension_element(),
        ]
        .concat()
    }

    /// A frame of a scan arrived: the access point answers, and the station has heard it.
    pub(crate) fn probe_arrived(&mut self, join: u32, message: &Message) {
        let Some(number) = self.mobility.of_join(join) else {
            return;
        };
        if message.to == Party::AccessPoint {
            let elements = self.announced(number);
            let capability = self.association.link_of(join).capability();
            let (station, access_point) = self.association.ends_of(join);
            let now_us = self.stack.lower.cx.events.now().as_nanos() / 1_000;
            let body = ManagementRepr::Beacon(now_us, INTERVAL_TU, capability, &elements);
            let (station, own) = (self.mac(station), self.mac(access_point));
            let octets = frame(
                management_subtype::PROBE_RESPONSE,
                (station, own, own),
                &body,
            );
            let response = Message {
                from: Party::AccessPoint,
                to: Party::Station,
                carrier: Carrier::Management,
                octets,
            };
            self.send_probe(join, response, None);
        } else {
            self.note_heard(number);
        }
    }

    fn note_heard(&mut self, number: u32) {
        if let Some(scanning) = &mut self.mobility.handovers[number as usize].scanning {
            scanning.heard |= scanning.since.is_some();
        }
    }

    /// A beacon ended: who listens on its channel may have heard it.
    pub(crate) fn beacon_heard(
        &mut self,
        access_point: u32,
        reception: &dyn Fn(&Self, u32) -> Option<Reception>,
    ) {
        let Some(plan) = self.stack.lower.mac.nodes[access_point as usize].beacon else {
            return;
        };
        for number in 0..self.mobility.handovers.len() as u32 {
            let handover = &self.mobility.handovers[number as usize];
            let listens = handover
                .scanning
                .as_ref()
                .is_some_and(|s| s.since.is_some());
            let there = handover.there;
            if !listens || self.association.ends_of(handover.join).1 != access_point {
                continue;
            }
            let heard = reception(self, there).is_some_and(|r| {
                self.control_arrives(access_point, there, &plan.vector, plan.octets, r)
            });
            if heard {
                self.note_heard(number);
            }
        }
    }
}

fn frame(
    subtype: u8,
    (receiver, transmitter, third): (MacAddress, MacAddress, MacAddress),
    body: &ManagementRepr<'_>,
) -> Vec<u8> {
    let mut out = Vec::new();
    HeaderRepr {
        control: FrameControl::new(Kind::Management, subtype),
        duration: 0,
        address1: receiver,
        address2: transmitter,
        address3: third,
        sequence_control: 0,
        address4: None,
        qos_control: None,
        ht_control: None,
    }
    .emit(&mut out);
    body.emit(&mut out);
    out
}
