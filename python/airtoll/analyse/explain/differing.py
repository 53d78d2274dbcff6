"""Whether two measurements differ at all, and how much of a difference a mechanism leaves."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.analyse.explain.evidence import FACTORS, Reading, Setting
from airtoll.analyse.explain.mechanisms import unchanged
from airtoll.analyse.explain.ranking import Ranking

#: Level of the intervals of all readings together.
_LEVEL: Final = 0.95
#: Part of a difference from which on it is worth a sentence.
_WORTH: Final = 0.1


@frozen
class Difference:
    """The change of a reading: of its logarithm for factors, else of the share; with its bounds."""

    reading: Reading
    change: float
    low: float
    high: float

    @property
    def is_real(self) -> bool:
        """Whether the interval leaves out no change."""
        return not self.low <= 0.0 <= self.high


@frozen
class Left:
    """A throughput that fell by more than the best mechanism predicts, bit/s.

    Only where the octets of security are outside of the measured interval.
    ``fell``: measured. ``octets``: by the octets of security. ``best``: by the best mechanism.
    """

    reading: Reading
    fell: float
    octets: float
    best: float


def differences(readings: Sequence[Reading]) -> tuple[Difference, ...]:
    """The changes of the readings that have both values.

    The intervals hold together with 95 %: those of several readings are wider (Bonferroni).
    """
    both = [one for one in readings if one.before is not None and one.after is not None]
    return tuple(_difference(one, 1 - (1 - _LEVEL) / len(both)) for one in both)


def alone(reading: Reading) -> Difference:
    """The change of a reading that has both values, with the interval of it alone."""
    return _difference(reading, _LEVEL)


def differ(readings: Sequence[Reading]) -> bool:
    """Whether any reading changed beyond its spread, or has no value to compare with."""
    found = differences(readings)
    alone = any(one.before is None and one.after is not None for one in readings)
    return alone or any(one.is_real for one in found)


def _difference(reading: Reading, level: float) -> Difference:
    before, after = reading.before, reading.after
    assert before is not None
    assert after is not None
    if reading.quantity not in FACTORS:
        change = after - before
    elif before > 0 and after > 0:
        change = math.log(after / before)
    else:
        change = 0.0 if before == after else math.copysign(math.inf, after - before)
    margin = reading.margin(level)
    return Difference(reading, change, change - margin, change + margin)


def octets_alone(setting: Setting, reading: Reading) -> float:
    """The value after, where nothing but the octets of security changes it."""
    return unchanged(setting, reading).value


def left_of(setting: Setting, ranking: Ranking) -> Left | None:
    """The part of the first real fall of a throughput that the best mechanism does not explain.

    None where the octets of security alone lie in the interval of the fall.
    """
    explained = ranking.ranked[0].readings
    real = {
        one.reading.flow: one.high
        for one in differences([o.reading for o in explained])
        if one.is_real and one.reading.quantity == "throughput_bps"
    }
    for one in explained:
        reading = one.reading
        if (
            reading.quantity != "throughput_bps"
            or reading.flow not in real
            or reading.supposed
            or reading.before is None
            or reading.after is None
        ):
            continue
        alone_bps = octets_alone(setting, reading)
        if alone_bps <= reading.before * math.exp(real[reading.flow]):
            continue
        fell = reading.before - reading.after
        best = reading.before - one.predicted.value
        if fell - best > _WORTH * fell > 0:
            return Left(reading, fell, reading.before - alone_bps, best)
    return None
