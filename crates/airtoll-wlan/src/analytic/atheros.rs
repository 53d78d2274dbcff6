//! The theoretical maxima printed as Table 4-2 of McCarter's thesis, recomputed.
//!
//! Takes nothing; gives the printed and the recomputed pairs, and the reasons for the differences.
//! The thesis (McCarter 2006, section 4.3.1, Table 4-2) takes them from an Atheros white paper
//! ("802.11 Wireless LAN Performance", 2003). Printed figures stay printed: nothing here is fitted
//! to them, and each reading of their origin states its assumption.

use airtoll_phy::{
    Band, BasicRates, DsssRate, OfdmRate, Preamble, TimingSet, TxVector, control_response,
};

use super::exchange::Exchange;
use super::maximum::saturated_bps;
use super::tcp::{TcpBounds, TcpLink, tcp_bounds};

/// One line of the table, printed and recomputed.
#[derive(Debug, Clone, PartialEq)]
pub struct PublishedMaximum {
    /// 802.11b, 802.11b/g, 802.11g or 802.11a.
    pub phy: &'static str,
    /// Printed TCP maximum, bit/s.
    pub printed_tcp_bps: f64,
    /// Printed UDP maximum, bit/s.
    pub printed_udp_bps: f64,
    /// Ours: 1472 octets of UDP in a packet of 1500, our rates of response.
    pub udp_bps: f64,
    /// Ours: bounds of TCP with 1460-octet segments and an acknowledgement for every second one.
    pub tcp: TcpBounds,
    /// Ours with the reading under which the printed UDP figure comes out.
    pub udp_as_printed_bps: f64,
    /// Ours with the same reading for TCP: acknowledgements wait their own full back-off.
    pub tcp_as_printed_bps: f64,
    /// Description of that reading.
    pub reading: &'static str,
}

/// Octets of a packet in its MPDU: LLC/SNAP 8, MAC header 24, FCS 4.
const AROUND_PACKET: u32 = 36;
const PACKET: u32 = 1_500;
const TCP_ACK: u32 = 40;

/// The four lines, in the order of the table.
#[must_use]
pub fn published_maxima() -> [PublishedMaximum; 4] {
    let cck =
        |preamble| TxVector::dsss(DsssRate::M11, preamble).expect("11 Mb/s has both preambles");
    let all_dsss = BasicRates::new(&DsssRate::ALL, &[]);
    let ofdm = BasicRates::ofdm_default();
    let b = Cell {
        vector: cck(Preamble::Long),
        basic: BasicRates::dsss_default(),
        timing: TimingSet::DSSS,
        cts_to_self: None,
    };
    let g = Cell {
        vector: TxVector::ofdm(OfdmRate::M54, Band::Ghz2_4),
        basic: ofdm,
        timing: TimingSet::ERP,
        cts_to_self: None,
    };
    let mixed = Cell {
        timing: TimingSet::ERP_LONG_SLOT,
        cts_to_self: Some(control_response(
            &cck(Preamble::Long),
            BasicRates::dsss_default(),
        )),
        ..g
    };
    let a = Cell {
        vector: TxVector::ofdm(OfdmRate::M54, Band::Ghz5),
        basic: ofdm,
        timing: TimingSet::OFDM,
        cts_to_self: None,
    };
    [
        b.line(
            "802.11b",
            Printed {
                tcp_bps: 5.9e6,
                udp_bps: 7.1e6,
            },
            Cell {
                vector: cck(Preamble::Short),
                basic: all_dsss,
                ..b
            },
            "short preamble, Ack at 11 Mb/s, all 1500 octets of the packet counted; ours: long \
             preamble, Ack at 2 Mb/s, payload alone",
        ),
        mixed.line(
            "802.11b/g",
            Printed {
                tcp_bps: 14.4e6,
                udp_bps: 19.5e6,
            },
            Cell {
                cts_to_self: Some(cck(Preamble::Short)),
                ..mixed
            },
            "20 us slots, CWmin 15, CTS-to-self at 11 Mb/s with the short preamble, all 1500 \
             octets counted; ours: CTS-to-self at 2 Mb/s with the long preamble",
        ),
        g.line(
            "802.11g",
            Printed {
                tcp_bps: 24.4e6,
                udp_bps: 30.5e6,
            },
            g,
            "all 1500 octets of the packet counted; ours: payload alone",
        ),
        a.line(
            "802.11a",
            Printed {
                tcp_bps: 24.4e6,
                udp_bps: 30.5e6,
            },
            a,
            "all 1500 octets of the packet counted; ours: payload alone",
        ),
    ]
}

/// Loss of UDP throughput of an 802.11g station at `rate` when 802.11b stations are present but
/// silent: first by the slot alone, then with CTS-to-self at 2 Mb/s (long preamble) as well.
///
/// McCarter's section 3.1.1 quotes "roughly 15 %" from Wang et al. At 54 Mb/s the slot alone
/// costs more; the quoted loss is that of a station at about 24 Mb/s.
#[must_use]
pub fn compatibility_loss(rate: OfdmRate) -> [f64; 2] {
    let cell = |timing, cts_to_self| Cell {
        vector: TxVector::ofdm(rate, Band::Ghz2_4),
        basic: BasicRates::ofdm_default(),
        timing,
        cts_to_self,
    };
    let m2 = TxVector::dsss(DsssRate::M2, Preamble::Long).expect("long preamble");
    let pure = cell(TimingSet::ERP, None).udp(1_472);
    [
        1.0 - cell(TimingSet::ERP_LONG_SLOT, None).udp(1_472) / pure,
        1.0 - cell(TimingSet::ERP_LONG_SLOT, Some(m2)).udp(1_472) / pure,
    ]
}

/// Throughputs of the table, bit/s.
#[derive(Clone, Copy)]
struct Printed {
    tcp_bps: f64,
    udp_bps: f64,
}

#[derive(Clone, Copy)]
struct Cell {
    vector: TxVector,
    basic: BasicRates,
    timing: TimingSet,
    cts_to_self: Option<TxVector>,
}

impl Cell {
    fn exchange(&self, packet_octets: u32) -> Exchange {
        let mpdu = packet_octets + AROUND_PACKET;
        let plain = Exchange::single(&self.vector, self.basic, &self.timing, mpdu);
        match &self.cts_to_self {
            Some(control) => plain.with_cts_to_self(control, &self.timing),
            None => plain,
        }
    }

    fn udp(&self, counted_octets: u32) -> f64 {
        saturated_bps(&self.exchange(PACKET), counted_octets)
    }

    fn line(
        &self,
        phy: &'static str,
        printed: Printed,
        read_as: Self,
        reading: &'static str,
    ) -> PublishedMaximum {
        let pair_s = 2.0 * read_as.exchange(PACKET).mean_cycle_s()
            + read_as.exchange(TCP_ACK).mean_cycle_s();
        PublishedMaximum {
            phy,
            printed_tcp_bps: printed.tcp_bps,
            printed_udp_bps: printed.udp_bps,
            udp_bps: self.udp(1_472),
            tcp: tcp_bounds(&TcpLink {
                data: self.exchange(PACKET),
                acknowledgement: self.exchange(TCP_ACK),
                segment_octets: 1_460,
                segments_per_exchange: 2.0,
            }),
            udp_as_printed_bps: read_as.udp(PACKET),
            tcp_as_printed_bps: 2.0 * 8.0 * f64::from(PACKET) / pair_s,
            reading,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_printed_udp_figures_follow_from_their_reading() {
        for line in published_maxima() {
            let off = line.udp_as_printed_bps - line.printed_udp_bps;
            assert!(off.abs() <= 0.05e6, "{} {off}", line.phy);
            // TCP is not explained as exactly: counted alike, it stays within 2.5 %.
            let tcp = line.tcp_as_printed_bps / line.printed_tcp_bps - 1.0;
            assert!((0.0..0.025).contains(&tcp), "{} {tcp}", line.phy);
        }
    }

    #[test]
    fn ours_stay_below_the_printed_ones_and_say_why() {
        for line in published_maxima() {
            assert!(line.udp_bps < line.printed_udp_bps, "{}", line.phy);
            assert!(line.tcp.lower_bps < line.tcp.upper_bps);
            assert!(line.reading.contains("ours"));
        }
    }

    #[test]
    fn the_quoted_15_percent_lie_between_slot_alone_and_protection() {
        let [slot, protected] = compatibility_loss(OfdmRate::M54);
        assert!((slot - 0.21).abs() < 0.005, "{slot}");
        assert!(protected > 0.4 && protected < 0.5, "{protected}");
        let [slot, _] = compatibility_loss(OfdmRate::M24);
        assert!((0.12..0.15).contains(&slot), "{slot}");
    }
}
