//! Stations that join during the traffic: their starts, and the end of their joins.

use airtoll_handshakes::Stage;
use airtoll_units::{Duration, Instant};

use super::session::Standing;
use super::{AFTER_FAILURE, Action, Join, Outbox};
use crate::event::JoinEvent;
use crate::id::SessionId;

/// The first join of a station during the traffic.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Newcomer {
    pub session: SessionId,
    /// Earliest and drawn start, counted from that of the traffic.
    pub earliest: Duration,
    pub start: Duration,
}

/// All first joins during the traffic.
#[derive(Debug, Default)]
pub(super) struct Newcomers {
    all: Vec<Newcomer>,
    /// Those that are neither done nor failed.
    left: usize,
    /// Time from the latest earliest start until those that have not joined have failed.
    limit: Duration,
}

impl Newcomers {
    pub(super) fn new(all: Vec<Newcomer>, limit: Duration) -> Self {
        let left = all.len();
        Self { all, left, limit }
    }

    pub(super) const fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    pub(super) fn has(&self, session: SessionId) -> bool {
        self.all.iter().any(|one| one.session == session)
    }
}

impl Join {
    /// The traffic begins: the starts of the newcomers count from now.
    pub(super) fn schedule_newcomers(&self, now: Instant, out: &mut Outbox) {
        for one in &self.newcomers.all {
            out.push(Action::Schedule {
                at: now + one.start,
                event: JoinEvent::Start {
                    session: one.session,
                },
            });
        }
        let latest = self.newcomers.all.iter().map(|one| one.earliest).max();
        if let Some(latest) = latest {
            out.push(Action::Schedule {
                at: now + latest + self.newcomers.limit,
                event: JoinEvent::GiveUp,
            });
        }
    }

    /// A session has gone on to its next stage: a newcomer with a link may send packets to negotiate
    /// above it.
    pub(super) fn tell_link(&mut self, id: SessionId, out: &mut Outbox) {
        if !self.newcomers.has(id) {
            return;
        }
        let session = &self.sessions[id];
        if matches!(
            session.negotiation.stage(),
            None | Some(Stage::MobileIp | Stage::Tunnel)
        ) {
            let station = session.station();
            out.push(Action::LinkStands { station });
        }
    }

    /// A newcomer has joined or failed: its flows start, and the trial ends if it was the last one
    /// and any has failed.
    pub(super) fn newcomer_settled(&mut self, now: Instant, id: SessionId, out: &mut Outbox) {
        self.newcomers.left -= 1;
        let session = &self.sessions[id];
        if session.is_joined() {
            out.push(Action::Admitted {
                hosts: [session.station(), session.tunnelling],
            });
        }
        let failed =
            |one: &Newcomer| matches!(self.sessions[one.session].standing, Standing::Failed(..));
        if self.newcomers.left == 0 && self.newcomers.all.iter().any(failed) {
            let at = now + AFTER_FAILURE;
            out.push(Action::EndTrialBy { at });
        }
    }

    /// The time of the newcomers is over: the trial ends unless all have joined.
    pub(super) fn give_up(&self, now: Instant, out: &mut Outbox) {
        if self.newcomers.left > 0 {
            out.push(Action::EndTrialBy { at: now });
        }
    }
}
