"""Our handshakes with strangers: state machines without IO, and ways for their octets.

Takes settings, the parties that are ours, and wires to the others; keeps every message that passed,
and lets timers run out when nothing came. Imports nothing but the standard library and the native
module, so that a program in a guest can use it too.
"""

from __future__ import annotations

import json
import select
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

from airtoll import _native


class Wire(Protocol):
    """A path to the daemon's parties: the messages it takes, and the names of their messages."""

    def fileno(self) -> int:
        """The descriptor to wait on."""

    def take(self, message: tuple[str, str, str, bytes]) -> bool:
        """Send a message if this is its way; whether it was."""

    def give(self) -> list[tuple[str, str, str, bytes]]:
        """The received messages."""


class Conversation:
    """Our parties in a handshake with a daemon."""

    def __init__(
        self,
        settings: Mapping[str, Any],
        ours: Sequence[str],
        wires: Sequence[Wire] = (),
        seed: int = 1,
    ) -> None:
        self.machine = _native.Handshake(json.dumps(settings), list(ours), seed)
        self.ours, self.wires = list(ours), list(wires)
        self.messages: list[tuple[str, str, str, bytes]] = []

    def status(self, party: str) -> str:
        return self.machine.status(party)[0]

    def why(self, party: str) -> str:
        return self.machine.status(party)[1]

    def secrets(self, party: str) -> dict[str, bytes]:
        return {name: bytes(value) for name, value in self.machine.status(party)[2]}

    def session(self, party: str) -> list[int]:
        """The TLS session that our party remembers, in the form of the settings."""
        return list(dict(self.machine.agreed(party))["tls-session"])

    def remembers(self, party: str) -> bool:
        return "tls-session" in dict(self.machine.agreed(party))

    def octets(self, carrier: str) -> int:
        return sum(len(message[3]) for message in self.messages if message[2] == carrier)

    def count(self, carrier: str) -> int:
        return sum(message[2] == carrier for message in self.messages)

    def run(
        self,
        done: Callable[[Conversation], bool] | None = None,
        *,
        limit_s: float = 20.0,
        timer_s: float = 3.0,
    ) -> Conversation:
        """Carry messages until ``done`` (default: all our parties decided)."""

        def decided(self: Conversation) -> bool:
            return all(self.status(party) != "waiting" for party in self.ours)

        done = done or decided
        give_up = time.monotonic() + limit_s
        self._carry(self.machine.start())
        quiet_since = time.monotonic()
        while not done(self) and (now := time.monotonic()) < give_up:
            # A wire may be ready with messages for other parties.
            ready, _, _ = select.select(self.wires, [], [], max(0.0, quiet_since + timer_s - now))
            for message in (message for wire in ready for message in wire.give()):
                self.messages.append(message)
                self._carry(self.machine.deliver(*message))
                quiet_since = time.monotonic()
            if time.monotonic() >= quiet_since + timer_s:
                for party in self.ours:
                    self._carry(self.machine.time_out(party))
                quiet_since = time.monotonic()
        return self

    def listen(self, seconds: float) -> Conversation:
        """Go on for a while, without timers."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            for wire in select.select(self.wires, [], [], left)[0]:
                for message in wire.give():
                    self.messages.append(message)
                    self._carry(self.machine.deliver(*message))
        return self

    def _carry(self, queue: list[tuple[str, str, str, bytes]]) -> None:
        while queue:
            message = queue.pop(0)
            message = (*message[:3], bytes(message[3]))
            self.messages.append(message)
            # Two of our parties may speak through a daemon.
            if not any(wire.take(message) for wire in self.wires) and message[1] in self.ours:
                queue += self.machine.deliver(*message)
