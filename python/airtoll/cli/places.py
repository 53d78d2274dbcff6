"""Files and folders that a user names.

Takes the text of an option or argument; gives a path. An empty text names nothing: a shell writes
it for a variable that is not set, and ``Path("")`` would be the folder here.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Final

from airtoll.errors import UsageError

#: Standard output, where a command can write there.
STANDARD_OUTPUT: Final = Path("-")


def named(option: str, *, standard_output: bool = False) -> Callable[[str], Path]:
    """The parser of an option's or argument's path.

    ``standard_output``: whether ``-`` stands for it. Raises ``UsageError`` for an empty text, and
    for a ``-`` that stands for nothing.
    """

    def path(text: str) -> Path:
        # A default comes through here, too.
        if not str(text):
            raise UsageError(f"{option} '': is empty; name a file or folder (. is the folder here)")
        if str(text) == "-" and not standard_output:
            raise UsageError(f"{option} -: is no name here; ./- names a file or folder called -")
        return Path(text)

    path.__name__ = "PATH"
    return path
