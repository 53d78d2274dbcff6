"""Student's t distribution, the noncentral one, the normal one, and chi-square: quantiles, tails.

Written out, because scipy is half as large as the rest of the installation; the tests hold every
function against scipy's. Results without an answer are NaN. Arguments broadcast; scalars give a
scalar.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Sequence
from functools import lru_cache
from statistics import NormalDist
from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

_TINY: Final = 1e-300
#: The continued fraction needs about the root of the degrees of freedom in steps.
_MOST_STEPS: Final = 20_000
_MOST_TURNS: Final = 100
#: From here on the series of the gamma functions' ratio is exact to the last digit.
_SERIES_FROM: Final = 40.0
_NORMAL: Final = NormalDist()
_erfc = np.vectorize(math.erfc, otypes=[np.float64])

#: A calculation that asks for values of the continued fraction, by its arguments.
_Asking = Generator[tuple[float, float, float], float, float]
#: Different arguments up to which each is a calculation of its own, whose result is kept.
_FEW: Final = 16


def t_quantile(level: ArrayLike, degrees: ArrayLike) -> Any:
    """Two-sided quantile of Student's t: P(|t| <= q) = level; NaN for no degrees of freedom."""
    return _where_known(_quantile, _asking_quantile, level, degrees)


def t_below(x: ArrayLike, degrees: ArrayLike) -> Any:
    """The probability that Student's t lies below ``x``; NaN for no degrees of freedom."""
    return _where_known(_below, _asking_below, x, degrees)


def t_above(x: ArrayLike, degrees: ArrayLike) -> Any:
    """The probability that Student's t lies above ``x``; NaN for no degrees of freedom."""
    return t_below(-np.asarray(x, float), degrees)


def chi_square_above(x: float, degrees: int) -> float:
    """The probability that chi-square with whole degrees of freedom (1 or more) lies above ``x``.

    By the recurrence of the incomplete gamma function (Abramowitz and Stegun, 26.4.4 and 26.4.5).
    """
    half = max(x, 0.0) / 2
    if degrees % 2:
        total, term, at = math.erfc(math.sqrt(half)), math.sqrt(half / math.pi) * 2, 1.5
        term *= math.exp(-half)
    else:
        total, term, at = math.exp(-half), half * math.exp(-half), 2.0
    while at <= degrees / 2:
        total += term
        term *= half / at
        at += 1
    return min(1.0, total)


def noncentral_t_beyond(critical: float, degrees: float, centre: float) -> float:
    """The probability that a noncentral t variable lies outside ``-critical`` to ``critical``.

    The normal tails are integrated over the distribution of the root of chi-square over its
    degrees of freedom, at Gauss-Legendre nodes.
    """
    spread = 1 / math.sqrt(2 * degrees)
    low, high = max(0.0, 1 - 14 * spread), 1 + 14 * spread
    # The fourth power is smooth at 0, where the density of few degrees of freedom is not.
    nodes, weights = _legendre()
    ends = low**0.25, high**0.25
    u = (ends[1] + ends[0]) / 2 + (ends[1] - ends[0]) / 2 * nodes
    s = u**4
    log = (degrees - 1) * np.log(s) - degrees * (s**2 - 1) / 2 + 3 * np.log(u)
    mass = weights * np.exp(log - log.max())
    tails = normal_below(centre - critical * s) + normal_below(-centre - critical * s)
    return float(np.sum(mass * tails) / np.sum(mass))


def normal_quantile(p: ArrayLike) -> Any:
    """The value below which a standard normal variable lies with probability ``p``."""
    return _normal_quantile(np.asarray(p, float))[()]


def normal_below(x: ArrayLike) -> Any:
    """The probability that a standard normal variable lies below ``x``."""
    at = np.asarray(x, float)
    return (0.5 * _erfc(-at / math.sqrt(2)))[()] if at.size else at


def _where_known(
    function: Callable[[float, float], float],
    asking: Callable[[float, float], _Asking],
    first: ArrayLike,
    second: ArrayLike,
) -> Any:
    """The values of a function of two arguments, NaN where an argument is.

    No NaN equals another one: each call with one would take a place in the cache of results.
    """
    x, y = np.broadcast_arrays(np.asarray(first, float), np.asarray(second, float))
    known = ~(np.isnan(x) | np.isnan(y))
    found = np.full(known.shape, np.nan)
    # Pairs as complex numbers, which numpy sorts faster than rows of a table.
    every = np.stack([x[known], y[known]], axis=-1).view(np.complex128)
    pairs, place = np.unique(every, return_inverse=True)
    arguments = [(pair.real, pair.imag) for pair in pairs.tolist()]
    values = (
        [function(*pair) for pair in arguments]
        if len(arguments) <= _FEW
        else _answered_together([asking(*pair) for pair in arguments])
    )
    found[known] = np.array(values, dtype=np.float64)[place.reshape(-1)]
    return found[()]


def _normal_of(p: float) -> float:
    if 0 < p < 1:
        return _NORMAL.inv_cdf(p)
    return {0.0: -math.inf, 1.0: math.inf}.get(p, math.nan)


@lru_cache(maxsize=1 << 16)
def _quantile(level: float, df: float) -> float:
    return _answered(_asking_quantile(level, df))


def _asking_quantile(level: float, df: float) -> _Asking:
    """Newton's method on the logarithms of share and value: both are concave there, so it ends."""
    if df <= 0 or not 0 <= level <= 1:
        return math.nan
    if level in (0, 1):
        return math.inf if level else 0.0
    log = math.log(_normal_of((1 + level) / 2) or _TINY)
    if df == math.inf:
        return math.exp(log)
    small = level < 0.5
    wanted = math.log(level if small else 1 - level)
    for _ in range(_MOST_TURNS):
        x = math.exp(log)
        shares = yield from _shares(x, df)
        share = max(shares[0 if small else 1], _TINY)
        slope = (2 if small else -2) * math.exp(log + _log_density(x, df)) / share
        step = (math.log(share) - wanted) / slope
        log -= step
        # The next step would be the square of this one.
        if abs(step) < 1e-8:
            break
    return math.exp(log)


@lru_cache(maxsize=1 << 16)
def _below(x: float, df: float) -> float:
    return _answered(_asking_below(x, df))


def _asking_below(x: float, df: float) -> _Asking:
    if df <= 0:
        return math.nan
    if df == math.inf:
        return 0.5 * math.erfc(-x / math.sqrt(2))
    inside, outside = yield from _shares(abs(x), df)
    return outside / 2 if x < 0 else 0.5 + inside / 2


def _answered(asking: _Asking) -> float:
    """The result of a calculation."""
    try:
        question = next(asking)
        while True:
            question = asking.send(_fraction(*question))
    except StopIteration as end:
        return float(end.value)


def _answered_together(calculations: Sequence[_Asking]) -> list[float]:
    """The results of several calculations, whose questions are answered in one go.

    A report has ten thousand quantiles with five questions each, and an answer of its own takes
    most of a calculation's time. Results are the same to the last bit.
    """
    found = [math.nan] * len(calculations)
    asking = dict(enumerate(calculations))
    answers: dict[int, float | None] = dict.fromkeys(asking)
    while answers:
        questions = {}
        for number, answer in answers.items():
            try:
                # A generator starts with None.
                questions[number] = asking[number].send(answer)  # type: ignore[arg-type]
            except StopIteration as end:
                found[number] = end.value
        if not questions:
            break
        together = _fractions(*np.array(list(questions.values())).T)
        answers = dict(zip(questions, together.tolist(), strict=True))
    return found


def _log_density(x: float, df: float) -> float:
    return _log_ratio(df / 2) - 0.5 * math.log(df * math.pi) - (df + 1) / 2 * math.log1p(x * x / df)


def _log_ratio(a: float) -> float:
    """log of gamma(a + 1/2) / gamma(a)."""
    if a < _SERIES_FROM:
        return math.lgamma(a + 0.5) - math.lgamma(a)
    # The difference of two of Stirling's series (DLMF 5.11.8 at h = 1/2 and h = 0).
    n, s = 1 / a, 1 / (a * a)
    return 0.5 * math.log(a) - n * (
        1 / 8 - s * (1 / 192 - s * (1 / 640 - s * (17 / 14336 - s * 31 / 18432)))
    )


def _shares(
    x: float, df: float
) -> Generator[tuple[float, float, float], float, tuple[float, float]]:
    """P(|t| <= x) and P(|t| > x), by the incomplete beta function of df / 2 and 1 / 2."""
    square = min(x * x, 1e300)
    if square == 0:
        return 0.0, 1.0
    if x == math.inf:
        return 1.0, 0.0
    a = df / 2
    far, near = df / (df + square), square / (df + square)
    # x^a (1 - x)^b / B(a, b), where B(a, 1/2) is the root of pi over the ratio of the gammas.
    front = math.exp(
        -a * math.log1p(square / df)
        + 0.5 * math.log(near)
        + _log_ratio(a)
        - 0.5 * math.log(math.pi)
    )
    if far < (a + 1) / (a + 2.5):
        outside = min(front * (yield a, 0.5, far) / a, 1.0)
        return 1 - outside, outside
    inside = min(front * (yield 0.5, a, near) / 0.5, 1.0)
    return inside, 1 - inside


def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function (DLMF 8.17.22), by Lentz's method."""
    # `or _TINY`: a denominator is never zero. No call in here: a report has a million turns.
    c, d = 1.0, 1 / ((1 - (a + b) * x / (a + 1)) or _TINY)
    found = d
    both = a + b
    for m in range(1, _MOST_STEPS):
        at = a + 2 * m
        even = m * (b - m) * x / ((at - 1) * at)
        odd = -(a + m) * (both + m) * x / (at * (at + 1))
        d = 1 / ((1 + even * d) or _TINY)
        c = (1 + even / c) or _TINY
        found *= d * c
        d = 1 / ((1 + odd * d) or _TINY)
        c = (1 + odd / c) or _TINY
        step = d * c
        found *= step
        if -1e-15 < step - 1 < 1e-15:
            break
    return found


def _fractions(
    a: NDArray[np.float64], b: NDArray[np.float64], x: NDArray[np.float64]
) -> NDArray[np.float64]:
    """The values of ``_fraction`` for many arguments; each ends at its own last turn."""
    values = np.empty(a.shape)
    at_work = np.arange(a.size)
    both = a + b
    c, d = np.ones(a.shape), 1 / _never_zero(1 - both * x / (a + 1))
    found = d
    for m in range(1, _MOST_STEPS):
        at = a + 2 * m
        even = m * (b - m) * x / ((at - 1) * at)
        odd = -(a + m) * (both + m) * x / (at * (at + 1))
        d = 1 / _never_zero(1 + even * d)
        c = _never_zero(1 + even / c)
        found = found * (d * c)
        d = 1 / _never_zero(1 + odd * d)
        c = _never_zero(1 + odd / c)
        step = d * c
        found = found * step
        more = ~(np.abs(step - 1) < 1e-15)
        if not more.all():
            values[at_work[~more]] = found[~more]
            at_work = at_work[more]
            a, b, x, both, c, d, found = (column[more] for column in (a, b, x, both, c, d, found))
            if not at_work.size:
                break
    values[at_work] = found
    return values


def _never_zero(denominator: NDArray[np.float64]) -> NDArray[np.float64]:
    return np.where(denominator == 0, _TINY, denominator)


_normal_quantile = np.vectorize(_normal_of, otypes=[np.float64])


@lru_cache(maxsize=1)
def _legendre() -> tuple[Any, Any]:
    """Nodes and weights of a quadrature; few commands need them, and they take 0.1 s."""
    return np.polynomial.legendre.leggauss(400)
