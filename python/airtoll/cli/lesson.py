"""``airtoll lesson``: a folder for a class hour."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Annotated

import typer

from airtoll.cli.output import err, out
from airtoll.cli.places import named
from airtoll.cli.playground import MOST_SEED
from airtoll.lesson import PAGE, Lesson, write_lesson


def lesson(
    folder: Annotated[Path, typer.Argument(parser=named("FOLDER"), help="Folder to write.")] = Path(
        "lesson"
    ),
    seed: Annotated[
        int,
        typer.Option(
            min=0, max=MOST_SEED, help="Seed of every trial: the page's, the solutions', the keys."
        ),
    ] = 1,
    policy: Annotated[
        str, typer.Option(help="Policy of the handshake, see `airtoll policies list`.")
    ] = "wpa2-psk-ccmp",
    page: Annotated[
        bool, typer.Option("--page/--no-page", help="With playground.html, or without it.")
    ] = True,
    force: Annotated[
        bool,
        typer.Option(
            "--force", help="Replace another lesson, and files that airtoll did not write."
        ),
    ] = False,
) -> None:
    """Write tasks, solutions, a handshake with its keys and the playground for a class hour."""
    made = write_lesson(folder, seed=seed, policy=policy, with_page=page, force=force)
    err().print(f"wrote {made.folder}:", markup=False, soft_wrap=True)
    width = max(map(len, made.files))
    for file, purpose in made.files.items():
        out().print(f"  {file:<{width}}  {purpose}", markup=False, soft_wrap=True)
    if not page:
        err().print(_about_page(made, seed), markup=False, soft_wrap=True)
    err().print(
        "Give the class the folder without solutions.*; start with tasks.html.", markup=False
    )


def _about_page(made: Lesson, seed: int) -> str:
    """Whether the folder has the page that the tasks name."""
    place = made.folder / PAGE
    if made.page_seed == seed:
        return f"{place} is from before; it has the same seed, so the tasks fit."
    command = f"airtoll playground --no-answers --seed {seed} --out {shlex.quote(str(place))}"
    if made.page_seed is not None:
        return (
            f"{place} has the seed {made.page_seed}, so its numbers are not those of the "
            f"solutions: `{command} --force` replaces it."
        )
    if place.exists():
        return f"{place} is no playground: `{command} --force` replaces it."
    return f"The tasks name {PAGE}, which is not in the folder: `{command}` writes it."
