"""A study's requirements resolved to cells, or to changes from what one has.

A requirement holds at each of its places by itself: values of different cells are never averaged.
"""

from __future__ import annotations

from collections.abc import Iterator

from attrs import field, frozen

from airtoll.errors import StudyError
from airtoll.observe.metrics import METRICS, OVERHEAD, SHARES
from airtoll.observe.spoken import spoken
from airtoll.plan import Cell, Plan
from airtoll.question.asked import Asked, is_at, level_of, resolved
from airtoll.study import Question, Require


@frozen
class Required:
    """One requirement with its places.

    ``cells``: those whose values have the limits. ``asked``: with ``from``, the changes that have
    them; then ``cells`` is empty.
    """

    require: Require
    cells: tuple[Cell, ...] = field(repr=False)
    asked: Asked | None = None


def required(plan: Plan) -> tuple[Required, ...]:
    """The requirements of a plan, in the order of the study.

    Raises ``StudyError`` for one that names no cell, station or metric of the study, or whose limit
    is no value of its metric.
    """
    return tuple(
        _required(plan, require, f"{plan.study.study.name}: require[{index}]")
        for index, require in enumerate(plan.study.require)
    )


def _required(plan: Plan, require: Require, place: str) -> Required:
    _refuse_metric(plan, require, place)
    asked = None
    if require.have:
        asked = resolved(
            plan,
            Question(
                metric=require.metric,
                have=require.have,
                to=require.to,
                where=require.where,
                station=require.station,
            ),
        )
        cells = tuple(cell for at in asked.places for cell in at.cells.values())
        if not cells:
            raise StudyError(
                f"{place}: no cell with the levels of `from` has one to compare with; where, "
                "exclude or the grid leaves none"
            )
    else:
        cells = tuple(
            cell
            for cell in plan.cells
            if is_at(cell, require.where) and not _is_reference(plan, require, cell)
        )
        if not cells:
            raise StudyError(f"{place}.where: names no cell of the grid, or exclude leaves none")
    station = require.station
    if station is not None and not any(station in _names(cell) for cell in cells):
        known = ", ".join(dict.fromkeys(s.name for cell in cells for s in cell.settings.stations))
        raise StudyError(f"{place}.station: {station!r} is in none of its cells; there: {known}")
    return Required(require, () if asked else cells, asked)


def _refuse_metric(plan: Plan, require: Require, place: str) -> None:
    metric = require.metric
    if metric == OVERHEAD:
        head = plan.study.study
        if require.have:
            raise StudyError(
                f"{place}: overhead is a change from study.baseline already; leave `from` out, or "
                'write metric = "throughput_bps"'
            )
        if not head.against and head.baseline not in plan.study.grid["policy"]:
            raise StudyError(
                f"{place}.metric: overhead needs cells of study.baseline, {head.baseline}, which "
                "grid.policy lacks"
            )
    elif metric not in METRICS:
        raise StudyError(
            f"{place}.metric: {metric!r} is no metric, and not {OVERHEAD}; "
            "docs/reference/observations.md lists them"
        )
    is_share = metric == OVERHEAD or metric in SHARES
    for key, limit in (("at_most", require.at_most), ("at_least", require.at_least)):
        if limit is None:
            continue
        if is_share and abs(limit) > 1:
            raise StudyError(f"{place}.{key}: {limit:g} is no share; write 0.05 for 5 %")
        if require.have and not is_share and spoken(metric).is_share and limit < -1:
            raise StudyError(
                f"{place}.{key}: {limit:g}: no more than all can be lost; write -0.05 for 5 %"
            )


def _is_reference(plan: Plan, require: Require, cell: Cell) -> bool:
    """Whether a cell is one that overheads are computed against, and has none itself."""
    if require.metric != OVERHEAD:
        return False
    head = plan.study.study
    against = head.against or {"policy": head.baseline}
    return all(str(level_of(cell, axis)) == str(level) for axis, level in against.items())


def _names(cell: Cell) -> Iterator[str]:
    """The stations of a cell; the last one that is named repeats up to ``clients``."""
    named = cell.settings.stations
    yield from (station.name for station in named)
    for number in range(1, (cell.settings.clients or 0) + 1):
        yield f"{named[-1].name}{number}"
