"""The program that the guest runs: it does what the host asks over a serial port.

Takes JSON lines from the virtio-serial port named ``airtoll.agent``, or from the serial line that
AIRTOLL_PORT names; gives JSON lines back. Runs in the guest
only, with the standard library only. When the host goes away it powers the guest off, so a guest
never outlives its owner.

Requests carry ``id`` and ``op``:

    run     argv, [stdin, timeout_s, env, cwd]  -> chunks {stream, data}, then {exit}
    shell   argv, rows, columns                 -> chunks {stream: "tty", data}, then {exit}
    input   target, data                        (to a shell; no answer)
    cancel  target                              (ends a running command; no answer)
    call    function "package.module:name", argument  -> {result} or {error: {kind, message}}
    off                                         -> powers off

``data`` is base64. Every answer carries the ``id`` of its request.
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
from typing import Any

PORT_NAME = "airtoll.agent"
PORT_VARIABLE = "AIRTOLL_PORT"


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
        self._say(
            {"hello": os.uname().release, "uptime_s": time.clock_gettime(time.CLOCK_BOOTTIME)}
        )
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

    def _say(self, message: dict[str, Any]) -> None:
        line = memoryview(json.dumps(message).encode() + b"\n")
        with self._writing:
            while line:
                line = line[os.write(self._port, line) :]

    def _accept(self, request: dict[str, Any]) -> None:
        op = request["op"]
        if op == "off":
            power_off()
        elif op == "input":
            terminal = self._terminals.get(request["target"])
            if terminal is not None:
                os.write(terminal, base64.b64decode(request["data"]))
        elif op == "cancel":
            process = self._processes.get(request["target"])
            if process is not None and process.poll() is None:
                os.killpg(process.pid, signal.SIGTERM)
        else:
            handler = {"run": self._run, "shell": self._shell, "call": self._call}[op]
            threading.Thread(target=self._guarded, args=(handler, request), daemon=True).start()

    def _guarded(self, handler: Any, request: dict[str, Any]) -> None:
        try:
            handler(request)
        except Exception as error:  # the host must hear of anything that went wrong here
            detail = {"message": str(error), "trace": traceback.format_exc()}
            self._say({"id": request["id"], "error": detail})

    def _run(self, request: dict[str, Any]) -> None:
        process = subprocess.Popen(
            request["argv"],
            stdin=subprocess.PIPE if request.get("stdin") is not None else subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**os.environ, **request.get("env", {})},
            cwd=request.get("cwd"),
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
        if process.stdin is not None:
            process.stdin.write(base64.b64decode(request["stdin"]))
            process.stdin.close()
        answer: dict[str, Any] = {"id": request["id"]}
        try:
            answer["exit"] = process.wait(request.get("timeout_s"))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            answer["error"] = {"message": "took too long"}
        for reader in readers:
            # A daemon that keeps the pipe open must not hold the answer back.
            reader.join(1.0)
        del self._processes[request["id"]]
        self._say(answer)

    def _forward(self, number: int, stream: str, descriptor: int) -> None:
        try:
            while chunk := os.read(descriptor, 49152):
                data = base64.b64encode(chunk).decode()
                self._say({"id": number, "stream": stream, "data": data})
        except OSError:
            return  # the pipe went with its process

    def _shell(self, request: dict[str, Any]) -> None:
        pid, terminal = pty.fork()
        if pid == 0:
            os.execvp(request["argv"][0], request["argv"])
        size = struct.pack("HHHH", request["rows"], request["columns"], 0, 0)
        fcntl.ioctl(terminal, termios.TIOCSWINSZ, size)
        self._terminals[request["id"]] = terminal
        self._forward(request["id"], "tty", terminal)
        del self._terminals[request["id"]]
        _, status = os.waitpid(pid, 0)
        self._say({"id": request["id"], "exit": os.waitstatus_to_exitcode(status)})

    def _call(self, request: dict[str, Any]) -> None:
        module, _, name = request["function"].partition(":")
        with self._calling:  # one trial at a time: they share the radios
            function = getattr(importlib.import_module(module), name)
            result = function(request["argument"])
        self._say({"id": request["id"], "result": result})


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
        device = os.environ.pop(PORT_VARIABLE, None)
        Agent(port() if device is None else line(device)).serve()
    finally:
        sys.stderr.flush()
        power_off()


if __name__ == "__main__":
    main()
