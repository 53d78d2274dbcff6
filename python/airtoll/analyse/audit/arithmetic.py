"""Arithmetic: do printed means, deviations, totals, percentages and ratios follow?

Takes the figures of a data set; gives findings. A printed figure passes if the recomputed one
rounds to it; figures recomputed from rounded figures get the benefit of that rounding, unless
the data set itself shows that it computed from what it printed.
Never asks what a figure means.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from airtoll.analyse.audit.columns import Figures, Row, covers, describe, matches, setting_map
from airtoll.analyse.audit.finding import Finding, Severity, shown
from airtoll.analyse.overhead import Definition, overhead_value
from airtoll.observe.datasets import UNITS

#: Below this share of a figure a mismatch is one of the last digits: a slip, not a wrong figure.
_SLIP: Final = 0.02

_RATIOS: Final[tuple[Definition, ...]] = ("of_baseline", "of_secured")


@frozen
class _Percentage:
    """A printed overhead with what it should be under each definition (printed unit)."""

    row: Row
    exact: dict[str, float]
    slack: float
    source: str

    def rounds(self, definition: str) -> bool:
        half = 0.5 * 10.0 ** -self.row["decimals"]
        return bool(abs(self.exact[definition] - self.row["number"]) <= half * (1 + 1e-9) + 1e-9)

    def cuts(self, definition: str) -> bool:
        unit = 10.0 ** -self.row["decimals"]
        rest = abs(self.exact[definition]) - abs(self.row["number"])
        return bool(-1e-9 <= rest < unit * (1 - 1e-9))

    def within_slack(self, definition: str) -> bool:
        half = 0.5 * 10.0 ** -self.row["decimals"]
        return bool(abs(self.exact[definition] - self.row["number"]) <= half + self.slack + 1e-9)


def means_and_deviations(figures: Figures) -> list[Finding]:
    """Printed means and sample deviations against the readings of the same setting."""
    found = []
    for row in figures.published:
        if row["statistic"] not in ("mean", "std") or row["metric"] == "overhead":
            continue
        setting = setting_map(row)
        columns = figures.columns_of(row["metric"], setting, row["table"])
        if columns:
            column = columns[0]
            if row["statistic"] == "std" and column.values.size < 2:
                continue
            exact = column.si.mean() if row["statistic"] == "mean" else column.si.std(ddof=1)
            source = f"{column.values.size} readings of table {column.table}"
        elif row["statistic"] == "mean" and _is_derived(figures, setting):
            best = figures.best_mean(row["metric"], setting)
            if best is None:
                continue
            exact, source = best[0], best[2]
        else:
            continue
        value = float(exact) * _scale(row)
        if not _agrees(row, value):
            kind = "mean_mismatch" if row["statistic"] == "mean" else "deviation_mismatch"
            population = ""
            if (
                row["statistic"] == "std"
                and columns
                and _agrees(row, float(columns[0].si.std(ddof=0)) * _scale(row))
            ):
                population = "; it is the deviation with n in place of n - 1"
            found.append(
                _finding(figures, row, kind, value, f"{source} give {shown(value)}{population}")
            )
    return found


def totals(figures: Figures) -> list[Finding]:
    """Totals over clients, and rows that the study derives by adding others."""
    found = []
    for row in figures.published:
        if row["client"] == "total" and row["metric"] == "throughput":
            parts = [
                other
                for other in figures.published
                if other["client"] not in ("", "total")
                and other["statistic"] == row["statistic"] == "mean"
                and other["table"] == row["table"]
                and other["metric"] == row["metric"]
                and {**setting_map(other), "client": ""} == {**setting_map(row), "client": ""}
            ]
            if len(parts) < 2:
                continue
            value = sum(part["number"] for part in parts)
            digits = max(part["decimals"] for part in [*parts, row])
            slack = (len(parts) + 1) * 0.5 * 10.0**-digits  # each was rounded for itself
            if abs(value - row["number"]) > slack + 1e-9:
                terms = " + ".join(part["value"] for part in parts)
                found.append(
                    _finding(figures, row, "total_mismatch", value, f"{terms} = {shown(value)}")
                )
    for rule in figures.meta.get("derived", []):
        if "sum_of" in rule:
            found += _sums(figures, rule)
    return found


def percentages(figures: Figures) -> list[Finding]:
    """Printed overheads: value, definition, rounding, and percentages averaged from others."""
    printed = [p for row in figures.published if (p := _percentage(figures, row)) is not None]
    if not printed:
        return _octet_shares(figures, False) + _losses(figures)
    stated = figures.dataset.overhead
    followed = _definition_followed(printed, stated)
    found = []
    if stated in _RATIOS and followed != stated:
        agree = {str(d): sum(p.rounds(d) or p.cuts(d) for p in printed) for d in _RATIOS}
        found.append(
            Finding(
                figures.name,
                printed[0].row["table"],
                "all overheads",
                "definition_mismatch",
                str(stated),
                followed,
                "error",
                f"{agree[followed]} of {len(printed)} printed overheads follow {followed}, "
                f"{agree[str(stated)]} follow the stated {stated}",
            )
        )
    cut = _is_cut([(p.rounds(followed), p.cuts(followed)) for p in printed])
    exact_inputs = _from_print(printed, followed, cut)
    for item in printed:
        if cut and item.cuts(followed):
            if not item.rounds(followed):
                found.append(_cut_finding(figures, item.row, item.exact[followed]))
        elif not item.rounds(followed) and not (
            item.slack > 0 and not exact_inputs and item.within_slack(followed)
        ):
            found.append(
                _finding(
                    figures,
                    item.row,
                    "percentage_mismatch",
                    item.exact[followed],
                    f"{item.source}: {followed} gives {shown(item.exact[followed])} %"
                    + _explained(figures, item, followed),
                )
            )
    return (
        found
        + _averages(figures, printed, followed)
        + _octet_shares(figures, cut)
        + _losses(figures)
    )


def ratios(figures: Figures) -> list[Finding]:
    """Rows named ``a / b``: the ratio of two printed means of the same configuration."""
    found = []
    for row in figures.published:
        if " / " not in row["security"]:
            continue
        first, second = (part.strip() for part in row["security"].split(" / ", 1))
        terms = _terms(figures, row, first, second)
        if terms is None:
            continue
        a, b = terms
        for rule in figures.meta.get("derived", []):
            if "percent_less" in rule and row["metric"] == rule.get("metric"):
                saving = 100 * (1 - a["number"] / b["number"])
                if not _agrees(row, saving):
                    same = shown(100 * a["number"] / b["number"], 1)
                    found.append(
                        _finding(
                            figures,
                            row,
                            "ratio_mismatch",
                            saving,
                            f"{a['value']} against {b['value']} is {shown(saving, 1)} % less; "
                            f"{same} % is what remains, not what is saved",
                        )
                    )
                break
        else:
            if row["metric"] != "ratio":
                continue
            value = a["number"] / b["number"]
            slack = abs(value) * (
                0.5 * 10.0 ** -a["decimals"] / abs(a["number"])
                + 0.5 * 10.0 ** -b["decimals"] / abs(b["number"])
            )
            if abs(value - row["number"]) > 0.5 * 10.0 ** -row["decimals"] + slack + 1e-9:
                found.append(
                    _finding(
                        figures,
                        row,
                        "ratio_mismatch",
                        value,
                        f"{a['value']} / {b['value']} = {shown(value)}",
                    )
                )
    return found


def ranges(figures: Figures) -> list[Finding]:
    """Ranges and extremes given for readings, against the readings they cover."""
    found = []
    keys = ("configuration", "security", "transport", "ip", "offered_mbps", "client")
    for row in figures.published:
        if row["statistic"] not in ("range_low", "range_high", "min", "max"):
            continue
        columns = [
            column
            for column in figures.columns
            if column.metric == row["metric"] and covers(row, column.key, keys)
        ]
        if not columns or not _all_alike(columns, row):
            continue
        low = row["statistic"] in ("range_low", "min")
        values = [(c.values.min() if low else c.values.max(), c) for c in columns]
        value, column = (min if low else max)(values, key=lambda pair: pair[0])
        index = int(column.values.argmin() if low else column.values.argmax())
        if _agrees(row, float(value)) or _is_limit(figures, row):
            continue
        found.append(
            _finding(
                figures,
                row,
                "range_mismatch",
                float(value),
                f"the {'smallest' if low else 'largest'} of "
                f"{sum(c.values.size for c in columns)} readings is {column.printed[index]} "
                f"(table {column.table}, {column.where}, {column.trials[index]})",
            )
        )
    return found


def _percentage(figures: Figures, row: Row) -> _Percentage | None:
    if row["metric"] != "overhead" or row["statistic"] != "overhead" or row["unit"] != "%":
        return None
    setting = setting_map(row)
    secured = figures.best_mean("throughput", setting, row["table"])
    baseline = figures.best_mean(
        "throughput", {**setting, "security": figures.baseline}, row["table"]
    )
    if secured is None or baseline is None or row["security"] == figures.baseline:
        return None
    t1, t2 = baseline[0], secured[0]
    slack = 100 * (baseline[1] / t1 + secured[1] / t2)
    return _Percentage(
        row,
        {d: 100 * overhead_value(t1, t2, d) for d in _RATIOS},
        slack,
        f"from {secured[2]}",
    )


def _definition_followed(printed: list[_Percentage], stated: str | None) -> str:
    """The stated definition, unless the figures clearly follow another one."""
    agree = {d: sum(p.rounds(d) or p.cuts(d) for p in printed) for d in _RATIOS}
    best = max(_RATIOS, key=lambda d: (agree[d], d == stated))
    if stated not in _RATIOS:
        return best
    clear = agree[best] >= agree[stated] + max(3, 0.3 * len(printed))
    return best if clear else str(stated)


def _is_cut(pairs: list[tuple[bool, bool]]) -> bool:
    """Whether figures are cut off: nearly all agree with cutting, none with rounding alone."""
    only_cut = sum(cut and not rounded for rounded, cut in pairs)
    only_round = sum(rounded and not cut for rounded, cut in pairs)
    cuts = sum(cut for _, cut in pairs)
    return only_cut >= 3 and only_round == 0 and cuts >= 0.75 * len(pairs)


def _from_print(printed: list[_Percentage], definition: str, cut: bool) -> bool:
    """Whether overheads were computed from the printed means: then nearly all agree exactly."""
    rounded = [p for p in printed if p.slack > 0.5 * 10.0 ** -p.row["decimals"]]
    if len(rounded) < 8:
        return False
    agree = sum(p.cuts(definition) if cut else p.rounds(definition) for p in rounded)
    return agree >= 0.75 * len(rounded)


def _averages(figures: Figures, printed: list[_Percentage], definition: str) -> list[Finding]:
    """Overheads that average those of several transports (``TCP+UDP``)."""
    found = []
    exact = {
        (p.row["table"], p.row["configuration"], p.row["security"], p.row["transport"]): p
        for p in printed
    }
    for row in figures.published:
        if row["metric"] != "overhead" or "+" not in row["transport"]:
            continue
        parts = [
            exact.get((row["table"], row["configuration"], row["security"], transport))
            for transport in row["transport"].split("+")
        ]
        known = [part for part in parts if part is not None]
        if len(known) < len(parts):
            continue
        of_print = sum(p.row["number"] for p in known) / len(known)
        of_exact = sum(p.exact[definition] for p in known) / len(known)
        unit = 10.0 ** -row["decimals"]
        # Averaged after or before rounding; the average of two rounded figures may end in a 5.
        if abs(of_print - row["number"]) <= 0.5 * unit + 1e-9 or _agrees(row, of_exact):
            continue
        terms = ", ".join(p.row["value"] for p in known)
        found.append(
            _finding(
                figures, row, "mean_mismatch", of_print, f"the mean of {terms} is {shown(of_print)}"
            )
        )
    return found


def _octet_shares(figures: Figures, cut_elsewhere: bool) -> list[Finding]:
    """Theoretical overheads: octets added over octets carried."""
    octets = {
        row["security"]: row["number"]
        for row in figures.published
        if row["metric"] == "header_octets"
    }
    shares = [
        (row, 100 * octets[row["security"]] / float(row["packet_bytes"]))
        for row in figures.published
        if row["metric"] == "overhead"
        and row["security"] in octets
        and row["packet_bytes"]
        and figures.best_mean("throughput", setting_map(row)) is None
    ]
    states = [(_agrees(row, value), _cuts(row, value)) for row, value in shares]
    cut = _is_cut(states) or (cut_elsewhere and all(c for _, c in states))
    found = []
    for (row, value), (rounded, cuts) in zip(shares, states, strict=True):
        if cut and cuts:
            if not rounded:
                found.append(_cut_finding(figures, row, value))
        elif not rounded:
            found.append(
                _finding(
                    figures,
                    row,
                    "percentage_mismatch",
                    value,
                    f"{shown(octets[row['security']])} octets of {row['packet_bytes']} are "
                    f"{shown(value)} %",
                )
            )
    return found


def _losses(figures: Figures) -> list[Finding]:
    """Losses printed in the unit of the throughput: baseline minus secured."""
    found = []
    for row in figures.published:
        if row["metric"] != "throughput" or row["statistic"] != "overhead":
            continue
        setting = setting_map(row)
        secured = figures.best_mean("throughput", setting, row["table"])
        baseline = figures.best_mean(
            "throughput", {**setting, "security": figures.baseline}, row["table"]
        )
        if secured is None or baseline is None:
            continue
        value = (baseline[0] - secured[0]) * _scale(row)
        slack = (baseline[1] + secured[1]) * _scale(row)
        if abs(value - row["number"]) > 0.5 * 10.0 ** -row["decimals"] + slack + 1e-9:
            found.append(
                _finding(
                    figures,
                    row,
                    "percentage_mismatch",
                    value,
                    f"the means differ by {shown(value)} {row['unit']}",
                )
            )
    return found


def _sums(figures: Figures, rule: Mapping[str, Any]) -> list[Finding]:
    found = []
    plain = {
        key: rule[key] for key in ("metric", "table", "configuration", "security") if key in rule
    }
    for row in figures.published:
        if not matches(row, plain):
            continue
        parts = []
        for part in rule["sum_of"]:
            select = {"metric": row["metric"], "security": row["security"], **part}
            hits = [other for other in figures.published if matches(other, select)]
            if hits:
                # A part printed more than once: the one nearest to what the total needs.
                parts.append(hits)
        if len(parts) < len(rule["sum_of"]):
            continue
        options = {sum(h[i % len(h)]["number"] for h in parts) for i in range(3)}
        value = min(options, key=lambda option: abs(option - row["number"]))
        if not _agrees(row, value):
            terms = " + ".join(hits[0]["value"] for hits in parts)
            found.append(
                _finding(figures, row, "total_mismatch", value, f"{terms} = {shown(value)}")
            )
    return found


def _explained(figures: Figures, item: _Percentage, definition: str) -> str:
    """A neighbouring printed figure that the wrong one equals, if there is one."""
    other = next((d for d in _RATIOS if d != definition and item.rounds(d)), None)
    if other:
        return f"; the printed {item.row['value']} is {other}"
    same = [
        row
        for row in figures.published
        if row["row"] != item.row["row"]
        and row["metric"] == "overhead"
        and row["value"] == item.row["value"]
        and row["security"] == item.row["security"]
    ]
    if same and len(item.row["value"]) >= 4:
        return f"; {item.row['value']} is also printed in table {same[0]['table']}"
    return ""


def _terms(figures: Figures, row: Row, first: str, second: str) -> tuple[Row, Row] | None:
    metrics = {r["metric"] for r in figures.published if r["statistic"] == "mean"}
    for metric in sorted(metrics):
        setting = setting_map(row)
        a = figures.printed_means(metric, {**setting, "security": first})
        b = figures.printed_means(metric, {**setting, "security": second})
        if a and b and b[0]["number"]:
            return a[0], b[0]
    return None


def _is_derived(figures: Figures, setting: Mapping[str, str]) -> bool:
    return any(
        "mean_of" in rule and matches(setting, rule) for rule in figures.meta.get("derived", [])
    )


def _is_limit(figures: Figures, row: Row) -> bool:
    """Whether an extreme is the study's outlier limit (mean - k deviations), not a reading."""
    outlier = figures.meta.get("trials", {}).get("outlier")
    if outlier is None:
        return False
    columns = figures.columns_of(row["metric"], setting_map(row))
    for column in columns:
        limit = column.values.mean() - float(outlier["sigma"]) * column.values.std(ddof=1)
        if abs(limit - row["number"]) <= 0.06 * 10.0 ** (1 - row["decimals"]) + 0.05:
            return True
    return False


def _all_alike(columns: list[Any], row: Row) -> bool:
    return all(column.unit == row["unit"] for column in columns)


def _agrees(row: Row, value: float) -> bool:
    half = 0.5 * 10.0 ** -row["decimals"]
    return bool(abs(value - row["number"]) <= half * (1 + 1e-9) + 1e-9)


def _cuts(row: Row, value: float) -> bool:
    rest = abs(value) - abs(row["number"])
    return bool(-1e-9 <= rest < 10.0 ** -row["decimals"] * (1 - 1e-9))


def _scale(row: Row) -> float:
    """Printed units per SI unit."""
    return 1 / UNITS[row["unit"]][1]


def _finding(figures: Figures, row: Row, kind: str, value: float, evidence: str) -> Finding:
    # A slip is of a few last digits and small against the figure.
    digits = abs(value - row["number"]) / 10.0 ** -row["decimals"]
    share = abs(value - row["number"]) / max(abs(value), 1e-300)
    severity: Severity = "warning" if share < _SLIP and digits < 3 else "error"
    where = describe(setting_map(row), f"{row['metric']} {row['statistic']}")
    return Finding(
        figures.name,
        row["table"],
        where,
        kind,
        f"{row['value']} {row['unit']}".removesuffix(" 1"),
        shown(value, max(row["decimals"] + 2, 2)) if math.isfinite(value) else str(value),
        severity,
        evidence,
    )


def _cut_finding(figures: Figures, row: Row, value: float) -> Finding:
    rounded = f"{value:.{row['decimals']}f}"
    return Finding(
        figures.name,
        row["table"],
        describe(setting_map(row), row["metric"]),
        "truncated_rounding",
        f"{row['value']} {row['unit']}",
        rounded,
        "note",
        f"{shown(value)} rounds to {rounded}; the figures of this set are cut off",
    )
