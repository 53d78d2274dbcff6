"""Queues, windows and wires that limit a cell, not the air, in words.

Takes a resolved scenario; the native code compares the air's cycles with and without each limit
(``crates/airtoll-wlan/src/analytic/limits.rs``). Simulates nothing.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Final

from airtoll import _native
from airtoll.observe.metrics import LIMIT

_KB: Final = 1024

#: Kind -> what it is, by the node or flow and its size, and the field that lifts it.
_WORDS: Final[dict[str, tuple[Callable[[str, float], str], str]]] = {
    "queue": (lambda of, size: f"the transmit queue of {of} ({size:.0f} packets)", "queue_packets"),
    "socket_buffer": (
        lambda of, size: f"the socket buffer of {of} ({size / _KB:.4g} KB)",
        "socket_buffer_kbytes",
    ),
    "window": (lambda of, size: f"the TCP window of {of} ({size / _KB:.4g} KB)", "window_kbytes"),
    "block_ack_window": (
        lambda _, size: f"the block ack window ({size:.0f} MPDUs)",
        "block_ack_window",
    ),
    "wire": (lambda _, size: f"the wired link ({size / 1e6:g} Mb/s)", "wired.rate_mbps"),
}


def notes(scenario: _native.Scenario) -> tuple[str, ...]:
    """One line for each kind of limit, the one that costs most first."""
    of_kind: dict[str, list[tuple[str, float, list[int], list[float]]]] = {}
    for kind, of, size, mpdus, bps in scenario.limits():
        of_kind.setdefault(kind, []).append((of, size, mpdus, bps))
    return tuple(LIMIT + _line(kind, found) for kind, found in of_kind.items())


def _line(kind: str, found: list[tuple[str, float, list[int], list[float]]]) -> str:
    of, size, (short, whole), (slow, fast) = found[0]
    words, key = _WORDS[kind]
    more = f" and {len(found) - 1} more" if len(found) > 1 else ""
    what = words(of, size) + more
    if kind == "wire":
        return f"{what} limits the throughput, not the air: raise {key} of the scenario"
    # Three digits, and no exponent from 1000 Mb/s on.
    slow_mbps, fast_mbps = (float(f"{bps / 1e6:.3g}") for bps in (slow, fast))
    about = f"about {slow_mbps:g} of {fast_mbps:g} Mb/s of a lone sender"
    if short < whole:
        return f"{what} keeps A-MPDUs at {short} of {whole} packets, {about}: raise {key}"
    return f"{what} is shorter than the round trip needs, {about}: raise {key}"
