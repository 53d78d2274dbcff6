"""Stations that join in simulated time: the RADIUS server, and the negotiation of each station.

A resolved scenario gets the RADIUS server, a controller if the study has one, and the associations
that the native code carries out (``airtoll.border.Association``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import evolve, frozen

from airtoll import border
from airtoll.plan import Cell, gating
from airtoll.policies import Policy
from airtoll.study.join import IKE_GROUPS, IKEV1_GROUPS, SIGNATURES, Join, Proxy, Radius
from airtoll.study.table import unset
from airtoll.testbeds.domains import DOMAINS
from airtoll.testbeds.wires import cable

RADIUS = "radius"
PROXY = "proxy"
#: Fields of ``radius`` that describe a host and a wire of its own.
_RADIUS_HOST = (
    "profile",
    "rate_mbps",
    "delay_ms",
    "loss_ratio",
    "requests_per_s",
    "controller",
    "mtu_bytes",
    "proxies",
    "transport",
)
CONTROLLER = "controller"
ROUTER = "router"
#: The radio that sends forged commits.
FLOODER = "sae-flood"
#: Open handshakes from which hostapd requires tokens (anti_clogging_threshold).
_HOSTAPD_THRESHOLD = 5
#: The RADIUS server's queue: FreeRADIUS keeps as many requests as its max_requests says (16384).
_REQUESTS = 16_384
_AT_HOME = DOMAINS["n1"]


@frozen
class Parties:
    """Nodes that a station negotiates with besides its AP; ``None`` where there is none.

    ``host``: the one behind a wireless bridge, which negotiates the tunnels.
    """

    host: str | None = None
    gateway: str | None = None
    authentication_server: str | None = None
    home_agent: str | None = None
    foreign_agent: str | None = None


def why_not(cell: Cell, policies: Sequence[Policy]) -> str | None:
    """Why the join of the cell is invalid with all of these policies, or None."""
    join = cell.settings.join
    abroad = DOMAINS.get(cell.settings.topology, _AT_HOME).mobile_ap == "ap-2"
    if cell.settings.authenticate and join.mobile_ip == "foreign" and not abroad:
        return "mobile_ip = 'foreign' needs a foreign domain to be in: topology r1 to r4"
    radius, default = cell.settings.radius, unset(Radius)
    if cell.settings.topology in DOMAINS:
        for name in _RADIUS_HOST:
            if getattr(radius, name) != getattr(default, name):
                return f"radius.{name}: the agents of two domains are the RADIUS servers (server)"
    for name in ("mtu_bytes", "fragments", "proxies", "transport"):
        if getattr(radius, name) == getattr(default, name):
            continue
        if not cell.settings.authenticate:
            return f"radius.{name} needs authenticate = true"
        if all(policy.link.eap_method is None for policy in policies):
            return f"radius.{name}: {policies[0].name} has no 802.1X, which asks a RADIUS server"
    if radius.transport == "udp" and radius.connection != default.connection:
        return 'radius.connection needs radius.transport = "tls"'
    if radius.connection == "up" and radius.tls_chain != default.tls_chain:
        return 'radius.tls_chain needs radius.connection = "on-request"'
    if join.deauthenticate_at_s is not None and not cell.settings.authenticate:
        return "join.deauthenticate_at_s needs authenticate = true"
    problem = _no_failures(cell, policies) or _no_agents(cell) or _no_newcomers(cell)
    if problem is not None:
        return problem
    if join.group_rekey_s is not None or join.group_rekey_on_leave:
        if not cell.settings.authenticate:
            return "new group keys need authenticate = true"
        if join.group_rekey_on_leave and cell.settings.handover is None:
            return "group_rekey_on_leave needs a hand-over: no station leaves"
        for policy in policies:
            if policy.link.akm is None:
                return f"{policy.name} has no group key handshake to renew a key with"
    strong = all(policy.link.akm and policy.link.akm.is_192_bit for policy in policies)
    if cell.settings.authenticate and join.tls == "1.2-rsa" and strong:
        return "tls = '1.2-rsa': the 192-bit mode asks for ECDHE"
    if cell.settings.authenticate and join.tls == "1.3":
        for policy in policies:
            method = policy.link.eap_method
            if method is not None and method.uses_tls and not method.runs_tls13:
                return f"tls = '1.3': EAP-{method.upper()} runs TLS 1.2 here"
    if cell.settings.authenticate and (reason := _no_tls(cell, policies)):
        return reason
    if reason := _no_ike(cell, policies):
        return reason
    if join.tls_resumption and (reason := _nothing_resumed(cell, policies)):
        return reason
    if join.cookies and (reason := _no_cookie(cell, policies)):
        return reason
    if join.rosenpass and (reason := _no_wireguard(cell, policies)):
        return f"join.rosenpass: {reason}"
    if join.cryptobinding:
        if not cell.settings.authenticate:
            return "cryptobinding needs authenticate = true"
        if all(policy.link.eap_method != "peap" for policy in policies):
            return f"{policies[0].name} has no PEAP, whose tunnel could be bound"
    if not join.anti_clogging:
        return None
    if not cell.settings.authenticate:
        return "anti-clogging needs authenticate = true"
    if not any(policy.link.akm and policy.link.akm.is_sae for policy in policies):
        return f"{policies[0].name} has no SAE, whose commits anti-clogging tokens go with"
    return None


def _no_tls(cell: Cell, policies: Sequence[Policy]) -> str | None:
    """Why the settings of TLS are invalid, or None."""
    join, default = cell.settings.join, unset(Join)
    methods = [policy.link.eap_method for policy in policies]
    eap = any(method is not None and method.uses_tls for method in methods)
    openvpn = any(tunnel.key_exchange == "tls" for one in policies for tunnel in one.tunnels)
    for name in ("tls_group", "certificate_compression", "eap_fragment_bytes"):
        if getattr(join, name) == getattr(default, name) or eap:
            continue
        if name != "tls_group":
            return f"join.{name}: {policies[0].name} has no EAP method with TLS"
        if not openvpn:
            return f"join.{name}: {policies[0].name} has no EAP method with TLS and no OpenVPN"
    if join.certificate_compression and join.tls != "1.3":
        return 'join.certificate_compression needs join.tls = "1.3" (RFC 8879)'
    if not join.is_post_quantum or not eap:
        return None
    if join.tls != "1.3":
        return 'ML-KEM, ML-DSA, SLH-DSA and Falcon need join.tls = "1.3"'
    if any(policy.link.akm and policy.link.akm.is_192_bit for policy in policies):
        return "the 192-bit mode knows RSA-3072 and P-384 alone, with P-384's key exchange"
    return None


def _no_ike(cell: Cell, policies: Sequence[Policy]) -> str | None:
    """Why the settings of IKE are invalid, or None."""
    join, default = cell.settings.join, unset(Join)
    if join.ikev1_group != default.ikev1_group:
        if not cell.settings.authenticate:
            return "join.ikev1_group needs authenticate = true"
        for policy in policies:
            if len({tunnel.key_exchange for tunnel in policy.tunnels} & {"ikev1", "ikev2"}) > 1:
                return f"join.ikev1_group: {policy.name} has IKEv1 and IKEv2, which share one group"
    own = [
        name
        for name in ("ike_group", "ike_additional", "ike_chain", "ike_fragment_bytes")
        if getattr(join, name) != getattr(default, name)
    ]
    if not own:
        return None
    if not cell.settings.authenticate:
        return f"join.{own[0]} needs authenticate = true"
    if all(tunnel.key_exchange != "ikev2" for policy in policies for tunnel in policy.tunnels):
        return f"join.{own[0]}: {policies[0].name} has no tunnel with IKEv2"
    for policy in policies:
        if "ike_group" in own and any(tunnel.key_exchange == "ikev1" for tunnel in policy.tunnels):
            return f"join.ike_group is IKEv2's: {policy.name} has IKEv1"
    return None


def _nothing_resumed(cell: Cell, policies: Sequence[Policy]) -> str | None:
    join = cell.settings.join
    if not cell.settings.authenticate:
        return "a resumed TLS session needs authenticate = true"
    if not any(policy.link.eap_method and policy.link.eap_method.uses_tls for policy in policies):
        return f"{policies[0].name} has no TLS, whose session could be resumed"
    if join.cached_pmk:
        return "cached_pmk leaves EAP out, so that no TLS session is resumed"
    if join.fault in ("wrong-passphrase", "wrong-certificate"):
        return f"fault = {join.fault!r}: a resumed TLS session shows neither"
    return None


def _no_cookie(cell: Cell, policies: Sequence[Policy]) -> str | None:
    if not cell.settings.authenticate:
        return "cookies need authenticate = true"
    if _no_wireguard(cell, policies):
        return f"{policies[0].name} has no WireGuard, which asks for cookies"
    return None


def _no_wireguard(cell: Cell, policies: Sequence[Policy]) -> str | None:
    if not cell.settings.authenticate:
        return "needs authenticate = true"
    if all(tunnel.kind != "wireguard" for policy in policies for tunnel in policy.tunnels):
        return f"{policies[0].name} has no WireGuard"
    return None


def _no_failures(cell: Cell, policies: Sequence[Policy]) -> str | None:
    """Why a failure that the study models cannot occur, or None."""
    settings, join = cell.settings, cell.settings.join
    # Cells of policies without SAE or a passphrase are the baseline of those with it.
    asked = {
        "join.tries_again": join.tries_again,
        "join.pmksa": join.pmksa != "none",
        "join.multiplication_ms": join.multiplication_ms is not None,
        "join.flood_per_s": join.flood_per_s > 0,
        "ap.authentication_timeout_s": settings.ap.authentication_timeout_s is not None,
        "ap.multiplication_ms": settings.ap.multiplication_ms is not None,
        "ap.restart_at_s": settings.ap.restart_at_s is not None,
        "stations.caches_psk": any(not station.caches_psk for station in settings.stations),
    }
    wanted = [key for key, is_asked in asked.items() if is_asked]
    if wanted and not settings.authenticate:
        return f"{wanted[0]} needs authenticate = true"
    if join.group_rekey_tries != unset(Join).group_rekey_tries and join.group_rekey_s is None:
        return "join.group_rekey_tries needs join.group_rekey_s"
    if settings.ap.restart_at_s is not None:
        if settings.handover is not None:
            return "ap.restart_at_s: the stations of the restarted access point stay with it"
        if settings.mlo is not None:
            return "ap.restart_at_s: one link"
        if settings.ap.restart_at_s >= cell.load.duration_s:
            return "ap.restart_at_s: the traffic ends before"
    if join.flood_with_tokens and not join.flood_per_s:
        return "join.flood_with_tokens needs join.flood_per_s"
    if join.flood_per_s:
        if settings.handover is not None or settings.mlo is not None:
            return "join.flood_per_s: one access point with one link, without a hand-over"
        if settings.topology in DOMAINS:
            return "join.flood_per_s: one access point, not those of two domains"
        if join.cached_pmk or join.pmksa != "none":
            return "join.flood_per_s: stations with a PMKSA send no commits"
    if join.pmksa == "none":
        return None
    if join.cached_pmk:
        return f"join.pmksa = {join.pmksa!r}: with cached_pmk both ends have the PMKSA"
    for policy in policies:
        akm = policy.link.akm
        if akm is not None and akm.is_ft:
            return f"join.pmksa: {policy.name} begins a mobility domain without a PMKSA"
        if akm is None or not (akm.is_sae or policy.link.eap_method is not None):
            return f"join.pmksa: {policy.name} has neither SAE nor 802.1X, which a PMKSA leaves out"
    return None


def _no_agents(cell: Cell) -> str | None:
    """Why the study's agents of Mobile IP are invalid, or None."""
    join, handover = cell.settings.join, cell.settings.handover
    if join.advertisement_s is not None and (
        join.mobile_ip == "off" or not cell.settings.authenticate
    ):
        return "join.advertisement_s is of Mobile IP's agents: mobile_ip and authenticate = true"
    if join.movement_detection == "link":
        return None
    if join.advertisement_s is None:
        return 'movement_detection = "lifetime" needs advertisements that run out: advertisement_s'
    if handover is None or handover.mobile_ip == "home":
        return 'movement_detection = "lifetime" needs another agent: handover.mobile_ip = "foreign"'
    return None


def _no_newcomers(cell: Cell) -> str | None:
    """Why stations cannot join during the traffic, or None."""
    settings = cell.settings
    late = [station for station in settings.stations if station.joins_at_s is not None]
    if not late:
        return None
    if not settings.authenticate:
        return "stations.joins_at_s needs authenticate = true"
    if settings.topology in DOMAINS:
        return "stations.joins_at_s: two domains have no traffic before the mobile node joins"
    if not settings.group_load.is_empty:
        return "stations.joins_at_s: stations with group_load join before the traffic"
    latest_s = max(station.joins_at_s or 0.0 for station in late) + settings.join.spread_ms / 1e3
    if latest_s >= cell.load.duration_s:
        return (
            f"stations.joins_at_s: a join at {latest_s:g} s (with join.spread_ms) begins after "
            "the traffic's end"
        )
    moving = 0 if settings.handover is None else settings.handover.stations
    if any(station.joins_at_s is not None for station in settings.stations[:moving]):
        return "stations.joins_at_s: a station that hands over joins before the traffic"
    return None


def joining(
    cell: Cell,
    resolved: border.Scenario,
    policies: Mapping[str, Policy],
    parties: Callable[[str], Parties],
    host: Callable[[str | None], border.Host],
    access_point: str,
) -> border.Scenario:
    """``resolved`` with the associations of these stations.

    ``parties`` gives the nodes that a station negotiates with, ``host`` the host of a device
    profile. Where a station needs a RADIUS server and has none, one is wired to ``access_point``.
    """
    if not cell.settings.authenticate:
        return resolved
    join = cell.settings.join
    wanted = {name: parties(name) for name in policies}
    if any(
        policy.link.eap_method is not None and wanted[name].authentication_server is None
        for name, policy in policies.items()
    ):
        resolved = _with_radius(cell, resolved, host, access_point)
    links = {node.name: 1 + len(node.multi_link) for node in resolved.nodes}
    # Objects that stations share are written once (``airtoll.border.canonical``).
    options_of: dict[tuple[int, int], border.Options] = {}
    kinds = {name: (links[name], _ike_group(join, policy)) for name, policy in policies.items()}
    for name, kind in kinds.items():
        if kind not in options_of:
            options_of[kind] = evolve(options(cell, policies[name]), links=kind[0])
    each = {policy.name: policy for policy in policies.values()}
    specs = {name: policy.native() for name, policy in each.items()}
    joins_at_s = _joins_at_s(cell, policies)
    maps = _maps_passphrase(cell, policies)
    proxies = tuple(_proxy(number) for number in range(len(cell.settings.radius.chain)))
    associations = tuple(
        border.Association(
            station=name,
            policy=specs[policy.name],
            options=options_of[kinds[name]],
            tries_again=join.tries_again,
            maps_passphrase=maps[name],
            during_traffic=joins_at_s[name] is not None,
            start_us=round((joins_at_s[name] or 0.0) * 1e6),
            spread_us=round(join.spread_ms * 1e3),
            authentication_server=wanted[name].authentication_server or RADIUS,
            radius_proxies=proxies,
            gateway=wanted[name].gateway,
            home_agent=wanted[name].home_agent,
            foreign_agent=wanted[name].foreign_agent,
            host=wanted[name].host,
        )
        for name, policy in policies.items()
    )
    nodes = resolved.nodes
    if join.cookies and join.cookie_threshold:
        gateways = {association.gateway for association in associations}
        nodes = tuple(
            evolve(node, cookie_threshold=join.cookie_threshold) if node.name in gateways else node
            for node in nodes
        )
    flooded = join.flood_per_s > 0 and any(
        policy.link.akm is not None and policy.link.akm.is_sae for policy in policies.values()
    )
    radio = resolved.radio
    if flooded:
        first = next(iter(policies))
        nodes = (*nodes, _flooder(nodes, first))
        budgets = radio.budgets
        heard = (b for b in budgets if b.nodes == (first, access_point))
        own = (evolve(b, nodes=(FLOODER, access_point)) for b in heard)
        radio = evolve(radio, budgets=(*budgets, *own))
    return evolve(
        resolved,
        bss=tuple(
            bss if bss.neighbour else _access_point(cell, bss, flooded=flooded)
            for bss in resolved.bss
        ),
        radio=radio,
        nodes=nodes,
        associations=associations,
        association_limit_s=join.limit_s,
        mobility_agents=_advertised(join, nodes, associations),
    )


def _joins_at_s(cell: Cell, names: Iterable[str]) -> dict[str, float | None]:
    """When stations begin to join during the traffic, s; ``None``: before the traffic."""
    named = {station.name: station.joins_at_s for station in cell.settings.stations}
    # Further clients are like the last station.
    last = cell.settings.stations[-1].joins_at_s
    return {name: named.get(name, last) for name in names}


def _ike_group(join: Join, policy: Policy) -> int:
    """The number of the group of a policy's IKE; 0: the usual one of its version."""
    if any(tunnel.key_exchange == "ikev1" for tunnel in policy.tunnels):
        return 0 if join.ikev1_group == unset(Join).ikev1_group else IKEV1_GROUPS[join.ikev1_group]
    return 0 if join.ike_group == unset(Join).ike_group else IKE_GROUPS[join.ike_group]


def _maps_passphrase(cell: Cell, policies: Mapping[str, Policy]) -> dict[str, bool]:
    """Whether stations map their passphrases before they join."""
    named = {station.name: station.caches_psk for station in cell.settings.stations}
    last = cell.settings.stations[-1].caches_psk
    return {
        name: not named.get(name, last) and policy.link.akm is not None and policy.link.akm.is_psk
        for name, policy in policies.items()
    }


def options(cell: Cell, policy: Policy) -> border.Options:
    """Options of a policy's negotiations in a cell."""
    join, radius = cell.settings.join, cell.settings.radius
    return border.Options(
        tls=border.TlsVersion(join.tls),
        tls_group=None if join.tls_group is None else border.NamedGroup(join.tls_group),
        chain=tuple(border.SignatureAlgorithm(SIGNATURES[name]) for name in join.algorithms),
        certificate_compression=join.certificate_compression,
        fragment_octets=join.eap_fragment_bytes,
        eap_limits=border.EapLimits(
            rounds=radius.max_rounds,
            received_flight_octets=radius.max_received_flight_bytes,
            sent_flight_octets=radius.max_sent_flight_bytes,
        ),
        radius_proxies=bytes(proxy.state_bytes or 0 for proxy in radius.chain),
        radius_tls=(
            None
            if radius.transport == "udp"
            else border.RadiusTls(
                up=radius.connection == "up",
                chain=tuple(
                    border.SignatureAlgorithm(SIGNATURES[name]) for name in radius.tls_algorithms
                ),
            )
        ),
        beacon_protection=gating.protects_beacons(cell.settings),
        operating_channel_validation=cell.settings.operating_channel_validation,
        station_rounds=join.max_rounds,
        ike_group=_ike_group(join, policy),
        ike_additional=(
            None
            if join.ike_additional == "none"
            else border.KemAlgorithm(join.ike_additional.replace("mlkem", "ml-kem-"))
        ),
        ike_chain=(
            None
            if join.ike_algorithms is None
            else tuple(border.SignatureAlgorithm(SIGNATURES[name]) for name in join.ike_algorithms)
        ),
        ike_fragment_octets=join.ike_fragment_bytes,
        cached_pmk=join.cached_pmk,
        tls_resumption=join.tls_resumption,
        anti_clogging=join.anti_clogging and not join.anti_clogging_threshold,
        authentication_timeout_ms=(
            None
            if cell.settings.ap.authentication_timeout_s is None
            else round(cell.settings.ap.authentication_timeout_s * 1e3)
        ),
        group_update_count=join.group_rekey_tries,
        cookies=join.cookies and not join.cookie_threshold,
        cryptobinding=join.cryptobinding,
        rosenpass=join.rosenpass,
        mobile_ip=border.MobileIp(join.mobile_ip),
        faults=border.Faults(
            wrong_passphrase=join.fault == "wrong-passphrase",
            wrong_certificate=join.fault == "wrong-certificate",
            silent_server=join.fault == "silent-server",
            stale_pmksa=join.pmksa != "none",
            keeps_stale_pmksa=join.pmksa == "stale-kept",
        ),
    )


def _advertised(
    join: Join, nodes: Sequence[border.Node], associations: Sequence[border.Association]
) -> tuple[border.MobilityAgent, ...]:
    """The agents that advertise themselves: that of each cell in which a station joins."""
    if join.advertisement_s is None:
        return ()
    abroad = join.mobile_ip == "foreign"
    cells = {node.name: node.bss for node in nodes}
    agents = {cells[a.station]: a.foreign_agent if abroad else a.home_agent for a in associations}
    return tuple(
        border.MobilityAgent(node=agent, bss=bss, foreign=abroad, period_s=join.advertisement_s)
        for bss, agent in agents.items()
        if bss is not None and agent is not None
    )


def _flooder(nodes: Sequence[border.Node], station: str) -> border.Node:
    """The radio that forges commits, where the first station is."""
    beside = next(node for node in nodes if node.name == station)
    return border.Node(
        name=FLOODER,
        role=border.Role.STATION,
        bss=beside.bss,
        cipher=beside.cipher,
        position_m=beside.position_m,
        tx_power_dbm=beside.tx_power_dbm,
    )


def _access_point(cell: Cell, bss: border.Bss, *, flooded: bool) -> border.Bss:
    join = cell.settings.join
    threshold = join.anti_clogging_threshold if join.anti_clogging else 0
    if flooded:
        asks = join.anti_clogging_threshold
        asks = asks if asks or join.anti_clogging else _HOSTAPD_THRESHOLD
        flood = border.SaeFlood(
            station=FLOODER,
            commits_per_s=join.flood_per_s,
            with_tokens=join.flood_with_tokens,
        )
        bss = evolve(bss, sae_flood=flood)
    return evolve(
        bss,
        group_rekey_s=join.group_rekey_s,
        group_rekey_on_leave=join.group_rekey_on_leave,
        deauthenticate_at_s=join.deauthenticate_at_s,
        restart_at_s=cell.settings.ap.restart_at_s,
        sae_anti_clogging_threshold=asks if flooded else threshold or None,
    )


def _with_radius(
    cell: Cell,
    resolved: border.Scenario,
    host: Callable[[str | None], border.Host],
    access_point: str,
) -> border.Scenario:
    radius = cell.settings.radius
    server = host(radius.profile)
    if radius.requests_per_s is not None:
        server = evolve(server, request_ns=1e9 / radius.requests_per_s)
    nodes = [border.Node(name=RADIUS, role=border.Role.WIRED, host=server)]
    links = []
    near = access_point
    if radius.controller is not None:
        controller = host(radius.controller)
        nodes.append(border.Node(name=CONTROLLER, role=border.Role.WIRED, host=controller))
        links.append(cable(access_point, CONTROLLER, cell.settings.wired, cell.settings.phy))
        near = CONTROLLER
    if radius.mtu_bytes is not None:
        nodes[0] = evolve(nodes[0], mtu_octets=radius.mtu_bytes)
    if radius.mtu_bytes is not None or radius.fragments == "dropped":
        nodes.append(
            border.Node(
                name=ROUTER,
                role=border.Role.WIRED,
                host=host(None),
                mtu_octets=radius.mtu_bytes or cell.settings.mtu_octets,
                drops_fragments=radius.fragments == "dropped",
            )
        )
        links.append(cable(near, ROUTER, cell.settings.wired, cell.settings.phy))
        near = ROUTER
    for number, proxy in enumerate(radius.chain):
        name = _proxy(number)
        node = border.Node(name=name, role=border.Role.WIRED, host=host(proxy.profile))
        if radius.mtu_bytes is not None:
            node = evolve(node, mtu_octets=radius.mtu_bytes)
        nodes.append(node)
        links.append(_link(near, name, proxy))
        near = name
    links.append(_link(near, RADIUS, radius))
    return evolve(resolved, nodes=(*resolved.nodes, *nodes), links=(*resolved.links, *links))


def _proxy(number: int) -> str:
    return f"{PROXY}-{number + 1}"


def _link(near: str, far: str, of: Radius | Proxy) -> border.WiredLink:
    return border.WiredLink(
        nodes=(near, far),
        rate_bps=of.rate_mbps * 1e6,
        delay_s=of.delay_ms * 1e-3,
        loss_ratio=of.loss_ratio,
        queue_packets=_REQUESTS,
    )
