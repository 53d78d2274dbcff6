"""Transition modes and beacons of hostapd in a guest, beside airtoll's.

`modes.py` runs in the guest. The clients are those that wpa_supplicant 2.10 can play: it knows no
RSN overriding, so that there is no Wi-Fi 7 client and no compatibility mode.
"""

from __future__ import annotations

import json
import shutil
import struct
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import pytest

from airtoll import _native, border
from airtoll.capture import capture_report
from airtoll.plan import Cell
from airtoll.policies import resolve
from airtoll.policies.transition import choice
from airtoll.study import Scenario, Traffic
from airtoll.testbeds.resolve import scenario

pytestmark = pytest.mark.guest

FOLDER: Final = "/run/airtoll-modes"
PASSWORD: Final = "correct horse"
MAIN, HIDDEN = "02:00:00:00:00:00", "02:00:00:00:00:01"
#: As long as the name of the simulated network, so that elements have equal lengths.
SSID: Final = "airtoll"
HOSTAPD: Final = {
    "wpa2-psk-ccmp": "wpa=2\nwpa_key_mgmt=WPA-PSK\nrsn_pairwise=CCMP",
    "wpa2-wpa3-psk-transition": "wpa=2\nwpa_key_mgmt=WPA-PSK SAE\nrsn_pairwise=CCMP\n"
    "ieee80211w=1\nsae_pwe=2",
    "wpa3-sae-ccmp": "wpa=2\nwpa_key_mgmt=SAE\nrsn_pairwise=CCMP\nieee80211w=2\nsae_pwe=2",
    "owe-transition": "owe_transition_ifname=hidden",
    "open": "",
}
#: Configuration of a client by its age.
PSK: Final = {
    "wpa2": "key_mgmt=WPA-PSK\n  ieee80211w=0",
    "wpa3": "key_mgmt=WPA-PSK SAE\n  ieee80211w=1",
}
OWE: Final = {"wpa2": "key_mgmt=NONE", "wpa3": "key_mgmt=OWE\n  ieee80211w=2"}
#: Identifier of the RSN element.
RSN: Final = 48
#: key_mgmt of STATUS by the link that airtoll's client chooses.
NAMES: Final = {
    "wpa2-psk-ccmp": "WPA2-PSK",
    "wpa2-wpa3-psk-transition": "SAE",
    "owe-transition": "OWE",
    "open": "NONE",
}


@pytest.fixture
def play(peers: Any, in_virtual_time: Callable[..., Any]) -> Callable[..., dict[str, Any]]:
    """Plays a scene in a guest of its own; gives what it saw."""
    peers.needs("hostapd", "wpa_supplicant", "iw", "modprobe")

    def run(**given: Any) -> dict[str, Any]:
        seen: dict[str, Any] = in_virtual_time("modes:scene", given)
        return seen

    return run


def access_point(policy: str, phy: str = "802.11g") -> str:
    lines = [
        "interface=wlan0",
        "driver=nl80211",
        f"ctrl_interface={FOLDER}/hostapd",
        f"ssid={SSID}",
        "channel=1",
        "hw_mode=g",
        *{"802.11g": [], "802.11n": ["ieee80211n=1", "wmm_enabled=1"]}[phy],
        HOSTAPD[policy],
    ]
    if "psk" in policy:
        lines.append(f"wpa_passphrase={PASSWORD}")
    if "sae" in policy or "wpa3" in policy:
        lines.append(f"sae_password={PASSWORD}")
    if policy == "owe-transition":
        lines += [
            "bss=hidden",
            f"bssid={HIDDEN}",
            f"ssid={SSID}-owe",
            "ignore_broadcast_ssid=1",
            "wpa=2\nwpa_key_mgmt=OWE\nrsn_pairwise=CCMP\nieee80211w=2",
            "owe_transition_ifname=wlan0",
        ]
    return "\n".join(lines) + "\n"


def station(security: str) -> str:
    psk = f'  psk="{PASSWORD}"\n' if "PSK" in security else ""
    return (
        f"ctrl_interface={FOLDER}/wpa_supplicant\nsae_pwe=2\nnetwork={{\n"
        f'  ssid="{SSID}"\n  scan_ssid=1\n{psk}  {security}\n}}\n'
    )


@pytest.mark.parametrize("client", ["wpa2", "wpa3"])
@pytest.mark.parametrize("mode", ["wpa2-wpa3-psk-transition", "owe-transition"])
def test_a_client_chooses_what_the_table_says(
    play: Callable[..., dict[str, Any]], mode: str, client: str
) -> None:
    security = (PSK if "psk" in mode else OWE)[client]
    bssids = [MAIN, HIDDEN] if mode == "owe-transition" else [MAIN]
    seen = play(access_point=access_point(mode), station=station(security), bssids=bssids)
    chosen = choice(resolve(mode), "802.11ax", client)
    assert chosen is not None
    assert seen["status"]["wpa_state"] == "COMPLETED"
    assert seen["status"]["key_mgmt"] == NAMES[chosen.policy.name]
    if mode == "owe-transition":
        assert seen["status"]["bssid"] == {"wpa2": MAIN, "wpa3": HIDDEN}[client]


def elements(body: bytes) -> list[tuple[int, int]]:
    """Identifier and length of each element."""
    found = []
    while len(body) >= 2:
        found.append((body[0], body[1]))
        body = body[2 + body[1] :]
    return found


def rates(beacon: bytes, number: int) -> list[int]:
    """Rates of an element in 500 kb/s, without the mark of basic ones."""
    at = 36
    while beacon[at] != number:
        at += 2 + beacon[at + 1]
    return [one & 0x7F for one in beacon[at + 2 : at + 2 + beacon[at + 1]]]


def simulated(policy: str, phy: str, folder: Path, **more: object) -> bytes:
    """The first beacon of the simulator's access point, without FCS; ``more``: of its scenario."""
    settings: dict[str, object] = {"stations": [{"name": "A"}], "phy": phy, "authenticate": True}
    settings |= {"band": "2.4"} | more
    if phy == "802.11g":
        del settings["band"]
    load = {"transport": "udp", "offered_mbps": 1, "duration_s": 0.5}
    cell = Cell(
        scenario="s",
        policy=policy,
        traffic="t",
        factors=(),
        settings=Scenario.model_validate(settings),
        load=Traffic.model_validate(load),
    )
    resolved = json.dumps(border.plain(scenario(cell)))
    _native.Scenario(resolved).simulate([5], None, [str(folder)])
    # -x of one packet: offset, octets in hexadecimal digits, text.
    command = ["tshark", "-r", str(folder / "air.pcapng"), "-Y", "wlan.fc.type_subtype == 8"]
    done = subprocess.run([*command, "-c", "50", "-x"], capture_output=True, text=True, check=True)
    octets = b""
    for line in done.stdout.splitlines():
        if not line.strip():
            break
        octets += bytes.fromhex(line[6:53].replace(" ", ""))
    return octets[int.from_bytes(octets[2:4], "little") : -4]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize("phy", ["802.11g", "802.11n"])
@pytest.mark.parametrize(
    "policy", ["open", "wpa2-psk-ccmp", "wpa2-wpa3-psk-transition", "wpa3-sae-ccmp"]
)
def test_beacons_have_hostapd_s_elements(
    play: Callable[..., dict[str, Any]], policy: str, phy: str, tmp_path: Path
) -> None:
    # As a site has it: hostapd announces its country where it is told which it is.
    configuration = access_point(policy, phy) + "country_code=DE\nieee80211d=1\n"
    seen = play(access_point=configuration, station=None, bssids=[MAIN])
    theirs = bytes.fromhex(seen["beacons"][MAIN])
    ours = simulated(policy, phy, tmp_path)
    own, other = elements(ours[36:]), elements(theirs[36:])
    assert ours[0] == theirs[0] == 0x80
    # Supported Operating Classes belong to extended channel switching (802.11-2020, table 9-32),
    # which the simulator's access point does not do. An access point of 802.11g is one of its time,
    # before the amendments that brought both elements; hostapd has them in every mode.
    younger = {59} if phy == "802.11n" else {59, EXTENDED_CAPABILITIES}
    left_out = [one for one in other if one[0] in younger]
    assert len(left_out) == len(younger)
    # With PMF the simulator's RSN element names the usual group management cipher, too.
    more = 6 if policy in ("wpa2-wpa3-psk-transition", "wpa3-sae-ccmp") else 0
    expected = [(number, size + more * (number == RSN)) for number, size in other]
    assert own == [one for one in expected if one not in left_out]
    assert len(ours) == len(theirs) + more - sum(2 + size for _, size in left_out)
    if phy == "802.11n":
        assert len(ours) == pytest.approx(len(theirs), rel=0.05)
    # Rates: the same in the same order, whichever are basic.
    for number in (1, 50):
        assert rates(ours, number) == rates(theirs, number)


#: HT, and what OpenWrt sets for HE: the parameters of MU EDCA.
HT: Final = "ieee80211n=1\nwmm_enabled=1\n"
HE: Final = "ieee80211ax=1\nhe_mu_edca_ac_be_aifsn=8\nhe_mu_edca_ac_be_aci=0\n"
WIDE: Final = (
    f"hw_mode=a\nchannel=36\n{HT}ht_capab=[HT40+][SHORT-GI-20][SHORT-GI-40]\nieee80211ac=1\n"
    "vht_capab=[SHORT-GI-80]\nvht_oper_chwidth=1\nvht_oper_centr_freq_seg0_idx=42\n"
)
#: Generation, band -> hostapd's configuration, the frequency of its primary channel, ours.
WIDE_MODES: Final[dict[tuple[str, str], tuple[str, int, dict[str, object]]]] = {
    ("802.11ac", "5"): (WIDE, 5180, {"width_mhz": 80}),
    ("802.11ax", "2.4"): (f"hw_mode=g\nchannel=1\n{HT}{HE}", 2412, {}),
    ("802.11ax", "5"): (
        f"{WIDE}{HE}he_oper_chwidth=1\nhe_oper_centr_freq_seg0_idx=42\n",
        5180,
        {"width_mhz": 80},
    ),
    ("802.11ax", "6"): (
        f"hw_mode=a\nchannel=1\nop_class=133\n{HT}{HE}"
        "he_oper_chwidth=1\nhe_oper_centr_freq_seg0_idx=7\n",
        5955,
        {"width_mhz": 80},
    ),
}
DSSS_PARAMETER, COUNTRY, OPERATING_CLASSES, EXTENSION = 3, 7, 59, 255


def numbered(body: bytes) -> list[tuple[int, int, int]]:
    """Identifier, number of the extension or 0, and length of each element."""
    found = []
    while len(body) >= 2:
        found.append((body[0], body[2] if body[0] == EXTENSION else 0, body[1]))
        body = body[2 + body[1] :]
    return found


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
@pytest.mark.parametrize(
    ("phy", "band", "policy"),
    [
        (*mode, policy)
        for mode in WIDE_MODES
        for policy in ("open", "wpa3-sae-ccmp")
        # hostapd refuses an open network at 6 GHz.
        if (mode[1], policy) != ("6", "open")
    ],
)
def test_beacons_of_wide_channels_have_hostapd_s_elements(
    play: Callable[..., dict[str, Any]], phy: str, band: str, policy: str, tmp_path: Path
) -> None:
    mode, frequency_mhz, settings = WIDE_MODES[phy, band]
    lines = access_point(policy).replace("channel=1\nhw_mode=g\n", mode)
    seen = play(
        access_point=f"{lines}country_code=DE\nieee80211d=1\n",
        station=None,
        bssids=[MAIN],
        frequency_mhz=frequency_mhz,
    )
    theirs = bytes.fromhex(seen["beacons"][MAIN])
    ours = simulated(policy, phy, tmp_path, band=band, mcs=7, **settings)
    own, other = numbered(ours[36:]), numbered(theirs[36:])
    # The DSSS Parameter Set belongs to 2.4 GHz (IEEE 802.11-2020, table 9-32); hostapd always has
    # it.
    left_out = {OPERATING_CLASSES} | ({DSSS_PARAMETER} if band != "2.4" else set())
    assert {number for number, _, _ in other} >= left_out
    # Lists of channels are those of the regulatory database: hostapd's has the rules of its kernel.
    countries = [next(one[2] for one in found if one[0] == COUNTRY) for found in (own, other)]
    # With PMF our RSN element names the usual group management cipher. Our access points of
    # 802.11ax answer to target wake time, which has bit 78 of the extended capabilities.
    more = {RSN: 6 * (policy != "open"), EXTENDED_CAPABILITIES: 2 * (phy == "802.11ax")}
    more[COUNTRY] = countries[0] - countries[1]
    assert own == [
        (number, extension, size + more.get(number, 0))
        for number, extension, size in other
        if number not in left_out
    ]
    assert len(ours) - countries[0] == pytest.approx(len(theirs) - countries[1], rel=0.05)
    assert rates(ours, 1) == rates(theirs, 1)


#: hostapd with protected beacons, under a PSK from which the reader has all keys.
PROTECTED: Final = (
    "wpa=2\nwpa_key_mgmt=WPA-PSK-SHA256\nrsn_pairwise=CCMP\nieee80211w=2\nbeacon_prot=1"
)
#: Identifier of the Management MIC element, and bit 84 of the extended capabilities.
MANAGEMENT_MIC, EXTENDED_CAPABILITIES = 76, 127
BEACON_PROTECTION: Final = 84
EAPOL: Final = bytes.fromhex("aaaa03000000888e")


def recorded(
    play: Callable[..., dict[str, Any]], beacons: str, path: Path, more: str = "beacon_prot=1"
) -> dict[str, Any]:
    """A join beside hostapd with ``beacons`` in its configuration, in a pcap file; ``more``: of the
    station."""
    lines = (
        access_point("open").replace("\n\n", "\n")
        + f"{PROTECTED.replace('beacon_prot=1', beacons)}\n"
    )
    seen = play(
        access_point=f"{lines}wpa_passphrase={PASSWORD}\n",
        station=station(f"key_mgmt=WPA-PSK-SHA256\n  ieee80211w=2\n  {more}"),
        bssids=[MAIN],
        record=10,
    )
    # Link type 127: a radiotap header before each frame.
    octets = struct.pack("<IHHiIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 127)
    for at, frame in seen["frames"]:
        whole, size = bytes.fromhex(frame), len(frame) // 2
        octets += struct.pack("<IIII", int(at), int(at % 1 * 1e6), size, size) + whole
    path.write_bytes(octets)
    return seen


def test_the_reader_verifies_hostapd_s_beacons_under_the_key_of_the_handshake(
    play: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    seen = recorded(play, "beacon_prot=1", tmp_path / "air.pcap")
    assert seen["status"]["wpa_state"] == "COMPLETED"
    key = f"wpa-pwd:{PASSWORD.replace(' ', '%20')}:{SSID}"
    (session,) = capture_report([tmp_path / "air.pcap"], [key]).sessions
    assert session["outcome"] == "connected"
    frame = bytes.fromhex(seen["beacons"][MAIN])
    found = dict(elements(frame[36:]))
    # Key ID, BIPN and a MIC of 8 octets, at the end.
    assert found[MANAGEMENT_MIC] == 16
    assert frame[-18:-15] == bytes([MANAGEMENT_MIC, 16, 6])
    assert found[EXTENDED_CAPABILITIES] > BEACON_PROTECTION // 8
    heard = [bytes.fromhex(one) for _, one in seen["frames"]]
    frames = [one[int.from_bytes(one[2:4], "little") :] for one in heard]
    # The key is known after message 3 of the 4-way handshake, the last EAPOL frame but one.
    third = [at for at, one in enumerate(frames) if EAPOL in one[24:40]][-2]
    protected = [one for one in frames[third:] if one[-18:-16] == bytes([MANAGEMENT_MIC, 16])]
    assert sum(one[0] == 0x80 for one in protected) >= 10
    outcomes = capture_report([tmp_path / "air.pcap"], [key]).data["group_management"]
    assert "MIC failure" not in outcomes
    assert outcomes["MIC fits"] == len(protected)
    # Without the passphrase there is no key, and no MIC is called right.
    assert "MIC fits" not in capture_report([tmp_path / "air.pcap"]).data["group_management"]


def test_hostapd_s_beacons_without_protection_have_no_mic(
    play: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    seen = recorded(play, "beacon_prot=0", tmp_path / "air.pcap")
    assert MANAGEMENT_MIC not in dict(elements(bytes.fromhex(seen["beacons"][MAIN])[36:]))
    key = f"wpa-pwd:{PASSWORD.replace(' ', '%20')}:{SSID}"
    outcomes = capture_report([tmp_path / "air.pcap"], [key]).data["group_management"]
    # Only the deauthentication of all stations, when hostapd ends.
    assert outcomes.get("MIC fits", 0) <= 1
    assert "MIC failure" not in outcomes


def test_the_reader_reports_the_channels_that_hostapd_and_wpa_supplicant_name(
    play: Callable[..., dict[str, Any]], tmp_path: Path
) -> None:
    rekeys = "ocv=1\nwpa_group_rekey=1"
    seen = recorded(play, rekeys, tmp_path / "air.pcap", "ocv=1")
    assert seen["status"]["wpa_state"] == "COMPLETED"
    key = f"wpa-pwd:{PASSWORD.replace(' ', '%20')}:{SSID}"
    (session,) = capture_report([tmp_path / "air.pcap"], [key]).sessions
    # Channel 1 of 2.4 GHz, 20 MHz wide.
    channel = {"operating_class": 81, "primary_channel": 1, "segment_1": 0, "width_mhz": 20}
    named = session["operating_channels"]
    assert named[0]["protocol"] == "4-way"
    for one in named:
        assert one["station"] in (channel, None)
        assert one["access_point"] == channel
        assert one["mismatch"] is None
    assert named[0]["station"] == channel
    # Ten beacons are one second: at least one renewal of the group key, answered by the station.
    renewed = [one for one in named if one["protocol"] == "group"]
    assert renewed
    assert renewed[0]["station"] == channel
    (without,) = capture_report([tmp_path / "air.pcap"]).sessions
    assert without["operating_channels"][0]["access_point"] is None
