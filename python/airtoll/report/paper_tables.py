"""Tables for a paper: printed values beside ours, one row per policy, and captions.

Takes rows of printed values; gives LaTeX and CSV. A table of the paper and a quantity make one
table; the places and clients of it are groups of rows. A caption says which cells are in the table,
how many trials count, what an interval is, and the formula of an overhead.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Final

import polars as pl
from attrs import frozen

from airtoll.analyse.estimate import NOT_SETTLED
from airtoll.analyse.overhead import DEFINITIONS
from airtoll.analyse.quantities import NOTHING
from airtoll.errors import UsageError
from airtoll.observe.metrics import METRICS, OVERHEAD
from airtoll.observe.spreadsheet import cell as spreadsheet_cell
from airtoll.plan import Cell
from airtoll.present.names import policy_name
from airtoll.report.answer import BY_RULE, OF_ALL, quantity_name
from airtoll.report.citation import cited
from airtoll.report.latex import Grid, Group, Layout, Marked, Typeset, escape_latex, typeset
from airtoll.report.number_columns import COUNTS, PARTS, cells_of, counts_of, parts_of
from airtoll.report.printed_rows import ERROR, OURS, POLICY, PRINTED, TRIALS, PrintedRow
from airtoll.report.setting import setting
from airtoll.report.summary import RunSummary

#: Formulas of an overhead in LaTeX, T1 without and T2 with security.
_FORMULAS: Final = {
    "of_baseline": "$(T_1 - T_2)/T_1$",
    "of_secured": "$(T_1 - T_2)/T_2$",
    "difference_bps": "$T_2 - T_1$",
}
#: Levels of a row that are told by the table itself.
_TOLD: Final = ("table", "dataset", "quantity", "policy")


@frozen
class PaperTable:
    """A table of a paper beside ours.

    ``groups``: the title of each group of rows, empty for the only one, and its rows: a policy, the
    printed value, ours of each variant. ``place``: what the title of the only group would be.
    """

    dataset: str
    table: str
    quantity: str
    variants: tuple[str, ...]
    groups: tuple[tuple[str, tuple[tuple[PrintedRow, ...], ...]], ...]
    place: str = ""

    @property
    def rows(self) -> tuple[PrintedRow, ...]:
        """All rows, of every variant."""
        return tuple(one for _, group in self.groups for row in group for one in row)

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns: one variant has its error, several have a column each."""
        several = tuple(name or OURS for name in self.variants)
        ours = several if len(several) > 1 else (OURS, ERROR)
        return (POLICY, PRINTED, *ours, TRIALS)

    def notes(self, shown: Sequence[str]) -> dict[str, str]:
        """The notes on ours in the columns ``shown``, each with its letter, in reading order."""
        names = {name or OURS if len(self.variants) > 1 else OURS: name for name in self.variants}
        variants = [name for column, name in names.items() if column in shown]
        every: dict[str, None] = {}
        for _, group in self.groups:
            for row in group:
                of = {one.variant: one for one in row}
                for name in variants:
                    every |= dict.fromkeys(_notes(of[name]) if name in of else ())
        return {note: _letter(number) for number, note in enumerate(every)}

    def texts(self) -> list[tuple[str, list[list[str]]]]:
        """The groups as text, in the order of the columns."""
        return [(title, [self._text(row) for row in group]) for title, group in self.groups]

    def _text(self, row: Sequence[PrintedRow]) -> list[str]:
        of = {one.variant: one for one in row}
        first = row[0]
        if len(self.variants) > 1:
            ours = [of[name].shown if name in of else NOTHING for name in self.variants]
        else:
            ours = [first.shown, first.error]
        counts = ", ".join(dict.fromkeys(one.n for one in row if one.n))
        return [policy_name(first.policy), first.printed, *ours, counts]

    def marks(self, letters: Mapping[str, str]) -> list[list[list[str]]]:
        """By group and row: the letters of the notes on each variant, empty without one.

        ``letters``: note -> letter; others have none.
        """
        order = {note: number for number, note in enumerate(letters)}

        def mark(notes: Iterable[str]) -> str:
            known = sorted((note for note in notes if note in order), key=order.__getitem__)
            return ",".join(letters[note] for note in known)

        found = []
        for _, group in self.groups:
            rows = [{one.variant: _notes(one) for one in row} for row in group]
            found.append([[mark(of.get(name, ())) for name in self.variants] for of in rows])
        return found


def _notes(row: PrintedRow) -> list[str]:
    return row.note.split("; ") if row.note else []


def _letter(number: int) -> str:
    """a, b, ... z, aa, ab, ..."""
    rest, own = divmod(number, 26)
    return (_letter(rest - 1) if rest else "") + chr(ord("a") + own)


def paper_tables(rows: Iterable[PrintedRow]) -> list[PaperTable]:
    """The tables in the order of the rows: one for each table of the paper and quantity."""
    found: dict[tuple[str, str, str], list[PrintedRow]] = {}
    for row in rows:
        found.setdefault((row.dataset, row.table, row.quantity), []).append(row)
    return [_table(*key, of) for key, of in found.items()]


def _table(dataset: str, table: str, quantity: str, rows: Sequence[PrintedRow]) -> PaperTable:
    clients = {row.client for row in rows}
    groups: dict[str, dict[tuple[str, ...], list[PrintedRow]]] = {}
    for row in rows:
        client = row.client if row.client in ("", "total") else f"client {row.client}"
        title = ", ".join(filter(None, (row.place, client if len(clients) > 1 else "")))
        extreme = row.comparison.extreme if row.comparison is not None else ""
        key = (row.policy, row.printed, extreme)
        groups.setdefault(title, {}).setdefault(key, []).append(row)
    return PaperTable(
        dataset,
        table,
        quantity,
        tuple(dict.fromkeys(row.variant for row in rows)),
        tuple(
            (title if len(groups) > 1 else "", tuple(map(tuple, of.values())))
            for title, of in groups.items()
        ),
        next(iter(groups)) if len(groups) == 1 else "",
    )


@frozen
class PaperForm:
    """Where tables go in a paper, and the caption and label of the user; None: by the tables."""

    layout: Layout
    caption: str | None = None
    label: str | None = None


def as_latex(
    summary: RunSummary,
    tables: Sequence[PaperTable],
    chosen: Mapping[str, Sequence[str]],
    form: PaperForm,
    columns: Sequence[str] | None = None,
) -> list[Typeset]:
    """Each table as LaTeX with caption and label.

    ``chosen``: the levels that ``--where`` chose, for the captions. A caption and a label of the
    user go with one table; they and ``columns`` raise ``UsageError`` where they do not fit.
    """
    if len(tables) > 1 and (form.caption is not None or form.label is not None):
        names = ", ".join(f"{one.table} ({one.quantity})" for one in tables)
        raise UsageError(
            f"--caption and --label go with one table; these are {len(tables)}: {names}; choose "
            "with --table and --where quantity=..."
        )
    return [_latex(summary, table, chosen, form, columns) for table in tables]


def label_of(*parts: str) -> str:
    """``tab:tripathi2008-3-overhead``: letters, digits and hyphens."""
    return "tab:" + re.sub(r"[^A-Za-z0-9]+", "-", "-".join(parts)).strip("-")


def _latex(
    summary: RunSummary,
    table: PaperTable,
    chosen: Mapping[str, Sequence[str]],
    form: PaperForm,
    columns: Sequence[str] | None,
) -> Typeset:
    names = table.columns
    for name in columns or ():
        if name not in names:
            raise UsageError(f"--columns {name}: columns are {', '.join(names)}")
    groups = [(title, list(map(list, rows))) for title, rows in table.texts()]
    same = {row[-1] for _, rows in groups for row in rows}
    if columns is None and len(same) == 1 and sum(len(rows) for _, rows in groups) > 1:
        # The caption has the number of trials.
        columns = names[:-1]
    kept = [names.index(name) for name in columns or names]
    notes = table.notes([names[at] for at in kept])
    found = []
    for (title, rows), marks in zip(groups, table.marks(notes), strict=True):
        marked: list[list[str | Marked]] = []
        for row, letters in zip(rows, marks, strict=True):
            cells: list[str | Marked] = list(row)
            for at, letter in enumerate(letters, 2):
                if letter:
                    cells[at] = Marked(row[at], letter)
            marked.append(cells)
        found.append(Group(title, tuple(tuple(row[at] for at in kept) for row in marked)))
    numbers = frozenset(names[at] for at in kept if at)
    own = _caption_of(summary, table, chosen, [names[at] for at in kept])
    return typeset(
        # Printed, ours and its error are the answer.
        Grid(tuple(names[at] for at in kept), numbers, tuple(found), chosen=True),
        form.layout,
        caption=escape_latex(form.caption) if form.caption else own,
        label=form.label or label_of(table.dataset, table.table, table.quantity),
        notes=[
            # A caption of the user does not say what the numbers are.
            *([own] if form.caption else ()),
            *(
                f"\\textsuperscript{{{letter}}} {escape_latex(note)}."
                for note, letter in notes.items()
            ),
        ],
    )


def as_csv(tables: Sequence[PaperTable]) -> str:
    """All tables as one CSV: a row per policy, place and client; values in SI units."""
    variants = list(dict.fromkeys(name for table in tables for name in table.variants))
    several = len(variants) > 1
    heads = ["dataset", "table", "quantity", "place", "client", POLICY, *parts_of(PRINTED)]
    for name in variants:
        suffix = f" ({name})" if several and name else ""
        heads += [f"{column}{suffix}" for column in (*parts_of(OURS), *COUNTS)]
    buffer = io.StringIO()
    writer = csv.writer(buffer, lineterminator="\n")
    writer.writerow([*heads, "note"])
    for table in tables:
        for _, group in table.groups:
            for row in group:
                first, of = row[0], {one.variant: one for one in row}
                values: list[object] = [first.dataset, first.table, first.quantity]
                values += [first.place, first.client, first.policy, *cells_of(first.published)]
                for name in variants:
                    one = of.get(name)
                    empty = [""] * (len(PARTS) + len(COUNTS))
                    values += [*cells_of(one.ours), *counts_of(one.n)] if one else empty
                notes = {
                    f"{one.variant}: {one.note}" if several else one.note: None
                    for one in row
                    if one.note
                }
                values.append("; ".join(notes))
                writer.writerow(map(spreadsheet_cell, values))
    return buffer.getvalue()


def _caption_of(
    summary: RunSummary,
    table: PaperTable,
    chosen: Mapping[str, Sequence[str]],
    columns: Sequence[str],
) -> str:
    study, *_ = (one.key for one in cited(str(summary.path))[1:])
    what = _quantity(table.quantity)
    head = (
        f"{what} of table {escape_latex(table.table)} of~\\cite{{{table.dataset}}} beside that of "
        f"airtoll~\\cite{{airtoll,{study}}}."
    )
    cells = list(dict.fromkeys(cell for row in table.rows for cell in row.cells))
    methods = [row.ours.method for row in table.rows if row.ours.has_interval]
    without = [row.ours.method for row in table.rows if not row.ours.has_interval]
    shown = {table.quantity, *columns}
    return head + " " + caption(summary, cells, chosen, methods, without, shown, (table.place,))


def _quantity(quantity: str) -> str:
    rate = f"{quantity}_bps"
    name = quantity_name(rate if rate in METRICS else quantity)
    return escape_latex(name[:1].upper() + name[1:])


def caption_of_view(
    summary: RunSummary,
    names: Sequence[str],
    columns: Sequence[str],
    chosen: Mapping[str, Sequence[str]],
    note: str,
    same: Sequence[str] = (),
) -> str:
    """The caption of a table of a run: the study's title, its cells, and what its numbers are.

    ``same``: words of what all rows share.
    """
    cells = [summary.cells[name] for name in dict.fromkeys(names) if name in summary.cells]
    shown = set(columns)
    if any(quantity_name(OVERHEAD) in column for column in columns):
        shown.add(OVERHEAD)
    frame = summary.analysis.estimates.filter(
        pl.col("cell").is_in([cell.name for cell in cells])
        & pl.col("metric").is_in(list(summary.study.answers))
    )
    has = frame["low"].is_not_null() & frame["low"].is_not_nan()
    methods = frame.filter(has)["method"].cast(pl.String).unique(maintain_order=True).to_list()
    without = frame.filter(~has)["method"].cast(pl.String).unique(maintain_order=True).to_list()
    if any(name.endswith(BY_RULE) for name in shown) and not any(
        name.endswith(OF_ALL) for name in shown
    ):
        # Values by a rule have no interval.
        methods, without = [], []
    if methods and (of := _methods_of_overheads(summary, cells)):
        if OVERHEAD in shown:
            methods += of
        elif OVERHEAD in same:
            methods = of
    title = escape_latex(summary.study.study.title.rstrip("."))
    title += "" if title.endswith("?") else "."
    said = f"{title} {caption(summary, cells, chosen, methods, without, shown, same)}"
    return f"{said} {escape_latex(note)}" if note and "verdict" in shown else said


def _methods_of_overheads(summary: RunSummary, cells: Sequence[Cell]) -> list[str]:
    frame = summary.analysis.overheads.filter(
        pl.col("cell").is_in([cell.name for cell in cells]) & pl.col("low").is_not_nan()
    )
    return frame["method"].cast(pl.String).unique(maintain_order=True).to_list()


def caption(
    summary: RunSummary,
    cells: Sequence[Cell],
    chosen: Mapping[str, Sequence[str]],
    methods: Sequence[str],
    without: Sequence[str],
    quantities: Iterable[str],
    same: Sequence[str] = (),
) -> str:
    """Sentences about the numbers of a table, in LaTeX.

    ``methods``: of the values with an interval; ``without``: of those that have none. ``same``:
    words of what all rows share.
    """
    levels = _levels(summary, chosen)
    for words in same:
        if any(word in words.split(", ") for word in levels):
            levels += [word for word in words.split(", ") if word not in levels]
        elif words:
            levels.append(words)
    lines = [
        escape_latex("; ".join(levels)),
        escape_latex(setting(cells, str(summary.manifest["testbed"]))),
        _counted(summary, cells, "$n$: trials" if TRIALS in quantities else "Trials"),
    ]
    if methods:
        level = f"{100 * summary.analysis.level:.0f}"
        named = ", ".join(dict.fromkeys(map(_method, methods)))
        over = _all_trials(summary, cells) or "the trials of the seed"
        lines.append(f"Intervals: {level}\\,\\% over {over} ({escape_latex(named)})")
    if without:
        named = ", ".join(dict.fromkeys(map(_method, without)))
        lines.append(
            f"{'Without an interval' if methods else 'No intervals'}: {escape_latex(named)}"
        )
    if OVERHEAD in quantities:
        reference = escape_latex(summary.reference)
        lines.append(
            f"Overhead: {_FORMULAS[summary.analysis.definition]}; $T_1$: throughput with "
            f"{reference}, $T_2$: with the row's policy"
        )
    if left := summary.unfinished:
        lines.append(f"Not finished: {left.done} of {left.planned} trials of the run")
    return " ".join(f"{line[:1].upper()}{line[1:]}." for line in lines if line)


def _levels(summary: RunSummary, chosen: Mapping[str, Sequence[str]]) -> list[str]:
    """The words of the levels that were chosen."""
    found = []
    for key, values in chosen.items():
        if key in _TOLD:
            continue
        if key == "client":
            words = [value if value in ("all", "total") else f"client {value}" for value in values]
        else:
            words = [summary.names.level(key, typed_level(summary, key, one)) for one in values]
        found.append(", ".join(words))
    return found


def typed_level(summary: RunSummary, key: str, text: str) -> object:
    """The level of the plan that a text stands for."""
    return next((one for one in summary.names.levels.get(key, ()) if str(one) == text), text)


def _counted(summary: RunSummary, cells: Sequence[Cell], name: str) -> str:
    """The trials that count, and the rule by which some were chosen. ``name``: theirs."""
    frame = summary.analysis.estimates.filter(pl.col("cell").is_in([one.name for one in cells]))
    if frame.is_empty():
        return ""
    counts = frame["n"].to_list()
    low, high, whole = min(counts), max(counts), max(frame["n_all"].to_list())
    said = f"{low}" if low == high else f"{low} to {high}"
    if summary.analysis.by_rule or whole != high:
        return f"{name} that count: {said} of {whole} by the rule " + escape_latex(
            summary.study.trials.select.rule.replace("_", " ")
        )
    return f"{name}: {said}"


def _all_trials(summary: RunSummary, cells: Sequence[Cell]) -> str:
    """``all 20 trials`` where a rule selects those of the values and not those of the intervals."""
    if not summary.analysis.by_rule:
        return ""
    frame = summary.analysis.estimates.filter(pl.col("cell").is_in([one.name for one in cells]))
    counts = frame["n_all"].to_list()
    if not counts:
        return "all trials"
    low, high = min(counts), max(counts)
    return f"all {low} trials" if low == high else f"all {low} to {high} trials of a cell"


def _method(method: str) -> str:
    """``t``, ``Fieller``: a method without the quantity, which the table names."""
    if NOT_SETTLED in method:
        return "not settled"
    for name in (*DEFINITIONS, "mean"):
        method = method.removeprefix(f"{name}, ")
    return re.sub(r"^mean by .*; interval of all, ", "", method)
