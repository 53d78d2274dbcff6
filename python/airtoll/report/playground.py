"""The playground: one page of lessons whose figures the simulator computes while one looks.

Takes resolved scenarios; gives the text of the page. Loads nothing from elsewhere.
"""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from attrs import frozen
from markupsafe import Markup

from airtoll.observe.replacing import put_text
from airtoll.report import browser
from airtoll.report.own import refuse_foreign
from airtoll.report.templates import page

#: A point of a lesson is one trial of this length, after a warm-up. In 0.1 s at 6 Mb/s the number
#: of frames is the same with and without CCMP.
WARM_UP_S: Final = 0.02
MEASURED_S: Final = 1.0
#: A cost is the mean of so many pairs of trials, each with common random numbers.
COST_PAIRS: Final = 5
#: Student's t of its interval: level 0.95, four degrees of freedom.
COST_T: Final = 2.776

#: anchor -> title, question, task, explanation to check against the figure
LESSONS: Final = {
    "payload": (
        "Payload size",
        "How does the size of a packet change the throughput?",
        "Move the rate. Compare the left end of the curves with the right end.",
        "Preamble, back-off and Ack take the same time for every frame. A small packet pays for "
        "them with few octets. Security costs nothing at some sizes and a symbol at others: "
        "the next lesson shows the reason.",
    ),
    "symbols": (
        "OFDM symbols",
        "Why do some octets cost nothing, and the next one much?",
        "Move the rate. The curves show payloads in steps of one octet; the vertical axis does not "
        "begin at zero.",
        "A frame lasts a whole number of symbols of 4 us. Octets of security that fit into the "
        "padding of the last symbol are free. One more octet costs a symbol. At 54 Mb/s a "
        "symbol holds 27 octets, at 6 Mb/s only 3.",
    ),
    "contention": (
        "Contention",
        "What happens to the air when more stations send?",
        "Move the payload. Follow both curves from one station to ten.",
        "Stations that draw the same back-off collide, and both frames are lost. The share of the "
        "air for repetitions grows with the number of stations, while less time passes unused.",
    ),
    "ciphers": (
        "WEP against CCMP",
        "Does a better cipher cost more?",
        "Move the payload to 100 octets, then to 1472.",
        "WEP adds 8 octets to a frame, CCMP 16, TKIP 20, GCMP-256 24. At 1472 octets all of them "
        "end in the same symbol, one after the last symbol of the open network, so each costs the "
        "same: WEP is broken and saves nothing. At 100 octets up to 20 octets fit into the padding "
        "and cost nothing, and 24 take one more symbol. WPA3 with CCMP costs as much as WPA2: the "
        "cipher decides. Octets on the air are the whole cost, because these devices encrypt as "
        "fast as the radio sends.",
    ),
    "slow": (
        "One slow client",
        "What does one slow station do to a fast one?",
        "Lower the rate of the slow station.",
        "DCF gives each station the same number of frames, whatever they last. So both stations "
        "get the throughput of the slow one, and the fast one loses most.",
    ),
    "handover": (
        "A hand-over, frame by frame",
        "Which frames pass while a call changes its access point?",
        "Choose a method. Step through the frames with the buttons.",
        "The call is silent from the last data frame with the old access point to the first one "
        "with the new one. A call sends a packet every 20 ms, so every hand-over that ends before "
        "the next packet leaves the same gap of almost 20 ms. Fast transition always saves "
        "messages. It saves time only where a full join runs EAP with a server, which takes longer "
        "than one packet.",
    ),
}


@frozen
class Scenarios:
    """Scenarios of the lessons as JSON, each with its name; rates and path loss as in a panel."""

    network: tuple[tuple[str, str], ...]
    rates: tuple[tuple[str, str], ...]
    path_loss: str
    handovers: tuple[tuple[str, str], ...]
    seed: int = 1


def render(scenarios: Scenarios, *, answers: bool = True) -> str:
    """The page, with "What to notice" or without it.

    Raises ``UsageError`` where the simulator for browsers is not built.
    """
    data = {
        "network": _read(scenarios.network),
        "rates": _read(scenarios.rates),
        "path_loss": json.loads(scenarios.path_loss),
        "handovers": _read(scenarios.handovers),
        "seed": scenarios.seed,
        "warm_up_s": WARM_UP_S,
        "measured_s": MEASURED_S,
        "cost_pairs": COST_PAIRS,
        "cost_t": COST_T,
    }
    return page(
        "playground.html.j2",
        {
            "title": "Playground",
            "lessons": LESSONS,
            "answers": answers,
            "measured_s": MEASURED_S,
            "cost_pairs": COST_PAIRS,
            "rates": [words for words, _ in scenarios.rates],
            "handovers": [words for words, _ in scenarios.handovers],
            "data": browser.in_script(data),
            "module": browser.embedded(),
            "script": Markup(
                "".join(
                    browser.script(name) for name in ("simulator.js", "changed.js", "playground.js")
                )
            ),
        },
    )


def write_playground(
    scenarios: Scenarios, out: Path, *, answers: bool = True, force: bool = False
) -> Path:
    """Write the page, with "What to notice" or without it.

    Raises ``UsageError`` for a file that airtoll did not write, but with ``force``, and
    ``StorageError`` if the disk refuses.
    """
    if not force:
        refuse_foreign(out)
    put_text(out, render(scenarios, answers=answers))
    return out


def seed_of(path: Path) -> int | None:
    """The seed of a playground on the disk; None for another file, or none."""
    try:
        found = _DATA.search(path.read_text("utf-8"))
        seed = json.loads(found[1])["seed"] if found else None
    except (OSError, ValueError, KeyError):
        return None
    return seed if isinstance(seed, int) else None


_DATA: Final = re.compile(
    r'<script type="application/json" id="playground-data">(.*?)</script>', re.S
)


def _read(named: tuple[tuple[str, str], ...]) -> list[list[object]]:
    return [[name, json.loads(text)] for name, text in named]
