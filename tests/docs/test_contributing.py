"""The recipes of CONTRIBUTING.md name files that exist."""

from __future__ import annotations

import re
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
TEXT = (ROOT / "CONTRIBUTING.md").read_text("utf-8")
RECIPES = (
    "policy",
    "AKM",
    "EAP method",
    "application",
    "metric",
    "figure",
    "PHY generation",
    "daemon",
)


def paths(line: str) -> list[str]:
    return re.findall(r"`([\w./-]+)`", line.split("|")[1]) if line.startswith("| `") else []


def test_every_recipe_has_a_section() -> None:
    found = re.findall(r"^## Add an? (.*)$", TEXT, re.M)
    assert found == list(RECIPES)


def test_files_of_the_recipes_exist() -> None:
    recipes = TEXT[TEXT.index("## Add a policy") :]
    named = [path for line in recipes.splitlines() for path in paths(line)]
    assert len(named) > 40
    for path in named:
        # An upper-case stem is a placeholder for the new file.
        known = ROOT / path
        new = known.stem.split("_")[-1].isupper() and known.parent.is_dir()
        assert known.exists() or new, path


def test_files_outside_tables_exist() -> None:
    for path in re.findall(r"`((?:crates|python|tests|tools|docs)/[\w./-]+)`", TEXT):
        stem = Path(path).stem
        assert (ROOT / path).exists() or stem.split("_")[-1].isupper(), path
