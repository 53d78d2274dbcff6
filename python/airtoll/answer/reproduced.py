"""How many printed values are met, those that a profile was fitted to apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Final, Protocol

from airtoll.analyse import Comparison
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.answer.claims import Fit, Met, Printed, Reproduces
from airtoll.plan import Cell
from airtoll.profiles import Profile
from airtoll.study import Level, Study

_PROFILES: Final = "profile_set"
#: A printed overhead is met within one point.
_POINT: Final = 0.01
#: Other printed values are met within this share.
_SHARE: Final = 0.05


class Readings(Protocol):
    """The knowledge of a run about its comparisons with printed values."""

    def seen(self, comparison: Comparison) -> bool:
        """Whether a fit has seen this value, or another quantity of the same reading."""

    def above_ceiling(self, comparison: Comparison) -> bool:
        """Whether the printed value is above what the PHY can carry."""

    def above_offered(self, comparison: Comparison) -> bool:
        """Whether the printed value is above what the stations send."""

    def profiles_of(self, cell: Cell) -> list[Profile]:
        """The device profiles behind a cell."""


#: The values of one claim share these: data set, quantity, kind, instrument, axis, level.
_Key = tuple[str, str, Printed, str, str, Level]


def reproduced(
    comparisons: Sequence[Comparison],
    cells: dict[str, Cell],
    readings: Readings,
    study: Study,
) -> list[Reproduces]:
    """One claim per data set, quantity, kind, instrument and variant of the model.

    Overheads come first, unless the study varies its model otherwise than by profile sets.
    Differences of two cells belong to no variant.
    """
    axis = _axis(comparisons, cells, study)
    groups: dict[_Key, list[Comparison]] = {}
    for one in comparisons:
        if not (math.isfinite(one.ours.value) and math.isfinite(one.published.value)):
            continue
        kind = _kind(one)
        level = dict(cells[one.cell].factors).get(axis, "")
        own = ("", "") if kind is Printed.DIFFERENCE or not axis else (axis, level)
        key = (one.dataset, one.quantity, kind, one.instrument, *own)
        groups.setdefault(key, []).append(one)
    found = [_counted(key, group, cells, readings, study) for key, group in groups.items()]
    first = "overhead" if axis in ("", _PROFILES) else THROUGHPUT
    return sorted(found, key=lambda claim: claim.quantity != first)


def _axis(comparisons: Sequence[Comparison], cells: dict[str, Cell], study: Study) -> str:
    """The factor by which the model of the printed values varies.

    The profile set; else the only factor with several levels for one printed value.
    """
    if _PROFILES in study.grid:
        return _PROFILES
    levels: dict[tuple[str, ...], dict[str, set[Level]]] = {}
    for one in comparisons:
        value = (
            one.dataset, one.table, one.configuration, one.scenario, one.policy, one.traffic,
            one.client, one.quantity, one.instrument, one.printed, one.extreme,
        )  # fmt: skip
        for factor, level in cells[one.cell].factors:
            levels.setdefault(value, {}).setdefault(factor, set()).add(level)
    here = {factor for of in levels.values() for factor, some in of.items() if len(some) > 1}
    return next(iter(here)) if len(here) == 1 else ""


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
    key: _Key,
    group: Sequence[Comparison],
    cells: dict[str, Cell],
    readings: Readings,
    study: Study,
) -> Reproduces:
    dataset, quantity, kind, instrument, axis, variant = key
    fitted = [one for one in group if readings.seen(one)]
    free = [one for one in group if not readings.seen(one)]
    above = [one for one in group if readings.above_ceiling(one)]
    excess = [one for one in group if one not in above and readings.above_offered(one)]
    # To come near a value that cannot be is not to meet it.
    met = [one for one in group if is_met(one) and one not in above and one not in excess]
    counted = free or fitted
    return Reproduces(
        dataset=dataset,
        quantity=quantity,
        kind=kind,
        axis=axis,
        variant=variant,
        instrument=instrument,
        within=within(quantity, group[0].published.unit),
        met=_count(free, met),
        total=len(free),
        fitted_met=_count(fitted, met),
        fitted=len(fitted),
        median=statistics.median(map(distance, counted)),
        printed=_range([one.published.value for one in counted]),
        ours=_range([one.ours.value for one in counted]),
        unit=group[0].published.unit,
        fits=_fits([cells[one.cell] for one in counted], readings),
        above=_count(counted, above),
        excess=_count(counted, excess),
        fitted_instrument=bool(instrument) and study.instrument[instrument].fitted,
        of_all=_met("", group, met),
        by_traffic=tuple(
            _met(traffic, [one for one in group if cells[one.cell].traffic == traffic], met)
            for traffic in dict.fromkeys(cells[one.cell].traffic for one in group)
        ),
    )


def _met(traffic: str, group: Sequence[Comparison], met: Sequence[Comparison]) -> Met:
    median = statistics.median(map(distance, group))
    return Met(traffic, _count(group, met), len(group), median)


def _count(group: Sequence[Comparison], met: Sequence[Comparison]) -> int:
    """How many of a group are among those that are met."""
    return sum(any(one is other for other in met) for one in group)


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
