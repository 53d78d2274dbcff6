"""``airtoll import FILE...``: one's own readings in the observation schema.

Takes files of iperf3, irtt, flent or CSV; gives ``observations.parquet`` and ``trials.parquet``
and a page (``report.html``) in a folder, and the estimates on stdout. Files named again in a folder
are added as trials.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Annotated, Any

import typer
from attrs import evolve

from airtoll.analyse import Analysis, Comparison
from airtoll.analyse.analysis import estimate_of_row, repeats_its_cell
from airtoll.analyse.quantities import show_overhead
from airtoll.cli.output import JsonOption, emit_json, err, out, say_rest, shown_rows, table
from airtoll.cli.places import named
from airtoll.errors import UsageError
from airtoll.foreign_text import name_problem, shown, shown_line
from airtoll.observe.datasets import COLUMNS, load_dataset
from airtoll.observe.imported import MANIFEST, Manifest, read_manifest
from airtoll.observe.imports.files import FORMATS, Place, Source, read_file
from airtoll.observe.imports.folder import ImportFolder, opened
from airtoll.policies import resolve
from airtoll.report import write_report
from airtoll.report.imported import Imported, read_imported


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
    baseline: Annotated[
        str | None,
        typer.Option(
            help="Policy that overhead is taken against; default: that of the folder, or open."
        ),
    ] = None,
    against: Annotated[
        str | None,
        typer.Option(help="Data set to compare with; needs --readings. Default: the folder's."),
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
    for option, name in (("--scenario", scenario), ("--traffic", traffic)):
        problem = None if name is None else name_problem(name)
        if problem:
            raise UsageError(f"{option} {shown(name)}: {problem}")
    settings = _settings(baseline, against, readings)
    place = Place(scenario=scenario, policy=policy, traffic=traffic)
    sources = [read_file(file, fmt, place) for file in files]
    with opened(folder) as store:
        added = store.add(sources)
        for note in added.notes:
            _say(note)
        if store.is_empty:
            raise UsageError("nothing to import")
        kept = _keep(folder, store, settings, named=baseline is not None)
        store.write(baseline=kept.baseline, against=kept.against, readings=dict(kept.readings))
        imported = read_imported(folder)
        page = write_report([folder])
    new = [source for source in sources if source.path in added.files]
    for text, count in _caveats(new).items():
        _say(f"{count} trial{'s' if count != 1 else ''}: {text}")
    _say(f"report: {page}")
    if json:
        emit_json(
            {
                "folder": str(folder),
                "files": [str(file) for file in added.files],
                "notes": list(added.notes),
                "caveats": [{"says": text, "trials": n} for text, n in _caveats(new).items()],
                "estimates": imported.analysis.estimates.to_dicts(),
                "overheads": imported.analysis.overheads.to_dicts(),
                "published": [_plain(one) for one in imported.comparisons],
            }
        )
        return
    _print(folder, imported)


def _settings(
    baseline: str | None, against: str | None, readings: list[str] | None
) -> dict[str, Any]:
    """The settings of the report that the call names; refused before anything is written."""
    settings: dict[str, Any] = {}
    if baseline is not None:
        settings["baseline"] = resolve(baseline).name
    if against is not None:
        load_dataset(against)
        settings["against"] = against
    picked = _columns(readings or [])
    if picked and against is None:
        raise UsageError("--readings: names columns of a data set; name it with --against")
    if against is not None:
        settings["readings"] = picked
    return settings


def _keep(folder: Path, store: ImportFolder, settings: dict[str, Any], *, named: bool) -> Manifest:
    """The settings of the folder, with those that the call names."""
    before = read_manifest(folder) if (folder / MANIFEST).exists() else Manifest({})
    kept = evolve(before, **settings)
    if named and kept.baseline not in store.policies:
        _say(
            f"--baseline {kept.baseline}: the folder has no reading of it yet, so no policy has an "
            f"overhead; it has {', '.join(sorted(store.policies))}"
        )
    return kept


def _caveats(sources: list[Source]) -> Counter[str]:
    """Caveats of the new trials and their number of trials, most frequent first."""
    said = Counter(text for one in sources for trial in one.trials for text in trial.caveats)
    return Counter(dict(said.most_common()))


def _say(text: str) -> None:
    """A line on stderr, without what a terminal would obey."""
    plain = "".join(c if c.isprintable() else "?" for c in text)
    err().print(plain, markup=False, soft_wrap=True)


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


def _print(folder: Path, imported: Imported) -> None:
    result: Analysis = imported.analysis
    view = table(
        shown_line(str(folder)),
        ["cell", "flow", "metric", "value", "low", "high", "n", "unit"],
        right=["value", "low", "high", "n"],
    )
    estimates = result.estimates.filter(~repeats_its_cell())
    for row in estimates.head(shown_rows(estimates.height)).iter_rows(named=True):
        numbers = [_number(row[name]) for name in ("value", "low", "high")]
        view.add_row(
            row["cell"], row["flow"] or "", row["metric"], *numbers, str(row["n"]), row["unit"]
        )
    out().print(view)
    rest = "airtoll report --format csv has all"
    say_rest(estimates.height, rest)
    for row in result.overheads.head(shown_rows(result.overheads.height)).iter_rows(named=True):
        estimate = estimate_of_row(row, result.level)
        bounds = "" if estimate.has_interval else "; no interval"
        out().print(
            f"overhead of {row['cell']} ({row['method']}): {show_overhead(estimate)}{bounds}"
        )
    say_rest(result.overheads.height, rest)
    for one in imported.comparisons:
        error = one.absolute_error if one.quantity == "overhead" else one.relative_error
        unit = "points" if one.quantity == "overhead" else "%"
        out().print(
            f"{one.cell}, {one.quantity}: table {one.table} prints {one.printed} "
            f"{one.printed_unit}; yours is {100 * error:+.2f} {unit} off",
            markup=False,
        )


def _number(value: float | None) -> str:
    return "" if value is None or value != value else f"{value:.6g}"
