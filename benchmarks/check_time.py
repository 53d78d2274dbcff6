"""The duration that ``airtoll check`` expects beside the processor time of the run.

Takes names of studies (default: all shipped ones); prints the expected and the measured seconds of
one trial of every cell, and their ratio. Processor time of one thread, so that the load of the
machine matters little. Exit code 1 if a study is off by more than a factor of two.

    python benchmarks/check_time.py [--report] [STUDY...]

``--report`` adds the report to both sides, as ``airtoll check`` does.
"""

from __future__ import annotations

import contextlib
import resource
import sys
import tempfile
from pathlib import Path

from airtoll.cli.running import report_s
from airtoll.report import write_report
from airtoll.run import check, run
from airtoll.study import shipped

#: A run is over before a person looks at the estimate.
_TOO_SHORT_S = 0.5


def main() -> int:
    """Print a row for each study; 1 if one is off by more than a factor of two."""
    with_report = "--report" in sys.argv
    names = [name for name in sys.argv[1:] if not name.startswith("-")] or list(shipped())
    off = 0
    print(f"{'study':32}{'cells':>6}{'expected s':>12}{'measured s':>12}{'ratio':>8}")
    for name in names:
        _plan, cells = check(name)
        expected = sum(cell.expected_s for cell in cells if cell.skip is None)
        expected += report_s(len(cells)) if with_report else 0.0
        measured = _measured_s(name, with_report)
        ratio = expected / measured
        wrong = not 0.5 <= ratio <= 2 and max(expected, measured) > _TOO_SHORT_S
        off += wrong
        line = f"{name:32}{len(cells):6}{expected:12.2f}{measured:12.2f}{ratio:8.2f}"
        print(line + ("  off" if wrong else ""), flush=True)
    return 1 if off else 0


def _measured_s(name: str, with_report: bool) -> float:
    with tempfile.TemporaryDirectory(prefix="airtoll-check-") as folder:
        before = _processor_s()
        with contextlib.redirect_stdout(sys.stderr):
            result = run(name, out=Path(folder) / "run", trials=1, jobs=1)
            if with_report:
                write_report([result.path])
        return _processor_s() - before


def _processor_s() -> float:
    """Processor time of this process and of the children that draw, seconds."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


if __name__ == "__main__":
    sys.exit(main())
