"""Any octets as a file of iperf3, irtt, flent or a table: values in range, or one line."""

from __future__ import annotations

import tempfile
from pathlib import Path

import atheris
import fuzzing

fuzzing.tests_of("observe")

with atheris.instrument_imports(include=["airtoll.observe"]):
    import import_mutations as mutations

    from airtoll.observe.imports.files import FORMATS

_PLACE = Path(tempfile.mkdtemp(prefix="airtoll-fuzz-")) / "file"


def target(octets: bytes) -> None:
    """The first octet is the format, the rest is the file."""
    if not octets:
        return
    _PLACE.write_bytes(octets[1:])
    mutations.judge(FORMATS[octets[0] % len(FORMATS)], _PLACE, whole=False)


if __name__ == "__main__":
    fuzzing.fuzz(
        target,
        {
            f"{fmt}-{number}": bytes([list(FORMATS).index(fmt)]) + text.encode("utf-8")
            for number, (fmt, text) in enumerate(mutations.TEXTS)
        },
    )
