"""Write the page on real devices: predicted against printed figures of chips and routers.

Simulates each configuration whose source states its PHY, predicts WireGuard on machines whose
processor is known, and writes the tables and the figure of docs/reference/real-devices.md between
its markers. With --check it says whether the page is out of date. ``--chip NAME`` compares the
rows of one chip only, which is quick, and writes nothing. It changes no word outside the markers.
"""

from __future__ import annotations

import itertools
import math
import re
import statistics
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from fnmatch import fnmatchcase
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from attrs import evolve, frozen

from airtoll.analyse.audit import audit
from airtoll.analyse.tunnel_hosts import Machine, fit, halves, machines
from airtoll.drawing.plate import INK, develop_panel, legend_below, new_plate
from airtoll.observe.datasets import list_datasets, load_dataset
from airtoll.plan import Cell, Trial, make_plan
from airtoll.report.palette import colour
from airtoll.run.host_limit import host_limit, predict, throughput_bps
from airtoll.study import Study
from airtoll.study.generations import GENERATIONS
from airtoll.testbeds.contract import Row
from airtoll.testbeds.simulator import Simulator

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "reference" / "real-devices.md"
PICTURE = ROOT / "docs" / "pictures" / "real-devices.svg"
README = ROOT / "README.md"
_MARK = re.compile(r"<!-- devices: (.+?) -->\n(.*?)<!-- end of devices -->\n", re.DOTALL)

#: Data sets whose links say the MCS, so that a cell can be simulated.
CHIPS: Final = ("nxp-chips", "qualcomm-qcc74x")
#: Basic rates of a network at 2.4 GHz that takes stations of 802.11b, too: NXP prints "BGN mode".
_B_RATES: Final = (1.0, 2.0, 5.5, 11.0)
#: The name of a link: its PHY, and the A-MPDUs of its sender's and receiver's documentation.
_LINK: Final = (
    "phy",
    "band",
    "width_mhz",
    "mcs",
    "guard_interval_ns",
    "block_ack_window",
    "rts_threshold_octets",
)
#: Default length of a datagram of iperf 2.
_IPERF_OCTETS: Final = 1470
#: A printed figure within this share of the stated load is the load.
_AT_LOAD: Final = 0.03
#: Half of the last printed digit of NXP's tables, bit/s.
_HALF_DIGIT: Final = 0.5e6
#: Loss of throughput under WPA2 or WPA3 beyond which a device, not the air, is the cause: CCMP adds
#: 16 octets to each frame of 1,500.
_OWN: Final = 0.03
#: Error beyond which a reading is off: the goal of 3 %, and half a digit of the smallest figures.
_OFF: Final = 0.05
_SECURED: Final = ("wpa2-psk-ccmp", "wpa3-sae-ccmp")


@frozen
class Reading:
    """One printed throughput and ours. ``air_bps``: None without a PHY that can be simulated."""

    dataset: str
    device: str
    role: str
    link: str
    sends: bool
    transport: str
    policy: str
    printed_bps: float
    air_bps: float | None
    cell: Cell | None
    limit: str = ""

    @property
    def key(self) -> tuple[str, ...]:
        """The place of a reading without its policy."""
        return (self.dataset, self.device, self.role, self.link, str(self.sends), self.transport)

    @property
    def error(self) -> float:
        """Air over printed, less 1."""
        assert self.air_bps is not None
        return self.air_bps / self.printed_bps - 1


@cache
def cell_of(link: str, way: str, transport: str, policy: str) -> Cell:
    """The cell of a link, written as ``phy band width mcs guard window rts``; ``-``: not stated."""
    phy, band, width, mcs, guard, window, rts = link.split()
    scenario: dict[str, Any] = {
        "phy": phy,
        "band": band,
        "width_mhz": int(width),
        "mcs": int(mcs),
        "guard_interval_ns": int(guard),
        "wired": {"rate_mbps": 1000},
    }
    if band == "2.4":
        scenario["basic_rates_mbps"] = list(_B_RATES)
    if window != "-":
        scenario["block_ack_window"] = int(window)
    if rts != "-":
        scenario["rts_threshold_octets"] = int(rts)
    load: dict[str, Any] = {"transport": transport, "direction": way, "duration_s": 1.0}
    if transport == "udp":
        load["payload_bytes"] = _IPERF_OCTETS
    data = {
        "study": {"name": "devices", "title": "Devices", "baseline": "open"},
        "scenario": {"link": scenario},
        "traffic": {"load": load},
        "grid": {"scenario": ["link"], "traffic": ["load"], "policy": [policy]},
    }
    return make_plan(Study.model_validate(data)).cells[0]


@cache
def air_bps(link: str, way: str, transport: str, policy: str) -> float:
    """Throughput of the simulated air, without any host."""
    return throughput_bps(cell_of(link, way, transport, policy), Simulator())


def readings(chip: str | None = None) -> Iterator[Reading]:
    """Printed throughputs of chips with ours."""
    for name in CHIPS:
        dataset = load_dataset(name)
        impossible = {
            finding.where
            for finding in audit(dataset)
            if finding.kind == "above_phy_ceiling" and finding.severity == "error"
        }
        for row in dataset.figures.iter_rows(named=True):
            configuration = row["configuration"]
            if "smallest buffers" in configuration:
                continue
            device = configuration.split(" 802.11")[0].removesuffix(" access point")
            device = device.removesuffix(" station")
            if chip is not None and device != chip:
                continue
            link = next(
                one
                for one in dataset.meta["link"]
                if fnmatchcase(configuration, one["configuration"])
            )
            stated = {
                key: value
                for entry in dataset.meta.get("aggregation", [])
                if fnmatchcase(configuration, entry["configuration"])
                for key, value in entry.items()
            }
            written = " ".join(str((link | stated).get(key, "-")) for key in _LINK)
            ap = " access point " in configuration
            sends = configuration.endswith((" TX", " uplink"))
            bands = {one["band"] for one in GENERATIONS[link["phy"]]["bands"]}
            transport, policy = row["transport"].lower(), row["policy"] or "open"
            air, cell = None, None
            if f"{link['band']}ghz" in bands:
                way = "up" if sends != ap else "down"
                cell = cell_of(written, way, transport, policy)
                air = air_bps(written, way, transport, policy)
            bad = any(
                words.startswith(f"{configuration}, {row['security']}, {row['transport']}")
                for words in impossible
            )
            at = float(row["offered_mbps"]) * 1e6 if row["offered_mbps"] else math.inf
            limit = ""
            if bad:
                limit = "impossible"
            elif at * (1 - _AT_LOAD) <= row["si"] <= at and air is not None and air > at:
                limit = "load"
            yield Reading(
                name,
                device,
                "access point" if ap else "station",
                written,
                sends,
                transport,
                policy,
                row["si"],
                air,
                cell,
                limit,
            )


def limited(found: Sequence[Reading]) -> list[Reading]:
    """The readings with their limit: ``air`` where the same device prints as much elsewhere.

    A device that prints a throughput in one direction, role and transport has a host for it. Where
    the air carries no more than that, the air is the limit; where it carries more, the host may be.
    """
    most: dict[tuple[str, ...], float] = {}
    for one in found:
        if one.limit != "impossible":
            place = (one.dataset, one.device, one.role, str(one.sends), one.transport)
            most[place] = max(most.get(place, 0.0), one.printed_bps)
    judged = []
    for one in found:
        place = (one.dataset, one.device, one.role, str(one.sends), one.transport)
        if one.limit == "" and one.air_bps is not None:
            limit = "air" if one.air_bps <= most.get(place, 0.0) else "host"
            judged.append(evolve(one, limit=limit))
        else:
            judged.append(one)
    return judged


def kinds(found: Sequence[Reading]) -> list[str]:
    """Errors of the air alone by kind of reading."""
    lines = _head("readings", "limit", "number", "median error", "median size", "90 % below")
    simulated = [one for one in found if one.air_bps is not None]
    for transport, role in itertools.product(("udp", "tcp"), ("station", "access point")):
        for limit in ("air", "host", "load", "impossible"):
            own = [
                one.error
                for one in simulated
                if (one.transport, one.role, one.limit) == (transport, role, limit)
            ]
            if own:
                lines.append(_errors(f"{transport.upper()}, chip as {role}", limit, own))
    return lines


def causes(found: Sequence[Reading]) -> list[str]:
    """Errors of all chips with the standard's A-MPDUs, with each documented setting, and both."""
    own = [o for o in found if (o.transport, o.role, o.limit) == ("udp", "station", "air")]
    devices = list(dict.fromkeys(one.device for one in own))
    lines = _head("A-MPDUs of", "all", *devices)
    for words, drops in (
        ("the standard", ("window", "rts")),
        ("the documented windows", ("rts",)),
        ("senders with RTS and CTS", ("window",)),
        ("both: this page", ()),
    ):
        errors: dict[str, list[float]] = {}
        for one in own:
            *phy, window, rts = one.link.split()
            link = " ".join(
                [*phy, "-" if "window" in drops else window, "-" if "rts" in drops else rts]
            )
            way = "up" if one.sends else "down"
            error = abs(air_bps(link, way, "udp", one.policy) / one.printed_bps - 1)
            errors.setdefault(one.device, []).append(error)
        medians = [statistics.median(errors[device]) for device in devices]
        every = statistics.median(error for found in errors.values() for error in found)
        shown = " | ".join(f"{100 * median:.1f} %" for median in (every, *medians))
        lines.append(f"| {words} | {shown} |")
    return lines


def directions(found: Sequence[Reading]) -> list[str]:
    """Errors of air-limited UDP of stations by device, direction and band."""
    lines = _head(
        "chip", "direction", "band", "number", "median error", "median size", "90 % below"
    )
    groups: dict[tuple[str, str, str], list[float]] = {}
    for one in found:
        if (one.transport, one.role, one.limit) == ("udp", "station", "air"):
            way = "sends" if one.sends else "receives"
            groups.setdefault((one.device, way, one.link.split()[1]), []).append(one.error)
    for (device, way, band), own in groups.items():
        lines.append(_errors(device, f"{way} | {band} GHz", own))
    return lines


def overheads(found: Sequence[Reading]) -> list[str]:
    """Overheads of UDP under WPA2 and WPA3 against what rounding allows."""
    lines = _head(
        "chip", "overheads", "inside rounding", "the device's own", "inside, of the others",
        "printed mean", "ours, mean",
    )  # fmt: skip
    per_chip: dict[str, list[Overhead]] = {}
    for one in _overheads(found):
        per_chip.setdefault(one.secured.device, []).append(one)
    every = [row for rows in per_chip.values() for row in rows]
    for device, rows in [*per_chip.items(), ("all", every)]:
        others = [row for row in rows if not row.own]
        inside, left = sum(row.inside for row in rows), sum(row.inside for row in others)
        means = (
            statistics.fmean(row.printed for row in rows),
            statistics.fmean(row.ours for row in rows),
        )
        shown = " | ".join(f"{100 * mean:.2f} %" for mean in means)
        counts = f"{len(rows)} | {inside} | {len(rows) - len(others)} | {left} of {len(others)}"
        lines.append(f"| {device} | {counts} | {shown} |")
    return lines


def outside(found: Sequence[Reading]) -> list[str]:
    """The overheads outside rounding, with why they are the device's own."""
    lines = _head("chip", "link", "direction", "policy", "Mb/s", "printed", "ours", "own, because")
    for one in _overheads(found):
        if one.inside:
            continue
        of = one.secured
        cells = (
            of.device,
            _link_in_words(of.link),
            "sends" if of.sends else "receives",
            of.policy.removesuffix("-ccmp").upper().replace("-PSK", "").replace("-SAE", ""),
            f"{one.free.printed_bps / 1e6:.0f}, {of.printed_bps / 1e6:.0f}",
            f"{100 * one.low:.1f} to {100 * one.high:.1f} %",
            f"{100 * one.ours:.1f} %",
            ", ".join(one.own) or "is not",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def own_cells(found: Sequence[Reading]) -> list[str]:
    """UDP of stations whose open, WPA2 and WPA3 readings are all off in the same manner."""
    lines = _head("chip", "link", "direction", "open", "WPA2", "WPA3")
    left: list[float] = []
    every = [o for o in found if (o.transport, o.role, o.limit) == ("udp", "station", "air")]
    for group in _by_key(every).values():
        errors = [group[p].error if p in group else None for p in ("open", *_SECURED)]
        whole = [error for error in errors if error is not None]
        if len(whole) < 2 or not (min(whole) > _OFF or max(whole) < -_OFF):
            left += whole
            continue
        first = next(iter(group.values()))
        cells = [
            first.device,
            _link_in_words(first.link),
            "sends" if first.sends else "receives",
            *("" if error is None else f"{100 * error:+.1f} %" for error in errors),
        ]
        lines.append("| " + " | ".join(cells) + " |")
    size = 100 * statistics.median(abs(error) for error in left)
    lines.append(f"| the other {len(left)} readings | | | median size {size:.1f} % | | |")
    return lines


@frozen
class Overhead:
    """A secured reading against the open one of its place; ``own``: why it is the device's."""

    free: Reading
    secured: Reading
    low: float
    high: float
    own: tuple[str, ...]

    @property
    def printed(self) -> float:
        """Printed overhead, of the open reading."""
        return 1 - self.secured.printed_bps / self.free.printed_bps

    @property
    def ours(self) -> float:
        """Overhead of the simulated air."""
        assert self.secured.air_bps is not None
        assert self.free.air_bps is not None
        return 1 - self.secured.air_bps / self.free.air_bps

    @property
    def inside(self) -> bool:
        """Whether ours is what the rounding of the printed figures allows."""
        return self.low <= self.ours <= self.high


def _overheads(found: Sequence[Reading]) -> Iterator[Overhead]:
    for group in _by_key(found).values():
        free = group.get("open")
        if free is None or (free.transport, free.role) != ("udp", "station"):
            continue
        for policy in _SECURED:
            one = group.get(policy)
            if one is None or one.air_bps is None or "air" not in (one.limit, free.limit):
                continue
            if {one.limit, free.limit} & {"load", "impossible"}:
                continue
            low = 1 - (one.printed_bps + _HALF_DIGIT) / (free.printed_bps - _HALF_DIGIT)
            high = 1 - (one.printed_bps - _HALF_DIGIT) / (free.printed_bps + _HALF_DIGIT)
            other = group.get(next(name for name in _SECURED if name != policy), one)
            reasons = {
                "faster with encryption": high < 0,
                "slower than octets explain": low > _OWN,
                "WPA2 and WPA3 differ": abs(other.printed_bps - one.printed_bps) > 2 * _HALF_DIGIT,
                "both below the air": min(free.error, one.error) > _OFF,
            }
            own = tuple(why for why, holds in reasons.items() if holds)
            yield Overhead(free, one, low, high, own)


def _link_in_words(link: str) -> str:
    phy, band, width, mcs, *_ = link.split()
    return f"{phy}, {band} GHz, {width} MHz, MCS {mcs}"


def fitted(found: Sequence[Reading]) -> list[str]:
    """Secured throughputs predicted from the open reading of the same chip and link."""
    lines = _head(
        "readings", "limit of the open one", "number", "median error", "median size", "90 % below"
    )
    errors: dict[tuple[str, str, str], list[float]] = {}
    for group in _by_key(found).values():
        free = group.get("open")
        if free is None or free.cell is None or free.limit in ("load", "impossible"):
            continue
        secured = [policy for policy in _SECURED if policy in group]
        if not secured or free.error < -0.09:
            continue
        limit = host_limit(free.cell, free.printed_bps)
        for one in predict(free.cell, limit, secured):
            if group[one.policy].limit != "impossible":
                error = one.predicted_bps / group[one.policy].printed_bps - 1
                errors.setdefault((free.transport, free.role, limit.limit), []).append(error)
    for transport, role in itertools.product(("udp", "tcp"), ("station", "access point")):
        for limit in ("air", "host"):
            own = errors.get((transport, role, limit), [])
            if own:
                lines.append(_errors(f"{transport.upper()}, chip as {role}", limit, own))
        both = [e for limit in ("air", "host") for e in errors.get((transport, role, limit), [])]
        if both:
            lines.append(_errors(f"{transport.upper()}, chip as {role}", "either", both))
    return lines


def wireguard() -> list[str]:
    """WireGuard on machines that the fit has seen, and on the others."""
    every = machines(load_dataset("wg-bench"))
    lines = _head("fit sees", "predicted", "number", "median error", "median size", "90 % below")
    one, other = halves(every)
    for name, seen, unseen in (
        ("every second machine", one, other),
        ("the others", other, one),
    ):
        overhead = fit(seen)
        own = [overhead.error(machine) for machine in unseen]
        lines.append(_errors(name, "the unseen half", own))
        lines.append(_errors(name, "the seen half", [overhead.error(m) for m in seen]))
    unseen_socs = _leave_one_soc_out(every)
    lines.append(_errors("all other SoCs of the kind of core", "each SoC", unseen_socs))
    return lines


def _leave_one_soc_out(every: Sequence[Machine]) -> list[float]:
    errors: list[float] = []
    for soc in dict.fromkeys(machine.soc for machine in every):
        seen = [machine for machine in every if machine.soc != soc]
        own = [machine for machine in every if machine.soc == soc]
        if own[0].core in {machine.core for machine in seen}:
            overhead = fit(seen)
            errors += [overhead.error(machine) for machine in own]
    return errors


def cores() -> list[str]:
    """The fitted overheads."""
    overhead = fit(halves(machines(load_dataset("wg-bench")))[0])
    lines = _head("core", "cycles per packet, both ends and hosts")
    for kind, cycles in overhead.packet_cycles.items():
        lines.append(f"| {kind} | {cycles:,.0f} |")
    lines.append(f"| share that one core does, all kinds | {overhead.serial_share:.3f} |")
    return lines


@frozen
class JoinTime:
    """A printed time of a join, s, and that of air and scan; None: it cannot be simulated."""

    configuration: str
    policy: str
    clock_s: float
    printed_s: float
    air_s: float | None
    why: str = ""

    def factor(self, ours_s: float) -> float:
        """Printed over ours, or the reverse, 1 or more; the log's clock leaves the printed open."""
        nearest = min(max(ours_s, self.printed_s - self.clock_s), self.printed_s + self.clock_s)
        return max(nearest / ours_s, ours_s / nearest)


#: Messages of a join: two of authentication and of association each, with a PSK four of the keys.
_MESSAGES: Final = {"open": 4, "wpa2-psk-ccmp": 8}


@cache
def join_times() -> tuple[JoinTime, ...]:
    """Printed joins whose begin and end are stated, with those of the simulated air."""
    dataset = load_dataset("joins-and-handovers")
    found = []
    for row in dataset.figures.iter_rows(named=True):
        stated: dict[str, Any] = {}
        for entry in dataset.meta["join"]:
            if fnmatchcase(row["configuration"], entry["configuration"]):
                stated |= entry
        if not stated or row["metric"] != "join_time":
            continue
        policy, air, why = row["policy"], None, ""
        if policy is None:
            why = "the EAP method or its server is not stated"
        elif "sae" in policy:
            why = "no published costs of this chip's public-key operations"
        else:
            air = _join_s(policy, stated["phy"], stated["band"], stated.get("profile"))
            air += stated.get("scan_ms", 0) / 1000
        shown = policy or row["security"]
        clock = stated["clock_ms"] / 1000
        found.append(JoinTime(row["configuration"], shown, clock, row["si"], air, why))
    return tuple(found)


@cache
def _join_s(policy: str, phy: str, band: str, profile: str | None) -> float:
    station = {"name": "A"} | ({"profile": profile} if profile else {})
    rows = _measured(policy, {"phy": phy, "band": band, "stations": [station]})
    (time,) = [row.value for row in rows if row.metric == "join_time_s"]
    return time


def _measured(policy: str, scenario: Mapping[str, Any]) -> Sequence[Row]:
    link = {"phy": "802.11n", "band": "5", "authenticate": True, "stations": [{"name": "A"}]}
    data = {
        "study": {"name": "devices", "title": "Devices", "baseline": "open"},
        "scenario": {"link": link | dict(scenario)},
        "traffic": {"load": {"transport": "udp", "offered_mbps": 0.1, "duration_s": 1.0}},
        "grid": {"scenario": ["link"], "traffic": ["load"], "policy": [policy]},
    }
    cell = make_plan(Study.model_validate(data)).cells[0]
    return Simulator().measure(Trial(cell=cell, number=1, attempt=1, seed=1)).rows


def joins() -> list[str]:
    """Every printed join beside ours: air and scan, and with the hosts' time of the other half."""
    lines = _head("reading", "policy", "printed", "air and scan", "with the other half's hosts")
    predicted = _with_hosts()
    for number, one in enumerate(join_times()):
        ours = predicted.get(number)
        cells = (
            one.configuration,
            one.policy,
            f"{1000 * one.printed_s:,.0f} ms",
            one.why if one.air_s is None else f"{1000 * one.air_s:.1f} ms",
            "" if ours is None else f"{1000 * ours:.0f} ms, factor {one.factor(ours):.2f}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    return lines


def join_errors() -> list[str]:
    """Distribution of the factors between printed and predicted joins."""
    lines = _head("prediction", "number", "within a factor of 1.5", "median factor", "90 % below")
    predicted = _with_hosts()
    every = join_times()
    for words, ours in (
        ("air and scan, no fit", {n: one.air_s for n, one in enumerate(every) if one.air_s}),
        ("with hosts, fitted to the other half", predicted),
    ):
        factors = sorted(every[n].factor(value) for n, value in ours.items())
        near = sum(factor <= 1.5 for factor in factors)
        cells = (
            words,
            str(len(factors)),
            f"{near} ({100 * near / len(factors):.0f} %)",
            f"{statistics.median(factors):.2f}",
            f"{float(np.quantile(factors, 0.9)):.1f}",
        )
        lines.append("| " + " | ".join(cells) + " |")
    times = (f"{1000 * _message_s(half):.1f} ms" for half in (0, 1))
    lines.append(f"| time of a message in both hosts, by each half | {', '.join(times)} | | | |")
    return lines


def _with_hosts() -> dict[int, float]:
    """Joins with a time of each message in both hosts that the other half of the readings fits."""
    return {
        number: one.air_s + _MESSAGES[one.policy] * _message_s(1 - number % 2)
        for number, one in enumerate(join_times())
        if one.air_s is not None
    }


@cache
def _message_s(half: int) -> float:
    return statistics.median(
        (one.printed_s - one.air_s) / _MESSAGES[one.policy]
        for number, one in enumerate(join_times())
        if one.air_s is not None and number % 2 == half
    )


#: Hand-overs of the data set: policy and method; their sources state no PHY, 802.11n is taken.
_HANDOVERS: Final = {
    "iPad mini, FT over the air": ("wpa2-ft-eap-peap-ccmp", "fast-transition"),
    "iPhone, FT over the DS": ("wpa2-ft-eap-peap-ccmp", "fast-transition-ds"),
    "mac80211 station, open, after bgscan": ("open", "full"),
}


def handovers() -> list[str]:
    """Printed hand-overs beside the frames of the simulated air."""
    lines = _head("reading", "printed", "air alone", "messages")
    figures = load_dataset("joins-and-handovers").figures
    for row in figures.iter_rows(named=True):
        if row["configuration"] not in _HANDOVERS:
            continue
        policy, method = _HANDOVERS[row["configuration"]]
        rows = _measured(policy, {"handover": {"at_s": 0.5, "method": method}})
        values = {one.metric: one.value for one in rows}
        lines.append(
            f"| {row['configuration']} | {1000 * row['si']:g} ms |"
            f" {1000 * values['handover_join_s']:.1f} ms | {values['handover_messages']:.0f} |"
        )
    return lines


def collected() -> list[str]:
    """How many figures each data set has, and how many have a prediction."""
    lines = _head("data set", "figures", "predicted", "why not the others")
    reasons = {
        "nxp-chips": "smallest buffers; 802.11ac at 2.4 GHz, which has no PHY here",
        "qualcomm-qcc74x": "",
        "wg-bench": "cores without published cycles, or whose clock no text states",
        "espressif-chips": "width, MCS and security are not stated; the bus limits hosted chips",
        "nordic-nrf70": "PHY is not stated; the host limits",
        "silabs-siwx917": "MCS is not stated",
        "tunnels-on-routers": "one reading of ESP is in a fit, the others lack conditions",
        "joins-and-handovers": "public-key costs, EAP methods, scans, flash or DHCP are not stated",
    }
    counts = dict.fromkeys(reasons, 0)
    for one in readings():
        counts[one.dataset] += one.air_bps is not None
    counts["joins-and-handovers"] = sum(one.air_s is not None for one in join_times())
    counts["wg-bench"] = len(machines(load_dataset("wg-bench")))
    for name in list_datasets():
        dataset = load_dataset(name)
        if dataset.of_devices:
            height = dataset.figures.height
            why = "" if counts[name] == height else reasons[name]
            lines.append(f"| {name} | {height} | {counts[name]} | {why} |")
    return lines


def headline(found: Sequence[Reading]) -> list[str]:
    """The first lines of the page: numbers only."""
    air = [one for one in found if one.limit == "air" and one.transport == "udp"]
    stations = [abs(one.error) for one in air if one.role == "station"]
    receiving = [abs(o.error) for o in air if o.role == "station" and not o.sends]
    every = machines(load_dataset("wg-bench"))
    seen, unseen = halves(every)
    overhead = fit(seen)
    wg = [abs(overhead.error(machine)) for machine in unseen]
    return [
        f"UDP of {len({o.device for o in air})} chips that the air limits: {len(stations)} readings"
        f" as stations, median error {_percent(stations)}"
        f" ({_percent(receiving)} where the chip receives). WireGuard on {len(wg)} machines that"
        f" the fit has not seen: median error {_percent(wg)}."
    ]


def picture(found: Sequence[Reading]) -> str:
    """The scatter plot as SVG."""
    plate, axes = new_plate(5.0, "")
    overhead = fit(halves(machines(load_dataset("wg-bench")))[0])
    unseen = halves(machines(load_dataset("wg-bench")))[1]
    groups: list[tuple[str, str, int, list[tuple[float, float]]]] = [
        ("air limits (UDP, TCP)", "o", 0, _points(found, "air")),
        ("host may limit", "s", 1, _points(found, "host")),
        ("stated load", "X", 6, _points(found, "load")),
        ("impossible", "X", 3, _points(found, "impossible")),
        (
            "WireGuard, unseen machines",
            "o",
            2,
            [(m.printed_bps, overhead.throughput_bps(m)) for m in unseen],
        ),
    ]
    values = [v / 1e6 for *_, points in groups for point in points for v in point]
    ends = (0.85 * min(values), 1.15 * max(values))
    axes.plot(ends, ends, color=INK, lw=0.8)
    for share in (0.9, 1.1):
        axes.plot(ends, [share * end for end in ends], color=INK, lw=0.6, ls=":")
    for words, marker, index, points in groups:
        for number, (printed, ours) in enumerate(points):
            axes.plot(
                printed / 1e6, ours / 1e6, marker, ms=3.5, color=colour(index), alpha=0.6,
                label=words if number == 0 else None,
            )  # fmt: skip
    axes.set_log()
    axes.set_xlim(*ends)
    axes.set_ylim(*ends)
    axes.set_xlabel("printed throughput, Mb/s")
    axes.set_ylabel("airtoll's throughput, Mb/s")
    legend_below(plate, columns=2)
    _, files = develop_panel(plate, "real-devices", ("svg",))
    return next(iter(files.values())).decode()


def _points(found: Sequence[Reading], limit: str) -> list[tuple[float, float]]:
    own = [(o.printed_bps, o.air_bps) for o in found if o.limit == limit and o.air_bps]
    # One mark for equal pairs: rounded figures of three policies coincide.
    return list(dict.fromkeys((printed, round(ours, -5)) for printed, ours in own))


def _by_key(found: Iterable[Reading]) -> dict[tuple[str, ...], dict[str, Reading]]:
    groups: dict[tuple[str, ...], dict[str, Reading]] = {}
    for one in found:
        if one.air_bps is not None:
            groups.setdefault(one.key, {})[one.policy] = one
    return groups


def _head(*heads: str) -> list[str]:
    return ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]


def _errors(first: str, second: str, errors: Sequence[float]) -> str:
    sizes = sorted(abs(error) for error in errors)
    cells = (
        first,
        second,
        str(len(errors)),
        f"{100 * statistics.median(errors):+.1f} %",
        f"{100 * statistics.median(sizes):.1f} %",
        f"{100 * float(np.quantile(sizes, 0.9)):.1f} %",
    )
    return "| " + " | ".join(cells) + " |"


def _percent(sizes: Sequence[float]) -> str:
    return f"{100 * statistics.median(sizes):.1f} %"


def sections(found: Sequence[Reading]) -> Mapping[str, list[str]]:
    """Every part of the page by the name in its marker."""
    return {
        "headline": headline(found),
        "collected": collected(),
        "kinds": kinds(found),
        "causes": causes(found),
        "directions": directions(found),
        "own cells": own_cells(found),
        "overheads": overheads(found),
        "outside": outside(found),
        "fitted": fitted(found),
        "joins": joins(),
        "join errors": join_errors(),
        "handovers": handovers(),
        "wireguard": wireguard(),
        "cores": cores(),
    }


def main() -> int:
    """Write or check the page; 1 if it is out of date."""
    arguments = sys.argv[1:]
    chips = [value for flag, value in itertools.pairwise(arguments) if flag == "--chip"]
    old = PAGE.read_text("utf-8")
    if chips or "--machines" in arguments:
        return _rows_hold(old, chips, with_machines="--machines" in arguments)
    found = limited(list(readings()))
    parts = sections(found)
    new = _MARK.sub(
        lambda mark: (
            f"<!-- devices: {mark.group(1)} -->\n"
            + "\n".join(parts[mark.group(1)])
            + "\n<!-- end of devices -->\n"
        ),
        old,
    )
    drawn = picture(found)
    fresh = PICTURE.is_file() and PICTURE.read_text("utf-8") == drawn
    if "--check" in arguments:
        if new != old or not fresh:
            sys.stderr.write(f"out of date: {PAGE.relative_to(ROOT)}; run tools/real_devices.py\n")
            return 1
        return 0
    PAGE.write_text(new, "utf-8")
    PICTURE.write_text(drawn, "utf-8")
    return 0


def _rows_hold(page: str, chips: Sequence[str], *, with_machines: bool) -> int:
    """1 if a row of these chips, or of WireGuard, is not on the page."""
    lines: list[str] = []
    for chip in chips:
        found = limited(list(readings(chip)))
        lines += directions(found)[2:] + overheads(found)[2:3]
    if with_machines:
        lines += wireguard()[2:] + cores()[2:] + joins()[2:] + join_errors()[2:]
    missing = [line for line in lines if line not in page.splitlines()]
    for line in missing:
        sys.stderr.write(f"not on the page: {line}\n")
    return int(bool(missing))


if __name__ == "__main__":
    raise SystemExit(main())
