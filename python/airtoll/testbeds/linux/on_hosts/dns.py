"""DNS over UDP and over TLS: a resolver with one answer, and a client that measures lookups.

Both are small programs on the hosts of a trial. Messages follow RFC 1035 section 4 with an EDNS(0)
option record (RFC 6891). Over TLS each message has its length before it (RFC 7766 section 8), and
each lookup has a TCP connection and a TLS 1.3 session of its own (RFC 7858).
"""

from __future__ import annotations

import selectors
import socket
import ssl
import struct
import threading
import time
from collections.abc import Callable
from typing import Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.on_hosts import entry

#: Ports of DNS (RFC 1035 section 4.2) and of DNS over TLS (RFC 7858 section 3.1).
UDP_PORT: Final = 53
TLS_PORT: Final = 853
NAME: Final = "www.example.com"
#: The answer's address, of the range for documentation (RFC 5737).
ADDRESS: Final = "192.0.2.1"
#: A query is repeated after this time without an answer, seconds (default of resolv.conf).
RETRY_S: Final = 5.0
_TRIES: Final = 3
_A, _OPT, _IN = 1, 41, 1
_PAYLOAD: Final = 1232  # UDP payload that the client announces (RFC 6891 section 6.2.5)
_TTL: Final = 60


class DnsError(TestbedError):
    """Lookups that did not come about."""


@frozen
class Service:
    """Settings of the resolver: a certificate with its key, UDP and TLS port, a file when ready."""

    certificate: str
    ports: tuple[int, int]
    ready: str


@frozen
class Client:
    """Settings of a client; ``authority``: certificate of the authority for TLS, None for UDP."""

    server: str
    port: int
    authority: str | None
    duration_s: float


@frozen
class Lookups:
    """Times of the lookups that were answered, seconds, and the number without an answer."""

    response_s: tuple[float, ...]
    unanswered: int


def query(identifier: int, name: str = NAME) -> bytes:
    """A query for the A record of ``name``: 44 octets for the default name."""
    labels = b"".join(bytes([len(part)]) + part.encode("ascii") for part in name.split("."))
    question = labels + b"\0" + struct.pack(">HH", _A, _IN)
    option = b"\0" + struct.pack(">HHIH", _OPT, _PAYLOAD, 0, 0)
    # Recursion desired; one question, one additional record.
    return struct.pack(">HHHHHH", identifier, 0x0100, 1, 0, 0, 1) + question + option


def answer(message: bytes) -> bytes:
    """The answer to a query: its question and one A record, 16 octets longer.

    Raises ``ValueError`` for a message that is no query or is cut short.
    """
    if len(message) < 12:
        raise ValueError("a DNS message has at least 12 octets")
    identifier, flags, questions = struct.unpack_from(">HHH", message)
    if flags & 0x8000 or questions != 1:
        raise ValueError("not a query with one question")
    end = 12
    while end < len(message) and message[end]:
        end += 1 + message[end]
    end += 5
    if end > len(message):
        raise ValueError("the question is cut short")
    # The record's name is a pointer to the question (section 4.1.4).
    record = struct.pack(">HHHIH", 0xC00C, _A, _IN, _TTL, 4) + socket.inet_aton(ADDRESS)
    # Response, recursion desired and available.
    head = struct.pack(">HHHHHH", identifier, 0x8180, 1, 1, 0, 1)
    return head + message[12:end] + record + message[end:]


def is_answer(message: bytes, identifier: int) -> bool:
    """Whether a message answers the query with this identifier, without an error."""
    if len(message) < 12:
        return False
    number, flags, _, answers = struct.unpack_from(">HHHH", message)
    return bool(number == identifier and flags & 0x800F == 0x8000 and answers)


class Resolver:
    """Sockets of the resolver; ``ports`` of UDP and TLS, 0 for any free one."""

    def __init__(self, certificate: str, ports: tuple[int, int]) -> None:
        self._context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self._context.minimum_version = ssl.TLSVersion.TLSv1_3
        self._context.load_cert_chain(certificate)
        # Each connection is new, and so is each session.
        self._context.num_tickets = 0
        self.udp = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
        self.udp.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
        self.udp.bind(("::", ports[0]))
        self.tcp = socket.create_server(
            ("::", ports[1]), family=socket.AF_INET6, dualstack_ipv6=True, backlog=64
        )

    def serve(self) -> None:
        """Answer until the sockets are closed."""
        with selectors.DefaultSelector() as chooser:
            for source in (self.udp, self.tcp):
                chooser.register(source, selectors.EVENT_READ)
            while self.udp.fileno() >= 0:
                for ready, _ in chooser.select():
                    if ready.fileobj is self.udp:
                        self._datagram()
                    else:
                        connection, _ = self.tcp.accept()
                        threading.Thread(target=self._stream, args=(connection,)).start()

    def _datagram(self) -> None:
        message, sender = self.udp.recvfrom(4096)
        try:
            self.udp.sendto(answer(message), sender)
        except ValueError:
            return

    def _stream(self, connection: socket.socket) -> None:
        connection.settimeout(10 * RETRY_S)
        try:
            with self._context.wrap_socket(connection, server_side=True) as stream:
                while (message := framed(stream.recv)) is not None:
                    reply = answer(message)
                    stream.sendall(struct.pack(">H", len(reply)) + reply)
        except (OSError, ValueError):
            # The client closed the connection, or sent no DNS.
            connection.close()


def framed(read: Callable[[int], bytes]) -> bytes | None:
    """One message behind its length; None at the end of the stream."""
    octets = b""
    while len(octets) < 2 or len(octets) < 2 + struct.unpack_from(">H", octets)[0]:
        more = read(4096)
        if not more:
            return None
        octets += more
    return octets[2:]


def over_udp(server: str, port: int, identifier: int) -> bool:
    """One lookup; whether it was answered within its repetitions."""
    family = socket.AF_INET6 if ":" in server else socket.AF_INET
    with socket.socket(family, socket.SOCK_DGRAM) as link:
        link.settimeout(RETRY_S)
        link.connect((server, port))
        for _ in range(_TRIES):
            link.send(query(identifier))
            try:
                while not is_answer(link.recv(4096), identifier):
                    continue
            except TimeoutError:
                continue
            return True
    return False


def over_tls(server: str, port: int, identifier: int, context: ssl.SSLContext) -> bool:
    """One lookup on a new connection with a new session; whether it was answered."""
    message = query(identifier)
    with (
        socket.create_connection((server, port), timeout=_TRIES * RETRY_S) as link,
        context.wrap_socket(link) as stream,
    ):
        stream.sendall(struct.pack(">H", len(message)) + message)
        reply = framed(stream.recv)
    return reply is not None and is_answer(reply, identifier)


def look_up(settings: Client) -> Lookups:
    """Look up one name after the other for ``duration_s`` seconds."""
    context = None
    if settings.authority is not None:
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
        context.minimum_version = ssl.TLSVersion.TLSv1_3
        # The certificate names a RADIUS server; the authority is the run's own.
        context.check_hostname = False
        context.load_verify_locations(settings.authority)
    server, port = settings.server, settings.port
    end = time.perf_counter() + settings.duration_s
    taken: list[float] = []
    unanswered = number = 0
    while (began := time.perf_counter()) < end:
        number = number % 0xFFFF + 1
        if context is None:
            answered = over_udp(server, port, number)
        else:
            answered = over_tls(server, port, number, context)
        if answered:
            taken.append(time.perf_counter() - began)
        else:
            unanswered += 1
    return Lookups(tuple(taken), unanswered)


if __name__ == "__main__":
    entry.main(Service, lambda s: Resolver(s.certificate, s.ports), Client, look_up)
