"""Cells of CSV files: no formula and no control character."""

import csv
import io

import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

from airtoll.observe.spreadsheet import cell, cells, printable


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ('=HYPERLINK("http://x")', '\'=HYPERLINK("http://x")'),
        ("+1+cmd|' /C calc'!A0", "'+1+cmd|' /C calc'!A0"),
        ("-2+3", "'-2+3"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\N{REPLACEMENT CHARACTER}=1"),
        ("\r=1", "'\N{REPLACEMENT CHARACTER}=1"),
        ("\uff1d1", "'\uff1d1"),
        ("-1.5", "-1.5"),
        ("+3e-9", "+3e-9"),
        ("-0.4 %", "-0.4 %"),
        ("home", "home"),
        ("", ""),
        ("a\x1b[2Jb\x9bc", "a\N{REPLACEMENT CHARACTER}[2Jb\N{REPLACEMENT CHARACTER}c"),
    ],
)
def test_a_cell_is_no_formula(text, expected):
    assert cell(text) == expected


def test_numbers_and_missing_values_stay():
    assert [cell(v) for v in (-1.5, 3, None, True)] == [-1.5, 3, None, True]


@given(st.text())
def test_no_text_becomes_a_formula_or_a_control_sequence(text):
    done = cell(text)
    buffer = io.StringIO()
    csv.writer(buffer).writerow([done, "x"])
    (row,) = csv.reader(io.StringIO(buffer.getvalue()))
    assert row == [done, "x"]
    assert done.isprintable()
    if done and done[0] in "=@+-":
        float(done.removesuffix("%"))


def test_a_table_keeps_its_numbers():
    frame = pl.DataFrame({"cell": ["=1+1", None], "value": [-1.0, 2.0]})
    assert cells(frame).rows() == [("'=1+1", -1.0), (None, 2.0)]


def test_printable_is_one_line():
    assert printable("a\nb\u202ec") == "a\N{REPLACEMENT CHARACTER}b\N{REPLACEMENT CHARACTER}c"
