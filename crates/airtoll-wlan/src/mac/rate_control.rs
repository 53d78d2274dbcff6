//! Which rate a link sends with.

mod aarf;
mod minstrel;

pub(crate) use aarf::Aarf;
pub(crate) use minstrel::Minstrel;

use crate::world::World;

/// The rate control of one link.
#[derive(Debug)]
pub(crate) enum RateControl {
    /// One mode.
    Fixed(u32),
    /// AARF.
    Aarf(Aarf),
    /// Sampling.
    Minstrel(Box<Minstrel>),
}

impl RateControl {
    /// The mode of the next PPDU.
    pub fn choose(&mut self) -> u32 {
        match self {
            Self::Fixed(mode) => *mode,
            Self::Aarf(state) => state.choose(),
            Self::Minstrel(state) => state.choose(),
        }
    }
}

impl World {
    /// `lost` of the `count` MPDUs of a link's last PPDU were not acknowledged.
    pub(crate) fn report_rate(&mut self, link: u32, count: u32, lost: u32) {
        let now = self.stack.lower.cx.events.now();
        match &mut self.stack.lower.mac.links[link as usize].rate {
            RateControl::Fixed(_) => {}
            RateControl::Aarf(state) => state.report(lost < count),
            RateControl::Minstrel(state) => state.report(now, count, lost),
        }
    }
}
