"""Files of other tools as trials and observation rows."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Final

import polars as pl
from attrs import evolve, frozen

from airtoll.errors import DatasetError
from airtoll.observe.imports import flent, iperf3, irtt
from airtoll.observe.imports.documents import Document, documents, read_octets, text_of
from airtoll.observe.imports.table import read_table
from airtoll.observe.imports.trial import Place, Trial, observations_of, trials_of
from airtoll.observe.imports.value import Reading, Test, Value
from airtoll.policies import resolve

_READERS: Final[dict[str, Callable[[Sequence[Document]], Reading]]] = {
    "iperf3": iperf3.read,
    "irtt": irtt.read,
    "flent": flent.read,
}

FORMATS: Final = (*_READERS, "csv")


@frozen
class Source:
    """A file, read: the SHA-256 of its octets, and its trials, not numbered yet.

    ``identities``: one for each trial of a JSON format, none for a table. ``left_out``: what was
    not read, a sentence each.
    """

    path: Path
    sha256: str
    fmt: str
    trials: tuple[Trial, ...]
    identities: tuple[str | None, ...] = ()
    left_out: tuple[str, ...] = ()

    @property
    def is_table(self) -> bool:
        """Whether rows without a trial's number are one trial."""
        return self.fmt == "csv"


def read_file(path: Path, fmt: str, place: Place) -> Source:
    """Read one file. ``traffic`` defaults to the transport that the file names.

    Two records of one test in the file are one trial: that with more values. Raises
    ``DatasetError`` that names the file and what is wrong, ``PolicyError`` for an unknown policy.
    """
    if fmt not in FORMATS:
        raise DatasetError(f"format {fmt!r}: allowed are {', '.join(FORMATS)}")
    place = evolve(place, policy=resolve(place.policy).name)
    try:
        octets = read_octets(path)
        digest = hashlib.sha256(octets).hexdigest()
        if fmt == "csv":
            trials, notes = read_table(path, octets, place)
            return Source(path, digest, fmt, tuple(trials), left_out=tuple(notes))
        tests, left_out = _tests(octets, fmt)
    except DatasetError as error:
        named = str(error).startswith(f"{path}:")
        raise error if named else DatasetError(f"{path}: {error}") from error
    return Source(
        path,
        digest,
        fmt,
        tuple(_trial(test, place) for test in tests),
        tuple(test.identity for test in tests),
        tuple(left_out),
    )


def import_files(
    paths: Sequence[Path], fmt: str, place: Place, first_trial: int = 1
) -> pl.DataFrame:
    """Observations of some files, one trial per test, in the order given.

    A file counts as often as it is named. Raises the errors of :func:`read_file`.
    """
    numbered: list[Trial] = []
    number = first_trial
    for path in paths:
        source = read_file(path, fmt, place)
        if source.is_table:
            found = [evolve(t, number=number if t.number is None else t.number)
                     for t in source.trials]  # fmt: skip
            number += len({trial.number for trial in found})
        else:
            found = [evolve(t, number=number + index) for index, t in enumerate(source.trials)]
            number += len(found)
        numbered += found
    if not numbered:
        raise DatasetError("no file to import: name at least one")
    return observations_of(numbered, place.study)


def _tests(octets: bytes, fmt: str) -> tuple[list[Test], list[str]]:
    """The tests of a file, each once, and what was left out."""
    try:
        found, faults = documents(text_of(octets, lenient=True))
    except DatasetError as error:
        raise DatasetError(f"not readable as JSON of {fmt}: {error}{_hint(octets, fmt)}") from error
    try:
        reading = _READERS[fmt](found)
    except DatasetError as error:
        raise DatasetError(f"{error}{_other_format(found, fmt)}") from error
    tests: list[Test] = []
    for test in reading.tests:
        if not test.values:
            said = "; ".join(test.caveats)
            raise DatasetError(f"holds no value that airtoll knows{': ' * bool(said)}{said}")
        same = next(
            (place for place, other in enumerate(tests)
             if test.identity is not None and other.identity == test.identity),
            None,
        )  # fmt: skip
        if same is None:
            tests.append(test)
        elif test.known > tests[same].known:
            tests[same] = test
    return tests, [*faults, *reading.left_out]


def _hint(octets: bytes, fmt: str) -> str:
    """The remedy for output for people in place of JSON."""
    if fmt == "iperf3" and b"bits/sec" in octets[: 2**16]:
        return "; it is iperf's output for people: run iperf3 with --json"
    return ""


#: Keys by which a document of another format is known.
_KEYS: Final = {
    "iperf3": ("start", "intervals"),
    "irtt": ("stats", "round_trips"),
    "flent": ("metadata", "x_values"),
}


def _other_format(found: Sequence[Document], fmt: str) -> str:
    """The right ``--format``, where the first document has the keys of another one."""
    first = found[0].data
    for other, keys in _KEYS.items():
        if other != fmt and isinstance(first, dict) and all(key in first for key in keys):
            return f"; it looks like a result of {other}: name --format {other}"
    return ""


def _trial(test: Test, place: Place) -> Trial:
    traffic = place.traffic or test.traffic
    rows = tuple((v.metric, v.flow, None, v.second, v.value) for v in test.values)
    return Trial(place.scenario, place.policy, traffic, None, rows, test.caveats)


__all__ = ["FORMATS", "Place", "Source", "Value", "import_files", "read_file", "trials_of"]
