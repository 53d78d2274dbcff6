"""Output without a reader, that the disk refuses, or that the terminal's encoding cannot hold."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import UsageError

AIRTOLL = (sys.executable, "-m", "airtoll.cli")
CAPTURE = Path(__file__).parent.parent / "capture/corpus/linux/wpa2-eap-tls-ccmp/air.pcap"
COMMANDS_WITH_OUTPUT = [
    ("policies", "list", "--json"),
    pytest.param(("report", "--help"), marks=pytest.mark.thorough, id="report --help"),
    ("capture", "report", str(CAPTURE), "--json"),
]


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("streams")
    done = subprocess.run(
        [*AIRTOLL, "run", "quickstart", "--trials", "2", "--out", "run", "--no-report"],
        cwd=folder,
        check=False,
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    )
    assert done.returncode == 0, done.stderr
    assert b"+/-" in done.stdout
    return folder / "run"


@pytest.mark.thorough
@pytest.mark.parametrize("arguments", COMMANDS_WITH_OUTPUT, ids=" ".join)
def test_a_full_disk_behind_stdout_is_one_line(arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            [*AIRTOLL, *arguments], stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert done.returncode == 3
    assert done.stderr == (
        "airtoll: standard output: No space left on device; the output is not whole\n"
    )


def test_a_closed_stdout_is_one_line() -> None:
    done = subprocess.run(
        ["sh", "-c", 'exec "$@" >&-', "sh", *AIRTOLL, "policies", "list"],
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )
    assert done.returncode == 3
    assert done.stderr.startswith("airtoll: standard output: Bad file descriptor;")


@pytest.mark.parametrize("arguments", COMMANDS_WITH_OUTPUT, ids=" ".join)
def test_a_reader_that_stops_reading_is_no_error(arguments: tuple[str, ...]) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            [*AIRTOLL, *arguments], stdout=theirs, stderr=subprocess.PIPE, check=False
        )
    finally:
        os.close(theirs)
    assert (done.returncode, done.stderr) == (0, b"")


@pytest.mark.thorough
def test_a_reader_that_stops_reading_hides_no_failure(tmp_path: Path) -> None:
    ours, theirs = os.pipe()
    os.close(ours)
    try:
        done = subprocess.run(
            [*AIRTOLL, "check", "agarwal2005", "--on", "analytic"],
            cwd=tmp_path,
            stdout=theirs,
            stderr=subprocess.PIPE,
            check=False,
        )
    finally:
        os.close(theirs)
    assert done.returncode == 3
    assert b"all 648 cells are skipped" in done.stderr


def test_a_watch_whose_reader_is_gone_ends() -> None:
    """The capture goes on: the command ends at the first join without a reader."""
    ours, theirs = os.pipe()
    os.close(ours)
    started = subprocess.Popen(
        [*AIRTOLL, "capture", "watch", "-"], stdin=subprocess.PIPE, stdout=theirs
    )
    os.close(theirs)
    assert started.stdin is not None
    started.stdin.write(CAPTURE.read_bytes())
    started.stdin.flush()
    # Standard input stays open.
    assert started.wait(60) == 0
    started.stdin.close()


def test_json_is_valid_in_every_encoding(run: Path) -> None:
    done = subprocess.run(
        [*AIRTOLL, "report", str(run), "--json", "--no-what-if"],
        capture_output=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
        check=True,
    )
    value = json.loads(done.stdout.decode("ascii"))
    assert any("±" in sentence for sentence in value["headline"])


def test_an_empty_path_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A variable that is not set: `--out "$OUT"` must not write here."""
    seen = [
        ("run", "quickstart", "--out", ""),
        ("run", "quickstart", "--out="),
        ("check", "quickstart", "--on", "linux", "--lab", ""),
        ("report", ""),
        ("report", "run", "--out", ""),
        ("playground", "--out", ""),
        ("watch", "quickstart", "--every", "1s", "--for", "1s", "--out", ""),
        ("import", "x.csv", "--format", "csv", "--out", ""),
        ("import", "", "--format", "csv"),
        ("advise", "--run", ""),
        ("plan", "quickstart", "--detect", "1%", "--pilot", ""),
        ("calibrate", "tripathi2008", "--fit", "x", "--parameter", "x", "--see", "x", "--out", ""),
        ("capture", "report", str(CAPTURE), "--keys", ""),
        ("capture", "report", str(CAPTURE), "--parquet", ""),
        ("ciphers", "profile", "here", "--dir", ""),
        ("compare", "", "tripathi2008"),
    ]
    monkeypatch.chdir(tmp_path)
    for arguments in seen:
        result = CliRunner().invoke(app, list(arguments))
        assert isinstance(result.exception, UsageError), (arguments, result.output)
        assert "'': is empty" in str(result.exception), arguments
    assert list(tmp_path.iterdir()) == []


@pytest.mark.thorough
def test_a_dash_is_standard_output_or_refused(run: Path, tmp_path: Path) -> None:
    for form in ("csv", "markdown", "html"):
        options = ["report", str(run), "--format", form, "--no-what-if"]
        said = CliRunner().invoke(app, [*options, "--out", "-"]).stdout
        file = tmp_path / f"report.{form}"
        assert CliRunner().invoke(app, [*options, "--out", str(file)]).exit_code == 0
        assert said == file.read_text("utf-8")
    refused = CliRunner().invoke(app, ["run", "quickstart", "--out", "-"])
    assert isinstance(refused.exception, UsageError)
    assert "--out -: is no name here" in str(refused.exception)
