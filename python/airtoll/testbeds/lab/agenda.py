"""The agenda of a campaign: settings, moves, touches and hours, before anything is touched.

Takes a plan and a campaign; gives the tour, and the text of ``check --lab``, which fits a screen.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Final, Protocol

from airtoll.plan import Cell, Plan
from airtoll.study import Study
from airtoll.testbeds.contract import Skip
from airtoll.testbeds.lab.access_point import Settings
from airtoll.testbeds.lab.places import places_of
from airtoll.testbeds.lab.touches import Stop, Tour, tour
from airtoll.testbeds.linux.capability import CAPABILITY
from airtoll.testbeds.linux.laboratory import channel_plan
from airtoll.testbeds.linux.laboratory.lab import Lab

if TYPE_CHECKING:
    from airtoll.study import StudyFile

#: Rows of each list of the agenda.
_ROWS: Final = 12
_PROFILES: Final = "grid.profile_set"
_ORDER: Final = "trials.order"


class Surveyed(Protocol):
    """The part of a campaign that an agenda reads."""

    lab: Lab

    def check(self, cell: Cell) -> Skip | None:
        """Why the cell cannot be carried out, or None."""

    def settings(self, cell: Cell) -> Settings:
        """The settings of the access point for a cell."""

    def expected_s(self, cell: Cell) -> float:
        """Rough wall time of one trial, seconds."""


def values_for(file: StudyFile, lab: Lab, given: Mapping[str, Any]) -> dict[str, Any]:
    """Keys of a study that a laboratory sets, except those that the user gave.

    Profile sets collapse into the one with the most published readings: real devices take the place
    of profiles. Trials follow the settings of the access point one after another where it is
    touched.
    """
    found: dict[str, Any] = {}
    levels = _profile_sets(file.study)
    if len(levels) > 1 and _PROFILES not in given:
        counts = Counter(
            str(entry.cells["profile_set"])
            for entry in file.study.compare
            if "profile_set" in entry.cells
        )
        found[_PROFILES] = [max(levels, key=lambda level: counts[level])]
    if _ORDER not in given and lab.lab.ap is not None:
        found[_ORDER] = "sequential"
    return found


def _profile_sets(study: Study) -> list[str]:
    return [str(level) for level in study.grid.get("profile_set", ())]


def tour_of(plan: Plan, campaign: Surveyed) -> Tour | None:
    """The order of a plan's cells that can be carried out; None: the plan's own order."""
    if plan.study.trials.order != "sequential":
        return None
    ap = campaign.lab.lab.ap
    stops = {
        index: _stop(cell, campaign)
        for index, cell in enumerate(plan.cells)
        if campaign.check(cell) is None
    }
    return tour(
        stops,
        plan.repetitions + plan.study.trials.discard_first,
        campaign.lab.lab.rounds,
        "airtoll" if ap is None else ap.touched_by,
    )


def _stop(cell: Cell, campaign: Surveyed) -> Stop:
    setting: Hashable = None
    if campaign.lab.lab.ap is not None:
        setting = campaign.settings(cell)
    places = {} if campaign.lab.wired else places_of(cell)
    return Stop(setting, places, campaign.expected_s(cell))


def lines(plan: Plan, campaign: Surveyed, skips: Sequence[Skip | None]) -> list[str]:
    """The agenda in lines: settings in their order, moves, fields left out, skipped cells."""
    runs = [cell for cell, skip in zip(plan.cells, skips, strict=True) if skip is None]
    found: list[str] = []
    order = tour_of(plan, campaign) if runs else None
    if order is not None and campaign.lab.lab.ap is not None:
        found += _settings(plan, campaign, order)
    if order is not None:
        found.append(order.words)
    elif runs and campaign.lab.lab.ap is not None:
        found.append(
            f"trials.order = {plan.study.trials.order}: the access point is set before almost "
            "every trial"
        )
    if not campaign.lab.wired:
        notes = (channel_plan.note(cell, campaign.lab) for cell in runs)
        found += [f"note: {one}" for one in dict.fromkeys(notes) if one is not None]
    left_out: dict[str, str] = {}
    for cell in runs:
        left_out |= CAPABILITY.left_out_of(cell)
    found += _cut([f"left out: {key}: {why}" for key, why in left_out.items()], "fields left out")
    reasons = Counter(skip.reason for skip in skips if skip is not None)
    found += _cut(
        [f"skipped: {count} cells: {reason}" for reason, count in reasons.most_common()], "reasons"
    )
    return found


def _settings(plan: Plan, campaign: Surveyed, order: Tour) -> list[str]:
    cells: dict[Settings, list[Cell]] = {}
    for index in sorted(order.ranks, key=lambda number: order.ranks[number]):
        cell = plan.cells[index]
        cells.setdefault(campaign.settings(cell), []).append(cell)
    rows = []
    for number, (setting, of) in enumerate(cells.items(), start=1):
        policies = ", ".join(dict.fromkeys(cell.policy for cell in of))
        rate = "" if setting.rate_mbps is None else f", {setting.rate_mbps:g} Mb/s"
        rows.append(
            f"setting {number}: {policies}: {setting.phy}, channel {setting.channel}, "
            f"{setting.width_mhz} MHz{rate}: {len(of)} cells"
        )
    return _cut(rows, "settings")


def _cut(rows: list[str], what: str) -> list[str]:
    if len(rows) <= _ROWS:
        return rows
    return [*rows[: _ROWS - 1], f"and {len(rows) - _ROWS + 1} more {what}; all cells with --json"]
