"""Tables in batches of cells, so that intermediate tables stay small.

Every step of an analysis that looks at one cell at a time gives the same rows for a batch.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import polars as pl

#: Rows of a batch, after which it ends with its last cell. A thousand cells have about as many.
ROWS: Final = 50_000


def by_cells(frame: pl.DataFrame) -> Iterator[pl.DataFrame]:
    """The rows of some cells at a time, in the order of their names; one batch at least.

    A batch holds whole cells: ``ROWS`` rows and those that its last cell has beyond.

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
    while start + ROWS < frame.height:
        end = ends[int(ends.search_sorted(start + ROWS, "left"))]
        yield frame.slice(start, end - start)
        start = end
    if start < frame.height or not start:
        yield frame.slice(start) if start else frame
