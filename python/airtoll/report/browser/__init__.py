"""The simulator inside a page: the WebAssembly module as text, and the script that calls it.

Takes the module that ``tools/web.sh`` builds and compresses; gives it in base64. Builds nothing.
"""

from __future__ import annotations

import base64
import json
from importlib.resources import files

from markupsafe import Markup

from airtoll.errors import UsageError

#: Reason for which a page has no simulator, with the remedy.
NOT_BUILT = (
    "the page has no simulator (no What-if panel): simulator.wasm.gz is not built; "
    "in a source checkout run `make web`"
)


def module() -> bytes | None:
    """The WebAssembly module, compressed by gzip; ``None`` in an installation without it."""
    built = files(__package__) / "simulator.wasm.gz"
    return built.read_bytes() if built.is_file() else None


def embedded() -> str:
    """The compressed module for a page, in base64.

    Raises ``UsageError`` where the module is not built.
    """
    octets = module()
    if octets is None:
        raise UsageError(NOT_BUILT)
    return base64.b64encode(octets).decode("ascii")


def script(name: str) -> str:
    """A script next to this file."""
    return (files(__package__) / name).read_text("utf-8")


def in_script(data: object) -> Markup:
    """JSON that cannot end the script element around it."""
    return Markup(json.dumps(data, sort_keys=True).replace("<", "\\u003c"))
