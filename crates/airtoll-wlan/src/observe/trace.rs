//! The trace: a record of each frame and of each arrival at an application, where one is wanted.

use airtoll_engine::Trace;

use super::{Moment, Observation, Observer};

/// The trace, if there is one.
#[derive(Default)]
pub(super) struct Tracer(Option<Box<dyn Trace>>);

impl Tracer {
    pub(super) fn set(&mut self, trace: Box<dyn Trace>) {
        self.0 = Some(trace);
    }
}

impl Observer for Tracer {
    #[inline(always)]
    fn observe(&mut self, moment: Moment, observation: Observation<'_>) {
        let Some(trace) = &mut self.0 else { return };
        match observation {
            Observation::Transmits { node, kind, length } => {
                let which = [u64::from(node), u64::from(kind), length.as_nanos()];
                trace.record(moment.now, "frame", which);
            }
            Observation::Arrived { flow, packet, .. } => {
                let mark = u64::from(packet.mark());
                let which = [u64::from(flow), mark, packet.created.as_nanos()];
                trace.record(moment.now, "arrived", which);
            }
            Observation::GroupArrived {
                source,
                station,
                created,
                ..
            } => {
                let which = [u64::from(source), u64::from(station), created.as_nanos()];
                trace.record(moment.now, "group", which);
            }
            _ => {}
        }
    }
}
