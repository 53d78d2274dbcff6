//! Result of a simulated trial: rows of metric, flow, station, second, value and unit.
//!
//! Metric names and units are those of the observation schema. A metric that cannot be measured
//! (the delay of a flow that delivered nothing) has no row; it is never zero.

/// All rows of one trial, in a fixed order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Outcome {
    /// The rows; of a trial in which a station failed to join, only those of the negotiations.
    pub rows: Vec<Row>,
    /// Distributions of the flows' delays and response times.
    pub sketches: Vec<Sketch>,
    /// Drawn back-off slots less their expectation, of all draws since the warm-up. Its expectation
    /// is zero in every scenario.
    pub backoff_excess_slots: f64,
    /// Which station did not join, in which stage and why.
    pub failure: Option<String>,
}

/// The distribution of a metric over the packets of one flow, in bins 1/64 wide relative to their
/// value. Bins are the same in every trial, so that sketches are merged by adding counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sketch {
    /// Name of the metric whose values are counted.
    pub metric: &'static str,
    /// Flow.
    pub flow: String,
    /// Station of the flow, where there is one.
    pub station: Option<String>,
    /// Middle of each occupied bin, ns, and the values counted in the bin, upwards.
    pub bins: Vec<(u64, u32)>,
}

/// One value of one metric.
#[derive(Debug, Clone, PartialEq)]
pub struct Row {
    /// Name of the metric.
    pub metric: &'static str,
    /// Flow, where the metric is of one flow.
    pub flow: Option<String>,
    /// Station (or other node), where the metric is of one.
    pub station: Option<String>,
    /// Second of a series, from 0 at the end of the warm-up.
    pub second: Option<u32>,
    /// The value.
    pub value: f64,
    /// Its unit.
    pub unit: &'static str,
}

impl Outcome {
    /// The value of a metric of a flow (or of the whole cell, for `None`), not of a series.
    #[must_use]
    pub fn value(&self, metric: &str, flow: Option<&str>) -> Option<f64> {
        self.rows
            .iter()
            .find(|r| r.metric == metric && r.flow.as_deref() == flow && r.second.is_none())
            .map(|r| r.value)
    }
}
