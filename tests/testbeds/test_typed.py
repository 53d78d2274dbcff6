"""Values of the testbeds and of captures have types, except what foreign programs print."""

from __future__ import annotations

import re
from pathlib import Path

import airtoll

ROOT = Path(airtoll.__file__).parent
#: Readers of what iperf3 and irtt print.
FOREIGN = {"testbeds/linux/iperf3.py", "testbeds/linux/irtt.py"}
_UNTYPED = re.compile(r"(?:dict|Mapping)\[str, Any\]")
#: `asyncssh.connect` takes its options by name; type hints are of any type; polars takes rows.
OPTIONS = {
    "capture/observations.py": 2,
    "testbeds/linux/hosts.py": 1,
    "testbeds/linux/plain.py": 1,
}


def untyped(path: Path) -> int:
    return len(_UNTYPED.findall(path.read_text("utf-8")))


def test_no_dictionary_of_any_shape_outside_the_readers_of_foreign_json() -> None:
    found = {}
    for folder in ("testbeds", "capture"):
        for path in sorted((ROOT / folder).rglob("*.py")):
            name = path.relative_to(ROOT).as_posix()
            if name not in FOREIGN and (count := untyped(path)):
                found[name] = count
    assert found == OPTIONS
    assert all(untyped(ROOT / name) for name in FOREIGN)


def test_the_native_module_has_no_hand_written_shape() -> None:
    assert "TypedDict" not in (ROOT / "_native.pyi").read_text("utf-8")
