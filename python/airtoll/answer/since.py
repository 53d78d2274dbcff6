"""Not worse than before: the answers of a run against those of an earlier run, cell by cell."""

from __future__ import annotations

from typing import Final

import polars as pl
from attrs import evolve, frozen

from airtoll.answer.claims import Compare, Ruled, Ruling, Verdict
from airtoll.answer.compared import RUN, compared
from airtoll.answer.measured import Measured
from airtoll.answer.ruled import failures
from airtoll.answer.stated import unnoticed_of
from airtoll.observe.metrics import METRICS
from airtoll.observe.spoken import spoken
from airtoll.plan import Cell
from airtoll.question import Arm, Asked, Place, levels_of

_BEFORE: Final = Arm(((RUN, "earlier"),))
_NOW: Final = Arm(((RUN, "now"),))
#: Texts of a scenario and a traffic, which change no trial.
_WORDS: Final = {"label", "about"}

_RULINGS: Final = {
    Verdict.GAINS: Ruling.MET,
    Verdict.UNNOTICED: Ruling.MET,
    # Neither value is the better one.
    Verdict.CHANGES: Ruling.MET,
    Verdict.COSTS: Ruling.FAILED,
    Verdict.TOO_FEW: Ruling.TOO_FEW,
    Verdict.UNMEASURED: Ruling.UNMEASURED,
    Verdict.UNSETTLED: Ruling.UNSETTLED,
}


@frozen
class Since:
    """The changes since an earlier run.

    ``ruled``: by metric, then by cell. ``left_out``: cells that the earlier run has no trial of.
    """

    ruled: tuple[Ruled, ...]
    left_out: tuple[Cell, ...]


def since(before: Measured, now: Measured, *, same_draws: bool) -> Since:
    """Every answer of the study in every cell that the earlier run measured.

    ``same_draws``: whether trials of equal number drew the same random numbers in both runs.
    The tolerance is the largest unnoticed change: that of the study's question about the metric,
    else that of the metric. A value that neither run measured in a cell is left out.
    """
    had = set(before.trials.filter(pl.col("status") == "ok")["cell"].unique().to_list())
    earlier = {cell.name: cell for cell in before.plan.cells if cell.name in had}
    cells = [cell for cell in now.plan.cells if cell.name in earlier]
    renamed = {cell.name: _earlier(cell) for cell in cells}
    both = _joined(before, now, renamed, same_draws=same_draws)
    found = []
    for metric in now.plan.study.answers:
        if metric not in METRICS:
            continue
        places = tuple(
            Place(tuple(levels_of(cell)), {_BEFORE: renamed[cell.name], _NOW: cell})
            for cell in cells
        )
        question = Asked("", metric, _BEFORE, (_NOW,), places, unnoticed_of(now.plan, metric))
        for claim in compared(question, both):
            cell = claim.place.cells[_NOW]
            if not _was_asked(claim, cell, now):
                continue
            ruled = _ruled(claim, earlier[cell.name], cell, question.unnoticed)
            count, words = failures(now, cell)
            is_open = ruled.ruling in (Ruling.MET, Ruling.TOO_FEW)
            if is_open and count > failures(before, earlier[cell.name])[0]:
                # A value of fewer trials says nothing of those that now fail.
                ruled = evolve(ruled, ruling=Ruling.UNMEASURED, reason=words)
            found.append(ruled)
    left_out = tuple(cell for cell in now.plan.cells if cell.name not in earlier)
    return Since(tuple(found), left_out)


def _earlier(cell: Cell) -> Cell:
    return evolve(cell, factors=(*cell.factors, *_BEFORE.levels))


def _joined(
    before: Measured, now: Measured, renamed: dict[str, Cell], *, same_draws: bool
) -> Measured:
    """Both runs as one, in which the cells of the earlier one have names of their own."""
    names = {name: cell.name for name, cell in renamed.items()}

    def of(first: pl.DataFrame, second: pl.DataFrame) -> pl.DataFrame:
        mine, other = (
            frame.with_columns(pl.col(pl.Categorical).cast(pl.String)).filter(
                pl.col("cell").is_in(list(names))
            )
            for frame in (first, second)
        )
        mine = mine.with_columns(pl.col("cell").replace_strict(names, return_dtype=pl.String))
        return pl.concat([mine.select(other.columns), other], how="vertical_relaxed")

    sketches = None
    if before.sketches is not None and now.sketches is not None:
        sketches = of(before.sketches, now.sketches)
    return evolve(
        now,
        observations=of(before.observations, now.observations),
        trials=of(before.trials, now.trials),
        sketches=sketches,
        analysis=evolve(now.analysis, paired=same_draws),
    )


def _was_asked(claim: Compare, cell: Cell, now: Measured) -> bool:
    """Whether the earlier run has a value, or this run should have one and has none."""
    if claim.before is not None or claim.after is not None:
        return True
    rows = now.trials.filter((pl.col("cell") == cell.name) & (pl.col("status") == "ok"))
    return rows.is_empty()


def _ruled(claim: Compare, earlier: Cell, cell: Cell, unnoticed: float) -> Ruled:
    found = Ruled(
        metric=claim.metric,
        cell=cell,
        ruling=_RULINGS[claim.verdict],
        value=claim.change,
        compare=claim,
        fresh=claim.fresh,
        reason=claim.reason,
    )
    if key := _difference(earlier, cell):
        reason = f"the earlier run has another {key} in this cell, so that they are not compared"
        return evolve(found, ruling=Ruling.UNMEASURED, reason=reason)
    if claim.verdict is Verdict.TOO_FEW and _is_not_worse(claim, unnoticed):
        return evolve(found, ruling=Ruling.MET)
    return found


def _is_not_worse(claim: Compare, unnoticed: float) -> bool:
    """Whether the worse end of the interval is unnoticed, though the other end is not."""
    better = METRICS[claim.metric].better
    if claim.change is None or better == "neither":
        return False
    limit = unnoticed if claim.is_share == (spoken(claim.metric).is_share) else 0.0
    worst = claim.change.low if better == "more" else -claim.change.high
    return worst >= -limit


def _difference(one: Cell, other: Cell) -> str:
    """The first field in which two runs describe a cell differently; empty if they agree."""
    pairs = (("scenario", one.settings, other.settings), ("traffic", one.load, other.load))
    for table, first, second in pairs:
        earlier, now = first.model_dump(exclude=_WORDS), second.model_dump(exclude=_WORDS)
        for key, value in now.items():
            if earlier.get(key) != value:
                return f"{table}.{key}"
    return "profile_set" if one.profile_names != other.profile_names else ""
