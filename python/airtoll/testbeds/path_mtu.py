"""Path MTU of a cell: settings that contradict one another, and connections in a black hole.

Takes a cell and its resolved scenario; gives the reason to refuse it, and the words for a
connection that carries nothing.
"""

from __future__ import annotations

from airtoll import _native
from airtoll.plan import Cell


def why_not(cell: Cell) -> str | None:
    """Why the settings of the path make no sense, or None."""
    settings = cell.settings
    if settings.path_mtu_octets is None:
        for name, set_ in (
            ("pmtud", settings.pmtud != "works"),
            ("mss_clamping", settings.mss_clamping),
        ):
            if set_:
                return f"{name} needs path_mtu_octets"
        return None
    if settings.path_mtu_octets > settings.mtu_octets:
        return (
            f"path_mtu_octets = {settings.path_mtu_octets}: at most mtu_octets = "
            f"{settings.mtu_octets}; hosts send nothing longer"
        )
    if settings.topology not in ("uplink", "downlink"):
        return f"path_mtu_octets: topology {settings.topology} has no wired path with an MTU"
    if settings.handover is not None or settings.bridge is not None:
        return "path_mtu_octets: neither hand-over nor bridge has a path with an MTU"
    return None


def black_holes(scenario: _native.Scenario) -> tuple[str, ...]:
    """Connections of a scenario whose full segments vanish, a line each kind."""
    found = scenario.black_holes()
    lines: dict[str, list[str]] = {}
    for one in found:
        words = (
            f"packets of {one['octets']} octets exceed the path MTU of {one['mtu_octets']} octets "
            "and vanish"
        )
        end = "; segments shrink after time-outs" if one["found"] else "; TCP stalls at 0 Mb/s"
        lines.setdefault(words + end, []).append(one["flow"])
    return tuple(
        f"{names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}: {words}"
        for words, names in lines.items()
    )
