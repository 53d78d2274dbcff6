//! From counts to rows of observations.

mod energy;

use airtoll_units::Duration;

use crate::flow::Flow;
use crate::id::{FlowId, NodeId, RadioId};
use crate::join::Join;
use crate::observe::Observers;
use crate::observe::metrics::Statistics;
use crate::outcome::{Outcome, Row, Sketch};
use crate::packet::Loss;
use crate::roam::Roam;
use crate::scenario::Role;
use crate::stack::Stack;
use crate::transport::{G711_CONCEALED, mean_opinion_score, played_rating};

struct Table {
    rows: Vec<Row>,
    sketches: Vec<Sketch>,
    flow: Option<String>,
    station: Option<String>,
    second: Option<u32>,
}

impl Table {
    fn put(&mut self, metric: &'static str, value: f64, unit: &'static str) {
        self.rows.push(Row {
            metric,
            flow: self.flow.clone(),
            station: self.station.clone(),
            second: self.second,
            value,
            unit,
        });
    }

    fn put_all(&mut self, rows: impl IntoIterator<Item = (&'static str, f64, &'static str)>) {
        for (metric, value, unit) in rows {
            self.put(metric, value, unit);
        }
    }

    fn put_some(&mut self, metric: &'static str, value: Option<f64>, unit: &'static str) {
        if let Some(value) = value {
            self.put(metric, value, unit);
        }
    }
}

/// All rows of a trial whose books are closed.
pub(crate) fn outcome(stack: &Stack, join: &Join, roam: &Roam) -> Outcome {
    let mut table = Table {
        rows: Vec::new(),
        sketches: Vec::new(),
        flow: None,
        station: None,
        second: None,
    };
    let name_of = |node: NodeId| stack.net.name(node).to_owned();
    for (station, rows) in join.rows() {
        table.station = Some(name_of(station));
        table.put_all(rows);
    }
    for (station, second, rows) in roam.rows(join) {
        table.station = Some(name_of(station));
        table.second = second;
        table.put_all(rows);
    }
    let (rejoined, of_the_cell) = join.rejoin_rows();
    for (station, rows) in rejoined {
        table.station = Some(name_of(station));
        table.put_all(rows);
    }
    table.second = None;
    table.station = None;
    table.put_all(of_the_cell);
    table.put_all(join.cell_rows());
    table.put_all(join.renewal_rows());
    table.put_all(join.flood_rows());
    table.put_some(
        "mobile_ip_advertisements",
        roam.agents().sent().map(f64::from),
        "1",
    );
    let failure = join.failure(stack.lower.cx.now(), name_of);
    if failure.is_none() {
        Traffic { stack }.rows(&mut table);
    }
    Outcome {
        rows: table.rows,
        sketches: table.sketches,
        backoff_excess_slots: stack.lower.mac.excess_slots(),
        failure,
    }
}

/// Rows of the traffic of a trial.
struct Traffic<'a> {
    stack: &'a Stack,
}

impl Traffic<'_> {
    fn rows(&self, table: &mut Table) {
        let span = self.measured().as_secs_f64();
        let all = self.stack.flow.all().pairs();
        for (number, flow) in all.filter(|(_, flow)| !flow.is_neighbours()) {
            self.flow_rows((number, flow), span, table);
        }
        table.flow = None;
        table.station = None;
        self.whole_rates(span, table);
        self.loss_rows(table);
        self.ledger_rows(table);
        self.link_rows(span, table);
        self.node_rows(span, table);
    }

    fn observers(&self) -> &Observers {
        &self.stack.lower.cx.observers
    }

    /// Counts of the flows that are no neighbour's.
    fn own_counts(&self) -> impl Iterator<Item = &Statistics> {
        let all = self.stack.flow.all().pairs();
        let own = all.filter(|(_, flow)| !flow.is_neighbours());
        own.map(|(number, _)| self.observers().flows().of(number))
    }

    /// Rates of the whole cell where flows have spans of their own, whose rates do not add up.
    fn whole_rates(&self, span: f64, table: &mut Table) {
        let flows = self.stack.flow.all();
        if flows.iter().all(|flow| flow.admitted().is_none()) {
            return;
        }
        let delivered: u64 = self.own_counts().map(|s| s.delivered_octets).sum();
        table.put("throughput_bps", delivered as f64 * 8.0 / span, "bit/s");
        let own = |flow: &&Flow| !flow.is_neighbours();
        if !flows.iter().filter(own).any(Flow::is_saturated) {
            let offered: u64 = self.own_counts().map(|s| s.offered_octets).sum();
            table.put("offered_bps", offered as f64 * 8.0 / span, "bit/s");
        }
    }

    /// Time over which the rates of a flow count: from its start where it waited for a station, at the
    /// earliest from the end of the warm-up.
    fn measured_of(&self, flow: &Flow) -> Duration {
        let cx = &self.stack.lower.cx;
        match flow.admitted() {
            Some(start) => cx.end.saturating_since(start.max(cx.warm_up)),
            None => self.measured(),
        }
    }

    /// Span from the end of the warm-up to the end of the trial.
    fn measured(&self) -> Duration {
        self.stack.lower.cx.end - self.stack.lower.cx.warm_up
    }

    fn flow_rows(&self, (number, flow): (FlowId, &Flow), span: f64, table: &mut Table) {
        let s = self.observers().flows().of(number);
        table.flow = Some(flow.name().to_owned());
        table.station = flow.station().map(str::to_owned);
        let mut span = span;
        if flow.admitted().is_some() {
            span = self.measured_of(flow).as_secs_f64();
            table.put("measured_s", span, "s");
            if span == 0.0 {
                return;
            }
        }
        table.put(
            "throughput_bps",
            s.delivered_octets as f64 * 8.0 / span,
            "bit/s",
        );
        if !flow.is_saturated() {
            table.put("offered_bps", s.offered_octets as f64 * 8.0 / span, "bit/s");
        }
        if flow.admitted().is_none() {
            let rate = |octets: f64| octets * 8.0 / (span / 2.0);
            table.put_some("throughput_drift_bps", s.octets_drift().map(rate), "bit/s");
            table.put_some("delay_drift_s", s.delay_drift(), "s");
        }
        let queued = s.sent - s.received - s.lost;
        table.put("packets_sent", s.sent as f64, "1");
        table.put("packets_received", s.received as f64, "1");
        table.put("packets_lost", s.lost as f64, "1");
        table.put("packets_queued", queued as f64, "1");
        if s.received + s.lost > 0 {
            let ratio = s.lost as f64 / (s.received + s.lost) as f64;
            table.put("loss_ratio", ratio, "1");
        }
        table.put_some("delay_s", s.delays.mean(), "s");
        table.put_some("delay_p50_s", s.delays.quantile(0.5), "s");
        table.put_some("delay_p95_s", s.delays.quantile(0.95), "s");
        table.put_some("delay_p99_s", s.delays.quantile(0.99), "s");
        if s.delays.count() > 1 {
            let jitter = s.jitter.mean_of_seconds(self.whole_seconds());
            table.put_some("jitter_s", jitter, "s");
        }
        if s.delays.count() > 0 {
            let n = s.delays.count() as f64;
            let mean = |d: Duration| d.as_nanos() as f64 / n / 1e9;
            table.put("sender_time_s", mean(s.sender_time), "s");
            table.put("transit_time_s", mean(s.transit_time), "s");
            table.put("receiver_time_s", mean(s.receiver_time), "s");
        }
        table.put_some("response_time_s", s.responses.mean(), "s");
        table.put_some("response_p50_s", s.responses.quantile(0.5), "s");
        table.put_some("response_p95_s", s.responses.quantile(0.95), "s");
        table.put_some("response_p99_s", s.responses.quantile(0.99), "s");
        for (metric, histogram) in [("delay_s", &s.delays), ("response_time_s", &s.responses)] {
            if histogram.count() > 0 {
                table.sketches.push(Sketch {
                    metric,
                    flow: flow.name().to_owned(),
                    station: flow.station().map(str::to_owned),
                    bins: histogram.occupied().collect(),
                });
            }
        }
        table.put_some(
            "transfer_delay_s",
            s.transfer.map(Duration::as_secs_f64),
            "s",
        );
        if let Some(connection) = flow.connection() {
            let again = connection.retransmitted_segments() - s.earlier_retransmissions;
            table.put("tcp_retransmissions", again as f64, "1");
        }
        if let Some(speech) = flow.speech()
            && s.received > 0
        {
            let sent = s.received + s.lost;
            let rating = played_rating(
                speech.as_secs_f64(),
                s.delays.reached(),
                sent,
                G711_CONCEALED,
            );
            table.put("voice_mos", mean_opinion_score(rating), "1");
        }
        if self.observers().flows().has_series() {
            let late = self.measured() - self.measured_of(flow);
            self.second_rows(s, late, table);
        }
    }

    /// Whole seconds after the warm-up.
    fn whole_seconds(&self) -> u64 {
        self.measured().as_nanos() / 1_000_000_000
    }

    /// Rows of the seconds that end after the flow started, which was `late` after the warm-up.
    fn second_rows(&self, s: &Statistics, late: Duration, table: &mut Table) {
        let first = (late.as_nanos() / 1_000_000_000) as usize;
        for second in first..self.whole_seconds() as usize {
            let count = s.seconds.get(second).copied().unwrap_or_default();
            table.second = Some(second as u32);
            table.put("throughput_bps", count.octets as f64 * 8.0, "bit/s");
            if count.received > 0 {
                let mean = count.delay.as_nanos() as f64 / count.received as f64 / 1e9;
                table.put("delay_s", mean, "s");
                table.put("jitter_s", count.jitter_s, "s");
            }
            if count.received + count.lost > 0 {
                let ratio = count.lost as f64 / (count.received + count.lost) as f64;
                table.put("loss_ratio", ratio, "1");
            }
        }
        table.second = None;
    }

    /// Lost packets of the whole cell by cause: their sum is that of `packets_lost`.
    fn loss_rows(&self, table: &mut Table) {
        let replays = self.stack.lower.mac.numbers_early();
        let causes = Loss::ALL.into_iter();
        for cause in causes.filter(|cause| *cause != Loss::Replay || replays) {
            let flows = self.own_counts();
            let lost: u64 = flows.map(|f| f.losses[cause as usize]).sum();
            table.put(cause.metric(), lost as f64, "1");
        }
    }

    fn ledger_rows(&self, table: &mut Table) {
        let l = self.observers().ledger();
        for (metric, time) in [
            ("airtime_payload_s", l.payload),
            ("airtime_ip_transport_s", l.ip_transport),
            ("airtime_mac_phy_s", l.mac_phy),
            ("airtime_security_s", l.security),
            ("airtime_ack_s", l.ack),
            ("airtime_contention_s", l.contention),
            ("airtime_retry_s", l.retry),
            ("airtime_protection_s", l.protection),
            ("airtime_management_s", l.management),
            ("airtime_idle_s", l.idle),
            ("crypto_time_s", self.observers().cipher_time()),
            ("crypto_exposed_s", l.crypto_exposed),
        ] {
            table.put(metric, time.as_secs_f64(), "s");
        }
        if self.stack.lower.mac.has_cards() {
            table.put("airtime_card_s", l.card.as_secs_f64(), "s");
        }
        if self.stack.net.has_group_traffic() {
            let groups = self.observers().groups();
            let share = groups.airtime.as_secs_f64() / self.measured().as_secs_f64();
            table.put("group_airtime_share", share, "1");
            table.put("group_messages", groups.sent as f64, "1");
            table.put_some("group_delivered_ratio", groups.delivered_ratio(), "1");
            table.put_some("group_delay_s", groups.mean_delay_s(), "s");
        }
        if self.stack.lower.medium.has_interferers() {
            let waited = l.interference.as_secs_f64();
            table.put("airtime_interference_s", waited, "s");
        }
        if self.stack.lower.medium.has_neighbours() {
            table.put("airtime_neighbours_s", l.neighbours.as_secs_f64(), "s");
        }
        for (metric, octets) in [
            ("octets_payload", l.octets.payload),
            ("octets_ip_transport", l.octets.ip_transport),
            ("octets_mac", l.octets.mac),
            ("octets_security", l.octets.security),
            (
                "octets_management",
                l.octets_management + l.octets.management,
            ),
            ("octets_control", l.octets_control),
            ("octets_retry", l.octets_retry),
        ] {
            table.put(metric, octets as f64, "octet");
        }
    }

    /// Shares of time in which frames are on the air, by the links of an access point that is a
    /// multi-link device.
    fn link_rows(&self, span: f64, table: &mut Table) {
        const METRICS: [&str; 3] = [
            "busy_link_1_share",
            "busy_link_2_share",
            "busy_link_3_share",
        ];
        let lower = &self.stack.lower;
        let mut nodes = self.stack.net.nodes();
        let devices = nodes.find_map(|node| {
            let first = lower.medium.radio_of(node);
            let radios = lower.mac.radios_of_device(first);
            let access_point = self.stack.net.role(node) == Role::AccessPoint;
            (access_point && radios.len() > 1).then_some(radios)
        });
        for (radio, metric) in devices.iter().flatten().zip(METRICS) {
            let channel = lower.medium.channel_of(*radio);
            let busy = lower.medium.channel(channel).busy();
            table.put(metric, busy.as_secs_f64() / span, "1");
        }
    }

    fn node_rows(&self, span: f64, table: &mut Table) {
        let delivered: u64 = self.own_counts().map(|f| f.delivered_octets).sum();
        let mut energy = None;
        let lower = &self.stack.lower;
        let own = |node: &NodeId| lower.medium.is_own(RadioId::first_of(*node));
        for number in self.stack.net.nodes().filter(own) {
            table.station = Some(self.stack.net.name(number).to_owned());
            let cpu = lower.device.busy(number).cpu.as_secs_f64();
            if cpu > 0.0 {
                table.put("cpu_share", cpu / span, "1");
            }
            let radios = lower.medium.radios();
            let radios = radios.filter(|radio| lower.medium.host_of(*radio) == number);
            if let Some(rate) = radios
                .filter_map(|radio| lower.mac.forbidden_rate(radio))
                .last()
                && self.stack.net.role(number) == Role::Station
            {
                table.put("rate_forbidden_bps", rate.forbidden as f64, "bit/s");
                table.put("rate_used_bps", rate.used as f64, "bit/s");
            }
            if let Some(joule) = self.energy_rows(number, span, delivered, table) {
                *energy.get_or_insert(0.0) += joule;
            }
        }
        table.station = None;
        if let Some(joule) = energy.filter(|_| delivered > 0) {
            table.put(
                "energy_j_per_bit",
                joule / (delivered as f64 * 8.0),
                "J/bit",
            );
        }
    }
}
