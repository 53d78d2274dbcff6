"""WireGuard: tunnels between pairs of hosts with fresh keys.

Takes pairs of hosts and their addresses; gives an interface on each host, after handshakes that
the kernel reports. Never keeps a key: they are made here and die with the interface.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts.host import Host

PORT: Final = 51820
#: Outer IPv4 20 + UDP 8 + WireGuard 16 + tag 16 leave 1440; 1420 also fits IPv6 (wg-quick(8)).
MTU: Final = 1420
#: Octets for a tunnel, as in wg-quick(8). ESP over IPv4 adds at most 62 (AES-CBC with SHA-1).
_ROOM: Final = 80


class WireGuardError(TestbedError):
    """No handshake came about."""


@frozen
class End:
    """One end: its host, outer address, and inner prefixes of single addresses.

    ``layer``: how many other tunnels are inside this one; ``around``: how many are around it.
    ``port``: the UDP port, one for each interface of a host.
    """

    host: Host
    outer: str
    own: tuple[str, ...]
    layer: int = 0
    around: int = 0
    port: int = PORT

    @property
    def interface(self) -> str:
        """The name of its interface."""
        return f"wg{self.layer}"

    @property
    def mtu(self) -> int:
        """MTU of the interface, octets: its packets fit into the tunnels around it."""
        return MTU - _ROOM * self.around


@frozen
class Mesh:
    """Tunnels of one layer, each from its first end; their interfaces are there.

    ``private`` and ``public``: name of a host -> key (base64).
    """

    pairs: Sequence[tuple[End, End]]
    private: Mapping[str, str]
    public: Mapping[str, str]

    def ends(self) -> list[End]:
        """One end for each host."""
        return _ends(self.pairs)

    def keys(self) -> list[dict[str, str]]:
        """The private keys, for the key log."""
        return [
            {"kind": "wireguard-private", "key": private, "public": self.public[name]}
            for name, private in self.private.items()
        ]


async def prepare(pairs: Sequence[tuple[End, End]]) -> Mesh:
    """Make the interfaces of these tunnels; nothing is sent yet."""
    private: dict[str, str] = {}
    public: dict[str, str] = {}
    for end in _ends(pairs):
        name = end.host.name
        private[name] = (await end.host.run(["wg", "genkey"])).stdout.strip()
        told = await end.host.run(["wg", "pubkey"], stdin=private[name] + "\n")
        public[name] = told.stdout.strip()
        await _interface(end, private[name])
    for pair in pairs:
        for end, other in (pair, pair[::-1]):
            await end.host.run(
                [
                    *("wg", "set", end.interface, "peer", public[other.host.name]),
                    *("allowed-ips", ",".join(other.own)),
                    *("endpoint", f"{other.outer}:{other.port}"),
                ]
            )
    return Mesh(pairs, private, public)


async def up(mesh: Mesh, limit_s: float = 60.0) -> None:
    """Have a handshake in each tunnel.

    Raises :class:`WireGuardError` when the kernel reports none.
    """
    for near, far in mesh.pairs:
        await _prove(near, far, mesh.public[far.host.name], limit_s)


async def carried(mesh: Mesh, near: End, far: End) -> int:
    """Octets of messages that the tunnel between two ends has carried, both ways."""
    told = await near.host.run(["wg", "show", near.interface, "transfer"])
    return transfers(told.stdout).get(mesh.public[far.host.name], 0)


async def _prove(near: End, far: End, key: str, limit_s: float) -> None:
    """Wait for a handshake with the peer of this public key."""
    host = near.host
    loop = asyncio.get_running_loop()
    give_up = loop.time() + limit_s
    while loop.time() < give_up:
        # An error from below (no neighbour yet) ends a ping long before its time.
        await host.run(["ping", "-q", "-c", "1", "-w", "6", far.own[0].split("/")[0]], check=False)
        told = await host.run(["wg", "show", near.interface, "latest-handshakes"])
        if handshakes(told.stdout).get(key):
            return
    raise WireGuardError(
        f"{host.name}: no WireGuard handshake on {near.interface} within {limit_s:g} s"
    )


async def _interface(end: End, private: str) -> None:
    host, name = end.host, end.interface
    await host.run(["ip", "link", "add", name, "mtu", str(end.mtu), "type", "wireguard"])
    await host.run(
        ["wg", "set", name, "listen-port", str(end.port), "private-key", "/dev/stdin"],
        stdin=private + "\n",
    )
    for prefix in end.own:
        address = prefix.split("/")[0]
        # The whole inner network is on the interface; allowed-ips choose the peer.
        length, extra = ("64", ["nodad"]) if ":" in address else ("24", [])
        await host.run(["ip", "addr", "add", f"{address}/{length}", "dev", name, *extra])
    await host.run(["ip", "link", "set", name, "up"])


async def down(ends: Sequence[End]) -> None:
    """Remove the interfaces."""
    for end in ends:
        await end.host.run(["ip", "link", "delete", end.interface], check=False)


def _ends(pairs: Sequence[tuple[End, End]]) -> list[End]:
    return list({end.host.name: end for pair in pairs for end in pair}.values())


def transfers(text: str) -> dict[str, int]:
    """Peer -> octets received and sent, from ``wg show``."""
    rows = (line.split() for line in text.splitlines())
    return {row[0]: int(row[1]) + int(row[2]) for row in rows if len(row) == 3}


def handshakes(text: str) -> dict[str, int]:
    """Peer -> time of the latest handshake (Unix s, 0 for never), from ``wg show``."""
    rows = (line.split() for line in text.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2}
