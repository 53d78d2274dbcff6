"""A decision in words: one screen, as sections of sentences for terminal, page and JSON.

Takes a :class:`Decision`; gives a :class:`Screen`. Sentences about claims are those of
``airtoll.present.words``.
"""

from __future__ import annotations

import math
import shlex
from collections.abc import Sequence
from typing import Final

from attrs import frozen

from airtoll.advising.candidates import lacking
from airtoll.advising.decision import Choice, Decision, Outcome, Storm, fails
from airtoll.advising.limits import Checked, Limit, Rule
from airtoll.advising.measure import (
    ASSOCIATED,
    WAKING,
    Walked,
    band_scanned,
    booting,
    link_options,
    measured_parts,
    radio_taken,
    spread_s,
    storm,
    unscanned,
)
from airtoll.advising.places import tls_of, traffic_of
from airtoll.advising.sensor import every_in_words
from airtoll.advising.situation import Situation, place_of, usual
from airtoll.analyse import Estimate
from airtoll.analyse.analysis import THROUGHPUT
from airtoll.answer import Compare, Held, Verdict
from airtoll.errors import PolicyError
from airtoll.network import Network
from airtoll.network.changing import Change
from airtoll.observe.metrics import quantity
from airtoll.observe.spoken import NOTHING_NOTICED, spoken
from airtoll.policies import Cipher, resolve
from airtoll.policies.written import generations
from airtoll.present.digits import at_most, exact, packets, plain, plain_percent, shown
from airtoll.present.names import Names, policy_name
from airtoll.present.words import Teller
from airtoll.profiles import load
from airtoll.study.generations import GENERATIONS
from airtoll.study.handover import SWEEPS, Scan

#: Lines of settings that are named.
_MOST_NAMED: Final = 5
#: Scenario of a sensor -> its way of life.
_LIVES: Final = {
    WAKING: "if it joins for every message",
    ASSOCIATED: "if it stays associated",
}
_BATTERY: Final = "battery_days"
#: Hours of a day.
_HOURS: Final = 24
_HANDOVERS: Final = ("handover_join_s",)
#: Requests that are sent again, as a share of those without loss, from which on they are told.
_AGAIN: Final = 0.05


#: The way to the part of a join that no profile has.
_MEASURES: Final = (
    "`airtoll doctor --radio --host root@ROUTER` measures a multiplication, --multiplication-ms "
    "takes it"
)
#: The error of a throughput of TCP: tests/validation/tcp/rates.json beside the model.
TCP_ERROR: Final = (
    "The model's TCP carries 0.9 to 8.1 % more than Linux did in eight recorded tests "
    "(docs/reference/validation.md)."
)
#: The error of UDP: tools/real_devices.py.
_UDP_ERROR: Final = (
    "UDP throughput differs from that of six chips by 2.7 % in the median "
    "(docs/reference/real-devices.md)"
)
#: Printed beside simulated: docs/studies/roaming.md, "Published measurements".
_HANDOVER_ERROR: Final = (
    "a hand-over is a lower bound without the device's own time (802.11r on an iPad: 8.5 ms, here "
    "1.6 ms; docs/studies/roaming.md)"
)
#: The error of joins: benchmarks/join_storm.toml in the simulator and with real programs.
_JOIN_LATER: Final = "47 to 84 ms"
JOIN_ERROR: Final = (
    f"With real programs nine clients that joined at once took {_JOIN_LATER} longer each, and "
    "EAP-TLS took 7 requests for 6; the queue of a RADIUS server was compared with no real one "
    "(docs/guides/enterprise.md)."
)


@frozen
class Section:
    """A heading and its sentences; without a heading, the rest of the answer.

    ``brief``: the sentences that a terminal shows unasked; None: all.
    """

    title: str
    lines: tuple[str, ...]
    brief: tuple[str, ...] | None = None

    @property
    def shown(self) -> tuple[str, ...]:
        """The sentences that a terminal shows unasked."""
        return self.lines if self.brief is None else self.brief


@frozen
class Screen:
    """The answer, and what it rests on.

    ``way``, ``clauses`` and ``end``: the parts of an answer about a change: from what to what, what
    changes, and the verdict. Without clauses ``answer`` is whole.
    """

    answer: str
    sections: tuple[Section, ...]
    way: str = ""
    clauses: tuple[str, ...] = ()
    end: str = ""


def screen(decision: Decision, names: Names) -> Screen:
    """The words for a decision."""
    teller = Teller(names, _throughput(decision.situation))
    of_tunnel = decision.asked is not None and bool(resolve(decision.asked).tunnels)
    sections = [
        Section("", _verdict(decision, teller)),
        Section("Your limits", _limits(decision, teller)),
        Section("You have", _understood(decision.situation)),
        *_chosen(decision, teller),
        Section("The days", _of_days(decision, names)),
        Section("A kept PMK", _kept(decision, names)),
        Section("With a faster RADIUS server", _slow(decision, teller), ()),
        Section("The RADIUS server", teller.margin(decision.margin) if decision.margin else ()),
        Section("WireGuard over it", _tunnel(decision, teller), None if of_tunnel else ()),
        Section("Other choices", _others(decision, teller), ()),
        Section(
            "Not for you",
            (
                *teller.impossible(decision.impossible),
                *teller.unmet(decision.unmet),
                *teller.unknown(decision.unknown),
            ),
        ),
        Section("Assumed", _assumed(decision), _taken(decision)),
        Section("", *_slower(decision)),
    ]
    life = _life(decision, names)
    answer, way, end = _answer(decision), "", ""
    clauses: tuple[str, ...] = ()
    if decision.asked is not None:
        way, clauses, end = _asked(decision, teller)
    elif decision.choice is Choice.CHANGE and decision.to:
        way = f"{answer.removesuffix('.')}{_beside(decision.situation)}"
        clauses = _headline(decision.to, decision, teller)
    if way:
        told = f": {'; '.join(clauses)}" if clauses else ""
        answer = " ".join(one for one in (f"{way}{told}.", end) if one)
    if life:
        # An answer by cases needs the numbers first.
        numbers_first = decision.choice is Choice.KEEP and not way
        answer = f"{life} {answer}" if numbers_first else f"{answer} {life}"
    return Screen(answer, tuple(one for one in sections if one.lines), way, clauses, end)


def _throughput(situation: Situation) -> str:
    """``TCP download throughput``: of the traffic of a place's first question, and of an office
    whose it is.
    """
    traffic = traffic_of(measured_parts(situation)[0].traffic)
    way = {"down": "download ", "up": "upload "}.get(str(traffic["direction"]), "")
    return f"{str(traffic['transport']).upper()} {way}throughput{_whose(situation)}"


def _whose(situation: Situation) -> str:
    return " of an access point" if situation.place == "office" else ""


def _limits(decision: Decision, teller: Teller) -> tuple[str, ...]:
    """Each limit with the policies that keep it and those that do not, with their values."""
    by_limit: dict[Limit, list[Checked]] = {}
    for one in decision.limits:
        by_limit.setdefault(one.limit, []).append(one)
    lines = []
    for limit, found in by_limit.items():
        of = teller.throughput if limit.least else spoken(limit.metric).words
        ends = "at least" if limit.least else "at most"
        unit = quantity(limit.metric).unit
        asked = f"{ends} {exact(limit.value, unit, is_percent=False)} ({limit.option})"
        told = []
        for rule in Rule:
            if all(one.rule is rule for one in found):
                told = [f"{rule.value} by all {len(found)} policies"]
                break
            those = [
                f"{policy_name(one.policy).replace(', ', ' ')}"
                f"{' (which you have)' if one.policy == decision.situation.have else ''}"
                f"{'' if one.value is None else ' ' + shown(one.value)}"
                for one in found
                if one.rule is rule
            ]
            told += [f"{rule.value}: {', '.join(those)}"] if those else []
        lines.append(f"{_sentence(of)}, {asked}: {'; '.join(told)}.")
    return tuple(lines)


def _headline(outcome: Outcome, decision: Decision, teller: Teller) -> tuple[str, ...]:
    """The costs of a change that anyone would notice, and what does not change; of a home the
    throughput, with its value.
    """
    if decision.situation.place == "home":
        return (_told(outcome.claims[0], teller, outcome),)
    noticed = [
        one
        for one in outcome.claims
        if one.verdict is not Verdict.UNNOTICED or outcome.unknown_part(one)
    ]
    loud = {teller.metric(one) for one in noticed}
    quiet: dict[str, str] = {}
    for one in outcome.claims:
        if one not in noticed:
            metric = teller.metric(one)
            # A change may be real and below what anyone notices: the body gives both values.
            changes = teller.change(one).startswith(f"{metric} changes ")
            quiet[f"{metric}{_life_of(one) if metric in loud else ''}"] = (
                f"change{{}} by {NOTHING_NOTICED}" if changes else "stay{} as today"
            )
    found = [_told(one, teller, outcome) for one in noticed]
    for verb in dict.fromkeys(quiet.values()):
        those = [one for one, own in quiet.items() if own == verb]
        found.append(f"{_listed(those)} {verb.format('' if len(those) > 1 else 's')}")
    return tuple(found)


def _beside(situation: Situation) -> str:
    """``, beside 3 neighbours at -70 dBm``; empty where nothing is said of any."""
    return "" if situation.neighbours is None else f", {situation.neighbours.beside}"


def _asked(decision: Decision, teller: Teller) -> tuple[str, tuple[str, ...], str]:
    """The change to the one candidate of the question, its clauses, and whether to make it."""
    asked = str(decision.asked)
    have = decision.situation.have
    way = f"From {policy_name(have)} ({have}) to {policy_name(asked)} ({asked})"
    way += _beside(decision.situation)
    if asked == resolve(have).name:
        return f"{policy_name(asked)} ({asked}) is what you have", (), ""
    slow = any(one.policy == asked for one in decision.slow)
    reasons = (*decision.impossible, *decision.unmet, *decision.unknown)
    reason = next((one.reason for one in reasons if one.arm["policy"] == asked), None)
    about = decision.about
    if about is None:
        known = any(one.arm["policy"] == asked for one in decision.unknown)
        cannot = "the cost is unknown" if known else "it cannot be had here"
        return way, (f"{cannot}: {reason}",), ""
    told = _headline(about, decision, teller) if about.claims else ()
    if slow:
        return way, (*told, str(reason)), "Not with this RADIUS server."
    if decision.choice is Choice.CHANGE:
        return way, told, "Change."
    of = _limited(decision)
    if not decision.keeps(asked):
        # The policy that one has is no better for that.
        own = "Keep what you have" if decision.keeps(have) else "Look for another one"
        return way, told, f"{own}: it does not keep your limits."
    why = f"it costs more than {of} (--max-overhead)" if about.stronger else "it is no stronger"
    return way, told, f"Keep what you have: {why}."


def _slow(decision: Decision, teller: Teller) -> tuple[str, ...]:
    """The questions that do not depend on the server, of candidates that it is too slow for."""
    lines = []
    for outcome in decision.slow:
        if not outcome.claims or outcome is decision.about:
            continue
        told = "; ".join(_told(claim, teller, outcome) for claim in outcome.claims)
        name = policy_name(outcome.policy).replace(", ", " ")
        lines.append(f"{name}: {told}; after a power cut not every client joins.")
    return tuple(lines)


def _verdict(decision: Decision, teller: Teller) -> tuple[str, ...]:
    """Further reasons of a decision, a line each: a tunnel to both ends of a home, the devices
    that a change shuts out, or the reason for which nothing changes.
    """
    ends = _both_ends(decision, teller) if decision.situation.place == "home" else ()
    changes = decision.choice is Choice.CHANGE or decision.asked is not None
    why = () if changes else _not_taken(decision)
    return (*_generation(decision), *ends, *_out(decision, teller), *why)


def _generation(decision: Decision) -> tuple[str, ...]:
    """The generation that was taken where the question names none, and the newer one."""
    asked = decision.asked
    if asked is None or not asked.startswith("wpa2-") or generations(decision.asked_as.lower()):
        return ()
    try:
        newer = resolve(f"wpa3{asked.removeprefix('wpa2')}").name
    except PolicyError:
        return ()
    return (
        f"{decision.asked_as} is taken as {policy_name(asked)} ({asked}); WPA3 has it, too: "
        f"--to {newer}.",
    )


def _both_ends(decision: Decision, teller: Teller) -> tuple[str, ...]:
    situation, found, other = decision.situation, decision.layered, decision.elsewhere
    if found is None or found.added.change is None:
        return ()
    far = f"a server beyond the {situation.router}"
    ends = [f"the {situation.router}", far]
    if situation.tunnel_end == "server":
        ends.reverse()
    words = f"WireGuard to {ends[0]}: {teller.change_of(found.added)}"
    if other is not None:
        words += f"; to {ends[1]}: {teller.change_of(other)}"
    # A tunnel of the router takes from its CPU what the router's end of a station's tunnel takes.
    held = found if situation.tunnel_end == "access-point" else None
    busy = held is not None and held.limit is not None and held.limit.held is Held.CPU
    much = "about" if busy else "at most"
    router = situation.router
    words += (
        f". A tunnel of the {router} itself to a VPN provider costs {much} as much as one from the "
        f"station to the {router}"
    )
    if busy and situation.profile is not None:
        words += f": its CPU ({situation.profile}) limits both, not the air"
    gains = "It adds services on the air" if found.services else "It adds nothing on the air"
    only = "the one to a server protects"
    if other is None:
        only = "it protects" if situation.tunnel_end == "server" else "it does not protect"
    return (f"{words}. {gains}; {only} the way beyond the {situation.router}.",)


def _out(decision: Decision, teller: Teller) -> tuple[str, ...]:
    """The devices that a change shuts out, on which radios, and the radio that was measured."""
    situation, to = decision.situation, decision.about
    if to is None or not to.gain.excludes:
        return ()
    words = f"Devices without {policy_name(to.policy).partition(',')[0]} stay out"
    network = situation.network
    if network is not None:
        same = [one.band for one in situation.beside if one.name == network.name]
        bands = [band for band in dict.fromkeys((network.band, *same)) if band]
        if len(bands) > 1:
            words += f" on {_listed([f'{band} GHz' for band in bands])}"
            words += f" (figures: {bands[0]} GHz; --band {bands[1]} for the other)"
    if to.gain.bridge:
        words += f"; {to.gain.bridge} lets them in"
    return (f"{words}.", *_second(decision, teller))


def _second(decision: Decision, teller: Teller) -> tuple[str, ...]:
    """A second SSID for the devices that stay out, and the airtime of its beacons."""
    to = decision.about
    if decision.second is None or to is None:
        return ()
    situation, have = decision.situation, decision.situation.have
    program = _program(situation)
    # A file of a station has no SSIDs of an access point.
    heard = situation.neighbours
    alone = " without the neighbours" if heard is not None and heard.networks else ""
    of_station = program in ("", "--wpa-supplicant")
    where = _openwrt(situation) if of_station else program
    if decision.changed is not None and not of_station:
        where = _file(situation)
    # The other figures of a link at home are those of TCP.
    # In an office without neighbours it is the figure of the first question.
    same = next((one for one in to.claims if one.metric == THROUGHPUT), None)
    same = None if alone or situation.place != "office" else same
    told = _by_beacons(decision.second, f"UDP download throughput{_whose(situation)}{alone}", same)
    return (
        f"Or leave them a second SSID with {policy_name(have)} ({have}): by its beacons {told}. "
        f"`airtoll policies show {to.policy} {where} --second-ssid {have}` prints both.",
    )


def _by_beacons(claim: Compare, throughput: str, told: Compare | None) -> str:
    """The change from one SSID to two, with both values also where it goes unnoticed.

    ``told``: the throughput with one SSID that the answer has already; the change of the pairs of
    trials, a share, holds for it.
    """
    change, before, after = claim.change, claim.before, claim.after
    unnoticed = claim.verdict is Verdict.UNNOTICED
    if not unnoticed or not change or not change.value or before is None or after is None:
        return Teller(Names(()), throughput).change(claim)
    ends = before.value, after.value
    if told is not None and told.after is not None and claim.is_share:
        value = told.before.value if told.same_frames and told.before else told.after.value
        ends = value, value * (1 + change.value)
    first, second = (plain(one, before.unit) for one in ends)
    number, _, unit = first.partition(" ")
    number = number if second.endswith(f" {unit}") else first
    said = f"stays {first}" if first == second else f"changes from {number} to {second}"
    bound = max(abs(change.low), abs(change.high)) if change.has_interval else abs(change.value)
    most = at_most(bound, change.unit, is_share=claim.is_share)
    return f"{throughput} {said} (a change of {most}: {NOTHING_NOTICED})"


def _answer(decision: Decision) -> str:
    have = policy_name(decision.situation.have)
    if decision.choice is Choice.CHANGE and decision.to is not None:
        return f"Change to {policy_name(decision.to.policy)} ({decision.to.policy})."
    if decision.choice is Choice.NONE and not decision.keeps(decision.situation.have):
        return f"No policy here keeps all of your limits, {have} neither."
    if decision.choice is Choice.NONE:
        return f"Leave {have}, but no candidate can be recommended here."
    if decision.choice is Choice.UNKNOWN:
        return f"No answer: nothing that is stronger than {have} could be measured here."
    keep = f"Keep {have} ({decision.situation.have})"
    cases: dict[str, list[str]] = {}
    if decision.if_kept is not None:
        cases.setdefault(decision.if_kept.policy, []).append("if both sides keep the PMK")
    if decision.if_associated is not None:
        cases.setdefault(decision.if_associated.policy, []).append(_LIVES[ASSOCIATED])
    if not cases:
        return f"{keep}."
    whole = " and keeps no PMK" if decision.if_kept is not None else ""
    told = [f"{' or '.join(of)}, change to {policy_name(to)} ({to})" for to, of in cases.items()]
    return f"{keep} {_LIVES[WAKING]}{whole}; {'; '.join(told)}."


def _life(decision: Decision, names: Names) -> str:
    """The battery, the interval and the way of life that lasts longer, in one sentence."""
    life = decision.life
    if life is None:
        return ""
    waking, associated = (plain(one.value, "d") for one in (life.waking, life.associated))
    longer = "joining for every message lasts longer"
    if plain(life.waking.value, "d") == plain(life.associated.value, "d"):
        longer = "both last as long"
    elif life.waking.value < life.associated.value:
        longer = "staying associated lasts longer"
    situation = decision.situation
    taken = [one for one in ("--battery", "--every") if f"({one})" in " ".join(situation.assumed)]
    assumed = f" ({' and '.join(taken)} not said, so assumed)" if taken else ""
    other = _beside_today(decision)
    instead = ["", ""]
    if other is not None:
        days = [_days_of(other, scenario) for scenario in (WAKING, ASSOCIATED)]
        told = ["" if one is None else plain(one.value, "d") for one in days]
        instead = [
            one and f" ({'the same' if one == own else one} with {names.spoken(other.policy)})"
            for one, own in zip(told, (waking, associated), strict=True)
        ]
    return (
        f"With {names.spoken(life.policy)} a battery of {situation.battery.words} lasts at most "
        f"{waking}{instead[0]} with a join and a message {every_in_words(situation.every_s)}"
        f"{assumed}, and {associated}{instead[1]} if the station stays associated: {longer}."
    )


def _beside_today(decision: Decision) -> Outcome | None:
    """The candidate whose days are told beside those of today: of the cases in which it is to be
    taken, else the best; None where the answer tells them already.
    """
    if decision.asked is not None or decision.choice is Choice.CHANGE:
        return None
    if decision.if_kept is not None:
        return next(one for one in decision.outcomes if one.policy == decision.if_kept.policy)
    return decision.if_associated or next(iter(decision.outcomes), None)


def _days_of(outcome: Outcome, scenario: str) -> Estimate | None:
    """Days of a battery under a candidate in a way of life."""
    found = (
        one.after
        for one in outcome.claims
        if one.metric == _BATTERY and dict(one.place.levels).get("scenario") == scenario
    )
    return next(found, None)


def _of_days(decision: Decision, names: Names) -> tuple[str, ...]:
    """Suppositions of the days, the reasons for their differences, and omissions."""
    sensing = decision.sensing
    if sensing is None:
        return ()
    lines = []
    if sensing.mapped:
        days = [(one.value, policy) for policy, one in sensing.mapped.items()]
        lines.append(
            "The station keeps the key that it computed from its passphrase, in flash or RTC "
            f"memory. Computing it at each join (PBKDF2) leaves {_by_days(days, names)}; ESP-IDF "
            "did so where threshold.authmode is not set (github.com/espressif/esp-idf, issue "
            "10214)."
        )
    joins = sorted(sensing.joins.items(), key=lambda one: one[1].energy_j)
    by_join: dict[str, list[str]] = {}
    for policy, join in joins:
        told = f"{plain(join.time_s, 's')} and {plain(join.energy_j, 'J')}"
        if join.computing_s:
            told += f" (its processor computes for {plain(join.computing_s, 's')} of it)"
        by_join.setdefault(told, []).append(names.spoken(policy))
    if by_join:
        told = "; ".join(f"{_listed(of)} {words}" for words, of in by_join.items())
        lines.append(f"A join takes with {told}.")
    lines += _dozing(decision)
    left = _left_out(decision)
    scanned = [(one.value, policy) for policy, one in sensing.scanned.items()]
    with_scan = f", which would leave {_by_days(scanned, names)}" if scanned else ""
    first, *others = left
    lines.append(f"Left out: {'; '.join([f'{first}{with_scan}', *others])}.")
    return tuple(lines)


def _dozing(decision: Decision) -> list[str]:
    """The mean power of both ways of life, beside that of the station's sleep."""
    life, situation = decision.life, decision.situation
    energy = None if situation.profile is None else load(situation.profile).energy
    if life is None or energy is None or energy.doze_w is None or energy.sleep_w is None:
        return []
    joining, staying = (
        plain(situation.battery.wh / (_HOURS * one.value), "W")
        for one in (life.waking, life.associated)
    )
    return [
        f"A station that stays associated draws {staying} in the mean: "
        f"{plain(energy.doze_w.value, 'W')} in light sleep, and the rest while it is awake for "
        f"beacons and messages. One that joins for every message draws {joining}, of which "
        f"{plain(energy.sleep_w.value, 'W')} are of deep sleep."
    ]


def _kept(decision: Decision, names: Names) -> tuple[str, ...]:
    """The days of a battery where a kept PMK spares SAE and EAP."""
    if not decision.kept:
        return ()
    days = _by_days([(one.days.value, one.policy) for one in decision.kept], names)
    renewed = [
        (one.days_with_hostapd, one.policy)
        for one in decision.kept
        if one.days_with_hostapd is not None
    ]
    lines = [
        "With the PMK kept on both sides (by the station over deep sleep, by the access point "
        f"until the next join) there is neither SAE nor EAP: {days}."
    ]
    if renewed:
        line = (
            "hostapd keeps a PMK for 12 hours; with a whole join after each: "
            f"{_by_days(renewed, names)}"
        )
        found = decision.if_kept
        if found is not None and found.days_with_hostapd is not None and decision.life is not None:
            today = decision.life.waking.value
            loss = plain_percent(1 - found.days_with_hostapd / today)
            line += (
                f" ({names.spoken(found.policy)}: {loss} less than the {today:.0f} days of today, "
                f"within {_limited(decision)})"
            )
        lines.append(f"{line}.")
    return tuple(lines)


def _by_days(found: Sequence[tuple[float, str]], names: Names) -> str:
    """``2057 days with WPA3-Personal``, policies with the same days together."""
    by_days: dict[str, list[str]] = {}
    for days, policy in found:
        by_days.setdefault(f"{days:.0f} days", []).append(names.spoken(policy))
    return "; ".join(f"{days} with {_listed(of)}" for days, of in by_days.items())


def _listed(words: Sequence[str]) -> str:
    """``A, B and C``."""
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _understood(situation: Situation) -> tuple[str, ...]:
    network = situation.network
    policy = resolve(situation.have)
    if network is None:
        said = usual(policy.name) not in situation.assumed
        taken = "" if said else ", taken because nothing is said of it (--from POLICY or FILE)"
        lines = [f"{policy_name(policy.name)} ({policy.name}){taken}."]
    else:
        words = [f"{network.name}: {policy_name(policy.name)} ({policy.name})"]
        words += [network.phy] if network.phy else []
        words += [f"channel {network.channel}"] if network.channel else []
        words += [f"{network.band} GHz"] if network.band else []
        words += [f"{network.width_mhz} MHz"] if network.width_mhz else []
        lines = [f"{', '.join(words)}; from {' and '.join(network.formats)}."]
        lines += [f"{_sentence(words)}." for words in network.remarks]
        lines += [f"Contradiction: {words}." for words in network.contradictions]
        lines += _ignored(network)
        if situation.beside:
            others = ", ".join(dict.fromkeys(map(place_of, situation.beside)))
            lines.append(f"Not about the others in the file (--ssid, --band): {others}.")
    lines += [f"Broken: {one.what}." for one in policy.broken]
    return tuple(lines)


def _ignored(network: Network) -> list[str]:
    """The lines of a file that were not understood, without their values."""
    lines = network.not_understood
    if not lines:
        return []
    named = [f"line {one.number} {one.key}" if one.number else one.key for one in lines]
    more = f" and {len(named) - _MOST_NAMED} more" if len(named) > _MOST_NAMED else ""
    return [f"Not understood: {', '.join(named[:_MOST_NAMED])}{more}."]


def _sentence(words: str) -> str:
    return words[:1].upper() + words[1:]


def _chosen(decision: Decision, teller: Teller) -> list[Section]:
    outcome = decision.about
    if outcome is None:
        return []
    costs = [_cost(claim, decision, outcome, teller) for claim in outcome.claims]
    if outcome in decision.slow:
        costs.append(f"{_sentence(fails(decision.situation))}.")
    return [
        Section("It changes", tuple(costs)),
        Section("It gains", (*teller.gain(outcome.gain), *_without_cipher(decision, outcome))),
        Section("How", _how(decision, outcome.policy)),
    ]


def _without_cipher(decision: Decision, outcome: Outcome) -> tuple[str, ...]:
    """The devices that stay out because they lack the cipher."""
    link, own = resolve(outcome.policy).link, resolve(decision.situation.have).link
    cipher = link.cipher
    # Every station with RSN has CCMP-128 (IEEE 802.11-2020, 12.2.4).
    if not link.encrypts_data or cipher in (Cipher.CCMP_128, own.cipher, Cipher.NONE):
        return ()
    name = str(cipher).upper()
    words = f"A device without {name} stays out, too: stations with RSN must have CCMP-128 alone"
    found = lacking(cipher)
    if found:
        words += f"; of the profiles, {_listed(found)} lack{'s' if len(found) == 1 else ''} it"
    return (f"{words}.",)


def _how(decision: Decision, policy: str) -> tuple[str, ...]:
    """The lines of the file to change, or the command that prints the settings of a policy."""
    if decision.changed is not None and (file := _file(decision.situation)):
        changes = map(_line, decision.changed.changes)
        return (*changes, f"`airtoll policies show {policy} {file}` prints the whole file so.")
    return (_printed(decision.situation, policy),)


def _file(situation: Situation) -> str:
    """The options that name the file of the network; empty where there is none."""
    network = situation.network
    if network is None:
        return ""
    several = f" --ssid {shlex.quote(network.name)}" if situation.beside else ""
    return f"--from {shlex.quote(network.sources[0])}{several}"


def _line(change: Change) -> str:
    new, old = (None if one is None else one.strip() for one in (change.new, change.old))
    if old is None:
        return f"After line {change.number}: {new}"
    if new is None:
        return f"Line {change.number}: remove {old}"
    return f"Line {change.number}: {new} (now {old})"


def _program(situation: Situation) -> str:
    """The program that one has, as an option of ``airtoll policies show``; empty where unknown."""
    formats = " ".join(situation.network.formats).lower() if situation.network else ""
    words = ("hostapd", "wpa_supplicant", "openwrt")
    return next((f"--{word.replace('_', '-')}" for word in words if word in formats), "")


def _openwrt(situation: Situation) -> str:
    """The option of OpenWrt's settings, with the radio of the profile."""
    is_router = situation.profile is not None and situation.place != "sensor"
    return f"--openwrt --profile {situation.profile}" if is_router else "--openwrt"


def _printed(situation: Situation, policy: str) -> str:
    """The command that prints the settings of a policy, for the program that one has."""
    program = _program(situation)
    method = resolve(policy).link.eap_method
    # wpa_supplicant takes TLS 1.2 unless it is told otherwise.
    newer = method is not None and method.uses_tls and tls_of(situation) == "1.3"
    station = "--wpa-supplicant --tls 1.3" if newer else "--wpa-supplicant"
    option = program or _openwrt(situation)
    option = station if program == "--wpa-supplicant" else option
    others = "" if program else f", or --hostapd, {station}"
    with_file = " With `--from FILE` it changes your own file." if not program else ""
    what = "the settings of its radio, not those of the tunnel" if "+" in policy else "its settings"
    return f"`airtoll policies show {policy} {option}`{others} prints {what}.{with_file}"


def _cost(claim: Compare, decision: Decision, outcome: Outcome, teller: Teller) -> str:
    """The change of a metric; of joins, the part of the devices is named where it is unknown."""
    words = f"{_sentence(_told(claim, teller, outcome))}."
    if claim.metric in _HANDOVERS and (without := decision.walked.get(outcome.policy)):
        words += f" {_without_fast(without)}"
    if claim.metric in _HANDOVERS and decision.scanned is not None:
        lost = decision.lost.get(outcome.policy)
        words += f" {scan_words(decision.scanned, lost, band_scanned(decision.situation))}"
    if claim.metric == "join_all_time_s":
        words += f" All laptops start within {spread_s():g} s."
        if decision.storm is not None:
            words += f" {_storm(decision.storm, decision.situation)}"
    return words


def _without_fast(walked: Walked) -> str:
    """The interruption of the same policy without 802.11r, from the same run."""
    lost = "" if walked.lost is None else f", in which a call loses {packets(walked.lost)}"
    return (
        f"Without 802.11r the same policy ({walked.policy}) would interrupt for "
        f"{shown(walked.time)}{lost}."
    )


def scan_words(time: Estimate, lost: float | None, band: str) -> str:
    """From where to where an interruption lasts, the packets that a call loses in it, and the
    interruption of a client that scans.
    """
    calls = "" if lost is None else f"; a call (a packet every 20 ms) loses {packets(lost)} in it"
    return (
        "It lasts from leaving the old access point until the client can send by the new one"
        f"{calls}. This holds for a client that knows the new access point from a neighbour list "
        f"(802.11k). One without a list first scans {_swept(band)}, under every policy, and is "
        f"without a link for {shown(time)}."
    )


def _swept(band: str) -> str:
    """``the 11 channels of 2.4 GHz (11 x 30 ms with probe requests)``."""
    sweep = SWEEPS[band]
    each = Scan().min_channel_ms
    told = [f"{sweep.active} x {each:g} ms with probe requests"] if sweep.active else []
    if sweep.passive:
        told.append(f"{sweep.passive} {sweep.why} x {sweep.passive_ms:g} ms of listening")
    return f"the {sweep.active + sweep.passive} channels of {band} GHz ({', '.join(told)})"


def _storm(found: Storm, situation: Situation) -> str:
    """The plain division of requests by the server's rate, and the part that it leaves out."""
    rate, clients = situation.requests_per_s, situation.clients
    plain = clients * found.needed / rate
    again = found.sent - found.needed
    words = (
        f"A join takes {found.needed} RADIUS requests: {clients} x {found.needed} / {rate:g} = "
        f"{plain:.3g} s"
    )
    if again >= _AGAIN * found.needed:
        words += (
            f"; while an access point waits for an answer it repeats its request ({again:.2g} "
            "repeats a join), and the server answers a repeat with what it has worked out already"
        )
    words += "; the rest is the spread of the starts and waits for time-outs."
    if found.relieved:
        cures = [
            f"{shown(time)} with {option} ({requests} requests)"
            for option, time, requests in found.relieved
        ]
        words += f" It would be {_listed(cures)}."
    return words


def _told(claim: Compare, teller: Teller, outcome: Outcome) -> str:
    """The change of a metric, of a sensor with the way of life that it holds for."""
    if part := outcome.unknown_part(claim):
        return f"{teller.partly(claim, part)} ({_MEASURES})"
    lives = _life_of(claim).strip()
    said = teller.change(claim)
    return f"{lives}, {said}" if lives else said


def _life_of(claim: Compare) -> str:
    """`` if it stays associated``: the way of life that a change of a battery holds for."""
    where = dict(claim.place.levels).get("scenario")
    lives = _LIVES.get(str(where), "") if claim.metric == _BATTERY else ""
    return f" {lives}" if lives else ""


def _limited(decision: Decision) -> str:
    """``5 % of throughput``: the largest loss that is borne."""
    of = "battery life" if decision.situation.place == "sensor" else "throughput"
    return f"{100 * decision.most_loss:g} % of {of}"


def _named_with_days(outcome: Outcome) -> str:
    """A policy, of a sensor with the days of its battery where it joins for every message."""
    name = policy_name(outcome.policy).replace(", ", " ")
    for claim in outcome.claims:
        joins = dict(claim.place.levels).get("scenario") == WAKING
        if claim.metric == _BATTERY and joins and claim.after is not None:
            return f"{name} ({shown(claim.after)})"
    return name


def _not_taken(decision: Decision) -> tuple[str, ...]:
    """The reason for which no measured candidate is taken."""
    if not decision.outcomes:
        return ()
    weaker = [one for one in decision.outcomes if not one.stronger]
    dear = [one for one in decision.outcomes if one.stronger and not one.bears]
    beyond = [one for one in decision.outcomes if one.stronger and one.bears]
    have = policy_name(decision.situation.have)
    found = []
    if weaker:
        listed = ", ".join(policy_name(one.policy).replace(", ", " ") for one in weaker)
        found.append(f"No stronger than {have}: {listed}.")
    if dear:
        listed = ", ".join(map(_named_with_days, dear))
        lives = f" {_LIVES[WAKING]}" if decision.if_associated is not None else ""
        of = _limited(decision)
        found.append(f"Stronger, and dearer than {of} (--max-overhead){lives}: {listed}.")
    if beyond and decision.limits:
        listed = ", ".join(policy_name(one.policy).replace(", ", " ") for one in beyond)
        found.append(f"Stronger, and beyond your limits: {listed}.")
    return tuple(found)


def _tunnel(decision: Decision, teller: Teller) -> tuple[str, ...]:
    situation = decision.situation
    beyond, router = situation.tunnel_end == "server", situation.router
    if decision.layered is not None:
        return tuple(teller.layered(decision.layered, beyond=beyond, router=router))
    if decision.tunnel_unknown is not None:
        whole = resolve(str(decision.tunnel_unknown.arm["policy"]))
        link, _, tunnel = whole.name.rpartition("+")
        own = resolve(link).services.names()
        added = [name for name in whole.services.names() if name not in own]
        return (
            *teller.over(link, tunnel, added, beyond=beyond, router=router),
            f"Its cost is unknown: {decision.tunnel_unknown.reason}.",
        )
    return ()


def _others(decision: Decision, teller: Teller) -> tuple[str, ...]:
    """The other measured candidates: their costs that anyone would notice, one line each."""
    others = [one for one in decision.outcomes if one not in (decision.to, decision.about)]
    return tuple(_in_short(one, decision, teller) for one in others)


def _in_short(outcome: Outcome, decision: Decision, teller: Teller) -> str:
    changed = [
        claim
        for claim in outcome.claims
        if not outcome.unknown_part(claim)
        and (
            claim.verdict in (Verdict.COSTS, Verdict.GAINS, Verdict.CHANGES, Verdict.TOO_FEW)
            or claim.metric == _BATTERY
        )
    ]
    unknown = [claim for claim in outcome.claims if outcome.unknown_part(claim)]
    phrases = [_told(claim, teller, outcome) for claim in changed]
    if not phrases:
        known = [teller.metric(claim) for claim in outcome.claims if claim not in unknown]
        of = f" in {_listed(known)}" if unknown and known else ""
        phrases = [f"costs nothing that anyone would notice{of}"] if known else []
    if unknown:
        parts = dict.fromkeys(outcome.unknown_part(claim) for claim in unknown)
        of = _listed([teller.metric(claim) for claim in unknown])
        phrases.append(f"the change of {of} is unknown, as {_listed(list(parts))} is")
        phrases[-1] += f" ({_MEASURES})"
    cost = "; ".join(phrases)
    left = [*outcome.gain.left]
    cipher = resolve(outcome.policy).link.cipher
    if _without_cipher(decision, outcome):
        left.append(f"devices without {str(cipher).upper()} stay out")
    weak = f"; {'; '.join(left)}" if left else ""
    return f"{policy_name(outcome.policy).replace(', ', ' ')}: {cost}{weak}."


def _assumed(decision: Decision) -> tuple[str, ...]:
    situation = decision.situation
    measured, *taken = _taken(decision)
    lines = [measured]
    if situation.place == "home":
        lines.append(TCP_ERROR)
    if situation.place == "office":
        lines.append(f"{_sentence(storm(situation))}.")
        lines.append(JOIN_ERROR)
    if situation.place != "sensor":
        lines.append("While they join, stations compute as one core of a PC at 2.1 GHz.")
    if situation.multiplication_ms is not None:
        each = f"{situation.multiplication_ms:g} ms"
        whom = "station" if situation.place == "sensor" else "access point"
        lines.append(f"A multiplication of a point (SAE, OWE) takes the {whom} {each}.")
    heard = situation.neighbours
    if heard is not None and not heard.counted:
        lines.append(f"{heard.told}.")
    if heard is not None and heard.networks and situation.place == "office":
        lines.append(
            "Neighbours act on throughput alone: hand-over and joins after a power cut are "
            "simulated without them."
        )
    lines += taken
    # Those of a sensor are beside its days.
    if situation.place != "sensor":
        lines.append(f"Left out: {'; '.join(_left_out(decision))}.")
    return tuple(lines)


def _taken(decision: Decision) -> tuple[str, ...]:
    """The cell that was measured, its errors, and its settings that were supposed."""
    situation = decision.situation
    lines = [f"Measured in the simulator: {decision.setting}.", *_errors(decision)]
    assumed = [*situation.assumed, *radio_taken(situation)]
    if situation.place == "sensor" and (boot := booting(situation)[1]):
        assumed.append(boot)
    if situation.radius and situation.tls is None:
        assumed.append(f"TLS {tls_of(situation)} in EAP (--tls)")
    if (decision.layered or decision.tunnel_unknown) and not situation.tunnel_end_said:
        end = "a server" if situation.tunnel_end == "server" else f"the {situation.router}"
        assumed.append(f"a tunnel that ends at {end} (--tunnel-end)")
    if assumed:
        lines.append(f"Not said, so taken: {'; '.join(assumed)}.")
    return tuple(lines)


def _errors(decision: Decision) -> tuple[str, ...]:
    """The parts of the answer that the model is known to miss, or that are fitted, and by how much.

    Of a sensor: what its days leave out, as no reading of a battery is compared with them.
    """
    if decision.situation.place == "sensor":
        return _error_of_days(decision)
    if not decision.outcomes and not decision.slow:
        return ()
    if decision.situation.place == "home":
        found = ["TCP throughput is 0.9 to 8.1 % above Linux (docs/reference/validation.md)"]
    else:
        found = [_UDP_ERROR]
        claims = [one for outcome in decision.outcomes for one in outcome.claims]
        found += [_HANDOVER_ERROR] if any(one.metric in _HANDOVERS for one in claims) else []
        found.append(
            f"a join beside eight others took real programs {_JOIN_LATER} longer "
            "(docs/guides/enterprise.md)"
        )
        found += _one_more_request(decision)
    if decision.layered is not None:
        found += _error_of_prices(decision.situation)
    return (f"Known errors, not in the intervals: {'; '.join(found)}.",)


def _one_more_request(decision: Decision) -> list[str]:
    """The time of the joins with the further request that real programs took for EAP-TLS."""
    storm, about, situation = decision.storm, decision.about, decision.situation
    method = None if about is None else resolve(about.policy).link.eap_method
    if storm is None or method != "tls":
        return []
    more, rate = storm.needed + 1, situation.requests_per_s
    return [
        "EAP-TLS took real programs one RADIUS request more (7 for 6 with RSA-2048): with "
        f"{more} the joins after a power cut would take {situation.clients} x {more} / {rate:g} = "
        f"{situation.clients * more / rate:.3g} s (docs/guides/enterprise.md)"
    ]


def _error_of_prices(situation: Situation) -> list[str]:
    """The error of the access point's prices of WireGuard, where they are fitted."""
    if situation.profile is None:
        return []
    errors = [
        number.error
        for place, number in load(situation.profile).fitted_numbers().items()
        if place.startswith("tunnel.wireguard") and number.error is not None
    ]
    if not errors:
        return []
    return [
        f"WireGuard has fitted prices, {100 * max(errors):.2g} % in the median on machines outside "
        "the fit (docs/reference/real-devices.md)"
    ]


def _error_of_days(decision: Decision) -> tuple[str, ...]:
    """The intervals of all days in one, and what they leave out."""
    claims = [one for outcome in decision.outcomes for one in outcome.claims]
    days = [end for one in claims for end in (one.before, one.after) if end is not None]
    days += [one.days for one in decision.kept]
    days += [decision.life.waking, decision.life.associated] if decision.life is not None else []
    halves = [one.half_width for one in days if math.isfinite(one.half_width)]
    if not halves or max(halves) == 0:
        return ()
    most = at_most(max(halves), "d", is_share=False)
    return (
        f"Intervals of days reach {most} to each side and are of the trials alone. Not in them: "
        "errors of the profile's powers (10 % more of each leave 9 % fewer days); no reading of a "
        "battery was compared.",
    )


def _slower(decision: Decision) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The next command where a network at home is slower than the answer says; whole, and brief."""
    situation = decision.situation
    throughputs = [one for outcome in decision.outcomes for one in outcome.claims[:1]]
    if situation.place != "home" or not throughputs:
        return (), ()
    have, to = situation.have, decision.policy or situation.have
    claim = next((one for one in throughputs if one.to["policy"] == to), throughputs[0])
    expected = claim.before if to == have else claim.after
    named = (have, to, decision.asked or to)
    if expected is None or any(resolve(one).tunnels for one in named):
        return (), ()
    options, mcs = link_options(situation)
    profile = f" --profile {situation.profile}" if situation.profile is not None else ""
    if situation.neighbours is not None:
        profile += f" {situation.neighbours.option}"
    before = "'?'" if to == have else "BEFORE"
    top = GENERATIONS[situation.phy]["mcs_top"]
    highest = ""
    if mcs is not None and "--mcs" not in options and situation.phy != "802.11n":
        highest = f" explain takes MCS {top}, the highest; --mcs {mcs} is the link of this answer."
    brief = (
        f"Slower than {shown(expected)}? `airtoll explain {before} AFTER --from {have} --to {to} "
        f"{options}{profile}` ranks the causes, from your measurements in Mb/s"
    )
    whole = f"{brief}, and `airtoll doctor --radio --host root@ROUTER` reads the radio.{highest}"
    return (whole,), (f"{brief}.",)


def _left_out(decision: Decision) -> Sequence[str]:
    situation = decision.situation
    if situation.place == "sensor":
        above = "DHCP, and TLS or MQTT above the message"
        return [unscanned(situation), above, "regulator and self-discharge"]
    found = ["the computing time of stations while they send"]
    if situation.profile is None:
        found.append("the CPU of the access point (--profile)")
    elif any(one.unpriced for one in decision.outcomes):
        found.append(
            f"the time of SAE on the CPU of {situation.profile}, unpublished (--multiplication-ms)"
        )
    if decision.layered is not None:
        if situation.tunnel_end == "server":
            found.append("the CPU of the tunnel's server")
        found.append(
            f"a tunnel of the {situation.router} itself, to a provider: its CPU seals as many "
            "packets"
        )
    others = " and other networks (--neighbours 3@-70)" if situation.neighbours is None else ""
    found.append(f"fading{others}")
    return found
