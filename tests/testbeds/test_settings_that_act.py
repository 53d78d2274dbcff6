"""Settings that change nothing in a cell are refused with the reason, or skipped."""

from __future__ import annotations

import pytest
from pydantic import ValidationError

from airtoll.plan import Cell
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator


def _scenario(**settings: object) -> Scenario:
    return Scenario.model_validate({"stations": [{"name": "A"}], **settings})


def _cell(traffic: dict[str, object], **settings: object) -> Cell:
    return Cell(
        scenario="s",
        policy="open",
        traffic="t",
        factors=(),
        settings=_scenario(**settings),
        load=Traffic.model_validate({"transport": "udp", "duration_s": 0.1, **traffic}),
    )


@pytest.mark.parametrize(
    ("settings", "reason"),
    [
        ({"phy": "802.11a", "protection": "rts-cts"}, "802.11a here is at 5 GHz"),
        ({"phy": "802.11ax", "band": "6", "protection": "cts-to-self"}, "at 6 GHz"),
        ({"phy": "802.11b", "protection": "rts-cts"}, "for OFDM frames; 802.11b has none"),
        ({"phy": "802.11ac", "preamble": "short"}, "preamble is that of DSSS frames"),
        (
            {
                "phy": "802.11be",
                "protection": "rts-cts",
                "mlo": {"links": [{"band": "5"}, {"band": "6"}]},
            },
            "at 5 and 6 GHz",
        ),
    ],
)
def test_what_guards_from_dsss_stations_is_refused_where_there_are_none(settings, reason):
    with pytest.raises(ValidationError, match=reason):
        _scenario(**settings)


@pytest.mark.parametrize("phy", ["802.11g", "802.11n", "802.11ax"])
def test_protection_acts_at_2_4_ghz(phy):
    assert _scenario(phy=phy, band="2.4", protection="rts-cts").protection == "rts-cts"
    links = {"links": [{"band": "2.4"}, {"band": "5"}]}
    assert _scenario(phy="802.11be", mlo=links, protection="rts-cts").mlo is not None


@pytest.mark.parametrize("application", ["voip", "request-response", "http", "dns"])
def test_a_rate_is_for_streams(application):
    with pytest.raises(ValidationError, match=f"{application} sends at a pace of its own"):
        _cell({"application": application, "offered_mbps": 1}, phy="802.11g")


def test_a_transfer_at_a_stated_rate_is_skipped():
    transfer = {"transfer_bytes": 100_000}
    assert Simulator().check(_cell(transfer, phy="802.11g")) is None
    skip = Simulator().check(_cell({**transfer, "offered_mbps": 1}, phy="802.11g"))
    assert skip is not None
    assert "offered_mbps: a simulated transfer" in skip.reason


def test_closed_forms_have_the_contention_of_best_effort_alone():
    assert Analytic().check(_cell({}, phy="802.11n", rate_mbps=None, mcs=7)) is None
    skip = Analytic().check(_cell({"wmm": "video"}, phy="802.11n", mcs=7))
    assert skip is not None
    assert "best-effort" in skip.reason
    # Without EDCA there are no access categories.
    assert Analytic().check(_cell({"wmm": "video"}, phy="802.11a")) is None
