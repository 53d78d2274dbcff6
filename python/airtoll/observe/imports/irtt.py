"""irtt results (``irtt client -o FILE.json``).

Takes the parsed JSON (times in nanoseconds); gives response time, loss and jitter, and one-way
delay only where the two clocks are the same machine's: irtt's one-way figures are otherwise the
clocks' difference. Jitter is computed from the packets by RFC 3550 section 6.4.1, in the order of
their arrival: clock offsets cancel. Never reads a file.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any, Final

import numpy as np
from attrs import frozen

from airtoll.errors import DatasetError
from airtoll.observe.imports.documents import Document
from airtoll.observe.imports.value import Reading, Test, Value, needed, number, objects

_NS: Final = 1e9


def read(documents: Sequence[Document]) -> Reading:
    """The sessions of a file. Raises ``DatasetError`` for what is no result of irtt."""
    tests = []
    for document in documents:
        try:
            values, caveats = _values(document.data)
        except DatasetError as error:
            raise DatasetError(f"line {document.line}: not a result of irtt: {error}") from error
        tests.append(Test(values, tuple(caveats), document.sha256))
    return Reading(tests)


@frozen
class _Packet:
    """A request that arrived: instant of arrival where irtt has it, and transit time, s."""

    arrived: float | None
    transit: float


def _values(data: Any) -> tuple[list[Value], list[str]]:
    """Values of one session (UDP), and what is unknown."""
    stats = needed(data, "stats")
    found: list[Value] = []
    caveats: list[str] = []

    def add(metric: str, value: float | None) -> None:
        if value is None:
            caveats.append(f"irtt printed no number for {metric}: it is unknown and left out")
        else:
            found.append(Value(metric, value, transport="udp"))

    sent, received = number(stats, "packets_sent"), number(stats, "packets_received")
    add("packets_sent", sent)
    add("packets_received", received)
    if sent == 0:
        raise DatasetError("no packet was sent")
    percent = number(stats, "packet_loss_percent")
    add("loss_ratio", None if percent is None else percent / 100)
    rtt = needed(stats, "rtt")
    if number(rtt, "n") != 0:
        mean = number(rtt, "mean")
        add("response_time_s", None if mean is None else mean / _NS)
    else:
        caveats.append("no reply arrived: the response time is unknown and left out")
    packets = _packets(data)
    if len(packets) > 1:
        add("jitter_s", _jitter(packets))
    elif number(rtt, "n") != 0:
        caveats.append("irtt has no one-way times of the packets: jitter is unknown and left out")
    if packets and _one_machine(data):
        transits = [packet.transit for packet in packets]
        if min(transits) < 0:
            caveats.append("one-way delays are negative: a clock was set, and they are left out")
        else:
            add("delay_s", float(np.mean(transits)))
            for metric, share in (("delay_p50_s", 50), ("delay_p95_s", 95), ("delay_p99_s", 99)):
                add(metric, float(np.percentile(transits, share)))
    return found, caveats


def _packets(data: Any) -> list[_Packet]:
    """The requests with a one-way time, in order of their arrival where irtt has the instants."""
    found = []
    for trip in objects(data, "round_trips"):
        transit = number(trip.get("delay"), "send")
        if transit is not None:
            found.append(_Packet(_arrival(trip), transit / _NS))
    if any(packet.arrived is None for packet in found):
        return found
    return sorted(found, key=lambda packet: packet.arrived or 0.0)


def _arrival(trip: dict[str, Any]) -> float | None:
    """When a request reached the server, by the server's wall clock, s."""
    at: Any = trip.get("timestamps")
    for key in ("server", "receive"):
        at = at.get(key) if isinstance(at, dict) else None
    wall = number(at, "wall")
    return None if wall is None else wall / _NS


def _jitter(packets: Sequence[_Packet]) -> float:
    """Mean of the jitter (RFC 3550 section 6.4.1) at the end of each second; at the end where irtt
    has no instants, s.
    """
    ends: dict[int, float] = {}
    jitter, first = 0.0, packets[0].arrived or 0.0
    for earlier, later in itertools.pairwise(packets):
        jitter += (abs(later.transit - earlier.transit) - jitter) / 16
        ends[int((later.arrived or first) - first)] = jitter
    return sum(ends.values()) / len(ends)


def _one_machine(data: Any) -> bool:
    config = data.get("config")
    if not isinstance(config, dict):
        return False
    local, remote = (
        str(config.get(key, "")).rpartition(":")[0] for key in ("local_address", "remote_address")
    )
    return local != "" and local == remote
