"""The comparison of instruction counts: which entry rose, by how much, and what is not recorded."""

import importlib
import json
import sys
from pathlib import Path

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
sys.path.append(str(BENCHMARKS))
gate = importlib.import_module("instructions")


def test_a_rise_up_to_the_limit_passes_and_one_above_is_named():
    recorded = {"a54x10": 1_000_000, "help": 2_000}
    assert gate.risen(recorded, {"a54x10": 1_030_000, "help": 1_000}) == []
    (line,) = gate.risen(recorded, {"a54x10": 1_030_001, "help": 2_000})
    assert line.startswith("a54x10: 1,030,001 instructions, +3.0%")


def test_an_entry_on_one_side_only_is_named():
    assert gate.risen({"a": 1}, {}) == ["a: recorded, but not measured"]
    assert gate.risen({}, {"b": 1}) == ["b: no record; run with --record"]


def test_the_gate_has_twelve_cells_and_three_commands():
    assert len(gate.CELLS) == 12
    assert len(gate.COMMANDS) == 3
    assert all(case.airtoll(0.1)["flows"] for case in gate.CELLS.values())


def test_a_missing_record_fails_by_name():
    lines = gate.risen({}, dict.fromkeys(gate.CELLS, 1))
    assert len(lines) == 12


def test_every_entry_is_recorded():
    record = json.loads(gate.RECORDED.read_text("utf-8"))
    assert record["counts"].keys() == gate.CELLS.keys() | gate.COMMANDS.keys()
    assert record["versions"].keys() == {"valgrind", "rustc", "python", "machine"}
