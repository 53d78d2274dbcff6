//! Theoretical maximum throughput of one saturated sender.
//!
//! Takes exchanges, gives bit/s. Derivation: a lone sender never collides, so its exchanges form
//! a renewal process with mean cycle `space + CWmin/2 slot + busy` and reward the payload
//! (Jun, Peddabachagari and Sichitiu, "Theoretical Maximum Throughput of IEEE 802.11 and its
//! Applications", IEEE NCA 2003, for DCF; A-MPDU by the same argument with more payload).

use airtoll_phy::{TxVector, airtime};
use airtoll_units::Duration;

use super::exchange::Exchange;

/// Throughput of application octets, bit/s, where each datagram of `payload_octets` octets
/// travels in one MSDU and every exchange carries `exchange.msdus` of them.
#[must_use]
pub fn saturated_bps(exchange: &Exchange, payload_octets: u32) -> f64 {
    let bits = 8.0 * f64::from(payload_octets) * f64::from(exchange.msdus);
    bits / exchange.mean_cycle_s()
}

/// Share of time that beacons take from every station: the beacon and the interframe space after
/// which the interrupted back-off goes on, per interval.
///
/// The access point's own back-off before a beacon overlaps with the station's, so it costs
/// nothing more.
#[must_use]
pub fn beacon_share(
    vector: &TxVector,
    octets: u32,
    ssids: u32,
    space: Duration,
    interval_s: f64,
) -> f64 {
    f64::from(ssids) * (airtime(vector, octets) + space).as_secs_f64() / interval_s
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_phy::{Band, BasicRates, OfdmRate, TimingSet};
    use proptest::prelude::*;

    #[test]
    fn the_printed_ceiling_of_802_11g_comes_out() {
        // 1472 octets of UDP at 54 Mb/s: 29.9 Mb/s, with CCMP's 16 octets the same symbols.
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz2_4);
        let basic = BasicRates::ofdm_default();
        let open = Exchange::single(&v, basic, &TimingSet::ERP, 1_536);
        let ccmp = Exchange::single(&v, basic, &TimingSet::ERP, 1_552);
        assert!((saturated_bps(&open, 1_472) / 1e6 - 29.926).abs() < 0.001);
        let loss = 1.0 - saturated_bps(&ccmp, 1_472) / saturated_bps(&open, 1_472);
        // 12310 bits need 57 symbols, 12438 need 58: one symbol, 4 us of 397.5.
        assert!((loss - 4.0 / 397.5).abs() < 1e-9, "{loss}");
    }

    proptest! {
        #[test]
        fn more_header_never_gives_more(octets in 60u32..2_300, more in 0u32..100) {
            let v = TxVector::ofdm(OfdmRate::M24, Band::Ghz5);
            let basic = BasicRates::ofdm_default();
            let a = Exchange::single(&v, basic, &TimingSet::OFDM, octets);
            let b = Exchange::single(&v, basic, &TimingSet::OFDM, octets + more);
            prop_assert!(saturated_bps(&b, 20) <= saturated_bps(&a, 20));
        }
    }
}
