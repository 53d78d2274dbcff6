"""Closed forms as a testbed: a third, independent answer.

Takes trials; gives what theory says. The same answer for every seed, so one trial is enough and
an interval has no width. Cells without a closed form are skipped with the reason.
"""

from __future__ import annotations

from pathlib import Path

from airtoll import _native
from airtoll.errors import ProfileError, TrialFault
from airtoll.plan import Cell, Trial, resolved
from airtoll.testbeds import (
    bridging,
    cards,
    joining,
    loads,
    roaming,
    station_rates,
    unpriced,
)
from airtoll.testbeds.contract import Caution, Measured, Skip, observed_of
from airtoll.testbeds.resolve import native


class Analytic:
    """Theoretical maximum throughput, Bianchi saturation and other closed forms."""

    name = "analytic"
    parallel = True

    def check(self, cell: Cell) -> Skip | None:
        """``None`` if the cell has a closed form."""
        of = resolved(cell)
        policies = of.policies
        problem = (
            _no_closed_form(cell)
            or of.refusal
            or cards.why_not(cell)
            or cards.no_closed_form(cell)
            or bridging.why_not(cell)
            or loads.why_not(cell)
            or loads.one_kind(cell)
            or _other_category(cell)
            or roaming.why_not(cell, policies)
            or joining.why_not(cell, policies)
        )
        if problem:
            return Skip(problem)
        try:
            problem = native(cell).check_analytic()
        except (
            ProfileError,
            _native.InvalidScenario,
            _native.Fault,
            _native.PanicException,
        ) as error:
            return Skip(str(error))
        return Skip(problem) if problem else None

    def cautions(self, cell: Cell) -> tuple[Caution, ...]:
        """Fallbacks of the cell's security, and costs that no profile knows."""
        said = [*resolved(cell).notes, *cards.notes(cell), unpriced.note(cell)]
        return tuple(Caution(words) for words in said if words)

    def expected_s(self, cell: Cell) -> float:
        """Rough wall time of one trial, seconds."""
        return 0.01

    def measure(self, trial: Trial, captures: Path | None = None) -> Measured:
        """Compute one cell; the seed changes nothing."""
        rate = station_rates.note(trial.cell)
        notes = (
            *resolved(trial.cell).notes,
            *cards.notes(trial.cell),
            *(() if rate is None else (rate,)),
        )
        try:
            columns = native(trial.cell).analytic()
        except (ValueError, _native.Fault, _native.PanicException) as error:
            raise TrialFault(f"the closed forms stopped: {error}") from error
        return Measured(rows=observed_of(columns), caveats=(*notes, *unpriced.caveats(trial.cell)))

    def environment(self) -> dict[str, str]:
        """The version of the native code."""
        return {"analytic": _native.__version__}

    def cancel(self) -> None:
        """Nothing to end: no computation takes long."""

    def close(self) -> None:
        """Nothing to stop."""


def _caveats(cell: Cell) -> tuple[str, ...]:
    unknown = unpriced.note(cell)
    return (*resolved(cell).notes, *cards.notes(cell), *([unknown] if unknown else []))


def _no_closed_form(cell: Cell) -> str | None:
    """Fields that closed forms leave out."""
    if resolved(cell).settings.mlo is not None:
        return "closed forms have one link, not several (mlo)"
    radio = cell.settings.radio
    if radio.fading != "none" or radio.shadowing_db:
        return "closed forms have mean levels alone: no fading, no shadowing"
    settings = cell.settings
    wires = (settings.wired, *([settings.bridge.wired] if settings.bridge else []))
    if any(wire.loss_ratio for wire in wires):
        return "closed forms have no loss on a wire (wired.loss_ratio)"
    if not settings.group_load.is_empty:
        return "closed forms have no group-addressed traffic"
    if settings.multicast_to_unicast or settings.per_client_gtk or settings.proxy_arp:
        return "closed forms have no group-addressed frames"
    if settings.isolation or settings.dtim_period != 1:
        return "closed forms have no isolation and no DTIM"
    if settings.join.flood_per_s:
        return "closed forms have no flood of commits (join.flood_per_s)"
    if cell.settings.tunnel_end != "server":
        return "closed forms have tunnels that end at the server"
    if cell.settings.pmtud != "works" or cell.settings.tunnel_mtu_octets is not None:
        return "closed forms have hosts that know the path's MTU"
    if radio.interferer is not None:
        return "closed forms have no interferer"
    if settings.ofdma != "off":
        return "closed forms have one receiver of each PPDU: no ofdma"
    if settings.neighbours is not None or radio.obss_pd_dbm is not None:
        return "closed forms have one cell: no neighbours"
    if settings.passers_by is not None:
        return "closed forms have no probe traffic (passers_by)"
    for station in cell.settings.stations:
        if station.battery_wh is not None or station.dozes or cell.settings.duty is not None:
            return "closed forms have no energy"
    return None


def _other_category(cell: Cell) -> str | None:
    """Traffic with a contention of its own; without EDCA there are no access categories."""
    if cell.settings.with_edca and cell.load.wmm != "best-effort":
        return "closed forms have best-effort traffic alone (wmm)"
    return None
