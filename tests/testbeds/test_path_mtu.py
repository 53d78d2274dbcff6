"""Black holes of path MTU discovery: what stalls, what is said of it, and what cures it."""

from __future__ import annotations

from typing import Any

import pytest

from airtoll.plan import make_plan
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator

HOLE = {"path_mtu_octets": 1400, "pmtud": "black_hole"}


def cell_of(policy: str = "open", traffic: dict[str, Any] | None = None, **settings: Any) -> Any:
    data = {
        "study": {"name": "hole", "title": "Hole", "baseline": "open"},
        "scenario": {"one": {"phy": "802.11a"} | settings},
        "traffic": {"load": {"transport": "tcp", "duration_s": 2} | (traffic or {})},
        "grid": {
            "scenario": ["one"],
            "traffic": ["load"],
            "policy": list(dict.fromkeys(["open", policy])),
        },
    }
    plan = make_plan(Study.model_validate(data), repetitions=1)
    return plan, next(cell for cell in plan.cells if cell.policy == policy)


def measured(*given: Any, **settings: Any) -> tuple[float, tuple[str, ...]]:
    """Throughput, Mb/s, and what is said of the trial."""
    plan, cell = cell_of(*given, **settings)
    assert Simulator().check(cell) is None
    found = Simulator().measure(plan.trial(cell, 1, 1))
    flows = [row for row in found.rows if row.metric == "throughput_bps" and row.flow]
    return sum(row.value for row in flows) / 1e6, found.caveats


def test_a_stalled_connection_is_named_before_and_after_the_trial() -> None:
    rate, said = measured(**HOLE)
    assert rate == 0
    words = "packets of 1500 octets exceed the path MTU of 1400 octets and vanish"
    assert any(words in caveat and "stalls at 0 Mb/s" in caveat for caveat in said)
    (caution,) = Simulator().cautions(cell_of(**HOLE)[1])
    assert caution.is_grave
    assert words in caution.text


@pytest.mark.parametrize(
    "cure",
    [
        {"pmtud": "works"},
        {"mss_clamping": True},
        {"mtu_octets": 1400},
    ],
)
def test_cures_of_a_connection_without_a_tunnel(cure: dict[str, Any]) -> None:
    rate, said = measured(**HOLE | cure)
    assert rate > 15
    assert said == ()


def test_probing_finds_shorter_segments() -> None:
    rate, said = measured("open", {"duration_s": 20, "mtu_probing": True}, **HOLE)
    assert rate > 10
    assert any("segments shrink after time-outs" in caveat for caveat in said)


@pytest.mark.parametrize("tunnel", ["ipsec-aes-gcm", "openvpn"])
def test_clamping_does_not_see_into_tunnels_and_their_mtu_does_it(tunnel: str) -> None:
    stalled, said = measured(tunnel, **HOLE, tunnel_mtu_octets=1420, mss_clamping=True)
    assert stalled == 0
    assert any("stalls" in caveat for caveat in said)
    rate, said = measured(tunnel, **HOLE, tunnel_mtu_octets=1280)
    assert rate > 10
    assert said == ()


def test_wireguard_is_fragmented_by_the_router() -> None:
    long, said = measured("wireguard", **HOLE, tunnel_mtu_octets=1420)
    assert long > 5
    assert said == ()


@pytest.mark.parametrize(
    ("settings", "words"),
    [
        ({"pmtud": "black_hole"}, "pmtud needs path_mtu_octets"),
        ({"mss_clamping": True}, "mss_clamping needs path_mtu_octets"),
        ({"path_mtu_octets": 1600}, "at most mtu_octets = 1500"),
        (HOLE | {"topology": "r1", "stations": [{"name": "A"}]}, "no wired path"),
    ],
)
def test_what_cannot_act_is_refused(settings: dict[str, Any], words: str) -> None:
    skip = Simulator().check(cell_of(**settings)[1])
    assert skip is not None
    assert words in skip.reason


def test_probing_is_of_tcp_and_closed_forms_know_no_black_hole() -> None:
    with pytest.raises(ValueError, match="mtu_probing is for transport"):
        cell_of("open", {"transport": "udp", "mtu_probing": True})
    skip = Analytic().check(cell_of("open", {"transport": "udp"}, **HOLE)[1])
    assert skip is not None
    assert "the path's MTU" in skip.reason
