//! Faults after a hand-over: packets that go to the old access point, frames without aggregation, and
//! rates of an older PHY.

use airtoll_units::Duration;

use super::{Action, Roam, Turn};
use crate::event::RoamEvent;
use crate::id::{HandoverId, ModeId};

/// Faults of a hand-over, each counted from the end of the join.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Faults {
    /// Packets for the station go to the old access point so long.
    pub address: Duration,
    /// There is no block ack agreement so long.
    pub block_ack: Duration,
    /// Data frames have this mode so long.
    pub legacy: Option<(ModeId, Duration)>,
}

impl Faults {
    /// How long any of them lasts; zero without faults.
    pub(super) fn last(&self) -> Duration {
        let legacy = self.legacy.map_or(Duration::ZERO, |(_, time)| time);
        self.address.max(self.block_ack).max(legacy)
    }
}

impl Roam {
    /// The station has joined: its faults begin. Gives whether packets for it come its way.
    pub(super) fn degrade(&mut self, id: HandoverId, turn: &mut Turn<'_>) -> bool {
        let faults = self.handovers[id].plan.faults;
        let now = turn.now;
        let ends = turn.join.radios_of(self.handovers[id].plan.session);
        self.handovers[id].resumes = (faults.last() > Duration::ZERO).then(|| now + faults.last());
        if faults.block_ack > Duration::ZERO {
            turn.out.push(Action::SetAgreed {
                ends,
                agreed: false,
            });
            turn.schedule(now + faults.block_ack, RoamEvent::Agreed(id));
        }
        if let Some((mode, time)) = faults.legacy {
            let mode = Some(mode);
            turn.out.push(Action::SetLegacy { ends, mode });
            turn.schedule(now + time, RoamEvent::FullRate(id));
        }
        if faults.address > Duration::ZERO {
            turn.schedule(now + faults.address, RoamEvent::Addressed(id));
        }
        faults.address.is_zero()
    }

    /// The block ack agreement has been negotiated.
    pub(super) fn agreed(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let ends = turn.join.radios_of(self.handovers[id].plan.session);
        turn.out.push(Action::SetAgreed { ends, agreed: true });
    }

    /// Both ends know the rates of the other.
    pub(super) fn knows_rates(&self, id: HandoverId, turn: &mut Turn<'_>) {
        let ends = turn.join.radios_of(self.handovers[id].plan.session);
        turn.out.push(Action::SetLegacy { ends, mode: None });
    }

    /// The distribution system has learned where the station is, unless it has left meanwhile.
    pub(super) fn addressed(&mut self, id: HandoverId, turn: &mut Turn<'_>) {
        let next = self.handovers[id].next;
        if next.is_none_or(|next| self.handovers[next].left.is_none()) {
            self.turn_to(id, turn);
        }
    }
}
