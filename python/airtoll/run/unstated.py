"""Settings that a study leaves unstated, chosen by its open readings.

Takes the open readings of a data set and a simulation; gives the settings under which the
simulation is nearest to them. A setting belongs to the whole data set, to an access point, to a
kind of traffic (the tool that made it) or to a scenario (one link). Settings are added one after
the other while the Bayesian information criterion falls, which is the penalty for each. Errors have
a Laplace distribution there, so that a reading with a cause of its own, outside the list, does not
choose the settings of all others. Never reads a secured reading.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Final, Protocol

import numpy as np
from attrs import evolve, frozen

from airtoll import border
from airtoll.plan import Cell

#: Ratio at which a receiver takes the stronger of two frames, dB.
_CAPTURE_DB = 6.0
#: Rates of DSSS and of OFDM at 20 MHz, Mb/s (IEEE 802.11-2020 clauses 16.2.3 and 17.1.1).
_DSSS_RATES: Final = (1.0, 2.0, 5.5, 11.0)
_OFDM_RATES: Final = (6.0, 9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
#: Overhead below which a setting cannot be told from the readings: relative error of throughput.
_RESOLUTION = 0.005
#: A setting is not joined with others where it alone makes the error this many times as large.
_FAR = 1.5
#: Sets of settings that the search keeps of each size.
_BEAM = 4
#: The choice without any setting.
STATED: Final = "as the study says"

Setting = Callable[[border.Scenario], border.Scenario]


def _cw(slots: int) -> Setting:
    return lambda s: evolve(s, bss=tuple(evolve(b, cw_min=slots) for b in s.bss))


def _burst(*us: float) -> Setting:
    """Bursts of the stations in their order; the last value is that of all others, too."""

    def change(s: border.Scenario) -> border.Scenario:
        stations = [n.name for n in s.nodes if n.role == border.Role.STATION]
        own = {name: us[min(index, len(us) - 1)] for index, name in enumerate(stations)}
        return evolve(
            s,
            nodes=tuple(
                evolve(n, frame_burst_us=own[n.name]) if n.name in own else n for n in s.nodes
            ),
        )

    return change


def _capture(s: border.Scenario) -> border.Scenario:
    """Receivers with capture; where no level is stated, the first station is 30 dB weaker."""
    radio = evolve(s.radio, frame_capture_db=_CAPTURE_DB, preamble_capture_db=_CAPTURE_DB)
    stations = [n for n in s.nodes if n.role == border.Role.STATION]
    if not radio.budgets and len(stations) > 1:
        aps = {n.bss: n.name for n in s.nodes if n.role == border.Role.ACCESS_POINT}
        budgets = [
            border.LinkBudget(nodes=(n.name, aps[n.bss]), rssi_dbm=-70.0 if not i else -40.0)
            for i, n in enumerate(stations)
        ]
        radio = evolve(radio, budgets=tuple(budgets))
    return evolve(s, radio=radio)


def _with_nic(s: border.Scenario, nic: border.Nic) -> border.Scenario:
    nodes = (
        evolve(n, host=evolve(n.host, nic=nic)) if n.role == border.Role.STATION else n
        for n in s.nodes
    )
    return evolve(s, nodes=tuple(nodes))


def _fetching(us: float) -> Setting:
    """A serial card that needs a time per frame under every policy, open ones too."""
    stage = border.NicStage(stage=border.StageKind.FETCH, cost=border.Cost(fixed_ns=us * 1e3))
    nic = border.Nic(
        stages=(stage,),
        overlap=border.Overlap.SERIAL,
        meanwhile=border.Meanwhile.INTERFRAME_SPACE,
    )
    return lambda s: _with_nic(s, nic)


def _both(*changes: Setting) -> Setting:
    def change(s: border.Scenario) -> border.Scenario:
        for one in changes:
            s = one(s)
        return s

    return change


def _rts(resolved: border.Scenario) -> border.Scenario:
    return evolve(resolved, bss=tuple(evolve(b, rts_threshold_octets=0) for b in resolved.bss))


def _short(resolved: border.Scenario) -> border.Scenario:
    short = border.DsssPreamble.SHORT
    return evolve(resolved, bss=tuple(evolve(b, preamble=short) for b in resolved.bss))


def _window(kbytes: int) -> Setting:
    def limited(flow: border.Flow) -> border.Flow:
        if not isinstance(flow.transport, border.TransportTcp):
            return flow
        return evolve(flow, transport=evolve(flow.transport, window_octets=1024 * kbytes))

    return lambda s: evolve(s, flows=tuple(limited(flow) for flow in s.flows))


def _queue(packets: int) -> Setting:
    return lambda s: evolve(
        s, nodes=tuple(evolve(n, queue=evolve(n.queue, packets=packets)) for n in s.nodes)
    )


def _long_slots(resolved: border.Scenario) -> border.Scenario:
    return evolve(resolved, bss=tuple(evolve(b, short_slot=False) for b in resolved.bss))


def _datagrams(octets: int) -> Setting:
    """UDP datagrams of another length; the octets of a transfer stay."""

    def shorter(flow: border.Flow) -> border.Flow:
        known = (border.PatternSaturated, border.PatternTransfer, border.PatternPaced)
        if not isinstance(flow.transport, border.TransportUdp):
            return flow
        if not isinstance(flow.pattern, known):
            return flow
        return evolve(flow, pattern=evolve(flow.pattern, payload_octets=octets))

    return lambda s: evolve(s, flows=tuple(shorter(flow) for flow in s.flows))


def _next_rate(resolved: border.Scenario) -> border.Scenario:
    """The next lower rate of the generation, where a rate is fixed and has a lower one."""

    def lower(bss: border.Bss) -> border.Bss:
        if not isinstance(bss.rate, border.RateFixed):
            return bss
        known = _DSSS_RATES if bss.standard == border.Standard.STANDARD_802_11B else _OFDM_RATES
        below = [rate for rate in known if rate < bss.rate.mbps]
        return evolve(bss, rate=evolve(bss.rate, mbps=below[-1])) if below else bss

    return evolve(resolved, bss=tuple(lower(b) for b in resolved.bss))


def _all_hear(resolved: border.Scenario) -> border.Scenario:
    return evolve(resolved, radio=evolve(resolved.radio, hidden=()))


#: Owner of a setting -> its name in a cell.
_OWNERS: Final[Mapping[str, Callable[[Cell], str | None]]] = {
    "data set": lambda _: "",
    "access point": lambda cell: cell.settings.ap.profile,
    "traffic": lambda cell: cell.traffic,
    "scenario": lambda cell: cell.scenario,
}


@frozen
class Kind:
    """A setting that a study may leave unstated, its free numbers and whose it is."""

    change: Setting
    free: int = 1
    owner: str = "data set"


#: Settings that a study may leave unstated.
KINDS: Final[Mapping[str, Kind]] = {
    "CWmin 7": Kind(_cw(7)),
    "CWmin 3": Kind(_cw(3)),
    "bursts of 700 us": Kind(_burst(700.0)),
    "bursts of 1000 us": Kind(_burst(1000.0)),
    "bursts of 1000 us, second station 1500": Kind(_burst(1000.0, 1500.0), 2),
    "capture": Kind(_capture),
    "CWmin 7, capture": Kind(_both(_cw(7), _capture), 2),
    "CWmin 3, capture": Kind(_both(_cw(3), _capture), 2),
    "100 us per frame in the station's card": Kind(_fetching(100.0)),
    "200 us per frame in the station's card": Kind(_fetching(200.0)),
    "300 us per frame in the station's card": Kind(_fetching(300.0)),
    "RTS before every frame": Kind(_rts),
    "short preamble": Kind(_short, owner="access point"),
    "long slots": Kind(_long_slots),
    "TCP window of 8 KB": Kind(_window(8)),
    "TCP window of 16 KB": Kind(_window(16)),
    "queues of 20 packets": Kind(_queue(20)),
    "datagrams of 1024 octets": Kind(_datagrams(1024), owner="traffic"),
    "next lower link rate": Kind(_next_rate, owner="scenario"),
    "stations hear one another": Kind(_all_hear, owner="scenario"),
}


class Simulation(Protocol):
    """Mean throughput of a cell under a setting, bit/s."""

    def __call__(self, cell: Cell, setting: Setting) -> float:
        """Simulates the cell."""


@frozen
class Choice:
    """Settings on open readings: mean absolute relative error and criterion."""

    setting: str
    error: float
    criterion: float


@frozen
class Option:
    """A setting of one owner."""

    kind: str
    unit: str

    @property
    def name(self) -> str:
        """The setting, and of whom."""
        return f"{self.kind} ({self.unit})" if self.unit else self.kind

    def concerns(self, cell: Cell) -> bool:
        """Whether a cell is its owner's."""
        return _OWNERS[KINDS[self.kind].owner](cell) == self.unit


@frozen
class Chosen:
    """The settings of a data set, and all choices that were compared, the best one first."""

    options: tuple[Option, ...] = ()
    compared: tuple[Choice, ...] = ()

    @property
    def name(self) -> str:
        """The settings in words."""
        return _name(self.options)

    def of(self, cell: Cell) -> Setting:
        """The change of a cell's scenario."""
        return _both(*(KINDS[one.kind].change for one in self.options if one.concerns(cell)))


def choose(
    readings: Sequence[tuple[Cell, float]], simulate: Simulation, *, jointly: bool = True
) -> Chosen:
    """The settings that open readings choose: cells with their printed throughputs, bit/s.

    Sets of settings grow by one at a time, the best few of each size (a beam), because a setting
    may be right only beside another one; the search ends where a larger set is no better. Without
    ``jointly`` at one setting. Readings of a data set without any open one choose none.
    """
    if not readings:
        return Chosen()
    compared: dict[frozenset[Option], Choice] = {}

    def rated(options: tuple[Option, ...]) -> Choice:
        known = compared.get(frozenset(options))
        if known is None:
            tried = Chosen(options)
            errors = [simulate(cell, tried.of(cell)) / mean - 1 for cell, mean in readings]
            mean_error = float(np.mean(np.abs(errors))) + _RESOLUTION
            n, free = len(errors), sum(KINDS[one.kind].free for one in options)
            criterion = 2 * n * math.log(mean_error) + free * math.log(n)
            known = Choice(_name(options), mean_error, criterion)
            compared[frozenset(options)] = known
        return known

    singles = sorted(
        ((one,) for one in _options([cell for cell, _ in readings])),
        key=lambda some: rated(some).criterion,
    )
    # The others change no reading, or are far off by themselves.
    plain = rated(())
    acting = [some[0] for some in singles if plain.error != rated(some).error < _FAR * plain.error]
    best: tuple[Option, ...] = min(((), *singles), key=lambda some: rated(some).criterion)
    beam: list[tuple[Option, ...]] = [(one,) for one in acting[:_BEAM]]
    while jointly and beam:
        longer: dict[frozenset[Option], tuple[Option, ...]] = {
            frozenset((*some, one)): (*some, one)
            for some in beam
            for one in acting
            if one.kind not in {known.kind for known in some if known.unit == one.unit}
        }
        ordered = sorted(longer.values(), key=lambda some: rated(some).criterion)
        if not ordered or rated(ordered[0]).criterion >= rated(best).criterion:
            break
        best, beam = ordered[0], ordered[:_BEAM]
    # Single settings and the steps to the best set; other sets that were tried say little.
    shown = [
        choice
        for options, choice in compared.items()
        if len(options) < 2 or options <= frozenset(best)
    ]
    return Chosen(best, tuple(sorted(shown, key=lambda choice: choice.criterion)))


def _options(cells: Sequence[Cell]) -> list[Option]:
    """Every setting of every owner among some cells."""
    return [
        Option(name, unit or "")
        for name, kind in KINDS.items()
        for unit in dict.fromkeys(_OWNERS[kind.owner](cell) for cell in cells)
    ]


def _name(options: Sequence[Option]) -> str:
    return "; ".join(one.name for one in options) or STATED
