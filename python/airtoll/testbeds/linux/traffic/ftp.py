"""FTP between the hosts of a trial: the server, clients that transfer files, and their values.

The programs on the hosts are those of ``on_hosts.ftp``.
"""

from __future__ import annotations

from airtoll.testbeds.linux.hosts import programs
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.hosts.plain import read
from airtoll.testbeds.linux.hosts.tcp_options import TcpOptions
from airtoll.testbeds.linux.job import Flow, Value
from airtoll.testbeds.linux.on_hosts import ftp as program
from airtoll.testbeds.linux.on_hosts.ftp import PORT, WRITE_OCTETS, Client, Service, Transfer


async def serve(host: Host, folder: str, flow: Flow) -> Process:
    """Start the server on a host and wait until it listens."""
    base = f"{folder}/ftp-{host.name}"
    settings = Service(
        PORT, f"{base}.ready", TcpOptions.of(flow), flow.write_octets or WRITE_OCTETS
    )
    return await programs.serve(host, base, program.__name__, settings)


async def measure(
    host: Host, folder: str, server: str, source: str, flow: Flow, number: int
) -> Transfer:
    """One transfer of a flow up or down; ``number`` tells parallel clients of a host apart."""
    settings = Client(
        server=server,
        port=PORT,
        source=source,
        upload=flow.direction == "up",
        octets=flow.transfer_octets,
        duration_s=flow.duration_s,
        warm_up_s=flow.warm_up_s,
        options=TcpOptions.of(flow),
        write_octets=flow.write_octets or WRITE_OCTETS,
    )
    base = f"{folder}/ftp-client-{host.name}-{number}"
    return read(
        Transfer, await programs.run(host, base, program.__name__, settings, flow.duration_s)
    )


def values(
    found: Transfer, flow: str, station: str, *, series: bool, one_clock: bool = True
) -> list[Value]:
    """Throughput at the receiver, retransmissions, and the time of a file that arrived whole.

    The throughput of a whole file is that of its own time, as in the simulator. ``one_clock``:
    whether both ends have the same; otherwise the client's clock gives that time.
    """
    took = found.received.last_s - found.sent.began_s if one_clock else found.own_s
    rate = found.received.window_octets * 8 / found.span_s
    rows: list[Value] = []
    if found.whole and took > 0:
        rate = found.received.window_octets * 8 / took
        rows.append(Value("transfer_delay_s", took, "s", flow, station))
    rows.insert(0, Value("throughput_bps", rate, "bit/s", flow, station))
    again = float(found.sent.retransmissions)
    rows.append(Value("tcp_retransmissions", again, "1", flow, station))
    if series:
        rows += [
            Value("throughput_bps", 8.0 * octets, "bit/s", flow, station, second)
            for second, octets in enumerate(found.received.seconds[: int(found.span_s)])
        ]
    return rows
