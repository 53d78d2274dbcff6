"""Wired links of a resolved scenario, from the cables of a study."""

from __future__ import annotations

from typing import TYPE_CHECKING

from airtoll import border

if TYPE_CHECKING:
    from airtoll.study import Phy, WiredLink


def cable(
    near: str, far: str, wired: WiredLink, phy: Phy, host: border.Host | None = None
) -> border.WiredLink:
    """The link between two nodes over a cable of the study; ``phy`` decides its default rate.

    ``host``: the wired host at its end, which decides the default queue discipline: systemd sets
    ``net.core.default_qdisc`` to ``fq_codel``, where Linux itself and older systems have
    ``pfifo_fast``.
    """
    # The worker in a guest loads this module, and each library costs it seconds.
    from airtoll.study.generations import wire_mbps, wire_queue_packets

    today = host is not None and host.tcp == border.TcpSystem.LINUX_6
    discipline = wired.queue_type or ("fq_codel" if today else "fifo")
    return border.WiredLink(
        nodes=(near, far),
        rate_bps=wire_mbps(wired, phy) * 1e6,
        delay_s=wired.delay_us * 1e-6,
        queue_packets=wire_queue_packets(wired, discipline),
        loss_ratio=wired.loss_ratio,
        discipline=border.WireDiscipline(discipline),
    )
