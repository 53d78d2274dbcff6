"""The changes that candidates bring, measured in the places of ``places.toml``.

Takes a situation and candidates; gives answered questions. Runs leave nothing behind.
"""

from __future__ import annotations

import json
import math
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast

import polars as pl
from attrs import evolve, field, frozen

from airtoll import _native, border
from airtoll.advising.candidates import TUNNEL, why_join_unknown
from airtoll.advising.places import join_options, resumes, scenario_of, tls_of, traffic_of
from airtoll.advising.reach import in_words, place_of_station, reach
from airtoll.advising.sensor import every_in_words
from airtoll.advising.situation import Situation, TunnelEnd
from airtoll.analyse import Estimate
from airtoll.answer import Answered, Compare, Margin, Verdict
from airtoll.observe.tables import counted, read_observations, read_trials
from airtoll.plan.levels import mean_level_dbm
from airtoll.policies import Policy, resolve
from airtoll.present.names import Names
from airtoll.profiles import load
from airtoll.report.summary import RunSummary, summarise
from airtoll.run import run
from airtoll.study import Level, Scenario
from airtoll.study.generations import GENERATIONS, band_of
from airtoll.study.handover import SWEEPS

_METHOD: Final = "scenario.handover.method"
_REQUESTS: Final = "scenario.radius.requests_per_s"
_RESUMED: Final = "scenario.join.tls_resumption"
_SSIDS: Final = "scenario.ssids"
_JOINED: Final = "joined_ratio"
#: Time without a link at a hand-over. The gap between two packets has the wait for the next one in
#: it: 20 ms in a call, under every method that is shorter.
_INTERRUPTED: Final = "handover_join_s"
_WALK: Final = "office-walk"
_LOST: Final = "handover_packets_lost"
_MESSAGES: Final = "messages_radius"
#: Metric that is read beside the one of a part.
_BESIDE: Final = {_LOST: _INTERRUPTED, _MESSAGES: "join_all_time_s"}
#: Place of a battery-powered station that joins once a day.
ASSOCIATED: Final = "sensor-associated"
#: Place of one that joins for every message, and of the same with a kept PMK.
WAKING: Final = "sensor"
_KEPT: Final = "sensor-kept"
_BATTERY: Final = "battery_days"
#: Most time on one channel of an active scan, ms (ESP-IDF, WIFI_SCAN_PARAMS_DEFAULT_CONFIG).
_SCANNED_MS: Final = 120
_DAY_S: Final = 86_400.0
_JOIN_TIME: Final = "join_time_s"
_JOIN_ENERGY: Final = "join_energy_j"
#: The price of a round of the mapping of a passphrase.
PASSPHRASE: Final = "pbkdf2-iteration"
#: Operation of a negotiation -> end of the name of its price in a profile.
_COSTLY: Final = {
    "ec_scalar_mul": "scalar-mul",
    "field_power": "field-power",
    "sign": "sign",
    "verify": "verify",
}
#: Scenarios that are simulated beside other networks. A hand-over is not (``testbeds/neighbours``),
#: and joins after a power cut wait for the RADIUS server, with minutes of their neighbours' frames.
BESIDE_NEIGHBOURS: Final = ("home", "home-join", "office")
#: Queues of many clients take seconds to fill where neighbours leave little of the air.
_LONGER: Final = {"traffic.datagrams.duration_s": 6, "traffic.datagrams.warm_up_s": 2}
#: A part that does not decide is measured once again, with at most so many times its trials.
_MOST_GROWTH: Final = 4
#: The limit of a RADIUS server is bracketed by steps of this factor, at most so many.
_BRACKET: Final = 1.5
_MOST_STEPS: Final = 6
#: Ratio of neighbouring levels, between two of which bisection ends.
_STEP: Final = 1.02
_MARGIN_TRIALS: Final = 3
#: Ranks of three and three trials tell no policies apart: of their 20 orders two are extreme, 10 %.
_FEWEST_RANKED: Final = 4
_OPEN: Final = "open"
#: Spatial streams of a link that nothing states.
_TWO: Final = 2


@frozen
class Part:
    """One question about a place: its metric, scenario, traffic and trials.

    ``joins``: it is about the negotiation of keys, which a network without them lacks;
    ``authenticates``: stations join in its trials.
    """

    metric: str
    scenario: str
    traffic: str
    trials: int
    roams: bool = False
    joins: bool = False
    authenticates: bool = False

    def repeated(self, asked: int | None) -> int:
        """The trials of each cell: as many as were asked for, of joins and hand-overs enough for
        the ranks by which they are compared.
        """
        if asked is None:
            return self.trials
        return max(asked, _FEWEST_RANKED) if self.joins else asked


PARTS: Final[dict[str, tuple[Part, ...]]] = {
    "home": (
        Part("throughput_bps", "home", "download", 12),
        Part("negotiation_time_s", "home-join", "short", 5, joins=True, authenticates=True),
    ),
    "office": (
        Part("throughput_bps", "office", "datagrams", 5),
        Part(_INTERRUPTED, _WALK, "call", 5, roams=True, joins=True, authenticates=True),
        Part("join_all_time_s", "office-storm", "short", 5, joins=True, authenticates=True),
    ),
    "sensor": (
        Part(_BATTERY, WAKING, "message", 3, authenticates=True),
        Part(_BATTERY, ASSOCIATED, "message", 3, authenticates=True),
    ),
}


@frozen
class Joined:
    """A join of a sensor. ``time_s``, ``energy_j``: means of the trials. ``computing_s``: of its
    time, what its processor takes for the costly operations; None where a price is not a profile's.
    """

    time_s: float
    energy_j: float
    computing_s: float | None


@frozen
class Walked:
    """A hand-over under the same policy without 802.11r. ``claim``: from the policy that one has;
    ``time``: its interruption, s. ``lost``: packets of a call, a mean.
    """

    policy: str
    claim: Compare
    time: Estimate
    lost: float | None


@frozen
class Sensing:
    """Joins and further days of a sensor. ``joins``: by policy. ``scanned``: days of its battery
    with a scan before each join, by policy; empty where none fits. ``mapped``: days where it
    computes the key of its passphrase at each join, by policy that has one.
    """

    joins: Mapping[str, Joined]
    scanned: Mapping[str, Estimate]
    mapped: Mapping[str, Estimate]


#: The answers of a run by its values, with names and further means.
Memo = dict[str, tuple[tuple[Answered, ...], Names, dict[str, dict[str, float]]]]


@frozen
class Measures:
    """``answers``: of the parts, in order. ``from_open`` and ``from_link``: throughput from an open
    network and from the link of a tunnel, for the sum of both. ``names``: for people. ``setting``:
    the place in one line. ``kept``: days of a sensor's battery with a kept PMK, by policy with SAE
    or EAP. ``lost``: packets that a call loses in a hand-over, ``requests``: RADIUS requests that
    an access point sends for a join after a power cut, those sent again included; means by policy.
    ``alone``: days of a sensor's battery under what one has, by scenario, without a candidate.
    ``sensing``: joins and further days. ``walked``: the hand-over without 802.11r, by policy that
    has it.
    """

    answers: tuple[Answered, ...]
    from_open: Answered | None
    from_link: Answered | None
    names: Names
    setting: str
    kept: Mapping[str, Estimate] = field(factory=dict)
    lost: Mapping[str, float] = field(factory=dict)
    requests: Mapping[str, float] = field(factory=dict)
    alone: Mapping[str, Estimate] = field(factory=dict)
    sensing: Sensing | None = None
    walked: Mapping[str, Walked] = field(factory=dict)


def measure(
    situation: Situation,
    policies: Sequence[str],
    *,
    over: str | None = None,
    trials: int | None = None,
    memo: Memo | None = None,
    phase: Callable[[str], None] | None = None,
) -> Measures:
    """The changes from what one has to each policy; ``over``: a link that carries a tunnel, too.

    ``memo``: results of earlier questions, which it adds to. ``trials``: of each cell, in place of
    those of the parts; joins and hand-overs have four at the least.
    """
    memo = {} if memo is None else memo
    answers: list[Answered] = []
    from_open = over_link = None
    names: Names | None = None
    beside: dict[str, dict[str, float]] = {}
    have = resolve(situation.have)
    own: dict[str, Estimate] = {}
    walked: dict[str, Walked] = {}
    for number, part in enumerate(measured_parts(situation)):
        if phase:
            phase(f"measuring {part.scenario}")
        layers = _layers(over) if number == 0 and over is not None else ()
        if not policies and not layers:
            if situation.place == "sensor" and why_join_unknown(situation, have) is None:
                own[part.scenario] = _alone(situation, part, part.repeated(trials))
            continue
        slower = _without_fast(policies) if part.roams else {}
        every = tuple(dict.fromkeys((*policies, *slower.values())))
        found, known = _run(situation, part, every, layers, part.repeated(trials), beside, memo)
        if policies and trials is None and (fresh := _undecided(_only(found[0], policies))):
            enough = max(part.trials, min(fresh, _MOST_GROWTH * part.trials))
            found, known = _run(situation, part, every, layers, enough, beside, memo)
        names = names or known
        answers += (_only(found[0], policies),) if policies else ()
        if slower:
            walked = _walked(found[0], slower, beside.get(_LOST, {}))
        if layers:
            from_open, over_link = found[-2:]
    return Measures(
        tuple(answers),
        from_open,
        over_link,
        names or Names(()),
        _setting(situation),
        _kept(situation, policies, trials, phase) if situation.place == "sensor" else {},
        beside.get(_LOST, {}),
        # Each request has one answer; of those sent again the server answers each, too.
        {name: messages / 2 for name, messages in beside.get(_MESSAGES, {}).items()},
        own,
        _sensing(situation, policies, trials, phase) if situation.place == "sensor" else None,
        walked,
    )


def _without_fast(policies: Sequence[str]) -> dict[str, str]:
    """The same policy without 802.11r, by policy that has it."""
    found = {}
    for name in policies:
        other = name.replace("-ft-", "-", 1)
        if resolve(name).link.fast_transition and other != name:
            found[name] = resolve(other).name
    return found


def _only(answered: Answered, policies: Sequence[str]) -> Answered:
    """The answer without the policies that are measured for comparison alone."""
    compares = tuple(one for one in answered.compares if one.to["policy"] in policies)
    impossible = tuple(one for one in answered.impossible if one.arm["policy"] in policies)
    return evolve(answered, compares=compares, impossible=impossible)


def _walked(
    answered: Answered, slower: Mapping[str, str], lost: Mapping[str, float]
) -> dict[str, Walked]:
    """The hand-overs without 802.11r that were measured."""
    claims = {str(one.to["policy"]): one for one in answered.compares}
    return {
        name: Walked(other, claim, claim.after, lost.get(other))
        for name, other in slower.items()
        if (claim := claims.get(other)) is not None and claim.after is not None
    }


def to_other_end(
    situation: Situation,
    link: str,
    *,
    trials: int | None = None,
    phase: Callable[[str], None] | None = None,
) -> Compare | None:
    """The change of throughput where the tunnel over a link ends at the other place, not the first.

    None where a cell was not measured.
    """
    end: TunnelEnd = "access-point" if situation.tunnel_end == "server" else "server"
    if phase:
        phase(f"measuring a tunnel to the {end}")
    part = measured_parts(situation)[0]
    whole = resolve(f"{link}+{TUNNEL}").name
    there = evolve(situation, have=link, tunnel_end=end)
    (found,), _ = _run(there, part, (whole,), (), part.repeated(trials), {})
    return next((one for one in found.compares if one.change is not None), None)


def measured_parts(situation: Situation) -> tuple[Part, ...]:
    """The questions about a place, without those about joins where a network has none."""
    link = resolve(situation.have).link
    negotiates = link.akm is not None or link.eap_method is not None
    return tuple(part for part in PARTS[situation.place] if negotiates or not part.joins)


def _alone(situation: Situation, part: Part, trials: int) -> Estimate:
    """The metric of a part under the policy that one has."""
    values: dict[str, Any] = {
        "grid": {
            "policy": [situation.have],
            "scenario": [part.scenario],
            "traffic": [part.traffic],
        },
        "question": [],
        "study.baseline": situation.have,
        "study.answers": [part.metric],
        "trials.repetitions": trials,
        f"scenario.{part.scenario}": _scenario(situation, part.scenario),
    }
    with _done(values) as summary:
        found = summary.analysis.estimate(summary.plan.cells[0].name, part.metric)
    assert found is not None
    return found


def _kept(
    situation: Situation,
    policies: Sequence[str],
    trials: int | None,
    phase: Callable[[str], None] | None,
) -> dict[str, Estimate]:
    """Days of the battery with a kept PMK, of every policy that spares an exchange by it."""
    spared = [name for name in dict.fromkeys((situation.have, *policies)) if _keeps(resolve(name))]
    if not spared:
        return {}
    if phase:
        phase(f"measuring {_KEPT}")
    return _days(_KEPT, _scenario(situation, _KEPT), spared, trials)[0]


def _days(
    name: str, own: Mapping[str, Any], policies: Sequence[str], trials: int | None
) -> tuple[dict[str, Estimate], dict[str, dict[str, float]]]:
    """Days of a battery in a scenario, and time (s) and energy (J) of a join, by policy."""
    values: dict[str, Any] = {
        "grid": {"policy": list(policies), "scenario": [name], "traffic": ["message"]},
        "question": [],
        "study.baseline": policies[0],
        "study.answers": [_BATTERY],
        "trials.repetitions": trials or PARTS["sensor"][0].trials,
        f"scenario.{name}": dict(own),
    }
    with _done(values) as summary:
        days = {
            cell.policy: summary.analysis.estimate(cell.name, _BATTERY)
            for cell in summary.plan.cells
        }
        joins = {metric: _means(summary, metric) for metric in (_JOIN_TIME, _JOIN_ENERGY)}
    return {policy: found for policy, found in days.items() if found is not None}, joins


def _sensing(
    situation: Situation,
    policies: Sequence[str],
    trials: int | None,
    phase: Callable[[str], None] | None,
) -> Sensing | None:
    """The joins of a sensor, and its days with what its place leaves out; None of a policy whose
    join no profile prices, without a candidate.
    """
    known = [
        name
        for name in dict.fromkeys((situation.have, *policies))
        if why_join_unknown(situation, resolve(name)) is None
    ]
    if not known:
        return None
    if phase:
        phase(f"measuring {WAKING} with a scan, and with the key of a passphrase")
    own = _scenario(situation, WAKING)
    (boot_ms, boot_mj), (scan_ms, scan_mj) = _boot(situation), _scan(situation)
    fits = boot_ms + scan_ms < 1e3 * situation.every_s
    duty = {**own["duty"], "wake_ms": boot_ms + scan_ms, "wake_mj": boot_mj + scan_mj}
    days, joins = _days(WAKING, {**own, "duty": duty} if fits else own, known, trials)
    mapped = [name for name in known if (akm := resolve(name).link.akm) is not None and akm.is_psk]
    if PASSPHRASE not in load(str(situation.profile)).operation:
        mapped = []
    station = {**own["stations"][0], "caches_psk": False}
    times, energies = joins[_JOIN_TIME], joins[_JOIN_ENERGY]
    return Sensing(
        {
            name: Joined(times[name], energies[name], computing_s(situation, name))
            for name in known
            if name in times and name in energies
        },
        days if fits else {},
        _days(WAKING, {**own, "stations": [station]}, mapped, trials)[0] if mapped else {},
    )


def computing_s(situation: Situation, policy: str) -> float | None:
    """Time of a station's processor for the costly operations of its join, s, by its profile.

    None where an option states a part, or an operation has no price.
    """
    if situation.multiplication_ms is not None or situation.profile is None:
        return None
    found = resolve(policy)
    profile = load(situation.profile)
    asked = border.to_json(found.native()), 1, border.to_json(join_options(situation, found))
    parties = _native.negotiate(*asked)["totals"]["by_party"]
    (station,) = (one for one in parties if one["party"] == "station")
    counts: dict[str, int] = {}
    for one in cast(Sequence[Mapping[str, Any]], station["operations"]):
        if ending := _COSTLY.get(one["operation"]):
            counts[f"{one.get('curve') or one.get('algorithm')}-{ending}"] = one["count"]
    if {*station["heavy"]} - {*counts} or any(name not in profile.operation for name in counts):
        return None
    cycles = sum(count * profile.operation[name].value for name, count in counts.items())
    return cycles / profile.clock_hz.value


def _keeps(policy: Policy) -> bool:
    """Whether a PMK that both ends have spares SAE or EAP."""
    link = policy.link
    exchanges = link.eap_method is not None or (link.akm is not None and link.akm.is_sae)
    return exchanges and not link.fast_transition


def margin(
    situation: Situation,
    policy: str,
    *,
    holds: bool,
    trials: int | None = None,
    phase: Callable[[str], None] | None = None,
) -> Margin:
    """How near the RADIUS server of an office is to failing after a power cut.

    ``holds``: whether every client joins now; slower servers are tried then, else faster ones, each
    in simulated trials, and the limit between them by bisection.
    """
    if phase:
        phase(f"measuring the margin of the RADIUS server, {policy}")
    aps = situation.access_points
    joined: dict[int, _Stormed] = {}

    def enough_at(step: int) -> bool:
        if step not in joined:
            joined[step] = _stormed(situation, policy, _STEP**step, trials)
        return joined[step].all_join

    # Levels are powers of one number, so that the limit does not depend on the present server.
    steps = math.log(situation.requests_per_s / aps, _STEP)
    here = math.floor(steps) if holds else math.ceil(steps)
    enough, short = (here, None) if holds and enough_at(here) else (None, here)
    stride = round(math.log(_BRACKET, _STEP))
    for _ in range(_MOST_STEPS):
        if enough is not None and short is not None:
            break
        here += stride if enough is None else -stride
        if enough_at(here):
            enough = here
        else:
            short = here
    while enough is not None and short is not None and enough - short > 1:
        middle = (enough + short) // 2
        if enough_at(middle):
            enough = middle
        else:
            short = middle
    return Margin(
        policy,
        situation.requests_per_s,
        None if enough is None else _STEP**enough * aps,
        None if short is None else _STEP**short * aps,
        situation.clients,
        trials=trials or _MARGIN_TRIALS,
        enough_s=None if enough is None else joined[enough].longest_s if enough in joined else None,
        short_joined=None if short is None or short not in joined else joined[short].least,
    )


def turning(
    low: Situation,
    high: Situation,
    policy: str,
    *,
    trials: int | None = None,
    phase: Callable[[str], None] | None = None,
) -> tuple[Situation, Situation]:
    """Two neighbours between ``low`` and ``high``, of which every client joins at one alone.

    The two differ in the clients or in the requests of the server, and in nothing else; every
    client joins at one of them. Neighbours are one client, or one part in fifty apart. Levels of
    requests are those of ``margin``, which finds the same limit.
    """
    if phase:
        phase(f"measuring where the answer turns, {policy}")

    def at(situation: Situation) -> bool:
        share = situation.requests_per_s / situation.access_points
        return _joins(situation, policy, share, trials)

    there = at(low)
    if low.clients == high.clients:
        aps = low.access_points
        last = math.floor(math.log(low.requests_per_s / aps, _STEP))
        first = math.ceil(math.log(high.requests_per_s / aps, _STEP))
        while first - last > 1:
            step = (last + first) // 2
            joined = _joins(low, policy, _STEP**step, trials)
            last, first = (step, first) if joined is there else (last, step)
        return (
            evolve(low, requests_per_s=_STEP**last * aps),
            evolve(low, requests_per_s=_STEP**first * aps),
        )
    while True:
        many = sorted((low.clients, high.clients))
        clients = round(math.sqrt(low.clients * high.clients))
        if many[1] < _STEP * many[0] or clients in many:
            return low, high
        middle = evolve(low, clients=clients)
        low, high = (middle, high) if at(middle) is there else (low, middle)


@frozen
class _Stormed:
    """Joins after a power cut. ``least``: the smallest share of the clients of an access point that
    joins in a trial; NaN without one. ``longest_s``: the longest time until all had joined.
    """

    least: float
    longest_s: float | None

    @property
    def all_join(self) -> bool:
        """Whether every client joins in every trial."""
        return self.least >= 1


def _joins(situation: Situation, policy: str, requests_per_s: float, trials: int | None) -> bool:
    """Whether every client joins in every trial, with a server for one access point."""
    return _stormed(situation, policy, requests_per_s, trials).all_join


def _stormed(
    situation: Situation, policy: str, requests_per_s: float, trials: int | None
) -> _Stormed:
    """The joins after a power cut, with a server for one access point."""
    name = "office-storm"
    values: dict[str, Any] = {
        "grid": {
            "policy": [policy],
            "scenario": [name],
            "traffic": ["short"],
            _REQUESTS: [requests_per_s],
        },
        "question": [],
        "study.baseline": policy,
        "study.answers": [_JOINED],
        "trials.repetitions": trials or _MARGIN_TRIALS,
        f"scenario.{name}": _scenario(situation, name, policy),
    }  # fmt: skip
    with _ran(values) as path:
        rows = counted(read_observations(path), read_trials(path))
        shares, times = (
            [float(one) for one in rows.filter(pl.col("metric").cast(pl.String) == name)["value"]]
            for name in (_JOINED, _BESIDE[_MESSAGES])
        )
    return _Stormed(min(shares, default=math.nan), max(times, default=None))


def requests_of_a_join(situation: Situation, policy: str) -> int:
    """RADIUS Access-Requests of one join without loss, with the server of an office."""
    found = resolve(policy)
    options = join_options(situation, found)
    asked = border.to_json(found.native()), 1, border.to_json(options)
    protocols = _native.negotiate(*asked)["totals"]["by_protocol"]
    return sum(one["messages"] for one in protocols if one["protocol"] == "RADIUS") // 2


def relieved(
    situation: Situation,
    policy: str,
    *,
    trials: int | None = None,
    phase: Callable[[str], None] | None = None,
) -> tuple[tuple[str, Estimate, int], ...]:
    """Options that spare RADIUS requests -> the time until every client of an office has joined
    with each, s, as an answer about it says it, and the requests of its join; without those at
    which a client stays out.
    """
    needed = requests_of_a_join(situation, policy)
    (part,) = (one for one in measured_parts(situation) if one.metric == _BESIDE[_MESSAGES])
    asked = {
        "--chain p256": evolve(situation, chain="p256"),
        "--tls-resumption": evolve(situation, tls_resumption=True),
    }
    found = []
    for option, other in asked.items():
        requests = requests_of_a_join(other, policy)
        if requests >= needed:
            continue
        if phase:
            phase(f"measuring {part.scenario} with {option}, {policy}")
        (answered,), _ = _run(other, part, (policy,), (), part.repeated(trials), {})
        times = [one.after for one in answered.compares if not one.fails]
        found += [(option, time, requests) for time in times if time is not None]
    return tuple(found)


def scanning(
    situation: Situation,
    policy: str,
    *,
    trials: int | None = None,
    phase: Callable[[str], None] | None = None,
) -> Estimate | None:
    """The interruption of a hand-over of a client that has no neighbour list and scans its band, s.

    A scenario has one kind of scan. Empty channels cost their times alone, so that those on which
    the client listens are added after those with probe requests.
    """
    if phase:
        phase(f"measuring {_WALK} with a scan, {policy}")
    fast = resolve(policy).link.fast_transition
    own = _scenario(situation, _WALK, policy)
    sweep = SWEEPS[band_scanned(situation)]
    scan: dict[str, Any] = {"channels": sweep.active}
    if not sweep.active:
        scan = {"channels": sweep.passive, "mode": "passive", "max_channel_ms": sweep.passive_ms}
    own["handover"] = {**own["handover"], "scan": scan,
                       "method": "fast-transition" if fast else "full"}  # fmt: skip
    values: dict[str, Any] = {
        "grid": {"policy": [policy], "scenario": [_WALK], "traffic": ["call"]},
        "question": [],
        "study.baseline": policy,
        "study.answers": [_INTERRUPTED],
        "trials.repetitions": trials or _MARGIN_TRIALS,
        f"scenario.{_WALK}": own,
    }
    with _done(values) as summary:
        time = summary.analysis.estimate(summary.plan.cells[0].name, _INTERRUPTED)
    if time is None or not sweep.active:
        return time
    more = sweep.passive * sweep.passive_ms * 1e-3
    return evolve(time, value=time.value + more, low=time.low + more, high=time.high + more)


def band_scanned(situation: Situation) -> str:
    """The band of the network, GHz: the stated one, or that of the PHY and width."""
    radio = _radio(situation)
    known = {key: radio[key] for key in ("phy", "band", "width_mhz") if radio.get(key) is not None}
    return band_of(Scenario.model_validate(known)).removesuffix("ghz")


def beside_ssid(
    situation: Situation,
    policy: str,
    *,
    trials: int | None = None,
    phase: Callable[[str], None] | None = None,
) -> Compare | None:
    """The change of throughput by the beacons of a second SSID, under the policy of the first.

    Datagrams, whose throughput varies less than that of TCP, without neighbours, beside which it
    varies more than beacons take. None where it was not measured.
    """
    if phase:
        phase(f"measuring a second SSID, {policy}")
    situation = evolve(situation, neighbours=None)
    (part, *_) = measured_parts(situation)
    values: dict[str, Any] = {
        "grid": {
            "policy": [policy],
            "scenario": [part.scenario],
            "traffic": ["datagrams"],
            _SSIDS: [1, 2],
        },
        "question": [
            {
                "ask": "What does a second SSID cost?",
                "metric": part.metric,
                "from": {_SSIDS: 1},
                "to": [{_SSIDS: 2}],
            }
        ],
        "study.baseline": policy,
        "study.answers": [part.metric],
        "trials.repetitions": PARTS["office"][0].repeated(trials),
        f"scenario.{part.scenario}": _scenario(situation, part.scenario, policy),
    }
    with _done(values) as summary:
        return next((one for one in summary.answered[0].compares if one.change is not None), None)


def _layers(link: str) -> tuple[str, ...]:
    return (_OPEN, link, resolve(TUNNEL).name, resolve(f"{link}+{TUNNEL}").name)


def _run(
    situation: Situation,
    part: Part,
    policies: Sequence[str],
    layers: Sequence[str],
    trials: int,
    beside: dict[str, dict[str, float]],
    memo: Memo | None = None,
) -> tuple[tuple[Answered, ...], Names]:
    """The answers of a part; ``beside``: further means by metric and policy, which it adds to.

    The same questions about the same scenario have the same answers: seeds follow from them.
    """
    every = list(dict.fromkeys((situation.have, *policies, *layers)))
    grid: dict[str, Any] = {
        "policy": every,
        "scenario": [part.scenario],
        "traffic": [part.traffic],
    }
    exclude: list[dict[str, Any]] = []
    levels = {name: _levels(situation, part, name) for name in every}
    for axis in levels[situation.have]:
        if axis == "policy":
            continue
        grid[axis] = list(dict.fromkeys(own[axis] for own in levels.values()))
        exclude += [
            {"policy": names, axis: [level]}
            for level in grid[axis]
            if (names := [name for name in every if levels[name][axis] != level])
        ]
    questions = [_question(levels, part, situation.have, policies)] if policies else []
    if layers:
        _, link, alone, whole = layers
        questions.append(_question(levels, part, _OPEN, (link, alone, whole)))
        questions.append(_question(levels, part, link, (whole,)))
    values: dict[str, Any] = {
        "grid": grid,
        "exclude": exclude,
        "question": questions,
        "study.baseline": situation.have,
        "study.answers": [part.metric],
        "trials.repetitions": trials,
        f"scenario.{part.scenario}": _scenario(situation, part.scenario),
        **_of_traffic(situation),
    }
    key = json.dumps(values, sort_keys=True, default=str)
    if memo is None or key not in memo:
        with _done(values) as summary:
            means = {
                metric: found
                for metric in (_LOST, _MESSAGES)
                if part.metric == _BESIDE[metric] and (found := _means(summary, metric))
            }
            known = summary.answered, Names(summary.plan.cells), means
        if memo is None:
            beside.update(means)
            return known[:2]
        memo[key] = known
    answered, own, means = memo[key]
    beside.update(means)
    return answered, own


def _means(summary: RunSummary, metric: str) -> dict[str, float]:
    """The mean of a metric over stations and trials, by policy."""
    policies = {cell.name: cell.policy for cell in summary.plan.cells}
    rows = summary.observations.filter(pl.col("metric").cast(pl.String) == metric)
    means = rows.group_by(pl.col("cell").cast(pl.String)).agg(pl.col("value").mean())
    return {policies[cell]: float(mean) for cell, mean in means.iter_rows() if mean is not None}


def _undecided(answered: Answered) -> int:
    """Trials with which an answer is likely to decide; 0 where it has decided."""
    return max(
        (one.fresh or 0 for one in answered.compares if one.verdict is Verdict.TOO_FEW), default=0
    )


@contextmanager
def _done(values: Mapping[str, Any]) -> Iterator[RunSummary]:
    """A run of the places with some values, analysed."""
    with _ran(values) as path:
        yield summarise(path)


@contextmanager
def _ran(values: Mapping[str, Any]) -> Iterator[Path]:
    """The folder of a run of the places with some values, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="airtoll-advise-") as folder:
        with resources.as_file(resources.files(__package__).joinpath("places.toml")) as study:
            done = run(study, out=Path(folder) / "run", values=cast(Mapping[str, Level], values))
        yield done.path


def _question(
    levels: Mapping[str, Mapping[str, Level]], part: Part, have: str, to: Sequence[str]
) -> dict[str, Any]:
    return {
        "ask": "What changes with another policy?",
        "metric": part.metric,
        "from": levels[have],
        "to": [levels[name] for name in to if name != have],
    }


def _levels(situation: Situation, part: Part, name: str) -> dict[str, Level]:
    """The levels of a policy, which go with it at this part."""
    found: dict[str, Level] = {"policy": name}
    if part.roams:
        fast = resolve(name).link.fast_transition
        found[_METHOD] = "fast-transition" if fast else "full"
    if situation.tls_resumption and part.authenticates:
        found[_RESUMED] = resumes(situation, resolve(name))
    return found


def _scenario(situation: Situation, name: str, policy: str | None = None) -> dict[str, Any]:
    """The scenario of the file with the PHY, devices and numbers of the situation.

    ``policy``: the only one, whose kept TLS session is resumed if it has one.
    """
    own = scenario_of(name)
    own |= _radio(situation)
    own["tunnel_end"] = situation.tunnel_end
    if own.get("authenticate"):
        keeps = policy is not None and resumes(situation, resolve(policy))
        resumed = {"tls_resumption": True} if keeps else {}
        version = {"tls": tls_of(situation)}
        own["join"] = {**own.get("join", {}), "chain": situation.chain, **version, **resumed}
    if placed := place_of_station(situation):
        station = {key: value for key, value in own["stations"][0].items() if key != "rssi_dbm"}
        own["stations"] = [{**station, **placed}]
        own.pop("rssi_dbm", None)
    for key in ("mcs", "streams", "width_mhz", "rate_mbps", "band", "rate_control"):
        if own.get(key) is None:
            own.pop(key, None)
    if situation.place == "sensor":
        if situation.multiplication_ms is not None:
            own["join"] = {**own["join"], "multiplication_ms": situation.multiplication_ms}
        station = {"profile": situation.profile, "battery_wh": situation.battery.wh}
        own["stations"] = [{**own["stations"][0], **station}]
        per_day = _DAY_S / situation.every_s
        joins = own["duty"]["joins_per_day"] if name == ASSOCIATED else per_day
        boot = {"wake_ms": situation.boot_ms, "wake_mj": situation.boot_mj}
        own["duty"] = {
            **own["duty"],
            **{key: value for key, value in boot.items() if value is not None},
            "joins_per_day": joins,
            "messages_per_day": per_day,
        }
        return own
    if situation.neighbours is not None and name in BESIDE_NEIGHBOURS:
        own["neighbours"] = situation.neighbours.table
    if situation.profile is not None:
        own["ap"] = {**own.get("ap", {}), "profile": situation.profile}
    if situation.multiplication_ms is not None and own.get("authenticate"):
        own["ap"] = {**own.get("ap", {}), "multiplication_ms": situation.multiplication_ms}
    if "clients" in own:
        own["clients"] = min(situation.clients, -(-situation.clients // situation.access_points))
    if name == "office-storm":
        share = situation.requests_per_s / situation.access_points
        own["radius"] = {**own["radius"], "requests_per_s": share}
    return own


def _of_traffic(situation: Situation) -> dict[str, Any]:
    """The values of traffic that neighbours change."""
    heard = situation.neighbours
    return dict(_LONGER) if heard is not None and heard.networks else {}


def spread_s() -> float:
    """The time within which all laptops of an office start after a power cut, s."""
    return float(scenario_of("office-storm")["join"]["spread_ms"]) / 1000


def storm(situation: Situation) -> str:
    """The joins of an office after a power cut in one line."""
    words = f"after a power cut all laptops start within {spread_s():g} s"
    if not situation.radius:
        return words
    share = situation.requests_per_s / situation.access_points
    each = f", {share:.4g} for each access point" if situation.access_points > 1 else ""
    kept = ", TLS sessions kept from earlier joins" if situation.tls_resumption else ""
    return (
        f"{words}; the RADIUS server answers {situation.requests_per_s:g} requests/s{each}; "
        f"{situation.chain} certificates, TLS {tls_of(situation)}{kept}"
    )


def _radio(situation: Situation) -> dict[str, Any]:
    """PHY, band, width, MCS and streams: two streams near the access point, else those that arrive
    at the level of the station.
    """
    radio = _near(situation)
    found = reach(situation, radio)
    if found is None:
        return radio
    if found.mcs is None:
        return radio | {"rate_mbps": None, "rate_control": "minstrel"}
    # The testbed finds the same MCS from the level.
    return radio | {"mcs": None, "streams": found.streams}


def _near(situation: Situation) -> dict[str, Any]:
    phy = situation.phy
    band = situation.band
    if situation.place == "sensor":
        return {"phy": phy, "band": band}
    bands = [one["band"].removesuffix("ghz") for one in GENERATIONS[phy]["bands"]]
    if band not in bands:
        band = None
    found: dict[str, Any] = {"phy": phy, "band": band, "mcs": None, "streams": None,
                             "width_mhz": None, "rate_mbps": None}  # fmt: skip
    if phy in ("802.11a", "802.11b", "802.11g"):
        return found | {"rate_mbps": 11 if phy == "802.11b" else 54}
    at_2_4 = band == "2.4" or phy == "802.11n"
    width = situation.width_mhz or min(20 if at_2_4 else 80, _widest_mhz(situation))
    streams = _streams(situation)
    if phy == "802.11n":
        # Its MCS names the streams, too.
        return found | {"mcs": 8 * streams - 1, "width_mhz": min(width, 40)}
    return found | {"mcs": 7, "streams": streams, "width_mhz": width}


def _widest_mhz(situation: Situation) -> float:
    """The widest channel of the access point, MHz; infinite where its profile does not tell."""
    able = None if situation.profile is None else load(situation.profile).capabilities
    if able is None or able.widths_mhz is None:
        return math.inf
    return max(int(one) for one in able.widths_mhz.values)


def _streams(situation: Situation) -> int:
    """Two spatial streams, or the one of an access point that has no second."""
    able = None if situation.profile is None else load(situation.profile).capabilities
    one = able is not None and able.streams is not None and able.streams.value < _TWO
    return 1 if one else _TWO


def radio_taken(situation: Situation) -> list[str]:
    """Width and streams of a link that nothing states."""
    radio = _radio(situation)
    found = []
    if situation.place != "sensor" and situation.width_mhz is None and radio["width_mhz"]:
        found.append(f"{radio['width_mhz']} MHz (a file of --from states it)")
    if radio.get("streams"):
        found.append(f"{radio['streams']} stream{'s'[: radio['streams'] - 1]}")
    return found


def link_options(situation: Situation) -> tuple[str, int | None]:
    """The link of the figures as options of ``airtoll explain``, and its MCS.

    The MCS is an option only where the level of the station tells it.
    """
    radio = _radio(situation)
    found = reach(situation, radio)
    mcs = radio["mcs"] if found is None else found.mcs
    streams = radio["streams"]
    if situation.phy == "802.11n" and mcs is not None:
        # 802.11n counts its MCSs on over the streams.
        streams = mcs // 8 + 1
    told = {
        "--phy": situation.phy,
        "--band": radio["band"],
        "--width": radio["width_mhz"],
        "--streams": streams,
        "--mcs": None if found is None else found.mcs,
    }
    return " ".join(f"{name} {value}" for name, value in told.items() if value is not None), mcs


def _scan(situation: Situation) -> tuple[float, float]:
    """The longest scan of a sensor that does not store its channel, ms and mJ."""
    assert situation.profile is not None
    energy = load(situation.profile).energy
    assert energy is not None
    most_ms = SWEEPS["2.4"].active * _SCANNED_MS
    return most_ms, energy.idle_w.value * most_ms


def unscanned(situation: Situation) -> str:
    """The scan of a sensor that does not store its channel in words, with its time and energy."""
    most_ms, most_mj = _scan(situation)
    held = " (unless --boot-ms holds it)" if situation.boot_ms is not None else ""
    return (
        f"a scan before each join{held}, because the channel and the access point are stored: up "
        f"to {most_ms:g} ms and {most_mj:.3g} mJ ({SWEEPS['2.4'].active} channels x {_SCANNED_MS} "
        "ms of ESP-IDF)"
    )


def _boot(situation: Situation) -> tuple[float, float]:
    """A sensor's boot, ms and mJ: of the options, else of its place and profile."""
    assert situation.profile is not None
    energy = load(situation.profile).energy
    assert energy is not None
    boot_ms = situation.boot_ms
    if boot_ms is None:
        boot_ms = float(scenario_of(WAKING)["duty"]["wake_ms"])
    power = energy.wake_w or energy.idle_w
    boot_mj = situation.boot_mj
    return boot_ms, power.value * boot_ms if boot_mj is None else boot_mj


def booting(situation: Situation) -> tuple[str, str]:
    """A sensor's boot and its wait for an answer in words: those of the trials, and those of them
    that no option states.
    """
    duty = scenario_of(WAKING)["duty"]
    taken = []
    boot_ms, energy_mj = _boot(situation)
    if situation.boot_ms is None:
        taken.append(f"{boot_ms:g} ms of boot, as an example of ESP-IDF (--boot-ms)")
    if situation.boot_mj is None:
        assert situation.profile is not None
        energy = load(situation.profile).energy
        assert energy is not None
        of = "of its profile" if energy.wake_w else "of its listening radio, as none is published"
        taken.append(f"the boot at the power {of} (--boot-mj)")
    told = f"a boot of {boot_ms:g} ms and {energy_mj:.3g} mJ before each join"
    return f"{told}, {duty['message_ms']} ms awake for an answer", "; ".join(taken)


def _neighbouring(situation: Situation, radio: Mapping[str, Any]) -> str:
    """The traffic of neighbours, and whether the network waits for them."""
    assert situation.neighbours is not None
    known = {key: radio[key] for key in ("phy", "band", "width_mhz") if radio.get(key) is not None}
    least = Scenario.model_validate(known).radio.carrier_sense_dbm
    waits = situation.neighbours.level_dbm >= least
    effect = "they share the air" if waits else f"too weak to wait for, below {least:g} dBm"
    return f"an access point and a station of each always send; {effect}"


def _setting(situation: Situation) -> str:
    """PHY, width, rate, level, clients, devices and length of a trial in one line."""
    radio = _radio(situation)
    first = measured_parts(situation)[0]
    length = f"{traffic_of(first.traffic)['duration_s']:g} s a trial"
    found = reach(situation, radio)
    words = [situation.phy]
    if situation.place == "sensor":
        words += [f"{situation.band} GHz"] if situation.band else []
        at = "-60 dBm" if found is None else in_words(situation, found)
        words += ["20 MHz", at, f"station {situation.profile}"]
        words.append(f"a battery of {situation.battery.words}")
        words.append(f"a message of 200 octets {every_in_words(situation.every_s)}")
        words += [booting(situation)[0], length]
        return ", ".join(words)
    words += [f"{radio['band']} GHz"] if radio["band"] else []
    words += [f"{radio['width_mhz']} MHz"] if radio["width_mhz"] else []
    mcs = radio["mcs"] if found is None else found.mcs
    top = GENERATIONS[situation.phy]["mcs_top"]
    highest = "" if top is None or mcs is None or mcs >= top else f", where the highest is {top}"
    taken = f" (taken{highest}; --level or --distance gives the link's own)"
    own = found is not None or mcs is None or situation.place == "office"
    words += [f"MCS {mcs}{'' if own else taken}"] if mcs is not None else []
    words += [f"{radio['streams']} stream{'s'[: radio['streams'] - 1]}"] if radio["streams"] else []
    words += [f"{radio['rate_mbps']} Mb/s"] if radio["rate_mbps"] else []
    words += ["rates by Minstrel"] if radio.get("rate_control") else []
    at = "" if found is None else f" {in_words(situation, found)}"
    level = f"{_level_dbm(situation, first.scenario):g} dBm"
    if situation.place == "office":
        many = "access points" if situation.access_points > 1 else "access point"
        words.append(
            f"{situation.clients} laptops on {situation.access_points} {many}{at or f' at {level}'}"
        )
    else:
        words.append(f"one station{at or f' near the router ({level})'}")
    if situation.neighbours is not None:
        words.append(situation.neighbours.beside)
        if situation.neighbours.networks:
            words[-1] += f" ({_neighbouring(situation, radio)})"
    words.append(f"access point {_device(situation)}")
    return ", ".join([*words, length])


def _device(situation: Situation) -> str:
    """``mt7621 with the radios MT7603E (2.4 GHz) and MT7612E (5 GHz), no others``."""
    profile = situation.profile
    if profile is None:
        walk = ", but in a hand-over that of a PC at 2.1 GHz" if situation.place == "office" else ""
        return f"without a profile (--profile), so that its CPU takes no time here{walk}"
    chips = load(profile).capabilities.chips
    if chips is None:
        return profile
    return f"{profile} with the radios {' and '.join(chips.values)}, no others"


def _level_dbm(situation: Situation, scenario: str) -> float:
    """The level of the first station of a scenario."""
    settings = Scenario.model_validate(_scenario(situation, scenario))
    return mean_level_dbm(settings, settings.stations[0], 0.0)
