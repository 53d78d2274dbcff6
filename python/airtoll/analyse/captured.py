"""Two captures taken apart: the use of the air per bit, without and with security.

The reports of two captures of the same traffic give the parts of the difference. Times that no
frame shows (back-off, spaces, acknowledgements whose rate is not in the capture, hosts) stay in the
unexplained remainder.

Headers inside a frame that stays closed cannot be told from its payload. The octets of its
plaintext follow from its cipher. Both captures are then compared by these, from LLC on.
"""

from __future__ import annotations

from typing import Final, Literal

import polars as pl
from attrs import field, frozen

from airtoll.analyse.decomposition import decompose
from airtoll.analyse.overhead import Definition
from airtoll.capture.observations import LEDGER_KINDS
from airtoll.capture.reports import CaptureReport, by_kind
from airtoll.capture.wanted import wanted_keys
from airtoll.errors import UsageError

#: Acknowledgements have airtime where the capture tells their rate.
_KINDS: Final = LEDGER_KINDS | {"ack": ("control",)}
_BASELINE: Final = "baseline"
_SECURED: Final = "secured"


@frozen
class CapturedOverhead:
    """Comparison of two captures: payload rates in bit/s, and the parts of the overhead.

    ``parts``: rows of ``part``, ``meaning`` and ``value`` (fraction, by ``definition``), the last
    one unexplained; they add up to ``overhead``. ``compared_by``: ``payload``, or ``plaintext``
    where data frames of ``closed`` (capture -> frames by cipher) stay closed: LLC, network and
    transport headers then count as payload on both sides.
    """

    baseline_bps: float
    secured_bps: float
    overhead: float
    definition: Definition
    parts: pl.DataFrame
    compared_by: Literal["payload", "plaintext"] = "payload"
    closed: dict[str, dict[str, int]] = field(factory=dict)


def take_apart(
    baseline: CaptureReport, secured: CaptureReport, definition: Definition = "of_baseline"
) -> CapturedOverhead:
    """The overhead of ``secured`` against ``baseline``, part by part.

    Raises ``UsageError`` for a capture without a length, without payload (no data), or without
    airtime (no rates in its radio headers), and for data frames that stay closed and whose cipher
    no frame names.
    """
    pairs = ((_BASELINE, baseline), (_SECURED, secured))
    closed = {name: dict(ciphers) for name, r in pairs if (ciphers := r.data["closed_ciphers"])}
    rates = {name: _rate(name, report, plaintext=bool(closed)) for name, report in pairs}
    for name, report in pairs:
        _refuse_unknown(name, report)
    rows = []
    for name, report in pairs:
        total = report.ledger["total"]
        airtime = by_kind(total["airtime_s"])
        if closed:
            inner = total["inner_headers_airtime_s"]
            airtime = {
                **airtime,
                "payload": airtime["payload"] + inner,
                "headers": airtime["headers"] - inner,
            }
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
    # Frames of a capture have the rates of their radio, and fill whole symbols.
    frame = frame.with_columns(
        pl.when(pl.col("part") == "airtime_payload_s")
        .then(pl.lit("payload at other rates, and padding to whole symbols"))
        .otherwise(pl.col("meaning"))
        .alias("meaning")
    )
    parts = frame.filter(~pl.col("part").is_in(["airtime_idle_s", "unexplained"])).select(
        "part", "meaning", "value"
    )
    remainder = pl.DataFrame(
        {
            "part": ["unexplained"],
            "meaning": ["back-off, spaces, hosts; what no frame carries"],
            "value": [float(rest)],
        }
    )
    before, after = rates[_BASELINE], rates[_SECURED]
    overhead = (before - after) / (before if definition == "of_baseline" else after)
    return CapturedOverhead(
        before,
        after,
        overhead,
        definition,
        pl.concat([parts, remainder]),
        "plaintext" if closed else "payload",
        closed,
    )


def _refuse_unknown(name: str, report: CaptureReport) -> None:
    unknown = report.data["closed_ciphers"].get("unknown", 0)
    if not unknown:
        return
    why = ", ".join(report.data["undecrypted"])
    which = "".join(f"; {sentence}" for sentence in wanted_keys(report.data))
    raise UsageError(
        f"{name} capture: {unknown} protected data frames stay closed ({why}), and no beacon, "
        "association or message 2 in the capture names their cipher: their octets of plaintext are "
        f"not known; give the key, or a capture with a beacon of the network{which}"
    )


def _rate(name: str, report: CaptureReport, *, plaintext: bool) -> float:
    total, length = report.ledger["total"], report.data["duration_s"]
    if length <= 0:
        raise UsageError(f"{name} capture: it has no length in time")
    if not any(total["airtime_s"].values()):
        raise UsageError(
            f"{name} capture: no airtime: its frames have no radio headers with rates; name a "
            "capture of the air, as monitor mode gives it (not one of a wire)"
        )
    octets = total["octets"]["payload"] + (total["inner_headers_octets"] if plaintext else 0)
    if octets == 0:
        raise UsageError(f"{name} capture: no payload: it holds no data")
    return 8 * float(octets) / float(length)


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
