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


#: The application module of the simulator: its list, and one file for each.
SIMULATOR = ROOT / "crates" / "airtoll-wlan" / "src"


def applications() -> dict[str, str]:
    """Variants of ``Pattern``, each with its type of parameters."""
    text = (SIMULATOR / "application.rs").read_text("utf-8")
    lines = text[text.index("\napplications! {") :]
    return dict(re.findall(r"^    (\w+)\((\w+) => ", lines, re.M))


def test_an_application_of_the_simulator_is_one_file_and_a_line() -> None:
    files = {
        path.stem: path.read_text("utf-8") for path in (SIMULATOR / "application").glob("*.rs")
    }
    del files["tests"]
    owners = {
        parameters: [name for name, text in files.items() if f"pub struct {parameters} {{" in text]
        for parameters in applications().values()
    }
    assert all(len(named) == 1 for named in owners.values()), owners
    assert sorted(name for named in owners.values() for name in named) == sorted(files)


def test_no_other_file_of_the_simulator_names_an_application() -> None:
    variants = "|".join(applications())
    naming = {
        str(path.relative_to(SIMULATOR))
        for path in SIMULATOR.rglob("*.rs")
        if path.parent.name != "application"
        and not re.search(r"tests?(/|\.rs$)", str(path.relative_to(SIMULATOR)))
        and re.search(rf"\b(Pattern|Running)::({variants})\b", path.read_text("utf-8"))
    }
    assert naming == {"analytic/path.rs"}
