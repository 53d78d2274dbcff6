"""Ciphers and tunnels that a device runs on its CPU and whose cost its profile does not have.

The simulator counts them as fast enough for the air, so that a throughput under them says
nothing about the device. Takes a cell; gives a sentence. Simulates nothing.
"""

from __future__ import annotations

from functools import lru_cache

from airtoll.observe.metrics import UNPRICED
from airtoll.plan import Cell
from airtoll.policies import Cipher
from airtoll.policies.suites import esp_suites
from airtoll.profiles import Profile, load
from airtoll.testbeds.resolve import station_list, station_policy

#: Suites of tunnels; the other suites of a profile are those of links.
_TUNNELS = frozenset({*esp_suites().values(), "wireguard", "openvpn-aes-gcm"})


@lru_cache(maxsize=1024)
def caveats(cell: Cell) -> tuple[str, ...]:
    """The caveat of a simulated trial under such a cipher, if there is one."""
    why = why_unknown(cell)
    return () if why is None else (UNPRICED + why,)


def why_unknown(cell: Cell) -> str | None:
    """The first profile and cipher without a cost, in a sentence; ``None`` if there is none.

    Raises ``ProfileError`` for an unknown profile.
    """
    settings = cell.settings
    stations = station_list(settings)
    named = {cell.profile(station.profile) for station in stations}
    named |= {cell.profile(settings.ap.profile), cell.profile(settings.server.profile)}
    policies = [station_policy(cell, station) for station in stations]
    links = {
        str(policy.link.cipher)
        for policy in policies
        if policy.link.encrypts_data and policy.link.cipher is not Cipher.NONE
    }
    for name in sorted(named):
        profile = load(name)
        missing = sorted(suite for suite in links if not prices_link(profile, suite))
        if missing and not radio_is_unknown(profile):
            return f"{profile.name} has no cost of {missing[0].upper()} on its CPU"
    far = settings.ap if settings.tunnel_end == "access-point" else settings.server
    for station, policy in zip(stations, policies, strict=True):
        for end in (station.profile, far.profile):
            profile = load(cell.profile(end))
            for tunnel in policy.tunnels:
                if reason := _unpriced_end(profile, tunnel.suite):
                    return reason
    return None


def radio_is_unknown(profile: Profile) -> bool:
    """Whether a profile says nothing of the ciphers that its radio or its CPU works out."""
    return profile.capabilities.hardware_ciphers is None and not profile.cipher.keys() - _TUNNELS


def prices_link(profile: Profile, suite: str) -> bool:
    """Whether the cost of a link's cipher on a device's CPU is known: it has a price, the radio
    works the cipher out, or the device has no processor of its own.
    """
    if profile.clock_hz.value == 0 or suite in profile.cipher:
        return True
    return bool(profile.capabilities.works_out(suite))


@lru_cache(maxsize=1024)
def note(cell: Cell) -> str | None:
    """The same with what it means for the figures of the cell."""
    why = why_unknown(cell)
    return None if why is None else f"throughput unknown, shown as if that took no time: {why}"


def _unpriced_end(profile: Profile, suite: str) -> str | None:
    if profile.clock_hz.value == 0 or suite in profile.cipher:
        return None  # no processor of its own, or priced among the ciphers
    cost = profile.tunnel.get(suite)
    if cost is None:
        return f"{profile.name} has no cost of {suite.upper()} on its CPU"
    if cost.unknown is not None:
        return f"{profile.name}: the cost of {suite.upper()} is unknown: {cost.unknown}"
    return None
