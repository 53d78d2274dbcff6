"""Stopping rules: how often the final interval holds the truth, and finds a change without one.

Draws readings of a baseline and three policies (deviations of 2, 0.5, 1 and 4 % of the mean; true
overheads of 2, 5 and 10 %) and adds trials by the rule of ``airtoll run --until-precision`` itself.
A second part draws two cells without a difference and stops by what the interval says.

    python benchmarks/stopping.py --out benchmarks/results/stopping.json --page PAGE.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from typing import Any

import numpy as np

from airtoll.analyse.estimate import Array
from airtoll.analyse.overhead import fieller_ends
from airtoll.analyse.pairing import fieller_paired_ends
from airtoll.analyse.power import fresh_trials
from airtoll.analyse.precision import Known
from airtoll.analyse.student import t_quantile
from airtoll.run.precision import look

START, END = "<!-- stopping -->\n", "<!-- end of stopping -->\n"

LEVEL = 0.95
MEANS = {"open": 1.0, "a": 0.98, "b": 0.95, "c": 0.9}
DEVIATIONS = {"open": 0.02, "a": 0.005, "b": 0.01, "c": 0.04}
#: Of the common part of readings, where trials of equal number share random numbers.
SHARED = 0.02
MOST = 1000


def ends(zero: Array, own: Array, paired: bool) -> tuple[float, float]:
    """The interval of 1 - own / zero."""
    n = min(len(zero), len(own)) if paired else 0
    if paired:
        zero, own = zero[:n], own[:n]
    a, b = (np.array([side.mean()]) for side in (own, zero))
    va, vb = (np.array([side.var(ddof=1) / len(side)]) for side in (own, zero))
    if paired:
        both = np.array([np.cov(own, zero)[0, 1] / n])
        low, high = fieller_paired_ends(a, b, va, vb, both, np.array([n]), LEVEL)
    else:
        low, high = fieller_ends(a, b, va, vb, np.array([len(own)]), np.array([len(zero)]), LEVEL)
    return 1 - float(high[0]), 1 - float(low[0])


def until_precise(
    rng: np.random.Generator, wanted: float, paired: bool
) -> tuple[list[bool], list[int]]:
    """Whether each overhead's final interval holds the truth; the trials of each cell."""
    shared = rng.normal(0, SHARED, MOST) if paired else np.zeros(MOST)
    drawn = {
        name: mean * (1 + shared) + rng.normal(0, DEVIATIONS[name], MOST)
        for name, mean in MEANS.items()
    }
    trials = dict.fromkeys(MEANS, 5)
    together = dict.fromkeys(MEANS, "here") if paired else {}
    while True:
        found = {
            name: ends(drawn["open"][: trials["open"]], drawn[name][: trials[name]], paired)
            for name in MEANS
            if name != "open"
        }
        known = [Known(name, "open", (high - low) / 2) for name, (low, high) in found.items()]
        on = look(known, trials, wanted, MOST, together).on
        if not on:
            truth = {name: 1 - MEANS[name] / MEANS["open"] for name in found}
            return [low <= truth[n] <= high for n, (low, high) in found.items()], [*trials.values()]
        trials.update(on)


def half_width(sides: Array) -> float:
    n = sides.shape[1]
    quantile = float(t_quantile(LEVEL, 2 * n - 2))
    return quantile * float(np.sqrt(sides.var(axis=1, ddof=1).sum() / n))


def decides(sides: Array) -> bool:
    return abs(float(sides[0].mean() - sides[1].mean())) > half_width(sides)


def until_it_shows(rng: np.random.Generator, most: int) -> bool:
    """Whether two cells without a difference show one: 5 trials, then 5 more until it shows."""
    drawn = rng.normal(0, 1, (2, most))
    return any(decides(drawn[:, :n]) for n in range(5, most + 1, 5))


def by_a_new_run(rng: np.random.Generator) -> bool | None:
    """The same by a new run of the size that the first one names; None where it names none."""
    first = rng.normal(0, 1, (2, 5))
    half = half_width(first)
    named = fresh_trials(half, abs(float(first[0].mean() - first[1].mean())), 5)
    if decides(first) or named is None or named > 2000:
        return None
    return decides(rng.normal(0, 1, (2, named)))


def measure(runs: int, seed: int) -> list[dict[str, Any]]:
    rng = np.random.default_rng(seed)
    rows: list[dict[str, Any]] = []
    for paired in (False, True):
        for wanted in (0.005, 0.01, 0.02):
            ended = [until_precise(rng, wanted, paired) for _ in range(runs)]
            hits = np.array([hit for hit, _ in ended])
            counts = np.array([count for _, count in ended])
            rows.append(
                {
                    "rule": "until-precision",
                    "paired": paired,
                    "wanted": wanted,
                    "least_covered": float(hits.mean(axis=0).min()),
                    "covered": float(hits.mean()),
                    "trials": [float(one) for one in counts.mean(axis=0)],
                }
            )
    for most in (20, 50, 100):
        found = float(np.mean([until_it_shows(rng, most) for _ in range(runs)]))
        rows.append({"rule": "until it shows", "most": most, "found": found})
    new = [one for _ in range(runs) if (one := by_a_new_run(rng)) is not None]
    rows.append({"rule": "new run", "runs": len(new), "found": float(np.mean(new))})
    return rows


def table(result: dict[str, Any]) -> str:
    lines = [
        "| trials are added | holds the truth: all intervals | worst of three | mean trials of the "
        "baseline and three policies |",
        "|---|---|---|---|",
    ]
    for row in result["rows"]:
        if row["rule"] != "until-precision":
            continue
        how = "in pairs, all cells together" if row["paired"] else "of the cells that need them"
        trials = ", ".join(f"{one:.0f}" for one in row["trials"])
        lines.append(
            f"| to ± {100 * row['wanted']:g} %, {how} | {100 * row['covered']:.1f} % | "
            f"{100 * row['least_covered']:.1f} % | {trials} |"
        )
    lines += ["", "| two cells without a difference | show one |", "|---|---|"]
    for row in result["rows"]:
        if row["rule"] == "until it shows":
            lines.append(
                "| 5 trials, then 5 more until the interval excludes zero, at most "
                f"{row['most']} | {100 * row['found']:.1f} % |"
            )
        elif row["rule"] == "new run":
            lines.append(
                "| a new run of the size that an undecided one of 5 trials names | "
                f"{100 * row['found']:.1f} % |"
            )
    lines += ["", f"{result['runs']} runs per line, seed {result['seed']}."]
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=4000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    result = {"runs": args.runs, "seed": args.seed, "rows": measure(args.runs, args.seed)}
    if args.out:
        args.out.write_text(json.dumps(result, indent=2) + "\n")
    if args.page:
        head, _, rest = args.page.read_text().partition(START)
        args.page.write_text(head + START + table(result) + END + rest.partition(END)[2])
    print(table(result))


if __name__ == "__main__":
    main()
