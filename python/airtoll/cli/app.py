"""The root of the command line: the list of commands.

Takes nothing; gives the typer application. Never holds logic.
"""

from __future__ import annotations

import typer

from airtoll import __version__
from airtoll.cli import (
    advise,
    audit,
    calibrate,
    capture,
    catalogues,
    ciphers,
    doctoring,
    guest,
    identify,
    importing,
    maxima,
    planning,
    playground,
    reporting,
    running,
    surveying,
    watching,
)

EPILOG = (
    "Exit codes: 0 done; 1 error; 2 invalid input (study, option, file); "
    "3 the run or its folder failed, finished trials are kept; 4 the testbed or its environment "
    "failed; 130 interrupted, resumable. Data goes to stdout, everything else to stderr."
)

app = typer.Typer(
    name="airtoll",
    help="What does Wi-Fi security cost? Declare a study, run it, read the answer.",
    epilog=EPILOG,
    no_args_is_help=True,
    rich_markup_mode="markdown",
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
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


app.command()(running.run)
app.command()(running.check)
app.command()(watching.watch)
app.command()(surveying.survey)
app.command("plan")(planning.plan_command)
app.command()(reporting.report)
app.command()(reporting.compare)
app.command("advise")(advise.advise_command)
app.command("audit")(audit.audit_command)
app.command("calibrate")(calibrate.calibrate_command)
app.command("identify")(identify.identify_command)
app.command("import")(importing.import_command)
app.command()(maxima.maxima)
app.command()(playground.playground)
app.command()(doctoring.doctor)
app.add_typer(catalogues.studies, name="studies")
app.add_typer(catalogues.policies, name="policies")
app.add_typer(catalogues.profiles, name="profiles")
app.add_typer(catalogues.datasets, name="datasets")
app.add_typer(catalogues.scenarios, name="scenarios")
app.add_typer(capture.app, name="capture")
app.add_typer(guest.app, name="guest")
app.add_typer(ciphers.ciphers, name="ciphers")
