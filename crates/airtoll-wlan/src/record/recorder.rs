//! The recorder: asks the world what a transmission was, has its octets composed, and hands them to
//! the sink. Keeps each MPDU until it leaves its sender's window, because it is encrypted once and
//! repeated as it is.

use std::collections::{BTreeMap, HashMap, VecDeque};

use airtoll_engine::Streams;
use airtoll_handshakes::Negotiation;
use airtoll_phy::TxVector;
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};
use airtoll_wire::MacAddress;
use airtoll_wire::ethernet::EthernetRepr;

use super::cipher::{GroupIntegrity, LinkCipher};
use super::frame::{self, Beacon, DataFrame, Msdu, Network, PRIVACY};
use super::radio::{self, Frequency};
use super::tunnel::{self, TunnelDirection};
use super::{Medium, Sink, advertising, packet, resolving, signal};
use crate::address;
use crate::mac::aggregation::Mpdu;
use crate::mac::mode;
use crate::medium::channel::{FrameKind, Transmission};
use crate::net::resolution::ETHERNET_MINIMUM;
use crate::packet::{NONE, Packet, PacketId};
use crate::scenario::{Bss, Role, Scenario};
use crate::world::World;

/// Composes what a trial carries and gives it to a sink.
pub(crate) struct Recorder {
    pub(super) sink: Box<dyn Sink>,
    /// Interface and frequency of each channel.
    air: Vec<(u32, Frequency)>,
    /// Interface of each direction of a wire.
    wires: Vec<u32>,
    /// MPDUs of each link by rising sequence number.
    links: Vec<VecDeque<Composed>>,
    /// By transmitter and receiver; by access point and [`NONE`] those of groups.
    pub(super) ciphers: HashMap<(u32, u32), LinkCipher>,
    /// By access point.
    pub(super) integrity: HashMap<u32, GroupIntegrity>,
    /// By node and number of its tunnel.
    pub(super) tunnels: HashMap<(u32, u32), TunnelDirection>,
    /// Tunnels that a station has agreed on.
    pub(super) agreed_tunnels: HashMap<u32, usize>,
    /// Where in its packet a fragment begins.
    offsets: HashMap<PacketId, (u32, u32)>,
    /// By access point.
    cells: BTreeMap<u32, Cell>,
    ppdus: u32,
    scratch: Vec<u8>,
}

/// An MSDU or A-MSDU as it travels: one MPDU without FCS, or the pieces of a fragmented one.
struct Composed {
    sequence: u32,
    mpdus: Vec<Vec<u8>>,
    /// Pieces that were sent.
    sent: usize,
}

/// What the beacons of an access point say.
struct Cell {
    network: Network,
    rates: Vec<u8>,
    beacons: u32,
}

/// What a frame on the air looks like from outside.
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
/// Network name where nothing else is agreed on.
const SSID: &[u8] = b"airtoll";

impl Recorder {
    /// A recorder for the world of `scenario`. Draws keys for all links and tunnels that are there
    /// from the start.
    pub fn new(scenario: &Scenario, world: &World, streams: &Streams, sink: Box<dyn Sink>) -> Self {
        let mut recorder = Self {
            sink,
            air: Vec::new(),
            wires: Vec::new(),
            links: world
                .stack
                .lower
                .mac
                .links
                .iter()
                .map(|_| VecDeque::new())
                .collect(),
            ciphers: HashMap::new(),
            integrity: HashMap::new(),
            tunnels: HashMap::new(),
            agreed_tunnels: HashMap::new(),
            offsets: HashMap::new(),
            cells: BTreeMap::new(),
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
            recorder.wires.extend([interface; 2]);
        }
        recorder.add_cells(scenario, world);
        recorder.draw_link_keys(scenario, world, streams);
        recorder.draw_tunnel_keys(world, streams);
        recorder
    }

    fn add_cells(&mut self, scenario: &Scenario, world: &World) {
        for (node, access_point) in scenario.nodes.iter().enumerate() {
            let bss = scenario
                .bss
                .iter()
                .find(|b| Some(&b.name) == access_point.bss.as_ref());
            let (Role::AccessPoint, Some(bss)) = (access_point.role, bss) else {
                continue;
            };
            let first = scenario
                .nodes
                .iter()
                .enumerate()
                .filter(|(_, n)| n.role == Role::Station && n.bss == access_point.bss)
                .find_map(|(station, _)| world.join.negotiation(station as u32));
            let network = match first.map(Negotiation::link) {
                Some(link) => Network {
                    ssid: link.ssid.clone(),
                    elements: [
                        link.security_element(&[]),
                        link.mobility_element(),
                        link.extension_element(),
                    ]
                    .concat(),
                    privacy: link.capability() & PRIVACY != 0,
                },
                None => Network {
                    ssid: SSID.to_vec(),
                    elements: Vec::new(),
                    privacy: access_point.cipher != CipherSuite::Open,
                },
            };
            let cell = Cell {
                network,
                rates: supported_rates(bss),
                beacons: 0,
            };
            self.cells.insert(node as u32, cell);
        }
    }

    /// A fragment of a packet was made, whose octets begin at `offset` of the packet's body.
    pub fn fragment(&mut self, piece: PacketId, group: u32, offset: u32) {
        self.offsets.insert(piece, (group, offset));
    }

    /// A transmission ended.
    pub fn transmission(&mut self, world: &World, t: &Transmission, clashes: &[(u32, Instant)]) {
        let owner = world.stack.lower.mac.contenders[t.contender as usize].node;
        let (receiver, vector) = match t.kind {
            FrameKind::Beacon => {
                let Some(plan) = world.stack.lower.mac.nodes[t.node as usize].beacon else {
                    return;
                };
                (None, plan.vector)
            }
            kind => {
                let exchange = &world.stack.lower.mac.exchanges[t.contender as usize];
                let mode = &world.stack.lower.mac.modes[exchange.mode as usize];
                let peer = world.stack.lower.mac.links[exchange.link as usize].peer;
                match kind {
                    FrameKind::Data => (Some(peer), mode.vector),
                    FrameKind::Group => (None, mode.vector),
                    FrameKind::BlockAckReq => (Some(peer), mode.response),
                    FrameKind::Response => (Some(owner), mode.response),
                    FrameKind::Rts => (Some(peer), mode.guard),
                    FrameKind::Cts => (Some(owner), mode.guard),
                    FrameKind::CtsToSelf | FrameKind::Beacon => (None, mode.guard),
                }
            }
        };
        let decoded = match receiver {
            Some(at) => world.reception(t, clashes, at).is_some(),
            None => clashes.is_empty(),
        };
        let heard_by = receiver.unwrap_or_else(|| {
            let first = world.stack.lower.mac.nodes[t.node as usize].first_link;
            world
                .stack
                .lower
                .mac
                .links
                .get(first as usize)
                .map_or(t.node, |l| l.peer)
        });
        let heard = Heard {
            vector,
            start: t.start,
            end: t.end,
            signal: world.stack.lower.medium.radio.power(t.node, heard_by),
        };
        let channel = world.stack.lower.mac.contenders[t.contender as usize].channel;
        let duration = microseconds(t.protects);
        let ends = (world.mac(receiver.unwrap_or(t.node)), world.mac(t.node));
        if matches!(t.kind, FrameKind::Data | FrameKind::Group) {
            self.data(world, t.contender, channel, &heard, duration, decoded);
            return;
        }
        if !decoded {
            return;
        }
        let mut out = std::mem::take(&mut self.scratch);
        out.clear();
        radio::header(
            &heard.vector,
            self.air[channel as usize].1,
            heard.start,
            heard.signal,
            None,
            &mut out,
        );
        let header = out.len();
        match t.kind {
            FrameKind::Rts => frame::rts(duration, ends.0, ends.1, &mut out),
            FrameKind::Cts | FrameKind::CtsToSelf => frame::cts(duration, ends.0, &mut out),
            FrameKind::BlockAckReq => {
                let exchange = &world.stack.lower.mac.exchanges[t.contender as usize];
                let link = &world.stack.lower.mac.links[exchange.link as usize];
                let first = link
                    .window
                    .front()
                    .map_or(link.next_sequence, |m| m.sequence);
                let tid = tid(world, t.contender);
                frame::block_ack_request(duration, ends, tid, first, &mut out);
            }
            FrameKind::Response => response(world, t.contender, ends, duration, &mut out),
            FrameKind::Beacon => self.beacon(world, t, channel, &mut out),
            FrameKind::Data | FrameKind::Group => {}
        }
        self.emit(channel, heard.end, header, &mut out);
        self.scratch = out;
    }

    /// Ends a frame with its FCS and gives it away.
    fn emit(&mut self, channel: u32, at: Instant, header: usize, out: &mut Vec<u8>) {
        let check = crc32fast::hash(&out[header..]);
        out.extend_from_slice(&check.to_le_bytes());
        self.sink.packet(self.air[channel as usize].0, at, out);
    }

    fn beacon(&mut self, world: &World, t: &Transmission, channel: u32, out: &mut Vec<u8>) {
        let (Some(plan), Some(cell)) = (
            world.stack.lower.mac.nodes[t.node as usize].beacon,
            self.cells.get_mut(&t.node),
        ) else {
            return;
        };
        cell.beacons += 1;
        let number = (plan.ssids - plan.waiting % plan.ssids) % plan.ssids;
        let mut network = cell.network.clone();
        if number > 0 {
            network
                .ssid
                .extend_from_slice(format!("-{number}").as_bytes());
        }
        let beacon = Beacon {
            bssid: address::bssid(t.node, number),
            sequence: cell.beacons,
            time_us: t.start.as_nanos() / 1_000,
            interval_tu: (plan.interval.as_nanos() / 1_024_000) as u16,
            channel: self.air[channel as usize].1.number(),
            rates: &cell.rates,
            octets: plan.octets as usize,
        };
        out.extend_from_slice(&beacon.compose(&network));
    }

    fn data(
        &mut self,
        world: &World,
        contender: u32,
        channel: u32,
        heard: &Heard,
        duration: u16,
        decoded: bool,
    ) {
        let exchange = &world.stack.lower.mac.exchanges[contender as usize];
        let number = exchange.link;
        let link = &world.stack.lower.mac.links[number as usize];
        let front = link.window.front().map_or(0, |m| m.sequence);
        while self.links[number as usize]
            .front()
            .is_some_and(|c| c.sequence < front)
        {
            self.links[number as usize].pop_front();
        }
        self.ppdus += u32::from(exchange.aggregate);
        let mut left = exchange.count;
        let mut out = std::mem::take(&mut self.scratch);
        let flying = link
            .window
            .iter()
            .take_while(|m| m.in_flight || m.acknowledged)
            .filter(|m| m.in_flight);
        for mpdu in flying {
            let kept = &self.links[number as usize];
            let at = kept.partition_point(|c| c.sequence < mpdu.sequence);
            if kept.get(at).is_none_or(|c| c.sequence != mpdu.sequence) {
                let mpdus = self.compose(world, contender, number, mpdu);
                let composed = Composed {
                    sequence: mpdu.sequence,
                    mpdus,
                    sent: 0,
                };
                self.links[number as usize].insert(at, composed);
            }
            left = left.saturating_sub(1);
            let kept = &mut self.links[number as usize][at];
            let piece = mpdu.pieces.map_or(0, |p| p.at as usize);
            let retry = piece < kept.sent;
            kept.sent = kept.sent.max(piece + 1);
            if !decoded {
                continue;
            }
            out.clear();
            radio::header(
                &heard.vector,
                self.air[channel as usize].1,
                heard.start,
                heard.signal,
                exchange.aggregate.then_some((self.ppdus, left == 0)),
                &mut out,
            );
            let header = out.len();
            let octets = self.links[number as usize][at].mpdus.get(piece);
            debug_assert_eq!(octets.map(|o| o.len() + 4), Some(mpdu.octets as usize));
            out.extend_from_slice(octets.map_or(&[], |o| &o[..]));
            frame::dress(&mut out[header..], duration, retry);
            self.emit(channel, heard.end, header, &mut out);
        }
        self.scratch = out;
    }

    /// The MPDU, or all pieces of a fragmented MSDU.
    fn compose(&mut self, world: &World, contender: u32, number: u32, mpdu: &Mpdu) -> Vec<Vec<u8>> {
        let link = &world.stack.lower.mac.links[number as usize];
        let group = link.group && !link.signalling;
        let peer = if group { NONE } else { link.peer };
        let header = DataFrame {
            transmitter: world.mac(link.from),
            receiver: if group {
                to_group(world, &world.stack.lower.cx.packets[mpdu.head])
            } else {
                world.mac(peer)
            },
            down: world.stack.net.nodes[link.from as usize].role == Role::AccessPoint,
            four_address: link.four_address,
            tid: link.qos.then(|| tid(world, contender)),
            sequence: mpdu.sequence,
        };
        if link.signalling {
            let cipher = self.ciphers.get_mut(&(link.from, link.peer));
            let packet = &world.stack.lower.cx.packets[mpdu.head];
            let groups = link
                .group
                .then(|| self.integrity.get_mut(&link.from))
                .flatten();
            return vec![signal::frame(world, packet, &header, cipher, groups)];
        }
        let mut msdus = Vec::new();
        let mut id = mpdu.head;
        while id != NONE {
            let p = world.stack.lower.cx.packets[id];
            msdus.push(self.msdu(world, id, &p));
            id = p.next;
        }
        let cipher = self.ciphers.get_mut(&(link.from, peer));
        match (&mpdu.pieces, msdus.as_slice()) {
            (Some(_), [msdu]) => header.compose_pieces(msdu, link.division.piece as usize, cipher),
            _ => vec![header.compose(&msdus, cipher)],
        }
    }

    fn msdu(&self, world: &World, id: PacketId, p: &Packet) -> Msdu {
        if p.resolves() {
            return resolving::msdu(world, p);
        }
        if p.advertises() {
            return advertising::msdu(world, p);
        }
        let (ethertype, payload) = match signal::ahead(world, p) {
            Some(beside) => beside,
            None => {
                let packet = self.ip_packet(world, id, p);
                let six = packet[0] >> 4 == 6;
                (if six { IPV6 } else { IPV4 }, packet)
            }
        };
        Msdu {
            destination: world.mac(p.to),
            source: source(world, p),
            ethertype,
            payload,
        }
    }

    /// The IP packet as it travels: in its tunnels, and cut where it was fragmented.
    fn ip_packet(&self, world: &World, id: PacketId, p: &Packet) -> Vec<u8> {
        self.layered(world, id, p, false)
    }

    /// The same; `fragile` says that its outermost header may be cut again.
    fn layered(&self, world: &World, id: PacketId, p: &Packet, fragile: bool) -> Vec<u8> {
        if p.under != NONE {
            let inner = self.layered(world, id, &world.inside(p), false);
            let direction = self.tunnels.get(&(p.entered, p.end));
            let outer = match direction.and_then(|d| d.encapsulate(&inner, p.number, fragile)) {
                Some(outer) => outer,
                None => tunnel::ip_in_ip(&inner, (p.entered, p.to), p.number, fragile),
            };
            debug_assert_eq!(outer.len(), p.ip_octets as usize);
            return outer;
        }
        if p.group == NONE {
            return packet::octets(world, p, fragile);
        }
        let whole = world.stack.net.fragments[p.group].whole;
        let octets = self.layered(world, NONE, &whole, true);
        let offset = match self.offsets.get(&id) {
            Some((group, offset)) if *group == p.group => *offset,
            _ => 0,
        };
        let number = if whole.entered == NONE {
            whole.mark
        } else {
            whole.number
        };
        packet::piece(&octets, number, offset as usize, p.ip_octets as usize)
    }

    /// A packet arrived at the end of a wire.
    pub fn wired(&mut self, world: &World, wire: u32, id: PacketId, at: Instant) {
        let p = world.stack.lower.cx.packets[id];
        let mut msdu = self.msdu(world, id, &p);
        if p.resolves() {
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
        self.sink.packet(self.wires[wire as usize], at, &out);
        self.scratch = out;
    }
}

/// Where a group-addressed frame goes.
fn to_group(world: &World, p: &Packet) -> MacAddress {
    if p.advertises() {
        return advertising::ALL_SYSTEMS;
    }
    resolving::destination(world, p)
}

/// MAC address of the node that put a packet onto the network.
fn source(world: &World, p: &Packet) -> MacAddress {
    if p.entered != NONE {
        return world.mac(p.entered);
    }
    if p.flow == NONE {
        return world.mac(world.join.ends(p.mark).0);
    }
    world.mac(packet::ends(&world.stack.flow.flows[p.flow as usize], p.reverse).0)
}

fn tid(world: &World, contender: u32) -> u8 {
    let rank = world.stack.lower.mac.contenders[contender as usize].rank;
    TIDS[usize::from(rank.min(3))]
}

/// The answer to the frames of an exchange.
fn response(
    world: &World,
    contender: u32,
    ends: (MacAddress, MacAddress),
    duration: u16,
    out: &mut Vec<u8>,
) {
    let exchange = &world.stack.lower.mac.exchanges[contender as usize];
    if !exchange.aggregate {
        frame::ack(duration, ends.0, out);
        return;
    }
    let link = &world.stack.lower.mac.links[exchange.link as usize];
    let window = world.stack.lower.mac.modes[exchange.mode as usize].window;
    let first = link
        .window
        .front()
        .map_or(link.next_sequence, |m| m.sequence);
    let received = link
        .window
        .iter()
        .filter(|m| m.received)
        .map(|m| m.sequence);
    frame::block_ack(ends, tid(world, contender), window, first, received, out);
}

fn microseconds(span: Duration) -> u16 {
    span.as_nanos().div_ceil(1_000).min(32_767) as u16
}

/// Supported rates of a BSS in 500 kb/s, the basic ones with bit 7 (IEEE 802.11-2020, 9.4.2.3).
pub(crate) fn supported_rates(bss: &Bss) -> Vec<u8> {
    let basic = match &bss.basic_rates_mbps {
        Some(_) => mode::basic_rates(bss, false),
        None => bss.standard.descriptor().basic_rates,
    };
    bss.standard
        .descriptor()
        .announced_rates()
        .map(|rate| {
            let units = (rate.hundred_kbps() / 5) as u8;
            units | if basic.contains(rate) { 0x80 } else { 0 }
        })
        .collect()
}
