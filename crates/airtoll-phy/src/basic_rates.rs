//! The basic rates of a BSS.

use crate::parameters::{DsssRate, OfdmRate};

/// The BSS basic rate set, split by modulation class.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct BasicRates {
    pub(crate) dsss: u8,
    pub(crate) ofdm: u8,
}

impl BasicRates {
    /// A set of the given rates.
    #[must_use]
    pub const fn new(dsss: &[DsssRate], ofdm: &[OfdmRate]) -> Self {
        let mut set = Self { dsss: 0, ofdm: 0 };
        let mut at = 0;
        while at < dsss.len() {
            set.dsss |= 1 << (dsss[at] as u8);
            at += 1;
        }
        at = 0;
        while at < ofdm.len() {
            set.ofdm |= 1 << (ofdm[at] as u8);
            at += 1;
        }
        set
    }

    /// {6, 12, 24}: the mandatory rates of OFDM (17.3.8.3).
    pub const MANDATORY_OFDM: Self = Self::new(&[], &[OfdmRate::M6, OfdmRate::M12, OfdmRate::M24]);

    /// The same set with {1, 2, 5.5, 11} added.
    #[must_use]
    pub const fn with_dsss(self) -> Self {
        Self {
            dsss: Self::new(&DsssRate::ALL, &[]).dsss,
            ofdm: self.ofdm,
        }
    }
}
