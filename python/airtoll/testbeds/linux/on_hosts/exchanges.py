"""Requests and responses of stated lengths over TCP: a server, and a client that measures them.

Both are small programs on the hosts of a trial, with one connection that stays open. The client
asks, waits for the whole response, and asks again, as in the simulator. ``http``: HTTP/1.1 messages
(RFC 9112), whose lengths contain their heads. ``plain``: octets without a head; the first line of a
connection states both lengths, and the server repeats it before the clock starts.
"""

from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable
from typing import Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts.tcp_options import PLAIN, TcpOptions
from airtoll.testbeds.linux.on_hosts import entry

HTTP_PORT: Final = 80
#: Of the plain protocol, in the range that nothing is assigned to (RFC 6335).
PLAIN_PORT: Final = 49180
#: Octets of a query in a request line; a longer request has a body (RFC 9110, 4.1: 8000 at least).
_LONGEST_QUERY: Final = 4000
_GIVE_UP_S: Final = 60.0
_HEAD_END: Final = b"\r\n\r\n"
_LONGEST_HEAD: Final = 65_536


class ExchangeError(TestbedError):
    """Exchanges that did not come about."""


@frozen
class Service:
    """Settings of the server: ports of HTTP and of the plain protocol, and a file when ready."""

    ports: tuple[int, int]
    ready: str
    options: TcpOptions = PLAIN


@frozen
class Client:
    """Settings of a client; lengths in octets, times in seconds."""

    server: str
    port: int
    source: str | None
    protocol: str
    request_octets: int
    response_octets: int
    duration_s: float
    warm_up_s: float = 0.0
    options: TcpOptions = PLAIN


@frozen
class Exchanges:
    """A client's measurements after the warm-up.

    ``response_s``: from the start of a request to its whole response. ``octets``: of requests and
    responses, those of an exchange under way at the end too.
    """

    response_s: tuple[float, ...]
    octets: int
    span_s: float


def http_request(octets: int, response_octets: int) -> bytes:
    """A request of ``octets`` octets for a response of ``response_octets`` octets.

    Raises ``ValueError`` with the least length where its head does not fit.
    """
    path, rest = f"/{response_octets}", " HTTP/1.1\r\nHost: a\r\n"
    head = f"GET {path}{rest}\r\n"
    missing = octets - len(head)
    if missing < 0:
        raise ValueError(f"a request takes at least {len(head)} octets")
    if missing > _LONGEST_QUERY:
        return _with_body(f"POST {path}{rest}", octets)
    query = "?" + "x" * (missing - 1) if missing else ""
    return f"GET {path}{query}{rest}\r\n".encode()


def http_response(octets: int) -> bytes:
    """A response of ``octets`` octets; raises ``ValueError`` where its head does not fit."""
    return _with_body("HTTP/1.1 200 OK\r\n", octets)


def _with_body(start: str, octets: int) -> bytes:
    """A message with the body that its length leaves; the length of the body has leading zeros."""
    least = 0
    for digits in range(1, 12):
        fixed = len(start) + len("Content-Length: ") + digits + len("\r\n\r\n")
        least = least or fixed
        body = octets - fixed
        if 0 <= body < 10**digits:
            return f"{start}Content-Length: {body:0{digits}d}\r\n\r\n".encode() + b"x" * body
    raise ValueError(f"a message with a body takes at least {least} octets")


def too_short(request_octets: int, response_octets: int) -> str | None:
    """Which HTTP message is shorter than its head, with the least length, or None."""
    try:
        name = "request_bytes"
        http_request(request_octets, response_octets)
        name = "response_bytes"
        http_response(response_octets)
    except ValueError as error:
        return f"{name}: {error}"
    return None


class Stream:
    """Messages of a connection. ``count`` is told the octets of every read."""

    def __init__(self, link: socket.socket, count: Callable[[int], None] | None = None) -> None:
        self.link = link
        self._count = count
        self._held = b""

    def _more(self) -> bool:
        octets = self.link.recv(65_536)
        if self._count is not None:
            self._count(len(octets))
        self._held += octets
        return bool(octets)

    def line(self) -> bytes | None:
        """A line without its end; None at the end of the stream."""
        while b"\n" not in self._held:
            if len(self._held) > _LONGEST_HEAD:
                raise ValueError("a line is too long")
            if not self._more():
                return None
        found, self._held = self._held.split(b"\n", 1)
        return found

    def skip(self, octets: int) -> bool:
        """Read and drop octets; whether the stream had them."""
        while len(self._held) < octets:
            octets -= len(self._held)
            self._held = b""
            if not self._more():
                return False
        self._held = self._held[octets:]
        return True

    def message(self) -> tuple[bytes, bool] | None:
        """Start line of an HTTP message whose body has been read, and whether the connection stays.

        None at the end of the stream. Raises ``ValueError`` for octets that are no HTTP message.
        """
        while _HEAD_END not in self._held:
            if len(self._held) > _LONGEST_HEAD:
                raise ValueError("a head is too long")
            if not self._more():
                return None
        head, self._held = self._held.split(_HEAD_END, 1)
        start, *lines = head.split(b"\r\n")
        fields: dict[bytes, bytes] = {}
        for line in lines:
            name, colon, value = line.partition(b":")
            if not colon:
                raise ValueError("a field without a colon")
            fields[name.strip().lower()] = value.strip().lower()
        if not self.skip(int(fields.get(b"content-length", b"0"))):
            return None
        return start, fields.get(b"connection") != b"close"


class Server:
    """Sockets of the server; port 0 is any free one."""

    def __init__(self, ports: tuple[int, int], options: TcpOptions | None = None) -> None:
        options = options or PLAIN
        self.http = options.listen(ports[0])
        self.plain = options.listen(ports[1])

    def serve(self) -> None:
        """Answer until the process ends."""
        threading.Thread(target=self._accept, args=(self.plain, plain), daemon=True).start()
        self._accept(self.http, http)

    def _accept(self, source: socket.socket, answer: Callable[[socket.socket], None]) -> None:
        while True:
            try:
                link, _ = source.accept()
            except OSError:
                return  # closed
            threading.Thread(target=_guarded, args=(link, answer), daemon=True).start()


def _guarded(link: socket.socket, answer: Callable[[socket.socket], None]) -> None:
    try:
        with link:
            answer(link)
    except (OSError, ValueError):
        return  # the client has gone, or spoke another protocol


def http(link: socket.socket) -> None:
    """Answer HTTP requests: the path is the length of the response."""
    stream, known = Stream(link), (0, b"")
    while (message := stream.message()) is not None:
        start, stays = message
        _, target, version = start.split(b" ")
        octets = int(target[1:].partition(b"?")[0])
        if not version.startswith(b"HTTP/1."):
            raise ValueError("not HTTP/1.1")
        if known[0] != octets:
            known = (octets, http_response(octets))
        link.sendall(known[1])
        if not stays:
            return


def plain(link: socket.socket) -> None:
    """Answer requests of the plain protocol."""
    stream = Stream(link)
    line = stream.line()
    if line is None:
        return
    request, response = (int(word) for word in line.split())
    if request < 1 or response < 1:
        raise ValueError("a length is at least 1")
    link.sendall(line + b"\n")
    octets = b"x" * response
    while stream.skip(request):
        link.sendall(octets)


def ask(settings: Client) -> Exchanges:
    """Exchange one request after the other for ``duration_s`` seconds.

    Raises ``OSError`` or :class:`ExchangeError` when the server does not answer.
    """
    link = settings.options.connect(settings.server, settings.port, settings.source, _GIVE_UP_S)
    octets = 0
    begin = end = 0.0

    def count(more: int) -> None:
        nonlocal octets
        if begin <= time.perf_counter() <= end:
            octets += more

    with link:
        stream = Stream(link, count)
        if settings.protocol == "http":
            request = http_request(settings.request_octets, settings.response_octets)
        else:
            request = b"x" * settings.request_octets
            line = f"{settings.request_octets} {settings.response_octets}"
            link.sendall(line.encode() + b"\n")
            if stream.line() != line.encode():
                raise ExchangeError("the server does not speak the plain protocol")
        now = time.perf_counter()
        begin, end = now + settings.warm_up_s, now + settings.duration_s
        taken: list[float] = []
        while (began := time.perf_counter()) < end:
            link.sendall(request)
            count(len(request))
            if settings.protocol == "http":
                message = stream.message()
                if message is None or message[0].split(b" ")[1:2] != [b"200"]:
                    raise ExchangeError("the server closed the connection or refused a request")
            elif not stream.skip(settings.response_octets):
                raise ExchangeError("the server closed the connection")
            done = time.perf_counter()
            if begin <= done <= end:
                taken.append(done - began)
    return Exchanges(tuple(taken), octets, settings.duration_s - settings.warm_up_s)


if __name__ == "__main__":
    entry.main(Service, lambda s: Server(s.ports, s.options), Client, ask)
