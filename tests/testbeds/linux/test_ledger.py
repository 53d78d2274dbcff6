"""The parts of the airtime, read from captures of the real stack."""

from __future__ import annotations

import json
import struct
from pathlib import Path

import pytest

from airtoll.capture import capture_report
from airtoll.errors import CaptureError
from airtoll.testbeds.linux import ledger, timeline

CORPUS = Path(__file__).parents[2] / "capture" / "corpus" / "linux"


def taken(
    policy: str, tmp_path: Path, since: float, until: float
) -> tuple[dict[str, float], str | None]:
    air = tmp_path / "air.pcap"
    air.write_bytes((CORPUS / policy / "air.pcap").read_bytes())
    keys = json.loads((CORPUS / policy / "keys.json").read_text())
    rows, missing = ledger.values(air, keys, (since, until))
    assert [path.name for path in tmp_path.iterdir()] == ["air.pcap"]
    return {row.metric: row.value for row in rows}, missing


@pytest.mark.parametrize("policy", ["open", "wep-104", "wpa-psk-tkip", "wpa2-psk-ccmp"])
def test_windows_add_up_to_the_whole(policy: str, tmp_path: Path) -> None:
    _, packets = timeline.read_pcap(CORPUS / policy / "air.pcap")
    times = [packet.at_s for packet in packets]
    data = [p.at_s for p in packets if len(p.data) > 60 and p.data[p.data[2]] & 0x0C == 8]
    middle = data[len(data) * 3 // 4]
    first, _ = taken(policy, tmp_path, 0.0, middle)
    second, _ = taken(policy, tmp_path, middle, times[-1] + 1)
    whole, missing = taken(policy, tmp_path, 0.0, times[-1] + 1)
    assert missing is None
    for part, spent in whole.items():
        assert first[part] + second[part] == pytest.approx(spent, abs=1e-9), part
    assert first["airtime_payload_s"] > 0
    assert second["airtime_payload_s"] > 0
    assert (whole["airtime_security_s"] > 0) == (policy != "open")
    keys = json.loads((CORPUS / policy / "keys.json").read_text())
    report = capture_report([CORPUS / policy / "air.pcap"], list(ledger.key_words(keys)))
    total = report.ledger["total"]["airtime_s"]
    assert whole["airtime_management_s"] == pytest.approx(
        total["management"] + total["key_exchange"]
    )


def test_a_time_without_data_is_not_taken_apart(tmp_path: Path) -> None:
    _, packets = timeline.read_pcap(CORPUS / "wpa2-psk-ccmp" / "air.pcap")
    rows, missing = taken("wpa2-psk-ccmp", tmp_path, 0.0, packets[3].at_s)
    assert rows == {}
    assert "that name no rates" in (missing or "")


def test_other_files_are_refused() -> None:
    with pytest.raises(CaptureError, match="no libpcap file"):
        ledger.beginning(b"x" * 100, 1.0)


def test_a_beginning_ends_before_its_time() -> None:
    head = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 127)
    packets = [struct.pack("<IIII", at, 500_000, 2, 2) + b"ab" for at in (1, 2, 3)]
    octets = head + b"".join(packets)
    assert ledger.beginning(octets, 2.5) == head + packets[0]
    assert ledger.beginning(octets, 2.6) == head + b"".join(packets[:2])
    assert ledger.beginning(octets[:-1], 9.0) == head + b"".join(packets[:2])


def test_keys_are_given_as_the_reader_takes_them() -> None:
    keys = [
        {"kind": "wep", "index": "0", "key": "0102030405"},
        {"kind": "pmk", "key": "ab" * 32, "station": "", "bssid": "", "name": "A"},
        {"kind": "passphrase", "ssid": "a:b", "passphrase": "c d"},
        {"kind": "esp", "spi": "0x1"},
    ]
    assert list(ledger.key_words(keys)) == [
        "wep:0102030405",
        f"pmk:{'ab' * 32}",
        "wpa-pwd:c%20d:a%3Ab",
    ]


def test_a_medium_tells_retries_and_acknowledgements() -> None:
    counts = {
        "radios": [
            {"air_s": 4.0, "attempts": 100, "retries": 25},
            {"air_s": 0.5, "attempts": 0, "retries": 0},
        ]
    }
    parts = {"payload": 2.0, "mac_phy": 0.5, "retry": 0.0, "ack": 0.0}
    assert ledger.counted(parts, counts) == {"retry": 1.0, "ack": 1.0}
