"""From claims to sentences: one function for the terminal, the page, Markdown and JSON.

A sentence names from what to what, the metric, the change, and where it holds. Places are never
averaged: where the change differs from place to place, each place or both ends are named.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final

from attrs import evolve, frozen

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import SHIFT, THROUGHPUT
from airtoll.analyse.comparison import Test
from airtoll.analyse.estimate import COST_UNKNOWN
from airtoll.analyse.evidence import Evidence
from airtoll.analyse.families import EXPLORATORY
from airtoll.analyse.power import POWER
from airtoll.analyse.quantities import like_units
from airtoll.answer import (
    TRANSPORTS,
    Answered,
    Apart,
    Compare,
    Crossing,
    Fallback,
    Fit,
    Gain,
    Held,
    Layered,
    Limit,
    Margin,
    Met,
    Ordered,
    Ordering,
    Parts,
    Possible,
    Printed,
    Reproduces,
    Ruled,
    Ruling,
    Stated,
    Sum,
    Trend,
    Verdict,
    Way,
)
from airtoll.observe.metrics import OVERHEAD, name_of, quantity
from airtoll.observe.spoken import NOTHING_NOTICED, UNDECIDED, spoken
from airtoll.policies import resolve
from airtoll.present.digits import (
    absolute,
    amount,
    at_most,
    bare,
    exact,
    from_to,
    packets,
    percent,
    plain,
    plain_percent,
    points,
    points_from_to,
    ranged,
    rate,
    share_from_to,
    shown,
    span,
)
from airtoll.present.names import Names, level_name
from airtoll.question import Arm, Asked, Place
from airtoll.study import Level

#: A server that answers less than this many times what is needed has no reserve.
_NO_RESERVE: Final = 1.1
#: Candidates or places that are told one by one.
_MOST_TOLD: Final = 3
#: Characters of a sentence that a reader takes in at once.
_READABLE: Final = 160
#: Characters of a description of several places; of few places it may be longer.
_DESCRIBED: Final = 75
_DESCRIBED_FEW: Final = 90
#: A share from which on both values are told beside it.
_LARGE: Final = 0.1
#: A number of trials of a fresh run that is so many times what was run is no plan.
_MOST_TIMES: Final = 100
#: The first step instead, and from how many trials on their spread is known well.
_FIRST_TRIALS: Final = 30
_FIRST_STEP: Final = f"--trials {_FIRST_TRIALS}"
#: A rise from which on the values alone are told: 1315 % is hard to read.
_MANIFOLD: Final = 1.0
#: The share of clients that join.
_JOINED: Final = "joined_ratio"
#: Numbers that mean nothing without that of the clients.
_OF_CLIENTS: Final = ("associations_lost",)
#: The axis of a model's variants that has words of its own.
_PROFILES: Final = "profile_set"
#: Kind of tunnel -> its name.
_TUNNELS: Final = {"esp": "IPsec", "wireguard": "WireGuard", "openvpn": "OpenVPN"}
#: Words for a loss or gain of the others by a station, by the verdict on their throughput.
_TAKES: Final = {Verdict.GAINS: "nothing from", Verdict.COSTS: "from"}
_SAME_FRAMES: Final = "both send the same data frames"
_NOT_MEASURED: Final = "not measured"
_NOT_SETTLED: Final = "not settled"
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
    "airtime_neighbours_s": "frames of neighbours",
    "airtime_retry_s": "retries and collisions",
    "airtime_protection_s": "RTS and CTS",
    "airtime_management_s": "management frames",
    "crypto_exposed_s": "waiting for the cipher",
    "airtime_idle_s": "idle air: hosts, wires and windows",
}

#: Part of the ledger -> what wins throughput back where it is less.
_WON_BACK: Final = {
    "airtime_security_s": "fewer octets of security",
    "airtime_payload_s": "a higher rate",
    "airtime_ip_transport_s": "fewer or smaller headers",
    "airtime_mac_phy_s": "fewer frames",
}

#: Fitted time of a profile -> what it is for people.
_FITS: Final = {
    "card.cipher.frame_us": "{} per frame",
    "card.fetch.frame_us": "{} per frame under every policy",
    "host.tx_packet_cycles": "{} per packet that it sends",
    "host.rx_packet_cycles": "{} per packet that it receives",
    "radio.frame_burst_us": "bursts of {}",
}


#: A chance below this one is told as below it.
_LEAST_CHANCE: Final = 0.001
#: Share of a loss by which the sum of the parts differs where that is told.
_FAR: Final = 0.05


@frozen
class Told:
    """Sentences: those that answer, the reasons of what cannot be had, and what else is known."""

    leads: tuple[str, ...]
    extras: tuple[str, ...]
    reasons: tuple[str, ...] = ()


@frozen
class Teller:
    """Sentences about the questions of one run.

    ``throughput``: words for the throughput of a screen's only traffic, with transport and
    direction; a study's places name theirs.
    """

    names: Names
    throughput: str = ""

    def answer(self, answered: Answered) -> Told:
        """The sentences about one question."""
        question = answered.question
        turns = list(self._turns(question, answered.crossings))
        turns += [self._trend(question, one) for one in answered.trends]
        of_trends = {id(claim) for one in answered.trends for claim in one.compares}
        turned = {one.to for one in answered.crossings}
        if turns and question.along in question.axes:
            turned = set(question.to)
        by_arm = {
            arm: told
            for arm in question.to
            if arm not in turned
            and (
                told := [
                    claim
                    for claim in answered.compares
                    if claim.to == arm and claim.change is not None and id(claim) not in of_trends
                ]
            )
        }
        same = {
            arm: claims
            for arm, claims in by_arm.items()
            if _all(claims, Verdict.UNNOTICED) and len({one.same_frames for one in claims}) == 1
        }
        others = {arm: claims for arm, claims in by_arm.items() if arm not in same}
        changes, undecided = self._changes(question, others)
        by_tunnel = self._by_tunnel(question, by_arm)
        if by_tunnel:
            changes, undecided, same = [by_tunnel], [], {}
        refused = [one for one in answered.impossible if one.arm != question.have]
        mine = [one for one in answered.impossible if one.arm == question.have]
        leads = (*turns, *changes, *self._refused(question, refused), *self._same(question, same))
        if not leads:
            leads, undecided = tuple(undecided), []
        leads = (*leads, *(self._apart(one, question) for one in answered.apart))
        undecided += self._untold(answered)
        # The ledger is the cell's, not one station's.
        is_of_cell = not (question.station or question.others_than)
        parts = self._parts(answered.parts) if answered.parts and is_of_cell else []
        return Told(
            leads,
            (*parts, *self._unmeasured(answered), *undecided, *self._held(answered)),
            (*self._refused(question, mine), *self._fallen(question, answered.fallbacks)),
        )

    def _apart(self, claim: Apart, question: Asked) -> str:
        """How the change differs between two places, with both changes."""
        less, more = claim.less, claim.more
        at = [self._at([one.place], question).strip(" ()") for one in (more, less)]
        both = ", ".join(
            f"{place}: {_turned_by(one)}" for place, one in zip(at, (more, less), strict=True)
        )
        opening = f"{self._opening(question)} {self._pair(more.have, more.to)}"
        metric = _words(question, [more])
        if claim.verdict is Verdict.TOO_FEW:
            return f"{opening}, {UNDECIDED} whether {metric} changes alike at both places ({both})."
        if claim.verdict is Verdict.UNNOTICED:
            bound = max(abs(claim.difference.low), abs(claim.difference.high))
            limit = at_most(bound, claim.difference.unit, more.is_share)
            limit = limit.replace(" %", " points") if more.is_share else limit
            told = f"changes alike at both places, but for {limit}"
        elif _verb(less) == _verb(more):
            told = f"{_verb(more)} by {_between(claim)} more at one place than at the other"
        else:
            told = f"changes by {_between(claim)} more at one place than at the other"
        return f"{opening}, {metric} {told} ({both})."

    def claim(self, claim: Compare) -> str:
        """One change at one place, as a sentence."""
        return f"From {self._pair(claim.have, claim.to)}, {self.change(claim)}."

    def measured(self, claim: Compare, p: float) -> str:
        """One change as a sentence with both values and, where it is real, its chance ``p``."""
        words = f"From {self._pair(claim.have, claim.to)}, {_metric(claim)}"
        change, before, after = claim.change, claim.before, claim.after
        assert change is not None
        assert before is not None
        assert after is not None
        if spoken(claim.metric).told == "points":
            both = points_from_to(change, before, after)
        else:
            both = (share_from_to if claim.is_share else from_to)(change, before, after)
        is_few = claim.verdict is Verdict.TOO_FEW
        # Measurements of a network have neither cells nor a seed.
        said = _few([claim], needs=_readings) if is_few else _change(claim)
        if claim.verdict in (Verdict.UNNOTICED, Verdict.TOO_FEW):
            return f"{words} {said} ({both})."
        chance = "p < 0.001" if p < _LEAST_CHANCE else f"p = {p:.2g}"
        real = "real" if math.isnan(p) else f"real ({chance})"
        said = said if both in said else f"{said}, {both}"
        return f"{words} {said}: {real}."

    def gain(self, claim: Gain) -> list[str]:
        """The security that a policy adds, and the stations that it leaves out."""
        found = []
        to = self._level("policy", claim.to)
        if claim.services:
            whom = ", for the devices that use its newer link" if claim.kept else ""
            found.append(f"{to} adds {_enumerated(_services(claim.services))}{whom}.")
        if claim.ended:
            found.append(f"It ends this: {'; '.join(claim.ended)}.")
        if claim.kept:
            have = self._level("policy", claim.have)
            found.append(
                f"This stays while a single device joins with {have}, and a passphrase that both "
                f"links share is at risk for all: {'; '.join(claim.kept)}."
            )
        if claim.completes_pmf:
            found.append(
                "Protected management frames, which are optional today, are required: nothing "
                "changes for clients that have them, and clients without them stay out."
            )
        if claim.lost:
            found.append(f"It lacks {_enumerated(_services(claim.lost))}, which you have today.")
        if claim.left:
            found.append(f"With it, {'; '.join(claim.left)}.")
        if not found:
            have = self._level("policy", claim.have)
            found.append(f"{to} adds no security service that {have} lacks.")
        if claim.excludes:
            # A tunnel is on top of the link that a device must have to get in.
            link = self._level("policy", claim.to.partition("+")[0])
            words = f"Every device must have {link}; a device without it stays out"
            if claim.bridge:
                words += f" ({claim.bridge} would let it in, as the weaker link)"
            found.append(words + ".")
        return found

    def over(
        self, link: str, tunnel: str, services: Sequence[str], *, beyond: bool, router: str
    ) -> list[str]:
        """The far end of a tunnel, and the services that it adds to a link.

        ``beyond``: the tunnel ends at a server beyond the access point, which people of this place
        call ``router``.
        """
        name = self._level("policy", tunnel).rpartition(" + ")[2]
        whole = f"{name} over {self._level('policy', link)}"
        ends = f"a server beyond the {router}" if beyond else f"the {router}"
        option = "router" if router == "router" else "access-point"
        found = [
            f"The tunnel runs from the station to {ends} "
            f"(--tunnel-end {'server' if beyond else option})."
        ]
        if services:
            found.append(f"{whole} adds {_enumerated(_services(services))} on the air.")
        else:
            found.append(f"On the air {whole} adds no service that the link lacks.")
        if beyond:
            found.append(
                f"It protects the way from the {router} to the server, which no link policy does."
            )
        else:
            found.append(
                f"Beyond the {router} it protects nothing; a tunnel to a server would protect "
                f"that way, too (--tunnel-end server). A tunnel to the {router} is of use to "
                "devices that are elsewhere."
            )
        return found

    def layered(self, claim: Layered, *, beyond: bool, router: str) -> list[str]:
        """Whether a tunnel over a protected link is a waste: its addition, cost, sum and limit."""
        found = self.over(claim.link, claim.tunnel, claim.services, beyond=beyond, router=router)
        added = claim.added
        if added.change is None:
            return [*found, f"Its cost is unknown: {added.reason}."]
        waste = not claim.services and not beyond and added.verdict is Verdict.COSTS
        why = ": a waste, as it protects nothing further on the air" if waste else ""
        found.append(f"With it, {self.change(added)}{why}.")
        if claim.parts is not None and claim.whole.change is not None:
            relation = {
                Sum.MORE: "costs more than its parts",
                Sum.LESS: "costs less than its parts",
                Sum.EQUAL: "costs about as much as its parts",
                Sum.UNKNOWN: "has its parts",
            }[claim.sum if _matters(claim) else Sum.EQUAL]
            parts = "more than all of it" if -claim.parts.value > 1 else _loss(claim.parts)
            found.append(
                f"The whole {relation}: {_loss(claim.whole.change)} against an open network, "
                f"where the parts add up to {parts}."
            )
        if claim.limit is not None:
            found.append(f"{_limiter(claim.limit)} limits it.")
        return found

    def margin(self, claim: Margin) -> tuple[str, ...]:
        """How near a RADIUS server is to failing."""
        name = self._level("policy", claim.policy)
        short = (
            "" if claim.short is None else f"at {rate(claim.short)} not all of {claim.clients} do"
        )
        if short and claim.short_joined is not None:
            least = plain_percent(claim.short_joined)
            short += (
                f" (at one access point {least} in the worst trial: a request waits for longer "
                "than the access point repeats it, and a client tries once)"
            )
        lasts = "" if claim.enough_s is None else f", within {plain(claim.enough_s, 's')}"
        trials = f"{claim.trials} trials" if claim.trials > 1 else "one trial"
        if claim.enough is None:
            return (f"No measured server lets every client of {name} join: {short}.",)
        between = ""
        if claim.short is not None:
            between = (
                f"The limit lies between {rate(claim.short)} and {rate(claim.enough)} requests/s: "
                f"found by bisection, {trials} of each level."
            )
        if not claim.holds:
            least = f"at {rate(claim.enough)} RADIUS requests/s"
            said = f"With {name} every client joins {least}{lasts}"
            said += f"; {short}." if short else "."
            return (said, between) if between else (said,)
        if not short:
            at = f"{rate(claim.enough)} requests/s"
            return (f"With {name} every client joins at {at}, too{lasts}.",)
        spare = claim.now / claim.enough
        least = f"After a power cut the joins of all {claim.clients} clients with {name} need"
        reserve = (
            f"{least} {rate(claim.enough)} RADIUS requests/s at the least; the server answers "
            f"{rate(claim.now)}, {spare:.2g} times as many."
        )
        if spare < _NO_RESERVE:
            reserve = (
                f"{least} all of the {rate(claim.now)} RADIUS requests/s that the server answers: "
                "it has no reserve."
            )
        return (
            f"Every client joins down to {rate(claim.enough)} requests/s{lasts}; {short}.",
            between,
            reserve,
        )

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
        return _lost(claim) or f"{self.metric(claim)} {_change(claim)}"

    def change_of(self, claim: Compare) -> str:
        """The change of one metric with both values, however small it is."""
        said = self.change(claim)
        change, before, after = claim.change, claim.before, claim.after
        if change is None or before is None or after is None or claim.verdict not in _CHANGED:
            return said
        if not claim.is_share:
            return said
        return said if " from " in said else f"{said}, {share_from_to(change, before, after)}"

    def metric(self, claim: Compare) -> str:
        """The metric of a change, of a throughput with its traffic where that is known."""
        if claim.metric == THROUGHPUT and self.throughput:
            return self.throughput
        return _metric(claim)

    def partly(self, claim: Compare, unknown: str) -> str:
        """The known part of a change, which alone decides nothing; ``unknown``: the other part."""
        words = spoken(claim.metric).words
        if claim.before is None or claim.after is None or claim.change is None:
            return f"{words} was not measured: {claim.reason}"
        before, after = (_alone(claim, is_after=side) for side in (False, True))
        known = f"stays {after}" if before == after else f"changes from {before} to {after}"
        return f"{words} is unknown, because {unknown} is; without it, it {known}"

    def required(self, claim: Ruled) -> str:
        """A requirement without its place: ``throughput is at least 20 Mb/s``, or its name."""
        if claim.name:
            return claim.name
        if claim.at_least is None and claim.at_most is None:
            return f"{_of_ruled(claim)} is not worse"
        if claim.compare is None:
            return f"{_of_ruled(claim)} is {_limits(claim)}"
        pair = self._pair(claim.compare.have, claim.compare.to)
        return f"from {pair}, {_of_ruled(claim)} changes by {_limits(claim)}"

    def ruled(self, claim: Ruled) -> str:
        """Whether a requirement holds at its place, in one line with value, limit and cell."""
        limits = _limits(claim)
        parts = [f'"{claim.name}"'] if claim.name else []
        if claim.value is None or claim.ruling is Ruling.UNMEASURED:
            required = f", {limits} is required" if limits else ""
            parts += [f"{_of_ruled(claim)}{required}", claim.reason]
        elif claim.compare is None:
            is_percent = quantity(claim.metric).percent
            value = percent(claim.value) if is_percent else shown(claim.value)
            parts.append(f"{_of_ruled(claim)} is {value}, {limits} is required")
        else:
            said = f"{_of_ruled(claim)} {_change(claim.compare)}"
            if limits:
                is_percent = _is_percent(claim.compare)
                value = percent(claim.value) if is_percent else shown(claim.value)
                pair = self._pair(claim.compare.have, claim.compare.to)
                said = f"from {pair}, {_of_ruled(claim)} changes by {value}"
                said += f", {limits} is required"
            parts.append(said)
        if claim.ruling is Ruling.UNSETTLED:
            parts.append(claim.reason)
        if claim.ruling is Ruling.TOO_FEW and limits and claim.fresh is not None:
            parts.append(_new_run(claim.fresh))
        return f"{claim.ruling.value}: {'; '.join(parts)} [{claim.cell.name}]"

    def _by_reason(self, head: str, claims: Sequence[Possible]) -> list[str]:
        by_reason: dict[str, list[str]] = {}
        for claim in claims:
            name = self._level("policy", claim.arm["policy"])
            by_reason.setdefault(claim.reason, []).append(name)
        return [f"{head}: {_enumerated(names)}: {reason}." for reason, names in by_reason.items()]

    def _changes(
        self, question: Asked, by_arm: Mapping[Arm, Sequence[Compare]]
    ) -> tuple[list[str], list[str]]:
        """The changes of the candidates that have some, and those that are undecided."""
        arms = sorted(by_arm, key=lambda arm: _largest(by_arm[arm]))
        if len(arms) > 1 and len(question.places) == 1:
            return self._side_by_side(question, [by_arm[arm][0] for arm in arms])
        if len(arms) > _MOST_TOLD:
            return self._ends(question, [c for arm in arms for c in by_arm[arm]]), []
        leads: list[str] = []
        undecided: list[str] = []
        for arm in arms:
            found, further = self._of_arm(question, arm, by_arm[arm])
            leads += found
            undecided += further
        return leads, undecided

    def _by_tunnel(self, question: Asked, by_arm: Mapping[Arm, Sequence[Compare]]) -> str:
        """All policies of the plan in two groups, with a tunnel and without one.

        Empty where the candidates are not these, or where one group has no common answer: more are
        told one by one.
        """
        groups = self._tunnelled(question, by_arm) if len(by_arm) > 2 * _MOST_TOLD else {}
        clauses = []
        for name, arms in groups.items():
            claims = [claim for arm in arms for claim in by_arm[arm]]
            (found, *others) = filter(None, _groups(claims))
            if others or found[0].verdict is Verdict.TOO_FEW or found[0].same_frames:
                return ""
            if found[0].verdict is Verdict.UNNOTICED:
                said = f"{_unnoticed(found).removesuffix(f': {NOTHING_NOTICED}')}"
                clauses.append(f"{said} with {name}, too little to notice")
            else:
                clauses.append(f"{_verb(found[0])} by {_spanned(found)} with {name}")
        if not clauses:
            return ""
        claims = [claim for arm in by_arm for claim in by_arm[arm]]
        have = self._arm(question.have, *by_arm)
        words = f"{self._opening(question)} {have}, {_words(question, claims)}"
        at = self._at(_distinct(claims), question)
        return f"{words} {' and '.join(clauses)}{at}."

    def _tunnelled(
        self, question: Asked, by_arm: Mapping[Arm, Sequence[Compare]]
    ) -> dict[str, list[Arm]]:
        """The policies of the plan with a tunnel and those without, by what they are called.

        Empty where these are not all, or where the tunnels are of several kinds.
        """
        if question.axes != ("policy",):
            return {}
        mine = str(question.have["policy"])
        there = {str(cell.policy) for cell in self.names.cells} - {mine}
        arms = {str(arm["policy"]): arm for arm in by_arm}
        kinds = {name: {one.kind for one in resolve(name).tunnels} for name in arms}
        tunnels = set().union(*kinds.values())
        if set(arms) != there or len(tunnels) != 1 or resolve(mine).tunnels:
            return {}
        name = _TUNNELS[tunnels.pop()]
        inside = [arm for policy, arm in arms.items() if kinds[policy]]
        outside = [arm for policy, arm in arms.items() if not kinds[policy]]
        if min(len(inside), len(outside)) < 2:
            return {}
        return {
            f"the {len(inside)} policies with {name}": inside,
            f"the {len(outside)} without": outside,
        }

    def _same(self, question: Asked, by_arm: Mapping[Arm, Sequence[Compare]]) -> Iterator[str]:
        """Candidates whose change is too small to notice; those of the same places together."""
        alike: dict[tuple[bool, tuple[int, ...]], list[Arm]] = {}
        for arm, claims in by_arm.items():
            places = tuple(id(claim.place) for claim in claims)
            alike.setdefault((claims[0].same_frames, places), []).append(arm)
        for arms in alike.values():
            claims = [claim for arm in arms for claim in by_arm[arm]]
            names = self._listed(self._arms(arms, question.have), "or")
            have = self._arm(question.have, *arms)
            words = f"{self._opening(question)} {have} to {names}, {_words(question, claims)}"
            yield self._unnoticed(words, claims, question)

    def _unnoticed(self, words: str, claims: Sequence[Compare], question: Asked) -> str:
        places = _distinct(claims)
        return _readable(
            [f"{words} {_unnoticed(claims, at)}." for at in self._ats(places, question)]
        )

    def _of_arm(
        self, question: Asked, arm: Arm, claims: Sequence[Compare]
    ) -> tuple[list[str], list[str]]:
        """One candidate over its places: a sentence for each direction of change, the one that
        holds at most places first; and what is undecided.
        """
        opening = f"{self._opening(question)} {self._pair(question.have, arm)}"
        groups = [group for group in _groups(claims) if group]
        groups.sort(key=lambda group: (-len(group), -max(map(_size, group))))
        leads: list[str] = []
        undecided: list[str] = []
        for group in groups:
            words = f"{opening}, {_words(question, group)}"
            if group[0].verdict is Verdict.TOO_FEW:
                undecided.append(f"{words} {_few(group, self._at(_distinct(group), question))}.")
            elif group[0].verdict is Verdict.UNNOTICED:
                leads.append(self._unnoticed(words, group, question))
            else:
                leads.append(self._ranged(opening, group, question))
        return leads, undecided

    def _ranged(self, opening: str, group: Sequence[Compare], question: Asked) -> str:
        """Changes of one direction: each, or the least and the most, with their places."""
        if len(group) <= _MOST_TOLD and all(map(_lost, group)):
            told = [f"{_lost(one)}{self._at([one.place], question)}" for one in group]
            return f"{opening}, {_enumerated(told)}."
        words = f"{opening}, {_words(question, group)}"
        verb = _verb(group[0])
        if len(group) == 1:
            (only,) = group
            at = self._at([only.place], question)
            return _readable(
                [f"{words} {verb} {tell(only)}{at}." for tell in (_amount, _by, _short)]
            )
        ordered = sorted(group, key=_size)
        least, most = ordered[0], ordered[-1]
        if _alike(group):
            ats = self._ats(_distinct(group), question)
            return _readable([f"{words} {verb} by {_spanned(group)}{at}." for at in ats])
        each = [(claim, self._at([claim.place], question)) for claim in group]
        if len(group) <= _MOST_TOLD:
            return _readable(
                [
                    f"{words} {verb} {_enumerated([f'{tell(c)}{at}' for c, at in each])}."
                    for tell in (_by, _bare)
                ]
            )
        first, last = (self._at([claim.place], question) for claim in (least, most))
        return f"{words} {verb} by {_size_of(least)}{first} to {_size_of(most)}{last}."

    def _side_by_side(
        self, question: Asked, claims: Sequence[Compare]
    ) -> tuple[list[str], list[str]]:
        """Several candidates at one place: one sentence for each direction of change."""
        at = self._at(question.places, question)
        leads: list[str] = []
        undecided: list[str] = []
        claims = sorted(claims, key=lambda claim: question.to.index(claim.to))
        for group in sorted(filter(None, _groups(claims)), key=lambda g: -max(map(_size, g))):
            have = self._arm(question.have, *(claim.to for claim in group))
            arms = self._arms([claim.to for claim in group], question.have)
            head = self._opening(question)
            opening = f"{head} {have} to {self._listed(arms, 'or')}"
            words = f"{opening}, {_words(question, group)}"
            if group[0].verdict is Verdict.UNNOTICED:
                leads.append(f"{words} {_unnoticed(group, at)}.")
            elif group[0].verdict is Verdict.TOO_FEW:
                undecided.append(f"{words} {_few(group, at)}.")
            elif len(group) == 1:
                leads.append(self._ranged(opening, group, question))
            elif _alike(group):
                leads.append(f"{words} {_verb(group[0])} by {_spanned(group)}{at}.")
            else:
                words = f"{head} {have}, {_words(question, group)} {_verb(group[0])}"
                leads.append(_each_arm(words, group, arms, at))
        return leads, undecided

    def _ends(self, question: Asked, claims: Sequence[Compare]) -> list[str]:
        """Many candidates at many places: the least and the most of each direction."""
        found = []
        for group in sorted(_groups(claims), key=len, reverse=True):
            if not group:
                continue
            have = self._arm(question.have, *(claim.to for claim in group))
            words = f"{self._opening(question)} {have}, {_words(question, group)}"
            ordered = sorted(group, key=_size)
            if group[0].verdict not in _CHANGED:
                arms = list(dict.fromkeys(claim.to for claim in group))
                named = f"{len(arms)} choices"
                if len(arms) <= _MOST_TOLD:
                    named = _enumerated(self._arms(arms, question.have))
                tell = _few if group[0].verdict is Verdict.TOO_FEW else _unnoticed
                places = self._at(_distinct(group), question)
                found.append(f"{words} {tell(group, f' with {named}{places}')}.")
                continue
            ends = [
                f"{_size_of(one)} with {self._arm(one.to, question.have)}"
                f"{self._at([one.place], question)}"
                for one in dict.fromkeys((ordered[0], ordered[-1]))
            ]
            count = len({claim.to for claim in group})
            told = (
                f" with {count} of {len(question.to)} choices," if count < len(question.to) else ""
            )
            found.append(f"{words} {_verb(group[0])}{told} by {' to '.join(ends)}.")
        return found

    def _turns(self, question: Asked, crossings: Sequence[Crossing]) -> Iterator[str]:
        """Where the answer turns; places where it turns alike are told together."""
        groups: dict[tuple[object, ...], list[Crossing]] = {}
        of_candidates = question.along in question.axes
        for one in crossings:
            key = (
                None if of_candidates else one.to,
                one.last, one.first, one.between, one.below.verdict, one.above.verdict,
            )  # fmt: skip
            groups.setdefault(key, []).append(one)
        for group in groups.values():
            one = max(group, key=lambda crossing: _size(crossing.above))
            mine = level_name(one.factor, question.have[one.factor]) if of_candidates else ""
            last, first = (
                _beyond(level_name(one.factor, _plain(level)), mine)
                for level in (one.last, one.first)
            )
            at = self._at([crossing.place for crossing in group], question, without=one.factor)
            words = _words(question, [one.above])
            up_to, from_on = _turned(one.below), _turned(one.above)
            if one.between:
                levels = [
                    _beyond(level_name(one.factor, _plain(level)), mine) for level in one.between
                ]
                at += f"; {UNDECIDED} at {_enumerated(levels)}"
            arm = self._arm if of_candidates else self._pair
            yield (
                f"{self._opening(question)} {arm(question.have, one.to)}, {words} "
                f"{up_to} up to {last}, and {from_on} at {first}{at}."
            )

    def _trend(self, question: Asked, trend: Trend) -> str:
        """Whether a change grows or shrinks, with its amount at the first and the last level."""
        if trend.turn is not None:
            return self._turning(question, trend, trend.turn)
        first, *_, last = trend.compares
        others = trend.compares[1:-1]
        sizes = [_size(claim) for claim in trend.compares]
        is_steady = sizes in (sorted(sizes), sorted(sizes, reverse=True))
        told = trend.compares if others and is_steady and len(others) == 1 else (first, last)
        words = f"{self._opening(question)} {self._pair(question.have, trend.to)}, the "
        words += f"{_kind_of_change(trend)} of {_words(question, trend.compares)}"
        ats = [self._at([claim.place], question) for claim in told]
        options = []
        for tell in (_interval_of, _size_of):
            begin, *ends = (f"{tell(claim)}{at}" for claim, at in zip(told, ats, strict=True))
            if trend.way is Way.STEADY:
                # Chance is judged by the intervals.
                both = _enumerated([begin, *ends])
                return f"{words} is {both}: it {trend.way.value} beyond chance."
            options.append(f"{words} {trend.way.value} from {begin} to {_enumerated(ends)}.")
        return _readable(options)

    def _turning(self, question: Asked, trend: Trend, turn: int) -> str:
        """A change that grows and then shrinks, or the reverse, with the level where it turns."""
        back = {Way.GROWS: Way.SHRINKS, Way.SHRINKS: Way.GROWS}[trend.way]
        told = [trend.compares[at] for at in (0, turn, -1)]
        words = f"{self._opening(question)} {self._pair(question.have, trend.to)}, the "
        words += f"{_kind_of_change(trend)} of {_words(question, trend.compares)}"
        ats = [self._at([claim.place], question) for claim in told]
        options = []
        for tell in (_interval_of, _size_of):
            first, middle, last = (f"{tell(one)}{at}" for one, at in zip(told, ats, strict=True))
            options.append(
                f"{words} {trend.way.value} from {first} to {middle}, and then {back.value} to "
                f"{last}."
            )
        return _readable(options)

    def _untold(self, answered: Answered) -> list[str]:
        """That a factor of the question has no answer, where a change along it is undecided."""
        question = answered.question
        if question.along is None or question.along in question.axes:
            return []
        if answered.trends or answered.crossings:
            return []
        few = [one for one in answered.compares if one.verdict is Verdict.TOO_FEW]
        if not few:
            return []
        levels = [dict(place.levels)[question.along] for place in question.places]
        ends = [self._level(question.along, level) for level in (levels[0], levels[-1])]
        return [
            f"Whether the change grows or shrinks from {ends[0]} to {ends[1]}: {UNDECIDED}, as not "
            "every change is decided."
        ]

    def ordered(self, claim: Ordered) -> list[str]:
        """The settings that give a printed order in most scenarios, and where else it holds."""
        most = max(len(one.kept) for one in claim.settings)
        best = [one for one in claim.settings if len(one.kept) == most]
        kept = best[0].kept
        best = [one for one in best if one.kept == kept]
        total, count = len(claim.scenarios), len(claim.settings)
        words = "the printed order of TCP and UDP"
        place = self._described_settings(best, claim.settings)
        if most == total:
            return [f"{words[:1].upper()}{words[1:]} holds in all {total} scenarios{place}."]
        found = [
            f"None of {count} settings gives {words} in all {total} scenarios: at most it holds "
            f"in {most} ({_enumerated(kept)}){place}."
        ]
        left = [one for one in claim.scenarios if one not in kept]
        there = [one for one in claim.settings if set(left) <= set(one.kept)]
        if there:
            others = "one" if len(left) == 1 else f"{len(left)}"
            found.append(
                f"In the other {others} ({_enumerated(left)}) it holds with {len(there)} of the "
                f"{count - len(best)} other settings."
            )
        return found

    def _described_settings(self, some: Sequence[Ordering], of: Sequence[Ordering]) -> str:
        """`` with an MTU of 1500 octets and UDP, 1420 octets``: the levels that some settings have
        in common and not all have; empty where they are no combination of levels.
        """
        levels: dict[str, dict[str, Level]] = {}
        every: dict[str, set[str]] = {}
        for one in of:
            for axis, level in one.levels:
                every.setdefault(axis, set()).add(str(level))
                if one in some:
                    levels.setdefault(axis, {})[str(level)] = level
        if math.prod(map(len, levels.values())) != len(some):
            return f" with {len(some)} settings"
        told = []
        for axis, there in levels.items():
            if len(there) == len(every[axis]):
                continue
            own = "traffic" if axis in TRANSPORTS else axis
            names = [self._level(own, level) for level in there.values()]
            first, *rest = names
            told.append(_enumerated([first, *(_beyond(name, first) for name in rest)], "or"))
        return f" with {_enumerated(told)}" if told else ""

    def _refused(self, question: Asked, impossible: Sequence[Possible]) -> list[str]:
        """The candidates that cannot be had, by reason."""
        by_reason: dict[tuple[str, tuple[int, ...]], list[Possible]] = {}
        for one in impossible:
            key = (one.reason, tuple(id(place) for place in one.places))
            by_reason.setdefault(key, []).append(one)
        found = []
        shared = self._shared(question) if len(question.places) > 1 else ""
        where = f"{shared}: " if shared else ""
        for (reason, _), group in by_reason.items():
            others = [question.have, *question.to]
            arms = [self._arm(one.arm, *others) for one in group]
            names = self._listed(_with_one_noun(arms), "and")
            at = self._at(group[0].places, question)
            why = self._reason(reason, group[0].arm)
            if question.metric == _JOINED:
                found.append(f"{where}no client joins with {names}{at}: {why}.")
            else:
                found.append(f"{where}{names} cannot be had{at}: {why}.")
        return [line[:1].upper() + line[1:] for line in found]

    def _fallen(self, question: Asked, fallbacks: Sequence[Fallback]) -> list[str]:
        """The candidates whose link falls back, with the reason."""
        found = []
        others = [question.have, *question.to]
        for one in fallbacks:
            at = self._at(one.places, question)
            link = one.link.partition(" (")[0]
            line = f"{self._arm(one.arm, *others)} falls back to {link}{at}: {one.reason}."
            found.append(line[:1].upper() + line[1:])
        return found

    def _reason(self, reason: str, arm: Arm) -> str:
        """A testbed's reason without the machine's name of the policy."""
        policy = str(dict(arm.levels).get("policy", ""))
        if not policy:
            return reason
        return reason.removeprefix(f"{policy}: ").replace(policy, self.names.spoken(policy))

    def _unmeasured(self, answered: Answered) -> list[str]:
        question = answered.question
        if answered.is_unmeasured:
            return [f"No trial measured {spoken(question.metric).words}."]
        refused = {(one.arm, id(place)) for one in answered.impossible for place in one.places}
        reasons: dict[str, dict[Arm, list[Place]]] = {}
        for claim in answered.compares:
            ends = {(claim.to, id(claim.place)), (claim.have, id(claim.place))}
            if claim.verdict is Verdict.UNMEASURED and not ends & refused:
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
            f"{plain_percent(part.value)} to {_PARTS.get(name, name)}"
            for name, part in costs[:3]
            if part.value >= 0.05 * parts.total
        ]
        if not told:
            return []
        claim = parts.compare
        won = _won_back(parts, sum(part.value for _, part in costs))
        return [
            f"From {self._pair(claim.have, claim.to)}{self._where(claim.place)}, {_size_of(claim)} "
            f"of {spoken(claim.metric).words} is lost: {_enumerated(told)}{won}."
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
            arms = list(dict.fromkeys(one.arm for one in held))
            whole = [one for one in answered.limits if one.arm in arms]
            others = [question.have, *question.to]
            if len(held) == len(answered.limits):
                where = "everywhere"
            elif len(whole) == len(held) and len(arms) <= _MOST_TOLD:
                others = [arm for arm in others if arm not in arms]
                where = f"with {self._listed([self._arm(arm, *others) for arm in arms], 'and')}"
            else:
                at_places: dict[str, list[Arm]] = {}
                for arm in arms:
                    places = [one.place for one in held if one.arm == arm]
                    at_places.setdefault(self._at(places, question), []).append(arm)
                told = [
                    f"with {self._listed([self._arm(arm, *others) for arm in alike], 'and')}{at}"
                    for at, alike in at_places.items()
                ]
                where = _enumerated(told)
            found.append(f"Not the air but {who} limits throughput {where}{_CURES.get(who, '')}.")
        return found

    def _opening(self, question: Asked) -> str:
        """``From``, after what all of several places share."""
        shared = self._shared(question) if len(question.places) > 1 else ""
        alone = _changing(question)
        if alone and question.others_than is None and question.station is None:
            shared = ", ".join(filter(None, [f'for station "{alone}" only', shared]))
        return f"{shared[:1].upper()}{shared[1:]}: from" if shared else "From"

    def _pair(self, have: Arm, to: Arm) -> str:
        (arm,) = self._arms([to], have)
        return f"{self._arm(have, to)} to {arm}"

    def _arms(self, arms: Sequence[Arm], have: Arm) -> list[str]:
        """Candidates without the words that they share with what one has."""
        mine = self._arm(have, *arms)
        return _without_noun([_number_of(self._arm(arm, have), mine) for arm in arms], mine)

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
        return self._ats(here, question, without)[0]

    def _ats(self, here: Sequence[Place], question: Asked, without: str | None = None) -> list[str]:
        """Descriptions of some places of a question, the fullest first."""
        of = question.places
        if len(of) == 1:
            return [self._where(of[0])]
        varying = [axis for axis in _varying(of) if axis != without]
        texts = list(
            dict.fromkeys(
                ", ".join(self._level(a, v) for a, v in place.levels if a in varying)
                for place in here
            )
        )
        if texts in ([], [""]):
            return [""]
        counted = f" at {len(here)} of {len(of)} places"
        if len(here) == len(of):
            counted = f" at all {len(of)} places"
        described = self._described(here, varying) if len(texts) > 1 else texts[0]
        if described:
            return [f" ({described})", *([counted] if len(texts) > _MOST_TOLD else [])]
        if len(texts) <= _MOST_TOLD and len("; ".join(texts)) <= _DESCRIBED_FEW:
            return [f" ({'; '.join(texts)})"]
        return [counted]

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
        room = _DESCRIBED_FEW if len(here) <= _MOST_TOLD else _DESCRIBED
        for counted in (False, True):
            texts = [self._levels(axis, list(of.values()), counted) for axis, of in levels.items()]
            text = ", ".join(texts)
            if all(texts) and len(text) <= room:
                return text
        return ""

    def _levels(self, axis: str, levels: Sequence[Level], counted: bool) -> str:
        """Some levels of one axis: named, or the first and the last number.

        ``counted``: all policies of the plan by their number, where there is no room for names.
        """
        names = [self._level(axis, level) for level in levels]
        numbers = [
            one for one in levels if isinstance(one, int | float) and not isinstance(one, bool)
        ]
        if len(levels) > 2 and len(numbers) == len(levels):
            return _merged(self._level(axis, min(numbers)), self._level(axis, max(numbers)))
        if counted and axis == "policy" and 2 < len(levels) == self._count_of_policies:
            return f"all {len(levels)} policies"
        return "; ".join(names) if any("," in name for name in names) else _enumerated(names)

    @property
    def _count_of_policies(self) -> int:
        return len({cell.policy for cell in self.names.cells})

    def _where(self, place: Place) -> str:
        """The levels of one place that vary in the plan."""
        words = list(dict.fromkeys(self._told_levels(place)))
        return f" ({', '.join(words)})" if words else ""

    def _shared(self, question: Asked) -> str:
        """The levels that all places of a question share and that vary in the plan."""
        varying = _varying(question.places)
        first = question.places[0]
        shared = tuple((a, v) for a, v in first.levels if a not in varying)
        return ", ".join(dict.fromkeys(self._told_levels(Place(shared, {}))))

    def _told_levels(self, place: Place) -> Iterator[str]:
        several = {
            "scenario": len(self.names.scenarios) > 1,
            "traffic": len(self.names.traffics) > 1,
            "policy": self._count_of_policies > 1,
        }
        for axis, level in place.levels:
            varies = several.get(axis, axis in self.names.levels)
            if varies and not _is_absent(level) and not self._is_plain(axis, level):
                yield self._level(axis, level)

    def _is_plain(self, axis: str, level: Level) -> bool:
        """Whether a level is the first of a factor that is a variant of some policies."""
        return axis in self.names.of_policies and level == self.names.plain.get(axis)

    def _listed(self, items: Sequence[str], word: str) -> str:
        items = list(dict.fromkeys(items))
        if len(items) > 2 * _MOST_TOLD:
            return f"{len(items)} choices"
        return _enumerated(items, word)


def reproduced(claims: Sequence[Reproduces], names: Names) -> Told:
    """How many printed values are met, by data set, quantity, kind and instrument.

    ``leads``: without a fit, and the profile set that meets the largest share of the values that it
    was not fitted to, if it is a larger one; of a model that varies otherwise, its nearest setting.
    Values that a profile was fitted to are counted apart: to meet them proves nothing.
    """
    groups: dict[tuple[str, str, Printed, str], list[Reproduces]] = {}
    for claim in claims:
        key = (claim.dataset, claim.quantity, claim.kind, claim.instrument)
        groups.setdefault(key, []).append(claim)
    leads: list[str] = []
    extras: list[str] = []
    for number, group in enumerate(groups.values()):
        if _are_settings(group):
            leads.append(_of_settings(group, names))
            extras += [_of_printed(one, names) for one in group]
            continue
        plain_ones = [claim for claim in group if not claim.fits]
        told = plain_ones if len(plain_ones) <= 2 else plain_ones[:1]
        others = [claim for claim in group if claim not in told and claim.total]
        best = max(others, key=_met, default=None)
        if best and (not told or _met(best) > max(map(_met, told))):
            told = [*told, best]
        lines = [
            _of_printed(one, names) if index == 0 else _of_further(one, names)
            for index, one in enumerate(told)
        ]
        (extras if number else leads).extend(lines)
        extras += [_of_printed(one, names) for one in group if one not in told]
    return Told(tuple(leads), tuple(extras))


def _are_settings(group: Sequence[Reproduces]) -> bool:
    """Whether the model of some printed values varies by a factor that the paper leaves open."""
    return (
        len(group) > 1
        and all(claim.axis not in ("", _PROFILES) and claim.of_all for claim in group)
        and not any(claim.fits for claim in group)
    )


def _of_settings(group: Sequence[Reproduces], names: Names) -> str:
    """The setting that meets most printed values, or comes nearest; one for each traffic where no
    one meets as many.
    """
    best = max(group, key=lambda claim: _rank(claim.of_all))
    assert best.of_all is not None
    near = _near(best)
    seen = _seen_by(best)
    of_traffic = {
        met.traffic: max(group, key=lambda claim: _rank(_of(claim, met.traffic)))
        for met in best.by_traffic
    }
    apart = any(_of(one, t).met > _of(best, t).met for t, one in of_traffic.items())
    count, total = len(group), best.of_all.total
    if apart:
        told = []
        for number, (traffic, one) in enumerate(of_traffic.items()):
            met = _of(one, traffic)
            what = f" printed {_noun(one, met.total)}" if number == 0 else ""
            verb = f" {_are(met.met)} met within {near}" if number == 0 else ""
            told.append(
                f"with {names.level(one.axis, one.variant)} {_count(met.met)} of {met.total}{what} "
                f"of {names.level('traffic', traffic)}{verb}"
            )
        line = f"{', '.join(told)}; none of the {count} settings meets all {total}"
        return f"{seen}{line[:1].upper()}{line[1:]}." if not seen else f"{seen}{line}."
    parts = ""
    if len(best.by_traffic) > 1 and best.of_all.met:
        each = [
            f"{names.level('traffic', met.traffic)} {_count(met.met)} of {met.total}"
            for met in best.by_traffic
        ]
        parts = f" ({', '.join(each)})"
    if not best.of_all.met:
        distance = plain_percent(best.of_all.median)
        if best.quantity == OVERHEAD:
            distance = distance.replace(" %", " points")
        line = (
            f"with none of the {count} settings is any of {total} printed {_noun(best, total)} met "
            f"within {near}; nearest, with {names.level(best.axis, best.variant)}, the median "
            f"distance is {distance}"
        )
        return f"{seen}{line}." if seen else f"{line[:1].upper()}{line[1:]}."
    others = [one.of_all for one in group if one is not best and one.of_all]
    alike = sum(one.met == best.of_all.met for one in others)
    nearer = any(one.median < best.of_all.median for one in others)
    beyond = "" if alike or nearer else " or comes nearer"
    if alike:
        beyond = f", and {alike} {'meet' if alike > 1 else 'meets'} as many, further away"
    line = (
        f"with {names.level(best.axis, best.variant)}, {_count(best.of_all.met)} of {total} "
        f"printed {_noun(best, total)} {_are(best.of_all.met)} met within {near}{parts}; none of "
        f"the {count} settings meets more{beyond}"
    )
    return f"{seen}{line}." if seen else f"{line[:1].upper()}{line[1:]}."


def _of(claim: Reproduces, traffic: str) -> Met:
    return next(
        (met for met in claim.by_traffic if met.traffic == traffic), Met(traffic, 0, 0, math.inf)
    )


def _rank(met: Met | None) -> tuple[int, float]:
    assert met is not None
    return met.met, -met.median


def _count(number: int) -> str:
    return str(number or "none")


def _met(claim: Reproduces) -> float:
    return claim.met / claim.total if claim.total else 0.0


def _of_printed(claim: Reproduces, names: Names) -> str:
    near = _near(claim)
    count, met = (claim.total, claim.met) if claim.total else (claim.fitted, claim.fitted_met)
    opening = _opening_of(claim, names)
    free = " that nothing was fitted to" if claim.total and claim.fitted else ""
    if count == 1:
        verb = "is" if met else "is not"
        said = f"the printed {_noun(claim, 1)}{free} {verb} met within {near}"
    else:
        of = f"of {count} printed {_noun(claim, count)}{free}"
        said = f"{met or 'none'} {of} {_are(met)} met within {near}"
    beyond = [
        f"{count} {_are(count)} above what {limit}"
        for count, limit in (
            (claim.excess, "the stations send"),
            (claim.above, "the PHY can carry"),
        )
        if count
    ]
    if beyond:
        said = _enumerated([said, *beyond])
    line = (
        f"{opening}{said}: printed {_span(claim, claim.printed)}, ours {_span(claim, claim.ours)}"
    )
    if not claim.total:
        line += "; none is a prediction"
    return f"{line[:1].upper()}{line[1:]}."


def _near(claim: Reproduces) -> str:
    """The distance up to which a printed value is met."""
    near = "one point" if claim.quantity == OVERHEAD else plain_percent(claim.within)
    return near.replace(".0 %", " %")


def _of_further(claim: Reproduces, names: Names) -> str:
    """The same of another variant of the model: without what the sentence before it says."""
    of = f"the {claim.total} that it was not fitted to" if claim.fitted else f"{claim.total}"
    line = f"{_opening_of(claim, names)}{claim.met or 'none'} of {of} {_are(claim.met)} met"
    if not claim.fitted:
        line += f": printed {_span(claim, claim.printed)}, ours {_span(claim, claim.ours)}"
    return f"{line}."


def _opening_of(claim: Reproduces, names: Names) -> str:
    """``With a serial card (17 to 57 us per frame), ``: the variant of the model."""
    times = [_fit(fit) for fit in sorted(claim.fits, key=lambda fit: fit.place)]
    fits = f" ({_enumerated(times)})" if times else ""
    if claim.axis:
        return f"With {names.level(claim.axis, claim.variant)}{fits}, "
    if claim.fits:
        return f"With fitted devices{fits}, "
    return _seen_by(claim)


def _seen_by(claim: Reproduces) -> str:
    """``Read by sender-clock (fitted), ``: the instrument, if there is one."""
    if not claim.instrument:
        return ""
    return f"Read by {claim.instrument}{' (fitted)' if claim.fitted_instrument else ''}, "


def _are(count: int) -> str:
    """The verb of ``none of 5``, ``1 of 5`` and ``2 of 5``."""
    return "are" if count > 1 else "is"


def _noun(claim: Reproduces, count: int) -> str:
    many = "s" if count > 1 else ""
    if claim.quantity == "overhead":
        noun = f"overhead{many}"
    elif claim.quantity == "throughput_bps":
        noun = f"throughput{many}"
    else:
        noun = f"value{many} of {spoken(claim.quantity).words}"
    if claim.kind is Printed.COMBINED:
        return f"{noun} over several kinds of traffic"
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


def _won_back(parts: Parts, lost: float) -> str:
    """``; fewer frames win 1.2 % back``: what makes the whole less than the parts that cost.

    ``lost``: the sum of these parts. Empty where the difference is no more than rounding.
    """
    gains = sorted(
        ((name, -part.value) for name, part in parts.parts if part.value < 0),
        key=lambda pair: -pair[1],
    )
    if not gains or lost - parts.total < _FAR * parts.total:
        return ""
    told = [(name, size) for name, size in gains if size >= _FAR * parts.total][:2] or gains[:1]
    named = [_WON_BACK.get(name) or f"less for {_PARTS.get(name, name)}" for name, _ in told]
    sizes = [plain_percent(size) for _, size in told]
    wins = "wins" if len(told) == 1 and named[0].startswith(("a ", "less")) else "win"
    return f"; {_enumerated(named)} {wins} {_enumerated(sizes)} back"


def _services(names: Sequence[str]) -> list[str]:
    return [name if name.startswith("non-") else name.replace("-", " ") for name in names]


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
    """Claims that fall, that rise, that are too small to be noticed, that have the same data frames
    on both sides, and that are undecided."""
    changed = [claim for claim in claims if claim.verdict in _CHANGED]
    groups = [
        [claim for claim in changed if claim.change.value <= 0],  # type: ignore[union-attr]
        [claim for claim in changed if claim.change.value > 0],  # type: ignore[union-attr]
        *(
            [one for one in claims if one.verdict is Verdict.UNNOTICED and one.same_frames is same]
            for same in (False, True)
        ),
        [claim for claim in claims if claim.verdict is Verdict.TOO_FEW],
    ]
    return list(map(_in_whole_clients, groups))


def _in_whole_clients(group: list[Compare]) -> list[Compare]:
    """Claims about clients that join; as shares where not as many joined in every trial: a mean
    of 0.3 of 4 clients says nothing to a reader.
    """
    if all(claim.clients is None or _is_of_whole_clients(claim) for claim in group):
        return group
    return [evolve(claim, clients=None) for claim in group]


def _readable(options: Sequence[str]) -> str:
    """The first sentence that is short enough, or the shortest."""
    return next((one for one in options if len(one) <= _READABLE), min(options, key=len))


def _enumerated(items: Sequence[str], word: str = "and") -> str:
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} {word} {items[-1]}"


def _merged(low: str, high: str) -> str:
    """``1 to 8 clients`` of ``1 client`` and ``8 clients``, ``65.5 kB to 16.8 MB``."""
    first, last = low.split(), high.split()
    ahead = 0
    while ahead < min(len(first), len(last)) - 1 and first[ahead] == last[ahead]:
        ahead += 1
    rest, of = first[ahead + 1 :], last[ahead + 1 :]
    is_one_unit = [word.removesuffix("s") for word in rest] == [
        word.removesuffix("s") for word in of
    ]
    return " ".join([*first[: ahead + 1], *([] if is_one_unit else rest), "to", *last[ahead:]])


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


def _words(question: Asked, group: Sequence[Compare]) -> str:
    """The metric of some changes, and whose it is."""
    if group[0].clients is not None:
        return "the number of clients that join"
    if question.others_than is not None:
        takes = _TAKES.get(group[0].verdict)
        if takes is None:
            return f"{_metric(group[0])} of all other stations"
        return (
            f'station "{question.others_than}" takes {takes} the others: their {_metric(group[0])}'
        )
    of = f' of station "{question.station}"' if question.station else ""
    if not of and _changing(question):
        of = " of the whole cell"
    if question.metric in _OF_CLIENTS:
        clients = {cell.settings.clients for one in group for cell in one.place.cells.values()}
        if len(clients) == 1 and (count := next(iter(clients))):
            of = f" of {count} clients"
    return _metric(group[0]) + of


def _changing(question: Asked) -> str:
    """The only station that a question about policies changes; the others have one of their own.

    Empty where all stations change.
    """
    if question.axes != ("policy",):
        return ""
    cells = [cell for place in question.places for cell in place.cells.values()]
    names = {
        tuple(one.name for one in cell.settings.stations if one.policy is None) for cell in cells
    }
    of = {len(cell.settings.stations) for cell in cells}
    first = next(iter(names), ())
    return first[0] if len(names) == 1 and len(first) == 1 and min(of) > 1 else ""


def _kind_of_change(trend: Trend) -> str:
    """``loss``, ``fall`` or ``rise``, by the largest change."""
    largest = max(trend.compares, key=_size)
    if _verb(largest) == "rises":
        return "rise"
    return "loss" if largest.verdict is Verdict.COSTS and largest.is_share else "fall"


def _interval_of(claim: Compare) -> str:
    """The amount of a change with its interval."""
    assert claim.change is not None
    size = absolute(claim.change)
    if not claim.is_share and _is_percent(claim):
        return percent(size).replace(" %", " points")
    return percent(size) if claim.is_share else shown(size)


def _metric(claim: Compare) -> str:
    """The metric of a change; beside a day's energy, a power of the traffic is one of the trial."""
    return spoken(claim.metric).words + (" in the trial" if claim.is_of_trial else "")


def _is_of_whole_clients(claim: Compare) -> bool:
    """Whether as many clients joined in every trial, before and after."""
    clients = claim.clients or 1
    return all(
        one is None or math.isclose(one.value * clients, round(one.value * clients), abs_tol=1e-6)
        for one in (claim.before, claim.after)
    )


def _verb(claim: Compare) -> str:
    assert claim.change is not None
    return "rises" if claim.change.value > 0 else "falls"


def _between(claim: Apart) -> str:
    """``2.40 ± 0.50 points``: of a share in points."""
    size = absolute(claim.difference)
    if claim.more.is_share or spoken(claim.more.metric).told == "points":
        return f"{percent(size).removesuffix(' %')} points"
    return shown(size)


def _turned_by(claim: Compare) -> str:
    """``+3.2 %``, ``-0.80 ms``: a change with its sign."""
    assert claim.change is not None
    sign = "-" if claim.change.value < 0 else "+"
    return f"{sign}{_size_of(claim)}"


def verdict(claim: Compare) -> str:
    """The verdict on one change, for a table whose row has the values: words that the sentence
    about this change has, too; in brackets the trials that a new run takes.
    """
    return _with(_core(claim), _needed(claim))


def _core(claim: Compare) -> str:
    if claim.verdict is Verdict.UNSETTLED:
        return _NOT_SETTLED
    if claim.change is None:
        unknown = COST_UNKNOWN in claim.reason
        return COST_UNKNOWN if unknown else f"{_NOT_MEASURED}: {claim.reason}".rstrip(": ")
    if claim.verdict is Verdict.TOO_FEW:
        return UNDECIDED
    if claim.verdict is Verdict.UNNOTICED:
        if claim.same_frames:
            return _SAME_FRAMES
        return NOTHING_NOTICED if _bound(claim) else _unnoticed([claim])
    return _verb(claim)


def stated(row: Stated) -> str:
    """The verdict on a row of a table, and what statistics says beside it.

    The words of :func:`verdict`; in brackets the rule of statistics that a reader must know.
    """
    remarks = [*_needed(row.claim), *([] if row.is_primary else [EXPLORATORY])]
    if row.evidence is Evidence.DETERMINISTIC:
        remarks.append("deterministic")
    elif row.evidence is Evidence.EQUAL and not row.claim.same_frames:
        remarks.append("equal in every trial" if row.is_of_pairs else "equal in all trials")
    elif row.is_of_pairs and row.evidence.differs:
        remarks.append("by as much in every trial")
    elif row.evidence is Evidence.EQUIVALENT:
        assert row.claim.after is not None
        remarks.append(f"equivalent within {row.margin:g} {row.claim.after.unit}")
    elif row.evidence in (Evidence.WITHIN, Evidence.OUTSIDE):
        remarks.append(row.evidence.value)
    elif row.evidence.is_alone and row.claim.verdict in _CHANGED:
        remarks.append(f"taken alone, not among {row.among} comparisons")
    return _with(_core(row.claim), remarks)


def _with(said: str, remarks: Sequence[str]) -> str:
    return f"{said} ({', '.join(remarks)})" if remarks else said


def _needed(claim: Compare) -> list[str]:
    if claim.verdict is not Verdict.TOO_FEW or claim.fresh is None:
        return []
    return [
        f"{_spread(claim)}: run {_FIRST_STEP}" if _spread(claim) else _in_a_new_run(claim.fresh)
    ]


def _in_a_new_run(trials: int) -> str:
    return f"{trials} in a new run"


def rule(metric: str, unnoticed: float) -> str:
    """The rule behind the verdicts on a metric, as a sentence; empty where every change counts."""
    if unnoticed == 0:
        return ""
    told = spoken(metric)
    is_percent = told.is_share or told.told == "points"
    limit = exact(unnoticed, quantity(metric).unit, is_percent=is_percent)
    if told.told == "points":
        limit = limit.replace(" %", " points")
    return f"A change of at most {limit} is {NOTHING_NOTICED}."


def shows(test: Test) -> str:
    """The verdict on readings by their test alone, without a limit of what goes unnoticed."""
    outcome = test.shows
    if outcome is Evidence.TOO_FEW:
        return _with(UNDECIDED, [] if test.needs is None else [_in_a_new_run(test.needs)])
    if outcome is Evidence.UNDETECTED or outcome.is_alone:
        return UNDECIDED
    if outcome in (Evidence.HIGHER, Evidence.LOWER):
        return "rises" if outcome is Evidence.HIGHER else "falls"
    return str(outcome.value)


def _change(claim: Compare) -> str:
    """The change of one claim: a verb phrase."""
    if claim.verdict is Verdict.UNSETTLED:
        return f"has {_NOT_SETTLED}"
    if claim.change is None:
        return f"was {_NOT_MEASURED}: {claim.reason}"
    if claim.verdict is Verdict.UNNOTICED:
        return _stays(claim)
    if claim.verdict is Verdict.TOO_FEW:
        return _few([claim])
    return f"{_verb(claim)} {_amount(claim)}"


def _lost(claim: Compare) -> str:
    """``a hand-over loses no packet instead of 2``; empty for other metrics and verdicts."""
    if spoken(claim.metric).told != "lost" or claim.verdict not in _CHANGED:
        return ""
    assert claim.before is not None
    assert claim.after is not None
    before = packets(claim.before.value).partition(" ")[0].replace("no", "none")
    return f"a hand-over loses {packets(claim.after.value)} instead of {before}"


def _matters(claim: Layered) -> bool:
    """Whether the sum of a tunnel's and its link's losses is far from the loss of both."""
    assert claim.parts is not None
    assert claim.whole.change is not None
    whole = claim.whole.change.value
    return abs(claim.parts.value - whole) > _FAR * abs(whole)


def _of_ruled(claim: Ruled) -> str:
    """The metric of a requirement, and whose it is."""
    words = name_of(claim.metric) if claim.metric == OVERHEAD else spoken(claim.metric).words
    if claim.station is not None:
        words += f' of station "{claim.station}"'
    return f'{words} of flow "{claim.flow}"' if claim.flow is not None else words


def _limits(claim: Ruled) -> str:
    """``at least 20 Mb/s and at most 25 Mb/s``: the limits as the study has them."""
    is_percent = quantity(claim.metric).percent
    unit = quantity(claim.metric).unit
    if claim.compare is not None:
        is_percent = _is_percent(claim.compare)
    limits = (("at least", claim.at_least), ("at most", claim.at_most))
    return " and ".join(
        f"{words} {exact(limit, unit, is_percent=is_percent)}"
        for words, limit in limits
        if limit is not None
    )


def _unnoticed(group: Sequence[Compare], at: str = "") -> str:
    """No interval of a group holds a change that anyone would notice. ``at``: where."""
    if all(claim.same_frames for claim in group):
        return _by_chance(group, at)
    largest = max(group, key=_bound)
    bound = _bound(largest)
    if bound == 0:
        values = {claim.after.value for claim in group if claim.after is not None}
        clients = {claim.clients for claim in group}
        if len(values) == len(clients) == 1 and group[0].clients is not None:
            return f"stays {_alone(group[0], is_after=True)}{at}"
        return f"does not change{at}"
    assert largest.change is not None
    most = at_most(bound, largest.change.unit, _is_percent(largest))
    return f"changes by {most}{at}: {NOTHING_NOTICED}"


def _by_chance(group: Sequence[Compare], at: str = "") -> str:
    """Changes between cells that send the same data frames."""
    said = f"stays the same{at}: {_SAME_FRAMES}"
    largest = max(group, key=_size)
    change = largest.change
    assert change is not None
    if change.value == 0:
        return said
    is_percent = _is_percent(largest)
    amount_ = percent(change) if is_percent else shown(change)
    if len(group) == 1:
        return f"{said}; the measured change of {amount_} is chance"
    return f"{said}; the largest measured change, {amount_}, is chance"


def _stays(claim: Compare) -> str:
    """An unnoticed change with the value that it is a change of, and the interval of this value."""
    if claim.same_frames:
        return f"stays {_kept(claim, is_after=False)}: {_SAME_FRAMES}"
    bound = _bound(claim)
    if bound == 0 or claim.after is None or not math.isfinite(claim.after.value):
        return _unnoticed([claim])
    change_ = claim.change
    assert change_ is not None
    before, after = (_alone(claim, is_after=side) for side in (False, True))
    if before != after and (change_.low > 0 or change_.high < 0):
        return f"changes from {before} to {after}, by {_interval_of(claim)}: {NOTHING_NOTICED}"
    most = at_most(bound, change_.unit, _is_percent(claim))
    return f"stays {_kept(claim, is_after=True, more=f'a change of {most}: {NOTHING_NOTICED}')}"


def _bound(claim: Compare) -> float:
    """The largest change that the interval allows; the change itself where it has no interval."""
    change = claim.change
    assert change is not None
    if change.is_deterministic or change.is_equal or not change.has_interval:
        return abs(change.value)
    return max(abs(change.low), abs(change.high))


def _few(group: Sequence[Compare], at: str = "", needs: Callable[[int], str] | None = None) -> str:
    """``needs``: the words for the number that would decide; that of a new run without it."""
    known = [claim for claim in group if claim.fresh is not None]
    widest = max(group, key=_size)
    assert widest.change is not None
    said = f"{_seems(group, widest)}{at}: {UNDECIDED}"
    if not known:
        done = max(widest.change.n // 2, 1)
        planned = widest.change.n and done < _FIRST_TRIALS and needs is None
        return f"{said}; first run with {_FIRST_STEP}" if planned else said
    most = max(known, key=lambda claim: claim.fresh or 0)
    assert most.fresh is not None
    return f"{said}; {needs(most.fresh) if needs is not None else _needing(most)}"


def _seems(group: Sequence[Compare], widest: Compare) -> str:
    """``seems to fall by 20 ms, from 40 to 20 ms``; of several the largest: ``by up to 283 ms``.

    Changes with an interval have no direction yet: ``changes by -1 ± 3 %``; several lie ``between
    -4 and 2 %``, from the lowest end to the highest.
    """
    change = widest.change
    assert change is not None
    is_percent = _is_percent(widest)
    if len(group) == 1 and change.has_interval:
        return f"changes by {percent(change) if is_percent else shown(change)}{_values(widest)}"
    changes = [one.change for one in group if one.change is not None]
    if all(one.has_interval for one in changes):
        ends = min(one.low for one in changes), max(one.high for one in changes)
        text = span(*ends, change.unit, is_share=is_percent).replace(" to ", " and ")
        if is_percent and not widest.is_share:
            text = text.replace(" %", " points")
        return f"changes by something between {text}"
    size = evolve(absolute(change), low=math.nan, high=math.nan)
    amount_ = percent(size) if is_percent else shown(size)
    values = [one.change.value for one in group if one.change is not None]
    if not any(values):
        return "seems not to change"
    verb = "fall" if max(values) <= 0 else "rise" if min(values) >= 0 else "change"
    if len(group) == 1:
        return f"seems to {verb} by {amount_}{_values(widest)}"
    return f"seems to {verb} by up to {amount_}"


def _values(claim: Compare) -> str:
    """``, from 59 to 41 Mb/s``: both values of a large change; else empty."""
    before, after, change_ = claim.before, claim.after, claim.change
    if before is None or after is None or change_ is None or claim.clients is not None:
        return ""
    size = _size(claim) if _is_percent(claim) else _size(claim) / (abs(before.value) or math.inf)
    if size < _LARGE:
        return ""
    if claim.is_share:
        return f", {share_from_to(change_, before, after)}"
    tell = points_from_to if _is_percent(claim) else from_to
    return f", {tell(change_, before, after)}"


def _needing(claim: Compare) -> str:
    """The run that would decide; where that has no sense, why, and the first step."""
    assert claim.fresh is not None
    if why := _spread(claim):
        return f"{why}; first run with {_FIRST_STEP}"
    return _new_run(claim.fresh)


def _spread(claim: Compare) -> str:
    """The reason for which a number of trials cannot be planned; empty where it can.

    Few trials do not tell their spread well enough: the number that follows from them is over a
    hundred times theirs, or their interval is wider than the value that changes.
    """
    change_ = claim.change
    if change_ is None or claim.fresh is None or not change_.has_interval:
        return ""
    done = max(change_.n // 2, 2)
    if done >= _FIRST_TRIALS:
        return ""
    whole = 1.0
    if not claim.is_share:
        ends = [one.value for one in (claim.before, claim.after) if one is not None]
        whole = max(map(abs, ends), default=math.inf)
    if claim.fresh <= _MOST_TIMES * done and change_.high - change_.low <= whole:
        return ""
    return f"{done} trials differ too much to tell how many would decide"


def _new_run(trials: int) -> str:
    """The run that would decide. To go on with this one until it does would find a difference
    where there is none."""
    cases = f"{POWER.numerator} of {POWER.denominator} cases"
    return f"a new run with {trials} trials of each cell and another seed would decide in {cases}"


def _readings(number: int) -> str:
    """The readings of a network that would decide."""
    cases = f"{POWER.numerator} of {POWER.denominator} cases"
    return f"{number} new readings on each side would decide in {cases}"


def _turned(claim: Compare) -> str:
    if claim.verdict is Verdict.UNNOTICED:
        return f"changes by {NOTHING_NOTICED}"
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
        if _is_manifold(claim):
            return share_from_to(claim.change, claim.before, claim.after)
        said = f"by {percent(absolute(claim.change))}"
        if _size(claim) < _LARGE:
            return said
        return f"{said}, {share_from_to(claim.change, claim.before, claim.after)}"
    if spoken(claim.metric).told == "points":
        return points(claim.change, claim.before, claim.after)
    by = amount(claim.change, claim.before, claim.after)
    values = from_to(claim.change, claim.before, claim.after)
    if claim.change.method == SHIFT and not _adds_up(by, values):
        # The shift is told by its interval alone: two figures of one change puzzle.
        medians = values.replace("from", "from a median of", 1)
        return medians + _interval(claim.change, values)
    return f"by {by}, {values}"


def _interval(change_: Estimate, values: str) -> str:
    """``, by 0.62 to 1.42 s``: the interval in the unit and digits of both values.

    Empty without an interval, or where it is one number.
    """
    first, unit = values.split()[1], values.split()[-1]
    size = absolute(change_)
    if not math.isfinite(size.low) or not math.isfinite(size.high):
        return ""
    factor = like_units(unit)[unit]
    places = len(first.partition(".")[2])
    low, high = (f"{end / factor:.{places}f}" for end in (size.low, size.high))
    return "" if low == high else f", by {low} to {high} {unit}"


def _adds_up(by: str, values: str) -> bool:
    """Whether ``11.18 ± 0.14 s`` is the difference of ``from 4.89 to 16.05 s``, but for rounding.

    The shift of two samples is not the difference of their medians.
    """
    _, first, joint, second, *_ = values.split()
    if joint != "to":
        return True  # each value has its own unit
    size = by.split()[0]
    last = 10.0 ** -len(size.partition(".")[2])
    return abs(abs(float(second) - float(first)) - float(size)) < 1.5 * last


def _by(claim: Compare) -> str:
    """One of several changes: ``by 1.1 ± 0.1 %``, or ``from 57.0 to 20.0 ms``."""
    assert claim.change is not None
    assert claim.before is not None
    assert claim.after is not None
    if claim.clients is not None:
        return f"from {_of_clients(claim)}"
    if _is_manifold(claim):
        return share_from_to(claim.change, claim.before, claim.after)
    if claim.is_share:
        return f"by {percent(absolute(claim.change))}"
    if _is_percent(claim):
        return points_from_to(claim.change, claim.before, claim.after)
    return from_to(claim.change, claim.before, claim.after)


def _bare(claim: Compare) -> str:
    """The amount of a change without its interval, or both values."""
    if claim.metric == _JOINED or _is_manifold(claim):
        return _by(claim)
    return f"by {_size_of(claim)}"


def _size_of(claim: Compare) -> str:
    """The amount of a change, without its interval."""
    assert claim.change is not None
    size = absolute(claim.change)
    if claim.clients is not None:
        return f"{size.value * claim.clients:.3g} clients"
    if _is_percent(claim):
        return f"{bare(size, 0.01)} {'%' if claim.is_share else 'points'}"
    return bare(size)


def _is_manifold(claim: Compare) -> bool:
    if not claim.is_share or claim.change is None:
        return False
    return claim.change.value >= _MANIFOLD or spoken(claim.metric).told == "values"


def _each_arm(words: str, group: Sequence[Compare], arms: Sequence[str], at: str) -> str:
    """Changes of several candidates at one place, which have the value before in common."""
    ordered = list(zip(group, arms, strict=True))
    if not all(arm[:1].isdigit() for arm in arms):
        ordered.sort(key=lambda pair: _size(pair[0]))
    if len(group) > _MOST_TOLD + 1:
        ordered.sort(key=lambda pair: _size(pair[0]))
        (least, first), *_, (most, last) = ordered
        between = f"{len(group) - 2} others lie between"
        return (
            f"{words} by {_size_of(least)} with {first} to {_size_of(most)} with {last}{at}; "
            f"{between}."
        )
    if all(_is_percent(c) and c.clients is None and not _is_manifold(c) for c in group):
        options = [
            f"{words} {_enumerated([f'{tell(c)} with {arm}' for c, arm in ordered])}{at}."
            for tell in (_by, _bare)
        ]
        return _readable(options)
    before = _alone(ordered[-1][0], is_after=False)
    ends = [f"to {_alone(claim, is_after=True)} with {arm}" for claim, arm in ordered]
    return f"{words} from {before} {_enumerated(ends)}{at}."


def _alone(claim: Compare, *, is_after: bool) -> str:
    """The value before or after, alone with its unit: two or three significant digits."""
    found = claim.after if is_after else claim.before
    assert found is not None
    assert claim.change is not None
    if claim.clients is not None:
        return f"{_clients(found.value * claim.clients)} of {claim.clients}"
    if spoken(claim.metric).told == "points":
        return plain_percent(found.value)
    return plain(found.value, found.unit)


def _kept(claim: Compare, *, is_after: bool, more: str = "") -> str:
    """The value before or after, alone with its interval. ``more``: words behind the interval."""
    found = claim.after if is_after else claim.before
    assert found is not None
    if claim.clients is None and spoken(claim.metric).told != "points":
        return ranged(found, more)
    said = _alone(claim, is_after=is_after)
    return f"{said} ({more})" if more else said


def _short(claim: Compare) -> str:
    return _bare(claim) if claim.is_share else _by(claim)


def _of_clients(claim: Compare) -> str:
    assert claim.before is not None
    assert claim.after is not None
    assert claim.clients is not None
    before, after = (one.value * claim.clients for one in (claim.before, claim.after))
    return f"{_clients(before)} to {_clients(after)} of {claim.clients}"


def _clients(number: float) -> str:
    """A number of clients: three significant digits of a mean, two below one."""
    return f"{number:.{2 if number < 1 else 3}g}" if number < 1000 else f"{number:.0f}"


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
    is_count = group[0].change.unit in ("", "1") and not _is_percent(group[0])
    if is_count and all(size.is_integer() for size in sizes):
        return " to ".join(dict.fromkeys(f"{size:.0f}" for size in (min(sizes), max(sizes))))
    text = span(min(sizes), max(sizes), group[0].change.unit, is_share=_is_percent(group[0]))
    if _is_percent(group[0]) and not group[0].is_share:
        text = text.replace(" %", " points")
    return text


def _without_noun(arms: Sequence[str], have: str) -> list[str]:
    """``ML-DSA-44`` of ``ML-DSA-44 certificates`` beside ``P-256 certificates``."""
    split = [text.split() for text in (*arms, have)]
    count = 0
    for words in zip(*(reversed(words) for words in split), strict=False):
        # The rest may be no bare number, whose unit this is.
        rest = [words_[: len(words_) - count - 1] for words_ in split]
        if len(set(words)) > 1 or not words[0].isalpha() or not all(rest):
            break
        if any(one[0] in ("a", "an") for one in rest):
            break
        if any(one[-1].lstrip("-").replace(".", "").isdigit() for one in rest):
            break
        count += 1
    return [" ".join(words[: len(words) - count]) for words in split[:-1]]


def _with_one_noun(arms: Sequence[str]) -> list[str]:
    """``ML-DSA-44`` and ``ML-DSA-65 certificates`` of ``ML-DSA-44 certificates`` and
    ``ML-DSA-65 certificates``.
    """
    *others, last = arms
    return [*_without_noun(others, last), last] if others else list(arms)


def _number_of(level: str, like: str) -> str:
    """``400 packets`` of ``a queue of 400 packets`` beside ``a queue of 50 packets``."""
    rest = _beyond(level, like)
    return rest if rest[:1].isdigit() and rest.count(" ") == 1 else level


def _beyond(level: str, like: str) -> str:
    """``1340 octets`` of ``a tunnel MTU of 1340 octets`` beside ``a tunnel MTU of 1280 octets``."""
    words, others = level.split(), like.split()
    while len(words) > 1 and others and words[0] == others[0]:
        words, others = words[1:], others[1:]
    return " ".join(words)


def _is_absent(level: Level) -> bool:
    """Whether a level says that something is not there."""
    return level is False or level == "none" or (isinstance(level, float) and level == 0)


def _plain(level: float) -> float | int:
    return int(level) if level == int(level) else level
