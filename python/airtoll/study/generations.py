"""PHY generations: the rows of the native module, which reads the descriptors of `airtoll-phy`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from airtoll import _native
from airtoll.border.answers import GenerationRow, SpacesRow

if TYPE_CHECKING:
    from airtoll.study.model import Scenario

#: The channel width that 6 GHz alone has, MHz (IEEE Std 802.11be-2024, 36.3.23.2).
_ONLY_6GHZ_MHZ: Final = 320

#: Name (``802.11n``) -> generation, oldest first.
GENERATIONS: Final[dict[str, GenerationRow]] = {
    row["name"]: row for row in _native.phy_generations()
}
#: Name -> highest rate in Mb/s, of the generations without MCS indices.
HIGHEST_MBPS: Final = {
    name: max(row["rates_mbps"]) for name, row in GENERATIONS.items() if row["rates_mbps"]
}


def band_of(settings: Scenario) -> str:
    """The band of a scenario (``5ghz``): the stated one, or that of its PHY and width."""
    if settings.band is not None:
        return f"{settings.band}ghz"
    if settings.width_mhz == _ONLY_6GHZ_MHZ:
        return "6ghz"
    return GENERATIONS[settings.phy]["bands"][0]["band"]


def default_spaces(phy: str) -> SpacesRow:
    """Interframe spaces of the default band of a generation."""
    return GENERATIONS[phy]["bands"][0]
