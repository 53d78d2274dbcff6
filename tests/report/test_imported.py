"""The page of imported readings."""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.report import write_report
from airtoll.report.imported import read_imported

TABLE = "policy,traffic,trial,metric,value,unit\n" + "\n".join(
    f"{policy},tcp,{trial},throughput,{value + (trial % 3) * 0.01},Mbit/s"
    for policy, value in (("open", 25.4), ("wpa2-psk-ccmp", 24.26))
    for trial in range(1, 6)
)


def bring(folder: Path, *more: str) -> None:
    file = folder / "mine.csv"
    file.write_text(TABLE + "\n")
    arguments = ["import", str(file), "--format", "csv", "--scenario", "office"]
    result = CliRunner().invoke(app, [*arguments, "--out", str(folder / "in"), *more])
    assert result.exit_code == 0, result.output


def test_a_page_with_costs_dots_printed_figures_and_audit(tmp_path):
    bring(tmp_path, "--against", "tripathi2008", "--readings", "table=2")
    page = (tmp_path / "in" / "report.html").read_text("utf-8")
    assert "office/wpa2-psk-ccmp/tcp" in page
    assert "falls" in page
    assert page.count('class="mark"') == 10 + 2, "ten readings and two means"
    assert "printed figures of tripathi2008" in page
    assert "4.69 %" in page, "the printed overhead"
    assert "mine.csv" in page
    assert (tmp_path / "in" / "figures" / "throughput.svg").exists()
    assert "http" not in page.replace("http://www.w3.org", "")


def test_the_page_is_written_again_without_the_files(tmp_path):
    bring(tmp_path)
    first = (tmp_path / "in" / "report.html").read_bytes()
    (tmp_path / "mine.csv").unlink()
    again = write_report([tmp_path / "in"])
    assert again.read_bytes() == first
    overhead = read_imported(tmp_path / "in").analysis.overhead("office/wpa2-psk-ccmp/tcp")
    assert abs(overhead.value - (25.4 - 24.26) / 25.41) < 1e-3


@pytest.mark.parametrize("form", ["markdown", "csv", "latex", "json"])
def test_every_text_format_has_the_numbers_of_the_page(tmp_path, form):
    bring(tmp_path, "--against", "tripathi2008", "--readings", "table=2")
    result = CliRunner().invoke(app, ["report", str(tmp_path / "in"), "--format", form])
    assert result.exit_code == 0, result.output
    suffix = {"markdown": "md", "latex": "tex"}.get(form, form)
    text = (tmp_path / "in" / f"report.{suffix}").read_text("utf-8")
    if form == "json":
        value = json.loads(text)
        (overhead,) = value["overheads"]
        # Tripathi and Damani divide by the secured throughput.
        assert abs(overhead["value"] - (25.4 - 24.26) / 24.27) < 1e-4
        assert [row["n"] for row in value["estimates"]] == [5, 5]
        assert value["published"][0]["table"] == "2"
        # A change is a share of what was, whatever the definition of the overhead.
        assert "throughput falls by 4.486" in value["headline"][1]
    elif form == "csv":
        rows = list(csv.DictReader(io.StringIO(text)))
        assert [row["cell"] for row in rows] == ["office/open/tcp", "office/wpa2-psk-ccmp/tcp"]
        assert abs(float(rows[0]["value"]) - 25.41e6) < 1e4
    elif form == "latex":
        (row,) = [line for line in text.splitlines() if line.startswith("office/")]
        assert row.startswith("office/wpa2-psk-ccmp/tcp & 4.70")
        assert row.endswith("& 5 + 5 \\\\")
        assert "falls" in row
    else:
        assert text.startswith("# Imported readings: in\n")
        assert "| office/wpa2-psk-ccmp/tcp | 4.70" in text


def test_readings_without_a_secured_policy_are_listed(tmp_path):
    file = tmp_path / "mine.csv"
    file.write_text("\n".join(line for line in TABLE.splitlines() if "wpa2" not in line) + "\n")
    done = CliRunner().invoke(
        app, ["import", str(file), "--format", "csv", "--out", str(tmp_path / "in")]
    )
    assert done.exit_code == 0, done.output
    text = write_report([tmp_path / "in"], form="markdown").read_text("utf-8")
    assert "no secured policy to compare with open" in text
    assert "| imported/open/tcp | throughput | 25.41" in text


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        (
            ("wpa2-psk-ccmp,tcp", "wpa3-sae-ccmp,tcp"),
            "The baseline, open, has no reading, so no policy has a cost; there are wpa2-psk-ccmp, "
            "wpa3-sae-ccmp (import with --baseline wpa2-psk-ccmp, or add readings of open).",
        ),
        (
            ("open,tcp", "wpa2-psk-ccmp,udp"),
            "No reading of wpa2-psk-ccmp has one of open beside it, of the same metric, scenario",
        ),
    ],
)
def test_readings_that_the_baseline_lacks_are_told(tmp_path, rows, words):
    file = tmp_path / "mine.csv"
    lines = [f"{row},{trial},throughput,{20 + trial},Mbit/s" for row in rows for trial in (1, 2)]
    file.write_text("\n".join([TABLE.splitlines()[0], *lines]) + "\n")
    call = ["import", str(file), "--format", "csv", "--out", str(tmp_path / "in")]
    done = CliRunner().invoke(app, call)
    assert done.exit_code == 0, done.output
    assert words in " ".join(done.output.split())
    # The option that it names gives the cost.
    if "--baseline" in words:
        done = CliRunner().invoke(app, [*call, "--baseline", "wpa2-psk-ccmp"])
        assert "From WPA2-Personal to WPA3-Personal" in done.output


def test_a_page_of_many_cells_and_trials_is_cut_and_says_so(tmp_path):
    file = tmp_path / "many.csv"
    rows = [f"s{cell},open,1,delay,{cell},ms" for cell in range(1001)]
    rows += [f"busy,open,{trial},throughput,{trial % 7 + 1},Mbps" for trial in range(1, 402)]
    file.write_text("scenario,policy,trial,metric,value,unit\n" + "\n".join(rows) + "\n")
    done = CliRunner().invoke(
        app, ["import", str(file), "--format", "csv", "--out", str(tmp_path / "o")]
    )
    assert done.exit_code == 0, done.output
    assert "The first 60 of 1002 rows; airtoll report --format csv has all" in done.stdout
    page = (tmp_path / "o" / "report.html").read_text()
    assert "The first 1000 rows of each table" in page
    assert "at most 200 of a cell" in page
    assert 100 < page.count("busy/open/none: ") < 210
