"""Write the audit section of docs/studies/NAME.md and the counts in docs/audit.md.

Data sets of devices share docs/studies/device-tables.md.

Takes the shipped data sets; gives Markdown between markers. With --check it lists pages out of
date. Never changes a word outside the markers.
"""

from __future__ import annotations

import sys
from pathlib import Path

from airtoll.analyse.audit import SEVERITIES, Finding, audit
from airtoll.observe.datasets import Dataset, list_datasets, load_dataset

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- audit -->\n", "<!-- end of audit -->\n"
#: The page that data sets of devices share.
DEVICES = "device-tables"
_LONGEST = 400


def main() -> int:
    """Write or check every page; 1 if one is out of date or lacks its markers."""
    check = "--check" in sys.argv[1:]
    sets = {name: load_dataset(name) for name in list_datasets()}
    findings = {name: audit(dataset) for name, dataset in sets.items()}
    devices = {name: f for name, f in findings.items() if sets[name].of_devices}
    papers = {name: f for name, f in findings.items() if name not in devices}
    pages = {_page(name): section(f) for name, f in papers.items()}
    pages[_page(DEVICES)] = tables({name: sets[name] for name in devices}) + "".join(
        f"\n## Findings in {name}\n\n{section(f)}" for name, f in devices.items() if f
    )
    pages[ROOT / "docs" / "audit.md"] = counts(findings, frozenset(devices))
    stale = []
    for page, text in pages.items():
        old = page.read_text("utf-8")
        head, mark, rest = old.partition(START)
        _, end, tail = rest.partition(END)
        if not mark or not end:
            sys.stderr.write(f"{page}: lacks the markers {START.strip()} and {END.strip()}\n")
            return 1
        new = head + START + text + END + tail
        if new != old:
            stale.append(page)
            if not check:
                page.write_text(new, "utf-8")
    if check and stale:
        names = ", ".join(str(page.relative_to(ROOT)) for page in stale)
        sys.stderr.write(f"out of date: {names}; run tools/audit_pages.py\n")
        return 1
    return 0


def _page(name: str) -> Path:
    return ROOT / "docs" / "studies" / f"{name}.md"


def tables(sets: dict[str, Dataset]) -> str:
    """Where the figures of the data sets of devices stand."""
    heads = ("data set", "table", "figures", "read in", "version", "conditions")
    lines = ["| " + " | ".join(heads) + " |", "|---" * len(heads) + "|"]
    for name, dataset in sets.items():
        figures = dict(dataset.figures["table"].value_counts().iter_rows())
        for row in dataset.sources.iter_rows(named=True):
            place = f"[{row['place']}]({row['address']})"
            version = row["version"][:12]
            cells = (name, row["table"], str(figures[row["table"]]), place, version)
            lines.append("| " + " | ".join((*cells, _cell(row["conditions"]))) + " |")
    return "\n".join(lines) + "\n"


def section(findings: list[Finding]) -> str:
    """One table of findings, most severe first."""
    lines = [
        "| severity | where | kind | printed | recomputed | evidence |",
        "|---|---|---|---|---|---|",
    ]
    for f in findings:
        cells = (
            f.severity,
            _cell(f"{f.table}: {f.where}"),
            f"`{f.kind}`",
            _cell(f.printed),
            _cell(f.recomputed),
            _cell(f.evidence),
        )
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def counts(findings: dict[str, list[Finding]], devices: frozenset[str]) -> str:
    """How many findings each data set has."""
    lines = ["| data set | errors | warnings | notes |", "|---|---|---|---|"]
    for name, found in findings.items():
        numbers = (str(sum(f.severity == severity for f in found)) for severity in SEVERITIES)
        page = DEVICES if name in devices else name
        lines.append(f"| [{name}](studies/{page}.md) | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    plain = text.replace("|", "\\|").replace("\n", " ")
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 3].rstrip() + "..."


if __name__ == "__main__":
    raise SystemExit(main())
