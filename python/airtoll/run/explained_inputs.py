"""Two measurements as readings of an explanation.

Takes one argument a side (a file, a folder of files, or a number) and further pairs; gives
:class:`airtoll.analyse.explain.Reading` and remarks on values that say nothing. Several results of
one kind of traffic are trials: their mean counts, with the spread of their means. The values of a
file are those of ``explained_files`` and ``explained_captures``.
"""

from __future__ import annotations

import math
import statistics
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final

from attrs import evolve

from airtoll.analyse.explain import FACTORS, Flow, Quantity, Reading
from airtoll.errors import CaptureError, DatasetError, UsageError
from airtoll.observe.imports.naming import SUFFIXES, left_out, policy_in, stem_of
from airtoll.run.explained_captures import capture_side
from airtoll.run.explained_files import document_side, table_side
from airtoll.run.explained_samples import (
    NUMBER,
    SHARES,
    Inputs,
    Sample,
    Side,
    parse_flow,
    stated,
    value_of,
)

#: Standard deviation of the mean of several throughputs of a home (logarithm).
_MEAN = 0.01
_CAPTURES: Final = {".pcap", ".pcapng", ".cap"}
_NO_SIDE: Final = ("", "?", "-")


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
    if NUMBER.fullmatch(argument) is None:
        raise UsageError(f"{argument}: no such file or folder, and no number (Mb/s)")
    value = value_of(argument, quantity, argument)
    return Side((stated(quantity, flow, value, offered),))


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
        None if one in _NO_SIDE else value_of(one, quantity, f"--also {text}")
        for one in (before, after)
    ]
    if values_ == [None, None]:
        raise UsageError(f"--also {text}: no value on either side")
    first, second = (
        Side() if one is None else Side((stated(quantity, flow, one, offered),)) for one in values_
    )
    return first, second


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
    if samples[0].quantity not in SHARES:
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
    if suffixes & _CAPTURES:
        return capture_side(path, inputs)
    return table_side(path) if ".csv" in suffixes else document_side(path, inputs)
