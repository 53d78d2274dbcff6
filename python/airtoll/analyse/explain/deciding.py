"""The cheapest measurement that tells the leading mechanisms apart.

A measurement is worth the information that its outcome is expected to give about the mechanism
(the mutual information of both), for each minute that it takes a person.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

import numpy as np
from attrs import field, frozen
from numpy.typing import NDArray

from airtoll.analyse.explain.evidence import (
    FACTORS,
    Flow,
    Quantity,
    Reading,
    Setting,
    supposed,
)
from airtoll.analyse.explain.mechanisms import predicted
from airtoll.analyse.explain.ranking import Ranked, Ranking

#: Weight below which a mechanism is not worth a measurement, and the most mechanisms.
_LEAST: Final = 0.03
_MOST: Final = 6
#: Information that is not worth a measurement, bits.
_WORTHLESS: Final = 0.05
#: Points of an outcome at which information is computed, and how far they reach.
_POINTS: Final = 61
_REACH: Final = 4.0
#: Further points about the middle of each outcome, in its standard deviations.
_NEAR: Final = np.array([-2.5, -1.7, -1.0, -0.5, 0.0, 0.5, 1.0, 1.7, 2.5])


@frozen
class Option:
    """A measurement that one could make: its words and its price, minutes of a person.

    ``token``: how the command line takes its outcome back.
    """

    words: str
    quantity: Quantity
    flow: Flow
    minutes: float
    token: str
    offered_share: float | None = None


@frozen
class Outcome:
    """The prediction of one mechanism for a measurement: middle and 80 % interval."""

    mechanism: str
    value: float
    low: float
    high: float


@frozen
class Deciding:
    """The measurement, what each mechanism predicts for it, and the information it brings, bits.

    ``reading``: the measurement with its value before, measured or supposed, if there is one.
    """

    option: Option
    outcomes: tuple[Outcome, ...]
    bits: float
    offered_bps: float | None = None
    reading: Reading | None = field(default=None, repr=False)


_DOWN: Final = Flow("tcp", True)
_FOUR: Final = Flow("udp", True, 1472, 4)
#: The engine of the cipher, which mac80211 tells at both ends.
RADIO: Final = Option(
    "airtoll doctor --radio --host root@ROUTER, and airtoll doctor --radio on the station: cipher "
    "of the link in hardware or in software",
    "software_share", _DOWN, 1.5, "cipher",
)  # fmt: skip
OPTIONS: Final = (
    Option("iperf3 -R (TCP down)", "throughput_bps", _DOWN, 2.0, "tcp-down"),
    Option("iperf3 (TCP up)", "throughput_bps", Flow("tcp", False), 2.0, "tcp-up"),
    Option(
        "iperf3 -R -u -b 0 -l 1472 (UDP down)", "throughput_bps", Flow("udp", True, 1472), 2.0,
        "udp-down",
    ),
    Option(
        "iperf3 -u -b 0 -l 1472 (UDP up)", "throughput_bps", Flow("udp", False, 1472), 2.0,
        "udp-up",
    ),
    Option(
        "iperf3 -R -u -b 0 -l 200 (UDP down, small datagrams)", "throughput_bps",
        Flow("udp", True, 200), 2.0, "udp-down,octets=200",
    ),
    Option(
        "iperf3 -R -u -P 4 at half of the first throughput: lost datagrams", "loss_ratio", _FOUR,
        2.0, "loss,flows=4", 0.5,
    ),
    Option(
        "ping of the access point while nothing else runs: mean", "delay_s",
        Flow("udp", True, 64), 1.0, "delay",
    ),
    Option("load of the busiest core of the access point during the test (top, then 1)",
           "cpu_share", _DOWN, 2.0, "cpu"),
    RADIO,
    Option("rate of the link during the test (iw dev wlan0 link)", "rate_bps", _DOWN, 1.5, "rate"),
    Option("width of the link during the test (iw dev wlan0 link: 80MHz, 40MHz)", "width_mhz",
           _DOWN, 1.5, "width"),
    Option("streams of the link during the test (iw dev wlan0 link: NSS 2)", "streams", _DOWN, 1.5,
           "streams"),
    Option("guard interval of the link during the test (iw dev wlan0 link: short GI)", "guard_ns",
           _DOWN, 1.5, "guard"),
    Option("level of the link during the test (iw dev wlan0 link: signal)", "signal_dbm", _DOWN,
           1.5, "signal"),
    Option("a capture during the test: share of retries", "retry_share", _DOWN, 12.0, "retries"),
    Option("a capture during the test: air in use", "busy_share", _DOWN, 12.0, "busy"),
    Option("a capture during the test: airtime of others", "others_share", _DOWN, 12.0, "others"),
    Option("a capture during the test: MPDUs per frame", "mpdus_per_frame", _DOWN, 15.0, "mpdus"),
    Option(
        "a capture of four flows: packet numbers out of order", "reordered_share", _FOUR, 15.0,
        "reordered",
    ),
    Option("the first policy once more, TCP down", "again_bps", _DOWN, 6.0, "again"),
    Option("TCP over a cable in place of Wi-Fi", "cable_bps", _DOWN, 5.0, "cable"),
)  # fmt: skip


@frozen
class _Mixture:
    """The outcomes of a mechanism: middles and standard deviations with weights."""

    parts: tuple[tuple[float, float, float], ...] = field()

    def density(self, x: NDArray[np.float64]) -> NDArray[np.float64]:
        """The density at each of the points ``x``."""
        m, s, w = np.array(self.parts).T[:, :, np.newaxis]
        heights = w / s / math.sqrt(2 * math.pi)
        found: NDArray[np.float64] = (heights * np.exp(-0.5 * ((x - m) / s) ** 2)).sum(axis=0)
        return found

    @property
    def middle(self) -> float:
        return sum(w * m for m, _, w in self.parts)

    @property
    def spread(self) -> float:
        mean = self.middle
        return math.sqrt(sum(w * (s * s + (m - mean) ** 2) for m, s, w in self.parts))


def deciding(
    setting: Setting,
    ranking: Ranking,
    readings: Sequence[Reading],
    options: Sequence[Option] = OPTIONS,
) -> Deciding | None:
    """The measurement with most information per minute about the leading mechanisms.

    ``options``: those that can be made. None where one mechanism stands alone, or no measurement of
    the list tells them apart.
    """
    leading = [one for one in ranking.ranked if one.weight >= _LEAST][:_MOST]
    if len(leading) < 2:
        return None
    made = {(one.quantity, one.flow) for one in readings if one.after is not None}
    best: Deciding | None = None
    for option in options:
        if (option.quantity, option.flow) in made or option.flow.alone not in setting.air:
            continue
        if option.quantity == "software_share" and setting.change.suite is None:
            continue
        found = _information(setting, leading, option, readings)
        if best is None or found.bits / option.minutes > best.bits / best.option.minutes:
            best = found
    return best if best is not None and best.bits > _WORTHLESS else None


def _information(
    setting: Setting, leading: Sequence[Ranked], option: Option, readings: Sequence[Reading]
) -> Deciding:
    offered = None
    if option.offered_share is not None:
        firsts = [r.before for r in readings if r.quantity == "throughput_bps" and r.before]
        offered = option.offered_share * (min(firsts) if firsts else setting.of(option.flow).before)
    before = next(
        (r.before for r in readings if (r.quantity, r.flow) == (option.quantity, option.flow)), None
    )
    reading = supposed(
        setting,
        Reading(option.quantity, option.flow, before, None, offered_bps=offered),
        readings,
    )
    factor = option.quantity in FACTORS
    mixtures = [_mixture(setting, one, reading, factor) for one in leading]
    total = sum(one.weight for one in leading)
    weights = [one.weight / total for one in leading]
    low = min(m - _REACH * s for mix in mixtures for m, s, _ in mix.parts)
    high = max(m + _REACH * s for mix in mixtures for m, s, _ in mix.parts)
    # Points where the outcomes are, not evenly over a range that one wide outcome makes long.
    m, s, _ = np.array([part for mix in mixtures for part in mix.parts]).T
    points = np.unique(
        np.append(np.linspace(low, high, _POINTS), m[:, np.newaxis] + s[:, np.newaxis] * _NEAR)
    )
    ends = np.concatenate([points[:1], points, points[-1:]])
    widths = 0.5 * (ends[2:] - ends[:-2])
    densities = np.array([mix.density(points) for mix in mixtures])
    whole = np.array(weights) @ densities
    bits = 0.0
    for w, d in zip(weights, densities, strict=True):
        told = (d > 0) & (whole > 0)
        bits += w * float((widths * d)[told] @ np.log2(d[told] / whole[told]))
    return Deciding(
        option,
        tuple(
            _outcome(one, mix, option.quantity) for one, mix in zip(leading, mixtures, strict=True)
        ),
        bits,
        offered,
        reading,
    )


def _mixture(setting: Setting, ranked: Ranked, reading: Reading, factor: bool) -> _Mixture:
    largest = sorted(ranked.spread, key=lambda one: -one[1])[:8]
    total = sum(weight for _, weight in largest)
    parts = []
    for value, weight in largest:
        of = predicted(ranked.mechanism, setting, reading, value)
        middle = math.log(max(of.value, 1e-9)) if factor else of.value
        parts.append((middle, max(of.total, 1e-3), weight / total))
    return _Mixture(tuple(parts))


def _outcome(ranked: Ranked, mix: _Mixture, quantity: Quantity) -> Outcome:
    factor, leveled = quantity in FACTORS, quantity == "signal_dbm"
    bounds = [mix.middle, mix.middle - 1.28 * mix.spread, mix.middle + 1.28 * mix.spread]
    if factor:
        bounds = [math.exp(one) for one in bounds]
    elif not leveled:
        bounds = [min(1.0, max(0.0, one)) for one in bounds]
    return Outcome(ranked.mechanism.name, *bounds)
