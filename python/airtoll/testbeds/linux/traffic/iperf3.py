"""iperf3: servers that wait, clients that report in JSON, and the values of their reports.

Takes hosts and a :class:`Flow`; gives values in base units. Never reads iperf3's text output.

Report fields: iperf3 3.12 and later, ``iperf3 -J``.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterable
from typing import Any, Final

from attrs import evolve

from airtoll.errors import TestbedError
from airtoll.observe.imports.iperf3 import jitter_s, receiver_seconds, whole_seconds
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.job import Flow, Value

FIRST_PORT: Final = 5201
#: Time beyond the flow's duration for set-up, the exchange of results and a slow emulated CPU.
MARGIN_S: Final = 45.0

#: Window of a flow whose A-MPDUs stay full (see :func:`deep`).
_DEEP_OCTETS: Final = 200 * 1024
#: A sender below this share of its offered rate was kept from sending by its socket.
_PACE: Final = 0.98


class TrafficError(TestbedError):
    """The traffic of a trial did not come about."""


async def serve(
    host: Host,
    port: int,
    folder: str,
    limit_s: float = 60.0,
    *,
    log: str | None = None,
    once: bool = False,
    seconds: bool = True,
    ip: str | None = None,
) -> Process:
    """Start a server on ``port``; its pid file appears before it listens, so ask for the socket.

    ``once``: it ends with its first client, and ``log`` is then that client's report. ``seconds``:
    whether it counts by the second (see :func:`unpaced`). ``ip``: the one version that it serves;
    a server of both (3.12) does not mark what it sends over IPv4.
    """
    log = log or f"{folder}/iperf3-{host.name}-{port}.log"
    argv = ["iperf3", "-s", "-J", "-p", str(port), *(["-1"] if once else [])]
    argv += [] if seconds else ["-i", "0"]
    argv += [] if ip is None else [f"-{ip[-1]}"]
    async with host.starting(argv, log=log) as process:
        await host.wait_for_socket("tcp", port, process, limit_s)
    return process


def arguments(
    flow: Flow, server: str, port: int, source: str | None = None, *, at_receiver: bool = False
) -> list[str]:
    """The client's argument vector for a flow towards ``server``.

    ``at_receiver``: the client receives a flow upwards from a server at the station.
    """
    argv = ["iperf3", "-c", server, "-p", str(port), "-J"]
    if source is not None:
        argv += ["-B", source]
    if flow.direction == "down" or at_receiver:
        argv.append("-R")
    elif flow.direction == "both":
        argv.append("--bidir")
    if flow.transport == "udp":
        # -b 0 is unlimited; iperf3's own default for UDP is 1 Mbit/s.
        argv += ["-u", "-b", f"{flow.offered_bps or 0:.0f}"]
        if at_receiver and not flow.offered_bps:
            argv[-1] += "/1"  # ten datagrams at a time would show as jitter
            if not flow.series:
                argv += ["-i", "0"]
        default = 1472 if flow.ip == "ipv4" else 1452
        argv += ["-l", str(flow.payload_octets or default)]
        if flow.window_octets:
            argv += ["-w", str(flow.window_octets)]
    else:
        for option, value in (
            ("-b", flow.offered_bps),
            ("-l", flow.write_octets),
            ("-M", flow.mss_octets),
            ("-w", flow.window_octets),
        ):
            if value:
                argv += [option, f"{value:.0f}"]
        if flow.congestion_control:
            words = {"newreno": "reno"}
            argv += ["-C", words.get(flow.congestion_control, flow.congestion_control)]
    if flow.dscp:
        argv += ["--dscp", str(flow.dscp)]
    if flow.transfer_octets:
        argv += ["-n", str(flow.transfer_octets)]
    else:
        # iperf3 takes whole seconds, and 0 for ever.
        argv += ["-t", str(max(1, math.ceil(flow.duration_s - flow.warm_up_s)))]
        if flow.warm_up_s:
            argv += ["-O", str(math.ceil(flow.warm_up_s))]
    if flow.per_station > 1:
        argv += ["-P", str(flow.per_station)]
    if flow.series and flow.direction == "up" and not at_receiver:
        argv.append("--get-server-output")  # the receiver's seconds, not the sender's
    return argv


def ends_at_receiver(flow: Flow) -> bool:
    """Whether the receiver can end a flow: one upwards, of a duration.

    A sender's client tells the receiver of the end behind all that waits in its queue, so the
    receiver counts for longer than the flow has lasted.
    """
    return flow.direction == "up" and flow.transfer_octets is None


def unpaced(flow: Flow, rate_bps: float) -> Flow:
    """A UDP flow upwards without a limit that the rate of the link would not let it reach.

    iperf3's timers, 1 ms for the pace and 1 s for the counts, go on after the end of a flow, where
    nothing handles them: until the other end has answered, iperf3 asks for news without waiting.
    Where the CPU takes no time, a second of this is a million questions.
    """
    beyond = flow.offered_bps is not None and flow.offered_bps >= rate_bps
    upwards = flow.transport == "udp" and flow.direction == "up"
    return evolve(flow, offered_bps=None) if beyond and upwards else flow


def paced(flow: Flow, rates_bps: Iterable[float]) -> Flow:
    """A saturated UDP flow with a wired sender at the lowest of the rates that it crosses.

    A wired sender does not wait for the air. Where the CPU takes no time, it offers 28 Gb/s, and a
    second of it took four minutes. The link loses the surplus in any case.
    """
    saturated = flow.transport == "udp" and flow.direction != "up" and not flow.offered_bps
    return evolve(flow, offered_bps=min(rates_bps)) if saturated else flow


def deep(flow: Flow) -> Flow:
    """The same flow with a socket that holds more datagrams than an A-MPDU takes.

    The kernel books 4352 octets for a datagram of 1472 on a wireless interface, so that a socket of
    the default size (212,992 octets) holds 48, and an A-MPDU takes 64. A size that is asked for
    holds twice as much; this one is still less than the medium's queue of 100 frames.
    """
    if flow.transport != "udp" or flow.window_octets is not None or flow.per_station > 1:
        return flow
    return evolve(flow, window_octets=_DEEP_OCTETS)


async def measure(
    host: Host,
    flow: Flow,
    server: str,
    port: int,
    source: str | None = None,
    *,
    at_receiver: bool = False,
) -> dict[str, Any]:
    """Run a client to its end; gives its report. ``at_receiver`` as for :func:`arguments`.

    Raises :class:`TrafficError` with iperf3's own message.
    """
    argv = arguments(flow, server, port, source, at_receiver=at_receiver)
    done = await host.run(argv, limit_s=flow.duration_s + MARGIN_S, check=False)
    return parse(done.stdout, host.name)


def parse(text: str, who: str) -> dict[str, Any]:
    """A report; raises :class:`TrafficError` when it is none or names an error."""
    start = text.find("{")
    try:
        report: dict[str, Any] = json.loads(text[start:]) if start >= 0 else {}
    except json.JSONDecodeError:
        report = {}
    if "error" in report:
        raise TrafficError(f"{who}: iperf3: {report['error']}")
    if "end" not in report or "streams" not in report["end"]:
        raise TrafficError(f"{who}: iperf3 ended without a report")
    return report


def values(report: dict[str, Any], flow: str, station: str) -> list[Value]:
    """Throughput at the receiver, offered load, loss, jitter and retransmissions."""
    udp = report["start"]["test_start"]["protocol"] == "UDP"
    found: list[Value] = []

    def add(metric: str, value: float, unit: str, name: str) -> None:
        found.append(Value(metric, float(value), unit, flow=name, station=station))

    sums = [("", report["start"]["test_start"].get("reverse") == 1)]
    if report["start"]["test_start"].get("bidir") == 1 or "sum_sent_bidir_reverse" in report["end"]:
        sums = [("", False), ("_bidir_reverse", True)]
    for suffix, reverse in sums:
        name = flow + (":down" if reverse else ":up") if len(sums) > 1 else flow
        sent = report["end"][f"sum_sent{suffix}"]
        received = report["end"][f"sum_received{suffix}"]
        if udp:
            _udp(report, sent, received, name, add)
        else:
            add("throughput_bps", received["bits_per_second"], "bit/s", name)
            if "retransmits" in sent:
                add("tcp_retransmissions", sent["retransmits"], "1", name)
    return found


def server_values(report: dict[str, Any], flow: str, station: str) -> list[Value]:
    """The values that a server received, if the client's report is missing (direction up).

    The server counts neither the offered load nor datagrams lost behind the last that arrived.
    """
    received = report["end"]["sum_received"]
    found = [Value("throughput_bps", float(received["bits_per_second"]), "bit/s", flow, station)]
    if report["start"]["test_start"]["protocol"] != "UDP":
        return found
    seen, lost = received["packets"], received["lost_packets"]
    found += [
        Value("packets_received", float(seen - lost), "1", flow, station),
        Value("jitter_s", jitter_s(whole_seconds(report), received), "s", flow, station),
    ]
    if seen > 0:
        found.append(Value("loss_ratio", lost / seen, "1", flow, station))
    return found


def transfer_delay(report: dict[str, Any], flow: str, station: str) -> Value:
    """Time until the receiver had the whole transfer, seconds."""
    took = float(report["end"]["sum_received"]["seconds"])
    return Value("transfer_delay_s", took, "s", flow, station)


def series(report: dict[str, Any], flow: str, station: str) -> list[Value]:
    """One value per second as the receiver counted: throughput, and for UDP jitter and loss.

    Empty where the report holds no receiver's seconds (both directions at once, or a server
    that could not tell them). Seconds of the warm-up (``-O``) are left out, the rest count from 0.
    """
    found: list[Value] = []
    for second, row in enumerate(receiver_seconds(report)):

        def add(metric: str, value: float, unit: str, second: int = second) -> None:
            found.append(Value(metric, float(value), unit, flow, station, second))

        add("throughput_bps", row["bits_per_second"], "bit/s")
        if "jitter_ms" in row:
            add("jitter_s", row["jitter_ms"] / 1000, "s")
            if row["packets"] > 0:
                add("loss_ratio", row["lost_packets"] / row["packets"], "1")
    return found


def _udp(report: dict[str, Any], sent: dict[str, Any], received: dict[str, Any],
         name: str, add: Any) -> None:  # fmt: skip
    length = report["start"]["test_start"]["blksize"]
    # The receiver counts up to the highest number it saw. Datagrams lost behind that number are
    # missing from its count but not from the sender's.
    delivered = received["packets"] - received["lost_packets"]
    seconds = received["seconds"]
    count = received["packets"] if _waits(report, sent, received) else sent["packets"]
    add("packets_sent", count, "1", name)
    add("packets_received", delivered, "1", name)
    add("offered_bps", sent["bits_per_second"], "bit/s", name)
    if seconds > 0:
        add("throughput_bps", delivered * length * 8 / seconds, "bit/s", name)
    if count > 0:
        lost = max(0, count - delivered)
        add("packets_lost", lost, "1", name)
        add("loss_ratio", lost / count, "1", name)
    add("jitter_s", jitter_s(receiver_seconds(report), received), "s", name)


def _waits(report: dict[str, Any], sent: dict[str, Any], received: dict[str, Any]) -> bool:
    """Whether datagrams behind the last received wait in the sender's queue, and are not lost.

    They do where the receiver ended the test and the socket kept the sender below its offered rate.
    """
    start = report["start"]
    if start["test_start"].get("reverse") != 1 or received["packets"] == 0:
        return False
    offered = start.get("target_bitrate", 0)
    return bool(offered == 0 or sent["bits_per_second"] < _PACE * offered)
