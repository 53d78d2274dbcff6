"""``airtoll import FILE...``: one's own readings in the observation schema.

Takes files of iperf3, irtt, flent or CSV; gives ``observations.parquet`` and ``trials.parquet``
and a page (``report.html``) in a folder, and the estimates on stdout. Files named again in a folder
are added as trials.
"""

from __future__ import annotations

import hashlib
import json as jsons
from pathlib import Path
from typing import Annotated, Any

import polars as pl
import typer

from airtoll.analyse import Analysis, Comparison
from airtoll.analyse.analysis import estimate_of_row, repeats_its_cell
from airtoll.analyse.quantities import show_overhead
from airtoll.cli.output import JsonOption, emit_json, err, out, table
from airtoll.cli.places import named
from airtoll.errors import StorageError, UsageError
from airtoll.observe.datasets import COLUMNS
from airtoll.observe.imports.files import FORMATS, Place, import_files, trials_of
from airtoll.observe.schema import ROW_ORDER
from airtoll.observe.tables import read_observations
from airtoll.policies import resolve
from airtoll.report import write_report
from airtoll.report.imported import MANIFEST, read_imported


def import_command(
    files: Annotated[
        list[Path],
        typer.Argument(parser=named("FILES"), help="Files, one trial each (CSV may hold more)."),
    ],
    fmt: Annotated[str, typer.Option("--format", help=f"One of: {', '.join(FORMATS)}.")],
    policy: Annotated[str, typer.Option(help="Policy that was in force.")] = "open",
    scenario: Annotated[str, typer.Option(help="Name of the set-up.")] = "imported",
    traffic: Annotated[
        str | None, typer.Option(help="Name of the traffic; default: the file's transport.")
    ] = None,
    folder: Annotated[
        Path, typer.Option("--out", parser=named("--out"), help="Folder to write or add to.")
    ] = Path("runs/imported"),
    baseline: Annotated[str, typer.Option(help="Policy that overhead is taken against.")] = "open",
    against: Annotated[
        str | None, typer.Option(help="Data set to compare with; needs --readings.")
    ] = None,
    readings: Annotated[
        list[str] | None,
        typer.Option(help="Column of its readings, e.g. table=7-1 or transport=TCP; repeat."),
    ] = None,
    json: JsonOption = False,
) -> None:
    """Bring your own iperf3, irtt, flent or CSV readings into the observation schema."""
    if (folder / "run.json").exists():
        raise UsageError(f"{folder}: holds a run; name another folder with --out")
    known = _known(folder)
    fresh = [file for file in files if _digest(file) not in known]
    for file in files:
        if file not in fresh:
            err().print(f"{file}: imported before; left out")
    observations = read_observations(folder) if known else None
    if fresh:
        place = Place(folder.name, scenario, policy, traffic)
        trial = _next_trial(observations, scenario, resolve(policy).name)
        new = import_files(fresh, fmt, place, trial)
        observations = new if observations is None else pl.concat([observations, new])
        observations = observations.sort(ROW_ORDER, nulls_last=False)
        _write(folder, observations)
    if observations is None:
        raise UsageError("nothing to import")
    picked = _columns(readings or [])
    _note(
        folder,
        {
            "format": fmt,
            "files": known | {_digest(f): f.name for f in fresh},
            "baseline": baseline,
            "against": against,
            "readings": picked,
        },
    )
    imported = read_imported(folder)
    result, beside = imported.analysis, imported.comparisons
    page = write_report([folder])
    err().print(f"report: {page}", markup=False, soft_wrap=True)
    if json:
        emit_json(
            {
                "folder": str(folder),
                "files": [str(file) for file in fresh],
                "estimates": result.estimates.to_dicts(),
                "overheads": result.overheads.to_dicts(),
                "published": [_plain(one) for one in beside],
            }
        )
        return
    _print(folder, result)
    for one in beside:
        error = one.absolute_error if one.quantity == "overhead" else one.relative_error
        unit = "points" if one.quantity == "overhead" else "%"
        out().print(
            f"{one.cell}, {one.quantity}: table {one.table} prints {one.printed} "
            f"{one.printed_unit}; yours is {100 * error:+.2f} {unit} off",
            markup=False,
        )


def _columns(pairs: list[str]) -> dict[str, str]:
    wanted = {}
    for pair in pairs:
        name, mark, value = pair.partition("=")
        if not mark or name not in COLUMNS:
            raise UsageError(
                f"--readings {pair!r}: say COLUMN=VALUE; columns: {', '.join(COLUMNS)}"
            )
        wanted[name] = value
    return wanted


def _plain(one: Comparison) -> dict[str, Any]:
    return {
        "cell": one.cell,
        "policy": one.policy,
        "quantity": one.quantity,
        "table": one.table,
        "printed": f"{one.printed} {one.printed_unit}",
        "published": one.published.to_json(),
        "ours": one.ours.to_json(),
        "relative_error": one.relative_error,
        "absolute_error": one.absolute_error,
    }


def _print(folder: Path, result: Analysis) -> None:
    view = table(
        f"{folder}",
        ["cell", "flow", "metric", "value", "low", "high", "n", "unit"],
        right=["value", "low", "high", "n"],
    )
    for row in result.estimates.filter(~repeats_its_cell()).iter_rows(named=True):
        numbers = [_number(row[name]) for name in ("value", "low", "high")]
        view.add_row(
            row["cell"], row["flow"] or "", row["metric"], *numbers, str(row["n"]), row["unit"]
        )
    out().print(view)
    for row in result.overheads.iter_rows(named=True):
        estimate = estimate_of_row(row, result.level)
        bounds = "" if estimate.has_interval else "; no interval"
        out().print(
            f"overhead of {row['cell']} ({row['method']}): {show_overhead(estimate)}{bounds}"
        )


def _number(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.6g}"


def _next_trial(observations: pl.DataFrame | None, scenario: str, policy: str) -> int:
    if observations is None:
        return 1
    own = observations.filter(
        pl.col("cell").str.starts_with(f"{scenario}/") & (pl.col("policy") == policy)
    )
    highest: Any = own["trial"].max()
    return 1 if highest is None else int(highest) + 1


def _known(folder: Path) -> dict[str, str]:
    file = folder / MANIFEST
    if not file.exists():
        return {}
    try:
        return dict(jsons.loads(file.read_text("utf-8"))["files"])
    except (OSError, ValueError, KeyError) as error:
        raise StorageError(f"{file}: cannot be read: {error}") from error


def _digest(file: Path) -> str:
    try:
        return hashlib.sha256(file.read_bytes()).hexdigest()
    except OSError as error:
        raise UsageError(f"{file}: cannot be read: {error.strerror}") from error


def _write(folder: Path, observations: pl.DataFrame) -> None:
    try:
        folder.mkdir(parents=True, exist_ok=True)
        observations.write_parquet(folder / "observations.parquet")
        trials_of(observations).write_parquet(folder / "trials.parquet")
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror}") from error


def _note(folder: Path, manifest: dict[str, Any]) -> None:
    """Record the files of the folder, and the data set that its report is compared with."""
    try:
        (folder / MANIFEST).write_text(jsons.dumps(manifest, indent=2) + "\n", "utf-8")
    except OSError as error:
        raise StorageError(f"{folder}: cannot be written: {error.strerror}") from error
