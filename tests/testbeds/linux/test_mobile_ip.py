"""Mobile IPv4 on the real stack: the native agents against octets that were recorded from the
agents of this testbed (RFC 5944), and the commands that their bindings become.
"""

from __future__ import annotations

import hmac
import os
import time

import pytest
from attrs import asdict, evolve
from hypothesis import given
from hypothesis import strategies as st

from airtoll import _native, border
from airtoll.border.answers import Binding, Visit
from airtoll.testbeds.linux.daemons import mobile_ip as mip
from airtoll.testbeds.linux.hosts.plain import read

KEY = bytes(range(16))
HOME, AGENT, FOREIGN, CARE_OF = "10.77.0.11", "10.77.0.1", "10.79.0.1", "10.80.0.2"
#: Time of the recording: the seconds of NTP are 0xeb000000.
NOW = 0xEB000000 - 2208988800
#: Request away, its acceptance; request at home, its acceptance.
RECORDED = {
    CARE_OF: (
        "010002580a4d000b0a4d00010a500002eb00000000000000",
        "030002580a4d000b0a4d0001eb00000000000000",
    ),
    None: (
        "010000000a4d000b0a4d00010a4d000beb00000000000000",
        "030000000a4d000b0a4d0001eb00000000000000",
    ),
}
#: SPI 256 of a Mobile-Home authentication extension of 20 octets.
EXTENSION = bytes.fromhex("201400000100")


def home_agent(*homes: str, key: bytes = KEY) -> _native.HomeAgent:
    nodes = tuple(mip.Homed(home, key.hex()) for home in homes or (HOME,))
    settings = read(mip.HomeAgent, asdict(mip.HomeAgent(nodes, AGENT, "lan")))
    return _native.HomeAgent(border.to_json(settings.protocol()))


def foreign_agent() -> _native.ForeignAgent:
    settings = mip.ForeignAgent(FOREIGN, CARE_OF, "lan")
    return _native.ForeignAgent(border.to_json(settings.protocol()))


def settings_of(home: str = HOME, **changes: object) -> mip.MobileNode:
    return evolve(mip.MobileNode(KEY.hex(), home, AGENT, "wlan0", "10.77.0.0/24"), **changes)


def mobile_node(home: str = HOME, **changes: object) -> _native.MobileNode:
    return _native.MobileNode(border.to_json(settings_of(home, **changes).protocol()))


def hmac_md5(covered: bytes) -> bytes:
    return hmac.new(KEY, covered, "md5").digest()


@pytest.mark.parametrize("care_of", RECORDED)
def test_messages_are_those_that_were_recorded(care_of: str | None) -> None:
    node, agent = mobile_node(), home_agent()
    request = node.request(care_of, NOW)
    answered = agent.request(request, NOW)
    assert answered is not None
    for octets, expected in zip((request, answered[0]), RECORDED[care_of], strict=True):
        assert octets[:-22].hex() == expected
        assert octets[-22:-16] == EXTENSION
        assert octets[-16:] == hmac_md5(octets[:-16])
    told = node.reply(answered[0])
    lifetime = 600 if care_of else 0
    assert told == {"code": 0, "lifetime_s": lifetime, "retry": False}
    assert answered[1] == {
        "home_address": HOME,
        "care_of_address": care_of or HOME,
        "lifetime_s": lifetime,
        "reverse_tunnel": False,
    }


@given(st.integers(0, 45), st.integers(1, 255))
def test_a_changed_octet_is_noticed(place: int, change: int) -> None:
    request = bytearray(mobile_node().request(CARE_OF, NOW))
    request[place] ^= change
    answered = home_agent().request(bytes(request), NOW)
    # Another type is no request, and what has another extension or length may not be readable
    # (RFC 5944, 1.8 to 1.12); every other change is refused.
    assert answered is not None or place in (0, 24, 25)
    if answered is not None:
        assert answered[1] is None
        assert answered[0][1] == 131


@given(st.binary(max_size=60))
def test_anything_is_survived(octets: bytes) -> None:
    node = mobile_node()
    node.request(CARE_OF, NOW)
    agent, foreign = home_agent(), foreign_agent()
    assert node.reply(octets) is None
    assert node.agent(octets) is None
    assert agent.icmp(octets) is None
    answered = agent.request(octets, NOW)
    assert answered is None or answered[1] is None
    relayed = foreign.relay(octets, HOME, 434)
    assert relayed is None or octets[0] == 1


def test_requests_are_judged() -> None:
    now = time.time()

    def code(stamp: float, key: bytes = KEY) -> int:
        answered = home_agent().request(mobile_node(key=key.hex()).request(CARE_OF, stamp), now)
        assert answered is not None
        assert (answered[1] is not None) == (answered[0][1] == mip.ACCEPTED)
        return answered[0][1]

    assert code(now) == mip.ACCEPTED
    assert code(now - 60) == 133
    assert code(now, os.urandom(16)) == 131
    node, agent = mobile_node(), home_agent()
    answered = agent.request(node.request(CARE_OF, now), now)
    assert answered is not None
    assert agent.request(answered[0], now) is None  # a reply is no request


def test_a_node_whose_clock_is_wrong_takes_the_home_agents_time() -> None:
    node, agent = mobile_node(), home_agent()
    refused = agent.request(node.request(CARE_OF, NOW - 3600), NOW)
    assert refused is not None
    told = node.reply(refused[0])
    assert told is not None
    assert (told["code"], told["retry"]) == (133, True)
    accepted = agent.request(node.request(CARE_OF, NOW - 3600), NOW + 1)
    assert accepted is not None
    told = node.reply(accepted[0])
    assert told is not None
    assert (told["code"], told["retry"]) == (0, False)


def test_two_nodes_register_through_one_foreign_agent() -> None:
    homes = ("10.77.0.11", "10.77.0.12")
    agent, foreign = home_agent(*homes), foreign_agent()
    nodes = [mobile_node(home) for home in homes]
    requests = [node.request(CARE_OF, NOW) for node in nodes]
    for home, request in zip(homes, requests, strict=True):
        relayed = foreign.relay(request, home, 434)
        assert relayed is not None
        assert relayed[:2] == (AGENT, 434)
        assert relayed[2]["code"] is None
    for home, request, node in reversed(list(zip(homes, requests, nodes, strict=True))):
        answered = agent.request(request, NOW)
        assert answered is not None
        relayed = foreign.relay(answered[0], AGENT, 434)
        assert relayed is not None
        assert relayed[:2] == (home, 434)
        assert (relayed[2]["home_address"], relayed[2]["code"]) == (home, 0)
        assert node.reply(answered[0]) is not None
    assert foreign.relay(b"\x03" + bytes(41), AGENT, 434) is None


def test_agents_advertise_what_was_recorded() -> None:
    # ICMP code 0 where the recorded agents had 16: these agents route (section 2.1).
    foreign, home, node = foreign_agent(), home_agent(), mobile_node()
    solicitation = node.solicitation()
    assert solicitation.hex() == "0a00f5ff00000000"
    for sequence in range(4):
        told, own = foreign.icmp(solicitation), home.icmp(solicitation)
        assert told is not None
        assert own is not None
        assert (told[18:20], own[18:20]) == (bytes([0, sequence]),) * 2
    assert told.hex() == "09003dd80102001e0a4f000100000000100a0003025891000a500002"
    assert own.hex() == "0900b8300102001e0a4d0001000000001006000302582100"
    assert node.agent(told) == {"router": FOREIGN, "care_of_address": CARE_OF}
    assert node.agent(own) == {"router": AGENT, "care_of_address": None}
    assert node.agent(told[:-1] + b"\xff") is None
    assert foreign.icmp(told) is None


def test_the_header_of_a_raw_sockets_packet_is_cut_off() -> None:
    packet = bytes([0x46]) + bytes(23) + b"icmp"
    assert mip._payload(packet) == b"icmp"
    assert mip._payload(b"") == b""


def test_settings_without_an_association_are_refused() -> None:
    with pytest.raises(ValueError, match=r"Mobile IP settings: .*association"):
        _native.MobileNode('{"home_address": "10.0.0.2", "home_agent": "10.0.0.1"}')


def binding(home: str, care_of: str, lifetime_s: int = 600) -> Binding:
    return {
        "home_address": home,
        "care_of_address": care_of,
        "lifetime_s": lifetime_s,
        "reverse_tunnel": False,
    }


def test_nodes_share_a_tunnel_until_the_last_one_leaves() -> None:
    intercepted = mip.Intercepted(mip.HomeAgent((), AGENT, "lan"))
    name = mip.tunnel_name(CARE_OF)
    assert name == "mip-0a500002"
    first = intercepted.changed(binding("10.77.0.11", CARE_OF))
    assert f"tunnel add {name} mode ipip local {AGENT} remote {CARE_OF}" in first
    assert f"route replace 10.77.0.11/32 dev {name}" in first
    assert "neigh replace proxy 10.77.0.11 dev lan" in first
    intercepted.changed(binding("10.77.0.12", CARE_OF))
    # The registration again, as a node renews it: the tunnel stays.
    assert f"link del {name}" not in intercepted.changed(binding("10.77.0.11", CARE_OF))
    # One node moves on to another foreign agent, the other one comes home.
    moved = intercepted.changed(binding("10.77.0.11", "10.82.0.1"))
    assert "route replace 10.77.0.11/32 dev mip-0a520001" in moved
    assert f"link del {name}" not in moved
    left = intercepted.changed(binding("10.77.0.12", "10.77.0.12", 0))
    assert left == (
        "neigh del proxy 10.77.0.12 dev lan",
        "route del 10.77.0.12/32",
        f"link del {name}",
    )


def test_routes_of_a_node_away_and_at_home() -> None:
    settings = mip.MobileNode("00", "10.81.0.11", "10.81.0.1", "wlan0", "10.81.0.0/24")
    away = mip._routes(settings, "10.82.0.1")
    assert away[0] == "route flush dev wlan0"
    assert "route replace default via 10.82.0.1 dev wlan0 src 10.81.0.11" in away
    home = mip._routes(evolve(settings, gateway="10.81.0.1"), None)
    assert "route replace 10.81.0.0/24 dev wlan0 src 10.81.0.11" in home
    assert "route replace default via 10.81.0.1 dev wlan0 src 10.81.0.11" in home
    assert len(mip._routes(settings, None)) == 2


def test_reverse_tunnelling_is_done_when_it_was_asked_for() -> None:
    settings = mip.ForeignAgent("10.82.0.1", "10.82.0.1", "lan", local=("10.82.0.0/24",))

    def visit(reverse: bool) -> Visit:
        foreign = foreign_agent()
        request = mobile_node(reverse=reverse).request(CARE_OF, NOW)
        assert request[1] == (0x02 if reverse else 0)  # the T bit (RFC 3024 section 3.2)
        relayed = foreign.relay(request, HOME, 434)
        assert relayed is not None
        return relayed[2]

    assert mip._reverse(settings, visit(False)) == ()
    asked = mip._reverse(settings, visit(True))
    assert f"rule add pref 100 from {HOME} iif lan lookup 77" in asked
    assert "route replace default dev mip-0a4d0001 table 77" in asked
    assert "route replace throw 10.82.0.0/24 table 77" in asked
    # A node at home needs no tunnel.
    assert mobile_node(reverse=True).request(None, NOW)[1] == 0
