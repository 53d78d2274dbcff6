//! Frames of the simulated air as rows: takes what the simulator's recorder gives a sink; gives
//! time, sender, receiver and kind of each frame. Keeps no octets.

use std::cell::RefCell;
use std::rc::Rc;

use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::{
    Frame, Kind, control_subtype as control, management_subtype as management,
};
use airtoll_wire::radiotap::{Radiotap, RadiotapRepr};
use airtoll_wlan::Scenario;
use airtoll_wlan::record::{Key, Medium, Sink, node_number};
use serde::Serialize;

/// Most frames of an answer; later ones are left out.
const MOST: usize = 4000;
/// LLC and SNAP header of EAPOL (IEEE 802.1X-2020, 11.1.4; EtherType 0x888e).
const EAPOL: [u8; 8] = [0xaa, 0xaa, 0x03, 0, 0, 0, 0x88, 0x8e];

/// A frame, in the order in which frames ended.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FrameRow {
    /// First octet of the MPDU on the air, microseconds after the start of the trial.
    pub begin_us: f64,
    /// End of the frame, microseconds.
    pub end_us: f64,
    /// Name of the BSS or radio whose interface saw it.
    pub interface: String,
    /// Name of the transmitting node; null for an Ack or CTS, which has no sender address.
    pub from: Option<String>,
    /// Name of the receiving node; `all` for a group address.
    pub to: Option<String>,
    /// Its kind in words, e.g. `authentication`.
    pub kind: &'static str,
    /// Octets of the MPDU with its FCS.
    pub octets: usize,
    /// Whether the body is encrypted.
    pub protected: bool,
    /// Whether it is a repetition.
    pub retry: bool,
}

/// Takes frames until [`MOST`].
pub struct Frames {
    names: Vec<String>,
    interfaces: Vec<(Medium, String)>,
    rows: Rc<RefCell<Vec<FrameRow>>>,
}

impl Frames {
    /// A sink for a trial of this scenario, and where its rows appear.
    pub fn new(scenario: &Scenario) -> (Self, Rc<RefCell<Vec<FrameRow>>>) {
        let rows = Rc::new(RefCell::new(Vec::new()));
        let sink = Self {
            names: scenario.nodes.iter().map(|n| n.name.clone()).collect(),
            interfaces: Vec::new(),
            rows: Rc::clone(&rows),
        };
        (sink, rows)
    }

    fn name(&self, address: Option<MacAddress>) -> Option<String> {
        let address = address?;
        if address.0[0] & 1 == 1 {
            return Some("all".to_owned());
        }
        self.names.get(node_number(address)?).cloned()
    }

    fn row(&self, interface: &str, end_us: f64, octets: &[u8]) -> Option<FrameRow> {
        let header = Radiotap::new(octets).ok()?;
        let begin = RadiotapRepr::parse(&header).tsft_us?;
        let frame = Frame::new(header.payload()).ok()?;
        let fields = frame.control();
        Some(FrameRow {
            begin_us: begin as f64,
            end_us,
            interface: interface.to_owned(),
            from: self.name(frame.transmitter()),
            to: self.name(frame.receiver()),
            kind: kind(&frame),
            octets: header.payload().len(),
            protected: fields.protected(),
            retry: fields.retry(),
        })
    }
}

impl Sink for Frames {
    fn interface(&mut self, medium: Medium, name: &str) -> u32 {
        self.interfaces.push((medium, name.to_owned()));
        self.interfaces.len() as u32 - 1
    }

    fn packet(&mut self, interface: u32, at: airtoll_units::Instant, octets: &[u8]) {
        let Some((Medium::Air, name)) = self.interfaces.get(interface as usize) else {
            return;
        };
        if self.rows.borrow().len() == MOST {
            return;
        }
        let row = self.row(name, at.as_nanos() as f64 / 1e3, octets);
        self.rows.borrow_mut().extend(row);
    }

    fn key(&mut self, _: &Key) {}
}

/// The kind of a frame in words (IEEE 802.11-2020, table 9-1).
fn kind(frame: &Frame<'_>) -> &'static str {
    let fields = frame.control();
    match (fields.kind(), fields.subtype()) {
        (Kind::Management, management::ASSOCIATION_REQUEST) => "association request",
        (Kind::Management, management::ASSOCIATION_RESPONSE) => "association response",
        (Kind::Management, management::REASSOCIATION_REQUEST) => "reassociation request",
        (Kind::Management, management::REASSOCIATION_RESPONSE) => "reassociation response",
        (Kind::Management, management::PROBE_REQUEST) => "probe request",
        (Kind::Management, management::PROBE_RESPONSE) => "probe response",
        (Kind::Management, management::BEACON) => "beacon",
        (Kind::Management, management::DISASSOCIATION) => "disassociation",
        (Kind::Management, management::AUTHENTICATION) => "authentication",
        (Kind::Management, management::DEAUTHENTICATION) => "deauthentication",
        (Kind::Management, management::ACTION | management::ACTION_NO_ACK) => "action",
        (Kind::Management, _) => "management",
        (Kind::Control, control::BLOCK_ACK_REQUEST) => "Block Ack request",
        (Kind::Control, control::BLOCK_ACK) => "Block Ack",
        (Kind::Control, control::PS_POLL) => "PS-Poll",
        (Kind::Control, control::RTS) => "RTS",
        (Kind::Control, control::CTS) => "CTS",
        (Kind::Control, control::ACK) => "Ack",
        (Kind::Control, control::CF_END | control::CF_END_ACK) => "CF-End",
        (Kind::Control, _) => "control",
        (Kind::Data, _) if !fields.carries_data() => "null data",
        (Kind::Data, _) if !fields.protected() && frame.body().starts_with(&EAPOL) => "EAPOL",
        (Kind::Data, _) => "data",
        _ => "extension",
    }
}
