"""Testbeds by name.

Takes a name; gives a testbed. Imports each only when it is asked for, so that the simulator needs
none of what the real stack needs.
"""

from __future__ import annotations

from collections.abc import Callable

from airtoll.errors import UsageError
from airtoll.testbeds.capability import Capability
from airtoll.testbeds.contract import Testbed

NAMES = ("simulator", "analytic", "linux")


def make(
    name: str,
    *,
    vm: bool | str = False,
    real_stations: int | None = None,
    on_phase: Callable[[str], None] | None = None,
) -> Testbed:
    """The testbed of a name; ``vm`` puts the real stack into a throw-away guest
    (a name: of this driver, see ``guest.drivers``). ``on_phase`` is told what the testbed waits
    for, as "starting the guest"; an empty text ends the wait. ``real_stations``: how many stations
    of a cell have real daemons, where the medium simulates the others.

    Raises ``UsageError`` for an unknown name, ``EnvironmentProblem`` if its parts are missing.
    """
    if vm and name != "linux":
        raise UsageError(f"--vm goes with --on linux, not with --on {name}")
    if real_stations is not None and name != "linux":
        raise UsageError(f"--real-stations goes with --on linux --vm, not with --on {name}")
    if name == "simulator":
        from airtoll.testbeds.simulator import Simulator

        return Simulator()
    if name == "analytic":
        from airtoll.testbeds.analytic import Analytic

        return Analytic()
    if name == "linux":
        from airtoll.testbeds.linux.testbed import Linux

        return Linux(vm=vm, real_stations=real_stations, on_phase=on_phase)
    raise UsageError(f"--on {name}: no such testbed; choose from {', '.join(NAMES)}")


def capability(name: str) -> Capability | None:
    """The capability table of a testbed; None for one without a table."""
    if name == "simulator":
        from airtoll.testbeds import simulated

        return simulated.CAPABILITY
    if name == "linux":
        from airtoll.testbeds.linux.capability import CAPABILITY

        return CAPABILITY
    return None
