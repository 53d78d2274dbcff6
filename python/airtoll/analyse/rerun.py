"""The re-run rules for a runner: the reason to run a trial again, or none.

The rule of deviations compares the value of a trial with those of the trials accepted before. The
rule itself is ``selection.needs_rerun`` (McCarter 2006, section 5.4.1.3), so that a run and a later
selection judge alike. The rule of agreement compares an attempt with the one before it (Tepšić:
measurements are recorded only when the results of two attempts are similar to 90 percent).
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from airtoll.analyse.quantities import show_value
from airtoll.analyse.selection import needs_rerun


def rerun_reason(
    value: float, before: Sequence[float], unit: str, *, below_sigma: float, minimum_trials: int
) -> str | None:
    """Why a trial is to be run again; ``None`` if it stands.

    ``before``: accepted values in the order of their trials, in SI ``unit``.
    """
    if not needs_rerun(before, value, below_sigma, minimum_trials):
        return None
    mean = statistics.fmean(before)
    deviation = statistics.stdev(before)
    away = f"{(mean - value) / deviation:.1f}" if deviation else "infinitely many"
    return (
        f"{show_value(value, unit)} is {away} standard deviations below the mean "
        f"{show_value(mean, unit)} of the {len(before)} trials before it (limit {below_sigma:g})"
    )


def disagreement_reason(value: float, before: float | None, unit: str, ratio: float) -> str | None:
    """Why an attempt is to be measured again; ``None`` if it agrees with the one before it.

    ``before``: value of the attempt before, in SI ``unit``; None for the first attempt.
    """
    if before is None:
        return f"{show_value(value, unit)}: a first attempt has none to agree with"
    low, high = sorted((value, before))
    if low >= ratio * high:
        return None
    return (
        f"{show_value(value, unit)} after {show_value(before, unit)}: the smaller is "
        f"{100 * low / high:.0f} % of the larger (limit {100 * ratio:g} %)"
    )
