"""The re-run rule: whether a fresh trial lies too far below those before it.

Takes the value of a trial and the values of the trials accepted before; gives the reason to run it
again, or nothing. Never runs a trial. Source: McCarter 2006, section 5.4.1.3: the mean and
deviation of the trials so far are kept, and a value more than five deviations below is excluded
and its trial run again.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence


def rerun_reason(
    value: float, before: Sequence[float], *, below_sigma: float, minimum_trials: int
) -> str | None:
    """Why a trial is to be run again; ``None`` if it stands.

    ``before``: accepted values in the order of their trials. The deviation is the sample one
    (n - 1). A rule with no spread to go by (deviation zero) never fires.
    """
    if len(before) < max(2, minimum_trials):
        return None
    mean = statistics.fmean(before)
    deviation = statistics.stdev(before)
    if deviation == 0.0 or value >= mean - below_sigma * deviation:
        return None
    return (
        f"{value:.6g} is {(mean - value) / deviation:.1f} standard deviations below the mean "
        f"{mean:.6g} of the {len(before)} trials before it (limit {below_sigma:g})"
    )
