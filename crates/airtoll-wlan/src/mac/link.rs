//! Links: one sender's traffic of one access category to one receiver, and the MPDUs made of it.

use airtoll_phy as phy;
use airtoll_security::CipherSuite;
use airtoll_units::{Duration, Instant};

use super::fragmentation::{Division, Pieces};
use super::mode::Mode;
use super::numbering::PacketNumbers;
use super::rate_control::RateControl;
use super::window::Window;
use crate::id::{Ends, FlowId, LinkId, ModeId, PacketId, RadioId};
use crate::medium::KnownSuccess;
use crate::observe::ledger::Octets;
use crate::queueing::{FlowQueues, FlowRules};
use crate::ring::Ring;
use crate::scenario::CipherDelimiters;

/// The longest time that a BlockAckReq is repeated: the lifetime of MSDUs in ns-3's queues (512 TU in the
/// standard, dot11MaxTransmitMSDULifetime).
const MOST_REQUESTED: Duration = Duration::from_nanos(500_000_000);

/// Packets of one MPDU that occupy their sender's socket.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Held {
    pub(super) flow: FlowId,
    /// The socket is that of the flow's destination.
    pub(super) reverse: bool,
    pub(super) count: u16,
}

/// How a receiver heard an MPDU, or the present fragment of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Heard {
    /// With errors, or not at all.
    Lost,
    /// It has had it before.
    Again,
    New,
}

/// An MPDU made for transmission; it stays until it is acknowledged and handed up, or given up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Mpdu {
    /// First packet in it; the others of an A-MSDU follow by `Packet::next`.
    pub(super) head: PacketId,
    pub(super) sequence: u32,
    /// When its first packet came into the queue.
    pub(super) since: Instant,
    /// Length with header and FCS, of the present fragment where it is fragmented.
    pub(super) octets: u32,
    pub(super) parts: Octets,
    /// Its fragments, where the MSDU is fragmented.
    pub(super) pieces: Option<Pieces>,
    pub(super) msdus: u16,
    /// Its packets that occupy their sender's socket.
    pub(super) held: Option<Held>,
    pub(super) attempts: u8,
    /// The way of the exchange whose PPDU it is part of.
    pub(super) in_flight: Option<Way>,
    /// It was in no PPDU yet, so that its packets keep their places in the contender's order.
    pub(super) waits: bool,
    /// How the receiver heard it in the PPDU of the present exchange, once it has.
    pub(super) heard: Option<Heard>,
    /// Reached the receiver.
    pub(super) received: bool,
    /// Handed up by the receiver.
    pub(super) delivered: bool,
    /// It carries group-addressed traffic of nodes.
    pub(super) group: bool,
    /// The sender knows that it was received.
    pub(super) acknowledged: bool,
}

impl Mpdu {
    /// Its receiver hears it; `arrives`: without errors.
    #[inline]
    pub(super) fn hear(&mut self, arrives: bool) {
        let pieces = self.pieces.as_ref();
        let new = pieces.map_or(!self.received, |p| p.heard == p.at);
        self.heard = Some(match (arrives, new) {
            (false, _) => Heard::Lost,
            (true, false) => Heard::Again,
            (true, true) => Heard::New,
        });
        if arrives && self.hear_piece() {
            self.received = true;
        }
    }

    /// First packet in it; the others of an A-MSDU follow by `Packet::next`.
    pub fn head(&self) -> PacketId {
        self.head
    }

    pub fn sequence(&self) -> u32 {
        self.sequence
    }

    /// Length with header and FCS, of the present fragment where it is fragmented.
    pub fn octets(&self) -> u32 {
        self.octets
    }

    /// Number of the present fragment; `None` where the MSDU is whole.
    pub fn piece(&self) -> Option<u32> {
        Some(self.pieces?.at)
    }

    /// Whether it reached the receiver.
    pub fn is_received(&self) -> bool {
        self.received
    }
}

/// The pair of radios by which an exchange of a link is carried out: the first, or between
/// multi-link devices (IEEE 802.11be, 35.3) one of several on different channels.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Way(u8);

impl Way {
    /// The only one of a link that is not between multi-link devices.
    pub(super) const FIRST: Self = Self(0);
}

/// A further pair of radios of a link between multi-link devices.
#[derive(Debug)]
pub(super) struct FurtherWay {
    from: RadioId,
    peer: RadioId,
    rate: RateControl,
    success: KnownSuccess,
}

/// Subtype of data frames (IEEE 802.11-2020, 9.2.4.1.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DataSubtype {
    Data,
    Qos,
}

impl DataSubtype {
    /// That of frames with EDCA, or without it.
    pub const fn with_edca(edca: bool) -> Self {
        if edca { Self::Qos } else { Self::Data }
    }
}

/// Addresses in the header of data frames (9.2.4.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Addresses {
    Three,
    Four,
}

impl Addresses {
    /// Four of a bridge, three of any other node.
    pub const fn of(four: bool) -> Self {
        if four { Self::Four } else { Self::Three }
    }
}

/// Frames of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Traffic {
    /// Data.
    Data,
    /// Management and EAPOL frames, whose packets hold the length of the whole MPDU.
    Signalling,
    /// Group-addressed data, which are not acknowledged.
    GroupData,
    /// The same where they go after a DTIM beacon, before all other data.
    GroupDataAfterDtim,
    /// Group-addressed management frames.
    GroupSignalling,
}

/// Whether a BlockAckReq goes before anything else: an A-MPDU got no BlockAck, or frames that were sent
/// under the agreement are given up and the receiver's window has to move on (10.25.6.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Request {
    NotDue,
    Due,
}

/// Whether frames are sent under a block ack agreement, A-MPDU or not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Agreement {
    None,
    Agreed,
}

/// When a receiver hands the MPDUs of a PPDU up.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HandUp {
    /// All of them when the PPDU ends: the time at which packets arrive that are only counted affects
    /// their delay only.
    AtPpduEnd,
    /// Each as it is complete: it has carried packets that are answered, or the queue behind its
    /// receiver is shorter than an A-MPDU.
    AtMpduEnd,
}

/// Whether a link is in its contender's order, where receivers are served in turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Listing {
    Unlisted,
    Listed,
}

/// An association as one end of a link knows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Association {
    Valid,
    Ended,
}

impl Association {
    /// Ended if it is `over`.
    pub(super) const fn over(over: bool) -> Self {
        if over { Self::Ended } else { Self::Valid }
    }
}

/// Power state of a station (11.2.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PowerState {
    Awake,
    Doze,
}

/// Power management mode of a station (11.2.3.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PowerMode {
    Active,
    PowerSave,
}

/// One sender's traffic of one access category to one receiver.
#[derive(Debug)]
pub(crate) struct TxLink {
    pub(super) from: RadioId,
    pub(super) peer: RadioId,
    /// Further pairs of radios that share its queue, its sequence numbers and its block ack
    /// agreement.
    pub(super) further: Vec<FurtherWay>,
    /// Sequence numbers that the block ack agreement spans, where there are further ways.
    pub(super) span: u32,
    pub(super) cipher: CipherSuite,
    /// Octets of header and FCS, and of the cipher around an MPDU and around an MSDU.
    pub(super) header_octets: u32,
    pub(super) cipher_octets: u32,
    pub(super) msdu_cipher_octets: u32,
    pub(super) subtype: DataSubtype,
    pub(super) addresses: Addresses,
    pub(super) rate: RateControl,
    pub(super) amsdu_octets: u32,
    /// Spacing of MPDUs that its receiver asks for, and delimiters that its sender adds.
    pub(super) start_spacing: Duration,
    pub(super) cipher_delimiters: Vec<CipherDelimiters>,
    pub(super) delimiters: u32,
    pub(super) max_attempts: u8,
    pub(super) division: Division,
    pub(super) rts_octets: u32,
    pub(super) traffic: Traffic,
    pub(super) queue: Ring<PacketId>,
    /// The queues of its flows, which take the place of `queue`.
    pub(super) flows: Option<Box<FlowQueues>>,
    /// Packet numbers that frames get before these queues; absent: when they are sent.
    pub(super) numbers: Option<Box<PacketNumbers>>,
    /// Its faults after a hand-over.
    pub(super) degraded: Degraded,
    pub(super) window: Window<Mpdu>,
    pub(super) next_sequence: u32,
    /// Every MPDU before this one is handed up or given up.
    pub(super) handed_up: u32,
    pub(super) request: Request,
    /// When that BlockAckReq failed first.
    pub(super) request_failed: Option<Instant>,
    pub(super) agreement: Agreement,
    /// Entries of the contender's order that were taken out of turn.
    pub(super) taken_early: u32,
    pub(super) hand_up: HandUp,
    pub(super) listing: Listing,
    /// Link whose airtime account its PPDUs are charged to.
    pub(super) account: Option<LinkId>,
    /// Airtime that its receiver may have before the next one's turn, ns.
    pub(super) deficit_ns: i64,
    pub(super) success: KnownSuccess,
    /// Its sender drops data where that has ended.
    pub(super) at_sender: Association,
    /// Its receiver refuses data where that has ended.
    pub(super) at_receiver: Association,
    /// State of its receiver as far as its sender knows: packets wait while it dozes.
    pub(super) receiver_state: PowerState,
    /// In power save its receiver dozes between beacons.
    pub(super) receiver_mode: PowerMode,
    /// Mode of its sender as far as its receiver knows: in power save a frame shows that it is awake.
    pub(super) sender_mode: PowerMode,
    /// Ways that frames of its access category do not take, by bits.
    pub(super) closed: u8,
}

/// The faults of a link, and its state without them.
#[derive(Debug, Default)]
pub(super) struct Degraded {
    /// The agreement that it has again later. Until then frames go one by one: no block ack agreement
    /// has been negotiated (IEEE 802.11-2020, 10.25.2).
    pub(super) agreement: Option<Agreement>,
    /// The rate control that it has again later.
    pub(super) usual: Option<RateControl>,
}

impl Degraded {
    /// Whether frames go one by one for lack of a block ack agreement.
    #[inline]
    pub(super) fn lacks_agreement(&self) -> bool {
        self.agreement.is_some()
    }
}

/// The queue in which the packets of a link wait.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Queueing {
    /// In the order in which they came.
    InOrder,
    /// In queues of their flows.
    ByFlow,
}

/// When a frame gets its packet number.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Numbering {
    /// Before its packets wait in queues of their flows.
    AtArrival,
    /// When it is sent.
    AtSending,
}

/// Properties of a link for data frames.
#[derive(Debug)]
pub(crate) struct DataLink {
    pub cipher: CipherSuite,
    pub subtype: DataSubtype,
    pub addresses: Addresses,
    pub rate: RateControl,
    /// Longest A-MSDU, octets; 0: none.
    pub amsdu_octets: u32,
    /// Shortest time from the start of an MPDU in an A-MPDU to that of the next.
    pub start_spacing: Duration,
    /// Delimiters that the sender puts after each MPDU with a cipher.
    pub cipher_delimiters: Vec<CipherDelimiters>,
    pub max_attempts: u8,
    pub division: Division,
    /// A longer PSDU is protected by RTS.
    pub rts_octets: u32,
    pub agreement: Agreement,
    pub queueing: Queueing,
    pub numbering: Numbering,
    pub hand_up: HandUp,
}

impl TxLink {
    /// An empty link in clear without QoS, aggregation and fragmentation: what management and EAPOL
    /// frames take.
    pub fn plain(from: RadioId, peer: RadioId, mode: ModeId, max_attempts: u8) -> Self {
        Self {
            from,
            peer,
            further: Vec::new(),
            span: 0,
            cipher: CipherSuite::Open,
            header_octets: mac_octets(DataSubtype::Data, Addresses::Three),
            cipher_octets: 0,
            msdu_cipher_octets: 0,
            subtype: DataSubtype::Data,
            addresses: Addresses::Three,
            rate: RateControl::Fixed(mode),
            amsdu_octets: 0,
            start_spacing: Duration::ZERO,
            cipher_delimiters: Vec::new(),
            delimiters: 0,
            max_attempts,
            division: Division::new(None, 0, 0),
            rts_octets: u32::MAX,
            traffic: Traffic::Signalling,
            queue: Ring::default(),
            flows: None,
            numbers: None,
            degraded: Degraded::default(),
            window: Window::new(),
            next_sequence: 0,
            handed_up: 0,
            request: Request::NotDue,
            request_failed: None,
            agreement: Agreement::None,
            taken_early: 0,
            hand_up: HandUp::AtPpduEnd,
            listing: Listing::Unlisted,
            account: None,
            deficit_ns: 0,
            success: KnownSuccess::default(),
            at_sender: Association::Valid,
            at_receiver: Association::Valid,
            receiver_state: PowerState::Awake,
            receiver_mode: PowerMode::Active,
            sender_mode: PowerMode::Active,
            closed: 0,
        }
    }

    /// An empty link for data frames.
    pub fn data(from: RadioId, peer: RadioId, mode: ModeId, made: DataLink) -> Self {
        let mut link = Self {
            header_octets: mac_octets(made.subtype, made.addresses),
            subtype: made.subtype,
            addresses: made.addresses,
            rate: made.rate,
            amsdu_octets: made.amsdu_octets,
            start_spacing: made.start_spacing,
            cipher_delimiters: made.cipher_delimiters,
            division: made.division,
            rts_octets: made.rts_octets,
            traffic: Traffic::Data,
            agreement: made.agreement,
            flows: (made.queueing == Queueing::ByFlow)
                .then(|| Box::new(FlowQueues::new(&FlowRules::MAC80211))),
            numbers: (made.numbering == Numbering::AtArrival).then(Box::default),
            hand_up: made.hand_up,
            ..Self::plain(from, peer, mode, made.max_attempts)
        };
        link.set_cipher(made.cipher);
        link
    }

    /// An empty link of a radio for group-addressed management frames; with a cipher, for
    /// group-addressed data frames.
    pub fn group(radio: RadioId, mode: ModeId, data: Option<CipherSuite>) -> Self {
        let mut link = Self {
            traffic: match data {
                Some(_) => Traffic::GroupData,
                None => Traffic::GroupSignalling,
            },
            ..Self::plain(radio, radio, mode, 1)
        };
        link.set_cipher(data.unwrap_or(CipherSuite::Open));
        link
    }

    /// Sets the link cipher.
    pub(super) fn set_cipher(&mut self, cipher: CipherSuite) {
        self.cipher = cipher;
        self.cipher_octets = cipher.mpdu_octets() as u32;
        self.msdu_cipher_octets = cipher.msdu_octets() as u32;
        self.delimiters = CipherDelimiters::of(&self.cipher_delimiters, cipher);
    }

    /// Spacing of the MPDUs of its A-MPDUs in a mode.
    #[inline]
    pub fn spacing(&self, mode: &Mode) -> phy::MpduSpacing {
        self.spacing_in(mode.vector())
    }

    /// The same at the rate of a vector.
    #[inline]
    pub fn spacing_in(&self, vector: &phy::TxVector) -> phy::MpduSpacing {
        if self.start_spacing.is_zero() && self.delimiters == 0 {
            return phy::MpduSpacing::default();
        }
        phy::MpduSpacing::new(vector, self.start_spacing, self.delimiters)
    }

    /// Its sender.
    #[inline]
    pub fn from(&self) -> RadioId {
        self.from
    }

    /// Its receiver.
    #[inline]
    pub fn peer(&self) -> RadioId {
        self.peer
    }

    /// The link cipher.
    #[inline]
    pub fn cipher(&self) -> CipherSuite {
        self.cipher
    }

    /// Whether it carries QoS data frames.
    pub fn is_qos(&self) -> bool {
        self.subtype == DataSubtype::Qos
    }

    /// Whether its frames carry a fourth address.
    #[inline]
    pub fn has_fourth_address(&self) -> bool {
        self.addresses == Addresses::Four
    }

    /// Its rate control.
    pub fn rate(&self) -> &RateControl {
        &self.rate
    }

    /// Longest A-MSDU, octets; 0: none.
    pub fn amsdu_octets(&self) -> u32 {
        self.amsdu_octets
    }

    /// How its MSDUs are fragmented.
    pub fn division(&self) -> &Division {
        &self.division
    }

    /// Whether it carries management and EAPOL frames.
    #[inline]
    pub fn is_signalling(&self) -> bool {
        matches!(self.traffic, Traffic::Signalling | Traffic::GroupSignalling)
    }

    /// Whether it carries group-addressed frames.
    #[inline]
    pub fn is_group(&self) -> bool {
        !matches!(self.traffic, Traffic::Data | Traffic::Signalling)
    }

    /// Whether its frames go before all data.
    #[inline]
    pub(super) fn goes_first(&self) -> bool {
        !matches!(self.traffic, Traffic::Data | Traffic::GroupData)
    }

    /// MPDUs that are not settled, in the order of their sequence numbers.
    pub fn window(&self) -> &Window<Mpdu> {
        &self.window
    }

    /// MPDUs of the PPDU of the present exchange on a way.
    pub fn flying(&self, way: Way) -> impl Iterator<Item = &Mpdu> {
        let several = self.has_several_ways();
        self.window
            .iter()
            .take_while(move |m| several || m.in_flight.is_some() || m.acknowledged)
            .filter(move |m| m.in_flight == Some(way))
    }

    /// The MPDU of a sequence number, if it is part of the PPDU of the present exchange on a way.
    pub(super) fn in_flight(&self, sequence: u32, way: Way) -> Option<&Mpdu> {
        let front = self.window.front()?.sequence;
        let at = sequence.wrapping_sub(front) as usize;
        self.window.get(at).filter(|m| m.in_flight == Some(way))
    }

    /// Adds a further pair of radios; `span`: sequence numbers of the block ack agreement.
    pub fn add_way(&mut self, ends: Ends<RadioId>, rate: RateControl, span: u32) {
        let success = KnownSuccess::default();
        self.span = span;
        self.further.push(FurtherWay {
            from: ends.from,
            peer: ends.to,
            rate,
            success,
        });
    }

    /// Whether several radios of its sender draw from it.
    #[inline]
    pub fn has_several_ways(&self) -> bool {
        !self.further.is_empty()
    }

    /// The way by which a radio sends its frames.
    #[inline]
    pub(super) fn way_of(&self, from: RadioId) -> Option<Way> {
        let way = if self.from == from {
            Way::FIRST
        } else {
            let at = self.further.iter().position(|w| w.from == from)?;
            Way(at as u8 + 1)
        };
        (self.closed & 1 << way.0 == 0).then_some(way)
    }

    /// Frames do not go by the way with this number.
    pub fn close_way(&mut self, number: usize) {
        self.closed |= 1 << number;
    }

    fn further(&self, way: Way) -> Option<&FurtherWay> {
        self.further.get(usize::from(way.0).wrapping_sub(1))
    }

    /// Sender and receiver on a way.
    #[inline]
    pub fn ends(&self, way: Way) -> Ends<RadioId> {
        let (from, to) = match self.further(way) {
            None => (self.from, self.peer),
            Some(further) => (further.from, further.peer),
        };
        Ends { from, to }
    }

    /// The rate control of a way.
    #[inline]
    pub(super) fn rate_of(&mut self, way: Way) -> &mut RateControl {
        match self.further.get_mut(usize::from(way.0).wrapping_sub(1)) {
            None => &mut self.rate,
            Some(further) => &mut further.rate,
        }
    }

    /// The window, and what is known of the frame success of a way.
    #[inline]
    pub(super) fn window_and_success(
        &mut self,
        way: Way,
    ) -> (&mut Window<Mpdu>, &mut KnownSuccess) {
        let success = match self.further.get_mut(usize::from(way.0).wrapping_sub(1)) {
            None => &mut self.success,
            Some(further) => &mut further.success,
        };
        (&mut self.window, success)
    }

    /// Forgets the frame success of ways that end at a radio.
    pub(super) fn forget_success(&mut self, radio: RadioId) {
        if [self.from, self.peer].contains(&radio) {
            self.success = KnownSuccess::default();
        }
        for way in &mut self.further {
            if [way.from, way.peer].contains(&radio) {
                way.success = KnownSuccess::default();
            }
        }
    }

    /// A BlockAckReq failed at `now`: it is due again until MPDUs that waited since its first failure are
    /// older than their lifetime. A receiver that hears none of them moves its window on by the next MPDUs
    /// that it gets (10.25.6.6).
    pub(super) fn ask_again_or_give_up(&mut self, now: Instant, lifetime: Duration) {
        let first = *self.request_failed.get_or_insert(now);
        let last = now - first >= lifetime.min(MOST_REQUESTED);
        // With several radios another one may have made it due meanwhile.
        if !last {
            self.request = Request::Due;
            return;
        }
        self.request_failed = None;
        if !self.has_several_ways() {
            self.request = Request::NotDue;
        }
    }

    /// Whether a radio that has won the medium finds a frame that no other radio is sending.
    pub(super) fn has_sendable(&self) -> bool {
        if self.request == Request::Due {
            return true;
        }
        let front = self
            .window
            .front()
            .map_or(self.next_sequence, |m| m.sequence);
        let room = !self.has_several_ways() || self.next_sequence - front < self.span;
        let waits = |m: &Mpdu| !m.acknowledged && m.in_flight.is_none();
        (room && self.has_packet()) || self.window.iter().any(waits)
    }

    /// Sequence number of the next MPDU.
    pub fn next_sequence(&self) -> u32 {
        self.next_sequence
    }

    /// Whether its sender drops data because the association has ended.
    #[inline]
    pub fn is_barred(&self) -> bool {
        self.at_sender == Association::Ended
    }

    /// Whether packets wait because its receiver dozes as far as its sender knows.
    #[inline]
    pub fn is_dozing(&self) -> bool {
        self.receiver_state == PowerState::Doze
    }

    /// Whether its receiver dozes between beacons.
    #[inline]
    pub fn saves_power(&self) -> bool {
        self.receiver_mode == PowerMode::PowerSave
    }

    /// Whether nothing waits and nothing is under way.
    pub fn is_empty(&self) -> bool {
        !self.has_packet() && self.window.is_empty()
    }

    /// Whether a packet waits that is in no MPDU yet.
    pub(super) fn has_packet(&self) -> bool {
        !self.queue.is_empty() || self.flows.as_ref().is_some_and(|f| !f.is_empty())
    }

    /// Whether anything is to be sent.
    pub(super) fn has_work(&self) -> bool {
        self.request == Request::Due
            || self.has_packet()
            || self.window.iter().any(|m| !m.acknowledged)
    }

    /// Packets that are in no MPDU yet, in an order in which they may leave.
    pub(super) fn waiting(&self) -> impl Iterator<Item = PacketId> {
        let flows = self.flows.iter().flat_map(|f| f.waiting());
        self.queue.iter().chain(flows)
    }

    /// The packet that may follow the one that was taken last into the same A-MSDU.
    #[inline]
    pub(super) fn following(&self) -> Option<PacketId> {
        match &self.flows {
            None => self.queue.front().copied(),
            Some(flows) => flows.following(),
        }
    }
}

/// MAC header, FCS.
pub(crate) const fn mac_octets(subtype: DataSubtype, addresses: Addresses) -> u32 {
    let qos = match subtype {
        DataSubtype::Qos => phy::QOS_CONTROL_OCTETS,
        DataSubtype::Data => 0,
    };
    let fourth = match addresses {
        Addresses::Four => phy::ADDRESS_4_OCTETS,
        Addresses::Three => 0,
    };
    phy::DATA_HEADER_OCTETS + phy::FCS_OCTETS + qos + fourth
}
