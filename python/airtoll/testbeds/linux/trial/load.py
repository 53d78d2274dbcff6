"""The traffic of a trial, and whether its throughput is the radio's.

Takes a trial's progress with every link up; gives values, CPU and radio conditions in it. Never
gives a value once a daemon has died, and never a throughput without the verdict on it.
"""

from __future__ import annotations

import asyncio
import math
import signal
import time
from collections.abc import Awaitable
from typing import Final

from attrs import evolve

from airtoll.border.answers import MediumStatistics
from airtoll.errors import TestbedError
from airtoll.observe.metrics import NOT_RADIO
from airtoll.testbeds.linux import conditions
from airtoll.testbeds.linux.air import medium, rates, simulated_stations
from airtoll.testbeds.linux.attended import by_hand
from airtoll.testbeds.linux.hosts import crypto
from airtoll.testbeds.linux.hosts.tcp_options import TcpOptions
from airtoll.testbeds.linux.job import Flow, Value
from airtoll.testbeds.linux.traffic import dns, exchanges, ftp, iperf3, irtt
from airtoll.testbeds.linux.trial import handover, newcomers, rejoins
from airtoll.testbeds.linux.trial.progress import Progress

#: How much longer than its work a probe would go on, were it not ended with it.
_PROBE_MARGIN_S: Final = 60.0
#: How long the CPU's ceiling is measured.
_CEILING_S: Final = 3.0
#: Of a cable that takes no time.
_GIGABIT_BPS: Final = 1e9


async def carry(progress: Progress, flow: Flow) -> None:
    """Run a flow of every station that has one; adds values, conditions and caveats.

    Raises ``TestbedError`` with a tool's message, or naming a daemon that died.
    """
    stack, job = progress.stack, progress.job
    names = [name for name in job.stations if flow.stations is None or name in flow.stations]
    if job.between_stations:
        names = list(job.stations[:1])
    late = dict(job.joins_at_s)
    await _encryption(progress, [name for name in names if name not in late])
    # Namespaces share the machine's CPUs; of a laboratory the AP's is the one in question, and one
    # that airtoll does not drive does not tell.
    busy = stack.root if stack.virtual else stack.hosts.get("ap1")
    before = None if busy is None else await conditions.sample(busy)
    radio_before = await _radio_conditions(progress)
    if stack.medium is not None:
        await stack.medium.statistics(forget=True)
    crowd = await _start_crowd(progress, flow, beside=any(name not in late for name in names))
    if job.fault == "hostapd":
        drill = asyncio.create_task(_kill_hostapd(progress, flow.duration_s / 3))
        progress.undo.callback(drill.cancel)
    ends_at = time.monotonic() + flow.duration_s
    numbers = {name: index for index, name in enumerate(names)}
    work = asyncio.gather(
        *(_one(progress, name, numbers[name], flow) for name in names if name not in late),
        *(
            _newcomer(progress, name, at_s, ends_at, numbers.get(name), flow)
            for name, at_s in late.items()
        ),
        *([handover.carry_out(progress)] if job.handover != "none" else []),
        *([rejoins.carry_out(progress)] if job.deauthenticate_at_s is not None else []),
        *([crowd] if crowd is not None else []),
        return_exceptions=True,
    )
    started = await _clock(progress)
    results = await progress.unless_one_dies(work)
    if crowd is not None and stack.medium is not None:
        await stack.medium.end_flows()
    window = (started + flow.warm_up_s, await _clock(progress))
    progress.conditions.traffic_window = window
    await progress.alive()
    for result in results:
        if isinstance(result, BaseException):
            raise result
        progress.values += result
    # Where the CPU takes no time, it has no share of it.
    if busy is not None and before is not None and not stack.virtual_time:
        usage = conditions.usage(before, await conditions.sample(busy))
        if not progress.by_hand:  # a person's time is no time of the traffic's
            progress.values.append(Value("cpu_share", usage["busy"], "1"))
        progress.conditions.cpu = usage
    radio_after = await _radio_conditions(progress)
    progress.conditions.radio = conditions.Signals(radio_before, radio_after)
    progress.caveats += conditions.moved(radio_before, radio_after)
    if stack.medium is not None:
        counts = await stack.medium.statistics()
        progress.conditions.air = counts
        progress.values += simulated_stations.values(job, counts)
        await _judge(progress, names, flow, counts)


async def _newcomer(
    progress: Progress, name: str, at_s: float, ends_at: float, number: int | None, flow: Flow
) -> list[Value]:
    """A station that joins during the traffic, with its own flow, if it has one, after it."""
    await asyncio.sleep(at_s)
    joined = await newcomers.join(progress, name)
    left_s = newcomers.left_s(name, ends_at)
    if number is None:
        await progress.reachable([name])
        return [joined]
    own = evolve(flow, duration_s=left_s, warm_up_s=0.0)
    begun = time.monotonic()
    values = await _one(progress, name, number, own)
    rated = sorted({v.flow for v in values if v.metric == "throughput_bps" and v.flow is not None})
    measured_s = max(1.0, math.ceil(left_s)) if flow.application == "stream" else left_s
    measured_s = min(measured_s, time.monotonic() - begun)
    rows = [Value("measured_s", measured_s, "s", flow=label, station=name) for label in rated]
    return [joined, *values, *rows]


async def _start_crowd(
    progress: Progress, flow: Flow, *, beside: bool
) -> Awaitable[list[Value]] | None:
    """Let simulated stations begin; gives a wait for as long as they are counted, or None.

    ``beside``: they are counted while real stations have their traffic.
    """
    job, air = progress.job, progress.stack.medium
    if not job.simulated:
        return None
    if air is None or not progress.stack.virtual_time:
        raise TestbedError("linux: stations are simulated in virtual time only")
    progress.caveats.append(simulated_stations.caveat(job))
    if flow.series:
        progress.caveats.append("no values per second of simulated stations")
    if flow.stations is not None and not {*flow.stations} & {*job.simulated}:
        return None
    warm_up_s, counted_s = simulated_stations.counted_s(flow)
    await air.start_flows(warm_up_s, counted_s, beside=beside)

    async def counted() -> list[Value]:
        await asyncio.sleep(warm_up_s + counted_s)
        return []

    return counted()


async def _judge(
    progress: Progress, names: list[str], flow: Flow, counts: MediumStatistics
) -> None:
    """Say whether the throughput measured is the radio's, by the CPU's ceiling where it has one."""
    air_bps = _total(progress.values)
    free = progress.stack.virtual_time
    if air_bps is None:
        if not free:
            progress.caveats.append("delays contain what the CPU needs, not the air alone")
        return
    ceiling = None if free else await _ceiling(progress, names, flow, air_bps)
    verdict = medium.judge(air_bps, ceiling, counts)
    other_rate = rates.refusal(progress.job, progress.policy, counts)
    if verdict.refusal is None and other_rate is not None:
        verdict = evolve(verdict, refusal=other_rate)
    progress.conditions.verdict = verdict
    if verdict.refusal is not None:
        progress.caveats.insert(0, NOT_RADIO + verdict.refusal)


async def _ceiling(progress: Progress, names: list[str], flow: Flow, air_bps: float) -> float:
    """Rate of this traffic that the CPU carries over the same medium without airtime, bit/s.

    The offered load is somewhat more than the head-room over ``air_bps``, the rate that the air
    carried. Measured once per kind of traffic and policy, with the association that there is.
    """
    stack, job = progress.stack, progress.job
    assert stack.medium is not None
    kind = (flow.transport, flow.ip, flow.direction, flow.payload_octets, flow.offered_bps)
    asked = (flow.application, flow.request_octets, flow.response_octets)
    place = (job.station_to_station, job.domains, job.bridges)
    key = (progress.policy.name, job.phy, place, len(names), *kind, *asked)
    if key not in stack.ceilings:
        # Enough to show the head-room; more would cost an emulated CPU minutes.
        greedy = evolve(
            flow,
            offered_bps=1.25 * medium.HEAD_ROOM * air_bps / len(names),
            transfer_octets=None,
            window_octets=None,
            duration_s=_CEILING_S,
            warm_up_s=0.0,
            series=False,
        )
        await stack.medium.airtime(False)
        try:
            results = await asyncio.gather(
                *(_one(progress, name, i, greedy, probe=False) for i, name in enumerate(names))
            )
        finally:
            await stack.medium.airtime(True)
        stack.ceilings[key] = _total([value for one in results for value in one]) or 0.0
    return stack.ceilings[key]


async def _clock(progress: Progress) -> float:
    """The time (Unix s) on the machine that captures the air."""
    if progress.stack.virtual:
        return time.time()
    host, _ = progress.layout.monitors().get("air", (progress.stack.root, ""))
    # To the second: no `date` of every system tells more.
    return float((await host.run(["date", "+%s"])).stdout)


async def _kill_hostapd(progress: Progress, after_s: float) -> None:
    await asyncio.sleep(after_s)
    await progress.access_points[0].process.signal(signal.SIGKILL)


async def _encryption(progress: Progress, names: list[str]) -> None:
    if not progress.policy.link.encrypts_data:
        return
    stack = progress.stack
    for name in names:
        if name in progress.by_hand:
            continue
        node = progress.layout.nodes[name]
        # debugfs shows every radio of the machine, whatever namespace it is in.
        where = stack.root if stack.virtual else stack.hosts[node]
        held = await crypto.keys(where, stack.radios[node].phy)
        progress.conditions.keys[name] = tuple((k.algorithm, k.in_hardware) for k in held)
        said = crypto.engine(name, held)
        if said:
            progress.caveats.append(said)


async def _one(
    progress: Progress, name: str, index: int, flow: Flow, *, probe: bool | None = None
) -> list[Value]:
    if name in progress.by_hand:
        return await by_hand.carry(progress, name, index, flow)
    stack, layout, host = progress.stack, progress.layout, progress.host(name)
    target = layout.target(name)
    if flow.application == "dns":
        return await _dns(progress, name, flow)
    if flow.application == "http" or (
        flow.application == "request-response" and flow.transport == "tcp"
    ):
        return await _exchanges(progress, name, flow)
    if flow.application == "request-response":
        return await _probes(progress, name, flow)
    work: Awaitable[list[Value]]
    if flow.application == "ftp":
        work = _ftp(progress, name, flow)
    else:
        work = _stream(progress, name, index, flow)
    if not (progress.job.probe if probe is None else probe):
        return await work
    await stack.irtt_server(target)
    # Probes every 50 ms would take 5 % of the air at 2 Mb/s, and of its throughput.
    interval_s = 0.05 if stack.medium is None else 0.5
    # Longer than the work: an interrupt while irtt waits for lost probes costs its report.
    most_s = flow.duration_s + _PROBE_MARGIN_S
    values, probes = await irtt.during(
        host,
        layout.peer(name, flow.ip),
        work,
        stack.folder,
        most_s=most_s,
        interval_s=interval_s,
        dscp=flow.dscp,
    )
    progress.distributions += irtt.distributions(probes, name, one_clock=stack.virtual)
    return [*values, *irtt.values(probes, name, one_clock=stack.virtual)]


async def _stream(progress: Progress, name: str, index: int, flow: Flow) -> list[Value]:
    """A flow of iperf3."""
    stack, layout, host = progress.stack, progress.layout, progress.host(name)
    target = layout.target(name)
    peer, source = layout.peer(name, flow.ip), layout.source(name, flow.ip)
    port = iperf3.FIRST_PORT + index
    job = progress.job
    if stack.virtual_time:
        own = () if job.rate_mbps is None else (job.rate_mbps * 1e6,)
        wire = _GIGABIT_BPS if job.cable is None else job.cable.rate_bps
        flow = iperf3.paced(flow, (*own, wire))
        for rate_bps in own:
            flow = iperf3.unpaced(flow, rate_bps)
    if stack.virtual_time and rates.uses_mcs(job, progress.policy):
        flow = iperf3.deep(flow)
    if stack.virtual_time and iperf3.ends_at_receiver(flow):
        await stack.iperf3_server(layout.end(name), port, flow.ip, seconds=False)
        receiver = stack.hosts[target]
        told = await iperf3.measure(receiver, flow, source, port, peer, at_receiver=True)
    else:
        await stack.iperf3_server(target, port, flow.ip)
        told = await iperf3.measure(host, flow, peer, port, source)
    label = layout.flow_name(name)
    values = iperf3.values(told, label, name)
    if flow.transfer_octets and flow.direction != "both":
        values.append(iperf3.transfer_delay(told, label, name))
    if flow.series:
        values += iperf3.series(told, label, name)
    return values


async def _dns(progress: Progress, name: str, flow: Flow) -> list[Value]:
    """Lookups one after the other."""
    stack, layout = progress.stack, progress.layout
    await stack.dns_server(layout.target(name))
    found = await dns.measure(
        progress.host(name),
        stack.folder,
        layout.peer(name, flow.ip),
        stack.credentials.dns,
        over_tls=flow.transport == "tcp",
        duration_s=flow.duration_s,
    )
    if found.unanswered:
        progress.caveats.append(f"{name}: {found.unanswered} DNS lookups had no answer")
    progress.distributions.append(dns.distribution(found, name))
    return dns.values(found, name)


async def _probes(progress: Progress, name: str, flow: Flow) -> list[Value]:
    """Requests and responses of one length over UDP, by irtt."""
    stack, layout = progress.stack, progress.layout
    await stack.irtt_server(layout.target(name))
    report = await irtt.measure(
        progress.host(name),
        layout.peer(name, flow.ip),
        duration_s=flow.duration_s,
        octets=max(flow.request_octets, flow.response_octets),
    )
    progress.distributions += irtt.distributions(report, name, one_clock=stack.virtual)
    return irtt.values(report, name, one_clock=stack.virtual)


def _parts(label: str, flow: Flow) -> list[tuple[str, Flow]]:
    """Name and direction of each flow of a station: one for each direction and parallel flow."""
    ways = ("up", "down") if flow.direction == "both" else (flow.direction,)
    names = [(f"{label}:{way}" if len(ways) > 1 else label, way) for way in ways]
    numbers = range(1, flow.per_station + 1)
    return [
        (name if flow.per_station == 1 else f"{name}-{number}", evolve(flow, direction=way))
        for name, way in names
        for number in numbers
    ]


async def _exchanges(progress: Progress, name: str, flow: Flow) -> list[Value]:
    """Requests and responses over TCP; the source of the direction asks."""
    stack, layout = progress.stack, progress.layout
    station, target = layout.end(name), layout.target(name)
    peer, source = layout.peer(name, flow.ip), layout.source(name, flow.ip)
    options = TcpOptions.of(flow)
    parts = _parts(layout.flow_name(name), flow)
    for way in {part.direction for _, part in parts}:
        await stack.exchange_server(target if way == "up" else station, options)
    found = await asyncio.gather(
        *(
            exchanges.measure(
                stack.hosts[station if part.direction == "up" else target],
                stack.folder,
                *((peer, source) if part.direction == "up" else (source, peer)),
                part,
                f"{name}-{number}",
            )
            for number, (_, part) in enumerate(parts)
        )
    )
    rows: list[Value] = []
    for (label, _), one in zip(parts, found, strict=True):
        progress.distributions.append(exchanges.distribution(one, label, name))
        rows += exchanges.values(one, label, name)
    return rows


async def _ftp(progress: Progress, name: str, flow: Flow) -> list[Value]:
    """Files up, down or both ways; the station is the client."""
    stack, layout, host = progress.stack, progress.layout, progress.host(name)
    await stack.ftp_server(layout.target(name), flow)
    peer, source = layout.peer(name, flow.ip), layout.source(name, flow.ip)
    parts = _parts(layout.flow_name(name), flow)
    found = await asyncio.gather(
        *(
            ftp.measure(host, stack.folder, peer, source, part, number)
            for number, (_, part) in enumerate(parts)
        )
    )
    rows: list[Value] = []
    for (label, _), one in zip(parts, found, strict=True):
        rows += ftp.values(one, label, name, series=flow.series, one_clock=stack.virtual)
    return rows


async def _radio_conditions(progress: Progress) -> dict[str, dict[str, str]]:
    found = {name: await station.signal() for name, station in progress.stations.items()}
    for name, held in progress.by_hand.items():
        # As the access point hears it, which is the only end that can be asked.
        found[name] = {"RSSI": (await held.state()).get("signal", "unknown")}
    return found


def _total(values: list[Value]) -> float | None:
    """Throughput of all flows together over the whole time, bit/s; None where there is none."""
    rates = [v.value for v in values if v.metric == "throughput_bps" and v.second is None]
    return sum(rates) if rates else None
