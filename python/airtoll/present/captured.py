"""Words of two captures that are compared: the change, where most of it goes, what is not known.

Takes the parts of ``airtoll.analyse.captured`` and the security of both networks; gives sentences.
"""

from __future__ import annotations

from typing import Final

from airtoll.analyse.captured import CapturedOverhead
from airtoll.analyse.quantities import show_value

_OPEN: Final = "an open network"
#: A difference below this share is told as none.
_SAME: Final = 5e-5
_HALF: Final = 0.5
_JOINS: Final = "airtime_management_s"
_LABELS: Final = {
    "airtime_mac_phy_s": "preambles and headers",
    "airtime_ack_s": "acknowledgements",
    "unexplained": "between frames",
}


def part_label(part: str) -> str:
    """The name of a part of the difference, as the table has it."""
    short = part.removeprefix("airtime_").removesuffix("_s").replace("_", " ")
    return _LABELS.get(part, short)


def security_label(announced: tuple[str, ...] | None) -> str | None:
    """AKM and cipher of a network; ``None`` where its capture has no beacon or probe response."""
    if announced is None:
        return None
    return _OPEN if announced == ("open",) else "/".join(announced)


def compared(found: CapturedOverhead, before: str | None, after: str | None) -> list[str]:
    """Sentences: the change from ``before`` to ``after``, and the part that has most of it."""
    ends = (before or "the first capture", after or "the second capture")
    if before == after and before is not None:
        ends = (f"the first capture of {before}", "the second")
    share = abs(found.overhead)
    rates = [show_value(rate, "bit/s") for rate in (found.baseline_bps, found.secured_bps)]
    what = f"the rate of the {found.compared_by}"
    if share < _SAME:
        head = f"From {ends[0]} to {ends[1]}, {what} stays at {rates[1]}"
    else:
        verb = "falls" if found.overhead > 0 else "rises"
        of = "" if found.definition == "of_baseline" else " of the second one"
        head = (
            f"From {ends[0]} to {ends[1]}, {what} {verb} by {100 * share:.2f} %{of}, "
            f"from {rates[0]} to {rates[1]}"
        )
    lines = [f"{head}. Two captures have no interval: how much captures vary is not known."]
    top = max(found.parts.iter_rows(named=True), key=lambda row: abs(float(row["value"])))
    points = 100 * float(top["value"])
    if share >= _SAME and points * found.overhead > 0:
        most = "Most of it" if abs(points) > _HALF * 100 * share else "The largest part"
        once = (
            " Messages of joins count there: they come once a join, not with each frame."
            if top["part"] == _JOINS
            else ""
        )
        lines.append(
            f"{most} is {part_label(top['part'])}, {abs(points):.2f} of {100 * share:.2f} "
            f"points: {top['meaning']}.{once}"
        )
    return lines
