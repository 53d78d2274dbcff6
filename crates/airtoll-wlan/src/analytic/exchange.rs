//! One frame exchange under DCF or EDCA: its parts in time and what it delivers.
//!
//! Takes durations, gives durations. The mean cycle of a lone saturated station is
//! `space + CWmin/2 slots + protection + data + SIFS + response`.

use airtoll_phy::{
    ACK_OCTETS, BasicRates, CTS_OCTETS, MpduSpacing, RTS_OCTETS, TimingSet, TxVector, ack_timeout,
    aifs, airtime, ampdu_octets, block_ack_octets, control_response, difs, max_mpdus,
};
use airtoll_units::Duration;

/// A frame exchange and the rules around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exchange {
    /// Idle time before back-off counts: DIFS, or AIFS under EDCA.
    pub space: Duration,
    /// Slot.
    pub slot: Duration,
    /// CWmin, slots.
    pub cw_min: u32,
    /// CWmax, slots.
    pub cw_max: u32,
    /// RTS, CTS and their SIFS, or CTS-to-self and its SIFS; zero without protection.
    pub protection: Duration,
    /// Frames that a collision wastes: the RTS, or CTS-to-self and data, or the data alone.
    pub first_frame: Duration,
    /// Data PPDU.
    pub data: Duration,
    /// SIFS and Ack or BlockAck.
    pub response: Duration,
    /// From the end of an unanswered first frame to the sender's conclusion that it failed.
    pub timeout: Duration,
    /// MSDUs that one exchange delivers.
    pub msdus: u32,
    /// Whether a BlockAck answers: the data are an A-MPDU of several MPDUs.
    pub block_ack: bool,
    /// Whether EDCA's rule holds: a counter also falls at the slot boundary that ends AIFS.
    pub edca: bool,
}

impl Exchange {
    /// A single data MPDU of `mpdu_octets` octets (FCS included), answered by an Ack. VHT and
    /// later formats carry it behind a delimiter (S-MPDU, 10.12.8).
    #[must_use]
    pub fn single(
        data: &TxVector,
        basic: BasicRates,
        timing: &TimingSet,
        mpdu_octets: u32,
    ) -> Self {
        let answer = control_response(data, basic);
        let psdu_octets = if data.always_ampdu() {
            ampdu_octets(mpdu_octets, 1, MpduSpacing::default())
        } else {
            mpdu_octets
        };
        let on_air = airtime(data, psdu_octets);
        Self {
            space: difs(timing),
            slot: timing.slot,
            cw_min: timing.cw_min,
            cw_max: timing.cw_max,
            protection: Duration::ZERO,
            first_frame: on_air,
            data: on_air,
            response: timing.sifs + airtime(&answer, ACK_OCTETS),
            timeout: ack_timeout(timing, &answer),
            msdus: 1,
            block_ack: false,
            edca: false,
        }
    }

    /// As many MPDUs of `mpdu_octets` octets as fit in one A-MPDU of at most `max_octets`, within
    /// `window` and `spacing` apart, answered by a BlockAck (9.7.1, 10.24.6). A lone MPDU is answered by an Ack.
    #[must_use]
    pub fn aggregate(
        data: &TxVector,
        basic: BasicRates,
        timing: &TimingSet,
        mpdu_octets: u32,
        max_octets: u32,
        window: u32,
        spacing: MpduSpacing,
    ) -> Self {
        let count = max_mpdus(data, mpdu_octets, max_octets, window, spacing);
        if count == 1 {
            return Self::single(data, basic, timing, mpdu_octets);
        }
        let answer = control_response(data, basic);
        let on_air = airtime(data, ampdu_octets(mpdu_octets, count, spacing));
        Self {
            first_frame: on_air,
            data: on_air,
            response: timing.sifs + airtime(&answer, block_ack_octets(window)),
            msdus: count,
            block_ack: true,
            ..Self::single(data, basic, timing, mpdu_octets)
        }
    }

    /// The same under EDCA with `aifsn` slots of arbitration.
    #[must_use]
    pub fn under_edca(mut self, timing: &TimingSet, aifsn: u32) -> Self {
        self.space = aifs(timing, aifsn);
        self.edca = true;
        self
    }

    /// The same behind RTS and CTS sent with `control` (10.3.2.9).
    #[must_use]
    pub fn with_rts(mut self, control: &TxVector, basic: BasicRates, timing: &TimingSet) -> Self {
        let rts = airtime(control, RTS_OCTETS);
        let answer = control_response(control, basic);
        self.protection = rts + timing.sifs + airtime(&answer, CTS_OCTETS) + timing.sifs;
        self.first_frame = rts;
        self.timeout = ack_timeout(timing, &answer);
        self
    }

    /// The same behind a CTS-to-self sent with `control` (10.3.2.14): a collision still costs the
    /// data, because no station answers a CTS.
    #[must_use]
    pub fn with_cts_to_self(mut self, control: &TxVector, timing: &TimingSet) -> Self {
        self.protection = airtime(control, CTS_OCTETS) + timing.sifs;
        self.first_frame += self.protection;
        self
    }

    /// From the first sample of the exchange to the end of its response.
    #[must_use]
    pub fn busy(&self) -> Duration {
        self.protection + self.data + self.response
    }

    /// Mean time from one exchange to the next of a lone saturated station, seconds: every
    /// exchange succeeds, so the back-off is uniform on 0..=CWmin each time.
    #[must_use]
    pub fn mean_cycle_s(&self) -> f64 {
        (self.space + self.busy()).as_secs_f64()
            + f64::from(self.cw_min) / 2.0 * self.slot.as_secs_f64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_phy::{Band, DsssRate, Generation, GuardInterval, OfdmRate, Preamble, Width};

    #[test]
    fn the_cycle_of_802_11a_adds_up_by_hand() {
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        let e = Exchange::single(&v, BasicRates::ofdm_default(), &TimingSet::OFDM, 1_536);
        // 34 + 67.5 + 248 + 16 + 28 us
        assert!((e.mean_cycle_s() - 393.5e-6).abs() < 1e-12);
        assert_eq!(e.timeout, Duration::from_micros(45));
        let r = e.with_rts(
            &TxVector::ofdm(OfdmRate::M24, Band::Ghz5),
            BasicRates::ofdm_default(),
            &TimingSet::OFDM,
        );
        // RTS 28, CTS 28, two SIFS.
        assert_eq!(r.protection, Duration::from_micros(88));
        assert_eq!(r.first_frame, Duration::from_micros(28));
    }

    #[test]
    fn the_cycle_of_802_11b_adds_up_by_hand() {
        let v = TxVector::dsss(DsssRate::M11, Preamble::Long).unwrap();
        let e = Exchange::single(&v, BasicRates::dsss_default(), &TimingSet::DSSS, 1_536);
        // 50 + 310 + 1310 + 10 + 248 us
        assert!((e.mean_cycle_s() - 1_928e-6).abs() < 1e-12);
    }

    #[test]
    fn an_aggregate_is_acknowledged_once() {
        let v = TxVector::of_mcs(
            Generation::Ax,
            11,
            1,
            Width::Mhz80,
            GuardInterval::Ns800,
            Band::Ghz5,
        )
        .unwrap();
        let basic = BasicRates::ofdm_default();
        let spacing = MpduSpacing::default();
        let e = Exchange::aggregate(&v, basic, &TimingSet::OFDM, 1_538, 65_535, 256, spacing)
            .under_edca(&TimingSet::OFDM, 3);
        assert_eq!(e.msdus, 42);
        assert_eq!(e.response, Duration::from_micros(16 + 40));
        assert_eq!(e.space, Duration::from_micros(43));
    }
}
