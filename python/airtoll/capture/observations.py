"""Rows in the observation schema from a capture report.

Takes a :class:`~airtoll.capture.reports.CaptureReport`; gives a polars frame with the columns of
:data:`airtoll.observe.schema.OBSERVATIONS`. Each session is a trial of its policy; a session that
did not connect gives no row, because a time that was never reached is missing and not zero.
"""

from __future__ import annotations

from typing import Any

import polars as pl

from airtoll.border.answers import SessionReport
from airtoll.capture.reports import CaptureReport, SessionTime, by_kind
from airtoll.observe.metrics import METRICS
from airtoll.observe.schema import OBSERVATIONS, ROW_ORDER, SCHEMA_VERSION

_SESSION_METRICS: tuple[SessionTime, ...] = (
    "association_time_s",
    "eap_time_s",
    "key_handshake_time_s",
    "negotiation_time_s",
)
#: Part of the airtime ledger -> kinds of a capture's ledger.
LEDGER_KINDS = {
    "payload": ("payload",),
    "mac_phy": ("headers",),
    "security": ("security",),
    "retry": ("retries",),
    "management": ("management", "key_exchange"),
}


def observations(report: CaptureReport, name: str = "capture") -> pl.DataFrame:
    """Rows of ``report``, in canonical order; ``name`` is the study and scenario they stand for."""
    rows: list[dict[str, Any]] = []
    trials: dict[str, int] = {}
    for session in report.sessions:
        if session["outcome"] != "connected":
            continue
        policy = _policy(session)
        trials[policy] = trials.get(policy, 0) + 1
        values: dict[str, float | None] = {m: session[m] for m in _SESSION_METRICS}
        values["authentication_messages"] = float(session["authentication_messages"])
        values |= {name: float(n) for name, n in session["message_counts"].items()}
        rows += [
            _row(name, policy, trials[policy], session["station"], metric, value)
            for metric, value in values.items()
            if value is not None
        ]
    for roam in report.data["roams"]:
        trials["roam"] = trials.get("roam", 0) + 1
        gap = roam["handover_gap_s"]
        rows.append(_row(name, "mixed", trials["roam"], roam["station"], "handover_gap_s", gap))
    airtime = by_kind(report.ledger["total"]["airtime_s"])
    if any(airtime.values()):
        rows += [
            _row(name, "mixed", 1, None, f"airtime_{kind}_s", sum(airtime[p] for p in parts))
            for kind, parts in LEDGER_KINDS.items()
        ]
    frame = pl.DataFrame(rows, schema=OBSERVATIONS)
    return frame.sort(ROW_ORDER, nulls_last=False)


def _policy(session: SessionReport) -> str:
    """A name for what was negotiated, in the words of the suites (not a catalogue name)."""
    parts = [session["akm"] or "unknown", session["eap_method"], session["cipher"] or "unknown"]
    return "+".join(part.lower() for part in parts if part is not None)


def _row(
    name: str, policy: str, trial: int, station: str | None, metric: str, value: float
) -> dict[str, Any]:
    return {
        "schema_version": SCHEMA_VERSION,
        "study": name,
        "testbed": "capture",
        "cell": f"{name}/{policy}/capture",
        "scenario": name,
        "policy": policy,
        "traffic": "capture",
        "factors": "{}",
        "trial": trial,
        "attempt": 1,
        "seed": 0,
        "flow": None,
        "station": station,
        "second": None,
        "metric": metric,
        "value": float(value),
        "unit": METRICS[metric][0],
    }
