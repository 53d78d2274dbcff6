"""Measured files and stated numbers as readings of an explanation.

Takes one argument a side (a file, a folder of files, or a number) and further pairs; gives
:class:`airtoll.analyse.explain.Reading` and remarks on values that say nothing. Several results of
one kind of traffic are trials: their mean counts, with the spread of their means.

    iperf3    throughput of a saturating test; loss of UDP under a load that the link carries
    flent     throughput of one direction; response time of a test without load
    irtt      response time and loss
    CSV       any of these, by the name of the traffic (``tcp-down``)
    captures  share of retries, PHY rate, and throughput of steady traffic
"""

from __future__ import annotations

import math
import re
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

from attrs import evolve, field, frozen

from airtoll.analyse.explain import FACTORS, Flow, Quantity, Reading, Transport
from airtoll.capture import capture_report
from airtoll.errors import CaptureError, DatasetError, PolicyError, UsageError
from airtoll.observe.imports import iperf3
from airtoll.observe.imports.documents import Document, documents, read_octets, text_of
from airtoll.observe.imports.files import import_files
from airtoll.observe.imports.naming import (
    SUFFIXES,
    format_of_documents,
    left_out,
    policy_in,
    stem_of,
)
from airtoll.observe.imports.trial import Place
from airtoll.policies import resolve
from airtoll.run.explaining import Link, phy_rate_bps

#: Words of a quantity on the command line.
QUANTITIES: Final[Mapping[str, Quantity]] = {
    "throughput": "throughput_bps",
    "loss": "loss_ratio",
    "delay": "delay_s",
    "retries": "retry_share",
    "rate": "rate_bps",
    "mpdus": "mpdus_per_frame",
    "reordered": "reordered_share",
    "again": "again_bps",
    "cable": "cable_bps",
}
FLOWS: Final[Mapping[str, tuple[Transport, bool]]] = {
    "tcp-down": ("tcp", True),
    "tcp-up": ("tcp", False),
    "udp-down": ("udp", True),
    "udp-up": ("udp", False),
}
_SHARES: Final = ("loss_ratio", "retry_share", "reordered_share")
#: Octets of a ping, and of the largest datagram of an MTU of 1500.
_PING, _DATAGRAM = 64, 1472
_NUMBER: Final = re.compile(r"\s*([0-9]*\.?[0-9]+(?:[eE][+-]?[0-9]+)?)\s*([^\s0-9.]*)\s*")
_BITS: Final = {"": 1e6, "k": 1e3, "m": 1e6, "g": 1e9}
_TIMES: Final = {"": 1e-3, "us": 1e-6, "ms": 1e-3, "s": 1.0}
#: Standard deviations of one throughput of a home (logarithm), and of the mean of several.
_ONE_TEST, _MEAN = 0.05, 0.01
#: The same of a capture, which misses frames, and of a share.
_CAPTURED, _ONE_SHARE = 0.15, 0.015
#: A throughput above this share of iperf3's target is the target; without losses above the second.
_AT_TARGET, _NEAR = 0.97, 0.85
#: Parts of a capture's busiest second from which on a second has traffic, and steady traffic.
_BUSY, _STEADY = 0.1, 0.7
_NO_SIDE: Final = ("", "?", "-")
_HT_RATE: Final = re.compile(r"(\S+) MCS (\d+)(?: x(\d+))? (\d+) MHz")
_FORMATS: Final = {"HT": "802.11n", "VHT": "802.11ac", "HE": "802.11ax", "EHT": "802.11be"}


@frozen
class Sample:
    """One measured value. ``spread``: its standard deviation (of the logarithm, or of a share).

    ``target``: load under which it was measured, bit/s. ``at_target``: the throughput is no more
    than that load.
    """

    quantity: Quantity
    flow: Flow
    value: float
    spread: float
    target: float | None = None
    at_target: bool = False


@frozen
class Side:
    """The values of one of the two measurements, its policy if a file says so, and remarks.

    ``lost``: files of a folder that cannot be read, each with its reason.
    """

    samples: tuple[Sample, ...] = ()
    policy: str | None = None
    remarks: tuple[str, ...] = field(default=())
    lost: tuple[str, ...] = field(default=())


@frozen
class Inputs:
    """How files are read. ``station``: the tools' clients ran on the station."""

    station: bool = True
    flow: str = "tcp-down"
    keys: tuple[str, ...] = ()
    key_logs: tuple[Path, ...] = ()


def parse_flow(text: str) -> tuple[Quantity, Flow, float | None]:
    """A kind of reading, ``loss,udp-up,flows=4,at=50M``: quantity, flow and offered load.

    Raises ``UsageError``.
    """
    quantity: Quantity = "throughput_bps"
    transport: Transport | None = None
    down, offered = True, None
    numbers: dict[str, int] = {}
    for word in (part.strip() for part in text.split(",")):
        key, equals, value = word.partition("=")
        if word in QUANTITIES:
            quantity = QUANTITIES[word]
        elif word in FLOWS:
            transport, down = FLOWS[word]
        elif equals and key in ("octets", "flows", "mtu"):
            if not value.isdigit() or int(value) < 1:
                raise UsageError(f"{text}: {word}: an integer of 1 or more")
            numbers[key] = int(value)
        elif equals and key == "at":
            offered = _value(value, "throughput_bps", text)
        else:
            known = ", ".join([*FLOWS, *QUANTITIES, "octets=N", "flows=N", "mtu=N", "at=MBPS"])
            raise UsageError(f"{text}: {word!r} is no kind of reading; known are {known}")
    if transport is None:
        transport = "udp" if quantity in ("loss_ratio", "delay_s", "reordered_share") else "tcp"
    if transport == "tcp" and "octets" in numbers:
        raise UsageError(f"{text}: octets are those of a datagram, and TCP has none: say udp-down")
    if numbers.get("octets", 0) > _DATAGRAM:
        raise UsageError(f"{text}: a datagram of one packet has at most {_DATAGRAM} octets")
    if not 68 <= numbers.get("mtu", 1280) <= 1500:
        raise UsageError(f"{text}: mtu: 68 to 1500 octets")
    flow = Flow(transport, down, flows=numbers.get("flows", 1), mtu=numbers.get("mtu"))
    if transport == "udp":
        usual = _PING if quantity == "delay_s" else _DATAGRAM
        flow = evolve(flow, payload=numbers.get("octets", usual))
    return quantity, flow, offered


def _value(text: str, quantity: Quantity, place: str) -> float:
    """A number with its unit in SI. Without one: Mb/s, ms; a share is 25% or 0.25."""
    found = _NUMBER.fullmatch(text)
    number = float(found[1]) if found else math.nan
    unit = found[2].lower() if found else ""
    if quantity in _SHARES:
        share = number / 100 if unit == "%" else number
        if unit not in ("", "%") or not 0 <= share <= 1:
            raise UsageError(f"{place}: {text!r}: a share is 25% or 0.25")
        return share
    if quantity == "mpdus_per_frame":
        scale = 1.0 if unit == "" else math.nan
    elif quantity == "delay_s":
        scale = _TIMES.get(unit, math.nan)
    else:
        scale = _BITS.get(re.sub(r"(b(it)?/s|bps|bits?|b)$", "", unit), math.nan)
        if unit in ("b/s", "bit/s", "bps"):
            scale = 1.0
    value = number * scale
    if not math.isfinite(value) or value < 0:
        wanted = {"mpdus_per_frame": "a number", "delay_s": "3ms or 0.1s"}
        raise UsageError(f"{place}: {text!r}: {wanted.get(quantity, 'Mb/s, or 24.5M, 1.2G, 300k')}")
    return value


def side_of(argument: str, inputs: Inputs) -> Side:
    """One of the two measurements: a number, a file, or a folder of files.

    Raises ``UsageError``, ``DatasetError`` and ``CaptureError`` that name the argument.
    """
    path = Path(argument)
    if path.is_dir():
        files = sorted(p for p in path.iterdir() if p.is_file() and _suffixes(p) & {*SUFFIXES})
        if not files:
            raise UsageError(f"{argument}: the folder holds none of {', '.join(SUFFIXES)}")
        return _joined(*_folder(files, inputs), policy_in(path.name))
    if path.is_file():
        return _joined([_file(path, inputs)], (), policy_in(stem_of(path)))
    if argument in _NO_SIDE:
        return Side()
    quantity, flow, offered = parse_flow(inputs.flow)
    if _NUMBER.fullmatch(argument) is None:
        raise UsageError(f"{argument}: no such file or folder, and no number (Mb/s)")
    value = _value(argument, quantity, argument)
    return Side((_stated(quantity, flow, value, offered),))


def _folder(files: Sequence[Path], inputs: Inputs) -> tuple[list[Side], list[str]]:
    """The files of a folder, and those that cannot be read; raises if none can."""
    sides, lost = [], []
    for file in files:
        try:
            sides.append(_file(file, inputs))
        except (DatasetError, CaptureError) as error:
            if len(files) == 1:
                raise
            lost.append(left_out(file, error))
    if not sides:
        raise DatasetError(f"{files[0].parent}: no file can be read: {'; '.join(lost[:3])}")
    if lost:
        lost[-1] += f"; {len(sides)} of {len(files)} count"
    return sides, lost


def pair_of(text: str, inputs: Inputs) -> tuple[Side, Side]:
    """A further pair: ``KIND=BEFORE:AFTER`` with numbers, or ``BEFORE:AFTER`` of files."""
    kind, equals, values = text.rpartition("=")
    before, colon, after = values.partition(":")
    if not colon:
        raise UsageError(f"--also {text}: write KIND=BEFORE:AFTER, for example tcp-up=480:130")
    if not equals:
        sides = side_of(before, inputs), side_of(after, inputs)
        if not sides[0].samples and not sides[1].samples:
            raise UsageError(f"--also {text}: no value on either side")
        return sides
    quantity, flow, offered = parse_flow(kind)
    values_ = [
        None if one in _NO_SIDE else _value(one, quantity, f"--also {text}")
        for one in (before, after)
    ]
    if values_ == [None, None]:
        raise UsageError(f"--also {text}: no value on either side")
    first, second = (
        Side() if one is None else Side((_stated(quantity, flow, one, offered),)) for one in values_
    )
    return first, second


def _stated(quantity: Quantity, flow: Flow, value: float, offered: float | None) -> Sample:
    spread = _ONE_SHARE if quantity in _SHARES else _ONE_TEST
    return Sample(quantity, flow, value, spread, offered)


def readings_of(before: Sequence[Side], after: Sequence[Side]) -> tuple[list[Reading], list[str]]:
    """Readings by quantity and flow, and remarks on values that were left out.

    Raises ``UsageError`` where no reading has a value after.
    """
    firsts = _by_kind(before)
    seconds = _by_kind(after)
    remarks = [one for side in (*before, *after) for one in side.remarks]
    found: list[Reading] = []
    for kind in dict.fromkeys([*firsts, *seconds]):
        quantity, flow = kind
        pair = firsts.get(kind, []), seconds.get(kind, [])
        if quantity == "throughput_bps" and any(one.at_target for one in (*pair[0], *pair[1])):
            # A target that one of both did not reach shows as the loss of the other.
            if ("loss_ratio", flow) not in firsts and ("loss_ratio", flow) not in seconds:
                remarks.append(
                    f"{flow.words}: it ran at the target of its tool, which is no limit of the "
                    "link; measure with iperf3 -b 0"
                )
            continue
        if quantity == "loss_ratio" and _saturates(flow, firsts, seconds):
            continue
        found.append(_reading(quantity, flow, *pair))
    for one in found:
        if one.before is not None and one.before <= 0 and one.quantity in FACTORS:
            raise UsageError(
                f"{one.flow.words}: the first measurement is 0, so that no change can be told; "
                "write ? for a measurement that failed"
            )
    for at, one in enumerate(found):
        if one.quantity == "again_bps" and one.before is None:
            own = [r for r in found if (r.quantity, r.flow) == ("throughput_bps", one.flow)]
            if own and own[0].before is not None:
                found[at] = evolve(one, before=own[0].before)
    if all(one.after is None for one in found):
        raise UsageError(
            "; ".join(
                ["no reading of the second measurement says anything", *dict.fromkeys(remarks)]
            )
        )
    return found, list(dict.fromkeys(remarks))


Kinds = Mapping[tuple[Quantity, Flow], list[Sample]]


def _by_kind(sides: Sequence[Side]) -> dict[tuple[Quantity, Flow], list[Sample]]:
    found: dict[tuple[Quantity, Flow], list[Sample]] = {}
    for side in sides:
        for one in side.samples:
            found.setdefault((one.quantity, one.flow), []).append(one)
    return found


def _saturates(flow: Flow, firsts: Kinds, seconds: Kinds) -> bool:
    """Whether a loss is that of tests that offered more than the link carries, on both sides."""
    own = [one.get(("throughput_bps", flow), []) for one in (firsts, seconds)]
    return all(own) and not any(one.at_target for side in own for one in side)


def _reading(
    quantity: Quantity, flow: Flow, before: Sequence[Sample], after: Sequence[Sample]
) -> Reading:
    values = [statistics.fmean(o.value for o in s) if s else None for s in (before, after)]
    targets = [one.target for one in (*after, *before) if one.target is not None]
    error = math.hypot(*(_spread(side) for side in (before, after)))
    spread, freedom = _of_trials(before, after)
    return Reading(
        quantity,
        flow,
        values[0],
        values[1],
        error,
        targets[0] if targets else None,
        spread,
        freedom,
    )


def _of_trials(before: Sequence[Sample], after: Sequence[Sample]) -> tuple[float, float]:
    """Standard deviation of a change by its trials, and degrees of freedom (Welch, Satterthwaite).

    The assumed spread of a single test has infinitely many.
    """
    variances = [(_own_spread(side) ** 2, len(side) - 1) for side in (before, after) if side]
    total = sum(variance for variance, _ in variances)
    told = sum(variance**2 / freedom for variance, freedom in variances if freedom > 0)
    return math.sqrt(total), total**2 / told if told > 0 else math.inf


def _own_spread(samples: Sequence[Sample]) -> float:
    """Standard deviation of the mean by the samples alone."""
    if len(samples) == 1:
        return samples[0].spread
    values = [one.value for one in samples]
    own = statistics.stdev(values) / math.sqrt(len(values))
    if samples[0].quantity not in _SHARES:
        own /= max(statistics.fmean(values), 1e-12)
    return own


def _spread(samples: Sequence[Sample]) -> float:
    """Standard deviation of the mean, as a mechanism has to meet it."""
    if len(samples) < 2:
        return samples[0].spread if samples else 0.0
    return max(_own_spread(samples), _MEAN)


def _joined(sides: Sequence[Side], lost: Sequence[str], named: str | None) -> Side:
    policies = {one.policy for one in sides if one.policy is not None}
    if len(policies) > 1:
        raise UsageError(f"one measurement has files of {' and '.join(sorted(policies))}")
    return Side(
        tuple(sample for one in sides for sample in one.samples),
        next(iter(policies), named),
        tuple(remark for one in sides for remark in one.remarks),
        tuple(lost),
    )


def _suffixes(path: Path) -> set[str]:
    return {suffix.lower() for suffix in path.suffixes}


def _file(path: Path, inputs: Inputs) -> Side:
    suffixes = _suffixes(path)
    if suffixes & {".pcap", ".pcapng", ".cap"}:
        return _capture(path, inputs)
    if ".csv" in suffixes:
        return _csv(path)
    kind = _json_kind(path)
    if kind == "iperf3":
        return _iperf3(path, inputs)
    return _flent(path) if kind == "flent" else _irtt(path)


def _documents(path: Path, fmt: str) -> list[Document]:
    """The JSON documents of a file."""
    try:
        found, _ = documents(text_of(read_octets(path), lenient=True))
    except DatasetError as error:
        named = str(error).startswith(f"{path}:")
        raise (
            error if named else DatasetError(f"{path}: not readable as JSON of {fmt}: {error}")
        ) from error
    return found


def _json_kind(path: Path) -> str:
    fmt = "iperf3, flent or irtt (a table ends in .csv, a capture in .pcap)"
    return format_of_documents(path, _documents(path, fmt))


def _iperf3(path: Path, inputs: Inputs) -> Side:
    samples: list[Sample] = []
    remarks: list[str] = []
    seen: set[str | None] = set()
    for record in iperf3.records(_documents(path, "iperf3")):
        try:
            found = iperf3.test_of(record)
        except iperf3.FailedTest as error:
            remarks.append(f"{path}: left out: line {record.line}: {error}")
            continue
        except DatasetError as error:
            raise DatasetError(f"{path}: {error}") from error
        if found.identity in seen:
            continue
        seen.add(found.identity)
        if any(value.flow is not None for value in found.values):
            raise DatasetError(
                f"{path}: both directions at once share the air: measure one direction at a "
                "time (iperf3, then iperf3 -R)"
            )
        whole = {value.metric: value.value for value in found.values if value.second is None}
        series = [
            value.value
            for value in found.values
            if value.second is not None and value.metric == "throughput_bps"
        ]
        if "throughput_bps" not in whole:
            raise DatasetError(f"{path}: {'; '.join(found.caveats) or 'holds no throughput'}")
        test = record.report["start"]["test_start"]
        down = (test.get("reverse") == 1) == inputs.station
        samples += _of_test(path, test, down, whole, series, remarks)
    if not samples:
        raise DatasetError("; ".join(remarks) or f"{path}: holds no result of iperf3")
    return Side(tuple(samples), None, tuple(remarks))


def _of_test(
    path: Path,
    test: Mapping[str, Any],
    down: bool,
    values: Mapping[str, float],
    series: Sequence[float],
    remarks: list[str],
) -> list[Sample]:
    flows = int(test.get("num_streams", 1))
    # iperf3 states the target of one stream.
    target = flows * float(test.get("target_bitrate") or 0)
    throughput = values["throughput_bps"]
    spread = _ONE_TEST
    if len(series) > 2 and throughput > 0:
        spread = math.hypot(spread, statistics.stdev(series) / throughput / math.sqrt(len(series)))
    if str(test["protocol"]).lower() == "tcp":
        flow = Flow("tcp", down, flows=flows)
        at = target > 0 and throughput > _AT_TARGET * target
        return [Sample("throughput_bps", flow, throughput, spread, at_target=at)]
    payload = int(test.get("blksize", _DATAGRAM))
    if payload > _DATAGRAM:
        raise DatasetError(
            f"{path}: datagrams of {payload} octets travel in fragments; measure with "
            f"iperf3 -l {_DATAGRAM}"
        )
    flow = Flow("udp", down, payload, flows)
    # A sender that is a little slower than its target, and loses nothing, met no limit of the link.
    arrived = values.get("loss_ratio", 1.0) < 1 - _AT_TARGET and throughput > _NEAR * target
    at = target > 0 and (throughput > _AT_TARGET * target or arrived)
    found = [Sample("throughput_bps", flow, throughput, spread, at_target=at)]
    if target > 0 and "loss_ratio" in values:
        found.append(Sample("loss_ratio", flow, values["loss_ratio"], _ONE_SHARE, target))
        if target <= 1.1e6:
            remarks.append(
                f"{path}: UDP at {target / 1e6:.3g} Mb/s, which says little; measure with "
                "iperf3 -u -b 0"
            )
    return found


def _flent(path: Path) -> Side:
    frame = import_files([path], "flent", Place())
    rates: dict[tuple[Transport, bool], float] = {}
    pings: list[float] = []
    for row in frame.iter_rows(named=True):
        if row["second"] is not None or row["flow"] is None:
            continue
        name = row["flow"].lower()
        if row["metric"] == "response_time_s":
            pings.append(row["value"])
        elif row["metric"] == "throughput_bps":
            if "down" not in name and "up" not in name:
                raise DatasetError(f"{path}: series {row['flow']!r} names no direction")
            key: tuple[Transport, bool] = ("udp" if "udp" in name else "tcp", "down" in name)
            rates[key] = rates.get(key, 0.0) + row["value"]
    if len({down for _, down in rates}) > 1:
        raise DatasetError(
            f"{path}: both directions at once share the air: use flent's tcp_download and "
            "tcp_upload"
        )
    if rates:
        # Pings beside a load tell the queue's length.
        return Side(
            tuple(
                Sample("throughput_bps", Flow(*key), value, _ONE_TEST)
                for key, value in rates.items()
            )
        )
    if not pings:
        raise DatasetError(f"{path}: holds neither a throughput nor a response time")
    flow = Flow("udp", True, _PING)
    return Side((Sample("delay_s", flow, statistics.fmean(pings), 0.1),))


def _irtt(path: Path) -> Side:
    frame = import_files([path], "irtt", Place())
    values = {
        row["metric"]: row["value"]
        for row in frame.iter_rows(named=True)
        if row["second"] is None and row["flow"] is None
    }
    flow = Flow("udp", True, _PING)
    config = _documents(path, "irtt")[0].data.get("config") or {}
    found = []
    if "response_time_s" in values:
        found.append(Sample("delay_s", flow, values["response_time_s"], 0.1))
    if config.get("interval") and "loss_ratio" in values:
        offered = 8 * float(config.get("length") or _PING) / (1e-9 * float(config["interval"]))
        found.append(Sample("loss_ratio", flow, values["loss_ratio"], _ONE_SHARE, offered))
    return Side(tuple(found))


def _csv(path: Path) -> Side:
    """A CSV table: traffics are kinds of readings (``tcp-down``), trials are trials."""
    frame = import_files([path], "csv", Place(policy="open"))
    kinds: Mapping[str, Quantity] = {
        "throughput_bps": "throughput_bps",
        "loss_ratio": "loss_ratio",
        "delay_s": "delay_s",
        "response_time_s": "delay_s",
    }
    header = path.read_text("utf-8-sig").partition("\n")[0].split(",")
    found, remarks, policies = [], [], set()
    for row in frame.iter_rows(named=True):
        if row["second"] is not None:
            continue
        policies.add(row["policy"])
        if row["metric"] not in kinds:
            remarks.append(f"{path}: {row['metric']} is no reading of a mechanism")
            continue
        quantity = kinds[row["metric"]]
        words = row["traffic"].replace(" ", ",").replace("/", ",")
        if words == "none":
            words = "udp-down" if quantity != "throughput_bps" else "tcp-down"
        # A loss, or a delay, of a traffic that is named like a throughput.
        word = next(word for word, own in QUANTITIES.items() if own == quantity)
        _, flow, offered = parse_flow(f"{word},{words}")
        found.append(_stated(quantity, flow, row["value"], offered))
    if len(policies) > 1:
        raise UsageError(
            f"{path}: holds {' and '.join(sorted(policies))}: give each measurement its own table"
        )
    stated = "policy" in [name.strip() for name in header]
    return Side(tuple(found), policies.pop() if stated else None, tuple(remarks))


def _capture(path: Path, inputs: Inputs) -> Side:
    """Retries, PHY rate and throughput of the station with most octets, both ways together."""
    report = capture_report([path], inputs.keys, inputs.key_logs)
    ledger = report.ledger
    if not ledger["stations"] or not ledger["data_frames"]:
        raise DatasetError(f"{path}: holds no data frame of a station")
    station = max(ledger["stations"], key=lambda one: one["octets"]["payload"])
    _, flow, _ = parse_flow(inputs.flow)
    retries = station["retries"] / max(station["frames"], 1)
    samples = [Sample("retry_share", flow, retries, 0.02)]
    remarks = []
    rate = _most_used_rate(ledger["rates"], ledger["data_frames"])
    if rate is not None:
        samples.append(Sample("rate_bps", flow, rate, 0.1))
    total = ledger["total"]["octets"]["payload"]
    busy = _busy_bps(ledger["seconds"], station["octets"]["payload"] / max(total, 1))
    if busy is None:
        remarks.append(f"{path}: no steady traffic of two seconds, so that no throughput counts")
    else:
        # The payload on the air is that of packets with their headers.
        share = flow.payload / (flow.packet + 8)
        samples.append(Sample("throughput_bps", flow, busy * share, _CAPTURED))
    return Side(tuple(samples), _captured_policy(report.sessions), tuple(remarks))


def _busy_bps(seconds: Sequence[Any], part: float) -> float | None:
    """Payload of the steady seconds, bit/s, of which a station has a part.

    None without two of them, or where most seconds with traffic have much less (bursts).
    """
    octets = [float(one["octets"]["payload"]) for one in seconds]
    most = max(octets, default=0.0)
    steady = [one for one in octets if one > _STEADY * most]
    busy = [one for one in octets if one > _BUSY * most]
    if len(steady) < 2 or 2 * len(steady) < len(busy):
        return None
    return 8 * statistics.fmean(steady) * part


def _most_used_rate(rates: Sequence[Any], data_frames: int) -> float | None:
    """The PHY rate of most frames: of HT and later where a tenth of the data has them."""
    later = [(one["frames"], found) for one in rates if (found := _HT_RATE.match(one["rate"]))]
    if sum(frames for frames, _ in later) > 0.1 * data_frames:
        _, found = max(later, key=lambda one: one[0])
        phy = _FORMATS.get(found[1])
        if phy is None:
            return None
        mcs, width = int(found[2]), int(found[4])
        streams = int(found[3]) if found[3] else mcs // 8 + 1
        return phy_rate_bps(Link(phy, width_mhz=width, mcs=mcs, streams=streams))
    # Management is sent at the lowest rates.
    old = [
        (one["frames"], float(one["rate"].removesuffix(" Mb/s")))
        for one in rates
        if one["rate"].endswith(" Mb/s") and float(one["rate"].removesuffix(" Mb/s")) > 2
    ]
    return 1e6 * max(old)[1] if old else None


def _captured_policy(sessions: Sequence[Any]) -> str | None:
    """The policy of the sessions of a capture, where all have the same of the catalogue."""
    names = set()
    for one in sessions:
        if one["akm"] is None or one["cipher"] is None:
            continue
        akm, cipher = one["akm"].lower(), one["cipher"].lower().removesuffix("-128")
        family = "wpa3" if akm.startswith("sae") else "wpa2"
        if one["wpa_version"] == 1:
            family = "wpa"
        text = f"owe-{cipher}" if akm == "owe" else f"{family}-{akm}-{cipher}"
        try:
            names.add(resolve(text).name)
        except PolicyError:
            return None
    return names.pop() if len(names) == 1 else None
