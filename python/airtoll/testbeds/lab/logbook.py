"""The log of a laboratory, and its state: files beside the lab file that outlive a run.

Takes events; appends one JSON object per line. The state holds the last verified setting and the
places of stations, so that a restart touches nothing without need.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from pathlib import Path

from airtoll.errors import StorageError
from airtoll.observe.replacing import storage_error
from airtoll.testbeds.lab.access_point import Settings
from airtoll.testbeds.linux.daemons.credentials import Credentials


def now() -> str:
    """The time of an event, UTC."""
    return datetime.now(UTC).isoformat(timespec="seconds")


class Logbook:
    """Events and state of one laboratory. ``lab_file``: None keeps them in memory alone."""

    def __init__(self, lab_file: Path | None, clock: Callable[[], str] = now) -> None:
        self.events: list[dict[str, object]] = []
        self.reports: dict[str, str] = {}
        self._file = None if lab_file is None else lab_file.with_name(f"{lab_file.stem}.log.jsonl")
        self._state_file = (
            None if lab_file is None else lab_file.with_name(f"{lab_file.stem}.state.json")
        )
        self._clock = clock
        self._state = self._read_state()

    def add(self, event: str, **values: object) -> None:
        """Append an event; it is on the disk when this returns. Raises ``StorageError``."""
        line = {"at": self._clock(), "event": event, **values}
        if self._file is None:
            self.events.append(line)
            return
        try:
            self._append(self._file, json.dumps(line).encode() + b"\n")
        except OSError as error:
            raise storage_error(self._file, error) from error

    @staticmethod
    def _append(file: Path, octets: bytes) -> None:
        with file.open("a+b", buffering=0) as out:
            end = out.seek(0, os.SEEK_END)
            if end:  # a killed process, or a full disk, may have left half a line
                out.seek(end - 1)
                octets = octets if out.read(1) == b"\n" else b"\n" + octets
            try:
                left = memoryview(octets)
                while left:
                    left = left[out.write(left) :]
                os.fsync(out.fileno())
            except OSError:
                out.truncate(end)
                raise

    @property
    def day(self) -> str:
        """The day of now, as in the times of events."""
        return self._clock()[:10]

    def days(self) -> list[str]:
        """The days that have events, in order."""
        return sorted({str(event.get("at", ""))[:10] for event in self.read()})

    def read(self) -> Iterator[dict[str, object]]:
        """All events. Half a line, as a kill leaves it, is none. Raises ``StorageError``."""
        if self._file is None:
            yield from self.events
            return
        try:
            with self._file.open(encoding="utf-8", errors="replace") as lines:
                for line in lines:
                    with contextlib.suppress(ValueError):
                        if isinstance(event := json.loads(line), dict):
                            yield event
        except FileNotFoundError:
            return
        except OSError as error:
            raise storage_error(self._file, error) from error

    def keep_report(self, day: str, text: str) -> None:
        """Write the report of a day beside the log. Raises ``StorageError``."""
        if self._file is None:
            self.reports[day] = text
            return
        path = self._file.with_name(f"{self._file.name.partition('.log.')[0]}.report-{day}.txt")
        try:
            path.write_text(text, "utf-8")
        except OSError as error:
            raise storage_error(path, error) from error

    @property
    def setting(self) -> str | None:
        """Digest of the last verified setting; None where it is unknown."""
        found = self._state.get("setting")
        return found if isinstance(found, str) else None

    @property
    def places(self) -> dict[str, str]:
        """Station of a study -> the words of its last place."""
        found = self._state.get("places")
        if not isinstance(found, Mapping):
            return {}
        return {str(name): str(words) for name, words in found.items()}

    def remember(self, *, setting: str | None, places: Mapping[str, str]) -> None:
        """Keep the state. Raises ``StorageError``."""
        state: dict[str, object] = {"setting": setting, "places": dict(places)}
        if state == self._state:
            return
        self._state = state
        if self._state_file is None:
            return
        scratch = self._state_file.with_name(self._state_file.name + ".new")
        try:
            scratch.write_text(json.dumps(state), "utf-8")
            scratch.replace(self._state_file)
        except OSError as error:
            raise storage_error(self._state_file, error) from error

    def _read_state(self) -> dict[str, object]:
        if self._state_file is None:
            return {}
        try:
            found = json.loads(self._state_file.read_text("utf-8"))
        except FileNotFoundError:
            return {}
        except (OSError, ValueError) as error:
            raise StorageError(
                f"{self._state_file}: cannot be read: {error}; remove it to begin anew"
            ) from error
        return found if isinstance(found, dict) else {}


def digest(settings: Settings, secret: Credentials) -> str:
    """One word for a setting with its secrets, which cannot be read back from it."""
    lines = settings.fields(secret)
    salt = secret.rrb_key + secret.mobility_key
    return hashlib.sha256(f"{salt}{json.dumps(lines)}".encode()).hexdigest()
