"""The command line: data on stdout, words on stderr, exit codes as documented."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest


@pytest.mark.parametrize("room", ["studies", "policies", "profiles", "datasets", "scenarios"])
def test_lists_print_json_on_stdout(airtoll: Any, room: str) -> None:
    done = airtoll(room, "list", "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)


def test_a_study_names_its_page(airtoll: Any) -> None:
    page = "docs/studies/failures.md"
    assert f'page = "{page}"' in airtoll("studies", "show", "cold-boot").stdout
    rows = json.loads(airtoll("studies", "list", "--json").stdout)
    assert next(row["page"] for row in rows if row["name"] == "cold-boot") == page


def test_a_data_set_of_devices_shows_a_source_a_line(airtoll: Any) -> None:
    done = airtoll("datasets", "show", "silabs-siwx917")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if "https://" in line]
    assert len(lines) == 3
    assert all(line.count("https://") == 1 for line in lines)
    assert "[" not in done.stdout


def test_errors_are_one_line_on_stderr_with_their_exit_code(airtoll: Any, tmp_path: Path) -> None:
    (tmp_path / "taken").write_text("a file")
    for arguments, code in (
        (("run", "nothing-of-the-sort"), 2),
        (("policies", "show", "telepathy"), 2),
        (("report", str(tmp_path)), 3),
        (("run", "quickstart", "--on", "moon"), 2),
        (("run", "quickstart", "--set", "traffic.udp"), 2),
        # A driver implies --vm, which the simulator has not.
        (("check", "quickstart", "--vm-driver", "uml"), 2),
        (("check", "quickstart", "--on", "linux", "--vm-driver", "xen"), 2),
        (("check", "quickstart", "--real-stations", "1"), 2),
        (("check", "quickstart", "--on", "linux", "--vm", "--real-stations", "0"), 2),
        (("guest", "build", "--driver", "xen"), 2),
        (("run", "quickstart", "--jobs", "100000"), 2),
        (("run", "quickstart", "--out", "taken"), 3),
        (("run", "quickstart", "--out", "taken/below"), 3),
        (("report", "taken"), 3),
    ):
        done = airtoll(*arguments, cwd=tmp_path)
        assert done.returncode == code, done.stderr
        assert done.stdout == ""
        assert done.stderr.startswith("airtoll: ")
        assert done.stderr.count("\n") == 1


@pytest.mark.thorough
def test_a_check_of_many_cells_is_cut_and_says_why_of_all_of_them(airtoll: Any) -> None:
    # No cell of this study has a closed form, and the first rows do not show every reason.
    done = airtoll("check", "agarwal2005", "--on", "analytic")
    assert done.returncode == 3, done.stderr
    assert "all 648 cells are skipped; first: no closed form" in done.stderr
    assert "The first 60 of 648 rows" in done.stdout
    reasons = done.stdout.split("skipped, and why")[1].splitlines()[2:]
    counts = [int(line.split()[0]) for line in reasons if line.strip()[:1].isdigit()]
    whole = json.loads(airtoll("check", "agarwal2005", "--on", "analytic", "--json").stdout)
    assert sum(counts) == sum(not cell["runs"] for cell in whole["cells"]) > 0


def test_help_names_the_exit_codes(airtoll: Any) -> None:
    done = airtoll("--help")
    assert "130 interrupted" in " ".join(done.stdout.split())


def test_printed_figures_are_compared_with_the_testbed_of_the_run(
    airtoll: Any, tmp_path: Path
) -> None:
    done = airtoll(
        "run", "tripathi2008", "--on", "analytic", "--trials", "1", "--no-report", cwd=tmp_path
    )
    assert done.returncode == 0, done.stderr
    compared = airtoll("compare", "runs/tripathi2008-analytic", "tripathi2008", cwd=tmp_path)
    assert "printed against closed forms" in compared.stdout
    (run,) = (tmp_path / "runs").iterdir()
    assert "printed against closed forms" in airtoll("compare", str(run), "tripathi2008").stdout


def test_every_row_is_compared_or_those_of_one_table(airtoll: Any, tmp_path: Path) -> None:
    run = str(tmp_path / "run")
    short = [f"--set=traffic.{name}.duration_s=0.3" for name in ("tcp", "udp")]
    done = airtoll("run", "tripathi2008", "--trials", "1", *short, "--no-report", "--out", run)
    assert done.returncode == 0, done.stderr
    # The answer of a run is short, the comparison is whole.
    assert len(done.stdout.splitlines()) <= 12
    shown = airtoll("compare", run, "tripathi2008", COLUMNS="300").stdout
    rows = json.loads(airtoll("compare", run, "tripathi2008", "--json").stdout)
    ours = [row for row in rows if row["quantity"] == "throughput_bps"]
    lines = {
        (row["table"], re.sub(r"profile_set=\w+", "", row["cell"]), row["client"]) for row in ours
    }
    # A line has the printed value, and ours of each variant.
    of_tables = [line for line in shown.splitlines() if "  " in line]
    assert sum(line.count("Mb/s") for line in of_tables) == len(lines) + len(ours)
    assert all(f"table {row['table']}, throughput" in shown for row in ours)
    one = json.loads(airtoll("compare", run, "tripathi2008", "--json", "--table", "4").stdout)
    assert one == [row for row in rows if row["table"] == "4"]
    assert 0 < len(one) < len(rows)
    wrong = airtoll("compare", run, "tripathi2008", "--table", "9")
    assert wrong.returncode == 2
    assert "--table 9" in wrong.stderr
    assert "tables with readings: 2, 3, 4, 5" in wrong.stderr


def test_doctor_says_where_the_medium_is(
    airtoll: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "airtoll-medium"
    for value, state in ((program, "problem"), ("none", "note")):
        monkeypatch.setenv("AIRTOLL_MEDIUM", str(value))
        check = medium_check(airtoll)
        assert (check["state"], check["mend"]) == (state, "unset AIRTOLL_MEDIUM")
    program.touch()
    monkeypatch.setenv("AIRTOLL_MEDIUM", str(program))
    assert medium_check(airtoll)["found"] == str(program)


def medium_check(airtoll: Any) -> dict[str, str]:
    checks = json.loads(airtoll("doctor", "--json").stdout)
    (found,) = [check for check in checks if check["name"].startswith("airtoll-medium")]
    return {str(key): str(value) for key, value in found.items()}
