"""Fairness among the stations of a cell.

Takes throughputs; gives one number. Never looks at policies.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike


def jain(values: ArrayLike) -> float:
    """Jain's index (Jain, Chiu, Hawe, DEC-TR-301, 1984): 1 if all are equal, 1 / n if one has all.

    NaN for no values and for zeros alone.
    """
    x = np.asarray(values, dtype=np.float64)
    squares = float((x * x).sum())
    return float(x.sum()) ** 2 / (x.size * squares) if squares > 0 else float("nan")
