"""A network, its place and its limits, as ``airtoll advise --from`` knows them.

Takes a policy's name or a file, and options; gives a :class:`Situation` with everything that was
assumed. Measures nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from pathlib import Path
from typing import Final, Literal, get_args

from attrs import field, frozen

from airtoll.advising.sensor import VOLTAGE, Battery, battery_of, every_in_words, seconds_of
from airtoll.errors import PolicyError, UsageError
from airtoll.network import Network, read
from airtoll.policies import resolve
from airtoll.policies.gates import why_not_at_6ghz
from airtoll.profiles import Profile, load, shipped
from airtoll.run.neighbouring import Neighbours, neighbours_of
from airtoll.study.generations import GENERATIONS, phy_name
from airtoll.study.join import SIGNATURES, Join

Place = Literal["home", "office", "sensor"]
#: Devices beyond which a place of which nothing is said is an office.
_MOST_AT_HOME: Final = 10
#: Far end of a station's tunnel, as `tunnel_end` of a study.
TunnelEnd = Literal["access-point", "server"]
#: Word of the command line -> far end of a tunnel. A router at home is the access point.
TUNNEL_ENDS: Final[dict[str, TunnelEnd]] = {
    "router": "access-point",
    "access-point": "access-point",
    "server": "server",
}
PLACES: Final[tuple[Place, ...]] = ("home", "office", "sensor")
#: PHY of a place where nothing names one.
_PHY: Final[dict[Place, str]] = {
    "home": "802.11ac",
    "office": "802.11ax",
    "sensor": "802.11n",
}
#: Clients that one access point of an office serves.
CLIENTS_PER_AP: Final = 50
#: Certificates of a RADIUS server where nothing else is known.
CHAIN: Final[str] = Join.model_fields["chain"].default
#: Versions of TLS in EAP.
TLS: Final[tuple[str, ...]] = get_args(Join.model_fields["tls"].annotation)
#: Battery and interval of a sensor where nothing else is known.
_BATTERY: Final = battery_of(f"1000mAh@{VOLTAGE:g}V")
_EVERY_S: Final = 900.0
#: Letters of a profile's name that tell its family: esp.
_FAMILY: Final = 3


@frozen
class Situation:
    """The network that one has.

    ``have``: canonical policy. ``requests_per_s``: of the RADIUS server, for all access points.
    ``clients``: of all access points; ``aps``: how many those are, None: one for
    ``CLIENTS_PER_AP`` of them. ``chain``: kind of the certificates of server and clients, as
    ``join.chain`` of a study. ``beside``: other networks of the file, which the answer is not
    about. ``battery`` and ``every_s``: of a sensor, the interval of its messages, s. ``assumed``:
    choices where nothing was said, sentences. ``tunnel_end``: the far end of a station's tunnel;
    ``tunnel_end_said``: whether anyone named it. ``level_dbm`` and ``distance_m``: of the stations
    at the access point, one of them at most; without both they are near it. ``tls_resumption``:
    stations and RADIUS server keep the TLS sessions of earlier joins. ``tls``: version of TLS in
    EAP, as ``join.tls`` of a study; None: the one that the place has. ``multiplication_ms``: of a
    point on the CPU of the access point (``ap.multiplication_ms`` of a study) or of a sensor
    (``join.multiplication_ms``); None: as its profile has it. ``boot_ms`` and ``boot_mj``: of a
    sensor, time and energy from a wake-up to the first frame of its join (``duty.wake_ms`` and
    ``duty.wake_mj`` of a study); None: as the place and its profile have them. ``neighbours``:
    other networks on the channel; None: nothing is said of them, and the answer leaves them out.
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
    aps: int | None = None
    requests_per_s: float = 100.0
    chain: str = CHAIN
    assumed: tuple[str, ...] = field(default=())
    beside: tuple[Network, ...] = ()
    battery: Battery = _BATTERY
    every_s: float = _EVERY_S
    tunnel_end: TunnelEnd = "access-point"
    tunnel_end_said: bool = False
    level_dbm: float | None = None
    distance_m: float | None = None
    tls_resumption: bool = False
    tls: str | None = None
    multiplication_ms: float | None = None
    boot_ms: float | None = None
    boot_mj: float | None = None
    neighbours: Neighbours | None = None

    @property
    def router(self) -> str:
        """The access point as people of this place call it."""
        return "router" if self.place == "home" else "access point"

    @property
    def access_points(self) -> int:
        """Access points that share the clients."""
        return self.aps or -(-self.clients // CLIENTS_PER_AP)


def place_named(word: str | None) -> Place | None:
    """A place of the command line. Raises ``UsageError``."""
    for known in PLACES:
        if word == known:
            return known
    if word is not None:
        raise UsageError(f"--place {word}: allowed are {', '.join(PLACES)}")
    return None


def usual(have: str) -> str:
    """The assumption of a policy where the question names none."""
    return f"{have} today (--from)"


def is_read(source: str) -> bool:
    """Whether a source is read: standard input, a file or a pipe. A folder may have the name of a
    policy.
    """
    path = Path(source)
    return source == "-" or (path.exists() and not path.is_dir())


def networks_of(
    source: str, wanted: str | None, band: str | None, option: str = "--from"
) -> tuple[Network, ...]:
    """The networks of a file, the one that is asked about first; none where ``source`` names a
    policy.

    ``wanted``: its SSID or BSSID. ``band``: GHz. ``option``: that names the source. Raises
    ``UsageError`` where the file has several with different policies,
    ``PolicyError`` for a name that is neither.
    """
    if not is_read(source):
        try:
            resolve(source)
        except PolicyError as error:
            raise UsageError(neither(option, source, error)) from error
        if wanted is not None:
            raise UsageError(f"--ssid: {option} names a policy, not a file with networks")
        return ()
    found = read(source)
    if not found:
        raise UsageError(f"{option} {source}: no network in it (a capture needs beacons)")
    network = _chosen(source, found, wanted, band, option)
    return (network, *(one for one in found if one is not network and one.enabled))


def neither(option: str, source: str, error: PolicyError) -> str:
    """The words for a source that is neither a file here nor, by ``error``, a policy."""
    why = str(error).removeprefix(f"policy {source!r}: ")
    if Path(source).is_dir():
        return f"{option} {source}: a folder, which is not read, and no policy; {why}"
    # 802.11i is no name of a file.
    is_file = Path(source).suffix[1:].isalpha() or source == "wireless"
    if "/" in source or is_file:
        file = source if source.startswith("/etc/") else "/etc/config/wireless"
        return (
            f"{option} {source}: no such file; copy it from the router, e.g. "
            f"scp root@192.168.1.1:{file} ."
        )
    return f"{option} {source}: neither a file nor a policy; {why}"


def _chosen(
    source: str,
    found: Sequence[Network],
    wanted: str | None,
    band: str | None,
    asked: str,
) -> Network:
    if wanted is not None:
        named = [one for one in found if wanted in (one.ssid, one.bssid)]
        if not named:
            raise UsageError(f"--ssid {wanted}: {source} has {_listed(found)}")
        found = named
    elif len(found) > 1:
        found = [one for one in found if one.in_use] or [one for one in found if one.enabled]
    if band is not None and any(one.band is not None for one in found):
        at = [one for one in found if one.band in (band, None)]
        if not at:
            raise UsageError(f"--band {band}: {source} has {_listed(found)}")
        found = at
    policies = {one.policy for one in found}
    if len(policies) > 1 and len({_secured_by(one) for one in found}) > 1:
        same_name = len({one.name for one in found}) == 1
        option = "--band GHZ" if same_name else "--ssid NAME, or --band GHZ"
        raise UsageError(
            f"{asked} {source}: several networks with different security; say {option}: "
            f"{_listed(found)}"
        )
    # One network on several bands: the last is usually the newest radio.
    network = found[-1]
    if network.policy is None:
        raise UsageError(f"{asked} {source}: {network.name}: {'; '.join(network.remarks)}")
    return network


def _secured_by(network: Network) -> Hashable:
    """The security that is asked about: radios of one network may differ in the protection of
    management frames, in the hash of the key, and in fast transition.
    """
    if network.policy is None:
        return None
    link = resolve(network.policy).link
    return (
        network.name, link.generation, link.cipher, link.eap_method, link.transition,
        link.overriding, network.policy.endswith("+mac-acl"),
    )  # fmt: skip


def _listed(networks: Sequence[Network]) -> str:
    """``home (2.4 GHz, wpa2-psk-ccmp), home (5 GHz, wpa3-sae-ccmp)``."""
    return ", ".join(dict.fromkeys(place_of(one) for one in networks))


def place_of(network: Network) -> str:
    """A network's name with its band and policy."""
    told = [f"{network.band} GHz"] if network.band else []
    told += [network.policy] if network.policy else []
    return f"{network.name} ({', '.join(told)})" if told else network.name


def _able(
    profile: str, place: Place, phy: str | None, band: str | None, network: Network | None
) -> tuple[str | None, str | None]:
    """PHY and band of a device: those that are asked for, else those of its network or its own.

    A station joins a newer network with the PHY that it has; an access point is its network.
    Raises ``UsageError`` for a PHY, band or width that the device lacks.
    """
    able = load(profile).capabilities
    phys = able.phys.values if able.phys is not None else ()
    bands = able.bands.values if able.bands is not None else ()
    for option, asked, has in (("--phy", phy, phys), ("--band", band, bands)):
        if asked is not None and has and asked not in has:
            raise UsageError(_lacks(profile, f"{option} {asked}", has))
    if place != "sensor" and network is not None:
        _refuse_network(profile, network)
    known = (network.phy, network.band) if network is not None else (None, None)
    phy, band = phy or known[0], band or known[1]
    if phys and (phy or _PHY[place]) not in phys:
        phy = phys[-1]
    if place == "sensor" and bands and band not in bands:
        band = bands[0]
    if place != "sensor" and band is None and bands and "5" not in bands:
        band = bands[-1]
    return phy, band


def _lacks(profile: str, asked: str, has: Sequence[str]) -> str:
    return f"{asked}: {profile} has {', '.join(has)} (airtoll profiles show {profile})"


def _refuse_network(profile: str, network: Network) -> None:
    """Raise ``UsageError`` for the network of an access point that lacks its PHY, band or width."""
    able = load(profile).capabilities
    for names, value, unit in (
        (able.phys, network.phy, ""),
        (able.bands, network.band, " GHz"),
        (able.widths_mhz, network.width_mhz, " MHz"),
    ):
        if names is not None and value is not None and str(value) not in names:
            asked = f"--profile {profile}: {network.name} has {value}{unit}"
            raise UsageError(_lacks(profile, asked, [f"{one}{unit}" for one in names.values]))


def situation(  # noqa: PLR0913 - keywords of the library
    source: str,
    *,
    wanted: str | None = None,
    place: Place | None = None,
    profile: str | None = None,
    radius: bool | None = None,
    phy: str | None = None,
    band: str | None = None,
    clients: int | None = None,
    access_points: int | None = None,
    requests_per_s: float | None = None,
    chain: str | None = None,
    battery: str | None = None,
    every: str | None = None,
    tunnel_end: str | None = None,
    level_dbm: float | None = None,
    distance_m: float | None = None,
    tls_resumption: bool = False,
    tls: str | None = None,
    multiplication_ms: float | None = None,
    boot_ms: float | None = None,
    boot_mj: float | None = None,
    neighbours: str | None = None,
    said: bool = True,
) -> Situation:
    """The situation of a policy's name or a file, and of options. Raises ``UsageError``.

    ``battery`` and ``every``: of a sensor, as ``2000mAh@3.7V`` and ``1h``. ``said``: whether anyone
    named the policy. ``tunnel_end``: router, access-point or server. ``neighbours``: ``3@-70``, or
    a file of networks.
    """
    # A scan of neighbours has the own network, too, which --ssid names in it.
    in_scan = neighbours is not None and Path(neighbours).is_file()
    of_scan = in_scan and not is_read(source)
    network, *beside = networks_of(source, None if of_scan else wanted, band) or (None,)
    have = resolve(source).name if network is None else network.policy
    assert have is not None
    assumed = [] if network is None else list(network.assumed)
    assumed += [] if said else [usual(have)]
    enterprise = resolve(have).link.eap_method is not None
    is_sensor = place == "sensor" or battery is not None or every is not None
    powers = profile is not None and _sleeps(load(profile, _fits(profile, sensor=is_sensor)))
    if place == "sensor" and not powers:
        raise UsageError(f"--place sensor: {_without_powers(profile)}")
    if place is None and not (is_sensor or powers) and profile is not None:
        _refuse_station(profile)
    if place is None and powers:
        place = "sensor"
        assumed.append("a battery-powered station (--place)")
    elif place is None:
        only_office = requests_per_s is not None or access_points is not None
        is_office = enterprise or only_office or (clients or 1) > _MOST_AT_HOME
        place = "office" if is_office else "home"
        assumed.append(f"{'an' if place == 'office' else 'a'} {place} (--place)")
    if radius is None:
        radius = enterprise or place != "home"
        assumed.append(f"{'a' if radius else 'no'} RADIUS server (--8021x or --no-8021x)")
    elif enterprise and not radius:
        raise UsageError(f"--no-8021x: {have} has a RADIUS server")
    if place == "sensor" and (clients is not None or requests_per_s is not None):
        raise UsageError("--clients and --requests: for --place office")
    for option, word in (("--battery", battery), ("--every", every)):
        if word is not None and place != "sensor":
            why = f"not for --place {place}" if powers else _without_powers(profile)
            raise UsageError(f"{option} is for --place sensor; {why}")
    cell = _BATTERY if battery is None else battery_of(battery)
    every_s = _EVERY_S if every is None else seconds_of(every)
    if place == "sensor":
        assumed += [] if battery else [f"a battery of {cell.words} (--battery)"]
        assumed += [cell.assumed] if cell.assumed else []
        assumed += [] if every else [f"a message {every_in_words(every_s)} (--every)"]
    _check_boot(place, every_s, boot_ms, boot_mj)
    at = band or (network.band if network is not None else None)
    if at == "6" and (reason := why_not_at_6ghz(resolve(have))):
        raise UsageError(f"--from {have}: not at 6 GHz: {reason}; say --band 5, or another --from")
    if place == "home" and requests_per_s is not None:
        raise UsageError("--requests: for --place office, where many devices join at once")
    if place == "home" and clients is not None:
        raise UsageError("--clients: for --place office; a home has one station here")
    if place != "office" and access_points is not None:
        raise UsageError("--access-points: for --place office")
    known = network.phy if network is not None else None
    phy = None if phy is None else phy_name(phy)
    own = phy or known
    if profile is not None:
        own, at = _able(profile, place, phy, band, network)
    chosen = own or _PHY[place]
    if phy is None and chosen != known:
        assumed.append(f"{chosen} (--phy)")
    if chosen not in GENERATIONS:
        raise UsageError(f"--phy {chosen}: allowed are {', '.join(GENERATIONS)}")
    many = clients or (CLIENTS_PER_AP if place == "office" else 1)
    if access_points is not None and access_points > many:
        raise UsageError(f"--access-points {access_points}: there are {many} laptops (--clients)")
    if place == "office" and clients is None:
        assumed.append(f"{CLIENTS_PER_AP} laptops (--clients)")
    if place == "office" and access_points is None:
        aps = -(-many // CLIENTS_PER_AP)
        taken = f"{aps} access points, one for" if aps > 1 else "1 access point for up to"
        assumed.append(f"{taken} {CLIENTS_PER_AP} laptops (--access-points)")
    if place == "office" and requests_per_s is None and radius:
        assumed.append("a RADIUS server that answers 100 requests/s (--requests)")
    if chain is not None and not radius:
        raise UsageError(
            "--chain: certificates are of a RADIUS server, and there is none (--8021x)"
        )
    if chain is not None and chain not in SIGNATURES:
        raise UsageError(f"--chain {chain}: allowed are {', '.join(SIGNATURES)}")
    if tls is not None and not radius:
        raise UsageError(f"--tls {tls}: TLS is of EAP, and there is no RADIUS server (--8021x)")
    if tls is not None and tls not in TLS:
        raise UsageError(f"--tls {tls}: allowed are {', '.join(TLS)}")
    if chain is not None and tls not in (None, "1.3") and Join(chain=chain).is_post_quantum:
        raise UsageError(f"--tls {tls}: certificates of --chain {chain} need TLS 1.3")
    if chain is None and radius:
        assumed.append(f"{CHAIN} certificates (--chain)")
    if tls_resumption and not radius:
        raise UsageError(
            "--tls-resumption: TLS sessions are of a RADIUS server, and there is none (--8021x)"
        )
    if place == "office" and radius and not tls_resumption:
        assumed.append("no TLS session is kept from earlier joins (--tls-resumption)")
    if level_dbm is not None and distance_m is not None:
        raise UsageError("--level, --distance: one of them, the other follows")
    if level_dbm is None and distance_m is None and place != "office" and network is not None:
        level_dbm = network.signal_dbm
    heard = None if neighbours is None else _neighbours(neighbours, wanted, source, network, place)
    if heard is not None and heard.assumed:
        assumed.append(f"neighbours at {heard.level_dbm:g} dBm (--neighbours N@LEVEL)")
    return Situation(
        have=have,
        place=place,
        network=network,
        profile=profile,
        radius=radius,
        phy=chosen,
        band=at,
        width_mhz=network.width_mhz if network is not None else None,
        clients=many,
        aps=access_points,
        requests_per_s=requests_per_s or 100.0,
        chain=chain or CHAIN,
        assumed=tuple(assumed),
        beside=tuple(one for one in beside if one is not None),
        battery=cell,
        every_s=every_s,
        tunnel_end=_tunnel_end(tunnel_end, place),
        tunnel_end_said=tunnel_end is not None,
        level_dbm=level_dbm,
        distance_m=distance_m,
        tls_resumption=tls_resumption,
        tls=tls,
        multiplication_ms=multiplication_ms,
        boot_ms=boot_ms,
        boot_mj=boot_mj,
        neighbours=heard,
    )


def _neighbours(
    text: str, wanted: str | None, source: str, network: Network | None, place: Place
) -> Neighbours:
    """The other networks on the channel. Raises ``UsageError``."""
    if place == "sensor":
        raise UsageError(
            "--neighbours: for --place home or office; a sensor's join and message take "
            "milliseconds of the air"
        )
    if wanted is None and network is not None and text == source:
        wanted = network.bssid or network.ssid
    return neighbours_of(text, wanted)


def _check_boot(place: Place, every_s: float, boot_ms: float | None, boot_mj: float | None) -> None:
    """Refuse a boot that no sensor of this interval has."""
    for option, value in (("--boot-ms", boot_ms), ("--boot-mj", boot_mj)):
        if value is not None and place != "sensor":
            raise UsageError(f"{option}: for --place sensor, which wakes from deep sleep")
    if boot_ms is not None and not 0 < boot_ms < 1e3 * every_s:
        raise UsageError(f"--boot-ms {boot_ms:g}: above 0, and shorter than --every")


def _tunnel_end(word: str | None, place: Place) -> TunnelEnd:
    """The far end of a tunnel: of a home its router, of other places a server, unless said."""
    if word is None:
        return "access-point" if place == "home" else "server"
    if word not in TUNNEL_ENDS:
        raise UsageError(f"--tunnel-end {word}: allowed are {', '.join(TUNNEL_ENDS)}")
    if place == "sensor":
        raise UsageError("--tunnel-end: a sensor has no tunnel here (--place home, office)")
    return TUNNEL_ENDS[word]


def _sleeps(profile: Profile) -> bool:
    """Whether a profile has the power of deep sleep, as a battery-powered station needs it."""
    return profile.energy is not None and profile.energy.sleep_w is not None


def _fits(wanted: str, *, sensor: bool) -> Callable[[Profile], bool] | None:
    """The profiles that may be meant by an unknown name: of a sensor, those that sleep. A name
    that begins like one of a microcontroller is no access point's either.
    """
    families = {name[:_FAMILY] for name, one in shipped().items() if _sleeps(one)}
    return _sleeps if sensor or wanted.strip().lower()[:_FAMILY] in families else None


def _refuse_station(profile: str) -> None:
    """Raise ``UsageError`` for a station's profile where nothing says what the answer is about.

    Power save is what stations do: an access point has none.
    """
    one = load(profile)
    if one.capabilities.power_save is None:
        return
    sleepers = " or ".join(
        f"--profile {name}" for name, other in shipped().items() if _sleeps(other)
    )
    raise UsageError(
        f"--profile {profile} is a station, without the power figures that a battery needs: write "
        f"{sleepers} for a sensor like it, --from POLICY without it for the network that it joins, "
        "or --place home with it where it is the access point"
    )


def _without_powers(profile: str | None) -> str:
    """Why a profile, or none, is none of a battery-powered station, and those that are."""
    known = [name for name, one in shipped().items() if _sleeps(one)]
    named = f"--profile {' or '.join(known)}"
    if profile is None:
        return f"needs the profile of a station with power figures: {named}"
    return f"{profile} has no power figures of deep sleep; take {named}"
