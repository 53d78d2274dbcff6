"""``airtoll advise --from``: one screen from the policy that one has to a better one.

Takes a situation; prints the answer, as JSON with ``--json``, and writes it as a page.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from attrs import asdict

from airtoll.advising import (
    MOST_LOSS,
    Choice,
    Decision,
    Measures,
    Memo,
    Outcome,
    Screen,
    Situation,
    Turn,
    by_level,
    decided,
    detailed,
    level_lines,
    page,
    screen,
    turned,
)
from airtoll.advising.limits import Checked
from airtoll.analyse.advice import Needs
from airtoll.answer import Compare, Possible
from airtoll.cli.advise_options import AdviseOptions
from airtoll.cli.output import emit_json, err, out
from airtoll.errors import NotMeasured, UsageError


def advise_from(
    situations: Sequence[Situation], named: Sequence[str], needs: Needs, options: AdviseOptions
) -> None:
    """Measure, decide, and print; of several situations each, and where the answer turns.

    Raises ``NotMeasured`` where no stronger policy could be measured.
    """
    page_file = options.start.page_file
    if page_file is not None and page_file.suffix not in (".html", ".htm"):
        raise UsageError(f"--out {page_file}: a page ends in .html")

    def phase(words: str) -> None:
        err().print(words, style="dim")

    memo: Memo = {}

    def at(situation: Situation, *, brief: bool) -> tuple[Decision, Measures]:
        return decided(
            situation,
            named=named,
            needs=needs,
            most_loss=MOST_LOSS if needs.max_overhead is None else needs.max_overhead,
            trials=options.trials,
            asked=options.start.to,
            memo=memo,
            brief=brief,
            phase=phase,
        )

    found = [at(situation, brief=len(situations) > 1) for situation in situations]
    decision, measures = found[0]
    turns: tuple[Turn, ...] = ()
    screens: list[Screen] = []
    if len(found) > 1:
        turns = turned([one for one, _ in found], trials=options.trials, phase=phase)
        number = detailed([one for one, _ in found], turns)
        decision, measures = found[number] = at(situations[number], brief=False)
        screens = [screen(one, own.names) for one, own in found]
        shown = by_level([one for one, _ in found], screens, turns)
    else:
        shown = screen(decision, measures.names)
    if page_file is not None:
        try:
            page_file.write_text(page(shown), encoding="utf-8")
        except OSError as error:
            raise UsageError(f"--out {page_file}: cannot be written: {error.strerror}") from error
    if options.json:
        plain = _plain(decision, shown)
        if len(found) > 1:
            told = level_lines([one for one, _ in found], screens)
            levels = zip(found, told, strict=True)
            plain["levels"] = [_level(one, words) for (one, _), words in levels]
            plain["turns"] = [asdict(one) for one in turns]
        emit_json(plain)
    else:
        _print(shown, details=options.details)
        if page_file is not None:
            out().print(f"The same as a page: {page_file}", style="dim")
    if decision.choice is Choice.UNKNOWN:
        raise NotMeasured(shown.answer)


def _level(decision: Decision, words: str) -> dict[str, Any]:
    situation = decision.situation
    return {
        "clients": situation.clients,
        "requests_per_s": situation.requests_per_s,
        "answer": decision.policy,
        "choice": decision.choice.value,
        "words": words,
        "too_slow": list(decision.too_slow),
        "outcomes": [_outcome(one) for one in decision.outcomes],
        "with_a_faster_server": [_outcome(one) for one in decision.slow],
        "impossible": _reasons(decision.impossible),
    }


def _print(shown: Screen, *, details: bool) -> None:
    console = out()
    console.print(shown.answer, style="bold")
    left: list[str] = []
    for section in shown.sections:
        lines = section.lines if details else section.shown
        if len(lines) < len(section.lines) and section.title:
            left.append(section.title)
        if section.title and lines:
            console.print(section.title, style="bold")
        for line in lines:
            console.print(f"  {line}" if section.title else line, markup=False)
    if left:
        console.print(f"--details tells all of: {', '.join(left)}.", style="dim", markup=False)


def _plain(decision: Decision, shown: Screen) -> dict[str, Any]:
    situation = decision.situation
    network = situation.network
    return {
        "answer": decision.policy,
        "choice": decision.choice.value,
        "if_associated": _if_associated(decision),
        "if_kept": _if_kept(decision),
        "asked": decision.asked,
        "have": situation.have,
        "place": situation.place,
        "network": None if network is None else network.to_json(),
        "assumed": list(situation.assumed),
        "setting": decision.setting,
        "neighbours": _neighbours(situation),
        "outcomes": [_outcome(one) for one in decision.outcomes],
        "impossible": _reasons(decision.impossible),
        "with_a_faster_server": [_outcome(one) for one in decision.slow],
        "unmet": _reasons(decision.unmet),
        "limits": [_limit(one) for one in decision.limits],
        "unknown": _reasons(decision.unknown),
        "sensor": _sensor(decision),
        "tunnel": _tunnel(decision),
        "margin": None if decision.margin is None else asdict(decision.margin),
        "without_80211r": {
            policy: {"policy": one.policy, "handover_s": one.time.to_json(), "lost": one.lost}
            for policy, one in decision.walked.items()
        },
        "scanned": None if decision.scanned is None else decision.scanned.to_json(),
        "words": {
            "answer": shown.answer,
            "sections": [{"title": one.title, "lines": list(one.lines)} for one in shown.sections],
        },
    }


def _neighbours(situation: Situation) -> dict[str, float] | None:
    """The other networks on the channel; None where nothing is said of them."""
    heard = situation.neighbours
    if heard is None:
        return None
    return {"networks": heard.networks, "level_dbm": heard.level_dbm}


def _if_associated(decision: Decision) -> dict[str, str] | None:
    """The other half of a sensor's answer, where a station that stays associated should change;
    ``answer`` and ``choice`` then hold if it joins for every message. None: they hold for both.
    """
    if decision.if_associated is None:
        return None
    return {"answer": decision.if_associated.policy, "choice": Choice.CHANGE.value}


def _if_kept(decision: Decision) -> dict[str, str] | None:
    """The same of a station that joins for every message with a PMK that both sides keep."""
    if decision.if_kept is None:
        return None
    return {"answer": decision.if_kept.policy, "choice": Choice.CHANGE.value}


def _sensor(decision: Decision) -> dict[str, Any] | None:
    """Battery and interval of a sensor, and the days that it lasts."""
    situation, life = decision.situation, decision.life
    if situation.place != "sensor":
        return None
    return {
        "battery_wh": situation.battery.wh,
        "every_s": situation.every_s,
        "policy": None if life is None else life.policy,
        "days": None if life is None else life.waking.to_json(),
        "days_associated": None if life is None else life.associated.to_json(),
        "kept_pmk": {
            one.policy: {"days": one.days.to_json(), "days_with_hostapd": one.days_with_hostapd}
            for one in decision.kept
        },
        **_sensing(decision),
    }


def _sensing(decision: Decision) -> dict[str, Any]:
    """A sensor's joins, and its days with a scan or with the key of its passphrase at each join."""
    found = decision.sensing
    if found is None:
        return {"joins": {}, "days_with_scan": {}, "days_with_passphrase": {}}
    return {
        "joins": {policy: asdict(one) for policy, one in found.joins.items()},
        "days_with_scan": {policy: one.to_json() for policy, one in found.scanned.items()},
        "days_with_passphrase": {policy: one.to_json() for policy, one in found.mapped.items()},
    }


def _outcome(outcome: Outcome) -> dict[str, Any]:
    return {
        "policy": outcome.policy,
        "stronger": outcome.stronger,
        "bears": outcome.bears,
        "claims": [
            _claim(claim) | {"unknown_part": outcome.unknown_part(claim) or None}
            for claim in outcome.claims
        ],
        "gain": asdict(outcome.gain),
    }


def _claim(claim: Compare) -> dict[str, Any]:
    return {
        "metric": claim.metric,
        "verdict": claim.verdict.value,
        "change": None if claim.change is None else claim.change.to_json(),
        "is_share": claim.is_share,
        "before": None if claim.before is None else claim.before.to_json(),
        "after": None if claim.after is None else claim.after.to_json(),
    }


def _limit(one: Checked) -> dict[str, Any]:
    return {
        "option": one.limit.option,
        "metric": one.limit.metric,
        "at_least" if one.limit.least else "at_most": one.limit.value,
        "policy": one.policy,
        "value": None if one.value is None else one.value.to_json(),
        "rule": one.rule.value,
    }


def _reasons(claims: Sequence[Possible]) -> dict[str, str]:
    return {str(claim.arm["policy"]): claim.reason for claim in claims}


def _tunnel(decision: Decision) -> dict[str, Any] | None:
    found = decision.layered
    if found is None:
        unknown = decision.tunnel_unknown
        end = decision.situation.tunnel_end
        return None if unknown is None else {"unknown": unknown.reason, "end": end}
    return {
        "end": decision.situation.tunnel_end,
        "link": found.link,
        "tunnel": found.tunnel,
        "added": _claim(found.added),
        "whole": _claim(found.whole),
        "parts": None if found.parts is None else found.parts.to_json(),
        "sum": found.sum.value,
        "services": list(found.services),
        "limit": None if found.limit is None else found.limit.held.value,
    }
