"""Drawings into files: several processes at once, since that is most of a report's time.

Takes pictures; gives them developed, each panel laid out once and written in every form. The same
pictures give the same octets, whatever the number of processes. Never starts more processes than
there are processors, and none for a handful of panels.
"""

from __future__ import annotations

import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress

from airtoll.report.figures.plate import Developed, Picture, Plate, drawn, printed

#: A panel to print: where it belongs, what is drawn, its stem, the forms of its files.
Job = tuple[int, Plate, str, tuple[str, ...]]
#: What became of it.
Print = tuple[int, str, dict[str, bytes]]

#: Panels that one process prints in about the time that a second one takes to start.
_TOO_FEW = 6


def develop(
    pictures: Sequence[Picture], forms: Sequence[str] = (), processes: int | None = None
) -> list[Developed]:
    """Draw every panel once, for the page and as files of these formats.

    ``processes``: how many at most (default: one per processor, four at most).
    """
    count = sum(len(picture.panels) for picture in pictures)
    shares = min(processes or min(4, os.cpu_count() or 1), 1 + count // _TOO_FEW)
    # Started first: they load while this process draws.
    children = [_child() for _ in range(1, shares)]
    places = [(picture, index) for picture in pictures for index in range(len(picture.panels))]
    jobs: list[Job] = [
        (
            number,
            drawn(picture, index),
            picture.stem(index),
            tuple(forms) if index < picture.open_panels else (),
        )
        for number, (picture, index) in enumerate(places)
    ]
    prints = sorted(_shared_out(jobs, children), key=lambda p: p[0])
    found: list[Developed] = []
    rest = iter(prints)
    for picture in pictures:
        pages: list[str] = []
        files: dict[str, bytes] = {}
        for _panel in picture.panels:
            _number, page, contents = next(rest)
            pages.append(page)
            files |= contents
        found.append(Developed(picture, tuple(pages), files))
    return found


def child() -> None:
    """Print the share of jobs on stdin; what became of them goes to stdout."""
    prints = [_print(job) for job in pickle.load(sys.stdin.buffer)]
    sys.stdout.buffer.write(pickle.dumps(prints))


def _child() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import child; child()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _shared_out(jobs: Sequence[Job], children: Sequence[subprocess.Popen[bytes]]) -> list[Print]:
    """This process prints one share, its children the others."""
    shares = 1 + len(children)
    for share, child in enumerate(children, 1):
        assert child.stdin is not None
        with suppress(OSError), child.stdin:
            # A child reads all of its share before it writes anything.
            pickle.dump(jobs[share::shares], child.stdin)
    prints = [_print(job) for job in jobs[::shares]]
    for share, child in enumerate(children, 1):
        assert child.stdout is not None
        with child.stdout:
            answer = child.stdout.read()
        # A child that died has printed nothing: its share is printed here.
        done = child.wait() == 0
        prints += pickle.loads(answer) if done else [_print(job) for job in jobs[share::shares]]
    return prints


def _print(job: Job) -> Print:
    number, plate, stem, forms = job
    return (number, *printed(plate, stem, forms))
