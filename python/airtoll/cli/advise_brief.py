"""The advice on several places of a run, on one screen: a line each, then what holds everywhere.

Takes the advices of a run. Every option of every place is on the long screen (``--details``).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from airtoll.analyse.advice import Advice, Option
from airtoll.analyse.cost import cost_in_words
from airtoll.cli.output import out, say_rest, shown_rows, table

#: Policies that are named beside a choice; the others are counted.
_NAMED: Final = 1


def print_brief(folder: Path, advices: Sequence[Advice]) -> None:
    """A row for each place, and the sentences of all places once."""
    console = out()
    view = table(
        None, ["place", "choice", "throughput lost", "not told apart from it"],
        right=["throughput lost"],
    )  # fmt: skip
    for advice in advices[: shown_rows(len(advices))]:
        view.add_row(*_row(advice))
    console.print(view)
    say_rest(len(advices), "--details has all")
    for line in _sentences(advices):
        console.print(line, markup=False)
    console.print(
        f"from {folder}; every option of each place, services, transports and composed policies: "
        "--details",
        style="dim",
    )


def _row(advice: Advice) -> list[str]:
    best = advice.recommended
    if best is None:
        return [advice.place, "not measured" if advice.untold else "none", "", ""]
    cost = best.figures.get("overhead")
    alike = [
        option.policy
        for option in advice.options
        if option is not best and option.recommendable and option.standing in ("tie", "undecided")
    ]
    rest = len(alike) - _NAMED
    named = ", ".join(alike[:_NAMED]) + (f" and {rest} more" if rest > 0 else "")
    likely = "" if advice.decided else "likely "
    return [
        advice.place,
        f"{likely}{best.policy}",
        cost_in_words(cost[0], bare=True) if cost else "not known",
        named,
    ]


def _sentences(advices: Sequence[Advice]) -> Iterator[str]:
    """Sentences that hold at all places or at some, each once."""
    baselines = dict.fromkeys(advice.baseline for advice in advices)
    yield f"Throughput lost is counted from {' or '.join(baselines)}."
    needed = [advice.trials_needed for advice in advices if not advice.decided]
    if needed:
        known = [trials for trials in needed if trials is not None]
        tell = f"{max(known)} trials per cell would" if len(known) == len(needed) else ""
        yield (
            f"{len(needed)} of {len(advices)} places are undecided: "
            f"{tell or 'at some of them no number of trials would'} tell."
        )
    chosen = {advice.recommended.policy for advice in advices if advice.recommended}
    told: dict[str, None] = {}
    failing: dict[tuple[str, str], int] = {}
    for advice in advices:
        for option in advice.options:
            for reason in _reasons(option):
                failing[option.policy, reason] = failing.get((option.policy, reason), 0) + 1
            if option.policy in chosen:
                told.update({f"With {option.policy}, {one}.": None for one in option.caveats})
            told.update(
                {f"Downgrade under {option.policy}: {one}.": None for one in option.downgrades}
            )
    if failing:
        yield f"Why not others: {'; '.join(_failing(failing, len(advices)))}."
    yield from told


def _reasons(option: Option) -> Iterator[str]:
    if option.broken:
        yield "broken"
        return
    if not option.allowed:
        yield "measured as the baseline alone"
        return
    for check in option.checks:
        if check.verdict == "no":
            yield f"{check.need} is not met"
        elif check.verdict == "unknown" and not option.unmeasured:
            yield f"{check.need} is not known"
    if option.unmeasured:
        yield f"not measured ({option.unmeasured})"


def _failing(failing: dict[tuple[str, str], int], places: int) -> list[str]:
    """``open (confidentiality is not met at 2 of 6 places)``; policies of one reason together."""
    of_policy: dict[str, list[str]] = {}
    for (policy, reason), count in failing.items():
        at = "" if count == places else f" at {count} of {places} places"
        of_policy.setdefault(policy, []).append(reason + at)
    of_reason: dict[str, list[str]] = {}
    for policy, reasons in of_policy.items():
        of_reason.setdefault(", ".join(reasons), []).append(policy)
    return [f"{', '.join(policies)} ({reason})" for reason, policies in of_reason.items()]
