"""Clean data sets without a mistake for the audit: random readings, everything derived properly.

Takes a random generator; gives readings (normal, around the closed form of their link) with the
means, deviations and percentages that follow from them. Never makes a mistake.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from airtoll.analyse.ceiling import ceiling_bps
from airtoll.observe.datasets import COLUMNS, Dataset, figures_of

Row = dict[str, str]
Rng = np.random.Generator
Study = tuple[list[Row], dict[str, Any]]

POLICIES = ("open", "wep-40", "wep-104", "wpa-tkip", "wpa2-ccmp")
COST = {"open": 0.0, "wep-40": 0.03, "wep-104": 0.04, "wpa-tkip": 0.09, "wpa2-ccmp": 0.05}
LINKS = {
    "office": {"configuration": ["office"], "phy": "802.11g", "rate_mbps": 54.0, "hops": 1},
    "hall": {
        "configuration": ["hall"],
        "phy": "802.11b",
        "rate_mbps": 11.0,
        "preamble": "long",
        "hops": 1,
    },
}


PAIR = {"configuration": ["pair"], "phy": "802.11g", "rate_mbps": 54.0, "hops": 1, "senders": 2}


def clean(rng: Rng) -> Study:
    """A data set without a mistake: readings, means, deviations, overheads, totals, ratios."""
    rows: list[Row] = []
    for number, (name, link) in enumerate(LINKS.items(), 1):
        for transport, share in (("UDP", 0.95), ("TCP", 0.78)):
            best = share * ceiling_bps(link) / 1e3
            for policy in POLICIES:
                mean = best * (1 - COST[policy] * rng.uniform(0.9, 1.1))
                values = np.round(rng.normal(mean, 0.004 * mean, 10), 1)
                rows += readings(
                    f"{number}-{transport}", name, policy, transport, values, 1, "kbps"
                )
        rows += times(f"{number}-4", name, rng)
    rows += two_clients(rng) + series(rng) + whole_milliseconds(rng)
    summarise(rows)
    meta = {
        "dataset": {"name": "planted", "title": "Planted", "baseline": "open"},
        "overhead": {"stated": "of the baseline", "definition": "of_baseline"},
        "trials": {"kind": "independent", "repetitions": 10},
        "link": [*LINKS.values(), PAIR],
        "resolution": [{"metric": "response_time", "unit": "ms", "step": 1.0, "n": 10}],
        "count": [
            {
                "where": "1",
                "says": "five security levels",
                "printed": len(POLICIES),
                "of": "security",
                "select": {"metric": "throughput", "kind": "trial"},
            }
        ],
        "claim": [],
    }
    return rows, meta


def row(**given: str) -> Row:
    return dict.fromkeys(COLUMNS, "") | {"study": "planted"} | given


def readings(
    table: str,
    configuration: str,
    policy: str,
    transport: str,
    values: np.ndarray,
    decimals: int,
    unit: str,
    metric: str = "throughput",
    **more: str,
) -> list[Row]:
    return [
        row(
            table=table,
            kind="trial",
            configuration=configuration,
            security=policy,
            transport=transport,
            statistic="reading",
            trial=str(index),
            metric=metric,
            value=f"{value:.{decimals}f}",
            unit=unit,
            **more,
        )
        for index, value in enumerate(values, 1)
    ]


def times(table: str, configuration: str, rng: Rng) -> list[Row]:
    """Means of an authentication time and their ratios."""
    means = {p: round(float(rng.uniform(0.3, 3.0)), 3) for p in ("8021x-md5", "8021x-tls", "ipsec")}
    rows = [
        row(
            table=table,
            kind="published",
            configuration=configuration,
            security=policy,
            statistic="mean",
            metric="authentication_time",
            value=f"{mean:.3f}",
            unit="s",
        )
        for policy, mean in means.items()
    ]
    for a, b in (("8021x-tls", "8021x-md5"), ("ipsec", "8021x-md5")):
        rows.append(
            row(
                table=table,
                kind="published",
                configuration=configuration,
                security=f"{a} / {b}",
                statistic="ratio",
                metric="ratio",
                value=f"{means[a] / means[b]:.2f}",
                unit="1",
            )
        )
    return rows


def two_clients(rng: Rng) -> list[Row]:
    """Printed means of two clients, their totals and overheads; no readings."""
    rows, totals = [], {}
    for policy in POLICIES:
        a = round(float(rng.uniform(9, 11)), 2)
        c = round(18 * (1 - COST[policy]) + float(rng.normal(0, 0.1)) - a, 2)
        totals[policy] = round(a + c, 2)
        for client, value in (("A", a), ("C", c), ("total", totals[policy])):
            rows.append(
                row(
                    table="9",
                    kind="published",
                    configuration="pair",
                    security=policy,
                    transport="TCP",
                    client=client,
                    statistic="mean",
                    metric="throughput",
                    value=f"{value:.2f}",
                    unit="Mbps",
                )
            )
        if policy != "open":
            share = 100 * (totals["open"] - totals[policy]) / totals["open"]
            rows.append(percentage("9", "pair", policy, "TCP", share, client="total"))
    return rows


def series(rng: Rng) -> list[Row]:
    """Delay and jitter at ten points of time, measured apart."""
    rows = []
    for policy in POLICIES:
        delay = np.abs(rng.normal(6, 2.5, 10)) + 0.5
        jitter = np.abs(rng.normal(2, 0.8, 10)) + 0.1
        for table, metric, values in (("7", "delay", delay), ("8", "jitter", jitter)):
            rows += readings(table, "office", policy, "UDP", np.round(values, 3), 3, "ms", metric)
    return rows


def whole_milliseconds(rng: Rng) -> list[Row]:
    """Means and deviations of ten response times in whole milliseconds; no readings."""
    rows = []
    for policy in POLICIES:
        values = np.round(rng.normal(40, 3, 10))
        for statistic, value in (("mean", values.mean()), ("std", values.std(ddof=1))):
            rows.append(
                row(
                    table="10",
                    kind="published",
                    configuration="office",
                    security=policy,
                    statistic=statistic,
                    metric="response_time",
                    value=f"{value:.3f}",
                    unit="ms",
                )
            )
    return rows


def percentage(
    table: str, configuration: str, policy: str, transport: str, value: float, **more: str
) -> Row:
    return row(
        table=table,
        kind="published",
        configuration=configuration,
        security=policy,
        transport=transport,
        statistic="overhead",
        metric="overhead",
        value=f"{value:.2f}",
        unit="%",
        **more,
    )


def summarise(rows: list[Row]) -> None:
    """(Re)print means, deviations and overheads of all throughput readings."""
    rows[:] = [r for r in rows if r["label"] != "summary"]
    means: dict[tuple[str, str, str], float] = {}
    for key, values in columns(rows).items():
        table, configuration, policy, transport, metric = key
        if metric != "throughput":
            continue
        means[configuration, policy, transport] = float(values.mean())
        for statistic, value in (("mean", values.mean()), ("std", values.std(ddof=1))):
            rows.append(
                row(
                    table=table,
                    kind="published",
                    configuration=configuration,
                    security=policy,
                    transport=transport,
                    statistic=statistic,
                    metric="throughput",
                    value=f"{value:.2f}",
                    unit="kbps",
                    label="summary",
                )
            )
    for (configuration, policy, transport), mean in means.items():
        zero = means[configuration, "open", transport]
        if policy != "open":
            share = 100 * (zero - mean) / zero
            rows.append(
                percentage(f"{configuration}-5", configuration, policy, transport, share)
                | {"label": "summary"}
            )


def columns(rows: list[Row]) -> dict[tuple[str, str, str, str, str], np.ndarray]:
    groups: dict[tuple[str, str, str, str, str], list[float]] = {}
    for r in rows:
        if r["kind"] == "trial":
            key = (r["table"], r["configuration"], r["security"], r["transport"], r["metric"])
            groups.setdefault(key, []).append(float(r["value"]))
    return {key: np.array(values) for key, values in groups.items()}


def dataset(study: Study) -> Dataset:
    rows, meta = study
    frame = pl.DataFrame(rows, schema=dict.fromkeys(COLUMNS, pl.String))
    return Dataset(
        "planted",
        Path("planted"),
        meta,
        frame,
        figures_of(frame, "planted"),
        pl.DataFrame(),
        meta.get("policies", pl.DataFrame()),
    )
