"""The table of imported readings: a row for each trial of a file, and one for each refused file.

Takes imported readings; gives a :class:`View` with file, policy, direction, throughput and whether
the reading was used.
"""

from __future__ import annotations

import math
from typing import Final

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.quantities import NOTHING, show_estimate
from airtoll.observe.imports.folder import files_and_trials
from airtoll.observe.imports.trial import Trial
from airtoll.observe.imports.value import REVERSE
from airtoll.present.names import policy_name
from airtoll.report.imported import Imported
from airtoll.report.views import View

COLUMNS: Final = (
    "file", "policy", "where", "traffic", "direction", "trial", "throughput", "used", "why not"
)  # fmt: skip
#: Transports that name the traffic of a file of iperf3.
_TRANSPORTS: Final = ("tcp", "udp", "sctp")


def readings(imported: Imported) -> View:
    """Every trial of every file in the order of the imports, then the files that were refused.

    A file that was read in part says what was left out.
    """
    rows: list[tuple[str, ...]] = []
    levels: list[dict[str, str]] = []
    for file, formats, trial in files_and_trials(imported.path):
        parts = [
            text.removeprefix(f"{file}: ")
            for text in imported.manifest.left_out
            if text.startswith(f"{file}: ")
        ]
        rows.append(
            (
                file,
                policy_name(trial.policy),
                trial.scenario,
                trial.traffic,
                _direction(trial, formats),
                str(trial.number),
                _throughput(trial, imported.analysis.level),
                "in part" if parts else "yes",
                "; ".join(parts),
            )
        )
        levels.append(
            {
                "file": file,
                "policy": trial.policy,
                "scenario": trial.scenario,
                "traffic": trial.traffic,
                "trial": str(trial.number),
                "used": "in part" if parts else "yes",
            }
        )
    for file, why in imported.manifest.refused.items():
        rows.append((file, *[NOTHING] * (len(COLUMNS) - 3), "no", why))
        levels.append({"file": file, "used": "no"})
    # Where every file was read, nothing is to say.
    width = len(COLUMNS) - (not any(row[-1] for row in rows))
    return View(
        COLUMNS[:width],
        tuple(row[:width] for row in rows),
        tuple(levels),
        ("trial", "throughput"),
        ((),) * len(rows),
        places=("where", "traffic"),
    )


def _direction(trial: Trial, formats: tuple[str, ...]) -> str:
    """The direction of the data as seen by the client, where the file says it."""
    if {row[1] for row in trial.rows} >= {"forward", "reverse"}:
        return "both"
    if trial.traffic.endswith(REVERSE):
        return "to the client"
    if formats == ("iperf3",) and trial.traffic in _TRANSPORTS:
        return "from the client"
    return NOTHING


def _throughput(trial: Trial, level: float) -> str:
    """That of the whole trial; of one that has it by flow or second alone, none."""
    for metric, flow, station, second, value in trial.rows:
        if (metric, flow, station, second) == (THROUGHPUT, None, None, None):
            return show_estimate(Estimate(value, math.nan, math.nan, level, 1, "", "bit/s"))
    return NOTHING
