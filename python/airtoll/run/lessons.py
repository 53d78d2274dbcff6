"""Scenarios of the playground's lessons, resolved from shipped studies.

Takes nothing; gives JSON that a page simulates. Simulates nothing. A hand-over that the simulator
refuses, such as fast transition without an FT AKM, is not offered.
"""

from __future__ import annotations

from typing import Final

from attrs import evolve

from airtoll import border
from airtoll.plan import Cell, make_plan
from airtoll.policies import resolve as resolve_policy
from airtoll.present.names import level_name, policy_name
from airtoll.report.playground import Scenarios
from airtoll.run.what_if import path_loss_of, rates_of
from airtoll.study import load
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

#: Policies of the network that most lessons change. WPA3 has both ciphers: the cipher decides.
POLICIES: Final = (
    "open",
    "wep-104",
    "wpa-psk-tkip",
    "wpa2-psk-ccmp",
    "wpa3-sae-ccmp",
    "wpa3-sae-gcmp-256",
)
#: Study and traffic of the network that most lessons change.
_NETWORK: Final = ("quickstart", "udp")
#: Study and traffic of the hand-overs.
_ROAMING: Final = ("roaming2026", "call")


def lessons(seed: int = 1) -> Scenarios:
    """The scenarios of all lessons; the page simulates them with ``seed``."""
    study, traffic = _NETWORK
    cell = next(c for c in make_plan(load(study).study).cells if c.traffic == traffic)
    cells = [evolve(cell, policy=name) for name in POLICIES]
    return Scenarios(
        network=tuple((policy_name(one.policy), _resolved(one)) for one in cells),
        rates=rates_of(cell),
        path_loss=path_loss_of(cell),
        handovers=tuple(
            (handover_name(one.policy, str(dict(one.factors)[_METHOD])), _resolved(one))
            for one in _handover_cells(*_ROAMING)
        ),
        seed=seed,
    )


def _handover_cells(study: str, traffic: str) -> list[Cell]:
    cells = make_plan(load(study).study).cells
    bed = Simulator()
    return [
        one
        for one in cells
        if one.traffic == traffic and one.scenario == cells[0].scenario and bed.check(one) is None
    ]


def handover_name(policy: str, method: str) -> str:
    """The playground's name of a hand-over, in the words of a run's tables."""
    return f"{policy_name(resolve_policy(policy).name)}: {level_name(_METHOD, method)}"


_METHOD: Final = "scenario.handover.method"


def _resolved(cell: Cell) -> str:
    return border.to_json(evolve(scenario(cell), series=False))
