"""iperf3 results (``iperf3 --json``, client or server side, versions 3.1 and later).

The parsed JSON gives throughput (at the receiver, per interval and in all), offered rate, UDP loss
and jitter, TCP retransmissions. The offered rate of UDP is that of ``sum_sent``: octets that the
sender really sent. The target of ``-b`` is only asked for; iperf3 sends whole datagrams per timer
tick and may exceed it. Jitter is iperf3's own, by RFC 1889 as in RFC 3550 section 6.4.1. Omitted
intervals (``-O``) are left out.

``--bidir`` measures both directions at once: each is a flow (``forward`` from the client,
``reverse`` to it), and the values of the whole are their sums.

Per interval iperf3 knows the octets of its own end: with ``--json`` at the sender these are octets
sent, not delivered. They are kept only where the two agree to 1 % over the whole test.
"""

from __future__ import annotations

from typing import Any

from airtoll.errors import DatasetError
from airtoll.observe.imports.value import Value

_AGREE = 0.01
_REVERSE = "_bidir_reverse"


def values(data: Any, source: str) -> list[Value]:
    """Values of one iperf3 test. Raises DatasetError if the test itself failed."""
    if "error" in data:
        raise DatasetError(f"{source}: iperf3 ended with an error: {data['error']}")
    transport = str(data["start"]["test_start"]["protocol"]).lower()
    if f"sum_received{_REVERSE}" not in data["end"]:
        return _direction(data, transport, "", None)
    flows = [
        value
        for suffix, flow in (("", "forward"), (_REVERSE, "reverse"))
        for value in _direction(data, transport, suffix, flow)
    ]
    return _both(flows, transport) + flows


def receiver_seconds(report: dict[str, Any]) -> list[dict[str, Any]]:
    """Sums of the receiver's seconds, without those of the warm-up (``-O``) and a cut-off last one.

    Empty where the report holds none: both directions at once, or a server's output that the
    client did not ask for.
    """
    test = report["start"]["test_start"]
    if test.get("bidir") == 1 or f"sum_sent{_REVERSE}" in report.get("end", {}):
        return []
    reverse = test.get("reverse") == 1
    return whole_seconds(report if reverse else report.get("server_output_json", {}))


def whole_seconds(side: dict[str, Any]) -> list[dict[str, Any]]:
    """Sums of the seconds in the output of one side, as :func:`receiver_seconds` gives them."""
    sums = [i["sum"] for i in side.get("intervals", ()) if not i["sum"].get("omitted")]
    return [_counted(row) for row in sums if row["seconds"] >= 0.5]


def _counted(row: dict[str, Any]) -> dict[str, Any]:
    """A second with the time of its counts.

    The warm-up may end at the instant of a second's end and come first. iperf3 (3.12) then clears
    the counts, but takes the time from the beginning of the last second of the warm-up.
    """
    if not 0 < 1.5 * row.get("end", 0) <= row["seconds"]:
        return row
    return {**row, "seconds": row["end"], "bits_per_second": 8 * row["bytes"] / row["end"]}


def jitter_s(seconds: list[dict[str, Any]], received: dict[str, Any]) -> float:
    """Mean of the jitter at the end of the receiver's seconds, as ``jitter_s`` is defined, s.

    The value at the end, ``received["jitter_ms"]``, where there is no second with packets.
    """
    known = [float(r["jitter_ms"]) for r in seconds if "jitter_ms" in r and r["packets"] > 0]
    known = known or [float(received["jitter_ms"])]
    return sum(known) / len(known) / 1e3


def _direction(data: Any, transport: str, suffix: str, flow: str | None) -> list[Value]:
    """Values of one direction; ``suffix``: that of iperf3's keys, ``flow``: its name here."""
    end = data["end"]
    udp = transport == "udp"
    sent = end.get(f"sum_sent{suffix}", end.get(f"sum{suffix}"))
    received = end.get(f"sum_received{suffix}", end.get(f"sum{suffix}"))
    throughput = float(received["bits_per_second"])
    if udp and f"sum_received{suffix}" not in end:
        # Before 3.10 the client's UDP sum counts datagrams sent: subtract the loss.
        throughput *= 1 - float(end["sum"]["lost_percent"]) / 100

    def value(metric: str, number: float) -> Value:
        return Value(metric, number, flow=flow, transport=transport)

    found = [value("throughput_bps", throughput)]
    if udp:
        found.append(value("offered_bps", float(sent["bits_per_second"])))
        packets = float(received.get("packets") or sent["packets"])
        lost = float(received["lost_packets"])
        if packets > 0:
            found.append(value("packets_sent", packets))
            found.append(value("packets_lost", lost))
            found.append(value("loss_ratio", lost / packets))
        found.append(value("jitter_s", jitter_s(receiver_seconds(data), received)))
    elif "retransmits" in sent:
        found.append(value("tcp_retransmissions", float(sent["retransmits"])))
    whole = float(sent["bits_per_second"])
    if whole > 0 and abs(throughput / whole - 1) <= _AGREE:
        key = f"sum{suffix}"
        kept = [i[key] for i in data.get("intervals", []) if not i[key].get("omitted")]
        found += [
            Value("throughput_bps", float(part["bits_per_second"]), second=index, flow=flow)
            for index, part in enumerate(kept)
            if float(part["seconds"]) > 0.5
        ]
    return found


def _both(flows: list[Value], transport: str) -> list[Value]:
    """Sums of both directions; the loss ratio is that of all datagrams."""
    sums: dict[str, float] = {}
    for value in flows:
        if value.second is None and value.metric not in ("jitter_s", "loss_ratio"):
            sums[value.metric] = sums.get(value.metric, 0.0) + value.value
    if sums.get("packets_sent"):
        sums["loss_ratio"] = sums["packets_lost"] / sums["packets_sent"]
    return [Value(metric, number, transport=transport) for metric, number in sums.items()]
