//! The world: all state of a trial, and the loop that moves it from one instant to the next.
//!
//! Rooms of the world, each with its own `impl World`: `build` makes it from a scenario, `access`
//! contends, `exchange` sends frames and answers them, `air` puts transmissions on the channel and
//! says who received them, `aggregation` fills frames, `network` moves packets between hosts,
//! `flow` makes and takes application data, `report` turns counts into rows.

mod control;

use airtoll_units::{Duration, Instant};

use crate::event::Event;
use crate::join::Join;
use crate::observe::ledger::Ledger;
use crate::record::Recorder;
use crate::roam::Roam;
use crate::scenario::ScenarioError;
use crate::stack::Stack;
pub(crate) use control::Outboxes;

/// All state of a trial.
pub(crate) struct World {
    pub stack: Stack,
    pub join: Join,
    pub roam: Roam,
    pub outboxes: Outboxes,
    /// Lengths of traffic and warm-up.
    pub duration: Duration,
    pub warm_up: Duration,
    pub recorder: Option<Box<Recorder>>,
}

/// Events between two looks at the caller's wish to stop.
const EVENTS_PER_LOOK: u32 = 8192;

impl World {
    /// Runs to the end of the trial.
    ///
    /// # Errors
    /// [`ScenarioError::Interrupted`] as soon as `interrupt` says so.
    pub fn run(&mut self, interrupt: &mut dyn FnMut() -> bool) -> Result<(), ScenarioError> {
        let mut until_look = EVENTS_PER_LOOK;
        loop {
            until_look -= 1;
            if until_look == 0 {
                if interrupt() {
                    return Err(ScenarioError::Interrupted);
                }
                until_look = EVENTS_PER_LOOK;
            }
            let (grant_at, channel) = self.next_grant();
            let event_at = self.stack.lower.cx.events.next_at();
            // Everything that happens at an instant is known before anyone transmits at it.
            if grant_at < event_at {
                if grant_at > self.stack.lower.cx.end {
                    break;
                }
                self.stack.lower.cx.events.advance(grant_at);
                self.grant(channel);
                continue;
            }
            if event_at > self.stack.lower.cx.end {
                break;
            }
            match self.stack.lower.cx.events.pop() {
                Some(event) => self.handle(event),
                None => break,
            }
        }
        self.stack.lower.cx.events.advance(self.stack.lower.cx.end);
        Ok(())
    }

    fn next_grant(&mut self) -> (Instant, u32) {
        let mut first = (Instant::MAX, 0);
        for (i, channel) in self.stack.lower.medium.channels.iter_mut().enumerate() {
            if channel.stale {
                channel.refresh(&self.stack.lower.mac.contenders);
            }
            if channel.next_grant < first.0 {
                first = (channel.next_grant, i as u32);
            }
        }
        first
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::FrameEnd {
                channel,
                transmission,
            } => self.frame_end(channel, transmission),
            Event::Respond { contender } => self.respond(contender),
            Event::Proceed { contender } => self.proceed(contender),
            Event::Pipe { node, pipe } => self.pipe_due(node, pipe),
            Event::Wire { wire } => self.wire_due(wire),
            Event::Application { flow } => self.application_due(flow),
            Event::Released { flow } => self.released(flow),
            Event::TransportTimer { flow, receiver } => self.transport_timer(flow, receiver),
            Event::Beacon { node } => self.beacon_due(node),
            Event::NavReset {
                channel,
                reservation,
            } => {
                let now = self.stack.lower.cx.events.now();
                let (heard, until) = self.stack.lower.medium.reservations.remove(reservation);
                self.stack.lower.medium.channels[channel as usize]
                    .forget_reservation(now, heard, until);
            }
            Event::WarmedUp => self.warmed_up(),
            Event::Join(event) => self.join_due(event),
            Event::Roam(event) => self.roam_due(event),
            Event::Resolution { entry } => self.resolution_due(entry),
        }
    }

    #[inline]
    pub(crate) fn trace(&mut self, what: &'static str, which: [u64; 3]) {
        let now = self.stack.lower.cx.now();
        if let Some(trace) = &mut self.stack.lower.cx.observers.trace {
            trace.record(now, what, which);
        }
    }

    /// Books the air of a channel up to the present instant.
    #[inline]
    pub(crate) fn book(&mut self, channel: u32) {
        let now = self.stack.lower.cx.events.now();
        self.stack.lower.medium.channels[channel as usize]
            .book(now, &mut self.stack.lower.cx.observers.ledger);
    }

    /// Forgets what was counted before the end of the warm-up.
    pub(crate) fn warmed_up(&mut self) {
        for channel in 0..self.stack.lower.medium.channels.len() {
            self.book(channel as u32);
            let channel = &mut self.stack.lower.medium.channels[channel];
            for &id in &channel.active {
                channel.transmissions[id as usize].alone = Duration::ZERO;
            }
        }
        self.stack.lower.cx.observers.ledger = Ledger::default();
        self.stack.lower.cx.observers.crypto_time = Duration::ZERO;
        for node in &mut self.stack.lower.device.nodes {
            node.host.cpu.busy = Duration::ZERO;
            node.host
                .engines
                .iter_mut()
                .for_each(|e| e.busy = Duration::ZERO);
        }
        for node in &mut self.stack.lower.cx.observers.nodes {
            node.transmit_time = Duration::ZERO;
            node.receive_time = Duration::ZERO;
        }
        for flow in &mut self.stack.flow.flows {
            flow.statistics.restart();
        }
    }
}
