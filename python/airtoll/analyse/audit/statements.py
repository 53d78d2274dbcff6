"""Statements of a text that need no readings: sums, services, properties by a standard, rankings.

Takes the figures of a data set and one claim (for rankings: all of them); gives findings.
Never looks at a measured value.
"""

from __future__ import annotations

import ast
import itertools
import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

from airtoll.analyse.audit.columns import Figures
from airtoll.analyse.audit.finding import Finding, shown
from airtoll.errors import DatasetError, PolicyError
from airtoll.policies import Cipher, resolve

Claim = Mapping[str, Any]


def arithmetic(figures: Figures, claim: Claim) -> list[Finding]:
    """A sum done in the text: ``expression`` rounds to ``printed`` at ``decimals``."""
    value = _evaluate(ast.parse(str(claim["expression"]), mode="eval").body)
    if abs(value - claim["printed"]) <= 0.5 * 10.0 ** -claim["decimals"] + 1e-9:
        return []
    return [
        Finding(
            figures.name,
            f"prose {claim['where']}",
            str(claim["expression"]),
            "claim_contradicted",
            shown(float(claim["printed"])),
            shown(value),
            "error",
            f"the text says: {claim['says']}; the figures: {claim['expression']} = {shown(value)}",
        )
    ]


def service(figures: Figures, claim: Claim) -> list[Finding]:
    """The text on a service against the study's own table of services."""
    table = figures.dataset.policies
    found = []
    for row in table.iter_rows(named=True) if not table.is_empty() else []:
        if row["label"] in claim["policies"] and row[claim["service"]] != claim["printed"]:
            found.append(
                Finding(
                    figures.name,
                    f"policies / prose {claim['where']}",
                    f"{row['label']} ({row['policy']}), {claim['service']}",
                    "conflicting_claims",
                    f"{row[claim['service']]} in the table",
                    f"{claim['printed']} in the text",
                    "error",
                    f"the table of services says {row[claim['service']]}; the text says: "
                    f"{claim['says']}",
                )
            )
    return found


def standard(figures: Figures, claim: Claim) -> list[Finding]:
    """A stated property of a mechanism against the standard that defines it."""
    try:
        cipher = resolve(str(claim["policy"])).link.cipher
    except PolicyError:
        return []
    facts: dict[str, tuple[float, str]] = {
        "udp_window_octets": (0, "RFC 768: UDP has no window"),
    }
    if cipher in _CIPHERS:
        key_bits, integrity, mic, source = _CIPHERS[cipher]
        facts["temporal_key_bits"] = (key_bits, source)
        facts["integrity_octets"] = (integrity, source)
        facts["mic_octets"] = (mic, source)
    fact = facts.get(str(claim["item"]))
    if fact is None or fact[0] == claim["printed"]:
        return []
    return [
        Finding(
            figures.name,
            f"prose {claim['where']}",
            f"{claim['policy']}, {str(claim['item']).replace('_', ' ')}",
            "standard_mismatch",
            f"{claim['printed']:g}",
            f"{fact[0]:g}",
            "warning",
            f"the text says: {claim['says']}; {fact[1]}",
        )
    ]


def ranking(figures: Figures, claim: Claim) -> list[Finding]:
    """A ranking whose figures are not printed; tested against the other rankings alone."""
    return []


def exclusive(figures: Figures, stated: list[Claim]) -> list[Finding]:
    """Pairs of rankings that cannot both hold."""
    rankings = [claim for claim in stated if claim.get("kind") == "ranking"]
    found = []
    for a, b in itertools.combinations(rankings, 2):
        if a["metric"] != b["metric"]:
            continue
        shared = set(a["subject"]) & set(b["subject"])
        same = a["relation"] == b["relation"]
        if (same and shared) or (not same and not shared):
            continue
        found.append(
            Finding(
                figures.name,
                f"prose {a['where']} / {b['where']}",
                f"{a['metric']}: {', '.join(a['subject'])} against {', '.join(b['subject'])}",
                "conflicting_claims",
                str(a["says"]),
                str(b["says"]),
                "warning",
                f"one statement makes {', '.join(a['subject'])} the {a['relation']}, the other "
                f"{', '.join(b['subject'])} the {b['relation']}",
            )
        )
    return found


def _evaluate(node: ast.expr) -> float:
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float):
        return float(node.value)
    if isinstance(node, ast.BinOp) and type(node.op) in _OPERATORS:
        return _OPERATORS[type(node.op)](_evaluate(node.left), _evaluate(node.right))
    raise DatasetError("a claim's expression may hold numbers and + - * / only")


_OPERATORS: Final[dict[type[ast.operator], Callable[[float, float], float]]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
}


#: cipher -> temporal key bits, octets of integrity check, octets of MIC, source
_CIPHERS: Final[dict[Cipher, tuple[int, int, int, str]]] = {
    Cipher.WEP_40: (40, 4, 0, "IEEE 802.11-2020 clause 12.3.2: WEP has a 4-octet ICV"),
    Cipher.WEP_104: (104, 4, 0, "IEEE 802.11-2020 clause 12.3.2: WEP has a 4-octet ICV"),
    Cipher.TKIP: (256, 12, 8, "IEEE 802.11-2020 clause 12.5.2: Michael's 8 octets and an ICV of 4"),
    Cipher.CCMP_128: (128, 8, 8, "IEEE 802.11-2020 clause 12.5.3: CCMP-128, MIC of 8 octets"),
}
