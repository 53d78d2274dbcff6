"""Testbeds by name.

Takes a name; gives a testbed. Imports each only when it is asked for, so that the simulator needs
none of what the real stack needs.
"""

from __future__ import annotations

from collections.abc import Mapping

from airtoll.errors import UsageError
from airtoll.testbeds.contract import Testbed

NAMES = ("simulator", "analytic", "linux")


def make(name: str, options: Mapping[str, object] | None = None) -> Testbed:
    """The testbed of a name.

    Raises ``UsageError`` for an unknown name, ``EnvironmentProblem`` if its parts are missing.
    """
    if name == "simulator":
        from airtoll.testbeds.simulator import Simulator

        return Simulator()
    if name == "analytic":
        from airtoll.testbeds.analytic import Analytic

        return Analytic()
    if name == "linux":
        from airtoll.testbeds.linux.testbed import Linux

        return Linux(vm=bool((options or {}).get("vm")))
    raise UsageError(f"--on {name}: no such testbed; choose from {', '.join(NAMES)}")
