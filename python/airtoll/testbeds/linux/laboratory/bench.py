"""Physical hosts instead of namespaces: a stack over SSH.

Takes a :class:`Lab`; gives the same trials on its access points, stations and server. Never makes
an interface, a bridge or a namespace on a host, and ends only processes that carry its run id.

Unlike virtual radios, a laboratory has no monitor on the air (unless a host names one), no common
clock for one-way delays, and no levels that change on command.
"""

from __future__ import annotations

import contextlib
import ipaddress
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux import conditions
from airtoll.testbeds.linux.attended.by_hand import Device
from airtoll.testbeds.linux.attended.devices_driven import Driver
from airtoll.testbeds.linux.attended.prompts import Prompts
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts import borrowed, cleanup, radios
from airtoll.testbeds.linux.hosts.host import (
    Host,
    HostError,
    HostUnusableError,
    LocalHost,
    SshHost,
    SshOptions,
)
from airtoll.testbeds.linux.hosts.namespaces import Address
from airtoll.testbeds.linux.job import Job, Outcome
from airtoll.testbeds.linux.laboratory.lab import Lab, LabHost
from airtoll.testbeds.linux.stack import Stack

_PREFIXES = {"access-point": "ap", "station": "sta"}


@frozen
class FixedAddress(Address):
    """An address that a host has already; tunnels end in 10.78.0.0/24 beside it."""

    ip: str

    def outer(self, ip: str = "ipv4") -> str:
        """On the network itself."""
        if ip != f"ipv{ipaddress.ip_address(self.ip).version}":
            raise TestbedError(f"linux: {self.ip} is no {ip} address; the lab names one address")
        return self.ip


class Laboratory(Stack):
    """A stack on the hosts of a ``lab.toml``.

    ``options``: host name -> further options for asyncssh (keys, known hosts, a proxy command).
    ``prompts``: where a person reads the steps for stations that airtoll cannot drive; default: the
    terminal.
    """

    virtual = False

    def __init__(
        self,
        run_id: str,
        credentials: Credentials,
        results: Path,
        lab: Lab,
        options: Mapping[str, SshOptions] | None = None,
        prompts: Prompts | None = None,
    ) -> None:
        super().__init__(run_id, credentials, results)
        self._lab = lab
        self.country = lab.lab.country
        self.stations = len(lab.of("station"))
        self._options = options or {}
        self.prompts = prompts
        self._described: dict[str, LabHost] = {}
        #: Each gives back what a host's settings were.
        self._borrowed: list[Callable[[], Awaitable[None]]] = []

    async def _build(self) -> None:
        names = {"srv": self._lab.of("server")[0]}
        for role, prefix in _PREFIXES.items():
            names |= {f"{prefix}{i}": name for i, name in enumerate(self._lab.of(role), start=1)}
        for node, name in names.items():
            described = self._lab.host[name]
            self._described[node] = described
            if described.by != "airtoll":
                limit_s = self._lab.lab.hand_limit_s
                driver = Driver.of(described)
                self.by_hand[node] = Device(name, described.ip, limit_s, driver)
                continue
            host = self._host(node, name, described)
            await host.__aenter__()
            self.hosts[node] = host
            if isinstance(host, SshHost):
                await cleanup.clean_left(host, self.run_id)
                await cleanup.claim_remote(host, self.run_id)
            if described.link == "cable":
                assert described.interface is not None
                self.cabled[node] = described.interface
            elif described.interface is not None and node != "srv":
                self.radios[node] = await radios.physical(host, described.interface)
                country = self._lab.lab.country
                self._borrowed.append(await borrowed.borrow(host, described.interface, country))
                with contextlib.suppress(HostError):  # not every driver surveys
                    self.surveyed[node] = await conditions.survey(host, described.interface)

    def _host(self, node: str, name: str, described: LabHost) -> Host:
        if described.address == "local":
            return LocalHost(node, self.run_id)
        assert described.address is not None
        return SshHost(
            node,
            self.run_id,
            described.address,
            {**described.ssh_options, **self._options.get(name, {})},
        )

    async def measure(self, job: Job) -> Outcome:
        """Carry out one trial; a failure while a host does not answer is the host's."""
        outcome = await super().measure(job)
        if outcome.failure is not None:
            lost = [host.name for host in self.hosts.values() if not await host.answers()]
            if lost:
                raise HostUnusableError(f"{', '.join(lost)}: lost during the trial")
        return outcome

    async def close(self) -> None:
        """Stop everything that this run started, on every host, and give back what it changed.

        A host that does not answer is cleaned by the next run that reaches it.
        """
        while self._borrowed:
            with contextlib.suppress(TestbedError, TimeoutError, OSError):
                await self._borrowed.pop()()
        for host in self.hosts.values():
            if isinstance(host, SshHost) and await host.answers():
                with contextlib.suppress(TestbedError):
                    await cleanup.clean_remote(host, self.run_id)
        await super().close()

    def address(self, node: str) -> Address:
        """The address that the lab file gives."""
        number = super().address(node).number
        foreign = self._lab.lab.ap
        if foreign is not None and node not in self._described:
            return FixedAddress(number, foreign.ip)
        return FixedAddress(number, self._described[node].ip)

    async def set_address(self, node: str) -> None:
        """Give a station's radio the address of the lab file; a cable's is there already."""
        if node in self.cabled:
            return
        described = self._described[node]
        length = 24 if ipaddress.ip_address(described.ip).version == 4 else 64
        interface = self.radios[node].interface
        await self.hosts[node].run(
            ["ip", "addr", "replace", f"{described.ip}/{length}", "dev", interface]
        )

    def bridge(self, node: str) -> str | None:
        """The bridge that the lab file names."""
        return self._described[node].bridge

    def monitors(self) -> dict[str, tuple[Host, str]]:
        """The monitor and wired interfaces that the lab file names."""
        found: dict[str, tuple[Host, str]] = {}
        for node, described in self._described.items():
            if described.monitor is not None:
                found.setdefault("air", (self.hosts[node], described.monitor))
        server = self._described["srv"]
        if server.interface is not None:
            found["wire"] = (self.hosts["srv"], server.interface)
        return found

    def radius_clients(self) -> str:
        """Only the access points may ask the RADIUS server."""
        foreign = self._lab.lab.ap
        own = [d.ip for node, d in self._described.items() if node.startswith("ap")]
        ip = own[0] if foreign is None else foreign.ip
        return str(ipaddress.ip_network(f"{ip}/24" if "." in ip else f"{ip}/64", strict=False))
