"""Octets that a TCP receiver has acknowledged, by looks at the sender's socket.

Takes the host of a sender and its port; gives the throughput of a receiver that has no counters
for us: a phone that a person drives.

Field ``bytes_acked`` of ss(8): tcpi_bytes_acked (linux/tcp.h), which is RFC 4898's
tcpEStatsAppHCThruOctetsAcked.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from typing import Final

from attrs import field, frozen

from airtoll.testbeds.linux.hosts.host import Host

_EVERY_S: Final = 0.25
_FIELD: Final = re.compile(r"\bbytes_acked:(\d+)")


def octets(told: str) -> int:
    """The octets acknowledged on the busiest connection in ss's output; 0 where there is none."""
    return max((int(number) for number in _FIELD.findall(told)), default=0)


@frozen
class Looks:
    """Instants, s, and the octets acknowledged until then."""

    seen: list[tuple[float, int]] = field(factory=list)

    async def take(self, host: Host, port: int) -> None:
        """Look at the connections of a server's port until cancelled."""
        loop = asyncio.get_running_loop()
        while True:
            told = await host.run(["ss", "-Htin", "sport", "=", f":{port}"])
            self.seen.append((loop.time(), octets(told.stdout)))
            await asyncio.sleep(_EVERY_S)


def throughput_bps(seen: Sequence[tuple[float, int]], warm_up_s: float = 0.0) -> float | None:
    """Octets acknowledged per second, times 8, after the warm-up; None with fewer than three looks.

    The flow ends between the last look that saw progress and the one before. The one before counts
    as the end.
    """
    moved = [
        (at, count)
        for (at, count), (_, before) in zip(seen[1:], seen, strict=False)
        if count > before
    ]
    if not moved:
        return None
    first_s = moved[0][0] + warm_up_s
    counted = [look for look in moved if look[0] >= first_s][:-1]
    if len(counted) < 2:
        return None
    (begin_s, begin), (end_s, end) = counted[0], counted[-1]
    return 8 * (end - begin) / (end_s - begin_s)
