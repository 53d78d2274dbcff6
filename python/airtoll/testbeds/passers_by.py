"""Stations that pass by and probe: those of a study's ``passers_by``.

Takes a cell; gives their nodes in the resolved scenario, and the reason for which the simulator
skips the cell.
"""

from __future__ import annotations

from typing import Final

from attrs import evolve

from airtoll import border
from airtoll.plan import Cell
from airtoll.study import PassersBy, Scenario
from airtoll.study.generations import band_of

#: The group of their nodes, which is no BSS.
GROUP: Final = "passers-by"
#: Radios that take turns: as many may wait for the medium at the same time.
_RADIOS: Final = 4


def asked(settings: Scenario) -> PassersBy | None:
    """The stations that pass by; ``None`` where no one probes."""
    given = settings.passers_by
    return None if given is None or given.per_s == 0 else given


def why_not(cell: Cell) -> str | None:
    """Why the simulator skips a cell for the stations that pass by, or None."""
    settings = cell.settings
    if asked(settings) is None:
        return None
    near = settings.neighbours
    refused = {
        f'topology = "{settings.topology}"': settings.topology[0] in "nr",
        "mlo": settings.mlo is not None,
        "a hand-over": settings.handover is not None,
        "ofdma": settings.ofdma != "off",
        'address_resolution = "dynamic"': settings.address_resolution != "static",
        "neighbours.width_mhz": near is not None
        and near.width_mhz not in (None, settings.width_mhz),
        "neighbours.channel": near is not None and near.channel != "primary",
    }
    with_it = next((key for key, value in refused.items() if value), None)
    if with_it is not None:
        return f"passers_by is not simulated with {with_it}"
    if band_of(settings) == "6ghz":
        return "passers_by: at 6 GHz stations find access points without Probe Requests to all"
    return None


def added(settings: Scenario, resolved: border.Scenario) -> border.Scenario:
    """The scenario with the stations that pass by."""
    given = asked(settings)
    if given is None:
        return resolved
    own = resolved.bss[0]
    group = border.Bss(
        name=GROUP,
        standard=own.standard,
        rate=own.rate,
        band=own.band,
        width_mhz=own.width_mhz,
        guard_interval_ns=own.guard_interval_ns,
        coding=own.coding,
        preamble=own.preamble,
        short_slot=own.short_slot,
        protection=own.protection,
        basic_rates_mbps=own.basic_rates_mbps,
        edca=own.edca,
        neighbour=border.Neighbour(level_dbm=given.level_dbm),
        passers_by=border.PassersBy(
            per_s=given.per_s,
            leaves_ratio=given.leaves_ratio,
            response_delay_us=given.response_delay_ms * 1e3,
            response_attempts=given.response_attempts,
        ),
    )
    nodes = tuple(
        border.Node(name=f"{GROUP}/{number + 1}", role=border.Role.STATION, bss=GROUP)
        for number in range(_RADIOS)
    )
    return evolve(resolved, bss=(*resolved.bss, group), nodes=(*resolved.nodes, *nodes))
