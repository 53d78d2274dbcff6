"""Identification: which mechanism explains measured overheads, by readings that are held out.

Takes measured overheads and the overheads that candidate mechanisms give over a range of costs per
frame; gives, per mechanism, the cost of each cipher fitted to the readings of the fit, predictions
of the held-out ones with intervals, and scores. Never runs a testbed: the curves come from one.

The cost of each cipher is fitted by least squares on overheads in points, weighted by the standard
errors of the readings. The error of a model is the residual time per frame of the fit that these
errors do not explain, because a card's time and not its share of the air carries
over to other rates. A prediction interval holds that time, over the cycle of the predicted cell,
and the standard error of the reading.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from attrs import frozen

from airtoll.analyse.ranks import kendall
from airtoll.analyse.student import t_quantile
from airtoll.errors import UsageError

#: Steps of the search between the costs of a curve.
_STEPS = 400
#: Least standard error of a reading, points.
_ROUNDING = 0.1


@frozen
class Overhead:
    """A measured overhead; ``value`` and ``error`` (standard error, 0 if unknown) in points.

    ``cipher`` has one cost per mechanism. ``table`` groups the readings whose order is scored.
    ``cycle_us``: open time per datagram or segment.
    """

    name: str
    table: str
    policy: str
    cipher: str
    value: float
    error: float
    cycle_us: float
    held_out: bool


@frozen
class Curve:
    """Overheads in points (of the definition of the readings) at rising costs per frame, us."""

    costs_us: tuple[float, ...]
    points: tuple[float, ...]

    def at(self, cost_us: float) -> float:
        """The overhead at a cost, between those of the curve by a straight line."""
        return float(np.interp(cost_us, self.costs_us, self.points))


@frozen
class Predicted:
    """A held-out overhead and its prediction, in points; ``half_width`` of the 90 % interval."""

    reading: Overhead
    value: float
    half_width: float

    @property
    def inside(self) -> bool:
        """Whether the reading lies in the interval."""
        return abs(self.reading.value - self.value) <= self.half_width


@frozen
class Model:
    """A fitted mechanism.

    ``fitted``: cost by cipher, us per frame. ``error_us``: residual time per frame of the fit.
    ``at_limit``: ciphers whose cost is the greatest of the curves, so that no finite cost fits.
    """

    name: str
    fitted: Mapping[str, float]
    error_us: float
    at_limit: tuple[str, ...]
    predicted: tuple[Predicted, ...]

    @property
    def rms_points(self) -> float:
        """Root of the mean squared error of the held-out overheads."""
        return math.sqrt(float(np.mean([_error(p) ** 2 for p in self.predicted])))

    @property
    def median_points(self) -> float:
        """Median absolute error of the held-out overheads."""
        return float(np.median([abs(_error(p)) for p in self.predicted]))

    @property
    def coverage(self) -> float:
        """Share of held-out overheads inside their 90 % interval."""
        return float(np.mean([p.inside for p in self.predicted]))

    @property
    def half_width_points(self) -> float:
        """Median half-width of the intervals."""
        return float(np.median([p.half_width for p in self.predicted]))

    def kendall(self) -> dict[str, float]:
        """Kendall's tau-b of predicted and measured overheads by table; NaN if all tie."""
        found = {}
        for name in sorted({p.reading.table for p in self.predicted}):
            rows = [p for p in self.predicted if p.reading.table == name]
            # Equal ciphers have equal costs: differences below a tenth of a point are ties.
            ours = [round(p.value, 1) for p in rows]
            theirs = [p.reading.value for p in rows]
            found[name] = kendall(ours, theirs)
        return found


def identify(
    readings: Sequence[Overhead], curves: Mapping[str, Mapping[str, Curve]]
) -> tuple[Model, ...]:
    """Fit every mechanism and predict the held-out readings; the best by held-out error first.

    ``curves``: mechanism -> name of a reading -> its curve. Raises UsageError without readings to
    fit or to predict.
    """
    seen = [r for r in readings if not r.held_out]
    unseen = [r for r in readings if r.held_out]
    if not seen or not unseen:
        raise UsageError("name scenarios so that some overheads are fitted and some held out")
    ciphers = {r.cipher for r in seen}
    unknown = sorted({r.cipher for r in unseen} - ciphers)
    if unknown:
        raise UsageError(f"{unknown[0]}: no reading of the fit has this cipher")
    models = [_fit(name, own, seen, unseen) for name, own in curves.items()]
    return tuple(sorted(models, key=lambda model: model.rms_points))


def _fit(
    name: str, curves: Mapping[str, Curve], seen: Sequence[Overhead], unseen: Sequence[Overhead]
) -> Model:
    fitted: dict[str, float] = {}
    at_limit = []
    free = 0
    for cipher in sorted({r.cipher for r in seen}):
        own = [r for r in seen if r.cipher == cipher]
        most = max(curves[r.name].costs_us[-1] for r in own)
        costs = np.linspace(0.0, most, _STEPS + 1 if most else 1)
        squares = [
            sum(_weight(r) * (curves[r.name].at(c) - r.value) ** 2 for r in own) for c in costs
        ]
        fitted[cipher] = float(costs[int(np.argmin(squares))])
        free += int(most > 0)
        if most and fitted[cipher] == most:
            at_limit.append(cipher)
    spare = max(len(seen) - free, 1)
    excess = sum(
        ((curves[r.name].at(fitted[r.cipher]) - r.value) ** 2 - r.error**2)
        * (r.cycle_us / 100) ** 2
        for r in seen
    )
    error_us = math.sqrt(max(excess, 0.0) / spare)
    quantile = float(t_quantile(0.9, max(spare, 2)))
    predicted = []
    for reading in unseen:
        model = 100 * error_us / reading.cycle_us
        half = quantile * math.hypot(model, reading.error)
        value = curves[reading.name].at(fitted[reading.cipher])
        predicted.append(Predicted(reading, value, half))
    return Model(name, fitted, error_us, tuple(at_limit), tuple(predicted))


def _weight(reading: Overhead) -> float:
    """Inverse variance of a reading, with the rounding of printed overheads as the least."""
    return 1 / (reading.error**2 + _ROUNDING**2)


def _error(p: Predicted) -> float:
    return p.value - p.reading.value
