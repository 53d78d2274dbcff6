"""The command line: data to stdout, everything else to stderr.

Takes arguments; gives exit codes and text. Never holds logic that the API lacks.
"""

from __future__ import annotations

import gc
import os
import sys

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
    from airtoll.cli.app import app

    try:
        app()
    except AirtollError as error:
        sys.stderr.write(f"airtoll: {error}\n")
        raise SystemExit(error.exit_code) from None
    except ModuleNotFoundError as error:
        extra = _EXTRAS.get((error.name or "").partition(".")[0])
        if extra is None:
            raise
        sys.stderr.write(
            f"airtoll: {error.name} is not installed: pip install 'airtoll[{extra}]'\n"
        )
        raise SystemExit(4) from None
    except KeyboardInterrupt:
        sys.stderr.write("airtoll: interrupted\n")
        raise SystemExit(130) from None
    except BrokenPipeError:
        # The reader closed the pipe: print nothing, and flush nothing more.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise SystemExit(0) from None
