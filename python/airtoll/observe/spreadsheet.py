"""Cells of CSV files that people open in a spreadsheet.

Text from the air (an SSID, a reason) may begin with the sign of a formula, and a spreadsheet would
carry the formula out. Such a cell gets an apostrophe in front, which marks it as text (OWASP, CSV
Injection). Numbers keep their sign.
"""

from __future__ import annotations

import re
from typing import Final

import polars as pl

#: Signs at the beginning of a formula, with their full-width forms.
_SIGNS: Final = "=+-@\uff1d\uff0b\uff0d\uff20\t\r\n"
_NUMBER: Final = re.compile(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?( ?%)?")


def printable(text: str) -> str:
    """A text whose control characters are replacement characters (U+FFFD)."""
    return "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in text)


def cell(value: object) -> object:
    """A value as a cell: text without formulas and control characters; other values unchanged."""
    if not isinstance(value, str) or not value:
        return value
    formula = value[0] in _SIGNS and not _NUMBER.fullmatch(value)
    return ("'" if formula else "") + printable(value)


def cells(frame: pl.DataFrame) -> pl.DataFrame:
    """A table whose texts are cells; categorical columns become text."""
    return frame.cast({pl.Categorical: pl.String()}).with_columns(
        pl.col(pl.String).map_elements(cell, return_dtype=pl.String, skip_nulls=True)
    )
