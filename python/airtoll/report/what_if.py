"""The "What if?" panel of a page: the choices that it offers, and what the page embeds.

Takes resolved scenarios; gives the values of the template. Never resolves a policy.
"""

from __future__ import annotations

import json
from typing import Any, Final

from attrs import frozen
from markupsafe import Markup

from airtoll.report import live

#: A change is simulated in this many trials of this length, seconds; the warm-up comes on top.
TRIALS: Final = 4
TRIAL_S: Final = 0.2
WARM_UP_S: Final = 0.05
#: 97.5 % quantile of Student's t with ``TRIALS - 1`` degrees of freedom.
_STUDENT: Final = 3.182446

#: ledger part -> its name in the panel
_PARTS: Final = {
    "airtime_payload_s": "payload",
    "airtime_security_s": "security octets",
    "airtime_ip_transport_s": "IP and transport headers",
    "airtime_mac_phy_s": "MAC headers, preambles, padding",
    "airtime_ack_s": "acknowledgements",
    "airtime_contention_s": "medium access",
    "airtime_card_s": "waiting for the card",
    "airtime_retry_s": "retries, collisions",
    "airtime_protection_s": "RTS and CTS",
    "airtime_management_s": "beacons, management",
    "crypto_exposed_s": "crypto not hidden",
    "airtime_idle_s": "hosts, wires (idle)",
}


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
    that a distance in metres means. ``None`` for ``payload_octets`` or ``stations``: the first cell
    has no such number to change.
    """

    cell: str
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
    if panel is None or live.module() is None:
        return {"what_if": None}
    data = {
        "trials": TRIALS,
        "trial_s": TRIAL_S,
        "student": _STUDENT,
        "parts": list(_PARTS.items()),
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
            "data": _in_script(data),
            "module": live.embedded(),
            "simulator": Markup(live.script("simulator.js") + live.script("changed.js")),
            "script": Markup(live.script("what_if.js")),
            "trials": TRIALS,
            "trial_ms": round(TRIAL_S * 1000),
        }
    }


def _in_script(data: object) -> Markup:
    """JSON that cannot end the script element around it."""
    return Markup(json.dumps(data, sort_keys=True).replace("<", "\\u003c"))
