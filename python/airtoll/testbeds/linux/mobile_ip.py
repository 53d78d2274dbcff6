"""Mobile IPv4 agents: home agent, foreign agent and mobile node, each a small program.

A registration makes IP-in-IP tunnels of the kernel that carry a mobile node's traffic. The agents
refuse a registration whose authenticator or identification is wrong, and advertise only on
solicitation (section 2.3 allows it).

RFC 5944: agent discovery (section 2), registration (section 3), authentication extension
(section 3.5.2, HMAC-MD5 with a 128-bit key), timestamps against replay (section 5.7.1). RFC 3024:
reverse tunnelling.

    mobile node            foreign agent                home agent
      -- solicitation (ICMP 10) ->
      <- advertisement (ICMP 9) --
      -- request (UDP 434) ------> -- request ------------->   proxy ARP, tunnel
      <- reply ------------------- <- reply ----------------
                               tunnel end, host route
"""

from __future__ import annotations

import contextlib
import hashlib
import hmac
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

import airtoll
from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts import Host, Process
from airtoll.testbeds.linux.plain import read

PORT: Final = 434
ACCEPTED: Final = 0
FAILED_AUTHENTICATION: Final = 131
IDENTIFICATION_MISMATCH: Final = 133
LIFETIME_S: Final = 600
TUNNEL: Final = "mip0"
#: The T bit of a request (RFC 3024 section 3.2), and the table by which visitors' packets go then.
REVERSE: Final = 0x02
REVERSE_TABLE: Final = 77
#: How far the clocks of node and agent may differ, seconds (section 5.7.1 asks for 7 s).
TOLERANCE_S: Final = 7.0
_NTP_EPOCH: Final = 2208988800
_REQUEST, _REPLY, _MOBILE_HOME = 1, 3, 32
#: Of an advertisement (section 2.1.1). R: register through this agent; F: a foreign agent; H: a
#: home agent; T: takes reverse tunnels (RFC 3024 section 3.1).
_FOREIGN_FLAGS: Final = 0x8000 | 0x1000 | 0x0100
_HOME_FLAGS: Final = 0x2000 | 0x0100


class MobileIpError(TestbedError):
    """A failed registration."""


@frozen
class HomeAgent:
    """Settings of a home agent: key shared with the node (hex), address, interface of its link."""

    key: str
    address: str
    interface: str
    ready: str = ""


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


@frozen
class Registered:
    """A registration that was answered.

    ``code``: of the reply. ``agent``: the router that relayed it. ``care_of``: None at home.
    ``heard_s``: from the first solicitation to the advertisement; ``registered_s``: from there to
    the reply.
    """

    code: int
    agent: str
    care_of: str | None
    lifetime_s: int
    heard_s: float
    registered_s: float


@frozen
class Registration:
    """A request (``code`` None) or reply. Addresses are IPv4 text; ``lifetime_s`` 0 deregisters.

    ``flags``: of a request (section 3.3); REVERSE asks for reverse tunnelling.
    """

    home: str
    agent: str
    care_of: str
    identification: int
    lifetime_s: int = LIFETIME_S
    code: int | None = None
    flags: int = 0

    def pack(self, key: bytes, spi: int = 256) -> bytes:
        """The message with its Mobile-Home authentication extension."""
        identification = struct.pack(">Q", self.identification)
        if self.code is None:
            head = struct.pack(">BBH", _REQUEST, self.flags, self.lifetime_s)
            body = head + _packed(self.home, self.agent, self.care_of) + identification
        else:
            head = struct.pack(">BBH", _REPLY, self.code, self.lifetime_s)
            body = head + _packed(self.home, self.agent) + identification
        covered = body + struct.pack(">BBI", _MOBILE_HOME, 20, spi)
        return covered + hmac.new(key, covered, hashlib.md5).digest()


def parse(message: bytes) -> Registration:
    """A registration message; :func:`authentic` checks its authenticator.

    Raises ``ValueError`` for a message of another type or one that is cut short.
    """
    length = 24 if message[:1] == bytes([_REQUEST]) else 20
    if len(message) < length or message[0] not in (_REQUEST, _REPLY):
        raise ValueError("no registration message")
    kind, second, lifetime = struct.unpack_from(">BBH", message)
    home, agent = _unpacked(message, 4), _unpacked(message, 8)
    if kind == _REQUEST:
        (identification,) = struct.unpack_from(">Q", message, 16)
        care_of = _unpacked(message, 12)
        return Registration(home, agent, care_of, identification, lifetime, flags=second)
    (identification,) = struct.unpack_from(">Q", message, 12)
    return Registration(home, agent, "0.0.0.0", identification, lifetime, second)


def authentic(message: bytes, key: bytes) -> bool:
    """Whether the message ends in a Mobile-Home extension with the right authenticator."""
    if len(message) < 42 or message[-22] != _MOBILE_HOME or message[-21] != 20:
        return False
    return hmac.compare_digest(hmac.new(key, message[:-16], hashlib.md5).digest(), message[-16:])


def judge(message: bytes, key: bytes, now_s: float) -> Registration:
    """The home agent's reply to a request (section 3.8.2).

    Raises ``ValueError`` when the message is no request at all.
    """
    request = parse(message)
    if request.code is not None:
        raise ValueError("a reply, not a request")
    code = ACCEPTED
    if not authentic(message, key):
        code = FAILED_AUTHENTICATION
    elif abs((request.identification >> 32) - _NTP_EPOCH - now_s) > TOLERANCE_S:
        code = IDENTIFICATION_MISMATCH
    return evolve(request, code=code, lifetime_s=request.lifetime_s if code == ACCEPTED else 0)


def identification(now_s: float) -> int:
    """A timestamp in NTP's format: seconds since 1900 and their fraction."""
    seconds = int(now_s)
    return (seconds + _NTP_EPOCH) << 32 | int((now_s - seconds) * 2**32)


def advertisement(router: str, care_of: str | None, sequence: int) -> bytes:
    """An ICMP router advertisement with the mobility agent extension (section 2.1).

    ``care_of``: the address that a foreign agent offers; ``None``: a home agent's.
    """
    body = struct.pack(">BBH", 1, 2, 30) + _packed(router) + struct.pack(">i", 0)
    flags = _HOME_FLAGS if care_of is None else _FOREIGN_FLAGS
    offered = b"" if care_of is None else _packed(care_of)
    extension = struct.pack(
        ">BBHHBB", 16, 6 + len(offered), sequence & 0xFFFF, LIFETIME_S, flags >> 8, flags & 0xFF
    )
    return _sealed(struct.pack(">BBH", 9, 16, 0) + body + extension + offered)


def solicitation() -> bytes:
    """An ICMP router solicitation, which every agent answers (section 2.4; RFC 1256)."""
    return _sealed(struct.pack(">BBHI", 10, 0, 0, 0))


def parse_advertisement(message: bytes) -> tuple[str, str | None]:
    """(router, care-of address or None for a home agent's); ``ValueError`` when it is none."""
    if len(message) < 16 or message[0] != 9 or checksum(message) != 0:
        raise ValueError("no router advertisement")
    count, size = message[4], message[5]
    offset = 8 + count * size * 4
    while offset + 2 <= len(message):
        kind, length = message[offset], message[offset + 1]
        if kind == 16 and length >= 6 and offset + 2 + length <= len(message):
            router = _unpacked(message, 8)
            return router, _unpacked(message, offset + 8) if length >= 10 else None
        offset += 2 + length if kind else 1
    raise ValueError("no mobility agent extension")


def _sealed(message: bytes) -> bytes:
    return message[:2] + struct.pack(">H", checksum(message)) + message[4:]


def checksum(data: bytes) -> int:
    """The Internet checksum (RFC 1071); 0 over a message that carries a right one."""
    padded = data + b"\0" * (len(data) % 2)
    total: int = sum(struct.unpack(f">{len(padded) // 2}H", padded))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


async def start(host: Host, folder: str, settings: HomeAgent | ForeignAgent) -> Process:
    """Start an agent on a host and wait until it listens."""
    role = "home" if isinstance(settings, HomeAgent) else "foreign"
    base = f"{folder}/mobile-ip-{role}-{host.name}"
    await host.run(["rm", "-f", f"{base}.ready"])
    told = evolve(settings, ready=f"{base}.ready")
    await host.put(f"{base}.json", json.dumps(attrs.asdict(told)))
    process = await host.start(
        [sys.executable, "-m", "airtoll.testbeds.linux.mobile_ip", role, f"{base}.json"],
        log=f"{base}.log",
        env={"PYTHONPATH": str(Path(airtoll.__file__).resolve().parent.parent)},
    )
    await host.wait_for(f"{base}.ready", 60.0, process)
    return process


async def register(
    host: Host, folder: str, settings: MobileNode, limit_s: float = 60.0
) -> Registered:
    """Register a mobile node through the first agent it hears.

    Raises :class:`MobileIpError` when no agent is heard or the registration is refused.
    """
    base = f"{folder}/mobile-ip-node-{host.name}.json"
    await host.put(base, json.dumps(attrs.asdict(evolve(settings, limit_s=limit_s - 15))))
    root = str(Path(airtoll.__file__).resolve().parent.parent)
    done = await host.run(
        [
            *("env", f"PYTHONPATH={root}", sys.executable),
            *("-m", "airtoll.testbeds.linux.mobile_ip", "node", base),
        ],
        limit_s=limit_s,
        check=False,
    )
    if done.status != 0 or not done.stdout.strip():
        words = done.stderr.strip().splitlines()
        raise MobileIpError(f"{host.name}: Mobile IP: {words[-1] if words else 'no answer'}")
    registered = read(Registered, json.loads(done.stdout))
    if registered.code != ACCEPTED:
        raise MobileIpError(f"{host.name}: the home agent refused, code {registered.code}")
    return registered


def _packed(*addresses: str) -> bytes:
    return b"".join(ipaddress.IPv4Address(address).packed for address in addresses)


def _unpacked(message: bytes, offset: int) -> str:
    return str(ipaddress.IPv4Address(message[offset : offset + 4]))


def _ip(*lines: str) -> None:
    """Several `ip` commands in one process: a start costs more than they do. All are tried."""
    text = "".join(f"{line}\n" for line in lines)
    subprocess.run(["ip", "-force", "-batch", "-"], input=text.encode(), check=False)


def _listening(address: str) -> socket.socket:
    link = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    link.bind((address, PORT))
    return link


def _tunnel(local: str, remote: str) -> tuple[str, str, str]:
    return (
        f"tunnel del {TUNNEL}",
        f"tunnel add {TUNNEL} mode ipip local {local} remote {remote}",
        f"link set {TUNNEL} up",
    )


def _icmp(interface: str) -> socket.socket:
    icmp = socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP)
    icmp.setsockopt(socket.SOL_SOCKET, socket.SO_BINDTODEVICE, interface.encode())
    icmp.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    return icmp


def _broadcast(icmp: socket.socket, message: bytes) -> None:
    with contextlib.suppress(OSError):
        icmp.sendto(message, ("255.255.255.255", 0))


def _solicited(packet: bytes) -> bool:
    body = packet[(packet[0] & 15) * 4 :] if packet else b""
    return body[:1] == b"\x0a" and checksum(body) == 0


def announce(interface: str, address: str) -> None:
    """Tell the link by a gratuitous ARP request that an address is here now (section 4.6)."""
    with socket.socket(socket.AF_PACKET, socket.SOCK_RAW) as link:
        link.bind((interface, 0))
        own = link.getsockname()[4]
        octets = _packed(address)
        arp = struct.pack(">HHBBH", 1, 0x0800, 6, 4, 1) + own + octets + bytes(6) + octets
        link.send(b"\xff" * 6 + own + struct.pack(">H", 0x0806) + arp)


def serve_home(settings: HomeAgent) -> None:
    """Answer solicitations and requests; for a node away intercept by proxy ARP and tunnel.

    A node that deregisters is at home again: nothing is intercepted for it any more.
    """
    key = bytes.fromhex(settings.key)
    own, interface = settings.address, settings.interface
    link, icmp = _listening(own), _icmp(interface)
    chooser = selectors.DefaultSelector()
    for source in (link, icmp):
        chooser.register(source, selectors.EVENT_READ)
    sequence = 0
    Path(settings.ready).touch()
    while True:
        for ready, _ in chooser.select():
            assert isinstance(ready.fileobj, socket.socket)
            message, sender = ready.fileobj.recvfrom(2048)
            if ready.fileobj is icmp:
                if _solicited(message):
                    _broadcast(icmp, advertisement(own, None, sequence))
                    sequence += 1
                continue
            try:
                reply = judge(message, key, time.time())
            except ValueError:
                continue
            if reply.code == ACCEPTED and reply.lifetime_s:
                _ip(
                    *_tunnel(own, reply.care_of),
                    f"route replace {reply.home}/32 dev {TUNNEL}",
                    f"neigh replace proxy {reply.home} dev {interface}",
                )
                announce(interface, reply.home)
            elif reply.code == ACCEPTED:
                _ip(
                    f"neigh del proxy {reply.home} dev {interface}",
                    f"route del {reply.home}/32 dev {TUNNEL}",
                    f"tunnel del {TUNNEL}",
                )
            link.sendto(reply.pack(key), sender)


def serve_foreign(settings: ForeignAgent) -> None:
    """Answer solicitations, relay requests and replies, and be the care-of end of the tunnel.

    Packets out of the tunnel are delivered on the link. With reverse tunnelling (RFC 3024) a
    visitor's packets go into it, except those for this agent's own link (``local``).
    """
    own, care_of, interface = settings.address, settings.care_of, settings.interface
    visitors = _listening(own)
    uplink = visitors if care_of == own else _listening(care_of)
    icmp = _icmp(interface)
    chooser = selectors.DefaultSelector()
    for source in {visitors, uplink, icmp}:
        chooser.register(source, selectors.EVENT_READ)
    asked: dict[int, tuple[tuple[str, int], Registration]] = {}
    sequence = 0
    Path(settings.ready).touch()
    while True:
        for ready, _ in chooser.select():
            assert isinstance(ready.fileobj, socket.socket)
            message, sender = ready.fileobj.recvfrom(2048)
            if ready.fileobj is icmp:
                if _solicited(message):
                    _broadcast(icmp, advertisement(own, care_of, sequence))
                    sequence += 1
                continue
            with contextlib.suppress(ValueError):
                told = parse(message)
                if told.code is None:
                    asked[told.identification] = (sender, told)
                    # The answer to an address that is not of this network goes out here.
                    _ip(f"route replace {told.home}/32 dev {interface}")
                    uplink.sendto(message, (told.agent, PORT))
                elif told.identification in asked:
                    visitor, request = asked.pop(told.identification)
                    if told.code == ACCEPTED:
                        _ip(*_tunnel(care_of, told.agent), *_reverse(settings, request))
                    visitors.sendto(message, visitor)


def _reverse(settings: ForeignAgent, request: Registration) -> tuple[str, ...]:
    if not request.flags & REVERSE:
        return ()
    rule = f"pref 100 from {request.home} iif {settings.interface} lookup {REVERSE_TABLE}"
    return (
        f"rule del {rule}",
        f"rule add {rule}",
        f"route replace default dev {TUNNEL} table {REVERSE_TABLE}",
        *(f"route replace throw {net} table {REVERSE_TABLE}" for net in settings.local),
    )


def run_node(settings: MobileNode) -> Registered:
    """Find an agent and register; gives the reply's code, the agent and times.

    Away: through the foreign agent, by which everything goes from then on. At home: deregister
    with the home agent (section 3.6.1.1), and be on the home link again.
    """
    key, home, interface = bytes.fromhex(settings.key), settings.home, settings.interface
    give_up = time.monotonic() + settings.limit_s
    icmp = _icmp(interface)
    icmp.settimeout(1.0)
    started = time.monotonic()
    router, care_of = "", None
    while not router:
        if time.monotonic() > give_up:
            raise SystemExit("no agent advertisement was heard")
        _broadcast(icmp, solicitation())
        with contextlib.suppress(TimeoutError, ValueError):
            while not router:
                packet = icmp.recv(2048)
                with contextlib.suppress(ValueError):
                    router, care_of = parse_advertisement(packet[(packet[0] & 15) * 4 :])
    heard = time.monotonic()
    at_home = router == settings.agent
    _ip(*_routes(settings, None if at_home else router))
    if at_home:
        announce(interface, home)
    link = _listening(home)
    link.settimeout(3.0)
    asked: set[int] = set()
    while time.monotonic() < give_up:
        stamp = identification(time.time())
        asked.add(stamp)
        request = Registration(
            home,
            settings.agent,
            home if at_home or care_of is None else care_of,
            stamp,
            lifetime_s=0 if at_home else LIFETIME_S,
            flags=REVERSE if settings.reverse and not at_home else 0,
        )
        link.sendto(request.pack(key), (router, PORT))
        with contextlib.suppress(TimeoutError):
            message, _ = link.recvfrom(2048)
            reply = parse(message)
            if reply.identification in asked and authentic(message, key):
                assert reply.code is not None
                return Registered(
                    code=reply.code,
                    agent=router,
                    care_of=None if at_home else care_of,
                    lifetime_s=reply.lifetime_s,
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
