//! Widths of frames where channels of neighbours overlap in part.
//!
//! A TXOP is as wide as the secondary channels permit that were idle for PIFS before it begins, else
//! narrower in steps of 20, 40, 80 and 160 MHz (IEEE 802.11-2020, 10.23.2.5, choices a to d: the dynamic
//! bandwidth of drivers and of ns-3, and not the wait of choice e). It keeps the MCS, or has the next lower
//! one where the standard excludes that. `medium` knows which channels are idle.

use super::{Mac, Mode};
use crate::context::Context;
use crate::id::{ContenderId, ModeId, Table};
use crate::medium::{FrameKind, Mark, Medium};

/// Widths of all contenders, where some channels overlap in part.
#[derive(Debug)]
pub(super) struct Widths {
    /// The widest frame of the TXOP of each contender: 20 MHz times two to this.
    txops: Table<ContenderId, u8>,
    /// The modes of narrower frames, by width, for each mode that has some.
    narrower: Vec<Vec<ModeId>>,
}

impl Mac {
    /// Some channels overlap in part. All contenders are there; `narrower`: for each mode those of the widths
    /// below its own, from 20 MHz on.
    pub fn vary_widths(&mut self, narrower: Vec<Vec<ModeId>>) {
        let txops = self.contenders.ids().map(|_| u8::MAX).collect();
        self.widths = Some(Box::new(Widths { txops, narrower }));
    }

    /// A TXOP begins: it is as wide as idle secondary channels permit.
    #[cold]
    pub(super) fn choose_width(&mut self, cx: &Context, medium: &Medium, id: ContenderId) {
        let radio = self.contenders[id].node;
        if let Some(txop) = self.widths.as_mut().and_then(|w| w.txops.get_mut(id)) {
            *txop = medium.idle_step(radio, cx.now());
        }
    }

    /// The mode that a contender uses in its present TXOP instead of one that may be wider.
    #[cold]
    pub(super) fn within_txop(&self, id: ContenderId, mode: ModeId) -> ModeId {
        let Some(widths) = &self.widths else {
            return mode;
        };
        let txop = widths.txops.get(id).copied().unwrap_or(u8::MAX);
        let narrower = widths.narrower.get(mode.index());
        let found = narrower.and_then(|all| all.get(usize::from(txop)));
        found.copied().unwrap_or(mode)
    }

    /// The mark of a frame of the exchange of a contender, where channels overlap in part: responses and what
    /// protects data are as wide as those.
    #[cold]
    pub(super) fn width_mark(&self, id: ContenderId, kind: FrameKind) -> Mark {
        let vector = self.modes[self.exchanges[id].mode()].vector();
        let data = matches!(kind, FrameKind::Data | FrameKind::Group);
        Mark {
            step: match kind {
                FrameKind::Beacon => 0,
                _ => step_of(vector.width().mhz()),
            },
            copies: !data || !vector.aggregates(),
            ..Mark::NONE
        }
    }
}

impl Mode {
    /// The width of its data frames: 20 MHz times two to this.
    pub fn step(&self) -> u8 {
        step_of(self.vector().width().mhz())
    }
}

fn step_of(mhz: u32) -> u8 {
    (mhz / 20).max(1).ilog2() as u8
}
