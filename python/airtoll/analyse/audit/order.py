"""Order across tables: throughputs that rise where more of something can only cost.

More key bits of one cipher never make a frame shorter, and stations that share a saturated link
each get less as they become more. The rules compare printed or recomputed means of settings that
differ in nothing else, across tables.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from airtoll.analyse.audit.columns import Column, Figures, Row, describe, setting_map
from airtoll.analyse.audit.finding import Finding, shown
from airtoll.analyse.comparison import welch_p
from airtoll.analyse.overhead import Summary
from airtoll.errors import PolicyError
from airtoll.policies import Cipher, resolve

#: Ciphers of one construction, by key bits.
_FAMILIES: Final = (
    (Cipher.WEP_40, Cipher.WEP_104),
    (Cipher.CCMP_128, Cipher.CCMP_256),
    (Cipher.GCMP_128, Cipher.GCMP_256),
)
#: A rise below this share is within what trials differ by.
_MARGIN: Final = 0.02
#: Of a rise between readings; means alone are judged by the margin.
_ALPHA: Final = 1e-4


def key_bits(figures: Figures) -> list[Finding]:
    """A longer key of the same cipher that is printed as faster."""
    found = []
    groups: dict[tuple[str, ...], list[Row]] = {}
    shared = {
        (row["table"], row["configuration"])
        for row in _throughputs(figures)
        if row["client"] == "total"
    }
    for row in _throughputs(figures):
        # How clients share a total is chance; the total is judged.
        if (row["table"], row["configuration"]) in shared and row["client"] != "total":
            continue
        setting = setting_map(row) | {"security": ""}
        groups.setdefault((row["table"], *setting.values()), []).append(row)
    for rows in groups.values():
        ranked = [(rank, row) for row in rows if (rank := _rank(row["security"])) is not None]
        for (name, bits), short in ranked:
            for (other, more), long in ranked:
                if other != name or more <= bits or not _rises(figures, short, long):
                    continue
                found.append(
                    _finding(
                        figures,
                        long,
                        f"{short['value']} {short['unit']} with {short['security']}",
                        f"{long['security']} has the longer key and the same octets per frame as "
                        f"{short['security']}, and is printed "
                        f"{shown(100 * (long['si'] / short['si'] - 1), 1)} % faster",
                    )
                )
    return found


def more_clients(figures: Figures) -> list[Finding]:
    """A share per station that grows with the number of stations on the same link."""
    found = []
    links = [(link, int(link.get("senders", 1))) for link in figures.meta.get("link", [])]
    shares: dict[tuple[Any, ...], list[tuple[int, float, Row]]] = {}
    for row in _throughputs(figures):
        for link, senders in links:
            if row["configuration"] not in _configurations(link):
                continue
            if row["client"] not in (("total",) if senders > 1 else ("", "A", "total")):
                continue
            kind = tuple(link.get(k) for k in ("phy", "rate_mbps", "preamble", "hops"))
            names = ("security", "transport", "ip", "offered_mbps", "packet_bytes")
            key = (kind, *(row[name] for name in names))
            shares.setdefault(key, []).append((senders, row["si"] / senders, row))
    for entries in shares.values():
        for few, share, row in entries:
            for many, other, more in entries:
                if many <= few or other <= share * (1 + _MARGIN):
                    continue
                found.append(
                    _finding(
                        figures,
                        more,
                        f"{row['value']} {row['unit']} with {few} in table {row['table']}",
                        f"each of {many} stations gets {shown(other / 1e6, 2)} Mb/s, more than "
                        f"{shown(share / 1e6, 2)} Mb/s with {few} on the same link",
                    )
                )
    return found


def _throughputs(figures: Figures) -> list[Row]:
    return [
        row
        for row in figures.published
        if row["metric"] == "throughput" and row["statistic"] == "mean" and row["si"] > 0
    ]


def _configurations(link: Mapping[str, Any]) -> list[str]:
    named = link["configuration"]
    return list(named) if isinstance(named, list) else [str(named)]


def _rank(label: str) -> tuple[tuple[str, ...], int] | None:
    """The traits of a policy apart from its key length, and the rank of that length."""
    try:
        policy = resolve(label)
    except PolicyError:
        return None
    for family in _FAMILIES:
        if policy.link.cipher in family:
            rest = (
                family[0].value,
                str(policy.link.generation),
                str(policy.link.akm),
                str(policy.link.eap_method),
                policy.link.authentication,
                str(policy.tunnels),
            )
            return rest, family.index(policy.link.cipher)
    return None


def _rises(figures: Figures, short: Row, long: Row) -> bool:
    if long["si"] <= short["si"] * (1 + _MARGIN):
        return False
    one, two = (_column(figures, row) for row in (short, long))
    if one is None or two is None:
        return True
    return welch_p(Summary.of(two.si), Summary.of(one.si)) < _ALPHA


def _column(figures: Figures, row: Row) -> Column | None:
    found = figures.columns_of("throughput", setting_map(row), row["table"])
    return found[0] if found and found[0].values.size > 1 else None


def _finding(figures: Figures, row: Row, other: str, evidence: str) -> Finding:
    return Finding(
        figures.name,
        row["table"],
        describe(setting_map(row), "throughput"),
        "order_reversed",
        f"{row['value']} {row['unit']}",
        other,
        "warning",
        evidence,
    )
