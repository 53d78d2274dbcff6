"""Advice: the policy that meets the needs, and its cost.

An analysis of a run and the needs give options ranked, the Pareto front of security against cost,
and sentences that each name their cells. Policies tie in throughput unless the interval of their
difference (paired where the trials are) lies beyond a margin; among ties the stronger one is
recommended. Where the trials are too few to tell, the answer is "undecided" with the number of
trials that would tell. A broken policy can be measured and is never recommended; ``open`` only if
asked for by name. A limit on a quantity that was not measured is not judged, and neither is a
policy that was not measured: both are named, and never counted as not meeting the needs.
"""

from __future__ import annotations

import json
import math
from collections.abc import Container, Iterable, Mapping, Sequence
from typing import Any, Final, Literal

import polars as pl
from attrs import evolve, field, frozen

from airtoll.analyse.analysis import THROUGHPUT, Analysis, estimate_of_row
from airtoll.analyse.cost import as_cost, cost_in_words, is_told
from airtoll.analyse.estimate import NOT_SETTLED, Estimate, mean_t
from airtoll.analyse.overhead import Summary, overhead
from airtoll.analyse.overhead import difference as welch_difference
from airtoll.analyse.power import MOST_TRIALS
from airtoll.analyse.quantities import show_value
from airtoll.analyse.student import t_quantile
from airtoll.errors import PolicyError, UsageError
from airtoll.observe.metrics import OVERHEAD, more_is_better
from airtoll.policies import Policy, resolve
from airtoll.policies.model import Reference
from airtoll.policies.standing import (
    CREDENTIALS,
    RULE_SETS,
    Credentials,
    allowed_at_6ghz,
    credentials,
    needs_8021x,
    requires_pmf,
    strength,
)

Verdict = Literal["yes", "likely", "no", "unknown"]
#: Whether an option meets the needs; of a policy that was not measured, it is not known.
Meets = Literal["yes", "likely", "no", "unknown", "not measured"]

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

#: Metrics that count as cost, in the order in which ties are broken.
_COSTS: Final = (OVERHEAD, THROUGHPUT, "negotiation_time_s", "handover_gap_s", "delay_s")


#: Share of the dearer policy's throughput below which a difference is no reason to choose.
MARGIN: Final = 0.01


@frozen
class Needs:
    """Requirements. ``None``: no limit. Throughput in bit/s, times in seconds.

    ``credentials``: kinds of secret that users can have (empty: any). ``dot1x``: whether a RADIUS
    server is available. ``pmf``: management frames must be protected. ``band_6ghz``: the policy
    must be allowed at 6 GHz. ``rules``: names of ``RULE_SETS``. ``baseline_allowed``: ``open`` may
    be recommended. ``tls``: TLS of the EAP methods as in ``[scenario.NAME] join``; ``1.2-rsa`` has
    no forward secrecy. ``margin``: see ``MARGIN``.
    """

    services: tuple[str, ...] = ()
    min_throughput_bps: float | None = None
    max_overhead: float | None = None
    max_delay_s: float | None = None
    max_negotiation_s: float | None = None
    max_handover_s: float | None = None
    credentials: tuple[Credentials, ...] = ()
    dot1x: bool = True
    pmf: bool = False
    band_6ghz: bool = False
    rules: tuple[str, ...] = ()
    baseline_allowed: bool = False
    tls: str = "1.2"
    margin: float = MARGIN


@frozen
class Check:
    """One need against one policy, with the figure it rests on."""

    need: str
    verdict: Verdict
    figure: str
    cells: tuple[str, ...] = ()


@frozen
class Option:
    """One policy with its services, its costs and its checks.

    ``figures``: metric (or ``overhead``) -> estimate and the cell it comes from. ``broken``: the
    reasons for which it is never recommended. ``caveats``: known weaknesses that leave it usable.
    ``downgrades``: stations that take a weaker link than the access point prefers; services and
    strength are those of the weakest link. ``strength``: see ``policies.standing``. ``standing`` in
    throughput against the fastest option that can be recommended: ``tie``, ``dearer``,
    ``undecided`` or empty (not judged). ``near``: whether the values lie within the margin of one
    another. ``unmeasured``: why there are no figures; empty where there are.
    """

    policy: str
    services: tuple[str, ...]
    broken: tuple[str, ...]
    figures: Mapping[str, tuple[Estimate, str]]
    checks: tuple[Check, ...]
    caveats: tuple[str, ...] = ()
    downgrades: tuple[str, ...] = ()
    pareto: bool = False
    strength: tuple[int, ...] = ()
    allowed: bool = True
    standing: str = ""
    near: bool = False
    unmeasured: str = ""

    @property
    def meets(self) -> Meets:
        """``yes`` if every need is met at the level of the intervals, ``likely`` on the values."""
        verdicts = {check.verdict for check in self.checks}
        if self.unmeasured and "no" not in verdicts:
            return "not measured"
        order: tuple[Verdict, ...] = ("no", "unknown", "likely")
        for worst in order:
            if worst in verdicts:
                return worst
        return "yes"

    @property
    def recommendable(self) -> bool:
        """Whether it meets the needs, is allowed and is not broken."""
        return self.allowed and self.meets in ("yes", "likely") and not self.broken


@frozen
class Advice:
    """Options of one scenario, traffic and factor levels, best first, with sentences.

    ``factors``: the levels as in the observations, JSON. ``trials_needed``: trials per cell that
    would decide (None where the trials decide, or no number does).
    """

    scenario: str
    traffic: str
    baseline: str
    options: tuple[Option, ...]
    sentences: tuple[tuple[str, tuple[str, ...]], ...] = field(default=())
    factors: str = "{}"
    trials_needed: int | None = None

    @property
    def decided(self) -> bool:
        """Whether more trials cannot change the recommendation by a difference in throughput."""
        best = self.recommended
        if best is None:
            return True
        return not any(
            o.recommendable
            and o.standing == "undecided"
            and (o is best or o.strength > best.strength)
            for o in self.options
        )

    @property
    def place(self) -> str:
        """Scenario, traffic and factor levels in words."""
        levels = ", ".join(f"{key} = {value}" for key, value in json.loads(self.factors).items())
        return f"{self.scenario}, {self.traffic}" + (f", {levels}" if levels else "")

    @property
    def untold(self) -> tuple[Option, ...]:
        """Options that might meet the needs, had they (or what the needs ask for) been measured."""
        return tuple(
            option
            for option in self.options
            if option.allowed and not option.broken and option.meets in ("unknown", "not measured")
        )

    @property
    def recommended(self) -> Option | None:
        """The best option that can be recommended, or None."""
        return next((option for option in self.options if option.recommendable), None)


def overall(advices: Sequence[Advice]) -> Option | None:
    """The one policy for all places: it can be recommended in each.

    Among these, policies that are within the margin everywhere go first, then the stronger one,
    then the one with the lowest mean overhead. None where no policy fits every place.
    """
    if not advices:
        return None
    of_place = [
        {option.policy: option for option in advice.options if option.recommendable}
        for advice in advices
    ]
    common = [name for name in of_place[0] if all(name in place for place in of_place)]

    def key(name: str) -> tuple[Any, ...]:
        options = [place[name] for place in of_place]
        near = all(option.near for option in options)
        stronger = tuple(-part for part in options[0].strength) if near else ()
        costs = [_cost(option, "overhead") for option in options]
        return (not near, stronger, sum(costs) / len(costs), name)

    best = min(common, key=key, default=None)
    return None if best is None else of_place[0][best]


def rules_named(word: str) -> str:
    """The name of a rule set. Raises UsageError."""
    if word not in RULE_SETS:
        raise UsageError(f"--rules {word}: allowed are {', '.join(RULE_SETS)}")
    return word


def credentials_named(word: str) -> Credentials:
    """A kind of credentials. Raises UsageError."""
    for known in CREDENTIALS:
        if word == known:
            return known
    raise UsageError(f"--credentials {word}: allowed are {', '.join(CREDENTIALS)}")


def service_named(word: str) -> str:
    """The catalogue's service of a word of the command line. Raises UsageError."""
    if word not in SERVICES:
        raise UsageError(f"--need {word}: allowed are {', '.join(SERVICES)}")
    return SERVICES[word]


def advise(
    analysis: Analysis,
    needs: Needs,
    scenario: str,
    traffic: str,
    factors: str | None = None,
    unknown: Mapping[str, str] | None = None,
    downgrades: Mapping[str, Mapping[str, Policy]] | None = None,
    candidates: Mapping[str, str] | None = None,
) -> Advice:
    """Rank the policies that were measured in a scenario under a traffic.

    ``candidates``: the policies that take part, each with the reason for which it may lack figures.
    Those without figures are listed with it. None: every policy that was measured.

    ``factors``: the factor levels as in the observations; needed where there are several.
    ``unknown``: cell -> the reason why its throughput says nothing about the device; its policy is
    not recommended.
    ``downgrades``: cell -> the stations that take a weaker link than the access point prefers, in
    words, and the policy of that link. The cell's policy has the services that all links have.
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
    if candidates is not None:
        rows = rows.filter(pl.col("policy").cast(pl.String).is_in(list(candidates)))
    if rows.is_empty() and not candidates:
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
        cell = str(cells["cell"][0])
        why = (unknown or {}).get(cell)
        fallen = (downgrades or {}).get(cell, {})
        figures = {} if why else _figures(analysis, cell, cells["metric"])
        option = _option(str(name), needs, figures, fallen)
        checks = [_share_check(analysis, cell, needs, check) for check in option.checks]
        if why:
            checks.append(Check("cost", "unknown", why))
        elif (moving := _unsettled(analysis, cell)) is not None:
            checks.append(moving)
        options.append(evolve(option, checks=tuple(checks)))
    there = {option.policy for option in options}
    options += [
        evolve(_option(name, needs, {}, {}), unmeasured=reason or "not in this run")
        for name, reason in (candidates or {}).items()
        if name not in there
    ]
    options, needed = _with_standing(analysis, options, needs.margin)
    ranked = _with_front(analysis, sorted(options, key=_rank), needs.margin)
    advice = Advice(
        scenario,
        traffic,
        analysis.baseline,
        tuple(ranked),
        factors=factors or "{}",
        trials_needed=needed,
    )
    return evolve(advice, sentences=_sentences(advice, needs))


def unmet(needs: Needs, policy: Policy) -> str | None:
    """The first need that a policy does not meet, before anything is measured; limits are left."""
    for check in _checks(needs, (policy,), {}):
        if check.verdict == "no":
            return f"{check.need}: {check.figure}"
    return None


def _option(
    name: str,
    needs: Needs,
    figures: Mapping[str, tuple[Estimate, str]],
    fallen: Mapping[str, Policy],
) -> Option:
    """A policy with its checks; ``fallen``: weaker links that stations take."""
    policy = _policy(name)
    links = (policy, *fallen.values())
    return Option(
        policy=name,
        services=_services(links, needs),
        allowed=needs.baseline_allowed or not (policy and policy.is_baseline),
        strength=min((strength(link) for link in links if link), default=()),
        broken=_words(policy.broken) if policy else (),
        caveats=_words(policy.weaknesses) if policy else (),
        downgrades=tuple(fallen),
        figures=figures,
        checks=_checks(needs, links, figures),
    )


def _share_check(analysis: Analysis, cell: str, needs: Needs, check: Check) -> Check:
    """The check of an overhead against a share, where the study takes it as a difference of rates.

    The share is that of the baseline's throughput.
    """
    if check.need != "overhead" or needs.max_overhead is None or not check.cells:
        return check
    row = analysis.overheads.filter(
        (pl.col("cell") == cell)
        & pl.col("flow").is_null()
        & pl.col("station").is_null()
        & (pl.col("unit") != "1")
    )
    if row.is_empty():
        return check
    own, zero = (
        analysis.throughputs.filter(cell=name)["value"].to_numpy()
        for name in (cell, str(row["baseline_cell"][0]))
    )
    share = overhead(zero, own, "of_baseline", analysis.level)
    return _limit("overhead", share, cell, needs.max_overhead, least=False)


def _unsettled(analysis: Analysis, cell: str) -> Check | None:
    """The check that no throughput passes that depends on the trial's length."""
    if analysis.unsettled.is_empty():
        return None
    found = analysis.unsettled.filter(
        (pl.col("cell").cast(pl.String) == cell)
        & pl.col("flow").is_null()
        & (pl.col("of") == THROUGHPUT)
    )
    if found.is_empty():
        return None
    text = f"throughput has {NOT_SETTLED}: it depends on the length of a trial"
    return Check("cost", "unknown", text, (cell,))


def _figures(
    analysis: Analysis, cell: str, metrics: Iterable[str]
) -> dict[str, tuple[Estimate, str]]:
    """The figures of a cell that have settled; those of stations for times that are theirs."""
    figures = {
        str(metric): (estimate, cell)
        for metric in metrics
        if (estimate := analysis.estimate(cell, metric)) is not None and estimate.is_settled
    }
    for metric, estimate in _of_stations(analysis, cell).items():
        figures[metric] = (estimate, cell)
    cost = analysis.overhead(cell)
    if cost is not None and cost.is_settled:
        figures["overhead"] = (cost, cell)
    return figures


def _services(links: Sequence[Policy | None], needs: Needs) -> tuple[str, ...]:
    """Services that all of these links have."""
    of_each = [_services_of(policy, needs) for policy in links]
    return tuple(name for name in of_each[0] if all(name in others for others in of_each))


def _services_of(policy: Policy | None, needs: Needs) -> tuple[str, ...]:
    """Services of a policy with the handshake that was chosen."""
    if policy is None:
        return ()
    names = policy.services.names()
    link = policy.link
    # RSA key transport gives the session key to any later holder of the server's key.
    by_tls_alone = link.eap_method is not None and link.eap_method.uses_tls and not policy.tunnels
    if needs.tls == "1.2-rsa" and by_tls_alone:
        names = tuple(name for name in names if name != "forward-secrecy")
    return names


def throughput_difference(analysis: Analysis, a: str, b: str) -> Estimate | None:
    """Throughput of cell ``a`` minus that of ``b``: in pairs where the trials are, else Welch's."""
    if analysis.throughputs.is_empty():
        return None
    x, y = (analysis.throughputs_of(cell) for cell in (a, b))
    if analysis.paired:
        pairs = x.join(y, on="trial", suffix="_b")
        return mean_t((pairs["value"] - pairs["value_b"]).to_numpy(), "bit/s", analysis.level)
    if x.is_empty() or y.is_empty():
        return None
    return welch_difference(
        Summary.of(x["value"].to_numpy()),
        Summary.of(y["value"].to_numpy()),
        "bit/s",
        analysis.level,
    )


def _with_standing(
    analysis: Analysis, options: Sequence[Option], margin: float
) -> tuple[list[Option], int | None]:
    """Options with their standing against the fastest that can be recommended.

    Also the trials per cell that would decide the strongest undecided one.
    """
    able = [o for o in options if o.recommendable and THROUGHPUT in o.figures]
    if not able:
        return list(options), None
    fastest = max(able, key=lambda o: o.figures[THROUGHPUT][0].value)
    found, needed = [], {}
    for option in options:
        if option not in able:
            found.append(option)
            continue
        standing, trials = _standing(analysis, fastest, option, margin)
        needed[option.policy] = trials
        most = fastest.figures[THROUGHPUT][0].value
        near = most - option.figures[THROUGHPUT][0].value <= margin * abs(most)
        found.append(evolve(option, standing=standing, near=near and standing != "dearer"))
    open_ones = [o for o in found if o.standing == "undecided"]
    if not open_ones:
        return found, None
    return found, needed[max(open_ones, key=lambda o: o.strength).policy]


def _standing(
    analysis: Analysis, fastest: Option, option: Option, margin: float
) -> tuple[str, int | None]:
    """``tie``, ``dearer`` or ``undecided``, and the trials that would decide the last."""
    if option is fastest:
        return "tie", None
    (best, best_cell), (own, cell) = fastest.figures[THROUGHPUT], option.figures[THROUGHPUT]
    limit = margin * abs(best.value)
    gap = throughput_difference(analysis, best_cell, cell)
    if gap is None or best.is_deterministic or _tell_by_values(gap, analysis):
        return ("dearer" if best.value - own.value > limit else "tie"), None
    if gap.low > limit:
        return "dearer", None
    if gap.high <= limit:
        return "tie", None
    if not gap.has_interval:
        return "undecided", trials_of_signs(analysis.level) if gap.is_equal else 2
    n = _a_side(gap, analysis)
    trials = _trials_to_decide(abs(limit - gap.value), gap.half_width, n, analysis.level)
    return "undecided", trials


def _a_side(gap: Estimate, analysis: Analysis) -> int:
    """Trials a side of a difference of throughputs."""
    return gap.n if analysis.paired else gap.n // 2


def trials_of_signs(level: float) -> int:
    """Fewest trials that, all on one side of a limit, put the middle trial there at that level."""
    return math.ceil(math.log(1 - level) / math.log(0.5))


def _tell_by_values(gap: Estimate, analysis: Analysis) -> bool:
    """Whether equal trials are enough to take a difference of their values as it is."""
    return gap.is_equal and _a_side(gap, analysis) >= trials_of_signs(analysis.level)


def _trials_to_decide(room: float, half: float, n: int, level: float) -> int | None:
    """Trials per cell whose interval of a difference is narrower than its way to the margin."""
    if room <= 0:
        return None
    error = half / float(t_quantile(level, max(2 * n - 2, 1))) * math.sqrt(n)
    trials = n + 1
    while trials < MOST_TRIALS:
        if float(t_quantile(level, 2 * trials - 2)) * error / math.sqrt(trials) <= room:
            return trials
        trials = max(trials + 1, int(trials * 1.1))
    return None


@frozen
class Choice:
    """The choice of a published study beside ours, for one scenario and transport."""

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


def better_transport(analysis: Analysis, unknown: Container[str] = ()) -> list[TransportVerdict]:
    """Per scenario and policy: the traffic with the lower cost, and whether it is clear.

    Clear means that the intervals do not overlap. Cells in ``unknown`` and readings that have not
    settled are left out. ``overheads``: by the study's definition, the lowest cost first.
    """
    rows = analysis.overheads.filter(pl.col("flow").is_null() & pl.col("station").is_null())
    found = []
    keys = ["scenario", "policy", "factors"]
    for (scenario, policy, _factors), cells in rows.group_by(keys, maintain_order=True):
        parts = []
        for row in cells.iter_rows(named=True):
            estimate = analysis.overhead(row["cell"])
            if estimate is not None and estimate.is_settled and row["cell"] not in unknown:
                parts.append((str(row["traffic"]), estimate))
        parts.sort(key=lambda part: as_cost(part[1]).value)
        if len(parts) > 1:
            first, second = (as_cost(estimate) for _, estimate in parts[:2])
            clear = first.high < second.low
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


def hybrids(analysis: Analysis, unknown: Container[str] = ()) -> list[Composition]:
    """Composed policies (``a+b``) of which every part was measured in the same place.

    Compositions with a cell in ``unknown`` are left out.
    """
    found = []
    for row in analysis.overheads.iter_rows(named=True):
        parts = str(row["policy"]).split("+")
        if len(parts) < 2 or row["flow"] is not None or row["station"] is not None:
            continue
        cells = [str(row["cell"]).replace(str(row["policy"]), part, 1) for part in parts]
        estimates = [analysis.overhead(cell) for cell in cells]
        whole = analysis.overhead(row["cell"])
        known = [estimate.value for estimate in estimates if estimate is not None]
        judged = not any(cell in unknown for cell in (row["cell"], *cells))
        if judged and whole is not None and len(known) == len(parts):
            found.append(Composition(row["cell"], tuple(parts), whole, sum(known)))
    return found


def _of_stations(analysis: Analysis, cell: str) -> dict[str, Estimate]:
    """Join and hand-over times that were measured per station: those of the slowest station."""
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
    needs: Needs, links: Sequence[Policy | None], figures: Mapping[str, tuple[Estimate, str]]
) -> tuple[Check, ...]:
    """``links``: the policy, and those of the weaker links that stations take."""
    checks = []
    policy = links[0]
    offered, own = _services(links, needs), _services_of(policy, needs)
    for service in needs.services:
        has = service in offered
        figure = "offered" if has else "not offered"
        if service in own and not has:
            figure = "a downgraded station lacks it"
        checks.append(Check(service, "yes" if has else "no", figure))
    checks += _of_setting(needs, policy)
    for need, metric, limit in (
        ("throughput", THROUGHPUT, needs.min_throughput_bps),
        ("overhead", OVERHEAD, needs.max_overhead),
        ("delay", "delay_s", needs.max_delay_s),
        ("negotiation", "negotiation_time_s", needs.max_negotiation_s),
        ("handover", "handover_gap_s", needs.max_handover_s),
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
        checks.append(_limit(need, found[0], found[1], limit, least=more_is_better(metric)))
    return tuple(checks)


def _of_setting(needs: Needs, policy: Policy | None) -> list[Check]:
    """Credentials, infrastructure, band, rule sets; unknown for policies outside the catalogue."""

    def check(need: str, holds: bool, figure: str) -> Check:
        if policy is None:
            return Check(need, "unknown", "not in the catalogue")
        return Check(need, "yes" if holds else "no", figure)

    found = []
    if needs.credentials:
        own = credentials(policy) if policy else "none"
        found.append(check("credentials", own in needs.credentials, f"{own} credentials"))
    if not needs.dot1x:
        radius = policy is not None and needs_8021x(policy)
        found.append(
            check("no 802.1X", not radius, "needs a RADIUS server" if radius else "needs none")
        )
    if needs.pmf:
        required = policy is not None and requires_pmf(policy)
        found.append(
            check("PMF required", required, f"PMF {policy.link.pmf}" if policy else "unknown")
        )
    if needs.band_6ghz:
        allowed = policy is not None and allowed_at_6ghz(policy)
        words = "allowed" if allowed else "6 GHz takes WPA3 or OWE with PMF, no transition mode"
        found.append(check("6 GHz", allowed, words))
    for name in needs.rules:
        rules = RULE_SETS[name]
        broken = rules.breaks(policy) if policy else None
        found.append(check(name, broken is None, broken or f"meets {rules.source}"))
    return found


def _limit(need: str, estimate: Estimate, cell: str, limit: float, *, least: bool) -> Check:
    sign = 1.0 if least else -1.0
    bound = estimate.low if least else estimate.high
    equal = estimate.is_equal and estimate.n >= trials_of_signs(estimate.level)
    if estimate.is_deterministic or equal:
        bound = estimate.value
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


def _rank(option: Option) -> tuple[Any, ...]:
    """Sort key: what can be recommended first, ties by strength, the rest by cost."""
    order = {"yes": 0, "likely": 1, "unknown": 2, "not measured": 3, "no": 4}[option.meets]
    costs = [_cost(option, metric) for metric in _COSTS]
    stronger = tuple(-part for part in option.strength) if option.near else ()
    return (
        not option.recommendable,
        bool(option.broken),
        order if not option.recommendable else 0,
        not option.near,
        stronger,
        *costs,
        option.policy,
    )


def _cost(option: Option, metric: str) -> float:
    """A figure as a cost: less is better. Unknown is worse than any; the baseline has none."""
    found = option.figures.get(metric)
    if found is None:
        policy = _policy(option.policy)
        free = policy is not None and policy.is_baseline and not option.unmeasured
        return 0.0 if free and metric in (OVERHEAD, "negotiation_time_s") else math.inf
    if metric == OVERHEAD:
        return as_cost(found[0]).value
    return -found[0].value if more_is_better(metric) else found[0].value


def _with_front(analysis: Analysis, options: list[Option], margin: float) -> list[Option]:
    """Mark the Pareto front of security against costs among unbroken policies, by intervals."""
    front = []
    for option in options:
        beaten = (
            option.broken
            or not option.figures
            or any(
                _dominates(analysis, other, option, margin)
                for other in options
                if other is not option and not other.broken
            )
        )
        front.append(evolve(option, pareto=not beaten))
    return front


def _dominates(analysis: Analysis, a: Option, b: Option, margin: float) -> bool:
    """Whether ``a`` is as secure as ``b``, nowhere clearly dearer, and better in one point."""
    if not set(a.services) >= set(b.services) or a.strength < b.strength:
        return False
    metrics = [m for m in _COSTS if m != OVERHEAD and m in a.figures and m in b.figures]
    if not metrics or any(_dearer(analysis, a, b, m, margin) for m in metrics):
        return False
    return a.strength > b.strength or any(_dearer(analysis, b, a, m, margin) for m in metrics)


def _dearer(analysis: Analysis, a: Option, b: Option, metric: str, margin: float) -> bool:
    """Whether ``a`` costs clearly more than ``b``: the whole interval lies beyond the margin."""
    (x, cell), (y, other) = a.figures[metric], b.figures[metric]
    if metric != THROUGHPUT:
        if more_is_better(metric):
            (x, cell), (y, other) = (y, other), (x, cell)
        low = x.value if not x.has_interval else x.low
        high = y.value if not y.has_interval else y.high
        return low > high + margin * abs(y.value)
    gap = throughput_difference(analysis, other, cell)
    if gap is None or (gap.is_equal and not _tell_by_values(gap, analysis)):
        return False
    if not gap.has_interval:
        return y.value - x.value > margin * abs(y.value)
    return gap.low > margin * abs(y.value)


def _sentences(advice: Advice, needs: Needs) -> tuple[tuple[str, tuple[str, ...]], ...]:
    found: list[tuple[str, tuple[str, ...]]] = []
    best = advice.recommended
    if best is None:
        where = f"in {advice.scenario} under {advice.traffic}"
        untold = advice.untold
        if untold:
            names = ", ".join(option.policy for option in untold)
            found.append((f"Not measured {where}, so not judged: {names}.", ()))
        judged = [option for option in advice.options if option not in untold]
        if judged:
            whole = "No unbroken policy meets" if not untold else "No other policy meets"
            found.append((f"{whole} the needs {where}.", ()))
    else:
        cost = best.figures.get("overhead")
        words = f"Choose {best.policy}" if advice.decided else f"Undecided, likely {best.policy}"
        if cost is not None:
            against = f"throughput against {advice.baseline}"
            if is_told(cost[0]):
                words += f": {cost_in_words(cost[0])} of {against}"
            else:
                words += f"; {against}: {cost_in_words(cost[0], bare=True)}"
        elif best.policy != advice.baseline:
            words += f": {advice.baseline} was not measured there, so its cost is not known"
        if best.meets == "likely":
            words += "; at these trials' precision the needs are likely, not surely, met"
        cells = tuple(sorted({cell for _, cell in best.figures.values()}))
        found.append((words + ".", cells))
        found += _of_ties(advice, best, needs.margin)
        if needs.dot1x and "802.1X" in _infrastructure(best):
            found.append((f"Assumed for {best.policy}: {_infrastructure(best)}.", ()))
        found += [(f"With {best.policy}, {caveat}.", ()) for caveat in best.caveats]
    found += [
        (f"Downgrade under {o.policy}: {words}.", tuple({cell for _, cell in o.figures.values()}))
        for o in advice.options
        for words in o.downgrades
    ]
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
    for option in advice.options:
        if option.unmeasured:
            found.append((f"{option.policy} was not measured: {option.unmeasured}.", ()))
    missing = sorted(
        {
            c.need
            for o in advice.options
            for c in o.checks
            if c.verdict == "unknown" and not o.unmeasured
        }
    )
    if missing:
        found.append((f"Not measured, so not judged: {', '.join(missing)}.", ()))
    front = [o for o in advice.options if o.pareto and "overhead" in o.figures]
    if front:
        words = "; ".join(
            f"{o.policy}: {cost_in_words(o.figures['overhead'][0], bare=True)}" for o in front
        )
        found.append(
            (
                f"Pareto front of security against throughput: {words}.",
                tuple(sorted(o.figures["overhead"][1] for o in front)),
            )
        )
    return tuple(found)


def _of_ties(advice: Advice, best: Option, margin: float) -> list[tuple[str, tuple[str, ...]]]:
    """The policies that tie with the choice, and the trials that undecided ones need."""
    found: list[tuple[str, tuple[str, ...]]] = []
    able = [o for o in advice.options if o.recommendable and o is not best]
    ties = [o.policy for o in able if o.standing == "tie"]
    share = f"{100 * margin:g} %"
    if ties and best.near:
        found.append(
            (
                f"Within {share} of throughput of one another: {', '.join([best.policy, *ties])}; "
                f"{best.policy} is the strongest.",
                (),
            )
        )
    waiting = [o.policy for o in (best, *able) if o.standing == "undecided"]
    if waiting:
        trials = advice.trials_needed
        words = f"{trials} trials per cell would tell" if trials else "no number of trials would"
        found.append(
            (f"Not told apart at {share} by these trials: {', '.join(waiting)}; {words}.", ())
        )
    return found


def _infrastructure(option: Option) -> str:
    policy = _policy(option.policy)
    if policy is None or not needs_8021x(policy):
        return ""
    keys = credentials(policy)
    if keys == "certificates":
        return "802.1X with a RADIUS server and a certificate for every user"
    return "802.1X with a RADIUS server and an account for every user"
