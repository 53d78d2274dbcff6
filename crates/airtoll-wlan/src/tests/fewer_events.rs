//! Packets that need no event have the effects, to the last bit, that they have with one.

use super::*;
use crate::scenario::{CryptoEngine, Host};

/// A host with an engine beside its CPU, both of which take time; odd, so that no two things reach the
/// CPU at the same instant.
const INLINE: &str = r#", "cipher": "ccmp-128", "host": {
    "transmit": {"fixed_ns": 5003, "per_octet_ns": 1.013}, "receive": {"fixed_ns": 4007},
    "forward": {"fixed_ns": 3011}, "engine": "inline", "ciphers": [{"cipher": "ccmp-128",
        "encrypt": {"fixed_ns": 503, "per_octet_ns": 1.07},
        "decrypt": {"fixed_ns": 709, "per_octet_ns": 1.93}}]}"#;

/// Two stations whose hosts receive datagrams that are only counted, and have other work besides.
fn busy_hosts(bss: &str, crowd: usize) -> Scenario {
    let stations: String = (0..2 + crowd)
        .map(|i| format!(r#"{{"name": "s{i}", "role": "station", "bss": "cell"{INLINE}}},"#))
        .collect();
    let flow = |name: &str, from: &str, to: &str, transport: &str, pattern: &str| {
        format!(
            r#"{{"name": "{name}", "source": "{from}", "destination": "{to}",
            "transport": {{"protocol": "{transport}"}}, "pattern": {{{pattern}}}}}"#
        )
    };
    let paced = r#""type": "paced", "payload_octets": 700, "rate_bps": 9e6"#;
    let ask = r#""type": "request_response", "request_octets": 64, "response_octets": 5000"#;
    let saturated = r#""type": "saturated", "payload_octets": 1460"#;
    let mut flows = vec![
        flow("down", "server", "s0", "udp", paced),
        flow("across", "s1", "s0", "udp", paced),
        flow("ask", "s0", "server", "udp", ask),
        flow("tcp", "s0", "server", "tcp", saturated),
        flow("back", "server", "s1", "tcp", saturated),
    ];
    for i in 2..2 + crowd {
        flows.push(flow(
            &format!("f{i}"),
            &format!("s{i}"),
            "ap",
            "udp",
            saturated,
        ));
    }
    let mut scenario = cell(bss, &stations, &flows.join(","), 1.0);
    scenario.warm_up_s = 0.3;
    let host: Host = scenario.nodes[0].host.clone();
    for node in &mut scenario.nodes {
        node.host = host.clone();
    }
    scenario
}

fn scenarios() -> Vec<Scenario> {
    let mut all = varied();
    for bss in [A54, N40, AX80] {
        all.push(busy_hosts(bss, 0));
        all.push(busy_hosts(bss, 4));
        let mut short = busy_hosts(bss, 3);
        for node in &mut short.nodes {
            node.queue.packets = 12;
            node.queue.max_delay_ms = Some(20.0);
        }
        all.push(short);
    }
    all
}

fn rows(scenario: &Scenario, prepare: impl FnOnce(&mut World)) -> (u64, Vec<crate::Row>) {
    rows_and(scenario, prepare, |world| {
        world.stack.lower.cx.events.scheduled()
    })
}

fn rows_and(
    scenario: &Scenario,
    prepare: impl FnOnce(&mut World),
    count: impl FnOnce(&World) -> u64,
) -> (u64, Vec<crate::Row>) {
    let mut world = build::build(scenario, 5).unwrap();
    prepare(&mut world);
    world.run(&mut || false).unwrap();
    (count(&world), world.outcome().rows)
}

#[test]
fn a_packet_that_waits_for_a_busy_contender_enters_its_queue_at_its_own_instant() {
    let (mut saved, mut differs) = (0, Vec::new());
    for (number, scenario) in scenarios().into_iter().enumerate() {
        let (fewer, now) = rows(&scenario, |_| {});
        let (more, with_events) = rows(&scenario, |world| {
            world.stack.lower.mac.let_arrivals_wait(false);
        });
        differs.extend((now != with_events).then_some(number));
        saved += more - fewer;
    }
    assert_eq!(differs, [0; 0]);
    assert!(saved > 1000, "{saved}");
}

#[test]
fn a_packet_that_is_only_counted_takes_its_turn_on_the_cpu() {
    let (mut saved, mut differs) = (0, Vec::new());
    for (number, mut scenario) in scenarios().into_iter().enumerate() {
        let (fewer, now) = rows(&scenario, |_| {});
        // A CPU that may refuse packets has to know at each instant how many wait.
        for node in &mut scenario.nodes {
            node.host.cpu_queue_packets.get_or_insert(1_000_000);
        }
        let (more, with_events) = rows(&scenario, |_| {});
        differs.extend((now != with_events).then_some(number));
        saved += more - fewer;
    }
    assert_eq!(differs, [0; 0]);
    assert!(saved > 1000, "{saved}");
}

#[test]
fn frames_of_a_collision_that_end_together_need_one_event() {
    let mut all = scenarios();
    // Collisions of many, and frames that overlap in part.
    all.extend([A54, AX80].map(|bss| busy_hosts(bss, 24)));
    let mut hidden = busy_hosts(A54, 4);
    hidden.radio.hidden = vec![["s2".to_owned(), "s3".to_owned()]];
    all.push(hidden);
    let (mut saved, mut differs) = (0, Vec::new());
    for (number, scenario) in all.into_iter().enumerate() {
        let (fewer, now) = rows(&scenario, |_| {});
        let (more, with_events) = rows(&scenario, |world| world.stack.lower.medium.end_apart());
        differs.extend((now != with_events).then_some(number));
        saved += more - fewer;
    }
    assert_eq!(differs, [0; 0]);
    assert!(saved > 1000, "{saved}");
}

#[test]
fn packets_of_a_run_have_the_effects_of_single_ones() {
    let (mut packets, mut differs) = (0, Vec::new());
    let mut all = scenarios();
    for bss in [N40, AX80] {
        for engine in [
            CryptoEngine::Cpu,
            CryptoEngine::Inline,
            CryptoEngine::Coprocessor,
        ] {
            let mut scenario = busy_hosts(bss, 3);
            for node in &mut scenario.nodes {
                node.host.engine = engine;
            }
            all.push(scenario);
        }
    }
    for (number, scenario) in all.into_iter().enumerate() {
        let count = |world: &World| world.stack.net.in_runs();
        let (in_runs, now) = rows_and(&scenario, |_| {}, count);
        let (_, singly) = rows_and(&scenario, |world| world.stack.net.carry_singly(), count);
        differs.extend((now != singly).then_some(number));
        packets += in_runs;
    }
    assert_eq!(differs, [0; 0]);
    assert!(packets > 10_000, "{packets}");
}
