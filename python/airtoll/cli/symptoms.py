"""``airtoll symptoms``: from a complaint to its cause, its cure and the study that shows it."""

from __future__ import annotations

import shlex
from typing import Annotated, Final

import typer
from attrs import asdict

from airtoll.analyse.explain.symptoms import Symptom, matching
from airtoll.cli.output import JsonOption, emit_json, out
from airtoll.errors import UsageError

#: Symptoms that are told unless all are asked for.
_MOST: Final = 5


def symptoms_command(
    words: Annotated[
        list[str] | None,
        typer.Argument(help="Words of the complaint, such as phones drop hour; default: all."),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Every symptom that has the words, not the first five.")
    ] = False,
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
    # Without words the list is what was asked for.
    shown = found if every or not words else found[:_MOST]
    for number, symptom in enumerate(shown):
        if number:
            console.print()
        console.print(symptom.seen)
        console.print(f"  cause: {symptom.cause}")
        console.print(f"  do: {symptom.cure}")
        console.print(f"  shown by: airtoll run {symptom.study} ({', '.join(symptom.settings)})")
        for report in symptom.reports:
            met = f": {report.met}" if report.met else ""
            console.print(f"  reported: {report.url}{met}")
    if (left := len(found) - len(shown)) > 0:
        console.print()
        console.print(
            f"{left} more with these words: airtoll symptoms {shlex.join(words or [])} --all"
        )


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
