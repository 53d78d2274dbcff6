"""flent results (``*.flent``, ``*.flent.gz``; flent's data format, versions 1 to 4).

Takes the parsed JSON; gives each series as it stands (one point per flent step, numbered by the
whole second it falls into) and its mean over the test. Ping series become response time, TCP and
UDP rates throughput; other series have no metric here and are left out. Series that flent itself
computed from others (sum, avg) are left out, so that nothing counts twice. Never reads a file.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from airtoll.observe.imports.value import Value

#: flent unit -> (metric, factor to the schema's unit)
_UNITS = {
    "ms": ("response_time_s", 1e-3),
    "mbits/s": ("throughput_bps", 1e6),
    "mbit/s": ("throughput_bps", 1e6),
    "mbps": ("throughput_bps", 1e6),
}


def values(data: Any, source: str) -> list[Value]:
    """Values of one flent test; every series is a flow with the series' name."""
    units = {
        name: str(meta.get("UNITS", "")).lower()
        for name, meta in data["metadata"].get("SERIES_META", {}).items()
    }
    times = data["x_values"]
    found: list[Value] = []
    for name, points in data["results"].items():
        unit = units.get(name, "")
        computed = any(word in name.lower() for word in ("sum", "avg", "total", "mean"))
        if unit not in _UNITS or computed:
            continue
        metric, factor = _UNITS[unit]
        transport = "tcp" if "tcp" in name.lower() else "udp" if "udp" in name.lower() else None
        seconds: dict[int, list[float]] = {}
        for time, value in zip(times, points, strict=False):
            if value is not None and time is not None:
                seconds.setdefault(int(time), []).append(float(value) * factor)
        if not seconds:
            continue
        whole = _raw_mean(data, name, factor)
        if whole is None:
            whole = float(np.mean([v for second in seconds.values() for v in second]))
        found.append(Value(metric, whole, flow=name, transport=transport))
        found += [
            Value(metric, float(np.mean(inside)), second=second, flow=name)
            for second, inside in sorted(seconds.items())
        ]
    return found


def _raw_mean(data: Any, name: str, factor: float) -> float | None:
    """Mean of the raw samples: flent's results are interpolated to its grid."""
    raw = (data.get("raw_values") or {}).get(name) or []
    samples = [float(point["val"]) for point in raw if point.get("val") is not None]
    return float(np.mean(samples)) * factor if samples else None
