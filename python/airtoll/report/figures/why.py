"""Causes of a policy's cost: waterfalls from the ledger, and the staircase of symbols.

Takes a summary; gives pictures. A waterfall's parts add up to its last bar; nothing is smoothed.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from textwrap import fill
from typing import Any

from airtoll.analyse.symbols import FullFrame, full_frame
from airtoll.drawing.plate import INK, Panel, Picture, Plate, left_out, legend_below, new_plate
from airtoll.policies import resolve
from airtoll.present.names import policy_name
from airtoll.report.overhead_names import SHORT, symbol_step
from airtoll.report.palette import PARTS, colour
from airtoll.report.summary import RunSummary

#: Waterfalls drawn; the table has every cell.
_MOST_WATERFALLS = 20
#: Number of staircases drawn; they differ little.
_MOST_FRAMES = 6
#: A part below this share of the baseline's time is not drawn (it stays in the table).
_SMALLEST = 5e-5


def waterfalls(summary: RunSummary) -> Iterator[Picture]:
    """One waterfall per secured cell with a ledger."""
    frame = summary.decomposition
    if frame.is_empty():
        return
    plan = summary.plan.cells
    traffics = {name: i for i, name in enumerate(dict.fromkeys(cell.traffic for cell in plan))}
    known = set(frame["cell"])
    # Policies of one traffic are adjacent, the first traffic of every scenario first.
    found = sorted((cell for cell in plan if cell.name in known), key=lambda c: traffics[c.traffic])
    cells = [cell.name for cell in found]
    panels = []
    for cell in cells[:_MOST_WATERFALLS]:
        rows = frame.filter(cell=cell).rows(named=True)
        head = rows[0]
        title = summary.names.cell(str(head["cell"]))
        panels.append(Panel(title, partial(_waterfall, summary, cell, rows, title)))
    left = len(cells) - len(panels)
    yield Picture(
        "waterfall",
        "why",
        "Where did the overhead go?",
        "From the ledger of the air: each bar is what a part adds to (or saves from) the time of a "
        "delivered bit, in percent; black: their sum, the overhead."
        + left_out(left, "cells", "the table, or the CSV file next to the page"),
        tuple(panels),
    )


def staircase(summary: RunSummary) -> Iterator[Picture]:
    """The cost of added octets for a full-size frame, by PHY and rate."""
    frames: dict[FullFrame, set[str]] = {}
    for cell in summary.plan.cells:
        frame = full_frame(cell)
        if frame is not None:
            frames.setdefault(frame, set()).add(cell.traffic)
    marks: dict[int, list[str]] = {}
    for name in dict.fromkeys(cell.policy for cell in summary.plan.cells):
        policy = resolve(name)
        if name != summary.analysis.baseline and not policy.tunnels:
            added = policy.octets_per_mpdu + policy.octets_per_msdu
            marks.setdefault(added, []).append(policy_name(name))
    if not frames or not marks:
        return
    yield Picture(
        "octets",
        "theory",
        "What do added octets cost one frame?",
        "Airtime that octets add to one full-size frame. "
        + (
            "OFDM frames end on whole symbols of 4 microseconds, so several policies often cost "
            "exactly the same, or nothing."
            if any(frame.phy != "802.11b" for frame in frames)
            else "The airtime of DSSS and CCK frames grows by the octet, in whole microseconds."
        )
        + (
            f" Drawn for {_MOST_FRAMES} of {len(frames)} sizes and rates."
            if len(frames) > _MOST_FRAMES
            else ""
        ),
        tuple(
            Panel(_frame_title(frame, traffics), partial(_stairs, frame, marks, traffics))
            for frame, traffics in list(frames.items())[:_MOST_FRAMES]
        ),
        open_panels=4,
    )


def _waterfall(summary: RunSummary, cell: str, rows: Sequence[dict[str, Any]], title: str) -> Plate:
    shown = [r for r in rows if abs(r["value"]) >= _SMALLEST or r["part"] == "airtime_security_s"]
    total = sum(row["value"] for row in rows)
    step = symbol_step(summary.cells[cell])
    plate, axes = new_plate(0.95 + 0.2 * (len(shown) + 1), f"{title}\n{step}" if step else title)
    reached = 0.0
    for place, row in enumerate(shown):
        value = 100 * row["value"]
        bar = axes.barh(place, value, 0.7, left=100 * reached, color=PARTS[row["part"]])
        plate.say(bar, f"{SHORT[row['part']]}: {value:+.3f} points ({row['meaning']})")
        after = reached + row["value"]
        axes.plot([100 * after] * 2, [place - 0.35, place + 1.35], color=INK, lw=0.6)
        _value_text(axes, 100 * max(reached, after), place, f"{value:+.2f}")
        reached = after
    bar = axes.barh(len(shown), 100 * total, 0.7, color=INK)
    plate.say(bar, f"overhead: {100 * total:.3f} %")
    _value_text(axes, 100 * max(total, 0.0), len(shown), f"{100 * total:.2f}")
    axes.set_yticks(range(len(shown) + 1), [SHORT[row["part"]] for row in shown] + ["overhead"])
    axes.invert_yaxis()
    axes.margins(x=0.16)
    axes.axvline(0, color=INK, lw=0.8)
    axes.set_xlabel("points of overhead")
    return plate


def _value_text(axes: Any, x: float, place: int, text: str) -> None:
    axes.annotate(text, (x, place), xytext=(4, 0), va="center", fontsize=8.5)


def _stairs(frame: FullFrame, marks: dict[int, list[str]], traffics: set[str]) -> Plate:
    plate, axes = new_plate(2.7, _frame_title(frame, traffics))
    most = max([40, *marks]) + 4
    octets = list(range(most + 1))
    costs = [frame.step_us(n) for n in octets]
    axes.plot(octets, costs, drawstyle="steps-post", color=colour(0), lw=1.4)
    for index, (added, names) in enumerate(sorted(marks.items())):
        cost = frame.step_us(added)
        dot = axes.plot(added, cost, "o", ms=5, color=colour(index + 1))
        plate.say(
            dot,
            f"{', '.join(names)}: {added} octets, {cost:g} us of {frame.airtime_us:g} us",
        )
        axes.annotate(
            str(added), (added, cost), xytext=(0, 5),
            ha="center", fontsize=8.5,
        )  # fmt: skip
        axes.plot([], [], "o", ms=5, color=colour(index + 1), label=_names(added, names))
    axes.set_xlabel("octets added to the frame")
    axes.set_ylabel("airtime added, us")
    axes.margins(y=0.15)
    legend_below(plate, columns=1)
    return plate


def _names(added: int, names: Sequence[str]) -> str:
    more = f" and {len(names) - 2} more" if len(names) > 2 else ""
    return fill(f"{added}: {'; '.join(names[:2])}{more}", 56)


def _frame_title(frame: FullFrame, traffics: set[str]) -> str:
    names = sorted(traffics)
    words = ", ".join(names[:3]) + (" ..." if len(names) > 3 else "")
    return f"{frame.octets} octets at {frame.rate_mbps:g} Mb/s, {frame.phy} ({words})"
