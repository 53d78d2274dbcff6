"""``airtoll import FILE...``: one's own readings in the observation schema.

Takes files of iperf3, irtt, flent or CSV; gives ``observations.parquet`` and ``trials.parquet``
and a page (``report.html``) in a folder, and the estimates on stdout. Files named again in a folder
are added as trials.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any, Final

import typer
from attrs import evolve, frozen

from airtoll.analyse import Comparison
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, err, out, say_rest, shown_rows, table
from airtoll.cli.places import named
from airtoll.errors import DatasetError, PartlyRead, UsageError
from airtoll.foreign_text import name_problem, shown, shown_line
from airtoll.observe.datasets import COLUMNS, load_dataset
from airtoll.observe.imported import MANIFEST, Manifest, read_manifest
from airtoll.observe.imports.files import FORMATS, Place, Source, read_file
from airtoll.observe.imports.folder import ImportFolder, opened
from airtoll.observe.imports.naming import (
    READINGS,
    format_of,
    left_out,
    policy_of,
    why_left_out,
)
from airtoll.policies import resolve
from airtoll.report import write_report
from airtoll.report.imported import Imported, headline, read_imported, sentences
from airtoll.report.imported_rows import estimates as estimate_rows

#: The table of imported readings, as ``airtoll show`` knows it.
TABLE: Final = "readings"


@frozen(kw_only=True)
class ImportOptions:
    """Options of ``airtoll import``."""

    files: Annotated[
        list[Path],
        typer.Argument(
            parser=named("FILES"), help="Files or folders; one trial each file (CSV may hold more)."
        ),
    ]
    fmt: Annotated[
        str | None,
        typer.Option(
            "--format", help=f"One of: {', '.join(FORMATS)}; default: by each file's content."
        ),
    ] = None
    policy: Annotated[
        str | None,
        typer.Option(
            help="Policy that was in force; default: the one that a file or its folder is named "
            "after (wpa3-1.json, wpa3/1.json), else open."
        ),
    ] = None
    scenario: Annotated[str, typer.Option(help="Name of the set-up.")] = "imported"
    traffic: Annotated[
        str | None,
        typer.Option(
            help="Name of the traffic; default: the file's transport (iperf3 -R: tcp-reverse)."
        ),
    ] = None
    folder: Annotated[
        Path, typer.Option("--out", parser=named("--out"), help="Folder to write or add to.")
    ] = Path("runs/imported")
    baseline: Annotated[
        str | None,
        typer.Option(
            help="Policy that overhead is taken against; default: that of the folder, or open."
        ),
    ] = None
    against: Annotated[
        str | None,
        typer.Option(help="Data set to compare with; needs --readings. Default: the folder's."),
    ] = None
    readings: Annotated[
        list[str] | None,
        typer.Option(help="Column of its readings, e.g. table=7-1 or transport=TCP; repeat."),
    ] = None
    strict: Annotated[
        bool,
        typer.Option("--strict", help="Import nothing if one of several files cannot be read."),
    ] = False
    json: JsonOption = False


@command
def import_command(options: ImportOptions) -> None:
    """Bring your own iperf3, irtt, flent or CSV readings into the observation schema.

    Exit code 3: some of several files could not be read and the others were imported; with --strict
    none was.
    """
    if (options.folder / "run.json").exists():
        raise UsageError(f"{options.folder}: holds a run; name another folder with --out")
    for option, name in (("--scenario", options.scenario), ("--traffic", options.traffic)):
        problem = None if name is None else name_problem(name)
        if problem:
            raise UsageError(f"{option} {shown(name)}: {problem}")
    settings = _settings(options.baseline, options.against, options.readings)
    place = Place(
        scenario=options.scenario, policy=options.policy or "open", traffic=options.traffic
    )
    named_files = _within(options.files)
    by_name = _policies(named_files, options.policy)
    sources: list[Source] = []
    lost: list[str] = []
    refused: dict[str, str] = {}
    for file in named_files:
        own = evolve(place, policy=by_name[file])
        try:
            sources.append(read_file(file, options.fmt or format_of(file), own))
        except DatasetError as error:
            # A name with a mistake is none of a damaged file.
            if options.strict or len(named_files) == 1 or not file.exists():
                raise _alone(file, error, strict=options.strict) from error
            lost.append(left_out(file, error))
            refused[_known_as(file)] = why_left_out(file, error)
    if options.policy is None:
        _say_policies([file for file in named_files if _known_as(file) not in refused])
    if not sources:
        raise DatasetError(f"none of {len(named_files)} files can be read: {'; '.join(lost[:3])}")
    with opened(options.folder) as store:
        added = store.add(sources)
        for note in added.notes:
            _say(note)
        if store.is_empty:
            raise UsageError("nothing to import")
        kept = _keep(options.folder, store, settings, named=options.baseline is not None)
        read = {_known_as(source.path) for source in sources}
        before = {name: why for name, why in kept.refused.items() if name not in read}
        store.write(
            baseline=kept.baseline,
            against=kept.against,
            readings=dict(kept.readings),
            refused=before | refused,
        )
        imported = read_imported(options.folder)
        page = write_report([options.folder])
    new = [source for source in sources if source.path in added.files]
    for text, count in _caveats(new).items():
        _say(f"{count} trial{'s' if count != 1 else ''}: {text}")
    _say(f"report: {page}")
    if options.json:
        emit_json(
            {
                "folder": str(options.folder),
                "files": [str(file) for file in added.files],
                "notes": [*added.notes, *lost],
                "answer": sentences(imported),
                "caveats": [{"says": text, "trials": n} for text, n in _caveats(new).items()],
                "estimates": imported.analysis.estimates.to_dicts(),
                "overheads": imported.analysis.overheads.to_dicts(),
                "published": [_plain(one) for one in imported.comparisons],
            }
        )
        _refuse_lost(lost, sources)
        return
    print_imported(options.folder, imported)
    _refuse_lost(lost, sources)


def _known_as(file: Path) -> str:
    """The name of a file with that of its folder: files of several folders may have one name."""
    return shown_line(str(Path(file.parent.name) / file.name))


def _within(files: list[Path]) -> list[Path]:
    """The files, and those of readings in the folders among them."""
    found: list[Path] = []
    for file in files:
        if not file.is_dir():
            found.append(file)
            continue
        inside = sorted(
            one for one in file.iterdir() if one.is_file() and set(one.suffixes) & {*READINGS}
        )
        if not inside:
            raise UsageError(f"{file}: the folder holds none of {', '.join(READINGS)}")
        found += inside
    return found


def _policies(files: list[Path], stated: str | None) -> dict[Path, str]:
    """The policy of each file: the stated one, else by its name, else open."""
    by_name = {file: policy_of(file) for file in files}
    if stated is not None:
        own = resolve(stated).name
        other = Counter(name for name in by_name.values() if name not in (None, own))
        for name, count in other.items():
            _say(
                f"{_files(count)} named after {name} imported as {own}, as --policy says; leave "
                "--policy out to take the names"
            )
        return dict.fromkeys(files, own)
    return {file: name or "open" for file, name in by_name.items()}


def _say_policies(files: Sequence[Path]) -> None:
    """The policies that the names of these files or of their folders say, and how often."""
    counts = Counter(name for name in map(policy_of, files) if name is not None)
    if counts:
        told = [f"{name} {count}" for name, count in counts.items()]
        bare = len(files) - counts.total()
        told += [f"open {bare}, which no name says"] if bare else []
        _say(f"policies by the names of files or folders: {', '.join(told)}")


def _alone(file: Path, error: DatasetError, *, strict: bool) -> DatasetError:
    """The error that ends an import; for a test that was cut off it says how to go on."""
    why = why_left_out(file, error)
    if not why.startswith("ends "):
        return error
    without = ", or leave --strict out: the other files are imported" if strict else ""
    return DatasetError(f"{file} {why}: the test was cut off; repeat it{without}")


def _files(count: int) -> str:
    return f"{count} file{'s' if count != 1 else ''}"


def _refuse_lost(lost: list[str], sources: list[Source]) -> None:
    """End with the code of work that is done in part, where files could not be read."""
    if lost:
        said = lost[:3] + ([f"and {len(lost) - 3} more"] if len(lost) > 3 else [])
        raise PartlyRead(
            f"{'; '.join(said)}; {len(sources)} of {len(sources) + len(lost)} imported"
        )


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


def print_imported(folder: Path, imported: Imported) -> None:
    """The answer in words, then the values with their units."""
    console = out()
    first, *_ = headline(imported)
    console.print(first, markup=False, soft_wrap=True)
    said = sentences(imported)
    for line in said[: shown_rows(len(said))] or headline(imported)[1:]:
        console.print(line, style="bold", markup=False, soft_wrap=True)
    rest = "airtoll report --format csv has all"
    say_rest(len(said), rest)
    rows = estimate_rows(imported.analysis)
    view = table(shown_line(str(folder)), ["cell", "metric", "value", "n"], right=["value", "n"])
    for row in rows[: shown_rows(len(rows))]:
        view.add_row(row["cell"], row["metric"], row["value"], row["n"])
    console.print(view)
    say_rest(len(rows), rest)
    for one in imported.comparisons:
        error = one.absolute_error if one.quantity == "overhead" else one.relative_error
        unit = "points" if one.quantity == "overhead" else "%"
        out().print(
            f"{one.cell}, {one.quantity}: table {one.table} prints {one.printed} "
            f"{one.printed_unit}; yours is {100 * error:+.2f} {unit} off",
            markup=False,
        )
    out().print(f"Files: airtoll show {folder} {TABLE}", markup=False, soft_wrap=True)
