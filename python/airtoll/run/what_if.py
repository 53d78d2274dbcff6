"""Scenarios of the "What if?" panel: the first cell of a plan under every policy that is offered.

Takes a plan; gives a panel. Uses the resolution of the simulator's testbed, so that the page asks
the simulator the same question. Simulates nothing.
"""

from __future__ import annotations

from typing import Final

from attrs import evolve

from airtoll import _native, border
from airtoll.errors import AirtollError
from airtoll.plan import Cell, Plan
from airtoll.plan.levels import reference_db
from airtoll.policies import resolve as resolve_policy
from airtoll.present.names import policy_name
from airtoll.report.what_if import TRIAL_S, WARM_UP_S, Choice, Panel
from airtoll.study.generations import GENERATIONS
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator
from airtoll.testbeds.stated import in_study

#: Policies and tunnels that every panel offers beside the study's own.
POLICIES: Final = ("open", "wep-104", "wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-gcmp-256")
_TUNNELS: Final = ("", "wireguard", "ipsec-aes-gcm")
_MOST_POLICIES: Final = 10
_MOST_TUNNELS: Final = 6


def what_if(plan: Plan) -> Panel | None:
    """The panel of a plan.

    ``None`` if its first cell has Mobile IP (a registration takes time), neighbours or stations
    that pass by, whose rates and places the panel would change, too.
    """
    if not plan.cells:
        return None
    cell = plan.cells[0]
    try:
        start = _start(cell)
    except AirtollError:
        return None
    if start.mobility_agents or any(bss.neighbour is not None for bss in start.bss):
        return None
    own, own_tunnel = _parts(cell.policy)
    given = [_parts(one.policy) for one in plan.cells]
    policies = _offered([own, *POLICIES, *(p for p, _ in given)], _MOST_POLICIES)
    tunnels = _offered([*_TUNNELS, own_tunnel, *(t for _, t in given)], _MOST_TUNNELS)
    flows, stations = start.flows, [n for n in start.nodes if n.role is border.Role.STATION]
    names = {station.name for station in stations}
    payloads = {getattr(flow.pattern, "payload_octets", None) for flow in flows}
    payload = payloads.pop() if len(payloads) == 1 and _all_udp(start) else None
    # A station can be copied if it talks to another kind of node, over its own radio alone.
    alone = all(len({flow.source, flow.destination} & names) == 1 for flow in flows) and not any(
        names & set(link.nodes) for link in start.links
    )
    return Panel(
        cell=cell.name,
        moves=bool(scenario(cell).handovers),
        policy=own,
        tunnel=own_tunnel,
        policies=tuple((name, policy_name(name)) for name in policies),
        tunnels=tuple((name, name or "none") for name in tunnels),
        choices=tuple(_choice(cell, p, t) for p in policies for t in tunnels),
        rates=rates_of(cell),
        path_loss=path_loss_of(cell),
        payload_octets=payload,
        most_payload_octets=max(1472, payload or 0),
        # Senders of group-addressed traffic are named one by one.
        stations=len(stations)
        if alone and len(stations) <= 10 and not start.group_traffic
        else None,
    )


def _parts(policy: str) -> tuple[str, str]:
    """Link part and tunnels of a policy's name."""
    resolved = resolve_policy(policy)
    parts = resolved.name.split("+")
    link = len(parts) - len(resolved.tunnels)
    return "+".join(parts[:link]), "+".join(parts[link:])


def _offered(names: list[str], most: int) -> list[str]:
    return list(dict.fromkeys(names))[:most]


def _all_udp(start: border.Scenario) -> bool:
    return all(isinstance(flow.transport, border.TransportUdp) for flow in start.flows)


def _start(cell: Cell) -> border.Scenario:
    """The scenario of a cell as the panel simulates it: short, after every station has joined.

    A station that hands over in the study stays with its first access point.
    """
    return evolve(
        scenario(cell),
        duration_s=WARM_UP_S + TRIAL_S,
        warm_up_s=WARM_UP_S,
        series=False,
        associations=(),
        handovers=(),
    )


def _choice(cell: Cell, policy: str, tunnel: str) -> Choice:
    name = f"{policy}+{tunnel}" if tunnel else policy
    try:
        chosen = evolve(cell, policy=name)
        refused = Simulator().check(chosen)
        text = border.to_json(_start(chosen)) if refused is None else None
        reason = refused.reason if refused is not None else None
        if text is not None:
            _native.Scenario(text).check()
    except _native.InvalidScenario as error:
        reason = in_study(chosen, error)
    except AirtollError as error:
        text, reason = None, str(error)
    return Choice(policy, tunnel, None if reason else text, reason)


def path_loss_of(cell: Cell) -> str:
    """The path loss that a distance means in a cell, as JSON."""
    return border.to_json(
        border.PathLossLogDistance(
            reference_db=reference_db(cell.settings),
            exponent=cell.settings.radio.path_loss_exponent,
        )
    )


def rates_of(cell: Cell) -> tuple[tuple[str, str], ...]:
    """The fixed rates of a cell's PHY: their words, and the rate as JSON."""
    generation, streams = GENERATIONS[cell.settings.phy], cell.settings.streams
    if generation["mcs_top"] is None:
        return tuple(
            (f"{mbps:g} Mb/s", border.to_json(border.RateFixed(mbps=mbps)))
            for mbps in generation["rates_mbps"]
        )
    return tuple(
        (f"MCS {mcs}", border.to_json(border.RateFixedMcs(mcs=mcs, streams=streams)))
        for mcs in range(generation["mcs_top"] + 1)
    )
