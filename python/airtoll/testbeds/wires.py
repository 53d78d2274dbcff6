"""Wired links of a resolved scenario, from the cables of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airtoll import border

if TYPE_CHECKING:
    from airtoll.study import WiredLink


def cable(near: str, far: str, wired: WiredLink) -> border.WiredLink:
    """The link between two nodes over a cable of the study."""
    return border.WiredLink(
        nodes=(near, far),
        rate_bps=wired.rate_mbps * 1e6,
        delay_s=wired.delay_us * 1e-6,
        queue_packets=wired.queue_packets,
    )
