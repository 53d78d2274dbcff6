"""The symbol step: octets that cost nothing, and octets that cost a symbol."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtoll.analyse.symbols import FullFrame, full_frame
from airtoll.plan import make_plan
from airtoll.study import load

FULL = FullFrame("802.11g", 54.0, "short", 1536)


def test_eight_sixteen_and_twenty_octets_cost_the_same_symbol():
    # 16 + 6 + 8 * 1536 = 12310 bits: 57 symbols of 216, with 2 bits to spare.
    assert FULL.symbols() == 57
    assert [FULL.symbols(n) for n in (8, 16, 20, 24)] == [58, 58, 58, 58]
    assert FULL.step_us(8) == FULL.step_us(20) == 4.0
    assert FULL.step_us(28) == 8.0


def test_octets_that_fit_into_the_padding_cost_nothing():
    frame = FullFrame("802.11a", 54.0, "short", 1512)
    assert frame.symbols() == frame.symbols(20) == 57
    assert frame.step_us(20) == 0.0


def test_dsss_has_no_symbols_and_charges_by_the_octet():
    frame = FullFrame("802.11b", 2.0, "long", 1536)
    assert frame.symbols(8) is None
    assert frame.step_us(8) == pytest.approx(32.0)


@given(st.integers(40, 1600), st.integers(0, 60), st.sampled_from([6.0, 12.0, 24.0, 54.0]))
def test_the_staircase_never_falls_and_steps_by_whole_symbols(octets, added, rate):
    frame = FullFrame("802.11a", rate, "short", octets)
    step = frame.step_us(added)
    assert step >= 0
    assert step % 4.0 == 0
    # Within one symbol of what the octets alone would take.
    assert abs(step - 8 * added / rate) <= 4.0


def test_full_frames_of_the_quickstart():
    cells = {cell.name: cell for cell in make_plan(load("quickstart").study).cells}
    assert full_frame(cells["home/open/udp"]) == FullFrame("802.11a", 54.0, "short", 1536)
    assert full_frame(cells["home/open/small"]).octets == 28 + 8 + 28 + 200
