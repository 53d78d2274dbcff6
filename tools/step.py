"""Runs one step of the Makefile: says what it does and about how long, then how long it took.

Usage: ``step.py [--show] WHAT ABOUT COMMAND...``. The command's output is shown only where it
fails, or with ``--show``. On a terminal the crates that cargo has compiled are counted meanwhile.
The step's wall and CPU time end its line. Ends with the command's exit code.

With ``AIRTOLL_RESULTS=FOLDER`` each step adds its times to ``FOLDER/times.jsonl``, and the tests
add their results to ``FOLDER/tests.jsonl`` (``tests/conftest.py``). ``step.py --times FOLDER``
prints where the time went. ``step.py --results FOLDER [NOTE]`` prints how many tests passed, and on
the last line what was skipped, with the note of what was not asked for.

The standard library alone: it runs before anything is installed.
"""

from __future__ import annotations

import json
import os
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

#: Lines of a failed command that are shown.
SHOWN = 60


def spoken(seconds: float) -> str:
    """Seconds as people say them: ``9.3 s``, ``48 s``, ``2 min 5 s``."""
    if seconds < 9.95:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes else f"{rest} s"


def main(what: str, about: str, *command: str, show: bool = False) -> int:
    """The exit code of the command."""
    opening = f"{what} (about {about}) ..."
    print(opening, end="\n" if show else " ", flush=True)
    began_s, start = time.time(), time.monotonic()
    with tempfile.TemporaryFile() as log:
        sink = None if show else log
        try:
            running = subprocess.Popen(
                command, stdin=subprocess.DEVNULL, stdout=sink, stderr=sink and subprocess.STDOUT
            )
        except OSError as error:
            print(f"failed\n{command[0]}: {error.strerror}", flush=True)
            return 127
        try:
            code = running.wait() if show else wait(running, log.fileno(), opening)
        except KeyboardInterrupt:
            running.wait()
            print("stopped", flush=True)
            return 130
        seconds = time.monotonic() - start
        usage = resource.getrusage(resource.RUSAGE_CHILDREN)
        cpu = usage.ru_utime + usage.ru_stime
        said = spoken(seconds) + (f", CPU {spoken(cpu)}" if cpu > 1 else "")
        lead = f"{what}: " if show else ""
        print(lead + ("failed after " if code else "") + said, flush=True)
        if code and not show:
            log.seek(0)
            lines = log.read().decode(errors="replace").splitlines()
            print("\n".join(lines[-SHOWN:]), flush=True)
    results = os.environ.get("AIRTOLL_RESULTS")
    if results:
        row = {
            "what": what, "began_s": began_s, "wall_s": round(seconds, 1), "cpu_s": round(cpu, 1),
            "code": code,
        }  # fmt: skip
        Path(results).mkdir(parents=True, exist_ok=True)
        with Path(results, "times.jsonl").open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
    return code


def wait(running: subprocess.Popen[bytes], log: int, opening: str) -> int:
    """Until the command ends; on a terminal with a count of compiled crates."""
    if not sys.stdout.isatty():
        return running.wait()
    shown = ""
    while True:
        try:
            code = running.wait(timeout=0.5)
        except subprocess.TimeoutExpired:
            said = os.pread(log, os.fstat(log).st_size, 0)
            crates = said.count(b"Compiling ") + said.count(b"Checking ")
            text = f"{crates} crates" if crates else ""
            # Only what fits: a line that wraps cannot be written over.
            if text != shown and len(opening + text) < shutil.get_terminal_size().columns:
                print(f"\r{opening} {text}\x1b[K", end="", flush=True)
                shown = text
        else:
            if shown:
                print(f"\r{opening} \x1b[K", end="", flush=True)
            return code


def rows_of(file: Path) -> list[dict[str, Any]]:
    """The rows of a file of JSON lines; none where there is no file."""
    text = file.read_text("utf-8") if file.exists() else ""
    return [json.loads(line) for line in text.splitlines()]


def times(folder: str) -> int:
    """Print wall and CPU time of each step, and of all from the first start to the last end."""
    rows = rows_of(Path(folder, "times.jsonl"))
    if rows:
        wall = max(r["began_s"] + r["wall_s"] for r in rows) - min(r["began_s"] for r in rows)
        rows.append({"what": "all", "wall_s": wall, "cpu_s": sum(r["cpu_s"] for r in rows)})
    print(f"{'step':<44}{'wall':>8}{'CPU':>8}")
    for row in rows:
        failed = "  failed" if row.get("code") else ""
        print(f"{row['what']:<44}{row['wall_s']:>6.0f} s{row['cpu_s']:>6.0f} s{failed}")
    return 0


def results(folder: str, note: str = "") -> int:
    """Print the sums of the test runs, and on the last line each reason to skip with its tests."""
    rows = rows_of(Path(folder, "tests.jsonl"))
    sums = {k: sum(row[k] for row in rows) for k in ("passed", "failed")}
    reasons: Counter[str] = Counter()
    for row in rows:
        reasons.update(row["skipped"])
    print(f"{sums['passed']} passed, {sums['failed']} failed, {sum(reasons.values())} skipped")
    skipped = "; ".join(f"{count}: {reason}" for reason, count in reasons.most_common())
    print(f"Skipped: {skipped or 'nothing'}. {note}".strip())
    return 1 if sums["failed"] else 0


if __name__ == "__main__":
    arguments = sys.argv[1:]
    if arguments[0] == "--times":
        sys.exit(times(*arguments[1:]))
    if arguments[0] == "--results":
        sys.exit(results(*arguments[1:]))
    show = arguments[0] == "--show"
    sys.exit(main(*arguments[show:], show=show))
