"""The results of a run, computed once for every form of report.

Takes a run folder; gives a :class:`RunSummary`: the analysis, the comparison with printed figures,
and the prediction of octet theory, in the order of the study. Reads the run folder; never
writes.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
from attrs import define, evolve, field, frozen

from airtoll.analyse import Analysis, Comparison, Estimate, analyse, compare
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.ceiling import BEYOND, ceiling_bps
from airtoll.analyse.contrast import Contrast
from airtoll.analyse.decomposition import crypto_time, decompose
from airtoll.analyse.estimate import EQUAL
from airtoll.analyse.instruments import seen_through
from airtoll.analyse.overhead import fieller_ends, mean_of_estimates
from airtoll.analyse.pairing import pairs_trials
from airtoll.analyse.quantities import show_value
from airtoll.analyse.selection import select_rows
from airtoll.answer import (
    Answered,
    Measured,
    Reproduces,
    Ruled,
    Stated,
    answered,
    printed,
    ruled,
    stated,
)
from airtoll.observe.datasets import load_dataset
from airtoll.observe.folder import MANIFEST, RunFolder
from airtoll.observe.metrics import FRAGMENTS, NOT_SETTLED_BY, UNPRICED
from airtoll.observe.tables import (
    compact,
    counted,
    fitting,
    not_radio,
    read_compact_observations,
    read_sketches,
    read_table,
    read_trials,
    with_caveat,
)
from airtoll.observe.unfinished import Unfinished, unfinished
from airtoll.plan import Cell, Plan
from airtoll.policies import resolve
from airtoll.present.names import Names, level_name, policy_name
from airtoll.profiles import Profile, load
from airtoll.report.fitted import SEEN, Standing, standing
from airtoll.report.printed_overheads import Combined, reproduced_combined
from airtoll.study import Level, Study
from airtoll.study.generations import HIGHEST_MBPS

if TYPE_CHECKING:
    from airtoll.analyse.audit import Finding

THEORY = "theory.parquet"
_THEORY: dict[str, pl.DataType] = {"cell": pl.String(), "value": pl.Float64()}
#: Rows of a table that are put in order at a time.
_GATHERED = 50_000
#: The tables of an analysis in the order of the study.
_TABLES = ("estimates", "comparisons", "overheads", "times")


@frozen
class OctetTheory:
    """Added octets over the packet size: the result of a calculation on paper."""

    policy: str
    packet_octets: int
    added_octets: int

    @property
    def overhead(self) -> float:
        """Added octets / packet octets, as a fraction."""
        return self.added_octets / self.packet_octets


@define(frozen=True, slots=False)
class RunSummary:
    """A run, read and analysed."""

    path: Path
    manifest: dict[str, Any]
    plan: Plan
    observations: pl.DataFrame = field(repr=False)
    trials: pl.DataFrame = field(repr=False)
    analysis: Analysis = field(repr=False)
    comparisons: tuple[Comparison, ...] = field(repr=False)
    sketches: pl.DataFrame | None = field(default=None, repr=False)

    @cached_property
    def answered(self) -> tuple[Answered, ...]:
        """The questions of the study with their claims, most important first."""
        return answered(self.measured)

    def stated(self, metric: str) -> Mapping[tuple[str, str | None, str | None], Stated]:
        """The verdict on every compared row of a metric, by cell, flow and station."""
        if metric not in self._stated:
            self._stated[metric] = stated(self.measured, self.answered, metric)
        return self._stated[metric]

    @cached_property
    def _stated(self) -> dict[str, Mapping[tuple[str, str | None, str | None], Stated]]:
        return {}

    @cached_property
    def ruled(self) -> tuple[Ruled, ...]:
        """The requirements of the study, place by place."""
        return ruled(self.measured)

    @cached_property
    def reproduced(self) -> tuple[Reproduces, ...]:
        """How many printed values are met."""
        combined = reproduced_combined(self.combined, self.comparisons)
        return (*combined, *printed(self.measured, self))

    @cached_property
    def measured(self) -> Measured:
        """The values that claims are made from."""
        return Measured(
            plan=self.plan,
            testbed=self.manifest["testbed"],
            observations=self.observations,
            trials=self.trials,
            analysis=self.analysis,
            sketches=self.sketches,
            comparisons=self.comparisons,
        )

    @cached_property
    def unfinished(self) -> Unfinished | None:
        """The trials that a run which was interrupted has not carried out yet.

        A page beside a run that is under way has tables alone, and says itself how far it is.
        """
        if not (self.path / MANIFEST).exists():
            return None
        return unfinished(RunFolder(self.path), self.trials)

    @property
    def study(self) -> Study:
        """The study of the run."""
        return self.plan.study

    @cached_property
    def cells(self) -> dict[str, Cell]:
        """The cells by name."""
        return {cell.name: cell for cell in self.plan.cells}

    @cached_property
    def names(self) -> Names:
        """Names of the cells for people."""
        return Names(self.plan.cells)

    @cached_property
    def theory(self) -> pl.DataFrame:
        """Closed forms of the run's cells (columns cell, value), where there are any."""
        path = self.path / THEORY
        if not path.exists():
            return pl.DataFrame(schema=_THEORY)
        return read_table(path, _THEORY)

    def closed_form(self, cell: str) -> float | None:
        """Throughput of a cell by its closed form, bit/s."""
        return self._closed_forms.get(cell)

    @cached_property
    def _closed_forms(self) -> dict[str, float]:
        rows = self.theory.select("cell", "value").unique("cell", keep="first", maintain_order=True)
        return {str(cell): float(value) for cell, value in rows.iter_rows() if value is not None}

    def ceiling(self, cell: str) -> float | None:
        """Most that the PHY can carry in a cell in datagrams, bit/s: no transport is faster.

        None where no closed form is known (later PHYs, bursts, EDCA, stations of their own rate).
        """
        settings, load = self.cells[cell].settings, self.cells[cell].load
        own = any(
            s.rate_mbps or s.phy or s.policy or s.frame_bursting_us for s in settings.stations
        )
        if (
            settings.phy not in HIGHEST_MBPS
            or settings.frame_bursting_us
            or settings.ap.frame_bursting_us
            or own
        ):
            return None
        if settings.cw_min is not None or settings.edca or settings.basic_rates_mbps:
            return None
        if settings.slot_time_us or load.beside or load.direction == "both":
            return None
        policy = self.cells[cell].security
        link = {
            "phy": settings.phy,
            "rate_mbps": settings.rate_mbps or HIGHEST_MBPS[settings.phy],
            "preamble": settings.preamble or "short",
            "hops": 2 if settings.topology == "station-to-station" else 1,
            "addresses": 4 if settings.four_addresses else 3,
            "senders": settings.clients or len(settings.stations),
        }
        added = policy.octets_per_mpdu + policy.octets_per_msdu
        return ceiling_bps(link, added, load.payload_bytes)

    def above_ceiling(self, comparison: Comparison) -> bool:
        """Whether a printed throughput of a whole cell is above what the PHY can carry.

        By the margin from which on an audit calls it more than a note.
        """
        alone = len(self.cells[comparison.cell].settings.stations) == 1
        if comparison.quantity != THROUGHPUT:
            return False
        if comparison.client not in ("", "total") and not alone:
            return False
        ceiling = self.ceiling(comparison.cell)
        return ceiling is not None and comparison.published.value > ceiling * (1 + BEYOND)

    def above_offered(self, comparison: Comparison) -> bool:
        """Whether a printed throughput of a whole cell is above what its stations offer."""
        cell = self.cells[comparison.cell]
        stations = cell.settings.clients or len(cell.settings.stations)
        if comparison.quantity != THROUGHPUT or cell.load.offered_mbps is None:
            return False
        return comparison.published.value > cell.load.offered_mbps * 1e6 * stations * (1 + BEYOND)

    def profiles_of(self, cell: Cell) -> list[Profile]:
        """The device profiles behind a cell."""
        settings = cell.settings
        names = [station.profile for station in settings.stations]
        names += [settings.ap.profile, settings.server.profile]
        return [load(cell.profile(name)) for name in dict.fromkeys(names)]

    def standing(self, comparison: Comparison) -> Standing:
        """The relation of a comparison to the readings that its devices were fitted to."""
        cell = self.cells[comparison.cell]
        readings = [reading for profile in self.profiles_of(cell) for reading in profile.seen]
        return standing(comparison, cell, readings)

    def seen(self, comparison: Comparison) -> bool:
        """Whether a fit has seen the printed value: to meet it proves nothing."""
        return self.standing(comparison).name in SEEN

    def note(self, comparison: Comparison) -> str:
        """The notes on a comparison, in a few words."""
        notes = []
        fit = self.standing(comparison).words
        if fit:
            notes.append(fit)
        if self.above_ceiling(comparison):
            ceiling = show_value(self.ceiling(comparison.cell), "bit/s")
            notes.append(f"printed above the ceiling of the PHY, {ceiling}")
        elif self.above_offered(comparison):
            notes.append("printed above the offered load")
        if comparison.cell in self.not_radio and comparison.quantity in (THROUGHPUT, "overhead"):
            notes.append("ours is no radio throughput")
        if comparison.extreme:
            notes.append(f"ours: {comparison.extreme}")
        if comparison.instrument:
            instrument = self.study.instrument[comparison.instrument]
            fitted = ", fitted" if instrument.fitted else ""
            notes.append(f"ours as {comparison.instrument} shows it{fitted} ({instrument.source})")
        if comparison.caveat:
            notes.append(comparison.caveat)
        return "; ".join(notes)

    @cached_property
    def octet_theory(self) -> tuple[OctetTheory, ...]:
        """Octet theory of every secured policy at the study's packet sizes."""
        rows = []
        for name in dict.fromkeys(cell.policy for cell in self.plan.cells):
            policy = resolve(name)
            if name == self.study.study.baseline:
                continue
            added = policy.octets_per_mpdu + policy.octets_per_msdu
            rows += [OctetTheory(name, size, added) for size in self.study.study.octet_theory]
        return tuple(rows)

    @cached_property
    def reference(self) -> str:
        """The reference in words: the baseline policy, or the level of a factor."""
        return self._level_of_contrast(self.analysis.contrast.level)

    def arm(self, cell: Cell) -> str:
        """The policy of a cell in words, or its level of the factor that is compared."""
        contrast = self.analysis.contrast
        if contrast.is_of_policies:
            return policy_name(cell.policy)
        axes = {"scenario": cell.scenario, "traffic": cell.traffic}
        return self._level_of_contrast({**axes, **dict(cell.factors)}[contrast.factor])

    def _level_of_contrast(self, level: Level) -> str:
        factor = self.analysis.contrast.factor
        if factor == "policy":
            return policy_name(str(level))
        return str(level) if factor in ("scenario", "traffic") else level_name(factor, level)

    @cached_property
    def combined(self) -> tuple[Combined, ...]:
        """Overheads combined over traffics, if the study defines groups."""
        groups = self.study.study.combine
        if not groups:
            return ()
        frame = self.analysis.estimates.filter(
            (pl.col("metric") == THROUGHPUT)
            & pl.col("flow").is_null()
            & pl.col("station").is_null()
        )
        found = []
        keys = dict.fromkeys((c.scenario, c.policy, c.factors_json) for c in self.plan.cells)
        for scenario, policy, factors in keys:
            if policy == self.analysis.baseline:
                continue
            here = frame.filter(scenario=scenario, factors=factors)
            parts = {
                group: _group_overhead(here, policy, names, self.analysis)
                for group, names in groups.items()
            }
            known = {group: part for group, part in parts.items() if part is not None}
            if known:
                mean = mean_of_estimates(list(known.values()))
                found.append(Combined(scenario, policy, factors, known, mean))
        return tuple(found)

    @cached_property
    def spans(self) -> dict[str, float]:
        """Seconds over which the trials of each cell are measured."""
        return {
            name: cell.load.duration_s - cell.load.warm_up_s for name, cell in self.cells.items()
        }

    @cached_property
    def crypto_time(self) -> pl.DataFrame:
        """The share of the ciphers' time that the air hides (see ``analyse.decomposition``)."""
        return crypto_time(self.observations, self.spans)

    @cached_property
    def decomposition(self) -> pl.DataFrame:
        """The parts of the overheads (see ``analyse.decomposition``); empty without a ledger."""
        definition = self.analysis.definition
        return decompose(
            self.observations,
            self.spans,
            contrast=self.analysis.contrast,
            definition="of_baseline" if definition == "difference_bps" else definition,
            level=self.analysis.level,
            testbed=self.manifest["testbed"],
        )

    @cached_property
    def findings(self) -> list[Finding]:
        """The findings of an audit of the run."""
        from airtoll.analyse.audit import audit_run

        return audit_run(self.manifest["study"]["name"], self.observations, self.trials, self.study)

    def readings(self, metric: str) -> pl.DataFrame:
        """Whole-cell readings in the order of trials: cell, trial, value, kept.

        ``kept``: whether the study's selection rule counts the trial.
        """
        rows = self.observations.filter(
            (pl.col("metric") == metric)
            & pl.col("flow").is_null()
            & pl.col("station").is_null()
            & pl.col("second").is_null()
        ).select("cell", "trial", "value")
        select = self.study.trials.select
        number = {
            "closest_to_mean": select.keep,
            "discard_first": select.count,
            "agreement": select.ratio,
        }.get(select.rule)
        chosen = select_rows(rows, ["cell"], select.rule, number).select(
            "cell", "trial", kept=pl.lit(True)
        )
        return (
            rows.join(chosen, on=["cell", "trial"], how="left")
            .with_columns(pl.col("kept").fill_null(False))
            .sort("cell", "trial")
        )

    @cached_property
    def caveats(self) -> dict[str, int]:
        """The caveats of the run's values and their number of trials, most frequent first."""
        said = self.trials.filter(status="ok").explode("caveats").drop_nulls("caveats")
        counts = said.group_by("caveats", maintain_order=True).len().sort("len", descending=True)
        return {str(text): int(count) for text, count in counts.iter_rows()}

    def unsettled(self, metric: str) -> dict[str, float]:
        """Cells whose readings of a metric have not settled, in the order of the plan.

        ``metric``: ``throughput_bps`` or ``delay_s``. A cell counts also for its flows. The value
        is the second half less the first, as a share of their mean.
        """
        frame = self.analysis.unsettled
        if frame.is_empty():
            return {}
        rows = frame.filter(of=metric).sort(pl.col("flow").is_not_null(), maintain_order=True)
        found: dict[str, float] = {}
        for cell, relative in rows.select("cell", "relative").iter_rows():
            found.setdefault(str(cell), float(relative))
        # Delays of flows that deliver less and less say nothing more.
        if metric != THROUGHPUT:
            found = {name: r for name, r in found.items() if name not in self.unsettled(THROUGHPUT)}
        return {name: found[name] for name in self.cells if name in found}

    @cached_property
    def causes(self) -> dict[str, str]:
        """Cells whose trials name a cause for which their halves differ, and the cure."""
        return with_caveat(self.trials, NOT_SETTLED_BY)

    @cached_property
    def fragments(self) -> dict[str, str]:
        """Cells whose tunnels cut datagrams into fragments, how long they are, and the cure."""
        found = with_caveat(self.trials, FRAGMENTS)
        return {name: found[name] for name in self.cells if name in found}

    @cached_property
    def unpriced(self) -> dict[str, str]:
        """Cells under a cipher whose cost no profile of their devices knows, and which."""
        found = with_caveat(self.trials, UNPRICED)
        return {name: found[name] for name in self.cells if name in found}

    @cached_property
    def not_radio(self) -> frozenset[str]:
        """Cells with a trial whose caveats say that the CPU limited its throughput."""
        return not_radio(self.trials)

    def verdict(self, cell: str, verdict: str) -> str:
        """A verdict on a throughput, with a warning if it is no radio throughput."""
        if cell in self.silent:
            return "no throughput"
        if cell not in self.not_radio:
            return verdict
        return f"no radio throughput; {verdict}" if verdict else "no radio throughput"

    @cached_property
    def silent(self) -> frozenset[str]:
        """Cells in which no application octet was delivered in any counted trial."""
        rows = self.analysis.estimates.filter(
            (pl.col("metric") == THROUGHPUT)
            & pl.col("flow").is_null()
            & pl.col("station").is_null()
            & (pl.col("value") == 0)
        )
        return frozenset(rows["cell"].unique())

    @cached_property
    def outcomes(self) -> dict[str, int]:
        """The number of attempts by status."""
        counts = self.trials.group_by("status").len()
        return {str(status): int(count) for status, count in counts.sort("status").iter_rows()}


def summarise(path: Path, dataset: str | None = None, level: float = 0.95) -> RunSummary:
    """Read and analyse a run.

    ``dataset``: compare with this data set only. Raises ``RunError`` or ``StorageError`` if the
    folder holds no tables, ``DatasetError`` for an unknown data set.
    """
    folder = RunFolder(path)
    manifest = folder.manifest()
    plan = folder.plan()
    trials = compact(fitting(read_trials(path), path, plan))
    observations = counted(fitting(read_compact_observations(path), path, plan), trials)
    head = plan.study.study
    paired = pairs_trials(plan.study.trials.order, manifest["testbed"], plan.study.trials.pairing)

    def analysed(rows: pl.DataFrame, sketches: pl.DataFrame | None) -> Analysis:
        return analyse(
            rows,
            trials,
            contrast=Contrast.of(head),
            baseline=head.baseline,
            overhead=head.overhead,
            select=plan.study.trials.select,
            level=level,
            paired=paired,
            answers=plan.study.answers,
            sketches=sketches,
            testbed=manifest["testbed"],
        )

    sketches = compact(read_sketches(path))
    analysis = _in_study_order(analysed(observations, sketches), plan)
    through: dict[tuple[str, str], Analysis] = {}
    for entry in plan.study.compare:
        key = (entry.instrument, entry.metric)
        if entry.instrument and key not in through:
            metric = THROUGHPUT if entry.metric == "overhead" else entry.metric
            instrument = plan.study.instrument[entry.instrument]
            through[key] = analysed(seen_through(observations, metric, instrument), None)
    comparisons: list[Comparison] = []
    named = dict.fromkeys(entry.dataset for entry in plan.study.compare)
    for name in [dataset] if dataset else named:
        entries = [entry for entry in plan.study.compare if entry.dataset == name]
        comparisons += compare(analysis, load_dataset(name), entries, through)
    return RunSummary(
        path, manifest, plan, observations, trials, analysis, tuple(comparisons), sketches
    )


def _in_study_order(analysis: Analysis, plan: Plan) -> Analysis:
    """The rows by metric, the study's answers first, then by cell as planned, totals first.

    Ordered by their text, levels would come as 1, 20, 5.
    """
    cells = {cell.name: index for index, cell in enumerate(plan.cells)}

    def ranked(frame: pl.DataFrame, name: str, first: Sequence[str] = ()) -> tuple[pl.Expr, int]:
        """The place of each value in the order of its text, some first; the number of places."""
        there = sorted(frame[name].drop_nulls().unique().to_list())
        places = {value: place for place, value in enumerate(dict.fromkeys([*first, *there]), 1)}
        if not places:
            return pl.lit(0, pl.Int64), 1
        rank = pl.col(name).replace_strict(places, default=0, return_dtype=pl.Int64)
        return rank, len(places) + 1

    def order(frame: pl.DataFrame) -> pl.Series:
        """The places of the rows in the old order, in the new order."""
        cell = pl.col("cell").replace_strict(cells, default=len(cells), return_dtype=pl.Int64)
        # One number per row: a sort by several columns of text takes as much memory as the table.
        key, _ = (
            ranked(frame, "metric", plan.study.answers)
            if "metric" in frame.columns
            else (pl.lit(0, pl.Int64), 0)
        )
        key = key * (len(cells) + 1) + cell
        for name in ("station", "flow"):
            rank, places = ranked(frame, name)
            key = key * places + rank
        # Equal keys keep their order, as the number of the row is the last key.
        by = frame.select(key=key).with_row_index("row")
        return by.sort("key", "row")["row"]

    # Column by column, so that a table's old and new order are never in memory as a whole.
    nothing = pl.DataFrame()
    tables = {name: getattr(analysis, name) for name in _TABLES}
    analysis = evolve(
        analysis, estimates=nothing, comparisons=nothing, overheads=nothing, times=nothing
    )
    for name in _TABLES:
        if tables[name].is_empty():
            continue
        rows = order(tables[name])
        columns = tables.pop(name).get_columns()
        for index in range(len(columns)):
            # In slices: these fit where the slices of the columns before stood.
            columns[index] = pl.concat(
                columns[index].gather(rows.slice(start, _GATHERED))
                for start in range(0, len(rows), _GATHERED)
            )
        tables[name] = pl.DataFrame(columns)
    return evolve(
        analysis,
        estimates=tables["estimates"],
        comparisons=tables["comparisons"],
        overheads=tables["overheads"],
        times=tables["times"],
    )


def _group_overhead(
    frame: pl.DataFrame, policy: str, traffics: tuple[str, ...], analysis: Analysis
) -> Estimate | None:
    """Overhead from throughputs averaged over the traffics that the scenario has."""
    means = {}
    for name in (analysis.baseline, policy):
        rows = frame.filter((pl.col("policy") == name) & pl.col("traffic").is_in(traffics))
        if rows.is_empty():
            return None
        count = rows.height
        variance = float((rows["deviation"].fill_null(math.nan) ** 2 / rows["n"]).sum()) / count**2
        if rows["method"].cast(pl.String).str.ends_with(EQUAL).any():
            variance = math.nan
        means[name] = (float(rows["value"].mean()), variance, float(rows["n"].sum()))  # type: ignore[arg-type]
    (t1, v1, n1), (t2, v2, n2) = means[analysis.baseline], means[policy]
    if analysis.definition == "of_secured":
        low, high = _ends(t1, t2, v1, v2, n1, n2, analysis.level)
        value, low, high = t1 / t2 - 1, low - 1, high - 1
    else:
        low, high = _ends(t2, t1, v2, v1, n2, n1, analysis.level)
        value, low, high = 1 - t2 / t1, 1 - high, 1 - low
    return Estimate(value, low, high, analysis.level, int(n1 + n2), "group means, Fieller", "1")


def _ends(
    a: float, b: float, va: float, vb: float, na: float, nb: float, level: float
) -> tuple[float, float]:
    x, y, vx, vy, nx, ny = (np.array([value]) for value in (a, b, va, vb, na, nb))
    ends = fieller_ends(x, y, vx, vy, nx, ny, level)
    return float(ends[0][0]), float(ends[1][0])
