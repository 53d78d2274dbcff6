"""Messages of tunnels in captures: as many as the trial counted, each named."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from airtoll.capture import capture_report

#: Suites of tunnels, the inner one first.
TUNNELS = (
    "wireguard",
    "ipsec-3des-sha1",
    "ipsec-aes-gcm",
    "openvpn",
    "wireguard+ipsec-aes-gcm",
    "ipsec-aes-gcm+wireguard",
    "openvpn+wireguard",
    "ipsec-aes-gcm+ipsec-aes-gcm",
)
COUNTED = ("messages_ikev1", "messages_ikev2", "messages_wireguard", "messages_openvpn")


def counts(values: Any) -> dict[str, float]:
    """The messages of tunnels among metrics."""
    return {name: float(values[name]) for name in COUNTED if name in values}


def sessions(trial: Any) -> list[Any]:
    files = [path for path in (trial.air, trial.wire) if path.exists()]
    return list(capture_report(files, key_logs=[trial.folder / "keys.json"]).sessions)


@pytest.mark.parametrize("phy", ["802.11g", "802.11ax"])
@pytest.mark.parametrize("tunnels", TUNNELS)
def test_the_reader_counts_the_messages_of_the_trial(
    tunnels: str, phy: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell(f"wpa2-psk-ccmp+{tunnels}", phy=phy), tmp_path)
    (session,) = sessions(trial)
    own = counts(trial.values)
    assert own
    assert counts(session["message_counts"]) == own
    assert session["retransmissions"] == 0


@pytest.mark.parametrize("tunnels", ["wireguard", "ipsec-3des-sha1", "openvpn"])
def test_between_stations_a_message_counts_for_both(
    tunnels: str, tmp_path: Path, cell: Any, record: Any
) -> None:
    stations = [{"name": "A"}, {"name": "B"}]
    planned = cell(f"wpa2-psk-ccmp+{tunnels}", topology="station-to-station", stations=stations)
    trial = record(planned, tmp_path)
    # Each station sets the tunnel up once, and is the other end of the other one's negotiation.
    twice = {name: 2 * number for name, number in counts(trial.values).items()}
    assert twice
    assert [counts(one["message_counts"]) for one in sessions(trial)] == [twice, twice]


def test_packets_of_openvpn_s_control_channel_have_names(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell("wpa2-psk-ccmp+openvpn"), tmp_path)
    (session,) = sessions(trial)
    names = [name for name in session["steps"]["what"] if name.startswith("OpenVPN ")]
    assert names[:3] == [
        "OpenVPN P_CONTROL_HARD_RESET_CLIENT_V2",
        "OpenVPN P_CONTROL_HARD_RESET_SERVER_V2",
        "OpenVPN P_CONTROL_V1",
    ]
    kinds = Counter(names)
    assert set(kinds) == {*names[:3], "OpenVPN P_ACK_V1"}
    assert kinds.total() == trial.values["messages_openvpn"]
    assert session["phases"][-1]["phase"] == "tunnel"


def test_sequence_numbers_of_a_sender_without_qos_are_one_row(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    trial = record(cell("wpa2-psk-ccmp+wireguard"), tmp_path)
    rows: dict[str, list[int]] = {}
    fields = ("wlan.ta", "wlan.seq", "wlan.fc.retry")
    for line in trial.tshark("wlan.fc.type == 0 || wlan.fc.type == 2", *fields):
        sender, number, retry = line.split("\t")
        if retry in ("0", "False"):
            rows.setdefault(sender, []).append(int(number))
    # Management, EAPOL and data frames, and beacons (IEEE 802.11-2020, 10.3.2.14.2).
    assert len(rows) == 2
    for numbers in rows.values():
        assert numbers == list(range(len(numbers)))
