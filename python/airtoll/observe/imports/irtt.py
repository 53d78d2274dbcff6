"""irtt results (``irtt client -o FILE.json``).

Takes the parsed JSON (times in nanoseconds); gives response time, loss and jitter, and one-way
delay only where the two clocks are the same machine's: irtt's one-way figures are otherwise the
clocks' difference. Jitter is computed from the packets by RFC 3550 section 6.4.1: clock offsets
cancel. Never reads a file.
"""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np

from airtoll.observe.imports.value import Value


def values(data: Any, source: str) -> list[Value]:
    """Values of one irtt session (UDP)."""
    stats = data["stats"]
    found = [Value("packets_sent", float(stats["packets_sent"]), transport="udp")]
    found.append(Value("packets_received", float(stats["packets_received"])))
    found.append(Value("loss_ratio", float(stats["packet_loss_percent"]) / 100))
    if stats["rtt"]["n"]:
        found.append(Value("response_time_s", float(stats["rtt"]["mean"]) / 1e9))
    transits = [
        float(trip["delay"]["send"]) / 1e9
        for trip in data["round_trips"]
        if "send" in trip.get("delay", {})
    ]
    if len(transits) > 1:
        found.append(Value("jitter_s", interarrival_jitter(transits)))
    if transits and _one_machine(data):
        found.append(Value("delay_s", float(np.mean(transits))))
        for metric, share in (("delay_p50_s", 50), ("delay_p95_s", 95), ("delay_p99_s", 99)):
            found.append(Value(metric, float(np.percentile(transits, share))))
    return found


def interarrival_jitter(transits: list[float]) -> float:
    """RFC 3550 section 6.4.1 over transit times in order of arrival, seconds."""
    jitter = 0.0
    for earlier, later in itertools.pairwise(transits):
        jitter += (abs(later - earlier) - jitter) / 16
    return jitter


def _one_machine(data: Any) -> bool:
    config = data.get("config", {})
    local = str(config.get("local_address", "")).rpartition(":")[0]
    remote = str(config.get("remote_address", "")).rpartition(":")[0]
    return local != "" and local == remote
