"""The tunnels of a trial: between the ends that its layout names, by strongSwan or WireGuard.

Takes a trial's progress; gives established tunnels whose algorithms were read back, and their keys
in the key log. Never leaves a tunnel, a daemon's connection or an inner address behind a trial.
"""

from __future__ import annotations

import asyncio

from airtoll.policies import Tunnel
from airtoll.testbeds.linux import strongswan, wireguard
from airtoll.testbeds.linux.layout import TunnelEnd, TunnelPlace
from airtoll.testbeds.linux.progress import Progress


class Tunnels:
    """The tunnels of one trial: loaded before the stations join, brought up one by one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._esp: list[tuple[TunnelPlace, strongswan.Connection]] = []

    async def load(self) -> None:
        """Load the connections of every IKE daemon, and bring up those between gateways."""
        progress = self._progress
        for tunnel in progress.policy.tunnels:
            if tunnel.kind == "wireguard":
                continue
            places = progress.layout.tunnels()
            nodes = sorted({end.node for place in places for end in (place.near, place.far)})
            daemons = dict(
                zip(
                    nodes,
                    await asyncio.gather(*(progress.stack.charon(node) for node in nodes)),
                    strict=True,
                )
            )
            self._esp += [
                (
                    place,
                    strongswan.Connection(
                        tunnel, _esp(place.near, daemons), _esp(place.far, daemons)
                    ),
                )
                for place in places
            ]
        connections = [connection for _, connection in self._esp]
        if connections:
            progress.undo.push_async_callback(strongswan.down, connections)
            await strongswan.load(connections, progress.stack.credentials.ike_secret)
        for place, connection in self._esp:
            if place.station is None:
                progress.keys += await strongswan.up(connection)

    async def up(self) -> None:
        """Bring up the tunnels of the stations."""
        progress = self._progress
        for place, connection in self._esp:
            if place.station is not None:
                progress.keys += await strongswan.up(connection)
                progress.negotiated[place.station]["tunnel"] = _described(connection.tunnel)
        if any(tunnel.kind == "wireguard" for tunnel in progress.policy.tunnels):
            await self._wireguard()

    async def _wireguard(self) -> None:
        progress, stack = self._progress, self._progress.stack
        places = progress.layout.tunnels()
        ends = {
            end.node: wireguard.End(stack.hosts[end.node], end.outer, end.own)
            for place in places
            for end in (place.near, place.far)
        }
        progress.undo.push_async_callback(wireguard.down, *(end.host for end in ends.values()))
        progress.keys += await wireguard.up(
            [(ends[place.near.node], ends[place.far.node]) for place in places]
        )
        for place in places:
            if place.station is not None:
                progress.negotiated[place.station]["tunnel"] = "wireguard"


def _esp(end: TunnelEnd, daemons: dict[str, strongswan.Charon]) -> strongswan.End:
    return strongswan.End(daemons[end.node], end.node, end.outer, end.inside, end.own)


def _described(tunnel: Tunnel) -> str:
    return f"{tunnel.key_exchange} esp {tunnel.encryption} {tunnel.integrity}"
