"""Means and deviations that no readings of a stated resolution can have.

GRIM (Brown, Heathers 2017): n readings in whole steps have a sum in whole steps, so that a mean
takes only multiples of step / n. GRIMMER (Anaya 2016; the parity rule of Allard 2018): the sum of
their squares is a whole number too, of the same parity as the sum, which leaves few deviations.
Both need the number of readings and their step, which the study states:

    [[resolution]]
    metric = "response_time"; unit = "ms"; step = 1.0; n = 10

Other keys of the table pick rows (column -> value, pattern or list). Without such a table the
rules say nothing, and they say nothing of a mean printed too coarsely to tell.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from airtoll.analyse.audit.columns import Figures, Row, describe, matches, setting_map
from airtoll.analyse.audit.finding import Finding, shown

#: Relative slack for binary rounding of printed decimals.
_SLACK = 1e-9


def granularity(figures: Figures) -> list[Finding]:
    """Printed means and deviations against the stated step and number of the readings."""
    found = []
    for stated in figures.meta.get("resolution", []):
        rows = [row for row in figures.published if matches(row, _selector(stated))]
        means = [row for row in rows if row["statistic"] == "mean"]
        deviations = {_key(row): row for row in rows if row["statistic"] == "std"}
        for row in means:
            sums = possible_sums(row["number"], row["decimals"], stated["step"], stated["n"])
            if not sums:
                found.append(_mean(figures, row, stated))
                continue
            spread = deviations.get(_key(row))
            if spread is None or _fits(spread, sums, stated):
                continue
            found.append(_deviation(figures, row, spread, stated))
    return found


def mean_step(figures: Figures, row: Mapping[str, Any]) -> float:
    """Least difference between two means of the stated readings, printed unit; 0 if unknown."""
    for stated in figures.meta.get("resolution", []):
        if matches(row, _selector(stated)):
            return float(stated["step"]) / int(stated["n"])
    return 0.0


def _selector(stated: Mapping[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in stated.items() if k not in ("step", "n", "where")}


def possible_sums(mean: float, decimals: int, step: float, n: int) -> list[int]:
    """Sums of n readings, in steps, whose mean prints as ``mean`` (half up or half to even)."""
    half = 0.5 * 10.0**-decimals * (1 + _SLACK)
    low = math.ceil((mean - half) * n / step - _SLACK)
    high = math.floor((mean + half) * n / step + _SLACK)
    return list(range(low, high + 1))


def deviation_possible(
    deviation: float, decimals: int, sums: list[int], step: float, n: int
) -> bool:
    """Whether readings with one of these sums have a sample deviation that prints so."""
    half = 0.5 * 10.0**-decimals * (1 + _SLACK)
    low, high = max(deviation - half, 0.0) / step, (deviation + half) / step
    for total in sums:
        least = math.ceil((n - 1) * low**2 + total**2 / n - _SLACK * max(total**2, 1))
        most = math.floor((n - 1) * high**2 + total**2 / n + _SLACK * max(total**2, 1))
        # A square has the parity of its root, so the squares' sum has that of the sum.
        first = least + (least - total) % 2
        if first <= most:
            return True
    return False


def _fits(spread: Row, sums: list[int], stated: Mapping[str, Any]) -> bool:
    return deviation_possible(
        spread["number"], spread["decimals"], sums, float(stated["step"]), int(stated["n"])
    )


def _key(row: Row) -> tuple[str, ...]:
    return (row["table"], row["metric"], row["unit"], *setting_map(row).values())


def _mean(figures: Figures, row: Row, stated: Mapping[str, Any]) -> Finding:
    step, n = float(stated["step"]), int(stated["n"])
    total = round(row["number"] * n / step)
    near = sorted(
        {(total + k) * step / n for k in (-1, 0, 1)}, key=lambda m: abs(m - row["number"])
    )
    below = max(m for m in near if m < row["number"])
    above = min(m for m in near if m > row["number"])
    return Finding(
        figures.name,
        row["table"],
        describe(setting_map(row), f"{row['metric']} mean"),
        "mean_impossible",
        f"{row['value']} {row['unit']}",
        f"{shown(below, row['decimals'] + 1)} or {shown(above, row['decimals'] + 1)} {row['unit']}",
        "error",
        f"{n} readings in steps of {step:g} {row['unit']} have no mean that prints so (GRIM)",
    )


def _deviation(figures: Figures, row: Row, spread: Row, stated: Mapping[str, Any]) -> Finding:
    return Finding(
        figures.name,
        spread["table"],
        describe(setting_map(spread), f"{spread['metric']} deviation"),
        "deviation_impossible",
        f"{spread['value']} {spread['unit']}",
        f"mean {row['value']} {row['unit']}",
        "error",
        f"{stated['n']} readings in steps of {float(stated['step']):g} {row['unit']} with this "
        "mean have no deviation that prints so (GRIMMER)",
    )
