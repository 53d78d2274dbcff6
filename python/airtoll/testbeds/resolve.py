"""From a cell of a study to the resolved scenario that the native code takes.

Profiles, policies and defaults become numbers; ``airtoll.border.Scenario`` documents each field.
The simulator and the closed forms both read this scenario, so that their answers compare.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

from attrs import evolve

from airtoll import _native, border
from airtoll.plan import Cell, gating, multi_link, rates
from airtoll.plan import resolved as carry_out
from airtoll.plan.levels import (
    CONSTANT_LOSS_DB,
    loss_db,
    reference_db,
    stated_level,
)
from airtoll.plan.multi_link import BSS
from airtoll.plan.resolved_cell import all_stations
from airtoll.policies import Cipher, Policy, Tunnel
from airtoll.policies.transition import offers
from airtoll.profiles import CardCost, CipherCost, Number, Profile, load
from airtoll.study import Duty, Edca, Load, Scenario, Station, Traffic
from airtoll.study.generations import HIGHEST_MBPS, band_of, queue_packets
from airtoll.study.model import Interferer, Radio
from airtoll.testbeds import cards, neighbours, passers_by
from airtoll.testbeds.bridging import bridged, end_of
from airtoll.testbeds.domains import DOMAINS, HOME_AGENT, MOBILE, assemble
from airtoll.testbeds.groups import group_traffic
from airtoll.testbeds.joining import Parties, joining
from airtoll.testbeds.roaming import roaming
from airtoll.testbeds.wires import cable

_Categories = tuple[
    border.EdcaParameters, border.EdcaParameters, border.EdcaParameters, border.EdcaParameters
]

AP = "ap"
SERVER = "server"

#: aCCATime of the short slot, us (IEEE 802.11-2020, table 18-5: less than 4).
CCA_US = 4.0
#: Energy detection on a primary channel of 20 MHz, dBm (IEEE 802.11-2020, 17.3.10.6, 19.3.19.5).
ENERGY_DETECTION_DBM = -62.0
#: Lifetime of an MSDU where neither study nor profile states it, ms: dot11EDCATableMSDULifetime,
#: whose default is 500 TU (IEEE Std 802.11-2020, annex C), taken as milliseconds, as ns-3.44 does
#: (MaxDelay of WifiMacQueue).
MSDU_LIFETIME_MS = 500.0

_STREAM_WRITE_OCTETS = 8192
#: Stations of a cell of which many stay in memory at once.
_FEW_STATIONS = 32
#: Outer length of a full packet in a tunnel, octets, by which the busiest core is found.
_OUTER_OCTETS = 1500
#: The path loss where the study gives neither positions nor levels.
_CONSTANT_LOSS = border.PathLossConstant(loss_db=CONSTANT_LOSS_DB)
#: Congestion control by its name in a study.
_CONGESTION_CONTROLS = {
    "newreno": border.CongestionControl.NEW_RENO,
    "cubic": border.CongestionControl.CUBIC,
    "bbr": border.CongestionControl.BBR,
}


def native(cell: Cell) -> _native.Scenario:
    """The resolved scenario of a cell, parsed and checked once for all of its trials.

    Raises ``ProfileError`` for an unknown profile, ``InvalidScenario`` where no trial can have it.
    """
    stations = cell.settings.clients or len(cell.settings.stations)
    return _small(cell) if stations <= _FEW_STATIONS else _large(cell)


def handed_over(resolved: border.Scenario) -> _native.Scenario:
    """A resolved scenario in the native code. Raises ``InvalidScenario``."""
    return _native.Scenario(border.to_json(resolved))


@lru_cache(maxsize=1024)
def _small(cell: Cell) -> _native.Scenario:
    """A run goes through all of its cells before it comes back to the first."""
    return handed_over(scenario(cell))


@lru_cache(maxsize=16)
def _large(cell: Cell) -> _native.Scenario:
    """As ``_small``. A thousand cells of 500 stations would take a gigabyte."""
    return handed_over(scenario(cell))


def scenario(cell: Cell) -> border.Scenario:
    """The resolved scenario of a cell.

    Raises ``ProfileError`` for an unknown profile.
    """
    cell = carry_out(cell).cell
    settings, load_ = cell.settings, cell.load
    if settings.topology in DOMAINS:
        return _two_domains(cell)
    stations = station_list(settings)
    profiles = {s.name: load(cell.profile(s.profile)) for s in stations}
    ends = {s.name: end_of(settings, s) for s in stations}
    behind = settings.bridge.host.profile if settings.bridge else None
    # Profiles of the nodes at which traffic and tunnels end.
    hosts = {
        ends[s.name]: load(cell.profile(behind)) if settings.bridges(s) else profiles[s.name]
        for s in stations
    }
    ap = load(cell.profile(settings.ap.profile))
    server = load(cell.profile(settings.server.profile))
    wired = settings.topology != "station-to-station"
    peers = {s.name: SERVER if wired else ends[_peer(settings, s)] for s in stations}
    nodes: list[border.Node] = []
    links: list[border.WiredLink] = []
    named = len(settings.stations)
    for number, station in enumerate(stations):
        peer = peers[station.name]
        own, far = hosts[ends[station.name]], hosts.get(peer, server)
        if number >= named and wired and settings.bridge is None:
            # Clients beyond the named stations differ from the last of these by their names alone.
            nodes.append(evolve(nodes[-1], name=station.name))
            continue
        tunnels = station_policy(cell, station).tunnels
        if settings.tunnel_end == "access-point":
            peer, far = AP, ap
        node = evolve(
            _station_node(cell, station, profiles[station.name]),
            tunnels=tuple(
                _tunnel(tunnel, own, peer, far, settings.tunnel_mtu_octets) for tunnel in tunnels
            ),
        )
        if not settings.bridges(station):
            nodes.append(node)
            continue
        made, link = bridged(settings, node, _host(own, station_policy(cell, station)))
        nodes += made
        links.append(link)
    nodes.append(_ap_node(cell, ap))
    if wired:
        server_end = _server_node(cell, server)
        nodes.append(server_end)
        links.append(cable(AP, SERVER, settings.wired, settings.phy, server_end.host))
    flows = _flows(settings, load_, stations)
    if settings.mss_clamping:
        tunnelled = frozenset(s.name for s in stations if station_policy(cell, s).tunnels)
        flows = [_clamped(settings, flow, tunnelled) for flow in flows]
    resolved = border.Scenario(
        duration_s=load_.duration_s,
        warm_up_s=load_.warm_up_s,
        series=load_.series,
        radio=_radio(settings, stations),
        bss=_bsss(cell),
        nodes=tuple(nodes),
        links=tuple(links),
        flows=tuple(flows),
        address_resolution=border.AddressResolution(settings.address_resolution),
        group_traffic=group_traffic(
            settings, [s.name for s in stations], SERVER if wired else None
        ),
    )
    for each in neighbours.cells(cell):
        resolved = _with_neighbour(resolved, each)
    resolved = passers_by.added(settings, resolved)
    if any(node.host.nic for node in nodes):
        # Cards put transmissions off the slot boundaries.
        bss = tuple(evolve(one, cca_time_us=CCA_US) for one in resolved.bss)
        resolved = evolve(resolved, bss=bss)
    joined = joining(
        cell,
        resolved,
        {s.name: station_policy(cell, s) for s in stations},
        lambda name: Parties(
            host=None if ends[name] == name else ends[name],
            gateway=AP if settings.tunnel_end == "access-point" else peers[name],
            home_agent=peers[name],
        ),
        lambda profile: _host(load(cell.profile(profile)), cell.security),
        AP,
    )
    return roaming(cell, joined, stations, AP)


def _with_neighbour(resolved: border.Scenario, one: neighbours.Neighbour) -> border.Scenario:
    """The scenario with the cell of a neighbour: its BSS, its nodes and their flows."""
    theirs = border.Neighbour(level_dbm=one.level_dbm)
    bss = evolve(_bss(one.cell), name=one.name, neighbour=theirs, primary=one.primary)
    if one.color:
        first = evolve(resolved.bss[0], color=neighbours.OWN_COLOR, obss_pd_dbm=one.obss_pd_dbm)
        resolved = evolve(resolved, bss=(first, *resolved.bss[1:]))
        bss = evolve(bss, color=one.color, obss_pd_dbm=one.obss_pd_dbm)
    if bss.beacons is not None:
        offset_us = round(bss.beacons.interval_us * one.beacon_phase, 3)
        bss = evolve(bss, beacons=evolve(bss.beacons, offset_us=offset_us))
    nodes = []
    for name, place in one.places.items():
        role = border.Role.ACCESS_POINT if name == one.access_point else border.Role.STATION
        nodes.append(
            border.Node(
                name=name,
                role=role,
                bss=one.name,
                cipher=_data_cipher(one.cell.security),
                position_m=(*place, 0.0),
                tx_power_dbm=one.cell.settings.radio.tx_power_dbm,
                queue=border.Queue(
                    packets=queue_packets(one.cell.settings), max_delay_ms=MSDU_LIFETIME_MS
                ),
            )
        )
    radio = resolved.radio
    if one.station_dbm is not None:
        budgets = tuple(
            border.LinkBudget(nodes=(name, one.access_point), rssi_dbm=one.station_dbm)
            for name in one.stations
        )
        radio = evolve(radio, budgets=(*radio.budgets, *budgets))
    flows = tuple(
        border.Flow(
            name=name,
            station=station,
            source=source,
            destination=destination,
            ip=border.IpVersion.IPV4,
            transport=border.TransportUdp(),
            pattern=one.pattern,
        )
        for name, station, source, destination in one.flows
    )
    return evolve(
        resolved,
        radio=radio,
        bss=(*resolved.bss, bss),
        nodes=(*resolved.nodes, *nodes),
        flows=(*resolved.flows, *flows),
    )


def _two_domains(cell: Cell) -> border.Scenario:
    settings, traffic = cell.settings, cell.load
    domains = DOMAINS[settings.topology]
    (station,) = settings.stations
    mobile = load(cell.profile(station.profile))
    ap = load(cell.profile(settings.ap.profile))
    server = load(cell.profile(settings.server.profile))
    policy = station_policy(cell, station)
    mtu = settings.tunnel_mtu_octets
    parts = assemble(
        domains,
        bss=_bss(cell),
        station=_station_node(cell, station, mobile),
        access_point=_ap_node(cell, ap),
        server=_server_node(cell, server),
        wired=settings.wired,
        phy=settings.phy,
        tunnels=[_tunnel(tunnel, mobile, SERVER, server, mtu) for tunnel in policy.tunnels],
        between=[_tunnel(tunnel, server, SERVER, server, mtu) for tunnel in policy.tunnels],
    )
    ways = [(MOBILE, domains.peer)]
    if traffic.direction == "down":
        ways = [(domains.peer, MOBILE)]
    elif traffic.direction == "both" or traffic.application == "voip":
        ways.append((domains.peer, MOBILE))
    resolved = border.Scenario(
        duration_s=traffic.duration_s,
        warm_up_s=traffic.warm_up_s,
        series=traffic.series,
        radio=evolve(_radio(settings, []), path_loss=_CONSTANT_LOSS),
        bss=parts.bss,
        nodes=parts.nodes,
        links=parts.links,
        flows=tuple(
            _flow(traffic, (f"{source}-{destination}", MOBILE, source, destination))
            for source, destination in ways
        ),
        address_resolution=border.AddressResolution(settings.address_resolution),
    )
    own = Parties(
        gateway=HOME_AGENT,
        authentication_server=domains.agent,
        home_agent=HOME_AGENT,
        foreign_agent=domains.agent,
    )
    return joining(
        cell,
        resolved,
        {MOBILE: policy},
        lambda _: own,
        lambda profile: _host(load(cell.profile(profile)), cell.security),
        domains.mobile_ap,
    )


def station_list(settings: Scenario) -> list[Station]:
    """The stations of a scenario, the last one repeated up to ``clients``."""
    return list(all_stations(settings))


def station_policy(cell: Cell, station: Station) -> Policy:
    """The policy of one station: its own in a mixed cell, else the cell's."""
    return gating.policy_of(cell, station)


def _burst(settings: Scenario, own_us: float | None, profile: Profile) -> float:
    if own_us is not None:
        return own_us
    return max(settings.frame_bursting_us, profile.radio.frame_burst_us.value)


def _bsss(cell: Cell) -> tuple[border.Bss, ...]:
    """The BSS of a cell, or with several links one for each, on channels of their own."""
    settings = cell.settings
    if settings.mlo is None:
        return (_bss(cell),)
    links = zip(multi_link.names(settings), multi_link.each(settings), strict=True)
    return tuple(
        evolve(_bss(evolve(cell, settings=own)), name=name, channel=channel)
        for channel, (name, own) in enumerate(links)
    )


def _bss(cell: Cell) -> border.Bss:
    settings = cell.settings
    multiple = settings.multiple_bssid
    beacons = border.Beacons(
        interval_us=settings.beacon_interval_tu * 1024.0,
        ssids=settings.ssids,
        multiple_bssid=band_of(settings) == "6ghz" if multiple is None else multiple,
        reported=settings.reported_bsss,
        octets=settings.beacon_octets,
    )
    bss = border.Bss(
        name=BSS,
        standard=border.Standard(settings.phy),
        band=None if settings.band is None else border.Band(f"{settings.band}ghz"),
        width_mhz=settings.width_mhz,
        preamble=border.DsssPreamble(settings.preamble or "long"),
        coding=border.Coding(settings.coding),
        protection=border.Protection(settings.protection.replace("-", "_")),
        rate=rates.bss_rate(settings, cell.load.duration_s),
        max_attempts=settings.retry_limit,
        aggregation=border.Aggregation(
            ampdu_max_octets=_ampdu_max_octets(cell),
            amsdu_max_octets=settings.amsdu_max_octets,
            window=settings.block_ack_window,
        ),
        security=announced(cell),
        beacons=beacons if settings.beacons else None,
        rts_threshold_octets=settings.rts_threshold_octets,
        fragmentation_threshold_octets=settings.fragmentation_threshold_octets,
        cw_min=settings.cw_min,
        cw_max=settings.cw_max,
        short_slot=settings.slot_time_us != 20,
        basic_rates_mbps=settings.basic_rates_mbps,
        edca_parameters=_edca(settings.edca_parameters),
        txop_protection=border.TxopProtection(settings.txop_protection),
        ofdma=_ofdma(settings),
        edca=True if settings.with_edca else None,
        group=border.GroupDelivery(
            multicast_to_unicast=settings.multicast_to_unicast,
            per_client_keys=settings.per_client_gtk,
            isolation=settings.isolation,
            proxy_arp=settings.proxy_arp,
            dtim_period=settings.dtim_period,
        ),
    )
    if settings.guard_interval_ns is None:
        return bss
    return evolve(bss, guard_interval_ns=settings.guard_interval_ns)


def announced(cell: Cell) -> border.Announced:
    """The security that the access point announces: in transition modes of several policies."""
    offered: dict[str, list[border.LinkSpec]] = {}
    for offer in offers(cell.security, cell.settings.phy):
        offered.setdefault(offer.place, []).append(offer.policy.native().link)
    return border.Announced(
        links=tuple(offered["RSN element"]),
        overriding=tuple(
            link
            for place in ("RSNE Override", "RSNE Override 2")
            for link in offered.get(place, ())
        ),
        beacon_protection=gating.protects_beacons(cell.settings),
        operating_channel_validation=cell.settings.operating_channel_validation,
        owe_transition="open BSS" in offered,
    )


def _edca(given: Edca | None) -> _Categories | None:
    if given is None:
        return None
    background, best_effort, video, voice = (
        border.EdcaParameters(
            aifsn=one.aifsn, cw_min=one.cw_min, cw_max=one.cw_max, txop_us=one.txop_us
        )
        for one in given.categories
    )
    return background, best_effort, video, voice


#: Operation of a multiplication in group 19, which SAE uses here.
SAE_MULTIPLICATION = "p-256-scalar-mul"


def _station_node(cell: Cell, station: Station, profile: Profile) -> border.Node:
    settings = cell.settings
    policy = station_policy(cell, station)
    first, *further = (
        multi_link.names(settings)[number - 1] for number in multi_link.links_of(settings, station)
    )
    settings = multi_link.alone(settings, multi_link.links_of(settings, station)[0])
    node = border.Node(
        name=station.name,
        role=border.Role.STATION,
        bss=first,
        multi_link=tuple(further),
        single_radio=_single_radio(cell.settings, station),
        category_links=_category_links(cell.settings, bool(further)),
        cipher=_data_cipher(policy),
        host=_with_card(
            _with_multiplication(_host(profile, policy), cell.settings.join.multiplication_ms),
            profile,
        ),
        tx_power_dbm=settings.radio.tx_power_dbm,
        mtu_octets=_host_mtu(settings),
        queue=_queue(settings, profile),
        frame_burst_us=_burst(settings, station.frame_bursting_us, profile),
        position_m=(*(station.position_m or (0.0, 0.0)), 0.0),
        edca_parameters=_edca(station.edca_parameters),
        power_save=_power_save(station, profile),
        battery_wh=station.battery_wh,
        duty=_duty(settings.duty, profile),
    )
    node = _with_spacing(node, profile, settings, station.phy)
    own = rates.link_rates(cell.settings, station, cell.load.duration_s)
    of_links = tuple(
        rates.bss_rate(multi_link.alone(cell.settings, number), cell.load.duration_s)
        for number in multi_link.links_of(cell.settings, station)
    )
    if station.phy is not None and station.phy != settings.phy:
        node = evolve(node, standard=border.Standard(station.phy))
    if len(own) > 1:
        return node if own == of_links else evolve(node, link_rates=own)
    stated = (station.mcs, station.streams, station.rate_mbps) != (None, None, None)
    if own != of_links or stated or node.standard is not None:
        return evolve(node, rate=own[0])
    return node


def _single_radio(settings: Scenario, station: Station) -> border.SingleRadio | None:
    """The one radio of a station for all links, where it has one."""
    if settings.mlo is None or not multi_link.has_one_radio(settings, station):
        return None
    return border.SingleRadio(
        padding_delay_us=settings.mlo.padding_delay_us,
        transition_delay_us=settings.mlo.transition_delay_us,
    )


def _category_links(settings: Scenario, several: bool) -> tuple[border.CategoryLinks, ...]:
    """Links of the access categories of a station on several links."""
    if settings.mlo is None or not several:
        return ()
    names = multi_link.names(settings)
    return tuple(
        border.CategoryLinks(
            category=border.AccessCategory(one.category),
            direction=border.LinkDirection(one.direction),
            bss=tuple(names[number - 1] for number in one.links),
        )
        for one in settings.mlo.mapping
    )


def _with_multiplication(host: border.Host, stated_ms: float | None) -> border.Host:
    """The host with the time of SAE's multiplications that the study states, if it does."""
    if stated_ms is None:
        return host
    return evolve(host, operations_ns={**host.operations_ns, SAE_MULTIPLICATION: stated_ms * 1e6})


def _ampdu_max_octets(cell: Cell) -> int | None:
    """The A-MPDU limit, octets: 0 under a policy that the study says is not aggregated."""
    settings = cell.settings
    return 0 if cards.stops_aggregation(cell) else settings.ampdu_max_octets


def _ofdma(settings: Scenario) -> border.Ofdma | None:
    if settings.ofdma == "off":
        return None
    return border.Ofdma(downlink=settings.ofdma != "uplink", uplink=settings.ofdma != "downlink")


def _path_mtu(settings: Scenario) -> int:
    """MTU of the way, octets."""
    return min(settings.path_mtu_octets or settings.mtu_octets, settings.mtu_octets)


def _host_mtu(settings: Scenario) -> int:
    """MTU with which hosts send, octets: the way's where path MTU discovery works."""
    return settings.mtu_octets if settings.pmtud == "black_hole" else _path_mtu(settings)


def _power_save(station: Station, profile: Profile) -> border.PowerSave | None:
    energy = profile.energy
    if not station.dozes or energy is None or energy.beacon_awake_ms is None:
        return None
    twt = station.twt_interval_ms
    return border.PowerSave(
        listen_interval=station.listen_interval,
        dtim=station.dtim_wake,
        twt=None
        if twt is None
        else border.TargetWakeTime(
            interval_us=round(twt * 1e3, 6),
            duration_us=station.twt_duration_ms * 1e3,
            broadcast=station.twt_broadcast,
        ),
        retrieval=None if station.retrieval is None else border.Retrieval(station.retrieval),
        after_us=station.doze_after_ms * 1e3,
        beacon_awake_us=energy.beacon_awake_ms.value * 1e3,
    )


def _duty(duty: Duty | None, profile: Profile) -> border.Duty | None:
    energy = profile.energy
    if duty is None or energy is None:
        return None
    sleep = energy.sleep_w if duty.between == "deep-sleep" else None
    wake_w = energy.wake_w.value if energy.wake_w is not None else energy.idle_w.value
    if duty.wake_mj is not None and duty.wake_ms:
        wake_w = duty.wake_mj / duty.wake_ms
    return border.Duty(
        joins_per_day=duty.joins_per_day,
        messages_per_day=duty.messages_per_day,
        wake_us=(duty.wake_ms or 0.0) * 1e3,
        wake_w=wake_w,
        message_awake_us=duty.message_ms * 1e3,
        sleep_w=None if sleep is None else sleep.value,
    )


def _ap_node(cell: Cell, profile: Profile) -> border.Node:
    settings = cell.settings
    node = border.Node(
        name=AP,
        role=border.Role.ACCESS_POINT,
        bss=BSS,
        multi_link=multi_link.names(settings)[1:],
        position_m=(*settings.ap.position_m, 0.0),
        edca_parameters=_edca(settings.ap.edca_parameters),
        cipher=_data_cipher(cell.security),
        host=_with_card(
            _with_multiplication(_host(profile, cell.security), settings.ap.multiplication_ms),
            profile,
        ),
        tx_power_dbm=settings.radio.tx_power_dbm,
        mtu_octets=_path_mtu(settings),
        black_hole=settings.pmtud == "black_hole",
        queue=evolve(_queue(settings, profile), airtime_fairness=settings.airtime_fairness),
        frame_burst_us=_burst(settings, settings.ap.frame_bursting_us, profile),
    )
    return _with_spacing(node, profile, settings, None)


def _with_spacing(
    node: border.Node, profile: Profile, settings: Scenario, phy: str | None
) -> border.Node:
    """The node with the MPDU spacing of its device, where it has A-MPDUs."""
    spacing = profile.radio.mpdu_start_spacing_us
    if spacing is None and not profile.radio.cipher_delimiters:
        return node
    if (phy or settings.phy) in HIGHEST_MBPS or settings.ampdu_max_octets == 0:
        return node
    return evolve(
        node,
        mpdu_start_spacing_us=0.0 if spacing is None else spacing.value,
        cipher_delimiters=tuple(
            border.CipherDelimiters(cipher=cipher, count=int(count.value))
            for cipher, count in profile.radio.cipher_delimiters.items()
        ),
    )


def _server_node(cell: Cell, profile: Profile) -> border.Node:
    host = _host(profile, cell.security)
    mtu = _host_mtu(cell.settings)
    return border.Node(name=SERVER, role=border.Role.WIRED, host=host, mtu_octets=mtu)


def _peer(settings: Scenario, station: Station) -> str:
    names = [s.name for s in station_list(settings)]
    return names[1] if station.name == names[0] else names[0]


def _data_cipher(policy: Policy) -> border.CipherSuite:
    cipher = policy.link.cipher if policy.link.encrypts_data else Cipher.NONE
    return border.CipherSuite(cipher.value)


def _queue(settings: Scenario, profile: Profile) -> border.Queue:
    """The transmit queue of a device; a value of the study stands before that of its driver."""
    lifetime_ms = settings.queue_max_delay_ms
    if lifetime_ms is None:
        own = profile.radio.msdu_lifetime_ms
        lifetime_ms = MSDU_LIFETIME_MS if own is None else own.value
    return border.Queue(
        packets=queue_packets(settings),
        max_delay_ms=lifetime_ms or None,
        discipline=border.Discipline(settings.queue_type),
        packet_numbers_first=settings.card.reorders_packet_numbers,
    )


def _host(profile: Profile, policy: Policy) -> border.Host:
    transmit = _cost(profile, profile.host.tx_packet_cycles, profile.host.tx_octet_cycles)
    receive = _cost(profile, profile.host.rx_packet_cycles, profile.host.rx_octet_cycles)
    host = border.Host(
        tcp=profile.tcp,
        transmit=transmit,
        receive=receive,
        forward=border.Cost(
            fixed_ns=transmit.fixed_ns + receive.fixed_ns,
            per_octet_ns=transmit.per_octet_ns + receive.per_octet_ns,
        ),
        operations_ns={
            name: profile.seconds(cycles) * 1e9 for name, cycles in profile.operation.items()
        },
    )
    suite = _data_cipher(policy)
    cipher = profile.cipher.get(suite)
    if cipher is not None:
        cost = _cipher_cost(profile, cipher)
        priced = border.CipherCost(cipher=suite, encrypt=cost, decrypt=cost)
        host = evolve(host, engine=border.CryptoEngine(cipher.engine), ciphers=(priced,))
    if profile.energy is None:
        return host
    doze, packet = profile.energy.doze_w, profile.energy.packet_mj
    energy = border.Energy(
        idle_w=profile.energy.idle_w.value,
        doze_w=0.0 if doze is None else doze.value,
        packet_j=packet.value / 1e3,
        transmit_w=profile.energy.tx_w.value,
        receive_w=profile.energy.rx_w.value,
        cpu_w=profile.energy.cpu_w.value,
    )
    return evolve(host, energy=energy)


def _with_card(host: border.Host, profile: Profile) -> border.Host:
    """The host of a radio with the network card of its profile."""
    card = profile.card
    if card is None:
        return host
    stages = [
        _stage(border.StageKind.ENCRYPTION, cost, cipher) for cipher, cost in card.cipher.items()
    ]
    if card.fetch is not None:
        stages.append(_stage(border.StageKind.FETCH, card.fetch, None))
    nic = border.Nic(stages=tuple(stages), overlap=card.overlap, meanwhile=card.meanwhile)
    return evolve(host, nic=nic)


def _stage(
    kind: border.StageKind, cost: CardCost, cipher: border.CipherSuite | None
) -> border.NicStage:
    return border.NicStage(
        stage=kind,
        cost=border.Cost(
            fixed_ns=cost.frame_us.value * 1e3,
            per_octet_ns=cost.octet_ns.value if cost.octet_ns else 0.0,
        ),
        cipher=cipher,
        random_ns=cost.random_us.value * 1e3 if cost.random_us else 0.0,
    )


def _cost(profile: Profile, fixed: Number | None, per_octet: Number | None) -> border.Cost:
    return border.Cost(
        fixed_ns=profile.seconds(fixed) * 1e9, per_octet_ns=profile.seconds(per_octet) * 1e9
    )


def _cipher_cost(profile: Profile, cost: CipherCost) -> border.Cost:
    if cost.engine == "cpu":
        return _cost(profile, cost.frame_cycles, cost.octet_cycles)
    return border.Cost(
        fixed_ns=cost.frame_us.value * 1e3 if cost.frame_us else 0.0,
        per_octet_ns=cost.octet_ns.value if cost.octet_ns else 0.0,
    )


def _end_of_tunnel(profile: Profile, suite: str) -> border.Cost | None:
    """The cost of one end of a tunnel on a device; None where its profile has none."""
    seconds = profile.tunnel_seconds(suite, _OUTER_OCTETS)
    if seconds is not None:
        fixed, each = seconds
        return border.Cost(fixed_ns=fixed * 1e9, per_octet_ns=each * 1e9)
    cipher = profile.cipher.get(suite)
    return None if cipher is None else _cipher_cost(profile, cipher)


def _tunnel(
    tunnel: Tunnel, profile: Profile, peer: str, far: Profile, mtu_octets: int | None
) -> border.Tunnel:
    suite = tunnel.suite
    here = _end_of_tunnel(profile, suite) or border.Cost()
    there = _end_of_tunnel(far, suite)
    return border.Tunnel(
        peer=peer,
        encapsulation=border.Encapsulation(suite=border.TunnelSuite(suite)),
        mtu_octets=mtu_octets,
        encrypt=here,
        decrypt=here,
        peer_encrypt=there,
        peer_decrypt=there,
    )


def _radio(settings: Scenario, stations: list[Station]) -> border.Radio:
    radio = settings.radio
    reference = reference_db(settings)
    budgets: list[border.LinkBudget] = []
    for name, own in zip(multi_link.names(settings), multi_link.each(settings), strict=True):
        budgets += _budgets(own, stations, None if settings.mlo is None else name)
    path_loss: border.PathLoss = _CONSTANT_LOSS
    if any(s.position_m is not None for s in stations) or neighbours.have_places(settings):
        path_loss = border.PathLossLogDistance(
            reference_db=reference, exponent=radio.path_loss_exponent
        )
    return border.Radio(
        path_loss=path_loss,
        budgets=tuple(budgets),
        hidden=settings.hidden,
        noise_figure_db=radio.noise_figure_db,
        shadowing_db=radio.shadowing_db,
        fading=None
        if radio.fading == "none"
        else border.Fading(
            k_db=radio.rician_k_db,
            coherence_us=radio.coherence_ms * 1e3,
            delay_spread_ns=radio.delay_spread_ns,
        ),
        interferers=() if radio.interferer is None else (_interferer(radio, radio.interferer),),
        carrier_sense_dbm=radio.carrier_sense_dbm,
        frame_capture_db=radio.capture_db,
        preamble_capture_db=radio.capture_db,
    )


def _interferer(radio: Radio, one: Interferer) -> border.Interferer:
    burst_ms, pause_ms = one.times_ms
    presence = None
    if one.present_s is not None and one.absent_s is not None:
        presence = border.Presence(present_s=one.present_s, absent_s=one.absent_s)
    return border.Interferer(
        level_dbm=one.level_dbm,
        busy_from_dbm=ENERGY_DETECTION_DBM if one.kind == "microwave" else radio.carrier_sense_dbm,
        burst_us=burst_ms * 1e3,
        pause_us=pause_ms * 1e3,
        random=one.kind == "neighbour",
        presence=presence,
    )


def _budgets(
    settings: Scenario, stations: list[Station], bss: str | None
) -> Iterator[border.LinkBudget]:
    """The levels between stations and the AP in a BSS; in all of them without a name."""
    for station in stations:
        nodes = (station.name, AP)
        level = stated_level(settings, station)
        if level is not None:
            yield border.LinkBudget(nodes=nodes, rssi_dbm=level, bss=bss)
        elif (loss := loss_db(settings, station)) is not None:
            yield border.LinkBudget(nodes=nodes, loss_db=loss, bss=bss)


def _flows(
    settings: Scenario,
    traffic: Traffic,
    stations: list[Station],
) -> list[border.Flow]:
    ends = {s.name: end_of(settings, s) for s in stations}
    return [
        _flow(load_, (prefix + name, station, ends.get(near, near), ends.get(far, far)))
        for prefix, load_ in _kinds(traffic)
        for name, station, near, far in _pairs(settings, load_, stations)
    ]


def _kinds(traffic: Traffic) -> list[tuple[str, Load]]:
    """Kinds of flow with the beginning of their flows' names."""
    return [("", traffic), *((f"{one.name}-", one) for one in traffic.beside)]


def _flow(traffic: Load, ends: tuple[str, str, str, str]) -> border.Flow:
    """A flow of ``ends``: its name, its station, source and destination."""
    name, station, source, destination = ends
    return border.Flow(
        name=name,
        station=station,
        source=source,
        destination=destination,
        ip=border.IpVersion(traffic.ip),
        transport=_transport(traffic),
        pattern=_pattern(traffic),
        access_category=border.AccessCategory(traffic.wmm.replace("-", "_")),
    )


def _pairs(
    settings: Scenario, traffic: Load, stations: list[Station]
) -> list[tuple[str, str, str, str]]:
    """(flow name, station, source, destination) of every flow, in names of stations."""
    names = [s.name for s in stations]
    senders = [n for n in names if traffic.stations is None or n in traffic.stations]
    direction = traffic.direction
    pairs: list[tuple[str, str, str, str]] = []
    if settings.topology == "station-to-station":
        first, second = (senders or names)[0], names[1]
        if first == second:
            second = names[0]
        ways = [(first, second)] if direction != "down" else [(second, first)]
        if direction == "both" or traffic.application == "voip":
            ways = [(first, second), (second, first)]
        pairs = [(f"{a}-{b}", a, a, b) for a, b in ways]
    else:
        up = direction in ("up", "both") or (direction is None and settings.topology == "uplink")
        down = direction in ("down", "both") or (
            direction is None and settings.topology == "downlink"
        )
        if traffic.application == "voip":
            up = down = True
        for name in senders:
            if up:
                pairs.append((f"{name}-up", name, name, SERVER))
            if down:
                pairs.append((f"{name}-down", name, SERVER, name))
    if traffic.flows_per_station == 1:
        return pairs
    return [
        (f"{name}-{number}", station, source, destination)
        for name, station, source, destination in pairs
        for number in range(1, traffic.flows_per_station + 1)
    ]


def _transport(traffic: Load) -> border.Transport:
    if traffic.transport == "udp":
        buffer = traffic.socket_buffer_kbytes
        octets = None if buffer is None else int(buffer * 1024)
        return border.TransportUdp(socket_buffer_octets=octets)
    window, control = traffic.window_kbytes, traffic.tcp
    return border.TransportTcp(
        mss_octets=traffic.mss_bytes,
        window_octets=None if window is None else int(window * 1024),
        congestion_control=None if control is None else _CONGESTION_CONTROLS[control],
        timestamps=traffic.timestamps,
        sack=traffic.sack,
        delayed_ack_segments=traffic.delayed_ack_segments,
        delayed_ack_timeout_ms=traffic.delayed_ack_ms,
        receive_offload=traffic.receive_offload,
        hystart=None if traffic.hystart is None else border.HystartRule(traffic.hystart),
        loss_detection=(
            None if traffic.loss_detection is None else border.LossDetection(traffic.loss_detection)
        ),
        no_path_mtu_discovery=not traffic.path_mtu_discovery,
        mtu_probing=traffic.mtu_probing,
    )


def _clamped(settings: Scenario, flow: border.Flow, tunnelled: frozenset[str]) -> border.Flow:
    """The flow with the MSS to which the access point lowers it; it cannot see into tunnels."""
    transport = flow.transport
    if not isinstance(transport, border.TransportTcp) or flow.station in tunnelled:
        return flow
    headers = 40 if flow.ip is border.IpVersion.IPV4 else 60
    most = _path_mtu(settings) - headers
    own = transport.mss_octets
    return evolve(flow, transport=evolve(transport, mss_octets=min(own or most, most)))


def _pattern(traffic: Load) -> border.Pattern:
    if traffic.transport == "udp":
        payload = traffic.payload_bytes or (1472 if traffic.ip == "ipv4" else 1452)
    else:
        payload = traffic.write_bytes or _STREAM_WRITE_OCTETS
    if traffic.application == "voip":
        return border.PatternVoip()
    if traffic.application in ("request-response", "http"):
        return border.PatternRequestResponse(
            request_octets=traffic.request_bytes, response_octets=traffic.response_bytes
        )
    if traffic.application == "dns":
        return border.PatternDns(
            query_octets=traffic.query_bytes, answer_octets=traffic.answer_bytes
        )
    if traffic.transfer_bytes is not None:
        return border.PatternTransfer(octets=traffic.transfer_bytes, payload_octets=payload)
    if traffic.offered_mbps is not None:
        return border.PatternPaced(
            payload_octets=payload,
            rate_bps=traffic.offered_mbps * 1e6,
            arrivals=border.Arrivals(traffic.arrivals),
        )
    return border.PatternSaturated(payload_octets=payload)
