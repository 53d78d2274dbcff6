"""How many trials: the smallest effect that n trials show, and the n that an effect needs.

Deviations come from pilot readings; results are differences in the unit of the readings, or numbers
of trials per cell. Two-sided test at ``1 - level`` with the given power, noncentral t (Cohen 1988,
section 2.4), equal n on both sides.
"""

from __future__ import annotations

import math

from airtoll.analyse.student import noncentral_t_beyond, t_quantile
from airtoll.errors import UsageError

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
