//! Values of which both ends of an exchange have one.

use serde::{Deserialize, Serialize};

/// The initiator's and the responder's.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Sides<T> {
    /// The initiator's.
    pub initiator: T,
    /// The responder's.
    pub responder: T,
}

impl<T> From<[T; 2]> for Sides<T> {
    /// The initiator's first.
    fn from([initiator, responder]: [T; 2]) -> Self {
        Self {
            initiator,
            responder,
        }
    }
}

/// Where a message goes from and to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Way<T> {
    /// Its sender.
    pub from: T,
    /// Its receiver.
    pub to: T,
}
