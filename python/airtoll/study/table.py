"""The base class of a study file's tables (frozen, unknown keys refused) and its number types."""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class Table(BaseModel):
    """A table of a study file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)
