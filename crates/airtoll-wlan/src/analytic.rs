//! Closed forms: what throughput the standard allows, derived without the simulator.
//!
//! Takes the octets, rates and interframe spaces of a link, or a whole [`Scenario`](crate::Scenario);
//! gives throughputs, bounds and the saturation models they come from. Shares with the simulator
//! the PHY arithmetic and the scenario, never an event: an independent third answer. A case without
//! a closed form is [`Cannot`], never a number.

mod answer;
mod atheros;
mod bianchi;
mod card;
mod exchange;
mod level;
mod limits;
mod link;
mod maximum;
mod monte_carlo;
mod path;
mod tcp;
mod throughput;

pub use answer::{Answer, analytic};
pub use atheros::{PublishedMaximum, compatibility_loss, published_maxima};
pub use bianchi::{Bianchi, CollisionTime, bianchi};
pub use exchange::Exchange;
pub use level::{
    Channel, Heard, HighestMcs, Paths, StationRate, WeakLink, highest_mcs, station_rates,
    weak_links,
};
pub use limits::{Limit, LimitKind, limits};
pub use link::{Direction, Link};
pub use maximum::{beacon_share, saturated_bps};
pub use monte_carlo::{MonteCarlo, Rules, monte_carlo};
pub use tcp::{TcpBounds, TcpLink, tcp_bounds};
pub use throughput::{Cannot, Method, Throughput};
