"""ARCHITECTURE.md is short, names every package and crate, and leads to its targets."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = ROOT / "python/airtoll"
MOST_OCTETS = 8 * 1024
TEXT = (ROOT / "ARCHITECTURE.md").read_text("utf-8")


def test_the_page_is_short() -> None:
    assert len(TEXT.encode()) <= MOST_OCTETS


def unmapped(text: str) -> list[str]:
    """Packages and crates that no row of a code map names."""
    packages = [
        folder.name + "/" for folder in PACKAGE.iterdir() if (folder / "__init__.py").exists()
    ]
    crates = [folder.name for folder in (ROOT / "crates").iterdir() if folder.is_dir()]
    map_ = text[text.index("## Code map") :]
    first = {name for line in map_.splitlines() if line.startswith("| `") for name in names(line)}
    return sorted({*packages, *crates} - first)


def names(row: str) -> list[str]:
    """Names in the first cell of a row."""
    return re.findall(r"`([\w./-]+)`", row.split("|")[1])


def test_every_package_and_crate_has_a_row() -> None:
    assert unmapped(TEXT) == []
    without = "\n".join(line for line in TEXT.splitlines() if "| `answer/`" not in line)
    assert unmapped(without) == ["answer/"]


def changes() -> list[tuple[str, str, str]]:
    """Rows of "Where to change what"."""
    table = TEXT[TEXT.index("## Where to change what") : TEXT.index("## Code map")]
    rows = [line.strip("| ").split(" | ") for line in table.splitlines() if line.startswith("| ")]
    return [(what, start, then) for what, start, then in rows[1:]]


def places(text: str) -> list[Path]:
    """Files and folders that a cell names, with or without the root of their code."""
    roots = [ROOT, PACKAGE, ROOT / "crates/airtoll-wlan/src", ROOT / "crates"]
    found = []
    for name in re.findall(r"`([\w.-]*[/][\w./-]*)`", text):
        at = next((root / name for root in roots if (root / name).exists()), None)
        assert at is not None, f"{name} is not there"
        found.append(at)
    return found


@pytest.mark.parametrize("change", changes(), ids=lambda change: change[0])
def test_a_change_starts_at_a_place_that_has_what_the_row_names(
    change: tuple[str, str, str],
) -> None:
    _, start, then = change
    files = [at for cell in (start, then) for at in places(cell)]
    text = "".join(
        file.read_text("utf-8")
        for at in files
        for file in ([at] if at.is_file() else sorted(at.glob("*.*")))
        if file.suffix in {".rs", ".py", ".toml"}
    )
    symbols = re.findall(r"`(?:fn )?((?:\w+\.)?_?[a-z]\w+|\[cipher)(?:\.NAME\])?`", then)
    for symbol in symbols:
        assert symbol.rpartition(".")[2] in text, f"{symbol} is not in {start} or {then}"
    assert files
