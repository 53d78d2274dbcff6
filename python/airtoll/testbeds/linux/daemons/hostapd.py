"""hostapd: its configuration for every policy, and one running access point.

Takes a policy, credentials and radio settings; gives a configuration text, a started
:class:`AccessPoint`, and the state negotiated with a station as hostapd sees it. The state is
read back over the control interface; a setting in the file proves nothing.

Option names: hostapd 2.10, hostapd.conf.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Final

from attrs import frozen

from airtoll.errors import PolicyError
from airtoll.network.hostap import CIPHERS, KEY_MANAGEMENT, PMF
from airtoll.policies import Cipher, Generation, Link, Policy
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.hosts.control import Control, ControlError, connect
from airtoll.testbeds.linux.hosts.host import Host, Process

#: Rates that a PHY may not exceed when a study fixes one, Mb/s.
_MODES: Final = {"802.11b": "b", "802.11g": "g", "802.11a": "a", "802.11n": "g"}


@frozen
class Radio:
    """Settings of the AP's radio.

    ``rate_mbps``: one fixed legacy rate, or None. ``mcs_lines``: settings of HT and VHT.
    ``four_address``: stations may bridge. ``country``: the regulatory domain that it announces.
    ``further``: lines of the configuration beside those.
    """

    interface: str
    phy: str = "802.11g"
    channel: int = 1
    rate_mbps: float | None = None
    mcs_lines: tuple[str, ...] = ()
    bridge: str | None = None
    beacon_interval_tu: int = 100
    channel_validation: bool = False
    four_address: bool = False
    country: str | None = None
    further: tuple[str, ...] = ()


@frozen
class RadiusAddress:
    """Where the RADIUS server listens, and the address from which the AP sends requests."""

    server: str
    port: int
    client: str


def configuration(
    policy: Policy,
    credentials: Credentials,
    radio: Radio,
    control_folder: str,
    *,
    radius: RadiusAddress | None = None,
    identifier: str = "ap1",
    bssid: str = "00:00:00:00:00:00",
    key_holders: Mapping[str, str] = MappingProxyType({}),
    accept_file: str | None = None,
) -> str:
    """The text of hostapd.conf for this policy.

    ``key_holders``: identifier -> BSSID of the access points of the mobility domain. Each pushes
    the keys of its stations (PMK-R1) to the others; one that is not known would have to be found
    at the first transition, whose first request hostapd leaves without an answer.

    Raises ``PolicyError`` when the policy needs a RADIUS server and none is named.
    """
    link = policy.link
    lines = [
        f"interface={radio.interface}",
        "driver=nl80211",
        f"ctrl_interface={control_folder}",
        f"ssid={credentials.ssid}",
        f"channel={radio.channel}",
        f"beacon_int={radio.beacon_interval_tu}",
        f"hw_mode={'a' if radio.channel > 14 else _MODES.get(radio.phy, 'g')}",
        f"nas_identifier={identifier}",
    ]
    if radio.country is not None:
        lines += [f"country_code={radio.country}", "ieee80211d=1"]
    if radio.bridge:
        lines.append(f"bridge={radio.bridge}")
    if radio.four_address:
        lines.append("wds_sta=1")
    lines += radio.mcs_lines
    lines += radio.further
    if radio.rate_mbps is not None:
        rate = round(radio.rate_mbps * 10)
        lines += [f"supported_rates={rate}", f"basic_rates={rate}"]
    if accept_file is not None:
        lines += ["macaddr_acl=1", f"accept_mac_file={accept_file}"]
    if link.eap_method:
        if radius is None:
            raise PolicyError(f"policy {policy.name!r}: 802.1X needs a RADIUS server")
        lines += [
            "ieee8021x=1",
            "eap_server=0",
            f"own_ip_addr={radius.client}",
            f"auth_server_addr={radius.server}",
            f"auth_server_port={radius.port}",
            f"auth_server_shared_secret={credentials.radius_secret}",
        ]
    if link.akm is not None:
        others = {name: own for name, own in key_holders.items() if own != bssid}
        lines += _rsn(link, credentials, bssid, others)
        if radio.channel_validation and link.pmf != "off":
            lines.append("ocv=1")
    elif link.encrypts_data:
        lines += _wep(link, credentials)
    if link.eap_method == "leap":
        # LEAP's second half is answered on a packet socket, which a control port would bypass.
        lines.append("driver_params=control_port=0")
    return "\n".join(lines) + "\n"


def _wep(link: Link, credentials: Credentials) -> list[str]:
    bits = 40 if link.cipher is Cipher.WEP_40 else 104
    if link.dynamic_wep and link.eap_method != "leap":
        octets = bits // 8
        return [
            f"wep_key_len_broadcast={octets}",
            f"wep_key_len_unicast={octets}",
            "wep_rekey_period=0",
        ]
    algorithms = 2 if link.authentication == "shared-key" else 1
    return [
        f"auth_algs={algorithms}",
        "wep_default_key=0",
        f"wep_key0={credentials.wep(bits)}",
    ]


def _rsn(link: Link, credentials: Credentials, bssid: str, others: Mapping[str, str]) -> list[str]:
    assert link.akm is not None
    management = [KEY_MANAGEMENT[link.akm]]
    pairwise = CIPHERS[link.cipher]
    wpa = link.generation is Generation.WPA
    lines = [f"wpa={1 if wpa else 2}"]
    if link.transition == "wpa-psk-tkip":
        lines = ["wpa=3", "wpa_pairwise=TKIP"]
    if link.transition == "wpa2-psk-ccmp":
        management.append("WPA-PSK")
    lines += [
        f"wpa_key_mgmt={' '.join(management)}",
        f"{'wpa' if wpa else 'rsn'}_pairwise={pairwise}",
        f"ieee80211w={PMF[link.pmf]}",
    ]
    if link.akm.is_psk or link.transition == "wpa2-psk-ccmp":
        lines.append(f"wpa_passphrase={credentials.passphrase}")
    if link.akm.is_sae:
        lines.append(f"sae_password={credentials.passphrase}")
    if link.akm.requires_hash_to_element:
        lines.append("sae_pwe=1")
    if link.pmf == "required" and link.cipher is Cipher.GCMP_256:
        lines.append("group_mgmt_cipher=BIP-GMAC-256")
    if link.fast_transition:
        lines += [
            f"mobility_domain={credentials.mobility_domain}",
            "ft_over_ds=0",
            "ft_psk_generate_local=1",
            f"r1_key_holder={bssid.replace(':', '')}",
            "pmk_r1_push=1",
        ]
        for name, address in others.items():
            lines += [
                f"r0kh={address} {name} {credentials.rrb_key}",
                f"r1kh={address} {address} {credentials.rrb_key}",
            ]
    return lines


class AccessPoint:
    """A running hostapd."""

    def __init__(self, host: Host, process: Process, control: Control, log: str) -> None:
        self.host = host
        self.process = process
        self.control = control
        self.log = log

    @staticmethod
    async def start(
        host: Host, folder: str, interface: str, text: str, limit_s: float = 90.0
    ) -> AccessPoint:
        """Start hostapd and wait until the AP beacons.

        Raises ``ControlError`` with hostapd's own event when it does not come up.
        """
        path = f"{folder}/hostapd-{host.name}.conf"
        log = f"{folder}/hostapd-{host.name}.log"
        await host.put(path, text)
        socket = f"{folder}/hostapd-{host.name}/{interface}"
        async with host.starting(["hostapd", "-t", path], log=log) as process:
            control = await connect(host, socket, f"hostapd on {host.name}", process, limit_s)
            status = parse_pairs(await control.request("STATUS"))
            if status.get("state") != "ENABLED":
                await control.wait_for(
                    "AP-ENABLED",
                    limit_s=limit_s,
                    failures=("AP-DISABLED", "INTERFACE-DISABLED", "CTRL-EVENT-TERMINATING"),
                )
        return AccessPoint(host, process, control, log)

    async def stop(self) -> None:
        """End hostapd and close the control connection."""
        try:
            await self.process.stop()
        finally:
            self.control.close()

    async def station(self, address: str) -> dict[str, str]:
        """The station as hostapd reports it, as key and value."""
        return parse_pairs(await self.control.request(f"STA {address}"))

    async def admitted(self, address: str, limit_s: float = 5.0) -> dict[str, str]:
        """The same, once the station's data is let through; as it stands when the limit is over.

        A station has done its part when it sends the last message of the handshake; the access
        point has to receive it, too.
        """
        seen = await self.station(address)
        while "[AUTHORIZED]" not in seen.get("flags", ""):
            try:
                # An event of an earlier association may be among those that wait.
                await self.control.wait_for(f"AP-STA-CONNECTED {address}", limit_s=limit_s)
            except ControlError:
                return await self.station(address)
            seen = await self.station(address)
        return seen

    async def pmk(self, address: str) -> str | None:
        """The pairwise master key shared with a station, hex; None where the build hides it."""
        answer = (await self.control.request(f"GET_PMK {address}")).strip()
        return answer if answer and all(c in "0123456789abcdef" for c in answer) else None


def frequency_mhz(channel: int) -> int:
    """Centre frequency of a 20 MHz channel (IEEE 802.11-2020 annex E)."""
    if channel == 14:
        return 2484
    return 2407 + 5 * channel if channel < 14 else 5000 + 5 * channel


def parse_pairs(text: str) -> dict[str, str]:
    """The ``key=value`` lines of STATUS and STA; the first line of STA is the address."""
    return dict(line.split("=", 1) for line in text.splitlines() if "=" in line)


def parse_version(text: str) -> tuple[int, int]:
    """(2, 10) from the first line of ``hostapd -v``, "hostapd v2.10"."""
    for word in text.split():
        number = word.lstrip("v").split("-")[0]
        parts = number.split(".")
        if word.startswith("v") and len(parts) >= 2 and all(p.isdigit() for p in parts[:2]):
            return int(parts[0]), int(parts[1])
    raise ValueError(f"no version in {text[:60]!r}")
