"""Write the tables of identifications that a page holds between markers.

A marker names the arguments of ``airtoll identify``: the program does as the command does, with
trials that the tables share, and writes one table of the mechanisms, and with ``--leave-one-out``
one for each data set. With --check it lists pages out of date. With ``--mechanism NAME`` it
compares the rows of these mechanisms only, which is quick, and writes nothing. It changes no word
outside the markers.
"""

from __future__ import annotations

import argparse
import itertools
import re
import statistics
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from airtoll.cli.identify import plain, subjects_of
from airtoll.run.identifying import Known, identify_device, leave_one_out

ROOT = Path(__file__).resolve().parents[1]
PAGES = (ROOT / "docs" / "guides" / "identify.md",)
_MARK = re.compile(r"<!-- identified: (.+?) -->\n(.*?)<!-- end of identified -->\n", re.DOTALL)

#: More tables than these share one column for the order of their policies.
_MOST_TABLES = 6
_MEDIAN_ORDER = "median tau-b (tables with an order)"


def main() -> int:
    """Write or check the pages; 1 if one is out of date or has no markers."""
    arguments = sys.argv[1:]
    mechanisms = [value for flag, value in itertools.pairwise(arguments) if flag == "--mechanism"]
    check = "--check" in arguments or bool(mechanisms)
    stale = []
    for page in PAGES:
        old = page.read_text("utf-8")
        if not _MARK.search(old):
            sys.stderr.write(f"{page}: has no marker <!-- identified: ARGUMENTS -->\n")
            return 1
        if mechanisms:
            if not _rows_hold(old, mechanisms):
                stale.append(str(page.relative_to(ROOT)))
            continue
        new = _MARK.sub(_section, old)
        if new != old:
            stale.append(str(page.relative_to(ROOT)))
            if not check:
                page.write_text(new, "utf-8")
    if check and stale:
        sys.stderr.write(f"out of date: {', '.join(stale)}; run tools/identify_pages.py\n")
        return 1
    return 0


#: Trials that tables share.
_TRIALS: Known = {}


def identified(arguments: str, *more: str) -> dict[str, Any]:
    """The JSON of ``airtoll identify`` with these arguments."""
    options = argparse.ArgumentParser("identified")
    options.add_argument("dataset")
    for name in ("--see", "--predict", "--mechanism"):
        options.add_argument(name, action="append", default=[])
    options.add_argument("--settings", default="stated")
    options.add_argument("--trials", type=int, default=4)
    options.add_argument("--leave-one-out", action="store_true")
    args = options.parse_args([*arguments.split(), *more])
    subjects = subjects_of(args.dataset, args.see, args.predict)
    how = {"settings": args.settings, "trials": args.trials, "mechanisms": args.mechanism}
    if args.leave_one_out:
        each = leave_one_out(subjects, known=_TRIALS, **how)
        return {name: plain(one) for name, one in each.items()}
    return plain(identify_device(subjects, known=_TRIALS, **how))


def _section(found: re.Match[str]) -> str:
    arguments = found.group(1)
    body = written(identified(arguments))
    return f"<!-- identified: {arguments} -->\n{body}<!-- end of identified -->\n"


def _rows_hold(page: str, mechanisms: Sequence[str]) -> bool:
    """Whether the rows of some mechanisms in the first table are those of a run now."""
    first = _MARK.search(page)
    assert first is not None
    more = [word for name in mechanisms for word in ("--mechanism", name)]
    now = written(identified(first.group(1), *more)).splitlines()
    return all(line in first.group(2).splitlines() for line in now)


def written(found: Mapping[str, Any]) -> str:
    """The table of an outcome, or one for each data set that was left out."""
    if "models" in found:
        return _table(found)
    return "\n".join(f"{name} left out:\n\n{_table(one)}" for name, one in found.items())


def _table(found: Mapping[str, Any]) -> str:
    models: Sequence[Mapping[str, Any]] = found["models"]
    places = list(dict.fromkeys(_place(p["reading"]) for p in models[0]["predictions"]))
    tables = list(models[0]["held_out"]["kendall"])
    heads = ["mechanism", "RMS, points", "inside 90 %", "half-width", "log evidence"]
    heads += [f"median, {place}" for place in places]
    one_by_one = len(tables) <= _MOST_TABLES
    heads += [f"tau-b, {table}" for table in tables] if one_by_one else [_MEDIAN_ORDER]
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for model in models:
        score = model["held_out"]
        errors: dict[str, list[float]] = {place: [] for place in places}
        for p in model["predictions"]:
            error = abs(p["predicted_points"] - p["observed_points"])
            errors[_place(p["reading"])].append(error)
        inside = round(score["coverage_90"] * score["n"])
        row = [
            model["name"] + (" (impossible)" if model["at_limit"] else ""),
            f"{score['rms_points']:.2f}",
            f"{inside} of {score['n']}",
            f"{score['half_width_points']:.1f}",
            f"{model['log_evidence']:.1f}",
            *(f"{statistics.median(own):.2f}" for own in errors.values()),
            *(_orders(score["kendall"], one_by_one)),
        ]
        lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def _place(reading: str) -> str:
    """The data set and scenario of a reading."""
    return reading.split("/")[0].replace(": ", " ")


def _orders(tau: Mapping[str, float | None], one_by_one: bool) -> list[str]:
    if one_by_one:
        return [_order(value) for value in tau.values()]
    known = [value for value in tau.values() if value is not None and value == value]
    return [f"{statistics.median(known):.2f} ({len(known)})" if known else "ties"]


def _order(tau: float | None) -> str:
    return "ties" if tau is None or tau != tau else f"{tau:.2f}"


if __name__ == "__main__":
    raise SystemExit(main())
