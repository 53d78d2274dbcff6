"""Effect of the papers' trial-selection rules on an interval, by simulation.

Takes a seed; draws standard normal readings, selects as each rule says, and takes the usual 95 %
t interval over the remaining readings. Writes its coverage of the true mean, its width against the
interval over all readings, and the bias of the mean, in deviations of one reading.

    python benchmarks/selection_bias.py --out benchmarks/results/selection.json --page PAGE.md
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import numpy as np
from attrs import asdict

from airtoll.analyse.selection import (
    agreement,
    bias_of_rule,
    closest_to_mean,
    discard_first,
    keep_all,
    sigma_rule,
)

START, END = "<!-- selection -->\n", "<!-- end of selection -->\n"

CASES = {
    "all of 10": (keep_all(), 10),
    "all of 20": (keep_all(), 20),
    "closest 5 of 20 (Tripathi)": (closest_to_mean(5), 20),
    "closest 10 of 20": (closest_to_mean(10), 20),
    "first 2 of 7 dropped (Gheryani, Tepšić)": (discard_first(2), 7),
    "5 deviations below those before, of 10 (McCarter)": (sigma_rule(5.0, 4), 10),
    "2 deviations below those before, of 10": (sigma_rule(2.0, 4), 10),
    # A mean of 20 deviations: neighbours agree to 95 % within one deviation.
    "neighbours agree to 95 %, of 10": (lambda x: agreement(0.95)(x + 20), 10),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--simulations", type=int, default=10_000)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path)
    args = parser.parse_args()
    rows = {
        name: asdict(
            bias_of_rule(rule, n, np.random.default_rng(args.seed), 0.95, args.simulations)
        )
        for name, (rule, n) in CASES.items()
    }
    text = json.dumps({"seed": args.seed, "rules": rows}, indent=2, ensure_ascii=False)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text + "\n")
    if args.page:
        head, _, rest = args.page.read_text().partition(START)
        args.page.write_text(head + START + table(rows) + END + rest.partition(END)[2])
    print(text)


def table(rows: dict[str, dict[str, float]]) -> str:
    lines = ["| rule | holds the true mean | width against all | bias |", "|---|---|---|---|"]
    for name, r in rows.items():
        lines.append(
            f"| {name} | {100 * r['coverage']:.1f} % | {r['width_ratio']:.2f} | {r['bias']:+.3f} |"
        )
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
