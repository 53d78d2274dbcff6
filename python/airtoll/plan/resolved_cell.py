"""A cell as its devices carry it out: PHY, links and policy of every station, refusal, notes.

Takes a cell; gives its resolved cell, computed once. Never reads the devices' costs: the testbeds
price what is resolved here.
"""

from __future__ import annotations

from functools import lru_cache

from attrs import field, frozen

from airtoll.plan import gating
from airtoll.plan.cells import Cell
from airtoll.plan.gating import Downgrade
from airtoll.policies import Policy
from airtoll.study import Scenario, Station


@frozen
class ResolvedCell:
    """A cell and what its devices make of it.

    ``asked``: the cell of the study. ``cell``: the same cell with the PHY and the links that its
    devices use. ``stations``: those of ``cell``, the last one repeated up to ``clients``.
    ``policies``: one for each of them, that of its choice. ``refusal``: why they do not associate;
    ``None`` where they do. ``notes``: differences between the two cells, a line each.
    ``downgraded``: stations that take another link than the one that the access point prefers.
    """

    asked: Cell
    cell: Cell
    stations: tuple[Station, ...] = field(repr=False)
    policies: tuple[Policy, ...] = field(repr=False)
    refusal: str | None
    notes: tuple[str, ...]
    downgraded: tuple[Downgrade, ...]

    @property
    def settings(self) -> Scenario:
        """The scenario as it is carried out."""
        return self.cell.settings


@lru_cache(maxsize=1024)
def resolved(cell: Cell) -> ResolvedCell:
    """The cell as its devices carry it out.

    A run goes through all of its cells before it comes back to the first. Raises ``PolicyError``
    for a policy that is none.
    """
    carried_out = gating.as_carried_out(cell)
    stations = all_stations(carried_out.settings)
    return ResolvedCell(
        asked=cell,
        cell=carried_out,
        stations=stations,
        policies=tuple(gating.policy_of(carried_out, station) for station in stations),
        refusal=gating.why_not(cell, carried_out),
        notes=gating.notes(cell),
        downgraded=gating.downgraded(cell),
    )


@lru_cache(maxsize=64)
def all_stations(settings: Scenario) -> tuple[Station, ...]:
    """The stations of a scenario, the last one repeated up to ``clients``."""
    named = settings.stations
    count = settings.clients or len(named)
    if count <= len(named):
        return named[:count]
    last = named[-1]
    extra = (
        last.model_copy(update={"name": f"{last.name}{number}"})
        for number in range(2, count - len(named) + 2)
    )
    return (*named, *extra)
