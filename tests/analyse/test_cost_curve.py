"""Throughput against a cost per frame, by straight lines of the time per bit."""

from __future__ import annotations

import pytest

from airtoll.analyse import cost_curve


class _Device:
    """A sender whose frames of 12,000 bits take 600 us, and a card; counts its questions."""

    def __init__(self, hidden_us: float) -> None:
        self.hidden_us = hidden_us
        self.asked: list[float] = []

    def __call__(self, cost_us: float) -> float:
        self.asked.append(cost_us)
        return 12_000 / (600e-6 + 1e-6 * max(0.0, cost_us - self.hidden_us))


@pytest.mark.parametrize("cost_us", [0.0, 7.0, 31.0, 100.0, 333.0, 480.0])
def test_a_card_that_works_alone_is_a_straight_line_of_few_questions(cost_us: float) -> None:
    device = _Device(0.0)
    known = cost_curve.measured(device)
    assert cost_curve.at(known, cost_us) == pytest.approx(_Device(0.0)(cost_us), rel=1e-9)
    assert len(device.asked) <= 6


@pytest.mark.parametrize("hidden_us", [34.0, 150.0, 300.0])
@pytest.mark.parametrize("cost_us", [20.0, 50.0, 160.0, 310.0, 470.0])
def test_a_bend_is_found(hidden_us: float, cost_us: float) -> None:
    device = _Device(hidden_us)
    known = cost_curve.measured(device)
    assert cost_curve.at(known, cost_us) == pytest.approx(_Device(hidden_us)(cost_us), rel=0.02)
    assert len(device.asked) <= 16


def test_beyond_the_search_the_last_value_holds() -> None:
    assert cost_curve.at({0.0: 20.0, 80.0: 10.0}, 500.0) == 10.0
