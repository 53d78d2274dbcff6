"""The report as one self-contained HTML page that opens offline.

Takes a summary; gives the text of the page. Reads only the page's template. The page loads nothing
from elsewhere.
"""

from __future__ import annotations

import statistics
from collections.abc import Sequence
from typing import Any

import polars as pl
from markupsafe import Markup

from airtoll.analyse import Comparison, Estimate
from airtoll.analyse.precision import how_known
from airtoll.analyse.quantities import NOTHING, show_estimate, show_overhead, show_value
from airtoll.drawing import Developed, forms_in_words
from airtoll.observe.datasets import load_dataset
from airtoll.observe.folder import precision_of
from airtoll.observe.metrics import name_of
from airtoll.present.names import policy_name
from airtoll.report import what_if
from airtoll.report.answer import columns, quantities, table, titles, verdict_words
from airtoll.report.authentication import STAGES, negotiation_stages
from airtoll.report.changed import changed
from airtoll.report.closing import printed_table
from airtoll.report.costs import cost_blocks
from airtoll.report.delays import delay_tables
from airtoll.report.fitted import SEEN, fitted_to
from airtoll.report.handover import PARTS, gaps
from airtoll.report.headline import headline, not_covered
from airtoll.report.join_times import time_rows
from airtoll.report.overhead_names import SHORT, symbol_step
from airtoll.report.printed_overheads import MEAN, Combined, printed_combined
from airtoll.report.setting import setting
from airtoll.report.summary import RunSummary
from airtoll.report.templates import page
from airtoll.study import Rerun

#: Rows of the longer lists; the run folder has the whole lists.
_MOST_FINDINGS = 100
MOST_CELLS_TAKEN_APART = 400
_MOST_EXCHANGES = 400
_MOST_COMBINED = 400
_MOST_SPECIAL_TRIALS = 200
_MOST_CAVEATS = 60
_MOST_ANSWERS = 400
_IN_COSTS = {"throughput_bps", "overhead", "delay_s", "delay_p95_s"}
#: Most rows of a table that is open when the page is.
_OPEN_ROWS = 20
#: Lines of "does not cover" above the fold.
_LINES_OPEN = 2

_DEFINITIONS = {
    "of_baseline": "(T1 - T2) / T1",
    "of_secured": "(T1 - T2) / T2",
    "difference_bps": "T2 - T1 in bit/s",
}
_SELECTIONS = {
    "closest_to_mean": "The rule is the paper's and decides the point estimates alone: an interval "
    "over the readings closest to the mean covers 64 % instead of 95 %, so intervals and tests use "
    "all trials.",
    "agreement": "The rule decides the point estimates alone; intervals and tests use all trials.",
}
#: Compared in pairs? -> the method in words
_COMPARED = {
    False: "{arms} are compared with {reference} by Welch's t; overheads have Fieller's interval.",
    True: "Trials of one number share the state of the machine and of the air, or their random "
    "numbers. {arms} are compared with {reference} in pairs of trials (paired t), and overheads "
    "have Fieller's interval with the pairs' covariance.",
}
_FAMILIES = (
    "The comparisons of {answers} are one family, corrected by Holm. Every other comparison is "
    "exploratory and corrected by the false discovery rate (Benjamini and Hochberg). A verdict on "
    "a pair that a question asks about counts the comparisons of this question. Join and "
    "hand-over times are compared by Mann and Whitney's test."
)
#: The sections of the page that can hold pictures.
_PICTURE_SECTIONS = (
    "making",
    "answer",
    "costs",
    "published",
    "why",
    "theory",
    "throughput",
    "authentication",
    "handover",
    "trials",
    "series",
)


def render(
    summary: RunSummary,
    drawings: Sequence[Developed],
    *,
    command: str,
    form: str = "run",
    panel: what_if.Panel | None = None,
    beside: str = "",
) -> str:
    """The page of one run, with its pictures; ``form``: the template's name.

    With a ``panel`` the page simulates changes. ``beside`` begins the names of the files beside it.
    """
    return page(f"{form}.html.j2", _values(summary, drawings, command, panel, beside))


def placed(drawings: Sequence[Developed], beside: str = "") -> dict[str, list[dict[str, Any]]]:
    """The pictures by section; ``beside`` begins the name of their folder."""
    sections: dict[str, list[dict[str, Any]]] = {name: [] for name in _PICTURE_SECTIONS}
    for drawing in drawings:
        picture = drawing.picture
        panels = [
            {
                "title": panel.title,
                "open": index < picture.open_panels,
                # airtoll draws this from numbers: it has no outside content.
                "svg": Markup(drawing.in_page[index]),
            }
            for index, panel in enumerate(picture.panels)
        ]
        sections[picture.section].append(
            {
                "name": picture.name,
                "question": picture.question,
                "caption": picture.caption,
                "panels": panels,
                "folded": max(0, len(panels) - picture.open_panels),
                "stems": f"{beside}figures/{picture.stems}",
                "forms": forms_in_words(drawing.files),
                "wide": picture.wide,
            }
        )
    return sections


def _values(
    summary: RunSummary,
    drawings: Sequence[Developed],
    command: str,
    panel: what_if.Panel | None,
    beside: str,
) -> dict[str, Any]:
    study = summary.study
    head = study.study
    costs, left_out = cost_blocks(summary)
    in_sections = placed(drawings, beside)
    published = _published(summary)
    reruns, failures, trials_left_out = _special_trials(summary)
    findings = summary.findings
    octet_theory, theory_cells = _octet_theory(summary)
    why = _why(summary)
    delays = delay_tables(summary)
    # The table of costs has every column of a study of throughput.
    answers = table(summary) if set(columns(summary)) - _IN_COSTS else []
    rows = sum(block["rows"] for block in costs)
    throughput_first = quantities(summary)[:1] == ("overhead",)
    if not throughput_first:
        # Not the question: one reads it when asked for.
        for block in costs:
            block["open"] = False
    live_values = what_if.values(panel)
    sections = [
        ("answers", "Answer", bool(answers)),
        ("costs", "Costs", bool(costs)),
        ("combined", "Combined", bool(summary.combined)),
        *((block["anchor"], block["short"], True) for block in published),
        ("why", "Why", bool(why["why"])),
        ("theory", "Octets", bool(octet_theory or in_sections["theory"])),
        ("throughput", "Throughput", bool(in_sections["throughput"])),
        ("authentication", "Authentication", bool(in_sections["authentication"])),
        ("handover", "Hand-over", bool(in_sections["handover"])),
        ("times", "Times", bool(time_rows(summary))),
        ("delays", "Delays", bool(delays["whole"].rows)),
        (
            "trials",
            "Trials",
            bool(
                in_sections["trials"]
                or in_sections["series"]
                or reruns
                or failures
                or summary.caveats
            ),
        ),
        ("what-if", "What if?", bool(live_values["what_if"])),
        ("audit", "Audit", True),
        ("method", "Method", True),
        ("repeat", "Repeat", True),
    ]
    rerun = study.trials.rerun
    return {
        **live_values,
        "title": head.title,
        "about": head.about,
        "source": head.source,
        "manifest": summary.manifest,
        "question": head.question,
        "printed_table": printed_table(summary),
        "setting": setting(summary.plan.cells, str(summary.manifest["testbed"])),
        "changed": changed(summary),
        "headline": [line.replace(" %", "\u00a0%") for line in headline(summary)],
        "not_covered": not_covered(summary),
        "lines_open": _LINES_OPEN,
        "size": _size(summary),
        "answer_titles": titles(summary),
        "verdict_words": verdict_words(summary),
        "answers": answers[:_MOST_ANSWERS],
        "answers_left_out": max(0, len(answers) - _MOST_ANSWERS),
        "answers_open": len(answers) <= _OPEN_ROWS and not throughput_first,
        "costs_open": throughput_first and rows <= _OPEN_ROWS,
        "policies": [
            (policy_name(name), name)
            for name in dict.fromkeys(cell.policy for cell in summary.plan.cells)
        ],
        "sections": [(anchor, name) for anchor, name, there in sections if there],
        "selection": summary.analysis.selection,
        "selection_words": _SELECTIONS.get(study.trials.select.rule, ""),
        "level": f"{100 * summary.analysis.level:.0f} %",
        "definition": head.overhead,
        "definition_words": f"{_DEFINITIONS[head.overhead]}, {_sides(summary)}",
        "costs": costs,
        "costs_left_out": left_out,
        "beside": beside,
        "pictures": in_sections,
        "combined": _combined(summary),
        "combined_groups": list(head.combine),
        "combined_left_out": max(0, len(summary.combined) - _MOST_COMBINED),
        **why,
        "theory_sizes": head.octet_theory,
        "octet_theory": octet_theory,
        "theory_cells": theory_cells,
        "published": published,
        "stage_names": list(STAGES.values()),
        **_exchanges(summary),
        "handover_parts": list(PARTS.values()),
        "handovers": _handovers(summary),
        "reruns": reruns,
        "failures": failures,
        "caveats": list(summary.caveats.items())[:_MOST_CAVEATS],
        "caveats_left_out": max(0, len(summary.caveats) - _MOST_CAVEATS),
        "trials_left_out": trials_left_out,
        "findings": findings[:_MOST_FINDINGS],
        "findings_left_out": max(0, len(findings) - _MOST_FINDINGS),
        "cells": len(summary.plan.cells),
        "until_precision": _precision(summary),
        "trials_each": summary.plan.repetitions_words,
        "order": study.trials.order,
        "comparison_words": _COMPARED[summary.analysis.paired].format(
            arms="Policies" if summary.analysis.contrast.is_of_policies else "Levels",
            reference=summary.reference,
        ),
        "family_words": _FAMILIES.format(answers=" and ".join(summary.analysis.answers)),
        "by_rule": summary.analysis.by_rule,
        "times": time_rows(summary),
        "delays": delays,
        "warm_ups": study.trials.discard_first or "no",
        "rerun": rerun and _rerun_words(rerun),
        "leaves_out": head.leaves_out,
        **_profiles(summary),
        "command": command,
        "environment": [
            *summary.manifest["machine"].items(),
            *summary.manifest["environment"].items(),
            ("started", summary.manifest["started"]),
            ("ended", summary.manifest["ended"] or "not yet"),
        ],
    }


def _precision(summary: RunSummary) -> str:
    """The wanted precision, and how many overheads reach it; empty where trials are a number."""
    wanted = precision_of(summary.manifest["options"], summary.study)
    if wanted is None:
        return ""
    known = how_known(summary.analysis)
    met = sum(one.half <= wanted for one in known)
    return f"{100 * wanted:g} points, which {met} of {len(known)} reach"


def _size(summary: RunSummary) -> str:
    """Cells and trials, and those that did not come off, in one line."""
    outcomes = summary.outcomes
    parts = [f"{len(summary.plan.cells)} cells", f"{outcomes.get('ok', 0)} trials"]
    for status, words in (
        ("rerun", "run again"),
        ("failed", "failed"),
        ("skipped", "cells skipped"),
    ):
        if outcomes.get(status):
            parts.append(f"{outcomes[status]} {words}")
    return ", ".join(parts)


def _combined(summary: RunSummary) -> list[dict[str, Any]]:
    blocks: list[dict[str, Any]] = []
    printed = {
        (p.scenario, p.policy, p.factors, p.group): p.printed
        for name in dict.fromkeys(entry.dataset for entry in summary.study.compare)
        for p in printed_combined(summary.combined, load_dataset(name))
    }

    def beside(c: Combined, group: str, shown: str) -> str:
        digits = printed.get((c.scenario, c.policy, c.factors, group))
        return shown if digits is None else f"{shown} (printed {digits})"

    for c in summary.combined[:_MOST_COMBINED]:
        scenario = summary.names.place(c.scenario, "", c.factors, ("traffic",)) or c.scenario
        if not blocks or blocks[-1]["scenario"] != scenario:
            blocks.append({"scenario": scenario, "rows": []})
        groups = [
            beside(c, name, show_overhead(c.groups[name])) if name in c.groups else NOTHING
            for name in summary.study.study.combine
        ]
        blocks[-1]["rows"].append(
            {
                "policy": policy_name(c.policy),
                "groups": groups,
                "mean": beside(c, MEAN, show_overhead(c.mean)),
            }
        )
    return blocks


def _why(summary: RunSummary) -> dict[str, Any]:
    """The decomposition of every cell, in points, without columns that are zero in every row."""
    frame = summary.decomposition
    parts = [
        part
        for part in SHORT
        if (frame.filter(pl.col("part") == part)["value"].abs() >= 5e-5).any()
    ]
    known = set(frame["cell"])
    cells = [cell for cell in summary.plan.cells if cell.name in known]
    crypto = {
        row["cell"]: f"{100 * row['hidden'] / row['work']:.1f} % of {1e3 * row['work']:.3g} ms/s"
        for row in summary.crypto_time.iter_rows(named=True)
        if row["work"] > 0
    }
    rows = []
    shown = cells[:MOST_CELLS_TAKEN_APART]
    of_cell: dict[str, dict[str, float]] = {cell.name: {} for cell in shown}
    for name, part, value in frame.select("cell", "part", "value").iter_rows():
        if name in of_cell:
            of_cell[name][part] = value
    for cell in shown:
        values = of_cell[cell.name]
        rows.append(
            {
                "cell": summary.names.cell(cell.name),
                "parts": [f"{100 * values.get(part, 0.0):+.2f}" for part in parts],
                "total": f"{100 * sum(values.values()):+.2f}",
                "of_means": _of_means(summary, cell.name),
                "step": symbol_step(cell),
                "crypto": crypto.get(cell.name, NOTHING),
            }
        )
    definition = summary.analysis.definition
    return {
        "why": rows,
        "why_left_out": max(0, len(cells) - MOST_CELLS_TAKEN_APART),
        "why_parts": [SHORT[part] for part in parts],
        "why_definition": "of_baseline" if definition == "difference_bps" else definition,
    }


def _of_means(summary: RunSummary, cell: str) -> str:
    """The overhead of the mean throughputs in points, beside the decomposition's sum."""
    found = summary.analysis.overhead_of_all(cell)
    if found is None or found.unit != "1":
        return NOTHING
    return f"{100 * found.value:+.2f}"


def _exchanges(summary: RunSummary) -> dict[str, Any]:
    found = negotiation_stages(summary)
    rows = [
        {
            "policy": e.policy,
            "place": e.place,
            "stages": [show_estimate(e.stages[m]) if m in e.stages else NOTHING for m in STAGES],
            "negotiation": NOTHING if e.negotiation is None else show_estimate(e.negotiation),
            "messages": NOTHING if e.messages is None else f"{e.messages:g}",
        }
        for e in found[:_MOST_EXCHANGES]
    ]
    return {"exchanges": rows, "exchanges_left_out": max(0, len(found) - _MOST_EXCHANGES)}


def _handovers(summary: RunSummary) -> list[dict[str, Any]]:
    return [
        {
            "policy": gap.exchange.policy,
            "place": gap.exchange.place,
            "gap": _shown(gap.exchange.negotiation),
            "parts": [_shown(gap.exchange.stages.get(metric)) for metric in PARTS],
            "lost": NOTHING if gap.lost is None else f"{gap.lost.value:.2g}",
            "messages": NOTHING if gap.exchange.messages is None else f"{gap.exchange.messages:g}",
        }
        for gap in gaps(summary)[:_MOST_EXCHANGES]
    ]


def _sides(summary: RunSummary) -> str:
    """The meaning of T1 and T2 in an overhead."""
    if summary.analysis.contrast.is_of_policies:
        return "T1 without and T2 with security"
    return f"T1 with {summary.reference} and T2 with another level, under one policy"


def _shown(estimate: Estimate | None) -> str:
    return NOTHING if estimate is None else show_estimate(estimate)


def _octet_theory(summary: RunSummary) -> tuple[list[dict[str, Any]], list[str]]:
    """Theory by policy and packet size, and the overheads of the study's first cells."""
    sizes = summary.study.study.octet_theory
    frame = summary.analysis.overheads.filter(
        pl.col("flow").is_null() & pl.col("station").is_null() & (pl.col("unit") == "1")
    )
    columns = [
        (c.scenario, c.traffic, c.factors_json)
        for c in summary.plan.cells
        if c.policy == summary.analysis.baseline
    ][:6]
    rows = []
    for policy in dict.fromkeys(t.policy for t in summary.octet_theory):
        theory = {t.packet_octets: t for t in summary.octet_theory if t.policy == policy}
        cells = []
        for scenario, traffic, factors in columns:
            hit = frame.filter(policy=policy, scenario=scenario, traffic=traffic, factors=factors)
            cells.append(f"{100 * hit['value'][0]:.2f} %" if hit.height else NOTHING)
        rows.append(
            {
                "policy": policy_name(policy),
                "octets": theory[sizes[0]].added_octets,
                "theory": [f"{100 * theory[size].overhead:.2f} %" for size in sizes],
                "cells": cells,
            }
        )
    names = [summary.names.place(s, t, f) or s for s, t, f in columns]
    return rows, names


def _published(summary: RunSummary) -> list[dict[str, Any]]:
    """The comparison; predictions without a fit come first."""
    groups: dict[str, list[tuple[Comparison, str]]] = {"": [], "predicted": []}
    for comparison in summary.comparisons:
        standing = summary.standing(comparison).name
        groups["predicted" if standing else ""].append((comparison, standing))
    blocks = []
    titles = {
        "": (
            "published",
            "Against the printed figures",
            "Printed",
            "Nothing was fitted: device profiles hold figures from datasheets and publications "
            "alone.",
        ),
        "predicted": (
            "predicted",
            "Against the printed figures, with fitted profiles",
            "Printed, fitted",
            "Device profiles hold numbers that were fitted to the readings listed under Method. "
            "Rows in italics are those very readings, or another quantity of them: their agreement "
            "proves nothing, and they are left out of the median error.",
        ),
    }
    for key, entries in groups.items():
        if not entries:
            continue
        anchor, title, short, words = titles[key]
        tested = [c for c, standing in entries if standing not in SEEN]
        means = [
            abs(c.relative_error) for c in tested if c.quantity != "overhead" and not c.differs
        ]
        points = [abs(c.absolute_error) for c in tested if c.quantity == "overhead"]
        blocks.append(
            {
                "anchor": anchor,
                "title": title,
                "short": short,
                "words": words,
                "count": len(means),
                "overhead_count": len(points),
                "median_error": _percent(means),
                "median_points": _points(points),
                "above": sum(summary.above_ceiling(c) for c, _ in entries),
                "tables": _tables(summary, entries),
            }
        )
    return blocks


def _tables(summary: RunSummary, entries: Sequence[tuple[Comparison, str]]) -> list[dict[str, Any]]:
    """The rows by printed table and kind of cell, in the order of the study file."""
    tables: dict[str, dict[str, Any]] = {}
    for comparison, standing in entries:
        factors = summary.cells[comparison.cell].factors_json
        place = summary.names.place(comparison.scenario, comparison.traffic, factors)
        title = ", ".join(filter(None, (f"table {comparison.table}", place)))
        table = tables.setdefault(
            title,
            {"title": title, "groups": {}, "caveat": comparison.caveat, "open": len(tables) < 4},
        )
        quantity = name_of(comparison.quantity)
        client = f", {comparison.client}" if comparison.client else ""
        table["groups"].setdefault(quantity + client, []).append(
            _published_row(summary, comparison, standing)
        )
    for table in tables.values():
        table["groups"] = [{"name": name, "rows": rows} for name, rows in table["groups"].items()]
    return list(tables.values())


def _published_row(summary: RunSummary, c: Comparison, standing: str) -> dict[str, Any]:
    overhead = c.quantity == "overhead"
    show = show_overhead if overhead else show_estimate
    error = f"{100 * c.relative_error:+.1f} %"
    if overhead:
        error = f"{100 * c.absolute_error:+.2f} points"
    elif c.differs:
        error = show_value(c.absolute_error, c.ours.unit)
    return {
        "policy": policy_name(c.policy),
        "published": show(c.published),
        "ours": show(c.ours),
        "error": error,
        "note": summary.note(c).removesuffix(c.caveat).removesuffix("; "),
        "fitted": standing in SEEN,
    }


def _rerun_words(rule: Rerun) -> str:
    if rule.agreement is not None:
        return (
            "A trial is measured again until an attempt and the one before it agree to "
            f"{100 * rule.agreement:g} %; each attempt is kept and listed, and the last one counts."
        )
    return (
        f"A trial more than {rule.below_sigma:g} deviations below the mean of those before it (at "
        f"least {rule.minimum_trials}) is run again; every such attempt is kept and listed."
    )


def _special_trials(
    summary: RunSummary,
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """Repeated, failed and skipped trials, and the number of those without a row here."""
    wanted = ["cell", "trial", "attempt", "status", "reason"]
    reruns = summary.trials.filter(pl.col("status") == "rerun").select(wanted)
    others = summary.trials.filter(pl.col("status").is_in(["failed", "skipped"])).select(wanted)
    left = sum(max(0, rows.height - _MOST_SPECIAL_TRIALS) for rows in (reruns, others))
    return (
        reruns.head(_MOST_SPECIAL_TRIALS).to_dicts(),
        others.head(_MOST_SPECIAL_TRIALS).to_dicts(),
        left,
    )


def _profiles(summary: RunSummary) -> dict[str, Any]:
    used = {}
    for cell in summary.plan.cells:
        for profile in summary.profiles_of(cell):
            used[profile.name] = profile
    rows: list[dict[str, Any]] = []
    seen: list[str] = []
    gaps: dict[str, None] = {}
    for profile in used.values():
        rows += [
            {
                "profile": profile.name,
                "place": place,
                "value": f"{number.value:g}",
                "source": number.source,
                "fitted": number.fitted,
            }
            for place, number in profile.numbers().items()
            if not number.source.startswith("by definition")
        ]
        if profile.seen:
            seen.append(f"{profile.name} is fitted to {fitted_to(profile.seen)}.")
        for gap in profile.gaps:
            gaps[f"{profile.name}: {gap}"] = None
    return {"profiles": rows, "seen": seen, "gaps": list(gaps)}


def _percent(values: Sequence[float]) -> str:
    return f"{100 * statistics.median(values):.1f} %" if values else NOTHING


def _points(values: Sequence[float]) -> str:
    return f"{100 * statistics.median(values):.2f} points" if values else NOTHING
