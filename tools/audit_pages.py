"""Write the audit section of docs/studies/NAME.md and the counts in docs/audit.md.

Takes the shipped data sets; gives Markdown between markers. With --check it lists pages out of
date. Never changes a word outside the markers.
"""

from __future__ import annotations

import sys
from pathlib import Path

from airtoll.analyse.audit import SEVERITIES, Finding, audit
from airtoll.observe.datasets import list_datasets, load_dataset

ROOT = Path(__file__).resolve().parents[1]
START, END = "<!-- audit -->\n", "<!-- end of audit -->\n"
_LONGEST = 400


def main() -> int:
    """Write or check every page; 1 if one is out of date or lacks its markers."""
    check = "--check" in sys.argv[1:]
    findings = {name: audit(load_dataset(name)) for name in list_datasets()}
    pages = {ROOT / "docs" / "studies" / f"{n}.md": section(f) for n, f in findings.items()}
    pages[ROOT / "docs" / "audit.md"] = counts(findings)
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


def counts(findings: dict[str, list[Finding]]) -> str:
    """How many findings each data set has."""
    lines = ["| data set | errors | warnings | notes |", "|---|---|---|---|"]
    for name, found in findings.items():
        numbers = (str(sum(f.severity == severity for f in found)) for severity in SEVERITIES)
        lines.append(f"| [{name}](studies/{name}.md) | {' | '.join(numbers)} |")
    return "\n".join(lines) + "\n"


def _cell(text: str) -> str:
    plain = text.replace("|", "\\|").replace("\n", " ")
    return plain if len(plain) <= _LONGEST else plain[: _LONGEST - 3].rstrip() + "..."


if __name__ == "__main__":
    raise SystemExit(main())
