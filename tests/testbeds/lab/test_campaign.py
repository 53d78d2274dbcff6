"""The logic of a campaign: order, touches, silence, skipped steps, restarts, commands."""

from __future__ import annotations

import http.server
import json
import socketserver
import stat
import threading
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtoll.border.answers import AnnouncedBss
from airtoll.cli.app import app
from airtoll.errors import EnvironmentProblem, TestbedError, UsageError
from airtoll.observe.journal import BROKEN, Record
from airtoll.plan import Cell, Plan, Trial
from airtoll.run.api import run
from airtoll.run.execute import execute
from airtoll.study import load
from airtoll.testbeds.contract import Measured
from airtoll.testbeds.lab import agenda, alerts, command, opening
from airtoll.testbeds.lab.access_point import wanted
from airtoll.testbeds.lab.bench import Surroundings
from airtoll.testbeds.lab.campaign import Campaign, Clock
from airtoll.testbeds.lab.logbook import Logbook
from airtoll.testbeds.lab.rehearsal.bench import SAID, Rehearsal
from airtoll.testbeds.lab.rehearsal.person import AWAY, SKIP, Person
from airtoll.testbeds.lab.rehearsal.router import Router
from airtoll.testbeds.linux.conditions import ChannelTimes
from airtoll.testbeds.linux.job import Foreign
from airtoll.testbeds.linux.laboratory.lab import Alert, Lab

from .bench import acted, lab, plan, secret


class Kept:
    """A journal in memory."""

    def __init__(self) -> None:
        self.records: list[Record] = []

    def append(self, record: Record) -> None:
        self.records.append(record)


def carried_out(of: Plan, campaign: Campaign) -> list[Record]:
    journal = Kept()
    execute(of, campaign, journal, [])  # type: ignore[arg-type]
    return journal.records


def test_each_setting_is_touched_once_in_a_run() -> None:
    of = plan("open", "wep-104", "wpa2-psk-ccmp", trials="repetitions = 3")
    person = Person(Router())
    campaign = opening.rehearsed(lab(), person, secret=secret())
    records = carried_out(of, campaign)
    assert [record.status for record in records] == ["ok"] * 9
    assert len(person.prompts) == 3
    assert "touch 2 of 3" in person.prompts[1]
    assert all(SAID in record.caveats for record in records)


def test_rounds_go_back_and_forth() -> None:
    of = plan("open", "wep-104", "wpa2-psk-ccmp", trials="repetitions = 2")
    table = lab().lab.model_copy(update={"rounds": 2})
    person = Person(Router())
    twice = lab().model_copy(update={"lab": table})
    records = carried_out(of, opening.rehearsed(twice, person, secret=secret()))
    policies = [record.cell.split("/")[1] for record in records]
    there = ["open", "wep-104", "wpa2-psk-ccmp"]
    assert policies == [*there, *reversed(there)]
    assert len(person.prompts) == 5


def test_a_skipped_setting_fails_by_name_and_is_not_asked_again() -> None:
    of = plan("open", "wep-104", trials="repetitions = 2")
    person = Person(Router(), {0: SKIP})
    records = carried_out(of, opening.rehearsed(lab(), person, secret=secret()))
    assert [record.status for record in records] == ["failed", "failed", "ok", "ok"]
    assert (records[0].reason or "").startswith(BROKEN)  # --resume asks again
    assert "open was skipped" in (records[0].reason or "")
    assert len(person.prompts) == 2


def test_without_an_answer_the_run_ends_and_says_how_it_goes_on() -> None:
    with pytest.raises(EnvironmentProblem, match=r"no answer within 0\.05 s .*--resume"):
        acted(plan("open"), {0: AWAY}, of_lab=lab(limit_s=0.05))


def test_a_restart_touches_nothing_that_is_still_right(tmp_path: Path) -> None:
    file = tmp_path / "bench.toml"
    of = plan("open")
    person = Person(Router())
    first = opening.rehearsed(lab(), person, secret=secret(), logbook=Logbook(file))
    first.measure(of.trial(of.cells[0], 1, 1))
    again = opening.rehearsed(lab(), person, secret=secret(), logbook=Logbook(file))
    again.measure(of.trial(of.cells[0], 2, 1))
    assert len(person.prompts) == 1
    person.router.channel = 11  # someone was there meanwhile
    third = opening.rehearsed(lab(), person, secret=secret(), logbook=Logbook(file))
    third.measure(of.trial(of.cells[0], 3, 1))
    assert len(person.prompts) == 2
    assert "Channel: is 11 (2462 MHz), not 6 (2437 MHz)" in person.prompts[1]
    lines = [json.loads(line) for line in (tmp_path / "bench.log.jsonl").read_text().splitlines()]
    assert [line["event"] for line in lines].count("set") == 2
    text = (tmp_path / "bench.state.json").read_text() + (tmp_path / "bench.log.jsonl").read_text()
    assert secret().passphrase not in text


def test_stations_are_carried_once_for_all_trials_at_a_place() -> None:
    scenario = """phy = "802.11b"
rate_mbps = 2.0
stations = [{ name = "A", walls = 2, rssi_dbm = -60.0 }]"""
    of = plan("open", "wep-104", scenario=scenario, trials="repetitions = 2")
    person = Person(Router())
    carried_out(of, opening.rehearsed(lab(), person, secret=secret()))
    assert len(person.moves) == 1
    assert "laptop0 (station A): behind two walls (printed: -60 dBm)" in person.moves[0]


class Air(Rehearsal):
    """A rehearsal with a busy channel, and hosts that are not reached for a while."""

    busy: tuple[float, ...] = ()
    unreached: int = 0

    def __init__(self, router: Router, of: Lab) -> None:
        super().__init__(router, of, secret())
        self.looks = 0
        self.dropped = 0

    def surroundings(self, frequency_mhz: int) -> Surroundings:
        if self.unreached:
            self.unreached -= 1
            raise TestbedError("laptop0: no route to host")
        active = float(self.looks)
        busy = sum(self.busy[: self.looks])
        self.looks += 1
        return Surroundings({"sta1": ChannelTimes(active, busy)}, -95.0)

    def drop(self) -> None:
        self.dropped += 1


def watched(air: Air, of: Lab, person: Person) -> tuple[Campaign, list[float]]:
    waits: list[float] = []
    clock = Clock(lambda: sum(waits), waits.append)
    return Campaign(of, air, prompts=lambda: person, clock=clock), waits


def test_a_busy_channel_repeats_a_trial_and_then_marks_it() -> None:
    person, of = Person(Router()), plan("open")
    air = Air(person.router, lab())
    air.busy = (0.9,) * 9
    campaign, _ = watched(air, lab(), person)
    measured = campaign.measure(of.trial(of.cells[0], 1, 1))
    assert "others took 90% of the channel's time, after 2 repetitions" in measured.caveats
    assert air.looks == 9
    quiet = Air(person.router, lab())
    quiet.busy = (0.9, 0.9, 0.9, *(0.1,) * 6)
    campaign, _ = watched(quiet, lab(), person)
    measured = campaign.measure(of.trial(of.cells[0], 1, 1))
    assert quiet.looks == 6
    assert not any("others took" in text for text in measured.caveats)


def test_a_host_that_comes_back_loses_no_trial() -> None:
    person, of = Person(Router()), plan("open")
    air = Air(person.router, lab())
    air.unreached = 3
    campaign, waits = watched(air, lab(), person)
    assert campaign.measure(of.trial(of.cells[0], 1, 1)).failure is None
    assert air.dropped == 3
    assert waits.count(30.0) == 3
    trouble = [line for line in campaign.log.events if line["event"] == "trouble"]
    assert len(trouble) == 1
    air.unreached = 1000
    with pytest.raises(TestbedError, match="no route to host"):
        campaign.measure(of.trial(of.cells[0], 2, 1))


class Broken(Air):
    """A testbed that breaks once."""

    broke = False

    def measure(self, trial: Trial, captures: Path | None, foreign: Foreign | None) -> Measured:
        if not self.broke:
            self.broke = True
            return Measured(failure=f"{BROKEN}laptop0: the connection was lost")
        return super().measure(trial, captures, foreign)


def test_a_trial_that_lost_its_hosts_is_carried_out_again() -> None:
    person, of = Person(Router()), plan("open")
    campaign, _ = watched(Broken(person.router, lab()), lab(), person)
    assert campaign.measure(of.trial(of.cells[0], 1, 1)).failure is None


def script(folder: Path, text: str) -> str:
    file = folder / "set-ap.sh"
    file.write_text(f"#!/bin/sh\n{text}\n")
    file.chmod(file.stat().st_mode | stat.S_IXUSR)
    return "./set-ap.sh"


class Commanded(Air):
    """A router whose SSID and channel a command writes into a file."""

    def __init__(self, of: Lab, file: Path) -> None:
        super().__init__(Router(), of)
        self._file = file

    def hear(self, frequencies_mhz: object = ()) -> list[AnnouncedBss]:
        if not self._file.exists():
            return []
        ssid, channel = self._file.read_text().split()
        router = Router(
            ssid=ssid, channel=int(channel), kind="open", ciphers=Router().ciphers, country="DE"
        )
        router.type("Security mode", "none (Disabled, Open)")
        return [router.announcement()]


def test_a_command_sets_the_access_point_and_is_verified(tmp_path: Path) -> None:
    line = script(tmp_path, 'echo "$AIRTOLL_SSID $AIRTOLL_CHANNEL" > air')
    of, by = plan("open"), lab(set=line)
    waits: list[float] = []
    campaign = Campaign(
        by,
        Commanded(by, tmp_path / "air"),
        folder=tmp_path,
        clock=Clock(lambda: sum(waits), waits.append),
    )
    assert campaign.measure(of.trial(of.cells[0], 1, 1)).failure is None


def test_a_command_that_sets_something_else_fails_by_field(tmp_path: Path) -> None:
    line = script(tmp_path, 'echo "$AIRTOLL_SSID 11" > air; echo x >> calls')
    of, by = plan("open"), lab(set=line)
    waits: list[float] = []
    campaign = Campaign(
        by,
        Commanded(by, tmp_path / "air"),
        folder=tmp_path,
        clock=Clock(lambda: sum(waits), waits.append),
    )
    for number in (1, 2):
        failure = campaign.measure(of.trial(of.cells[0], number, 1)).failure or ""
        assert "Channel: is 11 (2462 MHz), not 6 (2437 MHz)" in failure
    assert (tmp_path / "calls").read_text().count("x") == 2  # not again for the second trial


def test_a_silent_access_point_is_switched_off_and_on(tmp_path: Path) -> None:
    line = script(tmp_path, 'echo "$AIRTOLL_SSID $AIRTOLL_CHANNEL" > air')
    power = tmp_path / "power.sh"
    power.write_text("#!/bin/sh\nmv hung air\n")
    power.chmod(0o700)
    of, by = plan("open"), lab(set=line, power="./power.sh")
    waits: list[float] = []
    campaign = Campaign(
        by,
        Commanded(by, tmp_path / "air"),
        folder=tmp_path,
        clock=Clock(lambda: sum(waits), waits.append),
    )
    assert campaign.measure(of.trial(of.cells[0], 1, 1)).failure is None
    (tmp_path / "air").rename(tmp_path / "hung")
    assert campaign.measure(of.trial(of.cells[0], 2, 1)).failure is None
    assert 120.0 in waits
    assert any("switched off and on" in str(line.get("why")) for line in campaign.log.events)


def test_a_failing_command_names_itself_and_its_last_words(tmp_path: Path) -> None:
    line = script(tmp_path, "echo no such radio >&2; exit 3")
    with pytest.raises(TestbedError, match=r"\./set-ap\.sh: status 3: no such radio"):
        command.run([line], {}, tmp_path, 5)
    with pytest.raises(TestbedError, match="not ended after"):
        command.run(["sleep", "5"], {}, tmp_path, 0.05)


def batch_of(policy: str, tmp_path: Path, **scenario: str) -> str:
    """The program that the shipped script sends to an access point with OpenWrt."""
    of = plan(policy, **scenario)
    by = lab(set="openwrt", address="root@192.168.1.1")
    ap = by.lab.ap
    assert ap is not None
    settings = wanted(of.cells[0], by, secret())
    sent = tmp_path / "sent"
    catch = tmp_path / "ssh"
    catch.write_text(f"#!/bin/sh\ncat > {sent}\n")
    catch.chmod(0o700)
    variables = {**settings.variables(secret(), ap), "AIRTOLL_SSH": str(catch)}
    command.run(command.words(ap), variables, tmp_path, 10)
    return sent.read_text()


@pytest.mark.parametrize(
    ("policy", "words"),
    [
        ("open", ["IFACE.encryption=none"]),
        ("wpa2-psk-ccmp", ["psk2+ccmp"]),
        ("wpa-psk-tkip", ["psk+tkip"]),
        ("wpa3-sae-ccmp", ["encryption=sae", "ieee80211w=2"]),
        ("wpa2-eap-peap-ccmp", ["wpa2+ccmp", "auth_port"]),
        ("wep-104", ["wep-open", "key1"]),
    ],
)
def test_the_openwrt_script_has_a_batch_for_each_policy(
    policy: str, words: list[str], tmp_path: Path
) -> None:
    text = batch_of(policy, tmp_path)
    for word in words:
        assert word in text.replace("'\\''", "")
    assert "wifi reload" in text
    assert f"ssid='\\''{secret().ssid}" in text


def test_the_openwrt_script_refuses_ciphers_without_a_setting(tmp_path: Path) -> None:
    with pytest.raises(TestbedError, match="OpenWrt has no setting for the cipher"):
        batch_of("wpa2-psk-ccmp-256", tmp_path)


def test_the_openwrt_script_runs_on_a_busybox_of_uci(tmp_path: Path) -> None:
    """The program for the access point itself, with a uci that notes its calls."""
    text = batch_of("wpa2-psk-ccmp", tmp_path)
    tools = tmp_path / "bin"
    tools.mkdir()
    (tools / "uci").write_text(
        "#!/bin/sh\n"
        'case "$*" in\n'
        "show*) printf 'wireless.radio0=wifi-device\\nwireless.radio1=wifi-device\\n"
        "wireless.default_radio0=wifi-iface\\nwireless.guest=wifi-iface\\n' ;;\n"
        "*radio0.band) echo 2g ;;\n*radio1.band) echo 5g ;;\n*device) echo radio0 ;;\n"
        f'*batch) cat >> {tmp_path}/calls ;;\n*) echo "$@" >> {tmp_path}/calls ;;\nesac\n'
    )
    (tools / "wifi").write_text(f"#!/bin/sh\necho wifi $@ >> {tmp_path}/calls\n")
    for tool in tools.iterdir():
        tool.chmod(0o700)
    (tmp_path / "program").write_text(text)
    path = f"{tools}:/usr/bin:/bin"
    command.run(["sh", "program"], {"PATH": path}, tmp_path, 10)
    calls = (tmp_path / "calls").read_text().splitlines()
    assert "set wireless.radio0.channel='6'" in calls
    assert f"set wireless.default_radio0.key='{secret().passphrase}'" in calls
    assert "set wireless.radio1.disabled=1" in calls
    assert "set wireless.guest.disabled=1" in calls
    assert calls[-2:] == ["commit wireless", "wifi reload"]


def test_a_web_hook_gets_the_trouble() -> None:
    got: list[str] = []

    class Hook(http.server.BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            got.append(self.rfile.read(int(self.headers["Content-Length"])).decode())
            self.send_response(204)
            self.end_headers()

        def log_message(self, *_: object) -> None:
            pass

    server = http.server.HTTPServer(("127.0.0.1", 0), Hook)
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    url = f"http://127.0.0.1:{server.server_address[1]}/"
    assert alerts.send(Alert(url=url), "airtoll: bench", "the access point is silent") == []
    server.shutdown()
    server.server_close()
    assert got == ["airtoll: bench\nthe access point is silent\n"]
    (failed,) = alerts.send(Alert(url=url), "airtoll: bench", "again")
    assert failed.startswith(url)


def test_mail_gets_the_trouble() -> None:
    got: list[str] = []

    class Mail(socketserver.StreamRequestHandler):
        def handle(self) -> None:
            self.wfile.write(b"220 here\r\n")
            while line := self.rfile.readline().decode().strip():
                word = line.split()[0].upper()
                self.wfile.write(
                    {"DATA": b"354 go\r\n", "QUIT": b"221 bye\r\n"}.get(word, b"250 ok\r\n")
                )
                if word == "QUIT":
                    return
                if word == "DATA":
                    while (text := self.rfile.readline().decode().rstrip()) != ".":
                        got.append(text)
                    self.wfile.write(b"250 kept\r\n")

    with socketserver.TCPServer(("127.0.0.1", 0), Mail) as server:
        threading.Thread(target=server.handle_request, daemon=True).start()
        smtp = f"127.0.0.1:{server.server_address[1]}"
        told = Alert(mail="me@example.org", smtp=smtp)
        assert alerts.send(told, "airtoll: bench", "no answer") == []
    assert "Subject: airtoll: bench" in got
    assert got[-1] == "no answer"


def test_a_rehearsal_skips_what_the_laboratory_cannot_do() -> None:
    of = plan("open", "wpa2-psk-ccmp", "wpa3-sae-ccmp")
    campaign = opening.rehearsed(lab(lacks=["wpa3-sae-ccmp"]), secret=secret())
    skips = [campaign.check(cell) for cell in of.cells]
    assert skips[:2] == [None, None]
    assert skips[2] is not None
    assert "[lab.ap] lacks it" in skips[2].reason
    told = agenda.lines(of, campaign, skips)
    assert "skipped: 1 cells: wpa3-sae-ccmp: [lab.ap] lacks it" in told
    assert any("set twice by hand" in line for line in told)


def test_a_study_of_profile_sets_collapses_and_keeps_what_a_user_gave() -> None:
    file = load("tripathi2008")
    assert agenda.values_for(file, lab(), {}) == {
        "grid.profile_set": ["datasheet"],
        "trials.order": "sequential",
    }
    given = {"grid.profile_set": ["card"], "trials.order": "random"}
    assert agenda.values_for(file, lab(), given) == {}


def level_of(cell: Cell, key: str) -> object:
    names = {"scenario": cell.scenario, "policy": cell.policy, "traffic": cell.traffic}
    return names.get(key, dict(cell.factors).get(key))


@pytest.mark.parametrize(
    ("study", "touches", "stations"),
    [
        pytest.param("mccarter2006", 10, 2, marks=pytest.mark.thorough),
        ("tripathi2008", 6, 2),
        ("gheryani2013", 5, 1),
    ],
)
def test_published_studies_run_as_campaigns(
    study: str, touches: int, stations: int, tmp_path: Path
) -> None:
    person = Person(Router())
    of = lab(stations)
    values = agenda.values_for(load(study), of, {})
    if study == "tripathi2008":
        values |= {f"traffic.{name}.duration_s": 0.2 for name in load(study).study.traffic}
    result = run(
        study,
        out=tmp_path / "run",
        trials=1,
        values=values,
        testbed=opening.rehearsed(of, person, secret=secret()),
    )
    assert len(person.prompts) == touches
    assert set(result.trials()["status"]) <= {"ok", "rerun", "warm_up"}
    # A value for every cell that a printed table has a reading of.
    seen = result.observations().select("cell", "metric", "flow", "station").unique().rows()
    cells = result.folder.plan().cells
    for entry in result.folder.study_file().study.compare:
        asked = [
            cell
            for cell in cells
            if all(
                str(level_of(cell, key)) in str(level).split("|")
                for key, level in entry.cells.items()
                if key not in ("flow", "station")
            )
        ]
        assert asked
        if entry.metric != "overhead":
            rows = (entry.cells.get("flow"), entry.cells.get("station"))
            assert {(cell.name, entry.metric, *rows) for cell in asked} <= set(seen)


def test_a_survey_needs_an_access_point_that_airtoll_drives(tmp_path: Path) -> None:
    file = tmp_path / "bench.toml"
    file.write_text(
        '[lab]\nname = "bench"\n[lab.ap]\nip = "10.0.0.1"\n[host.laptop]\nrole = "station"\n'
        'address = "a"\ninterface = "wlan0"\nip = "10.0.0.2"\n[host.desk]\nrole = "server"\n'
        'address = "local"\nip = "10.0.0.3"\n'
    )
    done = CliRunner().invoke(app, ["survey", "--lab", str(file), "--channels", "1,6"])
    assert isinstance(done.exception, UsageError)
    assert "role = access-point" in str(done.exception)
