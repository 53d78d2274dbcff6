//! Order in which the receivers of a contender with flow queues are served, and airtime fairness.
//!
//! Follows Linux's mac80211 (`net/mac80211/tx.c` of Linux 6.1): `ieee80211_next_txq` takes the first
//! receiver of a list. Without airtime fairness it goes to the end after each PPDU. With it every
//! receiver has a deficit of airtime, which `ieee80211_sta_register_airtime` lowers by what the driver reports: ath9k
//! the PPDUs to the receiver, repeated ones included, and those that came from it, with SIFS at rates of 802.11a, b
//! and g (`ath9k_hw_computetxtime`, `ath_pkt_duration`), as in mac80211's own `ieee80211_calc_rx_airtime`. Neither counts
//! responses, RTS and CTS, or contention. A receiver is served until its
//! deficit is below zero, and gets 256 us whenever its turn comes with such a deficit. A receiver for
//! which the first packet comes goes to the front. Does not choose packets: `flow_queues` does.

use airtoll_units::Duration;

use super::Mac;
use super::link::{Agreement, Listing};
use crate::id::{ContenderId, LinkId};

/// Airtime that a receiver gets in its turn, us (`IEEE80211_DEFAULT_AIRTIME_WEIGHT`).
const QUANTUM_NS: i64 = 256_000;

impl Mac {
    /// The receiver that is served next. Frames of a block ack agreement that have to be sent again
    /// wait for the turn of their receiver.
    pub(super) fn choose_scheduled(&mut self, contender: ContenderId) -> Option<LinkId> {
        let queue = &mut self.queues[contender];
        if let Some(link) = queue
            .unfinished
            .filter(|l| self.links[*l].agreement == Agreement::None)
        {
            return Some(link);
        }
        while let Some(link) = queue.order.front() {
            let state = &mut self.links[link];
            if !state.has_work() {
                queue.order.pop_front();
                state.listing = Listing::Unlisted;
                continue;
            }
            // Management and EAPOL frames, and those after a beacon, go before all data.
            if state.goes_first() {
                return Some(link);
            }
            let pays = state.account == Some(link);
            if pays && state.deficit_ns >= 0 {
                return Some(link);
            }
            queue.order.move_to_end(link);
            if !pays {
                return Some(link);
            }
            state.deficit_ns += QUANTUM_NS;
        }
        None
    }

    /// Puts a link with its first packet into the order of its contender.
    pub(super) fn list(&mut self, contender: ContenderId, link: LinkId) {
        let home = self.home_of(contender);
        let state = &mut self.links[link];
        if std::mem::replace(&mut state.listing, Listing::Listed) == Listing::Listed {
            return;
        }
        let order = &mut self.queues[home].order;
        if state.account == Some(link) {
            let links = &self.links;
            order.insert_before(link, |l| !links[l].is_signalling());
        } else {
            order.push_back(link);
        }
    }

    /// Charges `length`, of a PPDU, to an airtime account.
    #[cold]
    pub(super) fn charge(&mut self, account: LinkId, length: Duration) {
        self.links[account].deficit_ns -= length.as_nanos() as i64;
    }

    /// PPDUs on `link` and, where `from_peer` is given, on the link back are charged to the airtime
    /// account of `link`.
    pub fn share_airtime(&mut self, link: LinkId, from_peer: LinkId) {
        self.links[link].account = Some(link);
        self.links[from_peer].account = Some(link);
    }
}
