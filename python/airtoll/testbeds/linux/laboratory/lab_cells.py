"""Cells of a study in a laboratory: why its hosts, its channel or its access point do not suit one.

Takes a cell, a ``lab.toml`` and the cell's flow; gives the reason, or None. Never asks a host.
"""

from __future__ import annotations

from attrs import evolve

from airtoll.plan import Cell
from airtoll.policies import Generation, resolve
from airtoll.testbeds.linux.attended import by_hand, recipes
from airtoll.testbeds.linux.capability import CAPABILITY, station_names
from airtoll.testbeds.linux.job import Flow
from airtoll.testbeds.linux.laboratory import channel_plan
from airtoll.testbeds.linux.laboratory.lab import Lab
from airtoll.testbeds.resolve import station_list

#: Access points between which a station moves at least.
_ACCESS_POINTS = 2


def why_not(cell: Cell, lab: Lab, flow: Flow) -> str | None:
    """Why the laboratory cannot carry out a cell, or None."""
    own, wanted = len(lab.of("station")), len(station_names(cell.settings))
    if wanted > own:
        return f"the laboratory has {own} stations"
    if reason := CAPABILITY.why_not_in_laboratory(cell):
        return reason
    reason = not_with_cables(cell) if lab.wired else channel_plan.why_not(cell, lab)
    if reason is None and lab.lab.ap is not None:
        reason = not_with_another(cell, lab)
    return reason or _not_driven(cell, lab, wanted, flow) or _not_moved(cell, lab)


def _not_driven(cell: Cell, lab: Lab, wanted: int, flow: Flow) -> str | None:
    """Why stations without airtoll's daemons cannot take part, or None."""
    used = [lab.host[name] for name in lab.of("station")[:wanted]]
    if all(station.by == "airtoll" for station in used):
        return None
    if reason := by_hand.why_not(cell.security, flow, cell.settings.topology):
        return reason
    if lab.lab.ap is not None and any(station.by == "hand" for station in used):
        return (
            'by = "hand" with [lab.ap]: neither end says which policy came about; the access '
            'point has to be a host that airtoll drives, or the station by = "android" or '
            '"windows"'
        )
    for station in used:
        if station.by in ("android", "windows") and (
            reason := recipes.why_not(station.by, cell.security)
        ):
            return reason
    return None


def _not_moved(cell: Cell, lab: Lab) -> str | None:
    """Why a station cannot move between access points here, or None."""
    moves, own = cell.settings.handover, len(lab.of("access-point"))
    if moves is None:
        return None
    if lab.lab.ap is not None:
        return "handover: hand-overs need access points that airtoll drives (hosts, no [lab.ap])"
    count = max(_ACCESS_POINTS, *moves.path)
    if own < count:
        return f"the hand-overs need {count} access points; the laboratory has {own}"
    return None


def not_with_cables(cell: Cell) -> str | None:
    """Why a cell needs radios, where cables take their place, or None."""
    link, settings = cell.security.link, cell.settings
    if link.generation is not Generation.OPEN or cell.security.access_control:
        return f'{cell.policy}: link = "cable": without a radio there is no security of the link'
    if settings.handover is not None:
        return 'handover: link = "cable": stations with cables do not move'
    if any(station.joins_at_s is not None for station in station_list(settings)):
        return 'stations.joins_at_s: link = "cable": there is no join'
    if settings.authenticate and settings.join.deauthenticate_at_s is not None:
        return 'join.deauthenticate_at_s: link = "cable": there is no association'
    return None


def not_with_another(cell: Cell, lab: Lab) -> str | None:
    """Why an access point that airtoll does not drive cannot take part in a cell, or None."""
    ap, settings, link = lab.lab.ap, cell.settings, cell.security.link
    assert ap is not None
    if ap.phys is not None and settings.phy not in ap.phys:
        return f"phy = {settings.phy}: [lab.ap] phys lists {', '.join(ap.phys)}"
    if any(link == evolve(resolve(name).link, eap_method=link.eap_method) for name in ap.lacks):
        return f"{cell.policy}: [lab.ap] lacks it"
    if settings.authenticate and settings.join.deauthenticate_at_s is not None:
        return "join.deauthenticate_at_s: only an access point that airtoll drives deauthenticates"
    if any(settings.bridges(station) for station in settings.stations):
        return "stations.bridge: four addresses need an access point that airtoll drives"
    return None
