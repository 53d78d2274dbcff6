"""The bench of a rehearsal: a router and stations in a program, trials in the simulator.

Takes the settings of a router, right or wrong; gives its beacons, and joins that fail as those of
real daemons do where a key is wrong. Trials that join are simulated, in virtual time; their values
are the simulator's, and each says so.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from attrs import evolve

from airtoll.border.answers import AnnouncedBss
from airtoll.plan import Cell, Trial
from airtoll.policies import Generation
from airtoll.testbeds.contract import Measured, Skip
from airtoll.testbeds.lab.access_point import static_wep, wanted, wep_bits
from airtoll.testbeds.lab.bench import Surroundings
from airtoll.testbeds.lab.rehearsal.router import Router
from airtoll.testbeds.linux.daemons import credentials
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.job import Foreign
from airtoll.testbeds.linux.laboratory import lab_cells
from airtoll.testbeds.linux.laboratory.lab import Lab
from airtoll.testbeds.linux.testbed import flow_of
from airtoll.testbeds.simulator import Simulator

SAID: Final = "rehearsal: simulated; no radio and no access point took part"
_STATION: Final = "wpa_supplicant on sta1"


class Rehearsal:
    """Hosts and radios of a laboratory that are not there."""

    def __init__(self, router: Router, lab: Lab, secret: Credentials | None = None) -> None:
        self.router = router
        self._lab = lab
        self._secret = secret or credentials.fresh()
        self._simulator = Simulator()

    @property
    def secret(self) -> Credentials:
        """Names and secrets of the rehearsal."""
        return self._secret

    def ask_hosts(self) -> list[str]:
        """There is no host to ask."""
        return []

    def check(self, cell: Cell) -> Skip | None:
        """Why the laboratory or the simulator cannot carry out the cell, or None."""
        reason = lab_cells.why_not(cell, self._lab, flow_of(cell.settings, cell.load))
        return Skip(reason) if reason else self._simulator.check(cell)

    def expected_s(self, cell: Cell) -> float:
        """Rough time of a trial in the laboratory, s: that of its traffic."""
        return cell.load.duration_s

    def hear(self, frequencies_mhz: Sequence[int] = ()) -> list[AnnouncedBss]:
        """The router, where it is on one of the channels."""
        router = self.router
        here = not frequencies_mhz or router.frequency_mhz in frequencies_mhz
        return [router.announcement()] if router.alive and here else []

    def surroundings(self, frequency_mhz: int) -> Surroundings:
        """Nothing measures a channel here."""
        del frequency_mhz
        return Surroundings()

    def measure(self, trial: Trial, captures: Path | None, foreign: Foreign | None) -> Measured:
        """A failed join, or the trial in the simulator."""
        failure = None if foreign is None else self.why_not_joined(trial.cell)
        if failure is not None:
            return Measured(failure=failure)
        measured = self._simulator.measure(trial, captures)
        return evolve(measured, caveats=(*measured.caveats, SAID))

    def addresses(self) -> tuple[str, ...]:
        """Addresses of documentation, one for each station (RFC 7042, section 2.1.2)."""
        return tuple(f"00:00:5e:00:53:{n:02x}" for n, _ in enumerate(self._lab.of("station"), 2))

    def environment(self) -> dict[str, str]:
        """The simulator's version, and what this is."""
        return {**self._simulator.environment(), "rehearsal": self._lab.lab.name}

    def cancel(self) -> None:
        """End a simulation that is under way."""
        self._simulator.cancel()

    def drop(self) -> None:
        """No connection is kept."""

    def close(self) -> None:
        """Nothing to leave."""

    def why_not_joined(self, cell: Cell) -> str | None:
        """The failure of a station's join in the words of its daemon, or None where it joins."""
        router, secret = self.router, self._secret
        settings = wanted(cell, self._lab, secret, self.addresses())
        link = settings.link
        if settings.enterprise:
            server = (router.radius_server, router.radius_port)
            if server != settings.radius or router.radius_secret != secret.radius_secret:
                return (
                    f"{_STATION}: no CTRL-EVENT-CONNECTED within 30 s; last: "
                    "CTRL-EVENT-EAP-STARTED EAP authentication started (state ASSOCIATED)"
                )
        if static_wep(link):
            if router.authentication != link.authentication:
                return (
                    f"{_STATION}: CTRL-EVENT-AUTH-REJECT auth_type=1 auth_transaction=2 "
                    "status_code=13 (state SCANNING)"
                )
            if router.wep_key != secret.wep(wep_bits(link)):
                return f"A: policy {cell.policy} carries no data: 3 packets transmitted, 0 received"
        if link.akm is None or not link.akm.uses_passphrase:
            return None
        if router.passphrase == secret.passphrase:
            return None
        if link.generation is Generation.WPA3:
            return (
                f"{_STATION}: CTRL-EVENT-AUTH-REJECT auth_type=3 auth_transaction=2 "
                "status_code=1 (state SCANNING)"
            )
        return f"{_STATION}: CTRL-EVENT-SSID-TEMP-DISABLED auth_failures=1 reason=WRONG_KEY"
