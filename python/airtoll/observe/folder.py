"""A run folder: its files, and how to create, find and continue it.

Takes a study, a seed and a path; gives a folder with ``run.json``, the journal and, at the end,
the tables. Never measures. ``run.json`` is the only file that knows the wall clock.

    runs/NAME/run.json               study, seeds, versions, machine, start and end
    runs/NAME/journal.jsonl          every attempt, written at its end
    runs/NAME/observations.parquet   the measured values
    runs/NAME/trials.parquet         the status of every attempt
    runs/NAME/report.html, figures/  the report
"""

from __future__ import annotations

import contextlib
import hashlib
import itertools
import json
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from functools import lru_cache
from importlib import metadata
from pathlib import Path
from typing import IO, Any, Final

from attrs import frozen

from airtoll import __version__
from airtoll.errors import AirtollError, RunError, StorageError
from airtoll.observe.manifest import mistake
from airtoll.observe.replacing import put, refuse_other_encodings, remove, storage_error
from airtoll.plan import Plan, make_plan
from airtoll.study import Study, StudyFile, parse, shipped, with_values

MANIFEST = "run.json"
JOURNAL = "journal.jsonl"
_LIBRARIES = ("numpy", "polars")


@frozen
class RunFolder:
    """A run on disk."""

    path: Path

    @property
    def journal(self) -> Path:
        """The journal file."""
        return self.path / JOURNAL

    def manifest(self) -> dict[str, Any]:
        """The content of ``run.json``.

        Raises ``RunError`` if this is no run folder, or one whose ``run.json`` is damaged.
        """
        file = self.path / MANIFEST
        try:
            data = json.loads(file.read_text("utf-8"))
        except FileNotFoundError as error:
            raise RunError(f"{self.path}: no run folder: {MANIFEST} is missing") from error
        except OSError as error:
            raise RunError(f"{file}: cannot be read: {error.strerror}") from error
        except (ValueError, RecursionError) as error:
            said = "nested too deeply" if isinstance(error, RecursionError) else error
            raise RunError(f"{file}: no run manifest: {said}") from error
        problem = mistake(data)
        if problem is not None:
            raise RunError(f"{file}: no run manifest: {problem}")
        # Runs of early versions have no options.
        manifest: dict[str, Any] = {"options": {}, **data}
        return manifest

    def study_file(self) -> StudyFile:
        """The study of the run, with the values of its options. Raises ``RunError``."""
        study = self.manifest()["study"]
        with self._reading():
            return _study_file(study["text"], study["path"], json.dumps(study["values"]))

    def plan(self) -> Plan:
        """The plan that was run. Raises ``RunError``."""
        manifest = self.manifest()
        study = manifest["study"]
        with self._reading():
            return _plan(
                study["text"],
                study["path"],
                json.dumps(study["values"]),
                manifest["seed"],
                manifest["repetitions"],
                json.dumps(manifest.get("further", {})),
            )

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """A study that a folder cannot hold is a fault of the folder, not of the user's study."""
        try:
            yield
        except AirtollError as error:
            raise RunError(f"{self.path / MANIFEST}: its study is damaged: {error}") from error

    def update(self, **values: Any) -> None:
        """Set top-level keys of the manifest, in one atomic step."""
        self._write({**self.manifest(), **values})

    def _write(self, manifest: Mapping[str, Any]) -> None:
        text = json.dumps(manifest, indent=2, ensure_ascii=False) + "\n"

        def write(file: IO[bytes]) -> None:
            # A lone surrogate (a name that is no UTF-8) becomes the escape that JSON has for it.
            file.write(text.encode(errors="backslashreplace"))
            file.flush()
            os.fsync(file.fileno())

        put(self.path / MANIFEST, write)


def study_named(manifest: Mapping[str, Any], folder: Path) -> str:
    """A run's study as a command names it: the name of a shipped one, else its file.

    The file as it is found from the working directory; its name alone where it is gone, and of runs
    that did not record its place.
    """
    study = manifest["study"]
    own = shipped().get(study["name"])
    if own is not None and hashlib.sha256(own.read_bytes()).hexdigest() == study["sha256"]:
        return str(study["name"])
    file = (folder / study["from_run"]).resolve() if "from_run" in study else None
    if file is None or not file.is_file():
        return str(study["path"])
    here = Path.cwd()
    return str(file.relative_to(here) if file.is_relative_to(here) else file)


def _from(folder: Path, file: Path) -> str:
    """A file's path from a folder, so that both may move together."""
    try:
        return Path(os.path.relpath(file.resolve(), folder.resolve())).as_posix()
    except ValueError:  # another drive
        return str(file.resolve())


def _study_file(text: str, path: str, values: str) -> StudyFile:
    """``values``: those of the options, as JSON."""
    file = parse(text, Path(path))
    own = json.loads(values)
    return with_values(file, own, recorded=True) if own else file


@lru_cache(maxsize=1)
def _plan(text: str, path: str, values: str, seed: int, repetitions: int, further: str) -> Plan:
    """A run and its report read the plan several times. ``further``: JSON, as ``values``."""
    study = _study_file(text, path, values).study
    return make_plan(study, seed=seed, repetitions=repetitions, further=json.loads(further))


def create(
    path: Path,
    file: StudyFile,
    *,
    values: Mapping[str, Any],
    testbed: str,
    seed: int,
    repetitions: int,
    environment: Mapping[str, str],
    options: Mapping[str, Any],
) -> RunFolder:
    """A fresh run folder.

    Raises ``StorageError`` if the folder holds a run already or cannot be written.
    """
    folder = RunFolder(path)
    if (path / MANIFEST).exists():
        raise StorageError(
            f"{path}: holds a run already; --resume continues it, --out chooses another place"
        )
    make(path)
    for name in _OWN:
        found = next(path.glob(name), None)
        if found is not None:
            raise StorageError(f"{found}: is there already; choose another --out")
    folder._write(
        {
            "airtoll": __version__,
            "state": "running",
            "study": {
                "name": file.study.study.name,
                "title": file.study.study.title,
                "path": file.path.name,
                "from_run": _from(path, file.path),
                "sha256": file.sha256,
                "values": dict(values),
                "text": file.text,
            },
            "testbed": testbed,
            "seed": seed,
            "repetitions": repetitions,
            "options": dict(options),
            "environment": dict(environment),
            "machine": _machine(),
            "started": _now(),
            "ended": None,
        }
    )
    return folder


def make(path: Path) -> bool:
    """Make a folder; gives whether it was not there. Raises ``StorageError``."""
    refuse_other_encodings(path)
    try:
        for place in (path, *path.parents):
            if place.exists() and not place.is_dir():
                which = "" if place == path else f"{place} "
                raise StorageError(f"{path}: {which}is a file, not a folder; choose another --out")
        there = path.is_dir()
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(path, error) from error
    return not there


#: Files of a run; others in its folder are the user's.
_OWN: Final = (
    MANIFEST,
    JOURNAL,
    "observations.parquet",
    "trials.parquet",
    "sketches.parquet",
    "theory.parquet",
    "report.html",
    "figures/*.svg",
    "figures/*.png",
    "figures/*.pdf",
)


def discard(path: Path) -> None:
    """Remove the files of a run; its folder's lock is held. Raises ``StorageError``."""
    for pattern in _OWN:
        for file in path.glob(pattern):
            remove(file)


def check_same(
    folder: RunFolder,
    file: StudyFile,
    *,
    testbed: str,
    seed: int | None = None,
    trials: int | None = None,
    values: Mapping[str, Any] | None = None,
    as_printed: bool = False,
    real_stations: int | None = None,
) -> None:
    """Refuse to continue a run with other options than its own.

    An option that is ``None`` or empty keeps the run's value. Raises ``RunError`` that names the
    difference.
    """
    manifest = folder.manifest()
    study = manifest["study"]
    options = manifest["options"]
    difference = None
    cure = "leave the option out or choose another --out"
    if study["name"] != file.study.study.name:
        difference = f"is a run of study {study['name']}, not of {file.study.study.name}"
        cure = "name that study or choose another --out"
    elif study["sha256"] != file.sha256:
        difference = f"was made by another version of {study['name']}: " + _first_difference(
            study["text"], file.text
        )
        cure = "undo the change of the file or choose another --out"
    elif manifest["testbed"] != testbed:
        difference = f"was made on {manifest['testbed']}, not on {testbed}"
    elif manifest["airtoll"] != __version__:
        difference = f"was made by airtoll {manifest['airtoll']}, this is {__version__}"
        cure = f"go on with {manifest['airtoll']} or choose another --out"
    elif seed is not None and seed != manifest["seed"]:
        difference = f"has seed {manifest['seed']}, not {seed}"
    elif trials is not None and not _plans(manifest, file, trials):
        difference = _with_trials(manifest, file, trials)
    elif as_printed and not options.get("as_printed"):
        difference = "was made without --as-printed"
    elif real_stations not in (None, options.get("real_stations")):
        difference = f"was made {_with_real(options)}, not with --real-stations {real_stations}"
    else:
        for key, value in (values or {}).items():
            if key not in study["values"]:
                difference = f"was made without --set {key}={value}"
            elif study["values"][key] != _as_stored(value):
                difference = f"has {key} = {study['values'][key]}, not {value}"
    if difference:
        raise RunError(f"{folder.path}: {difference}; {cure}")


def precision_of(options: Mapping[str, Any], study: Study) -> float | None:
    """The precision that a run goes on to: that of its options, else the study's.

    ``options``: as in ``run.json``. A number of trials alone switches the study's off.
    """
    own: float | None = options.get("until_precision")
    if own is not None or options.get("trials") is not None:
        return own
    return study.trials.until_precision


def _plans(manifest: Mapping[str, Any], file: StudyFile, trials: int) -> bool:
    """Whether a run has that number of trials by its options, or by its study."""
    asked = manifest["options"].get("trials")
    if asked is not None:
        return bool(trials == asked)
    fixed = precision_of(manifest["options"], file.study) is None
    return fixed and bool(trials == manifest["repetitions"])


def _with_trials(manifest: Mapping[str, Any], file: StudyFile, trials: int) -> str:
    wanted = precision_of(manifest["options"], file.study)
    if wanted is None:
        return f"plans {manifest['repetitions']} trials per cell, not {trials}"
    until = f"every overhead is known within {100 * wanted:g} %"
    return f"adds trials until {until}, not {trials} trials per cell"


def _with_real(options: Mapping[str, Any]) -> str:
    count = options.get("real_stations")
    return "without --real-stations" if count is None else f"with --real-stations {count}"


def _first_difference(before: str, now: str) -> str:
    """The first line in which two texts differ."""
    pairs = itertools.zip_longest(before.splitlines(), now.splitlines(), fillvalue="")
    for number, (old, new) in enumerate(pairs, 1):
        if old != new:
            return f"line {number} was {old.strip()!r:.80}, it is {new.strip()!r:.80}"
    return "its line ends differ"


def _as_stored(value: Any) -> Any:
    """A value of an option in the form in which ``run.json`` returns it."""
    return json.loads(json.dumps(value))


def free_places(base: Path) -> Iterator[Path]:
    """``base``, ``base-2``, ``base-3`` ..., those with a run left out."""
    for number in itertools.count(1):
        place = base if number == 1 else base.with_name(f"{base.name}-{number}")
        if not (place / MANIFEST).exists():
            yield place


#: Keys of an environment that say on which machine and clock trials run.
_PLACE: Final = ("linux", "accelerator", "guest_time", "kernel", "air")


def note_environment(folder: RunFolder, environment: Mapping[str, str]) -> None:
    """Record the environment as it is once the testbed has opened.

    A run that went on in another place keeps every earlier environment as well.
    """
    manifest = folder.manifest()
    held = manifest["environment"]
    if all(environment.get(key) == value for key, value in held.items()):
        folder.update(environment=dict(environment))
    elif any(key not in environment for key in held):
        return  # the testbed never opened: what an earlier part of the run recorded holds
    else:
        earlier = [*manifest.get("earlier_environments", []), held]
        folder.update(environment=dict(environment), earlier_environments=earlier)


def places(folder: RunFolder) -> list[str]:
    """Where the trials of a run were carried out, in words, if in more than one place."""
    manifest = folder.manifest()
    found: list[str] = []
    for environment in (*manifest.get("earlier_environments", []), manifest["environment"]):
        words = ", ".join(environment[key] for key in _PLACE if key in environment)
        if words and words not in found:
            found.append(words)
    return found if len(found) > 1 else []


def finish(folder: RunFolder, state: str) -> None:
    """Record the end of a run: ``finished`` or ``interrupted``."""
    folder.update(state=state, ended=_now())


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _machine() -> dict[str, str]:
    return {
        "system": platform.system(),
        "kernel": platform.release(),
        "architecture": platform.machine(),
        "processor": _processor(),
        "cores": str(os.cpu_count()),
        "python": sys.version.split()[0],
        **{name: metadata.version(name) for name in _LIBRARIES},
    }


def _processor() -> str:
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or "unknown"
