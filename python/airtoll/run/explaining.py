"""The setting of an explanation: what the air and named devices carry of each flow.

Takes the link, the policies before and after, and the flows; gives a
:class:`airtoll.analyse.explain.Setting`. Closed forms come first; the simulator answers what they
refuse. Never reads a measured file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

from attrs import field, frozen

from airtoll.analyse.explain import Air, Flow, Setting
from airtoll.errors import StudyError, TestbedError
from airtoll.plan import Cell, make_plan
from airtoll.policies import Policy, resolve
from airtoll.study import parse
from airtoll.study.generations import GENERATIONS, HIGHEST_MBPS
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.simulator import Simulator

#: Simulated seconds of what the closed forms refuse, with the start of TCP before them.
_SECONDS, _START_S = 0.25, 0.15
#: Lower MCSs that rate control may use.
_STEPS: Final = 7
#: Ciphers under which a station may not use HT (IEEE Std 802.11-2020, 12.2.4).
_NO_HT: Final = ("wep-40", "wep-104", "tkip")
#: A wire that never limits.
_WIRE_MBPS: Final = 100_000.0


@frozen
class Link:
    """The radio link of both measurements.

    ``mcs``: None for the highest of the PHY and width. ``rate_mbps``: of PHYs without MCSs.
    """

    phy: str
    width_mhz: int = 20
    mcs: int | None = None
    streams: int = 1
    guard_interval_ns: int | None = None
    rate_mbps: float | None = None
    band: str | None = None
    before: str = "open"
    after: str = "wpa2-psk-ccmp"
    #: Device profiles by place: ``ap`` and ``station``.
    profiles: Mapping[str, str] = field(factory=dict)

    @property
    def has_mcs(self) -> bool:
        """Whether the PHY has MCS indices."""
        return GENERATIONS[self.phy]["mcs_top"] is not None


#: Flows that may decide, beside those that were measured.
OFFERED: Final = (
    Flow("tcp", True),
    Flow("tcp", False),
    Flow("udp", True, 1472),
    Flow("udp", False, 1472),
    Flow("udp", True, 200),
    Flow("udp", True, 64),
    Flow("udp", True, 1472, 4),
)


def setting_of(link: Link, flows: Iterable[Flow]) -> Setting:
    """What the air, and devices of the profiles, carry of these flows and of those that may decide.

    Raises ``StudyError`` for a link that does not exist.
    """
    before, after = resolve(link.before), resolve(link.after)
    wanted = list(dict.fromkeys([*flows, *OFFERED]))
    air = {flow: _air(link, flow) for flow in wanted}
    devices = {
        place: {
            flow: _carried(link, flow, link.after, profile=(place, name)) for flow in wanted
        }
        for place, name in link.profiles.items()
    }
    return Setting(
        air=air,
        device_bps=devices,
        tunnel=bool(after.tunnels) and not before.tunnels,
        falls_back=link.has_mcs and _forbids_ht(after) and not _forbids_ht(before),
        encrypts=_encrypts(after) and not _encrypts(before),
        adds_pmf=after.link.pmf != "off" and before.link.pmf == "off",
    )


def _forbids_ht(policy: Policy) -> bool:
    return str(policy.link.cipher) in _NO_HT


def _encrypts(policy: Policy) -> bool:
    return policy.link.encrypts_data and str(policy.link.cipher) != "none"


def _air(link: Link, flow: Flow) -> Air:
    # A link of WEP or TKIP falls back by itself: without the fall-back it has the octets of CCMP.
    kept = "wpa2-psk-ccmp" if link.has_mcs and _forbids_ht(resolve(link.after)) else link.after
    first = "wpa2-psk-ccmp" if link.has_mcs and _forbids_ht(resolve(link.before)) else link.before
    after = _carried(link, flow, kept)
    return Air(
        before=_carried(link, flow, first),
        after=after,
        single=_carried(link, flow, kept, aggregates=False) if link.has_mcs else after,
        legacy=_legacy(link, flow) if link.has_mcs else None,
        slower=_lower_mcs(link, flow, kept, after)
        if link.has_mcs
        else _lower_rates(link, flow),
        rate_bps=_rate_bps(link),
        aggregates=link.has_mcs,
    )


def _lower_mcs(link: Link, flow: Flow, policy: str, top_bps: float) -> tuple[float, ...]:
    """Throughputs at lower MCSs: those of large datagrams, which have a closed form, in proportion."""
    mcs, datagrams = _mcs(link), Flow("udp", flow.down, 1472)
    top = _carried(link, datagrams, policy)
    return tuple(
        top_bps * _carried(link, datagrams, policy, mcs=lower) / top
        for lower in range(mcs - 1, max(-1, mcs - 1 - _STEPS), -1)
    )


def _legacy(link: Link, flow: Flow) -> float:
    phy = "802.11g" if link.band == "2.4" else "802.11a"
    own = Link(phy, rate_mbps=54.0, before=link.before, after=link.after)
    return _carried(own, flow, link.after)


def _lower_rates(link: Link, flow: Flow) -> tuple[float, ...]:
    top = link.rate_mbps or HIGHEST_MBPS[link.phy]
    rates = sorted((r for r in GENERATIONS[link.phy]["rates_mbps"] if r < top), reverse=True)
    return tuple(_carried(link, flow, link.after, rate=rate) for rate in rates[:_STEPS])


def _mcs(link: Link) -> int:
    """The MCS of a link: the stated one, or the highest that its width has."""
    if not link.has_mcs:
        return 0
    top = GENERATIONS[link.phy]["mcs_top"]
    if link.mcs is not None:
        return link.mcs
    assert top is not None
    if link.phy == "802.11n":
        return 7
    # VHT has no MCS 9 at 20 MHz with one, two or four streams (IEEE Std 802.11-2020, 21.5).
    return 8 if link.phy == "802.11ac" and link.width_mhz == 20 else int(top)


def _rate_bps(link: Link) -> float:
    if not link.has_mcs:
        return 1e6 * (link.rate_mbps or HIGHEST_MBPS[link.phy])
    # The PHY rate by a long frame: with A-MPDUs the air carries about nine tenths of it.
    udp = _carried(link, Flow("udp", True, 1472), link.before)
    return 1.1 * udp


def _carried(
    link: Link,
    flow: Flow,
    policy: str,
    *,
    aggregates: bool = True,
    mcs: int | None = None,
    rate: float | None = None,
    profile: tuple[str, str] | None = None,
) -> float:
    """Throughput of one flow, bit/s."""
    scenario: dict[str, Any] = {
        "phy": link.phy,
        "topology": "downlink" if flow.down else "uplink",
        "security_gates": "ignore",
        "queue_packets": 4096,
        "wired": {"rate_mbps": _WIRE_MBPS, "delay_us": 50},
    }
    if link.has_mcs:
        scenario |= {
            "width_mhz": link.width_mhz,
            "mcs": _mcs(link) if mcs is None else mcs,
            "streams": link.streams,
        }
        if not aggregates:
            scenario["ampdu_max_octets"] = 0
        if link.guard_interval_ns is not None:
            scenario["guard_interval_ns"] = link.guard_interval_ns
    else:
        scenario["rate_mbps"] = rate or link.rate_mbps or HIGHEST_MBPS[link.phy]
    if link.band is not None:
        scenario["band"] = link.band
    if flow.mtu is not None:
        scenario["tunnel_mtu_octets"] = flow.mtu
    traffic: dict[str, Any] = {"transport": flow.transport, "duration_s": _SECONDS + _START_S}
    if flow.transport == "udp":
        traffic["payload_bytes"] = flow.payload
    else:
        traffic |= {"warm_up_s": _START_S, "window_kbytes": 1024}
    if profile is not None:
        place, name = profile
        own = {"ap": {"ap": {"profile": name}}}.get(
            place, {"stations": [{"name": "A", "profile": name}]}
        )
        scenario |= own
    return _of_cell(json.dumps({"s": scenario, "t": traffic}, sort_keys=True), policy)


@cache
def _of_cell(text: str, policy: str) -> float:
    tables = json.loads(text)
    return throughput_of(tables["s"], tables["t"], policy)


def throughput_of(scenario: Mapping[str, Any], traffic: Mapping[str, Any], policy: str) -> float:
    """Throughput of one cell, bit/s: by a closed form, else simulated."""
    cell = cell_of(scenario, traffic, policy)
    for bed in (Analytic(), Simulator()):
        skip = bed.check(cell)
        if skip is None:
            trial = make_plan(_study(scenario, traffic, policy)).trial(cell, 1, 1)
            rows = bed.measure(trial).rows
            whole = [
                row.value
                for row in rows
                if row.metric == "throughput_bps" and row.second is None and row.flow is None
            ]
            own = [row.value for row in rows if row.metric == "throughput_bps"]
            return whole[0] if whole else own[0]
        reason = skip.reason
    raise TestbedError(f"explain: {policy}: {reason}")


def cell_of(scenario: Mapping[str, Any], traffic: Mapping[str, Any], policy: str) -> Cell:
    """The one cell of a scenario, a traffic and a policy. Raises ``StudyError``."""
    (cell,) = make_plan(_study(scenario, traffic, policy)).cells
    return cell


def _study(scenario: Mapping[str, Any], traffic: Mapping[str, Any], policy: str) -> Any:
    text = "\n".join(
        [
            "[study]",
            'name = "explain"',
            'title = "explain"',
            f"baseline = {json.dumps(policy)}",
            f"[scenario]\nlink = {_toml(scenario)}",
            f"[traffic]\nflow = {_toml(traffic)}",
            f"[grid]\npolicy = [{json.dumps(policy)}]",
        ]
    )
    try:
        return parse(text, Path("explain")).study
    except StudyError as error:
        raise StudyError(str(error).replace("scenario.link.", "--")) from error


def _toml(value: Any) -> str:
    """A value as TOML; JSON but for tables."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
