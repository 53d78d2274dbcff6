"""The ``linux`` testbed: trials of a study on real daemons and virtual radios, here or in a guest.

Takes cells and trials; gives skips with reasons, and observations with captures, key log and
the negotiated state. A throughput of virtual radios that no air limited has a caveat. A policy that
was not negotiated gives no values.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import shutil
import tempfile
import threading
from collections.abc import Callable, Coroutine
from pathlib import Path
from random import Random
from typing import Any, Final, Protocol, TypeVar

from attrs import evolve

from airtoll import _native
from airtoll.errors import CaptureError, EnvironmentProblem, TestbedError, UsageError
from airtoll.observe.journal import BROKEN, SketchTuple
from airtoll.observe.replacing import storage_error
from airtoll.plan import Cell, Trial, abilities, gating
from airtoll.plan.levels import level_dbm, reference_db
from airtoll.plan.rates import by_level
from airtoll.policies import resolve
from airtoll.study import Scenario, Traffic
from airtoll.study.generations import band_of, queue_packets, wire_mbps, wire_queue_packets
from airtoll.study.join import Radius
from airtoll.testbeds import bridging, joining, loads, roaming
from airtoll.testbeds.contract import (
    Caution,
    Measured,
    Observed,
    Row,
    Skip,
    folder_of,
    with_whole_cell,
)
from airtoll.testbeds.domains import DOMAINS, MOBILE
from airtoll.testbeds.guest import drivers
from airtoll.testbeds.guest.contract import SHARE_IN_GUEST, Guest, alive, identity
from airtoll.testbeds.guest.uml import Errand
from airtoll.testbeds.linux import ledger, timeline, worker
from airtoll.testbeds.linux.air import devices, medium, parted_cell, rates
from airtoll.testbeds.linux.attended.prompts import Prompts
from airtoll.testbeds.linux.capability import CAPABILITY, FAULTS, MAX_STATIONS, station_names
from airtoll.testbeds.linux.daemons import credentials, hostapd
from airtoll.testbeds.linux.hosts import crypto, environment
from airtoll.testbeds.linux.hosts.cables import Cable
from airtoll.testbeds.linux.hosts.host import LocalHost
from airtoll.testbeds.linux.hosts.plain import read
from airtoll.testbeds.linux.job import Flow, Foreign, Job, Outcome, Value
from airtoll.testbeds.linux.laboratory import beforehand, lab_cells
from airtoll.testbeds.linux.laboratory.bench import Laboratory
from airtoll.testbeds.linux.laboratory.lab import Lab
from airtoll.testbeds.linux.stack import ACCESS_POINTS, STATIONS, Stack
from airtoll.testbeds.linux.timeline import Timeline
from airtoll.testbeds.linux.trial import handover, newcomers
from airtoll.testbeds.linux.walking import Walk
from airtoll.testbeds.linux.worker import Measure, Open, Worker
from airtoll.testbeds.resolve import station_list

#: Wall time around the traffic itself, seconds: here, and in an emulated guest.
_OVERHEAD_S: Final = {False: 3.0, True: 12.0}
#: Begins the names of scratch folders; each holds the identity of its owner.
_SCRATCH: Final = "airtoll-linux-"
_OWNER: Final = "owner"
_WORKER_MODULE: Final = "airtoll.testbeds.linux.worker"
_WORKER: Final = f"{_WORKER_MODULE}:handle"
#: Names of runs, nodes and trials in virtual time: the same in every guest.
_VIRTUAL_RUN: Final = "0a1b2c3d"
#: CPU time that a guest in virtual time may take: once, and per second of traffic.
_PATIENCE_S: Final = 300.0
_PATIENCE: Final = 120.0
#: G.711 with 20 ms in a packet: 160 octets and RTP's 12 (RFC 3551 section 4.5.14, RFC 3550).
_CALL_OCTETS: Final = 172
_CALL_INTERVAL_S: Final = 0.02
#: Packets that wait for a RADIUS server's cable: more than ever do.
_RADIUS_QUEUE: Final = 1000
_TLS: Final = 'join.tls = "1.2-rsa": the daemons agreed on TLS 1.2 with ECDHE (see outcome.json)'
_NO_AIRTIME: Final = frozenset({medium.NO_AIR})
T = TypeVar("T")


class Session(Protocol):
    """A place where jobs are carried out."""

    def open(self, run_id: str, secret: credentials.Credentials, results: Path) -> dict[str, str]:
        """Build the nodes; files of trials appear in ``results`` on this host."""

    def measure(self, job: Job) -> Outcome:
        """Carry out one job."""

    def close(self) -> None:
        """Stop everything."""


class Linux:
    """Trials on hostapd, wpa_supplicant and other real daemons. One trial at a time.

    ``vm``: in a throw-away guest instead of on this host; a name says which driver carries it
    (``guest.drivers``), otherwise the fastest that works does. ``lab``: on the hosts of a
    laboratory. ``real_stations``: how many stations of a cell have daemons, where the medium
    simulates the others; None: all of them. ``secret``: names and secrets, None: new ones.
    """

    name = "linux"

    def __init__(
        self,
        *,
        vm: bool | str = False,
        lab: Lab | None = None,
        real_stations: int | None = None,
        secret: credentials.Credentials | None = None,
        on_phase: Callable[[str], None] | None = None,
    ) -> None:
        if real_stations is not None and real_stations < 1:
            raise UsageError(f"{parted_cell.OPTION} {real_stations}: at least 1")
        if real_stations is not None and lab is not None:
            raise UsageError(f"{parted_cell.OPTION} and --lab: a laboratory has no medium")
        if vm and lab is not None:
            raise UsageError("--vm and --lab: the guest has no way to the hosts of a laboratory")
        self._vm = bool(vm)
        self._driver = drivers.check_name(vm) if isinstance(vm, str) else None
        self._lab = lab
        self._real = real_stations
        self._phase = on_phase or (lambda _: None)
        self._session: Session | None = None
        #: One that is being opened.
        self._starting: Session | None = None
        self._scratch: tempfile.TemporaryDirectory[str] | None = None
        self._environment: dict[str, str] | None = None
        self._version: tuple[int, int] | None = None
        self._lacking: tuple[str, ...] | None = None
        self._baseline: dict[tuple[str, str, str], dict[str, float]] = {}
        self._opening = threading.Lock()
        self._virtual: bool | None = None
        self._carried_out = False
        self._cancelled = False
        #: One network name and one set of secrets for all sessions: a person types them once.
        self._secret: credentials.Credentials | None = secret
        #: Answers of the hosts of a laboratory before the first trial; None: they were not asked.
        self.asked: beforehand.Asked | None = None
        #: Where a person reads the steps of stations that airtoll cannot drive; None: a terminal.
        self.prompts: Prompts | None = None

    @property
    def secret(self) -> credentials.Credentials:
        """Names and secrets of all sessions."""
        self._secret = self._secret or credentials.fresh()
        return self._secret

    @property
    def parallel(self) -> bool:
        """Whether each trial has a guest of its own, whose time no other guest takes."""
        return self._in_virtual_time()

    def ask_hosts(self) -> list[str]:
        """Ask the hosts of a laboratory what they can do; a line for each that does not answer."""
        if self._lab is None:
            return []
        self.asked = asyncio.run(beforehand.ask(self._lab))
        return self.asked.lines()

    def check(self, cell: Cell) -> Skip | None:
        """Why the cell cannot be carried out, or None."""
        in_lab = self._lab is not None
        foreign = self._lab is not None and (self._lab.lab.ap is not None or self._lab.wired)
        reason = (
            self.missing()
            or CAPABILITY.why_not_policy(cell.security, self._hostapd_version(), foreign=foreign)
            or (None if in_lab else _lacking(cell))
            or joining.why_not(cell, [cell.security])
            or bridging.why_not(cell)
            or roaming.why_not(cell, [cell.security] * len(station_names(cell.settings)))
            or loads.why_not(cell)
            or CAPABILITY.why_not(
                cell,
                medium=self._without_medium(),
                virtual=self._without_virtual_time(),
                laboratory=in_lab,
            )
            or self._station_reason(cell)
            or parted_cell.why_not(cell, self._real, self._without_virtual_time())
            or self._channel_reason(cell)
            or self._lab_reason(cell)
        )
        return Skip(reason) if reason else None

    def cautions(self, cell: Cell) -> tuple[Caution, ...]:
        """None are known before a trial."""
        return ()

    def expected_s(self, cell: Cell) -> float:
        """Rough wall time of one trial, seconds."""
        load, settings = cell.load, cell.settings
        spent_s = load.duration_s
        if load.transfer_bytes is not None and settings.rate_mbps is not None:
            # A transfer ends when it is through; half of a PHY rate is throughput, roughly.
            each_s = 8 * load.transfer_bytes / (0.5e6 * settings.rate_mbps)
            spent_s = min(spent_s, each_s * len(station_names(settings)))
        return spent_s + _OVERHEAD_S[self._vm]

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        """Carry out one trial; in ``captures`` it gets a folder named by cell and trial.

        The folder holds air.pcap, wire.pcap, keys.json, outcome.json and the configurations.

        A stack or a guest that broke is a failure by name, and the next trial starts anew. Raises
        ``EnvironmentProblem`` where none can be started, and ``TestbedError`` where one breaks
        before this testbed has carried out any trial.
        """
        return self.carry(trial, captures)

    def carry(
        self, trial: Trial, captures: Path | None = None, foreign: Foreign | None = None
    ) -> Measured:
        """As ``measure``; ``foreign``: the access point, where this testbed does not drive it."""
        cell = trial.cell
        place = (cell.scenario, cell.traffic, cell.factors_json)
        job = job_of(
            trial, capture=captures is not None, lab=self._lab, real=self._real, foreign=foreign
        )
        own = None if captures is None else captures / folder_of(trial)
        try:
            measured, usage = self._measure(job, own)
        except EnvironmentProblem:
            raise
        except TestbedError as error:
            if not self._carried_out or self._cancelled:
                raise
            return Measured(failure=f"{BROKEN}{error}")
        if cell.security.is_baseline and usage:
            self._baseline[place] = usage
        said: list[str] = []
        if cell.profile_names and not devices.charged(cell) and self._lab is None:
            said.append("profile_set has no effect: the real devices are what they are")
        if self._lab is not None:
            said += [
                f"{key} is left out: {why}" for key, why in CAPABILITY.left_out_of(cell).items()
            ]
        if (cell.settings.queue_packets or 0) > medium.MOST_FRAMES and self._lab is None:
            said.append(
                f"queues hold {medium.MOST_FRAMES} frames, not {cell.settings.queue_packets}"
            )
        if cell.load.series and not any(row.second is not None for row in measured.rows):
            said.append("no values per second: the flow goes both ways, or is no stream")
        if cell.settings.authenticate and cell.settings.join.tls == "1.2-rsa":
            method = cell.security.link.eap_method
            said += [_TLS] if method is not None and method.uses_tls else []
        if usage and place in self._baseline:
            rise = crypto.risen(cell.policy, self._baseline[place], usage)
            said += [rise] if rise else []
        return evolve(measured, caveats=(*measured.caveats, *said))

    def carry_out(self, job: Job, captures: Path | None = None) -> Measured:
        """Carry out one job and read its captures."""
        return self._measure(job, captures)[0]

    def _measure(self, job: Job, captures: Path | None) -> tuple[Measured, dict[str, float]]:
        session = self._opened()
        assert self._scratch is not None
        results = Path(self._scratch.name) / "trials"
        try:
            outcome = session.measure(job)
        except Exception:
            # Remains of a broken stack must not affect the next trial.
            if not isinstance(session, _VirtualSession):
                self.close()
            raise
        self._carried_out = True
        folder = results / job.name
        measured = _with_timeline(outcome, job, folder)
        files: tuple[Path, ...] = ()
        if captures is not None:
            try:
                captures.mkdir(parents=True, exist_ok=True)
                (folder / "outcome.json").write_text(_summary(outcome))
                for path in sorted(folder.iterdir()):
                    # Keys are in it, and captures hold what they decrypt.
                    (captures / path.name).touch(mode=0o600)
                    shutil.copyfile(path, captures / path.name)
            except OSError as error:
                # Half a trial's files would pass for all of them.
                shutil.rmtree(captures, ignore_errors=True)
                raise storage_error(captures, error) from error
            files = tuple(captures / path.name for path in sorted(folder.iterdir()))
        shutil.rmtree(folder, ignore_errors=True)
        return evolve(measured, files=files), outcome.conditions.cpu

    def ask(self, work: Callable[[Stack], Coroutine[Any, Any, T]]) -> T:
        """The answer of the hosts of a laboratory to something other than a trial."""
        session = self._opened()
        if not isinstance(session, _HostSession):
            raise UsageError("linux: only the hosts of a laboratory are asked between trials")
        return session.ask(work)

    @property
    def guest_pid(self) -> int | None:
        """The process id of the guest, if one is running."""
        return self._session.pid if isinstance(self._session, _GuestSession) else None

    def environment(self) -> dict[str, str]:
        """Kernel, tools and settings."""
        if self._environment is None:
            self._environment = _tools()
        place = "guest" if self._vm else "host"
        if self._lab is None:
            return {"linux": place, **self._environment}
        hand = [name for name, host in self._lab.host.items() if host.by == "hand"]
        driven = {"driven_by_hand": ", ".join(hand)} if hand else {}
        return {"linux": f"laboratory {self._lab.lab.name}", **driven, **self._environment}

    def cancel(self) -> None:
        """A trial in progress ends with its session."""
        self._cancelled = True
        self.close()

    def close(self) -> None:
        """Stop the daemons, the nodes and the guest."""
        starting = self._starting
        if starting is not None:
            with contextlib.suppress(TestbedError):
                starting.close()
        # A session that another thread opens writes into the folder, and may stand all the same.
        with self._opening:
            session, self._session = self._session, None
            if session is not None:
                with contextlib.suppress(TestbedError):
                    session.close()
            if self._scratch is not None:
                self._scratch.cleanup()
                self._scratch = None

    def _opened(self) -> Session:
        with self._opening:
            return self._opened_once()

    def _opened_once(self) -> Session:
        if self._cancelled:
            raise TestbedError("linux: cancelled before the stack stood")
        if self._session is None:
            _sweep()
            self._scratch = tempfile.TemporaryDirectory(prefix=_SCRATCH)
            results = Path(self._scratch.name)
            (results / _OWNER).write_text(identity(os.getpid()))
            session = self._starting = self._session_of_this_kind()
            self._phase(self._first_phase())
            try:
                described = session.open(secrets.token_hex(4), self.secret, results)
            except BaseException:
                session.close()
                raise
            finally:
                self._starting = None
            self._phase("")
            self._session = session
            self._environment = {**_tools(), **described}
        return self._session

    def _first_phase(self) -> str:
        if not self._vm:
            return "starting the nodes"
        slower = drivers.shortfall() if self._driver is None else ""
        return f"starting an emulated guest: {slower}" if slower else "starting the guest"

    def _session_of_this_kind(self) -> Session:
        if not self._vm:
            return _HostSession(self._lab, self.prompts)
        program = _program()
        if program is not None and self._in_virtual_time():
            return _VirtualSession(program)
        return _GuestSession(self._driver)

    def _in_virtual_time(self) -> bool:
        if self._virtual is None:
            # Without airtime nothing would slow a sender down whose CPU takes no time.
            with_air = self._vm and medium.find() is not None
            self._virtual = with_air and drivers.has_virtual_time(self._driver)
        return self._virtual

    def _lab_reason(self, cell: Cell) -> str | None:
        if self._lab is None:
            return None
        if reason := lab_cells.why_not(cell, self._lab, flow_of(cell.settings, cell.load)):
            return reason
        stations = len(station_names(cell.settings))
        return None if self.asked is None else self.asked.why_not(cell, stations)

    def _channel_reason(self, cell: Cell) -> str | None:
        asked = cell.settings.operating_channel_validation and cell.security.link.pmf != "off"
        if not asked or self._lab is not None:
            return None  # the hosts of a laboratory have daemons of their own
        if self._lacking is None:
            self._lacking = environment.without_channel_validation()
        if not self._lacking:
            return None
        return (
            f"operating_channel_validation: {' and '.join(self._lacking)} of this machine: built "
            "without it (CONFIG_OCV); Debian's have it"
        )

    def _station_reason(self, cell: Cell) -> str | None:
        if self._lab is not None:
            return None  # as many as its file names
        settings = cell.settings
        every = station_names(settings)
        count = len(parted_cell.names(settings, self._real)[0] if self._real else every)
        if self._lab is None and self._in_virtual_time():
            if count <= MAX_STATIONS:
                return None
            kind = "stations with real daemons" if self._real else "stations"
            remedy = (
                f"{parted_cell.OPTION} {MAX_STATIONS}, or fewer, has the medium simulate the others"
            )
            return f"{count} {kind}; this testbed drives {MAX_STATIONS}; {remedy}"
        if count > STATIONS:
            return (
                f"{count} stations; this testbed drives {STATIONS}, and {MAX_STATIONS} in virtual "
                "time (--vm, after airtoll guest build --driver uml)"
            )
        moves = cell.settings.handover
        if self._lab is None and moves is not None and max(moves.path) > ACCESS_POINTS:
            return (
                f"handover.path: {max(moves.path)} access points; this testbed drives "
                f"{ACCESS_POINTS}, and more in virtual time (--vm, after airtoll guest build "
                "--driver uml)"
            )
        return None

    def _without_medium(self) -> str | None:
        """Why there is no medium between the radios; None where nothing needs one."""
        # In a laboratory the radios are where they are; a caveat says so.
        if self._lab is not None or medium.find() is not None:
            return None
        return f"{medium.PROGRAM} is not installed: make build"

    def _without_virtual_time(self) -> str | None:
        """Why trials are not in virtual time, or None."""
        if self._lab is not None:
            return "the devices of a laboratory take the time that they take"
        if self._in_virtual_time():
            return None
        return "--vm, after airtoll guest build --driver uml"

    def missing(self) -> str | None:
        """The tools that this host lacks, with the command that installs them, or None."""
        if self._lab is not None:
            return None  # the hosts have the tools; one that lacks its own is named by the trial
        absent = [tool for tool in environment.TOOLS if shutil.which(tool) is None]
        if absent:
            packages = sorted({environment.TOOLS[tool][0] for tool in absent})
            return f"{', '.join(absent)} missing: {environment.install(packages)}"
        return None

    def _hostapd_version(self) -> tuple[int, int]:
        if self._version is None:
            known = self.environment().get("hostapd", "0.0")
            self._version = hostapd.parse_version(f"v{known}")
        return self._version


def _lacking(cell: Cell) -> str | None:
    chosen = {s.name: gating.policy_of(cell, s) for s in cell.settings.stations}
    return abilities.why_not(cell, chosen)


def job_of(
    trial: Trial,
    *,
    capture: bool = False,
    lab: Lab | None = None,
    real: int | None = None,
    foreign: Foreign | None = None,
) -> Job:
    """The job of a study's trial; ``real``: how many stations have daemons, None for all."""
    cell = trial.cell
    channel = None if lab is None else lab.lab.channel_of(band_of(cell.settings))
    settings, load = cell.settings, cell.load
    levels: dict[str, float] = {}
    for station in station_list(settings):
        level = level_dbm(settings, station)
        if level is not None:
            levels[MOBILE if settings.topology in DOMAINS else station.name] = level
    moves = settings.handover
    points = ACCESS_POINTS if moves is None else max(ACCESS_POINTS, *moves.path)
    own: tuple[str, ...] = tuple(station_names(settings))
    simulated: tuple[str, ...] = ()
    flow = flow_of(settings, load)
    if real is not None:
        own, simulated = parted_cell.names(settings, real)
    return Job(
        name=f"{secrets.token_hex(3)}-{trial.number}-{trial.attempt}",
        policy=cell.policy,
        stations=own,
        simulated=simulated,
        phy=settings.phy,
        channel=channel or (1 if settings.phy in ("802.11b", "802.11g") else 36),
        rate_mbps=settings.rate_mbps,
        mcs=_mcs(settings, load.duration_s) if settings.phy in rates.HT else None,
        streams=settings.streams,
        width_mhz=settings.width_mhz,
        guard_interval_ns=settings.guard_interval_ns or 800,
        beacon_interval_tu=settings.beacon_interval_tu,
        channel_validation=settings.operating_channel_validation,
        chain=settings.join.chain if settings.authenticate else "rsa2048",
        tls="1.3" if settings.authenticate and settings.join.tls == "1.3" else "1.2",
        station_to_station=settings.topology == "station-to-station",
        domains=settings.topology if settings.topology in DOMAINS else None,
        registration=_registration(settings),
        bridges=tuple(s.name for s in station_list(settings) if settings.bridges(s)),
        roam="none" if moves is None else "forced",
        roams=0 if moves is None else handover.moves_before(moves.method, points),
        handover="none" if moves is None else moves.method,
        handover_at_s=0.0 if moves is None else moves.at_s,
        handover_path=(2,) if moves is None else moves.path,
        handover_every_s=1.0 if moves is None else moves.every_s,
        walk=walk_of(settings),
        access_points=points,
        deauthenticate_at_s=settings.join.deauthenticate_at_s if settings.authenticate else None,
        fault=FAULTS[settings.join.fault] if settings.authenticate else "none",
        flow=flow,
        capture_traffic=capture,
        short_preamble=settings.preamble == "short",
        levels_dbm=tuple(levels.items()),
        hidden=settings.hidden,
        noise_figure_db=settings.radio.noise_figure_db,
        carrier_sense_dbm=settings.radio.carrier_sense_dbm,
        queue_frames=queue_packets(settings),
        seed=trial.seed,
        cable=_cable(settings),
        radius_cable=_radius_cable(settings),
        proxies=_proxies(settings),
        neighbours_known=settings.address_resolution == "static",
        devices=devices.of_cell(cell),
        joins_at_s=_joins_at_s(settings, own, trial.seed),
        foreign=foreign,
        hostapd_lines=() if lab is None else _hostapd_lines(settings),
        rts_octets=None if lab is None else settings.rts_threshold_octets,
        fragment_octets=None if lab is None else settings.fragmentation_threshold_octets,
    )


def _hostapd_lines(settings: Scenario) -> tuple[str, ...]:
    """Settings of an access point that only a laboratory carries out."""
    lines = []
    if "dtim_period" in settings.model_fields_set:
        lines.append(f"dtim_period={settings.dtim_period}")
    if settings.rts_threshold_octets is not None:
        lines.append(f"rts_threshold={settings.rts_threshold_octets}")
    if settings.fragmentation_threshold_octets is not None:
        lines.append(f"fragm_threshold={settings.fragmentation_threshold_octets}")
    if settings.preamble is not None:
        lines.append(f"preamble={int(settings.preamble == 'short')}")
    if settings.isolation:
        lines.append("ap_isolate=1")
    if settings.basic_rates_mbps and settings.rate_mbps is None:
        rates = " ".join(str(round(10 * rate)) for rate in settings.basic_rates_mbps)
        lines.append(f"basic_rates={rates}")
    return tuple(lines)


def _joins_at_s(
    settings: Scenario, names: tuple[str, ...], seed: int
) -> tuple[tuple[str, float], ...]:
    """When stations begin to join during the traffic, with the random part of join.spread_ms."""
    random = Random(f"joins of {seed}")
    spread_s = settings.join.spread_ms / 1e3 if settings.authenticate else 0.0
    return tuple(
        (station.name, station.joins_at_s + random.uniform(0.0, spread_s))
        for station in station_list(settings)
        if station.joins_at_s is not None and station.name in names
    )


def walk_of(settings: Scenario) -> Walk | None:
    """The walk of a study's first station, with the positions of the access points."""
    moves, begin = settings.handover, settings.stations[0].position_m if settings.stations else None
    if moves is None or moves.walk is None or begin is None:
        return None
    walk, radio = moves.walk, settings.radio
    return Walk(
        begin_m=begin,
        end_m=walk.to_m,
        back=walk.back,
        speed_m_s=walk.speed_m_s,
        access_points_m=tuple(
            roaming.place(settings, number) for number in range(1, max(2, *moves.path) + 1)
        ),
        at_one_metre_dbm=radio.tx_power_dbm - reference_db(settings),
        exponent=radio.path_loss_exponent,
        threshold_dbm=walk.threshold_dbm,
        hysteresis_db=walk.hysteresis_db,
        again_s=moves.again_s,
    )


def _mcs(settings: Scenario, duration_s: float) -> int:
    """The one MCS of a trial: the stated one, or the highest that all stations support."""
    if settings.mcs is not None:
        return settings.mcs
    stations = station_list(settings)
    chosen = [by_level(settings, station, duration_s) for station in stations]
    return min((one.mcs for one in chosen if one is not None), default=0)


def _cable(settings: Scenario) -> Cable:
    wired = settings.wired
    rate_bps = wire_mbps(wired, settings.phy) * 1e6
    return Cable(rate_bps, wired.delay_us * 1e-6, wire_queue_packets(wired))


def _radius_cable(settings: Scenario) -> Cable | None:
    """The cable of the RADIUS server, where it is another than a server's beside the switch."""
    own, plain = settings.radius, Radius()
    values = (own.rate_mbps, own.delay_ms, own.loss_ratio)
    if not settings.authenticate or settings.topology in DOMAINS:
        return None
    if values == (plain.rate_mbps, plain.delay_ms, plain.loss_ratio) and not own.chain:
        return None
    return Cable(own.rate_mbps * 1e6, own.delay_ms * 1e-3, _RADIUS_QUEUE, own.loss_ratio)


def _proxies(settings: Scenario) -> tuple[Cable, ...]:
    """The cables of RADIUS proxies, that of the access point first."""
    if not settings.authenticate or settings.topology in DOMAINS:
        return ()
    return tuple(
        Cable(one.rate_mbps * 1e6, one.delay_ms * 1e-3, _RADIUS_QUEUE, one.loss_ratio)
        for one in settings.radius.chain
    )


def flow_of(settings: Scenario, load: Traffic) -> Flow:
    """The flow of a study's traffic in a scenario."""
    direction = load.direction or ("down" if settings.topology == "downlink" else "up")
    window = load.window_kbytes or load.socket_buffer_kbytes
    if load.application == "voip":
        # G.711: what a codec sends in each direction, whatever the network does.
        return Flow(
            transport="udp",
            ip=load.ip,
            direction="both",
            offered_bps=8 * _CALL_OCTETS / _CALL_INTERVAL_S,
            payload_octets=_CALL_OCTETS,
            duration_s=load.duration_s,
            warm_up_s=load.warm_up_s,
            stations=load.stations,
            series=load.series,
            access_category=load.wmm,
        )
    return Flow(
        transport=load.transport,
        ip=load.ip,
        direction=direction,
        application=load.application,
        offered_bps=None if load.offered_mbps is None else load.offered_mbps * 1e6,
        payload_octets=load.payload_bytes,
        write_octets=load.write_bytes,
        mss_octets=load.mss_bytes,
        window_octets=None if window is None else round(window * 1024),
        congestion_control=load.tcp,
        access_category=load.wmm,
        transfer_octets=load.transfer_bytes,
        request_octets=load.request_bytes,
        response_octets=load.response_bytes,
        duration_s=load.duration_s,
        warm_up_s=load.warm_up_s,
        per_station=load.flows_per_station,
        stations=load.stations,
        series=load.series,
    )


def _registration(settings: Scenario) -> str:
    """A mobile node abroad always registers; otherwise no packet would reach it."""
    if settings.topology not in DOMAINS:
        return "off"
    if DOMAINS[settings.topology].mobile_ap == "ap-2":
        return "foreign"
    return settings.join.mobile_ip if settings.authenticate else "off"


def _with_timeline(outcome: Outcome, job: Job, folder: Path) -> Measured:
    if outcome.failure is not None:
        return Measured(failure=outcome.failure, caveats=outcome.caveats)
    values: list[Value] = list(outcome.values)
    caveats = list(outcome.caveats)
    if "air.pcap" not in outcome.files:
        caveats.append("no host has a monitor interface: no times from the air, no look at it")
        return Measured(_rows(values), _sketches(outcome), caveats=tuple(caveats))
    try:
        owners = {ip: outcome.stations[n] for n, own in outcome.addresses.items() for ip in own}
        keys = list(ledger.key_words(outcome.keys))
        # One tunnel alone holds nothing that a negotiation sends.
        nested = len(resolve(job.policy).tunnels) > 1
        seen = timeline.read(
            folder / "air.pcap",
            folder / "wire.pcap",
            owners,
            keys,
            key_logs=[folder / "keys.json"] if nested else [],
            inside=sorted(folder.glob("inside-*.pcap")),
        )
    except (CaptureError, OSError) as error:
        return Measured(failure=f"linux: the capture cannot be read: {error}")
    encrypts = _encrypts(job.policy)
    for name, address in outcome.stations.items():
        values += timeline.values(seen, address, name)
        if job.handover != "none" and name == job.stations[0]:
            if wrong := _handovers(outcome, job, seen, values):
                return Measured(failure=f"{name}: {wrong}")
            if not outcome.conditions.departures:
                caveats.append(f"{name}: did not move during the walk")
        protected, clear = seen.protected(address)
        if encrypts and protected == 0 and name in outcome.conditions.skipped_by_hand:
            caveats.append(f"{name}: no data of it was seen on the air")
        elif encrypts and protected == 0:
            return Measured(failure=f"{name}: no data frame was protected on the air")
        if not encrypts and protected > 0:
            return Measured(failure=f"{name}: {protected} data frames were protected; none should")
        if encrypts and clear > 0:
            caveats.append(f"{name}: {clear} data frames went in clear before the keys were set")
    values += newcomers.of_cell(values, dict(job.joins_at_s))
    values += _ledger(outcome, job, folder, caveats)
    return Measured(_rows(values), _sketches(outcome), caveats=tuple(caveats))


def _handovers(outcome: Outcome, job: Job, seen: Timeline, values: list[Value]) -> str | None:
    """Put the rows of the hand-overs into ``values``; gives what is wrong with them, or None."""
    name = job.stations[0]
    values[:] = [value for value in values if value.metric != "handover_gap_s"]
    departures = outcome.conditions.departures
    moves = handover.moves_of(seen, outcome.stations[name], len(departures))
    if len(moves) < len(departures):
        return (
            f"the air shows {len(moves)} of {len(departures)} hand-overs between its data; "
            "send more often, or leave more time between them"
        )
    visited = {1}
    path = job.handover_path if job.walk is None else ()
    for number, move in zip(path, moves, strict=False):
        if wrong := handover.problem(job.handover, move, visited=number in visited):
            return wrong
        visited.add(number)
    values += handover.values(list(zip(departures, moves, strict=True)), name)
    return None


def _ledger(outcome: Outcome, job: Job, folder: Path, caveats: list[str]) -> list[Value]:
    """The airtime ledger, where the capture holds the traffic and the trial had an air."""
    window = outcome.conditions.traffic_window
    verdict = outcome.conditions.verdict
    if job.simulated and job.capture_traffic:
        caveats.append("not taken apart: a capture does not hold frames of simulated stations")
        return []
    if not job.capture_traffic or window is None or outcome.conditions.skipped_by_hand:
        return []
    if _NO_AIRTIME & set(outcome.caveats) or (verdict is not None and verdict.refusal is not None):
        return []  # the air did not limit the traffic
    if resolve(job.policy).tunnels:
        caveats.append("not taken apart: a capture of the air does not show what a tunnel adds")
        return []
    try:
        rows, missing = ledger.values(
            folder / "air.pcap",
            outcome.keys,
            window,
            outcome.conditions.air,
        )
    except CaptureError as error:
        rows, missing = [], f"not taken apart: {error}"
    if missing is not None:
        caveats.append(missing)
    elif not any(row.metric == "airtime_ack_s" for row in rows):
        caveats.append(
            "airtime_retry_share is missing: the capture does not tell the acknowledgements' rate"
        )
    return rows


def _rows(values: list[Value]) -> Observed:
    rows = [Row(v.metric, v.value, v.unit, v.flow, v.station, v.second) for v in values]
    return with_whole_cell(rows)


def _sketches(outcome: Outcome) -> tuple[SketchTuple, ...]:
    """Distributions over the packets of the trial, in the bins of the simulator's."""
    found = []
    for each in outcome.distributions:
        # A step of the clock may make a delay negative.
        bins, counts = _native.sketch([max(0, time_ns) for time_ns in each.nanoseconds])
        found.append((each.metric, each.flow, each.station, tuple(bins), tuple(counts)))
    return tuple(found)


def _encrypts(policy: str) -> bool:
    return resolve(policy).link.encrypts_data


def _summary(outcome: Outcome) -> str:
    data = outcome.to_json()
    kept = {k: data[k] for k in ("failure", "caveats", "negotiated", "conditions", "stations")}
    return json.dumps({**kept, "access_points": data["access_points"]}, indent=1) + "\n"


def _sweep() -> None:
    """Remove the scratch folders of killed owners; one without an owner is just being made."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_SCRATCH}*"):
        owner = folder / _OWNER
        with contextlib.suppress(OSError):
            if owner.exists() and not alive(owner.read_text()):
                shutil.rmtree(folder, ignore_errors=True)


def _program() -> str | None:
    found = medium.find()
    return None if found is None else str(found)


def _tools() -> dict[str, str]:
    return asyncio.run(environment.tools(LocalHost("this host", "none")))


class _HostSession:
    """The stack on this machine, or driven from it."""

    def __init__(self, lab: Lab | None, prompts: Prompts | None = None) -> None:
        self._worker = Worker()
        self._lab = lab
        self._prompts = prompts

    def open(self, run_id: str, secret: credentials.Credentials, results: Path) -> dict[str, str]:
        if self._lab is not None:
            laboratory = Laboratory(
                run_id, secret, results / "trials", self._lab, prompts=self._prompts
            )
            return {**self._worker.open_stack(laboratory), "accelerator": "none"}
        if os.geteuid() != 0:
            raise EnvironmentProblem("linux: namespaces and radios need root; or use --vm")
        described = self._worker.open(run_id, secret, results / "trials", _program())
        return {**described, "accelerator": "none"}

    def measure(self, job: Job) -> Outcome:
        return self._worker.measure(job)

    def ask(self, work: Callable[[Stack], Coroutine[Any, Any, T]]) -> T:
        return self._worker.ask(work)

    def close(self) -> None:
        self._worker.close()


class _VirtualSession:
    """Every job in a guest of its own, in virtual time: a trial depends on no other trial."""

    def __init__(self, program: str) -> None:
        self._program = program
        self._results = Path()
        self._credentials: dict[str, object] = {}
        self._errands: list[Errand] = []
        self._closed = False
        self.pid: int | None = None

    def open(self, run_id: str, secret: credentials.Credentials, results: Path) -> dict[str, str]:
        self._results = results
        # The seed of the run has no part in keys, so that equal trials of two runs are equal.
        answer = self._send(f"{_WORKER_MODULE}:prepare", None, 0, _PATIENCE_S, results / "prepare")
        self._credentials = read(dict[str, object], answer)
        guest = Errand(results / "prepare")
        return {
            "kernel": guest.kernel_release,
            "air": medium.PROGRAM,
            "accelerator": guest.accelerator,
            "guest_time": guest.clock,
        }

    def measure(self, job: Job) -> Outcome:
        share = self._results / "shares" / job.name
        request = worker.Errand(
            run_id=_VIRTUAL_RUN,
            credentials=self._credentials,
            results=f"{SHARE_IN_GUEST}/trials",
            medium=self._program,
            job=evolve(job, name=_VIRTUAL_RUN).to_json(),
        )
        limit_s = _PATIENCE_S + _PATIENCE * (job.flow.duration_s if job.flow else 0)
        try:
            answer = self._send(f"{_WORKER_MODULE}:carry_out", request, job.seed, limit_s, share)
            (self._results / "trials").mkdir(exist_ok=True)
            (share / "trials" / _VIRTUAL_RUN).rename(self._results / "trials" / job.name)
        finally:
            shutil.rmtree(share, ignore_errors=True)
        return Outcome.from_json(read(dict[str, object], answer)["outcome"])

    def _send(
        self, function: str, argument: object, seed: int, limit_s: float, share: Path
    ) -> object:
        errand = Errand(share)
        self._errands.append(errand)
        try:
            if self._closed:
                raise TestbedError("linux: the guests have been stopped")
            return errand.carry_out(function, argument, seed=seed, limit_s=limit_s)
        finally:
            self._errands.remove(errand)

    def close(self) -> None:
        self._closed = True
        for errand in list(self._errands):
            errand.stop()


class _GuestSession:
    """The stack in a guest; its files come over the share."""

    def __init__(self, driver: str | None) -> None:
        self._driver = driver
        self._guest: Guest | None = None
        self.pid: int | None = None
        self._stack = contextlib.ExitStack()

    def open(self, run_id: str, secret: credentials.Credentials, results: Path) -> dict[str, str]:
        program = _program()
        # An air in real time needs a CPU that is never late, and so does mac80211, which asks
        # again after 200 ms: an emulated CPU beside other work always is.
        guest = drivers.make(results, self._driver, dilated=True)
        self._guest = self._stack.enter_context(guest)
        self.pid = self._guest.pid
        request = Open(
            op="open",
            run_id=run_id,
            credentials=secret.to_json(),
            results=f"{SHARE_IN_GUEST}/trials",
            medium=program,
        )
        answer = self._guest.call(_WORKER, request, timeout_s=240 * self._guest.patience)
        described = read(dict[str, str], answer)
        return {
            **described,
            "accelerator": self._guest.accelerator,
            "guest_time": self._guest.clock,
        }

    def measure(self, job: Job) -> Outcome:
        assert self._guest is not None
        limit = 240 + 4 * (job.flow.duration_s if job.flow else 0)
        request = Measure(op="measure", job=job.to_json())
        answer = self._guest.call(_WORKER, request, timeout_s=limit * self._guest.patience)
        return Outcome.from_json(answer)

    def close(self) -> None:
        # Powering off ends everything inside; asking first would only take longer.
        self._stack.close()
