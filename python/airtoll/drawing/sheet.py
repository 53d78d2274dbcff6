"""Shapes at points of a sheet: what every form of a figure is written from.

The origin is the upper left corner, y grows downward, the unit is the point (1/72 inch).
"""

from __future__ import annotations

from attrs import define, field, frozen


@frozen
class Stroke:
    """Straight pieces through points; ``closed`` areas may be filled. "none" is no colour."""

    points: tuple[tuple[float, float], ...]
    closed: bool = False
    stroke: str = "none"
    width: float = 1.0
    fill: str = "none"
    alpha: float = 1.0
    dash: tuple[float, float] | None = None


@frozen
class Disc:
    """A circle."""

    x: float
    y: float
    radius: float
    stroke: str
    width: float
    fill: str
    alpha: float


@frozen
class Words:
    """A line of text; ``anchor``: "start", "middle" or "end" of it lies at x; y is its baseline.

    ``upward``: the text runs from the bottom to the top.
    """

    text: str
    x: float
    y: float
    size: float
    anchor: str = "start"
    upward: bool = False


Shape = Stroke | Disc | Words


@frozen
class Group:
    """Shapes that say one text when pointed at; None: nothing."""

    shapes: tuple[Shape, ...]
    say: str | None = None


@define
class Sheet:
    """A laid out panel, in points."""

    width: float
    height: float
    groups: list[Group] = field(factory=list)

    def put(self, *shapes: Shape, say: str | None = None) -> None:
        """Add shapes on top."""
        if shapes:
            self.groups.append(Group(shapes, say))
