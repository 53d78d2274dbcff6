"""Typed claims: what the estimates say about the questions of a study.

Takes questions, observations and comparisons with printed figures; gives claims, which are numbers
with a verdict and a reason. Never writes a sentence.
"""

from airtoll.answer.claimed import Answered, answered, answered_about, printed
from airtoll.answer.claims import (
    Apart,
    Claim,
    Compare,
    Crossing,
    Fallback,
    Fit,
    Gain,
    Held,
    Layered,
    Limit,
    Margin,
    Met,
    Ordered,
    Ordering,
    Parts,
    Possible,
    Printed,
    Reproduces,
    Ruled,
    Ruling,
    Sum,
    Trend,
    Verdict,
    Way,
)
from airtoll.answer.gained import gained
from airtoll.answer.layered import layered
from airtoll.answer.measured import Measured
from airtoll.answer.ordered import TRANSPORTS, ordered
from airtoll.answer.reproduced import Readings, within
from airtoll.answer.ruled import ruled
from airtoll.answer.since import Since, since
from airtoll.answer.stated import Stated, of_change, of_row, stated, unnoticed_of

__all__ = [
    "TRANSPORTS",
    "Answered",
    "Apart",
    "Claim",
    "Compare",
    "Crossing",
    "Fallback",
    "Fit",
    "Gain",
    "Held",
    "Layered",
    "Limit",
    "Margin",
    "Measured",
    "Met",
    "Ordered",
    "Ordering",
    "Parts",
    "Possible",
    "Printed",
    "Readings",
    "Reproduces",
    "Ruled",
    "Ruling",
    "Since",
    "Stated",
    "Sum",
    "Trend",
    "Verdict",
    "Way",
    "answered",
    "answered_about",
    "gained",
    "layered",
    "of_change",
    "of_row",
    "ordered",
    "printed",
    "ruled",
    "since",
    "stated",
    "unnoticed_of",
    "within",
]
