"""Consistency: one quantity, one value; one policy, one set of services; one definition.

Takes the figures of a data set, its policy table and what it states; gives findings.
Never decides which of two conflicting figures is right.
"""

from __future__ import annotations

import itertools

from airtoll.analyse.audit.columns import Figures, Row, covers, describe, setting_map
from airtoll.analyse.audit.finding import Finding
from airtoll.errors import PolicyError
from airtoll.policies import resolve

_SERVICES = (
    "authentication",
    "confidentiality",
    "data_integrity",
    "non_repudiation",
    "mutual_authentication",
)
_REMARK = ", as "


def repeated_figures(figures: Figures) -> list[Finding]:
    """The same quantity printed in two places with values that do not round to one another."""
    found = []
    groups: dict[tuple[str, ...], list[Row]] = {}
    for row in figures.published:
        setting = setting_map(row)
        setting["configuration"] = setting["configuration"].partition(_REMARK)[0]
        key = (row["metric"], row["statistic"], row["si_unit"], *setting.values())
        groups.setdefault(key, []).append(row)
    for rows in groups.values():
        for a, b in itertools.combinations(rows, 2):
            if a["table"] == b["table"] and a["configuration"] == b["configuration"]:
                continue
            if _same(a, b):
                continue
            found.append(
                Finding(
                    figures.name,
                    f"{a['table']} / {b['table']}",
                    describe(setting_map(a), f"{a['metric']} {a['statistic']}"),
                    "conflicting_figures",
                    f"{a['value']} {a['unit']}".removesuffix(" 1"),
                    f"{b['value']} {b['unit']}".removesuffix(" 1"),
                    "error" if abs(a["si"] - b["si"]) > 0.02 * abs(a["si"]) else "warning",
                    f"{a['value']} in {a['table']}, {b['value']} in {b['table']}",
                )
            )
    return found


def wider_extremes(figures: Figures) -> list[Finding]:
    """A maximum over more cases that lies below one over fewer (or a minimum above)."""
    found = []
    # The packet size of an extreme says where it was found, not over what it was taken.
    keys = ("configuration", "security", "transport", "ip", "offered_mbps", "client")
    extremes = [row for row in figures.published if row["statistic"] in ("max", "min")]
    for wide, narrow in itertools.permutations(extremes, 2):
        if (wide["metric"], wide["statistic"]) != (narrow["metric"], narrow["statistic"]):
            continue
        if wide["configuration"] != narrow["configuration"] or not covers(wide, narrow, keys):
            continue
        if setting_map(wide) == setting_map(narrow) or _same(wide, narrow):
            continue
        low = wide["statistic"] == "min"
        if (wide["si"] < narrow["si"]) == low:
            continue
        found.append(
            Finding(
                figures.name,
                f"{wide['table']} / {narrow['table']}",
                describe(setting_map(wide), f"{wide['metric']} {wide['statistic']}"),
                "conflicting_figures",
                f"{wide['value']} {wide['unit']}".removesuffix(" 1"),
                f"{narrow['value']} {narrow['unit']}".removesuffix(" 1"),
                "error",
                f"the {'smallest' if low else 'largest'} of all is {wide['value']} in "
                f"{wide['table']}, but {narrow['value']} for "
                f"{describe(setting_map(narrow))} in {narrow['table']}",
            )
        )
    return found


def services(figures: Figures) -> list[Finding]:
    """The study's table of security services against the catalogue's, and against its parts."""
    table = figures.dataset.policies
    if table.is_empty() or "label" not in table.columns:
        return []
    found = []
    for row in table.iter_rows(named=True):
        try:
            policy = resolve(row["security"])
        except PolicyError:
            continue
        offered = {
            "authentication": policy.services.authentication,
            "confidentiality": policy.services.confidentiality,
            "data_integrity": policy.services.integrity,
            "non_repudiation": policy.services.non_repudiation,
            "mutual_authentication": policy.services.mutual_authentication,
        }
        for service in _SERVICES:
            if service not in row or (row[service] == "yes") == offered[service]:
                continue
            found.append(
                Finding(
                    figures.name,
                    "I" if "I" in {r["table"] for r in figures.rows} else "policies",
                    f"{row['label']} ({row['policy']}), {service.replace('_', ' ')}",
                    "service_mismatch",
                    row[service],
                    "yes" if offered[service] else "no",
                    "warning",
                    f"{policy.name} {'gives' if offered[service] else 'does not give'} "
                    f"{service.replace('_', ' ')} by the standards it is made of",
                )
            )
    return found


def stated_definition(figures: Figures) -> list[Finding]:
    """The study's own definition of overhead: its unit and its sign."""
    stated = figures.meta.get("overhead", {})
    found = []
    first, second = stated.get("equation_unit"), stated.get("text_unit")
    if first and second and first != second:
        found.append(
            Finding(
                figures.name,
                "definitions",
                "overhead",
                "definition_mismatch",
                str(second),
                str(first),
                "warning",
                f"the equation defines overhead in {first}, the text gives it in {second}",
            )
        )
    for entry in figures.meta.get("definition", []):
        if entry["defined"] != entry["measured"]:
            found.append(
                Finding(
                    figures.name,
                    "definitions",
                    f"{entry['quantity']} ({entry['where']})",
                    "definition_mismatch",
                    str(entry["defined"]),
                    str(entry["measured"]),
                    "warning",
                    f"{entry['quantity']} is defined as {entry['defined']}, and measured as "
                    f"{entry['measured']}",
                )
            )
    if stated.get("stated_sign") == "policy minus none":
        found.append(
            Finding(
                figures.name,
                "definitions",
                "overhead",
                "definition_mismatch",
                "policy minus none",
                "none minus policy",
                "note",
                "by this definition a policy that slows the link down has a negative overhead",
            )
        )
    return found


def _same(a: Row, b: Row) -> bool:
    """Whether two printed figures can be roundings of one value."""
    coarse = max(
        0.5 * 10.0 ** -row["decimals"] * (row["si"] / row["number"] if row["number"] else 1.0)
        for row in (a, b)
    )
    exact = a["decimals"] == b["decimals"] and a["unit"] == b["unit"]
    return bool(abs(a["si"] - b["si"]) <= (0.0 if exact else abs(coarse)) + 1e-12)
