"""Readings through an instrument, worked by hand."""

from __future__ import annotations

import polars as pl
import pytest

from airtoll.analyse.instruments import seen_through
from airtoll.observe.schema import OBSERVATIONS
from airtoll.study.model import Instrument


def _rows(metric: str, values: dict[int | None, float], trial: int = 1) -> pl.DataFrame:
    rows = [
        {
            "schema_version": 1,
            "study": "s",
            "testbed": "simulator",
            "cell": "a/open/udp",
            "scenario": "a",
            "policy": "open",
            "traffic": "udp",
            "factors": "{}",
            "trial": trial,
            "attempt": 1,
            "seed": 1,
            "flow": None,
            "station": None,
            "second": second,
            "metric": metric,
            "value": value,
            "unit": "s",
        }
        for second, value in values.items()
    ]
    return pl.DataFrame(rows, schema=OBSERVATIONS)


def _value(frame: pl.DataFrame, metric: str) -> float:
    (value,) = frame.filter(pl.col("second").is_null() & (pl.col("metric") == metric))["value"]
    return float(value)


@pytest.mark.parametrize(
    ("rounding", "shown"), [("nearest", 0.003), ("down", 0.002), ("up", 0.003)]
)
def test_a_reading_is_rounded_to_the_last_place(rounding, shown) -> None:
    instrument = Instrument(source="test", step=0.001, rounding=rounding)
    seen = seen_through(_rows("response_time_s", {None: 0.0028}), "response_time_s", instrument)
    assert _value(seen, "response_time_s") == pytest.approx(shown)


def test_a_whole_number_of_places_stays_one_in_every_direction() -> None:
    for rounding in ("nearest", "down", "up"):
        instrument = Instrument(source="test", step=0.001, rounding=rounding)
        seen = seen_through(_rows("delay_s", {None: 0.003}), "delay_s", instrument)
        assert _value(seen, "delay_s") == pytest.approx(0.003)


def test_successive_differences_of_another_metric() -> None:
    rows = pl.concat(
        [_rows("delay_s", {None: 9.0, 0: 1.0, 1: 4.0, 2: 3.0}), _rows("jitter_s", {None: 7.0})]
    )
    instrument = Instrument(source="test", reads="delay_s", series=True, successive=True)
    seen = seen_through(rows, "jitter_s", instrument)
    assert _value(seen, "jitter_s") == pytest.approx((3.0 + 1.0) / 2)
    # The metric that it reads is not changed.
    assert _value(seen, "delay_s") == 9.0


def test_a_run_of_one_second_has_no_successive_difference() -> None:
    instrument = Instrument(source="test", series=True, successive=True)
    assert seen_through(_rows("delay_s", {0: 1.0}), "delay_s", instrument).is_empty()


def test_a_senders_clock_adds_the_age_of_its_tick() -> None:
    instrument = Instrument(source="test", series=True, tick=10.0, advance=4.0)
    seen = seen_through(_rows("delay_s", {0: 1.0, 1: 1.0, 2: 1.0, 3: 1.0}), "delay_s", instrument)
    # Phases 0, 4, 8 and 12 - 10.
    assert _value(seen, "delay_s") == pytest.approx(1.0 + (0 + 4 + 8 + 2) / 4)


def test_the_sending_end_counts_lost_packets() -> None:
    rows = pl.concat(
        [
            _rows("throughput_bps", {None: 30.0}),
            _rows("packets_sent", {None: 40.0}),
            _rows("packets_received", {None: 20.0}),
        ]
    )
    seen = seen_through(rows, "throughput_bps", Instrument(source="test", end="sender"))
    assert _value(seen, "throughput_bps") == pytest.approx(60.0)


@pytest.mark.parametrize(
    ("given", "problem"),
    [
        ({}, "changes nothing"),
        ({"tick": 1.0, "advance": 1.0}, "set series"),
        ({"tick": 1.0, "series": True}, "act together"),
        ({"rounding": "up", "series": True}, "acts on a step"),
    ],
)
def test_a_part_that_cannot_act_is_refused(given, problem) -> None:
    with pytest.raises(ValueError, match=problem):
        Instrument(source="test", **given)
