"""The changes that candidates bring, measured in the places of ``places.toml``.

Takes a situation and candidates; gives answered questions. Runs leave nothing behind.
"""

from __future__ import annotations

import math
import tempfile
import tomllib
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import Any, Final, cast

import polars as pl
from attrs import field, frozen

from airtoll.advising.candidates import TUNNEL
from airtoll.advising.sensor import every_in_words
from airtoll.advising.situation import Situation
from airtoll.analyse import Estimate
from airtoll.answer import Answered, Margin, Verdict
from airtoll.policies import Policy, resolve
from airtoll.present.names import Names
from airtoll.report.summary import RunSummary, summarise
from airtoll.run import run
from airtoll.study import Level
from airtoll.study.generations import GENERATIONS

_METHOD: Final = "scenario.handover.method"
_REQUESTS: Final = "scenario.radius.requests_per_s"
_JOINED: Final = "joined_ratio"
#: Place of a battery-powered station that joins once a day.
ASSOCIATED: Final = "sensor-associated"
#: Place of one that joins for every message, and of the same with a kept PMK.
WAKING: Final = "sensor"
_KEPT: Final = "sensor-kept"
_BATTERY: Final = "battery_days"
_DAY_S: Final = 86_400.0
#: A part that does not decide is measured once again, with at most so many times its trials.
_MOST_GROWTH: Final = 4
#: More trials than an interval of some ten trials asks for: it may be a narrow one by chance.
_SPARE: Final = 1.5
#: Shares of a RADIUS server's requests/s by which its margin is sought, downwards and upwards.
_LESS: Final = (1.0, 0.9, 0.8, 0.7, 0.5, 0.3)
_MORE: Final = (1.1, 1.25, 1.5, 2.0, 3.0)
_MARGIN_TRIALS: Final = 3
_OPEN: Final = "open"


@frozen
class Part:
    """One question about a place: its metric, scenario, traffic and trials."""

    metric: str
    scenario: str
    traffic: str
    trials: int
    roams: bool = False
    joins: bool = False


PARTS: Final[dict[str, tuple[Part, ...]]] = {
    "home": (
        Part("throughput_bps", "home", "download", 12),
        Part("negotiation_time_s", "home-join", "short", 5, joins=True),
    ),
    "office": (
        Part("throughput_bps", "office", "datagrams", 5),
        Part("handover_gap_s", "office-walk", "call", 5, roams=True, joins=True),
        Part("join_all_time_s", "office-storm", "short", 5, joins=True),
    ),
    "sensor": (
        Part(_BATTERY, WAKING, "message", 3),
        Part(_BATTERY, ASSOCIATED, "message", 3),
    ),
}


@frozen
class Measures:
    """``answers``: of the parts, in order. ``from_open`` and ``from_link``: throughput from an open
    network and from the link of a tunnel, for the sum of both. ``names``: for people. ``setting``:
    the place in one line. ``kept``: days of a sensor's battery with a kept PMK, by policy with SAE
    or EAP.
    """

    answers: tuple[Answered, ...]
    from_open: Answered | None
    from_link: Answered | None
    names: Names
    setting: str
    kept: Mapping[str, Estimate] = field(factory=dict)


def measure(
    situation: Situation,
    policies: Sequence[str],
    *,
    over: str | None = None,
    trials: int | None = None,
    phase: Callable[[str], None] | None = None,
) -> Measures:
    """The changes from what one has to each policy; ``over``: a link that carries a tunnel, too."""
    answers: list[Answered] = []
    from_open = over_link = None
    names: Names | None = None
    link = resolve(situation.have).link
    # A network without keys has no negotiation to compare with.
    negotiates = link.akm is not None or link.eap_method is not None
    parts = [part for part in PARTS[situation.place] if negotiates or not part.joins]
    for number, part in enumerate(parts):
        if phase:
            phase(f"measuring {part.scenario}")
        layers = _layers(over) if number == 0 and over is not None else ()
        found, own = _run(situation, part, policies, layers, trials or part.trials)
        if trials is None and (more := _undecided(found[0])):
            enough = part.trials + math.ceil(_SPARE * more)
            enough = min(enough, _MOST_GROWTH * part.trials)
            found, own = _run(situation, part, policies, layers, enough)
        names = names or own
        answers += found[:1]
        if layers and len(found) > 2:
            from_open = found[1]
            over_link = found[2]
    assert names is not None
    return Measures(
        tuple(answers),
        from_open,
        over_link,
        names,
        _setting(situation),
        _kept(situation, policies, trials, phase) if situation.place == "sensor" else {},
    )


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
    values: dict[str, Any] = {
        "grid": {"policy": spared, "scenario": [_KEPT], "traffic": ["message"]},
        "question": [],
        "study.baseline": spared[0],
        "study.answers": [_BATTERY],
        "trials.repetitions": trials or PARTS["sensor"][0].trials,
        f"scenario.{_KEPT}": _scenario(situation, _KEPT),
    }
    with _done(values) as summary:
        days = {
            cell.policy: summary.analysis.estimate(cell.name, _BATTERY)
            for cell in summary.plan.cells
        }
    return {policy: found for policy, found in days.items() if found is not None}


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
    phase: Callable[[str], None] | None = None,
) -> Margin:
    """How near the RADIUS server of an office is to failing after a power cut.

    ``holds``: whether every client joins now; slower servers are tried then, else faster ones.
    """
    if phase:
        phase(f"measuring the margin of the RADIUS server, {policy}")
    name = "office-storm"
    share = situation.requests_per_s / situation.access_points
    levels = [share * factor for factor in (_LESS if holds else _MORE)]
    values: dict[str, Any] = {
        "grid": {
            "policy": [policy], "scenario": [name], "traffic": ["short"], _REQUESTS: levels,
        },
        "question": [],
        "study.baseline": policy,
        "study.answers": [_JOINED],
        "trials.repetitions": _MARGIN_TRIALS,
        f"scenario.{name}": _scenario(situation, name),
    }  # fmt: skip
    with _done(values) as summary:
        of_cell = {
            str(cell): (least, mean)
            for cell, least, mean in summary.observations.filter(pl.col("metric") == _JOINED)
            .group_by(pl.col("cell").cast(pl.String))
            .agg(pl.col("value").min(), pl.col("value").mean().alias("mean"))
            .iter_rows()
        }
        found = sorted(
            (
                (float(dict(cell.factors)[_REQUESTS]), *of_cell.get(cell.name, (0.0, 0.0)))
                for cell in summary.plan.cells
            ),
            reverse=True,
        )
        clients = summary.plan.cells[0].settings.clients or 1
    short = next((one for one in found if one[1] < 1), None)
    enough = [level for level, _, _ in found if short is None or level > short[0]]
    return Margin(
        policy,
        situation.requests_per_s,
        min(enough) * situation.access_points if enough else None,
        None if short is None else short[0] * situation.access_points,
        0.0 if short is None else short[2] * clients,
        clients,
    )


def _layers(link: str) -> tuple[str, ...]:
    return (_OPEN, link, resolve(TUNNEL).name, resolve(f"{link}+{TUNNEL}").name)


def _run(
    situation: Situation,
    part: Part,
    policies: Sequence[str],
    layers: Sequence[str],
    trials: int,
) -> tuple[tuple[Answered, ...], Names]:
    every = list(dict.fromkeys((situation.have, *policies, *layers)))
    grid: dict[str, Any] = {
        "policy": every,
        "scenario": [part.scenario],
        "traffic": [part.traffic],
    }
    exclude: list[dict[str, Any]] = []
    if part.roams:
        methods = {
            "full": _roaming(every, fast=False),
            "fast-transition": _roaming(every, fast=True),
        }
        methods = {method: own for method, own in methods.items() if own}
        grid[_METHOD] = list(methods)
        if len(methods) > 1:
            exclude = [
                {"policy": methods[other], _METHOD: [method]}
                for method, other in (("full", "fast-transition"), ("fast-transition", "full"))
            ]
    questions = [_question(part, situation.have, policies)]
    if layers:
        _, link, alone, whole = layers
        questions.append(_question(part, _OPEN, (link, alone, whole)))
        questions.append(_question(part, link, (whole,)))
    values: dict[str, Any] = {
        "grid": grid,
        "exclude": exclude,
        "question": questions,
        "study.baseline": situation.have,
        "study.answers": [part.metric],
        "trials.repetitions": trials,
        f"scenario.{part.scenario}": _scenario(situation, part.scenario),
    }
    with _done(values) as summary:
        return summary.answered, Names(summary.plan.cells)


def _undecided(answered: Answered) -> int:
    """Further trials that an answer needs to decide; 0 where it has decided."""
    return max(
        (one.more or 0 for one in answered.compares if one.verdict is Verdict.TOO_FEW), default=0
    )


@contextmanager
def _done(values: Mapping[str, Any]) -> Iterator[RunSummary]:
    """A run of the places with some values, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="airtoll-advise-") as folder:
        with resources.as_file(resources.files(__package__).joinpath("places.toml")) as study:
            done = run(study, out=Path(folder) / "run", values=cast(Mapping[str, Level], values))
        yield summarise(done.path)


def _question(part: Part, have: str, to: Sequence[str]) -> dict[str, Any]:
    return {
        "ask": "What changes with another policy?",
        "metric": part.metric,
        "from": _levels(part, have),
        "to": [_levels(part, name) for name in to if name != have],
    }


def _levels(part: Part, name: str) -> dict[str, Any]:
    if not part.roams:
        return {"policy": name}
    fast = resolve(name).link.fast_transition
    return {"policy": name, _METHOD: "fast-transition" if fast else "full"}


def _roaming(names: Sequence[str], *, fast: bool) -> list[str]:
    return [name for name in names if resolve(name).link.fast_transition is fast]


def _scenario(situation: Situation, name: str) -> dict[str, Any]:
    """The scenario of the file with the PHY, devices and numbers of the situation."""
    own = _of_file(name)
    own |= _radio(situation)
    if own.get("authenticate"):
        own["join"] = {**own.get("join", {}), "chain": situation.chain}
    for key in ("mcs", "streams", "width_mhz", "rate_mbps", "band"):
        if own.get(key) is None:
            own.pop(key, None)
    if situation.place == "sensor":
        station = {"profile": situation.profile, "battery_wh": situation.battery.wh}
        own["stations"] = [{**own["stations"][0], **station}]
        per_day = _DAY_S / situation.every_s
        joins = own["duty"]["joins_per_day"] if name == ASSOCIATED else per_day
        own["duty"] = {**own["duty"], "joins_per_day": joins, "messages_per_day": per_day}
        return own
    if situation.profile is not None:
        own["ap"] = {**own.get("ap", {}), "profile": situation.profile}
    if "clients" in own:
        own["clients"] = min(situation.clients, -(-situation.clients // situation.access_points))
    if name == "office-storm":
        share = situation.requests_per_s / situation.access_points
        own["radius"] = {**own["radius"], "requests_per_s": share}
    return own


def _of_file(name: str) -> dict[str, Any]:
    text = resources.files(__package__).joinpath("places.toml").read_text("utf-8")
    found: dict[str, Any] = tomllib.loads(text)["scenario"][name]
    return found


def storm(situation: Situation) -> str:
    """The joins of an office after a power cut in one line."""
    spread_s = _of_file("office-storm")["join"]["spread_ms"] / 1000
    words = f"after a power cut all laptops start within {spread_s:g} s"
    if not situation.radius:
        return words
    share = situation.requests_per_s / situation.access_points
    each = f", {share:.4g} for each access point" if situation.access_points > 1 else ""
    return (
        f"{words}; the RADIUS server answers {situation.requests_per_s:g} requests/s{each}; "
        f"{situation.chain} certificates"
    )


def _radio(situation: Situation) -> dict[str, Any]:
    """PHY, band, width, MCS and streams: two streams, near the access point."""
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
    width = situation.width_mhz or (20 if at_2_4 else 80)
    if phy == "802.11n":
        # Its MCS names the streams, too.
        return found | {"mcs": 15, "width_mhz": min(width, 40)}
    return found | {"mcs": 7, "streams": 2, "width_mhz": width}


def _setting(situation: Situation) -> str:
    """PHY, width, rate, clients and devices in one line."""
    radio = _radio(situation)
    words = [situation.phy]
    if situation.place == "sensor":
        words += [f"{situation.band} GHz"] if situation.band else []
        words += ["20 MHz", "-60 dBm", f"station {situation.profile}"]
        words.append(f"a battery of {situation.battery.words}")
        words.append(f"a message of 200 octets {every_in_words(situation.every_s)}")
        return ", ".join(words)
    words += [f"{radio['band']} GHz"] if radio["band"] else []
    words += [f"{radio['width_mhz']} MHz"] if radio["width_mhz"] else []
    words += [f"MCS {radio['mcs']}"] if radio["mcs"] is not None else []
    words += [f"{radio['streams']} streams"] if radio["streams"] else []
    words += [f"{radio['rate_mbps']} Mb/s"] if radio["rate_mbps"] else []
    if situation.place == "office":
        words.append(f"{situation.clients} laptops on {situation.access_points} access points")
    else:
        words.append("one station near the router")
    words.append(f"access point {situation.profile or 'of unknown cost (profile ideal)'}")
    return ", ".join(words)
