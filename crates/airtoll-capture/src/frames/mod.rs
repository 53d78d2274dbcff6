//! Frame by frame: takes frames in the order of the capture, opens them, and hands their content to
//! sessions, keyring and ledger; counts.
//!
//! `content` reads plaintext; `fragments` and `datagrams` put MSDUs and datagrams together
//! before that. Keeps no frame: a frame that a later key may open is marked by one bit.

mod content;
mod datagrams;
mod fragments;

use std::path::PathBuf;

use airtoll_security::CipherSuite;
use airtoll_wire::MacAddress;
use airtoll_wire::ieee80211::frame::management_subtype as subtype;
use airtoll_wire::ieee80211::{Frame, FrameControl, Kind, Protection};

use self::content::{Found, Roles};
use self::datagrams::Datagrams;
use self::fragments::Fragments;
use crate::decrypt::bip::Bip;
use crate::decrypt::replay::Verdict;
use crate::decrypt::{Keyring, LinkEnds, Undecrypted};
use crate::file::Damage;
use crate::keys::SkippedKey;
use crate::ledger::{Entry, Kind as LedgerKind, Ledger, Measured, Parts};
use crate::link::Radio;
use crate::report::{AccessPointReport, Around, Counts, LinkTypes, Report};
use crate::request::{Request, Window};
use crate::selection::{Listed, Selection};
use crate::session::report::MultiLinkReport;
use crate::session::{DataFrame, SessionReport, Sessions};
use crate::slot::{Slot, SlotKind};
use crate::tunnels::Tunnels;

/// Outcome of a frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// Not protected, or no 802.11 frame.
    Clear,
    /// Protected and opened.
    Decrypted,
    /// Protected and closed.
    Closed(Undecrypted),
}

impl Status {
    /// The status in words.
    pub const fn words(self) -> &'static str {
        match self {
            Self::Clear => "clear",
            Self::Decrypted => "decrypted",
            Self::Closed(reason) => reason.words(),
        }
    }
}

/// Sees every frame's outcome, in the order of the capture; frames that a later pass opens are
/// seen again with their plaintext.
pub type Watcher<'w> = &'w mut dyn FnMut(&Seen<'_>);

/// One frame, for a watcher of an analysis.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Seen<'a> {
    /// Position in the capture, from 1.
    pub number: u64,
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Clear, opened, or why it stays closed.
    pub status: Status,
    /// A data frame with the protected bit.
    pub protected_data: bool,
    /// EAPOL was found in it.
    pub eapol: bool,
    /// EAP was found in it, in EAPOL or RADIUS.
    pub eap: bool,
    /// Plaintext of an opened frame, without MIC, ICV and Michael's octets.
    pub plain: &'a [u8],
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
    last_ampdu: Option<u32>,
    fragments: Fragments,
    datagrams: Datagrams,
    /// Stations that asked for a router, with their BSS.
    solicitors: Vec<(MacAddress, MacAddress)>,
    /// The group management frame at hand has a MIC that fits.
    bip_fits: bool,
    skipped_keys: Vec<SkippedKey>,
    tunnels: Tunnels,
    window: Window,
    /// The window is not the whole capture.
    windowed: bool,
    /// Counts of the frames on the other side of the window's bounds.
    aside: (Counts, Ledger),
    inside: bool,
    selection: Selection,
    watcher: Option<Watcher<'w>>,
}

/// An 802.11 frame with what its radio header and its place in the capture say.
#[derive(Clone, Copy)]
struct OnAir<'a> {
    slot: &'a Slot,
    octets: &'a [u8],
    /// Octets of the MPDU on the air, without FCS.
    len: usize,
    control: FrameControl,
    measured: Measured,
}

impl OnAir<'_> {
    const fn cut_short(&self) -> bool {
        self.octets.len() < self.len
    }

    fn entry(&self, whole: Option<LedgerKind>) -> Entry {
        Entry {
            time_ns: self.slot.time_ns,
            whole,
            retry: self.control.retry(),
            parts: Parts::default(),
            station: None,
            ap: None,
            from_station: false,
        }
    }
}

/// Longest frame that the ledger believes.
const MOST_OCTETS: usize = 1 << 20;

impl<'w> Frames<'w> {
    /// Nothing seen yet.
    pub fn new(request: &Request, watcher: Option<Watcher<'w>>) -> Self {
        Self {
            keyring: Keyring::new(request.keys.clone()),
            sessions: Sessions::with_owners(&request.owners),
            ledger: Ledger::default(),
            counts: Counts::default(),
            marked: Vec::new(),
            marked_at: None,
            passes: 1,
            first_ns: None,
            last_ampdu: None,
            fragments: Fragments::default(),
            datagrams: Datagrams::default(),
            solicitors: Vec::new(),
            bip_fits: false,
            skipped_keys: request.keys.skipped.clone(),
            tunnels: Tunnels::new(&request.keys),
            window: request.window,
            windowed: request.window.from_ns.is_some() || request.window.until_ns.is_some(),
            aside: (Counts::default(), Ledger::default()),
            inside: true,
            selection: request.selection.clone(),
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
            self.fragments = Fragments::default();
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
        self.first_ns = Some(
            self.first_ns
                .map_or(slot.time_ns, |first| first.min(slot.time_ns)),
        );
        self.turn_aside(slot.time_ns);
        self.sessions.passes(slot.time_ns);
        self.counts.enter(slot);
        let (status, found) = match slot.kind {
            SlotKind::Air { on_air, radio } => self.air(slot, octets, on_air, &radio, plain),
            SlotKind::Wire(wire) => (Status::Clear, self.wire(slot, wire, octets)),
            SlotKind::Other => {
                self.counts.other += 1;
                (Status::Clear, Found::default())
            }
        };
        if status != Status::Decrypted {
            self.watch(slot, octets, status, found, &[]);
        }
    }

    /// Counts frames outside of the window apart.
    #[inline]
    fn turn_aside(&mut self, time_ns: u64) {
        if !self.windowed {
            return;
        }
        let origin_ns = self.first_ns.unwrap_or(time_ns);
        if self.window.holds(time_ns, origin_ns) != self.inside {
            self.inside = !self.inside;
            std::mem::swap(&mut self.counts, &mut self.aside.0);
            std::mem::swap(&mut self.ledger, &mut self.aside.1);
        }
    }

    /// A packet that an earlier pass left closed.
    pub(crate) fn again(&mut self, slot: &Slot, octets: &[u8]) {
        self.turn_aside(slot.time_ns);
        let Ok(frame) = Frame::new(octets) else {
            return;
        };
        let generation = self.keyring.generation();
        match self.keyring.open(&frame) {
            Ok((opened, michael)) => {
                self.mark(slot.number, false);
                let data = frame.control().kind() == Kind::Data;
                self.counts.reopened(data);
                let plain = self.keyring.plaintext(&opened).to_vec();
                let plain = without_michael(&plain, michael);
                let mut found = Found::default();
                if data {
                    found = self.body(slot, &frame, plain, 0);
                    self.count(found);
                    self.reopen(slot, &frame, found);
                } else {
                    self.management(slot, &frame, plain, 0);
                }
                self.watch(slot, octets, Status::Decrypted, found, plain);
            }
            Err(_) => {
                self.marked_at = Some(self.marked_at.map_or(generation, |at| at.min(generation)));
            }
        }
    }

    /// Corrects what was counted of a data frame while it was closed.
    fn reopen(&mut self, slot: &Slot, frame: &Frame<'_>, found: Found) {
        let suite = self.keyring.closed_suite(frame);
        self.counts.reopened_as(suite);
        let SlotKind::Air { on_air, radio } = slot.kind else {
            return;
        };
        let Roles { station, ap } = self.roles(frame);
        let entry = Entry {
            time_ns: slot.time_ns,
            whole: None,
            retry: frame.control().retry(),
            parts: Parts::default(),
            station,
            ap,
            from_station: frame.transmitter() == station,
        };
        let octets = on_air.min(MOST_OCTETS) as u32;
        let inner = found.header_octets.min(frame.body().len()) as u32;
        self.ledger.reopen(&radio, octets, &entry, inner);
    }

    fn watch(&mut self, slot: &Slot, octets: &[u8], status: Status, found: Found, plain: &[u8]) {
        if let Some(watcher) = &mut self.watcher {
            let control = FrameControl::read(octets);
            let air = matches!(slot.kind, SlotKind::Air { .. });
            watcher(&Seen {
                number: slot.number,
                time_ns: slot.time_ns,
                status,
                protected_data: air && control.is_ok_and(is_protected_data),
                eapol: found.eapol,
                eap: found.eap,
                plain,
            });
        }
    }

    fn air(
        &mut self,
        slot: &Slot,
        octets: &[u8],
        on_air: usize,
        radio: &Radio,
        plain: Option<&[u8]>,
    ) -> (Status, Found) {
        let control = match FrameControl::read(octets) {
            Ok(control) if control.version() == 0 => control,
            _ => {
                self.counts.other += 1;
                return (Status::Clear, Found::default());
            }
        };
        let continued = radio.ampdu.is_some() && radio.ampdu == self.last_ampdu;
        self.last_ampdu = radio.ampdu;
        let len = on_air.min(MOST_OCTETS);
        let frame = OnAir {
            slot,
            octets,
            len: on_air,
            control,
            measured: self.ledger.measure(radio, len as u32, continued),
        };
        match control.kind() {
            Kind::Management => (self.management_frame(&frame), Found::default()),
            Kind::Data => self.data_frame(&frame, plain),
            Kind::Control | Kind::Extension => {
                self.counts.control += 1;
                let entry = frame.entry(Some(LedgerKind::Control));
                self.ledger.enter(&frame.measured, &entry);
                (Status::Clear, Found::default())
            }
        }
    }

    fn management_frame(&mut self, on_air: &OnAir<'_>) -> Status {
        self.counts.management += 1;
        let (slot, control) = (on_air.slot, on_air.control);
        let mut entry = on_air.entry(Some(LedgerKind::Management));
        let frame = Frame::new(on_air.octets);
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
        self.ledger.enter(&on_air.measured, &entry);
        let airtime_ns = on_air.measured.time_ns();
        if !control.protected() {
            if let Ok(frame) = &frame {
                self.bip_fits = false;
                if !on_air.cut_short()
                    && let Some(outcome) = self.keyring.check_bip(frame)
                {
                    *self.counts.bip.entry(outcome).or_default() += 1;
                    self.bip_fits = outcome == Bip::Fits;
                }
                self.management(slot, frame, frame.body(), airtime_ns);
            }
            return Status::Clear;
        }
        self.counts.protected_mgmt += 1;
        let Ok(frame) = frame else {
            return self.closed(slot, Undecrypted::NoBody, false);
        };
        if on_air.cut_short() {
            return self.closed(slot, Undecrypted::CutShort, false);
        }
        if control.subtype() == subtype::AUTHENTICATION {
            self.closed_authentication(slot, &frame, airtime_ns);
        }
        match self.keyring.open(&frame) {
            Ok((opened, _)) => {
                self.counts.decrypted_mgmt += 1;
                self.note_number(&frame, opened.suite, opened.packet_number, None);
                let plain = self.keyring.plaintext(&opened).to_vec();
                self.management(slot, &frame, &plain, airtime_ns);
                let status = Status::Decrypted;
                self.watch(slot, on_air.octets, status, Found::default(), &plain);
                status
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

    fn data_frame(&mut self, on_air: &OnAir<'_>, batch: Option<&[u8]>) -> (Status, Found) {
        let (slot, control) = (on_air.slot, on_air.control);
        self.counts.data += 1;
        self.counts.four_addresses += u64::from(control.to_ds() && control.from_ds());
        if control.protected() {
            self.counts.protected += 1;
        }
        let Ok(frame) = Frame::new(on_air.octets) else {
            let entry = on_air.entry(Some(LedgerKind::Control));
            self.ledger.enter(&on_air.measured, &entry);
            let status = if control.protected() {
                self.closed(slot, Undecrypted::CutShort, true)
            } else {
                Status::Clear
            };
            return (status, Found::default());
        };
        let Roles { station, ap } = self.roles(&frame);
        let airtime_ns = on_air.measured.time_ns();
        let mut found = Found::default();
        let mut security = 0;
        let mut assumed = None;
        let status = if !control.protected() {
            if control.carries_data() {
                found = self.body(slot, &frame, frame.body(), airtime_ns);
            }
            Status::Clear
        } else if let Some(plain) = batch {
            let (suite, tag) = self.batch_suite(&frame);
            security = suite.mpdu_octets();
            self.counts.decrypted += 1;
            self.note_number(&frame, suite, ccmp_packet_number(frame.body()), Some(tag));
            found = self.body(slot, &frame, plain, airtime_ns);
            self.note_cipher(station, ap, suite);
            self.watch(slot, on_air.octets, Status::Decrypted, found, plain);
            Status::Decrypted
        } else {
            assumed = self.keyring.closed_suite(&frame);
            security =
                assumed.map_or_else(|| assumed_overhead(frame.body()), CipherSuite::frame_octets);
            if on_air.cut_short() {
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
                        self.note_number(&frame, opened.suite, opened.packet_number, None);
                        let plain = self.keyring.plaintext(&opened).to_vec();
                        let plain = without_michael(&plain, michael);
                        // Michael's MIC is behind the last fragment alone.
                        security = if control.more_fragments() {
                            opened.suite.mpdu_octets()
                        } else {
                            opened.suite.frame_octets()
                        };
                        found = self.body(slot, &frame, plain, airtime_ns);
                        self.note_cipher(station, ap, opened.suite);
                        self.watch(slot, on_air.octets, Status::Decrypted, found, plain);
                        Status::Decrypted
                    }
                    Err(reason) => self.closed(slot, reason, true),
                }
            }
        };
        if let (Status::Closed(_), true) = (status, control.carries_data()) {
            self.counts.closed_as(assumed);
        }
        self.count(found);
        if control.carries_data()
            && !found.eapol
            && let (Some(station), Some(bssid)) = (station, ap)
            && (control.to_ds() || control.from_ds() || self.keyring.bss(bssid).is_some())
        {
            let from_station = frame.transmitter() == Some(station);
            let LinkEnds { station, bssid } = self.keyring.associated(station, bssid);
            self.sessions.data(&DataFrame {
                time_ns: slot.time_ns,
                frame: slot.frame,
                station,
                bssid,
                from_station,
                protected: control.protected(),
            });
        }
        let whole = match (found.eapol, control.carries_data()) {
            (true, _) => Some(LedgerKind::KeyExchange),
            (false, true) => None,
            (false, false) => Some(LedgerKind::Control),
        };
        let mut entry = on_air.entry(whole);
        (entry.station, entry.ap) = (station, ap);
        entry.from_station = station.is_some() && frame.transmitter() == station;
        let header_len = frame.header_len();
        let body = on_air.len.saturating_sub(header_len);
        let security = security.min(body);
        let headers = found.header_octets.min(body - security);
        entry.parts = Parts {
            headers: (header_len + headers) as u32,
            inner: headers as u32,
            security: security as u32,
            payload: (body - security - headers).min(MOST_OCTETS) as u32,
        };
        self.ledger.enter(&on_air.measured, &entry);
        (status, found)
    }

    /// Suite and tag of the key that a batch opened a frame with.
    fn batch_suite(&self, frame: &Frame<'_>) -> (CipherSuite, u32) {
        self.keyring
            .first_ccmp(frame)
            .map_or((CipherSuite::Ccmp128, 0), |key| (key.suite(), key.tag()))
    }

    fn note_number(
        &mut self,
        frame: &Frame<'_>,
        suite: CipherSuite,
        number: u64,
        tag: Option<u32>,
    ) {
        match self.keyring.replays.verdict(frame, suite, number, tag) {
            Verdict::Fresh => {}
            Verdict::Replay => self.counts.replays += 1,
            Verdict::OutOfOrder => self.counts.out_of_order += 1,
        }
    }

    fn note_cipher(
        &mut self,
        station: Option<MacAddress>,
        ap: Option<MacAddress>,
        suite: CipherSuite,
    ) {
        let roles = self.associated(Roles { station, ap });
        if let (Some(station), Some(ap)) = (roles.station, roles.ap) {
            self.sessions.opened(station, ap, suite);
        }
    }

    fn count(&mut self, found: Found) {
        self.counts.eapol_frames += u64::from(found.eapol);
        self.counts.eap_frames += u64::from(found.eap);
    }

    /// Keeps a list of the joins that end.
    pub(crate) fn watch_sessions(&mut self) {
        self.sessions.watch();
    }

    /// The joins that ended since the last call.
    pub(crate) fn take_news(&mut self) -> Vec<SessionReport> {
        let mut sessions = self.sessions.take_news(self.first_ns.unwrap_or(0));
        self.name_links(&mut sessions);
        sessions
    }

    /// Says which sessions are multi-link associations.
    fn name_links(&self, sessions: &mut [SessionReport]) {
        for session in sessions {
            let ends = (session.station.parse(), session.bssid.parse());
            if let (Ok(station), Ok(bssid)) = ends {
                let known = self.keyring.association(station, bssid);
                session.multi_link = known.map(|one| MultiLinkReport::of(&one));
            }
        }
    }

    /// The report.
    pub(crate) fn into_report(
        mut self,
        files: &[PathBuf],
        damage: Vec<Damage>,
        links: LinkTypes,
    ) -> Report {
        let first_ns = self.first_ns.unwrap_or(0);
        if !self.inside {
            std::mem::swap(&mut self.counts, &mut self.aside.0);
            std::mem::swap(&mut self.ledger, &mut self.aside.1);
        }
        self.counts.tunnels = self.tunnels.report.clone();
        let mut sessions = self.sessions.report(first_ns);
        self.name_links(&mut sessions);
        let window = self.window;
        sessions.retain(|session| window.holds(session.first_ns(), first_ns));
        let roams = self.sessions.roams(first_ns);
        let left_out = self.sessions.left_out();
        let mut access_points: Vec<_> = self
            .keyring
            .announced()
            .map(|(address, bss)| AccessPointReport::of(address, bss))
            .collect();
        access_points.sort_by(|a, b| a.bssid.cmp(&b.bssid));
        Report::new(
            files,
            &self.counts,
            first_ns,
            Listed::of(sessions, left_out, &self.selection),
            self.ledger.report(),
            Around {
                damages: damage,
                roams,
                links,
                access_points,
                skipped_keys: self.skipped_keys,
            },
        )
    }
}

impl Keyring {
    /// The CCMP key that a batch should try on a protected data frame, if it has one.
    pub(crate) fn batch_key(&self, mpdu: &[u8]) -> Option<&airtoll_security::link::ccmp::CcmpKey> {
        let control = FrameControl::read(mpdu).ok()?;
        if !is_protected_data(control) || !control.carries_data() {
            return None;
        }
        let frame = Frame::new(mpdu).ok()?;
        self.first_ccmp(&frame)?.ccmp()
    }
}

fn is_protected_data(control: FrameControl) -> bool {
    control.version() == 0 && control.protected() && control.kind() == Kind::Data
}

/// The MSDU in TKIP's plaintext; other ciphers have no Michael.
fn without_michael(plain: &[u8], michael: Option<bool>) -> &[u8] {
    match michael {
        Some(_) => &plain[..plain.len().saturating_sub(8)],
        None => plain,
    }
}

/// The packet number of a CCMP header (IEEE 802.11-2020, 12.5.3.2).
fn ccmp_packet_number(body: &[u8]) -> u64 {
    match body.first_chunk::<8>() {
        Some([n0, n1, _, _, n2, n3, n4, n5]) => {
            u64::from_le_bytes([*n0, *n1, *n2, *n3, *n4, *n5, 0, 0])
        }
        None => 0,
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
