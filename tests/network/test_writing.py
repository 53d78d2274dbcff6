"""Files of policies, read back: what is written means the policy."""

import pytest
from typer.testing import CliRunner

from airtoll.cli.app import app
from airtoll.errors import PolicyError
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
