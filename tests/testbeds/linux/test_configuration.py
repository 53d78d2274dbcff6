"""Every policy of the catalogue has a configuration for both sides, or a reason why not."""

from __future__ import annotations

import asyncio
import functools
import itertools

import pytest

from airtoll.network.hostap import CIPHERS, KEY_MANAGEMENT
from airtoll.policies import catalogue, resolve
from airtoll.testbeds.linux.capability import CAPABILITY
from airtoll.testbeds.linux.daemons import (
    credentials,
    freeradius,
    hostapd,
    strongswan,
    wpa_supplicant,
)
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts import cables

VERSION = (2, 10)
NAMES = [policy.name for policy in catalogue()]
FILES = wpa_supplicant.Files("/r/ca.pem", "/r/client.pem", "/r/client.key")
RADIUS = hostapd.RadiusAddress("10.77.0.1", 1812, "10.77.0.2")
REASONS = {
    "wep-104-auth": "shared-key authentication only",
    "wpa3-sae-ext-gcmp-256": "no AKM sae-ext-key",
    "tsn-wep-104": "TSN",
    "wpa2-wpa3-psk-compatibility": "RSN overriding",
    "owe-transition": "the open BSS beside that of OWE",
    "openvpn": "OpenVPN is not set up",
}


@functools.cache
def secret() -> Credentials:
    return credentials.fresh()


def both(name: str) -> tuple[list[str], list[str]]:
    policy = resolve(name)
    ap = hostapd.configuration(
        policy, secret(), hostapd.Radio("wlan0", bridge="br0"), "/r/ctl", radius=RADIUS
    )
    station = wpa_supplicant.configuration(policy, secret(), "/r/wpa", FILES, (2412,))
    return ap.splitlines(), [line.strip() for line in station.splitlines()]


@pytest.mark.parametrize("name", NAMES)
def test_both_sides_agree_or_the_policy_is_refused(name: str) -> None:
    policy = resolve(name)
    reason = CAPABILITY.why_not_policy(policy, VERSION)
    if name in REASONS:
        assert reason is not None
        assert REASONS[name] in reason
        return
    # The configurations are right also where only the RADIUS server is missing.
    assert reason is None or reason.startswith("FreeRADIUS")
    ap, station = both(name)
    assert f"ssid={secret().ssid}" in ap
    assert f'ssid="{secret().ssid}"' in station
    link = policy.link
    if link.akm is not None:
        word = KEY_MANAGEMENT[link.akm]
        offered = next(line for line in ap if line.startswith("wpa_key_mgmt=")).split("=")[1]
        assert word in offered.split()
        assert f"key_mgmt={word}" in station
        cipher = CIPHERS[link.cipher]
        assert f"pairwise={cipher}" in station
        assert any(line.endswith(f"_pairwise={cipher}") for line in ap)
    secured = link.encrypts_data and link.akm is None and not link.dynamic_wep
    assert any(line.startswith("wep_key0=") for line in ap) == (
        secured or (link.eap_method == "leap" and link.dynamic_wep)
    )
    assert any(line.startswith("wep_key0=") for line in station) == secured
    assert ("ieee8021x=1" in ap) == (link.eap_method is not None)
    if link.pmf == "required":
        assert "ieee80211w=2" in ap
        assert "ieee80211w=2" in station


def test_dynamic_wep_is_handed_out_by_hostapd_and_by_leap_itself() -> None:
    ap, station = both("8021x-peap+wep-104")
    assert "wep_key_len_unicast=13" in ap
    assert "eapol_flags=3" in station
    ap, _ = both("8021x-leap+wep-104")
    assert "driver_params=control_port=0" in ap
    assert f"wep_key0={secret().wep_104}" in ap


def test_key_holders_of_a_mobility_domain_push_keys_to_each_other() -> None:
    def lines(policy: str) -> list[str]:
        text = hostapd.configuration(
            resolve(policy),
            secret(),
            hostapd.Radio("wlan0"),
            "/r/ctl",
            identifier="ap2",
            bssid="02:00:00:00:01:00",
            key_holders={"ap1": "02:00:00:00:00:00", "ap2": "02:00:00:00:01:00"},
        )
        return text.splitlines()

    domain, key = lines("wpa3-ft-sae-ccmp"), secret().rrb_key
    assert "pmk_r1_push=1" in domain
    assert "r1_key_holder=020000000100" in domain
    assert [line for line in domain if line.startswith(("r0kh=", "r1kh="))] == [
        f"r0kh=02:00:00:00:00:00 ap1 {key}",
        f"r1kh=02:00:00:00:00:00 02:00:00:00:00:00 {key}",
    ]
    assert not any("kh=" in line or "pmk_r1" in line for line in lines("wpa3-sae-ccmp"))


def test_192_bit_mode_takes_its_own_suites() -> None:
    ap, station = both("wpa3-eap-tls-gcmp-256")
    assert "wpa_key_mgmt=WPA-EAP-SUITE-B-192" in ap
    assert "group_mgmt_cipher=BIP-GMAC-256" in ap
    assert "group_mgmt=BIP-GMAC-256" in station
    assert 'openssl_ciphers="ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"' in station


def test_a_fixed_rate_is_the_only_one_offered() -> None:
    text = hostapd.configuration(
        resolve("open"), secret(), hostapd.Radio("wlan0", phy="802.11b", rate_mbps=5.5), "/r/ctl"
    )
    assert "supported_rates=55\nbasic_rates=55\n" in text
    assert "hw_mode=b\n" in text


def test_an_access_point_announces_its_country() -> None:
    radio = hostapd.Radio("wlan0", country="DE")
    text = hostapd.configuration(resolve("open"), secret(), radio, "/r/ctl")
    assert "country_code=DE\nieee80211d=1\n" in text


@pytest.mark.parametrize(
    ("name", "validated"), [("wpa3-sae-ccmp", True), ("wpa2-psk-ccmp", False), ("open", False)]
)
def test_channels_are_validated_where_management_frames_are_protected(
    name: str, validated: bool
) -> None:
    policy = resolve(name)
    radio = hostapd.Radio("wlan0", channel_validation=True)
    ap = hostapd.configuration(policy, secret(), radio, "/r/ctl")
    station = wpa_supplicant.configuration(
        policy, secret(), "/r/wpa", FILES, (2412,), channel_validation=True
    )
    assert ("ocv=1" in ap.splitlines()) is validated
    assert ("\tocv=1" in station.splitlines()) is validated
    assert not any("ocv=1" in line for text in both(name) for line in text)


def test_credentials_are_fresh_and_survive_the_journey() -> None:
    one, other = secret(), credentials.fresh()
    assert Credentials.from_json(one.to_json()) == one
    for name in ("ssid", "passphrase", "wep_40", "wep_104", "password", "radius_secret"):
        assert getattr(one, name) != getattr(other, name)
    assert one.eap["rsa2048"].server_key != other.eap["rsa2048"].server_key
    assert len(bytes.fromhex(one.wep_104)) == 13
    assert 8 <= len(one.passphrase) <= 63


def test_certificates_are_signed_by_the_run_and_for_their_use() -> None:
    from cryptography import x509
    from cryptography.x509.oid import ExtendedKeyUsageOID

    for chain in (*secret().eap.values(), secret().dns):
        root = x509.load_pem_x509_certificate(chain.authority.encode())
        for text, usage in (
            (chain.server, ExtendedKeyUsageOID.SERVER_AUTH),
            (chain.client, ExtendedKeyUsageOID.CLIENT_AUTH),
        ):
            leaf, *issuing = x509.load_pem_x509_certificates(text.encode())
            assert len(issuing) == (chain != secret().dns)
            for issued, issuer in itertools.pairwise((leaf, *issuing, root)):
                issued.verify_directly_issued_by(issuer)
            extension = leaf.extensions.get_extension_for_class(x509.ExtendedKeyUsage)
            assert usage in extension.value


@pytest.mark.parametrize(
    ("name", "ike", "esp", "version"),
    [
        ("ipsec-3des-md5", "3des-md5-modp1024", "3des-md5", 1),
        ("ipsec-3des-sha1-ikev2", "3des-sha1-modp1024", "3des-sha1", 2),
        ("ipsec-aes-cbc-sha1", "aes128-sha256-modp2048", "aes128-sha1", 2),
        ("ipsec-aes-gcm", "aes128-sha256-modp2048", "aes128gcm16", 2),
        ("ipsec-null-sha1", "aes128-sha256-modp2048", "null-sha1", 2),
    ],
)
def test_tunnels_propose_what_the_policy_says(name: str, ike: str, esp: str, version: int) -> None:
    tunnel = resolve(name).tunnels[0]
    assert strongswan.proposals(tunnel) == (ike, esp)
    ends = [
        strongswan.End(None, who, f"10.77.0.{n}", (f"10.78.0.{n}/32", f"fd78::{n}/128"))  # type: ignore[arg-type]
        for n, who in ((11, "sta1"), (1, "srv"))
    ]
    connection = strongswan.Connection(tunnel, ends[0], ends[1])
    text = strongswan.configuration([(connection, True)], "secret")
    assert f"version = {version}\n" in text
    assert f"proposals = {ike}\n" in text
    assert ("fd78::11/128" in text) == (version == 2)
    local, remote = (text.index(word) for word in ("local_addrs = 10.77.0.11", "remote_addrs"))
    assert local < remote
    other = strongswan.configuration([(connection, False)], "secret")
    assert "local_addrs = 10.77.0.1\n" in other


def test_a_host_may_be_the_end_of_several_tunnels() -> None:
    tunnel = resolve("ipsec-aes-gcm").tunnels[0]

    def end(number: int, who: str) -> strongswan.End:
        return strongswan.End(None, who, f"10.77.0.{number}", (f"10.78.0.{number}/32",))  # type: ignore[arg-type]

    server = end(1, "srv")
    known = [strongswan.Connection(tunnel, end(n, f"sta{n}"), server) for n in (1, 2)]
    text = strongswan.configuration([(connection, False) for connection in known], "secret")
    for name in ("sta1-srv", "sta2-srv"):
        assert text.count(f"  {name} {{\n") == 2  # the connection and its child
        assert f"  ike-{name} {{\n" in text
    assert text.count("{") == text.count("}")


def test_radius_folder_names_only_the_run() -> None:
    files = freeradius.files(
        "/r", secret(), secret().eap["rsa2048"], port=1812, network="10.77.0.0/24", method="peap"
    )
    text = files["radiusd.conf"]
    # Another first offer would cost a NAK in every join.
    assert "    eap {\n        default_eap_type = peap\n" in text
    assert "/etc" not in "".join(files.values())
    assert f"secret = {secret().radius_secret}" in text
    # FreeRADIUS takes no block on a single line.
    assert all(not ("{" in line and "}" in line) for line in text.splitlines())
    assert text.count("{") == text.count("}")


def test_channels() -> None:
    found = [hostapd.frequency_mhz(channel) for channel in (1, 6, 13, 14, 36, 165)]
    assert found == [2412, 2437, 2472, 2484, 5180, 5825]
    radio = hostapd.Radio("wlan0", phy="802.11n", channel=36)
    assert "hw_mode=a\n" in hostapd.configuration(resolve("open"), secret(), radio, "/r/ctl")


def test_only_an_access_point_of_bridges_takes_four_addresses() -> None:
    def lines(four: bool) -> list[str]:
        radio = hostapd.Radio("wlan0", bridge="br0", four_address=four)
        text = hostapd.configuration(resolve("wpa2-psk-ccmp"), secret(), radio, "/r/ctl")
        return text.splitlines()

    assert set(lines(four=True)) - set(lines(four=False)) == {"wds_sta=1"}


def test_a_cable_has_the_rate_of_an_ethernet() -> None:
    cable = cables.Cable(100e6, 5e-6, 1000)
    assert " ".join(cables.arguments(cable, "sw0")) == (
        "tc qdisc replace dev sw0 root netem limit 1000 delay 5.000us rate 100000000bit 24"
    )


def test_a_cable_loses_packets() -> None:
    words = cables.arguments(cables.Cable(100e6, 0.05, 1000, loss_ratio=0.02), "sw0")
    assert "delay 50000.000us loss 2% rate" in " ".join(words)


class Answers:
    """A control interface with prepared answers, the last one for ever."""

    def __init__(self, *answers: dict[str, str]) -> None:
        self.left = ["".join(f"{key}={value}\n" for key, value in one.items()) for one in answers]

    async def request(self, command: str) -> str:
        assert command == "STATUS"
        return self.left.pop(0) if len(self.left) > 1 else self.left[0]


PORT = "Supplicant PAE state"
LINKED = {"wpa_state": "COMPLETED", "key_mgmt": "WPA2/IEEE 802.1X/EAP"}


@pytest.mark.parametrize(
    ("answers", "state"),
    [
        # The supplicant reports the link a moment before its port opens.
        (({PORT: "AUTHENTICATING"}, {PORT: "AUTHENTICATED"}), "AUTHENTICATED"),
        (({PORT: "HELD"}, {PORT: "AUTHENTICATED"}), "HELD"),
        (
            ({PORT: "AUTHENTICATING", "key_mgmt": "WPA2-PSK"}, {PORT: "AUTHENTICATED"}),
            "AUTHENTICATING",
        ),
    ],
)
def test_a_port_of_802_1x_that_is_about_to_open_is_waited_for(
    answers: tuple[dict[str, str], ...], state: str
) -> None:
    control = Answers(*({**LINKED, **one} for one in answers))
    station = wpa_supplicant.Station(None, "wlan0", None, control)  # type: ignore[arg-type]
    assert asyncio.run(station.connected(5.0))[PORT] == state
