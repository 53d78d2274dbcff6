"""Rate, delay, loss and queue of the cables between access points and servers.

Takes the hosts at both ends; sets the kernel's network emulator (netem) on both. A packet takes the
time of its frame on an Ethernet of that rate, with preamble and interframe gap, then the delay.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from airtoll.testbeds.linux.hosts.host import Host

#: Preamble 8, FCS 4 and interframe gap 12 octets; the kernel's length has the header already.
_OVERHEAD_OCTETS: Final = 24


@frozen
class Cable:
    """One kind of cable.

    ``queue_packets``: most packets that wait for it in each direction. ``loss_ratio``: share of
    packets that it loses, each way.
    """

    rate_bps: float
    delay_s: float
    queue_packets: int
    loss_ratio: float = 0.0


async def lay(cable: Cable, ends: list[tuple[Host, str]]) -> None:
    """Give both ends (host and interface) of cables their rate, delay, loss and queue.

    Raises ``HostError`` where the kernel has no netem.
    """
    for host, interface in ends:
        await host.run(arguments(cable, interface))


def arguments(cable: Cable, interface: str) -> list[str]:
    """The command for one end."""
    return [
        *("tc", "qdisc", "replace", "dev", interface, "root", "netem"),
        *("limit", str(cable.queue_packets), "delay", f"{cable.delay_s * 1e6:.3f}us"),
        *(("loss", f"{100 * cable.loss_ratio:g}%") if cable.loss_ratio else ()),
        *("rate", f"{cable.rate_bps:.0f}bit", str(_OVERHEAD_OCTETS)),
    ]
