"""The report: self-contained, readable, and about the numbers that were measured."""

from __future__ import annotations

import re
import shlex
from types import SimpleNamespace

import pytest

from airtoll.analyse import Estimate
from airtoll.analyse.quantities import show_estimate, show_overhead, show_value
from airtoll.cli.studying import parse_values
from airtoll.errors import EnvironmentProblem
from airtoll.report import FORMATS, html, write, write_report
from airtoll.report.figures.answer import scale, three_digits
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.report.write import command_of
from airtoll.run import run

NAMES = {"Open": "open", "WPA2-Personal, CCMP-128": "wpa2-psk-ccmp", "WEP-104": "wep-104"}


@pytest.fixture
def finished(small_study, fake, tmp_path):
    study = small_study(policies=', "wep-104", "wep-40"')
    return run(study, testbed=fake(), out=tmp_path / "run", jobs=1)


def test_page_is_self_contained_and_says_what_was_skipped(finished):
    page = write_report([finished.path]).read_text("utf-8")
    assert not re.search(r'(src|href)="(https?:)?//', page)
    assert "<script src" not in page
    assert "the fake knows no WEP-40" in page
    assert "A small study" in page
    assert page.count("<svg") >= 2
    assert "airtoll report RUN --print" in page
    assert {path.suffix for path in (finished.path / "figures").iterdir()} == {".svg"}


@pytest.mark.thorough
def test_figures_for_print_come_on_request_and_are_renewed(finished):
    pytest.importorskip("matplotlib")
    page = write_report([finished.path], for_print=True).read_text("utf-8")
    assert ".svg, .png, .pdf" in page
    printed = finished.path / "figures" / "overhead.pdf"
    assert (finished.path / "figures" / "overhead.png").stat().st_size > 1000
    whole = printed.read_bytes()
    printed.write_bytes(b"of an older page")
    write_report([finished.path])
    assert printed.read_bytes() == whole


def test_print_without_its_packages_is_refused(finished, monkeypatch):
    monkeypatch.setattr(write, "available", lambda: False)
    with pytest.raises(EnvironmentProblem, match=r"pip install 'airtoll\[print\]'"):
        write_report([finished.path], for_print=True)


def test_equal_runs_give_equal_figures(small_study, fake, tmp_path):
    files = []
    for name in ("a", "b"):
        result = run(small_study(), testbed=fake(), out=tmp_path / name, jobs=1)
        write_report([result.path])
        files.append((result.path / "figures" / "overhead.svg").read_bytes())
    assert files[0] == files[1]


@pytest.mark.parametrize("form", FORMATS)
def test_every_format_has_every_policy(finished, form):
    text = write_report([finished.path], form=form).read_text("utf-8")
    for people, machine in NAMES.items():
        assert (machine if form in ("csv", "json") else people) in text


def test_overhead_in_the_page_is_the_analysis_overhead(finished):
    summary = summarise(finished.path)
    estimate = summary.analysis.overhead("home/wpa2-psk-ccmp/udp")
    assert estimate is not None
    expected = 16 * 1e5 / 25e6
    assert estimate.contains(expected)
    assert show_overhead(estimate) in write_report([finished.path]).read_text("utf-8")


@pytest.mark.parametrize(
    ("value", "half", "unit", "text"),
    [
        (29.8712e6, 0.0341e6, "bit/s", "29.871 ± 0.034 Mb/s"),
        (1.5703e6, 0.0111e6, "bit/s", "1.570 ± 0.011 Mb/s"),
        (0.079, 0.004, "s", "79.0 ± 4.0 ms"),
        # An interval without a width is none.
        (25e6, 0.0, "bit/s", "25.00 Mb/s"),
        (25e6, 3.0, "bit/s", "25.000000 ± 0.000003 Mb/s"),
    ],
)
def test_values_and_their_intervals_share_their_last_digit(value, half, unit, text):
    estimate = Estimate(value, value - half, value + half, 0.95, 5, "mean, t", unit)
    assert show_estimate(estimate) == text


def test_nothing_is_shown_as_a_dash():
    assert show_value(None, "bit/s") == "–"
    assert show_value(float("nan"), "s") == "–"


def test_a_single_trial_tells_nothing_apart(small_study, fake, tmp_path):
    out = tmp_path / "run"
    single = headline(summarise(run(small_study(), testbed=fake(), out=out, trials=1).path))
    assert "too few trials to tell" in single[0]
    assert "±" not in single[0]


def test_the_dearest_policy_is_named_also_by_a_difference_of_rates(small_study, fake, tmp_path):
    study = small_study(policies=', "wep-104"')
    text = study.read_text().replace(
        'baseline = "open"', 'baseline = "open"\noverhead = "difference_bps"'
    )
    study.write_text(text)
    study.write_text(text.replace("[study]", '[study]\ntoday = "open"'))
    to_wep, to_wpa2, *_ = headline(summarise(run(study, testbed=fake(), out=tmp_path / "r").path))
    assert to_wep.startswith("From an open network to WEP-104, throughput falls by 3.")
    assert to_wpa2.startswith("From an open network to WPA2-Personal, throughput falls")


def test_the_command_that_repeats_a_run_names_ones_own_file(
    small_study, fake, tmp_path, monkeypatch
):
    place = tmp_path / "of mine" / "my own.toml"
    place.parent.mkdir()
    place.write_text(small_study().read_text())
    values = {"traffic.udp.series": True, "grid.policy": ["open", "wpa2-psk-ccmp"]}
    result = run(place, testbed=fake(), out=tmp_path / "run", jobs=1, values=values)
    words = shlex.split(command_of(summarise(result.path)))
    assert words[:3] == ["airtoll", "run", str(place)]
    monkeypatch.chdir(tmp_path)
    assert shlex.split(command_of(summarise(result.path)))[2] == "of mine/my own.toml"
    place.unlink()
    assert shlex.split(command_of(summarise(result.path)))[2] == "my own.toml"
    assert parse_values([pair for pair in words if "=" in pair]) == values


def test_the_first_figure_comes_after_four_sentences_at_most(finished, monkeypatch):
    sentences = [f"Sentence {number} of the answer." for number in range(7)]
    monkeypatch.setattr(html, "headline", lambda _summary: sentences)
    page = write_report([finished.path]).read_text("utf-8")
    before, after = page.split("<svg", 1)
    assert [one in before for one in sentences] == [True] * 4 + [False] * 3
    assert all(after.count(one) == 1 for one in sentences[4:])


@pytest.mark.parametrize(
    ("values", "unit"),
    [
        ((0.0198, 0.0571, 2.52), (1e-3, "ms")),
        ((0.0198, 0.0571, 25.2), (1.0, "s")),
        ((1.2, 2.5, 2.52), (1.0, "s")),
        ((0.0, 0.0, 0.0), (1e-3, "ms")),
    ],
)
def test_a_figure_has_the_unit_of_its_median_value(values, unit):
    found = [
        SimpleNamespace(estimate=Estimate(value, value, value, 0.95, 3, "t", "s"))
        for value in values
    ]
    assert scale("handover_gap_s", found) == unit


@pytest.mark.parametrize(
    ("value", "text"), [(19.84, "19.8"), (999.4, "999"), (999.7, "1000"), (2520.4, "2520")]
)
def test_no_number_of_a_figure_has_an_exponent(value, text):
    assert three_digits(value) == text
