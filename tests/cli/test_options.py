"""A command's options as one object: groups, order, and what the command gets."""

from __future__ import annotations

from typing import Annotated

import pytest
import typer
from attrs import frozen
from typer.testing import CliRunner

from airtoll.cli.options import command
from airtoll.errors import UsageError


@frozen(kw_only=True)
class Place:
    """A group."""

    host: Annotated[str, typer.Option("--host", help="Its name.")] = "ap"
    port: Annotated[int | None, typer.Option("--port", min=1)] = None

    def __attrs_post_init__(self) -> None:
        if self.port is not None and self.host == "ap":
            raise UsageError("--port goes with --host")


@frozen(kw_only=True)
class Options:
    """Those of the command."""

    study: Annotated[str, typer.Argument(help="A study.")]
    place: Place
    json: Annotated[bool, typer.Option("--json")] = False


def app_with(seen: list[Options]) -> typer.Typer:
    app = typer.Typer()

    @app.command()
    @command
    def show(options: Options) -> None:
        """Show something."""
        seen.append(options)

    return app


@pytest.mark.parametrize(
    ("words", "options"),
    [
        (["a"], Options(study="a", place=Place())),
        (
            ["a", "--json", "--port", "7", "--host", "sta"],
            Options(study="a", place=Place(host="sta", port=7), json=True),
        ),
    ],
)
def test_a_command_gets_its_options_with_their_groups(words: list[str], options: Options) -> None:
    seen: list[Options] = []
    assert CliRunner().invoke(app_with(seen), words).exit_code == 0
    assert seen == [options]


def test_help_has_the_docstring_and_the_options_of_a_group_at_its_place() -> None:
    text = CliRunner().invoke(app_with([]), ["--help"]).output
    places = [text.index(word) for word in ("Show something.", "--host", "--port", "--json")]
    assert places == sorted(places)


@pytest.mark.parametrize(
    "words", [[], ["a", "--port", "0", "--host", "sta"], ["a", "--port", "x", "--host", "sta"]]
)
def test_the_parser_refuses_a_missing_argument_and_a_value_out_of_range(words: list[str]) -> None:
    seen: list[Options] = []
    assert CliRunner().invoke(app_with(seen), words).exit_code == 2
    assert seen == []


def test_a_group_refuses_options_that_do_not_go_together() -> None:
    result = CliRunner().invoke(app_with([]), ["a", "--port", "7"])
    assert isinstance(result.exception, UsageError)
