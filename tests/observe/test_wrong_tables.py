"""Wrong CSV tables and run tables: each gives one line with file, line and what is needed."""

from __future__ import annotations

import polars as pl
import pytest

from airtoll.errors import DatasetError, StorageError
from airtoll.observe.imports.files import Place, import_files
from airtoll.observe.schema import OBSERVATIONS, TRIALS
from airtoll.observe.tables import read_observations, read_trials

HEAD = "scenario,policy,traffic,trial,metric,value,unit\n"
ROW = "office,open,tcp,1,throughput,25.4,Mbps\n"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (HEAD + ROW.replace("25.4", "nan"), "2: value 'nan': must be a finite number"),
        (HEAD + ROW.replace("25.4", "inf"), "2: value 'inf': must be a finite number"),
        (HEAD + ROW.replace("25.4", "-1"), "2: value '-1': throughput_bps is not negative"),
        (HEAD + ROW + ROW, "3: throughput_bps of trial 1 in office/open/tcp is also in line 2"),
        (HEAD.replace(",", ";") + ROW.replace(",", ";").replace("25.4", "25,4"), "semicolons"),
        (HEAD.replace("office", "büro") + "büro" + ROW[6:], "is not UTF-8 text"),
        (HEAD + ROW.replace("office", "=cmd()"), "a name does not start with ="),
        (HEAD + ROW.replace("office", "a\x1b[31m"), "a name has no control characters"),
        (HEAD + ROW.replace(",1,", ",99999999999,"), "trial and second are 0 to 4294967295"),
    ],
)
def test_a_wrong_table_is_refused_in_one_line(tmp_path, text, expected):
    file = tmp_path / "mine.csv"
    file.write_bytes(text.encode("latin-1"))
    with pytest.raises(DatasetError) as caught:
        import_files([file], "csv", Place())
    message = str(caught.value)
    assert message.startswith(f"{file}:")
    assert expected in message
    assert message.isprintable()


@pytest.mark.parametrize("missing", ["value", "cell", "trial"])
def test_a_missing_column_of_the_observations_is_named(tmp_path, missing):
    frame = pl.DataFrame(schema=OBSERVATIONS).drop(missing)
    frame.write_parquet(tmp_path / "observations.parquet")
    with pytest.raises(StorageError, match=rf"observations.*'{missing}' is missing"):
        read_observations(tmp_path)


def test_a_missing_column_of_the_trials_is_named(tmp_path):
    pl.DataFrame(schema=TRIALS).drop("status").write_parquet(tmp_path / "trials.parquet")
    with pytest.raises(StorageError, match=r"trials\.parquet: column 'status' is missing"):
        read_trials(tmp_path)


def test_a_column_of_another_type_is_named(tmp_path):
    frame = pl.DataFrame({name: ["x"] for name in OBSERVATIONS})
    frame.write_parquet(tmp_path / "observations.parquet")
    with pytest.raises(StorageError, match=r"column 'schema_version' is String, not UInt16"):
        read_observations(tmp_path)
