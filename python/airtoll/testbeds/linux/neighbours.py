"""Link-layer addresses that hosts know from the start (``address_resolution = "static"``).

Takes the ends of a network; sets permanent entries in the neighbour tables of the kernel. Without
them a station that moves asks anew: its carrier goes, the kernel forgets, the question that follows
is lost before the port is authorised, and the next one comes a second later.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from airtoll.testbeds.linux.hosts import Host
from airtoll.testbeds.linux.namespaces import Address


@frozen
class End:
    """An interface of a host in the network, with its link-layer address.

    ``ipv6``: whether it takes part in IPv6.
    """

    host: Host
    interface: str
    link: str
    address: Address
    ipv6: bool = True


async def introduce(one: End, others: Iterable[End]) -> None:
    """Tell an end all others, and each of them this end."""
    for other in others:
        for near, far in ((one, other), (other, one)):
            protocols = ("ipv4", "ipv6") if near.ipv6 and far.ipv6 else ("ipv4",)
            lines = [
                f"neigh replace {far.address.outer(ip)} lladdr {far.link} nud permanent "
                f"dev {near.interface}\n"
                for ip in protocols
            ]
            await near.host.run(["ip", "-batch", "-"], stdin="".join(lines))


async def forget(hosts: Iterable[Host]) -> None:
    """Remove all permanent entries: of an earlier trial."""
    for host in hosts:
        await host.run(["ip", "neigh", "flush", "nud", "permanent"])
