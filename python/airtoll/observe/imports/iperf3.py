"""iperf3 results (``iperf3 --json`` or ``--json-stream``, client or server, versions 3.0 to 3.21).

The parsed JSON gives throughput (at the receiver, per second and in all), offered rate, UDP loss
and jitter, TCP retransmissions. The offered rate of UDP is that of ``sum_sent``: octets that the
sender really sent. The target of ``-b`` is only asked for; iperf3 sends whole datagrams per timer
tick and may exceed it. Jitter is iperf3's own, by RFC 1889 as in RFC 3550 section 6.4.1. Omitted
intervals (``-O``) are left out.

``--bidir`` measures both directions at once: each is a flow (``forward`` from the client,
``reverse`` to it), and the values of the whole are their sums.

A client learns what the other end counted; a server does not. In a server's output the other half
has zeros (before 3.11 also the octets that it received): it is unknown, and left out.

Per interval iperf3 knows the octets of its own end. At the sender these are octets sent, not
delivered: they are kept only where the two agree to 1 % over the whole test.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, Final

from attrs import frozen

from airtoll.errors import DatasetError
from airtoll.foreign_text import shown, shown_line
from airtoll.observe.imports.documents import Document
from airtoll.observe.imports.value import (
    Reading,
    Test,
    Value,
    needed,
    number,
    objects,
    range_problem,
)

_AGREE: Final = 0.01
_REVERSE: Final = "_bidir_reverse"
_TRANSPORTS: Final = ("tcp", "udp", "sctp")
#: The shortest sum of intervals that is a second of a series, and the longest interval, s.
_SHORTEST_SECOND: Final = 0.95
_LONGEST_SECOND: Final = 1.5


def read(documents: Sequence[Document]) -> Reading:
    """The tests of a file. Failed and cut off tests are left out, with the reason.

    Raises ``DatasetError`` where a document is no result of iperf3, or none of them can be used.
    """
    tests: list[Test] = []
    left_out: list[str] = []
    for record in records(documents):
        try:
            tests.append(test_of(record))
        except FailedTest as error:
            left_out.append(f"line {record.line}: {error}")
    if not tests:
        raise DatasetError(left_out[0] if left_out else "holds no result of iperf3")
    return Reading(tests, tuple(left_out))


def receiver_seconds(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Sums of the receiver's seconds, without those of the warm-up (``-O``) and a cut-off last one.

    Empty where the report holds none: both directions at once, or a server's output that the
    client did not ask for.
    """
    if _both_directions(report):
        return []
    own = _own_end_receives(report, reverse=_is_reverse(report))
    return whole_seconds(report if own else report.get("server_output_json", {}))


def whole_seconds(side: dict[str, Any]) -> list[dict[str, Any]]:
    """Sums of the seconds in the output of one side, as :func:`receiver_seconds` gives them."""
    sums = [i["sum"] for i in side.get("intervals", ()) if not i["sum"].get("omitted")]
    return [_counted(row) for row in sums if row["seconds"] >= 0.5]


def jitter_s(seconds: list[dict[str, Any]], received: dict[str, Any]) -> float:
    """Mean of the jitter at the end of the receiver's seconds, as ``jitter_s`` is defined, s.

    The value at the end, ``received["jitter_ms"]``, where there is no second with packets.
    """
    known = [float(r["jitter_ms"]) for r in seconds if "jitter_ms" in r and r["packets"] > 0]
    known = known or [float(received["jitter_ms"])]
    return sum(known) / len(known) / 1e3


class FailedTest(DatasetError):
    """A test that iperf3 itself says has failed, or whose record is not whole."""


@frozen
class Record:
    """The record of one test in a file; ``sha256`` stands for a test without a cookie."""

    line: int
    report: dict[str, Any]
    sha256: str


def records(documents: Sequence[Document]) -> Iterator[Record]:
    """The record of each test; the events of ``--json-stream`` are put together."""
    stream: Record | None = None
    for document in documents:
        data = document.data
        if not isinstance(data, dict):
            raise DatasetError(f"line {document.line}: not a result of iperf3: {shown(data)}")
        event = data.get("event")
        if event is None or event == "start":
            if stream is not None:
                yield stream
            stream = None
        if event is None:
            yield Record(document.line, data, document.sha256)
        elif event == "start":
            begun: dict[str, Any] = {"start": data.get("data"), "intervals": []}
            stream = Record(document.line, begun, document.sha256)
        elif stream is None:
            # The start of this test is in another file, or was never written.
            stream = Record(document.line, {}, document.sha256)
        if stream is not None and event == "interval":
            stream.report.setdefault("intervals", []).append(data.get("data"))
        elif stream is not None and event in ("end", "error", "server_output_json"):
            stream.report[event] = data.get("data")
    if stream is not None:
        yield stream


def test_of(record: Record) -> Test:
    """One test. Raises ``FailedTest`` if it failed, ``DatasetError`` for what is no result."""
    report = record.report
    if "error" in report:
        raise FailedTest(f"iperf3 ended with an error: {shown_line(str(report['error']))}")
    if "intervals" in report and "start" not in report:
        raise FailedTest("a test without its start: the output is cut off")
    if "intervals" in report and not report.get("end"):
        raise FailedTest("a test without its end: the output is cut off")
    try:
        start = needed(report, "start")
        transport = _transport(needed(start, "test_start"))
        values, caveats = _values(report, _end(report), transport)
    except DatasetError as error:
        raise DatasetError(f"line {record.line}: not a result of iperf3: {error}") from error
    cookie = start.get("cookie")
    named = isinstance(cookie, str) and cookie
    identity = f"iperf3 {cookie}" if named else record.sha256
    is_reverse = not _both_directions(report) and _is_reverse(report)
    return Test(values, tuple(caveats), identity, is_reverse)


def _transport(test: Any) -> str:
    transport = str(needed(test, "protocol")).lower()
    if transport not in _TRANSPORTS:
        known = ", ".join(_TRANSPORTS).upper()
        raise DatasetError(f"protocol {shown(transport)}: known are {known}")
    return transport


def _end(report: dict[str, Any]) -> dict[str, Any]:
    end = needed(report, "end")
    if not isinstance(end, dict):
        raise DatasetError("'end' is no object")
    return end


def _values(
    report: dict[str, Any], end: dict[str, Any], transport: str
) -> tuple[list[Value], list[str]]:
    caveats: list[str] = []
    if not _both_directions(report):
        return _Direction(
            report, end, transport, "", None, _is_reverse(report), caveats
        ).values(), caveats
    flows = [
        value
        for suffix, flow in (("", "forward"), (_REVERSE, "reverse"))
        for value in _Direction(
            report, end, transport, suffix, flow, flow == "reverse", caveats
        ).values()
    ]
    return _both(flows, transport) + flows, caveats


def _both_directions(report: dict[str, Any]) -> bool:
    end = report.get("end")
    keys = end if isinstance(end, dict) else {}
    test = _test_start(report)
    return bool(
        number(test, "bidir") == 1 or f"sum_sent{_REVERSE}" in keys or f"sum{_REVERSE}" in keys
    )


def _is_reverse(report: dict[str, Any]) -> bool:
    return number(_test_start(report), "reverse") == 1


def _test_start(report: dict[str, Any]) -> Any:
    start = report.get("start")
    return start.get("test_start") if isinstance(start, dict) else None


def _is_server(report: dict[str, Any]) -> bool:
    start = report.get("start")
    return isinstance(start, dict) and "accepted_connection" in start


def _version(report: dict[str, Any]) -> tuple[int, ...]:
    """The version that wrote a report; above all versions where it does not say."""
    start = report.get("start")
    text = start.get("version") if isinstance(start, dict) else None
    found = re.match(r"iperf (\d{1,4})\.(\d{1,4})", text) if isinstance(text, str) else None
    return tuple(map(int, found.groups())) if found else (9999,)


def _own_end_receives(report: dict[str, Any], *, reverse: bool) -> bool:
    return _is_server(report) != reverse


def _counted(row: dict[str, Any]) -> dict[str, Any]:
    """A second with the time of its counts.

    The warm-up may end at the instant of a second's end and come first. iperf3 (3.12) then clears
    the counts, but takes the time from the beginning of the last second of the warm-up.
    """
    if not 0 < 1.5 * row.get("end", 0) <= row["seconds"]:
        return row
    return {**row, "seconds": row["end"], "bits_per_second": 8 * row["bytes"] / row["end"]}


@frozen
class _Direction:
    """One direction of a test. ``suffix``: that of iperf3's keys; ``flow``: its name here."""

    report: dict[str, Any]
    end: dict[str, Any]
    transport: str
    suffix: str
    flow: str | None
    reverse: bool
    caveats: list[str]

    def values(self) -> list[Value]:
        """The known values of the direction."""
        if self._sum("sum_sent", "sum") is None or self._sum("sum_received", "sum") is None:
            raise DatasetError(f"key 'sum_received{self.suffix}' is missing")
        server = _is_server(self.report)
        if not server:
            return self._sender() + self._receiver()
        found = self._receiver() if self._receives else self._sender()
        where = f" of the {self.flow} direction" if self.flow else ""
        known, unknown = ("received", "sent") if self._receives else ("sent", "received")
        self._say(
            f"written by iperf3's server, which knows only what it {known}{where}: what the client "
            f"{unknown} is unknown and left out"
        )
        return found

    @property
    def _receives(self) -> bool:
        return _own_end_receives(self.report, reverse=self.reverse)

    @property
    def _udp(self) -> bool:
        return self.transport == "udp"

    def _sum(self, *names: str) -> dict[str, Any] | None:
        for name in names:
            found = self.end.get(f"{name}{self.suffix}")
            if isinstance(found, dict):
                return found
        return None

    def _say(self, caveat: str) -> None:
        if caveat not in self.caveats:
            self.caveats.append(caveat)

    def _value(self, metric: str, value: float | None, second: int | None = None) -> list[Value]:
        if value is None:
            if second is None:
                self._say(f"iperf3 printed no number for {metric}: it is unknown and left out")
            return []
        return [Value(metric, value, second, self.flow, self.transport)]

    def _sender(self) -> list[Value]:
        """Offered rate and retransmissions; packets sent where only the sender's half is known."""
        sent = self._sum("sum_sent", "sum")
        found: list[Value] = []
        if self._udp:
            found += self._value("offered_bps", number(sent, "bits_per_second"))
            if _is_server(self.report):
                found += self._value("packets_sent", number(sent, "packets"))
            return found
        if _is_server(self.report):
            # The octets sent stand for a throughput that the server does not know.
            found += self._value("offered_bps", number(sent, "bits_per_second"))
        if sent is not None and "retransmits" in sent:
            retransmits = number(sent, "retransmits")
            if retransmits is not None and range_problem("tcp_retransmissions", retransmits):
                retransmits = None
            found += self._value("tcp_retransmissions", retransmits)
        return found

    def _receiver(self) -> list[Value]:
        throughput = self._throughput()
        found = self._value("throughput_bps", throughput)
        if self._udp:
            found += self._loss() + self._jitter()
        return found + self._series(throughput)

    def _throughput(self) -> float | None:
        received = self._sum("sum_received")
        if received is not None:
            return number(received, "bits_per_second")
        counted = _rate(self._intervals_of_receiver())
        if counted is not None:
            return counted
        if self._counts_warm_up():
            self._say_warm_up("throughput and loss are")
            return None
        # Before 3.11 the client's UDP sum counts octets sent.
        self._say(
            "before 3.11 iperf3 does not print the octets received: throughput is the rate sent "
            "less the loss"
        )
        total = self._sum("sum")
        sent, lost = number(total, "bits_per_second"), number(total, "lost_percent")
        if lost is None:
            packets, missing = number(total, "packets"), number(total, "lost_packets")
            lost = 100 * missing / packets if packets and missing is not None else None
        if sent is None or lost is None:
            return None
        return sent * (1 - lost / 100)

    def _loss(self) -> list[Value]:
        """Datagrams up to the highest number that the receiver saw, and those missing of them.

        Datagrams behind the last one that arrived are lost, or wait in a queue: iperf3 does not
        know them. Where they are more than 1 % of the test, the loss is unknown.
        """
        received, sent = self._sum("sum_received", "sum"), self._sum("sum_sent")
        if self._counts_warm_up():
            self._say_warm_up("the loss is")
            return []
        packets, lost = number(received, "packets"), number(received, "lost_packets")
        of_sender = None if _is_server(self.report) else number(sent, "packets")
        if of_sender is not None and range_problem("packets_sent", of_sender):
            of_sender = None
        if packets == 0 and of_sender:
            # Nothing arrived at all: iperf3 counts no loss.
            return [
                *self._value("packets_sent", of_sender),
                *self._value("packets_lost", of_sender),
                *self._value("loss_ratio", 1.0),
            ]
        if packets is None or lost is None:
            return self._value("loss_ratio", None)
        if packets == 0:
            self._say("no datagram was counted: the loss is unknown and left out")
            return []
        if not 0 <= lost <= packets or range_problem("packets_sent", packets):
            self._say(
                f"iperf3 counted {lost:g} lost of {packets:g} datagrams, which cannot be: the loss "
                "is unknown and left out"
            )
            return []
        if of_sender is not None and of_sender - packets > max(1.0, _AGREE * of_sender):
            self._say(
                f"the last {of_sender - packets:g} of {of_sender:g} datagrams sent were not "
                "received before the test ended, lost or still queued: the loss is unknown and "
                "left out"
            )
            return self._value("packets_sent", of_sender)
        return [
            *self._value("packets_sent", packets),
            *self._value("packets_lost", lost),
            *self._value("loss_ratio", lost / packets),
        ]

    def _jitter(self) -> list[Value]:
        received = self._sum("sum_received", "sum")
        if number(received, "packets") == 0:
            return []
        jitters = []
        for second in self._seconds_of_receiver():
            jitter, packets = number(second, "jitter_ms"), number(second, "packets")
            if jitter is not None and packets:
                jitters.append(jitter)
        jitter = sum(jitters) / len(jitters) if jitters else number(received, "jitter_ms")
        return self._value("jitter_s", None if jitter is None else jitter / 1e3)

    def _counts_warm_up(self) -> bool:
        """Whether the datagrams lost in the warm-up are among those of the test.

        A server tells a client of them since 3.14; before, a client that sends cannot subtract
        them.
        """
        test = _test_start(self.report)
        lost = number(self._sum("sum_received", "sum"), "lost_packets")
        sends = not _is_server(self.report) and not self.reverse
        return bool(sends and number(test, "omit") and lost and _version(self.report) < (3, 14))

    def _say_warm_up(self, what: str) -> None:
        self._say(
            "before 3.14 iperf3 counts datagrams lost in the warm-up (-O) as lost in the test: "
            f"{what} unknown and left out"
        )

    def _seconds_of_receiver(self) -> list[dict[str, Any]]:
        """The receiver's intervals but for a cut-off last one."""
        intervals = self._intervals_of_receiver()
        return [row for row in intervals if (number(row, "seconds") or 0) >= 0.5]

    def _intervals_of_receiver(self) -> list[dict[str, Any]]:
        """The sums of the receiver's intervals; none where the other end did not send them."""
        if self._receives:
            return self._intervals()
        other = self.report.get("server_output_json")
        return self._intervals(other) if isinstance(other, dict) else []

    def _intervals(self, side: dict[str, Any] | None = None) -> list[dict[str, Any]]:
        """The sums of the intervals of one side, the own one by default, without the warm-up's."""
        key = f"sum{self.suffix}"
        kept = []
        for interval in objects(self.report if side is None else side, "intervals"):
            row = interval.get(key)
            if row is None:
                continue
            if not isinstance(row, dict):
                raise DatasetError(f"interval's {key} is no object")
            if not row.get("omitted"):
                kept.append(_timed(row))
        return kept

    def _series(self, throughput: float | None) -> list[Value]:
        """Throughput by the second, where the intervals are seconds or parts of one."""
        if not self._receives:
            sent = number(self._sum("sum_sent", "sum"), "bits_per_second")
            if not sent or throughput is None or abs(throughput / sent - 1) > _AGREE:
                return []
        return [
            value
            for second, rate in enumerate(_rates_by_second(self._intervals()))
            for value in self._value("throughput_bps", rate, second)
        ]


def _timed(row: dict[str, Any]) -> dict[str, Any]:
    """An interval with the time of its counts (see :func:`_counted`)."""
    end, seconds, octets = (number(row, key) for key in ("end", "seconds", "bytes"))
    if end is None or seconds is None or octets is None or not 0 < 1.5 * end <= seconds:
        return row
    return {**row, "seconds": end, "bits_per_second": 8 * octets / end}


def _rate(intervals: Sequence[dict[str, Any]]) -> float | None:
    """Bits per second over some intervals; ``None`` where they count nothing or lack a number."""
    octets = [number(row, "bytes") for row in intervals]
    seconds = [number(row, "seconds") for row in intervals]
    if not octets or None in octets or None in seconds:
        return None
    time = sum(one for one in seconds if one is not None)
    return 8 * sum(one for one in octets if one is not None) / time if time > 0 else None


def _rates_by_second(intervals: Sequence[dict[str, Any]]) -> list[float | None]:
    """Bits per second of each whole second; empty where intervals are longer than a second."""
    rates: list[float | None] = []
    part: list[dict[str, Any]] = []
    time = 0.0
    for row in intervals:
        seconds = number(row, "seconds")
        if seconds is None or seconds > _LONGEST_SECOND:
            return []
        part.append(row)
        time += max(seconds, 0.0)
        # Timers are late by milliseconds, and a second may end a little early.
        if time >= _SHORTEST_SECOND:
            if len(part) > 1 and time > 2 - _SHORTEST_SECOND:
                return []  # seconds are no whole number of these intervals
            rates.append(number(row, "bits_per_second") if len(part) == 1 else _rate(part))
            part, time = [], 0.0
    if part and time > 0.5:
        rates.append(number(part[0], "bits_per_second") if len(part) == 1 else _rate(part))
    return rates


def _both(flows: list[Value], transport: str) -> list[Value]:
    """Sums over both directions of what both have; the loss ratio is that of all datagrams."""
    sums: dict[str, list[float]] = {}
    for value in flows:
        if value.second is None and value.metric not in ("jitter_s", "loss_ratio"):
            sums.setdefault(value.metric, []).append(value.value)
    whole = {metric: sum(values) for metric, values in sums.items() if len(values) == 2}
    if whole.get("packets_sent") and "packets_lost" in whole:
        whole["loss_ratio"] = whole["packets_lost"] / whole["packets_sent"]
    return [Value(metric, value, transport=transport) for metric, value in whole.items()]
