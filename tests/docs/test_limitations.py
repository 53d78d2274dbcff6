"""docs/limitations.md has the refusals of the code, short rows, and a length that people read."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture(scope="module")
def tool() -> ModuleType:
    spec = importlib.util.spec_from_file_location("limitations", ROOT / "tools/limitations.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_right(tool: ModuleType) -> None:
    assert tool.faults(tool.PAGE.read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("old", "new", "fault"),
    [
        ("| simulator | none |", "| simulator | one |", "out of date"),
        ("## Installation", "A paragraph.\n\n## Installation", "no row and no heading"),
        ("## Installation", "| without a size |\n\n## Installation", "a row is"),
        ("## Installation", "| a | b | |\n\n## Installation", "a row is"),
        ("## Installation", f"| {'a' * 200} | b | - |\n\n## Installation", "characters"),
        ("## Installation", "| a | b | - |\n" * 300 + "## Installation", "octets, at most"),
    ],
)
def test_a_fault_of_the_page_is_named(tool: ModuleType, old: str, new: str, fault: str) -> None:
    text = tool.PAGE.read_text("utf-8")
    assert old in text
    assert any(fault in one for one in tool.faults(text.replace(old, new, 1)))
