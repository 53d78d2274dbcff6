"""Inference: differences, spread, outliers and selection rules that the readings do not support.

Families of tests are corrected by Holm. No finding calls a difference absent: readings either show
one or are too few.
"""

from __future__ import annotations

import itertools

import numpy as np

from airtoll.analyse.audit.columns import Column, Figures, Row, describe, setting_map
from airtoll.analyse.audit.finding import Finding, shown
from airtoll.analyse.comparison import holm_adjust, welch_p
from airtoll.analyse.estimate import Array
from airtoll.analyse.overhead import Summary, overhead_of_summaries
from airtoll.analyse.selection import largest_possible_z
from airtoll.analyse.student import t_above
from airtoll.errors import PolicyError
from airtoll.policies import resolve

_ALPHA = 0.05

#: Chance of one false outlier among all columns of a data set that states no rule for them.
_CHANCE = 1e-4


def unsupported_differences(figures: Figures) -> list[Finding]:
    """Printed overheads whose interval reaches the baseline, after Holm over their table."""
    tables: dict[str, list[tuple[Row, Summary, Summary]]] = {}
    for row in figures.published:
        if row["metric"] != "overhead" or row["statistic"] != "overhead" or row["unit"] != "%":
            continue
        setting = setting_map(row)
        secured = _summary(figures, setting, row["table"])
        baseline = _summary(figures, {**setting, "security": figures.baseline}, row["table"])
        if secured and baseline and row["security"] != figures.baseline:
            tables.setdefault(row["table"], []).append((row, secured, baseline))
    # Figures that the text repeats from a table are judged in the table.
    settings = {
        tuple(setting_map(row).values())
        for table, rows in tables.items()
        if not table.startswith("prose")
        for row, _, _ in rows
    }
    for table in [name for name in tables if name.startswith("prose")]:
        tables[table] = [
            item for item in tables[table] if tuple(setting_map(item[0]).values()) not in settings
        ]
    found = []
    definition = figures.dataset.overhead or "of_baseline"
    if definition not in ("of_baseline", "of_secured"):
        definition = "of_baseline"
    for rows in tables.values():
        adjusted = holm_adjust(np.array([welch_p(s, b) for _, s, b in rows]))
        for (row, secured, baseline), p in zip(rows, adjusted, strict=True):
            if p < _ALPHA or np.isnan(p):
                continue
            estimate = overhead_of_summaries(
                baseline,
                secured,
                "of_secured" if definition == "of_secured" else "of_baseline",
            )
            found.append(
                Finding(
                    figures.name,
                    row["table"],
                    describe(setting_map(row), "overhead"),
                    "unsupported_difference",
                    f"{row['value']} {row['unit']}",
                    f"{shown(100 * estimate.low, 2)} to {shown(100 * estimate.high, 2)} %",
                    "warning",
                    f"no detectable difference at n = {secured.n} and {baseline.n} "
                    f"(Welch, Holm over {len(rows)}: p = {p:.2g})",
                )
            )
    return found


def no_spread(figures: Figures) -> list[Finding]:
    """Tables that print differences while neither readings nor deviations are given."""
    found: list[Finding] = []
    tables: dict[str, list[Row]] = {}
    for row in figures.published:
        if row["metric"] in ("overhead", "ratio") and row["statistic"] in ("overhead", "ratio"):
            tables.setdefault(row["table"], []).append(row)
    spread = {row["metric"] for row in figures.published if row["statistic"] == "std"}
    if figures.columns or spread:
        return found
    for table, rows in tables.items():
        measured = [row for row in rows if _rests_on_means(figures, row)]
        if len(measured) < 3:
            continue
        steps = sorted({abs(row["number"]) for row in measured})
        finest = 10.0 ** -max(row["decimals"] for row in measured)
        found.append(
            Finding(
                figures.name,
                table,
                f"{len(measured)} differences",
                "no_spread",
                f"{measured[0]['value']} {measured[0]['unit']}".removesuffix(" 1"),
                "",
                "note",
                f"{shown(steps[0])} to {shown(steps[-1])} to the nearest {shown(finest)} "
                "without readings, deviation or interval: no difference can be judged"
                + _same_mechanism(figures, measured),
            )
        )
    return found


def warm_up(figures: Figures) -> list[Finding]:
    """Series whose first point stands apart in most columns of a table and transport."""
    if figures.meta.get("trials", {}).get("kind") != "series":
        return []
    found = []
    groups: dict[tuple[str, str, str], list[Column]] = {}
    for column in figures.columns:
        if column.values.size >= 6:
            key = (column.table, column.metric, column.key["transport"])
            groups.setdefault(key, []).append(column)
    for (table, metric, transport), columns in groups.items():
        apart = [column for column in columns if _first_apart(column)]
        if len(columns) < 3 or len(apart) < 0.8 * len(columns):
            continue
        discard = figures.meta["trials"].get("discard_first")
        rest = [float(np.median(column.values[1:])) for column in apart]
        found.append(
            Finding(
                figures.name,
                table,
                ", ".join(part for part in (transport, metric, "first point") if part),
                "warm_up_left_in",
                f"{apart[0].printed[0]} {apart[0].unit}",
                f"median of the rest {shown(rest[0])} {apart[0].unit}",
                "warning",
                f"in {len(apart)} of {len(columns)} columns the first point lies apart from all "
                "others"
                + (
                    f", though the first {discard} readings are said to be dropped"
                    if discard
                    else ""
                )
                + ": the start-up is in the means",
            )
        )
    return found


def resolution(figures: Figures) -> list[Finding]:
    """Readings in steps that are coarse against the differences drawn from their means."""
    found = []
    tables: dict[tuple[str, str], list[Column]] = {}
    for column in figures.columns:
        if column.unit in ("ms", "s") and max(column.decimals) == 0 and column.values.size >= 5:
            tables.setdefault((column.table, column.metric), []).append(column)
    for (table, metric), columns in tables.items():
        distinct = max(np.unique(column.values).size for column in columns)
        means = [float(column.values.mean()) for column in columns]
        step = columns[0].resolution
        if distinct > 4 or step < 0.1 * min(means) or max(means) - min(means) >= 2 * step:
            continue
        if len(columns) < 2:
            continue
        found.append(
            Finding(
                figures.name,
                table,
                f"{metric}, {len(columns)} columns",
                "coarse_resolution",
                f"steps of {step:g} {columns[0].unit}",
                f"means from {shown(min(means), 2)} to {shown(max(means), 2)} {columns[0].unit}",
                "note",
                f"at most {distinct} different values occur in a column; a step is "
                f"{shown(100 * step / min(means), 0)} % of the mean",
            )
        )
    return found


def outlier_rules(figures: Figures) -> list[Finding]:
    """The study's own outlier rule: can it fire, and was it applied?"""
    rule = figures.meta.get("trials", {}).get("outlier")
    n = figures.meta.get("trials", {}).get("repetitions")
    if not rule:
        return []
    sigma = float(rule["sigma"])
    found = []
    if n and sigma > largest_possible_z(int(n)):
        found.append(
            Finding(
                figures.name,
                f"prose {rule.get('where', '')}".strip(),
                f"{sigma:g} deviations, n = {n}",
                "outlier_rule_cannot_fire",
                f"{sigma:g} deviations",
                f"{shown(largest_possible_z(int(n)), 2)} deviations at most",
                "error",
                f"one of {n} readings that is part of mean and deviation lies at most "
                f"(n - 1) / sqrt(n) = {shown(largest_possible_z(int(n)), 2)} deviations out",
            )
        )
    columns = [c for c in figures.columns if c.metric == "throughput" and c.values.size >= 4]
    for column in columns:
        away, chance = left_out(column.values)
        for index in np.flatnonzero((away < -sigma) & (chance * len(columns) < _ALPHA)):
            others = np.delete(column.values, index)
            limit = others.mean() - sigma * others.std(ddof=1)
            found.append(
                Finding(
                    figures.name,
                    column.table,
                    f"{column.where}, {column.trials[index]}",
                    "outlier_rule_not_applied",
                    f"{column.printed[index]} {column.unit}",
                    f"limit {shown(float(limit), 1)} {column.unit}",
                    "warning",
                    f"{shown(float(-away[index]), 1)} deviations below the {others.size} other "
                    "readings: the study's rule asks for a re-run",
                )
            )
    return found


def outliers(figures: Figures) -> list[Finding]:
    """Readings that no normal sample of that size holds, where the study states no outlier rule."""
    if figures.meta.get("trials", {}).get("kind") != "independent":
        return []  # a series has trends and start-ups
    if figures.meta["trials"].get("outlier"):
        return []  # judged by the study's own rule
    found = []
    columns = [c for c in figures.columns if c.values.size >= 4]
    for column in columns:
        away, chance = left_out(column.values)
        for index in np.flatnonzero(chance * len(columns) < _CHANCE):
            found.append(
                Finding(
                    figures.name,
                    column.table,
                    f"{column.where}, {column.trials[index]}",
                    "outlier",
                    f"{column.printed[index]} {column.unit}",
                    f"the others {shown(float(np.delete(column.values, index).mean()), 1)}",
                    "warning",
                    f"{shown(abs(float(away[index])), 1)} deviations from the "
                    f"{column.values.size - 1} other readings; a normal sample holds such a "
                    f"reading once in {1 / max(float(chance[index]), 1e-9):.2g} columns",
                )
            )
    return found


def left_out(values: Array) -> tuple[Array, Array]:
    """Each reading against all others of its column (leave one out).

    Deviations from the mean of the others, and the chance that a normal sample of this size holds
    a reading as far out: the externally studentised residual with n - 2 degrees of freedom, times
    n (Bonferroni; Grubbs 1969). Readings equal but for one are infinitely far out only where the
    step of the printed digits cannot explain the difference; their chance is then zero.
    """
    n = values.size
    mean = (values.sum() - values) / (n - 1)
    squares = (values**2).sum() - values**2 - (n - 1) * mean**2
    deviation = np.sqrt(np.maximum(squares, 0.0) / (n - 2))
    # Readings that are printed alike still vary by the step of their last digit.
    step = np.min(np.diff(np.unique(values)), initial=np.inf)
    floor = step / np.sqrt(12) if np.isfinite(step) else 1.0
    away = (values - mean) / np.maximum(deviation, floor)
    chance = 2 * n * t_above(np.abs(away) / np.sqrt(1 + 1 / (n - 1)), n - 2)
    return away, np.minimum(chance, 1.0)


def selection_rules(figures: Figures) -> list[Finding]:
    """A selection rule that throws away the spread it is judged by."""
    trials = figures.meta.get("trials", {})
    rule = trials.get("select")
    n = trials.get("repetitions")
    if not rule or rule.get("rule") != "closest_to_mean" or not n:
        return []
    keep = int(rule["keep"])
    if keep >= int(n):
        return []
    return [
        Finding(
            figures.name,
            "prose",
            f"{keep} of {n} readings closest to their mean",
            "selection_hides_spread",
            f"{keep} readings",
            f"{n} readings",
            "note",
            "the readings kept are those that differ least: an interval over them is far too "
            "narrow, and no outlier is ever seen",
        )
    ]


def _summary(figures: Figures, setting: dict[str, str], table: str) -> Summary | None:
    columns = figures.columns_of("throughput", setting, table)
    if columns:
        return Summary.of(columns[0].si)
    best = figures.best_mean("throughput", setting, table)
    if best is None:
        return None
    parts = _parts(figures, setting)
    if not parts:
        return None
    # The mean of independent test means: its squared standard error is their mean over k.
    k = len(parts)
    summaries = [Summary.of(column.si) for column in parts]
    error = sum(s.variance_of_mean for s in summaries) / k**2
    n = sum(s.n for s in summaries)
    return Summary(best[0], float(np.sqrt(error * n)), n)


def _parts(figures: Figures, setting: dict[str, str]) -> list[Column]:
    for rule in figures.meta.get("derived", []):
        if "mean_of" in rule and rule.get("configuration") == setting["configuration"]:
            if rule.get("transport", setting["transport"]) != setting["transport"]:
                continue
            columns = [
                figures.columns_of("throughput", {**setting, "configuration": part})
                for part in rule["mean_of"]
            ]
            if all(columns):
                return [found[0] for found in columns]
    return []


def _first_apart(column: Column) -> bool:
    """Whether the first value is beyond all others by five of their interquartile ranges."""
    first, rest = float(column.values[0]), column.values[1:]
    low, high = np.percentile(rest, [25, 75])
    reach = max(5 * float(high - low), 5 * column.resolution)
    return bool(first > rest.max() + 0.2 * reach and first > high + reach) or bool(
        first < rest.min() - 0.2 * reach and first < low - reach
    )


def _same_mechanism(figures: Figures, rows: list[Row]) -> str:
    """Two policies of a table that protect frames alike, and by how much they differ."""
    pairs = []
    for a, b in itertools.combinations(rows, 2):
        if {**setting_map(a), "security": ""} != {**setting_map(b), "security": ""}:
            continue
        try:
            x, y = resolve(a["security"]), resolve(b["security"])
        except PolicyError:
            continue
        alike = x.link.cipher is y.link.cipher and x.link.encrypts_data and not x.tunnels
        if alike and x.tunnels == y.tunnels:
            pairs.append((abs(a["number"] - b["number"]), a, b))
    if not pairs:
        return ""
    gap, a, b = max(pairs, key=lambda pair: pair[0])
    if gap == 0:
        return ""
    return (
        f"; {a['label'] or a['security']} and {b['label'] or b['security']} use the same cipher "
        f"and differ by {shown(gap, 2)} {a['unit']}: smaller differences say nothing"
    )


def _rests_on_means(figures: Figures, row: Row) -> bool:
    if row["metric"] == "ratio":
        return True
    return figures.best_mean("throughput", setting_map(row), row["table"]) is not None
