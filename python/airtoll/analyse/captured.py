"""Two captures taken apart: the use of the air per bit, without and with security.

The reports of two captures of the same traffic give the parts of the difference. Times that no
frame shows (back-off, spaces, acknowledgements whose rate is not in the capture, hosts) stay in the
unexplained remainder.
"""

from __future__ import annotations

from typing import Final

import polars as pl
from attrs import frozen

from airtoll.analyse.decomposition import decompose
from airtoll.analyse.overhead import Definition
from airtoll.capture.observations import LEDGER_KINDS
from airtoll.capture.reports import CaptureReport, by_kind
from airtoll.errors import UsageError

#: Acknowledgements have airtime where the capture tells their rate.
_KINDS: Final = LEDGER_KINDS | {"ack": ("control",)}
_BASELINE: Final = "baseline"
_SECURED: Final = "secured"


@frozen
class CapturedOverhead:
    """Comparison of two captures: payload rates in bit/s, and the parts of the overhead.

    ``parts``: rows of ``part``, ``meaning`` and ``value`` (fraction, by ``definition``), the last
    one unexplained; they add up to ``overhead``.
    """

    baseline_bps: float
    secured_bps: float
    overhead: float
    definition: Definition
    parts: pl.DataFrame


def take_apart(
    baseline: CaptureReport, secured: CaptureReport, definition: Definition = "of_baseline"
) -> CapturedOverhead:
    """The overhead of ``secured`` against ``baseline``, part by part.

    Raises ``UsageError`` for a capture without a length, without payload (encrypted and no key
    given, or no data), or without airtime (no rates in its radio headers).
    """
    pairs = ((_BASELINE, baseline), (_SECURED, secured))
    rates = {name: _rate(name, report) for name, report in pairs}
    rows = []
    for name, report in pairs:
        airtime = by_kind(report.ledger["total"]["airtime_s"])
        values = {
            f"airtime_{part}_s": sum(airtime[kind] for kind in kinds)
            for part, kinds in _KINDS.items()
        }
        length = report.data["duration_s"]
        values["airtime_idle_s"] = max(0.0, length - sum(values.values()))
        values["throughput_bps"] = rates[name]
        rows += [_row(name, metric, value) for metric, value in values.items()]
    spans = {name: report.data["duration_s"] for name, report in pairs}
    frame = decompose(pl.DataFrame(rows), spans, baseline=_BASELINE, definition=definition)
    # A capture shows time without frames as idle air, which explains nothing.
    rest = frame.filter(pl.col("part").is_in(["airtime_idle_s", "unexplained"]))["value"].sum()
    parts = frame.filter(~pl.col("part").is_in(["airtime_idle_s", "unexplained"])).select(
        "part", "meaning", "value"
    )
    remainder = pl.DataFrame(
        {
            "part": ["unexplained"],
            "meaning": ["between frames: back-off, spaces, hosts; what no frame carries"],
            "value": [float(rest)],
        }
    )
    before, after = rates[_BASELINE], rates[_SECURED]
    overhead = (before - after) / (before if definition == "of_baseline" else after)
    return CapturedOverhead(before, after, overhead, definition, pl.concat([parts, remainder]))


def _rate(name: str, report: CaptureReport) -> float:
    total, length = report.ledger["total"], report.data["duration_s"]
    if length <= 0:
        raise UsageError(f"{name} capture: it has no length in time")
    if not any(total["airtime_s"].values()):
        raise UsageError(f"{name} capture: no airtime: its radio headers name no rates")
    if total["octets"]["payload"] == 0:
        raise UsageError(f"{name} capture: no payload: no data, or encrypted and no key given")
    return 8 * float(total["octets"]["payload"]) / float(length)


def _row(name: str, metric: str, value: float) -> dict[str, object]:
    return {
        "cell": name,
        "scenario": "capture",
        "policy": name,
        "traffic": "capture",
        "factors": "{}",
        "trial": 1,
        "attempt": 1,
        "flow": None,
        "station": None,
        "second": None,
        "metric": metric,
        "value": float(value),
    }
