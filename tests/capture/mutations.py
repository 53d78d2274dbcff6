"""Damaged captures through reports, ``watch`` and ``compare``; run by ``test_mutations.py``.

    python mutations.py SEED COUNT FOLDER

Takes captures of the tests, damages each in a drawn way, and hands it to the reader, the text, the
page, the watcher and the comparison. Prints the number of damaged captures that were read. Every
answer is a report, or a refusal that airtoll raises on purpose: anything else ends the program. The
damaged capture at hand is in FOLDER, so that a crash leaves it behind.
"""

from __future__ import annotations

import contextlib
import io
import json
import math
import random
import sys
import time
from pathlib import Path
from typing import Any

from airtoll.analyse.captured import take_apart
from airtoll.border.answers import SessionReport
from airtoll.capture import CaptureReport, capture_report, observations, page, watch_capture
from airtoll.cli.capture_text import summarise, told
from airtoll.errors import CaptureError, UsageError

HERE = Path(__file__).parent
#: Captures above this size would make a campaign of minutes one of hours.
MOST_OCTETS = 40_000
#: No damaged capture of this size takes longer, on a busy machine either.
MOST_SECONDS = 20.0
#: Octets that formats give a meaning to: lengths, types, bounds.
TELLING = (0, 1, 2, 4, 8, 16, 0x7F, 0x80, 0xDD, 0xFE, 0xFF)


def sources() -> list[tuple[bytes, list[Path]]]:
    """Captures with the key logs that open them."""
    found = []
    for path in sorted(HERE.glob("cases/*.pcap*")):
        found.append((path.read_bytes(), []))
    for path in sorted(HERE.glob("corpus/*/*/*.pcap")):
        octets = path.read_bytes()[:MOST_OCTETS]
        found.append((octets, [path.with_name("keys.json")]))
    return found


def packets(octets: bytes) -> list[tuple[int, int]]:
    """Where the packets of a pcap file are, record headers included; of pcapng the blocks."""
    little = octets[:1] in (b"\xd4", b"\x4d", b"\x0a")
    order = "little" if little else "big"
    at, places = 24, []
    if octets[:4] == b"\x0a\x0d\x0d\x0a":
        at = 0
    while at + 16 <= len(octets):
        if octets[:4] == b"\x0a\x0d\x0d\x0a":
            length = int.from_bytes(octets[at + 4 : at + 8], order)
        else:
            length = 16 + int.from_bytes(octets[at + 8 : at + 12], order)
        if length < 12 or at + length > len(octets):
            break
        places.append((at, at + length))
        at += length
    return places


def damaged(octets: bytes, other: bytes, draw: random.Random) -> bytes:
    """A capture with one to many places of damage."""
    out = bytearray(octets)
    places = packets(octets)
    for _ in range(draw.choice((1, 1, 2, 4, 16))):
        kind = draw.randrange(9)
        if kind <= 3 and places:
            # Inside a packet: the file stays whole.
            start, end = draw.choice(places)
            header = min(end - 1, start + draw.choice((16, 28)))
            at = draw.randrange(header, end)
            if at < len(out):
                out[at] = draw.choice((draw.randrange(256), draw.choice(TELLING)))
        elif kind == 4 and out:
            out[draw.randrange(len(out))] ^= 1 << draw.randrange(8)
        elif kind == 5 and places:
            start, end = draw.choice(places)
            piece = out[start:end]
            to = draw.choice(places)[0]
            out[to:to] = piece
        elif kind == 6 and places:
            start, end = draw.choice(places)
            del out[start:end]
        elif kind == 7 and other:
            start = draw.randrange(len(other))
            to = draw.randrange(len(out) + 1)
            out[to:to] = other[start : start + draw.choice((4, 24, 300))]
        else:
            del out[draw.randrange(24, max(25, len(out))) :]
    return bytes(out)


def check(report: CaptureReport) -> None:
    """The relations that hold in every report."""
    data = report.data
    assert data["decrypted"] + sum(data["undecrypted"].values()) == data["protected"], "counts"
    assert data["protected"] <= data["frames"], "protected"
    assert data["duration_s"] >= 0, "duration"
    _finite(json.loads(json.dumps(data)))


def _finite(value: Any) -> None:
    if isinstance(value, dict):
        for part in value.values():
            _finite(part)
    elif isinstance(value, list):
        for part in value:
            _finite(part)
    elif isinstance(value, float):
        assert math.isfinite(value), value


def read(path: Path, logs: list[Path], baseline: CaptureReport) -> bool:
    """One capture through everything; whether it was one."""
    lines: list[str] = []

    def tell(session: SessionReport) -> None:
        lines.append(told(session))

    with contextlib.suppress(CaptureError):
        watch_capture(str(path), tell, key_logs=logs)
    try:
        report = capture_report([path], key_logs=logs)
    except CaptureError:
        return False
    check(report)
    with contextlib.redirect_stdout(io.StringIO()):
        summarise(report)
    page(report)
    observations(report)
    for pair in ((baseline, report), (report, baseline)):
        with contextlib.suppress(UsageError):
            take_apart(*pair)
    return True


def main() -> None:
    """The campaign."""
    seed, count, folder = int(sys.argv[1]), int(sys.argv[2]), Path(sys.argv[3])
    known = sources()
    baseline = capture_report([HERE / "corpus" / "linux" / "open" / "air.pcap"])
    path = folder / "damaged.pcap"
    used = 0
    for number in range(count):
        draw = random.Random(f"{seed} {number}")
        octets, logs = draw.choice(known)
        path.write_bytes(damaged(octets, draw.choice(known)[0], draw))
        begun = time.process_time()
        try:
            used += read(path, logs if draw.random() < 0.7 else [], baseline)
        except BaseException:
            sys.stderr.write(f"seed {seed}, mutation {number}\n")
            raise
        took = time.process_time() - begun
        assert took < MOST_SECONDS, f"seed {seed}, mutation {number} took {took:.1f} s"
    sys.stdout.write(f"{used}\n")


if __name__ == "__main__":
    main()
