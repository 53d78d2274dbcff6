"""Widths of texts before they are drawn.

The page's font is the reader's. Widths are those of DejaVu Sans, which files for print hold.
It is among the widest fonts of screens, so that what is laid out for it fits.
"""

from __future__ import annotations

from textwrap import fill
from typing import Final

#: Advance widths of U+0020 to U+007E, thousandths of the size (hmtx table of DejaVu Sans 2.37).
_WIDTHS: Final = (
    318,
    401,
    460,
    838,
    636,
    950,
    780,
    275,
    390,
    390,
    500,
    838,
    318,
    361,
    318,
    337,
    636,
    636,
    636,
    636,
    636,
    636,
    636,
    636,
    636,
    636,
    337,
    337,
    838,
    838,
    838,
    531,
    1000,
    684,
    686,
    698,
    770,
    632,
    575,
    775,
    752,
    295,
    295,
    656,
    557,
    863,
    748,
    787,
    603,
    787,
    695,
    635,
    611,
    732,
    684,
    989,
    685,
    611,
    685,
    390,
    337,
    390,
    838,
    500,
    500,
    613,
    635,
    550,
    635,
    615,
    352,
    635,
    634,
    278,
    278,
    579,
    278,
    974,
    634,
    612,
    635,
    635,
    411,
    521,
    392,
    634,
    592,
    818,
    592,
    592,
    525,
    636,
    337,
    636,
    838,
)
#: Any other character: as wide as a wide letter.
_OTHER: Final = 840
#: Distance of baselines, in sizes.
LEADING: Final = 1.2
#: Height of capitals and digits, in sizes.
CAPITAL: Final = 0.73


def width(text: str, size: float) -> float:
    """Width of a line, points."""
    codes = (ord(character) - 0x20 for character in text)
    return sum(_WIDTHS[c] if 0 <= c < len(_WIDTHS) else _OTHER for c in codes) * size / 1000


def fitted(text: str, size: float, room: float) -> str:
    """The same text in lines that are no wider than ``room`` points, as far as words allow."""
    widest = max((width(line, size) for line in text.splitlines()), default=0.0)
    if widest <= room:
        return text
    letters = len(max(text.splitlines(), key=len))
    while letters > 4:
        letters -= 1
        lines = "\n".join(fill(line, letters) for line in text.splitlines())
        if max(width(line, size) for line in lines.splitlines()) <= room:
            return lines
    return lines
