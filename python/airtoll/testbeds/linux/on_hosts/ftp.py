"""FTP: a server, and a client that uploads or downloads for a time or a number of octets.

Both are small programs on the hosts of a trial. Commands and replies are those of RFC 959, with the
passive mode of RFC 2428 (EPSV). The receiver of the data counts them and ends a transfer that has a
duration. The server tells its counts in the last reply; ``SITE WINDOW`` tells it the times. Times
of both ends are those of one machine's clock where both are on one machine; ``own_s`` of a transfer
is that of the client's clock alone.
"""

from __future__ import annotations

import json
import socket
import threading
import time
from typing import Any, Final

import attrs
from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts.plain import read
from airtoll.testbeds.linux.hosts.tcp_options import PLAIN, TcpOptions, retransmissions
from airtoll.testbeds.linux.on_hosts import entry

PORT: Final = 21
#: Octets of a write where the study states none, as iperf3 writes.
WRITE_OCTETS: Final = 131_072
_GIVE_UP_S: Final = 60.0
#: Name of a file without end; another file's name is its length.
ENDLESS: Final = "endless"
#: The window of a session that states none, seconds: an hour, from the beginning.
_WINDOW: Final = (0.0, 3600.0)


class FtpError(TestbedError):
    """A transfer that did not come about."""


@frozen
class Service:
    """Settings of the server: port, a file when ready, octets of a write."""

    port: int
    ready: str
    options: TcpOptions = PLAIN
    write_octets: int = WRITE_OCTETS


@frozen
class Client:
    """Settings of a client. ``octets``: of the file; None: without end, for ``duration_s``."""

    server: str
    port: int
    source: str | None
    upload: bool
    octets: int | None
    duration_s: float
    warm_up_s: float = 0.0
    options: TcpOptions = PLAIN
    write_octets: int = WRITE_OCTETS


@frozen
class Sent:
    """A sender's account: when it began (s of the machine's clock), and segments sent again."""

    began_s: float
    retransmissions: int


@frozen
class Received:
    """A receiver's account of one file.

    ``last_s``: when the last octet came, on the machine's clock. ``octets``: all of them.
    ``window_octets``: those in the window. ``seconds``: those of each second of the window, up
    to the last octet.
    """

    last_s: float
    octets: int
    window_octets: int
    seconds: tuple[int, ...]


@frozen
class Transfer:
    """Both ends of a transfer; ``span_s``: the length of the window.

    ``own_s``: time by the client's clock; of an upload from its first octet to the server's reply
    behind the last one, of a download from its request to its last octet.
    """

    sent: Sent
    received: Received
    whole: bool
    span_s: float
    own_s: float


def send(link: socket.socket, octets: int | None, write_octets: int, limit_s: float) -> Sent:
    """Write octets, without end for None, until the receiver ends or ``limit_s`` seconds."""
    chunk = memoryview(b"x" * write_octets)
    began = time.perf_counter()
    left = octets
    again = 0
    try:
        while left is None or left > 0:
            rest_s = began + limit_s - time.perf_counter()
            if rest_s <= 0:
                break
            link.settimeout(rest_s)
            done = link.send(chunk if left is None else chunk[:left])
            left = None if left is None else left - done
            again = retransmissions(link)
        link.shutdown(socket.SHUT_WR)
        again = retransmissions(link)
    except OSError:
        pass  # the receiver ended the transfer, or the time is over
    return Sent(began, again)


def receive(link: socket.socket, window: tuple[float, float]) -> Received:
    """Count octets until their end, or the window's: seconds after the first of them."""
    warm_up_s, duration_s = window
    first = last = 0.0
    total = counted = 0
    seconds: list[int] = []
    link.settimeout(_GIVE_UP_S + duration_s)
    while True:
        try:
            octets = len(link.recv(65_536))
        except OSError:
            break  # the time is over, or the sender has gone
        now = time.perf_counter()
        if not octets:
            break
        first = first or now
        since = now - first
        if since > duration_s:
            break
        last, total = now, total + octets
        if since >= warm_up_s:
            counted += octets
            second = int(since - warm_up_s)
            seconds += [0] * (second + 1 - len(seconds))
            seconds[second] += octets
        link.settimeout(max(1e-6, first + duration_s - now))
    return Received(last, total, counted, tuple(seconds))


class Server:
    """The listening socket of the server; port 0 is any free one."""

    def __init__(
        self, port: int, options: TcpOptions | None = None, write_octets: int = WRITE_OCTETS
    ) -> None:
        self._options = options or TcpOptions()
        self._write_octets = write_octets
        # The options are for data connections.
        self.control = TcpOptions().listen(port)

    def serve(self) -> None:
        """Serve sessions until the socket is closed."""
        while True:
            try:
                link, _ = self.control.accept()
            except OSError:
                return
            session = _Session(link, self._options, self._write_octets)
            threading.Thread(target=session.run, daemon=True).start()


class _Session:
    """One control connection of the server."""

    def __init__(self, link: socket.socket, options: TcpOptions, write_octets: int) -> None:
        self._link = link
        self._options = options
        self._write_octets = write_octets
        self._window = _WINDOW
        self._passive: socket.socket | None = None

    def run(self) -> None:
        """Answer commands until QUIT or the end of the connection."""
        try:
            with self._link, self._link.makefile("rb") as lines:
                self._reply(220, "airtoll")
                for line in lines:
                    command, _, argument = line.decode("ascii").strip().partition(" ")
                    if not self._command(command.upper(), argument):
                        return
        except (OSError, ValueError):
            return  # the client has gone, or spoke another protocol
        finally:
            self._close_passive()

    def _reply(self, code: int, text: str) -> None:
        self._link.sendall(f"{code} {text}\r\n".encode())

    def _command(self, command: str, argument: str) -> bool:
        match command:
            case "USER":
                self._reply(331, "any password")
            case "PASS":
                self._reply(230, "logged in")
            case "TYPE":
                self._reply(200 if argument.upper() == "I" else 504, "type I (octets) alone")
            case "SIZE":
                known = argument.isdigit()
                self._reply(213 if known else 550, argument if known else "no length")
            case "EPSV":
                self._reply(229, f"passive mode (|||{self._listen()}|)")
            case "PASV":
                self._pasv()
            case "SITE":
                self._site(argument)
            case "STOR" | "RETR":
                self._transfer(command, argument)
            case "QUIT":
                self._reply(221, "good bye")
                return False
            case _:
                self._reply(502, "not implemented")
        return True

    def _listen(self) -> int:
        self._close_passive()
        self._passive = self._options.listen(0)
        return int(self._passive.getsockname()[1])

    def _pasv(self) -> None:
        """The older passive mode, for IPv4 alone (RFC 959)."""
        own = str(self._link.getsockname()[0]).removeprefix("::ffff:")
        if ":" in own:
            self._reply(425, "use EPSV")
            return
        port = self._listen()
        fields = [*own.split("."), str(port >> 8), str(port & 0xFF)]
        self._reply(227, f"passive mode ({','.join(fields)})")

    def _close_passive(self) -> None:
        if self._passive is not None:
            self._passive.close()
            self._passive = None

    def _site(self, argument: str) -> None:
        word, *times = argument.split()
        if word.upper() != "WINDOW" or len(times) != 2:
            self._reply(504, "SITE WINDOW warm-up duration")
            return
        self._window = (float(times[0]), float(times[1]))
        self._reply(200, "window set")

    def _transfer(self, command: str, name: str) -> None:
        if self._passive is None:
            self._reply(425, "EPSV first")
            return
        if command == "RETR" and not (name == ENDLESS or name.isdigit()):
            self._reply(550, f"a file's name is its length, or {ENDLESS}")
            return
        self._passive.settimeout(_GIVE_UP_S)
        data, _ = self._passive.accept()
        self._close_passive()
        self._reply(150, "data follow")
        account: Sent | Received
        with data:
            if command == "STOR":
                account = receive(data, self._window)
            else:
                octets = None if name == ENDLESS else int(name)
                account = send(data, octets, self._write_octets, _GIVE_UP_S + self._window[1])
        self._reply(226, json.dumps(attrs.asdict(account)))


class _Control:
    """The control connection of a client."""

    def __init__(self, link: socket.socket) -> None:
        self._link = link
        self._lines = link.makefile("rb")

    def reply(self, *wanted: int) -> str:
        """The text of the next reply; raises :class:`FtpError` for another code."""
        line = self._lines.readline().decode(errors="replace").strip()
        if line[:3] not in {str(code) for code in wanted}:
            raise FtpError(f"FTP: {line or 'the server closed the connection'}")
        return line[4:]

    def ask(self, command: str, *wanted: int) -> str:
        """The text of the reply to a command."""
        self._link.sendall(f"{command}\r\n".encode())
        return self.reply(*wanted)


def transfer(settings: Client) -> Transfer:
    """Carry out one transfer. Raises ``OSError`` or :class:`FtpError` when none comes about."""
    limit_s = _GIVE_UP_S + settings.duration_s
    link = TcpOptions().connect(settings.server, settings.port, settings.source, limit_s)
    window = (settings.warm_up_s, settings.duration_s)
    with link:
        control = _Control(link)
        control.reply(220)
        control.ask("USER anonymous", 331)
        control.ask("PASS airtoll", 230)
        control.ask("TYPE I", 200)
        control.ask(f"SITE WINDOW {window[0]!r} {window[1]!r}", 200)
        port = int(control.ask("EPSV", 229).rpartition("(|||")[2].partition("|")[0])
        name = ENDLESS if settings.octets is None else str(settings.octets)
        with settings.options.connect(settings.server, port, settings.source, limit_s) as data:
            asked = time.perf_counter()
            control.ask(f"{'STOR' if settings.upload else 'RETR'} {name}", 150)
            own: Any
            if settings.upload:
                own = send(data, settings.octets, settings.write_octets, settings.duration_s)
            else:
                own = receive(data, window)
        other = json.loads(control.reply(226))
        replied = time.perf_counter()
        control.ask("QUIT", 221)
    sent = own if settings.upload else read(Sent, other)
    received = read(Received, other) if settings.upload else own
    if not received.octets:
        raise FtpError(f"FTP: no octet of the file came within {settings.duration_s:g} s")
    whole = received.octets == settings.octets
    own_s = replied - sent.began_s if settings.upload else received.last_s - asked
    return Transfer(sent, received, whole, settings.duration_s - settings.warm_up_s, own_s)


if __name__ == "__main__":
    entry.main(Service, lambda s: Server(s.port, s.options, s.write_octets), Client, transfer)
