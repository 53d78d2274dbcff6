"""Wireless bridges: stations whose frames have four addresses, and the hosts behind them.

A station of the study becomes a bridge, a host behind it and the link between the two.

    host -- station ))) AP -- server
"""

from __future__ import annotations

from attrs import evolve

from airtoll import border
from airtoll.plan import Cell
from airtoll.study import Scenario, Station
from airtoll.testbeds.wires import cable


def host_behind(name: str) -> str:
    """The name of the host behind the station of this name."""
    return f"{name}-host"


def end_of(settings: Scenario, station: Station) -> str:
    """The node at which a station's traffic and tunnels end: itself, or the host behind it."""
    return host_behind(station.name) if settings.bridges(station) else station.name


def why_not(cell: Cell) -> str | None:
    """Why the cell's bridges are invalid, or None."""
    settings = cell.settings
    bridges = [station for station in settings.stations if settings.bridges(station)]
    if not bridges:
        return None
    names = {station.name for station in settings.stations}
    for station in bridges:
        if host_behind(station.name) in names:
            return f"the host behind {station.name} has the name of another station"
    if settings.handover is not None:
        return "a wireless bridge does not change its access point: its host would lose the link"
    if settings.authenticate and settings.join.mobile_ip != "off":
        return "a wireless bridge joins one subnet: it registers with no Mobile IP agent"
    return None


def bridged(
    settings: Scenario, node: border.Node, host: border.Host
) -> tuple[tuple[border.Node, border.Node], border.WiredLink]:
    """The nodes of a station that bridges and of its host, and the link between them.

    ``node`` is the station's without a bridge; its tunnels go to the host.
    """
    assert settings.bridge is not None
    behind = border.Node(
        name=host_behind(node.name), role=border.Role.WIRED, host=host, tunnels=node.tunnels
    )
    link = cable(node.name, behind.name, settings.bridge.wired, settings.phy, host)
    return (evolve(node, four_address=True, tunnels=()), behind), link
