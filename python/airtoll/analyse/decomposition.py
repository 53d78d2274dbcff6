"""The parts of an overhead.

Observations with a ledger of the air (``airtime_*_s`` of the whole cell), throughputs, and the
measured length of each trial give, per secured cell, the time that each part of the ledger adds to
one delivered bit. Time that the ledger does not show is a row of its own, computed from the trial's
length and throughput.

A trial of D seconds delivers B = T D bits, a bit takes 1 / T seconds, and part i of the ledger
takes a_i / B of them. Hence (T1 - T2) / T2 = T1 (1 / T2 - 1 / T1), and part i has the share
T1 (a_i2 / B2 - a_i1 / B1) of it: ``of_secured``; times T2 / T1 the shares of ``of_baseline``. The
rest of the overhead is unexplained. With several channels the ledger is their mean. Of a
finite transfer only the time until its end counts, since its throughput does so too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
import polars as pl

from airtoll.analyse.batches import by_cells
from airtoll.analyse.contrast import Contrast
from airtoll.analyse.estimate import DETERMINISTIC, EQUAL, ROUNDING
from airtoll.analyse.overhead import Definition
from airtoll.analyse.student import t_quantile
from airtoll.errors import UsageError
from airtoll.observe.tables import has_no_chance

#: ledger metric -> what a change of it means when security is switched on
PARTS: Final[dict[str, str]] = {
    "airtime_security_s": "octets that security adds to data frames",
    "airtime_payload_s": "payload at another PHY rate (modes that the policy forbids)",
    "airtime_ip_transport_s": "IP and transport headers: more or other packets (MTU, fragments)",
    "airtime_mac_phy_s": "preambles and MAC headers: more frames per bit",
    "airtime_ack_s": "acknowledgements",
    "airtime_contention_s": "waiting for the medium",
    "airtime_card_s": "waiting for the card: it prepares the next frame while the air is idle",
    "airtime_interference_s": "waiting for an interferer that makes the medium busy",
    "airtime_neighbours_s": "frames of neighbours while the cell waits",
    "airtime_retry_s": "retries and collisions",
    "airtime_protection_s": "RTS and CTS",
    "airtime_management_s": "authentication, key handshakes and other management",
    "crypto_exposed_s": "crypto time that the air does not hide: it stands idle meanwhile",
    "airtime_idle_s": "idle air otherwise: hosts, wires, the application",
}
#: The parts that add up to the time of the air; ``crypto_exposed_s`` is a part of the idle time.
_WHOLE: Final = tuple(name for name in PARTS if name.startswith("airtime_"))
REMAINDER: Final = "unexplained"

_CELL: Final = ["cell", "scenario", "policy", "traffic", "factors"]


def decompose(
    observations: pl.DataFrame,
    spans: Mapping[str, float],
    trials: pl.DataFrame | None = None,
    *,
    baseline: str = "open",
    contrast: Contrast | None = None,
    definition: Definition = "of_secured",
    level: float = 0.95,
    testbed: str | None = None,
) -> pl.DataFrame:
    """Rows: cell columns, part, meaning, value (fraction), low, high, n, method.

    ``spans``: cell -> seconds over which its trials were measured (without the warm-up). The
    parts of a cell and its ``unexplained`` row add up to the overhead of its mean times per bit.
    ``contrast``: what is compared with what; None: policies with ``baseline``. ``testbed``: see
    :func:`airtoll.analyse.analyse`.
    Cells without a ledger, a span, a baseline or a throughput are left out. Intervals are Welch's
    on the difference, at ``level``. The ends are NaN where the trials of a cell are equal (the
    method says so; a part that is zero in all trials is known), where a cell has a single trial,
    and for ``unexplained``.
    """
    if definition not in ("of_secured", "of_baseline"):
        raise UsageError("only of_secured and of_baseline can be taken apart")
    every = pl.concat(_ledger(_counted(batch, trials)) for batch in by_cells(observations))
    known = every["metric"].unique()
    means = pl.concat(
        _means(_counted(batch, trials), spans, known) for batch in by_cells(observations)
    )
    fixed = has_no_chance(observations, testbed)
    contrast = contrast or Contrast("policy", baseline)
    zero, secured = contrast.split(means)
    statistics = (pl.col(c).alias(f"{c}_0") for c in ("mean", "deviation", "n"))
    zero = zero.select([*contrast.same, "part", *statistics])
    del means
    batches = [
        _taken_apart(pairs, definition, level, fixed=fixed)
        for batch in by_cells(secured)
        if not (pairs := batch.join(zero, on=[*contrast.same, "part"], how="inner")).is_empty()
    ]
    return pl.concat(batches) if batches else _empty()


def _taken_apart(
    pairs: pl.DataFrame, definition: Definition, level: float, *, fixed: bool
) -> pl.DataFrame:
    """The rows of some secured cells; ``pairs`` has their times per bit and their references'."""
    totals = pairs.filter(part="total").select("cell", t2="mean", t1="mean_0")
    frame = pairs.join(totals, on="cell").with_columns(
        scale=1 / pl.col("t1" if definition == "of_secured" else "t2")
    )
    frame = frame.with_columns(value=(pl.col("mean") - pl.col("mean_0")) * pl.col("scale"))
    frame = _intervals(frame, level, fixed=fixed)
    parts = frame.filter(pl.col("part") != "total")
    known = parts.sort("cell", "part").group_by("cell").agg(known=pl.col("value").sum())
    rest = (
        frame.filter(part="total")
        .join(known, on="cell")
        .with_columns(
            value=pl.col("value") - pl.col("known"),
            part=pl.lit(REMAINDER, parts.schema["part"]),
            low=pl.lit(float("nan")),
            high=pl.lit(float("nan")),
            method=pl.lit("rest"),
        )
    )
    columns = [*_CELL, "part", "value", "low", "high", "n", "method"]
    order = {name: index for index, name in enumerate([*PARTS, REMAINDER])}
    return (
        pl.concat([parts.select(columns), rest.select(columns)])
        .with_columns(
            meaning=pl.col("part").replace_strict(
                PARTS | {REMAINDER: "what the ledger does not show"},
                default="",
                return_dtype=pl.String,
            ),
            place=pl.col("part").replace_strict(order, default=99),
        )
        .sort([*_CELL, "place"])
        .select([*_CELL, "part", "meaning", "value", "low", "high", "n", "method"])
    )


def _ledger(rows: pl.DataFrame) -> pl.DataFrame:
    """The metrics of the ledger that the cells have."""
    wanted = pl.col("flow").is_null() & pl.col("metric").is_in(list(PARTS))
    return rows.filter(wanted).select("metric").unique()


def _means(rows: pl.DataFrame, spans: Mapping[str, float], known: pl.Series) -> pl.DataFrame:
    """Mean, deviation and number of the times per bit of each cell and part."""
    times = _times_per_bit(rows, spans, known)
    spread = pl.col("time").max() - pl.col("time").min()
    # Rounding of equal readings is no spread.
    equal = (spread <= ROUNDING * pl.col("time").abs().max()) & (pl.len() > 1)
    return times.group_by([*_CELL, "part"]).agg(
        mean=pl.col("time").mean(),
        deviation=pl.when(equal).then(0.0).otherwise(pl.col("time").std(ddof=1)),
        n=pl.len(),
    )


def crypto_time(
    observations: pl.DataFrame, spans: Mapping[str, float], trials: pl.DataFrame | None = None
) -> pl.DataFrame:
    """Rows: cell columns, ``work``, ``exposed``, ``hidden`` (s per s of trial), ``n``.

    ``work``: time that cipher operations took on all engines; ``exposed``: idle air during which
    one was under way; ``hidden``: the rest, done while the air was busy or beside another one.
    A trial with finite transfers lasts until the last of them has ended, not to its limit. Means
    over trials; cells whose testbed does not say are left out.
    """
    rows = _counted(observations, trials)
    keys = [*_CELL, "trial", "attempt"]
    work = rows.filter(metric="crypto_time_s").select(*keys, work="value")
    exposed = rows.filter(metric="crypto_exposed_s").select(*keys, exposed="value")
    return (
        work.join(exposed, on=keys)
        .join(_lengths(spans, rows.schema["cell"]), on="cell")
        .join(_transfers(rows.filter(pl.col("flow").is_not_null())), on=keys, how="left")
        .with_columns(span=pl.coalesce("ended", "span"))
        .group_by(_CELL)
        .agg(
            work=(pl.col("work") / pl.col("span")).mean(),
            exposed=(pl.col("exposed") / pl.col("span")).mean(),
            n=pl.len(),
        )
        .with_columns(hidden=pl.col("work") - pl.col("exposed"))
        .sort(_CELL)
        .select([*_CELL, "work", "exposed", "hidden", "n"])
    )


def _counted(observations: pl.DataFrame, trials: pl.DataFrame | None) -> pl.DataFrame:
    """Values of whole trials that count; of single flows only the ends of their transfers."""
    whole = pl.col("flow").is_null() & pl.col("station").is_null()
    ends = pl.col("metric").is_in(["transfer_delay_s", "throughput_bps"])
    rows = observations.filter(
        pl.col("second").is_null() & (whole | (ends & pl.col("flow").is_not_null()))
    )
    if trials is None or trials.is_empty():
        return rows
    good = trials.filter(pl.col("status") == "ok").select("cell", "trial", "attempt").unique()
    return rows.join(good, on=["cell", "trial", "attempt"], how="semi")


def _lengths(spans: Mapping[str, float], text: pl.DataType) -> pl.DataFrame:
    return pl.DataFrame(
        {"cell": list(spans), "span": list(spans.values())},
        schema={"cell": text, "span": pl.Float64()},
    )


def _times_per_bit(
    rows: pl.DataFrame, spans: Mapping[str, float], known: pl.Series
) -> pl.DataFrame:
    """Seconds per delivered bit and trial, for each ledger part and in all (part ``total``).

    ``known``: the parts that the ledger of any cell has.
    """
    keys = [*_CELL, "trial", "attempt"]
    whole = rows.filter(pl.col("flow").is_null())
    speed = (
        whole.filter((pl.col("metric") == "throughput_bps") & (pl.col("value") > 0))
        .select(*keys, speed="value")
        .join(_lengths(spans, rows.schema["cell"]), on="cell")
        .join(_transfers(rows.filter(pl.col("flow").is_not_null())), on=keys, how="left")
        .with_columns(
            bits=pl.coalesce("transferred", pl.col("speed") * pl.col("span")),
            after=pl.col("span") - pl.coalesce("ended", "span"),
        )
    )
    ledger = whole.filter(pl.col("metric").is_in(list(PARTS))).select(
        *keys, part="metric", airtime="value"
    )
    # A part that a cell's ledger lacks took no time there.
    every = ledger.select(keys).unique().join(known.to_frame("part"), how="cross")
    ledger = every.join(ledger, on=[*keys, "part"], how="left").with_columns(
        pl.col("airtime").fill_null(0.0)
    )
    length = (
        ledger.filter(pl.col("part").is_in(_WHOLE))
        .group_by(keys)
        .agg(length=pl.col("airtime").sum())
    )
    exposed = ledger.filter(part="crypto_exposed_s").select(*keys, exposed="airtime")
    joined = (
        ledger.join(speed, on=keys).join(length, on=keys).join(exposed, on=keys, how="left")
    ).with_columns(channels=(pl.col("length") / pl.col("span")).round(0).clip(1.0, None))
    # Idle air after the end of a transfer is no part of it; nor does exposed crypto count twice.
    idle = pl.col("part") == "airtime_idle_s"
    joined = joined.with_columns(
        airtime=pl.when(idle)
        .then(pl.col("airtime") - pl.col("exposed").fill_null(0.0))
        .otherwise(pl.col("airtime"))
        / pl.col("channels")
        - pl.when(idle).then(pl.col("after")).otherwise(0.0)
    )
    parts = joined.with_columns(time=pl.col("airtime") / pl.col("bits")).select(
        *keys, "part", "time"
    )
    total = (
        speed.join(length.select(keys), on=keys)
        .with_columns(part=pl.lit("total", ledger.schema["part"]), time=1 / pl.col("speed"))
        .select(*keys, "part", "time")
    )
    # In one order: the last digits of means and deviations would change from call to call.
    return pl.concat([parts, total]).sort([*keys, "part"])


def _transfers(flows: pl.DataFrame) -> pl.DataFrame:
    """Per trial of finite transfers: the bits that they carried, and when the last one ended."""
    keys = [*_CELL, "trial", "attempt"]
    ends = flows.filter(metric="transfer_delay_s").select(*keys, "flow", took="value")
    speeds = flows.filter(metric="throughput_bps").select(*keys, "flow", speed="value")
    return (
        ends.join(speeds, on=[*keys, "flow"])
        .group_by(keys)
        .agg(transferred=(pl.col("took") * pl.col("speed")).sum(), ended=pl.col("took").max())
    )


def _intervals(frame: pl.DataFrame, level: float, *, fixed: bool) -> pl.DataFrame:
    na = frame["n"].to_numpy().astype(np.float64)
    nb = frame["n_0"].to_numpy().astype(np.float64)
    va = frame["deviation"].fill_null(float("nan")).to_numpy() ** 2 / na
    vb = frame["deviation_0"].fill_null(float("nan")).to_numpy() ** 2 / nb
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = (va + vb) ** 2 / (va**2 / (na - 1) + vb**2 / (nb - 1))
        half = t_quantile(level, degrees) * np.sqrt(va + vb)
    by_chance = [
        (variance == 0) & (frame[mean].to_numpy() != 0)
        for variance, mean in ((va, "mean"), (vb, "mean_0"))
    ]
    equal = (va + vb == 0) | by_chance[0] | by_chance[1]
    half = np.where(equal, np.nan, half) * frame["scale"].to_numpy()
    value = frame["value"].to_numpy()
    methods = np.where(
        equal,
        DETERMINISTIC if fixed else EQUAL,
        np.where(np.isfinite(half), "Welch", "single reading"),
    )
    return frame.with_columns(
        low=pl.Series(value - half),
        high=pl.Series(value + half),
        method=pl.Series(methods.tolist(), dtype=pl.String),
    )


def _empty() -> pl.DataFrame:
    text = dict.fromkeys([*_CELL, "part", "meaning"], pl.String())
    numbers = dict.fromkeys(["value", "low", "high"], pl.Float64())
    return pl.DataFrame(schema={**text, **numbers, "n": pl.UInt32(), "method": pl.String()})
