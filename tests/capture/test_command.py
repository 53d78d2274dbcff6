"""The command: formats on stdout, exit codes, keys, damage, standard input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import subprocess
import sys
from pathlib import Path

import polars as pl
import pytest

from airtoll.capture import capture_report, observations, page
from airtoll.errors import CaptureError
from airtoll.observe.schema import METRICS, OBSERVATIONS

FOLDER = Path(__file__).parent / "corpus" / "linux" / "wpa2-psk-ccmp"
AIR = FOLDER / "air.pcap"
LOG = FOLDER / "keys.json"
PROMISED = (
    "frames",
    "protected",
    "protected_mgmt",
    "decrypted",
    "undecrypted",
    "eapol_frames",
    "eap_frames",
    "damage",
    "sessions",
    "ledger",
)


def _airtoll(*arguments: str | Path, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-m", "airtoll.cli", "capture", "report", *map(str, arguments)]
    return subprocess.run(command, input=stdin, capture_output=True, check=False)


def test_json_has_what_is_promised() -> None:
    done = _airtoll(AIR, "--keys", LOG, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert set(PROMISED) <= set(data)
    assert data["decrypted"] == data["protected"] > 0


def test_packed_and_piped_captures_are_the_same() -> None:
    plain = json.loads(_airtoll(AIR, "--keys", LOG, "--json").stdout)
    packed = gzip.compress(AIR.read_bytes())
    piped = json.loads(_airtoll("-", "--keys", LOG, "--json", stdin=packed).stdout)
    assert {**piped, "files": None} == {**plain, "files": None}


def test_damage_is_told_and_is_no_failure(tmp_path: Path) -> None:
    broken = tmp_path / "broken.pcap"
    broken.write_bytes(AIR.read_bytes()[:-7])
    done = _airtoll(broken, "--json")
    assert done.returncode == 0
    data = json.loads(done.stdout)
    assert data["damage"]["what"] == "ends inside a packet"
    assert data["damage"]["after_frames"] == data["frames"]
    assert b"broken at octet" in done.stderr


@pytest.mark.parametrize("octets", [b"", b"no capture at all, only text in a file", b"\x00" * 64])
def test_no_capture_exits_with_2(tmp_path: Path, octets: bytes) -> None:
    file = tmp_path / "text.pcap"
    file.write_bytes(octets)
    done = _airtoll(file, "--json")
    assert done.returncode == 2
    assert done.stdout == b""
    assert str(file) in done.stderr.decode()


def test_a_wrong_key_exits_with_2_and_is_not_shown() -> None:
    done = _airtoll(AIR, "--key", "wep:c0ffee", "--json")
    assert done.returncode == 2
    assert b"c0ffee" not in done.stderr
    with pytest.raises(CaptureError, match="key 1"):
        capture_report([AIR], ["wpa-pwd:bad%zzescape:x"])


def test_csv_has_one_line_a_session() -> None:
    done = _airtoll(AIR, "--keys", LOG, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout.decode())))
    assert len(rows) == len(capture_report([AIR]).sessions)
    assert rows[0]["cipher"] == "ccmp-128"
    assert float(rows[0]["key_handshake_time_s"]) > 0


def test_summary_and_parquet(tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    done = _airtoll(AIR, "--keys", LOG, "--parquet", rows)
    assert done.returncode == 0
    assert b"ccmp-128" in done.stdout
    frame = pl.read_parquet(rows)
    assert dict(frame.schema) == OBSERVATIONS
    assert frame.equals(observations(capture_report([AIR], key_logs=[LOG])))
    assert set(frame["metric"]) <= set(METRICS)
    assert frame["value"].is_not_null().all()


def test_page_escapes_what_the_air_says() -> None:
    report = capture_report([AIR], key_logs=[LOG])
    report.sessions[0]["ssid"] = "<script>alert(1)</script>"
    text = page(report)
    assert "<script" not in text
    assert 'class="waterfall"' in text
    assert 'id="airtime"' in text
