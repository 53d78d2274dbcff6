"""Short text for values in SI units: number, unit, interval."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from airtoll.analyse.estimate import Estimate

_SCALES: dict[str, tuple[tuple[float, str], ...]] = {
    "bit/s": ((1e9, "Gb/s"), (1e6, "Mb/s"), (1e3, "kb/s"), (1.0, "b/s")),
    "W": ((1.0, "W"), (1e-3, "mW"), (1e-6, "uW")),
    "J": ((1.0, "J"), (1e-3, "mJ"), (1e-6, "uJ")),
    "d": ((1.0, "days"),),
    "s": ((1.0, "s"), (1e-3, "ms"), (1e-6, "us"), (1e-9, "ns")),
}
NOTHING = "–"
#: The key below a table in which it occurs.
NOTHING_KEY = f"{NOTHING}: no value, which is not zero"
#: A value further from the middle of its interval, in half widths, has both ends in a table.
OFF_CENTRE = 0.05


def lacks_value(text: str) -> bool:
    """Whether the text of a table's cell, or one of its values side by side, is no value."""
    return NOTHING in (part.strip() for part in text.split("|"))


class Shown(str):
    """An estimate as text for people, with the estimate itself for tables that programs read.

    It is a text everywhere else; one that is put together from it has no estimate.
    """

    __slots__ = ("estimate",)
    estimate: Estimate

    def __new__(cls, text: str, estimate: Estimate) -> Self:
        """The text of an estimate."""
        found = super().__new__(cls, text)
        found.estimate = estimate
        return found


def scale_of(value: float, unit: str) -> tuple[float, str]:
    """Factor and unit in which a value of that size is shown."""
    for factor, name in _SCALES.get(unit, ()):
        if abs(value) >= factor:
            return factor, name
    scales = _SCALES.get(unit)
    if scales:
        return scales[1] if value == 0 else scales[-1]
    return 1.0, "" if unit == "1" else unit


def like_units(name: str) -> dict[str, float]:
    """A unit of text and its multiples, each with its factor; empty for a unit without any."""
    for scales in _SCALES.values():
        found = {unit: factor for factor, unit in scales}
        if name in found:
            return found
    return {}


def show_value(value: float | None, unit: str, digits: int = 4) -> str:
    """A value with its unit, e.g. ``29.87 Mb/s``."""
    if value is None or not math.isfinite(value):
        return NOTHING
    factor, name = scale_of(value, unit)
    return f"{_digits(value / factor, digits)} {name}".rstrip()


def show_estimate(estimate: Estimate, digits: int = 4) -> str:
    """A value with its interval: ``29.87 ± 0.03 Mb/s``, or ``12.0 [11.2, 15.9] ms``.

    Both ends are shown where the value is not their middle (medians, BCa, selection rules).
    """
    if not math.isfinite(estimate.value):
        return NOTHING
    factor, name = scale_of(estimate.value, estimate.unit)
    half = estimate.half_width / factor
    if not _shows(half):
        return Shown(f"{_digits(estimate.value / factor, digits)} {name}".rstrip(), estimate)
    # Value and half width share their last digit; no more of them than the half width has sense.
    places = places_of(half, least=0, most=4)
    if off_centre(estimate):
        low, high = estimate.low / factor, estimate.high / factor
        value = estimate.value / factor
        text = f"{value:.{places}f} [{low:.{places}f}, {high:.{places}f}] {name}"
    else:
        text = f"{estimate.value / factor:.{places}f} ± {half:.{places}f} {name}"
    return Shown(text.rstrip(), estimate)


def places_of(size: float, least: int, most: int) -> int:
    """Decimal places that show two digits of a size, within bounds.

    More than the bound where the size would look like zero.
    """
    if size == 0 or not math.isfinite(size):
        return least
    first = -math.floor(math.log10(abs(size)))
    return max(min(most, max(least, first + 1)), first)


def off_centre(estimate: Estimate) -> bool:
    """Whether a value lies more than ``OFF_CENTRE`` half widths from its interval's middle."""
    middle = (estimate.low + estimate.high) / 2
    return abs(estimate.value - middle) > OFF_CENTRE * estimate.half_width


def show_overhead(estimate: Estimate | None, *, ends: bool = False) -> str:
    """An overhead in percent (or as a difference of rates) with its interval.

    ``ends``: the ends of the interval instead of its half width. A small overhead has as many
    digits as it takes to tell it from zero.
    """
    if estimate is None or not math.isfinite(estimate.value):
        return NOTHING
    if estimate.unit != "1":
        return show_estimate(estimate)
    half = 100 * estimate.half_width
    places = places_of(half if _shows(half) else 100 * estimate.value, least=2, most=2)
    text = f"{100 * estimate.value:.{places}f}"
    if not _shows(half):
        return Shown(f"{text} %", estimate)
    if ends or off_centre(estimate):
        low, high = (f"{100 * end:.{places}f}" for end in (estimate.low, estimate.high))
        return Shown(f"{text} [{low}, {high}] %", estimate)
    return Shown(f"{text} ± {half:.{places}f} %", estimate)


def _shows(half: float) -> bool:
    """Whether a half width says anything: an interval without a width is none."""
    return math.isfinite(half) and half > 0


def _digits(value: float, digits: int) -> str:
    """Fixed-point text with about that many significant digits."""
    if value == 0:
        return "0"
    whole = math.floor(math.log10(abs(value))) + 1
    return f"{value:.{min(6, max(0, digits - whole))}f}"
