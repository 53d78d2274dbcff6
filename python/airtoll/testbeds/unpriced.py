"""Ciphers that a device runs on its CPU and whose cost its profile does not have.

The simulator counts such a cipher as fast enough for the air, so that a throughput under it says
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
_TUNNELS = frozenset({*esp_suites().values(), "wireguard"})


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
    named = {cell.profile(station.profile) for station in station_list(settings)}
    named |= {cell.profile(settings.ap.profile), cell.profile(settings.server.profile)}
    policies = [station_policy(cell, station) for station in station_list(settings)]
    links = {
        str(policy.link.cipher)
        for policy in policies
        if policy.link.encrypts_data and policy.link.cipher is not Cipher.NONE
    }
    tunnels = {tunnel.suite for policy in policies for tunnel in policy.tunnels}
    for name in sorted(named):
        profile = load(name)
        for suites, kind in ((links, _on_cpu(profile) - _TUNNELS), (tunnels, _on_cpu(profile))):
            missing = sorted(suites - profile.cipher.keys())
            if kind and missing:
                return f"{profile.name} has no cost of {missing[0].upper()} on its CPU"
    return None


def _on_cpu(profile: Profile) -> set[str]:
    return {name for name, cost in profile.cipher.items() if cost.engine == "cpu"}
