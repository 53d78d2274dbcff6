"""The root of the command line: the list of commands.

Takes nothing; gives the typer application. Never holds logic. The module of a command is imported
when the command is named: most of the time of a short command is that of imports.
"""

from __future__ import annotations

import gc
import os
import sys
from importlib import import_module
from typing import Any, Final

import typer
from attrs import frozen
from typer.core import TyperCommand, TyperGroup

from airtoll import __version__
from airtoll.cli import usage


@frozen
class Lazy:
    """A command or a group of commands: its place below ``airtoll.cli``, and its line of help.

    ``summary`` is the first line of the command's docstring, or the group's help.
    """

    module: str
    attribute: str
    summary: str


COMMANDS: Final = {
    "run": Lazy(
        "running", "run", "Run a study, write its tables and report, and print the results."
    ),
    "check": Lazy(
        "running",
        "check",
        "List the cells to run, the skipped cells with reasons, and the expected duration.",
    ),
    "watch": Lazy(
        "watching",
        "watch",
        "Repeat a short campaign, keep every round, and report drift and the averaged overhead.",
    ),
    "survey": Lazy(
        "surveying",
        "survey",
        "Rank channels and positions by open throughput, before anything is measured.",
    ),
    "plan": Lazy(
        "planning",
        "plan_command",
        "Compute the trials per cell that detect a difference against the baseline, or that give "
        "each overhead an interval of a wanted width.",
    ),
    "report": Lazy(
        "reporting",
        "report",
        "Write the report of a run, or one report that compares several runs.",
    ),
    "show": Lazy("showing", "show", "Show the answer of a run again, or one of its tables."),
    "cite": Lazy(
        "citing",
        "cite",
        "Print BibTeX of airtoll, of a study or run, and of the papers behind its readings.",
    ),
    "compare": Lazy(
        "reporting",
        "compare",
        "Compare a run with printed figures, cell by cell: every row, or those of some tables.",
    ),
    "gate": Lazy(
        "gate",
        "gate",
        "Check the requirements of a run's study, or that it is not worse than an earlier run.",
    ),
    "advise": Lazy(
        "advise",
        "advise_command",
        "From the policy you have to a better one (--from), or rank policies by needs and limits.",
    ),
    "audit": Lazy(
        "audit",
        "audit_command",
        "Find figures that are inconsistent or impossible, or that do not support a claim.",
    ),
    "calibrate": Lazy(
        "calibrate",
        "calibrate_command",
        "Fit device profiles to some policies' readings and predict the others.",
    ),
    "explain": Lazy(
        "explain",
        "explain_command",
        "Rank mechanisms by how well each explains two measurements of a network.",
    ),
    "symptoms": Lazy(
        "symptoms",
        "symptoms_command",
        "From a complaint to its cause, its cure and the study that shows it.",
    ),
    "identify": Lazy(
        "identify",
        "identify_command",
        "Fit candidate mechanisms of a device to some overheads and predict the others.",
    ),
    "import": Lazy(
        "importing",
        "import_command",
        "Bring your own iperf3, irtt, flent or CSV readings into the observation schema.",
    ),
    "maxima": Lazy(
        "maxima",
        "maxima",
        "Print theoretical maxima of 802.11a/b/g and those of McCarter's Table 4-2.",
    ),
    "playground": Lazy(
        "playground",
        "playground",
        "Write a page of lessons for a class hour; it opens offline and simulates in the browser.",
    ),
    "lesson": Lazy(
        "lesson",
        "lesson",
        "Write tasks, solutions, a handshake with its keys and the playground for a class hour.",
    ),
    "doctor": Lazy(
        "doctoring",
        "doctor",
        "Check this machine: Python, native module, data, disk, optional tools.",
    ),
    "studies": Lazy("catalogues", "studies", "Shipped study files."),
    "policies": Lazy("catalogues", "policies", "The catalogue of security policies."),
    "profiles": Lazy("catalogues", "profiles", "Device profiles, each number with its source."),
    "datasets": Lazy("catalogues", "datasets", "Published readings."),
    "scenarios": Lazy("catalogues", "scenarios", "Scenarios of the shipped studies."),
    "capture": Lazy("capture", "app", "Read captures of real networks."),
    "guest": Lazy("guest", "app", "The throw-away Linux guest."),
    "ciphers": Lazy("ciphers", "ciphers", "The ciphers on this machine."),
}

EPILOG = (
    "Exit codes: 0 done; 1 error, or a requirement failed; 2 invalid input (study, option, file); "
    "3 the run or its folder failed, finished trials are kept, or some of several files could not "
    "be read, the others count; 4 the testbed or its environment failed; 5 not measured, or too "
    "few trials to tell; 130 interrupted, resumable. Data goes to stdout, everything else to "
    "stderr."
)

SETTINGS: Final[dict[str, Any]] = {
    "no_args_is_help": True,
    "rich_markup_mode": "markdown",
    "pretty_exceptions_enable": False,
    "context_settings": {"help_option_names": ["-h", "--help"]},
}


class _Commands(TyperGroup):
    """The group of all commands, each loaded when it is called."""

    def __init__(self, **values: Any) -> None:
        super().__init__(**values)
        for name, lazy in COMMANDS.items():
            self.commands[name] = TyperCommand(name, help=lazy.summary)

    def main(self, args: Any = None, *positional: Any, **values: Any) -> Any:
        """Runs the command that the words name; an error of their syntax is one line, exit code 2.

        Completion asks typer, which answers the shell and ends.
        """
        words = sys.argv[1:] if args is None else list(args)
        if any(name.startswith("_") and name.endswith("AIRTOLL_COMPLETE") for name in os.environ):
            return super().main(args, *positional, **values)
        try:
            with self.make_context("airtoll", list(words)) as context:
                self.invoke(context)
        except usage.ParserError as error:
            text = usage.help_of(error) or usage.line(error, words, _named(words))
            typer.echo(text, err=True)
            raise SystemExit(2) from None
        except typer.Exit as end:
            raise SystemExit(end.exit_code) from None
        except typer.Abort:
            typer.echo("airtoll: no answer was given", err=True)
            raise SystemExit(1) from None
        raise SystemExit(0)

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The named command, loaded; typer's own method for its errors."""
        name, command, rest = super().resolve_command(ctx, args)
        if name in COMMANDS:
            command = loaded(name)
        if not gc.isenabled():
            gc.freeze()
            gc.enable()
        return name, command, rest


def loaded(name: str) -> Any:
    """A command of the list, with its module imported."""
    found = getattr(import_module(f"airtoll.cli.{COMMANDS[name].module}"), COMMANDS[name].attribute)
    alone = typer.Typer(**SETTINGS)
    alone.callback()(lambda: None)
    if isinstance(found, typer.Typer):
        alone.add_typer(found, name=name)
    else:
        alone.command(name)(found)
    return typer.main.get_group(alone).commands[name]


def _named(words: list[str]) -> str:
    """The command that the words name, in full: ``airtoll capture report``."""
    name = "airtoll"
    group: Any = None
    for word in words:
        commands = COMMANDS if group is None else getattr(group, "commands", {})
        if word not in commands:
            break
        group = loaded(word) if group is None else commands[word]
        name += f" {word}"
    return name


app = typer.Typer(
    name="airtoll",
    cls=_Commands,
    help="What does Wi-Fi security cost? Declare a study, run it, read the answer.",
    epilog=EPILOG,
    **SETTINGS,
)


def _version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"airtoll {__version__}")
        raise typer.Exit


@app.callback()
def root(
    version: bool = typer.Option(
        False, "--version", callback=_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """What does Wi-Fi security cost? Declare a study, run it, read the answer."""
