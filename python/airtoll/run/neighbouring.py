"""Other networks on the channel, as people say them: a number at a level, or a scan.

Takes the words of ``--neighbours``; gives :class:`Neighbours`, and the scenario's table for them.
"""

from __future__ import annotations

import re
import statistics
from pathlib import Path
from typing import Any, Final

from attrs import frozen

from airtoll.errors import UsageError

#: Most other networks, as ``neighbours.cells`` of a study has them, and the level of those that a
#: source states without one, dBm.
_MOST_NETWORKS: Final = 20
_LEVEL_DBM: Final = -70.0
_COUNTED: Final = re.compile(r"(?P<number>\d+)(?:@(?P<level>-?\d+(?:\.\d+)?)(?:\s*dBm)?)?")


@frozen
class Neighbours:
    """Other networks on the channel.

    ``level_dbm``: at which they are heard. ``told``: how they were found, in words; ``assumed``:
    nothing states the level. ``counted``: by a person, not in a file.
    """

    networks: int
    level_dbm: float = _LEVEL_DBM
    told: str = ""
    assumed: bool = False
    counted: bool = True

    @property
    def table(self) -> dict[str, Any]:
        """``neighbours`` of a scenario: an access point and a station of each send to one another
        all the time.
        """
        return {"cells": self.networks, "level_dbm": self.level_dbm, "stations": 1}

    @property
    def beside(self) -> str:
        """The place of a network among them: ``beside 3 neighbours at -70 dBm``."""
        if not self.networks:
            return "beside no other network"
        several = "s" if self.networks > 1 else ""
        return f"beside {self.networks} neighbour{several} at {self.level_dbm:g} dBm"

    @property
    def option(self) -> str:
        """The option that says the same."""
        at = f"@{self.level_dbm:g}" if self.networks else ""
        return f"--neighbours {self.networks}{at}"


def neighbours_of(text: str, ssid: str | None) -> Neighbours:
    """The other networks of ``--neighbours``: ``3``, ``3@-70`` or a file of networks.

    ``ssid``: SSID or BSSID of the own network in a file; None: the one in use. Raises
    ``UsageError``.
    """
    counted = _COUNTED.fullmatch(text.strip())
    if counted is not None:
        number, level = int(counted["number"]), float(counted["level"] or _LEVEL_DBM)
        if number > _MOST_NETWORKS or not -110 <= level <= 0:
            raise UsageError(f"--neighbours {text}: 0 to {_MOST_NETWORKS} networks, -110 to 0 dBm")
        assumed = not counted["level"] and number > 0
        told = f"--neighbours: {_counted(number, level)}{' (assumed)' if assumed else ''}"
        return Neighbours(number, level, told, assumed)
    # The readers of files take time to load, which a number does not need.
    from airtoll.network import read

    if not Path(text).is_file():
        raise UsageError(f"--neighbours {text}: write N, N@LEVEL (3@-70), or a file of networks")
    heard = read(text)
    own = [one for one in heard if (ssid in (one.ssid, one.bssid) if ssid else one.in_use)]
    if not own:
        named = f"{text} has no {ssid}" if ssid else f"say --ssid, your network in {text}"
        raise UsageError(f"--neighbours: {named}")
    if own[0].channel is None:
        raise UsageError(f"--neighbours: {text} has no channel of {own[0].name}")
    others = [
        one
        for one in heard
        if one is not own[0] and one.channel == own[0].channel and one.band == own[0].band
    ]
    levels = [one.signal_dbm for one in others if one.signal_dbm is not None]
    level = statistics.median(levels) if levels else _LEVEL_DBM
    told = f"--neighbours {text}: {_counted(len(others), level)} on channel {own[0].channel}"
    told += f" beside {own[0].name}"
    if len(others) > _MOST_NETWORKS:
        told += f", of which {_MOST_NETWORKS} are simulated"
    assumed = bool(others) and not levels
    return Neighbours(min(len(others), _MOST_NETWORKS), level, told, assumed, counted=False)


def _counted(number: int, level: float) -> str:
    if not number:
        return "no other network"
    return f"{number} other network{'s' if number > 1 else ''} at {level:g} dBm"
