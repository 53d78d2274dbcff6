"""Keys that would open what stays closed in a capture.

Takes a report; gives one sentence for each way in which its networks agree on keys. Never asks for
a passphrase where none gives the key: SAE and OWE draw fresh secrets, which only the two ends know.
"""

from __future__ import annotations

from airtoll.border.answers import Report

_LOG = "the log of hostapd or wpa_supplicant run with -dd -K has it"
#: Begin of an AKM's name, without ``ft-`` -> the key that opens its frames.
_KEYS = {
    "sae": f"pmk:HEX of the join, as a passphrase of SAE gives none; {_LOG}",
    "owe": f"pmk:HEX of the join; {_LOG}",
    "psk": "wpa-pwd:PASS:SSID or wpa-psk:HEX",
    "wpa-psk": "wpa-pwd:PASS:SSID or wpa-psk:HEX",
    "802.1x": f"msk:HEX or pmk:HEX of the join ({_LOG}), or radius:SECRET with the RADIUS packets",
    "wpa-802.1x": "msk:HEX or pmk:HEX of the join, or radius:SECRET with the RADIUS packets",
    "fils": "pmk:HEX",
}
_WEP = "wep:HEX"


def wanted_keys(report: Report) -> list[str]:
    """A sentence for each AKM whose frames stay closed for want of a key; empty if none does."""
    closed = report["undecrypted"]
    if not set(closed) - {"cut short", "no body"}:
        return []
    akms = [
        session["akm"]
        for session in report["sessions"]
        if session["data_protected"] and session["akm"] is not None
    ]
    if not akms:
        akms = [akm for ap in report["access_points"] for akm in ap["akms"]]
    keys = {akm: key for akm in akms if (key := _key_of(akm)) is not None}
    if any(cipher.startswith("wep") for cipher in report["closed_ciphers"]):
        keys["WEP"] = _WEP
    return [f"closed frames of {akm} open with {key}" for akm, key in keys.items()]


def _key_of(akm: str) -> str | None:
    name = akm.removeprefix("ft-")
    begins = (key for begin, key in _KEYS.items() if name == begin or name.startswith(f"{begin}-"))
    return next(begins, None)
