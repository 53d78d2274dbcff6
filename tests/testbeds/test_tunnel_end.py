"""Tunnels that end at the access point: who encapsulates, and what its CPU does."""

from __future__ import annotations

from typing import Any

import pytest

from airtoll.plan import Cell, Trial, make_plan
from airtoll.study import Study
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.resolve import AP, SERVER, scenario
from airtoll.testbeds.simulator import Simulator
from airtoll.testbeds.unpriced import note

#: The longest payload that WireGuard's interface passes whole, and that of a full Ethernet frame.
WHOLE, FULL = 1392, 1472


def cell_of(policy: str = "wpa2-psk-ccmp+wireguard", payload: int = WHOLE, **settings: Any) -> Cell:
    data = {
        "study": {"name": "ends", "title": "Ends", "baseline": policy},
        "scenario": {
            "one": {
                "phy": "802.11ac",
                "width_mhz": 80,
                "mcs": 9,
                "streams": 2,
                "wired": {"rate_mbps": 1000},
                **settings,
            }
        },
        "traffic": {
            "load": {
                "transport": "udp",
                "payload_bytes": payload,
                "direction": "down",
                "duration_s": 0.3,
            }
        },
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data)).cells[0]


def throughput(cell: Cell) -> float:
    assert Simulator().check(cell) is None
    trial = Simulator().measure(Trial(cell=cell, number=1, attempt=1, seed=1))
    rows = {row.metric: row.value for row in trial.rows if row.flow is row.station is None}
    return rows["throughput_bps"]


@pytest.mark.parametrize(("end", "node"), [("server", SERVER), ("access-point", AP)])
def test_the_far_end_is_the_one_named(end: str, node: str) -> None:
    resolved = scenario(cell_of(tunnel_end=end, authenticate=True))
    (station,) = (one for one in resolved.nodes if one.name == "A")
    assert [tunnel.peer for tunnel in station.tunnels] == [node]
    (association,) = resolved.associations
    assert association.gateway == node


def test_it_negotiates_and_passes_on_what_comes_out() -> None:
    at_router = throughput(cell_of(tunnel_end="access-point", authenticate=True))
    at_server = throughput(cell_of(tunnel_end="server", authenticate=True))
    # The air carries the same packets.
    assert at_router == pytest.approx(at_server, rel=0.01)


def test_the_router_cuts_what_its_interface_does_not_pass_whole() -> None:
    ends = {"tunnel_end": "access-point"}
    trial = Simulator().measure(
        Trial(cell=cell_of(payload=FULL, **ends), number=1, attempt=1, seed=1)
    )
    assert any("set payload_bytes to 1392 or less" in caveat for caveat in trial.caveats)
    cut, whole = (throughput(cell_of(payload=octets, **ends)) for octets in (FULL, WHOLE))
    assert cut < 0.97 * whole
    assert cut == pytest.approx(throughput(cell_of(payload=FULL)), rel=0.01)


def test_the_router_is_the_limit_where_it_ends_the_tunnel() -> None:
    slow = {"ap": {"profile": "mt7621"}}
    ends = throughput(cell_of(tunnel_end="access-point", **slow))
    # 880 MHz over 64,074 cycles that one core does for each packet.
    assert ends == pytest.approx(8 * WHOLE * 880e6 / 64_074, rel=0.05)
    assert throughput(cell_of(tunnel_end="server", **slow)) > 2 * ends


def test_an_unpublished_cost_is_unknown() -> None:
    router = {"ap": {"profile": "mt7621"}, "tunnel_end": "access-point"}
    assert note(cell_of(**router)) is None
    openvpn = cell_of("wpa2-psk-ccmp+openvpn", **router)
    assert "unknown" in str(note(openvpn))
    assert any("unknown" in one.text for one in Simulator().cautions(openvpn))
    trial = Simulator().measure(Trial(cell=openvpn, number=1, attempt=1, seed=1))
    assert any("OPENVPN-AES-GCM is unknown" in caveat for caveat in trial.caveats)
    # A router through which the tunnel passes needs no such cost.
    assert note(cell_of("wpa2-psk-ccmp+openvpn", ap={"profile": "mt7621"})) is None
    # Its radio has no GCMP, and its CPU no published cost of it.
    assert "GCMP-256" in str(note(cell_of("wpa3-sae-gcmp-256", ap={"profile": "mt7621"})))
    assert note(cell_of("wpa3-sae-gcmp-256", ap={"profile": "mt7986"})) is None


def test_closed_forms_say_that_they_have_none() -> None:
    skip = Analytic().check(cell_of(tunnel_end="access-point"))
    assert skip is not None
    assert "end at the server" in skip.reason
