"""Nodes that live as long as a run: hosts, radios, addresses, and the servers behind the AP.

Takes credentials and jobs; gives outcomes. Here the nodes are namespaces of this machine with
virtual radios; ``laboratory`` uses hosts over SSH instead. Never leaves a node, a server
or a module behind that it brought.

    srv  the wired side: traffic and RADIUS servers, tunnel end, home agent
    rad  a RADIUS server on a cable of its own
    px1, px2 ...  RADIUS proxies in a chain, and aaa, the server behind them
    ap1, ap2 ...  access points    sta1, sta2 ...  stations
    lan1, lan2  hosts behind wireless bridges (``bridges``)
    ha1, ha2, rt, host  two domains' agents, their router and a wired host (``two_domains``)
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path
from typing import Final, Self

from airtoll.errors import TestbedError
from airtoll.policies import Policy
from airtoll.testbeds.linux import bridges, conditions
from airtoll.testbeds.linux.air import medium
from airtoll.testbeds.linux.attended.by_hand import Device
from airtoll.testbeds.linux.attended.prompts import Prompts
from airtoll.testbeds.linux.daemons import freeradius, strongswan
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts import cables, cleanup, namespaces, radios
from airtoll.testbeds.linux.hosts.cables import Cable
from airtoll.testbeds.linux.hosts.host import Host, HostUnusableError, LocalHost, Process
from airtoll.testbeds.linux.hosts.namespaces import Address
from airtoll.testbeds.linux.hosts.tcp_options import TcpOptions
from airtoll.testbeds.linux.job import Flow, Job, Outcome
from airtoll.testbeds.linux.layout import BEHIND_PROXIES, PROXY, RADIUS, Layout
from airtoll.testbeds.linux.on_hosts.dns import UDP_PORT
from airtoll.testbeds.linux.on_hosts.exchanges import HTTP_PORT
from airtoll.testbeds.linux.on_hosts.ftp import PORT as FTP_PORT
from airtoll.testbeds.linux.traffic import dns, exchanges, ftp, iperf3, irtt
from airtoll.testbeds.linux.trial.carrying import TrialRun
from airtoll.testbeds.linux.two_domains import Plant, TwoDomains

#: Stations and access points of a stack that does not know its jobs.
STATIONS: Final = 2
ACCESS_POINTS: Final = 2


class Stack:
    """Nodes that live as long as a run; daemons that live as long as a trial.

    Use as an async context manager. ``results``: folder for trials' files. ``virtual``: whether
    the radios are. ``program``: the medium that gives virtual radios an air; without one nothing
    they carry takes airtime. ``virtual_time``: whether the clock moves only when every process
    waits, so that the CPU takes no time and no frame is late. ``stations`` and
    ``access_points``: how many nodes of each there are.
    """

    virtual = True

    def __init__(
        self,
        run_id: str,
        credentials: Credentials,
        results: Path,
        program: str | None = None,
        *,
        virtual_time: bool = False,
        stations: int = STATIONS,
        access_points: int = ACCESS_POINTS,
    ) -> None:
        self.run_id = run_id
        self.credentials = credentials
        self.results = results
        self._program = program
        self.virtual_time = virtual_time
        self.stations = stations
        self._access_points = [f"ap{n}" for n in range(1, access_points + 1)]
        self.root = LocalHost("root", run_id)
        self.folder = ""
        self.hosts: dict[str, Host] = {}
        self.radios: dict[str, radios.Radio] = {}
        self.medium: medium.Medium | None = None
        #: The regulatory domain that access points announce.
        self.country: str | None = None
        #: Node -> interface of the cable that takes the place of a station's radio.
        self.cabled: dict[str, str] = {}
        #: Node -> a station without a driver, and the terminal of its prompts.
        self.by_hand: dict[str, Device] = {}
        self.prompts: Prompts | None = None
        #: Throughput of the CPU without airtime, bit/s, by kind of traffic.
        self.ceilings: dict[tuple[object, ...], float] = {}
        #: Node -> channel survey before the first trial (see ``conditions.survey``).
        self.surveyed: dict[str, list[conditions.Channel]] = {}
        self._plant: Plant | None = None
        self._radius_ends: list[tuple[Host, str]] = []
        self._chain: list[list[tuple[Host, str]]] = []
        self._radius: dict[tuple[str, int], freeradius.Server] = {}
        self._charons: dict[str, strongswan.Charon] = {}
        self._servers: dict[tuple[str, int], Process] = {}
        #: Settings of the servers that have some.
        self._given: dict[tuple[str, int], object] = {}
        #: Stations ask for one server at the same time.
        self._starting = asyncio.Lock()

    async def __aenter__(self) -> Self:
        await cleanup.clean_abandoned(self.root)
        self.folder = await cleanup.claim(self.root, self.run_id)
        try:
            await self._build()
        except BaseException:
            await self.close()
            raise
        return self

    async def __aexit__(self, *exception: object) -> None:
        await self.close()

    async def _build(self) -> None:
        points = self._access_points
        nodes = ["srv", *points, *(f"sta{n}" for n in range(1, self.stations + 1))]
        made = await namespaces.add(self.root, self.run_id, nodes)
        self.hosts = {**made}
        wireless = [made[name] for name in nodes[1:]]
        # The mark comes first: a run that is killed in between must still be cleaned.
        await self.root.put(f"{self.folder}/hwsim", "")
        found = await radios.virtual(self.root, wireless)
        self.radios = dict(zip(nodes[1:], found, strict=True))
        if self._program is not None:
            # From the root namespace: radios belong to the namespace that they were made in.
            self.medium = await medium.Medium.start(
                self.root,
                self.folder,
                self._program,
                self.radios,
                virtual_time=self.virtual_time,
            )
        await namespaces.wire(self.root, made["srv"], [made[node] for node in points])

    def address(self, node: str) -> Address:
        """The addresses of a node."""
        kind = node.rstrip("0123456789")
        number = node.removeprefix(kind)
        if kind == "ap":
            return Address(namespaces.FIRST_AP_NUMBER + int(number) - 1)
        if node == RADIUS:
            return Address(namespaces.RADIUS_NUMBER)
        if node == f"{PROXY}1":
            return Address(namespaces.PROXY_NUMBER)
        if kind in ("sta", "lan"):
            return Address(namespaces.FIRST_STATION_NUMBER + int(number) - 1)
        return Address(namespaces.SERVER_NUMBER)

    async def set_address(self, node: str) -> None:
        """Give a station's radio its addresses, once it is associated."""
        host = self.hosts[node]
        assert isinstance(host, LocalHost)
        interface = self.radios[node].interface
        await namespaces.address(self.root, host, interface, self.address(node).number)

    def layout(self, job: Job, policy: Policy) -> Layout:
        """Where the parties of a job are."""
        if job.domains is not None:
            return TwoDomains(self, job, policy)
        return (bridges.Bridged if job.bridges else Layout)(self, job, policy)

    async def distant_radius(self, cable: Cable) -> None:
        """The node of a RADIUS server behind this cable, made when first wanted."""
        if RADIUS not in self.hosts:
            server = self.hosts["srv"]
            assert isinstance(server, LocalHost)
            self.hosts[RADIUS], self._radius_ends = await namespaces.attach(
                self.root, self.run_id, RADIUS, server, namespaces.RADIUS_NUMBER
            )
        await cables.lay(cable, self._radius_ends)

    async def radius_chain(self, proxies: Sequence[Cable], last: Cable) -> None:
        """Nodes of a chain of RADIUS proxies with these cables, and of the server behind them.

        A chain of another length is taken down first.
        """
        if len(self._chain) != len(proxies) + 1:
            await self._unchain()
            names = [*(f"{PROXY}{n}" for n in range(1, len(proxies) + 1)), BEHIND_PROXIES]
            near = self.hosts["srv"]
            for number, node in enumerate(names):
                assert isinstance(near, LocalHost)
                if number == 0:
                    near, ends = await namespaces.attach(
                        self.root, self.run_id, node, near, namespaces.PROXY_NUMBER
                    )
                else:
                    near, ends = await namespaces.chain(self.root, self.run_id, near, node, number)
                self.hosts[node] = near
                self._chain.append(ends)
        for cable, ends in zip((*proxies, last), self._chain, strict=True):
            await cables.lay(cable, ends)

    async def _unchain(self) -> None:
        for ends in self._chain:
            host, _ = ends[-1]
            await self.hosts.pop(host.name).close()
            name = namespaces.namespace(self.run_id, host.name)
            await self.root.run(["ip", "netns", "delete", name])
        self._chain = []

    async def radius_proxies(self, policy: Policy, chain: str) -> list[freeradius.Server]:
        """The proxies of the chain, each of which passes requests for a policy to the next node."""
        return [
            await self.radius(
                policy,
                chain,
                f"{PROXY}{number}",
                self.radius_clients() if number == 1 else f"10.79.{number - 1}.0/30",
                next_server=namespaces.chain_address(number, far=True),
            )
            for number in range(len(self._chain) - 1, 0, -1)
        ]

    async def behind(self, station: str, node: str) -> None:
        """The host behind a station's node, made when first wanted."""
        if node not in self.hosts:
            near = self.hosts[station]
            assert isinstance(near, LocalHost)
            self.hosts[node] = await bridges.wire(self.root, self.run_id, node, near)

    async def plant(self) -> Plant:
        """The further nodes and cables of two domains, built when first wanted."""
        if self._plant is None:
            access_points = [self.hosts["ap1"], self.hosts["ap2"]]
            self._plant = await Plant.build(self.root, self.run_id, access_points)
            self.hosts |= self._plant.hosts
        return self._plant

    def bridge(self, node: str) -> str | None:
        """The bridge that joins an AP's radio to its wire."""
        return namespaces.BRIDGE

    def monitors(self) -> dict[str, tuple[Host, str]]:
        """Where to capture: ``air`` (radiotap) and ``wire``, each a host and an interface."""
        return {
            "air": (self.root, radios.MONITOR),
            "wire": (self.hosts["srv"], namespaces.BRIDGE),
        }

    def radius_clients(self) -> str:
        """The network from which access points ask the RADIUS server."""
        return "10.77.0.0/24"

    async def close(self) -> None:
        """Stop everything that this run started on this machine."""
        for host in reversed(self.hosts.values()):
            await host.close()
        await self.root.close()
        await cleanup.clean(self.root, self.run_id)

    async def measure(self, job: Job) -> Outcome:
        """Carry out one trial. A policy or traffic that did not come about is a failure by name.

        Raises ``HostUnusableError`` where a host was lost meanwhile.
        """
        trial = TrialRun(self, job)
        try:
            await trial.run()
        except HostUnusableError:
            raise
        except (TestbedError, TimeoutError) as error:
            trial.failure = trial.explained(str(error) or type(error).__name__)
            # A server with an unfinished test would refuse the next one.
            await self._stop_servers()
        finally:
            await trial.finish()
        return trial.outcome()

    async def radius(
        self,
        policy: Policy,
        chain: str,
        node: str,
        network: str,
        *,
        next_server: str | None = None,
    ) -> freeradius.Server:
        """The RADIUS server for a policy and certificates on a node, for clients of a network.

        It goes on for the next policy with the same certificates and EAP method. With
        ``next_server`` it is a proxy before that server.
        """
        assert policy.link.eap_method is not None
        method = str(policy.link.eap_method)
        akm = policy.link.akm
        port = freeradius.PORTS[akm is not None and akm.is_192_bit]
        certificates = self.credentials.chain(chain, akm)
        server = self._radius.get((node, port))
        if server is not None and (server.method, server.chain) != (method, certificates):
            await server.process.stop()
        if server is None or not server.process.running:
            server = await freeradius.start(
                self.hosts[node],
                self.folder,
                self.credentials,
                chain=certificates,
                name=f"{node}-{port}",
                port=port,
                network=network,
                method=method,
                next_server=next_server,
            )
            self._radius[node, port] = server
        return server

    async def charon(self, node: str) -> strongswan.Charon:
        """The IKE daemon of a node, started when first wanted."""
        daemon = self._charons.get(node)
        if daemon is None or not daemon.process.running:
            daemon = await strongswan.start(self.hosts[node], self.folder)
            self._charons[node] = daemon
        return daemon

    def every_host(self) -> list[Host]:
        """The hosts of the nodes, the root first."""
        return [self.root, *self.hosts.values()]

    def subnet(self) -> list[Host]:
        """The hosts of the nodes on the switch, without a chain of RADIUS proxies."""
        chain = {ends[-1][0].name for ends in self._chain}
        return [host for name, host in self.hosts.items() if name not in chain]

    def traffic_servers(self) -> list[Process]:
        """The processes of the servers of traffic and probes that were started."""
        return list(self._servers.values())

    def ike_daemons(self) -> list[Process]:
        """The processes of the IKE daemons that were started."""
        return [daemon.process for daemon in self._charons.values()]

    async def _stop_servers(self) -> None:
        servers, self._servers = self._servers, {}
        for process in servers.values():
            with contextlib.suppress(TestbedError, TimeoutError):
                await process.stop()

    async def _server(
        self, node: str, port: int, start: Callable[[], Awaitable[Process]], given: object = None
    ) -> None:
        """A waiting server on a node; one with other settings is replaced."""
        key = (node, port)
        async with self._starting:
            process = self._servers.get(key)
            if process is not None and process.running and self._given.get(key) == given:
                return
            if process is not None:
                await process.stop()
            self._servers[key] = await start()
            self._given[key] = given

    async def iperf3_server(self, node: str, port: int, ip: str, *, seconds: bool = True) -> None:
        """A waiting iperf3 server on a node; ``seconds``: whether it counts by the second."""
        host = self.hosts[node]
        await self._server(
            node,
            port,
            lambda: iperf3.serve(host, port, self.folder, seconds=seconds, ip=ip),
            (ip, seconds),
        )

    async def dns_server(self, node: str) -> None:
        """A waiting resolver on a node."""
        host, chain = self.hosts[node], self.credentials.dns
        await self._server(node, UDP_PORT, lambda: dns.serve(host, self.folder, chain))

    async def exchange_server(self, node: str, options: TcpOptions) -> None:
        """A waiting server of requests over TCP on a node."""
        host = self.hosts[node]
        await self._server(
            node,
            HTTP_PORT,
            lambda: exchanges.serve(host, self.folder, options),
            options,
        )

    async def ftp_server(self, node: str, flow: Flow) -> None:
        """A waiting FTP server on a node, with the sockets and writes of a flow."""
        host = self.hosts[node]
        given = (TcpOptions.of(flow), flow.write_octets)
        await self._server(node, FTP_PORT, lambda: ftp.serve(host, self.folder, flow), given)

    async def irtt_server(self, node: str) -> None:
        """A waiting irtt server on a node."""
        host = self.hosts[node]
        await self._server(node, irtt.PORT, lambda: irtt.serve(host, self.folder))
