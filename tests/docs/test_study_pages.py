"""The comparisons on the study pages are those that a run with seed 1 gives now."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from airtoll.observe.datasets import list_datasets, load_dataset
from airtoll.study import load, shipped

ROOT = Path(__file__).resolve().parents[2]
PAGES = ROOT / "docs" / "studies"


def _check(*names: str) -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "tools" / "study_pages.py"), "--check", *names],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr


def test_the_page_of_every_paper_has_a_written_comparison() -> None:
    for name in list_datasets():
        if load_dataset(name).of_devices:
            continue  # docs/reference/real-devices.md compares them
        text = (PAGES / f"{name}.md").read_text("utf-8")
        for kind in ("explained", "compared"):
            bodies = re.findall(
                rf"<!-- {kind}: {name}[a-z0-9 -]* -->\n(.*?)<!-- end of {kind} -->", text, re.DOTALL
            )
            assert bodies, f"{name}: its page has no section {kind}"
            assert all(body.strip() for body in bodies), f"{name}: run tools/study_pages.py {name}"


def test_every_study_names_the_page_that_has_its_answer() -> None:
    for name in shipped():
        page = load(name).study.study.page
        assert page.startswith("docs/studies/"), name
        text = (ROOT / page).read_text("utf-8")
        assert re.search(rf"<!-- answers: (?:[a-z0-9-]+ )*{name} ", text), f"{name}: {page}"


@pytest.mark.pages
def test_the_comparison_of_a_short_study_is_up_to_date() -> None:
    _check("gheryani2013", "quickstart")


@pytest.mark.slow
def test_every_comparison_is_up_to_date() -> None:
    _check()
