"""Large runs: an analysis in batches of cells and on categorical text has the same rows."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import polars as pl
import pytest
from polars.testing import assert_frame_equal

from airtoll.analyse import analyse, batches
from airtoll.analyse.decomposition import decompose
from airtoll.errors import StorageError, UsageError
from airtoll.observe import tables
from airtoll.observe.schema import OBSERVATIONS, TRIALS
from airtoll.observe.spreadsheet import cells

_METRICS = {
    "throughput_bps": (20e6, "bit/s"),
    "airtime_payload_s": (0.6, "s"),
    "airtime_idle_s": (0.4, "s"),
    "eap_time_s": (0.05, "s"),
    "loss_ratio": (0.1, "1"),
}


@dataclass(frozen=True)
class Select:
    rule: str = "closest_to_mean"
    keep: int | None = 3
    count: int | None = None
    ratio: float | None = None
    metric: str | None = None


def run_of(places: int, trials: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Observations and trials; the first trial of every cell is a warm-up."""
    rng = np.random.default_rng(7)
    rows, attempts = [], []
    for place in range(places):
        for policy in ("open", "wpa2-psk-ccmp", "wpa3-sae-ccmp"):
            cell = {
                "cell": f"s{place}/{policy}/udp",
                "scenario": f"s{place}",
                "policy": policy,
                "traffic": "udp",
                "factors": "{}",
            }
            for trial in range(trials + 1):
                own = cell | {"trial": trial, "attempt": 1}
                attempts.append(own | {"status": "ok" if trial else "warm_up"})
                rows += [
                    own
                    | {"metric": metric, "value": mean * rng.normal(1, 0.02), "unit": unit}
                    | {"flow": flow, "station": flow and "A"}
                    for metric, (mean, unit) in _METRICS.items()
                    # A flow repeats its cell, or is all that the cell has.
                    for flow in ((None, "f") if metric == "throughput_bps" else (None,))
                    if flow or place % 2
                ]
    return frame_of(rows, OBSERVATIONS), frame_of(attempts, TRIALS)


def frame_of(rows: list[dict[str, object]], schema: dict[str, pl.DataType]) -> pl.DataFrame:
    frame = pl.DataFrame(rows, schema={name: schema[name] for name in rows[0]}, orient="row")
    missing = [pl.lit(None, kind).alias(name) for name, kind in schema.items() if name not in frame]
    return frame.with_columns(missing).select(list(schema))


def text(frame: pl.DataFrame) -> pl.DataFrame:
    return frame.cast({pl.Categorical: pl.String()})


@pytest.mark.parametrize("options", [{}, {"paired": True}, {"select": Select()}])
def test_batches_and_categories_change_no_row(monkeypatch, options):
    observations, trials = run_of(5, 6)
    expected = analyse(observations, trials, **options)
    spans = dict.fromkeys(observations["cell"].unique(), 1.0)
    parts = decompose(observations, spans, trials)
    assert expected.overheads.height
    assert parts.height
    monkeypatch.setattr(batches, "ROWS", 100)
    shuffled = observations.sample(fraction=1.0, shuffle=True, seed=3)
    for rows in (observations, shuffled):
        small, of_trials = tables.compact(rows), tables.compact(trials)
        assert "study" not in small.columns
        for found in (analyse(rows, trials, **options), analyse(small, of_trials, **options)):
            for name in ("estimates", "overheads", "comparisons", "times"):
                assert_frame_equal(
                    text(getattr(found, name)),
                    getattr(expected, name),
                    check_row_order=name != "times",
                    rel_tol=1e-9,
                )
        assert analyse(small, of_trials, **options).estimates.schema["method"] == pl.Categorical
        found_parts = text(decompose(small, spans, of_trials))
        assert_frame_equal(found_parts, parts, rel_tol=1e-9)


def test_a_batch_has_whole_cells(monkeypatch):
    monkeypatch.setattr(batches, "ROWS", 2)
    frame = pl.DataFrame({"cell": ["b", "a", "c", "a", "e", "d"], "n": range(6)})
    found = [batch["cell"].to_list() for batch in batches.by_cells(frame)]
    assert found == [["a", "a"], ["b", "c"], ["d", "e"]]
    monkeypatch.setattr(batches, "ROWS", 1)
    found = [batch["cell"].to_list() for batch in batches.by_cells(frame)]
    assert found == [["a", "a"], ["b"], ["c"], ["d"], ["e"]]
    assert [batch.height for batch in batches.by_cells(frame.clear())] == [0]


def test_a_metric_that_no_batch_has_is_refused(monkeypatch):
    monkeypatch.setattr(batches, "ROWS", 100)
    observations, trials = run_of(3, 4)
    # Even places alone lack it.
    analyse(observations, trials, select=Select(metric="loss_ratio"))
    with pytest.raises(UsageError, match="no cell has 'delay_s'"):
        analyse(observations, trials, select=Select(metric="delay_s"))


def test_a_large_table_is_read_column_by_column(monkeypatch, tmp_path):
    observations, _trials = run_of(2, 3)
    observations = observations.with_columns(
        schema_version=pl.lit(1, pl.UInt16), study=pl.lit("s"), testbed=pl.lit("simulator")
    )
    observations.write_parquet(tmp_path / "observations.parquet")
    whole = tables.read_compact_observations(tmp_path)
    assert_frame_equal(whole, tables.compact(observations))
    monkeypatch.setattr(tables, "_MANY_ROWS", 1)
    assert_frame_equal(tables.read_compact_observations(tmp_path), whole)
    observations.drop("value").write_parquet(tmp_path / "observations.parquet")
    with pytest.raises(StorageError, match=r"observations.*'value' is missing"):
        tables.read_compact_observations(tmp_path)


def test_categories_in_a_csv_file_are_no_formulas():
    frame = pl.DataFrame({"station": ["=1+1", "A", None]}).cast(pl.Categorical())
    assert cells(frame)["station"].to_list() == ["'=1+1", "A", None]
