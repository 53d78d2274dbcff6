"""Points of the playground, simulated here: the same scenario, length and seed as on the page.

Takes the playground's scenarios; gives the numbers that the page shows. ``report/browser`` has the
same changes of a scenario as scripts.
"""

from __future__ import annotations

import copy
import json
import math
import statistics
from typing import Any, Final

from attrs import evolve, frozen

from airtoll import _native
from airtoll.report.playground import COST_PAIRS, COST_T, MEASURED_S, WARM_UP_S, Scenarios
from airtoll.run.lessons import POLICIES

#: Bits in a megabit.
_MEGA: Final = 1e6
#: Place of the open network among the policies.
_OPEN: Final = POLICIES.index("open")


@frozen
class Point:
    """The rows of one trial."""

    metrics: list[str]
    values: list[float]
    stations: list[str | None]
    seconds: list[int | None]

    def total(self, metric: str) -> float:
        """The sum of a metric over its rows."""
        pairs = zip(self.metrics, self.values, strict=True)
        return float(sum(value for name, value in pairs if name == metric))

    def throughput(self, station: str | None = None) -> float:
        """Throughput in Mb/s of a station, or of all."""
        rows = zip(self.metrics, self.values, self.stations, self.seconds, strict=True)
        return sum(
            value / _MEGA
            for name, value, owner, second in rows
            if name == "throughput_bps" and second is None and station in (None, owner)
        )


@frozen
class Contention:
    """Means of some trials with their intervals, as the page shows them."""

    throughput: str
    repetitions: str


def network(
    scenarios: Scenarios,
    policy: int,
    *,
    payload: int | None = None,
    rate: int | None = None,
    stations: int = 1,
    slow: int | None = None,
) -> Point:
    """A trial of the lessons' network under a policy.

    ``payload`` in octets; ``rate`` and ``slow`` are places in the list of rates: of all stations,
    and of the second one.
    """
    scenario = json.loads(scenarios.network[policy][1])
    if payload is not None:
        for flow in scenario["flows"]:
            flow["pattern"]["payload_octets"] = payload
    if rate is not None:
        for bss in scenario["bss"]:
            bss["rate"] = json.loads(scenarios.rates[rate][1])
    _copy_first(scenario, stations)
    if slow is not None:
        second = [node for node in scenario["nodes"] if node["role"] == "station"][1]
        second["rate"] = json.loads(scenarios.rates[slow][1])
    scenario["warm_up_s"] = WARM_UP_S
    scenario["duration_s"] = WARM_UP_S + MEASURED_S
    return _simulated(scenario, scenarios.seed)


def cost(scenarios: Scenarios, policy: int, *, payload: int, rate: int | None = None) -> str:
    """The cost of a policy against the open network, with its interval, as the page shows it.

    Pairs of trials with common random numbers.
    """
    pairs = [
        [
            network(evolve(scenarios, seed=seed), which, payload=payload, rate=rate).throughput()
            for which in (_OPEN, policy)
        ]
        for seed in _seeds(scenarios)
    ]
    shares = [100 * (1 - secured / opened) for opened, secured in pairs]
    return f"{_mean(shares, 100 * _packet(payload) / pairs[0][0], 1)} %"


def contention(scenarios: Scenarios, policy: int, *, payload: int, stations: int) -> Contention:
    """Throughput of all stations and the air for repetitions, as the page shows them."""
    trials = [
        network(evolve(scenarios, seed=seed), policy, payload=payload, stations=stations)
        for seed in _seeds(scenarios)
    ]
    throughputs = [one.throughput() for one in trials]
    repetitions = [100 * one.total("airtime_retry_s") / MEASURED_S for one in trials]
    return Contention(
        throughput=f"{_mean(throughputs, _packet(payload), 2)} Mb/s",
        repetitions=f"{_mean(repetitions, 0.0, 1)} %",
    )


def _seeds(scenarios: Scenarios) -> range:
    return range(scenarios.seed, scenarios.seed + COST_PAIRS)


def _packet(payload: int) -> float:
    """One packet of a trial in Mb/s, which is the step of a throughput."""
    return 8 * payload / (_MEGA * MEASURED_S)


def _mean(values: list[float], least: float, digits: int) -> str:
    """The mean of some trials with its interval, whose half is ``least`` at least."""
    half = max(COST_T * statistics.stdev(values) / math.sqrt(len(values)), least)
    step = 10**digits
    shown = math.ceil(step * half - 1e-9) / step
    return f"{statistics.fmean(values):.{digits}f} ± {shown:.{digits}f}"


def handover(scenarios: Scenarios, name: str) -> Point:
    """A trial of the hand-over that the playground lists by this name."""
    return _simulated(json.loads(dict(scenarios.handovers)[name]), scenarios.seed)


def names(stations: int) -> list[str]:
    """The names of so many stations of the network."""
    return ["A", *(f"copy {number} of A" for number in range(2, stations + 1))]


def _copy_first(scenario: dict[str, Any], stations: int) -> None:
    first = names(1)[0]
    (node,) = (one for one in scenario["nodes"] if one["name"] == first)
    flows = list(scenario["flows"])
    budgets = list(scenario["radio"]["budgets"])
    for name in names(stations)[1:]:
        scenario["nodes"].append({**copy.deepcopy(node), "name": name})
        for flow in flows:
            ends = {end: name if flow[end] == first else flow[end] for end in _ENDS}
            scenario["flows"].append(
                {
                    **copy.deepcopy(flow),
                    **ends,
                    "name": f"{name} {flow['name']}",
                    "station": name,
                }
            )
        for budget in budgets:
            nodes = [name if one == first else one for one in budget["nodes"]]
            scenario["radio"]["budgets"].append({**budget, "nodes": nodes})


_ENDS: Final = ("source", "destination")


def _simulated(scenario: dict[str, Any], seed: int) -> Point:
    rows = _native.Scenario(json.dumps(scenario)).simulate([seed])
    return Point(rows["metric"], rows["value"], rows["station"], rows["second"])
