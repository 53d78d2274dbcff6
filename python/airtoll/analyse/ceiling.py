"""The most that an 802.11 link can carry: closed forms for saturated senders.

PHY, rate, preamble, number of senders and the octets that a policy adds give bit/s of application
or IP octets, as a range. Lower end: no loss, no beacons; one sender waits CWmin / 2 slots in the
mean, and several waste less of the air on waiting but some on collisions (Bianchi 2000, equations
7, 9 and 13). Upper end: the same frames SIFS apart without any back-off, as frame bursting and a
TXOP send them (802.11-2020 clause 10.23.2.8); no sender is faster. The ACK goes at the fastest rate
that the standard lets a network choose as basic.

Times: IEEE 802.11-2020 tables 15-6 and 16-4 (DSSS, HR/DSSS), 17-21 and 18-5 (OFDM, ERP);
airtime of OFDM frames: equation 17-29; of HR/DSSS frames: clause 16.2.3.5.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any, Final

from airtoll.study.generations import GENERATIONS, HIGHEST_MBPS, default_spaces

#: A printed value above a limit by no more than this share is not beyond it: clocks and averages
#: differ by as much.
BEYOND: Final = 0.02
#: octets: MAC header 24, FCS 4, LLC/SNAP 8, IPv4 20, UDP 8, ACK 14
_MAC: Final = 28
_LLC: Final = 8
_IP_UDP: Final = 28
_ACK: Final = 14
_LARGEST_IP: Final = 1500
_QOS: Final = 2
_AMSDU: Final = 14
_ADDRESS_4: Final = 6
#: shortest SIFS (2.4 GHz), longest PPDU, block ack of 32 octets at 54 Mb/s; microseconds
_SIFS_US: Final = 10.0
_PPDU_US: Final = 5484.0
_BLOCK_ACK_US: Final = 28.0


def ceiling_bps(
    link: Mapping[str, Any], security_octets: int = 0, payload: int | None = None
) -> float:
    """Largest total throughput over a link, bit/s.

    ``link``: phy, rate_mbps, preamble, hops (times that a packet crosses the air), senders,
    counts (``payload``, the default, or ``ip``). ``payload``: UDP payload octets, 1472 by
    default; addresses: 4 for wireless bridges, whose MAC header is 6 octets longer. HT and later
    PHYs fill the longest A-MPDU and never contend (see ``_aggregated``).
    """
    rate, hops = float(link["rate_mbps"]), int(link.get("hops", 1))
    size = min(payload or _LARGEST_IP - _IP_UDP, _LARGEST_IP - _IP_UDP)
    added = security_octets + (_ADDRESS_4 if link.get("addresses") == 4 else 0)
    phy = str(link["phy"])
    if phy not in HIGHEST_MBPS:
        return _aggregated(phy, rate, size, added, link.get("counts") == "ip") / hops
    frame = _MAC + _LLC + _IP_UDP + size + added
    counted = size + (_IP_UDP if link.get("counts") == "ip" else 0)
    # A forwarding node (the AP, at more than one hop) contends as well.
    most = int(link.get("senders", 1)) + (hops - 1)
    per_frame = min(
        frame_time_us(phy, rate, str(link.get("preamble", "short")), frame, n)
        for n in range(1, most + 1)
    )
    return 8 * counted / per_frame * 1e6 / hops


def burst_ceiling_bps(
    link: Mapping[str, Any], security_octets: int = 0, payload: int | None = None
) -> float:
    """Throughput of the link's frames SIFS apart, bit/s: more is impossible on this PHY."""
    rate, hops = float(link["rate_mbps"]), int(link.get("hops", 1))
    phy, preamble = str(link["phy"]), str(link.get("preamble", "short"))
    if phy not in HIGHEST_MBPS:
        return ceiling_bps(link, security_octets, payload)
    size = min(payload or _LARGEST_IP - _IP_UDP, _LARGEST_IP - _IP_UDP)
    added = security_octets + (_ADDRESS_4 if link.get("addresses") == 4 else 0)
    counted = size + (_IP_UDP if link.get("counts") == "ip" else 0)
    sifs, rates = default_spaces(phy)["sifs_us"], GENERATIONS[phy]["mandatory_rates_mbps"]
    ack = airtime_us(phy, max(r for r in rates if r <= rate), preamble, _ACK)
    data = airtime_us(phy, rate, preamble, _MAC + _LLC + _IP_UDP + size + added)
    return 8 * counted / (data + ack + 2 * sifs) * 1e6 / hops


def _aggregated(phy: str, rate_mbps: float, size: int, added: int, whole: bool) -> float:
    """Bit/s of back-to-back A-MPDUs of the greatest length, each with its block ack.

    One MSDU in an MPDU, or A-MSDUs so long that their MAC headers vanish, whichever is faster.
    No back-off and no AIFS, so that a TXOP of any length is no faster: 802.11-2020 clauses 9.7.1
    (4-octet delimiter, padding to 4), 10.12.2 (length), 10.25.6 (64 MPDUs in a window), table 19-25
    (aPPDUMaxTime). The shortest preamble of the PHY is taken, and a block ack at 54 Mb/s.
    """
    own = GENERATIONS[phy]
    longest, window, preamble = own["ampdu_octets"], own["window"], own["shortest_preamble_us"]
    assert longest is not None
    assert window is not None
    most = min(longest, int(_PPDU_US * rate_mbps / 8))
    mpdu = 4 + _padded(_MAC + _QOS + _LLC + _IP_UDP + size + added)
    msdu = _padded(_AMSDU + _LLC + _IP_UDP + size)
    counted = size + (_IP_UDP if whole else 0)
    best = 0.0
    for octets, limit in ((mpdu, window), (msdu, most // msdu)):
        count = max(1, min(limit, most // octets))
        time = preamble + 8 * count * octets / rate_mbps + _BLOCK_ACK_US + 2 * _SIFS_US
        best = max(best, 8e6 * count * counted / time)
    return best


def _padded(octets: int) -> int:
    return -(-octets // 4) * 4


def frame_time_us(
    phy: str, rate_mbps: float, preamble: str, frame_octets: int, senders: int = 1
) -> float:
    """Mean time per delivered frame: DIFS, back-off, frame, SIFS, ACK, collisions, microseconds."""
    spaces = default_spaces(phy)
    slot, sifs, cw = spaces["slot_us"], spaces["sifs_us"], spaces["cw_min"]
    ack_rate = max(r for r in GENERATIONS[phy]["mandatory_rates_mbps"] if r <= rate_mbps)
    difs = sifs + 2 * slot
    data = airtime_us(phy, rate_mbps, preamble, frame_octets)
    success = difs + data + sifs + airtime_us(phy, ack_rate, preamble, _ACK)
    if senders == 1:
        return success + cw / 2 * slot
    attempt = _attempt_probability(senders, cw)
    busy = 1 - (1 - attempt) ** senders
    alone = senders * attempt * (1 - attempt) ** (senders - 1) / busy
    return success + (1 / busy - 1) / alone * slot + (1 - alone) / alone * (data + difs)


def _attempt_probability(senders: int, cw: int, stages: int = 6) -> float:
    """Chance that a sender transmits in a slot (Bianchi 2000, equations 7 and 9)."""
    attempt = 2 / (cw + 2)
    for _ in range(200):
        p = 1 - (1 - attempt) ** (senders - 1)
        w = cw + 1
        new = 2 * (1 - 2 * p) / ((1 - 2 * p) * (w + 1) + p * w * (1 - (2 * p) ** stages))
        attempt = 0.5 * attempt + 0.5 * new
    return attempt


def airtime_us(phy: str, rate_mbps: float, preamble: str, octets: int) -> float:
    """Airtime of one PPDU, microseconds (ERP-OFDM with its signal extension of 6)."""
    own = GENERATIONS[phy]
    count = symbols(phy, rate_mbps, octets)
    if count is None or own["symbol_us"] is None:
        long = preamble == "long" or rate_mbps < 2
        head = own["long_preamble_us"] if long else own["shortest_preamble_us"]
        return head + math.ceil(8 * octets / rate_mbps)
    extension = default_spaces(phy)["signal_extension_us"]
    return own["long_preamble_us"] + own["symbol_us"] * count + extension


def symbols(phy: str, rate_mbps: float, octets: int) -> int | None:
    """OFDM symbols of one PPDU of a PHY without MCS indices; None without symbols."""
    own = GENERATIONS[phy]
    symbol_us, bits = own["symbol_us"], own["service_and_tail_bits"]
    if symbol_us is None or bits is None:
        return None
    return math.ceil((bits + 8 * octets) / (symbol_us * rate_mbps))


def shortest_delay_s(link: Mapping[str, Any]) -> float:
    """Airtime of the shortest frame that carries a datagram, seconds: no delay is below it."""
    phy = str(link["phy"])
    if phy not in HIGHEST_MBPS:
        return 0.0
    frame = _MAC + _LLC + _IP_UDP
    return (
        airtime_us(phy, float(link["rate_mbps"]), str(link.get("preamble", "short")), frame) / 1e6
    )
