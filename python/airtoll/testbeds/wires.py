"""Wired links of a resolved scenario, from the cables of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airtoll import border

if TYPE_CHECKING:
    from airtoll.study import Phy, WiredLink


def cable(near: str, far: str, wired: WiredLink, phy: Phy) -> border.WiredLink:
    """The link between two nodes over a cable of the study; ``phy`` decides its default rate."""
    # The worker in a guest loads this module, and each library costs it seconds.
    from airtoll.study.generations import wire_mbps

    return border.WiredLink(
        nodes=(near, far),
        rate_bps=wire_mbps(wired, phy) * 1e6,
        delay_s=wired.delay_us * 1e-6,
        queue_packets=wired.queue_packets,
        loss_ratio=wired.loss_ratio,
    )
