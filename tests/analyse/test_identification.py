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
    name: str,
    cipher: str,
    value: float,
    *,
    held_out: bool,
    transport: str = "udp",
    dataset: str = "a",
    suite: str | None = None,
) -> Overhead:
    table = f"{dataset} {'5' if held_out else '3'}"
    own = suite or cipher
    return Overhead(name, dataset, table, name, cipher, own, transport, value, 0.0, held_out)


def cell(*, beside: float = 0.0, noise: float = 0.3, dataset: str = "a") -> list[Overhead]:
    """TKIP costs 60 us, WEP 30; three readings each alone, one beside another station."""
    rows = []
    for cipher, cost in (("tkip", 60.0), ("wep", 30.0)):
        for number, sign in enumerate((-1, 0, 1)):
            value = ALONE.at(cost) + sign * noise
            rows.append(reading(f"{cipher}-{number}", cipher, value, held_out=False))
    rows.append(
        reading("two-tkip", "tkip", BESIDE.at(60.0) + beside, held_out=True, dataset=dataset)
    )
    rows.append(reading("two-wep", "wep", BESIDE.at(30.0), held_out=True, dataset=dataset))
    return rows


def curves(rows: list[Overhead]) -> dict[str, dict[str, Curve]]:
    names = [r.name for r in rows]
    card = {name: BESIDE if name.startswith("two") else ALONE for name in names}
    return {"octets": dict.fromkeys(names, NONE), "card": card}


def test_the_cost_of_each_cipher_is_found_and_carried_over():
    rows = cell()
    best, other = identify(rows, curves(rows))
    assert (best.name, other.name) == ("card", "octets")
    assert {name: cost.value for name, cost in best.fitted.items()} == pytest.approx(
        {"tkip udp": 60.0, "wep udp": 30.0}, abs=0.5
    )
    for cost, true in zip(best.fitted.values(), (60.0, 30.0), strict=True):
        assert cost.low < true < cost.high < cost.low + 8.0
    assert best.rms_points < 0.1
    assert best.at_limit == ()
    assert best.log_evidence > other.log_evidence + 10
    assert 0.2 < best.noise_points < 0.8, "three readings 0.3 points apart, twice"
    assert best.half_width_points > 1.645 * 0.3
    assert best.coverage == 1.0
    assert best.kendall() == {"a 5": 1.0}
    assert other.fitted == {}
    assert math.isnan(other.kendall()["a 5"]), "equal predictions have no order"


def test_intervals_grow_with_the_noise_of_the_fit():
    quiet, loud = (
        next(m for m in identify(rows, curves(rows)) if m.name == "card")
        for rows in (cell(noise=0.3), cell(noise=1.5))
    )
    assert loud.half_width_points > 2.5 * quiet.half_width_points


def folded(miss: float) -> list[Overhead]:
    """Ten readings of 60 us by table, each table with its own miss in points; one held out."""
    rows = []
    for number in range(10):
        value = ALONE.at(60.0) + (miss if number % 5 == 0 else 0.1) * (-1) ** number
        table = f"a {number // 2}"
        rows.append(Overhead(f"r{number}", "a", table, "p", "tkip", "tkip", "udp", value, 0, False))
    return [*rows, reading("two-tkip", "tkip", BESIDE.at(60.0), held_out=True)]


def test_intervals_that_miss_the_folds_of_the_fit_are_widened():
    def card(miss: float):
        rows = folded(miss)
        return next(m for m in identify(rows, curves(rows)) if m.name == "card")

    kept, widened = card(0.1), card(6.0)
    assert kept.widened == 1.0
    assert widened.widened > 1.1
    (predicted,) = widened.predicted
    assert predicted.low < predicted.value < predicted.high
    # The tenth of eleven ranks of ten folds is their largest miss.
    few = [r for r in folded(6.0) if r.held_out or r.name in ("r0", "r1", "r2", "r3")]
    model = next(m for m in identify(few, curves(few)) if m.name == "card")
    assert model.widened == 1.0, "four readings cannot tell a share of 90 %"


def test_another_study_is_predicted_with_the_spread_of_the_costs():
    same = next(m for m in identify(cell(), curves(cell())) if m.name == "card")
    rows = cell(dataset="b")
    other = next(m for m in identify(rows, curves(rows)) if m.name == "card")
    assert other.half_width_points > 1.2 * same.half_width_points
    assert other.rms_points < 0.5


def test_a_held_out_reading_far_away_is_outside():
    rows = cell(beside=6.0)
    best = next(m for m in identify(rows, curves(rows)) if m.name == "card")
    assert best.coverage == 0.5
    assert best.rms_points == pytest.approx(6.0 / math.sqrt(2), rel=0.03)
    assert best.fitted["tkip udp"].value == pytest.approx(60.0, abs=0.5), "never refitted"


def test_transports_may_differ_and_are_drawn_to_the_cost_of_their_cipher():
    rows = cell()
    rows += [
        reading(f"tkip-tcp-{n}", "tkip", ALONE.at(70.0) + d, held_out=False, transport="tcp")
        for n, d in enumerate((-0.3, 0.3))
    ]
    card = next(m for m in identify(rows, curves(rows)) if m.name == "card")
    assert 58.0 < card.fitted["tkip udp"].value < card.fitted["tkip tcp"].value < 70.5
    assert card.fitted["tkip tcp"].value > 67.0
    assert card.spread_us > 1.0


def test_key_lengths_have_costs_of_their_own_only_where_the_readings_demand_it():
    def with_lengths(apart: float) -> list[Overhead]:
        rows = []
        for suite, cost in (("wep-40", 30.0), ("wep-104", 30.0 + apart)):
            for n, d in enumerate((-0.2, -0.1, 0.1, 0.2)):
                name = f"{suite}-{n}"
                value = ALONE.at(cost) + d
                rows.append(reading(name, "wep", value, held_out=False, suite=suite))
            value = BESIDE.at(cost)
            rows.append(reading(f"two-{suite}", "wep", value, held_out=True, suite=suite))
        return rows

    for apart, expected in ((0.0, False), (30.0, True)):
        rows = with_lengths(apart)
        card = next(m for m in identify(rows, curves(rows)) if m.name == "card")
        assert card.key_lengths is expected


def test_a_cost_without_limit_is_shown_as_such():
    rows = cell()
    rows += [reading(f"more-{n}", "ccmp", 60.0, held_out=False) for n in range(3)]
    card = next(m for m in identify(rows, curves(rows)) if m.name == "card")
    assert card.at_limit == ("ccmp udp",)


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
