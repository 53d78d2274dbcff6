"""Wireless bridges of real daemons: stations with four addresses, each with a host on a cable.

Takes a stack and a job that names its bridges; gives a layout in which the traffic and the tunnels
of such a station end at the host behind it. Never leaves a radio in a bridge, or with four
addresses, behind a trial.

    host (eth0) === [br0: lan + radio] station ~ AP [br0: radio.sta1 + eth0] === switch === server

The station's radio is set to four addresses (``iw ... set 4addr on``) before it associates: only
then does the kernel take it into a bridge. hostapd (``wds_sta=1``) makes an interface of its own
for it when it has seen its 4-address null frame, and puts that into the access point's bridge.
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from airtoll.policies import Policy
from airtoll.testbeds.linux.hosts import namespaces
from airtoll.testbeds.linux.hosts.host import Host, HostError, LocalHost
from airtoll.testbeds.linux.job import Job
from airtoll.testbeds.linux.layout import Layout

if TYPE_CHECKING:
    from airtoll.testbeds.linux.daemons.mobile_ip import Registered
    from airtoll.testbeds.linux.stack import Stack

#: The cable's end at the station, and at the host behind it.
CABLE: Final = "lan"
PORT: Final = "eth0"


async def wire(root: Host, run_id: str, node: str, station: LocalHost) -> LocalHost:
    """The host behind a station's node, with a cable between the two and nothing else yet."""
    made = (await namespaces.add(root, run_id, [node]))[node]
    ends = ["netns", str(station.namespace), "type", "veth", "peer", "name", PORT]
    await root.run(["ip", "link", "add", CABLE, *ends, "netns", str(made.namespace)])
    return made


class Bridged(Layout):
    """One subnet with wireless bridges: hosts behind stations, with the stations' addresses."""

    def __init__(self, stack: Stack, job: Job, policy: Policy) -> None:
        super().__init__(stack, job, policy)
        #: Station -> node of the host behind it.
        self._behind = {
            name: node.replace("sta", "lan")
            for name, node in self.nodes.items()
            if name in job.bridges
        }

    async def prepare(self, undo: contextlib.AsyncExitStack) -> None:
        """Hosts and cables for the bridges, and their radios set to four addresses."""
        for name, behind in self._behind.items():
            station = self.nodes[name]
            await self.stack.behind(station, behind)
            undo.push_async_callback(self._take_down, station, behind)
            await self.stack.hosts[station].run(_four_addresses(self._radio(station), "on"))
        await super().prepare(undo)

    def end(self, name: str) -> str:
        """The node of the host behind a bridge, of another station its own."""
        return self._behind.get(name, self.nodes[name])

    def interface(self, name: str) -> str:
        """The interface at which a station's traffic begins."""
        return PORT if name in self._behind else super().interface(name)

    def link_address(self, name: str) -> str:
        """That of the host behind a bridge, of another station its radio's."""
        if name in self._behind:
            return self.stack.address(self._behind[name]).link
        return super().link_address(name)

    async def attach(self, name: str) -> Registered | None:
        """Join the radio of an associated bridge to its cable; the host has the addresses."""
        if name not in self._behind:
            return await super().attach(name)
        station, behind = self.nodes[name], self._behind[name]
        radio, bridge = self._radio(station), namespaces.BRIDGE
        lines = [
            f"ip addr flush dev {radio}",
            f"ip link add {bridge} type bridge",
            f"ip link set {CABLE} master {bridge}",
            f"ip link set {radio} master {bridge}",
            f"ip link set {CABLE} up",
            f"ip link set {bridge} up",
        ]
        await self.stack.hosts[station].run(["sh", "-e", "-c", "\n".join(lines)])
        host = self.stack.hosts[behind]
        address = self.stack.address(behind)
        await host.run(["ip", "link", "set", PORT, "address", address.link, "up"])
        assert isinstance(host, LocalHost)
        await namespaces.address(self.stack.root, host, PORT, address.number)
        await self._introduce(name)
        return None

    async def _take_down(self, station: str, behind: str) -> None:
        radio = self._radio(station)
        lines = [
            f"ip link set {radio} nomaster",
            f"ip link set {CABLE} down",
            f"ip link del {namespaces.BRIDGE} 2>/dev/null || true",
        ]
        with contextlib.suppress(HostError):
            await self.stack.hosts[station].run(["sh", "-c", "\n".join(lines)], check=False)
            await self.stack.hosts[station].run(_four_addresses(radio, "off"), check=False)
            flush = ["ip", "addr", "flush", "dev", PORT]
            await self.stack.hosts[behind].run(flush, check=False)

    def _radio(self, station: str) -> str:
        return self.stack.radios[station].interface


def _four_addresses(interface: str, state: str) -> list[str]:
    return ["iw", "dev", interface, "set", "4addr", state]
