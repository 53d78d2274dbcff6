"""PHY generations: the rows of the native module, which reads the descriptors of `airtoll-phy`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from airtoll import _native

if TYPE_CHECKING:
    from airtoll.border.answers import GenerationRow, SpacesRow
    from airtoll.study.model import Scenario, WiredLink

#: The channel width that 6 GHz alone has, MHz (IEEE Std 802.11be-2024, 36.3.23.2).
_ONLY_6GHZ_MHZ: Final = 320

#: Name (``802.11n``) -> generation, oldest first.
GENERATIONS: Final[dict[str, GenerationRow]] = {
    row["name"]: row for row in _native.phy_generations()
}
#: Name -> highest rate in Mb/s, of the generations without MCS indices.
HIGHEST_MBPS: Final = {
    name: max(row["rates_mbps"]) for name, row in GENERATIONS.items() if row["rates_mbps"]
}


#: Default queue of stations and AP, packets, by PHY. 802.11n and later: the transmit ring of a
#: Linux driver of the generation, ath9k (ATH_TXBUF), mt7615, mt7915 and mt7996 (MT7615_TX_RING_SIZE
#: and so on). Before: `txqueuelen` of Linux 2.4 (ether_setup).
QUEUE_PACKETS: Final = {
    "802.11b": 100,
    "802.11a": 100,
    "802.11g": 100,
    "802.11n": 512,
    "802.11ac": 1024,
    "802.11ax": 2048,
    "802.11be": 2048,
}
#: The same of FQ-CoDel: fq_init in net/mac80211/tx.c.
FQ_CODEL_PACKETS: Final = 8192
#: Default queue of a wired link, packets, by discipline: ether_setup, fq_codel_init of Linux.
WIRE_QUEUE_PACKETS: Final = {"fifo": 1000, "fq_codel": 10_240}
#: Default rate of a wired link, Mb/s, by PHY: the slowest Ethernet that one station with two
#: streams at 80 MHz (802.11ax: 160 MHz; 802.11be: 320 MHz) does not fill.
WIRED_MBPS: Final = {
    "802.11b": 100.0,
    "802.11a": 100.0,
    "802.11g": 100.0,
    "802.11n": 1000.0,
    "802.11ac": 1000.0,
    "802.11ax": 2500.0,
    "802.11be": 10000.0,
}


#: Names of generations on boxes.
_WI_FI: Final = {"4": "802.11n", "5": "802.11ac", "6": "802.11ax", "7": "802.11be"}
_PHY: Final = re.compile(r"(?:ieee )?(?:802\.?)?(?:11)?([a-z]{1,2})")


def phy_name(text: str) -> str:
    """The name of a generation that a text means (``ac``, ``802.11AC``, ``Wi-Fi 5``).

    A text without a meaning stays as it is.
    """
    wanted = text.strip().lower()
    box = re.fullmatch(r"wi-?fi ?([4-7])", wanted)
    if box:
        return _WI_FI[box[1]]
    letters = _PHY.fullmatch(wanted)
    name = f"802.11{letters[1]}" if letters else ""
    return name if name in GENERATIONS else text


def queue_packets(settings: Scenario) -> int:
    """Packets that the transmit queues of a scenario hold: as stated, or those of drivers."""
    if settings.queue_packets is not None:
        return settings.queue_packets
    if settings.queue_type == "fq_codel":
        return FQ_CODEL_PACKETS
    return QUEUE_PACKETS[settings.phy]


def wire_queue_packets(wired: WiredLink, discipline: str = "fifo") -> int:
    """Packets that wait for a wired link: as stated, or Linux's limit of the discipline."""
    if wired.queue_packets is not None:
        return wired.queue_packets
    return WIRE_QUEUE_PACKETS[discipline]


def wire_mbps(wired: WiredLink, phy: str) -> float:
    """Rate of a wired link in a scenario of this PHY, Mb/s: as stated, or that of its time."""
    return WIRED_MBPS[phy] if wired.rate_mbps is None else wired.rate_mbps


def band_of(settings: Scenario) -> str:
    """The band of a scenario (``5ghz``): the stated one, or that of its PHY and width."""
    if settings.band is not None:
        return f"{settings.band}ghz"
    if settings.width_mhz == _ONLY_6GHZ_MHZ:
        return "6ghz"
    return GENERATIONS[settings.phy]["bands"][0]["band"]


def default_spaces(phy: str) -> SpacesRow:
    """Interframe spaces of the default band of a generation."""
    return GENERATIONS[phy]["bands"][0]
