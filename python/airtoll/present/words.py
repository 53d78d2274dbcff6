"""From claims to sentences: one function for the terminal, the page, Markdown and JSON.

A sentence names from what to what, the metric, the change, and where it holds. Places are never
averaged: where the change differs from place to place, both ends are named with their places.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Final

from attrs import evolve, frozen

from airtoll.analyse import Estimate
from airtoll.analyse.quantities import show_value
from airtoll.answer import (
    Answered,
    Compare,
    Crossing,
    Gain,
    Held,
    Layered,
    Limit,
    Parts,
    Possible,
    Reproduces,
    Sum,
    Verdict,
)
from airtoll.observe.spoken import spoken
from airtoll.present.digits import absolute, change, percent, plain_percent, points, shown
from airtoll.present.names import Names, level_name
from airtoll.question import Arm, Asked, Place
from airtoll.study import Level

#: Candidates that are told one by one.
_MOST_TOLD: Final = 3
#: Places that are listed by name.
_MOST_PLACES: Final = 3
_NOTHING: Final = "nothing that anyone would notice"
_CHANGED: Final = (Verdict.GAINS, Verdict.COSTS, Verdict.CHANGES)

_WIRE: Final = "the wired link"
#: Limit of a throughput -> the remedy.
_CURES: Final = {_WIRE: ": raise `wired.rate_mbps` of the scenario"}

#: Part of the ledger -> what it is for people.
_PARTS: Final = {
    "airtime_security_s": "octets that security adds",
    "airtime_payload_s": "a lower rate",
    "airtime_ip_transport_s": "more or larger headers",
    "airtime_mac_phy_s": "more frames",
    "airtime_ack_s": "acknowledgements",
    "airtime_contention_s": "waiting for the medium",
    "airtime_card_s": "waiting for the card",
    "airtime_interference_s": "waiting for an interferer",
    "airtime_retry_s": "retries and collisions",
    "airtime_protection_s": "RTS and CTS",
    "airtime_management_s": "management frames",
    "crypto_exposed_s": "waiting for the cipher",
    "airtime_idle_s": "idle air: hosts, wires and windows",
}


@frozen
class Told:
    """Sentences about one question: those that answer it, and what else is known."""

    leads: tuple[str, ...]
    extras: tuple[str, ...]


@frozen
class Teller:
    """Sentences about the questions of one run."""

    names: Names

    def answer(self, answered: Answered) -> Told:
        """The sentences about one question."""
        leads, extras = self._changes(answered)
        turns = [self._turn(answered.question, one) for one in answered.crossings[:1]]
        parts = [] if answered.parts is None else self._parts(answered.parts)
        return Told(
            (*leads, *turns), (*parts, *self._unmeasured(answered), *extras, *_held(answered))
        )

    def claim(self, claim: Compare) -> str:
        """One change at one place, as a sentence."""
        return (
            f"From {self._arm(claim.have, claim.to)} to {self._arm(claim.to, claim.have)}"
            f", {spoken(claim.metric).words} {_change(claim)}."
        )

    def gain(self, claim: Gain) -> list[str]:
        """The security that a policy adds, and the stations that it leaves out."""
        found = []
        to = self._level("policy", claim.to)
        if claim.services:
            found.append(f"{to} adds {_enumerated(_services(claim.services))}.")
        if claim.ended:
            found.append(f"It ends this: {'; '.join(claim.ended)}.")
        if claim.lost:
            found.append(f"It lacks {_enumerated(_services(claim.lost))}, which you have today.")
        if claim.left:
            found.append(f"With it, {'; '.join(claim.left)}.")
        if not found:
            have = self._level("policy", claim.have)
            found.append(f"{to} adds no security service that {have} lacks.")
        if claim.excludes:
            words = f"Every device must have {to}; a device without it stays out"
            if claim.bridge:
                words += f" ({claim.bridge} would let it in, as the weaker link)"
            found.append(words + ".")
        return found

    def over(self, link: str, tunnel: str, services: Sequence[str]) -> str:
        """The services that a tunnel adds to a link."""
        name = self._level("policy", tunnel).rpartition(" + ")[2]
        whole = f"{name} over {self._level('policy', link)}"
        if services:
            return f"{whole} adds {_enumerated(_services(services))}."
        return (
            f"On the air {whole} is a waste: it adds no service that the link lacks. Beyond the "
            "access point, which no link policy protects, it is not."
        )

    def layered(self, claim: Layered) -> list[str]:
        """Whether a tunnel over a protected link is a waste: its addition, cost, sum and limit."""
        found = [self.over(claim.link, claim.tunnel, claim.services)]
        added = claim.added
        if added.change is None:
            return [*found, f"Its cost is unknown: {added.reason}."]
        assert added.before is not None
        assert added.after is not None
        ends = f"from {shown(added.before)} to {shown(added.after)}"
        found.append(f"With it, {self.change(added)}, {ends}.")
        if claim.parts is not None and claim.whole.change is not None:
            relation = {
                Sum.MORE: "costs more than its parts",
                Sum.LESS: "costs less than its parts",
                Sum.EQUAL: "costs as much as its parts",
                Sum.UNKNOWN: "has its parts",
            }[claim.sum]
            found.append(
                f"The whole {relation}: {_loss(claim.whole.change)} against an open network, "
                f"where the parts add up to {_loss(claim.parts)}."
            )
        if claim.limit is not None:
            found.append(f"{_limiter(claim.limit)} limits it.")
        return found

    def impossible(self, claims: Sequence[Possible]) -> list[str]:
        """The policies that cannot be had, by reason."""
        return self._by_reason("Cannot be had here", claims)

    def unmet(self, claims: Sequence[Possible]) -> list[str]:
        """The policies that do not meet a need, by need."""
        return self._by_reason("Does not meet the needs", claims)

    def unknown(self, claims: Sequence[Possible]) -> list[str]:
        """The policies whose cost is unknown, by reason."""
        return self._by_reason("Cost unknown, so not recommended", claims)

    def change(self, claim: Compare) -> str:
        """The change of one metric, without the policies."""
        return f"{spoken(claim.metric).words} {_change(claim)}"

    def _by_reason(self, head: str, claims: Sequence[Possible]) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for claim in claims:
            name = self._level("policy", claim.arm["policy"])
            by_reason.setdefault(claim.reason, []).append(name)
        return [f"{head}: {_enumerated(names)}: {reason}." for reason, names in by_reason.items()]

    def _changes(self, answered: Answered) -> tuple[list[str], list[str]]:
        question = answered.question
        by_arm = {
            arm: told
            for arm in question.to
            if (told := [c for c in answered.compares if c.to == arm and c.change is not None])
        }
        words = spoken(question.metric).words
        same = [arm for arm, claims in by_arm.items() if _all(claims, Verdict.UNNOTICED)]
        others = sorted(
            (arm for arm in by_arm if arm not in same), key=lambda arm: _largest(by_arm[arm])
        )
        left = len(others) - _MOST_TOLD
        ends = others if left <= 0 else [others[0], others[-1]]
        leads: list[str] = []
        extras: list[str] = []
        for arm in ends:
            first, *further = self._phrases(question, by_arm[arm])
            have, to = self._arm(question.have, arm), self._arm(arm, question.have)
            leads.append(f"From {have} to {to}, {words} {first}.")
            extras += [f"From {have} to {to}, {words} {phrase}." for phrase in further]
        if left > 0:
            leads.append(f"The other {len(others) - 2} choices lie between these two.")
        if same:
            claims = [claim for arm in same for claim in by_arm[arm]]
            names = self._listed([self._arm(arm, question.have) for arm in same], "other choices")
            have = self._arm(question.have, *same)
            leads.append(
                f"From {have} to {names}, {words} {self._unnoticed(claims, question.places)}."
            )
        return leads, extras

    def _phrases(self, question: Asked, claims: Sequence[Compare]) -> list[str]:
        """The changes of one candidate over its places: verb phrases, the largest change first."""
        places = question.places
        changed = [claim for claim in claims if claim.verdict in _CHANGED]
        groups = [[c for c in changed if (c.change.value > 0) is up] for up in (False, True)]  # type: ignore[union-attr]
        groups = sorted((g for g in groups if g), key=lambda g: -max(map(_size, g)))
        phrases = [self._range(group, places) for group in groups]
        same = [claim for claim in claims if claim.verdict is Verdict.UNNOTICED]
        few = [claim for claim in claims if claim.verdict is Verdict.TOO_FEW]
        if same:
            phrases.append(self._unnoticed(same, places))
        if few:
            phrases.append(self._few(few, places))
        return phrases

    def _range(self, group: Sequence[Compare], places: Sequence[Place]) -> str:
        """Changes of one direction: one value, or the least and the most with their places."""
        ordered = sorted(group, key=_size)
        least, most = ordered[0], ordered[-1]
        verb = _verb(most)
        if len(group) == 1 or _amount(least) == _amount(most):
            return f"{verb} {_amount(most)}{self._at([claim.place for claim in group], places)}"
        if least.is_share:
            low, high = (percent(absolute(claim.change)) for claim in (least, most))  # type: ignore[arg-type]
            return (
                f"{verb} by {low}{self._at([least.place], places)} to "
                f"{high}{self._at([most.place], places)}"
            )
        return (
            f"{verb} {_amount(most)}{self._at([most.place], places)}; least {_amount(least)}"
            f"{self._at([least.place], places)}"
        )

    def _unnoticed(self, group: Sequence[Compare], places: Sequence[Place]) -> str:
        largest = max(group, key=_size)
        here = list({id(claim.place): claim.place for claim in group}.values())
        most = "at most " if len(group) > 1 else ""
        return f"changes by {_NOTHING}{self._at(here, places)}: {most}{_small(largest)}"

    def _few(self, group: Sequence[Compare], places: Sequence[Place]) -> str:
        where = self._at([claim.place for claim in group], places)
        known = [claim.more for claim in group if claim.more is not None]
        need = f"; {max(known)} more trials of each cell would decide" if known else ""
        widest = max(group, key=_size)
        return f"changes by {_signed(widest)}{where}: too few trials to tell{need}"

    def _turn(self, question: Asked, crossing: Crossing) -> str:
        last, first = (
            level_name(crossing.factor, _plain(level)) for level in (crossing.last, crossing.first)
        )
        place = self._at([crossing.place], question.places)
        return (
            f"From {self._arm(question.have, crossing.to)} to "
            f"{self._arm(crossing.to, question.have)}{place}, {spoken(question.metric).words} "
            f"{_turned(crossing.below)} up to {last}, and {_turned(crossing.above)} from "
            f"{first} on."
        )

    def _unmeasured(self, answered: Answered) -> list[str]:
        question = answered.question
        reasons: dict[tuple[str, str], list[Place]] = {}
        for claim in answered.compares:
            if claim.verdict is Verdict.UNMEASURED:
                key = (self._arm(claim.to, question.have), claim.reason)
                reasons.setdefault(key, []).append(claim.place)
        by_reason: dict[str, list[str]] = {}
        for (arm, reason), places in reasons.items():
            where = self._at(places, question.places)
            by_reason.setdefault(reason, []).append(f"{arm}{where}")
        return [
            f"Not measured: {self._listed(arms, 'choices')}: {reason}."
            for reason, arms in by_reason.items()
        ]

    def _parts(self, parts: Parts) -> list[str]:
        """The largest parts of a change, in percent of what was."""
        costs = [(name, part) for name, part in parts.parts if part.value > 0]
        if parts.total <= 0 or not costs:
            return []
        costs.sort(key=lambda pair: -pair[1].value)
        told = [
            f"{_PARTS.get(name, name)} {plain_percent(part.value)}"
            for name, part in costs[:3]
            if part.value >= 0.05 * parts.total
        ]
        claim = parts.compare
        return [
            f"Of the {percent(absolute(claim.change))} from "  # type: ignore[arg-type]
            f"{self._arm(claim.have, claim.to)} to {self._arm(claim.to, claim.have)}"
            f"{self._at([claim.place], [claim.place])}, {', '.join(told)}."
        ]

    def _arm(self, arm: Arm, *against: Arm) -> str:
        """The levels of an arm in which it differs from others."""
        return ", ".join(
            self._level(axis, level)
            for axis, level in arm.levels
            if any(str(other[axis]) != str(level) for other in against)
        )

    def _level(self, axis: str, level: Level) -> str:
        """A level inside a sentence, without commas of its own."""
        words = self.names.level(axis, level)
        if axis == "policy":
            words = words.replace(", ", " ")
            words = re.sub(r"^Open$", "an open network", words)
            words = re.sub(r"^Open ", "open ", words)
        return words

    def _at(self, here: Sequence[Place], of: Sequence[Place]) -> str:
        """``(tcp, 5 clients)``: the levels that vary among the places."""
        if len(here) == len(of) and len(of) > 1:
            return f" at all {len(of)} places"
        varying = _varying(of)
        texts = []
        for place in here:
            levels = [self._level(a, v) for a, v in place.levels if a in varying]
            if levels:
                texts.append(", ".join(levels))
        if not texts:
            return ""
        if len(texts) > _MOST_PLACES:
            return f" at {len(texts)} of {len(of)} places"
        return f" ({'; '.join(texts)})"

    def _listed(self, items: Sequence[str], noun: str) -> str:
        if len(items) > 2 * _MOST_TOLD:
            return f"{len(items)} {noun}"
        return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} or {items[-1]}"


def reproduced(claims: Sequence[Reproduces]) -> list[str]:
    """How many printed values are met: one sentence by data set and quantity.

    Values that a profile was fitted to are left out: to meet them proves nothing.
    """
    groups: dict[tuple[str, str], list[Reproduces]] = {}
    for claim in claims:
        groups.setdefault((claim.dataset, claim.quantity), []).append(claim)
    return [_of_printed(dataset, quantity, group) for (dataset, quantity), group in groups.items()]


def _of_printed(dataset: str, quantity: str, group: Sequence[Reproduces]) -> str:
    is_overhead = quantity == "overhead"
    noun = "overheads" if is_overhead else f"values of {spoken(quantity).words}"
    near = "one point" if is_overhead else plain_percent(group[0].within)
    parts = []
    for claim in group:
        with_ = f" with {level_name('profile_set', claim.variant)}" if claim.variant else ""
        if not claim.total:
            parts.append(
                f"{claim.fitted_met} of {claim.fitted}{with_}, all of which were fitted to"
            )
            continue
        of = f"{claim.met} of {claim.total}{with_}"
        if claim.fitted:
            of += f" (the other {claim.fitted} were fitted to)"
        if claim.unit == "1" and is_overhead:
            of += f": printed {_span(claim.printed)}, ours {_span(claim.ours)}"
        parts.append(of)
    return f"Printed {noun} of {dataset} met within {near}: {'; '.join(parts)}."


def _held(answered: Answered) -> list[str]:
    """The limits other than the air, and the number of their cells."""
    bound = [one for one in answered.limits if one.held in (Held.CPU, Held.WIRE)]
    by_holder: dict[str, int] = {}
    for one in bound:
        who = _WIRE if one.held is Held.WIRE else f"the CPU of {one.host}"
        by_holder[who] = by_holder.get(who, 0) + 1
    of = len(answered.limits)
    return [
        f"Not the air but {who} limits throughput in {count} of {of} cells{_CURES.get(who, '')}."
        for who, count in by_holder.items()
    ]


def _span(ends: tuple[float, float]) -> str:
    low, high = (plain_percent(end).removesuffix(" %") for end in ends)
    return f"{low} to {high} %"


def _services(names: Sequence[str]) -> list[str]:
    return [name if name.startswith("non-") else name.replace("-", " ") for name in names]


def _enumerated(items: Sequence[str]) -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def _loss(change: Estimate) -> str:
    """A change of a share as a loss."""
    low, high = -change.high, -change.low
    return percent(evolve(change, value=-change.value, low=low, high=high))


def _limiter(limit: Limit) -> str:
    if limit.held is Held.CPU:
        busy = "" if limit.share is None else plain_percent(limit.share)
        share = f", busy for {busy} of the time," if busy else ""
        host = {"ap": "the access point"}.get(limit.host, limit.host)
        return f"The CPU of {host}{share}"
    return {
        Held.AIR: "The air", Held.WIRE: "The wired link", Held.OFFERED: "The offered load",
    }[limit.held]  # fmt: skip


def _varying(places: Sequence[Place]) -> set[str]:
    """The axes whose level is not the same at all places."""
    levels: dict[str, set[str]] = {}
    for place in places:
        for axis, level in place.levels:
            levels.setdefault(axis, set()).add(str(level))
    return {axis for axis, values in levels.items() if len(values) > 1}


def _largest(claims: Sequence[Compare]) -> float:
    """The change of the largest amount, with its sign turned so that the best comes first."""
    worst = max(claims, key=_size)
    sign = {Verdict.GAINS: -1.0, Verdict.COSTS: 1.0}.get(worst.verdict, 0.0)
    return sign * _size(worst)


def _all(claims: Sequence[Compare], verdict: Verdict) -> bool:
    return all(claim.verdict is verdict for claim in claims)


def _size(claim: Compare) -> float:
    assert claim.change is not None
    return abs(claim.change.value)


def _verb(claim: Compare) -> str:
    assert claim.change is not None
    return "rises" if claim.change.value > 0 else "falls"


def _change(claim: Compare) -> str:
    """The change of one claim: a verb phrase."""
    if claim.change is None:
        return f"was not measured: {claim.reason}"
    if claim.verdict is Verdict.UNNOTICED:
        return f"changes by {_NOTHING}: {_small(claim)}"
    if claim.verdict is Verdict.TOO_FEW:
        return f"changes by {_signed(claim)}: too few trials to tell"
    return f"{_verb(claim)} {_amount(claim)}"


def _turned(claim: Compare) -> str:
    if claim.verdict is Verdict.UNNOTICED:
        return f"changes by {_NOTHING}"
    return f"{_verb(claim)} {_amount(claim)}"


def _amount(claim: Compare) -> str:
    """``by 1.1 ± 0.1 %``, or ``by 37.0 ± 2.1 ms, from 57.0 to 20.0 ms``."""
    assert claim.change is not None
    assert claim.before is not None
    assert claim.after is not None
    if claim.is_share:
        return f"by {percent(absolute(claim.change))}"
    if spoken(claim.metric).told == "points":
        return points(claim.change, claim.before, claim.after)
    return change(claim.change, claim.before, claim.after)


def _small(claim: Compare) -> str:
    """The amount of an unnoticed change, without its interval."""
    assert claim.change is not None
    if claim.is_share:
        return plain_percent(_size(claim))
    if spoken(claim.metric).told == "points":
        return plain_percent(_size(claim)).replace(" %", " points")
    return show_value(_size(claim), claim.change.unit, 2)


def _signed(claim: Compare) -> str:
    assert claim.change is not None
    if claim.is_share or spoken(claim.metric).told == "points":
        return percent(claim.change)
    return shown(claim.change)


def _plain(level: float) -> float | int:
    return int(level) if level == int(level) else level
