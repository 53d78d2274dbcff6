"""Mutations of files of iperf3, irtt, flent and CSV: values in range, or an error of one line."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "import_mutations.py"
_SPEC = importlib.util.spec_from_file_location("import_mutations", PROGRAM)
mutations = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(mutations)


@pytest.fixture(scope="module")
def answers(tmp_path_factory):
    """Answers to the first mutations: format and ``imported`` or ``refused``."""
    place = tmp_path_factory.mktemp("mutations")
    found = []
    for number in range(250):
        fmt, octets = mutations.numbered(number)
        (place / "file").write_bytes(octets)
        found.append((fmt, mutations.judge(fmt, place / "file", whole=False)))
    return found


@pytest.mark.parametrize("fmt", mutations.FORMATS)
def test_a_mutated_file_gives_values_in_range_or_one_line(answers, fmt):
    # Both answers occur, so that the campaign tests the readers and not the refusal alone.
    assert {answer for own, answer in answers if own == fmt} == {"imported", "refused"}


def test_a_mutated_file_that_is_imported_has_tables_and_a_page():
    for number in range(8):
        assert mutations.problem_of(number, whole=True) is None


@pytest.mark.slow
@pytest.mark.parametrize("options", [("--to", "10000"), ("--to", "600", "--whole")])
def test_thousands_of_mutations(options):
    done = subprocess.run(
        [sys.executable, PROGRAM, *options], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout[-5000:] + done.stderr[-5000:]
