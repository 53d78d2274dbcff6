"""Neighbour tables of the hosts: entries known from the start, or resolved and kept over a move.

Takes the ends of a network; sets permanent entries in the tables of the kernel
(``address_resolution = "static"``). Resolves nothing itself.
"""

from __future__ import annotations

from collections.abc import Iterable

from attrs import frozen

from airtoll.testbeds.linux.hosts.host import Host
from airtoll.testbeds.linux.hosts.namespaces import Address


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


async def outlive_carrier(host: Host, *, keep: bool) -> None:
    """Let a host's neighbours outlive the loss of its carrier, or not, which is Linux's default.

    Without it the first request for an address after a hand-over meets a link that has no keys yet,
    and is repeated a second later: until then the host's own data wait. A hand-over within one
    subnet changes no neighbour (``ip-sysctl.rst`` of Linux, ``arp_evict_nocarrier``).
    """
    evicts = "01"[not keep]
    # A kernel before 5.16 does not have them, and always forgets.
    await host.run(
        [
            *("sysctl", "-qew", f"net.ipv4.conf.all.arp_evict_nocarrier={evicts}"),
            f"net.ipv6.conf.all.ndisc_evict_nocarrier={evicts}",
        ]
    )


async def forget(hosts: Iterable[Host]) -> None:
    """Remove all permanent entries: of an earlier trial."""
    for host in hosts:
        await host.run(["ip", "neigh", "flush", "nud", "permanent"])
