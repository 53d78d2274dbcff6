"""Sentences about assumptions, which an interval over the seeds does not hold.

A summary gives sentences: of devices that take no time by definition, of device models between
which the answer differs more than between seeds, and of powers that a device's profile states.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any, Final

from attrs import frozen

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.quantities import show_value
from airtoll.observe.metrics import OVERHEAD, name_of
from airtoll.observe.metrics import quantity as known
from airtoll.observe.spoken import spoken
from airtoll.plan import Cell
from airtoll.present.names import policy_name
from airtoll.profiles import Profile, load
from airtoll.report.answer import quantities, readings
from airtoll.report.printed_rows import PROFILES
from airtoll.report.summary import RunSummary

#: Units of quantities that devices' time enters.
_OF_TIME: Final = ("bit/s", "s")
#: Units of quantities that are proportional to the powers of a profile, or to their inverse.
_OF_POWER: Final = {"J": "energy", "W": "power", "d": "life", "h": "life"}
#: A power that is wrong by this share is told.
_WRONG: Final = 0.1
#: Testbeds that take a device's time from its profile.
_MODELS: Final = ("simulator", "analytic")


def assumptions(summary: RunSummary) -> list[str]:
    """The sentences that hold for a run."""
    return [
        *_of_ideal(summary),
        *_of_models(summary),
        *_of_powers(summary),
        *_of_fits(summary),
    ]


def takes_no_time(profile: Profile) -> bool:
    """Whether a device's host, ciphers, tunnels and handshakes take no time."""
    host = profile.host
    cycles = (
        host.tx_packet_cycles,
        host.rx_packet_cycles,
        host.tx_octet_cycles,
        host.rx_octet_cycles,
    )
    return (
        not any(profile.seconds(one) for one in cycles)
        and not any(profile.seconds(one) for one in profile.operation.values())
        and not (profile.cipher or profile.tunnel or profile.card)
    )


def _of_ideal(summary: RunSummary) -> list[str]:
    """The cells none of whose devices takes time, where the answer is one of time."""
    quantity = next(iter(quantities(summary)), "")
    if not quantity or summary.manifest["testbed"] not in _MODELS:
        return []
    metric = THROUGHPUT if quantity == OVERHEAD else quantity
    if known(metric).unit not in _OF_TIME:
        return []
    there = {reading.cell.name for reading in readings(summary, metric)}
    ideal = [
        cell
        for cell in summary.plan.cells
        if cell.name in there and all(map(takes_no_time, _devices(summary, cell)))
    ]
    if not ideal:
        return []
    where = "" if len(ideal) == len(there) else f" in {len(ideal)} of {len(there)} cells"
    return [
        f"Hosts and ciphers take no time{where} (profile ideal: the study names no device): the "
        "figures are those of the air alone, and a device that is slower than the air adds its own."
    ]


def _devices(summary: RunSummary, cell: Cell) -> list[Profile]:
    """The devices of a cell, and the RADIUS server that it names."""
    radius = cell.settings.radius
    server = [load(cell.profile(radius.profile))] if radius and radius.profile else []
    return [*summary.profiles_of(cell), *server]


@frozen
class _Apart:
    """The range of one quantity between device models at one place."""

    quantity: str
    where: str
    least: Estimate
    most: Estimate

    @property
    def range(self) -> float:
        return self.most.value - self.least.value

    @property
    def half(self) -> float:
        """The larger half width; NaN where neither has an interval."""
        halves = [one.half_width for one in (self.least, self.most)]
        return max((half for half in halves if math.isfinite(half)), default=math.nan)


def _of_models(summary: RunSummary) -> list[str]:
    """The place where the study's device models differ most, if by more than the seeds do."""
    labels = summary.names.levels.get(PROFILES)
    quantity = next(iter(quantities(summary)), "")
    if labels is None or not quantity:
        return []
    found = [one for one in _apart(summary, quantity) if one.range > 2 * one.half > 0]
    if not found:
        return []
    worst = max(found, key=lambda one: one.range)
    unit = worst.most.unit
    if unit == "1" and known(quantity).percent:
        size = f"{100 * worst.range:.2g} points"
    else:
        size = show_value(worst.range, unit, 2)
    names = [summary.names.level(PROFILES, level) for level in labels]
    times = worst.range / worst.half
    return [
        f"The ± is that of the seeds alone. Between the device models of the study "
        f"({'; '.join(names)}) the {name_of(quantity)} differs by up to {size} ({worst.where}), "
        f"{times:.0f} times its ±."
    ]


def _apart(summary: RunSummary, quantity: str) -> Iterator[_Apart]:
    """Each policy and place, with the least and the most of the device models."""
    places: dict[tuple[str, str, str, str], list[tuple[Any, Estimate]]] = {}
    for reading in readings(summary, quantity):
        cell = reading.cell
        levels = {key: level for key, level in cell.factors if key != PROFILES}
        key = (cell.scenario, cell.traffic, cell.policy, json.dumps(levels, sort_keys=True))
        places.setdefault(key, []).append((cell, reading.estimate))
    for (scenario, traffic, policy, _), of in places.items():
        if len(of) < 2:
            continue
        cell = of[0][0]
        place = summary.names.place(scenario, traffic, cell.factors_json, ("policy", PROFILES))
        ordered = sorted((estimate for _, estimate in of), key=lambda one: one.value)
        where = ", ".join(filter(None, (policy_name(policy).replace(", ", " "), place)))
        yield _Apart(quantity, where, ordered[0], ordered[-1])


def _of_fits(summary: RunSummary) -> list[str]:
    """The fitted numbers that act in the run, each with its error, in one sentence."""
    if summary.manifest["testbed"] not in _MODELS:
        return []
    found: dict[tuple[str, str, float | None], dict[str, None]] = {}
    for cell in summary.plan.cells:
        for profile in _devices(summary, cell):
            for place, number in profile.fitted_numbers().items():
                table, _, last = place.rpartition(".")
                if _acts(table, cell) and not (
                    table.startswith("tunnel.") and profile.name in _without_tunnel(cell)
                ):
                    key = (profile.name, table, number.error)
                    found.setdefault(key, {})[last] = None
    if not found:
        return []
    told = [
        f"{profile} {table} ({', '.join(names)}): "
        + ("error not known" if error is None else f"median error {100 * error:.2g} %")
        for (profile, table, error), names in found.items()
    ]
    return [f"Fitted numbers act here, whose errors the ± does not hold: {'; '.join(told)}."]


def _without_tunnel(cell: Cell) -> list[str]:
    """The profile of the access point, where no tunnel ends at a device of this profile."""
    settings = cell.settings
    ends = [settings.server.profile, *(one.profile for one in settings.stations)]
    if settings.tunnel_end == "access-point" or settings.ap.profile in ends:
        return []
    return [cell.profile(settings.ap.profile)]


def _acts(table: str, cell: Cell) -> bool:
    """Whether a table of a profile is used in a cell: a cipher's and a tunnel's by its policy."""
    kind, _, name = table.removeprefix("card.").partition(".")
    if kind == "cipher":
        return name == cell.security.link.cipher.value
    if kind == "tunnel":
        return name in {one.suite for one in cell.security.tunnels}
    return True


def _of_powers(summary: RunSummary) -> list[str]:
    """The effect of a wrong power, where the seeds change less."""
    quantity = next((one for one in quantities(summary) if known(one).unit in _OF_POWER), "")
    if not quantity or summary.manifest["testbed"] not in _MODELS:
        return []
    found = [one.estimate for one in readings(summary, quantity) if one.estimate.value > 0]
    halves = [one.half_width / one.value for one in found if math.isfinite(one.half_width)]
    widest = max(halves, default=math.nan)
    moved = _WRONG / (1 + _WRONG) if _OF_POWER[known(quantity).unit] == "life" else _WRONG
    if not widest < moved:
        return []
    profiles = dict.fromkeys(
        profile.name
        for cell in summary.plan.cells
        for profile in summary.profiles_of(cell)
        if profile.energy is not None
    )
    verb = "shorten" if _OF_POWER[known(quantity).unit] == "life" else "raise"
    return [
        f"The ± is that of the seeds alone, at most {100 * widest:.2g} %. The powers are those of "
        f"{' and '.join(profiles)}: if all were {100 * _WRONG:.0f} % higher, that would {verb} "
        f"{spoken(quantity).words} by {100 * moved:.2g} %."
    ]
