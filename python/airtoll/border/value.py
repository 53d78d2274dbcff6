"""The base of the classes of requests: frozen values, built by name.

``attrs`` compiles methods for every class when it is defined. There are more than a hundred of
these classes, and a command would spend a tenth of its imports on that. Here one method serves all.
Type checkers read them as frozen ``attrs`` classes, and ``attrs.evolve`` and ``attrs.fields`` work.
"""

from __future__ import annotations

from collections.abc import Callable
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, TypeVar

from attrs import NOTHING
from attrs.exceptions import FrozenInstanceError

if TYPE_CHECKING:
    from attrs import field as field
    from attrs import frozen as frozen
else:
    T = TypeVar("T")

    class field:  # noqa: N801 - the name that type checkers know
        """The field that names a variant: always written, and no argument."""

        __slots__ = ("default",)

        def __init__(self, *, default: object, init: bool) -> None:
            assert not init
            self.default = default

    def frozen(**_: bool) -> Callable[[type[T]], type[T]]:
        """Mark a subclass of :class:`Value`, which is frozen as it is."""
        return lambda kind: kind


class _Field(NamedTuple):
    """Counterpart of a field of ``attrs``; ``default`` is ``NOTHING`` for a required one."""

    name: str
    alias: str
    init: bool
    default: object


class _Fields:
    """The fields of a class, as ``attrs`` describes them; made when something asks."""

    def __get__(self, _: object, kind: type[Value]) -> tuple[_Field, ...]:
        names, defaults = kind._names, kind._defaults
        found = tuple(_Field(n, n, n in kind._given, defaults.get(n, NOTHING)) for n in names)
        # In the subclass itself: the next question finds them there.
        kind.__attrs_attrs__ = found
        return found


class Value:
    """A frozen value with named fields: equal where class and fields are equal.

    A class attribute is the default of the field with its name.
    """

    __attrs_attrs__: ClassVar[Any] = _Fields()
    _names: ClassVar[tuple[str, ...]] = ()
    _defaults: ClassVar[MappingProxyType[str, Any]] = MappingProxyType({})
    _given: ClassVar[frozenset[str]] = frozenset()
    _required: ClassVar[frozenset[str]] = frozenset()

    def __init_subclass__(cls) -> None:
        own = cls.__dict__
        names = tuple(own.get("__annotations__", ()))
        tags = [name for name in names if type(own.get(name)) is field]
        for name in tags:
            setattr(cls, name, own[name].default)
        cls._names = names
        cls._defaults = MappingProxyType({name: own[name] for name in names if name in own})
        cls._given = frozenset(names).difference(tags)
        cls._required = cls._given - cls._defaults.keys()

    def __init__(self, **given: Any) -> None:
        kind = type(self)
        if not kind._given >= given.keys() >= kind._required:
            unknown = ", ".join(sorted(given.keys() - kind._given))
            missing = ", ".join(sorted(kind._required - given.keys()))
            said = f"has no field {unknown}" if unknown else f"needs {missing}"
            raise TypeError(f"{kind.__name__} {said}")
        # Other fields have the class attributes, their defaults.
        self.__dict__.update(given)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise FrozenInstanceError

    def __delattr__(self, name: str) -> NoReturn:
        raise FrozenInstanceError

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and _values(self) == _values(other)

    def __hash__(self) -> int:
        return hash((type(self), *_values(self)))

    def __repr__(self) -> str:
        given = (f"{name}={getattr(self, name)!r}" for name in self._names)
        return f"{type(self).__name__}({', '.join(given)})"


def _values(value: Value) -> tuple[Any, ...]:
    return tuple([getattr(value, name) for name in type(value)._names])
