"""Rejoins on Linux: rows of stations and of the cell, and the order of requests and events."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest

from airtoll.testbeds.linux.hosts.control import Control, ControlError
from airtoll.testbeds.linux.job import Job
from airtoll.testbeds.linux.trial import association, rejoins


def test_rows_are_those_of_stations_and_of_the_cell() -> None:
    rows = {(v.metric, v.station): v.value for v in rejoins.values({"A": 0.1, "B": 0.3})}
    assert rows["rejoins", "A"] == 1
    assert rows["rejoin_gap_s", "B"] == 0.3
    assert rows["rejoins", None] == 2
    assert rows["rejoin_gap_s", None] == pytest.approx(0.2)
    assert rows["rejoin_gap_longest_s", None] == 0.3


class Station:
    """A supplicant that is back ``after_s`` seconds after the deauthentication."""

    def __init__(self, after_s: float | None) -> None:
        self.control = Control("wpa_supplicant")
        self.control.received("<3>CTRL-EVENT-CONNECTED - of the first join")
        self._after_s = after_s

    async def status(self) -> dict[str, str]:
        return {"wpa_state": "COMPLETED"}

    async def deauthenticated(self) -> None:
        self.control.received("<3>CTRL-EVENT-DISCONNECTED bssid=02:00:00:00:00:00 reason=2")
        if self._after_s is not None:
            await asyncio.sleep(self._after_s)
            self.control.received("<3>CTRL-EVENT-CONNECTED - Connection to 02:00:00:00:00:00")


async def carried_out(monkeypatch: pytest.MonkeyPatch, *after_s: float | None) -> Any:
    stations = {name: Station(one) for name, one in zip("AB", after_s, strict=True)}
    verified: list[str] = []

    async def request(command: str) -> str:
        assert command == "DEAUTHENTICATE ff:ff:ff:ff:ff:ff"
        asked = asyncio.gather(*(one.deauthenticated() for one in stations.values()))
        keep.append(asked)
        return "OK"

    async def verify(_progress: object, name: str, _status: object) -> None:
        verified.append(name)

    keep: list[Any] = []
    monkeypatch.setattr(association, "verify", verify)
    progress: Any = SimpleNamespace(
        job=Job("rejoin", "wpa2-psk-ccmp", deauthenticate_at_s=0.05, connect_limit_s=0.6),
        stations=stations,
        access_points=[SimpleNamespace(control=SimpleNamespace(request=request))],
    )
    began = time.monotonic()
    rows = await rejoins.carry_out(progress)
    assert time.monotonic() - began >= 0.05
    assert verified == ["A", "B"]
    return {(v.metric, v.station): v.value for v in rows}


def test_gaps_begin_with_the_deauthentication(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = asyncio.run(carried_out(monkeypatch, 0.05, 0.2))
    assert 0.05 <= rows["rejoin_gap_s", "A"] < 0.2 <= rows["rejoin_gap_s", "B"]


def test_a_station_that_does_not_come_back_is_an_error(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(ControlError, match=r"no CTRL-EVENT-CONNECTED within 0\.6 s"):
        asyncio.run(carried_out(monkeypatch, 0.05, None))
