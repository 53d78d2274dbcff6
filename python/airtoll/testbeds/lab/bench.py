"""The bench of a laboratory: what a campaign needs of its hosts, whatever they are.

Takes frequencies and trials; gives announcements, surroundings and measured trials. ``Hosts`` are
those of a ``lab.toml``; a rehearsal has others.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Protocol

from attrs import field, frozen

from airtoll.border.answers import AnnouncedBss
from airtoll.errors import EnvironmentProblem, TestbedError
from airtoll.plan import Cell, Trial
from airtoll.testbeds.contract import Measured, Skip
from airtoll.testbeds.lab import scan
from airtoll.testbeds.linux import conditions
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts.host import Host
from airtoll.testbeds.linux.job import Foreign
from airtoll.testbeds.linux.stack import Stack
from airtoll.testbeds.linux.testbed import Linux

#: Beacons of a monitor's capture: three of the longest usual interval.
_CAPTURE_S: Final = 3.0


@frozen
class HostState:
    """A host at one instant: its clock less ours, the error of that, s; its warmest sensor, C."""

    clock_s: float | None = None
    within_s: float = 0.0
    temperature_c: float | None = None


@frozen
class Surroundings:
    """Channel and hosts at one instant.

    ``times``: node -> times of the channel in use since an instant of the driver's, s.
    ``noise_dbm``: as drivers say, the first that does. ``hosts``: node -> its state.
    """

    times: Mapping[str, conditions.ChannelTimes] = field(factory=dict)
    noise_dbm: float | None = None
    hosts: Mapping[str, HostState] = field(factory=dict)


class Bench(Protocol):
    """Hosts and radios of a campaign."""

    @property
    def secret(self) -> Credentials:
        """Names and secrets of the campaign, the same after a restart."""

    def ask_hosts(self) -> list[str]:
        """Ask the hosts what they can do; a line for each that does not answer."""

    def check(self, cell: Cell) -> Skip | None:
        """Why no station can carry out the cell, or None."""

    def expected_s(self, cell: Cell) -> float:
        """Rough wall time of one trial, s."""

    def hear(self, frequencies_mhz: Sequence[int] = ()) -> list[AnnouncedBss]:
        """Networks on these channels, or on all. Raises ``TestbedError`` where nothing can hear."""

    def surroundings(self, frequency_mhz: int) -> Surroundings:
        """The channel and the hosts now."""

    def measure(self, trial: Trial, captures: Path | None, foreign: Foreign | None) -> Measured:
        """One trial; ``foreign``: the verified access point, None where the bench drives it."""

    def addresses(self) -> tuple[str, ...]:
        """MAC addresses of the stations that the bench drives."""

    def environment(self) -> dict[str, str]:
        """Versions and settings for the run's record."""

    def cancel(self) -> None:
        """End a trial that is under way."""

    def drop(self) -> None:
        """Forget connections that broke; the next call makes new ones."""

    def close(self) -> None:
        """Leave the hosts as they were."""


class Hosts:
    """The hosts of a laboratory over SSH."""

    def __init__(self, linux: Linux) -> None:
        self._linux = linux

    @property
    def secret(self) -> Credentials:
        """Those of the laboratory."""
        return self._linux.secret

    def ask_hosts(self) -> list[str]:
        """Ask the hosts what they can do; a line for each that does not answer."""
        return self._linux.ask_hosts()

    def check(self, cell: Cell) -> Skip | None:
        """Why no station can carry out the cell, or None."""
        return self._linux.check(cell)

    def expected_s(self, cell: Cell) -> float:
        """Rough wall time of one trial, s."""
        return self._linux.expected_s(cell)

    def hear(self, frequencies_mhz: Sequence[int] = ()) -> list[AnnouncedBss]:
        """Beacons at the first Linux station, or at the first monitor."""
        found: list[AnnouncedBss] = self._linux.ask(lambda stack: _hear(stack, frequencies_mhz))
        return found

    def surroundings(self, frequency_mhz: int) -> Surroundings:
        """Surveys, clocks and sensors of all hosts."""
        found: Surroundings = self._linux.ask(lambda stack: surroundings(stack, frequency_mhz))
        return found

    def measure(self, trial: Trial, captures: Path | None, foreign: Foreign | None) -> Measured:
        """One trial on the hosts."""
        return self._linux.carry(trial, captures, foreign)

    def addresses(self) -> tuple[str, ...]:
        """Of the stations with a radio that airtoll reads."""
        found: tuple[str, ...] = self._linux.ask(_addresses)
        return found

    def environment(self) -> dict[str, str]:
        """Versions and settings."""
        return self._linux.environment()

    def cancel(self) -> None:
        """End a trial that is under way."""
        self._linux.cancel()

    def close(self) -> None:
        """Give back what was changed."""
        self._linux.close()

    def drop(self) -> None:
        """Forget connections that broke; the next call makes new ones."""
        self._linux.close()


async def _addresses(stack: Stack) -> tuple[str, ...]:
    return tuple(radio.address for node, radio in stack.radios.items() if node.startswith("sta"))


async def _hear(stack: Stack, frequencies_mhz: Sequence[int]) -> list[AnnouncedBss]:
    for node, radio in stack.radios.items():
        if node.startswith("sta") and node in stack.hosts:
            return await scan.hear(stack.hosts[node], radio.interface, frequencies_mhz)
    monitors = stack.monitors()
    if "air" not in monitors:
        raise EnvironmentProblem(
            "lab: nothing hears the access point: a Linux station, or monitor = ... on a host"
        )
    host, interface = monitors["air"]
    return await _overhear(host, interface, frequencies_mhz, stack.folder)


async def _overhear(
    host: Host, interface: str, frequencies_mhz: Sequence[int], folder: str
) -> list[AnnouncedBss]:
    """Beacons in a capture of a monitor interface, channel by channel."""
    import tempfile

    found: dict[str, AnnouncedBss] = {}
    path = f"{folder}/beacons.pcap"
    for mhz in frequencies_mhz or (None,):
        if mhz is not None:
            await host.run(["iw", "dev", interface, "set", "freq", str(mhz)])
        # BusyBox has timeout, too; tcpdump ends with the status of the signal.
        await host.run(
            ["timeout", f"{_CAPTURE_S:g}", "tcpdump", "-i", interface, "-w", path, "-U",
             "type", "mgt", "subtype", "beacon"],
            check=False, limit_s=_CAPTURE_S + 30,
        )  # fmt: skip
        with tempfile.NamedTemporaryFile(suffix=".pcap") as file:
            file.write(await host.get(path))
            file.flush()
            found |= {bss["bssid"]: bss for bss in scan.captured([Path(file.name)])}
    return list(found.values())


_STATE: Final = r"""
date +%s.%N
for file in /sys/class/thermal/thermal_zone*/temp /sys/class/hwmon/hwmon*/temp1_input; do
  [ -r "$file" ] && cat "$file" 2>/dev/null
done
exit 0
"""


async def surroundings(stack: Stack, frequency_mhz: int) -> Surroundings:
    """The channel as every radio sees it, and clock and temperature of every host."""
    times: dict[str, conditions.ChannelTimes] = {}
    noise: float | None = None
    hosts: dict[str, HostState] = {}
    for node, host in stack.hosts.items():
        hosts[node] = await _state(host)
        radio = stack.radios.get(node)
        if radio is None:
            continue
        done = await host.run(["iw", "dev", radio.interface, "survey", "dump"], check=False)
        for row in conditions.parse_survey(done.stdout):
            if row.get("frequency_mhz") != frequency_mhz:
                continue
            noise = row.get("noise_dbm", None) if noise is None else noise
            if (spent := row.get("times")) is not None:
                times[node] = spent
    return Surroundings(times, noise, hosts)


async def _state(host: Host) -> HostState:
    began, wall = time.monotonic(), time.time()
    try:
        done = await host.run(["sh", "-c", _STATE], check=False, limit_s=20)
    except TestbedError:
        return HostState()
    took_s = time.monotonic() - began
    return parse_state(done.stdout, wall + took_s / 2, took_s / 2)


def parse_state(text: str, wall_s: float, within_s: float) -> HostState:
    """A host's state from its clock and sensors; ``wall_s``: our clock during the call, s."""
    first, *rest = text.split() or [""]
    clock: float | None = None
    if "." in first:  # BusyBox's date knows no %N
        try:
            clock = float(first) - wall_s
        except ValueError:
            clock = None
    # Millidegrees; sensors that are not there read 0 or below.
    degrees = [int(word) / 1000 for word in rest if word.lstrip("-").isdigit()]
    plausible = [value for value in degrees if 0 < value < 150]
    return HostState(clock, within_s, max(plausible, default=None))
