"""Studies, laboratories and rehearsals that the tests of this folder share."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from airtoll.plan import Plan, make_plan
from airtoll.study import parse
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.lab.campaign import Campaign
from airtoll.testbeds.lab.logbook import Logbook
from airtoll.testbeds.lab.opening import rehearsed
from airtoll.testbeds.lab.rehearsal.person import Person, Slip
from airtoll.testbeds.lab.rehearsal.router import Router
from airtoll.testbeds.linux.daemons import credentials
from airtoll.testbeds.linux.laboratory.lab import Lab


def plan(
    *policies: str, scenario: str = 'phy = "802.11g"\nrate_mbps = 54.0', trials: str = ""
) -> Plan:
    text = f"""
[study]
name = "here"
title = "Here"
baseline = "{policies[0]}"
[scenario.one]
{scenario}
[traffic.load]
transport = "udp"
duration_s = 0.2
[trials]
{trials or "repetitions = 1"}
order = "sequential"
[grid]
scenario = ["one"]
policy = {list(policies)!r}
traffic = ["load"]
"""
    return make_plan(parse(text, Path("here.toml")).study)


def lab(stations: int = 1, **ap: Any) -> Lab:
    host: dict[str, Any] = {
        f"laptop{n}": {
            "role": "station",
            "address": f"root@192.168.1.{20 + n}",
            "interface": "wlan0",
            "ip": f"192.168.1.{20 + n}",
        }
        for n in range(stations)
    }
    host["server"] = {"role": "server", "address": "local", "ip": "192.168.1.2"}
    table: dict[str, Any] = {"name": "bench", "channel": [6, 36], "country": "DE"}
    table["ap"] = {"ip": "192.168.1.1", **ap}
    return Lab.model_validate({"lab": table, "host": host})


@cache
def secret() -> credentials.Credentials:
    # Its certificates take a second.
    return credentials.fresh()


def acted(
    of: Plan,
    slips: Mapping[int, Slip] | None = None,
    *,
    of_lab: Lab | None = None,
    logbook: Logbook | None = None,
) -> tuple[list[Measured], Person, Campaign]:
    """Every cell once, with a person at the prompts."""
    person = Person(Router(), slips or {}, patience=12)
    campaign = rehearsed(of_lab or lab(), person, secret=secret(), logbook=logbook)
    return [campaign.measure(of.trial(cell, 1, 1)) for cell in of.cells], person, campaign
