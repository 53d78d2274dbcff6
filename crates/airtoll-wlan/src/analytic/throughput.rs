//! The throughput that a closed form gives, or why there is none.

use core::fmt;

/// A throughput with its bounds.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Throughput {
    /// Bit/s. For TCP the middle of the bounds.
    pub bps: f64,
    /// Not less than this, bit/s (equal to `bps` for closed forms).
    pub lower_bps: f64,
    /// Not more than this, bit/s.
    pub upper_bps: f64,
    /// The closed form that gave it.
    pub method: Method,
}

/// A closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Renewal process of one saturated sender.
    Maximum,
    /// Bianchi's chain, collision time without time-out.
    Bianchi,
    /// Below saturation: the offered load is carried.
    Offered,
    /// Bounds of one TCP flow.
    TcpBounds,
}

impl Method {
    /// Name in output.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Maximum => "maximum",
            Self::Bianchi => "bianchi",
            Self::Offered => "offered",
            Self::TcpBounds => "tcp_bounds",
        }
    }
}

/// Why there is no closed form.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Cannot {
    /// The rate follows from losses.
    RateControl,
    /// The rate that WEP or TKIP falls back to is the simulator's choice.
    FallbackRate,
    /// The PHY has no such rate.
    NoSuchRate,
    /// A field that no closed form here covers.
    Option(&'static str),
    /// Several BSSs share the air.
    SharedChannel,
    /// Stations that cannot hear one another.
    HiddenStations,
    /// The link loses frames to noise.
    FrameErrors,
    /// The stations differ in rate or frame length.
    StationsDiffer,
    /// Uplink and downlink contend.
    BothDirections,
    /// The pattern is neither saturated nor paced.
    Pattern,
    /// The load is too near saturation for "carried is offered".
    NearSaturation,
    /// Several TCP flows, or TCP beside others.
    SharedTcp,
    /// Colliding A-MPDUs are followed by BlockAckReqs, which the chain does not know.
    AggregatesCollide,
    /// A packet longer than the MTU inside an A-MPDU.
    FragmentsInAggregate,
    /// The flow crosses more than one access point, or none.
    Path,
}

impl fmt::Display for Cannot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let reason = match self {
            Self::RateControl => "rate control has no closed form",
            Self::FallbackRate => "the rate that WEP or TKIP falls back to has no closed form",
            Self::NoSuchRate => "the PHY has no such rate",
            Self::Option(field) => return write!(f, "{field} has no closed form"),
            Self::SharedChannel => "several BSSs share the channel",
            Self::HiddenStations => "stations are hidden from one another",
            Self::FrameErrors => "the link loses frames to noise",
            Self::StationsDiffer => "stations differ in rate or frame length",
            Self::BothDirections => "uplink and downlink contend",
            Self::Pattern => "the pattern is neither saturated nor paced",
            Self::NearSaturation => "the offered load is near saturation",
            Self::SharedTcp => "several flows share the air with TCP",
            Self::AggregatesCollide => "A-MPDUs of several senders collide",
            Self::FragmentsInAggregate => "packets are fragmented inside an A-MPDU",
            Self::Path => "the flow does not cross exactly one access point",
        };
        f.write_str(reason)
    }
}
