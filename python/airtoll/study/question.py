"""The questions of a study: from what one has to what one could have."""

from typing import Annotated, Any

from pydantic import ConfigDict, Field, field_validator

from airtoll.errors import PolicyError
from airtoll.policies import resolve
from airtoll.study.table import Table

Level = str | int | float | bool


def _canonical(levels: Any) -> Any:
    """The levels with the canonical name of the policy."""
    if not isinstance(levels, dict) or not isinstance(levels.get("policy"), str):
        return levels
    try:
        return {**levels, "policy": resolve(levels["policy"]).name}
    except PolicyError as error:
        raise ValueError(str(error)) from error


class Question(Table):
    """One question: the change of one metric from what one has to what one could have.

    Levels are those of `policy`, `scenario`, `traffic` or a factor of the grid. Two cells answer a
    question if they differ in the levels of `from` and `to` alone.
    """

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=False, allow_inf_nan=False, populate_by_name=True
    )

    ask: str = Field("", description="the question, one sentence; default: the study's")
    metric: str = Field(description="metric that answers it, see observations.md")
    have: dict[str, Level] = Field(
        default_factory=dict,
        alias="from",
        description="levels of what one has; default: policy = `study.today`",
    )
    to: tuple[dict[str, Level], ...] = Field(
        (),
        description="what one could have: the levels that change, a table for each candidate; "
        "default: every other level of the axes of `from`",
    )
    where: dict[str, Any] = Field(
        default_factory=dict,
        description="levels (or lists of them) of the places that are looked at; default: all",
    )
    along: str | None = Field(
        None,
        description="numeric factor of the grid along which the answer may turn; the answer "
        "says at which level",
    )
    station: str | None = Field(
        None, description="name of the station whose value counts; default: the whole cell"
    )
    unnoticed: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description="largest unnoticed change, in the metric's unit, or as a share where the "
        "change of the metric is one; default: that of the metric",
    )

    @field_validator("have", mode="before")
    @classmethod
    def _policy_of_from(cls, levels: Any) -> Any:
        return _canonical(levels)

    @field_validator("to", mode="before")
    @classmethod
    def _policies_of_to(cls, tables: Any) -> Any:
        if isinstance(tables, dict):
            tables = [tables]
        return [_canonical(t) for t in tables] if isinstance(tables, list | tuple) else tables

    @field_validator("where", mode="before")
    @classmethod
    def _lists(cls, levels: Any) -> Any:
        if not isinstance(levels, dict):
            return levels
        return {
            key: tuple(
                _canonical({key: one})[key]
                for one in (value if isinstance(value, list | tuple) else [value])
            )
            for key, value in levels.items()
        }
