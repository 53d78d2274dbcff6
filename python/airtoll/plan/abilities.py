"""Abilities that the devices of a cell lack: ciphers, key managements, PHYs, widths, streams.

Takes a cell; gives the reason for which one of its devices cannot take part, or None. A capability
that a profile does not state is unknown, and refuses nothing.
"""

from __future__ import annotations

from collections.abc import Iterator

from airtoll.errors import ProfileError
from airtoll.plan import multi_link
from airtoll.plan.cells import Cell
from airtoll.policies import Cipher, Policy
from airtoll.policies.transition import offers
from airtoll.profiles import Capabilities, load
from airtoll.study import Scenario, Station
from airtoll.study.generations import band_of


def why_not(cell: Cell, chosen: dict[str, Policy]) -> str | None:
    """The first device that lacks what the cell asks of it, in a sentence; None if there is none.

    ``cell``: as it is carried out. ``chosen``: the policy of each station. A profile that does not
    exist refuses nothing here: the testbed names it.
    """
    try:
        return _first(cell, chosen)
    except ProfileError:
        return None


def _first(cell: Cell, chosen: dict[str, Policy]) -> str | None:
    settings = cell.settings
    links = multi_link.each(settings)
    ap = load(cell.profile(settings.ap.profile))
    # An access point offers all links of a transition mode, and needs each of them.
    offered = [offer.policy for offer in offers(cell.security, settings.phy)]
    for policy in dict.fromkeys([*offered, *chosen.values()]):
        for lack in lacks_security(ap.capabilities, policy):
            return f"{policy.name}: no association: the access point has {lack}{_source(ap.name)}"
    for lack in _lacks_radio(ap.capabilities, settings, links, None):
        return f"the access point has {lack}{_source(ap.name)}"
    for station in settings.stations:
        profile = load(cell.profile(station.profile))
        policy = chosen[station.name]
        for lack in lacks_security(profile.capabilities, policy):
            return (
                f"{policy.name}: no association: {station.name} has {lack}{_source(profile.name)}"
            )
        for lack in _lacks_radio(profile.capabilities, settings, links, station):
            return f"{station.name} has {lack}{_source(profile.name)}"
    return None


def _source(name: str) -> str:
    return f" (airtoll profiles show {name} names the source)"


def lacks_security(can: Capabilities, policy: Policy) -> Iterator[str]:
    """Ciphers, key managements and protection of a policy that a device lacks, in words."""
    link = policy.link
    if (
        can.ciphers is not None
        and link.encrypts_data
        and link.cipher is not Cipher.NONE
        and link.cipher not in can.ciphers
    ):
        yield f"no {str(link.cipher).upper()}"
    if can.akms is not None and link.akm is not None and link.akm not in can.akms:
        yield f"no AKM {link.akm}"
    if can.pmf is not None and not can.pmf.value and link.pmf == "required":
        yield "no protected management frames"


def _lacks_radio(
    can: Capabilities, settings: Scenario, links: tuple[Scenario, ...], station: Station | None
) -> Iterator[str]:
    phy = settings.phy if station is None or station.phy is None else station.phy
    if can.phys is not None and phy not in can.phys:
        hint = "; give the station the phy that it has" if station is not None else ""
        yield f"no {phy}{hint}"
    used = links
    if station is not None:
        used = tuple(links[number - 1] for number in multi_link.links_of(settings, station))
    if can.mlo is not None and not can.mlo.value and len(used) > 1:
        yield "no multi-link operation"
    for own in used:
        band = band_of(own).removesuffix("ghz")
        if can.bands is not None and band not in can.bands:
            yield f"no {band} GHz"
        if can.widths_mhz is not None and str(own.width_mhz) not in can.widths_mhz:
            yield f"no width of {own.width_mhz} MHz"
        streams = own.streams if station is None else station.streams or own.streams
        if can.streams is not None and streams > can.streams.value:
            yield f"{can.streams.value} spatial streams, not {streams}"
        mcs = own.mcs if station is None or station.mcs is None else station.mcs
        top = can.mcs.get(phy)
        if top is not None and mcs is not None and mcs > top.value:
            yield f"MCS up to {top.value} in {phy}, not {mcs}"
