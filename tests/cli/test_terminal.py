"""Tables in the width of a terminal, or of a pipe; progress from the first second."""

from __future__ import annotations

import contextlib
import fcntl
import io
import json
import os
import pty
import re
import struct
import subprocess
import sys
import termios
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

from airtoll.cli import main
from airtoll.cli.output import FittingTable, table
from airtoll.cli.progress import LINE_EVERY_S, View
from airtoll.observe.journal import Record


@pytest.fixture
def in_terminal(monkeypatch: pytest.MonkeyPatch) -> Callable[..., list[str]]:
    """Calls the entry point of ``airtoll`` in a terminal; gives the lines that it shows."""
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    return _in_terminal


@contextlib.contextmanager
def _terminal(columns: int) -> Iterator[tuple[int, list[str]]]:
    """A terminal of this width, and the lines that it shows in the end; 0: it says no width."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    said: list[bytes] = []
    reader = threading.Thread(target=_read_all, args=(ours, said))
    reader.start()
    lines: list[str] = []
    yield theirs, lines
    reader.join(60)
    os.close(ours)
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", b"".join(said).decode())
    lines += [line.rstrip() for line in plain.replace("\r", "").splitlines()]


def _in_terminal(columns: int, *arguments: str, cwd: Path | None = None) -> list[str]:
    with _terminal(columns) as (theirs, lines):
        _run_in(theirs, arguments, cwd)
    return lines


def _run_in(theirs: int, arguments: tuple[str, ...], cwd: Path | None) -> None:
    before = [os.dup(number) for number in (0, 1)]
    for number in (0, 1):
        os.dup2(theirs, number)
    os.close(theirs)
    try:
        with (
            contextlib.chdir(cwd or "."),
            contextlib.redirect_stderr(io.StringIO()),
            contextlib.redirect_stdout(os.fdopen(os.dup(1), "w")) as stream,
            pytest.MonkeyPatch.context() as patch,
        ):
            patch.setattr(sys, "argv", ["airtoll", *arguments])
            with pytest.raises(SystemExit) as end:
                main()
            stream.close()
    finally:
        for number, kept in enumerate(before):
            os.dup2(kept, number)
            os.close(kept)
    assert end.value.code == 0


def _read_all(terminal: int, said: list[bytes]) -> None:
    # Linux: an error says that the other end is closed.
    with contextlib.suppress(OSError):
        while part := os.read(terminal, 65536):
            said.append(part)


def rendered(view: object, width: int) -> list[str]:
    console = Console(file=io.StringIO(), width=width, highlight=False, markup=False)
    console.print(view)
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


@pytest.fixture(scope="module")
def finished(airtoll: Any, tmp_path_factory: pytest.TempPathFactory) -> Path:
    place = tmp_path_factory.mktemp("terminal")
    done = airtoll("run", "quickstart", "--trials", "2", "--out", "run", cwd=place)
    assert done.returncode == 0, done.stderr
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
def test_a_line_is_no_wider_than_the_terminal(
    in_terminal: Any, finished: Path, arguments: tuple[str, ...]
) -> None:
    lines = in_terminal(80, *arguments, cwd=finished)
    assert lines
    assert max(map(len, lines)) <= 80


def test_a_process_has_the_width_of_its_terminal() -> None:
    environment = {key: value for key, value in os.environ.items() if key != "COLUMNS"}
    with _terminal(80) as (theirs, lines):
        started = subprocess.Popen(
            [sys.executable, "-m", "airtoll.cli", "policies", "list"],
            stdin=theirs, stdout=theirs, stderr=subprocess.DEVNULL,
            env={**environment, "TERM": "xterm", "NO_COLOR": "1"},
        )  # fmt: skip
        os.close(theirs)
        assert started.wait(60) == 0
    assert 60 < max(map(len, lines)) <= 80


def test_a_terminal_without_a_width_has_80_columns(in_terminal: Any, finished: Path) -> None:
    lines = in_terminal(0, "advise", "--run", "run", cwd=finished)
    assert 60 < max(map(len, lines)) <= 80


def test_a_table_in_a_pipe_has_100_columns_or_those_of_the_environment(
    airtoll: Any, finished: Path
) -> None:
    def piped(*arguments: str, **environment: str) -> list[str]:
        done = airtoll(*arguments, cwd=finished, **environment)
        assert done.returncode == 0, done.stderr
        return [line.rstrip() for line in done.stdout.splitlines()]

    listed = piped("datasets", "list", COLUMNS="")
    assert 60 < max(map(len, listed)) <= 100
    # Titles of papers are longer: one line for each data set below the heading.
    wide = piped("datasets", "list", COLUMNS="400")
    names = [line.split()[0] for line in wide[1:]]
    assert names == sorted(names)
    assert "tripathi2008" in names
    assert max(map(len, wide)) > 100
    narrow = piped("show", "run", "costs", COLUMNS="60")
    assert max(map(len, narrow)) <= 60
    # No column is missing where the rows are blocks.
    text = " ".join(" ".join(narrow).split())
    for row in json.loads("\n".join(piped("show", "run", "costs", "--json"))):
        for value in filter(None, row.values()):
            assert value in text


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


def verdicts(*more: str) -> FittingTable:
    view = table(None, ["policy", *more, "verdict"], right=more)
    words = ("WPA2-Enterprise, EAP-TLS, CCMP-128", "no difference that these trials can detect")
    view.add_row(words[0], *["1.23 %"] * len(more), words[1])
    assert isinstance(view, FittingTable)
    return view


@pytest.mark.parametrize("width", [80, 24])
def test_a_table_with_an_empty_value_has_one_key_below_it(width: int) -> None:
    for cells, count in ((("–", "5.0 | – | 2.7"), 1), (("1", "channel 1 – 2"), 0)):
        shown = table("Title", ["name", "a number", "another"], right=["a number", "another"])
        shown.add_row("first", *cells)
        shown.add_row("second", *cells)
        console = Console(file=io.StringIO(), width=width)
        console.print(shown)
        lines = console.file.getvalue().splitlines()
        keys = [line for line in lines if line.startswith("–: no value")]
        assert len(keys) == count
        assert not count or keys[0].strip() == lines[-1 if width > 40 else -2].strip()


def test_no_word_is_cut_while_another_column_has_room() -> None:
    lines = rendered(verdicts("overhead"), 48)
    assert max(map(len, lines)) <= 48
    # The heading, and three lines of the row.
    assert len(lines) <= 4
    assert any(line.startswith("WPA2-Enterprise,") for line in lines)


def test_a_row_becomes_a_block_before_its_words_take_more_than_three_lines() -> None:
    lines = rendered(verdicts(*(f"metric-{n}" for n in range(5))), 85)
    assert lines[0] == "WPA2-Enterprise, EAP-TLS, CCMP-128"
    assert lines[-1] == "  verdict: no difference that these trials can detect"


@pytest.mark.parametrize("columns", [60, 80, 200])
def test_the_end_of_a_command_is_at_most_twelve_lines(
    in_terminal: Any, finished: Path, columns: int
) -> None:
    lines = in_terminal(columns, "show", "run", cwd=finished)
    assert 3 <= len(lines) <= 12
    assert max(map(len, lines)) <= max(columns, 70)
    assert "throughput" in " ".join(lines)


def test_a_table_is_shown_by_request_with_chosen_rows_and_columns(
    airtoll: Any, finished: Path
) -> None:
    def shown(*arguments: str) -> str:
        done = airtoll("show", "run", *arguments, cwd=finished)
        assert done.returncode == 0, done.stderr
        return str(done.stdout)

    rows = shown("costs", "--csv", "--columns", "policy,where", "--where", "traffic=udp")
    assert rows.splitlines() == [
        "policy,where",
        'Open,"UDP, 1472 octets"',
        '"WPA2-Personal, CCMP-128","UDP, 1472 octets"',
        '"WPA3-Personal, GCMP-256","UDP, 1472 octets"',
    ]
    latex = shown("costs", "--latex", "--caption", "Cost & place", "--label", "tab:mine")
    assert r"\caption{Cost \& place}" in latex
    assert r"\label{tab:mine}" in latex
    rows = latex.split(r"\midrule")[1].split(r"\bottomrule")[0]
    assert rows.count(r"\\" + "\n") == 9


def test_a_table_that_does_not_exist_is_refused_with_the_choices(
    airtoll: Any, finished: Path
) -> None:
    for arguments, words in (
        (("sums",), "choose from answers, costs, printed, trials, delays, parts"),
        (("costs", "--where", "policy=wep"), "there are open, wpa2-psk-ccmp, wpa3-sae-gcmp-256"),
        (("costs", "--columns", "price"), "columns are policy, where,"),
        (("printed",), "nothing to show as printed"),
    ):
        done = airtoll("show", "run", *arguments, cwd=finished)
        assert done.returncode == 2
        assert words in done.stderr
        assert len(done.stderr.splitlines()) == 1


class Clock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def record(cell: str) -> Record:
    return Record(cell, 1, 1, 0, "ok", None, ())


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
