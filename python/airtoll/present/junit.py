"""Requirements as JUnit XML, which continuous integration shows.

Takes claims; gives the text of a file. A requirement that is not met is a ``failure``, and one that
cannot be told an ``error``: ``skipped`` would pass.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from airtoll.answer import Ruled, Ruling
from airtoll.present.words import Teller


def junit(
    claims: Sequence[Ruled],
    teller: Teller,
    *,
    study: str,
    properties: Mapping[str, str],
    timestamp: str,
    duration_s: float,
) -> str:
    """One test case for each requirement and place.

    ``timestamp``: ISO 8601, start of the run; the schema has it without a time zone.
    ``duration_s``: of the run. A test case takes no time of its own.
    """
    root = Element("testsuites")
    failed = sum(claim.ruling is Ruling.FAILED for claim in claims)
    passed = sum(claim.ruling is Ruling.MET for claim in claims)
    suite = SubElement(
        root,
        "testsuite",
        {
            "id": "0",
            "package": "airtoll",
            "name": _text(study),
            "timestamp": timestamp.partition("+")[0].partition(".")[0].removesuffix("Z"),
            "hostname": "localhost",
            "tests": str(len(claims)),
            "failures": str(failed),
            "errors": str(len(claims) - failed - passed),
            "time": f"{duration_s:.3f}",
        },
    )
    described = SubElement(suite, "properties")
    for name, value in properties.items():
        SubElement(described, "property", {"name": _text(name), "value": _text(value)})
    for claim, name in zip(claims, _names(claims, teller), strict=True):
        case = SubElement(
            suite,
            "testcase",
            {"classname": _text(f"airtoll.{study}"), "name": _text(name), "time": "0"},
        )
        if claim.ruling is Ruling.MET:
            continue
        kind = "failure" if claim.ruling is Ruling.FAILED else "error"
        line = _text(teller.ruled(claim))
        SubElement(case, kind, {"type": claim.ruling.value, "message": line}).text = line
    SubElement(suite, "system-out")
    SubElement(suite, "system-err")
    indent(root)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(root, encoding="unicode") + "\n"


def _names(claims: Sequence[Ruled], teller: Teller) -> list[str]:
    """A name of its own for each case: two of the same name would count as one."""
    found: list[str] = []
    seen: dict[str, int] = {}
    for claim in claims:
        name = f"{teller.required(claim)} [{claim.cell.name}]"
        if claim.name and (claim.station is not None or claim.flow is not None):
            name += f" {claim.station or ''} {claim.flow or ''}".rstrip()
        seen[name] = seen.get(name, 0) + 1
        found.append(name if seen[name] == 1 else f"{name} ({seen[name]})")
    return found


#: Characters besides these are not allowed in XML 1.0 (section 2.2).
_ALLOWED: Final = ((0x20, 0xD7FF), (0xE000, 0xFFFD), (0x10000, 0x10FFFF))


def _text(text: str) -> str:
    """A text in one line without the characters that XML cannot hold."""
    return "".join(c if any(low <= ord(c) <= high for low, high in _ALLOWED) else "?" for c in text)
