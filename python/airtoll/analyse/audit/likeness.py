"""Likeness: columns that agree too well, series that follow from others, constant tables.

Takes the figures of a data set; gives findings. Each rule asks how likely the agreement is by
chance, from the values' own spread and printed resolution, and speaks only when chance is out
of the question. Quantised, constant and load-limited columns agree by nature and pass.
"""

from __future__ import annotations

import itertools
import math
from typing import Final

import numpy as np

from airtoll.analyse.audit.columns import Column, Figures, Row, describe, setting_map
from airtoll.analyse.audit.finding import Finding, shown
from airtoll.analyse.audit.granularity import mean_step
from airtoll.analyse.counting import binomial_above, poisson_above
from airtoll.analyse.estimate import Array

#: Expected number of chance agreements in a whole data set below which one is reported.
_CHANCE: Final = 1e-4
_LEAST_POINTS: Final = 5


def copied_columns(figures: Figures) -> list[Finding]:
    """Clusters of columns of one metric that agree point by point beyond chance."""
    found = []
    columns = [c for c in figures.columns if c.values.size >= _LEAST_POINTS]
    pairs_tried = max(len(columns) * (len(columns) - 1) // 2, 1)
    for group in _by_metric(columns):
        links: list[tuple[int, int]] = []
        for i, j in itertools.combinations(range(len(group)), 2):
            hits = _agreement(group[i], group[j])
            if hits is not None and hits * pairs_tried < _CHANCE:
                links.append((i, j))
        for alike in _identical(group):
            chance = _agreement(group[alike[0]], group[alike[1]])
            if chance is not None and chance ** (len(alike) - 1) * pairs_tried < _CHANCE:
                links += itertools.pairwise(alike)
        for cluster in _clusters(len(group), links):
            found.append(_copied(figures, [group[i] for i in cluster]))
    return found


def derived_series(figures: Figures) -> list[Finding]:
    """Series that are a function of another one: |difference|, sum, shift, factor."""
    hits: dict[tuple[str, str, str], list[tuple[Column, list[int]]]] = {}
    others: dict[tuple[str, ...], list[Column]] = {}
    for column in figures.columns:
        if column.values.size >= _LEAST_POINTS:
            others.setdefault(column.setting, []).append(column)
    for same in others.values():
        for x, y in itertools.permutations(same, 2):
            if x.metric == y.metric or x.unit != y.unit or x.values.size != y.values.size:
                continue
            for name, image, tolerance in _images(x, y):
                broken = _broken(image, y, tolerance)
                if broken is not None:
                    hits.setdefault((y.table, x.table, name), []).append((y, broken))
                    break
    found = []
    for (table, source, name), columns in hits.items():
        points = sum(column.values.size for column, _ in columns)
        breaks = sum(len(broken) for _, broken in columns)
        found.append(
            Finding(
                figures.name,
                table,
                "; ".join(column.where for column, _ in columns),
                "derived_series",
                columns[0][0].metric,
                name.format(x=f"table {source}"),
                "warning",
                f"{points - breaks} of {points} points in {len(columns)} columns are "
                f"{name.format(x=f'table {source}')} to the printed digit: computed, not measured",
            )
        )
        found += _breaks(figures, columns, figures.columns, name, source)
    return found


def additive_tables(figures: Figures) -> list[Finding]:
    """Tables of printed means whose columns differ by one and the same amount."""
    found = []
    tables: dict[tuple[str, str, str, str], dict[str, dict[str, tuple[float, str, int]]]] = {}
    for row in figures.published:
        if row["statistic"] != "mean" or row["transport"] or " / " in row["security"]:
            continue
        key = (row["table"], row["metric"], row["unit"], row["client"])
        cells = tables.setdefault(key, {}).setdefault(row["configuration"], {})
        cells[row["security"]] = (row["number"], row["value"], row["decimals"])
    for (table, metric, _unit, _client), rows in tables.items():
        for first, second in itertools.combinations(rows, 2):
            shared = [s for s in rows[first] if s in rows[second]]
            if len(shared) < 4:
                continue
            digit = 10.0 ** -max(rows[first][s][2] for s in shared)
            steps = {s: round((rows[second][s][0] - rows[first][s][0]) / digit) for s in shared}
            groups: dict[int, list[str]] = {}
            for name, step in steps.items():
                groups.setdefault(step, []).append(name)
            repeats = len(shared) - len(groups)
            spread = float(np.std(list(steps.values())))
            if repeats == 0 or spread < 20:
                continue
            chance = (math.comb(len(shared), 2) / (2 * math.sqrt(math.pi) * spread)) ** repeats
            if chance > 1e-3:
                continue
            words = "; ".join(
                f"{shown(step * digit)} for {', '.join(names)}"
                for step, names in groups.items()
                if len(names) > 1
            )
            found.append(
                Finding(
                    figures.name,
                    table,
                    f"{metric}, {second} - {first}",
                    "additive_table",
                    f"{len(shared)} differences",
                    f"{len(groups)} distinct",
                    "warning",
                    f"differences repeat to the last digit ({words}): the table was added up, "
                    "not measured cell by cell",
                )
            )
    return found


def composed_sums(figures: Figures) -> list[Finding]:
    """Times of composed policies that are their parts' sum less one constant, to the digit."""
    found = []
    rows: dict[tuple[str, ...], dict[str, Row]] = {}
    for row in figures.published:
        if row["statistic"] == "mean" and row["si_unit"] == "s" and row["decimals"] >= 2:
            setting = setting_map(row) | {"security": ""}
            key = (row["table"], row["metric"], *setting.values())
            rows.setdefault(key, {})[row["security"]] = row
    for (table, metric, *_), cells in rows.items():
        rests: dict[int, list[str]] = {}
        digit = 10.0 ** -max(cell["decimals"] for cell in cells.values())
        for name, row in cells.items():
            parts = [_part(cells, part) for part in name.split("+")]
            known = [part for part in parts if part is not None]
            if len(parts) < 2 or len(known) < len(parts):
                continue
            rest = sum(part["number"] for part in known) - row["number"]
            rests.setdefault(round(rest / digit), []).append(name)
        for step, names in rests.items():
            if len(names) < 2 or any(
                round(row["number"] / digit) == step for row in cells.values()
            ):
                continue  # too few, or a part that adds nothing: that is a copied figure
            where = describe({k: next(iter(cells.values()))[k] for k in setting_map(row)}, metric)
            where = where.replace(f"{next(iter(cells))}, ", "")
            found.append(
                Finding(
                    figures.name,
                    table,
                    f"{where}: {', '.join(names)}",
                    "additive_table",
                    ", ".join(cells[name]["value"] for name in names),
                    f"parts less {shown(step * digit)}",
                    "warning",
                    f"each is the sum of its parts less {shown(step * digit)} to the last digit: "
                    "added up, not measured",
                )
            )
    return found


def _part(cells: dict[str, Row], name: str) -> Row | None:
    """The row of a part; a family name stands for its one member in the table."""
    if name in cells:
        return cells[name]
    members = [row for label, row in cells.items() if label.startswith(f"{name}-")]
    return members[0] if len(members) == 1 else None


def clock_steps(figures: Figures) -> list[Finding]:
    """Readings of a time whose differences between policies are multiples of one step."""
    found = []
    groups: dict[tuple[str, ...], list[Column]] = {}
    for column in figures.columns:
        if column.si.size >= _LEAST_POINTS and column.unit in ("ms", "s"):
            key = column.key | {"security": ""}
            groups.setdefault((column.table, column.metric, *key.values()), []).append(column)
    for (table, metric, *_), columns in groups.items():
        gaps = []
        for a, b in itertools.combinations(columns, 2):
            if a.values.size == b.values.size:
                digit = 2 * np.maximum(_digit(a), _digit(b))
                gap = np.abs(a.values - b.values)
                gaps += [(g, d) for g, d in zip(gap, digit, strict=True) if g > 2 * d]
        step = _step(gaps)
        if step is None:
            continue
        where = describe(columns[0].key | {"security": ""}, metric)
        found.append(
            Finding(
                figures.name,
                table,
                where,
                "clock_step",
                f"{len(gaps)} differences",
                f"multiples of {shown(step, 3)} {columns[0].unit}",
                "warning",
                f"the policies' readings differ by whole multiples of {shown(step, 3)} "
                f"{columns[0].unit}: the clock's step, not the policies, makes the differences",
            )
        )
    return found


def copied_figures(figures: Figures) -> list[Finding]:
    """Printed means that repeat between policies in one row more often than chance allows."""
    found = []
    rows: dict[tuple[str, ...], list[dict[str, object]]] = {}
    for row in figures.published:
        if row["statistic"] == "mean" and row["metric"] != "overhead" and row["decimals"] >= 1:
            setting = setting_map(row) | {"security": ""}
            rows.setdefault((row["table"], row["metric"], *setting.values()), []).append(row)
    tables: dict[tuple[str, str], float] = {}
    for (table, metric, *_), cells in rows.items():
        values = [float(str(cell["number"])) for cell in cells]
        tables.setdefault((table, metric), 0.0)
        if len(values) > 1:
            tables[table, metric] = max(tables[table, metric], float(np.std(values)))
    for (table, metric, *_), cells in rows.items():
        values = [float(str(cell["number"])) for cell in cells]
        if len(values) < 4:
            continue
        digit = max(
            10.0 ** -max(int(str(cell["decimals"])) for cell in cells),
            *(mean_step(figures, cell) for cell in cells),
        )
        repeats = len(values) - len(set(values))
        spread = tables[table, metric] / digit
        if repeats == 0 or spread < 20:
            continue
        expected = math.comb(len(values), 2) / (2 * math.sqrt(math.pi) * spread)
        if poisson_above(repeats - 1, expected) > 1e-4:
            continue
        for value in sorted(set(values)):
            same = [cell for cell in cells if float(str(cell["number"])) == value]
            if len(same) < 2:
                continue
            where = describe({k: str(same[0][k]) for k in setting_map(same[0])} | {"security": ""})
            names = ", ".join(str(cell["security"]) for cell in same)
            found.append(
                Finding(
                    figures.name,
                    table,
                    f"{where}: {names}, {metric}",
                    "copied_column",
                    str(same[0]["value"]),
                    "",
                    "warning",
                    f"{names} have the same figure to the last digit, and {repeats} such "
                    "repetitions are in this row: one was copied from the other",
                )
            )
    return found


def copied_rows(figures: Figures) -> list[Finding]:
    """Two policies whose printed means agree in several settings of one table."""
    found = []
    tables: dict[tuple[str, str, str], dict[str, dict[tuple[str, ...], Row]]] = {}
    for row in figures.published:
        if row["statistic"] == "mean" and row["metric"] != "overhead" and row["client"] != "total":
            if figures.columns_of(row["metric"], setting_map(row)):
                continue  # judged by its readings
            key = (row["table"], row["metric"], row["unit"])
            place = tuple(v for k, v in setting_map(row).items() if k != "security")
            tables.setdefault(key, {}).setdefault(row["security"], {})[place] = row
    for (table, metric, _), policies in tables.items():
        pairs = list(itertools.combinations(policies, 2))
        for a, b in pairs:
            places = [place for place in policies[a] if place in policies[b]]
            same = [p for p in places if policies[a][p]["number"] == policies[b][p]["number"]]
            if len(same) < 2:
                continue
            chance = 1.0
            for place in same:
                values = [cells[place]["number"] for cells in policies.values() if place in cells]
                digit = 10.0 ** -max(cells[place]["decimals"] for cells in policies.values())
                spread = float(np.std(values)) / digit
                chance *= min(1 / (2 * math.sqrt(math.pi) * spread), 1.0) if spread else 1.0
            if chance * len(pairs) * math.comb(len(places), len(same)) > 1e-2:
                continue
            values_text = ", ".join(policies[a][place]["value"] for place in same)
            found.append(
                Finding(
                    figures.name,
                    table,
                    f"{a}, {b}: {metric}",
                    "copied_column",
                    values_text,
                    "",
                    "warning",
                    f"{a} and {b} have the same figure to the last digit in {len(same)} of "
                    f"{len(places)} places",
                )
            )
    return found


def _by_metric(columns: list[Column]) -> list[list[Column]]:
    groups: dict[tuple[str, str, int], list[Column]] = {}
    for column in columns:
        groups.setdefault((column.metric, column.unit, column.values.size), []).append(column)
    return list(groups.values())


def _step(gaps: list[tuple[float, float]]) -> float | None:
    """The step that nearly all differences are multiples of, beyond chance; else None."""
    if len(gaps) < 10:
        return None
    sizes = np.array([gap for gap, _ in gaps])
    slack = np.array([digit for _, digit in gaps])
    for start in np.unique(np.round(np.sort(sizes), 9)):
        near = sizes[np.abs(sizes - start) <= slack]
        if near.size < 5:
            continue
        step = float(np.median(near))
        if step < 20 * float(np.median(slack)):
            continue
        count = np.round(sizes / step)
        hit = (np.abs(sizes - count * step) <= slack * np.maximum(count, 1)) & (count > 0)
        chance = min(float(np.mean(2 * slack / step)), 1.0)
        fresh = np.unique(np.round(sizes, 6)).size
        if (
            hit.mean() >= 0.7
            and fresh >= 4
            and binomial_above(int(hit.sum()) - 6, sizes.size, chance) < 1e-9
        ):
            return step
    return None


def _identical(group: list[Column]) -> list[list[int]]:
    """Columns of one table that are the same in every point, two or more at a time."""
    same: dict[tuple[object, ...], list[int]] = {}
    for index, column in enumerate(group):
        same.setdefault((column.table, *column.values.tolist()), []).append(index)
    return [indices for indices in same.values() if len(indices) > 1]


def _tolerance(a: Column, b: Column) -> Array:
    """Difference at which two values may be one, printed to different digits; else none."""
    if max(a.decimals) == max(b.decimals) and min(a.decimals) == min(b.decimals):
        return np.full(a.values.size, 1e-9)
    coarse = np.maximum(_digit(a), _digit(b))
    return np.asarray(np.where(_digit(a) == _digit(b), 1e-9, coarse * (1 - 1e-9)))


def _agreement(a: Column, b: Column) -> float | None:
    """Chance of at least this many agreeing points; None if too few agree to speak of."""
    x, y, tolerance = a.values, b.values, _tolerance(a, b)
    agree = int(np.sum(np.abs(x - y) <= tolerance))
    if agree < 0.6 * x.size or np.unique(x).size < 3:
        return None
    # Chance that a value of one column meets a value of the other: the larger of what the
    # sample shows off the diagonal and what spread and resolution allow.
    meets = np.abs(x[:, np.newaxis] - y[np.newaxis, :]) <= tolerance[:, np.newaxis]
    off = float(meets[~np.eye(x.size, dtype=bool)].mean())
    spread = float(np.std(np.concatenate([x, y])))
    digit = max(float(tolerance.mean()), a.resolution)
    by_spread = digit / (2 * math.sqrt(math.pi) * spread) if spread > 0 else 1.0
    return binomial_above(agree - 1, x.size, min(max(off, by_spread), 1.0))


def _clusters(n: int, links: list[tuple[int, int]]) -> list[list[int]]:
    parent = list(range(n))

    def root(i: int) -> int:
        while parent[i] != i:
            i = parent[i]
        return i

    for i, j in links:
        parent[root(i)] = root(j)
    groups: dict[int, list[int]] = {}
    for i in range(n):
        groups.setdefault(root(i), []).append(i)
    return [group for group in groups.values() if len(group) > 1]


def _copied(figures: Figures, cluster: list[Column]) -> Finding:
    first = cluster[0]
    differing = []
    for column in cluster[1:]:
        x, y, tolerance = first.values, column.values, _tolerance(first, column)
        for index in np.flatnonzero(np.abs(x - y) > tolerance):
            differing.append(
                f"table {column.table} {column.key['security']} {column.trials[index]}: "
                f"{column.printed[index]} for {first.printed[index]}"
            )
    tables = sorted({column.table for column in cluster})
    where = "; ".join(
        (f"table {column.table}: " if len(tables) > 1 else "") + column.where for column in cluster
    )
    but = f", but for {'; '.join(differing[:6])}" if differing else ""
    if len(differing) > 6:
        but += f" and {len(differing) - 6} more"
    return Finding(
        figures.name,
        ", ".join(tables),
        where,
        "copied_column",
        f"{len(cluster)} columns",
        "1 column",
        "error",
        f"{len(cluster)} columns of {first.values.size} readings agree point by point{but}",
    )


def _digit(column: Column) -> Array:
    """Unit of the last significant digit of each value (trailing zeros are often not printed)."""
    finest = column.resolution
    size = np.floor(np.log10(np.maximum(np.abs(column.values), finest)))
    figures = max(int(s) + 1 + d for s, d in zip(size, column.decimals, strict=True))
    return np.asarray(np.maximum(10.0 ** (size - figures + 1), finest))


def _images(x: Column, y: Column) -> list[tuple[str, Array, Array]]:
    """Candidate functions of x with the tolerance that printing allows, point by point."""
    dx, dy = _digit(x), _digit(y)
    step = np.abs(np.diff(x.values, prepend=0.0))
    ratio = float(np.median(y.values / x.values)) if np.all(x.values != 0) else math.nan
    shift = float(np.median(y.values - x.values))
    images = [
        ("{x} itself", x.values, dx + dy),
        (
            "the absolute difference of successive values of {x}",
            step,
            dx + np.append(0.0, dx[:-1]) + dy,
        ),
        ("the running sum of {x}", np.cumsum(x.values), np.cumsum(dx) + dy),
        ("{x} plus a constant", x.values + shift, dx + dy),
    ]
    if math.isfinite(ratio) and abs(ratio - 1) > 1e-6:
        images.append(("{x} times a constant", x.values * ratio, dx * (1 + abs(ratio)) + dy))
    return images


def _broken(image: Array, y: Column, tolerance: Array) -> list[int] | None:
    """Points that break the relation, or None if the relation is not there beyond chance."""
    close = np.abs(image - y.values) <= tolerance + 1e-9
    if np.unique(y.values).size < 4 or close.mean() < 0.6:
        return None
    spread = float(np.std(y.values))
    if spread == 0:
        return None
    chance = min(2 * float(tolerance.mean()) / (2 * math.sqrt(math.pi) * spread), 1.0)
    # Two parameters (shift, factor) explain two points of any series.
    if binomial_above(int(close.sum()) - 3, y.values.size, chance) > 1e-4:
        return None
    return [int(i) for i in np.flatnonzero(~close)]


def _breaks(
    figures: Figures,
    columns: list[tuple[Column, list[int]]],
    all_columns: list[Column],
    name: str,
    source: str,
) -> list[Finding]:
    found = []
    for column, broken in columns:
        origin = next(
            c
            for c in all_columns
            if c.table == source and c.setting == column.setting and c.metric != column.metric
        )
        images = {label: image for label, image, _ in _images(origin, column)}
        for index in broken:
            found.append(
                Finding(
                    figures.name,
                    column.table,
                    f"{column.where}, {column.trials[index]}",
                    "series_break",
                    column.printed[index],
                    shown(float(images[name][index])),
                    "note",
                    f"the rest of the column is {name.format(x=f'table {source}')}",
                )
            )
    return found
