"""Networks read from settings, scans and captures."""

from pathlib import Path

import pytest

from airtoll.errors import UsageError
from airtoll.network import read

SEEDS = Path(__file__).parents[2] / "fuzz" / "seeds" / "capture_reader"
SECRET = "correct horse"

HOSTAPD = f"""\
interface=wlan0
ssid=home
hw_mode=a
channel=36
ieee80211n=1
ieee80211ac=1
vht_oper_chwidth=1
vht_oper_centr_freq_seg0_idx=42
wpa=2
wpa_key_mgmt=WPA-PSK
rsn_pairwise=CCMP
wpa_passphrase={SECRET}
"""
OPENWRT = f"""\
config wifi-device 'radio0'
\toption type 'mac80211'
\toption band '5g'
\toption channel '36'
\toption htmode 'HE80'
config wifi-iface 'default_radio0'
\toption device 'radio0'
\toption mode 'ap'
\toption ssid 'home'
\toption encryption 'sae-mixed'
\toption key '{SECRET}'
"""
SUPPLICANT = f"""\
network={{
\tssid="home"
\tkey_mgmt=WPA-EAP
\teap=TLS
\tproto=RSN
\tpairwise=CCMP
\tprivate_key_passwd="{SECRET}"
}}
"""
IW = """\
BSS 02:00:00:00:01:00(on wlan0) -- associated
\tbeacon interval: 100 TUs
\tcapability: ESS Privacy ShortSlotTime (0x0411)
\tfreq: 5180
\tsignal: -52.00 dBm
\tSSID: home
\tVHT capabilities:
\t\tVHT Capabilities (0x338b79b2):
\tVHT operation:
\t\t * channel width: 1 (80 MHz)
\tRSN:\t * Version: 1
\t\t * Group cipher: CCMP
\t\t * Pairwise ciphers: CCMP
\t\t * Authentication suites: PSK SAE
\t\t * Capabilities: 16-PTKSA-RC 1-GTKSA-RC MFP-capable (0x008c)
"""
NMCLI = """\
IN-USE  BSSID              SSID      MODE   CHAN  RATE        SIGNAL  BARS  SECURITY
*       02:00:00:00:01:00  home      Infra  36    540 Mbit/s  90      ****  WPA2
        02:00:00:00:02:00  cafe two  Infra  6     130 Mbit/s  40      **    --
        02:00:00:00:03:00  work      Infra  1     130 Mbit/s  40      **    WPA2 802.1X
"""
NMCLI_PROFILE = """\
connection.id:                          home
802-11-wireless.ssid:                   home
802-11-wireless-security.key-mgmt:      sae
802-11-wireless-security.psk:           <hidden>
"""


NMCLI_TERSE = """\
*:02\\:00\\:00\\:00\\:01\\:00:home:Infra:36:540 Mbit/s:78:****:WPA3
 :02\\:00\\:00\\:00\\:02\\:00:Cafe\\: free:Infra:6:130 Mbit/s:60:**:
"""


def read_text(tmp_path, text):
    path = tmp_path / "settings"
    path.write_text(text)
    return read(str(path))


@pytest.mark.parametrize(
    ("text", "policies"),
    [
        (HOSTAPD, ["wpa2-psk-ccmp"]),
        (OPENWRT, ["wpa2-wpa3-psk-transition"]),
        (SUPPLICANT, ["wpa2-eap-tls-ccmp"]),
        (IW, ["wpa2-wpa3-psk-transition"]),
        (NMCLI, ["wpa2-psk-ccmp", "open", "wpa2-eap-peap-ccmp"]),
        (NMCLI_PROFILE, ["wpa3-sae-ccmp"]),
        (NMCLI_TERSE, ["wpa3-sae-ccmp", "open"]),
    ],
)
def test_policies_of_texts(tmp_path, text, policies):
    found = read_text(tmp_path, text)
    assert [network.policy for network in found] == policies
    assert SECRET not in repr(found)
    assert found[0].ssid == "home"
    assert not any(network.not_understood for network in found)


def test_radios_of_texts(tmp_path):
    (one,) = read_text(tmp_path, HOSTAPD)
    assert (one.phy, one.band, one.channel, one.width_mhz) == ("802.11ac", "5", 36, 80)
    (one,) = read_text(tmp_path, IW)
    assert (one.phy, one.band, one.channel, one.width_mhz) == ("802.11ac", "5", 36, 80)
    assert (one.signal_dbm, one.in_use, one.pmf) == (-52.0, True, "optional")
    here, *others = read_text(tmp_path, NMCLI)
    assert here.in_use
    assert not any(other.in_use for other in others)
    assert [network.ssid for network in others] == ["cafe two", "work"]


def test_colons_of_terse_rows(tmp_path):
    here, cafe = read_text(tmp_path, NMCLI_TERSE)
    assert (here.in_use, here.band, here.channel) == (True, "5", 36)
    assert (cafe.ssid, cafe.bssid, cafe.in_use) == ("Cafe: free", "02:00:00:00:02:00", False)


@pytest.mark.parametrize(
    ("blocks", "phy"),
    [
        (("HT capabilities", "HT operation"), "802.11n"),
        (("HT capabilities", "VHT capabilities"), "802.11ac"),
        (("HT capabilities", "VHT capabilities", "HE capabilities"), "802.11ax"),
        (("HT capabilities", "HE capabilities", "EHT capabilities"), "802.11be"),
    ],
)
def test_the_newest_phy_of_a_scan_counts(tmp_path, blocks, phy):
    text = IW.replace("\tVHT capabilities:\n", "".join(f"\t{block}:\n" for block in blocks))
    (one,) = read_text(tmp_path, text)
    assert one.phy == phy


def test_a_link_says_where_its_security_is_to_be_found(tmp_path):
    (one,) = read_text(tmp_path, "Connected to 02:00:00:00:01:00 (on wlan0)\n\tSSID: home\n")
    assert one.policy is None
    assert any("iw dev NAME scan" in words for words in one.remarks)


def test_a_line_that_is_not_understood_is_named_without_its_value(tmp_path):
    (one,) = read_text(tmp_path, HOSTAPD + f"wpa_passfrase={SECRET}\n")
    assert [line.key for line in one.not_understood] == ["wpa_passfrase"]
    assert SECRET not in repr(one)


@pytest.mark.parametrize(
    "name",
    ["open.pcap.gz", "wpa-psk-tkip.pcap", "wpa2-ft-psk-ccmp.pcap", "wpa2-psk-gcmp.pcapng",
     "wpa3-sae-ccmp.pcap", "owe-ccmp.pcap", "wep-104-shared.pcap.zst"],
)  # fmt: skip
def test_policies_of_beacons(name):
    (one,) = read(str(SEEDS / name))
    # Beacons do not tell the authentication algorithm of WEP.
    assert one.policy == name.partition(".")[0].removesuffix("-shared")
    assert (one.band, one.channel, one.width_mhz) == ("2.4", 1, 20)


def test_beacons_do_not_tell_the_eap_method():
    (one,) = read(str(SEEDS / "wpa2-eap-tls-ccmp.pcap"))
    assert "wpa2-eap-tls-ccmp" in one.candidates
    assert any("EAP method" in words for words in one.assumed)


def test_a_file_of_no_known_form_is_refused(tmp_path):
    with pytest.raises(UsageError, match="no known form"):
        read_text(tmp_path, "hello\n")
    with pytest.raises(UsageError, match="cannot be read"):
        read(str(tmp_path / "missing"))


@pytest.mark.parametrize("text", ["", " \n\n"])
def test_an_empty_file_is_called_empty(tmp_path, text):
    with pytest.raises(UsageError, match="it is empty; known forms are"):
        read_text(tmp_path, text)


RADIO = """config wifi-device 'radio1'
	option band '5g'
	option htmode '{mode}'

config wifi-iface 'home'
	option device 'radio1'
	option mode 'ap'
	option ssid 'home'
	option encryption 'psk2'
	option key 'secretsecret'
"""


@pytest.mark.parametrize("mode", ["VHT81", "UHR80", "auto"])
def test_an_unknown_htmode_is_refused_with_its_line(tmp_path, mode):
    with pytest.raises(UsageError, match=f"line 3: htmode '{mode}' is unknown; known are NOHT, HT"):
        read_text(tmp_path, RADIO.format(mode=mode))


@pytest.mark.parametrize(
    ("mode", "phy", "width"),
    [("EHT320-2", "802.11be", 320), ("HT40+", "802.11n", 40), ("NOHT", "802.11a", 20)],
)
def test_a_known_htmode_is_phy_and_width(tmp_path, mode, phy, width):
    (one,) = read_text(tmp_path, RADIO.format(mode=mode))
    assert (one.phy, one.width_mhz) == (phy, width)
