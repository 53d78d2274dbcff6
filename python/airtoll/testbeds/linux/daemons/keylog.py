"""The key log of a trial: everything that another tool needs to decrypt its captures.

Takes the policy's link, credentials and running daemons; gives plain rows, kept beside the
captures as ``keys.json``. Never logs a key of another run.

Kinds: ``wep`` (index, key), ``passphrase`` (ssid, passphrase), ``pmk`` (key, station, bssid),
``radius-secret`` (secret), ``esp`` and ``wireguard-private`` (see their modules). Keys are hex.
"""

from __future__ import annotations

from airtoll.policies import Cipher, Policy
from airtoll.testbeds.linux.daemons.credentials import Credentials
from airtoll.testbeds.linux.daemons.hostapd import AccessPoint


def static(policy: Policy, credentials: Credentials) -> list[dict[str, str]]:
    """Keys that are known before the first frame."""
    link = policy.link
    rows: list[dict[str, str]] = []
    # hostapd draws dynamic WEP keys and does not report them; our LEAP server distributes ours.
    told = not link.dynamic_wep or link.eap_method == "leap"
    if link.encrypts_data and link.akm is None and told:
        bits = 40 if link.cipher is Cipher.WEP_40 else 104
        rows.append({"kind": "wep", "index": "0", "key": credentials.wep(bits)})
    if link.akm is not None and link.akm.is_psk:
        rows.append(
            {"kind": "passphrase", "ssid": credentials.ssid, "passphrase": credentials.passphrase}
        )
    if link.eap_method:
        rows.append({"kind": "radius-secret", "secret": credentials.radius_secret})
    return rows


async def master(
    access_point: AccessPoint, bssid: str, stations: dict[str, str]
) -> list[dict[str, str]]:
    """The pairwise master keys that hostapd shares with the stations."""
    rows: list[dict[str, str]] = []
    for name, address in stations.items():
        key = await access_point.pmk(address)
        if key:
            rows.append(
                {"kind": "pmk", "key": key, "station": address, "bssid": bssid, "name": name}
            )
    return rows
