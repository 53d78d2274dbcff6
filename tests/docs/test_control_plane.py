"""Joining and roaming in the simulator stand above the protocol stack and below the world.

Each names only what is below it, and keeps its state in private fields.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

SOURCE = Path(__file__).resolve().parents[2] / "crates" / "airtoll-wlan" / "src"

#: Modules that hold values and no state of the trial.
VALUES = {"address", "event", "id", "packet", "scenario"}
#: Modules that each subsystem of the control plane may name, beside :data:`VALUES`.
BELOW = {
    "join": {"transport"},
    "roam": {"join", "medium"},
}
SUBSYSTEM = {"join": "Join", "roam": "Roam"}


def files(module: str) -> list[Path]:
    """Sources of a module without its tests."""
    inside = (SOURCE / module).rglob("*.rs")
    return [SOURCE / f"{module}.rs", *(path for path in inside if "tests" not in str(path))]


@pytest.mark.parametrize("module", sorted(BELOW))
def test_a_subsystem_names_only_modules_below_it(module: str) -> None:
    allowed = VALUES | BELOW[module] | {module}
    named = {
        (path.name, name)
        for path in files(module)
        for name in re.findall(r"\bcrate::([a-z_]+)", path.read_text(encoding="utf-8"))
    }
    assert named, f"{module} names no module: has its place changed?"
    assert {pair for pair in named if pair[1] not in allowed} == set()


@pytest.mark.parametrize("module", sorted(BELOW))
def test_no_file_of_a_subsystem_names_the_world(module: str) -> None:
    naming = [p.name for p in files(module) if re.search(r"\bWorld\b", p.read_text("utf-8"))]
    assert naming == []


@pytest.mark.parametrize("module", sorted(BELOW))
def test_the_state_of_a_subsystem_is_private(module: str) -> None:
    text = (SOURCE / f"{module}.rs").read_text(encoding="utf-8")
    found = re.search(rf"pub\(crate\) struct {SUBSYSTEM[module]} \{{(.*?)\n\}}", text, re.DOTALL)
    assert found is not None
    fields = re.findall(r"^    (pub(?:\(\w+\))? )?\w+: ", found.group(1), re.MULTILINE)
    assert fields
    assert not any(fields)
