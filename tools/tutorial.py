"""Write the outputs of docs/guides/tutorial.md, or with --check compare them.

Runs the commands of the tutorial in a temporary folder, in order; gives the page with the output of
each command in the block after it. With --check it reports blocks that differ and changes nothing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "guides" / "tutorial.md"
_COMMAND = re.compile(r"^    airtoll (.+)$")
#: The expected duration depends on the machine.
_DURATION = re.compile(r"about .* on simulator$", re.MULTILINE)


def outputs(text: str, folder: Path) -> str:
    """The page with the blocks that its commands print in ``folder``."""
    lines: list[str] = []
    printed: str | None = None
    inside = False
    for line in text.splitlines():
        found = _COMMAND.match(line)
        if line.startswith("```"):
            inside = not inside
            if inside and printed is not None:
                lines += [line, *printed.splitlines()]
                continue
            if not inside:
                printed = None
        elif inside and printed is not None:
            continue
        elif found and not inside:
            printed = _run(found[1].split(), folder)
        lines.append(line)
    return "\n".join(lines) + "\n"


def same(one: str, other: str) -> bool:
    """Whether two versions of the page are equal, expected durations apart."""
    return _DURATION.sub("", one) == _DURATION.sub("", other)


def main() -> int:
    """Write the page, or compare it; 1 if it is out of date."""
    old = PAGE.read_text("utf-8")
    with tempfile.TemporaryDirectory(prefix="airtoll-tutorial-") as folder:
        new = outputs(old, Path(folder))
    if same(old, new):
        return 0
    if "--check" in sys.argv[1:]:
        sys.stderr.write(f"{PAGE}: out of date; run python tools/tutorial.py\n")
        return 1
    PAGE.write_text(new, "utf-8")
    return 0


def _run(arguments: list[str], folder: Path) -> str:
    """The part of a command's output that the tutorial shows."""
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "python")}
    if arguments[0] == "report":
        arguments = [*arguments, "--format", "markdown"]
    done = subprocess.run(
        [sys.executable, "-m", "airtoll.cli", *arguments],
        cwd=folder,
        env=environment,
        check=True,
        capture_output=True,
        text=True,
    )
    text = done.stdout
    if arguments[0] in ("check", "plan"):
        text += done.stderr
    elif arguments[0] == "report":
        # The page of a comparison opens with these sentences.
        page = (folder / arguments[1] / "comparison.md").read_text("utf-8")
        text = page.partition("\n|")[0].strip()
    elif arguments[0] == "advise":
        text = "\n".join(line for line in text.splitlines() if line.startswith("Choose "))
    return "\n".join(line.rstrip() for line in text.splitlines())


if __name__ == "__main__":
    raise SystemExit(main())
