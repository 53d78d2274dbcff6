"""A foreign network to move to: the second AP behind a router instead of on the switch.

Takes the nodes of the stack; gives home and foreign agents running, and undoes it again. Never
changes a host's own routes: everything happens inside the run's namespaces.

    home 10.77.0.0/24: server (home agent .1), AP 1
    foreign 10.79.0.0/24: AP 2 (foreign agent .1), reached over 10.80.0.0/30
"""

from __future__ import annotations

import contextlib
from typing import TYPE_CHECKING, Final

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.daemons import mobile_ip
from airtoll.testbeds.linux.hosts import namespaces
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.hosts.namespaces import BRIDGE, FIRST_AP_NUMBER, Address

if TYPE_CHECKING:
    from airtoll.testbeds.linux.stack import Stack

HOME_AGENT: Final = Address(namespaces.SERVER_NUMBER).outer()
FOREIGN_AGENT: Final = "10.79.0.1"
CARE_OF: Final = "10.80.0.2"
_SERVER_SIDE: Final = "10.80.0.1"
_HOME: Final = "10.77.0.0/24"


async def set_up(stack: Stack, homes: tuple[str, ...], undo: contextlib.AsyncExitStack) -> None:
    """Put the second AP into a network of its own, with agents; undone with the trial.

    ``homes``: the home addresses of the stations, which may register.

    Raises ``TestbedError`` for a stack whose hosts airtoll may not re-wire.
    """
    if not stack.virtual:
        raise TestbedError("linux: a foreign network is set up between namespaces only")
    server, visited = stack.hosts["srv"], stack.hosts["ap2"]
    undo.push_async_callback(join, server, visited)
    await part(server, visited)
    key = stack.credentials.mobility_key
    nodes = tuple(mobile_ip.Homed(home, key) for home in homes)
    for process in await agents(server, visited, stack.folder, nodes):
        undo.push_async_callback(process.stop)


async def part(server: Host, access_point: Host) -> None:
    """Replace the second AP's port on the switch by a routed link."""
    own = Address(FIRST_AP_NUMBER + 1)
    await _script(
        server,
        "ip link set sw1 nomaster",
        f"ip addr replace {_SERVER_SIDE}/30 dev sw1",
        f"ip route replace 10.79.0.0/24 via {CARE_OF}",
        "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0",
    )
    await _script(
        access_point,
        "ip link set eth0 nomaster",
        f"ip addr replace {CARE_OF}/30 dev eth0",
        f"ip addr del {own.outer()}/24 dev {BRIDGE}",
        f"ip addr replace {FOREIGN_AGENT}/24 dev {BRIDGE}",
        f"ip route replace default via {_SERVER_SIDE}",
        "sysctl -qw net.ipv4.ip_forward=1 net.ipv4.conf.all.rp_filter=0",
        # The switch's old answers must not shadow the routed path.
        "ip neigh flush all",
    )


async def join(server: Host, access_point: Host) -> None:
    """Put the second AP back on the switch."""
    own = Address(FIRST_AP_NUMBER + 1)
    for host in (server, access_point):
        await _script(
            host,
            f"ip link del group {mobile_ip.TUNNELS} 2>/dev/null || true",
            "ip neigh flush all",
        )
    await _script(
        access_point,
        "ip route del default",
        f"ip addr del {CARE_OF}/30 dev eth0",
        f"ip addr del {FOREIGN_AGENT}/24 dev {BRIDGE}",
        f"ip addr replace {own.outer()}/24 dev {BRIDGE}",
        f"ip link set eth0 master {BRIDGE}",
        check=False,
    )
    await _script(
        server,
        "ip route del 10.79.0.0/24",
        f"ip addr del {_SERVER_SIDE}/30 dev sw1",
        f"ip neigh flush proxy dev {BRIDGE}",
        f"ip link set sw1 master {BRIDGE}",
        check=False,
    )


async def agents(
    server: Host, access_point: Host, folder: str, nodes: tuple[mobile_ip.Homed, ...]
) -> tuple[Process, Process]:
    """Start both agents for these mobile nodes."""
    at_home = mobile_ip.HomeAgent(nodes, HOME_AGENT, BRIDGE)
    abroad = mobile_ip.ForeignAgent(FOREIGN_AGENT, CARE_OF, BRIDGE)
    return (
        await mobile_ip.start(server, folder, at_home),
        await mobile_ip.start(access_point, folder, abroad),
    )


async def register(
    station: Host, folder: str, interface: str, home: str, key: str
) -> mobile_ip.Registered:
    """Register with the agent that the station hears; gives times and addresses.

    The home agent heard itself means that the station is back: it deregisters.
    """
    node = mobile_ip.MobileNode(key, home, HOME_AGENT, interface, prefix=_HOME)
    return await mobile_ip.register(station, folder, node, limit_s=90.0)


async def _script(host: Host, *lines: str, check: bool = True) -> None:
    # `sh -e` ends at the first command that fails, and names it.
    text = "\n".join(lines)
    await host.run(["sh", "-ec" if check else "-c", text], check=check)
