"""Gates of a cell: the PHY that its devices use with their security.

Takes a cell; gives the cell as devices carry it out, the reason for which they refuse it, and the
words for reports. The rules are in ``airtoll.policies.gates``.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final, Literal

from attrs import evolve, frozen

from airtoll.plan import abilities, multi_link
from airtoll.plan.cells import Cell
from airtoll.policies import Policy, resolve
from airtoll.policies.gates import Finding, findings
from airtoll.policies.transition import CLIENTS, Offer, choice, offers
from airtoll.study import Phy, Scenario, Station
from airtoll.study.generations import GENERATIONS, band_of

#: The generation that an EHT link falls back to, and its widest channel, MHz.
_FALLBACK: Final[Phy] = "802.11ax"
_WIDEST: Final[Literal[160]] = 160


def offer_to(cell: Cell, station: Station) -> Offer | None:
    """The link that one station chooses: of its own policy in a mixed cell, else of the cell's.

    ``None`` where the station knows none of those offered.
    """
    stated = resolve(station.policy) if station.policy else cell.security
    return choice(stated, cell.settings.phy, station.client)


def policy_of(cell: Cell, station: Station) -> Policy:
    """The policy of one station: that of its choice, else what is offered."""
    offer = offer_to(cell, station)
    return cell.security if offer is None else offer.policy


def found(cell: Cell) -> Iterator[tuple[Policy, Finding]]:
    """The policies of a cell that do not pass a gate, each once per gate."""
    if cell.settings.security_gates == "ignore":
        return
    seen = set()
    if cell.security.link.transition is not None:
        for finding in findings(cell.settings.phy, _band(cell, cell.security), cell.security):
            if finding.gate.effect == "refused":
                seen.add((cell.security.name, finding.gate.name))
                yield cell.security, finding
    for station in cell.settings.stations:
        policy = policy_of(cell, station)
        band = _band(cell, policy, station)
        for finding in findings(station.phy or cell.settings.phy, band, policy):
            if (policy.name, finding.gate.name) not in seen:
                seen.add((policy.name, finding.gate.name))
                yield policy, finding


def _only_link(cell: Cell, policy: Policy, station: Station | None = None) -> int:
    """The link of a station that uses one alone, from 1: the first that takes its policy."""
    if station is not None and station.link is not None:
        return station.link
    bands = [band_of(one) for one in multi_link.each(cell.settings)]
    for number, band in enumerate(bands, start=1):
        if all(one.gate.effect != "refused" for one in findings(_FALLBACK, band, policy)):
            return number
    return 1


def _band(cell: Cell, policy: Policy, station: Station | None = None) -> str:
    """The band whose gates a station meets first."""
    return band_of(multi_link.alone(cell.settings, _only_link(cell, policy, station)))


def protects_beacons(settings: Scenario) -> bool:
    """Whether beacons have a MIC where management frames are protected: Wi-Fi 7 asks for it."""
    stated = settings.beacon_protection
    return settings.phy == "802.11be" if stated is None else stated


def why_not(cell: Cell, carried_out: Cell) -> str | None:
    """Why devices do not associate in a cell, or None. ``carried_out``: the cell as they use it."""
    for station in cell.settings.stations:
        if station.client is not None and offer_to(cell, station) is None:
            known = CLIENTS[station.client].title
            reason = f"a station of {known} knows no link of {cell.policy}"
            return f"{station.name}: no association: {reason}"
    for policy, finding in found(cell):
        if finding.gate.effect == "refused":
            return f"{policy.name}: {finding.words}"
    chosen = {station.name: policy_of(cell, station) for station in cell.settings.stations}
    return abilities.why_not(carried_out, chosen)


def notes(cell: Cell) -> tuple[str, ...]:
    """Differences between the devices and the cell, one line each."""
    fallen = tuple(
        f"{policy.name}: {finding.words}"
        for policy, finding in found(cell)
        if finding.gate.effect != "refused"
    )
    return (*fallen, *downgrades(cell))


@frozen
class Downgrade:
    """A station that takes another link than the one that the access point prefers.

    ``station``: its name and what it knows. ``taken``, ``best``: what it takes, and what the access
    point prefers.
    """

    station: str
    taken: Offer
    best: Offer

    @property
    def words(self) -> str:
        """The downgrade in one line."""
        return (
            f"{self.station} takes {self.taken.policy.name} of the {self.taken.place}; "
            f"{self.best.policy.name} is offered, too"
        )


def downgraded(cell: Cell) -> tuple[Downgrade, ...]:
    """The stations of a cell that do not take the link that their access point prefers."""
    found = []
    for station in cell.settings.stations:
        offer = offer_to(cell, station)
        stated = resolve(station.policy) if station.policy else cell.security
        best = offers(stated, cell.settings.phy)[0]
        if station.client is not None and offer is not None and offer != best:
            named = f"{station.name} ({CLIENTS[station.client].title})"
            found.append(Downgrade(named, offer, best))
    return tuple(found)


def downgrades(cell: Cell) -> tuple[str, ...]:
    """Stations that choose another link than the one that the access point prefers, a line each."""
    return tuple(f"downgrade: {one.words}" for one in downgraded(cell))


def as_carried_out(cell: Cell) -> Cell:
    """The cell with the PHY that its devices use.

    Where every station falls back, the BSS does, and of several links the first remains that takes
    the policy. Otherwise only the stations that fall back do, each to one link.
    """
    settings = cell.settings
    if settings.phy != "802.11be" or settings.security_gates == "ignore":
        return cell
    fallen = [_falls(cell, station) for station in settings.stations]
    if not any(fallen):
        return cell
    stations = tuple(
        _lowered(cell, station) if falls else station
        for station, falls in zip(settings.stations, fallen, strict=True)
    )
    changed: dict[str, object] = {"stations": stations}
    # With RSN overriding the access point is one of Wi-Fi 7 for stations of any age.
    if all(fallen) and not cell.security.link.overriding:
        numbers = {_only_link(cell, policy_of(cell, one), one) for one in settings.stations}
        if len(numbers) > 1:
            return evolve(cell, settings=settings.model_copy(update=changed))
        settings = multi_link.alone(settings, min(numbers))
        own = {"phy": None, "link": None}
        changed = {
            "stations": tuple(station.model_copy(update=own) for station in stations),
            "phy": _FALLBACK,
            "band": band_of(settings).removesuffix("ghz"),
            "width_mhz": min(settings.width_mhz, _WIDEST),
            "mcs": _mcs(settings.mcs),
        }
    return evolve(cell, settings=settings.model_copy(update=changed))


def _falls(cell: Cell, station: Station) -> bool:
    phy = station.phy or cell.settings.phy
    policy = policy_of(cell, station)
    own = findings(phy, _band(cell, policy, station), policy)
    return any(finding.gate.effect == "802.11ax" for finding in own)


def _lowered(cell: Cell, station: Station) -> Station:
    settings = cell.settings
    changed: dict[str, object] = {"phy": _FALLBACK}
    if settings.mlo is not None:
        number = _only_link(cell, policy_of(cell, station), station)
        settings = multi_link.alone(settings, number)
        changed |= {"link": number}
    mcs = _mcs(settings.mcs if station.mcs is None else station.mcs)
    return station.model_copy(update={**changed, "mcs": mcs})


def _mcs(index: int | None) -> int | None:
    top = GENERATIONS[_FALLBACK]["mcs_top"]
    return index if index is None or top is None else min(index, top)
