"""Calibration: parameters of a device that explain readings, with their uncertainty.

Takes observed cells (readings of one metric), a ``predict`` function from parameters to the
metric's means, and which cells are held out; gives fitted parameters with bootstrap intervals and
predictions of the held-out cells with intervals. A held-out cell is never fitted.
Never runs a testbed by itself: ``predict`` does.

Least squares on relative residuals (predicted / observed - 1), weighted by the standard error of
the observed mean and the model error. The model error is the part of the residuals that noise does
not explain: the fit starts with ``model_error`` and is repeated with its own estimate. Only a fit
without degrees of freedom keeps ``model_error``.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from attrs import frozen

from airtoll.analyse.estimate import Array, Estimate
from airtoll.analyse.student import t_quantile
from airtoll.errors import EnvironmentProblem, UsageError

#: How far below and above its start a parameter is searched.
_REACH = (100.0, 20_000.0)
_POPULATION = 10
_GENERATIONS = 20
#: Fits with a model error that the fit before has left.
_REPEATS = 3
#: Relative error below which a weight grows no further, so that exact readings have a weight.
_LEAST_ERROR = 1e-5

Predict = Callable[[Mapping[str, float], Sequence[str]], Sequence[float]]


@frozen
class Observed:
    """Readings of one cell and metric; ``cell`` is what ``predict`` is asked for."""

    cell: str
    readings: tuple[float, ...]
    unit: str

    @property
    def mean(self) -> float:
        """Mean of the readings."""
        return float(np.mean(self.readings))

    @property
    def relative_error(self) -> float:
        """Standard error of the mean over the mean; 0 for a single printed mean."""
        if len(self.readings) < 2 or self.mean == 0:
            return 0.0
        return float(np.std(self.readings, ddof=1)) / math.sqrt(len(self.readings)) / self.mean


@frozen
class Parameter:
    """A quantity to be fitted: start value, bounds and unit. Non-negative unless said."""

    name: str
    start: float
    low: float = 0.0
    high: float = math.inf
    unit: str = "1"


@frozen
class Prediction:
    """A cell, what it should read and what it reads.

    ``predicted`` bounds the observed mean, not the true one: it holds the readings' noise too.
    """

    cell: str
    predicted: Estimate
    observed: float
    held_out: bool

    @property
    def relative_error(self) -> float:
        """(predicted - observed) / observed."""
        return (self.predicted.value - self.observed) / self.observed

    @property
    def inside(self) -> bool:
        """Whether the observed mean lies in the prediction interval."""
        return self.predicted.contains(self.observed)


@frozen
class Calibration:
    """Outcome of a fit.

    ``parameters``: estimates by name. ``predictions``: every cell, fitted ones first.
    ``model_error``: relative, the part of the residuals that noise does not explain.
    """

    parameters: Mapping[str, Estimate]
    predictions: tuple[Prediction, ...]
    model_error: float

    @property
    def held_out(self) -> tuple[Prediction, ...]:
        """Predictions of cells that the fit has not seen."""
        return tuple(p for p in self.predictions if p.held_out)

    @property
    def coverage(self) -> float:
        """Share of held-out cells inside their interval; NaN without any."""
        cells = self.held_out
        return sum(p.inside for p in cells) / len(cells) if cells else math.nan


def calibrate(
    observed: Sequence[Observed],
    held_out: Sequence[Observed],
    parameters: Sequence[Parameter],
    predict: Predict,
    rng: np.random.Generator,
    *,
    level: float = 0.95,
    resamples: int = 200,
    model_error: float = 0.01,
    generations: int = _GENERATIONS,
) -> Calibration:
    """Fit parameters to the observed cells and predict the held-out ones.

    ``predict(values, cells)`` returns the mean of every cell, in the unit of the readings.
    Parameters start above zero. The bootstrap resamples readings within cells and moves the fit by
    one Gauss-Newton step, so ``predict`` is called for the fit alone: about ten times
    ``generations`` times the number of parameters. Raises UsageError where the fit is not
    determined.
    """
    _check(observed, held_out, parameters)
    names = [p.name for p in parameters]
    scale = np.array([abs(p.start) if p.start else 1.0 for p in parameters])
    cells = [cell.cell for cell in observed]
    target = np.array([cell.mean for cell in observed])
    noise = np.array([cell.relative_error for cell in observed])

    def model(theta: Array, wanted: Sequence[str]) -> Array:
        values = dict(zip(names, (theta * scale).tolist(), strict=True))
        return np.asarray(predict(values, wanted), dtype=np.float64)

    def weighted(error: float) -> tuple[Array, Callable[[Array], Array]]:
        # A cell that is known far better than the model is good for does not decide the fit alone.
        found = 1 / np.sqrt(noise**2 + max(error, _LEAST_ERROR) ** 2)
        return found, lambda theta: np.asarray((model(theta, cells) / target - 1) * found)

    spare = max(len(observed) - len(names), 0)
    error = model_error
    theta = _search(weighted(error)[1], parameters, scale, rng, generations)
    for _ in range(_REPEATS if spare else 1):
        weight, residuals = weighted(error)
        fit = optimisers().least_squares(
            residuals,
            theta,
            bounds=(
                np.array([p.low for p in parameters]) / scale,
                np.array([p.high for p in parameters]) / scale,
            ),
            x_scale="jac",
            diff_step=0.05,
        )
        theta, jacobian = fit.x, fit.jac
        if spare:
            left = residuals(theta) / weight
            excess = float(np.sum(left**2)) / spare - float(np.mean(noise**2))
            error = math.sqrt(max(excess, 0.0))
    if np.linalg.matrix_rank(jacobian) < len(names):
        raise UsageError(
            f"the readings do not determine {', '.join(names)}: fit fewer, or give more cells"
        )
    draws = _draws(
        observed, theta, jacobian, weight, residuals, error, rng, resamples, parameters, scale
    )
    estimates = {
        p.name: _estimate(
            draws[:, i] * scale[i], float(theta[i] * scale[i]), len(observed), p, level
        )
        for i, p in enumerate(parameters)
    }
    predictions = _predictions(
        [*((c, False) for c in observed), *((c, True) for c in held_out)],
        model,
        theta,
        draws,
        error,
        spare,
        level,
    )
    return Calibration(estimates, predictions, error)


def optimisers() -> Any:
    """scipy's optimisers; raises EnvironmentProblem where they are not installed."""
    try:
        from scipy import optimize
    except ImportError as error:
        raise EnvironmentProblem(
            "calibrate: the optimisers are missing; pip install 'airtoll[calibrate]'"
        ) from error
    return optimize


def _search(
    residuals: Callable[[Array], Array],
    parameters: Sequence[Parameter],
    scale: Array,
    rng: np.random.Generator,
    generations: int,
) -> Array:
    """A start for least squares, by differential evolution over the parameters' logarithms.

    A cost that the air hides changes nothing until it is the bottleneck, and another cost may
    stand in for it: least squares alone would see no slope, or the wrong valley (Storn and Price
    1997). Positive parameters are searched over _REACH times their start, down and up.
    """
    first = np.array([p.start for p in parameters]) / scale
    low = np.array([max(p.low, abs(p.start) / _REACH[0], 1e-12) for p in parameters]) / scale
    high = np.array([min(p.high, abs(p.start) * _REACH[1]) for p in parameters]) / scale
    found = optimisers().differential_evolution(
        lambda log: float(np.sum(residuals(np.exp(log)) ** 2)),
        list(zip(np.log(low), np.log(high), strict=True)),
        x0=np.log(np.clip(first, low, high)),
        popsize=_POPULATION,
        maxiter=generations,
        tol=1e-3,
        polish=False,
        rng=rng,
    )
    return np.asarray(np.exp(found.x))


def _draws(
    observed: Sequence[Observed],
    theta: Array,
    jacobian: Array,
    weight: Array,
    residuals: Callable[[Array], Array],
    error: float,
    rng: np.random.Generator,
    resamples: int,
    parameters: Sequence[Parameter],
    scale: Array,
) -> Array:
    """Parameters refitted to resampled readings, one Gauss-Newton step each."""
    step = np.linalg.pinv(jacobian)
    base = residuals(theta)
    low = np.array([p.low for p in parameters]) / scale
    high = np.array([p.high for p in parameters]) / scale
    draws = np.empty((resamples, theta.size))
    for index in range(resamples):
        shift = np.array([_shift(cell, error, rng) for cell in observed])
        # A target larger by a share moves the residual down by that share of 1 + residual.
        moved = base - (base + weight) * shift / (1 + shift)
        draws[index] = np.clip(theta - step @ moved + step @ base, low, high)
    return draws


def _shift(cell: Observed, error: float, rng: np.random.Generator) -> float:
    values = np.asarray(cell.readings)
    noise = 0.0
    if values.size > 1:
        noise = float(rng.choice(values, values.size).mean()) / cell.mean - 1
    return noise + float(rng.normal(0.0, error))


def _estimate(draws: Array, value: float, n: int, parameter: Parameter, level: float) -> Estimate:
    low, high = np.quantile(draws, [(1 - level) / 2, (1 + level) / 2])
    return Estimate(
        float(value), float(low), float(high), level, n, "least squares, bootstrap", parameter.unit
    )


def _predictions(
    cells: Sequence[tuple[Observed, bool]],
    model: Callable[[Array, Sequence[str]], Array],
    theta: Array,
    draws: Array,
    error: float,
    spare: int,
    level: float,
) -> tuple[Prediction, ...]:
    names = [cell.cell for cell, _ in cells]
    centre = model(theta, names)
    # The spread of the parameters reaches the cells through a linear model of each.
    gradient = np.empty((len(names), theta.size))
    for i in range(theta.size):
        moved = theta.copy()
        moved[i] += 0.05 * max(abs(theta[i]), 0.05)
        gradient[:, i] = (model(moved, names) - centre) / (moved[i] - theta[i])
    covariance = np.atleast_2d(np.cov(draws, rowvar=False))
    # Without degrees of freedom the model error is an assumption, not an estimate.
    quantile = float(t_quantile(level, spare or 2))
    found = []
    for index, (cell, out) in enumerate(cells):
        variance = float(gradient[index] @ covariance @ gradient[index])
        variance += (error * centre[index]) ** 2 + (cell.relative_error * cell.mean) ** 2
        half = quantile * math.sqrt(variance)
        value = float(centre[index])
        estimate = Estimate(
            value, value - half, value + half, level, len(cell.readings), "prediction", cell.unit
        )
        found.append(Prediction(cell.cell, estimate, cell.mean, out))
    return tuple(found)


def _check(
    observed: Sequence[Observed], held_out: Sequence[Observed], parameters: Sequence[Parameter]
) -> None:
    if not parameters:
        raise UsageError("name at least one parameter to fit")
    for parameter in parameters:
        if not parameter.low <= parameter.start <= parameter.high or parameter.start <= 0:
            raise UsageError(f"{parameter.name}: its start must be above zero and within bounds")
    if len(observed) < len(parameters):
        raise UsageError(
            f"{len(parameters)} parameters need as many observed cells or more, got {len(observed)}"
        )
    both = {cell.cell for cell in observed} & {cell.cell for cell in held_out}
    if both:
        raise UsageError(f"{sorted(both)[0]}: a cell cannot be fitted and held out")
    for cell in (*observed, *held_out):
        if not cell.readings or not all(math.isfinite(v) and v > 0 for v in cell.readings):
            raise UsageError(f"{cell.cell}: readings must be numbers above zero")
