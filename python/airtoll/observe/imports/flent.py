"""flent results (``*.flent``, ``*.flent.gz``, ``*.flent.bz2``; data format, versions 1 to 4).

Takes the parsed JSON; gives each series as it stands (one point per flent step, numbered by the
whole second it falls into) and its mean over the test. Ping series become response time, TCP, UDP
and SCTP rates throughput. UDP rates are those that the sender counted: they are offered, and
throughput is the mean that iperf's server reported. Series that flent computed from others (sum,
average, fairness) are left out, so that nothing counts twice; other series have no metric here and
are named. Never reads a file.

netperf ends a sample when enough octets have passed: a starved flow has few long samples, and flent
leaves the longest out. The mean is netperf's own where it is there (``MEAN_VALUE``), and that of
the samples weighted by their durations (``dur``) otherwise. netperf's request-response tests count
requests per second: their mean is that over the requests. Units are those of the series; flent 1.3
to 1.9.9 did not write them, and they follow from the series' name. Before format 4 samples of
netperf's pings are requests per second, and those of HTTP latency are seconds.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

import numpy as np
from attrs import frozen

from airtoll.errors import DatasetError
from airtoll.foreign_text import name_problem, shown
from airtoll.observe.imports.documents import Document
from airtoll.observe.imports.value import Reading, Test, Value, needed, number, objects

#: Most series of a test.
_MOST_SERIES: Final = 1000
#: flent unit -> (metric, factor to the schema's unit)
_UNITS: Final = {
    "ms": ("response_time_s", 1e-3),
    "kbits/s": ("throughput_bps", 1e3),
    "mbits/s": ("throughput_bps", 1e6),
    "mbit/s": ("throughput_bps", 1e6),
    "mbps": ("throughput_bps", 1e6),
    "bits/s": ("throughput_bps", 1.0),
}
#: Units by the words of a series' name, as in flent's definitions of its tests.
_UNIT_OF_NAME: Final = (
    (re.compile(r"^ping \(ms\)|^http latency", re.IGNORECASE), "ms"),
    (re.compile(r"^(tcp|udp|sctp|download|upload)\b", re.IGNORECASE), "mbits/s"),
)
#: Series in ms whose values are response times.
_RESPONSE: Final = re.compile(r"ping|rtt|http latency", re.IGNORECASE)
#: Rates that are no throughput: the video rate of a player, the rate of a call's codec.
_NO_THROUGHPUT: Final = re.compile(r"^(dash|voip)", re.IGNORECASE)
#: Names of series that flent computes; only for files that do not say how a series came about.
_COMPUTED: Final = re.compile(r"\b(sum|avg|total|totals|mean|fairness)$", re.IGNORECASE)
_COMPUTING: Final = frozenset(
    {"AverageRunner", "SmoothAverageRunner", "SumRunner", "DiffMinRunner", "FairnessRunner"}
)


def read(documents: Sequence[Document]) -> Reading:
    """The tests of a file. Raises ``DatasetError`` for what is no result of flent."""
    tests = []
    for document in documents:
        try:
            values, caveats = _values(document.data)
        except DatasetError as error:
            raise DatasetError(f"line {document.line}: not a result of flent: {error}") from error
        tests.append(Test(values, tuple(caveats), document.sha256))
    return Reading(tests)


def _values(data: Any) -> tuple[list[Value], list[str]]:
    """Values of one test, whose series are flows, and what is unknown."""
    metadata, results = needed(data, "metadata"), needed(data, "results")
    times = needed(data, "x_values")
    if not isinstance(metadata, dict) or not isinstance(results, dict):
        raise DatasetError("metadata or results are no objects")
    if not isinstance(times, list):
        raise DatasetError("x_values is no list")
    if len(results) > _MOST_SERIES:
        raise DatasetError(f"has {len(results)} series, more than {_MOST_SERIES}")
    found: list[Value] = []
    caveats: list[str] = []
    unread: list[str] = []
    for series in _all_series(data, metadata, results):
        if series.computed:
            continue
        own = series.values(times, caveats)
        found += own
        if own or series.unit == "misc":
            continue
        if any(point is not None for point in series.points):
            unread.append(series.name)
        elif series.unit in _UNITS:
            caveats.append(f"{series.name}: has no value, and sums over the flows lack it")
    failed = number(metadata, "FAILED_RUNNERS")
    if failed:
        caveats.append(f"{failed:g} of flent's runners failed: their series are missing")
    if unread:
        names = ", ".join(sorted(unread))
        caveats.append(f"series without a metric of airtoll, left out: {names}")
    return found, caveats


@frozen
class _Series:
    """One series: its points on flent's grid, its samples, and what flent says about it."""

    name: str
    unit: str
    points: Sequence[Any]
    samples: Sequence[Mapping[str, Any]]
    about: Mapping[str, Any]
    version: int
    computed: bool

    @property
    def transport(self) -> str | None:
        """The transport that the name tells."""
        return next((t for t in ("tcp", "udp", "sctp") if t in self.name.lower()), None)

    @property
    def _of_netperf(self) -> bool:
        return any("dur" in sample for sample in self.samples)

    def values(self, times: Sequence[Any], caveats: list[str]) -> list[Value]:
        """The mean over the test and the seconds; nothing where the series has no metric."""
        metric, factor = _UNITS.get(self.unit, ("", 0.0))
        if metric == "response_time_s" and not _RESPONSE.search(self.name):
            return []
        if not metric or _NO_THROUGHPUT.search(self.name):
            return []
        found: list[Value] = []
        sender_counts = metric == "throughput_bps" and self.transport == "udp"
        own = self._own_mean()
        if sender_counts:
            metric = "offered_bps"
            if own is None:
                caveats.append(
                    f"{self.name}: iperf's server reported nothing: throughput is unknown and left "
                    "out"
                )
            else:
                found.append(self._value("throughput_bps", own * factor))
            own = None
        seconds = self._by_second(times)
        mean = self._mean()
        if own is not None and (self._of_netperf or not self.samples):
            if metric == "response_time_s" and mean and not 0.9 < own / mean < 1.1:
                caveats.append(
                    f"{self.name}: netperf's own mean of {own:.3g} ms counts the wait for lost "
                    f"packets; its samples have {mean:.3g} ms"
                )
            mean = own
        if mean is None and seconds:
            mean = float(np.mean([v for inside in seconds.values() for v in inside]))
        if mean is None:
            return found
        found.append(self._value(metric, mean * factor))
        return found + [
            self._value(metric, float(np.mean(inside)) * factor, second)
            for second, inside in sorted(seconds.items())
        ]

    def _value(self, metric: str, value: float, second: int | None = None) -> Value:
        return Value(metric, value, second, self.name, self.transport)

    def _own_mean(self) -> float | None:
        """The tool's own mean, in the unit of the series (flent converts netperf's pings)."""
        mean = number(self.about, "MEAN_VALUE")
        # Until 0.15 the last line of iperf counted, also where it was not the server's.
        if self.transport == "udp" and not self._of_netperf and self.version < 4:
            return None
        return mean

    def _mean(self) -> float | None:
        """Mean of the samples, as flent's results are interpolated to its grid."""
        known = []
        for sample in self.samples:
            value, time = number(sample, "val"), number(sample, "dur")
            if value is not None:
                known.append((value, time))
        if not known:
            return None
        values = np.array([value for value, _time in known])
        if any(time is None for _value, time in known):
            return float(values.mean())
        times = np.array([time for _value, time in known])
        if not times.sum() > 0:
            return None
        if self.unit != "ms":
            return float((values * times).sum() / times.sum())
        rates = self._requests_per_second()
        return 1000.0 / rates if rates else None

    def _requests_per_second(self) -> float | None:
        """Mean rate of netperf's requests; a sample without a request has no time of its own."""
        requests = time = 0.0
        for sample in self.samples:
            value, lasted = number(sample, "val"), number(sample, "dur")
            if lasted is None:
                continue
            time += lasted
            if value and self.version < 4:
                requests += value * lasted
            elif value:
                requests += 1000.0 / value * lasted
        return requests / time if time > 0 and requests > 0 else None

    def _by_second(self, times: Sequence[Any]) -> dict[int, list[float]]:
        seconds: dict[int, list[float]] = {}
        for time, point in zip(times, self.points, strict=False):
            row = {"x_values": time, self.name: point}
            at, value = number(row, "x_values"), number(row, self.name)
            if at is not None and value is not None:
                if not 0 <= at < 2**32:
                    raise DatasetError(f"x_values has {at:g}: seconds are 0 to {2**32 - 1}")
                seconds.setdefault(int(at), []).append(value)
        return seconds


def _all_series(
    data: Any, metadata: Mapping[str, Any], results: Mapping[str, Any]
) -> list[_Series]:
    version = int(number(data, "version") or 1)
    about = metadata.get("SERIES_META")
    about = about if isinstance(about, dict) else {}
    samples = data.get("raw_values")
    samples = samples if isinstance(samples, dict) else {}
    if version == 1 and not samples:
        samples = {
            name: meta["RAW_VALUES"]
            for name, meta in about.items()
            if isinstance(meta, dict) and "RAW_VALUES" in meta
        }
    found = []
    for name, points in results.items():
        problem = name_problem(name)
        if problem:
            raise DatasetError(f"series {shown(name)}: {problem}")
        if not isinstance(points, list):
            raise DatasetError(f"series {shown(name)} is no list")
        meta = about.get(name)
        meta = meta if isinstance(meta, dict) else {}
        own = objects(samples, name)
        found.append(
            _Series(
                name,
                _unit(name, meta),
                points,
                _converted(name, own, version),
                meta,
                version,
                _is_computed(name, meta, own, bool(samples)),
            )
        )
    return found


def _unit(name: str, meta: Mapping[str, Any]) -> str:
    """The unit of a series; by its name where flent did not write it."""
    unit = meta.get("UNITS")
    if isinstance(unit, str) and unit:
        return unit.lower()
    return next((unit for words, unit in _UNIT_OF_NAME if words.search(name)), "")


def _is_computed(name: str, meta: Mapping[str, Any], own: Sequence[Any], any_samples: bool) -> bool:
    """Whether flent computed a series from others."""
    if str(meta.get("RUNNER")) in _COMPUTING:
        return True
    if own:
        return False
    # A series without samples among others that have some, and with the name of a result.
    return bool(_COMPUTED.search(name)) or (any_samples and "COMPUTED_LATE" in meta)


def _converted(
    name: str, samples: Sequence[dict[str, Any]], version: int
) -> Sequence[dict[str, Any]]:
    """The samples in the unit of the series; those of netperf's pings stay requests per second."""
    if version >= 4 or name != "HTTP latency":
        return samples
    return [
        {**sample, "val": None if value is None else 1000 * value}
        for sample in samples
        for value in [number(sample, "val")]
    ]
