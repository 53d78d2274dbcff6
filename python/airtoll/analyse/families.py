"""Families of tests: primary metrics against exploratory ones.

The primary metrics are those that a study answers with. All their comparisons form one family,
corrected by Holm (1979), so that a study without any effect shows a difference in at most 5 % of
its runs. Every other comparison is exploratory: Benjamini and Hochberg (1995) hold the share of
false findings among the findings.
"""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

import numpy as np
import polars as pl
from numpy.typing import NDArray

from airtoll.analyse.comparison import fdr_adjust, holm_adjust
from airtoll.analyse.estimate import Array

PRIMARY: Final = "primary"
EXPLORATORY: Final = "exploratory"


def primary_rows(
    metrics: pl.Series, answers: Collection[str], totalled: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Which comparisons are primary.

    ``totalled``: rows of one flow or station whose cell has the same metric as a total; the total
    is tested instead.
    """
    return metrics.is_in(list(answers)).to_numpy() & ~totalled


def adjusted(
    p: Array, primary: NDArray[np.bool_], repeats: NDArray[np.bool_]
) -> tuple[Array, NDArray[np.int64]]:
    """p values after correction and the size of each row's family.

    Rows that ``repeats`` marks belong to no family; their p value stays NaN.
    """
    result = np.full(p.shape, np.nan)
    sizes = np.zeros(p.shape, dtype=np.int64)
    for rows, correct in ((primary, holm_adjust), (~primary, fdr_adjust)):
        family = rows & ~repeats
        result[family] = correct(p[family])
        sizes[rows] = int((~np.isnan(p[family])).sum())
    return result, sizes
