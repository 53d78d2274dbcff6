"""A network, its place and its limits, as ``airtoll advise --from`` knows them.

Takes a policy's name or a file, and options; gives a :class:`Situation` with everything that was
assumed. Measures nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Final, Literal

from attrs import field, frozen

from airtoll.errors import PolicyError, UsageError
from airtoll.network import Network, read
from airtoll.policies import resolve
from airtoll.policies.gates import why_not_at_6ghz
from airtoll.profiles import load
from airtoll.study.generations import GENERATIONS

Place = Literal["home", "office", "sensor"]
PLACES: Final[tuple[Place, ...]] = ("home", "office", "sensor")
#: PHY of a place where nothing names one.
_PHY: Final[dict[Place, str]] = {
    "home": "802.11ac",
    "office": "802.11ax",
    "sensor": "802.11n",
}
#: Clients that one access point of an office serves.
CLIENTS_PER_AP: Final = 50


@frozen
class Situation:
    """The network that one has.

    ``have``: canonical policy. ``requests_per_s``: of the RADIUS server, for all access points.
    ``clients``: of all access points. ``assumed``: choices where nothing was said, sentences.
    """

    have: str
    place: Place
    network: Network | None = None
    profile: str | None = None
    radius: bool = True
    phy: str = "802.11ac"
    band: str | None = None
    width_mhz: int | None = None
    clients: int = 1
    requests_per_s: float = 100.0
    assumed: tuple[str, ...] = field(default=())

    @property
    def access_points(self) -> int:
        """Access points that share the clients."""
        return -(-self.clients // CLIENTS_PER_AP)


def place_named(word: str | None) -> Place | None:
    """A place of the command line. Raises ``UsageError``."""
    for known in PLACES:
        if word == known:
            return known
    if word is not None:
        raise UsageError(f"--place {word}: allowed are {', '.join(PLACES)}")
    return None


def network_of(source: str, wanted: str | None) -> Network | None:
    """The network of a file; None where ``source`` names a policy.

    ``wanted``: its SSID or BSSID. Raises ``UsageError`` where the file has several and none is in
    use, ``PolicyError`` for a name that is neither.
    """
    if source != "-" and not Path(source).exists():
        try:
            resolve(source)
        except PolicyError as error:
            raise UsageError(f"--from {source}: neither a file nor a policy: {error}") from error
        if wanted is not None:
            raise UsageError("--ssid: --from names a policy, not a file with networks")
        return None
    found = read(source)
    if not found:
        raise UsageError(f"--from {source}: no network in it (a capture needs beacons)")
    return _chosen(source, found, wanted)


def _chosen(source: str, found: Sequence[Network], wanted: str | None) -> Network:
    known = ", ".join(dict.fromkeys(one.name for one in found))
    if wanted is not None:
        named = [one for one in found if wanted in (one.ssid, one.bssid)]
        if not named:
            raise UsageError(f"--ssid {wanted}: {source} has {known}")
        found = named
    elif len(found) > 1:
        found = [one for one in found if one.in_use] or [one for one in found if one.enabled]
    policies = {one.policy for one in found}
    if len(policies) > 1:
        raise UsageError(f"--from {source}: several networks; say --ssid NAME: {known}")
    # One network on several bands: the last is usually the newest radio.
    network = found[-1]
    if network.policy is None:
        raise UsageError(f"--from {source}: {network.name}: {'; '.join(network.remarks)}")
    return network


def _of_station(profile: str, phy: str | None, band: str | None) -> tuple[str | None, str | None]:
    """PHY and band of a station: those of its network that it has, or its own."""
    able = load(profile).capabilities
    phys = able.phys.values if able.phys is not None else ()
    bands = able.bands.values if able.bands is not None else ()
    chosen = phy if not phys or phy in phys else phys[-1]
    return chosen, band if not bands or band in bands else bands[0]


def situation(
    source: str,
    *,
    wanted: str | None = None,
    place: Place | None = None,
    profile: str | None = None,
    radius: bool | None = None,
    phy: str | None = None,
    band: str | None = None,
    clients: int | None = None,
    requests_per_s: float | None = None,
    said: bool = True,
) -> Situation:
    """The situation of a policy's name or a file, and of options. Raises ``UsageError``.

    ``said``: whether anyone named the policy.
    """
    network = network_of(source, wanted)
    have = resolve(source).name if network is None else network.policy
    assert have is not None
    assumed = [] if network is None else list(network.assumed)
    assumed += [] if said else [f"{have} today (--from)"]
    enterprise = resolve(have).link.eap_method is not None
    energy = load(profile).energy if profile is not None else None
    powers = energy is not None and energy.sleep_w is not None
    if place == "sensor" and not powers:
        raise UsageError(
            "--place sensor: needs --profile of a station with power figures, such as esp32-c3"
        )
    if place is None and powers:
        place = "sensor"
        assumed.append("a battery-powered station (--place)")
    elif place is None:
        place = "office" if enterprise or (clients or 1) > 10 else "home"
        assumed.append(f"{'an' if place == 'office' else 'a'} {place} (--place)")
    if radius is None:
        radius = enterprise or place != "home"
        assumed.append(f"{'a' if radius else 'no'} RADIUS server (--8021x or --no-8021x)")
    elif enterprise and not radius:
        raise UsageError(f"--no-8021x: {have} has a RADIUS server")
    if place == "sensor" and (clients is not None or requests_per_s is not None):
        raise UsageError("--clients and --requests: for --place office")
    at = band or (network.band if network is not None else None)
    if at == "6" and (reason := why_not_at_6ghz(resolve(have))):
        raise UsageError(f"--from {have}: not at 6 GHz: {reason}; say --band 5, or another --from")
    if place == "home" and requests_per_s is not None:
        raise UsageError("--requests: for --place office, where many devices join at once")
    if place == "home" and clients is not None:
        raise UsageError("--clients: for --place office; a home has one station here")
    known = network.phy if network is not None else None
    if place == "sensor" and profile is not None:
        phy, at = _of_station(profile, phy or known, at)
    chosen = phy or known or _PHY[place]
    if phy is None and known is None:
        assumed.append(f"{chosen} (--phy)")
    if chosen not in GENERATIONS:
        raise UsageError(f"--phy {chosen}: allowed are {', '.join(GENERATIONS)}")
    if place == "office" and clients is None:
        assumed.append(f"{CLIENTS_PER_AP} laptops (--clients)")
    if place == "office" and requests_per_s is None and radius:
        assumed.append("a RADIUS server that answers 100 requests/s (--requests)")
    return Situation(
        have=have,
        place=place,
        network=network,
        profile=profile,
        radius=radius,
        phy=chosen,
        band=at,
        width_mhz=network.width_mhz if network is not None else None,
        clients=clients or (CLIENTS_PER_AP if place == "office" else 1),
        requests_per_s=requests_per_s or 100.0,
        assumed=tuple(assumed),
    )
