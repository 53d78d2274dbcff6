"""Settings of virtual radios: the limit of their queues."""

from __future__ import annotations

import asyncio

import pytest

from airtoll.testbeds.linux.air.medium import MOST_FRAMES, queue_frames
from airtoll.testbeds.linux.hosts import radios
from airtoll.testbeds.linux.hosts.host import Completed, LocalHost
from airtoll.testbeds.linux.hosts.radios import Radio
from airtoll.testbeds.linux.job import Job


class Noting(LocalHost):
    """A host that notes commands and carries none out; each ends with ``status``."""

    def __init__(self, status: int = 0) -> None:
        super().__init__("noting", "0123abcd")
        self.ran: list[str] = []
        self._status = status

    async def _run(self, argv: tuple[str, ...], stdin: str | None) -> Completed:
        self.ran.append(" ".join(argv))
        return Completed(argv, self._status, "", "")


@pytest.mark.parametrize("has_limit", [True, False])
def test_a_device_refuses_packets_where_its_driver_has_a_limit(has_limit: bool) -> None:
    root, station = Noting(0 if has_limit else 1), Noting()
    radio = Radio("phy2", "wlan2", "02:00:00:00:02:00")
    asyncio.run(radios.hold_back(root, station, radio, 100))
    assert "echo 100 > /sys/kernel/debug/ieee80211/phy2/hwsim/tx_limit" in root.ran[0]
    # A device that takes every packet keeps its queue.
    assert station.ran == (["ip link set wlan2 txqueuelen 1"] if has_limit else [])


def test_the_limit_is_that_of_the_mediums_queue() -> None:
    assert queue_frames(Job("one", "open")) is None
    assert queue_frames(Job("one", "open", queue_frames=40)) == 40
    assert queue_frames(Job("one", "open", queue_frames=1000)) == MOST_FRAMES
