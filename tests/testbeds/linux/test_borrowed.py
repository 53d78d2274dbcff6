"""Settings of a host are given back: at the end, and after a kill."""

from __future__ import annotations

import asyncio
import os
import re
import signal
import stat
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

from airtoll.testbeds.linux.hosts.borrowed import borrow
from airtoll.testbeds.linux.hosts.host import HostError, LocalHost

#: An ``iw`` that keeps two settings in files beside it.
IW = """#!/bin/sh
cd "$(dirname "$0")"
case "$*" in
  *get*power_save*) echo "Power save: $(cat power)";;
  *set*power_save*) for word; do :; done; echo "$word" > power;;
  "reg get") printf 'global\\ncountry %s: DFS-FCC\\n' "$(cat country)";;
  "reg set "*) echo "$3" > country;;
esac
"""


#: An ``nmcli`` with one radio; a device lets go of it at the second look.
NMCLI = """#!/bin/sh
cd "$(dirname "$0")"
echo "$*" >> asked
case "$*" in
  "-g GENERAL.NM-MANAGED device show wlan0") cat managed;;
  "-g GENERAL.CON-UUID device show wlan0") cat active;;
  "-g GENERAL.STATE device show wlan0")
    if [ -e seen ]; then echo "10 (unmanaged)"; else echo "100 (connected)"; touch seen; fi;;
  "device set wlan0 managed "*) echo "$5" > managed; [ "$5" = no ] && echo -- > active; exit 0;;
  "connection up uuid "*) echo "$4" > active;;
  *) exit 2;;
esac
"""


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    program = tmp_path / "iw"
    program.write_text(IW)
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    (tmp_path / "power").write_text("on\n")
    (tmp_path / "country").write_text("US\n")
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    return tmp_path


def state(place: Path) -> tuple[str, str]:
    return (place / "power").read_text().strip(), (place / "country").read_text().strip()


def test_settings_are_changed_and_given_back(place: Path) -> None:
    async def use() -> None:
        release = await borrow(LocalHost("here", "0123abcd"), "wlan0", "DE")
        assert state(place) == ("off", "DE")
        await release()

    asyncio.run(use())
    assert state(place) == ("on", "US")


def test_what_was_as_wanted_is_left_alone(place: Path) -> None:
    (place / "power").write_text("off\n")

    async def use() -> None:
        release = await borrow(LocalHost("here", "0123abcd"), "wlan0", None)
        assert state(place) == ("off", "US")
        await release()

    asyncio.run(use())
    assert state(place) == ("off", "US")


def test_a_killed_owner_gives_them_back(place: Path) -> None:
    program = """
        import asyncio
        from airtoll.testbeds.linux.hosts.borrowed import borrow
        from airtoll.testbeds.linux.hosts.host import LocalHost

        async def use():
            release = await borrow(LocalHost("here", "0123abcd"), "wlan0", "DE")
            print("held", flush=True)
            await asyncio.sleep(600)

        asyncio.run(use())
    """
    owner = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(program)], stdout=subprocess.PIPE, text=True
    )
    assert owner.stdout is not None
    assert owner.stdout.readline() == "held\n"
    assert state(place) == ("off", "DE")
    owner.send_signal(signal.SIGKILL)
    owner.wait()
    give_up = time.monotonic() + 10
    while state(place) != ("on", "US"):
        assert time.monotonic() < give_up, state(place)


def test_a_program_that_does_not_get_ready_is_named() -> None:
    with pytest.raises(HostError, match="not ready"):
        asyncio.run(LocalHost("here", "0123abcd").hold(["sh", "-c", "echo no"]))


def test_a_program_that_does_not_get_ready_is_ended() -> None:
    program = ["sh", "-c", "echo $$; exec sleep 300"]
    with pytest.raises(HostError, match="not ready") as caught:
        asyncio.run(LocalHost("here", "0123abcd").hold(program))
    said = re.search(r"said (\d+), not ready", str(caught.value))
    assert said is not None
    assert not Path(f"/proc/{said[1]}").exists()


def with_manager(place: Path, managed: str, active: str) -> None:
    program = place / "nmcli"
    program.write_text(NMCLI)
    program.chmod(0o700)
    (place / "managed").write_text(f"{managed}\n")
    (place / "active").write_text(f"{active}\n")


@pytest.mark.parametrize("active", ["ed50f4f5-c0c5-4bb3-a931-5a4b3b784d68", "--"])
def test_networkmanager_gets_the_radio_back_with_its_connection(place: Path, active: str) -> None:
    with_manager(place, "yes", active)

    async def use() -> None:
        release = await borrow(LocalHost("here", "0123abcd"), "wlan0", None)
        assert (place / "managed").read_text() == "no\n"
        assert (place / "asked").read_text().count("GENERAL.STATE") == 2
        await release()

    asyncio.run(use())
    assert (place / "managed").read_text() == "yes\n"
    assert (place / "active").read_text() == f"{active}\n"
    assert ("connection up" in (place / "asked").read_text()) == (active != "--")


def test_a_radio_that_networkmanager_leaves_alone_stays_so(place: Path) -> None:
    with_manager(place, "no", "--")

    async def use() -> None:
        await (await borrow(LocalHost("here", "0123abcd"), "wlan0", None))()

    asyncio.run(use())
    assert "device set" not in (place / "asked").read_text()
