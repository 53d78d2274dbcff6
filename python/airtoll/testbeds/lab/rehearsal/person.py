"""A person at the prompts of a campaign, as a script.

Takes the text of a prompt; types its settings into a router, right or with slips, and answers. A
slip is one wrong entry at one prompt of the access point; afterwards the person reads the
differences and corrects them.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Final

from attrs import define, field

from airtoll.testbeds.lab.rehearsal.router import Router, read_lines

#: A slip: label -> the value that is typed instead of the prompt's.
Slip = Mapping[str, str]
#: At this prompt the person sets nothing and presses Enter.
NOTHING: Final[Slip] = {}
#: At this prompt the person answers skip.
SKIP: Final[Slip] = {"skip": "skip"}
#: At this prompt the person is away: no answer comes.
AWAY: Final[Slip] = {"away": "away"}
_ENDS: Final = "(Enter when it is done"


@define
class Person:
    """Answers the prompts of one router.

    ``slips``: number of a prompt about the access point (from 0) -> its slip. ``said``: all texts;
    ``prompts``: those that asked for the access point, ``moves``: those that asked for a move.
    ``patience``: prompts after which the person answers skip.
    """

    router: Router
    slips: Mapping[int, Slip] = field(factory=dict)
    patience: int = 1000
    said: list[str] = field(factory=list)
    prompts: list[str] = field(factory=list)
    moves: list[str] = field(factory=list)
    _asked: str = ""
    #: Settings that the campaign asked for last: what a difference is corrected to.
    _wanted: dict[str, str] = field(factory=dict)

    def say(self, text: str) -> None:
        """Read a text; one that asks for something is remembered."""
        self.said.append(text)
        if _ENDS in text:
            self._asked = text

    async def line(self) -> str:
        """Do what was asked last, and press Enter."""
        if self._asked.startswith("Put the stations"):
            self.moves.append(self._asked)
            return ""
        slip = self.slips.get(len(self.prompts))
        self.prompts.append(self._asked)
        self._wanted = read_lines(self._asked) or self._wanted
        if slip == SKIP or len(self.prompts) > self.patience:
            return "skip"
        if slip == AWAY:
            await asyncio.Event().wait()
        if slip is not None and not slip:
            return ""
        # The mode of security comes first: its menu shows the other fields.
        for label, value in self._wanted.items():
            self.router.type(label, (slip or {}).get(label, value))
        return ""
