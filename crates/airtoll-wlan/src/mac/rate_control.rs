//! Rate control: the rate of a link's data frames.

mod aarf;
mod minstrel;

pub(crate) use aarf::Aarf;
pub(crate) use minstrel::Minstrel;

use super::Mac;
use super::link::Way;
use crate::context::Context;
use crate::id::{LinkId, ModeId};

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

impl Mac {
    /// `lost` of the `count` MPDUs of a link's last PPDU on a way were not acknowledged.
    #[inline]
    pub(super) fn report_rate(
        &mut self,
        cx: &Context,
        (link, way): (LinkId, Way),
        count: u32,
        lost: u32,
    ) {
        match self.links[link].rate_of(way) {
            RateControl::Fixed(_) => {}
            RateControl::Aarf(state) => state.report(lost < count),
            RateControl::Minstrel(state) => state.report(cx.now(), count, lost),
        }
    }
}
