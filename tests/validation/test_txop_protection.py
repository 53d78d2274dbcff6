"""Single and multiple protection of a TXOP: the simulator and ns-3 against a Monte-Carlo.

IEEE 802.11-2020, 9.2.5.2, leaves the Duration field of a TXOP's frames to the sender. Under single
protection it ends with the response to the frame, under multiple protection with the TXOP limit as
long as frames are pending. ns-3 uses multiple protection; the simulator has both
(``txop_protection``). Behind the last response the holder sends a CF-End where one fits, which
costs its airtime. Where none fits, the rest of the NAV keeps all stations silent but the holder,
which wins again more often and collides less often.

The Monte-Carlo plays A-MPDUs, BlockAckReqs and back-offs of equal saturated stations slot by slot.
It shares no code with either simulator.
"""

from __future__ import annotations

import json
import random
from dataclasses import dataclass
from math import ceil
from pathlib import Path

import pytest

READINGS = json.loads((Path(__file__).parent / "ns3_readings.json").read_text())["cases"]

SLOT_US, SIFS_US, AIFS_US = 9, 16, 16 + 2 * 9
CW_MIN, CW_MAX = 3, 7
TXOP_US = 2080
TIMEOUT_US = 16 + 9 + 20
#: Clear channel assessment: stations that start closer together collide.
DETECTION_US = 4
CONTROL_US = 20 + 4 * ceil((16 + 8 * 32 + 6) / 96)  # BlockAck, BlockAckReq: 24 Mb/s
CF_END_US = 20 + 4 * ceil((16 + 8 * 20 + 6) / 24)  # 6 Mb/s


def ampdu_us(mpdus: int, payload: int) -> int:
    """Airtime of an A-MPDU at 65 Mb/s: 36 us of preamble, 260 bits a symbol."""
    mpdu = payload + 28 + 8 + 30
    octets = (mpdus - 1) * (-(-(mpdu + 4) // 4) * 4) + mpdu + 4
    return 36 + 4 * ceil((16 + 8 * octets + 6) / 260)


def fitting(room_us: float, payload: int) -> tuple[int, int]:
    """MPDUs of the longest A-MPDU within ``room_us`` with its response, and its airtime."""
    n = 1
    while ampdu_us(n + 1, payload) + SIFS_US + CONTROL_US <= room_us:
        n += 1
    return n, ampdu_us(n, payload)


@dataclass
class Station:
    """A contender: its slots count from ``start_us``."""

    start_us: float
    slots: int
    window: int = CW_MIN
    retries: int = 0
    asks: bool = False

    @property
    def expiry_us(self) -> float:
        return self.start_us + SLOT_US * self.slots


def monte_carlo(stations: int, payload: int, *, multiple: bool, exchanges: int = 60_000) -> float:
    """Throughput of all stations, bit/s."""
    random.seed(1)
    draw = random.randint
    all_stations = [Station(AIFS_US, draw(0, CW_MIN)) for _ in range(stations)]
    request_us = CONTROL_US + SIFS_US + CONTROL_US
    whole, whole_us = fitting(TXOP_US, payload)
    rest, rest_us = fitting(TXOP_US - request_us - SIFS_US, payload)
    delivered, now = 0, 0.0
    for _ in range(exchanges):
        now = min(s.expiry_us for s in all_stations)
        senders = [s for s in all_stations if s.expiry_us < now + DETECTION_US]
        ends = []
        if len(senders) == 1:
            if senders[0].asks:
                busy_us, mpdus = request_us + SIFS_US + rest_us, rest
            else:
                busy_us, mpdus = whole_us, whole
            busy_us += SIFS_US + CONTROL_US
            delivered += mpdus
            silent_us = now + busy_us
            if multiple and TXOP_US - busy_us - SIFS_US > CF_END_US:
                busy_us += SIFS_US + CF_END_US
                silent_us = now + busy_us
            elif multiple:
                silent_us = now + TXOP_US
            ends.append(now + busy_us)
        else:
            ends = [s.expiry_us + (CONTROL_US if s.asks else whole_us) for s in senders]
            silent_us = max(ends)
        for station in all_stations:
            if station in senders:
                continue
            if station.start_us <= now:
                passed = int((now - station.start_us) // SLOT_US) + 1
                station.slots = max(0, station.slots - passed)
            station.start_us = silent_us + AIFS_US
        for station, end_us in zip(senders, ends, strict=True):
            station.asks = len(senders) > 1
            if station.asks:
                station.start_us = max(max(ends), end_us + TIMEOUT_US) + AIFS_US
                station.retries += 1
                station.window = min(CW_MAX, 2 * station.window + 1)
                if station.retries > 7:
                    station.retries, station.window = 0, CW_MIN
            else:
                station.start_us = end_us + AIFS_US
                station.retries, station.window = 0, CW_MIN
            station.slots = draw(0, station.window)
    return delivered * payload * 8 / (now / 1e6)


def simulated(payload: int, protection: str) -> float:
    """The simulator's throughput of the same two stations, bit/s."""
    from airtoll import _native

    stations = ["s1", "s2"]
    scenario = {
        "duration_s": 20.0,
        "bss": [
            {
                "name": "cell",
                "standard": "802.11n",
                "rate": {"control": "fixed_mcs", "mcs": 7},
                "aggregation": {"ampdu_max_octets": 65535},
                "txop_protection": protection,
            }
        ],
        "nodes": [{"name": "ap", "role": "access_point", "bss": "cell"}]
        + [{"name": s, "role": "station", "bss": "cell"} for s in stations],
        "flows": [
            {
                "name": s,
                "source": s,
                "destination": "ap",
                "access_category": "voice",
                "transport": {"protocol": "udp"},
                "pattern": {"type": "saturated", "payload_octets": payload},
            }
            for s in stations
        ],
    }
    columns = _native.Scenario(json.dumps(scenario)).simulate([1])
    rows = zip(columns["metric"], columns["second"], columns["value"], strict=True)
    return sum(
        value for metric, second, value in rows if (metric, second) == ("throughput_bps", None)
    )


@pytest.mark.parametrize("payload", [500, 1472])
@pytest.mark.parametrize("protection", ["single", "multiple"])
def test_the_simulator_has_both_rules(payload: int, protection: str) -> None:
    expected = monte_carlo(2, payload, multiple=protection == "multiple")
    assert simulated(payload, protection) == pytest.approx(expected, rel=0.015)


@pytest.mark.parametrize(
    ("payload", "case"), [(500, "udp-n20-mcs7-500-vo-x2"), (1472, "udp-n20-mcs7-vo-x2")]
)
def test_ns3_protects_the_txop(payload: int, case: str) -> None:
    recorded = READINGS[case]["throughput_bps"]
    # Beacons take 0.3 % of the air.
    theirs = 0.997 * monte_carlo(2, payload, multiple=True)
    assert theirs == pytest.approx(recorded, rel=0.015)
