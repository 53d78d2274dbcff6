"""Settings of a policy for a program, new ones or those of a file with the policy.

Takes a policy and the name of a program or a file; gives texts.
"""

from __future__ import annotations

from pathlib import Path

from airtoll.errors import UsageError
from airtoll.network.changing import Changed, changed, form_of
from airtoll.network.openwrt import RadioSettings, phys_with_modes
from airtoll.network.openwrt import write as write_openwrt
from airtoll.network.radio import Band
from airtoll.network.second import with_second
from airtoll.policies import Policy
from airtoll.profiles import load
from airtoll.testbeds.linux.daemons.settings_of import hostapd_text, wpa_supplicant_text

#: Width that routers have without asking, MHz, and that of 2.4 GHz.
_WIDE, _NARROW = 80, 20


def settings_of(
    policy: Policy, program: str, profile: str | None = None, tls: str | None = None
) -> str:
    """The text for a program (openwrt, hostapd, wpa-supplicant), with placeholders for secrets.

    ``profile``: of a router, for its radio. ``tls``: the version in EAP that a station takes.
    """
    if program == "openwrt":
        return write_openwrt(policy, None if profile is None else _radio(profile))
    if program == "hostapd":
        return hostapd_text(policy)
    return wpa_supplicant_text(policy) if tls is None else wpa_supplicant_text(policy, tls)


def change_of(
    policy: Policy,
    source: str,
    *,
    ssid: str | None = None,
    band: str | None = None,
    program: str | None = None,
) -> Changed:
    """The file with the lines that a policy needs changed.

    ``band``: GHz, of the only radios to change. ``program``: the one that the file has to be of.
    Raises ``UsageError`` and ``PolicyError``.
    """
    try:
        text = Path(source).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = error.strerror if isinstance(error, OSError) else "no text"
        raise UsageError(f"--from {source}: cannot be read: {why}") from error
    found = form_of(text)
    if program is not None and found != program:
        raise UsageError(f"--{program}: {source} is no such file")
    example = "" if found is None else settings_of(policy, found)
    return changed(text, source, policy, example, ssid, band)


def second_of(
    policy: Policy,
    text: str,
    source: str,
    *,
    ssid: str | None = None,
    band: str | None = None,
) -> str:
    """Settings with a second SSID of a policy, in their form. ``source``: their name in errors.

    Raises ``UsageError`` for settings of stations, ``PolicyError`` where the form has no such SSID.
    """
    found = form_of(text)
    example = "" if found is None else settings_of(policy, found)
    return with_second(text, source, policy, example, ssid, band)


def _radio(profile: str) -> RadioSettings:
    """The newest PHY of a router on its highest band, and the width that it has there."""
    able = load(profile).capabilities
    phys = [one for one in phys_with_modes() if able.phys is None or one in able.phys.values]
    if able.phys is None or not phys:
        raise UsageError(
            f"--profile {profile}: no PHY of its radio is known (airtoll profiles show {profile})"
        )
    bands: list[Band] = ["5", "2.4"]
    band = next((b for b in bands if able.bands is None or b in able.bands.values), bands[-1])
    widths = [int(w) for w in able.widths_mhz.values] if able.widths_mhz is not None else [_WIDE]
    most = _NARROW if band == "2.4" or phys[-1] == "802.11n" else _WIDE
    width = max((w for w in widths if w <= most), default=_NARROW)
    channel = 36 if band == "5" else 1
    return RadioSettings(phy=phys[-1], band=band, channel=channel, width_mhz=width)
