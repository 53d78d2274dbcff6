"""wpa_supplicant: its configuration for every policy, and one running station.

Takes a policy, credentials and radio settings; gives a configuration text, a started
:class:`Station`, and what was negotiated as the station sees it. Never takes "associated" for
"secured": :func:`differences` compares the state with the policy, field by field.

Option names: wpa_supplicant 2.10, wpa_supplicant.conf.
"""

from __future__ import annotations

import asyncio
from typing import Final

from attrs import frozen

from airtoll.network.hostap import CIPHERS, KEY_MANAGEMENT
from airtoll.policies import Cipher, Generation, Link, Policy
from airtoll.testbeds.linux.daemons.credentials import USER, Credentials
from airtoll.testbeds.linux.daemons.hostapd import parse_pairs
from airtoll.testbeds.linux.hosts.control import Control, ControlError, Event, connect
from airtoll.testbeds.linux.hosts.host import Host, Process

#: EAP method -> its name in wpa_supplicant, and the settings that only this method needs.
EAP: Final[dict[str, tuple[str, tuple[str, ...]]]] = {
    "md5": ("MD5", ()),
    "leap": ("LEAP", ()),
    "tls": ("TLS", ()),
    "ttls": ("TTLS", (f'anonymous_identity="{USER}"', 'phase2="auth=PAP"')),
    "peap": ("PEAP", ('phase2="auth=MSCHAPV2"',)),
    # Without a place for PACs wpa_supplicant refuses the method; none is asked for.
    "teap": ("TEAP", ('phase2="auth=MSCHAPV2"', 'pac_file="blob://teap"')),
}
#: AKM -> key_mgmt as STATUS prints it, where that is not the word of the configuration.
_STATUS_AKM: Final = {
    "wpa-802.1x": "WPA/IEEE 802.1X/EAP",
    "wpa-psk": "WPA-PSK",
    "802.1x": "WPA2/IEEE 802.1X/EAP",
    "psk": "WPA2-PSK",
    "802.1x-sha256": "WPA2-EAP-SHA256",
    "psk-sha256": "WPA2-PSK-SHA256",
    "802.1x-suite-b": "WPA2-EAP-SUITE-B",
    "802.1x-suite-b-192": "WPA2-EAP-SUITE-B-192",
}

#: Events that end a connection attempt, each with the words for the failure.
FAILURES: Final = (
    "CTRL-EVENT-EAP-FAILURE",
    "CTRL-EVENT-SSID-TEMP-DISABLED",
    "CTRL-EVENT-ASSOC-REJECT",
    "CTRL-EVENT-AUTH-REJECT",
    "CTRL-EVENT-TERMINATING",
    "Trying to authenticate with NULL",
)


@frozen
class Files:
    """Where the station's certificates lie on its host."""

    authority: str
    client: str
    client_key: str


def configuration(
    policy: Policy,
    credentials: Credentials,
    control_folder: str,
    files: Files,
    frequencies_mhz: tuple[int, ...],
    *,
    pmk_caching: bool = True,
    background_scan: bool = False,
    channel_validation: bool = False,
    tls: str = "1.2",
    waits: bool = False,
) -> str:
    """The text of wpa_supplicant.conf for this policy, with one network.

    ``tls``: the version of EAP methods with TLS, 1.2 or 1.3. ``waits``: the network is disabled
    until the supplicant is told to join it, and then it knows what it scanned before.
    """
    link = policy.link
    top = [f"ctrl_interface={control_folder}", "fast_reauth=0", "update_config=0", "ap_scan=1"]
    if link.akm is not None and link.akm.requires_hash_to_element:
        top.append("sae_pwe=1")
    if waits:
        top.append(f"scan_res_valid_for_connect={_A_DAY_S}")
    network = [f'ssid="{credentials.ssid}"', "scan_ssid=0"]
    network.append("scan_freq=" + " ".join(map(str, frequencies_mhz)))
    if background_scan:
        # Look for a better AP every 2 s while the signal is below -60 dBm.
        network.append('bgscan="simple:2:-60:30"')
    if link.akm is not None:
        network += _rsn(link, credentials)
        if channel_validation and link.pmf != "off":
            network.append("ocv=1")
        if not pmk_caching:
            network.append("proactive_key_caching=0")
    elif link.eap_method:
        network.append("key_mgmt=IEEE8021X")
        dynamic = link.dynamic_wep and link.encrypts_data
        network.append(f"eapol_flags={3 if dynamic else 0}")
        network.append("auth_alg=OPEN")
        if link.encrypts_data and not dynamic:
            network += _static_wep(link, credentials)
    else:
        network.append("key_mgmt=NONE")
        if link.encrypts_data:
            network += _static_wep(link, credentials)
            network.append(
                "auth_alg=" + ("SHARED" if link.authentication == "shared-key" else "OPEN")
            )
    if link.eap_method:
        network += _eap(link, credentials, files, tls)
    if waits:
        network.append("disabled=1")
    body = "\n".join(f"\t{line}" for line in network)
    return "\n".join(top) + "\nnetwork={\n" + body + "\n}\n"


def _rsn(link: Link, credentials: Credentials) -> list[str]:
    assert link.akm is not None
    lines = [
        f"key_mgmt={KEY_MANAGEMENT[link.akm]}",
        f"proto={'WPA' if link.generation is Generation.WPA else 'RSN'}",
        f"pairwise={CIPHERS[link.cipher]}",
        f"group={CIPHERS.get(link.group_cipher, 'WEP104')}",
    ]
    lines.append(f"ieee80211w={ {'off': 0, 'optional': 1, 'required': 2}[link.pmf] }")
    if link.akm.is_psk:
        lines.append(f'psk="{credentials.passphrase}"')
    if link.akm.is_sae:
        lines.append(f'sae_password="{credentials.passphrase}"')
    if link.pmf == "required" and link.cipher is Cipher.GCMP_256:
        lines.append("group_mgmt=BIP-GMAC-256")
    return lines


def _static_wep(link: Link, credentials: Credentials) -> list[str]:
    bits = 40 if link.cipher is Cipher.WEP_40 else 104
    return [f"wep_key0={credentials.wep(bits)}", "wep_tx_keyidx=0"]


def _eap(link: Link, credentials: Credentials, files: Files, tls: str) -> list[str]:
    assert link.eap_method is not None
    method = link.eap_method
    word, own = EAP[method]
    lines = [f"eap={word}", f'identity="{USER}"']
    if method.uses_password:
        lines.append(f'password="{credentials.password}"')
    if method.uses_tls:
        lines.append(f'ca_cert="{files.authority}"')
        lines.append('domain_match="radius.airtoll.test"')
        lines.append(f'phase1="tls_disable_tlsv1_3={int(tls != "1.3")}"')
    if not method.uses_password:
        lines += [f'client_cert="{files.client}"', f'private_key="{files.client_key}"']
    lines += own
    if link.akm is not None and link.akm.is_192_bit:
        lines.append('openssl_ciphers="ECDHE-ECDSA-AES256-GCM-SHA384:ECDHE-RSA-AES256-GCM-SHA384"')
    return lines


def _port_opens(status: dict[str, str]) -> bool:
    """Whether the port of 802.1X is about to open: the link is complete a moment before it."""
    management = status.get("key_mgmt", "")
    with_eap = "802.1X" in management or "EAP" in management
    return with_eap and status.get("Supplicant PAE state") == "AUTHENTICATING"


#: Looks at the port of 802.1X after the link is complete, and the time between them, s.
_PORT_LOOKS: Final = 40
_PORT_S: Final = 0.05
#: Age of a scan result that counts as new, whole seconds.
_FRESH_S: Final = 1
_A_DAY_S: Final = 86_400


class Station:
    """A running wpa_supplicant."""

    def __init__(self, host: Host, interface: str, process: Process, control: Control) -> None:
        self.host = host
        self.interface = interface
        self.process = process
        self.control = control

    @staticmethod
    async def start(
        host: Host, folder: str, interface: str, text: str, limit_s: float = 90.0
    ) -> Station:
        """Start wpa_supplicant and attach to its events; it begins to scan at once."""
        path = f"{folder}/wpa_supplicant-{host.name}.conf"
        log = f"{folder}/wpa_supplicant-{host.name}.log"
        await host.put(path, text)
        argv = ["wpa_supplicant", "-t", "-D", "nl80211", "-i", interface, "-c", path]
        socket = f"{folder}/wpa-{host.name}/{interface}"
        who = f"wpa_supplicant on {host.name}"
        async with host.starting(argv, log=log) as process:
            control = await connect(host, socket, who, process, limit_s)
        return Station(host, interface, process, control)

    async def connected(self, limit_s: float) -> dict[str, str]:
        """Wait for the connection; gives STATUS.

        Raises ``ControlError`` that says why it was refused and which state was reached.
        """
        status = await self.status()
        if status.get("wpa_state") != "COMPLETED":
            try:
                await self.control.wait_for(
                    "CTRL-EVENT-CONNECTED", limit_s=limit_s, failures=FAILURES
                )
            except ControlError as error:
                raise ControlError(f"{error} (state {await self._state()})") from error
            status = await self.status()
        for _ in range(_PORT_LOOKS):
            if not _port_opens(status):
                break
            await asyncio.sleep(_PORT_S)
            status = await self.status()
        return status

    async def _state(self) -> str:
        if not self.process.running:
            return "gone"
        try:
            return (await self.status()).get("wpa_state", "unknown")
        except ControlError:
            return "unknown"

    async def status(self) -> dict[str, str]:
        """STATUS as key and value."""
        return parse_pairs(await self.control.request("STATUS"))

    async def signal(self) -> dict[str, str]:
        """SIGNAL_POLL: RSSI (dBm), LINKSPEED (Mb/s), NOISE (dBm), FREQUENCY (MHz)."""
        return parse_pairs(await self.control.request("SIGNAL_POLL"))

    async def scan(self, bssid: str, limit_s: float) -> None:
        """Scan until this BSSID is known; raises ``ControlError`` after ``limit_s`` seconds."""
        while not (await self.control.request(f"BSS {bssid}")).strip():
            self.control.forget()
            await self.control.request("SCAN")
            await self.control.wait_for("CTRL-EVENT-SCAN-RESULTS", limit_s=limit_s)

    async def look(self, bssid: str, frequency_mhz: int, limit_s: float) -> float | None:
        """The level (dBm) at which a scan of one channel hears a BSS; None where it does not.

        Results of this scan cause no association (``TYPE=ONLY``).
        """
        self.control.forget()
        try:
            await self.control.request(f"SCAN TYPE=ONLY freq={frequency_mhz}")
        except ControlError:
            return None  # it scans for itself just now
        told = await self.control.wait_for(
            "CTRL-EVENT-SCAN-RESULTS", "CTRL-EVENT-SCAN-FAILED", limit_s=limit_s
        )
        found = parse_pairs(await self.control.request(f"BSS {bssid}"))
        if "FAILED" in told.text or int(found.get("age", "9")) > _FRESH_S:
            return None
        return float(found["level"])

    async def roam(self, bssid: str, limit_s: float) -> Event:
        """Move to another AP of the same network and wait until the move is complete."""
        self.control.forget()
        await self.control.request(f"ROAM {bssid}")
        return await self.control.wait_for(
            f"CTRL-EVENT-CONNECTED - Connection to {bssid}", limit_s=limit_s, failures=FAILURES
        )

    async def stop(self) -> None:
        """End wpa_supplicant and close the control connection."""
        try:
            await self.process.stop()
        finally:
            self.control.close()


def expected(policy: Policy, tls: str = "1.2") -> dict[str, str]:
    """The STATUS fields that show the policy in force."""
    link = policy.link
    wanted = {"wpa_state": "COMPLETED"}
    if link.akm is not None:
        wanted["pairwise_cipher"] = CIPHERS[link.cipher]
        wanted["group_cipher"] = CIPHERS[link.group_cipher]
        wanted["key_mgmt"] = _STATUS_AKM.get(link.akm, KEY_MANAGEMENT[link.akm])
        if link.pmf == "required":
            wanted["pmf"] = "2"
    elif link.eap_method:
        wanted["key_mgmt"] = "IEEE 802.1X (no WPA)"
    else:
        wanted["key_mgmt"] = "NONE"
    if link.eap_method:
        wanted["Supplicant PAE state"] = "AUTHENTICATED"
        wanted["selectedMethod"] = f"{link.eap_method.number} (EAP-{EAP[link.eap_method][0]})"
        if link.eap_method.uses_tls:
            wanted["eap_tls_version"] = f"TLSv{tls}"
    return wanted


def differences(policy: Policy, status: dict[str, str], tls: str = "1.2") -> list[str]:
    """Differences of the negotiated state from policy and TLS version; empty when there is none."""
    return [
        f"{key} is {status.get(key, 'missing')}, not {value}"
        for key, value in expected(policy, tls).items()
        if status.get(key) != value
    ]
