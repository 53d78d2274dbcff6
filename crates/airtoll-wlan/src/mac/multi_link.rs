//! Multi-link devices (IEEE 802.11be, 35.3): radios on different channels that share the transmit queues
//! of their device, and transmit and receive independently of one another (STR).
//!
//! A device has one queue per access category, at the contender of its first radio. Frames for another
//! multi-link device have one sequence number space and one block ack agreement per TID
//! ([`super::TxLink`] with several ways), so that any radio may send, or send again, any frame that none of
//! the others is sending. Does not choose the frames of a PPDU: `aggregation` does.

use super::Mac;
use super::contention::Standing;
use super::link::Listing;
use super::queue::SIGNALLING_CATEGORY;
use crate::context::Context;
use crate::id::{ContenderId, LinkId, NeighbourId, RadioId};
use crate::medium::Medium;

impl Mac {
    /// The contenders of these radios, the first one of its device before the others, draw from the
    /// queues of the first one.
    pub fn share_queues(&mut self, radios: &[RadioId]) {
        for category in 0..4 {
            let all: Vec<ContenderId> = radios
                .iter()
                .map(|r| self.contender(*r, category))
                .collect();
            for &id in &all {
                let contender = &mut self.contenders[id];
                contender.home = all[0];
                contender.siblings = all.iter().copied().filter(|c| *c != id).collect();
            }
        }
    }

    /// Radios of a multi-link device, the first one of its links first; of another node that radio.
    pub fn radios_of_device(&self, first: RadioId) -> Vec<RadioId> {
        let own = self.contender(first, 1);
        let mut all = vec![first];
        if let Some(contender) = self.contenders.get(own).filter(|c| c.node == first) {
            let nodes = contender.siblings.iter().map(|c| self.contenders[*c].node);
            all.extend(nodes);
        }
        all
    }

    /// The contender whose queue a contender draws from.
    #[inline]
    pub(super) fn home_of(&self, contender: ContenderId) -> ContenderId {
        self.contenders[contender].home
    }

    /// Whether several contenders draw from the queue of a contender.
    #[inline]
    pub(super) fn shares_queue(&self, contender: ContenderId) -> bool {
        !self.contenders[contender].siblings.is_empty()
    }

    /// Whether a contender finds a frame that it may send by a link.
    fn serves(&self, contender: ContenderId, link: LinkId) -> bool {
        let state = &self.links[link];
        let way = state.way_of(self.contenders[contender].node);
        way.is_some_and(|way| {
            let listens = self.single_radios.is_none() || self.may_address(contender, (link, way));
            listens && state.has_sendable()
        })
    }

    /// Whether a contender of a multi-link device finds a frame that it may send.
    pub(super) fn has_sendable(&self, contender: ContenderId) -> bool {
        self.sendable(contender).is_some()
    }

    /// The first link by which a contender of a multi-link device may send a frame.
    fn sendable(&self, contender: ContenderId) -> Option<LinkId> {
        let category = self.category_of(contender);
        let first = self.contenders[self.home_of(contender)].node;
        let state = &self.nodes[first];
        let mut links = (0..state.neighbours).map(|n| state.link(NeighbourId::new(n), category));
        let data = links.find(|link| self.serves(contender, *link));
        data.or_else(|| {
            let own = self.contenders[contender].node;
            let mut links = self.signalling_links(own);
            links.find(|link| category == SIGNALLING_CATEGORY && self.serves(contender, *link))
        })
    }

    /// The link that a contender of a multi-link device serves next: frames that have to be sent again,
    /// by whichever radio they were sent before, and then the first in the order of its queue that its
    /// radio reaches.
    pub(super) fn choose_shared(&mut self, contender: ContenderId) -> Option<LinkId> {
        let own = &self.contenders[contender];
        let home = own.home;
        let all = std::iter::once(contender).chain(own.siblings.iter().copied());
        let again = all.filter_map(|c| self.queues[c].unfinished);
        if let Some(link) = again.into_iter().find(|link| self.serves(contender, *link)) {
            return Some(link);
        }
        let in_turn = self.in_turn(contender);
        let (links, queue) = (&mut self.links, &mut self.queues[home]);
        while let Some(link) = queue.order.front() {
            let state = &mut links[link];
            if in_turn && !state.has_work() {
                state.listing = Listing::Unlisted;
            } else if !in_turn && state.taken_early > 0 {
                state.taken_early -= 1;
            } else {
                break;
            }
            queue.order.pop_front();
        }
        // Packets of one receiver often follow one another.
        let mut refused = None;
        let queue = &self.queues[home];
        let link = queue.order.links().find(|link| {
            if refused == Some(*link) {
                return false;
            }
            refused = Some(*link);
            self.serves(contender, *link)
        });
        let Some(link) = link else {
            // Frames to be sent again, after a radio has served another receiver since.
            return self.sendable(contender);
        };
        if in_turn {
            self.queues[home].order.move_to_end(link);
        }
        Some(link)
    }

    /// A packet came into the queue of a multi-link device: all radios that reach its receiver contend.
    #[cold]
    pub(super) fn notice_by_all(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        (link, contender): (LinkId, ContenderId),
    ) {
        let mut all = self.contenders[contender].siblings.clone();
        all.insert(0, contender);
        for id in all {
            if self.serves(id, link) {
                self.notice_one(cx, medium, id);
            }
        }
    }

    /// An exchange of a contender has moved the window of a link on, or left frames to be sent again:
    /// radios of its device that found nothing to send before contend.
    #[inline]
    pub(super) fn wake_other_radios(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        contender: ContenderId,
        link: LinkId,
    ) {
        if self.links[link].has_several_ways() {
            self.wake_siblings(cx, medium, contender, link);
        }
    }

    #[cold]
    fn wake_siblings(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        contender: ContenderId,
        link: LinkId,
    ) {
        for id in self.contenders[contender].siblings.clone() {
            if self.contenders[id].standing == Standing::Resting && self.serves(id, link) {
                self.wake(cx, medium, id);
            }
        }
    }
}
