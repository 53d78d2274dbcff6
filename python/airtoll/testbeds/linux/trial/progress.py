"""Progress of a trial: the state that its parts share.

Takes a stack, a job and a layout; gives one mutable value per trial. Decides nothing; its
parts do (``association``, ``tunnelling``, ``moves``, ``traffic``).
"""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from attrs import define, field

from airtoll.errors import TestbedError
from airtoll.policies import Policy
from airtoll.testbeds.linux.attended.by_hand import ByHand
from airtoll.testbeds.linux.conditions import Conditions
from airtoll.testbeds.linux.daemons import freeradius, hostapd, wpa_supplicant
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.job import Distribution, Job, Value
from airtoll.testbeds.linux.layout import Layout

if TYPE_CHECKING:
    from airtoll.testbeds.linux.stack import Stack


@define
class Progress:
    """One trial under way.

    ``negotiated``: station -> values read back; ``conditions``: radio and CPU; ``keys``: the key
    log; ``by_hand``: stations that a person drives; ``cabled``: those with a cable for a radio;
    ``servers``: access point -> its RADIUS server;
    ``proxies``: RADIUS proxies before it;
    ``undo``: clean-up at the end of the trial, the latest first.
    """

    stack: Stack
    job: Job
    policy: Policy
    layout: Layout
    values: list[Value] = field(factory=list)
    distributions: list[Distribution] = field(factory=list)
    caveats: list[str] = field(factory=list)
    negotiated: dict[str, dict[str, str]] = field(factory=dict)
    conditions: Conditions = field(factory=Conditions)
    keys: list[dict[str, str]] = field(factory=list)
    access_points: list[hostapd.AccessPoint] = field(factory=list)
    stations: dict[str, wpa_supplicant.Station] = field(factory=dict)
    #: Supplicants of stations that join during the traffic, until they do.
    standing_by: dict[str, wpa_supplicant.Station] = field(factory=dict)
    by_hand: dict[str, ByHand] = field(factory=dict)
    cabled: list[str] = field(factory=list)
    servers: dict[str, freeradius.Server] = field(factory=dict)
    proxies: list[freeradius.Server] = field(factory=list)
    undo: contextlib.AsyncExitStack = field(factory=contextlib.AsyncExitStack)

    def host(self, name: str) -> Host:
        """The host at which a station's traffic ends, by its name in the study."""
        return self.stack.hosts[self.layout.end(name)]

    def address_of_radio(self, name: str) -> str:
        """The MAC address of a station, by its name in the study."""
        if name in self.by_hand:
            return self.by_hand[name].address
        return self.stack.radios[self.layout.nodes[name]].address

    def daemons(self) -> list[Process]:
        """The processes that the link and the traffic depend on."""
        processes = [access_point.process for access_point in self.access_points]
        processes += [station.process for station in self.stations.values()]
        if self.policy.tunnels:
            processes += self.stack.ike_daemons()
        if self.job.fault != "radius":
            processes += [server.process for server in self.servers.values()]
        processes += [proxy.process for proxy in self.proxies]
        processes += self.stack.traffic_servers()
        if self.stack.medium is not None:
            processes.append(self.stack.medium.process)
        return processes

    async def reachable(self, names: Iterable[str] | None = None) -> None:
        """Let these stations, or all, ask their peers for packets.

        Raises ``TestbedError`` naming the station whose packets do not come back.
        """
        ip = self.job.flow.ip if self.job.flow else "ipv4"
        for name in [*self.stations, *self.cabled] if names is None else list(names):
            done = await self.host(name).run(
                [
                    *("ping", "-q", "-i", "0.2", "-c", "3", "-w", "40"),
                    *("-I", self.layout.source(name, ip), self.layout.peer(name, ip)),
                ],
                limit_s=80,
                check=False,
            )
            if done.status != 0:
                said = (done.stdout.strip() or done.stderr.strip() or "no answer").splitlines()[-1]
                raise TestbedError(f"{name}: policy {self.policy.name} carries no data: {said}")

    async def alive(self) -> None:
        """Raise ``TestbedError`` naming the daemons that died: the kernel may go on without."""
        dead = [process for process in self.daemons() if not process.running]
        if dead:
            names = ", ".join(process.name for process in dead)
            how = await dead[0].last_words()
            raise TestbedError(f"linux: {names} died during the trial: {how}")

    async def unless_one_dies(self, work: asyncio.Future[list[Any]]) -> list[Any]:
        """The results of ``work``; none once a daemon has died: the tools would wait on."""
        ends = [asyncio.ensure_future(process.wait(_A_DAY_S)) for process in self.daemons()]
        waited: list[asyncio.Future[Any]] = [work, *ends]
        try:
            await asyncio.wait(waited, return_when=asyncio.FIRST_COMPLETED)
            if work.done():
                return work.result()
            work.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await work
            return []
        finally:
            for end in ends:
                end.cancel()


_A_DAY_S = 86_400.0
