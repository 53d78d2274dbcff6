"""The pictures of reports in docs: small, of shipped studies, and shown where README says."""

from __future__ import annotations

import re
from pathlib import Path

from airtoll.study import shipped

ROOT = Path(__file__).resolve().parents[2]
PICTURES = ROOT / "docs" / "pictures"


def test_pictures_are_small_and_of_shipped_studies() -> None:
    pictures = sorted(PICTURES.glob("*.png"))
    assert pictures
    for picture in pictures:
        assert picture.stem in shipped()
        assert picture.read_bytes().startswith(b"\x89PNG")
        assert picture.stat().st_size < 150_000


def test_readme_opens_with_a_picture_that_is_there() -> None:
    text = (ROOT / "README.md").read_text("utf-8")
    shown = re.findall(r"!\[[^\]]+\]\(([^)]+)\)", text)
    assert shown
    assert all((ROOT / place).is_file() for place in shown)
    assert text.index("![") < text.index("## ")
