"""The posterior over mechanisms by all readings.

A reading deviates from a prediction by Student's t with four degrees of freedom, so that one odd
reading does not decide alone. The parameter of a mechanism is averaged over. One further model
stands for what is not in the list: it predicts any change with a wide distribution, and where it
wins, nothing in the list fits.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from airtoll.analyse.explain.evidence import FACTORS, Reading, Setting
from airtoll.analyse.explain.mechanisms import (
    MECHANISMS,
    Mechanism,
    Predicted,
    predicted,
    unchanged,
)

#: Weight of a cause that is not in the list.
_OTHER: Final = 0.35
#: Standard deviation of its changes: of the logarithm of a factor, and of a share.
_OTHER_FACTOR: Final = 1.1
_OTHER_SHARE: Final = 0.25
_FREEDOM: Final = 4.0
#: Mechanisms whose weights differ by less than this factor cannot be told apart.
_ALIKE: Final = 3.0
#: A fit whose readings deviate by more than this many standard deviations (root mean square) is none.
_WORST_FIT: Final = 2.2


@frozen
class Explained:
    """One reading beside its prediction; ``deviations``: their distance in standard deviations."""

    reading: Reading
    predicted: Predicted
    deviations: float


@frozen
class Ranked:
    """A mechanism with its posterior weight, its best parameter and its readings."""

    mechanism: Mechanism
    weight: float
    value: float
    readings: tuple[Explained, ...]

    @property
    def misfit(self) -> float:
        """Root mean square of the deviations."""
        squares = [one.deviations**2 for one in self.readings]
        return math.sqrt(sum(squares) / len(squares)) if squares else 0.0


@frozen
class Ranking:
    """Mechanisms, most likely first. ``other``: weight of a cause that is not in the list."""

    ranked: tuple[Ranked, ...]
    other: float

    @property
    def fits(self) -> bool:
        """Whether a mechanism of the list explains the readings."""
        best = self.ranked[0]
        return best.weight > self.other and best.misfit < _WORST_FIT

    @property
    def alike(self) -> tuple[Ranked, ...]:
        """The first mechanism and those that these readings cannot tell from it."""
        first = self.ranked[0].weight
        return tuple(one for one in self.ranked if one.weight * _ALIKE >= first)


def rank(
    setting: Setting,
    readings: Sequence[Reading],
    mechanisms: Mapping[str, Mechanism] = MECHANISMS,
) -> Ranking:
    """Mechanisms ranked by how well each predicts all readings that have a value after."""
    told = [one for one in readings if one.after is not None]
    found: list[tuple[float, Mechanism, float]] = []
    for mechanism in mechanisms.values():
        prior = mechanism.prior(setting)
        if prior <= 0:
            continue
        logs = [
            sum(_log_density(one, predicted(mechanism, setting, one, value)) for one in told)
            for value in mechanism.values
        ]
        best = max(range(len(logs)), key=logs.__getitem__)
        average = logs[best] + math.log(
            sum(math.exp(log - logs[best]) for log in logs) / len(logs)
        )
        found.append((math.log(prior) + average, mechanism, mechanism.values[best]))
    other = math.log(_OTHER) + sum(_log_density(one, _anything(setting, one)) for one in told)
    top = max(other, *(log for log, _, _ in found))
    total = sum(math.exp(log - top) for log, _, _ in found) + math.exp(other - top)
    ranked = [
        Ranked(
            mechanism,
            math.exp(log - top) / total,
            value,
            tuple(_explained(one, predicted(mechanism, setting, one, value)) for one in told),
        )
        for log, mechanism, value in found
    ]
    ranked.sort(key=lambda one: -one.weight)
    return Ranking(tuple(ranked), math.exp(other - top) / total)


def _anything(setting: Setting, reading: Reading) -> Predicted:
    usual = unchanged(setting, reading)
    if reading.quantity in FACTORS:
        return Predicted(usual.value * math.exp(-0.7), _OTHER_FACTOR)
    return Predicted(usual.value + 0.1, _OTHER_SHARE)


def _distance(reading: Reading, of: Predicted) -> tuple[float, float]:
    """Distance and standard deviation, in logarithms for factors."""
    assert reading.after is not None
    deviation = math.hypot(of.deviation, reading.error)
    if reading.quantity in FACTORS:
        floor = 1e-3 * abs(of.value) + 1e-12
        return math.log(max(reading.after, floor) / max(of.value, 1e-12)), deviation
    return reading.after - of.value, deviation


def _log_density(reading: Reading, of: Predicted) -> float:
    distance, deviation = _distance(reading, of)
    z = distance / deviation
    return -math.log(deviation) - (_FREEDOM + 1) / 2 * math.log1p(z * z / _FREEDOM)


def _explained(reading: Reading, of: Predicted) -> Explained:
    distance, deviation = _distance(reading, of)
    return Explained(reading, of, distance / deviation)
