"""``airtoll ciphers verify|bench|profile``: the ciphers on this machine.

Takes nothing but options; gives outcomes of published vectors, costs per frame and per operation of
a handshake, and a device profile that the simulator accepts. Every printed cost is measured, never
estimated.
"""

from __future__ import annotations

import math
import platform
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, TypeVar

import numpy as np
import typer
from attrs import asdict, frozen
from numpy.typing import NDArray

from airtoll import _native
from airtoll.analyse.counting import binomial_below
from airtoll.cli.options import command
from airtoll.cli.output import JsonOption, emit_json, err, out, progress_bar, table
from airtoll.cli.places import named
from airtoll.errors import AirtollError, UsageError
from airtoll.observe.replacing import put_text
from airtoll.profiles.load import load_file

ciphers = typer.Typer(no_args_is_help=True, help="The ciphers on this machine.")

T = TypeVar("T")

LEVEL = 0.95
OCTETS = (64, 256, 512, 1024, 1500)
ROUNDS = 15
#: Modes of the native module: one frame encapsulated after the other; 64 frames decapsulated as the
#: capture reader does.
SINGLE, CAPTURE = "single", "capture"
SLICE_US = 200
#: Slice of a public-key operation: dozens of ML-DSA's signatures, whose times differ by chance.
OPERATION_SLICE_US = 20_000
#: PHY rate of HE-MCS 11 at 80 MHz, two streams, 0.8 us guard interval, Mb/s: 980 data subcarriers,
#: 10 bits, rate 5/6, symbols of 13.6 us (IEEE Std 802.11ax-2021, 27.3.9 and 27.5).
HE_80_MBPS = 980 * 10 * 5 / 6 * 2 / 13.6

ClockOption = Annotated[
    float | None, typer.Option(help="Clock of the processor, if it cannot be read.")
]
RoundsOption = Annotated[int, typer.Option(min=6, help="Rounds; each gives one reading.")]
OnlyOption = Annotated[
    list[str] | None, typer.Option("--only", help="Measure this one only; may be repeated.")
]


@frozen
class Cost:
    """A number with its interval: median over rounds, order-statistic interval."""

    value: float
    low: float
    high: float


@frozen
class CipherCost:
    """Cost of one cipher in one mode.

    ``fixed_us`` microseconds per frame and ``slope_ns`` nanoseconds per octet of payload;
    ``frame_us`` the measured microseconds of processor time per frame at each payload length.
    """

    cipher: str
    kind: str
    mode: str
    fixed_us: Cost
    slope_ns: Cost
    frame_us: dict[int, float]

    @property
    def mbps_per_core(self) -> float:
        """Payload that one core encrypts at the largest measured length, Mb/s."""
        octets = max(self.frame_us)
        return 8 * octets / self.frame_us[octets]

    @property
    def keeps_up(self) -> bool:
        """Whether one core is as fast as the PHY of 802.11ax at 80 MHz with two streams."""
        return self.mbps_per_core >= HE_80_MBPS


@ciphers.command("verify")
def verify(json: JsonOption = False) -> None:
    """Run every published test vector."""
    rows = _native.cipher_vectors()
    failed = [row["vector"] for row in rows if not row["passed"]]
    if json:
        emit_json({"engines": _native.cipher_engines(), "vectors": rows})
    else:
        view = table(None, ["vector", "source", "result"])
        for row in rows:
            result = "passed" if row["passed"] else "FAILED"
            style = None if row["passed"] else "bold red"
            view.add_row(str(row["vector"]), str(row["source"]), result, style=style)
        out().print(view)
        out().print(f"{len(rows) - len(failed)} of {len(rows)} vectors passed")
    if failed:
        raise AirtollError(f"vectors failed on this machine: {', '.join(map(str, failed))}")


@frozen
class OperationCost:
    """Cost of one public-key operation of the handshakes.

    ``us`` microseconds of processor time and ``per_second`` the rate, both of one ``unit``: an
    operation, an iteration of PBKDF2, or a bit of an exponent.
    """

    operation: str
    implementation: str
    unit: str
    us: Cost
    per_second: Cost


@frozen(kw_only=True)
class BenchOptions:
    """Options of ``airtoll ciphers bench``."""

    what: Annotated[
        str, typer.Argument(help="frames, or handshakes for their public-key operations.")
    ] = "frames"
    json: JsonOption = False
    toml: Annotated[
        bool,
        typer.Option("--toml", help="With handshakes: print [operation] for a device profile."),
    ] = False
    clock_hz: ClockOption = None
    rounds: RoundsOption = ROUNDS
    only: OnlyOption = None


@ciphers.command("bench")
@command
def bench(options: BenchOptions) -> None:
    """Measure a frame of every cipher, or the public-key operations of handshakes."""
    if options.what == "handshakes":
        _bench_handshakes(options)
        return
    if options.what != "frames":
        raise UsageError(f"{options.what}: allowed are frames, handshakes")
    if options.toml or options.clock_hz is not None:
        raise UsageError("--toml and --clock-hz go with `handshakes`; for frames use `profile`")
    costs = measure(options.rounds, options.only)
    if options.json:
        machine = {"processor": processor(), "engines": _native.cipher_engines()}
        emit_json(
            {
                "machine": machine,
                "level": LEVEL,
                "rounds": options.rounds,
                "ciphers": [
                    asdict(cost)
                    | {"mbps_per_core": cost.mbps_per_core, "keeps_up_he_80": cost.keeps_up}
                    for cost in costs
                ],
            }
        )
        return
    columns = ["cipher", "mode", "fixed us", "interval", "ns/octet", "interval ", "us at 1500"]
    columns += ["Mb/s per core", "keeps up"]
    view = table(f"{processor()}, {_native.cipher_engines()[0]}", columns, right=columns[2:-1])
    for cost in costs:
        view.add_row(
            cost.cipher,
            cost.mode,
            f"{cost.fixed_us.value:.4f}",
            f"{cost.fixed_us.low:.4f} to {cost.fixed_us.high:.4f}",
            f"{cost.slope_ns.value:.4f}",
            f"{cost.slope_ns.low:.4f} to {cost.slope_ns.high:.4f}",
            f"{cost.frame_us[max(cost.frame_us)]:.4f}",
            f"{cost.mbps_per_core:.0f}",
            "yes" if cost.keeps_up else "no",
        )
    out().print(view)
    out().print(
        f"Processor time; medians of {options.rounds} rounds, {LEVEL:.0%} order-statistic "
        "intervals. "
        "single: frames are encapsulated one after the other. capture: 64 frames are decapsulated "
        "together, each under its own key, as the capture reader does. Keeps up: one core works on "
        "frames of 1500 octets as fast as 802.11ax sends at 80 MHz with two streams "
        f"({HE_80_MBPS:.0f} Mb/s)."
    )


def _bench_handshakes(options: BenchOptions) -> None:
    clock_hz, rounds = options.clock_hz, options.rounds
    if options.json and options.toml:
        raise UsageError("--json and --toml: choose one")
    clock = _clock(clock_hz) if options.toml else None
    if clock is None and clock_hz is not None:
        raise UsageError("--clock-hz goes with --toml: rates do not need it")
    costs = measure_operations(rounds, options.only)
    if clock is not None:
        out().print("\n".join(_operation_lines(costs, clock[0])), markup=False, soft_wrap=True)
        return
    if options.json:
        emit_json(
            {
                "machine": {"processor": processor()},
                "level": LEVEL,
                "rounds": rounds,
                "operations": [asdict(cost) for cost in costs],
            }
        )
        return
    columns = ["operation", "implementation", "unit", "per second", "interval", "us"]
    view = table(processor(), columns, right=["per second", "interval", "us"])
    for cost in costs:
        rate = cost.per_second
        view.add_row(
            cost.operation,
            cost.implementation,
            cost.unit,
            _digits(rate.value),
            f"{_digits(rate.low)} to {_digits(rate.high)}",
            f"{cost.us.value:.4g}",
        )
    out().print(view)
    out().print(
        f"Processor time of the implementations that airtoll's handshakes run; medians of {rounds} "
        f"rounds, {LEVEL:.0%} order-statistic intervals."
    )


@frozen(kw_only=True)
class ProfileOptions:
    """Options of ``airtoll ciphers profile``."""

    name: Annotated[str, typer.Argument(help="Name of the device; the file is NAME.toml.")]
    directory: Annotated[
        Path, typer.Option("--dir", parser=named("--dir"), help="Folder to write to.")
    ] = Path()
    handshakes: Annotated[
        bool, typer.Option("--handshakes", help="Also measure operations of handshakes.")
    ] = False
    clock_hz: ClockOption = None
    force: Annotated[bool, typer.Option("--force", help="Replace an existing file.")] = False
    rounds: RoundsOption = ROUNDS
    only: OnlyOption = None


@ciphers.command("profile")
@command
def profile(options: ProfileOptions) -> None:
    """Write the costs of this machine's ciphers as a device profile."""
    if not options.name or not set(options.name) <= set("abcdefghijklmnopqrstuvwxyz0123456789.-_"):
        raise UsageError(
            f"{options.name!r}: a profile's name has lower-case letters, digits, '.-_'"
        )
    path = options.directory / f"{options.name}.toml"
    if path.exists() and not options.force:
        raise UsageError(f"{path}: exists; --force replaces it")
    clock, clock_source = _clock(options.clock_hz)
    names, operations = _split(options.only) if options.handshakes else (options.only, None)
    costs = [] if names == [] else measure(options.rounds, names, of=(SINGLE,))
    worked = (
        measure_operations(options.rounds, operations)
        if options.handshakes and operations != []
        else []
    )
    text = profile_text(costs, clock, clock_source, worked)
    put_text(path, text)
    load_file(path)
    err().print(f"wrote {path}: give it as a station's or an AP's profile")


def _version() -> str:
    """The version, with a word where the module lacks what a wheel has."""
    return _native.__version__ + ("" if _native.aws_lc else " (quick build)")


def _warn_of_quick_build() -> None:
    if not _native.aws_lc:
        err().print(
            "This module is the quick build: without AWS-LC and link-time optimisation its ciphers "
            "and public-key operations are slower. `make fast`, or a wheel, has both.",
            soft_wrap=True,
        )


def measure(
    rounds: int, only: Sequence[str] | None, of: Sequence[str] = (SINGLE, CAPTURE)
) -> list[CipherCost]:
    """The cost of every cipher, or of the named ones, in these modes as far as each has them."""
    _warn_of_quick_build()
    subjects = _native.cipher_subjects()
    known = [subject["name"] for subject in subjects]
    for name in only or ():
        if name not in known:
            raise UsageError(f"--only {name}: known are {', '.join(known)}")
    wanted = [
        (subject["name"], subject["kind"], mode)
        for subject in subjects
        if not only or subject["name"] in only
        for mode in subject["modes"]
        if mode in of
    ]
    costs = []
    with progress_bar() as bar:
        task = bar.add_task("ciphers", total=len(wanted))
        for name, kind, mode in wanted:
            bar.update(task, description=f"{name} {mode}")
            readings = np.array(_native.measure_cipher(name, mode, OCTETS, rounds, SLICE_US))
            costs.append(fit(name, kind, mode, OCTETS, readings))
            bar.advance(task)
    return costs


def measure_operations(rounds: int, only: Sequence[str] | None) -> list[OperationCost]:
    """The cost of every public-key operation of the handshakes, or of the named ones."""
    _warn_of_quick_build()
    subjects = _native.handshake_operations()
    known = [subject["name"] for subject in subjects]
    for name in only or ():
        if name not in known:
            raise UsageError(f"--only {name}: known are {', '.join(known)}")
    wanted = [subject for subject in subjects if not only or subject["name"] in only]
    costs = []
    with progress_bar() as bar:
        task = bar.add_task("operations", total=len(wanted))
        for subject in wanted:
            name = subject["name"]
            bar.update(task, description=name)
            measured = _native.measure_operation(name, rounds, OPERATION_SLICE_US)
            readings = np.array(measured) / subject["units"]
            costs.append(
                OperationCost(
                    operation=name,
                    implementation=subject["implementation"],
                    unit=subject["unit"],
                    us=median_cost(readings),
                    per_second=median_cost(1e6 / readings),
                )
            )
            bar.advance(task)
    return costs


def fit(
    name: str, kind: str, mode: str, octets: Sequence[int], readings: NDArray[np.float64]
) -> CipherCost:
    """Fit fixed + slope x octets to each round, then take medians over the rounds.

    ``readings``: microseconds per frame, one row per round, one column per length.
    """
    design = np.column_stack([np.ones(len(octets)), np.asarray(octets, dtype=float)])
    solution, *_ = np.linalg.lstsq(design, readings.T, rcond=None)
    medians = np.median(readings, axis=0)
    return CipherCost(
        cipher=name,
        kind=kind,
        mode=mode,
        fixed_us=median_cost(solution[0]),
        slope_ns=median_cost(solution[1] * 1000.0),
        frame_us={int(o): float(m) for o, m in zip(octets, medians, strict=True)},
    )


def median_cost(values: NDArray[np.float64]) -> Cost:
    """Median with the order-statistic interval of at least ``LEVEL`` (Conover 1999, 3.2)."""
    ordered = np.sort(values)
    count = len(ordered)
    quantile = int(np.searchsorted(binomial_below(count, 0.5), (1.0 - LEVEL) / 2.0))
    rank = max(quantile - 1, 0)
    return Cost(float(np.median(ordered)), float(ordered[rank]), float(ordered[count - 1 - rank]))


def profile_text(
    costs: Sequence[CipherCost],
    clock_hz: float,
    clock_source: str,
    operations: Sequence[OperationCost] = (),
) -> str:
    """A device profile in TOML; every number with how it was measured.

    A device encapsulates one frame after the other: costs of the mode ``single`` count.
    """
    machine = processor()
    engine = _native.cipher_engines()[0]
    gaps = ["host: the cost of the network stack was not measured"]
    if operations:
        gaps.append("operation: hashes and block ciphers of handshakes were not measured")
    lines = [
        "# Written by `airtoll ciphers profile`. The network stack's own costs are not measured",
        "# here and are left out.",
        f"about = {_quoted(f'{machine}, ciphers on the CPU ({engine}), {SINGLE}')}",
        f"clock_hz = {{ value = {clock_hz:.6g}, source = {_quoted(clock_source)} }}",
        f"gaps = [{', '.join(map(_quoted, gaps))}]",
        "",
    ]
    for cost in costs:
        if cost.mode != SINGLE:
            continue
        how = f"airtoll {_version()} on {machine}, {cost.mode}, encapsulation, "
        lines += [f"[cipher.{cost.cipher}]", 'engine = "cpu"']
        for key, number, unit, scale in (
            ("frame_cycles", cost.fixed_us, "us per frame", clock_hz * 1e-6),
            ("octet_cycles", cost.slope_ns, "ns per octet", clock_hz * 1e-9),
        ):
            source = (
                f"{how}{number.value:.4g} {unit} "
                f"({LEVEL:.0%} {number.low:.4g} to {number.high:.4g}) x clock_hz"
            )
            if number.value < 0.0:
                source += "; below zero, taken as zero"
            value = max(number.value, 0.0) * scale
            lines.append(f"{key} = {{ value = {value:.6g}, source = {_quoted(source)} }}")
        lines.append("")
    if operations:
        lines += [*_operation_lines(operations, clock_hz), ""]
    return "\n".join(lines)


def _operation_lines(costs: Sequence[OperationCost], clock_hz: float) -> list[str]:
    """The table ``[operation]`` of a device profile: cycles, each with how it was measured."""
    lines = ["[operation]"]
    for cost in costs:
        rate = cost.per_second
        source = (
            f"airtoll {_version()} on {processor()}, {cost.implementation}, "
            f"{_digits(rate.value)} a second ({LEVEL:.0%} {_digits(rate.low)} to "
            f"{_digits(rate.high)}) at {clock_hz:.6g} Hz"
        )
        cycles = cost.us.value * clock_hz * 1e-6
        lines.append(f"{cost.operation} = {{ value = {cycles:.6g}, source = {_quoted(source)} }}")
    return lines


def _digits(rate: float) -> str:
    """A rate with four significant digits, and thousands apart."""
    return f"{rate:.4g}" if rate < 1000 else f"{rate:,.0f}"


def _split(only: Sequence[str] | None) -> tuple[list[str] | None, list[str] | None]:
    """The names of ciphers and those of operations; ``None``: all."""
    if not only:
        return None, None
    operations = {subject["name"] for subject in _native.handshake_operations()}
    return [n for n in only if n not in operations], [n for n in only if n in operations]


def processor() -> str:
    """The processor's name."""
    return _cpuinfo("model name", str) or platform.processor() or platform.machine()


def _clock(given: float | None) -> tuple[float, str]:
    if given is not None:
        if not math.isfinite(given) or given <= 0.0:
            raise UsageError(f"--clock-hz {given}: a positive number of hertz")
        return given, "given on the command line"
    mhz = _cpuinfo("cpu MHz", float)
    if mhz is None:
        raise UsageError("the processor's clock cannot be read here: give it with --clock-hz")
    return mhz * 1e6, "cpu MHz of /proc/cpuinfo while measuring"


def _cpuinfo(key: str, convert: Callable[[str], T]) -> T | None:
    try:
        text = Path("/proc/cpuinfo").read_text("utf-8")
    except OSError:
        return None
    for line in text.splitlines():
        name, _, value = line.partition(":")
        if name.strip() == key:
            return convert(value.strip())
    return None


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
