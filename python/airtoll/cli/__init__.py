"""The command line: data to stdout, everything else to stderr.

Takes arguments; gives exit codes and text. Never holds logic that the API lacks.
"""

from __future__ import annotations

import gc
import os
import sys

from airtoll.errors import AirtollError


def main() -> None:
    """Entry point of ``airtoll``. Exits with the code of the error's class."""
    # Modules, tables and figures live on: looking for dead ones took a twentieth of a run.
    gc.set_threshold(100_000)
    from airtoll.cli.app import app

    try:
        app()
    except AirtollError as error:
        sys.stderr.write(f"airtoll: {error}\n")
        raise SystemExit(error.exit_code) from None
    except KeyboardInterrupt:
        sys.stderr.write("airtoll: interrupted\n")
        raise SystemExit(130) from None
    except BrokenPipeError:
        # Whoever read our output has enough; say nothing, and let nothing more be flushed.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
