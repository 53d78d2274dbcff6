"""The folder of a lesson on the disk.

Takes a seed, a policy and a place; gives the files there. ``lesson.json`` keeps the digest of each
file: a file with another digest is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from pathlib import Path
from typing import Final

from attrs import frozen

from airtoll import __version__
from airtoll.capture.page import page as capture_page
from airtoll.capture.reports import capture_report
from airtoll.errors import UsageError
from airtoll.lesson.sheet import html, markdown
from airtoll.lesson.tasks import tasks
from airtoll.observe.replacing import put_text, replacing, storage_error
from airtoll.policies import resolve
from airtoll.report import browser
from airtoll.report.playground import render
from airtoll.run.lessons import lessons
from airtoll.testbeds.example import AIR, KEYS, compose, wireshark_key

#: Files of a lesson, by what they are for.
PAGE: Final = "playground.html"
CAPTURE: Final = "handshake"
_RECORD: Final = "lesson.json"


@frozen
class Lesson:
    """A lesson on the disk: its folder, and each file with its purpose."""

    folder: Path
    files: dict[str, str]


def write_lesson(
    folder: Path,
    *,
    seed: int = 1,
    policy: str = "wpa2-psk-ccmp",
    with_page: bool = True,
    force: bool = False,
) -> Lesson:
    """Write the files of a lesson. The same seed and policy give the same octets.

    Raises ``UsageError`` for a file that airtoll did not write or that was changed since, but with
    ``force``, and where the simulator for browsers is not built, but without ``with_page``;
    ``PolicyError`` for an unknown policy; ``StorageError`` if the disk refuses.
    """
    name = resolve(policy).name
    if with_page and browser.module() is None:
        raise UsageError(
            f"{PAGE}: the simulator for browsers is not built: run `make web`, install a wheel, or "
            "leave the page out with --no-page"
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file; name a folder")
    files = _purposes(with_page)
    if not force:
        _refuse_foreign(folder, files)
    with tempfile.TemporaryDirectory() as made:
        _make(Path(made), name, seed, with_page)
        for file in files:
            target = folder / file
            try:
                target.parent.mkdir(parents=True, exist_ok=True)
            except OSError as error:
                raise storage_error(target.parent, error) from error
            with replacing(target) as place:
                shutil.copyfile(Path(made) / file, place)
    record = {
        "airtoll": __version__,
        "seed": seed,
        "policy": name,
        "sha256": {file: _digest(folder / file) for file in files},
    }
    put_text(folder / _RECORD, json.dumps(record, indent=2) + "\n")
    return Lesson(folder, files)


def _purposes(with_page: bool) -> dict[str, str]:
    return {
        "tasks.html": "tasks, to print",
        "tasks.md": "tasks, to edit",
        "solutions.html": "solutions, to print: for the teacher",
        "solutions.md": "solutions, to edit",
        **({PAGE: "the lessons, simulated in the browser"} if with_page else {}),
        "handshake.html": "the handshake as a page",
        f"{CAPTURE}/{AIR}": "its frames, for airtoll and Wireshark",
        f"{CAPTURE}/wire.pcapng": "its packets on the wire",
        f"{CAPTURE}/{KEYS}": "its keys, for airtoll",
    }


def _make(place: Path, policy: str, seed: int, with_page: bool) -> None:
    """Write all files below ``place``."""
    scenarios = lessons(seed)
    compose(policy, place / CAPTURE, seed=seed)
    capture = capture_report([place / CAPTURE / AIR], (), [place / CAPTURE / KEYS])
    put_text(place / "handshake.html", capture_page(capture))
    found = tasks(scenarios, capture, CAPTURE, wireshark_key(place / CAPTURE / KEYS))
    note = f"Made by airtoll {__version__} with seed {seed}; the handshake has the policy {policy}."
    for solved, name in ((False, "tasks"), (True, "solutions")):
        put_text(place / f"{name}.md", markdown(found, solved=solved, note=note))
        put_text(place / f"{name}.html", html(found, solved=solved, note=note))
    if with_page:
        put_text(place / PAGE, render(scenarios))


def _refuse_foreign(folder: Path, files: dict[str, str]) -> None:
    known = _recorded(folder)
    for file in (*files, _RECORD):
        path = folder / file
        if not path.exists():
            continue
        if file == _RECORD:
            if not known:
                raise UsageError(f"{path}: exists, and is no record of a lesson; {_REMEDY}")
        elif not path.is_file() or known.get(file) != _digest(path):
            raise UsageError(
                f"{path}: exists, and airtoll did not write it or it was changed since; {_REMEDY}"
            )


_REMEDY: Final = "name another folder, or replace it with --force"


def _recorded(folder: Path) -> dict[str, str]:
    """The digests that the last lesson of the folder left; none where there is no record."""
    try:
        record = json.loads((folder / _RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    digests = record.get("sha256") if isinstance(record, dict) else None
    return digests if isinstance(digests, dict) else {}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise storage_error(path, error) from error
