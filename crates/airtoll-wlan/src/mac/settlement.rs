//! Settlement of received and acknowledged MPDUs: the receiver hands them up in sequence; the
//! sender drops those that are acknowledged or have had their last attempt.

use super::Mac;
use crate::context::{Action, Context};
use crate::packet::NONE;

impl Mac {
    /// Hands up the MPDUs that the receiver has in sequence.
    #[inline]
    pub(super) fn deliver_in_sequence(&mut self, cx: &mut Context, link: u32) {
        let state = &mut self.links[link as usize];
        for mpdu in &mut state.window {
            if !mpdu.received {
                break;
            }
            if mpdu.delivered {
                continue;
            }
            mpdu.delivered = true;
            // Data of a station that is not associated are class 3 frames.
            let refused = state.refused;
            if state.wakes && !refused {
                let station = state.from;
                cx.act(Action::Woke { station });
            }
            let mut packet = mpdu.head;
            while packet != NONE {
                let next = cx.packets[packet].next;
                if refused {
                    cx.lose(packet);
                } else {
                    cx.act(Action::Receive { link, packet });
                }
                packet = next;
            }
            if refused {
                let station = state.from;
                cx.act(Action::Refused { station });
            }
        }
    }

    /// Removes finished MPDUs from the front of the window; counts failed attempts of the rest of
    /// the PPDU and gives up those that have had their last attempt.
    #[inline]
    pub(super) fn settle(&mut self, cx: &mut Context, contender: u32, link: u32, answered: bool) {
        let state = &mut self.links[link as usize];
        let (max_attempts, division) = (state.max_attempts, state.division);
        let mut gave_up = false;
        let mut left = false;
        for mpdu in &mut state.window {
            if !mpdu.in_flight {
                left |= !mpdu.acknowledged;
                continue;
            }
            mpdu.in_flight = false;
            let arrived = mpdu.pieces.map_or(mpdu.received, |p| p.heard > p.at);
            if answered && arrived {
                let more = mpdu.next_piece(&division);
                left |= more;
                mpdu.acknowledged = !more;
                continue;
            }
            mpdu.attempts += 1;
            if mpdu.attempts < max_attempts {
                left = true;
                continue;
            }
            gave_up = true;
            mpdu.give_up(cx);
        }
        if gave_up {
            state.request_due |= state.agreement;
            self.deliver_in_sequence(cx, link);
        }
        left |= self.links[link as usize].request_due;
        self.queues[contender as usize].unfinished = left.then_some(link);
        self.shrink_window(cx, contender, link);
    }

    /// Forgets the MPDUs at the front of a window that are done.
    #[inline]
    pub(super) fn shrink_window(&mut self, cx: &mut Context, contender: u32, link: u32) {
        let window = &mut self.links[link as usize].window;
        let queue = &mut self.queues[contender as usize];
        while let Some(mpdu) = window.front() {
            if !mpdu.acknowledged {
                break;
            }
            let (msdus, (flow, held)) = (mpdu.msdus, mpdu.held);
            window.pop_front();
            queue.packets -= u32::from(msdus);
            for _ in 0..held {
                cx.act(Action::Released { flow });
            }
        }
    }
}

impl super::Mpdu {
    /// Stops trying to send an MPDU; its receiver stops waiting for it.
    pub(super) fn give_up(&mut self, cx: &mut Context) {
        self.acknowledged = true;
        if self.received {
            return;
        }
        self.received = true;
        self.delivered = true;
        let mut packet = self.head;
        while packet != NONE {
            let next = cx.packets[packet].next;
            cx.lose(packet);
            packet = next;
        }
    }
}
