"""The scenarios on which airtoll and ns-3 are compared: one table, two renderings.

Takes nothing; gives the list of cases, each as airtoll scenario JSON and as the parameters of
``ns3/scenario.cc``. Never runs either simulator.

Common to all: one access point, stations at equal received power (unless they are hidden from one
another), beacons every 102.4 ms, static ARP, queues of 500 packets and 500 ms, seven attempts.
TCP is that of the simulator's system ``ns-3``: CUBIC without timestamps, MSS 1460, windows of
131,072 octets unless a case says otherwise, an acknowledgement for every second segment, delayed at
most 200 ms, and a smallest retransmission time-out of 1 s.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

#: Octets of the beacon that ns-3.44 sends, by standard and width (read off its transmissions).
NS3_BEACON_OCTETS = {"b": 58, "a": 59, "g": 71, "n": 144, "ac": 165, "ax": 198, "be": 226}

#: The same of an access point with two links.
NS3_MULTI_LINK_BEACON_OCTETS = 264
#: Octets of EML capabilities in it, where stations may have one radio.
NS3_EML_OCTETS = 2
#: Octets of the MU EDCA Parameter Set element.
NS3_MU_EDCA_OCTETS = 16

CATEGORIES = {"BE": "best_effort", "BK": "background", "VI": "video", "VO": "voice"}


@dataclass(frozen=True)
class Case:
    """One scenario; rates in Mb/s, payload in octets."""

    name: str
    kind: str  # udp | tcp | delay
    standard: str  # b a g n ac ax be
    stations: int = 1
    rate: float | None = None  # b, a, g
    mcs: int | None = None  # n, ac, ax, be
    width: int = 20
    guard_ns: int = 800
    streams: int = 1
    short_preamble: bool = False
    ampdu_max: int = 65535
    payload: int = 1472
    payload_step: int = 0  # each further run has so many octets less
    direction: str = "up"
    offered: float | None = None  # Mb/s per flow, for delay
    rts: bool = False
    hidden: bool = False  # stations receive nothing of one another
    # Further BSSs on the channel, saturated stations of each, and the level between BSSs.
    neighbours: tuple[int, int, float] = (0, 0, -40.0)
    # Width of their channel, MHz, and its primary 20 MHz channel, counted from that of the cell.
    neighbour_channel: tuple[int, int] | None = None
    neighbour_mbps: float | None = None  # load of each of their flows; None: saturated
    colors: bool = False  # every BSS has a colour of its own
    obss_pd_dbm: float | None = None  # of all nodes; they sense no other colour below it
    # ns-3: power, of all frames on the air together, that keeps the medium busy at the end of a
    # reception. The standard has -82 dBm for the beginning of a PPDU that a node detects, and
    # -62 dBm for one that it did not (802.11-2020, 17.3.10.6; 802.11ax-2021, 27.3.20.6.3).
    held_from_dbm: float = -82.0
    slow: tuple[int, float] = (0, 0)  # so many stations have this rate, Mb/s (n: MCS)
    rss_dbm: float = -40.0
    second: tuple[str, int, int] | None = None  # a second link: band, MCS, width in MHz
    # With a second link: the stations have one radio for both, with these delays, us.
    emlsr: tuple[int, int] | None = None
    amsdu_max: int = 0  # octets; 0: no A-MSDU
    # off | downlink (equal resource units, MU-BARs in the PPDU) | uplink (Basic Trigger frames)
    # | both
    ofdma: str = "off"
    flow_queues: int = 1024  # of ns-3's FqCoDel; 65,535: no two flows share one
    together: bool = False  # datagrams of all flows come at the same times
    window: int = 0  # MPDUs that a BlockAck tells of; 0: the simulator's own choice
    # ns-3: a packet that comes while a back-off counts does not make it longer by a slot.
    on_boundary: bool = False
    category: str = "BE"  # BE | BK | VI | VO | ALL: VO, VI, BE, BK, flow after flow
    wired: tuple[float, float] | None = None  # a wire to a server: Mb/s, seconds one way
    wire_fq_codel: bool = False  # packets wait for the wire in FqCoDel alone
    tcp_window: int = 131072
    congestion: str = "cubic"  # cubic | bbr
    # A station waits for longer than its 500 packets last, or a PPDU takes most of them: ns-3's
    # traffic control (10,240 packets) keeps what arrives meanwhile and refills the queue, as
    # airtoll's saturated application does.
    refilled: bool = False
    # Traffic of ns-3 begins here. Associations and block ack agreements compete with it.
    traffic_from_s: float = 0.5
    warm_up_s: float = 1.0
    seeds: int = 5
    duration_s: float = 60.0

    @property
    def flows(self) -> list[tuple[str, str]]:
        """Source and destination of each flow."""
        stations = [f"s{i}" for i in range(1, self.stations + 1)]
        if self.direction == "relay":
            return list(zip(stations[0::2], stations[1::2], strict=False))
        far = "server" if self.wired else "ap"
        if self.direction == "both":
            return [pair for s in stations for pair in ((s, far), (far, s))]
        if self.direction == "down":
            return [(far, s) for s in stations]
        return [(s, far) for s in stations]

    @property
    def nominal_mbps(self) -> float:
        """PHY rate."""
        if self.rate is not None:
            return self.rate
        assert self.mcs is not None
        if self.second is not None:
            _, mcs, width = self.second
            first = replace(self, second=None)
            return first.nominal_mbps + replace(first, mcs=mcs, width=width).nominal_mbps
        bits = [0.5, 1, 1.5, 2, 3, 4, 4.5, 5, 6, 20 / 3, 7.5, 25 / 3, 9, 10][
            self.mcs % 8 if self.standard == "n" else self.mcs
        ]
        if self.standard in ("ax", "be"):
            tones = {20: 234, 40: 468, 80: 980, 160: 1960, 320: 3920}[self.width]
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
        cells, of_each, cross_dbm = self.neighbours
        least = -82.0 if self.obss_pd_dbm is None else self.obss_pd_dbm
        sensed = cells * of_each if cross_dbm >= least and self.neighbour_mbps is None else 0
        return airtime_s * (len(self.flows) + sensed) / 1.33

    @property
    def neighbour_interval_s(self) -> float:
        """Seconds between the datagrams of one flow of a neighbour."""
        if self.neighbour_mbps is not None:
            return self.payload * 8 / (self.neighbour_mbps * 1e6)
        # Saturated neighbours of own flows at a load have as many packets as if all were saturated.
        return replace(self, offered=None).interval_s

    def of_run(self, run: int) -> Case:
        """The case with the payload of a run, counted from 1."""
        return replace(self, payload=self.payload - (run - 1) * self.payload_step, payload_step=0)

    def start_s(self, flow: int, interval_s: float) -> float:
        """When a flow begins: spread over one interval by the golden ratio: none coincide."""
        return 0.0 if self.together else (flow * 0.618033988749895 % 1.0) * interval_s

    def access_category(self, flow: int) -> str:
        """The access category of a flow, as airtoll's scenarios name it."""
        names = ("VO", "VI", "BE", "BK") if self.category == "ALL" else (self.category,)
        return CATEGORIES[names[flow % len(names)]]

    def ns3(self, run: int) -> dict[str, Any]:
        """Attributes of ``Parameters`` in ``ns3/scenario.cc``."""
        if self.payload_step:
            return self.of_run(run).ns3(run)
        if self.standard == "b":
            mode = "DsssRate{}Mbps".format({1: "1", 2: "2", 5.5: "5_5", 11: "11"}[self.rate])
            control = "DsssRate1Mbps"
        elif self.standard in "ag":
            prefix = "ErpOfdm" if self.standard == "g" else "Ofdm"
            mode = f"{prefix}Rate{self.rate:g}Mbps"
            control = f"{prefix}Rate24Mbps" if self.rate >= 24 else f"{prefix}Rate6Mbps"
        else:
            mode = {"n": "Ht", "ac": "Vht", "ax": "He", "be": "Eht"}[
                self.standard
            ] + f"Mcs{self.mcs}"
            control = "OfdmRate24Mbps"
        slow_stations, slow_rate = self.slow
        slow_mode = ""
        if slow_stations and self.standard in "bag":
            fast = f"{self.rate:g}Mbps"
            slow_mode = mode.removesuffix(fast) + f"{slow_rate:g}Mbps"
        elif slow_stations:
            slow_mode = mode.rstrip("0123456789") + f"{slow_rate:g}"
        return {
            "slowStations": slow_stations,
            "slowMode": slow_mode,
            "rssDbm": self.rss_dbm,
            "secondBand": f"BAND_{self.second[0].upper().replace('.', '_')}" if self.second else "",
            "secondWidth": self.second[2] if self.second else 20,
            "secondMode": f"EhtMcs{self.second[1]}" if self.second else "",
            "emlsrPadding": -1 if self.emlsr is None else self.emlsr[0],
            "emlsrTransition": 0 if self.emlsr is None else self.emlsr[1],
            "hidden": self.hidden,
            "neighbourCells": self.neighbours[0],
            "neighbourStations": self.neighbours[1],
            "crossDbm": self.neighbours[2],
            "channelSettings": _channel(self.width, 0) if self.neighbour_channel else "",
            "neighbourSettings": (
                _channel(*self.neighbour_channel) if self.neighbour_channel else ""
            ),
            "neighbourInterval": self.neighbour_interval_s if self.neighbours[0] else 0.0,
            "colors": self.colors,
            "obssPdDbm": self.obss_pd_dbm or 0.0,
            "heldFromDbm": self.held_from_dbm,
            "flowQueues": self.flow_queues,
            "together": self.together,
            "window": self.window,
            "onBoundary": self.on_boundary,
            "amsduMax": self.amsdu_max,
            "ofdma": self.ofdma,
            "category": self.category,
            "wired": f"{self.wired[0]:g}Mbps" if self.wired else "",
            "wiredDelay": self.wired[1] if self.wired else 0.0,
            "wireFqCoDel": self.wire_fq_codel,
            "tcpBuffer": self.tcp_window,
            "congestion": {"cubic": "TcpCubic", "bbr": "TcpBbr"}[self.congestion],
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
            "trafficFrom": self.traffic_from_s,
            "warmUp": self.warm_up_s if self.kind != "tcp" else 2.0,
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
            transport = {"protocol": "tcp", "window_octets": self.tcp_window}
            if self.congestion != "cubic":
                transport["congestion_control"] = self.congestion
        pattern: dict[str, Any] = {"type": "saturated", "payload_octets": self.payload}
        if self.kind == "tcp":
            pattern["payload_octets"] = 1460
        refills = not constant_rate or self.refilled
        paced = self.offered is not None or (self.kind == "udp" and not refills)
        if paced:
            pattern = {
                "type": "paced",
                "payload_octets": self.payload,
                "rate_bps": self.payload * 8 / self.interval_s,
            }
        triggers = self.ofdma in ("uplink", "both")
        bss: dict[str, Any] = {
            "name": "cell",
            "standard": f"802.11{self.standard}",
            "rate": rate,
            "width_mhz": self.width,
            "guard_interval_ns": self.guard_ns,
            "preamble": "short" if self.short_preamble else "long",
            "beacons": {
                "octets": NS3_BEACON_OCTETS[self.standard]
                + (NS3_MU_EDCA_OCTETS if triggers else 0),
                # ns-3 sends beacons of an 802.11g BSS at 1 Mb/s.
                # Its Trigger frames have the rate of other control frames; beacons share it.
                "rate_mbps": 1 if self.standard in "bg" else 24 if triggers else 6,
            },
            "aggregation": {
                "ampdu_max_octets": self.ampdu_max,
                "amsdu_max_octets": self.amsdu_max,
            },
        }
        if self.category in ("VI", "VO", "ALL"):
            # ns-3 protects the whole TXOP; 802.11-2020, 9.2.5.2 leaves it to the sender.
            bss["txop_protection"] = "multiple"
        if self.hidden:
            # ns-3 detects a preamble after 4 us. Slots of hidden stations lie anywhere beside the
            # access point's responses: this time decides whether a station sends over a CTS.
            bss["cca_time_us"] = 4.0
        if self.rts:
            bss["rts_threshold_octets"] = 0
        if self.ofdma != "off":
            both = self.ofdma == "both"
            bss["ofdma"] = {
                "downlink": both or self.ofdma == "downlink",
                "uplink": both or self.ofdma == "uplink",
            }
        if self.window:
            bss["aggregation"]["window"] = self.window
        if self.colors:
            bss["color"] = 1
        if self.obss_pd_dbm is not None:
            bss["obss_pd_dbm"] = self.obss_pd_dbm
        stations = [f"s{i}" for i in range(1, self.stations + 1)]
        place: dict[str, Any] = {"bss": "cell"}
        bsss = [bss]
        if self.second is not None:
            band, mcs, width = self.second
            eml_octets = 0 if self.emlsr is None else NS3_EML_OCTETS
            bss["beacons"]["octets"] = NS3_MULTI_LINK_BEACON_OCTETS + eml_octets
            own = {"name": "second", "channel": 1, "band": band, "width_mhz": width}
            second = {"control": "fixed_mcs", "mcs": mcs, "streams": self.streams}
            bsss.append({**bss, **own, "rate": second})
            place["multi_link"] = ["second"]
        nodes: list[dict[str, Any]] = [{"name": "ap", "role": "access_point", **place}]
        if self.emlsr is not None:
            # ns-3 begins the transition delay at the end of the exchange, without the timeout.
            place["single_radio"] = {
                "padding_delay_us": self.emlsr[0],
                "transition_delay_us": self.emlsr[1],
                "end_timeout_us": 0.0,
            }
        nodes += [{"name": name, "role": "station", **place} for name in stations]
        for node in nodes[len(nodes) - self.slow[0] :]:
            node["rate"] = (
                {"control": "fixed", "mbps": self.slow[1]}
                if self.rate is not None
                else {"control": "fixed_mcs", "mcs": int(self.slow[1]), "streams": 1}
            )
        wires = []
        if self.wired is not None:
            nodes.append({"name": "server", "role": "wired"})
            wire: dict[str, Any] = {
                "nodes": ["ap", "server"],
                "rate_bps": self.wired[0] * 1e6,
                "delay_s": self.wired[1],
            }
            if self.wire_fq_codel:
                # Full packets take as long as over ns-3's link, which adds 2 octets, not 38.
                wire["rate_bps"] *= 1538 / 1502
                wire |= {"discipline": "fq_codel", "queue_packets": 10240}
            wires.append(wire)
        flows = []
        for i, (source, destination) in enumerate(self.flows):
            flow = {
                "name": f"f{i}",
                "source": source,
                "destination": destination,
                "transport": transport,
                "pattern": pattern,
                "access_category": self.access_category(i),
            }
            if paced:
                flow["start_s"] = self.start_s(i, self.interval_s)
            flows.append(flow)
        radio: dict[str, Any] = {
            # Radios transmit 16 dBm.
            "path_loss": {"model": "constant", "loss_db": 16.0 - self.rss_dbm},
            "hidden": list(combinations(stations, 2)) if self.hidden else [],
        }
        cells, of_each, cross_dbm = self.neighbours
        if cross_dbm < self.rss_dbm:
            # ns-3 detects a preamble that is 4 dB above what begins with it.
            radio["preamble_capture_db"] = 4.0
        theirs_paced = paced or self.neighbour_mbps is not None
        their_pattern = pattern
        if theirs_paced:
            their_pattern = {
                "type": "paced",
                "payload_octets": self.payload,
                "rate_bps": self.payload * 8 / self.neighbour_interval_s,
            }
        for cell in range(cells):
            name = f"neighbour{cell}"
            theirs = {"name": name, "neighbour": {"level_dbm": cross_dbm}}
            if self.colors:
                theirs["color"] = cell + 2
            if self.neighbour_channel is not None:
                theirs["width_mhz"], theirs["primary"] = self.neighbour_channel
            bsss.append({**bss, **theirs})
            nodes.append({"name": f"{name}/ap", "role": "access_point", "bss": name})
            for station in [f"{name}/{station}" for station in range(of_each)]:
                nodes.append({"name": station, "role": "station", "bss": name})
                flow = {
                    "name": station,
                    "source": station,
                    "destination": f"{name}/ap",
                    "transport": transport,
                    "pattern": their_pattern,
                    "access_category": self.access_category(len(flows)),
                }
                if theirs_paced:
                    flow["start_s"] = self.start_s(len(flows), self.neighbour_interval_s)
                flows.append(flow)
        return {
            "duration_s": duration_s + warm_up_s,
            "warm_up_s": warm_up_s,
            "radio": radio,
            "bss": bsss,
            "nodes": [{**node, "host": {"tcp": "ns-3"}} for node in nodes],
            "links": wires,
            "flows": flows,
        }


def _channel(width: int, primary: int) -> str:
    """A channel at 5 GHz for ns-3, by its primary 20 MHz channel, counted from channel 36."""
    count = width // 20
    first = primary // count * count
    number = 36 + 4 * first + 2 * (count - 1)
    return f"{{{number}, {width}, BAND_5GHZ, {primary - first}}}"


def cases() -> list[Case]:
    """Every case, in the order of the table."""
    table: list[Case] = []

    def udp(name: str, standard: str, **more: Any) -> None:
        table.append(Case(name=f"udp-{name}", kind="udp", standard=standard, **more))

    def tcp(name: str, standard: str, **more: Any) -> None:
        table.append(Case(name=f"tcp-{name}", kind="tcp", standard=standard, payload=1460, **more))

    def delay(name: str, standard: str, **more: Any) -> None:
        table.append(Case(name=f"delay-{name}", kind="delay", standard=standard, **more))

    # ns-3 needs up to four seconds for one simulated second of these.
    slow_to_run = {"duration_s": 20.0}
    # Associations and block ack agreements of many stations.
    crowd = {"traffic_from_s": 3.0, "warm_up_s": 4.0}
    # Three seconds are too few for a hundred stations.
    slow_crowd = {"traffic_from_s": 20.0, "warm_up_s": 21.0}
    for n in (1, 2, 5, 10, 20, 50, 100):
        many = slow_to_run | slow_crowd if n == 100 else slow_to_run if n == 50 else {}
        udp(f"a54-x{n}", "a", stations=n, rate=54, **many)
    for n in (1, 2, 5, 10, 20, 50, 100):
        many = slow_crowd if n == 100 else {}
        udp(f"b11-x{n}", "b", stations=n, rate=11, **many)
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
    for n in (1, 5, 10, 20):
        many = crowd if n == 20 else {}
        udp(f"n20-mcs7-x{n}", "n", stations=n, mcs=7, **many)
    udp("n20-mcs7-single-x1", "n", mcs=7, ampdu_max=0)
    udp("n20-mcs0-x1", "n", mcs=0)
    udp("n40-mcs7-short-gi-x1", "n", mcs=7, width=40, guard_ns=400)
    udp("n40-mcs15-x1", "n", mcs=15, width=40, streams=2)
    for n in (1, 5, 10):
        many = slow_to_run if n == 10 else {}
        udp(f"ac80-mcs9-x{n}", "ac", stations=n, mcs=9, width=80, **many)
    udp("ac20-mcs8-single-x1", "ac", mcs=8, ampdu_max=0)
    for n in (1, 5, 10, 20):
        udp(f"ax80-mcs11-x{n}", "ax", stations=n, mcs=11, width=80, **slow_to_run)
    udp("ax20-mcs0-x1", "ax", mcs=0)
    udp("ax80-mcs7-gi3200-x1", "ax", mcs=7, width=80, guard_ns=3200)
    udp("ax80-mcs11-512-x1", "ax", mcs=11, width=80, payload=512, **slow_to_run)
    udp("ax20-mcs5-single-x5", "ax", stations=5, mcs=5, ampdu_max=0)
    shared = {"ofdma": "downlink", "direction": "down", **slow_to_run}
    # With eight or nine two flows of ns-3 get half a share, as if they shared a queue of FqCoDel.
    for n in (2, 4, 5):
        udp(f"ax20-mcs7-ofdma-x{n}", "ax", stations=n, mcs=7, **shared)
    udp("ax20-mcs7-512-ofdma-x4", "ax", stations=4, mcs=7, payload=512, **shared)
    udp("ax80-mcs9-ofdma-x4", "ax", stations=4, mcs=9, width=80, **shared)
    udp("be80-mcs13-x1", "be", mcs=13, width=80, **slow_to_run)
    udp("be20-mcs0-x1", "be", mcs=0)
    # ns-3.44 has no channels of 320 MHz.
    udp("be160-mcs9-x1", "be", mcs=9, width=160, duration_s=2.0, seeds=3)
    short = {"duration_s": 5.0, "seeds": 4}
    udp("a54-x3-beside-1x3", "a", stations=3, rate=54, neighbours=(1, 3, -40.0), **short)
    udp("a54-x2-beside-2x4", "a", stations=2, rate=54, neighbours=(2, 4, -40.0), **short)
    udp("b11-x2-beside-1x3", "b", stations=2, rate=11, neighbours=(1, 3, -40.0), **short)
    udp("n20-mcs7-x2-beside-1x2", "n", stations=2, mcs=7, neighbours=(1, 2, -40.0),
        duration_s=3.0, seeds=12)  # fmt: skip
    # Own frames survive a collision with theirs, if they began no later.
    udp("a54-x3-beside-1x3-75dbm", "a", stations=3, rate=54, neighbours=(1, 3, -75.0), **short)
    # No node senses the other cell, 30 dB below the own one.
    far = {"rss_dbm": -55.0, "neighbours": (1, 2, -85.0)}
    udp("a54-x2-hidden-1x2", "a", stations=2, rate=54, held_from_dbm=-62.0, **far, **short)
    two_links = {"duration_s": 2.0, "seeds": 3}
    udp("be80-mcs5-mlo-x1", "be", mcs=5, width=80, second=("6ghz", 5, 80), **two_links)
    udp("be80-mcs9-20-mcs3-mlo-x1", "be", mcs=9, width=80, second=("2.4ghz", 3, 20), **two_links)
    one_radio = {"width": 80, "direction": "down", **two_links}
    five = {"second": ("6ghz", 5, 80), **one_radio}
    udp("be80-mcs5-emlsr-x1", "be", mcs=5, emlsr=(64, 128), **five)
    udp("be80-mcs5-emlsr-256-x1", "be", mcs=5, emlsr=(256, 256), **five)
    udp("be80-mcs5-emlsr-x4", "be", mcs=5, stations=4, emlsr=(64, 128), **five)
    udp("a54-relay", "a", stations=2, rate=54, direction="relay")
    udp("n20-mcs7-relay", "n", stations=2, mcs=7, direction="relay")
    delay("a54-5-x1", "a", rate=54, offered=5)
    delay("a54-20-x1", "a", rate=54, offered=20)
    delay("a54-2-x5", "a", stations=5, rate=54, offered=2)
    delay("a54-1-x10", "a", stations=10, rate=54, offered=1)
    delay("b11-3-x1", "b", rate=11, offered=3)
    delay("g54-10-x1", "g", rate=54, offered=10)
    delay("n20-20-x1", "n", mcs=7, offered=20)
    delay("ax80-20-x1", "ax", mcs=11, width=80, offered=20)
    # ns-3 asks for BlockAcks at MCS 5 where data have 7: those of 64 bits take one symbol at both.
    few = {"stations": 4, "mcs": 7, "payload": 100, "offered": 1.0}
    few |= {"window": 64, "on_boundary": True}
    delay("ax20-100-ofdma-x4", "ax", **few, **shared)
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
    hidden = {"hidden": True}
    udp("a54-256-hidden-rts-x3", "a", rate=54, stations=3, payload=256, rts=True, **hidden)
    udp("a54-hidden-rts-x3", "a", rate=54, stations=3, rts=True, **hidden)
    udp("a54-hidden-rts-x2", "a", rate=54, stations=2, rts=True, **hidden)
    udp("a24-256-hidden-rts-x3", "a", rate=24, stations=3, payload=256, rts=True, **hidden)
    udp("a54-256-hidden-x2", "a", rate=54, stations=2, payload=256, **hidden)
    udp("n20-mcs7-hidden-rts-x2", "n", mcs=7, stations=2, rts=True, refilled=True, **hidden)
    udp("a54-6-anomaly-x2", "a", rate=54, stations=2, slow=(1, 6))
    udp("a54-6-anomaly-x4", "a", rate=54, stations=4, slow=(1, 6))
    udp("b11-1-anomaly-x2", "b", rate=11, stations=2, slow=(1, 1))
    udp("n20-mcs7-0-single-anomaly-x2", "n", mcs=7, stations=2, slow=(1, 0), ampdu_max=0)
    for n in (1, 2):
        udp(f"n20-mcs7-500-vo-x{n}", "n", mcs=7, stations=n, payload=500, category="VO")
    udp("n20-mcs7-vo-x2", "n", mcs=7, stations=2, category="VO")
    for n in (1, 2, 5):
        udp(f"n20-mcs7-vi-x{n}", "n", mcs=7, stations=n, category="VI")
    # Two stations of each category.
    many_categories = {"duration_s": 10.0, "seeds": 5}
    udp("n20-mcs7-all-x8", "n", mcs=7, stations=8, category="ALL", **many_categories)
    for offered in (5, 30):
        udp(f"n20-mcs7-{offered}-all-x8", "n", mcs=7, stations=8, category="ALL",
            offered=float(offered), duration_s=5.0, seeds=4)  # fmt: skip
    udp("n20-mcs7-single-all-x8", "n", mcs=7, stations=8, category="ALL", ampdu_max=0,
        **many_categories)  # fmt: skip
    udp("n20-mcs7-bk-x2", "n", mcs=7, stations=2, category="BK")
    udp("n20-mcs7-single-vo-x2", "n", mcs=7, stations=2, category="VO", ampdu_max=0)
    for octets in (3839, 7935):
        alone = {"ampdu_max": 0, "amsdu_max": octets}
        udp(f"n20-mcs7-amsdu{octets}-x1", "n", mcs=7, **alone)
        udp(f"n40-mcs7-amsdu{octets}-x1", "n", mcs=7, width=40, **alone)
    udp("n40-mcs7-amsdu7935-x5", "n", mcs=7, width=40, stations=5, **alone)
    for mcs, rss in ((7, -75), (7, -74), (5, -77), (4, -80)):
        udp(f"n20-mcs{mcs}-single{rss}dbm-x1", "n", mcs=mcs, rss_dbm=rss, ampdu_max=0)
    udp("a54-75dbm-x1", "a", rate=54, rss_dbm=-75)
    delay("a54-2-down-x5", "a", stations=5, rate=54, offered=2, direction="down")
    delay("n20-mcs7-2-x5", "n", stations=5, mcs=7, offered=2)
    delay("a54-256-05-hidden-rts-x3", "a", stations=3, rate=54, offered=0.5, payload=256, rts=True,
          **hidden)  # fmt: skip
    far = {"wired": (100.0, 0.02)}
    tcp("a54-wan-up-x1", "a", rate=54, **far)
    tcp("a54-wan-down-x1", "a", rate=54, direction="down", **far)
    # A server in the same building: a burst on the wire lasts as long as an A-MPDU.
    near = {"wired": (1000.0, 1e-4)}
    tcp("n20-mcs7-lan-up-x1", "n", mcs=7, **near)
    tcp("ax80-mcs11-lan-up-x1", "ax", mcs=11, width=80, **near)
    # The wire is slower than the air: CoDel decides the window.
    slow = {"direction": "down", "tcp_window": 1048576, "wire_fq_codel": True,
            "duration_s": 20.0, "seeds": 4}  # fmt: skip
    for n in (1, 3):
        tcp(f"n20-mcs7-slow-wire-down-x{n}", "n", mcs=7, stations=n, wired=(10.0, 0.01), **slow)
    tcp("n20-mcs7-slow-wan-down-x1", "n", mcs=7, wired=(20.0, 0.04), **slow)
    # Windows of 359 segments fit into the queues of 500.
    deep = {"tcp_window": 524288}
    tcp("n20-mcs7-wan-deep-up-x1", "n", mcs=7, **far, **deep)
    tcp("a54-deep-up-x1", "a", rate=54, **deep)
    tcp("n20-mcs7-deep-down-x1", "n", mcs=7, direction="down", **deep)
    tcp("a54-down-x5", "a", stations=5, rate=54, direction="down")
    bbr = {"congestion": "bbr"}
    tcp("bbr-a54-up-x1", "a", rate=54, **bbr)
    tcp("bbr-a54-wan-up-x1", "a", rate=54, **far, **bbr)
    tcp("bbr-a54-wan-deep-down-x1", "a", rate=54, direction="down", **far, **deep, **bbr)
    tcp("bbr-n20-mcs7-lan-up-x1", "n", mcs=7, **near, **bbr)
    tcp("bbr-n20-mcs7-wan-deep-up-x1", "n", mcs=7, **far, **deep, **bbr)
    tcp("bbr-a54-down-x5", "a", stations=5, rate=54, direction="down", **bbr)

    # Frames to several stations, which no chance varies: one second is enough.
    brief = {"ofdma": "downlink", "direction": "down", "flow_queues": 65535}
    brief |= {"duration_s": 1.0, "seeds": 3}
    for width, mcs, n in (
        (20, 5, 2),
        (20, 9, 8),
        (20, 9, 16),
        (40, 9, 4),
        (40, 11, 8),
        (80, 11, 2),
        (80, 9, 8),
    ):
        udp(f"ax{width}-mcs{mcs}-ofdma-x{n}", "ax", stations=n, mcs=mcs, width=width, **brief)
    for width, mcs, n in ((20, 9, 8), (80, 5, 4)):
        udp(
            f"ax{width}-mcs{mcs}-500-ofdma-x{n}",
            "ax",
            stations=n,
            mcs=mcs,
            width=width,
            payload=500,
            refilled=width == 80,
            **brief,
        )
    # A third above what the PHY carries costs ns-3 minutes; this is above what fits.
    udp("ax20-mcs5-100-ofdma-x4", "ax", stations=4, mcs=5, payload=100, offered=10.0, **brief)
    udp("be20-mcs7-ofdma-x4", "be", stations=4, mcs=7, **brief)
    loaded = {**brief, "duration_s": 2.0}
    delay("ax20-mcs5-500-1-ofdma-x8", "ax", stations=8, mcs=5, payload=500, offered=1.0, **loaded)
    # Data of 116 octets end at the end of a symbol (ns-3 ends MPDUs inside one).
    delay(
        "ax20-mcs5-116-05-ofdma-x4-together",
        "ax",
        stations=4,
        mcs=5,
        payload=116,
        offered=0.5,
        together=True,
        **loaded,
    )
    triggered = {"ofdma": "uplink", "flow_queues": 65535, "duration_s": 1.0, "seeds": 3}
    udp("ax20-mcs7-uplink-x2", "ax", stations=2, mcs=7, **triggered)
    udp("ax20-mcs5-uplink-x8", "ax", stations=8, mcs=5, **triggered)
    udp("ax20-mcs7-500-uplink-x4", "ax", stations=4, mcs=7, payload=500, **triggered)
    udp("ax80-mcs9-uplink-x4", "ax", stations=4, mcs=9, width=80, **triggered)
    both_ways = {**triggered, "ofdma": "both", "direction": "both"}
    udp("ax20-mcs7-both-x4", "ax", stations=4, mcs=7, **both_ways)

    short = {"duration_s": 2.0, "seeds": 4}
    # Few long A-MPDUs fit into these seconds, so that the share of a cell varies.
    shares = {"duration_s": 3.0, "seeds": 12}
    udp("a54-x1-beside-1x1", "a", rate=54, neighbours=(1, 1, -40.0), **short)
    udp("a54-x2-beside-3x1", "a", stations=2, rate=54, neighbours=(3, 1, -60.0), **short)
    udp("a54-rts-x2-beside-1x2", "a", stations=2, rate=54, rts=True, neighbours=(1, 2, -40.0),
        **short)  # fmt: skip
    udp("a54-x2-beside-1x2-70dbm", "a", stations=2, rate=54, neighbours=(1, 2, -70.0), **short)
    udp("a24-512-x1-beside-2x1", "a", rate=24, payload=512, neighbours=(2, 1, -50.0), **short)
    udp("a54-x2-beside-1x2-3", "a", stations=2, rate=54, neighbours=(1, 2, -40.0),
        neighbour_mbps=3.0, **short)  # fmt: skip
    udp("n20-mcs7-rts-x1-beside-1x2", "n", mcs=7, rts=True, neighbours=(1, 2, -40.0), **shares)
    udp("n20-mcs7-x1-beside-1x2-5", "n", mcs=7, neighbours=(1, 2, -40.0), neighbour_mbps=5.0,
        **shares)  # fmt: skip
    udp("ac20-mcs7-x1-beside-1x1-65dbm", "ac", mcs=7, neighbours=(1, 1, -65.0), **shares)
    udp("ac40-mcs5-x1-beside-1x1", "ac", mcs=5, width=40, neighbours=(1, 1, -40.0), **shares)
    udp("ax20-mcs5-x2-beside-1x2", "ax", stations=2, mcs=5, neighbours=(1, 2, -40.0), **shares)
    udp("ax20-mcs7-down-x2-beside-1x1", "ax", stations=2, mcs=7, direction="down",
        neighbours=(1, 1, -40.0), **shares)  # fmt: skip
    # Channels that overlap in part.
    parts = {"duration_s": 2.0, "seeds": 8}
    for name, channel, level in (
        ("primary-20", (20, 0), -60.0),
        ("secondary-20", (20, 1), -60.0),
        ("secondary-40", (20, 2), -60.0),
        ("secondary-40-wide", (40, 2), -60.0),
        ("secondary-40-unheard", (40, 2), -78.0),
        ("other-primary", (80, 2), -60.0),
        ("outside", (20, 4), -60.0),
    ):
        udp(f"ac80-mcs5-x1-beside-{name}", "ac", mcs=5, width=80, neighbours=(1, 1, level),
            neighbour_channel=channel, **parts)  # fmt: skip
    udp("ac40-mcs5-x1-beside-secondary-20", "ac", mcs=5, width=40, neighbours=(1, 1, -60.0),
        neighbour_channel=(20, 1), **parts)  # fmt: skip
    udp("ac20-mcs5-x1-beside-80", "ac", mcs=5, neighbours=(1, 1, -60.0),
        neighbour_channel=(80, 0), **parts)  # fmt: skip
    udp("ax80-mcs7-x1-beside-secondary-20", "ax", mcs=7, width=80, neighbours=(1, 1, -60.0),
        neighbour_channel=(20, 1), **parts)  # fmt: skip
    # No node senses the other cell.
    unheard = {"rss_dbm": -55.0, "neighbours": (1, 1, -88.0)}
    udp("n20-mcs4-x1-hidden-1x1", "n", mcs=4, **unheard, **short)
    udp("a24-rts-x2-hidden-2x1", "a", stations=2, rate=24, rts=True, rss_dbm=-55.0,
        neighbours=(2, 1, -88.0), **short)  # fmt: skip
    udp("ax20-mcs5-x1-beside-1x1-colors", "ax", mcs=5, neighbours=(1, 1, -60.0), colors=True,
        **shares)  # fmt: skip
    # At -77 dBm OBSS PD allows 16 dBm, which is what all transmit.
    reuse = {"rss_dbm": -45.0, "colors": True, "obss_pd_dbm": -77.0, "held_from_dbm": -62.0}
    udp("ax20-mcs5-x1-obss-pd-1x1-79dbm", "ax", mcs=5, neighbours=(1, 1, -79.0), **reuse, **short)
    udp("ax20-mcs5-x1-obss-pd-1x1-74dbm", "ax", mcs=5, neighbours=(1, 1, -74.0), **reuse, **shares)
    # At -72 and -62 dBm a node that reuses the channel sends with 11 and 1 dBm: few A-MPDUs, as
    # preambles of the other cell seldom come while a node waits, and many single MPDUs.
    reuse["neighbours"] = (1, 1, -74.0)
    for level in (72, 62):
        reuse["obss_pd_dbm"] = -float(level)
        end = f"x1-obss-pd-{level}-1x1-74dbm"
        udp(f"ax20-mcs5-{end}", "ax", mcs=5, **reuse, **short)
        udp(f"ax20-mcs5-single-{end}", "ax", mcs=5, ampdu_max=0, **reuse, **short)
    delay("a54-1-x2-beside-1x1", "a", stations=2, rate=54, offered=1.0, neighbours=(1, 1, -40.0),
          **short)  # fmt: skip
    delay("ax20-mcs5-2-x1-beside-1x2-2", "ax", mcs=5, offered=2.0, neighbours=(1, 2, -40.0),
          neighbour_mbps=2.0, **short)  # fmt: skip

    links = {"duration_s": 1.0, "seeds": 3}
    phones = {"direction": "down", "emlsr": (64, 128), **links}
    equal = {"width": 40, "second": ("6ghz", 5, 40), **phones}
    for n in (2, 3):
        udp(f"be40-mcs5-emlsr-x{n}", "be", mcs=5, stations=n, **equal)
    # The phases of two slot grids decide which link starts, and the length of frames decides the
    # phases: the mean over sixteen lengths.
    udp("be80-20-mcs5-emlsr-x1", "be", mcs=5, width=80, second=("6ghz", 5, 20), payload_step=8,
        **{**phones, "duration_s": 0.5, "seeds": 16})  # fmt: skip
    udp("be20-mcs7-emlsr-32-64-x1", "be", mcs=7, second=("6ghz", 7, 20),
        **{**phones, "emlsr": (32, 64)})  # fmt: skip
    for n in (1, 2):
        udp(f"be40-mcs5-emlsr-up-x{n}", "be", mcs=5, stations=n, **{**equal, "direction": "up"})
    udp("be20-mcs7-mlo-x2", "be", mcs=7, stations=2, second=("6ghz", 7, 20), **links)
    udp("be40-20-mcs5-mlo-down-x2", "be", mcs=5, stations=2, width=40, direction="down",
        second=("6ghz", 5, 20), **links)  # fmt: skip
    return table
