"""Changes of a run against its study: the study's question may name values that are not the run's.

Takes a run; gives words.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from airtoll.report.summary import RunSummary

#: Values of one key, and keys, that are told one by one.
_MOST: Final = 4


def values_set(summary: RunSummary) -> Mapping[str, Any]:
    """Key -> value of what ``--set`` or a laboratory sets, without that of ``--as-printed``."""
    manifest = summary.manifest
    printed = summary.study.as_printed if manifest["options"].get("as_printed") else {}
    values: Mapping[str, Any] = manifest["study"]["values"]
    return {key: value for key, value in values.items() if key not in printed}


def changes(summary: RunSummary) -> Mapping[str, Any]:
    """The values that are set, without those of the trials, which change no question."""
    return {key: v for key, v in values_set(summary).items() if not key.startswith("trials.")}


def changed(summary: RunSummary) -> str:
    """The changes in one line: ``scenario.home.phy = 802.11n, grid.policy = open``; or nothing."""
    found = changes(summary)
    told = [f"{key} = {_value(value)}" for key, value in list(found.items())[:_MOST]]
    if len(found) > _MOST:
        told.append(f"{len(found) - _MOST} more")
    return "; ".join(told)


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if not isinstance(value, list | tuple):
        return str(value)
    names = [_value(one) for one in value[:_MOST]]
    return ", ".join(names) + (f" and {len(value) - _MOST} more" if len(value) > _MOST else "")
