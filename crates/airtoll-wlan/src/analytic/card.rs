//! Time that a lone saturated sender waits for its network card, in closed form.
//!
//! Derived from the scenario alone: every exchange of a lone sender succeeds, so that its back-off
//! is uniform on 0..=CWmin each time, and the next frame is prepared from the end of the last one.

use super::exchange::Exchange;
use crate::scenario::{Cost, Meanwhile, Nic, Node, Overlap, StageKind};

/// Mean cycle of a lone sender whose `node` prepares frames of `msdu_octets` (LLC/SNAP header and
/// packet) for `exchange`, seconds; `rate_bps` is the rate of the data. `None` where more than one
/// stage, or a pipelined one, takes a random time.
#[must_use]
pub(super) fn cycle_s(
    exchange: &Exchange,
    node: &Node,
    msdu_octets: u32,
    rate_bps: u64,
) -> Option<f64> {
    let free = exchange.mean_cycle_s();
    let Some(nic) = &node.host.nic else {
        return Some(free);
    };
    let fits = |c: Option<_>| c.is_none_or(|c| c == node.cipher);
    let own = nic.stages.iter().filter(|s| fits(s.cipher));
    let mut random = own.map(|s| s.random_ns).filter(|ns| *ns > 0.0);
    let random_ns = random.next().unwrap_or(0.0);
    if random.next().is_some() || (random_ns > 0.0 && nic.overlap == Overlap::Pipelined) {
        return None;
    }
    let octets = f64::from(msdu_octets);
    let stages = StageKind::ALL.map(|kind| stage(nic, node, kind));
    let fixed: f64 = stages.iter().map(|s| s.fixed_ns).sum();
    let lengths = stages.map(|s| s.per_octet_ns * octets);
    let slowest = lengths.into_iter().fold(0.0, f64::max);
    let prepared_ns = match nic.overlap {
        Overlap::Pipelined => {
            let of = |s: &Cost| s.fixed_ns + s.per_octet_ns * octets;
            return Some(free.max(stages.iter().map(of).fold(0.0, f64::max) * 1e-9));
        }
        Overlap::Serial => fixed + lengths.iter().sum::<f64>(),
        Overlap::CutThrough => fixed + (slowest - octets * 8e9 / rate_bps as f64).max(0.0),
    };
    let prepared_s = prepared_ns * 1e-9;
    Some(free + waits_s(exchange, nic.meanwhile, prepared_s, random_ns * 1e-9))
}

/// Mean wait for a frame that is ready `prepared_s` and an exponentially distributed time of mean
/// `random_s` after the last exchange.
fn waits_s(exchange: &Exchange, meanwhile: Meanwhile, prepared_s: f64, random_s: f64) -> f64 {
    let space = exchange.space.as_secs_f64();
    // Mean of the part of both times that is after `hidden_s`.
    let after = |hidden_s: f64| {
        let left = prepared_s - hidden_s;
        if left >= 0.0 || random_s == 0.0 {
            left.max(0.0) + random_s
        } else {
            random_s * libm::exp(left / random_s)
        }
    };
    match meanwhile {
        Meanwhile::Nothing => after(0.0),
        Meanwhile::InterframeSpace => after(space),
        Meanwhile::BackOff => {
            let slot = exchange.slot.as_secs_f64();
            let left = |slots| after(space + f64::from(slots) * slot);
            (0..=exchange.cw_min).map(left).sum::<f64>() / f64::from(exchange.cw_min + 1)
        }
    }
}

/// Cost of one stage for the cipher of the node.
fn stage(nic: &Nic, node: &Node, kind: StageKind) -> Cost {
    let fits = |c: Option<_>| c.is_none_or(|c| c == node.cipher);
    let own = nic
        .stages
        .iter()
        .filter(|s| s.stage == kind && fits(s.cipher));
    own.fold(Cost::default(), |sum, s| Cost {
        fixed_ns: sum.fixed_ns + s.cost.fixed_ns,
        per_octet_ns: sum.per_octet_ns + s.cost.per_octet_ns,
    })
}
