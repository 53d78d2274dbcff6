"""The setting of an explanation: what the air and named devices carry of each flow.

Takes the link, the policies before and after, and the flows; gives a
:class:`airtoll.analyse.explain.Setting`. Closed forms come first; the simulator answers what they
refuse (tunnels, cards under TCP) or only bound (TCP). Never reads a measured file.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from airtoll.analyse.explain import Air, Change, Flow, Form, Heard, Setting
from airtoll.analyse.explain.evidence import HEADERS
from airtoll.errors import PolicyError, StudyError, UsageError
from airtoll.plan import Cell, make_plan
from airtoll.policies import Policy, resolve
from airtoll.profiles import Profile, load
from airtoll.run.identifying import MECHANISMS as DEVICES
from airtoll.run.neighbouring import Neighbours
from airtoll.study import Study, parse
from airtoll.study.generations import GENERATIONS, HIGHEST_MBPS
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.contract import Row, Testbed, observed_of
from airtoll.testbeds.resolve import handed_over
from airtoll.testbeds.resolve import scenario as resolve_scenario
from airtoll.testbeds.simulator import Simulator

#: Simulated seconds of what the closed forms refuse, with the start of TCP before them.
_SECONDS, _START_S = 0.8, 0.2
#: PHY rate from which on they are shorter, bit/s, and the shortest part of them.
_FAST_BPS, _SHORTEST = 700e6, 0.15
#: Guard interval of a link that states none, ns.
_GUARD_NS: Final = 800
#: Lower rates that rate control may use.
_STEPS: Final = 7
#: Command that lists the abilities of a device.
_SHOW: Final = "airtoll profiles show"
#: Ciphers that may not be used with HT (IEEE Std 802.11-2020, 12.2.4).
_NO_HT: Final = ("wep-40", "wep-104", "tkip")
#: A wire that never limits, Mb/s.
_WIRE_MBPS: Final = 100_000.0
#: Times per frame of a card, us, between which others are read off.
_CARD_US: Final = (20.0, 80.0, 200.0, 500.0)
#: Octets of an outer packet, for the share of the octets in the cost of a tunnel's end.
_OUTER_OCTETS: Final = 1450
#: Octets of the IP packet of a TCP acknowledgement (IPv4, time stamps).
_ACK_PACKET: Final = 52
#: Octets of a TCP acknowledgement in a tunnel, and such packets per segment.
_ACK_OCTETS: Final = 120
_ACKS: Final = 0.5
#: The same where a receiver merges up to 65,536 octets (GRO_LEGACY_MAX_SIZE of Linux).
_MERGED_ACKS: Final = 1448 / 65_536

Place = str
STATION, AP = "station", "ap"
#: Serial cards by their place, as `identify` has them.
SERIAL_CARDS: Final = {
    STATION: DEVICES["serial, nothing meanwhile"],
    AP: DEVICES["card of the access point"],
}


@frozen
class Link:
    """The radio link of both measurements.

    ``mcs``: None for the highest of the PHY and width. ``rate_mbps``: of PHYs without MCSs.
    ``profiles``: device profiles by place: ``ap`` and ``station``. ``assumed``: settings that
    nothing states (phy, width, streams), and why their value was taken. ``pmf``: protection of
    management frames before and after (off, optional, required), None where the policies alone
    tell it. ``neighbours``: other networks on the channel, None where that is unknown.
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
    profiles: Mapping[Place, str] = field(factory=dict)
    assumed: Mapping[str, str] = field(factory=dict)
    pmf: tuple[str | None, str | None] = (None, None)
    neighbours: Neighbours | None = None

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
)


def setting_of(link: Link, flows: Iterable[Flow]) -> Setting:
    """Throughputs of these flows and of the deciding ones, on the air and on the profiles' devices.

    Raises ``StudyError`` for a link that does not exist, ``PolicyError`` and ``ProfileError`` for
    unknown names.
    """
    if link.phy not in GENERATIONS:
        raise UsageError(f"--phy {link.phy}: one of {', '.join(GENERATIONS)}")
    before, after = resolve(link.before), resolve(link.after)
    measured = list(flows)
    wanted = list(dict.fromkeys([*(flow.alone for flow in measured), *OFFERED]))
    return Setting(
        air={flow: _air(link, flow) for flow in wanted},
        change=change_of(link, before, after),
        in_software={
            place: f"{load(name).name} has no engine for {_suite(after)}"
            for place, name in link.profiles.items()
            if _lacks_engine(load(name), _suite(after))
        },
        in_hardware={
            place: f"{load(name).name} has {_suite(after)} in hardware"
            for place, name in link.profiles.items()
            if _has_engine(load(name), _suite(after))
        },
        device_bps={
            place: {flow: _on_device(link, after, load(name), flow) for flow in wanted}
            for place, name in link.profiles.items()
        },
        aes_ns={
            place: ns
            for place, name in link.profiles.items()
            if (ns := _aes_ns(load(name), _suite(after))) is not None
        },
        policies=(before.name, after.name),
        phy=link.phy,
        form=_form(link),
        heard=_heard(link, list(dict.fromkeys(flow.alone for flow in measured))),
    )


def _heard(link: Link, flows: Sequence[Flow]) -> Heard | None:
    """The shares of these flows that networks on the channel leave where they always send.

    An access point and a station of each send to one another all the time.
    """
    found = link.neighbours
    if found is None:
        return None
    if not found.networks:
        return Heard(0)
    policy = _with_ht(link, link.after)
    left = {}
    for flow in flows:
        own = evolve(flow, mtu=None)
        alone = _carried(link, own, policy, simulated=True)
        left[flow] = min(1.0, _carried(link, own, policy, beside=found, simulated=True) / alone)
    return Heard(found.networks, found.level_dbm, left)


def lacking(link: Link) -> str:
    """The setting of a link that a named device lacks, in words; empty where they have all.

    A profile that does not list an ability does not exclude it.
    """
    for name in link.profiles.values():
        profile = load(name)
        able = profile.capabilities
        for option, value, names in (
            ("--phy", link.phy, able.phys),
            ("--band", link.band, able.bands),
            ("--width", str(link.width_mhz) if link.has_mcs else None, able.widths_mhz),
        ):
            if names is not None and value is not None and value not in names:
                has = ", ".join(names.values)
                return f"{option} {value}: {profile.name} has {has} ({_SHOW} {name})"
        if able.streams is not None and link.streams > able.streams.value:
            most = f"{able.streams.value:.0f} at most"
            return f"--streams {link.streams}: {profile.name} has {most} ({_SHOW} {name})"
    return ""


def usual_streams(link: Link) -> int | None:
    """The spatial streams that the MCS of 802.11n or the named devices tell; None without them."""
    if link.phy == "802.11n" and link.mcs is not None:
        # 802.11n counts its MCSs on over the streams.
        return link.mcs // 8 + 1
    known = [load(name).capabilities.streams for name in link.profiles.values()]
    return min((int(one.value) for one in known if one is not None), default=None)


def newest_phy(profiles: Iterable[str], band: str | None) -> str | None:
    """The newest PHY that all named devices have, in a band; None where none lists its PHYs.

    ``band``: 2.4, 5 or 6; None for any.
    """
    listed = [load(name).capabilities.phys for name in profiles]
    known = [able for able in listed if able is not None]
    if not known:
        return None
    usable = [
        row["name"]
        for row in GENERATIONS.values()
        if all(row["name"] in able for able in known)
        and (band is None or f"{band}ghz" in [spaces["band"] for spaces in row["bands"]])
    ]
    return usable[-1] if usable else None


def least_link(
    link: Link, flow: Flow, bps: float, open_to: frozenset[str] = frozenset({"width", "streams"})
) -> Link | None:
    """The link with the least width, then streams, whose air carries ``bps``; None without one.

    It has the highest MCS, and the guard interval of ``link``. ``open_to``: which of width and
    streams may differ from those of ``link``.
    """
    if not link.has_mcs:
        return None
    widths = GENERATIONS[link.phy]["widths_mhz"] if "width" in open_to else [link.width_mhz]
    for streams in (1, 2, 3, 4) if "streams" in open_to else (link.streams,):
        for width in widths:
            wider = evolve(link, width_mhz=width, streams=streams, mcs=None)
            if _carries(wider, flow, bps):
                return wider
    return None


def single_settings(link: Link, flow: Flow, bps: float) -> dict[str, int]:
    """Options that each alone let the air carry ``bps``, with the least value that does.

    The guard interval, the MCS, the streams and the width; empty without an MCS.
    """
    if not link.has_mcs:
        return {}
    row, found = GENERATIONS[link.phy], {}
    guard, mcs = guard_interval_ns(link), mcs_of(link)
    # 802.11n counts its MCSs on over the streams.
    per_stream = 8 if link.phy == "802.11n" and link.mcs is not None else 0
    highest = mcs_of(evolve(link, mcs=None))
    tried: tuple[tuple[str, list[Link]], ...] = (
        ("--guard-interval", [evolve(link, guard_interval_ns=ns)
                              for ns in sorted(row["guard_intervals_ns"], reverse=True)
                              if ns < guard]),
        ("--mcs", [evolve(link, mcs=one) for one in range(mcs + 1, highest + 1)]),
        ("--streams", [evolve(link, streams=more, mcs=None if link.mcs is None
                              else link.mcs + per_stream * (more - link.streams))
                       for more in range(link.streams + 1, 5)]),
        ("--width", [evolve(link, width_mhz=mhz)
                     for mhz in row["widths_mhz"] if mhz > link.width_mhz]),
    )  # fmt: skip
    for option, links in tried:
        least = next((one for one in links if _carries(one, flow, bps)), None)
        if least is not None:
            found[option] = {
                "--guard-interval": guard_interval_ns(least),
                "--mcs": mcs_of(least),
                "--streams": least.streams,
                "--width": least.width_mhz,
            }[option]
    return found


def guard_interval_ns(link: Link) -> int:
    """The guard interval of a link with MCSs, ns: the stated one, or that of all its testbeds."""
    return link.guard_interval_ns or _GUARD_NS


def _carries(link: Link, flow: Flow, bps: float) -> bool:
    """Whether the link exists, and its air carries a throughput without security."""
    if lacking(link):
        return False
    try:
        return phy_rate_bps(link) > bps and bps <= _carried(
            link, flow, _with_ht(link, link.before), simulated=True
        )
    except StudyError:
        return False


def _lacks_engine(profile: Profile, suite: str | None) -> bool:
    """Whether the profile lists the ciphers that its radio has in hardware, and not this one."""
    return suite is not None and profile.capabilities.works_out(suite) is False


def _has_engine(profile: Profile, suite: str | None) -> bool:
    """Whether the profile lists this cipher among those that its radio has in hardware."""
    return suite is not None and profile.capabilities.works_out(suite) is True


#: Cipher -> AES blocks for each of its octets, and the operation of a profile that prices one. CCM
#: enciphers each block of 16 octets once and feeds it to a MAC once (RFC 3610, 2.2 and 2.3).
_AES: Final[Mapping[str, tuple[float, str]]] = {
    "ccmp-128": (2 / 16, "aes-128-block"),
    "ccmp-256": (2 / 16, "aes-256-block"),
}


def _aes_ns(profile: Profile, suite: str | None) -> float | None:
    """Time per octet of a cipher on the profile's CPU, ns; None where no AES block is priced."""
    blocks, operation = _AES.get(suite or "", (0.0, ""))
    cycles = profile.operation.get(operation)
    if cycles is None or profile.clock_hz.value <= 0:
        return None
    return blocks * cycles.value / profile.clock_hz.value * 1e9


def _protects(policy: Policy, said: str | None) -> bool:
    """Whether management frames are protected: as a file says, else by the policy.

    Stations take the AKMs of WPA2 with SHA-256 together with protected management frames (hostapd
    and OpenWrt's scripts offer them so).
    """
    if said is not None:
        return said != "off"
    return policy.link.pmf != "off" or "sha256" in policy.name.split("-")


def _is_free(policy: Policy, said: str | None) -> bool:
    """Whether a station may do with or without protected management frames."""
    return (said or policy.link.pmf) == "optional"


def change_of(link: Link, before: Policy, after: Policy) -> Change:
    """The difference that a change of policy makes to frames."""
    tunnels = [tunnel.suite for tunnel in after.tunnels]
    suite = _suite(after)
    return Change(
        cipher=suite is not None and suite != _suite(before),
        no_ht=link.has_mcs and suite in _NO_HT,
        no_ht_before=link.has_mcs and _suite(before) in _NO_HT,
        pmf=_protects(after, link.pmf[1]) and not _protects(before, link.pmf[0]),
        pmf_perhaps=after.link.pmf == "required" and _is_free(before, link.pmf[0]),
        pmf_required=after.link.pmf == "required",
        tunnel=bool(tunnels),
        new_tunnel=bool(tunnels) and tunnels != [tunnel.suite for tunnel in before.tunnels],
        suite=suite,
    )


def _suite(policy: Policy) -> str | None:
    """The cipher of data frames."""
    return str(policy.link.cipher) if policy.octets_per_mpdu else None


def _air(link: Link, flow: Flow) -> Air:
    before, after = _with_ht(link, link.before), _with_ht(link, link.after)
    first = _carried(link, flow, before, simulated=True)
    # Closed forms of TCP are bounds, but their ratios are those of two policies; a simulated
    # ratio of two policies has the chance of two trials.
    carried = first * _carried(link, flow, after) / _carried(link, flow, before)
    scale = carried / _carried(link, flow, after, simulated=True)
    single, legacy = carried, None
    answered: tuple[float | None, ...] = (None, None)
    if link.has_mcs and flow.transport == "tcp":
        answered = tuple(
            _answered_alone(link, flow, after, carried, each) for each in (_ACKS, _MERGED_ACKS)
        )
    if link.has_mcs:
        single = scale * _carried(link, flow, after, aggregates=False, simulated=True)
        legacy = scale * _legacy(link, flow, after)
    return Air(
        before=first,
        after=carried,
        single=single,
        legacy=legacy,
        slower=_slower(link, flow, after, carried),
        slower_rates=tuple(map(phy_rate_bps, _lower_links(link))),
        rate_bps=phy_rate_bps(link),
        aggregates=link.has_mcs,
        fragmented=_fragmented(link, flow),
        carded=_carded(link, flow, carried),
        reduced=_reduced(link, flow, after, carried),
        answers_alone=answered[0],
        answers_merged=answered[1],
    )


def _answered_alone(link: Link, flow: Flow, policy: str, carried: float, answers: float) -> float:
    """TCP whose acknowledgements, so many per segment, are sent one MPDU per frame, bit/s.

    A segment takes as long as usual, and an acknowledgement as much longer as a datagram of its
    length does without aggregation.
    """
    answer = Flow("udp", not flow.down, _ACK_PACKET - HEADERS["udp"])
    name = _link_policy(policy)
    alone, usual = (
        8 * answer.payload / _carried(link, answer, name, aggregates=each) for each in (False, True)
    )
    segment = 8 * flow.payload
    return segment / (segment / carried + answers * max(0.0, alone - usual))


def _with_ht(link: Link, policy: str) -> str:
    """A policy that leaves HT: a link of WEP or TKIP falls back only by that mechanism."""
    name = policy
    if link.has_mcs and _suite(resolve(policy)) in _NO_HT:
        name = "wpa2-psk-ccmp" + "".join(f"+{part}" for part in _tunnels_of(policy))
    return name


def _tunnels_of(policy: str) -> list[str]:
    """The parts of a policy's name that are tunnels."""
    found = []
    for part in resolve(policy).name.split("+"):
        try:
            alone = resolve(part)
        except PolicyError:
            continue
        if alone.tunnels:
            found.append(part)
    return found


def _link_policy(policy: str) -> str:
    """The policy of the link alone."""
    tunnels = _tunnels_of(policy)
    kept = [part for part in resolve(policy).name.split("+") if part not in tunnels]
    return "+".join(kept) or "open"


def _legacy(link: Link, flow: Flow, policy: str) -> float:
    old = Link("802.11g" if link.band == "2.4" else "802.11a", rate_mbps=54.0)
    return _carried(old, flow, policy, simulated=True)


def _slower(link: Link, flow: Flow, policy: str, carried: float) -> tuple[float, ...]:
    """Throughputs at lower rates; of tunnels as of their links."""
    own, name = evolve(flow, mtu=None), _link_policy(policy)
    top = _carried(link, own, name, simulated=True)
    return tuple(
        carried * _carried(lower, own, name, simulated=True) / top for lower in _lower_links(link)
    )


def _lower_links(link: Link) -> tuple[Link, ...]:
    """The link at its next lower rates, highest first."""
    if link.has_mcs:
        # 802.11n counts its MCSs on over the streams.
        lowest = 8 * (link.streams - 1) if link.phy == "802.11n" else 0
        mcs = mcs_of(link)
        return tuple(
            evolve(link, mcs=lower)
            for lower in range(mcs - 1, max(lowest - 1, mcs - 1 - _STEPS), -1)
        )
    highest = link.rate_mbps or HIGHEST_MBPS[link.phy]
    rates = sorted((r for r in GENERATIONS[link.phy]["rates_mbps"] if r < highest), reverse=True)
    return tuple(evolve(link, rate_mbps=rate) for rate in rates[:_STEPS])


def _form(link: Link) -> dict[Form, float]:
    """Width, streams and guard interval of a link with MCSs."""
    if not link.has_mcs:
        return {}
    return {
        "width_mhz": link.width_mhz,
        "streams": link.streams,
        "guard_ns": guard_interval_ns(link),
    }


def _reductions(link: Link) -> dict[tuple[Form, float], Link]:
    """Links with one part of the form of less throughput; the guard interval where it is stated.

    The MCS stays, where the link has it.
    """
    if not link.has_mcs:
        return {}
    row, found = GENERATIONS[link.phy], dict[tuple[Form, float], Link]()
    for width in row["widths_mhz"]:
        if width < link.width_mhz:
            narrow = evolve(link, width_mhz=width)
            found["width_mhz", width] = evolve(
                narrow, mcs=min(mcs_of(link), mcs_of(evolve(narrow, mcs=None)))
            )
    for streams in range(1, link.streams):
        # 802.11n counts its MCSs on over the streams.
        fewer = 8 * (link.streams - streams) if link.phy == "802.11n" else 0
        found["streams", streams] = evolve(link, streams=streams, mcs=mcs_of(link) - fewer)
    for guard in row["guard_intervals_ns"] if link.guard_interval_ns else ():
        if guard > guard_interval_ns(link):
            found["guard_ns", guard] = evolve(link, guard_interval_ns=guard)
    return found


def _reduced(
    link: Link, flow: Flow, policy: str, carried: float
) -> dict[tuple[Form, float], tuple[float, float]]:
    """Throughputs and PHY rates of reduced links; of tunnels as of their links."""
    own, name = evolve(flow, mtu=None), _link_policy(policy)
    found = {}
    for key, reduced in _reductions(link).items():
        share = _carried(reduced, own, name) / _carried(link, own, name)
        found[key] = carried * min(1.0, share), phy_rate_bps(reduced)
    return found


def mcs_of(link: Link) -> int:
    """The MCS of a link: the stated one, or the highest that its width has."""
    top = GENERATIONS[link.phy]["mcs_top"]
    if link.mcs is not None or top is None:
        return link.mcs or 0
    if link.phy == "802.11n":
        return 8 * link.streams - 1
    # VHT has no MCS 9 at 20 MHz with one, two or four streams (IEEE Std 802.11-2020, 21.5).
    return 8 if link.phy == "802.11ac" and link.width_mhz == 20 else int(top)


def phy_rate_bps(link: Link) -> float:
    """The PHY rate, bit/s, as the simulator says it of a station whose cipher forbids it."""
    if not link.has_mcs:
        return 1e6 * (link.rate_mbps or HIGHEST_MBPS[link.phy])
    tables = _tables(link, Flow("udp", False, 1472)), {"transport": "udp", "duration_s": 0.002}
    return _rate_of(json.dumps(tables, sort_keys=True))


@cache
def _rate_of(text: str) -> float:
    scenario, traffic = json.loads(text)
    resolved = resolve_scenario(cell_of(scenario, traffic, "wpa2-psk-tkip"))
    rows = observed_of(handed_over(resolved).simulate([1]))
    (rate,) = (row.value for row in rows if row.metric == "rate_forbidden_bps")
    return rate


def _fragmented(link: Link, flow: Flow) -> float | None:
    """TCP whose segments leave a tunnel as two fragments; None without a tunnel."""
    if flow.transport != "tcp" or not _tunnels_of(link.after):
        return None
    return _carried(link, evolve(flow, mtu=None), _with_ht(link, link.after), discovers=False)


def _carded(link: Link, flow: Flow, carried: float) -> dict[tuple[str, float], float]:
    """Throughputs with serial cards; none where the policy after has no cipher, or has a tunnel."""
    policy = _with_ht(link, link.after)
    suite = _suite(resolve(link.after))
    if suite is None or suite == _suite(resolve(link.before)) or _tunnels_of(policy):
        return {}
    if flow.transport == "udp":
        # The card of the sender takes its time for each datagram, and the receiver's none. Senders
        # do not differ, so that the station stands for both.
        up = evolve(flow, down=False)
        own, other = (AP, STATION) if flow.down else (STATION, AP)
        return {
            **{(own, us): _carried(link, up, policy, card=(STATION, us)) for us in _CARD_US},
            **{(other, us): carried for us in _CARD_US},
        }
    scale = carried / _carried(link, flow, policy, simulated=True)
    return {
        (place, us): scale * _carried(link, flow, policy, card=(place, us))
        for place in (STATION, AP)
        for us in _CARD_US
    }


def _on_device(link: Link, policy: Policy, profile: Profile, flow: Flow) -> float:
    """Throughput of a flow with the costs of a device, bit/s: the least of its limits."""
    carried = _carried(link, flow, _with_ht(link, link.after))
    per_packet, per_octet = _work(profile, policy)
    seconds = per_packet + per_octet * flow.packet
    if flow.transport == "tcp":
        seconds += _ACKS * (per_packet + per_octet * _ACK_OCTETS)
    limit = 8 * flow.payload / seconds if seconds > 0 else carried
    return min(carried, limit)


def _work(profile: Profile, policy: Policy) -> tuple[float, float]:
    """Time of a device's CPU for a packet that it passes on, and for each of its octets, s."""
    host = profile.host
    packet = profile.seconds(host.tx_packet_cycles) + profile.seconds(host.rx_packet_cycles)
    octet = profile.seconds(host.tx_octet_cycles) + profile.seconds(host.rx_octet_cycles)
    suite = _suite(policy)
    cipher = profile.cipher.get(suite) if suite else None
    if cipher is not None and cipher.engine == "cpu":
        packet += profile.seconds(cipher.frame_cycles)
        octet += profile.seconds(cipher.octet_cycles)
    elif cipher is not None:
        packet += 1e-6 * cipher.frame_us.value if cipher.frame_us else 0.0
        octet += 1e-9 * cipher.octet_ns.value if cipher.octet_ns else 0.0
    for tunnel in policy.tunnels:
        own = profile.tunnel_seconds(tunnel.suite, _OUTER_OCTETS)
        if own is not None:
            packet, octet = packet + own[0], octet + own[1]
    return packet, octet


def _carried(
    link: Link,
    flow: Flow,
    policy: str,
    *,
    aggregates: bool = True,
    beside: Neighbours | None = None,
    card: tuple[str, float] | None = None,
    discovers: bool = True,
    simulated: bool = False,
) -> float:
    """Throughput of one flow, bit/s; ``simulated``: of TCP, not the middle of its bounds."""
    tunnel = bool(_tunnels_of(policy))
    # In a tunnel the datagrams of a station that always has one are simulated in its direction
    # alone: a wired sender would offer more than any link carries, and lose fragments for it.
    if tunnel and flow.transport == "udp":
        flow = evolve(flow, down=False)
    scenario = _tables(link, flow, aggregates=aggregates)
    if beside is not None:
        scenario["neighbours"] = beside.table
    if flow.mtu is not None and tunnel:
        scenario["tunnel_mtu_octets"] = flow.mtu
    # A fast link has as many packets in a shorter time.
    part = min(1.0, max(_SHORTEST, _FAST_BPS / phy_rate_bps(link)))
    seconds, start = part * _SECONDS, max(part, 0.5) * _START_S
    traffic: dict[str, Any] = {"transport": flow.transport, "duration_s": seconds + start}
    if flow.transport == "udp":
        traffic |= {"payload_bytes": flow.payload, "duration_s": seconds}
    else:
        traffic |= {"warm_up_s": start, "window_kbytes": 1024}
        if not discovers:
            traffic["path_mtu_discovery"] = False
    text = json.dumps((scenario, traffic), sort_keys=True)
    return _of_cell(text, policy, card, simulated and flow.transport == "tcp")


def _tables(link: Link, flow: Flow, *, aggregates: bool = True) -> dict[str, Any]:
    """The scenario of a link."""
    scenario: dict[str, Any] = {
        "phy": link.phy,
        "topology": "downlink" if flow.down else "uplink",
        "security_gates": "ignore",
        "queue_packets": 1000,
        "wired": {"rate_mbps": _WIRE_MBPS, "delay_us": 50},
    }
    if link.has_mcs:
        scenario |= {
            "width_mhz": link.width_mhz,
            "mcs": mcs_of(link),
            "streams": link.streams,
        }
        if not aggregates:
            scenario["ampdu_max_octets"] = 0
        if link.guard_interval_ns is not None:
            scenario["guard_interval_ns"] = link.guard_interval_ns
    else:
        scenario["rate_mbps"] = link.rate_mbps or HIGHEST_MBPS[link.phy]
    if link.band is not None:
        scenario["band"] = link.band
    return scenario


@cache
def _of_cell(text: str, policy: str, card: tuple[Place, float] | None, simulated: bool) -> float:
    scenario, traffic = json.loads(text)
    return throughput_of(scenario, traffic, policy, card, simulated=simulated)


def throughput_of(
    scenario: Mapping[str, Any],
    traffic: Mapping[str, Any],
    policy: str,
    card: tuple[Place, float] | None = None,
    *,
    simulated: bool = False,
) -> float:
    """Throughput of one cell, bit/s: by a closed form, else (or if asked for) simulated.

    ``card``: a serial card at this place that needs so many microseconds for each frame.
    """
    plan = make_plan(study_of(scenario, traffic, policy))
    (cell,) = plan.cells
    beds: tuple[Testbed, ...] = (Analytic(), Simulator())
    beds = beds[1:] if simulated else beds
    if traffic["transport"] == "udp" and scenario["topology"] == "downlink" and card is None:
        # A wired sender offers far more than the air carries, and each datagram is simulated.
        # Senders do not differ, so that the station is the sender where no closed form answers.
        up = {**scenario, "topology": "uplink"}
        beds = beds[:1]
        if simulated or beds[0].check(cell) is not None:
            return throughput_of(up, traffic, policy, simulated=True)
    for bed in beds if card is None else ():
        if bed.check(cell) is None:
            return _whole(bed.measure(plan.trial(cell, 1, 1)).rows)
    if card is None:
        reason = Simulator().check(cell)
        raise UsageError(f"{policy}: {reason.reason if reason else 'no testbed carries it out'}")
    place, us = card
    resolved = SERIAL_CARDS[place](resolve_scenario(cell), us)
    return _whole(observed_of(handed_over(resolved).simulate([1])))


def _whole(rows: Sequence[Row]) -> float:
    """Throughput of the whole cell; of its only flow where there is no such row."""
    found = [row for row in rows if row.metric == "throughput_bps" and row.second is None]
    whole = [row.value for row in found if row.flow is None]
    return whole[0] if whole else sum(row.value for row in found)


def cell_of(scenario: Mapping[str, Any], traffic: Mapping[str, Any], policy: str) -> Cell:
    """The one cell of a scenario, a traffic and a policy. Raises ``StudyError``."""
    (cell,) = make_plan(study_of(scenario, traffic, policy)).cells
    return cell


def study_of(scenario: Mapping[str, Any], traffic: Mapping[str, Any], policy: str) -> Study:
    """A study of one cell. Raises ``StudyError`` that names the option."""
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
        text = str(error).removeprefix("explain: ").replace("scenario.link.", "--")
        raise StudyError(text) from error


def _toml(value: Any) -> str:
    """A value as TOML; JSON but for tables."""
    if isinstance(value, Mapping):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)
