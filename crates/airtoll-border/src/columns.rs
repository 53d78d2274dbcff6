//! Tables as columns: lists of equal length.

use airtoll_wlan::analytic::{Answer, Throughput};
use airtoll_wlan::{Outcome, Sketch};
use schemars::JsonSchema;
use serde::Serialize;

/// Rows of simulated trials. Every list has one entry for each row, but `sketches`,
/// `backoff_excess_slots` and `failure`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Columns {
    /// Index into the seeds.
    pub trial: Vec<usize>,
    /// Name of the metric.
    pub metric: Vec<&'static str>,
    /// Flow, where the metric is of one flow.
    pub flow: Vec<Option<String>>,
    /// Station (or other node), where the metric is of one.
    pub station: Vec<Option<String>>,
    /// Second of a series, from 0 at the end of the warm-up.
    pub second: Vec<Option<u32>>,
    /// The value.
    pub value: Vec<f64>,
    /// Its unit.
    pub unit: Vec<&'static str>,
    /// Distributions over the packets of flows.
    pub sketches: Sketches,
    /// For each seed: drawn back-off slots less their expectation, since the warm-up.
    pub backoff_excess_slots: Vec<f64>,
    /// For each seed: which station did not join and why, or null.
    pub failure: Vec<Option<String>>,
}

/// Distributions over the packets of one flow and trial each. The lists have equal lengths.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct Sketches {
    /// Index into the seeds.
    pub trial: Vec<usize>,
    /// Name of the metric whose values are counted.
    pub metric: Vec<&'static str>,
    /// Flow.
    pub flow: Vec<String>,
    /// Station of the flow, where there is one.
    pub station: Vec<Option<String>>,
    /// Middles of the occupied bins, upwards, ns. Bins are the same in every trial.
    pub nanoseconds: Vec<Vec<u64>>,
    /// Number of values in each of these bins.
    pub counts: Vec<Vec<u32>>,
}

impl Sketches {
    fn push(&mut self, trial: usize, sketch: Sketch) {
        let (nanoseconds, counts) = sketch.bins.into_iter().unzip();
        self.trial.push(trial);
        self.metric.push(sketch.metric);
        self.flow.push(sketch.flow);
        self.station.push(sketch.station);
        self.nanoseconds.push(nanoseconds);
        self.counts.push(counts);
    }
}

impl Columns {
    /// The rows of these trials, one after the other.
    #[must_use]
    pub fn new(outcomes: Vec<Outcome>) -> Self {
        let mut columns = Self::default();
        for (trial, outcome) in outcomes.into_iter().enumerate() {
            columns
                .backoff_excess_slots
                .push(outcome.backoff_excess_slots);
            columns.failure.push(outcome.failure);
            for sketch in outcome.sketches {
                columns.sketches.push(trial, sketch);
            }
            for row in outcome.rows {
                columns.trial.push(trial);
                columns.metric.push(row.metric);
                columns.flow.push(row.flow);
                columns.station.push(row.station);
                columns.second.push(row.second);
                columns.value.push(row.value);
                columns.unit.push(row.unit);
            }
        }
        columns
    }
}

/// Throughput of every flow, and of all flows together in the last row.
#[derive(Debug, Clone, Default, PartialEq, Serialize, JsonSchema)]
pub struct AnalyticColumns {
    /// `throughput_bps`.
    pub metric: Vec<&'static str>,
    /// The throughput, bit/s.
    pub value: Vec<f64>,
    /// `bit/s`.
    pub unit: Vec<&'static str>,
    /// Name of the flow; null in the last row.
    pub flow: Vec<Option<String>>,
    /// Station of the flow; null in the last row.
    pub station: Vec<Option<String>>,
    /// Null: no closed form gives a series.
    pub second: Vec<Option<u32>>,
    /// Lower bound, bit/s.
    pub lower: Vec<f64>,
    /// Upper bound, bit/s.
    pub upper: Vec<f64>,
    /// `maximum`, `bianchi`, `offered`, `tcp_bounds`; `sum` in the last row.
    pub method: Vec<&'static str>,
}

/// A throughput with its bounds, bit/s.
struct Bounded {
    value: f64,
    lower: f64,
    upper: f64,
}

impl AnalyticColumns {
    /// The rows of these answers.
    ///
    /// # Errors
    /// The first flow without a closed form, with the reason.
    pub fn new(answers: Vec<Answer>) -> Result<Self, String> {
        let mut columns = Self::default();
        let mut sum = Bounded {
            value: 0.0,
            lower: 0.0,
            upper: 0.0,
        };
        for answer in answers {
            let found: Throughput = answer
                .throughput
                .map_err(|reason| format!("no closed form for flow {}: {reason}", answer.flow))?;
            sum.value += found.bps;
            sum.lower += found.lower_bps;
            sum.upper += found.upper_bps;
            columns.push(
                Bounded {
                    value: found.bps,
                    lower: found.lower_bps,
                    upper: found.upper_bps,
                },
                Some(answer.flow),
                answer.station,
                found.method.name(),
            );
        }
        columns.push(sum, None, None, "sum");
        Ok(columns)
    }

    fn push(
        &mut self,
        found: Bounded,
        flow: Option<String>,
        station: Option<String>,
        method: &'static str,
    ) {
        self.metric.push("throughput_bps");
        self.value.push(found.value);
        self.unit.push("bit/s");
        self.flow.push(flow);
        self.station.push(station);
        self.second.push(None);
        self.lower.push(found.lower);
        self.upper.push(found.upper);
        self.method.push(method);
    }
}

/// One line of table 4-2 of McCarter's thesis beside our closed forms, bit/s.
#[derive(Debug, Clone, PartialEq, Serialize, JsonSchema)]
pub struct PublishedMaximum {
    /// PHY, as printed.
    pub phy: &'static str,
    /// TCP throughput as printed.
    pub printed_tcp_bps: f64,
    /// UDP throughput as printed.
    pub printed_udp_bps: f64,
    /// Our UDP throughput.
    pub udp_bps: f64,
    /// Lower bound of our TCP throughput.
    pub tcp_lower_bps: f64,
    /// Upper bound of our TCP throughput.
    pub tcp_upper_bps: f64,
    /// UDP throughput with the assumptions of the thesis.
    pub udp_as_printed_bps: f64,
    /// TCP throughput with the assumptions of the thesis.
    pub tcp_as_printed_bps: f64,
    /// The assumptions of the thesis.
    pub reading: &'static str,
}

/// Every line of that table.
#[must_use]
pub fn published_maxima() -> Vec<PublishedMaximum> {
    airtoll_wlan::analytic::published_maxima()
        .into_iter()
        .map(|line| PublishedMaximum {
            phy: line.phy,
            printed_tcp_bps: line.printed_tcp_bps,
            printed_udp_bps: line.printed_udp_bps,
            udp_bps: line.udp_bps,
            tcp_lower_bps: line.tcp.lower_bps,
            tcp_upper_bps: line.tcp.upper_bps,
            udp_as_printed_bps: line.udp_as_printed_bps,
            tcp_as_printed_bps: line.tcp_as_printed_bps,
            reading: line.reading,
        })
        .collect()
}
