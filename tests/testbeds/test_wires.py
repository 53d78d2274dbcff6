"""The wired path behind the access point: packets that it loses."""

from __future__ import annotations

from typing import Any

import pytest

from airtoll.plan import Plan, make_plan
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator


def plan_of(traffic: dict[str, Any], **wired: Any) -> Plan:
    data = {
        "study": {"name": "wires", "title": "Wires", "baseline": "open"},
        "scenario": {"one": {"phy": "802.11a", "topology": "downlink", "wired": wired}},
        "traffic": {"load": {"duration_s": 4.0, "warm_up_s": 1.0, **traffic}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": ["open"]},
    }
    return make_plan(Study.model_validate(data))


def measured(plan: Plan) -> dict[str, float]:
    found = Simulator().measure(plan.trial(plan.cells[0], 1, 1))
    assert found.failure is None
    return {row.metric: row.value for row in found.rows if row.second is None}


def test_a_path_loses_its_share_of_datagrams() -> None:
    paced = {"transport": "udp", "offered_mbps": 5.0}
    whole = measured(plan_of(paced))
    assert whole["packets_lost"] == 0
    lossy = measured(plan_of(paced, loss_ratio=0.1))
    assert lossy["packets_lost_wire"] == lossy["packets_lost"]
    # Three standard deviations of a binomial share.
    sigma = (0.1 * 0.9 / lossy["packets_sent"]) ** 0.5
    assert lossy["packets_lost"] / lossy["packets_sent"] == pytest.approx(0.1, abs=3 * sigma)


def test_loss_halves_a_window_of_cubic_and_not_the_rate_of_bbr() -> None:
    path = {"loss_ratio": 0.01, "delay_us": 20_000.0}
    carried = {
        tcp: measured(plan_of({"transport": "tcp", "tcp": tcp}, **path))["throughput_bps"]
        for tcp in ("cubic", "bbr")
    }
    assert carried["bbr"] > 2 * carried["cubic"]


def test_closed_forms_say_that_they_have_no_loss_on_a_wire() -> None:
    skip = Analytic().check(plan_of({"transport": "udp"}, loss_ratio=0.01).cells[0])
    assert skip is not None
    assert "wired.loss_ratio" in skip.reason
    assert Analytic().check(plan_of({"transport": "udp"}).cells[0]) is None


@pytest.mark.parametrize("share", [-0.1, 1.0])
def test_a_share_that_is_none_is_refused(share: float) -> None:
    with pytest.raises(ValueError, match="loss_ratio"):
        plan_of({"transport": "udp"}, loss_ratio=share)
