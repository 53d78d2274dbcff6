"""The level of a station, its streams and its MCS, from what is said of the place.

Takes a level or a distance; gives the keys of a scenario, and words. Measures nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from attrs import frozen

from airtoll.advising.situation import Situation
from airtoll.errors import UsageError
from airtoll.plan.levels import level_dbm
from airtoll.plan.rates import by_level
from airtoll.study import Scenario
from airtoll.study.generations import HIGHEST_MBPS

#: Farther away the model of indoor loss says nothing, m.
_FARTHEST_M: Final = 1000.0
_WEAKEST_DBM: Final = -110.0
_STREAMS: Final = (2, 1)


@frozen
class Reach:
    """``level_dbm``: of the station, sent with ``power_dbm``. ``streams``, ``mcs``: the fastest
    that arrive at it; None with a PHY without MCSs, whose rate Minstrel finds.
    """

    level_dbm: float
    power_dbm: float
    streams: int | None
    mcs: int | None


def place_of_station(situation: Situation) -> dict[str, Any]:
    """The station's keys for its level or distance; none where nothing is said of them."""
    if situation.distance_m is not None:
        if not 0 <= situation.distance_m <= _FARTHEST_M:
            raise UsageError(f"--distance {situation.distance_m:g}: 0 to {_FARTHEST_M:g} m")
        return {"position_m": [situation.distance_m, 0.0]}
    if situation.level_dbm is not None:
        if not _WEAKEST_DBM <= situation.level_dbm <= 0:
            raise UsageError(f"--level {situation.level_dbm:g}: {_WEAKEST_DBM:g} to 0 dBm")
        return {"rssi_dbm": situation.level_dbm}
    return {}


def reach(situation: Situation, radio: Mapping[str, Any]) -> Reach | None:
    """The reach on a radio (``phy``, ``band``, ``width_mhz``); None where the station is near.

    Raises ``UsageError`` where not even the lowest MCS arrives.
    """
    own = place_of_station(situation)
    if not own:
        return None
    known = {key: radio[key] for key in ("phy", "band", "width_mhz") if radio.get(key) is not None}
    for streams in _STREAMS if situation.place != "sensor" else (1,):
        told = {**known, "streams": streams} if known["phy"] not in HIGHEST_MBPS else known
        settings = Scenario.model_validate({**told, "stations": [{"name": "A", **own}]})
        (station,) = settings.stations
        level = level_dbm(settings, station)
        assert level is not None
        if known["phy"] in HIGHEST_MBPS:
            return Reach(level, settings.radio.tx_power_dbm, None, None)
        chosen = by_level(settings, station, 1.0)
        if chosen is not None and chosen.arrives:
            return Reach(level, settings.radio.tx_power_dbm, chosen.streams, chosen.mcs)
    said = "--level" if situation.distance_m is None else "--distance"
    raise UsageError(
        f"{said}: {level:.0f} dBm are too weak for {known['phy']}"
        f"{' at ' + str(known['width_mhz']) + ' MHz' if 'width_mhz' in known else ''}: of frames "
        "with the lowest MCS fewer than nine of ten arrive"
    )


def in_words(situation: Situation, found: Reach) -> str:
    """``at -75 dBm``, or ``at 20 m indoors (-71 dBm, sent with 15)``."""
    if situation.distance_m is not None:
        level = f"{found.level_dbm:.0f} dBm, sent with {found.power_dbm:g}"
        return f"at {situation.distance_m:g} m indoors ({level})"
    return f"at {found.level_dbm:g} dBm"
