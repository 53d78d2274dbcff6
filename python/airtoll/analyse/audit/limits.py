"""Limits: readings that the PHY, the airtime or the offered load do not allow.

The links that a study states give a range for its ceiling: the closed form with back-off, and the
same frames SIFS apart. Beyond the upper end a reading is impossible (error). Between them it needs
frame bursting or a shorter back-off (warning). Within 2 % of a ceiling or a floor it is a note:
clocks and averages differ by as much. Without a stated link there is no finding on the PHY.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

import numpy as np

from airtoll.analyse.audit.columns import Column, Figures, Row, describe, matches, setting_map
from airtoll.analyse.audit.finding import Finding, Severity, shown
from airtoll.analyse.ceiling import BEYOND, burst_ceiling_bps, ceiling_bps, shortest_delay_s
from airtoll.errors import PolicyError
from airtoll.policies import resolve

#: Mean back-off is itself random in a short run: this much above the closed form is no finding.
_TOLERANCE: Final = 0.005

#: Equal printed figures near the offered load from which on they are the load.
_REPEATS: Final = 3

#: iperf before version 2.0.9 reads "1M" as 1024 x 1024 bit/s.
_BINARY_MEGA: Final = 1.048576


def above_ceiling(figures: Figures) -> list[Finding]:
    """Throughputs, read or printed, above the closed form of their link."""
    found = []
    for column in figures.columns:
        if column.metric != "throughput":
            continue
        bound = _bound(figures, column.key)
        if bound is None:
            continue
        over = column.si > bound * (1 + _TOLERANCE)
        # A single lucky second is no finding; a mean above the bound, or most points, is.
        if over.mean() < 0.2 and column.si.mean() <= bound:
            continue
        link = _link(figures, column.key) or {}
        most = _most(figures, column.key)
        beyond = int(np.sum(column.si > float(link["rate_mbps"]) * 1e6))
        more = f"; {beyond} are above the data rate itself" if beyond else ""
        found.append(
            Finding(
                figures.name,
                column.table,
                column.where,
                "above_phy_ceiling",
                f"up to {column.printed[int(column.values.argmax())]} {column.unit}",
                _range(bound, most),
                severity_above(
                    float(column.si[over].mean() if over.any() else column.si.mean()), bound, most
                ),
                f"{int(over.sum())} of {over.size} readings are above what {_words(link)} carries"
                + more
                + _bursts(float(column.si.max()), bound, most),
            )
        )
    for row in figures.published:
        if row["metric"] != "throughput" or row["statistic"] not in ("mean", "max", "min"):
            continue
        if figures.columns_of("throughput", setting_map(row)):
            continue  # judged by its readings
        bound = _bound(figures, setting_map(row))
        if bound is None or row["si"] <= bound * (1 + _TOLERANCE):
            continue
        link = _link(figures, setting_map(row)) or {}
        most = _most(figures, setting_map(row))
        found.append(
            Finding(
                figures.name,
                row["table"],
                describe(setting_map(row), f"throughput {row['statistic']}"),
                "above_phy_ceiling",
                f"{row['value']} {row['unit']}",
                _range(bound, most),
                severity_above(row["si"], bound, most),
                f"{shown(100 * (row['si'] / bound - 1), 1)} % above what {_words(link)} carries"
                + _bursts(row["si"], bound, most),
            )
        )
    return found


def below_floor(figures: Figures) -> list[Finding]:
    """One-way delays below the airtime of the shortest frame."""
    found = []
    for column in figures.columns:
        link = _link(figures, column.key)
        if column.metric != "delay" or link is None:
            continue
        floor = shortest_delay_s(link)
        for index in np.flatnonzero(column.si < floor):
            found.append(
                Finding(
                    figures.name,
                    column.table,
                    f"{column.where}, {column.trials[index]}",
                    "below_phy_floor",
                    f"{column.printed[index]} {column.unit}",
                    f"{shown(floor * 1e3, 3)} ms",
                    "note" if column.si[index] >= floor * (1 - BEYOND) else "error",
                    f"the shortest frame alone takes {shown(floor * 1e3, 3)} ms at "
                    f"{link['rate_mbps']:g} Mb/s",
                )
            )
    return found


def offered_load(figures: Figures) -> list[Finding]:
    """Throughputs above the offered load, and those that merely repeat it."""
    found: list[Finding] = []
    over: dict[tuple[str, str, str, str, str, str], list[str]] = {}
    mega: dict[tuple[str, str, str, str], list[Column]] = {}
    for column in figures.columns:
        offered = column.key["offered_mbps"]
        if column.metric != "throughput" or not offered:
            continue
        load = float(offered) * 1e6
        binary = bool(np.median(np.abs(column.si / (load * _BINARY_MEGA) - 1)) < 0.01)
        limit = load * (_BINARY_MEGA if binary else 1.0)
        if binary:
            place = (column.table, column.key["configuration"], column.key["transport"], offered)
            mega.setdefault(place, []).append(column)
        for index in np.flatnonzero(column.si > limit * 1.002):
            key = (
                column.table,
                column.key["configuration"],
                column.key["transport"],
                column.trials[index],
                f"{column.printed[index]} {column.unit}",
                f"{offered} Mb/s",
            )
            over.setdefault(key, []).append(column.key["security"])
        near = np.abs(column.si / limit - 1) < 0.01
        if near.mean() < 0.8 or not _is_used(figures, column.key, column.table):
            continue
        also = " (read as 1024 x 1024 by iperf)" if binary else ""
        found.append(
            Finding(
                figures.name,
                column.table,
                column.where,
                "at_offered_load",
                f"median {shown(float(np.median(column.values)))} {column.unit}",
                f"{shown(limit / 1e6, 3)} Mb/s offered",
                "warning",
                f"{int(near.sum())} of {near.size} readings are the offered load{also}: the link "
                "was not filled, so they say nothing of what security costs",
            )
        )
    for (table, configuration, transport, offered), columns in mega.items():
        readings = np.concatenate([column.si for column in columns])
        above = int(np.sum(readings > float(offered) * 1e6 * 1.002))
        found.append(
            Finding(
                figures.name,
                table,
                f"{configuration}, {transport} ({len(columns)} columns)",
                "above_offered_load",
                f"up to {shown(float(readings.max()) / 1e6, 3)} Mb/s",
                f"{offered} Mb/s",
                "warning",
                f"{above} of {readings.size} readings are above the stated load; they fit "
                f"{shown(float(offered) * _BINARY_MEGA, 3)} Mb/s, as iperf read a mega until 2.0.9",
            )
        )
    for (table, configuration, transport, trial, printed, offered), names in over.items():
        found.append(
            Finding(
                figures.name,
                table,
                ", ".join(p for p in (configuration, transport, f"reading {trial}") if p)
                + f" ({', '.join(names)})",
                "above_offered_load",
                printed,
                offered,
                "error",
                "more is received than was sent: a start-up burst counted in, or a wrong clock",
            )
        )
    return found + _printed_load(figures)


def _printed_load(figures: Figures) -> list[Finding]:
    """Printed throughputs without readings above the offered load, and series that repeat it.

    One sender has one load: figures of a table and client above the stated load, and others at it,
    say that the statement holds for some of them only.
    """
    found = []
    at: dict[tuple[str, str, str], list[Row]] = {}
    for row in figures.published:
        setting = setting_map(row)
        offered = row["offered_mbps"]
        if row["metric"] != "throughput" or row["statistic"] != "mean" or not offered:
            continue
        if figures.columns_of("throughput", setting):
            continue  # judged by its readings
        load = float(offered) * 1e6
        half_digit = 0.5 * 10.0 ** -row["decimals"] * row["si"] / row["number"]
        if row["si"] - half_digit > load * 1.002:
            found.append(
                Finding(
                    figures.name,
                    row["table"],
                    describe(setting, "throughput"),
                    "above_offered_load",
                    f"{row['value']} {row['unit']}",
                    f"{offered} Mb/s",
                    "warning",
                    "more is received than the stated load: it was measured with another one",
                )
            )
        elif row["si"] > load * (1 - BEYOND):
            at.setdefault((row["table"], row["value"], offered), []).append(row)
    for (table, value, offered), rows in at.items():
        if len(rows) < _REPEATS:
            continue
        found.append(
            Finding(
                figures.name,
                table,
                f"{len(rows)} figures ({rows[0]['configuration']} to {rows[-1]['configuration']})",
                "at_offered_load",
                f"{value} {rows[0]['unit']} in each",
                f"{offered} Mb/s offered",
                "warning",
                "the link was not filled: they say nothing of capacity or of what security costs",
            )
        )
    return found


def _link(figures: Figures, setting: Mapping[str, str]) -> Mapping[str, Any] | None:
    for link in figures.meta.get("link", []):
        patterns = {"configuration": link["configuration"]}
        if matches(setting, patterns):
            return dict(link)
    return None


def _bound(figures: Figures, setting: Mapping[str, str]) -> float | None:
    link = _link(figures, setting)
    if link is None or " - " in setting["configuration"]:  # a difference of two systems
        return None
    payload = int(float(setting["packet_bytes"])) if setting["packet_bytes"] else None
    return ceiling_bps(link, _octets(setting["security"]), payload)


def _most(figures: Figures, setting: Mapping[str, str]) -> float:
    """Upper end of the ceiling of a setting whose link is known, bit/s."""
    link = _link(figures, setting) or {}
    payload = int(float(setting["packet_bytes"])) if setting["packet_bytes"] else None
    return burst_ceiling_bps(link, _octets(setting["security"]), payload)


def severity_above(value: float, bound: float, most: float) -> Severity:
    """How grave a throughput above its ceiling is, by margin; all in bit/s."""
    if value > most * (1 + _TOLERANCE):
        return "error"
    return "note" if value <= bound * (1 + BEYOND) else "warning"


def _range(bound: float, most: float) -> str:
    if most <= bound * (1 + _TOLERANCE):
        return f"{shown(bound / 1e6, 2)} Mb/s"
    return f"{shown(bound / 1e6, 2)} to {shown(most / 1e6, 2)} Mb/s"


def _bursts(value: float, bound: float, most: float) -> str:
    """The shortest burst that would explain a throughput, in frames per contention.

    A frame takes 1 / bound with contention and 1 / most SIFS after another, per bit; n frames per
    contention carry ``value`` where n / value = 1 / bound + (n - 1) / most.
    """
    if value > most * (1 + _TOLERANCE) and most > bound * (1 + _TOLERANCE):
        return ", and above frames SIFS apart"
    if value <= bound * (1 + BEYOND):
        return ""
    if value >= most:
        return "; frames SIFS apart without end could"
    frames = math.ceil((1 / bound - 1 / most) / (1 / value - 1 / most))
    return f"; bursts of {frames} frames SIFS apart would explain it"


def _octets(label: str) -> int:
    try:
        policy = resolve(label)
    except PolicyError:
        return 0
    return policy.octets_per_mpdu + policy.octets_per_msdu


def _is_used(figures: Figures, setting: Mapping[str, str], table: str) -> bool:
    """Whether the study draws on a column: a printed summary or a claim."""
    row = {**setting, "metric": "throughput", "table": table, "kind": "trial"}
    for claim in figures.meta.get("claim", []):
        for part in ("select", "left", "right"):
            select = dict(claim.get(part, {}))
            select.pop("statistic", None)
            if select and matches(row, select):
                return True
    return any(
        other["table"] == table or other["metric"] == "overhead"
        for other in figures.published
        if {k: other[k] for k in setting} == dict(setting)
    )


def _words(link: Mapping[str, Any]) -> str:
    hops = int(link.get("hops", 1))
    over = f" over {hops} hops" if hops > 1 else ""
    preamble = f", {link['preamble']} preamble" if "preamble" in link else ""
    senders = int(link.get("senders", 1))
    who = f", {senders} senders" if senders > 1 else ""
    return f"{link['phy']} at {float(link['rate_mbps']):g} Mb/s{preamble}{over}{who}"
