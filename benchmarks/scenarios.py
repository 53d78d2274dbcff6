"""The scenarios on which airtoll and ns-3 are compared: one table, two renderings.

Takes nothing; gives the list of cases, each as airtoll scenario JSON and as the parameters of
``ns3/scenario.cc``. Never runs either simulator.

Common to all: one access point, stations at equal received power, beacons every 102.4 ms,
static ARP, queues of 500 packets and 500 ms, seven attempts. TCP is that of the simulator's system
``ns-3``: CUBIC without timestamps, windows of 131,072 octets, an acknowledgement for every second
segment, delayed at most 200 ms, and a smallest retransmission time-out of 1 s. Its MSS is 1460.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

#: Octets of the beacon that ns-3.44 sends, by standard and width (read off its transmissions).
NS3_BEACON_OCTETS = {"b": 58, "a": 59, "g": 71, "n": 144, "ac": 165, "ax": 198}

OFDM = "OfdmRate{}Mbps"


@dataclass(frozen=True)
class Case:
    """One scenario; rates in Mb/s, payload in octets."""

    name: str
    kind: str  # udp | tcp | delay
    standard: str  # b a g n ac ax
    stations: int = 1
    rate: float | None = None  # b, a, g
    mcs: int | None = None  # n, ac, ax
    width: int = 20
    guard_ns: int = 800
    streams: int = 1
    short_preamble: bool = False
    ampdu_max: int = 65535
    payload: int = 1472
    direction: str = "up"
    offered: float | None = None  # Mb/s per flow, for delay
    rts: bool = False
    seeds: int = 4
    duration_s: float = 4.0

    @property
    def flows(self) -> list[tuple[str, str]]:
        """Source and destination of each flow."""
        stations = [f"s{i}" for i in range(1, self.stations + 1)]
        if self.direction == "relay":
            return list(zip(stations[0::2], stations[1::2], strict=False))
        if self.direction == "down":
            return [("ap", s) for s in stations]
        return [(s, "ap") for s in stations]

    @property
    def nominal_mbps(self) -> float:
        """PHY rate."""
        if self.rate is not None:
            return self.rate
        assert self.mcs is not None
        bits = [0.5, 1, 1.5, 2, 3, 4, 4.5, 5, 6, 20 / 3, 7.5, 25 / 3][
            self.mcs % 8 if self.standard == "n" else self.mcs
        ]
        if self.standard == "ax":
            tones = {20: 234, 40: 468, 80: 980, 160: 1960}[self.width]
            return tones * bits * self.streams / (12.8 + self.guard_ns / 1000)
        tones = {20: 52, 40: 108, 80: 234, 160: 468}[self.width]
        return tones * bits * self.streams / (3.2 + self.guard_ns / 1000)

    @property
    def interval_s(self) -> float:
        """Seconds between the datagrams of one flow."""
        if self.offered is not None:
            return self.payload * 8 / (self.offered * 1e6)
        # A third above what the PHY could carry, so that queues never run dry.
        airtime_s = self.payload * 8 / (self.nominal_mbps * 1e6)
        if self.standard in "bag":
            airtime_s += 100e-6
        return airtime_s * len(self.flows) / 1.33

    def ns3(self, run: int) -> dict[str, Any]:
        """Attributes of ``Parameters`` in ``ns3/scenario.cc``."""
        if self.standard == "b":
            mode = "DsssRate{}Mbps".format({1: "1", 2: "2", 5.5: "5_5", 11: "11"}[self.rate])
            control = "DsssRate1Mbps"
        elif self.standard in "ag":
            prefix = "ErpOfdm" if self.standard == "g" else "Ofdm"
            mode = f"{prefix}Rate{self.rate:g}Mbps"
            control = f"{prefix}Rate24Mbps" if self.rate >= 24 else f"{prefix}Rate6Mbps"
        else:
            mode = {"n": "Ht", "ac": "Vht", "ax": "He"}[self.standard] + f"Mcs{self.mcs}"
            control = "OfdmRate24Mbps"
        return {
            "standard": self.standard,
            "dataMode": mode,
            "controlMode": control,
            "width": self.width,
            "guardIntervalNs": self.guard_ns,
            "streams": self.streams,
            "ampduMax": self.ampdu_max,
            "shortPreamble": self.short_preamble,
            "rtsThreshold": 0 if self.rts else 4692480,
            "stations": self.stations,
            "direction": self.direction,
            "transport": "tcp" if self.kind == "tcp" else "udp",
            "payload": self.payload,
            "interval": self.interval_s,
            "warmUp": 1.0 if self.kind != "tcp" else 2.0,
            "duration": self.duration_s,
            "run": run,
        }

    def airtoll(
        self, duration_s: float, warm_up_s: float = 1.0, *, constant_rate: bool = False
    ) -> dict[str, Any]:
        """A resolved scenario of the simulator.

        ``constant_rate`` offers saturated datagrams as ns-3 does, one every ``interval_s``, instead
        of keeping queues full: under a block ack agreement it counts how many of them waited
        longer than the MSDU lifetime.
        """
        rate: dict[str, Any]
        if self.rate is not None:
            rate = {"control": "fixed", "mbps": self.rate}
        else:
            rate = {"control": "fixed_mcs", "mcs": self.mcs, "streams": self.streams}
        transport: dict[str, Any] = {"protocol": "udp"}
        if self.kind == "tcp":
            transport = {"protocol": "tcp"}
        pattern: dict[str, Any] = {"type": "saturated", "payload_octets": self.payload}
        if self.kind == "tcp":
            pattern["payload_octets"] = 1460
        paced = self.offered is not None or (constant_rate and self.kind == "udp")
        if paced:
            pattern = {
                "type": "paced",
                "payload_octets": self.payload,
                "rate_bps": self.payload * 8 / self.interval_s,
            }
        bss: dict[str, Any] = {
            "name": "cell",
            "standard": f"802.11{self.standard}",
            "rate": rate,
            "width_mhz": self.width,
            "guard_interval_ns": self.guard_ns,
            "preamble": "short" if self.short_preamble else "long",
            "beacons": {
                "octets": NS3_BEACON_OCTETS[self.standard],
                # ns-3 sends beacons of an 802.11g BSS at 1 Mb/s.
                "rate_mbps": 1 if self.standard in "bg" else 6,
            },
            "aggregation": {"ampdu_max_octets": self.ampdu_max},
        }
        if self.rts:
            bss["rts_threshold_octets"] = 0
        host = {"tcp": "ns-3"} if self.kind == "tcp" else {}
        names = {"ap": "access_point"}
        names |= {f"s{i}": "station" for i in range(1, self.stations + 1)}
        nodes = [
            {"name": name, "role": role, "bss": "cell", "host": host}
            for name, role in names.items()
        ]
        flows = []
        for i, (source, destination) in enumerate(self.flows):
            flow = {
                "name": f"f{i}",
                "source": source,
                "destination": destination,
                "transport": transport,
                "pattern": pattern,
            }
            if paced:
                # Spread over one interval, by the golden ratio so that none coincide.
                flow["start_s"] = (i * 0.618033988749895 % 1.0) * self.interval_s
            flows.append(flow)
        return {
            "duration_s": duration_s + warm_up_s,
            "warm_up_s": warm_up_s,
            "radio": {"path_loss": {"model": "constant", "loss_db": 56.0}},
            "bss": [bss],
            "nodes": nodes,
            "flows": flows,
        }


def cases() -> list[Case]:
    """Every case, in the order of the table."""
    table: list[Case] = []

    def udp(name: str, standard: str, **more: Any) -> None:
        table.append(Case(name=f"udp-{name}", kind="udp", standard=standard, **more))

    def tcp(name: str, standard: str, **more: Any) -> None:
        more = {"seeds": 5, "duration_s": 5.0} | more
        table.append(Case(name=f"tcp-{name}", kind="tcp", standard=standard, payload=1460, **more))

    def delay(name: str, standard: str, **more: Any) -> None:
        table.append(Case(name=f"delay-{name}", kind="delay", standard=standard, **more))

    for n in (1, 2, 5, 10, 20, 50):
        short = {"seeds": 3, "duration_s": 3.0} if n == 50 else {}
        udp(f"a54-x{n}", "a", stations=n, rate=54, **short)
    for n in (1, 2, 5, 10, 20, 50):
        udp(f"b11-x{n}", "b", stations=n, rate=11)
    for rate in (1, 2, 5.5):
        udp(f"b{rate:g}-x1", "b", rate=rate)
    for n in (1, 5, 10, 20):
        udp(f"g54-x{n}", "g", stations=n, rate=54)
    for rate in (6, 12, 24, 36):
        udp(f"a{rate}-x1", "a", rate=rate)
    for payload in (64, 256, 512, 1024):
        udp(f"a54-{payload}-x1", "a", rate=54, payload=payload)
    udp("a54-512-x10", "a", stations=10, rate=54, payload=512)
    udp("b11-512-x1", "b", rate=11, payload=512)
    udp("b11-512-x10", "b", stations=10, rate=11, payload=512)
    udp("a54-rts-x1", "a", rate=54, rts=True)
    udp("a54-rts-x10", "a", stations=10, rate=54, rts=True)
    udp("a54-down-x1", "a", rate=54, direction="down")
    udp("a54-down-x5", "a", stations=5, rate=54, direction="down")
    for n in (1, 5, 10):
        udp(f"n20-mcs7-x{n}", "n", stations=n, mcs=7)
    udp("n20-mcs7-single-x1", "n", mcs=7, ampdu_max=0)
    udp("n20-mcs0-x1", "n", mcs=0)
    udp("n40-mcs7-short-gi-x1", "n", mcs=7, width=40, guard_ns=400)
    udp("n40-mcs15-x1", "n", mcs=15, width=40, streams=2)
    for n in (1, 5, 10):
        # Collisions of ten make short runs noisy.
        noisy = {"seeds": 12} if n == 10 else {}
        udp(f"ac80-mcs9-x{n}", "ac", stations=n, mcs=9, width=80, **noisy)
    udp("ac20-mcs8-single-x1", "ac", mcs=8, ampdu_max=0)
    for n in (1, 5, 10, 20):
        udp(f"ax80-mcs11-x{n}", "ax", stations=n, mcs=11, width=80, duration_s=2.0)
    udp("ax20-mcs0-x1", "ax", mcs=0)
    udp("ax80-mcs7-gi3200-x1", "ax", mcs=7, width=80, guard_ns=3200)
    udp("ax80-mcs11-512-x1", "ax", mcs=11, width=80, payload=512, duration_s=2.0)
    udp("ax20-mcs5-single-x5", "ax", stations=5, mcs=5, ampdu_max=0)
    udp("a54-relay", "a", stations=2, rate=54, direction="relay", seeds=6)
    udp("n20-mcs7-relay", "n", stations=2, mcs=7, direction="relay", seeds=6)
    delay("a54-5-x1", "a", rate=54, offered=5)
    delay("a54-20-x1", "a", rate=54, offered=20)
    delay("a54-2-x5", "a", stations=5, rate=54, offered=2, seeds=8)
    delay("a54-1-x10", "a", stations=10, rate=54, offered=1, seeds=8)
    delay("b11-3-x1", "b", rate=11, offered=3)
    delay("g54-10-x1", "g", rate=54, offered=10)
    delay("n20-20-x1", "n", mcs=7, offered=20)
    delay("ax80-20-x1", "ax", mcs=11, width=80, offered=20)
    delay("a54-down-10-x1", "a", rate=54, offered=10, direction="down")
    delay("a54-relay-5", "a", stations=2, rate=54, offered=5, direction="relay")
    tcp("a54-up-x1", "a", rate=54)
    tcp("a54-down-x1", "a", rate=54, direction="down")
    tcp("a54-up-x5", "a", stations=5, rate=54)
    tcp("a54-relay", "a", stations=2, rate=54, direction="relay")
    tcp("b11-up-x1", "b", rate=11)
    tcp("g54-up-x1", "g", rate=54)
    tcp("n20-mcs7-up-x1", "n", mcs=7)
    tcp("n20-mcs7-down-x1", "n", mcs=7, direction="down")
    tcp("n40-mcs7-relay", "n", stations=2, mcs=7, width=40, direction="relay")
    tcp("ac80-mcs9-up-x1", "ac", mcs=9, width=80)
    tcp("ax80-mcs11-up-x1", "ax", mcs=11, width=80)
    return table
