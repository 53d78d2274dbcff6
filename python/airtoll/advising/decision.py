"""The decision: keep what one has, or change to a policy, from claims.

Takes a situation, candidates and measured claims; gives a :class:`Decision`. Writes no sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import Enum
from math import log2
from typing import Final

from attrs import evolve, field, frozen

from airtoll.advising.candidates import Candidates, why_unknown
from airtoll.advising.limits import Checked, Limit, Rule, checked
from airtoll.advising.measure import ASSOCIATED, WAKING, Measures, Sensing, Walked
from airtoll.advising.situation import CHAIN, Situation
from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.answer import Answered, Compare, Gain, Layered, Margin, Possible, Verdict, gained
from airtoll.network.changing import Changed
from airtoll.observe.spoken import spoken
from airtoll.policies import Policy, resolve
from airtoll.policies.standing import needs_8021x, strength
from airtoll.profiles import load
from airtoll.question import Arm
from airtoll.testbeds.daily import unpriced_operations

#: Metrics of which a stronger policy may cost a stated share.
_BORNE: Final = (THROUGHPUT, "battery_days")
#: Time for which hostapd keeps a PMKSA (`dot11RSNAConfigPMKLifetime`, pmksa_cache_auth.c), s.
_HOSTAPD_KEEPS_S: Final = 43_200.0
#: Metrics of which the access point's computing time in a join is a part.
_JOINS: Final = ("negotiation_time_s", "handover_join_s", "join_all_time_s")
#: Place whose access point has the profile of a PC unless one is named.
_CURVES: Final = "-scalar-mul"
_PRICED: Final = "office-walk"
_NO_VALUE: Final = (Verdict.UNMEASURED, Verdict.UNSETTLED)


class Choice(Enum):
    """Kinds of decisions."""

    KEEP = "keep"
    CHANGE = "change"
    #: The present policy must go, and no candidate can be recommended.
    NONE = "none"
    #: A candidate is stronger, and its cost was not measured.
    UNKNOWN = "unknown"


@frozen
class Outcome:
    """One measured candidate: its claims, by question, and the security that it adds.

    ``bears``: throughput does not fall noticeably, or not beyond the limit. ``stronger``: than the
    policy that one has. ``unpriced``: claims about joins with the part that no profile prices.
    """

    policy: str
    claims: tuple[Compare, ...]
    gain: Gain
    stronger: bool
    bears: bool
    unpriced: tuple[tuple[Compare, str], ...] = ()

    def unknown_part(self, claim: Compare) -> str:
        """The part of a change that no profile prices; empty where all of it is known."""
        return next((part for one, part in self.unpriced if one is claim), "")


@frozen
class Kept:
    """A sensor with a kept PMK. ``days``: its battery lasts. ``days_with_hostapd``: the same with a
    whole join at the end of each lifetime of a PMKSA in hostapd; None where such a join is unknown.
    """

    policy: str
    days: Estimate
    days_with_hostapd: float | None


@frozen
class Life:
    """Days of a sensor's battery under one policy, by its way of life."""

    policy: str
    waking: Estimate
    associated: Estimate


@frozen
class Storm:
    """RADIUS requests of a join after a power cut. ``needed``: without loss. ``sent``: with those
    that an access point sends again, a mean. ``relieved``: option -> the time until every client
    has joined with it, s, and the requests of its join.
    """

    needed: int
    sent: float
    relieved: tuple[tuple[str, Estimate, int], ...] = ()


@frozen
class Decision:
    """``to``: the policy to change to. ``outcomes``: all measured candidates, best first.

    ``impossible``: cannot be had, ``too_slow`` of them because the RADIUS server is, the strongest
    first; ``unknown``: a cost that no profile knows; ``unmet``: lacks a
    need. ``layered``: a tunnel over the link, None where it was not measured. ``life``: of a sensor
    under the policy that it has afterwards. ``kept``: the same with a kept PMK, by policy.
    ``slow``: what was measured of those that are ``too_slow``. ``asked``: the only candidate that
    the question is about, ``asked_as`` its name there. ``second``: throughput with a second SSID
    for devices that stay out.
    ``changed``: the file of the network with ``to``, None where it is not written.
    ``elsewhere``: the addition of the same tunnel with its other far end, None where one was said.
    ``scanned``: the interruption of a hand-over with a scan under the policy afterwards, s.
    ``lost``: packets that a call loses in a hand-over, by policy. ``storm``: of the policy to
    change to. ``if_associated`` and ``if_kept``: the one to change to if a sensor stays associated,
    or keeps its PMK, where it should change in this case alone. ``limits``: those that were asked
    for, under each policy. ``sensing``: what is beside the days of a sensor.
    ``walked``: the hand-over without 802.11r, by policy with it, where all of it has a price.
    """

    situation: Situation
    choice: Choice
    to: Outcome | None
    outcomes: tuple[Outcome, ...]
    impossible: tuple[Possible, ...]
    unknown: tuple[Possible, ...]
    unmet: tuple[Possible, ...]
    answers: tuple[Answered, ...]
    setting: str
    layered: Layered | None = None
    tunnel_unknown: Possible | None = None
    margin: Margin | None = None
    most_loss: float = 0.0
    if_associated: Outcome | None = None
    if_kept: Kept | None = None
    too_slow: tuple[str, ...] = ()
    kept: tuple[Kept, ...] = ()
    life: Life | None = None
    scanned: Estimate | None = None
    elsewhere: Compare | None = None
    changed: Changed | None = None
    slow: tuple[Outcome, ...] = ()
    asked: str | None = None
    asked_as: str = ""
    second: Compare | None = None
    lost: Mapping[str, float] = field(factory=dict)
    storm: Storm | None = None
    limits: tuple[Checked, ...] = ()
    walked: Mapping[str, Walked] = field(factory=dict)
    sensing: Sensing | None = None

    def keeps(self, policy: str) -> bool:
        """Whether a policy keeps all limits that were asked for."""
        return _keeps(self.limits, policy)

    @property
    def about(self) -> Outcome | None:
        """The outcome to describe: of the candidate that is asked about, else of ``to``."""
        if self.asked is None:
            return self.to if self.choice is Choice.CHANGE else None
        measured = (*self.outcomes, *self.slow)
        return next((one for one in measured if one.policy == self.asked), None)

    @property
    def policy(self) -> str | None:
        """The policy that is recommended; None where there is none."""
        if self.choice is Choice.CHANGE and self.to is not None:
            return self.to.policy
        return self.situation.have if self.choice is Choice.KEEP else None


def decide(
    situation: Situation,
    found: Candidates,
    measures: Measures,
    *,
    most_loss: float,
    layered: Layered | None,
    tunnel_unknown: Possible | None,
    limits: Sequence[Limit] = (),
) -> Decision:
    """The strongest candidate that costs no more throughput than ``most_loss``, a share.

    Among equally strong ones, the one with the fewest and smallest noticed costs. A broken policy
    and an open network go at any cost. A candidate keeps all ``limits``; where the present policy
    does not, one that is as strong will do.
    """
    have = resolve(situation.have)
    # Without any protection, or with a broken one, no cost is a reason to stay.
    must_go = bool(have.broken) or have.is_baseline
    skipped = {
        str(one.arm["policy"]): one for answered in measures.answers for one in answered.impossible
    }
    impossible = [*found.impossible, *map(_plain, skipped.values())]
    outcomes, unknown = [], list(found.unknown)
    too_slow: list[str] = []
    slow: list[Outcome] = []
    for name in found.measured:
        if name in skipped:
            continue
        claims = tuple(
            _of_policies(claim)
            for answered in measures.answers
            for claim in answered.compares
            if claim.to["policy"] == name and claim.have["policy"] == have.name
        )
        policy = resolve(name)
        pmf = None if situation.network is None else situation.network.pmf
        missing = next((c for c in claims if c.verdict in _NO_VALUE), None)
        if missing is not None and missing.fails:
            too_slow.append(name)
            impossible.append(Possible(Arm((("policy", name),)), fails(situation), ()))
            # Throughput and hand-overs do not depend on the server.
            rest = tuple(c for c in claims if c.verdict not in _NO_VALUE)
            slow.append(Outcome(name, rest, gained(have, policy, pmf), stronger=False, bears=False))
            continue
        if missing is not None or not claims:
            reason = missing.reason if missing is not None else "no trial measured it"
            unknown.append(Possible(Arm((("policy", name),)), reason, ()))
            continue
        outcomes.append(
            Outcome(
                name,
                claims,
                gained(have, policy, pmf),
                stronger=bool(have.broken) or strength(policy) > strength(have),
                bears=must_go or _bears(claims, most_loss),
                unpriced=tuple(
                    (claim, part)
                    for claim in claims
                    if (part := unpriced_join(situation, claim, (have, policy)))
                ),
            )
        )
    outcomes.sort(key=_rank)
    rules = checked(limits, have.name, outcomes)
    kept = _kept(situation, measures)
    misses = bool(rules) and not _keeps(rules, have.name)
    best = next(
        (
            one
            for one in outcomes
            if (one.stronger or (misses and _is_as_strong(one.policy, have)))
            and one.bears
            and _keeps(rules, one.policy)
        ),
        None,
    )
    must_go |= misses
    must_go |= any(str(have.name) == str(one.arm["policy"]) for one in impossible)
    if best is not None:
        choice = Choice.CHANGE
    elif unknown and not outcomes:
        choice = Choice.UNKNOWN
    elif must_go:
        choice = Choice.NONE
    else:
        choice = Choice.KEEP
    return Decision(
        situation=situation,
        choice=choice,
        to=best,
        outcomes=tuple(outcomes),
        impossible=tuple(impossible),
        unknown=tuple(unknown),
        unmet=found.unmet,
        answers=measures.answers,
        setting=measures.setting,
        layered=layered,
        tunnel_unknown=tunnel_unknown,
        most_loss=most_loss,
        if_associated=None if best is not None else _if_associated(have, outcomes, most_loss),
        limits=rules,
        if_kept=None if best is not None else _if_kept(have, outcomes, kept, most_loss),
        kept=kept,
        slow=tuple(slow),
        life=_life(measures, have.name if best is None else best.policy),
        sensing=measures.sensing,
        walked={
            policy: walked
            for policy, walked in measures.walked.items()
            if not unpriced_join(situation, walked.claim, (have, resolve(walked.policy)))
        },
        too_slow=tuple(sorted(too_slow, key=lambda name: strength(resolve(name)), reverse=True)),
    )


def _keeps(rules: Sequence[Checked], policy: str) -> bool:
    return all(one.rule is Rule.MET for one in rules if one.policy == policy)


def _is_as_strong(policy: str, have: Policy) -> bool:
    return strength(resolve(policy)) >= strength(have)


def unpriced_join(situation: Situation, claim: Compare, policies: Sequence[Policy]) -> str:
    """The access point's part of a join that no profile prices; empty where there is none."""
    if claim.metric not in _JOINS or situation.place == "sensor":
        return ""
    if situation.profile is None and _scenario(claim) == _PRICED:
        return ""
    profile = load(situation.profile) if situation.profile is not None else None
    if profile is not None and profile.clock_hz.value == 0:
        profile = None
    exchanges = [
        "SAE" if policy.link.akm is not None and policy.link.akm.is_sae else "OWE"
        for policy in policies
        # The curve decides: the powers of SAE beside it take a sixth of the time (esp32-c3).
        if any(name.endswith(_CURVES) for name in unpriced_operations(policy, profile))
    ]
    if situation.multiplication_ms is not None:
        # A multiplication is the one price of both that profiles lack.
        return ""
    if not exchanges:
        return ""
    return f"the access point's time for {' and '.join(dict.fromkeys(exchanges))}"


def _days(measures: Measures, policy: str, scenario: str) -> Estimate | None:
    """Days of a sensor's battery under a policy, None where nothing measured them."""
    claims = [
        claim
        for answered in measures.answers
        for claim in answered.compares
        if _scenario(claim) == scenario and claim.verdict not in _NO_VALUE
    ]
    found = [claim.before for claim in claims if claim.have["policy"] == policy]
    found += [claim.after for claim in claims if claim.to["policy"] == policy]
    return next((days for days in found if days is not None), measures.alone.get(scenario))


def _life(measures: Measures, policy: str) -> Life | None:
    waking = _days(measures, policy, WAKING)
    associated = _days(measures, policy, ASSOCIATED)
    return None if waking is None or associated is None else Life(policy, waking, associated)


def _kept(situation: Situation, measures: Measures) -> tuple[Kept, ...]:
    # The energy of a day is a sum over its joins, so that days add up by their inverse.
    whole = min(1.0, situation.every_s / _HOSTAPD_KEEPS_S)
    found = []
    for policy, days in measures.kept.items():
        without = _days(measures, policy, WAKING)
        mixed = None
        if without is not None:
            mixed = 1 / ((1 - whole) / days.value + whole / without.value)
        found.append(Kept(policy, days, mixed))
    return tuple(found)


def fails(situation: Situation) -> str:
    """The reason for which the clients of an office do not come back."""
    share = situation.requests_per_s / situation.access_points
    cures = ["a faster server (--requests)"]
    cures += ["smaller certificates (--chain p256)"] if situation.chain == CHAIN else []
    cures += [] if situation.tls_resumption else ["kept TLS sessions (--tls-resumption)"]
    *first, last = cures
    needed = f"{', '.join(first)} or {last} are needed" if first else f"{last} is needed"
    return (
        f"after a power cut not every client joins at {share:.4g} RADIUS requests/s for each "
        f"access point, where a client tries once; {needed}"
    )


def _plain(claim: Possible) -> Possible:
    """The same of the policy alone, without the levels that go with it."""
    return Possible(Arm((("policy", claim.arm["policy"]),)), claim.reason, ())


def _of_policies(claim: Compare) -> Compare:
    """The same claim between two policies, without the levels that go with them."""
    have, to = (Arm((("policy", arm["policy"]),)) for arm in (claim.have, claim.to))
    return evolve(claim, have=have, to=to)


def _bears(claims: Sequence[Compare], most_loss: float) -> bool:
    for claim in claims:
        if claim.metric not in _BORNE or claim.change is None:
            continue
        if claim.verdict is Verdict.UNNOTICED:
            continue
        if -claim.change.value > most_loss:
            return False
    return True


def _if_associated(have: Policy, outcomes: Sequence[Outcome], most_loss: float) -> Outcome | None:
    """The best stronger policy for a station that stays associated, with the credentials of today
    if there is one.
    """
    found = [
        one
        for one in outcomes
        if one.stronger
        and (claims := [c for c in one.claims if _scenario(c) == ASSOCIATED])
        and _bears(claims, most_loss)
    ]
    alike = [one for one in found if needs_8021x(resolve(one.policy)) is needs_8021x(have)]
    return next(iter((*alike, *found)), None)


def _if_kept(
    have: Policy, outcomes: Sequence[Outcome], kept: Sequence[Kept], most_loss: float
) -> Kept | None:
    """The best stronger policy for a sensor that keeps its PMK: its days, with a whole join after
    each lifetime of a PMKSA, are within the limit of those that the sensor has today.
    """
    days = {one.policy: one for one in kept}
    found = []
    for outcome in outcomes:
        own = days.get(outcome.policy)
        today = next((c.before for c in outcome.claims if _scenario(c) == WAKING), None)
        if own is None or own.days_with_hostapd is None or today is None or not outcome.stronger:
            continue
        if own.days_with_hostapd >= (1 - most_loss) * today.value:
            found.append(own)
    alike = [one for one in found if needs_8021x(resolve(one.policy)) is needs_8021x(have)]
    return next(iter((*alike, *found)), None)


def _scenario(claim: Compare) -> str:
    return str(dict(claim.place.levels).get("scenario", ""))


def _rank(outcome: Outcome) -> tuple[object, ...]:
    stronger = tuple(-part for part in strength(resolve(outcome.policy)))
    costs = _doublings(outcome, Verdict.COSTS)
    gains = _doublings(outcome, Verdict.GAINS)
    return (not outcome.bears, stronger, len(costs), sum(costs), -sum(gains), outcome.policy)


def _doublings(outcome: Outcome, verdict: Verdict) -> list[int]:
    """Sizes of the changes with a verdict, each in doublings of the least one that is noticed.

    Whole doublings: changes of two policies that differ by chance alone have the same size, and
    changes of metrics with other units can be added.
    """
    found = []
    for claim in outcome.claims:
        if claim.verdict is verdict and claim.change is not None:
            # The least change of a number that has no limit is one.
            limit = spoken(claim.metric).unnoticed or 1.0
            times = abs(claim.change.value) / limit
            found.append(int(log2(max(times, 1.0))))
    return found


def why_tunnel_unknown(situation: Situation, policy: str) -> Possible | None:
    """The reason for which the cost of a tunnel on the access point is unknown."""
    reason = why_unknown(situation, resolve(policy))
    return None if reason is None else Possible(Arm((("policy", policy),)), reason, ())
