"""Probe traffic of stations that pass by, in words for ``airtoll check``.

Takes a cell; gives its requests, its responses and their share of the air in one line. Nothing is
simulated.
"""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from airtoll.plan import Cell
from airtoll.testbeds.passers_by import asked
from airtoll.testbeds.resolve import native

if TYPE_CHECKING:
    from airtoll.border.answers import ProbeResponseRow


def words(cell: Cell) -> str | None:
    """Requests, responses and their share of the air in one line; None without."""
    given = asked(cell.settings)
    if given is None:
        return None
    found = native(cell).probe_traffic()
    assert found is not None
    said = (
        f"stations that pass by send {given.per_s:g} Probe Requests of {found['request_octets']} "
        f"octets ({_ms(found['request_s'])}) per second at {given.level_dbm:g} dBm"
    )
    if not found["responses"]:
        said += ", below carrier sense: no access point answers"
    else:
        said += f", {_answers(found['responses'])}"
        if given.leaves_ratio:
            attempts = found["responses"][0]["attempts"]
            said += (
                f", {100 * given.leaves_ratio:g} % of them {_times(attempts)} because their "
                "station has left"
            )
    return f"{said}: {100 * found['share']:.2g} % of the air without waiting"


def _answers(responses: list[ProbeResponseRow]) -> str:
    own = [row for row in responses if row["own"]]
    others = [row for row in responses if not row["own"]]
    access_points = Counter(row["bss"] for row in others)
    named = [f"{_sizes(own)} of this cell"] if own else []
    if others:
        many = len(access_points)
        named.append(f"{_sizes(others)} of {many} neighbour{'' if many == 1 else 's'}")
    return f"answered by {' and '.join(named)}"


def _sizes(rows: list[ProbeResponseRow]) -> str:
    """Responses by length: ``3 Probe Responses of 180 octets (0.27 ms)``."""
    sizes = Counter((row["octets"], row["length_s"]) for row in rows)
    named = [
        f"{count} Probe Response{'s' if count > 1 else ''} of {octets} octets ({_ms(length_s)})"
        for (octets, length_s), count in sizes.items()
    ]
    return " and ".join(named)


def _times(attempts: int) -> str:
    return "once" if attempts == 1 else f"{attempts} times"


def _ms(seconds: float) -> str:
    return f"{1e3 * seconds:.3g} ms"
