"""One value of an imported file, and one test with its values.

Units are those of the observation schema. A value is finite and in the range of its unit:
:class:`Value` refuses anything else.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Final

from attrs import field, frozen

from airtoll.errors import DatasetError
from airtoll.foreign_text import name_problem, shown
from airtoll.observe.metrics import METRICS, SHARES

#: Smallest and largest value of each unit. No instrument of today reads a larger one.
RANGES: Final[dict[str, tuple[float, float]]] = {
    "bit/s": (0.0, 1e14),
    "s": (0.0, 1e8),
    "1": (0.0, 1e15),
    "octet": (0.0, 1e18),
    "dBm": (-250.0, 250.0),
    "W": (0.0, 1e9),
    "h": (0.0, 1e8),
    "J/bit": (0.0, 1e6),
}


def range_problem(metric: str, value: float) -> str | None:
    """Why a value cannot be one of the metric, in the metric's unit; ``None`` if it can."""
    unit = METRICS[metric].unit
    low, high = (0.0, 1.0) if metric in SHARES else RANGES[unit]
    if not math.isfinite(value):
        return "must be a finite number"
    if value < low:
        return f"{metric} is not negative" if low == 0 else f"{metric} is at least {low:g} {unit}"
    if value > high:
        shown_unit = "" if unit == "1" else f" {unit}"
        return f"{metric} is at most {high:g}{shown_unit}"
    return None


#: End of the name of a traffic whose data go to the tool's client.
REVERSE: Final = "-reverse"


@frozen
class Value:
    """A metric's value; ``second`` for a value of a series; ``transport`` if the file has it.

    Raises ``DatasetError`` for a value out of range and for a flow whose name cannot be printed.
    """

    metric: str
    value: float
    second: int | None = None
    flow: str | None = None
    transport: str | None = None

    def __attrs_post_init__(self) -> None:
        """Refuse what no table may hold."""
        problem = range_problem(self.metric, self.value)
        if problem:
            raise DatasetError(f"{self.metric} {self.value!r}: {problem}")
        if self.second is not None and not 0 <= self.second < 2**32:
            raise DatasetError(f"second {self.second}: seconds are 0 to {2**32 - 1}")
        problem = name_problem(self.flow) if self.flow is not None else None
        if problem:
            raise DatasetError(f"flow {shown(self.flow)}: {problem}")

    @property
    def unit(self) -> str:
        """Unit of the metric."""
        return METRICS[self.metric][0]


@frozen
class Test:
    """One test of a file: a trial.

    ``caveats``: what is unknown and why, a sentence each. ``identity``: equal for two records of
    one test, which count once; ``None`` where the file cannot say. ``is_reverse``: the data go to
    the tool's client (``iperf3 -R``); such tests have a traffic of their own.
    """

    __test__ = False

    values: Sequence[Value]
    caveats: tuple[str, ...] = ()
    identity: str | None = None
    is_reverse: bool = False

    @property
    def traffic(self) -> str:
        """The name of its traffic: the transport, ``tcp-reverse`` to the tool's client, or none."""
        transport = next((v.transport for v in self.values if v.transport), None)
        if transport is None:
            return "none"
        return f"{transport}{REVERSE}" if self.is_reverse else transport

    @property
    def known(self) -> int:
        """How many values of the whole test it has."""
        return sum(value.second is None for value in self.values)


@frozen
class Reading:
    """The result of reading one file: its tests, and what it left out, a sentence each."""

    tests: Sequence[Test] = ()
    left_out: tuple[str, ...] = field(default=())


def number(holder: Any, key: str) -> float | None:
    """The number under a key of a JSON object; ``None`` where it is missing or no number (nan).

    Raises ``DatasetError`` for anything but a number.
    """
    value = holder.get(key) if isinstance(holder, dict) else None
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise DatasetError(f"{key} is {shown(value)}, not a number")
    try:
        return float(value)
    except OverflowError as error:
        raise DatasetError(f"{key} is {shown(value)}: out of range") from error


def needed(holder: Any, key: str) -> Any:
    """The value under a key. Raises ``DatasetError`` that names a missing key."""
    if not isinstance(holder, dict):
        raise DatasetError(f"{shown(holder)} stands where an object with {key!r} should")
    if key not in holder:
        raise DatasetError(f"key {key!r} is missing")
    return holder[key]


def objects(holder: Any, key: str) -> list[dict[str, Any]]:
    """The list of objects under a key; empty where it is missing.

    Raises ``DatasetError`` for anything but a list of objects.
    """
    found = holder.get(key) if isinstance(holder, dict) else None
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(one, dict) for one in found):
        raise DatasetError(f"{key} is not a list of objects")
    return found
