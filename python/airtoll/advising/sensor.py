"""The battery of a sensor and its interval, as people write them.

Takes words such as ``2000mAh@3.7V`` and ``1h``; gives Wh and seconds. Measures nothing.
"""

from __future__ import annotations

import re
from typing import Final

from attrs import frozen

from airtoll.errors import UsageError

#: Voltage of a lithium cell where none is said, V.
VOLTAGE: Final = 3.7
_BATTERY: Final = re.compile(
    r"(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>mAh|Ah|mWh|Wh)(?:\s*@\s*(?P<volts>\d+(?:\.\d+)?)\s*V)?",
    re.IGNORECASE,
)
_INTERVAL: Final = re.compile(r"(?P<amount>\d+(?:\.\d+)?)\s*(?P<unit>s|min|m|h|d)")
_SECONDS: Final = {"s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0}
_IN_WORDS: Final = ((86400, "day"), (3600, "hour"), (60, "minute"), (1, "second"))
#: A microcontroller is awake for some seconds for a join with SAE or EAP.
_LEAST_S: Final = 10.0
_MOST_S: Final = 31 * 86400.0
_MOST_WH: Final = 1e6


@frozen
class Battery:
    """``wh``: its energy. ``words``: for people. ``assumed``: the voltage if the text has none."""

    wh: float
    words: str
    assumed: str = ""


def battery_of(text: str) -> Battery:
    """The battery that a text names. Raises ``UsageError``."""
    found = _BATTERY.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--battery {text}: write 2000mAh, 2000mAh@3.7V or 7.4Wh")
    amount, unit = float(found["amount"]), found["unit"].lower()
    if unit.startswith("m"):
        amount /= 1000
    if unit.endswith("wh"):
        if found["volts"] is not None:
            raise UsageError(f"--battery {text}: Wh need no voltage")
        return Battery(_possible(amount, text), f"{amount:g} Wh")
    volts = VOLTAGE if found["volts"] is None else float(found["volts"])
    charge = f"{1000 * amount:g} mAh at {volts:g} V"
    assumed = f"{volts:g} V (--battery {text.strip()}@{volts:g}V)" if found["volts"] is None else ""
    return Battery(_possible(amount * volts, text), charge, assumed)


def _possible(wh: float, text: str) -> float:
    if not 0 < wh <= _MOST_WH:
        raise UsageError(f"--battery {text}: must be above 0 and at most {_MOST_WH:g} Wh")
    return wh


def seconds_of(text: str) -> float:
    """The interval of a text, s. Raises ``UsageError``."""
    found = _INTERVAL.fullmatch(text.strip())
    if found is None:
        raise UsageError(f"--every {text}: write 90s, 15m, 1h or 1d")
    seconds = float(found["amount"]) * _SECONDS[found["unit"]]
    if not _LEAST_S <= seconds <= _MOST_S:
        raise UsageError(f"--every {text}: must be 10s to 31d")
    return seconds


def every_in_words(seconds: float) -> str:
    """``every 15 minutes``, ``every hour``."""
    length, name = next(
        ((length, name) for length, name in _IN_WORDS if seconds % length == 0), (1, "second")
    )
    number = seconds / length
    return f"every {name}" if number == 1 else f"every {number:g} {name}s"
