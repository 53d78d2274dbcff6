"""Colours and marks that survive colour blindness, grey print and dark mode.

Takes an index or a kind; gives a colour. Source: Okabe and Ito, Color Universal Design, 2008.
"""

from __future__ import annotations

from typing import Final

#: Okabe-Ito without the pale yellow, which vanishes on white.
COLOURS: Final = (
    "#0072B2",
    "#D55E00",
    "#009E73",
    "#CC79A7",
    "#E69F00",
    "#56B4E9",
    "#6B6B6B",
)
OURS: Final = "#0072B2"
PUBLISHED: Final = "#D55E00"
CLOSED_FORM: Final = "#6B6B6B"
#: Where the overhead's parts go in the decomposition, one colour each.
PARTS: Final = {
    "header octets": "#0072B2",
    "crypto time": "#D55E00",
    "round trips": "#009E73",
    "fragmentation": "#CC79A7",
    "lost PHY modes": "#E69F00",
    "retries": "#56B4E9",
    "unexplained": "#6B6B6B",
}


def colour(index: int) -> str:
    """A colour for the series of that index; colours repeat after seven."""
    return COLOURS[index % len(COLOURS)]
