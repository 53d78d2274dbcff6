"""Pages from the templates in ``pages``, and their compiled code.

Takes the name of a template and its values; gives a page. The compiled code of a template is kept
where the interpreter keeps that of modules: to compile those of a report takes 55 ms of CPU time.
"""

from __future__ import annotations

import os
import re
import sys
from contextlib import suppress
from importlib.util import cache_from_source
from pathlib import Path
from typing import Any, Final

import jinja2
from jinja2 import BytecodeCache, Environment, PackageLoader, StrictUndefined, select_autoescape
from jinja2.bccache import Bucket
from markupsafe import Markup, escape

import airtoll
from airtoll.analyse.quantities import NOTHING_KEY, lacks_value

_CELL: Final = re.compile(r"<td[^>]*>([^<]*)")
_PAGES = Path(__file__).with_name("pages")


def page(template: str, values: dict[str, Any]) -> str:
    """A page from one of the templates in ``pages``."""
    return _environment().get_template(template).render(values)


def marked_words(text: str) -> Markup:
    """A sentence whose words in backticks are code."""
    parts = text.split("`")
    if len(parts) % 2 == 0:
        return escape(text)
    return Markup("").join(
        Markup("<code>{}</code>").format(part) if index % 2 else escape(part)
        for index, part in enumerate(parts)
    )


def _lacks_value(table: str) -> bool:
    """Whether a cell of a table in HTML has no value."""
    return any(lacks_value(cell) for cell in _CELL.findall(table))


def _environment() -> Environment:
    environment = Environment(
        loader=PackageLoader("airtoll.report", "pages"),
        autoescape=select_autoescape(default=True),
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        bytecode_cache=_BesideModules(),
    )
    environment.filters["words"] = marked_words
    environment.tests["lacking"] = _lacks_value
    environment.globals["nothing_key"] = NOTHING_KEY
    return environment


class _BesideModules(BytecodeCache):
    """Compiled templates in ``__pycache__``, or below ``PYTHONPYCACHEPREFIX``.

    A file names the versions of the interpreter, of jinja2 and of airtoll, whose settings of the
    environment are in the code; jinja2 compares the checksum of the source. Where the folder cannot
    be written, or ``PYTHONDONTWRITEBYTECODE`` is set, each process compiles the templates.
    """

    def get_cache_key(self, name: str, filename: str | Path | None = None) -> str:
        """The path of the file with a template's code."""
        versions = f"jinja{jinja2.__version__}airtoll{airtoll.__version__}"
        plain = "".join(c for c in versions if c.isalnum())
        return cache_from_source(_PAGES / name, optimization=plain)

    def load_bytecode(self, bucket: Bucket) -> None:
        """Read the code of a template, if there is any."""
        with suppress(OSError), Path(bucket.key).open("rb") as file:
            bucket.load_bytecode(file)

    def dump_bytecode(self, bucket: Bucket) -> None:
        """Keep the code of a template; a reader sees the whole file or none."""
        if sys.dont_write_bytecode:
            return
        whole = Path(bucket.key)
        part = whole.with_name(f"{whole.name}.{os.getpid()}")
        with suppress(OSError):
            whole.parent.mkdir(parents=True, exist_ok=True)
            with part.open("wb") as file:
                bucket.write_bytecode(file)
            part.replace(whole)
