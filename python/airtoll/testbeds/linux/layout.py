"""Layout of a trial: access points, stations, the ends of traffic and of tunnels.

Takes a stack and a job; gives nodes, addresses and names to every part of a trial. Here all nodes
are in one subnet behind a switch; ``two_domains`` has a home and a foreign domain. Never starts a
daemon of the policy.

    station ~ AP === switch === server
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.policies import Policy, Tunnel
from airtoll.testbeds.linux.air import neighbours
from airtoll.testbeds.linux.daemons import foreign
from airtoll.testbeds.linux.hosts import cables, namespaces
from airtoll.testbeds.linux.hosts.host import Host
from airtoll.testbeds.linux.hosts.namespaces import Address
from airtoll.testbeds.linux.job import Job

if TYPE_CHECKING:
    from airtoll.testbeds.linux.daemons.mobile_ip import Registered
    from airtoll.testbeds.linux.stack import Stack

SERVER = "srv"
#: The node of a RADIUS server that has a cable of its own.
RADIUS = "rad"
#: The nodes of RADIUS proxies, with a number, and of the server behind them.
PROXY = "px"
BEHIND_PROXIES = "aaa"


@frozen
class TunnelEnd:
    """One end of a tunnel: its node, its outer address, and what lies behind it.

    ``inside``: prefixes, IPv4 first; ``own``: addresses of them that the node takes for itself.
    """

    node: str
    outer: str
    inside: tuple[str, ...]
    own: tuple[str, ...] = ()


@frozen
class TunnelPlace:
    """Where a tunnel of the policy goes; ``station`` is whose it is, ``None`` for gateways'.

    ``layer``: how many other tunnels of the policy are inside it. The outer addresses of a tunnel
    inside another one are addresses that lie inside that one.
    """

    tunnel: Tunnel
    near: TunnelEnd
    far: TunnelEnd
    station: str | None
    layer: int = 0


@frozen
class Authenticator:
    """Path of an access point to its RADIUS server.

    ``server_node``: that of the server; ``server``: the address that the access point asks, of the
    server or of the first proxy; ``client``: its own; ``network``: of the clients that the server
    knows.
    """

    server_node: str
    server: str
    client: str
    network: str


class Layout:
    """One subnet: access points and a server on a switch."""

    def __init__(self, stack: Stack, job: Job, policy: Policy) -> None:
        self.stack = stack
        self.job = job
        self.policy = policy
        #: Station -> node, in the order in which the job names its stations.
        self.nodes = {name: f"sta{index}" for index, name in enumerate(job.stations, start=1)}
        #: The access points of the trial; the first is where the stations begin.
        count = job.access_points if job.roam != "none" else 1
        self.access_points: tuple[str, ...] = tuple(f"ap{n}" for n in range(1, count + 1))
        self._attached: list[str] = []

    async def prepare(self, undo: contextlib.AsyncExitStack) -> None:
        """Set up the nodes and links that the daemons need; undone with the trial."""
        if len(self.job.stations) > self.stack.stations:
            raise TestbedError(
                f"linux: {len(self.job.stations)} stations; this stack has {self.stack.stations}"
            )
        for node in self.access_points:
            driven = self.job.foreign is None and not self.stack.cabled
            if node not in self.stack.hosts and driven:
                raise TestbedError(f"linux: this stack has no access point {node}")
        if self.job.cable is not None and self.stack.virtual:
            await cables.lay(self.job.cable, self._cable_ends())
        if self.job.proxies:
            # The study's cables do not take no time: there is always one of the server.
            assert self.job.radius_cable is not None
            await self.stack.radius_chain(self.job.proxies, self.job.radius_cable)
        elif self.job.radius_cable is not None:
            await self.stack.distant_radius(self.job.radius_cable)
        if self._neighbours_known and self.policy.link.eap_method is not None:
            for node in self.access_points:
                await self._introduce_authenticator(node)
        if self._tunnel_between_stations:
            host, interface = self.monitors()["wire"]
            await host.run(["ip", "link", "set", interface, "up"])
        if self._stays_in_its_subnet and self.stack.virtual and not self._neighbours_known:
            for node in self.nodes.values():
                host = self.stack.hosts[node]
                undo.push_async_callback(neighbours.outlive_carrier, host, keep=False)
                await neighbours.outlive_carrier(host, keep=True)
        if self.job.mobile_ip:
            if self.job.roam == "none":
                raise TestbedError("linux: Mobile IP in one subnet needs a roam to the other AP")
            homes = tuple(own for addresses in self.addresses().values() for own in addresses)
            await foreign.set_up(self.stack, homes, undo)

    @property
    def _neighbours_known(self) -> bool:
        # In another network a node finds its agents by their messages.
        return self.job.neighbours_known and self.stack.virtual and not self.job.mobile_ip

    def _wired(self, node: str, interface: str = namespaces.BRIDGE) -> neighbours.End:
        """The end of a node on the switch, by its bridge or its cable."""
        address = self.stack.address(node)
        ipv6 = node not in self.access_points
        return neighbours.End(self.stack.hosts[node], interface, address.link, address, ipv6)

    async def _introduce_authenticator(self, access_point: str) -> None:
        if self.job.proxies:
            nearest = self._wired(f"{PROXY}1", namespaces.CABLE_END)
        elif self.job.radius_cable is not None:
            nearest = self._wired(RADIUS, namespaces.CABLE_END)
        else:
            nearest = self._wired(SERVER)
        await neighbours.introduce(self._wired(access_point), [nearest])

    def _end_of(self, name: str) -> neighbours.End:
        """The end at which a station's traffic begins."""
        node = self.end(name)
        return neighbours.End(
            self.stack.hosts[node],
            self.interface(name),
            self.link_address(name),
            self.stack.address(node),
        )

    def link_address(self, name: str) -> str:
        """The link-layer address of that end."""
        return self.stack.radios[self.nodes[name]].address

    async def _introduce(self, name: str) -> None:
        """Tell an attached station and its peers each other's link-layer addresses."""
        if not self._neighbours_known:
            return
        peers = [self._wired(SERVER)]
        if self.job.station_to_station:
            peers = [self._end_of(other) for other in self._attached]
        await neighbours.introduce(self._end_of(name), peers)
        self._attached.append(name)

    def _cable_ends(self) -> list[tuple[Host, str]]:
        hosts = self.stack.hosts
        points = [node for node in hosts if node.rstrip("0123456789") == "ap"]
        ends = [(hosts[node], namespaces.ACCESS_POINT_PORT) for node in points]
        ports = [f"{namespaces.SWITCH_PORT}{index}" for index in range(len(points))]
        return ends + [(hosts[SERVER], port) for port in ports]

    def monitors(self) -> dict[str, tuple[Host, str]]:
        """Where to capture: name -> host and interface."""
        places = self.stack.monitors()
        if self._tunnel_between_stations:
            # Their packets never reach the switch, and on the air they may be encrypted.
            second = self.job.stations[1]
            places["wire"] = (self.stack.hosts[self.end(second)], self.interface(second))
        return places

    @property
    def _stays_in_its_subnet(self) -> bool:
        """Whether a station leaves an access point and comes back to the same neighbours."""
        rejoins = self.job.deauthenticate_at_s is not None
        return (self.job.roam != "none" or rejoins) and not self.job.mobile_ip

    @property
    def _tunnel_between_stations(self) -> bool:
        return self.job.station_to_station and bool(self.policy.tunnels)

    def authenticator(self, access_point: str) -> Authenticator:
        """Where an access point finds its RADIUS server."""
        if self.job.proxies:
            last = len(self.job.proxies)
            return Authenticator(
                BEHIND_PROXIES,
                Address(namespaces.PROXY_NUMBER).outer(),
                self.stack.address(access_point).outer(),
                f"10.79.{last}.0/30",
            )
        node = SERVER if self.job.radius_cable is None else RADIUS
        return Authenticator(
            node,
            self.stack.address(node).outer(),
            self.stack.address(access_point).outer(),
            self.stack.radius_clients(),
        )

    def heard_by(self, name: str) -> tuple[str, ...]:
        """The access points that a station may use, the one to begin with first."""
        return self.access_points

    def bound(self, name: str) -> bool:
        """Whether a station must stay with the first of them."""
        return False

    async def attach(self, name: str) -> Registered | None:
        """Give an associated station its addresses; gives the answer of a registration."""
        await self.stack.set_address(self.nodes[name])
        await self._introduce(name)
        return None

    def end(self, name: str) -> str:
        """The node at which a station's traffic and tunnels end: its own."""
        return self.nodes[name]

    def interface(self, name: str) -> str:
        """The interface of that node."""
        node = self.nodes[name]
        return self.stack.cabled.get(node) or self.stack.radios[node].interface

    def target(self, name: str) -> str:
        """The node that a station's traffic goes to."""
        if not self.job.station_to_station:
            return SERVER
        return next(self.end(other) for other in self.job.stations if other != name)

    def peer(self, name: str, ip: str = "ipv4") -> str:
        """The address that a station's traffic goes to."""
        return self._address(self.target(name), ip)

    def source(self, name: str, ip: str = "ipv4") -> str:
        """The address that a station's traffic comes from."""
        return self._address(self.end(name), ip)

    def flow_name(self, name: str) -> str:
        """The name of a station's flow."""
        return name

    def addresses(self) -> dict[str, tuple[str, ...]]:
        """Station -> its IPv4 addresses outside tunnels."""
        return {name: (self.stack.address(self.end(name)).outer(),) for name in self.nodes}

    def tunnels(self) -> list[TunnelPlace]:
        """Where the policy's tunnels go: from every station to the server, or between two.

        Those of the innermost tunnel come first.
        """
        names = self.job.stations[:1] if self.job.station_to_station else self.job.stations
        return [
            TunnelPlace(
                tunnel,
                self._end(self.end(name), layer),
                self._end(self.target(name), layer),
                name,
                layer,
            )
            for layer, tunnel in enumerate(self.policy.tunnels)
            for name in names
        ]

    def _end(self, node: str, layer: int) -> TunnelEnd:
        address = self.stack.address(node)
        own = (f"{address.inner(layer=layer)}/32", f"{address.inner('ipv6', layer)}/128")
        outermost = layer + 1 == len(self.policy.tunnels)
        outer = address.outer() if outermost else address.inner(layer=layer + 1)
        return TunnelEnd(node, outer, own, own)

    def _address(self, node: str, ip: str) -> str:
        address = self.stack.address(node)
        return address.inner(ip) if self.policy.tunnels else address.outer(ip)
