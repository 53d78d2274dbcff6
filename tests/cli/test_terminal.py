"""Tables in the width of a terminal, in full in a pipe; progress from the first second."""

from __future__ import annotations

import fcntl
import io
import os
import pty
import re
import struct
import subprocess
import sys
import termios
from pathlib import Path

import pytest
from rich.console import Console

from airtoll.cli.answers import fitted
from airtoll.cli.output import FittingTable, table
from airtoll.cli.progress import LINE_EVERY_S, View
from airtoll.observe.journal import Record
from airtoll.report.answer import Row


def in_terminal(columns: int, *arguments: str, cwd: Path | None = None) -> list[str]:
    """The lines that a terminal of this width shows; 0: a terminal that does not say its width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    started = subprocess.Popen(
        [sys.executable, "-m", "airtoll.cli", *arguments],
        stdin=theirs,
        stdout=theirs,
        stderr=subprocess.DEVNULL,
        cwd=cwd,
        env={**environment, "TERM": "xterm", "NO_COLOR": "1"},
    )
    os.close(theirs)
    said = b""
    while True:
        try:
            part = os.read(ours, 65536)
        except OSError:  # Linux: the other end is closed
            break
        if not part:
            break
        said += part
    os.close(ours)
    assert started.wait(60) == 0
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", said.decode())
    return [line.rstrip() for line in plain.replace("\r", "").splitlines()]


def rendered(view: object, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False)
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.fixture(scope="module")
def finished(tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("terminal")
    subprocess.run(
        [sys.executable, "-m", "airtoll.cli", "run", "quickstart", "--trials", "2", "--out", "run"],
        cwd=place,
        check=True,
        capture_output=True,
    )
    return place


@pytest.mark.parametrize(
    "arguments",
    [
        ("studies", "list"),
        ("policies", "list"),
        ("policies", "show", "wpa3-eap-tls-gcmp-256"),
        ("profiles", "list"),
        ("profiles", "show", "xeon-2.1ghz"),
        ("datasets", "list"),
        ("scenarios", "list"),
        ("check", "quickstart"),
        ("maxima",),
        ("ciphers", "verify"),
        ("advise", "--run", "run"),
        ("audit", "run"),
    ],
    ids=" ".join,
)
def test_a_line_is_no_wider_than_the_terminal(finished: Path, arguments: tuple[str, ...]) -> None:
    lines = in_terminal(80, *arguments, cwd=finished)
    assert lines
    assert max(map(len, lines)) <= 80


def test_a_terminal_without_a_width_has_80_columns(finished: Path) -> None:
    lines = in_terminal(0, "advise", "--run", "run", cwd=finished)
    assert 60 < max(map(len, lines)) <= 80


def test_a_pipe_has_whole_lines(finished: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-m", "airtoll.cli", "datasets", "list"],
        cwd=finished,
        capture_output=True,
        text=True,
        env={**os.environ, "COLUMNS": "40"},
        check=True,
    )
    # One line for each data set below the heading: titles of papers are longer than 40 columns.
    names = [line.split()[0] for line in done.stdout.splitlines()[1:]]
    assert names == sorted(names)
    assert "tripathi2008" in names
    assert max(map(len, done.stdout.splitlines())) > 80


def many_columns() -> FittingTable:
    view = table(
        "a title", ["cell", "overhead of the whole", "note"], right=["overhead of the whole"]
    )
    view.add_row("home/open/udp", "1.23 ± 0.45 %", "a note of several words that can be wrapped")
    view.add_row("home/wep-104/udp", "–", "")
    assert isinstance(view, FittingTable)
    return view


def test_words_wrap_and_numbers_do_not() -> None:
    assert any(
        "a note of several words that can be wrapped" in line
        for line in rendered(many_columns(), 99)
    )
    lines = rendered(many_columns(), 60)
    assert max(map(len, lines)) <= 60
    assert any("1.23 ± 0.45 %" in line for line in lines)
    assert sum("note" in line for line in lines) == 2


def test_a_row_becomes_a_block_where_nothing_else_fits() -> None:
    lines = rendered(many_columns(), 30)
    assert lines[:3] == ["a title", "home/open/udp", "  overhead of the whole: 1.23"]
    text = " ".join(" ".join(lines).split())
    assert (
        "overhead of the whole: 1.23 ± 0.45 % note: a note of several words that can be wrapped"
        in text
    )
    assert "home/wep-104/udp overhead of the whole: –" in text


ROWS = [
    Row(
        f"{place}/{policy}",
        policy,
        place,
        None,
        (f"{rate} ± 0.079 Mb/s", "1.14 ± 0.22 %", delay),
        "slower",
    )
    for place in ("udp, 5 clients", "tcp, 5 clients")
    for policy, rate, delay in (
        ("WPA2-Personal, CCMP-128", "29.883", "4.227 [4.194, 4.326] ms"),
        ("WPA3-Personal, GCMP-256", "9.883", "4.293 ms"),
    )
]
TITLES = ["throughput", "throughput overhead", "95 % delay"]


def test_answers_lose_units_then_places_then_the_last_values() -> None:
    wide, none = fitted("verdicts", ROWS, TITLES, 200)
    assert none == []
    assert [str(column.header) for column in wide.columns] == [
        "policy",
        "where",
        *TITLES,
        "verdict",
    ]

    view, left_out = fitted("verdicts", ROWS, TITLES, 88)
    assert left_out == []
    lines = rendered(view, 88)
    assert max(map(len, lines)) <= 88
    assert [line for line in lines if line in ("udp, 5 clients", "tcp, 5 clients")] == [
        "udp, 5 clients",
        "tcp, 5 clients",
    ]
    assert not any("Mb/s" in line for line in lines[3:])

    view, left_out = fitted("verdicts", ROWS, TITLES, 60)
    assert left_out == ["95 % delay"]
    lines = rendered(view, 60)
    assert max(map(len, lines)) <= 60
    assert sum("slower" in line for line in lines) == 4
    assert any("1.14 ± 0.22" in line for line in lines)


def test_values_in_different_units_keep_them() -> None:
    rows = [
        Row("a", "Open", "", None, ("29.883 ± 0.079 Mb/s", "–"), "baseline"),
        Row("b", "WEP-104", "", None, ("986 ± 7 kb/s", "1.1 ± 0.2 %"), "slower"),
    ]
    view, _ = fitted("verdicts", rows, ["throughput", "overhead"], 50)
    lines = rendered(view, 50)
    assert any("29.883 ± 0.079 Mb/s" in line for line in lines)
    assert any("986 ± 7 kb/s" in line for line in lines)
    assert any("1.1 ± 0.2 " in line for line in lines)


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def record(cell: str) -> Record:
    return Record(cell, 1, 1, 0, "ok", None, (), ())


def test_progress_in_a_pipe_is_a_line_now_and_then() -> None:
    clock = Clock()
    console = Console(file=io.StringIO(), width=200, force_terminal=False)
    with View("linux", console=console, clock=clock) as view:
        view.phase("starting the guest")
        clock.now += 40
        view.phase("")
        view.advance(10, 50, None)  # a resumed run
        for done in range(11, 21):
            clock.now += LINE_EVERY_S / 5
            view.advance(done, 50, record("home/open/udp"))
    assert isinstance(console.file, io.StringIO)
    assert console.file.getvalue().splitlines() == [
        "starting the guest",
        "10 of 50 trials are done",
        # Six seconds for each of the trials of this part of the run.
        "measuring 15 of 50, about 4 min left",
        "measuring 20 of 50, about 3 min left",
    ]


def test_progress_in_a_terminal_names_phase_count_and_remaining_time() -> None:
    clock = Clock()
    console = Console(file=io.StringIO(), width=80, force_terminal=True, color_system=None)
    with View("simulator", console=console, clock=clock) as view:
        view._bar.refresh()
        view.phase("writing the tables")
        view._bar.refresh()
        view.phase("")
        view.advance(0, 45, None)
        clock.now += 24
        view.advance(12, 45, record("home/" + 60 * "x"))
        view._bar.refresh()
    assert isinstance(console.file, io.StringIO)
    shown = console.file.getvalue()
    assert "reading the study" in shown
    assert "writing the tables" in shown
    last = [line for line in re.split(r"[\r\n]", shown) if "12 of 45" in line][-1]
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", last)
    assert "simulating 12 of 45" in plain
    assert "about 66 s left" in plain
    assert len(plain) <= 80


def test_a_resumed_run_starts_at_what_is_done(finished: Path) -> None:
    from airtoll.run import run

    told: list[tuple[int, int, bool]] = []
    run(
        "quickstart",
        out=finished / "run",
        resume=True,
        progress=lambda done, planned, of: told.append((done, planned, of is None)),
    )
    assert told == [(18, 18, True)]
