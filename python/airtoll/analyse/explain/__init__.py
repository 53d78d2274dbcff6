"""From two measurements to the cause: mechanisms ranked by how well they predict all readings.

Takes readings before and after a change, and what the air can carry; gives a ranking with evidence,
the mechanisms that the readings cannot tell apart, and the measurement that would. Never runs a
testbed: the figures of the air come from one.

    evidence.py     readings, traffics and the setting in which they were taken
    mechanisms.py   what each mechanism predicts for a reading
    ranking.py      the posterior over mechanisms, and whether anything fits
    deciding.py     the cheapest measurement that tells the leading mechanisms apart
"""

from airtoll.analyse.explain.deciding import Deciding, deciding
from airtoll.analyse.explain.evidence import Air, Flow, Reading, Setting
from airtoll.analyse.explain.mechanisms import MECHANISMS, Mechanism
from airtoll.analyse.explain.ranking import Ranked, Ranking, rank

__all__ = [
    "MECHANISMS",
    "Air",
    "Deciding",
    "Flow",
    "Mechanism",
    "Ranked",
    "Ranking",
    "Reading",
    "Setting",
    "deciding",
    "rank",
]
