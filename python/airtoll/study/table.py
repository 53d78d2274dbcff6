"""The base class of a study file's tables (frozen, unknown keys refused) and its value types."""

from functools import cache
from types import NoneType, UnionType
from typing import Annotated, Any, Literal, TypeVar, Union, get_args, get_origin

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, model_validator

from airtoll.foreign_text import name_problem


def _named(name: str) -> str:
    problem = name_problem(name)
    if problem:
        raise ValueError(problem)
    return name


def _window(slots: int) -> int:
    if slots & (slots + 1):
        least = 2 ** (slots.bit_length() - 1) - 1
        raise ValueError(f"must be a power of two less one, such as {least} or {2 * least + 1}")
    return slots


Positive = Annotated[float, Field(gt=0, le=1e9)]
NotNegative = Annotated[float, Field(ge=0, le=1e9)]
Count = Annotated[int, Field(ge=1, le=1_000_000_000)]
#: Rate of a cable, Mb/s: 1 kb/s to 1 Tb/s.
WireRate = Annotated[float, Field(ge=0.001, le=1e6)]
Dbm = Annotated[float, Field(ge=-200, le=100)]
Db = Annotated[float, Field(ge=0, le=200)]
Metre = Annotated[float, Field(ge=-1e6, le=1e6)]
Seconds = Annotated[float, Field(gt=0, le=1e6)]
#: A contention window of an EDCA Parameter Set, slots: its exponent has four bits.
Window = Annotated[int, Field(ge=0, le=32_767), AfterValidator(_window)]
Name = Annotated[str, AfterValidator(_named)]


T = TypeVar("T", bound=BaseModel)


class Table(BaseModel):
    """A table of a study file."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=False, allow_inf_nan=False, defer_build=True
    )

    @model_validator(mode="before")
    @classmethod
    def _kinds(cls, given: object) -> object:
        """A number is no text and no true: pydantic would read "5" as 5 and true as 1."""
        if isinstance(given, dict):
            known = _kinds_of_fields(cls)
            for name, value in given.items():
                kinds = known.get(name)
                if kinds is None:
                    continue
                if isinstance(value, str) and str not in kinds and _reads(value):
                    raise ValueError(f"{name}: {value!r} is a text, not {_words(kinds)}")
                if isinstance(value, bool) and bool not in kinds:
                    raise ValueError(f"{name}: {str(value).lower()} is not {_words(kinds)}")
                if type(value) in (int, float) and kinds == {bool}:
                    raise ValueError(f"{name}: {value} is not true or false")
        return given


@cache
def unset(table: type[T]) -> T:
    """A table in which nothing is set: the same object for each question about a cell.

    Defaults need no check, so that the import of a study's tables builds no validator.
    """
    return table.model_construct()


def _reads(text: str) -> bool:
    """Whether pydantic would read a text as a number or as true or false."""
    try:
        float(text)
    except ValueError:
        return text.lower() in ("t", "f", "true", "false", "y", "n", "yes", "no", "on", "off")
    return True


@cache
def _kinds_of_fields(table: type[Table]) -> dict[object, frozenset[type]]:
    """The fields that take plain types, with these."""
    fields = [(name, _scalars(field.annotation)) for name, field in table.model_fields.items()]
    return {name: kinds for name, kinds in fields if kinds}


def _scalars(annotation: Any) -> frozenset[type]:
    """The plain types that a field takes; none where it takes a table, a list or a mapping."""
    if get_origin(annotation) is Literal:
        return frozenset(type(value) for value in get_args(annotation))
    if get_origin(annotation) in (Union, UnionType, Annotated):
        parts = get_args(annotation)
        parts = parts[:1] if get_origin(annotation) is Annotated else parts
        kinds = [_scalars(part) for part in parts if part is not NoneType]
        return frozenset().union(*kinds) if all(kinds) else frozenset()
    return frozenset({annotation}) if annotation in (bool, int, float, str) else frozenset()


def _words(kinds: frozenset[type]) -> str:
    if kinds == {bool}:
        return "true or false"
    return "a number" if bool not in kinds else "a number, true or false"
