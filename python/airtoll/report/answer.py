"""The answer to the study's question: its readings, one sentence, its gaps.

A summary gives the readings of the metrics that the study answers with (``[study] answers``), the
most important first. Of throughput the answer is the overhead, where a baseline was measured.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, Final

import polars as pl
from attrs import evolve, frozen

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT, estimate_of_row
from airtoll.analyse.estimate import without_interval
from airtoll.analyse.fairness import jain
from airtoll.analyse.overhead import mean_of_estimates
from airtoll.analyse.quantities import NOTHING, show_estimate, show_overhead, show_value
from airtoll.analyse.wire import fills_the_wire, is_saturated
from airtoll.observe.metrics import LIMIT, METRICS, NOT_RADIO, RATE
from airtoll.plan import Cell
from airtoll.report.names import level_name, policy_name
from airtoll.report.summary import RunSummary
from airtoll.study.generations import wire_mbps

#: The quantity that is drawn and told for throughput.
OVERHEAD: Final = "overhead"
#: Jain's index of the throughputs of a cell's stations.
FAIRNESS: Final = "fairness_ratio"

#: Metric -> its name for people.
_WORDS: Final = {
    OVERHEAD: "throughput overhead",
    THROUGHPUT: "throughput",
    "join_all_time_s": "time until every client has joined",
    "joined_ratio": "share of clients that joined",
    FAIRNESS: "fairness of throughputs (Jain)",
    "negotiation_time_s": "time of a negotiation",
    "eap_time_s": "time of EAP",
    "handover_gap_s": "gap of a hand-over",
    "handover_packets_lost": "number of packets lost per hand-over",
    "delay_s": "mean delay",
    "delay_p95_s": "95 % delay",
    "jitter_s": "jitter",
    "loss_ratio": "loss",
    "response_time_s": "response time",
    "group_rekey_time_s": "time of a group key renewal",
    "group_airtime_share": "share of the air that group-addressed messages take",
    "group_delivered_ratio": "share of group-addressed messages that arrive",
    "power_w": "mean power",
}
#: Shares, shown in percent.
_SHARES: Final = (
    OVERHEAD, "joined_ratio", "loss_ratio", "airtime_retry_share", "cpu_share",
    "group_airtime_share", "group_delivered_ratio",
)  # fmt: skip
#: Metrics of which more is better.
_MORE_IS_BETTER: Final = (THROUGHPUT, FAIRNESS, "joined_ratio", "voice_mos", "stations_joined")
#: Delay under load, shown beside the answers where it is measured.
_DELAYS: Final = ("delay_s", "delay_p95_s")


@frozen
class Reading:
    """One cell's value of one quantity."""

    cell: Cell
    estimate: Estimate


def quantity_name(quantity: str) -> str:
    """A metric, or the overhead, for people."""
    return _WORDS.get(quantity, quantity.rsplit("_", 1)[0].replace("_", " "))


def shown(quantity: str, estimate: Estimate | None) -> str:
    """A value of a quantity with its interval; shares in percent."""
    if estimate is None:
        return NOTHING
    return show_overhead(estimate) if quantity in _SHARES else show_estimate(estimate)


def quantities(summary: RunSummary) -> tuple[str, ...]:
    """The quantities that answer the study and were measured, most important first."""
    found = []
    for metric in summary.study.answers:
        if metric == THROUGHPUT and readings(summary, OVERHEAD):
            found.append(OVERHEAD)
        elif readings(summary, metric):
            found.append(metric)
    return tuple(found)


def columns(summary: RunSummary) -> tuple[str, ...]:
    """The columns of the table of answers: throughput with its overhead, and delay under load."""
    found: list[str] = []
    for metric in (*summary.study.answers, *_DELAYS):
        if metric in found or not readings(summary, metric):
            continue
        found.append(metric)
        if metric == THROUGHPUT and readings(summary, OVERHEAD):
            found.append(OVERHEAD)
    return tuple(found)


def readings(summary: RunSummary, quantity: str) -> list[Reading]:
    """The readings of every cell as a whole, in the order of the plan."""
    if quantity == OVERHEAD:
        frame = summary.analysis.overheads
    else:
        frame = summary.analysis.estimates.filter(metric=quantity)
    frame = frame.filter(pl.col("value").is_finite())
    whole = pl.col("flow").is_null() & pl.col("station").is_null()
    by_cell: dict[str, Estimate] = {
        row["cell"]: estimate_of_row(row, summary.analysis.level)
        for row in frame.filter(whole).iter_rows(named=True)
    }
    return [
        Reading(cell, by_cell[cell.name]) for cell in summary.plan.cells if cell.name in by_cell
    ]


def swept_factor(summary: RunSummary) -> str | None:
    """The numeric factor with most levels (three at least), if there is one."""
    found = [
        (len(levels), key)
        for key, levels in summary.study.grid.items()
        if "." in key
        and len(levels) >= 3
        and all(isinstance(v, int | float) and not isinstance(v, bool) for v in levels)
    ]
    return max(found)[1] if found else None


def verdicts(summary: RunSummary, metric: str) -> dict[tuple[str, Any], str]:
    """(cell, None) -> verdict on the whole or on its only part; (cell, (flow, station)): a part."""
    found: dict[tuple[str, Any], str] = {}
    parts: dict[str, list[str]] = {}
    rows = summary.analysis.comparisons.filter(metric=metric)
    for cell, flow, station, verdict in rows.select(
        "cell", "flow", "station", "verdict"
    ).iter_rows():
        whole = flow is None and station is None
        found[cell, None if whole else (flow, station)] = verdict
        if not whole:
            parts.setdefault(cell, []).append(verdict)
    for cell, words in parts.items():
        if len(words) == 1:
            found.setdefault((cell, None), words[0])
    return found


@frozen
class Row:
    """One row of the table of answers.

    ``cell`` is the machine's name. ``station``: a named station of the cell; None: the whole cell.
    """

    cell: str
    policy: str
    place: str
    station: str | None
    values: tuple[str, ...]
    verdict: str


def titles(summary: RunSummary) -> list[str]:
    """The titles of the columns with values."""
    found = []
    for quantity in columns(summary):
        if quantity in (THROUGHPUT, OVERHEAD) and summary.analysis.by_rule:
            found += [f"{quantity_name(quantity)} by rule", "all trials"]
        else:
            found.append(quantity_name(quantity))
    return [*found, "fairness"] if has_fairness(summary) else found


def table(summary: RunSummary) -> list[Row]:
    """The table of answers: one row per cell, and one per station where the study names several.

    The verdict is that on the first answer.
    """
    wanted = columns(summary)
    values = {
        quantity: {r.cell.name: r.estimate for r in readings(summary, quantity)}
        for quantity in wanted
    }
    first = wanted[0] if wanted else THROUGHPUT
    judged = verdicts(summary, first)
    of_throughput = verdicts(summary, THROUGHPUT)
    shares = has_fairness(summary)
    fair = fairness(summary) if shares else {}
    rows = []
    for cell in in_reading_order(summary):
        here = [values[quantity].get(cell.name) for quantity in wanted]
        if not any(estimate is not None for estimate in here):
            continue
        texts: list[str] = []
        for quantity, estimate in zip(wanted, here, strict=True):
            texts += _texts(summary, cell.name, quantity, estimate)
        if shares:
            texts.append(f"{fair[cell.name]:.3f}" if cell.name in fair else NOTHING)
        policy = summary.names.variant(cell.policy, cell.factors_json)
        place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",))
        verdict = _judged(summary, cell, first, judged.get((cell.name, None), ""))
        rows.append(Row(cell.name, policy, place, None, tuple(texts), verdict))
        if first in (THROUGHPUT, FAIRNESS) and not cell.settings.clients:
            place_of = (cell, policy, place)
            rows += _rows_of_stations(summary, place_of, wanted, shares, of_throughput)
    return rows


def _rows_of_stations(
    summary: RunSummary,
    place_of: tuple[Cell, str, str],
    wanted: Sequence[str],
    shares: bool,
    judged: dict[Any, str],
) -> list[Row]:
    """Rows of the stations that the study names, where there are several."""
    cell, policy, place = place_of
    names = [station.name for station in cell.settings.stations]
    if len(names) < 2:
        return []
    parts = summary.analysis.estimates.filter(
        (pl.col("cell") == cell.name)
        & (pl.col("metric") == THROUGHPUT)
        & pl.col("station").is_in(names)
    )
    rows = []
    for part in parts.iter_rows(named=True):
        key = (part["flow"], part["station"])
        texts: list[str] = []
        for quantity in wanted:
            of_part = (
                summary.analysis.overhead(cell.name, *key)
                if quantity == OVERHEAD
                else summary.analysis.estimate(cell.name, quantity, *key)
            )
            texts += _texts(summary, cell.name, quantity, of_part, *key)
        if shares:
            texts.append("")
        verdict = _judged(summary, cell, THROUGHPUT, judged.get((cell.name, key), ""))
        several = parts.filter(station=part["station"]).height > 1
        station = part["flow"] if several else part["station"]
        rows.append(Row(cell.name, policy, place, station, tuple(texts), verdict))
    return rows


def _judged(summary: RunSummary, cell: Cell, metric: str, verdict: str) -> str:
    words = "baseline" if cell.name in summary.analysis.references else verdict
    return summary.verdict(cell.name, words) if metric == THROUGHPUT else words


def _texts(
    summary: RunSummary, cell: str, quantity: str, estimate: Estimate | None, *part: str | None
) -> list[str]:
    """A value in its column; where a rule selects trials, that of all trials in a second one."""
    if quantity not in (THROUGHPUT, OVERHEAD) or not summary.analysis.by_rule:
        return [shown(quantity, estimate)]
    if estimate is None:
        return [NOTHING, NOTHING]
    if quantity == OVERHEAD:
        of_all = summary.analysis.overhead_of_all(cell, *part)
    else:
        row = summary.analysis.estimates.row(
            summary.analysis.row_of(cell, quantity, *part), named=True
        )
        of_all = evolve(estimate, value=row["value_all"], n=row["n_all"])
    return [shown(quantity, without_interval(estimate)), shown(quantity, of_all)]


def fairness(summary: RunSummary) -> dict[str, float]:
    """Jain's index of the stations' throughputs, of each cell with several stations.

    The mean of the trials; where they have none (imported readings), that of the mean throughputs.
    """
    found = {}
    for (cell,), rows in _of_stations(summary).group_by(["cell"], maintain_order=True):
        of_stations = rows.group_by("station").agg(pl.col("value").sum())["value"]
        if len(of_stations) > 1:
            found[str(cell)] = jain(of_stations.to_numpy())
    return found | {r.cell.name: r.estimate.value for r in readings(summary, FAIRNESS)}


def has_fairness(summary: RunSummary) -> bool:
    """Whether the table has a column for it beside the answers: throughput is one, and stations
    share a cell.
    """
    if THROUGHPUT not in summary.study.answers or FAIRNESS in summary.study.answers:
        return False
    per_cell = _of_stations(summary).group_by("cell").agg(pl.col("station").n_unique())
    return bool((per_cell["station"] > 1).any())


def _of_stations(summary: RunSummary) -> pl.DataFrame:
    """The estimates of the throughputs of single stations."""
    return summary.analysis.estimates.filter(
        (pl.col("metric") == THROUGHPUT) & pl.col("station").is_not_null()
    )


def in_reading_order(summary: RunSummary) -> list[Cell]:
    """The cells by place, the policies of one place adjacent, both in the order of the study."""
    names = summary.names
    variants = names.of_policies
    places: dict[Any, list[Cell]] = {}
    for cell in summary.plan.cells:
        levels = tuple((k, v) for k, v in cell.factors if k not in variants)
        places.setdefault((cell.scenario, levels, cell.traffic), []).append(cell)
    return [cell for cells in places.values() for cell in cells]


def headline(summary: RunSummary) -> list[str]:
    """The answer in one sentence; then warnings, and what else the study answers.

    A warning that the throughputs are no radio's goes before the answer.
    """
    answers = [
        sentence for quantity in quantities(summary) if (sentence := _sentence(summary, quantity))
    ]
    return [
        *_of_limits(summary),
        *answers[:1],
        *_of_silence(summary),
        *_of_wires(summary),
        *_of_queues(summary),
        *_of_rates(summary),
        *_of_joins(summary),
        *answers[1:],
        *_of_the_largest(summary),
        *([] if answers else _without_an_answer(summary)),
    ]


def not_covered(summary: RunSummary) -> list[str]:
    """Gaps of the answer: cells that were skipped or failed, and the study's own list."""
    found = []
    for status, words in (("skipped", "not run"), ("failed", "without a result")):
        rows = summary.trials.filter(status=status)
        cells = rows["cell"].unique().len()
        if cells:
            reason = next(iter(rows["reason"].drop_nulls()), "no reason stated")
            found.append(f"{cells} cell{'s' if cells > 1 else ''} {words}: {reason}")
    return [*found, *summary.study.study.leaves_out]


def _sentence(summary: RunSummary, quantity: str) -> str:
    if quantity == OVERHEAD:
        return _of_costs(summary)
    found = readings(summary, quantity)
    if quantity == THROUGHPUT:
        # Other flows have the throughput that they offer.
        found = [r for r in found if is_saturated(r.cell)] or found
    words = quantity_name(quantity)
    start = ""
    swept = swept_factor(summary)
    if swept:
        # The highest level of a sweep is the case that the question is about.
        top = max(dict(reading.cell.factors)[swept] for reading in found)
        found = [r for r in found if dict(r.cell.factors)[swept] == top]
        start = f"{_capital(_with_level(swept, top))}, "
    words = f"the {words}" if start else f"The {words}"
    found.sort(key=lambda reading: reading.estimate.value)
    least, most = found[0], found[-1]
    without = ("policy",) if not swept else ("policy", swept)
    if len(found) == 1 or shown(quantity, least.estimate) == shown(quantity, most.estimate):
        where = "" if len(found) == 1 else f" in all {len(found)} cells"
        return f"{start}{words} is {shown(quantity, least.estimate)}{where}."
    best, worst = (most, least) if quantity in _MORE_IS_BETTER else (least, most)
    ends = [
        f"{shown(quantity, r.estimate)} with {_named(summary, r.cell, without)}"
        for r in (best, worst)
    ]
    tail, bounds = _told_apart(least.estimate, most.estimate, summary.analysis.level)
    average = "" if swept else _over_places(summary, quantity, found)
    return f"{start}{words} is {ends[0]}, and {ends[1]}{tail} ({bounds}).{average}"


def _told_apart(least: Estimate, most: Estimate, level: float) -> tuple[str, str]:
    """The words for two values that cannot be told apart, if they cannot, and for their intervals.

    A value that is equal in all trials has no interval, and a single trial has none either.
    """
    both = (least, most)
    known = f"{100 * level:.0f} % interval"
    single = [one for one in both if not one.has_interval and one.n < 2]
    if len(single) == 2:
        return "", "no interval: one trial"
    if single:
        return "", f"{known}; one trial has none"
    if not any(one.has_interval for one in both):
        return "", "equal in all trials"
    high, low = (
        least.high if least.has_interval else least.value,
        most.low if most.has_interval else most.value,
    )
    tail = "" if high < low else ", which these trials cannot tell apart"
    if all(one.has_interval for one in both):
        return tail, f"{known}s"
    return tail, f"{known}; without one: equal in all trials"


def _over_places(summary: RunSummary, quantity: str, found: Sequence[Reading]) -> str:
    """Least and most means over places of what is compared, where all have the same places."""
    of_policy: dict[str, dict[str, Estimate]] = {}
    contrast = summary.analysis.contrast
    for reading in found:
        cell = reading.cell
        if contrast.is_of_policies:
            policy = summary.names.variant(cell.policy, cell.factors_json)
            place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy",))
        else:
            policy = summary.arm(cell)
            place = _named(summary, cell, (contrast.factor,))
        of_policy.setdefault(policy, {})[place] = reading.estimate
    places = {frozenset(by_place) for by_place in of_policy.values()}
    if len(of_policy) < 2 or len(places) != 1 or len(next(iter(places))) < 2:
        return ""
    means = {
        policy: mean_of_estimates(list(by_place.values())) for policy, by_place in of_policy.items()
    }
    ordered = sorted(means, key=lambda policy: means[policy].value)
    if quantity in _MORE_IS_BETTER:
        ordered.reverse()
    best, worst = (f"{shown(quantity, means[p])} with {p}" for p in (ordered[0], ordered[-1]))
    return f" On average over {len(next(iter(places)))} places it is {best}, and {worst}."


def _with_level(key: str, value: Any) -> str:
    text = level_name(key, value)
    return f"with {text}" if text[0].isdigit() else f"at {text}"


def _named(summary: RunSummary, cell: Cell, without: Sequence[str]) -> str:
    place = summary.names.place(cell.scenario, cell.traffic, cell.factors_json, without)
    policy = summary.names.variant(cell.policy, cell.factors_json)
    return f"{policy} ({place})" if place else policy


def _of_costs(summary: RunSummary) -> str:
    """Highest and lowest mean overhead of a policy, with their intervals."""
    # A difference of bit rates is negative if security costs throughput.
    cost = -1.0 if summary.analysis.definition == "difference_bps" else 1.0
    found = readings(summary, OVERHEAD)
    if not summary.analysis.contrast.is_of_policies:
        saturated = [r for r in found if is_saturated(r.cell)] or found
        return _of_levels(summary, _mean_costs(summary, saturated, cost), cost)
    by_devices = _by_devices(found)
    if len(by_devices) > 1:
        return _of_costs_by_devices(summary, by_devices, cost)
    means = _mean_costs(summary, found, cost)
    (low, cheap, least, _), (high, dear, most, count) = means[0], means[-1]
    against = f"Against {summary.reference}, "
    average = f" on average over {count} cells" if count > 1 else ""
    level = f"{100 * summary.analysis.level:.0f} %"
    bounds = f" ({level} interval{'s' if len(means) > 1 else ''})" if most.has_interval else ""
    if len(means) == 1:
        return (
            f"{against}{dear} costs {_cost(most, cost)} of throughput{average}"
            f"{bounds or ' (no interval)'}."
        )
    if _amount(low, least.unit) == _amount(high, most.unit):
        both = "both" if len(means) == 2 else f"all {len(means)}"
        return (
            f"{against}{both} secured policies cost the same throughput to the digit shown: "
            f"{_cost(most, cost)}{average}{bounds or ' (no interval)'}."
        )
    ends = sorted(((least.low, least.high), (most.low, most.high)))
    if most.has_interval and least.has_interval and ends[1][0] <= ends[0][1]:
        return (
            f"{against}the policies cost between {_cost(least, cost)} ({cheap}) and "
            f"{_cost(most, cost)} ({dear}) of throughput{average}, which these "
            f"trials cannot tell apart{bounds}."
        )
    return (
        f"{against}{dear} costs most throughput, {_cost(most, cost)}{average}, and "
        f"{cheap} least, {_cost(least, cost)}{bounds or ' (no interval)'}."
    )


def _of_levels(
    summary: RunSummary, means: Sequence[tuple[float, str, Estimate, int]], cost: float
) -> str:
    """Throughput at the levels of most and least cost against that at the reference's level.

    ``means``: of saturated flows alone; others have the throughput that they offer.
    """
    (_, dear, most, count), others = means[-1], means[:-1]
    average = f" on average over {count} cells" if count > 1 else ""
    verb, amount = _change(most, cost)
    less = f"{verb} by {amount} with {dear}"
    if others:
        other, amount = _change(others[0][2], cost)
        less += f" and {'' if other == verb else other + ' '}by {amount} with {others[0][1]}"
    bounds = (
        f"{100 * summary.analysis.level:.0f} % interval{'s' if others else ''}"
        if most.has_interval
        else "no interval"
    )
    return f"Against {summary.reference}, throughput {less}{average} ({bounds})."


def _change(estimate: Estimate, cost: float) -> tuple[str, str]:
    """Whether a throughput falls or rises, and by how much; a gain that may be none falls."""
    gains = cost * estimate.value < 0 and not (estimate.low <= 0 <= estimate.high)
    if gains and estimate.unit == "1":
        return "rises", show_overhead(_turned(estimate))
    return ("rises", show_estimate(estimate)) if gains else ("falls", _cost(estimate, cost))


def _mean_costs(
    summary: RunSummary, found: Sequence[Reading], cost: float
) -> list[tuple[float, str, Estimate, int]]:
    """Cost, policy (or level that is compared), mean overhead and number of its cells, cheapest
    first.
    """
    of_arm: dict[str, list[str]] = {}
    for reading in found:
        of_arm.setdefault(summary.arm(reading.cell), []).append(reading.cell.name)
    means = []
    for arm, cells in of_arm.items():
        mean = summary.analysis.combined_overhead(cells)
        if mean is not None:
            means.append((cost * mean.value, arm, mean, len(cells)))
    return sorted(means, key=lambda entry: entry[0])


def _by_devices(found: Sequence[Reading]) -> dict[Any, list[Reading]]:
    """The readings by profile set: a mean over other devices, or over models of one, is no cost."""
    groups: dict[Any, list[Reading]] = {}
    for reading in found:
        groups.setdefault(dict(reading.cell.factors).get("profile_set"), []).append(reading)
    return groups


def _of_costs_by_devices(
    summary: RunSummary, groups: Mapping[Any, Sequence[Reading]], cost: float
) -> str:
    """The range of mean overheads under each profile set."""
    parts: list[str] = []
    interval = True
    for devices, found in groups.items():
        means = _mean_costs(summary, found, cost)
        (_, cheap, least, _), (_, dear, most, _) = means[0], means[-1]
        interval = interval and least.has_interval and most.has_interval
        words = _cost(most, cost)
        if len(means) > 1:
            low = f"{_cost(least, cost)} ({cheap})"
            words = f"{low} to {words} ({dear})"
        of = "" if parts else " of throughput"
        parts.append(f"{words}{of} with {level_name('profile_set', devices)}")
    policies = {reading.cell.policy for found in groups.values() for reading in found}
    subject = f"{policy_name(policies.pop())} costs" if len(policies) == 1 else "the policies cost"
    bounds = f"{100 * summary.analysis.level:.0f} % intervals" if interval else "no interval"
    return (
        f"Against {summary.reference}, {subject} {'; '.join(parts)} (means over places, {bounds})."
    )


def _of_the_largest(summary: RunSummary) -> list[str]:
    """The largest single overhead, where throughput is the first answer and cells are several."""
    if quantities(summary)[:1] != (OVERHEAD,):
        return []
    found = readings(summary, OVERHEAD)
    cost = -1.0 if summary.analysis.definition == "difference_bps" else 1.0
    worst = max(found, key=lambda reading: cost * reading.estimate.value)
    level = f"{100 * summary.analysis.level:.0f} %"
    bounds = f"{level} interval" if worst.estimate.has_interval else "no interval"
    detectable = summary.analysis.comparisons.filter(
        (pl.col("metric") == THROUGHPUT)
        & pl.col("flow").is_null()
        & pl.col("station").is_null()
        & (pl.col("p_adjusted") < 0.05)
    ).height
    return [
        f"The largest single overhead is {show_overhead(worst.estimate)} ({bounds}): "
        f"{summary.names.cell(worst.cell.name)}; {detectable} of {len(found)} differences stand "
        "out from the spread of the trials."
    ]


def _without_an_answer(summary: RunSummary) -> list[str]:
    """The reason for which no metric of the question was measured."""
    if not summary.outcomes.get("ok"):
        counts = ", ".join(f"{n} {status}" for status, n in summary.outcomes.items())
        reasons = summary.trials["reason"].drop_nulls()
        first = f" The first reason: {reasons[0]}." if len(reasons) else ""
        return [f"No trial was carried out to its end ({counts or 'none tried'}).{first}"]
    if summary.silent:
        return []
    wanted = [name for name in summary.study.answers if name in METRICS]
    names = " and ".join(quantity_name(name) for name in wanted)
    return [f"These trials measured no {names}, which the study asks for."]


def _of_silence(summary: RunSummary) -> list[str]:
    """The cells without throughput, in one sentence."""
    count = len(summary.silent)
    if not count:
        return []
    first = next(cell.name for cell in summary.plan.cells if cell.name in summary.silent)
    return [
        f"{count} cell{'s' if count > 1 else ''} carried no data (first: "
        f"{summary.names.cell(first)}): the level is too low for the rate, or the traffic is too "
        "short; `airtoll check` shows the level."
    ]


def _of_wires(summary: RunSummary) -> list[str]:
    """The cells whose throughput is that of the wire, in one sentence."""
    found = [r for r in readings(summary, THROUGHPUT) if fills_the_wire(r.cell, r.estimate.value)]
    if not found:
        return []
    first = found[0].cell
    rate = show_value(1e6 * wire_mbps(first.settings.wired, first.settings.phy), "bit/s")
    some = "1 throughput is" if len(found) == 1 else f"{len(found)} throughputs are"
    return [
        f"{some} limited by the wired link, not by the air (first: "
        f"{summary.names.cell(first.name)}, {rate}): raise `wired.rate_mbps` of the scenario."
    ]


def _of_queues(summary: RunSummary) -> list[str]:
    """The queues and windows that limit, in one sentence; wires have one of their own."""
    of_wires = bool(_of_wires(summary))
    said = [
        text.removeprefix(LIMIT)
        for text in summary.caveats
        if text.startswith(LIMIT) and not (of_wires and "wired.rate_mbps" in text)
    ]
    if not said:
        return []
    more = f" ({len(said) - 1} more such notes below)" if len(said) > 1 else ""
    return [f"Not the air alone limits: {said[0]}{more}."]


def _of_rates(summary: RunSummary) -> list[str]:
    """The rates that the study does not state, in one sentence."""
    said = [text.removeprefix(RATE) for text in summary.caveats if text.startswith(RATE)]
    if not said:
        return []
    more = f" ({len(said) - 1} more such notes below)" if len(said) > 1 else ""
    return [f"Rates: {said[0]}{more}."]


def _of_joins(summary: RunSummary) -> list[str]:
    """The cells in which not every client joined: fewest clients, and how many cells."""
    found = [r for r in readings(summary, "joined_ratio") if r.estimate.value < 1]
    if not found:
        return []
    worst = min(found, key=lambda reading: reading.estimate.value)
    count = summary.analysis.estimate(worst.cell.name, "stations_joined")
    joined = count.value if count else 0.0
    share = worst.estimate.value
    clients = round(joined / share) if share else worst.cell.settings.clients or 1
    name = summary.names.cell(worst.cell.name)
    if len(found) == 1:
        return [f"{joined:.4g} of {clients} clients joined, on average: {name}."]
    return [
        f"In {len(found)} cells not every client joined; fewest: {joined:.4g} of {clients} on "
        f"average, {name}."
    ]


def _of_limits(summary: RunSummary) -> list[str]:
    measured = summary.analysis.estimates.filter(metric=THROUGHPUT)["cell"].n_unique()
    bound = len(summary.not_radio)
    if not bound:
        return []
    reason = next(text for text in summary.caveats if text.startswith(NOT_RADIO))
    some = f"{bound} of {measured} throughputs {'is' if bound == 1 else 'are'} not"
    which = "None of these throughputs is" if bound == measured else some
    return [
        f"{which} a radio's, and what is said of them holds for this computer alone: "
        f"{reason.removeprefix(NOT_RADIO)}."
    ]


def _cost(estimate: Estimate, sign: float) -> str:
    """A cost with its interval; a difference of rates with its sign turned."""
    if sign > 0:
        return show_overhead(estimate)
    return show_estimate(_turned(estimate))


def _turned(estimate: Estimate) -> Estimate:
    return evolve(estimate, value=-estimate.value, low=-estimate.high, high=-estimate.low)


def _amount(value: float, unit: str) -> str:
    if not math.isfinite(value):
        return NOTHING
    return f"{100 * value:.1f} %" if unit == "1" else show_value(value, unit)


def _capital(text: str) -> str:
    return text[:1].upper() + text[1:]
