"""Lost frames under fading, by width, part of the channel and delay spread; the rates that suit it.

Stations 10 dB above the noise get or send saturated UDP datagrams of 1472 octets at MCS 0 of
802.11ax, each frame once. The same at the highest MCS that the study chooses by the level.

    python benchmarks/several_paths.py
"""

from __future__ import annotations

from statistics import fmean
from typing import Any

from airtoll.plan import make_plan
from airtoll.plan.rates import by_level
from airtoll.study import Study
from airtoll.testbeds.simulator import Simulator

#: Name and RMS delay spread, ns, of the channel models of IEEE 802.11-03/940r4.
SPREADS = {"one path": 0.0, "B": 15.0, "D": 50.0, "F": 150.0}
#: Level 10 dB above the noise at a width, dBm, and that of the second table, 25 dB above it.
LEVELS = {20: -84.0, 80: -78.0}
MORE_DB = 15.0
TRIALS = 8


def cell_of(width: int, spread_ns: float | None, level_dbm: float, **settings: Any) -> Any:
    """A plan with one cell; ``spread_ns`` ``None``: without fading."""
    radio = {} if spread_ns is None else {"fading": "rayleigh", "delay_spread_ns": spread_ns}
    own = {"phy": "802.11ax", "width_mhz": width, "rssi_dbm": level_dbm, "radio": radio}
    data = {
        "study": {"name": "paths", "title": "Paths", "baseline": "open"},
        "scenario": {"one": own | settings},
        "traffic": {"load": {"transport": "udp", "duration_s": 4}},
        "grid": {"scenario": ["one"], "traffic": ["load"], "policy": ["open"]},
    }
    return make_plan(Study.model_validate(data), repetitions=TRIALS)


def measured(plan: Any, metric: str) -> float:
    """Mean over trials of a metric, summed over flows where it has any."""
    (cell,) = plan.cells
    testbed = Simulator()
    if (skip := testbed.check(cell)) is not None:
        raise SystemExit(skip.reason)
    totals = []
    for number in range(1, TRIALS + 1):
        rows = [r for r in testbed.measure(plan.trial(cell, number, 1)).rows if r.metric == metric]
        flows = [r.value for r in rows if r.flow and r.second is None]
        totals.append(sum(flows) if flows else rows[0].value)
    return fmean(totals)


def lost(width: int, spread_ns: float, **settings: Any) -> float:
    """Share of the throughput without fading that is missing."""
    at = (LEVELS[width],)
    own = {"mcs": 0, "retry_limit": 1} | settings
    clear = measured(cell_of(width, None, *at, **own), "throughput_bps")
    return 1 - measured(cell_of(width, spread_ns, *at, **own), "throughput_bps") / clear


def main() -> None:
    """Print both tables."""
    shared = {"topology": "downlink", "ofdma": "downlink"}
    print("| paths | 20 MHz | 80 MHz | 242 tones of 80 MHz | 52 tones of 80 MHz |")
    print("|---|---|---|---|---|")
    for name, spread in SPREADS.items():
        cells = [
            lost(20, spread),
            lost(80, spread),
            lost(80, spread, clients=4, **shared),
            lost(80, spread, clients=16, **shared),
        ]
        print(f"| {name} | " + " | ".join(f"{100 * one:.1f} %" for one in cells) + " |")
    print()
    print("| paths | 20 MHz | 80 MHz |")
    print("|---|---|---|")
    for name, spread in SPREADS.items():
        chosen_at = []
        for width, level in LEVELS.items():
            plan = cell_of(width, spread, level + MORE_DB)
            settings = plan.cells[0].settings
            chosen = by_level(settings, settings.stations[0], 4.0)
            assert chosen is not None
            margin = level + MORE_DB - chosen.level_dbm
            rate = measured(plan, "throughput_bps") / 1e6
            chosen_at.append(f"MCS {chosen.mcs}, {margin:.1f} dB, {rate:.1f} Mb/s")
        print(f"| {name} | " + " | ".join(chosen_at) + " |")


if __name__ == "__main__":
    main()
