//! Scanning with frames (IEEE 802.11-2020, 11.1.4.3): probe requests and responses, or beacons.
//!
//! The station probes, or listens, on the channel of the new access point last. The other channels
//! of the plan are empty and cost their times alone. A scan does not choose among access points.

use airtoll_handshakes::{Carrier, Message, Party};
use airtoll_phy as phy;
use airtoll_phy::TxVector;
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::ManagementRepr;
use airtoll_wire::ieee80211::frame::{FrameControl, HeaderRepr, Kind, management_subtype};

use super::{Action, Roam, Turn};
use crate::address;
use crate::event::RoamEvent;
use crate::id::{HandoverId, LinkId, Pair};
use crate::scenario::Scan;

/// Beacon interval in probe responses, TU.
const INTERVAL_TU: u16 = 100;
const BROADCAST: MacAddress = MacAddress([0xff; 6]);

/// Elements of the frames of a scan.
pub(crate) struct ScanElements {
    /// Those of probe requests.
    pub request: Vec<u8>,
    /// Those of probe responses.
    pub answer: Vec<u8>,
}

/// The scans of a hand-over.
pub(crate) struct Scanning {
    plan: Scan,
    /// Link of the station for broadcast frames on the channel of the new access point.
    link: LinkId,
    /// Rate of probe requests.
    vector: TxVector,
    /// DIFS on that channel.
    difs: Duration,
    /// Elements of its probe requests.
    request: Vec<u8>,
    /// Elements of its probe responses.
    answer: Vec<u8>,
    /// Start of the present stay on that channel.
    since: Option<Instant>,
    heard: bool,
    /// The station stays longer because it heard something.
    extended: bool,
}

impl Scanning {
    /// Scans by a plan: probe requests go by `link` with `vector`.
    pub fn new(
        plan: Scan,
        link: LinkId,
        vector: TxVector,
        difs: Duration,
        elements: ScanElements,
    ) -> Self {
        Self {
            plan,
            link,
            vector,
            difs,
            request: elements.request,
            answer: elements.answer,
            since: None,
            heard: false,
            extended: false,
        }
    }
}

impl Roam {
    /// The station tunes through the empty channels.
    pub(super) fn begin_scan(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let request = self.probe_request(id);
        let Some(scanning) = &mut self.handovers[id].plan.scanning else {
            return;
        };
        scanning.heard = false;
        scanning.extended = false;
        let octets = request.octets.len() as u32 + phy::FCS_OCTETS;
        // An empty channel is free for DIFS at once (10.3.4.2).
        let access = scanning.difs + phy::airtime(&scanning.vector, octets);
        let each = if scanning.plan.passive {
            Duration::from_secs_f64(scanning.plan.max_channel_s)
        } else {
            access + Duration::from_secs_f64(scanning.plan.min_channel_s)
        };
        let at = turn.now + each * u64::from(scanning.plan.channels - 1);
        turn.schedule(at, RoamEvent::Probe(id));
    }

    /// The station is on the channel of the new access point.
    pub(super) fn probe(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        self.put_in_place(id, turn);
        let request = self.probe_request(id);
        let plan = &mut self.handovers[id].plan;
        let session = plan.session;
        let Some(scanning) = &mut plan.scanning else {
            return;
        };
        scanning.since = Some(turn.now);
        let Pair {
            station,
            access_point,
        } = turn.join.radios_of(session);
        let stay = if scanning.plan.passive {
            turn.out.push(Action::SetListening {
                handover: id,
                station,
                access_point,
                listening: true,
            });
            scanning.plan.max_channel_s
        } else {
            turn.out.push(Action::SendScanFrame {
                session,
                message: request,
                link: Some(scanning.link),
            });
            scanning.plan.min_channel_s
        };
        let at = turn.now + Duration::from_secs_f64(stay);
        turn.schedule(at, RoamEvent::ScanOver(id));
    }

    pub(super) fn scan_over(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let plan = &mut self.handovers[id].plan;
        let session = plan.session;
        let Some(scanning) = &mut plan.scanning else {
            return;
        };
        let more = scanning.heard && !scanning.extended && !scanning.plan.passive;
        if let (true, Some(since)) = (more, scanning.since) {
            scanning.extended = true;
            let stay = Duration::from_secs_f64(scanning.plan.max_channel_s);
            turn.schedule(since + stay, RoamEvent::ScanOver(id));
            return;
        }
        scanning.since = None;
        if scanning.plan.passive {
            let Pair {
                station,
                access_point,
            } = turn.join.radios_of(session);
            turn.out.push(Action::SetListening {
                handover: id,
                station,
                access_point,
                listening: false,
            });
        }
        self.found(id, turn);
    }

    /// Whether a scan with frames heard the new access point; always true without frames.
    pub(super) fn heard_the_new(&self, id: HandoverId) -> bool {
        let scanning = &self.handovers[id].plan.scanning;
        scanning.as_ref().is_none_or(|s| s.heard)
    }

    fn probe_request(&self, id: HandoverId) -> Message {
        let plan = &self.handovers[id].plan;
        let elements = plan.scanning.as_ref().map_or(&[][..], |s| &s.request);
        let body = ManagementRepr::ProbeRequest(elements);
        let addresses = Addresses {
            receiver: BROADCAST,
            transmitter: address::mac(plan.station),
            bssid: BROADCAST,
        };
        Message {
            from: Party::Station,
            to: Party::AccessPoint,
            carrier: Carrier::Management,
            octets: frame(management_subtype::PROBE_REQUEST, addresses, &body),
        }
    }

    /// A frame of a scan arrived: the access point answers, and the station has heard it.
    pub(super) fn probe_arrived(&mut self, id: HandoverId, message: &Message, turn: &mut Turn<'_>) {
        if message.to != Party::AccessPoint {
            self.note_heard(id);
            return;
        }
        let plan = &self.handovers[id].plan;
        let link = turn.join.link_of(plan.session);
        let elements = plan.scanning.as_ref().map_or(&[][..], |s| &s.answer);
        let access_point = turn.join.ends_of(plan.session).access_point;
        let now_us = turn.now.as_nanos() / 1_000;
        let body = ManagementRepr::Beacon(now_us, INTERVAL_TU, link.capability(), elements);
        let own = address::mac(access_point);
        let addresses = Addresses {
            receiver: address::mac(plan.station),
            transmitter: own,
            bssid: own,
        };
        let message = Message {
            from: Party::AccessPoint,
            to: Party::Station,
            carrier: Carrier::Management,
            octets: frame(management_subtype::PROBE_RESPONSE, addresses, &body),
        };
        turn.out.push(Action::SendScanFrame {
            session: plan.session,
            message,
            link: None,
        });
    }

    /// The station of a hand-over heard the new access point.
    pub fn note_heard(&mut self, id: HandoverId) {
        if let Some(scanning) = &mut self.handovers[id].plan.scanning {
            scanning.heard |= scanning.since.is_some();
        }
    }
}

/// Addresses of a management frame.
struct Addresses {
    receiver: MacAddress,
    transmitter: MacAddress,
    bssid: MacAddress,
}

fn frame(subtype: u8, addresses: Addresses, body: &ManagementRepr<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    HeaderRepr {
        control: FrameControl::new(Kind::Management, subtype),
        duration: 0,
        address1: addresses.receiver,
        address2: addresses.transmitter,
        address3: addresses.bssid,
        sequence_control: 0,
        address4: None,
        qos_control: None,
        ht_control: None,
    }
    .emit(&mut out);
    body.emit(&mut out);
    out
}
