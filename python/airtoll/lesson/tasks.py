"""The tasks of a class hour, and their answers.

Takes the playground's scenarios and the report of a capture; gives tasks with blanks to fill in,
each with its answer. The texts of the playground's lessons are those of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from attrs import frozen

from airtoll.capture.reports import CaptureReport
from airtoll.lesson.points import cost, handover, names, network
from airtoll.present.names import policy_name
from airtoll.report.playground import LESSONS, MEASURED_S, Scenarios
from airtoll.run.what_if import POLICIES

_OPEN: Final = POLICIES.index("open")
_CCMP: Final = POLICIES.index("wpa2-psk-ccmp")
#: Payloads of the playground's axes and controls, octets.
_PAYLOADS: Final = (72, 1472)
_SYMBOLS: Final = (400, 460)
_CONTROL: Final = (100, 1472)
_MOST_STATIONS: Final = 10
#: A fall of the throughput by this share from one octet to the next is a new symbol.
_FALL: Final = 0.01
_HANDOVERS: Final = tuple(
    f"{policy_name(policy)}: {method}"
    for policy, method in (
        ("wpa2-psk-ccmp", "full"),
        ("wpa2-ft-eap-tls-ccmp", "full"),
        ("wpa2-ft-eap-tls-ccmp", "fast-transition"),
    )
)


@frozen
class Blank:
    """A number to find, and the number."""

    what: str
    answer: str


@frozen
class Task:
    """One task of the hour: ``steps`` in the browser, ``command`` for the terminal, if any."""

    title: str
    question: str
    minutes: int
    steps: str
    command: str | None
    blanks: tuple[Blank, ...]
    why: str


def tasks(scenarios: Scenarios, capture: CaptureReport, folder: str, key: str | None) -> list[Task]:
    """All tasks, with the answers of the scenarios' seed.

    ``folder``: the folder of the capture, as the sheet names it. ``key``: what opens it in
    Wireshark, None where there is none.
    """
    found = [_lesson(anchor, scenarios) for anchor in LESSONS]
    return [*found, _handshake(capture, folder, key)]


def _lesson(anchor: str, scenarios: Scenarios) -> Task:
    title, question, task, why = LESSONS[anchor]
    minutes, command, blanks = _ABOUT[anchor]
    return Task(
        title=title,
        question=question,
        minutes=minutes,
        steps=f"Open `playground.html`, lesson “{title}”. {task}",
        command=command,
        blanks=tuple(blanks(scenarios)),
        why=why,
    )


def _rates(scenarios: Scenarios) -> tuple[tuple[int, str], tuple[int, str]]:
    """The lowest and the highest rate: place in the list, words."""
    last = len(scenarios.rates) - 1
    return (0, scenarios.rates[0][0]), (last, scenarios.rates[last][0])


def _over_payloads(scenarios: Scenarios, payloads: tuple[int, int]) -> list[Blank]:
    found = []
    for place, words in reversed(_rates(scenarios)):
        for payload in payloads:
            what = f"cost of CCMP at {words} and {payload} octets"
            found.append(Blank(what, cost(scenarios, _CCMP, payload=payload, rate=place)))
    return found


def _payload(scenarios: Scenarios) -> list[Blank]:
    return _over_payloads(scenarios, _PAYLOADS)


def _symbols(scenarios: Scenarios) -> list[Blank]:
    (_, (place, words)) = _rates(scenarios)
    first, last = _SYMBOLS
    curve = [
        network(scenarios, _OPEN, payload=payload, rate=place).throughput()
        for payload in range(first, last + 1)
    ]
    falls = [
        str(first + at) for at in range(1, len(curve)) if curve[at] < (1 - _FALL) * curve[at - 1]
    ]
    steps = Blank(
        f"falls of the open network's curve at {words}, from {first} to {last} octets",
        f"{len(falls)}, at {' and '.join(falls)} octets",
    )
    return [*_over_payloads(scenarios, _SYMBOLS), steps]


def _contention(scenarios: Scenarios) -> list[Blank]:
    found = []
    for payload in reversed(_CONTROL):
        for stations in (1, _MOST_STATIONS):
            point = network(scenarios, _CCMP, payload=payload, stations=stations)
            where = f"{stations} station{'s' * (stations > 1)}, {payload} octets"
            found.append(Blank(f"throughput of all, {where}", f"{point.throughput():.2f} Mbit/s"))
        share = 100 * point.total("airtime_retry_s") / MEASURED_S
        found.append(Blank(f"air for repetitions, {where}", f"{share:.1f} %"))
    return found


def _ciphers(scenarios: Scenarios) -> list[Blank]:
    found = []
    for payload in _CONTROL:
        for policy, (words, _) in enumerate(scenarios.network):
            if policy != _OPEN:
                what = f"cost of {words}, {payload} octets"
                found.append(Blank(what, cost(scenarios, policy, payload=payload)))
    return found


def _slow(scenarios: Scenarios) -> list[Blank]:
    found = []
    fast, slow = names(2)
    for place, words in reversed(_rates(scenarios)):
        point = network(scenarios, _CCMP, stations=2, slow=place)
        for name, station in (("fast", fast), ("slow", slow)):
            what = f"throughput of the {name} station, slow one at {words}"
            found.append(Blank(what, f"{point.throughput(station):.2f} Mbit/s"))
    return found


def _handovers(scenarios: Scenarios) -> list[Blank]:
    found = []
    for name in _HANDOVERS:
        point = handover(scenarios, name)
        gap = 1000 * point.total("handover_gap_s")
        messages = point.total("handover_messages")
        found.append(Blank(f"gap of the call, {name}", f"{gap:.2f} ms"))
        found.append(Blank(f"messages, {name}", f"{messages:.0f}"))
    return found


#: anchor of a lesson -> minutes, command, blanks
_ABOUT: Final[Mapping[str, tuple[int, str | None, Callable[[Scenarios], list[Blank]]]]] = {
    "payload": (7, "airtoll run quickstart --set traffic.udp.payload_bytes=72", _payload),
    "symbols": (7, "airtoll run quickstart --set traffic.udp.payload_bytes=460", _symbols),
    "contention": (7, "airtoll run quickstart --set scenario.home.clients=10", _contention),
    "ciphers": (7, "airtoll run quickstart --set traffic.udp.payload_bytes=100", _ciphers),
    "slow": (6, None, _slow),
    "handover": (8, "airtoll run roaming2026", _handovers),
}


def _handshake(capture: CaptureReport, folder: str, key: str | None) -> Task:
    (session,) = capture.sessions
    ledger = capture.ledger
    octets = ledger["total"]["octets"]
    share = ledger["security_share"]
    seconds = session["join_time_s"]
    messages = sum(session["messages"].values())
    kind, _, value = (key or "").partition(":")
    where = "Preferences, Protocols, IEEE 802.11, Decryption keys"
    opened = f", decrypted with the key `{value}` of type {kind} ({where})" if key else ""
    return Task(
        title="A handshake in a capture",
        question="What passes before the first octet of data, and what does it cost?",
        minutes=8,
        steps=(
            "Open `handshake.html` and follow the session from its first frame. Wireshark shows "
            f"the same frames from `{folder}/air.pcapng`{opened}."
        ),
        command=f"airtoll capture report {folder}/air.pcapng --keys {folder}/keys.json",
        blanks=(
            Blank("messages before the first data frame", f"{messages}"),
            Blank("of these, frames with EAPOL", f"{capture.data['eapol_frames']}"),
            Blank("time of the join", _milliseconds(seconds)),
            Blank("octets of the key exchange", f"{octets['key_exchange']}"),
            Blank(
                "octets that the cipher adds to a data frame",
                f"{octets['security'] / ledger['data_frames']:.0f}",
            ),
            Blank("share of the airtime that security takes", _percent(share)),
        ),
        why=(
            "The key exchange happens once a join, and its frames are sent at a low rate. The "
            "octets of the cipher are in every data frame. A capture of a tenth of a second holds "
            "a whole join and few data frames, so its share of security is no rule for an hour."
        ),
    )


def _milliseconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"{1000 * seconds:.2f} ms"


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{100 * share:.1f} %"
