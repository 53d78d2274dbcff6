"""Whether two cells of a plan send the same data frames.

Takes two cells; gives a truth value that follows from the plan alone, whatever was measured.
"""

from __future__ import annotations

from airtoll.plan.cells import Cell
from airtoll.plan.resolved_cell import resolved


def same_data_frames(one: Cell, other: Cell) -> bool:
    """Whether stations of both cells send data frames of equal octets by equal rules.

    They do where links and devices are the same after every gate, every station's policy and the
    access point's do the same to data frames, and no station joins or hands over while the trial
    lasts. Beacons may differ by the octets of their RSN element, and frames of joins by their AKM.
    Where stations pass by, each Probe Response differs so, too: then policies differ in what they
    take of the air.
    """
    a, b = resolved(one), resolved(other)
    settings = a.settings
    if a.refusal is not None or b.refusal is not None or settings != b.settings:
        return False
    if one.load != other.load or one.profile_names != other.profile_names:
        return False
    if settings.authenticate or settings.handover is not None:
        return False
    if settings.passers_by is not None and one.policy != other.policy:
        return False
    # A card's fault goes by the name of the policy.
    faults = settings.card.no_aggregation
    if (one.policy in faults) != (other.policy in faults):
        return False
    mine, theirs = ((cell.asked.security, *cell.policies) for cell in (a, b))
    return all(x.data_frames == y.data_frames for x, y in zip(mine, theirs, strict=True))
