"""Compares airtoll's simulator with ns-3 on the cases of ``scenarios.py``.

``python benchmarks/ns3_agreement.py record [NAME...]`` runs ns-3 and writes its figures to
``tests/validation/ns3_readings.json``; ``... compare [NAME...]`` runs airtoll against the
recorded figures and prints the table. Recording needs the PyPI wheel ``ns3==3.44.post0`` and
about an hour and a half of one core; comparing takes a minute.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import dataclass, replace
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))

import ns3_testbed
from scenarios import Case, cases

READINGS = Path(__file__).parents[1] / "tests" / "validation" / "ns3_readings.json"


@dataclass(frozen=True)
class Known:
    """A difference that is understood: its largest size and its cause."""

    at_most: float
    why: str


KNOWN_DIFFERENCES = {
    "tcp-bbr-a54-wan-up-x1": Known(0.03, "rounds of four segments come at other times"),
    "tcp-bbr-n20-mcs7-lan-up-x1": Known(
        0.34, "ns-3's BBR leaves acknowledgements that come together no room beyond 4,096 octets"
    ),
    "udp-ac20-mcs8-single-x1": Known(0.016, "ns-3 gives VHT-SIG-B of a single-user PPDU no time"),
    "udp-n20-mcs7-500-vo-x1": Known(0.012, "the AP waits for the TXOP limit; beacons collide"),
    "udp-n20-mcs7-single-75dbm-x1": Known(0.25, "the error tables are 0.1 dB apart"),
    "udp-n20-mcs7-single-74dbm-x1": Known(0.025, "the error tables are 0.1 dB apart"),
    "udp-n20-mcs5-single-77dbm-x1": Known(0.13, "the error tables are 0.2 dB apart"),
    "udp-ax80-mcs9-uplink-x4": Known(
        0.012, "ns-3's Multi-STA BlockAck has no bitmap, and it asks for 320 octets less"
    ),
    "udp-ac80-mcs5-x1-beside-secondary-40": Known(
        0.018, "ns-3 misses a frame of -60 dBm that begins there while it receives another"
    ),
}

#: Simulated seconds of airtoll where 60 leave an error near the tolerance.
OWN_SECONDS = {"udp-b11-1-anomaly-x2": 600.0, "udp-ac80-mcs9-x10": 600.0}


#: Cases that wait for a recording: ``record`` without names makes it.
UNRECORDED = {
    # 20 s of associations in each run, and most runs have stations that never send.
    "udp-b11-x100",
}


def record(names: list[str], seconds: float | None = None) -> None:
    """Runs ns-3 on the named cases, in the order of the names.

    Without names: on the cases whose reading is missing or shorter than the case asks for.
    ``seconds``: simulated time of each run, if less than the case asks for.
    """
    why = ns3_testbed.importable()
    if why:
        sys.exit(why)
    document: dict[str, Any] = {"source": f"ns-3 {ns3_testbed.VERSION}, PyPI wheel", "cases": {}}
    if READINGS.exists():
        document = json.loads(READINGS.read_text())
    bench = ns3_testbed.load()
    table = {case.name: case for case in cases()}
    for case in [table[name] for name in names or table]:
        if seconds is not None:
            case = replace(case, duration_s=min(seconds, case.duration_s))
        if (
            not names
            and recorded_s(document["cases"].get(case.name)) >= case.seeds * case.duration_s
        ):
            continue
        readings = served(bench, case)
        totals = [sum(r.octets) * 8 / case.duration_s for r in readings]
        entry: dict[str, Any] = {
            "runs": case.seeds,
            "duration_s": case.duration_s,
            "throughput_bps": fmean(totals),
            "throughput_standard_error_bps": stdev(totals) / math.sqrt(len(totals)),
            "jain": fmean(jain([float(o) for o in r.octets]) for r in readings),
            "beacon_octets": readings[0].beacon_octets,
            "cpu_s_per_simulated_s": sum(r.cpu_s for r in readings)
            / (len(readings) * (case.duration_s + case.warm_up_s)),
        }
        if case.category == "ALL":
            flows = zip(*(r.octets for r in readings), strict=True)
            entry["flows_bps"] = [fmean(octets) * 8 / case.duration_s for octets in flows]
        delays = [r.delay_s for r in readings if r.delay_s is not None]
        if case.kind == "delay":
            entry["delay_s"] = fmean(delays)
            entry["delay_standard_error_s"] = stdev(delays) / math.sqrt(len(delays))
        document["cases"][case.name] = entry
        READINGS.write_text(json.dumps(document, indent=1) + "\n")
        print(case.name, json.dumps(entry), flush=True)


def served(bench: Any, case: Case) -> list[ns3_testbed.Reading]:
    """The first runs of ns-3 in which every flow has octets, as many as the case has seeds.

    In the others some stations associate and then never send, and the rest take their share.
    Where the flows have different access categories the background ones may starve: all runs
    count.
    """
    readings: list[ns3_testbed.Reading] = []
    for number in range(1, 5 * case.seeds + 1):
        reading = ns3_testbed.run(bench, case, number)
        silent = sum(octets == 0 for octets in [*reading.octets, *reading.others])
        if silent and case.category != "ALL":
            print(
                f"{case.name}: run {number} left out, {silent} flows without an octet", flush=True
            )
            continue
        total = sum(reading.octets) * 8e-6 / case.duration_s
        print(f"{case.name}: run {number} {total:.3f} Mb/s", flush=True)
        readings.append(reading)
        if len(readings) == case.seeds:
            return readings
    sys.exit(f"{case.name}: only {len(readings)} runs serve every flow; nothing recorded")


def recorded_s(entry: dict[str, Any] | None) -> float:
    """Simulated seconds of a reading, all runs together; 0 without a reading."""
    return entry["runs"] * entry["duration_s"] if entry else 0.0


def tolerance(case: Case, entry: dict[str, Any]) -> float:
    """Allowed relative difference."""
    if case.kind == "delay":
        return max(0.02, 2 * entry["delay_standard_error_s"] / entry["delay_s"])
    spread = 2 * entry["throughput_standard_error_bps"] / entry["throughput_bps"]
    # The recorded mean is itself uncertain; short ns-3 runs must not fail a right simulator.
    least = 0.025 if case.stations > 20 else 0.01
    return max(0.03 if case.second else least, spread)


def ours(
    case: Case, duration_s: float = 60.0, seed: int = 1, protection: str | None = None
) -> dict[str, Any]:
    """Throughput (bit/s, all flows and each), mean delay (s) and Jain's index from airtoll.

    ``protection``: that of TXOPs in place of the case's own.
    """
    from airtoll import _native

    if case.payload_step:
        parts = [
            ours(case.of_run(run), duration_s / case.seeds, seed, protection)
            for run in range(1, case.seeds + 1)
        ]
        return {"throughput_bps": fmean(part["throughput_bps"] for part in parts)}
    # Delays are means over packets of all flows; the flows of a case offer the same load.
    warm_up_s = 2.0 if case.kind == "tcp" else case.warm_up_s
    scenario = case.airtoll(duration_s, warm_up_s, constant_rate=True)
    if protection is not None:
        for bss in scenario["bss"]:
            bss["txop_protection"] = protection
    document = json.dumps(scenario)
    columns = _native.Scenario(document).simulate([seed])
    values: dict[str, list[float]] = {"throughput_bps": [], "delay_s": []}
    for metric, flow, second, value in zip(
        columns["metric"], columns["flow"], columns["second"], columns["value"], strict=True
    ):
        if metric in values and flow and second is None:
            values[metric].append(value)
    throughput = values["throughput_bps"]
    result: dict[str, Any] = {
        "throughput_bps": sum(throughput),
        "flows_bps": throughput,
        "jain": jain(throughput),
    }
    if values["delay_s"]:
        result["delay_s"] = fmean(values["delay_s"])
    return result


def jain(shares: list[float]) -> float:
    """Jain's fairness index."""
    squares = sum(s * s for s in shares)
    return sum(shares) ** 2 / (len(shares) * squares) if squares else 0.0


def by_category(flows: list[float]) -> str:
    """Mb/s of each access category, of cases whose flows have all four in turn."""
    sums = [sum(flows[at::4]) * 1e-6 for at in range(4)]
    return ", ".join(f"{n} {s:.1f}" for n, s in zip(("VO", "VI", "BE", "BK"), sums, strict=True))


def compare(names: list[str], protection: str | None = None) -> int:
    """Prints the table; returns how many cases are outside their tolerance."""
    document = json.loads(READINGS.read_text())["cases"]
    outside = 0
    print(
        f"{'case':26} {'runs, s':>7} {'ns-3':>10} {'s.e.':>8} "
        f"{'airtoll':>10} {'diff':>8} {'allowed':>8}"
    )
    for case in cases():
        if (names and case.name not in names) or case.name not in document:
            continue
        entry = document[case.name]
        metric = "delay_s" if case.kind == "delay" else "throughput_bps"
        scale = 1e6 if metric == "delay_s" else 1e-6
        error = entry.get(
            "delay_standard_error_s" if metric == "delay_s" else "throughput_standard_error_bps"
        )
        try:
            own = ours(case, OWN_SECONDS.get(case.name, 60.0), protection=protection)
            value = own[metric]
        except Exception as problem:  # a case that cannot run is a row, not the end of the table
            print(f"{case.name:26} {problem}")
            outside += 1
            continue
        difference = value / entry[metric] - 1
        known = KNOWN_DIFFERENCES.get(case.name)
        bad = abs(difference) > (known.at_most if known else tolerance(case, entry))
        outside += bad
        print(
            f"{case.name:26} {entry['runs']:>2} x {entry['duration_s']:<2g}"
            f" {entry[metric] * scale:10.3f} {error * scale:8.3f} "
            f"{value * scale:10.3f} {difference:+8.2%} {tolerance(case, entry):8.2%}"
            + ("  OUTSIDE" if bad else "")
            + (f"  known: {known.why}" if known else "")
            + (
                f"  {by_category(entry['flows_bps'])}; airtoll {by_category(own['flows_bps'])}"
                if case.category == "ALL"
                else ""
            ),
            flush=True,
        )
    print(
        f"{outside} outside their tolerance "
        "(runs of ns-3 x simulated seconds; throughput in Mb/s, delay in us)"
    )
    return outside


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("command", choices=("record", "compare"), nargs="?", default="compare")
    parser.add_argument("--seconds", type=float, help="record: shorter runs, simulated seconds")
    parser.add_argument(
        "--protection", choices=("single", "multiple"), help="compare: of TXOPs, in every case"
    )
    parser.add_argument("names", nargs="*", help="cases; none: all")
    args = parser.parse_intermixed_args()
    if args.command == "record":
        record(args.names, args.seconds)
    else:
        sys.exit(1 if compare(args.names, args.protection) else 0)
