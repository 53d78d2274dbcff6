"""The last lines of a command: the answer, at most twelve lines, no wider than the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.analyse import Comparison
from airtoll.analyse.quantities import NOTHING, NOTHING_KEY, lacks_value
from airtoll.present.names import policy_name
from airtoll.report.changed import changed
from airtoll.report.headline import headline
from airtoll.report.summary import RunSummary

#: Lines of the end of a command.
MOST_LINES: Final = 12
_GAP: Final = "  "
#: Columns below which a table beside the policies says nothing.
_NARROWEST: Final = 40


def closing(summary: RunSummary, width: int | None, *, after: int = 1) -> list[str]:
    """Question, answer, the printed table beside ours, and where the rest is.

    ``width``: columns of the terminal; None: a pipe, in which nothing wraps. ``after``: lines that
    the caller prints itself.
    """
    room = MOST_LINES - after
    question = summary.study.study.question or summary.study.study.title
    if told := changed(summary):
        question = f"{question} (changed: {told})"
    found = _wrapped(question, width)
    sentences = [_wrapped(line, width) for line in headline(summary)]
    table = _printed(summary, width, room - len(found) - (len(sentences[0]) if sentences else 0))
    left = room - len(found) - len(table)
    if table:
        left = max(left, 1)
    for lines in sentences:
        if len(lines) > left:
            break
        found += lines
        left -= len(lines)
    if sentences and len(found) == len(_wrapped(question, width)):
        # A first sentence that is too long is better than none.
        found += sentences[0]
        table = []
    return found + table


@frozen
class PrintedTable:
    """Printed overheads beside ours: a row per policy, a text ``printed | ours`` per place."""

    dataset: str
    heads: tuple[str, ...]
    places: tuple[str, ...]
    rows: tuple[tuple[str, tuple[str, ...]], ...]


def printed_table(summary: RunSummary) -> PrintedTable | None:
    """The printed overheads of a run beside ours; None where there are none."""
    here = [
        one
        for one in summary.comparisons
        if one.quantity == "overhead" and one.published.unit == "1" and _is_whole(summary, one)
    ]
    if not here:
        return None
    variants = _variants(summary, here)
    columns: dict[str, dict[str, dict[str, Comparison]]] = {}
    for one in here:
        cell = summary.cells[one.cell]
        place = summary.names.place(
            cell.scenario, cell.traffic, cell.factors_json, ("policy", "profile_set")
        )
        variant = str(dict(cell.factors).get("profile_set", ""))
        if variant in variants:
            columns.setdefault(place, {}).setdefault(one.policy, {})[variant] = one
    ours = [summary.names.level("profile_set", name) if name else "ours" for name in variants]
    rows = tuple(
        (
            policy_name(policy).replace(", ", " "),
            tuple(_beside(of.get(policy, {}), variants) for of in columns.values()),
        )
        for policy in dict.fromkeys(one.policy for one in here)
    )
    return PrintedTable(here[0].dataset, ("printed", *ours), tuple(columns), rows)


def _printed(summary: RunSummary, width: int | None, room: int) -> list[str]:
    """The printed table as lines, with as many columns as fit."""
    found = printed_table(summary)
    if found is None:
        return []
    lacking = any(lacks_value(text) for _, texts in found.rows for text in texts)
    key = [NOTHING_KEY] if lacking else []
    if room < len(found.rows) + 2 + len(key):
        return []
    first = max(len(name) for name, _ in found.rows)
    widths = [
        max(len(place), *(len(texts[at]) for _, texts in found.rows))
        for at, place in enumerate(found.places)
    ]
    shown = 0
    used = first
    for own in widths:
        if width is not None and used + len(_GAP) + own > max(width, _NARROWEST):
            break
        shown += 1
        used += len(_GAP) + own
    if not shown:
        return []
    left_out = len(found.places) - shown
    more = f" ({left_out} more: airtoll show)" if left_out else ""
    title = f"Overhead, %: {' | '.join(found.heads)} ({found.dataset}){more}"

    def line(name: str, texts: Sequence[str]) -> str:
        fields = (text.rjust(own) for text, own in zip(texts[:shown], widths, strict=False))
        return (name.ljust(first) + "".join(_GAP + field for field in fields)).rstrip()

    return [
        *_wrapped(title, width),
        line("", found.places),
        *(line(name, texts) for name, texts in found.rows),
        *key,
    ]


def _is_whole(summary: RunSummary, one: Comparison) -> bool:
    alone = len(summary.cells[one.cell].settings.stations) == 1
    return one.client in ("", "total") or alone


def _variants(summary: RunSummary, here: Sequence[Comparison]) -> list[str]:
    """The first and the last profile set of the study: without a fit, and the furthest model."""
    found = list(
        dict.fromkeys(
            str(dict(summary.cells[one.cell].factors).get("profile_set", "")) for one in here
        )
    )
    order = [str(name) for name in summary.study.grid.get("profile_set", ())]
    if order:
        found.sort(key=order.index)
    return list(dict.fromkeys((found[0], found[-1])))


def _beside(of: dict[str, Comparison], variants: Sequence[str]) -> str:
    if not of:
        return ""
    printed = f"{100 * next(iter(of.values())).published.value:.1f}"
    ours = (f"{100 * of[name].ours.value:.1f}" if name in of else NOTHING for name in variants)
    return " | ".join([printed, *ours])


def _wrapped(text: str, width: int | None) -> list[str]:
    return [text] if width is None else textwrap.wrap(text, width, break_on_hyphens=False) or [""]
