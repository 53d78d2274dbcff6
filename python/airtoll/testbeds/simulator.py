"""The simulator as a testbed: fast, deterministic, no root and no radio.

Takes trials; gives what the simulated world shows. One native call per trial; it releases the
interpreter lock and ends early when asked. Never uses a seed but the trial's own.
"""

from __future__ import annotations

import math
import shutil
from functools import lru_cache
from pathlib import Path

from airtoll import _native
from airtoll.errors import Interrupted, ProfileError, TrialFault
from airtoll.observe.metrics import LIMIT, WEAK
from airtoll.observe.replacing import storage_error
from airtoll.plan import Cell, Trial, multi_link, resolved
from airtoll.study.generations import HIGHEST_MBPS, queue_packets, wire_mbps
from airtoll.study.join import Join
from airtoll.testbeds import (
    bridging,
    cards,
    daily,
    first_join,
    joining,
    limiting,
    loads,
    neighbours,
    passers_by,
    path_mtu,
    roaming,
    settling,
    station_rates,
    unpriced,
)
from airtoll.testbeds.contract import (
    Caution,
    Measured,
    Observed,
    Row,
    Skip,
    folder_of,
    observed,
    observed_of,
    sketches_of,
    with_whole_cell,
)
from airtoll.testbeds.first_join import added, at_home
from airtoll.testbeds.resolve import handed_over, native, station_list
from airtoll.testbeds.simulated import CAPABILITY
from airtoll.testbeds.stated import in_study

#: For estimates of how long a run takes, all of them rough.
_SIMULATED_S_PER_S = 700.0
_STATIONS_AT_HALF_SPEED = 50
#: Slowdown by MHz of the channel, where A-MPDUs carry more packets than 802.11a does.
_SLOWDOWN_PER_MHZ = {"802.11n": 0.035, "802.11ac": 0.05, "802.11ax": 0.07, "802.11be": 0.07}
#: CPU seconds of a packet that a saturated sender behind a wire offers, most of them for nothing.
_OFFERED_S = 0.14e-6
#: CPU seconds of a packet of a paced flow that a full queue refuses, of a flow before it starts.
_REFUSED_S, _FLOW_S = 0.25e-6, 80e-6
#: Rate of PHYs whose rate follows from MCS, streams and width, for estimates, Mb/s.
_FASTEST_MBPS = 1000.0
#: Least cost of a second at a low rate, which carries few frames, against one at the common rate.
_LEAST_SHARE = 0.2
#: CPU seconds of a trial of any length: its check, its scenario and its line in the journal.
_TRIAL_S = 0.003
#: CPU seconds of one station's join: without and with public-key operations, and of a tunnel.
_JOIN_S, _PUBLIC_KEY_S, _TUNNEL_S = 0.0004, 0.0025, 0.0027
#: CPU seconds of signatures of SLH-DSA with small parameters, in one join.
_SLH_DSA_S = 0.25
#: Rate of a call in one direction, with its headers' share of a frame's cost, Mb/s.
_CALL_MBPS = 0.08
_COMMON_RATE_MBPS = 54.0
_SHARE_OF_RATE = 0.4


class Simulator:
    """The embedded default testbed."""

    name = "simulator"
    parallel = True

    def __init__(self) -> None:
        self._cancel = _native.Cancel()

    def check(self, cell: Cell) -> Skip | None:
        """``None`` if the simulator models all of the cell."""
        of = resolved(cell)
        policies = of.policies
        problem = (
            CAPABILITY.why_not(cell)
            or of.refusal
            or cards.why_not(cell)
            or multi_link.why_not(of.cell, policies)
            or neighbours.why_not(cell)
            or passers_by.why_not(cell)
            or bridging.why_not(cell)
            or loads.why_not(cell)
            or path_mtu.why_not(cell)
            or roaming.why_not(cell, policies)
            or joining.why_not(cell, policies)
            or first_join.why_not(cell)
            or daily.why_not(cell)
        )
        if problem:
            return Skip(problem)
        try:
            native(cell).check()
            if cell.settings.join.first_at_home:
                handed_over(at_home(cell)).check()
        except ProfileError as error:
            return Skip(str(error))
        except _native.InvalidScenario as error:
            return Skip(in_study(cell, error))
        except (_native.Fault, _native.PanicException) as error:
            return Skip(f"the simulator stopped while it built the cell: {error}")
        return None

    def cautions(self, cell: Cell) -> tuple[Caution, ...]:
        """The first station whose level is too low for its rate, stalled connections, fallbacks of
        its security, and queues, windows and cables that are slower than the air.
        """
        grave = [*_weak(cell), *_black_holes(cell)]
        limits = (note.removeprefix(LIMIT) for note in _limits(cell))
        said = [*resolved(cell).notes, *cards.notes(cell), *limits]
        said += [words for words in (unpriced.note(cell), daily.unknown(cell)) if words]
        return (
            *(Caution(words.removeprefix(WEAK), is_grave=True) for words in grave),
            *map(Caution, said),
        )

    def expected_s(self, cell: Cell) -> float:
        """Rough wall time of one trial, seconds."""
        stations = len(station_list(cell.settings))
        others = cell.settings.neighbours
        stations += 0 if others is None else others.count * others.stations
        simulated_s = cell.load.duration_s
        if cell.load.transfer_bytes is not None and not cell.load.beside:
            rate = 1e6 * (cell.settings.rate_mbps or _COMMON_RATE_MBPS)
            air_s = 8 * cell.load.transfer_bytes * stations / (_SHARE_OF_RATE * rate)
            simulated_s = min(simulated_s, air_s)
        simulated_s *= _share_of_saturation(cell)
        slowdown = 1 + stations / _STATIONS_AT_HALF_SPEED
        width_mhz = sum(one.width_mhz for one in multi_link.each(cell.settings))
        slowdown *= max(1.0, _SLOWDOWN_PER_MHZ.get(cell.settings.phy, 0) * width_mhz)
        if cell.settings.phy in HIGHEST_MBPS:
            rate_mbps = cell.settings.rate_mbps or HIGHEST_MBPS[cell.settings.phy]
            slowdown *= max(_LEAST_SHARE, rate_mbps / _COMMON_RATE_MBPS)
        simulation_s = simulated_s / _SIMULATED_S_PER_S * slowdown
        simulation_s += simulated_s * _offered_per_s(cell) * _OFFERED_S
        simulation_s += simulated_s * _refused_per_s(cell) * _REFUSED_S
        flows_s = _FLOW_S * stations * sum(load.flows_per_station for load in cell.load.loads)
        return _TRIAL_S + flows_s + simulation_s + stations * _join_s(cell)

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        """Simulate one trial; in ``captures`` it gets a folder named by cell and trial.

        The folder holds air.pcapng (radiotap), wire.pcapng (Ethernet) and keys.json.
        """
        own = None if captures is None else captures / folder_of(trial)
        folders = None if own is None else [str(own)]
        try:
            earlier = self._first_join(trial)
            columns = native(trial.cell).simulate([trial.seed], self._cancel, folders)
        except _native.SimulationInterrupted as error:
            raise Interrupted("interrupted; --resume continues") from error
        except (ValueError, _native.Fault, _native.PanicException) as error:
            if own is not None:
                # Half a trial's files would pass for all of them.
                shutil.rmtree(own, ignore_errors=True)
            raise TrialFault(f"the simulator stopped: {error}") from error
        except OSError as error:
            raise storage_error(own or Path(), error) from error
        (failure,) = columns["failure"]
        rows = settling.without_planned_drifts(added(observed_of(columns), earlier), trial.cell)
        if trial.control and failure is None:
            (excess,) = columns["backoff_excess_slots"]
            rows = rows.and_rows([Row("backoff_excess_slots", excess, "1")])
        caveat = None if failure is None else _partial_join(rows, trial.cell, str(failure))
        return Measured(
            rows=_finished(rows, trial.cell),
            sketches=sketches_of(columns),
            failure=None if failure is None or caveat else str(failure),
            caveats=(
                *_weak(trial.cell),
                *resolved(trial.cell).notes,
                *cards.notes(trial.cell),
                *_black_holes(trial.cell),
                *settling.fragments(trial.cell),
                *settling.causes(rows, trial.cell),
                *unpriced.caveats(trial.cell),
                *([day] if (day := daily.unknown(trial.cell)) else []),
                *_rate(trial.cell),
                *_limits(trial.cell),
                *([caveat] if caveat else []),
            ),
            files=() if own is None else tuple(sorted(own.iterdir())),
        )

    def _first_join(self, trial: Trial) -> Observed:
        """Values of the join at home that precedes the trial's own, if the study has one."""
        if not trial.cell.settings.join.first_at_home:
            return Observed()
        home = handed_over(at_home(trial.cell))
        columns = home.simulate([trial.seed], self._cancel)
        (failure,) = columns["failure"]
        if failure is not None:
            raise TrialFault(f"join at home: {failure}")
        return observed_of(columns)

    def environment(self) -> dict[str, str]:
        """The version of the native code."""
        return {"simulator": _native.__version__}

    def cancel(self) -> None:
        """End every running simulation soon."""
        self._cancel.set()

    def close(self) -> None:
        """Nothing to stop."""


def _offered_per_s(cell: Cell) -> float:
    """Datagrams a second that saturated senders behind the wire offer."""
    if cell.load.transfer_bytes is not None or cell.settings.topology == "station-to-station":
        return 0.0
    default = "down" if cell.settings.topology == "downlink" else "up"
    loads = [
        load
        for load in cell.load.loads
        if load.transport == "udp" and load.application == "stream"
        and load.offered_mbps is None and (load.direction or default) != "up"
    ]  # fmt: skip
    if not loads:
        return 0.0
    rate_mbps = wire_mbps(cell.settings.wired, cell.settings.phy)
    return 1e6 * rate_mbps / (8 * (loads[0].payload_bytes or 1472))


def _refused_per_s(cell: Cell) -> float:
    """Packets a second that queues refuse.

    Paced flows offer them beyond what the air carries. A saturated flow whose socket buffer holds
    more than the queue offers the rest of it anew whenever a packet leaves the queue.
    """
    stations = len(station_list(cell.settings))
    offered = sum(
        stations * load.flows_per_station * load.offered_mbps * 1e6
        / (8 * (load.payload_bytes or load.write_bytes or 1472))
        for load in cell.load.loads
        if load.application == "stream" and load.offered_mbps is not None
    )  # fmt: skip
    rate_mbps = cell.settings.rate_mbps or HIGHEST_MBPS.get(cell.settings.phy, _FASTEST_MBPS)
    carried = 1e6 * _SHARE_OF_RATE * rate_mbps / (8 * 1472)
    anew = sum(
        max(0.0, 1024 * load.socket_buffer_kbytes / (load.payload_bytes or 1472)
            - queue_packets(cell.settings))
        for load in cell.load.loads
        if load.transport == "udp" and load.offered_mbps is None
        and load.socket_buffer_kbytes is not None
    )  # fmt: skip
    return max(0.0, offered - carried) + anew * carried


def _share_of_saturation(cell: Cell) -> float:
    """Packets of a cell over those of a saturated one, at most 1."""
    offered = [
        _CALL_MBPS if load.application == "voip" else load.offered_mbps
        for load in cell.load.loads
        if load.application in ("stream", "voip")
    ]
    if None in offered or len(offered) < len(cell.load.loads) or cell.load.transfer_bytes:
        return 1.0
    rate = cell.settings.rate_mbps or _COMMON_RATE_MBPS
    stations = len(station_list(cell.settings))
    offered_mbps = stations * math.fsum(one for one in offered if one is not None)
    small = max(1.0, 1472 / min(load.payload_bytes or 1472 for load in cell.load.loads))
    return min(1.0, small * offered_mbps / (_SHARE_OF_RATE * rate))


def _join_s(cell: Cell) -> float:
    """CPU time of one station's join, seconds."""
    if not cell.settings.authenticate:
        return 0.0
    policy, join = cell.security, cell.settings.join
    method = policy.link.eap_method
    tls = method is not None and method.uses_tls and not join.tls_resumption
    public_key = not join.cached_pmk and (tls or str(policy.link.akm).startswith(("sae", "owe")))
    spent = _JOIN_S + _PUBLIC_KEY_S * public_key
    if tls and join.chain.startswith("slh-dsa"):
        spent += _SLH_DSA_S
    return spent + _TUNNEL_S * len(policy.tunnels)


def _partial_join(rows: Observed, cell: Cell, failure: str) -> str | None:
    """The caveat of a trial in which stations failed to join, where their number is its result.

    ``None`` where the trial failed instead: under a fault of the study, and where no station joined
    though the study neither spreads their starts nor limits their time. One that does asks how
    many join.
    """
    joined = next((row.value for row in rows if row.metric == "stations_joined"), None)
    join = cell.settings.join
    if joined is None or join.fault != "none":
        return None
    if joined == len(station_list(cell.settings)):
        # A hand-over failed, whose trial has no result.
        return None
    asks = join.spread_ms > 0 or join.limit_s != Join.model_fields["limit_s"].default
    if not joined and not asks:
        return None
    return (
        f"{joined:.0f} of {len(station_list(cell.settings))} stations joined, so no traffic was "
        f"measured; first failure: {failure}"
    )


def _finished(given: Observed, cell: Cell) -> Observed:
    """The values with finite transfers rated over their own time, and the whole cell's throughput.

    A transfer's throughput is what was delivered over the time from the first octet sent to the
    last one delivered (Agarwal and Wang, equation 11), not over the length of the trial. The share
    of a CPU is that of the time until the last transfer has ended.
    """
    if not any(load.transfer_bytes is not None for load in cell.load.loads):
        return with_whole_cell(given)
    span = cell.load.duration_s - cell.load.warm_up_s
    times = {row.flow: row.value for row in given.whole("transfer_delay_s")}
    own = {row.flow: row.value for row in given.whole("measured_s")}
    rows = [
        row._replace(value=row.value * own.get(row.flow, span) / times[row.flow])
        if row.metric == "throughput_bps" and row.second is None and row.flow in times
        else row
        for row in given
        # The cell's throughput is the sum of the flows', rated so.
        if row.flow is not None or row.metric != "throughput_bps"
    ]
    if times and span > 0:
        rows = [
            row._replace(value=min(1.0, row.value * span / max(times.values())))
            if row.metric == "cpu_share"
            else row
            for row in rows
        ]
    return with_whole_cell(observed(rows))


@lru_cache(maxsize=1024)
def _limits(cell: Cell) -> tuple[str, ...]:
    return limiting.notes(native(cell))


def _rate(cell: Cell) -> tuple[str, ...]:
    note = station_rates.note(cell)
    return () if note is None else (note,)


@lru_cache(maxsize=1024)
def _weak(cell: Cell) -> list[str]:
    """The first station whose level is too low for its rate, with the prefix of a caveat."""
    weak = native(cell).weak_links()
    if not weak:
        return _overcome(cell)
    first = weak[0]
    rest = f" and {len(weak) - 1} more" if len(weak) > 1 else ""
    return [
        f"{WEAK}station {first['station']}{rest}: {first['level_dbm']:.1f} dBm is too low for the "
        f"rate, which needs {first['needed_dbm']:.1f} dBm; raise rssi_dbm, move the station or "
        "lower rate_mbps or mcs"
    ]


def _overcome(cell: Cell) -> list[str]:
    """Rates that lose what frames of neighbours overlap, to which the cell does not defer."""
    beside = neighbours.interference_dbm(cell)
    weak = [] if beside is None else native(cell).weak_links(beside)
    if not weak:
        return []
    first = weak[0]
    rest = f" and {len(weak) - 1} more" if len(weak) > 1 else ""
    lacks = first["needed_dbm"] - first["level_dbm"]
    return [
        f"{WEAK}station {first['station']}{rest}: frames of neighbours that this cell does not "
        f"wait for overlap its own, and the rate needs {lacks:.0f} dB more to arrive beside them: "
        "a TCP connection may not begin; lower mcs or rate_mbps, or set rate_control = "
        '"minstrel"'
    ]


def _black_holes(cell: Cell) -> tuple[str, ...]:
    return path_mtu.black_holes(native(cell))
