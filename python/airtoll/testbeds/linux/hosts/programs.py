"""Small programs of this package that run on the hosts of a trial: servers and clients of traffic.

A program is a module that reads its settings from a JSON file, most by ``on_hosts.entry``. A host
with this machine's files runs it from them; another one gets it once (see ``shipping``).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import attrs
from attrs import frozen

import airtoll
from airtoll.errors import TestbedError
from airtoll.testbeds.linux.hosts import shipping
from airtoll.testbeds.linux.hosts.host import Host, Process

#: Time beyond the work of a client for its start and a slow emulated CPU, seconds.
_MARGIN_S: Final = 60.0
_ROOT: Final = str(Path(airtoll.__file__).resolve().parent.parent)


class ProgramError(TestbedError):
    """A program that ended without a report."""


@frozen
class Command:
    """A command and its environment."""

    argv: tuple[str, ...]
    env: Mapping[str, str]

    @property
    def line(self) -> list[str]:
        """Both as one argument vector."""
        return [
            *(["env"] if self.env else []),
            *(f"{k}={v}" for k, v in self.env.items()),
            *self.argv,
        ]


async def command(host: Host, folder: str, module: str, role: str, path: str) -> Command:
    """The command of a program on a host, which has all that it needs when this returns.

    ``folder``: the run's on that host. ``module``: the whole name. Raises ``EnvironmentProblem``
    where the host has no Python for it, and ``TestbedError`` where the program cannot be sent.
    """
    if host.has_our_files:
        return Command((sys.executable, "-m", module, role, path), {"PYTHONPATH": _ROOT})
    return Command((*await shipping.ship(host, folder, module), role, path), {})


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
    given = await command(host, str(Path(base).parent), module, role, f"{base}.json")
    await host.run(["rm", "-f", values["ready"]])
    await host.put(f"{base}.json", json.dumps(values))
    async with host.starting(given.argv, log=f"{base}.log", env=given.env) as process:
        await host.wait_for(values["ready"], limit_s, process)
    return process


async def run(
    host: Host, base: str, module: str, settings: attrs.AttrsInstance, duration_s: float
) -> Any:
    """Run a client for about ``duration_s`` seconds; gives what it printed, plain values.

    Raises :class:`ProgramError` with its last words.
    """
    given = await command(host, str(Path(base).parent), module, "ask", f"{base}.json")
    await host.put(f"{base}.json", json.dumps(attrs.asdict(settings)))
    done = await host.run(given.line, limit_s=duration_s + _MARGIN_S, check=False)
    if done.status != 0 or not done.stdout.strip():
        words = done.stderr.strip().splitlines()
        name = module.rpartition(".")[2]
        raise ProgramError(f"{host.name}: {name}: {words[-1] if words else 'no report'}")
    return json.loads(done.stdout)
