"""How many printed values are met, those that a profile was fitted to apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Final, Protocol

from airtoll.analyse import Comparison
from airtoll.answer.claims import Fit, Printed, Reproduces
from airtoll.plan import Cell
from airtoll.profiles import Profile

#: A printed overhead is met within one point.
_POINT: Final = 0.01
#: Other printed values are met within this share.
_SHARE: Final = 0.05


class Readings(Protocol):
    """What a run knows of its comparisons with printed values."""

    def seen(self, comparison: Comparison) -> str:
        """``fitted`` if a profile of its cell was fitted to this very value."""

    def above_ceiling(self, comparison: Comparison) -> bool:
        """Whether the printed value is above what the PHY can carry."""

    def profiles_of(self, cell: Cell) -> list[Profile]:
        """The device profiles behind a cell."""


def reproduced(
    comparisons: Sequence[Comparison], cells: dict[str, Cell], readings: Readings
) -> list[Reproduces]:
    """One claim per data set, quantity, kind, instrument and profile set, overheads first.

    Differences of two cells belong to no profile set.
    """
    groups: dict[tuple[str, str, Printed, str, str], list[Comparison]] = {}
    for one in comparisons:
        if not (math.isfinite(one.ours.value) and math.isfinite(one.published.value)):
            continue
        kind = _kind(one)
        variant = str(dict(cells[one.cell].factors).get("profile_set", ""))
        if kind is Printed.DIFFERENCE:
            variant = ""
        key = (one.dataset, one.quantity, kind, one.instrument, variant)
        groups.setdefault(key, []).append(one)
    found = [_counted(key, group, cells, readings) for key, group in groups.items()]
    return sorted(found, key=lambda claim: claim.quantity != "overhead")


def distance(one: Comparison) -> float:
    """Distance to the printed value, a fraction: points of an overhead, else a share."""
    if one.quantity == "overhead" and one.published.unit == "1":
        return abs(one.absolute_error)
    return abs(one.relative_error)


def is_met(one: Comparison) -> bool:
    """Whether a printed overhead is met within one point, another value within 5 %."""
    return distance(one) <= within(one.quantity, one.published.unit)


def within(quantity: str, unit: str) -> float:
    """The distance up to which a printed value is met."""
    return _POINT if quantity == "overhead" and unit == "1" else _SHARE


def _kind(one: Comparison) -> Printed:
    if one.differs:
        return Printed.DIFFERENCE
    if one.published.unit == "1" and one.quantity.endswith("_s"):
        return Printed.RATIO
    return Printed.VALUE


def _counted(
    key: tuple[str, str, Printed, str, str],
    group: Sequence[Comparison],
    cells: dict[str, Cell],
    readings: Readings,
) -> Reproduces:
    dataset, quantity, kind, instrument, variant = key
    fitted = [one for one in group if readings.seen(one) == "fitted"]
    free = [one for one in group if readings.seen(one) != "fitted"]
    counted = free or fitted
    return Reproduces(
        dataset=dataset,
        quantity=quantity,
        kind=kind,
        variant=variant,
        instrument=instrument,
        within=within(quantity, group[0].published.unit),
        met=sum(map(is_met, free)),
        total=len(free),
        fitted_met=sum(map(is_met, fitted)),
        fitted=len(fitted),
        median=statistics.median(map(distance, counted)),
        printed=_range([one.published.value for one in counted]),
        ours=_range([one.ours.value for one in counted]),
        unit=group[0].published.unit,
        fits=_fits([cells[one.cell] for one in counted], readings) if variant else (),
        above=sum(map(readings.above_ceiling, counted)),
    )


def _fits(cells: Sequence[Cell], readings: Readings) -> tuple[Fit, ...]:
    """The fitted times of the devices of some cells, by their place in a profile."""
    times: dict[str, set[float]] = {}
    for settings in dict.fromkeys((cell.scenario, cell.profile_names) for cell in cells):
        cell = next(one for one in cells if (one.scenario, one.profile_names) == settings)
        for profile in readings.profiles_of(cell):
            for place, number in profile.fitted_numbers().items():
                parts = place.split(".")
                if place.endswith("_cycles"):
                    seconds = profile.seconds(number)
                elif place.endswith("_us"):
                    seconds = number.value * 1e-6
                else:
                    continue
                # The cipher's name is between its table and the number.
                times.setdefault(".".join((*parts[:2], parts[-1])), set()).add(seconds)
    return tuple(Fit(place, min(of), max(of)) for place, of in times.items())


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)
