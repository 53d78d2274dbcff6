//! FQ-CoDel and airtime fairness at the access point.

use super::{A54, cell, simulate, total};
use crate::Scenario;
use crate::outcome::Outcome;
use crate::scenario::Discipline;

/// A bulk TCP download of `s0` beside a request and its response every 20 ms.
fn beside_bulk(discipline: Discipline, packets: u32) -> Outcome {
    let flows = r#"{"name": "bulk", "source": "server", "destination": "s0",
            "transport": {"protocol": "tcp", "window_octets": 1000000},
            "pattern": {"type": "saturated", "payload_octets": 1460}},
        {"name": "ping", "source": "s0", "destination": "server",
            "transport": {"protocol": "udp"}, "pattern": {"type": "request_response",
            "request_octets": 64, "response_octets": 64, "think_s": 0.02}}"#;
    let station = r#"{"name": "s0", "role": "station", "bss": "cell"},"#;
    let mut scenario = cell(A54, station, flows, 20.0);
    scenario.warm_up_s = 2.0;
    for node in &mut scenario.nodes {
        node.queue.discipline = discipline;
        node.queue.packets = packets;
    }
    simulate(&scenario, 1)
}

#[test]
fn a_ping_beside_a_download_does_not_wait_for_its_queue() {
    let of = |outcome: &Outcome, flow: &str, metric: &str| {
        let rows = outcome.rows.iter();
        let mut found = rows.filter(|r| r.flow.as_deref() == Some(flow) && r.metric == metric);
        found.next().map_or(f64::NAN, |r| r.value)
    };
    let [fifo, fair] =
        [Discipline::Fifo, Discipline::FqCodel].map(|discipline| beside_bulk(discipline, 500));
    let [slow, fast] = [&fifo, &fair].map(|o| of(o, "ping", "response_time_s"));
    // 500 packets of 1500 octets at 25 Mb/s are 200 ms. With flow queues a response waits for the
    // frame that is on the air and for the one before it at most.
    assert!(slow > 0.1, "{slow}");
    assert!(fast < 0.003, "{fast}");
    let [whole, thinned] = [&fifo, &fair].map(|o| of(o, "bulk", "throughput_bps"));
    assert!(thinned > 0.93 * whole, "{thinned} {whole}");
    // CoDel keeps the queue of the download near its target of 20 ms.
    let delay = of(&fair, "bulk", "delay_s");
    assert!((0.01..0.05).contains(&delay), "{delay}");
    assert!(of(&fifo, "bulk", "delay_s") > 0.1);
}

/// Saturated UDP from the server to a station at 54 and one at 6 Mb/s, over an access point with this
/// queue; `more` are further flows.
fn anomaly(queue: &str, bss: &str, rates: [&str; 2], more: &str) -> Outcome {
    let stations: String = rates
        .iter()
        .enumerate()
        .map(|(i, rate)| {
            format!(r#"{{"name": "s{i}", "role": "station", "bss": "cell", "rate": {rate}}},"#)
        })
        .collect();
    let flows: Vec<String> = (0..2)
        .map(|i| {
            format!(
                r#"{{"name": "f{i}", "source": "server", "destination": "s{i}",
                "transport": {{"protocol": "udp"}}, "pattern": {{"type": "paced",
                "payload_octets": 1472, "rate_bps": 2e8}}}}"#
            )
        })
        .collect();
    let mut scenario = cell(bss, &stations, &format!("{}{more}", flows.join(",")), 10.0);
    scenario.warm_up_s = 1.0;
    scenario.nodes[2].queue = serde_json::from_str(queue).unwrap();
    scenario.check().unwrap();
    simulate(&scenario, 1)
}

const FAIR: &str = r#"{"packets": 1000, "max_delay_ms": null, "discipline": "fq_codel",
    "airtime_fairness": true}"#;
const IN_TURN: &str = r#"{"packets": 1000, "max_delay_ms": null, "discipline": "fq_codel"}"#;

fn throughputs(outcome: &Outcome) -> [f64; 2] {
    ["f0", "f1"].map(|flow| {
        let rows = outcome.rows.iter();
        let mut found =
            rows.filter(|r| r.flow.as_deref() == Some(flow) && r.metric == "throughput_bps");
        found.next().map_or(f64::NAN, |r| r.value)
    })
}

#[test]
fn a_slow_and_a_fast_station_share_the_airtime() {
    let a = [
        r#"{"control": "fixed", "mbps": 54}"#,
        r#"{"control": "fixed", "mbps": 6}"#,
    ];
    let [fast, slow] = throughputs(&anomaly(IN_TURN, A54, a, ""));
    assert!((fast / slow - 1.0).abs() < 0.01, "{fast} {slow}");
    let [fast, slow] = throughputs(&anomaly(FAIR, A54, a, ""));
    // PPDUs of 1536 octets: 20 us of preamble and SIGNAL, 57 symbols of 54 Mb/s against 513 of 6 Mb/s, and SIFS.
    let counted = [57.0, 513.0].map(|symbols| 20.0 + 4.0 * symbols + 16.0);
    let ratio = fast / slow * counted[0] / counted[1];
    assert!((ratio - 1.0).abs() < 0.02, "{fast} {slow}: {ratio}");
    // Nothing counts the Ack at 24 and 6 Mb/s, DIFS, and seven and a half slots. The short exchanges have
    // more of it, so the fast station has 58.2 % of the channel's time. If Acks were counted, it had 56.3 %.
    let whole = [
        counted[0] + 28.0 + 34.0 + 67.5,
        counted[1] + 44.0 + 34.0 + 67.5,
    ];
    let times = [fast * whole[0], slow * whole[1]];
    let share = times[0] / (times[0] + times[1]);
    assert!((share - 0.582).abs() < 0.003, "{share}");
}

#[test]
fn aggregates_share_the_airtime_too() {
    let bss = r#""standard": "802.11n", "rate": {"control": "fixed_mcs", "mcs": 7}"#;
    let rates = [
        r#"{"control": "fixed_mcs", "mcs": 7}"#,
        r#"{"control": "fixed_mcs", "mcs": 0}"#,
    ];
    let [fast, slow] = throughputs(&anomaly(FAIR, bss, rates, ""));
    // 65 and 6.5 Mb/s in A-MPDUs long enough for preambles not to count.
    let ratio = fast / slow / 10.0;
    assert!((0.95..1.05).contains(&ratio), "{fast} {slow}");
    let [fast, slow] = throughputs(&anomaly(IN_TURN, bss, rates, ""));
    // In turn, one A-MPDU each, at most 5.484 ms long: 28 MPDUs against 2.
    assert!((fast / slow / 14.0 - 1.0).abs() < 0.01, "{fast} {slow}");
}

#[test]
fn frames_from_a_station_are_charged_to_it() {
    let a = [r#"{"control": "fixed", "mbps": 54}"#; 2];
    let upload = r#", {"name": "up", "source": "s1", "destination": "server",
        "transport": {"protocol": "udp"}, "pattern": {"type": "paced", "payload_octets": 1472,
        "rate_bps": 4e6}}"#;
    let outcome = anomaly(FAIR, A54, a, upload);
    let [other, own] = throughputs(&outcome);
    // 4 Mb/s up and `own` down are as much airtime as `other` down.
    assert!(((own + 4e6) / other - 1.0).abs() < 0.02, "{own} {other}");
    let [other, own] = throughputs(&anomaly(IN_TURN, A54, a, upload));
    assert!((own / other - 1.0).abs() < 0.01, "{own} {other}");
}

#[test]
fn an_overloaded_access_point_counts_what_it_drops() {
    for queue in [FAIR, IN_TURN] {
        let outcome = anomaly(queue, A54, [r#"{"control": "fixed", "mbps": 54}"#; 2], "");
        let sum = |metric| total(&outcome, metric);
        // Packets of the warm-up that arrive later count as received, not as sent.
        let known = sum("packets_received") + sum("packets_lost") + sum("packets_queued");
        assert!((known / sum("packets_sent") - 1.0).abs() < 0.02);
        assert!(sum("packets_lost") > 0.5 * sum("packets_sent"));
    }
}

#[test]
fn airtime_fairness_is_refused_where_nothing_schedules() {
    let refused = |at: usize, discipline| {
        let mut scenario: Scenario = super::uplink(1, A54, "", 1472, 1.0);
        scenario.nodes[at].queue.airtime_fairness = true;
        scenario.nodes[at].queue.discipline = discipline;
        scenario.check().unwrap_err().to_string()
    };
    let why = "true only at an access point whose queue.discipline is fq_codel";
    for (at, discipline) in [(0, Discipline::FqCodel), (1, Discipline::Fifo)] {
        let message = refused(at, discipline);
        assert!(message.contains("queue.airtime_fairness is true") && message.contains(why));
    }
}

#[test]
fn a_queue_of_one_order_serves_every_receiver() {
    // An A-MPDU takes packets from behind those of other receivers. The MPDU that does not fit any more
    // keeps its place, and the other receiver comes first.
    let bss = r#""standard": "802.11n", "rate": {"control": "fixed_mcs", "mcs": 7}"#;
    let rates = [
        r#"{"control": "fixed_mcs", "mcs": 7}"#,
        r#"{"control": "fixed_mcs", "mcs": 0}"#,
    ];
    for discipline in ["fifo", "codel", "round_robin"] {
        let queue = format!(r#"{{"packets": 200, "discipline": "{discipline}"}}"#);
        let [fast, slow] = throughputs(&anomaly(&queue, bss, rates, ""));
        assert!(slow > 1e6 && fast > 1e6, "{discipline}: {fast} {slow}");
    }
}
