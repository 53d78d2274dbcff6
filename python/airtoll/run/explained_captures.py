"""A capture as values of a measurement: retries, the link's rate and form, level, airtime, traffic.

Takes the path of a capture and keys; gives a :class:`~airtoll.run.explained_samples.Side`. Reads
the report of ``airtoll.capture`` and decodes nothing itself.
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, frozen

from airtoll.analyse.explain import OF_FORM, Flow, Quantity
from airtoll.border.answers import LedgerReport, RateCount, StationSums, Step, Sums
from airtoll.capture import capture_report
from airtoll.capture.reports import by_kind
from airtoll.errors import DatasetError, PolicyError
from airtoll.policies import resolve
from airtoll.run.explained_samples import (
    ONE_LEVEL,
    PRINTED,
    Inputs,
    Sample,
    Side,
    parse_flow,
)
from airtoll.run.explaining import Link, phy_rate_bps
from airtoll.study.generations import GENERATIONS

#: Standard deviation of the throughput of a capture, which misses frames (logarithm).
_CAPTURED = 0.15
#: Parts of a capture's busiest second from which on a second has traffic, and steady traffic.
_BUSY, _STEADY = 0.1, 0.7
#: A mean rate this near to one of the PHY is that rate.
_SAME: Final = 0.005
_FORM_SPREADS: Final[dict[Quantity, float]] = {
    "signal_dbm": ONE_LEVEL,
    **dict.fromkeys(OF_FORM, PRINTED),
}
_NO_SPEED: Final = (
    "; management and handshakes do not show how fast a link is: capture a test of ten seconds"
)
#: Octets of an Ack and of a compressed BlockAck frame (IEEE Std 802.11-2020, 9.3.1.4 and 9.3.1.8).
_ACK_OCTETS, _BLOCK_ACK_OCTETS = 14, 32
_HT_RATE: Final = re.compile(r"(\S+) MCS (\d+)(?: x(\d+))? (\d+) MHz")
_FORMATS: Final = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11be"}


@frozen
class Captured:
    """The readings of a station in a capture; None where the capture does not tell.

    ``retries``: share of its frames with the retry bit. ``rate_bps``: mean of its data frames, one
    way. ``busy``: share of steady time with frames. ``others``, ``group``: shares of the airtime
    of all frames but acknowledgements that are of other stations, and of none. ``mpdus``: MPDUs
    per acknowledgement. ``level_dbm``: mean of the data frames of the access point.
    ``width_mhz``, ``streams``, ``guard_ns``: of the most used rate of HT or later.
    """

    retries: float
    rate_bps: float | None
    busy: float | None
    others: float | None
    group: float | None
    mpdus: float | None
    level_dbm: float | None = None
    width_mhz: float | None = None
    streams: float | None = None
    guard_ns: float | None = None

    @property
    def form(self) -> dict[Quantity, float | None]:
        """The level and the link's form as quantities of readings."""
        return {
            "signal_dbm": self.level_dbm,
            "width_mhz": self.width_mhz,
            "streams": self.streams,
            "guard_ns": self.guard_ns,
        }


def captured(ledger: LedgerReport, station: StationSums, down: bool) -> Captured:
    """Retries, rate and airtime of a station, by the ledger of a capture."""
    mbps = station["rate_down_mbps"] if down else station["rate_up_mbps"]
    link = _most_used_link(ledger["rates"], ledger["data_frames"])
    rate = 1e6 * mbps if mbps else _most_used_rate(ledger["rates"], link)
    told = _told(ledger["total"])
    of_own, of_stations = _told(station), sum(map(_told, ledger["stations"]))
    steady = _steady(ledger["seconds"])
    spent = [sum(by_kind(one["airtime_s"]).values()) / ledger["step_s"] for one in steady]
    return Captured(
        retries=station["retries"] / max(station["frames"], 1),
        rate_bps=rate,
        busy=min(1.0, statistics.fmean(spent)) if told > 0 and spent else None,
        others=max(0.0, of_stations - of_own) / told if told > 0 else None,
        group=max(0.0, 1 - of_stations / told) if told > 0 else None,
        mpdus=_mpdus(
            ledger["data_frames"],
            sum(one["retries"] for one in ledger["stations"]),
            by_kind(ledger["total"]["octets"])["control"],
        ),
        level_dbm=station["level_down_dbm"],
        width_mhz=None if link is None else link.width_mhz,
        streams=None if link is None else link.streams,
        guard_ns=None if link is None or not mbps else _guard_ns(link, 1e6 * mbps),
    )


def _told(sums: Sums | StationSums) -> float:
    """Airtime of all frames but acknowledgements, s."""
    airtime = by_kind(sums["airtime_s"])
    return sum(airtime.values()) - airtime["control"]


def _mpdus(data_frames: int, retries: int, control_octets: float) -> float | None:
    """MPDUs per acknowledgement: an Ack frame of one has 14 octets, a BlockAck of several 32.

    A frame that was sent again had no Ack frame.
    """
    if not control_octets or not data_frames:
        return None
    if (data_frames - retries) * _ACK_OCTETS < 1.3 * control_octets:
        return 1.0
    return max(1.0, data_frames * _BLOCK_ACK_OCTETS / control_octets)


def capture_side(path: Path, inputs: Inputs) -> Side:
    """Retries, PHY rate, airtime and throughput of the station with most octets."""
    report = capture_report([path], inputs.keys, inputs.key_logs)
    ledger = report.ledger
    if not ledger["stations"] or not ledger["data_frames"]:
        raise DatasetError(f"{path}: holds no data frame of a station{_NO_SPEED}")
    station = max(ledger["stations"], key=lambda one: one["octets"]["payload"])
    _, flow, _ = parse_flow(inputs.flow)
    total = ledger["total"]["octets"]["payload"]
    busy = _busy_bps(ledger["seconds"], station["octets"]["payload"] / max(total, 1))
    policy = _captured_policy(report.sessions)
    if busy is None:
        return _without_traffic(path, station, flow, policy)
    found = captured(ledger, station, flow.down)
    values: tuple[tuple[Quantity, float | None, float], ...] = (
        ("retry_share", found.retries, 0.02),
        ("rate_bps", found.rate_bps, 0.02),
        ("busy_share", found.busy, 0.04),
        ("others_share", found.others, 0.03),
        ("group_share", found.group, 0.03),
        ("mpdus_per_frame", found.mpdus, 0.2),
        *((quantity, value, _FORM_SPREADS[quantity]) for quantity, value in found.form.items()),
    )
    samples = [
        Sample(quantity, flow, value, spread)
        for quantity, value, spread in values
        if value is not None
    ]
    # The payload on the air is that of packets with their headers.
    share = flow.payload / (flow.packet + 8)
    samples.append(Sample("throughput_bps", flow, busy * share, _CAPTURED))
    return Side(tuple(samples), policy)


def _without_traffic(path: Path, station: StationSums, flow: Flow, policy: str | None) -> Side:
    """The rate of a station's data frames, which is all that a join shows of a link's speed.

    Management and handshakes are sent at the lowest rates. Raises ``DatasetError`` without a rate.
    """
    down, up = station["rate_down_mbps"], station["rate_up_mbps"]
    mbps = (down or up) if flow.down else (up or down)
    if not mbps:
        raise DatasetError(
            f"{path}: no steady traffic of two seconds, and no data frame names a rate{_NO_SPEED}"
        )
    remark = (
        f"{path}: no steady traffic of two seconds, so that only the rate of its data frames counts"
    )
    return Side((Sample("rate_bps", flow, 1e6 * mbps, 0.02),), policy, (remark,))


def _steady(seconds: Sequence[Step]) -> list[Step]:
    """The seconds with nearly the payload of the busiest one."""
    most = max((float(one["octets"]["payload"]) for one in seconds), default=0.0)
    return [one for one in seconds if one["octets"]["payload"] > _STEADY * most > 0]


def _busy_bps(seconds: Sequence[Any], part: float) -> float | None:
    """Payload of the steady seconds, bit/s, of which a station has a part.

    None without two of them, or where most seconds with traffic have much less (bursts).
    """
    octets = [float(one["octets"]["payload"]) for one in seconds]
    most = max(octets, default=0.0)
    steady = [one for one in octets if one > _STEADY * most]
    busy = [one for one in octets if one > _BUSY * most]
    if len(steady) < 2 or 2 * len(steady) < len(busy):
        return None
    return 8 * statistics.fmean(steady) * part


def _most_used_link(rates: Sequence[RateCount], data_frames: int) -> Link | None:
    """The link of most frames of HT and later; None with less than a tenth of the data frames."""
    later = [(one["frames"], found) for one in rates if (found := _HT_RATE.match(one["rate"]))]
    if sum(frames for frames, _ in later) <= 0.1 * data_frames:
        return None
    _, found = max(later, key=lambda one: one[0])
    phy = _FORMATS.get(found[1])
    if phy is None:
        return None
    mcs, width = int(found[2]), int(found[4])
    streams = int(found[3]) if found[3] else mcs // 8 + 1
    return Link(phy, width_mhz=width, mcs=mcs, streams=streams)


def _most_used_rate(rates: Sequence[RateCount], link: Link | None) -> float | None:
    """The PHY rate of most frames: of HT and later where there are such."""
    if link is not None:
        return phy_rate_bps(link)
    # Management is sent at the lowest rates.
    old = [
        (one["frames"], float(one["rate"].removesuffix(" Mb/s")))
        for one in rates
        if one["rate"].endswith(" Mb/s") and float(one["rate"].removesuffix(" Mb/s")) > 2
    ]
    return 1e6 * max(old)[1] if old else None


def _guard_ns(link: Link, bps: float) -> float | None:
    """The guard interval with which a link has a rate; None where its frames had several rates."""
    for guard in GENERATIONS[link.phy]["guard_intervals_ns"]:
        if math.isclose(phy_rate_bps(evolve(link, guard_interval_ns=guard)), bps, rel_tol=_SAME):
            return float(guard)
    return None


def _captured_policy(sessions: Sequence[Any]) -> str | None:
    """The policy of the sessions of a capture, where all have the same of the catalogue."""
    names = set()
    for one in sessions:
        if one["akm"] is None or one["cipher"] is None:
            continue
        akm, cipher = one["akm"].lower(), one["cipher"].lower().removesuffix("-128")
        family = "wpa3" if akm.startswith("sae") else "wpa2"
        if one["wpa_version"] == 1:
            family = "wpa"
        text = f"owe-{cipher}" if akm == "owe" else f"{family}-{akm}-{cipher}"
        try:
            names.add(resolve(text).name)
        except PolicyError:
            return None
    return names.pop() if len(names) == 1 else None
