"""Stations with Android or Windows: the commands by which one joins, and its own account of a link.

Takes a policy and secrets; gives command lines for ``adb`` and for ``ssh``, and the differences of
a device's answer from the policy. No device has run these recipes yet: they follow the
documentation, and are tested against recorded answers.

Android: ``cmd wifi`` (Android 11; from 12 on ``status`` tells the security type, whose numbers are
those of android.net.wifi.WifiInfo). Windows: ``netsh wlan`` and profiles of Microsoft's WLAN
profile schema, version 1, over OpenSSH.
"""

from __future__ import annotations

import re
import shlex
from collections.abc import Sequence
from typing import Final, Literal
from xml.sax.saxutils import escape

from attrs import frozen

from airtoll.errors import TestbedError
from airtoll.policies import Cipher, Generation, Policy
from airtoll.testbeds.linux.daemons.credentials import Credentials

System = Literal["android", "windows"]
#: Where iperf3 is on a device whose lab table does not say it.
IPERF3: Final[dict[System, str]] = {
    "android": "/data/local/tmp/iperf3",
    "windows": "iperf3.exe",
}
INTERFACE: Final = "Wi-Fi"
_PROFILE: Final = "airtoll.xml"
#: Android's answer to callers that may not see an address.
_MASKED: Final = "02:00:00:00:00:00"


class RecipeError(TestbedError):
    """An answer of a device that a recipe cannot read."""


@frozen
class Kind:
    """A kind of link as both systems name it.

    ``cmd``: of ``cmd wifi connect-network``; ``number``: Android's security type; ``netsh``: as
    netsh shows it; ``profile``: authentication of a WLAN profile. None: the system has none.
    """

    cmd: str | None
    number: int | None
    netsh: str
    profile: str | None


_OPEN: Final = Kind("open", 0, "Open", "open")
_WEP: Final = Kind(None, 1, "Open", "open")
_SHARED: Final = Kind(None, 1, "Shared", "shared")
_KINDS: Final = {
    "owe": Kind("owe", 6, "OWE", "OWE"),
    "wpa-psk": Kind("wpa2", 2, "WPA-Personal", "WPAPSK"),
    "psk": Kind("wpa2", 2, "WPA2-Personal", "WPA2PSK"),
    "sae": Kind("wpa3", 4, "WPA3-Personal", "WPA3SAE"),
}
#: Cipher -> its names in a profile and in netsh's answer.
_CIPHERS: Final = {
    Cipher.NONE: ("none", "None"),
    Cipher.WEP_40: ("WEP", "WEP"),
    Cipher.WEP_104: ("WEP", "WEP"),
    Cipher.TKIP: ("TKIP", "TKIP"),
    Cipher.CCMP_128: ("AES", "CCMP"),
}


@frozen
class Link:
    """The link of a device by its own account; None: it does not tell.

    ``security``: of Android the number of the security type. ``signal``: as the device says it.
    """

    connected: bool
    ssid: str | None = None
    bssid: str | None = None
    address: str | None = None
    security: str | None = None
    cipher: str | None = None
    signal: str | None = None


def kind_of(policy: Policy) -> Kind | None:
    """The kind of a policy's link; None where a recipe has none."""
    link = policy.link
    if link.eap_method is not None or link.dynamic_wep or link.fast_transition:
        return None
    if link.akm is not None:
        return _KINDS.get(str(link.akm)) if link.transition is None else None
    if link.generation is Generation.PRE_RSNA:
        return _SHARED if link.authentication == "shared-key" else _WEP
    return _OPEN


def why_not(system: System, policy: Policy) -> str | None:
    """Why a recipe has no way to join with a policy, or None."""
    kind = kind_of(policy)
    known = kind is not None and policy.link.cipher in _CIPHERS
    if kind is None or not known or (system == "android" and kind.cmd is None):
        tool = "cmd wifi" if system == "android" else "the recipe of netsh wlan"
        return f'{policy.name}: by = "{system}": {tool} has no such network; use by = "hand"'
    return None


# --- Android


def adb(serial: str, *words: str) -> list[str]:
    """A command of a device's shell, by adb."""
    return ["adb", "-s", serial, "shell", shlex.join(words)]


def android_join(serial: str, policy: Policy, secret: Credentials) -> list[list[str]]:
    """The commands by which an Android device joins."""
    kind = kind_of(policy)
    assert kind is not None
    assert kind.cmd is not None
    link = policy.link
    key = [secret.passphrase] if link.akm is not None and link.akm.uses_passphrase else []
    return [
        adb(serial, "cmd", "wifi", "set-wifi-enabled", "enabled"),
        adb(serial, "cmd", "wifi", "connect-network", secret.ssid, kind.cmd, *key),
    ]


def android_networks(text: str, ssid: str) -> list[int]:
    """Numbers of the networks of this name in the answer of ``cmd wifi list-networks``."""
    found = []
    for line in text.splitlines():
        match = re.match(r"(\d+)\s+(.*?)\s+\S+\s*$", line)
        if match is not None and match[2].strip('"') == ssid:
            found.append(int(match[1]))
    return list(dict.fromkeys(found))


def android_link(text: str) -> Link:
    """The link in the answer of ``cmd wifi status``. Raises ``RecipeError`` for another text."""
    if not text.lstrip().startswith("Wifi is "):
        said = (text.strip() or "nothing").splitlines()[0]
        raise RecipeError(f"cmd wifi status says {said!r}: Android 11 or later is needed")
    told = next((line for line in text.splitlines() if line.startswith("WifiInfo: ")), "")
    if "Supplicant state: COMPLETED" not in told:
        return Link(connected=False)

    def field(pattern: str) -> str | None:
        match = re.search(pattern, told)
        return None if match is None else match[1]

    return Link(
        connected=True,
        ssid=field(r'\bSSID: "?(.*?)"?, BSSID: '),
        bssid=field(r"\bBSSID: ([0-9a-f:]{17})"),
        address=field(rf"\bMAC: (?!{_MASKED})([0-9a-f:]{{17}})"),
        security=field(r"\bSecurity type: (\d+)"),
        signal=field(r"\bRSSI: (-?\d+)"),
    )


# --- Windows


def profile(policy: Policy, secret: Credentials) -> str:
    """The WLAN profile of a policy for ``netsh wlan add profile``."""
    kind, link = kind_of(policy), policy.link
    assert kind is not None
    assert kind.profile is not None
    key = ""
    if link.akm is not None and link.akm.uses_passphrase:
        key = _key("passPhrase", secret.passphrase)
    elif link.encrypts_data and link.akm is None:
        key = _key("networkKey", secret.wep(40 if link.cipher is Cipher.WEP_40 else 104))
        key += "<keyIndex>0</keyIndex>"
    name = escape(secret.ssid)
    return (
        '<?xml version="1.0"?>\n'
        '<WLANProfile xmlns="http://www.microsoft.com/networking/WLAN/profile/v1">'
        f"<name>{name}</name><SSIDConfig><SSID><name>{name}</name></SSID></SSIDConfig>"
        "<connectionType>ESS</connectionType><connectionMode>manual</connectionMode>"
        "<MSM><security><authEncryption>"
        f"<authentication>{kind.profile}</authentication>"
        f"<encryption>{_CIPHERS[link.cipher][0]}</encryption><useOneX>false</useOneX>"
        f"</authEncryption>{key}</security></MSM></WLANProfile>\n"
    )


def _key(kind: str, material: str) -> str:
    return (
        f"<sharedKey><keyType>{kind}</keyType><protected>false</protected>"
        f"<keyMaterial>{escape(material)}</keyMaterial></sharedKey>"
    )


def windows_join(interface: str, secret: Credentials) -> list[str]:
    """The lines by which a Windows device joins, once the profile is in its home folder."""
    name, on = _quoted(secret.ssid), f"interface={_quoted(interface)}"
    return [
        f"netsh wlan add profile filename={_quoted(_PROFILE)} {on} user=current",
        f"netsh wlan connect name={name} ssid={name} {on}",
    ]


def windows_leave(interface: str, secret: Credentials) -> list[str]:
    """The lines that take the profile away again."""
    name, on = _quoted(secret.ssid), f"interface={_quoted(interface)}"
    return [
        f"netsh wlan disconnect {on}",
        f"netsh wlan delete profile name={name} {on}",
        f"del {_PROFILE}",
    ]


def windows_link(text: str, interface: str) -> Link:
    """The link of an interface in the answer of ``netsh wlan show interfaces``.

    Raises ``RecipeError`` where the answer has no such interface, or is not in English.
    """
    for fields in _interfaces(text):
        if fields["Name"] != interface:
            continue
        if fields.get("State") != "connected":
            return Link(connected=False)
        return Link(
            connected=True,
            ssid=fields.get("SSID"),
            # Windows 11 of 2024 calls it "AP BSSID".
            bssid=(fields.get("AP BSSID") or fields.get("BSSID", "")).lower() or None,
            address=fields.get("Physical address", "").lower() or None,
            security=fields.get("Authentication"),
            cipher=fields.get("Cipher"),
            signal=fields.get("Signal"),
        )
    raise RecipeError(
        f"netsh wlan show interfaces names no {interface}: it has to answer in English, and the "
        'interface of the lab table has to be the one in its line "Name"'
    )


def _interfaces(text: str) -> list[dict[str, str]]:
    found: list[dict[str, str]] = []
    for line in text.splitlines():
        key, colon, value = line.partition(" : ")
        if not colon:
            continue
        if key.strip() == "Name":
            found.append({})
        if found:
            found[-1].setdefault(key.strip(), value.strip())
    return found


def _quoted(text: str) -> str:
    # cmd.exe expands %NAME% inside quotes, too.
    if '"' in text or "%" in text:
        raise RecipeError(f'{text!r}: a name with " or % cannot be given to cmd.exe')
    return f'"{text}"'


# --- both


def differences(
    system: System, policy: Policy, secret: Credentials, link: Link, bssid: str
) -> list[str]:
    """Where a device's account of its link is not the policy's; empty when it is."""
    kind = kind_of(policy)
    assert kind is not None
    if not link.connected:
        return ["it is not connected"]
    wanted: list[tuple[str, str | None, str]] = [
        ("the network", link.ssid, secret.ssid),
        ("the access point", link.bssid, bssid),
    ]
    if system == "android":
        wanted.append(("the security type", link.security, str(kind.number)))
    else:
        security = link.security
        if security is not None and kind.netsh == "WPA3-Personal":
            security = security.removesuffix(" (H2E)").strip()
        wanted.append(("the authentication", security, kind.netsh))
        wanted.append(("the cipher", link.cipher, _CIPHERS[policy.link.cipher][1]))
    return [
        f"{what} is {told or 'not told'}, not {asked}"
        for what, told, asked in wanted
        if told != asked
    ]


def shown(commands: Sequence[Sequence[str]]) -> list[str]:
    """Commands as a person reads them."""
    return [shlex.join(command) for command in commands]
