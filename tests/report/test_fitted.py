"""No reading stands on both sides of a fit and its prediction."""

from __future__ import annotations

import pytest
from attrs import evolve

from airtoll.observe.datasets import load_dataset
from airtoll.observe.metrics import METRICS, OVERHEAD
from airtoll.policies import resolve
from airtoll.profiles import shipped
from airtoll.report import write_report
from airtoll.report.fitted import standing
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
    standings = {"": 0, "fitted": 0, "related": 0, "predicted": 0}
    for comparison in summary.comparisons:
        cell = summary.cells[comparison.cell]
        seen = {
            (reading.dataset, reading.table, reading.security and resolve(reading.security).name)
            for profile in summary.profiles_of(cell)
            for reading in profile.seen
        }
        name = summary.standing(comparison).name
        standings[name] += 1
        # A profile that names no security has seen the readings of all policies.
        keys = {(comparison.dataset, comparison.table, p) for p in (comparison.policy, None)}
        if name == "predicted":
            assert not keys & seen
        if name in ("fitted", "related"):
            assert keys & seen
        if name == "":
            assert not seen
        assert summary.seen(comparison) == (name in ("fitted", "related"))
    assert all(count > 0 for count in standings.values()), standings


def test_a_card_fitted_to_overheads_is_not_said_to_be_fitted_to_throughputs(summary):
    """And neither value of its tables counts as predicted."""
    of_card = [
        one
        for one in summary.comparisons
        if one.cell.partition("profile_set=")[2].startswith("card")
    ]
    notes = {
        (one.table, one.quantity, summary.standing(one).words)
        for one in of_card
        if one.client in ("", "A", "total")
    }
    for table in ("2", "3"):
        assert {
            (
                table,
                "overhead",
                f"fitted to this printed value, with the overheads of table {table}, single client",
            ),
            (
                table,
                "throughput_bps",
                f"not predicted: fitted to the overheads of table {table}, single client, "
                "not to this throughput",
            ),
        } == {note for note in notes if note[0] == table}
    for table in ("4", "5"):
        said = "predicted by a fit to the overheads of tables 2 and 3, single client"
        assert {note[2] for note in notes if note[0] == table} == {said}


def test_a_fit_to_one_configuration_of_a_table_has_not_seen_the_others(summary):
    for one in summary.comparisons:
        if summary.standing(one).name != "fitted":
            continue
        cell = summary.cells[one.cell]
        readings = [reading for profile in summary.profiles_of(cell) for reading in profile.seen]
        assert standing(one, cell, readings).name == "fitted"
        elsewhere = evolve(one, configuration="another")
        assert standing(elsewhere, cell, readings).name == "predicted"


def test_every_fit_names_readings_that_exist():
    for profile in shipped().values():
        for reading in profile.seen:
            frame = load_dataset(reading.dataset).figures
            for column in ("table", "configuration", "transport"):
                wanted = getattr(reading, column)
                if wanted is not None:
                    frame = frame.filter(**{column: wanted})
            assert frame.height > 0, (profile.name, reading)
            assert reading.quantity in (None, OVERHEAD, *METRICS), (profile.name, reading)


def test_fitted_rows_are_marked_and_left_out_of_the_error(summary):
    page = (summary.path / "report.html").read_text("utf-8")
    fitted = [c for c in summary.comparisons if summary.seen(c)]
    assert page.count('<tr class="fitted">') == len(fitted)
    assert "fitted to this printed value, with the overheads of table 2, single client" in page
    assert "p4-3.2ghz-rt61-card is fitted to overheads of tables 2 and 3, single client." in page
    fits = page.index("Against the printed figures, with fitted profiles")
    assert page.index("Against the printed figures<") < fits


def test_printed_values_are_counted_by_set_of_profiles_without_those_of_the_fit(summary):
    said = headline(summary)
    of_card = [
        one
        for one in summary.comparisons
        if one.quantity == "overhead" and one.cell.partition("profile_set=")[2].startswith("card")
    ]
    fitted = [one for one in of_card if summary.seen(one)]
    assert 0 < len(fitted) < len(of_card)
    assert said[0].startswith("With the air alone, ")
    assert f"of {len(of_card)} printed overheads are met" in said[0]
    assert said[1].startswith("With a serial card fitted to one client")
    assert f" of the {len(of_card) - len(fitted)} that it was not fitted to are met" in said[1]
