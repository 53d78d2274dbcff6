"""BibTeX of airtoll, of a study or run, and of the papers and documents behind their readings.

Takes names of studies, data sets and run folders; gives entries. The entry of airtoll comes from
``CITATION.cff``, that of a paper from its data set.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from airtoll.errors import StudyError
from airtoll.observe.datasets import Dataset, list_datasets, load_dataset
from airtoll.observe.folder import RunFolder
from airtoll.observe.tables import read_trials
from airtoll.report.latex import escape_latex
from airtoll.study import StudyFile, data_file, load, shipped

#: A key and its value at the beginning of a line of CITATION.cff.
_TOP: Final = re.compile(r"^([a-z-]+): *(.*)$")
_NAME: Final = re.compile(r"^ +(?:- )?name: *(.*)$")
#: A note of a data set behind the name of a venue.
_REMARK: Final = re.compile(r"^(.*?) \((the document carries .*)\)$")
#: A document that several wrote has no author.
_NOBODY: Final = ("several",)


@frozen
class Entry:
    """One entry: its key, and its fields, whose values are text without markup."""

    key: str
    fields: tuple[tuple[str, str], ...]

    def text(self) -> str:
        """The entry as BibTeX.

        Every entry is ``@misc``, which BibTeX and BibLaTeX both print with all of its fields.
        """
        lines = [f"@misc{{{self.key},"]
        for field, value in self.fields:
            shown = value if field == "author" else escape_latex(value)
            if field == "title":
                # The inner braces keep capitals.
                shown = f"{{{shown}}}"
            lines.append(f"  {field} = {{{shown}}},")
        return "\n".join([*lines, "}"]) + "\n"


def cited(subject: str | None) -> list[Entry]:
    """The entries that go with a study, a data set or a run folder; ``None``: with airtoll alone.

    Raises ``StudyError`` for a name of neither, and the errors of a damaged file or run folder.
    """
    software = _software()
    if subject is None:
        return [software]
    if (Path(subject) / "run.json").is_file():
        folder = RunFolder(Path(subject))
        counted = read_trials(folder.path).filter(status="ok").height
        return [software, *_of_study(folder.study_file(), folder.manifest(), counted)]
    # A data set and a study may have one name: the study's entries include the data set's.
    if Path(subject).is_file() or subject in shipped():
        return [software, *_of_study(load(subject), None)]
    if subject in list_datasets() or (Path(subject) / "dataset.toml").is_file():
        return [software, _of_dataset(load_dataset(subject))]
    raise StudyError(
        f"{subject}: no study, data set or run folder; see `airtoll studies list` and "
        "`airtoll datasets list`"
    )


def _software() -> Entry:
    given = citation(data_file("CITATION.cff").read_text("utf-8"))
    fields = [
        ("author", _authors(given["authors"])),
        ("title", given["title"]),
        ("howpublished", f"Software, version {given['version']}, {given['license']}"),
    ]
    fields += [(key, given[key]) for key in ("doi", "url") if given.get(key)]
    if given.get("date-released"):
        fields.append(("year", given["date-released"][:4]))
    return Entry("airtoll", tuple(fields))


def citation(text: str) -> dict[str, Any]:
    """The keys of a citation file whose values are one line, and ``authors`` as a list of names.

    Reads the part of YAML that the file of airtoll uses.
    """
    found: dict[str, Any] = {"authors": []}
    section = ""
    for line in text.splitlines():
        if top := _TOP.match(line):
            section = top[1]
            if top[2] and section != "authors":
                found[section] = top[2].strip("\"'")
        elif section == "authors" and (name := _NAME.match(line)):
            found["authors"].append(name[1].strip("\"'"))
    return found


def _of_study(
    file: StudyFile, manifest: Mapping[str, Any] | None, counted: int = 0
) -> Iterator[Entry]:
    head = file.study.study
    # A study that repeats a paper has the name of the paper's data set.
    wanted = dict.fromkeys(one.dataset for one in file.study.compare)
    if head.name in list_datasets():
        wanted[head.name] = None
    fields = [("title", head.title)]
    if head.name in shipped():
        fields.insert(0, ("author", dict(_software().fields)["author"]))
        fields.append(("howpublished", f"Study {head.name} of airtoll"))
    else:
        fields.append(("howpublished", f"Study {head.name}, run by airtoll"))
    notes = []
    if manifest is not None:
        fields.append(("year", str(manifest["started"])[:4]))
        place = f"testbed {manifest['testbed']}, airtoll {manifest['airtoll']}"
        notes.append(f"{place}, seed {manifest['seed']}")
        if counted:
            notes.append(f"{counted} trials")
    if head.source and not wanted:
        notes.append(f"Source: {head.source}")
    notes.append(f"SHA-256 of the study: {file.sha256}")
    fields.append(("note", "; ".join(notes)))
    # Two runs of different texts of a study are two entries.
    of_run = "" if manifest is None else f"-{file.sha256[:6]}"
    yield Entry(f"airtoll-study-{head.name}{of_run}", tuple(fields))
    for name in wanted:
        yield _of_dataset(load_dataset(name))


def _of_dataset(dataset: Dataset) -> Entry:
    head = dataset.meta["dataset"]
    fields = []
    names = [name for name in head.get("authors", []) if name not in _NOBODY]
    if names:
        # A company is one name; a person's is divided by BibTeX.
        fields.append(("author", _authors(names) if dataset.of_devices else _people(names)))
    fields.append(("title", dataset.title))
    venue = str(head.get("venue", ""))
    remark = _REMARK.match(venue)
    if venue:
        fields.append(("howpublished", remark[1] if remark else venue))
    if "year" in head:
        fields.append(("year", str(head["year"])))
    notes = [remark[2]] if remark else []
    if dataset.of_devices and "address" in dataset.sources.columns:
        notes += dataset.sources["address"].unique(maintain_order=True).to_list()
    if notes:
        fields.append(("note", "; ".join(notes)))
    return Entry(dataset.name, tuple(fields))


def _authors(names: list[str]) -> str:
    """Names that are not divided into first and last ones."""
    return " and ".join(f"{{{escape_latex(name)}}}" for name in names)


def _people(names: list[str]) -> str:
    return " and ".join(map(escape_latex, names))
