"""Runs a case in the ns-3 of the PyPI wheel ``ns3``.

Takes a case and a run number, gives octets, delays and CPU seconds. Each run happens in a child
process of its own, because ns-3 keeps global state and a crash must not take the table along.
"""

from __future__ import annotations

import importlib.util
import multiprocessing
import os
import resource
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from scenarios import Case

VERSION = "3.44"


@dataclass(frozen=True)
class Reading:
    """The result of one ns-3 run."""

    octets: list[int]
    others: list[int]  # of the flows of neighbours
    delay_s: float | None
    beacon_octets: int
    cpu_s: float


def importable() -> str | None:
    """None where the wheel can be used, else why not."""
    if importlib.util.find_spec("ns") is None:
        return "the ns3 wheel is not installed (pip install ns3==3.44.post0)"
    return None


def load() -> Any:
    """Compiles ``ns3/scenario.cc`` in this process; call once before the first :func:`run`."""
    with _Quiet():
        import cppyy
        from ns import ns  # noqa: F401 (loads every ns-3 library and header)

        cppyy.cppdef((Path(__file__).parent / "ns3" / "scenario.cc").read_text())
        bench = cppyy.gbl.airtoll_bench
        warm = bench.Parameters()
        warm.interval, warm.duration, warm.warmUp = 0.01, 0.1, 1.0
        bench.Run(warm)
    return bench


def run(bench: Any, case: Case, number: int) -> Reading:
    """One run with random run number ``number``."""
    queue: Any = multiprocessing.get_context("fork").SimpleQueue()
    child = multiprocessing.get_context("fork").Process(
        target=_child, args=(bench, case.ns3(number), queue)
    )
    child.start()
    text, cpu_s = queue.get() if _alive(child, queue) else ("", 0.0)
    child.join()
    if not text:
        raise RuntimeError(f"ns-3 failed on {case.name} (run {number})")
    *lines, beacon = text.split("\n")[:-1]
    all_rows = [line.split() for line in lines]
    rows = all_rows[: len(case.flows)]
    others = [int(r[0]) for r in all_rows[len(case.flows) :]]
    packets = sum(int(r[2]) for r in rows)
    delay = sum(float(r[1]) for r in rows) / packets if packets and case.kind != "tcp" else None
    return Reading([int(r[0]) for r in rows], others, delay, int(beacon), cpu_s)


def _alive(child: Any, queue: Any) -> bool:
    while child.is_alive() and queue.empty():
        time.sleep(0.01)
    return not queue.empty()


def _child(bench: Any, attributes: dict[str, Any], queue: Any) -> None:
    parameters = bench.Parameters()
    for name, value in attributes.items():
        setattr(parameters, name, value)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_utime
    text = str(bench.Run(parameters))
    queue.put((text, resource.getrusage(resource.RUSAGE_SELF).ru_utime - before))


class _Quiet:
    """Silences the interpreter's linker notes on standard error."""

    def __enter__(self) -> None:
        self.saved = os.dup(2)
        null = os.open(os.devnull, os.O_WRONLY)
        os.dup2(null, 2)
        os.close(null)

    def __exit__(self, *_: object) -> None:
        os.dup2(self.saved, 2)
        os.close(self.saved)
