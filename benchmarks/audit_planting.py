"""Detection rate of the audit for planted mistakes, and its false-alarm rate.

Takes a number of repetitions and a seed; makes clean data sets (``audit_clean.py``), plants one
mistake of a kind in a copy (``audit_mistakes.py``), and audits both. Writes the rates as JSON.

    python benchmarks/audit_planting.py --seed 1 --out benchmarks/results/audit.json
"""

from __future__ import annotations

import argparse
import copy
import json
from pathlib import Path
from typing import Any

import numpy as np
from audit_clean import clean, dataset
from audit_mistakes import PLANTS

from airtoll.analyse.audit import Finding, audit


def is_it(finding: Finding, kind: str, names: str) -> bool:
    text = " ".join((finding.where, finding.printed, finding.recomputed, finding.evidence))
    return finding.kind == kind and names in text


def rates(repetitions: int, seed: int) -> dict[str, Any]:
    """Detection rate per kind, and false alarms in clean sets."""
    rng = np.random.default_rng(seed)
    result: dict[str, Any] = {"repetitions": repetitions, "seed": seed, "detected": {}}
    for name, (kind, plant) in PLANTS.items():
        hits = 0
        for _ in range(repetitions):
            study = copy.deepcopy(clean(rng))
            wanted = plant(study, rng)
            hits += any(is_it(f, kind, wanted) for f in audit(dataset(study)))
        result["detected"][name] = {"kind": kind, "of": repetitions, "found": hits}
    alarms: dict[str, int] = {}
    sets = repetitions * 5
    alarmed = 0
    for _ in range(sets):
        found = audit(dataset(clean(rng)))
        alarmed += bool(found)
        for f in found:
            alarms[f.kind] = alarms.get(f.kind, 0) + 1
    result["clean"] = {"sets": sets, "sets_with_a_finding": alarmed, "findings": alarms}
    return result


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--out", type=Path)
    parser.add_argument("--page", type=Path, help="page whose table of rates is replaced")
    args = parser.parse_args()
    result = rates(args.repetitions, args.seed)
    text = json.dumps(result, indent=2)
    if args.out:
        args.out.parent.mkdir(parents=True, exist_ok=True)
        args.out.write_text(text + "\n")
    if args.page:
        page = args.page.read_text()
        head, _, rest = page.partition(START)
        args.page.write_text(head + START + table(result) + END + rest.partition(END)[2])
    print(text)


START, END = "<!-- rates -->\n", "<!-- end of rates -->\n"


def table(result: dict[str, Any]) -> str:
    """The rates as a Markdown table, with the false alarms below."""
    lines = ["| planted | kind | found |", "|---|---|---|"]
    for name, entry in result["detected"].items():
        lines.append(f"| {name} | `{entry['kind']}` | {entry['found']} of {entry['of']} |")
    none = result["clean"]
    lines += [
        "",
        f"False alarms: {none['sets_with_a_finding']} of {none['sets']} clean sets had any finding "
        f"(seed {result['seed']}).",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    main()
