"""The contrast of an analysis: each cell beside the reference cell of the same place.

A contrast is a factor and the level of the reference. By default the factor is the policy and the
level the baseline; a study may name another factor (``[study] against``), so that the cells of one
policy are compared with each other.
"""

from __future__ import annotations

import json
from typing import Any, Final

import polars as pl
from attrs import field, frozen

from airtoll.study import Head, Level

#: Axes of a cell that are columns of a table of observations.
_AXES: Final = ("scenario", "policy", "traffic")
#: Column with the factors other than that of the contrast, as JSON.
_OTHERS: Final = "other_factors"
_REFERENCE: Final = "is_reference"


@frozen
class Contrast:
    """Cells are compared with those that differ in ``factor`` alone, where it has ``level``.

    ``factor``: ``policy``, ``scenario``, ``traffic`` or a factor of the grid.
    """

    factor: str
    level: Level = field(eq=str)

    @classmethod
    def of(cls, head: Head) -> Contrast:
        """The contrast of a study: its ``against``, else its baseline policy."""
        for factor, level in head.against.items():
            return cls(factor, level)
        return cls("policy", head.baseline)

    @property
    def is_of_policies(self) -> bool:
        """Whether policies are compared."""
        return self.factor == "policy"

    @property
    def same(self) -> list[str]:
        """The columns that a cell and its reference share, after :meth:`split`."""
        axes = [axis for axis in _AXES if axis != self.factor]
        return [*axes, "factors" if self.factor in _AXES else _OTHERS]

    def _marked(self, frame: pl.DataFrame) -> pl.DataFrame:
        """``frame`` (columns of a cell) with the columns that ``same`` asks for."""
        if self.factor in _AXES:
            return frame.with_columns((pl.col(self.factor) == self.level).alias(_REFERENCE))
        known = {text: self._apart(text) for text in frame["factors"].unique().to_list()}
        return frame.with_columns(
            pl.col("factors")
            .replace_strict({t: of for t, (of, _) in known.items()}, return_dtype=pl.Boolean)
            .alias(_REFERENCE),
            pl.col("factors")
            .replace_strict({t: others for t, (_, others) in known.items()}, return_dtype=pl.String)
            .alias(_OTHERS),
        )

    def split(self, frame: pl.DataFrame) -> tuple[pl.DataFrame, pl.DataFrame]:
        """The reference's rows, and those of other levels, with the columns ``same``."""
        # A cell without the factor has neither.
        return self.references(frame), self.others(frame)

    def references(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The reference's rows, with the columns ``same``."""
        return self._marked(frame).filter(pl.col(_REFERENCE)).drop(_REFERENCE)

    def others(self, frame: pl.DataFrame) -> pl.DataFrame:
        """The rows of other levels, with the columns ``same``."""
        return self._marked(frame).filter(~pl.col(_REFERENCE)).drop(_REFERENCE)

    def _apart(self, factors: str) -> tuple[bool | None, str]:
        levels: dict[str, Any] = json.loads(factors)
        if self.factor not in levels:
            return None, factors
        mine = levels.pop(self.factor)
        # 1, 1.0 and true are equal, and different levels.
        return (type(mine), mine) == (type(self.level), self.level), json.dumps(
            levels, sort_keys=True, separators=(",", ":")
        )
