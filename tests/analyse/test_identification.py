"""Identification: fits recover a known cost, and scores are those of the readings held out."""

import math

import pytest

from airtoll.analyse.identification import Curve, Overhead, identify
from airtoll.errors import UsageError

COSTS = (0.0, 50.0, 100.0)
#: Overhead in points by cost: alone all of it shows on a cycle of 400 us, beside another a third.
ALONE = Curve(COSTS, (1.0, 13.5, 26.0))
BESIDE = Curve(COSTS, (1.0, 5.0, 9.0))
NONE = Curve((0.0,), (1.0,))


def reading(
    name: str, cipher: str, value: float, *, held_out: bool, error: float = 0.0
) -> Overhead:
    return Overhead(name, "5" if held_out else "3", name, cipher, value, error, 400.0, held_out)


def cell(*, beside: float) -> list[Overhead]:
    """TKIP costs 60 us, WEP 30; two readings each alone, one beside another station."""
    return [
        reading("tkip", "tkip", ALONE.at(60.0), held_out=False),
        reading("tkip-2", "tkip", ALONE.at(60.0), held_out=False),
        reading("wep", "wep", ALONE.at(30.0) + 0.5, held_out=False),
        reading("wep-2", "wep", ALONE.at(30.0) - 0.5, held_out=False),
        reading("two-tkip", "tkip", BESIDE.at(60.0) + beside, held_out=True),
        reading("two-wep", "wep", BESIDE.at(30.0), held_out=True),
    ]


def curves() -> dict[str, dict[str, Curve]]:
    names = [r.name for r in cell(beside=0.0)]
    card = {name: BESIDE if name.startswith("two") else ALONE for name in names}
    return {"octets": dict.fromkeys(names, NONE), "card": card}


def test_the_cost_of_each_cipher_is_found_and_carried_over():
    best, other = identify(cell(beside=0.0), curves())
    assert (best.name, other.name) == ("card", "octets")
    assert best.fitted == pytest.approx({"tkip": 60.0, "wep": 30.0}, abs=0.3)
    assert best.rms_points < 0.05
    assert best.at_limit == ()
    # Residuals of half a point of 400 us are 2 us; two free costs leave two of four readings.
    assert best.error_us == pytest.approx(math.sqrt((2.0**2 + 2.0**2) / 2), rel=0.05)
    assert best.half_width_points == pytest.approx(2.92 * 0.5, rel=0.05)
    assert best.coverage == 1.0
    assert best.kendall() == {"5": 1.0}
    assert other.fitted == {"tkip": 0.0, "wep": 0.0}
    assert math.isnan(other.kendall()["5"]), "equal predictions have no order"


def test_a_held_out_reading_far_away_is_outside():
    best = next(m for m in identify(cell(beside=4.0), curves()) if m.name == "card")
    assert best.coverage == 0.5
    assert best.rms_points == pytest.approx(4.0 / math.sqrt(2), rel=0.02)
    assert best.fitted == pytest.approx({"tkip": 60.0, "wep": 30.0}, abs=0.3), "never refitted"


def test_a_cost_without_limit_is_shown_as_such():
    rows = [*cell(beside=0.0), reading("more", "tkip", 90.0, held_out=False)]
    with_more = {
        name: {**own, "more": NONE if name == "octets" else ALONE} for name, own in curves().items()
    }
    card = next(m for m in identify(rows, with_more) if m.name == "card")
    all_high = [r for r in rows if r.cipher != "tkip" or r.held_out or r.name == "more"]
    card = next(m for m in identify(all_high, with_more) if m.name == "card")
    assert card.at_limit == ("tkip",)


@pytest.mark.parametrize("held_out", [True, False])
def test_a_split_needs_both_sides(held_out: bool):
    rows = [reading("tkip", "tkip", 5.0, held_out=held_out)]
    with pytest.raises(UsageError, match="some overheads are fitted and some held out"):
        identify(rows, {"card": {"tkip": ALONE}})


def test_a_cipher_without_a_fit_is_refused():
    rows = [
        reading("wep", "wep", 5.0, held_out=False),
        reading("two-tkip", "tkip", 5.0, held_out=True),
    ]
    with pytest.raises(UsageError, match="tkip: no reading of the fit"):
        identify(rows, {"card": {"wep": ALONE, "two-tkip": BESIDE}})
