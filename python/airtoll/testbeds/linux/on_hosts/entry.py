"""Entry of a program on a host: settings from a JSON file, a role from the command line.

A server makes the file ``ready`` of its settings when it listens; a client prints one JSON value.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Protocol, TypeVar

import attrs

from airtoll.testbeds.linux.hosts.plain import read


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
