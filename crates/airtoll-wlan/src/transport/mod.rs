//! Transports: from an application's octets to packets and back.
//!
//! Takes application writes, arriving segments and acknowledgements, and simulated time; gives
//! segments to send, octets delivered and the next instant at which a timer must run. Never
//! performs IO, reads a clock, draws a random number or holds payload octets: a segment is its
//! sequence range and its size.
//!
//! A TCP connection is simulated as one [`Sender`] and one [`Receiver`] for each direction that
//! carries data; an acknowledgement that is owed rides on data of the other direction. Sequence
//! numbers are 64-bit stream offsets (the first octet is 0), so nothing wraps; SYN is a flag and
//! occupies no offset.
//!
//! Not modelled: FIN exchange and TIME-WAIT; F-RTO (RFC 5682); ECN; pacing but BBR's; SACK reneging;
//! Compound TCP. Without RACK and tail loss probe (RFC 8985) a lost retransmission or a lost tail waits
//! for the time-out.

mod back_pressure;
mod bbr;
mod config;
mod congestion;
mod cubic;
mod hystart;
mod local_queue;
mod options;
mod preset;
mod rack;
mod ranges;
mod rate_sample;
mod receiver;
mod recovery;
mod right_sizing;
mod rtt;
mod scoreboard;
mod segment;
mod sender;
mod voice;

pub use back_pressure::{BackPressure, SmallQueues};
pub use config::{InvalidTcpConfig, Nagle, RtoFloor, SlowStartGrowth, TcpConfig};
pub use local_queue::LocalQueue;
pub use options::{CongestionControl, HystartRule, LossDetection, TcpOptions};
pub use preset::{Preset, TcpSystem};
pub use ranges::StreamRange;
pub use receiver::{Received, Receiver};
pub use segment::{Ack, SackBlocks, Segment};
pub use sender::{CongestionState, Sender, SenderStatistics};
pub use voice::{
    CodecImpairment, G711, G711_CONCEALED, mean_opinion_score, played_rating, transmission_rating,
};
