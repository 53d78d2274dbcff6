"""The medium's driver: what it tells the program, and how a throughput is judged."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from airtoll.border import MediumRequestStop, to_json
from airtoll.errors import EnvironmentProblem
from airtoll.testbeds.linux.air import medium
from airtoll.testbeds.linux.air.medium import Medium, MediumError, judge
from airtoll.testbeds.linux.hosts.host import HostError, LocalHost
from airtoll.testbeds.linux.hosts.radios import Radio
from airtoll.testbeds.linux.job import Job, Value
from airtoll.testbeds.linux.trial.load import _total

RADIOS = {
    "ap1": Radio("phy0", "wlan0", "02:00:00:00:00:00"),
    "sta1": Radio("phy1", "wlan1", "02:00:00:00:01:00"),
    "sta2": Radio("phy2", "wlan2", "02:00:00:00:02:00"),
}

#: Speaks the program's protocol and repeats what it was asked, so that the driver can be seen.
ECHO = """#!/usr/bin/env python3
import json, os, socket, sys
if json.load(open(sys.argv[2]))["radios"] == []:
    sys.exit("airtoll-medium: no mac80211_hwsim in this kernel: modprobe mac80211_hwsim")
here = socket.socket(socket.AF_UNIX)
here.bind(sys.argv[1] + ".new")
here.listen(1)
os.rename(sys.argv[1] + ".new", sys.argv[1])
stream = here.accept()[0].makefile("rw")
for line in stream:
    asked = json.loads(line)
    if asked["op"] == "stop":
        sys.exit(3)
    refused = asked["op"] == "level" and asked["dbm"] > 0
    print(json.dumps({"error": "no"} if refused else asked), file=stream, flush=True)
"""


@asynccontextmanager
async def started(folder: Path, radios: dict[str, Radio]) -> AsyncIterator[Medium]:
    program = folder / "medium"
    program.write_text(ECHO)
    program.chmod(0o755)
    async with LocalHost("here", "0123abcd") as host:
        yield await Medium.start(host, str(folder), str(program), radios)


def test_requests_go_over_the_socket(tmp_path: Path) -> None:
    async def talk() -> dict[str, Any]:
        async with started(tmp_path, RADIOS) as air:
            await air.airtime(False)
            with pytest.raises(MediumError, match="level: no"):
                await air.level("ap1", "sta1", 5)
            asked = await air.statistics(forget=True)
            with pytest.raises(MediumError, match="has died: exit status 3"):
                await air.request(MediumRequestStop())
            return asked

    assert asyncio.run(talk()) == {"op": "statistics", "forget": True}
    told = json.loads((tmp_path / "medium.json").read_text())
    assert told["radios"][1] == {
        "name": "sta1",
        "address": "42:00:00:00:01:00",
        "interfaces": ["02:00:00:00:01:00"],
    }


def test_a_medium_that_does_not_come_up_has_last_words(tmp_path: Path) -> None:
    async def fail() -> None:
        async with started(tmp_path, {}):
            pass

    with pytest.raises(HostError, match=r"exit status 1; its log ends: .*modprobe mac80211_hwsim"):
        asyncio.run(fail())


def test_a_job_becomes_an_air() -> None:
    job = Job(
        "x",
        "open",
        stations=("A", "B"),
        phy="802.11b",
        short_preamble=True,
        levels_dbm=(("A", -60.0),),
        hidden=(("A", "B"),),
        queue_frames=400,
        seed=9,
    )
    assert Job.from_json(json.loads(json.dumps(job.to_json()))) == job
    told = json.loads(to_json(medium._settings(RADIOS, job, {"A": "sta1", "B": "sta2"})))
    assert told["standard"] == "802.11b"
    assert told["levels"] == [{"radios": ["sta1", "ap1"], "points": [{"dbm": -60.0}]}]
    assert told["hidden"] == [["sta1", "sta2"]]
    assert (told["short_preamble"], told["seed"]) == (True, 9)
    # The driver would throw away the oldest of more than 200.
    assert told["queue_frames"] == 150


def counts(**changes: Any) -> dict[str, Any]:
    radio = {"attempts": 100, "air_s": 0.7}
    return {"overruns": 0, "lateness": {"mean_s": 0.0002}, "radios": [radio], **changes}


@pytest.mark.parametrize(
    ("ceiling_bps", "counted", "said"),
    [
        (3.2e6, counts(), None),
        (None, counts(), None),
        (3.1e6, counts(), "the CPU carries 3.10 Mb/s without airtime"),
        (9e6, counts(overruns=2), "lost frames 2 times"),
        (None, counts(overruns=2), "lost frames 2 times"),
        (9e6, counts(lateness={"mean_s": 0.008}), "8.0 ms late"),
    ],
)
def test_a_throughput_without_head_room_is_refused(
    ceiling_bps: float | None, counted: dict[str, Any], said: str | None
) -> None:
    verdict = judge(1.6e6, ceiling_bps, counted)
    if said is None:
        assert verdict.refusal is None
    else:
        assert verdict.refusal is not None
        assert said in verdict.refusal


def test_the_throughput_judged_is_that_of_the_whole_time() -> None:
    whole = [Value("throughput_bps", 2.0, "bit/s", "A"), Value("throughput_bps", 3.0, "bit/s", "B")]
    series = [Value("throughput_bps", 2.0, "bit/s", "A", second=second) for second in range(9)]
    assert _total([*whole, *series]) == 5.0
    assert _total([Value("delay_s", 0.1, "s")]) is None


def test_the_program_is_found_where_it_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRTOLL_MEDIUM", str(tmp_path / "absent"))
    with pytest.raises(EnvironmentProblem, match="AIRTOLL_MEDIUM: there is no file"):
        medium.find()
    monkeypatch.setenv("AIRTOLL_MEDIUM", "none")
    assert medium.find() is None
    program = tmp_path / "airtoll-medium"
    program.touch(mode=0o755)
    monkeypatch.setenv("AIRTOLL_MEDIUM", str(program))
    assert medium.find() == program.resolve()
    monkeypatch.delenv("AIRTOLL_MEDIUM")
    monkeypatch.setattr("sys.executable", str(tmp_path / "python"))
    assert medium.find() == program
