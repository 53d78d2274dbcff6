"""iperf3 results (``iperf3 --json``, client or server side, versions 3.1 and later).

Takes the parsed JSON; gives throughput (what the receiver got, per interval and in all), offered
rate, UDP loss and jitter, TCP retransmissions. Jitter is iperf3's own, by RFC 1889 as in RFC
3550 section 6.4.1. Omitted intervals (``-O``) are left out. Never reads a file.

Per interval iperf3 knows what its own end saw: with ``--json`` at the sender these are octets
sent, not delivered. They are kept only where the two agree to 1 % over the whole test.
"""

from __future__ import annotations

from typing import Any

from airtoll.errors import DatasetError
from airtoll.observe.imports.value import Value

_AGREE = 0.01


def values(data: Any, source: str) -> list[Value]:
    """Values of one iperf3 test. Raises DatasetError if the test itself failed."""
    if "error" in data:
        raise DatasetError(f"{source}: iperf3 ended with an error: {data['error']}")
    end = data["end"]
    test = data["start"]["test_start"]
    transport = str(test["protocol"]).lower()
    udp = transport == "udp"
    sent = end.get("sum_sent", end.get("sum"))
    received = end.get("sum_received", end.get("sum"))
    throughput = float(received["bits_per_second"])
    if udp and "sum_received" not in end:
        # Before 3.10 the client's UDP sum counts what was sent: take the loss off.
        throughput *= 1 - float(end["sum"]["lost_percent"]) / 100
    found = [Value("throughput_bps", throughput, transport=transport)]
    target = float(test.get("target_bitrate") or 0) * int(test.get("num_streams", 1))
    if udp and target > 0:
        found.append(Value("offered_bps", target, transport=transport))
    if udp:
        total = end.get("sum_received") or end["sum"]
        packets = float(total.get("packets") or end["sum"]["packets"])
        lost = float(total["lost_packets"])
        if packets > 0:
            found.append(Value("loss_ratio", lost / packets))
            found.append(Value("packets_lost", lost))
        found.append(Value("jitter_s", float(total["jitter_ms"]) / 1e3))
    elif "retransmits" in sent:
        found.append(Value("tcp_retransmissions", float(sent["retransmits"])))
    whole = float(sent["bits_per_second"])
    if whole > 0 and abs(throughput / whole - 1) <= _AGREE:
        kept = [i["sum"] for i in data.get("intervals", []) if not i["sum"].get("omitted")]
        found += [
            Value("throughput_bps", float(part["bits_per_second"]), second=index)
            for index, part in enumerate(kept)
            if float(part["seconds"]) > 0.5
        ]
    return found
