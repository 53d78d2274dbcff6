//! Slot, SIFS and contention windows of the PHYs: tables 16-4, 17-21, 18-5, 19-25, 21-28 and 27-53.

use airtoll_units::Duration;

/// Slot, SIFS and contention windows of a BSS.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TimingSet {
    /// aSlotTime.
    pub slot: Duration,
    /// aSIFSTime.
    pub sifs: Duration,
    /// aCWmin, in slots.
    pub cw_min: u32,
    /// aCWmax, in slots.
    pub cw_max: u32,
}

impl TimingSet {
    /// DSSS and HR/DSSS: slot 20 us, SIFS 10 us, CW 31 to 1023 (Tables 15-4 and 16-4).
    pub const DSSS: Self = Self {
        slot: Duration::from_micros(20),
        sifs: Duration::from_micros(10),
        cw_min: 31,
        cw_max: 1_023,
    };

    /// OFDM, HT, VHT, HE and EHT at 5 and 6 GHz: slot 9 us, SIFS 16 us, CW 15 to 1023
    /// (Tables 17-21, 19-25, 21-28 and 27-53).
    pub const OFDM: Self = Self {
        slot: Duration::from_micros(9),
        sifs: Duration::from_micros(16),
        cw_min: 15,
        cw_max: 1_023,
    };

    /// ERP, HT and HE at 2.4 GHz without DSSS-only stations: short slot, CW 15 to 1023
    /// (Table 18-5, aCWmin(1)).
    pub const ERP: Self = Self {
        slot: Duration::from_micros(9),
        sifs: Duration::from_micros(10),
        cw_min: 15,
        cw_max: 1_023,
    };

    /// ERP beside associated stations without short slot: 20 us slot for all. A station whose
    /// own rates are ERP keeps aCWmin(1) = 15 (10.3.3, Table 18-5).
    pub const ERP_LONG_SLOT: Self = Self {
        slot: Duration::from_micros(20),
        sifs: Duration::from_micros(10),
        cw_min: 15,
        cw_max: 1_023,
    };
}
