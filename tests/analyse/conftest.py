"""Observation tables for tests of the analysis."""

import polars as pl
import pytest

from airtoll.observe.schema import OBSERVATIONS


def _rows(values, metric="throughput_bps", unit="bit/s", scenario="s"):
    """Observations of one scenario from ``{policy: readings}``."""
    frame = pl.DataFrame(
        [
            {
                "cell": f"{scenario}/{policy}/udp",
                "scenario": scenario,
                "policy": policy,
                "traffic": "udp",
                "factors": "{}",
                "trial": trial,
                "attempt": 1,
                "metric": metric,
                "value": float(value),
                "unit": unit,
            }
            for policy, readings in values.items()
            for trial, value in enumerate(readings, 1)
        ]
    )
    return frame.with_columns(
        pl.lit(None, kind).alias(name)
        for name, kind in OBSERVATIONS.items()
        if name not in frame.columns
    )


@pytest.fixture
def rows():
    """Observations of one scenario from ``{policy: readings}``."""
    return _rows
