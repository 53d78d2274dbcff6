"""How a printed value stands to the readings that the devices of its cell were fitted to.

Takes a comparison and the readings of the fit; gives a :class:`Standing` and its words.
"""

from __future__ import annotations

from collections.abc import Sequence

from attrs import frozen

from airtoll.analyse import Comparison
from airtoll.observe.metrics import OVERHEAD, name_of
from airtoll.plan import Cell
from airtoll.policies import resolve
from airtoll.present.names import policy_name
from airtoll.profiles import Reading

#: Standings of values that a fit has seen: to meet them proves nothing.
SEEN = ("fitted", "related")


@frozen
class Standing:
    """The relation of a printed value to a fit.

    ``name``: empty where nothing was fitted; ``fitted`` where this very value was fitted to;
    ``related`` where another quantity of the same reading was (its overhead, say), so that it is no
    prediction either; ``predicted`` where only other readings were. ``to``: the readings of the
    fit: of ``fitted`` and ``related`` those that say so. ``quantity``: of the printed value.
    """

    name: str
    to: tuple[Reading, ...] = ()
    quantity: str = ""

    @property
    def words(self) -> str:
        """``predicted by a fit to the overheads of tables 2 and 3, single client``."""
        if not self.name:
            return ""
        fit = fitted_to(self.to)
        if self.name == "fitted":
            return f"fitted to this printed value{f', with the {fit}' if fit else ''}"
        if self.name == "related":
            return f"not predicted: fitted to the {fit}, not to this {name_of(self.quantity)}"
        return f"predicted by a fit to the {fit}"


def standing(comparison: Comparison, cell: Cell, readings: Sequence[Reading]) -> Standing:
    """The standing of a comparison in a cell whose devices were fitted to some readings."""
    quantity = comparison.quantity
    if comparison.fitted:
        return Standing("fitted", (), quantity)
    here = [one for one in readings if _is_about(one, comparison, cell)]
    same = [one for one in here if one.quantity in (None, quantity)]
    if same:
        return Standing("fitted", tuple(same), quantity)
    if here:
        return Standing("related", tuple(here), quantity)
    return Standing("predicted" if readings else "", tuple(readings), quantity)


def fitted_to(readings: Sequence[Reading]) -> str:
    """``overheads of tables 2 and 3, single client``: readings that differ by table alone are told
    together.
    """
    tables: dict[tuple[str, str], list[str]] = {}
    for one in dict.fromkeys(readings):
        place = [
            one.configuration.replace("-", " ") if one.configuration else "",
            one.transport or "",
            policy_name(resolve(one.security).name) if one.security else "",
            f"{one.offered_mbps} Mb/s offered" if one.offered_mbps else "",
        ]
        key = (_quantity(one), ", ".join(filter(None, place)))
        tables.setdefault(key, []).append(one.table or one.dataset)
    return "; ".join(
        ", ".join(filter(None, (f"{quantity} of {_tables(found)}", place)))
        for (quantity, place), found in tables.items()
    )


def _is_about(reading: Reading, comparison: Comparison, cell: Cell) -> bool:
    return (
        reading.dataset == comparison.dataset
        and reading.table in (None, comparison.table)
        and reading.configuration in (None, comparison.configuration)
        and reading.transport in (None, cell.load.transport.upper())
        and (reading.security is None or resolve(reading.security).name == cell.policy)
    )


def _quantity(reading: Reading) -> str:
    if reading.quantity is None:
        return "readings"
    return "overheads" if reading.quantity == OVERHEAD else name_of(reading.quantity)


def _tables(names: Sequence[str]) -> str:
    """``table 2``, ``tables 2 and 3``; a name with a space (``prose VI``) stands for itself."""
    names = list(dict.fromkeys(names))
    numbered = [name for name in names if name[:1].isdigit() or name.isupper()]
    others = [name for name in names if name not in numbered]
    if numbered:
        many = "s" if len(numbered) > 1 else ""
        others.insert(0, f"table{many} {_listed(numbered)}")
    return _listed(others)


def _listed(items: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(items[:-1]), items[-1])))
