"""The questions and requirements of a plan, place by place.

Takes a plan; gives :class:`Asked` and :class:`Required` values that name cells. Never reads a
measured value.
"""

from airtoll.question.asked import (
    Arm,
    Asked,
    Place,
    asked,
    asked_of,
    levels_of,
    refuse_questions,
    today_of,
    unnoticed_in,
)
from airtoll.question.required import Required, required

__all__ = [
    "Arm",
    "Asked",
    "Place",
    "Required",
    "asked",
    "asked_of",
    "levels_of",
    "refuse_questions",
    "required",
    "today_of",
    "unnoticed_in",
]
