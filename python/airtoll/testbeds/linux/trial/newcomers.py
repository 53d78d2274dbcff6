"""Stations that join during the traffic of others.

Takes a trial's progress with supplicants that stand by, which have found the access point before
the traffic; lets one join, waits until it is authorised, and gives the time of its join. Its own
flow runs for what is left of the traffic.

``join_time_s`` is the time from the supplicant's event at the start of authentication to its event
of the completed join. The scan is not part of it.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Iterable
from typing import Final

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.job import Value
from airtoll.testbeds.linux.trial import association
from airtoll.testbeds.linux.trial.progress import Progress

#: Times of a join, of which a cell has the means of the stations that join during the traffic.
TIMES: Final = (
    "join_time_s",
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
)


async def join(progress: Progress, name: str) -> Value:
    """Let a station join now; gives its time.

    Raises ``TestbedError`` with the state that it reached.
    """
    took_s = await association.join_now(progress, name)
    await association.master_keys(progress, [name])
    return Value("join_time_s", took_s, "s", station=name)


def left_s(name: str, ends_at: float) -> float:
    """Time that is left of the traffic, which ends at ``ends_at`` (monotonic), s.

    Raises ``TestbedError`` where there is none: the station joined in a cell without traffic.
    """
    left = ends_at - time.monotonic()
    if left <= 0:
        raise TestbedError(
            f"{name}: had joined {-left:.2f} s after the end of the traffic: make duration_s longer"
        )
    return left


def of_cell(values: Iterable[Value], stations: Iterable[str]) -> list[Value]:
    """The means over the stations that joined during the traffic, as rows of the whole cell."""
    late = set(stations)
    known = [value for value in values if value.station in late and value.metric in TIMES]
    found = []
    for metric in TIMES:
        own = [value.value for value in known if value.metric == metric]
        if own:
            found.append(Value(metric, statistics.fmean(own), "s"))
    return found
