"""The order of a campaign: trials so that the access point and the stations are touched seldom.

Takes a plan and the settings and places of its cells; gives a rank for every trial, the number of
touches and moves, and the hours. Trials under one setting follow one another. The price: a policy
and the drift of the air meanwhile cannot be told apart. ``rounds`` splits the trials of each
setting over several visits, every second round in reverse order.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from typing import Final, Literal

from attrs import frozen

from airtoll.testbeds.lab.places import Places

#: A touch of the access point, s: by a person who types, by a command that restarts its radio.
TOUCH_S: Final = {"hand": 300.0, "command": 60.0, "airtoll": 0.0}
#: A station is carried to its next place, s.
MOVE_S: Final = 120.0
#: Verification from the air before each trial, and the look at the channel, s.
LOOK_S: Final = 4.0


@frozen
class Stop:
    """One cell as a campaign comes to it: its setting, its places, and its time per trial, s."""

    setting: Hashable
    places: Places
    trial_s: float


@frozen
class Tour:
    """An order of cells.

    ``ranks``: number of each cell in the plan -> its rank within a round. ``rounds``: how often all
    settings are gone through. ``touches`` and ``moves`` in all rounds; ``seconds``: with trials.
    """

    ranks: dict[int, int]
    rounds: int
    repetitions: int
    touches: int
    moves: int
    seconds: float
    touched_by: Literal["airtoll", "hand", "command"]

    def turn(self, cell: int, number: int) -> tuple[float, ...]:
        """The rank of a trial; warm-ups (below 1) come first at every cell."""
        turn = self.round_of(number)
        rank = self.ranks[cell]
        return (turn, -rank if turn % 2 else rank, number)

    def round_of(self, number: int) -> int:
        """The round in which a trial comes, from 0."""
        if self.rounds == 1 or number < 1:
            return 0
        each = max(1, -(-self.repetitions // self.rounds))
        return (number - 1) // each

    @property
    def words(self) -> str:
        """Touches and hours in one line."""
        hours = self.seconds / 3600
        time = f"{hours:.1f} hours" if hours >= 1 else f"{self.seconds / 60:.0f} minutes"
        parts = []
        if self.touched_by != "airtoll":
            who = "by hand" if self.touched_by == "hand" else "by its command"
            parts.append(f"the access point is set {_times(self.touches)} {who}")
        if self.moves:
            parts.append(f"stations are moved {_times(self.moves)}")
        return f"{', '.join(parts) or 'nothing is touched'}; about {time}"


def tour(
    stops: dict[int, Stop],
    repetitions: int,
    rounds: int = 1,
    touched_by: Literal["airtoll", "hand", "command"] = "airtoll",
) -> Tour:
    """The order with the fewest touches of a plan's cells.

    ``repetitions``: trials per cell, warm-ups included. A person's touch takes longer than a move,
    so settings are outermost; otherwise places are.
    """
    rounds = max(1, min(rounds, repetitions))
    order = _ordered(stops, by_setting=touched_by == "hand")
    touches, moved = 0, 0
    setting: Hashable = _NOTHING
    places: dict[str, object] = {}
    for turn in range(rounds):
        for cell in reversed(order) if turn % 2 else order:
            stop = stops[cell]
            if stop.setting != setting:
                touches += 1
                setting = stop.setting
            carried = {
                name: place for name, place in stop.places.items() if places.get(name) != place
            }
            if carried:
                moved += 1
                places |= carried
    trials_s = sum((stop.trial_s + LOOK_S) * repetitions for stop in stops.values())
    return Tour(
        ranks={cell: rank for rank, cell in enumerate(order)},
        rounds=rounds,
        repetitions=repetitions,
        touches=0 if touched_by == "airtoll" else touches,
        moves=moved,
        seconds=trials_s + touches * TOUCH_S[touched_by] + moved * MOVE_S,
        touched_by=touched_by,
    )


_NOTHING: Final = object()


def _ordered(stops: dict[int, Stop], *, by_setting: bool) -> list[int]:
    """Cells, those of one setting (or place) together, beside them the next of the other kind.

    Within each the next cell is one with the fewest moves; ties keep the order of the plan.
    """
    left = list(stops)
    order: list[int] = []
    at: dict[str, object] = {}
    while left:
        head = stops[left[0]]
        outer = head.setting if by_setting else _key(head.places)
        group = [
            cell for cell in left
            if (stops[cell].setting if by_setting else _key(stops[cell].places)) == outer
        ]  # fmt: skip
        left = [cell for cell in left if cell not in group]
        last: Hashable = stops[order[-1]].setting if order else _NOTHING
        while group:
            best = min(
                range(len(group)),
                key=lambda i: (*_cost(stops[group[i]], at, last), i),
            )
            cell = group.pop(best)
            order.append(cell)
            at |= stops[cell].places
            last = stops[cell].setting
    return order


def _cost(stop: Stop, at: dict[str, object], last: Hashable) -> tuple[int, int]:
    carried = sum(1 for name, place in stop.places.items() if at.get(name) != place)
    return (carried, int(stop.setting != last))


def _key(places: Places) -> Hashable:
    return tuple(sorted(places.items()))


def _times(count: int) -> str:
    return {1: "once", 2: "twice"}.get(count, f"{count} times")


def sequence(of: Tour, numbers: Sequence[int]) -> list[tuple[int, int]]:
    """The trials of a tour in their order: (cell, number)."""
    pairs = [(cell, number) for cell in of.ranks for number in numbers]
    return sorted(pairs, key=lambda pair: of.turn(*pair))
