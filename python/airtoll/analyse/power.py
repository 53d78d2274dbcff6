"""How many trials: the smallest effect that n trials show, and the n that an effect needs.

Deviations come from pilot readings; results are differences in the unit of the readings, or numbers
of trials per cell. Two-sided test at ``1 - level`` with the given power, noncentral t (Cohen 1988,
section 2.4), equal n on both sides.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Final

from attrs import frozen

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
    margin = 1 + float(t_quantile(2 * float(POWER) - 1, math.inf) / t_quantile(level, math.inf))
    needed = trials * (margin * max(1.0, half / wanted)) ** 2
    if needed > _MOST_NAMED:
        return None
    step = int(10.0 ** max(0, math.floor(math.log10(needed)) - 1))
    return math.ceil(needed / step) * step


def corrected(level: float, comparisons: int) -> float:
    """The level of one of several intervals or tests that hold together at ``level``.

    Bonferroni's: a bound for Holm's correction too, whose first step it is, so that the numbers of
    trials that follow are never too small.
    """
    return 1 - (1 - level) / comparisons


@frozen
class Spread:
    """The spread behind an interval of a pilot: its standard error times the root of its trials.

    ``trials``: of each cell. ``paired``: whether the interval is one of pairs.
    """

    deviation: float
    trials: int
    paired: bool

    @classmethod
    def of(cls, half: float, trials: int, paired: bool, level: float = 0.95) -> Spread:
        """The spread behind half an interval at ``level``."""
        quantile = float(t_quantile(level, _degrees(trials, paired)))
        return cls(half / quantile * math.sqrt(trials), trials, paired)

    def half_width(self, trials: int, level: float, power: float = 0.5) -> float:
        """Half the interval that so many trials give, or less, with probability ``power``."""
        if trials < 2:
            return math.inf
        degrees = _degrees(trials, self.paired)
        grown = math.sqrt(_chi_square(2 * power - 1, degrees) / degrees)
        return float(t_quantile(level, degrees)) * grown * self.deviation / math.sqrt(trials)

    def trials_within(self, wanted: float, level: float, power: float) -> int | None:
        """Fewest trials whose interval is ``wanted`` or less to either side with that probability
        (Kupper, Hafner 1989); None where more than ``MOST_TRIALS`` are needed.
        """
        low, high = 1, 2
        while self.half_width(high, level, power) > wanted:
            low, high = high, high * 2
            if high > MOST_TRIALS:
                return None
        while high - low > 1:
            middle = (low + high) // 2
            enough = self.half_width(middle, level, power) <= wanted
            low, high = (low, middle) if enough else (middle, high)
        return high

    @property
    def uncertainty(self) -> float:
        """How many times larger the true spread may be than the pilot's (upper 97.5 % limit)."""
        degrees = _degrees(self.trials, self.paired)
        return math.sqrt(degrees / _chi_square(-0.95, degrees))


def _degrees(trials: int, paired: bool) -> int:
    return max(1, trials - 1 if paired else 2 * trials - 2)


def _chi_square(central: float, degrees: int) -> float:
    """Quantile of chi-square (Wilson, Hilferty 1931), within 1 % from four degrees of freedom on.

    ``central``: of the normal quantile: 0.95 is the upper end of the central 95 %, -0.95 the lower.
    """
    z = math.copysign(float(t_quantile(abs(central), math.inf)), central) if central else 0.0
    nine = 2 / (9 * degrees)
    return degrees * max(1 - nine + z * math.sqrt(nine), 0.05) ** 3
