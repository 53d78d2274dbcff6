"""Any octets as the journal of a run: its records, or one line that names the damaged line."""

from __future__ import annotations

import tempfile
from pathlib import Path

import atheris
import fuzzing

with atheris.instrument_imports(include=["airtoll.observe"]):
    from airtoll.errors import AirtollError
    from airtoll.observe import journal
    from airtoll.run import run

_PLACE = Path(tempfile.mkdtemp(prefix="airtoll-fuzz-"))


def target(octets: bytes) -> None:
    """Read records, index and the records at the index; a record that was read is written again."""
    path = _PLACE / "journal.jsonl"
    path.write_bytes(octets)
    try:
        records = list(journal.read(path))
        places = list(journal.read_index(path))
        again = list(journal.read_at(path, [offset for _, offset, _ in places]))
    except AirtollError as error:
        fuzzing.one_line(error)
        return
    assert [record.key for record in again] == [record.key for record in records]
    assert [key for key, _, _ in places] == [record.key for record in records]
    copy = _PLACE / "copy.jsonl"
    copy.unlink(missing_ok=True)
    with journal.Journal(copy) as store:
        for record in records:
            store.append(record)
    assert [record.key for record in journal.read(copy)] == [record.key for record in records]


def _seed() -> bytes:
    study = _PLACE / "small.toml"
    study.write_text(
        '[study]\nname = "small"\ntitle = "Small"\n[trials]\nrepetitions = 2\n[scenario.home]\n'
        '[traffic.udp]\ntransport = "udp"\nduration_s = 0.02\n'
        '[grid]\npolicy = ["open", "wpa2-psk-ccmp"]\n'
    )
    return (run(study, out=_PLACE / "run", jobs=1).path / "journal.jsonl").read_bytes()


if __name__ == "__main__":
    whole = _seed()
    fuzzing.fuzz(target, {"whole": whole, "torn": whole[:-20], "one": whole.split(b"\n")[0]})
