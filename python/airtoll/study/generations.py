"""PHY generations: the descriptors of `airtoll-phy`, typed.

The native module states every fact; this module only gives them types.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from airtoll import _native
from airtoll.border.answers import GenerationRow, SpacesRow


@frozen
class Spaces:
    """Times of a band: microseconds; ``cw_min`` in slots."""

    slot_us: float
    sifs_us: float
    cw_min: int
    signal_extension_us: float


@frozen
class Generation:
    """One PHY generation. Rates are in Mb/s, widths in MHz, times in microseconds.

    ``rates_mbps`` is empty and ``mcs_top`` set where rates have MCS indices. The first of
    ``bands`` is the default. ``symbol_us`` and ``service_and_tail_bits`` are None for DSSS.
    """

    name: str
    format: str
    bands: dict[str, Spaces]
    widths_mhz: tuple[int, ...]
    guard_intervals_ns: tuple[int, ...]
    rates_mbps: tuple[float, ...]
    mandatory_rates_mbps: tuple[float, ...]
    dsss: bool
    mcs_top: int | None
    streams: int | None
    ampdu_octets: int | None
    window: int | None
    shortest_preamble_us: float
    long_preamble_us: float
    symbol_us: float | None
    service_and_tail_bits: int | None

    @property
    def highest_mbps(self) -> float | None:
        """The highest rate in Mb/s; None where rates have MCS indices."""
        return max(self.rates_mbps, default=None)

    @property
    def spaces(self) -> Spaces:
        """Times of the default band."""
        return next(iter(self.bands.values()))


def _spaces(row: SpacesRow) -> Spaces:
    return Spaces(
        slot_us=row["slot_us"],
        sifs_us=row["sifs_us"],
        cw_min=row["cw_min"],
        signal_extension_us=row["signal_extension_us"],
    )


def _generation(row: GenerationRow) -> Generation:
    return Generation(
        name=row["name"],
        format=row["format"],
        bands={spaces["band"]: _spaces(spaces) for spaces in row["bands"]},
        widths_mhz=tuple(row["widths_mhz"]),
        guard_intervals_ns=tuple(row["guard_intervals_ns"]),
        rates_mbps=tuple(row["rates_mbps"]),
        mandatory_rates_mbps=tuple(row["mandatory_rates_mbps"]),
        dsss=row["dsss"],
        mcs_top=row["mcs_top"],
        streams=row["streams"],
        ampdu_octets=row["ampdu_octets"],
        window=row["window"],
        shortest_preamble_us=row["shortest_preamble_us"],
        long_preamble_us=row["long_preamble_us"],
        symbol_us=row["symbol_us"],
        service_and_tail_bits=row["service_and_tail_bits"],
    )


#: Name (``802.11n``) -> generation, oldest first.
GENERATIONS: Final = {row["name"]: _generation(row) for row in _native.phy_generations()}
#: Name -> highest rate in Mb/s, of the generations without MCS indices.
HIGHEST_MBPS: Final = {
    name: own.highest_mbps for name, own in GENERATIONS.items() if own.highest_mbps is not None
}
