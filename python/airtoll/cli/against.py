"""``airtoll advise --against``: a paper and our run on one screen.

Takes a data set, its choices and a run; gives sections of lines: what the paper chose, how far its
printed figures hold, and which policy then and now.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from airtoll.analyse.advice import Advice, Choice, Option
from airtoll.analyse.cost import as_cost
from airtoll.analyse.quantities import NOTHING, show_overhead, show_value
from airtoll.cli.against_today import cost_today
from airtoll.errors import DatasetError
from airtoll.observe.datasets import load_dataset
from airtoll.observe.metrics import OVERHEAD
from airtoll.plan import Cell
from airtoll.policies import display_name, resolve
from airtoll.present.words import Teller, reproduced
from airtoll.report.answer import readings
from airtoll.report.printed_rows import PROFILES, PrintedRow, printed_rows
from airtoll.report.summary import RunSummary, summarise

if TYPE_CHECKING:
    from airtoll.analyse.audit.columns import Figures
    from airtoll.analyse.audit.finding import Finding

#: Policies of today, the cheapest first, among which the like of an old one is sought.
_TODAY: Final = (
    "owe-ccmp",
    "wpa3-sae-ccmp",
    "wpa3-eap-peap-ccmp",
    "wpa3-eap-tls-ccmp",
    "wpa3-eap-tls-gcmp-256",
    "wpa3-eap-tls-ccmp+wireguard",
)
#: Sentences of answers that are shown.
_MOST_ANSWERS: Final = 2

#: Kinds of claims that compare policies.
_OF_POLICIES: Final = (
    "order", "lowest", "highest", "ratio", "difference", "greater", "no_difference",
    "octets_explain", "some_above",
)  # fmt: skip
#: Claims of a paper that are shown.
_MOST_CLAIMS: Final = 4
#: Places of which each policy's cost is shown.
_MOST_PLACES: Final = 4

Section = tuple[str, list[str]]


def sections(
    dataset: str, folder: Path, advices: Sequence[Advice], choices: Sequence[Choice]
) -> list[Section]:
    """Headings and their lines, for one screen.

    Raises ``DatasetError`` where the run has nothing that the paper printed.
    """
    found: list[Section] = []
    summary: RunSummary | None = None
    if choices:
        found.append(("They chose", _theirs(choices)))
    if (folder / "run.json").is_file():
        summary = summarise(folder)
        printed = [claim for claim in summary.reproduced if claim.dataset == dataset]
        if not printed and not choices:
            raise DatasetError(f"--against {dataset}: the run has no cell that it printed")
        told = reproduced(printed, summary.names)
        teller = Teller(summary.names)
        answers = [line for one in summary.answered for line in teller.answer(one).leads]
        found.append(("Their figures beside ours", list(told.leads) + answers[:_MOST_ANSWERS]))
    elif not choices:
        raise DatasetError(
            f"--against {dataset}: it recommends no policies, and {folder} is no run"
        )
    if choices:
        found.append(("Then: with the policies of that year", _then(advices, choices, summary)))
        found.append(("Today", _today(advices, choices, summary)))
    else:
        assert summary is not None
        found.insert(0, ("They found, and recommend no policy", _claims(dataset, summary)))
        then, best = _best(summary, advices)
        found.append(("Then: with the policies of that year", then))
        found.append(("Today", [*_today(advices, [], None), *_successor(best, summary)]))
    return [(title, lines) for title, lines in found if lines]


def title(dataset: str) -> str:
    """Authors, year and title of a data set."""
    head: Mapping[str, Any] = load_dataset(dataset).meta["dataset"]
    authors = [str(name).split()[-1] for name in head["authors"]]
    return f"{_enumerated(authors)} {head['year']}: {head['title']}"


def _theirs(choices: Iterable[Choice]) -> list[str]:
    of: dict[str, list[str]] = {}
    for choice in dict.fromkeys(choices):
        of.setdefault(choice.theirs, []).append(f"{choice.scenario} {choice.traffic.upper()}")
    return [f"{_name(policy)}: {', '.join(places)}." for policy, places in of.items()]


def _claims(dataset: str, summary: RunSummary) -> list[str]:
    """Claims of the text about policies, those about overhead first: whether its own figures bear
    them out, where not, and whether ours do instead.
    """
    # The audit is needed for a paper alone.
    from airtoll.analyse.audit.claims import contradictions
    from airtoll.analyse.audit.columns import Figures

    figures = Figures(load_dataset(dataset))
    rows = printed_rows(summary, dataset)
    own, variants = _measured(figures, rows)
    variant = f" ({variants[0]})" if len(variants) == 1 and variants[0] else ""
    of_policies = [one for one in figures.meta.get("claim", []) if one["kind"] in _OF_POLICIES]
    of_policies.sort(key=lambda one: "overhead" not in str(one.get("select", one.get("left"))))
    told = []
    for one in of_policies[:_MOST_CLAIMS]:
        theirs = f"their own figures {_verdict(contradictions(figures, one), one)}"
        ours = "airtoll has no figures for it"
        if _answers(own, one):
            ours = f"airtoll's{variant} {_verdict(contradictions(own, one), one)}"
        told.append(f'"{one["says"]}" ({one["where"]}): {theirs}; {ours}.')
    return told


def _measured(figures: Figures, rows: Iterable[PrintedRow]) -> tuple[Figures, list[str]]:
    """The figures with ours in place of the printed ones, without those that we do not have, and
    the variants that ours are of.

    Of the profile sets the first counts, which is the one without a fit.
    """
    from airtoll.analyse.audit.columns import Figures

    first: dict[tuple[str, ...], PrintedRow] = {}
    for one in rows:
        first.setdefault((one.table, one.policy, one.client, one.printed.split()[0]), one)
    ours = {
        key: one.ours.value / one.published.value if one.published.value else 0.0
        for key, one in first.items()
    }
    found = Figures(figures.dataset)
    found.rows = []
    for row in figures.rows:
        ratio = ours.get((row["table"], row["policy"], row["client"], row["value"]))
        if ratio is not None:
            number, si = row["number"] * ratio, row["si"] * ratio
            text = f"{number:.{row['decimals']}f}"
            found.rows.append({**row, "number": number, "si": si, "value": text})
    return found, list(dict.fromkeys(one.variant for one in first.values()))


def _answers(figures: Figures, claim: Mapping[str, Any]) -> bool:
    """Whether figures have as many rows of a claim as its test needs."""
    from airtoll.analyse.audit.columns import matches

    picked = [claim[key] for key in ("select", "left", "right") if key in claim]
    return all(any(matches(row, one) for row in figures.rows) for one in picked)


def _verdict(found: Sequence[Finding], claim: Mapping[str, Any]) -> str:
    """Whether figures bear a claim out, or the first place where they do not, with its figures."""
    if not found:
        return "bear it out"
    first, others = found[0], len(found) - 1
    evidence = first.evidence.rpartition("the figures: ")[2].rpartition(f"{claim['says']}; ")[2]
    # An empty place, or the one that the figures repeat, says nothing.
    table = [*claim.get("each", [])] == ["table"]
    where = "" if first.where in ("", "all") or evidence.startswith(first.where) else first.where
    place = f" ({'table ' if table else ''}{where})" if where else ""
    more = f", and at {others} other place{'s' if others > 1 else ''}" if others else ""
    return f"do not{place}: {evidence}{more}"


def _best(summary: RunSummary, advices: Sequence[Advice]) -> tuple[list[str], str]:
    """The costs of each policy here, and the one with most services among those of that year."""
    costs: dict[str, list[Any]] = {}
    for one in readings(summary, OVERHEAD):
        costs.setdefault(one.cell.policy, []).append(as_cost(one.estimate))
    lines = _by_place(summary)
    services = {one.policy: one.services for advice in advices for one in advice.options}
    known = [policy for policy in costs if policy in services]
    if not known:
        return lines, ""
    most = max(len(services[policy]) for policy in known)
    first = [policy for policy in known if len(services[policy]) == most]
    cheapest = min(first, key=lambda policy: max(map(_value, costs[policy])))
    others = len(known) - len(first)
    if others:
        lines.append(f"{_listed(first)} had the most security services ({most}).")
    return lines, cheapest


def _by_place(summary: RunSummary) -> list[str]:
    """The throughput that each policy costs, a line for each place: device models side by side."""
    names = summary.names
    places: dict[str, dict[str, dict[str, str]]] = {}
    for one in readings(summary, OVERHEAD):
        cell = one.cell
        place = names.place(cell.scenario, cell.traffic, cell.factors_json, ("policy", PROFILES))
        levels = dict(cell.factors)
        model = names.level(PROFILES, levels[PROFILES]) if PROFILES in names.levels else ""
        cost = _bare(as_cost(one.estimate))
        places.setdefault(place, {}).setdefault(cell.policy, {})[model] = cost
    models = dict.fromkeys(m for of in places.values() for by in of.values() for m in by)
    key = f" ({' | '.join(models)})" if len(models) > 1 else ""
    lines = []
    for place, of in list(places.items())[:_MOST_PLACES]:
        told = [
            f"{_name(policy)} {' | '.join(by.get(model, NOTHING) for model in models)}"
            for policy, by in of.items()
        ]
        lines.append(f"{place[:1].upper()}{place[1:]}{': ' if place else ''}{', '.join(told)}.")
    if lines:
        rest = len(places) - _MOST_PLACES
        more = f"; {rest} more places: --details" if rest > 0 else ""
        lines.insert(0, f"Throughput that it costs here{key}{more}:")
    return lines


def _successor(best: str, summary: RunSummary) -> list[str]:
    """The policy of today in place of the best one of that year, and its cost there."""
    if not best:
        return []
    then = resolve(best)
    wanted = set(then.services.names())
    enterprise = then.link.eap_method is not None
    name = next(
        (
            one
            for one in _TODAY
            if wanted <= set(resolve(one).services.names())
            and (resolve(one).link.eap_method is not None) == enterprise
        ),
        None,
    )
    if name is None:
        return []
    cell, places = _dearest(summary, best)
    cost = cost_today(summary, cell, best, name)
    alone = f"the place where {_name(best)} costs most"
    return [
        f"Use {_name(name)} ({name}) in place of {_name(best)}: {cost}{_of_places(alone, places)}."
    ]


def _of_places(alone: str, places: int) -> str:
    """``: the place where X costs most, of 4; the others were not simulated``, of several."""
    if places < 2:
        return ""
    others = "the other was" if places == 2 else "the others were"
    return f": {alone}, of {places}; {others} not simulated with it"


def _dearest(summary: RunSummary, policy: str) -> tuple[Cell, int]:
    """The cell in which a policy costs most, of the first device model, and of how many."""
    found = [one for one in readings(summary, OVERHEAD) if one.cell.policy == policy]
    model = dict(found[0].cell.factors).get(PROFILES)
    here = [one for one in found if dict(one.cell.factors).get(PROFILES) == model]
    return max(here, key=lambda one: _value(as_cost(one.estimate))).cell, len(here)


def _then(
    advices: Sequence[Advice], choices: Sequence[Choice], summary: RunSummary | None
) -> list[str]:
    """Whether their choices hold among their policies, by the cost that we measure."""
    chosen = {(one.scenario, one.traffic): one.theirs for one in choices}
    costs: dict[str, dict[str, Any]] = {}
    stronger: dict[str, int] = {}
    places = 0
    for advice in advices:
        theirs = chosen.get((advice.scenario, advice.traffic))
        own = _option(advice, theirs)
        if theirs is None or own is None or "overhead" not in own.figures:
            continue
        places += 1
        place = advice.place
        if summary is not None:
            place = summary.names.place(advice.scenario, advice.traffic, advice.factors)
        costs.setdefault(theirs, {})[place] = as_cost(own.figures["overhead"][0])
        for other in advice.options:
            more = set(other.services) > set(own.services) and "overhead" in other.figures
            if more and not _is_dearer(other, own):
                stronger[other.policy] = stronger.get(other.policy, 0) + 1
    lines = []
    for policy, found in costs.items():
        least, most = (end(found, key=lambda place: _value(found[place])) for end in (min, max))
        ends = f"{show_overhead(found[most])} of throughput here ({most})"
        if least != most:
            ends = (
                f"{_bare(found[least])} of throughput at the least ({least}) and "
                f"{_bare(found[most])} at the most ({most})"
            )
        lines.append(f"{_name(policy)} costs {ends}.")
    if stronger:
        best = max(stronger, key=lambda name: (stronger[name], name))
        lines.append(
            f"It does not hold in {stronger[best]} of {places} places: {_name(best)} has more "
            "services there and costs no more that these trials can tell."
        )
    elif places:
        lines.append(f"It holds in all {places} places: more services cost more there.")
    return lines


def _today(
    advices: Sequence[Advice], choices: Sequence[Choice], summary: RunSummary | None
) -> list[str]:
    """The policies of the paper that may still be used, and the like of its choices today.

    With the cost of each there, where it was first chosen, if there is a run.
    """
    every = {option.policy: option for advice in advices for option in advice.options}
    secret = [one for one in every.values() if "confidentiality" in one.services]
    sound = [one.policy for one in secret if not one.broken]
    lines = []
    if secret and not sound:
        lines.append(f"Its {len(secret)} policies that encrypt are all broken today.")
    elif sound:
        lines.append(f"Of its policies that encrypt, these may be used: {_listed(sound)}.")
    for theirs, choice in _first(choices).items():
        flaws = [one.what for one in resolve(theirs).broken]
        like = _like(theirs)
        why = f" ({'; '.join(flaws)})" if flaws else ""
        if like is None:
            now = "no single policy gives the same services" if flaws else "keep it"
        else:
            now = f"use {_name(like)} ({like})"
            cell = _where_chosen(summary, choice)
            if summary is not None and cell is not None:
                chosen = {(c.scenario, c.traffic) for c in choices if c.theirs == theirs}
                alone = "the first place where they chose it"
                now += f": {cost_today(summary, cell, theirs, like)}"
                now += _of_places(alone, len(chosen))
        lines.append(f"{_name(theirs)}{why}: {now}.")
    return lines


def _first(choices: Iterable[Choice]) -> dict[str, Choice]:
    """The first choice of each policy."""
    found: dict[str, Choice] = {}
    for one in choices:
        found.setdefault(one.theirs, one)
    return found


def _where_chosen(summary: RunSummary | None, choice: Choice) -> Cell | None:
    """The first cell of a choice."""
    if summary is None:
        return None
    return next(
        (
            cell
            for cell in summary.plan.cells
            if (cell.scenario, cell.traffic) == (choice.scenario, choice.traffic)
            and resolve(cell.policy) == resolve(choice.theirs)
        ),
        None,
    )


def _like(theirs: str) -> str | None:
    """The first policy of today with all services of an old one that is broken."""
    policy = resolve(theirs)
    if not policy.broken:
        return None
    wanted = set(policy.services.names())
    fits = (n for n in _TODAY if wanted <= set(resolve(n).services.names()))
    return next(fits, None)


def _option(advice: Advice, policy: str | None) -> Option | None:
    return next((one for one in advice.options if one.policy == policy), None)


def _is_dearer(other: Option, own: Option) -> bool:
    """Whether the interval of a cost lies above that of another."""
    one, two = (as_cost(option.figures["overhead"][0]) for option in (other, own))
    return bool(one.low > two.high)


def _value(cost: Any) -> float:
    return float(cost.value)


def _bare(cost: Any) -> str:
    """A cost without its interval."""
    if cost.unit != "1":
        return show_value(cost.value, cost.unit, 3)
    return f"{100 * cost.value:.1f} %".replace("-0.0 ", "0.0 ")


def _name(policy: str) -> str:
    return display_name(resolve(policy)).replace(", ", " ")


def _enumerated(names: Sequence[str]) -> str:
    """``A, B and C``."""
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _listed(policies: Sequence[str]) -> str:
    return ", ".join(_name(policy) for policy in policies)
