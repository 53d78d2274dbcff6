"""Hand-overs: the further access points, and the negotiation of moving stations there.

Takes a cell and its resolved scenario with associations; gives it with a switch, a second access
point on a channel of its own and further ones, as well heard as the first unless the station
walks, and the hand-overs that the native code carries out
(``crates/airtoll-wlan/src/scenario/handover.rs``). Never runs anything.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from itertools import pairwise

from attrs import evolve

from airtoll import border
from airtoll.plan import Cell
from airtoll.policies import Policy
from airtoll.study import Scenario, Station
from airtoll.study.generations import HIGHEST_MBPS
from airtoll.study.handover import Handover, Scan, Walk
from airtoll.testbeds import cards
from airtoll.testbeds.wires import cable

NEXT_AP = "ap-2"
#: The number of the AP that a single hand-over leads to.
FIRST_NEXT = 2
SWITCH = "switch"
_NEXT_BSS = "next-cell"
#: Link ciphers with which there is no HT (IEEE Std 802.11-2020, 12.6.1.1).
_WITHOUT_HT = ("wep-40", "wep-104", "tkip")


def why_not(cell: Cell, policies: Sequence[Policy]) -> str | None:
    """Why the hand-overs of the cell are invalid, or None. ``policies``: one of each station."""
    handover = cell.settings.handover
    if handover is None:
        return None
    count = handover.stations
    if count > len(policies):
        return f"handover.stations = {count}: the scenario has {len(policies)}; raise clients"
    if not cell.settings.authenticate:
        return "a hand-over needs authenticate = true"
    if cell.settings.topology[0] in "nr":
        return "the two-domain topologies have no hand-over during a trial"
    if any(old == new for old, new in pairwise((1, *handover.path))):
        return "handover.path: a station moves to another AP than it is at, and begins at 1"
    looks = handover.scan_ms > 0 or handover.scan is not None
    if handover.walk is not None:
        problem = _no_walk(cell, handover)
        if problem is not None:
            return problem
    else:
        last_s = handover.at_s + handover.every_s * (len(handover.path) - 1)
        last_s += handover.stagger_s * (count - 1)
        if last_s >= cell.load.duration_s:
            return f"the hand-over at {last_s:g} s comes after the traffic's end"
    if problem := _no_faults(cell, handover, policies[:count]):
        return problem
    if handover.scan_ms > 0 and handover.scan is not None:
        return "scan_ms and scan exclude each other: leave one of them out"
    if handover.method == "fast-transition-ds" and looks:
        return "fast-transition-ds asks for an AP that the station knows: no scan, scan_ms = 0"
    for policy in dict.fromkeys(policies[:count]):
        problem = _no_method(handover, policy) or _no_move(cell, handover, policy)
        if problem is not None:
            return problem
    return None


def comes_back(handover: Handover) -> bool:
    """Whether the path leads to an AP at which the station was before."""
    places = (1, *handover.path)
    return len(set(places)) < len(places)


def _no_faults(cell: Cell, handover: Handover, policies: Sequence[Policy]) -> str | None:
    """Why the faults of the hand-overs cannot occur, or None."""
    if handover.stale_address_s and handover.tunnel == "roams":
        return 'handover.stale_address_s: with tunnel = "roams" packets take the way of the tunnel'
    if handover.legacy_rate_s and not comes_back(handover):
        return "handover.legacy_rate_s: the station comes back to no AP; handover.path = [2, 1]"
    for name in ("missing_block_ack_s", "legacy_rate_s"):
        if not getattr(handover, name):
            continue
        if cell.settings.phy in HIGHEST_MBPS:
            missing = "A-MPDUs" if name == "missing_block_ack_s" else "MCSs"
            return f"handover.{name}: {cell.settings.phy} has no {missing} that could be missing"
        for policy in policies:
            cipher = policy.link.cipher
            if cipher is not None and cipher.value in _WITHOUT_HT:
                return f"handover.{name}: {policy.name} has neither aggregation nor HT rates"
    if handover.missing_block_ack_s and (
        cell.settings.ampdu_max_octets == 0 or cards.stops_aggregation(cell)
    ):
        return "handover.missing_block_ack_s: nothing is aggregated here"
    return None


def _no_method(handover: Handover, policy: Policy) -> str | None:
    """Why stations with a policy cannot hand over by the method, or None."""
    link = policy.link
    if handover.method.startswith("fast-transition") and not link.fast_transition:
        return f"{policy.name} has no FT AKM"
    caches = ("cached-pmk", "pmksa-caching")
    if handover.method in caches and not caches_pmk(policy):
        return f"{policy.name} has no PMK to cache: its PSK is the PMK, or it has none"
    if handover.method == "pre-authentication":
        return _no_preauthentication(policy)
    return None


def roaming(
    cell: Cell, resolved: border.Scenario, stations: Sequence[Station], access_point: str
) -> border.Scenario:
    """``resolved`` with the hand-overs of the first ``stations``, from ``access_point`` on."""
    handover = cell.settings.handover
    if handover is None:
        return resolved
    moving = {station.name: station for station in stations[: handover.stations]}
    (bss,) = resolved.bss
    nodes = {node.name: node for node in resolved.nodes}
    cells, points = [], []
    for number in range(2, max(handover.path) + 1):
        name = _bss(bss, number)
        cells.append(evolve(bss, name=name, channel=bss.channel + number - 1))
        point = evolve(nodes[access_point], name=f"ap-{number}", bss=name)
        if handover.walk is not None:
            point = evolve(point, position_m=(*place(cell.settings, number), 0.0))
        points.append(point)
    names = [access_point, *(point.name for point in points)]
    wired = cell.settings.wired
    links = [_behind_switch(link, access_point) for link in resolved.links]
    links += [evolve(cable(ap, SWITCH, wired, cell.settings.phy), delay_s=0.0) for ap in names]
    budgets = [
        budget
        for budget in resolved.radio.budgets
        if handover.walk is None or moving.keys().isdisjoint(budget.nodes)
    ]
    heard = [
        evolve(budget, nodes=(budget.nodes[0], point.name))
        for point in points
        for budget in budgets
        if budget.nodes[0] in moving and budget.nodes[1] == access_point
    ]
    joins = {
        a.station: evolve(a, options=_announced(handover, a.options))
        for a in resolved.associations
        if a.station in moving
    }
    listens = cell.settings.join.movement_detection == "lifetime"
    options = {
        name: evolve(before.options, cached_pmk=handover.method == "cached-pmk", listens=listens)
        for name, before in joins.items()
    }
    switch = border.Node(name=SWITCH, role=border.Role.WIRED)
    return evolve(
        resolved,
        bss=(bss, *cells),
        nodes=(*resolved.nodes, *points, switch),
        links=tuple(links),
        radio=evolve(resolved.radio, budgets=(*budgets, *heard)),
        associations=tuple(joins.get(a.station, a) for a in resolved.associations),
        handovers=tuple(
            _departure(
                handover,
                (name, behind, number),
                (_bss(bss, to), _position(cell, station, to)),
                _reassociation(handover, joins[name], options[name], to),
            )
            for behind, (name, station) in enumerate(moving.items())
            for number, to in enumerate(handover.path)
        ),
        mobility_agents=_agents(handover, resolved.mobility_agents, [c.name for c in cells]),
    )


def _behind_switch(link: border.WiredLink, access_point: str) -> border.WiredLink:
    """The same link to the switch where it led to the access point."""
    near, far = (SWITCH if name == access_point else name for name in link.nodes)
    return evolve(link, nodes=(near, far))


def _reassociation(
    handover: Handover, before: border.Association, options: border.Options, number: int
) -> border.Reassociation:
    """Negotiation of the station of ``before`` with the AP with this number."""
    abroad = handover.mobile_ip != "home" and number != 1
    return border.Reassociation(
        policy=before.policy,
        options=evolve(options, mobile_ip=border.MobileIp.FOREIGN) if abroad else options,
        authentication_server=before.authentication_server,
        radius_proxies=before.radius_proxies,
        gateway=before.gateway,
        home_agent=before.home_agent,
        foreign_agent=f"ap-{number}" if abroad else before.foreign_agent,
    )


def _agents(
    handover: Handover, known: Sequence[border.MobilityAgent], cells: Sequence[str]
) -> tuple[border.MobilityAgent, ...]:
    """The agents of all APs: ``known``, which exist without a hand-over, and the further ones."""
    if not known:
        return ()
    first = known[0]
    more = [
        evolve(first, bss=name, foreign=True, node=f"ap-{number}")
        if handover.mobile_ip == "foreign"
        else evolve(first, bss=name)
        for number, name in enumerate(cells, FIRST_NEXT)
    ]
    # Agents advertise at different times: each is a share of the period behind the one before.
    share = first.period_s / (len(more) + 1)
    spread = [evolve(a, offset_s=round(n * share, 9)) for n, a in enumerate(more, 1)]
    return (*known, *spread)


def _bss(first: border.Bss, number: int) -> str:
    """Name of the BSS of the AP with this number; ``first`` is that of number 1."""
    if number == 1:
        return first.name
    return _NEXT_BSS if number == FIRST_NEXT else f"cell-{number}"


def _position(cell: Cell, station: Station, number: int) -> tuple[float, float, float] | None:
    """Where a walking station counts as being in the BSS of an AP, m; None: its first place."""
    handover = cell.settings.handover
    if handover is None or handover.walk is None or number == 1:
        return None
    return (*_nearest(cell, station, place(cell.settings, number)), 0.0)


def place(settings: Scenario, number: int) -> tuple[float, float]:
    """Position of the AP with this number, metres: all APs are in a row."""
    handover = settings.handover
    assert handover is not None
    (x, y), (next_x, next_y) = settings.ap.position_m, handover.next_ap_m
    steps = number - 1
    return (x + steps * (next_x - x), y + steps * (next_y - y))


def _nearest(cell: Cell, station: Station, place: tuple[float, float]) -> tuple[float, float]:
    """Point of the walk nearest to an AP; past the last AP the end of the walk."""
    handover = cell.settings.handover
    assert handover is not None
    assert handover.walk is not None
    end = handover.walk.to_m
    begin = station.position_m
    if begin is None or max(handover.path) == FIRST_NEXT:
        return end
    way = (end[0] - begin[0], end[1] - begin[1])
    length = math.hypot(*way) ** 2
    if length == 0:
        return end
    along = (place[0] - begin[0]) * way[0] + (place[1] - begin[1]) * way[1]
    share = min(max(along / length, 0.0), 1.0)
    # Rounded, so that the last bit of a platform's root changes nothing.
    return (round(begin[0] + share * way[0], 6), round(begin[1] + share * way[1], 6))


def _departure(
    handover: Handover,
    own: tuple[str, int, int],
    place: tuple[str, tuple[float, float, float] | None],
    association: border.Reassociation,
) -> border.Handover:
    """One hand-over: station, its place among those that move and the number of the hand-over, both
    from 0, in ``own``; BSS and position there in ``place``.
    """
    station, behind, number = own
    later_s = behind * handover.stagger_s
    walk, scan = handover.walk, handover.scan
    method = "full" if handover.method == "cached-pmk" else handover.method
    departure = border.Handover(
        station=station,
        bss=place[0],
        position_m=place[1],
        at_s=handover.at_s + number * handover.every_s + later_s if walk is None else None,
        walk=None if walk is None else _walk(walk, later_s),
        scan_s=handover.scan_ms / 1e3,
        scan=None if scan is None else _scan(scan),
        ahead_s=handover.ahead_ms / 1e3,
        method=border.HandoverMethod(method),
        tunnel=border.TunnelMove(handover.tunnel),
        association=association,
        stale_address_s=handover.stale_address_s,
        missing_block_ack_s=handover.missing_block_ack_s,
        legacy_rate_s=handover.legacy_rate_s,
    )
    looks = walk is not None or scan is not None
    return evolve(departure, again_s=handover.again_s) if looks else departure


def _walk(walk: Walk, begin_s: float) -> border.Walk:
    return border.Walk(
        begin_s=begin_s,
        to_m=(*walk.to_m, 0.0),
        back=walk.back,
        speed_m_s=walk.speed_m_s,
        threshold_dbm=walk.threshold_dbm,
        hysteresis_db=walk.hysteresis_db,
    )


def _scan(scan: Scan) -> border.Scan:
    return border.Scan(
        channels=scan.channels,
        passive=scan.mode == "passive",
        min_channel_s=scan.min_channel_ms / 1e3,
        max_channel_s=scan.max_channel_ms / 1e3,
    )


def _announced(handover: Handover, options: border.Options) -> border.Options:
    # MOBIKE: both ends announce it in the first association (RFC 4555, 3.1).
    if handover.tunnel != "mobike":
        return options
    return evolve(options, mobike=True, return_routability=handover.return_routability)


def _no_walk(cell: Cell, handover: Handover) -> str | None:
    begin_s = handover.stagger_s * (handover.stations - 1)
    if begin_s >= cell.load.duration_s:
        return f"the walk at {begin_s:g} s begins after the traffic's end"
    if handover.method == "pre-authentication":
        return "a station that walks cannot plan when it leaves: no pre-authentication"
    stations = cell.settings.stations[: handover.stations]
    return next(filter(None, (_cannot_walk(cell, station) for station in stations)), None)


def _cannot_walk(cell: Cell, station: Station) -> str | None:
    if station.position_m is None:
        return f"station {station.name} walks: it needs position_m, where it begins"
    if station.rssi_dbm is not None or cell.settings.rssi_dbm is not None:
        return f"station {station.name} walks: its level follows its position, without rssi_dbm"
    if station.walls:
        return f"station {station.name} walks: a walking station cannot have walls"
    return None


def _no_move(cell: Cell, handover: Handover, policy: Policy) -> str | None:
    """Why the tunnels of a policy cannot do at the new AP what the hand-over says, or None."""
    if handover.mobile_ip == "foreign" and cell.settings.join.mobile_ip != "home":
        return 'handover.mobile_ip = "foreign" leads away from home: join.mobile_ip = "home"'
    if handover.return_routability and handover.tunnel != "mobike":
        return 'return_routability is a check of MOBIKE: handover.tunnel = "mobike"'
    if handover.tunnel == "anew":
        return None
    mobile_ip = cell.settings.join.mobile_ip != "off"
    if not policy.tunnels:
        return f"{policy.name} has no tunnel that could move"
    if handover.tunnel == "stays":
        return None if mobile_ip else "a tunnel's address changes without Mobile IP below it"
    if mobile_ip:
        return "Mobile IP keeps the tunnel's address, the home address: nothing moves"
    only = policy.tunnels[0].key_exchange if len(policy.tunnels) == 1 else None
    if handover.tunnel == "mobike" and only != "ikev2":
        return f"{policy.name} is not one tunnel with IKEv2, whose SA MOBIKE moves"
    if handover.tunnel == "roams" and only != "noise":
        return f"{policy.name} is not one tunnel of WireGuard, whose ends follow each other"
    return None


def _no_preauthentication(policy: Policy) -> str | None:
    link = policy.link
    if link.eap_method is None:
        return f"{policy.name} has no EAP that could run before the hand-over"
    if link.akm is None or link.generation == "wpa":
        return f"{policy.name} has no RSN: pre-authentication came with 802.11i"
    if link.fast_transition:
        return f"{policy.name} has an FT AKM, which excludes pre-authentication"
    return None


def caches_pmk(policy: Policy) -> bool:
    """Whether an association of the policy leaves a PMK that a later one may use."""
    akm = policy.link.akm
    return akm is not None and akm.caches_pmk
