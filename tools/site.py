"""Write the pages of the documentation site that are made: figures of studies, and the lesson.

Runs some studies with few trials and copies their SVG files below docs/figures, with one page that
shows them. Writes the folder of `airtoll lesson` and a page that leads to it. None of these is
checked in.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from airtoll.lesson import write_lesson
from airtoll.report import browser, write_report
from airtoll.run import run
from airtoll.study import load

DOCS = Path(__file__).resolve().parents[1] / "docs"
#: Studies that finish in seconds, each with its trials.
STUDIES = {"quickstart": 3, "tripathi2008": 3, "beacon-tax": 2, "radius-distance": 2}


def main() -> None:
    """Run the studies and write the pages."""
    _lessons()
    figures = DOCS / "figures"
    shutil.rmtree(figures, ignore_errors=True)
    lines = [
        "# Figures of the studies",
        "",
        "Made with few trials while the site was built. Each study has the command that draws its",
        "figures.",
    ]
    for name, trials in STUDIES.items():
        with TemporaryDirectory() as folder:
            result = run(name, out=Path(folder) / name, trials=trials)
            write_report([result.path])
            target = figures / name
            target.mkdir(parents=True)
            for path in sorted((result.path / "figures").glob("*.svg")):
                shutil.copy(path, target)
        lines += ["", f"## {load(name).study.study.title}", ""]
        lines += ["```", f"airtoll run {name} --trials {trials}", "```", ""]
        lines += [
            f"![{path.stem} of {name}](figures/{name}/{path.name})"
            for path in sorted(target.glob("*.svg"))
        ]
    (DOCS / "figures.md").write_text("\n".join(lines) + "\n", "utf-8")


def _lessons() -> None:
    """The lesson of this site, with the playground or the reason why it has none."""
    shutil.rmtree(DOCS / "lesson", ignore_errors=True)
    with_page = browser.module() is not None
    write_lesson(DOCS / "lesson", with_page=with_page)
    lines = ["# Lessons in the browser", ""]
    if with_page:
        lines += [
            "[Open the playground](lesson/playground.html): six lessons for a class hour.",
            "",
        ]
    else:
        lines += [
            "This site was built without the simulator for browsers. `make web` builds it.",
            "",
        ]
    lines += [
        "[Tasks](lesson/tasks.html), [solutions](lesson/solutions.html), and "
        "the handshakes of [WPA2](lesson/handshake.html), with its "
        "[frames](lesson/handshake/air.pcapng) and [keys](lesson/handshake/keys.json), and of "
        "[WPA3](lesson/handshake-wpa3.html), with its "
        "[frames](lesson/handshake-wpa3/air.pcapng) and [keys](lesson/handshake-wpa3/keys.json).",
        "",
        "The [guide](guides/teaching.md) says how to make them.",
    ]
    (DOCS / "lessons.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
