"""The verdict on a pair of throughputs: what security alone costs, more than that, or less.

The octets of security cost a share that follows from the air. The measured fall has an interval.
A fall is more than this share where the whole interval is above it. The intervals of several
readings hold together, as those of :mod:`~airtoll.analyse.explain.differing` do.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Final, Literal

from attrs import frozen

from airtoll.analyse.explain.differing import alone, differences, octets_alone
from airtoll.analyse.explain.evidence import Reading, Setting
from airtoll.observe.spoken import spoken

#: Fall above the expected one that an interval may hold and still say that nothing is slow.
_HIDDEN: Final = 0.1
#: Largest unnoticed fall: an interval that holds it and zero tells neither.
_UNNOTICED: Final = spoken("throughput_bps").unnoticed
#: Part of the air's throughput below which another limit than security holds in both.
_LIMITED: Final = 0.6

Says = Literal["alone", "undecided", "limited", "more", "less"]


@frozen
class Verdict:
    """The fall of a throughput as shares of the one before: expected of octets, and measured.

    ``low`` and ``high``: bounds of the measured one. ``says``: ``alone`` where security's octets
    explain it, ``undecided`` where the interval may hide a fall besides, or holds both none and one
    that anyone would notice, ``limited`` where octets
    explain it and both are far below the air, ``more`` or ``less`` than the octets explain.
    ``family``: number of readings whose intervals hold together. ``differed``: whether the
    reading alone would differ, and does not among the others.
    """

    reading: Reading
    expected: float
    measured: float
    low: float
    high: float
    says: Says
    family: int = 1
    differed: bool = False


def verdicts(setting: Setting, readings: Sequence[Reading]) -> tuple[Verdict, ...]:
    """One verdict for each throughput with both values."""
    found = differences(readings)
    given: list[Verdict] = []
    for one in found:
        reading = one.reading
        if reading.quantity != "throughput_bps" or not reading.before:
            continue
        expected = 1 - octets_alone(setting, reading) / reading.before
        # A larger logarithm is a smaller fall.
        measured, low, high = (-math.expm1(x) for x in (one.change, one.high, one.low))
        says: Says = "alone"
        if low > expected:
            says = "more"
        elif high < expected:
            says = "less"
        elif high - expected > _HIDDEN:
            says = "undecided"
        elif reading.before < _LIMITED * setting.of(reading.flow).before:
            says = "limited"
        differed = alone(reading).is_real and not one.is_real
        if says == "alone" and low <= 0 and high > _UNNOTICED and not differed:
            says = "undecided"
        given.append(Verdict(reading, expected, measured, low, high, says, len(found), differed))
    return tuple(given)
