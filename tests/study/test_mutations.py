"""Mutations of the shipped study files: a plan, or an error of one line; never a traceback."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

PROGRAM = Path(__file__).parent / "mutations.py"
_SPEC = importlib.util.spec_from_file_location("mutations", PROGRAM)
mutations = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(mutations)


def command(record, count):
    """Run the command up to a number of mutations."""
    return subprocess.run(
        [sys.executable, PROGRAM, "--to", str(count), "--record", record],
        capture_output=True,
        text=True,
        check=False,
    )


@settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_a_mutated_study_gives_a_plan_or_one_line(random):
    mutations.judge(mutations.mutated(random))


@pytest.mark.thorough
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.randoms(use_true_random=False))
def test_many_mutated_studies_give_a_plan_or_one_line(random):
    mutations.judge(mutations.mutated(random))


@pytest.mark.parametrize("number", [4548, 16684])
def test_mutations_that_once_failed(number):
    assert mutations.problem_of(number) is None


def test_the_count_of_mutations_goes_on_where_it_ended(tmp_path):
    record = tmp_path / "record.json"
    assert command(record, 3).stdout.endswith("3 mutations tried, 0 failed\n")
    record.write_text(json.dumps({"reached": 4, "failed": []}), "utf-8")
    assert command(record, 6).stdout.endswith("6 mutations tried, 0 failed\n")
    assert json.loads(record.read_text("utf-8"))["reached"] == 6


@pytest.mark.slow
def test_a_hundred_thousand_mutations_give_a_plan_or_one_line(tmp_path):
    found = command(tmp_path / "record.json", 100_000)
    assert "100000 mutations tried, 0 failed" in found.stdout, found.stdout[-3000:]
