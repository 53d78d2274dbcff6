"""Drawings into files; files for print in several processes at once.

Each panel is laid out once and written in every form. The same pictures give the same octets with
any number of processes. There are at most as many processes as processors, and one for a handful
of panels.

SVG takes little time: processes start where PNG or PDF is asked for. They are children of their own
and no ``ProcessPoolExecutor``: a spawned worker imports the caller's main module again, so that a
script without a ``__main__`` guard could not write a report.
"""

from __future__ import annotations

import gc
import os
import pickle
import subprocess
import sys
from collections.abc import Sequence
from contextlib import suppress
from queue import Empty, SimpleQueue
from threading import Thread

from airtoll.drawing.plate import Developed, Panel, Picture, Plate, develop_panel
from airtoll.drawing.printing import FORMS

#: A panel to print: its number, what is drawn, its stem, the forms of its files.
Job = tuple[int, Plate, str, tuple[str, ...]]
#: A printed panel: its form in the page, its files' contents by name.
Print = tuple[str, dict[str, bytes]]

#: Panels that one process prints in about the time that a second one takes to start.
_TOO_FEW = 6


def develop(
    pictures: Sequence[Picture], forms: Sequence[str] = (), processes: int | None = None
) -> list[Developed]:
    """Draw every panel once, for the page and as files of these formats.

    ``processes``: how many at most (default: one per processor, four at most).
    """
    places = [(picture, index) for picture in pictures for index in range(len(picture.panels))]
    shares = min(processes or min(4, os.cpu_count() or 1), 1 + len(places) // _TOO_FEW)
    if not set(forms) & set(FORMS):
        shares = 1
    press = _Press(shares - 1)
    for number, (picture, index) in enumerate(places):
        open_forms = tuple(forms) if index < picture.open_panels else ()
        press.take((number, picture.panels[index].draw(), picture.stem(index), open_forms))
    prints = press.finish()
    found: list[Developed] = []
    rest = iter(range(len(places)))
    for picture in pictures:
        of_picture = [prints[next(rest)] for _panel in picture.panels]
        files = {name: text for _page, contents in of_picture for name, text in contents.items()}
        in_page = tuple(
            _for_all_widths(panel, page)
            for panel, (page, _contents) in zip(picture.panels, of_picture, strict=True)
        )
        found.append(Developed(picture, in_page, files))
    return found


def _for_all_widths(panel: Panel, broad: str) -> str:
    """A panel of the page's width together with the plates that a phone shows instead."""
    if panel.slim is None:
        return broad
    slim = "".join(develop_panel(plate, "", ())[0] for plate in panel.slim())
    return f'<div class="broad">{broad}</div><div class="slim">{slim}</div>'


def child() -> None:
    """Print jobs from stdin, one by one, until it ends; what became of each goes to stdout."""
    # Most objects of a drawing live on: garbage collection took a twentieth of the time.
    gc.set_threshold(100_000)
    while True:
        try:
            job: Job = pickle.load(sys.stdin.buffer)
        except EOFError:
            return
        pickle.dump(_print(job), sys.stdout.buffer)
        sys.stdout.buffer.flush()


class _Press:
    """Prints while more is being drawn: every child takes the next job as soon as it is free."""

    def __init__(self, children: int) -> None:
        self._waiting: SimpleQueue[Job | None] = SimpleQueue()
        self._prints: dict[int, Print] = {}
        # Started first: they load while this process draws.
        self._feeders = [
            Thread(target=self._feed, args=(_child(),), daemon=True) for _ in range(children)
        ]
        for feeder in self._feeders:
            feeder.start()

    def take(self, job: Job) -> None:
        """Have a job printed as soon as a process is free."""
        self._waiting.put(job)

    def finish(self) -> dict[int, Print]:
        """Help until everything is printed; every print by its job's number."""
        self._print_waiting()
        for _ in self._feeders:
            self._waiting.put(None)
        for feeder in self._feeders:
            feeder.join()
        # A child that died put its job back.
        self._print_waiting()
        return self._prints

    def _print_waiting(self) -> None:
        with suppress(Empty):
            while True:
                if job := self._waiting.get_nowait():
                    self._prints[job[0]] = _print(job)

    def _feed(self, child: subprocess.Popen[bytes]) -> None:
        assert child.stdin is not None
        assert child.stdout is not None
        with child:
            while job := self._waiting.get():
                try:
                    pickle.dump(job, child.stdin)
                    child.stdin.flush()
                    self._prints[job[0]] = pickle.load(child.stdout)
                except (OSError, EOFError, pickle.UnpicklingError):
                    self._waiting.put(job)
                    return


def _child() -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, "-c", f"from {__name__} import child; child()"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    )


def _print(job: Job) -> Print:
    _number, plate, stem, forms = job
    return develop_panel(plate, stem, forms)
