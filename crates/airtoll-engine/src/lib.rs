//! The discrete-event engine: an event queue, named random streams and a trace.
//!
//! Events of any type come back in a total order of their instants. A random stream depends on
//! its seed and its name alone. Trace records go to a sink that the caller gives. The engine
//! reads no clock and knows nothing of networks.
//!
//! ```
//! use airtoll_engine::{EventQueue, Streams};
//! use airtoll_units::Instant;
//!
//! let mut queue = EventQueue::new();
//! queue.schedule(Instant::from_nanos(20), "second");
//! queue.schedule(Instant::from_nanos(10), "first");
//! assert_eq!((queue.pop(), queue.now()), (Some("first"), Instant::from_nanos(10)));
//!
//! let drawn = |name| Streams::new(1).named(name).up_to(1023);
//! assert_eq!(drawn("back-off"), drawn("back-off"));
//! ```

mod event_queue;
mod stream;
mod trace;

pub use event_queue::{EventQueue, Priority};
pub use stream::{Stream, Streams};
pub use trace::{Digest, Trace};
