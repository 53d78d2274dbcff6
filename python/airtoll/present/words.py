"""From claims to sentences: one function for the terminal, the page, Markdown and JSON.

A sentence names from what to what, the metric, the change, and where it holds. Places are never
averaged: where the change differs from place to place, each place or both ends are named.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Final

from attrs import frozen

from airtoll.answer import (
    Answered,
    Compare,
    Crossing,
    Fit,
    Held,
    Limit,
    Parts,
    Possible,
    Printed,
    Reproduces,
    Verdict,
)
from airtoll.observe.spoken import spoken
from airtoll.present.digits import (
    absolute,
    amount,
    at_most,
    bare,
    from_to,
    percent,
    plain_percent,
    points,
    share_from_to,
    shown,
    span,
)
from airtoll.present.names import Names, level_name
from airtoll.question import Arm, Asked, Place
from airtoll.study import Level

#: Candidates or places that are told one by one.
_MOST_TOLD: Final = 3
#: Characters of a sentence that a reader takes in at once.
_READABLE: Final = 160
#: Characters of a description of several places.
_DESCRIBED: Final = 60
#: A share from which on both values are told beside it.
_LARGE: Final = 0.1
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

#: Fitted time of a profile -> what it is for people.
_FITS: Final = {
    "card.cipher.frame_us": "{} per frame",
    "card.fetch.frame_us": "{} per frame under every policy",
    "host.tx_packet_cycles": "{} per packet that it sends",
    "host.rx_packet_cycles": "{} per packet that it receives",
    "radio.frame_burst_us": "bursts of {}",
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
        question = answered.question
        turned = {one.to for one in answered.crossings if question.along not in question.axes}
        turns = list(self._turns(question, answered.crossings))
        if turns and question.along in question.axes:
            leads, extras = turns, []
        else:
            leads, extras = self._changes(answered, turned)
            leads = [*turns, *leads]
        parts = [] if answered.parts is None else self._parts(answered.parts)
        return Told(
            (*leads, *self._refused(question, answered.impossible)),
            (*parts, *self._unmeasured(answered), *extras, *self._held(answered)),
        )

    def claim(self, claim: Compare) -> str:
        """One change at one place, as a sentence."""
        return f"{self._from_to(claim.have, claim.to)}, {_words(claim)} {_change(claim)}."

    def _changes(self, answered: Answered, left_out: set[Arm]) -> tuple[list[str], list[str]]:
        question = answered.question
        by_arm = {
            arm: told
            for arm in question.to
            if arm not in left_out
            and (told := [c for c in answered.compares if c.to == arm and c.change is not None])
        }
        same = [arm for arm, claims in by_arm.items() if _all(claims, Verdict.UNNOTICED)]
        others = sorted(
            (arm for arm in by_arm if arm not in same), key=lambda arm: _largest(by_arm[arm])
        )
        leads: list[str] = []
        extras: list[str] = []
        if len(others) > 1 and len(question.places) == 1:
            claims = [by_arm[arm][0] for arm in others]
            found, further = self._side_by_side(question, claims)
            leads += found
            extras += further
        elif len(others) > _MOST_TOLD:
            leads += self._ends(question, [c for arm in others for c in by_arm[arm]])
        else:
            for arm in others:
                found, further = self._of_arm(question, arm, by_arm[arm])
                leads += found
                extras += further
        if same:
            claims = [claim for arm in same for claim in by_arm[arm]]
            names = self._listed([self._arm(arm, question.have) for arm in same], "or")
            have = self._arm(question.have, *same)
            places = _distinct(claims)
            at = self._at(places, question)
            leads.append(
                f"{self._opening(question)} {have} to {names}, {_words(claims[0])} "
                f"{_unnoticed(claims, at)}."
            )
        return leads, extras

    def _of_arm(
        self, question: Asked, arm: Arm, claims: Sequence[Compare]
    ) -> tuple[list[str], list[str]]:
        """One candidate over its places: a sentence for each direction of change, the one that
        holds at most places first.
        """
        opening = f"{self._opening(question)} {self._pair(question.have, arm)}"
        groups = [g for g in _groups(claims) if g]
        groups.sort(key=lambda g: (g[0].verdict is Verdict.TOO_FEW, -len(g), -max(map(_size, g))))
        leads: list[str] = []
        extras: list[str] = []
        for group in groups:
            words = f"{opening}, {_words(group[0])}"
            if group[0].verdict is Verdict.TOO_FEW:
                line = f"{words} {_few(group, self._at(_distinct(group), question))}."
                (extras if leads else leads).append(line)
            elif group[0].verdict is Verdict.UNNOTICED:
                at = self._at(_distinct(group), question)
                leads.append(f"{words} {_unnoticed(group, at)}.")
            else:
                leads.append(self._ranged(words, group, question))
        return leads, extras

    def _ranged(self, words: str, group: Sequence[Compare], question: Asked) -> str:
        """Changes of one direction: each, or the least and the most, with their places."""
        verb = _verb(group[0])
        if len(group) == 1:
            (only,) = group
            at = self._at([only.place], question)
            return _readable([f"{words} {verb} {_amount(only)}{at}.", f"{words} {verb} {_short(only)}{at}."])
        ordered = sorted(group, key=_size)
        least, most = ordered[0], ordered[-1]
        if _alike(group):
            return f"{words} {verb} by {_spanned(group)}{self._at(_distinct(group), question)}."
        each = [(claim, self._at([claim.place], question)) for claim in group]
        options = []
        if len(group) <= _MOST_TOLD:
            options = [
                f"{words} {verb} {_enumerated([f'{_by(c)}{at}' for c, at in each])}.",
                f"{words} {verb} {_enumerated([f'{_bare(c)}{at}' for c, at in each])}.",
            ]
        options.append(
            f"{words} {verb} by {_bare(least).removeprefix('by ')}{self._at([least.place], question)} to "
            f"{_bare(most).removeprefix('by ')}{self._at([most.place], question)}."
        )
        return _readable(options)

    def _side_by_side(
        self, question: Asked, claims: Sequence[Compare]
    ) -> tuple[list[str], list[str]]:
        """Several candidates at one place: one sentence for each direction of change."""
        at = self._at(question.places, question)
        leads: list[str] = []
        extras: list[str] = []
        for group in sorted(filter(None, _groups(claims)), key=lambda g: -max(map(_size, g))):
            have = self._arm(question.have, *(claim.to for claim in group))
            arms = [self._arm(claim.to, question.have) for claim in group]
            words = f"{self._opening(question)} {have}"
            metric = _words(group[0])
            if group[0].verdict is Verdict.UNNOTICED:
                to = self._listed(arms, "or")
                leads.append(f"{words} to {to}, {metric} {_unnoticed(group, at)}.")
            elif group[0].verdict is Verdict.TOO_FEW:
                to = self._listed(arms, "or")
                extras.append(f"{words} to {to}, {metric} {_few(group, at)}.")
            elif len(group) == 1:
                line = f"{words} to {arms[0]}, {metric}"
                leads.append(self._ranged(line, group, question))
            elif _alike(group):
                to = self._listed(arms, "or")
                leads.append(
                    f"{words} to {to}, {metric} {_verb(group[0])} by {_spanned(group)}{at}."
                )
            else:
                leads.append(self._each_arm(f"{words}, {metric}", group, arms, at))
        return leads, extras

    def _each_arm(
        self, words: str, group: Sequence[Compare], arms: Sequence[str], at: str
    ) -> str:
        verb = _verb(group[0])
        options = []
        if len(group) <= _MOST_TOLD + 1:
            options = [
                f"{words} {verb} "
                + _enumerated([f"{tell(c)} with {arm}" for c, arm in zip(group, arms, strict=True)])
                + f"{at}."
                for tell in (_by, _bare)
            ]
        order = sorted(range(len(group)), key=lambda index: _size(group[index]))
        first, last = order[0], order[-1]
        between = f"; {len(group) - 2} others lie between" if len(group) > 2 else ""
        options.append(
            f"{words} {verb} {_bare(group[first])} with {arms[first]} to "
            f"{_bare(group[last]).removeprefix('by ')} with {arms[last]}{at}{between}."
        )
        return _readable(options)

    def _ends(self, question: Asked, claims: Sequence[Compare]) -> list[str]:
        """Many candidates at many places: the least and the most of each direction."""
        found = []
        for group in sorted(_groups(claims), key=len, reverse=True):
            if not group:
                continue
            have = self._arm(question.have, *(claim.to for claim in group))
            words = f"{self._opening(question)} {have}, {_words(group[0])}"
            ordered = sorted(group, key=_size)
            if group[0].verdict not in _CHANGED:
                count = len({claim.to for claim in group})
                tell = _few if group[0].verdict is Verdict.TOO_FEW else _unnoticed
                places = self._at(_distinct(group), question)
                found.append(f"{words} {tell(group, f' with {count} choices{places}')}.")
                continue
            ends = [
                f"{_bare(one).removeprefix('by ')} with {self._arm(one.to, question.have)}"
                f"{self._at([one.place], question)}"
                for one in dict.fromkeys((ordered[0], ordered[-1]))
            ]
            found.append(f"{words} {_verb(group[0])} by {' to '.join(ends)}.")
        return found

    def _turns(self, question: Asked, crossings: Sequence[Crossing]) -> Iterator[str]:
        """Where the answer turns; places where it turns alike are told together."""
        groups: dict[tuple[Arm | None, float, float, Verdict, Verdict], list[Crossing]] = {}
        of_candidates = question.along in question.axes
        for one in crossings:
            key = (
                None if of_candidates else one.to,
                one.last, one.first, one.below.verdict, one.above.verdict,
            )  # fmt: skip
            groups.setdefault(key, []).append(one)
        for group in groups.values():
            one = max(group, key=lambda crossing: _size(crossing.above))
            last, first = (
                level_name(one.factor, _plain(level)) for level in (one.last, one.first)
            )
            at = self._at([crossing.place for crossing in group], question, without=one.factor)
            words = _words(one.above)
            up_to, from_on = _turned(one.below), _turned(one.above)
            if of_candidates:
                yield (
                    f"{self._opening(question)} {self._arm(question.have, one.to)}, {words} "
                    f"{up_to} up to {last}, and {from_on} at {first}{at}."
                )
            else:
                yield (
                    f"{self._opening(question)} {self._pair(question.have, one.to)}, {words} "
                    f"{up_to} up to {last}, and {from_on} at {first}{at}."
                )

    def _refused(self, question: Asked, impossible: Sequence[Possible]) -> list[str]:
        """The candidates that cannot be had, by reason."""
        by_reason: dict[tuple[str, tuple[int, ...]], list[Possible]] = {}
        for one in impossible:
            key = (one.reason, tuple(id(place) for place in one.places))
            by_reason.setdefault(key, []).append(one)
        found = []
        for (reason, _), group in by_reason.items():
            arms = self._listed([self._arm(one.arm, question.have) for one in group], "and")
            at = self._at(group[0].places, question)
            found.append(f"{arms} cannot be had{at}: {self._reason(reason, group[0].arm)}.")
        return [line[:1].upper() + line[1:] for line in found]

    def _reason(self, reason: str, arm: Arm) -> str:
        """A testbed's reason without the machine's name of the policy."""
        policy = str(dict(arm.levels).get("policy", ""))
        if not policy:
            return reason
        return reason.removeprefix(f"{policy}: ").replace(policy, self.names.spoken(policy))

    def _unmeasured(self, answered: Answered) -> list[str]:
        question = answered.question
        refused = {(one.arm, id(place)) for one in answered.impossible for place in one.places}
        reasons: dict[str, dict[Arm, list[Place]]] = {}
        for claim in answered.compares:
            if claim.verdict is Verdict.UNMEASURED and (claim.to, id(claim.place)) not in refused:
                reasons.setdefault(claim.reason, {}).setdefault(claim.to, []).append(claim.place)
        found = []
        for reason, arms in reasons.items():
            told = [
                f"{self._arm(arm, question.have)}{self._at(places, question)}"
                for arm, places in arms.items()
            ]
            found.append(f"Not measured: {self._listed(told, 'or')}: {reason}.")
        return found

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
            f"Of the {_bare(claim).removeprefix('by ')} from {self._pair(claim.have, claim.to)}"
            f"{self._where(claim.place)}, {', '.join(told)}."
        ]

    def _held(self, answered: Answered) -> list[str]:
        """The limits other than the air, and their cells."""
        question = answered.question
        by_holder: dict[str, list[Limit]] = {}
        for one in answered.limits:
            if one.held in (Held.CPU, Held.WIRE):
                who = _WIRE if one.held is Held.WIRE else f"the CPU of {one.host}"
                by_holder.setdefault(who, []).append(one)
        found = []
        for who, held in by_holder.items():
            where = f"in {len(held)} of {len(answered.limits)} cells"
            arms = list(dict.fromkeys(one.arm for one in held))
            whole = [one for one in answered.limits if one.arm in arms]
            if len(held) == len(answered.limits):
                where = "everywhere"
            elif len(whole) == len(held) and len(arms) <= _MOST_TOLD:
                others = [arm for arm in (question.have, *question.to) if arm not in arms]
                where = f"with {self._listed([self._arm(arm, *others) for arm in arms], 'and')}"
            found.append(f"Not the air but {who} limits throughput {where}{_CURES.get(who, '')}.")
        return found

    def _opening(self, question: Asked) -> str:
        """``From``, after what all of several places share."""
        shared = self._shared(question) if len(question.places) > 1 else ""
        return f"{shared[:1].upper()}{shared[1:]}: from" if shared else "From"

    def _from_to(self, have: Arm, to: Arm) -> str:
        return f"From {self._pair(have, to)}"

    def _pair(self, have: Arm, to: Arm) -> str:
        return f"{self._arm(have, to)} to {self._arm(to, have)}"

    def _arm(self, arm: Arm, *against: Arm) -> str:
        """The levels of an arm in which it differs from others."""
        return " and ".join(
            self._level(axis, level)
            for axis, level in arm.levels
            if any(str(other[axis]) != str(level) for other in against)
        )

    def _level(self, axis: str, level: Level) -> str:
        return self.names.spoken(str(level)) if axis == "policy" else self.names.level(axis, level)

    def _at(self, here: Sequence[Place], question: Asked, without: str | None = None) -> str:
        """``(TCP, 5 clients)``: the levels by which places are told apart; of an only place, those
        that vary in the plan.
        """
        of = question.places
        if len(of) == 1:
            return self._where(of[0])
        varying = [axis for axis in _varying(of) if axis != without]
        texts = list(
            dict.fromkeys(
                ", ".join(self._level(a, v) for a, v in place.levels if a in varying)
                for place in here
            )
        )
        if texts in ([], [""]):
            return ""
        described = self._described(here, varying) if len(texts) > 1 else texts[0]
        if described:
            return f" ({described})"
        if len(texts) <= _MOST_TOLD and len("; ".join(texts)) <= _DESCRIBED:
            return f" ({'; '.join(texts)})"
        return f" at all {len(of)} places" if len(here) == len(of) else f" at {len(here)} of {len(of)} places"

    def _described(self, here: Sequence[Place], varying: Sequence[str]) -> str:
        """``UDP and TCP, 1 to 8 clients``: places that are all combinations of some levels."""
        levels: dict[str, dict[str, Level]] = {axis: {} for axis in varying}
        for place in here:
            for axis, level in place.levels:
                if axis in levels:
                    levels[axis].setdefault(str(level), level)
        combinations = 1
        for of in levels.values():
            combinations *= len(of)
        if combinations != len({place.levels for place in here}):
            return ""
        texts = [self._levels(axis, list(of.values())) for axis, of in levels.items()]
        text = ", ".join(texts)
        return text if all(texts) and len(text) <= _DESCRIBED else ""

    def _levels(self, axis: str, levels: Sequence[Level]) -> str:
        """Some levels of one axis: named, or the first and the last number."""
        if len(levels) <= 2:
            return " and ".join(self._level(axis, level) for level in levels)
        numbers = [one for one in levels if isinstance(one, int | float)]
        if len(numbers) == len(levels) and not any(isinstance(one, bool) for one in levels):
            low, high = self._level(axis, min(numbers)), self._level(axis, max(numbers))
            return _merged(low, high)
        return _enumerated([self._level(axis, level) for level in levels])

    def _where(self, place: Place) -> str:
        """The levels of one place that vary in the plan."""
        words = list(self._told_levels(place))
        return f" ({', '.join(words)})" if words else ""

    def _shared(self, question: Asked) -> str:
        """The levels that all places of a question share and that vary in the plan."""
        varying = _varying(question.places)
        first = question.places[0]
        return ", ".join(
            self._told_levels(Place(tuple((a, v) for a, v in first.levels if a not in varying), {}))
        )

    def _told_levels(self, place: Place) -> Iterator[str]:
        several = {
            "scenario": len(self.names.scenarios) > 1,
            "traffic": len(self.names.traffics) > 1,
            "policy": len({cell.policy for cell in self.names.cells}) > 1,
        }
        for axis, level in place.levels:
            if several.get(axis, axis in self.names.levels) and not self._is_plain(place, axis):
                yield self._level(axis, level)

    def _is_plain(self, place: Place, axis: str) -> bool:
        """Whether a level is that of every cell of the place's policy, or of its plain variant."""
        if axis not in self.names.of_policies:
            return False
        level = dict(place.levels).get(axis)
        return level == self.names.plain.get(axis)

    def _listed(self, items: Sequence[str], word: str) -> str:
        items = list(dict.fromkeys(items))
        if len(items) > 2 * _MOST_TOLD:
            return f"{len(items)} choices"
        return _enumerated(items, word)


def reproduced(claims: Sequence[Reproduces], names: Names) -> Told:
    """How many printed values are met, by data set, quantity, kind and instrument.

    ``leads``: without a fit, and the profile set that meets most of the values that it was not
    fitted to, if it meets more. Values that a profile was fitted to are counted apart: to meet them
    proves nothing.
    """
    groups: dict[tuple[str, str, Printed, str], list[Reproduces]] = {}
    for claim in claims:
        key = (claim.dataset, claim.quantity, claim.kind, claim.instrument)
        groups.setdefault(key, []).append(claim)
    leads: list[str] = []
    extras: list[str] = []
    for number, group in enumerate(groups.values()):
        first, *others = sorted(group, key=lambda claim: bool(claim.fits))
        best = max(others, key=_met, default=first)
        told = [first, best] if _met(best) > _met(first) else [first]
        (extras if number else leads).extend(_of_printed(one, names) for one in told)
        extras += [_of_printed(one, names) for one in others if one not in told]
    return Told(tuple(leads), tuple(extras))


def _met(claim: Reproduces) -> float:
    return claim.met / claim.total if claim.total else 0.0


def _of_printed(claim: Reproduces, names: Names) -> str:
    near = "one point" if claim.quantity == "overhead" else plain_percent(claim.within)
    near = near.replace(".0 %", " %")
    count, met = (claim.total, claim.met) if claim.total else (claim.fitted, claim.fitted_met)
    opening = ""
    if claim.variant:
        fits = _enumerated(list(map(_fit, claim.fits))) if claim.fits else ""
        opening = f"With {names.level('profile_set', claim.variant)}{f' ({fits})' if fits else ''}, "
    elif claim.instrument:
        opening = f"Read by {claim.instrument}, "
    others = "other " if claim.total and claim.fitted else ""
    if count == 1:
        verb = "is" if met else "is not"
        said = f"the {others}printed {_noun(claim, 1)} {verb} met within {near}"
    else:
        verb = "is" if met == 1 else "are"
        of = f"of {'the ' if others else ''}{count} {others}printed {_noun(claim, count)}"
        said = f"{met or 'none'} {of} {verb} met within {near}"
    line = f"{opening}{said}: printed {_span(claim, claim.printed)}, ours {_span(claim, claim.ours)}"
    if not claim.total:
        line += "; all were fitted to"
    return f"{line[:1].upper()}{line[1:]}."


def _noun(claim: Reproduces, count: int) -> str:
    many = "s" if count > 1 else ""
    if claim.quantity == "overhead":
        noun = f"overhead{many}"
    elif claim.quantity == "throughput_bps":
        noun = f"throughput{many}"
    else:
        noun = f"value{many} of {spoken(claim.quantity).words}"
    if claim.kind is Printed.VALUE:
        return noun
    what = "difference" if claim.kind is Printed.DIFFERENCE else "ratio"
    return f"{what}{many} of {spoken(claim.quantity).words}"


def _fit(fit: Fit) -> str:
    said = span(fit.low, fit.high, "s", is_share=False)
    return _FITS[fit.place].format(said) if fit.place in _FITS else said


def _span(claim: Reproduces, ends: tuple[float, float]) -> str:
    is_share = claim.quantity == "overhead" and claim.unit == "1"
    return span(*ends, claim.unit, is_share=is_share)


def _varying(places: Sequence[Place]) -> list[str]:
    """The axes whose level is not the same at all places, in their order."""
    levels: dict[str, set[str]] = {}
    for place in places:
        for axis, level in place.levels:
            levels.setdefault(axis, set()).add(str(level))
    return [axis for axis, values in levels.items() if len(values) > 1]


def _distinct(claims: Sequence[Compare]) -> list[Place]:
    return list({id(claim.place): claim.place for claim in claims}.values())


def _groups(claims: Sequence[Compare]) -> list[list[Compare]]:
    """Claims that fall, that rise, that nobody would notice, and that are undecided."""
    changed = [claim for claim in claims if claim.verdict in _CHANGED]
    return [
        [claim for claim in changed if claim.change.value <= 0],  # type: ignore[union-attr]
        [claim for claim in changed if claim.change.value > 0],  # type: ignore[union-attr]
        [claim for claim in claims if claim.verdict is Verdict.UNNOTICED],
        [claim for claim in claims if claim.verdict is Verdict.TOO_FEW],
    ]


def _readable(options: Sequence[str]) -> str:
    """The first sentence that is short enough, or the shortest."""
    return next((one for one in options if len(one) <= _READABLE), min(options, key=len))


def _enumerated(items: Sequence[str], word: str = "and") -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {word} {items[-1]}"


def _merged(low: str, high: str) -> str:
    """``1 to 8 clients`` of ``1 client`` and ``8 clients``."""
    first, last = low.split(), high.split()
    ahead = 0
    while ahead < min(len(first), len(last)) - 1 and first[ahead] == last[ahead]:
        ahead += 1
    return " ".join([*first[: ahead + 1], "to", *last[ahead:]])


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


def _words(claim: Compare) -> str:
    if claim.clients is not None:
        return "the number of clients that join"
    return spoken(claim.metric).words


def _verb(claim: Compare) -> str:
    assert claim.change is not None
    return "rises" if claim.change.value > 0 else "falls"


def _change(claim: Compare) -> str:
    """The change of one claim: a verb phrase."""
    if claim.change is None:
        return f"was not measured: {claim.reason}"
    if claim.verdict is Verdict.UNNOTICED:
        return _unnoticed([claim])
    if claim.verdict is Verdict.TOO_FEW:
        return _few([claim])
    return f"{_verb(claim)} {_amount(claim)}"


def _unnoticed(group: Sequence[Compare], at: str = "") -> str:
    """No interval of a group holds a change that anyone would notice. ``at``: where."""
    largest = max(group, key=_bound)
    bound = _bound(largest)
    if bound == 0:
        return f"does not change{at}"
    assert largest.change is not None
    most = at_most(bound, largest.change.unit, _is_percent(largest))
    return f"changes by {most}{at}: {_NOTHING}"


def _bound(claim: Compare) -> float:
    """The largest change that the interval allows."""
    assert claim.change is not None
    if claim.change.is_deterministic:
        return abs(claim.change.value)
    return max(abs(claim.change.low), abs(claim.change.high))


def _few(group: Sequence[Compare], at: str = "") -> str:
    known = [claim.more for claim in group if claim.more is not None]
    need = f"; {max(known)} more trials of each cell would decide" if known else ""
    widest = max(group, key=_size)
    assert widest.change is not None
    amount_ = percent(widest.change) if _is_percent(widest) else shown(widest.change)
    return f"changes by {amount_}{at}: too few trials to tell{need}"


def _turned(claim: Compare) -> str:
    if claim.verdict is Verdict.UNNOTICED:
        return f"changes by {_NOTHING}"
    return f"{_verb(claim)} {_short(claim)}"


def _is_percent(claim: Compare) -> bool:
    return claim.is_share or spoken(claim.metric).told == "points"


def _amount(claim: Compare) -> str:
    """``by 1.1 ± 0.1 %``, or ``by 37.0 ± 2.1 ms, from 57.0 to 20.0 ms``."""
    assert claim.change is not None
    assert claim.before is not None
    assert claim.after is not None
    if claim.clients is not None:
        return f"from {_of_clients(claim)}"
    if claim.is_share:
        said = f"by {percent(absolute(claim.change))}"
        if _size(claim) < _LARGE:
            return said
        return f"{said}, {share_from_to(claim.change, claim.before, claim.after)}"
    if spoken(claim.metric).told == "points":
        return points(claim.change, claim.before, claim.after)
    by = amount(claim.change, claim.before, claim.after)
    return f"by {by}, {from_to(claim.change, claim.before, claim.after)}"


def _by(claim: Compare) -> str:
    """One of several changes: ``by 1.1 ± 0.1 %``, or ``from 57.0 to 20.0 ms``."""
    assert claim.change is not None
    assert claim.before is not None
    assert claim.after is not None
    if claim.clients is not None:
        return f"from {_of_clients(claim)}"
    if _is_percent(claim):
        unit = " %" if claim.is_share else " points"
        return f"by {percent(absolute(claim.change)).removesuffix(' %')}{unit}"
    return from_to(claim.change, claim.before, claim.after)


def _bare(claim: Compare) -> str:
    """The amount of a change without its interval."""
    assert claim.change is not None
    if claim.clients is not None:
        return f"from {_of_clients(claim)}"
    if _is_percent(claim):
        unit = "%" if claim.is_share else "points"
        return f"by {bare(absolute(claim.change), 0.01)} {unit}"
    return f"by {bare(absolute(claim.change))}"


def _short(claim: Compare) -> str:
    return _bare(claim) if _is_percent(claim) else _by(claim)


def _of_clients(claim: Compare) -> str:
    assert claim.before is not None
    assert claim.after is not None
    assert claim.clients is not None
    before, after = (one.value * claim.clients for one in (claim.before, claim.after))
    return f"{before:.4g} to {after:.4g} of {claim.clients}"


def _alike(group: Sequence[Compare]) -> bool:
    """Whether the changes of a group differ by less than the widest of their intervals."""
    if any(claim.clients is not None for claim in group):
        return False
    changes = [claim.change for claim in group if claim.change is not None]
    values = [abs(one.value) for one in changes]
    widest = max((one.half_width for one in changes if one.half_width == one.half_width), default=0)
    return max(values) - min(values) <= widest


def _spanned(group: Sequence[Compare]) -> str:
    sizes = [_size(claim) for claim in group]
    assert group[0].change is not None
    text = span(min(sizes), max(sizes), group[0].change.unit, is_share=_is_percent(group[0]))
    if _is_percent(group[0]) and not group[0].is_share:
        text = text.replace(" %", " points")
    return text


def _plain(level: float) -> float | int:
    return int(level) if level == int(level) else level
