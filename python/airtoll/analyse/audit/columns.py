"""Columns of readings and printed figures, as the rules look at them.

The figures of a data set become columns (ordered readings of one setting) and look-ups of printed
or recomputed figures by setting. Empty keys match anything, as in the prose rows of the published
data. Nothing is rounded.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import cached_property
from typing import Any, Final

import numpy as np
from attrs import define, frozen

from airtoll.analyse.estimate import Array
from airtoll.observe.datasets import Dataset

Row = dict[str, Any]

#: Columns that distinguish one setting from another, beside the table.
SETTING: Final = (
    "configuration",
    "security",
    "transport",
    "ip",
    "offered_mbps",
    "packet_bytes",
    "client",
)


@frozen(eq=False)
class Column:
    """Readings of one setting and metric of one table, in the order of their trials."""

    table: str
    setting: tuple[str, ...]
    metric: str
    unit: str
    trials: tuple[str, ...]
    printed: tuple[str, ...]
    values: Array
    decimals: tuple[int, ...]
    si: Array

    @property
    def key(self) -> dict[str, str]:
        """The setting by name."""
        return dict(zip(SETTING, self.setting, strict=True))

    @property
    def where(self) -> str:
        """The setting in words."""
        return describe(self.key, self.metric)

    @property
    def resolution(self) -> float:
        """Unit of the last printed digit (the finest in the column)."""
        return float(10.0 ** -max(self.decimals))


@define(eq=False, slots=False)
class Figures:
    """A data set, looked up."""

    dataset: Dataset

    @property
    def name(self) -> str:
        """Name of the data set."""
        return self.dataset.name

    @property
    def meta(self) -> Mapping[str, Any]:
        """Statements of the study about itself."""
        return self.dataset.meta

    @property
    def baseline(self) -> str:
        """Label of the baseline policy."""
        return self.dataset.baseline

    @cached_property
    def rows(self) -> list[Row]:
        """All rows."""
        return self.dataset.figures.rows(named=True)

    @cached_property
    def published(self) -> list[Row]:
        """Printed summaries."""
        return [row for row in self.rows if row["kind"] == "published"]

    @cached_property
    def columns(self) -> list[Column]:
        """All columns of readings, in the order of their first row."""
        groups: dict[tuple[str, ...], list[Row]] = {}
        for row in self.rows:
            if row["kind"] == "trial":
                key = (row["table"], row["metric"], row["unit"], *(row[k] for k in SETTING))
                groups.setdefault(key, []).append(row)
        return [
            Column(
                table=key[0],
                setting=key[3:],
                metric=key[1],
                unit=key[2],
                trials=tuple(str(row["trial"]) for row in rows),
                printed=tuple(row["value"] for row in rows),
                values=np.array([row["number"] for row in rows]),
                decimals=tuple(row["decimals"] for row in rows),
                si=np.array([row["si"] for row in rows]),
            )
            for key, rows in groups.items()
        ]

    @cached_property
    def _columns_by_setting(self) -> dict[tuple[str, tuple[str, ...]], list[Column]]:
        index: dict[tuple[str, tuple[str, ...]], list[Column]] = {}
        for column in self.columns:
            index.setdefault((column.metric, column.setting), []).append(column)
        return index

    def columns_of(
        self, metric: str, setting: Mapping[str, str], table: str | None = None
    ) -> list[Column]:
        """Columns of exactly this setting; those of ``table`` alone if it has any."""
        key = (metric, tuple(setting[name] for name in SETTING))
        found = self._columns_by_setting.get(key, [])
        own = [column for column in found if column.table == table]
        return own or found

    @cached_property
    def _means(self) -> dict[tuple[str, tuple[str, ...]], list[Row]]:
        index: dict[tuple[str, tuple[str, ...]], list[Row]] = {}
        for row in self.published:
            if row["statistic"] == "mean":
                index.setdefault((row["metric"], setting_of(row)), []).append(row)
        return index

    def printed_means(self, metric: str, setting: Mapping[str, str]) -> list[Row]:
        """Printed means of exactly this setting."""
        return self._means.get((metric, tuple(setting[name] for name in SETTING)), [])

    def best_mean(
        self, metric: str, setting: Mapping[str, str], table: str | None = None
    ) -> tuple[float, float, str] | None:
        """Mean in SI units, its uncertainty by printing (SI), and where it comes from.

        Of the readings if there are any, else a derived mean (``[[derived]] mean_of``), else the
        printed one; None if the setting is not there at all.
        """
        columns = self.columns_of(metric, setting, table)
        if columns:
            return float(columns[0].si.mean()), 0.0, f"readings of table {columns[0].table}"
        for rule in self.meta.get("derived", []):
            if "mean_of" not in rule or not matches(setting, rule):
                continue
            parts = [
                self.best_mean(metric, {**setting, "configuration": part}, None)
                for part in rule["mean_of"]
            ]
            known = [part for part in parts if part is not None]
            if len(known) == len(parts):
                value = sum(part[0] for part in known) / len(known)
                return value, max(part[1] for part in known), "mean of its tests"
        rows = self.printed_means(metric, setting)
        own = [row for row in rows if row["table"] == table] or rows
        if own:
            row = own[0]
            scale = row["si"] / row["number"] if row["number"] else 1.0
            return (
                float(row["si"]),
                0.5 * 10.0 ** -row["decimals"] * scale,
                f"table {row['table']}",
            )
        return None


def setting_of(row: Row) -> tuple[str, ...]:
    """The setting of a row."""
    return tuple(row[name] for name in SETTING)


def setting_map(row: Row) -> dict[str, str]:
    """The setting of a row by name."""
    return {name: row[name] for name in SETTING}


def describe(setting: Mapping[str, str], metric: str = "") -> str:
    """A setting in words; empty parts left out."""
    parts = [setting[name] for name in ("configuration", "security", "transport", "ip")]
    if setting["offered_mbps"]:
        parts.append(f"{setting['offered_mbps']} Mb/s offered")
    if setting["packet_bytes"]:
        parts.append(f"{setting['packet_bytes']} octets")
    if setting["client"]:
        parts.append(f"client {setting['client']}")
    if metric:
        parts.append(metric)
    return ", ".join(part for part in parts if part)


def matches(row: Mapping[str, Any], select: Mapping[str, Any]) -> bool:
    """Whether a row answers to a selector: column -> value, pattern or list of them.

    Keys of the selector that the row lacks are ignored.
    """
    for name, wanted in select.items():
        if name not in row:
            continue
        options = wanted if isinstance(wanted, list) else [wanted]
        if not any(fnmatchcase(str(row[name]), str(option)) for option in options):
            return False
    return True


def covers(wide: Row, narrow: Row, keys: Iterable[str]) -> bool:
    """Whether every key of ``wide`` is empty or that of ``narrow``."""
    return all(wide[key] in ("", narrow[key]) for key in keys)
