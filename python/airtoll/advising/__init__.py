"""From the policy that one has to one that one could have, at home or in an office.

Takes a policy or a network and the place; gives claims, a decision and its words.
"""

from airtoll.advising.advise import MOST_LOSS, Advised, advise, decided
from airtoll.advising.decision import Choice, Decision, Outcome
from airtoll.advising.levels import Turn, by_level, detailed, level_lines, turned
from airtoll.advising.measure import Measures, Memo
from airtoll.advising.page import page
from airtoll.advising.screen import Screen, Section, screen
from airtoll.advising.situation import Place, Situation, place_named, situation

__all__ = [
    "MOST_LOSS",
    "Advised",
    "Choice",
    "Decision",
    "Measures",
    "Memo",
    "Outcome",
    "Place",
    "Screen",
    "Section",
    "Situation",
    "Turn",
    "advise",
    "by_level",
    "decided",
    "detailed",
    "level_lines",
    "page",
    "place_named",
    "screen",
    "situation",
    "turned",
]
