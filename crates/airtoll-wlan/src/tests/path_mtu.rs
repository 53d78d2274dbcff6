//! Tunnels with a stated MTU, and black holes of path MTU discovery.

use super::*;

/// A flow of a station over a tunnel to a server, behind an access point with an MTU of `path`.
fn behind(path: u32, tunnel: &str, transport: &str, payload: u32, black_hole: bool) -> Scenario {
    let tunnels = if tunnel.is_empty() {
        String::new()
    } else {
        format!(r#", "tunnels": [{{"peer": "server", {tunnel}}}]"#)
    };
    let station = format!(r#"{{"name": "s0", "role": "station", "bss": "cell"{tunnels}}},"#);
    let flow = format!(
        r#"{{"name": "f0", "station": "s0", "source": "s0", "destination": "server",
        "transport": {{{transport}}},
        "pattern": {{"type": "saturated", "payload_octets": {payload}}}}}"#
    );
    let mut scenario = cell(A54, &station, &flow, 3.0);
    scenario.nodes[1].mtu_octets = path;
    scenario.nodes[1].black_hole = black_hole;
    scenario
}

const TCP: &str = r#""protocol": "tcp""#;
const UDP: &str = r#""protocol": "udp""#;

fn suite(name: &str, mtu: u32) -> String {
    format!(r#""encapsulation": {{"suite": "{name}"}}, "mtu_octets": {mtu}"#)
}

#[test]
fn segments_vanish_in_a_black_hole_and_a_smaller_tunnel_mtu_saves_them() {
    let rate = |tunnel: &str| mbps(&simulate(&behind(1_400, tunnel, TCP, 1_460, true), 3));
    assert_eq!(rate(""), 0.0);
    // ESP copies DF and OpenVPN sets it; WireGuard clears it, so that the router fragments.
    assert_eq!(rate(&suite("esp-aes-gcm", 1_400)), 0.0);
    assert_eq!(rate(&suite("openvpn-aes-gcm", 1_400)), 0.0);
    assert!(rate(&suite("wireguard", 1_420)) > 10.0);
    for name in ["esp-aes-gcm", "openvpn-aes-gcm", "wireguard"] {
        assert!(rate(&suite(name, 1_280)) > 15.0, "{name}");
    }
}

#[test]
fn fragments_of_wireguard_cost_more_than_a_fitting_mtu() {
    let rate = |mtu| {
        let tunnel = suite("wireguard", mtu);
        mbps(&simulate(&behind(1_400, &tunnel, TCP, 1_460, true), 3))
    };
    // Inner 1340 + 60 = 1400 fits; up to there a longer packet is better.
    let rates = [1_280, 1_340, 1_420].map(rate);
    assert!(rates[1] > rates[0], "{rates:?}");
}

#[test]
fn datagrams_are_lost_or_fragmented() {
    let received = |tunnel: &str, payload, hole| {
        let outcome = simulate(&behind(1_400, tunnel, UDP, payload, hole), 3);
        total(&outcome, "packets_received")
    };
    assert_eq!(received("", 1_472, true), 0.0);
    assert!(received("", 1_372, true) > 1_000.0);
    assert!(received("", 1_472, false) > 1_000.0);
    // The sender fragments what exceeds its own MTU, and routers may fragment that again.
    assert!(received("", 2_000, true) > 500.0);
    for name in ["esp-aes-gcm", "openvpn-aes-gcm", "wireguard"] {
        // Fragmented before it enters the tunnel.
        assert!(received(&suite(name, 1_280), 1_472, true) > 500.0, "{name}");
    }
}

#[test]
fn shorter_segments_get_through_after_time_outs() {
    let with = |probing: bool| {
        let transport = format!(r#"{TCP}, "mtu_probing": {probing}"#);
        let mut scenario = behind(1_400, "", &transport, 1_460, true);
        scenario.duration_s = 40.0;
        mbps(&simulate(&scenario, 3))
    };
    assert_eq!(with(false), 0.0);
    // 1, 2 and 4 s pass first, of 40 s: the ends start without a measured round-trip time (RFC 6298, 2.1).
    let whole = mbps(&simulate(&behind(1_500, "", TCP, 1_460, true), 3));
    let found = with(true);
    assert!((0.6..0.95).contains(&(found / whole)), "{found} of {whole}");
}

#[test]
fn what_a_tunnel_takes_is_received_lost_or_queued() {
    for name in ["esp-aes-gcm", "openvpn-aes-gcm", "wireguard"] {
        for payload in [600, 1_472, 4_000] {
            let scenario = behind(1_400, &suite(name, 1_300), UDP, payload, true);
            let mut world = world_after(&scenario, 7);
            let outcome = world.outcome();
            let [sent, received, lost, queued] = ["sent", "received", "lost", "queued"]
                .map(|m| total(&outcome, &format!("packets_{m}")));
            assert!(received > 100.0, "{name} {payload}");
            assert_eq!(sent, received + lost + queued, "{name} {payload}");
            assert!(lost < 0.2 * sent, "{name} {payload}: {lost} of {sent}");
        }
    }
}

#[test]
fn a_black_hole_is_known_before_the_trial() {
    for name in ["esp-aes-gcm", "openvpn-aes-gcm", "wireguard"] {
        for mtu in [1_280, 1_320, 1_340, 1_360, 1_400, 1_420, 1_440] {
            let scenario = behind(1_400, &suite(name, mtu), TCP, 1_460, true);
            let stalls = !crate::black_holes(&scenario).is_empty();
            let goodput = mbps(&simulate(&scenario, 3));
            assert_eq!(goodput == 0.0, stalls, "{name} {mtu}: {goodput}");
        }
    }
    let plain = behind(1_400, "", TCP, 1_460, true);
    let [hole] = &crate::black_holes(&plain)[..] else {
        panic!("one black hole");
    };
    assert_eq!(
        (hole.octets, hole.mtu_octets, hole.found),
        (1_500, 1_400, false)
    );
    assert!(crate::black_holes(&behind(1_400, "", TCP, 1_460, false)).is_empty());
}
