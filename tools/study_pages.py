"""Write what docs/studies/NAME.md says of airtoll's figures beside the printed ones.

Each page with the markers names its studies. The program runs them in the simulator with their
default seed and writes two sections: how well the printed figures are met, in one paragraph at the
head of the page, and a table of the comparison. With --check it lists pages out of date; with names
it takes these pages only. It changes no word outside the markers.
"""

from __future__ import annotations

import re
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from airtoll.analyse import Comparison
from airtoll.analyse.quantities import show_value
from airtoll.observe.datasets import load_dataset
from airtoll.report.combined import PrintedCombined, printed_combined
from airtoll.report.names import level_name, policy_name
from airtoll.report.summary import RunSummary, summarise
from airtoll.run import run

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "studies"
_MARK = re.compile(
    r"<!-- (explained|compared): ([a-z0-9 .-]+) -->\n.*?<!-- end of \1 -->\n", re.DOTALL
)
#: A comparison with more rows is shown by printed table and quantity.
_MOST_ROWS = 40


def main() -> int:
    """Write or check the pages; 1 if one is out of date or has no markers."""
    arguments = sys.argv[1:]
    check = "--check" in arguments
    names = [a for a in arguments if not a.startswith("-")]
    pages = [PAGES / f"{name}.md" for name in names] or with_markers()
    stale = []
    for page in pages:
        old = page.read_text("utf-8")
        if not _MARK.search(old):
            sys.stderr.write(f"{page}: has no marker <!-- explained: STUDY -->\n")
            return 1
        new = written(old, page.stem)
        if new != old:
            stale.append(str(page.relative_to(ROOT)))
            if not check:
                page.write_text(new, "utf-8")
    if check and stale:
        sys.stderr.write(f"out of date: {', '.join(stale)}; run tools/study_pages.py\n")
        return 1
    return 0


def with_markers() -> list[Path]:
    """The pages that hold sections of this program."""
    return [page for page in sorted(PAGES.glob("*.md")) if _MARK.search(page.read_text("utf-8"))]


def written(text: str, dataset: str) -> str:
    """The page with its sections as the studies give them now."""
    results: dict[str, RunSummary] = {}

    def summary(study: str) -> RunSummary:
        if study not in results:
            with tempfile.TemporaryDirectory() as folder:
                done = run(study, out=Path(folder) / study)
                results[study] = summarise(done.path, dataset=dataset)
        return results[study]

    def section(found: re.Match[str]) -> str:
        kind, studies = found.group(1), found.group(2)
        summaries = [summary(study) for study in studies.split()]
        body = (
            explained(summaries, dataset) if kind == "explained" else compared(summaries, dataset)
        )
        return f"<!-- {kind}: {studies} -->\n{body}<!-- end of {kind} -->\n"

    return _MARK.sub(section, text)


def explained(summaries: Sequence[RunSummary], dataset: str) -> str:
    """How well the printed figures are met, by quantity; figures without a fit come first."""
    groups: dict[tuple[str, str, str], list[Comparison]] = {}
    for summary in summaries:
        for c in summary.comparisons:
            standing = summary.seen(c)
            if standing != "fitted":
                devices = dict(summary.cells[c.cell].factors).get("profile_set", "")
                groups.setdefault((standing, devices, c.quantity), []).append(c)
    several = len({devices for _, devices, _ in groups}) > 1
    sentences = []
    for (standing, devices, quantity), own in sorted(groups.items(), key=lambda g: g[0][0]):
        fit = ", by profiles fitted to other readings" if standing else ", without a fit"
        of = f" ({level_name('profile_set', devices)})" if several else ""
        sentences.append(_sentence(f"{_name(quantity)}{fit}{of}", *_errors(quantity, own)))
    combined = [c for s in summaries for c in printed_combined(s, load_dataset(dataset))]
    if combined:
        errors = [100 * c.absolute_error for c in combined]
        sentences.append(_sentence("overhead over several kinds of traffic", errors, "points"))
    return "How well airtoll meets the printed figures:\n\n" + "\n".join(sentences) + "\n"


def _sentence(subject: str, errors: Sequence[float], unit: str) -> str:
    sizes = [abs(error) for error in errors]
    limit, words = (1, "one point") if unit == "points" else (5, "5 %")
    near = sum(size <= limit for size in sizes)
    median = f"{statistics.median(sizes):.1f} {unit}"
    return f"- {subject}: {near} of {len(sizes)} within {words}, median error {median}."


def _errors(quantity: str, found: Sequence[Comparison]) -> tuple[list[float], str]:
    """The errors and their unit: points of overhead, percent of anything else."""
    if quantity == "overhead":
        return [100 * c.absolute_error for c in found], "points"
    return [100 * c.relative_error for c in found], "%"


def _name(quantity: str) -> str:
    return quantity.rsplit("_", 1)[0].replace("_", " ")


def compared(summaries: Sequence[RunSummary], dataset: str) -> str:
    """The comparison as a table: cell by cell, or by printed table where cells are many."""
    found = [(summary, c) for summary in summaries for c in summary.comparisons]
    if len(found) <= _MOST_ROWS:
        lines = _cells(found)
    else:
        lines = [*_tables([c for _, c in found]), *_overheads(found)]
    combined = [
        c for summary in summaries for c in printed_combined(summary, load_dataset(dataset))
    ]
    if combined:
        lines += ["", *_combined(combined)]
    return "\n".join(lines) + "\n"


def _cells(found: Sequence[tuple[RunSummary, Comparison]]) -> list[str]:
    lines = ["| table | cell | quantity | printed | airtoll | error |", "|---|---|---|---|---|---|"]
    for summary, c in found:
        row = (
            c.table,
            summary.names.cell(c.cell),
            ", ".join(filter(None, (_name(c.quantity), c.extreme))),
            _shown(c, c.published.value),
            _shown(c, c.ours.value),
            f"{100 * c.absolute_error:+.1f} points"
            if c.quantity == "overhead"
            else f"{100 * c.relative_error:+.1f} %",
        )
        lines.append("| " + " | ".join(row) + " |")
    return lines


def _shown(c: Comparison, value: float) -> str:
    return f"{100 * value:.2f} %" if c.quantity == "overhead" else show_value(value, c.ours.unit)


def _tables(found: Sequence[Comparison]) -> list[str]:
    lines = [
        "| table | quantity | figures | median error | largest error |",
        "|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for c in found:
        groups.setdefault((c.table, c.quantity), []).append(c)
    for (table, quantity), own in groups.items():
        errors, unit = _errors(quantity, own)
        worst = max(errors, key=abs)
        median = statistics.median(abs(error) for error in errors)
        row = (
            table,
            _name(quantity),
            str(len(own)),
            f"{median:.1f} {unit}",
            f"{worst:+.1f} {unit}",
        )
        lines.append("| " + " | ".join(row) + " |")
    return lines


def _overheads(found: Sequence[tuple[RunSummary, Comparison]]) -> list[str]:
    """Overheads by policy, ours / printed in percent, fitted ones marked; empty without any."""
    rows: dict[str, dict[str, str]] = {}
    policies: dict[str, None] = {}
    for summary, c in found:
        if c.quantity != "overhead":
            continue
        place = summary.names.place(c.scenario, c.traffic, summary.cells[c.cell].factors_json)
        fitted = " (fitted)" if summary.seen(c) == "fitted" else ""
        name = policy_name(c.policy)
        policies[name] = None
        row = rows.setdefault(f"{c.table}: {place}{fitted}", {})
        row[name] = f"{100 * c.ours.value:.2f} / {100 * c.published.value:.2f}"
    if not rows:
        return []
    lines = [
        "",
        "Overheads in percent, airtoll / printed:",
        "",
        f"| table and place | {' | '.join(policies)} |",
        "|---" * (1 + len(policies)) + "|",
    ]
    for place, values in rows.items():
        lines.append(f"| {place} | {' | '.join(values.get(p, '') for p in policies)} |")
    return lines


def _combined(found: Sequence[PrintedCombined]) -> list[str]:
    lines = [
        "| table | scenario | policy | traffic | printed | airtoll | error |",
        "|---|---|---|---|---|---|---|",
    ]
    for c in found:
        row = (
            c.table,
            c.scenario,
            c.policy,
            c.group,
            f"{c.printed} %",
            f"{100 * c.ours.value:.2f} %",
            f"{100 * c.absolute_error:+.1f} points",
        )
        lines.append("| " + " | ".join(row) + " |")
    return lines


if __name__ == "__main__":
    raise SystemExit(main())
