"""WireGuard: a tunnel between two hosts with fresh keys.

Takes two hosts and their addresses; gives an interface on each, after a handshake that the
kernel reports. Never keeps a key: they are made here and die with the interface.
"""

from __future__ import annotations

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
    """One end: its host, outer address, inner IPv4 and IPv6 address."""

    host: Host
    outer: str
    inner: str
    inner6: str


async def up(near: End, far: End, limit_s: float = 60.0) -> list[dict[str, str]]:
    """Bring the tunnel up from ``near`` and prove it; gives both private keys for the key log.

    Raises :class:`WireGuardError` when the kernel reports no handshake.
    """
    keys: list[tuple[str, str]] = []
    for end in (near, far):
        private = (await end.host.run(["wg", "genkey"])).stdout.strip()
        public = (await end.host.run(["wg", "pubkey"], stdin=private + "\n")).stdout.strip()
        keys.append((private, public))
    for end, other, (private, _), (_, public) in (
        (near, far, keys[0], keys[1]),
        (far, near, keys[1], keys[0]),
    ):
        host = end.host
        await host.run(["ip", "link", "add", INTERFACE, "mtu", str(MTU), "type", "wireguard"])
        await host.run(
            [
                "wg",
                "set",
                INTERFACE,
                "listen-port",
                str(PORT),
                "private-key",
                "/dev/stdin",
                "peer",
                public,
                "allowed-ips",
                f"{other.inner}/32,{other.inner6}/128",
                "endpoint",
                f"{other.outer}:{PORT}",
            ],
            stdin=private + "\n",
        )
        for address in (f"{end.inner}/24", f"{end.inner6}/64"):
            extra = ["nodad"] if ":" in address else []
            await host.run(["ip", "addr", "add", address, "dev", INTERFACE, *extra])
        await host.run(["ip", "link", "set", INTERFACE, "up"])
    await near.host.run(
        ["ping", "-q", "-c", "1", "-w", f"{limit_s:.0f}", far.inner],
        check=False,
        limit_s=limit_s + 5,
    )
    told = await near.host.run(["wg", "show", INTERFACE, "latest-handshakes"])
    if not any(handshakes(told.stdout).values()):
        raise WireGuardError(f"{near.host.name}: no WireGuard handshake within {limit_s:g} s")
    return [
        {"kind": "wireguard-private", "key": private, "public": public} for private, public in keys
    ]


async def down(*hosts: Host) -> None:
    """Remove the interfaces."""
    for host in hosts:
        await host.run(["ip", "link", "delete", INTERFACE], check=False)


def handshakes(text: str) -> dict[str, int]:
    """Peer -> time of the latest handshake (Unix s, 0 for never), from ``wg show``."""
    rows = (line.split() for line in text.splitlines())
    return {row[0]: int(row[1]) for row in rows if len(row) == 2}
