"""Trials saved by common random numbers, measured in the simulator.

Runs a shipped study twice with the same seeds, once with independent trials and once with
``trials.pairing = "common"``, and divides the variances of the difference between a secured policy
and the baseline. That ratio is the factor by which common numbers need fewer trials for the same
interval.

    python benchmarks/common_numbers.py --out benchmarks/results/common_numbers.json \
        --page docs/statistics.md
"""

from __future__ import annotations

import argparse
import json
import tempfile
from pathlib import Path
from typing import Any

import polars as pl

from airtoll.run import run

START, END = "<!-- common numbers -->\n", "<!-- end of common numbers -->\n"
STUDIES: dict[str, dict[str, Any]] = {
    "quickstart": {},
    "tripathi2008": {"trials.select": {"rule": "all"}, "compare": []},
}
SHORT = {"traffic.udp.duration_s": 1.0, "traffic.tcp.duration_s": 1.0}
_PLACE = ["scenario", "traffic", "factors"]


def variances(study: str, pairing: str, trials: int, seed: int) -> pl.DataFrame:
    """Variance of secured - open over trials of equal number: a row per cell."""
    with tempfile.TemporaryDirectory() as folder:
        values = {**SHORT, **STUDIES[study], "trials.pairing": pairing}
        rows = run(study, out=Path(folder) / "run", trials=trials, seed=seed, values=values)
        whole = rows.observations().filter(
            pl.col("second").is_null()
            & pl.col("flow").is_null()
            & pl.col("station").is_null()
            & (pl.col("metric") == "throughput_bps")
        )
    zero = whole.filter(policy="open").select(*_PLACE, "trial", zero="value")
    pairs = whole.filter(pl.col("policy") != "open").join(zero, on=[*_PLACE, "trial"])
    return pairs.group_by(*_PLACE, "policy", maintain_order=True).agg(
        variance=(pl.col("value") - pl.col("zero")).var()
    )


def gains(study: str, trials: int, seed: int) -> list[dict[str, Any]]:
    """Factor of trials saved per cell of a study."""
    alone = variances(study, "independent", trials, seed)
    common = variances(study, "common", trials, seed)
    return (
        alone.join(common, on=[*_PLACE, "policy"], suffix="_common", maintain_order="left")
        .with_columns(gain=pl.col("variance") / pl.col("variance_common"), study=pl.lit(study))
        .select("study", *_PLACE, "policy", "gain")
        .to_dicts()
    )


def table(result: dict[str, Any]) -> str:
    """The gains by study and traffic as a Markdown table."""
    rows = pl.DataFrame(result["cells"])
    by = rows.group_by("study", "traffic", maintain_order=True).agg(
        least=pl.col("gain").min(),
        median=pl.col("gain").median(),
        most=pl.col("gain").max(),
        cells=pl.len(),
    )
    lines = [
        "| study | traffic | cells | trials saved: least | median | most |",
        "|---|---|---|---|---|---|",
    ]
    lines += [
        f"| `{r['study']}` | {r['traffic']} | {r['cells']} | {r['least']:.2f} | "
        f"{r['median']:.2f} | {r['most']:.2f} |"
        for r in by.iter_rows(named=True)
    ]
    lines += ["", f"{result['trials']} trials of 1 s per cell, seed {result['seed']}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--trials", type=int, default=40)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    cells = [row for study in STUDIES for row in gains(study, args.trials, args.seed)]
    result = {"trials": args.trials, "seed": args.seed, "cells": cells}
    if args.out:
        args.out.write_text(json.dumps(result, indent=2) + "\n")
    if args.page:
        head, _, rest = args.page.read_text().partition(START)
        args.page.write_text(head + START + table(result) + END + rest.partition(END)[2])
    print(table(result))


if __name__ == "__main__":
    main()
