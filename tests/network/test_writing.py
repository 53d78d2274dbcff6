"""Files of policies, read back: what is written means the policy."""

import re

import pytest
from typer.testing import CliRunner

from airtoll.advising.settings import change_of
from airtoll.cli.app import app
from airtoll.errors import PolicyError, UsageError
from airtoll.network import read
from airtoll.network.openwrt import write as write_openwrt
from airtoll.policies import catalogue, resolve
from airtoll.testbeds.linux.daemons.settings_of import hostapd_text, wpa_supplicant_text

#: Policies with more than one BSS, more than one element, or without encryption under WEP.
MORE_THAN_ONE_FILE = {
    "wep-104-auth", "wpa2-wpa3-psk-compatibility", "owe-transition", "tsn-wep-104",
}  # fmt: skip


@pytest.mark.parametrize("policy", [p.name for p in catalogue()])
def test_hostapd_conf_is_read_as_its_policy(tmp_path, policy):
    if policy in MORE_THAN_ONE_FILE:
        with pytest.raises(PolicyError, match="does not say it all"):
            hostapd_text(resolve(policy))
        return
    path = tmp_path / "hostapd.conf"
    path.write_text(hostapd_text(resolve(policy)))
    (found,) = read(str(path))
    assert resolve(policy).link in {resolve(name).link for name in found.candidates}
    assert not found.not_understood
    assert not found.contradictions


@pytest.mark.parametrize(
    "policy", ["open", "wep-40", "wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-ft-sae-ccmp", "owe-ccmp",
               "wpa2-eap-peap-ccmp", "wpa3-eap-tls-gcmp-256"],
)  # fmt: skip
def test_wpa_supplicant_conf_is_read_as_its_policy(tmp_path, policy):
    path = tmp_path / "wpa_supplicant.conf"
    path.write_text(wpa_supplicant_text(resolve(policy)))
    (found,) = read(str(path))
    assert found.policy == policy
    assert not found.not_understood


@pytest.mark.parametrize(
    "policy",
    ["open", "wpa2-psk-ccmp", "wpa2-wpa3-psk-transition", "wpa3-sae-ccmp", "owe-ccmp",
     "wpa2-ft-psk-ccmp"],
)  # fmt: skip
def test_openwrt_is_read_as_its_policy(tmp_path, policy):
    path = tmp_path / "wireless"
    path.write_text(write_openwrt(resolve(policy)))
    (found,) = read(str(path))
    assert found.policy == policy


def test_show_prints_the_file_alone():
    shown = CliRunner().invoke(app, ["policies", "show", "wpa3-sae-ccmp", "--hostapd"])
    assert shown.exit_code == 0, shown.output
    assert shown.stdout == hostapd_text(resolve("wpa3-sae-ccmp"))
    refused = CliRunner().invoke(app, ["policies", "show", "open", "--hostapd", "--json"])
    assert refused.exit_code != 0


def test_values_that_fit_one_place_alone_are_named():
    text = hostapd_text(resolve("wpa3-ft-eap-tls-ccmp"))
    assert "# Examples that fit no other network: hw_mode, channel, nas_identifier" in text
    assert "r0kh= and an r1kh= line" in text
    assert "r0kh=" not in hostapd_text(resolve("wpa3-eap-tls-ccmp"))


@pytest.mark.parametrize(
    ("write", "line"),
    [(write_openwrt, "\toption ieee80211k '1'\n"), (hostapd_text, "\nrrm_neighbor_report=1\n")],
)
def test_fast_transition_has_the_neighbour_reports_that_its_clients_ask_for(write, line):
    assert line in write(resolve("wpa3-ft-eap-tls-ccmp"))
    assert line not in write(resolve("wpa3-eap-tls-ccmp"))


def test_neighbour_reports_are_added_to_a_file_and_stay_as_a_file_has_them(tmp_path):
    path = tmp_path / "wireless"
    path.write_text(FILES["wireless"])
    policy = resolve("wpa2-ft-psk-ccmp")
    text = change_of(policy, str(path)).text
    assert "\toption ieee80211k '1'" in text
    path.write_text(text.replace("ieee80211k '1'", "ieee80211k '0'"))
    assert "ieee80211k '1'" not in change_of(policy, str(path)).text
    path.write_text(text)
    assert "ieee80211k '1'" in change_of(resolve("wpa3-sae-ccmp"), str(path)).text


@pytest.mark.parametrize(("tls", "off"), [((), 1), (("--tls", "1.2"), 1), (("--tls", "1.3"), 0)])
def test_a_station_takes_the_version_of_tls_that_is_asked_for(tls, off):
    asked = ["policies", "show", "wpa3-eap-tls-ccmp", "--wpa-supplicant", *tls]
    shown = CliRunner().invoke(app, asked)
    assert f'phase1="tls_disable_tlsv1_3={off}"' in shown.stdout
    assert "fast_reauth" not in shown.stdout


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("wpa3-eap-tls-ccmp", "--openwrt"), "tls_max_version"),
        (("wpa3-sae-ccmp", "--wpa-supplicant"), "has no TLS in EAP"),
        (("wpa3-eap-tls-ccmp",), "needs --wpa-supplicant"),
    ],
)
def test_a_version_of_tls_that_no_line_states_is_refused(arguments, words):
    refused = CliRunner().invoke(app, ["policies", "show", *arguments, "--tls", "1.3"])
    assert isinstance(refused.exception, UsageError)
    assert words in str(refused.exception)


SECRET = "secret-of-home"
FILES = {
    "wireless": f"""\
config wifi-device 'radio0'
\toption band '5g'
\toption channel '44'
\toption htmode 'VHT80'
\toption country 'DE'

config wifi-iface 'default_radio0'
\toption device 'radio0'
\toption mode 'ap'
\toption ssid 'Casa'
\toption encryption 'psk2'  # since 2019
\toption key '{SECRET}'
""",
    "hostapd.conf": f"""\
interface=wlan0
ssid=Casa
country_code=DE
hw_mode=a
channel=44
ieee80211n=1
ieee80211ac=1
wpa=2
wpa_key_mgmt=WPA-PSK
rsn_pairwise=CCMP
wpa_passphrase={SECRET}
""",
    "wpa_supplicant.conf": f"""\
country=DE
network={{
    ssid="Casa"
    psk="{SECRET}"
    key_mgmt=WPA-PSK
}}
network={{
    ssid="work"
    psk={"0123456789abcdef" * 4}
    key_mgmt=WPA-PSK
}}
""",
}


def changed_file(tmp_path, name, policy, *more):
    path = tmp_path / name
    path.write_text(FILES[name])
    shown = CliRunner().invoke(app, ["policies", "show", policy, "--from", str(path), *more])
    assert shown.exit_code == 0, shown.exception
    path.write_text(shown.stdout)
    return path, shown.stdout.splitlines()


@pytest.mark.parametrize("name", FILES)
@pytest.mark.parametrize(
    "policy", ["wpa3-sae-ccmp", "wpa2-ft-psk-ccmp", "owe-ccmp", "wpa3-sae-gcmp-256",
               "wpa3-eap-tls-ccmp"],
)  # fmt: skip
def test_a_file_is_changed_where_the_policy_needs_it(tmp_path, name, policy):
    """The file means the policy; its radio, names and secrets are those that it had."""
    path, lines = changed_file(tmp_path, name, policy, "--ssid", "Casa")
    found = next(one for one in read(str(path)) if one.name == "Casa")
    assert policy in found.candidates
    assert not found.contradictions
    old = FILES[name].splitlines()
    kept = [line for line in old if line in lines]
    security = ("encryption", "key_mgmt", "rsn_pairwise", "ieee80211w")
    assert all(any(word in line for word in security) for line in old if line not in kept)
    assert any(SECRET in line for line in lines)


def test_a_change_to_sae_is_one_line_and_keeps_its_comment(tmp_path):
    _, lines = changed_file(tmp_path, "wireless", "wpa3-sae-ccmp")
    new = [line for line in lines if line not in FILES["wireless"].splitlines()]
    assert new == ["\toption encryption 'sae'  # since 2019"]


PMF = {"off": "0", "optional": "1", "required": "2"}


#: The file of OpenWrt has rules of its own for the frames that it had; for the others the former
#: value that the policy does not want is enough.
FORMER = [
    pytest.param(
        policy,
        name,
        had,
        marks=[pytest.mark.thorough] * (name != "wireless" and had != other),
    )
    for policy, other in (
        ("wpa3-sae-ccmp", "0"),
        ("wpa2-wpa3-psk-transition", "2"),
        ("owe-ccmp", "0"),
        ("wpa3-eap-tls-ccmp", "1"),
        ("wpa2-psk-ccmp", "2"),
    )
    for name in FILES
    for had in PMF.values()
]


@pytest.mark.parametrize(("policy", "name", "had"), FORMER)
def test_a_file_that_states_management_frames_gets_those_of_the_policy(tmp_path, name, policy, had):
    """OpenWrt's scripts give sae, sae-mixed and owe a value only where the file has none."""
    if (name, policy) == ("wpa_supplicant.conf", "wpa2-wpa3-psk-transition"):
        pytest.skip("a station has one side of a transition alone")
    line = f"\toption ieee80211w '{had}'" if name == "wireless" else f"ieee80211w={had}"
    before = {
        "wireless": FILES[name] + line + "\n",
        "hostapd.conf": FILES[name] + line + "\n",
        "wpa_supplicant.conf": FILES[name].replace("    psk", f"    {line}\n    psk", 1),
    }[name]
    path = tmp_path / name
    path.write_text(before)
    arguments = ["policies", "show", policy, "--from", str(path), "--ssid", "Casa"]
    shown = CliRunner().invoke(app, arguments)
    assert shown.exit_code == 0, shown.exception
    lines = [one.strip() for one in shown.stdout.splitlines() if "ieee80211w" in one]
    (only,) = lines
    assert re.fullmatch(r"\D+80211w\D+(\d)'?", only)[1] == PMF[resolve(policy).link.pmf]
    path.write_text(shown.stdout)
    found = next(one for one in read(str(path)) if one.name == "Casa")
    assert found.pmf == resolve(policy).link.pmf
    assert not found.contradictions


def test_sae_of_openwrt_with_optional_management_frames_is_a_contradiction(tmp_path):
    path = tmp_path / "wireless"
    for code, pmf in (("0", "off"), ("1", "optional")):
        text = FILES["wireless"].replace("'psk2'", "'sae'") + f"\toption ieee80211w '{code}'\n"
        path.write_text(text)
        (found,) = read(str(path))
        assert (found.policy, found.pmf) == ("wpa3-sae-ccmp", pmf)
        assert any("protected management frames" in words for words in found.contradictions)
    path.write_text(FILES["wireless"].replace("'psk2'", "'sae'"))
    (found,) = read(str(path))
    assert (found.pmf, found.contradictions) == ("required", ())


def test_a_raw_psk_is_no_passphrase_of_sae(tmp_path):
    _, lines = changed_file(tmp_path, "wpa_supplicant.conf", "wpa3-sae-ccmp", "--ssid", "work")
    assert '    sae_password="PASSPHRASE"' in lines
    _, lines = changed_file(tmp_path, "wpa_supplicant.conf", "wpa3-sae-ccmp", "--ssid", "Casa")
    assert not any("sae_password" in line for line in lines)


def test_a_file_with_several_networks_asks_for_one(tmp_path):
    path = tmp_path / "wpa_supplicant.conf"
    path.write_text(FILES["wpa_supplicant.conf"])
    arguments = ["policies", "show", "wpa3-sae-ccmp", "--from", str(path)]
    made = CliRunner().invoke(app, arguments)
    assert "say --ssid: Casa, work" in str(made.exception)
    made = CliRunner().invoke(app, [*arguments, "--openwrt"])
    assert "no such file" in str(made.exception)


@pytest.mark.parametrize(
    ("profile", "mode", "band"), [("mt7621", "VHT80", "5g"), ("esp32", "HT20", "2g")]
)
def test_openwrt_of_a_router_has_its_radio(profile, mode, band):
    arguments = ["policies", "show", "wpa3-sae-ccmp", "--openwrt"]
    shown = CliRunner().invoke(app, [*arguments, "--profile", profile])
    assert f"option htmode '{mode}'" in shown.stdout
    assert f"option band '{band}'" in shown.stdout
    assert "Examples" not in shown.stdout
    assert "# Examples: the values of wifi-device" in CliRunner().invoke(app, arguments).stdout


TWO_BANDS = f"""\
config wifi-device 'radio0'
	option band '5g'
	option channel '36'
	option htmode 'HE80'
config wifi-iface 'lower'
	option device 'radio0'
	option mode 'ap'
	option ssid 'Casa'
	option encryption 'psk2'
	option key '{SECRET}'
config wifi-device 'radio1'
	option band '6g'
	option channel '37'
	option htmode 'HE80'
config wifi-iface 'upper'
	option device 'radio1'
	option mode 'ap'
	option ssid 'Casa'
	option encryption 'sae'
	option key '{SECRET}'
"""


def on_bands(tmp_path, policy, *more):
    path = tmp_path / "wireless"
    path.write_text(TWO_BANDS)
    return CliRunner().invoke(app, ["policies", "show", policy, "--from", str(path), *more])


def test_one_band_of_a_file_is_changed(tmp_path):
    made = on_bands(tmp_path, "wpa2-wpa3-psk-transition", "--band", "5")
    old, new = TWO_BANDS.splitlines(), made.stdout.splitlines()
    assert [b for a, b in zip(old, new, strict=True) if a != b] == [
        "\toption encryption 'sae-mixed'"
    ]


@pytest.mark.parametrize(
    ("policy", "reason"),
    [
        ("wpa2-psk-ccmp", "6 GHz takes WPA3 or OWE alone"),
        ("wpa2-wpa3-psk-transition", "6 GHz takes no transition mode"),
    ],
)
def test_6_ghz_takes_no_older_policy(tmp_path, policy, reason):
    for more in (("--band", "6"), ()):
        words = str(on_bands(tmp_path, policy, *more).exception)
        assert f"{policy}: not at 6 GHz: {reason}" in words
        assert ("--band 5 changes the other radio alone" in words) is not bool(more)
    assert on_bands(tmp_path, "wpa3-sae-ccmp", "--band", "6").exit_code == 0


def test_a_band_that_the_file_lacks_is_refused(tmp_path):
    assert "has 5 GHz, 6 GHz" in str(on_bands(tmp_path, "wpa3-sae-ccmp", "--band", "2.4").exception)
    made = CliRunner().invoke(app, ["policies", "show", "wpa3-sae-ccmp", "--band", "5"])
    assert "--band: needs --from" in str(made.exception)


def read_back(tmp_path, name, text):
    path = tmp_path / name
    path.write_text(text)
    return read(str(path))


@pytest.mark.parametrize("name", ["wireless", "hostapd.conf"])
@pytest.mark.parametrize("second", ["wpa2-psk-ccmp", "wpa2-eap-peap-ccmp", "wpa2-psk-gcmp-256"])
def test_a_file_has_a_second_ssid_after_the_first(tmp_path, name, second):
    """Its passphrase is not that of the first, of which it gives a handshake to try it off-line."""
    _, lines = changed_file(tmp_path, name, "wpa3-sae-ccmp", "--second-ssid", second)
    first, other = read_back(tmp_path, name, "\n".join(lines) + "\n")
    assert (first.name, first.policy) == ("Casa", "wpa3-sae-ccmp")
    assert (other.name, other.band) == ("SECOND-SSID", first.band)
    assert second in other.candidates
    assert not other.contradictions
    assert sum(SECRET in line for line in lines) == 1


def test_a_second_ssid_has_the_radius_server_of_the_file(tmp_path):
    path = tmp_path / "hostapd.conf"
    server = "ieee8021x=1\nauth_server_addr=198.51.100.7\nauth_server_shared_secret=of-the-server\n"
    text = FILES["hostapd.conf"].replace("WPA-PSK", "WPA-EAP") + server
    path.write_text(text + "bridge=br-lan\n")
    arguments = ["policies", "show", "wpa3-eap-tls-ccmp", "--from", str(path)]
    made = CliRunner().invoke(app, [*arguments, "--second-ssid", "wpa2-eap-tls-ccmp"])
    added = made.stdout.partition("# A second SSID")[2].splitlines()
    assert "bss=wlan0_1" in added
    for line in ("bridge=br-lan", *server.splitlines()):
        assert line in added


def test_a_second_ssid_is_on_each_radio_that_takes_it(tmp_path):
    made = on_bands(tmp_path, "wpa3-sae-ccmp", "--second-ssid", "wpa2-psk-ccmp")
    found = read_back(tmp_path, "wireless", made.stdout)
    assert [(one.name, one.band) for one in found] == [
        ("Casa", "5"), ("Casa", "6"), ("SECOND-SSID", "5"),
    ]  # fmt: skip
    alone = on_bands(tmp_path, "wpa3-sae-ccmp", "--second-ssid", "wpa2-psk-ccmp", "--band", "6")
    assert "not at 6 GHz" in str(alone.exception)
    (tmp_path / "again").write_text(made.stdout)
    arguments = ["policies", "show", "wpa3-sae-ccmp", "--from", str(tmp_path / "again"), "--ssid"]
    again = CliRunner().invoke(app, [*arguments, "Casa", "--second-ssid", "owe-ccmp"])
    assert "give SECOND-SSID its name first" in str(again.exception)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--wpa-supplicant", "--second-ssid", "wpa2-psk-ccmp"], "is of a station"),
        (["--second-ssid", "wpa2-psk-ccmp"], "needs --hostapd, --openwrt or --from"),
        (["--hostapd", "--second-ssid", "wep-40"], "no second SSID in the file of hostapd means"),
        (["--hostapd", "--second-ssid", "mac-acl"], "a list of stations goes with no second SSID"),
    ],
)
def test_a_second_ssid_that_no_file_has_is_refused(arguments, words):
    made = CliRunner().invoke(app, ["policies", "show", "wpa3-sae-ccmp", *arguments])
    assert words in str(made.exception)
    assert not made.stdout
