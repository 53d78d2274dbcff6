"""Network namespaces: one per node, wired to a switch on the server.

Takes node names; gives namespaces, veth cables and bridges with addresses. Never touches a
namespace whose name does not begin with the run's own prefix.

    station ~ radio ~ AP [br0: radio + veth] === veth === [br0: switch] server

Addresses: 10.77.0.0/24 and fd77::/64; server .1, APs .2 and up, a RADIUS server on a cable of its
own .9, the first RADIUS proxy .8, stations .11 and up. Tunnels end in 10.78.0.0/24 and fd78::/64
with the same last number, a tunnel around n others in 10.78.n.0/24 and fd78:0:0:n::/64. Cable n of
a chain behind that proxy is 10.79.n.0/30.
"""

from __future__ import annotations

import contextlib
from typing import Final

from attrs import frozen

from airtoll.testbeds.linux.hosts.host import Host, HostError, LocalHost

SERVER_NUMBER: Final = 1
RADIUS_NUMBER: Final = 9
#: The first of a chain of RADIUS proxies.
PROXY_NUMBER: Final = 8
FIRST_AP_NUMBER: Final = 2
FIRST_STATION_NUMBER: Final = 11
BRIDGE: Final = "br0"
#: Ends of the cable of an access point: a port of the switch, and the access point's own.
SWITCH_PORT: Final = "sw"
ACCESS_POINT_PORT: Final = "eth0"
#: A node's own end of its cable.
CABLE_END: Final = "eth0"
#: Settings that keep IPv6 from sending on a new interface, which takes air that no study has asked
#: for: the search for routers and for duplicates of its address, and reports of its groups (within
#: the interval, ms; a day).
_QUIET: Final = tuple(
    f"net.ipv6.conf.default.{name}"
    for name in (
        "router_solicitations=0",
        "dad_transmits=0",
        "accept_ra=0",
        "mldv2_unsolicited_report_interval=86400000",
    )
)
#: No address of its own on what only passes frames on; each would join a group and report it.
_NO_ADDRESS: Final = "addrgenmode none"


@frozen
class Address:
    """A node's addresses by its number."""

    number: int

    def outer(self, ip: str = "ipv4") -> str:
        """On the network itself."""
        return f"10.77.0.{self.number}" if ip == "ipv4" else f"fd77::{self.number:x}"

    def inner(self, ip: str = "ipv4", layer: int = 0) -> str:
        """Inside a tunnel; ``layer``: how many other tunnels are inside it."""
        if ip == "ipv4":
            return f"10.78.{layer}.{self.number}"
        return f"fd78:0:0:{layer:x}::{self.number:x}" if layer else f"fd78::{self.number:x}"

    @property
    def link(self) -> str:
        """The link-layer address of its bridge or its end of a cable; a radio has its own."""
        return _link_address(0, self.number)


def namespace(run_id: str, node: str) -> str:
    """The name of a node's namespace; it begins with the run's prefix."""
    return f"at-{run_id}-{node}"


async def add(root: Host, run_id: str, nodes: list[str]) -> dict[str, LocalHost]:
    """Make the namespaces, each with its loopback up, and give a host for each."""
    hosts: dict[str, LocalHost] = {}
    lines = [f"netns add {namespace(run_id, node)}" for node in nodes]
    await root.run(["ip", "-batch", "-"], stdin="\n".join(lines) + "\n")
    script = "".join(f"ip -n {namespace(run_id, node)} link set lo up\n" for node in nodes)
    await root.run(["sh", "-e", "-c", script])
    for node in nodes:
        hosts[node] = LocalHost(node, run_id, namespace(run_id, node))
        # TCP would hold a control message back while the one before it waits in the radio's queue,
        # and send it behind the flow that the message announces: iperf3's client then asks for it
        # in a loop, because data is there that it does not read yet.
        await hosts[node].run(["sysctl", "-qw", "net.ipv4.tcp_autocorking=0", *_QUIET])
    return hosts


async def _cable(root: Host, one: tuple[LocalHost, str], other: tuple[LocalHost, str]) -> None:
    """Lay a cable between two nodes, each with the name of its end."""
    (near, port), (far, end) = one, other
    ends = [*("netns", str(near.namespace)), "type", "veth", "peer", "name", end]
    await root.run(["ip", "link", "add", port, *ends, "netns", str(far.namespace)])


async def attach(
    root: Host, run_id: str, node: str, server: LocalHost, number: int
) -> tuple[LocalHost, list[tuple[Host, str]]]:
    """Make a node with a cable to the server's switch; gives it, and both ends of the cable."""
    host = (await add(root, run_id, [node]))[node]
    far, near = f"{SWITCH_PORT}-{node}", CABLE_END
    await _cable(root, (server, far), (host, near))
    await _batch(root, server, _port(far))
    own = Address(number)
    lines = [f"link set {near} address {own.link}", f"link set {near} up", *_addresses(own, near)]
    await _batch(root, host, lines)
    return host, [(server, far), (host, near)]


async def chain(
    root: Host, run_id: str, near: LocalHost, node: str, number: int
) -> tuple[LocalHost, list[tuple[Host, str]]]:
    """Make a node at the far end of cable ``number`` of a chain; gives it, and both ends.

    The two know each other's link-layer address.
    """
    host = (await add(root, run_id, [node]))[node]
    further, back = f"next{number}", CABLE_END
    await _cable(root, (near, further), (host, back))
    for end, interface, is_far in ((near, further, False), (host, back, True)):
        own, other = (chain_address(number, far=far) for far in (is_far, not is_far))
        link, peer = (_link_address(number, 1 + far) for far in (is_far, not is_far))
        lines = [
            f"link set {interface} address {link}",
            f"addr replace {own}/30 dev {interface}",
            f"link set {interface} up",
            f"neigh replace {other} lladdr {peer} nud permanent dev {interface}",
        ]
        await _batch(root, end, lines)
    return host, [(near, further), (host, back)]


def chain_address(number: int, *, far: bool) -> str:
    """The address of an end of cable ``number`` of a chain."""
    return f"10.79.{number}.{2 if far else 1}"


async def wire(root: Host, server: LocalHost, access_points: list[LocalHost]) -> None:
    """A switch on the server, and one cable from it to a bridge on every AP."""
    own = Address(SERVER_NUMBER)
    await _batch(root, server, [_bridge(own), f"link set {BRIDGE} up"])
    # Packets of 64 KiB, which the kernel cuts up behind the queue, would take a cable in one piece.
    await server.run(["ethtool", "-K", BRIDGE, "tso", "off", "gso", "off"], check=False)
    await _batch(root, server, _addresses(own, BRIDGE))
    for index, host in enumerate(access_points):
        far, near = f"{SWITCH_PORT}{index}", ACCESS_POINT_PORT
        await _cable(root, (server, far), (host, near))
        await _batch(root, server, _port(far))
        # It passes frames of IPv6 on and needs no address of its own.
        both = (f"net.ipv6.conf.{which}.disable_ipv6=1" for which in ("default", "all"))
        await host.run(["sysctl", "-qw", *both])
        own = Address(FIRST_AP_NUMBER + index)
        lines = [_bridge(own), *_port(near), f"link set {BRIDGE} up", _ipv4(own, BRIDGE)]
        await _batch(root, host, lines)


async def address(root: Host, host: LocalHost, interface: str, number: int) -> None:
    """Replace the addresses of an interface."""
    with contextlib.suppress(HostError):
        await root.run(["ip", "-n", str(host.namespace), "addr", "flush", "dev", interface])
    await _batch(root, host, _addresses(Address(number), interface))


async def remove(root: Host, run_id: str) -> None:
    """Remove the run's namespaces; radios in them go back to the root namespace."""
    listed = await root.run(["ip", "netns", "list"], check=False)
    for line in listed.stdout.splitlines():
        name = line.split()[0] if line.split() else ""
        if name.startswith(f"at-{run_id}-"):
            await root.run(["ip", "netns", "delete", name], check=False)


def _link_address(network: int, number: int) -> str:
    """A locally administered address; network 0 is the common one, others are cables of a chain."""
    return f"0a:77:00:00:{network:02x}:{number:02x}"


def _bridge(own: Address) -> str:
    # A bridge takes the least address of its ports unless it is told one. One that listens to
    # reports of groups joins a group itself, and reports that.
    return f"link add {BRIDGE} address {own.link} type bridge mcast_snooping 0"


def _port(interface: str) -> list[str]:
    """Make an interface a port of the bridge."""
    return [
        f"link set {interface} {_NO_ADDRESS}",
        f"link set {interface} master {BRIDGE}",
        f"link set {interface} up",
    ]


def _addresses(node: Address, interface: str) -> list[str]:
    return [
        _ipv4(node, interface),
        f"-6 addr replace {node.outer('ipv6')}/64 dev {interface} nodad",
    ]


def _ipv4(node: Address, interface: str) -> str:
    return f"addr replace {node.outer()}/24 dev {interface}"


async def _batch(root: Host, host: LocalHost, lines: list[str]) -> None:
    # `ip -batch` takes no options per line, so IPv6 addresses are told by their form.
    text = "".join(line.removeprefix("-6 ") + "\n" for line in lines)
    await root.run(["ip", "-n", str(host.namespace), "-batch", "-"], stdin=text)
