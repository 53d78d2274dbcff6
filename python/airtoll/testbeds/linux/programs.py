"""Small programs of this package that run on the hosts of a trial: servers and clients of traffic.

A program is a module that reads its settings from a JSON file, most by :func:`main`. A server
makes the file ``ready`` of its settings when it listens; a client prints one JSON value.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final, Protocol, TypeVar

import attrs

import airtoll
from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts import Host, Process
from airtoll.testbeds.linux.plain import read

#: Time beyond the work of a client for its start and a slow emulated CPU, seconds.
_MARGIN_S: Final = 60.0
_ROOT: Final = str(Path(airtoll.__file__).resolve().parent.parent)


class Serves(Protocol):
    """A server whose sockets listen."""

    def serve(self) -> None:
        """Answer until the process ends."""


class Service(Protocol):
    """Settings of a server."""

    @property
    def ready(self) -> str:
        """Path of the file that the server makes when it listens."""


_Service = TypeVar("_Service", bound=Service)
_Client = TypeVar("_Client")


class ProgramError(TestbedError):
    """A program that ended without a report."""


def _command(module: str, role: str, path: str) -> list[str]:
    return [sys.executable, "-m", f"airtoll.testbeds.linux.{module}", role, path]


async def serve(
    host: Host,
    base: str,
    module: str,
    settings: attrs.AttrsInstance,
    limit_s: float = 60.0,
    *,
    role: str = "serve",
) -> Process:
    """Start a server and wait until it listens; its files begin with ``base``.

    ``settings`` has a field ``ready``, the path of the file that the server makes. ``role`` is the
    program's first argument.
    """
    values = attrs.asdict(settings)
    await host.run(["rm", "-f", values["ready"]])
    await host.put(f"{base}.json", json.dumps(values))
    command, log = _command(module, role, f"{base}.json"), f"{base}.log"
    async with host.starting(command, log=log, env={"PYTHONPATH": _ROOT}) as process:
        await host.wait_for(values["ready"], limit_s, process)
    return process


async def run(
    host: Host, base: str, module: str, settings: attrs.AttrsInstance, duration_s: float
) -> Any:
    """Run a client for about ``duration_s`` seconds; gives what it printed, plain values.

    Raises :class:`ProgramError` with its last words.
    """
    await host.put(f"{base}.json", json.dumps(attrs.asdict(settings)))
    done = await host.run(
        ["env", f"PYTHONPATH={_ROOT}", *_command(module, "ask", f"{base}.json")],
        limit_s=duration_s + _MARGIN_S,
        check=False,
    )
    if done.status != 0 or not done.stdout.strip():
        words = done.stderr.strip().splitlines()
        raise ProgramError(f"{host.name}: {module}: {words[-1] if words else 'no report'}")
    return json.loads(done.stdout)


def main(
    service: type[_Service],
    listen: Callable[[_Service], Serves],
    client: type[_Client],
    ask: Callable[[_Client], attrs.AttrsInstance],
) -> None:
    """Carry out the role of the command line: serve for ever, or ask and print what was found."""
    role, path = sys.argv[1:3]
    values = json.loads(Path(path).read_text())
    if role == "serve":
        settings = read(service, values)
        server = listen(settings)
        Path(settings.ready).touch()
        server.serve()
    else:
        sys.stdout.write(json.dumps(attrs.asdict(ask(read(client, values)))) + "\n")
