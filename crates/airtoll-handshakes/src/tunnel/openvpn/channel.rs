//! tls-crypt and the reliability layer of one end (`tls_crypt.c`, `reliable.c` and `ssl_pkt.c` of OpenVPN
//! 2.6).
//!
//! Takes octets of a stream and received packets; gives packets, and the received payloads in order.
//! Never looks into a payload.

use std::collections::{BTreeMap, VecDeque};

use airtoll_wire::openvpn::{
    ACKNOWLEDGEMENTS, ControlRepr, SESSION_OCTETS, WRAPPED_HEADER_OCTETS, WrappedRepr, opcode,
};

use super::{OpenVpnConfig, send};
use crate::exchange::{Context, Party};
use crate::octets::{equal, written};
use crate::operation::HashAlgorithm;

/// Messages in flight (`TLS_RELIABLE_N_SEND_BUFFERS`), and messages ahead of a missing one that are kept
/// (`TLS_RELIABLE_N_REC_BUFFERS`).
const WINDOW: u32 = 6;
const KEPT: u32 = 12;
/// Acknowledgements in a packet with a message (`CONTROL_SEND_ACK_MAX`).
const WITH_MESSAGE: usize = 4;
/// Later messages that are acknowledged before a message is sent again without a time-out
/// (`N_ACK_RETRANSMIT`).
const PASSED: u8 = 3;
/// Octets of a packet with its IPv4 and UDP headers (`--max-packet-size`), and octets that a packet
/// leaves free: 28 of these headers, and a block of AES that OpenVPN counts into tls-crypt.
const PACKET_OCTETS: usize = 1_250;
const FREE_OCTETS: usize = 28 + 16;

/// One direction's keys of tls-crypt.
struct Wrapping {
    cipher: [u8; 32],
    hmac: [u8; 32],
}

impl Wrapping {
    /// One of the two pairs of the shared key.
    fn of(key: &[u8], pair: usize) -> Self {
        let part = |at: usize| {
            let mut octets = [0; 32];
            let found = key.get(at..at + 32).unwrap_or(&[0; 32]);
            octets.copy_from_slice(found);
            octets
        };
        Self {
            cipher: part(128 * pair),
            hmac: part(128 * pair + 64),
        }
    }

    fn tag(&self, context: &mut Context<'_>, head: &[u8], plain: &[u8]) -> Vec<u8> {
        context.hmac(HashAlgorithm::Sha256, &self.hmac, &[head, plain])
    }

    fn apply(&self, context: &mut Context<'_>, tag: &[u8], data: &mut [u8]) {
        let mut initial = [0; 16];
        initial.copy_from_slice(&tag[..16]);
        context.aes_256_ctr(&self.cipher, initial, data);
    }
}

/// A message that is not acknowledged yet.
struct Unacknowledged {
    id: u32,
    kind: u8,
    payload: Vec<u8>,
    passed: u8,
}

/// One end of a control channel.
pub(super) struct Channel {
    party: Party,
    outgoing: Wrapping,
    incoming: Wrapping,
    time: u32,
    wrapped: u32,
    own: [u8; SESSION_OCTETS],
    peer: Option<[u8; SESSION_OCTETS]>,
    /// Messages in flight by increasing ID, the ID of the next one, and octets behind them.
    flight: VecDeque<Unacknowledged>,
    next: u32,
    waiting: Vec<u8>,
    /// Messages ahead of the next one in order, and its ID.
    ahead: BTreeMap<u32, (u8, Vec<u8>)>,
    expected: u32,
    /// IDs to acknowledge, and those acknowledged last, which packets repeat.
    due: Vec<u32>,
    recent: Vec<u32>,
}

impl Channel {
    /// A channel without a session ID of its own.
    pub fn new(party: Party, config: &OpenVpnConfig) -> Self {
        let (outgoing, incoming) = match party {
            Party::Station => (1, 0),
            _ => (0, 1),
        };
        Self {
            party,
            outgoing: Wrapping::of(&config.static_key, outgoing),
            incoming: Wrapping::of(&config.static_key, incoming),
            time: config.time,
            wrapped: 0,
            own: [0; SESSION_OCTETS],
            peer: None,
            flight: VecDeque::new(),
            next: 0,
            waiting: Vec::new(),
            ahead: BTreeMap::new(),
            expected: 0,
            due: Vec::new(),
            recent: Vec::new(),
        }
    }

    /// Draws the session ID.
    pub fn draw(&mut self, context: &mut Context<'_>) {
        self.own = context.random();
    }

    /// Whether the other end has acknowledged everything.
    pub fn is_idle(&self) -> bool {
        self.flight.is_empty() && self.waiting.is_empty()
    }

    /// Sends the first message.
    pub fn reset(&mut self, context: &mut Context<'_>, kind: u8) {
        self.enqueue(context, kind, Vec::new());
    }

    /// Leaves the acknowledgement of the reset out of later packets: a gateway of OpenVPN 2.6 answers
    /// it without keeping state.
    pub fn forget_acknowledged(&mut self) {
        self.recent.clear();
    }

    /// Sends octets as far as the window allows.
    pub fn write(&mut self, context: &mut Context<'_>, octets: &[u8]) {
        self.waiting.extend(octets);
        let oldest = self.flight.front().map_or(self.next, |first| first.id);
        let room = WINDOW.saturating_sub(self.next - oldest) as usize;
        let acknowledged = match (self.due.len() + self.recent.len()).min(WITH_MESSAGE) {
            0 => 0,
            count => SESSION_OCTETS + 4 * count,
        };
        let octets = PACKET_OCTETS - FREE_OCTETS - WRAPPED_HEADER_OCTETS - 1 - acknowledged - 4;
        let end = self.waiting.len().min(octets * room);
        let batch: Vec<u8> = self.waiting.drain(..end).collect();
        for part in batch.chunks(octets) {
            self.enqueue(context, opcode::CONTROL_V1, part.to_vec());
        }
    }

    fn enqueue(&mut self, context: &mut Context<'_>, kind: u8, payload: Vec<u8>) {
        let id = self.next;
        self.next += 1;
        self.transmit(context, kind, Some((id, &payload)));
        self.flight.push_back(Unacknowledged {
            id,
            kind,
            payload,
            passed: 0,
        });
    }

    /// Sends what the window allows now, messages that others passed, and acknowledgements that no
    /// message took along.
    pub fn go_on(&mut self, context: &mut Context<'_>) {
        let lost = |message: &Unacknowledged| message.passed >= PASSED;
        self.send_again(context, lost);
        self.write(context, &[]);
        if !self.due.is_empty() {
            self.transmit(context, opcode::ACK_V1, None);
        }
    }

    /// Sends every message in flight again.
    pub fn repeat(&mut self, context: &mut Context<'_>) {
        self.send_again(context, |_| true);
    }

    fn send_again(&mut self, context: &mut Context<'_>, which: impl Fn(&Unacknowledged) -> bool) {
        let mut flight = std::mem::take(&mut self.flight);
        for message in flight.iter_mut().filter(|message| which(message)) {
            message.passed = 0;
            self.transmit(context, message.kind, Some((message.id, &message.payload)));
        }
        self.flight = flight;
    }

    fn transmit(&mut self, context: &mut Context<'_>, kind: u8, message: Option<(u32, &[u8])>) {
        let most = match message {
            Some(_) => WITH_MESSAGE,
            None => ACKNOWLEDGEMENTS,
        };
        let fresh: Vec<u32> = self.due.drain(..self.due.len().min(most)).collect();
        self.recent.retain(|id| !fresh.contains(id));
        self.recent.splice(0..0, fresh);
        self.recent.truncate(ACKNOWLEDGEMENTS);
        let acknowledged: Vec<u32> = self.recent.iter().copied().take(most).collect();
        let control = ControlRepr {
            receiver: self.peer.filter(|_| !acknowledged.is_empty()),
            acknowledged,
            message: message.map(|(id, _)| id),
            payload: message.map_or_else(Vec::new, |(_, payload)| payload.to_vec()),
        };
        self.wrapped += 1;
        let mut packet = WrappedRepr {
            opcode: kind,
            key: 0,
            session: self.own,
            packet: self.wrapped,
            time: self.time,
            tag: [0; 32],
            sealed: written(|out| control.emit(out)),
        };
        let head = written(|out| packet.emit_authenticated(out));
        let tag = self.outgoing.tag(context, &head, &packet.sealed);
        self.outgoing.apply(context, &tag, &mut packet.sealed);
        packet.tag.copy_from_slice(&tag);
        send(context, self.party, written(|out| packet.emit(out)));
    }

    /// Takes a packet; whether it belongs to this channel and is unaltered.
    pub fn open(&mut self, context: &mut Context<'_>, octets: &[u8]) -> bool {
        let Ok(mut packet) = WrappedRepr::parse(octets) else {
            return false;
        };
        if packet.key != 0 || self.peer.is_some_and(|peer| peer != packet.session) {
            return false;
        }
        let (tag, mut plain) = (packet.tag, std::mem::take(&mut packet.sealed));
        self.incoming.apply(context, &tag, &mut plain);
        let head = written(|out| packet.emit_authenticated(out));
        let expected = self.incoming.tag(context, &head, &plain);
        if !equal(&expected, &tag) {
            return false;
        }
        let Ok(control) = ControlRepr::parse(&plain, packet.opcode) else {
            return false;
        };
        if control
            .receiver
            .is_some_and(|receiver| receiver != self.own)
        {
            return false;
        }
        self.peer = Some(packet.session);
        self.acknowledged(&control.acknowledged);
        if let Some(id) = control.message
            && id < self.expected + KEPT
        {
            if !self.due.contains(&id) {
                self.due.push(id);
            }
            if id >= self.expected {
                let message = (packet.opcode, control.payload);
                self.ahead.entry(id).or_insert(message);
            }
        }
        true
    }

    fn acknowledged(&mut self, ids: &[u32]) {
        for id in ids {
            let before = self.flight.len();
            self.flight.retain(|message| message.id != *id);
            if self.flight.len() < before {
                for message in self.flight.iter_mut().filter(|message| message.id < *id) {
                    message.passed += 1;
                }
            }
        }
    }

    /// The next message in order: its opcode and payload.
    pub fn next(&mut self) -> Option<(u8, Vec<u8>)> {
        let message = self.ahead.remove(&self.expected)?;
        self.expected += 1;
        Some(message)
    }
}
