"""Shared by the fuzz targets of Python: coverage of the package, bounds of an input, the loop.

A target is a program ``TARGET.py CORPUS -max_total_time=60 ...`` with libFuzzer's options. An input
that ends in anything but a result or an error of one line stays in ``artifacts``.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import atheris

#: The repository.
ROOT = Path(__file__).resolve().parents[2]
#: Processor time that one input may take, seconds; coverage makes Python several times slower.
MOST_S = 60.0


def tests_of(folder: str) -> None:
    """Let a target import the programs of a folder of tests, which own what must hold."""
    sys.path.insert(0, str(ROOT / "tests" / folder))


def one_line(error: Exception) -> None:
    """An error that a person reads is one printable line."""
    message = str(error)
    assert "\n" not in message, message
    assert message.isprintable(), message
    assert len(message) < 5000, len(message)


def _too_long(_signal: int, _frame: object) -> None:
    raise TimeoutError(f"more than {MOST_S:.0f} s of processor time")


def fuzz(
    target: Callable[[bytes], None],
    seeds: Mapping[str, bytes],
    mutate: Callable[[bytes, int, int], bytes] | None = None,
) -> None:
    """Write the seeds into the first folder of the command line, and fuzz without end or limit."""
    corpus = Path(next(word for word in sys.argv[1:] if not word.startswith("-")))
    corpus.mkdir(parents=True, exist_ok=True)
    for name, octets in seeds.items():
        (corpus / name).write_bytes(octets)
    signal.signal(signal.SIGPROF, _too_long)

    def bounded(octets: bytes) -> None:
        signal.setitimer(signal.ITIMER_PROF, MOST_S)
        try:
            target(octets)
        finally:
            signal.setitimer(signal.ITIMER_PROF, 0)

    if mutate is None:
        atheris.Setup(sys.argv, bounded)
    else:
        atheris.Setup(sys.argv, bounded, custom_mutator=mutate)
    atheris.Fuzz()
