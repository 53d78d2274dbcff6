"""Requests and responses over TCP between the hosts of a trial: their server, clients and values.

The programs on the hosts are those of ``on_hosts.exchanges``.
"""

from __future__ import annotations

from airtoll.testbeds.linux.hosts import programs
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.hosts.plain import read
from airtoll.testbeds.linux.hosts.tcp_options import TcpOptions
from airtoll.testbeds.linux.job import Distribution, Flow, Value
from airtoll.testbeds.linux.on_hosts import exchanges as program
from airtoll.testbeds.linux.on_hosts.exchanges import (
    HTTP_PORT,
    PLAIN_PORT,
    Client,
    ExchangeError,
    Exchanges,
    Service,
)


async def serve(host: Host, folder: str, options: TcpOptions) -> Process:
    """Start the server on a host and wait until it listens."""
    base = f"{folder}/exchanges-{host.name}"
    settings = Service((HTTP_PORT, PLAIN_PORT), f"{base}.ready", options)
    return await programs.serve(host, base, program.__name__, settings)


async def measure(
    host: Host, folder: str, server: str, source: str, flow: Flow, name: str
) -> Exchanges:
    """Exchange for the time of a flow; ``name`` tells the clients of a host apart.

    Raises :class:`ExchangeError` where no exchange came about after the warm-up.
    """
    is_http = flow.application == "http"
    settings = Client(
        server=server,
        port=HTTP_PORT if is_http else PLAIN_PORT,
        source=source,
        protocol="http" if is_http else "plain",
        request_octets=flow.request_octets,
        response_octets=flow.response_octets,
        duration_s=flow.duration_s,
        warm_up_s=flow.warm_up_s,
        options=TcpOptions.of(flow),
    )
    base = f"{folder}/exchanges-client-{host.name}-{name}"
    found = read(
        Exchanges, await programs.run(host, base, program.__name__, settings, flow.duration_s)
    )
    if not found.response_s:
        raise ExchangeError(f"{host.name}: {server} completed no exchange in {flow.duration_s:g} s")
    return found


def values(found: Exchanges, flow: str, station: str) -> list[Value]:
    """Mean and quantiles of the response time, and the octets of both directions per second."""
    rated = Value("throughput_bps", 8 * found.octets / found.span_s, "bit/s", flow, station)
    return [rated, *distribution(found, flow, station).values()]


def distribution(found: Exchanges, flow: str, station: str) -> Distribution:
    """Response times of the exchanges of a flow."""
    return Distribution.of("response_time_s", flow, station, found.response_s)
