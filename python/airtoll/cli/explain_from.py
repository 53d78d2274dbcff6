"""The two networks of ``airtoll explain``: policies by name, or files as ``airtoll advise`` reads.

Takes the words of ``--from`` and ``--to``; gives policies, and the radio link that files state.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from attrs import frozen

from airtoll.errors import PolicyError, UsageError
from airtoll.policies import Policy, catalogue, resolve


@frozen
class Stated:
    """A network as its owner states it; None where it does not tell.

    ``policy``: canonical name; None where nothing is stated. ``pmf``: off, optional or required.
    ``told``: the settings that a file states, and assumptions where it is silent.
    ``name``: of the file.
    """

    policy: str | None = None
    pmf: str | None = None
    phy: str | None = None
    band: str | None = None
    width_mhz: int | None = None
    told: tuple[str, ...] = ()
    name: str = ""


def stated(
    sources: tuple[str | None, str | None], ssid: str | None, band: str | None
) -> tuple[Stated, Stated]:
    """The networks of ``--from`` and ``--to``. Raises ``UsageError`` that names the option.

    ``ssid`` and ``band`` choose among the networks of a file.
    """
    before, after = (
        Stated() if source is None else _stated(option, source, ssid, band)
        for option, source in zip(("--from", "--to"), sources, strict=True)
    )
    if ssid is not None and not (before.name or after.name):
        raise UsageError(f"--ssid {ssid}: neither --from nor --to is a file with networks")
    return before, after


#: Keys of settings that let a station do without 802.11w.
_OF_PMF: Final = ("encryption", "wpa_key_mgmt", "key_mgmt", "ieee80211w")


def without_pmf(policy: str, networks: tuple[Stated, Stated]) -> str:
    """Settings with which a station may do without 802.11w, to test it; empty where nothing does.

    In the words of the network's file, of OpenWrt without one. ``policy``: requires 802.11w.
    """
    after = resolve(policy)
    other = _with_older(after)
    if other is None:
        return ""
    if other.link.pmf == "required":
        return f"to test it, take the open network beside it ({other.name})"
    # Settings of daemons take time to load, which most answers do not need.
    from airtoll.advising.settings import settings_of
    from airtoll.network.changing import form_of

    forms = [form_of(Path(one.name).read_text("utf-8", "replace")) for one in networks if one.name]
    program = next((one for one in forms if one in ("hostapd", "openwrt")), "openwrt")
    old = resolve(other.link.transition or other.name)
    there = _settings(settings_of(other, program))
    # wpa_supplicant's files of WPA2 are silent about 802.11w, which is off by default.
    here = [one for one in _settings(settings_of(old, "wpa-supplicant")) if "80211w" not in one]
    here.append("ieee80211w=0")
    listed, own = (" and ".join(f"`{one}`" for one in lines) for lines in (there, here))
    return (
        f"to test it, set {listed} on the access point ({other.name}) and {own} on the station; "
        "where the throughput is back, 802.11w is the cause"
    )


def _with_older(policy: Policy) -> Policy | None:
    """The policy that admits older stations beside its own, or, with EAP, the one before it."""
    link = policy.link
    if link.eap_method is not None:
        return resolve(f"wpa2{policy.name.removeprefix('wpa3')}")
    found = (
        one
        for one in catalogue()
        if one.link.transition is not None
        and (one.link.akm, one.link.generation) == (link.akm, link.generation)
        and not one.link.overriding
    )
    return next(found, None)


def _settings(text: str) -> list[str]:
    lines = [line.strip() for line in text.splitlines()]
    keys = [line.removeprefix("option ").partition("=")[0].split()[:1] for line in lines]
    return [line for line, key in zip(lines, keys, strict=True) if key and key[0] in _OF_PMF]


def _stated(option: str, source: str, ssid: str | None, band: str | None) -> Stated:
    try:
        # A folder may have the name of a policy, with the measurements under it.
        return Stated(resolve(source).name)
    except PolicyError as error:
        if source != "-" and not Path(source).is_file():
            from airtoll.advising.situation import neither

            raise UsageError(neither(option, source, error)) from error
    # The readers of files take time to load, which a policy does not need.
    from airtoll.advising.situation import networks_of, place_of

    network = networks_of(source, ssid, band, option)[0]
    assert network.policy is not None
    parts = [place_of(network)]
    parts += [network.phy] if network.phy else []
    parts += [f"{network.width_mhz} MHz"] if network.width_mhz else []
    parts += [f"802.11w {network.pmf}"] if network.pmf else []
    return Stated(
        resolve(network.policy).name,
        network.pmf,
        network.phy,
        network.band,
        network.width_mhz,
        (f"{option} {source}: {', '.join(parts)}", *network.assumed),
        source,
    )
