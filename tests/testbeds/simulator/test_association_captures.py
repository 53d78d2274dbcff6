"""Association and probe frames in captures: the elements of their generation and policy.

tshark reads every frame without a malformed mark, our own reader decrypts the traffic after them.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import pytest

needs_tshark = pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
pytestmark = needs_tshark

REQUEST, RESPONSE = "wlan.fc.type_subtype == 0", "wlan.fc.type_subtype == 1"
WIFI7 = "wpa3-sae-ext-gcmp-256"
COMPATIBILITY = "wpa2-wpa3-psk-compatibility"
EIGHTY = {"mcs": 9, "width_mhz": 80}

SET_UPS: dict[str, tuple[str, dict[str, Any]]] = {
    "b": ("wep-104", {"phy": "802.11b"}),
    "g": ("wpa-psk-tkip", {"phy": "802.11g"}),
    "n with TKIP": ("wpa-psk-tkip", {"phy": "802.11n", "band": "2.4", "mcs": 7}),
    "n": ("wpa2-psk-ccmp", {"phy": "802.11n", "mcs": 7, "width_mhz": 40}),
    "ac with FT": ("wpa2-ft-psk-ccmp", {"phy": "802.11ac", **EIGHTY}),
    "ax with OWE": ("owe-ccmp", {"phy": "802.11ax", **EIGHTY}),
    "ax with EAP": ("wpa3-eap-tls-gcmp-256", {"phy": "802.11ax", **EIGHTY}),
    "ax at 6 GHz": ("wpa3-sae-ccmp", {"phy": "802.11ax", "band": "6", **EIGHTY}),
    "be": (WIFI7, {"phy": "802.11be", "mcs": 13, "width_mhz": 160}),
    "be at 6 GHz": (WIFI7, {"phy": "802.11be", "mcs": 13, "width_mhz": 320}),
}


@pytest.mark.parametrize("name", SET_UPS)
def test_tshark_reads_association_frames(name: str, tmp_path: Path, cell: Any, record: Any) -> None:
    policy, settings = SET_UPS[name]
    trial = record(cell(policy, **settings), tmp_path)
    assert trial.wrong() == []
    for kind in (REQUEST, RESPONSE):
        assert len(trial.passing(kind)) == 1
    report = trial.report()
    assert report["damage"] is None


def test_a_request_has_the_elements_of_its_generation(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    numbers = {}
    for name in ("g", "n", "ac with FT", "be"):
        policy, settings = SET_UPS[name]
        trial = record(cell(policy, **settings), tmp_path / name)
        (line,) = trial.tshark(REQUEST, "wlan.tag.number", "wlan.ext_tag.number", "frame.len")
        tags, extensions, length = line.split("\t")
        numbers[name] = (tags.split(","), extensions.split(","), int(length))
    assert "45" not in numbers["g"][0]
    # HT capabilities, supported operating classes; VHT; HE and EHT capabilities.
    assert {"45", "59", "127", "221"} <= set(numbers["n"][0])
    assert "191" in numbers["ac with FT"][0]
    assert {"35", "108"} <= set(numbers["be"][1])
    lengths = [numbers[name][2] for name in ("g", "n", "be")]
    assert lengths == sorted(lengths)


def test_longer_association_frames_take_longer_on_the_air(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    """Same policy and rates: 802.11ax differs from 802.11n by its elements alone."""
    old = {"phy": "802.11n", "mcs": 7}
    new = {"phy": "802.11ax", "mcs": 7}
    frames, lengths = [], []
    for number, settings in enumerate((old, new)):
        trial = record(cell("wpa2-psk-ccmp", **settings), tmp_path / str(number))
        request, response = trial.tshark(f"{REQUEST} || {RESPONSE}", "frame.len")
        frames.append(int(request) + int(response))
        lengths.append(trial.values["association_time_s"])
    # 6 Mb/s: an octet takes 4/3 us, in symbols of 4 us.
    longer = (frames[1] - frames[0]) * 8 / 6e6
    assert lengths[1] - lengths[0] == pytest.approx(longer, abs=1.2e-4)


@pytest.mark.parametrize(
    ("client", "akm", "selection"),
    [("wpa2", "2", None), ("wpa3", "2", None), ("wifi7", "24", "02")],
)
def test_rsn_overriding_on_the_air(
    client: str, akm: str, selection: str | None, tmp_path: Path, cell: Any, record: Any
) -> None:
    settings = {"phy": "802.11be", **EIGHTY, "stations": [{"name": "A", "client": client}]}
    trial = record(cell(COMPATIBILITY, **settings), tmp_path)
    assert trial.wrong() == []
    # Beacons are the same for all: WPA2 in the RSN element, SAE in those that override it.
    beacon = trial.tshark("wlan.fc.type_subtype == 8", "wlan.rsn.akms.type", "wlan.tag.oui")[0]
    assert beacon.split("\t")[0] == "2"
    assert beacon.split("\t")[1].count("5271450") == 3
    (request,) = trial.tshark(REQUEST, "wlan.rsn.akms.type")
    assert request == akm
    (vendors,) = trial.tshark(REQUEST, "wlan.tag.vendor.oui.type")
    assert ("44" in vendors.split(",")) == (selection is not None)
    assert trial.values["throughput_bps"] > 0


def test_each_client_of_transition_modes_joins(tmp_path: Path, cell: Any, record: Any) -> None:
    stations = [{"name": name, "client": name} for name in ("wpa2", "wpa3", "wifi7")]
    for number, policy in enumerate(("wpa2-wpa3-psk-transition", COMPATIBILITY, "owe-transition")):
        settings = {"phy": "802.11be", **EIGHTY, "stations": stations}
        trial = record(cell(policy, **settings), tmp_path / str(number))
        assert trial.wrong() == []
        assert len(trial.passing(RESPONSE)) == 3


def test_the_open_bss_of_owe_transition_has_an_address_of_its_own(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    stations = [{"name": "old", "client": "wpa2"}, {"name": "new", "client": "wpa3"}]
    settings = {"phy": "802.11ax", "mcs": 7, "stations": stations}
    trial = record(cell("owe-transition", **settings), tmp_path)
    assert trial.wrong() == []
    beacons = trial.tshark("wlan.fc.type_subtype == 8", "wlan.bssid", "frame.len")
    lengths = dict(line.split("\t") for line in beacons)
    assert len(lengths) == 2
    hidden, open_ = sorted(lengths)
    assert int(lengths[open_]) < int(lengths[hidden])
    data = trial.tshark("wlan.fc.type == 2 && wlan.fc.tods == 1", "wlan.bssid", "wlan.fc.protected")
    kinds = {tuple(line.split("\t")) for line in data}
    assert {bssid for bssid, protected in kinds if protected in ("1", "True")} == {hidden}
    assert {bssid for bssid, protected in kinds if protected in ("0", "False")} >= {open_}
    requests = trial.tshark("wlan.fc.type_subtype == 0", "wlan.bssid")
    assert sorted(requests) == [hidden, open_]


def test_message_3_repeats_the_rsn_element_of_the_beacon(
    tmp_path: Path, cell: Any, record: Any
) -> None:
    settings = {"phy": "802.11ax", "mcs": 7, "stations": [{"name": "A", "client": "wpa2"}]}
    trial = record(cell("wpa2-wpa3-psk-transition", **settings), tmp_path)
    beacon = trial.tshark("wlan.fc.type_subtype == 8", "wlan.rsn.akms.type")[0]
    (message,) = trial.tshark("wlan_rsna_eapol.keydes.msgnr == 3", "wlan.rsn.akms.type")
    assert message == beacon
    assert sorted(beacon.split(",")) == ["2", "8"]
