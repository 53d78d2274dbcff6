"""Why, not only how much: the parts add up, the symbol step is shown, authentication too."""

from __future__ import annotations

import re

import pytest

from airtoll.drawing import develop
from airtoll.report import write_report
from airtoll.report.authentication import negotiation_stages
from airtoll.report.figures import pictures
from airtoll.report.overhead_names import symbol_step
from airtoll.report.summary import summarise
from airtoll.run import run


@pytest.fixture
def summary(small_study, ledger, tmp_path):
    study = small_study(policies=', "wpa-psk-tkip"')
    return summarise(run(study, testbed=ledger(), out=tmp_path / "run", jobs=1).path)


def test_parts_of_a_waterfall_add_up_to_the_overhead(summary):
    for cell in ("home/wpa2-psk-ccmp/udp", "home/wpa-psk-tkip/tcp"):
        overhead = summary.analysis.overhead(cell)
        total = summary.decomposition.filter(cell=cell)["value"].sum()
        assert total == pytest.approx(overhead.value, abs=2e-5)


def test_a_waterfall_says_its_parts_and_its_sum(summary):
    (picture,) = [p for p in pictures(summary) if p.name == "waterfall"]
    assert len(picture.panels) == 4
    page = develop([picture])[0].in_page[0]
    said = re.findall(r'data-say="([^"]*)"', page)
    points = [float(re.search(r": ([+-][\d.]+) points", text)[1]) for text in said[:-1]]
    total = float(re.search(r"overhead: (-?[\d.]+) %", said[-1])[1])
    assert len(points) >= 3
    assert sum(points) == pytest.approx(total, abs=0.005)


def test_the_symbol_step_is_shown(summary):
    cells = summary.cells
    assert "57 to 58 symbols, +4 us" in symbol_step(cells["home/wpa2-psk-ccmp/udp"])
    assert "57 to 58 symbols, +4 us" in symbol_step(cells["home/wpa-psk-tkip/udp"])
    assert symbol_step(cells["home/open/udp"]) == ""
    page = write_report([summary.path]).read_text("utf-8")
    assert "57 to 58 symbols" in page
    assert 'id="figure-octets"' in page


def test_authentication_leaves_out_what_was_not_observed(summary):
    found = {exchange.policy: exchange for exchange in negotiation_stages(summary)}
    assert set(found["Open"].stages) == {"association_time_s"}
    assert set(found["WPA2-Personal, CCMP-128"].stages) == {
        "association_time_s",
        "key_handshake_time_s",
    }
    assert found["WPA2-Personal, CCMP-128"].negotiation is None
    assert found["WPA2-Personal, CCMP-128"].reached_s == pytest.approx(0.011, rel=0.05)


def test_every_section_has_its_picture(summary):
    sections = {picture.section for picture in pictures(summary)}
    assert sections >= {"answer", "why", "theory", "throughput", "trials", "series"}
    assert "authentication" in sections


def test_without_a_ledger_nothing_is_taken_apart(small_study, fake, tmp_path):
    result = run(small_study(), testbed=fake(), out=tmp_path / "run", jobs=1)
    assert summarise(result.path).decomposition.is_empty()
    assert 'id="why"' not in write_report([result.path]).read_text("utf-8")


def test_the_page_of_a_paper_begins_with_its_bars_and_the_printed_values(tmp_path):
    paper = run("jamshaid2003", out=tmp_path / "paper", trials=2)
    first, *others = pictures(summarise(paper.path))
    assert (first.name, first.section) == ("overhead", "answer")
    assert "Diamonds: the printed overhead." in first.caption
    assert "overhead" not in {picture.name for picture in others}
