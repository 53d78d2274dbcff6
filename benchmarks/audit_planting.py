"""How often the audit finds a planted mistake, and how often it invents one.

Takes a number of repetitions and a seed; makes clean data sets from random readings (normal,
around the closed form of their link), prints and derives every figure properly, plants one
mistake of a kind in a copy, and audits both. Writes the rates as JSON.

    python benchmarks/audit_planting.py --seed 1 --out benchmarks/results/audit.json
"""

from __future__ import annotations

import argparse
import copy
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import polars as pl

from airtoll.analyse.audit import Finding, audit
from airtoll.analyse.audit.ceiling import ceiling_bps
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
    rows += two_clients(rng) + series(rng)
    summarise(rows)
    meta = {
        "dataset": {"name": "planted", "title": "Planted", "baseline": "open"},
        "overhead": {"stated": "of the baseline", "definition": "of_baseline"},
        "trials": {"kind": "independent", "repetitions": 10},
        "link": list(LINKS.values()),
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


# One function per kind: changes the study in place, returns what a finding must name.


def pick(rows: list[Row], rng: Rng, **wanted: str) -> Row:
    hits = [r for r in rows if all(r[k] == v for k, v in wanted.items())]
    return hits[int(rng.integers(len(hits)))]


def misprint(r: Row, rng: Rng) -> None:
    """Change one digit by at least two of the last place, as a slip of the pen would."""
    digits = [i for i, c in enumerate(r["value"]) if c.isdigit()]
    while True:
        i = int(rng.choice(digits))
        new = str(rng.integers(10))
        value = r["value"][:i] + new + r["value"][i + 1 :]
        unit = 10.0 ** -len(r["value"].partition(".")[2])
        if abs(float(value) - float(r["value"])) > 1.5 * unit:
            r["value"] = value
            return


def plant_mean(study: Study, rng: Rng) -> str:
    r = pick(study[0], rng, statistic="mean", label="summary")
    misprint(r, rng)
    return r["value"]


def plant_deviation(study: Study, rng: Rng) -> str:
    r = pick(study[0], rng, statistic="std")
    misprint(r, rng)
    return r["value"]


def plant_total(study: Study, rng: Rng) -> str:
    r = pick(study[0], rng, client="total", statistic="mean")
    while True:
        before = r["value"]
        misprint(r, rng)
        if abs(float(r["value"]) - float(before)) > 0.05:
            return r["value"]


def plant_percentage(study: Study, rng: Rng) -> str:
    r = pick(study[0], rng, metric="overhead", label="summary")
    misprint(r, rng)
    return r["value"]


def plant_ratio(study: Study, rng: Rng) -> str:
    r = pick(study[0], rng, metric="ratio")
    before = float(r["value"])
    while abs(float(r["value"]) - before) < 0.05:
        misprint(r, rng)
    return r["value"]


def plant_range(study: Study, rng: Rng) -> str:
    values = np.concatenate([v for k, v in columns(study[0]).items() if k[4] == "delay"])
    wrong = values.max() * float(rng.choice([0.9, 0.97, 1.01, 1.1]))
    study[0].append(
        row(
            table="prose",
            kind="published",
            configuration="office",
            transport="UDP",
            statistic="range_high",
            metric="delay",
            value=f"{wrong:.3f}",
            unit="ms",
        )
    )
    return f"{wrong:.3f}"


def plant_truncation(study: Study, rng: Rng) -> str:
    rows = study[0]
    means = {
        (r["configuration"], r["security"], r["transport"]): columns(rows)[
            r["table"], r["configuration"], r["security"], r["transport"], "throughput"
        ].mean()
        for r in rows
        if r["statistic"] == "mean" and r["label"] == "summary"
    }
    for r in rows:
        if r["metric"] == "overhead" and r["label"] == "summary":
            zero = means[r["configuration"], "open", r["transport"]]
            mean = means[r["configuration"], r["security"], r["transport"]]
            r["value"] = f"{np.floor(10_000 * (zero - mean) / zero) / 100:.2f}"
        elif r["metric"] == "overhead":
            r["value"] = ""
    study[0][:] = [r for r in rows if r["value"]]
    return ""


def plant_definition(study: Study, rng: Rng) -> str:
    study[1]["overhead"]["definition"] = "of_secured"
    return "of_secured"


def plant_copy(study: Study, rng: Rng) -> str:
    """Copy a column of readings to another table; half of the time alter one reading."""
    rows = study[0]
    keys = [k for k in columns(rows) if k[4] == "throughput"]
    a, b = (keys[int(i)] for i in rng.choice(len(keys), 2, replace=False))
    values = columns(rows)[a].copy()
    if rng.random() < 0.5:
        values[int(rng.integers(10))] += float(rng.choice([-100, 100, 10]))
    target = [r for r in rows if r["kind"] == "trial" and key_of(r) == b]
    for r, value in zip(target, values, strict=True):
        r["value"] = f"{value:.1f}"
    # The link is no longer plausible for a column of another link: judge the copy alone.
    summarise(rows)
    return "agree point by point"


def key_of(r: Row) -> tuple[str, str, str, str, str]:
    return (r["table"], r["configuration"], r["security"], r["transport"], r["metric"])


def plant_copied_figures(study: Study, rng: Rng) -> str:
    """Repeat two policies' totals and parts from their neighbours."""
    rows = study[0]
    picked = rng.choice(np.arange(1, 5), 2, replace=False)
    for i in picked:
        source = POLICIES[int(i) - 1]
        for client in ("A", "C", "total"):
            value = pick(rows, rng, table="9", security=source, client=client, statistic="mean")
            target = pick(
                rows, rng, table="9", security=POLICIES[int(i)], client=client, statistic="mean"
            )
            target["value"] = value["value"]
    return "same figure"


def plant_derived(study: Study, rng: Rng) -> str:
    for policy in POLICIES:
        delay = columns(study[0])["7", "office", policy, "UDP", "delay"]
        step = np.abs(np.diff(delay, prepend=0.0))
        target = [r for r in study[0] if r["table"] == "8" and r["security"] == policy]
        for r, value in zip(target, step, strict=True):
            r["value"] = f"{value:.3f}"
    return "successive values"


def plant_break(study: Study, rng: Rng) -> str:
    plant_derived(study, rng)
    r = pick(study[0], rng, table="8", security="wpa-tkip")
    r["value"] = f"{float(r['value']) + float(rng.uniform(0.05, 2)):.3f}"
    return r["value"]


def plant_clock(study: Study, rng: Rng) -> str:
    step = float(rng.uniform(1.0, 4.0))
    base = np.abs(rng.normal(6, 2, 10)) + 2 * step
    for policy in POLICIES:
        values = base + step * rng.integers(-1, 3, 10)
        target = [r for r in study[0] if r["table"] == "7" and r["security"] == policy]
        for r, value in zip(target, values, strict=True):
            r["value"] = f"{value:.3f}"
    return "multiples"


def plant_additive(study: Study, rng: Rng) -> str:
    names = ("8021x-md5", "8021x-tls", "ipsec", "8021x-md5+ipsec", "8021x-tls+ipsec")
    study[0][:] = [r for r in study[0] if r["metric"] not in ("authentication_time", "ratio")]
    step = round(float(rng.uniform(0.01, 0.1)), 3)
    again = round(float(rng.uniform(0.8, 1.6)), 3)
    for name in names:
        first = round(float(rng.uniform(0.4, 3.2)), 3)
        second = first + (step if "ipsec" in name else again)
        for configuration, value in (("home", first), ("away", second)):
            study[0].append(
                row(
                    table="II",
                    kind="published",
                    configuration=configuration,
                    security=name,
                    statistic="mean",
                    metric="authentication_time",
                    value=f"{value:.3f}",
                    unit="s",
                )
            )
    return "last digit"


def scale(study: Study, rng: Rng, factor: float) -> str:
    configuration = str(rng.choice(list(LINKS)))
    policy = str(rng.choice(POLICIES))
    for r in study[0]:
        if (
            r["kind"] == "trial"
            and r["configuration"] == configuration
            and r["security"] == policy
            and r["transport"] == "UDP"
            and r["metric"] == "throughput"
        ):
            r["value"] = f"{float(r['value']) * factor:.1f}"
    summarise(study[0])
    return configuration


def plant_ceiling(study: Study, rng: Rng) -> str:
    return scale(study, rng, float(rng.uniform(1.2, 1.6)))


def plant_floor(study: Study, rng: Rng) -> str:
    r = pick(study[0], rng, table="7")
    r["value"] = f"{rng.uniform(0.001, 0.03):.3f}"
    return r["value"]


def plant_over_load(study: Study, rng: Rng) -> str:
    load = float(rng.choice([1, 2, 5]))
    values = np.round(rng.normal(load * 0.9, load * 0.01, 10), 3)
    values[int(rng.integers(10))] = round(load * float(rng.uniform(1.01, 1.3)), 3)
    for policy in POLICIES:
        study[0].extend(readings(
            "6", "office", policy, "UDP", values + rng.normal(0, 0.0005, 10), 3, "Mbps",
            offered_mbps=f"{load:g}",
        ))  # fmt: skip
    return f"{load:g} Mb/s"


def plant_at_load(study: Study, rng: Rng) -> str:
    load = float(rng.choice([1, 2, 5]))
    for policy in POLICIES:
        values = load * (1 - np.abs(rng.normal(0, 0.001, 10)))
        study[0].extend(
            readings("6", "office", policy, "UDP", values, 4, "Mbps", offered_mbps=f"{load:g}")
        )
    study[1]["claim"].append(
        {
            "where": "3",
            "says": "security costs nothing",
            "kind": "no_difference",
            "select": {"metric": "throughput", "offered_mbps": f"{load:g}"},
            "each": ["transport"],
        }
    )
    return "offered load"


def plant_unsupported(study: Study, rng: Rng) -> str:
    """A secured column drawn like the open one, and noisy: its overhead is chance."""
    rows = study[0]
    configuration = str(rng.choice(list(LINKS)))
    open_column = next(
        v for k, v in columns(rows).items() if k[1:] == (configuration, "open", "UDP", "throughput")
    )
    values = np.round(rng.normal(open_column.mean(), open_column.std(ddof=1), 10), 1)
    target = [
        r
        for r in rows
        if r["kind"] == "trial"
        and (r["configuration"], r["security"], r["transport"]) == (configuration, "wep-40", "UDP")
        and r["metric"] == "throughput"
    ]
    for r, value in zip(target, values, strict=True):
        r["value"] = f"{value:.1f}"
    summarise(rows)
    return f"{configuration}, wep-40, UDP"


def plant_no_spread(study: Study, rng: Rng) -> str:
    study[0][:] = [r for r in study[0] if r["kind"] == "published" and r["statistic"] != "std"]
    return ""


def plant_outlier_rule(study: Study, rng: Rng) -> str:
    n = int(rng.integers(4, 12))
    study[1]["trials"] |= {
        "repetitions": n,
        "outlier": {"sigma": round((n - 1) / n**0.5 + 0.3, 1), "where": "4"},
    }
    return "at most"


def plant_outlier(study: Study, rng: Rng) -> str:
    study[1]["trials"] |= {"outlier": {"sigma": 5.0, "where": "4"}, "repetitions": 40}
    key = list(columns(study[0]))[int(rng.integers(8))]
    target = [r for r in study[0] if r["kind"] == "trial" and key_of(r) == key]
    index = int(rng.integers(5, 10))
    before = np.array([float(r["value"]) for r in target[:index]])
    value = before.mean() - rng.uniform(5.5, 9) * before.std(ddof=1)
    target[index]["value"] = f"{value:.1f}"
    summarise(study[0])
    return target[index]["value"]


def plant_selection(study: Study, rng: Rng) -> str:
    study[1]["trials"] |= {
        "repetitions": 20,
        "select": {"rule": "closest_to_mean", "keep": int(rng.integers(3, 12))},
    }
    return "closest"


def plant_conflict(study: Study, rng: Rng) -> str:
    r = pick(study[0], rng, metric="overhead", label="summary")
    other = dict(r) | {"table": "prose 4", "label": "", "value": r["value"]}
    misprint(other, rng)
    study[0].append(other)
    return other["value"]


def plant_claims(study: Study, rng: Rng) -> str:
    study[1]["claim"] += [
        {
            "where": place,
            "says": f"{who} costs least",
            "kind": "ranking",
            "metric": "overhead",
            "relation": "lowest",
            "subject": [who],
        }
        for place, who in (("5", "wep-40"), ("9", "wpa2-ccmp"))
    ]
    return "costs least"


def plant_false_claim(study: Study, rng: Rng) -> str:
    tiers = [["wpa-tkip"], ["wpa2-ccmp"], ["wep-104"], ["wep-40"]]
    i = int(rng.integers(3))
    tiers[i], tiers[i + 1] = tiers[i + 1], tiers[i]
    study[1]["claim"].append(
        {
            "where": "5",
            "says": "a clear order",
            "kind": "order",
            "select": {"metric": "overhead", "statistic": "overhead", "configuration": "hall"},
            "order": tiers,
            "each": ["configuration", "transport"],
        }
    )
    return "a clear order"


def plant_warm_up(study: Study, rng: Rng) -> str:
    study[1]["trials"] |= {"kind": "series", "discard_first": 2}
    factor = float(rng.uniform(1.1, 1.5))
    for policy in POLICIES:
        values = np.round(rng.normal(5, 0.02, 10), 3)
        values[0] *= factor
        study[0].extend(readings("6", "office", policy, "TCP", values, 3, "Mbps"))
    return "first point"


def plant_coarse(study: Study, rng: Rng) -> str:
    for policy in POLICIES:
        values = rng.integers(4, 6, 10)
        study[0].extend(
            readings("6", "office", policy, "", values, 0, "ms", metric="response_time")
        )
    return "steps of 1 ms"


def plant_sum(study: Study, rng: Rng) -> str:
    study[0][:] = [r for r in study[0] if r["metric"] not in ("authentication_time", "ratio")]
    parts = {p: round(float(rng.uniform(0.3, 2)), 3) for p in ("8021x-md5", "8021x-tls", "ipsec")}
    less = round(float(rng.uniform(0.02, 0.2)), 3)
    times_of = dict(parts)
    for name in ("8021x-md5", "8021x-tls"):
        times_of[f"{name}+ipsec"] = parts[name] + parts["ipsec"] - less
    for name, value in times_of.items():
        study[0].append(
            row(
                table="II",
                kind="published",
                configuration="home",
                security=name,
                statistic="mean",
                metric="authentication_time",
                value=f"{value:.3f}",
                unit="s",
            )
        )
    return "sum of its parts"


def plant_service(study: Study, rng: Rng) -> str:
    names = ("authentication", "confidentiality", "data_integrity", "non_repudiation")
    right = {"open": ("no",) * 4, "wpa2-ccmp": ("yes", "yes", "yes", "no")}
    table = [
        {"label": f"S{i}", "policy": p, "security": p}
        | dict(zip(names, values, strict=True))
        | {"mutual_authentication": "yes" if p != "open" else "no"}
        for i, (p, values) in enumerate(right.items())
    ]
    wrong = table[int(rng.integers(2))]
    service = str(rng.choice(names))
    wrong[service] = "no" if wrong[service] == "yes" else "yes"
    study[1]["policies"] = pl.DataFrame(table)
    return service.replace("_", " ")


def plant_cause(study: Study, rng: Rng) -> str:
    study[1]["claim"].append(
        {
            "where": "6",
            "says": "its octets explain the loss",
            "kind": "octets_explain",
            "octets": int(rng.integers(1, 20)),
            "packet_octets": 1500,
            "select": {"metric": "overhead", "security": "wpa-tkip", "configuration": "hall"},
        }
    )
    return "at most"


def plant_standard(study: Study, rng: Rng) -> str:
    study[1]["claim"].append(
        {
            "where": "6",
            "says": "a longer key",
            "kind": "standard",
            "item": "temporal_key_bits",
            "policy": "wpa2-psk-ccmp",
            "printed": int(rng.choice([40, 104, 192, 256, 512])),
        }
    )
    return "a longer key"


PLANTS: dict[str, tuple[str, Callable[[Study, Rng], str]]] = {
    "mean": ("mean_mismatch", plant_mean),
    "deviation": ("deviation_mismatch", plant_deviation),
    "total": ("total_mismatch", plant_total),
    "percentage": ("percentage_mismatch", plant_percentage),
    "ratio": ("ratio_mismatch", plant_ratio),
    "range": ("range_mismatch", plant_range),
    "cut-off rounding": ("truncated_rounding", plant_truncation),
    "definition": ("definition_mismatch", plant_definition),
    "copied column": ("copied_column", plant_copy),
    "copied figures": ("copied_column", plant_copied_figures),
    "derived series": ("derived_series", plant_derived),
    "series break": ("series_break", plant_break),
    "clock step": ("clock_step", plant_clock),
    "additive table": ("additive_table", plant_additive),
    "added-up composition": ("additive_table", plant_sum),
    "warm-up left in": ("warm_up_left_in", plant_warm_up),
    "coarse resolution": ("coarse_resolution", plant_coarse),
    "above the PHY ceiling": ("above_phy_ceiling", plant_ceiling),
    "below the PHY floor": ("below_phy_floor", plant_floor),
    "above the offered load": ("above_offered_load", plant_over_load),
    "at the offered load": ("at_offered_load", plant_at_load),
    "unsupported difference": ("unsupported_difference", plant_unsupported),
    "no spread": ("no_spread", plant_no_spread),
    "outlier rule that cannot fire": ("outlier_rule_cannot_fire", plant_outlier_rule),
    "outlier rule not applied": ("outlier_rule_not_applied", plant_outlier),
    "selection rule": ("selection_hides_spread", plant_selection),
    "figure printed twice": ("conflicting_figures", plant_conflict),
    "exclusive claims": ("conflicting_claims", plant_claims),
    "false claim": ("claim_contradicted", plant_false_claim),
    "service": ("service_mismatch", plant_service),
    "cause too small": ("cause_too_small", plant_cause),
    "standard": ("standard_mismatch", plant_standard),
}


def is_it(finding: Finding, kind: str, names: str) -> bool:
    text = " ".join((finding.where, finding.printed, finding.recomputed, finding.evidence))
    return finding.kind == kind and names in text


def rates(repetitions: int, seed: int) -> dict[str, Any]:
    """Detection rate per kind, and false alarms in clean sets."""
    rng = np.random.default_rng(seed)
    result: dict[str, Any] = {"repetitions": repetitions, "seed": seed, "detected": {}}
    for name, (kind, plant) in PLANTS.items():
        hits = 0
        for _ in range(repetitions):
            study = copy.deepcopy(clean(rng))
            wanted = plant(study, rng)
            hits += any(is_it(f, kind, wanted) for f in audit(dataset(study)))
        result["detected"][name] = {"kind": kind, "of": repetitions, "found": hits}
    alarms: dict[str, int] = {}
    sets = repetitions * 5
    alarmed = 0
    for _ in range(sets):
        found = audit(dataset(clean(rng)))
        alarmed += bool(found)
        for f in found:
            alarms[f.kind] = alarms.get(f.kind, 0) + 1
    result["clean"] = {"sets": sets, "sets_with_a_finding": alarmed, "findings": alarms}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, help="page whose table of rates is replaced")
    args = parser.parse_args()
    result = rates(args.repetitions, args.seed)
    text = json.dumps(result, indent=2)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text + "\n")
    if args.page:
        page = args.page.read_text()
        head, _, rest = page.partition(START)
        args.page.write_text(head + START + table(result) + END + rest.partition(END)[2])
    print(text)


START, END = "<!-- rates -->\n", "<!-- end of rates -->\n"


def table(result: dict[str, Any]) -> str:
    """The rates as a Markdown table, with the false alarms below."""
    lines = ["| planted | kind | found |", "|---|---|---|"]
    for name, entry in result["detected"].items():
        lines.append(f"| {name} | `{entry['kind']}` | {entry['found']} of {entry['of']} |")
    none = result["clean"]
    lines += [
        "",
        f"False alarms: {none['sets_with_a_finding']} of {none['sets']} clean sets had any finding "
        f"(seed {result['seed']}).",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
