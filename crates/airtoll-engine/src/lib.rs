//! discrete-event engine: queue, virtual clock, random streams, trace.
