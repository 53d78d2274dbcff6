//! Sessions: takes the negotiation frames of (station, BSS) pairs in order, gives timelines: the
//! join, the rekeys, the end; the suites agreed on; who kept whom waiting.
//!
//! `timeline` follows one session, `channels` keeps the operating channels of its handshakes, [`steps`] holds its frames, [`waits`] splits its time,
//! [`report`] prints. Tables are bounded; what does not fit is counted. Of data frames only the
//! first ones of a session and hand-overs are kept.

mod channels;
pub mod report;
pub mod steps;
mod timeline;
pub mod waits;

use std::net::IpAddr;

use airtoll_security::CipherSuite;
use airtoll_wire::MacAddress;
use airtoll_wire::dhcp::DhcpView;
use airtoll_wire::eap::Code;
use airtoll_wire::ieee80211::{OciRepr, RsnRepr};
use rustc_hash::{FxHashMap, FxHashSet};

pub use self::report::{RoamReport, SessionReport};
use self::steps::Protocol;
pub use self::steps::{FrameNumber, Sequence};
use self::timeline::{End, Part, Session};
use self::waits::Served;
use crate::decrypt::keyring::{LinkEnds, MAX_ENTRIES, PairKey, pair_of};
use crate::dissect::{Eap, RadiusPacket};

/// Most sessions that are kept; further ones are counted only.
const MAX_SESSIONS: usize = 20_000;
/// Probes further back than this do not belong to an authentication.
const PROBE_WINDOW_NS: u64 = 10_000_000_000;
/// An unfinished attempt that was silent for so long is over.
const GIVEN_UP_NS: u64 = 30_000_000_000;
/// A frame this close to the one before goes on with it.
const GOES_ON_NS: u64 = 1_000_000_000;
/// An answer of DHCP or neighbour discovery later than this renews an address.
const ANSWER_NS: u64 = 120_000_000_000;
/// Data frames further apart than this are no stream.
const IDLE_NS: u64 = 1_000_000_000;
/// Data flow steadily after so many frames in so much time without such a pause.
const STEADY_FRAMES: u32 = 10;
const STEADY_NS: u64 = 2_000_000_000;
/// A station whose data flowed searches for a new AP no longer than this.
const INTERRUPTED_NS: u64 = 10_000_000_000;
/// Most frames of a host's own interface that wait for the address of its peer.
const MAX_WAITING: usize = 64;

/// One negotiation frame.
#[derive(Debug, Clone)]
pub struct Event {
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Where the frame stands.
    pub frame: FrameNumber,
    /// Time on air.
    pub airtime_ns: u64,
    /// Octets on air.
    pub octets: u32,
    /// The client.
    pub station: MacAddress,
    /// The AP.
    pub bssid: MacAddress,
    /// The client sent it.
    pub from_station: bool,
    /// Sequence number of the MAC header, by which a retransmission is known; `None` on a wire, and for
    /// messages of tunnels, which are compared whole.
    pub sequence: Option<Sequence>,
    /// The frame was encrypted.
    pub protected: bool,
    /// The frame was captured on a wire or a host, not on the air.
    pub wired: bool,
    /// The operating channel that its sender names.
    pub channel: Option<OciRepr>,
    /// Frequency at which the frame was captured, MHz.
    pub heard_mhz: Option<u16>,
    /// Kind of the frame.
    pub step: Step,
}

/// A message of the 4-way handshake.
#[derive(Debug, Clone)]
pub struct KeyMessage {
    /// 1 to 4.
    pub number: u8,
    /// Replay counter.
    pub replay_counter: u64,
    /// Descriptor of WPA (version 1).
    pub wpa: bool,
    /// Suites that a message 2 names.
    pub choice: Option<Box<RsnRepr>>,
}

/// Kind of a negotiation frame.
#[derive(Debug, Clone)]
pub enum Step {
    /// Probe request or response.
    Probe,
    /// Authentication: algorithm, transaction, status.
    Authentication(u16, u16, u16),
    /// (Re)association request.
    AssociationRequest {
        /// The station's choice of suites.
        choice: Option<Box<RsnRepr>>,
        /// Whether the WPA element makes the choice.
        wpa: bool,
        /// Privacy bit of the capability field.
        privacy: bool,
    },
    /// (Re)association response with its status.
    AssociationResponse(u16),
    /// EAPOL-Start.
    Start,
    /// EAPOL-Logoff.
    Logoff,
    /// EAP in EAPOL.
    Eap(Eap),
    /// Message of the 4-way handshake.
    FourWay(KeyMessage),
    /// Message of the group key handshake; whether its descriptor is that of WPA; replay counter.
    Group(u8, bool, u64),
    /// Key of dynamic WEP, with its octets.
    DynamicWep(u16),
    /// Request by the station for a new key, or report of a MIC failure.
    KeyRequest,
    /// EAPOL of another type.
    OtherEapol,
    /// EAPOL for another AP of the network (EtherType 88-C7).
    PreAuthentication,
    /// FT action frame.
    FtAction,
    /// Deauthentication (true) or disassociation, with reason.
    Leave(bool, u16),
    /// A message that sets a tunnel or a binding up, through the BSS or on a wire, with the opcode of
    /// OpenVPN.
    Tunnel(Protocol, u8),
}

/// Parameters that the BSS announces, used where the station's choice was not captured.
#[derive(Debug, Clone, Default)]
pub struct Announced {
    /// SSID.
    pub ssid: Vec<u8>,
    /// RSN or WPA element.
    pub rsn: Option<RsnRepr>,
    /// Privacy bit; `None` if no beacon was seen.
    pub privacy: Option<bool>,
}

/// A data frame of a station.
#[derive(Debug, Clone, Copy)]
pub struct DataFrame {
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Where the frame stands.
    pub frame: FrameNumber,
    /// The client.
    pub station: MacAddress,
    /// The AP.
    pub bssid: MacAddress,
    /// The client sent it.
    pub from_station: bool,
    /// Protected bit.
    pub protected: bool,
}

/// A deauthentication or disassociation for all stations of a BSS.
#[derive(Debug, Clone, Copy)]
pub struct LeaveAll {
    /// Nanoseconds since the epoch.
    pub time_ns: u64,
    /// Where the frame stands.
    pub frame: FrameNumber,
    /// The BSS.
    pub bssid: MacAddress,
    /// Deauthentication, not disassociation.
    pub deauthentication: bool,
    /// Reason code.
    pub code: u16,
}

/// All sessions of a capture.
#[derive(Default)]
pub struct Sessions {
    list: Vec<Session>,
    current: FxHashMap<PairKey, usize>,
    probes: FxHashMap<u64, Probes>,
    left_out: u64,
    clients: FxHashMap<u64, Client>,
    roams: Vec<Roam>,
    served: Served,
    /// The pair that was told last, and not heard negotiating since.
    last_opened: Option<(PairKey, CipherSuite)>,
    /// Stations by the addresses of their IP packets.
    owners: FxHashMap<IpAddr, MacAddress>,
    /// Digests of datagrams that were counted, each with its station.
    datagrams: FxHashSet<(u64, u64)>,
    /// Stations that asked for a mobility agent, in order.
    solicitors: Vec<MacAddress>,
    hosts: Hosts,
    /// Sessions of each BSS that a deauthentication for all its stations would end.
    of_bss: FxHashMap<u64, Vec<usize>>,
    /// Addresses that announce a BSS.
    announced: FxHashSet<u64>,
    /// Kept while the capture goes on.
    live: Option<Live>,
}

/// News for a watcher of a capture that goes on.
#[derive(Debug, Default)]
struct Live {
    /// Sessions whose join ended since they were taken last.
    news: Vec<usize>,
    /// Sessions whose join goes on.
    open: Vec<usize>,
    now_ns: u64,
    /// When `open` was looked through last.
    looked_ns: u64,
}

#[derive(Debug, Clone, Copy, Default)]
struct Probes {
    first_ns: u64,
    last_ns: u64,
    frames: u32,
    octets: u64,
}

/// A station: the BSS of its data and its newest session.
#[derive(Debug, Clone, Copy, Default)]
struct Client {
    /// BSS of the last data frame.
    bssid: Option<MacAddress>,
    last_ns: u64,
    /// Data frames through `bssid` since the last silence, and the first of them.
    frames: u32,
    since_ns: u64,
    /// A data frame of `bssid` itself was heard.
    heard: bool,
    session: Option<usize>,
    /// Session at `bssid`, to tell data of a new BSS from what the old one still sends.
    at: Option<usize>,
}

impl Client {
    /// Data through a BSS.
    fn carries(&mut self, data: &DataFrame) {
        let moves = self.bssid != Some(data.bssid);
        if moves || data.time_ns.saturating_sub(self.last_ns) > IDLE_NS {
            self.frames = 0;
            self.since_ns = data.time_ns;
        }
        self.heard = !data.from_station || self.heard && !moves;
        self.bssid = Some(data.bssid);
        self.last_ns = data.time_ns;
        self.frames = self.frames.saturating_add(1);
    }

    /// Whether its data flowed without a pause before they stopped.
    const fn is_steady(&self) -> bool {
        self.frames >= STEADY_FRAMES && self.last_ns.saturating_sub(self.since_ns) >= STEADY_NS
    }
}

#[derive(Debug, Clone, Copy)]
struct Roam {
    station: MacAddress,
    from: MacAddress,
    to: MacAddress,
    time_ns: u64,
    /// Last data frame before to first one after.
    silence_ns: u64,
    /// Of the silence: time in which the station could have sent.
    idle_ns: u64,
    frame: FrameNumber,
    session: usize,
}

/// Of the silence around a hand-over, the time in which the station had nothing to send: before it asked
/// the new AP, and after it was let in. A short pause is part of the hand-over, and so is a longer one of
/// a station whose data flowed steadily until then.
fn idle_ns(client: &Client, join: &timeline::Join, first_ns: u64, time_ns: u64) -> u64 {
    let before = join
        .asked
        .unwrap_or(first_ns)
        .saturating_sub(client.last_ns);
    let after = join
        .done
        .map_or(0, |done| time_ns.saturating_sub(done.max(client.last_ns)));
    let steady = client.is_steady();
    let idle = |pause: u64| {
        let interrupts = pause <= IDLE_NS || steady && pause <= INTERRUPTED_NS;
        if interrupts { 0 } else { pause }
    };
    let silence = time_ns.saturating_sub(client.last_ns);
    idle(before).saturating_add(idle(after)).min(silence)
}

/// Interfaces of hosts: whose they are follows from what they send.
#[derive(Debug, Default)]
struct Hosts {
    /// AP of a station, as its frames on Ethernet or in a cooked capture show it.
    peers: FxHashMap<u64, MacAddress>,
    stations: FxHashMap<u64, MacAddress>,
    waiting: Vec<Event>,
}

/// Destination of EAPOL on Ethernet, and "not known" (IEEE 802.1X-2020, table 11-1).
const PAE_GROUP: MacAddress = MacAddress([0x01, 0x80, 0xc2, 0x00, 0x00, 0x03]);

impl Sessions {
    /// Stations that own these addresses; addresses are not learnt then.
    pub fn with_owners(owners: &[(IpAddr, MacAddress)]) -> Self {
        Self {
            owners: owners.iter().copied().collect(),
            ..Self::default()
        }
    }

    /// Keeps a list of joins that ended, for [`Sessions::take_news`].
    pub fn watch(&mut self) {
        self.live = Some(Live::default());
    }

    /// Enters a negotiation frame.
    pub fn enter(&mut self, event: &Event, announced: &Announced) {
        if matches!(event.step, Step::Probe) {
            self.probe(event);
            return;
        }
        let key = pair_of(event.station, event.bssid);
        self.last_opened = None;
        let begins = match self.current.get(&key) {
            None => true,
            Some(index) => begins(&self.list[*index], event),
        };
        if begins && !self.begin(key, event) {
            return;
        }
        let Some(index) = self.current.get(&key).copied() else {
            return;
        };
        let served_ns = match event.step {
            Step::Eap(_) if !event.from_station => self.served.take(event.station),
            _ => None,
        };
        let session = &mut self.list[index];
        session.enter(event, announced, served_ns);
        let tells = session.connected && session.join.done.is_some()
            || session.failed
            || session.end.is_some();
        if tells && !session.told {
            session.told = true;
            if let Some(live) = &mut self.live {
                live.news.push(index);
            }
        }
        self.list_in_bss(index);
    }

    /// Puts a session among those that a deauthentication for all stations of its BSS ends.
    #[inline]
    fn list_in_bss(&mut self, index: usize) {
        let session = &mut self.list[index];
        if !session.listed && session.end.is_none() {
            session.listed = true;
            let bssid = session.bssid.to_u64();
            self.of_bss.entry(bssid).or_default().push(index);
        }
    }

    /// Begins a session; `false` if the frame belongs to none.
    fn begin(&mut self, key: PairKey, event: &Event) -> bool {
        if matches!(event.step, Step::Tunnel(..) | Step::Leave(..)) {
            return false;
        }
        if self.list.len() >= MAX_SESSIONS && self.live.is_some() {
            self.forget_half();
        }
        if self.list.len() >= MAX_SESSIONS {
            // An answer alone is none of the attempts that a flood is made of.
            self.left_out += u64::from(event.from_station);
            self.current.remove(&key);
            return false;
        }
        let mut session = Session {
            station: event.station,
            bssid: event.bssid,
            first_ns: event.time_ns,
            first_frame: event.frame,
            wired: event.wired,
            ..Session::default()
        };
        if let Some(probes) = self.probes.remove(&event.station.to_u64())
            && event.time_ns.saturating_sub(probes.last_ns) < PROBE_WINDOW_NS
        {
            session.first_ns = probes.first_ns.min(event.time_ns);
            session.join.phases[0] = Part {
                first_ns: probes.first_ns,
                last_ns: probes.last_ns,
                frames: probes.frames,
                octets: probes.octets,
            };
            session.messages[Protocol::Probe as usize] = probes.frames;
        }
        let index = self.list.len();
        self.current.insert(key, index);
        self.list.push(session);
        if let Some(live) = &mut self.live {
            live.open.push(index);
        }
        if self.clients.len() < MAX_ENTRIES || self.clients.contains_key(&event.station.to_u64()) {
            let client = self.clients.entry(event.station.to_u64()).or_default();
            client.session = Some(index);
        }
        true
    }

    /// Enters EAPOL of a wire: the message tells which end is the station. Frames to the group
    /// address, or with one address only, wait until the other end has sent.
    pub fn enter_wired(
        &mut self,
        mut event: Event,
        from: MacAddress,
        to: Option<MacAddress>,
        announced: &Announced,
    ) {
        let from_station = match &event.step {
            Step::Start | Step::Logoff => true,
            Step::Eap(eap) => eap.code == Some(Code::Response),
            Step::FourWay(key) => matches!(key.number, 2 | 4),
            Step::Group(number, ..) => *number == 2,
            Step::KeyRequest => true,
            Step::DynamicWep(_) => false,
            _ => return,
        };
        if from.is_group() {
            return;
        }
        event.from_station = from_station;
        event.wired = true;
        let table = if from_station {
            &self.hosts.peers
        } else {
            &self.hosts.stations
        };
        let other = to
            .filter(|to| !to.is_group())
            .or_else(|| table.get(&from.to_u64()).copied());
        let (station, bssid) = if from_station {
            (from, other.unwrap_or(PAE_GROUP))
        } else {
            (other.unwrap_or(PAE_GROUP), from)
        };
        (event.station, event.bssid) = (station, bssid);
        if other.is_none() {
            self.wait_for_peer(event);
        } else {
            self.enter_between(event, LinkEnds { station, bssid }, announced);
        }
    }

    /// Enters EAPOL of a wire whose ends, station and AP, are known, and what waited for them.
    fn enter_between(&mut self, mut event: Event, ends: LinkEnds, announced: &Announced) {
        let LinkEnds { station, bssid } = ends;
        (event.station, event.bssid) = (station, bssid);
        if self
            .current
            .get(&pair_of(station, bssid))
            .is_some_and(|index| !self.list[*index].wired)
        {
            // The air shows this session already.
            return;
        }
        if self.hosts.peers.len() < MAX_ENTRIES {
            self.hosts.peers.insert(station.to_u64(), bssid);
            self.hosts.stations.insert(bssid.to_u64(), station);
        }
        let mut waiting = std::mem::take(&mut self.hosts.waiting);
        waiting.retain_mut(|early| {
            let fits = if early.from_station {
                early.station == station
            } else {
                early.bssid == bssid
            };
            if fits {
                (early.station, early.bssid) = (station, bssid);
                self.enter(early, announced);
            }
            !fits
        });
        self.hosts.waiting = waiting;
        self.enter(&event, announced);
    }

    /// A cooked capture names the sender only: the two ends of a host's interface are the one
    /// that sends and the one that is received from.
    fn wait_for_peer(&mut self, event: Event) {
        let end = |event: &Event| {
            if event.from_station {
                event.station
            } else {
                event.bssid
            }
        };
        let early = self
            .hosts
            .waiting
            .iter()
            .rfind(|early| early.from_station != event.from_station);
        if let Some(early) = early {
            let (own, other) = (end(&event), end(early));
            let (station, bssid) = if event.from_station {
                (own, other)
            } else {
                (other, own)
            };
            let ends = LinkEnds { station, bssid };
            self.enter_between(event, ends, &Announced::default());
        } else if self.hosts.waiting.len() < MAX_WAITING {
            self.hosts.waiting.push(event);
        }
    }

    /// Enters a data frame: the first one of a session, and one through another AP, which is a
    /// roam.
    pub fn data(&mut self, data: &DataFrame) {
        // Test frames of some cards have the card's own address everywhere.
        if data.station == data.bssid {
            return;
        }
        let Some(client) = self.clients.get_mut(&data.station.to_u64()) else {
            if self.clients.len() < MAX_ENTRIES {
                let mut client = Client::default();
                client.carries(data);
                self.clients.insert(data.station.to_u64(), client);
            }
            return;
        };
        let newest = client
            .session
            .filter(|index| self.list[*index].bssid == data.bssid);
        if let Some(index) = newest {
            let session = &mut self.list[index];
            session.data(data.time_ns, data.protected, data.from_station);
            if client.bssid == Some(data.bssid) {
                client.carries(data);
                client.at = newest;
            } else if session.carries_data(data.protected) {
                if let Some(from) = client.bssid
                    && (client.heard
                        || client.at.is_some()
                        || self.announced.contains(&from.to_u64()))
                    && self.roams.len() < MAX_SESSIONS
                {
                    let silence_ns = data.time_ns.saturating_sub(client.last_ns);
                    self.roams.push(Roam {
                        station: data.station,
                        from,
                        to: data.bssid,
                        time_ns: data.time_ns,
                        silence_ns,
                        idle_ns: idle_ns(client, &session.join, session.first_ns, data.time_ns),
                        frame: data.frame,
                        session: index,
                    });
                }
                client.carries(data);
                client.at = newest;
            }
            self.list_in_bss(index);
            return;
        }
        // A station that asks another AP still sends by the old one; the old AP may go on sending
        // to a station that has left.
        let leaves = client.session.is_some() && client.session != client.at;
        if client.bssid == Some(data.bssid) {
            if !leaves || data.from_station {
                client.carries(data);
            }
            if let Some(at) = client.at {
                self.list[at].data(data.time_ns, data.protected, data.from_station);
                self.list_in_bss(at);
            }
        } else if client.bssid.is_none() {
            client.carries(data);
        }
    }

    /// An address announces a BSS.
    pub fn announces(&mut self, bssid: MacAddress) {
        if self.announced.len() < MAX_ENTRIES {
            self.announced.insert(bssid.to_u64());
        }
    }

    /// A deauthentication or disassociation for all stations of a BSS; `proven`: its MIC fits.
    pub fn leave_all(&mut self, leave: &LeaveAll, proven: bool) {
        for index in self
            .of_bss
            .remove(&leave.bssid.to_u64())
            .unwrap_or_default()
        {
            let session = &mut self.list[index];
            session.listed = false;
            session.leave_all(
                End {
                    time_ns: leave.time_ns,
                    frame: leave.frame,
                    from_station: false,
                    deauthentication: leave.deauthentication,
                    code: leave.code,
                    to_all: true,
                },
                proven,
            );
        }
    }

    /// A DHCP message of a station.
    pub fn dhcp(&mut self, time_ns: u64, station: MacAddress, message: &DhcpView, wired: bool) {
        let client = self.clients.get(&station.to_u64());
        if let Some(index) = client.and_then(|client| client.session) {
            let seen = &mut self.list[index].dhcp[usize::from(wired)];
            seen.enter(message.message, message.transaction, time_ns);
        }
    }

    /// A server answered the station's question for an address or a router.
    pub fn answered(&mut self, time_ns: u64, station: MacAddress) {
        let client = self.clients.get(&station.to_u64());
        if let Some(index) = client.and_then(|client| client.session) {
            let session = &mut self.list[index];
            let waits_since = session.join.done.unwrap_or(session.first_ns);
            if session.join.first_answer.is_none()
                && time_ns.saturating_sub(waits_since) < ANSWER_NS
            {
                session.join.first_answer = Some(time_ns);
            }
        }
    }

    /// Learns whose an IP address is, unless the owners were given.
    pub fn learn_owner(&mut self, address: IpAddr, station: MacAddress) {
        if self.owners.len() < MAX_ENTRIES && !address.is_unspecified() {
            self.owners.entry(address).or_insert(station);
        }
    }

    /// The station that owns an address.
    pub fn owner(&self, address: IpAddr) -> Option<MacAddress> {
        self.owners.get(&address).copied()
    }

    /// Whether a datagram with this digest is seen for the first time at a station: one that was sent
    /// again, or that the capture of another link holds too, negotiates nothing. Two stations may be its
    /// ends, and it is a message of both.
    pub fn is_new(&mut self, digest: u64, station: MacAddress) -> bool {
        if self.datagrams.len() >= MAX_ENTRIES {
            self.datagrams.clear();
        }
        self.datagrams.insert((digest, station.to_u64()))
    }

    /// A tunnel's message of a station, seen on a wire.
    pub fn tunnel(&mut self, event: &mut Event, announced: &Announced) {
        let client = self.clients.get(&event.station.to_u64());
        if let Some(index) = client.and_then(|client| client.session) {
            event.bssid = self.list[index].bssid;
            self.enter(event, announced);
        }
    }

    /// A station asks for a mobility agent.
    pub fn solicits(&mut self, station: MacAddress) {
        if !self.solicitors.contains(&station) && self.solicitors.len() < MAX_WAITING {
            self.solicitors.push(station);
        }
    }

    /// The stations that wait for an advertisement, which answers them all.
    pub fn take_solicitors(&mut self) -> Vec<MacAddress> {
        std::mem::take(&mut self.solicitors)
    }

    /// The cipher that opened a unicast frame of this pair: what WEP's size is only seen by, which
    /// of several suites was chosen, and proof that both sides have their keys.
    pub fn opened(&mut self, station: MacAddress, bssid: MacAddress, suite: CipherSuite) {
        let pair = pair_of(station, bssid);
        if self.last_opened == Some((pair, suite)) {
            return;
        }
        self.last_opened = Some((pair, suite));
        if let Some(index) = self.current.get(&pair) {
            self.list[*index].opened(suite);
        }
    }

    /// A RADIUS packet of a wire that belongs to some station's EAP.
    pub fn radius(&mut self, time_ns: u64, frame: FrameNumber, packet: &RadiusPacket) {
        self.served.enter(time_ns, frame, packet);
    }

    fn probe(&mut self, event: &Event) {
        let full = self.probes.len() >= MAX_ENTRIES;
        let key = event.station.to_u64();
        if full && !self.probes.contains_key(&key) {
            self.probes.clear();
        }
        let probes = self.probes.entry(key).or_default();
        if probes.frames == 0 || event.time_ns.saturating_sub(probes.last_ns) > PROBE_WINDOW_NS {
            *probes = Probes {
                first_ns: event.time_ns,
                ..Probes::default()
            };
        }
        probes.last_ns = event.time_ns;
        probes.frames = probes.frames.saturating_add(1);
        probes.octets += u64::from(event.octets);
    }

    /// Reports of the sessions whose join ended since the last call, or that were silent for too
    /// long; times count from `origin_ns`.
    pub fn take_news(&mut self, origin_ns: u64) -> Vec<SessionReport> {
        let Some(live) = &mut self.live else {
            return Vec::new();
        };
        if live.now_ns.saturating_sub(live.looked_ns) > GOES_ON_NS {
            live.looked_ns = live.now_ns;
            let (list, now) = (&mut self.list, live.now_ns);
            let news = &mut live.news;
            live.open.retain(|index| {
                let session = &mut list[*index];
                if !session.told && now.saturating_sub(session.last_ns) > GIVEN_UP_NS {
                    session.told = true;
                    news.push(*index);
                }
                !session.told
            });
        }
        let news = std::mem::take(&mut live.news);
        let report = |index: usize| {
            let session = &self.list[index];
            let exchange = self.served.during(session.station, session.span());
            session.report(origin_ns, exchange)
        };
        news.into_iter().map(report).collect()
    }

    /// The capture has come to this instant.
    pub fn passes(&mut self, time_ns: u64) {
        if let Some(live) = &mut self.live {
            live.now_ns = live.now_ns.max(time_ns);
        }
    }

    /// Forgets the older half of the sessions, which a watcher was told of.
    fn forget_half(&mut self) {
        let gone = self.list.len() / 2;
        self.list.drain(..gone);
        let moved = |index: &mut usize| match index.checked_sub(gone) {
            Some(new) => {
                *index = new;
                true
            }
            None => false,
        };
        self.current.retain(|_, index| moved(index));
        let kept = |index: usize| index.checked_sub(gone);
        self.clients.retain(|_, client| {
            client.session = client.session.and_then(kept);
            client.at = client.at.and_then(kept);
            client.session.is_some()
        });
        self.roams.retain_mut(|roam| moved(&mut roam.session));
        self.of_bss.retain(|_, sessions| {
            sessions.retain_mut(moved);
            !sessions.is_empty()
        });
        if let Some(live) = &mut self.live {
            live.news.retain_mut(moved);
            live.open.retain_mut(moved);
        }
    }

    /// Sessions for reports, in order of their first frame. Times count from `origin_ns`.
    pub fn report(&mut self, origin_ns: u64) -> Vec<SessionReport> {
        let mut list: Vec<_> = self.list.iter_mut().collect();
        list.sort_by_key(|session| session.first_ns);
        let mut told: FxHashSet<(u64, u64)> = FxHashSet::default();
        let mut reports: Vec<SessionReport> = list
            .into_iter()
            .map(|session| {
                let exchange = self.served.during(session.station, session.span());
                if let Some(exchange) = exchange {
                    told.insert((session.station.to_u64(), exchange.first_ns));
                }
                let marks = std::mem::take(&mut session.marks);
                let mut report = session.report(origin_ns, exchange);
                report.steps.marks = marks;
                report
            })
            .collect();
        let mut alone: Vec<_> = self
            .served
            .exchanges()
            .filter(|(station, one)| !told.contains(&(station.to_u64(), one.first_ns)))
            .collect();
        if !alone.is_empty() {
            alone.sort_by_key(|(station, one)| (one.first_ns, station.to_u64()));
            reports.extend(
                alone
                    .iter()
                    .map(|(station, one)| report::of_exchange(*station, one, origin_ns)),
            );
            reports.sort_by(|a, b| a.at_s.total_cmp(&b.at_s));
        }
        reports
    }

    /// Roams for reports.
    pub fn roams(&self, origin_ns: u64) -> Vec<RoamReport> {
        let seconds = |part: &Part| {
            (part.frames > 0).then(|| part.last_ns.saturating_sub(part.first_ns) as f64 / 1e9)
        };
        self.roams
            .iter()
            .map(|roam| {
                let join = &self.list[roam.session].join;
                let negotiated = Protocol::ALL
                    .into_iter()
                    .filter(|protocol| protocol.negotiates())
                    .filter(|protocol| join.messages[*protocol as usize] > 0)
                    .map(Protocol::name)
                    .collect();
                RoamReport {
                    station: roam.station.to_string(),
                    from: roam.from.to_string(),
                    to: roam.to.to_string(),
                    at_s: steps::since(roam.time_ns, origin_ns),
                    frame: roam.frame.number,
                    handover_gap_s: (roam.silence_ns - roam.idle_ns) as f64 / 1e9,
                    silence_s: roam.silence_ns as f64 / 1e9,
                    idle_s: roam.idle_ns as f64 / 1e9,
                    handover_association_s: join
                        .asked
                        .zip(join.associated)
                        .map(|(asked, done)| done.saturating_sub(asked) as f64 / 1e9),
                    handover_eap_s: seconds(&join.phases[3]),
                    handover_keys_s: seconds(&join.phases[4]),
                    negotiated,
                }
            })
            .collect()
    }

    /// Sessions that did not fit.
    pub const fn left_out(&self) -> u64 {
        self.left_out
    }
}

/// Whether a frame begins a new session of its pair.
fn begins(session: &Session, event: &Event) -> bool {
    let idle = event.time_ns.saturating_sub(session.last_ns);
    let goes_on = !session.connected && idle < GOES_ON_NS;
    let over = session.is_over() || !session.is_associated() && idle > GIVEN_UP_NS;
    // A frame heard before is no new attempt, whichever way it was heard again.
    let mut heard = session.heard;
    if let Some(sequence) = event.sequence
        && heard.enter(
            event.from_station,
            sequence,
            event.time_ns,
            event.frame.file,
        )
    {
        return false;
    }
    match &event.step {
        Step::Authentication(_, 1, status) if event.from_station => {
            matches!(status, 0 | 126 | 127) && (over || session.is_associated())
        }
        // The first frame of the attempt was not captured.
        Step::Authentication(..) => over && !goes_on || session.is_associated(),
        Step::AssociationRequest { .. } => {
            over && !goes_on
                || session.join.key_whole
                || session.is_associated() && idle > GOES_ON_NS
        }
        Step::AssociationResponse(0) => {
            over && !goes_on || session.is_associated() && idle > GOES_ON_NS
        }
        Step::FourWay(key) => {
            let anew = !event.protected && session.is_of_another_attempt(key, idle);
            anew || key.number != 4 && over && !goes_on
        }
        Step::Start | Step::Eap(_) => {
            over && !goes_on
                || session.join.key_whole
                    && session.protected()
                    && !event.protected
                    && idle > GOES_ON_NS
        }
        _ => false,
    }
}
