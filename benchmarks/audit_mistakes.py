"""Mistakes to plant in a clean data set, one function per kind.

Takes a study and a random generator; changes the study in place and gives what a finding must
name. Never plants more than one mistake.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import polars as pl
from audit_clean import (
    LINKS,
    POLICIES,
    Rng,
    Row,
    Study,
    columns,
    readings,
    row,
    summarise,
)


def pick(rows: list[Row], rng: Rng, **wanted: str) -> Row:
    hits = [r for r in rows if all(r[k] == v for k, v in wanted.items())]
    return hits[int(rng.integers(len(hits)))]


def misprint(r: Row, rng: Rng) -> None:
    """Change one digit by at least two of the last place, like a slip of the pen."""
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
    r = pick(study[0], rng, statistic="std", label="summary")
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
    index = int(rng.integers(10))
    others = np.array([float(r["value"]) for i, r in enumerate(target) if i != index])
    value = others.mean() - rng.uniform(9, 15) * others.std(ddof=1)
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


def plant_lone_outlier(study: Study, rng: Rng) -> str:
    """A reading a tenth off, as a slip in the first digits makes it."""
    key = list(columns(study[0]))[int(rng.integers(8))]
    target = [r for r in study[0] if r["kind"] == "trial" and key_of(r) == key]
    r = target[int(rng.integers(10))]
    r["value"] = f"{float(r['value']) * (1 + rng.choice([-1, 1]) * rng.uniform(0.1, 0.2)):.1f}"
    summarise(study[0])
    return r["value"]


def plant_impossible_mean(study: Study, rng: Rng) -> str:
    """A mean off by up to half a millisecond: a reading left out, or a slip of the pen."""
    r = pick(study[0], rng, metric="response_time", statistic="mean")
    r["value"] = f"{float(r['value']) + rng.uniform(0.002, 0.5):.3f}"
    return r["value"]


def plant_impossible_deviation(study: Study, rng: Rng) -> str:
    """A deviation off by up to half a millisecond."""
    r = pick(study[0], rng, metric="response_time", statistic="std")
    r["value"] = f"{float(r['value']) + rng.uniform(0.002, 0.5):.3f}"
    return r["value"]


def plant_key_bits(study: Study, rng: Rng) -> str:
    place, transport = rng.choice(list(LINKS)), rng.choice(["UDP", "TCP"])
    factor = rng.uniform(1.04, 1.08)
    for r in study[0]:
        own = (r["kind"], r["configuration"], r["transport"], r["security"], r["metric"])
        if own == ("trial", place, transport, "wep-104", "throughput"):
            r["value"] = f"{float(r['value']) * factor:.1f}"
    summarise(study[0])
    return "wep-104"


def plant_more_clients(study: Study, rng: Rng) -> str:
    """A single station that is slower than each of two on the same link."""
    factor = rng.uniform(0.28, 0.33)
    for r in study[0]:
        own = (r["kind"], r["configuration"], r["transport"], r["metric"])
        if own == ("trial", "office", "TCP", "throughput"):
            r["value"] = f"{float(r['value']) * factor:.1f}"
    summarise(study[0])
    return "each of 2 stations"


def plant_count(study: Study, rng: Rng) -> str:
    study[1]["count"][0]["printed"] = int(rng.choice([3, 4, 6, 7]))
    return "five security levels"


def plant_missing_reading(study: Study, rng: Rng) -> str:
    key = list(columns(study[0]))[int(rng.integers(8))]
    target = [r for r in study[0] if r["kind"] == "trial" and key_of(r) == key]
    study[0].remove(target[int(rng.integers(10))])
    summarise(study[0])
    return "9 readings"


def plant_hidden_part(study: Study, rng: Rng) -> str:
    """All cells are sums of a few times; away from home one has a part that it does not name."""
    shared, step = (int(rng.integers(20, 400)) for _ in range(2))
    own = {name: int(rng.integers(500, 3_000)) for name in ("8021x-md5", "8021x-tls", "ipsec")}
    sums = {**own, **{f"{name}+ipsec": own[name] + own["ipsec"] for name in own if name != "ipsec"}}
    hiding = str(rng.choice(["8021x-md5", "8021x-tls"]))
    for place, more in (("home", 0), ("away", step)):
        for policy, value in sums.items():
            hidden = own["ipsec"] if (place, policy) == ("away", hiding) else 0
            study[0].append(
                row(
                    table="9",
                    kind="published",
                    configuration=place,
                    security=policy,
                    statistic="mean",
                    metric="authentication_time",
                    value=f"{(shared + more + value + hidden) / 1000:.3f}",
                    unit="s",
                )
            )
    return f"{hiding} names no ipsec"


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
    "outlier without a rule": ("outlier", plant_lone_outlier),
    "mean of whole steps": ("mean_impossible", plant_impossible_mean),
    "deviation of whole steps": ("deviation_impossible", plant_impossible_deviation),
    "more key bits, faster": ("order_reversed", plant_key_bits),
    "more clients, more each": ("order_reversed", plant_more_clients),
    "announced number": ("count_mismatch", plant_count),
    "reading left out": ("count_mismatch", plant_missing_reading),
    "outlier rule that cannot fire": ("outlier_rule_cannot_fire", plant_outlier_rule),
    "outlier rule not applied": ("outlier_rule_not_applied", plant_outlier),
    "selection rule": ("selection_hides_spread", plant_selection),
    "figure printed twice": ("conflicting_figures", plant_conflict),
    "exclusive claims": ("conflicting_claims", plant_claims),
    "false claim": ("claim_contradicted", plant_false_claim),
    "service": ("service_mismatch", plant_service),
    "cause too small": ("cause_too_small", plant_cause),
    "standard": ("standard_mismatch", plant_standard),
    "part left out of a name": ("hidden_part", plant_hidden_part),
}
