"""Imports of a command: counts of modules, because times depend on the machine.

A command's module is imported when the command is named (``airtoll.cli.app``). Within a module,
an import for one option or one testbed belongs into the function with that option.
"""

from __future__ import annotations

import subprocess
import sys

import pytest

from airtoll.cli.app import COMMANDS, app, loaded

#: Most modules of airtoll, and of everything, after the command; the counts were 8 and 399.
HELP = (10, 450)

#: Modules that a run without a report does not need.
NOT_FOR_A_RUN = (
    "airtoll.testbeds.linux.testbed", "airtoll.testbeds.guest", "airtoll.cli.advise",
    "airtoll.cli.surveying", "airtoll.analyse.advice", "airtoll.analyse.audit.claims",
    "airtoll.analyse.calibration", "airtoll.observe.imports",
    "airtoll.run.live", "airtoll.drawing", "http.server", "jinja2",
    "airtoll.border.answers", "airtoll.present.junit", "xml.etree.ElementTree",
    "asyncssh", "cryptography", "matplotlib", "scipy", "pandas",
    "numpy.random", "numpy.fft", "numpy.polynomial",
    "multiprocessing", "asyncio", "unittest",
)  # fmt: skip


def modules(code: str, cwd) -> set[str]:
    """The modules that a program has imported at its end."""
    text = f"import sys\n{code}\nsys.stdout.write('\\n' + ' '.join(sys.modules))"
    done = subprocess.run(
        [sys.executable, "-c", text], capture_output=True, text=True, check=True, cwd=cwd
    )
    return set(done.stdout.rsplit("\n", 1)[1].split())


def called(*arguments: str) -> str:
    return (
        f"sys.argv = {['airtoll', *arguments]!r}\n"
        "from airtoll.cli import main\ntry:\n    main()\nexcept SystemExit as end:\n"
        "    assert not end.code, end.code"
    )


@pytest.mark.parametrize("option", ["--help", "--version"])
def test_the_list_of_commands_imports_none_of_them(tmp_path, option):
    found = modules(called(option), tmp_path)
    assert not found & {"numpy", "polars", "pydantic", "jinja2", "airtoll._native"}
    ours = {name for name in found if name.partition(".")[0] == "airtoll"}
    assert len(ours) <= HELP[0], sorted(ours)
    assert len(found) <= HELP[1]


def test_a_run_imports_neither_the_linux_testbed_nor_other_commands(tmp_path):
    short = [f"traffic.{name}.duration_s=0.05" for name in ("udp", "tcp")]
    found = modules(
        called("run", "quickstart", "--trials", "1", "--no-report", "--set", short[0], "--set",
               short[1], "--out", "run"),
        tmp_path,
    )  # fmt: skip
    for left_out in NOT_FOR_A_RUN:
        assert left_out not in found, left_out


@pytest.mark.parametrize("name", COMMANDS)
def test_the_line_of_help_is_that_of_the_command(name):
    text = (loaded(name).help or "").split("\n\n")[0]
    assert text.replace("\n", " ") == COMMANDS[name].summary


def test_a_mistyped_command_is_an_error_with_a_suggestion(capsys):
    with pytest.raises(SystemExit) as end:
        app(["reprot"])
    assert end.value.code == 2
    assert "report" in capsys.readouterr().err
