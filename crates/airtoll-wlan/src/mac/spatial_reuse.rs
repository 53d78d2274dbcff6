//! Which frames of a MAC have a BSS color, and which are sent at the power of spatial reuse
//! (IEEE 802.11ax-2021, 26.10.2). `medium` knows who ignores whom.

use airtoll_phy::Generation;
use airtoll_units::Instant;

use super::Mac;
use crate::context::Context;
use crate::id::{ChannelId, ContenderId, RadioId, Table, TransmissionId};
use crate::medium::{FrameKind, Mark, Medium, Power};

/// A contender where some node reuses the channel.
#[derive(Debug, Clone, Copy)]
struct Waiting {
    /// Since when it has had a frame.
    since: Instant,
    /// The power of its TXOP.
    power: Power,
}

/// Contenders where some node reuses the channel.
#[derive(Debug, Default)]
pub(super) struct Reuse {
    contenders: Table<ContenderId, Waiting>,
}

impl Mac {
    /// Some node reuses the channel. All contenders are there.
    pub fn reuse_space(&mut self) {
        let waiting = Waiting {
            since: Instant::ZERO,
            power: Power::Full,
        };
        let contenders = self.contenders.ids().map(|_| waiting).collect();
        self.reuse = Some(Box::new(Reuse { contenders }));
    }

    /// A contender at rest got a frame.
    #[cold]
    pub(super) fn waits_since(&mut self, id: ContenderId, now: Instant) {
        if let Some(waiting) = self.reuse.as_mut().and_then(|r| r.contenders.get_mut(id)) {
            waiting.since = now;
        }
    }

    /// A contender begins a TXOP: its power is the same to the end.
    #[cold]
    pub(super) fn choose_power(&mut self, medium: &Medium, id: ContenderId) {
        let radio = self.contenders[id].node;
        if let Some(waiting) = self.reuse.as_mut().and_then(|r| r.contenders.get_mut(id)) {
            waiting.power = if medium.is_restricted(radio, waiting.since) {
                Power::Reduced
            } else {
                Power::Full
            };
        }
    }

    /// The mark of a frame of an exchange that a radio begins to send, where some node reuses the channel.
    #[cold]
    pub(super) fn reuse_mark(
        &self,
        cx: &Context,
        medium: &Medium,
        (id, radio): (ContenderId, RadioId),
        kind: FrameKind,
    ) -> Mark {
        let exchange = &self.exchanges[id];
        let colored = match kind {
            FrameKind::Data | FrameKind::Group => {
                let vector = self.modes[exchange.mode()].vector();
                matches!(vector.generation(), Generation::Ax | Generation::Be)
            }
            FrameKind::MultiUser | FrameKind::Triggered => true,
            _ => false,
        };
        let power = if kind == FrameKind::Triggered {
            Power::Full
        } else if self.contenders[id].node == radio {
            let waiting = self.reuse.as_ref().and_then(|r| r.contenders.get(id));
            waiting.map_or(Power::Full, |waiting| waiting.power)
        } else if medium.is_restricted(radio, cx.now()) {
            Power::Reduced
        } else {
            Power::Full
        };
        Mark {
            colored,
            power,
            ..Mark::NONE
        }
    }

    /// Stations that have read the BSS color of a frame count on.
    #[cold]
    pub fn color_read(
        &mut self,
        cx: &mut Context,
        medium: &mut Medium,
        channel: ChannelId,
        transmission: TransmissionId,
    ) {
        let (t, ending) = medium.color_read(cx, channel, transmission);
        debug_assert!(t.mark.colored);
        for ear in ending {
            let domain = &mut self.domains[channel];
            domain.become_idle(cx.now(), ear, cx.now(), &mut self.contenders);
        }
    }
}
