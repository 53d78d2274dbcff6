"""Devices that airtoll drives by a recipe: their commands are run here, and their answers read.

Takes a device of the lab file, and this machine, which has ``adb``, ``ssh`` and ``scp``; gives its
link and its traffic. An end of a command proves nothing: the device's own account is read.
"""

from __future__ import annotations

import asyncio
import shlex
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.policies import Policy
from airtoll.testbeds.linux.attended import recipes
from airtoll.testbeds.linux.attended.recipes import IPERF3, Link, System
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts.host import Completed, Host, HostError

if TYPE_CHECKING:
    from airtoll.testbeds.linux.laboratory.lab import LabHost

_EVERY_S: Final = 1.0
_PROFILE: Final = "airtoll.xml"


@frozen
class Driver:
    """The way to one device. ``ssh``: options of ssh and scp but the port; ``port``: of sshd."""

    system: System
    address: str
    interface: str
    iperf3: str
    ssh: tuple[str, ...] = ()
    port: int = 22

    @staticmethod
    def of(described: LabHost) -> Driver | None:
        """That of a host of the lab file; None where a person or airtoll's daemons drive it."""
        if described.by not in ("android", "windows"):
            return None
        assert described.address is not None
        options = ["-o", "BatchMode=yes"]
        if described.identity is not None:
            options += ["-i", described.identity]
        if described.known_hosts is not None:
            options += ["-o", f"UserKnownHostsFile={described.known_hosts}"]
        return Driver(
            described.by,
            described.address,
            described.interface or recipes.INTERFACE,
            described.iperf3 or IPERF3[described.by],
            tuple(options),
            described.port,
        )

    async def _ask(self, here: Host, line: str, limit_s: float = 60.0) -> Completed:
        """Run a line on a Windows device, or a command of Android's shell."""
        if self.system == "android":
            argv = ["adb", "-s", self.address, "shell", line]
        else:
            argv = ["ssh", *self.ssh, "-p", str(self.port), self.address, line]
        return await here.run(argv, limit_s=limit_s, check=False)

    async def link(self, here: Host) -> Link:
        """The link by the device's own account. Raises ``TestbedError`` where it gives none."""
        if self.system == "android":
            done = await self._ask(here, "cmd wifi status")
            self._check(done)
            return recipes.android_link(done.stdout)
        done = await self._ask(here, "netsh wlan show interfaces")
        self._check(done)
        return recipes.windows_link(done.stdout, self.interface)

    async def join(
        self, here: Host, policy: Policy, secret: Credentials, bssid: str, limit_s: float
    ) -> Link:
        """Have the device join, until its account of the link is the policy's.

        Raises ``TestbedError`` with the differences after ``limit_s`` seconds.
        """
        await self.leave(here, secret)
        if self.system == "android":
            for argv in recipes.android_join(self.address, policy, secret):
                self._check(await here.run(argv, check=False))
        else:
            await self._send_profile(here, recipes.profile(policy, secret))
            for line in recipes.windows_join(self.interface, secret):
                self._check(await self._ask(here, line))
        loop = asyncio.get_running_loop()
        give_up = loop.time() + limit_s
        while True:
            link = await self.link(here)
            wrong = recipes.differences(self.system, policy, secret, link, bssid)
            if not wrong:
                return link
            if loop.time() > give_up:
                raise TestbedError(
                    f"policy {policy.name} did not come about within {limit_s:g} s: "
                    f"{'; '.join(wrong)}"
                )
            await asyncio.sleep(_EVERY_S)

    async def leave(self, here: Host, secret: Credentials) -> None:
        """Take the networks of the campaign's name from the device."""
        if self.system == "android":
            told = await self._ask(here, "cmd wifi list-networks")
            for number in recipes.android_networks(told.stdout, secret.ssid):
                await self._ask(here, f"cmd wifi forget-network {number}")
            return
        for line in recipes.windows_leave(self.interface, secret):
            await self._ask(here, line)  # there may be no such profile

    async def run(self, here: Host, client: Sequence[str], limit_s: float) -> None:
        """Run an iperf3 client on the device. Raises ``TestbedError`` with its last words."""
        words = [self.iperf3, *client[1:]]
        line = shlex.join(words) if self.system == "android" else " ".join(words)
        self._check(await self._ask(here, line, limit_s))

    async def _send_profile(self, here: Host, text: str) -> None:
        with tempfile.TemporaryDirectory(prefix="airtoll-profile-") as folder:
            path = Path(folder) / _PROFILE
            path.touch(mode=0o600)  # a key is in it
            path.write_text(text)
            target = f"{self.address}:{_PROFILE}"
            await here.run(["scp", *self.ssh, "-P", str(self.port), str(path), target])

    def _check(self, done: Completed) -> None:
        if done.status != 0:
            said = (done.stderr.strip() or done.stdout.strip() or "no message").splitlines()[-1]
            raise HostError(f"{self.address}: {shlex.join(done.argv[-1:])}: {said}")
