"""Numbers as people can use them: two significant digits of the interval decide the digits."""

from __future__ import annotations

import math

from airtoll.analyse import Estimate
from airtoll.analyse.quantities import NOTHING, scale_of

#: Digits after the first of a value without an interval.
_SIGNIFICANT = 2
#: An interval narrower than this share of its value says nothing more to a reader.
_FINEST = 1e-3


def places_of(half: float, value: float) -> int:
    """Decimal places by the half width of an interval, or of a value alone (NaN half width)."""
    if math.isfinite(half) and half > _FINEST * abs(value):
        return max(0, 1 - math.floor(math.log10(half)))
    if not math.isfinite(value) or value == int(value):
        return 0
    return max(0, _SIGNIFICANT - math.floor(math.log10(abs(value))))


def shown(estimate: Estimate) -> str:
    """``57.0 ± 2.1 ms``; ``12.0 [11.2, 15.9] ms`` where the value is not the middle."""
    factor, unit = scale_of(estimate.value, estimate.unit)
    return f"{_number(estimate, factor)} {unit}".rstrip()


def change(change: Estimate, before: Estimate, after: Estimate) -> str:
    """``by 37.0 ± 2.1 ms, from 57.0 to 20.0 ms``: the digits are those of the change."""
    larger = max(before, after, key=lambda one: abs(one.value))
    factor, unit = scale_of(larger.value, larger.unit)
    places = places_of(change.half_width / factor, change.value / factor)
    first, second = (f"{one.value / factor:.{places}f}" for one in (before, after))
    amount = _number(absolute(change), factor)
    return f"by {amount} {unit}".rstrip() + f", from {first} to {second} {unit}".rstrip()


def points(change: Estimate, before: Estimate, after: Estimate) -> str:
    """``by 12.0 ± 1.1 points, from 100 to 88 %``: of a share."""
    places = places_of(100 * change.half_width, 100 * change.value)
    first, second = (f"{100 * one.value:.{places}f}" for one in (before, after))
    return f"by {_number(absolute(change), 0.01)} points, from {first} to {second} %"


def percent(estimate: Estimate) -> str:
    """A share in percent with its interval."""
    return f"{_number(estimate, 0.01)} %"


def plain_percent(value: float) -> str:
    """A share in percent without an interval, two significant digits."""
    if value == 0:
        return "0 %"
    return f"{100 * value:.{max(0, 1 - math.floor(math.log10(abs(100 * value))))}f} %"


def absolute(estimate: Estimate) -> Estimate:
    """The amount of a change, without its sign."""
    sign = -1.0 if estimate.value < 0 else 1.0
    low, high = sorted((sign * estimate.low, sign * estimate.high))
    return Estimate(
        sign * estimate.value, low, high,
        estimate.level, estimate.n, estimate.method, estimate.unit,
    )  # fmt: skip


def _number(estimate: Estimate, factor: float) -> str:
    if not math.isfinite(estimate.value):
        return NOTHING
    value, half = estimate.value / factor, estimate.half_width / factor
    places = places_of(half, value)
    if not math.isfinite(half):
        return f"{value:.{places}f}"
    low, high = estimate.low / factor, estimate.high / factor
    if abs(value - (low + high) / 2) > 0.25 * half:
        return f"{value:.{places}f} [{low:.{places}f}, {high:.{places}f}]"
    width = f"{half:.{places}f}"
    return f"{value:.{places}f} ± {width}" if float(width) else f"{value:.{places}f}"
