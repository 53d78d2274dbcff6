//! The MAC: contention, frame exchanges, transmit queues, aggregation, fragmentation, protection,
//! rates, lifetimes and beacons.
//!
//! A node here is a radio ([`RadioId`]): a station that hands over has one in every BSS of its way.
//!
//! Takes packets for a next hop, and transmissions as they end; gives transmissions to the medium,
//! and packets that arrived or were lost to the outbox. The path of a packet: `queue` takes it,
//! `contention` wins the medium, `aggregation` puts it into a PPDU, `exchange` sends that and waits
//! for the response, `settlement` hands received MPDUs up and drops finished ones.

mod aggregation;
mod beacon;
mod card;
mod contention;
mod degraded;
mod exchange;
mod fragmentation;
mod group;
mod lifetime;
mod link;
mod mode;
mod multi_link;
mod numbering;
mod ofdma;
mod order;
mod power_save;
mod probing;
mod queue;
mod rate_control;
mod retrieval;
mod scheduling;
mod settlement;
mod single_radio;
mod spatial_reuse;
mod width;
mod window;

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

use crate::context::Context;
use crate::device::Nic;
use crate::id::{
    CardId, ChannelId, ContenderId, FlowId, LinkId, ModeId, NeighbourId, RadioId, ReservationId,
    Slab, Table,
};
use crate::medium::Medium;
use crate::scenario::{Discipline, Protection};
use contention::{Contender, Domain, Standing};
use link::{Association, PowerMode, PowerState};
use power_save::PowerSave;
use queue::MacQueue;

pub(crate) use beacon::BeaconPlan;
use beacon::Listener;
pub(crate) use contention::{AccessKind, WindowBounds};
pub(crate) use exchange::FrameExchange;
pub(crate) use fragmentation::Division;
pub(crate) use group::{GroupFrame, Indication};
pub(crate) use lifetime::{Backlog, NONE as NO_LIFETIME};
pub(crate) use link::{
    Addresses, Agreement, DataLink, DataSubtype, HandUp, Mpdu, Numbering, Queueing, TxLink,
    mac_octets,
};
pub(crate) use mode::{Mode, band, basic_rates, choices, legacy, mcs, timing, width};
pub(crate) use ofdma::{BothWays, SharedStation, SharingRules};
pub(crate) use probing::{Passer, Probing, Responder, Rhythm};
pub(crate) use queue::SIGNALLING_CATEGORY;
pub(crate) use rate_control::{Aarf, Minstrel, RateControl};
pub(crate) use retrieval::{Announced, SignLinks, Spoken};
pub(crate) use single_radio::{RadioRules, RadioSet};

/// State of the MAC of a node.
#[derive(Debug)]
struct Node {
    /// Its contenders by access category; under DCF four times the same.
    contenders: [ContenderId; 4],
    /// Its first link; one row of `neighbours` links per contender follows.
    first_link: LinkId,
    neighbours: u32,
    /// First of its links for management and EAPOL frames, one per station or access point of its BSS,
    /// and their number.
    signalling: (LinkId, u32),
    /// An access point's link for group-addressed data frames, if it has one.
    group: Option<LinkId>,
    beacon: Option<BeaconPlan>,
    /// Group-addressed frames that wait for a beacon, where stations doze.
    held: Option<group::Held>,
    queue_limit: u32,
    /// MSDU lifetime; longer than any trial where there is none.
    lifetime: Duration,
    /// Its station has left: the lifetime of everything in its queues is over.
    stopped: bool,
    discipline: Discipline,
    /// The rate that its cipher forbids, where it does.
    forbidden_rate: Option<ForbiddenRate>,
    /// End of the last A-MPDU of several MPDUs that it received.
    aggregate_ended: Option<Instant>,
    /// Dozing of a station between beacons.
    power_save: Option<Box<PowerSave>>,
}

/// A rate that the cipher of a node forbids, and the one that takes its place, bit/s.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ForbiddenRate {
    pub forbidden: u64,
    pub used: u64,
}

/// The frame that ends the reservation of a TXOP.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CfEnd {
    pub length: Duration,
    pub vector: airtoll_phy::TxVector,
}

/// Contenders, links and their queues.
pub(crate) struct Mac {
    nodes: Table<RadioId, Node>,
    /// One stream per node for its back-off.
    streams: Table<RadioId, Stream>,
    /// Drawn back-off slots less their expectation, of all draws since the warm-up, half slots.
    excess_half_slots: i64,
    /// Contention on each channel.
    domains: Table<ChannelId, Domain>,
    contenders: Table<ContenderId, Contender>,
    exchanges: Table<ContenderId, FrameExchange>,
    queues: Table<ContenderId, MacQueue>,
    links: Table<LinkId, TxLink>,
    modes: Table<ModeId, Mode>,
    /// Queues that saturated applications keep full, by flow.
    backlogs: Table<FlowId, Option<Backlog>>,
    /// Stations that listen for beacons.
    listeners: Vec<Listener>,
    /// Stations that doze between beacons.
    savers: Vec<RadioId>,
    /// Some of them have frames of power save.
    has_dialogues: bool,
    /// Some frames carry nothing for layers above ([`Mac::ends_frames`]).
    ends_frames: bool,
    /// Probe traffic of stations that pass by, where there are any.
    probing: Option<Box<Probing>>,
    /// Packets may wait outside the transmit queues ([`Mac::may_wait`]).
    arrivals_wait: bool,
    /// Whether any link protects frames by RTS: only answers to those ask for a node's NAV.
    uses_rts: bool,
    /// Ends of RTSs and of their reservations, for the nodes that may cancel those (NAVTimeout).
    reservations: Slab<ReservationId, (Instant, Instant)>,
    /// Network cards that prepare frames.
    nics: Table<CardId, Nic>,
    /// The card of each radio, where it has one.
    nic_of: Table<RadioId, Option<CardId>>,
    /// State of the cards by contender.
    cards: Table<ContenderId, card::Card>,
    has_cards: bool,
    /// OFDMA, where a BSS uses it.
    ofdma: Option<Box<ofdma::Ofdma>>,
    /// Spatial reuse, where a BSS has an OBSS PD level.
    reuse: Option<Box<spatial_reuse::Reuse>>,
    /// Widths of TXOPs, where channels of neighbours overlap in part.
    widths: Option<Box<width::Widths>>,
    /// Stations with one radio for several links, where there are any.
    single_radios: Option<Box<single_radio::SingleRadios>>,
    /// Contenders that won at the present instant.
    winners: Vec<ContenderId>,
    /// How many of them transmit, and the node of the last one.
    transmitting: (usize, Option<RadioId>),
}

impl Mac {
    /// A MAC without nodes.
    pub fn new() -> Self {
        Self {
            nodes: Table::new(),
            streams: Table::new(),
            excess_half_slots: 0,
            domains: Table::new(),
            contenders: Table::new(),
            exchanges: Table::new(),
            queues: Table::new(),
            links: Table::new(),
            modes: Table::new(),
            backlogs: Table::new(),
            listeners: Vec::new(),
            savers: Vec::new(),
            has_dialogues: false,
            ends_frames: false,
            probing: None,
            arrivals_wait: false,
            uses_rts: false,
            reservations: Slab::new(),
            nics: Table::new(),
            nic_of: Table::new(),
            cards: Table::new(),
            has_cards: false,
            ofdma: None,
            reuse: None,
            widths: None,
            single_radios: None,
            winners: Vec::new(),
            transmitting: (0, None),
        }
    }

    /// Adds a node that contends nowhere yet; `stream` draws its back-offs.
    pub fn add_node(
        &mut self,
        stream: Stream,
        queue_limit: u32,
        lifetime: Duration,
        discipline: Discipline,
    ) -> RadioId {
        self.streams.push(stream);
        self.nic_of.push(None);
        self.nodes.push(Node {
            contenders: [ContenderId::new(0); 4],
            first_link: LinkId::new(0),
            neighbours: 0,
            signalling: (LinkId::new(0), 0),
            group: None,
            beacon: None,
            held: None,
            queue_limit,
            lifetime,
            stopped: false,
            discipline,
            forbidden_rate: None,
            aggregate_ended: None,
            power_save: None,
        })
    }

    /// Adds a channel with this many sensing classes.
    pub fn add_channel(&mut self, slot: Duration, cca: Duration, classes: u32) {
        self.domains.push(Domain::new(slot, cca, classes));
    }

    /// Adds a contender to the channel of its node; `rank` is its access category, or above all of
    /// them.
    pub fn add_contender(
        &mut self,
        medium: &Medium,
        node: RadioId,
        kind: AccessKind,
        window: WindowBounds,
        (txop_limit, cf_end): (Duration, Option<CfEnd>),
        rank: u8,
    ) -> ContenderId {
        let (channel, class) = (medium.channel_of(node), medium.class_of(node));
        let kind = self.domains[channel].kind(kind);
        let home = self.contenders.next_id();
        let id = self.contenders.push(Contender {
            node,
            channel,
            class,
            kind,
            standing: Standing::Resting,
            key: 0,
            late: false,
            slots: 0,
            cw: window.min,
            retries: 0,
            cw_min: window.min,
            cw_max: window.max,
            rank,
            beacons: false,
            txop_limit,
            home,
            siblings: Vec::new(),
            cf_end: cf_end.map(Box::new),
        });
        self.exchanges.push(FrameExchange::new());
        self.cards.push(card::Card::default());
        let discipline = self.nodes[node].discipline;
        self.queues.push(MacQueue::new(discipline));
        id
    }

    /// Sets a node's contenders by access category.
    pub fn set_contenders(&mut self, node: RadioId, contenders: [ContenderId; 4]) {
        self.nodes[node].contenders = contenders;
    }

    /// The next links are those of a node: one row of `neighbours` per contender.
    pub fn begin_links(&mut self, node: RadioId, neighbours: u32) {
        let first = self.links.next_id();
        let state = &mut self.nodes[node];
        state.first_link = first;
        state.neighbours = neighbours;
    }

    /// The next links are those of a node for management and EAPOL frames, one for each of `peers`
    /// radios.
    pub fn begin_signalling(&mut self, node: RadioId, peers: u32) {
        self.nodes[node].signalling = (self.links.next_id(), peers);
    }

    /// An access point sends group-addressed data frames by this link.
    pub fn set_group_link(&mut self, node: RadioId, link: LinkId) {
        self.nodes[node].group = Some(link);
    }

    /// Adds a link; gives its number.
    pub fn add_link(&mut self, link: TxLink) -> LinkId {
        self.uses_rts |= link.rts_octets < u32::MAX;
        self.links.push(link)
    }

    /// Adds a mode; gives its number.
    pub fn add_mode(&mut self, mode: Mode) -> ModeId {
        self.uses_rts |= mode.protection(0, u32::MAX) == Protection::RtsCts;
        self.modes.push(mode)
    }

    /// All modes.
    pub fn modes(&self) -> &Table<ModeId, Mode> {
        &self.modes
    }

    /// A mode.
    #[inline]
    pub fn mode(&self, mode: ModeId) -> &Mode {
        &self.modes[mode]
    }

    /// All links.
    pub fn links(&self) -> &Table<LinkId, TxLink> {
        &self.links
    }

    /// A link.
    #[inline]
    pub fn link(&self, link: LinkId) -> &TxLink {
        &self.links[link]
    }

    /// Sets the cipher of a link.
    pub fn set_cipher(&mut self, link: LinkId, cipher: airtoll_security::CipherSuite) {
        self.links[link].set_cipher(cipher);
    }

    /// The frame exchange of a contender.
    pub fn exchange(&self, contender: ContenderId) -> &FrameExchange {
        &self.exchanges[contender]
    }

    /// The node of a contender.
    #[inline]
    pub fn node_of(&self, contender: ContenderId) -> RadioId {
        self.contenders[contender].node
    }

    /// The contender of a node for an access category.
    #[inline]
    pub fn contender(&self, node: RadioId, category: u8) -> ContenderId {
        self.nodes[node].contenders[usize::from(category)]
    }

    /// The access category of a contender, 0 background to 3 voice.
    pub fn category_of(&self, contender: ContenderId) -> u8 {
        self.contenders[contender].category()
    }

    /// The link of a node to a radio neighbour for an access category.
    #[inline]
    pub fn link_to(&self, node: RadioId, neighbour: NeighbourId, category: u8) -> LinkId {
        self.nodes[node].link(neighbour, category)
    }

    /// A node's links for its first contender, one per neighbour.
    pub fn first_links(&self, node: RadioId) -> impl Iterator<Item = LinkId> + use<> {
        let state = &self.nodes[node];
        successive(state.first_link, state.neighbours)
    }

    /// A node's links for management and EAPOL frames.
    pub fn signalling_links(&self, node: RadioId) -> impl Iterator<Item = LinkId> + use<> {
        let (first, peers) = self.nodes[node].signalling;
        successive(first, peers)
    }

    /// An access point's link for group-addressed data frames.
    #[inline]
    pub fn group_link(&self, node: RadioId) -> Option<LinkId> {
        self.nodes[node].group
    }

    /// The CF-End of a contender whose frames reserve the medium up to the TXOP limit.
    pub fn cf_end(&self, contender: ContenderId) -> Option<&CfEnd> {
        self.contenders[contender].cf_end.as_deref()
    }

    /// The beacons of an access point.
    pub fn beacon(&self, node: RadioId) -> Option<&BeaconPlan> {
        self.nodes[node].beacon.as_ref()
    }

    /// Whether some frames carry nothing for layers above: those of power save and of probe traffic.
    #[inline]
    pub fn ends_frames(&self) -> bool {
        self.ends_frames
    }

    /// The cipher of a node forbids a rate.
    pub fn forbid_rate(&mut self, node: RadioId, rate: ForbiddenRate) {
        self.nodes[node].forbidden_rate = Some(rate);
    }

    /// The rate that the cipher of a node forbids, where it does.
    pub fn forbidden_rate(&self, node: RadioId) -> Option<ForbiddenRate> {
        self.nodes[node].forbidden_rate
    }

    /// Packets that a node's transmit queue takes.
    pub fn queue_limit(&self, node: RadioId) -> u32 {
        self.nodes[node].queue_limit
    }

    /// MSDU lifetime at a node.
    pub fn lifetime(&self, node: RadioId) -> Duration {
        self.nodes[node].lifetime
    }

    /// Sets whether the lifetime of everything in a node's queues is over, because its station has
    /// left.
    pub fn set_stopped(&mut self, node: RadioId, stopped: bool) {
        self.nodes[node].stopped = stopped;
    }

    /// Whether all management and EAPOL frames of a station for its access point have been sent.
    pub fn has_sent_signalling(&self, station: RadioId, access_point: RadioId) -> bool {
        let mut links = self.signalling_links(station).map(|link| self.link(link));
        links.all(|link| link.peer != access_point || link.is_empty())
    }

    /// Sets whether a node drops data for another because the association between them has ended.
    pub fn bar(&mut self, from: RadioId, to: RadioId, barred: bool) {
        self.each_link(from, to, |link| link.at_sender = Association::over(barred));
    }

    /// Sets whether a node refuses data from another because the association has ended.
    pub fn refuse(&mut self, from: RadioId, to: RadioId, refused: bool) {
        self.each_link(from, to, |link| {
            link.at_receiver = Association::over(refused)
        });
    }

    /// Sets whether a station dozes as far as its access point knows.
    pub fn set_dozing(&mut self, station: RadioId, access_point: RadioId, dozing: bool) {
        let (state, mode) = if dozing {
            (PowerState::Doze, PowerMode::PowerSave)
        } else {
            (PowerState::Awake, PowerMode::Active)
        };
        self.each_link(access_point, station, |link| link.receiver_state = state);
        self.each_link(station, access_point, |link| link.sender_mode = mode);
        for link in self.signalling_links(station) {
            self.links[link].sender_mode = mode;
        }
    }

    /// Changes every link for data from a node to another.
    fn each_link(&mut self, from: RadioId, to: RadioId, change: impl Fn(&mut TxLink)) {
        let state = &self.nodes[from];
        let rows = if state.several_contenders() { 4 } else { 1 };
        for link in successive(state.first_link, rows * state.neighbours) {
            let link = &mut self.links[link];
            if link.peer == to {
                change(link);
            }
        }
    }

    /// The levels of a node's links changed: forgets the probabilities of success.
    pub fn forget_success(&mut self, node: RadioId) {
        for link in &mut self.links {
            link.forget_success(node);
        }
    }

    /// The queue of a flow's sender is kept full.
    pub fn set_backlog(&mut self, flow: FlowId, backlog: Backlog) {
        while self.backlogs.get(flow).is_none() {
            self.backlogs.push(None);
        }
        self.backlogs[flow] = Some(backlog);
    }

    /// The queue of a flow's sender is kept full from `start` only, if it is kept full.
    pub fn refill_backlog(&mut self, flow: FlowId, start: Instant) {
        if let Some(Some(backlog)) = self.backlogs.get_mut(flow) {
            backlog.refill(start);
        }
    }

    #[inline]
    fn sifs(&self, medium: &Medium, contender: ContenderId) -> Duration {
        medium.sifs(self.contenders[contender].channel)
    }

    /// Another own contender of a channel has a frame, or one fewer.
    #[inline]
    fn want(&self, cx: &mut Context, medium: &mut Medium, contender: ContenderId, more: bool) {
        let contender = &self.contenders[contender];
        medium.want(cx, contender.channel, contender.node, more);
    }
}

impl Node {
    /// Whether its access categories contend separately.
    fn several_contenders(&self) -> bool {
        self.contenders[0] != self.contenders[1]
    }

    /// The link to a radio neighbour for an access category.
    fn link(&self, neighbour: NeighbourId, category: u8) -> LinkId {
        let row = if self.several_contenders() {
            u32::from(category)
        } else {
            0
        };
        let at = row * self.neighbours + neighbour.number();
        LinkId::new(self.first_link.number() + at)
    }
}

/// This many successive links.
fn successive(first: LinkId, count: u32) -> impl Iterator<Item = LinkId> {
    let first = first.number();
    (first..first + count).map(LinkId::new)
}
