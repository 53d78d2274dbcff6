"""Readings as a measuring program shows them.

Takes the observations of a run and the description of an instrument; gives observations with the
values that the instrument would have shown: which end it reads, the tick of its clock, the
definition of its figure, and the place to which it rounds. Acts on our readings alone, before they
are compared with printed ones; never on a printed reading.
"""

from __future__ import annotations

from typing import Final, Protocol

import polars as pl

_RUN: Final = (
    "cell",
    "scenario",
    "policy",
    "traffic",
    "factors",
    "trial",
    "attempt",
    "flow",
    "station",
)


class Instrument(Protocol):
    """Effects of a measuring program on a reading; an ``[instrument.NAME]`` table is one."""

    @property
    def source(self) -> str:
        """Source of the description, or the readings to which it is fitted."""

    @property
    def fitted(self) -> bool:
        """Whether a number of it is fitted to readings."""

    @property
    def reads(self) -> str | None:
        """Metric that it shows in place of the compared one; None: the compared one."""

    @property
    def end(self) -> str:
        """``receiver``, or ``sender``: it counts what was sent, delivered or not."""

    @property
    def series(self) -> bool:
        """Whether it takes a reading each second and shows their mean."""

    @property
    def tick(self) -> float:
        """Tick of the sender's clock in the metric's unit; 0: none. Needs ``series``."""

    @property
    def advance(self) -> float:
        """Progress of the clock's phase from one reading to the next, in the metric's unit."""

    @property
    def successive(self) -> bool:
        """Whether it shows absolute differences of successive readings. Needs ``series``."""

    @property
    def step(self) -> float:
        """Last place that it shows, in the metric's unit; 0: all places."""

    @property
    def rounding(self) -> str:
        """``nearest``, ``down`` or ``up`` to the last place."""


def seen_through(observations: pl.DataFrame, metric: str, instrument: Instrument) -> pl.DataFrame:
    """The observations with ``metric`` as the instrument shows it; other metrics stay.

    With a clock tick the reading is the true value plus the age of the sender's tick, whose phase
    starts at zero and advances by ``advance`` from reading to reading. A run of fewer than two
    readings has no successive difference and is left out.
    """
    shown = instrument.reads or metric
    others = observations.filter(pl.col("metric") != metric)
    rows = observations.filter(pl.col("metric") == shown).with_columns(
        metric=pl.lit(metric, observations.schema["metric"])
    )
    if instrument.end == "sender":
        rows = _at_sender(observations, rows)
    if not instrument.series:
        rows = rows.filter(pl.col("second").is_null()).with_columns(value=_rounded(instrument))
        return pl.concat([others, rows.select(others.columns)])
    rows = rows.filter(pl.col("second").is_not_null()).sort(*_RUN, "second", nulls_last=False)
    if instrument.tick:
        number = pl.int_range(pl.len()).over(_RUN)
        phase = (number * instrument.advance) % instrument.tick
        rows = rows.with_columns(value=pl.col("value") + phase)
    rows = rows.with_columns(value=_rounded(instrument))
    if instrument.successive:
        rows = rows.with_columns(value=pl.col("value").diff().abs().over(_RUN))
    rest = [name for name in others.columns if name not in (*_RUN, "second", "value")]
    means = (
        rows.group_by(_RUN, maintain_order=True)
        .agg(pl.col(rest).first(), pl.col("value").mean())
        .filter(pl.col("value").is_not_null())
        .with_columns(second=pl.lit(None, others.schema["second"]))
    )
    return pl.concat([others, means.select(others.columns)])


def _at_sender(observations: pl.DataFrame, rows: pl.DataFrame) -> pl.DataFrame:
    """Rates times packets sent over packets received; packets of a flow have one length."""

    def count(metric: str, name: str) -> pl.DataFrame:
        found = observations.filter(
            (pl.col("metric") == metric) & pl.col("second").is_null() & (pl.col("value") > 0)
        )
        return found.group_by("cell", "trial", "attempt").agg(pl.col("value").sum().alias(name))

    keys = ["cell", "trial", "attempt"]
    return (
        rows.join(count("packets_sent", "sent"), on=keys)
        .join(count("packets_received", "received"), on=keys)
        .with_columns(value=pl.col("value") * pl.col("sent") / pl.col("received"))
        .drop("sent", "received")
    )


def _rounded(instrument: Instrument) -> pl.Expr:
    value = pl.col("value")
    if not instrument.step:
        return value
    places = value / instrument.step
    # A value that is a whole number of places but for rounding errors stays one.
    ends = {
        "down": (places + 1e-9).floor(),
        "up": (places - 1e-9).ceil(),
        "nearest": (places + 0.5).floor(),
    }
    return ends[instrument.rounding] * instrument.step
