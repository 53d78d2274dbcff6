"""The control interface of a real wpa_supplicant, by socket and through its client over SSH.

It runs with ``-D none``: no radio is needed to answer requests and to report events.
"""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import socket
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from pathlib import Path

import pytest

from airtoll.testbeds.linux.hosts.control import Control, ControlError, connect, event_of
from airtoll.testbeds.linux.hosts.host import Host, HostError, LocalHost

Opened = Callable[[], AbstractAsyncContextManager[Host]]

pytestmark = pytest.mark.skipif(
    os.geteuid() != 0
    or any(
        shutil.which(tool, path=f"{os.environ.get('PATH', '')}:/usr/sbin") is None
        for tool in ("wpa_supplicant", "wpa_cli")
    ),
    reason="needs root and wpasupplicant",
)


def test_the_socket_of_a_killed_daemon_is_not_taken_for_its_successor(tmp_path: Path) -> None:
    """A killed daemon leaves its socket behind; the next is reached once it has replaced it."""
    path = tmp_path / "wpa" / "lo"
    path.parent.mkdir()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as stale:
        stale.bind(str(path))
    argv = ["sh", "-c", 'sleep 0.5; exec wpa_supplicant -D none -i lo -C "$1"', "sh"]

    async def steps() -> None:
        async with LocalHost("here", "0123abcd") as host:
            process = await host.start([*argv, str(path.parent)], log=str(tmp_path / "log"))
            control = await connect(host, str(path), "wpa_supplicant", process)
            assert (await control.request("PING")).strip() == "PONG"
            control.close()

    asyncio.run(steps())


def test_a_daemon_that_does_not_come_up_has_last_words(tmp_path: Path) -> None:
    argv = ["sh", "-c", "echo no such interface >&2; exit 4"]

    async def steps() -> None:
        async with LocalHost("here", "0123abcd") as host:
            process = await host.start(argv, log=str(tmp_path / "log"))
            with pytest.raises(HostError, match="exit status 4; its log ends: no such interface"):
                await connect(host, str(tmp_path / "wpa" / "lo"), "wpa_supplicant", process)

    asyncio.run(steps())


def test_requests_events_and_the_end(opened: Opened, tmp_path: Path) -> None:
    async def steps() -> None:
        async with opened() as host:
            process = await host.start(
                ["wpa_supplicant", "-D", "none", "-i", "lo", "-C", str(tmp_path / "wpa")],
                log=str(tmp_path / "log"),
            )
            control = await connect(host, str(tmp_path / "wpa" / "lo"), "wpa_supplicant", process)
            assert (await control.request("PING")).strip() == "PONG"
            assert "wpa_state=" in await control.request("STATUS")
            with pytest.raises(ControlError, match="wpa_supplicant: GET_NETWORK: FAIL"):
                await control.request("GET_NETWORK 7 ssid")
            with pytest.raises(ControlError, match=r"no NEVER within 0.3 s; last: nothing"):
                await control.wait_for("NEVER", limit_s=0.3)
            number = (await control.request("ADD_NETWORK")).strip()
            event = await control.wait_for("CTRL-EVENT-NETWORK-ADDED", limit_s=10)
            assert event.text == f"CTRL-EVENT-NETWORK-ADDED {number}"
            await control.request(f"REMOVE_NETWORK {number}")
            with pytest.raises(ControlError, match="wpa_supplicant: CTRL-EVENT-NETWORK-REMOVED"):
                await control.wait_for(
                    "CTRL-EVENT-CONNECTED", limit_s=10, failures=("CTRL-EVENT-NETWORK-REMOVED",)
                )
            await process.signal(signal.SIGKILL)
            with pytest.raises(ControlError, match="died while CTRL-EVENT-CONNECTED was awaited"):
                await control.wait_for("CTRL-EVENT-CONNECTED", limit_s=20)
            control.close()
        assert not list(tmp_path.glob("ctl-*"))

    asyncio.run(steps())


def test_a_daemon_that_does_not_come_up_is_said(opened: Opened, tmp_path: Path) -> None:
    async def steps() -> None:
        async with opened() as host:
            process = await host.start(
                ["wpa_supplicant", "-D", "no-such-driver", "-i", "lo", "-C", str(tmp_path / "wpa")],
                log=str(tmp_path / "log"),
            )
            with pytest.raises(HostError, match="wpa_supplicant ended before it made"):
                await connect(host, str(tmp_path / "wpa" / "lo"), "wpa_supplicant", process, 10.0)

    asyncio.run(steps())


def test_answers_and_events_are_told_apart() -> None:
    async def steps() -> None:
        control = Control("hostapd")
        for text in ("<3>AP-ENABLED ", "OK\n", "<2>CTRL-EVENT-TERMINATING "):
            control.received(text)
        assert (await control.wait_for("AP-", limit_s=1)).text == "AP-ENABLED"
        control.forget()
        with pytest.raises(ControlError):
            await control.wait_for("CTRL-EVENT", limit_s=0)

    asyncio.run(steps())


@pytest.mark.parametrize(
    ("program", "line", "event"),
    [
        ("hostapd_cli", "wlan0 AP-STA-CONNECTED 02:00\n", "<3>AP-STA-CONNECTED 02:00"),
        ("hostapd_cli", "Selected interface 'wlan0'\n", None),
        ("hostapd_cli", "\n", None),
        ("wpa_cli", "> <3>CTRL-EVENT-SCAN-RESULTS \n", "<3>CTRL-EVENT-SCAN-RESULTS \n"),
        ("wpa_cli", "Interactive mode\n", None),
    ],
)  # fmt: skip
def test_events_of_command_line_clients(program: str, line: str, event: str | None) -> None:
    assert event_of(line, program) == event
