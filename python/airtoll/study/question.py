"""The questions of a study, from what one has to what one could have, and its requirements."""

from typing import Annotated, Any, Self

from pydantic import ConfigDict, Field, field_validator, model_validator

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


class _OfLevels(Table):
    """A table with levels of the grid: `from`, `to` and `where`."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", strict=False, allow_inf_nan=False, populate_by_name=True
    )

    @field_validator("have", mode="before", check_fields=False)
    @classmethod
    def _policy_of_from(cls, levels: Any) -> Any:
        return _canonical(levels)

    @field_validator("to", mode="before", check_fields=False)
    @classmethod
    def _policies_of_to(cls, tables: Any) -> Any:
        if isinstance(tables, dict):
            tables = [tables]
        return [_canonical(t) for t in tables] if isinstance(tables, list | tuple) else tables

    @field_validator("where", mode="before", check_fields=False)
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


class Question(_OfLevels):
    """One question: the change of one metric from what one has to what one could have.

    Levels are those of `policy`, `scenario`, `traffic` or a factor of the grid. Two cells answer a
    question if they differ in the levels of `from` and `to` alone.
    """

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
        description="factor (or axis) of the grid along which the answer may turn; the answer "
        "says at which level; of places where it does not turn, whether the change grows or "
        "shrinks",
    )
    station: str | None = Field(
        None, description="name of the station whose value counts; default: the whole cell"
    )
    others_than: str | None = Field(
        None,
        description="name of a station; the sum over all other stations counts (`throughput_bps`)",
    )
    as_share: bool = Field(
        False, description="tell changes as shares of what was, as those of throughput are"
    )
    unnoticed: Annotated[float, Field(ge=0)] | None = Field(
        None,
        description="largest unnoticed change, in the metric's unit, or as a share where the "
        "change of the metric is one; default: that of the metric; with `as_share` 1 %, no other",
    )


class Require(_OfLevels):
    """One requirement: limits of one metric, which `airtoll run --gate` and `airtoll gate` check.

    Without `from` the limits are those of the value of every cell that `where` selects. With `from`
    they are those of the change from what one has to what one could have, as in `[[question]]`.
    """

    name: str = Field("", max_length=300, description="its name in results; default: its limits")
    metric: str = Field(
        description="metric with the limits, see observations.md; or `overhead`: the share of "
        "throughput that security costs by `study.overhead`, without `from`"
    )
    at_most: float | None = Field(
        None,
        description="largest value, in the metric's unit (`_s`, `_bps`); a share as a fraction. "
        "With `from`: largest change, as a share of what was where changes of the metric are told "
        "as one (throughput), else in the metric's unit",
    )
    at_least: float | None = Field(
        None,
        description="smallest value or change, as `at_most`; -0.03 with `from` and throughput: a "
        "loss of at most 3 %",
    )
    have: dict[str, Level] = Field(
        default_factory=dict,
        alias="from",
        description="levels of what one has; default: the limits are those of values",
    )
    to: tuple[dict[str, Level], ...] = Field(
        (),
        description="with `from`, what one could have: a table of levels for each candidate; "
        "default: every other level of the axes of `from`",
    )
    where: dict[str, Any] = Field(
        default_factory=dict,
        description="levels (or lists of them) of the cells that are required; default: all",
    )
    station: str | None = Field(
        None, description="name of the station whose value counts; default: the whole cell"
    )

    @model_validator(mode="after")
    def _has_limits(self) -> Self:
        if self.at_most is None and self.at_least is None:
            raise ValueError("names no limit: write at_most, at_least or both")
        if self.at_most is not None and self.at_least is not None and self.at_least > self.at_most:
            raise ValueError(
                f"at_least {self.at_least:g} is above at_most {self.at_most:g}: no value meets both"
            )
        if self.to and not self.have:
            raise ValueError("to goes with from")
        return self
