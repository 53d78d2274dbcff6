//! The discrete-event engine: an event queue, named random streams and a trace.
//!
//! Events of any type come back in a total order of their instants. A random stream depends on
//! its seed and its name alone. Trace records go to a sink that the caller gives. The engine
//! reads no clock and knows nothing of networks.

mod event_queue;
mod stream;
mod trace;

pub use event_queue::{EventQueue, Priority};
pub use stream::{Stream, Streams};
pub use trace::{Digest, Trace};
