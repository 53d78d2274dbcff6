"""DNS between the hosts of a trial: the resolver, clients that look names up, and their values.

The programs on the hosts are those of ``on_hosts.dns``.
"""

from __future__ import annotations

from airtoll.testbeds.linux.daemons.credentials import Chain
from airtoll.testbeds.linux.hosts import programs
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.hosts.plain import read
from airtoll.testbeds.linux.job import Distribution, Value
from airtoll.testbeds.linux.on_hosts import dns as program
from airtoll.testbeds.linux.on_hosts.dns import (
    TLS_PORT,
    UDP_PORT,
    Client,
    DnsError,
    Lookups,
    Service,
)


async def serve(host: Host, folder: str, chain: Chain, limit_s: float = 60.0) -> Process:
    """Start the resolver on a host and wait until it listens."""
    base = f"{folder}/dns-{host.name}"
    await host.put(f"{base}.pem", chain.server + chain.server_key)
    settings = Service(f"{base}.pem", (UDP_PORT, TLS_PORT), f"{base}.ready")
    return await programs.serve(host, base, program.__name__, settings, limit_s)


async def measure(
    host: Host, folder: str, server: str, chain: Chain, *, over_tls: bool, duration_s: float
) -> Lookups:
    """Look up one name after the other for a time. Raises :class:`DnsError` without an answer."""
    base = f"{folder}/dns-client-{host.name}"
    await host.put(f"{base}.pem", chain.authority)
    settings = Client(
        server=server,
        port=TLS_PORT if over_tls else UDP_PORT,
        authority=f"{base}.pem" if over_tls else None,
        duration_s=duration_s,
    )
    found = read(Lookups, await programs.run(host, base, program.__name__, settings, duration_s))
    if not found.response_s:
        raise DnsError(f"{host.name}: DNS: {server} answered no query")
    return found


def values(found: Lookups, station: str) -> list[Value]:
    """Mean and quantiles of the response time of a station's lookups."""
    return distribution(found, station).values()


def distribution(found: Lookups, station: str) -> Distribution:
    """Response times of a station's lookups."""
    return Distribution.of("response_time_s", "dns", station, found.response_s)
