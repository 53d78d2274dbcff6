"""The settings that give a printed order of TCP and UDP."""

from __future__ import annotations

import csv
from itertools import product
from typing import Final

from airtoll.answer.claims import Ordered, Ordering
from airtoll.answer.measured import Measured
from airtoll.observe.datasets import load_dataset
from airtoll.study import Level, PrintedOrder

#: Names of the two transports, as data sets and readers have them.
TRANSPORTS: Final = ("TCP", "UDP")
_Setting = tuple[tuple[str, Level], ...]


def ordered(measured: Measured) -> tuple[Ordered, ...]:
    """A claim for each `[[order]]` of the study whose cells were measured."""
    found = (_ordered(order, measured) for order in measured.plan.study.order)
    return tuple(one for one in found if one is not None)


def _ordered(order: PrintedOrder, measured: Measured) -> Ordered | None:
    """Settings are all combinations of the factors and of a traffic of each transport."""
    with (load_dataset(order.dataset).folder / "choices.csv").open(encoding="utf-8") as file:
        better = {row["scenario"]: row["better_transport"] for row in csv.DictReader(file)}
    losses: dict[tuple[str, str, _Setting], float] = {}
    traffics: dict[str, dict[str, None]] = {name: {} for name in TRANSPORTS}
    factors: dict[_Setting, None] = {}
    for cell in measured.plan.cells:
        if cell.policy != order.policy:
            continue
        lost = measured.analysis.overhead(cell.name)
        if lost is not None:
            losses[cell.scenario, cell.traffic, cell.factors] = abs(lost.value)
            traffics[cell.load.transport.upper()][cell.traffic] = None
            factors[cell.factors] = None
    settings = []
    for levels in factors:
        for tcp, udp in product(*traffics.values()):
            least = {}
            for scenario in better:
                of_tcp = losses.get((scenario, tcp, levels))
                of_udp = losses.get((scenario, udp, levels))
                if of_tcp is not None and of_udp is not None:
                    least[scenario] = "TCP" if of_tcp < of_udp else "UDP"
            if len(least) == len(better):
                kept = tuple(one for one, transport in better.items() if least[one] == transport)
                settings.append(Ordering((*levels, ("TCP", tcp), ("UDP", udp)), kept))
    if not settings:
        return None
    return Ordered(order.dataset, order.policy, tuple(better), tuple(settings))
