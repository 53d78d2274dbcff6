"""Campaigns from a lab file: on its hosts, or as a rehearsal.

Takes the path of a ``lab.toml``; gives a campaign. Hosts are asked what they can do, and nothing
on them is changed before the first trial.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

from airtoll.testbeds.lab import secrets
from airtoll.testbeds.lab.bench import Hosts
from airtoll.testbeds.lab.campaign import Campaign, Clock
from airtoll.testbeds.lab.logbook import Logbook
from airtoll.testbeds.lab.rehearsal.bench import Rehearsal
from airtoll.testbeds.lab.rehearsal.person import Person
from airtoll.testbeds.lab.rehearsal.router import Router
from airtoll.testbeds.linux.attended.prompts import Prompts, Terminal
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.laboratory.lab import Alert, Lab, load
from airtoll.testbeds.linux.testbed import Linux


def campaign(
    lab_file: Path,
    *,
    real_stations: int | None = None,
    vm: bool | str = False,
    on_phase: Callable[[str], None] | None = None,
) -> Campaign:
    """A campaign on the hosts of a lab file, which have been asked what they can do."""
    lab = load(lab_file)
    linux = Linux(
        vm=vm,
        lab=lab,
        real_stations=real_stations,
        secret=secrets.kept(lab_file, lab),
        on_phase=on_phase,
    )

    def prompts() -> Prompts:
        terminal = Terminal(f"lab {lab.lab.name}")
        linux.prompts = terminal
        return terminal

    found = Campaign(
        lab,
        Hosts(linux),
        prompts=prompts,
        logbook=Logbook(lab_file),
        folder=lab_file.parent,
        say=_say,
    )
    found.ask_hosts()
    return found


def rehearsal(lab_file: Path) -> Campaign:
    """The same campaign without a radio: a script at the prompts, trials in the simulator."""
    return rehearsed(load(lab_file), say=_say)


def rehearsed(
    lab: Lab,
    person: Person | None = None,
    *,
    say: Callable[[str], None] | None = None,
    logbook: Logbook | None = None,
    secret: Credentials | None = None,
) -> Campaign:
    """A rehearsal of a laboratory; ``person``: at its prompts, by default one without slips.

    The person takes the place of the lab file's commands, and alerts are sent to no receiver.
    """
    table = lab.lab
    ap = table.ap and table.ap.model_copy(update={"by": "hand", "set": None, "power": None})
    lab = lab.model_copy(update={"lab": table.model_copy(update={"ap": ap, "alert": Alert()})})
    acting = person or Person(Router())
    passed = [0.0]

    def wait(seconds: float) -> None:
        passed[0] += seconds

    return Campaign(
        lab,
        Rehearsal(acting.router, lab, secret),
        name="simulator",
        prompts=lambda: acting,
        logbook=logbook,
        clock=Clock(lambda: passed[0], wait),
        say=say,
    )


def _say(text: str) -> None:
    sys.stderr.write(text + "\n")
