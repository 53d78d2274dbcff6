"""Runs without a result: the first reason, and the field that cures it.

Takes the trials table of a run; gives one line, or nothing for a run with a counted trial.
"""

from __future__ import annotations

import re
import shlex
from pathlib import Path
from typing import TYPE_CHECKING, Final

import polars as pl

from airtoll.errors import RunError, TestbedError

if TYPE_CHECKING:
    from airtoll.run.api import Run

#: Pattern of a failure -> the remedy. The first match counts.
_CURES: Final = (
    (
        r"not done after",
        "raise scenario.NAME.join.limit_s or spread the starts with join.spread_ms",
    ),
    (
        r"authentication server did not answer",
        "raise radius.requests_per_s, lower radius.delay_ms or radius.loss_ratio, or set "
        'join.fault = "none"',
    ),
    (
        r"other party did not answer",
        "spread the starts with scenario.NAME.join.spread_ms, or raise the level (rssi_dbm, "
        "position_m)",
    ),
    (r"wrong passphrase|certificate was not accepted", 'set scenario.NAME.join.fault = "none"'),
    (r"No space left", "make room on the disk, then continue with --resume"),
)


def why_no_result(trials: pl.DataFrame) -> str | None:
    """One line for a run in which no trial counts; ``None`` if one does.

    ``trials``: the table of :func:`airtoll.observe.tables.read_trials`.
    """
    counts = dict(trials["status"].value_counts().iter_rows())
    if counts.get("ok"):
        return None
    failed = trials.filter(pl.col("status") == "failed")
    skipped = trials.filter(pl.col("status") == "skipped")
    rows = failed if failed.height else skipped
    if not rows.height:
        return "no trial ended"
    first = rows.row(0, named=True)
    what = (
        f"all {failed.height} trials failed"
        if failed.height
        else f"all {skipped.height} cells are skipped"
    )
    cure = cure_of(str(first["reason"]))
    return f"{what}; first, {first['cell']}: {first['reason']}{f'; {cure}' if cure else ''}"


def refuse_no_result(path: Path, trials: pl.DataFrame) -> None:
    """Raise ``RunError`` with the first reason if no trial of a run counts."""
    problem = why_no_result(trials)
    if problem:
        raise RunError(f"{path}: {problem}")


def refuse_faults(run: Run, study: str) -> None:
    """Raise ``TestbedError`` if trials of a finished run failed inside; the others are kept."""
    totals = run.totals
    if totals is None or not totals.faults:
        return
    words = ["airtoll", "run", study, "--resume", "--repeat-faults", "--out", str(run.path)]
    count = totals.ok + totals.failed
    raise TestbedError(
        f"{run.path}: {totals.faults} of {count} trials failed inside, the others are kept; first, "
        f"{totals.first_fault}; `{shlex.join(words)}` runs them again with new seeds"
    )


def cure_of(reason: str) -> str | None:
    """The remedy for a failure's reason, if one is known."""
    return next((cure for pattern, cure in _CURES if re.search(pattern, reason)), None)
