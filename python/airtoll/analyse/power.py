"""How many trials: the smallest effect that n trials show, and the n that an effect needs.

Deviations come from pilot readings; results are differences in the unit of the readings, or numbers
of trials per cell. Two-sided test at ``1 - level`` with the given power, noncentral t (Cohen 1988,
section 2.4), equal n on both sides.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from airtoll.analyse.student import noncentral_t_beyond, t_quantile
from airtoll.errors import UsageError

#: The chance with which a number of trials is enough, unless one asks for another.
POWER: Final = Fraction(4, 5)
#: A larger number of trials of a fresh run is not named.
_MOST_NAMED: Final = 100_000
#: More trials than this per cell and the answer is "not with trials".
MOST_TRIALS = 1_000_000


def power_of(
    effect: float, deviation_a: float, deviation_b: float, n: int, level: float = 0.95
) -> float:
    """Probability that Welch's test with n trials a side detects a true difference ``effect``."""
    if n < 2:
        return 0.0
    va, vb = deviation_a**2 / n, deviation_b**2 / n
    if va + vb == 0:
        return 1.0 if effect != 0 else 1 - level
    degrees = (va + vb) ** 2 / ((va**2 + vb**2) / (n - 1))
    centre = abs(effect) / math.sqrt(va + vb)
    critical = t_quantile(level, degrees)
    return noncentral_t_beyond(float(critical), degrees, centre)


def minimum_detectable(
    deviation_a: float, deviation_b: float, n: int, level: float = 0.95, power: float = 0.8
) -> float:
    """Smallest true difference that n trials a side detect with the given power."""
    if n < 2:
        return math.inf
    low, high = 0.0, max(deviation_a, deviation_b, 1e-300)
    while power_of(high, deviation_a, deviation_b, n, level) < power:
        high *= 2
        if high > 1e300:
            return math.inf
    for _ in range(80):
        middle = (low + high) / 2
        if power_of(middle, deviation_a, deviation_b, n, level) < power:
            low = middle
        else:
            high = middle
    return high


def trials_needed(
    effect: float,
    deviation_a: float,
    deviation_b: float,
    level: float = 0.95,
    power: float = 0.8,
) -> int:
    """Trials per cell that detect a true difference ``effect`` with the given power (at least 2).

    Raises UsageError if no number of trials up to MOST_TRIALS does.
    """
    if effect == 0:
        raise UsageError("a difference of zero cannot be detected; name one above zero")
    low, high = 1, 2
    while power_of(effect, deviation_a, deviation_b, high, level) < power:
        low, high = high, high * 2
        if high > MOST_TRIALS:
            raise UsageError(
                f"more than {MOST_TRIALS} trials would be needed: ask for a larger difference"
            )
    while high - low > 1:
        middle = (low + high) // 2
        if power_of(effect, deviation_a, deviation_b, middle, level) < power:
            low = middle
        else:
            high = middle
    return high


def fresh_trials(half: float, wanted: float, trials: int, level: float = 0.95) -> int | None:
    """Trials of each cell of a fresh run whose interval ends ``wanted`` away from its middle, or
    nearer, with probability ``POWER``; None where no sensible number does.

    ``half``: half of the interval of ``trials`` trials. It shrinks as 1/sqrt(n); of few trials it
    holds Student's larger quantile, which stays in as a margin for their uncertain deviation. Never
    less than ``trials`` with the margin, and in two digits: the number is an estimate.
    """
    if not math.isfinite(half) or wanted <= 0:
        return None
    margin = 1 + t_quantile(2 * float(POWER) - 1, math.inf) / t_quantile(level, math.inf)
    needed = trials * (margin * max(1.0, half / wanted)) ** 2
    if needed > _MOST_NAMED:
        return None
    step = 10 ** max(0, math.floor(math.log10(needed)) - 1)
    return math.ceil(needed / step) * step
