"""A run that has not come to its end: how many of its trials are there, and how it goes on.

Takes a run folder and its table of trials; gives counts and a line. Never writes.
"""

from __future__ import annotations

import shlex

import polars as pl
from attrs import frozen

from airtoll.observe.folder import RunFolder, study_named
from airtoll.observe.journal import BROKEN


@frozen
class Unfinished:
    """``done`` of ``planned`` trials have ended; ``command`` carries out the others.

    Cells that the testbed skipped have no trials. ``was_stopped``: by Ctrl-C or an error, and not
    by a signal that leaves no time to say so; a run that is under way looks like the latter.
    """

    done: int
    planned: int
    was_stopped: bool
    command: str

    @property
    def words(self) -> str:
        """One line, without a full stop."""
        how = (
            "interrupted after"
            if self.was_stopped
            else "under way in another process, or stopped without notice, at"
        )
        return f"{how} {self.done:,} of {self.planned:,} trials; `{self.command}` goes on"


def unfinished(
    folder: RunFolder, trials: pl.DataFrame, study: str | None = None
) -> Unfinished | None:
    """The trials that a run has not carried out yet; None of a finished run.

    ``trials``: its table. ``study``: as the command names it; default: as the folder knows it.
    """
    manifest = folder.manifest()
    if manifest["state"] == "finished":
        return None
    plan = folder.plan()
    skipped = set(trials.filter(pl.col("status") == "skipped")["cell"].unique())
    broken = pl.col("reason").cast(pl.String).str.starts_with(BROKEN).fill_null(value=False)
    ended = trials.filter(
        (pl.col("trial") > 0) & pl.col("status").cast(pl.String).is_in(["ok", "failed"]) & ~broken
    )
    return Unfinished(
        done=ended.select("cell", "trial").n_unique(),
        planned=sum(plan.trials_of(cell.name) for cell in plan.cells if cell.name not in skipped),
        was_stopped=manifest["state"] == "interrupted",
        command=resuming(folder, study or study_named(manifest, folder.path)),
    )


def resuming(folder: RunFolder, study: str) -> str:
    """The command that goes on with a run."""
    on = folder.manifest()["testbed"]
    place = [] if on == "simulator" else ["--on", on]
    return shlex.join(["airtoll", "run", study, *place, "--resume", "--out", str(folder.path)])
