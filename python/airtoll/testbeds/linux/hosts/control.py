"""The control interface of hostapd and wpa_supplicant: requests and events.

Takes the path of a control socket; gives answers and events. Never polls and never reads a log.
Protocol: text datagrams on a UNIX socket; after ATTACH the daemon sends events "<level>TEXT"
(hostap, doc/ctrl_iface.doxygen).
"""

from __future__ import annotations

import asyncio
import contextlib
import itertools
import os
import re
import socket
import time
from collections import deque
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts.host import Host, Process, SshHost

_COUNTER: Final = itertools.count()
_EVENT: Final = re.compile(r"^<\d>")


class ControlError(TestbedError):
    """A daemon refused a request, died, or did not report the awaited event."""


@frozen
class Event:
    """One event: when it came (monotonic clock, s) and its text without the level."""

    at_s: float
    text: str


class Control:
    """A connection to one daemon's control socket.

    ``who``: the daemon's name for messages. Make it with :func:`connect`.
    """

    def __init__(self, who: str) -> None:
        self.who = who
        self._events: deque[Event] = deque()
        self._news = asyncio.Event()
        self._answers: asyncio.Queue[str] = asyncio.Queue()
        self._asking = asyncio.Lock()
        self._transport: Any = None
        self._own_path: Path | None = None
        self.process: Process | None = None

    async def request(self, command: str, limit_s: float = 30.0) -> str:
        """The answer to a command; raises :class:`ControlError` on FAIL or silence."""
        async with self._asking:
            while not self._answers.empty():
                self._answers.get_nowait()
            try:
                self._transport.sendto(command.encode())
                answer = await asyncio.wait_for(self._answers.get(), limit_s)
            except TimeoutError:
                if self.process is not None and not self.process.running:
                    how = await self.process.last_words()
                    raise ControlError(f"{self.who}: has died: {how}") from None
                raise ControlError(
                    f"{self.who}: no answer to {command.split()[0]} within {limit_s:g} s"
                ) from None
            except OSError as error:
                how = await self.process.last_words() if self.process else str(error.strerror)
                raise ControlError(f"{self.who}: has died: {how}") from error
        if answer.startswith(("FAIL", "UNKNOWN COMMAND")):
            raise ControlError(f"{self.who}: {command.split()[0]}: {answer.strip()}")
        return answer

    async def wait_for(self, *starts: str, limit_s: float, failures: tuple[str, ...] = ()) -> Event:
        """The next event that begins with one of ``starts``.

        Events before it are dropped. Raises :class:`ControlError` with the event's text when one
        of ``failures`` comes first, when the daemon dies, or after ``limit_s`` seconds.
        """
        loop = asyncio.get_running_loop()
        give_up = loop.time() + limit_s
        last = "nothing"
        while True:
            while self._events:
                event = self._events.popleft()
                last = event.text
                if event.text.startswith(starts):
                    return event
                if failures and event.text.startswith(failures):
                    raise ControlError(f"{self.who}: {event.text}")
            self._news.clear()
            left = give_up - loop.time()
            if left <= 0:
                raise ControlError(
                    f"{self.who}: no {' or '.join(starts)} within {limit_s:g} s; last: {last}"
                )
            if self.process is not None and not self.process.running:
                raise ControlError(
                    f"{self.who}: died while {starts[0]} was awaited: "
                    f"{await self.process.last_words()}"
                )
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(self._news.wait(), min(left, 0.5))

    def forget(self) -> None:
        """Drop the events that have come so far."""
        self._events.clear()

    def close(self) -> None:
        """Close the socket and remove the path it was bound to."""
        if self._transport is not None:
            self._transport.close()
            self._transport = None
        if self._own_path is not None:
            self._own_path.unlink(missing_ok=True)
            self._own_path = None

    def received(self, text: str) -> None:
        """Sort one datagram into answers and events."""
        if _EVENT.match(text):
            self._events.append(Event(time.monotonic(), text[3:].strip()))
            self._news.set()
        else:
            self._answers.put_nowait(text)


async def connect(
    host: Host, path: str, who: str, process: Process | None = None, limit_s: float = 60.0
) -> Control:
    """Wait for a daemon's control socket, attach to its events and give the connection.

    On hosts over SSH the daemon's own command-line client carries the datagrams.
    """
    await host.wait_for(path, limit_s, process)
    control = Control(who)
    control.process = process
    if not isinstance(host, SshHost):
        own = Path(path).parent.parent / f"ctl-{os.getpid()}-{next(_COUNTER)}"
        loop = asyncio.get_running_loop()
        link = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        try:
            link.setblocking(False)
            link.bind(str(own))
            control._own_path = own
            await _reach(link, path, limit_s, process)
        except OSError as error:
            link.close()
            control.close()
            raise ControlError(f"{who}: cannot reach {path}: {error.strerror}") from error
        control._transport, _ = await loop.create_datagram_endpoint(
            lambda: _Datagrams(control), sock=link
        )
        await control.request("ATTACH", limit_s)
    else:
        control._transport = await _Client.open(host, path, control)
    return control


async def _reach(link: socket.socket, path: str, limit_s: float, process: Process | None) -> None:
    """Connect to a control socket; one that a killed daemon left is there and refuses."""
    loop = asyncio.get_running_loop()
    give_up = loop.time() + limit_s
    while True:
        try:
            link.connect(path)
        except (ConnectionRefusedError, FileNotFoundError):
            if loop.time() > give_up or (process is not None and not process.running):
                raise
            await asyncio.sleep(0.02)
        else:
            return


class _Datagrams(asyncio.DatagramProtocol):
    def __init__(self, control: Control) -> None:
        self._control = control

    def datagram_received(self, data: bytes, addr: Any) -> None:
        self._control.received(data.decode(errors="replace"))


def event_of(line: str, program: str) -> str | None:
    """The event in a line of a command-line client, as the socket would carry it, or None."""
    if program == "hostapd_cli":  # echo was given the interface and the event
        _, _, text = line.strip().partition(" ")
        return f"<3>{text}" if text[:1].isupper() else None
    # The prompt and the echo of a readline build precede the event on its line.
    start = re.search(r"<\d>", line)
    return None if start is None else line[start.start() :]


class _Client:
    """Requests by ``wpa_cli raw`` and events by an interactive ``wpa_cli``, over SSH.

    hostapd_cli shows no events when it is interactive: it gives each to a program, here ``echo``.
    """

    def __init__(self, host: SshHost, argv: list[str], control: Control) -> None:
        self._host = host
        self._argv = argv
        self._control = control
        self._tasks: set[asyncio.Task[None]] = set()
        self._events: Any = None

    @classmethod
    async def open(cls, host: SshHost, path: str, control: Control) -> _Client:
        program = "hostapd_cli" if "hostapd" in control.who else "wpa_cli"
        argv = [program, "-p", str(Path(path).parent), "-i", Path(path).name]
        client = cls(host, argv, control)
        told = [*argv, "-a", "/bin/echo"] if program == "hostapd_cli" else argv
        client._events = await host.stream(told)
        task = asyncio.create_task(client._read())
        client._tasks.add(task)
        return client

    async def _read(self) -> None:
        async for line in self._events.stdout:
            text = event_of(line, self._argv[0])
            if text is not None:
                self._control.received(text)

    def sendto(self, data: bytes) -> None:
        task = asyncio.create_task(self._ask(data.decode()))
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _ask(self, command: str) -> None:
        done = await self._host.run([*self._argv, "raw", *command.split(" ")], check=False)
        self._control.received(done.stdout or "FAIL")

    def close(self) -> None:
        self._events.close()
        for task in self._tasks:
            task.cancel()
