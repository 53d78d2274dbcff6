"""The agent in the guest: it carries out the host's requests over a serial port.

Requests and answers are JSON lines on the virtio-serial port named ``airtoll.agent``, or on the
serial line that AIRTOLL_PORT names. With AIRTOLL_ERRAND there is no line: the agent carries out the
one request of ``request.json`` in that folder, writes ``answer.json`` and powers off. A guest in
virtual time needs this, as its clock waits for no line. The agent runs in the guest only, with the
standard library only. When the host closes its end, the agent powers the guest off, so that
no guest outlives its owner. ``data`` is base64. Every answer carries the ``id`` of its request.
"""

from __future__ import annotations

import base64
import faulthandler
import fcntl
import importlib
import json
import os
import pty
import signal
import struct
import subprocess
import sys
import termios
import threading
import time
import traceback
import tty
from pathlib import Path
from typing import Literal, NotRequired, TypedDict, final

PORT_NAME = "airtoll.agent"
PORT_VARIABLE = "AIRTOLL_PORT"
ERRAND_VARIABLE = "AIRTOLL_ERRAND"


@final
class Run(TypedDict):
    """Run a command: any number of :class:`Chunk`, then :class:`Exit` or :class:`Refusal`."""

    id: int
    op: Literal["run"]
    argv: list[str]
    stdin: str | None
    timeout_s: float | None


@final
class Shell(TypedDict):
    """Run a program on a terminal: chunks of the stream ``tty``, then :class:`Exit`."""

    id: int
    op: Literal["shell"]
    argv: list[str]
    rows: int
    columns: int


@final
class Input(TypedDict):
    """Octets for the terminal of the shell ``target``; no answer."""

    id: int
    op: Literal["input"]
    target: int
    data: str


@final
class Cancel(TypedDict):
    """End the command ``target``; no answer of its own."""

    id: int
    op: Literal["cancel"]
    target: int


@final
class Call(TypedDict):
    """Call ``package.module:name`` with one JSON value: :class:`Result` or :class:`Refusal`."""

    id: int
    op: Literal["call"]
    function: str
    argument: object


@final
class Off(TypedDict):
    """Power the guest off; no answer."""

    id: int
    op: Literal["off"]


Request = Run | Shell | Input | Cancel | Call | Off


@final
class Hello(TypedDict):
    """The first line of the agent: the kernel's release, and the time since the boot."""

    hello: str
    uptime_s: float


@final
class Chunk(TypedDict):
    """Output of a command: ``stdout``, ``stderr`` or ``tty``."""

    id: int
    stream: str
    data: str


@final
class Exit(TypedDict):
    """The exit status of a command."""

    id: int
    exit: int


@final
class Result(TypedDict):
    """The return value of a call."""

    id: int
    result: object


class Problem(TypedDict):
    """An error in one line, with the traceback where the agent raised it."""

    message: str
    trace: NotRequired[str]


@final
class Refusal(TypedDict):
    """The request failed."""

    id: int
    error: Problem


Answer = Chunk | Exit | Result | Refusal


class Agent:
    """Serves one port; each request has its own thread, so that a fault can be injected."""

    def __init__(self, descriptor: int) -> None:
        self._port = descriptor
        self._writing = threading.Lock()
        self._processes: dict[int, subprocess.Popen[bytes]] = {}
        self._terminals: dict[int, int] = {}
        self._calling = threading.Lock()

    def serve(self) -> None:
        """Answer until the host closes its end."""
        pending = b""
        uptime_s = time.clock_gettime(time.CLOCK_BOOTTIME)
        self._say(Hello(hello=os.uname().release, uptime_s=uptime_s))
        while chunk := self._heard():
            pending += chunk
            while b"\n" in pending:
                line, pending = pending.split(b"\n", 1)
                self._accept(json.loads(line))

    def _heard(self) -> bytes:
        try:
            return os.read(self._port, 65536)
        except OSError:
            return b""  # a serial line says so when the other end is gone

    def _say(self, message: Hello | Answer) -> None:
        line = memoryview(json.dumps(message).encode() + b"\n")
        with self._writing:
            while line:
                line = line[os.write(self._port, line) :]

    def _accept(self, request: Request) -> None:
        if request["op"] == "off":
            power_off()
        elif request["op"] == "input":
            terminal = self._terminals.get(request["target"])
            if terminal is not None:
                os.write(terminal, base64.b64decode(request["data"]))
        elif request["op"] == "cancel":
            process = self._processes.get(request["target"])
            if process is not None and process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        else:
            threading.Thread(target=self._guarded, args=(request,), daemon=True).start()

    def _guarded(self, request: Run | Shell | Call) -> None:
        try:
            if request["op"] == "run":
                self._run(request)
            elif request["op"] == "shell":
                self._shell(request)
            elif request["op"] == "call":
                self._call(request)
            else:
                problem = Problem(message=f"unknown op {request['op']!r}")
                self._say(Refusal(id=request["id"], error=problem))
        except Exception as error:  # every failure is an answer to the host
            problem = Problem(message=str(error), trace=traceback.format_exc())
            self._say(Refusal(id=request["id"], error=problem))

    def _run(self, request: Run) -> None:
        given = request["stdin"]
        process = subprocess.Popen(
            request["argv"],
            stdin=subprocess.DEVNULL if given is None else subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
        self._processes[request["id"]] = process
        readers = [
            threading.Thread(target=self._forward, args=(request["id"], name, stream.fileno()))
            for name, stream in (("stdout", process.stdout), ("stderr", process.stderr))
            if stream is not None
        ]
        for reader in readers:
            reader.start()
        if process.stdin is not None and given is not None:
            process.stdin.write(base64.b64decode(given))
            process.stdin.close()
        answer: Exit | Refusal
        try:
            answer = Exit(id=request["id"], exit=process.wait(request["timeout_s"]))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            answer = Refusal(id=request["id"], error=Problem(message="took too long"))
        for reader in readers:
            # A daemon that keeps the pipe open must not hold the answer back.
            reader.join(1.0)
        del self._processes[request["id"]]
        self._say(answer)

    def _forward(self, number: int, stream: str, descriptor: int) -> None:
        try:
            while chunk := os.read(descriptor, 49152):
                data = base64.b64encode(chunk).decode()
                self._say(Chunk(id=number, stream=stream, data=data))
        except OSError:
            return  # the pipe went with its process

    def _shell(self, request: Shell) -> None:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp(request["argv"][0], request["argv"])
        size = struct.pack("HHHH", request["rows"], request["columns"], 0, 0)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
        self._terminals[request["id"]] = terminal
        self._forward(request["id"], "tty", terminal)
        del self._terminals[request["id"]]
        _, status = os.waitpid(pid, 0)
        self._say(Exit(id=request["id"], exit=os.waitstatus_to_exitcode(status)))

    def _call(self, request: Call) -> None:
        module, _, name = request["function"].partition(":")
        with self._calling:  # one trial at a time: they share the radios
            function = getattr(importlib.import_module(module), name)
            result = function(request["argument"])
        self._say(Result(id=request["id"], result=result))


def errand(folder: Path) -> None:
    """Carry out the request of a folder and leave the answer there, complete or not at all."""
    request: Call = json.loads((folder / "request.json").read_text())
    answer: Result | Refusal
    try:
        module, _, name = request["function"].partition(":")
        value = getattr(importlib.import_module(module), name)(request["argument"])
        answer = Result(id=request["id"], result=value)
    except Exception as error:  # every failure is an answer to the host
        problem = Problem(message=str(error), trace=traceback.format_exc())
        answer = Refusal(id=request["id"], error=problem)
    fresh = folder / "answer.new"
    fresh.write_text(json.dumps(answer))
    fresh.rename(folder / "answer.json")


def port(name: str = PORT_NAME, limit_s: float = 20.0) -> int:
    """Open the virtio-serial port of this name; there is no udev in the guest to link it."""
    give_up = time.monotonic() + limit_s
    while time.monotonic() < give_up:
        for entry in Path("/sys/class/virtio-ports").glob("*"):
            if (entry / "name").read_text().strip() == name:
                return os.open(f"/dev/{entry.name}", os.O_RDWR)
        time.sleep(0.02)
    raise SystemExit(f"airtoll: no virtio-serial port {name} in this guest")


def line(device: str) -> int:
    """Open a serial line for octets: no echo, no line editing, no signals."""
    descriptor = os.open(device, os.O_RDWR | os.O_NOCTTY)
    tty.setraw(descriptor)
    return descriptor


def power_off() -> None:
    """Flush and switch the guest off; does not return."""
    os.sync()
    Path("/proc/sysrq-trigger").write_text("o")
    while True:
        time.sleep(1)


def main() -> None:
    """Serve the port, then power off."""
    # A hang in the guest can be looked into from outside: kill -USR1 1, then the console log.
    faulthandler.register(signal.SIGUSR1, all_threads=True)
    try:
        folder = os.environ.pop(ERRAND_VARIABLE, None)
        if folder is not None:
            errand(Path(folder))
            return
        device = os.environ.pop(PORT_VARIABLE, None)
        Agent(port() if device is None else line(device)).serve()
    finally:
        sys.stderr.flush()
        power_off()


if __name__ == "__main__":
    main()
