"""The "What if?" panel of a page: the choices that it offers, and what the page embeds.

Takes resolved scenarios; gives the values of the template. Never resolves a policy.
"""

from __future__ import annotations

import json
from typing import Any, Final

from attrs import frozen
from markupsafe import Markup

from airtoll.analyse.decomposition import REMAINDER
from airtoll.analyse.student import t_quantile
from airtoll.report import browser
from airtoll.report.overhead_names import SHORT

#: A change is simulated in this many trials of this length, seconds; the warm-up comes on top.
TRIALS: Final = 4
TRIAL_S: Final = 0.2
WARM_UP_S: Final = 0.05
#: Then, while nothing moves, in this many trials that are as long as this many packets take without
#: security, or as long as the most, seconds.
MORE_TRIALS: Final = 8
PACKETS: Final = 1000
MOST_S: Final = 4.0
#: Octets of a TCP segment: the step of a throughput whose flow names no payload.
_SEGMENT_OCTETS: Final = 1448

#: Parts that the panel shows whole have other names than their differences between two policies.
_WHOLE: Final = {
    "airtime_payload_s": "payload",
    "airtime_ip_transport_s": "IP and transport headers",
    "airtime_mac_phy_s": "MAC headers, preambles, padding",
    "airtime_management_s": "beacons, management",
}
#: ledger part and its name in the panel
_PARTS: Final = [
    (part, _WHOLE.get(part, words)) for part, words in SHORT.items() if part != REMAINDER
]


@frozen
class Choice:
    """A link policy with a tunnel: ``scenario`` as JSON, or the reason why it is ``refused``."""

    policy: str
    tunnel: str
    scenario: str | None
    refused: str | None


@frozen
class Panel:
    """Start and choices of a panel. ``policies`` and ``tunnels`` map names to words.

    ``rates`` pairs the words of a rate with the JSON of it; ``path_loss`` is the JSON of the model
    that a distance in metres means. ``moves``: a station hands over in the study, not in the panel.
    ``None`` for ``payload_octets`` or ``stations``: the first cell has no such number to change.
    """

    cell: str
    moves: bool
    policy: str
    tunnel: str
    policies: tuple[tuple[str, str], ...]
    tunnels: tuple[tuple[str, str], ...]
    choices: tuple[Choice, ...]
    rates: tuple[tuple[str, str], ...]
    path_loss: str
    payload_octets: int | None
    most_payload_octets: int
    stations: int | None


def values(panel: Panel | None) -> dict[str, Any]:
    """The values of the template; without a panel or a module there is none."""
    if panel is None or browser.module() is None:
        return {"what_if": None}
    data = {
        "trials": TRIALS,
        "trial_s": TRIAL_S,
        "warm_up_s": WARM_UP_S,
        "more_trials": MORE_TRIALS,
        "packets": PACKETS,
        "most_s": MOST_S,
        "least_s": WARM_UP_S,
        "segment_octets": _SEGMENT_OCTETS,
        "student": {n: float(t_quantile(0.95, n - 1)) for n in (TRIALS, MORE_TRIALS)},
        "parts": _PARTS,
        "policies": dict(panel.policies),
        "rates": [json.loads(rate) for _, rate in panel.rates],
        "path_loss": json.loads(panel.path_loss),
        "choices": [
            {
                "policy": choice.policy,
                "tunnel": choice.tunnel,
                "scenario": choice.scenario and json.loads(choice.scenario),
                "refused": choice.refused,
            }
            for choice in panel.choices
        ],
    }
    return {
        "what_if": {
            "panel": panel,
            "data": browser.in_script(data),
            "module": browser.embedded(),
            "simulator": Markup(browser.script("simulator.js") + browser.script("changed.js")),
            "script": Markup(browser.script("what_if.js")),
            "trials": TRIALS,
            "trial_ms": round(TRIAL_S * 1000),
            "more_trials": MORE_TRIALS,
            "packets": PACKETS,
        }
    }
