"""The R of the guide, run by R; Parquet only where R has a reader."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from airtoll.report import write_report
from airtoll.run import run

GUIDE = Path(__file__).resolve().parents[2] / "docs" / "guides" / "r.md"
BLOCKS = re.findall(r"```r\n(.*?)```", GUIDE.read_text(), re.S)


def r(code: str, folder: Path) -> str:
    program = shutil.which("Rscript")
    if program is None:
        pytest.skip("R is not installed: apt-get install r-base-core")
    done = subprocess.run(
        [program, "--vanilla", "-e", code], cwd=folder, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


@pytest.fixture
def finished(small_study, fake, tmp_path):
    return run(small_study(), testbed=fake(), out=tmp_path / "runs" / "quickstart", jobs=1)


def test_base_r_reads_the_estimates(finished, tmp_path):
    write_report([finished.path], form="csv", out=tmp_path / "report.csv")
    lines = r(BLOCKS[1], tmp_path).splitlines()
    assert lines[0].split() == ["policy", "traffic", "value", "low", "high", "overhead"]
    by_place = {tuple(line.split()[:2]): float(line.split()[-1]) for line in lines[1:]}
    assert by_place["open", "udp"] == 0.0
    # The fake takes 0.1 Mb/s of 25 for each of CCMP's 16 octets.
    assert by_place["wpa2-psk-ccmp", "udp"] == pytest.approx(0.064, abs=0.002)


def test_a_parquet_reader_of_r_reads_the_observations(finished, tmp_path):
    if "TRUE" not in r('cat(requireNamespace("nanoparquet", quietly = TRUE))', tmp_path):
        pytest.skip("R has no nanoparquet: install.packages('nanoparquet')")
    assert "wpa2-psk-ccmp" in r(BLOCKS[0], tmp_path)
