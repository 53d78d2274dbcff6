"""How many printed values are met, those that a profile was fitted to apart."""

from __future__ import annotations

import math
import statistics
from collections.abc import Callable, Sequence
from typing import Final

from airtoll.analyse import Comparison
from airtoll.answer.claims import Reproduces
from airtoll.plan import Cell

#: A printed overhead is met within one point.
_POINT: Final = 0.01
#: Other printed values are met within this share.
_SHARE: Final = 0.05


def reproduced(
    comparisons: Sequence[Comparison],
    cells: dict[str, Cell],
    is_fitted: Callable[[Comparison], bool],
) -> list[Reproduces]:
    """One claim per data set, quantity and profile set, overheads first."""
    groups: dict[tuple[str, str, str], list[Comparison]] = {}
    for one in comparisons:
        if not (math.isfinite(one.ours.value) and math.isfinite(one.published.value)):
            continue
        variant = str(dict(cells[one.cell].factors).get("profile_set", ""))
        groups.setdefault((one.dataset, one.quantity, variant), []).append(one)
    found = [_counted(*key, group, is_fitted) for key, group in groups.items()]
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


def _counted(
    dataset: str,
    quantity: str,
    variant: str,
    group: Sequence[Comparison],
    is_fitted: Callable[[Comparison], bool],
) -> Reproduces:
    fitted = [one for one in group if is_fitted(one)]
    free = [one for one in group if not is_fitted(one)]
    counted = free or fitted
    return Reproduces(
        dataset=dataset,
        quantity=quantity,
        variant=variant,
        within=within(quantity, group[0].published.unit),
        met=sum(map(is_met, free)),
        total=len(free),
        fitted_met=sum(map(is_met, fitted)),
        fitted=len(fitted),
        median=statistics.median(map(distance, counted)),
        printed=_range([one.published.value for one in counted]),
        ours=_range([one.ours.value for one in counted]),
        unit=group[0].published.unit,
    )


def _range(values: Sequence[float]) -> tuple[float, float]:
    return min(values), max(values)
