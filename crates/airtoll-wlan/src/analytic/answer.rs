//! The analytic testbed: a resolved scenario in, throughputs of its flows or a reason out.
//!
//! Takes a checked [`Scenario`]; gives one [`Answer`] per flow. A flow is answered where one of
//! these holds: a lone saturated sender; equal saturated stations towards their access point
//! (Bianchi); one station to another through the access point, saturated; paced flows that
//! together stay well below saturation; one saturated TCP flow (bounds). Hosts count as stages of
//! a pipeline: the slowest decides. Everything else is refused by name.

use airtoll_wire::MacAddress;

use super::bianchi::{CollisionTime, bianchi};
use super::link::{band, legacy};
use super::maximum::beacon_share;
use super::path::Path;
use super::throughput::{Cannot, Method, Throughput};
use crate::announce::Announcement;
use crate::scenario::{Scenario, Standard};

/// The throughput of one flow, or why there is none.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Name of the flow.
    pub flow: String,
    /// Station of its rows.
    pub station: Option<String>,
    /// Throughput of application octets, or the reason.
    pub throughput: Result<Throughput, Cannot>,
}

/// One answer per flow, in the order of the scenario.
#[must_use]
pub fn analytic(scenario: &Scenario) -> Vec<Answer> {
    let throughputs =
        answer_all(scenario).unwrap_or_else(|reason| vec![Err(reason); scenario.flows.len()]);
    scenario
        .flows
        .iter()
        .zip(throughputs)
        .map(|(flow, throughput)| Answer {
            flow: flow.name.clone(),
            station: flow.station.clone(),
            throughput,
        })
        .collect()
}

type Answers = Vec<Result<Throughput, Cannot>>;

/// Loads that add up to less than this share of the lone maximum are carried: ten saturated
/// stations keep more than 0.9 of it on every PHY here.
const SURELY_CARRIED: f64 = 0.85;

fn answer_all(scenario: &Scenario) -> Result<Answers, Cannot> {
    if scenario.bss.len() != 1 {
        return Err(Cannot::SharedChannel);
    }
    if !scenario.radio.hidden.is_empty() {
        return Err(Cannot::HiddenStations);
    }
    let paths = scenario
        .flows
        .iter()
        .map(|flow| Path::of(scenario, flow))
        .collect::<Result<Vec<_>, _>>()?;
    let free = 1.0 - beacons(scenario, paths[0].exchange.space);
    if paths.iter().any(|p| p.tcp.is_some()) {
        let [path] = paths.as_slice() else {
            return Err(Cannot::SharedTcp);
        };
        return Ok(vec![path.tcp_throughput(free)]);
    }
    let paced: Option<Vec<f64>> = paths.iter().map(|p| p.offered_bps).collect();
    if let Some(offered) = paced {
        let load: f64 = paths
            .iter()
            .zip(&offered)
            .map(|(p, o)| o / p.lone_bps(free))
            .sum();
        if let ([path], true) = (paths.as_slice(), load >= SURELY_CARRIED) {
            let most = path.lone_bps(free);
            let method = if offered[0] < most {
                Method::Offered
            } else {
                Method::Maximum
            };
            return Ok(vec![exactly(offered[0].min(most), method)]);
        }
        if load >= SURELY_CARRIED {
            return Err(Cannot::NearSaturation);
        }
        return Ok(offered
            .into_iter()
            .map(|bps| exactly(bps, Method::Offered))
            .collect());
    }
    if paths.iter().any(|p| p.offered_bps.is_some()) {
        return Err(Cannot::NearSaturation);
    }
    saturated(scenario, &paths, free)
}

fn saturated(scenario: &Scenario, paths: &[Path], free: f64) -> Result<Answers, Cannot> {
    // The retry counter falls back one failure after the frame is given up (10.23.2.2), so the
    // window has one stage more than a frame has attempts.
    let stages = u32::from(scenario.bss[0].max_attempts) + 1;
    if let [path] = paths {
        if path.hops == 1 {
            return Ok(vec![exactly(path.lone_bps(free), Method::Maximum)]);
        }
        if path.exchange.block_ack {
            return Err(Cannot::AggregatesCollide);
        }
        // The access point always has relayed frames and wins half of the exchanges.
        let chain = bianchi(&path.exchange, 2, stages, CollisionTime::FrameAndSpace);
        let bps = 0.5 * free * chain.throughput_bps(&path.exchange, path.payload_octets);
        return Ok(vec![exactly(bps.min(path.stage_bps), Method::Bianchi)]);
    }
    let same = |p: &Path| p.exchange == paths[0].exchange && p.packets == paths[0].packets;
    if paths.iter().any(|p| p.hops != 1) {
        return Err(Cannot::BothDirections);
    }
    if paths.iter().all(|p| p.sender == paths[0].sender) {
        // One queue, served in turn: the flows share one renewal process.
        // An A-MSDU holds packets of one flow, and those of several flows alternate.
        if scenario.bss[0].aggregation.amsdu_max_octets > 0 {
            return Err(Cannot::Option("aggregation.amsdu_max_octets"));
        }
        if !paths.iter().all(same) && paths.iter().any(|p| p.exchange.msdus > 1) {
            return Err(Cannot::StationsDiffer);
        }
        let turn_s: f64 = paths
            .iter()
            .map(|p| p.cycle_s() / f64::from(p.exchange.msdus))
            .sum();
        return Ok(paths
            .iter()
            .map(|p| {
                let bps = free * 8.0 * f64::from(p.payload_octets) / turn_s;
                exactly(bps.min(p.stage_bps), Method::Maximum)
            })
            .collect());
    }
    if paths.iter().any(|p| p.downlink) {
        return Err(Cannot::BothDirections);
    }
    let mut senders: Vec<&str> = paths.iter().map(|p| p.sender.as_str()).collect();
    senders.sort_unstable();
    senders.dedup();
    if senders.len() != paths.len() || !paths.iter().all(same) || paths[0].packets != 1 {
        return Err(Cannot::StationsDiffer);
    }
    if paths[0].exchange.block_ack {
        return Err(Cannot::AggregatesCollide);
    }
    let n = paths.len() as u32;
    let chain = bianchi(&paths[0].exchange, n, stages, CollisionTime::FrameAndSpace);
    let each =
        free * chain.throughput_bps(&paths[0].exchange, paths[0].payload_octets) / f64::from(n);
    Ok(paths
        .iter()
        .map(|p| exactly(each.min(p.stage_bps), Method::Bianchi))
        .collect())
}

fn exactly(bps: f64, method: Method) -> Result<Throughput, Cannot> {
    Ok(Throughput {
        bps,
        lower_bps: bps,
        upper_bps: bps,
        method,
    })
}

fn beacons(scenario: &Scenario, space: airtoll_units::Duration) -> f64 {
    let bss = &scenario.bss[0];
    let Some(beacons) = &bss.beacons else {
        return 0.0;
    };
    let band = band(bss);
    let lowest = if band == airtoll_phy::Band::Ghz2_4 && bss.standard == Standard::B {
        1.0
    } else {
        bss.basic_rates_mbps
            .as_ref()
            .and_then(|r| r.iter().copied().reduce(f64::min))
            .unwrap_or(6.0)
    };
    let rate = beacons.rate_mbps.unwrap_or(lowest);
    let announcement = Announcement::of(scenario, bss, MacAddress::default());
    legacy(rate, band, airtoll_phy::Preamble::Long).map_or(0.0, |v| {
        let share = |octets, count| {
            let interval_s = beacons.interval_us * 1e-6;
            beacon_share(&v, octets, count, space, interval_s)
        };
        let (octets, count) = (announcement.beacon_octets(0), announcement.beacons());
        match announcement.open_beacon_octets() {
            Some(open) => share(octets, count / 2) + share(open, count / 2),
            None => share(octets, count),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scenario::PathLoss;

    fn scenario(bss: &str, stations: u32, flow: &str) -> Scenario {
        let nodes: String = (0..stations)
            .map(|i| format!(r#"{{"name":"s{i}","role":"station","bss":"c"}},"#))
            .collect();
        let flows: Vec<String> = (0..stations)
            .map(|i| format!(r#"{{"name":"f{i}","source":"s{i}","destination":"ap",{flow}}}"#))
            .collect();
        let json = format!(
            r#"{{"duration_s":2,"bss":[{{"name":"c",{bss}}}],
            "nodes":[{nodes}{{"name":"ap","role":"access_point","bss":"c"}}],
            "flows":[{}]}}"#,
            flows.join(",")
        );
        Scenario::from_json(&json).unwrap()
    }

    const A54: &str = r#""standard":"802.11a","rate":{"control":"fixed","mbps":54}"#;
    const UDP: &str = r#""transport":{"protocol":"udp"},
        "pattern":{"type":"saturated","payload_octets":1472}"#;

    fn mbps(scenario: &Scenario) -> Vec<f64> {
        analytic(scenario)
            .into_iter()
            .map(|a| a.throughput.unwrap().bps / 1e6)
            .collect()
    }

    #[test]
    fn one_station_gets_the_maximum() {
        let one = mbps(&scenario(A54, 1, UDP));
        assert!((one[0] - 1_472.0 * 8.0 / 393.5).abs() < 1e-6);
        let b = r#""standard":"802.11b","rate":{"control":"fixed","mbps":11}"#;
        assert!((mbps(&scenario(b, 1, UDP))[0] - 1_472.0 * 8.0 / 1_928.0).abs() < 1e-6);
    }

    #[test]
    fn beacons_cost_their_airtime_and_one_space() {
        let with = format!(r#"{A54},"beacons":{{"octets":59}}"#);
        let share = 1.0 - mbps(&scenario(&with, 1, UDP))[0] / mbps(&scenario(A54, 1, UDP))[0];
        assert!((share - (104.0 + 34.0) / 102_400.0).abs() < 1e-9);
    }

    #[test]
    fn stations_share_what_bianchi_gives() {
        let ten = mbps(&scenario(A54, 10, UDP));
        assert_eq!(ten.len(), 10);
        let total: f64 = ten.iter().sum();
        assert!((27.0..28.2).contains(&total), "{total}");
    }

    #[test]
    fn an_oversized_datagram_takes_two_exchanges() {
        let six = UDP.replace("1472", "1460") + r#","ip":"ipv6""#;
        let fits = UDP.replace("1472", "1452") + r#","ip":"ipv6""#;
        let two = mbps(&scenario(A54, 1, &six))[0];
        assert!(two < 0.75 * mbps(&scenario(A54, 1, &fits))[0]);
    }

    #[test]
    fn what_has_no_closed_form_is_refused_by_name() {
        let refused = |s: &Scenario| analytic(s)[0].throughput.unwrap_err();
        let aarf = A54.replace(r#"{"control":"fixed","mbps":54}"#, r#"{"control":"aarf"}"#);
        assert_eq!(refused(&scenario(&aarf, 1, UDP)), Cannot::RateControl);
        let tcp = UDP.replace("udp", "tcp");
        assert_eq!(refused(&scenario(A54, 2, &tcp)), Cannot::SharedTcp);
        let mut weak = scenario(A54, 1, UDP);
        weak.radio.path_loss = PathLoss::Constant { loss_db: 95.0 };
        assert_eq!(refused(&weak), Cannot::FrameErrors);
        let bulk = UDP.replace(r#""saturated""#, r#""transfer","octets":9999"#);
        assert_eq!(refused(&scenario(A54, 1, &bulk)), Cannot::Pattern);
    }

    #[test]
    fn paced_flows_are_carried_below_saturation() {
        let paced = UDP.replace(r#""saturated""#, r#""paced","rate_bps":2000000"#);
        assert_eq!(mbps(&scenario(A54, 5, &paced)), vec![2.0; 5]);
        let over = UDP.replace(r#""saturated""#, r#""paced","rate_bps":140000000"#);
        let lone = mbps(&scenario(A54, 1, &over))[0];
        assert!((lone - 1_472.0 * 8.0 / 393.5).abs() < 1e-6);
    }

    #[test]
    fn a_slow_host_decides() {
        let mut slow = scenario(A54, 1, UDP);
        slow.nodes[0].host.transmit.fixed_ns = 1e6;
        assert!((mbps(&slow)[0] - 1_472.0 * 8.0 / 1_000.0).abs() < 1e-9);
    }

    #[test]
    fn tcp_lies_between_its_bounds() {
        let tcp = UDP.replace("udp", "tcp").replace("1472", "1460");
        let t = analytic(&scenario(A54, 1, &tcp))[0].throughput.unwrap();
        assert!(t.lower_bps < t.bps && t.bps < t.upper_bps);
        assert!((24e6..27e6).contains(&t.bps));
    }
}
