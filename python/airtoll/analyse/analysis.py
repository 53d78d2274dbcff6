"""From observations to estimates, overheads and comparisons of a whole run.

The two tables of a run (or of a data set) become a frozen :class:`Analysis`: estimates per cell and
metric, overhead against the baseline policy in the same scenario, traffic and factors, and
comparisons corrected within their families. A selection rule decides the point estimates; intervals
and tests rest on all trials. Vectorised over cells.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Protocol

import numpy as np
import polars as pl
from attrs import evolve, field, frozen

from airtoll.analyse import shares
from airtoll.analyse.batches import by_cells
from airtoll.analyse.comparison import (
    FEWEST_TRIALS,
    least_p,
    tost_p_values,
    trials_for_ranks,
    welch_p_values,
)
from airtoll.analyse.contrast import Contrast
from airtoll.analyse.control import CONTROLLED, FEWEST, METHOD, controlled
from airtoll.analyse.estimate import (
    COST_UNKNOWN,
    DETERMINISTIC,
    EQUAL,
    NOT_SETTLED,
    ROUNDING,
    Estimate,
)
from airtoll.analyse.evidence import Evidence, evidence_of
from airtoll.analyse.families import EXPLORATORY, PRIMARY, adjusted, primary_rows
from airtoll.analyse.join_times import TIMES, shifts, time_rows
from airtoll.analyse.overhead import (
    DEFINITIONS,
    Definition,
    fieller_ends,
    mean_of_estimates,
    satterthwaite,
)
from airtoll.analyse.pairing import (
    fieller_paired_ends,
    paired_interval,
    paired_rows,
    paired_tost,
)
from airtoll.analyse.percentiles import (
    FEWEST_OF_TAILS,
    OF_PACKETS,
    OF_TRIALS,
    ON_TRIALS,
    PERCENTILES,
    pooled,
)
from airtoll.analyse.selection import LOOKS_AT_VALUES, select_rows
from airtoll.analyse.settling import DRIFTS, in_words, metrics_of, unsettled
from airtoll.analyse.student import t_quantile
from airtoll.analyse.totals import with_totals, with_whole_sketches
from airtoll.errors import UsageError
from airtoll.observe.metrics import NOT_SETTLED_BY, SHARES, UNPRICED
from airtoll.observe.tables import counted, has_no_chance, with_caveat
from airtoll.study import DEFAULT_ANSWERS

#: The metric that overhead is defined on.
THROUGHPUT: Final = "throughput_bps"

_CELL: Final = ["cell", "scenario", "policy", "traffic", "factors"]
_PART: Final = ["flow", "station"]


class Selection(Protocol):
    """Which trials count; the ``select`` table of a study file is one."""

    @property
    def rule(self) -> str:
        """Name of the rule."""

    @property
    def keep(self) -> int | None:
        """closest_to_mean: how many to keep."""

    @property
    def count(self) -> int | None:
        """discard_first: how many to drop."""

    @property
    def metric(self) -> str | None:
        """The metric whose values select whole trials; None: each metric by its own values."""

    @property
    def ratio(self) -> float | None:
        """agreement: least ratio between two attempts."""


@frozen(eq=False)
class Analysis:
    """Estimates of one set of observations.

    ``estimates``: one row per cell, metric, flow and station with value (of the trials that the
    selection rule keeps), value_all (of all trials), deviation, low, high (of all trials), n
    (kept), n_all, unit, method. ``overheads``: one row per secured cell with value (by the rule),
    value_all, low, high and n (of all trials), unit, method, baseline_cell. ``comparisons``: one
    row per secured cell and metric, of all trials, with difference, low, high, p, p_adjusted,
    family (primary or exploratory), equivalence_p, effect (Hedges' g), unit, n, method,
    evidence (a value of :class:`~airtoll.analyse.evidence.Evidence`), needs (trials a side; null:
    there are enough), margin, among (size of the family).
    ``times``: medians, retries and means of join and hand-over times (see ``times.time_rows``).
    Intervals hold at ``level``. ``paired``: whether trials of equal number were compared in pairs.
    ``throughputs``: readings of whole cells (cell, trial, value). ``contrast``: what is compared
    with what; a "secured" cell is any that is compared with a reference.
    ``unsettled``: flows and cells whose readings depend on the trial's length (see ``settling``).
    ``answers``: the primary metrics. ``by_rule``: whether the selection rule looks at values, so
    that value and value_all differ.
    """

    level: float
    baseline: str
    definition: Definition
    selection: str
    estimates: pl.DataFrame
    overheads: pl.DataFrame
    comparisons: pl.DataFrame
    times: pl.DataFrame = field(factory=pl.DataFrame)
    paired: bool = False
    answers: tuple[str, ...] = DEFAULT_ANSWERS
    by_rule: bool = False
    throughputs: pl.DataFrame = field(factory=pl.DataFrame, repr=False)
    unsettled: pl.DataFrame = field(factory=pl.DataFrame)
    contrast: Contrast = field()

    @contrast.default
    def _of_policies(self) -> Contrast:
        return Contrast("policy", self.baseline)

    @cached_property
    def references(self) -> frozenset[str]:
        """The cells that others are compared with."""
        cells = self.estimates.select(_CELL).unique("cell", keep="any")
        return frozenset(self.contrast.references(cells)["cell"])

    def _repr_html_(self) -> str:
        """Overheads by cell, as a notebook shows them."""
        from airtoll.analyse.markup import overheads_html

        return overheads_html(self)

    def estimate(
        self, cell: str, metric: str, flow: str | None = None, station: str | None = None
    ) -> Estimate | None:
        """Estimate of one metric of one cell, or None if it was not observed."""
        return self._at(self.estimates, self._rows_of(metric).get((cell, flow, station)))

    def row_of(
        self, cell: str, metric: str, flow: str | None = None, station: str | None = None
    ) -> int:
        """The row of ``estimates`` with one metric of one cell. Raises ``KeyError``."""
        return self._rows_of(metric)[cell, flow, station]

    def overhead(
        self, cell: str, flow: str | None = None, station: str | None = None
    ) -> Estimate | None:
        """Overhead of one secured cell, or None if there is no baseline cell for it."""
        return self._at(self.overheads, self._overhead_rows.get((cell, flow, station)))

    def overhead_of_all(
        self, cell: str, flow: str | None = None, station: str | None = None
    ) -> Estimate | None:
        """Overhead of one secured cell from all trials, whatever the selection rule keeps."""
        row = self._overhead_rows.get((cell, flow, station))
        found = self._at(self.overheads, row)
        if found is None or row is None:
            return None
        return evolve(found, value=float(self.overheads["value_all"][row]))

    def combined_overhead(self, cells: Sequence[str]) -> Estimate | None:
        """Mean of the overheads of some cells (TCP and UDP, say); None if one is missing."""
        parts = [self.overhead(cell) for cell in cells]
        known = [part for part in parts if part is not None]
        return mean_of_estimates(known) if known and len(known) == len(parts) else None

    def throughputs_of(self, cell: str) -> pl.DataFrame:
        """Trial and value of each row of ``throughputs`` of one cell; no row for a cell without."""
        return self._throughputs_by_cell.get(cell, self.throughputs.head(0)["trial", "value"])

    # Advice compares every pair of policies.
    @cached_property
    def _throughputs_by_cell(self) -> dict[str, pl.DataFrame]:
        parts = self.throughputs.partition_by("cell", as_dict=True)
        return {str(cell): part["trial", "value"] for (cell,), part in parts.items()}

    # Looked up once per mark of a figure: to query the frame takes longer than to draw the mark.
    # By metric: a run has dozens, of which a report looks up a few.
    @cached_property
    def _estimate_rows(self) -> dict[str, Mapping[Hashable, int]]:
        return {}

    def _rows_of(self, metric: str) -> Mapping[Hashable, int]:
        if metric not in self._estimate_rows:
            frame = self.estimates.with_row_index("row").filter(metric=metric)
            places = frame["row"].to_list()
            found = rows_by(frame, "cell", *_PART)
            self._estimate_rows[metric] = {key: places[at] for key, at in found.items()}
        return self._estimate_rows[metric]

    def comparison(
        self, cell: str, metric: str, flow: str | None = None, station: str | None = None
    ) -> dict[str, Any] | None:
        """The row of ``comparisons`` with one metric of one cell; None if it is not compared."""
        if metric not in self._comparison_rows:
            frame = self.comparisons.with_row_index("row").filter(metric=metric)
            places = frame["row"].to_list()
            found = rows_by(frame, "cell", *_PART)
            self._comparison_rows[metric] = {key: places[at] for key, at in found.items()}
        row = self._comparison_rows[metric].get((cell, flow, station))
        return None if row is None else self.comparisons.row(row, named=True)

    @cached_property
    def _comparison_rows(self) -> dict[str, Mapping[Hashable, int]]:
        return {}

    @cached_property
    def _overhead_rows(self) -> Mapping[Hashable, int]:
        return rows_by(self.overheads, "cell", *_PART)

    def _at(self, frame: pl.DataFrame, row: int | None) -> Estimate | None:
        return None if row is None else estimate_of_row(frame.row(row, named=True), self.level)


_IS_PART: Final = (pl.col("flow").is_not_null() | pl.col("station").is_not_null()).alias("part")


def repeats_its_cell() -> pl.Expr:
    """Whether a row is of the only flow or station of a cell that has a row as a whole.

    Such a row says again what the whole says, and would count twice among comparisons.
    """
    parts = _IS_PART.sum().over("cell", "metric")
    return _IS_PART & (parts == 1) & (~_IS_PART).any().over("cell", "metric")


def rows_by(frame: pl.DataFrame, *columns: str) -> dict[Hashable, int]:
    """The number of the first row that holds each combination of these columns' values."""
    keys = list(zip(*(frame[column].to_list() for column in columns), strict=True))
    return {key: len(keys) - 1 - back for back, key in enumerate(reversed(keys))}


def estimate_of_row(row: dict[str, Any], level: float) -> Estimate:
    """The Estimate in a row of ``Analysis.estimates`` or ``Analysis.overheads``."""

    def number(value: float | None) -> float:
        return math.nan if value is None else value

    return Estimate(
        number(row["value"]),
        number(row["low"]),
        number(row["high"]),
        level,
        int(row["n"]),
        row["method"],
        row["unit"],
    )


class Measurement(Protocol):
    """Observations that know the settings of their analysis; ``airtoll.run.Run`` is one."""

    def analysis(self, level: float = ...) -> Analysis:
        """The analysis by these settings."""


def analyse(  # noqa: PLR0913 - keywords of the library
    observations: pl.DataFrame | Measurement,
    trials: pl.DataFrame | None = None,
    *,
    baseline: str = "open",
    overhead: Definition = "of_baseline",
    select: Selection | None = None,
    level: float = 0.95,
    margin: float | None = None,
    paired: bool = False,
    answers: Sequence[str] = DEFAULT_ANSWERS,
    sketches: pl.DataFrame | None = None,
    contrast: Contrast | None = None,
    testbed: str | None = None,
) -> Analysis:
    """Analyse the observations of a run.

    ``observations``: a table, or a run, which is analysed by the settings of its study; of the
    options only ``level`` goes with a run.

    >>> import polars as pl
    >>> from airtoll.analyse import analyse
    >>> table = pl.DataFrame({
    ...     "cell": ["home/open/udp/"] * 3,
    ...     "scenario": "home", "policy": "open", "traffic": "udp", "factors": "{}",
    ...     "trial": [1, 2, 3], "attempt": 1, "metric": "throughput_bps",
    ...     "flow": None, "station": None, "second": None,
    ...     "value": [24.0e6, 25.0e6, 26.0e6], "unit": "bit/s",
    ... })
    >>> analyse(table).estimates.select("value", "n").row(0)
    (25000000.0, 3)

    ``testbed``: that of all observations, where they do not say it (see ``has_no_chance``).

    ``contrast``: what is compared with what; None: policies with ``baseline``.

    ``paired``: overheads and comparisons are taken over pairs of trials of equal number (see
    ``pairing``); estimates are not. ``answers``: the primary metrics (see ``families``).

    ``sketches``: distributions over packets, by trial (``airtoll.observe.tables.SKETCHES``);
    percentiles and their comparisons are then those of all packets (see ``percentiles``). Paired
    comparisons stay on the trials' own percentiles.

    ``margin``: a share of the baseline's mean within which two cells count as equivalent (two
    one-sided tests); None: equivalence is not asked for.

    Text columns of the result have the type of those of ``observations``: String, or Categorical
    (``airtoll.observe.tables.compact``); warnings are String.

    Throughputs of trials with a control variate are freed of its chance (see ``control``).

    Flows and stations add up to their cell, trial by trial (see ``totals``); parts whose cell has a
    value as a whole are exploratory.

    ``trials``: the run's trials table; attempts whose status is not ``ok`` are left out (None:
    every observation counts). Values of a series (``second`` not null) take no part.
    """
    if overhead not in DEFINITIONS:
        raise UsageError(f"overhead definition {overhead!r}: allowed are {', '.join(DEFINITIONS)}")
    if not 0 < level < 1:
        raise UsageError(f"level must lie between 0 and 1, got {level}")
    by = [*_CELL, *_PART, "metric", "unit"]
    rule, number = _rule(select)
    name = rule if number is None else f"{rule}({number:g})"
    by_rule = rule in LOOKS_AT_VALUES
    selecting = None if select is None else select.metric
    # Rows that are needed after the estimates of a batch.
    later = pl.lit(value=True) if paired else pl.col("metric").is_in([THROUGHPUT, *TIMES])
    if not isinstance(observations, pl.DataFrame):
        given = [trials, select, margin, sketches, contrast, testbed]
        if any(one is not None for one in given) or paired or baseline != "open":
            raise UsageError("analyse: a run is analysed by its study; only level= goes with it")
        return observations.analysis(level)
    fixed = has_no_chance(observations, testbed)
    unpriced, explained = (
        {} if trials is None else with_caveat(trials, prefix)
        for prefix in (UNPRICED, NOT_SETTLED_BY)
    )
    parts: list[tuple[pl.DataFrame, ...]] = []
    for batch in by_cells(observations):
        own = batch.filter(pl.col("second").is_null() & pl.col("value").is_finite())
        if trials is not None and not trials.is_empty():
            own = counted(own, trials)
        drifting = unsettled(own, explained)
        own = own.filter(~pl.col("metric").is_in(list(DRIFTS)))
        own, with_control = controlled(with_totals(own), by)
        here = sketches
        if here is not None and batch is not observations:
            here = here.join(batch.select("cell").unique(), on="cell", how="semi")
        if here is not None and not here.is_empty():
            own, here = with_whole_sketches(own, here)
        kept = _kept(own, by, rule, number, selecting)
        if not by_rule:
            own = kept
        times = time_rows(own, by, level, without_spread=DETERMINISTIC if fixed else EQUAL)
        found = _estimates(own, kept, by, level, name if by_rule else None, fixed=fixed)
        found = _with_control(_with_times(found, times, by), with_control)
        found = _with_percentiles(found, here, own, level)
        found = _with_drifts(found, drifting)
        found = found.with_columns(pl.col("method").cast(observations.schema["metric"]))
        found = found.sort([*_CELL, "metric", *_PART], nulls_last=False)
        parts.append((found, times, own.filter(later), drifting))
    extremes, times, rows, drifting = (pl.concat(frames) for frames in zip(*parts, strict=True))
    estimates = extremes.drop(_EXTREMES)
    del parts, batch, own, kept, found
    if selecting is not None and not estimates.is_empty():
        _refuse_unknown(estimates, selecting)
    contrast = contrast or Contrast("policy", baseline)
    if paired:
        pairs = paired_rows(rows, contrast, [*_PART, "metric"], [*_CELL, *_PART])
        pairs = _by_the_rule(pairs, estimates, by)
        batches = by_cells(pairs.sort([*_CELL, "metric", *_PART], nulls_last=False))
    else:
        batches = _pairs(extremes, contrast)
    del extremes
    of_throughput: list[pl.DataFrame] = []

    def kept_aside(batches: Iterable[pl.DataFrame]) -> Iterator[pl.DataFrame]:
        for pairs in batches:
            of_throughput.append(pairs.filter(metric=THROUGHPUT))
            yield pairs

    comparisons = _comparisons(
        kept_aside(_marked(batches, drifting, unpriced)), rows, level, margin, answers, fixed=fixed
    )
    return Analysis(
        level=level,
        baseline=baseline,
        definition=overhead,
        selection=name,
        estimates=estimates,
        overheads=_overheads(pl.concat(of_throughput), overhead, level, fixed=fixed),
        comparisons=comparisons,
        times=times,
        paired=paired,
        answers=tuple(answers),
        by_rule=by_rule,
        throughputs=rows.filter(
            (pl.col("metric") == THROUGHPUT)
            & pl.col("flow").is_null()
            & pl.col("station").is_null()
        ).select("cell", "trial", "value"),
        unsettled=drifting,
        contrast=contrast,
    )


#: Least and largest reading of a row, which comparisons of equal readings need.
_EXTREMES: Final = ["least", "most"]


def _kept(
    rows: pl.DataFrame, by: list[str], rule: str, number: float | None, metric: str | None
) -> pl.DataFrame:
    """The rows that the rule keeps: by the values of each metric, or whole trials by one metric.

    A cell without that metric keeps all of its rows.
    """
    if metric is None:
        return select_rows(rows, by, rule, number)
    whole = (pl.col("metric") == metric) & pl.col("flow").is_null() & pl.col("station").is_null()
    read = rows.filter(whole)
    chosen = select_rows(read, by, rule, number).select("cell", "trial", "attempt").unique()
    others = rows.join(read.select("cell").unique(), on="cell", how="anti")
    return pl.concat([rows.join(chosen, on=["cell", "trial", "attempt"], how="semi"), others])


def _refuse_unknown(estimates: pl.DataFrame, metric: str) -> None:
    whole = pl.col("flow").is_null() & pl.col("station").is_null()
    if estimates.filter(whole, pl.col("metric") == metric).is_empty():
        known = ", ".join(sorted(estimates["metric"].unique().to_list()))
        raise UsageError(f"trials.select.metric: no cell has {metric!r}; measured: {known}")


def _rule(select: Selection | None) -> tuple[str, float | None]:
    if select is None or select.rule == "all":
        return "all", None
    number = {
        "closest_to_mean": select.keep,
        "discard_first": select.count,
        "agreement": select.ratio,
    }.get(select.rule)
    return select.rule, number


def _estimates(
    rows: pl.DataFrame,
    kept: pl.DataFrame,
    by: list[str],
    level: float,
    rule: str | None,
    *,
    fixed: bool,
) -> pl.DataFrame:
    """Point estimates of the trials kept, with the interval of all trials.

    ``rule``: the selection rule, where its point estimate differs from the mean of all trials.
    ``fixed``: the model draws no random numbers.
    """
    frame = rows.group_by(by).agg(
        value_all=pl.col("value").mean(),
        deviation=pl.col("value").std(ddof=1),
        n_all=pl.len(),
        spread=pl.col("value").max() - pl.col("value").min(),
        size=pl.col("value").abs().max(),
        least=pl.col("value").min(),
        most=pl.col("value").max(),
    )
    # Rounding of equal readings is no spread.
    equal = (pl.col("spread") <= ROUNDING * pl.col("size")) & (pl.col("n_all") > 1)
    frame = frame.with_columns(
        deviation=pl.when(equal).then(0.0).otherwise(pl.col("deviation")), equal=equal
    )
    if rule is None:
        frame = frame.with_columns(value=pl.col("value_all"), n=pl.col("n_all"))
    else:
        own = kept.group_by(by).agg(value=pl.col("value").mean(), n=pl.len())
        frame = frame.join(own, on=by, how="left", nulls_equal=True).with_columns(
            pl.col("value").fill_null(math.nan), pl.col("n").fill_null(0)
        )
    n = frame["n_all"].to_numpy().astype(np.float64)
    deviation = frame["deviation"].fill_null(math.nan).to_numpy()
    with np.errstate(invalid="ignore", divide="ignore"):
        half = t_quantile(level, n - 1) * deviation / np.sqrt(n)
    half = np.where(frame["equal"].to_numpy(), np.nan, half)
    value = frame["value_all"].to_numpy()
    bounded = frame.select(
        pl.col("metric").is_in(SHARES) & (pl.col("least") >= 0) & (pl.col("most") <= 1)
    ).to_series()
    low_share, high_share = shares.of_trials(value, deviation, n, level)
    share = bounded.to_numpy() & ~np.isnan(low_share)
    kind = pl.when(pl.Series(share)).then(pl.lit("Wilson")).otherwise(pl.lit("t"))
    method = pl.format("mean, {}", kind)
    if rule is not None:
        method = pl.format(
            "mean by {} of {} of {} trials; interval of all, {}",
            pl.lit(rule),
            pl.col("n"),
            pl.col("n_all"),
            kind,
        )
    return frame.with_columns(
        low=pl.Series(np.where(share, low_share, value - half)),
        high=pl.Series(np.where(share, high_share, value + half)),
        method=pl.when(pl.col("equal") | fixed)
        .then(pl.lit(DETERMINISTIC if fixed else EQUAL))
        .when(pl.col("n_all") > 1)
        .then(method)
        .otherwise(pl.lit("single reading")),
    ).select(
        *by, "value", "value_all", "deviation", "n", "n_all", "low", "high", "method", *_EXTREMES
    )


def _with_times(estimates: pl.DataFrame, times: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Means of join and hand-over times with their own intervals, or none (see ``times``)."""
    ends = times.select(*by, "mean_low", "mean_high", "mean_method")
    joined = estimates.join(ends, on=by, how="left", nulls_equal=True)
    found = pl.col("mean_method").is_not_null()
    return joined.with_columns(
        low=pl.when(found).then("mean_low").otherwise("low"),
        high=pl.when(found).then("mean_high").otherwise("high"),
        method=pl.when(found)
        .then(
            pl.format(
                "{}{}", pl.col("method").str.replace(", (t|Wilson)$", ""), pl.col("mean_method")
            )
        )
        .otherwise("method"),
    ).drop("mean_low", "mean_high", "mean_method")


def _with_drifts(estimates: pl.DataFrame, drifting: pl.DataFrame) -> pl.DataFrame:
    """Readings that have not settled lose their interval, and say why (see ``settling``)."""
    if drifting.is_empty():
        return estimates
    marks = _marks(drifting)
    marks = marks.with_columns(pl.col("metric").cast(estimates.schema["metric"]))
    joined = estimates.join(marks, on=["cell", *_PART, "metric"], how="left", nulls_equal=True)
    found = pl.col("words").is_not_null()
    return joined.with_columns(
        *(pl.when(found).then(math.nan).otherwise(end).alias(end) for end in ("low", "high")),
        method=pl.when(found).then("words").otherwise("method"),
    ).select(estimates.columns)


def _marks(drifting: pl.DataFrame) -> pl.DataFrame:
    """The rows of estimates that have not settled: cell, flow, station, metric, words."""
    words = [f"{NOT_SETTLED}: second half {in_words(drift)}" for drift in drifting["relative"]]
    drifting = drifting.with_columns(words=pl.Series(words, dtype=pl.String))
    if drifting.is_empty():
        return drifting.select("cell", *_PART, "words", metric="of")
    # Of a metric that depends on two drifts, the first one counts: that of throughput.
    return (
        drifting.with_columns(
            metric=pl.col("of").replace_strict(
                {of: list(metrics_of(of)) for of in drifting["of"].unique()},
                return_dtype=pl.List(pl.String()),
            )
        )
        .explode("metric")
        .unique(["cell", *_PART, "metric"], keep="first", maintain_order=True)
        .select("cell", *_PART, "metric", "words")
    )


def _marked(
    batches: Iterable[pl.DataFrame], drifting: pl.DataFrame, unpriced: Collection[str]
) -> Iterator[pl.DataFrame]:
    """Pairs with ``untold``: why a side's readings cannot be compared; null where they can."""
    marks = _marks(drifting).select("cell", *_PART, "metric", there=pl.lit(value=True))
    ends = ("cell", "cell_0")
    for pairs in batches:
        own = pairs
        for end in ends:
            here = marks.rename({"cell": end, "there": f"of_{end}"})
            here = here.with_columns(
                pl.col(name).cast(pairs.schema[name]) for name in (end, *_PART, "metric")
            )
            own = own.join(
                here,
                on=[end, *_PART, "metric"],
                how="left",
                nulls_equal=True,
                maintain_order="left",
            )
        free = pl.any_horizontal(pl.col(end).is_in(list(unpriced)) for end in ends)
        yield own.with_columns(
            untold=pl.when(free & pl.col("metric").is_in(list(_OF_COSTS)))
            .then(pl.lit(COST_UNKNOWN))
            .when(pl.any_horizontal(pl.col(f"of_{end}").is_not_null() for end in ends))
            .then(pl.lit(NOT_SETTLED))
        ).drop(f"of_{end}" for end in ends)


#: Metrics that say nothing of a device on which a cipher without a known cost runs.
_OF_COSTS: Final = (
    *metrics_of(THROUGHPUT), "cpu_share", "power_w", "energy_j_per_bit", "battery_h",
)  # fmt: skip


def _with_control(estimates: pl.DataFrame, cells: pl.DataFrame) -> pl.DataFrame:
    """The method says which means are those of readings with a control variate."""
    if cells.is_empty():
        return estimates
    replaced = pl.col("metric").is_in(list(CONTROLLED)) & pl.col("cell").is_in(
        cells["cell"].to_list()
    )
    return estimates.with_columns(
        method=pl.when(replaced & (pl.col("n_all") >= FEWEST))
        .then(pl.col("method").str.replace("^mean, t$", "mean, t" + METHOD))
        .otherwise("method")
    )


def _with_percentiles(
    estimates: pl.DataFrame, sketches: pl.DataFrame | None, rows: pl.DataFrame, level: float
) -> pl.DataFrame:
    """Percentiles of all packets where there are sketches; elsewhere their method says so.

    ``value_all`` and ``deviation`` follow, so that comparisons of unpaired trials rest on the same
    percentiles (see ``percentiles.pooled``). A deterministic cell keeps its reading.
    """
    wanted = pl.col("metric").is_in(list(PERCENTILES))
    frame = estimates.with_columns(
        method=pl.when(wanted)
        .then(pl.col("method").str.replace("^mean", OF_TRIALS))
        .otherwise(pl.col("method"))
    )
    if sketches is None or sketches.is_empty():
        return frame
    counted = rows.filter(wanted).select("cell", "trial", "attempt").unique()
    found = pooled(sketches.join(counted, on=["cell", "trial", "attempt"], how="semi"), level)
    frame = frame.join(
        found, on=["cell", "flow", "station", "metric"], how="left", nulls_equal=True
    )
    there = pl.col("pooled").is_not_null() & (pl.col("method") != DETERMINISTIC)
    return frame.with_columns(
        *(
            pl.when(there).then(f"pooled{end}").otherwise(name).alias(name)
            for name, end in (
                ("value", ""),
                ("value_all", ""),
                ("low", "_low"),
                ("high", "_high"),
                ("deviation", "_deviation"),
            )
        ),
        method=pl.when(there).then("pooled_method").otherwise("method"),
    ).select(estimates.columns)


def _pairs(estimates: pl.DataFrame, contrast: Contrast) -> Iterator[pl.DataFrame]:
    """Every secured row beside its reference's row (columns ending in ``_0``), of all trials.

    ``kept`` and ``kept_0`` are the point estimates by the selection rule. In batches of cells.
    """
    own = estimates.with_columns(kept="value", value="value_all", n="n_all")
    names = ("cell", "value", "kept", "deviation", "n", *_EXTREMES)
    same = [*contrast.same, *_PART, "metric"]
    zero = contrast.references(own)
    zero = zero.select(*same, *names).rename({name: f"{name}_0" for name in names})
    for part in by_cells(own):
        secured = contrast.others(part)
        # The join builds a table of its right side: of the references of these cells alone.
        here = secured.select(contrast.same).unique()
        near = zero.join(here, on=contrast.same, how="semi", nulls_equal=True)
        yield secured.join(near, on=same, how="inner", nulls_equal=True, maintain_order="left")


def _by_the_rule(pairs: pl.DataFrame, estimates: pl.DataFrame, by: list[str]) -> pl.DataFrame:
    """Paired rows with the point estimates by the selection rule (``kept``, ``kept_0``)."""
    kept = estimates.select(*by, kept="value")
    zero = estimates.select(
        cell_0="cell", flow="flow", station="station", metric="metric", kept_0="value"
    )
    return pairs.join(kept, on=by, how="left", nulls_equal=True).join(
        zero, on=["cell_0", *_PART, "metric"], how="left", nulls_equal=True
    )


def _arrays(pairs: pl.DataFrame) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    n1 = pairs["n_0"].to_numpy().astype(np.float64)
    n2 = pairs["n"].to_numpy().astype(np.float64)
    paired = "covariance" in pairs.columns
    return {
        "c": pairs["covariance"].fill_null(math.nan).to_numpy()
        if paired
        else np.full(n1.shape, np.nan),
        "range": (pairs["most"] - pairs["least"]).to_numpy()
        if paired
        else np.full(n1.shape, np.nan),
        "t1": pairs["value_0"].to_numpy(),
        "t2": pairs["value"].to_numpy(),
        "s1": pairs["deviation_0"].fill_null(math.nan).to_numpy(),
        "s2": pairs["deviation"].fill_null(math.nan).to_numpy(),
        "n1": n1,
        "n2": n2,
        "v1": pairs["deviation_0"].fill_null(math.nan).to_numpy() ** 2 / n1,
        "v2": pairs["deviation"].fill_null(math.nan).to_numpy() ** 2 / n2,
    }


def _overheads(
    pairs: pl.DataFrame, definition: Definition, level: float, *, fixed: bool
) -> pl.DataFrame:
    a = _arrays(pairs)
    paired = "covariance" in pairs.columns
    kept, kept_0 = pairs["kept"].to_numpy(), pairs["kept_0"].to_numpy()
    with np.errstate(divide="ignore", invalid="ignore"):
        if definition == "of_baseline":
            value, own = 1 - a["t2"] / a["t1"], 1 - kept / kept_0
            low, high = _ratio_ends(a, "2", "1", level, paired)
            low, high = 1 - high, 1 - low
        elif definition == "of_secured":
            value, own = a["t1"] / a["t2"] - 1, kept_0 / kept - 1
            low, high = _ratio_ends(a, "1", "2", level, paired)
            low, high = low - 1, high - 1
        else:
            value, low, high, _p = _difference(a, level, paired)
            own = kept - kept_0
    unit = "bit/s" if definition == "difference_bps" else "1"
    equal = _equal(a, paired, fixed)
    known = np.isfinite(a["v1"]) & np.isfinite(a["v2"])
    drifts = (pairs["untold"] == NOT_SETTLED).fill_null(value=False).to_numpy()
    none = equal | drifts
    methods = np.where(equal, _without_spread(fixed), _methods(a, unit == "1", paired))
    methods = np.where(drifts, NOT_SETTLED, methods)
    # A cost that leaves out a cipher's is none.
    priced = pairs["untold"].fill_null("") != COST_UNKNOWN
    return pairs.select(
        *_CELL,
        *_PART,
        pl.col("cell_0").alias("baseline_cell"),
        value=pl.Series(own),
        value_all=pl.Series(value),
        low=pl.Series(np.where(known & ~none, low, np.nan)),
        high=pl.Series(np.where(known & ~none, high, np.nan)),
        n=pl.col("n") + pl.col("n_0"),
        unit=pl.lit(unit),
        method=pl.Series([f"{definition}, {words}" for words in methods], dtype=pl.String).cast(
            pairs.schema["metric"]
        ),
    ).filter(priced)


def _equal(
    a: dict[str, np.ndarray[Any, np.dtype[np.float64]]], paired: bool, fixed: bool
) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Pairs of which a side has equal readings, so that its spread is not known.

    Pairs without any difference count as such. Sides that vary and differ by the same in all
    trials have the interval of independent sides, which is wider: a tie of few differences may be
    chance.
    ``fixed``: the model draws no random numbers: no pair has a spread, also of one trial each.
    """
    none = (a["v1"] == 0) | (a["v2"] == 0)
    if paired:
        none |= _same_differences(a) & _no_difference(a)
    return np.asarray(none | fixed)


def _no_difference(a: dict[str, np.ndarray[Any, np.dtype[np.float64]]]) -> Any:
    """Pairs of equal means, but for rounding."""
    return np.abs(a["t2"] - a["t1"]) <= ROUNDING * np.maximum(np.abs(a["t1"]), np.abs(a["t2"]))


def _same_differences(a: dict[str, np.ndarray[Any, np.dtype[np.float64]]]) -> Any:
    """Pairs whose differences vary by rounding alone."""
    return a["range"] <= ROUNDING * np.maximum(np.abs(a["t1"]), np.abs(a["t2"]))


def _without_spread(fixed: bool) -> str:
    return DETERMINISTIC if fixed else EQUAL


#: (a ratio?, in pairs?) -> method in words
_METHODS: Final = {
    (False, False): "Welch",
    (False, True): "paired t",
    (True, False): "Fieller",
    (True, True): "Fieller on pairs",
}


def _methods(
    a: dict[str, np.ndarray[Any, np.dtype[np.float64]]], ratio: bool, paired: bool
) -> np.ndarray[Any, Any]:
    """The method of each interval: of pairs only where their differences vary."""
    alone = paired & ~np.asarray(_same_differences(a)) if paired else np.zeros(a["t1"].shape, bool)
    return np.where(alone, _METHODS[ratio, True], _METHODS[ratio, False])


def _ratio_ends(
    a: dict[str, np.ndarray[Any, np.dtype[np.float64]]],
    top: str,
    bottom: str,
    level: float,
    paired: bool,
) -> tuple[Any, Any]:
    means = (a[f"t{top}"], a[f"t{bottom}"], a[f"v{top}"], a[f"v{bottom}"])
    low, high = fieller_ends(*means, a[f"n{top}"], a[f"n{bottom}"], level)
    if not paired:
        return low, high
    tied = _same_differences(a)
    near, far = fieller_paired_ends(*means, a["c"], a["n1"], level)
    return np.where(tied, low, near), np.where(tied, high, far)


def _difference(
    a: dict[str, np.ndarray[Any, np.dtype[np.float64]]], level: float, paired: bool
) -> tuple[Any, Any, Any, Any]:
    """Secured - baseline with its ends and p value."""
    value, low, high = _welch_interval(a, level)
    p = welch_p_values(value, a["v2"], a["v1"], a["n2"], a["n1"])
    if not paired:
        return value, low, high, p
    tied = _same_differences(a)
    of_pairs = paired_interval(value, _paired_variance(a), a["n1"], level)
    near, far, chance = (np.asarray(one) for one in of_pairs)
    return value, np.where(tied, low, near), np.where(tied, high, far), np.where(tied, p, chance)


def _paired_variance(a: dict[str, np.ndarray[Any, np.dtype[np.float64]]]) -> Any:
    return np.maximum(a["v1"] + a["v2"] - 2 * a["c"], 0.0)


def _welch_interval(
    a: dict[str, np.ndarray[Any, np.dtype[np.float64]]], level: float
) -> tuple[Any, Any, Any]:
    value = a["t2"] - a["t1"]
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = satterthwaite(a["v1"], a["v2"], a["n1"], a["n2"])
        half = t_quantile(level, degrees) * np.sqrt(a["v1"] + a["v2"])
    return value, value - half, value + half


def _comparisons(
    batches: Iterable[pl.DataFrame],
    rows: pl.DataFrame,
    level: float,
    margin: float | None,
    answers: Sequence[str],
    *,
    fixed: bool,
) -> pl.DataFrame:
    """The comparisons of batches of pairs, corrected within the families of all of them."""
    readings = _readings_of_times(rows)
    parts = [_compared(pairs, readings, level, margin, fixed=fixed) for pairs in batches]
    together = ("metric", "p", "totalled", "repeats")
    of_all = pl.concat(part.select(together) for part in parts)
    repeats = of_all["repeats"].to_numpy()
    primary = primary_rows(of_all["metric"], answers, of_all["totalled"].to_numpy() & ~repeats)
    corrected, sizes = adjusted(of_all["p"].to_numpy(), primary, repeats)
    families = pl.DataFrame({"p_adjusted": corrected, "primary": primary, "size": sizes})
    del of_all
    start = 0
    for index, part in enumerate(parts):
        own = families.slice(start, part.height)
        start += part.height
        # The numbers of a batch are gone when the next one gets its outcomes.
        parts[index] = _outcomes(part.with_columns(own.get_columns()), level)
    return pl.concat(parts)


def _outcomes(frame: pl.DataFrame, level: float) -> pl.DataFrame:
    """Comparisons of some cells with their outcomes.

    In batches: as Python objects, the rows of a large run take several times their memory.
    """
    # A row that repeats its cell has the cell's p value.
    of_cell = pl.col("p_adjusted").filter(~_IS_PART).last().over("cell", "metric")
    frame = frame.with_columns(p_adjusted=pl.when("repeats").then(of_cell).otherwise("p_adjusted"))
    text = frame.schema["metric"]
    return frame.select(
        *_CELL,
        *_PART,
        "metric",
        "unit",
        "baseline_cell",
        "difference",
        "low",
        "high",
        "p",
        "p_adjusted",
        family=pl.when("primary").then(pl.lit(PRIMARY)).otherwise(pl.lit(EXPLORATORY)).cast(text),
        equivalence_p="equivalence_p",
        effect="effect",
        n="n",
        method="method",
        margin="limit",
        among="size",
        **_evidence(frame, level, text),
    )


def _compared(
    pairs: pl.DataFrame,
    readings: pl.DataFrame,
    level: float,
    margin: float | None,
    *,
    fixed: bool,
) -> pl.DataFrame:
    """Differences of the pairs of some cells with their tests, uncorrected.

    ``totalled``: a part whose cell has the metric as a whole.
    ``least_p``: the smallest p of a test of ranks with so many readings; NaN for other tests.
    ``needs``: the fewest trials a side of such a test; 0 where there are enough.
    """
    a = _arrays(pairs)
    paired = "covariance" in pairs.columns
    value, low, high, p = (np.array(x) for x in _difference(a, level, paired))
    with np.errstate(divide="ignore", invalid="ignore"):
        degrees = a["n1"] + a["n2"] - 2
        pooled = np.sqrt(((a["n1"] - 1) * a["s1"] ** 2 + (a["n2"] - 1) * a["s2"] ** 2) / degrees)
        effect = np.where(pooled > 0, value / pooled * (1 - 3 / (4 * degrees - 1)), np.nan)
    limits = alike = np.full(p.shape, np.nan)
    if margin is not None:
        limits = np.abs(a["t1"]) * margin
        alike = (
            paired_tost(value, _paired_variance(a), a["n1"], limits)
            if paired
            else tost_p_values(value, a["v2"], a["v1"], a["n2"], a["n1"], limits)
        )
    equal = _equal(a, paired, fixed)
    methods = np.where(equal, _without_spread(fixed), _methods(a, False, paired)).astype(object)
    methods[_of_trials(pairs, paired) & ~equal] += ON_TRIALS
    low[equal] = high[equal] = p[equal] = alike[equal] = np.nan
    ranked = np.zeros(p.shape, dtype=np.bool_)
    if not fixed:
        of_ranks = _apart(pairs, a, paired)
        value[equal & np.isnan(of_ranks)] = 0.0
        ranked = equal & np.isfinite(of_ranks)
        p[ranked] = of_ranks[ranked]
        methods[ranked] = _RANKS
    for at, shift in _shifts(pairs, readings, level):
        value[at], low[at], high[at], p[at] = shift
        ranked[at] = math.isfinite(shift[3])
        methods[at] = SHIFT if ranked[at] else _without_spread(fixed)
    sizes = np.stack([a["n1"], a["n2"]]).astype(np.int64)
    fewest = sizes.min(axis=0)
    smallest = np.full(p.shape, np.nan)
    for row in np.flatnonzero(ranked).tolist():
        n1, n2 = (int(size) for size in sizes[:, row])
        smallest[row] = least_p(n1, n2)
    needs = np.where((fewest < FEWEST_TRIALS) & (not fixed), FEWEST_TRIALS, 0)
    needs[_of_few_packets(pairs, paired) & np.isnan(p)] = FEWEST_OF_TAILS
    untold = pairs["untold"].is_not_null().to_numpy()
    low[untold] = high[untold] = p[untold] = alike[untold] = smallest[untold] = np.nan
    methods[untold] = pairs["untold"].to_numpy()[untold]
    needs[untold] = 0
    both = pl.col("n") + pl.col("n_0")
    return pairs.select(
        *_CELL,
        *_PART,
        "metric",
        "unit",
        pl.col("cell_0").alias("baseline_cell"),
        difference=pl.Series(value),
        low=pl.Series(low),
        high=pl.Series(high),
        p=pl.Series(p),
        equivalence_p=pl.Series(alike),
        limit=pl.Series(limits),
        effect=pl.Series(effect),
        n=both,
        totalled=_IS_PART & (~_IS_PART).any().over("cell", "metric"),
        repeats=repeats_its_cell(),
        method=pl.Series(methods.tolist(), dtype=pl.String),
        least_p=pl.Series(smallest),
        needs=pl.Series(needs),
    ).with_columns(pl.col("method").cast(pairs.schema["metric"]))


def _apart(
    pairs: pl.DataFrame, a: dict[str, np.ndarray[Any, np.dtype[np.float64]]], paired: bool
) -> Any:
    """p of an exact test of ranks where a side has equal readings.

    Only complete separation counts: otherwise p is 1. NaN where both sides are all the same value.
    Pairs count as independent sides: common random numbers make the test conservative.
    """
    same = _no_difference(a) & (_same_differences(a) if paired else a["v1"] + a["v2"] == 0)
    if paired:
        # One side is constant: differences of one sign set the sides apart.
        separated = (pairs["least"].to_numpy() > 0) | (pairs["most"].to_numpy() < 0)
    else:
        own, zero = (
            (pairs[f"least{end}"].to_numpy(), pairs[f"most{end}"].to_numpy()) for end in ("", "_0")
        )
        separated = (own[0] > zero[1]) | (own[1] < zero[0])
    smallest = np.array([least_p(int(n), int(m)) for n, m in zip(a["n1"], a["n2"], strict=True)])
    return np.where(same, np.nan, np.where(separated, smallest, 1.0))


def _of_few_packets(pairs: pl.DataFrame, paired: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which comparisons are of tails of packets, of fewer trials than their interval takes."""
    tails = [name for name, (_, share) in PERCENTILES.items() if share > 0.5]
    few = pl.min_horizontal("n", "n_0") < FEWEST_OF_TAILS
    own = pl.lit(value=False) if paired else pl.col("method").cast(pl.String)
    pooled_ = own if paired else own.str.starts_with(OF_PACKETS)
    return pairs.select(at=pl.col("metric").is_in(tails) & few & pooled_)["at"].to_numpy()


def _evidence(frame: pl.DataFrame, level: float, text: pl.DataType) -> dict[str, pl.Series]:
    """The evidence of some rows, and the trials a side that a test takes (``needs``)."""
    outcomes: list[str] = []
    needed: list[int | None] = []
    for (
        value, low, high, n, method, unit, corrected, alike, p, size, primary, needs, least,
    ) in frame.select(
        "difference", "low", "high", "n", "method", "unit", "p_adjusted", "equivalence_p", "p",
        "size", "primary", "needs", "least_p",
    ).iter_rows():  # fmt: skip
        wanted = _needed(needs, least, (1 - level) / (max(size, 1) if primary else 1))
        difference = Estimate(value, low, high, level, n, f"difference, {method}", unit)
        outcome = evidence_of(difference, corrected, alike, alone=p, needs=wanted)
        outcomes.append(outcome.value)
        needed.append(wanted if outcome is Evidence.TOO_FEW else None)
    return {
        "evidence": pl.Series(outcomes, dtype=pl.String).cast(text),
        "needs": pl.Series(needed, dtype=pl.Int64),
    }


def _needed(needs: int, least: float, alpha: float) -> int | None:
    """The fewest trials a side of which a test finds a difference; None if there are enough."""
    if needs:
        return needs
    return trials_for_ranks(alpha) if least >= alpha else None


def _of_trials(pairs: pl.DataFrame, paired: bool) -> np.ndarray[Any, np.dtype[np.bool_]]:
    """Which comparisons of percentiles rest on means of the trials' own percentiles."""
    percentiles = pl.col("metric").is_in(list(PERCENTILES))
    method = pl.col("method").cast(pl.String)
    own = pl.lit(value=True) if paired else method.str.starts_with(OF_TRIALS)
    return pairs.select(at=percentiles & own)["at"].to_numpy()


#: The method of a change of times: the median of all differences.
SHIFT: Final = "Hodges-Lehmann, Mann-Whitney"
#: The test where the readings of a side are equal.
_RANKS: Final = "equal readings: exact ranks"


def _readings_of_times(rows: pl.DataFrame) -> pl.DataFrame:
    """The readings of join and hand-over times, as a list per cell, flow, station and metric."""
    times = rows.filter(pl.col("metric").is_in(list(TIMES)))
    return times.group_by("cell", *_PART, "metric").agg("value")


def _shifts(
    pairs: pl.DataFrame, readings: pl.DataFrame, level: float
) -> list[tuple[int, tuple[float, float, float, float]]]:
    """Shift, ends and p value of every pair of join or hand-over times, by the pair's row."""
    wanted = pairs.with_row_index("at").filter(pl.col("metric").is_in(list(TIMES)))
    if wanted.is_empty():
        return []
    wanted = wanted.select("at", "cell", "cell_0", *_PART, "metric")
    sides = wanted.join(
        readings, on=["cell", *_PART, "metric"], nulls_equal=True, maintain_order="left"
    ).join(
        readings.rename({"cell": "cell_0", "value": "zero"}),
        on=["cell_0", *_PART, "metric"],
        nulls_equal=True,
        maintain_order="left",
    )
    found: list[tuple[int, tuple[float, float, float, float]]] = []
    sides = sides.with_columns(n1=pl.col("zero").list.len(), n2=pl.col("value").list.len())
    for (n1, n2), group in sides.group_by("n1", "n2", maintain_order=True):
        if min(int(str(n1)), int(str(n2))) < 2:
            continue
        first = np.array(group["zero"].to_list(), dtype=np.float64)
        second = np.array(group["value"].to_list(), dtype=np.float64)
        columns = shifts(first, second, level)
        found += [
            (int(at), (float(v), float(lo), float(hi), float(p)))
            for at, v, lo, hi, p in zip(group["at"], *columns, strict=True)
        ]
    return found
