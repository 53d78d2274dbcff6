"""WireGuard: tunnels between pairs of hosts with fresh keys.

Takes pairs of hosts and their addresses; gives an interface on each host, after handshakes that
the kernel reports. Never keeps a key: they are made here and die with the interface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts import Host

INTERFACE: Final = "wg0"
PORT: Final = 51820
#: Outer IPv4 20 + UDP 8 + WireGuard 16 + tag 16 leave 1440; 1420 also fits IPv6 (wg-quick(8)).
MTU: Final = 1420


class WireGuardError(TestbedError):
    """No handshake came about."""


@frozen
class End:
    """One end: its host, outer address, and inner prefixes of single addresses."""

    host: Host
    outer: str
    own: tuple[str, ...]


async def up(pairs: Sequence[tuple[End, End]], limit_s: float = 60.0) -> list[dict[str, str]]:
    """Bring up a tunnel per pair, from its first end, and verify each; gives all private keys.

    Raises :class:`WireGuardError` when the kernel reports no handshake.
    """
    private: dict[str, str] = {}
    public: dict[str, str] = {}
    for end in {end.host.name: end for pair in pairs for end in pair}.values():
        name = end.host.name
        private[name] = (await end.host.run(["wg", "genkey"])).stdout.strip()
        told = await end.host.run(["wg", "pubkey"], stdin=private[name] + "\n")
        public[name] = told.stdout.strip()
        await _interface(end, private[name])
    for pair in pairs:
        for end, other in (pair, pair[::-1]):
            await end.host.run(
                [
                    *("wg", "set", INTERFACE, "peer", public[other.host.name]),
                    *("allowed-ips", ",".join(other.own)),
                    *("endpoint", f"{other.outer}:{PORT}"),
                ]
            )
    for near, far in pairs:
        await _prove(near.host, far, public[far.host.name], limit_s)
    return [
        {"kind": "wireguard-private", "key": private[name], "public": public[name]}
        for name in private
    ]


async def _prove(host: Host, far: End, key: str, limit_s: float) -> None:
    """Wait for a handshake with the peer of this public key."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + limit_s
    while loop.time() < give_up:
        # An error from below (no neighbour yet) ends a ping long before its time.
        await host.run(["ping", "-q", "-c", "1", "-w", "6", far.own[0].split("/")[0]], check=False)
        told = await host.run(["wg", "show", INTERFACE, "latest-handshakes"])
        if handshakes(told.stdout).get(key):
            return
    raise WireGuardError(f"{host.name}: no WireGuard handshake within {limit_s:g} s")


async def _interface(end: End, private: str) -> None:
    host = end.host
    await host.run(["ip", "link", "add", INTERFACE, "mtu", str(MTU), "type", "wireguard"])
    await host.run(
        ["wg", "set", INTERFACE, "listen-port", str(PORT), "private-key", "/dev/stdin"],
        stdin=private + "\n",
    )
    for prefix in end.own:
        address = prefix.split("/")[0]
        # The whole inner network is on the interface; allowed-ips choose the peer.
        length, extra = ("64", ["nodad"]) if ":" in address else ("24", [])
        await host.run(["ip", "addr", "add", f"{address}/{length}", "dev", INTERFACE, *extra])
    await host.run(["ip", "link", "set", INTERFACE, "up"])


async def down(*hosts: Host) -> None:
    """Remove the interfaces."""
    for host in hosts:
        await host.run(["ip", "link", "delete", INTERFACE], check=False)


def handshakes(text: str) -> dict[str, int]:
    """Peer -> time of the latest handshake (Unix s, 0 for never), from ``wg show``."""
    rows = (line.split() for line in text.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2}
