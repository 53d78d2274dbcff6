"""Write the table of refusals in docs/limitations.md, from the capability tables of the testbeds.

Takes the tables; gives the page with its generated part. With --check it lists faults of the
page: a part out of date, a row of another form, or a page that is too long to be read.
"""

from __future__ import annotations

import sys
from collections import Counter
from pathlib import Path

from airtoll.testbeds import simulated
from airtoll.testbeds.capability import Capability
from airtoll.testbeds.linux import capability as linux_capability
from airtoll.testbeds.linux.air import parted_cell

PAGE = Path(__file__).resolve().parents[1] / "docs/limitations.md"
BEGIN = "<!-- refusals: written by tools/limitations.py -->"
END = "<!-- end -->"
#: Octets of the whole page.
MOST_OCTETS = 12 * 1024
#: Characters of a row that is written by hand.
MOST_OF_A_ROW = 160


def refusals() -> str:
    """Per testbed: refused fields by table, and skipped combinations."""
    linux = linux_capability.CAPABILITY
    rows = [
        ("simulator", _fields(simulated.CAPABILITY), _combinations(simulated.CAPABILITY)),
        ("linux", _fields(linux), _combinations(linux)),
        (
            "linux, laboratory",
            f"{len(linux.left_out)} are left out with a caveat",
            f"{len(linux.laboratory)} more",
        ),
        ("linux, simulated stations", "-", f"{len(parted_cell.FEATURES)} more"),
    ]
    return "\n".join(
        [
            "Every reason: [capabilities](reference/capabilities.md), `airtoll check`.",
            "",
            "| testbed | fields with values that it refuses | combinations that it skips |",
            "|---|---|---|",
            *(f"| {' | '.join(row)} |" for row in rows),
        ]
    )


def _fields(bed: Capability) -> str:
    refused = [path for path, entry in bed.fields.items() if entry.values is not None]
    by_table = Counter(path.rpartition(".")[0].removeprefix("scenario.") for path in refused)
    if not refused:
        return "none"
    tables = ", ".join(f"`{name}` {count}" for name, count in by_table.most_common())
    return f"{len(refused)} of {len(bed.fields)}: {tables}"


def _combinations(bed: Capability) -> str:
    kinds = f", and {len(bed.policies)} kinds of policies" if bed.policies else ""
    return f"{len(bed.features)}{kinds}"


def written(text: str) -> str:
    """The page with its generated part."""
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    return f"{before}{BEGIN}\n\n{refusals()}\n\n{END}{after}"


def faults(text: str) -> list[str]:
    """Faults of a page, in words."""
    found = []
    if written(text) != text:
        found.append("the table of refusals is out of date: run tools/limitations.py")
    octets = len(text.encode())
    if octets > MOST_OCTETS:
        found.append(f"{octets} octets, at most {MOST_OCTETS}: shorten rows, or fix a limit")
    by_hand = text.partition(END)[2]
    for line in by_hand.splitlines():
        if line and not line.startswith(("#", "|")):
            found.append(f"no row and no heading: {line}")
        cells = line.strip("|").split("|")
        if line.startswith("|") and (len(cells) != 3 or not all(cell.strip() for cell in cells)):
            found.append(f"a row is: what, where it matters, size of the effect (or -): {line}")
        if len(line) > MOST_OF_A_ROW:
            found.append(f"a row of more than {MOST_OF_A_ROW} characters: {line}")
    return found


def main(arguments: list[str]) -> int:
    """Write the page or, with --check, name its faults."""
    text = PAGE.read_text("utf-8")
    if "--check" not in arguments:
        text = written(text)
        PAGE.write_text(text, "utf-8")
    found = faults(text)
    for fault in found:
        print(f"docs/limitations.md: {fault}")
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
