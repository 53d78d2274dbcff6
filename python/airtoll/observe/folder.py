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

import json
import os
import platform
import sys
import tempfile
from collections.abc import Mapping
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path
from typing import Any

from attrs import frozen

from airtoll import __version__
from airtoll.errors import RunError, StorageError
from airtoll.observe.journal import storage_error
from airtoll.plan import Plan, make_plan
from airtoll.study import StudyFile, parse, with_values

MANIFEST = "run.json"
JOURNAL = "journal.jsonl"
_LIBRARIES = ("numpy", "polars", "scipy")


@frozen
class RunFolder:
    """A run on disk."""

    path: Path

    @property
    def journal(self) -> Path:
        """The journal file."""
        return self.path / JOURNAL

    def manifest(self) -> dict[str, Any]:
        """The content of ``run.json``. Raises ``RunError`` if this is no run folder."""
        file = self.path / MANIFEST
        try:
            data = json.loads(file.read_text("utf-8"))
        except FileNotFoundError as error:
            raise RunError(f"{self.path}: no run folder: {MANIFEST} is missing") from error
        except (OSError, ValueError) as error:
            raise RunError(f"{file}: cannot be read: {error}") from error
        if not isinstance(data, dict):
            raise RunError(f"{file}: no run manifest")
        return data

    def study_file(self) -> StudyFile:
        """The study of the run, with the values of its options."""
        manifest = self.manifest()
        file = parse(manifest["study"]["text"], Path(manifest["study"]["path"]))
        values = manifest["study"]["values"]
        return with_values(file, values) if values else file

    def plan(self) -> Plan:
        """The plan that was run."""
        manifest = self.manifest()
        return make_plan(
            self.study_file().study,
            seed=manifest["seed"],
            repetitions=manifest["repetitions"],
        )

    def update(self, **values: Any) -> None:
        """Set top-level keys of the manifest, in one atomic step."""
        self._write({**self.manifest(), **values})

    def _write(self, manifest: Mapping[str, Any]) -> None:
        try:
            with tempfile.NamedTemporaryFile(
                "w", dir=self.path, prefix=".run-", suffix=".json", delete=False, encoding="utf-8"
            ) as file:
                json.dump(manifest, file, indent=2, ensure_ascii=False)
                file.write("\n")
                file.flush()
                os.fsync(file.fileno())
            Path(file.name).replace(self.path / MANIFEST)
        except OSError as error:
            raise storage_error(self.path, error) from error


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
    try:
        path.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise storage_error(path, error) from error
    folder._write(
        {
            "airtoll": __version__,
            "state": "running",
            "study": {
                "name": file.study.study.name,
                "title": file.study.study.title,
                "path": file.path.name,
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


def check_same(folder: RunFolder, file: StudyFile, *, testbed: str) -> None:
    """Raise ``RunError`` if a folder's run is of another study or testbed."""
    manifest = folder.manifest()
    if manifest["study"]["sha256"] != file.sha256:
        raise RunError(
            f"{folder.path}: was made by another version of {manifest['study']['name']}; "
            "choose another --out"
        )
    if manifest["testbed"] != testbed:
        raise RunError(f"{folder.path}: was made on {manifest['testbed']}; choose another --out")


def free_place(base: Path) -> Path:
    """``base``, or the first of ``base-2``, ``base-3`` ... without a run."""
    place, number = base, 1
    while (place / MANIFEST).exists():
        number += 1
        place = base.with_name(f"{base.name}-{number}")
    return place


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
