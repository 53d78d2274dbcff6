"""Wrong words on the command line: one line on stderr and exit code 2, for every command."""

from __future__ import annotations

from typing import Any

import pytest

from airtoll.cli import main
from airtoll.cli.app import COMMANDS, app, loaded
from airtoll.errors import AirtollError


def commands() -> dict[str, Any]:
    """Every command without a group below it, by the words that call it."""
    found = {}
    for name in COMMANDS:
        command = loaded(name)
        below = getattr(command, "commands", None)
        if below is None:
            found[name] = command
        else:
            found |= {f"{name} {each}": part for each, part in below.items()}
    return found


ALL = commands()
NUMBERS = [
    (words, max(param.opts, key=len), param.min, param.max)
    for words, command in ALL.items()
    for param in command.params
    if getattr(param, "min", None) is not None
]
NEEDED = [(words, c) for words, c in ALL.items() if any(p.required for p in c.params)]


def refused(capsys: pytest.CaptureFixture[str], *words: str) -> str:
    """The one line of an error of syntax, from the parser that every command has."""
    with pytest.raises(SystemExit) as end:
        app([*words])
    shown = capsys.readouterr()
    assert end.value.code == 2, shown.err
    assert shown.out == ""
    assert shown.err.count("\n") == 1, shown.err
    return shown.err.strip()


#: `guest run` passes options on to the program in the guest.
@pytest.mark.parametrize("words", [words for words in ALL if words != "guest run"])
def test_an_unknown_option_is_one_line(capsys, words):
    said = refused(capsys, *words.split(), "--nonsense")
    assert said.startswith("airtoll: --nonsense: no such option; ")
    assert said.endswith(f"; see airtoll {words} --help") or said.count(";") == 1


@pytest.mark.parametrize(("words", "command"), NEEDED, ids=[words for words, _ in NEEDED])
def test_a_missing_argument_is_named_with_its_meaning(capsys, words, command):
    said = refused(capsys, *words.split())
    needed = next(param for param in command.params if param.required)
    assert said.startswith(f"airtoll: {needed.name.upper()} is missing: ") or (
        f"{max(needed.opts, key=len)} is missing: " in said
    )
    assert said.endswith(f"; see airtoll {words} --help")


@pytest.mark.parametrize(("words", "option", "least", "most"), NUMBERS)
def test_a_number_out_of_range_is_named_with_the_range(capsys, words, option, least, most):
    arguments = [
        "x" for p in ALL[words].params if p.required and p.param_type_name == "argument"
    ]  # fmt: skip
    said = refused(capsys, *words.split(), *arguments, option, str(least - 1))
    allowed = f"{least} or more" if most is None else f"{least} to {most}"
    assert (
        f"airtoll: {option} {least - 1}: allowed is {allowed}; see airtoll {words} --help" == said
    )


@pytest.mark.parametrize("group", [None, *(n for n in COMMANDS if hasattr(loaded(n), "commands"))])
def test_an_unknown_command_is_named_with_those_that_exist(capsys, group):
    words = [] if group is None else [group]
    said = refused(capsys, *words, "xyzzy")
    name = " ".join(["airtoll", *words])
    there = COMMANDS if group is None else loaded(group).commands
    assert said == (
        f"airtoll: xyzzy: no such command; there are {', '.join(sorted(there))}; see {name} --help"
    )


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("rnu", "rnu: no such command; did you mean run;"),
        ("run quickstart --trails 3", "--trails: no such option; did you mean"),
        ("run quickstart --jobs", "airtoll: --jobs: its value is missing;"),
        ("run quickstart --jobs=0", "--jobs 0: allowed is 1 to 512;"),
        ("run quickstart -j0", "--jobs 0: allowed is 1 to 512;"),
        ("run quickstart --jobs 1.5", "--jobs 1.5: allowed is an integer of 1 to 512;"),
        ("run quickstart --vm=yes", "--vm: takes no value;"),
        ("run quickstart tripathi2008", "tripathi2008: more arguments than the command takes;"),
        ("run quickstart --jobs a\x1b[31m", "--jobs a?[31m: "),
    ],
)
def test_the_line_names_the_value_and_the_way_on(capsys, words, says):
    assert says in refused(capsys, *words.split(" "))


@pytest.mark.parametrize(
    ("words", "says"),
    [
        ("advise --need nonsense", "--need nonsense: allowed are authentication, "),
        ("advise --limit nonsense", "--limit nonsense: write NAME=VALUE, "),
        ("advise --limit delay=5ms --limit delay=6ms", "delay has two limits"),
        ("advise --limit overhead=much", "--max-overhead 'much': give a number"),
        ("run quickstart --executor cloud", "--executor cloud: choose local or dask"),
        ("run quickstart --on moon", "--on moon: no such testbed; choose from"),
        ("run quickstart --until-precision much", "--until-precision much: write a share"),
        ("plan quickstart --detect much", "--detect much: write a share"),
        ("watch quickstart --every often --for 2s", "--every often: write a length"),
    ],
)
def test_a_value_that_a_command_refuses_is_named_with_its_option(
    capsys, tmp_path, monkeypatch, words, says
):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(AirtollError) as refusal:
        app(words.split())
    assert refusal.value.exit_code == 2
    assert says in str(refusal.value)
    assert not list(tmp_path.iterdir()), "a refused command leaves no folder"


def test_help_asked_for_is_no_error(capsys, monkeypatch):
    monkeypatch.setattr("sys.argv", ["airtoll", "run", "--help"])
    with pytest.raises(SystemExit) as end:
        main()
    assert end.value.code == 0
    assert "--until-precision" in capsys.readouterr().out
