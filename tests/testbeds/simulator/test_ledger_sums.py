"""The ledger of stations, access points and seconds adds up to that of the cell."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from airtoll import _native

#: Kinds of frames that belong to one station. Beacons belong to an AP alone. An Ack, a CTS or a
#: block ack names its receiver only and belongs to no station.
OF_STATIONS = ("payload", "headers", "security", "key_exchange", "retries")
AIRTIME_S = 0.3

saturated = st.sampled_from([200, 1460]).map(
    lambda octets: {"type": "saturated", "payload_octets": octets}
)
paced = st.tuples(st.sampled_from([64, 700, 1472]), st.floats(1e5, 2e7)).map(
    lambda drawn: {"type": "paced", "payload_octets": drawn[0], "rate_bps": drawn[1]}
)


@st.composite
def cells(draw: st.DrawFn) -> dict[str, Any]:
    """Two or three stations, hidden from one another or not, UDP and TCP in both directions."""
    names = [f"s{i}" for i in range(draw(st.integers(2, 3)))]
    standard = draw(st.sampled_from(["802.11a", "802.11n", "802.11ac"]))
    rate: dict[str, Any] = {"control": "fixed_mcs", "mcs": draw(st.integers(0, 7))}
    if standard == "802.11a":
        rate = {"control": "fixed", "mbps": draw(st.sampled_from([6, 24, 54]))}
    bss: dict[str, Any] = {"name": "cell", "standard": standard, "rate": rate, "beacons": {}}
    if draw(st.booleans()):
        bss["rts_threshold_octets"] = draw(st.sampled_from([0, 1000]))
    pairs = [[a, b] for i, a in enumerate(names) for b in names[:i]]
    flows = []
    for name in names:
        for down in draw(st.sampled_from([(False,), (True,), (False, True)])):
            # The second flow of the first station is TCP: every cell is mixed.
            tcp = len(flows) == 1 or draw(st.booleans())
            ends = ("server", name) if down else (name, "server")
            flows.append(
                {
                    "name": f"f{len(flows)}",
                    "station": name,
                    "source": ends[0],
                    "destination": ends[1],
                    "transport": {"protocol": "tcp" if tcp else "udp"},
                    "pattern": draw(saturated) if tcp else draw(paced),
                }
            )
    cipher = draw(st.sampled_from(["open", "ccmp-128", "gcmp-256"]))
    stations = [{"name": n, "role": "station", "bss": "cell", "cipher": cipher} for n in names]
    return {
        "duration_s": AIRTIME_S,
        "bss": [bss],
        "radio": {
            "path_loss": {"model": "constant", "loss_db": draw(st.sampled_from([60.0, 90.0]))},
            "hidden": draw(st.lists(st.sampled_from(pairs), unique_by=tuple)),
        },
        "nodes": [
            {"name": "ap", "role": "access_point", "bss": "cell"},
            {"name": "server", "role": "wired"},
            *stations,
        ],
        "links": [{"nodes": ["ap", "server"], "rate_bps": 1e9}],
        "flows": flows,
    }


@settings(max_examples=25, deadline=None, derandomize=True)
@given(cell=cells(), seed=st.integers(1, 1000))
def test_stations_and_seconds_add_up_to_the_cell(cell: dict[str, Any], seed: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        columns = _native.Scenario(json.dumps(cell)).simulate([seed], None, [folder])
        air = str(Path(folder, "air.pcapng"))
        ledger = json.loads(_native.capture_report([air], [], [], "{}"))["ledger"]
    total = ledger["total"]
    by_station = {owned["address"]: owned for owned in ledger["stations"]}
    assert len(by_station) <= len(cell["nodes"]) - 2
    (access_point,) = ledger["access_points"]

    def add(parts: list[dict[str, Any]], quantity: str, kind: str) -> float:
        return sum(part[quantity][kind] for part in parts)

    for quantity, tolerance in (("octets", 0), ("airtime_s", 1e-9)):
        for kind, whole in total[quantity].items():
            # Equal to the octet; seconds are rounded when they are printed.
            assert add(ledger["seconds"], quantity, kind) == pytest.approx(whole, abs=tolerance)
            if kind != "control":
                assert access_point[quantity][kind] == pytest.approx(whole, abs=tolerance)
            if kind in OF_STATIONS:
                of_stations = add(ledger["stations"], quantity, kind)
                assert of_stations == pytest.approx(whole, abs=tolerance)
    assert sum(step["frames"] for step in ledger["seconds"]) == total["frames"]

    values = {
        metric: value
        for metric, flow, station, second, value in zip(
            *(columns[name] for name in ("metric", "flow", "station", "second", "value")),
            strict=True,
        )
        if (flow, station, second) == (None, None, None)
    }
    # The simulator's ledger of the cell covers the whole time of the trial.
    airtime = [value for metric, value in values.items() if metric.startswith("airtime_")]
    shares = sum(value for metric, value in values.items() if metric.endswith("_share"))
    assert sum(airtime) - shares == pytest.approx(AIRTIME_S, abs=1e-9)
    # The capture holds the frames that their receivers decoded, and the last one not if it is cut
    # off: never more than the simulator counts.
    parts = ("payload", "ip_transport", "mac", "security", "retry")
    sent = sum(values[f"octets_{part}"] for part in parts)
    assert 0 < sum(total["octets"][kind] for kind in OF_STATIONS) <= sent
