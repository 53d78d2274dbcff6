"""What a run prints: each row with its own numbers."""

from __future__ import annotations

import numpy as np
import polars as pl
import pytest

from airtoll.analyse import analyse
from airtoll.cli.reporting import _print_costs
from airtoll.observe.schema import OBSERVATIONS

#: Means by part and policy: the fifth loses what A gains.
MEANS = {
    ("A-up", "A"): {"open": 10e6, "wep-104": 12e6},
    ("fifth-up", "fifth"): {"open": 10e6, "wep-104": 1e6},
    (None, None): {"open": 20e6, "wep-104": 13e6},
}


def test_every_part_of_a_cell_has_its_own_verdict(capsys: pytest.CaptureFixture[str]) -> None:
    rng = np.random.default_rng(1)
    rows = [
        {
            "cell": f"mixed/{policy}/udp",
            "scenario": "mixed",
            "policy": policy,
            "traffic": "udp",
            "factors": "{}",
            "trial": trial,
            "attempt": 1,
            "flow": flow,
            "station": station,
            "metric": "throughput_bps",
            "value": rng.normal(mean, 1e4),
            "unit": "bit/s",
        }
        for (flow, station), policies in MEANS.items()
        for policy, mean in policies.items()
        for trial in range(1, 6)
    ]
    frame = pl.DataFrame(rows, infer_schema_length=None).with_columns(
        [
            pl.lit(None, kind).alias(name)
            for name, kind in OBSERVATIONS.items()
            if name not in rows[0]
        ]
    )
    _print_costs(analyse(frame))
    lines = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "faster" in lines["mixed/wep-104/udp A-up"]
    assert "slower" in lines["mixed/wep-104/udp fifth-up"]
    assert "slower" in lines["mixed/wep-104/udp"]
