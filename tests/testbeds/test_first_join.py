"""A join at home before the join in a foreign network."""

from __future__ import annotations

from airtoll.plan import Trial, make_plan
from airtoll.study import load
from airtoll.study.load import with_values
from airtoll.testbeds import first_join
from airtoll.testbeds.simulator import Simulator


def _sums(policy: str, *, first: bool) -> dict[str, float]:
    file = with_values(
        load("agarwal2005-authentication"),
        {"scenario.R2.join.first_at_home": first, "traffic.tcp.transfer_bytes": 2000},
    )
    (cell,) = (
        cell
        for cell in make_plan(file.study).cells
        if cell.scenario == "R2"
        and cell.policy == policy
        and dict(cell.factors)["profile_set"] == "laptop"
    )
    measured = Simulator().measure(Trial(cell, 1, 1, 7))
    assert measured.failure is None
    return {row.metric: row.value for row in measured.rows if row.station == "mobile"}


def test_link_and_registration_are_repeated_and_a_tunnel_is_not() -> None:
    policy = "8021x-md5+wep-104+ipsec-3des-md5"
    once, twice = _sums(policy, first=False), _sums(policy, first=True)
    assert twice["messages_eap"] == 2 * once["messages_eap"]
    assert twice["messages_ikev1"] == once["messages_ikev1"]
    # Four messages of Mobile IP at home, as the paper counts them.
    assert twice["messages_mobile_ip"] == once["messages_mobile_ip"] + 4
    assert twice["negotiation_time_s"] > once["negotiation_time_s"]


def test_a_first_join_needs_a_foreign_network() -> None:
    plan = make_plan(load("agarwal2005-authentication").study)
    home = next(cell for cell in plan.cells if cell.scenario == "N5")
    assert first_join.why_not(home) is None
    abroad = next(cell for cell in plan.cells if cell.scenario == "R2")
    assert first_join.why_not(abroad) is None
    changed = {"scenario.N5.join.first_at_home": True}
    wrong_study = with_values(load("agarwal2005-authentication"), changed).study
    wrong = next(cell for cell in make_plan(wrong_study).cells if cell.scenario == "N5")
    assert "foreign network" in (first_join.why_not(wrong) or "")


def test_a_radius_host_of_its_own_is_refused_where_the_agents_are_the_servers() -> None:
    changed = {"scenario.N5.radius.requests_per_s": 10}
    study = with_values(load("agarwal2005-authentication"), changed).study
    cell = next(c for c in make_plan(study).cells if c.scenario == "N5" and c.policy != "open")
    skip = Simulator().check(cell)
    assert skip is not None
    assert "radius.requests_per_s: the agents of two domains are the RADIUS servers" in skip.reason
