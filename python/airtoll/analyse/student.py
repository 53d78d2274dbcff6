"""Student's t distribution and the normal one: quantiles and tails.

The functions equal ``scipy.stats.t`` and ``scipy.stats.norm``, by the special functions that these
use: ``scipy.stats`` takes longer to load than most studies take to analyse. Results without an
answer are NaN.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy
from numpy.typing import ArrayLike


def t_quantile(level: ArrayLike, degrees: ArrayLike) -> Any:
    """Two-sided quantile of Student's t: P(|t| <= q) = level; NaN for no degrees of freedom.

    Arguments broadcast; scalars give a scalar.
    """
    found = scipy.special.stdtrit(degrees, (1 + np.asarray(level)) / 2)
    return np.where(np.asarray(degrees) > 0, found, np.nan)[()]


def t_below(x: ArrayLike, degrees: ArrayLike) -> Any:
    """The probability that Student's t lies below ``x``; NaN for no degrees of freedom."""
    found = scipy.special.stdtr(degrees, x)
    return np.where(np.asarray(degrees) > 0, found, np.nan)[()]


def t_above(x: ArrayLike, degrees: ArrayLike) -> Any:
    """The probability that Student's t lies above ``x``; NaN for no degrees of freedom."""
    return t_below(-np.asarray(x), degrees)


def normal_quantile(p: ArrayLike) -> Any:
    """The value below which a standard normal variable lies with probability ``p``."""
    return scipy.special.ndtri(p)


def normal_below(x: ArrayLike) -> Any:
    """The probability that a standard normal variable lies below ``x``."""
    return scipy.special.ndtr(x)
