//! Rate control: the rate of a link's data frames.

mod aarf;
mod minstrel;

pub(crate) use aarf::Aarf;
pub(crate) use minstrel::Minstrel;

use crate::id::ModeId;

/// The rate control of one link.
#[derive(Debug)]
pub(crate) enum RateControl {
    /// One mode.
    Fixed(ModeId),
    /// AARF.
    Aarf(Aarf),
    /// Sampling.
    Minstrel(Box<Minstrel>),
}

impl RateControl {
    /// Whether it uses one mode, whatever becomes of the frames.
    #[inline]
    pub fn is_fixed(&self) -> bool {
        matches!(self, Self::Fixed(_))
    }

    /// The mode of the next PPDU.
    #[inline]
    pub fn choose(&mut self) -> ModeId {
        match self {
            Self::Fixed(mode) => *mode,
            _ => self.choose_anew(),
        }
    }

    #[inline(never)]
    fn choose_anew(&mut self) -> ModeId {
        match self {
            Self::Fixed(mode) => *mode,
            Self::Aarf(state) => state.choose(),
            Self::Minstrel(state) => state.choose(),
        }
    }
}
