"""The result of an audit: findings, their kinds and their severities."""

from __future__ import annotations

import math
from typing import Final, Literal

from attrs import asdict, frozen

Severity = Literal["error", "warning", "note"]

#: error: impossible (arithmetic, physics). warning: not supported, or contradicts itself.
#: note: true, and to be known before the figures are used.
SEVERITIES: Final[tuple[Severity, ...]] = ("error", "warning", "note")

#: kind -> what it means
KINDS: Final[dict[str, str]] = {
    "mean_mismatch": "a printed mean does not follow from its readings",
    "deviation_mismatch": "a printed standard deviation does not follow from its readings",
    "total_mismatch": "a printed total is not the sum of its parts",
    "percentage_mismatch": "a printed percentage or loss does not follow from its throughputs",
    "ratio_mismatch": "a printed ratio does not follow from its terms",
    "range_mismatch": "a printed range or extreme is not that of the readings",
    "truncated_rounding": "a printed figure is cut off where it should be rounded",
    "definition_mismatch": "the stated definition is not the one the figures follow",
    "copied_column": "two columns of readings agree too well to be two measurements",
    "derived_series": "a series is a function of another one",
    "series_break": "a point breaks the function that the rest of its series follows",
    "clock_step": "differences are whole multiples of the step of a clock",
    "additive_table": "a table is built of constant differences",
    "hidden_part": "a figure contains a part that its name leaves out, or is over such a figure",
    "above_phy_ceiling": "a throughput is above what the PHY can carry",
    "below_phy_floor": "a delay is below the airtime of the shortest frame",
    "above_offered_load": "a throughput is above the offered load",
    "at_offered_load": "a throughput is the offered load: it says nothing of capacity",
    "unsupported_difference": "a difference is printed that the readings do not support",
    "no_spread": "differences are printed without any spread or number of readings",
    "warm_up_left_in": "the first point of most series stands apart from the rest",
    "coarse_resolution": "readings have a few coarse steps, and means differ by less than one",
    "outlier": "a reading that no normal sample of that size holds",
    "mean_impossible": "no readings of the stated resolution and number have such a mean (GRIM)",
    "deviation_impossible": "no readings with such a mean have such a deviation (GRIMMER)",
    "order_reversed": "a throughput rises where more clients or key bits can only cost",
    "count_mismatch": "an announced number of items is not the number counted",
    "outlier_rule_cannot_fire": "an outlier rule asks for more than n readings can give",
    "outlier_rule_not_applied": "a reading stands that the study's own rule excludes",
    "selection_hides_spread": "a selection rule shrinks the spread it is judged by",
    "conflicting_figures": "one quantity is printed with different values",
    "conflicting_claims": "two statements of the text exclude each other",
    "claim_contradicted": "a statement of the text is not what its figures say",
    "service_mismatch": "a security service is credited or denied wrongly",
    "cause_too_small": "the cause given is too small for the effect",
    "standard_mismatch": "a statement contradicts the standard it speaks of",
    "conservation": "counts do not add up",
}


@frozen
class Finding:
    """One point that a careful referee would ask about.

    ``table`` and ``where`` name the place; ``printed`` and ``recomputed`` are the figures as
    text (empty where there is none); ``evidence`` is one sentence.
    """

    dataset: str
    table: str
    where: str
    kind: str
    printed: str
    recomputed: str
    severity: Severity
    evidence: str

    def to_json(self) -> dict[str, str]:
        """The finding as plain values."""
        return asdict(self)


def ordered(findings: list[Finding]) -> list[Finding]:
    """Gravest first, then by place; duplicates once."""
    rank = {severity: index for index, severity in enumerate(SEVERITIES)}
    return sorted(
        dict.fromkeys(findings),
        key=lambda f: (rank[f.severity], f.dataset, f.table, f.kind, f.where, f.printed),
    )


def shown(value: float, decimals: int = 4) -> str:
    """A recomputed number as text: at most ``decimals`` after the point, no trailing zeros."""
    if not math.isfinite(value):
        return str(value)
    text = f"{value:.{decimals}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
