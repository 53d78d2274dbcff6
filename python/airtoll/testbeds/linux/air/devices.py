"""Devices whose processors take virtual time: from a study's device profiles to the medium.

Takes a cell with ``device_costs = "everywhere"``; gives the hosts of its nodes as the resolved
scenario has them, with the policy and the options of its associations, in JSON for a job. Prices
nothing itself: the costs come from ``testbeds.resolve``, and the medium spends them by the
simulator's rules.
"""

from __future__ import annotations

from attrs import evolve

from airtoll import border
from airtoll.plan import Cell, resolved
from airtoll.policies import Cipher
from airtoll.profiles import Profile, load
from airtoll.testbeds import resolve
from airtoll.testbeds.domains import DOMAINS
from airtoll.testbeds.joining import RADIUS
from airtoll.testbeds.linux.job import ACCESS_POINTS


def charged(cell: Cell) -> bool:
    """Whether a cell wants the costs of its device profiles on real daemons, too."""
    return cell.settings.device_costs == "everywhere"


def profiles_of(cell: Cell) -> tuple[Profile, ...]:
    """The profiles of the devices with radios."""
    settings = cell.settings
    names = [station.profile for station in resolve.station_list(settings)]
    return tuple(load(cell.profile(name)) for name in [*names, settings.ap.profile])


def in_domains(cell: Cell) -> bool:
    """Whether the cell has two domains, whose agents the medium does not see."""
    return charged(cell) and cell.settings.topology in DOMAINS


def with_bridge(cell: Cell) -> bool:
    """Whether a host is behind a wireless bridge."""
    return charged(cell) and cell.settings.bridge is not None


def with_tunnel(cell: Cell) -> bool:
    """Whether a tunnel hides its handshake and its packets from the medium."""
    return charged(cell) and bool(cell.security.tunnels)


def with_other_handover(cell: Cell) -> bool:
    """Whether a later association may have another handshake than the first one."""
    moves, again = cell.settings.handover, cell.settings.join.deauthenticate_at_s is not None
    once = moves is None or (moves.method == "full" and moves.path == (2,) and moves.walk is None)
    return charged(cell) and (again or not once)


def with_proxies(cell: Cell) -> bool:
    """Whether RADIUS proxies take time of their own."""
    return charged(cell) and bool(cell.settings.radius.chain)


def with_leap(cell: Cell) -> bool:
    """Whether the authentication server is on the access point."""
    return charged(cell) and cell.security.link.eap_method == "leap"


def with_card(cell: Cell) -> bool:
    """Whether a profile prepares frames in a network card or sends them in bursts."""
    return charged(cell) and any(
        profile.card is not None or profile.radio.frame_burst_us.value > 0
        for profile in profiles_of(cell)
    )


def with_spacing(cell: Cell) -> bool:
    """Whether a profile puts octets between the MPDUs of an A-MPDU."""
    radios = [profile.radio for profile in profiles_of(cell)]
    return charged(cell) and any(
        radio.cipher_delimiters
        or (radio.mpdu_start_spacing_us is not None and radio.mpdu_start_spacing_us.value > 0)
        for radio in radios
    )


def of_cell(cell: Cell) -> str | None:
    """The devices of a cell as the JSON of ``border.MediumDevices``; ``None`` without costs.

    Radios have the names of stations, and one name for all access points.
    """
    if not charged(cell):
        return None
    # Stations always associate here, and an authentication server always takes part.
    settings = cell.settings.model_copy(update={"authenticate": True})
    cell = resolved(evolve(cell, settings=settings)).cell
    scenario = resolve.scenario(cell)
    hosts = {node.name: _plain_host(node.host) for node in scenario.nodes}
    association = scenario.associations[0]
    policy = cell.security
    cipher = policy.link.cipher if policy.link.encrypts_data else Cipher.NONE
    stations = [station.name for station in resolve.station_list(settings)]
    return border.to_json(
        border.MediumDevices(
            radios=tuple(
                border.MediumDevice(radios=(name,), host=host)
                for name, host in [
                    *((name, hosts[name]) for name in stations),
                    (ACCESS_POINTS, hosts[resolve.AP]),
                ]
            ),
            wired=hosts.get(resolve.SERVER),
            authentication_server=hosts.get(RADIUS),
            cipher=border.CipherSuite(cipher.value),
            policy=association.policy,
            options=association.options,
        )
    )


def _plain_host(host: border.Host) -> border.Host:
    """The host without the parts that cost no time of a CPU."""
    return evolve(host, nic=None, energy=None)
