"""The tunnels of a trial: between the ends that its layout names, by strongSwan or WireGuard.

Takes a trial's progress; gives established tunnels whose algorithms were read back, and their keys
in the key log. Never leaves a tunnel, a daemon's connection or an inner address behind a trial.

Several tunnels of a policy lie inside each other, the first one innermost, as in the simulator.
They come up from the outermost on, so that the messages that set one up pass those around it.
"""

from __future__ import annotations

import asyncio

from airtoll.errors import TestbedError
from airtoll.policies import Tunnel
from airtoll.testbeds.linux.daemons import strongswan, wireguard
from airtoll.testbeds.linux.hosts.host import Host
from airtoll.testbeds.linux.layout import TunnelEnd, TunnelPlace
from airtoll.testbeds.linux.trial.progress import Progress


class Tunnels:
    """The tunnels of one trial: loaded before the stations join, brought up one by one."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._layers = len(progress.policy.tunnels)
        self._esp: list[tuple[TunnelPlace, strongswan.Connection]] = []
        self._wireguard: dict[int, wireguard.Mesh] = {}

    async def load(self) -> None:
        """Prepare both ends of every tunnel, and bring up those between gateways."""
        progress = self._progress
        if not self._layers:
            return
        if self._layers > 1:
            # A tunnel's capture needs its interface, and an IKE daemon would tell its peer of one
            # that appears later (RFC 4555 section 3.6).
            for layer in range(self._layers):
                await self._interfaces(layer)
        places = progress.layout.tunnels()
        await self._connections([place for place in places if place.tunnel.kind == "esp"])
        for place, connection in self._esp:
            if place.station is None:
                progress.keys += await strongswan.up(connection)

    async def up(self) -> None:
        """Bring up the tunnels of the stations, the outermost first."""
        progress = self._progress
        for layer in reversed(range(self._layers)):
            for place, connection in self._esp:
                if place.station is not None and place.layer == layer:
                    progress.keys += await strongswan.up(connection)
            if self._layers == 1:
                await self._interfaces(layer)
            if layer in self._wireguard:
                mesh = self._wireguard[layer]
                await wireguard.up(mesh)
                progress.keys += mesh.keys()
        words = " inside ".join(map(_described, progress.policy.tunnels))
        for place in progress.layout.tunnels() if self._layers else ():
            if place.station is not None:
                progress.negotiated[place.station]["tunnel"] = words

    def monitors(self) -> dict[str, tuple[Host, str]]:
        """Where to capture the messages of tunnels inside WireGuard, whose packets stay closed."""
        if not self._progress.stack.virtual:
            return {}
        return {
            f"inside-{far.interface}": (far.host, far.interface)
            for layer, mesh in self._wireguard.items()
            if layer
            for _, far in mesh.pairs
        }

    async def check(self) -> None:
        """Note what each of several tunnels carried.

        Raises ``TestbedError`` where a tunnel carried less than the one inside it: packets of the
        inner one went around it.
        """
        if self._layers < 2:
            return
        progress = self._progress
        for name in dict.fromkeys(place.station for place in progress.layout.tunnels()):
            if name is None:
                continue
            octets = tuple([await self._carried(name, layer) for layer in range(self._layers)])
            progress.conditions.tunnel_octets[name] = octets
            if list(octets) != sorted(set(octets)):
                told = ", ".join(map(str, octets))
                raise TestbedError(
                    f"{name}: packets went around a tunnel: from the innermost on, the tunnels "
                    f"carried {told} octets"
                )

    async def _carried(self, name: str, layer: int) -> int:
        for place, connection in self._esp:
            if (place.station, place.layer) == (name, layer):
                return await strongswan.carried(connection)
        mesh = self._wireguard[layer]
        node = self._progress.layout.end(name)
        pair = next(pair for pair in mesh.pairs if pair[0].host.name == node)
        return await wireguard.carried(mesh, *pair)

    async def _interfaces(self, layer: int) -> None:
        """The interfaces of one layer, where it is WireGuard."""
        progress = self._progress
        if progress.policy.tunnels[layer].kind != "wireguard":
            return
        places = [place for place in progress.layout.tunnels() if place.layer == layer]
        pairs = [
            (self._end(place, place.near, near=True), self._end(place, place.far, near=False))
            for place in places
        ]
        progress.undo.push_async_callback(
            wireguard.down, list({end.host.name: end for pair in pairs for end in pair}.values())
        )
        self._wireguard[layer] = await wireguard.prepare(pairs)

    def _end(self, place: TunnelPlace, end: TunnelEnd, *, near: bool) -> wireguard.End:
        layer, tunnels = place.layer, self._progress.policy.tunnels
        around = tunnels[layer + 1 :]
        # Two interfaces of a host cannot share a port. Of each tunnel one end has the usual port,
        # by which readers of captures know WireGuard.
        inside = any(tunnel.kind == "wireguard" for tunnel in tunnels[:layer])
        inner = any(tunnel.kind == "wireguard" for tunnel in around)
        other = inner if near else inside
        return wireguard.End(
            self._progress.stack.hosts[end.node],
            end.outer,
            end.own,
            layer,
            len(around),
            wireguard.PORT + other,
        )

    async def _connections(self, places: list[TunnelPlace]) -> None:
        """The connections of every IKE daemon."""
        progress = self._progress
        if not places:
            return
        nodes = sorted({end.node for place in places for end in (place.near, place.far)})
        found = await asyncio.gather(*(progress.stack.charon(node) for node in nodes))
        daemons = dict(zip(nodes, found, strict=True))
        self._esp = [
            (
                place,
                strongswan.Connection(
                    place.tunnel,
                    _esp(place.near, daemons),
                    _esp(place.far, daemons),
                    place.layer,
                ),
            )
            for place in places
        ]
        connections = [connection for _, connection in self._esp]
        progress.undo.push_async_callback(strongswan.down, connections)
        await strongswan.load(connections, progress.stack.credentials.ike_secret)


def _esp(end: TunnelEnd, daemons: dict[str, strongswan.Charon]) -> strongswan.End:
    return strongswan.End(daemons[end.node], end.node, end.outer, end.inside, end.own)


def _described(tunnel: Tunnel) -> str:
    if tunnel.kind == "wireguard":
        return "wireguard"
    return f"{tunnel.key_exchange} esp {tunnel.encryption} {tunnel.integrity}"
