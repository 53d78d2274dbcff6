"""What every table of a study file is: frozen, and without keys that nobody knows.

Takes and gives values of pydantic; the numbers that may stand in a table by their range.
"""

from __future__ import annotations

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Positive = Annotated[float, Field(gt=0)]
NotNegative = Annotated[float, Field(ge=0)]
Count = Annotated[int, Field(ge=1)]


class Table(BaseModel):
    """A table of a study file."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=False)
