"""A station's walk: its position in time, and the levels of the access points there.

Takes numbers of a study; gives dBm. Levels are mean levels, as in the simulator.
"""

from __future__ import annotations

import math

from attrs import frozen

#: Nearer than this a level rises no further, metres.
_NEAREST_M = 1.0


@frozen
class Walk:
    """A walk in a straight line that begins with the traffic.

    ``begin_m`` and ``end_m``: its ends; ``back``: the station returns. ``access_points_m``:
    positions of the access points, the first one's first. ``at_one_metre_dbm`` and ``exponent``:
    level at one metre, and of the path loss. ``threshold_dbm``, ``hysteresis_db``, ``again_s``: as
    in a study's ``handover``.
    """

    begin_m: tuple[float, float]
    end_m: tuple[float, float]
    back: bool
    speed_m_s: float
    access_points_m: tuple[tuple[float, float], ...]
    at_one_metre_dbm: float
    exponent: float
    threshold_dbm: float
    hysteresis_db: float
    again_s: float

    def position_m(self, at_s: float) -> tuple[float, float]:
        """The place of the station ``at_s`` seconds after the start of the traffic."""
        length = math.dist(self.begin_m, self.end_m)
        gone = max(0.0, at_s) * self.speed_m_s
        if self.back and gone > length:
            gone = max(0.0, 2 * length - gone)
        share = min(gone / length, 1.0) if length else 0.0
        (x, y), (end_x, end_y) = self.begin_m, self.end_m
        return (x + share * (end_x - x), y + share * (end_y - y))

    def levels_dbm(self, at_s: float) -> tuple[float, ...]:
        """The level of each access point at that place."""
        place = self.position_m(at_s)
        return tuple(
            self.at_one_metre_dbm
            - 10 * self.exponent * math.log10(max(_NEAREST_M, math.dist(place, point)))
            for point in self.access_points_m
        )
