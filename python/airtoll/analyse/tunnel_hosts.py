"""WireGuard on one CPU: cycles per packet of kinds of cores, fitted to half of the devices.

The data set ``wg-bench`` has the throughput of a TCP stream through a tunnel whose two ends are on
one machine. A packet then costs cycles per octet twice (sealed, opened), which are published, and
cycles per packet of the whole stack, which are not. The latter are fitted to every second device,
one number for each kind of core, and one share that a single core has to do for each packet of a
flow. The other devices are predicted. Never touches a device profile.
"""

from __future__ import annotations

import csv
import math
from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Final

import numpy as np
from attrs import frozen

from airtoll.analyse.calibration import optimisers
from airtoll.analyse.estimate import Array
from airtoll.errors import DatasetError
from airtoll.observe.datasets import Dataset

#: Octets of a full TCP segment with timestamps in wg-quick's MTU of 1420, and of its outer packet.
SEGMENT: Final = 1368
OUTER: Final = 1452

#: Cycles per octet of ChaCha20 and Poly1305 by kind of core (CRYPTOGAMS at 9444b2d5; the profiles
#: of devices with these cores name files and rows).
OCTET_CYCLES: Final[Mapping[str, float]] = {
    "24k": 15.5 + 10.0,
    "1004k": 15.5 + 4.65,
    "a7": 12.9 + 3.0,
    "a53": 4.06 + 1.47,
    "a72": 4.15 + 1.14,
    "a76": 2.90 + 1.00,
}
#: Relative residual from which on the fit follows a device less and less (soft L1).
_OUTLIER: Final = 0.1
#: Starts of the share that one core does, as logits.
_STARTS: Final = (-1.0, -0.4, 0.0, 0.3)


@frozen
class Machine:
    """One row of the table with its processor. ``printed_bps``: goodput of the stream."""

    name: str
    soc: str
    core: str
    cores: int
    clock_hz: float
    printed_bps: float


@frozen
class Overheads:
    """Cycles per packet by kind of core, both ends and both hosts together, and the share of them
    that one core does for each packet of a flow.
    """

    packet_cycles: Mapping[str, float]
    serial_share: float

    def throughput_bps(self, machine: Machine) -> float:
        """Goodput of one TCP stream, both ends on this machine."""
        packet = self.packet_cycles[machine.core]
        shared = (packet + 2 * OCTET_CYCLES[machine.core] * OUTER) / machine.cores
        return 8 * SEGMENT * machine.clock_hz / max(self.serial_share * packet, shared)

    def error(self, machine: Machine) -> float:
        """Predicted over printed, less 1."""
        return self.throughput_bps(machine) / machine.printed_bps - 1


def machines(dataset: Dataset) -> list[Machine]:
    """The rows whose processor is known, in the order of the table.

    ``processors.csv`` of the data set has pattern, SoC, kind of core, cores, clock and source.
    Raises DatasetError where it is missing or has a kind without published cycles.
    """
    place = dataset.folder / "processors.csv"
    try:
        with place.open(encoding="utf-8") as file:
            processors = list(csv.DictReader(file))
    except OSError as error:
        raise DatasetError(f"{place}: cannot be read: {error.strerror}") from error
    found = []
    for row in dataset.figures.iter_rows(named=True):
        for own in processors:
            if not fnmatchcase(row["configuration"], own["configuration"]):
                continue
            if own["core"] not in OCTET_CYCLES:
                known = ", ".join(OCTET_CYCLES)
                raise DatasetError(f"{place}: core {own['core']!r} unknown; known are {known}")
            found.append(
                Machine(
                    row["configuration"],
                    own["soc"],
                    own["core"],
                    int(own["cores"]),
                    float(own["clock_mhz"]) * 1e6,
                    row["si"],
                )
            )
            break
    return found


def halves(every: Sequence[Machine]) -> tuple[list[Machine], list[Machine]]:
    """Every second machine, and the others."""
    return list(every[0::2]), list(every[1::2])


def fit(seen: Sequence[Machine]) -> Overheads:
    """The overheads that explain some machines: least squares of logarithms, outliers damped."""
    kinds = list(dict.fromkeys(machine.core for machine in seen))

    def overheads(theta: Array) -> Overheads:
        cycles = np.exp(theta[:-1]).tolist()
        share = 1 / (1 + math.exp(-float(theta[-1])))
        return Overheads(dict(zip(kinds, cycles, strict=True)), share)

    def residuals(theta: Array) -> list[float]:
        tried = overheads(theta)
        return [math.log1p(tried.error(machine)) for machine in seen]

    # All cores busy with each packet: the start of the fit, never its result.
    first = [
        math.log(
            float(
                np.median(
                    [
                        8 * SEGMENT * m.cores * m.clock_hz / m.printed_bps
                        for m in seen
                        if m.core == kind
                    ]
                )
            )
        )
        for kind in kinds
    ]
    tries = [
        optimisers().least_squares(residuals, [*first, start], loss="soft_l1", f_scale=_OUTLIER)
        for start in _STARTS
    ]
    return overheads(min(tries, key=lambda outcome: float(outcome.cost)).x)
