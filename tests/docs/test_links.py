"""Files that a page names are there, and its links lead somewhere."""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = [*sorted(ROOT.glob("*.md")), *sorted((ROOT / "docs").rglob("*.md"))]
FOLDERS = "benchmarks|crates|datasets|docs|fuzz|paper|python|studies|tests|tools"
#: Pages at the root that lead to code.
OF_CODE = ("ARCHITECTURE.md", "CONTRIBUTING.md")
#: Pages that `make site` writes.
WRITTEN = {"docs/figures.md", "docs/lessons.md"}


def is_placeholder(path: str) -> bool:
    """Whether a part of the path stands for the reader's own name: ``crates/.../PROTOCOL.rs``."""
    return re.search(r"[A-Z]{3,}\.\w+$|[<*{]|\.\.\.", path) is not None


def missing(page: Path) -> list[str]:
    """Named files and targets of links that are not there."""
    text = page.read_text("utf-8")
    named = re.findall(rf"`((?:{FOLDERS})/[\w./-]+)`", text)
    wanted = [(ROOT / path, path) for path in named if not is_placeholder(path)]
    for target in re.findall(r"\]\(([^)#\s]+)[^)]*\)", re.sub(r"`[^`]*`", "", text)):
        if not re.match(r"\w+:", target):
            place = (page.parent / target).resolve()
            wanted.append((place, target))
    written = {ROOT / path for path in WRITTEN}
    return [path for place, path in wanted if not place.exists() and place not in written]


@lru_cache(maxsize=1)
def sources() -> str:
    """All files of the code, a line each, every line behind a slash."""
    folders = [ROOT / name for name in FOLDERS.split("|")]
    files = (file for folder in folders for file in folder.rglob("*.*"))
    return "".join(f"/{file.relative_to(ROOT)}\n" for file in files)


def strangers(page: Path) -> list[str]:
    """Files of code that a page names by the end of their path, and that are not there."""
    named = re.findall(r"`((?:[\w-]+/)*[\w-]+\.(?:py|rs|toml))`", page.read_text("utf-8"))
    return [path for path in named if not is_placeholder(path) and f"/{path}\n" not in sources()]


@pytest.mark.parametrize(
    "page",
    [
        ROOT / "ARCHITECTURE.md",
        ROOT / "CONTRIBUTING.md",
        *sorted((ROOT / "docs/design").glob("*.md")),
    ],
    ids=lambda page: page.stem,
)
def test_a_file_named_by_the_end_of_its_path_is_there(page: Path) -> None:
    # Files at the root, and files that a user writes.
    own = {"pyproject.toml", "Cargo.toml", "lab.toml", "study.toml", "rust-toolchain.toml"}
    assert set(strangers(page)) - own == set()


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.relative_to(ROOT).as_posix())
def test_every_named_file_and_link_is_there(page: Path) -> None:
    if page.name != "CHANGELOG.md":  # It names files as they were.
        assert missing(page) == []


def test_a_missing_file_is_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text(
        "See `docs/nowhere.md`, [there](gone.md), `crates/x/EXAMPLE.rs`, [up](https://x), "
        "`crates/nowhere/`, `observe/journal.py`, `observe/nowhere.py`."
    )
    assert missing(page) == ["docs/nowhere.md", "crates/nowhere/", "gone.md"]
    assert strangers(page) == ["observe/nowhere.py"]
