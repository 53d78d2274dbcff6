"""One value of an imported file.

Takes nothing; gives the frozen :class:`Value`. Units are those of the observation schema.
"""

from __future__ import annotations

from attrs import frozen

from airtoll.observe.metrics import METRICS


@frozen
class Value:
    """A metric's value; ``second`` for a value of a series; ``transport`` if the file has it."""

    metric: str
    value: float
    second: int | None = None
    flow: str | None = None
    transport: str | None = None

    @property
    def unit(self) -> str:
        """Unit of the metric."""
        return METRICS[self.metric][0]
