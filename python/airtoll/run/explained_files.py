"""Results of iperf3, flent and irtt, and tables, as values of a measurement.

Takes the path of a file; gives a :class:`~airtoll.run.explained_samples.Side`. Raises
``DatasetError`` or ``UsageError`` that name the file.

    iperf3    throughput of a saturating test; loss of UDP under a load that the link carries
    flent     throughput of one direction; response time of a test without load
    irtt      response time and loss
    CSV       any of these, by the name of the traffic (``tcp-down``)
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import polars as pl
from attrs import evolve, frozen

from airtoll.analyse.explain import Flow, Quantity, Transport
from airtoll.errors import DatasetError, UsageError
from airtoll.observe.imported import read_manifest
from airtoll.observe.imports import iperf3
from airtoll.observe.imports.documents import Document, documents, read_octets, text_of
from airtoll.observe.imports.files import import_files
from airtoll.observe.imports.naming import format_of_documents
from airtoll.observe.imports.trial import Place
from airtoll.observe.imports.value import REVERSE
from airtoll.observe.tables import read_observations
from airtoll.run.explained_samples import (
    DATAGRAM,
    ONE_SHARE,
    ONE_TEST,
    PING,
    QUANTITIES,
    Inputs,
    Sample,
    Side,
    parse_flow,
    stated,
)

#: A throughput above this share of iperf3's target is the target; without losses above the second.
_AT_TARGET, _NEAR = 0.97, 0.85


def document_side(path: Path, inputs: Inputs) -> Side:
    """The values of a JSON document of iperf3, flent or irtt."""
    kind = _json_kind(path)
    if kind == "iperf3":
        return _iperf3(path, inputs)
    return _flent(path) if kind == "flent" else _irtt(path)


def table_side(path: Path) -> Side:
    """A CSV table: traffics are kinds of readings (``tcp-down``), trials are trials."""
    frame = import_files([path], "csv", Place(policy="open"))
    header = path.read_text("utf-8-sig").partition("\n")[0].split(",")
    found = _by_policy(path, frame, "tcp-down", Client())
    if len(found) > 1:
        raise UsageError(
            f"{path}: holds {' and '.join(sorted(found))}: give each measurement its own table"
        )
    own_policy = "policy" in [name.strip() for name in header]
    policy, side = next(iter(found.items()), (None, Side()))
    return evolve(side, policy=policy if own_policy else None)


def imported_sides(folder: Path, inputs: Inputs) -> list[Side]:
    """The readings of a folder of ``airtoll import``, one side for each policy.

    Raises ``StorageError`` for a damaged folder, and ``UsageError`` for several set-ups.
    """
    manifest = read_manifest(folder)
    frame = read_observations(folder)
    scenarios = sorted(set(frame["scenario"].to_list()))
    if len(scenarios) > 1:
        raise UsageError(f"{folder}: holds several set-ups ({', '.join(scenarios)}); import one")
    client = Client(inputs.station, is_sender=set(manifest.formats) == {"iperf3"})
    sides = _by_policy(folder, frame, inputs.flow, client)
    if not sides:
        raise DatasetError(f"{folder}: holds no reading ({len(manifest.files)} files)")
    return [evolve(side, name=str(folder)) for side in sides.values()]


_KINDS: Final[Mapping[str, Quantity]] = {
    "throughput_bps": "throughput_bps",
    "loss_ratio": "loss_ratio",
    "delay_s": "delay_s",
    "response_time_s": "delay_s",
}


@frozen
class Client:
    """The tool's clients of imported readings: on the station or the wired host.

    ``is_sender``: where a traffic names its transport alone, the client sent.
    """

    on_station: bool = True
    is_sender: bool = False


def _by_policy(
    place: Path, frame: pl.DataFrame, flow_words: str, client: Client
) -> dict[str, Side]:
    """Whole readings of observations by policy; a traffic without a direction has that of a flow.

    ``flow_words``: the kind of reading that a person states (``tcp-up``).
    """
    found: dict[str, list[Sample]] = {}
    remarks: dict[str, list[str]] = {}
    _, usual, _ = parse_flow(flow_words)
    for row in frame.iter_rows(named=True):
        if row["second"] is not None or row["station"] is not None:
            continue
        samples = found.setdefault(row["policy"], [])
        said = remarks.setdefault(row["policy"], [])
        if row["metric"] not in _KINDS:
            if row["metric"] != "tcp_retransmissions":
                said.append(f"{place}: {row['metric']} is no reading of a mechanism")
            continue
        quantity = _KINDS[row["metric"]]
        words = row["traffic"].replace(" ", ",").replace("/", ",")
        transport = words.removesuffix(REVERSE)
        is_reverse = transport != words
        if words == "none":
            words = "udp-down" if quantity != "throughput_bps" else "tcp-down"
        elif transport in ("tcp", "udp") and (is_reverse or client.is_sender):
            words = f"{transport}-{'up' if client.on_station != is_reverse else 'down'}"
        elif words in ("tcp", "udp"):
            words = f"{words}-{'down' if usual.down else 'up'}"
            said.append(
                f"{place}: its traffic names no direction; taken as {words}: --flow says another"
            )
        # A loss, or a delay, of a traffic that is named like a throughput.
        word = next(word for word, own in QUANTITIES.items() if own == quantity)
        _, flow, offered = parse_flow(f"{word},{words}")
        samples.append(stated(quantity, flow, row["value"], offered))
    return {
        policy: Side(tuple(samples), policy, tuple(dict.fromkeys(remarks[policy])))
        for policy, samples in found.items()
    }


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
    spread = ONE_TEST
    if len(series) > 2 and throughput > 0:
        spread = math.hypot(spread, statistics.stdev(series) / throughput / math.sqrt(len(series)))
    if str(test["protocol"]).lower() == "tcp":
        flow = Flow("tcp", down, flows=flows)
        at = target > 0 and throughput > _AT_TARGET * target
        return [Sample("throughput_bps", flow, throughput, spread, at_target=at)]
    payload = int(test.get("blksize", DATAGRAM))
    if payload > DATAGRAM:
        raise DatasetError(
            f"{path}: datagrams of {payload} octets travel in fragments; measure with "
            f"iperf3 -l {DATAGRAM}"
        )
    flow = Flow("udp", down, payload, flows)
    # A sender that is a little slower than its target, and loses nothing, met no limit of the link.
    arrived = values.get("loss_ratio", 1.0) < 1 - _AT_TARGET and throughput > _NEAR * target
    at = target > 0 and (throughput > _AT_TARGET * target or arrived)
    found = [Sample("throughput_bps", flow, throughput, spread, at_target=at)]
    if target > 0 and "loss_ratio" in values:
        found.append(Sample("loss_ratio", flow, values["loss_ratio"], ONE_SHARE, target))
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
                Sample("throughput_bps", Flow(*key), value, ONE_TEST)
                for key, value in rates.items()
            )
        )
    if not pings:
        raise DatasetError(f"{path}: holds neither a throughput nor a response time")
    flow = Flow("udp", True, PING)
    return Side((Sample("delay_s", flow, statistics.fmean(pings), 0.1),))


def _irtt(path: Path) -> Side:
    frame = import_files([path], "irtt", Place())
    values = {
        row["metric"]: row["value"]
        for row in frame.iter_rows(named=True)
        if row["second"] is None and row["flow"] is None
    }
    flow = Flow("udp", True, PING)
    config = _documents(path, "irtt")[0].data.get("config") or {}
    found = []
    if "response_time_s" in values:
        found.append(Sample("delay_s", flow, values["response_time_s"], 0.1))
    if config.get("interval") and "loss_ratio" in values:
        offered = 8 * float(config.get("length") or PING) / (1e-9 * float(config["interval"]))
        found.append(Sample("loss_ratio", flow, values["loss_ratio"], ONE_SHARE, offered))
    return Side(tuple(found))
