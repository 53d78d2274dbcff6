"""Colours that stay distinct with colour blindness, in grey print and in dark mode.

Takes an index or a kind; gives a colour. Source: Okabe and Ito, Color Universal Design, 2008.
"""

from __future__ import annotations

from typing import Any, Final

from airtoll.analyse.decomposition import REMAINDER

#: Okabe-Ito without black (the page's text) and the pale yellow, which is invisible on white.
COLOURS: Final = (
    "#0072B2",
    "#E69F00",
    "#009E73",
    "#D55E00",
    "#CC79A7",
    "#56B4E9",
    "#7F7F7F",
)
#: Part of an overhead -> its colour. Neighbours in a waterfall differ.
PARTS: Final = {
    "airtime_security_s": "#0072B2",
    "airtime_payload_s": "#E69F00",
    "airtime_ip_transport_s": "#CC79A7",
    "airtime_mac_phy_s": "#56B4E9",
    "airtime_ack_s": "#009E73",
    "airtime_contention_s": "#E69F00",
    "airtime_card_s": "#D55E00",
    "airtime_interference_s": "#56B4E9",
    "airtime_neighbours_s": "#009E73",
    "airtime_retry_s": "#CC79A7",
    "airtime_protection_s": "#56B4E9",
    "airtime_management_s": "#009E73",
    "crypto_exposed_s": "#D55E00",
    "airtime_idle_s": "#0072B2",
    REMAINDER: "#7F7F7F",
}


def colour(index: int) -> str:
    """A colour for the series of that index; colours repeat after seven."""
    return COLOURS[index % len(COLOURS)]


#: Markers of series: filled ones and rings, so that they differ without colour.
_MARKERS: Final = ("o", "s", "D", "X")


def course(index: int) -> dict[str, Any]:
    """The marker of a series: rings get smaller, so that those of equal values lie inside one
    another.
    """
    return {
        "marker": _MARKERS[index % len(_MARKERS)],
        "ms": max(3.5, 8.5 - 1.6 * index),
        "mew": 1.2,
        "markerfacecolor": "none",
        "color": colour(index),
        "ls": "-",
        "lw": max(1.0, 2.8 - 0.6 * index),
    }
