"""Authentication times by policy and scenario.

Takes a summary; gives the mean time of each stage. Stages that a run did not observe are missing,
never zero.
"""

from __future__ import annotations

from typing import Final

import polars as pl
from attrs import frozen

from airtoll.analyse import Estimate
from airtoll.analyse.analysis import estimate_of_row
from airtoll.report.summary import RunSummary

#: Stages that follow one another.
STAGES: Final[dict[str, str]] = {
    "association_time_s": "association",
    "eap_time_s": "EAP",
    "key_handshake_time_s": "key handshake",
}
_ALL: Final = "negotiation_time_s"
_MESSAGES: Final = "authentication_messages"


@frozen
class NegotiationStages:
    """The stages of one policy in one place; means over cells that differ in traffic alone."""

    place: str
    policy: str
    stages: dict[str, Estimate]
    negotiation: Estimate | None
    messages: float | None

    @property
    def reached_s(self) -> float:
        """The stages' sum, seconds."""
        return sum(estimate.value for estimate in self.stages.values())

    @property
    def negotiation_s(self) -> float | None:
        """First to last packet of the negotiation, seconds."""
        return None if self.negotiation is None else self.negotiation.value


def negotiation_stages(summary: RunSummary) -> list[NegotiationStages]:
    """Every policy's exchange, in the order of the plan, taken from the first traffic."""
    wanted = [*STAGES, _ALL, _MESSAGES]
    order = {cell.name: index for index, cell in enumerate(summary.plan.cells)}
    frame = summary.analysis.estimates.filter(pl.col("metric").is_in(wanted))
    if frame.is_empty():
        return []
    frame = frame.with_columns(
        order=pl.col("cell").replace_strict(order, return_dtype=pl.Int64)
    ).sort("order", pl.col("station").is_not_null(), "station")
    found = []
    keys = ["scenario", "factors", "policy"]
    # Thousands of stations have rows of their own: only the first of each metric is read.
    first = pl.col("cell") == pl.col("cell").first().over(keys)
    frame = frame.filter(first).unique([*keys, "metric"], keep="first", maintain_order=True)
    for (scenario, factors, policy), rows in frame.group_by(keys, maintain_order=True):
        values: dict[str, Estimate] = {
            row["metric"]: estimate_of_row(row, summary.analysis.level)
            for row in rows.iter_rows(named=True)
        }
        messages = values.pop(_MESSAGES, None)
        found.append(
            NegotiationStages(
                summary.names.place(str(scenario), "", str(factors), ("traffic", "policy"))
                or str(scenario),
                summary.names.variant(str(policy), str(factors)),
                {metric: values[metric] for metric in STAGES if metric in values},
                values.get(_ALL),
                None if messages is None else messages.value,
            )
        )
    return [exchange for exchange in found if exchange.stages or exchange.negotiation]
