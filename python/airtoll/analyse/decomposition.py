"""Why, not only how much: what an overhead is made of.

Takes observations with the airtime ledger (``airtime_*_s`` of the whole cell, ``throughput_bps``);
gives, per secured cell, how much each part of the ledger adds to the time that one delivered bit
takes. Never explains what the ledger does not show: the rest is a row of its own.

A bit takes 1 / T seconds, and the ledger says on what: part i takes a_i / (T D) of a trial of
D seconds. Hence (T1 - T2) / T2 = sum over i of (t_i2 - t_i1) T1: the parts of ``of_secured``
add up exactly, and times T2 / T1 they are the parts of ``of_baseline``.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import polars as pl
from scipy import stats

from airtoll.analyse.overhead import Definition
from airtoll.errors import UsageError

#: ledger metric -> what a change of it means when security is switched on
PARTS: Final[dict[str, str]] = {
    "airtime_security_s": "octets that security adds to data frames",
    "airtime_payload_s": "payload at another PHY rate (modes that the policy forbids)",
    "airtime_ip_transport_s": "IP and transport headers: more or other packets (MTU, fragments)",
    "airtime_mac_phy_s": "preambles and MAC headers: more frames per bit",
    "airtime_ack_s": "acknowledgements",
    "airtime_contention_s": "waiting for the medium",
    "airtime_retry_s": "retries and collisions",
    "airtime_protection_s": "RTS and CTS",
    "airtime_management_s": "authentication, key handshakes and other management",
    "airtime_idle_s": "idle air: ciphers and hosts that the air does not hide",
}
REMAINDER: Final = "unexplained"

_CELL: Final = ["cell", "scenario", "policy", "traffic", "factors"]
_SAME: Final = ["scenario", "traffic", "factors"]


def decompose(
    observations: pl.DataFrame,
    trials: pl.DataFrame | None = None,
    *,
    baseline: str = "open",
    definition: Definition = "of_secured",
    level: float = 0.95,
) -> pl.DataFrame:
    """Rows: cell columns, ``part``, ``meaning``, ``value`` (fraction), ``low``, ``high``, ``n``.

    The parts of a cell and its ``unexplained`` row add up to the overhead of its mean times per
    bit. Cells without a ledger, without a baseline or without throughput are left out.
    Intervals are Welch's on the difference, at ``level``; NaN with a single trial.
    """
    if definition not in ("of_secured", "of_baseline"):
        raise UsageError("only of_secured and of_baseline can be taken apart")
    rows = observations.filter(
        pl.col("second").is_null() & pl.col("flow").is_null() & pl.col("station").is_null()
    )
    if trials is not None and not trials.is_empty():
        good = trials.filter(pl.col("status") == "ok").select("cell", "trial", "attempt").unique()
        rows = rows.join(good, on=["cell", "trial", "attempt"], how="semi")
    times = _times_per_bit(rows)
    means = times.group_by([*_CELL, "part"]).agg(
        mean=pl.col("time").mean(), deviation=pl.col("time").std(ddof=1), n=pl.len()
    )
    zero = means.filter(policy=baseline).select(
        [*_SAME, "part", *(pl.col(c).alias(f"{c}_0") for c in ("mean", "deviation", "n"))]
    )
    pairs = means.filter(pl.col("policy") != baseline).join(zero, on=[*_SAME, "part"], how="inner")
    if pairs.is_empty():
        return _empty()
    totals = pairs.filter(part="total").select("cell", t2="mean", t1="mean_0")
    frame = pairs.join(totals, on="cell").with_columns(
        scale=1 / pl.col("t1" if definition == "of_secured" else "t2")
    )
    frame = frame.with_columns(value=(pl.col("mean") - pl.col("mean_0")) * pl.col("scale"))
    frame = _intervals(frame, level)
    parts = frame.filter(pl.col("part") != "total")
    known = parts.group_by("cell").agg(known=pl.col("value").sum())
    rest = (
        frame.filter(part="total")
        .join(known, on="cell")
        .with_columns(
            value=pl.col("value") - pl.col("known"),
            part=pl.lit(REMAINDER),
            low=pl.lit(float("nan")),
            high=pl.lit(float("nan")),
        )
    )
    columns = [*_CELL, "part", "value", "low", "high", "n"]
    order = {name: index for index, name in enumerate([*PARTS, REMAINDER])}
    return (
        pl.concat([parts.select(columns), rest.select(columns)])
        .with_columns(
            meaning=pl.col("part").replace_strict(
                PARTS | {REMAINDER: "what the ledger does not show"}, default=""
            ),
            place=pl.col("part").replace_strict(order, default=99),
        )
        .sort([*_CELL, "place"])
        .select([*_CELL, "part", "meaning", "value", "low", "high", "n"])
    )


def _times_per_bit(rows: pl.DataFrame) -> pl.DataFrame:
    """Seconds per delivered bit and trial, for each ledger part and in all (part ``total``)."""
    keys = [*_CELL, "trial", "attempt"]
    speed = rows.filter((pl.col("metric") == "throughput_bps") & (pl.col("value") > 0)).select(
        *keys, speed="value"
    )
    ledger = rows.filter(pl.col("metric").is_in(list(PARTS))).select(
        *keys, part="metric", airtime="value"
    )
    length = ledger.group_by(keys).agg(length=pl.col("airtime").sum())
    # A part that a cell's ledger lacks took no time there.
    every = length.select(keys).join(ledger.select("part").unique(), how="cross")
    ledger = every.join(ledger, on=[*keys, "part"], how="left").with_columns(
        pl.col("airtime").fill_null(0.0)
    )
    parts = (
        ledger.join(speed, on=keys)
        .join(length, on=keys)
        .with_columns(time=pl.col("airtime") / (pl.col("length") * pl.col("speed")))
        .select(*_CELL, "part", "time")
    )
    total = (
        speed.join(length, on=keys)
        .with_columns(part=pl.lit("total"), time=1 / pl.col("speed"))
        .select(*_CELL, "part", "time")
    )
    return pl.concat([parts, total])


def _intervals(frame: pl.DataFrame, level: float) -> pl.DataFrame:
    na = frame["n"].to_numpy().astype(np.float64)
    nb = frame["n_0"].to_numpy().astype(np.float64)
    va = frame["deviation"].fill_null(float("nan")).to_numpy() ** 2 / na
    vb = frame["deviation_0"].fill_null(float("nan")).to_numpy() ** 2 / nb
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = (va + vb) ** 2 / (va**2 / (na - 1) + vb**2 / (nb - 1))
        half = stats.t.ppf((1 + level) / 2, degrees) * np.sqrt(va + vb)
    half = np.where(va + vb == 0, 0.0, half) * frame["scale"].to_numpy()
    value = frame["value"].to_numpy()
    return frame.with_columns(low=pl.Series(value - half), high=pl.Series(value + half))


def _empty() -> pl.DataFrame:
    text = dict.fromkeys([*_CELL, "part", "meaning"], pl.String())
    numbers = dict.fromkeys(["value", "low", "high"], pl.Float64())
    return pl.DataFrame(schema={**text, **numbers, "n": pl.UInt32()})
