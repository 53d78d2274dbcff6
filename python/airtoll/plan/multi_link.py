"""Multi-link operation: the links of a cell, and combinations that are not carried out.

Takes a cell with `mlo`; gives the set-up of each link as that of a scenario with this link alone,
the names of the links in a resolved scenario, and the reason for which a cell is skipped.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airtoll.plan.cells import Cell
from airtoll.policies import Policy
from airtoll.policies.gates import why_not_high_throughput, why_not_multi_link
from airtoll.study import Scenario, Station
from airtoll.study.model import LINK_KEYS

#: Name of the BSS of the first link, and of the only one without multi-link operation.
BSS: Final = "cell"


def names(settings: Scenario) -> tuple[str, ...]:
    """The BSSs of a scenario, one per link."""
    count = 1 if settings.mlo is None else len(settings.mlo.links)
    return (BSS, *(f"link{number}" for number in range(2, count + 1)))


def alone(settings: Scenario, number: int) -> Scenario:
    """The scenario with one link of `mlo` alone, counted from 1."""
    if settings.mlo is None:
        return settings
    link = settings.mlo.links[number - 1]
    changed: dict[str, object] = {key: getattr(link, key) for key in LINK_KEYS}
    if link.rssi_dbm is not None:
        changed["rssi_dbm"] = link.rssi_dbm
    reported = max(settings.reported_bsss, len(settings.mlo.links) - 1)
    return settings.model_copy(update={**changed, "mlo": None, "reported_bsss": reported})


def each(settings: Scenario) -> tuple[Scenario, ...]:
    """The scenario with each of its links alone."""
    count = 1 if settings.mlo is None else len(settings.mlo.links)
    return tuple(alone(settings, number) for number in range(1, count + 1))


def links_of(settings: Scenario, station: Station) -> tuple[int, ...]:
    """Numbers of the links that a station uses, counted from 1."""
    if station.link is not None:
        return (station.link,)
    return tuple(range(1, len(names(settings)) + 1))


def has_one_radio(settings: Scenario, station: Station) -> bool:
    """Whether a station has one radio for its links (EMLSR)."""
    if settings.mlo is None or len(links_of(settings, station)) == 1:
        return False
    return (station.mlo_mode or settings.mlo.mode) == "emlsr"


def why_not(cell: Cell, policies: Sequence[Policy]) -> str | None:
    """Why a cell with several links, whose stations have these policies, is skipped, or None."""
    settings = cell.settings
    if settings.mlo is None:
        return None
    refused = {
        f'topology = "{settings.topology}"': settings.topology not in ("uplink", "downlink"),
        "a hand-over": settings.handover is not None,
        "a bridge": settings.bridge is not None,
        'address_resolution = "dynamic"': settings.address_resolution != "static",
        "airtime_fairness": settings.airtime_fairness,
        "group_load": settings.group_load != type(settings.group_load)(),
        "multicast_to_unicast": settings.multicast_to_unicast,
        "per_client_gtk": settings.per_client_gtk,
        "isolation": settings.isolation,
        "proxy_arp": settings.proxy_arp,
        "an interferer": settings.radio.interferer is not None,
        "listen_interval or twt_interval_ms": any(one.dozes for one in settings.stations),
        "join.deauthenticate_at_s": settings.join.deauthenticate_at_s is not None,
        "join.advertisement_s": settings.join.advertisement_s is not None,
    }
    asked = next((key for key, value in refused.items() if value), None)
    if asked is not None:
        return f"mlo is not simulated with {asked}"
    for policy in policies:
        reason = why_not_high_throughput(policy)
        if reason is not None:
            return f"mlo: {policy.name}: {reason}"
    return _no_join(settings, policies) if settings.authenticate else None


def _no_join(settings: Scenario, policies: Sequence[Policy]) -> str | None:
    """Why stations do not join over several links, or None."""
    for number, policy in enumerate(policies):
        # The last station stands for all further ones (`clients`).
        station = settings.stations[min(number, len(settings.stations) - 1)]
        if len(links_of(settings, station)) == 1:
            continue
        if reason := why_not_multi_link(policy):
            return (
                f"mlo with authenticate = true: {policy.name}: {reason}; give the station one "
                "link (stations.link)"
            )
        if settings.beacon_protection is False:
            return "mlo with authenticate = true needs protected beacons (beacon_protection)"
        if settings.operating_channel_validation:
            return (
                "mlo with authenticate = true has no operating channel validation of several "
                "links (operating_channel_validation)"
            )
    return None
