"""The page of imported readings."""

from __future__ import annotations

from pathlib import Path

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
    assert "slower" in page
    assert page.count('class="mark"') == 10 + 2, "ten readings and two means"
    assert "printed figures of tripathi2008" in page
    assert "4.69 %" in page, "the printed overhead"
    assert "mine.csv" in page
    assert (tmp_path / "in" / "figures" / "throughput.pdf").exists()
    assert "http" not in page.replace("http://www.w3.org", "")


def test_the_page_is_written_again_without_the_files(tmp_path):
    bring(tmp_path)
    first = (tmp_path / "in" / "report.html").read_bytes()
    (tmp_path / "mine.csv").unlink()
    again = write_report([tmp_path / "in"])
    assert again.read_bytes() == first
    overhead = read_imported(tmp_path / "in").analysis.overhead("office/wpa2-psk-ccmp/tcp")
    assert abs(overhead.value - (25.4 - 24.26) / 25.41) < 1e-3
