"""A lesson's folder: deterministic by seed, answers of its own files, foreign files are kept."""

from __future__ import annotations

import json
import re
import shlex
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

from airtoll.capture.reports import capture_report
from airtoll.cli.studying import parse_values
from airtoll.errors import UsageError
from airtoll.lesson import points, write_lesson
from airtoll.lesson.points import cost, handover
from airtoll.plan import make_plan
from airtoll.present.names import policy_name
from airtoll.report import browser as in_pages
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.run.api import prepare
from airtoll.run.lessons import POLICIES, lessons

WPA2 = "WPA2-Personal, CCMP-128"
WPA3 = "WPA3-Personal, CCMP-128"


def files(folder: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def rows(sheet: Path) -> dict[str, str]:
    """The blanks of a sheet in Markdown, each with its value."""
    found = dict(re.findall(r"^\| (.+) \| (.*) \|$", sheet.read_text("utf-8"), re.MULTILINE))
    del found["find"]
    return found


@pytest.fixture(scope="module", autouse=True)
def simulated():
    """Each scenario is simulated once for all lessons of this file; gives what simulates anew."""
    anew, known = points._simulated, {}

    def once(scenario, seed):
        key = json.dumps(scenario), seed
        if key not in known:
            known[key] = anew(scenario, seed)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(points, "_simulated", once)
        yield anew


@pytest.fixture(scope="module")
def lesson(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("lesson") / "class"
    write_lesson(folder, with_page=False)
    return folder


@pytest.mark.thorough
def test_the_same_seed_gives_the_same_files_and_another_one_other_numbers(
    lesson, simulated, monkeypatch, tmp_path
):
    monkeypatch.setattr(points, "_simulated", simulated)
    write_lesson(tmp_path / "again", with_page=False)
    assert files(tmp_path / "again") == files(lesson)
    write_lesson(tmp_path / "other", seed=7, with_page=False)
    assert rows(tmp_path / "other/solutions.md") != rows(lesson / "solutions.md")
    assert rows(tmp_path / "other/tasks.md") == rows(lesson / "tasks.md")


def test_tasks_have_blanks_and_solutions_have_a_number_in_each(lesson):
    asked, solved = rows(lesson / "tasks.md"), rows(lesson / "solutions.md")
    assert asked.keys() == solved.keys()
    assert not any(asked.values())
    assert all(re.match(r"\d", value) for value in solved.values())
    page = (lesson / "solutions.html").read_text("utf-8")
    assert all(f">{value}<" in page for value in solved.values())


def test_every_hand_over_of_the_page_can_be_simulated():
    scenarios = lessons(1)
    offered = [name for name, _ in scenarios.handovers]
    for name in offered:
        assert handover(scenarios, name).total("handover_messages") >= 1, name
    # Fast transition needs an FT AKM (IEEE Std 802.11-2020, 13.2.2).
    fast = [name for name in offered if name.endswith(": fast transition")]
    assert len(fast) >= 3
    assert all("fast transition, " in name for name in fast)
    assert "Open: a full join" in offered


def test_numbers_of_the_solutions_are_those_of_the_standard(lesson):
    solved = rows(lesson / "solutions.md")
    # 27 octets a symbol at 54 Mb/s (IEEE Std 802.11-2020, Table 17-4: 216 data bits).
    (falls,) = (value for what, value in solved.items() if "falls" in what)
    first, second = map(int, re.findall(r"\d+", falls)[1:])
    assert second - first == 27
    # Open System and association: two frames each (11.3). SAE: four frames (12.4.5).
    # 4 frames with EAPOL, 8 octets of header and 8 of MIC with CCMP-128 (12.7.6, 12.5.3).
    for policy, messages in ((WPA2, "8"), (WPA3, "10")):
        assert solved[f"messages before the first data frame, {policy}"] == messages
        assert solved[f"of these, frames with EAPOL, {policy}"] == "4"
        assert solved[f"octets that the cipher adds to a data frame, {policy}"] == "16"
    for what in ("time of the join", "octets of the key exchange"):
        older, newer = (float(solved[f"{what}, {one}"].split()[0]) for one in (WPA2, WPA3))
        assert newer > older


def test_the_reasons_agree_with_the_numbers(lesson):
    solved = rows(lesson / "solutions.md")
    ciphers = [solved[f"cost of {one}, 1472 octets"] for one in ("WEP-104", WPA2, WPA3)]
    assert len(set(ciphers)) == 1
    assert solved[f"cost of {WPA2}, 100 octets"].startswith("0.0 ")
    gaps = [value for what, value in solved.items() if what.startswith("gap of the call")]
    # One packet of the call every 20 ms: a hand-over without EAP ends before the next one.
    assert sum(19 < float(gap.split()[0]) < 20 for gap in gaps) == len(gaps) - 1
    (contended,) = (
        value for what, value in solved.items() if what.startswith("air for") and "1472" in what
    )
    assert re.fullmatch(r"[\d.]+ ± [\d.]+ %", contended)


@pytest.mark.parametrize("name", ["handshake", "handshake-wpa3"])
def test_the_keys_open_a_capture_and_its_page_says_that_it_is_simulated(lesson, name):
    report = capture_report([lesson / name / "air.pcapng"], (), [lesson / name / "keys.json"])
    assert report.data["decrypted"] == report.data["protected"] > 0
    page = (lesson / f"{name}.html").read_text("utf-8")
    assert "air.pcapng" in page
    assert "is simulated" in page
    assert tempfile.gettempdir() not in page


def test_no_file_loads_something_from_elsewhere(lesson):
    for path in lesson.glob("*.html"):
        assert not re.search(r"(src|href)=\"?(https?:)?//|@import", path.read_text("utf-8"))


def test_the_policy_of_the_handshake_changes_the_solutions(tmp_path):
    write_lesson(tmp_path, policy="wpa3-sae-gcmp-256", with_page=False)
    solved = rows(tmp_path / "solutions.md")
    added = "octets that the cipher adds to a data frame"
    assert solved[f"{added}, WPA3-Personal, GCMP-256"] == "24"
    assert solved[f"{added}, {WPA3}"] == "16"
    assert json.loads((tmp_path / "lesson.json").read_bytes())["policy"] == "wpa3-sae-gcmp-256"


def test_the_handshake_of_wpa3_is_compared_with_wpa2(lesson, tmp_path):
    shutil.copytree(lesson, tmp_path, dirs_exist_ok=True)
    write_lesson(tmp_path, policy="wpa3-sae-ccmp", with_page=False, force=True)
    captures = {path.parent.name for path in tmp_path.glob("*/air.pcapng")}
    assert captures == {"handshake", "handshake-wpa2"}
    assert not (tmp_path / "handshake-wpa3.html").exists()
    solved = rows(tmp_path / "solutions.md")
    assert solved[f"messages before the first data frame, {WPA2}"] == "8"


def test_own_files_are_replaced_and_others_are_kept(lesson, tmp_path):
    shutil.copytree(lesson, tmp_path, dirs_exist_ok=True)
    (tmp_path / "notes.txt").write_text("mine")
    write_lesson(tmp_path, seed=2, with_page=False, force=True)
    assert (tmp_path / "notes.txt").read_text() == "mine"
    before = files(tmp_path)
    (tmp_path / "tasks.md").write_text("edited by the teacher")
    with pytest.raises(UsageError, match=r"tasks\.md: exists"):
        write_lesson(tmp_path, seed=2, with_page=False)
    assert files(tmp_path) == before | {"tasks.md": b"edited by the teacher"}
    write_lesson(tmp_path, seed=2, with_page=False, force=True)
    assert files(tmp_path) == before


@pytest.mark.parametrize("other", [{"policy": "wpa3-sae-ccmp"}, {"seed": 2}])
def test_a_lesson_with_other_numbers_is_replaced_only_by_force(lesson, tmp_path, other):
    folder = tmp_path / "class"
    shutil.copytree(lesson, folder)
    with pytest.raises(UsageError, match=r"has the lesson of seed 1 and policy wpa2-psk-ccmp"):
        write_lesson(folder, with_page=False, **other)
    assert files(folder) == files(lesson)
    write_lesson(folder, with_page=False, force=True, **other)
    assert files(folder) != files(lesson)


@pytest.mark.parametrize(
    ("there", "said"),
    [
        (None, "which is not in the folder"),
        (1, "has the same seed"),
        (4, "has the seed 4"),
        ("mine", "is no playground"),
    ],
)
def test_the_command_says_whether_the_folder_has_the_page(airtoll, tmp_path, there, said):
    page = tmp_path / "playground.html"
    if there is not None:
        data = json.dumps({"network": [], "seed": there})
        page.write_text(
            there
            if there == "mine"
            else f'<script type="application/json" id="playground-data">{data}</script>'
        )
    done = airtoll("lesson", str(tmp_path), "--no-page")
    assert done.returncode == 0, done.stderr
    (line,) = (one for one in done.stderr.splitlines() if "playground" in one)
    assert said in line
    assert page.exists() == (there is not None)


@pytest.mark.skipif(in_pages.module() is None, reason=in_pages.NOT_BUILT)
def test_a_page_of_the_same_lesson_stays_airtolls_own(tmp_path):
    assert write_lesson(tmp_path).page_seed == 1
    assert "<summary>" not in (tmp_path / "playground.html").read_text("utf-8")
    assert write_lesson(tmp_path, with_page=False).page_seed == 1
    assert "playground.html" in json.loads((tmp_path / "lesson.json").read_bytes())["sha256"]


def test_a_file_that_was_there_is_not_overwritten(tmp_path):
    (tmp_path / "solutions.html").write_text("mine")
    with pytest.raises(UsageError, match=r"solutions\.html: exists"):
        write_lesson(tmp_path, with_page=False)
    assert files(tmp_path) == {"solutions.html": b"mine"}


def test_an_open_network_has_a_handshake_without_keys(tmp_path):
    write_lesson(tmp_path, policy="open", with_page=False)
    solved = rows(tmp_path / "solutions.md")
    assert solved["of these, frames with EAPOL, Open"] == "0"
    assert solved["octets that the cipher adds to a data frame, Open"] == "0"


def test_the_command_says_what_it_wrote(airtoll, tmp_path):
    done = airtoll("lesson", str(tmp_path / "class"), "--no-page")
    assert done.returncode == 0, done.stderr
    named = {line.split()[0] for line in done.stdout.splitlines()}
    assert named | {"lesson.json"} == set(files(tmp_path / "class"))
    assert airtoll("lesson", str(tmp_path / "other"), "--policy", "telepathy").returncode == 2
    assert not (tmp_path / "other").exists()


def test_commands_of_the_sheet_name_studies_and_their_keys(lesson):
    text = (lesson / "tasks.md").read_text("utf-8")
    commands = [shlex.split(line) for line in re.findall(r"^airtoll run .+$", text, re.MULTILINE)]
    assert len(commands) == 5
    wanted = {row for row in rows(lesson / "tasks.md") if row.startswith("cost of ")}
    found = set()
    for _, _, study, _, place, *sets in commands:
        assert f"airtoll show {place} costs" in text
        values = parse_values([one for one in sets if one != "--set"])
        cells = make_plan(prepare(study, values=values).study).cells
        assert cells
        for cell in cells:
            at = f"{cell.settings.rate_mbps:g} Mb/s" if study == "quickstart" else ""
            payload = f"{cell.load.payload_bytes} octets"
            found |= {
                f"cost of CCMP at {at} and {payload}",
                f"cost of {policy_name(cell.policy)}, {payload}",
            }
    assert wanted <= found


@pytest.mark.thorough
@pytest.mark.parametrize("study", ["quickstart", "roaming2026"])
def test_a_command_of_the_sheet_gives_the_columns_that_it_promises(
    airtoll, lesson, tmp_path, study
):
    text = (lesson / "tasks.md").read_text("utf-8")
    lines = re.findall(rf"^airtoll run {study} .*study\.answers.*$", text, re.MULTILINE)
    (command,) = map(shlex.split, lines)
    _, _, _, out, _, *sets = command
    done = airtoll("run", study, out, str(tmp_path / "run"), *sets, "--trials", "2")
    assert done.returncode == 0, done.stderr
    shown = airtoll("show", str(tmp_path / "run"), "costs", "--csv").stdout
    head = shown.splitlines()[0]
    expected = {
        "quickstart": ("throughput", "airtime retry"),
        "roaming2026": ("gap of a hand-over", "handover messages"),
    }
    assert all(column in head for column in expected[study]), head


@pytest.mark.browser
@pytest.mark.skipif(in_pages.module() is None, reason=in_pages.NOT_BUILT)
def test_the_page_shows_the_numbers_of_the_solutions(browser, tmp_path):
    write_lesson(tmp_path, seed=5)
    solved = rows(tmp_path / "solutions.md")
    tab = browser.new_page()
    tab.goto((tmp_path / "playground.html").as_uri())
    tab.wait_for_function("window.airtoll !== undefined")

    def numbers(lesson: str) -> list[str]:
        tab.wait_for_function("(id) => !document.getElementById(id).dataset.busy", arg=lesson)
        text = tab.locator(f"#{lesson} figcaption").inner_text()
        found = re.findall(r"[\d.]+(?: ± [\d.]+)? (?:%|Mb/s|ms)", text)
        # The level of the intervals is no number of a solution.
        return [one for one in found if one != "95 %"]

    assert tab.locator("summary").count() == 0
    tab.locator('#payload [name="rate"]').select_option("0")
    assert numbers("payload")[1:] == [
        solved[f"cost of CCMP at 6 Mb/s and {octets} octets"] for octets in (72, 1472)
    ]
    assert numbers("contention") == [
        solved[f"throughput of all, 1 station, 1472 octets, {WPA2}"],
        solved[f"throughput of all, 10 stations, 1472 octets, {WPA2}"],
        solved[f"air for repetitions, 10 stations, 1472 octets, {WPA2}"],
    ]
    tab.locator('#slow [name="slow"]').select_option("0")
    fast = solved["throughput of the fast station, slow one at 6 Mb/s"]
    assert numbers("slow")[-1] == fast
    name = f"{WPA2}: a full join"
    tab.locator('#handover [name="handover"]').select_option(label=name)
    assert solved[f"gap of the call, {name}"] in numbers("handover")
    tab.close()


def test_a_run_gives_a_cost_within_the_interval_of_the_playground(tmp_path):
    """The network of the lessons in other trials, five times as long, at low and high rates."""
    scenarios = lessons(1)
    rates = [words for words, _ in scenarios.rates]
    policy = POLICIES.index("wpa2-psk-ccmp")
    values = {
        "grid.policy": ["open", "wpa2-psk-ccmp"],
        "grid.traffic": ["udp"],
        "grid.scenario.rate_mbps": [6, 18, 54],
        "grid.traffic.payload_bytes": [72, 1472],
        "question": [],
    }
    done = run("quickstart", out=tmp_path / "run", trials=4, seed=9, values=values)
    found = summarise(done.path)
    cells = [cell for cell in found.plan.cells if cell.policy != "open"]
    assert len(cells) == 6
    for cell in cells:
        place = rates.index(f"{cell.settings.rate_mbps:g} Mb/s")
        shown = cost(scenarios, policy, payload=cell.load.payload_bytes, rate=place)
        value, half = map(float, re.fullmatch(r"(-?[\d.]+) ± ([\d.]+) %", shown).groups())
        ours = found.analysis.overhead(cell.name)
        assert abs(value - 100 * ours.value) <= half + 100 * ours.half_width + 0.05, (cell, shown)


def test_the_sheet_has_keys_that_open_both_handshakes_in_wireshark(lesson):
    tshark = shutil.which("tshark")
    if tshark is None:
        pytest.skip("tshark is not installed")
    text = (lesson / "tasks.md").read_text("utf-8")
    found = [
        (
            re.search(r"`(\S+air\.pcapng)`", part)[1],
            re.findall(r"key `([^`]+)` of type (\S+)", part),
        )
        for part in re.split(r"(?=Wireshark with )", text)[1:]
    ]
    kinds = {file: [kind.rstrip(".") for _, kind in keys] for file, keys in found}
    assert kinds == {
        "handshake/air.pcapng": ["wpa-pwd", "wpa-psk"],
        "handshake-wpa3/air.pcapng": ["wpa-psk"],
    }
    for file, keys in found:
        words = [tshark, "-r", str(lesson / file), "-Y", "udp"]
        for value, kind in [("", ""), *keys]:
            options = [
                *("-o", "wlan.enable_decryption:TRUE"),
                *("-o", f'uat:80211_keys:"{kind.rstrip(".")}","{value}"'),
            ]
            done = subprocess.run(
                [*words, *(options if kind else [])], capture_output=True, text=True, check=True
            )
            assert (len(done.stdout.splitlines()) > 5) == bool(kind), (file, kind)
