"""Generated pages are those that the code would generate now."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]


def test_generated_pages_are_up_to_date() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "reference.py"), "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_links_of_the_readme_lead_somewhere() -> None:
    import re

    text = (ROOT / "README.md").read_text("utf-8")
    for place in re.findall(r"`((?:docs|studies|datasets)/[\w./-]*)`", text):
        assert (ROOT / place).exists(), place
    for name in ("ARCHITECTURE.md", "CITATION.cff", "LICENSE", "CHANGELOG.md"):
        assert (ROOT / name).exists()


def test_every_field_of_a_study_is_in_the_reference() -> None:
    from airtoll.study.model import Study
    from airtoll.study.table import Table

    text = (ROOT / "docs" / "reference" / "study.md").read_text("utf-8")
    found = [Table, *Table.__subclasses__()]
    for table in found[1:]:
        found += table.__subclasses__()
    # A table that others extend is not written in a study.
    tables = [table for table in found if not table.__subclasses__()]
    assert len(tables) > 15
    # The fields of `Study` itself are the titles of the other tables.
    for table in tables:
        for key, field in () if table is Study else table.model_fields.items():
            # A study writes the alias: `from` is no name of Python.
            assert f"| `{field.alias or key}` |" in text, f"{table.__name__}.{key}"
        assert table is Study or (table.__doc__ or "").strip().splitlines()[0] in text
