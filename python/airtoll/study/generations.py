"""PHY generations: the rows of the native module, which reads the descriptors of `airtoll-phy`."""

from __future__ import annotations

from typing import Final

from airtoll import _native
from airtoll.border.answers import GenerationRow, SpacesRow

#: Name (``802.11n``) -> generation, oldest first.
GENERATIONS: Final[dict[str, GenerationRow]] = {
    row["name"]: row for row in _native.phy_generations()
}
#: Name -> highest rate in Mb/s, of the generations without MCS indices.
HIGHEST_MBPS: Final = {
    name: max(row["rates_mbps"]) for name, row in GENERATIONS.items() if row["rates_mbps"]
}


def default_spaces(phy: str) -> SpacesRow:
    """Interframe spaces of the default band of a generation."""
    return GENERATIONS[phy]["bands"][0]
