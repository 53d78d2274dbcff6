//! Transmit queues: one per contender, over all links that it serves.

use std::cmp::Reverse;

use airtoll_phy as phy;
use airtoll_units::{Duration, Instant};

use super::Mac;
use super::contention::Standing;
use super::link::Listing;
use super::order::Order;
use crate::context::Context;
use crate::id::{ContenderId, Ends, LinkId, NeighbourId, PacketId, RadioId};
use crate::medium::Medium;
use crate::packet::Loss;
use crate::queueing::{CODEL_TARGET, Codel, flow_key};
use crate::scenario::Discipline;

/// The transmit queue of one contender.
#[derive(Debug)]
pub(super) struct MacQueue {
    /// Packets in all its links, sent and not yet acknowledged ones included.
    pub(super) packets: u32,
    /// Links in the order in which their packets came, one entry per packet; where receivers are
    /// served in turn, links in the order of their turns.
    pub(super) order: Order,
    /// Link whose MPDUs have to be sent again first.
    pub(super) unfinished: Option<LinkId>,
    pub(super) codel: Option<Codel>,
}

impl MacQueue {
    pub(super) fn new(discipline: Discipline) -> Self {
        Self {
            packets: 0,
            order: Order::default(),
            unfinished: None,
            codel: (discipline == Discipline::Codel).then(|| Codel::new(CODEL_TARGET)),
        }
    }
}

/// Access category of management and EAPOL frames: voice.
pub(crate) const SIGNALLING_CATEGORY: u8 = 3;

impl Mac {
    /// Puts a packet that is ready since `at` into the queue towards the next hop; gives `false` if it is
    /// full.
    pub fn enqueue(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (link, contender): (LinkId, ContenderId),
        (packet, at): (PacketId, Instant),
    ) -> bool {
        let node = &self.nodes[self.contenders[contender].node];
        let (limit, discipline) = (node.queue_limit, node.discipline);
        if discipline == Discipline::FqCodel {
            self.enqueue_flow(cx, medium, (link, contender), packet);
            return true;
        }
        if self.queues[contender].packets >= limit
            && (discipline != Discipline::RoundRobin
                || !self.drop_from_longest(cx, contender, link))
        {
            return false;
        }
        cx.packets[packet].left = at;
        let state = &mut self.links[link];
        state.queue.push_back(packet);
        let queue = &mut self.queues[contender];
        queue.packets += 1;
        let enters = discipline != Discipline::RoundRobin
            || std::mem::replace(&mut state.listing, Listing::Listed) == Listing::Unlisted;
        if enters {
            queue.order.push_back(link);
        }
        self.notice(cx, medium, (link, contender));
        true
    }

    /// Puts a packet behind another one of the same link and contender, where it changes nothing but the
    /// queue; gives whether it does.
    #[inline]
    pub fn enqueue_behind(
        &mut self,
        cx: &mut Context,
        (link, contender): (LinkId, ContenderId),
        (packet, at): (PacketId, Instant),
    ) -> bool {
        let state = &self.contenders[contender];
        let node = &self.nodes[state.node];
        let queue = &mut self.queues[contender];
        let noticed = state.standing == Standing::Resting
            || queue.unfinished.is_some()
            || !state.siblings.is_empty();
        if noticed || node.discipline.serves_in_turn() || queue.packets >= node.queue_limit {
            return false;
        }
        cx.packets[packet].left = at;
        self.links[link].queue.push_back(packet);
        queue.packets += 1;
        queue.order.push_back(link);
        true
    }

    /// Puts a packet into the queue of its flow, and cuts the longest queue if all together are too
    /// long.
    #[cold]
    fn enqueue_flow(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (link, contender): (LinkId, ContenderId),
        packet: PacketId,
    ) {
        let node = self.contenders[contender].node;
        let now = cx.now();
        let p = &mut cx.packets[packet];
        p.left = now;
        let key = flow_key(p, medium.host_of(node));
        let octets = phy::LLC_SNAP_OCTETS + p.ip_octets;
        let state = &mut self.links[link];
        if let Some(numbers) = &mut state.numbers {
            numbers.give(packet);
        }
        match &mut state.flows {
            Some(flows) => flows.push(key, packet, octets, now),
            // Group-addressed frames.
            None => state.queue.push_back(packet),
        }
        self.queues[contender].packets += 1;
        self.list(contender, link);
        while self.queues[contender].packets > self.nodes[node].queue_limit {
            if !self.cut_longest_flow(cx, contender) {
                break;
            }
        }
        self.notice(cx, medium, (link, contender));
    }

    /// Cuts the longest flow queue of a contender; `false` if all packets are in frames already.
    fn cut_longest_flow(&mut self, cx: &mut Context, contender: ContenderId) -> bool {
        let links = &mut self.links;
        let queue = &mut self.queues[contender];
        let lengths = queue.order.links().filter_map(|l| {
            let flows = links[l].flows.as_ref()?;
            Some((flows.longest(), Reverse(l)))
        });
        let Some((octets, Reverse(link))) = lengths.max() else {
            return false;
        };
        if octets == 0 {
            return false;
        }
        if let Some(flows) = &mut links[link].flows {
            flows.cut_longest(|packet| {
                queue.packets -= 1;
                cx.lose(packet, Loss::Full);
            });
        }
        true
    }

    /// Puts a management or EAPOL frame behind those that wait already and before all data, as
    /// Linux's queues do with control traffic (priority 7: band 0 of pfifo_fast; a flow of its own
    /// in mac80211's intermediate queues). A packet that finds the queue full of such frames is
    /// lost.
    pub fn enqueue_signalling(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (link, contender): (LinkId, ContenderId),
        packet: PacketId,
    ) {
        let node = &self.nodes[self.contenders[contender].node];
        let limit = node.queue_limit;
        let listed = node.discipline.serves_in_turn();
        let home = self.home_of(contender);
        let queue = &mut self.queues[home];
        let (links, order) = (&mut self.links, &mut queue.order);
        let first = |l: LinkId| links[l].goes_first();
        let at_end = order.back().is_some_and(first);
        if at_end && queue.packets >= limit {
            cx.lose(packet, Loss::Full);
            return;
        }
        let lists = !listed || links[link].listing == Listing::Unlisted;
        if lists && at_end {
            order.push_back(link);
        } else if lists {
            order.insert_before(link, |l| !first(l));
        }
        cx.packets[packet].left = cx.now();
        let state = &mut links[link];
        state.queue.push_back(packet);
        queue.packets += 1;
        if listed {
            state.listing = Listing::Listed;
        }
        self.notice(cx, medium, (link, contender));
    }

    /// Sends a management or EAPOL frame to a radio neighbour; a packet for any other node is lost.
    pub fn send_signalling(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        ends: Ends<RadioId>,
        packet: PacketId,
    ) {
        let Ends { from: node, to } = ends;
        let contender = self.contender(node, cx.packets[packet].category);
        let mut links = self.signalling_links(node);
        match links.find(|l| self.links[*l].peer == to) {
            Some(link) => self.enqueue_signalling(cx, medium, (link, contender), packet),
            None => cx.lose(packet, Loss::Away),
        }
    }

    /// The same once the receiver is awake.
    pub fn signal_awake(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        node: RadioId,
        to: RadioId,
        packet: PacketId,
    ) {
        let contender = self.contender(node, cx.packets[packet].category);
        let mut links = self.signalling_links(node);
        let link = links.find(|l| self.links[*l].peer == to);
        drop(links);
        let kept = link.is_some_and(|link| {
            self.has_savers() && self.keep_if_asleep(cx, medium, (link, contender), packet)
        });
        if !kept {
            let ends = Ends { from: node, to };
            self.send_signalling(cx, medium, ends, packet);
        }
    }

    /// A packet came into a contender's queue.
    #[inline]
    fn notice(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (link, contender): (LinkId, ContenderId),
    ) {
        if self.shares_queue(contender) {
            self.notice_by_all(cx, medium, (link, contender));
        } else {
            self.notice_one(cx, medium, contender);
        }
    }

    /// The same for one radio.
    #[inline]
    pub(super) fn notice_one(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        contender: ContenderId,
    ) {
        match self.contenders[contender].standing {
            Standing::Resting => self.wake(cx, medium, contender),
            Standing::Counting => {
                if let Some(link) = self.queues[contender].unfinished {
                    let now = cx.now();
                    self.discard_expired(cx, contender, link, now);
                }
            }
            Standing::Exchanging | Standing::Preparing => {}
        }
    }

    /// Sets whether packets come into the transmit queues of EDCA nodes only when a contender looks at
    /// them. Nothing else may change in between: no station moves, dozes or joins during the traffic.
    pub fn let_arrivals_wait(&mut self, wait: bool) {
        self.arrivals_wait = wait;
    }

    /// Whether a contender finds a packet early enough when it next looks at its queue; `waiting`
    /// packets will come into it, that packet included.
    #[inline]
    pub fn may_wait(&self, radio: RadioId, contender: ContenderId, waiting: usize) -> bool {
        waiting <= self.most_waiting(radio, contender)
    }

    /// How many packets a contender finds early enough when it next looks at its queue. It has frames
    /// before them, none of which has to be sent again (their expiry is checked at each arrival), and
    /// room.
    #[inline]
    pub fn most_waiting(&self, radio: RadioId, contender: ContenderId) -> usize {
        let queue = &self.queues[contender];
        let state = &self.contenders[contender];
        let node = &self.nodes[radio];
        let looks = self.arrivals_wait
            && state.standing != Standing::Resting
            && queue.unfinished.is_none()
            && node.discipline != Discipline::FqCodel
            && state.siblings.is_empty()
            && !self.has_cards;
        if !looks {
            return 0;
        }
        node.queue_limit.saturating_sub(queue.packets) as usize
    }

    /// Cuts the longest queue of the contender by its newest packet; `false` if that is `link`'s.
    fn drop_from_longest(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        link: LinkId,
    ) -> bool {
        let queue = &self.queues[contender];
        let longest = queue
            .order
            .links()
            .max_by_key(|l| (self.links[*l].queue.len(), Reverse(*l)));
        let Some(longest) = longest
            .filter(|l| *l != link && self.links[*l].queue.len() > self.links[link].queue.len())
        else {
            return false;
        };
        let packet = self.links[longest].queue.pop_back();
        self.queues[contender].packets -= 1;
        if let Some(packet) = packet {
            cx.lose(packet, Loss::Full);
        }
        true
    }

    /// Whether the contender has anything to send.
    #[inline]
    pub(super) fn has_frame(&self, contender: ContenderId) -> bool {
        if self.shares_queue(contender) {
            return self.has_sendable(contender);
        }
        self.queues[contender].packets > 0 || (self.ofdma.is_some() && self.owes_trigger(contender))
    }

    /// The link that is served next.
    #[inline(always)]
    pub(super) fn choose_link(&mut self, contender: ContenderId) -> Option<LinkId> {
        let node = self.contenders[contender].node;
        let discipline = self.nodes[node].discipline;
        if self.shares_queue(contender) {
            return self.choose_shared(contender);
        }
        if discipline == Discipline::FqCodel {
            return self.choose_scheduled(contender);
        }
        let in_turn = discipline.serves_in_turn();
        let queue = &mut self.queues[contender];
        if let Some(link) = queue.unfinished {
            return Some(link);
        }
        while let Some(link) = queue.order.front() {
            let state = &mut self.links[link];
            if in_turn {
                queue.order.pop_front();
                if state.has_work() {
                    queue.order.push_back(link);
                    return Some(link);
                }
                state.listing = Listing::Unlisted;
                continue;
            }
            if state.taken_early == 0 {
                return Some(link);
            }
            state.taken_early -= 1;
            queue.order.pop_front();
        }
        None
    }

    /// Whether the receivers of a contender are served in turn.
    #[inline]
    pub(super) fn in_turn(&self, contender: ContenderId) -> bool {
        let node = self.contenders[contender].node;
        self.nodes[node].discipline.serves_in_turn()
    }

    /// Takes the next packet of a link into an MPDU; drops the packets that CoDel selects. It keeps its
    /// place in the order until the MPDU is sent: an MPDU that does not fit into the PPDU must not go
    /// before older packets for other receivers.
    #[inline(always)]
    pub(super) fn take_packet(
        &mut self,
        cx: &mut Context,
        (contender, link): (ContenderId, LinkId),
        lifetime: Duration,
    ) -> Option<PacketId> {
        let now = cx.now();
        loop {
            let state = &mut self.links[link];
            if state.flows.is_some() {
                return self.take_of_flows(cx, contender, link);
            }
            let packet = state.queue.pop_front()?;
            let sojourn = now - cx.packets[packet].left;
            let backlog = !state.queue.is_empty();
            let home = self.home_of(contender);
            let queue = &mut self.queues[home];
            let unwanted = match &mut queue.codel {
                Some(codel) => codel.drops(now, sojourn, backlog),
                None => false,
            };
            if unwanted || sojourn > lifetime {
                queue.packets -= 1;
                let cause = if unwanted {
                    Loss::Discipline
                } else {
                    self.expiry(contender)
                };
                cx.lose(packet, cause);
                self.leave_order(contender, link, 1);
                continue;
            }
            return Some(packet);
        }
    }

    /// Packets of a link leave the contender's order: they are in a PPDU, or dropped. Their entries are
    /// either at the front or skipped later.
    #[inline]
    pub(super) fn leave_order(&mut self, contender: ContenderId, link: LinkId, packets: u32) {
        if packets == 0 || self.in_turn(contender) {
            // The order holds links, not packets.
            return;
        }
        let home = self.home_of(contender);
        let order = &mut self.queues[home].order;
        let taken = order.take_front(link, packets);
        if taken < packets {
            self.links[link].taken_early += packets - taken;
        }
    }

    /// Takes the next packet of a link's flow queues.
    #[cold]
    fn take_of_flows(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        link: LinkId,
    ) -> Option<PacketId> {
        let now = cx.now();
        let (lifetime, cause) = (self.lifetime_of(contender), self.expiry(contender));
        let home = self.home_of(contender);
        let queue = &mut self.queues[home];
        let flows = self.links[link].flows.as_mut()?;
        loop {
            let (packet, sojourn) = flows.pop(now, |packet| {
                queue.packets -= 1;
                cx.lose(packet, Loss::Discipline);
            })?;
            if sojourn <= lifetime {
                return Some(packet);
            }
            queue.packets -= 1;
            cx.lose(packet, cause);
        }
    }

    /// Takes the packet that [`super::TxLink::following`] names into the same A-MSDU.
    pub(super) fn take_following(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        link: LinkId,
    ) -> Option<PacketId> {
        match &mut self.links[link].flows {
            Some(flows) => flows.pop_following(),
            None => {
                let lifetime = self.lifetime_of(contender);
                self.take_packet(cx, (contender, link), lifetime)
            }
        }
    }

    /// Takes the data that a node has for another out of its queues, the oldest first; messages of
    /// negotiations and frames on the air stay.
    pub fn take_back(&mut self, cx: &mut Context, from: RadioId, to: RadioId) -> Vec<PacketId> {
        let state = &self.nodes[from];
        let rows = if state.several_contenders() { 4 } else { 1 };
        let links: Vec<(LinkId, ContenderId)> = (0..rows)
            .flat_map(|category: u8| {
                let contender = state.contenders[usize::from(category)];
                let of = move |n| (state.link(NeighbourId::new(n), category), contender);
                (0..state.neighbours).map(of)
            })
            .filter(|(link, _)| self.links[*link].peer == to)
            .collect();
        let mut taken = Vec::new();
        for (link, contender) in links {
            self.empty(cx, link, contender, &mut taken);
        }
        taken
    }

    /// The trial ends: data between radios of which a moving station has left one are lost, on the
    /// air or not, as no receiver can get them any more.
    #[cold]
    pub fn drop_stranded(&mut self, cx: &mut Context, medium: &Medium) {
        let left = |radio: RadioId| medium.radio_of(medium.host_of(radio)) != radio;
        let mut pairs = Vec::new();
        for link in &mut self.links {
            if link.is_signalling() || link.is_group() || !(left(link.from) || left(link.peer)) {
                continue;
            }
            for mpdu in &mut link.window {
                mpdu.in_flight = None;
            }
            let pair = (link.from, link.peer);
            if !link.is_empty() && !pairs.contains(&pair) {
                pairs.push(pair);
            }
        }
        for (from, to) in pairs {
            self.flush(cx, from, to);
        }
    }

    /// Drops the data that a node has for another; messages of negotiations and frames on the air
    /// stay.
    pub fn flush(&mut self, cx: &mut Context, from: RadioId, to: RadioId) {
        let kept = self.take_kept(from, to);
        for packet in self.take_back(cx, from, to).into_iter().chain(kept) {
            cx.lose(packet, Loss::Away);
        }
    }
}
