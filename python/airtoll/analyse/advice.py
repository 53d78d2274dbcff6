"""Advice: which policy meets the needs, at what cost.

Takes an analysis of a run and what is needed; gives options ranked, the Pareto front of security
services against cost, and sentences that each name the cells they rest on. A broken policy can
be measured and is never recommended. Never runs anything and never guesses a missing figure: a
limit on something that was not measured is not met.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Final, Literal

import polars as pl
from attrs import evolve, field, frozen

from airtoll.analyse.analysis import THROUGHPUT, Analysis, estimate_of_row
from airtoll.analyse.estimate import Estimate
from airtoll.analyse.quantities import show_value
from airtoll.errors import PolicyError, UsageError
from airtoll.policies import Policy, resolve
from airtoll.policies.model import Reference

Verdict = Literal["yes", "likely", "no", "unknown"]

#: Words of the command line -> service of the catalogue.
SERVICES: Final[dict[str, str]] = {
    "authentication": "authentication",
    "confidentiality": "confidentiality",
    "integrity": "integrity",
    "non-repudiation": "non-repudiation",
    "mutual-auth": "mutual-authentication",
    "mutual-authentication": "mutual-authentication",
    "forward-secrecy": "forward-secrecy",
}

#: Metrics that are measured per station, not per cell.
_PER_STATION: Final = (
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
    "handover_gap_s",
    "authentication_messages",
)

#: Metrics that count as cost, in the order in which ties are broken; throughput counts negative.
_COSTS: Final = ("overhead", THROUGHPUT, "negotiation_time_s", "handover_gap_s", "delay_s")


@frozen
class Needs:
    """What is asked for. ``None``: no limit. Throughput in bit/s, times in seconds."""

    services: tuple[str, ...] = ()
    min_throughput_bps: float | None = None
    max_overhead: float | None = None
    max_delay_s: float | None = None
    max_negotiation_s: float | None = None
    max_handover_s: float | None = None


@frozen
class Check:
    """One need against one policy, with the figure it rests on."""

    need: str
    verdict: Verdict
    figure: str
    cells: tuple[str, ...] = ()


@frozen
class Option:
    """One policy with its services, what it costs and how it fares.

    ``figures``: metric (or ``overhead``) -> estimate and the cell it comes from. ``broken``: why it
    is never recommended. ``caveats``: known weaknesses that leave it usable.
    """

    policy: str
    services: tuple[str, ...]
    broken: tuple[str, ...]
    figures: Mapping[str, tuple[Estimate, str]]
    checks: tuple[Check, ...]
    caveats: tuple[str, ...] = ()
    pareto: bool = False

    @property
    def meets(self) -> Verdict:
        """``yes`` if every need is met at the level of the intervals, ``likely`` on the values."""
        verdicts = {check.verdict for check in self.checks}
        order: tuple[Verdict, ...] = ("no", "unknown", "likely")
        for worst in order:
            if worst in verdicts:
                return worst
        return "yes"

    @property
    def recommendable(self) -> bool:
        """Whether it meets the needs and nobody has broken it."""
        return self.meets in ("yes", "likely") and not self.broken


@frozen
class Advice:
    """Options of one scenario, traffic and factor levels, best first, and what to say of them.

    ``factors``: the levels as in the observations, JSON.
    """

    scenario: str
    traffic: str
    baseline: str
    options: tuple[Option, ...]
    sentences: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())
    factors: str = "{}"

    @property
    def place(self) -> str:
        """Scenario, traffic and factor levels in words."""
        levels = ", ".join(f"{key} = {value}" for key, value in json.loads(self.factors).items())
        return f"{self.scenario}, {self.traffic}" + (f", {levels}" if levels else "")

    @property
    def recommended(self) -> Option | None:
        """The best option that can be recommended, or None."""
        return next((option for option in self.options if option.recommendable), None)


def service_named(word: str) -> str:
    """The catalogue's service of a word of the command line. Raises UsageError."""
    if word not in SERVICES:
        raise UsageError(f"need {word!r}: allowed are {', '.join(SERVICES)}")
    return SERVICES[word]


def advise(
    analysis: Analysis, needs: Needs, scenario: str, traffic: str, factors: str | None = None
) -> Advice:
    """Rank the policies that were measured in a scenario under a traffic.

    ``factors``: the factor levels as in the observations; needed where there are several.
    The baseline and policies that the catalogue does not know are ranked too; neither needs a
    service that it lacks. Raises UsageError if nothing was measured there.
    """
    rows = analysis.estimates.filter(
        (pl.col("scenario") == scenario)
        & (pl.col("traffic") == traffic)
        & pl.col("flow").is_null()
        & pl.col("station").is_null()
        & (pl.col("factors") == (factors or "{}"))
    )
    if rows.is_empty():
        known = sorted(
            set(
                analysis.estimates.select(
                    pl.concat_str("scenario", pl.lit("/"), "traffic")
                ).to_series()
            )
        )
        raise UsageError(
            f"nothing was measured in {scenario}/{traffic}; there is: {', '.join(known)}"
        )
    options = []
    for (name,), cells in rows.group_by(["policy"], maintain_order=True):
        policy = _policy(str(name))
        cell = str(cells["cell"][0])
        figures = {
            str(metric): (estimate, cell)
            for metric in cells["metric"]
            if (estimate := analysis.estimate(cell, metric)) is not None
        }
        for metric, estimate in _of_stations(analysis, cell).items():
            figures.setdefault(metric, (estimate, cell))
        overhead = analysis.overhead(cell)
        if overhead is not None:
            figures["overhead"] = (overhead, cell)
        options.append(
            Option(
                policy=str(name),
                services=policy.services.names() if policy else (),
                broken=_words(policy.broken) if policy else (),
                caveats=_words(policy.weaknesses) if policy else (),
                figures=figures,
                checks=_checks(needs, policy, figures),
            )
        )
    ranked = _with_front(sorted(options, key=_rank))
    advice = Advice(scenario, traffic, analysis.baseline, tuple(ranked), factors=factors or "{}")
    return evolve(advice, sentences=_sentences(advice, needs))


@frozen
class Choice:
    """What a published study would choose, beside ours, for one scenario and transport."""

    scenario: str
    traffic: str
    theirs: str
    ours: str
    agrees: bool
    cells: tuple[str, ...]


def against(advices: Sequence[Advice], choices: Sequence[Mapping[str, str]]) -> list[Choice]:
    """Our choice beside a study's: ``choices`` rows hold scenario, traffic and policy."""
    by_place = {(advice.scenario, advice.traffic): advice for advice in advices}
    found = []
    for choice in choices:
        advice = by_place.get((choice["scenario"], choice["traffic"]))
        if advice is None:
            continue
        best = advice.recommended
        theirs = resolve(choice["policy"]).name
        found.append(
            Choice(
                choice["scenario"],
                choice["traffic"],
                theirs,
                best.policy if best else "none",
                best is not None and best.policy == theirs,
                tuple(sorted({cell for o in advice.options for _, cell in o.figures.values()})),
            )
        )
    return found


@frozen
class TransportVerdict:
    """Which of two traffics loses less to a policy in a scenario."""

    scenario: str
    policy: str
    better: str
    overheads: tuple[tuple[str, Estimate], ...]
    clear: bool


def better_transport(analysis: Analysis) -> list[TransportVerdict]:
    """Per scenario and policy: the traffic with the lower overhead, and whether it is clear.

    Clear means that the intervals do not overlap.
    """
    rows = analysis.overheads.filter(pl.col("flow").is_null() & pl.col("station").is_null())
    found = []
    keys = ["scenario", "policy", "factors"]
    for (scenario, policy, _factors), cells in rows.group_by(keys, maintain_order=True):
        parts = []
        for row in cells.sort("value").iter_rows(named=True):
            estimate = analysis.overhead(row["cell"])
            if estimate is not None:
                parts.append((str(row["traffic"]), estimate))
        if len(parts) > 1:
            clear = parts[0][1].high < parts[1][1].low
            found.append(
                TransportVerdict(str(scenario), str(policy), parts[0][0], tuple(parts), clear)
            )
    return found


def spread(analysis: Analysis, metric: str = THROUGHPUT) -> pl.DataFrame:
    """Coefficient of variation across trials per scenario and traffic, largest first.

    Columns: scenario, traffic, variation (root mean square over policies), cells, n.
    """
    return (
        analysis.estimates.filter(
            (pl.col("metric") == metric)
            & pl.col("flow").is_null()
            & pl.col("station").is_null()
            & (pl.col("n") > 1)
            & (pl.col("value") != 0)
        )
        .with_columns(cv2=(pl.col("deviation") / pl.col("value")) ** 2)
        .group_by("scenario", "traffic")
        .agg(
            variation=pl.col("cv2").mean().sqrt(), cells=pl.col("cell").sort(), n=pl.col("n").sum()
        )
        .sort("variation", descending=True)
    )


@frozen
class Composition:
    """A hybrid policy's overhead beside those of its parts alone."""

    cell: str
    parts: tuple[str, ...]
    whole: Estimate
    sum_of_parts: float


def hybrids(analysis: Analysis) -> list[Composition]:
    """Composed policies (``a+b``) of which every part was measured in the same place."""
    found = []
    for row in analysis.overheads.iter_rows(named=True):
        parts = str(row["policy"]).split("+")
        if len(parts) < 2 or row["flow"] is not None or row["station"] is not None:
            continue
        cells = [str(row["cell"]).replace(str(row["policy"]), part, 1) for part in parts]
        estimates = [analysis.overhead(cell) for cell in cells]
        whole = analysis.overhead(row["cell"])
        known = [estimate.value for estimate in estimates if estimate is not None]
        if whole is not None and len(known) == len(parts):
            found.append(Composition(row["cell"], tuple(parts), whole, sum(known)))
    return found


def _of_stations(analysis: Analysis, cell: str) -> dict[str, Estimate]:
    """What getting on takes, where it was measured station by station: the slowest station's."""
    rows = analysis.estimates.filter(
        (pl.col("cell") == cell) & pl.col("metric").is_in(_PER_STATION) & pl.col("flow").is_null()
    ).filter(pl.col("station").is_not_null())
    return {
        str(row["metric"]): estimate_of_row(row, analysis.level)
        for row in rows.sort("value").iter_rows(named=True)
    }


def _policy(name: str) -> Policy | None:
    try:
        return resolve(name)
    except PolicyError:
        return None


def _words(references: Sequence[Reference]) -> tuple[str, ...]:
    return tuple(f"{r.what} ({r.source})" for r in references)


def _checks(
    needs: Needs, policy: Policy | None, figures: Mapping[str, tuple[Estimate, str]]
) -> tuple[Check, ...]:
    checks = []
    offered = policy.services.names() if policy else ()
    for service in needs.services:
        has = service in offered
        checks.append(Check(service, "yes" if has else "no", "offered" if has else "not offered"))
    for need, metric, limit, least in (
        ("throughput", THROUGHPUT, needs.min_throughput_bps, True),
        ("overhead", "overhead", needs.max_overhead, False),
        ("delay", "delay_s", needs.max_delay_s, False),
        ("negotiation", "negotiation_time_s", needs.max_negotiation_s, False),
        ("handover", "handover_gap_s", needs.max_handover_s, False),
    ):
        if limit is None:
            continue
        found = figures.get(metric)
        if found is None:
            if metric in ("negotiation_time_s", "overhead") and policy and policy.is_baseline:
                checks.append(Check(need, "yes", "the baseline negotiates nothing"))
            else:
                checks.append(Check(need, "unknown", f"{metric} was not measured"))
            continue
        checks.append(_limit(need, found[0], found[1], limit, least))
    return tuple(checks)


def _limit(need: str, estimate: Estimate, cell: str, limit: float, least: bool) -> Check:
    sign = 1.0 if least else -1.0
    bound = estimate.low if least else estimate.high
    share = estimate.unit == "1"
    figure = (
        f"{100 * estimate.value:.3g} % against {100 * limit:.3g} %"
        if share
        else f"{show_value(estimate.value, estimate.unit)} against "
        f"{show_value(limit, estimate.unit)}"
    )
    if sign * (estimate.value - limit) < 0:
        return Check(need, "no", figure, (cell,))
    sure = not math.isnan(bound) and sign * (bound - limit) >= 0
    return Check(need, "yes" if sure else "likely", figure, (cell,))


def _rank(option: Option) -> tuple[float, ...]:
    order = {"yes": 0, "likely": 1, "unknown": 2, "no": 3}[option.meets]
    costs = [_cost(option, metric) for metric in _COSTS]
    return (1.0 if option.broken else 0.0, float(order), *costs, -float(len(option.services)))


def _cost(option: Option, metric: str) -> float:
    found = option.figures.get(metric)
    if found is None:
        return 0.0 if metric in ("overhead", "negotiation_time_s") else math.inf
    return -found[0].value if metric == THROUGHPUT else found[0].value


def _with_front(options: list[Option]) -> list[Option]:
    """Mark the Pareto front of services (more) against costs (less), among unbroken policies."""
    front = []
    for option in options:
        beaten = option.broken or any(
            _dominates(other, option)
            for other in options
            if other is not option and not other.broken
        )
        front.append(evolve(option, pareto=not beaten))
    return front


def _dominates(a: Option, b: Option) -> bool:
    """Whether ``a`` offers all services of ``b`` at no higher cost, and one thing better."""
    if not set(a.services) >= set(b.services):
        return False
    metrics = [m for m in _COSTS if m in a.figures and m in b.figures]
    pairs = [(_cost(a, m), _cost(b, m)) for m in metrics]
    if any(x > y for x, y in pairs) or not pairs:
        return False
    return any(x < y for x, y in pairs) or set(a.services) > set(b.services)


def _sentences(advice: Advice, needs: Needs) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: list[tuple[str, tuple[str, ...]]] = []
    best = advice.recommended
    if best is None:
        found.append(
            (f"No unbroken policy meets the needs in {advice.scenario} under {advice.traffic}.", ())
        )
    else:
        cost = best.figures.get("overhead")
        words = f"Choose {best.policy}"
        if cost is not None:
            words += f": it costs {_lost(cost[0])} of throughput against {advice.baseline}"
        elif best.policy != advice.baseline:
            words += f": {advice.baseline} was not measured there, so its cost is not known"
        if best.meets == "likely":
            words += "; at these trials' precision the needs are likely, not surely, met"
        cells = tuple(sorted({cell for _, cell in best.figures.values()}))
        found.append((words + ".", cells))
        found += [(f"Mind that with {best.policy} {caveat}.", ()) for caveat in best.caveats]
    reasons: dict[str, list[Option]] = {}
    for option in advice.options:
        if option.broken and option.meets in ("yes", "likely"):
            reasons.setdefault(option.broken[0], []).append(option)
    for reason, options in reasons.items():
        verb = "is" if len(options) == 1 else "are"
        found.append(
            (
                f"{', '.join(o.policy for o in options)} would meet the needs and {verb} "
                f"broken: {reason}.",
                tuple(sorted({cell for o in options for _, cell in o.figures.values()})),
            )
        )
    missing = sorted({c.need for o in advice.options for c in o.checks if c.verdict == "unknown"})
    if missing:
        found.append((f"Not measured, so not judged: {', '.join(missing)}.", ()))
    if not needs.services and best is not None and best.policy == advice.baseline:
        found.append(("No service was asked for, so no security is the cheapest answer.", ()))
    return tuple(found)


def _lost(estimate: Estimate) -> str:
    """An overhead as an amount lost: a difference of rates is negative where security costs."""
    if estimate.unit == "1":
        return _percent(estimate)
    return show_value(-estimate.value, estimate.unit)


def _percent(estimate: Estimate) -> str:
    text = (
        f"{100 * estimate.value:.2f} %"
        if estimate.unit == "1"
        else show_value(estimate.value, estimate.unit)
    )
    if estimate.has_interval and estimate.unit == "1":
        text += f" [{100 * estimate.low:.2f}, {100 * estimate.high:.2f}]"
    return text
