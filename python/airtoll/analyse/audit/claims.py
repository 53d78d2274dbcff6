"""Claims: statements of a study's text, as tests that its own figures pass or fail.

Takes the figures of a data set and the ``[[claim]]`` tables that say, in plain data, what the
text asserts of which figures; gives a finding for each that they do not bear out. One function
per kind of claim; none knows a study. An unknown kind is an error of the data set.

Keys common to all: ``where`` (section), ``says`` (the statement, in our words), ``kind``.
``select``, ``left`` and ``right`` pick rows (column -> value, pattern or list); ``each`` names
the columns within whose levels the claim is tested. Limits are in printed units.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Final

import numpy as np
from attrs import evolve

from airtoll.analyse.audit.columns import Figures, Row, matches
from airtoll.analyse.audit.finding import Finding, Severity, shown
from airtoll.analyse.audit.statements import (
    arithmetic,
    exclusive,
    ranking,
    service,
    standard,
)
from airtoll.analyse.comparison import holm_adjust, welch_p
from airtoll.analyse.overhead import Summary
from airtoll.analyse.quantities import show_value
from airtoll.errors import DatasetError

Claim = Mapping[str, Any]
Group = tuple[str, ...]

_ALPHA: Final = 0.05
#: Units of data sets as they are written elsewhere.
_WRITTEN: Final = {"Mbps": "Mb/s", "kbps": "kb/s"}


def claims(figures: Figures) -> list[Finding]:
    """Test every claim of the data set. Raises DatasetError for a kind that does not exist."""
    found = []
    stated = list(figures.meta.get("claim", []))
    for claim in stated:
        kind = str(claim.get("kind"))
        test = _KINDS.get(kind)
        if test is None:
            raise DatasetError(
                f"{figures.dataset.folder / 'dataset.toml'}: claim kind {kind!r}: "
                f"allowed are {', '.join(sorted(_KINDS))}"
            )
        try:
            found += _together(test(figures, claim))
        except (KeyError, TypeError) as error:
            raise DatasetError(
                f"{figures.dataset.folder / 'dataset.toml'}: claim {claim['says']!r} of kind "
                f"{kind!r}: {error} is missing or of the wrong type"
            ) from error
    return found + exclusive(figures, stated)


def contradictions(figures: Figures, claim: Claim) -> list[Finding]:
    """The findings of figures against one claim of the text, one for each place; none: borne out.

    Raises ``DatasetError`` for a kind that does not exist.
    """
    test = _KINDS.get(str(claim.get("kind")))
    if test is None:
        raise DatasetError(f"{figures.name}: claim {claim['says']!r} is of no known kind")
    return test(figures, claim)


def _ratio(figures: Figures, claim: Claim) -> list[Finding]:
    """``left`` / ``right`` lies within [low, high], in each group."""
    return _two_sided(figures, claim, lambda a, b: a / b if b else np.nan, "{a} / {b} = {v}")


def _difference(figures: Figures, claim: Claim) -> list[Finding]:
    """``left`` - ``right`` lies within [low, high], for each pair of a group."""
    found = []
    right = _rows(figures, claim["right"])
    for key, rows in _grouped(_rows(figures, claim["left"]), _each(claim)).items():
        others = _grouped(right, _each(claim)).get(key, [])
        for a, b in itertools.product(rows, others):
            value = a["number"] - b["number"]
            if not claim["low"] - 0.005 <= value <= claim["high"] + 0.005:
                where = f"{_words(key)}: {a['security']} - {b['security']}"
                found.append(
                    _contradicted(
                        figures,
                        claim,
                        where,
                        f"{claim['low']:g} to {claim['high']:g}",
                        shown(value, 3),
                        f"{a['value']} - {b['value']} = {_difference_of(value, a)}",
                    )
                )
    return found


def _greater(figures: Figures, claim: Claim) -> list[Finding]:
    """``left`` exceeds ``right`` (optionally ``by_at_least`` a third selection), each pair."""
    found = []
    left = _grouped(_rows(figures, claim["left"]), _each(claim))
    right = _grouped(_rows(figures, claim["right"]), _each(claim))
    third = _rows(figures, claim["by_at_least"]) if "by_at_least" in claim else []
    for key in left:
        for a_name, a_rows in _grouped(left[key], ["security"]).items():
            for b_name, b_rows in _grouped(right.get(key, []), ["security"]).items():
                if a_name == b_name and "security" not in _each(claim) and len(left[key]) > 1:
                    continue
                a, b = _numbers(a_rows), _numbers(b_rows)
                gap = float(a.mean() - b.mean())
                least = min((row["number"] for row in third), default=0.0)
                names = f"{_words(key)}: {_words(a_name)} against {_words(b_name)}"
                if gap <= least:
                    found.append(
                        _contradicted(
                            figures,
                            claim,
                            names,
                            f"more by {shown(least)}" if least else "more",
                            shown(gap, 4),
                            f"{_told(float(a.mean()), a_rows)} against "
                            f"{_told(float(b.mean()), b_rows)}",
                        )
                    )
                elif min(a.size, b.size) > 2:
                    p = welch_p(Summary.of(a), Summary.of(b))
                    if p > _ALPHA:
                        found.append(_undetectable(figures, claim, names, gap, p))
    return found


def _extreme(sign: float) -> Callable[[Figures, Claim], list[Finding]]:
    """``subject`` is the lowest (sign 1) or highest (sign -1) in each group."""

    def test(figures: Figures, claim: Claim) -> list[Finding]:
        found = []
        for key, rows in _grouped(_rows(figures, claim["select"]), _each(claim)).items():
            groups = {name[0]: group for name, group in _grouped(rows, ["security"]).items()}
            values = {name: float(_numbers(group).mean()) for name, group in groups.items()}
            own = [values[s] for s in claim["subject"] if s in values]
            others = {n: v for n, v in values.items() if n not in claim["subject"]}
            if not own or not others:
                continue
            best = min(own, key=lambda v: sign * v)
            beaten = sorted(
                (n for n, v in others.items() if sign * v < sign * best),
                key=lambda n: sign * others[n],
            )
            tied = sorted(n for n, v in others.items() if v == best)
            if beaten or tied:
                word = "below" if sign > 0 else "above"
                text = ", ".join(f"{n} {_told(others[n], groups[n])}" for n in beaten or tied)
                found.append(
                    _contradicted(
                        figures,
                        claim,
                        _words(key) or "all",
                        f"{claim['subject'][0]} {shown(best)}",
                        f"{(beaten or tied)[0]} {shown(others[(beaten or tied)[0]])}",
                        f"{'equal' if not beaten else word}: {text}",
                    )
                )
            elif own and all(len(g) > 2 for g in _grouped(rows, ["security"]).values()):
                found += _not_detectable(figures, claim, key, rows)
        return found

    return test


def _not_detectable(figures: Figures, claim: Claim, key: Group, rows: list[Row]) -> list[Finding]:
    groups = {n[0]: _numbers(g) for n, g in _grouped(rows, ["security"]).items()}
    found = []
    for subject in claim["subject"]:
        others = [n for n in groups if n not in claim["subject"]]
        p = holm_adjust(
            np.array([welch_p(Summary.of(groups[subject]), Summary.of(groups[n])) for n in others])
        )
        weak = [n for n, q in zip(others, p, strict=True) if not q < _ALPHA]
        if weak:
            found.append(
                Finding(
                    figures.name,
                    f"prose {claim['where']}",
                    f"{_words(key)}: {subject} against {', '.join(weak)}",
                    "unsupported_difference",
                    str(claim["says"]),
                    f"p = {', '.join(f'{q:.2g}' for q in p if not q < _ALPHA)}",
                    "note",
                    "no detectable difference (Welch, Holm)",
                )
            )
    return found


def _order(figures: Figures, claim: Claim) -> list[Finding]:
    """Tiers of policies from highest to lowest, each member above each of the next tier."""
    found = []
    for key, rows in _grouped(_rows(figures, claim["select"]), _each(claim)).items():
        values = {n[0]: g[0] for n, g in _grouped(rows, ["security"]).items()}
        wrong = [
            f"{high} {values[high]['value']} <= {low} {values[low]['value']}{_unit(values[low])}"
            for upper, lower in itertools.pairwise(claim["order"])
            for high, low in itertools.product(upper, lower)
            if high in values and low in values and values[high]["number"] <= values[low]["number"]
        ]
        if wrong:
            found.append(
                _contradicted(
                    figures,
                    claim,
                    _words(key),
                    " > ".join("/".join(tier) for tier in claim["order"]),
                    wrong[0],
                    "; ".join(wrong),
                )
            )
    return found


def _bound(figures: Figures, claim: Claim) -> list[Finding]:
    """All selected values lie within [low, high] (``strict``: below high)."""
    low, high = claim.get("low", -np.inf), claim.get("high", np.inf)
    rows = _rows(figures, claim["select"])
    bad = [
        row
        for row in rows
        if row["number"] < low
        or row["number"] > high
        or (claim.get("strict") and row["number"] >= high)
    ]
    if not bad:
        return []
    worst = max(bad, key=lambda row: max(low - row["number"], row["number"] - high))
    unit = worst["unit"]
    return [
        _contradicted(
            figures,
            claim,
            f"{len(bad)} of {len(rows)} figures",
            f"{'' if low == -np.inf else f'{low:g} to '}{high:g} {unit}",
            f"{worst['value']} {unit}",
            f"furthest out: {worst['value']} {unit} (table {worst['table']}, "
            f"{worst['configuration']}, {worst['security']}, {worst['transport']})",
        )
    ]


def _some_above(figures: Figures, claim: Claim) -> list[Finding]:
    """At least ``at_least`` levels of ``distinct`` have a value above ``above``."""
    rows = [r for r in _rows(figures, claim["select"]) if r["number"] > claim["above"]]
    names = sorted({row[claim["distinct"]] for row in rows})
    if len(names) >= claim["at_least"]:
        return []
    values = ", ".join(f"{row['security']} {row['value']}{_unit(row)}" for row in rows) or "none"
    return [
        _contradicted(
            figures,
            claim,
            f"above {claim['above']:g}",
            f"{claim['at_least']} or more",
            str(len(names)),
            f"above {claim['above']:g}: {values}",
        )
    ]


def _no_difference(figures: Figures, claim: Claim) -> list[Finding]:
    """Readings of secured and baseline do not differ detectably (Welch, Holm per group)."""
    found = []
    select = {"kind": "trial", **claim["select"]}
    for key, rows in _grouped(_rows(figures, select), _each(claim)).items():
        groups = {n[0]: _numbers(g) for n, g in _grouped(rows, ["security"]).items()}
        zero = groups.get(figures.baseline)
        names = [n for n in groups if n != figures.baseline]
        if zero is None or zero.size < 3 or not names:
            continue
        p = holm_adjust(np.array([welch_p(Summary.of(groups[n]), Summary.of(zero)) for n in names]))
        differ = [(n, q) for n, q in zip(names, p, strict=True) if q < _ALPHA]
        if differ:
            text = ", ".join(
                f"{n} {_told(float(groups[n].mean()), rows)} (p = {q:.2g})" for n, q in differ
            )
            found.append(
                _contradicted(
                    figures,
                    claim,
                    _words(key),
                    "no difference",
                    f"{len(differ)} of {len(names)} differ",
                    f"against {figures.baseline} {_told(float(zero.mean()), rows)}: {text}",
                )
            )
    return found


def _rises_with(figures: Figures, claim: Claim) -> list[Finding]:
    """Means rise along a numeric column, in each group."""
    found = []
    for key, rows in _grouped(_rows(figures, claim["select"]), _each(claim)).items():
        levels = sorted(
            (
                (float(n[0]), float(_numbers(g).mean()))
                for n, g in _grouped(rows, [claim["along"]]).items()
            )
        )
        if any(b[1] <= a[1] for a, b in itertools.pairwise(levels)):
            text = ", ".join(f"{value:.3g} at {level:g}" for level, value in levels)
            found.append(_contradicted(figures, claim, _words(key), "rising", "not rising", text))
    return found


def _same_difference(figures: Figures, claim: Claim) -> list[Finding]:
    """The difference between two policies is alike in two configurations."""
    rows = _rows(figures, claim["select"])
    gaps = []
    for configuration in claim["across"]:
        values = {
            row["security"]: row["number"] for row in rows if row["configuration"] == configuration
        }
        if any(name not in values for name in claim["between"]):
            return []
        gaps.append(values[claim["between"][0]] - values[claim["between"][1]])
    if gaps[0] and claim["low"] <= gaps[1] / gaps[0] <= claim["high"]:
        return []
    return [
        _contradicted(
            figures,
            claim,
            " and ".join(claim["across"]),
            "about the same",
            f"{shown(gaps[0], 2)} and {shown(gaps[1], 2)}",
            f"{claim['between'][0]} - {claim['between'][1]} is {shown(gaps[0], 2)} in "
            f"{claim['across'][0]} and {shown(gaps[1], 2)} in {claim['across'][1]}",
        )
    ]


def _count(figures: Figures, claim: Claim) -> list[Finding]:
    """The number of selected rows in each group is ``printed``."""
    found = []
    for key, rows in _grouped(_rows(figures, claim["select"]), _each(claim)).items():
        if len(rows) != claim["printed"]:
            found.append(
                _contradicted(
                    figures,
                    claim,
                    _words(key),
                    str(claim["printed"]),
                    str(len(rows)),
                    f"{len(rows)} are printed",
                )
            )
    return found


def _octets_explain(figures: Figures, claim: Claim) -> list[Finding]:
    """Octets added explain a relative loss (or the gap of two): at most octets / packet."""
    share = 100.0 * claim["octets"] / claim["packet_octets"]
    found = []
    rows = _rows(figures, claim["select"])
    if "between" in claim:
        for key, group in _grouped(rows, _each(claim)).items():
            values = {row["security"]: row for row in group}
            if any(name not in values for name in claim["between"]):
                continue
            a, b = (values[name] for name in claim["between"])
            gap = a["number"] - b["number"]
            if gap > 2 * share:
                found.append(_too_small(figures, claim, _words(key), gap, share, "points"))
        return found
    for row in rows:
        # A difference in bit/s becomes a share of ``relative_to`` (printed unit).
        value = row["number"] * (100.0 / claim["relative_to"] if "relative_to" in claim else 1.0)
        if value > 2 * share:
            where = f"{row['configuration']}, {row['security']}, {row['transport']}"
            found.append(_too_small(figures, claim, where, value, share, "%"))
    return found


def _octets_explain_time(figures: Figures, claim: Claim) -> list[Finding]:
    """Octets added explain a time: at most their airtime at the slowest rate."""
    airtime_ms = 8e-3 * claim["octets"] / claim["rate_mbps"]
    return [
        _too_small(
            figures,
            claim,
            f"{row['configuration']}, {row['security']}, {row['ip']}",
            row["number"],
            airtime_ms,
            row["unit"],
        )
        for row in _rows(figures, claim["select"])
        if row["number"] > 2 * airtime_ms
    ]


def _together(found: list[Finding]) -> list[Finding]:
    """One finding per claim and kind: the places and figures that contradict it, in a row."""
    groups: dict[tuple[str, str, str], list[Finding]] = {}
    for finding in found:
        groups.setdefault((finding.table, finding.kind, finding.severity), []).append(finding)
    merged = []
    for group in groups.values():
        first = group[0]
        if len(group) == 1 or first.kind in ("conflicting_claims", "standard_mismatch"):
            merged += group
            continue
        head, mark, _ = first.evidence.partition("; the figures: ")
        if mark:
            evidence = (
                head
                + mark
                + "; ".join(f"{f.where}: {f.evidence.partition(mark)[2]}" for f in group)
            )
        else:
            evidence = first.evidence
        merged.append(
            evolve(
                first,
                where="; ".join(dict.fromkeys(f.where for f in group)),
                printed="; ".join(dict.fromkeys(f.printed for f in group)),
                recomputed="; ".join(dict.fromkeys(f.recomputed for f in group)),
                evidence=evidence,
            )
        )
    return merged


def _two_sided(
    figures: Figures, claim: Claim, combine: Callable[[float, float], float], form: str
) -> list[Finding]:
    found = []
    right = _grouped(_rows(figures, claim["right"]), _each(claim))
    for key, rows in _grouped(_rows(figures, claim["left"]), _each(claim)).items():
        if key not in right:
            continue
        a, b = float(_numbers(rows).mean()), float(_numbers(right[key]).mean())
        if rows[0]["si_unit"] == right[key][0]["si_unit"]:
            a = float(np.mean([row["si"] for row in rows]))
            b = float(np.mean([row["si"] for row in right[key]]))
        value = combine(a, b)
        told = [_told(one, of) for one, of in ((a, rows), (b, right[key]))]
        if rows[0]["si_unit"] == right[key][0]["si_unit"]:
            told = [show_value(one, rows[0]["si_unit"]) for one in (a, b)]
            if rows[0]["si_unit"] == "1":
                told = [f"{shown(100 * one, 3)} %" for one in (a, b)]
        if claim["low"] <= round(value, 2) <= claim["high"]:
            continue
        found.append(
            _contradicted(
                figures,
                claim,
                _words(key) or "all",
                f"{claim['low']:g} to {claim['high']:g}",
                shown(value, 3),
                form.format(a=told[0], b=told[1], v=shown(value, 3)),
            )
        )
    return found


def _told(value: float, rows: Sequence[Row]) -> str:
    """A number of some rows with their unit; a mean has one decimal more than they have."""
    decimals = max(row["decimals"] for row in rows) + (len(rows) > 1)
    return f"{shown(value, decimals)}{_unit(rows[0])}"


def _difference_of(value: float, row: Row) -> str:
    """A difference from a row in its unit; of percentages in points."""
    unit = _unit(row)
    return f"{shown(value, row['decimals'])}{' points' if unit == ' %' else unit}"


def _unit(row: Row) -> str:
    """The unit of a row after a space, as airtoll writes it; empty without one."""
    unit = str(row["unit"] or "")
    return f" {_WRITTEN.get(unit, unit)}" if unit else ""


def _rows(figures: Figures, select: Mapping[str, Any]) -> list[Row]:
    """Rows that a selector picks: readings if it names no statistic and there are any."""
    rows = [row for row in figures.rows if matches(row, select)]
    if "statistic" in select or "kind" in select:
        return rows
    readings = [row for row in rows if row["kind"] == "trial"]
    return readings or [row for row in rows if row["statistic"] in ("mean", "overhead")]


def _each(claim: Claim) -> list[str]:
    return list(claim.get("each", []))


def _grouped(rows: list[Row], each: list[str]) -> dict[Group, list[Row]]:
    groups: dict[Group, list[Row]] = {}
    for row in rows:
        groups.setdefault(tuple(str(row[name]) for name in each), []).append(row)
    return groups


def _numbers(rows: list[Row]) -> np.ndarray[Any, np.dtype[np.float64]]:
    return np.array([row["number"] for row in rows], dtype=np.float64)


def _words(key: Group) -> str:
    return ", ".join(part for part in key if part)


def _contradicted(
    figures: Figures,
    claim: Claim,
    where: str,
    printed: str,
    recomputed: str,
    evidence: str,
    severity: Severity = "warning",
) -> Finding:
    return Finding(
        figures.name,
        f"prose {claim['where']}",
        where,
        "claim_contradicted",
        printed,
        recomputed,
        severity,
        f"the text says: {claim['says']}; the figures: {evidence}",
    )


def _undetectable(figures: Figures, claim: Claim, where: str, gap: float, p: float) -> Finding:
    return Finding(
        figures.name,
        f"prose {claim['where']}",
        where,
        "unsupported_difference",
        shown(gap),
        f"p = {p:.2g}",
        "warning",
        f"the text says: {claim['says']}; these readings show no detectable difference",
    )


def _too_small(
    figures: Figures, claim: Claim, where: str, effect: float, cause: float, unit: str
) -> Finding:
    return Finding(
        figures.name,
        f"prose {claim['where']}",
        where,
        "cause_too_small",
        f"{shown(effect, 2)} {unit}",
        f"{shown(cause, 3)} {unit} at most",
        "note",
        f"the text says: {claim['says']}; {claim['octets']} octets account for at most "
        f"{shown(cause, 3)} {unit}",
    )


_KINDS: Final[dict[str, Callable[[Figures, Claim], list[Finding]]]] = {
    "arithmetic": arithmetic,
    "bound": _bound,
    "count": _count,
    "difference": _difference,
    "greater": _greater,
    "highest": _extreme(-1.0),
    "lowest": _extreme(1.0),
    "no_difference": _no_difference,
    "octets_explain": _octets_explain,
    "octets_explain_time": _octets_explain_time,
    "order": _order,
    "ranking": ranking,
    "ratio": _ratio,
    "rises_with": _rises_with,
    "same_difference": _same_difference,
    "service": service,
    "some_above": _some_above,
    "standard": standard,
}
