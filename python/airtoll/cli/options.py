"""The options of a command as one frozen object.

Takes a class whose fields have their type, default, words, range and parser in one place; gives the
command that typer reads. A field whose own class has fields is a group that several commands share:
its options come where the field is. The command hands its object on whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import wraps
from inspect import Parameter, Signature
from typing import Any, TypeVar, get_type_hints

from attrs import NOTHING, fields, has

O = TypeVar("O")  # noqa: E741 - one letter as all type variables


def command(function: Callable[[O], None]) -> Callable[..., None]:
    """The command whose options are the fields of the function's one argument, in their order."""
    (kind,) = (kind for name, kind in get_type_hints(function).items() if name != "return")

    @wraps(function)
    def called(**values: Any) -> None:
        function(_made(kind, values))

    parameters = list(_parameters(kind))
    called.__signature__ = Signature(parameters)  # type: ignore[attr-defined]
    called.__annotations__ = {one.name: one.annotation for one in parameters}
    return called


def _parameters(kind: type) -> Iterator[Parameter]:
    hints = get_type_hints(kind, include_extras=True)
    for field in fields(kind):
        annotation = hints[field.name]
        if has(annotation):
            yield from _parameters(annotation)
            continue
        default = Parameter.empty if field.default is NOTHING else field.default
        yield Parameter(field.name, Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _made(kind: Callable[..., O], values: Mapping[str, Any]) -> O:
    """The object of the values by name; its groups first."""
    hints = get_type_hints(kind)
    own = {
        name: _made(group, values) if has(group) else values[name] for name, group in hints.items()
    }
    return kind(**own)
