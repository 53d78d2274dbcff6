"""Tables of a run as LaTeX that fits a page: one table, or one for each level of a factor.

Takes a view and a layout; gives LaTeX. Levels that all rows share are in the caption. Places are
titles above their rows, or a column where a place has few rows.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from attrs import define, field, frozen

from airtoll.analyse.quantities import NOTHING
from airtoll.present.names import axis_name
from airtoll.report.latex import LAYOUTS, Grid, Group, Layout, Typeset, escape_latex, typeset
from airtoll.report.paper_tables import PaperForm, caption_of_view, label_of, typed_level
from airtoll.report.summary import RunSummary
from airtoll.report.views import View, costs
from airtoll.report.where import Where

#: Rows of a place from which its name is a title above them.
_ROWS_BELOW_TITLE = 2.5
#: Levels that rows name themselves.
_TOLD = ("policy", "table", "dataset", "quantity", "metric")
#: Columns whose values have units of their own, or are of other tables: one table for each.
_APART = ("table", "metric", "quantity", "what")


@frozen
class _Part:
    """Some rows of a view, by number; ``shared``: the words of the levels that set them apart."""

    rows: tuple[int, ...]
    shared: tuple[str, ...] = ()


@define
class ViewTables:
    """The tables of a view.

    ``whole``: the view before levels and columns were chosen. ``columns``: those that the user
    chose, or None.
    """

    summary: RunSummary
    name: str
    whole: View
    wanted: Where
    columns: Sequence[str] | None
    form: PaperForm
    _view: View = field(init=False)
    _places: list[dict[str, str]] = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._view = self.whole.where(self.wanted)
        self._places = [self._place(at) for at in range(len(self._view.rows))]

    @property
    def layout(self) -> Layout:
        """The layout that the user named."""
        return self.form.layout

    def typeset(self) -> list[Typeset]:
        """Every table, in the order of its rows."""
        if not self._view.rows:
            return []
        parts = list(self._parts(_Part(tuple(range(len(self._view.rows))))))
        return [self._named(part, number, len(parts)) for number, part in enumerate(parts)]

    def _place(self, at: int) -> dict[str, str]:
        """The words of a row that say where it is, by level or column, in the order of the row."""
        found: dict[str, str] = {}
        for name in self._view.places:
            if name not in self._view.columns:
                continue
            text = self._view.rows[at][self._view.columns.index(name)]
            if name == "where":
                found |= self._levels(text, self._view.levels[at])
            elif text:
                found[name] = f"{name} {text}" if name in ("table", "client") else text
        return found

    def _levels(self, text: str, levels: Mapping[str, str]) -> dict[str, str]:
        """The words of a place by level; ``where``: those of none."""
        found = {}
        for key in ("scenario", "traffic", *self.summary.names.levels):
            if key not in levels:
                continue
            word = self.summary.names.level(key, typed_level(self.summary, key, levels[key]))
            if f"{text}, ".startswith(f"{word}, "):
                found[key] = word
                text = text[len(word) :].removeprefix(", ")
        return found | ({"where": text} if text else {})

    def _parts(self, part: _Part) -> Iterator[_Part]:
        """The rows in as few tables as fit their page, apart by one level after the other."""
        varying = self._varying(part.rows)
        counts = {
            key: list(dict.fromkeys(self._places[at].get(key, "") for at in part.rows))
            for key in varying
        }
        apart = [key for key in varying if key in _APART]
        if not apart and not self._set(part, "", "").is_long:
            yield part
            return
        if not varying:
            yield part
            return
        key = apart[0] if apart else min(counts, key=lambda name: len(counts[name]))
        for word in counts[key]:
            rows = tuple(at for at in part.rows if self._places[at].get(key, "") == word)
            yield from self._parts(_Part(rows, (*part.shared, word)))

    def _varying(self, rows: Sequence[int]) -> list[str]:
        keys = dict.fromkeys(key for at in rows for key in self._places[at])
        return [key for key in keys if len({self._places[at].get(key) for at in rows}) > 1]

    def _named(self, part: _Part, number: int, count: int) -> Typeset:
        apart = [word for word in part.shared if word]
        label = self.form.label
        if label is None:
            label = label_of(self.summary.study.study.name, self.name, *apart)
        elif count > 1:
            label = f"{label}-{number + 1}"
        if self.form.caption:
            caption = escape_latex(": ".join(filter(None, (self.form.caption, "; ".join(apart)))))
            # A caption of the user does not say what the numbers are.
            return self._set(part, caption, label, [self._caption(part)])
        found = self._set(part, self._caption(part), label)
        # Of columns that are left out the caption says nothing; it is no longer without them.
        without = self._caption(part, found.left_out) if found.left_out else ""
        return self._set(part, without, label) if without else found

    def _caption(self, part: _Part, left_out: Sequence[str] = ()) -> str:
        names = [name for at in part.rows for name in self._view.cells[at]]
        varying = self._varying(part.rows)
        chosen = {
            key: values
            for key, values in self.wanted.chosen(self.whole.levels).items()
            if key not in _TOLD and (len(values) > 1 or key in varying)
        }
        first = self._places[part.rows[0]]
        same = [word for key, word in first.items() if key not in varying]
        kept, said = self._constant(part)
        columns = [self._view.columns[at] for at in kept]
        columns = [name for name in columns if name not in left_out]
        text = caption_of_view(
            self.summary, names, columns, chosen, self._view.note, (*same, *said[:1])
        )
        return " ".join([text, *map(escape_latex, said[1:])])

    def _constant(self, part: _Part) -> tuple[list[int], tuple[str, ...]]:
        """The columns that the table keeps, and what the caption says of the others.

        The first of the words is the policy, empty where it is a column; the others are sentences.
        """
        view = self._view
        if self.columns is not None:
            return [view.columns.index(name) for name in self.columns], ("",)
        placing = [at for at, name in enumerate(view.columns) if name in view.places]
        kept = [at for at in range(len(view.columns)) if at not in placing]
        if len(part.rows) == 1:
            return kept, ("",)
        numbers = [at for at in kept if view.columns[at] in view.numbers]
        policy, said = "", []
        for at in list(kept):
            texts = {view.rows[row][at] for row in part.rows}
            is_first = at == kept[0]
            if len(texts) > 1 or at in numbers[:1] or (is_first and not self._varying(part.rows)):
                continue
            kept = [one for one in kept if one != at]
            (text,) = texts
            name = view.columns[at]
            if name == "policy":
                policy = text
            elif text not in ("", NOTHING) and name != "n":
                said.append(f"{name[:1].upper()}{name[1:]}: {text} in every row.")
        return kept, (policy, *said)

    def _set(self, part: _Part, caption: str, label: str, notes: Sequence[str] = ()) -> Typeset:
        """The table with places as titles or as a column, whichever fits with more columns."""
        if self.columns is not None:
            tries = [self._chosen(part)]
        else:
            tries = [self._titled(part), self._in_a_column(part)]
            places = {tuple(self._places[at].items()) for at in part.rows}
            if len(part.rows) < _ROWS_BELOW_TITLE * len(places):
                tries.reverse()
        found = []
        for grid in tries:
            one = typeset(grid, self.layout, caption=caption, label=label, notes=notes)
            if one.fits and not one.left_out:
                return one
            found.append(one)
        return min(found, key=lambda one: (not one.fits, len(one.left_out)))

    def _chosen(self, part: _Part) -> Grid:
        """The columns that the user chose, in that order. Other places are titles above rows."""
        view, columns = self._view, self.columns or ()
        told = {name for name in columns if name != "where"}
        if "where" in columns:
            told |= {key for key in self._varying(part.rows) if key not in view.columns}
        groups: dict[str, list[tuple[str, ...]]] = {}
        for at in part.rows:
            texts = dict(zip(view.columns, view.rows[at], strict=True))
            if "where" in texts:
                texts["where"] = self._words(part, at)
            title = self._words(part, at, without=told)
            groups.setdefault(title, []).append(tuple(texts[name] for name in columns))
        titled = tuple(Group(title, tuple(rows)) for title, rows in groups.items())
        return self._grid(tuple(columns), titled, chosen=True)

    def _titled(self, part: _Part) -> Grid:
        kept, _ = self._constant(part)
        groups: dict[str, list[tuple[str, ...]]] = {}
        for at in part.rows:
            row = tuple(self._view.rows[at][column] for column in kept)
            groups.setdefault(self._words(part, at), []).append(row)
        columns = tuple(self._view.columns[at] for at in kept)
        return self._grid(columns, tuple(Group(t, tuple(rows)) for t, rows in groups.items()))

    def _in_a_column(self, part: _Part) -> Grid:
        kept, _ = self._constant(part)
        varying = self._varying(part.rows)
        columns = [self._view.columns[at] for at in kept]
        rows = [[self._view.rows[at][column] for column in kept] for at in part.rows]
        if varying:
            # Behind the policy, where that is a column.
            behind = 1 if columns[:1] == ["policy"] else 0
            columns.insert(behind, _heading(varying))
            for row, at in zip(rows, part.rows, strict=True):
                row.insert(behind, self._words(part, at))
        return self._grid(tuple(columns), (Group("", tuple(map(tuple, rows))),))

    def _words(self, part: _Part, at: int, without: Collection[str] = ()) -> str:
        """The place of a row without what all rows of its table share, and without some levels."""
        varying = [key for key in self._varying(part.rows) if key not in without]
        return ", ".join(word for key, word in self._places[at].items() if key in varying)

    def _grid(
        self, columns: tuple[str, ...], groups: tuple[Group, ...], *, chosen: bool = False
    ) -> Grid:
        return Grid(columns, frozenset(self._view.numbers), groups, chosen, self._view.minor)


def _heading(keys: Sequence[str]) -> str:
    if len(keys) > 1 or keys[0] == "scenario":
        return "where"
    return keys[0] if "." not in keys[0] else axis_name(keys[0]).partition(",")[0]


def latex(summary: RunSummary, where: Where) -> str:
    """The costs of a run, of chosen rows, as LaTeX tables with captions and labels."""
    form = PaperForm(LAYOUTS["table"])
    tables = ViewTables(summary, "costs", costs(summary), where, None, form)
    return "\n".join(one.text for one in tables.typeset())
