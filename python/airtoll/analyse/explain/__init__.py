"""From two measurements to the cause: mechanisms ranked by how well they predict all readings.

Takes readings before and after a change, and what the air can carry; gives a ranking with evidence,
the mechanisms that the readings cannot tell apart, and the measurement that would. Never runs a
testbed: the figures of the air come from one.

    evidence.py    readings, traffics and the setting in which they were taken
    mechanisms/    what each mechanism predicts for a reading
    ranking.py     the posterior over mechanisms, and whether anything fits
    differing.py   whether the measurements differ, and what the best mechanism leaves unexplained
    verdict.py     whether a fall is what the octets of security cost, or more
    deciding.py    the cheapest measurement that tells the leading mechanisms apart
"""

from airtoll.analyse.explain.deciding import OPTIONS, RADIO, Deciding, Option, Outcome, deciding
from airtoll.analyse.explain.differing import (
    Difference,
    Left,
    alone,
    differ,
    differences,
    left_of,
    octets_alone,
)
from airtoll.analyse.explain.evidence import (
    FACTORS,
    OF_AIRTIME,
    OF_FORM,
    Air,
    Change,
    Flow,
    Form,
    Heard,
    Quantity,
    Reading,
    Setting,
    Transport,
)
from airtoll.analyse.explain.mechanisms import MECHANISMS, Mechanism, Predicted
from airtoll.analyse.explain.ranking import Explained, Ranked, Ranking, rank
from airtoll.analyse.explain.verdict import Verdict, verdicts

__all__ = [
    "FACTORS",
    "MECHANISMS",
    "OF_AIRTIME",
    "OF_FORM",
    "OPTIONS",
    "RADIO",
    "Air",
    "Change",
    "Deciding",
    "Difference",
    "Explained",
    "Flow",
    "Form",
    "Heard",
    "Left",
    "Mechanism",
    "Option",
    "Outcome",
    "Predicted",
    "Quantity",
    "Ranked",
    "Ranking",
    "Reading",
    "Setting",
    "Transport",
    "Verdict",
    "alone",
    "deciding",
    "differ",
    "differences",
    "left_of",
    "octets_alone",
    "rank",
    "verdicts",
]
