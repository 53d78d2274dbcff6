"""Captures with one trap each, with the values that tshark and a count by hand give."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from airtoll.border.answers import Report, SessionReport
from airtoll.capture import capture_report, page
from airtoll.errors import CaptureError

CASES = Path(__file__).parent / "cases"
STATION, AP = "02:00:00:00:00:02", "02:00:00:00:00:01"
MS = 1e-3


def _report(name: str) -> Report:
    return capture_report([CASES / name]).data


def _sessions(name: str) -> list[SessionReport]:
    return _report(name)["sessions"]


def test_eapol_of_group_addresses_is_read_and_is_nobodys(airtoll: Any) -> None:
    for form in ((), ("--json",), ("--html",)):
        done = airtoll("capture", "report", CASES / "eapol-between-group-addresses.pcap", *form)
        assert done.returncode == 0, done.stderr
    watched = airtoll("capture", "watch", CASES / "eapol-between-group-addresses.pcap")
    assert watched.returncode == 0, watched.stderr
    report = _report("eapol-between-group-addresses.pcap")
    assert (report["eapol_frames"], report["eap_frames"], report["sessions"]) == (2, 2, [])


def test_a_station_that_counts_from_zero_again_begins_a_second_join() -> None:
    first, second = _sessions("second-join-counts-from-zero.pcap")
    assert (first["frame"], second["frame"]) == (1, 8)
    assert first["join_time_s"] == pytest.approx(0.131716, abs=1e-6)
    assert second["join_time_s"] == pytest.approx(0.141613, abs=1e-6)
    assert second["association_time_s"] == pytest.approx(0.014244, abs=1e-6)
    assert second["retransmissions"] == 0


def test_management_and_data_frames_with_equal_numbers_are_no_retransmissions() -> None:
    (session,) = _sessions("management-and-data-counters.pcap")
    assert session["outcome"] == "connected"
    assert session["four_way_time_s"] == pytest.approx(0.010344, abs=1e-6)
    assert session["key_handshake_time_s"] == session["four_way_time_s"]
    assert session["join_time_s"] == pytest.approx(0.024962, abs=1e-6)
    assert (session["messages"]["4-way"], session["retransmissions"]) == (4, 0)


def test_a_message_4_with_a_later_counter_is_of_a_rekey() -> None:
    (session,) = _sessions("rekey-message-4-in-clear.pcapng")
    assert session["key_handshake_time_s"] == pytest.approx(14.77 * MS, abs=0.01 * MS)
    assert session["four_way_time_s"] == pytest.approx(14.77 * MS, abs=0.01 * MS)
    (rekey,) = session["rekeys"]
    assert (rekey["protocol"], rekey["frame"], rekey["complete"]) == ("4-way", 18, True)
    # Copies of messages 1 and 3, 0.4 ms apart, are copies.
    assert (session["messages"]["4-way"], session["retransmissions"]) == (5, 2)
    assert session["waits_s"]["station"] < 0.02


def test_key_times_span_one_attempt_and_a_later_message_2_is_of_another() -> None:
    first, between, last = _sessions("message-2-after-the-join.pcap")
    assert (first["outcome"], first["rekeys"]) == ("connected", [])
    for name in ("key_handshake_time_s", "four_way_time_s", "negotiation_time_s"):
        assert first[name] == pytest.approx(4.6 * MS, abs=0.01 * MS), name
    assert (between["frame"], between["last_frame"], between["outcome"]) == (7, 7, "incomplete")
    assert (last["frame"], last["last_frame"], last["outcome"]) == (8, 9, "connected")
    assert last["key_handshake_time_s"] is None


def test_counters_that_begin_again_are_joins() -> None:
    sessions = _sessions("joins-with-counters-1-and-2.pcap")
    assert [session["frame"] for session in sessions] == [2, 3, 5, 6, 7, 8, 10]
    assert {session["outcome"] for session in sessions} == {"connected"}
    assert all(session["rekeys"] == [] for session in sessions)


def test_microseconds_below_zero_are_signed() -> None:
    report = _report("negative-microseconds.pcap")
    assert report["duration_s"] == pytest.approx(0.089213, abs=1e-6)


def test_a_hand_over_is_between_two_access_points() -> None:
    report = _report("test-frame-to-itself.pcapng")
    assert report["roams"] == []
    (session,) = report["sessions"]
    assert (session["station"], session["bssid"]) == (STATION, AP)


def test_deauthentications_for_all_stations_are_counted_and_end_the_sessions(airtoll: Any) -> None:
    report = _report("broadcast-deauthentication.pcap")
    (leave,) = report["leaves"]
    assert (leave["bssid"], leave["by"], leave["to_all"]) == (AP, "ap", True)
    assert (leave["kind"], leave["reason_code"], leave["frames"]) == ("deauthentication", 7, 6)
    first, second = report["sessions"]
    end = first["end"]
    assert end is not None
    assert (end["by"], end["to_all"], end["frame"], end["reason_code"]) == ("ap", True, 8, 7)
    assert (first["outcome"], second["end"]) == ("connected", None)
    words = "class 3 frame from a station that is not associated"
    text = airtoll("capture", "report", CASES / "broadcast-deauthentication.pcap").stdout
    line = next(line for line in text.splitlines() if line.startswith("6 "))
    assert words in line
    assert "all stations" in line
    assert words in page(capture_report([CASES / "broadcast-deauthentication.pcap"]))


def test_the_time_of_a_question_asked_twice_is_that_of_the_one_who_has_to_answer() -> None:
    (session,) = _sessions("repeated-identity-request.pcapng")
    waits = session["waits_s"]
    assert waits["station"] == pytest.approx(12.918, abs=0.005)
    assert waits["ap"] < 0.02
    assert waits["server"] == pytest.approx(3.581, abs=0.005)


def test_a_wrapped_packet_is_read_and_its_wrapper_named(airtoll: Any) -> None:
    report = _report("pktap.pcap")
    (seen,) = report["link_types"]
    assert (seen["link_type"], seen["name"], seen["not_read"]) == (258, "PKTAP", 0)
    assert report["kinds"]["wired"] == 1
    assert report["wrapped"] == {"PKTAP": 1}
    assert "PKTAP" in airtoll("capture", "report", CASES / "pktap.pcap").stdout


def _with_link_type(octets: bytes, link_type: int) -> bytes:
    return octets[:20] + link_type.to_bytes(4, "little") + octets[24:]


@pytest.mark.parametrize("link_type", [6, 9, 143, 147, 189, 201, 220, 227, 230, 251, 266, 299])
def test_a_capture_of_which_nothing_is_read_is_refused_with_its_link_type(
    tmp_path: Path, link_type: int
) -> None:
    path = tmp_path / "other.pcap"
    path.write_bytes(_with_link_type((CASES / "pktap.pcap").read_bytes(), link_type))
    with pytest.raises(CaptureError, match=f"link type {link_type}"):
        capture_report([path])
    # Beside a capture that is read, it is named.
    report = capture_report([CASES / "esp-behind-ah.pcap", path]).data
    seen = {one["link_type"]: one for one in report["link_types"]}
    assert (seen[link_type]["not_read"], seen[1]["not_read"]) == (1, 0)


def test_the_command_says_which_link_type_is_not_read(airtoll: Any, tmp_path: Path) -> None:
    path = tmp_path / "usb.pcap"
    path.write_bytes(_with_link_type((CASES / "pktap.pcap").read_bytes(), 220))
    for command in ("report", "watch"):
        done = airtoll("capture", command, path)
        assert (done.returncode, done.stdout) == (2, ""), done
        assert "link type 220 (USB of Linux)" in done.stderr
    both = airtoll("capture", "report", CASES / "esp-behind-ah.pcap", path)
    assert both.returncode == 0
    assert "link type 220 (USB of Linux) is not read: 1 frames" in both.stdout


TSHARK = {
    "openvpn-on-tcp.pcap": ("openvpn", "openvpn"),
    "wireguard-on-other-ports.pcap": ("wireguard", "wg"),
    "esp-behind-ah.pcap": ("esp", "esp"),
    "mobile-ipv6.pcap": ("mobile_ip", "mipv6"),
}
FRAMES = {
    "openvpn-on-tcp.pcap": 3,
    "wireguard-on-other-ports.pcap": 7,
    "esp-behind-ah.pcap": 2,
    "mobile-ipv6.pcap": 1,
}


@pytest.mark.parametrize("name", TSHARK)
def test_tunnels_are_known_by_their_messages(name: str) -> None:
    ours, theirs = TSHARK[name]
    kinds = _report(name)["kinds"]
    assert kinds[ours] == FRAMES[name]  # type: ignore[literal-required]
    if shutil.which("tshark"):
        command = ["tshark", "-r", str(CASES / name), "-Y", theirs]
        seen = subprocess.run(command, capture_output=True, text=True, check=True)
        assert len(seen.stdout.splitlines()) == FRAMES[name]


def test_every_row_of_wiresharks_own_table_is_a_key(airtoll: Any, tmp_path: Path) -> None:
    table = CASES / "ikev2_decryption_table.txt"
    capture = CASES / "esp-behind-ah.pcap"
    report = capture_report([capture], key_logs=[table]).data
    assert report["skipped_keys"] == []
    # A row with an algorithm of a later version is named, and the others are used.
    later = tmp_path / "ikev2_decryption_table"
    row = '1234567890123456,0987654321098765,00,00,"KUZNYECHIK [RFC9385]",,,"NONE [RFC4306]"\n'
    later.write_text(table.read_text("utf-8") + row, "utf-8")
    done = airtoll("capture", "report", capture, "--keys", later)
    assert done.returncode == 0, done.stderr
    assert "line 11" in done.stderr
    assert "KUZNYECHIK" in done.stderr
    (skipped,) = capture_report([capture], key_logs=[later]).data["skipped_keys"]
    assert (skipped["file"], skipped["line"]) == (str(later), 11)


def test_ikev2_opens_under_every_algorithm_of_the_table(tmp_path: Path) -> None:
    capture, table = CASES / "ikev2-algorithms.pcap", CASES / "ikev2_algorithms_table.txt"
    tunnels = capture_report([capture], key_logs=[table]).data["tunnels"]
    # One row names an authenticator that is not checked.
    assert tunnels["ikev2"] == {"verified": 11, "failed": 0, "no_key": 0, "unchecked": 1}
    assert tunnels["ikev2_payloads"] == {"N": 12}
    if shutil.which("tshark"):
        # tshark 4.0 has no ChaCha20-Poly1305 of IKEv2, which is the last row.
        lines = table.read_text("utf-8").splitlines(keepends=True)
        (tmp_path / "ikev2_decryption_table").write_text("".join(lines[:-1]), "utf-8")
        command = ["tshark", "-r", str(capture), "-Y", "isakmp.notify.msgtype == 16384"]
        environment = {**os.environ, "WIRESHARK_CONFIG_DIR": str(tmp_path)}
        seen = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
        assert len(seen.stdout.splitlines()) == 11


def test_a_status_code_of_the_table_is_in_words() -> None:
    (session,) = _sessions("status-code-103.pcap")
    assert session["reason"] is not None
    assert session["reason"].endswith("spectrum management information not acceptable (103)")
