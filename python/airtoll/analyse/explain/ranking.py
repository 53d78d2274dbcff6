"""The posterior over mechanisms by all readings.

A reading deviates from a prediction by Student's t with four degrees of freedom, so that one odd
reading does not decide alone; throughputs share a factor besides, which is averaged over, as the
parameter of a mechanism is. Throughputs before the change count, too: a wire of 100 Mb/s in both
measurements shows in the first one. One further model stands for what is not in the list. It
predicts any change with wide distributions, and where it wins, nothing in the list fits.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from airtoll.analyse.explain.evidence import (
    FACTORS,
    OF_FORM,
    THROUGHPUTS,
    Reading,
    Setting,
    supposed,
)
from airtoll.analyse.explain.mechanisms import (
    MECHANISMS,
    UNSEEN,
    Mechanism,
    Predicted,
    Prior,
    Values,
    predicted,
    unchanged,
    usual_before,
)
from airtoll.analyse.explain.mechanisms.air import busy_alone
from airtoll.analyse.student import chi_square_above

#: Weight of a cause that is not in the list.
_OTHER: Final = 0.3
#: Its changes: standard deviations of the shared factor, of a factor alone, of a delay, of a share.
_OTHER_TOGETHER: Final = 1.1
_OTHER_FACTOR: Final = 0.35
_OTHER_DELAY: Final = 1.5
_OTHER_SHARE: Final = 0.25
_FREEDOM: Final = 4.0
#: Mechanisms whose weights differ by less than this factor cannot be told apart.
_ALIKE: Final = 3.0
#: A mechanism with less agreement does not fit, nor one with a deviation above this. Widths are
#: those of homes; deviations of planted mechanisms are six tenths of them. One in ten that come
#: first is beyond either (benchmarks/explain_planting.py). Readings no more than the fitted
#: numbers test little.
_LEAST_AGREEMENT: Final = 0.5
_LEAST_UNTESTED: Final = 0.02
_LARGEST_DEVIATION: Final = 2.0
#: Level of the interval of a measurement, in which no prediction is wrong.
_LEVEL: Final = 0.95
#: The most fitted numbers of a mechanism that count: further ones are choices of a few values.
_MOST_FITTED: Final = 2
#: Spread of a measurement that is not known: of the logarithm where it is a factor.
_UNKNOWN_ERROR: Final = {"throughput_bps": 0.08, "again_bps": 0.08, "cable_bps": 0.05}
#: Share of links that carry far less than their PHY, and the standard deviation of that factor.
_BAD_LINKS: Final = 0.15
_BAD_BELOW: Final = 2.0
#: The same in the test of the fit where nothing is said to be wrong: a link far below its air in
#: both measurements is not right; a tunnel leads through more.
_RIGHT_BELOW: Final = 0.3
#: Air in use by a test of TCP that nothing but the air limits, and its standard deviation.
_SATURATED, _SATURATED_OFF = 0.8, 0.12
#: The most that idle air counts in the weights, squared standard deviations.
_MOST_IDLE: Final = 6.0
#: Nodes of the shared factor, in standard deviations, with the weights of a normal distribution.
_NODES: Final = tuple(0.4 * step for step in range(-6, 7))
_WEIGHTS: Final = tuple(math.exp(-0.5 * z * z) for z in _NODES)
_LOG_WEIGHTS: Final = tuple(math.log(w / sum(_WEIGHTS)) for w in _WEIGHTS)


@frozen
class Explained:
    """One reading beside its prediction; ``deviations``: their distance in standard deviations.

    ``bits``: by how much the reading speaks for the mechanism against all others of the ranking.
    """

    reading: Reading
    predicted: Predicted
    deviations: float
    bits: float = 0.0

    @property
    def is_within(self) -> bool:
        """Whether the prediction is in the 95 % interval that the measurement itself has."""
        reading, value = self.reading, self.predicted.value
        assert reading.after is not None
        if reading.quantity not in FACTORS:
            return abs(reading.after - value) <= reading.margin(_LEVEL)
        if reading.after <= 0 or value <= 0:
            return reading.after == value
        return abs(math.log(reading.after / value)) <= reading.margin(_LEVEL)


@frozen
class Ranked:
    """A mechanism with its posterior weight, its best parameter and its readings.

    ``spread``: the parameter's values with their weights, of those that matter. ``fitted``: numbers
    of the parameter that the readings chose. ``shared``: in
    standard deviations the factors that all throughputs share, after the change and before it, and
    the air that was in use before.
    """

    mechanism: Mechanism
    weight: float
    prior: Prior
    value: Values
    spread: tuple[tuple[Values, float], ...]
    readings: tuple[Explained, ...]
    shared: tuple[float, ...] = ()
    fitted: int = 0

    @property
    def agreement(self) -> float:
        """Probability of deviations as large as these where the mechanism is the cause.

        Chi-square of all deviations and of the shared factors; each fitted number takes a degree of
        freedom. The link's form is printed without error, and has no part in it.
        """
        counted = [one for one in self.readings if one.reading.quantity not in OF_FORM]
        squares = sum(one.deviations**2 for one in counted)
        squares += sum(z * z for z in self.shared)
        return chi_square_above(squares, max(1, len(counted) - self.fitted))

    @property
    def agrees(self) -> bool:
        """Whether no reading, nor the level before, is too far off, and all together are not.

        Predictions that are all in the intervals of their measurements contradict nothing.
        """
        if not self.level_agrees:
            return False
        if all(one.is_within for one in self.readings):
            return True
        largest = max(abs(one.deviations) for one in self.readings)
        tested = len(self.readings) > max(_MOST_FITTED, self.fitted)
        least = _LEAST_AGREEMENT if tested else _LEAST_UNTESTED
        return self.agreement > least and largest < _LARGEST_DEVIATION

    @property
    def level_agrees(self) -> bool:
        """Whether the throughputs before are those of such a link."""
        return not self.shared or abs(self.shared[1]) < _LARGEST_DEVIATION

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
        """Whether the first mechanism agrees, and those that do are likelier than another cause."""
        agreeing = sum(one.weight for one in self.ranked if one.agrees)
        return self.ranked[0].agrees and agreeing > self.other

    @property
    def alike(self) -> tuple[Ranked, ...]:
        """The first mechanism and those that these readings cannot tell from it."""
        first = self.ranked[0].weight
        return tuple(one for one in self.ranked if one.weight * _ALIKE >= first)


@frozen
class _Weighed:
    """The likelihoods of one mechanism: by value of the parameter, and at the best one."""

    mechanism: Mechanism
    prior: Prior
    log: float
    value: Values
    spread: tuple[tuple[Values, float], ...]
    readings: tuple[Explained, ...]
    each: tuple[float, ...]
    shared: tuple[float, ...]
    fitted: int


def rank(
    setting: Setting,
    readings: Sequence[Reading],
    mechanisms: Mapping[str, Mechanism] = MECHANISMS,
) -> Ranking:
    """Mechanisms ranked by how well each predicts all readings that have a value after.

    Raises ValueError without such a reading.
    """
    idle = _idle_before(setting, readings)
    told = [_believed(setting, one, readings) for one in readings if one.after is not None]
    if not told:
        raise ValueError("no reading has a value after")
    firsts = [
        one for one in readings if one.quantity == "throughput_bps" and one.before is not None
    ]
    usual = _log_usual(setting, firsts)
    found: list[_Weighed] = []
    for mechanism in mechanisms.values():
        prior = mechanism.prior(setting)
        if prior.weight > 0:
            found.append(_weighed(mechanism, prior, setting, told, firsts, usual, idle))
    other = (
        math.log(_OTHER)
        + usual
        + _log_likelihood([_Part.of(one, _anything(setting, one)) for one in told])[0]
    )
    top = max(other, *(one.log for one in found))
    total = sum(math.exp(one.log - top) for one in found) + math.exp(other - top)
    ranked = [
        Ranked(
            one.mechanism,
            math.exp(one.log - top) / total,
            one.prior,
            one.value,
            one.spread,
            _against_others(one, found, top),
            one.shared,
            one.fitted,
        )
        for one in found
    ]
    ranked.sort(key=lambda one: -one.weight)
    return Ranking(tuple(ranked), math.exp(other - top) / total)


def _believed(setting: Setting, reading: Reading, readings: Sequence[Reading]) -> Reading:
    """The reading with a supposed value before, which is less certain than a measured one."""
    found = supposed(setting, reading, readings)
    if not found.supposed:
        return found
    own = reading.error or _UNKNOWN_ERROR.get(reading.quantity, 0.01)
    return evolve(found, error=math.hypot(own, UNSEEN))


def _weighed(
    mechanism: Mechanism,
    prior: Prior,
    setting: Setting,
    told: Sequence[Reading],
    firsts: Sequence[Reading],
    usual: float,
    idle: float,
) -> _Weighed:
    """``usual``: logarithm of the likelihood of ``firsts`` without the mechanism."""
    # A limit of both measurements leaves the air idle in the first one, too.
    idle = 0.0 if mechanism.before is not None else idle
    counted = Counter(mechanism.values(setting))
    values = list(counted)
    logs, shared = [], []
    for value, count in counted.items():
        parts = [_Part.of(one, predicted(mechanism, setting, one, value)) for one in told]
        log, z = _log_likelihood(parts)
        log += _log_before(mechanism, setting, firsts, value, usual)
        logs.append(log + math.log(count / counted.total()))
        shared.append(z)
    best = max(range(len(logs)), key=logs.__getitem__)
    weights = [math.exp(log - logs[best]) for log in logs]
    total = sum(weights)
    # The test of the fit is that of the best number, not of the nearest one of the list.
    chosen, z, highest = values[best], shared[best], logs[best]
    for value in mechanism.nearby(chosen):
        parts = [_Part.of(one, predicted(mechanism, setting, one, value)) for one in told]
        log, factor = _log_likelihood(parts)
        log += _log_before(mechanism, setting, firsts, value, usual) + math.log(
            counted[values[best]] / counted.total()
        )
        if log > highest:
            chosen, z, highest = value, factor, log
    parts = [_Part.of(one, predicted(mechanism, setting, one, chosen)) for one in told]
    return _Weighed(
        mechanism,
        prior,
        math.log(prior.weight) + logs[best] + math.log(total) - 0.5 * min(idle**2, _MOST_IDLE),
        chosen,
        tuple(
            (value, weight / total)
            for value, weight in zip(values, weights, strict=True)
            if weight > 0.02
        ),
        tuple(
            Explained(one, part.predicted, part.deviations(z))
            for one, part in zip(told, parts, strict=True)
        ),
        tuple(part.log_density(z) for part in parts),
        (z, _shared_before(mechanism, setting, firsts, chosen), idle),
        min(_MOST_FITTED, sum(len(set(one)) > 1 for one in zip(*values, strict=True))),
    )


def _against_others(own: _Weighed, found: Sequence[_Weighed], top: float) -> tuple[Explained, ...]:
    """The readings with the weight of evidence of each: own density over the others' mean."""
    others = [one for one in found if one is not own]
    weights = [max(1e-12, math.exp(one.log - top)) for one in others]
    explained = []
    for at, reading in enumerate(own.readings):
        mean = sum(w * math.exp(o.each[at]) for w, o in zip(weights, others, strict=True))
        bits = 0.0
        if others:
            bits = (own.each[at] - math.log(max(mean / sum(weights), 1e-300))) / math.log(2)
        explained.append(Explained(reading.reading, reading.predicted, reading.deviations, bits))
    return tuple(explained)


@frozen
class _Part:
    """Distance of a reading from its prediction, and its standard deviations."""

    predicted: Predicted
    distance: float
    own: float
    below: float
    above: float

    @classmethod
    def of(cls, reading: Reading, of: Predicted, value: float | None = None) -> _Part:
        """``value``: in place of the reading's value after."""
        measured = reading.after if value is None else value
        assert measured is not None
        own = of.deviation
        if value is None:
            own = math.hypot(own, reading.error or _UNKNOWN_ERROR.get(reading.quantity, 0.01))
        if reading.quantity not in FACTORS:
            return cls(of, measured - of.value, own, 0.0, 0.0)
        floor = 1e-4 * max(abs(of.value), reading.before or 0.0) + 1e-12
        distance = math.log(max(measured, floor) / max(of.value, floor))
        if reading.quantity not in THROUGHPUTS:
            return cls(of, distance, math.hypot(own, 0.5 * (of.below + of.above)), 0.0, 0.0)
        return cls(of, distance, own, of.below, of.above)

    def deviations(self, z: float) -> float:
        """Distance in standard deviations, where the shared factor is ``z`` of its own."""
        return (self.distance - z * (self.below if z < 0 else self.above)) / self.own

    def log_density(self, z: float) -> float:
        """Student's t about the prediction (without its constant)."""
        d = self.deviations(z)
        return -math.log(self.own) - (_FREEDOM + 1) / 2 * math.log1p(d * d / _FREEDOM)


def _log_likelihood(parts: Sequence[_Part]) -> tuple[float, float]:
    """Logarithm of the likelihood, averaged over the shared factor, and its best node."""
    if all(part.below == 0 and part.above == 0 for part in parts):
        return sum(part.log_density(0.0) for part in parts), 0.0
    # The densities of _Part.log_density, written out: most of the time of a ranking passes here.
    densities = [0.0] * len(_NODES)
    for part in parts:
        distance, own, below, above = part.distance, part.own, part.below, part.above
        scale = -math.log(own)
        for at, z in enumerate(_NODES):
            d = (distance - z * (below if z < 0 else above)) / own
            densities[at] += scale - (_FREEDOM + 1) / 2 * math.log1p(d * d / _FREEDOM)
    logs = [weight + density for weight, density in zip(_LOG_WEIGHTS, densities, strict=True)]
    top = max(logs)
    return top + math.log(sum(math.exp(log - top) for log in logs)), _NODES[logs.index(top)]


def _log_before(
    mechanism: Mechanism, setting: Setting, firsts: Sequence[Reading], value: Values, usual: float
) -> float:
    """The same of throughputs before the change; ``usual`` where it leaves them as they are."""
    if not firsts or mechanism.before is None:
        return usual
    of = mechanism.before
    standing = [_Part.of(one, of(setting, one, value), one.before) for one in firsts]
    return _log_likelihood(standing)[0]


def _log_usual(setting: Setting, firsts: Sequence[Reading]) -> float:
    """The same without a mechanism that acts before the change."""
    if not firsts:
        return 0.0
    usual = [(one, usual_before(setting, one)) for one in firsts]
    # A link whose PHY is not the stated one, or that is bad in both measurements, is not rare.
    logs = [
        math.log(share)
        + _log_likelihood([_Part.of(r, evolve(of, below=below), r.before) for r, of in usual])[0]
        for share, below in ((1 - _BAD_LINKS, usual[0][1].below), (_BAD_LINKS, _BAD_BELOW))
    ]
    return max(logs) + math.log(sum(math.exp(log - max(logs)) for log in logs))


def _idle_before(setting: Setting, readings: Sequence[Reading]) -> float:
    """By how many standard deviations a test before left more air idle than the air's limit.

    Without aggregation the waits between the exchanges leave more of it idle.
    """
    found = [0.0]
    for one in readings:
        if one.quantity == "busy_share" and one.before is not None:
            full = _SATURATED
            if not setting.of(one.flow).aggregates:
                full = min(full, busy_alone(setting, one.flow))
            found.append((full - one.before) / _SATURATED_OFF)
    return max(found)


def _shared_before(
    mechanism: Mechanism, setting: Setting, firsts: Sequence[Reading], value: Values
) -> float:
    """The shared factor of the throughputs before, in standard deviations.

    A cause of the change alone says nothing of a link that was slow before.
    """
    if not firsts:
        return 0.0
    if mechanism.before is not None:
        parts = [_Part.of(r, mechanism.before(setting, r, value), r.before) for r in firsts]
    elif mechanism.name != "octets":
        return 0.0
    else:
        below = _BAD_BELOW if setting.change.tunnel else _RIGHT_BELOW
        usual = [(r, evolve(usual_before(setting, r), below=below)) for r in firsts]
        parts = [_Part.of(r, of, r.before) for r, of in usual]
    mean = sum(part.distance for part in parts) / len(parts)
    side = parts[0].below if mean < 0 else parts[0].above
    return mean / math.hypot(side, parts[0].own)


def _anything(setting: Setting, reading: Reading) -> Predicted:
    usual = unchanged(setting, reading)
    if reading.quantity in OF_FORM or reading.quantity == "signal_dbm":
        # Causes of other kinds leave them as they were.
        return usual
    if reading.quantity == "delay_s":
        return Predicted(2 * usual.value, _OTHER_DELAY)
    if reading.quantity in FACTORS:
        middle = usual.value * math.exp(-0.7)
        return Predicted(middle, _OTHER_FACTOR, _OTHER_TOGETHER, _OTHER_TOGETHER)
    return Predicted(usual.value + 0.1, _OTHER_SHARE)
