"""Counts: items that a text announces against the items that its tables hold.

A study announces its readings per setting (``[trials] repetitions``) and, in ``[[count]]`` tables,
anything else that can be counted in its figures:

    [[count]]
    where = "abstract"; says = "five security levels"; printed = 5; of = "security"
    select = { metric = "throughput" }

``of`` names the column whose different values are counted, ``rows`` the rows themselves.
"""

from __future__ import annotations

from airtoll.analyse.audit.columns import SETTING, Figures, matches
from airtoll.analyse.audit.finding import Finding
from airtoll.errors import DatasetError

_COUNTED = (*SETTING, "table", "trial", "label", "rows")


def announced(figures: Figures) -> list[Finding]:
    """Announced numbers of items that are not those counted. Raises DatasetError."""
    found = []
    for claim in figures.meta.get("count", []):
        try:
            of, printed, says = str(claim["of"]), int(claim["printed"]), str(claim["says"])
        except (KeyError, ValueError) as error:
            raise DatasetError(
                f"{figures.dataset.folder / 'dataset.toml'}: count {dict(claim)}: {error} is "
                "missing or no number"
            ) from error
        if of not in _COUNTED:
            raise DatasetError(
                f"{figures.dataset.folder / 'dataset.toml'}: count of {of!r}: allowed are "
                f"{', '.join(_COUNTED)}"
            )
        rows = [row for row in figures.rows if matches(row, claim.get("select", {}))]
        names = sorted({row[of] for row in rows if row[of]}) if of != "rows" else []
        counted = len(rows) if of == "rows" else len(names)
        if counted != printed:
            found.append(
                Finding(
                    figures.name,
                    f"prose {claim.get('where', '')}".strip(),
                    f"number of {of}",
                    "count_mismatch",
                    str(printed),
                    str(counted),
                    "warning",
                    f"the text says: {says}; the figures hold {counted}"
                    + (f": {', '.join(names[:12])}" if names else ""),
                )
            )
    return found


def readings(figures: Figures) -> list[Finding]:
    """Columns with fewer or more readings than the study says that it took of each."""
    trials = figures.meta.get("trials", {})
    n = trials.get("repetitions")
    if trials.get("kind") != "independent" or not n or trials.get("select"):
        return []
    # A table that prints a part of the readings in every column is an excerpt, not a slip.
    sizes: dict[str, set[int]] = {}
    for column in figures.columns:
        sizes.setdefault(column.table, set()).add(column.values.size)
    return [
        Finding(
            figures.name,
            column.table,
            column.where,
            "count_mismatch",
            f"{n} readings",
            f"{column.values.size} readings",
            "warning",
            f"the study took {n} readings of each setting; other columns of this table have them",
        )
        for column in figures.columns
        if column.values.size != int(n) and int(n) in sizes[column.table]
    ]
