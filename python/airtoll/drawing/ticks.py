"""Round values for the ticks of an axis, and how they are written."""

from __future__ import annotations

import math
from typing import Final

_STEPS: Final = (1.0, 2.0, 2.5, 5.0, 10.0)


def linear(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Round values from ``low`` to ``high``, with their texts: ``most`` + 1 of them, or two."""
    span = high - low
    if not (span > 0 and math.isfinite(span)):
        return [(low, f"{low:g}")]
    rough = span / max(1, most)
    power = 10.0 ** math.floor(math.log10(rough))
    steps = [s * power / 10 for s in _STEPS[:-1]] + [s * power for s in _STEPS]
    at = next(n for n, step in enumerate(steps) if step >= rough * (1 - 1e-9))
    while True:
        step = steps[at]
        first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
        # One tick gives no scale: the next smaller step.
        if last > first or at == 0:
            break
        at -= 1
    places = _places(step)
    return [(n * step, _written(n * step, places)) for n in range(first, last + 1)]


def logarithmic(low: float, high: float, most: int) -> list[tuple[float, str]]:
    """Powers of ten from ``low`` to ``high``; over few decades 2 and 5 times them, too."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    for factors in ((1, 2, 5), (1,)):
        found = [f * 10.0**d for d in decades for f in factors]
        found = [v for v in found if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
        if len(found) <= most + 1:
            break
    else:
        found = found[:: math.ceil(len(found) / (most + 1))]
    return [(v, f"{v:g}") for v in found]


def _places(step: float) -> int:
    """Decimal places that tell neighbours apart."""
    places = max(0, -math.floor(math.log10(step) + 1e-9))
    return places + int(abs(step * 10**places - round(step * 10**places)) > 1e-6)


def _written(value: float, places: int) -> str:
    text = f"{value:.{places}f}"
    if float(text) == 0:
        text = text.removeprefix("-")
    return text.replace("-", "\N{MINUS SIGN}")
