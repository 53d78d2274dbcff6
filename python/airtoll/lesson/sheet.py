"""The sheets of an hour: tasks with blanks, and their solutions, as Markdown and as a page.

Takes tasks; gives text. Knows no numbers.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from airtoll.lesson.tasks import Task
from airtoll.report.own import MARK
from airtoll.report.playground import COST_PAIRS, MEASURED_S
from airtoll.report.templates import page

_TITLE: Final = "What does Wi-Fi security cost?"
#: Introductions of the tasks and of the solutions.
_HOW: Final = (
    "The files open in a browser, without a network. The line below each figure has its numbers. "
    "Commands are for laptops with airtoll: they simulate other trials, so last digits differ. "
    "Fill in the numbers, then answer the question in one "
    "sentence."
)
_HOW_SOLVED: Final = (
    "`playground.html` and the captures of this folder show these numbers. A cost is the mean "
    f"of {COST_PAIRS} pairs of trials of {MEASURED_S:g} s, with its interval (95 %), and the "
    "numbers of task three are means of as many trials; other numbers of the playground come from "
    "single trials. The commands of the tasks simulate other trials: their costs lie within the "
    "intervals."
)


def title(*, solved: bool) -> str:
    """The title of a sheet."""
    return f"{_TITLE} {'Solutions' if solved else 'Tasks'}"


def introduction(*, solved: bool) -> str:
    """The lines above the tasks, with backticks around names of files."""
    return _HOW_SOLVED if solved else _HOW


def markdown(tasks: Sequence[Task], *, solved: bool, note: str = "") -> str:
    """A sheet as Markdown. ``note``: the line at its end, such as the seed."""
    lines = [f"# {title(solved=solved)}", "", introduction(solved=solved), ""]
    for number, task in enumerate(tasks, 1):
        lines += [f"## {number}. {task.title} ({task.minutes} min)", "", f"**{task.question}**", ""]
        if not solved:
            lines += [task.steps, ""]
            if task.command is not None:
                lines += ["```", task.command, "```", ""]
            if task.remark:
                lines += [task.remark, ""]
        lines += ["| find | value |", "|---|---|"]
        lines += [f"| {one.what} | {one.answer if solved else ''} |" for one in task.blanks]
        lines += ["", task.why if solved else "Answer:", ""]
    if note:
        lines += [note, ""]
    return "\n".join([*lines, f"<!-- {MARK} -->"]) + "\n"


def html(tasks: Sequence[Task], *, solved: bool, note: str = "") -> str:
    """The same sheet as a page to print."""
    return page(
        "lesson.html.j2",
        {
            "title": title(solved=solved),
            "introduction": introduction(solved=solved),
            "tasks": tasks,
            "solved": solved,
            "note": note,
        },
    )
