"""Networks that a device can join: by policy and band, at an access point of 802.11be.

Takes the capabilities of a profile and a policy; gives the PHY of the link in each band of the
device, or the reason for which there is none. A capability that a profile does not state is taken
to be there.
"""

from __future__ import annotations

from typing import Final

from attrs import frozen

from airtoll.plan.abilities import lacks_security
from airtoll.policies import Policy
from airtoll.policies.gates import findings
from airtoll.policies.transition import offers
from airtoll.profiles import Capabilities, Profile, shipped

#: PHYs by band, GHz, the latest first.
_PHYS: Final = {
    "2.4": ("802.11be", "802.11ax", "802.11n", "802.11g", "802.11b"),
    "5": ("802.11be", "802.11ax", "802.11ac", "802.11n", "802.11a"),
    "6": ("802.11be", "802.11ax"),
}
_ACCESS_POINT: Final = "802.11be"
_LEGACY: Final = ("802.11g", "802.11a", "802.11b")
#: Policies of the access points of today.
COMMON: Final = (
    "open",
    "wpa-psk-tkip",
    "wpa2-psk-ccmp",
    "wpa2-wpa3-psk-transition",
    "wpa2-wpa3-psk-compatibility",
    "wpa3-sae-ccmp",
    "wpa3-sae-ext-gcmp-256",
    "owe-ccmp",
)


@frozen
class Visible:
    """A band of a device: PHY and policy of its ``link`` there, or why it joins nothing."""

    band: str
    phy: str | None
    link: str | None = None
    reason: str = ""


def joining() -> list[Profile]:
    """The profiles of devices that join networks: their PHYs are known, and they are no routers.

    A router's profile prices tunnels.
    """
    return [
        one for one in shipped().values() if one.capabilities.phys is not None and not one.tunnel
    ]


def networks(can: Capabilities, policy: Policy) -> tuple[Visible, ...]:
    """The link of a device to a network with this policy, for each of its bands."""
    bands = _PHYS if can.bands is None else [band for band in _PHYS if band in can.bands]
    return tuple(_in_band(can, policy, band) for band in bands)


def in_words(bands: tuple[Visible, ...]) -> str:
    """The bands of a device in one cell of a table."""
    joined = [f"{one.band} GHz {one.phy.removeprefix('802.11')}" for one in bands if one.phy]
    reasons = dict.fromkeys(one.reason for one in bands if one.phy is None and not joined)
    return ", ".join(joined) or "; ".join(reasons) or "no band"


def _in_band(can: Capabilities, policy: Policy, band: str) -> Visible:
    phys = [phy for phy in _PHYS[band] if can.phys is None or phy in can.phys]
    if not phys:
        return Visible(band, None, reason=f"no PHY of {band} GHz")
    whole = findings(phys[0], f"{band}ghz", policy)
    closed = [one.reason for one in whole if one.gate.effect == "refused"]
    if closed:
        # The access point does not open such a network in this band at all.
        return Visible(band, None, reason=closed[0])
    reason = ""
    for offer in offers(policy, _ACCESS_POINT):
        lack = next(lacks_security(can, offer.policy), None)
        found = findings(phys[0], f"{band}ghz", offer.policy)
        # Whether a device knows the elements that override the first one is not in its profile.
        if offer.place.startswith("RSNE Override") and phys[0] != _ACCESS_POINT:
            lack = lack or "no 802.11be, whose devices know RSN overriding"
        if lack:
            reason = reason or lack
            continue
        phy = _after(phys, {one.gate.effect for one in found})
        if phy is not None:
            return Visible(band, phy, offer.policy.name)
        reason = reason or f"no rates of {' or '.join(_LEGACY)}"
    return Visible(band, None, reason=reason)


def _after(phys: list[str], effects: set[str]) -> str | None:
    """The PHY that is left after the gates' fallbacks; None if the device has none of these."""
    if "non-HT rates" in effects:
        return next((phy for phy in phys if phy in _LEGACY), None)
    if "802.11ax" in effects:
        return next((phy for phy in phys if phy != _ACCESS_POINT), None)
    return phys[0]
