//! PPDUs to several stations: HE MU PPDU with a MU-BAR Trigger frame in the A-MPDU of each user, and
//! BlockAcks in HE TB PPDUs SIFS later (IEEE 802.11ax-2021, 26.4.4.2).

use airtoll_phy::{self as phy, Shared, TxVector};
use airtoll_units::Duration;

use super::super::Mac;
use super::super::aggregation::Fill;
use super::super::link::{Request, Way};
use super::super::mode::Mode;
use super::{DELIMITER, Sharing, Slice, Stage, User, longest, scheduler, with_frame};
use crate::context::Context;
use crate::id::ContenderId;
use crate::medium::{Gap, Medium, Transmission};
use crate::observe::Observation;
use crate::observe::ledger::Air;

/// The MU-BAR to a lone user.
pub(super) const MU_BAR_OCTETS: u32 = phy::trigger_octets(phy::Trigger::MuBar, 1);

/// Octets of the BlockAck of a user in its HE TB PPDU.
fn answer_octets(mode: &Mode) -> u32 {
    DELIMITER + phy::block_ack_octets(mode.window())
}

impl Mac {
    /// Prepares a PPDU to several stations; `None` where an exchange of one link is due.
    pub(super) fn fill_downlink(
        &mut self,
        cx: &mut Context,
        medium: &Medium,
        (id, room): (ContenderId, Option<Duration>),
        sharing: &mut Sharing,
    ) -> Option<Fill> {
        if !sharing.rules.downlink || self.is_other_first(id) {
            return None;
        }
        let now = cx.now();
        let mut dropped = false;
        for station in &sharing.stations {
            dropped |= self.discard_expired(cx, id, station.down, now);
        }
        if dropped {
            return Some(Fill::Dropped);
        }
        let waits = |at: &usize| {
            let link = &self.links[sharing.stations[*at].down];
            !link.is_barred() && !link.is_dozing() && link.has_sendable() && !link.is_empty()
        };
        let candidates: Vec<usize> = (0..sharing.stations.len()).filter(waits).collect();
        if candidates.len() < 2 {
            return None;
        }
        let (unit, most) = scheduler::equal_units(sharing.rules.width, candidates.len())?;
        let (chosen, next) = scheduler::in_turn(&candidates, sharing.turns[0], most);
        if chosen.len() < 2 {
            return None;
        }
        let mut users = Vec::new();
        for at in chosen {
            let rate = self.links[sharing.stations[at].down].rate_of(Way::FIRST);
            let mode = rate.choose();
            users.push(User {
                at,
                mode,
                vector: *self.modes[mode].vector(),
                unit,
                number: users.len() as u32,
                count: 0,
                psdu: 0,
                answers: false,
                arrived: false,
                acknowledged: false,
            });
        }
        let answer = self.lay_out(&mut users)?;
        let sifs = self.sifs(medium, id);
        let longest = longest(room, sifs + answer);
        for user in &mut users {
            let link = sharing.stations[user.at].down;
            let around = with_frame(3, MU_BAR_OCTETS);
            let within = phy::psdu_within(&user.vector, longest).saturating_sub(around);
            let limit = within.min(self.modes[user.mode].ampdu_limit());
            let spacing = self.links[link].spacing_in(&user.vector);
            let mode = (user.mode, Way::FIRST);
            if self.fill_up_to(cx, medium, (id, link), mode, (limit, spacing)) {
                let content = self.exchanges[id].content();
                user.count = content.mpdus;
                user.psdu = with_frame(content.psdu, MU_BAR_OCTETS);
            }
        }
        users.retain(|user| user.count > 0);
        if users.len() < 2 {
            for user in &users {
                self.unmark(id, sharing.stations[user.at].down);
            }
            return None;
        }
        for (number, user) in users.iter_mut().enumerate() {
            user.number = number as u32;
        }
        sharing.turns[0] = next;
        sharing.answer = self.lay_out(&mut users)?;
        let lengths = users.iter().map(|u| phy::airtime(&u.vector, u.psdu));
        sharing.length = lengths.max().unwrap_or(Duration::ZERO);
        for user in &users {
            // The MU-BAR moves the window of its receiver on.
            self.links[sharing.stations[user.at].down].request = Request::NotDue;
        }
        sharing.users = users;
        sharing.stage = Stage::Downlink;
        Some(Fill::Ready)
    }

    /// Whether a frame that no resource unit carries goes first.
    fn is_other_first(&self, id: ContenderId) -> bool {
        let queue = &self.queues[id];
        let mut first = queue.unfinished.into_iter().chain(queue.order.front());
        first.any(|link| {
            let link = &self.links[link];
            link.is_signalling() || link.is_group()
        })
    }

    /// Computes the vectors of users; gives the airtime of their BlockAcks. `None` where the format does not
    /// have the unit.
    fn lay_out(&self, users: &mut [User]) -> Option<Duration> {
        let alone = |user: &User| *self.modes[user.mode].vector();
        let vectors: Vec<TxVector> = users.iter().map(alone).collect();
        let shared = Shared::of(vectors.iter());
        let mut answer = Duration::ZERO;
        for (user, alone) in users.iter_mut().zip(&vectors) {
            user.vector = phy::shares(alone, user.unit, shared)?;
            let triggered = phy::triggered(alone, user.unit, shared.streams)?;
            let octets = answer_octets(&self.modes[user.mode]);
            answer = answer.max(phy::airtime(&triggered, octets));
        }
        Some(answer)
    }

    /// The PPDU to several stations ended.
    pub(super) fn downlink_sent(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        sharing: &mut Sharing,
    ) {
        let id = t.contender;
        let mut users = std::mem::take(&mut sharing.users);
        let among = users.len();
        let mut engaged = vec![self.contenders[id].node];
        for (number, user) in users.iter_mut().enumerate() {
            let station = &sharing.stations[user.at];
            let link = station.down;
            let part = self.hear_part(cx, medium, t, (link, user));
            user.answers = self.frame_arrives(medium, t, (link, user), MU_BAR_OCTETS);
            let slice = Slice {
                number,
                users: among,
            };
            self.book_part(cx, t, slice, user, &part);
            if let Some(account) = self.links[link].account {
                self.charge(account, slice.of(sharing.length));
            }
            if part.any || user.answers {
                let node = medium.host_of(station.radio);
                let length = sharing.length;
                cx.observe(Observation::Receives { node, length });
            }
            if user.answers {
                engaged.push(station.radio);
            }
            self.deliver_apart(cx, link);
        }
        let timeout = users.first().map(|u| self.modes[u.mode].timeout());
        sharing.users = users;
        if engaged.len() > 1 {
            self.expect(cx, medium, id, Gap::Response, &engaged, true);
        } else {
            let known_at = cx.now() + timeout.unwrap_or(Duration::ZERO);
            self.fail(cx, id, known_at);
        }
    }

    /// The BlockAcks of the users ended.
    pub(super) fn block_acks_sent(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        t: &Transmission,
        sharing: &mut Sharing,
    ) {
        let mut users = std::mem::take(&mut sharing.users);
        let mut any = false;
        for user in users.iter_mut().filter(|user| user.answers) {
            let station = &sharing.stations[user.at];
            let own = Transmission {
                node: station.radio,
                ..*t
            };
            let octets = answer_octets(&self.modes[user.mode]) - DELIMITER;
            user.arrived = self.frame_arrives(medium, &own, (station.up, user), octets);
            user.acknowledged = user.arrived;
            if user.arrived {
                any = true;
                cx.observe(Observation::ControlOctets { octets });
            }
        }
        sharing.users = users;
        cx.observe_air(if any { Air::Ack } else { Air::Retry }, t.alone);
        if any {
            Self::shared_succeeded(cx, t.contender);
        } else {
            self.fail(cx, t.contender, cx.now());
        }
    }
}
