"""iperf3 over the loopback: the receiver's seconds, in both directions."""

from __future__ import annotations

import asyncio
import shutil
import socket
from pathlib import Path

import pytest

from airtoll.testbeds.linux.hosts.host import LocalHost
from airtoll.testbeds.linux.job import Flow
from airtoll.testbeds.linux.traffic import iperf3


@pytest.mark.skipif(shutil.which("iperf3") is None, reason="needs iperf3")
@pytest.mark.parametrize("direction", ["up", "down"])
def test_seconds_of_the_receiver(tmp_path: Path, direction: str) -> None:
    flow = Flow(
        transport="udp",
        direction=direction,
        offered_bps=4e6,
        payload_octets=1000,
        duration_s=2.0,
        series=True,
    )

    async def measured() -> dict:
        async with LocalHost("here", "0123abcd") as host:
            port = _free_port()
            await iperf3.serve(host, port, str(tmp_path))
            return await iperf3.measure(host, flow, "127.0.0.1", port)

    report = asyncio.run(measured())
    found = iperf3.series(report, "A-up", "A")
    for metric in ("throughput_bps", "jitter_s", "loss_ratio"):
        assert [v.second for v in found if v.metric == metric] == [0, 1]
    assert all(v.station == "A" for v in found)
    whole = next(v for v in iperf3.values(report, "A-up", "A") if v.metric == "throughput_bps")
    mean = sum(v.value for v in found if v.metric == "throughput_bps") / 2
    assert mean == pytest.approx(whole.value, rel=0.05)


def test_no_seconds_where_none_can_be_told() -> None:
    both = {"start": {"test_start": {"bidir": 1}}, "intervals": [{"sum": {"seconds": 1.0}}]}
    assert iperf3.series(both, "A", "A") == []
    silent = {"start": {"test_start": {"reverse": 0}}, "intervals": [{"sum": {"seconds": 1.0}}]}
    assert iperf3.series(silent, "A", "A") == []


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def test_a_datagram_flow_keeps_aggregates_full_unless_the_study_states_a_window() -> None:
    flow = Flow(transport="udp")
    assert iperf3.deep(flow).window_octets == 204_800
    for other in (
        Flow(transport="tcp"),
        Flow(transport="udp", window_octets=65_536),
        Flow(transport="udp", per_station=2),
    ):
        assert iperf3.deep(other) == other
