"""Stations that the medium simulates beside those with real daemons: their flows and values.

Takes a job that names such stations; gives the medium's radios for them, the requests that begin
and end their flows, and values from its counts. They have the real stations' flow, cipher, rate and
retry chain, and do not join. Says nothing about a cell: ``parted_cell`` does.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from airtoll import border
from airtoll.border import MediumFlow, MediumRadio, MediumSimulated
from airtoll.border.answers import MediumFlowCounts, MediumStatistics
from airtoll.policies import Policy
from airtoll.testbeds.linux.air import rates
from airtoll.testbeds.linux.daemons import hostapd
from airtoll.testbeds.linux.job import Flow, Job, Value

#: LLC/SNAP header (IEEE 802.2, RFC 1042), and the headers of IP and UDP.
_LLC_OCTETS: Final = 8
_HEADERS: Final = {"ipv4": 28, "ipv6": 48}


def payload_octets(flow: Flow) -> int:
    """Octets of a datagram's payload: those of the study, or as many as a packet takes."""
    return flow.payload_octets or 1500 - _HEADERS[flow.ip]


def nodes(job: Job) -> dict[str, str]:
    """Simulated station -> the name of its radio in the medium."""
    return {name: f"sim{number}" for number, name in enumerate(job.simulated, start=1)}


def radios(job: Job, policy: Policy, access_point: str) -> list[MediumRadio]:
    """The medium's radios for the simulated stations of a job, all with this access point."""
    rate = rates.fixed(job, policy)
    assert rate is not None, "parted_cell asks for a fixed rate"
    flow = job.flow
    made = []
    for number, (name, node) in enumerate(nodes(job).items(), start=1):
        has_flow = flow is not None and (flow.stations is None or name in flow.stations)
        up, down = _flows(job, policy, flow) if flow is not None and has_flow else (None, None)
        made.append(
            MediumRadio(
                name=node,
                address=f"06:00:00:00:{number:02x}:00",
                simulated=MediumSimulated(
                    access_point=access_point,
                    frequency_mhz=hostapd.frequency_mhz(job.channel),
                    rate=rate,
                    cipher_octets=policy.octets_per_mpdu + policy.octets_per_msdu,
                    up=up,
                    down=down,
                ),
            )
        )
    return made


def _flows(job: Job, policy: Policy, flow: Flow) -> tuple[MediumFlow | None, MediumFlow | None]:
    octets = payload_octets(flow)
    category = None
    if rates.uses_mcs(job, policy):
        category = border.AccessCategory(flow.access_category.replace("-", "_"))
    one = MediumFlow(
        msdu_octets=octets + _HEADERS[flow.ip] + _LLC_OCTETS,
        interval_s=None if flow.offered_bps is None else 8 * octets / flow.offered_bps,
        access_category=category,
    )
    return (
        one if flow.direction in ("up", "both") else None,
        one if flow.direction in ("down", "both") else None,
    )


def counted_s(flow: Flow) -> tuple[float, float]:
    """Warm-up and counted time of the flows, s: the whole seconds that iperf3 has for them."""
    warm_up_s = math.ceil(flow.warm_up_s)
    return float(warm_up_s), float(max(1, math.ceil(flow.duration_s - flow.warm_up_s)))


def values(job: Job, counts: MediumStatistics) -> list[Value]:
    """Rows of the simulated stations, under their names."""
    flow = job.flow
    if flow is None:
        return []
    names = {node: name for name, node in nodes(job).items()}
    return [
        row for each in counts.get("flows", []) for row in _rows(names[each["station"]], each, flow)
    ]


def _rows(station: str, counts: MediumFlowCounts, flow: Flow) -> list[Value]:
    label = f"{station}:{counts['direction']}" if flow.direction == "both" else station
    bits = 8 * payload_octets(flow)
    seconds = counts["counted_s"]
    delivered = counts["delivered"]
    lost = counts["given_up"] + counts["queue_drops"]
    found = [
        ("packets_sent", float(delivered + lost), "1"),
        ("packets_received", float(delivered), "1"),
        ("packets_lost", float(lost), "1"),
    ]
    if seconds > 0:
        found.append(("throughput_bps", delivered * bits / seconds, "bit/s"))
        found.append(("offered_bps", counts["offered"] * bits / seconds, "bit/s"))
    if delivered + lost > 0:
        found.append(("loss_ratio", lost / (delivered + lost), "1"))
    if delivered > 0:
        found.append(("delay_s", counts["delay_mean_s"], "s"))
    return [Value(metric, value, unit, label, station) for metric, value, unit in found]


def caveat(job: Job) -> str:
    """How many stations of a trial were simulated, and what their values are."""
    count = len(job.simulated)
    total = count + len(job.stations)
    return (
        f"{count} of {total} stations were simulated in the medium ({_named(job.simulated)}): "
        "they do not join, and their delays are those of data from the queue to the receiver"
    )


def _named(names: Sequence[str]) -> str:
    return ", ".join(names) if len(names) <= 4 else f"{names[0]} to {names[-1]}"
