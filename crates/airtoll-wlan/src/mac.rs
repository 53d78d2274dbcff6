//! The MAC: contention, frame exchanges, transmit queues, aggregation, fragmentation, protection,
//! rates, lifetimes and beacons.
//!
//! Takes packets for a next hop, and transmissions as they end; gives transmissions to the medium,
//! and packets that arrived or were lost to the outbox. The path of a packet: `queue` takes it,
//! `contention` wins the medium, `aggregation` puts it into a PPDU, `exchange` sends that and waits
//! for the response, `settlement` hands received MPDUs up and drops finished ones.

mod aggregation;
mod beacon;
mod codel;
mod contention;
mod exchange;
mod fragmentation;
mod group;
mod lifetime;
mod link;
mod mode;
mod queue;
mod rate_control;
mod settlement;

use airtoll_engine::Stream;
use airtoll_units::{Duration, Instant};

use crate::context::Context;
use crate::medium::Medium;
use crate::packet::{NONE, Slab};
use crate::scenario::Discipline;
use contention::{Contender, Domain};
use queue::MacQueue;

pub(crate) use beacon::BeaconPlan;
use beacon::Listener;
pub(crate) use contention::AccessKind;
pub(crate) use exchange::FrameExchange;
pub(crate) use fragmentation::Division;
pub(crate) use group::GroupFrame;
pub(crate) use lifetime::{Backlog, NONE as NO_LIFETIME};
pub(crate) use link::{Mpdu, TxLink, mac_octets};
pub(crate) use mode::{Mode, band, basic_rates, choices, legacy, mcs, timing};
pub(crate) use rate_control::{Aarf, Minstrel, RateControl};

/// State of the MAC of a node.
#[derive(Debug)]
struct Node {
    /// Its contenders by access category; under DCF four times the same.
    contenders: [u32; 4],
    /// Its first link; one row of `neighbours` links per contender follows.
    first_link: u32,
    neighbours: u32,
    /// First of its links for management and EAPOL frames, one per neighbour, if it has any.
    signalling: u32,
    /// An access point's link for group-addressed data frames, if it has one.
    group: u32,
    beacon: Option<BeaconPlan>,
    queue_limit: u32,
    /// MSDU lifetime; longer than any trial where there is none.
    lifetime: Duration,
    discipline: Discipline,
}

/// Contenders, links and their queues.
pub(crate) struct Mac {
    nodes: Vec<Node>,
    /// One stream per node for its back-off.
    streams: Vec<Stream>,
    /// Contention on each channel.
    domains: Vec<Domain>,
    contenders: Vec<Contender>,
    exchanges: Vec<FrameExchange>,
    /// TXOP limit or burst time of each contender; zero: one exchange.
    txop_limits: Vec<Duration>,
    queues: Vec<MacQueue>,
    links: Vec<TxLink>,
    modes: Vec<Mode>,
    /// Queues that saturated applications keep full, by flow.
    backlogs: Vec<Option<Backlog>>,
    /// Stations that listen for beacons.
    listeners: Vec<Listener>,
    /// The NAV of an RTS's receiver before that RTS.
    earlier_nav: Instant,
    /// Ends of RTSs and of their reservations, for the nodes that may cancel those (NAVTimeout).
    reservations: Slab<(Instant, Instant)>,
    /// Contenders that won at the present instant.
    winners: Vec<u32>,
    /// How many of them transmit, and the node of the last one.
    transmitting: (usize, u32),
}

impl Mac {
    /// A MAC without nodes.
    pub fn new() -> Self {
        Self {
            nodes: Vec::new(),
            streams: Vec::new(),
            domains: Vec::new(),
            contenders: Vec::new(),
            exchanges: Vec::new(),
            txop_limits: Vec::new(),
            queues: Vec::new(),
            links: Vec::new(),
            modes: Vec::new(),
            backlogs: Vec::new(),
            listeners: Vec::new(),
            earlier_nav: Instant::ZERO,
            reservations: Slab::new(),
            winners: Vec::new(),
            transmitting: (0, NONE),
        }
    }

    /// Adds a node that contends nowhere yet; `stream` draws its back-offs.
    pub fn add_node(
        &mut self,
        stream: Stream,
        queue_limit: u32,
        lifetime: Duration,
        discipline: Discipline,
    ) {
        self.streams.push(stream);
        self.nodes.push(Node {
            contenders: [0; 4],
            first_link: 0,
            neighbours: 0,
            signalling: NONE,
            group: NONE,
            beacon: None,
            queue_limit,
            lifetime,
            discipline,
        });
    }

    /// Adds a channel with this many sensing classes.
    pub fn add_channel(&mut self, slot: Duration, classes: u32) {
        self.domains.push(Domain::new(slot, classes));
    }

    /// Sets a node's contenders by access category.
    pub fn set_contenders(&mut self, node: u32, contenders: [u32; 4]) {
        self.nodes[node as usize].contenders = contenders;
    }

    /// The next links are those of a node: one row of `neighbours` per contender.
    pub fn begin_links(&mut self, node: u32, neighbours: u32) {
        let first = self.links.len() as u32;
        let state = &mut self.nodes[node as usize];
        state.first_link = first;
        state.neighbours = neighbours;
    }

    /// The next links are those of a node for management and EAPOL frames.
    pub fn begin_signalling(&mut self, node: u32) {
        self.nodes[node as usize].signalling = self.links.len() as u32;
    }

    /// An access point sends group-addressed data frames by this link.
    pub fn set_group_link(&mut self, node: u32, link: u32) {
        self.nodes[node as usize].group = link;
    }

    /// Adds a link; gives its number.
    pub fn add_link(&mut self, link: TxLink) -> u32 {
        self.links.push(link);
        (self.links.len() - 1) as u32
    }

    /// Adds a mode; gives its number.
    pub fn add_mode(&mut self, mode: Mode) -> u32 {
        self.modes.push(mode);
        (self.modes.len() - 1) as u32
    }

    /// All modes.
    pub fn modes(&self) -> &[Mode] {
        &self.modes
    }

    /// A mode.
    #[inline]
    pub fn mode(&self, mode: u32) -> &Mode {
        &self.modes[mode as usize]
    }

    /// All links.
    pub fn links(&self) -> &[TxLink] {
        &self.links
    }

    /// A link.
    #[inline]
    pub fn link(&self, link: u32) -> &TxLink {
        &self.links[link as usize]
    }

    /// Sets the cipher of a link.
    pub fn set_cipher(&mut self, link: u32, cipher: airtoll_security::CipherSuite) {
        self.links[link as usize].cipher = cipher;
    }

    /// The frame exchange of a contender.
    pub fn exchange(&self, contender: u32) -> &FrameExchange {
        &self.exchanges[contender as usize]
    }

    /// The node of a contender.
    #[inline]
    pub fn node_of(&self, contender: u32) -> u32 {
        self.contenders[contender as usize].node
    }

    /// The contender of a node for an access category.
    #[inline]
    pub fn contender(&self, node: u32, category: u8) -> u32 {
        self.nodes[node as usize].contenders[usize::from(category)]
    }

    /// The access category of a contender, 0 background to 3 voice.
    pub fn category_of(&self, contender: u32) -> u8 {
        self.contenders[contender as usize].category()
    }

    /// The link of a node to a radio neighbour for an access category.
    #[inline]
    pub fn link_to(&self, node: u32, neighbour: u32, category: u8) -> u32 {
        self.nodes[node as usize].link(neighbour, category)
    }

    /// A node's links for its first contender, one per neighbour.
    pub fn first_links(&self, node: u32) -> std::ops::Range<u32> {
        let state = &self.nodes[node as usize];
        state.first_link..state.first_link + state.neighbours
    }

    /// A node's links for management and EAPOL frames.
    pub fn signalling_links(&self, node: u32) -> std::ops::Range<u32> {
        let state = &self.nodes[node as usize];
        state.signalling..state.signalling.saturating_add(state.neighbours)
    }

    /// An access point's link for group-addressed data frames.
    #[inline]
    pub fn group_link(&self, node: u32) -> Option<u32> {
        let link = self.nodes[node as usize].group;
        (link != NONE).then_some(link)
    }

    /// The beacons of an access point.
    pub fn beacon(&self, node: u32) -> Option<&BeaconPlan> {
        self.nodes[node as usize].beacon.as_ref()
    }

    /// Packets that a node's transmit queue takes.
    pub fn queue_limit(&self, node: u32) -> u32 {
        self.nodes[node as usize].queue_limit
    }

    /// MSDU lifetime at a node.
    pub fn lifetime(&self, node: u32) -> Duration {
        self.nodes[node as usize].lifetime
    }

    /// Sets the MSDU lifetime at a node.
    pub fn set_lifetime(&mut self, node: u32, lifetime: Duration) {
        self.nodes[node as usize].lifetime = lifetime;
    }

    /// Whether all management and EAPOL frames of a station for its access point have been sent.
    pub fn has_sent_signalling(&self, station: u32, access_point: u32) -> bool {
        let mut links = self.signalling_links(station).map(|link| self.link(link));
        links.all(|link| link.peer != access_point || link.is_empty())
    }

    /// Sets whether a node drops data for another because the association between them has ended.
    pub fn bar(&mut self, from: u32, to: u32, barred: bool) {
        self.each_link(from, to, |link| link.barred = barred);
    }

    /// Sets whether a node refuses data from another because the association has ended.
    pub fn refuse(&mut self, from: u32, to: u32, refused: bool) {
        self.each_link(from, to, |link| link.refused = refused);
    }

    /// Sets whether a station dozes as far as its access point knows.
    pub fn set_dozing(&mut self, station: u32, access_point: u32, dozing: bool) {
        self.each_link(access_point, station, |link| link.dozing = dozing);
        self.each_link(station, access_point, |link| link.wakes = dozing);
        for link in self.signalling_links(station) {
            self.links[link as usize].wakes = dozing;
        }
    }

    /// Changes every link for data from a node to another.
    fn each_link(&mut self, from: u32, to: u32, change: impl Fn(&mut TxLink)) {
        let state = &self.nodes[from as usize];
        let rows = if state.several_contenders() { 4 } else { 1 };
        let own = state.first_link..state.first_link + rows * state.neighbours;
        for link in own {
            let link = &mut self.links[link as usize];
            if link.peer == to {
                change(link);
            }
        }
    }

    /// The levels of a node's links changed: forgets the probabilities of success.
    pub fn forget_success(&mut self, node: u32) {
        for link in &mut self.links {
            if [link.from, link.peer].contains(&node) {
                link.success = (u32::MAX, 0, 0.0);
            }
        }
    }

    /// The queue of a flow's sender is kept full.
    pub fn set_backlog(&mut self, flow: u32, backlog: Backlog) {
        let at = flow as usize;
        if self.backlogs.len() <= at {
            self.backlogs.resize(at + 1, None);
        }
        self.backlogs[at] = Some(backlog);
    }

    #[inline]
    fn sifs(&self, medium: &Medium, contender: u32) -> Duration {
        medium.sifs(self.contenders[contender as usize].channel)
    }

    /// Another contender of a channel has a frame, or one fewer.
    #[inline]
    fn want(&self, cx: &mut Context, medium: &mut Medium, contender: u32, more: bool) {
        let channel = self.contenders[contender as usize].channel;
        medium.book(cx, channel);
        medium.channel_mut(channel).want(more);
    }
}

impl Node {
    /// Whether its access categories contend separately.
    fn several_contenders(&self) -> bool {
        self.contenders[0] != self.contenders[1]
    }

    /// The link to a radio neighbour for an access category.
    fn link(&self, neighbour: u32, category: u8) -> u32 {
        let row = if self.several_contenders() {
            u32::from(category)
        } else {
            0
        };
        self.first_link + row * self.neighbours + neighbour
    }
}
