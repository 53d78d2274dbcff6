"""The output of a run: each row with its own numbers."""

from __future__ import annotations

from pathlib import Path

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
    cells = ["mixed/open/udp", "mixed/wep-104/udp"]
    _print_costs(analyse(frame), cells, Path("run"), as_it_is)
    lines = {line.split("  ")[0]: line for line in capsys.readouterr().out.splitlines()}
    assert "faster" in lines["mixed/wep-104/udp A-up"]
    assert "slower" in lines["mixed/wep-104/udp fifth-up"]
    assert "slower" in lines["mixed/wep-104/udp"]


def as_it_is(_cell: str, verdict: str) -> str:
    return verdict


@pytest.mark.parametrize(("cells", "shown"), [(200, 200), (201, 60)])
def test_long_tables_are_cut_with_a_sentence(
    capsys: pytest.CaptureFixture[str], cells: int, shown: int
) -> None:
    rows = [
        {
            "cell": f"home/{policy}/udp?level={level}",
            "scenario": "home",
            "policy": policy,
            "traffic": "udp",
            "factors": f'{{"level": {level}}}',
            "trial": 1,
            "attempt": 1,
            "metric": "throughput_bps",
            "value": 20e6 - level,
            "unit": "bit/s",
        }
        for level in range((cells + 1) // 2)
        for policy in ("open", "wep-104")
    ][:cells]
    frame = pl.DataFrame(rows).with_columns(
        [
            pl.lit(None, kind).alias(name)
            for name, kind in OBSERVATIONS.items()
            if name not in rows[0]
        ]
    )
    names = [str(row["cell"]) for row in rows]
    _print_costs(analyse(frame), names, Path("runs/many"), as_it_is)
    lines = capsys.readouterr().out.splitlines()
    listed = [line.split("  ")[0] for line in lines if line.startswith("home/")]
    assert listed == names[:shown]
    rest = [line for line in lines if line.startswith("The first ")]
    assert len(rest) == (shown < cells)
    if rest:
        assert rest[0].startswith("The first 60 of 201 rows; the rest: `airtoll report runs/many`")
        assert "--format csv" in rest[0]
        assert "--json" in rest[0]
