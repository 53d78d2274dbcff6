//! Settlement of received and acknowledged MPDUs: the receiver hands them up in sequence; the
//! sender drops those that are acknowledged or have had their last attempt.

use super::Mac;
use super::link::{Agreement, Association, PowerMode, Request};
use super::numbering::has_replay_counter;
use crate::context::{Action, Context, Effects};
use crate::id::{ContenderId, FlowId, LinkId};
use crate::packet::Loss;

impl Mac {
    /// The same as [`Self::deliver_in_sequence`], off the way of an exchange that succeeds.
    #[inline(never)]
    pub(super) fn deliver_apart(&mut self, cx: &mut Context, link: LinkId) -> Effects {
        self.deliver_in_sequence(cx, link)
    }

    /// Hands up the MPDUs that the receiver has in sequence.
    #[inline(always)]
    pub(super) fn deliver_in_sequence(&mut self, cx: &mut Context, link: LinkId) -> Effects {
        let mut effects = Effects::None;
        let asked = self.has_dialogues;
        let state = &mut self.links[link];
        let front = state.window.front().map_or(0, |m| m.sequence);
        let handed_up = state.handed_up.saturating_sub(front) as usize;
        for mpdu in state.window.iter_mut().skip(handed_up) {
            if !mpdu.received {
                break;
            }
            state.handed_up = mpdu.sequence + 1;
            if mpdu.delivered {
                continue;
            }
            mpdu.delivered = true;
            effects = Effects::Pending;
            // Data of a station that is not associated are class 3 frames.
            let refused = state.at_receiver == Association::Ended;
            let replayed = match &mut state.numbers {
                Some(numbers) if has_replay_counter(state.cipher) => !numbers.accepts(mpdu.head),
                _ => false,
            };
            if state.sender_mode == PowerMode::PowerSave && !refused {
                let station = state.from;
                cx.act(Action::Woke { station });
            }
            let mut head = Some(mpdu.head);
            while let Some(packet) = head {
                head = cx.packets[packet].next;
                if asked {
                    let station = state.peer;
                    cx.act(Action::Retrieved { station, packet });
                }
                if refused {
                    cx.lose(packet, Loss::Away);
                } else if replayed {
                    cx.lose(packet, Loss::Replay);
                } else {
                    cx.act(Action::Receive { link, packet });
                }
            }
            if refused {
                let station = state.from;
                cx.act(Action::Refused { station });
            }
        }
        effects
    }

    /// The same as [`Self::settle`], off the way of an exchange that succeeds: one copy for all others.
    #[inline(never)]
    pub(super) fn settle_apart(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        link: LinkId,
        answered: bool,
    ) -> Effects {
        self.settle(cx, contender, link, answered)
    }

    /// Removes finished MPDUs from the front of the window; counts failed attempts of the rest of
    /// the PPDU and gives up those that have had their last attempt.
    #[inline(always)]
    pub(super) fn settle(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        link: LinkId,
        answered: bool,
    ) -> Effects {
        let way = self.exchanges[contender].way();
        let state = &mut self.links[link];
        let (max_attempts, division) = (state.max_attempts, state.division);
        let mut effects = Effects::None;
        let mut gave_up = false;
        let mut left = false;
        for mpdu in &mut state.window {
            if mpdu.in_flight != Some(way) {
                left |= !mpdu.acknowledged && !mpdu.waits && mpdu.in_flight.is_none();
                continue;
            }
            mpdu.in_flight = None;
            let pieces = mpdu.pieces.as_ref();
            let arrived = pieces.map_or(mpdu.received, |p| p.heard > p.at);
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
            effects = effects.and(mpdu.give_up(cx, Loss::Attempts));
        }
        if gave_up {
            if state.agreement == Agreement::Agreed {
                state.request = Request::Due;
            }
            effects = effects.and(self.deliver_apart(cx, link));
        }
        left |= self.links[link].request == Request::Due;
        self.queues[contender].unfinished = left.then_some(link);
        effects.and(self.shrink_window(cx, contender, link))
    }

    /// The same as [`Self::shrink_window`], off the way of an exchange that succeeds.
    #[inline(never)]
    pub(super) fn shrink_window_apart(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        link: LinkId,
    ) -> Effects {
        self.shrink_window(cx, contender, link)
    }

    /// Forgets the MPDUs at the front of a window that are done.
    #[inline(always)]
    pub(super) fn shrink_window(
        &mut self,
        cx: &mut Context,
        contender: ContenderId,
        link: LinkId,
    ) -> Effects {
        let home = self.home_of(contender);
        let window = &mut self.links[link].window;
        let mut packets = 0;
        let mut done = 0;
        // Successive ones of the same socket.
        let mut last: Option<(FlowId, bool, u32)> = None;
        for mpdu in window.iter().take_while(|m| m.acknowledged) {
            done += 1;
            packets += u32::from(mpdu.msdus);
            let Some(held) = mpdu.held.filter(|h| h.count > 0) else {
                continue;
            };
            let (flow, reverse, count) = (held.flow, held.reverse, u32::from(held.count));
            match &mut last {
                Some((of, way, sum)) if *of == flow && *way == reverse => *sum += count,
                other => {
                    if let Some((flow, reverse, count)) = other.replace((flow, reverse, count)) {
                        cx.act(Action::Released {
                            flow,
                            reverse,
                            count,
                        });
                    }
                }
            }
        }
        window.drop_first(done);
        self.queues[home].packets -= packets;
        let Some((flow, reverse, count)) = last else {
            return Effects::None;
        };
        cx.act(Action::Released {
            flow,
            reverse,
            count,
        });
        Effects::Pending
    }
}

impl super::Mpdu {
    /// Stops trying to send an MPDU; its receiver stops waiting for it.
    pub(super) fn give_up(&mut self, cx: &mut Context, cause: Loss) -> Effects {
        self.acknowledged = true;
        if self.received {
            return Effects::None;
        }
        self.received = true;
        self.delivered = true;
        let mut head = Some(self.head);
        while let Some(packet) = head {
            head = cx.packets[packet].next;
            cx.lose(packet, cause);
        }
        Effects::Pending
    }
}
