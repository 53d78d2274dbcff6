"""Conditions of a trial: CPU time by kind, signal, noise, channel use, a survey of channels.

Takes hosts; gives numbers read from the kernel. Judges one thing only: a signal that changed by
more than 3 dB is reported.
"""

from __future__ import annotations

from typing import Final, TypedDict

from attrs import define, field, frozen

from airtoll.border.answers import MediumStatistics
from airtoll.testbeds.linux.daemons.mobile_ip import Registered
from airtoll.testbeds.linux.hosts.host import Host

#: Columns of the "cpu" line in /proc/stat (proc(5)), in ticks of 1/100 s.
_COLUMNS: Final = ("user", "nice", "system", "idle", "iowait", "irq", "softirq", "steal")
MOVED_DB: Final = 3.0


@frozen
class Sample:
    """CPU ticks by kind since boot, and the uptime in seconds."""

    ticks: dict[str, int]
    uptime_s: float


@frozen
class ChannelTimes:
    """Times of a radio on a channel since an instant of its driver's, s.

    ``busy_s`` of ``active_s``; of that ``own_s`` in which it sent, or received frames of its BSS;
    0 where the driver does not tell.
    """

    active_s: float
    busy_s: float
    own_s: float = 0.0


def busy_share(before: ChannelTimes, after: ChannelTimes, *, others: bool = False) -> float | None:
    """Share of the time between two surveys in which the channel was busy, 0 to 1, or None.

    ``others``: without the radio's own frames. None where the counters began anew or stood still.
    """
    active = after.active_s - before.active_s
    busy = after.busy_s - before.busy_s - ((after.own_s - before.own_s) if others else 0.0)
    if active <= 0 or busy < 0:
        return None
    return min(1.0, busy / active)


class Channel(TypedDict, total=False):
    """A channel in a survey; a driver leaves out values that it does not measure."""

    frequency_mhz: int
    in_use: bool
    noise_dbm: float
    busy_share: float
    times: ChannelTimes


@frozen
class Verdict:
    """Whether a throughput is the radio's.

    ``air_bps``: measured over the air; ``ceiling_bps``: over the same medium without airtime, None
    where the CPU takes no time; ``refusal``: why it is none, or None.
    """

    air_bps: float
    ceiling_bps: float | None
    refusal: str | None


@frozen
class Signals:
    """Station -> what its supplicant or access point says about its signal, as printed."""

    before: dict[str, dict[str, str]]
    after: dict[str, dict[str, str]]


@frozen
class Departure:
    """A station that left an access point during the traffic.

    ``left_s``: seconds after the start of the traffic. Of a walk: ``scans`` for the next access
    point, and the levels of both at the decision, None where the supplicant decided.
    """

    left_s: float
    scans: int = 0
    old_dbm: float | None = None
    new_dbm: float | None = None


@define
class Conditions:
    """Conditions of a trial.

    ``traffic_window``: begin and end of the traffic (Unix s). ``cpu``: CPU shares by kind, in CPUs.
    ``radio``: signals before and after the traffic. ``air``: the medium's counts during it.
    ``keys``: station -> algorithm of each key that its radio has, and whether hardware uses it.
    ``registrations``: with Mobile IP, in order. ``heard_at_dbm``: access point -> level that a fade
    took. ``connect_wall_s``: station -> time until it was connected. ``survey``: node -> channels.
    ``skipped_by_hand``: stations whose traffic a person skipped. ``departures``: of hand-overs.
    ``tunnel_octets``: station -> octets that each of several tunnels carried, the innermost first.
    """

    traffic_window: tuple[float, float] | None = None
    cpu: dict[str, float] = field(factory=dict)
    radio: Signals | None = None
    air: MediumStatistics | None = None
    verdict: Verdict | None = None
    keys: dict[str, tuple[tuple[str, bool], ...]] = field(factory=dict)
    registrations: tuple[Registered, ...] = ()
    heard_at_dbm: dict[str, int] = field(factory=dict)
    connect_wall_s: dict[str, float] = field(factory=dict)
    survey: dict[str, tuple[Channel, ...]] = field(factory=dict)
    skipped_by_hand: tuple[str, ...] = ()
    departures: tuple[Departure, ...] = ()
    tunnel_octets: dict[str, tuple[int, ...]] = field(factory=dict)


async def sample(host: Host) -> Sample:
    """Read the counters now."""
    text = (await host.run(["cat", "/proc/stat", "/proc/uptime"])).stdout
    return parse_sample(text)


def parse_sample(text: str) -> Sample:
    """Counters from /proc/stat followed by /proc/uptime."""
    lines = text.strip().splitlines()
    first = next(line.split()[1:] for line in lines if line.startswith("cpu "))
    ticks = dict(zip(_COLUMNS, (int(word) for word in first), strict=False))
    return Sample(ticks, float(lines[-1].split()[0]))


def usage(before: Sample, after: Sample) -> dict[str, float]:
    """CPU shares between two samples, in CPUs: 1 is one CPU busy all the time."""
    span = after.uptime_s - before.uptime_s
    if span <= 0:
        return {"busy": 0.0}
    shares = {key: (after.ticks[key] - before.ticks[key]) / 100 / span for key in after.ticks}
    busy = sum(value for key, value in shares.items() if key not in ("idle", "iowait"))
    return {"busy": round(busy, 4), **{key: round(value, 4) for key, value in shares.items()}}


def moved(before: dict[str, dict[str, str]], after: dict[str, dict[str, str]]) -> list[str]:
    """One line per station whose signal moved by more than 3 dB during the trial."""
    said: list[str] = []
    for name, first in before.items():
        try:
            change = float(after[name]["RSSI"]) - float(first["RSSI"])
        except (KeyError, ValueError):
            continue
        if abs(change) > MOVED_DB:
            said.append(f"{name}: the signal moved by {change:+.0f} dB during the trial")
    return said


async def survey(host: Host, interface: str) -> list[Channel]:
    """Channel use as the radio saw it, the least busy first."""
    return parse_survey((await host.run(["iw", "dev", interface, "survey", "dump"])).stdout)


def parse_survey(text: str) -> list[Channel]:
    """Rows of ``iw dev X survey dump``."""
    rows: list[Channel] = []
    times: dict[str, float] = {}
    for line in text.splitlines():
        key, _, value = line.strip().partition(":")
        words = value.split()
        if key.startswith("Survey data"):
            rows.append(Channel())
            times = {}
        elif key == "frequency" and words:
            rows[-1]["frequency_mhz"] = int(words[0])
            rows[-1]["in_use"] = "[in use]" in value
        elif key == "noise" and words:
            rows[-1]["noise_dbm"] = float(words[0])
        elif key.startswith("channel") and words:
            times[key] = float(words[0])
            active, busy = times.get("channel active time"), times.get("channel busy time")
            if active and busy is not None:
                rows[-1]["busy_share"] = busy / active
                own = times.get("channel transmit time", 0.0)
                own += times.get("channel BSS receive time", 0.0)
                rows[-1]["times"] = ChannelTimes(active / 1e3, busy / 1e3, own / 1e3)
    return sorted(rows, key=lambda row: (row.get("busy_share", 2.0), row.get("frequency_mhz", 0)))
