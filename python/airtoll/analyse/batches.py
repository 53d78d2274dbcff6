"""Tables in batches of cells, so that intermediate tables stay small.

Every step of an analysis that looks at one cell at a time gives the same rows for a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

#: Cells of a batch. A thousand cells have some 50,000 observations.
CELLS: Final = 1000


def by_cells(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The rows of ``CELLS`` cells at a time, in the order of their names; one batch at least.

    Batches are slices of the frame. A filter would copy a frame of several chunks for each batch,
    and the batch would keep the whole copy alive.
    """
    runs = frame.select(pl.col("cell").rle()).unnest("cell")
    names = runs["value"].cast(pl.String)
    if not (names.is_sorted() and names.is_unique().all()):
        frame = frame.sort("cell", maintain_order=True)
        runs = frame.select(pl.col("cell").rle()).unnest("cell")
    ends = runs["len"].cast(pl.Int64).cum_sum()
    start = 0
    for last in range(CELLS, len(runs), CELLS):
        end = ends[last - 1]
        yield frame.slice(start, end - start)
        start = end
    yield frame.slice(start) if start else frame
