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

from airtoll.testbeds.linux.borrowed import borrow
from airtoll.testbeds.linux.hosts import HostError, LocalHost

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
        from airtoll.testbeds.linux.borrowed import borrow
        from airtoll.testbeds.linux.hosts import LocalHost

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
