"""Identification: which mechanism explains measured overheads, by readings that are held out.

Takes measured overheads and the overheads that candidate mechanisms give over a range of costs per
frame; gives, per mechanism, the costs fitted to the readings of the fit, predictions of the
held-out ones with intervals, and scores. Never runs a testbed: the curves come from one.

The model has three levels. A cipher has a cost per frame. The cost of a group (one cipher, data
set and transport) deviates from it with the standard deviation *spread*, because cards, drivers
and hosts differ. A reading deviates from the curve at the cost of its group with the standard
deviation *noise*, in points, and with its own standard error where its trials are known. Rows of
the same cipher that a study measured twice (two key lengths, WPA and WPA2) determine the noise.
The posterior of all of these is computed on a grid: costs and log noise are uniform a priori, and
the spread is half-Cauchy (Gelman, Bayesian Analysis 1, 2006, section 3.2). A held-out reading is
predicted from its group where the fit has seen that, and else from the cipher: so a fit that is
carried to another study has wider intervals. Averages over the posterior need no smooth curves.

Intervals are checked on the readings of the fit: each fold of them (a data set where the fit has
several, else a printed table) is predicted by a fit to the others. The error over the half-width
has a quantile that would have covered the wanted share of the folds (normalised split conformal
prediction: Lei et al., JASA 113, 2018, section 5.2). Where it exceeds one, it widens all intervals.
That covers held-out readings only as far as they resemble the folds.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final

import numpy as np
from attrs import evolve, frozen

from airtoll.analyse.estimate import Array
from airtoll.analyse.ranks import kendall
from airtoll.analyse.student import normal_below
from airtoll.errors import UsageError

#: Costs between those of a curve at which the posterior is computed.
_STEPS = 240
#: Standard deviations of a reading about its curve, points.
_NOISE: Final = np.geomspace(0.05, 8.0, 24)
#: Standard deviations of the cost of a group about that of its cipher, us.
_SPREAD: Final = np.array([0.0, 1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0])
#: Scale of the half-Cauchy prior of the spread, us.
_SPREAD_SCALE = 10.0
#: Half a unit of the last printed place of an overhead, as a standard deviation, points.
_ROUNDING = 0.01
_LEVEL = 0.9
#: The standard normal distribution, by straight lines with an error below 2e-6.
_Z: Final = np.linspace(-8.0, 8.0, 3201)
_BELOW: Final = np.asarray(normal_below(_Z))


@frozen
class Overhead:
    """A measured overhead; ``value`` and ``error`` (standard error, 0 if unknown) in points.

    Readings of one ``cipher``, ``dataset`` and ``transport`` have one cost. ``suite`` tells key
    lengths apart. ``table`` groups the readings whose order is scored.
    """

    name: str
    dataset: str
    table: str
    policy: str
    cipher: str
    suite: str
    transport: str
    value: float
    error: float
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
class Cost:
    """Fitted cost of a group, us per frame: posterior mean and its 90 % interval."""

    value: float
    low: float
    high: float
    at_limit: bool


@frozen
class Predicted:
    """A held-out overhead and its prediction with the 90 % interval, in points."""

    reading: Overhead
    value: float
    low: float
    high: float

    @property
    def half_width(self) -> float:
        """Half of the interval, points."""
        return (self.high - self.low) / 2

    @property
    def inside(self) -> bool:
        """Whether the reading lies in the interval."""
        return self.low <= self.reading.value <= self.high

    @property
    def miss(self) -> float:
        """The error over the half-width on its side."""
        value = self.reading.value
        side = self.high - self.value if value > self.value else self.value - self.low
        return abs(value - self.value) / side

    def widened(self, factor: float) -> Predicted:
        """The prediction with both sides of its interval longer by a factor."""
        low = self.value - factor * (self.value - self.low)
        return evolve(self, low=low, high=self.value + factor * (self.high - self.value))


@frozen
class Model:
    """A fitted mechanism.

    ``fitted``: cost by group ("tkip udp"). ``noise_points`` and ``spread_us``: posterior means of
    the two standard deviations. ``log_evidence``: logarithm of the marginal likelihood of the
    readings of the fit. ``key_lengths``: whether the key lengths of a cipher have costs of their
    own, which the evidence decides. ``widened``: factor on the half-widths that the folds of the
    fit demand; 1 where they demand none, or are too few to tell.
    """

    name: str
    fitted: Mapping[str, Cost]
    noise_points: float
    spread_us: float
    log_evidence: float
    key_lengths: bool
    predicted: tuple[Predicted, ...]
    widened: float = 1.0

    @property
    def at_limit(self) -> tuple[str, ...]:
        """Groups whose cost is the greatest of the curves, so that no finite cost fits."""
        return tuple(name for name, cost in self.fitted.items() if cost.at_limit)

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
            theirs = [round(p.reading.value, 2) for p in rows]
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
    unknown = sorted({r.cipher for r in unseen} - {r.cipher for r in seen})
    if unknown:
        raise UsageError(f"{unknown[0]}: no reading of the fit has this cipher")
    models = [_fit(name, own, seen, unseen) for name, own in curves.items()]
    return tuple(sorted(models, key=lambda model: model.rms_points))


def weights(models: Sequence[Model]) -> list[tuple[Model, float]]:
    """Models with their share by the evidence of the fitted readings alone, most likely first."""
    top = max(model.log_evidence for model in models)
    shares = [math.exp(model.log_evidence - top) for model in models]
    found = [(model, share / sum(shares)) for model, share in zip(models, shares, strict=True)]
    return sorted(found, key=lambda one: -one[1])


def _fit(
    name: str, curves: Mapping[str, Curve], seen: Sequence[Overhead], unseen: Sequence[Overhead]
) -> Model:
    shared = _Posterior(curves, seen, key_lengths=False)
    suites = {r.suite for r in seen}
    if shared.costs.size > 1 and {r.suite for r in unseen} <= suites:
        apart = _Posterior(curves, seen, key_lengths=True)
        if apart.log_evidence > shared.log_evidence:
            shared = apart
    return shared.model(name, unseen, _widening(curves, seen, shared.key_lengths))


def _widening(curves: Mapping[str, Curve], seen: Sequence[Overhead], key_lengths: bool) -> float:
    """Factor by which intervals of a fit to part of the readings miss the rest."""
    datasets = {r.dataset for r in seen}
    fold_of = {r.name: r.dataset if len(datasets) > 1 else r.table for r in seen}
    misses = []
    for fold in sorted(set(fold_of.values())):
        rest = [r for r in seen if fold_of[r.name] != fold]
        known = {r.suite if key_lengths else r.cipher for r in rest}
        out = [
            r
            for r in seen
            if fold_of[r.name] == fold and (r.suite if key_lengths else r.cipher) in known
        ]
        if rest and out:
            posterior = _Posterior(curves, rest, key_lengths=key_lengths)
            misses += [posterior.predict(r).miss for r in out]
    rank = math.ceil((len(misses) + 1) * _LEVEL)
    if rank > len(misses):
        return 1.0
    return max(1.0, sorted(misses)[rank - 1])


class _Posterior:
    """Joint posterior of costs, spread and noise; arrays have the axes (noise, spread, cost)."""

    def __init__(
        self, curves: Mapping[str, Curve], seen: Sequence[Overhead], *, key_lengths: bool
    ) -> None:
        self._curves, self.key_lengths = curves, key_lengths
        most = max(curves[r.name].costs_us[-1] for r in seen)
        self.costs = np.linspace(0.0, most, _STEPS + 1 if most else 1)
        self._kernels = _kernels(self.costs)
        prior = 1 / (1 + (_SPREAD / _SPREAD_SCALE) ** 2) * np.gradient(_SPREAD)
        # Likelihood of the readings of a group by noise and cost, scaled to a maximum of one.
        self._groups: dict[tuple[str, str, str], Array] = {}
        scale = 0.0
        for reading in seen:
            mean = _at(curves[reading.name], self.costs)
            variance = (_NOISE**2 + reading.error**2 + _ROUNDING**2)[:, None]
            log = -0.5 * (np.log(2 * np.pi * variance) + (mean - reading.value) ** 2 / variance)
            key = self._key(reading)
            self._groups[key] = self._groups.get(key, np.zeros_like(log)) + log
        for key, log in self._groups.items():
            scale += float(log.max())
            self._groups[key] = np.exp(log - log.max())
        # By group: its likelihood where its cipher has a cost, (noise, spread, cost of cipher).
        self._given = {
            key: np.einsum("sct,nt->nsc", self._kernels, likelihood)
            for key, likelihood in self._groups.items()
        }
        self._ciphers: dict[str, Array] = {}
        for (cipher, *_), given in self._given.items():
            self._ciphers[cipher] = self._ciphers.get(cipher, np.ones_like(given)) * given
        weight = np.broadcast_to(prior / prior.sum(), (_NOISE.size, _SPREAD.size)) / _NOISE.size
        for joint in self._ciphers.values():
            weight = weight * joint.mean(axis=2)
        total = float(weight.sum())
        self._weight = weight / total
        self.log_evidence = scale + math.log(total)
        self._of_group: dict[tuple[str, str, str], Array] = {}

    def model(self, name: str, unseen: Sequence[Overhead], widened: float) -> Model:
        """The fitted mechanism with its predictions, their intervals longer by a factor."""
        fitted = {}
        if self.costs.size > 1:
            for key in sorted(self._groups):
                marginal = self._group(key).sum(axis=0)
                fitted[_name(key, self._groups)] = self._cost(marginal)
        noise = float(self._weight.sum(axis=1) @ _NOISE)
        spread = float(self._weight.sum(axis=0) @ _SPREAD)
        predicted = tuple(self.predict(reading).widened(widened) for reading in unseen)
        return Model(
            name,
            fitted,
            noise,
            spread,
            self.log_evidence,
            self.key_lengths,
            predicted,
            widened,
        )

    def _key(self, reading: Overhead) -> tuple[str, str, str]:
        cipher = reading.suite if self.key_lengths else reading.cipher
        return cipher, reading.dataset, reading.transport

    def _group(self, key: tuple[str, str, str]) -> Array:
        """Posterior of noise and the cost of a group, (noise, cost), that sums to one."""
        if key not in self._of_group:
            self._of_group[key] = self._computed(key)
        return self._of_group[key]

    def _computed(self, key: tuple[str, str, str]) -> Array:
        others = np.ones_like(self._ciphers[key[0]])
        for other, given in self._given.items():
            if other[0] == key[0] and other != key:
                others = others * given
        cost = np.einsum("nsc,sct->nst", others, self._kernels)
        if key in self._groups:
            cost = cost * self._groups[key][:, None, :]
        # The weight holds the evidence of this cipher already.
        total = cost.sum(axis=2)
        share = np.divide(self._weight, total, out=np.zeros_like(total), where=total > 0)
        found: Array = np.einsum("ns,nst->nt", share, cost)
        found /= found.sum()
        return found

    def _cost(self, marginal: Array) -> Cost:
        low, high = _quantiles(self.costs, marginal)
        near = marginal[self.costs > 0.95 * self.costs[-1]].sum()
        return Cost(float(marginal @ self.costs), low, high, bool(near > 0.5))

    def predict(self, reading: Overhead) -> Predicted:
        """A reading that the fit has not seen."""
        joint = self._group(self._key(reading))
        means = _at(self._curves[reading.name], self.costs)
        deviations = np.sqrt(_NOISE**2 + reading.error**2 + _ROUNDING**2)
        value = float(joint.sum(axis=0) @ means)
        reach = 6 * float(deviations.max())

        def below(points: float) -> float:
            z = (points - means[None, :]) / deviations[:, None]
            return float((joint * np.interp(z, _Z, _BELOW)).sum())

        ends = (float(means.min()) - reach, float(means.max()) + reach)
        low, high = (
            _crossing(below, share, *ends) for share in ((1 - _LEVEL) / 2, (1 + _LEVEL) / 2)
        )
        return Predicted(reading, value, low, high)


def _crossing(rising: Callable[[float], float], level: float, low: float, high: float) -> float:
    """Where a rising function reaches a level, by bisection to a thousandth."""
    while high - low > 1e-3:
        middle = (low + high) / 2
        low, high = (low, middle) if rising(middle) > level else (middle, high)
    return (low + high) / 2


def _kernels(costs: Array) -> Array:
    """Distribution of a group's cost by that of its cipher, (spread, cipher's cost, cost)."""
    apart = costs[None, :] - costs[:, None]
    found = np.empty((_SPREAD.size, costs.size, costs.size))
    for index, spread in enumerate(_SPREAD):
        density = np.exp(-0.5 * (apart / spread) ** 2) if spread else np.eye(costs.size)
        found[index] = density / density.sum(axis=1, keepdims=True)
    return found


def _at(curve: Curve, costs: Array) -> Array:
    return np.asarray(np.interp(costs, curve.costs_us, curve.points))


def _quantiles(costs: Array, marginal: Array) -> tuple[float, float]:
    rising = np.cumsum(marginal)
    low, high = np.interp([(1 - _LEVEL) / 2, (1 + _LEVEL) / 2], rising, costs)
    return float(low), float(high)


def _name(key: tuple[str, str, str], groups: Mapping[tuple[str, str, str], Array]) -> str:
    cipher, dataset, transport = key
    several = len({other for _, other, _ in groups}) > 1
    return f"{dataset} {cipher} {transport}" if several else f"{cipher} {transport}"


def _error(p: Predicted) -> float:
    return p.value - p.reading.value
