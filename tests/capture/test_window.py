"""A window of a capture that holds no time is refused: 0 frames would be no answer."""

from __future__ import annotations

from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtoll.capture import Window
from airtoll.cli.app import app
from airtoll.errors import UsageError

CAPTURE = Path(__file__).parent / "corpus/linux/wpa2-eap-tls-ccmp/air.pcap"


@pytest.mark.parametrize("form", [[], ["--json"], ["--csv"]])
@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--since", "9", "--until", "1"], "--until 1 is not after --since 9: the window holds no"),
        (["--since", "5", "--until", "5"], "--until 5 is not after --since 5"),
        (["--until", "0"], "--until 0: the window holds no time"),
        (["--since", "nan"], "--since nan: allowed are seconds from 0 on"),
        (["--until", "inf"], "--until inf: allowed"),
        (["--since=-1"], "--since -1: allowed"),
    ],
)
def test_a_window_without_time_is_refused(options: list[str], words: str, form: list[str]) -> None:
    result = CliRunner().invoke(app, ["capture", "report", str(CAPTURE), *options, *form])
    assert isinstance(result.exception, UsageError)
    assert str(result.exception).startswith(words)


def test_a_file_of_the_user_is_no_place_for_a_table(tmp_path: Path) -> None:
    target = tmp_path / "mine.txt"
    target.write_text("mine")
    arguments = ["capture", "report", str(CAPTURE), "--csv", "--parquet"]
    result = CliRunner().invoke(app, [*arguments, str(target)])
    assert isinstance(result.exception, UsageError)
    assert "no table of observations" in str(result.exception)
    assert target.read_text() == "mine"
    for _ in range(2):
        fine = CliRunner().invoke(app, [*arguments, str(tmp_path / "rows.parquet")])
        assert fine.exit_code == 0
    assert sorted(path.name for path in tmp_path.iterdir()) == ["mine.txt", "rows.parquet"]


def test_a_window_with_time_is_taken() -> None:
    assert Window(1.0, 2.0, relative=True).until_s == 2.0
    result = CliRunner().invoke(app, ["capture", "report", str(CAPTURE), "--until", "1"])
    assert result.exit_code == 0
    assert not result.stdout.startswith("0 frames")
