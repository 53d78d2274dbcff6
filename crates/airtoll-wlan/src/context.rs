//! What every subsystem is given with a call: the clock and its queue of events, the packets, and
//! the observers.

use airtoll_engine::EventQueue;
use airtoll_units::Instant;

use crate::event::Event;
use crate::observe::Observers;
use crate::packet::{Packet, Slab};

/// Clock, events, packets and observers of a trial.
pub(crate) struct Context {
    pub events: EventQueue<Event>,
    /// When the trial ends.
    pub end: Instant,
    /// When the warm-up ends.
    pub warm_up: Instant,
    pub packets: Slab<Packet>,
    pub observers: Observers,
}

impl Context {
    /// The present instant.
    #[inline]
    pub fn now(&self) -> Instant {
        self.events.now()
    }

    /// Schedules an event.
    #[inline]
    pub fn schedule(&mut self, at: Instant, event: Event) {
        self.events.schedule(at, event);
    }
}
