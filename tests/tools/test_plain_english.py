"""The check of plain English finds the habits in prose, and leaves code alone."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def check():
    spec = importlib.util.spec_from_file_location(
        "plain_english", ROOT / "tools" / "plain_english.py"
    )
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "The scan was in vain.\n"),
        ("page.md", "What a station sends is lost.\n"),
        ("page.md", "| key | in the place of `at_s` |\n"),
        ("code.py", 'def f():\n    """What is read."""\n'),
        ("code.py", "x = 1  # whoever sent it\n"),
        ("code.py", "def test_walls_that_cannot_be_meant():\n    pass\n"),
        ("code.rs", "/// What follows.\npub struct A;\n"),
        ("code.rs", 'return Err("walls that move cannot be meant");\n'),
        ("study.toml", 'about = "a hand-over in mid-trial"\n'),
        ("study.toml", "# Nor does it move.\n"),
        ("page.html.j2", "<p>The cost stands beside it.</p>\n"),
    ],
)
def test_a_habit_is_found_in_every_kind_of_file(check, tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, "utf-8")
    found = list(check.findings(file))
    assert len(found) >= 1
    assert found[0].startswith(f"{file}:")


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("page.md", "What does Wi-Fi security cost?\n"),
        ("page.md", "```\nin vain\n```\n\nThe option `whoever` is valid.\n"),
        ("code.py", "whoever = nobody = 1\n"),
        ("code.rs", "let whoever = 1;\n"),
        ("study.toml", "in_vain = 1\n"),
    ],
)
def test_questions_and_code_are_no_findings(check, tmp_path, name, text):
    file = tmp_path / name
    file.write_text(text, "utf-8")
    assert list(check.findings(file)) == []


def test_the_line_of_a_finding_is_that_of_its_paragraph(check, tmp_path):
    file = tmp_path / "page.md"
    file.write_text("# Title\n\nA sentence.\n\nThe scan was\nin vain.\n", "utf-8")
    assert [line.split(":")[1] for line in check.findings(file)] == ["5"]
