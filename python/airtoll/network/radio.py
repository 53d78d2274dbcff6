"""Channels, bands and PHYs as files and programs name them.

Takes a frequency, a channel, a word; gives airtoll's names. Channel numbers: IEEE 802.11-2020 and
802.11ax-2021, annex E.
"""

from __future__ import annotations

import re
from typing import Final, Literal

Band = Literal["2.4", "5", "6"]

#: Ends of names of PHYs, the newest last.
PHYS: Final = tuple(f"802.11{letters}" for letters in ("b", "a", "g", "n", "ac", "ax", "be"))
#: Channel width, MHz -> operating class at 6 GHz (table E-4).
CLASSES_6GHZ: Final = {20: 131, 40: 132, 80: 133, 160: 134, 320: 137}
_80_PLUS_80: Final = 135
#: Control of the regulatory domain takes two letters (ISO 3166-1), or 00 for the world.
_COUNTRY: Final = re.compile(r"[A-Z]{2}|00")


def channel_at(mhz: int) -> tuple[Band, int] | None:
    """Band and number of the 20 MHz channel at this frequency, MHz; None outside the bands."""
    if mhz == 2484:
        return "2.4", 14
    if 2412 <= mhz <= 2472 and (mhz - 2407) % 5 == 0:
        return "2.4", (mhz - 2407) // 5
    if 5160 <= mhz <= 5885 and mhz % 5 == 0:
        return "5", (mhz - 5000) // 5
    if mhz == 5935:
        return "6", 2
    if 5955 <= mhz <= 7115 and (mhz - 5950) % 5 == 0:
        return "6", (mhz - 5950) // 5
    return None


def band_of_channel(channel: int) -> Band | None:
    """The band of a channel number outside 6 GHz, whose numbers the other bands have, too."""
    if 1 <= channel <= 14:
        return "2.4"
    return "5" if 32 <= channel <= 177 else None


def width_of_class(operating_class: int) -> int | None:
    """Channel width of an operating class at 6 GHz, MHz; None for a class of another band."""
    if operating_class == _80_PLUS_80:
        return 160
    return next((w for w, known in CLASSES_6GHZ.items() if known == operating_class), None)


def plain_phy(band: Band | None, rates_mbps: tuple[float, ...] = ()) -> str | None:
    """The PHY without MCSs of a band; ``rates_mbps``: those of the BSS, if they are known."""
    if band == "2.4":
        return "802.11b" if rates_mbps and max(rates_mbps) <= 11 else "802.11g"
    return "802.11a" if band == "5" else None


def country_in(text: str) -> str | None:
    """The country of two letters that a text is; None for anything else."""
    word = text.strip().strip("'\"").upper()
    return word if _COUNTRY.fullmatch(word) else None
