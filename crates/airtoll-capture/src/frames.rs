//! Frame by frame: takes frames in the order of the capture, opens them, and hands what is in
//! them to sessions, keyring and ledger; counts.
//!
//! Fragments of an MSDU are put together in a bounded table before their content is read.

use std::path::PathBuf;

use airtoll_security::CipherSuite;
use airtoll_wire::MacAddress;
use airtoll_wire::eapol::{Eapol, packet_type};
use airtoll_wire::eapol_key::{DESCRIPTOR_RC4, EapolKeyRepr, Message};
use airtoll_wire::ieee80211::amsdu::Subframes;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::management::category;
use airtoll_wire::ieee80211::suite::OUI_WPA;
use airtoll_wire::ieee80211::{
    Elements, Frame, FrameControl, Kind, Management, Protection, RsnRepr, element,
};
use rustc_hash::FxHashMap;

use crate::analysis::{Slot, SlotKind, Watcher};
use crate::decrypt::{Keyring, Undecrypted};
use crate::dissect::{self, Content, Dissected};
use crate::file::Damage;
use crate::ledger::{Entry, Kind as LedgerKind, Ledger, Parts};
use crate::link::Radio;
use crate::report::{Counts, Report};
use crate::session::{Announced, Event, Sessions, Step};

/// Most MSDUs whose fragments are kept at a time.
const MAX_PARTIAL: usize = 512;
/// Most octets of one MSDU.
const MAX_MSDU: usize = 12_000;

/// What became of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Not protected, or no 802.11 frame.
    Clear,
    /// Protected and opened.
    Decrypted,
    /// Protected and closed.
    Closed(Undecrypted),
}

/// State over the frames of a capture.
pub struct Frames<'w> {
    keyring: Keyring,
    sessions: Sessions,
    ledger: Ledger,
    counts: Counts,
    marked: Vec<u64>,
    marked_at: Option<u64>,
    passes: u32,
    first_ns: Option<u64>,
    last_ns: u64,
    last_ampdu: Option<u32>,
    partial: FxHashMap<(u64, u64, u16), Partial>,
    watcher: Option<Watcher<'w>>,
}

#[derive(Debug, Default)]
struct Partial {
    octets: Vec<u8>,
    next: u8,
}

/// What was found in the body of a data frame.
#[derive(Debug, Clone, Copy, Default)]
struct Found {
    eapol: bool,
    eap: bool,
    header_octets: usize,
}

impl<'w> Frames<'w> {
    /// Nothing seen yet.
    pub fn new(keyring: Keyring, watcher: Option<Watcher<'w>>) -> Self {
        Self {
            keyring,
            sessions: Sessions::default(),
            ledger: Ledger::default(),
            counts: Counts::default(),
            marked: Vec::new(),
            marked_at: None,
            passes: 1,
            first_ns: None,
            last_ns: 0,
            last_ampdu: None,
            partial: FxHashMap::default(),
            watcher,
        }
    }

    pub(crate) const fn keyring(&self) -> &Keyring {
        &self.keyring
    }

    /// Whether another pass could open more; if so, prepares it.
    pub(crate) fn begin_pass(&mut self) -> bool {
        let learnt = self
            .marked_at
            .is_some_and(|generation| generation < self.keyring.generation());
        if learnt {
            self.marked_at = None;
            self.passes += 1;
            self.partial.clear();
        }
        learnt
    }

    pub(crate) fn is_marked(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        self.marked.get(word).is_some_and(|w| w >> bit & 1 == 1)
    }

    fn mark(&mut self, number: u64, on: bool) {
        let (word, bit) = place(number);
        if on {
            if self.marked.len() <= word {
                self.marked.resize(word + 1, 0);
            }
            self.marked[word] |= 1 << bit;
            let generation = self.keyring.generation();
            self.marked_at = Some(self.marked_at.map_or(generation, |at| at.min(generation)));
        } else if let Some(w) = self.marked.get_mut(word) {
            *w &= !(1 << bit);
        }
    }

    /// A packet in the first pass; `plain` is its plaintext if the batch opened it.
    pub(crate) fn frame(&mut self, slot: &Slot, octets: &[u8], plain: Option<&[u8]>) {
        self.counts.frames += 1;
        self.first_ns = Some(
            self.first_ns
                .map_or(slot.time_ns, |first| first.min(slot.time_ns)),
        );
        self.last_ns = self.last_ns.max(slot.time_ns);
        let status = match slot.kind {
            SlotKind::Air { on_air, radio } => self.air(slot, octets, on_air, &radio, plain),
            SlotKind::Wire => {
                self.wire(octets);
                Status::Clear
            }
            SlotKind::Other => {
                self.counts.other += 1;
                Status::Clear
            }
        };
        if status != Status::Decrypted {
            self.watch(slot.number, status, &[]);
        }
    }

    /// A packet that an earlier pass left closed.
    pub(crate) fn again(&mut self, slot: &Slot, octets: &[u8]) {
        let Ok(frame) = Frame::new(octets) else {
            return;
        };
        let generation = self.keyring.generation();
        match self.keyring.open(&frame) {
            Ok((opened, _)) => {
                self.mark(slot.number, false);
                let data = frame.control().kind() == Kind::Data;
                self.counts.reopened(data);
                let plain = self.keyring.plaintext(&opened).to_vec();
                self.watch(slot.number, Status::Decrypted, &plain);
                if data {
                    let found = self.body(slot, &frame, &plain, 0);
                    self.count(found);
                } else {
                    self.management(slot, &frame, &plain, 0);
                }
            }
            Err(_) => {
                self.marked_at = Some(self.marked_at.map_or(generation, |at| at.min(generation)));
            }
        }
    }

    fn watch(&mut self, number: u64, status: Status, plain: &[u8]) {
        if let Some(watcher) = &mut self.watcher {
            watcher(number, status, plain);
        }
    }

    fn air(
        &mut self,
        slot: &Slot,
        octets: &[u8],
        on_air: usize,
        radio: &Radio,
        plain: Option<&[u8]>,
    ) -> Status {
        let control = match FrameControl::read(octets) {
            Ok(control) if control.version() == 0 => control,
            _ => {
                self.counts.other += 1;
                return Status::Clear;
            }
        };
        let continued = radio.ampdu.is_some() && radio.ampdu == self.last_ampdu;
        self.last_ampdu = radio.ampdu;
        let entry = Entry {
            time_ns: slot.time_ns,
            whole: Some(LedgerKind::Control),
            retry: control.retry(),
            octets: on_air.min(1 << 20) as u32,
            parts: Parts::default(),
            continued,
            station: None,
            ap: None,
        };
        match control.kind() {
            Kind::Management => self.management_frame(slot, octets, on_air, radio, entry, control),
            Kind::Data => self.data_frame(slot, octets, on_air, radio, entry, plain, control),
            Kind::Control | Kind::Extension => {
                self.counts.control += 1;
                self.ledger.enter(radio, &entry);
                Status::Clear
            }
        }
    }

    fn management_frame(
        &mut self,
        slot: &Slot,
        octets: &[u8],
        on_air: usize,
        radio: &Radio,
        mut entry: Entry,
        control: FrameControl,
    ) -> Status {
        self.counts.management += 1;
        entry.whole = Some(LedgerKind::Management);
        let frame = Frame::new(octets);
        if let Ok(frame) = &frame {
            let bssid = frame.bssid();
            entry.ap = bssid.filter(|bssid| !bssid.is_group());
            entry.station = [frame.transmitter(), frame.receiver()]
                .into_iter()
                .flatten()
                .find(|address| Some(*address) != bssid && !address.is_group());
            if control.subtype() == subtype::AUTHENTICATION
                && !matches!(frame.body().first_chunk::<2>(), Some([0, 0]) | None)
            {
                entry.whole = Some(LedgerKind::KeyExchange);
            }
        }
        let airtime_ns = self.ledger.enter(radio, &entry);
        if !control.protected() {
            if let Ok(frame) = &frame {
                self.management(slot, frame, frame.body(), airtime_ns);
            }
            return Status::Clear;
        }
        self.counts.protected_mgmt += 1;
        let Ok(frame) = frame else {
            return self.closed(slot, Undecrypted::NoBody, false);
        };
        if octets.len() < on_air {
            return self.closed(slot, Undecrypted::CutShort, false);
        }
        match self.keyring.open(&frame) {
            Ok((opened, _)) => {
                self.counts.decrypted_mgmt += 1;
                let plain = self.keyring.plaintext(&opened).to_vec();
                self.watch(slot.number, Status::Decrypted, &plain);
                self.management(slot, &frame, &plain, airtime_ns);
                Status::Decrypted
            }
            Err(reason) => self.closed(slot, reason, false),
        }
    }

    fn closed(&mut self, slot: &Slot, reason: Undecrypted, data: bool) -> Status {
        self.counts.closed(reason, data);
        if reason.may_open_later() {
            self.mark(slot.number, true);
        }
        Status::Closed(reason)
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "one frame with what is known of it"
    )]
    fn data_frame(
        &mut self,
        slot: &Slot,
        octets: &[u8],
        on_air: usize,
        radio: &Radio,
        mut entry: Entry,
        batch: Option<&[u8]>,
        control: FrameControl,
    ) -> Status {
        self.counts.data += 1;
        if control.protected() {
            self.counts.protected += 1;
        }
        let Ok(frame) = Frame::new(octets) else {
            self.ledger.enter(radio, &entry);
            if control.protected() {
                return self.closed(slot, Undecrypted::CutShort, true);
            }
            return Status::Clear;
        };
        let (station, ap) = roles(&frame);
        (entry.station, entry.ap) = (station, ap);
        entry.whole = (!control.carries_data()).then_some(LedgerKind::Control);
        if control.carries_data()
            && let (Some(station), Some(ap)) = (station, ap)
        {
            self.sessions.data(slot.time_ns, station, ap);
        }
        let mut found = Found::default();
        let mut security = 0;
        let status = if !control.protected() {
            if control.carries_data() {
                found = self.body(slot, &frame, frame.body(), 0);
            }
            Status::Clear
        } else if let Some(plain) = batch {
            let suite = self.batch_suite(&frame);
            security = suite.mpdu_octets();
            self.counts.decrypted += 1;
            self.watch(slot.number, Status::Decrypted, plain);
            found = self.body(slot, &frame, plain, 0);
            self.note_cipher(station, ap, suite);
            Status::Decrypted
        } else {
            security = assumed_overhead(frame.body());
            if octets.len() < on_air {
                self.closed(slot, Undecrypted::CutShort, true)
            } else if !control.carries_data() {
                self.closed(slot, Undecrypted::NoBody, true)
            } else {
                match self.keyring.open(&frame) {
                    Ok((opened, michael)) => {
                        self.counts.decrypted += 1;
                        if michael == Some(false) {
                            self.counts.michael_failures += 1;
                        }
                        let mut plain = self.keyring.plaintext(&opened).to_vec();
                        if michael.is_some() {
                            plain.truncate(plain.len().saturating_sub(8));
                        }
                        security = opened.suite.frame_octets();
                        self.watch(slot.number, Status::Decrypted, &plain);
                        found = self.body(slot, &frame, &plain, 0);
                        self.note_cipher(station, ap, opened.suite);
                        Status::Decrypted
                    }
                    Err(reason) => self.closed(slot, reason, true),
                }
            }
        };
        self.count(found);
        if found.eapol {
            entry.whole = Some(LedgerKind::KeyExchange);
        }
        let header_len = frame.header_len();
        let body = on_air.saturating_sub(header_len);
        let security = security.min(body);
        let headers = found.header_octets.min(body - security);
        entry.parts = Parts {
            headers: (header_len + headers) as u32,
            security: security as u32,
            payload: (body - security - headers).min(1 << 20) as u32,
        };
        self.ledger.enter(radio, &entry);
        status
    }

    fn batch_suite(&self, frame: &Frame<'_>) -> CipherSuite {
        self.keyring
            .first_ccmp(frame)
            .map_or(CipherSuite::Ccmp128, |key| key.suite())
    }

    fn note_cipher(
        &mut self,
        station: Option<MacAddress>,
        ap: Option<MacAddress>,
        suite: CipherSuite,
    ) {
        if let (Some(station), Some(ap)) = (station, ap)
            && matches!(suite, CipherSuite::Wep40 | CipherSuite::Wep104)
        {
            self.sessions.opened(station, ap, suite.name());
        }
    }

    fn count(&mut self, found: Found) {
        self.counts.eapol_frames += u64::from(found.eapol);
        self.counts.eap_frames += u64::from(found.eap);
    }

    /// Reads the plaintext body of a data frame.
    fn body(&mut self, slot: &Slot, frame: &Frame<'_>, plain: &[u8], airtime_ns: u64) -> Found {
        let control = frame.control();
        let fragment = frame.fragment_number().unwrap_or(0);
        if control.more_fragments() || fragment != 0 {
            return match self.join(frame, plain, fragment, control.more_fragments()) {
                Some(whole) => self.msdu(slot, frame, &whole, airtime_ns),
                None => Found::default(),
            };
        }
        // The A-MSDU bit is not authenticated without SPP: a body that starts as LLC does is one
        // MSDU (the first address of a subframe would be AA-AA-03-00-00-00).
        let aggregate = frame.is_amsdu() && !plain.starts_with(&[0xaa, 0xaa, 0x03, 0, 0, 0]);
        if !aggregate {
            return self.msdu(slot, frame, plain, airtime_ns);
        }
        let mut all = Found::default();
        for subframe in Subframes::new(plain) {
            let found = self.msdu(slot, frame, subframe.msdu, airtime_ns);
            all.eapol |= found.eapol;
            all.eap |= found.eap;
            all.header_octets += 14 + found.header_octets;
        }
        all
    }

    /// Puts fragments together; gives the MSDU with the last.
    fn join(
        &mut self,
        frame: &Frame<'_>,
        plain: &[u8],
        fragment: u8,
        more: bool,
    ) -> Option<Vec<u8>> {
        let key = (
            frame.transmitter()?.to_u64(),
            frame.receiver()?.to_u64(),
            frame.sequence_number()? << 4 | frame.qos_control().unwrap_or(0) & 15,
        );
        if fragment == 0 {
            if self.partial.len() >= MAX_PARTIAL {
                self.partial.clear();
            }
            let partial = Partial {
                octets: plain.to_vec(),
                next: 1,
            };
            self.partial.insert(key, partial);
            return None;
        }
        let partial = self.partial.get_mut(&key)?;
        if partial.next != fragment || partial.octets.len() + plain.len() > MAX_MSDU {
            // A repeated fragment changes nothing; a gap loses the MSDU.
            if fragment >= partial.next {
                self.partial.remove(&key);
            }
            return None;
        }
        partial.octets.extend_from_slice(plain);
        partial.next += 1;
        if more {
            return None;
        }
        self.partial.remove(&key).map(|partial| partial.octets)
    }

    fn msdu(&mut self, slot: &Slot, frame: &Frame<'_>, msdu: &[u8], airtime_ns: u64) -> Found {
        let Dissected {
            content,
            header_octets,
        } = dissect::msdu(msdu);
        let mut found = Found {
            header_octets,
            ..Found::default()
        };
        let step = match &content {
            Content::Other => return found,
            Content::Eapol {
                octets,
                packet_type: kind,
                eap,
            } => {
                found.eapol = true;
                found.eap = eap.is_some();
                match (*kind, eap) {
                    (packet_type::EAP, Some(eap)) => Step::Eap(*eap),
                    (packet_type::START, _) => Step::Start,
                    (packet_type::LOGOFF, _) => Step::Logoff,
                    (packet_type::KEY, _) => self.key_message(frame, octets),
                    _ => Step::OtherEapol,
                }
            }
            Content::Radius {
                eap,
                station,
                identifier,
                ..
            } => {
                found.eap = eap.is_some();
                self.sessions.radius(*identifier, *station);
                return found;
            }
            Content::Ike => Step::Ike,
            Content::MobileIp => Step::MobileIp,
            Content::Encapsulated(octets) => {
                self.keyring.learn_tdls(octets);
                return found;
            }
        };
        let (station, ap) = roles(frame);
        let (Some(station), Some(bssid)) = (station, ap) else {
            return found;
        };
        self.event(Event {
            time_ns: slot.time_ns,
            airtime_ns,
            octets: slot.original,
            station,
            bssid,
            from_station: frame.transmitter() == Some(station),
            retry: frame.control().retry(),
            step,
        });
        found
    }

    fn key_message(&mut self, frame: &Frame<'_>, octets: &[u8]) -> Step {
        let Ok(packet) = Eapol::new(octets) else {
            return Step::OtherEapol;
        };
        if let (Some(from), Some(to)) = (frame.transmitter(), frame.receiver()) {
            self.keyring.learn_key_message(from, to, &packet);
        }
        let body = packet.body();
        if body.first() == Some(&DESCRIPTOR_RC4) {
            return Step::DynamicWep;
        }
        let key = EapolKeyRepr::guess_mic_len(body)
            .and_then(|mic_len| EapolKeyRepr::parse(body, mic_len).ok());
        match key.map(|key| key.message()) {
            Some(Message::FourWay(number)) => Step::FourWay(number),
            Some(Message::Group(number)) => Step::Group(number),
            Some(Message::Request) => Step::KeyRequest,
            None => Step::OtherEapol,
        }
    }

    fn event(&mut self, event: Event) {
        let announced = self
            .keyring
            .bss(event.bssid)
            .map(|bss| Announced {
                ssid: bss.ssid.clone(),
                rsn: bss.rsn.clone().or_else(|| bss.wpa.clone()),
                privacy: bss.privacy,
            })
            .unwrap_or_default();
        self.sessions.enter(&event, &announced);
    }

    fn management(&mut self, slot: &Slot, frame: &Frame<'_>, body: &[u8], airtime_ns: u64) {
        let kind = frame.control().subtype();
        let (Some(to), Some(from), Some(bssid)) =
            (frame.receiver(), frame.transmitter(), frame.address3())
        else {
            return;
        };
        let Ok(parsed) = Management::parse(kind, body) else {
            return;
        };
        let from_station = from != bssid;
        let station = if from_station { from } else { to };
        let step = match parsed {
            Management::Beacon {
                capability,
                elements,
                ..
            } => {
                self.keyring
                    .learn_bss(bssid, Some(capability & 0x10 != 0), &elements);
                if kind == subtype::BEACON {
                    return;
                }
                Step::Probe
            }
            Management::ProbeRequest { .. } => Step::Probe,
            Management::AssociationRequest { elements, .. } => {
                self.keyring.learn_bss(bssid, None, &elements);
                self.keyring.learn_choice(station, bssid, &elements);
                self.keyring.learn_ft_association(station, bssid, &elements);
                association(&elements)
            }
            Management::AssociationResponse {
                status, elements, ..
            } => {
                self.keyring.learn_bss(bssid, None, &elements);
                self.keyring.learn_ft_association(station, bssid, &elements);
                Step::AssociationResponse(status)
            }
            Management::Authentication {
                algorithm,
                transaction,
                status,
                ..
            } => Step::Authentication(algorithm, transaction, status),
            Management::Leave { reason } => Step::Leave(kind == subtype::DEAUTHENTICATION, reason),
            Management::Action {
                category: category::FT,
                ..
            } => Step::FtAction,
            Management::Action { .. } | Management::Other => return,
        };
        let event = Event {
            time_ns: slot.time_ns,
            airtime_ns,
            octets: slot.original,
            station,
            bssid,
            from_station,
            retry: frame.control().retry(),
            step,
        };
        if station.is_group() {
            return;
        }
        self.event(event);
    }

    fn wire(&mut self, octets: &[u8]) {
        self.counts.wired += 1;
        let dissected = dissect::ethernet(octets);
        match dissected.content {
            Content::Eapol { eap, .. } => {
                self.counts.eapol_frames += 1;
                self.counts.eap_frames += u64::from(eap.is_some());
            }
            Content::Radius {
                eap,
                station,
                identifier,
                ..
            } => {
                self.counts.radius_frames += 1;
                self.counts.eap_frames += u64::from(eap.is_some());
                self.sessions.radius(identifier, station);
            }
            Content::Ike => self.counts.ike_frames += 1,
            Content::MobileIp => self.counts.mobile_ip_frames += 1,
            Content::Other | Content::Encapsulated(_) => {}
        }
    }

    /// The report.
    pub(crate) fn into_report(self, files: &[PathBuf], damage: Vec<Damage>) -> Report {
        let first_ns = self.first_ns.unwrap_or(0);
        Report::new(
            files,
            &self.counts,
            damage,
            (first_ns, self.last_ns),
            &self.sessions,
            &self.ledger,
        )
    }
}

impl Keyring {
    /// The CCMP key that a batch should try on a protected data frame, if it has one.
    pub(crate) fn batch_key(&self, mpdu: &[u8]) -> Option<&airtoll_security::link::ccmp::CcmpKey> {
        let control = FrameControl::read(mpdu).ok()?;
        let wanted = control.version() == 0 && control.protected() && control.carries_data();
        if !wanted || control.kind() != Kind::Data {
            return None;
        }
        let frame = Frame::new(mpdu).ok()?;
        self.first_ccmp(&frame)?.ccmp()
    }
}

fn association(elements: &Elements<'_>) -> Step {
    let rsn = elements
        .find_id(element::id::RSN)
        .and_then(|body| RsnRepr::parse(body).ok());
    if let Some(rsn) = rsn {
        return Step::AssociationRequest(Some(Box::new(rsn)), false);
    }
    let wpa = elements
        .find_vendor(OUI_WPA, 1)
        .and_then(|body| RsnRepr::parse_wpa(body).ok());
    Step::AssociationRequest(wpa.map(Box::new), true)
}

/// Station and AP of a data frame; in a four-address frame the receiver stands for the AP.
fn roles(frame: &Frame<'_>) -> (Option<MacAddress>, Option<MacAddress>) {
    let control = frame.control();
    let unicast = |address: Option<MacAddress>| address.filter(|a| !a.is_group());
    match (control.to_ds(), control.from_ds()) {
        (false, true) => (unicast(frame.receiver()), frame.transmitter()),
        (true, _) => (frame.transmitter(), unicast(frame.receiver())),
        (false, false) => (frame.transmitter(), unicast(frame.address3())),
    }
}

/// Octets of cipher in a frame that stays closed, by its security header.
fn assumed_overhead(body: &[u8]) -> usize {
    match Protection::parse(body, true) {
        Ok(Protection::Wep { .. }) => CipherSuite::Wep104.frame_octets(),
        Ok(Protection::Tkip { .. }) => CipherSuite::Tkip.frame_octets(),
        Ok(Protection::Aes { .. }) => CipherSuite::Ccmp128.frame_octets(),
        Err(_) => 0,
    }
}

fn place(number: u64) -> (usize, u32) {
    ((number / 64) as usize, (number % 64) as u32)
}
