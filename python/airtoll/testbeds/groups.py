"""Group-addressed traffic of a cell: from rates per client to the senders of the simulator.

Takes the settings of a scenario and the names of its stations; gives one sender per station and
kind of message.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from airtoll import border
from airtoll.study import Scenario


def group_traffic(
    settings: Scenario, stations: Sequence[str], router: str | None
) -> tuple[border.GroupSource, ...]:
    """The senders of the group load; ``router`` is the wired host, where there is one."""
    return tuple(_sources(settings, stations, router))


def _sources(
    settings: Scenario, stations: Sequence[str], router: str | None
) -> Iterator[border.GroupSource]:
    load = settings.group_load
    for number, station in enumerate(stations):
        peer = router or stations[(number + 1) % len(stations)]
        announcement = border.GroupMessageMdns(payload_octets=load.mdns_bytes)
        yield from _sender("mdns", station, load.mdns_per_min, announcement)
        asks = border.GroupMessageAddressRequest(target=peer)
        yield from _sender("arp", station, load.arp_per_min, asks)
        solicits = border.GroupMessageAddressRequest(target=peer, ip=border.IpVersion.IPV6)
        yield from _sender("neighbor", station, load.neighbor_per_min, solicits)
        if router is not None:
            asks = border.GroupMessageAddressRequest(target=station)
            rate = load.router_arp_per_min
            yield from _sender(f"router-arp-{station}", router, rate, asks)
    if router is not None and load.advertisement_s:
        advertises = border.GroupMessageRouterAdvertisement()
        yield from _sender("advertisement", router, 60.0 / load.advertisement_s, advertises)


def _sender(
    name: str, node: str, per_min: float, message: border.GroupMessage
) -> Iterator[border.GroupSource]:
    if per_min:
        yield border.GroupSource(
            name=f"{name}-{node}", node=node, mean_interval_s=60.0 / per_min, message=message
        )
