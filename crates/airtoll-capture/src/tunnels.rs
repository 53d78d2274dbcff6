//! Protected packets of wires: takes ESP, IKEv2 and RADIUS packets with keys, counts those whose
//! authenticator fits and the payloads inside IKEv2 messages, and gives the MSK that an Access-Accept
//! carries. Tells WireGuard on other ports by the indices of its handshakes, and cuts the packets of
//! OpenVPN out of TCP.
//!
//! Source: RFC 4303 (ESP), RFC 7296 section 3.14 (IKEv2), RFC 2865 section 3 and RFC 3579 section
//! 3.2 (RADIUS), RFC 2548 section 2.4 (keys in it). Packets without a key are counted apart.

use std::collections::BTreeMap;
use std::net::IpAddr;

use airtoll_security::CipherError;
use airtoll_security::esp::EspKey;
use airtoll_security::ike::IkeKey;
use airtoll_security::keys::mic::KeyMic;
use airtoll_wire::isakmp::{HEADER_OCTETS, parse_payloads, payload};
use airtoll_wire::openvpn;
use airtoll_wire::radius::{RadiusRepr, RadiusView, VENDOR_MICROSOFT, attribute, code};
use airtoll_wire::tcp::TcpRepr;
use md5::{Digest, Md5};
use rustc_hash::{FxHashMap, FxHashSet};
use schemars::JsonSchema;
use serde::Serialize;

use crate::dissect::{IpEnds, RadiusPacket};
use crate::keys::{EspSa, Keys, Secret};

/// Most requests whose answer is waited for.
const MAX_REQUESTS: usize = 1 << 16;
/// Most directions of TCP connections with OpenVPN.
const MAX_STREAMS: usize = 4096;
/// Octets further on than this in TCP's numbers are those of another connection.
const SAME_CONNECTION: u32 = 1 << 24;
/// Length of a RADIUS authenticator.
const AUTHENTICATOR: usize = 16;

/// Packets of one protocol by the outcome of their check.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Checked {
    /// The authenticator fits; ESP packets and IKEv2 messages were decrypted.
    pub verified: u64,
    /// A key is there, and the authenticator does not fit.
    pub failed: u64,
    /// No key was given, or a response without its request.
    pub no_key: u64,
    /// Decrypted under a key whose row names no authenticator that is checked.
    pub unchecked: u64,
}

/// Outcome of a check.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outcome {
    Verified,
    Failed,
    NoKey,
    Unchecked,
}

impl Outcome {
    const fn of(fits: Option<bool>) -> Self {
        match fits {
            Some(true) => Self::Verified,
            Some(false) => Self::Failed,
            None => Self::NoKey,
        }
    }
}

impl Checked {
    fn count(&mut self, outcome: Outcome) {
        *match outcome {
            Outcome::Verified => &mut self.verified,
            Outcome::Failed => &mut self.failed,
            Outcome::NoKey => &mut self.no_key,
            Outcome::Unchecked => &mut self.unchecked,
        } += 1;
    }
}

/// Checks of all protocols.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, JsonSchema)]
pub struct TunnelReport {
    /// ESP packets.
    pub esp: Checked,
    /// Encrypted IKEv2 messages.
    pub ikev2: Checked,
    /// Payloads inside decrypted IKEv2 messages by the notation of RFC 7296 section 3.2; `other`: of
    /// another type; `unreadable`: messages whose checksum fits and whose payloads cannot be read.
    pub ikev2_payloads: BTreeMap<&'static str, u64>,
    /// RADIUS packets.
    pub radius: Checked,
    /// Octets of the packets inside ESP, padding not counted; of nested packets those of each.
    pub esp_inner_octets: u64,
}

/// Keys of tunnels and the state that checks need.
pub(crate) struct Tunnels {
    esp: FxHashMap<u32, Vec<(EspSa, EspKey)>>,
    /// Keys of the initiator's and the responder's messages by both SPIs.
    ike: FxHashMap<([u8; 8], [u8; 8]), (IkeKey, IkeKey)>,
    secrets: Vec<Secret>,
    requests: FxHashMap<(u16, u8), [u8; AUTHENTICATOR]>,
    /// Session indices of WireGuard's initiators and responders, which the other end names as receivers.
    initiators: FxHashSet<[u8; 4]>,
    responders: FxHashSet<[u8; 4]>,
    streams: FxHashMap<Flow, Stream>,
    pub(crate) report: TunnelReport,
}

impl Tunnels {
    pub(crate) fn new(keys: &Keys) -> Self {
        let mut esp: FxHashMap<u32, Vec<(EspSa, EspKey)>> = FxHashMap::default();
        for sa in &keys.esp {
            if let Ok(key) = sa.key() {
                esp.entry(sa.spi).or_default().push((sa.clone(), key));
            }
        }
        let mut ike = FxHashMap::default();
        for sa in &keys.ike {
            if let (Ok(initiator), Ok(responder)) = (sa.key(true), sa.key(false)) {
                ike.insert((sa.initiator, sa.responder), (initiator, responder));
            }
        }
        Self {
            esp,
            ike,
            secrets: keys.radius.clone(),
            requests: FxHashMap::default(),
            initiators: FxHashSet::default(),
            responders: FxHashSet::default(),
            streams: FxHashMap::default(),
            report: TunnelReport::default(),
        }
    }

    /// Checks and opens an ESP packet, from its SPI on; gives the packet inside and its protocol.
    pub(crate) fn esp(&mut self, octets: &[u8], ends: Option<IpEnds>) -> Option<(Vec<u8>, u8)> {
        let spi = octets
            .first_chunk::<4>()
            .map(|four| u32::from_be_bytes(*four));
        let keys = spi.and_then(|spi| self.esp.get(&spi)).into_iter().flatten();
        let (mut outcome, mut inside) = (Outcome::NoKey, None);
        for (sa, key) in keys {
            let meant = |end: Option<IpAddr>, at: Option<IpAddr>| end.is_none() || end == at;
            if !meant(sa.source, ends.map(|ends| ends.from))
                || !meant(sa.destination, ends.map(|ends| ends.to))
            {
                continue;
            }
            let mut packet = octets.to_vec();
            match key.decapsulate(&mut packet) {
                Ok(opened) => {
                    self.report.esp_inner_octets += opened.inner.len() as u64;
                    inside = packet
                        .get(opened.inner)
                        .map(|inner| (inner.to_vec(), opened.next_header));
                    outcome = if opened.checked {
                        Outcome::Verified
                    } else {
                        Outcome::Unchecked
                    };
                    break;
                }
                Err(_) => outcome = Outcome::Failed,
            }
        }
        self.report.esp.count(outcome);
        inside
    }

    /// Checks and decrypts an encrypted IKEv2 message, from its header on.
    pub(crate) fn ike(&mut self, octets: &[u8]) {
        let Some(header) = octets.first_chunk::<HEADER_OCTETS>() else {
            return;
        };
        if header[17] >> 4 != 2 || header[16] != payload::ENCRYPTED {
            return;
        }
        let declared = u32::from_be_bytes([header[24], header[25], header[26], header[27]]);
        let message = octets.get(..declared as usize).unwrap_or(octets);
        let (mut initiator, mut responder) = ([0; 8], [0; 8]);
        initiator.copy_from_slice(&header[..8]);
        responder.copy_from_slice(&header[8..16]);
        let Some((from_initiator, from_responder)) = self.ike.get(&(initiator, responder)) else {
            self.report.ikev2.count(Outcome::NoKey);
            return;
        };
        let key = if header[19] & airtoll_wire::isakmp::flag::INITIATOR != 0 {
            from_initiator
        } else {
            from_responder
        };
        let opened = key.open(message);
        if !matches!(opened, Ok(_) | Err(CipherError::Malformed(_))) {
            self.report.ikev2.count(Outcome::Failed);
            return;
        }
        let checked = !opened.as_ref().is_ok_and(|inside| !inside.checked);
        let payloads = opened
            .ok()
            .and_then(|inside| parse_payloads(inside.first, &inside.payloads).ok());
        // Where nothing is checked, payloads that can be read are all that tells a key from a wrong one.
        self.report.ikev2.count(match (checked, &payloads) {
            (true, _) => Outcome::Verified,
            (false, Some(_)) => Outcome::Unchecked,
            (false, None) => Outcome::Failed,
        });
        if !checked && payloads.is_none() {
            return;
        }
        let names = match &payloads {
            Some(list) => list
                .iter()
                .map(|(kind, _)| payload::notation(*kind).unwrap_or("other"))
                .collect(),
            None => vec!["unreadable"],
        };
        for name in names {
            *self.report.ikev2_payloads.entry(name).or_default() += 1;
        }
    }

    /// Whether a datagram with the form of a message of WireGuard is one: on its own port, an initiation,
    /// or one that names a session of the handshakes before. If so, whether it belongs to a handshake:
    /// initiation, response and cookie reply, and the empty data message by which the initiator confirms
    /// the keys if it has no data (WireGuard paper, sections 5.4 and 6.5).
    pub(crate) fn wireguard(&mut self, octets: &[u8], own_port: bool) -> Option<bool> {
        let index = |at: usize| octets.get(at..at + 4)?.first_chunk::<4>().copied();
        let receiver_at = match octets.first()? {
            2 => 8,
            _ => 4,
        };
        let receiver = index(receiver_at);
        let known = receiver.is_some_and(|index| {
            self.initiators.contains(&index) || self.responders.contains(&index)
        });
        let mut learn = |table: fn(&mut Self) -> &mut FxHashSet<[u8; 4]>| {
            let table = table(self);
            if table.len() >= MAX_REQUESTS {
                table.clear();
            }
            table.extend(index(4));
        };
        match octets {
            [1, 0, 0, 0, ..] => {
                learn(|tunnels| &mut tunnels.initiators);
                Some(true)
            }
            [2, 0, 0, 0, ..] if own_port || known => {
                learn(|tunnels| &mut tunnels.responders);
                Some(true)
            }
            [3, 0, 0, 0, ..] if own_port || known => Some(true),
            // Receiver, counter, tag.
            [4, 0, 0, 0, _, _, _, _, 0, 0, 0, 0, 0, 0, 0, 0, tag @ ..] if own_port || known => {
                let confirms = receiver.is_some_and(|index| self.responders.contains(&index));
                Some(tag.len() == 16 && confirms)
            }
            _ => (own_port || known).then_some(false),
        }
    }

    /// Whether a TCP segment may hold OpenVPN: on its own port, on a connection that is followed, or if it
    /// begins as a client's first packet does.
    pub(crate) fn may_hold_openvpn(&self, segment: &[u8], ends: Option<IpEnds>) -> bool {
        let [a, b, c, d, ..] = *segment else {
            return false;
        };
        let ports = Ports {
            from: u16::from_be_bytes([a, b]),
            to: u16::from_be_bytes([c, d]),
        };
        let header = segment
            .get(12)
            .map_or(0, |octet| usize::from(octet >> 4) * 4);
        ports.of_openvpn()
            || !self.streams.is_empty() && ends.is_some_and(|ends| self.follows(ends, ports))
            || segment.get(header..).is_some_and(begins_openvpn)
    }

    /// Whether either direction of a connection is followed.
    fn follows(&self, ends: IpEnds, ports: Ports) -> bool {
        let IpEnds { from, to } = ends;
        self.streams.contains_key(&(from, ports.from, to, ports.to))
            || self.streams.contains_key(&(to, ports.to, from, ports.from))
    }

    /// The packets of OpenVPN that end in a TCP segment; `None` if the segment is of another protocol. A
    /// connection on another port is known by the client's first packet.
    pub(crate) fn openvpn(
        &mut self,
        segment: &TcpRepr<'_>,
        ends: Option<IpEnds>,
    ) -> Option<Vec<Vec<u8>>> {
        let ends = ends?;
        let ports = Ports {
            from: segment.source,
            to: segment.destination,
        };
        if !ports.of_openvpn() && !self.follows(ends, ports) && !begins_openvpn(segment.payload) {
            return None;
        }
        let flow = (ends.from, ports.from, ends.to, ports.to);
        if self.streams.len() >= MAX_STREAMS && !self.streams.contains_key(&flow) {
            self.streams.clear();
        }
        let stream = self.streams.entry(flow).or_default();
        Some(stream.packets(segment.sequence, segment.payload))
    }

    /// Checks a RADIUS packet; gives the MSK that an Access-Accept carries.
    pub(crate) fn radius(&mut self, packet: &RadiusPacket, octets: &[u8]) -> Option<Secret> {
        let view = RadiusView::new(octets).ok()?;
        let length = HEADER.max(usize::from(u16::from_be_bytes([octets[2], octets[3]])));
        let octets = octets.get(..length)?;
        let place = (packet.client_port, packet.identifier);
        if packet.code == code::ACCESS_REQUEST {
            let own: [u8; AUTHENTICATOR] = view.authenticator().try_into().ok()?;
            if self.requests.len() < MAX_REQUESTS {
                self.requests.insert(place, own);
            }
            let at = view.message_authenticator_at();
            let fits = |secret: &Secret| at.map(|at| mac_fits(secret, octets, at, None));
            let outcome = self
                .secrets
                .iter()
                .map(fits)
                .find(|fit| *fit != Some(false));
            let outcome = outcome.unwrap_or((!self.secrets.is_empty()).then_some(false));
            self.report.radius.count(Outcome::of(outcome));
            return None;
        }
        let Some(request) = self.requests.get(&place).copied() else {
            self.report.radius.count(Outcome::NoKey);
            return None;
        };
        let secret = self.secrets.iter().find(|secret| {
            let at = view.message_authenticator_at();
            response_fits(secret, octets, &request)
                && at.is_none_or(|at| mac_fits(secret, octets, at, Some(&request)))
        });
        let known = !self.secrets.is_empty();
        let fits = known.then_some(secret.is_some());
        self.report.radius.count(Outcome::of(fits));
        if packet.code != code::ACCESS_ACCEPT {
            return None;
        }
        master_key(secret?, octets, &request)
    }
}

const HEADER: usize = airtoll_wire::radius::HEADER_OCTETS;

/// Addresses and ports of a direction of a TCP connection.
type Flow = (IpAddr, u16, IpAddr, u16);

/// TCP ports of the sender and the receiver of a segment.
#[derive(Debug, Clone, Copy)]
struct Ports {
    from: u16,
    to: u16,
}

impl Ports {
    fn of_openvpn(self) -> bool {
        [self.from, self.to].contains(&openvpn::PORT)
    }
}

/// Whether a segment holds a client's first packet of OpenVPN, and no more.
fn begins_openvpn(payload: &[u8]) -> bool {
    let Some((length, packet)) = payload.split_first_chunk::<2>() else {
        return false;
    };
    usize::from(u16::from_be_bytes(*length)) == packet.len()
        && openvpn::control_opcode(packet).is_some_and(openvpn::opcode::begins)
}

/// One direction of a TCP connection with OpenVPN: each packet has its length in front.
#[derive(Debug, Default)]
struct Stream {
    /// Number of the next octet.
    next: Option<u32>,
    /// Octets of a packet whose end is missing.
    held: Vec<u8>,
}

impl Stream {
    /// Takes the octets of a segment; gives the packets that end in it. Octets that were sent again are
    /// left out; behind a gap a packet begins with a segment.
    fn packets(&mut self, sequence: u32, payload: &[u8]) -> Vec<Vec<u8>> {
        let end = sequence.wrapping_add(payload.len() as u32);
        let mut payload = payload;
        if let Some(next) = self.next {
            let behind = next.wrapping_sub(sequence);
            if behind > 0 && behind < SAME_CONNECTION {
                payload = payload.get(behind as usize..).unwrap_or(&[]);
            } else if behind != 0 {
                self.held.clear();
            }
        }
        if payload.is_empty() {
            return Vec::new();
        }
        self.next = Some(end);
        self.held.extend_from_slice(payload);
        let mut packets = Vec::new();
        let mut rest = &self.held[..];
        while let Some((length, after)) = rest.split_first_chunk::<2>() {
            let length = usize::from(u16::from_be_bytes(*length));
            let Some(first) = after.first() else { break };
            if length == 0 || !openvpn::opcode::is_known(first >> 3) {
                // No packet begins here: the next segment may begin one.
                rest = &[];
                break;
            }
            let Some((packet, after)) = after.split_at_checked(length) else {
                break;
            };
            packets.push(packet.to_vec());
            rest = after;
        }
        self.held = rest.to_vec();
        packets
    }
}

/// Message-Authenticator: HMAC-MD5 over the packet with the attribute zeroed, and in a response with
/// the request's authenticator (RFC 3579 section 3.2).
fn mac_fits(secret: &[u8], octets: &[u8], at: usize, request: Option<&[u8; 16]>) -> bool {
    let mut zeroed = octets.to_vec();
    zeroed[at..at + 16].fill(0);
    if let Some(request) = request {
        zeroed[4..HEADER].copy_from_slice(request);
    }
    KeyMic::HmacMd5
        .compute(secret, &[&zeroed])
        .is_ok_and(|mac| mac.as_slice() == &octets[at..at + 16])
}

/// Response Authenticator: MD5 over the packet with the request's authenticator, then the secret
/// (RFC 2865 section 3).
fn response_fits(secret: &[u8], octets: &[u8], request: &[u8; 16]) -> bool {
    let mut hash = Md5::new();
    hash.update(&octets[..4]);
    hash.update(request);
    hash.update(&octets[HEADER..]);
    hash.update(secret);
    hash.finalize()[..] == octets[4..HEADER]
}

/// MSK of an Access-Accept: MS-MPPE-Recv-Key, then MS-MPPE-Send-Key.
fn master_key(secret: &[u8], octets: &[u8], request: &[u8; 16]) -> Option<Secret> {
    let packet = RadiusRepr::parse(octets).ok()?;
    let mut keys = BTreeMap::new();
    for (kind, value) in &packet.attributes {
        if *kind == attribute::VENDOR_SPECIFIC
            && let [a, b, c, d, kind, length, rest @ ..] = &value[..]
            && u32::from_be_bytes([*a, *b, *c, *d]) == VENDOR_MICROSOFT
            && let Some(sealed) = rest.get(..usize::from(*length).saturating_sub(2))
        {
            keys.insert(*kind, opened(secret, request, sealed)?);
        }
    }
    let mut msk = keys.remove(&attribute::MS_MPPE_RECV_KEY)?;
    msk.extend_from_slice(&keys.remove(&attribute::MS_MPPE_SEND_KEY)?);
    (msk.len() >= 32).then_some(msk)
}

/// Salt and encrypted key of an MS-MPPE attribute (RFC 2548 section 2.4.2).
fn opened(secret: &[u8], request: &[u8; 16], value: &[u8]) -> Option<Secret> {
    let (salt, sealed) = value.split_first_chunk::<2>()?;
    let mut previous = [&request[..], salt].concat();
    let mut plain = Secret::default();
    for block in sealed.chunks(16) {
        let mut hash = Md5::new();
        hash.update(secret);
        hash.update(&previous);
        plain.extend(block.iter().zip(hash.finalize()).map(|(a, b)| a ^ b));
        previous = block.to_vec();
    }
    let length = usize::from(*plain.first()?);
    plain.get(1..=length).map(|key| Secret::new(key.to_vec()))
}
