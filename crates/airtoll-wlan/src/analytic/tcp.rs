//! Bounds of one saturated TCP flow over one hop.
//!
//! Takes the exchange of a data segment, the exchange of an acknowledgement and the segments per
//! acknowledgement; gives an upper and a lower bound of goodput. The wire is fast and loses
//! nothing, and the window is wide enough that the sender always has a segment waiting.
//!
//! Derivation. Per `d` segments the medium carries d data exchanges and one acknowledgement
//! exchange, sent by the other end. Each data exchange waits a full mean back-off, as its sender
//! never empties. Upper bound: the acknowledgement's back-off runs wholly inside that of the
//! data and nothing collides, so it adds interframe space, frame and response only. Lower bound:
//! its back-off overlaps with nothing, and it collides with probability 1/(CWmin+1) at the first
//! attempt (two uniform draws on CWmin+1 slots), which costs the longer frame, time-out, space
//! and the doubled back-offs of both.

use super::exchange::Exchange;

/// The two exchanges of a flow.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcpLink {
    /// Exchange of a full segment (or of an A-MPDU of them).
    pub data: Exchange,
    /// Exchange of the acknowledgements that those cause.
    pub acknowledgement: Exchange,
    /// Payload of one segment.
    pub segment_octets: u32,
    /// Data segments per acknowledgement exchange.
    pub segments_per_exchange: f64,
}

/// Bounds of the throughput of a flow, bit/s of application octets.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TcpBounds {
    /// Acknowledgements contend for nothing.
    pub upper_bps: f64,
    /// Acknowledgements contend alone, and collide at the chance of two draws.
    pub lower_bps: f64,
}

/// The bounds.
#[must_use]
pub fn tcp_bounds(link: &TcpLink) -> TcpBounds {
    let (data, ack) = (&link.data, &link.acknowledgement);
    let data_exchanges = link.segments_per_exchange / f64::from(data.msdus);
    let bits = 8.0 * f64::from(link.segment_octets) * link.segments_per_exchange;
    let data_s = data_exchanges * data.mean_cycle_s();
    let hidden_s = (ack.space + ack.busy()).as_secs_f64();
    let slot_s = ack.slot.as_secs_f64();
    let half_window = f64::from(ack.cw_min) / 2.0;
    let longer = data.first_frame.max(ack.first_frame);
    let collision_s = (longer + data.timeout + data.space).as_secs_f64()
        + 2.0 * (2.0 * half_window + 0.5) * slot_s;
    let chance = 1.0 / (f64::from(ack.cw_min) + 1.0);
    TcpBounds {
        upper_bps: bits / (data_s + hidden_s),
        lower_bps: bits / (data_s + hidden_s + half_window * slot_s + chance * collision_s),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use airtoll_phy::{Band, BasicRates, OfdmRate, TimingSet, TxVector};

    fn at_54(segments: f64) -> TcpBounds {
        let v = TxVector::ofdm(OfdmRate::M54, Band::Ghz5);
        let basic = BasicRates::ofdm_default();
        tcp_bounds(&TcpLink {
            data: Exchange::single(&v, basic, &TimingSet::OFDM, 1_536),
            acknowledgement: Exchange::single(&v, basic, &TimingSet::OFDM, 76),
            segment_octets: 1_460,
            segments_per_exchange: segments,
        })
    }

    #[test]
    fn bounds_of_54_mbps_by_hand() {
        let two = at_54(2.0);
        // 2 * 393.5 + 34 + 32 + 16 + 28 = 897 us for 2920 octets.
        assert!((two.upper_bps - 2_920.0 * 8.0 / 897e-6).abs() < 1.0);
        assert!(two.lower_bps < two.upper_bps && two.lower_bps > 0.85 * two.upper_bps);
    }

    #[test]
    fn fewer_acknowledgements_give_more() {
        assert!(at_54(2.0).upper_bps > at_54(1.0).upper_bps);
        assert!(at_54(2.0).lower_bps > at_54(1.0).lower_bps);
    }
}
