//! Value types that carry their unit: instants, durations, octets, rates, powers.
//!
//! Takes plain numbers, gives newtypes with the arithmetic that makes sense for the unit and no
//! other. Never reads a clock and never rounds silently: times are whole nanoseconds, and the
//! one division that can lose a part says in its name which way it rounds.
//!
//! ```
//! use airtoll_units::{Duration, Instant};
//!
//! let sifs = Duration::from_micros(16);
//! let end = Instant::from_nanos(1_000) + sifs;
//! assert_eq!(end.as_nanos(), 17_000);
//! ```

mod power;
mod quantity;
mod time;

pub use power::{Db, Dbm};
pub use quantity::{BitRate, Bytes, Hertz};
pub use time::{Duration, Instant, Span};
