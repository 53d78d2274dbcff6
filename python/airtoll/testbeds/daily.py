"""The day of a battery-powered station (``duty``): what a cell needs for it, and what is not known.

Takes a cell; gives sentences. The native code works the day out of a simulated join and the
messages of a trial (``crates/airtoll-wlan/src/report/energy.rs``).
"""

from __future__ import annotations

from functools import lru_cache

from airtoll import _native, border
from airtoll.plan import Cell
from airtoll.policies import Policy
from airtoll.profiles import Profile, load
from airtoll.study import Scenario, Station
from airtoll.testbeds import joining
from airtoll.testbeds.resolve import SAE_MULTIPLICATION, station_list, station_policy

#: Milliseconds of a day.
_DAY_MS = 86.4e6


def why_not(cell: Cell) -> str | None:
    """Why a day of the stations cannot be worked out, or ``None``.

    Raises ``ProfileError`` for an unknown profile.
    """
    for station in cell.settings.stations:
        if station.dtim_wake and station.listen_interval is None:
            return "stations.dtim_wake needs listen_interval"
    duty = cell.settings.duty
    if duty is None:
        return None
    powered = [(one, load(cell.profile(one.profile))) for one in cell.settings.stations]
    powered = [(one, profile) for one, profile in powered if profile.energy is not None]
    if not powered:
        return "duty needs a station whose profile has power figures: `airtoll profiles list`"
    problem = _joins(cell.settings, powered)
    if problem is None and duty.messages_per_day:
        if cell.load.transport != "udp" or cell.load.offered_mbps is None:
            problem = "duty.messages_per_day needs UDP datagrams at a stated rate (offered_mbps)"
    elif problem is None and duty.message_ms:
        problem = "duty.message_ms needs duty.messages_per_day"
    return problem or _between(duty.between, powered)


def _joins(settings: Scenario, powered: list[tuple[Station, Profile]]) -> str | None:
    duty = settings.duty
    if duty is not None and duty.wake_mj is not None and not duty.wake_ms:
        return "duty.wake_mj needs duty.wake_ms above 0"
    if duty is None or not duty.joins_per_day:
        idle = duty is None or duty.wake_ms is None
        return None if idle else "duty.wake_ms needs duty.joins_per_day above 0"
    if not settings.authenticate:
        return "duty.joins_per_day needs authenticate = true: the join is measured"
    if duty.wake_ms is None:
        return "duty.joins_per_day needs duty.wake_ms: the time of a wake-up is not known"
    if duty.joins_per_day * duty.wake_ms > _DAY_MS:
        return "duty: the wake-ups (joins_per_day times wake_ms) take longer than a day"
    if any(station.joins_at_s is not None for station, _ in powered):
        return "duty.joins_per_day: a join during the traffic (joins_at_s) has no energy"
    return None


def _between(between: str, powered: list[tuple[Station, Profile]]) -> str | None:
    for station, profile in powered:
        if between == "doze" and not station.dozes:
            return f'duty.between = "doze": station {station.name} needs listen_interval'
        if between == "doze":
            continue
        if station.dozes:
            return f'duty: station {station.name} dozes, which needs duty.between = "doze"'
        if profile.energy is not None and profile.energy.sleep_w is None:
            return f"duty: the power of {profile.name} in deep sleep is not known"
    return None


@lru_cache(maxsize=1024)
def unknown(cell: Cell) -> str | None:
    """Why the energy of a join is not known where a study asks for it: a handshake operation
    without a cost; ``None`` where it is known or not asked for.

    Raises ``ProfileError`` for an unknown profile.
    """
    if cell.settings.duty is None or not cell.settings.duty.joins_per_day:
        return None
    for station in station_list(cell.settings):
        profile = load(cell.profile(station.profile))
        if profile.energy is None:
            continue
        policy = station_policy(cell, station)
        is_stated = cell.settings.join.multiplication_ms is not None
        asked = joining.options(cell, policy)
        if why := join_unknown(policy, profile, asked, multiplication_stated=is_stated):
            return f"the energy of a join and of a day is not known: {why}"
    return None


def join_unknown(
    policy: Policy,
    profile: Profile,
    options: border.Options | None = None,
    *,
    multiplication_stated: bool = False,
) -> str | None:
    """The heavy operations of a station's join that its profile does not price, or None.

    ``multiplication_stated``: ``join.multiplication_ms`` prices a multiplication of a point.
    """
    missing = [
        name
        for name in _unpriced("station", policy, profile, options)
        if not (multiplication_stated and name == SAE_MULTIPLICATION)
    ]
    return f"{profile.name} has no cost of {', '.join(missing)}" if missing else None


def unpriced_operations(policy: Policy, profile: Profile | None) -> tuple[str, ...]:
    """The heavy operations of an access point's join that its profile does not price.

    ``profile``: None where nothing is known of the device.
    """
    return _unpriced("access-point", policy, profile, None)


def _unpriced(
    who: str, policy: Policy, profile: Profile | None, options: border.Options | None
) -> tuple[str, ...]:
    options = border.Options() if options is None else options
    asked = border.to_json(policy.native()), 1, border.to_json(options)
    parties = _native.negotiate(*asked)["totals"]["by_party"]
    heavy = (name for party in parties if party["party"] == who for name in party["heavy"])
    known = () if profile is None else profile.operation
    return tuple(name for name in heavy if name not in known)
