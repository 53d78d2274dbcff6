"""Write the answer of every shipped study: its first sentences.

    python tools/study_answers.py [--check] [--pages] [STUDY ...]

Runs the studies (all without names) in the simulator with their default seed, and writes their
first sentences to tests/answer/golden/STUDY.txt. From these files it writes docs/studies/answers.md
and the sections of docs/studies/PAGE.md between <!-- answers: STUDY ... --> and <!-- end of answers
-->. With --pages it runs nothing. With --check it changes nothing, lists what is out of date, and
ends with 1.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

from airtoll.report.headline import headline
from airtoll.report.summary import summarise
from airtoll.run import run
from airtoll.study import load, shipped

ROOT = Path(__file__).resolve().parents[1]
GOLDEN = ROOT / "tests" / "answer" / "golden"
PAGES = ROOT / "docs" / "studies"
ANSWERS = PAGES / "answers.md"
#: Sentences that answer a study.
SENTENCES = 2
_MARK = re.compile(r"<!-- answers: ([a-z0-9 -]+) -->\n.*?<!-- end of answers -->\n", re.DOTALL)


def main() -> int:
    """Write or check; 1 if something is out of date."""
    arguments = sys.argv[1:]
    check = "--check" in arguments
    names = [one for one in arguments if not one.startswith("-")]
    stale: list[str] = []
    for name in () if "--pages" in arguments else names or list(shipped()):
        stale += _written(GOLDEN / f"{name}.txt", "\n".join(sentences(name)) + "\n", check)
    for page, text in pages():
        stale += _written(page, text, check)
    if check and stale:
        sys.stderr.write(f"out of date: {', '.join(stale)}; run tools/study_answers.py\n")
        return 1
    return 0


def sentences(name: str) -> list[str]:
    """The first sentences of a run of a shipped study with its default seed."""
    with tempfile.TemporaryDirectory() as folder:
        return headline(summarise(run(name, out=Path(folder) / name).path))[:SENTENCES]


def golden(name: str) -> list[str]:
    """The first sentences of a study, as its golden file holds them."""
    file = GOLDEN / f"{name}.txt"
    return file.read_text("utf-8").splitlines() if file.exists() else []


def pages() -> Iterator[tuple[Path, str]]:
    """Every page with answers, and its text by the golden files."""
    yield ANSWERS, "\n".join(_all_answers()) + "\n"
    for page in sorted(PAGES.glob("*.md")):
        old = page.read_text("utf-8")
        if page != ANSWERS and _MARK.search(old):
            yield page, _MARK.sub(lambda found: _section(found.group(1).split()), old)


def _all_answers() -> Iterator[str]:
    yield "# The answer of every study"
    yield ""
    yield "`airtoll run STUDY` ends with these sentences, and `airtoll show RUN` shows them again."
    yield "An interval holds at 95 %. A change that is too small to be noticed is as large as its"
    yield "interval allows. Printed overheads are met within one point, other printed values within"
    yield "5 %."
    yield ""
    yield "Written by `python tools/study_answers.py` from runs with the default seed."
    for name in shipped():
        yield ""
        yield f"## {name}"
        yield ""
        yield load(name).study.study.question
        yield ""
        yield from (f"- {line}" for line in golden(name))


def _section(names: Sequence[str]) -> str:
    lines = [f"<!-- answers: {' '.join(names)} -->"]
    if len(names) == 1:
        lines += [f"- {line}" for line in golden(names[0])]
    else:
        lines += [f"- `{name}`: {' '.join(golden(name))}" for name in names]
    return "\n".join([*lines, "<!-- end of answers -->"]) + "\n"


def _written(file: Path, text: str, check: bool) -> list[str]:
    old = file.read_text("utf-8") if file.exists() else ""
    if text == old:
        return []
    if not check:
        file.write_text(text, "utf-8")
    return [str(file.relative_to(ROOT))]


if __name__ == "__main__":
    sys.exit(main())
