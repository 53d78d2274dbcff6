"""Random networks with one planted mechanism, measured in the simulator.

A network has a PHY, a width, an MCS, streams, a policy before and one after, a mechanism, and the
readings that its owner took. Each reading is the mean of some trials with their own seeds, before
and after, with the noise of a home on top. The owner asks because something is slow: readings are
drawn again until one of them shows the mechanism.
"""

from __future__ import annotations

import math
import random
import statistics
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from attrs import evolve, frozen

from airtoll.analyse.explain import MECHANISMS, Flow, Reading
from airtoll.analyse.explain.evidence import OF_FORM, Form, Quantity
from airtoll.capture import capture_report
from airtoll.plan import make_plan
from airtoll.run.explained_captures import Captured, captured
from airtoll.run.explaining import Link, cell_of, study_of, throughput_of
from airtoll.testbeds.simulator import Simulator

Tables = dict[str, Any]

TRIALS = 3
#: Guard interval of a link that states none, ns.
_GUARD_NS = 800
#: Throughput of TCP below which a test lasts as long as those of people.
_SLOW_BPS = 80e6
#: PHY, width, streams, range of MCSs (of one stream), rates of PHYs without MCSs.
RADIOS = (
    ("802.11a", 20, 1, (36.0, 54.0)),
    ("802.11g", 20, 1, (36.0, 54.0)),
    ("802.11n", 20, 1, (4, 7)),
    ("802.11n", 20, 2, (4, 7)),
    ("802.11n", 40, 1, (4, 7)),
    ("802.11n", 40, 2, (4, 7)),
    ("802.11ac", 40, 1, (5, 9)),
    ("802.11ac", 80, 1, (5, 9)),
    ("802.11ac", 80, 2, (4, 7)),
    ("802.11ax", 20, 2, (5, 11)),
    ("802.11ax", 40, 1, (5, 11)),
    ("802.11ax", 80, 1, (5, 9)),
)
PAIRS = (
    ("open", "wpa2-psk-ccmp"),
    ("open", "wpa3-sae-gcmp-256"),
    ("open", "owe-ccmp"),
    ("wpa2-psk-ccmp", "wpa3-sae-ccmp"),
    ("wpa2-psk-ccmp", "wpa3-sae-gcmp-256"),
)
CIPHERED = tuple(pair for pair in PAIRS if pair[1] != "wpa3-sae-ccmp")
WITH_PMF = tuple(pair for pair in PAIRS if pair[1] != "wpa2-psk-ccmp")
TUNNELS = (
    ("wpa2-psk-ccmp", "wpa2-psk-ccmp+wireguard"),
    ("wpa2-psk-ccmp", "wpa2-psk-ccmp+ipsec-aes-gcm"),
)


@frozen
class Network:
    """One network: what its owner states, and what is planted. Tables are those of a study."""

    name: str
    link: Link
    planted: str
    detail: str
    before: Tables
    after: Tables
    #: Changes of the traffic of TCP, before and after.
    tcp: tuple[Tables, Tables] = ({}, {})
    #: Further load of the second measurement.
    beside: tuple[Tables, ...] = ()
    #: Whether station A sends alone, of several.
    sender: bool = False


Plant = Callable[[random.Random, Path], Network]


def network(seed: str, kind: str, folder: Path) -> Network:
    """The network of a seed with a mechanism; device profiles are written to ``folder``."""
    rng = random.Random(seed)
    return evolve(PLANTS[kind](rng, folder), name=seed, planted=kind)


def _network(
    rng: random.Random,
    pairs: tuple[tuple[str, str], ...] = PAIRS,
    phys: tuple[str, ...] = (),
    detail: str = "",
    **after: Any,
) -> Network:
    radios = [radio for radio in RADIOS if not phys or radio[0] in phys]
    phy, width, streams, values = rng.choice(radios)
    before_policy, after_policy = rng.choice(pairs)
    scenario: Tables = {
        "phy": phy,
        "security_gates": "ignore",
        "rssi_dbm": -45.0,
        "queue_packets": 1000,
        "wired": {"rate_mbps": 1000.0, "delay_us": 200},
    }
    link = Link(phy, before=before_policy, after=after_policy)
    if phy in ("802.11a", "802.11g"):
        rate = rng.choice(values)
        scenario["rate_mbps"] = rate
        link = evolve(link, rate_mbps=rate)
    else:
        mcs = rng.randint(int(values[0]), int(values[1]))
        if phy == "802.11n":
            mcs += 8 * (streams - 1)
        scenario |= {"width_mhz": width, "streams": streams, "mcs": mcs}
        link = evolve(link, width_mhz=width, streams=streams, mcs=mcs)
    return Network("", link, "", detail, scenario, {**scenario, **after})


_HT = ("802.11n", "802.11ac", "802.11ax")
_OLD = ("802.11a", "802.11g")


def _profile(folder: Path, name: str, text: str) -> str:
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / f"{name}.toml"
    file.write_text('about = "made"\nclock_hz = { value = 1e9, source = "made" }\n' + text, "utf-8")
    return str(file)


def _number(value: float) -> str:
    return f'{{ value = {value}, source = "made" }}'


def _at(place: str, profile: str) -> Tables:
    if place == "ap":
        return {"ap": {"profile": profile}}
    return {"stations": [{"name": "A", "profile": profile}]}


def _air(found: Network, policy: str, payload: int = 1472) -> float:
    """Throughput of datagrams, bit/s."""
    traffic = {"transport": "udp", "payload_bytes": payload, "duration_s": 0.3}
    alone = {key: value for key, value in found.before.items() if key != "clients"}
    return throughput_of({**alone, "topology": "uplink"}, traffic, policy)


def _octets(rng: random.Random, _: Path) -> Network:
    return _network(rng)


def _no_aggregation(rng: random.Random, _: Path) -> Network:
    return _network(rng, WITH_PMF, _HT, ampdu_max_octets=0)


def _legacy(rng: random.Random, _: Path) -> Network:
    # The simulator keeps the station off HT rates by itself.
    pairs = (("open", "wpa2-psk-tkip"), ("wpa2-psk-ccmp", "wpa2-psk-tkip"), ("open", "wep-104"))
    return _network(rng, pairs, _HT)


def _software(rng: random.Random, folder: Path) -> Network:
    found = _network(rng, CIPHERED)
    cap = _air(found, "open") * math.exp(rng.uniform(math.log(0.12), math.log(0.75)))
    frame = math.exp(rng.uniform(math.log(40), math.log(500)))
    ns = 8e9 * 1472 / cap / (1500 + frame)
    suite = "gcmp-256" if "gcmp" in found.link.after else "ccmp-128"
    text = f'[cipher.{suite}]\nengine = "cpu"\nframe_cycles = {_number(ns * frame)}\n'
    text += f"octet_cycles = {_number(ns)}\n"
    place = rng.choice(("ap", "station"))
    profile = _profile(folder, f"cipher-{rng.getrandbits(40)}", text)
    detail = f"{ns:.0f} ns per octet, {ns * frame / 1e3:.1f} us per frame, {place}"
    return evolve(found, detail=detail, after={**found.after, **_at(place, profile)})


def _card(rng: random.Random, folder: Path) -> Network:
    found = _network(rng, CIPHERED, _OLD)
    us = math.exp(rng.uniform(math.log(25), math.log(200)))
    suite = "gcmp-256" if "gcmp" in found.link.after else "ccmp-128"
    text = f'[card]\noverlap = "serial"\n[card.cipher.{suite}]\nframe_us = {_number(us)}\n'
    place = rng.choice(("ap", "station"))
    profile = _profile(folder, f"card-{rng.getrandbits(40)}", text)
    detail = f"{us:.0f} us per frame, {place}"
    return evolve(found, detail=detail, after={**found.after, **_at(place, profile)})


def _weak(rng: random.Random, _: Path) -> Network:
    found = _network(rng)
    wanted = rng.uniform(0.1, 0.35)
    low, high = -95.0, -40.0
    for _step in range(12):
        middle = (low + high) / 2
        scenario = {**found.after, "topology": "uplink", "rssi_dbm": middle}
        rows = _rows(scenario, {"transport": "udp", "duration_s": 0.15}, found.link.after, 1)
        retried = rows["octets_retry"]
        lost = retried / (retried + 1.05 * rows["octets_payload"] + 1)
        low, high = (middle, high) if lost > wanted else (low, middle)
    detail = f"{high:.1f} dBm, {wanted:.2f} of full frames lost"
    return evolve(found, detail=detail, after={**found.after, "rssi_dbm": high})


def _wire(rng: random.Random, _: Path) -> Network:
    while True:
        found = _network(rng)
        air = _air(found, "open") / 1e6
        rates = [rate for rate in (10.0, 100.0) if rate < 0.8 * air]
        if rates:
            break
    wire = {"wired": {"rate_mbps": rng.choice(rates), "delay_us": 200}}
    return evolve(
        found,
        detail=f"{wire['wired']['rate_mbps']} Mb/s",
        before={**found.before, **wire},
        after={**found.after, **wire},
    )


def _rate(rng: random.Random, _: Path) -> Network:
    while True:
        found = _network(rng)
        if "mcs" in found.after:
            steps = rng.randint(1, 5)
            mcs = int(found.after["mcs"]) - steps
            same_streams = mcs % 8 < int(found.after["mcs"]) % 8 or found.link.phy != "802.11n"
            if mcs >= 0 and same_streams:
                break
        else:
            rates = (9.0, 12.0, 18.0, 24.0, 36.0, 48.0, 54.0)
            steps = rng.randint(1, 4)
            at = rates.index(found.after["rate_mbps"]) - steps
            if at >= 0:
                return evolve(
                    found, detail=f"{rates[at]} Mb/s", after={**found.after, "rate_mbps": rates[at]}
                )
    return evolve(found, detail=f"{steps} lower", after={**found.after, "mcs": mcs})


def _neighbour(rng: random.Random, _: Path) -> Network:
    found = _network(rng)
    if rng.random() < 0.5:
        duty, period = rng.uniform(0.15, 0.55), rng.uniform(1.5, 12.0)
        radio = {"kind": "neighbour", "level_dbm": rng.uniform(-75, -60), "duty": duty}
        radio["period_ms"] = period
        before = {**found.before, "rssi_dbm": -50.0}
        after = {**found.after, "radio": {"interferer": radio}, "rssi_dbm": -50.0}
        detail = f"hidden, {duty:.2f} of {period:.1f} ms"
        return evolve(found, detail=detail, before=before, after=after)
    station: Tables = {"name": "B"}
    if "mcs" in found.after:
        base = 8 * (found.link.streams - 1) if found.link.phy == "802.11n" else 0
        station["mcs"] = base + rng.randint(1, 4)
    share = rng.uniform(0.15, 0.6)
    own = found.before | ({"mcs": station["mcs"]} if "mcs" in station else {})
    carried = _air(evolve(found, before=own), "open")
    load = {
        "name": "n",
        "transport": "udp",
        "direction": "up",
        "stations": ["B"],
        "offered_mbps": share * carried / 1e6,
    }
    after = {**found.after, "stations": [{"name": "A"}, station]}
    return evolve(found, detail=f"contending, {share:.2f} of the air", after=after, beside=(load,))


def _group(rng: random.Random, _: Path) -> Network:
    found = _network(rng)
    share = rng.uniform(0.12, 0.5)
    # 1232 octets at the lowest rate with preamble and contention take 2 ms; five clients.
    load = {"mdns_per_min": 60 * share / 2e-3 / 5, "mdns_bytes": 1232}
    return evolve(
        found,
        detail=f"about {share:.2f} of the air",
        before={**found.before, "clients": 5},
        after={**found.after, "clients": 5, "group_load": load},
        sender=True,
    )


def _power_save(rng: random.Random, folder: Path) -> Network:
    found = _network(rng)
    text = "[energy]\n" + "".join(
        f"{key} = {_number(value)}\n"
        for key, value in (
            ("idle_w", 0.3),
            ("tx_w", 0.3),
            ("rx_w", 0.0),
            ("cpu_w", 0.0),
            ("doze_w", 0.003),
            ("beacon_awake_ms", 3),
        )
    )
    station = {
        "name": "A",
        "profile": _profile(folder, "doze", text),
        "listen_interval": rng.randint(1, 3),
        "doze_after_ms": rng.choice((10, 50, 100)),
    }
    detail = f"listens to each beacon {station['listen_interval']}"
    return evolve(found, detail=detail, after={**found.after, "stations": [station]})


def _host(rng: random.Random, folder: Path) -> Network:
    found = _network(rng, TUNNELS, (*_HT, "802.11a"))
    cap = _air(found, "open") * math.exp(rng.uniform(math.log(0.1), math.log(0.65)))
    octets = rng.uniform(0.0, 0.4)
    seconds = 8 * 1350 / cap
    suite = "wireguard" if "wireguard" in found.link.after else "esp-aes-gcm"
    text = f"[tunnel.{suite}]\npacket_cycles = {_number(1e9 * seconds * (1 - octets))}\n"
    text += f"octet_cycles = {_number(1e9 * seconds * octets / 1440)}\n"
    place = rng.choice(("ap", "station"))
    profile = _profile(folder, f"tunnel-{rng.getrandbits(40)}", text)
    after = {**found.after, **_at(place, profile)}
    if place == "ap":
        after["tunnel_end"] = "access-point"
    detail = f"{seconds * 1e6:.0f} us per packet, {place}"
    return evolve(found, detail=detail, after=after)


def _black_hole(rng: random.Random, _: Path) -> Network:
    found = _network(rng, TUNNELS[1:], (*_HT, "802.11a"))
    mtu = rng.choice((1300, 1380, 1400))
    after = {**found.after, "path_mtu_octets": mtu, "pmtud": "black_hole"}
    return evolve(found, detail=f"path MTU {mtu}", after=after)


def _short(rng: random.Random, _: Path) -> Network:
    found = _network(rng)
    delay = rng.uniform(8e3, 30e3)
    wire = {"wired": {"rate_mbps": 1000.0, "delay_us": delay}}
    seconds = rng.uniform(0.3, 0.8)
    window = {"window_kbytes": 4096}
    return evolve(
        found,
        detail=f"{seconds:.1f} s at a round trip of {2e-3 * delay:.0f} ms",
        before={**found.before, **wire},
        after={**found.after, **wire},
        tcp=(
            {**window, "duration_s": 8.0, "warm_up_s": 3.0},
            {**window, "duration_s": seconds, "warm_up_s": 0.0},
        ),
    )


def _narrower(rng: random.Random, _: Path) -> Network:
    while True:
        found = _network(rng, phys=_HT)
        widths = [width for width in (20, 40) if width < found.link.width_mhz]
        if not widths:
            continue
        width = rng.choice(widths)
        after = {**found.after, "width_mhz": width}
        if found.link.phy == "802.11ac" and width == 20:
            # VHT has no MCS 9 there.
            after["mcs"] = min(8, after["mcs"])
        return evolve(found, detail=f"{found.link.width_mhz} to {width} MHz", after=after)


def _fewer_streams(rng: random.Random, _: Path) -> Network:
    while True:
        found = _network(rng, phys=_HT)
        if found.link.streams > 1:
            break
    mcs = found.after["mcs"] - (8 if found.link.phy == "802.11n" else 0)
    after = {**found.after, "streams": 1, "mcs": mcs}
    return evolve(found, detail="2 streams to 1", after=after)


def _long_guard(rng: random.Random, _: Path) -> Network:
    found = _network(rng, phys=_HT)
    short, longer = (800, (1600, 3200)) if found.link.phy == "802.11ax" else (400, (800,))
    guard = rng.choice(longer)
    return evolve(
        found,
        detail=f"{short} to {guard} ns",
        link=evolve(found.link, guard_interval_ns=short),
        before={**found.before, "guard_interval_ns": short},
        after={**found.after, "guard_interval_ns": guard},
    )


PLANTS: Mapping[str, Plant] = {
    "octets": _octets,
    "no aggregation": _no_aggregation,
    "legacy rates": _legacy,
    "software cipher": _software,
    "serial card": _card,
    "weak level": _weak,
    "wired link": _wire,
    "rate control": _rate,
    "another network": _neighbour,
    "group traffic": _group,
    "power save": _power_save,
    "CPU of a host": _host,
    "path MTU black hole": _black_hole,
    "short measurement": _short,
    "narrower channel": _narrower,
    "fewer streams": _fewer_streams,
    "long guard interval": _long_guard,
}


def _rows(
    scenario: Tables, traffic: Tables, policy: str, seed: int, captures: Path | None = None
) -> dict[str, float]:
    """Values of the cell; of the first flow where the cell has none of its own."""
    cell = cell_of(scenario, traffic, policy)
    bed = Simulator()
    skip = bed.check(cell)
    if skip is not None:
        raise SystemExit(f"{policy}: {skip.reason}: {scenario} {traffic}")
    trial = make_plan(study_of(scenario, traffic, policy)).trial(cell, seed, seed)
    rows = [
        row
        for row in bed.measure(trial, captures).rows
        if row.second is None and not (row.flow or "").startswith("n-")
    ]
    values: dict[str, float] = {}
    for row in rows:
        if row.metric not in values or (row.flow is None and not traffic.get("beside")):
            values[row.metric] = row.value
    if traffic.get("beside"):
        values["throughput_bps"] = sum(
            row.value for row in rows if row.metric == "throughput_bps" and row.flow is not None
        )
    return values


def _capture(found: Network, which: str, flow: Flow) -> Captured | None:
    """A capture of the owner's station beside a test of two seconds."""
    policy = found.link.before if which == "before" else found.link.after
    scenario, traffic = _tables(found, which, flow)
    if not found.tcp[0]:
        traffic |= {"duration_s": 2.2, "warm_up_s": 0.0}
    with tempfile.TemporaryDirectory() as folder:
        _rows(scenario, traffic, policy, 1 if which == "before" else 101, Path(folder))
        ledger = capture_report([*Path(folder).rglob("*.pcapng")]).ledger
    if not ledger["stations"]:
        return None
    return captured(ledger, min(ledger["stations"], key=lambda one: one["address"]), flow.down)


def _tables(found: Network, which: str, flow: Flow) -> tuple[Tables, Tables]:
    """Scenario and traffic of a test with TCP, or of datagrams without their length and load.

    ``which``: ``before``, ``after``, or ``again``: the first policy once more, where all else is as
    it was when the second one was measured.
    """
    around = MECHANISMS[found.planted].where == "surroundings"
    first = which == "before" or (which == "again" and not around)
    scenario = dict(found.before if first else found.after)
    scenario["topology"] = "downlink" if flow.down else "uplink"
    traffic: Tables = {"transport": flow.transport}
    if flow.transport == "tcp":
        traffic |= {"duration_s": 2.0, "warm_up_s": 0.5, "window_kbytes": 2048}
        traffic |= found.tcp[0 if first else 1]
    if found.sender or found.beside:
        traffic["stations"] = ["A"]
    if found.beside and not first:
        traffic["beside"] = list(found.beside)
    return scenario, traffic


def _measure(
    found: Network, which: str, kind: str, flow: Flow, seed: int, offered: float
) -> float | None:
    """One trial of one reading."""
    scenario, traffic = _tables(found, which, flow)
    if flow.transport == "udp":
        traffic |= {"payload_bytes": flow.payload, "offered_mbps": offered / 1e6}
        traffic["duration_s"] = 10.0 if kind == "delay_s" else 0.6
        if kind == "loss_ratio":
            # Long against the time that queues take to fill.
            traffic["duration_s"] = 3.0
            scenario["queue_packets"] = 100
        if flow.flows > 1:
            traffic["flows_per_station"] = flow.flows
            traffic["offered_mbps"] = offered / flow.flows / 1e6
    policy = found.link.after if which == "after" else found.link.before
    values = _rows(scenario, traffic, policy, seed)
    if flow.transport == "tcp" and not found.tcp[0] and values.get(kind, 0.0) < _SLOW_BPS:
        # A slow link recovers from the first overflow of a queue within seconds.
        traffic |= {"duration_s": 10.0, "warm_up_s": 2.0}
        values = _rows(scenario, traffic, policy, seed)
    if kind == "loss_ratio":
        # A backlog of a simulated CPU has no end: what does not arrive in time counts as lost.
        late = 1 - values.get("throughput_bps", 0.0) / offered
        return max(values.get(kind, 1.0), late if late > 0.02 else 0.0)
    return values.get(kind, 0.0 if kind == "throughput_bps" else None)


#: A capture beside TCP down is one thing to take, and gives all of these.
CAPTURED = (
    "retry_share",
    "busy_share",
    "others_share",
    "group_share",
    "mpdus_per_frame",
)
#: Of what a capture tells, `iw` prints these, one by one.
_OF_IW = ("rate_bps", "signal_dbm")
_DOWN = Flow("tcp", True)


def _wanted(rng: random.Random, found: Network) -> list[tuple[str, Flow]]:
    """The readings that an owner may take; datagrams fit into the tunnel."""
    full = 1350 if "+" in found.link.after else 1472
    return [
        ("throughput_bps", _DOWN),
        ("throughput_bps", Flow("tcp", False)),
        ("throughput_bps", Flow("udp", True, full)),
        ("throughput_bps", Flow("udp", False, full)),
        ("throughput_bps", Flow("udp", True, rng.choice((100, 200, 400)))),
        ("loss_ratio", Flow("udp", True, full, 4)),
        ("delay_s", Flow("udp", True, 64)),
        ("capture", _DOWN),
    ]


def readings(found: Network, noise: float) -> list[Reading]:
    """The readings of a network's owner.

    ``noise``: standard deviation of the logarithm of a mean, besides the seeds' own.
    """
    rng = random.Random(f"{found.name} readings")
    all_readings: dict[int, list[Reading]] = {}
    wanted = _wanted(rng, found)
    for _ in range(60):
        chosen = [at for at in range(len(wanted)) if rng.random() < 0.6]
        if len(chosen) < 3:
            continue
        for at in chosen:
            if at not in all_readings:
                all_readings[at] = _readings(rng, found, *wanted[at], noise)
        taken = [all_readings[at] for at in chosen if all_readings[at]]
        flat = [one for some in taken for one in some]
        if len(taken) >= 3 and (
            # Nothing is slow, or both measurements are, or all that is seen is a lower rate.
            found.planted in ("octets", "wired link", "long guard interval")
            or any(map(_shows, flat))
        ):
            return flat
    return [one for some in all_readings.values() for one in some]


def further(found: Network, asked: Reading, noise: float) -> list[Reading]:
    """The readings of a measurement that an answer asked for, under both policies."""
    rng = random.Random(f"{found.name} {asked.quantity} {asked.flow}")
    flow = asked.flow
    if asked.quantity in CAPTURED:
        return _readings(rng, found, "capture", _DOWN, noise)
    if asked.quantity in _OF_IW:
        told = _readings(rng, found, "capture", _DOWN, noise)
        return [one for one in told if one.quantity == asked.quantity]
    if asked.quantity in OF_FORM:
        return _printed(found, asked.quantity)
    if flow.transport == "udp" and "+" in found.link.after:
        flow = evolve(flow, payload=min(flow.payload, 1350))
    return _readings(rng, found, asked.quantity, flow, noise, asked.offered_bps)


def _printed(found: Network, quantity: Form) -> list[Reading]:
    """A part of the link's form, as `iw` prints it without error; none without MCSs."""
    if "mcs" not in found.before:
        return []
    key = {"guard_ns": "guard_interval_ns"}.get(quantity, quantity)
    pair = [float(tables.get(key, _GUARD_NS)) for tables in (found.before, found.after)]
    if found.planted == "legacy rates":
        # The station has fallen back to 802.11a, which has no guard interval to print.
        if quantity == "guard_ns":
            return []
        pair[1] = 20.0 if quantity == "width_mhz" else 1.0
    return [Reading(quantity, _DOWN, pair[0], pair[1], 0.01)]


def _readings(
    rng: random.Random,
    found: Network,
    kind: str,
    flow: Flow,
    noise: float,
    load: float | None = None,
) -> list[Reading]:
    if kind != "capture":
        one = _reading(rng, found, kind, flow, noise, load)
        return [] if one is None else [one]
    pair = [_capture(found, which, flow) for which in ("before", "after")]
    if pair[0] is None or pair[1] is None:
        return []
    values: dict[Quantity, tuple[float | None, float | None, float]] = {
        "retry_share": (pair[0].retries, pair[1].retries, 0.01),
        "rate_bps": (pair[0].rate_bps, pair[1].rate_bps, 0.02),
        "busy_share": (pair[0].busy, pair[1].busy, 0.02),
        "others_share": (pair[0].others, pair[1].others, 0.02),
        "group_share": (pair[0].group, pair[1].group, 0.02),
        "mpdus_per_frame": (pair[0].mpdus, pair[1].mpdus, 0.1),
        **{
            quantity: (value, pair[1].form[quantity], 1.0 if quantity == "signal_dbm" else 0.01)
            for quantity, value in pair[0].form.items()
        },
    }
    return [
        Reading(kind, flow, before, after, error)
        for kind, (before, after, error) in values.items()
        if before is not None and after is not None
    ]


def _shows(reading: Reading) -> bool:
    """Whether a reader would ask: a tenth of the throughput, a doubled delay, a share of 0.05."""
    before, after = reading.before or 0.0, reading.after or 0.0
    if reading.quantity == "throughput_bps":
        return after < 0.9 * before
    if reading.quantity == "delay_s":
        return after > 2 * before
    return reading.quantity in ("loss_ratio", "retry_share") and after > before + 0.05


def _reading(
    rng: random.Random,
    found: Network,
    kind: str,
    flow: Flow,
    noise: float,
    load: float | None,
) -> Reading | None:
    offered = 0.0
    if kind == "throughput_bps" and flow.transport == "udp":
        offered = 1.15 * _air(found, found.link.before, flow.payload)
    elif kind == "loss_ratio" and load is not None:
        offered = load
    elif kind == "loss_ratio":
        full = _trials(
            found,
            "before",
            "throughput_bps",
            evolve(flow, flows=1),
            1.15 * _air(found, found.link.before, flow.payload),
        )
        load = offered = 0.6 * statistics.fmean(full)
    elif kind == "delay_s":
        offered = 64 * 8 * 2.0
    throughput = "throughput_bps" if kind == "again_bps" else kind
    before = _trials(found, "before", throughput, flow, offered)
    second = "again" if kind == "again_bps" else "after"
    after = _trials(found, second, throughput, flow, offered)
    if not before or not after:
        return None
    pair = statistics.fmean(before), statistics.fmean(after)
    if kind == "loss_ratio":
        error = math.hypot(0.01, *(_error(one) for one in (before, after)))
        return Reading(kind, flow, *pair, error, load)  # type: ignore[arg-type]
    noisy = [value * math.exp(rng.gauss(0, noise)) for value in pair]
    error = math.hypot(
        *(_error(one) / max(statistics.fmean(one), 1e-9) for one in (before, after)), noise * 1.4
    )
    return Reading(kind, flow, *noisy, error, load)  # type: ignore[arg-type]


def _error(values: list[float]) -> float:
    return statistics.stdev(values) / math.sqrt(len(values)) if len(values) > 1 else 0.0


def _trials(found: Network, which: str, kind: str, flow: Flow, offered: float) -> list[float]:
    own = {"before": 0, "after": 100, "again": 200}[which]
    values = [_measure(found, which, kind, flow, 1 + n + own, offered) for n in range(TRIALS)]
    return [value for value in values if value is not None]
