"""``airtoll audit DATASET|RUN``: the checks of a careful referee.

Takes the name or folder of a data set, or a run folder; gives findings as a table or JSON.
Exit code 0 whatever is found: findings are the result, not a failure. A run in which no trial
counts has nothing to check: exit code 3.
"""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from airtoll.analyse.audit import KINDS, SEVERITIES, Finding, audit, audit_run
from airtoll.cli.output import JsonOption, emit_json, out, table
from airtoll.errors import DatasetError, UsageError
from airtoll.observe.datasets import list_datasets, load_dataset
from airtoll.observe.tables import read_observations, read_trials
from airtoll.run import open_run
from airtoll.run.outcome import refuse_no_result

_STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}


def audit_command(
    subject: Annotated[
        str,
        typer.Argument(
            help="Name or folder of a data set, or a run folder.", metavar="DATASET|RUN"
        ),
    ],
    json: JsonOption = False,
    least: Annotated[
        str, typer.Option("--least", help=f"Least severity shown: {', '.join(SEVERITIES)}.")
    ] = "note",
    kinds: Annotated[
        bool, typer.Option("--kinds", help="Explain the kinds of the findings.")
    ] = False,
) -> None:
    """Find figures that are inconsistent or impossible, or that do not support a claim."""
    if least not in SEVERITIES:
        raise UsageError(f"--least {least}: allowed are {', '.join(SEVERITIES)}")
    limit = SEVERITIES.index(least)
    found = [f for f in findings_of(subject) if SEVERITIES.index(f.severity) <= limit]
    if json:
        emit_json([f.to_json() for f in found])
        return
    _print(subject, found, kinds)


def findings_of(subject: str) -> list[Finding]:
    """Findings of a data set (name or folder) or a run folder.

    Raises DatasetError if it is neither, RunError if no trial of the run counts.
    """
    path = Path(subject)
    if (path / "run.json").is_file():
        run = open_run(path)
        trials = run.trials()
        refuse_no_result(path, trials)
        return audit_run(path.name, run.observations(), trials, run.folder.study_file().study)
    if (path / "import.json").is_file():
        return audit_run(path.name, read_observations(path), read_trials(path))
    if (path / "dataset.toml").is_file() or subject in list_datasets():
        return audit(load_dataset(subject))
    raise DatasetError(
        f"{subject}: neither a data set ({', '.join(list_datasets())}), nor a folder with "
        "dataset.toml, nor a run folder with run.json"
    )


def _print(subject: str, found: list[Finding], kinds: bool) -> None:
    console = out()
    counts = {s: sum(f.severity == s for f in found) for s in SEVERITIES}
    columns = ["severity", "table", "where", "kind", "printed", "recomputed", "evidence"]
    view = table(f"{subject}: {len(found)} findings", columns)
    for f in found:
        severity = Text(f.severity, style=_STYLE[f.severity])
        view.add_row(severity, f.table, f.where, f.kind, f.printed, f.recomputed, f.evidence)
    if found:
        console.print(view)
    console.print(", ".join(f"{n} {s}{'s' if n != 1 else ''}" for s, n in counts.items()))
    if kinds:
        for kind in sorted({f.kind for f in found}):
            console.print(f"{kind}: {KINDS[kind]}")
