"""The last lines of a command: the answer, at most twelve lines, no wider than the terminal."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from typing import Final

from airtoll.analyse import Comparison
from airtoll.analyse.quantities import NOTHING
from airtoll.present.names import policy_name
from airtoll.report.answer import headline
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


def _printed(summary: RunSummary, width: int | None, room: int) -> list[str]:
    """Printed overheads beside ours: a row per policy, a column per place, as many as fit."""
    here = [
        one
        for one in summary.comparisons
        if one.quantity == "overhead" and one.published.unit == "1" and _is_whole(summary, one)
    ]
    if not here:
        return []
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
    policies = list(dict.fromkeys(one.policy for one in here))
    if room < len(policies) + 2:
        return []
    names = {policy: policy_name(policy).replace(", ", " ") for policy in policies}
    first = max(map(len, names.values()))
    texts = {
        place: {policy: _beside(of.get(policy, {}), variants) for policy in policies}
        for place, of in columns.items()
    }
    widths = {place: max(len(place), *map(len, of.values())) for place, of in texts.items()}
    shown: list[str] = []
    used = first
    for place, own in widths.items():
        if width is not None and used + len(_GAP) + own > max(width, _NARROWEST):
            break
        shown.append(place)
        used += len(_GAP) + own
    if not shown:
        return []
    ours = [summary.names.level("profile_set", name) if name else "ours" for name in variants]
    dataset = here[0].dataset
    left_out = len(texts) - len(shown)
    more = f" ({left_out} more: airtoll show)" if left_out else ""
    title = f"Overhead, %: {' | '.join(['printed', *ours])} ({dataset}){more}"
    head = " " * first + "".join(_GAP + place.rjust(widths[place]) for place in shown)
    return [
        *_wrapped(title, width),
        head.rstrip(),
        *(
            names[policy].ljust(first)
            + "".join(_GAP + texts[place][policy].rjust(widths[place]) for place in shown)
            for policy in policies
        ),
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
