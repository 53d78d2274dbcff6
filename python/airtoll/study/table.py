"""The base class of a study file's tables (frozen, unknown keys refused) and its value types."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from airtoll.study.source import name_problem


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
Dbm = Annotated[float, Field(ge=-200, le=100)]
Db = Annotated[float, Field(ge=0, le=200)]
Metre = Annotated[float, Field(ge=-1e6, le=1e6)]
Seconds = Annotated[float, Field(gt=0, le=1e6)]
#: A contention window of an EDCA Parameter Set, slots: its exponent has four bits.
Window = Annotated[int, Field(ge=0, le=32_767), AfterValidator(_window)]
Name = Annotated[str, AfterValidator(_named)]


class Table(BaseModel):
    """A table of a study file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False, allow_inf_nan=False)
