"""Typed claims: what the estimates say about the questions of a study.

Takes questions, observations and comparisons with printed figures; gives claims, which are numbers
with a verdict and a reason. Never writes a sentence.
"""

from airtoll.answer.claimed import Answered, answered, printed
from airtoll.answer.claims import (
    Claim,
    Compare,
    Crossing,
    Fallback,
    Fit,
    Held,
    Limit,
    Parts,
    Possible,
    Printed,
    Reproduces,
    Verdict,
)
from airtoll.answer.measured import Measured
from airtoll.answer.reproduced import Readings, within

__all__ = [
    "Answered",
    "Claim",
    "Compare",
    "Crossing",
    "Fallback",
    "Fit",
    "Held",
    "Limit",
    "Measured",
    "Parts",
    "Possible",
    "Printed",
    "Readings",
    "Reproduces",
    "Verdict",
    "answered",
    "printed",
    "within",
]
