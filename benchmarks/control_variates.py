"""Trials and CPU time saved by a control variate, measured in the simulator.

Runs ``quickstart`` with equal seeds, once as it is and once with ``trials.control = "backoff"``.
The square of the ratio of two intervals' widths is the factor of trials saved. Then the overhead of
WPA2 on 802.11a is measured until its interval is 0.05 points wide on either side, and the CPU time
of both runs is taken.

    python benchmarks/control_variates.py --out benchmarks/results/control_variates.json \
        --page docs/statistics.md
"""

from __future__ import annotations

import argparse
import json
import tempfile
import time
from pathlib import Path
from typing import Any

import polars as pl

from airtoll.report.summary import summarise
from airtoll.run import run

START, END = "<!-- control variates -->\n", "<!-- end of control variates -->\n"
CONTROLS = ("none", "backoff")
SHORT = {f"traffic.{name}.duration_s": 1.0 for name in ("udp", "tcp", "small")}
#: One secured cell and its baseline.
ONE = {"grid.policy": ["open", "wpa2-psk-ccmp"], "grid.traffic": ["udp"]}
PRECISION = 0.0005
_PLACE = ["policy", "traffic"]


def widths(control: str, trials: int, seed: int) -> pl.DataFrame:
    """Width of the interval of each overhead: policy, traffic, width."""
    with tempfile.TemporaryDirectory() as folder:
        values = {**SHORT, "trials.control": control}
        done = run("quickstart", out=Path(folder) / "run", trials=trials, seed=seed, values=values)
        whole = summarise(done.path).analysis.overheads.filter(
            pl.col("flow").is_null() & pl.col("station").is_null()
        )
    return whole.select(*_PLACE, width=pl.col("high") - pl.col("low"))


def gains(trials: int, seed: int) -> list[dict[str, Any]]:
    """Factor of trials saved per cell."""
    alone, with_control = (widths(control, trials, seed) for control in CONTROLS)
    joined = alone.join(with_control, on=_PLACE, suffix="_control", maintain_order="left")
    gain = (pl.col("width") / pl.col("width_control")) ** 2
    return joined.select(*_PLACE, gain=gain).to_dicts()


def until_precise(control: str, seed: int) -> dict[str, Any]:
    """Trials and CPU seconds until the overhead is as precise as ``PRECISION``."""
    with tempfile.TemporaryDirectory() as folder:
        values = {**SHORT, **ONE, "trials.control": control}
        before = time.process_time()
        done = run(
            "quickstart",
            out=Path(folder) / "run",
            seed=seed,
            values=values,
            until_precision=PRECISION,
            most_trials=5000,
        )
        cpu_s = time.process_time() - before
        found = summarise(done.path).analysis.overheads.row(0, named=True)
    return {
        "control": control,
        "trials": found["n"] // 2,
        "cpu_s": cpu_s,
        "half_width": (found["high"] - found["low"]) / 2,
    }


def table(result: dict[str, Any]) -> str:
    """The gains by cell, and the two runs to one precision, as Markdown tables."""
    lines = ["| policy | traffic | trials saved |", "|---|---|---|"]
    lines += [f"| `{r['policy']}` | {r['traffic']} | {r['gain']:.1f} |" for r in result["cells"]]
    lines += ["", f"{result['trials']} trials of 1 s per cell, seed {result['seed']}.", ""]
    lines += [
        f"| control | trials to +-{100 * PRECISION:g} points | CPU time, s | interval, points |",
        "|---|---|---|---|",
    ]
    lines += [
        f"| {r['control']} | {r['trials']} | {r['cpu_s']:.2f} | +-{100 * r['half_width']:.4f} |"
        for r in result["until"]
    ]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    # Loads what both runs need, so that neither pays for it.
    until_precise("backoff", args.seed)
    result = {
        "trials": args.trials,
        "seed": args.seed,
        "cells": gains(args.trials, args.seed),
        "until": [until_precise(control, args.seed) for control in CONTROLS],
    }
    if args.out:
        args.out.write_text(json.dumps(result, indent=2) + "\n")
    if args.page:
        head, _, rest = args.page.read_text().partition(START)
        args.page.write_text(head + START + table(result) + END + rest.partition(END)[2])
    print(table(result))


if __name__ == "__main__":
    main()
