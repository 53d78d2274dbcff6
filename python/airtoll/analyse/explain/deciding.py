"""The cheapest measurement that tells the leading mechanisms apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.analyse.explain.evidence import FACTORS, Flow, Quantity, Reading, Setting
from airtoll.analyse.explain.mechanisms import predicted
from airtoll.analyse.explain.ranking import Ranked, Ranking

#: Weight below which a mechanism is not worth a measurement.
_LEAST: Final = 0.03


@frozen
class Option:
    """A measurement that one could make: its words and its price, minutes of a person."""

    words: str
    quantity: Quantity
    flow: Flow
    minutes: float


@frozen
class Deciding:
    """The measurement, what each mechanism predicts for it, and the information it brings, bits."""

    option: Option
    predictions: tuple[tuple[str, float], ...]
    bits: float


def options(flows: Sequence[Flow]) -> list[Option]:
    """Measurements that a laptop with iperf3 and ping can make."""
    small = Flow("udp", True, 200)
    return [
        *(
            Option(f"iperf3: {flow.words}", "throughput_bps", flow, 2.0)
            for flow in flows
        ),
        Option("iperf3 -u -l 200 -b 0 (small datagrams): throughput", "throughput_bps", small, 2.0),
        Option(
            "iperf3 -u -P 4: share of lost datagrams of four flows", "loss_ratio",
            Flow("udp", True, 1472, 4), 2.0,
        ),
        Option("ping while nothing else runs: delay", "delay_s", Flow("udp", True, 64), 1.0),
        Option(
            "a capture of ten seconds: share of retries", "retry_share", Flow("tcp", True), 15.0
        ),
        Option(
            "a capture of ten seconds: MPDUs per frame", "mpdus_per_frame", Flow("tcp", True), 15.0
        ),
        Option(
            "iw dev wlan0 link during the test: share of frames at rates without HT",
            "legacy_share", Flow("tcp", True), 1.0,
        ),
        Option(
            "a capture of ten seconds: packet numbers out of order", "reordered_share",
            Flow("udp", True, 1472, 4), 15.0,
        ),
    ]  # fmt: skip


def deciding(
    setting: Setting, ranking: Ranking, readings: Sequence[Reading]
) -> Deciding | None:
    """The measurement with most information per minute about the leading mechanisms.

    None where one mechanism stands alone. Information is the Jensen-Shannon divergence of the
    predictions, weighted by the posterior, with normal distributions.
    """
    leading = [one for one in ranking.ranked if one.weight >= _LEAST][:5]
    if len(leading) < 2:
        return None
    made = {(one.quantity, one.flow) for one in readings if one.after is not None}
    best: Deciding | None = None
    for option in options(list(setting.air)):
        if (option.quantity, option.flow) in made or option.flow not in setting.air:
            continue
        found = _information(setting, leading, option, readings)
        if best is None or found.bits / option.minutes > best.bits / best.option.minutes:
            best = found
    return best if best is not None and best.bits > 0.02 else None


def _information(
    setting: Setting, leading: Sequence[Ranked], option: Option, readings: Sequence[Reading]
) -> Deciding:
    before = next(
        (
            one.before
            for one in readings
            if (one.quantity, one.flow) == (option.quantity, option.flow)
        ),
        None,
    )
    reading = Reading(option.quantity, option.flow, before, None)
    of = [predicted(one.mechanism, setting, reading, one.value) for one in leading]
    total = sum(one.weight for one in leading)
    weights = [one.weight / total for one in leading]
    factor = option.quantity in FACTORS
    middles = [math.log(max(one.value, 1e-9)) if factor else one.value for one in of]
    mean = sum(w * m for w, m in zip(weights, middles, strict=True))
    within = sum(w * one.deviation**2 for w, one in zip(weights, of, strict=True))
    between = sum(w * (m - mean) ** 2 for w, m in zip(weights, middles, strict=True))
    bits = 0.5 * math.log2(1 + between / within)
    entropy = -sum(w * math.log2(w) for w in weights if w > 0)
    return Deciding(
        option,
        tuple((one.mechanism.name, p.value) for one, p in zip(leading, of, strict=True)),
        min(bits, entropy),
    )
