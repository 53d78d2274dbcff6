"""Which device explains the overheads of a published data set: readings, mechanisms, curves.

Takes data sets with the studies whose cells correspond to them and the scenarios of the fit; gives
fitted :class:`Model` s. Runs the simulator on resolved scenarios into which it puts each mechanism;
never fits a reading that it then predicts.

A mechanism costs a time per frame that depends on the cipher and the transport. Settings that a
study does not state are those that its open readings choose (``unstated``). Open and secured trials
of a prediction share their random numbers.
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

import numpy as np
import polars as pl
from attrs import evolve, frozen

from airtoll import _native, border
from airtoll.analyse import cost_curve
from airtoll.analyse.identification import Curve, Model, Overhead, identify
from airtoll.errors import TestbedError, UsageError
from airtoll.observe.datasets import load_dataset
from airtoll.plan import Cell, make_plan
from airtoll.run.unstated import Choice, Chosen, Setting, choose
from airtoll.study import load
from airtoll.testbeds.contract import observed_of, with_whole_cell
from airtoll.testbeds.resolve import CCA_US, scenario

Change = Callable[[border.Scenario, float], border.Scenario]

#: Distance of the costs of a curve, us.
_STEP_US: Final = 4.0
#: Costs of a curve at which it is measured in any case, us; the usual ones where empty.
_FIRST_US: tuple[float, ...] = ()
#: Simulated length of saturated trials, s; transfers last until they are done.
_SECONDS = 3.0


def _card(
    overlap: border.Overlap,
    meanwhile: border.Meanwhile,
    *roles: border.Role,
    random: float = 0.0,
    stations: int | None = None,
) -> Change:
    """Cards of all nodes of some roles, or of the first ``stations`` of them.

    ``random``: share of the time per frame that is drawn for each frame.
    """

    def change(resolved: border.Scenario, cost_us: float) -> border.Scenario:
        stage = border.NicStage(
            stage=border.StageKind.ENCRYPTION,
            cost=border.Cost(fixed_ns=(1 - random) * cost_us * 1e3),
            random_ns=random * cost_us * 1e3,
        )

        def with_card(host: border.Host) -> border.Host:
            # Stages that the setting gives to every cipher stay.
            known = () if host.nic is None else host.nic.stages
            nic = border.Nic(stages=(*known, stage), overlap=overlap, meanwhile=meanwhile)
            return evolve(host, nic=nic)

        return _with_hosts(resolved, roles, with_card, stations)

    return change


def _with_hosts(
    resolved: border.Scenario,
    roles: Sequence[border.Role],
    change: Callable[[border.Host], border.Host],
    most: int | None = None,
) -> border.Scenario:
    names = [node.name for node in resolved.nodes if node.role in roles][:most]
    nodes = tuple(
        evolve(node, host=change(node.host)) if node.name in names else node
        for node in resolved.nodes
    )
    return evolve(resolved, nodes=nodes)


def _cpu(resolved: border.Scenario, cost_us: float) -> border.Scenario:
    def slower(host: border.Host) -> border.Host:
        send, receive = host.transmit, host.receive
        return evolve(
            host,
            transmit=evolve(send, fixed_ns=send.fixed_ns + cost_us * 1e3),
            receive=evolve(receive, fixed_ns=receive.fixed_ns + cost_us * 1e3),
        )

    return _with_hosts(resolved, (border.Role.STATION,), slower)


_STATION, _AP = border.Role.STATION, border.Role.ACCESS_POINT
_SERIAL = border.Overlap.SERIAL
#: Mechanism -> how it changes a scenario at a cost per frame.
MECHANISMS: Final[Mapping[str, Change]] = {
    "octets only": lambda resolved, _: resolved,
    "pipelined": _card(border.Overlap.PIPELINED, border.Meanwhile.BACK_OFF, _STATION),
    "serial, nothing meanwhile": _card(_SERIAL, border.Meanwhile.NOTHING, _STATION),
    "serial, interframe space meanwhile": _card(
        _SERIAL, border.Meanwhile.INTERFRAME_SPACE, _STATION
    ),
    "serial, back-off meanwhile": _card(_SERIAL, border.Meanwhile.BACK_OFF, _STATION),
    "serial, times vary": _card(_SERIAL, border.Meanwhile.NOTHING, _STATION, random=1.0),
    "serial, first station alone": _card(_SERIAL, border.Meanwhile.NOTHING, _STATION, stations=1),
    "card of the access point": _card(_SERIAL, border.Meanwhile.NOTHING, _AP),
    "serial, station and access point": _card(_SERIAL, border.Meanwhile.NOTHING, _STATION, _AP),
    "CPU of the station": _cpu,
}


@frozen
class Subject:
    """A data set with its study; ``scenarios`` of it are fitted, or predicted where empty."""

    dataset: str
    study: str
    scenarios: tuple[str, ...]


@frozen
class Experiment:
    """Overheads in percent that mechanisms predict where a laboratory varies one thing.

    ``overheads``: mechanism -> one value per level.
    """

    title: str
    levels: tuple[float, ...]
    overheads: Mapping[str, tuple[float, ...]]


@frozen
class Identified:
    """Outcome: names of the fitted readings, the settings by data set, and the models."""

    fitted_on: tuple[str, ...]
    choices: Mapping[str, tuple[Choice, ...]]
    settings: Mapping[str, str]
    models: tuple[Model, ...]
    experiments: tuple[Experiment, ...] = ()


@frozen
class _Reading:
    dataset: str
    name: str
    table: str
    cell: Cell
    mean: float
    error: float
    definition: str
    held_out: bool


def leave_one_out(
    subjects: Sequence[Subject],
    *,
    settings: str = "stated",
    trials: int = 4,
    seed: int = 1,
    mechanisms: Sequence[str] = (),
    known: Known | None = None,
) -> dict[str, Identified]:
    """Each data set predicted by a fit to all scenarios of the others, by its name."""
    if len(subjects) < 2:
        raise UsageError("to leave a study out, name at least two data sets (--predict)")
    fit = _Known(subjects, settings, trials, seed, mechanisms, known)
    names = [subject.dataset for subject in subjects]
    return {name: fit.identified(partial(_is_of, name)) for name in names}


def _is_of(dataset: str, overhead: Overhead) -> bool:
    return overhead.dataset == dataset


def identify_device(
    subjects: Sequence[Subject],
    *,
    settings: str = "stated",
    trials: int = 4,
    seed: int = 1,
    experiments: bool = False,
    mechanisms: Sequence[str] = (),
    known: Known | None = None,
) -> Identified:
    """Fit every mechanism to the scenarios of the fit; predict all other overheads.

    ``settings``: ``stated``, or ``open`` for those that the open readings choose.
    ``experiments``: also predict the overheads of experiments that tell mechanisms apart.
    ``mechanisms``: names of the mechanisms to compare; all where empty.
    ``known``: trials that were simulated; new ones are added.
    """
    fit = _Known(subjects, settings, trials, seed, mechanisms, known)
    held_out = {r.name for r in fit.readings if r.held_out}
    found = fit.identified(lambda reading: reading.name in held_out)
    return evolve(found, experiments=fit.experiments(found.models)) if experiments else found


class _Known:
    """Readings, settings and curves of some data sets, computed once for several fits."""

    def __init__(
        self,
        subjects: Sequence[Subject],
        settings: str,
        trials: int,
        seed: int,
        mechanisms: Sequence[str],
        known: Known | None = None,
    ) -> None:
        for name in mechanisms:
            if name not in MECHANISMS:
                allowed = ", ".join(MECHANISMS)
                raise UsageError(f"mechanism: allowed are {allowed}; got {name!r}")
        if settings not in ("stated", "open"):
            raise UsageError(f"settings: allowed are stated and open, got {settings!r}")
        self._simulate = _Simulation(trials, seed, known)
        self.readings = [r for subject in subjects for r in _readings(subject)]
        self._choices: dict[str, tuple[Choice, ...]] = {}
        self._chosen: dict[str, Chosen] = {}
        for name in dict.fromkeys(r.dataset for r in self.readings):
            own = [r for r in self.readings if r.dataset == name and r.cell.policy == "open"]
            jointly = settings == "open"
            found = choose([(r.cell, r.mean) for r in own], self._free, jointly=jointly)
            self._choices[name] = found.compared
            self._chosen[name] = found if settings == "open" else Chosen()
        bases = {(r.dataset, r.table): r for r in self.readings if r.cell.policy == "open"}
        self._pairs = [
            (r, bases[r.dataset, r.table])
            for r in self.readings
            if r.cell.policy != "open" and (r.dataset, r.table) in bases
        ]
        self._overheads = [_overhead(secured, base) for secured, base in self._pairs]
        self._curves = self._all_curves(list(mechanisms or MECHANISMS))

    def _free(self, cell: Cell, setting: Setting) -> float:
        """Throughput without any mechanism, bit/s."""
        return self._simulate(cell, setting, None, 0.0)

    def identified(self, is_held_out: Callable[[Overhead], bool]) -> Identified:
        """The models of a fit to all overheads that are not held out."""
        overheads = [evolve(o, held_out=is_held_out(o)) for o in self._overheads]
        models = identify(overheads, self._curves)
        fitted_on = tuple(o.name for o in overheads if not o.held_out)
        settings = {name: chosen.name for name, chosen in self._chosen.items()}
        return Identified(fitted_on, self._choices, settings, models)

    def experiments(self, models: Sequence[Model]) -> tuple[Experiment, ...]:
        """Payload, rate and number of senders varied in a cell with one UDP sender."""
        lone = [
            (secured, base)
            for secured, base in self._pairs
            if secured.cell.load.transport == "udp" and len(secured.cell.settings.stations) == 1
        ]
        if not lone:
            return ()
        secured, base = max(lone, key=lambda pair: _points(pair[1].mean, pair[0].mean, ""))
        key = f"{secured.cell.security.link.cipher}".split("-")[0]
        phy = secured.cell.settings.phy
        top = secured.cell.settings.rate_mbps or 0.0
        rates = tuple(r for r in _EXPERIMENT_RATES.get(phy, ()) if r <= top)
        varied: list[tuple[str, tuple[float, ...], Callable[[Cell, float], Cell]]] = [
            ("payload of one sender, octets", _PAYLOADS, _with_payload),
            ("rate of one sender, Mb/s", rates, _with_rate),
            ("senders", (1.0, 2.0, 3.0), _with_senders),
        ]
        found = []
        for title, levels, vary in varied:
            values = {
                m.name: tuple(
                    self._predicted(m, key, vary(secured.cell, x), vary(base.cell, x), secured)
                    for x in levels
                )
                for m in models
                if not m.at_limit
            }
            if levels:
                found.append(Experiment(f"{secured.name}: {title}", levels, values))
        return tuple(found)

    def _predicted(
        self, model: Model, cipher: str, secured: Cell, base: Cell, like: _Reading
    ) -> float:
        costs = [
            cost.value
            for name, cost in model.fitted.items()
            if cipher in name and name.endswith("udp")
        ]
        chosen = self._chosen[like.dataset]
        change = MECHANISMS[model.name] if costs else None
        free = self._free(base, chosen.of(base))
        paid = self._simulate(secured, chosen.of(secured), change, costs[0] if costs else 0.0)
        return _points(free, paid, like.definition)

    def _throughputs(self, mechanism: str, pair: tuple[_Reading, _Reading]) -> dict[float, float]:
        """Throughputs of a secured cell by the cost, bit/s."""
        secured, _ = pair
        setting, change = self._chosen[secured.dataset].of(secured.cell), MECHANISMS[mechanism]
        return cost_curve.measured(
            lambda cost: self._simulate(secured.cell, setting, change, cost), _FIRST_US
        )

    def _curve(self, pair: tuple[_Reading, _Reading], known: Mapping[float, float]) -> Curve:
        """The overheads of a reading by the cost; ``known``: throughputs of a like reading.

        A cost adds the same time to a bit under every cipher: the octets of ciphers differ by a few
        microseconds on the air.
        """
        secured, base = pair
        chosen = self._chosen[secured.dataset]
        free = self._free(base.cell, chosen.of(base.cell))
        own = self._simulate(secured.cell, chosen.of(secured.cell), None, 0.0)
        costs = np.arange(0.0, max(known) + _STEP_US / 2, _STEP_US) if known else np.zeros(1)
        points = []
        for cost in costs:
            more = 1 / cost_curve.at(known, cost) - 1 / known[0.0] if known else 0.0
            points.append(_points(free, 1 / (1 / own + more), secured.definition))
        return Curve(tuple(costs.tolist()), tuple(points))

    def _all_curves(self, mechanisms: Sequence[str]) -> dict[str, dict[str, Curve]]:
        """Curves by mechanism and reading; the simulator works on as many as there are cores."""
        patterns = {_like(pair[0]): pair for pair in self._pairs}
        asked = [(name, like) for name in mechanisms if name != "octets only" for like in patterns]
        with ThreadPoolExecutor(os.cpu_count() or 1) as pool:
            found = pool.map(lambda one: self._throughputs(one[0], patterns[one[1]]), asked)
            known = dict(zip(asked, found, strict=True))
        return {
            name: {
                reading.name: self._curve(pair, known.get((name, _like(pair[0])), {}))
                for pair, reading in zip(self._pairs, self._overheads, strict=True)
            }
            for name in mechanisms
        }


def _like(reading: _Reading) -> tuple[str, str, str]:
    """The name that readings share that differ in their policy alone."""
    return reading.dataset, reading.cell.scenario, reading.cell.traffic


#: Levels of the experiments: UDP payloads, octets; rates, Mb/s.
_PAYLOADS: Final = (256.0, 512.0, 1024.0, 1472.0)
_EXPERIMENT_RATES: Final[Mapping[str, tuple[float, ...]]] = {
    "802.11b": (1.0, 2.0, 5.5, 11.0),
    "802.11g": (6.0, 12.0, 24.0, 54.0),
    "802.11a": (6.0, 12.0, 24.0, 54.0),
}


def _with_payload(cell: Cell, octets: float) -> Cell:
    return evolve(cell, load=cell.load.model_copy(update={"payload_bytes": int(octets)}))


def _with_rate(cell: Cell, mbps: float) -> Cell:
    return evolve(cell, settings=cell.settings.model_copy(update={"rate_mbps": mbps}))


def _with_senders(cell: Cell, count: float) -> Cell:
    return evolve(cell, settings=cell.settings.model_copy(update={"clients": int(count)}))


#: Throughputs of trials that were simulated, by scenario and seed: several identifications may
#: share them.
Known = dict[tuple[str, int], tuple[float, ...]]


class _Simulation:
    """Mean throughputs of cells, bit/s; equal questions are simulated once."""

    def __init__(self, trials: int, seed: int, known: Known | None = None) -> None:
        self._seeds = [seed * 1_000_003 + number for number in range(1, trials + 1)]
        self._cancel = _native.Cancel()
        self._known: Known = {} if known is None else known

    def __call__(self, cell: Cell, setting: Setting, change: Change | None, cost: float) -> float:
        resolved = setting(scenario(cell))
        resolved = evolve(resolved, bss=tuple(evolve(b, cca_time_us=CCA_US) for b in resolved.bss))
        if cell.load.transfer_bytes is None:
            resolved = evolve(resolved, duration_s=min(resolved.duration_s, _SECONDS))
        if change is not None:
            resolved = change(resolved, cost)
        # Both key lengths of WEP have the same octets on the air, and no mechanism prices them.
        wep = border.CipherSuite.WEP_40
        nodes = tuple(
            evolve(n, cipher=wep) if n.cipher == border.CipherSuite.WEP_104 else n
            for n in resolved.nodes
        )
        text = border.to_json(evolve(resolved, nodes=nodes))
        found: list[float] = []
        for one in self._seeds:
            if (text, one) not in self._known:
                self._known[text, one] = self._measure(cell, text, one)
            found += self._known[text, one]
        return float(np.mean(found))

    def _measure(self, cell: Cell, text: str, seed: int) -> tuple[float, ...]:
        """Throughputs of a trial, bit/s: one, or none."""
        try:
            columns = _native.Scenario(text).simulate([seed], self._cancel)
        except ValueError as error:
            raise TestbedError(f"simulator: {cell.name}: {error}") from error
        if columns["failure"][0] is not None:
            raise TestbedError(f"{cell.name}: {columns['failure'][0]}")
        rows = observed_of(columns)
        if cell.load.transfer_bytes is not None:
            times = [r.value for r in rows if r.metric == "transfer_delay_s"]
            if times:
                return (8.0 * cell.load.transfer_bytes / max(times),)
            # A transfer that the trial cuts off is rated by what arrived.
        return tuple(
            r.value
            for r in with_whole_cell(rows)
            if r.metric == "throughput_bps" and r.flow is None and r.second is None
        )


def _readings(subject: Subject) -> list[_Reading]:
    dataset = load_dataset(subject.dataset)
    study = load(subject.study).study
    plan = make_plan(study)
    figures = dataset.figures.filter(pl.col("metric") == _printed(dataset.meta))
    # A paper that prints no overheads defines none.
    definition = dataset.meta["overhead"].get("definition", study.study.overhead)
    found: dict[str, _Reading] = {}
    for entry in study.compare:
        if entry.dataset != subject.dataset or entry.metric != "throughput_bps":
            continue
        if entry.statistic != "mean":
            continue
        if {"station", "flow"} & set(entry.cells) or entry.caveat:
            continue
        rows = figures
        for column, value in entry.readings.items():
            rows = rows.filter(pl.col(column) == str(value))
        for cell in plan.cells:
            if cell.scenario != entry.cells.get("scenario", cell.scenario):
                continue
            if cell.traffic != entry.cells.get("traffic", cell.traffic):
                continue
            name = f"{subject.dataset}: {cell.scenario}/{cell.policy}/{cell.traffic}"
            own = rows.filter(policy=cell.policy)
            trials = own.filter(kind="trial")["si"].to_list()
            means = own.filter(kind="published", statistic="mean")["si"].to_list()
            values = trials or means
            if not values or name in found:
                continue
            error = _standard_error(own, trials, dataset.meta["trials"]["repetitions"])
            table = f"{subject.dataset} {own['table'][0]}"
            held_out = cell.scenario not in subject.scenarios
            mean = float(np.mean(values))
            found[name] = _Reading(
                subject.dataset, name, table, cell, mean, error, definition, held_out
            )
    if not found:
        raise UsageError(
            f"{subject.study}: no [[compare]] table of it answers to {subject.dataset}"
        )
    known = {r.cell.scenario for r in found.values()}
    for name in subject.scenarios:
        if name not in known:
            raise UsageError(
                f"{subject.dataset}: no scenario {name!r}; known: {', '.join(sorted(known))}"
            )
    return list(found.values())


def _standard_error(rows: pl.DataFrame, trials: Sequence[float], repetitions: int) -> float:
    """Of the trials, or of the printed deviation over the repetitions; 0 where neither is known."""
    if len(trials) > 1:
        return float(np.std(trials, ddof=1)) / math.sqrt(len(trials))
    deviations = rows.filter(kind="published", statistic="std")["si"].to_list()
    return float(deviations[0]) / math.sqrt(repetitions) if deviations else 0.0


def _printed(meta: Mapping[str, object]) -> str:
    metrics = meta.get("metrics")
    theirs = {ours: name for name, ours in metrics.items()} if isinstance(metrics, dict) else {}
    return str(theirs.get("throughput_bps", "throughput"))


def _points(free: float, secured: float, definition: str) -> float:
    below = secured if definition == "of_secured" else free
    return 100 * (free - secured) / below


def _overhead(secured: _Reading, base: _Reading) -> Overhead:
    relative = math.hypot(secured.error / secured.mean, base.error / base.mean)
    suite = str(secured.cell.security.link.cipher)
    return Overhead(
        name=secured.name,
        dataset=secured.dataset,
        table=secured.table,
        policy=secured.cell.policy,
        cipher=suite.split("-")[0],
        suite=suite,
        transport=secured.cell.load.transport,
        value=_points(base.mean, secured.mean, secured.definition),
        error=100 * relative,
        held_out=secured.held_out,
    )
