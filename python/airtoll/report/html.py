"""The report as one self-contained HTML page that opens offline.

Takes a summary; gives the text of the page. Never reads a file but the page's template, and puts
nothing into the page that would be fetched.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from typing import Any

import polars as pl
from jinja2 import Environment, PackageLoader, StrictUndefined, select_autoescape
from markupsafe import Markup

from airtoll.analyse import Comparison, Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.report.figures import Picture, pictures, svg
from airtoll.report.quantities import NOTHING, show_estimate, show_overhead, show_value
from airtoll.report.summary import RunSummary, factors_text, headline

#: Rows of the cost table; a report stays readable, and small, whatever the study's size.
MAX_COST_ROWS = 400

_DEFINITIONS = {
    "of_baseline": "(T1 - T2) / T1, T1 without and T2 with security",
    "of_secured": "(T1 - T2) / T2, T1 without and T2 with security",
    "difference_bps": "T2 - T1 in bit/s, T1 without and T2 with security",
}
_SELECTIONS = {
    "closest_to_mean": "Keeping the readings closest to the mean narrows the interval that they "
    "pretend to have; it is the paper's rule, not advice.",
}


def render(summary: RunSummary, *, command: str) -> str:
    """The page of one run."""
    environment = Environment(
        loader=PackageLoader("airtoll.report", "."),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    return environment.get_template("page.html.j2").render(_values(summary, command))


def _values(summary: RunSummary, command: str) -> dict[str, Any]:
    study = summary.study
    head = study.study
    costs, left_out = _costs(summary)
    drawn = [_drawn(picture) for picture in pictures(summary)]
    published = _published(summary)
    combined_groups = list(head.combine)
    reruns, failures = _special_trials(summary)
    sections = [("costs", "Costs")]
    sections += [("figures", "Figures")] if drawn else []
    sections += [("combined", "Combined")] if summary.combined else []
    sections += [("theory", "Octet theory")] if summary.octet_theory else []
    sections += [(block["anchor"], block["short"]) for block in published]
    sections += [("trials", "Trials")] if reruns or failures else []
    sections += [("method", "Method"), ("repeat", "Repeat")]
    rerun = study.trials.rerun
    return {
        "title": head.title,
        "about": head.about,
        "source": head.source,
        "manifest": summary.manifest,
        "headline": headline(summary),
        "cards": _cards(summary),
        "sections": sections,
        "selection": summary.analysis.selection,
        "selection_words": _SELECTIONS.get(study.trials.select.rule, ""),
        "level": f"{100 * summary.analysis.level:.0f} %",
        "definition": head.overhead,
        "definition_words": _DEFINITIONS[head.overhead],
        "costs": costs,
        "costs_left_out": left_out,
        "pictures": drawn,
        "combined": [
            {
                "scenario": " ".join(filter(None, (c.scenario, factors_text(c.factors)))),
                "policy": c.policy,
                "groups": [
                    show_overhead(c.groups[g]) if g in c.groups else NOTHING
                    for g in combined_groups
                ],
                "mean": show_overhead(c.mean),
            }
            for c in summary.combined
        ],
        "combined_groups": combined_groups,
        "theory_sizes": head.octet_theory,
        "octet_theory": _octet_theory(summary),
        "published": published,
        "reruns": reruns,
        "failures": failures,
        "cells": len(summary.plan.cells),
        "order": study.trials.order,
        "warm_ups": study.trials.discard_first or "no",
        "rerun": rerun
        and (
            f"A trial more than {rerun.below_sigma:g} deviations below the mean of those before "
            f"it (at least {rerun.minimum_trials}) is run again; every such attempt is kept and "
            "listed."
        ),
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


def _cards(summary: RunSummary) -> list[tuple[str, str]]:
    outcomes = summary.outcomes
    cards = [
        ("cells", str(len(summary.plan.cells))),
        ("trials that count", str(outcomes.get("ok", 0))),
    ]
    for status, words in (
        ("rerun", "run again"),
        ("failed", "failed"),
        ("skipped", "cells skipped"),
    ):
        if outcomes.get(status):
            cards.append((words, str(outcomes[status])))
    printed = [c for c in summary.comparisons if c.quantity == THROUGHPUT]
    if printed:
        cards.append(("printed means compared", str(len(printed))))
    return cards


def _costs(summary: RunSummary) -> tuple[list[dict[str, Any]], int]:
    """Cost rows by scenario and factors, in the order of the plan."""
    order = {cell.name: index for index, cell in enumerate(summary.plan.cells)}
    frame = (
        summary.analysis.estimates.filter(metric=THROUGHPUT)
        .with_columns(order=pl.col("cell").replace_strict(order, return_dtype=pl.Int64))
        .sort("order", pl.col("station").is_not_null(), "station", "flow")
    )
    frame = _without_repeated_parts(frame)
    left_out = max(0, frame.height - MAX_COST_ROWS)
    keys = ["cell", "flow", "station"]
    verdicts = summary.analysis.comparisons.filter(metric=THROUGHPUT).select(
        *keys, "p_holm", "verdict"
    )
    overheads = summary.analysis.overheads.select(
        *keys, o_value="value", o_low="low", o_high="high", o_unit="unit"
    )
    joined = (
        frame.head(MAX_COST_ROWS)
        .join(verdicts, on=keys, how="left", nulls_equal=True, maintain_order="left")
        .join(overheads, on=keys, how="left", nulls_equal=True, maintain_order="left")
    )
    groups: list[dict[str, Any]] = []
    for row in joined.iter_rows(named=True):
        title = " ".join(filter(None, (row["scenario"], factors_text(row["factors"]))))
        if not groups or groups[-1]["title"] != title:
            groups.append({"title": title, "rows": []})
        closed = summary.closed_form(row["cell"]) if row["station"] is None else None
        groups[-1]["rows"].append(
            {
                "policy": row["policy"],
                "traffic": row["traffic"],
                "station": row["station"] or row["flow"] or "all",
                "throughput": _plus_minus(row["value"], row["low"], row["high"], row["unit"]),
                "closed_form": show_value(closed, "bit/s"),
                "overhead": _overhead(row),
                "p": _p(row["p_holm"]),
                "verdict": row["verdict"] or "",
                "n": f"{row['n']} of {row['n_all']}",
            }
        )
    return groups, left_out


def _without_repeated_parts(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out per-station rows of cells with one flow: they repeat the whole cell's."""
    parts = frame.group_by("cell").agg(parts=pl.col("flow").is_not_null().sum())
    joined = frame.join(parts, on="cell", how="left", maintain_order="left")
    whole = joined.filter(pl.col("flow").is_null())["cell"].unique()
    keep = pl.col("flow").is_null() | (pl.col("parts") > 1) | ~pl.col("cell").is_in(whole.implode())
    return joined.filter(keep).drop("parts")


def _plus_minus(value: float, low: float, high: float, unit: str) -> str:
    return show_estimate(Estimate(value, low, high, 0.95, 0, "", unit))


def _overhead(row: dict[str, Any]) -> str:
    if row["o_value"] is None:
        return NOTHING
    low, high = (math.nan if row[k] is None else row[k] for k in ("o_low", "o_high"))
    return show_overhead(Estimate(row["o_value"], low, high, 0.95, 0, "", row["o_unit"]))


def _p(value: float | None) -> str:
    if value is None or math.isnan(value):
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"


def _drawn(picture: Picture) -> dict[str, Any]:
    return {
        "name": picture.name,
        "caption": picture.caption,
        # Drawn by us from numbers: nothing in it comes from outside.
        "svg": Markup(svg(picture.draw())),
    }


def _octet_theory(summary: RunSummary) -> list[dict[str, Any]]:
    sizes = summary.study.study.octet_theory
    frame = summary.analysis.overheads.filter(
        pl.col("flow").is_null() & pl.col("station").is_null()
    )
    rows = []
    for policy in dict.fromkeys(t.policy for t in summary.octet_theory):
        theory = {t.packet_octets: t for t in summary.octet_theory if t.policy == policy}
        ours = frame.filter(policy=policy)
        simulated = "; ".join(
            f"{row['cell'].split('/')[0]} {row['traffic']}"
            f"{' ' + factors_text(row['factors']) if row['factors'] != '{}' else ''} "
            f"{100 * row['value']:.2f} %"
            for row in ours.iter_rows(named=True)
        )
        rows.append(
            {
                "policy": policy,
                "octets": theory[sizes[0]].added_octets,
                "theory": [f"{100 * theory[size].overhead:.2f} %" for size in sizes],
                "simulated": simulated,
            }
        )
    return rows


def _published(summary: RunSummary) -> list[dict[str, Any]]:
    """The comparison, what nothing was fitted for first."""
    groups: dict[str, list[tuple[Comparison, str]]] = {"": [], "predicted": []}
    for comparison in summary.comparisons:
        standing = summary.seen(comparison)
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
            "Rows in italics are those very readings: their agreement proves nothing, and they "
            "are left out of the median error.",
        ),
    }
    for key, entries in groups.items():
        if not entries:
            continue
        anchor, title, short, words = titles[key]
        tested = [c for c, standing in entries if standing != "fitted"]
        means = [abs(c.relative_error) for c in tested if c.quantity != "overhead"]
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
                "rows": [_published_row(summary, c, standing) for c, standing in entries],
            }
        )
    return blocks


def _published_row(summary: RunSummary, c: Comparison, standing: str) -> dict[str, Any]:
    overhead = c.quantity == "overhead"
    show = show_overhead if overhead else show_estimate
    return {
        "table": c.table,
        "cell": f"{c.cell}{' ' + c.client if c.client else ''}",
        "quantity": "overhead" if overhead else c.quantity.removesuffix("_bps"),
        "published": show(c.published),
        "ours": show(c.ours),
        "error": f"{100 * c.absolute_error:+.2f} points"
        if overhead
        else f"{100 * c.relative_error:+.1f} %",
        "note": summary.note(c),
        "fitted": standing == "fitted",
    }


def _special_trials(summary: RunSummary) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    wanted = ["cell", "trial", "attempt", "status", "reason"]
    reruns = summary.trials.filter(pl.col("status") == "rerun").select(wanted).head(200)
    others = summary.trials.filter(pl.col("status").is_in(["failed", "skipped"]))
    return reruns.to_dicts(), others.select(wanted).head(200).to_dicts()


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
        for reading in profile.seen:
            words = ", ".join(f"{k} {v}" for k, v in reading.model_dump(exclude_none=True).items())
            seen.append(f"{profile.name} has seen: {words}.")
        for gap in profile.gaps:
            gaps[f"{profile.name}: {gap}"] = None
    return {"profiles": rows, "seen": seen, "gaps": list(gaps)}


def _percent(values: Sequence[float]) -> str:
    return f"{100 * statistics.median(values):.1f} %" if values else NOTHING


def _points(values: Sequence[float]) -> str:
    return f"{100 * statistics.median(values):.2f} points" if values else NOTHING
