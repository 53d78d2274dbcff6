"""``airtoll advise``: the policy that meets the needs, and its cost.

``--from`` starts at the policy that one has (``advise_from``).

Needs and limits, and a run (or a scenario that is then run), give options ranked, each figure with
its interval and its cells. A broken policy is never recommended; ``open`` only with ``--policy
open``.
"""

from __future__ import annotations

import csv
import json
import math
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from typing import Any, cast

import polars as pl
from attrs import evolve
from rich.table import Table

from airtoll.analyse import Analysis, analyse
from airtoll.analyse.advice import (
    Advice,
    Choice,
    Option,
    advise,
    against,
    better_transport,
    hybrids,
    overall,
    spread,
)
from airtoll.analyse.cost import as_cost, cost_in_words, is_told, sign_of
from airtoll.analyse.pairing import pairs_trials
from airtoll.analyse.quantities import show_overhead
from airtoll.cli import against as paper
from airtoll.cli.advise_brief import print_brief
from airtoll.cli.advise_from import advise_from
from airtoll.cli.advise_options import AdviseOptions
from airtoll.cli.options import command
from airtoll.cli.output import emit_json, err, out, table
from airtoll.cli.progress import View
from airtoll.errors import AllSkipped, NotMeasured, StudyError, UsageError
from airtoll.observe.datasets import load_dataset
from airtoll.observe.metrics import FRAGMENTS
from airtoll.observe.tables import not_radio, read_observations, read_trials, with_caveat
from airtoll.plan import resolved
from airtoll.policies import Policy, display_name, resolve
from airtoll.report.where import Where
from airtoll.run import Run, open_run, run, same_run
from airtoll.run.api import RUNS
from airtoll.run.outcome import refuse_faults, why_no_result
from airtoll.study import Level, Study, load, shipped
from airtoll.testbeds.unpriced import why_unknown

#: Candidates unless --policy names others: today's choices and, for scale, two broken ones.
CANDIDATES = (
    "open",
    "wep-104",
    "wpa-psk-tkip",
    "wpa2-psk-ccmp",
    "wpa2-psk-gcmp-256",
    "wpa3-sae-ccmp",
    "wpa3-sae-gcmp-256",
    "owe-ccmp",
    "wpa2-eap-peap-ccmp",
    "wpa3-eap-tls-gcmp-256",
    "ipsec-aes-gcm",
    "wireguard",
)

#: Trials of each cell when it has to run.
_TRIALS = 5


@command
def advise_command(options: AdviseOptions) -> None:
    """From the policy you have to a better one (--from), or rank policies by needs and limits.

    A router at home: `airtoll advise --from wpa2-psk-ccmp --profile mt7621`.

    A battery: `airtoll advise --profile esp32-c3 --battery 2000mAh --every 1h`.

    An office: `airtoll advise --from hostapd.conf --place office --clients 400 --requests 150`.

    A broken policy is never recommended. Exits with 5 where no policy can be recommended because
    something was not measured.
    """
    needs, policies = options.needs(), options.candidates
    if options.have is not None:
        advise_from(options.situations(options.have), policies, needs, options)
        return
    run_folder, compared_with = options.run_folder, options.compared_with
    measured: Run | None = None
    if run_folder is None and options.scenario is None and compared_with is not None:
        run_folder = _run_of(compared_with)
    if run_folder is None:
        if options.scenario is None:
            raise UsageError(
                "say what you have (--from wpa2, or a file), where (--scenario NAME, see "
                "`airtoll scenarios list`), or --run FOLDER"
            )
        measured = _measure(
            options.scenario,
            policies or CANDIDATES,
            options,
            joins=needs.max_negotiation_s is not None,
        )
        run_folder = measured.path
    trials_of_run = read_trials(run_folder)
    if problem := why_no_result(trials_of_run):
        raise NotMeasured(f"{run_folder}: nothing was measured, so no policy is judged: {problem}")
    analysis, settings, unknown = _analysis(run_folder)
    fallen = _downgrades(run_folder)
    bound = not_radio(trials_of_run)
    if bound:
        err().print(
            f"{len(bound)} cells of this run hold no radio throughput, as the CPU was the limit: "
            "what is said of throughput is true of that computer alone",
        )
    for cell, text in list(with_caveat(trials_of_run, FRAGMENTS).items())[:1]:
        err().print(f"fragments are a part of the cost, as in {cell}: {text}")
    places = _places(trials_of_run, options.scenario, Where.of(options.where or ()))
    advices = [
        advise(
            analysis,
            evolve(needs, tls=settings.get(place[0], needs.tls)),
            *place,
            unknown,
            fallen,
            _candidates(trials_of_run, place, policies),
        )
        for place in places
    ]
    choices = _choices(compared_with, advices) if compared_with else []
    if options.json:
        emit_json(_plain(run_folder, analysis, advices, choices, unknown))
    elif compared_with is not None and not options.details:
        _print_short(compared_with, run_folder, advices, choices)
    elif len(advices) > 1 and not options.details:
        out().print(_answer(advices), style="bold")
        print_brief(run_folder, advices)
    else:
        _print(run_folder, analysis, advices, choices, unknown)
    if overall(advices) is None and any(advice.untold for advice in advices):
        raise NotMeasured(_not_measured(advices))
    if measured is not None:
        refuse_faults(measured, str(measured.folder.manifest()["study"]["name"]))


def _print_short(
    dataset: str, folder: Path, advices: Sequence[Advice], choices: Sequence[Choice]
) -> None:
    shown = paper.sections(dataset, folder, advices, choices)
    console = out()
    console.print(paper.title(dataset), style="bold")
    for heading, lines in shown:
        console.print(heading, style="bold")
        for line in lines:
            console.print(f"  {line}", markup=False)
    console.print(f"from {folder}; every place and option: --details", style="dim")


def _run_of(dataset: str) -> Path:
    """The run of a paper's study where `airtoll run` puts it. Raises ``UsageError`` without one."""
    load_dataset(dataset)
    folder = RUNS / dataset
    if (folder / "run.json").is_file():
        err().print(f"taking the run in {folder}", soft_wrap=True)
        return folder
    if dataset not in shipped():
        raise UsageError(f"--against {dataset}: no shipped study repeats it; name a run (--run)")
    raise UsageError(
        f"--against {dataset}: there is no run in {folder}; `airtoll run {dataset}` makes it, "
        "--run names another"
    )


def _measure(
    scenario: str,
    policies: Sequence[str],
    options: AdviseOptions,
    *,
    joins: bool,
) -> Run:
    """A run of the candidates; ``joins``: each trial begins with the stations' joins."""
    on, profile = options.on, options.profile
    name, scenario, study = _study_of(scenario)
    if study.study.baseline not in policies:
        policies = [study.study.baseline, *policies]
    values: dict[str, Any] = {
        "grid": {
            "scenario": [scenario],
            "policy": list(policies),
            "traffic": list(cast(Sequence[str], study.grid["traffic"])),
        },
        "compare": [],
        "exclude": [],
        # Common random numbers tell policies apart with fewer trials.
        "trials": {
            "repetitions": options.trials or _TRIALS,
            "pairing": "common" if on == "simulator" else "independent",
        },
    }
    if joins:
        values[f"scenario.{scenario}.authenticate"] = True
    if profile is not None:
        place = study.scenario[scenario]
        used = {s.profile or "ideal" for s in place.stations}
        used |= {place.ap.profile or "ideal", place.server.profile or "ideal"}
        values["profile_set"] = {"advised": dict.fromkeys(sorted(used), profile)}
        values["grid"]["profile_set"] = ["advised"]
    # One folder for a scenario: the next question takes its place, and the same one its answer.
    out_folder = Path("runs") / f"advise-{scenario}"
    same = same_run(out_folder, name, on, cast(Mapping[str, Level], values))
    if same is not None:
        err().print(f"taking the run in {out_folder}: it asked the same", soft_wrap=True)
        return same
    err().print(f"running {len(policies)} policies in {scenario} (study {name})")
    try:
        with View(on, quiet=True) as view:
            return run(
                name,
                on=on,
                out=out_folder,
                instead=True,
                values=cast(Mapping[str, Level], values),
                progress=view.advance,
                on_phase=view.phase,
            )
    except AllSkipped as error:
        raise NotMeasured(f"nothing was measured, so no policy is judged: {error}") from error


def _study_of(scenario: str) -> tuple[str, str, Study]:
    """The shipped study of a scenario, the scenario's name in it, and the study.

    Raises ``StudyError`` for a name that no study has, ``UsageError`` for one of several.
    """
    named, slash, rest = scenario.partition("/")
    studies = {name: load(name).study for name in shipped()}
    if slash and named in studies:
        if rest not in studies[named].scenario:
            known = ", ".join(studies[named].scenario)
            raise StudyError(f"scenario {rest!r}: study {named} has {known}")
        return named, rest, studies[named]
    found = [name for name, study in studies.items() if scenario in study.scenario]
    if len(found) > 1:
        choices = ", ".join(f"{name}/{scenario}" for name in found)
        raise UsageError(f"--scenario {scenario}: {len(found)} studies have it; say {choices}")
    if not found:
        known = ", ".join(dict.fromkeys(s for study in studies.values() for s in study.scenario))
        raise StudyError(f"scenario {scenario!r}: no shipped study has it; there are {known}")
    return found[0], scenario, studies[found[0]]


def _analysis(folder: Path) -> tuple[Analysis, dict[str, str], dict[str, str]]:
    """The analysis of a run or of imported readings, and the TLS of each scenario's joins.

    Also the cells of a simulation whose cipher has no cost on its device, and the reason.
    """
    if (folder / "run.json").is_file():
        opened = open_run(folder)
        study = opened.folder.study_file().study
        unknown = {}
        if opened.folder.manifest()["testbed"] != "linux":
            cells = opened.folder.plan().cells
            unknown = {cell.name: why for cell in cells if (why := why_unknown(cell))}
        return (
            analyse(
                opened.observations(),
                opened.trials(),
                baseline=study.study.baseline,
                overhead=study.study.overhead,
                select=study.trials.select,
                paired=pairs_trials(
                    study.trials.order, opened.folder.manifest()["testbed"], study.trials.pairing
                ),
                answers=study.answers,
            ),
            {name: scenario.join.tls for name, scenario in study.scenario.items()},
            unknown,
        )
    return analyse(read_observations(folder), read_trials(folder)), {}, {}


def _downgrades(folder: Path) -> dict[str, dict[str, Policy]]:
    """Cell of a run -> what each station does that takes a weaker link, and the link's policy."""
    if not (folder / "run.json").is_file():
        return {}
    cells = open_run(folder).folder.plan().cells
    return {
        cell.name: {one.words: one.taken.policy for one in found}
        for cell in cells
        if (found := resolved(cell).downgraded)
    }


def _places(trials: pl.DataFrame, scenario: str | None, where: Where) -> list[tuple[str, str, str]]:
    """Scenario, traffic and factor levels of the chosen cells of a run, measured or not."""
    rows = trials.select("scenario", "traffic", "factors").unique(maintain_order=True)
    if scenario is not None:
        known = ", ".join(rows["scenario"].unique(maintain_order=True))
        rows = rows.filter(pl.col("scenario") == scenario.rpartition("/")[2])
        if rows.is_empty():
            raise UsageError(f"scenario {scenario!r}: the run has {known}")
    found = [(str(a), str(b), str(c)) for a, b, c in rows.rows()]
    levels = [
        {"scenario": a, "traffic": b} | {key: str(value) for key, value in json.loads(c).items()}
        for a, b, c in found
    ]
    if any(key == "policy" for key, _ in where.wanted):
        raise UsageError("--where policy=: --policy names the candidates of advise")
    return [found[at] for at in where.rows(levels)]


def _candidates(
    trials: pl.DataFrame, place: tuple[str, str, str], named: Sequence[str]
) -> dict[str, str]:
    """The candidates of a place, each with the reason for which it may have no figures.

    ``named``: those asked for; otherwise all of the run. The first reason of a policy counts.
    """
    scenario, traffic, factors = place
    here = trials.filter(scenario=scenario, traffic=traffic, factors=factors)
    reasons: dict[str, str] = dict.fromkeys(named, "the run has no such cell")
    for (policy,), rows in here.group_by(["policy"], maintain_order=True):
        if named and policy not in reasons:
            continue
        lost = rows.filter(pl.col("status") != "ok")
        first = lost.row(0, named=True) if lost.height else {"status": "", "reason": ""}
        reasons[str(policy)] = f"{first['status']}: {first['reason']}" if lost.height else ""
    return reasons


def _not_measured(advices: Sequence[Advice]) -> str:
    """The options that were not measured, with the first reason, in one line."""
    advice = next(one for one in advices if one.untold)
    first = advice.untold[0]
    why = first.unmeasured or next(
        f"{check.need}: {check.figure}" for check in first.checks if check.verdict == "unknown"
    )
    names = ", ".join(option.policy for option in advice.untold)
    return f"not measured in {advice.place}: {names} (first: {why})"


def _choices(dataset: str, advices: Sequence[Advice]) -> list[Choice]:
    file = load_dataset(dataset).folder / "choices.csv"
    if not file.is_file():
        return []
    with file.open(encoding="utf-8", newline="") as handle:
        printed = list(csv.DictReader(handle))
    rows = [
        {"scenario": advice.scenario, "traffic": advice.traffic, "policy": row["policy"]}
        for advice in advices
        for row in printed
        if row["scenario"].lower() == advice.scenario.lower()
        and advice.traffic.lower().startswith(row["transport"].lower())
    ]
    return against(advices, rows)


def _print(
    folder: Path,
    analysis: Analysis,
    advices: Sequence[Advice],
    choices: Sequence[Choice],
    unknown: Container[str],
) -> None:
    console = out()
    console.print(_answer(advices), style="bold")
    console.print()
    for advice in advices:
        view = table(
            advice.place,
            [
                "policy",
                "meets",
                "overhead",
                "throughput",
                "join time",
                "front",
                "services",
                "why not",
            ],
            right=["overhead", "throughput", "join time"],
        )
        for option in advice.options:
            view.add_row(*_row(option))
        console.print(view)
        for sentence, cells in advice.sentences:
            console.print(sentence + (f" ({', '.join(cells)})" if cells else ""))
        console.print()
    verdicts = better_transport(analysis, unknown)
    if verdicts:
        console.print("Which transport loses less under each policy", style="bold")
    for verdict in verdicts:
        parts = ", ".join(f"{name} {cost_in_words(e, bare=True)}" for name, e in verdict.overheads)
        sure = "" if verdict.clear else " (intervals overlap)"
        gains = sign_of(as_cost(verdict.overheads[0][1])) == "gain"
        console.print(
            f"{verdict.scenario}, {verdict.policy}: {verdict.better} "
            f"{'gains most' if gains else 'loses least'}{sure}: {parts}"
        )
    console.print("How much trials vary", style="bold")
    for row in spread(analysis).iter_rows(named=True):
        console.print(
            f"{row['scenario']}, {row['traffic']}: trials vary by {100 * row['variation']:.2f} %"
        )
    composed = hybrids(analysis, unknown)
    if composed:
        console.print("Cost of composed policies and of their parts", style="bold")
    for whole in composed:
        summed = evolve(whole.whole, value=whole.sum_of_parts, low=math.nan, high=math.nan)
        console.print(
            f"{whole.cell}: {cost_in_words(whole.whole, bare=True)}; its parts alone add up to "
            f"{show_overhead(as_cost(summed))}"
        )
    if choices:
        console.print("Our choice beside the study's", style="bold")
        console.print(_beside(choices))
    console.print(f"from {folder}", style="dim")


def _answer(advices: Sequence[Advice]) -> str:
    """One answer for the whole run, its reason, and the cells that it rests on."""
    best = overall(advices)
    where = advices[0].place if len(advices) == 1 else f"all {len(advices)} places"
    if best is None and any(advice.untold for advice in advices):
        return f"No answer: {_not_measured(advices)}."
    if best is None:
        return f"No unbroken policy meets the needs in {where}."
    name = f"{display_name(resolve(best.policy))} ({best.policy})"
    found = [o for advice in advices for o in advice.options if o.policy == best.policy]
    costs = [o.figures["overhead"] for o in found if "overhead" in o.figures]
    sure = "" if all(advice.decided for advice in advices) else "undecided, likely "
    able = [sum(option.recommendable for option in advice.options) for advice in advices]
    if max(able) == 1:
        reason = "the only one here that meets the needs and may be recommended"
    elif all(o.near for o in found):
        reason = "the strongest within the margin of the fastest"
    else:
        reason = "the cheapest that meets the needs in each"
    words = f"Answer for {where}: {sure}{name}, {reason}"
    if costs:
        worst, cell = max(costs, key=lambda cost: as_cost(cost[0]).value)
        # Without a cost there is no largest one.
        most = "of throughput at most" if sign_of(as_cost(worst)) == "cost" else "in throughput"
        said = f"{cost_in_words(worst)} {most}"
        if not is_told(worst):
            said = f"throughput: {cost_in_words(worst, bare=True)}"
        words += f"; {said} ({cell})"
    return words + "."


def _beside(choices: Sequence[Choice]) -> Table:
    """One row per place; device profiles that lead to the same choice share it."""
    view = table(None, ["scenario", "transport", "ours", "the study's", "agree"])
    for choice in dict.fromkeys(choices):
        view.add_row(
            choice.scenario,
            choice.traffic,
            choice.ours or "none",
            choice.theirs,
            "yes" if choice.agrees else "no",
        )
    return view


def _row(option: Option) -> list[str]:
    def shown(metric: str, factor: float, unit: str) -> str:
        found = option.figures.get(metric)
        return f"{found[0].value * factor:.4g} {unit}" if found else ""

    overhead = option.figures.get("overhead")
    reasons = [f"{c.need}: {c.figure}" for c in option.checks if c.verdict in ("no", "unknown")]
    # The source is in the sentences below the table.
    reasons += [f"not measured: {option.unmeasured}"] if option.unmeasured else []
    reasons += [f"broken: {option.broken[0].split(' (')[0]}"] if option.broken else []
    return [
        option.policy,
        option.meets,
        cost_in_words(overhead[0], bare=True) if overhead else "",
        shown("throughput_bps", 1e-6, "Mb/s"),
        shown("negotiation_time_s", 1e3, "ms"),
        "yes" if option.pareto else "",
        ", ".join(option.services) or "none",
        "; ".join(reasons),
    ]


def _plain(
    folder: Path,
    analysis: Analysis,
    advices: Sequence[Advice],
    choices: Sequence[Choice],
    unknown: Container[str],
) -> dict[str, Any]:
    return {
        "run": str(folder),
        "answer": best.policy if (best := overall(advices)) else None,
        "advice": [
            {
                "scenario": advice.scenario,
                "factors": json.loads(advice.factors),
                "traffic": advice.traffic,
                "recommended": advice.recommended.policy if advice.recommended else None,
                "decided": advice.decided,
                "trials_needed": advice.trials_needed,
                "options": [
                    {
                        "policy": option.policy,
                        "meets": option.meets,
                        "recommendable": option.recommendable,
                        "unmeasured": option.unmeasured or None,
                        "pareto": option.pareto,
                        "standing": option.standing,
                        "strength": list(option.strength),
                        "services": list(option.services),
                        "broken": list(option.broken),
                        "caveats": list(option.caveats),
                        "downgrades": list(option.downgrades),
                        "figures": {
                            name: estimate.to_json() | {"cell": cell}
                            for name, (estimate, cell) in option.figures.items()
                        },
                        "checks": [
                            {"need": c.need, "verdict": c.verdict, "figure": c.figure}
                            for c in option.checks
                        ],
                    }
                    for option in advice.options
                ],
                "sentences": [
                    {"text": text, "cells": list(cells)} for text, cells in advice.sentences
                ],
            }
            for advice in advices
        ],
        "better_transport": [
            {
                "scenario": v.scenario,
                "policy": v.policy,
                "better": v.better,
                "clear": v.clear,
                "overheads": {name: estimate.to_json() for name, estimate in v.overheads},
            }
            for v in better_transport(analysis, unknown)
        ],
        "spread": spread(analysis).drop("cells").to_dicts(),
        "hybrids": [
            {
                "cell": h.cell,
                "parts": list(h.parts),
                "overhead": h.whole.to_json(),
                "sum_of_parts": h.sum_of_parts,
            }
            for h in hybrids(analysis, unknown)
        ],
        "against": [
            {
                "scenario": c.scenario,
                "traffic": c.traffic,
                "theirs": c.theirs,
                "ours": c.ours,
                "agrees": c.agrees,
            }
            for c in choices
        ],
    }
