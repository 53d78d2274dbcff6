"""Rates of stations: those that a study states, and the highest MCS that a level supports.

Takes a cell as devices carry it out; gives rates of the resolved scenario, and their words. A fixed
rate suits the mean level; under shadowing, fading or a walk the level that nine of ten places and
instants have. Where the gain differs over the channel, an instant has the level of a flat channel
with as many losses (`effective_snr` of ``airtoll-phy``).
"""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from attrs import frozen

from airtoll import _native, border
from airtoll.plan import multi_link
from airtoll.plan.levels import sure_level_dbm
from airtoll.study import Scenario, Station
from airtoll.study.generations import HIGHEST_MBPS, band_of

_GUARD_NS: Final = 800


@frozen
class Chosen:
    """The highest MCS that a level supports.

    ``mcs`` at ``streams``, ``mbps``: its rate; ``level_dbm``: the level that it suits; ``arrives``:
    whether nine of ten frames of 1500 octets do (false: the lowest MCS stands in for none).
    """

    mcs: int
    streams: int
    mbps: float
    level_dbm: float
    arrives: bool


def bss_rate(settings: Scenario, duration_s: float) -> border.Rate:
    """The rate of a BSS: that of its first station, apart from what only this station states."""
    first = settings.stations[0]
    plain = first.model_copy(update={"mcs": None, "streams": None, "phy": None, "rate_mbps": None})
    return rate(settings, plain, duration_s)


def rate(settings: Scenario, station: Station, duration_s: float) -> border.Rate:
    """The rate of a station, both ways. ``settings`` has one link (``multi_link.alone``)."""
    phy = station.phy or settings.phy
    streams = station.streams or settings.streams
    if station.mcs is not None:
        return border.RateFixedMcs(mcs=station.mcs, streams=streams)
    if station.rate_mbps is not None and phy == settings.phy:
        return border.RateFixed(mbps=station.rate_mbps)
    if settings.rate_control == "aarf":
        return border.RateAarf(streams=streams)
    if settings.rate_control == "minstrel":
        return border.RateMinstrel(streams=streams)
    if station.rate_mbps is not None:
        return border.RateFixed(mbps=station.rate_mbps)
    if phy in HIGHEST_MBPS:
        own = settings.rate_mbps if phy == settings.phy else None
        return border.RateFixed(mbps=own or HIGHEST_MBPS[phy])
    chosen = by_level(settings, station, duration_s)
    if chosen is not None:
        return border.RateFixedMcs(mcs=chosen.mcs, streams=chosen.streams)
    return border.RateFixedMcs(mcs=settings.mcs or 0, streams=streams)


def by_level(settings: Scenario, station: Station, duration_s: float) -> Chosen | None:
    """The MCS that the level of a station decides; ``None`` where the study states its rate.

    ``settings`` has one link. Also ``None`` where the PHY has no such streams on the channel, which
    the check of the scenario refuses by name.
    """
    phy = station.phy or settings.phy
    stated = (station.mcs, settings.mcs, station.rate_mbps)
    if settings.rate_control != "fixed" or phy in HIGHEST_MBPS or stated != (None, None, None):
        return None
    level = sure_level_dbm(settings, station, duration_s)
    guard_ns = settings.guard_interval_ns or _GUARD_NS
    channel = (band_of(settings), settings.width_mhz, guard_ns, settings.coding)
    streams = station.streams or settings.streams
    radio = settings.radio
    paths = (radio.delay_spread_ns, radio.rician_k_db)
    return _highest(phy, channel, streams, level, radio.noise_figure_db, paths)


@lru_cache(maxsize=4096)
def _highest(
    phy: str,
    channel: tuple[str, int, int, str],
    streams: int,
    level: float,
    noise_figure_db: float,
    paths: tuple[float, float | None],
) -> Chosen | None:
    try:
        mcs, mbps, arrives, suits_dbm = _native.highest_mcs(
            phy, *channel, streams, level, noise_figure_db, *paths
        )
    except ValueError:
        return None
    return Chosen(mcs, streams, mbps, suits_dbm, arrives)


def link_rates(settings: Scenario, station: Station, duration_s: float) -> tuple[border.Rate, ...]:
    """The rates of a station, one for each link that it uses."""
    numbers = multi_link.links_of(settings, station)
    return tuple(rate(multi_link.alone(settings, n), station, duration_s) for n in numbers)
