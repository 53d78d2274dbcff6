"""No reading stands on both sides of a fit and its prediction."""

from __future__ import annotations

import pytest

from airtoll.observe.datasets import load_dataset
from airtoll.policies import resolve
from airtoll.profiles import shipped
from airtoll.report import write_report
from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run


@pytest.fixture(scope="module")
def summary(tmp_path_factory, fake):
    place = tmp_path_factory.mktemp("fitted") / "run"
    run("tripathi2008", testbed=fake(), out=place, trials=2, jobs=1)
    write_report([place])
    return summarise(place)


def test_readings_that_a_profile_has_seen_are_never_called_predicted(summary):
    standings = {"": 0, "fitted": 0, "predicted": 0}
    for comparison in summary.comparisons:
        cell = summary.cells[comparison.cell]
        seen = {
            (reading.dataset, reading.table, reading.security and resolve(reading.security).name)
            for profile in summary.profiles_of(cell)
            for reading in profile.seen
        }
        standing = summary.seen(comparison)
        standings[standing] += 1
        # A profile that names no security has seen the readings of all policies.
        keys = {(comparison.dataset, comparison.table, p) for p in (comparison.policy, None)}
        if standing == "predicted":
            assert not keys & seen
        if standing == "fitted":
            assert keys & seen
        if standing == "":
            assert not seen
    assert all(count > 0 for count in standings.values()), standings


def test_every_fit_names_readings_that_exist():
    for profile in shipped().values():
        for reading in profile.seen:
            frame = load_dataset(reading.dataset).figures
            for column in ("table", "configuration", "transport"):
                wanted = getattr(reading, column)
                if wanted is not None:
                    frame = frame.filter(**{column: wanted})
            assert frame.height > 0, (profile.name, reading)


def test_fitted_rows_are_marked_and_left_out_of_the_error(summary):
    page = (summary.path / "report.html").read_text("utf-8")
    fitted = [c for c in summary.comparisons if summary.seen(c) == "fitted"]
    assert page.count('<tr class="fitted">') == len(fitted)
    assert "fitted to this reading" in page
    fits = page.index("Against the printed figures, with fitted profiles")
    assert page.index("Against the printed figures<") < fits


def test_printed_values_are_counted_by_set_of_profiles_without_those_of_the_fit(summary):
    said = headline(summary)
    of_card = [
        one
        for one in summary.comparisons
        if one.quantity == "overhead" and one.cell.partition("profile_set=")[2].startswith("card")
    ]
    fitted = [one for one in of_card if summary.seen(one) == "fitted"]
    assert 0 < len(fitted) < len(of_card)
    assert said[0].startswith("With the air alone, ")
    assert f"of {len(of_card)} printed overheads are met" in said[0]
    assert said[1].startswith("With a serial card fitted to one client")
    assert f" of the {len(of_card) - len(fitted)} others are met" in said[1]
