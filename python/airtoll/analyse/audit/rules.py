"""The list of the rules for data sets."""

from collections.abc import Callable
from typing import Final

from airtoll.analyse.audit import (
    arithmetic,
    claims,
    composition,
    consistency,
    counts,
    granularity,
    inference,
    likeness,
    limits,
    order,
)
from airtoll.analyse.audit.columns import Figures
from airtoll.analyse.audit.finding import Finding

#: Each rule takes the readings and printed figures of a data set and gives its findings.
RULES: Final[tuple[Callable[[Figures], list[Finding]], ...]] = (
    arithmetic.means_and_deviations,
    arithmetic.totals,
    arithmetic.percentages,
    arithmetic.ratios,
    arithmetic.ranges,
    likeness.copied_columns,
    likeness.copied_figures,
    likeness.copied_rows,
    likeness.derived_series,
    likeness.clock_steps,
    likeness.additive_tables,
    likeness.composed_sums,
    composition.hidden_parts,
    limits.above_ceiling,
    limits.below_floor,
    limits.offered_load,
    inference.unsupported_differences,
    inference.no_spread,
    inference.warm_up,
    inference.resolution,
    inference.outlier_rules,
    inference.selection_rules,
    inference.outliers,
    granularity.granularity,
    order.key_bits,
    order.more_clients,
    counts.announced,
    counts.readings,
    consistency.repeated_figures,
    consistency.wider_extremes,
    consistency.services,
    consistency.stated_definition,
    claims.claims,
)
