"""The join at home that precedes a join in a foreign network.

Takes a cell with ``join.first_at_home``; gives the scenario of the mobile node's join in its own
network, and the sums of both joins. Never runs anything.

Abroad the link is authenticated and Mobile IP registers again. A tunnel stays, because its ends
keep their addresses (Agarwal and Wang, VIII.B). It is negotiated in the join that the cell itself
describes, and left out at home, so that it counts once.
"""

from __future__ import annotations

from typing import Final

from attrs import evolve

from airtoll import border
from airtoll.plan import Cell
from airtoll.testbeds.contract import Observed, observed
from airtoll.testbeds.resolve import scenario

#: Metrics of a join that add up over several joins, besides those that begin with ``messages_``.
_ADDED: Final = (
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
    "join_time_s",
    "authentication_messages",
)
#: The topology of a mobile node at home, and the length of a trial with hardly any traffic, s.
_HOME, _BRIEF_S = "n5", 1e-3
_ONE_OCTET: Final = border.PatternTransfer(octets=1, payload_octets=1)


def why_not(cell: Cell) -> str | None:
    """Why no join at home can precede the cell's, or None."""
    join = cell.settings.join
    if not join.first_at_home:
        return None
    if join.mobile_ip != "foreign" or not cell.settings.authenticate:
        return (
            "join.first_at_home needs a join in a foreign network: mobile_ip = 'foreign' and "
            "authenticate = true"
        )
    if join.fault != "none":
        return f"fault = {join.fault!r}: a node that fails at home does not roam"
    return None


def at_home(cell: Cell) -> border.Scenario:
    """The scenario of the join at home: no tunnel, and one octet of traffic."""
    join = cell.settings.join.model_copy(update={"mobile_ip": "home", "first_at_home": False})
    settings = cell.settings.model_copy(update={"topology": _HOME, "join": join})
    resolved = scenario(evolve(cell, settings=settings))
    return evolve(
        resolved,
        duration_s=_BRIEF_S,
        warm_up_s=0.0,
        series=False,
        flows=tuple(evolve(flow, pattern=_ONE_OCTET) for flow in resolved.flows),
        nodes=tuple(evolve(node, tunnels=()) for node in resolved.nodes),
        associations=tuple(
            evolve(one, policy=evolve(one.policy, tunnels=())) for one in resolved.associations
        ),
    )


def added(rows: Observed, earlier: Observed) -> Observed:
    """``rows`` with the times and messages of an earlier join added to theirs."""
    if not earlier:
        return rows
    more = {
        (row.metric, row.station): row
        for row in earlier
        if row.metric in _ADDED or row.metric.startswith("messages_")
    }
    known = {(row.metric, row.station) for row in rows}
    summed = []
    for row in rows:
        other = more.get((row.metric, row.station))
        summed.append(row if other is None else row._replace(value=row.value + other.value))
    return observed(summed + [row for key, row in more.items() if key not in known])
