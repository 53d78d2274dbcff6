"""Numbers as people can use them: two significant digits of the interval decide the digits."""

from __future__ import annotations

import math

from airtoll.analyse import Estimate
from airtoll.analyse.quantities import NOTHING, OFF_CENTRE, scale_of

#: Digits after the first of a value without an interval.
_SIGNIFICANT = 2
#: A number of so many of a unit is told in a larger one.
_LONG = 10_000
#: An interval narrower than this share of its value says nothing more to a reader.
_FINEST = 1e-2
#: A value further from the middle of its interval, in half widths, is told with both ends.
_OFF_CENTRE = 0.25
#: Digits of an interval beyond those of its value alone.
_FINER = 1
#: Days from which on they are whole ones.
_WHOLE_DAYS = 10
_PERCENT = 0.01
#: Percent of all.
_ALL = 100.0


def places_of(half: float, value: float) -> int:
    """Decimal places by the half width of an interval, or of a value alone (NaN half width)."""
    if math.isfinite(half) and half > _FINEST * abs(value):
        return max(0, 1 - math.floor(math.log10(half)))
    if not math.isfinite(value) or value == int(value):
        return 0
    return max(0, _SIGNIFICANT - math.floor(math.log10(abs(value))))


def shown(estimate: Estimate) -> str:
    """``57.0 ± 2.1 ms``; ``12.0 ms (11.2 to 15.9)`` where the value is not the middle."""
    factor, unit = scale_of(estimate.value, estimate.unit)
    return _number(estimate, factor, unit)


def ranged(estimate: Estimate, more: str = "") -> str:
    """``404 Mb/s (402 to 406)``: a value and both ends of its interval, one digit of it.

    ``more``: words behind the ends. ``57 mW (± less than 0.01 mW)`` where these digits show no
    interval; without one the value alone. Days are whole from ten on.
    """
    factor, unit = scale_of(estimate.value, estimate.unit)
    half = estimate.half_width / factor
    value, told = plain(estimate.value, estimate.unit), [more] if more else []
    if math.isfinite(half) and half > 0:
        places = max(0, -math.floor(math.log10(half)))
        places = min(places, places_of(math.nan, estimate.value / factor) + _FINER)
        whole = estimate.unit == "d" and estimate.value >= _WHOLE_DAYS
        places = 0 if whole else places
        low, high = (f"{end / factor:.{places}f}" for end in (estimate.low, estimate.high))
        if low != high:
            value = f"{estimate.value / factor:.{places}f} {unit}".rstrip()
        ends = f"± less than {10.0**-places:.{places}f} {unit}".rstrip()
        ends = f"{low} to {high}" if low != high else "" if whole else ends
        told = [ends, *told] if ends else told
    elif estimate.is_equal:
        told = ["the same in all trials", *told]
    return f"{value} ({'; '.join(told)})" if told else value


def rate(per_s: float) -> str:
    """A limit in requests/s: ``40.6``, and ``1230`` without a power of ten."""
    return f"{float(f'{per_s:.3g}'):g}"


def change(change: Estimate, before: Estimate, after: Estimate) -> str:
    """``by 37.0 ± 2.1 ms, from 57.0 to 20.0 ms``: the digits are those of the change."""
    return f"by {amount(change, before, after)}, {from_to(change, before, after)}"


def amount(change: Estimate, before: Estimate, after: Estimate) -> str:
    """``37.0 ± 2.1 ms``, in the unit of ``from_to``."""
    factor, unit = _unit(change, before, after)
    return _number(absolute(change), factor, unit)


def from_to(change: Estimate, before: Estimate, after: Estimate) -> str:
    """``from 57.0 to 20.0 ms``, with the digits of the change."""
    factor, unit = _unit(change, before, after)
    places = places_of(change.half_width / factor, change.value / factor)
    first, second = (f"{one.value / factor:.{places}f}" for one in (before, after))
    if any(one.value and not float(text) for one, text in ((before, first), (after, second))):
        # A value that these digits would show as nothing has a unit of its own.
        return f"from {plain(before.value, before.unit)} to {plain(after.value, after.unit)}"
    return f"from {first} to {second} {unit}".rstrip()


def _unit(change: Estimate, before: Estimate, after: Estimate) -> tuple[float, str]:
    """The unit of the change, or of the larger value where that would be a long number."""
    factor, unit = scale_of(change.value, change.unit)
    larger = max(abs(before.value), abs(after.value))
    return (factor, unit) if larger < _LONG * factor else scale_of(larger, change.unit)


def points(change: Estimate, before: Estimate, after: Estimate) -> str:
    """``by 12.0 ± 1.1 points, from 100 to 88 %``: of a share."""
    by = _number(absolute(change), _PERCENT, "points")
    return f"by {by}, {points_from_to(change, before, after)}"


def points_from_to(change: Estimate, before: Estimate, after: Estimate) -> str:
    """``from 100 to 88 %``, with the digits of the change."""
    places = places_of(100 * change.half_width, 100 * change.value)
    first, second = (f"{100 * one.value:.{places}f}" for one in (before, after))
    return f"from {first} to {second} %"


def share_from_to(change: Estimate, before: Estimate, after: Estimate) -> str:
    """``from 24.1 to 18.3 Mb/s``, with the digits of a change that is a share of before."""
    factor, unit = scale_of(max(before.value, after.value), before.unit)
    scale = before.value / factor
    places = places_of(change.half_width * scale, change.value * scale)
    first, second = (f"{one.value / factor:.{places}f}" for one in (before, after))
    return f"from {first} to {second} {unit}".rstrip()


def bare(estimate: Estimate, factor: float | None = None) -> str:
    """A value without its interval: two significant digits, or fewer if the interval is wide.

    ``factor``: that of a unit which the caller names.
    """
    unit = ""
    if factor is None:
        factor, unit = scale_of(estimate.value, estimate.unit)
    value = estimate.value / factor
    places = places_of(estimate.half_width / factor, value)
    if value:
        places = min(places, max(0, 1 - math.floor(math.log10(abs(value)))))
    return f"{value:.{places}f} {unit}".rstrip()


def plain(value: float, unit: str) -> str:
    """A value alone, three significant digits at most: ``57 ms``, ``2.65 s``."""
    factor, name = scale_of(value, unit)
    scaled = value / factor
    if scaled == 0:
        return f"0 {name}".rstrip()
    places = max(0, (1 if abs(scaled) >= 10 else 2) - math.floor(math.log10(abs(scaled))))
    text = f"{scaled:.{places}f}"
    return f"{text.rstrip('0').rstrip('.') if '.' in text else text} {name}".rstrip()


def exact(value: float, unit: str, *, is_percent: bool) -> str:
    """A stated number with all of its digits: ``20 Mb/s``, ``-3 %``."""
    factor, name = (0.01, "%") if is_percent else scale_of(value, unit)
    return f"{value / factor:.12g} {name}".rstrip()


def at_most(bound: float, unit: str, is_share: bool) -> str:
    """``at most 0.19 %``: two significant digits, rounded up."""
    factor, name = (0.01, "%") if is_share else scale_of(bound, unit)
    value = bound / factor
    places = max(0, 1 - math.floor(math.log10(value)))
    return f"at most {math.ceil(value * 10**places - 1e-9) / 10**places:.{places}f} {name}".rstrip()


def span(low: float, high: float, unit: str, *, is_share: bool) -> str:
    """``0.99 to 1.5 %``: two significant digits; one number where both are the same."""
    most = max(abs(low), abs(high))
    factor, name = (0.01, "%") if is_share else scale_of(most, unit)
    first, last = (_two(value / factor) for value in (low, high))
    text = first if first == last else f"{first} to {last}"
    return f"{text} {name}".rstrip()


def _two(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.{max(0, 1 - math.floor(math.log10(abs(value))))}f}"


def percent(estimate: Estimate) -> str:
    """A share in percent with its interval."""
    return _number(estimate, _PERCENT, "%")


def plain_percent(value: float) -> str:
    """A share in percent without an interval, two significant digits."""
    return f"{_two(100 * value)} %"


def packets(number: float) -> str:
    """``no packet``, ``1 packet``, ``2.4 packets``: three significant digits at most."""
    count = f"{number:.3g}"
    return "no packet" if count == "0" else f"{count} packet{'' if count == '1' else 's'}"


def absolute(estimate: Estimate) -> Estimate:
    """The amount of a change, without its sign."""
    sign = -1.0 if estimate.value < 0 else 1.0
    low, high = sorted((sign * estimate.low, sign * estimate.high))
    return Estimate(
        sign * estimate.value, low, high,
        estimate.level, estimate.n, estimate.method, estimate.unit,
    )  # fmt: skip


def _number(estimate: Estimate, factor: float, unit: str) -> str:
    """A value with its interval and unit; both ends of an interval are words of a sentence."""
    if not math.isfinite(estimate.value):
        return f"{NOTHING} {unit}".rstrip()
    value, half = estimate.value / factor, estimate.half_width / factor
    places = places_of(half, value)
    if not math.isfinite(half):
        return f"{value:.{places}f} {unit}".rstrip()
    low, high = estimate.low / factor, estimate.high / factor
    if f"{low:.{places}f}" == f"{high:.{places}f}":
        return f"{value:.{places}f} {unit}".rstrip()
    # The rule of the tables where the interval says no direction, or where half a width would reach
    # beyond 100 % although the interval does not.
    most = _OFF_CENTRE
    reach = abs(value) + half
    if half > abs(value) or (factor == _PERCENT and max(abs(low), abs(high)) <= _ALL < reach):
        most = OFF_CENTRE
    if abs(value - (low + high) / 2) > most * half:
        ends = f"{low:.{places}f} to {high:.{places}f}"
        return f"{f'{value:.{places}f} {unit}'.rstrip()} ({ends})"
    width = f"{half:.{places}f}"
    said = f"{value:.{places}f} ± {width}" if float(width) else f"{value:.{places}f}"
    return f"{said} {unit}".rstrip()
