"""The option ``--what-if`` of commands that write a report.

Takes a run folder; gives the panel of its page, or says in one line why it has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Annotated

import typer

from airtoll.cli.output import err
from airtoll.report import browser
from airtoll.report.imported import is_imported
from airtoll.report.what_if import Panel
from airtoll.run import open_run
from airtoll.run.what_if import what_if

WhatIfOption = Annotated[
    bool,
    typer.Option(
        "--what-if/--no-what-if",
        " /--no-live",
        help="Put the simulator into the page of one run, for changes of payload, stations, rate, "
        "distance, policy and tunnel.",
    ),
]


def panel_of(runs: Sequence[Path], *, wanted: bool) -> Panel | None:
    """The panel of one run; ``None`` without ``wanted``, for several runs and for captures."""
    if not wanted or len(runs) != 1 or is_imported(runs[0]):
        return None
    plan = open_run(runs[0]).folder.plan()
    if browser.module() is None:
        err().print(browser.NOT_BUILT, soft_wrap=True)
        return None
    return what_if(plan)
