"""Two measurements as readings of an explanation.

Takes one argument a side (files, a folder of files, or a number), or files of both that are named
after policies, and further pairs; gives
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
from airtoll.observe.imported import MANIFEST
from airtoll.observe.imports.naming import SUFFIXES, left_out, policy_in, policy_of
from airtoll.policies import resolve
from airtoll.run.explained_captures import capture_side
from airtoll.run.explained_files import document_side, imported_sides, table_side
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
from airtoll.testbeds.example import KEYS

#: Standard deviation of the mean of several throughputs of a home (logarithm).
_MEAN = 0.01
_CAPTURES: Final = {".pcap", ".pcapng", ".cap"}
_NO_SIDE: Final = ("", "?", "-")
_EACH: Final = "give a folder for each side"


def sides_of(
    arguments: Sequence[str], inputs: Inputs, named: tuple[str | None, str | None] = (None, None)
) -> tuple[Side, Side]:
    """The two measurements: one argument each, or files of both that are named after policies.

    ``named``: the stated policies, before and after. One folder, one list, the folder of an import
    and more than two files are divided by the policies that files are named after. Raises
    ``UsageError``, ``DatasetError`` and ``CaptureError`` that name the argument.
    """
    for one in arguments:
        if (Path(one) / "run.json").is_file() and not _is_imported(Path(one)):
            raise UsageError(
                f"{one}: is the folder of a run, and explain takes files of tools and captures; "
                f"`airtoll show {one} parts` says where each cost of the run goes"
            )
    if len(arguments) == 2:
        return side_of(arguments[0], inputs), side_of(arguments[1], inputs)
    place = ", ".join(arguments[:2]) + (", ..." if len(arguments) > 2 else "")
    if len(arguments) == 1 and _is_imported(Path(place)):
        sides, lost = imported_sides(Path(place), inputs), list[str]()
    else:
        if len(arguments) == 1 and NUMBER.fullmatch(place) and not Path(place).exists():
            raise UsageError(
                f"{place}: the second measurement is missing: airtoll explain {place} AFTER"
            )
        if len(arguments) == 1 and not Path(place).is_dir() and len(_files(place)) < 2:
            raise UsageError(
                f"AFTER is missing beside {place}; or name one folder or list with files of two "
                f"policies; {_EACH}"
            )
        sides, lost = _read([file for one in arguments for file in _files(one)], inputs)
    bare = [one for one in sides if one.policy is None]
    policies = sorted({one.policy for one in sides if one.policy is not None})
    if bare:
        raise UsageError(
            f"{place}: {bare[0].name} is named after no policy, as wpa3-1.json is; {_EACH}"
        )
    first, second = _two(place, policies, named)
    both = [_of_policy(sides, first, lost), _of_policy(sides, second, ())]
    return both[0], both[1]


def _two(
    place: str, policies: Sequence[str], named: tuple[str | None, str | None]
) -> tuple[str, str]:
    """The policies before and after, of those that files are named after."""
    given = [None if one is None else resolve(one).name for one in named]
    for option, one in zip(("--from", "--to"), given, strict=True):
        if one is not None and one not in policies:
            raise UsageError(f"{option} {one}: {place} has {' and '.join(policies)}")
    left = [one for one in policies if one not in given]
    # An open network is the one before, where both are told by names alone.
    left.sort(key=lambda one: one != "open")
    if sum(one is None for one in given) != len(left) and None in given:
        told = " and ".join(policies) or "no policy"
        ask = "say which two with --from and --to, or " if len(policies) > 2 else ""
        raise UsageError(f"{place}: its files are of {told}: {ask}{_EACH}")
    first, second = (left.pop(0) if one is None else one for one in given)
    return first, second


def _of_policy(sides: Sequence[Side], policy: str, lost: Sequence[str]) -> Side:
    return _joined([one for one in sides if one.policy == policy], lost, policy, policy)


def side_of(argument: str, inputs: Inputs) -> Side:
    """One of the two measurements: a number, files, or a folder of files.

    Raises ``UsageError``, ``DatasetError`` and ``CaptureError`` that name the argument.
    """
    path = Path(argument)
    if _is_imported(path):
        return _joined(imported_sides(path, inputs), (), None, argument)
    if path.is_dir():
        return _joined(*_read(_files(argument), inputs), policy_in(path.name), argument)
    if path.is_file():
        return _joined([_file(path, inputs)], (), None, argument)
    if argument in _NO_SIDE:
        return Side()
    if NUMBER.fullmatch(argument) is None:
        return _joined(*_read(_files(argument), inputs), None, argument)
    quantity, flow, offered = parse_flow(inputs.flow)
    value = value_of(argument, quantity, argument)
    return Side((stated(quantity, flow, value, offered),))


def _is_imported(path: Path) -> bool:
    return (path / MANIFEST).is_file()


def _files(argument: str) -> list[Path]:
    """The files of a folder, of a pattern (``open-*.json``), or of a list with commas.

    Raises ``UsageError`` where there is none.
    """
    path = Path(argument)
    if path.is_dir():
        # Folders that are named after policies may lie in one folder.
        found = _within(path) or [
            file
            for folder in sorted(path.iterdir())
            if folder.is_dir() and policy_in(folder.name, anywhere=False)
            for file in _within(folder)
        ]
        if not found:
            raise UsageError(f"{argument}: the folder holds none of {', '.join(SUFFIXES)}")
        return found
    if path.is_file():
        return [path]
    if "," in argument:
        parts = [part.strip() for part in argument.split(",") if part.strip()]
        return [file for part in parts for file in _files(part)]
    if set(argument) & {*"*?["}:
        whole = Path(path.anchor or ".")
        pattern = str(path.relative_to(path.anchor))
        found = sorted(one for one in whole.glob(pattern) if one.is_file())
        if not found:
            raise UsageError(f"{argument}: no file has such a name")
        return found
    raise UsageError(f"{argument}: no such file or folder, and no number (Mb/s)")


def _within(folder: Path) -> list[Path]:
    """The files of a folder; the key log beside captures of airtoll is no measurement."""
    return sorted(
        one
        for one in folder.iterdir()
        if one.is_file() and _suffixes(one) & {*SUFFIXES} and one.name != KEYS
    )


def _read(files: Sequence[Path], inputs: Inputs) -> tuple[list[Side], list[str]]:
    """The values of files, and those that cannot be read; raises if none can."""
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
    _refuse_silence(found)
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


def _refuse_silence(found: Sequence[Reading]) -> None:
    """Raise ``UsageError`` where every second throughput is 0 and no packet is seen to arrive.

    One that is 0 beside a ping or another flow tells a mechanism, such as an MTU that drops.
    """
    carried = [o for o in found if o.quantity == "throughput_bps" and o.after is not None]
    delays = [o for o in found if o.quantity == "delay_s" and o.after is not None]
    if carried and not delays and not any(one.after for one in carried):
        raise UsageError(
            f"{carried[0].flow.words}: the second measurement is 0: nothing arrived. Look first at "
            "association and address (`iw dev wlan0 link`, `ip addr`); where a ping arrives, add "
            "its delays: --also delay=3ms:3ms"
        )


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


def _joined(sides: Sequence[Side], lost: Sequence[str], folder: str | None, place: str) -> Side:
    """The values of the files of one measurement; ``folder``: the policy that it is named after."""
    policies = {one.policy for one in sides if one.policy is not None}
    if len(policies) > 1:
        raise UsageError(
            f"{place}: one measurement has files of {' and '.join(sorted(policies))}; {_EACH}, or "
            "name the folder of both alone"
        )
    return Side(
        tuple(sample for one in sides for sample in one.samples),
        next(iter(policies), folder),
        tuple(remark for one in sides for remark in one.remarks),
        tuple(lost),
        place,
    )


def _suffixes(path: Path) -> set[str]:
    return {suffix.lower() for suffix in path.suffixes}


def _file(path: Path, inputs: Inputs) -> Side:
    """The values of a file, with the policy that it says, or is named after."""
    suffixes = _suffixes(path)
    if suffixes & _CAPTURES:
        found = capture_side(path, inputs)
    else:
        found = table_side(path) if ".csv" in suffixes else document_side(path, inputs)
    return evolve(found, policy=found.policy or policy_of(path), name=path.name)
