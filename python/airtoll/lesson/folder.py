"""The folder of a lesson on the disk.

Takes a seed, a policy and a place; gives the files there. ``lesson.json`` keeps the digest of each
file: a file with another digest is refused.
"""

from __future__ import annotations

import hashlib
import json
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from airtoll import __version__
from airtoll.capture.page import page as capture_page
from airtoll.capture.reports import capture_report
from airtoll.errors import UsageError
from airtoll.lesson.sheet import html, markdown
from airtoll.lesson.tasks import Handshake, tasks
from airtoll.observe.replacing import put_text, replacing, storage_error
from airtoll.policies import resolve
from airtoll.present.names import policy_name
from airtoll.report import browser
from airtoll.report.playground import render, seed_of
from airtoll.run.lessons import lessons
from airtoll.testbeds.example import AIR, KEYS, WIRE, compose, wireshark_keys

#: Files of a lesson, by what they are for.
PAGE: Final = "playground.html"
CAPTURE: Final = "handshake"
#: Policies whose handshakes are compared: the second one of them with the first, else any with the
#: second.
_COMPARED: Final = {"wpa2-psk-ccmp": "handshake-wpa2", "wpa3-sae-ccmp": "handshake-wpa3"}
_RECORD: Final = "lesson.json"

#: The content of ``lesson.json``.
Record = dict[str, Any]


@frozen
class Lesson:
    """A lesson on the disk: its folder, and each written file with its purpose.

    ``page_seed``: the seed of the folder's playground; None where the folder has no playground.
    """

    folder: Path
    files: dict[str, str]
    page_seed: int | None


def write_lesson(
    folder: Path,
    *,
    seed: int = 1,
    policy: str = "wpa2-psk-ccmp",
    with_page: bool = True,
    force: bool = False,
) -> Lesson:
    """Write the files of a lesson. The same seed and policy give the same octets.

    Raises ``UsageError`` for a file that airtoll did not write or that was changed since and for a
    folder with a lesson of another seed or policy, but with ``force``; where the simulator for
    browsers is not built, but without ``with_page``. Raises ``PolicyError`` for an unknown policy;
    ``StorageError`` if the disk refuses.
    """
    name = resolve(policy).name
    if with_page and browser.module() is None:
        raise UsageError(
            f"{PAGE}: the simulator for browsers is not built: run `make web`, install a wheel, or "
            "leave the page out with --no-page"
        )
    if folder.exists() and not folder.is_dir():
        raise UsageError(f"{folder}: is a file; name a folder")
    files = _purposes(name, with_page)
    before = _recorded(folder)
    if not force:
        _refuse_other(folder, before, seed, name)
        _refuse_foreign(folder, files, _digests(before))
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
    _remove_left(folder, files, _digests(before))
    # A page that an earlier lesson left is still airtoll's own.
    kept = {PAGE} - files.keys() if PAGE in _digests(before) and (folder / PAGE).is_file() else ()
    record = {
        "airtoll": __version__,
        "seed": seed,
        "policy": name,
        "sha256": {
            **{file: _digests(before)[file] for file in kept},
            **{file: _digest(folder / file) for file in files},
        },
    }
    put_text(folder / _RECORD, json.dumps(record, indent=2) + "\n")
    return Lesson(folder, files, seed_of(folder / PAGE))


def _captures(policy: str) -> dict[str, str]:
    """The folder of each handshake, with its policy: the policy's own, and one to compare."""
    older, newer = _COMPARED
    other = older if policy == newer else newer
    return {CAPTURE: policy, _COMPARED[other]: other}


def _purposes(policy: str, with_page: bool) -> dict[str, str]:
    found = {
        "tasks.html": "tasks, to print",
        "tasks.md": "tasks, to edit",
        "solutions.html": "solutions, to print: for the teacher",
        "solutions.md": "solutions, to edit",
        **({PAGE: "the lessons, simulated in the browser"} if with_page else {}),
    }
    for capture, name in _captures(policy).items():
        found |= {
            f"{capture}.html": f"the handshake of {policy_name(name)} as a page",
            f"{capture}/{AIR}": "its frames, for airtoll and Wireshark",
            f"{capture}/{WIRE}": "its packets on the wire",
            f"{capture}/{KEYS}": "its keys, for airtoll",
        }
    return found


def _make(place: Path, policy: str, seed: int, with_page: bool) -> None:
    """Write all files below ``place``."""
    scenarios = lessons(seed)
    handshakes = [
        _handshake(place, capture, name, seed) for capture, name in _captures(policy).items()
    ]
    found = tasks(scenarios, handshakes)
    names = " and ".join(one.policy for one in handshakes)
    note = (
        f"Made by airtoll {__version__} with seed {seed}. The handshakes are simulated and have "
        f"the policies {names}."
    )
    for solved, name in ((False, "tasks"), (True, "solutions")):
        put_text(place / f"{name}.md", markdown(found, solved=solved, note=note))
        put_text(place / f"{name}.html", html(found, solved=solved, note=note))
    if with_page:
        put_text(place / PAGE, render(scenarios, answers=False))


def _handshake(place: Path, folder: str, policy: str, seed: int) -> Handshake:
    """Compose a handshake below ``place``, with its page."""
    keys = place / folder / KEYS
    compose(policy, place / folder, seed=seed)
    capture = capture_report([place / folder / AIR], (), [keys])
    page = f"{folder}.html"
    note = (
        f"This capture of {policy_name(policy)} is simulated (seed {seed}): no radio sent it, and "
        "its clock begins at 1970-01-01."
    )
    put_text(place / page, capture_page(capture, note=note))
    return Handshake(policy, folder, page, capture, wireshark_keys(keys))


def _remove_left(folder: Path, files: dict[str, str], known: dict[str, str]) -> None:
    """Remove files of the lesson before that this one lacks, but its playground."""
    for file in known.keys() - files.keys() - {PAGE}:
        path = folder / file
        if path.is_file() and _digest(path) == known[file]:
            try:
                path.unlink()
            except OSError as error:
                raise storage_error(path, error) from error
            with suppress(OSError):
                path.parent.rmdir()


def _refuse_other(folder: Path, before: Record, seed: int, policy: str) -> None:
    """Raise ``UsageError`` where the folder has a lesson with other numbers."""
    there = before.get("seed"), before.get("policy")
    if before and there != (seed, policy):
        raise UsageError(
            f"{folder}: has the lesson of seed {there[0]} and policy {there[1]}, not of seed "
            f"{seed} and policy {policy}; {_REMEDY}"
        )


def _refuse_foreign(folder: Path, files: dict[str, str], known: dict[str, str]) -> None:
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


def _recorded(folder: Path) -> Record:
    """The record of the folder's lesson; empty where there is no record."""
    try:
        record = json.loads((folder / _RECORD).read_bytes())
    except (OSError, ValueError, RecursionError):
        return {}
    return record if isinstance(record, dict) and _digests(record) else {}


def _digests(record: Record) -> dict[str, str]:
    digests = record.get("sha256")
    return digests if isinstance(digests, dict) else {}


def _digest(path: Path) -> str:
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise storage_error(path, error) from error
