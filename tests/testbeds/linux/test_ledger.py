"""The parts of the airtime, read from captures of the real stack."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from airtoll.capture import capture_frames, capture_report
from airtoll.testbeds.linux import ledger

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
    frames = capture_frames([CORPUS / policy / "air.pcap"])
    times = [frame.unix_s for frame in frames]
    middle = times[len(times) * 7 // 8]
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
    frames = capture_frames([CORPUS / "wpa2-psk-ccmp" / "air.pcap"])
    rows, missing = taken("wpa2-psk-ccmp", tmp_path, 0.0, frames[3].unix_s)
    assert rows == {}
    assert "that name no rates" in (missing or "")


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
