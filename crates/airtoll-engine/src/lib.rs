//! The discrete-event engine: what happens when, and with which random numbers.
//!
//! Takes events of any type with the instant at which they happen, gives them back in a total
//! order; gives named random streams that depend on nothing but seed and name; passes trace
//! records to whoever listens. Never reads a clock and knows nothing of networks.

mod event_queue;
mod stream;
mod trace;

pub use event_queue::{EventQueue, Priority};
pub use stream::{Stream, Streams};
pub use trace::{Digest, Trace};
