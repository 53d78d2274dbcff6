"""Any octets as one file of a run folder: a report and a resumed run, or one line."""

from __future__ import annotations

import shutil
import tempfile
from pathlib import Path

import atheris
import fuzzing

with atheris.instrument_imports(include=["airtoll.observe", "airtoll.run", "airtoll.report"]):
    from airtoll.errors import AirtollError
    from airtoll.report import report_text
    from airtoll.run import run

_PLACE = Path(tempfile.mkdtemp(prefix="airtoll-fuzz-"))
_STUDY = _PLACE / "small.toml"
FILES = (
    "run.json",
    "journal.jsonl",
    "observations.parquet",
    "trials.parquet",
    "sketches.parquet",
    "theory.parquet",
    "study.toml",
)


def target(octets: bytes) -> None:
    """The first octet is the file that changes, the rest is its content."""
    if not octets:
        return
    place = _PLACE / "changed"
    shutil.rmtree(place, ignore_errors=True)
    shutil.copytree(_PLACE / "good", place)
    (place / FILES[octets[0] % len(FILES)]).write_bytes(octets[1:])
    for step in (
        lambda: report_text([place], form="csv"),
        lambda: run(_STUDY, out=place, resume=True, jobs=1),
    ):
        try:
            step()
        except AirtollError as error:
            fuzzing.one_line(error)


def _seeds() -> dict[str, bytes]:
    _STUDY.write_text(
        '[study]\nname = "small"\ntitle = "Small"\n[trials]\nrepetitions = 2\n[scenario.home]\n'
        '[traffic.udp]\ntransport = "udp"\nduration_s = 0.02\n'
        '[grid]\npolicy = ["open", "wpa2-psk-ccmp"]\n'
    )
    good = run(_STUDY, out=_PLACE / "good", jobs=1).path
    return {
        name: bytes([number]) + (good / name).read_bytes()
        for number, name in enumerate(FILES)
        if (good / name).exists()
    }


if __name__ == "__main__":
    fuzzing.fuzz(target, _seeds())
