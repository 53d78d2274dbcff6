"""The worker in a guest: each import costs it a hundred times as much as on the host."""

from __future__ import annotations

import subprocess
import sys

#: Libraries that a trial does not need, and that took most of its CPU time to load.
NOT_IN_A_GUEST = {"polars", "numpy", "pydantic", "airtoll.study", "airtoll.capture"}


def test_the_worker_loads_no_library_of_tables_or_study_files(tmp_path):
    code = "import sys, airtoll.testbeds.linux.worker; print(*sys.modules)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=tmp_path
    )
    assert not NOT_IN_A_GUEST & set(done.stdout.split())
