"""``airtoll gate`` and ``airtoll run --gate``: requirements, for continuous integration.

Takes a run folder and, on request, an earlier one; gives a line for each requirement and place, and
JUnit XML. Reads only: it works on the runs of every testbed.
"""

from __future__ import annotations

from collections import Counter
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import evolve, frozen
from rich.console import Console

from airtoll.analyse.pairing import how_runs_are_compared
from airtoll.answer import Ruled, Ruling, since
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, err, out
from airtoll.cli.places import named
from airtoll.cli.reporting import WhereOption, note_unfinished
from airtoll.errors import NotMeasured, RequirementFailed, UsageError
from airtoll.observe.replacing import put_text
from airtoll.plan import Plan
from airtoll.present.words import Teller
from airtoll.report.compared_runs import share_draws
from airtoll.report.printed_rows import levels_of
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.where import Where


@frozen(kw_only=True)
class EarlierOptions:
    """An earlier run for ``gate`` and ``run --gate``, and the file that they write."""

    compare_with: Annotated[
        Path | None,
        typer.Option(
            "--compare-with",
            parser=named("--compare-with"),
            help="Folder of an earlier run: no answer of the study may be worse than there.",
        ),
    ] = None
    junit: Annotated[
        Path | None,
        typer.Option("--junit", parser=named("--junit"), help="JUnit XML file to write."),
    ] = None


@frozen
class Checked:
    """The requirements of a run, and the cells that an earlier run lacks."""

    summary: RunSummary
    claims: tuple[Ruled, ...]
    earlier: RunSummary | None = None
    left_out: tuple[str, ...] = ()


@frozen(kw_only=True)
class GateOptions:
    """Options of ``airtoll gate``."""

    run: Annotated[Path, typer.Argument(parser=named("RUN"), help="Run folder.")]
    where: WhereOption = None
    earlier: EarlierOptions
    json: JsonOption = False


@command
def gate(options: GateOptions) -> None:
    """Check the requirements of a run's study, or that it is not worse than an earlier run.

    Exit code 0: all are met; 1: one failed; 5: none failed, and one cannot be told.
    """
    before = options.earlier.compare_with
    if before is not None and before.resolve() == options.run.resolve():
        raise UsageError(f"--compare-with {before}: is the run itself; name an earlier one")
    summary = summarise(options.run)
    note_unfinished(options.run)
    earlier = prepared(summary.plan, summary.manifest["testbed"], options.earlier)
    found = chosen(checked(summary, earlier), Where.of(options.where or ()))
    if options.json:
        emit_json(_as_json(found))
    tell(found, options.earlier.junit, None if options.json else out())
    refuse(found)


def prepared(plan: Plan, testbed: str | None, options: EarlierOptions) -> RunSummary | None:
    """The earlier run, read before anything is measured. ``testbed``: None where not known yet.

    Raises ``UsageError`` where nothing is required, for a folder of ``--junit`` that does not
    exist, and for an earlier run of another testbed or without a cell of the study.
    """
    compare_with, junit = options.compare_with, options.junit
    if junit is not None and (junit.is_dir() or not junit.absolute().parent.is_dir()):
        what = "is a folder" if junit.is_dir() else "its folder does not exist"
        raise UsageError(f"--junit {junit}: {what}; name a file in an existing folder")
    if compare_with is None:
        if not plan.study.require:
            raise UsageError(
                f"{plan.study.study.name}: requires nothing; add a [[require]] table to the "
                "study, or name an earlier run with --compare-with"
            )
        return None
    earlier = summarise(compare_with)
    _refuse_testbed(earlier, testbed)
    if not {cell.name for cell in plan.cells} & set(earlier.cells):
        raise UsageError(
            f"--compare-with {compare_with}: has no cell of {plan.study.study.name}; name a run of "
            "the same study"
        )
    return earlier


def _refuse_testbed(earlier: RunSummary, testbed: str | None) -> None:
    other = earlier.manifest["testbed"]
    if testbed is not None and other != testbed:
        raise UsageError(
            f"--compare-with {earlier.path}: is a run on {other}, not on {testbed}; name a run of "
            "the same testbed"
        )


def checked(summary: RunSummary, earlier: RunSummary | None) -> Checked:
    """Every requirement of a run. Raises ``UsageError`` if no cell is in both runs."""
    if earlier is None:
        return Checked(summary, summary.ruled)
    _refuse_testbed(earlier, summary.manifest["testbed"])
    in_pairs = share_draws(earlier, summary)
    changes = since(earlier.measured, summary.measured, same_draws=in_pairs)
    if not changes.ruled:
        raise UsageError(
            f"--compare-with {earlier.path}: and {summary.path} have no answer of the "
            "study to compare"
        )
    left_out = tuple(cell.name for cell in changes.left_out)
    return Checked(summary, (*summary.ruled, *changes.ruled), earlier, left_out)


def chosen(found: Checked, where: Where) -> Checked:
    """The checks of the chosen cells, metrics and stations alone. Raises ``UsageError``."""
    levels = [
        levels_of(claim.cell, metric=claim.metric, station=claim.station or "all")
        for claim in found.claims
    ]
    return evolve(found, claims=tuple(found.claims[at] for at in where.rows(levels)))


def tell(found: Checked, junit: Path | None, console: Console | None) -> None:
    """A line for each requirement that is not met, the counts, and the file of ``--junit``.

    ``console``: None if the lines are printed as JSON.
    """
    teller = Teller(found.summary.names)
    if found.left_out:
        count = len(found.left_out)
        cells = "1 cell" if count == 1 else f"{count} cells"
        err().print(
            f"note: not compared, since {found.earlier and found.earlier.path} has no trial of "
            f"them: {cells} (first: {found.left_out[0]})",
            soft_wrap=True,
        )
    if found.earlier is not None:
        rule = how_runs_are_compared(in_pairs=share_draws(found.earlier, found.summary))
        err().print(f"note: {rule[:1].lower()}{rule[1:].rstrip('.')}", soft_wrap=True)
    if console is not None:
        for claim in found.claims:
            if claim.ruling is not Ruling.MET:
                console.print(_line(found, claim, teller), soft_wrap=True)
        console.print(f"gate: {_counts(found)}", soft_wrap=True)
    if junit is not None:
        put_text(junit, _junit(found, teller))
        err().print(f"junit: {junit}", soft_wrap=True)


def refuse(found: Checked) -> None:
    """Raise ``RequirementFailed`` if one failed, else ``NotMeasured`` if one cannot be told."""
    rulings = {claim.ruling for claim in found.claims}
    if Ruling.FAILED in rulings:
        raise RequirementFailed(f"{found.summary.path}: {_counts(found)}")
    if rulings - {Ruling.MET}:
        raise NotMeasured(f"{found.summary.path}: {_counts(found)}")


def _counts(found: Checked) -> str:
    """``12 checks: 9 met, 3 failed``: one of each requirement at each place."""
    counts = Counter(claim.ruling for claim in found.claims)
    told = [f"{counts[ruling]} {ruling.value}" for ruling in Ruling if counts[ruling]]
    total = len(found.claims)
    return f"{total} check{'s' if total > 1 else ''}: {', '.join(told)}"


def _line(found: Checked, claim: Ruled, teller: Teller) -> str:
    line = teller.ruled(claim)
    if _is_since(claim) and found.earlier is not None:
        return f"{line} (since {found.earlier.path})"
    return line


def _is_since(claim: Ruled) -> bool:
    return claim.at_least is None and claim.at_most is None


def _junit(found: Checked, teller: Teller) -> str:
    from airtoll.present.junit import junit

    manifest = found.summary.manifest
    properties = {
        "run": str(found.summary.path),
        "testbed": str(manifest["testbed"]),
        "seed": str(manifest["seed"]),
    }
    if found.earlier is not None:
        properties["compared with"] = str(found.earlier.path)
    started = str(manifest["started"])
    ended = str(manifest.get("ended") or started)
    lasted = datetime.fromisoformat(ended) - datetime.fromisoformat(started)
    return junit(
        found.claims,
        teller,
        study=found.summary.study.study.name,
        properties=properties,
        timestamp=started,
        duration_s=max(0.0, lasted.total_seconds()),
    )


def _as_json(found: Checked) -> list[dict[str, Any]]:
    teller = Teller(found.summary.names)
    return [
        {
            "requirement": teller.required(claim),
            "metric": claim.metric,
            "cell": claim.cell.name,
            "flow": claim.flow,
            "station": claim.station,
            "ruling": claim.ruling.value,
            "value": None if claim.value is None else claim.value.to_json(),
            "at_least": claim.at_least,
            "at_most": claim.at_most,
            "since": str(found.earlier.path) if found.earlier and _is_since(claim) else None,
            "verdict": claim.compare.verdict.value if claim.compare and _is_since(claim) else None,
            "trials_of_a_new_run": claim.fresh,
            "reason": claim.reason or None,
            "line": _line(found, claim, teller),
        }
        for claim in found.claims
    ]
