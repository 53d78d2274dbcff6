"""``airtoll import`` at the terminal: files by their names, damaged files, the answer in words."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from airtoll.cli.app import app
from airtoll.errors import AirtollError, DatasetError, PartlyRead, UsageError
from airtoll.observe.imports.naming import policy_in, policy_of
from airtoll.observe.tables import read_trials

OPEN = (239.0, 244.6, 234.2, 238.9, 240.1)
WPA3 = (228.1, 225.3, 230.9, 226.4, 229.8)


def result(path: Path, mbps: float, reverse: int = 1) -> Path:
    """A result of iperf3; tests differ by their cookie."""
    sums = {"start": 0, "end": 10, "seconds": 10.0, "bytes": 1.25e6 * mbps}
    sums["bits_per_second"] = 1e6 * mbps
    test = {"protocol": "TCP", "num_streams": 1, "reverse": reverse, "duration": 10, "omit": 0}
    start = {"version": "iperf 3.16", "cookie": str(path), "test_start": test}
    end = {"sum_sent": sums, "sum_received": sums}
    interval = {"streams": [], "sum": sums}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps({"start": start, "intervals": [interval], "end": end}, indent=1))
    return path


@pytest.fixture
def files(tmp_path: Path) -> list[Path]:
    """Five results of an open network and five of WPA3, named after them."""
    return [
        result(tmp_path / f"{name}-{trial}.json", value)
        for name, values in (("open", OPEN), ("wpa3", WPA3))
        for trial, value in enumerate(values, 1)
    ]


def called(*words: object) -> Result:
    return CliRunner().invoke(app, ["import", *map(str, words)])


def cut(path: Path, share: float) -> None:
    text = path.read_text()
    path.write_text(text[: round(share * len(text))])


def test_tests_of_both_directions_are_two_traffics(tmp_path: Path) -> None:
    """A mean over both directions would be that of none."""
    for name, mbps, reverse in (("open-1", 240.0, 1), ("open-2", 310.0, 0), ("open-3", 312.0, 0)):
        result(tmp_path / f"{name}.json", mbps, reverse)
    done = called(*sorted(tmp_path.glob("*.json")), "--out", tmp_path / "o", "--json")
    assert done.exit_code == 0, done.output
    rows = [r for r in json.loads(done.stdout)["estimates"] if r["metric"] == "throughput_bps"]
    assert {r["cell"]: (r["n"], r["value"]) for r in rows} == {
        "imported/open/tcp": (2, pytest.approx(311e6)),
        "imported/open/tcp-reverse": (1, pytest.approx(240e6)),
    }


def test_names_give_policies_and_contents_the_format(files: list[Path], tmp_path: Path) -> None:
    done = called(*files, "--out", tmp_path / "o")
    assert done.exit_code == 0, done.output
    assert "policies by the names of files or folders: open 5, wpa3-sae-ccmp 5" in done.stderr
    counts = read_trials(tmp_path / "o")["policy"].value_counts()
    assert dict(counts.iter_rows()) == {"open": 5, "wpa3-sae-ccmp": 5}


def test_the_answer_is_a_sentence_with_both_values_and_its_chance(
    files: list[Path], tmp_path: Path
) -> None:
    done = called(*files, "--out", tmp_path / "o")
    said = " ".join(done.stdout.split())
    assert "From an open network to WPA3-Personal, throughput falls by 4.7 ±" in said
    assert "from 239.4 to 228.1 Mb/s: real (p < 0.001)." in said
    assert "bit/s" not in said.replace("Mb/s", "")
    page = (tmp_path / "o" / "report.html").read_text("utf-8")
    assert "From an open network to WPA3-Personal, throughput falls by 4.7" in page
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "o")])
    assert shown.exit_code == 0
    assert shown.stdout == done.stdout
    refused = CliRunner().invoke(app, ["show", str(tmp_path / "o"), "costs"])
    assert isinstance(refused.exception, UsageError)
    assert "airtoll report" in str(refused.exception)


def test_readings_that_do_not_tell_say_how_many_would(tmp_path: Path) -> None:
    files = [
        result(tmp_path / f"{name}-{trial}.json", value)
        for name, values in (("open", (238.0, 231.0, 244.0)), ("wpa3", (236.0, 229.5, 243.0)))
        for trial, value in enumerate(values)
    ]
    said = " ".join(called(*files, "--out", tmp_path / "o").stdout.split())
    assert "too few trials to tell" in said
    assert "real" not in said
    assert re.search(r"; \d+ new readings on each side would decide in 4 of 5 cases", said)
    assert "seed" not in said
    assert "cell and" not in said
    # Explain has to say of the same files that they do not tell.
    sides = [",".join(map(str, files[:3])), ",".join(map(str, files[3:]))]
    words = ["explain", *sides, "--from", "open", "--to", "wpa3-sae-ccmp", "--phy", "ac"]
    told = CliRunner().invoke(app, [*words, "--width", "80"])
    assert told.exit_code == 0, told.output
    first = " ".join(told.stdout.split())
    assert "would not show: it cannot tell a fall from none" in first
    assert "nothing is slow" not in first


@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99])
def test_a_cut_file_is_left_out_and_named(files: list[Path], tmp_path: Path, share: float) -> None:
    cut(files[7], share)
    done = called(*files, "--out", tmp_path / "o")
    assert isinstance(done.exception, PartlyRead)
    assert done.exception.exit_code == 3
    line = str(done.exception)
    assert line.startswith("wpa3-3.json ends in the middle (line ")
    assert line.endswith("): left out; 9 of 10 imported")
    assert "throughput falls by" in " ".join(done.stdout.split())
    assert read_trials(tmp_path / "o").height == 9


def test_the_page_names_a_cut_file_until_it_is_imported(files: list[Path], tmp_path: Path) -> None:
    good = files[7].read_text()
    cut(files[7], 0.5)
    (tmp_path / "open-9.json").write_text("{}")
    done = called(*files, tmp_path / "open-9.json", "--out", tmp_path / "o")
    assert done.exception.exit_code == 3
    page = (tmp_path / "o" / "report.html").read_text("utf-8")
    folder = tmp_path.name
    assert "2 files could not be read" in page
    assert f"<code>{folder}/wpa3-3.json</code>: ends in the middle (line " in page
    assert f"<code>{folder}/open-9.json</code>: JSON, but none of iperf3" in page
    shown = CliRunner().invoke(app, ["show", str(tmp_path / "o")])
    assert shown.stdout == done.stdout
    assert f"could not be read: {folder}/wpa3-3.json, {folder}/open-9.json." in shown.stdout
    files[7].write_text(good)
    again = called(*files, "--out", tmp_path / "o")
    assert again.exit_code == 0, again.output
    page = (tmp_path / "o" / "report.html").read_text("utf-8")
    assert "1 file could not be read" in page
    assert "wpa3-3.json</code>: ends" not in page
    assert read_trials(tmp_path / "o").height == 10


def test_a_cut_file_alone_or_under_strict_is_an_error(files: list[Path], tmp_path: Path) -> None:
    cut(files[0], 0.5)
    for words in ([files[0]], [*files, "--strict"]):
        done = called(*words, "--out", tmp_path / "o")
        assert isinstance(done.exception, DatasetError)
        assert not (tmp_path / "o").exists()
    done = called(*files[1:], tmp_path / "opne-9.json", "--out", tmp_path / "o")
    assert "no such file" in str(done.exception)


def test_a_stated_policy_against_the_names_is_said(files: list[Path], tmp_path: Path) -> None:
    done = called(*files, "--policy", "open", "--out", tmp_path / "o")
    assert "5 files named after wpa3-sae-ccmp imported as open" in done.stderr


def test_folders_named_after_policies_are_imported(tmp_path: Path) -> None:
    for name, values in (("open", OPEN), ("wpa2", WPA3)):
        for trial, value in enumerate(values):
            result(tmp_path / name / f"{trial}.json", value)
    done = called(tmp_path / "open", tmp_path / "wpa2", "--out", tmp_path / "o")
    assert done.exit_code == 0, done.output
    assert set(read_trials(tmp_path / "o")["policy"]) == {"open", "wpa2-psk-ccmp"}


def test_explain_leaves_a_cut_file_out_too(tmp_path: Path) -> None:
    for name, values in (("open", OPEN), ("wpa3", WPA3)):
        for trial, value in enumerate(values, 1):
            result(tmp_path / name / f"{trial}.json", value)
    cut(tmp_path / "wpa3" / "2.json", 0.5)
    words = [str(tmp_path / "open"), str(tmp_path / "wpa3"), "--phy", "ac", "--width", "80"]
    done = CliRunner().invoke(app, ["explain", *words])
    assert isinstance(done.exception, AirtollError)
    assert done.exception.exit_code == 3
    assert "2.json ends in the middle" in str(done.exception)
    assert str(done.exception).endswith("left out; 4 of 5 count")
    assert "1. octets" in done.stdout


@pytest.mark.parametrize(
    ("name", "policy"),
    [
        ("wpa3", "wpa3-sae-ccmp"),
        ("wpa3-2", "wpa3-sae-ccmp"),
        ("office_wpa2_down_3", "wpa2-psk-ccmp"),
        ("wpa2-ft-eap-tls-ccmp-7", "wpa2-ft-eap-tls-ccmp"),
        ("open.1", "open"),
        ("results-3", None),
        ("reopened", None),
    ],
)
def test_names_of_policies_in_names_of_files(name: str, policy: str | None) -> None:
    assert policy_in(name) == policy


def test_a_file_counts_before_its_folder() -> None:
    assert policy_of(Path("/data/wpa2/wpa3-1.json")) == "wpa3-sae-ccmp"
    assert policy_of(Path("/data/wpa2/1.json.gz")) == "wpa2-psk-ccmp"
    assert policy_of(Path("/data/test-of-wpa2/1.json")) is None


def test_the_readings_are_a_table_by_name(tmp_path: Path, airtoll: Any) -> None:
    for name, value in (("open-1", 100.0), ("open-2", 102.0), ("wpa3-1", 97.0)):
        result(tmp_path / f"{name}.json", value, 0 if name == "open-2" else 1)
    (tmp_path / "wpa3-2.json").write_text('{"start": {')
    called(*sorted(tmp_path.glob("*.json")), "--out", tmp_path / "o")
    assert f"airtoll show {tmp_path / 'o'} readings" in airtoll("show", str(tmp_path / "o")).stdout
    done = airtoll("show", str(tmp_path / "o"), "readings", "--csv")
    rows = {row["file"]: row for row in csv.DictReader(io.StringIO(done.stdout))}
    assert list(rows) == [
        "open-1.json",
        "open-2.json",
        "wpa3-1.json",
        f"{tmp_path.name}/wpa3-2.json",
    ]
    first, second, third, lost = rows.values()
    assert (first["policy"], first["direction"], first["used"]) == ("Open", "to the client", "yes")
    assert (float(first["throughput_value"]), first["throughput_unit"]) == (1e8, "bit/s")
    assert second["direction"] == "from the client"
    assert third["policy"] == "WPA3-Personal, CCMP-128"
    assert (lost["used"], lost["throughput_value"]) == ("no", "")
    assert lost["why not"].startswith("ends in the middle")
    chosen = airtoll("show", str(tmp_path / "o"), "readings", "--json", "--where", "policy=open")
    assert [row["throughput"] for row in json.loads(chosen.stdout)] == ["100.0 Mb/s", "102.0 Mb/s"]
    latex = airtoll(
        "show", str(tmp_path / "o"), "readings", "--latex", "--where", "used=yes"
    ).stdout
    assert r"\label{tab:o-readings}" in latex
    assert latex.count(".json & ") == 3
    wrong = airtoll("show", str(tmp_path / "o"), "costs")
    assert wrong.returncode == 2
    assert "there is readings" in wrong.stderr
