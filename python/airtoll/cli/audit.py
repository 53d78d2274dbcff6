"""``airtoll audit DATASET|RUN``: what a careful referee would find.

Takes the name or folder of a data set, or a run folder; gives findings as a table or JSON.
Exit code 0 whatever is found: findings are the result, not a failure.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.table import Table

from airtoll.analyse.audit import KINDS, SEVERITIES, Finding, audit, audit_run
from airtoll.errors import DatasetError
from airtoll.observe.datasets import list_datasets, load_dataset
from airtoll.run import open_run

_STYLE = {"error": "bold red", "warning": "yellow", "note": "dim"}


def audit_command(
    subject: Annotated[
        str,
        typer.Argument(
            help="Name or folder of a data set, or a run folder.", metavar="DATASET|RUN"
        ),
    ],
    as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False,
    least: Annotated[
        str, typer.Option("--least", help=f"Least severity shown: {', '.join(SEVERITIES)}.")
    ] = "note",
    kinds: Annotated[bool, typer.Option("--kinds", help="Explain the kinds found.")] = False,
) -> None:
    """Find figures that do not follow, cannot be, or do not support what is said of them."""
    if least not in SEVERITIES:
        raise typer.BadParameter(f"--least: allowed are {', '.join(SEVERITIES)}")
    limit = SEVERITIES.index(least)
    found = [f for f in findings_of(subject) if SEVERITIES.index(f.severity) <= limit]
    if as_json:
        typer.echo(json.dumps([f.to_json() for f in found], indent=2, ensure_ascii=False))
        return
    _print(subject, found, kinds)


def findings_of(subject: str) -> list[Finding]:
    """Findings of a data set (name or folder) or a run folder.

    Raises DatasetError if it is neither.
    """
    path = Path(subject)
    if (path / "run.json").is_file():
        run = open_run(path)
        return audit_run(path.name, run.observations(), run.trials(), run.folder.study_file().study)
    if (path / "dataset.toml").is_file() or subject in list_datasets():
        return audit(load_dataset(subject))
    raise DatasetError(
        f"{subject}: neither a data set ({', '.join(list_datasets())}), nor a folder with "
        "dataset.toml, nor a run folder with run.json"
    )


def _print(subject: str, found: list[Finding], kinds: bool) -> None:
    out = Console()
    counts = {s: sum(f.severity == s for f in found) for s in SEVERITIES}
    table = Table(title=f"{subject}: {len(found)} findings", show_lines=False, expand=True)
    table.add_column("severity", no_wrap=True)
    table.add_column("table", overflow="fold", ratio=2)
    table.add_column("where", overflow="fold", ratio=4)
    table.add_column("kind", overflow="fold", ratio=2)
    table.add_column("printed", overflow="fold", ratio=2)
    table.add_column("recomputed", overflow="fold", ratio=2)
    table.add_column("evidence", overflow="fold", ratio=6)
    for f in found:
        style = _STYLE[f.severity]
        table.add_row(
            f"[{style}]{f.severity}[/]",
            f.table,
            f.where,
            f.kind,
            f.printed,
            f.recomputed,
            f.evidence,
        )
    if found:
        out.print(table)
    out.print(", ".join(f"{n} {s}{'s' if n != 1 else ''}" for s, n in counts.items()))
    if kinds:
        for kind in sorted({f.kind for f in found}):
            out.print(f"[bold]{kind}[/]: {KINDS[kind]}")
