"""Packages that are called as their main function: ``airtoll.run(study)``.

A package and its main function have one name, and Python binds that name in ``airtoll`` to the
package. So the package itself is called.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Callable
from types import ModuleType
from typing import Any


def call_as(name: str, function: Callable[..., Any]) -> None:
    """Let the module of this name be called as ``function``."""

    class Called(ModuleType):
        @functools.wraps(function)
        def __call__(self, *args: Any, **kwargs: Any) -> Any:
            return function(*args, **kwargs)

    sys.modules[name].__class__ = Called
