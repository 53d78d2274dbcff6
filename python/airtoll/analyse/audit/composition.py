"""Tables of times that are sums of a few times: do the cells hold what their names say?

Takes the figures of a data set; gives findings. A policy whose name is ``a+b`` is composed of the
policies ``a`` and ``b`` of the same column. Works on whole last digits, so that one sum that comes
out is chance, and a table in which all do is not.
"""

from __future__ import annotations

import itertools
from collections import Counter
from typing import Final

from attrs import frozen

from airtoll.analyse.audit.columns import Figures, Row
from airtoll.analyse.audit.finding import Finding, shown

#: Cells that have to follow from the parts before a table counts as added up.
_LEAST_CELLS: Final = 8


@frozen
class _Parts:
    """Whole last digits: what all cells of a column share, what each single policy adds to it,
    and what every cell of another column has in addition."""

    shared: int
    own: dict[str, int]
    step: int

    def count(self) -> int:
        return len(self.own) + 1 + int(self.step != 0)


def hidden_parts(figures: Figures) -> list[Finding]:
    """Cells that contain the part of a policy that their names leave out, and ratios of a part
    and such a cell, in tables all of whose cells are sums of a few times."""
    found = []
    for (table, metric), columns in _tables(figures).items():
        for (near, first), (far, second) in itertools.permutations(columns.items(), 2):
            names = [name for name in first if name in second]
            digit = 10.0 ** -max(row["decimals"] for row in (*first.values(), *second.values()))
            here = {name: round(first[name]["number"] / digit) for name in first}
            there = {name: round(second[name]["number"] / digit) for name in names}
            parts = _parts(here, there)
            if parts is None or 2 * len(names) < _LEAST_CELLS:
                continue
            hidden = _hidden(here, there, parts)
            if not hidden:
                continue
            times = ", ".join(
                [f"{shown(parts.shared * digit)} in all", f"{shown(parts.step * digit)} in {far}"]
                + [f"{shown(value * digit)} of {name}" for name, value in parts.own.items()]
            )
            unit = first[names[0]]["unit"]
            for name, part in hidden.items():
                found.append(
                    Finding(
                        figures.name,
                        table,
                        f"{far}, {name}, {metric}",
                        "hidden_part",
                        f"{second[name]['value']} {unit}",
                        f"{shown((there[name] - parts.own[part]) * digit)} {unit} without {part}",
                        "error",
                        f"{name} names no {part}, whose part is in the figure: all "
                        f"{len(first) + len(names)} cells ({near}, {far}) are sums of "
                        f"{parts.count()} times ({times} {unit})",
                    )
                )
            found += _ratios(figures, metric, far, hidden)
    return found


def _tables(figures: Figures) -> dict[tuple[str, str], dict[str, dict[str, Row]]]:
    """Printed mean times by table and metric, by configuration, by policy."""
    tables: dict[tuple[str, str], dict[str, dict[str, Row]]] = {}
    for row in figures.published:
        if row["statistic"] == "mean" and row["si_unit"] == "s" and row["decimals"] >= 2:
            column = tables.setdefault((row["table"], row["metric"]), {})
            column.setdefault(row["configuration"], {})[row["security"]] = row
    return tables


def _parts(here: dict[str, int], there: dict[str, int]) -> _Parts | None:
    """The times that a column is the sum of; None where it is no sum, or says too little."""
    rests = []
    for name in here:
        members = [_member(here, part) for part in name.split("+")]
        if len(members) > 1 and None not in members:
            rests.append(sum(here[str(one)] for one in members) - here[name])
    if len(rests) < 2 or len(set(rests)) > 1:
        return None
    own = {name: value - rests[0] for name, value in here.items() if "+" not in name}
    steps = Counter(there[name] - here[name] for name in there if name in here)
    (step, often), *_ = steps.most_common(1)
    return _Parts(rests[0], own, step) if often > 1 else None


def _hidden(here: dict[str, int], there: dict[str, int], parts: _Parts) -> dict[str, str]:
    """Policies of the other column that contain a part, with its name; none where another cell
    does not follow."""
    hidden: dict[str, str] = {}
    for name, value in there.items():
        more = value - here[name] - parts.step
        if more == 0:
            continue
        members = {_member(here, part) for part in name.split("+")}
        fits = [one for one, own in parts.own.items() if own == more and one not in members]
        if not fits:
            return {}
        hidden[name] = fits[0]
    return hidden


def _member(cells: dict[str, int], name: str) -> str | None:
    """The policy of a part; a family name stands for its one member."""
    if name in cells:
        return name
    members = [label for label in cells if label.startswith(f"{name}-") and "+" not in label]
    return members[0] if len(members) == 1 else None


def _ratios(figures: Figures, metric: str, far: str, hidden: dict[str, str]) -> list[Finding]:
    """Printed ratios of a policy and a figure that contains it."""
    found = []
    for row in figures.published:
        part, _, whole = row["security"].partition(" / ")
        if row["configuration"] != far or hidden.get(whole) != part or row["metric"] != "ratio":
            continue
        found.append(
            Finding(
                figures.name,
                row["table"],
                f"{far}, {row['security']}, ratio",
                "hidden_part",
                row["value"],
                "",
                "error",
                f"a part over its whole: the {metric} of {whole} contains that of {part}",
            )
        )
    return found
