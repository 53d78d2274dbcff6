//! Saturated UDP flows from one wired host share the queue of its wire.

use super::{mbps, simulate, total, uplink};
use crate::{Outcome, Scenario};

/// `flows` saturated flows from a server to as many stations of 802.11a, over a wire whose queue takes
/// `packets`, for so many `seconds` after the first; `socket`: a member of their transport.
fn down(flows: usize, packets: u32, socket: &str, seconds: u32) -> Outcome {
    let stations: String = (0..flows)
        .map(|n| {
            format!(
                r#"{{"name": "s{n}", "role": "station", "bss": "cell", "queue": {{"packets": 500}}}},"#
            )
        })
        .collect();
    let flows: Vec<String> = (0..flows)
        .map(|n| {
            format!(
                r#"{{"name": "f{n}", "station": "s{n}", "source": "server", "destination": "s{n}",
                "transport": {{"protocol": "udp"{socket}}},
                "pattern": {{"type": "saturated", "payload_octets": 1472}}}}"#
            )
        })
        .collect();
    let text = format!(
        r#"{{"duration_s": {}, "warm_up_s": 1,
        "bss": [{{"name": "cell", "standard": "802.11a", "rate": {{"control": "fixed", "mbps": 54}}}}],
        "nodes": [{stations}
            {{"name": "ap", "role": "access_point", "bss": "cell", "queue": {{"packets": 2000}}}},
            {{"name": "server", "role": "wired"}}],
        "links": [{{"nodes": ["ap", "server"], "rate_bps": 2e7, "queue_packets": {packets}}}],
        "flows": [{}]}}"#,
        1 + seconds,
        flows.join(",")
    );
    simulate(&Scenario::from_json(&text).unwrap(), 1)
}

/// Of a metric, the values of all flows.
fn of_flows(outcome: &Outcome, metric: &str) -> Vec<f64> {
    let rows = outcome.rows.iter();
    rows.filter(|row| row.metric == metric && row.flow.is_some())
        .map(|row| row.value)
        .collect()
}

#[test]
fn every_flow_gets_the_same_share_of_a_wire_and_loses_nothing() {
    // The wire is slower than the air. One flow alone would hold 64 packets.
    for (flows, packets) in [(2, 1000), (16, 1000), (30, 1000), (30, 100), (3, 1)] {
        let outcome = down(flows, packets, "", 12);
        let rates = of_flows(&outcome, "throughput_bps");
        let (least, most) = rates
            .iter()
            .fold((f64::INFINITY, 0.0_f64), |(least, most), rate| {
                (least.min(*rate), most.max(*rate))
            });
        assert_eq!(rates.len(), flows);
        if packets > 1 {
            assert_eq!(total(&outcome, "packets_lost"), 0.0, "{flows} {packets}");
            assert!(least > 0.85 * most, "{flows} {packets}: {least} {most}");
        }
        // 1472 of 1538 octets on the wire.
        let share = rates.iter().sum::<f64>() / (2e7 * 1472.0 / 1538.0);
        assert!((share - 1.0).abs() < 0.01, "{flows} {packets}: {share}");
    }
}

#[test]
fn a_stated_socket_buffer_may_hold_more_than_the_queue_takes() {
    let outcome = down(2, 50, r#", "socket_buffer_octets": 212992"#, 1);
    assert!(total(&outcome, "packets_lost") > 0.0);
}

#[test]
fn a_wire_whose_queue_is_shorter_than_an_a_mpdu_takes_it_as_it_arrives() {
    // 1024 MPDUs take 2.7 ms on the air; all at once they would overfill the queue of 1000 packets.
    let bss = r#""standard": "802.11be", "width_mhz": 320,
        "rate": {"control": "fixed_mcs", "mcs": 13, "streams": 2}"#;
    let mut scenario = uplink(1, bss, "", 1472, 0.3);
    for node in &mut scenario.nodes {
        node.queue.packets = 4_000;
    }
    for link in &mut scenario.links {
        link.rate_bps = 1e10;
    }
    // No MPDU is lost: one that is holds back all those after it, which then arrive at once.
    scenario.radio.budgets = vec![crate::scenario::LinkBudget {
        nodes: ["s0", "ap"].map(str::to_owned),
        bss: None,
        loss_db: None,
        rssi_dbm: Some(-25.0),
    }];
    for (queue_packets, amsdu) in [(1_000, 0), (1_000, 7_935), (200, 0)] {
        scenario.links[0].queue_packets = queue_packets;
        scenario.bss[0].aggregation.amsdu_max_octets = amsdu;
        let outcome = simulate(&scenario, 3);
        let full = outcome.value("packets_lost_full", None);
        assert_eq!(full, Some(0.0), "{queue_packets} {amsdu}");
        assert!(mbps(&outcome) > 4_000.0, "{}", mbps(&outcome));
    }
}
