"""Speed of the simulator: simulated seconds per CPU second on one core, beside ns-3.

``python benchmarks/simulator.py [--no-ns3]`` (``make bench-simulator``) runs each scenario of
the table below in airtoll with ledger, cipher and host costs on, prints simulated over CPU time
and, where the PyPI wheel ``ns3`` can be imported, the same scenario in ns-3 and the ratio. The
last line is ``a54x10 N a54x50 N ax80x10 N sim-s/cpu-s``; the exit code is 1 below the goals.
Needs a release build of the native module. CPU time is user plus system time of this process.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import ns3_testbed
from scenarios import Case

#: Cell, ns-3's simulated seconds, and the least simulated seconds per CPU second that airtoll owes.
CASES = {
    "a54x1": (Case("a54x1", "udp", "a", rate=54), 4.0, None),
    "a54x10": (Case("a54x10", "udp", "a", stations=10, rate=54), 3.0, 300.0),
    "a54x50": (Case("a54x50", "udp", "a", stations=50, rate=54), 1.0, 100.0),
    "ax80x10": (Case("ax80x10", "udp", "ax", stations=10, mcs=11, width=80), 1.0, 100.0),
    "tcp54": (Case("tcp54", "tcp", "a", rate=54, payload=1460), 3.0, 300.0),
    "n40relay": (
        Case("n40relay", "tcp", "n", stations=2, mcs=7, width=40, direction="relay", payload=1460),
        3.0,
        None,
    ),
}

#: Costs that every node pays, so that host and cipher model take part in the measurement.
HOST = {
    "transmit": {"fixed_ns": 5000, "per_octet_ns": 0.5},
    "receive": {"fixed_ns": 5000, "per_octet_ns": 0.5},
    "engine": "inline",
    "ciphers": [
        {
            "cipher": "ccmp-128",
            "encrypt": {"fixed_ns": 500, "per_octet_ns": 1},
            "decrypt": {"fixed_ns": 500, "per_octet_ns": 1},
        }
    ],
}


def with_costs(document: dict[str, Any]) -> dict[str, Any]:
    """A scenario with host costs at every node and CCMP at every station."""
    for node in document["nodes"]:
        node["host"] = HOST
        if node["role"] == "station":
            node["cipher"] = "ccmp-128"
    return document


def airtoll_rate(case: Case, cpu_goal_s: float = 1.5) -> float:
    """Simulated seconds per CPU second, measured over at least ``cpu_goal_s`` of CPU time."""
    from airtoll import _native

    simulated_s = 2.0
    while True:
        text = json.dumps(with_costs(case.airtoll(simulated_s, warm_up_s=0.5)))
        before = time.process_time()
        _native.Scenario(text).simulate([1])
        cpu_s = time.process_time() - before
        if cpu_s >= cpu_goal_s:
            return (simulated_s + 0.5) / cpu_s
        simulated_s *= min(20.0, 1.3 * cpu_goal_s / max(cpu_s, 1e-3))


def ns3_rate(bench: Any, case: Case, simulated_s: float) -> float:
    """The same for ns-3, association and warm-up included."""
    from dataclasses import replace

    reading = ns3_testbed.run(bench, replace(case, duration_s=simulated_s), 1)
    warm_up_s = case.ns3(1)["warmUp"]
    return (simulated_s + warm_up_s) / reading.cpu_s


def main() -> int:
    """Measures, prints, judges."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--no-ns3", action="store_true", help="leave ns-3 out")
    parser.add_argument("--json", type=Path, help="write the figures to this file as well")
    options = parser.parse_args()
    why = "left out" if options.no_ns3 else ns3_testbed.importable()
    bench = None
    if why:
        print(f"ns-3: {why}")
    else:
        bench = ns3_testbed.load()
    figures: dict[str, Any] = {"machine": platform.machine(), "cases": {}}
    missed = []
    for name, (case, ns3_s, goal) in CASES.items():
        rate = airtoll_rate(case)
        entry: dict[str, float | None] = {"airtoll": rate, "goal": goal}
        line = f"{name:10} airtoll {rate:9.1f} sim-s/cpu-s"
        if goal is not None:
            line += f"  goal {goal:.0f}"
            if rate < goal:
                missed.append(name)
                line += " MISSED"
        if bench is not None:
            other = ns3_rate(bench, case, ns3_s)
            entry["ns3"] = other
            line += f"  ns-3 {other:6.2f}  ratio {rate / other:.0f}"
        figures["cases"][name] = entry
        print(line, flush=True)
    if options.json:
        options.json.write_text(json.dumps(figures, indent=1) + "\n")
    rates = [f"{n} {figures['cases'][n]['airtoll']:.0f}" for n in ("a54x10", "a54x50", "ax80x10")]
    print(" ".join(rates) + " sim-s/cpu-s")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
