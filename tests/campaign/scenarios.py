"""Random valid scenarios by number, and the relations that hold between them and close relatives.

A case is a number: it decides scenario, traffic, policy and relation. Each trial has to end without
a failure, the parts of its ledger add up, its packets are accounted for, and no goodput is above
the offered load. Failures are shrunk to the fewest keys.

    python tests/campaign/scenarios.py [--from 0] [--to 5000]

The command prints each failure, and how many cases were tried. Exit code 1 if one failed.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import sys
import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import fmean, stdev
from typing import Any

from pydantic import ValidationError

from airtoll.capture import capture_report
from airtoll.errors import AirtollError
from airtoll.observe.metrics import METRICS
from airtoll.plan import Cell, Trial, make_plan
from airtoll.study import Scenario, Study
from airtoll.study.generations import GENERATIONS, HIGHEST_MBPS
from airtoll.testbeds.analytic import Analytic
from airtoll.testbeds.contract import Row
from airtoll.testbeds.resolve import scenario
from airtoll.testbeds.simulator import Simulator

#: Policies whose data frames need nothing of the PHY.
LAYERS = ("open", "wep-104", "wpa-psk-tkip", "wpa2-psk-ccmp", "wpa3-sae-ccmp", "wpa3-sae-gcmp-256")
TUNNELS = ("", "", "", "+wireguard", "+ipsec-aes-gcm", "+openvpn-aes-gcm")
#: Pairs of policies whose data frames have equal octets.
EQUAL = (
    ("wpa2-psk-ccmp", "wpa3-sae-ccmp"),
    ("wpa2-psk-ccmp", "wpa2-eap-tls-ccmp"),
    ("wpa2-psk-ccmp", "wpa2-ft-psk-ccmp"),
)
#: Octets around a datagram of 1472 that these add, in the order of their sum.
MORE = (("open", "wpa2-psk-ccmp"), ("wpa2-psk-ccmp", "wpa3-sae-gcmp-256"))
SEEDS = 3
#: Share that a comparison of means allows beside four standard errors of both.
FLOOR = 0.02
TRIES = 200
#: Datagrams that the flows of one trial may offer: each is an event, also one that a queue refuses.
#: One octet at 200 Mb/s from five stations would be 25 million in 0.2 s, a minute of CPU a case.
MOST_DATAGRAMS = 500_000
#: Short packets that a channel carries in a second, without aggregation.
PACKETS_PER_S = 10_000
#: Below this level the messages of a join may be lost as often as they are repeated; the second is
#: for a stated rate, which the messages in data frames have, too.
WEAK_DBM, WEAK_AT_A_RATE_DBM = -80, -60

Values = dict[tuple[str, str | None], float]


@dataclass
class Case:
    """A scenario, its traffic and its policy, as a study file has them."""

    scenario: dict[str, Any] = field(default_factory=dict)
    traffic: dict[str, Any] = field(default_factory=dict)
    policy: str = "open"

    def but(self, policy: str | None = None, **changes: Any) -> Case:
        """The same with other keys of the scenario, or of the traffic (``t_``); None: without."""
        own = copy.deepcopy(self)
        own.policy = policy or own.policy
        for key, value in changes.items():
            table = own.traffic if key.startswith("t_") else own.scenario
            if value is None:
                table.pop(key.removeprefix("t_"), None)
            else:
                table[key.removeprefix("t_")] = value
        return own

    def document(self) -> dict[str, Any]:
        """The study."""
        return {
            "study": {"name": "campaign", "title": "Campaign", "baseline": self.policy},
            "scenario": {"s": self.scenario},
            "traffic": {"t": self.traffic},
            "grid": {"scenario": ["s"], "traffic": ["t"], "policy": [self.policy]},
        }

    def toml(self) -> str:
        """The text of its study file."""
        lines = []
        for table, values in self.document().items():
            deep = table in ("scenario", "traffic")
            lines.append(f"[{table}.{next(iter(values))}]" if deep else f"[{table}]")
            flat = next(iter(values.values())) if deep else values
            lines += [f"{key} = {_toml(value)}" for key, value in flat.items()]
        return "\n".join(lines) + "\n"

    def cell(self) -> Cell | None:
        """Its one cell; None where a study file is refused or the simulator skips it."""
        try:
            cell = make_plan(Study.model_validate(self.document())).cells[0]
        except (ValidationError, AirtollError):
            return None
        return cell if Simulator().check(cell) is None else None


def _toml(value: Any) -> str:
    if isinstance(value, dict):
        return "{ " + ", ".join(f"{key} = {_toml(one)}" for key, one in value.items()) + " }"
    if isinstance(value, (list, tuple)):
        return "[" + ", ".join(map(_toml, value)) + "]"
    return json.dumps(value)


class Skipped(Exception):
    """A relative of a case is not valid: its relation says nothing."""


class Failed(Exception):
    """A relation does not hold."""


def values_of(cell: Cell, seed: int) -> Values:
    """The readings of one trial by metric and flow, with what holds for each trial."""
    measured = Simulator().measure(Trial(cell, 1, 1, seed))
    if measured.failure is not None:
        if "did not" in measured.failure and _may_not_join(cell.settings):
            raise Skipped
        raise Failed(f"the trial failed: {measured.failure}")
    found = {(r.metric, r.flow): r.value for r in measured.rows if _is_whole(r)}
    _holds_for_a_trial(cell, found)
    return found


def _may_not_join(settings: Scenario) -> bool:
    """Whether joins may fail: of weak stations, and of those whose attempts overlap.

    Stations start at the same instant and repeat after equal times. With a contention window of a
    few slots, as that of management frames under EDCA, hidden ones collide in each attempt. With
    few attempts those that hear one another do, too.
    """
    stated = settings.mcs is not None or settings.rate_mbps is not None
    stated |= any(one.mcs is not None or one.rate_mbps is not None for one in settings.stations)
    least = WEAK_AT_A_RATE_DBM if stated else WEAK_DBM
    weak = min(one.rssi_dbm or 0.0 for one in settings.stations) < least
    overlap = bool(settings.hidden) or (settings.cw_min is not None and settings.cw_min < 7)
    overlap |= settings.retry_limit is not None
    return weak or (overlap and len(settings.stations) > 1)


def _is_whole(row: Row) -> bool:
    return row.second is None and (row.flow is not None or row.station is None)


def _holds_for_a_trial(cell: Cell, found: Values) -> None:
    parts = {m: v for (m, flow), v in found.items() if flow is None and m.startswith("airtime_")}
    if not parts:
        raise Skipped  # not all stations joined in time
    total = sum(value for metric, value in parts.items() if METRICS[metric].unit == "s")
    # The airtime of each BSS: a link of a multi-link AP, or another access point.
    whole = len(scenario(cell).bss) * cell.load.duration_s
    if not math.isclose(total, whole, abs_tol=1e-6):
        raise Failed(f"the parts of the airtime are {total} s of {whole} s")
    flows = {flow for metric, flow in found if flow is not None and metric == "packets_sent"}
    lost = 0.0
    for flow in sorted(flows):
        sent, received, gone, queued = (
            found[f"packets_{what}", flow] for what in ("sent", "received", "lost", "queued")
        )
        lost += gone
        if sent != received + gone + queued:
            raise Failed(f"{flow}: {sent} sent, {received} received, {gone} lost, {queued} queued")
        offered = cell.load.offered_mbps
        if offered is None or cell.load.application != "stream":
            continue
        bps = found["throughput_bps", flow]
        most = 1e6 * offered * cell.load.flows_per_station + _first_writes(cell)
        if cell.load.arrivals == "constant" and bps > most:
            raise Failed(f"{flow}: {bps} bit/s of {1e6 * offered} offered")
    causes = sum(
        v for (m, flow), v in found.items() if flow is None and m.startswith("packets_lost_")
    )
    if flows and causes != lost:
        raise Failed(f"{lost} packets are lost, and {causes} have a cause")
    if any(not math.isfinite(value) for value in found.values()):
        raise Failed("a reading is not finite")


def _first_writes(cell: Cell) -> float:
    """Two datagrams or writes, bit/s: a paced flow begins with one, and may end with another."""
    load = cell.load
    write = (load.payload_bytes or 1472) if load.transport == "udp" else (load.write_bytes or 8192)
    return 16 * write / load.duration_s


def goodputs(case: Case) -> list[float]:
    """The sum of all flows' throughput in a few trials, bit/s."""
    cell = case.cell()
    if cell is None:
        raise Skipped
    return [
        sum(v for (m, flow), v in values_of(cell, seed).items() if m == "throughput_bps" and flow)
        for seed in range(1, SEEDS + 1)
    ]


def _spread(of: list[float]) -> float:
    return stdev(of) / math.sqrt(len(of))


def _at_most(low: list[float], high: list[float], words: str, times: float = 1.0) -> None:
    most = times * fmean(high) * (1 + FLOOR) + 4 * (_spread(low) + times * _spread(high))
    if fmean(low) > most:
        raise Failed(f"{words}: {fmean(low):.6g} bit/s is more than {times * fmean(high):.6g}")


def _equal(a: list[float], b: list[float], words: str, times: float = 1.0) -> None:
    _at_most(a, b, words, times)
    _at_most([times * one for one in b], a, words)


def each_trial_holds(case: Case) -> None:
    """Nothing beyond what holds for each trial."""
    goodputs(case)


def more_octets_are_never_faster(case: Case) -> None:
    """A longer cipher, and a tunnel, on the same PHY."""
    for less, more in MORE:
        _at_most(goodputs(case.but(more)), goodputs(case.but(less)), f"{more} beats {less}")
    plain = case.but("wpa2-psk-ccmp")
    _at_most(goodputs(plain.but("wpa2-psk-ccmp+wireguard")), goodputs(plain), "a tunnel is faster")


def equal_octets_are_equal(case: Case) -> None:
    """Policies that differ in their keys, and in their beacons, alone."""
    silent = case.but(beacons=False)
    for one, other in EQUAL:
        a, b = (goodputs(silent.but(name)) for name in (one, other))
        if a != b:
            raise Failed(f"{one} and {other}: {a} and {b} bit/s")


def order_changes_no_total(case: Case) -> None:
    """The stations in the opposite order."""
    stations = case.scenario["stations"]
    if len(stations) < 2:
        raise Skipped
    _equal(goodputs(case), goodputs(case.but(stations=stations[::-1])), "another order")


def twice_the_time_keeps_the_mean(case: Case) -> None:
    """A trial of twice the duration, behind the same warm-up."""
    same = case.but(t_warm_up_s=0.2)
    longer = same.but(t_duration_s=2 * case.traffic["duration_s"])
    _equal(goodputs(same), goodputs(longer), "twice the duration")


def an_idle_station_changes_nothing(case: Case) -> None:
    """A further station without traffic, with the same seed: no reading differs by a bit."""
    names = [one["name"] for one in case.scenario["stations"]]
    more = [*case.scenario["stations"], {"name": "idle", "rssi_dbm": -50}]
    cell, with_idle = case.cell(), case.but(stations=more, t_stations=names).cell()
    if cell is None or with_idle is None:
        raise Skipped
    for seed in range(1, SEEDS + 1):
        alone, beside = values_of(cell, seed), values_of(with_idle, seed)
        for key in sorted(alone.keys() | beside.keys(), key=str):
            if alone.get(key) != beside.get(key):
                raise Failed(f"{key}: {alone.get(key)}; with an idle station {beside.get(key)}")


def _closed_form_bps(case: Case) -> float | None:
    cell = case.cell()
    if cell is None or Analytic().check(cell) is not None:
        return None
    rows = Analytic().measure(Trial(cell, 1, 1, 1)).rows
    return sum(r.value for r in rows if r.metric == "throughput_bps" and r.flow is not None)


def no_goodput_above_the_closed_form(case: Case) -> None:
    """The closed form of a lone station on a clean channel, which is that of a long time.

    TCP's closed form lets a backoff precede each frame. In the simulator an acknowledgement's runs
    while that of a segment does, of three backoffs at most one.
    """
    bare = case.but(stations=case.scenario["stations"][:1])
    cell, most = bare.cell(), _closed_form_bps(bare)
    if cell is None or not most:
        raise Skipped
    if cell.load.transport == "tcp":
        without = _closed_form_bps(bare.but(cw_min=0, cw_max=0))
        if without is not None and without > most:
            most = 1 / (1 / most - (1 / most - 1 / without) / 3)
    if cell.load.offered_mbps is not None:
        most += _first_writes(cell)
    _at_most(goodputs(bare), [most] * 2, "more than the closed form")


def a_capture_holds_what_was_counted(case: Case) -> None:
    """The reader finds in a capture the joins, the octets and the times of the simulator.

    Captures hold the frames that a receiver decoded. So octets are compared where nothing was
    lost, but for the PPDUs that the end of the trial cuts off. The simulator books delimiters and
    padding of A-MPDUs to MAC octets, up to 7 for each MPDU; captures do not have them.
    """
    own = case.but(
        case.policy.split("+", maxsplit=1)[0],
        authenticate=True,
        stations=case.scenario["stations"][:1],
        t_duration_s=0.1,
    )
    cell = own.cell()
    if cell is None:
        raise Skipped
    with tempfile.TemporaryDirectory() as folder:
        measured = Simulator().measure(Trial(cell, 1, 1, 1), Path(folder))
        if measured.failure is not None:
            raise Failed(f"the trial failed: {measured.failure}")
        files = {file.name: file for file in measured.files}
        read = capture_report([files["air.pcapng"]], key_logs=[files["keys.json"]]).data
    if read["damage"] is not None or read["decrypted"] != read["protected"]:
        raise Failed(f"{read['protected']} protected, {read['decrypted']} decrypted")
    if read["outcomes"] != {"connected": 1}:
        raise Failed(f"one station joined; the capture holds {read['outcomes']}")
    (session,) = read["sessions"]
    ledger = read["ledger"]["total"]
    rows = [row for row in measured.rows if row.second is None and row.flow is None]
    joined = {row.metric: row.value for row in rows if row.station is not None}
    counted = {row.metric: row.value for row in rows if row.station is None}
    if session["authentication_messages"] != joined["authentication_messages"]:
        raise Failed(
            f"{joined['authentication_messages']} messages; the capture holds "
            f"{session['authentication_messages']}"
        )
    if ledger["retries"] or counted["octets_retry"]:
        return
    took, seen = joined.get("key_handshake_time_s"), session["key_handshake_time_s"]
    if (took is None) != (seen is None) or abs((took or 0) - (seen or 0)) > 2e-9:
        raise Failed(f"keys took {took} s; in the capture {seen} s")
    octets = ledger["octets"]
    headers = counted["octets_mac"] + counted["octets_ip_transport"]
    data = read["ledger"]["data_frames"]
    unknown = 64 if cell.settings.fragmentation_threshold_octets else 0
    for kind, of, beyond in (
        ("payload", counted["octets_payload"], 0),
        ("security", counted["octets_security"], 0),
        ("headers", headers, 7 * data),
    ):
        cut = of - octets[kind]
        # One PPDU at the end, of as many octets as the longest. Of an MSDU in fragments the reader
        # tells headers from payload by its last fragment, which the end may cut off.
        if not -unknown <= cut <= beyond + _longest(own) * of / sum(octets.values()):
            raise Failed(f"{of} octets of {kind}; the capture holds {octets[kind]}")


def _longest(case: Case) -> int:
    """Octets that the end of a trial may cut off: a PPDU of its PHY."""
    return 2400 if case.scenario["phy"] in HIGHEST_MBPS else 1_000_000


def both_layers_cost_what_their_octets_cost(case: Case) -> None:
    """WireGuard over WPA2, as time of a datagram; OFDM symbols and bursts round each."""
    phy = case.scenario["phy"]
    if phy not in HIGHEST_MBPS:
        raise Skipped
    one = case.but(
        stations=case.scenario["stations"][:1],
        fragmentation_threshold_octets=None,
        tunnel_mtu_octets=None,
        t_transport="udp",
        t_payload_bytes=1000,
        t_offered_mbps=None,
        t_arrivals=None,
        t_direction=None,
        topology="uplink",
    )
    names = ("open", "wpa2-psk-ccmp", "open+wireguard", "wpa2-psk-ccmp+wireguard")
    bps = [goodputs(one.but(name)) for name in names]
    plain, cipher, tunnel, both = (8000 / fmean(of) for of in bps)
    noise = sum(4 * 8000 * _spread(of) / fmean(of) ** 2 for of in bps)
    difference = (both - plain) - (cipher - plain) - (tunnel - plain)
    if abs(difference) > noise + 8e-6:
        raise Failed(f"WireGuard over WPA2 costs {1e6 * difference:.3g} us more than both")


def two_equal_links_carry_twice_one(case: Case) -> None:
    """Two channels without losses: after a loss the one block ack window keeps both links back."""
    link = {"band": "6", "width_mhz": 40, "rssi_dbm": -30}
    keep = {"phy": "802.11be", "wired": {"rate_mbps": 10_000}, "queue_packets": 4000}
    traffic = {"transport": "udp", "duration_s": case.traffic["duration_s"]}
    topology = case.scenario.get("topology", "uplink")
    streams = {"streams": 2} if case.scenario.get("streams", 1) > 1 else {}
    one, two = (
        Case(
            {**keep, "topology": topology, "mlo": {"links": [link | streams] * count}},
            traffic,
            "wpa3-sae-ext-gcmp-256",
        )
        for count in (1, 2)
    )
    if one.cell() is None:
        single = {**link, **streams}
        one = Case({**keep, "topology": topology, **single}, traffic, one.policy)
    _equal(goodputs(two), goodputs(one), "two links", 2.0)


RELATIONS: tuple[Callable[[Case], None], ...] = (
    each_trial_holds,
    more_octets_are_never_faster,
    equal_octets_are_equal,
    each_trial_holds,
    order_changes_no_total,
    twice_the_time_keeps_the_mean,
    each_trial_holds,
    an_idle_station_changes_nothing,
    no_goodput_above_the_closed_form,
    both_layers_cost_what_their_octets_cost,
    each_trial_holds,
)
#: One case in so many compares two links with one; so many read a capture.
OF_LINKS, OF_CAPTURES = 40, 20
#: Keys that make single trials differ more than a few seeds can show.
WILD = ("rate_control", "radio", "hidden", "queue_type", "handover", "authenticate", "cw_min")


def _maybe(rng: random.Random, table: dict[str, Any], key: str, share: float, *of: Any) -> None:
    if rng.random() < share:
        table[key] = rng.choice(of)


def drawn(rng: random.Random, calm: bool) -> Case:
    """A scenario, valid or not; ``calm``: without what makes single trials wild."""
    phy = rng.choice(list(GENERATIONS))
    own: dict[str, Any] = {"phy": phy}
    topologies = ("uplink", "downlink") if calm else ("uplink", "downlink", "station-to-station")
    _maybe(rng, own, "topology", 0.6, *topologies)
    modern = phy not in HIGHEST_MBPS
    if modern:
        _maybe(rng, own, "width_mhz", 0.6, 20, 40, 80, 160, 320)
        _maybe(rng, own, "streams", 0.3, 1, 2)
        _maybe(rng, own, "mcs", 0.4, *range(12))
        _maybe(rng, own, "guard_interval_ns", 0.2, 400, 800, 1600)
        _maybe(rng, own, "amsdu_max_octets", 0.2, 3839, 7935)
        _maybe(rng, own, "ampdu_max_octets", 0.1, 0, 8191, 65535)
        _maybe(rng, own, "block_ack_window", 0.1, 8, 64)
    else:
        _maybe(rng, own, "rate_mbps", 0.3, 1, 5.5, 11, 6, 12, 24, 54)
        _maybe(rng, own, "fragmentation_threshold_octets", 0.15, 256, 700)
        _maybe(rng, own, "preamble", 0.1, "short", "long")
    _maybe(rng, own, "edca", 0.3, True)
    _maybe(rng, own, "beacons", 0.2, False)
    _maybe(rng, own, "protection", 0.2, "cts-to-self", "rts-cts")
    _maybe(rng, own, "rts_threshold_octets", 0.2, 0, 500, 1400)
    _maybe(rng, own, "retry_limit", 0.1, 1, 4)
    _maybe(rng, own, "queue_packets", 0.3, 4, 20, 100, 1000)
    _maybe(rng, own, "mtu_octets", 0.15, 576, 1280, 2304)
    _maybe(rng, own, "tunnel_mtu_octets", 0.15, 800, 1400, 1500)
    _maybe(rng, own, "wired", 0.2, {"rate_mbps": 10}, {"delay_us": 2000}, {"queue_packets": 30})
    if not calm:
        _maybe(rng, own, "rate_control", 0.25, "aarf", "minstrel")
        _maybe(rng, own, "queue_type", 0.3, "codel", "fq_codel")
        _maybe(rng, own, "queue_max_delay_ms", 0.2, 0, 20, 100)
        _maybe(rng, own, "cw_min", 0.15, 0, 3, 7)
        _maybe(rng, own, "airtime_fairness", 0.1, True)
        paths = {"fading": "rayleigh", "delay_spread_ns": 50}
        _maybe(rng, own, "radio", 0.2, {"fading": "rayleigh"}, {"shadowing_db": 6}, paths)
        _maybe(rng, own, "address_resolution", 0.15, "dynamic")
        _maybe(rng, own, "authenticate", 0.25, True)
        _maybe(rng, own, "dtim_period", 0.1, 3)
    names = "ABCDE"[: rng.choice((1, 1, 2, 3, 5))]
    levels = (-40, -50, -60, -65) if calm else (-40, -60, -75, -84, -90)
    own["stations"] = [{"name": name, "rssi_dbm": rng.choice(levels)} for name in names]
    if not calm:
        for one in own["stations"]:
            _maybe(rng, one, "mcs" if modern else "rate_mbps", 0.1, 1, 2, 6)
            _maybe(rng, one, "listen_interval", 0.1, 1, 3)
        pair = list(names[:2])
        _maybe(rng, own, "hidden", 0.2, *([[pair]] if len(pair) == 2 else [[]]))
        if rng.random() < 0.15:
            own |= {"authenticate": True, "handover": {"at_s": 0.1}}
    return Case(own, _traffic(rng, calm), rng.choice(LAYERS) + rng.choice(TUNNELS))


def _traffic(rng: random.Random, calm: bool) -> dict[str, Any]:
    traffic: dict[str, Any] = {"transport": rng.choice(("udp", "udp", "tcp"))}
    traffic["duration_s"] = 0.2 if calm else rng.choice((0.1, 0.2, 0.5))
    _maybe(rng, traffic, "ip", 0.2, "ipv6")
    _maybe(rng, traffic, "offered_mbps", 0.3, 0.1, 2, 20, 200)
    _maybe(rng, traffic, "direction", 0.3, "up", "down", "both")
    if traffic["transport"] == "udp":
        _maybe(rng, traffic, "payload_bytes", 0.6, 1, 40, 200, 700, 1472, 2000, 9000)
        _maybe(rng, traffic, "socket_buffer_kbytes", 0.1, 4, 64)
    else:
        _maybe(rng, traffic, "mss_bytes", 0.2, 64, 536, 1400)
        _maybe(rng, traffic, "window_kbytes", 0.2, 1, 16, 256)
        _maybe(rng, traffic, "tcp", 0.2, "cubic")
        _maybe(rng, traffic, "path_mtu_discovery", 0.1, False)
    _maybe(rng, traffic, "wmm", 0.15, "voice", "background", "video")
    if not calm:
        _maybe(rng, traffic, "arrivals", 0.2, "poisson")
        _maybe(rng, traffic, "application", 0.15, "voip", "request-response", "dns")
        _maybe(rng, traffic, "transfer_bytes", 0.1, 1, 100_000)
    return traffic


def datagrams_of(case: Case) -> float:
    """The datagrams that the flows of a trial offer beyond the pace of the channel, at most.

    Those of a stated rate; and behind a socket buffer that holds more than the queue, the rest of
    the buffer whenever a packet leaves the queue.
    """
    traffic = case.traffic
    octets = traffic.get("payload_bytes", traffic.get("mss_bytes", 1448))
    flows = len(case.scenario["stations"]) * (2 if traffic.get("direction") == "both" else 1)
    if "offered_mbps" in traffic:
        per_s = flows * traffic["offered_mbps"] * 1e6 / (8 * octets)
    else:
        buffered = 1024 * traffic.get("socket_buffer_kbytes", 0) / octets
        per_s = PACKETS_PER_S * max(0.0, buffered - case.scenario.get("queue_packets", 100))
    return per_s * traffic["duration_s"]


def case_of(number: int) -> tuple[Case, Callable[[Case], None]]:
    """The valid scenario of a number, and its relation."""
    relation = RELATIONS[number % len(RELATIONS)]
    if number % OF_LINKS == OF_LINKS - 1:
        relation = two_equal_links_carry_twice_one
    elif number % OF_CAPTURES == OF_CAPTURES - 1:
        relation = a_capture_holds_what_was_counted
    rng = random.Random(f"airtoll {number}")
    for _ in range(TRIES):
        case = drawn(rng, relation is not each_trial_holds)
        if datagrams_of(case) <= MOST_DATAGRAMS and case.cell() is not None:
            return case, relation
    raise AssertionError(f"no valid scenario in {TRIES} draws of case {number}")


def failure_of(case: Case, relation: Callable[[Case], None]) -> str | None:
    """The words of a failure, or None."""
    try:
        relation(case)
    except Skipped:
        return None
    except Failed as failed:
        return str(failed)
    except KeyboardInterrupt:
        raise
    except BaseException as error:  # a panic of the native code is no Exception
        return f"{type(error).__name__}: {error}"
    return None


def _smaller(case: Case) -> Iterator[Case]:
    """The case with one key, or one station, less."""
    for key in case.scenario:
        if key not in ("stations", "phy"):
            yield case.but(**{key: None})
    for key in case.traffic:
        if key not in ("transport", "duration_s"):
            yield case.but(**{f"t_{key}": None})
    if "+" in case.policy:
        yield case.but(case.policy.split("+", maxsplit=1)[0])
    if case.policy != "open":
        yield case.but("open")
    stations = case.scenario["stations"]
    for at in range(len(stations) if len(stations) > 1 else 0):
        yield case.but(stations=[*stations[:at], *stations[at + 1 :]])


def shrunk(case: Case, fails: Callable[[Case], bool]) -> Case:
    """The smallest case that still fails, one key after another left out."""
    while True:
        less = next((one for one in _smaller(case) if one.cell() is not None and fails(one)), None)
        if less is None:
            return case
        case = less


def tried(number: int) -> str | None:
    """The failure of a case, with the text of its smallest study file; None where it holds."""
    case, relation = case_of(number)
    words = failure_of(case, relation)
    if words is None:
        return None
    small = shrunk(case, lambda one: failure_of(one, relation) is not None)
    words = failure_of(small, relation) or words
    name = relation.__name__.replace("_", " ")
    return f"case {number}, {name}: {words}\n{small.toml()}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--from", dest="first", type=int, default=0)
    parser.add_argument("--to", type=int, default=5000)
    asked = parser.parse_args()
    failures = 0
    for number in range(asked.first, asked.to):
        if (words := tried(number)) is not None:
            failures += 1
            print(words, flush=True)
    print(f"{asked.to - asked.first} cases, {failures} failures")
    return failures > 0


if __name__ == "__main__":
    sys.exit(main())
