"""The tasks of a class hour, and their answers.

Takes the playground's scenarios and the report of a capture; gives tasks with blanks to fill in,
each with its answer. The texts of the playground's lessons are those of the page.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from attrs import frozen

from airtoll.capture.reports import CaptureReport
from airtoll.lesson.points import contention, cost, handover, names, network
from airtoll.present.names import policy_name
from airtoll.report.playground import LESSONS, Scenarios
from airtoll.run.lessons import POLICIES, handover_name

_OPEN: Final = POLICIES.index("open")
_CCMP: Final = POLICIES.index("wpa2-psk-ccmp")
#: Payloads of the playground's axes and controls, octets.
_PAYLOADS: Final = (72, 1472)
_SYMBOLS: Final = (400, 460)
_CONTROL: Final = (100, 1472)
_MOST_STATIONS: Final = 10
#: A fall of the throughput by this share from one octet to the next is a new symbol.
_FALL: Final = 0.01
#: Policy and method of the hand-overs to compare.
_HANDOVERS: Final = (
    ("wpa2-psk-ccmp", "full"),
    ("wpa2-ft-psk-ccmp", "fast-transition"),
    ("wpa2-ft-eap-tls-ccmp", "full"),
    ("wpa2-ft-eap-tls-ccmp", "fast-transition"),
)


@frozen
class Handshake:
    """A capture of a join: its policy, folder and page as the sheet names them, and its report.

    ``keys``: the keys that open it in Wireshark, as TYPE:KEY.
    """

    policy: str
    folder: str
    page: str
    capture: CaptureReport
    keys: tuple[str, ...]


@frozen
class Blank:
    """A number to find, and the number."""

    what: str
    answer: str


@frozen
class Task:
    """One task of the hour: ``steps`` in the browser, ``command`` for the terminal, if any.

    ``remark``: the rows of the table that the command gives, and how to read them.
    """

    title: str
    question: str
    minutes: int
    steps: str
    command: str | None
    remark: str
    blanks: tuple[Blank, ...]
    why: str


def tasks(scenarios: Scenarios, handshakes: Sequence[Handshake]) -> list[Task]:
    """All tasks, with the answers of the scenarios' seed."""
    found = [_lesson(anchor, scenarios) for anchor in LESSONS]
    return [*found, _handshakes(handshakes)]


def _lesson(anchor: str, scenarios: Scenarios) -> Task:
    title, question, task, why = LESSONS[anchor]
    about = _ABOUT[anchor]
    return Task(
        title=title,
        question=question,
        minutes=about.minutes,
        steps=f"Open `playground.html`, lesson “{title}”. {task}",
        command=about.command,
        remark=about.remark,
        blanks=tuple(about.blanks(scenarios)),
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
    with_policy = policy_name(POLICIES[_CCMP])
    for payload in reversed(_CONTROL):
        for stations in (1, _MOST_STATIONS):
            point = contention(scenarios, _CCMP, payload=payload, stations=stations)
            where = f"{stations} station{'s' * (stations > 1)}, {payload} octets, {with_policy}"
            found.append(Blank(f"throughput of all, {where}", point.throughput))
        found.append(Blank(f"air for repetitions, {where}", point.repetitions))
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
            found.append(Blank(what, f"{point.throughput(station):.2f} Mb/s"))
    return found


def _handovers(scenarios: Scenarios) -> list[Blank]:
    found = []
    for policy, method in _HANDOVERS:
        name = handover_name(policy, method)
        point = handover(scenarios, name)
        gap = 1000 * point.total("handover_gap_s")
        messages = point.total("handover_messages")
        found.append(Blank(f"gap of the call, {name}", f"{gap:.2f} ms"))
        found.append(Blank(f"messages, {name}", f"{messages:.0f}"))
    return found


def _run(study: str, name: str, *values: str) -> str:
    """A run of a study with other values, and its table, in the words of every usual shell."""
    place = f"runs/{name}"
    given = " ".join(f'--set "{value}"' for value in (*values, _NO_QUESTION))
    return f"airtoll run {study} --out {place} {given}\nairtoll show {place} costs"


def _listed(key: str, levels: Sequence[object]) -> str:
    """A ``--set`` with a list that needs no quotation marks but the shell's."""
    return f"{key}=[{','.join(map(repr, levels))}]"


#: The questions of the study are about more than a task.
_NO_QUESTION: Final = "question=[]"
_UDP: Final = _listed("grid.traffic", ["udp"])
_TWO_POLICIES: Final = _listed("grid.policy", [POLICIES[_OPEN], POLICIES[_CCMP]])
_TWO_RATES: Final = _listed("grid.scenario.rate_mbps", [6, 54])
_PAYLOAD: Final = "grid.traffic.payload_bytes"
_COSTS: Final = "The column `throughput overhead` has the costs."


@frozen
class _About:
    """A lesson's minutes, command, remark, and the blanks of its scenarios."""

    minutes: int
    command: str | None
    remark: str
    blanks: Callable[[Scenarios], list[Blank]]


#: By anchor of the lesson.
_ABOUT: Final[Mapping[str, _About]] = {
    "payload": _About(
        7,
        _run(
            "quickstart", "payload", _TWO_POLICIES, _UDP, _TWO_RATES, _listed(_PAYLOAD, _PAYLOADS)
        ),
        _COSTS,
        _payload,
    ),
    "symbols": _About(
        7,
        _run("quickstart", "symbols", _TWO_POLICIES, _UDP, _TWO_RATES, _listed(_PAYLOAD, _SYMBOLS)),
        f"{_COSTS} The falls of the curve are in the page alone.",
        _symbols,
    ),
    "contention": _About(
        7,
        _run(
            "quickstart",
            "contention",
            _TWO_POLICIES,
            _UDP,
            _listed("grid.scenario.clients", [1, _MOST_STATIONS]),
            _listed(_PAYLOAD, _CONTROL),
            "traffic.udp.duration_s=1",
            _listed("study.answers", ["throughput_bps", "airtime_retry_s"]),
        ),
        f"The rows of {policy_name(POLICIES[_CCMP])} have the numbers. A trial lasts 1 s, so an "
        "`airtime retry` of 10 ms is 1 % of the air.",
        _contention,
    ),
    "ciphers": _About(
        7,
        _run(
            "quickstart",
            "ciphers",
            _listed("grid.policy", POLICIES),
            _UDP,
            _listed(_PAYLOAD, _CONTROL),
        ),
        _COSTS,
        _ciphers,
    ),
    "slow": _About(
        6,
        None,
        "This task has no command: the table of a run adds up its stations.",
        _slow,
    ),
    "handover": _About(
        8,
        _run(
            "roaming2026",
            "handover",
            _listed("grid.scenario", ["walk"]),
            _listed("grid.policy", ["open", *dict.fromkeys(policy for policy, _ in _HANDOVERS)]),
            _listed("grid.traffic", ["call"]),
            _listed(
                "grid.scenario.handover.method", [*dict.fromkeys(how for _, how in _HANDOVERS)]
            ),
            _listed("study.answers", ["handover_gap_s", "handover_messages"]),
        ),
        "Its numbers are means of ten calls.",
        _handovers,
    ),
}


def _handshakes(handshakes: Sequence[Handshake]) -> Task:
    steps = [
        "The captures are simulated, so their clock begins at 1970-01-01. Follow each session from "
        "its first frame, then compare the two.",
        *map(_opened, handshakes),
    ]
    if any(one.keys for one in handshakes):
        steps.append("Keys belong to Preferences, Protocols, IEEE 802.11, Decryption keys.")
    return Task(
        title="Two handshakes in captures",
        question="What passes before the first octet of data, and what does it cost?",
        minutes=10,
        steps=" ".join(steps),
        command="\n".join(
            f"airtoll capture report {one.folder}/air.pcapng --keys {one.folder}/keys.json"
            for one in handshakes
        ),
        remark=(
            "The messages are counted in the page. The octets that a cipher adds are in the "
            "table of the same data frames."
        ),
        blanks=tuple(blank for one in handshakes for blank in _of_join(one)),
        why=_why({one.policy for one in handshakes}),
    )


def _opened(one: Handshake) -> str:
    """Where the frames of a handshake are, and the keys that open them."""
    keys = [(kind, value) for kind, _, value in (key.partition(":") for key in one.keys)]
    words = " or ".join(f"the key `{value}` of type {kind}" for kind, value in keys)
    return (
        f"{policy_name(one.policy)}: `{one.page}`, or Wireshark with `{one.folder}/air.pcapng`"
        + (f" and {words}" if words else "")
        + "."
    )


def _of_join(one: Handshake) -> list[Blank]:
    (session,) = one.capture.sessions
    ledger = one.capture.ledger
    messages = sum(session["messages"].values())
    added = ledger["total"]["octets"]["security"] / ledger["data_frames"]
    values = {
        "messages before the first data frame": f"{messages}",
        "of these, frames with EAPOL": f"{one.capture.data['eapol_frames']}",
        "time of the join": _milliseconds(session["join_time_s"]),
        "octets of the key exchange": f"{ledger['total']['octets']['key_exchange']}",
        "octets that the cipher adds to a data frame": f"{added:.0f}",
        "share of the airtime that security takes": _percent(ledger["security_share"]),
    }
    name = policy_name(one.policy)
    return [Blank(f"{what}, {name}", value) for what, value in values.items()]


def _why(policies: set[str]) -> str:
    """The reason of the numbers; ``policies``: those of the handshakes."""
    return " ".join(
        (
            "The key exchange happens once a join, and its frames are sent at a low rate. The "
            "octets of the cipher are in every data frame.",
            *([_SAE] if policies == {"wpa2-psk-ccmp", "wpa3-sae-ccmp"} else []),
            "A capture of a tenth of a second holds a whole join and few data frames, so its share "
            "of security is no rule for an hour.",
        )
    )


_SAE: Final = (
    "WPA3 has two messages more: SAE takes four frames, a commit and a confirm of each side, where "
    "WPA2 has two frames of an open authentication. The commits are long, so the join costs more "
    "octets and time. After it both networks pay the same, because both encrypt with CCMP. These "
    "devices compute in no time; real ones add the time of SAE's arithmetic."
)


def _milliseconds(seconds: float | None) -> str:
    return "unknown" if seconds is None else f"{1000 * seconds:.2f} ms"


def _percent(share: float | None) -> str:
    return "unknown" if share is None else f"{100 * share:.1f} %"
