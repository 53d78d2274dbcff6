"""Write the pages of the documentation site that are made: figures of studies, and the playground.

Runs some studies with few trials and copies their SVG files below docs/figures, with one page that
shows them. Writes the playground and a page that leads to it. None of these is checked in.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from tempfile import TemporaryDirectory

from airtoll.report import browser, write_report
from airtoll.report.playground import write_playground
from airtoll.run import run
from airtoll.study import load
from airtoll.testbeds.lessons import lessons

DOCS = Path(__file__).resolve().parents[1] / "docs"
#: Studies that finish in seconds, each with its trials.
STUDIES = {"quickstart": 3, "tripathi2008": 3, "beacon-tax": 2, "radius-distance": 2}


def main() -> None:
    """Run the studies and write the pages."""
    _playground()
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


def _playground() -> None:
    """The playground of this site, or the reason why it has none."""
    page = DOCS / "playground.html"
    page.unlink(missing_ok=True)
    lines = ["# Lessons in the browser", ""]
    if browser.module() is None:
        lines += [
            "This site was built without the simulator for browsers. `make web` builds it.",
            "",
        ]
    else:
        write_playground(lessons(), page)
        lines += ["[Open the playground](playground.html): six lessons for a class hour.", ""]
    lines += ["The [guide](guides/playground.md) has the lessons and their controls."]
    (DOCS / "lessons.md").write_text("\n".join(lines) + "\n", "utf-8")


if __name__ == "__main__":
    main()
