"""The table of answers in the width of a terminal.

Takes rows of answers and a width; gives a table, and the columns that it leaves out. In a wide
terminal and in a pipe the table has one column for each value. In a narrow one, step by step until
it fits: headings name the units, each place has a line of its own above its rows, and the last
values are left out. The first value and the verdict always stay.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import evolve, frozen
from rich.cells import cell_len
from rich.table import Table

from airtoll.analyse.quantities import NOTHING
from airtoll.cli.output import GAP, NARROWEST_WORDS, shown_rows, table
from airtoll.report.answer import Row

#: A policy's name may be wrapped to this width.
_NARROWEST_POLICY = 20


@frozen
class _Sheet:
    """Columns of text; ``place`` and ``station`` are None where no row has one."""

    policy: tuple[str, ...]
    place: tuple[str, ...] | None
    station: tuple[str, ...] | None
    values: tuple[tuple[str, ...], ...]
    titles: tuple[str, ...]
    verdict: tuple[str, ...]
    placed_apart: bool = False

    def narrowest(self) -> int:
        """The width below which text of this sheet would be cut."""
        widths = [min(_width("policy", self.policy), _NARROWEST_POLICY)]
        if self.place is not None and not self.placed_apart:
            widths.append(min(_width("where", self.place), NARROWEST_WORDS))
        if self.station is not None:
            widths.append(_width("station", self.station))
        for title, cells in zip(self.titles, self.values, strict=True):
            widths.append(max(_longest(title.split()), _longest(cells)))
        widths.append(min(_width("verdict", self.verdict), NARROWEST_WORDS))
        return sum(widths) + GAP * (len(widths) - 1)

    def widest(self) -> int:
        """The width in which nothing wraps."""
        columns = [("policy", self.policy), ("verdict", self.verdict)]
        columns += [("where", self.place)] if self.place is not None else []
        columns += [("station", self.station)] if self.station is not None else []
        columns += list(zip(self.titles, self.values, strict=True))
        return sum(_width(*column) for column in columns) + GAP * (len(columns) - 1)


def fitted(
    head: str, rows: Sequence[Row], titles: Sequence[str], width: int
) -> tuple[Table, list[str]]:
    """The table of the rows in a width (columns), and the titles of the values it leaves out."""
    cut = rows[: shown_rows(len(rows))]
    sheet = _Sheet(
        policy=tuple(row.policy for row in cut),
        place=tuple(row.place for row in cut) if any(row.place for row in rows) else None,
        station=tuple(row.station or "all" for row in cut)
        if any(r.station for r in rows)
        else None,
        values=tuple(zip(*(row.values for row in cut), strict=True)),
        titles=tuple(titles),
        verdict=tuple(row.verdict for row in cut),
    )
    left_out: list[str] = []
    if sheet.widest() > width:
        sheet = _units_above(sheet)
        if sheet.narrowest() > width or sheet.widest() > width:
            sheet = evolve(sheet, placed_apart=sheet.place is not None)
        while sheet.narrowest() > width and len(sheet.values) > 1:
            left_out.insert(0, titles[len(sheet.values) - 1])
            sheet = evolve(sheet, values=sheet.values[:-1], titles=sheet.titles[:-1])
    return _view(head, sheet), left_out


def _view(head: str, sheet: _Sheet) -> Table:
    placed = sheet.place is not None and not sheet.placed_apart
    parted = sheet.station is not None
    columns = ["policy", *["where"] * placed, *["station"] * parted, *sheet.titles, "verdict"]
    view = table(head, columns, right=sheet.titles)
    for number, policy in enumerate(sheet.policy):
        cells = [policy]
        if sheet.place is not None and placed:
            cells.append(sheet.place[number])
        if sheet.station is not None:
            cells.append(sheet.station[number])
        cells += [column[number] for column in sheet.values]
        if sheet.place is not None and sheet.placed_apart:
            place = sheet.place[number]
            if number == 0 or place != sheet.place[number - 1]:
                view.add_row(place, style="bold")
        view.add_row(*cells, sheet.verdict[number])
    return view


def _units_above(sheet: _Sheet) -> _Sheet:
    """The unit of a column in its heading, where all of its values have the same."""
    titles, values = [], []
    for title, cells in zip(sheet.titles, sheet.values, strict=True):
        units = {cell.rpartition(" ")[2] for cell in cells if cell not in ("", NOTHING)}
        unit = units.pop() if len(units) == 1 else ""
        if unit and not unit[-1].isdigit() and "]" not in unit:
            titles.append(f"{title}, {unit}")
            values.append(tuple(cell.removesuffix(f" {unit}") for cell in cells))
        else:
            titles.append(title)
            values.append(cells)
    return evolve(sheet, titles=tuple(titles), values=tuple(values))


def _width(title: str, cells: Sequence[str]) -> int:
    return max(cell_len(title), _longest(cells))


def _longest(words: Sequence[str]) -> int:
    return max(map(cell_len, words), default=0)
