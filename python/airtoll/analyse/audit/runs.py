"""Audit of a run: the rules that apply to observations instead of printed figures.

The tables of a run and its study give findings. Repetitions of a deterministic testbed (constant
metrics, a load that is always met) are no finding.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl

from airtoll.analyse.audit.finding import Finding, ordered, shown
from airtoll.analyse.audit.limits import severity_above
from airtoll.analyse.ceiling import burst_ceiling_bps, ceiling_bps
from airtoll.analyse.estimate import Array
from airtoll.errors import PolicyError
from airtoll.observe.tables import counted
from airtoll.policies import resolve
from airtoll.study import Study
from airtoll.study.generations import HIGHEST_MBPS

#: Metrics of which two cells cannot give the same readings by nature.
_MEASURED: Final = (
    "throughput_bps",
    "delay_s",
    "jitter_s",
    "response_time_s",
    "transfer_delay_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
)
_DERIVABLE: Final = (("jitter_s", "delay_s"), ("response_time_s", "delay_s"))
_TOLERANCE: Final = 0.01


def audit_run(
    name: str, observations: pl.DataFrame, trials: pl.DataFrame, study: Study | None = None
) -> list[Finding]:
    """Findings of a run, gravest first. Only trials with status ``ok`` are looked at."""
    whole = counted(observations, trials)
    if whole["second"].null_count() < whole.height:  # no copy of a large table otherwise
        whole = whole.filter(pl.col("second").is_null())
    return ordered(
        _copied(name, whole)
        + _derived(name, whole)
        + _load(name, whole, study)
        + (_ceilings(name, whole, study) + _conservation(name, whole, study) if study else [])
    )


def _copied(name: str, rows: pl.DataFrame) -> list[Finding]:
    keys = ["metric", "cell", "flow", "station"]
    columns = (
        rows.filter(pl.col("metric").is_in(_MEASURED))
        .sort(*keys, "trial", nulls_last=False)
        .group_by(keys, maintain_order=True)
        .agg("value", "seed")
        .filter((pl.col("value").list.len() >= 5) & (pl.col("value").list.n_unique() >= 4))
    )
    if columns.is_empty():
        return []
    same = (
        columns.with_columns(
            text=pl.col("value").list.eval(pl.element().cast(pl.String)).list.join(" ")
        )
        .group_by("metric", "flow", "station", "text", maintain_order=True)
        .agg("cell", "seed")
        .filter(pl.col("cell").list.len() > 1)
    )
    found = []
    for row in same.iter_rows(named=True):
        # Cells that share their seeds may agree: they are one experiment.
        if len({tuple(seeds) for seeds in row["seed"]}) < len(row["cell"]):
            continue
        found.append(
            Finding(
                name,
                row["metric"],
                "; ".join(row["cell"]),
                "copied_column",
                f"{len(row['cell'])} columns",
                "1 column",
                "error",
                f"{len(row['seed'][0])} readings are the same to the last bit in "
                f"{len(row['cell'])} cells with different seeds",
            )
        )
    return found


def _derived(name: str, rows: pl.DataFrame) -> list[Finding]:
    found = []
    for image, origin in _DERIVABLE:
        keys = ["cell", "flow", "station", "trial", "attempt"]
        pair = (
            rows.filter(metric=image)
            .select(*keys, y="value")
            .join(rows.filter(metric=origin).select(*keys, x="value"), on=keys, nulls_equal=True)
        )
        for key, group in pair.group_by(["cell", "flow", "station"], maintain_order=True):
            x, y = group["x"].to_numpy(), group["y"].to_numpy()
            if x.size < 5 or np.unique(y).size < 4:
                continue
            for words, expected in _images(x, y):
                if float(np.mean(np.isclose(expected, y, rtol=1e-9, atol=0))) >= 0.8:
                    found.append(
                        Finding(
                            name,
                            image,
                            str(key[0]),
                            "derived_series",
                            image,
                            words.format(origin),
                            "warning",
                            f"{image} is {words.format(origin)} in at least 4 of 5 trials",
                        )
                    )
                    break
    return found


def _images(x: Array, y: Array) -> list[tuple[str, Array]]:
    images: list[tuple[str, Array]] = [("{} itself", x)]
    if np.all(x != 0):
        images.append(("{} times a constant", x * float(np.median(y / x))))
    return images


def _conservation(name: str, rows: pl.DataFrame, study: Study) -> list[Finding]:
    # TCP counts segments, of which some are sent twice: only datagrams are conserved.
    udp = [key for key, traffic in study.traffic.items() if traffic.transport == "udp"]
    rows = rows.filter(pl.col("traffic").is_in(udp))
    parts = ("packets_sent", "packets_received", "packets_lost", "packets_queued")
    keys = ["cell", "trial", "attempt", "flow", "station"]
    wide = rows.filter(pl.col("metric").is_in(parts))
    if wide.is_empty():
        return []
    sums = wide.group_by(keys).agg(
        [pl.col("value").filter(pl.col("metric") == part).sum().alias(part) for part in parts]
        + [pl.col("metric").n_unique().alias("parts")]
    )
    wrong = sums.filter(
        (pl.col("parts") == 4)
        & (
            (
                pl.col("packets_sent")
                - pl.col("packets_received")
                - pl.col("packets_lost")
                - pl.col("packets_queued")
            ).abs()
            > 0.5
        )
    ).sort("cell", "trial")
    found = []
    for cell, group in wrong.group_by("cell", maintain_order=True):
        row = group.row(0, named=True)
        total = row["packets_received"] + row["packets_lost"] + row["packets_queued"]
        found.append(
            Finding(
                name,
                "packets_sent",
                f"{cell[0]}, trial {row['trial']}",
                "conservation",
                shown(row["packets_sent"]),
                shown(total),
                "error",
                f"sent is not received + lost + queued in {group.height} rows of this cell",
            )
        )
    return found


def _load(name: str, rows: pl.DataFrame, study: Study | None) -> list[Finding]:
    if study is not None:
        # A transfer of so many octets offers them over its own time, not over the trial's.
        steady = [
            key
            for key, traffic in study.traffic.items()
            if traffic.offered_mbps is not None and traffic.transfer_bytes is None
        ]
        rows = rows.filter(pl.col("traffic").is_in(steady))
    keys = ["cell", "trial", "attempt", "flow", "station"]
    pair = (
        rows.filter(metric="throughput_bps")
        .select(*keys, got="value")
        .join(
            rows.filter(metric="offered_bps").select(*keys, offered="value"),
            on=keys,
            nulls_equal=True,
        )
        .filter(pl.col("got") > pl.col("offered") * (1 + _TOLERANCE))
        .sort("cell", "trial")
    )
    return [
        Finding(
            name,
            "throughput_bps",
            f"{cell[0]}, trial {group['trial'][0]}",
            "above_offered_load",
            f"{shown(group['got'][0] / 1e6, 3)} Mb/s",
            f"{shown(group['offered'][0] / 1e6, 3)} Mb/s",
            "error",
            f"more is received than offered in {group.height} trials",
        )
        for cell, group in pair.group_by("cell", maintain_order=True)
    ]


def _ceilings(name: str, rows: pl.DataFrame, study: Study) -> list[Finding]:
    keys = ["cell", "scenario", "policy", "traffic", "factors"]
    totals = rows.filter(
        (pl.col("metric") == "throughput_bps")
        & pl.col("flow").is_null()
        & pl.col("station").is_null()
        & (pl.col("factors") == "{}")  # a factor may change the link: nothing is said of it
    )
    found = []
    for key, group in totals.group_by(keys, maintain_order=True):
        cell, scenario_name, policy_name, traffic_name, _factors = (str(part) for part in key)
        scenario = study.scenario.get(scenario_name)
        traffic = study.traffic.get(traffic_name)
        if scenario is None or traffic is None:
            continue
        own = any(
            s.rate_mbps or s.phy or s.policy or s.frame_bursting_us for s in scenario.stations
        )
        bursts = scenario.frame_bursting_us or scenario.ap.frame_bursting_us
        if scenario.phy not in HIGHEST_MBPS or bursts or own:
            continue
        if scenario.cw_min is not None or scenario.edca or scenario.basic_rates_mbps:
            continue
        if scenario.slot_time_us or traffic.beside or traffic.direction == "both":
            continue
        senders = (scenario.clients or len(scenario.stations)) + 1
        link = {
            "phy": scenario.phy,
            "rate_mbps": scenario.rate_mbps or HIGHEST_MBPS[scenario.phy],
            "preamble": scenario.preamble or "short",
            "hops": 2 if scenario.topology == "station-to-station" else 1,
            "addresses": 4 if scenario.four_addresses else 3,
            "senders": senders,
        }
        bound = ceiling_bps(link, _octets(policy_name), traffic.payload_bytes)
        most = burst_ceiling_bps(link, _octets(policy_name), traffic.payload_bytes)
        mean = float(group["value"].mean())  # type: ignore[arg-type]
        if mean > bound * (1 + _TOLERANCE):
            found.append(
                Finding(
                    name,
                    "throughput_bps",
                    cell,
                    "above_phy_ceiling",
                    f"{shown(mean / 1e6, 3)} Mb/s",
                    f"{shown(bound / 1e6, 3)} Mb/s",
                    severity_above(mean, bound, most),
                    f"the mean of {group.height} trials is above what {scenario.phy} at "
                    f"{link['rate_mbps']:g} Mb/s carries",
                )
            )
    return found


def _octets(name: str) -> int:
    try:
        policy = resolve(name)
    except PolicyError:
        return 0
    return policy.octets_per_mpdu + policy.octets_per_msdu
