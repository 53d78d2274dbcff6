"""One trial: its parts carried out in order and undone in reverse, its files kept.

Takes a :class:`Job` and the stack's nodes; gives an :class:`Outcome`, and captures with their key
log in the trial's folder. Never leaves a daemon running when a trial ends, whatever ended it, and
never gives a value for a policy that did not come about.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import signal
from pathlib import Path
from typing import TYPE_CHECKING, Final

from airtoll.errors import StorageError, TestbedError
from airtoll.observe.metrics import NOT_RADIO
from airtoll.policies import resolve
from airtoll.testbeds.linux.air import medium, neighbours
from airtoll.testbeds.linux.daemons import freeradius, keylog
from airtoll.testbeds.linux.hosts import radios, tcpdump
from airtoll.testbeds.linux.hosts.host import Host
from airtoll.testbeds.linux.job import Job, Outcome
from airtoll.testbeds.linux.trial import association, handover, moves
from airtoll.testbeds.linux.trial import load as traffic
from airtoll.testbeds.linux.trial.progress import Progress
from airtoll.testbeds.linux.trial.tunnelling import Tunnels

if TYPE_CHECKING:
    from airtoll.testbeds.linux.stack import Stack

#: IKE, NAT traversal, RADIUS, WireGuard, Mobile IP registration and agent discovery, and the later
#: fragments of datagrams, which have no ports.
_WIRE_FILTER: Final = (
    f"udp port 500 or 4500 or {' or '.join(map(str, freeradius.PORTS))} or 51820 or 434 "
    "or icmp[0] = 9 or icmp[0] = 10 or ip[6:2] & 0x1fff != 0"
)


#: Said of trials without a radio.
CABLED: Final = "a cable takes the place of each station's radio"


class TrialRun:
    """One trial in progress; ``finish`` undoes the steps that ``run`` carried out."""

    def __init__(self, stack: Stack, job: Job) -> None:
        policy = resolve(job.policy)
        self.failure: str | None = None
        self.progress = Progress(stack, job, policy, stack.layout(job, policy))
        self.progress.keys += keylog.static(policy, stack.credentials)
        self._captures: list[tcpdump.Capture] = []
        #: Path of a capture -> the packets that tcpdump took.
        self._taken: dict[str, int | None] = {}
        #: The small disk of the injected fault ``disk``.
        self._small: str | None = None
        self._kept: list[tuple[Host, str]] = []
        self._target = stack.results / job.name

    async def run(self) -> None:
        """Everything of the trial, in order.

        Raises ``TestbedError`` with what did not come about.
        """
        job = self.progress.job
        self._target.mkdir(parents=True, exist_ok=True)
        killer = None if job.kill is None else asyncio.create_task(self._kill(*job.kill))
        try:
            await self._carry_out()
        finally:
            if killer is not None:
                killer.cancel()

    async def _carry_out(self) -> None:
        progress = self.progress
        stack, job, layout = progress.stack, progress.job, progress.layout
        if stack.virtual and not stack.virtual_time:  # there each trial has nodes of its own
            await neighbours.forget(stack.subnet())
        await layout.prepare(progress.undo)
        await association.radius(progress)
        if stack.medium is not None:
            await stack.medium.begin(job, layout.nodes)
            frames = medium.queue_frames(job)
            if stack.virtual_time and frames is not None:
                for node in layout.nodes.values():
                    await radios.hold_back(
                        stack.root, stack.hosts[node], stack.radios[node], frames
                    )
            if job.walk is not None:
                await handover.place(progress, job.walk, 0.0)
        tunnels = Tunnels(progress)
        await tunnels.load()
        await asyncio.gather(
            *(
                self._capture(name, *place)
                for name, place in (layout.monitors() | tunnels.monitors()).items()
            )
        )
        await association.access_points(progress)
        late = dict(job.joins_at_s)
        for name in job.stations:
            if name in late:
                await association.stand_by(progress, name)
            else:
                await association.station(progress, name)
        await tunnels.up()
        await association.master_keys(progress)
        await progress.reachable()
        for _ in range(job.roams if job.roam != "none" else 0):
            await moves.roam(progress)
        if not job.capture_traffic and job.handover == "none" and not late:
            await self._stop_captures()
        if job.flow is not None:
            await traffic.carry(progress, job.flow)
        await tunnels.check()
        await progress.alive()
        for name, station in progress.stations.items():
            status = await station.status()
            if status.get("wpa_state") != "COMPLETED":
                raise TestbedError(f"{name}: lost the link during the trial: {status['wpa_state']}")
        for name, held in progress.by_hand.items():
            flags = (await held.state()).get("flags", "none")
            if "[AUTHORIZED]" not in flags:
                raise TestbedError(f"{name}: lost the link during the trial: flags {flags}")
        for capture in self._captures:
            await capture.check()

    def explained(self, why: str) -> str:
        """Why the trial failed, with the name of a program that died, if one did."""
        captures = [one.process for one in self._captures]
        ended = [one for one in (*self.progress.daemons(), *captures) if not one.running]
        names = ", ".join(dict.fromkeys(one.name for one in ended))
        return why if not ended or names in why else f"linux: {names} died: {why}"

    async def finish(self) -> None:
        """Undo what was set up, in reverse order, and keep the files."""
        progress = self.progress
        for station in (*progress.stations.values(), *progress.standing_by.values()):
            with contextlib.suppress(TestbedError, TimeoutError):
                await station.stop()
        with contextlib.suppress(TestbedError, TimeoutError):
            await progress.undo.aclose()
        for access_point in reversed(progress.access_points):
            with contextlib.suppress(TestbedError, TimeoutError):
                await access_point.stop()
        # One that has ended already was noticed by `run`, or what failed came first.
        with contextlib.suppress(TestbedError, TimeoutError):
            await self._stop_captures()
        await self._keep_files()
        if self._small is not None:
            await progress.stack.root.run(["umount", "-l", self._small], check=False)

    def outcome(self) -> Outcome:
        """The outcome of the trial; valid after :meth:`finish`."""
        progress = self.progress
        stack, layout = progress.stack, progress.layout
        if stack.surveyed:
            progress.conditions.survey = {n: tuple(rows) for n, rows in stack.surveyed.items()}
        rated = any(value.metric == "throughput_bps" for value in progress.values)
        if stack.cabled and rated:
            progress.caveats.insert(0, NOT_RADIO + CABLED)
        if stack.virtual and stack.medium is None and rated:
            progress.caveats.insert(0, medium.NO_AIR)
        return Outcome(
            values=tuple(progress.values) if self.failure is None else (),
            distributions=tuple(progress.distributions) if self.failure is None else (),
            failure=self.failure,
            caveats=tuple(progress.caveats),
            negotiated=progress.negotiated,
            conditions=progress.conditions,
            keys=tuple(progress.keys),
            files=tuple(sorted(path.name for path in self._target.iterdir())),
            stations={
                name: progress.address_of_radio(name)
                for name, node in layout.nodes.items()
                if name in progress.by_hand or node not in (*stack.by_hand, *stack.cabled)
            },
            access_points=self._bssids(),
            addresses=self._addresses(),
        )

    def _bssids(self) -> tuple[str, ...]:
        progress = self.progress
        if progress.job.foreign is not None:
            return (progress.job.foreign.bssid,)
        return tuple(progress.stack.radios[a.host.name].address for a in progress.access_points)

    def _addresses(self) -> dict[str, tuple[str, ...]]:
        """Station -> its IPv4 addresses outside tunnels, and inside the outer ones of several."""
        layout = self.progress.layout
        found = {name: list(own) for name, own in layout.addresses().items()}
        for place in layout.tunnels() if self.progress.policy.tunnels else ():
            if place.station is not None and place.near.outer not in found[place.station]:
                found[place.station].append(place.near.outer)
        return {name: tuple(own) for name, own in found.items()}

    async def _kill(self, program: str, at_s: float) -> None:
        await asyncio.sleep(at_s)
        hosts = self.progress.stack.every_host()
        victims = [process for host in hosts for process in host.running(program)]
        if not victims:
            self.progress.caveats.append(f"{at_s:g} s after the beginning no {program} ran")
        for process in victims:
            self.progress.caveats.append(f"{program} was killed {at_s:g} s after the beginning")
            await process.signal(signal.SIGKILL)

    async def _capture(self, name: str, host: Host, interface: str) -> None:
        path = f"{self.progress.stack.folder}/{name}.pcap"
        if self.progress.job.fault == "disk" and name == "air":
            path = await self._on_a_small_disk(host, path)
        # A log is written on, and an old file would pass for one that has begun.
        await host.run(["rm", "-f", path, f"{path}.log"])
        expression = "" if name == "air" else _WIRE_FILTER
        if expression and len(self.progress.policy.tunnels) > 1:
            expression += " or esp"  # it holds the messages of the inner tunnel
        self._captures.append(await tcpdump.start(host, interface, path, expression=expression))
        self._kept.append((host, path.removeprefix(f"{self.progress.stack.folder}/")))

    async def _on_a_small_disk(self, host: Host, path: str) -> str:
        folder = f"{self.progress.stack.folder}/small"
        await host.run(["mkdir", "-p", folder])
        await host.run(["mount", "-t", "tmpfs", "-o", "size=16k", "airtoll-drill", folder])
        self._small = folder
        return f"{folder}/{path.rpartition('/')[2]}"

    async def _stop_captures(self) -> None:
        captures, self._captures = self._captures, []
        ended = await asyncio.gather(
            *(capture.stop() for capture in captures), return_exceptions=True
        )
        for capture, told in zip(captures, ended, strict=True):
            if isinstance(told, BaseException):
                raise told
            self._taken[capture.path] = told

    async def _keep_files(self) -> None:
        progress = self.progress
        stations, access_points = progress.stations.values(), progress.access_points
        kept = [*self._kept]
        kept += [(a.host, f"hostapd-{a.host.name}.conf") for a in access_points]
        kept += [(s.host, f"wpa_supplicant-{s.host.name}.conf") for s in stations]
        if self.failure is not None:
            kept += [(a.host, f"hostapd-{a.host.name}.log") for a in access_points]
            kept += [(s.host, f"wpa_supplicant-{s.host.name}.log") for s in stations]
        for host, name in kept:
            path = f"{progress.stack.folder}/{name}"
            with contextlib.suppress(TestbedError, TimeoutError):
                octets = await host.get(path)
                self._write(Path(name).name, octets)
                await self._whole(host, path, octets)
                await host.run(["rm", "-f", path])
        self._write("keys.json", json.dumps(progress.keys, indent=1).encode() + b"\n")

    async def _whole(self, host: Host, path: str, octets: bytes) -> None:
        """Fail the trial when a capture lacks packets: times read from it would be wrong."""
        if path not in self._taken or self.failure is not None:
            return
        lacking = tcpdump.lacking(octets, self._taken[path])
        if lacking is not None:
            full = await tcpdump.room_kb(host, path) == 0
            why = ": No space left on device" if full else ""
            name = Path(path).name
            self.failure = f"{host.name}: the capture {name} is not whole: {lacking}{why}"

    def _write(self, name: str, octets: bytes) -> None:
        try:
            (self._target / name).write_bytes(octets)
        except OSError as error:
            raise StorageError(
                f"{self._target / name}: {error.strerror}; make room (TMPDIR says where trials "
                "keep their files until they end)"
            ) from error
