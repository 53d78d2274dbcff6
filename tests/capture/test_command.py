"""The command: formats on stdout, exit codes, keys, damage, standard input."""

from __future__ import annotations

import csv
import gzip
import io
import json
import shlex
import struct
import subprocess
import sys
from pathlib import Path
from typing import Any

import polars as pl
import pytest

from airtoll.capture import capture_report, observations, page
from airtoll.errors import CaptureError
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS
from airtoll.testbeds.example import compose

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


def test_json_has_what_is_promised(airtoll: Any) -> None:
    done = airtoll("capture", "report", AIR, "--keys", LOG, "--json")
    assert done.returncode == 0, done.stderr
    data = json.loads(done.stdout)
    assert set(PROMISED) <= set(data)
    assert data["decrypted"] == data["protected"] > 0


def test_packed_and_piped_captures_are_the_same(airtoll: Any) -> None:
    plain = json.loads(airtoll("capture", "report", AIR, "--keys", LOG, "--json").stdout)
    packed = gzip.compress(AIR.read_bytes())
    piped = json.loads(
        airtoll("capture", "report", "-", "--keys", LOG, "--json", stdin=packed).stdout
    )
    assert {**piped, "files": None} == {**plain, "files": None}


def test_damage_is_told_and_is_no_failure(airtoll: Any, tmp_path: Path) -> None:
    broken = tmp_path / "broken.pcap"
    broken.write_bytes(AIR.read_bytes()[:-7])
    done = airtoll("capture", "report", broken, "--json")
    assert done.returncode == 0
    data = json.loads(done.stdout)
    assert data["damage"]["what"] == "ends inside a packet"
    assert data["damage"]["after_frames"] == data["frames"]
    assert "broken at octet" in done.stderr


@pytest.mark.parametrize("octets", [b"", b"no capture at all, only text in a file", b"\x00" * 64])
def test_no_capture_exits_with_2(airtoll: Any, tmp_path: Path, octets: bytes) -> None:
    file = tmp_path / "text.pcap"
    file.write_bytes(octets)
    done = airtoll("capture", "report", file, "--json")
    assert done.returncode == 2
    assert done.stdout == ""
    assert str(file) in done.stderr


def test_a_wrong_key_exits_with_2_and_is_not_shown(airtoll: Any) -> None:
    done = airtoll("capture", "report", AIR, "--key", "wep:c0ffee", "--json")
    assert done.returncode == 2
    assert "c0ffee" not in done.stderr
    with pytest.raises(CaptureError, match="key 1"):
        capture_report([AIR], ["wpa-pwd:bad%zzescape:x"])


def test_csv_has_one_line_a_session(airtoll: Any) -> None:
    done = airtoll("capture", "report", AIR, "--keys", LOG, "--csv")
    rows = list(csv.DictReader(io.StringIO(done.stdout)))
    assert len(rows) == len(capture_report([AIR]).sessions)
    assert rows[0]["cipher"] == "ccmp-128"
    assert float(rows[0]["key_handshake_time_s"]) > 0


@pytest.mark.parametrize("begin", [b"=1+", b"@x ", b"+2-", b"\x9b2J"])
def test_an_ssid_is_no_formula_and_controls_no_terminal(
    airtoll: Any, tmp_path: Path, begin: bytes
) -> None:
    octets = AIR.read_bytes()
    ssid = str(capture_report([AIR]).sessions[0]["ssid"]).encode()
    evil = (begin + b"\x1b[31m\x07" + ssid)[: len(ssid)]
    assert octets.count(ssid) > 0
    path = tmp_path / "evil.pcap"
    path.write_bytes(octets.replace(ssid, evil))
    rows = list(csv.DictReader(io.StringIO(airtoll("capture", "report", path, "--csv").stdout)))
    assert rows[0]["ssid"][0] not in "=@+-"
    assert "1+" in rows[0]["ssid"] or begin != b"=1+"
    for form in ((), ("--csv",), ("--json",), ("--top", "3")):
        done = airtoll("capture", "report", path, *form)
        assert done.returncode == 0, done.stderr
        said = done.stdout + done.stderr
        assert "[31m" in said or form == ("--json",)
        assert all(c.isprintable() or c in "\n\t" for c in said), said


def test_summary_and_parquet(airtoll: Any, tmp_path: Path) -> None:
    rows = tmp_path / "rows.parquet"
    done = airtoll("capture", "report", AIR, "--keys", LOG, "--parquet", rows)
    assert done.returncode == 0
    assert "ccmp-128" in done.stdout
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


def _rows(text: str, title: str) -> list[str]:
    """Header and rows of the table under a title."""
    return text.split(f"{title}\n", 1)[1].split("\n\n", 1)[0].splitlines()


def test_text_has_the_cost_of_security(airtoll: Any) -> None:
    text = airtoll("capture", "report", AIR, "--keys", LOG).stdout
    ledger = capture_report([AIR], key_logs=[LOG]).ledger
    share = 100 * ledger["security_share"]
    assert f"cost of security in this capture: {share:.2f} % of the airtime" in text
    assert _rows(text, "Where the air went")[0].split().count("share") == 2


def _without_radio(capture: bytes) -> bytes:
    """The same frames as bare 802.11 (link type 105): no header names a rate."""
    order = "<" if capture[:4] in (b"\xd4\xc3\xb2\xa1", b"\x4d\x3c\xb2\xa1") else ">"
    out, at = capture[:20] + struct.pack(f"{order}I", 105), 24
    while at < len(capture):
        seconds, part, kept, whole = struct.unpack_from(f"{order}4I", capture, at)
        header = struct.unpack_from("<H", capture, at + 18)[0]
        frame = capture[at + 16 + header : at + 16 + kept]
        out += struct.pack(f"{order}4I", seconds, part, len(frame), whole - header) + frame
        at += 16 + kept
    return out


def test_without_rates_the_text_has_the_share_of_octets_and_no_empty_column(
    airtoll: Any,
    tmp_path: Path,
) -> None:
    bare = tmp_path / "bare.pcap"
    bare.write_bytes(_without_radio(AIR.read_bytes()))
    text = airtoll("capture", "report", bare, "--keys", LOG).stdout
    octets = capture_report([bare], key_logs=[LOG]).ledger["total"]["octets"]
    share = 100 * (octets["security"] + octets["key_exchange"]) / sum(octets.values())
    assert f"cost of security in this capture: {share:.2f} % of the octets" in text
    head, *rows = _rows(text, "Octets by kind (no frame names a rate)")
    assert head.split() == ["kind", "octets", "share"]
    shares = [row for row in rows if row.endswith(" %")]
    assert len(shares) == len(octets)


def test_watch_prints_each_join_of_a_pipe_before_the_pipe_ends() -> None:
    command = [sys.executable, "-m", "airtoll.cli", "capture", "watch", "-", "--keys", str(LOG)]
    with subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(AIR.read_bytes())
        process.stdin.flush()
        # The pipe is still open: the line does not wait for the end of the capture.
        first = process.stdout.readline().decode()
        process.stdin.close()
        rest = process.stdout.read().decode()
        assert process.wait() == 0
    session = capture_report([AIR], key_logs=[LOG]).sessions[0]
    assert session["station"] in first
    assert "connected" in first
    assert f"join {1000 * session['join_time_s']:.1f} ms" in first
    assert session["station"] not in rest


def test_commands_of_the_guide_run(airtoll: Any, tmp_path: Path) -> None:
    guide = Path(__file__).parents[2] / "docs" / "guides" / "captures.md"
    lines = [line.strip() for line in guide.read_text("utf-8").splitlines() if line[:4] == "    "]
    # Those on a run of their own belong to the outputs of guides, which tests/docs compares.
    commands = [line for line in lines if "airtoll capture" in line and "runs/" not in line]
    assert len(commands) > 5
    eap = FOLDER.parent / "wpa2-eap-tls-ccmp"
    copies = {
        "air.pcapng": AIR,
        "wire.pcapng": eap / "wire.pcap",
        "keys.json": LOG,
        "open.pcapng": FOLDER.parent / "open" / "air.pcap",
        "secured.pcapng": AIR,
    }
    for name, source in copies.items():
        (tmp_path / name).write_bytes(source.read_bytes())
    (tmp_path / "keys.txt").write_text("wpa-pwd:correct horse battery staple:airtoll\n", "utf-8")
    for command in commands:
        piped, _, ours = command.rpartition("| ")
        words = shlex.split(ours)[1:]
        if ">" in words:
            words = words[: words.index(">")]
        stdin = (tmp_path / piped.split()[1]).read_bytes() if piped else b""
        done = airtoll(*words, stdin=stdin, cwd=tmp_path)
        assert done.returncode == 0, (command, done.stderr)
        assert done.stdout, command


@pytest.fixture(scope="module")
def joins(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Captures of a join to one AP at one time, open and WPA3."""
    folder = tmp_path_factory.mktemp("joins")
    for policy in ("open", "wpa3-sae-ccmp"):
        compose(policy, folder / policy)
    return folder


def test_a_join_has_a_line_with_its_messages_and_times(airtoll: Any, joins: Path) -> None:
    path = joins / "wpa3-sae-ccmp" / "air.pcapng"
    text = airtoll("capture", "report", path).stdout
    assert "10 messages (SAE 4, association 2, 4-way 4), 2.88 ms (SAE 0.73 ms, assoc" in text
    assert "% of the airtime of 0.1 s with a join" in text
    (row,) = csv.DictReader(io.StringIO(airtoll("capture", "report", path, "--csv").stdout))
    assert row["messages"] == "10"
    assert "sae 4" in row["messages_by_kind"]


@pytest.mark.parametrize("form", [(), ("--json",), ("--csv",)])
def test_captures_of_one_time_with_two_securities_of_one_ap_are_refused(
    airtoll: Any, joins: Path, form: tuple[str, ...]
) -> None:
    files = [joins / policy / "air.pcapng" for policy in ("open", "wpa3-sae-ccmp")]
    done = airtoll("capture", "report", *files, *form)
    assert done.returncode == 2
    assert "overlap in time, and 02:00:00:00:00:02 has open in one and sae" in done.stderr
    beside = airtoll("capture", "report", files[1], files[1].with_name("wire.pcapng"), *form)
    assert beside.returncode == 0, beside.stderr


def test_two_captures_are_compared_in_a_sentence(airtoll: Any, joins: Path) -> None:
    plain, secured = (joins / policy / "air.pcapng" for policy in ("open", "wpa3-sae-ccmp"))
    keys = ("--keys", secured.with_name("keys.json"))
    done = airtoll("capture", "compare", plain, secured, *keys)
    first, second, *_ = done.stdout.splitlines()
    assert first == (
        "From an open network to sae/ccmp-128, the rate of the payload falls by 3.14 %, from "
        "1.306 Mb/s to 1.265 Mb/s. Two captures have no interval: how much captures vary is not "
        "known."
    )
    assert second == (
        "Most of it is management, 1.72 of 3.14 points: authentication, key handshakes and other "
        "management. Messages of joins count there: they come once a join, not with each frame."
    )
    data = json.loads(airtoll("capture", "compare", plain, secured, *keys, "--json").stdout)
    assert data["answer"] == [first, second]
    folders = airtoll("capture", "compare", plain.parent, secured.parent)
    assert folders.stdout == done.stdout
    back = airtoll("capture", "compare", secured, plain, *keys).stdout.splitlines()[0]
    assert back.startswith("From sae/ccmp-128 to an open network, the rate of the payload rises by")


def test_a_capture_is_not_compared_with_itself(airtoll: Any, joins: Path) -> None:
    path = joins / "open" / "air.pcapng"
    done = airtoll("capture", "compare", path, path)
    assert done.returncode == 2
    assert "is named twice: name two captures" in done.stderr
