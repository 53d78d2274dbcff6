"""Trials whose halves differ: the scenarios that mean it, the causes elsewhere, and their cures.

Takes a cell and the rows of a trial; gives the rows without the drifts that the study itself makes,
and caveats that name a cause and its cure, also of fragments that only cost air. Decides nothing:
the analysis compares trials.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Final

from airtoll.analyse.settling import DRIFTS
from airtoll.border.answers import FragmentedFlowRow
from airtoll.observe.metrics import FRAGMENTS, NOT_SETTLED_BY
from airtoll.plan import Cell
from airtoll.testbeds.contract import Observed
from airtoll.testbeds.resolve import native

#: Busy share of a CPU from which its queue grows.
_OVERLOADED = 0.98
#: The metrics of drifts.
_DRIFTS: Final = frozenset(DRIFTS)
#: Drift of a throughput, as a share of its mean, of which a cause is sought.
_MATTERS = 0.1


def without_planned_drifts(rows: Observed, cell: Cell) -> Observed:
    """The values; of a cell that changes by its study, without the difference of its halves.

    Such are hand-overs and walks, transfers that end, and stations that come or go meanwhile.
    """
    settings, join = cell.settings, cell.settings.join
    planned = (
        settings.handover is not None
        or any(load.transfer_bytes is not None for load in cell.load.loads)
        or any(station.joins_at_s is not None for station in settings.stations)
        or join.deauthenticate_at_s is not None
        or settings.ap.restart_at_s is not None
    )
    return rows.without(_DRIFTS) if planned else rows


#: Octets of the headers of a datagram: IPv4 or IPv6, and UDP.
_HEADERS: Final = (28, 48)
#: Largest MTU that a study may set, octets.
_LARGEST_MTU: Final = 9000


@lru_cache(maxsize=1024)
def fragments(cell: Cell) -> tuple[str, ...]:
    """The caveat of a cell whose tunnels cut datagrams into fragments, if they do."""
    cut = [one for one in native(cell).fragmented_flows() if one["by_tunnel"]]
    return (FRAGMENTS + _of_fragments(cut, cell),) if cut else ()


def _of_fragments(cut: Sequence[FragmentedFlowRow], cell: Cell) -> str:
    first = cut[0]
    others = f" and {len(cut) - 1} more" if len(cut) > 1 else ""
    why = "the tunnel makes fragments of" if first["by_tunnel"] else "fragments carry"
    return (
        f"{first['flow']}{others}: {why} datagrams of {first['payload_octets']} octets; set "
        f"payload_bytes to {first['fits_octets']} or less{_other_cure(first, cell)}"
    )


def _other_cure(one: FragmentedFlowRow, cell: Cell) -> str:
    """The MTU that keeps datagrams whole, where a study may set one that does."""
    fits, mtu = one["fits_octets"], one["mtu_octets"]
    stated = cell.settings.tunnel_mtu_octets
    if stated is None or stated - fits not in _HEADERS:
        return f", or mtu_octets to {mtu}"
    # The stated MTU of the tunnel's interface cuts them, whatever the MTU around it.
    inner = one["payload_octets"] + stated - fits
    if max(inner, mtu) > _LARGEST_MTU:
        return ""
    around = f" with mtu_octets of {mtu}" if mtu > cell.settings.mtu_octets else ""
    return f", or tunnel_mtu_octets to {inner}{around}"


def causes(rows: Observed, cell: Cell) -> tuple[str, ...]:
    """Why a trial's halves differ, a line each; empty where they do not."""
    if _DRIFTS.isdisjoint(rows.keys.whole):
        return ()
    rates = {row.flow: row.value for row in rows.whole("throughput_bps")}
    drifting = {
        row.flow
        for row in rows.whole("throughput_drift_bps")
        if abs(row.value) > _MATTERS * rates.get(row.flow, 0.0)
    }
    found = []
    if drifting:
        cut = [one for one in native(cell).fragmented_flows() if one["flow"] in drifting]
        if cut:
            found.append(
                f"a full queue drops a part of nearly each datagram: {_of_fragments(cut, cell)}"
            )
    busy = [row.station for row in rows.whole("cpu_share") if row.value >= _OVERLOADED]
    found += [
        f"the CPU of {name} is overloaded, and its queue grows for as long as the trial lasts; "
        "offer less (offered_mbps), or measure TCP, which adapts"
        for name in busy[:1]
    ]
    return tuple(NOT_SETTLED_BY + words for words in found)
