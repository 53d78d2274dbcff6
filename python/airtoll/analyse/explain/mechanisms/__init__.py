"""The prediction of each mechanism: from the setting and a reading to the value after.

    predicted.py   values with uncertainties; octets alone; helpers
    air.py         aggregation, rates, retries, who else sends
    devices.py     ciphers on CPUs, cards, hosts, faults of drivers
    path.py        wires, path MTU, sleep, the measurement itself

The docstring of a mechanism's function names its source.
"""

from collections.abc import Mapping
from typing import Final

from airtoll.analyse.explain.mechanisms.air import AIR
from airtoll.analyse.explain.mechanisms.devices import DEVICES
from airtoll.analyse.explain.mechanisms.path import PATH
from airtoll.analyse.explain.mechanisms.predicted import (
    UNSEEN,
    Mechanism,
    Predicted,
    Prior,
    Values,
    predicted,
    unchanged,
    usual_before,
)

MECHANISMS: Final[Mapping[str, Mechanism]] = {one.name: one for one in (*AIR, *DEVICES, *PATH)}

__all__ = [
    "MECHANISMS",
    "UNSEEN",
    "Mechanism",
    "Predicted",
    "Prior",
    "Values",
    "predicted",
    "unchanged",
    "usual_before",
]
