"""The air for virtual radios: a running ``airtoll-medium``, and its verdict on a throughput.

Takes radios and a job; gives a medium with settings per trial, and a verdict on the throughput
measured over it. Never calls a throughput a radio throughput when the CPU had no head-room.

The program is found under AIRTOLL_MEDIUM ("none": do without), beside the interpreter (where
``make build`` puts it), or on the PATH. The guest sees the host's files, so the same path holds
there.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import shutil
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Final

from attrs import evolve

from airtoll import border
from airtoll.border import (
    MediumLevel,
    MediumLevelPoint,
    MediumRadio,
    MediumRequest,
    MediumRequestAirtime,
    MediumRequestBegin,
    MediumRequestEndFlows,
    MediumRequestLevel,
    MediumRequestStartFlows,
    MediumRequestStatistics,
    MediumSettings,
    to_json,
)
from airtoll.border.answers import MediumStatistics
from airtoll.errors import EnvironmentProblem, TestbedError
from airtoll.observe.metrics import NOT_RADIO
from airtoll.policies import resolve
from airtoll.testbeds.linux.air import simulated_stations
from airtoll.testbeds.linux.conditions import Verdict
from airtoll.testbeds.linux.hosts.host import GRACE_S, Host, Process
from airtoll.testbeds.linux.hosts.radios import Radio
from airtoll.testbeds.linux.job import ACCESS_POINTS, Job

PROGRAM: Final = "airtoll-medium"
#: mac80211_hwsim keeps 200 frames under way per radio and throws the oldest away beyond that.
MOST_FRAMES: Final = 150
#: The CPU must be able to carry this many times what the air let through.
HEAD_ROOM: Final = 2.0

#: mac80211_hwsim alone hands frames over at once: nothing in it takes airtime.
NO_AIR: Final = (
    f"{NOT_RADIO}the CPU is the limit of throughput, loss and delay, since "
    f"mac80211_hwsim without a medium has no airtime ({PROGRAM} is not installed: make build)"
)


class MediumError(TestbedError):
    """The medium did not start, died, or refused a request."""


def find() -> Path | None:
    """Where the program is, or None."""
    named = os.environ.get("AIRTOLL_MEDIUM")
    if named == "none":
        return None
    if named:
        path = Path(named)
        if not path.is_file():
            raise EnvironmentProblem(f"AIRTOLL_MEDIUM: there is no file {named}")
        return path.resolve()
    beside = Path(sys.executable).parent / PROGRAM
    if beside.is_file():
        return beside
    found = shutil.which(PROGRAM)
    return None if found is None else Path(found)


class Medium:
    """A running medium for named virtual radios; ``begin`` gives each trial an air of its own."""

    def __init__(
        self,
        process: Process,
        streams: tuple[asyncio.StreamReader, asyncio.StreamWriter],
        radios: Mapping[str, Radio],
    ) -> None:
        self.process = process
        self._reader, self._writer = streams
        self._radios = dict(radios)
        self._asking = asyncio.Lock()

    @staticmethod
    async def start(
        host: Host,
        folder: str,
        program: str,
        radios: Mapping[str, Radio],
        limit_s: float = 60.0,
        *,
        virtual_time: bool = False,
    ) -> Medium:
        """Start the program; the kernel has accepted it when its socket is there.

        ``virtual_time``: whether the clock stands while a process runs. Raises ``HostError`` with
        its own last words when it does not come up.
        """
        socket, settings = f"{folder}/medium.sock", f"{folder}/medium.json"
        await host.put(settings, to_json(_settings(radios)))
        log = f"{folder}/medium.log"
        argv = [program, *(["--virtual-time"] if virtual_time else []), socket, settings]
        async with host.starting(argv, log=log) as process:
            await host.wait_for(socket, limit_s, process)
            streams = await asyncio.open_unix_connection(socket, limit=1 << 22)
        return Medium(process, streams, radios)

    async def request(self, request: MediumRequest, limit_s: float = 30.0) -> str:
        """The answer to one request, JSON; raises :class:`MediumError` on refusal or silence."""
        return await self._ask(request.op, to_json(request), limit_s)

    async def _ask(self, op: str, text: str, limit_s: float = 30.0) -> str:
        async with self._asking:
            try:
                self._writer.write(text.encode() + b"\n")
                line = await asyncio.wait_for(self._reader.readline(), limit_s)
            except (OSError, TimeoutError) as error:
                raise MediumError(f"{PROGRAM}: {op}: {error or 'no answer'}") from error
        if not line:
            with contextlib.suppress(TimeoutError):
                await self.process.wait(GRACE_S)
            raise MediumError(f"{PROGRAM}: has died: {await self.process.last_words()}")
        answer = json.loads(line)
        if "error" in answer:
            raise MediumError(f"{PROGRAM}: {op}: {answer['error']}")
        return line.decode()

    async def begin(self, job: Job, nodes: Mapping[str, str]) -> None:
        """A new air for a job; ``nodes``: station -> node."""
        request = MediumRequestBegin(settings=_settings(self._radios, job, nodes))
        text = to_json(request)
        if job.devices is not None:
            begin = json.loads(text)
            begin["settings"]["devices"] = _devices(job.devices, nodes, self._radios)
            text = json.dumps(begin)
        await self._ask(request.op, text)

    async def airtime(self, on: bool) -> None:
        """Whether frames take airtime from now on."""
        await self.request(MediumRequestAirtime(on=on))

    async def level(self, one: str, other: str, dbm: float) -> None:
        """The level at which either of two nodes hears the other from now on."""
        await self.request(MediumRequestLevel(radios=(one, other), dbm=dbm))

    async def start_flows(self, warm_up_s: float, counted_s: float, *, beside: bool) -> None:
        """Simulated stations have traffic from now on, which is counted after ``warm_up_s``.

        ``beside``: the warm-up begins with the first frame of a real station's own traffic.
        """
        request = MediumRequestStartFlows(warm_up_s=warm_up_s, counted_s=counted_s, beside=beside)
        await self.request(request)

    async def end_flows(self) -> None:
        """Simulated stations have no traffic from now on."""
        await self.request(MediumRequestEndFlows())

    async def statistics(self, *, forget: bool = False) -> MediumStatistics:
        """The counts since the beginning or the last call with ``forget``."""
        counts: MediumStatistics = json.loads(
            await self.request(MediumRequestStatistics(forget=forget))
        )
        return counts


def queue_frames(job: Job) -> int | None:
    """Frames that a queue of a job's radios holds; None: as many as the medium has by default."""
    return None if job.queue_frames is None else min(job.queue_frames, MOST_FRAMES)


def _settings(
    radios: Mapping[str, Radio], job: Job | None = None, nodes: Mapping[str, str] | None = None
) -> MediumSettings:
    settings = MediumSettings(
        radios=tuple(
            MediumRadio(name=name, address=_hwsim(radio.address), interfaces=(radio.address,))
            for name, radio in radios.items()
        )
    )
    if job is None or nodes is None:
        return settings
    if job.simulated:
        nodes = {**nodes, **simulated_stations.nodes(job)}
        first = next(name for name in radios if name.startswith("ap"))
        made = simulated_stations.radios(job, resolve(job.policy), first)
        settings = evolve(settings, radios=(*settings.radios, *made))
    settings = evolve(
        settings,
        standard=border.Standard(job.phy),
        short_preamble=job.short_preamble,
        levels=tuple(
            MediumLevel(radios=(nodes[station], access_point), points=(MediumLevelPoint(dbm=dbm),))
            for station, dbm in job.levels_dbm
            for access_point in radios
            if access_point.startswith("ap")
        ),
        hidden=tuple((nodes[a], nodes[b]) for a, b in job.hidden),
        seed=job.seed,
    )
    frames = queue_frames(job)
    if frames is not None:
        settings = evolve(settings, queue_frames=frames)
    if job.noise_figure_db is not None:
        settings = evolve(settings, noise_figure_db=job.noise_figure_db)
    if job.carrier_sense_dbm is not None:
        settings = evolve(settings, carrier_sense_dbm=job.carrier_sense_dbm)
    return settings


def _devices(text: str, nodes: Mapping[str, str], radios: Iterable[str]) -> object:
    """The devices of a job with the names of radios; each access point is a device of its own."""
    devices = json.loads(text)
    given = {device["radios"][0]: device["host"] for device in devices["radios"]}
    shared = given.pop(ACCESS_POINTS)
    hosts = {nodes[station]: host for station, host in given.items()}
    hosts |= {name: shared for name in radios if name.startswith("ap")}
    devices["radios"] = [{"radios": [name], "host": host} for name, host in hosts.items()]
    return devices


def _hwsim(address: str) -> str:
    """The address by which the driver names the radio of an interface: bit 6 is set."""
    first, rest = address.split(":", 1)
    return f"{int(first, 16) | 0x40:02x}:{rest}"


def judge(air_bps: float, ceiling_bps: float | None, counts: MediumStatistics) -> Verdict:
    """Judge a throughput by the CPU's ceiling and by the medium's counts meanwhile.

    ``ceiling_bps``: None where the CPU takes no time.
    """
    return Verdict(air_bps, ceiling_bps, _refusal(air_bps, ceiling_bps, counts))


def _refusal(air_bps: float, ceiling_bps: float | None, counts: MediumStatistics) -> str | None:
    if ceiling_bps is not None and ceiling_bps < HEAD_ROOM * air_bps:
        return (
            f"the CPU carries {ceiling_bps / 1e6:.2f} Mb/s without airtime, less than "
            f"{HEAD_ROOM:g} times the {air_bps / 1e6:.2f} measured"
        )
    if counts["overruns"]:
        return f"the medium lost frames {counts['overruns']} times before it saw them"
    attempts = sum(radio["attempts"] for radio in counts["radios"])
    air_s = sum(radio["air_s"] for radio in counts["radios"])
    late_s = counts["lateness"]["mean_s"]
    if attempts and late_s > air_s / attempts:
        return (
            f"the CPU handed frames over {late_s * 1e3:.1f} ms late in the mean, "
            f"more than a frame takes on the air ({air_s / attempts * 1e3:.1f} ms)"
        )
    return None
