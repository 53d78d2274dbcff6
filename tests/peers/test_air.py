"""Our station with hostapd and our access point with wpa_supplicant, on virtual radios in a guest.

``air.py`` runs in the guest and carries the frames; here is what either end is given, and what both
must say afterwards.
"""

from __future__ import annotations

import fcntl
import json
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Final, NamedTuple

import pytest
from cryptography.hazmat.primitives.keywrap import aes_key_unwrap

from airtoll.testbeds.guest import drivers
from airtoll.testbeds.guest.contract import Guest
from airtoll.testbeds.linux.daemons.credentials import USER

pytestmark = pytest.mark.guest

PROGRAM: Final = Path(__file__).parent / "air.py"
PASSWORD: Final = "correct horse"
FIRST, SECOND, OURS = (f"02:00:00:00:0{number}:00" for number in range(3))
#: Where the program in the guest keeps its files.
FOLDER: Final = "/run/airtoll-air"
#: The key between the two access points' key holders.
HOLDERS: Final = "000102030405060708090a0b0c0d0e0f"
DOMAIN: Final = {
    "identifier": [0xA1, 0xB2],
    "r0_key_holder": list(b"ap1"),
    "over_the_ds": True,
}
CIPHERS: Final = {"ccmp-128": "CCMP", "gcmp-256": "GCMP-256"}
KEY_MANAGEMENT: Final = {
    "802.1x": "WPA-EAP",
    "802.1x-sha256": "WPA-EAP-SHA256",
    "802.1x-suite-b-192": "WPA-EAP-SUITE-B-192",
    "ft-802.1x-sha384": "FT-EAP-SHA384",
    "psk": "WPA-PSK",
    "psk-sha256": "WPA-PSK-SHA256",
    "sae": "SAE",
    "owe": "OWE",
    "ft-psk": "FT-PSK",
    "ft-sae": "FT-SAE",
    "ft-802.1x": "FT-EAP",
}
PROTECTION: Final = ("off", "optional", "required")


class Network(NamedTuple):
    """Settings of both ends. ``pmf``: 0 off, 1 optional, 2 required. ``channel``: operating channel
    information of our end, with which both validate the channel.
    """

    akm: str
    group: int = 19
    further: tuple[int, ...] = ()
    h2e: bool = False
    pmf: int = 0
    password: str = PASSWORD
    identifier: str | None = None
    cipher: str = "ccmp-128"
    channel: tuple[int, int, int] | None = None
    beacon_protection: bool = False

    def link(self, station: str, access_point: str) -> dict[str, Any]:
        """The link as our state machines take it."""
        ft = self.akm.startswith("ft-")
        return {
            "ssid": "airtoll",
            "station": station,
            "access_point": access_point,
            "akm": self.akm,
            "pairwise": self.cipher,
            "group": self.cipher,
            "protection": PROTECTION[self.pmf],
            "hash_to_element": self.h2e,
            "mobility_domain": DOMAIN if ft else None,
            "operating_channel": self.channel,
            "beacon_protection": self.beacon_protection,
        }

    def stages(self) -> list[dict[str, Any]]:
        """The stages of an association, each without its link."""
        groups = {"group": self.group, "further_groups": list(self.further)}
        opens: list[dict[str, Any]] = [{"stage": "authentication"}, {"stage": "association"}]
        if self.akm in ("sae", "ft-sae"):
            sae = {"stage": "sae", "password": self.password, **groups}
            opens[0] = sae if self.identifier is None else {**sae, "identifier": self.identifier}
        if self.akm == "owe":
            opens[1] = {"stage": "owe", **groups}
        return [*opens, {"stage": "keys", **self.master()}]

    def master(self) -> dict[str, Any]:
        """Where the keys come from, if not from a stage before."""
        return {"master": {"passphrase": self.password}} if "psk" in self.akm else {}


def both_ends(network: Network) -> list[str]:
    """Lines that hostapd and a network of wpa_supplicant have in common."""
    stated = {"ocv=1": network.channel is not None, "beacon_prot=1": network.beacon_protection}
    return [line for line, wanted in stated.items() if wanted]


def hostapd(network: Network, number: int = 0, *more: str) -> str:
    """The configuration of the access point with this number."""
    lines = [
        f"interface=wlan{number}",
        "driver=nl80211",
        f"ctrl_interface={FOLDER}/hostapd",
        "ssid=airtoll",
        "channel=1",
        "hw_mode=g",
        "wpa=2",
        f"wpa_key_mgmt={KEY_MANAGEMENT[network.akm]}",
        f"rsn_pairwise={CIPHERS[network.cipher]}",
        f"ieee80211w={network.pmf}",
        f"nas_identifier=ap{number + 1}",
    ]
    if network.cipher == "gcmp-256" and network.pmf:
        lines.append("group_mgmt_cipher=BIP-GMAC-256")
    lines += both_ends(network)
    if "802.1x" in network.akm:
        lines += [
            "ieee8021x=1",
            "eap_server=1",
            f"eap_user_file={FOLDER}/users",
            f"ca_cert={FOLDER}/ca.pem",
            f"server_cert={FOLDER}/server.pem",
            f"private_key={FOLDER}/server.key",
        ]
    if "psk" in network.akm:
        lines.append(f"wpa_passphrase={network.password}")
    if "sae" in network.akm:
        name = "" if network.identifier is None else f"|id={network.identifier}"
        groups = " ".join(map(str, (network.group, *network.further)))
        lines += [f"sae_password={network.password}{name}", f"sae_groups={groups}"]
        lines.append(f"sae_pwe={int(network.h2e)}")
    if network.akm == "owe":
        lines.append(f"owe_groups={' '.join(map(str, (network.group, *network.further)))}")
    if network.akm.startswith("ft-"):
        own, other = (FIRST, SECOND) if number == 0 else (SECOND, FIRST)
        lines += [
            "mobility_domain=a1b2",
            "ft_over_ds=1",
            "pmk_r1_push=0",
            f"r1_key_holder={own.replace(':', '')}",
            f"r0kh={other} ap{2 - number} {HOLDERS}",
            f"r1kh={other} {other} {HOLDERS}",
        ]
    return "\n".join([*lines, *more, ""])


def wpa_supplicant(network: Network, *more: str) -> str:
    """The configuration of the station."""
    top = [f"ctrl_interface={FOLDER}/wpa_supplicant", f"sae_pwe={int(network.h2e)}"]
    top.append(f"sae_groups={' '.join(map(str, (network.group, *network.further)))}")
    lines = [
        'ssid="airtoll"',
        "scan_freq=2412",
        f"key_mgmt={KEY_MANAGEMENT[network.akm]}",
        "proto=RSN",
        f"pairwise={CIPHERS[network.cipher]}",
        f"group={CIPHERS[network.cipher]}",
        f"ieee80211w={network.pmf}",
    ]
    if network.cipher == "gcmp-256" and network.pmf:
        lines.append("group_mgmt=BIP-GMAC-256")
    lines += both_ends(network)
    if "802.1x" in network.akm:
        lines += [
            "eap=PEAP",
            f'identity="{USER}"',
            f'password="{PASSWORD}"',
            f'ca_cert="{FOLDER}/ca.pem"',
            'phase1="tls_disable_tlsv1_3=1"',
            'phase2="auth=MSCHAPV2"',
            'openssl_ciphers="DEFAULT"',
        ]
    if "psk" in network.akm:
        lines.append(f'psk="{network.password}"')
    if "sae" in network.akm:
        lines.append(f'sae_password="{network.password}"')
    if network.identifier is not None:
        lines.append(f'sae_password_id="{network.identifier}"')
    if network.akm == "owe" and not network.further:
        lines.append(f"owe_group={network.group}")
    return "\n".join([*top, "network={", *lines, *more, "}", ""])


@pytest.fixture(scope="module")
def guest(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Guest]:
    """One guest for the whole file, and no other of this folder beside it."""
    if not any(state.ready for state in drivers.states()):
        pytest.skip("needs a guest: airtoll guest build")
    with (Path(tempfile.gettempdir()) / "airtoll-guest-peers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        with drivers.make(tmp_path_factory.mktemp("share"), dilated=True) as one:
            yield one


@pytest.fixture
def play(guest: Guest, peers: Any, tmp_path: Path) -> Callable[..., dict[str, Any]]:
    """Plays a scene in the guest; gives what it saw."""
    peers.needs("hostapd", "wpa_supplicant", "iw", "modprobe")

    def run(**given: Any) -> dict[str, Any]:
        if "802.1x" in given["link"]["akm"]:
            stage, given["files"] = eap(peers)
            at = [stage["stage"] for stage in given["stages"]].index("keys")
            given["stages"] = [*given["stages"][:at], stage, *given["stages"][at:]]
        scene = json.dumps(given).encode()
        done = guest.run([sys.executable, str(PROGRAM)], stdin=scene, timeout_s=120)
        assert done.status == 0, done.stderr.decode(errors="replace")[-4000:]
        seen: dict[str, Any] = json.loads(done.stdout)
        (tmp_path / "daemon.log").write_text(seen["log"])
        return seen

    return run


def eap(peers: Any) -> tuple[dict[str, Any], dict[str, str]]:
    """An EAP stage with PEAP, and the files of a daemon for it."""
    given = peers.eap_settings("peap", "1.2", "rsa2048")
    stage = {name: value for name, value in given.items() if name != "handshake"}
    chain = peers.chain_of("rsa2048")
    files = {
        "ca.pem": chain.authority,
        "server.pem": chain.server,
        "server.key": chain.server_key,
        "users": f'"{given["identity"]}" PEAP\n'
        f'"{given["identity"]}" MSCHAPV2 "correct horse" [2]\n',
    }
    return {"stage": "eap", **stage}, files


def join(network: Network, *more: str, cells: int = 1, **given: Any) -> dict[str, Any]:
    """The scene of our station and hostapd, which has ``more`` in its configuration."""
    return {
        "scene": "join",
        "link": network.link(OURS, FIRST),
        "configurations": [hostapd(network, number, *more) for number in range(cells)],
        "stages": network.stages(),
        **given,
    }


def serve(network: Network, *more: str, **given: Any) -> dict[str, Any]:
    """The scene of our access point and wpa_supplicant."""
    return {
        "scene": "serve",
        "link": network.link(FIRST, OURS),
        "configurations": [wpa_supplicant(network, *more)],
        "stages": network.stages(),
        **given,
    }


def ends(seen: Mapping[str, Any], party: str) -> list[tuple[str, str]]:
    """Stage and how it ended for a party, in order."""
    return [(stage["stage"], stage["ends"][party]["status"]) for stage in seen["stages"]]


def established(stages: Sequence[Mapping[str, Any]]) -> list[tuple[str, str]]:
    return [(stage["stage"], "established") for stage in stages]


def secret(seen: Mapping[str, Any], stage: str, party: str, name: str) -> str:
    """A secret in hexadecimal digits."""
    (found,) = (one for one in seen["stages"] if one["stage"] == stage)
    return str(found["ends"][party]["secrets"][name])


def flags(seen: Mapping[str, Any], interface: str = "wlan0") -> str:
    """hostapd's status of our station."""
    lines = seen["asked"][interface]["STA"].splitlines()
    return next((line for line in lines if line.startswith("flags=")), "")


def dumped(octets: str) -> str:
    """Octets as the daemons' debug output prints them."""
    return " ".join(octets[at : at + 2] for at in range(0, len(octets), 2))


def counts(seen: Mapping[str, Any]) -> list[int]:
    return [len(stage["messages"]) for stage in seen["stages"]]


#: The rest of the groups and suites is for `make test-slow`: each is a scene of its own.
SLOW: Final = pytest.mark.slow
#: An emulated guest takes some ten seconds a scene: there `make test` plays one of each kind.
REST: Final = [SLOW] if drivers.is_emulated() else []


def rest(test: Any) -> Any:
    """Marks a test as one of the rest."""
    for mark in REST:
        test = mark(test)
    return test


H2E: Final = [pytest.param(False, marks=REST), True]
SAE: Final = [
    pytest.param(
        Network("sae", group, h2e=h2e, pmf=2),
        id=f"sae-{'h2e' if h2e else 'hnp'}-{group}",
        marks=REST * (not h2e or group != 19) if group == 19 or (h2e and group == 21) else SLOW,
    )
    for h2e in (False, True)
    for group in (19, 20, 21)
]
OWE: Final = [
    pytest.param(
        Network("owe", group, pmf=2),
        id=f"owe-{group}",
        marks={19: [], 20: [SLOW], 21: REST}[group],
    )
    for group in (19, 20, 21)
]
OTHERS: Final = [
    pytest.param(Network("psk"), id="psk", marks=REST),
    pytest.param(Network("psk-sha256", pmf=2), id="psk-sha256", marks=SLOW),
    pytest.param(Network("sae", pmf=2, cipher="gcmp-256"), id="sae-gcmp-256", marks=SLOW),
    pytest.param(Network("802.1x"), id="eap"),
    pytest.param(Network("802.1x-sha256", pmf=2), id="eap-sha256", marks=SLOW),
    pytest.param(
        Network("802.1x-suite-b-192", pmf=2, cipher="gcmp-256"), id="eap-suite-b-192", marks=REST
    ),
]


def exchanged(network: Network, seen: Mapping[str, Any]) -> None:
    """Every stage is established, and in as many frames as it takes."""
    count = {one["stage"]: len(one["messages"]) for one in seen["stages"]}
    usual = {"sae": 4, "authentication": 2, "association": 2, "owe": 2, "keys": 4}
    assert {name: n for name, n in count.items() if name != "eap"} == {
        stage["stage"]: usual[stage["stage"]] for stage in network.stages()
    }
    statuses = [end["status"] for one in seen["stages"] for end in one["ends"].values()]
    assert set(statuses) == {"established"}


@pytest.mark.parametrize("network", [*SAE, *OWE, *OTHERS])
def test_hostapd_authorises_our_station(play: Any, network: Network) -> None:
    seen = play(**join(network))
    exchanged(network, seen)
    assert "[AUTHORIZED]" in flags(seen)
    assert ("[MFP]" in flags(seen)) == bool(network.pmf)
    assert seen["asked"]["wlan0"]["GET_PMK"] == secret(seen, "keys", "station", "pmk")
    assert dumped(secret(seen, "keys", "station", "tk")[:32]) in seen["log"]


@pytest.mark.parametrize("network", [*SAE, *OWE, *OTHERS])
def test_wpa_supplicant_joins_our_access_point(play: Any, network: Network) -> None:
    seen = play(**serve(network))
    exchanged(network, seen)
    assert "wpa_state=COMPLETED" in seen["asked"]["STATUS"]
    assert dumped(secret(seen, "keys", "access-point", "pmk")) in seen["log"]
    assert dumped(secret(seen, "keys", "access-point", "tk")[:32]) in seen["log"]


@rest
def test_a_cached_pmk_needs_no_second_sae(play: Any) -> None:
    network = Network("sae", h2e=True)
    again = [{"stage": "authentication"}, {"stage": "association", "cached": True}]
    stages = [*network.stages(), {"stage": "leave"}, *again, {"stage": "keys"}]
    wanted = established([*network.stages(), *again, {"stage": "keys"}])
    seen = play(**join(network, stages=stages))
    assert ends(seen, "station") == wanted
    assert counts(seen)[3:] == [2, 2, 4]
    assert "[AUTHORIZED]" in flags(seen)
    assert "PMKID found from PMKSA cache" in seen["log"]
    seen = play(**serve(network, stages=stages))
    assert ends(seen, "access-point") == wanted
    assert counts(seen)[3:] == [2, 2, 4]
    assert "wpa_state=COMPLETED" in seen["asked"]["STATUS"]


@rest
@pytest.mark.parametrize("network", [Network("psk"), Network("sae", pmf=2)], ids=["psk", "sae-pmf"])
def test_hostapd_renews_our_station_s_group_keys(play: Any, network: Network) -> None:
    # Under the temporal key, both ways.
    stages = [*network.stages(), {"stage": "rekey"}]
    seen = play(**join(network, stages=stages))
    assert [stage["stage"] for stage in seen["stages"]] == [one["stage"] for one in stages]
    assert counts(seen)[-1] == 2
    before, after = (stage["ends"]["station"]["secrets"] for stage in seen["stages"][-2:])
    assert before["gtk"] != after["gtk"]
    assert dumped(after["gtk"]) in seen["log"]
    assert "group key handshake completed" in seen["log"]
    assert ("igtk" in after) == bool(network.pmf)
    assert before.get("igtk") != after.get("igtk") or not network.pmf


@pytest.mark.parametrize("h2e", H2E)
def test_hostapd_s_anti_clogging_token_is_shown(play: Any, h2e: bool) -> None:
    network = Network("sae", h2e=h2e, pmf=2)
    seen = play(**join(network, "sae_anti_clogging_threshold=0"))
    assert ends(seen, "station") == established(network.stages())
    assert counts(seen)[0] == 6
    assert "SAE: Request anti-clogging token" in seen["log"]
    assert "[AUTHORIZED]" in flags(seen)


@rest
@pytest.mark.parametrize("h2e", H2E)
def test_wpa_supplicant_shows_our_anti_clogging_token(play: Any, h2e: bool) -> None:
    network = Network("sae", h2e=h2e, pmf=2)
    stages = network.stages()
    stages[0]["anti_clogging"] = True
    seen = play(**serve(network, stages=stages))
    assert ends(seen, "access-point") == established(stages)
    assert counts(seen)[0] == 6
    assert "wpa_state=COMPLETED" in seen["asked"]["STATUS"]


@rest
@pytest.mark.parametrize("h2e", H2E)
def test_our_station_tries_the_groups_that_hostapd_takes(play: Any, h2e: bool) -> None:
    # With hash-to-element the refused groups are part of the keys.
    ours = Network("sae", 21, (20, 19), h2e=h2e, pmf=2)
    configuration = hostapd(ours._replace(group=19, further=()))
    seen = play(**join(ours, configurations=[configuration]))
    assert ends(seen, "station") == established(ours.stages())
    assert counts(seen)[0] == 8
    assert seen["asked"]["wlan0"]["GET_PMK"] == secret(seen, "keys", "station", "pmk")
    # And with none in common it says so.
    ours = ours._replace(further=(20,))
    seen = play(**join(ours, configurations=[configuration]))
    end = seen["stages"][-1]["ends"]["station"]
    assert (end["why"], end["code"]) == ("nothing-in-common", ["status", 77])


@rest
@pytest.mark.parametrize("h2e", H2E)
def test_wpa_supplicant_tries_the_groups_that_we_take(play: Any, h2e: bool) -> None:
    theirs = Network("sae", 21, (20, 19), h2e=h2e, pmf=2)
    ours = theirs._replace(group=19, further=())
    seen = play(**serve(ours, configurations=[wpa_supplicant(theirs)]))
    assert ends(seen, "access-point") == established(ours.stages())
    assert counts(seen)[0] == 8
    assert "wpa_state=COMPLETED" in seen["asked"]["STATUS"]


@rest
def test_owe_s_group_is_negotiated_with_either_peer(play: Any) -> None:
    first = Network("owe", 19, (20,), pmf=2)
    second = Network("owe", 20, pmf=2)
    seen = play(**join(first, configurations=[hostapd(second)]))
    assert ends(seen, "station") == established(first.stages())
    assert counts(seen) == [2, 4, 4]
    assert seen["asked"]["wlan0"]["GET_PMK"] == secret(seen, "keys", "station", "pmk")
    seen = play(**serve(first, configurations=[wpa_supplicant(second)]))
    assert ends(seen, "access-point") == established(first.stages())
    assert counts(seen) == [2, 2, 4]
    assert "wpa_state=COMPLETED" in seen["asked"]["STATUS"]


@rest
def test_a_password_identifier_is_known_or_is_status_123(play: Any) -> None:
    staff = Network("sae", h2e=True, pmf=2, identifier="staff")
    seen = play(**join(staff))
    assert ends(seen, "station") == established(staff.stages())
    assert "[AUTHORIZED]" in flags(seen)
    seen = play(**serve(staff))
    assert ends(seen, "access-point") == established(staff.stages())
    assert "wpa_state=COMPLETED" in seen["asked"]["STATUS"]
    guests = staff._replace(identifier="guests")
    seen = play(**join(staff, configurations=[hostapd(guests)]))
    end = seen["stages"][-1]["ends"]["station"]
    assert (end["why"], end["code"]) == ("wrong-passphrase", ["status", 123])
    assert "[AUTHORIZED]" not in flags(seen)


@pytest.mark.parametrize("h2e", H2E)
def test_a_wrong_sae_password_is_refused_at_either_end(play: Any, h2e: bool) -> None:
    right = Network("sae", h2e=h2e, pmf=2)
    wrong = right._replace(password="wrong horse")
    seen = play(**join(wrong, configurations=[hostapd(right)]))
    end = seen["stages"][-1]["ends"]["station"]
    assert (len(seen["stages"]), end["why"]) == (1, "wrong-passphrase")
    # hostapd 2.10 says "unspecified" where later ones, and ours, say "challenge failure".
    assert end["code"] in (["status", 1], ["status", 15])
    assert "[AUTHORIZED]" not in flags(seen)
    seen = play(**serve(right, configurations=[wpa_supplicant(wrong)]))
    end = seen["stages"][-1]["ends"]["access-point"]
    assert (len(seen["stages"]), end["why"]) == (1, "wrong-passphrase")
    assert end["code"] == ["status", 15]
    assert "wpa_state=COMPLETED" not in seen["asked"]["STATUS"]


@rest
def test_a_wrong_passphrase_is_reason_15(play: Any) -> None:
    right = Network("psk")
    wrong = right._replace(password="wrong horse")
    seen = play(**join(wrong, configurations=[hostapd(right, 0, "wpa_pairwise_update_count=2")]))
    end = seen["stages"][-1]["ends"]["station"]
    assert (end["why"], end["code"]) == ("wrong-passphrase", ["reason", 15])
    assert "[AUTHORIZED]" not in flags(seen)


@rest
def test_message_3_may_disable_transition_modes(play: Any) -> None:
    network = Network("sae", h2e=True, pmf=2)
    plain, told = (play(**join(network, *more)) for more in ((), ("transition_disable=0x01",)))
    for seen in (plain, told):
        assert ends(seen, "station") == established(network.stages())
        assert "[AUTHORIZED]" in flags(seen)
    lengths = [len(seen["stages"][-1]["messages"][2][3]) // 2 for seen in (plain, told)]
    # The KDE has 7 octets, and key wrap pads to 8.
    assert lengths[1] == lengths[0] + 8


#: Channel 1 of 2.4 GHz, 20 MHz wide, which the radios are on; with 40 MHz; another channel.
ON_AIR: Final = (81, 1, 0)
WIDER: Final = (83, 1, 0)
ELSEWHERE: Final = (81, 6, 0)
VALIDATES: Final = Network("sae", h2e=True, pmf=2, channel=ON_AIR)


def key_data(frame: str, kek: str, mic_octets: int = 16) -> bytes:
    """Key data of an EAPOL-Key frame, decrypted where they are encrypted (802.11-2020, 12.7.2)."""
    octets = bytes.fromhex(frame)
    information = int.from_bytes(octets[5:7], "big")
    data = octets[4 + 77 + mic_octets + 2 :]
    # The bit Encrypted Key Data, and RFC 3394.
    return aes_key_unwrap(bytes.fromhex(kek), data) if information & 0x1000 else data


def kdes(data: bytes, kind: int) -> list[bytes]:
    """The bodies of the KDEs of a type in key data."""
    found = []
    while len(data) >= 2 and data[1] > 0:
        whole, data = data[: 2 + data[1]], data[2 + data[1] :]
        if whole[0] == 0xDD and whole[2:6] == bytes([0x00, 0x0F, 0xAC, kind]):
            found.append(whole[6:])
    return found


def channels(seen: Mapping[str, Any], party: str, stage: str) -> list[list[bytes]]:
    """Operating channel information in each message of a key handshake."""
    kek = secret(seen, "keys", party, "kek")
    (found,) = (one for one in seen["stages"] if one["stage"] == stage)
    return [kdes(key_data(message[3], kek), 13) for message in found["messages"]]


def test_hostapd_and_our_station_validate_the_channel(play: Any) -> None:
    seen = play(**join(VALIDATES, stages=[*VALIDATES.stages(), {"stage": "rekey"}]))
    assert ends(seen, "station")[:-1] == established(VALIDATES.stages())
    assert "[AUTHORIZED]" in flags(seen)
    beacon = bytes.fromhex(seen["beacons"][FIRST])
    # Capabilities of the RSN element: MFPR, MFPC and OCVC.
    assert bytes([0xC0, 0x40]) in beacon
    oci = bytes(ON_AIR)
    assert channels(seen, "station", "keys") == [[], [oci], [oci], []]
    assert channels(seen, "station", "rekey") == [[oci], [oci]]
    assert "group key handshake completed" in seen["log"]
    assert "OCV failed" not in seen["log"]


def test_wpa_supplicant_and_our_access_point_validate_the_channel(play: Any) -> None:
    seen = play(**serve(VALIDATES))
    assert ends(seen, "access-point") == established(VALIDATES.stages())
    assert "wpa_state=COMPLETED" in seen["asked"]["STATUS"]
    oci = bytes(ON_AIR)
    assert channels(seen, "access-point", "keys") == [[], [oci], [oci], []]
    assert "OCV-FAILURE" not in seen["log"]


@rest
def test_key_messages_with_channel_validation_are_as_long_as_the_daemons(play: Any) -> None:
    lengths = {}
    for scene in (join, serve):
        for network in (VALIDATES, VALIDATES._replace(channel=None)):
            seen = play(**scene(network))
            (keys,) = (one for one in seen["stages"] if one["stage"] == "keys")
            messages = [len(message[3]) // 2 for message in keys["messages"]]
            lengths[scene.__name__, network.channel is not None] = messages
    for one in ("join", "serve"):
        grown = [a - b for a, b in zip(lengths[one, True], lengths[one, False], strict=True)]
        # A KDE of 9 octets; key wrap pads message 3 to 8 octets.
        assert (grown[0], grown[1], grown[3]) == (0, 9, 0)
        assert grown[2] in (8, 16)
    assert lengths["join", True][1] == lengths["serve", True][1]


@rest
def test_hostapd_refuses_a_station_that_says_another_channel(play: Any) -> None:
    ours = VALIDATES._replace(channel=ELSEWHERE)
    theirs = hostapd(VALIDATES, 0, "wpa_pairwise_update_count=2")
    seen = play(**join(ours, configurations=[theirs]))
    assert seen["stages"][-1]["ends"]["station"]["status"] == "failed"
    reason = "primary channel mismatch in received OCI (we use 2412 but receiver is using 2437)"
    assert f"frame=eapol-key-m2 error={reason}" in seen["log"]
    assert "[AUTHORIZED]" not in flags(seen)


@rest
def test_our_station_refuses_a_narrower_channel_in_message_3(play: Any) -> None:
    ours = VALIDATES._replace(channel=WIDER)
    theirs = hostapd(VALIDATES, 0, "wpa_pairwise_update_count=2")
    seen = play(**join(ours, configurations=[theirs]))
    assert seen["stages"][-1]["ends"]["station"]["why"] == "wrong-channel"
    assert "[AUTHORIZED]" not in flags(seen)


@rest
def test_our_access_point_refuses_a_station_on_another_channel(play: Any) -> None:
    seen = play(**serve(VALIDATES._replace(channel=ELSEWHERE)))
    end = seen["stages"][-1]["ends"]["access-point"]
    assert (end["why"], end["code"]) == ("wrong-channel", ["reason", 15])
    assert "wpa_state=COMPLETED" not in seen["asked"]["STATUS"]


PROTECTS: Final = Network("sae", h2e=True, pmf=2, beacon_protection=True)


def beacon_keys(seen: Mapping[str, Any], party: str, stage: str) -> list[bytes]:
    """The bodies of the BIGTK KDEs in the messages of a key handshake."""
    kek = secret(seen, "keys", party, "kek")
    (found,) = (one for one in seen["stages"] if one["stage"] == stage)
    return [kde for message in found["messages"] for kde in kdes(key_data(message[3], kek), 14)]


def test_hostapd_gives_our_station_the_key_of_its_beacons(play: Any) -> None:
    seen = play(**join(PROTECTS, stages=[*PROTECTS.stages(), {"stage": "rekey"}]))
    assert ends(seen, "station")[:-1] == established(PROTECTS.stages())
    for number, stage in ((6, "keys"), (7, "rekey")):
        # Key ID, packet number, key.
        (kde,) = beacon_keys(seen, "station", stage)
        key = secret(seen, stage, "station", "bigtk")
        assert kde[:2] == bytes([number, 0])
        assert (len(kde), kde[8:].hex()) == (2 + 6 + 16, key)
        assert dumped(key) in seen["log"]


@rest
def test_wpa_supplicant_takes_the_key_of_our_beacons(play: Any) -> None:
    seen = play(**serve(PROTECTS))
    assert ends(seen, "access-point") == established(PROTECTS.stages())
    (kde,) = beacon_keys(seen, "access-point", "keys")
    assert kde[:8] == bytes([6, 0, 0, 0, 0, 0, 0, 0])
    assert kde[8:].hex() == secret(seen, "keys", "access-point", "bigtk")
    assert "WPA: BIGTK in EAPOL-Key" in seen["log"]
    assert dumped(kde[8:].hex()) in seen["log"]


FT: Final = [
    pytest.param(Network("ft-psk"), id="ft-psk", marks=SLOW),
    pytest.param(Network("ft-psk", pmf=2), id="ft-psk-pmf", marks=REST),
    pytest.param(Network("ft-sae", pmf=1), id="ft-sae-hnp", marks=SLOW),
    pytest.param(Network("ft-sae", h2e=True, pmf=2), id="ft-sae-h2e"),
    pytest.param(
        Network("ft-sae", h2e=True, pmf=2, channel=ON_AIR), id="ft-sae-channel", marks=REST
    ),
    pytest.param(
        Network("ft-sae", h2e=True, pmf=2, beacon_protection=True), id="ft-sae-beacons", marks=REST
    ),
    pytest.param(Network("ft-802.1x", pmf=1), id="ft-eap", marks=REST),
    pytest.param(Network("ft-802.1x-sha384", cipher="gcmp-256"), id="ft-eap-sha384", marks=SLOW),
]


@pytest.mark.parametrize("over_the_ds", [False, True], ids=["air", "ds"])
@pytest.mark.parametrize("network", FT)
def test_hostapd_takes_our_station_over(play: Any, network: Network, over_the_ds: bool) -> None:
    transition = {"stage": "fast-transition", "over_the_ds": over_the_ds, **network.master()}
    seen = play(**join(network, cells=2, stages=[*network.stages(), transition]))
    assert all(status == "established" for _, status in ends(seen, "station"))
    assert counts(seen)[-1] == 4
    assert "[AUTHORIZED]" in flags(seen, "wlan1")
    # The whole hierarchy, as hostapd derived it.
    for name in ("pmk-r0", "pmk-r1", "tk"):
        assert dumped(secret(seen, "keys", "station", name)) in seen["log"], name
    for name in ("kck", "tk"):
        assert dumped(secret(seen, "fast-transition", "station", name)) in seen["log"], name


@rest
def test_a_station_of_another_key_is_status_53(play: Any) -> None:
    network = Network("ft-psk")
    wrong = {"master": {"passphrase": "wrong horse"}}
    stages = [*network.stages(), {"stage": "fast-transition", **wrong}]
    seen = play(**join(network, cells=2, stages=stages))
    end = seen["stages"][-1]["ends"]["station"]
    assert (end["why"], end["code"]) == ("wrong-passphrase", ["status", 53])
    assert "[AUTHORIZED]" not in flags(seen, "wlan1")


@pytest.mark.parametrize("over_the_ds", [False, True], ids=["air", "ds"])
@pytest.mark.parametrize("network", FT)
def test_wpa_supplicant_moves_to_our_target(play: Any, network: Network, over_the_ds: bool) -> None:
    transition = {"stage": "fast-transition", "over_the_ds": over_the_ds, **network.master()}
    seen = play(**serve(network, stages=[*network.stages(), transition]))
    assert all(status == "established" for _, status in ends(seen, "access-point"))
    assert seen["stages"][-1]["stage"] == "fast-transition"
    assert f"bssid={SECOND}" in seen["asked"]["STATUS"]
    assert "wpa_state=COMPLETED" in seen["asked"]["STATUS"]
    for name in ("pmk-r0", "pmk-r1", "tk"):
        assert dumped(secret(seen, "keys", "access-point", name)) in seen["log"], name
    for name in ("kck", "tk", "gtk"):
        assert dumped(secret(seen, "fast-transition", "access-point", name)) in seen["log"], name
