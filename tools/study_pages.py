"""Write what docs/studies/NAME.md says of airtoll's figures beside the printed ones.

Each page with the markers names its studies. The program runs them in the simulator with their
default seed and writes two sections: how well the printed figures are met, in one paragraph at the
head of the page, and a table of the comparison. Pages of studies without printed figures have
tables of costs, of stations, or of the weakest levels. A figure in the prose stands between
``<!-- overhead: STUDY KEY=VALUE... -->`` (or ``throughput``, ``error``) and ``<!-- end -->``: the
least and the most of the chosen cells, of the same run as the tables. With --check it lists pages
out of date; with names it takes these pages only. It changes no word outside the markers.
"""

from __future__ import annotations

import json
import re
import statistics
import sys
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path

import polars as pl

from airtoll.analyse import Comparison
from airtoll.analyse.analysis import estimate_of_row
from airtoll.analyse.quantities import show_value
from airtoll.answer import ordered as orders
from airtoll.observe.datasets import list_datasets, load_dataset
from airtoll.present.digits import percent, shown
from airtoll.present.names import policy_name
from airtoll.report.printed_overheads import PrintedCombined, printed_combined
from airtoll.report.printed_rows import levels_of
from airtoll.report.summary import RunSummary, summarise
from airtoll.report.where import Where
from airtoll.run import run

ROOT = Path(__file__).resolve().parents[1]
PAGES = ROOT / "docs" / "studies"
_MARK = re.compile(
    r"<!-- (explained|compared|ordered|predicted|costs|stations|weakest): ([a-z0-9 .-]+) -->\n"
    r".*?<!-- end of \1 -->\n",
    re.DOTALL,
)
_FIGURE = re.compile(
    r"<!-- (overhead|throughput|error): ([a-z0-9.-]+)((?: [\w.]+=[^ ]+)*) -->.*?<!-- end -->",
    re.DOTALL,
)
#: A comparison with more rows is shown by printed table and quantity.
_MOST_ROWS = 40
_THROUGHPUT = "throughput_bps"
#: The factor that a table of the weakest levels reads, and the share that counts as all.
_LEVEL = "scenario.rssi_dbm"
_WHOLE = 0.99


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
                printed = dataset if dataset in list_datasets() else None
                results[study] = summarise(done.path, dataset=printed)
        return results[study]

    def section(found: re.Match[str]) -> str:
        kind, studies = found.group(1), found.group(2)
        summaries = [summary(study) for study in studies.split()]
        written_by = {
            "explained": explained,
            "compared": compared,
            "ordered": ordered,
            "predicted": predicted,
            "costs": costs,
            "stations": stations,
            "weakest": weakest,
        }
        body = written_by[kind](summaries, dataset)
        return f"<!-- {kind}: {studies} -->\n{body}<!-- end of {kind} -->\n"

    def figure(found: re.Match[str]) -> str:
        kind, study, levels = found.groups()
        value = FIGURES[kind](summary(study), Where.of(levels.split()))
        return f"<!-- {kind}: {study}{levels} -->{value}<!-- end -->"

    return _FIGURE.sub(figure, _MARK.sub(section, text))


def _chosen(summary: RunSummary, where: Where) -> list[str]:
    cells = summary.plan.cells
    return [cells[at].name for at in where.rows([levels_of(cell) for cell in cells])]


def _span(values: Sequence[float], digits: int, unit: str) -> str:
    """The least and the most of some values; one where they have the same digits."""
    least, most = (f"{end:.{digits}f}" for end in (min(values), max(values)))
    return f"{least} {unit}" if least == most else f"{least} to {most} {unit}"


def overhead_of(summary: RunSummary, where: Where) -> str:
    """Overheads of the chosen cells, percent."""
    found = (summary.analysis.overhead(cell) for cell in _chosen(summary, where))
    return _span([100 * one.value for one in found if one is not None], 2, "%")


def throughput_of(summary: RunSummary, where: Where) -> str:
    """Throughputs of the chosen cells, Mb/s."""
    found = (summary.analysis.estimate(cell, _THROUGHPUT) for cell in _chosen(summary, where))
    return _span([one.value / 1e6 for one in found if one is not None], 2, "Mb/s")


def error_of(summary: RunSummary, where: Where) -> str:
    """Distances of the chosen overheads from the printed ones, points."""
    chosen = set(_chosen(summary, where))
    found = [c for c in summary.comparisons if c.quantity == "overhead" and c.cell in chosen]
    return _span([100 * abs(c.absolute_error) for c in found], 1, "points")


#: Kind of a figure in the prose -> its text.
FIGURES = {"overhead": overhead_of, "throughput": throughput_of, "error": error_of}


def explained(summaries: Sequence[RunSummary], dataset: str) -> str:
    """How well the printed figures are met, by quantity; figures without a fit come first."""
    groups: dict[tuple[str, str, str], list[Comparison]] = {}
    for summary in summaries:
        for c in summary.comparisons:
            standing = summary.standing(c).name
            if not summary.seen(c):
                devices = dict(summary.cells[c.cell].factors).get("profile_set", "")
                devices = summary.names.level("profile_set", devices) if devices else ""
                if c.differs:
                    devices = ""
                groups.setdefault((standing, devices, _kind(summary, c)), []).append(c)
    several = len({devices for _, devices, _ in groups if devices}) > 1
    sentences = []
    for (standing, devices, kind), own in sorted(groups.items(), key=lambda g: g[0][0]):
        fit = ", by profiles fitted to other readings" if standing else ", without a fit"
        of = f" ({devices})" if several and devices else ""
        sentences.append(_sentence(f"{kind}{fit}{of}", *_errors(own)))
    combined = [c for s in summaries for c in printed_combined(s.combined, load_dataset(dataset))]
    if combined:
        errors = [100 * c.absolute_error for c in combined]
        sentences.append(_sentence("overhead over several kinds of traffic", errors, "points"))
    return "How well airtoll meets the printed figures:\n\n" + "\n".join(sentences) + "\n"


def _kind(summary: RunSummary, c: Comparison) -> str:
    """The quantity in words, with the instrument through which ours was seen."""
    words = _name(c.quantity)
    if c.differs:
        words = f"differences of {words} between two cells"
    elif c.published.unit == "1" and c.quantity.endswith("_s"):
        words = f"ratios of {words}s"
    if c.instrument:
        fitted = summary.study.instrument[c.instrument].fitted
        words += f" as {c.instrument} shows it{' (fitted)' if fitted else ''}"
    return words


def _sentence(subject: str, errors: Sequence[float], unit: str) -> str:
    sizes = [abs(error) for error in errors]
    if unit not in ("points", "%"):
        median = f"{statistics.median(sizes):.1f} {unit}"
        return f"- {subject}: median error {median} of {len(sizes)} figures."
    limit, words = (1, "one point") if unit == "points" else (5, "5 %")
    near = sum(size <= limit for size in sizes)
    median = f"{statistics.median(sizes):.1f} {unit}"
    return f"- {subject}: {near} of {len(sizes)} within {words}, median error {median}."


def _errors(found: Sequence[Comparison]) -> tuple[list[float], str]:
    """The errors and their unit: points of overhead, Mb/s of differences, percent of others."""
    if found[0].quantity == "overhead":
        return [100 * c.absolute_error for c in found], "points"
    if found[0].differs:
        return [c.absolute_error / 1e6 for c in found], "Mb/s"
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
        c
        for summary in summaries
        for c in printed_combined(summary.combined, load_dataset(dataset))
    ]
    if combined:
        lines += ["", *_combined(combined)]
    return "\n".join(lines) + "\n"


def ordered(summaries: Sequence[RunSummary], _dataset: str) -> str:
    """Scenarios in which TCP and UDP lose to a policy in the printed order: a row per setting."""
    lines = [
        "| MTU | TCP | UDP datagram | scenarios in the paper's order | of 9 |",
        "|---|---|---|---|---|",
    ]
    for claim in (one for summary in summaries for one in orders(summary.measured)):
        for setting in claim.settings:
            mtu, tcp, udp = (str(level) for _, level in setting.levels)
            found = "without discovery" if "without" in tcp else "path MTU known"
            kept = setting.kept
            row = (mtu, found, udp.removeprefix("udp-"), ", ".join(kept), str(len(kept)))
            lines.append("| " + " | ".join(row) + " |")
    return "\n".join(lines) + "\n"


def predicted(summaries: Sequence[RunSummary], dataset: str) -> str:
    """Overheads and CPU shares of all cells by place, in percent, whatever the paper prints."""
    lines: list[str] = []
    for summary in summaries:
        rows: dict[str, dict[str, str]] = {}
        policies: dict[str, None] = {}
        for cell in summary.plan.cells:
            overhead = summary.analysis.overhead(cell.name)
            cpu = summary.analysis.estimate(cell.name, "cpu_share")
            place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json)
            name = policy_name(cell.policy)
            policies[name] = None
            shown = "0" if overhead is None else f"{100 * overhead.value:.2f}"
            if cpu is not None:
                shown += f" ({100 * cpu.value:.1f})"
            rows.setdefault(place, {})[name] = shown
        lines += [
            "Overhead (and CPU load of the busiest host) in percent:",
            "",
            f"| place | {' | '.join(policies)} |",
            "|---" * (1 + len(policies)) + "|",
        ]
        for place, values in rows.items():
            lines.append(f"| {place} | {' | '.join(values.get(p, '') for p in policies)} |")
    return "\n".join(lines) + "\n"


def costs(summaries: Sequence[RunSummary], _dataset: str) -> str:
    """Losses of throughput against the baseline in percent with intervals, policy by policy."""
    (summary,) = summaries
    baseline = summary.study.study.baseline
    rows: dict[str, dict[str, str]] = {}
    places: dict[str, None] = {}
    for cell in summary.plan.cells:
        overhead = summary.analysis.overhead(cell.name)
        if cell.policy == baseline or overhead is None:
            continue
        place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json)
        places[place] = None
        rows.setdefault(policy_name(cell.policy), {})[place] = percent(overhead)
    return _sheet("policy", rows, places)


def stations(summaries: Sequence[RunSummary], _dataset: str) -> str:
    """Throughput of each station in Mb/s with intervals, by place and policy."""
    (summary,) = summaries
    by_place: dict[str, dict[str, dict[str, str]]] = {}
    names: dict[str, None] = {}
    for cell in summary.plan.cells:
        place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json)
        rows = by_place.setdefault(place, {})
        row = rows.setdefault(f"{place}: {policy_name(cell.policy)}", {})
        found = summary.analysis.estimates.filter(cell=cell.name, metric=_THROUGHPUT)
        for one in found.filter(pl.col("station").is_not_null()).iter_rows(named=True):
            name = str(one["station"])
            names[name] = None
            row[name] = shown(estimate_of_row(one, summary.analysis.level))
    ordered_rows = {key: row for place in by_place.values() for key, row in place.items()}
    return _sheet("place and policy", ordered_rows, sorted(names))


def weakest(summaries: Sequence[RunSummary], _dataset: str) -> str:
    """The lowest level whose throughput is at least 99 % of that of the highest, and the highest
    at which nothing arrives, by traffic, rate and policy.
    """
    (summary,) = summaries
    groups: dict[tuple[str, str, str], dict[float, float]] = {}
    for cell in summary.plan.cells:
        found = summary.analysis.estimate(cell.name, _THROUGHPUT)
        levels = dict(cell.factors)
        level = float(str(levels.pop(_LEVEL)))
        place = summary.names.place(cell.scenario, cell.traffic, json.dumps(levels))
        groups.setdefault((place, policy_name(cell.policy), cell.scenario), {})[level] = (
            0.0 if found is None else found.value
        )
    rows: dict[str, dict[str, str]] = {}
    policies: dict[str, None] = {}
    for (place, name, _), values in groups.items():
        policies[name] = None
        whole = [level for level, value in values.items() if value >= _WHOLE * max(values.values())]
        none = [level for level, value in values.items() if value == 0]
        told = f"{min(whole):.0f}" + (f" / {max(none):.0f}" if none else "")
        rows.setdefault(place, {})[name] = told
    return _sheet("traffic and rate", rows, policies)


def _sheet(head: str, rows: dict[str, dict[str, str]], columns: Iterable[str]) -> str:
    columns = list(columns)
    lines = [f"| {head} | {' | '.join(columns)} |", "|---" * (1 + len(columns)) + "|"]
    lines += [
        f"| {name} | {' | '.join(values.get(column, '') for column in columns)} |"
        for name, values in rows.items()
    ]
    return "\n".join(lines) + "\n"


def _cells(found: Sequence[tuple[RunSummary, Comparison]]) -> list[str]:
    lines = ["| table | cell | quantity | printed | airtoll | error |", "|---|---|---|---|---|---|"]
    for summary, c in found:
        row = (
            c.table,
            summary.names.cell(c.cell),
            ", ".join(filter(None, (_name(c.quantity), c.extreme, _through(c)))),
            _shown(c, c.published.value),
            _shown(c, c.ours.value),
            _error(c),
        )
        lines.append("| " + " | ".join(row) + " |")
    return lines


def _error(c: Comparison) -> str:
    (error,), unit = _errors([c])
    return f"{error:+.1f} {unit}"


def _through(c: Comparison) -> str:
    return f"as {c.instrument} shows it" if c.instrument else ""


def _shown(c: Comparison, value: float) -> str:
    return f"{100 * value:.2f} %" if c.quantity == "overhead" else show_value(value, c.ours.unit)


def _tables(found: Sequence[Comparison]) -> list[str]:
    lines = [
        "| table | quantity | figures | median error | largest error |",
        "|---|---|---|---|---|",
    ]
    groups: dict[tuple[str, str], list[Comparison]] = {}
    for c in found:
        quantity = ", ".join(filter(None, (_name(c.quantity), _through(c))))
        groups.setdefault((c.table, quantity), []).append(c)
    for (table, quantity), own in groups.items():
        errors, unit = _errors(own)
        worst = max(errors, key=abs)
        median = statistics.median(abs(error) for error in errors)
        row = (
            table,
            quantity,
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
        fitted = " (fitted)" if summary.seen(c) else ""
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
