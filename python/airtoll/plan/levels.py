"""Levels of stations at their access point, from what a study states: levels, places, walls.

Takes a scenario and a station, gives dBm. Never runs anything.
"""

from __future__ import annotations

import math
from typing import Final

from airtoll.study import Scenario, Station
from airtoll.study.generations import band_of

#: Free-space loss at one metre, dB (Friis, 2437 MHz, 5180 MHz and 5955 MHz).
_REFERENCE_DB: Final = {"2.4ghz": 40.2, "5ghz": 46.7, "6ghz": 47.9}
#: The loss between all nodes where the study gives neither positions nor levels, dB.
CONSTANT_LOSS_DB: Final = 60.0
#: TXPWRref of a station with up to two streams, and OBSS_PDmin, dBm (IEEE Std 802.11ax-2021,
#: 26.10.2.4).
_REFERENCE_POWER_DBM: Final = 21.0
_LEAST_OBSS_PD_DBM: Final = -82.0
#: Interval at which a walking station measures its access point, seconds: 100 TU.
_STEP_S: Final = 0.1024
#: Share of places and of instants whose level a rate has to suit.
_SURELY: Final = 0.9
#: Standard deviations above the mean of that share of a normal distribution.
_NORMAL: Final = 1.2816


def level_dbm(settings: Scenario, station: Station) -> float | None:
    """The level of a station at the AP and back, dBm: as stated, or by its place and walls.

    ``None`` where the study names none of them.
    """
    level = stated_level(settings, station)
    if level is not None:
        return level
    loss = loss_db(settings, station)
    return None if loss is None else settings.radio.tx_power_dbm - loss


def lowered_db(settings: Scenario) -> float:
    """How far a node lowers its power while it reuses the channel, dB."""
    radio = settings.radio
    if radio.obss_pd_dbm is None:
        return 0.0
    limit = _REFERENCE_POWER_DBM - (radio.obss_pd_dbm - _LEAST_OBSS_PD_DBM)
    return max(0.0, radio.tx_power_dbm - limit)


def stated_level(settings: Scenario, station: Station) -> float | None:
    """The level that the study states, dBm."""
    return settings.rssi_dbm if station.rssi_dbm is None else station.rssi_dbm


def loss_db(settings: Scenario, station: Station) -> float | None:
    """Path loss between a station with a place or walls and the AP, dB; ``None`` without them."""
    if not station.walls and station.position_m is None:
        return None
    place = station.position_m or settings.ap.position_m
    loss = _distance_loss_db(settings, math.dist(place, settings.ap.position_m))
    # Rounded, so that the last bit of a platform's logarithm changes nothing.
    return round(loss + station.walls * settings.radio.wall_db, 6)


def _distance_loss_db(settings: Scenario, distance_m: float) -> float:
    exponent = settings.radio.path_loss_exponent
    return reference_db(settings) + 10 * exponent * math.log10(max(1.0, distance_m))


def reference_db(settings: Scenario) -> float:
    """Path loss at one metre in the band of the PHY, dB."""
    return _REFERENCE_DB[band_of(settings)]


def mean_level_dbm(settings: Scenario, station: Station, duration_s: float) -> float:
    """The mean level of a station at its AP, dBm; of a walking one the lowest on its way.

    ``duration_s``: how long it walks.
    """
    if settings.topology[0] in "nr":
        # Two domains have one loss, whatever else the study says of places.
        return settings.radio.tx_power_dbm - CONSTANT_LOSS_DB
    walks = settings.handover is not None and settings.handover.walk is not None
    if walks and station.position_m is not None and _moves(settings, station):
        return _lowest_on_the_way(settings, station, duration_s)
    level = level_dbm(settings, station)
    if level is not None:
        return level
    loss = CONSTANT_LOSS_DB
    if any(one.position_m is not None for one in settings.stations):
        # A node without a place is at the origin.
        loss = _distance_loss_db(settings, math.hypot(*settings.ap.position_m))
    return settings.radio.tx_power_dbm - loss


def sure_level_dbm(settings: Scenario, station: Station, duration_s: float) -> float:
    """The level that nine of ten places (shadowing) and instants (fading) have at least, dBm.

    With spatial reuse also the frames that are sent with less power have it. Of fading whose gain
    differs over the channel it is the mean: there the instants depend on the modulation (`rates`).
    """
    margin = _NORMAL * settings.radio.shadowing_db + _fade_db(settings) + lowered_db(settings)
    return mean_level_dbm(settings, station, duration_s) - margin


def _moves(settings: Scenario, station: Station) -> bool:
    moving = 0 if settings.handover is None else settings.handover.stations
    # The last station stands for all further ones (`clients`).
    return any(one.name == station.name for one in settings.stations[:moving])


def _lowest_on_the_way(settings: Scenario, station: Station, duration_s: float) -> float:
    """The lowest level of a walking station at its AP, dBm; its joins take no time."""
    handover = settings.handover
    assert handover is not None
    assert handover.walk is not None
    assert station.position_m is not None
    walk, begin = handover.walk, station.position_m
    (x, y), (next_x, next_y) = settings.ap.position_m, handover.next_ap_m
    points = [(x + n * (next_x - x), y + n * (next_y - y)) for n in range(max(handover.path))]
    way = [0, *(number - 1 for number in handover.path)]
    length = math.dist(begin, walk.to_m)

    def level(point: int, gone: float) -> float:
        share = 1.0 if length == 0 else min(1.0, gone / length)
        place = [a + share * (b - a) for a, b in zip(begin, walk.to_m, strict=True)]
        loss = _distance_loss_db(settings, math.dist(place, points[point]))
        return settings.radio.tx_power_dbm - loss

    lowest, at, not_before = math.inf, 0, 0.0
    for step in range(int(duration_s / _STEP_S) + 1):
        now = step * _STEP_S
        gone = walk.speed_m_s * now
        if walk.back and gone > length:
            gone = max(0.0, 2 * length - gone)
        own = level(way[at], gone)
        lowest = min(lowest, own)
        if at + 1 < len(way) and own < walk.threshold_dbm and now >= not_before:
            not_before = now + handover.again_s
            if level(way[at + 1], gone) >= own + walk.hysteresis_db:
                at += 1
    return round(lowest, 6)


def _fade_db(settings: Scenario) -> float:
    """How far below its mean the level of a fading link is in one of ten instants, dB."""
    radio = settings.radio
    if radio.fading == "none" or radio.delay_spread_ns > 0:
        return 0.0
    factor = 0.0 if radio.rician_k_db is None else 10 ** (radio.rician_k_db / 10)
    low, high = 0.0, 1.0
    # The distribution rises: 40 halvings are more than enough.
    for _ in range(40):
        middle = (low + high) / 2
        low, high = (middle, high) if _below(middle, factor) < 1 - _SURELY else (low, middle)
    return round(-10 * math.log10(high), 6)


def _below(power: float, factor: float) -> float:
    """Probability that a Rician channel with this K-factor has less than this share of its mean.

    A mixture of Erlang distributions with Poisson weights; 0: Rayleigh.
    """
    scaled = (1 + factor) * power
    weight, term, tail, total = math.exp(-factor), math.exp(-scaled), math.exp(-scaled), 0.0
    for n in range(400):
        total += weight * (1 - tail)
        weight *= factor / (n + 1)
        term *= scaled / (n + 1)
        tail += term
    return total
