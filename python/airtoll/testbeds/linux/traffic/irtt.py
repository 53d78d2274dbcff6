"""irtt: isochronous probes; one-way delay where both ends share a clock, and response time.

Takes hosts; gives values in seconds. Never reports a one-way delay between two clocks.

Report fields: irtt 0.9, ``irtt client -o -``, nanoseconds.
"""

from __future__ import annotations

import contextlib
import json
import signal
from collections.abc import Awaitable
from typing import Any, Final, TypeVar

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts.host import GRACE_S, Host, HostError, Process
from airtoll.testbeds.linux.job import Distribution, Value

PORT: Final = 2112
#: The JSON that irtt prints.
Report = dict[str, Any]
_T = TypeVar("_T")


class ProbeError(TestbedError):
    """The probes did not come about."""


async def serve(host: Host, folder: str, limit_s: float = 60.0) -> Process:
    """Start a server; wait until the kernel lists its socket."""
    log = f"{folder}/irtt-{host.name}.log"
    async with host.starting(["irtt", "server"], log=log) as process:
        await host.wait_for_socket("udp", PORT, process, limit_s)
    return process


async def measure(
    host: Host, server: str, *, duration_s: float, interval_s: float = 0.02, octets: int = 64
) -> Report:
    """Probe for a while; gives the report. Raises :class:`ProbeError` with irtt's message."""
    argv = _arguments(server, "-", duration_s, interval_s, octets)
    done = await host.run(argv, limit_s=duration_s + 40, check=False)
    if done.status != 0 or "{" not in done.stdout:
        words = (done.stderr or done.stdout).strip().splitlines()
        raise ProbeError(f"{host.name}: irtt: {words[-1] if words else 'no report'}")
    report: Report = json.loads(done.stdout[done.stdout.index("{") :])
    return report


async def during(
    host: Host,
    server: str,
    work: Awaitable[_T],
    folder: str,
    *,
    most_s: float,
    interval_s: float,
    dscp: int = 0,
) -> tuple[_T, Report]:
    """Probe until some work is done, at most ``most_s``; gives the work's result and the report.

    Raises :class:`ProbeError` when irtt leaves no report.
    """
    path, log = (f"{folder}/irtt-client-{host.name}.{end}" for end in ("json", "log"))
    await host.run(["rm", "-f", path, log])
    argv = _arguments(server, path, most_s, interval_s, 64)
    # irtt takes the whole octet of the field.
    argv[2:2] = [f"--dscp={dscp << 2:#x}"] if dscp else []
    process = await host.start(argv, log=log)
    try:
        result = await work
        # The first interrupt ends the test; irtt reports the replies so far.
        await process.signal(signal.SIGINT)
        with contextlib.suppress(TimeoutError):
            await process.wait(GRACE_S)
    finally:
        await process.stop()
    try:
        report: Report = json.loads(await host.get(path))
    except (HostError, ValueError):
        raise ProbeError(f"{host.name}: irtt: no report: {await process.last_words()}") from None
    return result, report


def _arguments(
    server: str, output: str, duration_s: float, interval_s: float, octets: int
) -> list[str]:
    address = f"[{server}]:{PORT}" if ":" in server else f"{server}:{PORT}"
    argv = ["irtt", "client", "-Q", "-o", output, "-l", str(octets), "--wait=3x2s"]
    return [
        *argv,
        *("-i", f"{interval_s * 1000:.0f}ms", "-d", f"{duration_s * 1000:.0f}ms", address),
    ]


def values(report: Report, station: str, *, one_clock: bool) -> list[Value]:
    """Response time, and with ``one_clock`` the one-way delay from the client to the server."""
    found = distributions(report, station, one_clock=one_clock)
    return [value for each in found for value in each.values()]


def distributions(report: Report, station: str, *, one_clock: bool) -> list[Distribution]:
    """Response times of the answered probes, and with ``one_clock`` their one-way delays."""
    trips = [trip["delay"] for trip in report["round_trips"] if trip["lost"] == "false"]
    if not trips:
        return []
    metrics = [("response_time_s", "rtt")] + ([("delay_s", "send")] if one_clock else [])
    return [
        Distribution(metric, "probe", station, tuple(trip[name] for trip in trips))
        for metric, name in metrics
    ]
