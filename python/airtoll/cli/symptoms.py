"""``airtoll symptoms``: from a complaint to its cause, its cure and the study that shows it."""

from __future__ import annotations

from typing import Annotated

import typer
from attrs import asdict

from airtoll.analyse.explain.symptoms import Symptom, matching
from airtoll.cli.output import JsonOption, emit_json, out
from airtoll.errors import UsageError


def symptoms_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Words of the complaint, such as phones drop hour; default: all."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """From a complaint to its cause, its cure and the study that shows it."""
    found = matching(words or [])
    if not found:
        raise UsageError(
            f"no symptom has {' '.join(words or [])!r}; airtoll symptoms lists all of them"
        )
    if json:
        emit_json([_document(symptom) for symptom in found])
        return
    console = out()
    for number, symptom in enumerate(found):
        if number:
            console.print()
        console.print(symptom.seen)
        console.print(f"  cause: {symptom.cause}")
        console.print(f"  do: {symptom.cure}")
        console.print(f"  shown by: airtoll run {symptom.study} ({', '.join(symptom.settings)})")
        for report in symptom.reports:
            met = f": {report.met}" if report.met else ""
            console.print(f"  reported: {report.url}{met}")


def _document(symptom: Symptom) -> dict[str, object]:
    return {
        "symptom": symptom.seen,
        "cause": symptom.cause,
        "cure": symptom.cure,
        "study": symptom.study,
        "settings": list(symptom.settings),
        "mechanism": symptom.mechanism,
        "reports": [asdict(report) for report in symptom.reports],
    }
