"""The report of a day in a laboratory, from its log.

Takes events of the log; gives a text of a few lines. A day is one of UTC, as the times in the log.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, Final

#: Lines of each list of a report.
_MOST: Final = 5


def report(name: str, day: str, events: Iterable[Mapping[str, Any]]) -> str:
    """The report of a day (``2026-11-26``) from the events of that day, or of more."""
    todays = [event for event in events if str(event.get("at", "")).startswith(day)]
    trials = [event for event in todays if event.get("event") == "trial"]
    failed = [event for event in trials if event.get("failure") is not None]
    counts = Counter(str(event.get("event")) for event in todays)
    lines = [
        f"laboratory {name}, {day} (UTC)",
        f"trials: {len(trials) - len(failed)} measured, {len(failed)} failed",
        f"access point: set {counts['set']} times, another setting found {counts['difference']} "
        "times",
        f"stations moved: {counts['moved']} times; left out: {counts['left out']} trials",
    ]
    lines += _span(trials, "busy_by_others", "channel taken by others", 100, "%")
    lines += _span(trials, "noise_dbm", "noise", 1, " dBm")
    lines += _spans(trials, "clock_s", "clocks differ by", 1e3, " ms")
    lines += _spans(trials, "temperature_c", "temperature", 1, " C")
    lines += _listed("failures", [str(event["failure"]) for event in failed])
    troubles = [str(event.get("why")) for event in todays if event.get("event") == "trouble"]
    lines += _listed("trouble", troubles)
    return "\n".join(lines) + "\n"


def _span(
    trials: list[Mapping[str, Any]], key: str, label: str, scale: float, unit: str
) -> list[str]:
    return _between([event.get(key) for event in trials], label, scale, unit)


def _spans(
    trials: list[Mapping[str, Any]], key: str, label: str, scale: float, unit: str
) -> list[str]:
    """The span of a value that each host has, host by host."""
    hosts = dict.fromkeys(name for event in trials for name in event.get(key) or {})
    found: list[str] = []
    for host in hosts:
        values = [(event.get(key) or {}).get(host) for event in trials]
        found += _between(values, f"{host}: {label}", scale, unit)
    return found


def _between(values: Iterable[Any], label: str, scale: float, unit: str) -> list[str]:
    known = [scale * value for value in values if isinstance(value, int | float)]
    if not known:
        return []
    low, high = min(known), max(known)
    return [f"{label}: {low:.3g} to {high:.3g}{unit}"]


def _listed(label: str, texts: list[str]) -> list[str]:
    counted = Counter(texts).most_common()
    rows = [f"{label}, {count} times: {text}" for text, count in counted[:_MOST]]
    if len(counted) > _MOST:
        rows.append(f"and {len(counted) - _MOST} more kinds of {label}")
    return rows
