"""Mobile IPv4 agents: the sockets, tunnels and routes around the protocol of the native module.

Home agent, foreign agent and mobile node are a small program each. A registration makes IP-in-IP
tunnels of the kernel that carry a mobile node's traffic. Agents advertise only on solicitation (RFC
5944 section 2.3 allows it). Messages, authentication and timestamps are in
``crates/airtoll-handshakes/src/mobility/mobile_ip``.

    mobile node            foreign agent                home agent
      -- solicitation (ICMP 10) ->
      <- advertisement (ICMP 9) --
      -- request (UDP 434) ------> -- request ------------->   proxy ARP, tunnel
      <- reply ------------------- <- reply ----------------
                               tunnel end, host route
"""

from __future__ import annotations

import contextlib
import ipaddress
import json
import selectors
import socket
import struct
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

import attrs
from attrs import evolve, frozen

from airtoll import _native, border
from airtoll.border.answers import Binding, Visit
from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts import programs
from airtoll.testbeds.linux.hosts.host import Host, Process
from airtoll.testbeds.linux.hosts.plain import read

PORT: Final = _native.mobility_port()
ACCEPTED: Final = 0
#: Interface group of the tunnels, by which they are removed: ``ip link del group``.
TUNNELS: Final = 77
#: Routing table of the packets that go through a reverse tunnel (RFC 3024).
REVERSE_TABLE: Final = 77


class MobileIpError(TestbedError):
    """A failed registration."""


@frozen
class Homed:
    """A node of a home agent: its home address, and the key that they share (hex)."""

    home: str
    key: str


@frozen
class HomeAgent:
    """Settings of a home agent: its nodes, address, interface of its link."""

    nodes: tuple[Homed, ...]
    address: str
    interface: str
    ready: str = ""

    def protocol(self) -> border.HomeAgentSettings:
        """The settings of the protocol."""
        nodes = tuple(
            border.HomedNode(home_address=node.home, association=_association(node.key))
            for node in self.nodes
        )
        return border.HomeAgentSettings(address=self.address, nodes=nodes)


@frozen
class ForeignAgent:
    """Settings of a foreign agent.

    ``address``: on the visited link ``interface``. ``care_of``: the address that it offers.
    ``local``: networks that a visitor reaches without the reverse tunnel.
    """

    address: str
    care_of: str
    interface: str
    local: tuple[str, ...] = ()
    ready: str = ""

    def protocol(self) -> border.ForeignAgentSettings:
        """The settings of the protocol."""
        return border.ForeignAgentSettings(address=self.address, care_of_address=self.care_of)


@frozen
class MobileNode:
    """Settings of a mobile node: its key (hex), home address, home agent, interface.

    ``prefix``: the home network, on the link when the node is at home. ``gateway``: the default
    router at home, or None. ``reverse``: whether it asks for reverse tunnelling (RFC 3024).
    ``limit_s``: time in which it registers.
    """

    key: str
    home: str
    agent: str
    interface: str
    prefix: str
    gateway: str | None = None
    reverse: bool = False
    limit_s: float = 45.0

    def protocol(self) -> border.MobileNodeSettings:
        """The settings of the protocol."""
        return border.MobileNodeSettings(
            home_address=self.home,
            home_agent=self.agent,
            association=_association(self.key),
            reverse_tunnel=self.reverse,
        )


@frozen
class Registered:
    """A registration that was answered.

    ``home``: the home address. ``code``: of the reply. ``agent``: the router that relayed it.
    ``care_of``: None at home.
    ``heard_s``: from the first solicitation to the advertisement; ``registered_s``: from there to
    the reply.
    """

    home: str
    code: int
    agent: str
    care_of: str | None
    lifetime_s: int
    heard_s: float
    registered_s: float


async def start(host: Host, folder: str, settings: HomeAgent | ForeignAgent) -> Process:
    """Start an agent on a host and wait until it listens."""
    role = "home" if isinstance(settings, HomeAgent) else "foreign"
    base = f"{folder}/mobile-ip-{role}-{host.name}"
    told = evolve(settings, ready=f"{base}.ready")
    return await programs.serve(host, base, __name__, told, role=role)


async def register(
    host: Host, folder: str, settings: MobileNode, limit_s: float = 60.0
) -> Registered:
    """Register a mobile node through the first agent it hears.

    Raises :class:`MobileIpError` when no agent is heard or the registration is refused.
    """
    base = f"{folder}/mobile-ip-node-{host.name}.json"
    await host.put(base, json.dumps(attrs.asdict(evolve(settings, limit_s=limit_s - 15))))
    given = await programs.command(host, folder, __name__, "node", base)
    done = await host.run(given.line, limit_s=limit_s, check=False)
    if done.status != 0 or not done.stdout.strip():
        words = done.stderr.strip().splitlines()
        raise MobileIpError(f"{host.name}: Mobile IP: {words[-1] if words else 'no answer'}")
    registered = read(Registered, json.loads(done.stdout))
    if registered.code != ACCEPTED:
        raise MobileIpError(f"{host.name}: the home agent refused, code {registered.code}")
    return registered


def _association(key: str) -> border.SecurityAssociation:
    return border.SecurityAssociation(key=bytes.fromhex(key))


def _ip(*lines: str) -> None:
    """Several `ip` commands in one process: a start costs more than they do. All are tried."""
    text = "".join(f"{line}\n" for line in lines)
    subprocess.run(["ip", "-force", "-batch", "-"], input=text.encode(), check=False)


def _listening(address: str) -> socket.socket:
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind((address, PORT))
    return link


def tunnel_name(remote: str) -> str:
    """The name of the tunnel to an agent; it fits the 15 characters of an interface."""
    return f"mip-{int(ipaddress.IPv4Address(remote)):08x}"


def _tunnel(local: str, remote: str) -> tuple[str, ...]:
    # Another node may use the tunnel already: its `add` then fails, and all is well.
    name = tunnel_name(remote)
    return (
        f"tunnel add {name} mode ipip local {local} remote {remote}",
        f"link set {name} up",
        f"link set {name} group {TUNNELS}",
    )


def _icmp(interface: str) -> socket.socket:
    icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    icmp.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    icmp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    return icmp


def _broadcast(icmp: socket.socket, message: bytes) -> None:
    with contextlib.suppress(OSError):
        icmp.sendto(message, ("255.255.255.255", 0))


def _payload(packet: bytes) -> bytes:
    """The ICMP message of a raw socket's packet, which comes with its IPv4 header."""
    return packet[(packet[0] & 15) * 4 :] if packet else b""


def announce(interface: str, address: str) -> None:
    """Tell the link by a gratuitous ARP request that an address is here now (section 4.6)."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind((interface, 0))
        own = link.getsockname()[4]
        octets = ipaddress.IPv4Address(address).packed
        arp = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1) + own + octets + bytes(6) + octets
        link.send(b"\xff" * 6 + own + struct.pack(">H", 0x0806) + arp)


class Intercepted:
    """The commands that a home agent's bindings need: tunnels, routes and proxy ARP."""

    def __init__(self, settings: HomeAgent) -> None:
        self._settings = settings
        self._care_of: dict[str, str] = {}

    def changed(self, binding: Binding) -> tuple[str, ...]:
        """Commands of `ip` after a binding changed; a tunnel without a node is removed."""
        home, interface = binding["home_address"], self._settings.interface
        before = self._care_of.pop(home, None)
        lines: tuple[str, ...]
        if binding["lifetime_s"]:
            care_of = self._care_of[home] = binding["care_of_address"]
            lines = (
                *_tunnel(self._settings.address, care_of),
                f"route replace {home}/32 dev {tunnel_name(care_of)}",
                f"neigh replace proxy {home} dev {interface}",
            )
        else:
            lines = (f"neigh del proxy {home} dev {interface}", f"route del {home}/32")
        if before is not None and before not in self._care_of.values():
            lines += (f"link del {tunnel_name(before)}",)
        return lines


def serve_home(settings: HomeAgent) -> None:
    """Answer solicitations and requests; for a node away intercept by proxy ARP and tunnel.

    A node that deregisters is at home again: nothing is intercepted for it any more.
    """
    agent = _native.HomeAgent(border.to_json(settings.protocol()))
    intercepted = Intercepted(settings)
    link, icmp = _listening(settings.address), _icmp(settings.interface)
    chooser = selectors.DefaultSelector()
    for source in (link, icmp):
        chooser.register(source, selectors.EVENT_READ)
    Path(settings.ready).touch()
    while True:
        for ready, _ in chooser.select():
            assert isinstance(ready.fileobj, socket.socket)
            message, sender = ready.fileobj.recvfrom(2048)
            if ready.fileobj is icmp:
                if advertisement := agent.icmp(_payload(message)):
                    _broadcast(icmp, advertisement)
                continue
            answered = agent.request(message, time.time())
            if answered is None:
                continue
            reply, binding = answered
            if binding is not None:
                _ip(*intercepted.changed(binding))
                if binding["lifetime_s"]:
                    announce(settings.interface, binding["home_address"])
            link.sendto(reply, sender)


def serve_foreign(settings: ForeignAgent) -> None:
    """Answer solicitations, relay requests and replies, and be the care-of end of the tunnel.

    Packets out of the tunnel are delivered on the link. With reverse tunnelling (RFC 3024) a
    visitor's packets go into it, except those for this agent's own link (``local``).
    """
    own, care_of, interface = settings.address, settings.care_of, settings.interface
    agent = _native.ForeignAgent(border.to_json(settings.protocol()))
    visitors = _listening(own)
    uplink = visitors if care_of == own else _listening(care_of)
    icmp = _icmp(interface)
    chooser = selectors.DefaultSelector()
    for source in {visitors, uplink, icmp}:
        chooser.register(source, selectors.EVENT_READ)
    Path(settings.ready).touch()
    while True:
        for ready, _ in chooser.select():
            assert isinstance(ready.fileobj, socket.socket)
            message, sender = ready.fileobj.recvfrom(2048)
            if ready.fileobj is icmp:
                if advertisement := agent.icmp(_payload(message)):
                    _broadcast(icmp, advertisement)
                continue
            relayed = agent.relay(message, *sender)
            if relayed is None:
                continue
            address, port, visit = relayed
            if visit["code"] is None:
                # The answer to an address that is not of this network goes out here.
                _ip(f"route replace {visit['home_address']}/32 dev {interface}")
                uplink.sendto(message, (address, port))
                continue
            if visit["code"] == ACCEPTED:
                _ip(*_tunnel(care_of, visit["home_agent"]), *_reverse(settings, visit))
            visitors.sendto(message, (address, port))


def _reverse(settings: ForeignAgent, visit: Visit) -> tuple[str, ...]:
    if not visit["reverse_tunnel"]:
        return ()
    home, tunnel = visit["home_address"], tunnel_name(visit["home_agent"])
    rule = f"pref 100 from {home} iif {settings.interface} lookup {REVERSE_TABLE}"
    return (
        f"rule del {rule}",
        f"rule add {rule}",
        f"route replace default dev {tunnel} table {REVERSE_TABLE}",
        *(f"route replace throw {net} table {REVERSE_TABLE}" for net in settings.local),
    )


def run_node(settings: MobileNode) -> Registered:
    """Find an agent and register; gives the reply's code, the agent and times.

    Away: through the foreign agent, by which everything goes from then on. At home: deregister
    with the home agent (section 3.6.1.1), and be on the home link again.
    """
    node = _native.MobileNode(border.to_json(settings.protocol()))
    home, interface = settings.home, settings.interface
    give_up = time.monotonic() + settings.limit_s
    icmp = _icmp(interface)
    icmp.settimeout(1.0)
    started = time.monotonic()
    agent = None
    while agent is None:
        if time.monotonic() > give_up:
            raise SystemExit("no agent advertisement was heard")
        _broadcast(icmp, node.solicitation())
        with contextlib.suppress(TimeoutError):
            while agent is None:
                agent = node.agent(_payload(icmp.recv(2048)))
    heard = time.monotonic()
    router, care_of = agent["router"], agent["care_of_address"]
    _ip(*_routes(settings, None if care_of is None else router))
    if care_of is None:
        announce(interface, home)
    link = _listening(home)
    link.settimeout(3.0)
    while time.monotonic() < give_up:
        link.sendto(node.request(care_of, time.time()), (router, PORT))
        with contextlib.suppress(TimeoutError):
            reply = None
            while reply is None:
                reply = node.reply(link.recv(2048))
            if reply["retry"]:
                continue
            return Registered(
                home=home,
                code=reply["code"],
                agent=router,
                care_of=care_of,
                lifetime_s=reply["lifetime_s"],
                heard_s=heard - started,
                registered_s=time.monotonic() - heard,
            )
    raise SystemExit("no registration reply")


def _routes(settings: MobileNode, router: str | None) -> tuple[str, ...]:
    """A node's routes: everything by the foreign agent ``router``, or those of its home link."""
    home, interface = settings.home, settings.interface
    flush = f"route flush dev {interface}"
    if router is not None:
        # The home prefix is not on this link.
        return (
            flush,
            f"route replace {router}/32 dev {interface} src {home}",
            f"route replace default via {router} dev {interface} src {home}",
        )
    on_link = f"route replace {settings.prefix} dev {interface} src {home}"
    if settings.gateway is None:
        return flush, on_link
    default = f"route replace default via {settings.gateway} dev {interface} src {home}"
    return flush, on_link, default


def main(role: str, text: str) -> None:
    """Run one role for ever, or a node once."""
    if role == "home":
        serve_home(read(HomeAgent, json.loads(text)))
    elif role == "foreign":
        serve_foreign(read(ForeignAgent, json.loads(text)))
    else:
        registered = run_node(read(MobileNode, json.loads(text)))
        sys.stdout.write(json.dumps(attrs.asdict(registered)) + "\n")


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]).read_text())
