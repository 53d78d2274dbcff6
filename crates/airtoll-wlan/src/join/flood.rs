//! A flood of forged SAE commits at an access point, whose process takes one frame after the other.
//!
//! Frames of all stations wait in the socket by which the kernel hands them to hostapd, in the order of
//! their arrival; what does not fit is lost. (hostapd has a queue for 15 commits behind the socket,
//! `auth_sae_queue` in src/ap/ieee802_11.c, and fills it with one at most: it reads a frame and takes
//! the commit in turn.) From a number of half-open handshakes on (`use_anti_clogging`) it asks a new
//! station for a token (IEEE 802.11-2020, 12.4.6). A handshake that a forged commit has begun stays
//! half-open: outside a mesh hostapd repeats nothing and ends it after five minutes only.
//!
//! Every forged commit comes from another address. The frames are on the air; the captures show them
//! with the address of the radio that sends them.

use std::collections::VecDeque;

use airtoll_engine::Stream;
use airtoll_handshakes::{Carrier, Message, Negotiation, Operation, Party};
use airtoll_units::{Duration, Instant};

use super::{Action, Join, JoinRow, Outbox, Part, Signal, Then};
use crate::event::{Forged, JoinEvent};
use crate::id::{FloodId, NodeId, SessionId};

/// Commits that the socket holds: of 1,500 that came at once while hostapd 2.10 was stopped it took as
/// many (256 KiB, `nl_socket_set_buffer_size` in src/drivers/driver_nl80211.c).
const QUEUE: usize = 332;

/// A frame in the socket.
#[derive(Debug)]
enum Waiting {
    Honest(Signal),
    Forged(Forged),
}

/// A message with the work behind it.
type Worked = (Message, Vec<Operation>);

/// Frames of the flood: those of the attacker, and those of the access point with their work.
struct Frames {
    commit: Message,
    with_token: Message,
    refusal: Worked,
    answer: Worked,
}

/// The flood at an access point.
pub(crate) struct Flood {
    /// The session by which its frames travel.
    session: SessionId,
    access_point: NodeId,
    per_s: f64,
    with_tokens: bool,
    draws: Stream,
    frames: Frames,
    queue: VecDeque<Waiting>,
    /// A frame is being taken.
    busy: bool,
    /// Half-open handshakes of forged commits.
    open: u32,
    forged: u32,
    dropped: u32,
    computed: u32,
}

impl Flood {
    /// A flood by `session` of `per_s` commits in the mean; the attacker answers with tokens if
    /// `with_tokens`. `fresh` gives negotiations of its station; `None` where they have no SAE.
    pub fn new(
        (session, access_point): (SessionId, NodeId),
        (per_s, with_tokens): (f64, bool),
        draws: Stream,
        mut fresh: impl FnMut() -> Option<Negotiation>,
    ) -> Option<Self> {
        let mut asked = |busy: bool| {
            let mut negotiation = fresh()?;
            let exchange = negotiation.exchange()?;
            let commit = exchange.start().into_iter().next()?.message;
            exchange.set_busy(Party::AccessPoint, busy);
            let mut reaction = exchange.deliver(&commit);
            let reply = reaction.emissions.drain(..).next()?;
            let mut work = reply.operations;
            work.append(&mut reaction.operations);
            let next = exchange.deliver(&reply.message).emissions;
            let next = next.into_iter().next().map(|e| e.message);
            Some((commit, (reply.message, work), next))
        };
        let (commit, refusal, with_token) = asked(true)?;
        let (_, answer, _) = asked(false)?;
        Some(Self {
            session,
            access_point,
            per_s,
            with_tokens,
            draws,
            frames: Frames {
                commit,
                with_token: with_token?,
                refusal,
                answer,
            },
            queue: VecDeque::new(),
            busy: false,
            open: 0,
            forged: 0,
            dropped: 0,
            computed: 0,
        })
    }

    /// Time to the next forged commit.
    fn pause(&mut self) -> Duration {
        Duration::from_secs_f64(-libm::log(1.0 - self.draws.unit()) / self.per_s)
    }
}

impl Join {
    /// Adds a flood; gives its number.
    pub fn add_flood(&mut self, flood: Flood) -> FloodId {
        self.floods.push(flood)
    }

    /// The flood at an access point.
    fn flood_at(&self, access_point: NodeId) -> Option<FloodId> {
        self.floods.find(|f| f.access_point == access_point)
    }

    /// Half-open handshakes of the flood at a node.
    pub(super) fn clogged_by(&self, node: NodeId) -> u32 {
        let flood = self.flood_at(node);
        flood.map_or(0, |id| self.floods[id].open)
    }

    /// An access point restarts, and has no half-open handshakes.
    pub(super) fn forget_flood(&mut self, access_point: NodeId) {
        if let Some(id) = self.flood_at(access_point) {
            self.floods[id].open = 0;
        }
    }

    /// A forged commit leaves.
    pub(super) fn forge(&mut self, now: Instant, id: FloodId, out: &mut Outbox) {
        let flood = &mut self.floods[id];
        let at = now + flood.pause();
        out.push(Action::Schedule {
            at,
            event: JoinEvent::Forge { flood: id },
        });
        flood.forged += 1;
        self.send_forged(id, Forged::Commit, out);
    }

    fn send_forged(&mut self, id: FloodId, what: Forged, out: &mut Outbox) {
        let flood = &self.floods[id];
        let frames = &flood.frames;
        let message = match what {
            Forged::Commit => &frames.commit,
            Forged::WithToken => &frames.with_token,
            Forged::Refusal => &frames.refusal.0,
            Forged::Answer => &frames.answer.0,
        };
        let (session, message) = (flood.session, message.clone());
        self.send_alone(session, message, None, (Part::Forged(what), false), out);
    }

    /// A frame of the flood of a session arrived.
    pub(super) fn forged_arrived(
        &mut self,
        now: Instant,
        session: SessionId,
        what: Forged,
        out: &mut Outbox,
    ) {
        let Some(id) = self.floods.find(|f| f.session == session) else {
            return;
        };
        match what {
            Forged::Commit | Forged::WithToken => {
                self.queue_frame(now, id, Waiting::Forged(what), out);
            }
            Forged::Refusal if self.floods[id].with_tokens => {
                self.send_forged(id, Forged::WithToken, out);
            }
            Forged::Refusal | Forged::Answer => {}
        }
    }

    /// Puts a frame for an access point under a flood into its socket; gives other messages back.
    pub(super) fn hold_frame(
        &mut self,
        now: Instant,
        signal: Signal,
        out: &mut Outbox,
    ) -> Option<Signal> {
        let frame = matches!(signal.message.carrier, Carrier::Management | Carrier::Eapol);
        let node = self.sessions[signal.session].access_point();
        match self.flood_at(node) {
            Some(id) if frame && signal.message.to == Party::AccessPoint => {
                self.queue_frame(now, id, Waiting::Honest(signal), out);
                None
            }
            _ => Some(signal),
        }
    }

    fn queue_frame(&mut self, now: Instant, id: FloodId, frame: Waiting, out: &mut Outbox) {
        let flood = &mut self.floods[id];
        if flood.queue.len() >= QUEUE {
            flood.dropped += 1;
            return;
        }
        flood.queue.push_back(frame);
        if !std::mem::replace(&mut flood.busy, true) {
            self.take_frame(now, id, out);
        }
    }

    /// An access point under a flood takes the next frame.
    pub(super) fn take_frame(&mut self, now: Instant, id: FloodId, out: &mut Outbox) {
        let node = self.floods[id].access_point;
        let next = self.floods[id].queue.pop_front();
        let asks = self.is_busy(node, Party::AccessPoint).unwrap_or(false);
        let flood = &mut self.floods[id];
        let (operations, octets, reply) = match next {
            None => {
                flood.busy = false;
                return;
            }
            Some(Waiting::Honest(signal)) => {
                self.deliver(now, signal, out);
                (Vec::new(), None, None)
            }
            Some(Waiting::Forged(Forged::Commit)) if asks => {
                let (message, work) = &flood.frames.refusal;
                let octets = message.octets.len() as u32;
                (work.clone(), Some(octets), Some(Forged::Refusal))
            }
            Some(Waiting::Forged(what)) => {
                flood.open += 1;
                flood.computed += 1;
                let (message, work) = &flood.frames.answer;
                let mut work = work.clone();
                if what == Forged::WithToken {
                    work.extend(flood.frames.refusal.1.iter().cloned());
                }
                let octets = message.octets.len() as u32;
                (work, Some(octets), Some(Forged::Answer))
            }
        };
        out.push(Action::WorkOnCpu {
            node,
            operations,
            octets,
            then: Then::Taken(id, reply),
        });
    }

    /// The work for a frame is done: the reply to a forged one leaves, and the next frame is taken.
    pub(super) fn frame_done(
        &mut self,
        now: Instant,
        (id, reply): (FloodId, Option<Forged>),
        out: &mut Outbox,
    ) {
        if let Some(reply) = reply {
            self.send_forged(id, reply, out);
        }
        self.take_frame(now, id, out);
    }

    /// Rows of the floods: commits forged, frames lost in the full socket, and those that cost the access
    /// point the computation of a shared key.
    pub fn flood_rows(&self) -> Vec<JoinRow> {
        let mut rows = Vec::new();
        for flood in &self.floods {
            rows.push(("sae_commits_forged", f64::from(flood.forged), "1"));
            rows.push(("sae_frames_dropped", f64::from(flood.dropped), "1"));
            rows.push(("sae_commits_computed", f64::from(flood.computed), "1"));
        }
        rows
    }
}
