"""The channel of a laboratory for a cell: band, width and country.

Takes a cell and a ``lab.toml``; gives the reason why its channel does not fit, or None. Channels
and their centres: IEEE Std 802.11-2020, annex E.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from airtoll.plan import Cell
from airtoll.study.generations import band_of
from airtoll.testbeds.linux.laboratory import regulation
from airtoll.testbeds.linux.laboratory.lab import Lab
from airtoll.testbeds.linux.laboratory.regulation import Flag

_WORDS: Final = {"2.4ghz": "2.4 GHz", "5ghz": "5 GHz", "6ghz": "6 GHz"}
#: First and last channel of the parts of 5 GHz in which wider channels are built.
_PARTS_OF_5: Final = ((36, 64), (100, 144), (149, 161))
#: Channels of 20 MHz alone behind them.
_SINGLE_OF_5: Final = (165, 169, 173, 177)
_LAST_OF_6: Final = 233
_JAPANESE: Final = 14


def why_not(cell: Cell, lab: Lab, database: Path | None = None) -> str | None:
    """Why a cell cannot use the laboratory's channel of its band, or None.

    ``database``: a regulatory database in place of this machine's.
    """
    settings = cell.settings
    band, phy, width = band_of(settings), settings.phy, settings.width_mhz
    words = _WORDS[band]
    if band != "6ghz" and lab.lab.channel and not lab.lab.names_channel_in(band):
        named = ", ".join(map(str, lab.lab.channel))
        return (
            f"phy = {phy}: it is at {words}, and [lab] channel = {named} is not; add a channel of "
            f"that band, as in channel = [6, 36]"
        )
    channel = lab.lab.channel_of(band)
    place = f"channel {channel} at {words}"
    span = span_mhz(band, channel, width)
    if span is None:
        return f"width_mhz = {width}: {place} is part of no channel of {width} MHz"
    if channel == _JAPANESE and band == "2.4ghz" and phy != "802.11b":
        return f"phy = {phy}: {place} is for 802.11b alone"
    country = lab.lab.country
    known = regulation.countries(database)
    if country is None or known is None:
        return None
    if country not in known:
        return f"[lab] country = {country}: wireless-regdb does not know it"
    rules = regulation.governing(known[country], *span)
    if not rules:
        return (
            f"{place}, {width} MHz: not allowed in {country} ({span[0]:g} to {span[1]:g} MHz): "
            "[lab] channel"
        )
    if any(Flag.NO_IR in rule.flags for rule in rules):
        return f"{place}: in {country} no access point may begin there (NO-IR): [lab] channel"
    if phy != "802.11b" and any(Flag.NO_OFDM in rule.flags for rule in rules):
        return f"phy = {phy}: {place} is without OFDM in {country}"
    return None


def note(cell: Cell, lab: Lab, database: Path | None = None) -> str | None:
    """A remark on the channel of a cell that fits, or None."""
    band, country = band_of(cell.settings), lab.lab.country
    channel = lab.lab.channel_of(band)
    known = regulation.countries(database)
    place = f"channel {channel} at {_WORDS[band]}"
    if country is None:
        return "[lab] names no country: whether its channels are allowed is not checked"
    if known is None:
        return "no regulatory database here (wireless-regdb): allowed channels are not checked"
    span = span_mhz(band, channel, cell.settings.width_mhz)
    rules = () if span is None else regulation.governing(known.get(country, ()), *span)
    if any(Flag.DFS in rule.flags for rule in rules):
        return f"{place}: radar has priority: the access point listens for a minute or more first"
    return None


def span_mhz(band: str, channel: int, width_mhz: int) -> tuple[float, float] | None:
    """Begin and end of the channel of this width around a primary channel, MHz; None: none is."""
    count = width_mhz // 5
    if band == "2.4ghz":
        middle = 2484 if channel == _JAPANESE else 2407 + 5 * channel
        if width_mhz == 20 and 1 <= channel <= _JAPANESE:
            return middle - 10, middle + 10
        if width_mhz == 40 and 1 <= channel < _JAPANESE:
            # The second channel is above, or below where there is none.
            above = channel <= 9
            return (middle - 10, middle + 30) if above else (middle - 30, middle + 10)
        return None
    if band == "6ghz":
        first = 1 + (channel - 1) // count * count
        if (channel - 1) % 4 or first + count - 4 > _LAST_OF_6:
            return None
        return _around(5950, first, count)
    if channel in _SINGLE_OF_5:
        return _around(5000, channel, 4) if width_mhz == 20 else None
    for begin, last in _PARTS_OF_5:
        if begin <= channel <= last and (channel - begin) % 4 == 0:
            first = begin + (channel - begin) // count * count
            return _around(5000, first, count) if first + count - 4 <= last else None
    return None


def _around(base_mhz: int, first: int, count: int) -> tuple[float, float]:
    begin = base_mhz + 5 * first - 10
    return begin, begin + 5 * count
