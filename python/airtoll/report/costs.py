"""The table of costs; the policies of one traffic are adjacent.

A summary gives blocks of rows with their text. Where a selection rule decides the point estimates,
each row also holds the figures of all trials, on which the intervals rest.
"""

from __future__ import annotations

import math
from typing import Any

import polars as pl
from attrs import evolve

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.analyse.cost import cost_sign
from airtoll.analyse.estimate import without_interval
from airtoll.analyse.quantities import NOTHING, show_estimate, show_overhead, show_value
from airtoll.present.names import policy_name
from airtoll.present.words import stated
from airtoll.report.answer import fairness, readings
from airtoll.report.summary import RunSummary

#: Most rows of the table, so that a report stays readable and small for any study.
MAX_ROWS = 1500
#: Number of scenarios with an unfolded table; the others are folded.
_OPEN = 4


def cost_table(summary: RunSummary) -> pl.DataFrame:
    """All rows of the table, in SI units and the page's order, for a file next to the page."""
    return _rows(summary).select(
        "cell", "scenario", "policy", "traffic", "factors", "flow", "station", "unit",
        throughput="value", throughput_all_trials="value_all", throughput_low="low",
        throughput_high="high", overhead="o_value", overhead_all_trials="o_all",
        overhead_low="o_low", overhead_high="o_high", overhead_unit="o_unit",
        p_adjusted="p_adjusted", family="family", verdict="verdict", n="n", n_all="n_all",
    )  # fmt: skip


def cost_blocks(summary: RunSummary) -> tuple[list[dict[str, Any]], int]:
    """Blocks by scenario and factors, in them groups by traffic; rows left out.

    Rows of stations and flows whose cell has a total are in ``parts``, the page folds them.
    """
    frame = _rows(summary)
    left_out = max(0, frame.height - MAX_ROWS)
    blocks: list[dict[str, Any]] = []
    totals = set(frame.filter(pl.col("flow").is_null() & pl.col("station").is_null())["cell"])
    delays = {r.cell.name: r.estimate for r in readings(summary, "delay_s")}
    tails = {r.cell.name: r.estimate for r in readings(summary, "delay_p95_s")}
    fair = fairness(summary)
    for row in frame.head(MAX_ROWS).iter_rows(named=True):
        title = summary.names.place(row["scenario"], "", row["factors"], ("traffic",))
        title = title or row["scenario"]
        if not blocks or blocks[-1]["title"] != title:
            blocks.append({"title": title, "groups": [], "parts": [], "open": len(blocks) < _OPEN})
        whole = row["station"] is None and row["flow"] is None
        groups = blocks[-1]["groups" if whole or row["cell"] not in totals else "parts"]
        name = row["traffic"] + (f", {row['part']}" if row["part"] else "")
        if not groups or groups[-1]["name"] != name:
            groups.append({"name": name, "rows": []})
        shown = _row(summary, row)
        shown["fairness"] = f"{fair[row['cell']]:.3f}" if whole and row["cell"] in fair else NOTHING
        here = (delays.get(row["cell"]), tails.get(row["cell"])) if whole else (None, None)
        shown["delay"] = " / ".join(show_value(e.value, "s", 3) for e in here if e) or NOTHING
        groups[-1]["rows"].append(shown)
    # The row with the highest cost sets the scale of the small bars.
    rows = [r for b in blocks for g in b["groups"] + b["parts"] for r in g["rows"]]
    most = max((abs(row["share"]) for row in rows), default=0)
    for block in blocks:
        block["rows"] = sum(len(group["rows"]) for group in block["groups"])
        block["part_rows"] = sum(len(group["rows"]) for group in block["parts"])
        for group in block["groups"] + block["parts"]:
            for row in group["rows"]:
                row["bar"] = round(100 * max(0.0, row.pop("share")) / most) if most else 0
            known = {row["closed_form"] for row in group["rows"]} - {NOTHING}
            group["has_closed_form"] = bool(known)
        block["has_closed_form"] = any(group["has_closed_form"] for group in block["groups"])
        own = [row for group in block["groups"] for row in group["rows"]]
        for column in ("fairness", "delay"):
            block[f"has_{column}"] = any(row[column] != NOTHING for row in own)
    return blocks, left_out


def _rows(summary: RunSummary) -> pl.DataFrame:
    plan = summary.plan.cells
    cells = {cell.name: index for index, cell in enumerate(plan)}
    places = {
        key: index
        for index, key in enumerate(dict.fromkeys((c.scenario, c.factors_json) for c in plan))
    }
    traffics = {name: i for i, name in enumerate(dict.fromkeys(cell.traffic for cell in plan))}
    place_of = {c.name: places[c.scenario, c.factors_json] for c in plan}
    frame = summary.analysis.estimates.filter(metric=THROUGHPUT)
    frame = without_repeated_parts(frame).with_columns(
        order=pl.col("cell").replace_strict(cells, return_dtype=pl.Int64),
        place=pl.col("cell").replace_strict(place_of, return_dtype=pl.Int64),
        kind=pl.col("traffic").replace_strict(traffics, return_dtype=pl.Int64),
    )
    frame = frame.sort("place", "kind", "station", "flow", "order", nulls_last=False)
    # The flows' names distinguish several flows of a station in a cell.
    several = pl.col("flow").n_unique().over("cell", "station") > 1
    frame = frame.with_columns(
        part=pl.when(several)
        .then(pl.lit("flow ") + pl.col("flow"))
        .otherwise(pl.lit("station ") + pl.coalesce("station", "flow"))
    )
    keys = ["cell", "flow", "station"]
    verdicts = summary.analysis.comparisons.filter(metric=THROUGHPUT).select(
        *keys, "p_adjusted", "family"
    )
    rows = summary.stated(THROUGHPUT)
    verdicts = verdicts.with_columns(
        verdict=pl.Series(
            [stated(rows[key]) for key in verdicts.select(keys).iter_rows()], dtype=pl.String
        )
    )
    overheads = summary.analysis.overheads.select(
        *keys, o_value="value", o_all="value_all", o_low="low", o_high="high", o_unit="unit"
    )
    return frame.join(verdicts, on=keys, how="left", nulls_equal=True, maintain_order="left").join(
        overheads, on=keys, how="left", nulls_equal=True, maintain_order="left"
    )


def _row(summary: RunSummary, row: dict[str, Any]) -> dict[str, Any]:
    whole = row["station"] is None and row["flow"] is None
    closed = summary.closed_form(row["cell"]) if whole else None
    of_all = Estimate(row["value_all"], row["low"], row["high"], 0.95, 0, "", row["unit"])
    by_rule = summary.analysis.by_rule
    value = evolve(without_interval(of_all), value=row["value"]) if by_rule else of_all
    share = row["o_value"]
    if share is not None:
        share *= cost_sign(row["o_unit"])
    return {
        "policy": policy_name(row["policy"]),
        "name": row["policy"],
        "throughput": show_estimate(value),
        "throughput_all": show_estimate(of_all),
        "closed_form": show_value(closed, "bit/s"),
        "overhead": _overhead(row, "o_value", interval=not by_rule),
        "overhead_all": _overhead(row, "o_all", interval=True),
        "share": share if share is not None and math.isfinite(share) else 0.0,
        "p": _p(row["p_adjusted"]),
        "verdict": "baseline"
        if row["cell"] in summary.analysis.references
        else summary.verdict(row["cell"], row["verdict"] or ""),
        "n": f"{row['n']} of {row['n_all']}" if row["n"] != row["n_all"] else str(row["n"]),
    }


def without_repeated_parts(frame: pl.DataFrame) -> pl.DataFrame:
    """Leave out per-station rows of cells with one flow: they repeat the whole cell's."""
    parts = frame.group_by("cell").agg(parts=pl.col("flow").is_not_null().sum())
    joined = frame.join(parts, on="cell", how="left", maintain_order="left")
    whole = joined.filter(pl.col("flow").is_null())["cell"].unique()
    keep = pl.col("flow").is_null() | (pl.col("parts") > 1) | ~pl.col("cell").is_in(whole.implode())
    return joined.filter(keep).drop("parts")


def _overhead(row: dict[str, Any], name: str, *, interval: bool) -> str:
    if row[name] is None:
        return NOTHING
    low, high = (math.nan if row[k] is None else row[k] for k in ("o_low", "o_high"))
    estimate = Estimate(row[name], low, high, 0.95, 0, "", row["o_unit"])
    return show_overhead(estimate if interval else without_interval(estimate))


def _p(value: float | None) -> str:
    if value is None or math.isnan(value):
        return NOTHING
    return "< 0.001" if value < 0.001 else f"{value:.3f}"
