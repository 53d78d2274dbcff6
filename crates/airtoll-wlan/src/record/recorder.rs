//! The recorder: reads a transmission from the view, composes its octets, and gives them to the
//! sink. Keeps each MPDU until it leaves its sender's window, because it is encrypted once and
//! repeated as it is.

use std::collections::{BTreeMap, HashMap, VecDeque};

use airtoll_engine::Streams;
use airtoll_handshakes::link::multi_link::{link_address, mld_address};
use airtoll_phy::{OctetSpan, TxVector};
use airtoll_security::CipherSuite;
use airtoll_security::link::mld::LinkAddresses;
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wire::ethernet::EthernetRepr;

use super::View;
use super::cipher::{GroupIntegrity, LinkCipher};
use super::frame::{self, DataFrame, FrameEnds, Msdu, MsduEnds, Replaced};
use super::radio::{self, Frequency};
use super::tunnel::{self, TunnelDirection};
use super::{Medium, Sink, advertising, ip, multicast, packet, power_save, resolving, signal};
use crate::address;
use crate::announce::{self, Announcement, StationPhy};
use crate::id::{
    ChannelId, ContenderId, Ends, LinkId, NodeId, PacketId, Pair, RadioId, Table, TunnelId, WireId,
};
use crate::mac::{Announced, Mpdu};
use crate::medium::{FrameKind, Transmission};
use crate::net::ETHERNET_MINIMUM;
use crate::packet::{Carries, Packet, Sign, Tunnelled};
use crate::scenario::{Role, Scenario};

/// Composes the frames and packets of a trial and gives them to a sink.
pub(crate) struct Recorder {
    pub(super) sink: Box<dyn Sink>,
    /// Interface and frequency of each channel.
    air: Table<ChannelId, (u32, Frequency)>,
    /// Interface of each direction of a wire.
    wires: Table<WireId, u32>,
    /// MPDUs of each link by rising sequence number.
    links: Table<LinkId, VecDeque<Composed>>,
    /// Sequence number of the next frame of a radio that is no QoS data frame with one receiver. Those of
    /// each link are the MAC's own (IEEE 802.11-2020, table 10-5).
    numbers: HashMap<RadioId, u32>,
    /// By transmitter and receiver; by access point and `None` those of groups.
    pub(super) ciphers: HashMap<(RadioId, Option<RadioId>), LinkCipher>,
    /// By access point.
    pub(super) integrity: HashMap<RadioId, GroupIntegrity>,
    /// By access point and number of its network.
    pub(super) beacon_integrity: HashMap<(RadioId, u32), GroupIntegrity>,
    /// By node and number of its tunnel.
    pub(super) tunnels: HashMap<(NodeId, TunnelId), TunnelDirection>,
    /// Tunnels that a station has agreed on.
    pub(super) agreed_tunnels: HashMap<NodeId, usize>,
    /// By access point.
    cells: BTreeMap<RadioId, Cell>,
    /// The PHY of stations that pass by.
    passing: Option<StationPhy>,
    /// Networks of the stations that are not in the first one of their access point.
    networks: HashMap<RadioId, u32>,
    /// Addresses of the radios of multi-link devices, where stations join over several links.
    addresses: HashMap<RadioId, MacAddress>,
    /// Addresses of these devices themselves.
    devices: HashMap<NodeId, MacAddress>,
    ppdus: u32,
    scratch: Vec<u8>,
}

/// An MSDU or A-MSDU as it travels: one MPDU without FCS, or the fragments of an MSDU.
struct Composed {
    sequence: u32,
    mpdus: Vec<Vec<u8>>,
    /// Fragments that were sent.
    sent: usize,
}

/// An access point's beacons.
struct Cell {
    announcement: Announcement,
}

/// A frame on the air as a monitor sees it.
struct Heard {
    vector: TxVector,
    start: Instant,
    end: Instant,
    signal: f64,
}

/// TIDs of the access categories (IEEE 802.11-2020, table 10-1).
const TIDS: [u8; 4] = [1, 0, 5, 6];
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;

impl Recorder {
    /// A recorder for the view of `scenario`. Draws keys for all links and tunnels that are there
    /// from the start.
    pub fn new(
        scenario: &Scenario,
        view: &View<'_>,
        streams: &Streams,
        sink: Box<dyn Sink>,
    ) -> Self {
        let mut recorder = Self {
            sink,
            air: Table::new(),
            wires: Table::new(),
            links: view.mac().links().iter().map(|_| VecDeque::new()).collect(),
            numbers: HashMap::new(),
            ciphers: HashMap::new(),
            integrity: HashMap::new(),
            beacon_integrity: HashMap::new(),
            tunnels: HashMap::new(),
            agreed_tunnels: HashMap::new(),
            cells: BTreeMap::new(),
            passing: scenario.passers_by().and_then(|(passing, _)| {
                let station = scenario.nodes.iter().find(|n| n.is_in(&passing.name))?;
                Some(StationPhy::of(passing, station))
            }),
            networks: HashMap::new(),
            addresses: HashMap::new(),
            devices: HashMap::new(),
            ppdus: 0,
            scratch: Vec::new(),
        };
        let mut numbers: Vec<u32> = scenario.bss.iter().map(|b| b.channel).collect();
        numbers.sort_unstable();
        numbers.dedup();
        for number in numbers {
            if let Some(bss) = scenario.bss.iter().find(|b| b.channel == number) {
                let interface = recorder
                    .sink
                    .interface(Medium::Air, &format!("mon{number}"));
                recorder.air.push((interface, Frequency::of(bss)));
            }
        }
        for link in &scenario.links {
            let name = link.nodes.join("-");
            let interface = recorder.sink.interface(Medium::Wire, &name);
            for _ in 0..2 {
                recorder.wires.push(interface);
            }
        }
        recorder.add_devices(scenario, view);
        recorder.add_cells(scenario, view);
        recorder.draw_beacon_keys(scenario, view, streams);
        recorder.draw_link_keys(scenario, view, streams);
        recorder.draw_tunnel_keys(view, streams);
        recorder
    }

    fn add_cells(&mut self, scenario: &Scenario, view: &View<'_>) {
        for (node, access_point) in view.net().nodes().zip(&scenario.nodes) {
            let bss = scenario
                .bss
                .iter()
                .find(|b| Some(&b.name) == access_point.bss.as_ref());
            if let (Role::Station, Some(bss)) = (access_point.role, bss) {
                let network = announce::network_of(bss, access_point);
                if network > 0 {
                    self.networks.insert(RadioId::first_of(node), network);
                }
            }
            let (Role::AccessPoint, Some(bss)) = (access_point.role, bss) else {
                continue;
            };
            let radios = view.mac().radios_of_device(RadioId::first_of(node));
            let further = access_point.bsss().skip(1);
            let further = further.filter_map(|name| scenario.bss.iter().find(|b| b.name == name));
            for (radio, bss) in radios.into_iter().zip(std::iter::once(bss).chain(further)) {
                let cell = Cell {
                    announcement: Announcement::of(scenario, bss, address::mac(node)),
                };
                self.cells.insert(radio, cell);
            }
        }
    }

    /// Multi-link devices have an address on each link and one of their own, where stations join. Those
    /// that have joined from the start have one for all.
    fn add_devices(&mut self, scenario: &Scenario, view: &View<'_>) {
        if scenario.associations.is_empty() {
            return;
        }
        for (node, device) in view.net().nodes().zip(&scenario.nodes) {
            if device.multi_link.is_empty() {
                continue;
            }
            let own = address::mac(node);
            let radios = view.mac().radios_of_device(RadioId::first_of(node));
            for (radio, bss) in radios.into_iter().zip(device.bsss()) {
                let address = link_address(own, scenario.link_id(bss));
                self.addresses.insert(radio, address);
            }
            self.devices.insert(node, mld_address(own));
        }
    }

    /// The MAC address of a radio.
    pub(super) fn mac_of(&self, view: &View<'_>, radio: RadioId) -> MacAddress {
        let own = self.addresses.get(&radio).copied();
        own.unwrap_or_else(|| view.mac_of(radio))
    }

    /// The MAC address of a host: of a multi-link device its own.
    fn host(&self, node: NodeId) -> MacAddress {
        let own = self.devices.get(&node).copied();
        own.unwrap_or_else(|| address::mac(node))
    }

    /// The addresses of a station and its access point, if the station is a multi-link device.
    pub(super) fn link_addresses(
        &self,
        view: &View<'_>,
        pair: Pair<RadioId>,
    ) -> Option<LinkAddresses> {
        let Pair {
            station,
            access_point,
        } = pair;
        let host = view.medium().host_of(station);
        let station_mld = self.devices.get(&host)?.0;
        Some(LinkAddresses {
            access_point: self.mac_of(view, access_point).0,
            access_point_mld: self.host(view.medium().host_of(access_point)).0,
            station: self.mac_of(view, station).0,
            station_mld,
        })
    }

    /// The radio whose keys protect the beacons of a radio: devices with one address have one key.
    fn beaconing(&self, view: &View<'_>, radio: RadioId) -> RadioId {
        if self.addresses.contains_key(&radio) {
            radio
        } else {
            RadioId::first_of(view.medium().host_of(radio))
        }
    }

    /// Address of a radio in frames that it exchanges with another: an access point has one in each
    /// of its networks.
    fn address(&self, view: &View<'_>, radio: RadioId, other: RadioId) -> MacAddress {
        match self.networks.get(&other) {
            Some(network) if radio != other => {
                address::bssid(view.medium().host_of(radio), *network)
            }
            _ => self.mac_of(view, radio),
        }
    }

    /// Whether a network of an access point is open beside one with OWE.
    pub(super) fn is_open(&self, access_point: RadioId, network: u32) -> bool {
        let cell = self.cells.get(&access_point);
        cell.is_some_and(|cell| cell.announcement.is_open(network))
    }

    /// BIP suite and number of an access point's protected beacons.
    pub(super) fn protected_beacons(&self, access_point: RadioId) -> Option<(CipherSuite, u32)> {
        let announcement = &self.cells.get(&access_point)?.announcement;
        Some((announcement.integrity()?, announcement.beacons()))
    }

    /// A transmission ended.
    pub fn transmission(&mut self, view: &View<'_>, t: &Transmission) {
        let owner = view.mac().node_of(t.contender);
        let (receiver, vector) = match t.kind {
            FrameKind::Beacon => {
                let Some(plan) = view.mac().beacon(t.node) else {
                    return;
                };
                (None, plan.vector)
            }
            kind => {
                let exchange = view.mac().exchange(t.contender);
                let mode = view.mac().mode(exchange.mode());
                let peer = view.mac().link(exchange.link()).ends(exchange.way()).to;
                match kind {
                    FrameKind::CfEnd => {
                        let sent = view.mac().cf_end(t.contender);
                        (None, sent.map_or(*mode.guard(), |cf_end| cf_end.vector))
                    }
                    FrameKind::Data => (Some(peer), *mode.vector()),
                    FrameKind::Group => (None, *mode.vector()),
                    FrameKind::BlockAckReq => (Some(peer), *mode.response()),
                    FrameKind::Response => (Some(owner), *mode.response()),
                    FrameKind::Rts => (Some(peer), *mode.guard()),
                    FrameKind::Cts => {
                        let opening = view.mac().opening(t.contender);
                        (Some(owner), opening.map_or(*mode.guard(), |o| o.cts_vector))
                    }
                    FrameKind::InitialControl => {
                        let opening = view.mac().opening(t.contender);
                        (Some(peer), opening.map_or(*mode.guard(), |o| o.vector))
                    }
                    FrameKind::CtsToSelf | FrameKind::Beacon => (None, *mode.guard()),
                    // A scenario with OFDMA is not recorded.
                    FrameKind::MultiUser
                    | FrameKind::Trigger
                    | FrameKind::Triggered
                    | FrameKind::MultiAck => return,
                }
            }
        };
        let decoded = match receiver {
            Some(at) => view.medium().reception(t, at).is_some(),
            None => !t.overlapped,
        };
        let heard_by = receiver.or_else(|| view.listener(t.node)).unwrap_or(t.node);
        let heard = Heard {
            vector,
            start: t.start,
            end: t.end,
            signal: view.medium().level_of(t, heard_by),
        };
        let channel = view.medium().channel_of(owner);
        let duration = microseconds(t.protects);
        let to = receiver.unwrap_or(t.node);
        let ends = FrameEnds {
            receiver: self.address(view, to, t.node),
            transmitter: self.address(view, t.node, to),
        };
        if matches!(t.kind, FrameKind::Data | FrameKind::Group) {
            self.data(view, t, (receiver, decoded), channel, &heard, duration);
            return;
        }
        if !decoded {
            return;
        }
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        radio::header(
            &heard.vector,
            self.air[channel].1,
            heard.start,
            heard.signal,
            None,
            &mut out,
        );
        let header = out.len();
        match t.kind {
            FrameKind::Rts => frame::rts(duration, ends.receiver, ends.transmitter, &mut out),
            FrameKind::Cts | FrameKind::CtsToSelf => frame::cts(duration, ends.receiver, &mut out),
            FrameKind::InitialControl => {
                if let Some(opening) = view.mac().opening(t.contender) {
                    let mut stations = view
                        .mac()
                        .first_links(RadioId::first_of(view.medium().host_of(owner)));
                    let of_station = |link: LinkId| {
                        let there = view.medium().host_of(view.mac().link(link).peer());
                        there == view.medium().host_of(to)
                    };
                    let number = stations.position(of_station).unwrap_or(0) as u16;
                    frame::mu_rts(duration, ends, (number + 1, opening.octets), &mut out);
                }
            }
            FrameKind::BlockAckReq => {
                let exchange = view.mac().exchange(t.contender);
                let link = view.mac().link(exchange.link());
                let first = link
                    .window()
                    .front()
                    .map_or(link.next_sequence(), Mpdu::sequence);
                let tid = tid(view, t.contender);
                frame::block_ack_request(duration, ends, tid, first, &mut out);
            }
            FrameKind::Response => {
                let receiver = self.answered(view, t).unwrap_or(ends.receiver);
                let ends = FrameEnds { receiver, ..ends };
                response(view, t.contender, ends, duration, &mut out);
            }
            FrameKind::Beacon => self.beacon(view, t, &mut out),
            FrameKind::CfEnd => frame::cf_end(ends.transmitter, &mut out),
            FrameKind::Data
            | FrameKind::Group
            | FrameKind::MultiUser
            | FrameKind::Trigger
            | FrameKind::Triggered
            | FrameKind::MultiAck => {}
        }
        self.emit(channel, heard.end, header, &mut out);
        self.scratch = out;
    }

    /// The address to which a station that passes by acknowledges: that of the network whose response it
    /// got.
    fn answered(&self, view: &View<'_>, t: &Transmission) -> Option<MacAddress> {
        if !view.mac().passes_by(t.node) {
            return None;
        }
        let exchange = view.mac().exchange(t.contender);
        let number = exchange.link();
        let mpdu = view.mac().link(number).flying(exchange.way()).next()?;
        let mut kept = self.links[number].iter();
        let kept = kept.find(|kept| kept.sequence == mpdu.sequence())?;
        let transmitter = kept.mpdus.first()?.get(10..16)?;
        Some(MacAddress(transmitter.try_into().ok()?))
    }

    /// Appends the FCS to a frame and gives it to the sink.
    fn emit(&mut self, channel: ChannelId, at: Instant, header: usize, out: &mut Vec<u8>) {
        let check = crc32fast::hash(&out[header..]);
        out.extend_from_slice(&check.to_le_bytes());
        self.sink.packet(self.air[channel].0, at, out);
    }

    fn beacon(&mut self, view: &View<'_>, t: &Transmission, out: &mut Vec<u8>) {
        let sequence = self.next_number(t.node);
        let (Some(plan), Some(cell)) = (view.mac().beacon(t.node), self.cells.get(&t.node)) else {
            debug_assert!(false, "an access point with beacons is announced");
            return;
        };
        let number = plan.network();
        let time_us = t.start.as_nanos() / 1_000;
        let mut beacon = cell.announcement.beacon(number, sequence, time_us);
        if let Some(held) = view.mac().held(t.node) {
            announce::indicate(&mut beacon, held.indication());
        }
        if view.mac().has_dialogues() {
            announce::list(&mut beacon, view.mac().listed(t.node));
        }
        let keys = (self.beaconing(view, t.node), number);
        let beacon = match self.beacon_integrity.get_mut(&keys) {
            Some(integrity) => integrity.protect(beacon),
            None => beacon,
        };
        out.extend_from_slice(&beacon);
    }

    fn data(
        &mut self,
        view: &View<'_>,
        t: &Transmission,
        (receiver, whole): (Option<RadioId>, bool),
        channel: ChannelId,
        heard: &Heard,
        duration: u16,
    ) {
        let contender = t.contender;
        let exchange = view.mac().exchange(contender);
        let number = exchange.link();
        let link = view.mac().link(number);
        let front = link.window().front().map_or(0, Mpdu::sequence);
        while self.links[number]
            .front()
            .is_some_and(|c| c.sequence < front)
        {
            self.links[number].pop_front();
        }
        self.ppdus += u32::from(exchange.is_aggregate());
        let mut left = exchange.count();
        let spacing = link.spacing(view.mac().mode(exchange.mode()));
        // Each MPDU of an A-MPDU has its own time on the air.
        let parted = receiver.filter(|_| exchange.is_aggregate() && t.overlapped);
        let mut octets_before = 0;
        let mut out = std::mem::take(&mut self.scratch);
        for mpdu in link.flying(exchange.way()) {
            let at = self.keep(view, contender, number, mpdu);
            left = left.saturating_sub(1);
            let kept = &mut self.links[number][at];
            let piece = mpdu.piece().unwrap_or(0) as usize;
            let retry = piece < kept.sent;
            kept.sent = kept.sent.max(piece + 1);
            let decoded = parted.map_or(whole, |at| {
                let octets = OctetSpan {
                    from: octets_before,
                    to: octets_before + spacing.subframe_octets(mpdu.octets()),
                };
                octets_before = octets.to;
                let reception = view.medium().mpdu_reception(t, at, &heard.vector, octets);
                reception.is_some()
            });
            if !decoded {
                continue;
            }
            out.clear();
            radio::header(
                &heard.vector,
                self.air[channel].1,
                heard.start,
                heard.signal,
                exchange.is_aggregate().then_some((self.ppdus, left == 0)),
                &mut out,
            );
            let header = out.len();
            let octets = self.links[number][at].mpdus.get(piece);
            debug_assert_eq!(octets.map(|o| o.len() + 4), Some(mpdu.octets() as usize));
            out.extend_from_slice(octets.map_or(&[], |o| &o[..]));
            frame::dress(&mut out[header..], duration, retry);
            if link.has_several_ways() && !self.addresses.is_empty() {
                let Ends { from, to } = link.ends(exchange.way());
                let ends = [(link.from(), from), (link.peer(), to)];
                let replaced = ends.map(|(old, new)| Replaced {
                    old: self.mac_of(view, old),
                    new: self.mac_of(view, new),
                });
                frame::readdress(&mut out[header..], replaced);
            }
            self.emit(channel, heard.end, header, &mut out);
        }
        self.scratch = out;
    }

    /// Keeps the MPDUs of the PPDU that a contender is sending.
    pub fn keep_ppdu(&mut self, view: &View<'_>, contender: ContenderId) {
        let exchange = view.mac().exchange(contender);
        let number = exchange.link();
        for mpdu in view.mac().link(number).flying(exchange.way()) {
            self.keep(view, contender, number, mpdu);
        }
    }

    /// Keeps an MPDU; gives its place among those of the link.
    fn keep(
        &mut self,
        view: &View<'_>,
        contender: ContenderId,
        number: LinkId,
        mpdu: &Mpdu,
    ) -> usize {
        let kept = &self.links[number];
        let at = kept.partition_point(|c| c.sequence < mpdu.sequence());
        if kept.get(at).is_none_or(|c| c.sequence != mpdu.sequence()) {
            let mpdus = self.compose(view, contender, number, mpdu);
            let composed = Composed {
                sequence: mpdu.sequence(),
                mpdus,
                sent: 0,
            };
            self.links[number].insert(at, composed);
        }
        at
    }

    /// Takes the next sequence number of a radio's frames other than QoS data frames.
    fn next_number(&mut self, radio: RadioId) -> u32 {
        let next = self.numbers.entry(radio).or_default();
        let number = *next;
        *next = next.wrapping_add(1);
        number
    }

    /// The MPDU, or all fragments of an MSDU.
    fn compose(
        &mut self,
        view: &View<'_>,
        contender: ContenderId,
        number: LinkId,
        mpdu: &Mpdu,
    ) -> Vec<Vec<u8>> {
        let link = view.mac().link(number);
        let tid = (link.is_qos() && !signal::is_management(view, &view.packet(mpdu.head())))
            .then(|| tid(view, contender));
        let carries = view.packet(mpdu.head()).carries;
        let sequence = match tid {
            Some(_) => mpdu.sequence(),
            None if matches!(
                carries,
                Carries::PowerSave {
                    sign: Sign::Poll,
                    ..
                }
            ) =>
            {
                0
            }
            None => self.next_number(link.from()),
        };
        let group = link.is_group() && !link.is_signalling();
        let peer = (!group).then_some(link.peer());
        let header = DataFrame {
            transmitter: self.address(view, link.from(), link.peer()),
            receiver: match peer {
                Some(peer) => self.address(view, peer, link.from()),
                None => to_group(view, &view.packet(mpdu.head())),
            },
            down: view.net().role(view.medium().host_of(link.from())) == Role::AccessPoint,
            four_address: link.has_fourth_address(),
            tid,
            sequence,
            dozes: view.mac().stays_in_power_save(link.from()),
            announced: self.announced(view, link.peer(), mpdu),
            packet_number: view.mac().early_number(number, mpdu.head()),
        };
        if let Carries::PowerSave { station, sign } = carries
            && let Some(spoken) = view.mac().spoken(station)
        {
            return vec![power_save::frame(&header, sign, spoken)];
        }
        if let Some(made) = self.probe_frame(view, link.from(), carries, sequence) {
            return vec![made];
        }
        if link.is_signalling() {
            let host = |radio| self.host(view.medium().host_of(radio));
            let ways = [(link.from(), link.peer()), (link.peer(), link.from())];
            let devices = ways.iter().any(|&(station, access_point)| {
                let pair = Pair {
                    station,
                    access_point,
                };
                let station = view.net().role(view.medium().host_of(station)) == Role::Station;
                station && self.link_addresses(view, pair).is_some()
            });
            let ends = if devices {
                MsduEnds {
                    destination: host(link.peer()),
                    source: host(link.from()),
                }
            } else {
                MsduEnds {
                    destination: header.receiver,
                    source: header.transmitter,
                }
            };
            let cipher = self.ciphers.get_mut(&(link.from(), Some(link.peer())));
            let packet = &view.packet(mpdu.head());
            let groups = link
                .is_group()
                .then(|| self.integrity.get_mut(&link.from()))
                .flatten();
            let mut made = signal::frame(view, packet, (&header, ends), cipher, groups);
            if let Some(spoken) = view.mac().spoken(link.peer()) {
                power_save::number(&mut made, spoken.aid);
            }
            return vec![made];
        }
        let mut msdus = Vec::new();
        let mut next = Some(mpdu.head());
        while let Some(id) = next {
            let p = view.packet(id);
            msdus.push(self.msdu(view, &p));
            next = p.next;
        }
        let cipher = self.ciphers.get_mut(&(link.from(), peer));
        match (mpdu.piece(), msdus.as_slice()) {
            (Some(_), [msdu]) => {
                header.compose_pieces(msdu, link.division().piece as usize, cipher)
            }
            _ => vec![header.compose(&msdus, cipher)],
        }
    }

    /// A frame of probe traffic, without FCS.
    fn probe_frame(
        &self,
        view: &View<'_>,
        radio: RadioId,
        carries: Carries,
        sequence: u32,
    ) -> Option<Vec<u8>> {
        match carries {
            Carries::ProbeRequest { probe } => {
                let own = address::passer_by(probe.number);
                Some(self.passing.as_ref()?.wildcard_request(own, sequence))
            }
            Carries::ProbeResponse { probe, network } => {
                let announcement = &self.cells.get(&radio)?.announcement;
                let to = address::passer_by(probe.number);
                let time_us = view.stack.lower.cx.now().as_nanos() / 1_000;
                let said = (sequence, time_us);
                Some(announcement.wildcard_response(u32::from(network), to, said))
            }
            _ => None,
        }
    }

    /// Bits of a frame for a station in power save mode.
    fn announced(&self, view: &View<'_>, station: RadioId, mpdu: &Mpdu) -> Announced {
        if !view.mac().has_dialogues() {
            return Announced::default();
        }
        let mut last = mpdu.head();
        while let Some(next) = view.packet(last).next {
            last = next;
        }
        view.mac().announced(station, last)
    }

    fn msdu(&self, view: &View<'_>, p: &Packet) -> Msdu {
        match p.carries {
            Carries::Request { entry, .. } | Carries::Reply { entry } => {
                return resolving::msdu(view.net().subject(entry), p.asks(), p.ip_octets);
            }
            Carries::Group { source, .. } | Carries::Answer { source } => {
                return multicast::msdu(view, source, p);
            }
            Carries::Advertisement { agent } => return advertising::msdu(view, agent, p),
            _ => {}
        }
        let (ethertype, payload) = match signal::ahead(view, p) {
            Some(beside) => beside,
            None => {
                let packet = self.ip_packet(view, p);
                let six = packet[0] >> 4 == 6;
                (if six { IPV6 } else { IPV4 }, packet)
            }
        };
        Msdu {
            destination: self.host(p.to),
            source: source(view, p).map_or(MacAddress::ZERO, |node| self.host(node)),
            ethertype,
            payload,
        }
    }

    /// The IP packet as it travels: in its tunnels, and cut where it was fragmented.
    fn ip_packet(&self, view: &View<'_>, p: &Packet) -> Vec<u8> {
        self.layered(view, p, false)
    }

    /// The same; `fragile` says that its outermost header may be cut again.
    fn layered(&self, view: &View<'_>, p: &Packet, fragile: bool) -> Vec<u8> {
        if let (Some(tunnelled), Some(inside)) = (p.tunnelled, view.net().inside(p)) {
            let Tunnelled {
                entered,
                tunnel,
                number,
                ..
            } = tunnelled;
            let inner = self.layered(view, &inside, false);
            let direction = self.tunnels.get(&(entered, tunnel));
            let outer = match direction.and_then(|d| d.encapsulate(&inner, number, fragile)) {
                Some(outer) => outer,
                None => {
                    let ends = Ends {
                        from: entered,
                        to: p.to,
                    };
                    tunnel::ip_in_ip(&inner, ends, number, fragile)
                }
            };
            debug_assert_eq!(outer.len(), p.ip_octets as usize);
            return outer;
        }
        let Some(whole) = view.net().whole(p) else {
            return packet::octets(view, p, fragile);
        };
        let octets = self.layered(view, &whole, true);
        let number = whole.tunnelled.map_or(whole.mark(), |t| t.number);
        ip::piece(&octets, number, p.offset as usize, p.ip_octets as usize)
    }

    /// A packet arrived at the end of a wire.
    pub fn wired(&mut self, view: &View<'_>, wire: WireId, id: PacketId) {
        let at = view.stack.lower.cx.now();
        let p = view.packet(id);
        let mut msdu = self.msdu(view, &p);
        if p.resolves() || p.is_group_traffic() {
            let shortest = ETHERNET_MINIMUM as usize;
            msdu.payload.resize(msdu.payload.len().max(shortest), 0);
        }
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        EthernetRepr {
            destination: msdu.destination,
            source: msdu.source,
            ethertype: msdu.ethertype,
            payload: &msdu.payload,
        }
        .emit(&mut out);
        self.sink.packet(self.wires[wire], at, &out);
        self.scratch = out;
    }
}

/// Receiver address of a group-addressed frame.
fn to_group(view: &View<'_>, p: &Packet) -> MacAddress {
    match p.carries {
        Carries::Request { entry, .. } | Carries::Reply { entry } => {
            resolving::destination(view.net().subject(entry), p.asks())
        }
        Carries::Group { source, .. } => multicast::group(view, source),
        _ => advertising::ALL_SYSTEMS,
    }
}

/// The node that put a packet onto the network.
fn source(view: &View<'_>, p: &Packet) -> Option<NodeId> {
    if let (None, Carries::Piece { stream, piece }) = (p.tunnelled, p.carries) {
        let stream = view.join.connection(stream);
        return Some(stream.ends()[stream.piece(piece).from()]);
    }
    match (p.tunnelled, p.flow()) {
        (Some(tunnelled), _) => Some(tunnelled.entered),
        (None, Some(flow)) => Some(view.flow(flow).ends(p.reverse).from),
        (None, None) => p.signal().and_then(|s| Some(view.join.ends(s)?.from)),
    }
}

fn tid(view: &View<'_>, contender: ContenderId) -> u8 {
    TIDS[usize::from(view.mac().category_of(contender))]
}

/// The answer to the frames of an exchange.
fn response(
    view: &View<'_>,
    contender: ContenderId,
    ends: FrameEnds,
    duration: u16,
    out: &mut Vec<u8>,
) {
    let exchange = view.mac().exchange(contender);
    if !exchange.is_aggregate() {
        frame::ack(duration, ends.receiver, out);
        return;
    }
    let link = view.mac().link(exchange.link());
    let window = view.mac().mode(exchange.mode()).window();
    let first = link
        .window()
        .front()
        .map_or(link.next_sequence(), Mpdu::sequence);
    let received = link
        .window()
        .iter()
        .filter(|m| m.is_received())
        .map(Mpdu::sequence);
    frame::block_ack(ends, tid(view, contender), window, first, received, out);
}

fn microseconds(span: Duration) -> u16 {
    span.as_nanos().div_ceil(1_000).min(32_767) as u16
}
