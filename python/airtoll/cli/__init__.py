"""The command line: data to stdout, everything else to stderr.

Takes arguments; gives exit codes and text. Never holds logic that the API lacks.
"""

from __future__ import annotations

import gc
import os
import sys

from airtoll.cli import streams
from airtoll.errors import AirtollError

#: Package -> the extra of airtoll that installs it.
_EXTRAS = {
    "asyncssh": "linux",
    "cryptography": "linux",
    "distributed": "dask",
    "fontTools": "print",
    "matplotlib": "print",
    "pandas": "notebook",
    "pyarrow": "notebook",
    "scipy": "calibrate",
}


def main() -> None:
    """Entry point of ``airtoll``. Exits with the code of the error's class."""
    # Modules, tables and figures stay alive: garbage collection took a twentieth of a run.
    gc.set_threshold(100_000)
    # The import of a command makes no garbage; ``app`` collects again once it has its modules.
    gc.disable()
    # pydantic looks for plugins in the metadata of every installed package, 6 ms of CPU time.
    os.environ.setdefault("PYDANTIC_DISABLE_PLUGINS", "__all__")
    # Matrices here are small: the threads of OpenBLAS would spin longer than they multiply.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    streams.guard()
    code = _code()
    try:
        streams.flush()
    except AirtollError as error:
        # An earlier failure has its own code; output that is not whole is no success.
        if code == 0:
            code = _told(error)
    raise SystemExit(code)


def _code() -> int:
    """Runs the command; gives the exit code."""
    from airtoll.cli.app import app

    try:
        app()
    except AirtollError as error:
        return _told(error)
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        sys.stderr.write(
            f"airtoll: {error.name} is not installed: pip install 'airtoll[{extra}]'\n"
        )
        return 4
    except KeyboardInterrupt:
        sys.stderr.write("airtoll: interrupted\n")
        return 130
    except SystemExit as end:
        return end.code if isinstance(end.code, int) else int(end.code is not None)
    except BaseException as error:
        # The native module's own classes; to import it here would cost commands without it.
        if type(error).__name__ not in ("Fault", "PanicException"):
            raise
        sys.stderr.write(f"airtoll: stopped at a fault of its own, please report it: {error}\n")
        return 1
    return 0


def _told(error: AirtollError) -> int:
    """Prints the error; gives its exit code."""
    sys.stderr.write(f"airtoll: {error}\n")
    return error.exit_code
