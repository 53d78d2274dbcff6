"""Hand-over times, by policy and method.

Takes a summary; gives the gap in the traffic and its parts. Parts that a run did not observe are
missing, never zero.
"""

from __future__ import annotations

import json
from typing import Final

import polars as pl
from attrs import frozen

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import estimate_of_row
from airtoll.present.names import policy_name
from airtoll.report.authentication import NegotiationStages
from airtoll.report.summary import RunSummary

#: Parts in their order; the wait for a packet is before and after them.
PARTS: Final[dict[str, str]] = {
    "handover_scan_s": "scan",
    "handover_association_s": "association",
    "handover_eap_s": "EAP",
    "handover_keys_s": "key handshake",
    "handover_mobile_ip_s": "Mobile IP",
    "handover_tunnel_s": "tunnel",
    "handover_address_s": "address",
    "handover_wait_s": "wait for a packet",
}
_GAP: Final = "handover_gap_s"
#: The gap by layer, from the departure on, its whole, and what follows it.
LAYERS: Final[dict[str, str]] = {
    "handover_scan_s": "scan",
    "handover_association_s": "link",
    "handover_eap_s": "EAP",
    "handover_keys_s": "keys",
    "handover_mobile_ip_s": "Mobile IP",
    "handover_tunnel_s": "tunnel",
    "handover_address_s": "address",
    "handover_wait_s": "first data",
    _GAP: "whole gap",
    "handover_full_rate_s": "full rate again",
}
#: Layers that most hand-overs do without.
OFTEN_ABSENT: Final = ("handover_scan_s",)
_MESSAGES: Final = "handover_messages"
_LOST: Final = "handover_packets_lost"
_METHOD: Final = "scenario.handover.method"


@frozen
class Gap:
    """One cell's hand-over: its parts as an exchange whose whole is the gap, and packets lost."""

    exchange: NegotiationStages
    lost: Estimate | None


def gaps(summary: RunSummary) -> list[Gap]:
    """Every cell's hand-over, in the order of the plan; the mean of several stations."""
    wanted = [*PARTS, _GAP, _MESSAGES, _LOST]
    order = {cell.name: index for index, cell in enumerate(summary.plan.cells)}
    frame = summary.analysis.estimates.filter(
        pl.col("metric").is_in(wanted) & pl.col("flow").is_null()
    )
    if frame.is_empty():
        return []
    frame = frame.with_columns(
        order=pl.col("cell").replace_strict(order, return_dtype=pl.Int64)
    ).sort("order", "station")
    found = []
    keys = ["cell", "scenario", "traffic", "policy", "factors"]
    for (_, scenario, traffic, policy, factors), rows in frame.group_by(keys, maintain_order=True):
        first = rows.unique("metric", keep="first", maintain_order=True)
        values = {
            row["metric"]: estimate_of_row(row, summary.analysis.level)
            for row in first.iter_rows(named=True)
        }
        levels = json.loads(str(factors))
        method = levels.pop(_METHOD, None)
        messages = values.get(_MESSAGES)
        exchange = NegotiationStages(
            summary.names.place(str(scenario), str(traffic), json.dumps(levels)) or str(scenario),
            policy_name(str(policy)) + ("" if method is None else f": {method}"),
            {metric: values[metric] for metric in PARTS if metric in values},
            values.get(_GAP),
            None if messages is None else messages.value,
        )
        found.append(Gap(exchange, values.get(_LOST)))
    return found
