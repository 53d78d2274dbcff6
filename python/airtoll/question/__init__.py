"""The questions of a plan: from what one has to what one could have, place by place.

Takes a plan; gives :class:`Asked` values that name cells. Never reads a measured value.
"""

from airtoll.question.asked import Arm, Asked, Place, asked, refuse_questions, today_of

__all__ = ["Arm", "Asked", "Place", "asked", "refuse_questions", "today_of"]
