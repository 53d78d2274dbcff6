//! TCP against its RFCs, over a link made here, and against a trace of a real stack.

mod behaviour;
mod link;
mod linux_rates;
mod linux_trace;
mod robustness;
mod throughput;
