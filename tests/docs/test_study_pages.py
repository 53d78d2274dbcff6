"""The comparisons on the study pages are those that a run with seed 1 gives now."""

from __future__ import annotations

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

from airtoll.observe.datasets import list_datasets, load_dataset
from airtoll.report.summary import summarise
from airtoll.report.where import Where
from airtoll.run import run
from airtoll.study import load, shipped

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tools"))
study_pages = importlib.import_module("study_pages")
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


@pytest.fixture(scope="module")
def short(tmp_path_factory):
    values = {"grid.traffic": ["udp", "small"], "traffic.udp.duration_s": 0.05}
    values |= {"traffic.small.duration_s": 0.05}
    out = tmp_path_factory.mktemp("short") / "run"
    return summarise(run("quickstart", out=out, trials=3, values=values).path)


def test_a_figure_in_the_prose_is_that_of_the_chosen_cells(short):
    cell = next(c for c in short.plan.cells if (c.policy, c.traffic) == ("wpa2-psk-ccmp", "udp"))
    own = 100 * short.analysis.overhead(cell.name).value
    found = study_pages.overhead_of(short, Where.of(["policy=wpa2-psk-ccmp", "traffic=udp"]))
    assert found == f"{own:.2f} %"
    both = study_pages.overhead_of(short, Where.of(["policy=wpa2-psk-ccmp"]))
    least, most = (float(one) for one in both.removesuffix(" %").split(" to "))
    assert least < most
    assert f"{own:.2f}" in (f"{least:.2f}", f"{most:.2f}")
    rate = study_pages.throughput_of(short, Where.of(["policy=open", "traffic=udp"]))
    assert re.fullmatch(r"[0-9.]+ Mb/s", rate)


def test_figures_in_the_prose_are_written_and_agree_with_the_tables_of_their_page() -> None:
    text = (PAGES / "tripathi2008.md").read_text("utf-8")
    marked = {
        f"{kind}:{levels}": value
        for kind, _, levels, value in re.findall(
            r"<!-- (overhead|throughput|error): ([a-z0-9.-]+)(.*?) -->(.*?)<!-- end -->", text
        )
    }
    assert all(re.match(r"[0-9]", value) for value in marked.values()), marked
    row = next(
        line for line in text.splitlines() if "| 2: one client, TCP, the air alone |" in line
    )
    ours = [float(one) for one in re.findall(r"([0-9.]+) / ", row)]
    told = marked["overhead: scenario=single traffic=tcp profile_set=datasheet"]
    assert told == f"{min(ours):.2f} to {max(ours):.2f} %"


@pytest.mark.pages
def test_the_comparison_of_a_short_study_is_up_to_date() -> None:
    _check("gheryani2013", "quickstart")


@pytest.mark.slow
def test_every_comparison_is_up_to_date() -> None:
    _check()
