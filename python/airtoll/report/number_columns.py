"""A table for programs: every estimate in columns of its own.

Takes a :class:`View`; gives columns and rows for CSV. An estimate is four columns: value, ends of
its interval and unit, in SI units and full precision, as in ``airtoll report --format csv``. What
has no value is empty.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING, Final

from airtoll.analyse import Estimate
from airtoll.analyse.quantities import NOTHING, Shown

if TYPE_CHECKING:
    from airtoll.report.views import View

#: The parts of an estimate: names of columns of ``analyse.estimates``, and endings of those here.
PARTS: Final = ("value", "low", "high", "unit")
#: The columns of a count of trials, as in ``analyse.estimates``: those that count, and all.
COUNTS: Final = ("n", "n_all")
_OF: Final = re.compile(r"(\d+) of (\d+)")


def parts_of(column: str) -> list[str]:
    """``throughput_value``, ``throughput_low``, ``throughput_high``, ``throughput_unit``."""
    return [f"{column}_{part}" for part in PARTS]


def cells_of(one: Estimate) -> list[object]:
    """An estimate as cells; a number that is not there is empty."""
    numbers = (one.value, one.low, one.high)
    return [*(value if math.isfinite(value) else "" for value in numbers), one.unit]


def counts_of(text: str) -> list[object]:
    """``5 of 20`` as two numbers: trials that count, and all; empty where the cells differ."""
    if text.isdigit():
        return [text, text]
    found = _OF.fullmatch(text)
    return [found[1], found[2]] if found else ["", ""]


def for_programs(view: View) -> tuple[list[str], list[list[object]]]:
    """The columns and rows of a table: a number has columns of its own, a text is as it is."""
    heads: list[str] = []
    rows: list[list[object]] = [[] for _ in view.rows]
    for at, name in enumerate(view.columns):
        texts = [row[at] for row in view.rows]
        if name in COUNTS:
            heads += COUNTS
            for row, text in zip(rows, texts, strict=True):
                row.extend(counts_of(text))
        elif any(isinstance(text, Shown) for text in texts):
            heads += parts_of(name)
            for row, text in zip(rows, texts, strict=True):
                row.extend(_parts(text))
        else:
            heads.append(name)
            for row, text in zip(rows, texts, strict=True):
                row.append("" if text == NOTHING else text)
    return heads, rows


def _parts(text: str) -> list[object]:
    return cells_of(text.estimate) if isinstance(text, Shown) else [""] * len(PARTS)
